package code

import "strings"

// outside marks the path of a module that is not in the standard library.
const outside = "\x01"

func (s *scanner) foreign(path string) bool { return strings.HasPrefix(path, outside) }

// use counts what reading a name alone does.
func (s *scanner) use(e entry) {
	if e.do == ok || e.do == module {
		s.eff(e.eff)
	}
}

// shortcut turns a name for the global object into the empty path.
func (s *scanner) shortcut(v value) value {
	switch v.s {
	case "globalThis", "global", "this", "window", "self":
		if s.lang == Node {
			v.s = ""
		}
	case "_G", "_ENV":
		if s.lang == Lua {
			v.s = ""
		}
	case "__builtins__", "builtins", "__builtin__":
		if s.lang == Python {
			v.s = ""
		}
	case "Kernel", "Object", "CORE":
		if s.lang == Ruby && v.s != "CORE" {
			v.s = ""
		}
	}
	return v
}

// ident reads an expression that starts with a name.
func (s *scanner) ident(t token) value {
	s.pos++
	if k := keyword(s.lang, t.text); k != 0 {
		return s.keyword(t, k)
	}
	if s.lang == Perl && (s.isOp(s.pos, "=>") || s.isOp(s.pos, "}") && s.isOp(s.pos-2, "{") && s.subscript(s.pos-3)) {
		return text(t.text).at(t.a, t.b) // a bare word that is quoted by its place
	}
	if s.lang == Node && s.isOp(s.pos, "=>") {
		return value{name: t.text, a: t.a, b: t.b}
	}
	if s.lang == Node && s.pos > 1 && s.toks[s.pos-2].text == "typeof" && !s.isOp(s.pos, "(") && !s.isOp(s.pos, ".") && !s.isOp(s.pos, "[") {
		return value{a: t.a, b: t.b}
	}
	v := s.resolve(t, false)
	return s.command(v, t)
}

// subscript reports whether the brace after token i opens a hash subscript.
func (s *scanner) subscript(i int) bool {
	if i < 0 {
		return false
	}
	k := s.toks[i].kind
	return k == tVar || s.isOp(i, "->") || s.isOp(i, "}") || s.isOp(i, "]")
}

// resolve says what a name stands for. global means it was named as a member of the global object.
func (s *scanner) resolve(t token, global bool) value {
	b, bound := s.names[t.text]
	if bound && b.val.k == kName {
		v := b.val
		v.name = t.text
		if e := s.lookup(v.s); e.do != none {
			s.use(e)
		}
		return v.at(t.a, t.b)
	}
	e := s.lookup(t.text)
	v := value{k: kName, s: t.text, name: t.text, a: t.a, b: t.b}
	if e.do != none && e.do != ok && !(bound && e.do == module && s.shadows(t.text)) {
		s.use(e)
		return v
	}
	if bound {
		v = s.constant(t.text).at(t.a, t.b)
		v.name = t.text
		v.code = v.code || s.lang == PHP // a function: variables have their sigil
		return v
	}
	if e.do == ok {
		s.use(e)
		return v
	}
	for _, m := range s.stars {
		if e := s.lookup(m + "." + t.text); e.do != none {
			s.use(e)
			v.s = m + "." + t.text
			return v
		}
	}
	if s.lang == Perl && t.text == strings.ToUpper(t.text) || global {
		return value{a: t.a, b: t.b} // a file handle; a property nobody set
	}
	return v
}

// constant is the known value of a variable, if it can have only one.
func (s *scanner) constant(name string) value {
	b, bound := s.names[name]
	if !bound || b.sets > 1 && s.flow {
		return value{}
	}
	if b.val.k == kList { // a list may be changed through any of its names: known for one use
		v := b.val
		b.val = value{}
		s.names[name] = b
		return v
	}
	return b.val
}

func (s *scanner) variable(t token) value {
	name := t.text
	s.sensitive(name)
	if s.lang == Ruby && t.sigil == '$' || s.lang == Perl && t.sigil == '*' {
		switch name {
		case "stdin", "stdout", "stderr", "STDIN", "STDOUT", "STDERR":
			return value{a: t.a, b: t.b}
		}
		if s.lang == Perl {
			s.eff(Unknown | Eval)
			return value{name: "*" + name, a: t.a, b: t.b}
		}
	}
	switch t.sigil {
	case '&':
		v := s.resolve(token{kind: tIdent, text: name, a: t.a, b: t.b}, false)
		v.name = ""
		return v
	case '@', '%':
		name = t.src(s)
	}
	if t.sigil == '$' && s.lang == Perl && (s.isOp(s.pos, "[") || s.isOp(s.pos, "{")) && !s.toks[s.pos].space {
		return value{name: "@" + name, a: t.a, b: t.b}
	}
	v := s.constant(name).at(t.a, t.b)
	v.name = name
	return v
}

func (t token) src(s *scanner) string { return s.src[t.a:t.b] }

