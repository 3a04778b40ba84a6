// Package snapshot keeps what lasts of a shell from one command of a session to the next: exported variables, functions,
// aliases and the directory. It plans how a fresh bash gets them without extra processes, and reads back what the command
// left.
//
// It starts nothing (see runner and child), and does not decide what a text can change (a Judge does). It keeps nothing on
// disk. Failure direction: what cannot be read back whole is dropped, and the state stays as it was.
package snapshot

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"hermes/internal/guard/environ"
	"hermes/internal/sandbox"
)

// Change is a set of things a shell text may change.
type Change uint8

// What lasts.
const (
	Dir Change = 1 << iota
	Exports
	Definitions // functions and aliases
	Everything  = Dir | Exports | Definitions
)

// Judgement is what is known of a text before it runs. The zero Judgement knows nothing: everything may change.
type Judgement struct {
	Keeps Change // what surely stays as it is
	Spelt bool   // every function and alias the text can use or look at stands in it by name

	Declares string // the function that the text declares, if it does that and nothing else
}

// Judge judges a text. It must be safe for concurrent use.
type Judge func(text string) Judgement

// Config is what a State is made of.
type Config struct {
	Shell  string                        // path of bash
	Env    environ.List                  // the environment every command begins with
	Dir    string                        // where the first command starts
	Vars   map[string]string             // variables of the backend\'s own, over Env
	Posix  bool                          // the shell is no bash: nothing is kept
	Lasts  bool                          // false: nothing is kept, every command begins anew
	Judge  Judge                         // nil: every text may change everything, and no function lasts that a command makes
	Stores func(name, value string) bool // which variables may be kept; nil: all that the names allow

	// Prelude and Write are the descriptors on which the command finds its prelude and writes its state.
	Prelude, Write int
}

// State is what lasts in one session. It is safe for concurrent use; of commands that run side by side, the one that ends
// last is kept.
type State struct {
	conf Config
	base map[string]string
	gone []string // declared, but without a value: unset for every command

	mu    sync.Mutex
	dir   string
	known bool // dir is physical, as bash told it
	vars  map[string]string
	unset map[string]bool
	defs  definitions
	login bool         // every command is run by a login shell
	start sandbox.Kept // what the start files left

	version uint64  // of what lasts, but for the directory
	cache   *merged // nil: to be put together
}

// New returns a state in which nothing was run yet.
func New(c Config) *State {
	c.Lasts = c.Lasts && !c.Posix
	s := &State{version: 1, conf: c, base: environ.Parse(c.Env.Strings()), gone: c.Env.Absent(), dir: c.Dir}
	maps.Copy(s.base, c.Vars)
	for name, value := range map[string]string{
		"AI_AGENT": "hermes-agent", "HERMES_AGENT": "true", "GIT_PAGER": "cat", "PAGER": "cat", "SHELL": c.Shell,
	} {
		if _, ok := s.base[name]; !ok && value != "" {
			s.base[name] = value
		}
	}
	return s
}

// Dir returns where the next command starts.
func (s *State) Dir() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dir
}

// Move changes where the next command starts.
func (s *State) Move(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dir, s.known = dir, false
}

// Login makes every later command run in a login shell: for a machine on which bash works only so.
func (s *State) Login() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.login = true
}

// Plan is how to run one command.
type Plan struct {
	Argv    []string
	Shell   bool // the last of Argv is shell text
	Env     []string
	Dir     string
	Prelude []byte // what Config.Prelude must give; empty: no descriptor
	Write   bool   // Config.Write must be open for writing; Apply wants what was written

	dir     string // where it ends, if the text cannot change that; empty: not known
	changes Change
	version uint64
}

// Plan plans a command. One that was judged with another version of what lasts is not to run: sandbox.ErrChanged.
func (s *State) Plan(c sandbox.Command) (Plan, error) {
	p := Plan{}
	if c.Text != "" {
		p = s.Text(c.Text, c.Env, c.Dir)
	} else {
		p = s.Program(c.Argv, c.Env, c.Dir)
	}
	if c.Judged != 0 && c.Judged != p.version {
		return Plan{}, sandbox.ErrChanged
	}
	return p, nil
}

// Program plans a program without a shell. env is added for this command only; dir "" is the session's.
func (s *State) Program(argv []string, env environ.List, dir string) Plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, vars := s.begin(env, dir)
	p.Argv, p.Env = argv, vars.pairs()
	return p
}

