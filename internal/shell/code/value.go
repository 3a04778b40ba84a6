package code

import "strings"

type kind uint8

const (
	kAny    kind = iota // some value that is of no use to us
	kStr                // text, unknown pieces as NUL
	kNum                // s is its spelling, n its value
	kList               // list
	kName               // s is the path of a function, module or constant
	kMethod             // s is the name, list[0] the receiver
	kBool               // s is "true" or "false"
	kDict               // an object literal: a and b enclose it
)

// value is what the evaluator knows of an expression.
type value struct {
	k    kind
	wild bool   // taken from an object by a key that is not known
	code bool   // a function written out in the text
	set  bool   // it was just given a name
	s    string // see kind
	n    int
	list []value
	name string // the variable it was read from, for assignment
	kw   string // the parameter it was passed as
	a, b int
}

func (v value) at(a, b int) value {
	v.a, v.b = a, b
	return v
}

func (v value) str() (string, bool) {
	return v.s, v.k == kStr
}

// known reports whether v is a string without unknown pieces.
func (v value) known() bool { return v.k == kStr && strings.IndexByte(v.s, 0) < 0 }

func text(t string) value {
	if len(t) > maxString {
		return value{}
	}
	return value{k: kStr, s: t}
}

// piece is v as part of a longer string.
func piece(v value) string {
	if v.k == kStr || v.k == kNum {
		return v.s
	}
	return unknown
}

// concat joins two values as strings.
func concat(x, y value) value {
	if x.k != kStr && y.k != kStr {
		return value{a: x.a, b: y.b}
	}
	l, r := piece(x), piece(y)
	if strings.HasSuffix(l, unknown) && r == unknown {
		r = ""
	}
	return text(l+r).at(x.a, y.b)
}
