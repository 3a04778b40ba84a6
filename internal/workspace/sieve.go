package workspace

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
)

// sieve is a text that every match of a pattern holds: looking for it is much faster than matching. The zero sieve lets
// everything through.
type sieve struct {
	part []byte
	fold bool // in any case; part is in lower case
}

// newSieve finds the longest such text. Only plain letters are compared in any case, and then only in texts that are ASCII.
func newSieve(pattern *regexp.Regexp) sieve {
	tree, err := syntax.Parse(pattern.String(), syntax.Perl)
	if err != nil {
		return sieve{}
	}
	return literal(tree)
}

func literal(tree *syntax.Regexp) sieve {
	var best sieve
	switch tree.Op {
	case syntax.OpLiteral:
		best = sieve{[]byte(string(tree.Rune)), tree.Flags&syntax.FoldCase != 0}
		if best.fold {
			if !ascii(best.part) {
				return sieve{}
			}
			best.part = bytes.ToLower(best.part)
		}
	case syntax.OpCapture, syntax.OpPlus:
		best = literal(tree.Sub[0])
	case syntax.OpRepeat:
		if tree.Min > 0 {
			best = literal(tree.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range tree.Sub {
			if one := literal(sub); len(one.part) > len(best.part) {
				best = one
			}
		}
	}
	return best
}

func ascii(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// passes tells whether a text may match.
func (s sieve) passes(b []byte) bool {
	if !s.fold {
		return bytes.Contains(b, s.part)
	}
	return !ascii(b) || bytes.Contains(bytes.ToLower(b), s.part)
}
