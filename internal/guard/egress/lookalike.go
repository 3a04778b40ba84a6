package egress

import (
	"strings"
	"unicode"
)

// scripts that names are written in. What is in none of them counts as one more.
func scripts() []*unicode.RangeTable {
	return []*unicode.RangeTable{
		unicode.Latin, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Hangul,
		unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
		unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Thai, unicode.Lao, unicode.Tibetan, unicode.Myanmar,
		unicode.Georgian, unicode.Ethiopic, unicode.Cherokee, unicode.Canadian_Aboriginal, unicode.Khmer, unicode.Mongolian,
		unicode.Coptic, unicode.Lisu, unicode.Deseret, unicode.Tifinagh, unicode.Osage, unicode.Osmanya, unicode.Vai, unicode.Yi,
	}
}

// The first ones, which may stand together.
const (
	latin uint64 = 1 << iota
	han
	hiragana
	katakana
	bopomofo
	hangul
)

const otherScript uint64 = 1 << 63

// scriptOf returns the bit of a character's script, 0 for what belongs to all.
func scriptOf(tables []*unicode.RangeTable, r rune) uint64 {
	if r < 0x80 {
		if 'a' <= r && r <= 'z' {
			return latin
		}
		return 0
	}
	for i, t := range tables {
		if unicode.Is(t, r) {
			return 1 << i
		}
	}
	if unicode.Is(unicode.Common, r) || unicode.Is(unicode.Inherited, r) {
		return 0
	}
	return otherScript
}

// together tells whether the scripts of one label are written together: one script, or Latin with what Chinese, Japanese or
// Korean is written in ("highly restrictive", Unicode TS 39).
func together(set uint64) bool {
	for _, allowed := range [...]uint64{latin | han | hiragana | katakana, latin | han | bopomofo, latin | han | hangul} {
		if set&^allowed == 0 {
			return true
		}
	}
	return set&(set-1) == 0
}

// lookalike refuses a name that passes for another one. folded is what it is looked up as.
func lookalike(shown, folded string) *Error {
	if !strings.Contains(folded, "xn--") {
		return nil // ASCII looks like itself
	}
	text, err := profile().ToUnicode(folded)
	if err != nil {
		return refuse("host/name", shown, "is no name that can be looked up (IDNA)")
	}
	tables := scripts()
	labels := strings.Split(text, ".")
	top := labels[len(labels)-1]
	skeleton := make([]string, len(labels))
	var cause string
	for i, label := range labels {
		skeleton[i] = skeletonOf(label)
		if cause == "" {
			cause = labelCause(tables, label, top)
		}
	}
	if cause == "" {
		return nil
	}
	e := refuse("host/lookalike", shown, cause+": it is "+folded)
	if like := strings.Join(skeleton, "."); like != text {
		e.Cause += " and reads as " + like
	}
	e.Remedy = "if you mean " + folded + ", that name has to be reached by hand"
	return e
}

// labelCause says how one label deceives, "" if it does not.
func labelCause(tables []*unicode.RangeTable, label, top string) string {
	var set uint64
	var asciiDigit, otherDigit, ascii bool
	runes := []rune(label)
	for i, r := range runes {
		set |= scriptOf(tables, r)
		asciiDigit = asciiDigit || '0' <= r && r <= '9'
		otherDigit = otherDigit || r > 0x7f && unicode.Is(unicode.Nd, r)
		ascii = ascii || 'a' <= r && r <= 'z'
		switch {
		case passesForPunctuation(r):
			return "has a character that passes for punctuation of a URL"
		case strokes(r) && !japanese(tables, runes, i):
			return "has a letter of Japanese that passes for a slash or a dash"
		}
	}
	switch {
	case !together(set):
		return "mixes scripts in one word"
	case otherDigit && (asciiDigit || ascii):
		return "mixes digits of two scripts"
	case imitates(label) && (set == latin || !sameScript(tables, top, set)):
		return "is written with letters of another script that look Latin"
	}
	return ""
}

// imitates tells whether a label has no letter of its own: all it shows are ASCII characters, and it is not ASCII.
func imitates(label string) bool {
	foreign := false
	for _, r := range label {
		if r < 0x80 {
			continue
		}
		if twin(r) == 0 {
			return false
		}
		foreign = true
	}
	return foreign
}

func skeletonOf(label string) string {
	return strings.Map(func(r rune) rune {
		if t := twin(r); r >= 0x80 && t != 0 {
			return t
		}
		return r
	}, label)
}

// sameScript tells whether a top-level domain is written in the script of the label, where such names are at home.
func sameScript(tables []*unicode.RangeTable, top string, set uint64) bool {
	var own uint64
	for _, r := range top {
		own |= scriptOf(tables, r)
	}
	return own != 0 && own&^set == 0
}

// strokes are the letters of Japanese that look like a slash or a dash where no other letter of Japanese stands beside them.
func strokes(r rune) bool { return strings.ContainsRune("ノンソゾ丿ー一", r) }

// japanese tells whether the first letter beside strokes, on either side, is one of Japanese.
func japanese(tables []*unicode.RangeTable, runes []rune, i int) bool {
	for _, way := range [...]int{-1, 1} {
		n := i + way
		for n >= 0 && n < len(runes) && strokes(runes[n]) {
			n += way
		}
		if n >= 0 && n < len(runes) && scriptOf(tables, runes[n])&(han|hiragana|katakana) != 0 {
			return true
		}
	}
	return false
}

// passesForPunctuation tells whether a character that names may hold looks like one that ends a host in a URL.
func passesForPunctuation(r rune) bool {
	return strings.ContainsRune("⁄∕⟋⧸╱∖⟍⧹╲⧵∶ː˸꞉։׃܃܄᛬᠃⁚ꓽ․ꓸ܁܂꘎ꞏ᎐‚ʔɁꛫ♯⌗‐‑‒–—―−⁃⎯⸺", r)
}
