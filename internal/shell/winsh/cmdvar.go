package winsh

import (
	"strconv"
	"strings"
)

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
