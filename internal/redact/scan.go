package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"hash"
	"slices"
	"strings"
)

// Bounds. A line longer than maxLine is looked at in windows that overlap by look; both depend on the text alone, so a
// stream gives the same result whatever its chunks.
const (
	maxLine = 64 << 10
	look    = 4 << 10
)

// hit is a part to be replaced. ctx is where the reason for it begins: the name in front of a value.
type hit struct {
	kind            Kind
	of              string // what the id is made from, when it is not the text itself
	ctx, start, end int
	open            bool // goes on in the next piece of the stream
	cont            bool // goes on from the last piece
}

// scanner looks at one text, or at the pieces of one stream. Not safe for concurrent use.
type scanner struct {
	r    *Redactor
	mode Mode
	text string
	more bool // the text goes on after what we have

	// State from line to line.
	mid      bool // we are inside a line
	last     byte // the byte before this point
	tail     bool // a secret runs on
	pem      pemState
	pemFrom  int
	pemCont  bool // the body began in an earlier piece
	pemOpen  bool // some of the body has been given out as open
	openKind Kind
	login    bool // the last line named a login, so a bare password line belongs to it

	line    string // what is being looked at
	base    int    // where it lies in text
	lineEnd int    // where the line ends in text
	seen    uint16 // classes of what stands between the words of the line
	hits    []hit  // of this line
	out     []hit  // of the whole text, merged

	undecided int // first place whose result depends on text we do not have
	work      int // steps of lookaround, for the test that it stays linear
	valueEnd  int // a value without quotes that was measured ends here
	headerEnd int // the last header ends here
	deadEnd   int // no token was found by bridging before this place in line

	flat  []byte
	index []int32
	open  hash.Hash // of an open hit
}

// scan fills sc.out and gives how much of text is decided. With final, that is all of it.
func (sc *scanner) scan(text string, final bool) int {
	sc.text, sc.more, sc.out = text, !final, sc.out[:0]
	sc.pemFrom, sc.pemCont = 0, sc.pem != pemNone && sc.pemOpen
	pos, reach := 0, 0 // reach: how far a token that crosses a line end goes
	var cross checkpoint
	for pos < len(text) {
		rest := text[pos:]
		limit := min(len(rest), maxLine+1)
		nl := strings.IndexByte(rest[:limit], '\n')
		if nl < 0 && limit > maxLine {
			pos += sc.window(pos)
			continue
		}
		if nl < 0 && !final {
			break
		}
		end, next := len(text), len(text)
		if nl >= 0 {
			end, next = pos+nl, pos+nl+1
		}
		sc.undecided = -1
		before := sc.mark(pos)
		sc.scanLine(pos, text[pos:end])
		if sc.undecided >= 0 && !final {
			sc.back(before) // it is looked at again when more has come
			break
		}
		if n := len(sc.out); n > 0 && sc.out[n-1].end > next {
			if reach <= pos {
				cross = before
			}
			reach = sc.out[n-1].end
		}
		if next > end {
			sc.mid, sc.last = false, '\n'
		}
		pos = next
	}
	if reach > pos { // a token runs into a line that is not decided
		sc.back(cross)
		pos = cross.pos
	}
	return sc.finish(pos, final)
}

// mark remembers the state before the line at pos; back returns to it.
func (sc *scanner) mark(pos int) checkpoint {
	return checkpoint{pos, len(sc.out), sc.pem, sc.pemFrom, sc.pemCont, sc.pemOpen, sc.tail, sc.login, sc.mid, sc.last}
}

func (sc *scanner) back(c checkpoint) {
	sc.out = sc.out[:c.outs]
	sc.pem, sc.pemFrom, sc.pemCont, sc.pemOpen = c.pem, c.pemFrom, c.pemCont, c.pemOpen
	sc.tail, sc.login, sc.mid, sc.last = c.tail, c.login, c.mid, c.last
}

type checkpoint struct {
	pos, outs        int
	pem              pemState
	pemFrom          int
	pemCont, pemOpen bool
	tail, login, mid bool
	last             byte
}

