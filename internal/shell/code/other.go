package code

import "strings"

// vim reads Ex commands, one a line or separated by bars.
func (s *scanner) vim(a, b int) {
	for a < b {
		n := lineEnd(s.src[a:b])
		s.vimLine(a, a+n)
		a += n + 1
	}
}

func (s *scanner) vimLine(a, b int) {
	s.depth++
	defer func() { s.depth-- }()
	if s.depth > maxDepth {
		s.eff(Unknown)
		return
	}
	for a < b && strings.IndexByte(" \t:+\r", s.src[a]) >= 0 {
		a++
	}
	for a < b && strings.IndexByte(" \t\r", s.src[b-1]) >= 0 {
		b-- // operands are found from the end
	}
	if a >= b || s.src[a] == '"' {
		return
	}
	line := s.src[a:b]
	i := 0
	for i < len(line) && strings.IndexByte("0123456789%$.,;'<>+- ", line[i]) >= 0 { // range
		i++
	}
	at := a + i
	line = line[i:]
	if line == "" {
		return
	}
	n := 0
	for n < len(line) && isAlpha(line[n]) {
		n++
	}
	name, rest := line[:n], line[n:]
	if name == "" && line[0] == '!' {
		s.addShell(text(strings.TrimSpace(line[1:])).at(at+1, b))
		return
	}
	bang := strings.HasPrefix(rest, "!")
	operand := strings.TrimSpace(strings.TrimPrefix(rest, "!"))
	start := b - len(operand)
	if s.vimFull(name, bang, operand, start, b) {
		return
	}
	cmd, after, more := strings.Cut(rest, "|")
	if more {
		defer s.vimLine(b-len(after), b)
	}
	operand = strings.TrimSpace(strings.TrimPrefix(cmd, "!"))
	s.vimCommand(name, operand, at, b-len(after))
}

// vimFull judges commands that take the rest of the line, bars and all.
func (s *scanner) vimFull(name string, bang bool, operand string, a, b int) bool {
	v := text(operand).at(a, b)
	switch name {
	case "r", "re", "read", "w", "wr", "write":
		if bang && name[0] == 'r' || strings.HasPrefix(operand, "!") {
			s.addShell(text(strings.TrimSpace(strings.TrimPrefix(operand, "!"))).at(a, b))
			return true
		}
	case "silent", "sil", "noautocmd", "keepjumps", "keepalt", "execute_", "bufdo", "windo", "argdo", "tabdo":
		s.vimLine(a, b)
		return true
	case "term", "terminal", "te":
		s.addShell(v)
		return true
	case "g", "global", "v", "vglobal":
		if len(operand) > 1 && !isWord(operand[0]) {
			if n := strings.LastIndexByte(operand[1:], operand[0]); n >= 0 {
				s.vimLine(a+n+2, b)
				return true
			}
		}
		s.eff(Unknown)
		return true
	case "py", "py3", "python", "python3", "pyx", "perl", "ruby", "lua":
		l, _ := LangOf(name)
		if strings.HasPrefix(name, "py") {
			l = Python
		}
		s.eff(Eval)
		s.inner(l, operand, a, b)
		return true
	case "call", "cal", "echo", "ec", "let", "if", "exe", "execute", "normal", "norm", "eval":
		s.vimExpr(name, operand, a, b)
		return true
	case "au", "autocmd", "map", "nmap", "nnoremap", "command", "cmap", "imap", "fu", "function", "so", "source", "ru", "runtime":
		s.eff(Eval | Unknown)
		return true
	}
	return false
}

// vimExpr judges commands with an expression.
func (s *scanner) vimExpr(name, operand string, a, b int) {
	v := text(operand).at(a, b)
	for _, f := range []string{"system(", "systemlist(", "job_start(", "term_start(", "jobstart(", "termopen("} {
		if i := strings.Index(operand, f); i >= 0 {
			in := operand[i+len(f):]
			s.eff(Unknown)
			s.addShell(vimString(in).at(a, b))
			return
		}
	}
	for _, f := range []string{"delete(", "writefile(", "rename("} {
		if i := strings.Index(operand, f); i >= 0 {
			in := operand[i+len(f):]
			e := Write
			if f == "delete(" {
				e = Delete
			}
			s.eff(Unknown)
			s.paths(e, vimString(in).at(a, b))
			return
		}
	}
	switch name {
	case "exe", "execute":
		x := vimString(operand)
		s.eff(Eval)
		if !x.known() || strings.Count(operand, `"`)+strings.Count(operand, "'") != 2 {
			s.eff(Unknown)
		}
		if x.k == kStr {
			s.inner(Vim, x.s, a, b)
		}
	case "echo", "ec":
		if strings.ContainsAny(v.s, "(`") {
			s.eff(Unknown)
		}
	case "normal", "norm":
		if strings.ContainsAny(operand, ":!@\x00\x12") {
			s.eff(Unknown)
		}
	default:
		s.eff(Unknown)
	}
}

