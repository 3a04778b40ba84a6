package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// hasBrace tells whether a word could hold a brace expansion.
func hasBrace(w *syntax.Word) bool {
	for _, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); ok && strings.IndexByte(l.Value, '{') >= 0 {
			return true
		}
	}
	return false
}

// braceDepth returns how deep a word's braces are nested at the most.
func braceDepth(w *syntax.Word) int {
	depth, most := 0, 0
	for _, p := range w.Parts {
		l, ok := p.(*syntax.Lit)
		if !ok {
			continue
		}
		for i := range len(l.Value) {
			switch l.Value[i] {
			case '{':
				depth++
				most = max(most, depth)
			case '}':
				depth = max(0, depth-1)
			}
		}
	}
	return most
}

// braces expands a word's braces. ok is false when there are more results than are followed: the word is then one unknown
// piece.
func braces(w *syntax.Word) (words []*syntax.Word, ok bool) {
	if braceDepth(w) > maxDepth {
		return []*syntax.Word{{Parts: []syntax.WordPart{&syntax.BraceExp{}}}}, false
	}
	copied := *w
	copied.Parts = append([]syntax.WordPart(nil), w.Parts...)
	if !syntax.SplitBraces(&copied) {
		return []*syntax.Word{w}, true
	}
	if n, size := braceCount(copied.Parts); n > maxBraces || n*size > maxValue {
		return []*syntax.Word{{Parts: []syntax.WordPart{&syntax.BraceExp{}}}}, false
	}
	for _, parts := range expandBraces(copied.Parts) {
		words = append(words, &syntax.Word{Parts: parts})
	}
	return words, true
}

// braceCount returns how many words a list of parts expands to, and of how many parts each is at the most.
func braceCount(parts []syntax.WordPart) (n, size int) {
	n = 1
	for _, p := range parts {
		b, is := p.(*syntax.BraceExp)
		if !is || b.Sequence {
			if is {
				n *= 64 // a longer sequence is one unknown piece
			}
			size++
			n = min(n, maxBraces+1)
			continue
		}
		sum, most := 0, 0
		for _, el := range b.Elems {
			c, s := braceCount(el.Parts)
			sum, most = sum+c, max(most, s)
		}
		n, size = min(n*sum, maxBraces+1), size+most
	}
	return n, size
}

// expandBraces returns every combination of a list of parts.
func expandBraces(parts []syntax.WordPart) [][]syntax.WordPart {
	out := [][]syntax.WordPart{nil}
	for _, p := range parts {
		b, is := p.(*syntax.BraceExp)
		if !is {
			for i := range out {
				out[i] = append(out[i], p)
			}
			continue
		}
		var choices [][]syntax.WordPart
		if b.Sequence {
			choices = sequence(b)
		} else {
			for _, el := range b.Elems {
				choices = append(choices, expandBraces(el.Parts)...)
			}
		}
		next := make([][]syntax.WordPart, 0, len(out)*len(choices))
		for _, head := range out {
			for _, c := range choices {
				next = append(next, append(append([]syntax.WordPart(nil), head...), c...))
			}
		}
		out = next
	}
	return out
}

// sequence expands {a..b[..step]}. A long run of numbers becomes one unknown piece: which number it is matters to nobody.
func sequence(b *syntax.BraceExp) [][]syntax.WordPart {
	from, to, step := b.Elems[0].Lit(), b.Elems[1].Lit(), 1
	if len(b.Elems) > 2 {
		step, _ = strconv.Atoi(b.Elems[2].Lit())
		step = max(1, max(step, -step))
	}
	lit := func(s string) []syntax.WordPart { return []syntax.WordPart{&syntax.Lit{Value: s}} }
	lo, err1 := strconv.Atoi(from)
	hi, err2 := strconv.Atoi(to)
	number := err1 == nil && err2 == nil
	if !number {
		if len(from) != 1 || len(to) != 1 {
			return [][]syntax.WordPart{lit("{" + from + ".." + to + "}")}
		}
		lo, hi = int(from[0]), int(to[0])
	}
	if n := max(hi-lo, lo-hi) / step; n >= 64 || n < 0 {
		return [][]syntax.WordPart{{&syntax.BraceExp{}}}
	}
	width := 0
	if number && (strings.HasPrefix(from, "0") && len(from) > 1 || strings.HasPrefix(to, "0") && len(to) > 1) {
		width = max(len(from), len(to))
	}
	var out [][]syntax.WordPart
	add := func(n int) {
		s := string(rune(n))
		if number {
			s = strconv.Itoa(n)
			s = strings.Repeat("0", max(0, width-len(s))) + s
		}
		out = append(out, lit(s))
	}
	if lo <= hi {
		for n := lo; n <= hi; n += step {
			add(n)
		}
	} else {
		for n := lo; n >= hi; n -= step {
			add(n)
		}
	}
	return out
}
