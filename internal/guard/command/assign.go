package command

import (
	"strings"

	"hermes/internal/guard"
)

// Variables that change which program runs, or make it run or load something else.
func assigns() table {
	return table{{
		Key:    "assignment changes what the command runs",
		Harms:  guard.Host,
		Match:  match{on: onAssign, test: altering},
		Why:    "sets a variable that makes the program load or run something else",
		Remedy: "run the command without the assignment: `git status`",
		Hits:   []string{"GIT_SSH_COMMAND=./x git fetch", "LD_PRELOAD=./x.so ls", "PATH=/tmp/bin:$PATH make", "NODE_OPTIONS=--require=./x.js node a.js", "BASH_ENV=./x bash a.sh"},
		Passes: []string{"GOOS=linux go build ./...", "NODE_ENV=test npm test", "LC_ALL=C sort x", "git status", "NODE_OPTIONS=--max-old-space-size=4096 npm run build"},
	}}
}

func altering(c *ctx, i int) (span, bool) {
	for _, a := range c.cmd(i).Assigns {
		if changesMeaning(a.Name) && !(a.Name == "NODE_OPTIONS" && a.Value.Known() && !loads(a.Value.Text)) {
			s := at(a.Value)
			if s.start > len(a.Name) && s != (span{}) {
				s.start = max(0, s.start-len(a.Name)-1)
			}
			return s, true
		}
	}
	return span{}, false
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
