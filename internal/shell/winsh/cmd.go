package winsh

import "strings"

// cmdParser reads cmd.exe text. Variables set in the text are expanded wherever they are used later, also where cmd
// would have read the line before the set ran: more commands are found, never fewer.
type cmdParser struct {
	m      *machine
	src    string
	pos    int
	org    origin
	vars   map[string]string
	loops  map[byte][]string
	out    []Command
	depth  int // statements within each other
	groups int // ( ) within each other
}

func (p *cmdParser) more() bool { return p.pos < len(p.src) }

func (p *cmdParser) blanks() {
	for p.more() && isBlank(p.src[p.pos]) {
		p.pos++
	}
}

// sequence reads commands up to the end, or to the ) that closes the group it is in.
func (p *cmdParser) sequence() {
	for p.more() {
		switch c := p.src[p.pos]; {
		case isBlank(c), c == '\n', c == '@', c == '&', c == '|', c == ';', c == ',', c == '=':
			p.pos++
			continue
		case c == ')':
			p.pos++
			if p.groups > 0 {
				return
			}
			continue
		}
		before, n := p.pos, len(p.out)
		p.statement()
		p.blanks()
		if p.more() && p.src[p.pos] == '|' && (p.pos+1 == len(p.src) || p.src[p.pos+1] != '|') && len(p.out) > n {
			p.out[len(p.out)-1].Pipe = true
		}
		if p.pos == before {
			p.pos++
		}
	}
}

// statement reads one command, group, if or for.
func (p *cmdParser) statement() {
	for p.more() && (isBlank(p.src[p.pos]) || p.src[p.pos] == '@') {
		p.pos++
	}
	switch {
	case !p.more():
		return
	case p.depth >= maxDepth:
		p.limit()
		return
	case p.src[p.pos] == ':':
		p.line() // a label or a comment
		return
	}
	p.depth++
	defer func() { p.depth-- }()
	if p.src[p.pos] == '(' {
		p.pos++
		p.groups++
		p.sequence()
		p.groups--
		p.trailer()
		return
	}
	switch name, end := p.peek(); name {
	case "if":
		p.pos = end
		p.conditional()
	case "else":
		p.pos = end
		p.statement()
	case "for":
		p.pos = end
		p.loop()
	default:
		p.simple()
	}
}

func (p *cmdParser) limit() {
	lo, hi := p.org.at(span{p.pos, len(p.src)})
	p.out = append(p.out, Command{Raw: "(", Limit: true, Start: lo, End: hi})
	p.pos = len(p.src)
}

func (p *cmdParser) line() {
	if i := strings.IndexByte(p.src[p.pos:], '\n'); i >= 0 {
		p.pos += i
		return
	}
	p.pos = len(p.src)
}

// trailer skips the redirections after a group.
func (p *cmdParser) trailer() {
	for {
		p.blanks()
		at := p.pos
		if at+1 < len(p.src) && isDigit(p.src[at]) && (p.src[at+1] == '>' || p.src[at+1] == '<') {
			at++
		}
		if at >= len(p.src) || p.src[at] != '>' && p.src[at] != '<' {
			return
		}
		out := p.src[at] == '>'
		p.pos = at
		if t := p.redirect(); out && t != "" && len(p.out) > 0 {
			last := &p.out[len(p.out)-1]
			last.Writes = append(last.Writes, t)
		}
	}
}

// peek is the next word of letters, carets removed, and where it ends.
func (p *cmdParser) peek() (string, int) {
	var b [8]byte
	n, i := 0, p.pos
	for ; i < len(p.src); i++ {
		c := p.src[i]
		if c == '^' {
			continue
		}
		if !isLetter(c) {
			break
		}
		if n == len(b) {
			return "", i
		}
		b[n] = c | 0x20
		n++
	}
	if i < len(p.src) && !isBlank(p.src[i]) && p.src[i] != '(' && p.src[i] != '/' && p.src[i] != '\n' {
		return "", i
	}
	return string(b[:n]), i
}

