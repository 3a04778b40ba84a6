package snapshot

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"hermes/internal/guard/environ"
)

var noExtras environ.List

// definitions are the functions, aliases and exported arrays of a session, as shell text.
type definitions struct {
	functions map[string]string
	exports   map[string]bool // functions that go into the environment
	aliases   string
	names     []string // of the aliases
	arrays    string
}

// need returns the functions a text can use, and whether it can use a definition at all. What it uses can use others; what is
// not spelt in it or in those can be any.
func (d *definitions) need(text string, spelt bool, judge Judge) (names []string, changes Change, aliases bool) {
	all := func() ([]string, Change, bool) { return slices.Sorted(maps.Keys(d.functions)), Everything, true }
	if len(d.functions) == 0 && d.aliases == "" {
		return nil, 0, false
	}
	if !spelt || judge == nil {
		return all()
	}
	if slices.ContainsFunc(d.names, func(name string) bool { return strings.Contains(text, name) }) {
		return all() // what an alias stands for is not judged
	}
	seen := map[string]bool{}
	texts := []string{text}
	// Bash asks this one without being told to.
	const handler = "command_not_found_handle"
	if d.functions[handler] != "" {
		texts = append(texts, handler)
	}
	for ; len(texts) > 0; texts = texts[1:] {
		for name, body := range d.functions {
			if seen[name] || !strings.Contains(texts[0], name) {
				continue
			}
			seen[name] = true
			body = strings.TrimPrefix(body, name+" () ")
			j := judge(body)
			if !j.Spelt {
				return all()
			}
			changes |= Everything &^ j.Keeps
			texts = append(texts, body)
		}
	}
	return slices.Sorted(maps.Keys(seen)), changes, false
}

// text returns definitions as shell text.
func (d *definitions) text(names []string, aliases bool) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(d.functions[name])
		if d.exports[name] {
			b.WriteString("export -f " + name + "\n")
		}
	}
	if aliases {
		b.WriteString(d.aliases)
	}
	b.WriteString(d.arrays)
	return b.String()
}

// exported returns the functions that programs other than this bash see.
func (d *definitions) exported() map[string]string {
	out := map[string]string{}
	for name := range d.exports {
		if body, ok := strings.CutPrefix(d.functions[name], name+" () "); ok {
			out["BASH_FUNC_"+name+"%%"] = "() " + strings.TrimLeft(body, "\n")
		}
	}
	return out
}

// dump is what a shell wrote of its state.
type dump struct {
	dir    string
	old    string // OLDPWD
	vars   map[string]string
	arrays string
	defs   definitions
}

// parse reads what the trap wrote. Without its end it is not whole, and nothing of it counts.
func parse(text []byte) (d dump, ok bool) {
	// What a child of the command wrote before the trap stands in front of the first section.
	parts := strings.Split(string(text), "\x00")
	var names string
	for i := 1; i < len(parts); i += 2 {
		if parts[i] == "end" {
			ok = true
			break
		}
		if i+1 >= len(parts) {
			return dump{}, false
		}
		switch body := parts[i+1]; parts[i] {
		case "dir":
			d.dir = strings.TrimSuffix(body, "\n")
		case "old":
			d.old = body
		case "vars":
			d.vars, d.arrays = variables(body)
		case "names":
			names = body
		case "functions":
			d.defs.functions, d.defs.exports = functions(names, body)
		case "aliases":
			d.defs.aliases, d.defs.names = aliases(body)
		default:
			return dump{}, false
		}
	}
	if d.dir != "" && d.dir[0] != '/' {
		return dump{}, false
	}
	d.defs.arrays = d.arrays
	return d, ok
}

// variables reads "export -p". Arrays, which no environment can hold, stay text; those that would hide a variable which is told as well,
// or by which a shell itself acts, are none that bash has written of an honest command, and are left out.
func variables(text string) (map[string]string, string) {
	vars := map[string]string{}
	type array struct{ name, text string }
	var all []array
	for text != "" {
		rest, ok := strings.CutPrefix(text, "declare -")
		if !ok {
			break // not what bash writes
		}
		flags, rest, _ := strings.Cut(rest, " ")
		end := strings.IndexAny(rest, "=\n")
		if end < 0 {
			break
		}
		name := rest[:end]
		if rest[end] == '\n' { // exported, but without a value
			text = rest[end+1:]
			continue
		}
		value, size := word(rest[end+1:])
		if strings.ContainsAny(flags, "aA") {
			size = statement(rest[end+1:])
			if identifier(name) && strings.Trim(flags, "aArx") == "" && literal(rest[end+1:end+1+size], strings.Contains(flags, "A")) {
				all = append(all, array{name, "declare -" + flags + " " + rest[:end+1+size] + "\n"})
			}
		} else if identifier(name) {
			vars[name] = value
		}
		text = strings.TrimPrefix(rest[end+1+size:], "\n")
	}
	var arrays strings.Builder
	for _, a := range all {
		if _, hides := vars[a.name]; !hides && !actsBy(a.name) {
			arrays.WriteString(a.text)
		}
	}
	return vars, arrays.String()
}