// Text plans a shell text.
func (s *State) Text(text string, env environ.List, dir string) Plan {
	if s.conf.Posix {
		return s.Program([]string{s.conf.Shell, "-c", text}, env, dir)
	}
	j := Judgement{}
	if s.conf.Judge != nil {
		j = s.conf.Judge(text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, vars := s.begin(env, dir)
	names, more, aliases := s.defs.need(text, j.Spelt, s.conf.Judge)
	if s.conf.Lasts {
		p.changes = Everything&^j.Keeps | more
		if p.changes&Dir == 0 && (dir != "" || s.known) {
			p.dir = p.Dir
		}
	}
	var pre prelude
	large := vars.spill()
	if p.changes&Definitions != 0 { // what is written back is all there is
		names, aliases = slices.Sorted(maps.Keys(s.defs.functions)), true
	}
	defs := s.defs.text(names, aliases)
	if p.changes != 0 || defs != "" || len(large) > 0 || len(text) > longText {
		pre.open(s.conf.Prelude, vars.get("BASH_ENV"))
		pre.variables(large)
		pre.b.WriteString(defs)
		if len(text) > longText {
			text = pre.text(text)
		}
		pre.trap(p.changes, s.conf.Write)
		p.Prelude, p.Write = pre.close(), p.changes != 0
		vars.put("BASH_ENV", descriptor(s.conf.Prelude))
	}
	p.Argv = []string{s.conf.Shell, "-O", "expand_aliases", "-c", text}
	if s.login {
		// A login shell does not read BASH_ENV.
		vars.remove("BASH_ENV")
		if p.Prelude != nil {
			text = ". " + descriptor(s.conf.Prelude) + "\n" + text
		}
		p.Argv = []string{s.conf.Shell, "-l", "-O", "expand_aliases", "-c", text}
	}
	p.Shell, p.Env = true, vars.pairs()
	return p
}

// begin makes the environment and the directory. The caller holds s.mu.
func (s *State) begin(extra environ.List, dir string) (Plan, *environment) {
	env := newEnvironment(s.merged(), extra)
	p := Plan{Dir: dir, version: s.version}
	if dir == "" {
		p.Dir = s.dir
	}
	if rest, ok := strings.CutPrefix(p.Dir, "~"); ok && (rest == "" || rest[0] == '/') && env.get("HOME") != "" {
		p.Dir = strings.TrimRight(env.get("HOME"), "/") + rest
	}
	env.put("PWD", p.Dir)
	return p, env
}

// Apply takes what a command wrote. It returns where the command ended, and whether it told.
func (s *State) Apply(p Plan, written []byte) (dir string, observed bool) {
	if !p.Write {
		if p.dir != "" && p.changes&Dir == 0 {
			return p.dir, true
		}
		return "", false
	}
	d, ok := parse(written)
	if !ok {
		return "", false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.conf.Lasts {
		return d.dir, d.dir != ""
	}
	vars, unset, defs := s.vars, s.unset, s.defs
	if p.changes&Exports != 0 {
		s.exports(p, d)
	}
	if p.changes&Definitions != 0 {
		d.defs.sound(s.defs, s.conf.Judge)
		s.defs, s.cache = d.defs, nil
	}
	if !same(vars, s.vars) || !maps.Equal(unset, s.unset) || !defs.equal(&s.defs) {
		s.version++
	}
	if p.changes&Dir == 0 {
		return p.dir, p.dir != ""
	}
	if d.dir != "" {
		s.dir, s.known = d.dir, true
		if d.old != "" && s.vars == nil {
			s.vars = map[string]string{}
		}
		if d.old != "" {
			s.vars["OLDPWD"], s.cache = d.old, nil
		}
	}
	return d.dir, d.dir != ""
}

// exports takes the exported variables over. The caller holds s.mu.
func (s *State) exports(p Plan, d dump) {
	s.vars, s.unset, s.cache = map[string]string{}, map[string]bool{}, nil
	for name, value := range d.vars {
		if old, ok := s.base[name]; (!ok || old != value) && s.stores(name, value) {
			s.vars[name] = value
		}
	}
	s.defs.arrays = d.arrays
	for name := range s.base {
		if _, still := d.vars[name]; !still && s.stores(name, "") {
			s.unset[name] = true
		}
	}
}

func (s *State) stores(name, value string) bool {
	return !Never(name) && (s.conf.Stores == nil || s.conf.Stores(name, value))
}

// Bootstrapped takes what the login shell wrote before the first command; only the directory stays.
func (s *State) Bootstrapped(p Plan, written []byte) bool {
	d, ok := parse(written)
	if !ok {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exports(p, d)
	s.defs, s.cache = d.defs, nil
	s.start = s.keeps()
	return true
}

// Never tells whether a variable is never kept: it belongs to one command, one run or one shell.
func Never(name string) bool {
	switch name {
	case "AI_AGENT", "HERMES_AGENT", "HERMES_DELEGATED_CHILD_CONTEXT", "HERMES_CRON_SESSION", "HERMES_KERNEL_DIR",
		"HERMES_UI_SESSION_ID", "PWD", "SHLVL", "_", "IFS", "BASH_ENV", "BASHOPTS", "SHELLOPTS":
		return true
	}
	for _, prefix := range [...]string{"HERMES_SESSION_", "HERMES_CRON_AUTO_DELIVER_", "HERMES_BROWSER_CONTROL_", "HERMES_RPC_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