// finish closes or carries what runs over the end of this piece.
func (sc *scanner) finish(pos int, final bool) int {
	if sc.pem == pemNone {
		return pos
	}
	if final {
		sc.closePEM(pos)
		return pos
	}
	if !sc.pemOpen && pos > sc.pemFrom && pos-sc.pemFrom <= maxLine && strings.TrimSpace(sc.text[sc.pemFrom:pos]) == "" {
		return sc.pemFrom // blank lines only: whether they belong to a body is not decided yet
	}
	if pos <= sc.pemFrom {
		return pos // no body yet
	}
	// Keep the newline back: it is the frame's, if this was the last line.
	if sc.text[pos-1] == '\n' {
		pos--
		if pos > sc.pemFrom && sc.text[pos-1] == '\r' {
			pos--
		}
		sc.mid, sc.last = true, 'A'
	}
	if pos > sc.pemFrom {
		sc.emit(hit{kind: kindPrivateKey, ctx: sc.pemFrom, start: sc.pemFrom, end: pos, open: true, cont: sc.pemCont})
		sc.pemOpen = true
	}
	return pos
}

// window looks at the first maxLine bytes of an overlong line and gives how much of it is decided.
func (sc *scanner) window(pos int) int {
	win := sc.text[pos : pos+maxLine]
	sc.undecided = -1
	from := len(sc.out)
	more := sc.more
	sc.more = false
	sc.scanLine(pos, win)
	sc.more, sc.pem = more, pemNone // a key's frame at the very end is beyond the cut
	cut := pos + sc.cutPoint(win)
	for moved := true; moved; {
		moved = false
		for k := from; k < len(sc.out); k++ {
			h := &sc.out[k]
			if h.ctx < cut && h.end > cut {
				cut, moved = h.end, true
			}
		}
	}
	if cut == pos+len(win) {
		if n := len(sc.out); n > from && sc.out[n-1].end == cut {
			sc.out[n-1].open = true
			sc.openKind, sc.tail = sc.out[n-1].kind, true
		}
	}
	keep := from
	for keep < len(sc.out) && sc.out[keep].start < cut {
		keep++
	}
	sc.out = sc.out[:keep]
	sc.mid, sc.last = true, sc.text[cut-1]
	return cut - pos
}

// cutPoint gives a place near the end of win where no word is cut, if there is one.
func (sc *scanner) cutPoint(win string) int {
	at := len(win) - look
	for i := at; i > at-look; i-- {
		if is(win[i-1], space) {
			return i
		}
	}
	for i := at; i > at-look; i-- {
		if is(win[i-1], stop) {
			return i
		}
	}
	for at > len(win)-look-4 && win[at]&0xc0 == 0x80 {
		at--
	}
	return at
}

// scanLine looks at one line, or at a piece of an overlong one, and appends what it found to sc.out.
func (sc *scanner) scanLine(pos int, line string) {
	sc.line, sc.base, sc.lineEnd, sc.hits, sc.deadEnd = line, pos, pos+len(line), sc.hits[:0], 0
	sc.valueEnd, sc.headerEnd = 0, 0
	skip := 0
	if sc.tail {
		skip = sc.tailEnd()
	}
	if sc.pem != pemNone && sc.pemLine() {
		return
	}
	if sc.r.known != nil {
		sc.r.known.find(line, func(k Kind, of string, start, end int) {
			sc.hits = append(sc.hits, hit{kind: k, of: of, ctx: start, start: start, end: end})
		})
		if len(sc.hits) > 0 {
			sc.besideKnown(skip)
			return
		}
	}
	sc.look(skip)
	sc.merge()
}

// look runs the passes of the mode over sc.line.
func (sc *scanner) look(skip int) {
	if sc.mode != Off && len(sc.line) >= 8 {
		sc.words(skip)
		if sc.seen&pairs != 0 || sc.mode == Strict && sc.seen&param != 0 {
			sc.wholeLine()
		}
		t := sc.line[blanks(sc.line, 0):]
		sc.login = strings.HasPrefix(t, "login ") || sc.login && strings.HasPrefix(t, "account ")
	} else {
		sc.login = false
	}
}

// besideKnown puts marks in the place of the known values of this line, looks at the result, and moves what it finds back
// to where it lies in the text. So the second pass over the output sees exactly what the first one saw.
func (sc *scanner) besideKnown(skip int) {
	line := sc.line
	known := joinKnown(append([]hit(nil), sc.hits...))
	var b []byte
	marks := make([]hit, len(known)) // where the marks are in the marked line
	pos := 0
	for i, h := range known {
		b = append(b, line[pos:h.start]...)
		marks[i].start = len(b)
		b = sc.r.appendMark(b, h.kind, sc.r.sum(h.of))
		marks[i].end = len(b)
		pos = h.end
	}
	sc.line = string(append(b, line[pos:]...))
	sc.hits = sc.hits[:0]
	sc.look(min(skip, marks[0].start))
	for i := range sc.hits {
		h := &sc.hits[i]
		h.ctx, h.start, h.end = moveBack(h.ctx, known, marks), moveBack(h.start, known, marks), moveBack(h.end, known, marks)
	}
	sc.hits, sc.line = append(sc.hits, known...), line
	sc.merge()
}

