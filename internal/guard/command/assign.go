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
			"PATH=$HOME/go/bin:$PATH make", "env -i PATH=/usr/bin:/bin bash -c 'env | sort'", "GIT_SSH_COMMAND='ssh -v' git fetch", `PATH="$PATH:/x" y`,
			"NODE_OPTIONS=--experimental-vm-modules npx jest", "RUBYOPT=-W0 bundle exec rspec", "JAVA_TOOL_OPTIONS=-Xmx2g mvn test", "RUSTC_WRAPPER=sccache cargo build", "PS4='+ $LINENO ' bash -x a.sh",
			"LD_LIBRARY_PATH=./build:$LD_LIBRARY_PATH ./build/app", `PATH="$(pwd)/bin:$PATH" make`, "GIT_CONFIG_GLOBAL=/dev/null git status"},
	}, {
		Key:    key,
		Say:    sayVariable,
		Harms:  guard.Host,
		Match:  text(injected),
		Why:    "the environment makes programs load or run something else",
		Remedy: "run it without the variable",
		Hits:   []string{"git status"},
		Passes: []string{""},
		Facts:  &Facts{Env: map[string]string{"GIT_SSH_COMMAND": "./x", "NODE_OPTIONS": "--max-old-space-size=4096"}},
	}}
}

func altering(c *ctx, i int) (span, bool) {
	for _, a := range c.cmd(i).Assigns {
		if !changesMeaning(a.Name) || !hijacks(c, a.Name, a.Value) {
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
			if changesMeaning(a.Name) && hijacks(c, a.Name, a.Value) {
				return "sets " + a.Name + ", which makes the program load or run something else"
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.facts.Env)) {
		if injects(name) && hijacks(c, name, shell.Word{Text: c.facts.Env[name]}) {
			return "the environment holds " + name + ", which makes programs load or run something else"
		}
	}
	return "sets a variable that makes the program load or run something else"
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
		if injects(name) && hijacks(nil, name, shell.Word{Text: value}) {
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
