package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"hermes/internal/guard/checked"
	"hermes/internal/secret"
)

// assignment is one NAME=VALUE of an .env file: the lines [start, end) of it.
type assignment struct {
	name       string
	value      secret.String
	start, end int
	export     bool
	comment    string // what follows the value, with the blanks before it
}

// dotenv is an .env file as lines. What is not an assignment stays as it is.
type dotenv struct {
	lines []string
	items []assignment
}

// parseEnv reads an .env file: NAME=VALUE, with or without export; bare, 'as it is' or "with \n escapes" over as many lines
// as the quotes enclose; # begins a comment. Nothing is expanded. Errors name the line and never show the text.
func parseEnv(text []byte) (*dotenv, error) {
	if len(text) > maxFile {
		return nil, Problems{{File: EnvFile, Text: fmt.Sprintf("more than %d MiB", maxFile>>20)}}
	}
	body := strings.TrimPrefix(string(text), "\ufeff")
	d := &dotenv{lines: strings.Split(body, "\n")}
	var errs Problems
	for i := 0; i < len(d.lines); {
		item, end, trouble := d.assignment(i)
		switch {
		case trouble != "":
			errs = append(errs, &Problem{File: EnvFile, Line: i + 1, Text: trouble})
		case item.name != "":
			d.items = append(d.items, item)
		}
		i = end
	}
	return d, errs.orNil()
}

// assignment reads the assignment that begins in line i, and returns the line after it. A line without one has no name.
func (d *dotenv) assignment(i int) (item assignment, end int, trouble string) {
	line := strings.TrimLeft(strings.TrimSuffix(d.lines[i], "\r"), " \t")
	end = i + 1
	if line == "" || line[0] == '#' {
		return item, end, ""
	}
	if rest, ok := strings.CutPrefix(line, "export "); ok {
		item.export, line = true, strings.TrimLeft(rest, " \t")
	}
	name, rest, ok := strings.Cut(line, "=")
	if !ok {
		return item, end, "NAME=VALUE is expected here"
	}
	if _, err := checked.ParseEnvName(strings.TrimSpace(name)); err != nil {
		return item, end, "what stands before = is not the name of a variable"
	}
	item.start = i
	rest = strings.TrimLeft(rest, " \t")
	if rest == "" || rest[0] != '\'' && rest[0] != '"' {
		item.name, item.end = strings.TrimSpace(name), end
		value, comment := cutComment(rest)
		item.value, item.comment = secret.New(value), comment
		return item, end, ""
	}
	quote := rest[0]
	body := rest[1:]
	for {
		if at := closing(body, quote); at >= 0 {
			value, after := body[:at], body[at+1:]
			if tail := strings.TrimSpace(after); tail != "" && tail[0] != '#' {
				return item, end, "something follows the closing quote"
			}
			item.name, item.end = strings.TrimSpace(name), end
			item.value, item.comment = secret.New(unescape(value, quote)), strings.TrimRight(after, " \t\r")
			return item, end, ""
		}
		if end >= len(d.lines) {
			return item, i + 1, "the quote that begins here is never closed"
		}
		body += "\n" + strings.TrimSuffix(d.lines[end], "\r")
		end++
	}
}

// cutComment splits a bare value from the comment behind it.
func cutComment(s string) (value, comment string) {
	for i := range len(s) {
		if s[i] == '#' && (i == 0 || s[i-1] == ' ' || s[i-1] == '\t') {
			value = strings.TrimRight(s[:i], " \t")
			return value, s[len(value):]
		}
	}
	return strings.TrimRight(s, " \t\r"), ""
}

// closing returns where a quoted text ends, -1 if it does not.
func closing(s string, quote byte) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case quote:
			return i
		}
	}
	return -1
}

// unescape resolves backslashes: between single quotes only those before a quote or another one.
func unescape(s string, quote byte) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; {
		case c == '\\' || c == quote || quote == '"' && (c == '$' || c == '`' || c == '\''):
			b.WriteByte(c)
		case quote == '"' && c == 'n':
			b.WriteByte('\n')
		case quote == '"' && c == 'r':
			b.WriteByte('\r')
		case quote == '"' && c == 't':
			b.WriteByte('\t')
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	return b.String()
}

// escape writes a value so that this parser, python-dotenv and a shell read the same text.
func escape(s string) string {
	plain := func(r rune) bool {
		return r < utf8.RuneSelf && (r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' || strings.ContainsRune("_./:@%+,=-", r))
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	if !strings.ContainsAny(s, "'\\\r\n\t") {
		return "'" + s + "'"
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`", "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s) + `"`
}

// lookup returns the value of a name. Of two assignments the later one counts.
func (d *dotenv) lookup(name string) (assignment, bool) {
	for _, item := range slices.Backward(d.items) {
		if item.name == name {
			return item, true
		}
	}
	return assignment{}, false
}

// set returns the file's text with name set to value: in its place if it is there, else at the end.
func (d *dotenv) set(name string, value secret.String) []byte {
	line := name + "=" + escape(value.Reveal())
	lines := slices.Clone(d.lines)
	if item, ok := d.lookup(name); ok {
		if item.export {
			line = "export " + line
		}
		end := ""
		if strings.HasSuffix(lines[item.end-1], "\r") {
			end = "\r"
		}
		lines = slices.Replace(lines, item.start, item.end, line+strings.TrimRight(item.comment, "\r")+end)
		return []byte(strings.Join(lines, "\n"))
	}
	last := len(lines) - 1
	if lines[last] != "" {
		lines, last = append(lines, ""), last+1
	}
	return []byte(strings.Join(slices.Insert(lines, last, line), "\n"))
}

// unset returns the file's text without any assignment of name.
func (d *dotenv) unset(name string) []byte {
	lines := slices.Clone(d.lines)
	for _, item := range slices.Backward(d.items) {
		if item.name == name {
			lines = slices.Delete(lines, item.start, item.end)
		}
	}
	return []byte(strings.Join(lines, "\n"))
}
