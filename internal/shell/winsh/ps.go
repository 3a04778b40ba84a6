package winsh

import (
	"strings"
	"unicode/utf8"
)

// psParser reads PowerShell text and evaluates what is literal in it.
type psParser struct {
	m     *machine
	src   string
	pos   int
	org   origin
	scope *scope
	out   []Command
	depth int // ( ) and { } within each other
}

// scope holds what the text has defined so far; names are lower case.
type scope struct {
	vars    map[string]value
	aliases map[string]string
}

func newScope() *scope { return &scope{vars: map[string]value{}, aliases: map[string]string{}} }

// value is what an expression comes to. s is its text, as spelled where known is false.
type value struct {
	s      string
	list   []string // the elements of an array
	splat  []string // a hash table as parameters
	name   string   // set for a plain variable: what an assignment would set
	known  bool
	array  bool
	block  bool // a script block: its commands are listed already
	remote bool // came from the network
}

func literal(s string) value { return value{s: s, known: true} }

func (v value) items() []string {
	if v.array {
		return v.list
	}
	return []string{v.s}
}

// input is what a pipe feeds a command.
type input struct {
	items  []string
	known  bool
	any    bool
	remote bool
}

// asciiPunctuation turns the quotes, dashes and blanks that PowerShell takes for ASCII ones into those.
func asciiPunctuation(text string, org origin) (string, origin) {
	if !strings.ContainsAny(text, "‘’‚‛“”„–—―\u00a0\u0085") {
		return text, org
	}
	var b strings.Builder
	table := make([]int32, 0, len(text)+1)
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch r {
		case '‘', '’', '‚', '‛':
			b.WriteByte('\'')
		case '“', '”', '„':
			b.WriteByte('"')
		case '–', '—', '―':
			b.WriteByte('-')
		case '\u00a0', '\u0085':
			b.WriteByte(' ')
		default:
			b.WriteString(text[i : i+n])
			for k := range n {
				table = append(table, int32(i+k))
			}
			i += n
			continue
		}
		table = append(table, int32(i))
		i += n
	}
	org.table = append(table, int32(len(text)))
	return b.String(), org
}

func (p *psParser) more() bool { return p.pos < len(p.src) }

func (p *psParser) peek(n int) byte {
	if p.pos+n < len(p.src) {
		return p.src[p.pos+n]
	}
	return 0
}

// blanks skips blanks, continued lines and comments; with lines also newlines and semicolons.
func (p *psParser) blanks(lines bool) {
	for p.more() {
		switch c := p.src[p.pos]; {
		case isBlank(c), lines && (c == '\n' || c == ';'):
			p.pos++
		case c == '`' && (p.peek(1) == '\n' || p.peek(1) == '\r' && p.peek(2) == '\n'):
			p.pos += 2
		case c == '#':
			if i := strings.IndexByte(p.src[p.pos:], '\n'); i >= 0 {
				p.pos += i
			} else {
				p.pos = len(p.src)
			}
		case c == '<' && p.peek(1) == '#':
			if i := strings.Index(p.src[p.pos+2:], "#>"); i >= 0 {
				p.pos += i + 4
			} else {
				p.pos = len(p.src)
			}
		default:
			return
		}
	}
}

// deep reports whether reading stops here, and says so in the list.
func (p *psParser) deep() bool {
	if p.depth < maxDepth {
		return false
	}
	if p.more() {
		lo, hi := p.org.at(span{p.pos, len(p.src)})
		p.out = append(p.out, Command{Dialect: PowerShell, Raw: "(", Limit: true, Start: lo, End: hi})
		p.pos = len(p.src)
	}
	return true
}

