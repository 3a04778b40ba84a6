package code

import "strings"

// act is what calling a name does.
type act uint8

const (
	none    act = iota // not on any list
	ok                 // harmless, called or not
	module             // holds other names
	harm               // has its effect, and what exactly cannot be told
	shell              // runs a command line
	popen              // runs an argument list, or a line with shell=True
	program            // each argument is a word of the command
	execv              // path and list
	execl              // path, argv[0], words
	spawnv             // mode, path, list
	spawnl             // mode, path, argv[0], words
	spawn              // Node: program, list, options
	eval               // runs code
	open               // path and mode
	magic              // Perl's and Ruby's open, which may start a command
	write              // writes path number i
	read               // reads path number i
	remove             // deletes every path
	move               // deletes path 0, writes path 1
	copyTo             // reads path 0, writes path 1
	connect            // URL or host number i
	getattr            // attribute by name
	load               // module by name
	signal             // signals a process
	call               // calls argument i by its name
	trusted            // reads path 0 and, unless told not to, runs what it finds there
)

// entry is what the lists of a language say of a name.
type entry struct {
	do  act
	eff Effect
	i   int
}

func (s *scanner) lookup(path string) entry {
	switch s.lang {
	case Python:
		for _, name := range s.given {
			if name == path {
				return entry{do: ok}
			}
			if rest, found := strings.CutPrefix(name, path); found && rest[0] == '.' {
				return entry{do: module}
			}
		}
		return pyLookup(path)
	case Node:
		return jsLookup(path)
	case Perl:
		return perlLookup(path)
	case Ruby:
		return rubyLookup(path)
	case PHP:
		return phpLookup(path)
	case Lua:
		return luaLookup(path)
	case R:
		return rLookup(path)
	}
	return entry{}
}

func (s *scanner) method(name string) bool {
	switch s.lang {
	case Python:
		return pyMethod(name) || pyDataMethod(name)
	case Node:
		return jsMethod(name)
	case Perl:
		return perlMethod(name)
	case Ruby:
		return rubyMethod(name)
	case PHP:
		return phpMethod(name)
	case Lua:
		return luaMethod(name)
	}
	return false
}

// call is v(args); the closing bracket ends at b.
func (s *scanner) call(v value, args []value, b int) value {
	out := value{a: v.a, b: b}
	switch v.k {
	case kName:
		if s.shortcut(v).s == "" {
			s.eff(Unknown)
			return out
		}
		e := s.lookup(v.s)
		if e.do == none {
			s.eff(Unknown)
			return out
		}
		return s.perform(e, v, args, b)
	case kMethod:
		return s.callMethod(v, args, b)
	case kStr:
		if s.lang == PHP {
			return s.byName(v, args, b)
		}
	}
	if v.wild {
		s.eff(Unknown)
	}
	for _, x := range args {
		if x.wild {
			s.eff(Unknown)
		}
	}
	switch s.lang {
	case Python, R:
	case Node, Lua:
		if v.name == "" && !v.code {
			s.eff(Unknown)
		}
	case PHP, Perl:
		if _, bound := s.names[v.name]; !v.code && (!bound || s.lang == PHP) || strings.HasPrefix(v.name, "*") {
			s.eff(Unknown | Eval)
		}
	default:
		if v.name == "" && !v.code {
			s.eff(Unknown)
		}
	}
	return out
}

// byName calls the function whose name is the string v.
func (s *scanner) byName(v value, args []value, b int) value {
	if !v.known() {
		s.eff(Unknown | Eval)
		return value{a: v.a, b: b}
	}
	if _, bound := s.names[v.s]; bound && s.lookup(v.s).do == none {
		return value{a: v.a, b: b}
	}
	return s.call(value{k: kName, s: v.s, a: v.a, b: v.b}, args, b)
}

// arg is the positional argument i, or the one named kw.
func arg(args []value, i int, kw string) (value, bool) {
	for _, v := range args {
		if v.kw != "" {
			if v.kw == kw && kw != "" {
				return v, true
			}
			continue
		}
		if i == 0 {
			return v, true
		}
		i--
	}
	return value{}, false
}

// need is arg, unknown when it is missing.
func need(out value, args []value, i int) value {
	if v, found := arg(args, i, ""); found {
		return v
	}
	return value{a: out.a, b: out.b}
}

