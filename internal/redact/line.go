package redact

import "strings"

// minToken is the length of the shortest token: a prefix of three and a body of ten.
const minToken = 13

// words walks over the words of the line from i on. Words are short as a rule, and most of them end at a place where
// nothing can start; so the walk is one table look-up a byte, and the rest is asked only at the few words that qualify.
func (sc *scanner) words(i int) {
	s := sc.line
	seen := uint16(0)
	for i < len(s) {
		c := s[i]
		if k := class[c]; k&word == 0 {
			seen |= k
			if c >= 0x80 || c == 0x1b {
				i += sc.skip(i)
			} else {
				i++
			}
			continue
		}
		start := i
		for i++; i < len(s) && class[s[i]]&word != 0; i++ {
		}
		if i >= len(s) {
			sc.seen = seen
			sc.lastWord(start)
			return
		}
		next := s[i]
		if i-start >= minToken || next == '.' {
			if end := sc.token(start, i); end > i {
				i = end
				continue
			}
		}
		if class[next]&afterKey != 0 {
			switch last := class[s[i-1]]; {
			case last&keyTail != 0:
				if (next != ' ' || leadsOn(s, start, i)) && endsLikeName(s, start, i) {
					sc.key(start, i)
				}
			case last&digit != 0 && (next == '=' || next == ':' && i-start >= 8):
				sc.key(start, i)
			}
		}
		if next < 0x20 || next >= 0x7f {
			if next == '\r' && i+1 == len(s) {
				sc.bridgeLines(start, i)
			} else if joiner(s, i) > 0 {
				if end := sc.bridge(start, i); end > i {
					i = end
				}
			}
		} else if next == ':' && i+2 < len(s) && s[i+1] == '/' && s[i+2] == '/' {
			sc.url(start, i)
		}
		if s[start] == '-' && i-start == 10 && s[start:i] == "-----BEGIN" {
			sc.pemBegin(start)
		}
	}
	sc.seen = seen
}

// leadsOn says whether the blank after the word s[start:end] may lead to a value: an operator follows, or the word is one
// of those that need none (Bearer v, password v, --token v).
func leadsOn(s string, start, end int) bool {
	if end+1 < len(s) && class[s[end+1]]&(afterKey) != 0 {
		return true
	}
	c := s[start]
	return c == '-' || (end-start == 6 || end-start == 8) && (c|0x20 == 'b' || c|0x20 == 'p')
}

// skip gives the length of what starts at s[i] and is no word: a mark, a colour sequence, or one byte.
func (sc *scanner) skip(i int) int {
	if sc.line[i] == 0xe2 {
		if n := markAt(sc.line, i); n > 0 {
			return n
		}
	}
	return max(1, joiner(sc.line, i))
}

// lastWord deals with the word that ends the line.
func (sc *scanner) lastWord(start int) {
	s := sc.line
	if len(s)-start >= minToken && sc.token(start, len(s)) > 0 {
		return
	}
	if s[start] == '-' && strings.HasSuffix(s, "-----") && s[start:] != "-----BEGIN" {
		return
	}
	sc.bridgeLines(start, len(s))
}

// token looks for a token at the word s[start:end], and just after an escape that glued a letter to it.
func (sc *scanner) token(start, end int) int {
	s := sc.line
	if start == 0 && sc.mid && is(sc.last, word) {
		return 0 // the line was cut within this word
	}
	if end-start < minToken && end-start > 4 && (end-start < 23 || end-start > 32) {
		return 0
	}
	if k, e := matchToken(s, start); e > 0 {
		sc.add(k, start, start, e)
		return e
	}
	if end < len(s) && s[end] == '.' {
		if k, e := matchShaped(s, start); e > 0 {
			sc.add(k, start, start, e)
			return e
		}
	}
	at := start
	switch {
	case s[start] == '-': // a removed line of a diff, a joined option
		for at < end && s[at] == '-' {
			at++
		}
		if start > 0 && at-start != 1 {
			at = start
		}
	case start > 0 && s[start-1] == '\\' && strings.IndexByte("nrtbfve", s[start]) >= 0:
		at = start + 1
	case start > 0 && s[start-1] == '%' && end-start > 2:
		at = start + 2
	case strings.HasPrefix(s[start:end], "bot"):
		at = start + 3
	}
	if at > start && at < end {
		if k, e := matchToken(s, at); e > 0 {
			sc.add(k, at, at, e)
			return e
		}
	}
	return 0
}

