package taint

import (
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// filler is how many words may stand where a phrase has dots.
const filler = 8

// stem is how a word begins.
type stem struct {
	begin string
	step  uint16
}

// stemKey is the length of three Cyrillic letters.
const stemKey = 6

// step is one word of a phrase, compiled.
type step struct {
	gap   int32 // words that may stand before it, after the step before
	first bool
	last  bool
	id    string
	scope Scope
}

// vocabulary is every phrase, compiled: which steps a word can be.
type vocabulary struct {
	steps    []step
	words    map[string][]uint16                    // later steps of a phrase before earlier ones, so that no word is two steps at once
	stems    map[string][]stem                      // of Cyrillic words, by their first three letters
	any      []uint16                               // steps that every word is
	lengths  [256]uint64                            // by first byte: which lengths words have
	hanFirst [(hanLast - hanBegin + 64) / 64]uint64 // which common ones begin a word
	cyrillic [0x60]byte                             // see twin
	class    [256]byte                              // of bytes of words: letter or other, 0 for what is none
	han      map[rune]int                           // by first character: how long the longest word is, in characters
	triggers map[string]trigger
	orders   map[string]followers // words of hidden orders
}

var vocabularies = sync.OnceValue(compile)

func compile() *vocabulary {
	v := &vocabulary{words: map[string][]uint16{}, stems: map[string][]stem{}, han: map[rune]int{}, triggers: triggers(), orders: compileOrders()}
	v.cyrillic = cyrillicTwins()
	for c := range v.class {
		if 'a' <= c && c <= 'z' {
			v.class[c] = letter
		} else if wordByte(byte(c)) {
			v.class[c] = other
		}
	}
	for p := range table {
		v.phrase(p)
	}
	for word := range v.triggers {
		v.know(word)
	}
	return v
}

// table goes through all phrases.
func table(yield func(*phrase) bool) {
	for _, rows := range [...][]phrase{phrases[:], abroad[:], agentic[:]} {
		for i := range rows {
			if !yield(&rows[i]) {
				return
			}
		}
	}
}

// phrase adds a phrase.
func (v *vocabulary) phrase(p *phrase) {
	first, gap := len(v.steps), int32(0)
	for i, word := range strings.Fields(p.words) {
		if rest, ok := strings.CutPrefix(word, ".."); ok {
			gap = filler
			if n, err := strconv.Atoi(rest); err == nil {
				gap = int32(n)
			}
			continue
		}
		n := uint16(len(v.steps))
		v.steps = append(v.steps, step{gap: gap, first: i == 0, id: p.id, scope: p.scope})
		gap = 0
		for one := range strings.SplitSeq(word, "|") {
			v.word(foldWord(one), n)
		}
	}
	if len(v.steps) > first {
		v.steps[len(v.steps)-1].last = true
	}
}

// word lets a word be a step.
func (v *vocabulary) word(word string, n uint16) {
	if word == "*" {
		v.any = append([]uint16{n}, v.any...)
		return
	}
	if begin, ok := strings.CutSuffix(word, "*"); ok {
		key := begin[:stemKey]
		v.stems[key] = append([]stem{{begin, n}}, v.stems[key]...)
		return
	}
	v.words[word] = append([]uint16{n}, v.words[word]...)
	v.know(word)
}

// know notes that a word is looked for.
func (v *vocabulary) know(word string) {
	v.lengths[word[0]] |= 1 << min(len(word), 63)
	if r, _ := utf8.DecodeRuneInString(word); han(r) {
		v.han[r] = max(v.han[r], utf8.RuneCountInString(word))
		if n := r - hanBegin; n >= 0 && r <= hanLast {
			v.hanFirst[n/64] |= 1 << (n % 64)
		}
	}
}

// The classes of bytes of words.
const letter, other = 1, 2

// scanner looks for phrases and shapes in one pass.
type scanner struct {
	f     *fold
	scope Scope
	found []Finding

	v     *vocabulary
	seen  []mark // by step: where it was last reached
	count int32  // words so far
	odd   bool   // the word has more than letters
	stop  int32  // words before the last end of a sentence
	shape shapes
	buf   [encodedWord]byte
}

// mark is where a step was reached last, and where its phrase began.
type mark struct {
	word  int32 // number of the word; 0: never
	start int
}

func (s *scanner) report(id string, start, end int) {
	start, end = s.f.place(start, end)
	s.found = append(s.found, Finding{ID: id, Start: start, End: end})
}

// run reads the folded text word by word.
func (s *scanner) run() {
	s.v = vocabularies()
	s.seen = make([]mark, len(s.v.steps))
	s.shape.s = s
	text := s.f.text
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\'': // a quotation mark; within words it is an apostrophe
			i++
		case wordByte(c):
			start, mark := i, byte(0)
			for i < len(text) {
				k := s.v.class[text[i]]
				if k == 0 {
					break
				}
				mark |= k
				i++
			}
			s.odd = mark&other != 0
			i = s.wide(start, i)
		case c >= 0x80:
			s.odd = true
			i = s.wide(i, i)
		default:
			switch c {
			case '<':
				s.shape.angle(i)
			case '!':
				s.shape.markdown(i)
				if i+1 < len(text) && parts(c, text[i+1]) {
					s.stop = s.count
				}
			case '[':
				s.shape.role(i)
			case '.', ';', '?', '\n', '"':
				if i+1 < len(text) && parts(c, text[i+1]) {
					s.stop = s.count
				}
			}
			i++
		}
	}
	s.shape.spell()
}