// perform counts a call of the listed name v.
func (s *scanner) perform(e entry, v value, args []value, b int) value {
	out := value{a: v.a, b: b}
	s.eff(e.eff)
	if s.lang == Perl || s.lang == Ruby {
		args = flatten(args)
	}
	switch e.do {
	case ok:
		for _, x := range args {
			if x.wild && !jsPrints(v.s) {
				s.eff(Unknown)
			}
		}
		return s.fold(v.s, args).at(v.a, b)
	case module:
		s.eff(Unknown)
	case shell, popen, program, execv, execl, spawnv, spawnl, spawn:
		s.start(e.do, out, args)
	case eval:
		s.eff(Eval)
		x := need(out, args, e.i)
		if s.lang == Node && len(args) > 0 && v.s == "Function" {
			x = args[len(args)-1]
		}
		if x.code {
			return out
		}
		if !x.known() {
			s.eff(Unknown)
		}
		if c, isText := x.str(); isText {
			s.inner(s.lang, c, x.a, x.b)
			if s.lang == Python && !strings.ContainsAny(c, "\n;") {
				return s.evaluated(c).at(v.a, b)
			}
		}
	case getattr:
		if s.lang == Ruby { // send(:name, …)
			if n := need(out, args, 0); n.known() {
				return s.call(s.resolve(token{text: n.s, a: n.a, b: n.b}, false), args[1:], b)
			}
			s.eff(Eval | Unknown)
			return out
		}
		x, n := need(out, args, 0), need(out, args, 1)
		if !n.known() {
			s.eff(Eval | Unknown)
			return out
		}
		return s.attr(x, n.s, b)
	case load:
		x := need(out, args, 0)
		switch s.lang {
		case Node:
			return s.jsModule(x).at(v.a, b)
		case Python:
			if x.known() {
				return value{k: kName, s: s.pyModule(x.s), a: v.a, b: b}
			}
		default:
			if x.known() && s.lookup("require "+x.s).do == ok {
				return out
			}
		}
		s.eff(Import)
		if !x.known() {
			s.eff(Unknown)
		}
	case call:
		return s.callback(out, e.i, args)
	case trusted:
		if w, _ := arg(args, -1, "weights_only"); strings.HasSuffix(v.s, "torch.load") && (w.k != kBool || w.s != "true") {
			s.eff(Eval | Unknown)
		}
		if _, told := arg(args, -1, "allow_pickle"); told {
			s.eff(Eval | Unknown)
		}
		s.files(entry{do: read, eff: Read}, v, out, args)
	default:
		s.files(e, v, out, args)
	}
	return out
}

// evaluated is the value of a short known expression, for eval("os").system(…).
func (s *scanner) evaluated(code string) value {
	c := strings.TrimSpace(code)
	c = strings.TrimPrefix(c, "__import__(")
	if c != code {
		c = strings.Trim(strings.TrimSuffix(c, ")"), `'"`)
	}
	if e := s.lookup(c); e.do != none && e.do != ok {
		return value{k: kName, s: c}
	}
	return value{}
}

// callback counts a function that calls its argument i, in PHP often by name.
func (s *scanner) callback(out value, i int, args []value) value {
	f := need(out, args, i)
	if f.code || f.k == kName && s.lookup(f.s).do == ok {
		return out
	}
	if f.k != kStr {
		if f.k != kBool && len(args) > i {
			s.eff(Unknown | Eval)
		}
		return out
	}
	rest := append(append([]value{}, args[:min(i, len(args))]...), args[min(i+1, len(args)):]...)
	rest = flatten(rest)
	return s.byName(f, rest, out.b)
}