// sensitive counts variables whose very use says something.
func (s *scanner) sensitive(name string) {
	switch name {
	case "ENV":
		if s.lang == Perl {
			s.eff(Env)
		}
	case "_ENV", "_SERVER":
		if s.lang == PHP {
			s.eff(Env)
		}
	case "$GLOBALS", "^I", "INPLACE_EDIT":
		s.eff(Write | Unknown)
	case "INC":
		if s.lang != Perl || strings.ContainsAny(s.src, "=&") || strings.Contains(s.src, "\\@INC") || strings.Contains(s.src, "push") || strings.Contains(s.src, "unshift") || strings.Contains(s.src, "splice") || strings.Contains(s.src, "require") {
			s.eff(Unknown)
		}
	case "^P", "PROGRAM_NAME", "LOAD_PATH":
		s.eff(Unknown)
	}
}

// assigned counts assignments that change more than a variable.
func (s *scanner) assigned(v, r value) {
	if s.lang != Perl {
		return
	}
	switch v.name {
	case "@ARGV", "@INC", "%INC", "@ISA":
		s.eff(Unknown)
		if v.name == "@ARGV" {
			for _, x := range flatten([]value{r}) {
				s.perlPath(x)
			}
		}
	}
}

// perlPath is an operand of Perl's magic open: a path, or a command when it begins or ends with a bar.
func (s *scanner) perlPath(v value) {
	t := strings.TrimSpace(piece(v))
	switch {
	case strings.HasPrefix(t, "|"):
		s.addShell(text(strings.TrimSpace(t[1:])).at(v.a, v.b))
	case strings.HasSuffix(t, "|"):
		s.addShell(text(strings.TrimSpace(t[:len(t)-1])).at(v.a, v.b))
	case strings.HasPrefix(t, "+<"), strings.HasPrefix(t, ">"):
		s.paths(Write, text(strings.TrimLeft(t, "+<>& ")).at(v.a, v.b))
	case strings.HasPrefix(t, unknown), strings.HasSuffix(t, unknown):
		s.eff(Write | Spawn | Unknown)
	default:
		s.paths(Read, text(strings.TrimLeft(t, "< ")).at(v.a, v.b))
	}
}

func flatten(vs []value) []value {
	flat := true
	for _, v := range vs {
		flat = flat && v.k != kList
	}
	if flat {
		return vs
	}
	var out []value
	for _, v := range vs {
		if v.k == kList {
			out = append(out, flatten(v.list)...)
		} else {
			out = append(out, v)
		}
	}
	return out
}

// private reports attributes that lead from any object to the machinery of the language.
func (s *scanner) private(name string) bool {
	switch s.lang {
	case Python:
		switch name {
		case "__name__", "__class__", "__doc__", "__file__", "__version__", "__len__", "__init__", "__path__", "__annotations__":
			return false
		}
		return strings.HasPrefix(name, "_")
	case Node:
		return machinery(name)
	case PHP, Lua, Ruby, Perl:
		return strings.HasPrefix(name, "__")
	}
	return false
}

func machinery(name string) bool {
	switch name {
	case "constructor", "__proto__", "prototype", "mainModule", "binding", "callee", "caller",
		"__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "getBuiltinModule":
		return true
	}
	return false
}

// keyString sees every name that is used as, or could become, a property key.
func (s *scanner) keyString(name string) {
	if s.lang == Node && len(name) < 20 && len(name) > 5 && machinery(name) {
		s.eff(Unknown | Eval)
	}
}

// attribute counts a member that is read and not called.
func (s *scanner) attribute(v value) {
	switch s.lang {
	case Python:
		if !s.method(v.s) && !pyAttr(v.s) && !pyDataAttr(v.s) && !s.own(v.s) {
			s.eff(Unknown)
		}
	case Node, PHP, Lua:
		if v.list[0].k == kName && s.lookup(v.list[0].s).do != ok {
			s.eff(Unknown)
		}
	}
}

// own reports whether the text itself defines a function or attribute of that name.
func (s *scanner) own(name string) bool {
	a, bare := s.names[name]
	b, attr := s.names["."+name]
	return (bare || attr) && a.val.k != kName && b.val.k != kName
}

// shadows reports whether a variable may take the name of a module: where modules are no names until they are
// imported, or where the module has nothing that does harm.
func (s *scanner) shadows(name string) bool {
	if s.lang != Node {
		return s.lang == Python && name != "builtins" && name != "__builtins__"
	}
	switch name {
	case "path", "url", "util", "os", "test", "constants", "assert", "events", "stream", "timers", "buffer", "querystring", "punycode", "crypto", "tty":
		return true
	}
	return false
}

// generator folds "chr(c) for c in [114, 109]", whose first part is read as v.
func (s *scanner) generator(v value) (value, bool) {
	if v.kw != "chr" || s.lang != Python || !s.isIdent(s.pos, "for") || s.pos+2 >= s.end ||
		s.toks[s.pos+1].text != v.name || !s.isIdent(s.pos+2, "in") {
		return v, false
	}
	s.pos += 3
	r := s.expr(0)
	out := value{k: kList, a: v.a, b: r.b}
	if r.k != kList {
		return value{a: v.a, b: r.b}, true
	}
	for _, n := range r.list {
		out.list = append(out.list, char(n))
	}
	return out, true
}

func char(n value) value {
	if n.k != kNum || n.n < 0 || n.n > 0x10ffff {
		return value{k: kStr, s: unknown}
	}
	return text(string(appendChar(nil, n.n))).at(n.a, n.b)
}
