package agent

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// widest is how long a title may be, in characters.
const widest = 120

// Title is one line for people about a call: the argument that says most. It is what Began tells; a stored call has it from here.
func Title(arguments string) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &fields) != nil {
		return line(arguments)
	}
	for _, name := range []string{"command", "path", "file_path", "url", "urls", "query", "pattern", "code", "session_id", "process_id", "action", "patch", "name"} {
		if text := words(fields[name]); text != "" {
			if name == "action" || name == "session_id" { // one says little without the other, or without the note that it is about
				about := words(fields["session_id"])
				if about == "" {
					about = words(fields["content"])
				}
				if about == "" {
					about = words(fields["old_text"])
				}
				text = strings.TrimSpace(words(fields["action"]) + " " + about)
			}
			return line(text)
		}
	}
	if len(fields) == 0 {
		return ""
	}
	var flat bytes.Buffer
	if json.Compact(&flat, []byte(arguments)) != nil {
		return line(arguments)
	}
	return line(flat.String())
}

// words is a string, or strings in a row.
func words(raw json.RawMessage) string {
	var one string
	var many []string
	switch {
	case json.Unmarshal(raw, &one) == nil:
		return one
	case json.Unmarshal(raw, &many) == nil:
		return strings.Join(many, " ")
	}
	return ""
}

// line is a text's first line that says something, and an ellipsis if there is more.
func line(text string) string {
	text = strings.TrimSpace(text)
	first, rest, _ := strings.Cut(text, "\n")
	more := strings.TrimSpace(rest) != ""
	first = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.TrimSpace(first))
	if utf8.RuneCountInString(first) > widest {
		first, more = string([]rune(first)[:widest]), true
	}
	if more {
		first += " …"
	}
	return first
}
