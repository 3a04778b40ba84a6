// Package probe looks at a sandbox from inside: what can be read at once, and what every door does when it is tried.
//
// It works wherever it is started, in other tools' sandboxes as well. It reaches for nothing but what Stage opened for it on
// the same machine, the loopback, and addresses that no packet can leave for. It does not judge what it finds (see
// guard/exposure).
//
// Failure direction: what could not be found out stays unknown, which counts as open.
package probe

import (
	"path/filepath"
	"strconv"
	"strings"

	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox/probe/look"
)

// LookHook is the name of the hook by which a runner tells what it can read at once, as JSON of a Seen.
const LookHook = look.HookName

// Seen is what a process read about itself: files below /proc/self by name ("status", "mountinfo", "net/dev"), and links
// below /proc/self/ns ("ns/net").
type Seen map[string]string

// Read judges what was seen against the namespaces of the host, which may be nil: then the host is where the first process
// of the machine is, as far as the kernel numbers its namespaces in a fixed way.
func Read(seen, host Seen) exposure.Exposure {
	var e exposure.Exposure
	status := fields(seen["status"])
	readCaps(&e, status)
	switch status["Seccomp"] {
	case "0":
		e.Seccomp = exposure.NoFilter
	case "2":
		e.Seccomp = exposure.Filter
	}
	e.Doors.Found(exposure.Privileges, either(status["NoNewPrivs"], "1", "0"), "")
	own := func(name string) exposure.Reach { return apart(seen["ns/"+name], host["ns/"+name], name) }
	pids := own("pid")
	ids, told := strings.Fields(status["NSpid"]), status["NSpid"] != ""
	switch {
	case pids != exposure.Shut:
	case told && len(ids) != 1, !told && seen["pid"] != "" && seen["pid"] != status["Pid"]:
		pids = exposure.Open // its /proc is another namespace's
	case !told && seen["pid"] == "":
		pids = exposure.Unknown
	}
	e.Doors.Found(exposure.HostProc, pids, "")
	e.Doors.Found(exposure.Signals, pids, "")
	net := own("net")
	e.Doors.Found(exposure.HostNet, net, "")
	if dev, ok := seen["net/dev"]; ok {
		e.Network.NoRoute = exposure.Open
		if onlyLoopback(dev) {
			e.Network.NoRoute = exposure.Shut
		}
	}
	if net == exposure.Shut {
		for _, door := range [...]exposure.Door{exposure.LoopbackTCP, exposure.LoopbackUDP, exposure.AbstractUnix} {
			e.Doors.Found(door, exposure.Shut, "")
		}
	}
	switch {
	case net == exposure.Shut && e.Network.NoRoute == exposure.Shut:
		e.Network.Force = exposure.NoNet
		e.Doors.Found(exposure.DNS, exposure.Shut, "")
		e.Doors.Found(exposure.Metadata, exposure.Shut, "")
	case e.Network.NoRoute == exposure.Open:
		e.Network.Force = exposure.OpenNet
	}
	return e
}

func either(text, shut, open string) exposure.Reach {
	switch text {
	case shut:
		return exposure.Shut
	case open:
		return exposure.Open
	}
	return exposure.Unknown
}

// fields reads lines of the form "Name:\tvalue".
func fields(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(line, ":"); ok {
			out[name] = strings.TrimSpace(value)
		}
	}
	return out
}

func readCaps(e *exposure.Exposure, status map[string]string) {
	known := true
	for _, set := range [...]string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
		if _, told := status[set]; !told && set == "CapAmb" {
			continue // of an odd kernel; it is never more than the permitted ones
		}
		n, err := strconv.ParseUint(status[set], 16, 64)
		known = known && err == nil
		e.Caps.Held |= exposure.CapSet(n)
	}
	e.Caps.Known = known
}

// The numbers of the machine's first namespaces that never change. Those of network and mounts are fixed in newer kernels only.
func first(name string) string {
	switch name {
	case "user":
		return "user:[4026531837]"
	case "pid":
		return "pid:[4026531836]"
	case "net":
		return "net:[4026531833]"
	case "ipc":
		return "ipc:[4026531839]"
	case "uts":
		return "uts:[4026531838]"
	case "cgroup":
		return "cgroup:[4026531835]"
	}
	return ""
}

// apart tells whether a namespace is another one than the host's.
func apart(seen, host, name string) exposure.Reach {
	switch {
	case seen == "":
		return exposure.Unknown
	case host == "" && name == "net" && seen != first(name):
		return exposure.Unknown // older kernels number the first one as any other
	case host == "":
		host = first(name)
	}
	if seen == host {
		return exposure.Open
	}
	return exposure.Shut
}

// onlyLoopback reads /proc/net/dev.
func onlyLoopback(dev string) bool {
	found := false
	for line := range strings.Lines(dev) {
		name, _, ok := strings.Cut(line, ":")
		if !ok {
			continue // heading
		}
		if strings.TrimSpace(name) != "lo" {
			return false
		}
		found = true
	}
	return found
}

// Key and credential files below a home.
var keyFiles = [...]string{
	".ssh/id_rsa", ".ssh/id_ed25519", ".ssh/id_ecdsa", ".ssh/id_dsa", ".aws/credentials", ".netrc", ".git-credentials", ".npmrc", ".pypirc",
	".config/gh/hosts.yml", ".config/git/credentials", ".docker/config.json", ".kube/config", ".azure/accessTokens.json",
	".config/gcloud/application_default_credentials.json", ".config/gcloud/credentials.db", ".cargo/credentials", ".cargo/credentials.toml",
	".gnupg/secring.gpg", ".gnupg/pubring.kbx", ".hermes/.env", ".hermes/auth.json", ".claude/.credentials.json", ".codex/auth.json",
	".m2/settings.xml", ".gradle/gradle.properties", ".pgpass", ".my.cnf", ".bash_history", ".zsh_history",
}

// KeyFiles lists where keys and credentials below a home usually are.
func KeyFiles(home string) []string {
	out := make([]string, 0, len(keyFiles))
	for _, name := range keyFiles {
		out = append(out, filepath.Join(home, name))
	}
	return out
}

// Targets are what the probe tries to reach from inside, opened outside by Stage, and where it is.
type Targets struct {
	TCP      string   `json:"tcp,omitempty"` // 127.0.0.1:port
	UDP      string   `json:"udp,omitempty"`
	Named    string   `json:"named,omitempty"`    // path of a unix socket
	Abstract string   `json:"abstract,omitempty"` // name of one without its leading zero byte
	PID      int      `json:"pid,omitempty"`      // a process outside
	Host     Seen     `json:"host,omitempty"`     // the host's namespaces
	Secret   string   `json:"secret,omitempty"`   // a file outside that must not be read
	Outside  string   `json:"outside,omitempty"`  // a directory outside that must not be written
	Home     string   `json:"home,omitempty"`     // the owner's home
	Tree     string   `json:"tree,omitempty"`     // the work tree
	Own      []string `json:"own,omitempty"`      // where file systems are mounted inside that are the sandbox's own, no matter what they are made of
	Shown    []string `json:"shown,omitempty"`    // what of the host is shown in its own place: never the sandbox's own, even if it is kept in memory
	Planted  bool     `json:"planted,omitempty"`  // the work tree was made for the probe, its files may be tried hard
}
