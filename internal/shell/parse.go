package shell

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of one evaluation. A bound hit is a Note, never an error and never silence.
const (
	maxText     = 256 << 10 // bytes of one text
	maxDepth    = 24        // texts inside texts, functions inside functions
	maxNested   = 64        // substitutions inside substitutions
	maxCommands = 30_000    // commands in an answer
	maxSteps    = 200_000   // words, statements and bytes of computed text, roughly
	maxValue    = 16 << 10  // bytes of one computed value
	maxAlts     = 16        // values one variable may have
	maxChoices  = 48        // combinations of such values tried for one command
	maxItems    = 1024      // items a loop is followed through
	maxBraces   = 1024      // words one brace expansion may make
)

// Parse evaluates text and returns every command it could execute. It never fails: what cannot be read is in the Notes.
func Parse(text string, o Options) Program {
	e := &eval{opt: o, prog: Program{Text: text, Commands: make([]Command, 0, 3)}, home: or(o.Home, "~")}
	if len(text) > maxText {
		e.note(TooLong, "", -1, maxText, len(text))
		text = text[:maxText]
	}
	e.aliased(text)
	e.reading(text)
	if e.touched { // once more, as what the definitions make of it
		e = &eval{opt: o, prog: e.prog, home: e.home, recalls: true}
		e.reading(text)
	}
	if len(e.made.files)+len(e.made.copies) > 0 {
		m := e.made // and nothing else of e
		e.prog.made = &m
	}
	return e.prog
}

// reading evaluates a text as a shell and as a person reads it.
func (e *eval) reading(text string) {
	if plain(text) {
		e.top(text, source{})
		return
	}
	e.inspect(text)
	raw, rawMap := withoutNUL(text)
	e.top(raw, source{offsets: rawMap})
	if folded, m := fold(text); folded != raw {
		e.top(folded, source{offsets: m})
	}
}

// A source says where the bytes of a text that is being evaluated stand in the judged text.
type source struct {
	offsets []int32 // for each byte, its offset in the judged text; nil when they are the same but for base
	base    int
	fixed   bool // the text has no bytes of its own there: every position means lo to hi
	lo, hi  int
}

func (s source) span(start, end int) (int, int) {
	if s.fixed {
		return s.lo, s.hi
	}
	return s.at(start), s.at(end)
}

func (s source) at(i int) int {
	i += s.base
	if s.offsets == nil {
		return i
	}
	if i < 0 || i >= len(s.offsets) {
		return int(s.offsets[len(s.offsets)-1])
	}
	return int(s.offsets[i])
}

// within is the source of a text whose bytes stand at offset base of this one.
func (s source) within(base int) source {
	s.base += base
	return s
}

// pinned is the source of a computed text, all of which stands for one span.
func pinned(start, end int) source { return source{fixed: true, lo: start, hi: end} }

var parsers [4]sync.Pool // by Dialect; a parser is costly to make

func variant(d Dialect) syntax.LangVariant {
	switch d {
	case POSIX:
		return syntax.LangPOSIX
	case Mksh:
		return syntax.LangMirBSDKorn
	case Zsh:
		return syntax.LangZsh
	default:
		return syntax.LangBash
	}
}

func parser(d Dialect) *syntax.Parser {
	if p, ok := parsers[d].Get().(*syntax.Parser); ok {
		return p
	}
	return syntax.NewParser(syntax.Variant(variant(d)))
}

// parsed is a syntax tree, and where reading stopped.
type parsed struct {
	stmts []*syntax.Stmt
	rest  int    // offset from which on nothing was read; len(text) when all was
	why   string // what stopped the parser; empty when all was read
}

// parse reads text. A text that is wrong somewhere is read up to there, as a shell would.
func parse(text string, d Dialect) parsed {
	stmts, err := read(text, d, func(p *syntax.Parser, r *strings.Reader) ([]*syntax.Stmt, error) {
		f, err := p.Parse(r, "")
		if err != nil {
			return nil, err
		}
		return f.Stmts, nil
	})
	if err == nil {
		return parsed{stmts: stmts, rest: len(text)}
	}
	if d != Bash {
		// Scripts that call themselves sh often hold a bashism, and the zsh grammar is young: read them as bash too.
		if q := parse(text, Bash); q.why == "" {
			return q
		}
	}
	out := parsed{}
	out.rest, out.why = errorAt(err, len(text))
	_, _ = read(text, d, func(p *syntax.Parser, r *strings.Reader) ([]*syntax.Stmt, error) {
		for s, err := range p.StmtsSeq(r) {
			if err != nil {
				return nil, err
			}
			out.stmts = append(out.stmts, s)
		}
		return nil, nil
	})
	return out
}