// start counts the start of a program.
func (s *scanner) start(do act, out value, args []value) {
	s.eff(Spawn)
	first := need(out, args, 0)
	if v, named := arg(args, -1, "args"); named {
		first = v
	}
	if v, named := arg(args, -1, "cmd"); named {
		first = v
	}
	switch do {
	case shell:
		if s.lang == Ruby {
			args = plain(args)
			first = need(out, args, 0)
		}
		if (s.lang == Perl || s.lang == Ruby) && len(args) > 1 {
			s.addExec(args)
			return
		}
		s.addShell(first)
	case popen:
		s.popen(first, args)
	case program:
		s.addExec(plain(args))
	case execv, spawnv:
		i := 0
		if do == spawnv {
			i = 1
		}
		argv := []value{need(out, args, i)}
		if l := need(out, args, i+1); l.k == kList {
			if len(l.list) > 0 {
				argv = append(argv, l.list[1:]...)
			}
		} else {
			argv = append(argv, value{a: out.a, b: out.b})
		}
		s.addExec(argv)
	case execl, spawnl:
		i := 0
		if do == spawnl {
			i = 1
		}
		argv := []value{need(out, args, i)}
		for j := i + 2; j < len(args); j++ {
			argv = append(argv, args[j])
		}
		s.addExec(argv)
	case spawn:
		argv := []value{first}
		l, opts := need(out, args, 1), need(out, args, 2)
		if l.k == kList {
			argv = append(argv, l.list...)
		} else if l.k == kDict {
			opts = l
		} else if len(args) > 1 {
			argv = append(argv, value{a: l.a, b: l.b})
		}
		if opts.k != kDict && opts.a != out.a || strings.Contains(s.src[opts.a:opts.b], "shell") && opts.k == kDict {
			line := first
			for _, w := range argv[1:] {
				line = s.concat(s.concat(line, text(" ")), w)
			}
			s.addShell(line.at(out.a, out.b))
		}
		s.addExec(argv)
	}
}

// plain leaves out environments and options around an argument list.
func plain(args []value) []value {
	var out []value
	for _, v := range args {
		if v.kw == "" && v.k != kDict {
			out = append(out, v)
		}
	}
	return out
}

func (s *scanner) popen(first value, args []value) {
	sh, _ := arg(args, -1, "shell")
	if x, named := arg(args, -1, "executable"); named {
		s.addExec([]value{x})
	}
	if x, named := arg(args, -1, "?"); named || x.k != 0 {
		s.eff(Unknown)
	}
	off := sh.kw == "" || sh.k == kBool && sh.s == "false" || sh.k == kNum && sh.n == 0
	on := sh.k == kBool && sh.s == "true" || sh.k == kNum && sh.n != 0
	for _, v := range args { // **options
		if v.kw == "" && v.k == kList && v.a != first.a && len(v.list) == 1 && v.list[0].s == unknown {
			off = false
		}
	}
	if !off {
		line := first
		if line.k == kList && len(line.list) > 0 {
			line = line.list[0]
		}
		s.addShell(line)
	}
	if !on {
		if first.k == kList && len(first.list) > 0 {
			s.addExec(first.list)
		} else {
			s.addExec([]value{first})
		}
	}
}

// files counts calls that touch files, hosts and processes.
func (s *scanner) files(e entry, v, out value, args []value) {
	at := need(out, args, e.i)
	if len(args) > e.i && at.kw == "" && e.i == 0 && args[0].kw != "" {
		at = args[0]
	}
	switch e.do {
	case write:
		s.paths(Write, at)
	case read:
		if s.url(at) {
			return
		}
		s.paths(Read, at)
	case remove:
		if s.lang == Perl || s.lang == Ruby {
			if args = plain(args); len(args) > 0 {
				s.paths(Delete, args...)
				return
			}
		}
		s.paths(Delete, at)
	case move:
		s.paths(Delete, at)
		s.paths(Write, need(out, args, 1))
	case copyTo:
		s.paths(Read, at)
		s.paths(Write, need(out, args, 1))
	case connect:
		if at.k == kList && len(at.list) > 0 {
			at = at.list[0]
		}
		s.paths(Connect, at)
	case signal:
		s.eff(Signal)
	case open, magic:
		s.open(e, at, out, args)
	default:
		s.eff(Unknown)
	}
}

// url reports, and counts, a path that a stream wrapper takes as a host or a command.
func (s *scanner) url(v value) bool {
	if s.lang != PHP || v.k != kStr {
		return false
	}
	scheme, rest, found := strings.Cut(v.s, "://")
	if !found {
		if strings.HasPrefix(v.s, unknown) {
			s.eff(Connect)
		}
		return false
	}
	switch scheme {
	case "php":
		return rest == "stdin" || rest == "stdout" || rest == "stderr" || rest == "memory" || rest == "output" || rest == "input"
	case "http", "https", "ftp", "ftps", "ssh2.sftp":
		s.paths(Connect, v)
		return true
	case "expect":
		s.addShell(text(rest).at(v.a, v.b))
		return true
	}
	s.eff(Unknown)
	return false
}

