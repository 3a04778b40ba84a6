package snapshot

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A kernel takes no single argument or variable above 128 KiB. What is larger goes through the prelude.
const (
	longText  = 100 << 10
	longValue = 100 << 10
)

// prelude is what bash reads before the text, through BASH_ENV.
type prelude struct {
	b    strings.Builder
	tail string
}

// open begins: the descriptor is closed, and BASH_ENV is again what it was, the old one.
func (p *prelude) open(fd int, old string) {
	p.b.WriteString("exec " + strconv.Itoa(fd) + "<&-\nunset -v BASH_ENV\n")
	if old != "" {
		p.tail = "export BASH_ENV=" + Quote(old) + "\n[ -r \"$BASH_ENV\" ] && . \"$BASH_ENV\"\n"
	}
}

// variables exports what execve does not take.
func (p *prelude) variables(large map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(large)) {
		p.b.WriteString("export " + name + "=" + Quote(large[name]) + "\n")
	}
}

// text puts a long text into a variable and returns what evaluates it.
func (p *prelude) text(text string) string {
	const name = "__hermes_text"
	p.b.WriteString(name + "=" + Quote(text) + "\n")
	return `eval "unset -v ` + name + `
$` + name + `"`
}

// trap makes the shell write its state when it ends. It is written so that whatever the command did to options, functions
// and aliases does not change it, and nothing of it is seen.
func (p *prelude) trap(changes Change, fd int) {
	if changes == 0 {
		return
	}
	var b strings.Builder
	b.WriteString(`{ \builtin set +eux; `)
	section := func(name, command string) {
		b.WriteString(`\builtin printf "\0` + name + `\0"; ` + command + `; `)
	}
	if changes&Dir != 0 {
		section("dir", `\builtin pwd -P || \builtin printf %s "$PWD"`) // it may be gone
		section("old", `\builtin printf %s "$OLDPWD"`)
	}
	if changes&Exports != 0 {
		section("vars", `\builtin export -p`)
	}
	if changes&Definitions != 0 {
		section("names", `\builtin declare -F`)
		section("functions", `\builtin declare -f`)
		section("aliases", `\builtin alias -p`)
	}
	b.WriteString(`\builtin printf "\0end\0"; } 2>/dev/null >&` + strconv.Itoa(fd))
	p.tail += "trap '" + b.String() + "' EXIT\n"
}

func (p *prelude) close() []byte {
	p.b.WriteString(p.tail)
	return []byte(p.b.String())
}

func descriptor(fd int) string { return "/dev/fd/" + strconv.Itoa(fd) }

// Quote makes a shell word of any text.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Bootstrap plans the login shell that runs once before the first command: its start files and files are read, and what they
// leave is the state the session begins with. Files that cannot be read are skipped.
func (s *State) Bootstrap(files []string, login bool) Plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	var pre prelude
	p, vars := s.begin(noExtras, "")
	p.changes, p.Write = Everything, true
	pre.trap(Everything, s.conf.Write)
	var b strings.Builder
	b.WriteString(pre.tail)
	for _, file := range files {
		if rest, ok := strings.CutPrefix(file, "~/"); ok && vars.get("HOME") != "" {
			file = strings.TrimRight(vars.get("HOME"), "/") + "/" + rest
		}
		b.WriteString("[ -r " + Quote(file) + " ] && . " + Quote(file) + "\n")
	}
	b.WriteString("exit 0")
	p.Argv = []string{s.conf.Shell, "-O", "expand_aliases", "-c", b.String()}
	if login {
		p.Argv = slices.Insert(p.Argv, 1, "-l")
	}
	p.Shell, p.Env = true, vars.pairs()
	return p
}

// Bare plans the test that follows a login shell which failed: bash without any start file.
func (s *State) Bare() Plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, vars := s.begin(noExtras, "")
	p.Argv, p.Env = []string{s.conf.Shell, "-c", "true"}, vars.pairs()
	return p
}