// read runs a pooled parser. A parser that panics is a text that cannot be read, and is not used again.
func read(text string, d Dialect, fn func(*syntax.Parser, *strings.Reader) ([]*syntax.Stmt, error)) (stmts []*syntax.Stmt, err error) {
	p := parser(d)
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the parser failed: %v", r)
			return
		}
		parsers[d].Put(p)
	}()
	return fn(p, strings.NewReader(text))
}

func errorAt(err error, size int) (int, string) {
	var pe syntax.ParseError
	var le syntax.LangError
	switch {
	case errors.As(err, &pe):
		return min(int(pe.Pos.Offset()), size), pe.Text
	case errors.As(err, &le):
		return min(int(le.Pos.Offset()), size), le.Error()
	}
	return 0, err.Error()
}

// top evaluates a whole text: the statements that can be read, then what a later event would run.
func (e *eval) top(text string, src source) {
	sc := &scope{start: or(e.opt.Dir, ".")}
	e.dialect = e.opt.Dialect
	e.text(sc, text, src, frameIO{want: false}, -1)
	e.later(sc)
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// text evaluates shell text in a scope and returns what it would print.
func (e *eval) text(sc *scope, text string, src source, io frameIO, parent int) fragment {
	if e.depth >= maxDepth {
		lo, hi := src.span(0, len(text))
		e.note(TooDeep, "", parent, lo, hi)
		return unknownOutput("")
	}
	if len(text) > maxText {
		lo, hi := src.span(0, len(text))
		e.note(TooLong, "", parent, lo, hi)
		text = text[:maxText]
	}
	if !e.spend(1 + len(text)/64) {
		return unknownOutput("")
	}
	if e.dialect == POSIX && bashisms(text) {
		// Which shell "sh" is, is not known: some read this as POSIX does, some as bash does.
		e.dialect = Bash
		e.text(sc.fork(), text, src, io, parent)
		e.dialect = POSIX
	}
	e.depth++
	saved := e.cur
	e.cur = current{text: text, src: src}
	tree := parse(text, e.dialect)
	out := e.stmts(sc, tree.stmts, io, parent)
	if tree.why != "" {
		lo, hi := src.span(tree.rest, len(text))
		e.note(Unparsed, tree.why, parent, lo, hi)
		e.remainder(sc, text, tree.rest, src, io, parent)
		out = unknownOutput("")
	}
	e.cur = saved
	e.depth--
	return out
}

// bashisms tells whether a text holds something that shells called "sh" read differently.
func bashisms(text string) bool {
	for i := 0; i+1 < len(text); i++ {
		switch text[i] {
		case '$':
			if c := text[i+1]; c == '\'' || c == '"' {
				return true
			}
		case '&', '<', '>':
			if c := text[i+1]; c == '(' || text[i] == '&' && c == '>' || text[i] == '<' && c == '<' && strings.HasPrefix(text[i:], "<<<") {
				return true
			}
		case '{':
			if strings.IndexByte(text[i:], ',') > 0 || strings.Contains(text[i:], "..") || strings.IndexByte(text[i:], '/') > 0 {
				return true
			}
		case '(':
			if text[i+1] == '(' {
				return true
			}
		case '[':
			if text[i+1] == '[' {
				return true
			}
		case '|':
			if text[i+1] == '&' {
				return true
			}
		}
	}
	return false
}

// remainder evaluates the lines behind a syntax error that can be read on their own. A real shell stops at the error; our
// parser may be the one that is wrong, and then they run.
func (e *eval) remainder(sc *scope, text string, from int, src source, io frameIO, parent int) {
	for range 256 {
		nl := strings.IndexByte(text[from:], '\n')
		if nl < 0 {
			return
		}
		from += nl + 1
		line, _, _ := strings.Cut(text[from:], "\n")
		if strings.TrimSpace(line) == "" || !e.spend(1) {
			continue
		}
		if tree := parse(line, e.dialect); tree.why == "" {
			saved := e.cur
			e.cur = current{text: line, src: src.within(from)}
			e.stmts(sc.fork(), tree.stmts, io, parent)
			e.cur = saved
		}
	}
}
