package winsh

import (
	"strconv"
	"strings"
)

// line is a simple command of cmd after its first reading: carets gone, variables expanded.
type line struct {
	text   []byte
	holes  []span // parts of text that are not known
	span          // place in the source
	writes []string
}

// simple reads one simple command and what it carries.
func (p *cmdParser) simple() {
	ln := p.scan()
	p.run(string(ln.text), ln, false)
}

// scan is cmd's first reading of a command: up to an operator outside quotes.
func (p *cmdParser) scan() line {
	ln := line{span: span{p.pos, p.pos}}
	quoted := false
	for p.more() {
		c := p.src[p.pos]
		switch {
		case c == '\n':
			return p.ended(ln)
		case c == '%' || c == '!':
			if p.expand(&ln, c) {
				continue
			}
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '^':
			p.pos++
			if p.pos < len(p.src) && p.src[p.pos] == '\r' {
				p.pos++
			}
			if p.more() {
				if c = p.src[p.pos]; c == '\n' {
					p.pos++
					continue
				}
				if c == '%' && p.expand(&ln, c) {
					continue
				}
			} else {
				return p.ended(ln)
			}
		case c == '&' || c == '|' || c == ')' && p.groups > 0:
			return p.ended(ln)
		case c == '>' || c == '<':
			if n := len(ln.text); n > 0 && isDigit(ln.text[n-1]) && (n == 1 || isBlank(ln.text[n-2])) {
				ln.text = ln.text[:n-1]
			}
			if t := p.redirect(); c == '>' && t != "" {
				ln.writes = append(ln.writes, t)
			}
			ln.text = append(ln.text, ' ')
			continue
		}
		ln.text = append(ln.text, c)
		p.pos++
	}
	return p.ended(ln)
}

func (p *cmdParser) ended(ln line) line {
	ln.hi = p.pos
	for ln.hi > ln.lo && isBlank(p.src[ln.hi-1]) {
		ln.hi--
	}
	return ln
}

// expand handles %name%, !name!, %x and %%x at p.pos. False: the character stands for itself.
func (p *cmdParser) expand(ln *line, mark byte) bool {
	rest := p.src[p.pos+1:]
	if mark == '%' && rest != "" {
		if n, v, ok := p.loopVar(rest); ok {
			// One of several values as a command's name: which, is not known.
			named := strings.TrimSpace(string(ln.text)) != ""
			p.put(ln, v, len(v) == 1 || named, p.src[p.pos:p.pos+1+n])
			p.pos += 1 + n
			return true
		}
		if isDigit(rest[0]) || rest[0] == '*' { // a batch file's own arguments
			p.put(ln, nil, false, p.src[p.pos:p.pos+2])
			p.pos += 2
			return true
		}
	}
	n := strings.IndexByte(rest[:min(len(rest), 96)], mark)
	if n <= 0 || strings.ContainsAny(rest[:n], " \t\n\"&|<>") && !strings.Contains(rest[:n], ":") {
		return false
	}
	name := rest[:n]
	v, ok := p.variable(name)
	if mark == '!' && !ok && p.vars == nil {
		return false // delayed expansion is off unless asked for
	}
	p.put(ln, []string{v}, ok, p.src[p.pos:p.pos+n+2])
	p.pos += n + 2
	return true
}

// loopVar finds a for variable at the start of s (after its first %), with modifiers like ~dp.
func (p *cmdParser) loopVar(s string) (int, []string, bool) {
	i := 0
	if s[i] == '%' {
		i++
	}
	plain := true
	if i < len(s) && s[i] == '~' {
		plain = false
		for i++; i+1 < len(s) && isLetter(s[i]) && isLetter(s[i+1]); i++ {
		}
	}
	if i >= len(s) || !isLetter(s[i]) {
		return 0, nil, false
	}
	v, ok := p.loops[s[i]|0x20]
	switch {
	case !ok && (i == 0 || plain && s[0] != '%'):
		return 0, nil, false
	case !plain:
		v = nil
	}
	return i + 1, v, true
}

// put appends a value, or the spelling with a note that it is not known. Several values stand side by side.
func (p *cmdParser) put(ln *line, values []string, known bool, spelled string) {
	joined := strings.Join(values, " ")
	if len(values) == 0 || !p.m.spend(len(joined)) {
		joined, known = spelled, false
	}
	if strings.ContainsAny(joined, "&|<>") {
		known = false
	}
	if joined == "" && !known {
		joined = spelled
	}
	lo := len(ln.text)
	ln.text = append(ln.text, joined...)
	if !known {
		ln.holes = append(ln.holes, span{lo, len(ln.text)})
	}
}

