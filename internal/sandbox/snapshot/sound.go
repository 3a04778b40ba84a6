package snapshot

import "strings"

// What a shell wrote of itself can be written by anybody who runs in it: a command may write to the descriptor, or define a function
// named "builtin". What comes back into a shell is therefore put together again from what was read, and is nothing but definitions.

// aliases reads "alias -p", and returns what makes the same aliases and nothing else.
func aliases(text string) (string, []string) {
	var b strings.Builder
	var names []string
	for text != "" {
		rest, ok := strings.CutPrefix(text, "alias ")
		name, rest, more := strings.Cut(strings.TrimPrefix(rest, "-- "), "=")
		if !ok || !more {
			break // not what bash writes
		}
		value, size := quoted(rest)
		if named(name) {
			b.WriteString("alias -- " + name + "=" + Quote(value) + "\n")
			names = append(names, name)
		}
		text = strings.TrimPrefix(rest[size:], "\n")
	}
	return b.String(), names
}

// quoted reads a word that is quoted as Quote does it, to the end of its line, and returns how many bytes it took.
func quoted(s string) (string, int) {
	var b strings.Builder
	i := 0
	for i < len(s) && s[i] != '\n' {
		switch {
		case s[i] == '\'':
			inner, _, _ := strings.Cut(s[i+1:], "'")
			b.WriteString(inner)
			i = min(i+len(inner)+2, len(s))
		case s[i] == '\\' && i+1 < len(s):
			b.WriteByte(s[i+1])
			i += 2
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	return b.String(), i
}

// named tells whether a name of a function or an alias stands for itself in a shell text.
func named(name string) bool {
	return name != "" && !strings.ContainsAny(name, " \t\r\n\v\f;&|<>()$`\\\"'*?[]{}~!#=\x7f") && name[0] != '-'
}

// literal tells whether the value of an array is one as bash writes it, in which nothing is left to be expanded: ([0]="a" [1]="b").
func literal(s string, associative bool) bool {
	inner, ok := strings.CutPrefix(s, "(")
	for ok && inner != ")" && inner != " )" { // those of associative arrays end with a blank
		inner = strings.TrimPrefix(inner, " ")
		if inner, ok = strings.CutPrefix(inner, "["); !ok {
			break
		}
		size := strings.IndexByte(inner, ']')
		if strings.HasPrefix(inner, `"`) || strings.HasPrefix(inner, "$'") {
			key := 0
			if _, key = word(inner); !plain(inner[:key]) {
				return false
			}
			size = key
		}
		if size < 1 || !associative && strings.Trim(inner[:size], "0123456789") != "" || strings.ContainsAny(inner[:size], "`\\") ||
			strings.Contains(strings.TrimPrefix(inner[:size], "$'"), "$") {
			return false
		}
		if inner, ok = strings.CutPrefix(inner[size:], "]="); !ok {
			break
		}
		_, size = word(inner)
		if !strings.HasPrefix(inner, `"`) && !strings.HasPrefix(inner, "$'") || !plain(inner[:size]) {
			return false
		}
		inner = inner[size:]
	}
	return ok
}

// plain tells whether a quoted word is whole and leaves nothing to be expanded.
func plain(word string) bool {
	if strings.HasPrefix(word, "$'") {
		return len(word) > 2 && word[len(word)-1] == '\''
	}
	if len(word) < 2 || word[len(word)-1] != '"' {
		return false
	}
	for i := 1; i < len(word)-1; i++ {
		switch word[i] {
		case '\\':
			i++
		case '$', '`':
			return false
		}
	}
	return true
}

// sound drops functions whose text is more than the definition of one. Those that are held already count as they are.
func (d *definitions) sound(held definitions, judge Judge) {
	for name, text := range d.functions {
		if held.functions[name] == text || judge != nil && judge(text).Declares == name {
			continue
		}
		delete(d.functions, name)
		delete(d.exports, name)
	}
}

// actsBy tells whether a shell acts by a variable, so that no array may stand for it.
func actsBy(name string) bool {
	switch name {
	case "PATH", "HOME", "CDPATH", "OLDPWD", "ENV", "PS4", "PROMPT_COMMAND", "GLOBIGNORE", "EXECIGNORE", "POSIXLY_CORRECT", "TMPDIR":
		return true
	}
	return Never(name) || strings.HasPrefix(name, "BASH") || strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "LC_")
}

// arrayNames lists the arrays of a text that variables has made.
func arrayNames(text string) []string {
	var out []string
	for text != "" {
		_, rest, _ := strings.Cut(strings.TrimPrefix(text, "declare -"), " ")
		name, value, ok := strings.Cut(rest, "=")
		if !ok {
			break
		}
		out = append(out, name)
		text = strings.TrimPrefix(value[statement(value):], "\n")
	}
	return out
}
