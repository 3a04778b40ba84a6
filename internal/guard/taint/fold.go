package taint

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// invisible begins the ids of characters that are not shown.
const invisible = "invisible_unicode_"

// fold is a text as it is matched: lower case, plain letters, nothing invisible.
type fold struct {
	from     string // the text itself
	text     []byte
	at       []int32   // for each byte of text, where it came from; nil: the same place
	findings []Finding // about characters
	hidden   []passage // texts that were hidden in characters
}

// passage is a decoded text and the place it was hidden in.
type passage struct {
	text       string
	start, end int
	scope      Scope
}

// place translates a span of the folded text.
func (f *fold) place(start, end int) (int, int) {
	if f.at == nil {
		return start, end
	}
	last := int(f.at[end-1])
	_, size := utf8.DecodeRuneInString(f.from[last:])
	return int(f.at[start]), last + size
}

// folded folds a text. Text in plain ASCII is only brought to lower case.
func folded(text string) *fold {
	f := &fold{from: text, text: make([]byte, len(text))}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= 0x80 || unprinted(c) {
			return foldRunes(text)
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		f.text[i] = c
	}
	return f
}

// foldRunes folds a text that is not plain.
func foldRunes(text string) *fold {
	f := &fold{from: text, text: make([]byte, 0, len(text)), at: make([]int32, 0, len(text))}
	look := looker{text: text, fold: f}
	mixed := mixture{}
	for i := 0; i < len(text); {
		if unprinted(text[i]) {
			i += sequence(text[i:])
			continue
		}
		if text[i] < 0x80 {
			end := i + 1
			for end < len(text) && text[end] < 0x80 && !unprinted(text[end]) {
				end++
			}
			f.plain(text[i:end], i, &mixed)
			i = end
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case han(r):
			end := i + size
			for end < len(text) {
				if r, size = utf8.DecodeRuneInString(text[end:]); !han(r) {
					break
				}
				end += size
			}
			f.copy(text[i:end], i)
			mixed.others = true
			i = end
			continue
		case r >= 0x400 && r <= 0x45f:
			f.cyrillic(r, i)
			mixed.others = true
		case ignorable(r):
			i += look.at(i, r, size)
			continue
		case unicode.In(r, unicode.Mn, unicode.Me): // marks on letters are not what words are told by
		default:
			f.rune(r, i)
			mixed.others = true
		}
		i += size
	}
	mixed.end(f)
	look.lines()
	return f
}

func (f *fold) add(c byte, at int) {
	f.text = append(f.text, c)
	f.at = append(f.at, int32(at))
}

// copy adds characters as they are.
func (f *fold) copy(s string, at int) {
	f.text = append(f.text, s...)
	from := len(f.at)
	f.at = slices.Grow(f.at, len(s))[:from+len(s)]
	start := 0 // of the character
	for i := range s {
		for ; start < i; start++ {
			f.at[from+start] = f.at[from+max(start-1, 0)]
		}
		f.at[from+i] = int32(at + i)
		start = i + 1
	}
	for ; start < len(s); start++ {
		f.at[from+start] = f.at[from+start-1]
	}
}

// cyrillic adds a letter of the Cyrillic block, in lower case and without marks.
func (f *fold) cyrillic(r rune, at int) {
	switch {
	case r < 0x410:
		r += 0x50
	case r < 0x430:
		r += 0x20
	}
	switch r {
	case 'ё':
		r = 'е'
	case 'й':
		r = 'и'
	}
	f.text = append(f.text, 0xc0|byte(r>>6), 0x80|byte(r&0x3f))
	f.at = append(f.at, int32(at), int32(at))
}

// rune adds a character in its plain form.
func (f *fold) rune(r rune, at int) {
	switch {
	case r == '‘' || r == '’':
		r = '\''
	case r == '“' || r == '”' || r == '„':
		r = '"'
	case r >= 0x2010 && r <= 0x2015:
		r = '-'
	case han(r):
	case r >= 0x400 && r <= 0x45f:
		f.cyrillic(r, at)
		return
	case r > 0x3000 && r < 0x3036: // punctuation of Chinese and Japanese
	case r >= 0xff01 && r <= 0xff5e: // ASCII in full width
		if r -= 0xfee0; r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		f.add(byte(r), at)
		return
	default:
		for _, plain := range norm.NFKD.String(string(r)) {
			if !unicode.In(plain, unicode.Mn, unicode.Me) {
				f.letters(unicode.ToLower(plain), at)
			}
		}
		return
	}
	f.letters(r, at)
}

