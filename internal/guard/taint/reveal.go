package taint

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Reveal makes marks of characters that are not shown and that Scan finds, so that who reads the text knows of them and cannot read
// what they hide. Those that belong to their script, to an emoji or to a flag stay.
func Reveal(text string) string {
	i := 0
	for i < len(text) && text[i] < 0x80 {
		i++
	}
	if i == len(text) {
		return text
	}
	look := looker{text: text, fold: &fold{}}
	for i < len(text) {
		if text[i] < 0xc2 {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if ignorable(r) {
			size = look.at(i, r, size)
		}
		i += size
	}
	look.lines()
	if len(look.unseen) == 0 {
		return text
	}
	var b strings.Builder
	last := 0
	for _, u := range look.ordered() {
		if u.start < last {
			continue
		}
		b.WriteString(text[last:u.start])
		r, size := utf8.DecodeRuneInString(text[u.start:])
		if u.end-u.start > size {
			fmt.Fprintf(&b, "⟨%d hidden characters⟩", utf8.RuneCountInString(text[u.start:u.end]))
		} else {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		}
		last = u.end
	}
	b.WriteString(text[last:])
	return b.String()
}