// identifier tells whether a shell takes a variable's name.
func identifier(name string) bool {
	return name != "" && (name[0] < '0' || name[0] > '9') &&
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// word reads one quoted word as bash writes it, and returns how many bytes it took.
func word(s string) (string, int) {
	switch {
	case strings.HasPrefix(s, "$'"):
		return ansi(s)
	case !strings.HasPrefix(s, `"`):
		end := strings.IndexByte(s, '\n')
		if end < 0 {
			end = len(s)
		}
		return s[:end], end
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), i + 1
		case '\\':
			if i++; i < len(s) {
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), len(s)
}

// ansi reads a word in $'…'.
func ansi(s string) (string, int) {
	var b strings.Builder
	for i := 2; i < len(s); i++ {
		switch {
		case s[i] == '\'':
			return b.String(), i + 1
		case s[i] != '\\' || i+1 >= len(s):
			b.WriteByte(s[i])
		default:
			i++
			if at := strings.IndexByte(`abefnrtvE`, s[i]); at >= 0 {
				b.WriteByte("\a\b\x1b\f\n\r\t\v\x1b"[at])
				continue
			}
			base, most := 8, 3
			switch s[i] {
			case 'x':
				base, most, i = 16, 2, i+1
			case 'u':
				base, most, i = 16, 4, i+1
			case 'U':
				base, most, i = 16, 8, i+1
			}
			digits := i
			for digits < len(s) && digits-i < most && strings.IndexByte("01234567", s[digits]) >= 0 ||
				base == 16 && digits < len(s) && digits-i < most && strings.IndexByte("0123456789abcdefABCDEF", s[digits]) >= 0 {
				digits++
			}
			if digits == i { // a quote, a backslash
				if i < len(s) {
					b.WriteByte(s[i])
				}
				continue
			}
			n, _ := strconv.ParseUint(s[i:digits], base, 32)
			if base == 16 && most > 2 && n <= utf8.MaxRune {
				b.WriteRune(rune(n))
			} else {
				b.WriteByte(byte(n))
			}
			i = digits - 1
		}
	}
	return b.String(), len(s)
}

// statement returns how many bytes an array's value takes: to the line break outside of quotes.
func statement(s string) int {
	for i := 0; i < len(s); {
		switch {
		case s[i] == '\n':
			return i
		case s[i] == '"', strings.HasPrefix(s[i:], "$'"):
			_, size := word(s[i:])
			i += size
		case s[i] == '\\':
			i += 2
		default:
			i++
		}
	}
	return len(s)
}

// functions cuts "declare -f" into functions, by the names that "declare -F" gave in the same order. Names that begin with
// one underscore are a completion's or a program's own and are left out.
func functions(names, text string) (map[string]string, map[string]bool) {
	out, exported := map[string]string{}, map[string]bool{}
	var list, lines []string
	for line := range strings.Lines(names) {
		rest, ok := strings.CutPrefix(line, "declare -f")
		if !ok {
			continue
		}
		flags, name, _ := strings.Cut(strings.TrimSuffix(rest, "\n"), " ")
		list, lines = append(list, name), append(lines, "")
		if flags != "" { // then the line stands behind the function, too
			lines[len(lines)-1] = strings.TrimSuffix(line, "\n") + "\n"
		}
		if strings.Contains(flags, "x") {
			exported[name] = true
		}
	}
	for i, name := range list {
		body, rest := strings.TrimSuffix(text, lines[i]), ""
		if i+1 < len(list) {
			if at := strings.Index(text, "\n}\n"+lines[i]+list[i+1]+" () "); at >= 0 {
				body, rest = text[:at+len("\n}\n")], text[at+len("\n}\n")+len(lines[i]):]
			}
		}
		if strings.HasPrefix(text, name+" () ") && !private(name) && named(name) {
			out[name] = body
		}
		text = rest
	}
	for name := range exported {
		if out[name] == "" {
			delete(exported, name)
		}
	}
	return out, exported
}

func private(name string) bool {
	return len(name) > 1 && name[0] == '_' && name[1] != '_' || name == "_"
}
