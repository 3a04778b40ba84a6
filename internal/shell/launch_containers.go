package shell

import "strings"

// The flags of docker and podman that take no value; all other long options of run, create and exec do.
const engineFlags = "detach interactive tty init privileged read-only rm no-healthcheck publish-all sig-proxy oom-kill-disable quiet disable-content-trust help " +
	"replace tls-verify no-hosts no-hostname env-host http-proxy rmi passwd unsetenv-all use-api-socket no-trunc group-entry-only preserve-fd latest version"

// engine reads docker, podman and nerdctl: run, create and exec hand an argv to a container.
func engine(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], stop: true, exact: true, short: "c:H:l:a:n:Dvhr",
		long: "config= context= host= log-level= tlscacert= tlscert= tlskey= debug tls tlsverify version help " +
			"url= connection= identity= root= runroot= storage-driver= storage-opt= cgroup-manager= conmon= events-backend= hooks-dir= module= " +
			"network-cmd-path= network-config-dir= runtime= runtime-flag= ssh= tmpdir= volumepath= imagestore= out= remote transient-store syslog " +
			"address= namespace= snapshotter= cni-path= cni-netconfpath= data-root= insecure-registry"}
	for s.next() {
		switch s.key {
		case "h", "help", "v", "version":
			return nil, true
		}
	}
	rest := s.rest()
	if len(rest) > 1 && rest[0].Is("container") {
		rest = rest[1:]
	}
	if len(rest) < 2 {
		return nil, false
	}
	switch rest[0].Text {
	case "run", "create":
		return contained(rest[1:], "dtiPqh", "a:c:e:h:l:m:p:u:v:w:", true)
	case "exec":
		return contained(rest[1:], "dtil", "e:u:w:", false)
	case "compose":
		return composeArgs(rest[1:])
	case "machine": // podman machine ssh
		if rest[1].Is("ssh") && len(rest) > 2 {
			words := rest[2:]
			if len(words) > 1 {
				words = words[1:]
			}
			w := glued(words, " ")
			return []handoff{{how: "ssh", text: &w, place: Container}}, false
		}
	}
	return nil, false
}

// contained reads the options, the image or container, and the argv.
func contained(args []Word, flags, valued string, image bool) ([]handoff, bool) {
	s := optScan{args: args, stop: true, exact: true, valued: true, short: flags + valued, long: engineFlags}
	h := handoff{place: Container, feeds: true}
	var entry []Word
	target := true
	for s.next() {
		switch s.key {
		case "help":
			return nil, true
		case "e", "env":
			h.sets(s.val)
		case "w", "workdir":
			h.in(s.val)
		case "entrypoint":
			entry = entrypoint(s.val)
			h.how = "--entrypoint"
		case "l", "latest":
			target = image
		}
	}
	rest := s.rest()
	if len(rest) > 0 && target {
		rest = rest[1:]
	}
	if entry != nil {
		rest = append(entry, rest...)
	}
	return run(nil, h, rest), false
}

// entrypoint reads a program, or a JSON list of strings.
func entrypoint(w Word) []Word {
	t := strings.TrimSpace(w.Text)
	if t == "" {
		return nil
	}
	if t[0] != '[' || len(w.Holes) > 0 {
		return []Word{w}
	}
	var out []Word
	for part := range strings.SplitSeq(strings.Trim(t, "[]"), ",") {
		out = append(out, w.Lit(strings.Trim(strings.TrimSpace(part), `"`)))
	}
	return out
}

func compose(c *Command) ([]handoff, bool) { return composeArgs(c.Args[1:]) }

// composeArgs reads docker compose run and exec.
func composeArgs(args []Word) ([]handoff, bool) {
	s := optScan{args: args, stop: true, exact: true, short: "f:p:vh", long: "file= project-name= profile= env-file= project-directory= ansi= parallel= progress= " +
		"compatibility dry-run all-resources verbose version help"}
	for s.next() {
		switch s.key {
		case "help", "h", "v", "version", "dry-run":
			return nil, true
		}
	}
	rest := s.rest()
	if len(rest) < 2 || !rest[0].Is("run") && !rest[0].Is("exec") {
		return nil, false
	}
	s = optScan{args: rest[1:], stop: true, exact: true, valued: true, short: "dTitPqe:u:w:l:p:v:",
		long: "detach rm no-TTY no-deps build service-ports use-aliases quiet-pull quiet-build quiet privileged interactive tty remove-orphans help"}
	h := handoff{place: Container, feeds: true}
	var entry []Word
	for s.next() {
		switch s.key {
		case "help":
			return nil, true
		case "e", "env":
			h.sets(s.val)
		case "w", "workdir":
			h.in(s.val)
		case "entrypoint":
			h.how = "--entrypoint"
			entry = []Word{s.val}
			x := itemReader{}
			if words, ok := x.split(s.val); ok {
				entry = words
			}
		}
	}
	words := s.rest()
	if len(words) > 0 {
		words = append(entry, words[1:]...)
	}
	return run(nil, h, words), false
}

// ctr reads containerd's client: run takes an image and a name, tasks exec a name.
func ctr(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], stop: true, exact: true, short: "a:n:h", long: "address= namespace= timeout= connect-timeout= debug help version"}
	for s.next() {
		if s.key == "help" || s.key == "version" || s.key == "h" {
			return nil, true
		}
	}
	skip := 0
	switch verb, _ := s.take(); verb.Text {
	case "run":
		skip = 2
	case "t", "task", "tasks":
		if verb, _ := s.take(); verb.Is("exec") {
			skip = 1
		}
	}
	if skip == 0 {
		return nil, false
	}
	s = optScan{args: s.rest(), stop: true, exact: true, valued: true, short: "dte:", long: "detach tty rm null-io net-host privileged read-only fifo-dir tty help no-pivot cni"}
	h := handoff{place: Container, feeds: true}
	for s.next() {
		switch s.key {
		case "env", "e":
			h.sets(s.val)
		case "cwd":
			h.in(s.val)
		}
	}
	rest := s.rest()
	return run(nil, h, rest[min(skip, len(rest)):]), false
}