// raw is the next word as spelled, quotes kept.
func (p *cmdParser) raw() string {
	p.blanks()
	lo, quoted := p.pos, false
	for p.more() {
		c := p.src[p.pos]
		if c == '\n' || !quoted && (isBlank(c) || strings.IndexByte("&|()<>", c) >= 0) {
			break
		}
		if c == '"' {
			quoted = !quoted
		}
		if c == '^' && !quoted && p.pos+1 < len(p.src) {
			p.pos++
		}
		p.pos++
	}
	return p.src[lo:p.pos]
}

// conditional reads the test of an if, then its command.
func (p *cmdParser) conditional() {
	for {
		w := strings.ToLower(p.raw())
		switch w {
		case "/i", "not":
			continue
		case "exist", "defined", "errorlevel", "cmdextversion":
			p.raw()
		default:
			if strings.Contains(w, "==") {
				if strings.HasSuffix(w, "==") {
					p.raw()
				}
				break
			}
			if next := strings.ToLower(p.raw()); strings.HasPrefix(next, "==") && len(next) > 2 {
				break
			}
			p.raw()
		}
		break
	}
	p.statement()
	p.blanks()
	if name, end := p.peek(); name == "else" {
		p.pos = end
		p.statement()
	}
}

// loop reads for …%x in (set) do command.
func (p *cmdParser) loop() {
	var name byte
	file := false
	for p.more() {
		w := p.raw()
		if w == "" {
			break
		}
		if strings.EqualFold(w, "in") {
			break
		}
		if strings.EqualFold(w, "/f") {
			file = true
		}
		if v := strings.TrimLeft(w, "%"); v != w && len(v) == 1 {
			name = v[0] | 0x20
		}
	}
	p.blanks()
	if p.more() && p.src[p.pos] == '(' {
		p.set(name, file)
	}
	p.blanks()
	if do, end := p.peek(); do == "do" {
		p.pos = end
	}
	p.statement()
	delete(p.loops, name)
}

// set reads the ( ) of a for: the values of its variable, or the command whose output they are.
func (p *cmdParser) set(name byte, file bool) {
	p.pos++
	lo, quoted := p.pos, byte(0)
	for p.more() && (quoted != 0 || p.src[p.pos] != ')') && p.src[p.pos] != '\n' {
		switch c := p.src[p.pos]; {
		case quoted == c:
			quoted = 0
		case quoted == 0 && (c == '"' || file && (c == '\'' || c == '`')):
			quoted = c
		}
		p.pos++
	}
	body := span{lo, p.pos}
	text := strings.TrimSpace(p.src[lo:p.pos])
	if p.more() && p.src[p.pos] == ')' {
		p.pos++
	}
	if p.loops == nil {
		p.loops = map[byte][]string{}
	}
	p.loops[name] = nil
	if file {
		if len(text) > 1 && (text[0] == '\'' || text[0] == '`') && text[len(text)-1] == text[0] {
			pl := p.m.payload("cmd", text[1:len(text)-1], true, p.src, body, p.org, nil)
			for i := range pl.Commands {
				pl.Commands[i].Sub = true
			}
			p.out = append(p.out, pl.Commands...)
		}
		return
	}
	if name == 0 || strings.ContainsAny(text, "%!") {
		return
	}
	var values []string
	for _, w := range splitWords(text, 0, false) {
		values = append(values, w.text)
	}
	p.loops[name] = values
}

// redirect skips a redirection at > or < and returns its target.
func (p *cmdParser) redirect() string {
	for p.more() && (p.src[p.pos] == '>' || p.src[p.pos] == '<') {
		p.pos++
	}
	if p.more() && p.src[p.pos] == '&' {
		p.pos++
		for p.more() && isDigit(p.src[p.pos]) {
			p.pos++
		}
		return ""
	}
	return strings.ReplaceAll(strings.ReplaceAll(p.raw(), `"`, ""), "^", "")
}
