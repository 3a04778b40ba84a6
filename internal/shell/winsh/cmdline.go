package winsh

import "strings"

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