// variable is the value of name, also name:~from,count and name:old=new.
func (p *cmdParser) variable(name string) (string, bool) {
	name, edit, edited := strings.Cut(name, ":")
	name = strings.ToLower(name)
	v, ok := p.vars[name]
	if !ok && !p.m.unstable[name] {
		v, ok = usualEnv(name)
	}
	if !ok || !edited {
		if !ok {
			return "%" + name + "%", false
		}
		return v, true
	}
	if cut, ok := strings.CutPrefix(edit, "~"); ok {
		return substring(v, cut)
	}
	old, with, ok := strings.Cut(edit, "=")
	if !ok || old == "" || old[0] == '*' || len(with) > 64 {
		return "", false
	}
	return strings.ReplaceAll(v, old, with), true
}

func substring(v, spec string) (string, bool) {
	a, b, two := strings.Cut(spec, ",")
	from, err := strconv.Atoi(strings.TrimSpace(a))
	if err != nil {
		return "", false
	}
	if from < 0 {
		from += len(v)
	}
	from = min(max(from, 0), len(v))
	to := len(v)
	if two {
		n, err := strconv.Atoi(strings.TrimSpace(b))
		if err != nil {
			return "", false
		}
		if n < 0 {
			to += n
		} else {
			to = min(to, from+min(n, len(v)))
		}
	}
	if to < from {
		return "", true
	}
	return v[from:to], true
}

// usualEnv holds variables that are the same on practically every Windows.
func usualEnv(name string) (string, bool) {
	switch name {
	case "comspec":
		return `C:\Windows\system32\cmd.exe`, true
	case "systemroot", "windir":
		return `C:\Windows`, true
	case "systemdrive":
		return `C:`, true
	case "programfiles":
		return `C:\Program Files`, true
	case "programdata", "allusersprofile":
		return `C:\ProgramData`, true
	}
	return "", false
}

// run takes a line apart into a command; sub: it is what another command starts.
func (p *cmdParser) run(text string, ln line, sub bool) {
	from := 0
	for from < len(text) && (isBlank(text[from]) || strings.IndexByte(",;=@", text[from]) >= 0) {
		from++
	}
	if from >= len(text) {
		if len(ln.writes) > 0 { // > file alone empties it
			c := p.command("", word{}, ln, sub)
			p.out = append(p.out, c)
		}
		return
	}
	name, end := commandWord(text, from)
	c := p.command(name, word{text: text[from:end], span: span{from, end}}, ln, sub)
	builtin := isBuiltin(c.Name)
	words := splitWords(text, end, !builtin)
	if builtin || takesSwitches(c.Name) {
		words = splitSwitches(words, builtin)
	}
	switch c.Name {
	case "call":
		p.m.carryLine(p, text, end, ln, c.Sub)
		return
	case "set":
		p.assign(strings.TrimLeft(text[end:], " \t"), ln.holes)
	case "erase":
		c.Name = "del"
	case "rmdir":
		c.Name = "rd"
	case "md":
		c.Name = "mkdir"
	case "chdir":
		c.Name = "cd"
	}
	for i, w := range words {
		c.Args = append(c.Args, w.text)
		if overlaps(ln.holes, w.span) {
			c.Unknown = append(c.Unknown, i)
		}
	}
	var in input
	if n := len(p.out); n > 0 && p.out[n-1].Pipe {
		in = pipedText(p.out[n-1])
	}
	c.remote = in.remote
	switch c.Name {
	case "cmd":
		p.cmdTail(&c, text, words, ln, in)
	case "start":
		p.out = append(p.out, c)
		if i := startProgram(words, text); i < len(text) {
			p.m.carryLine(p, text, i, ln, true)
		}
		return
	default:
		p.m.carry(&c, in, p.src, ln.span, p.org, nil)
	}
	p.out = append(p.out, c)
}

// carryLine runs the rest of a line as a command of its own: call, start.
func (m *machine) carryLine(p *cmdParser, text string, from int, ln line, sub bool) {
	if m.nest >= maxNest {
		p.limit()
		return
	}
	m.nest++
	var holes []span
	for _, h := range ln.holes {
		if h.hi > from {
			holes = append(holes, span{max(h.lo-from, 0), h.hi - from})
		}
	}
	ln.holes = holes
	p.run(text[from:], ln, sub)
	m.nest--
}