func (f *fold) letters(r rune, at int) {
	size := len(f.text)
	f.text = utf8.AppendRune(f.text, r)
	for range len(f.text) - size {
		f.at = append(f.at, int32(at))
	}
}

// mixture finds words that mix Latin with letters that pass for it, and makes them Latin.
type mixture struct {
	start  int // of the word in the folded text
	latin  bool
	others bool
}

// plain adds a run of ASCII, in which words end.
func (f *fold) plain(run string, at int, m *mixture) {
	if m.others {
		// The word before goes on until something that is no part of words.
		n := 0
		for n < len(run) && joins(run[n]) {
			m.latin = m.latin || run[n] > '9'
			n++
		}
		f.lower(run[:n], at)
		if n == len(run) {
			return
		}
		m.end(f)
		run, at = run[n:], at+n
	}
	f.lower(run, at)
	n := len(run)
	for n > 0 && joins(run[n-1]) {
		n--
		m.latin = m.latin || run[n] > '9'
	}
	if n > 0 {
		m.latin = false
		for _, c := range []byte(run[n:]) {
			m.latin = m.latin || c > '9'
		}
		m.start = len(f.text) - (len(run) - n)
	}
}

// joins tells the ASCII letters and digits.
func joins(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' }

// lower adds ASCII in lower case.
func (f *fold) lower(run string, at int) {
	from := len(f.text)
	f.text = append(f.text, run...)
	for i, c := range f.text[from:] {
		if 'A' <= c && c <= 'Z' {
			f.text[from+i] = c + 'a' - 'A'
		}
	}
	f.at = slices.Grow(f.at, len(run))[:from+len(run)]
	for i := range f.at[from:] {
		f.at[from+i] = int32(at + i)
	}
}

// end looks at the word that ended.
func (m *mixture) end(f *fold) {
	if word := f.text[m.start:]; m.others && m.latin {
		out, at := make([]byte, 0, len(word)), make([]int32, 0, len(word))
		for i := 0; i < len(word); {
			r, size := utf8.DecodeRune(word[i:])
			if twin := alike(r); twin != 0 {
				out, at = append(out, twin), append(at, f.at[m.start+i])
			} else {
				out = append(out, word[i:i+size]...)
				at = append(at, f.at[m.start+i:m.start+i+size]...)
			}
			i += size
		}
		f.text, f.at = append(f.text[:m.start], out...), append(f.at[:m.start], at...)
	}
	*m = mixture{start: len(f.text)}
}

// skeleton returns a word of another script as the Latin word it passes for, nil if it has a letter that passes for none.
// Letters that are merely alike do not count here: Russian words are made of them.
func (v *vocabulary) skeleton(word []byte) []byte {
	for i := 0; i < len(word); { // most words have such a letter, soon
		r, size := utf8.DecodeRune(word[i:])
		if v.twin(r) == 0 {
			return nil
		}
		i += size
	}
	out := make([]byte, 0, len(word))
	for i := 0; i < len(word); {
		r, size := utf8.DecodeRune(word[i:])
		out = append(out, v.twin(r))
		i += size
	}
	return out
}

// twin returns the letter that a character passes for without being merely alike.
func (v *vocabulary) twin(r rune) byte {
	if n := r - cyrillicFirst; n >= 0 && n < int32(len(v.cyrillic)) {
		return v.cyrillic[n]
	}
	if strings.ContainsRune(merelyAlike, r) {
		return 0
	}
	return alike(r)
}

const (
	merelyAlike   = "вьткмнпцшгη"
	cyrillicFirst = 0x400
)

// cyrillicTwins is alike for the letters of Russian, which are looked up often.
func cyrillicTwins() (out [0x60]byte) {
	for i := range out {
		if r := rune(cyrillicFirst + i); !strings.ContainsRune(merelyAlike, r) {
			out[i] = alike(r)
		}
	}
	return out
}

// foldWord folds one word of the table.
func foldWord(word string) string {
	f := &fold{}
	for _, r := range word {
		if r < 0x80 {
			f.add(byte(r), 0)
		} else {
			f.rune(r, 0)
		}
	}
	return string(f.text)
}

// likenesses are letters that pass for an ASCII one where the rest of a word is Latin.
const likenesses = "a:аɑαᴀ b:ьвɓʙβ c:сϲᴄⲥ d:ԁᴅ e:еєҽɛᴇ f:ғƒꜰ g:ɡցᶃ h:һհнʜ i:іιɪїı j:јϳᴊ k:кκᴋ l:ӏʟⵏ m:мᴍ n:ոռпɴη o:оοօᴏσө p:рρᴘ q:ԛզ r:гᴦʀ s:ѕꜱ " +
	"t:тτᴛ u:υսᴜц v:ѵνᴠ w:ԝѡᴡшω x:хχ× y:уүγʏ z:ᴢ"

// alike returns the ASCII letter a character passes for, 0 if it passes for none.
func alike(r rune) byte {
	if r < 0x80 {
		return byte(r)
	}
	if r == ' ' || r == ':' {
		return 0
	}
	at := strings.IndexRune(likenesses, r)
	if at < 0 {
		return 0
	}
	return likenesses[strings.LastIndexByte(likenesses[:at], ':')-1]
}

// unprinted tells the controls that no text has: neither blanks nor ends of lines.
func unprinted(c byte) bool { return c < 0x20 && (c < '\t' || c > '\r') || c == 0x7f }

// sequence returns how long what begins with a control is: a terminal takes what follows an escape as an order.
func sequence(text string) int {
	if len(text) < 2 || text[0] != 0x1b {
		return 1
	}
	switch text[1] {
	case '[':
		i := 2
		for i < len(text) && text[i] >= 0x20 && text[i] < 0x40 {
			i++
		}
		if i < len(text) && text[i] >= 0x40 && text[i] < 0x7f {
			i++
		}
		return i
	case ']', 'P', '^', '_', 'X':
		if k := strings.IndexAny(text[2:min(len(text), lineReach)], "\a\x1b\n"); k >= 0 && text[2+k] != '\n' {
			return 2 + k + 1
		}
	}
	return 1
}

// ignorable tells whether a character is not shown.
func ignorable(r rune) bool {
	switch {
	case r >= 0x80 && r < 0xa0, r >= 0x1bca0 && r <= 0x1bca3, r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0xfeff, r == 0xad, r == 0x34f, r == 0x61c,
		r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r >= 0x180b && r <= 0x180f, r == 0x3164, r == 0xffa0,
		r >= 0xfe00 && r <= 0xfe0f, r >= 0xfff0 && r <= 0xfffb, r >= 0x1d173 && r <= 0x1d17a, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

// looker judges characters that are not shown, by what stands around them.
type looker struct {
	text string
	fold *fold
	bidi []int // where controls stand that set a direction

	unseen []passage // what Reveal marks; the text is not set
}

// ordered returns what is not seen in order of place.
func (l *looker) ordered() []passage {
	slices.SortStableFunc(l.unseen, func(a, b passage) int { return a.start - b.start })
	return l.unseen
}

// pointName is how a character that is not shown is called.
func pointName(r rune) string { return fmt.Sprintf("U+%04X", r) }

func (l *looker) find(r rune, start, end int) {
	l.fold.findings = append(l.fold.findings, Finding{ID: invisible + pointName(r), Start: start, End: end})
	l.unseen = append(l.unseen, passage{start: start, end: end})
}

// at judges the character at i, with those of its kind that follow, and returns how many bytes that were.
func (l *looker) at(i int, r rune, size int) int {
	end := i + size
	switch {
	case r >= 0xe0000 && r <= 0xe007f:
		end = l.run(i, func(r rune) bool { return r >= 0xe0000 && r <= 0xe007f })
		l.tags(i, end)
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef:
		end = l.run(i, func(r rune) bool { return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef })
		l.selectors(i, end, r)
	case zeroWidth(r) && l.run(i, zeroWidth)-i >= payload*3: // a row of them carries bits
		end = l.run(i, zeroWidth)
		l.find(r, i, end)
	case r == 0x200c || r == 0x200d:
		if asciiLetter(l.before(i)) && asciiLetter(l.after(end)) {
			l.find(r, i, end)
		}
	case r == 0xfeff && (i == 0 || l.text[i-1] == '\n'): // a byte order mark, also of a file behind another
	case r == 0x200b, r == 0x2060, r >= 0x2061 && r <= 0x2064, r == 0xfeff:
		if asciiLetter(l.before(i)) || asciiLetter(l.after(end)) {
			l.find(r, i, end)
		}
	case r == 0x200e, r == 0x200f, r == 0x61c:
		if asciiLetter(l.before(i)) && asciiLetter(l.after(end)) {
			l.find(r, i, end)
		}
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		l.bidi = append(l.bidi, i)
	default:
		end = l.run(i, func(r rune) bool {
			return r == 0xad || r == 0x34f || r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0 || r == 0x180e
		})
		if end-i >= 3*size && size > 0 || r >= 0xfff9 && r <= 0xfffb {
			l.find(r, i, max(end, i+size))
		}
		end = max(end, i+size)
	}
	return end - i
}

// payload is how many characters without width in a row are no accident. Each takes three bytes.
const payload = 4

func zeroWidth(r rune) bool {
	return r >= 0x200b && r <= 0x200d || r >= 0x2060 && r <= 0x2064 || r == 0xfeff
}

// run returns where the characters of a kind that begin at i end.
func (l *looker) run(i int, is func(rune) bool) int {
	for i < len(l.text) {
		r, size := utf8.DecodeRuneInString(l.text[i:])
		if !is(r) {
			break
		}
		i += size
	}
	return i
}

func (l *looker) before(i int) rune {
	r, _ := utf8.DecodeLastRuneInString(l.text[:i])
	return r
}

func (l *looker) after(i int) rune {
	r, _ := utf8.DecodeRuneInString(l.text[i:])
	return r
}

func asciiLetter(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_'
}

// blackFlag begins the flags of regions, which are spelled with tags.
const blackFlag = 0x1f3f4

// tags judges tag characters: the flags of England, Scotland and Wales have them, other text hides text in them.
func (l *looker) tags(start, end int) {
	var b strings.Builder
	closed := false
	for _, r := range l.text[start:end] {
		closed = r == 0xe007f
		if r >= 0xe0020 && r < 0xe007f {
			b.WriteByte(byte(r - 0xe0000))
		}
	}
	hidden := b.String()
	if l.before(start) == blackFlag && closed && len(hidden) <= 6 {
		return
	}
	first, _ := utf8.DecodeRuneInString(l.text[start:])
	l.find(first, start, end)
	l.fold.hidden = append(l.fold.hidden, passage{hidden, start, end, Strict})
}

// selectors judges variation selectors: one belongs to the character before it, a row of them carries bytes.
func (l *looker) selectors(start, end int, first rune) {
	var data []byte
	for _, r := range l.text[start:end] {
		if r <= 0xfe0f {
			data = append(data, byte(r-0xfe00))
		} else {
			data = append(data, byte(r-0xe0100+16))
		}
	}
	if len(data) < 2 {
		return
	}
	l.find(first, start, end)
	if utf8.Valid(data) {
		l.fold.hidden = append(l.fold.hidden, passage{string(data), start, end, Strict})
	}
}

// lines judges the controls that set a direction, line by line: those that are not ended where they began, and those that
// turn the order of letters around, which is how code is made to look like other code.
func (l *looker) lines() {
	for n := 0; n < len(l.bidi); {
		start := l.bidi[n]
		end := len(l.text)
		if k := strings.IndexByte(l.text[start:], '\n'); k >= 0 {
			end = start + k
		}
		var depth []rune
		bad, line := false, n
		letters := sync.OnceValue(func() bool { return strings.ContainsFunc(l.text[start:end], asciiLetter) })
		first, _ := utf8.DecodeRuneInString(l.text[start:])
		for ; n < len(l.bidi) && l.bidi[n] < end; n++ {
			r, _ := utf8.DecodeRuneInString(l.text[l.bidi[n]:])
			switch {
			case r == 0x202d || r == 0x202e:
				bad = bad || letters()
				depth = append(depth, 0x202c)
			case r == 0x202a || r == 0x202b:
				depth = append(depth, 0x202c)
			case r >= 0x2066 && r <= 0x2068:
				depth = append(depth, 0x2069)
			case len(depth) > 0 && depth[len(depth)-1] == r:
				depth = depth[:len(depth)-1]
			default:
				bad = true
			}
		}
		if bad || len(depth) > 0 {
			l.find(first, start, start+utf8.RuneLen(first))
			for _, at := range l.bidi[line+1 : n] {
				l.unseen = append(l.unseen, passage{start: at, end: at + 3})
			}
		}
	}
}