// vimString is the string literal at the start of t.
func vimString(t string) value {
	if t == "" || t[0] != '"' && t[0] != '\'' {
		return value{}
	}
	n := strings.IndexByte(t[1:], t[0])
	if n < 0 {
		return value{}
	}
	return text(t[1 : 1+n])
}

// vimCommand judges commands that end at a bar.
func (s *scanner) vimCommand(name, operand string, a, b int) {
	switch name {
	case "q", "quit", "qa", "qall", "cq", "cquit", "help", "h", "version", "ve", "set", "se", "setlocal", "syntax", "sy", "colorscheme", "number", "nu", "p", "print", "noh", "nohlsearch", "filetype", "redir_", "messages", "scriptnames", "sp", "split", "vs", "vsplit",
		"bn", "bp", "buffers", "ls", "marks", "reg", "list", "l", "sleep", "sl", "redraw", "norm_", "foldopen", "zz", "$":
		if (name == "set" || name == "se" || name == "setlocal") && strings.ContainsAny(operand, "=") && !vimOption(operand) {
			s.eff(Unknown)
		}
	case "d", "delete", "s", "substitute", "j", "join", "m", "move", "t", "copy", "co", "y", "yank", "pu", "put", "sor", "sort", "retab", "u", "undo", "red", "redo", "normal", "a", "i", "c", "append", "insert", "change":
		if strings.Contains(operand, `\=`) {
			s.eff(Eval | Unknown)
		}
	case "e", "edit", "r", "read", "view", "find", "tabe", "tabedit", "tabnew":
		s.vimPath(Read, operand, a, b)
	case "w", "write", "wq", "x", "xit", "exit", "wa", "wall", "wqa", "xa", "saveas", "sav", "up", "update", "mkexrc", "mksession", "mkview", "mkvimrc", "wn", "redir":
		s.eff(Write)
		if operand != "" {
			s.vimPath(Write, strings.TrimLeft(operand, "> "), a, b)
		}
	default:
		s.eff(Unknown)
	}
}

func (s *scanner) vimPath(e Effect, operand string, a, b int) {
	if strings.HasPrefix(operand, "`") {
		s.addShell(text(strings.Trim(operand, "`=")).at(a, b))
		return
	}
	if strings.Contains(operand, "://") {
		s.eff(Connect)
	}
	s.paths(e, text(operand).at(a, b))
}

// vimOption reports options that cannot name a program or an expression.
func vimOption(operand string) bool {
	name, _, _ := strings.Cut(operand, "=")
	switch strings.TrimRight(name, "+-^") {
	case "ts", "tabstop", "sw", "shiftwidth", "sts", "tw", "textwidth", "ft", "filetype", "ff", "fileformat", "enc", "fenc", "fileencoding", "encoding", "bg", "background", "so", "scrolloff", "et", "nu":
		return true
	}
	return false
}

// makefile reads recipes and the functions that run while make reads.
func (s *scanner) makefile(a, b int) {
	s.eff(Unknown) // make runs what its rules, built-in ones too, come to
	for a < b {
		n := lineEnd(s.src[a:b])
		for a+n < b && n > 0 && s.src[a+n-1] == '\\' {
			n += 1 + lineEnd(s.src[a+n+1:b])
		}
		s.makeLine(a, a+n)
		a += n + 1
	}
}

func (s *scanner) makeLine(a, b int) {
	line := s.src[a:b]
	if i := strings.Index(line, "$(shell "); i >= 0 {
		j := a + i + 8
		l := lexer{scanner: s, b: b}
		end := l.bracket(a + i + 1)
		s.addShell(makeText(s.src[j:max(j, end-1)]).at(j, end))
	}
	if i := strings.Index(line, "!="); i > 0 && line[0] != '\t' {
		s.addShell(makeText(strings.TrimSpace(line[i+2:])).at(a+i+2, b))
	}
	if strings.HasPrefix(line, "include ") || strings.HasPrefix(line, "-include ") {
		s.eff(Import)
	}
	recipe, at := "", a
	if strings.HasPrefix(line, "\t") {
		recipe, at = line[1:], a+1
	} else if i := strings.IndexByte(line, ';'); i >= 0 && strings.IndexByte(line[:i], ':') >= 0 {
		recipe, at = line[i+1:], a+i+1
	}
	recipe = strings.TrimLeft(recipe, "@-+ \t")
	if recipe != "" {
		s.addShell(makeText(recipe).at(at, b))
	}
}

// makeText is a recipe with $$ made $, and any other reference unknown.
func makeText(t string) value {
	var out strings.Builder
	for i := 0; i < len(t); i++ {
		if t[i] != '$' || i+1 >= len(t) {
			out.WriteByte(t[i])
			continue
		}
		i++
		switch t[i] {
		case '$':
			out.WriteByte('$')
		case '(', '{':
			depth := 0
			for ; i < len(t); i++ {
				if t[i] == '(' || t[i] == '{' {
					depth++
				} else if t[i] == ')' || t[i] == '}' {
					if depth--; depth == 0 {
						break
					}
				}
			}
			out.WriteString(unknown)
		default:
			out.WriteString(unknown)
		}
	}
	return text(out.String())
}

