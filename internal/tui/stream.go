package tui

import (
	"strings"
)

// stream is markdown that is still being written. What cannot change any more is laid out once.
type stream struct {
	text string
	done bool

	settled int    // bytes of text that are laid out in kept
	kept    []line // for cols columns
	cols    int
	look    Look
}

func (s *stream) lines(cols int, look Look) []line {
	if cols != s.cols || look != s.look {
		s.settled, s.kept, s.cols, s.look = 0, nil, cols, look
	}
	rest := s.text[s.settled:]
	if n := settles(rest); n > 0 {
		s.kept = join(s.kept, markdown(rest[:n], cols, look))
		s.settled += n
		rest = rest[n:]
	}
	if !s.done {
		rest = rest[:len(rest)-dangling(rest)]
	}
	if strings.TrimSpace(rest) == "" {
		return s.kept
	}
	return join(s.kept[:len(s.kept):len(s.kept)], markdown(rest, cols, look))
}

func join(a, b []line) []line {
	if len(a) > 0 && len(b) > 0 {
		a = append(a, line{})
	}
	return append(a, b...)
}

// settles returns how much of a text stands whatever follows: up to the last empty line outside code after which no list or
// indented text goes on.
func settles(text string) int {
	last, at, fence, blank := 0, 0, "", false
	for l := range strings.Lines(text) {
		body := strings.TrimRight(l, "\r\n")
		if fence == "" && blank && at > 0 && begins(body) && strings.HasSuffix(l, "\n") {
			last = at
		}
		bare := strings.TrimLeft(body, " ")
		switch mark := fenceOf(bare); {
		case fence == "" && mark != "":
			fence = mark
		case fence != "" && strings.HasPrefix(bare, fence) && strings.Trim(bare, fence[:1]+" \t") == "":
			fence = ""
		}
		blank = fence == "" && strings.TrimSpace(body) == ""
		at += len(l)
	}
	return last
}

// begins tells whether a line after an empty one begins a block of its own.
func begins(l string) bool {
	if l == "" {
		return false
	}
	c := l[0]
	return c != ' ' && c != '\t' && c != '-' && c != '*' && c != '+' && c != '>' && (c < '0' || c > '9')
}

// fenceOf returns the fence that a line opens, "" if none.
func fenceOf(l string) string {
	for _, c := range [...]string{"`", "~"} {
		if n := len(l) - len(strings.TrimLeft(l, c)); n >= 3 && (c == "~" || !strings.Contains(l[n:], "`")) {
			return l[:n]
		}
	}
	return ""
}

// dangling returns how many bytes at the end of a text may still turn into something else altogether: the beginning of a fence,
// of a heading, an item or a row of a table. They wait for their line to end.
func dangling(text string) int {
	begin := strings.LastIndexByte(text, '\n') + 1
	l := text[begin:]
	bare := strings.TrimSpace(l)
	switch {
	case bare == "":
		return 0
	case strings.HasPrefix(bare, "|"), strings.HasPrefix(bare, "```"), strings.HasPrefix(bare, "~~~"):
		return len(l)
	case strings.Trim(bare, "`~#*-+_=>.)0123456789") == "" && len(bare) < 10:
		return len(l)
	}
	return 0
}