// joinKnown sorts known values and joins those that overlap.
func joinKnown(known []hit) []hit {
	slices.SortStableFunc(known, func(a, b hit) int { return a.start - b.start })
	out := known[:1]
	for _, h := range known[1:] {
		last := &out[len(out)-1]
		if h.start >= last.end {
			out = append(out, h)
			continue
		}
		if h.end-h.start > last.end-last.start {
			last.of = h.of
		}
		last.end = max(last.end, h.end)
	}
	return out
}

// moveBack gives the place in the line of a place in the marked line; within a mark that is the value's start.
func moveBack(at int, known, marks []hit) int {
	shift := 0
	for i := range marks {
		if at <= marks[i].start {
			break
		}
		if at < marks[i].end {
			return known[i].start
		}
		shift = known[i].end - marks[i].end
	}
	return at + shift
}

// tailEnd goes on masking what an overlong line was cut in; it gives where that ends.
func (sc *scanner) tailEnd() int {
	e := 0
	for e < len(sc.line) && sc.line[e] > ' ' && sc.line[e] != '"' && sc.line[e] != '\'' {
		e++
	}
	sc.tail = false
	sc.emit(hit{kind: sc.openKind, start: sc.base, end: sc.base + e, ctx: sc.base, cont: true, open: e == maxLine})
	sc.tail = e == maxLine
	return e
}

func (sc *scanner) add(k Kind, ctx, start, end int) {
	if start < end {
		sc.hits = append(sc.hits, hit{kind: k, ctx: ctx, start: start, end: end})
	}
}

// merge joins what overlaps: the whole is one secret, named by the more telling kind.
func (sc *scanner) merge() {
	if len(sc.hits) == 0 {
		return
	}
	if len(sc.hits) > 1 {
		slices.SortStableFunc(sc.hits, func(a, b hit) int {
			if a.start != b.start {
				return a.start - b.start
			}
			return b.end - a.end
		})
	}
	cur := sc.hits[0]
	for _, h := range sc.hits[1:] {
		if h.start >= cur.end {
			sc.emitLine(cur)
			cur = h
			continue
		}
		if rank(h.kind) > rank(cur.kind) {
			cur.kind = h.kind
		}
		if h.of != "" && h.start == cur.start && h.end == cur.end {
			cur.of = h.of
		} else if h.end-h.start != cur.end-cur.start {
			cur.of = pick(cur, h)
		}
		cur.end, cur.ctx = max(cur.end, h.end), min(cur.ctx, h.ctx)
	}
	sc.emitLine(cur)
}

// pick gives what the id of two overlapping hits is made from: the longer one's source.
func pick(a, b hit) string {
	if b.end-b.start > a.end-a.start {
		return b.of
	}
	return a.of
}

func rank(k Kind) int {
	switch {
	case k == kindKnown:
		return 2
	case k.byPlace():
		return 0
	}
	return 1
}

func (sc *scanner) emitLine(h hit) {
	h.ctx, h.start, h.end = h.ctx+sc.base, h.start+sc.base, h.end+sc.base
	sc.emit(h)
}

func (sc *scanner) emit(h hit) {
	if n := len(sc.out); n > 0 && h.start < sc.out[n-1].end {
		h.start = sc.out[n-1].end // a tail or a bridged token took its beginning
		if h.start >= h.end && !h.cont {
			return
		}
	}
	sc.out = append(sc.out, h)
}

// render appends text with its hits replaced to dst.
func (sc *scanner) render(dst []byte, text string) []byte {
	pos := 0
	dst = slices.Grow(dst, len(text)+len(sc.out)*32)
	for _, h := range sc.out {
		if h.start > len(text) {
			break
		}
		dst = append(dst, text[min(pos, h.start):h.start]...)
		pos = h.end
		if !h.open && !h.cont {
			of := h.of
			if of == "" {
				of = text[h.start:h.end]
			}
			dst = sc.r.appendMark(dst, h.kind, sc.r.sum(of))
			continue
		}
		if sc.open == nil || !h.cont {
			sc.open = hmac.New(sha256.New, sc.r.key)
		}
		sc.open.Write([]byte(text[h.start:h.end]))
		if !h.open {
			dst = sc.r.appendMark(dst, h.kind, sc.open.Sum(nil))
			sc.open = nil
		}
	}
	return append(dst, text[pos:]...)
}
