package chat

import (
	"strings"
	"unicode"
)

// Complete returns what the word at a byte offset of a line could become: a command in front of the line, a file behind an @. from
// is where that word begins.
func (c *Chat) Complete(line string, at int) (from int, found []Candidate) {
	at = max(0, min(at, len(line)))
	before := line[:at]
	if word, ok := strings.CutPrefix(before, "/"); ok && !strings.ContainsFunc(word, unicode.IsSpace) {
		return 0, complete(strings.ToLower(word))
	}
	from = strings.LastIndex(before, "@")
	if from < 0 || from > 0 && !strings.ContainsRune(" \t\n([{,;:", rune(before[from-1])) {
		return at, nil
	}
	prefix := before[from+1:]
	quoted := strings.HasPrefix(prefix, `"`)
	if !quoted && strings.ContainsFunc(prefix, unicode.IsSpace) || quoted && strings.Contains(prefix[1:], `"`) {
		return at, nil
	}
	c.mu.Lock()
	files := c.files
	c.mu.Unlock()
	if files == nil {
		return at, nil
	}
	for _, path := range files(c.ctx, strings.TrimPrefix(prefix, `"`)) {
		folder := strings.HasSuffix(path, "/")
		text := "@" + path
		if quoted || strings.ContainsFunc(path, unicode.IsSpace) {
			text = `@"` + path
			if !folder {
				text += `"`
			}
		}
		found = append(found, Candidate{Text: text, Whole: !folder})
	}
	return from, found
}

// complete returns the commands that begin with a word.
func complete(word string) (found []Candidate) {
	for _, cmd := range commands() {
		for i, name := range append([]string{cmd.name}, cmd.also...) {
			if !strings.HasPrefix(name, word) || i > 0 && strings.HasPrefix(cmd.name, word) {
				continue
			}
			found = append(found, Candidate{Text: "/" + name, About: cmd.about, Whole: true})
			break
		}
	}
	return found
}
