package approval

import "strings"

// masked returns a command without its secrets, and how spans of the one become spans of the other. A span that cannot be
// followed becomes the whole command.
func (o Options) masked(text string) (shown string, at func(start, end int) (int, int)) {
	shown = o.Redact(text)
	if shown == text {
		return shown, func(start, end int) (int, int) { return start, end }
	}
	type piece struct{ from, to, shown, end int } // [from, to) of the text became [shown, end)
	var pieces []piece
	at1, at2, lost := 0, 0, false
	for _, s := range o.Spans(text) {
		plain := text[at1:s.Start]
		if !strings.HasPrefix(shown[at2:], plain) {
			lost = true
			break
		}
		at2 += len(plain)
		n := strings.Index(shown[at2:], "⟧")
		if n < 0 {
			lost = true
			break
		}
		n += len("⟧")
		pieces = append(pieces, piece{s.Start, s.End, at2, at2 + n})
		at1, at2 = s.End, at2+n
	}
	if lost || shown[at2:] != text[at1:] {
		return shown, func(int, int) (int, int) { return 0, len(shown) }
	}
	move := func(pos int, end bool) int {
		shift := 0
		for _, p := range pieces {
			switch {
			case pos <= p.from:
				return pos + shift
			case pos < p.to && end:
				return p.end
			case pos < p.to:
				return p.shown
			}
			shift = p.end - p.to
		}
		return pos + shift
	}
	return shown, func(start, end int) (int, int) { return move(start, false), move(end, true) }
}