// command is a Command with all but its arguments.
func (p *cmdParser) command(name string, w word, ln line, sub bool) Command {
	c := Command{Dialect: Cmd, Name: programName(name), foreign: isForeign(name), Raw: w.text, Writes: ln.writes, Sub: sub || p.groups > 0}
	c.Known = !overlaps(ln.holes, w.span)
	c.Start, c.End = p.org.at(ln.span)
	return c
}

// commandWord finds the command's name and where its arguments begin: del/f and cd\x are a name with an argument.
func commandWord(text string, from int) (string, int) {
	i, quoted := from, false
	part := from // start of the last part of a path
	for i < len(text) {
		c := text[i]
		if c == '"' {
			quoted = !quoted
		} else if !quoted {
			if splits(c, false) {
				break
			}
			if i > from && i-part < 24 && strings.IndexByte(`/\.:+[(`, c) >= 0 {
				head := programName(text[part:i])
				if part == from && isBuiltin(head) && !strings.EqualFold(text[i:min(i+4, len(text))], ".exe") || c == '/' && takesSwitches(head) {
					return strings.ReplaceAll(text[from:i], `"`, ""), i
				}
			}
			if c == '/' || c == '\\' {
				part = i + 1
			}
		}
		i++
	}
	return strings.ReplaceAll(text[from:i], `"`, ""), i
}

func overlaps(holes []span, s span) bool {
	for _, h := range holes {
		if h.lo < s.hi && s.lo < h.hi {
			return true
		}
	}
	return false
}

// assign remembers set name=value.
func (p *cmdParser) assign(s string, holes []span) {
	low := strings.ToLower(s)
	if strings.HasPrefix(low, "/a") || strings.HasPrefix(low, "/p") {
		name, _, _ := strings.Cut(strings.TrimSpace(s[2:]), "=")
		delete(p.vars, strings.ToLower(strings.Trim(name, `" `)))
		return
	}
	if strings.HasPrefix(s, `"`) {
		s = s[1:]
		if i := strings.LastIndexByte(s, '"'); i >= 0 {
			s = s[:i]
		}
	}
	name, v, ok := strings.Cut(s, "=")
	if !ok || len(v) > maxValue {
		return
	}
	if p.vars == nil {
		p.vars = map[string]string{}
	}
	name = strings.ToLower(strings.TrimLeft(name, " "))
	if len(holes) > 0 {
		delete(p.vars, name)
		return
	}
	if old, ok := p.vars[name]; ok && old != v && p.depth > 1 {
		p.m.changes(name)
	}
	if p.m.unstable[name] {
		delete(p.vars, name)
		return
	}
	p.vars[name] = v
}

// startProgram is where the program of a start line begins, behind the title and the switches.
func startProgram(words []word, text string) int {
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch low := strings.ToLower(w.text); {
		case i == 0 && text[w.lo] == '"':
		case low == "/d" || low == "/node" || low == "/affinity" || low == "/machine":
			i++
		case strings.HasPrefix(low, "/"):
		default:
			return w.lo
		}
	}
	return len(text)
}

// cmdTail finds the program of cmd /c, which is the rest of the line and not a word of it.
func (p *cmdParser) cmdTail(c *Command, text string, words []word, ln line, in input) {
	for _, w := range words {
		if !strings.HasPrefix(w.text, "/") || len(w.text) < 2 {
			break
		}
		switch w.text[1] | 0x20 {
		case 'c', 'k', 'r':
			at := w.hi
			if len(w.text) > 2 { // /cdel, or /c"del
				at = min(w.lo+2, len(text))
			}
			if i := strings.LastIndexByte(text[w.lo:w.hi], '/'); i > 0 && len(w.text) == 2 {
				at = w.hi
			}
			tail := stripQuotes(strings.TrimSpace(text[at:]))
			known := !overlaps(ln.holes, span{at, len(text)})
			c.Nested = append(c.Nested, p.m.payload("cmd", tail, known, p.src, ln.span, p.org, nil))
			return
		}
	}
	p.m.carryInput(c, "cmd", in, p.src, ln.span, p.org, nil)
}

// stripQuotes is what cmd does to the text after /c: two quotes around a program's name stay, others are taken off.
func stripQuotes(s string) string {
	if s == "" || s[0] != '"' {
		return s
	}
	last := strings.LastIndexByte(s, '"')
	if last == 0 {
		return s[1:]
	}
	inner := s[1:last]
	if strings.IndexByte(inner, '"') < 0 && !strings.ContainsAny(s, "&<>()@^|") && strings.IndexByte(inner, ' ') >= 0 &&
		strings.HasSuffix(strings.ToLower(inner), ".exe") {
		return s
	}
	return inner + s[last+1:]
}