// parts tells whether two bytes end a sentence, a paragraph or a quoted value. Words that stand apart so are one phrase only if
// hardly anything is between them.
func parts(c, next byte) bool {
	switch c {
	case '\n':
		return next == '\n'
	case '"':
		return next == ',' || next == ')' || next == '.'
	}
	return next == ' ' || next == '\n' || next == '"'
}

// wordByte tells the bytes of words in ASCII.
func wordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '\''
}

// wide takes a word that began at start and goes on after end in other scripts, or after a dash. It returns where it ended.
func (s *scanner) wide(start, end int) int {
	text := s.f.text
	for end < len(text) {
		c := text[end]
		switch {
		case wordByte(c):
			s.odd = true
			end++
			continue
		case c == '-' && end > start && end+1 < len(text) && wordByte(text[end+1]) && s.v.lengths[text[start]] != 0:
			// A word with a dash that is looked for is one word; else its parts are words.
			whole := end + 1
			for whole < len(text) && wordByte(text[whole]) {
				whole++
			}
			if s.known(text[start:whole]) {
				end = whole
			}
			s.word(text[start:end], start, end)
			return end
		case c < 0x80:
		default:
			r, size := utf8.DecodeRune(text[end:])
			if han(r) {
				if end > start {
					break
				}
				return s.hanWord(end, r, size)
			}
			if r >= 0x400 && r < 0x500 || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mc, r) {
				end += size
				continue
			}
			if end == start {
				if r == '。' {
					s.stop = s.count
				}
				return end + size
			}
		}
		break
	}
	s.word(text[start:end], start, end)
	return end
}

// The block most characters are of.
const hanBegin, hanLast = 0x4e00, 0x9fff

// han tells characters that are words without blanks between them.
func han(r rune) bool {
	return r >= 0x4e00 && r <= 0x9fff || r >= 0x3400 && r <= 0x4dbf || r >= 0x20000 && r <= 0x323af
}

// hanWord takes the longest known word that begins here, else one character: there are no blanks to go by.
func (s *scanner) hanWord(start int, r rune, size int) int {
	text := s.f.text
	end, best := start+size, start+size
	if n := r - hanBegin; n >= 0 && r <= hanLast && s.v.hanFirst[n/64]&(1<<(n%64)) == 0 {
		s.other(start, end)
		return end
	}
	for n := 1; n < s.v.han[r] && end < len(text); n++ {
		_, more := utf8.DecodeRune(text[end:])
		end += more
		if s.known(text[start:end]) {
			best = end
		}
	}
	s.word(text[start:best], start, best)
	return best
}

func (s *scanner) known(word []byte) bool {
	if s.v.lengths[word[0]]&(1<<min(len(word), 63)) == 0 {
		return false
	}
	if _, ok := s.v.words[string(word)]; ok {
		return true
	}
	_, ok := s.v.triggers[string(word)]
	return ok
}

// other counts a word that need not be known.
func (s *scanner) other(start, end int) {
	s.count++
	for _, n := range s.v.any {
		s.reach(n, start, end)
	}
}

// word counts a word and moves every phrase on that it belongs to.
func (s *scanner) word(word []byte, start, end int) {
	if s.odd {
		for len(word) > 1 && (word[len(word)-1] == '\'' || word[len(word)-1] == '_') {
			word, end = word[:len(word)-1], end-1
		}
		for len(word) > 1 && word[0] == '_' {
			word, start = word[1:], start+1
		}
	}
	s.other(start, end)
	first := word[0]
	switch {
	case len(word) == 1 && first < 0x80:
		s.shape.spelled(first, start, end)
	case len(word) >= encodedWord:
		s.shape.encoded(start, end)
	case first < 0x80 && s.odd:
		if plain := digits(word, s.buf[:0]); plain != nil && s.known(plain) {
			for _, n := range s.v.words[string(plain)] {
				s.reach(n, start, end)
			}
		}
	}
	if s.v.lengths[first]&(1<<min(len(word), 63)) != 0 {
		for _, n := range s.v.words[string(word)] {
			s.reach(n, start, end)
		}
		if t, ok := s.v.triggers[string(word)]; ok && t.scope <= s.scope {
			t.look(&s.shape, start, end)
		}
	}
	if first >= 0x80 && first < 0xe3 {
		if plain := s.v.skeleton(word); plain != nil && s.known(plain) {
			for _, n := range s.v.words[string(plain)] {
				s.reach(n, start, end)
			}
		}
	}
	if first >= 0xd0 && first <= 0xd1 && len(word) >= stemKey {
		for _, one := range s.v.stems[string(word[:stemKey])] {
			if strings.HasPrefix(string(word), one.begin) {
				s.reach(one.step, start, end)
			}
		}
	}
}

// reach notes that a step of a phrase was reached, if the one before it was near.
func (s *scanner) reach(n uint16, start, end int) {
	st := &s.v.steps[n]
	if st.scope > s.scope {
		return
	}
	if !st.first {
		before := s.seen[n-1]
		gap := s.count - before.word - 1
		if before.word == 0 || gap < 0 || gap > st.gap || gap > 1 && before.word <= s.stop {
			return
		}
		start = before.start
	}
	s.seen[n] = mark{s.count, start}
	if st.last {
		s.report(st.id, start, end)
	}
}
