package command

import (
	"maps"
	"slices"
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell"
)

// Variables that change which program runs, or make it run or load something else.
func assigns() table {
	const key = "assignment changes what the command runs"
	return table{{
		Key:    key,
		Say:    sayVariable,
		Harms:  guard.Host,
		Match:  match{on: onAssign, test: altering},
		Why:    "sets a variable that makes the program load or run something else",
		Remedy: "run the command without the assignment: `git status`",
		Hits:   []string{"GIT_SSH_COMMAND=./x git fetch", "LD_PRELOAD=./x.so ls", "PATH=/tmp/bin:$PATH make", "NODE_OPTIONS=--require=./x.js node a.js", "BASH_ENV=./x bash a.sh"},
		Passes: []string{"GOOS=linux go build ./...", "NODE_ENV=test npm test", "LC_ALL=C sort x", "git status", "NODE_OPTIONS=--max-old-space-size=4096 npm run build",
			"PATH=$HOME/go/bin:$PATH make", "env -i PATH=/usr/bin:/bin bash -c 'env | sort'", "GIT_SSH_COMMAND='ssh -v' git fetch", `PATH="$PATH:/x" y`},
	}, {
		Key:    key,
		Say:    sayVariable,
		Harms:  guard.Host,
		Match:  text(injected),
		Why:    "the environment makes programs load or run something else",
		Remedy: "run it without the variable",
		Hits:   []string{"git status"},
		Passes: []string{""},
		Facts:  &Facts{Env: map[string]string{"GIT_SSH_COMMAND": "./x"}},
	}}
}

func altering(c *ctx, i int) (span, bool) {
	for _, a := range c.cmd(i).Assigns {
		if !changesMeaning(a.Name) || usualValue(a) {
			continue
		}
		s := at(a.Value)
		if s != (span{}) && s.start > len(a.Name) {
			s.start -= len(a.Name) + 1
		}
		return s, true
	}
	return span{}, false
}

// sayVariable names the variable a finding is about.
func sayVariable(c *ctx, i int) string {
	if i >= 0 {
		for _, a := range c.cmd(i).Assigns {
			if changesMeaning(a.Name) && !usualValue(a) {
				return "sets " + a.Name + ", which makes the program load or run something else"
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.facts.Env)) {
		if injects(name) {
			return "the environment holds " + name + ", which makes programs load or run something else"
		}
	}
	return "sets a variable that makes the program load or run something else"
}

// usualValue tells whether an assignment changes nothing that matters.
func usualValue(a shell.Assign) bool {
	v := a.Value
	switch a.Name {
	case "NODE_OPTIONS":
		return v.Known() && !loads(v.Text) && strings.HasPrefix(strings.TrimSpace(v.Text), "--")
	case "PATH":
		return usualPath(v)
	case "GIT_SSH_COMMAND":
		return len(v.Holes) == 0 && (v.Text == "ssh" || strings.HasPrefix(v.Text, "ssh ")) && !strings.ContainsAny(v.Text, ";&|`$") &&
			foldIndex(v.Text, "command") < 0 && !strings.Contains(v.Text, " -F")
	case "MAKEFLAGS":
		return v.Known() && strings.Trim(v.Text, "-j0123456789 ks") == ""
	case "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH":
		return usualPath(v)
	}
	return v.Text == ""
}

// usualPath tells whether all directories of a search path are where programs are installed.
func usualPath(v shell.Word) bool {
	hole := 0
	for k, dir := range strings.Split(v.Text, ":") {
		n := strings.Count(dir, shell.Unknown)
		if n > 0 {
			names := v.Holes[min(hole, len(v.Holes)):min(hole+n, len(v.Holes))]
			hole += n
			for _, h := range names {
				if h.Kind != shell.Variable || !has([]string{"PATH", "HOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "JAVA_HOME", "GOPATH", "GOROOT", "VIRTUAL_ENV", "CARGO_HOME", "PWD"}, h.Name) {
					return false
				}
			}
			if dir == shell.Unknown && k > 0 {
				continue
			}
			if dir == shell.Unknown {
				if names[0].Name != "PATH" && names[0].Name != "LD_LIBRARY_PATH" && names[0].Name != "DYLD_LIBRARY_PATH" {
					return false
				}
				// What comes behind the old path only adds names.
				return true
			}
		}
		ok := false
		for _, p := range [...]string{"/usr", "/bin", "/sbin", "/opt", "/snap", "/nix", "/lib", "/lib64"} {
			ok = ok || under(dir, p)
		}
		for _, end := range [...]string{"/.local/bin", "/.cargo/bin", "/go/bin", "node_modules/.bin", "/bin"} {
			ok = ok || strings.HasSuffix(dir, end) && (n > 0 || dir[0] == '~' || end != "/bin" && !strings.HasPrefix(dir, "/tmp") && !strings.HasPrefix(dir, "/var/tmp"))
		}
		if !ok {
			return false
		}
	}
	return true
}

// loads tells whether options for node make it load or run something.
func loads(opts string) bool {
	for _, o := range [...]string{"-r", "require", "import", "loader", "inspect", "eval", "-e"} {
		if strings.Contains(opts, o) {
			return true
		}
	}
	return false
}

// changesMeaning tells whether a variable changes which program runs or makes it load something.
func changesMeaning(name string) bool {
	switch name {
	case "PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH", "DYLD_FRAMEWORK_PATH",
		"BASH_ENV", "ENV", "ZDOTDIR", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "PS4",
		"GIT_SSH_COMMAND", "GIT_SSH", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL",
		"GIT_CONFIG_SYSTEM", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_TEMPLATE_DIR", "SUDO_ASKPASS",
		"NODE_OPTIONS", "PYTHONSTARTUP", "PYTHONHOME", "PYTHONINSPECT", "PERL5OPT", "PERL5LIB", "PERL5DB", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS",
		"GCONV_PATH", "LESSOPEN", "LESSCLOSE", "MAKEFLAGS", "RUSTC_WRAPPER", "CARGO_BUILD_RUSTC_WRAPPER":
		return true
	}
	return strings.HasPrefix(name, "BASH_FUNC_") || strings.HasPrefix(name, "GIT_CONFIG_KEY_")
}

// injected holds when the environment the caller gives holds a variable that injects code.
func injected(c *ctx) (span, bool) {
	return span{}, len(c.prog.Commands) > 0 && injecting(c.facts)
}

// injecting tells whether the environment the caller gives injects code.
func injecting(f *Facts) bool {
	for name, value := range f.Env {
		if value != "" && injects(name) {
			return true
		}
	}
	return false
}

// injects tells whether a variable makes ordinary programs run something that is not theirs.
func injects(name string) bool {
	switch name {
	case "LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "PROMPT_COMMAND", "GIT_SSH_COMMAND", "GIT_SSH", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND",
		"GIT_EXEC_PATH", "NODE_OPTIONS", "PERL5OPT", "RUBYOPT", "PYTHONSTARTUP", "JAVA_TOOL_OPTIONS":
		return true
	}
	return strings.HasPrefix(name, "BASH_FUNC_")
}
