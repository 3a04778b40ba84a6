// Package peers lists other sandboxes' command lines, with policies as their own documents suggest them.
//
// It starts nothing and installs nothing. Failure direction: a peer that is not installed is left out by who asks, never
// counted as one.
package peers

import (
	"fmt"
	"os"
	"path/filepath"
)

// Peer is a command line up to the command inside.
type Peer struct {
	Name   string
	Prefix []string
	Work   bool // the work tree can be written and programs of the system run: fit for a build
}

// Place is where they are tried: an owner's home, a work tree below it, and a program that is to be seen inside.
type Place struct{ Home, Tree, Program string }

// List returns them all. It writes the settings that some need into dir, which must not be seen as part of the place.
func List(p Place, dir string) ([]Peer, error) {
	settings := func(name, text string) (string, error) {
		path := filepath.Join(dir, name)
		return path, os.WriteFile(path, []byte(text), 0o644)
	}
	work, err := settings("srt-work.json", fmt.Sprintf(
		`{"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"denyRead":["~/.ssh"],"allowWrite":[%q,"/tmp"],"denyWrite":[".env"]}}`, p.Tree))
	if err != nil {
		return nil, err
	}
	bwrap := []string{"bwrap", "--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"}
	system := []string{"bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--ro-bind", "/usr", "/usr",
		"--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--ro-bind", "/etc", "/etc",
		"--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", p.Home, "--bind", p.Tree, p.Tree}
	landrun := []string{"landrun", "--best-effort", "--rox", "/usr", "--ro", "/etc,/proc,/dev,/sys/kernel/mm", "--rw", "/dev/null",
		"--rwx", p.Tree + ",/tmp"}
	if p.Program != "" {
		system = append(system, "--ro-bind", p.Program, p.Program)
		landrun = append(landrun, "--rox", p.Program)
	}
	for _, name := range []string{"PATH", "HOME", "GOCACHE", "GOTMPDIR", "GOTOOLCHAIN", "GOFLAGS", "SHELL"} {
		landrun = append(landrun, "--env", name)
	}
	return []Peer{
		{"bwrap, read-only", bwrap, false},
		{"bwrap, work tree", append(bwrap[:len(bwrap):len(bwrap)], "--tmpfs", "/tmp", "--bind", p.Tree, p.Tree), true},
		{"bwrap, system and work tree only, no capabilities", system, false},
		{"landrun, work tree", append(landrun, "--"), true},
		{"srt, its defaults", []string{"srt", "--"}, false},
		{"srt, work tree", []string{"srt", "--settings", work, "--"}, true},
		{"codex sandbox, its defaults", []string{"codex", "sandbox"}, false},
		{"codex sandbox, workspace-write", []string{"codex", "sandbox", "-c", `sandbox_mode="workspace-write"`}, true},
		{"firejail, its default profile", []string{"firejail", "--quiet"}, false},
		{"firejail, hardened", []string{"firejail", "--quiet", "--noprofile", "--net=none", "--caps.drop=all", "--nonewprivs", "--noroot",
			"--seccomp", "--restrict-namespaces", "--private-dev", "--private-tmp", "--whitelist=" + p.Tree}, false},
		{"unshare", []string{"unshare", "--user", "--map-root-user", "--mount", "--pid", "--ipc", "--net", "--uts", "--fork", "--mount-proc"}, false},
	}, nil
}