func (s *scanner) open(e entry, at, out value, args []value) {
	if e.do == magic {
		if s.lang == Perl {
			s.perlOpen(args)
			return
		}
		t := piece(at)
		if strings.HasPrefix(t, "|") {
			s.addShell(text(t[1:]).at(at.a, at.b))
			return
		}
		if strings.HasPrefix(t, unknown) {
			s.eff(Spawn | Unknown)
		}
		if strings.Contains(t, "://") {
			s.paths(Connect, at)
		}
	}
	mode, given := arg(args, e.i+1, "mode")
	if !given && s.lang == Node {
		mode, given = arg(args, 1, "flags")
	}
	if s.url(at) {
		return
	}
	switch {
	case !given:
		s.paths(Read, at)
	case !mode.known():
		s.paths(Write, at)
		s.eff(Unknown)
	case strings.ContainsAny(mode.s, "wax+c"):
		s.paths(Write, at)
	default:
		s.paths(Read, at)
	}
}

func (s *scanner) perlOpen(args []value) {
	if len(args) < 2 {
		s.eff(Unknown | Spawn | Write)
		return
	}
	if len(args) == 2 {
		s.perlPath(args[1])
		return
	}
	mode := args[1]
	switch m := strings.TrimSpace(mode.s); {
	case !mode.known():
		s.eff(Unknown | Spawn | Write)
	case m == "-|" || m == "|-":
		if len(args) == 3 {
			s.addShell(args[2])
		} else {
			s.addExec(args[2:])
		}
	case strings.HasPrefix(m, "<") && !strings.HasPrefix(m, "+"):
		s.paths(Read, args[2])
	default:
		s.paths(Write, args[2])
	}
}

// asPath is onObject with the methods that do harm on a path and none on a string or a list.
func (s *scanner) asPath(name string, args []value) entry {
	switch {
	case s.lang == Python && name == "replace" && len(args) == 1 && (args[0].kw == "" || args[0].kw == "target" || args[0].kw == "?"):
		return entry{do: move, eff: Write | Delete} // a string's takes two
	case s.lang == Ruby && (name == "delete" || name == "write" || name == "replace" || name == "truncate") && strings.Contains(s.src, "Pathname"):
		if name == "delete" {
			return entry{do: remove, eff: Delete}
		}
		return entry{do: write, eff: Write}
	}
	return s.onObject(name)
}

// callMethod is recv.name(args).
func (s *scanner) callMethod(v value, args []value, b int) value {
	recv := v.list[0]
	out := value{a: v.a, b: b}
	if e := s.asPath(v.s, args); e.do != none || e.eff != 0 {
		self := value{a: v.a, b: b}
		if recv.k == kStr {
			self = recv
		}
		switch {
		case e.do == open:
			s.open(entry{do: open, i: 0}, self, out, append([]value{self}, args...))
		case e.do == eval:
			return s.perform(e, v, args, b)
		case e.do == module:
			s.eff(Unknown)
		default:
			if e.do == getattr && len(args) > 0 { // send(:name, …)
				if args[0].known() {
					return s.call(s.attr(recv, args[0].s, b), args[1:], b)
				}
				s.eff(Unknown | Eval)
				return out
			}
			return s.perform(e, v, append([]value{self}, args...), b)
		}
		return out
	}
	for _, x := range args {
		if x.wild {
			s.eff(Unknown)
		}
	}
	if s.lang == Ruby && (v.s == "inject" || v.s == "reduce") {
		for _, x := range args {
			if x.k != kNum && (!x.known() || !isOperator(x.s) && !rubyMethod(x.s)) {
				s.eff(Unknown)
			}
		}
		return out
	}
	if f := s.foldMethod(recv, v.s, args); f.k != kAny {
		return f.at(v.a, b)
	}
	if !s.method(v.s) && !s.own(v.s) || s.lang == Python && strayArgs(v.s, args) {
		s.eff(Unknown)
	}
	return out
}