// statements reads up to the closing character, or to the end for 0, and returns what the last statement comes to.
func (p *psParser) statements(closing byte) (last value) {
	if p.deep() {
		return
	}
	p.depth++
	defer func() { p.depth-- }()
	n := 0
	for {
		p.blanks(true)
		if !p.more() {
			return
		}
		c := p.src[p.pos]
		switch {
		case c == closing && closing != 0:
			p.pos++
			if n > 1 {
				last.known = false
			}
			return
		case c == ')' || c == '}':
			if closing != 0 {
				return value{s: last.s}
			}
			p.pos++
			continue
		}
		before := p.pos
		v := p.pipeline()
		if n++; n > 1 {
			v.remote = v.remote || last.remote
		}
		last = v
		if p.pos == before {
			p.pos++
		}
	}
}

// pipeline reads elements joined by |. Its commands are listed behind those of the ( ) and { } within them.
func (p *psParser) pipeline() (v value) {
	var chain []Command
	var in input
	for first := true; ; first = false {
		p.blanks(false)
		n := len(chain)
		v = p.element(&chain, in, first)
		p.blanks(false)
		if p.peek(0) != '|' || p.peek(1) == '|' {
			break
		}
		p.pos++
		if len(chain) > n {
			chain[len(chain)-1].Pipe = true
		}
		in = input{items: v.items(), known: v.known, any: true, remote: v.remote}
		p.blanks(false)
		for p.peek(0) == '\n' {
			p.pos++
			p.blanks(false)
		}
	}
	if n := len(chain); n > 0 {
		chain[n-1].Pipe = false
	}
	p.out = append(p.out, chain...)
	switch c := p.peek(0); {
	case c == '&' && p.peek(1) == '&', c == '|':
		p.pos += 2
	case c == '&':
		p.pos++
	}
	p.pos = min(p.pos, len(p.src))
	return v
}

// element reads one part of a pipeline: a command or an expression.
func (p *psParser) element(chain *[]Command, in input, first bool) value {
	c, start := p.peek(0), p.pos
	switch {
	case c == 0, c == '|', c == ')', c == '}', c == ';', c == '\n':
		return value{}
	case c == '&' && p.peek(1) != '&', c == '.' && callable(p.peek(1)):
		p.pos++
		p.blanks(false)
		return p.called(chain, start, in)
	case strings.IndexByte("'\"$(@[{,!+", c) >= 0, isDigit(c) && p.number(), c == '-' && (p.peek(1) == '(' || p.peek(1) == '$' || isDigit(p.peek(1)) || p.operator()):
		return p.expressionStatement(chain, start)
	}
	if word := p.ident(); word != "" && first {
		if word == "foreach" && p.loop() {
			return value{}
		}
		if keyword(word) {
			p.keyword(word)
			return value{}
		}
	}
	name := p.bareword()
	return p.command(chain, name, start, in)
}

func callable(c byte) bool {
	return isBlank(c) || c == '\'' || c == '"' || c == '$' || c == '(' || c == '{'
}

// called reads what follows the call operators & and . (dot).
func (p *psParser) called(chain *[]Command, start int, in input) value {
	if !p.more() || p.peek(0) == '\n' {
		return value{}
	}
	n := len(p.out)
	name := p.argument()
	if name.block {
		if in.remote {
			for i := n; i < len(p.out); i++ {
				p.out[i].remote = true
			}
		}
		p.arguments(&Command{})
		return value{}
	}
	return p.command(chain, name, start, in)
}

// ident is the word at the cursor, lower case, if it is only letters and ends like a keyword does.
func (p *psParser) ident() string {
	i := p.pos
	for i < len(p.src) && i-p.pos < 16 && isLetter(p.src[i]) {
		i++
	}
	if i < len(p.src) && strings.IndexByte(" \t\r\n({;})|$@\"'", p.src[i]) < 0 {
		return ""
	}
	return strings.ToLower(p.src[p.pos:i])
}

