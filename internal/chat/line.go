package chat

import (
	"slices"
	"strings"
	"unicode"
)

// line does what a line asks for.
func (c *Chat) line(line string) {
	text := strings.TrimSpace(line)
	if c.confirm != nil { // it was not answered
		c.reply(c.confirm.id, Cancel)
	}
	switch {
	case text == "" || c.talk == nil:
	case strings.HasPrefix(text, "//"): // a message that begins with a slash
		c.message(text[1:])
	case strings.HasPrefix(text, "/") && !isPath(text):
		c.command(text)
	case strings.HasPrefix(text, "!"):
		if text = strings.TrimSpace(text[1:]); text != "" {
			c.shellCommand(text)
		}
	default:
		c.message(text)
	}
}

// isPath tells whether a text that begins with a slash begins with a path: no command has a second one.
func isPath(text string) bool {
	word, _, _ := strings.Cut(text, " ")
	return strings.ContainsAny(word[1:], "/\n")
}

// mentions returns the files that a message names: @path, or @"a path with blanks", at the beginning of a word.
func mentions(text string) []string {
	var out []string
	before := ' '
	for i, r := range text {
		if r == '@' && (unicode.IsSpace(before) || strings.ContainsRune("([{,;:", before)) {
			if m, _ := mention(text[i+1:]); m != "" && !slices.Contains(out, m) {
				out = append(out, m)
			}
		}
		before = r
	}
	return out
}

// mention reads the path behind an @, and how many bytes it takes.
func mention(text string) (path string, length int) {
	if rest, ok := strings.CutPrefix(text, `"`); ok {
		if end := strings.IndexAny(rest, "\"\n"); end >= 0 && rest[end] == '"' {
			return rest[:end], end + 2
		}
		return "", 0
	}
	end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) })
	if end < 0 {
		end = len(text)
	}
	// What ends a sentence does not belong to a path.
	path = strings.TrimRight(text[:end], ".,;:!?)]}'\"")
	return path, len(path)
}
