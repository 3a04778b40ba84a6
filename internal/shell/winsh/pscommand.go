package winsh

import (
	"slices"
	"strings"
)

// command reads the arguments of a command whose name has been read.
func (p *psParser) command(chain *[]Command, name value, start int, in input) value {
	n := len(p.out)
	c := p.newCommand(name, start)
	c.remote = name.remote
	v := p.arguments(&c)
	hi := p.pos
	for hi > start && (isBlank(p.src[hi-1]) || p.src[hi-1] == '\n') {
		hi--
	}
	c.Start, c.End = p.org.at(span{start, hi})
	in.remote = in.remote || v.remote
	if c.Name == "powershell" || c.Name == "pwsh" {
		for i := n; i < len(p.out); i++ {
			p.out[i].carried = true
		}
	}
	p.finish(&c, in)
	*chain = append(*chain, c)
	out := value{remote: in.remote || fetches(&c)}
	if (c.Name == "write-output" || c.Name == "write-host") && c.Known {
		out.s, out.known = strings.Join(c.Args, " "), len(c.Unknown) == 0
	}
	return out
}

func (p *psParser) newCommand(name value, start int) Command {
	c := Command{Dialect: PowerShell, Known: name.known && name.s != "" && !name.array, Sub: p.depth > 1}
	c.Raw = strings.TrimLeft(p.src[start:p.pos], "&. ")
	if c.Raw == "" {
		c.Raw = name.s
	}
	c.Name, c.foreign = programName(name.s), isForeign(name.s)
	if strings.IndexByte(name.s, '/') < 0 && strings.IndexByte(name.s, '.') < 0 || strings.Contains(name.s, "Microsoft.PowerShell") {
		if a, ok := p.scope.aliases[c.Name]; ok {
			c.Name = programName(a)
		}
		c.Name = cmdlet(c.Name)
	}
	c.Start, c.End = p.org.at(span{start, max(start, p.pos)})
	return c
}

// arguments reads words, redirections and blocks up to the end of the command. The value tells only where they came from.
func (p *psParser) arguments(c *Command) (all value) {
	for {
		p.blanks(false)
		if !p.more() {
			return
		}
		ch := p.src[p.pos]
		switch {
		case strings.IndexByte("\n;|)}", ch) >= 0, ch == '&':
			if ch == '&' && p.peek(1) == '1' { // the tail of 2>&1
				p.pos += 2
				continue
			}
			return
		case ch == ',':
			p.pos++
			continue
		case ch == '>' || ch == '<' || (isDigit(ch) || ch == '*') && p.peek(1) == '>':
			p.redirect(c)
			continue
		case strings.HasPrefix(p.src[p.pos:], "--%"):
			lo := p.pos + 3
			for p.more() && strings.IndexByte("\n|", p.src[p.pos]) < 0 {
				p.pos++
			}
			for _, w := range splitWords(p.src[min(lo, p.pos):p.pos], 0, true) {
				c.Args = append(c.Args, w.text)
			}
			continue
		case ch == '@' && isIdent(p.peek(1)):
			p.splat(c)
			continue
		}
		before := p.pos
		v := p.argument()
		if p.pos == before {
			p.pos++
			continue
		}
		all.remote = all.remote || v.remote
		p.addArgs(c, v)
	}
}

func (p *psParser) addArgs(c *Command, v value) {
	if v.block {
		c.Args = append(c.Args, "{}")
		return
	}
	for _, s := range v.items() {
		if !p.m.spend(len(s) + 1) {
			s, v.known = "", false
		}
		if !v.known {
			c.Unknown = append(c.Unknown, len(c.Args))
		}
		c.Args = append(c.Args, s)
	}
}

// splat reads @name, an argument list kept in a variable.
func (p *psParser) splat(c *Command) {
	p.pos++
	lo := p.pos
	for p.more() && isIdent(p.src[p.pos]) {
		p.pos++
	}
	v, ok := p.scope.vars[strings.ToLower(p.src[lo:p.pos])]
	switch {
	case ok && v.splat != nil:
		for _, s := range v.splat {
			p.addArgs(c, value{s: s, known: v.known})
		}
	case ok:
		p.addArgs(c, v)
	default:
		p.addArgs(c, value{s: p.src[lo-1 : p.pos]})
	}
}

// redirect reads a redirection and notes the target of an output one.
func (p *psParser) redirect(c *Command) {
	if p.src[p.pos] != '>' && p.src[p.pos] != '<' {
		p.pos++
	}
	in := p.src[p.pos] == '<'
	for p.more() && (p.src[p.pos] == '>' || p.src[p.pos] == '<') {
		p.pos++
	}
	if p.peek(0) == '&' {
		p.pos++
		if isDigit(p.peek(0)) {
			p.pos++
		}
		return
	}
	p.blanks(false)
	if v := p.argument(); !in && v.s != "" {
		c.Writes = append(c.Writes, v.items()...)
	}
}

// finish does what a command means for those behind it, and reads what it carries.
func (p *psParser) finish(c *Command, in input) {
	c.remote = c.remote || in.remote
	c.fed = in.any
	if c.Name == "remove-item" && in.known {
		c.piped = in.items
	}
	switch c.Name {
	case "set-alias", "new-alias":
		if a := operands(c, "-name", "-value"); len(a) > 1 && len(c.Unknown) == 0 {
			p.scope.aliases[strings.ToLower(a[0])] = a[1]
		}
	case "set-variable", "new-variable":
		if a := operands(c, "-name", "-value"); len(a) > 1 {
			p.scope.vars[strings.ToLower(a[0])] = value{s: a[1], known: len(c.Unknown) == 0, remote: in.remote}
		}
	}
	for i, a := range c.Args {
		name, v, _ := strings.Cut(strings.ToLower(a), ":")
		switch name {
		case "-ov", "-outvariable", "-pv", "-pipelinevariable", "-ev", "-iv", "-variable":
			if v == "" && i+1 < len(c.Args) {
				v = strings.ToLower(c.Args[i+1])
			}
			delete(p.scope.vars, strings.TrimPrefix(v, "+"))
		}
	}
	at := p.statementSpan(c)
	p.m.carry(c, in, p.src, at, p.org, p.scope)
}

// statementSpan is c's span in p.src, found back from the outermost one.
func (p *psParser) statementSpan(c *Command) span {
	if !p.org.exact {
		return span{0, 0}
	}
	lo, hi := c.Start-p.org.lo, c.End-p.org.lo
	if t := p.org.table; t != nil {
		lo, _ = slices.BinarySearch(t, int32(lo))
		hi, _ = slices.BinarySearch(t, int32(hi))
	}
	return span{min(lo, len(p.src)), min(max(lo, hi), len(p.src))}
}
