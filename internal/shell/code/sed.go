package code

import "strings"

// sedScript reads a sed script.
type sedScript struct {
	*scanner
	i, b int
}

func (s *scanner) sed(a, b int) {
	p := sedScript{s, a, b}
	for p.i < p.b {
		p.command()
	}
}

func (p *sedScript) at() byte {
	if p.i < p.b {
		return p.src[p.i]
	}
	return 0
}

func (p *sedScript) skip(set string) {
	for p.i < p.b && strings.IndexByte(set, p.src[p.i]) >= 0 {
		p.i++
	}
}

// delimited moves past text up to the delimiter c; text in brackets and after a backslash does not end it.
func (p *sedScript) delimited(c byte, regex bool) (a, b int) {
	a = p.i
	for p.i < p.b {
		switch d := p.src[p.i]; {
		case d == '[' && regex && c != '[' && !p.class():
			regex = false // never closed: the others are not either

		case d == '\\' && p.i+1 < p.b:
			p.i++
		case d == c:
			p.i++
			return a, p.i - 1
		}
		p.i++
	}
	p.i = min(p.i, p.b)
	p.eff(Unknown)
	return a, p.b
}

// class moves to the end of a bracket expression, if it has one on this line.
func (p *sedScript) class() bool {
	i := p.i + 1
	if i < p.b && p.src[i] == '^' {
		i++
	}
	if i < p.b && p.src[i] == ']' {
		i++
	}
	for i < p.b && p.src[i] != ']' && p.src[i] != '\n' {
		if p.src[i] == '[' && i+1 < p.b && strings.IndexByte(":.=", p.src[i+1]) >= 0 {
			if n := strings.Index(p.src[i+2:min(p.b, i+32)], p.src[i+1:i+2]+"]"); n >= 0 {
				i += n + 3
			}
		}
		i++
	}
	if i < p.b && p.src[i] == ']' {
		p.i = i
		return true
	}
	return false
}

func (p *sedScript) address() {
	switch c := p.at(); {
	case c == '/':
		p.i++
		p.delimited('/', true)
	case c == '\\' && p.i+1 < p.b:
		p.i += 2
		p.delimited(p.src[p.i-1], true)
	case isDigit(c) || c == '$' || c == '+' || c == '~':
		p.i++
		p.skip("0123456789~")
		return
	default:
		return
	}
	p.skip("IM")
}

func (p *sedScript) command() {
	p.skip(" \t\r\n;")
	p.address()
	p.skip(" \t")
	if p.at() == ',' {
		p.i++
		p.skip(" \t")
		p.address()
		p.skip(" \t")
	}
	p.skip("! \t")
	if p.i >= p.b {
		return
	}
	a, c := p.i, p.src[p.i]
	p.i++
	switch c {
	case '{', '}', '=', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z', 'F':
		p.tail()
	case 'q', 'Q', 'l', 'L':
		p.skip(" \t0123456789")
		p.tail()
	case '#', ':', 'b', 't', 'T', 'v':
		if c == '#' {
			p.line()
			return
		}
		for p.i < p.b && p.src[p.i] != '\n' && p.src[p.i] != ';' && p.src[p.i] != '}' {
			p.i++
		}
	case 'a', 'i', 'c':
		p.text()
	case 's':
		p.subst()
	case 'y':
		d := p.at()
		p.i++
		p.delimited(d, false)
		p.delimited(d, false)
		p.tail()
	case 'w', 'W':
		x, y := p.line()
		p.sedFile(x, y)
	case 'r', 'R':
		x, y := p.line()
		p.paths(Read, text(p.src[x:y]).at(x, y))
	case 'e':
		x, y := p.line()
		if x == y { // runs the pattern space
			p.addShell(value{a: a, b: p.i})
			return
		}
		p.addShell(text(p.src[x:y]).at(x, y))
	default:
		p.eff(Unknown)
		p.line()
	}
}

// tail is what may follow a command without operands.
func (p *sedScript) tail() {
	p.skip(" \t\r")
	switch p.at() {
	case 0, ';', '\n', '}', '{', '#':
		return
	}
	if p.src[p.i-1] == '{' || p.src[p.i-1] == ' ' || p.src[p.i-1] == '}' {
		for i := p.i - 1; i >= 0; i-- {
			if c := p.src[i]; c == '{' || c == '}' {
				return
			} else if c != ' ' && c != '\t' {
				break
			}
		}
	}
	if p.at() == 0 && p.i < p.b {
		p.i++
	}
	p.eff(Unknown)
}

// line is the rest of the line, blanks in front left out.
func (p *sedScript) line() (a, b int) {
	p.skip(" \t")
	a = p.i
	for p.i < p.b && p.src[p.i] != '\n' {
		p.i++
	}
	return a, p.i
}

// text skips the operand of a, i and c: lines that end in a backslash go on.
func (p *sedScript) text() {
	for p.i < p.b {
		c := p.src[p.i]
		p.i++
		if c == '\\' && p.i < p.b {
			p.i++
		} else if c == '\n' {
			return
		}
	}
}

func (p *sedScript) sedFile(a, b int) {
	f := p.src[a:b]
	if f == "/dev/stdout" || f == "/dev/stderr" {
		return
	}
	p.paths(Write, text(f).at(a, b))
}

func (p *sedScript) subst() {
	d := p.at()
	if d == 0 || d == '\n' || d == '\\' {
		p.eff(Unknown)
		p.line()
		return
	}
	p.i++
	p.delimited(d, true)
	ra, rb := p.delimited(d, false)
	for p.i < p.b {
		c := p.src[p.i]
		switch {
		case strings.IndexByte("gpiImM0123456789", c) >= 0:
			p.i++
			continue
		case c == 'e':
			p.i++
			r := text(p.src[ra:rb]).at(ra, rb)
			if strings.ContainsAny(r.s, `&\`) {
				r = value{a: ra, b: rb}
			}
			p.addShell(r)
			if r.k == kStr { // what the pattern leaves around the replacement is run too
				p.eff(Unknown)
			}
			continue
		case c == 'w':
			p.i++
			x, y := p.line()
			p.sedFile(x, y)
			return
		}
		break
	}
	p.tail()
}