// bridge looks through what cuts a token into pieces without being seen. The piece s[start:end] is followed by such a
// joiner.
func (sc *scanner) bridge(start, end int) int {
	if start == 0 && sc.mid && is(sc.last, word) {
		return 0
	}
	reach := look
	if end <= sc.deadEnd { // within pieces that made no token together: only a piece that begins one is worth it
		if !startsToken(sc.line, start) {
			return 0
		}
		reach = 256
	}
	sc.flat, sc.index = sc.flat[:0], sc.index[:0]
	i, pieces := start, 1
	for i < len(sc.line) && i-start < reach {
		sc.work++
		if n := joiner(sc.line, i); n > 0 {
			i += n
			pieces++
			continue
		}
		if !is(sc.line[i], word|dot|equal) {
			break
		}
		sc.flat = append(sc.flat, sc.line[i])
		sc.index = append(sc.index, int32(i))
		i++
	}
	if len(sc.flat) < minToken || len(sc.flat) == end-start {
		return 0
	}
	kind, e := matchToken(string(sc.flat), 0)
	if e == 0 {
		kind, e = matchShaped(string(sc.flat), 0)
	}
	if e > end-start {
		to := int(sc.index[e-1]) + 1
		sc.add(kind, start, start, to)
		return to
	}
	sc.deadEnd = max(sc.deadEnd, i)
	return 0
}

// bridgeLines looks at a token that was broken by the end of the line. It counts only if this line's piece begins with a
// token's prefix and is none by itself, and the next line goes on with token characters and not with "NAME=".
func (sc *scanner) bridgeLines(start, end int) {
	const reach, lines = 512, 3
	i := sc.lineEnd - (len(sc.line) - end)
	if n := lineBreak(sc.text, i); n == 0 || i+n < len(sc.text) && !is(sc.text[i+n], word) {
		return // nothing to go on with, which is so at most line ends
	}
	if start == 0 && sc.mid && is(sc.last, word) || !startsToken(sc.line, start) {
		return
	}
	sc.flat, sc.index = append(sc.flat[:0], sc.line[start:end]...), sc.index[:0]
	t := sc.text
	best := hit{}
	for range lines {
		n := lineBreak(t, i)
		if n == 0 {
			break
		}
		from := i + n
		e := from
		for e < len(t) && e-from < reach && is(t[e], word|dot) {
			e++
		}
		sc.work += e - from
		if e == len(t) && sc.more {
			sc.undecided = start
			return
		}
		if e == from || e < len(t) && (t[e] == '=' || t[e] == ':') {
			break
		}
		sc.flat = append(sc.flat, t[from:e]...)
		if kind, m := matchToken(string(sc.flat), 0); m > 0 {
			u := has(string(sc.flat[:m]))
			if back := len(sc.flat) - m; back < e-from && u&digit != 0 && u&letter != 0 {
				best = hit{kind: kind, ctx: start, start: start, end: len(sc.line) + e - back - sc.lineEnd}
				break // what matches does not swallow the next line
			}
		}
		i = e
	}
	if best.end > 0 {
		next := sc.lineEnd + best.end - len(sc.line)
		if rest := len(t) - next; sc.more && rest <= maxLine && strings.IndexByte(t[next:], '\n') < 0 {
			sc.undecided = start // the piece may not end within a line that is still to come
			return
		}
		sc.hits = append(sc.hits, best)
	}
}

// lineBreak gives the length of the line end at t[i:], or 0.
func lineBreak(t string, i int) int {
	switch {
	case i < len(t) && t[i] == '\n':
		return 1
	case i+1 < len(t) && t[i] == '\r' && t[i+1] == '\n':
		return 2
	}
	return 0
}