// appleScript looks for the few forms that are harmless and for shell lines; the rest is not read.
func (s *scanner) appleScript(a, b int) {
	for a < b {
		n := lineEnd(s.src[a:b])
		s.appleLine(a, a+n)
		a += n + 1
	}
}

func (s *scanner) appleLine(a, b int) {
	line := strings.TrimSpace(s.src[a:b])
	low := lowerASCII(line)
	if low == "" || strings.HasPrefix(low, "--") {
		return
	}
	rest, from := low, 0
	for {
		i := strings.Index(rest, "do shell script")
		j := strings.Index(rest, "do script")
		k := 15
		if i < 0 || j >= 0 && j < i {
			i, k = j, 9
		}
		if i < 0 {
			break
		}
		from += i + k
		rest = low[from:]
		s.addShell(appleString(line[from:]).at(a, b))
		if strings.Contains(rest, "administrator privileges") {
			s.eff(Unknown)
		}
	}
	if strings.Contains(low, "\x00") || from > 0 && strings.Count(line, `"`) != 2 {
		s.eff(Unknown)
	}
	if from > 0 {
		return
	}
	switch word, tail, _ := strings.Cut(low, " "); word {
	case "display":
		if strings.HasPrefix(tail, "notification ") || strings.HasPrefix(tail, "dialog ") || strings.HasPrefix(tail, "alert ") {
			if plainOutside(line) {
				return
			}
		}
	case "beep", "say", "log", "return", "delay":
		if plainOutside(line) {
			return
		}
	case "get", "output":
		if low == "get volume settings" || low == "output volume of (get volume settings)" {
			return
		}
	}
	s.eff(Unknown)
}

// plainOutside reports whether outside strings there are only words that cannot start anything.
func plainOutside(line string) bool {
	out := false
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 0 {
			if strings.ContainsAny(part, "«»") {
				return false
			}
			for _, w := range strings.Fields(strings.ToLower(part)) {
				switch w {
				case "display", "notification", "dialog", "alert", "with", "title", "subtitle", "sound", "name", "buttons", "default", "button", "beep", "say", "log",
					"return", "delay", "icon", "note", "caution", "stop", "{", "}", ",", "},", "giving", "up", "after", "using", "message", "as", "critical", "answer":
				default:
					if !isDigit(w[0]) {
						return false
					}
				}
			}
		} else if strings.HasSuffix(part, `\`) {
			return false
		}
		out = i%2 == 0
	}
	return out
}

// appleString is the string or joined strings at the start of t.
func appleString(t string) value {
	v := value{k: kStr}
	for {
		t = strings.TrimLeft(t, " (\t")
		if !strings.HasPrefix(t, `"`) {
			return concat(v, value{})
		}
		var b strings.Builder
		i := 1
		for ; i < len(t) && t[i] != '"'; i++ {
			if t[i] == '\\' && i+1 < len(t) {
				i++
			}
			b.WriteByte(t[i])
		}
		if i >= len(t) {
			return value{}
		}
		v = concat(v, text(b.String()))
		t = strings.TrimLeft(t[i+1:], " )\t")
		if !strings.HasPrefix(t, "&") {
			return v
		}
		t = t[1:]
	}
}

// tcl passes only commands that print, set and compute with no substitution but of variables.
func (s *scanner) tcl(a, b int) {
	for a < b {
		n := strings.IndexAny(s.src[a:b], "\n;")
		if n < 0 {
			n = b - a
		}
		line := strings.TrimSpace(s.src[a : a+n])
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "":
		case "exec":
			v := value{a: a, b: a + n}
			fs := strings.Fields(rest)
			if strings.ContainsAny(rest, "$[\"{\\") || len(fs) == 0 {
				s.addExec([]value{v})
			} else {
				s.addExec(words(text(rest).at(a, a+n)).list)
			}
		case "file":
			s.eff(Unknown)
			if strings.HasPrefix(rest, "delete") {
				fs := strings.Fields(rest)
				s.paths(Delete, text(fs[len(fs)-1]).at(a, a+n))
			}
		case "puts", "set", "incr", "append", "exit", "info":
			if strings.Contains(rest, "[exec") {
				s.eff(Spawn)
			}
			if strings.ContainsAny(rest, "[") && rest != "[info patchlevel]" && rest != "[info tclversion]" && !tclComputes(rest) {
				s.eff(Unknown)
			}
		default:
			if !strings.HasPrefix(word, "#") {
				s.eff(Unknown)
			}
		}
		a += n + 1
	}
}

// lowerASCII lowers ASCII letters only: the result is as long as the text, byte for byte, which strings.ToLower does not
// promise.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

// tclComputes reports whether every bracket in the words is a sum of numbers and variables.
func tclComputes(s string) bool {
	for {
		n := strings.IndexByte(s, '[')
		if n < 0 {
			return true
		}
		end := strings.IndexByte(s[n:], ']')
		if end < 0 {
			return false
		}
		inner, isExpr := strings.CutPrefix(s[n+1:n+end], "expr ")
		if !isExpr || strings.ContainsAny(inner, "[;\\\"") {
			return false
		}
		s = s[n+end+1:]
	}
}
