package shell

import "strings"

// packages reads the tools that run the program of a package: npx, npm exec, pnpm dlx, yarn dlx, bunx, uvx, uv run, pipx run.
func packages(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], stop: true, exact: true, short: "p:c:w:C:qyvh",
		long: "package= call= workspace= prefix= cwd= dir= filter= loglevel= registry= cache= userconfig= from= with= with-requirements= with-editable= python= " +
			"index-url= extra-index-url= index= default-index= find-links= directory= project= env-file= extra= group= only-group= no-group= refresh-package= " +
			"spec= pip-args= script-shell= node-options= color= config-file= cache-dir= package-manager= help version"}
	program := true // an argument that names a package comes first
	switch c.Name {
	case "npm", "pnpm", "yarn", "uv", "pipx":
		var ok bool
		if program, ok = packageVerb(c.Name, &s); !ok {
			return nil, false
		}
	}
	h := handoff{feeds: true}
	var hs []handoff
	for s.next() {
		switch s.key {
		case "help", "version", "h", "v":
			return nil, true
		case "c", "call":
			if c.Name == "pnpm" || !s.has { // --shell-mode; the words are the text
				continue
			}
			hs = say(hs, dashed(s.key), s.val, systemShell)
		case "C", "cwd", "dir", "directory", "prefix":
			if s.has {
				h.in(s.val)
			}
		}
	}
	rest := s.rest()
	if len(rest) > 0 && rest[0].Is("--") {
		rest = rest[1:]
	}
	if len(rest) == 0 || len(hs) > 0 {
		return hs, false
	}
	if program {
		rest = append([]Word{withoutVersion(rest[0])}, rest[1:]...)
	}
	return run(hs, h, rest), false
}

// packageVerb moves s behind the subcommand; ok tells whether it runs a program.
func packageVerb(name string, s *optScan) (program, ok bool) {
	for s.next() {
	}
	verb, ok := s.take()
	if !ok {
		return false, false
	}
	switch {
	case name == "npm" && verb.Is("explore"):
		_, ok := s.take()
		return false, ok
	case name == "npm" && (verb.Is("exec") || verb.Is("x")), name == "pipx" && verb.Is("run"),
		(name == "pnpm" || name == "yarn") && verb.Is("dlx"):
		return true, true
	case (name == "pnpm" || name == "yarn") && verb.Is("exec"):
		return false, true
	case name == "uv" && verb.Is("run"):
		s.short = "p:w:m:C:qvnsh"
		return false, true
	case name == "uv" && verb.Is("tool"):
		next, ok := s.take()
		return true, ok && next.Is("run")
	}
	return false, false
}

// withoutVersion cuts what pins a package: name@1.2, name==1.2.
func withoutVersion(w Word) Word {
	cut := len(w.Text)
	if i := strings.Index(w.Text, "=="); i > 0 {
		cut = i
	}
	if i := strings.LastIndexByte(w.Text[:cut], '@'); i > 0 {
		cut = i
	}
	if cut == len(w.Text) {
		return w
	}
	n := min(strings.Count(w.Text[:cut], Unknown), len(w.Holes))
	w.Text, w.Holes = w.Text[:cut], w.Holes[:n:n]
	return w
}

// nix reads nix-shell --run and nix develop, shell and run.
func nix(c *Command) ([]handoff, bool) {
	if c.Name == "nix-shell" {
		s := optScan{args: c.Args[1:], exact: true, short: "p:A:I:E:i:j:k", long: "run= command= packages= attr= expr= exclude= keep= pure impure help version argstr= arg= option="}
		var hs []handoff
		for s.next() {
			switch s.key {
			case "help", "version":
				return nil, true
			case "run", "command":
				if s.has {
					hs = say(hs, dashed(s.key), s.val, Bash)
				}
			}
		}
		return hs, false
	}
	args := c.Args[1:]
	for len(args) > 0 && strings.HasPrefix(args[0].Text, "-") {
		n := 1
		if args[0].Is("--extra-experimental-features") || args[0].Is("--experimental-features") {
			n = 2
		}
		args = args[min(n, len(args)):]
	}
	if len(args) == 0 {
		return nil, false
	}
	switch args[0].Text {
	case "develop", "shell", "env":
	default:
		return nil, false
	}
	for i, w := range args[1:] {
		if w.Is("-c") || w.Is("--command") {
			return run(nil, handoff{how: "-c", feeds: true}, args[i+2:]), false
		}
	}
	return nil, false
}