// keyword moves past a keyword; what it governs is read as statements of its own.
func (p *psParser) keyword(word string) {
	p.pos += len(word)
	switch word {
	case "function", "filter", "workflow", "class", "enum", "configuration":
		for p.more() && strings.IndexByte("{(\n;", p.src[p.pos]) < 0 {
			p.pos++
		}
	case "break", "continue":
		for p.more() && (isBlank(p.src[p.pos]) || isIdent(p.src[p.pos])) {
			p.pos++
		}
	case "using":
		for p.more() && p.src[p.pos] != '\n' && p.src[p.pos] != ';' {
			p.pos++
		}
	case "switch":
		for p.blanks(false); p.peek(0) == '-'; p.blanks(false) {
			p.bareword()
		}
	}
}

// loop reads foreach ($x in …) and binds $x to all of the values.
func (p *psParser) loop() bool {
	at := p.pos + len("foreach")
	for at < len(p.src) && (isBlank(p.src[at]) || p.src[at] == '\n') {
		at++
	}
	if at >= len(p.src) || p.src[at] != '(' {
		return false
	}
	p.pos = at + 1
	p.blanks(true)
	name := ""
	if p.peek(0) == '$' {
		name = p.variable().name
	}
	p.blanks(true)
	if strings.EqualFold(p.src[p.pos:min(p.pos+2, len(p.src))], "in") {
		p.pos += 2
	}
	v := p.statements(')')
	if name != "" {
		v.name = ""
		p.scope.vars[name] = v
	}
	return true
}

// expressionStatement reads an expression or an assignment.
func (p *psParser) expressionStatement(chain *[]Command, start int) value {
	n := len(p.out)
	v := p.expression()
	p.blanks(false)
	c := p.peek(0)
	if c == '=' || strings.IndexByte("+-*/%?", c) >= 0 && c != 0 && p.peek(1) == '=' || c == '?' && p.peek(1) == '?' && p.peek(2) == '=' {
		plus := c == '+'
		for p.peek(0) != '=' {
			p.pos++
		}
		p.pos++
		p.blanks(true)
		if p.deep() {
			return value{}
		}
		p.depth++
		right := p.pipeline()
		p.depth--
		p.assign(v, right, plus, c == '=', start)
		return value{known: true}
	}
	if c == '>' {
		cmd := p.newCommand(literal("out-file"), start)
		p.arguments(&cmd)
		cmd.Args = append(cmd.Args, cmd.Writes...)
		_, cmd.End = p.org.at(span{start, p.pos})
		*chain = append(*chain, cmd)
		return value{}
	}
	// The call that ends the expression is what a pipe takes from.
	if c == '|' && p.peek(1) != '|' && len(p.out) > n && !v.block {
		*chain = append(*chain, p.out[len(p.out)-1])
		p.out = p.out[:len(p.out)-1]
	}
	return v
}

// assign binds a variable. A second value for a name within a block may or may not be the one that counts.
func (p *psParser) assign(left, right value, plus, plain bool, start int) {
	name := left.name
	drive, _, _ := strings.Cut(name, ":")
	switch {
	case drive != name && (drive == "env" || drive == "function" || drive == "alias"):
		c := p.newCommand(literal("set-item"), start)
		c.Args = []string{name, right.s}
		if !right.known {
			c.Unknown = []int{1}
		}
		p.finish(&c, input{remote: right.remote})
		p.out = append(p.out, c)
		if drive == "alias" && right.known {
			p.scope.aliases[strings.TrimPrefix(name, "alias:")] = right.s
		}
	}
	if name == "" {
		if !strings.HasPrefix(left.s, "[") { // part of something, or several names: which values still hold is not known
			clear(p.scope.vars)
		}
		return
	}
	old, had := p.scope.vars[name]
	right.name = ""
	switch {
	case plus && had:
		right = p.add(old, right)
	case !plain:
		right.known = false
	case had && p.depth > 1 && (old.s != right.s || len(old.list) != len(right.list)):
		p.m.changes(name)
	}
	if plus && p.depth > 1 {
		p.m.changes(name)
	}
	if p.m.unstable[name] {
		right.known = false
	}
	if len(right.s) > maxValue || !p.m.spend(len(right.s)) {
		right = value{s: "$" + name, remote: right.remote}
	}
	p.scope.vars[name] = right
}
