package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// defined gives the scope the alias and the function of a word that the shell had before the text. What the text itself has made
// of them counts more.
func (e *eval) defined(sc *scope, w Word) {
	if e.opt.Defined == nil || e.place > Root {
		return
	}
	for _, alias := range [...]bool{true, false} {
		key := funcKey(w.Text)
		if alias {
			key = aliasKey(w.Text)
		}
		if sc.lookup(key) != nil {
			continue
		}
		if !e.recalls {
			_, ok := e.opt.Defined(w.Text, alias)
			e.touched = e.touched || ok
			continue
		}
		fn, known := e.kept[key]
		if !known {
			fn = e.recall(w, alias)
			if e.kept == nil {
				e.kept = map[string]*function{}
			}
			e.kept[key] = fn
		}
		if fn != nil {
			sc.put(key, &variable{alts: []value{{fn: fn}}})
		}
	}
}

// recall makes a function of what the shell has under the name of a word.
func (e *eval) recall(w Word, alias bool) *function {
	text, ok := e.opt.Defined(w.Text, alias)
	if !ok {
		return nil
	}
	if !slices.Contains(e.prog.Defined, w.Text) {
		e.prog.Defined = append(e.prog.Defined, w.Text)
	}
	fn := &function{text: text, src: pinned(w.Start, w.End), called: true}
	if alias {
		fn.alias = text
		return fn
	}
	stmts, err := read(text, Bash, func(p *syntax.Parser, r *strings.Reader) ([]*syntax.Stmt, error) {
		f, err := p.Parse(r, "")
		if err != nil {
			return nil, err
		}
		return f.Stmts, nil
	})
	if err == nil {
		for _, s := range stmts {
			if d, ok := s.Cmd.(*syntax.FuncDecl); ok {
				fn.body = d.Body
			}
		}
	}
	if fn.body == nil {
		e.note(DynamicCode, w.Text, -1, w.Start, w.End)
		return nil
	}
	return fn
}

// unfound runs the function that bash runs where there is no such program: whether there is one is not known.
func (e *eval) unfound(sc *scope, c Command, io frameIO) {
	const handler = "command_not_found_handle"
	w := c.Args[0]
	w.Text = handler
	if e.opt.Defined == nil || strings.Contains(c.Args[0].Text, "/") {
		return
	}
	e.defined(sc, w)
	v := sc.lookup(funcKey(handler))
	if v == nil {
		return
	}
	for _, x := range v.alts {
		if x.fn != nil {
			e.callFunction(sc.fork(), x.fn, slices.Concat([]Word{w}, c.Args), io, c.Parent)
		}
	}
}

// aliased notes reserved words that are aliases: then a text is not what it looks like.
func (e *eval) aliased(text string) {
	if e.opt.Defined == nil {
		return
	}
	for _, word := range reserved {
		i := strings.Index(text, word)
		if i < 0 {
			continue
		}
		if _, ok := e.opt.Defined(word, true); ok {
			e.note(DynamicCode, word, -1, i, i+len(word))
			e.prog.Defined = append(e.prog.Defined, word)
		}
	}
}

var reserved = [...]string{
	"!", "[[", "]]", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select", "then", "time",
	"until", "while",
	"export", "readonly", "declare", "typeset", "local", "nameref", "let", // which are read as if they were
}

// tables notes words by which a builtin could set aliases, and where programs are, past what is followed.
func (e *eval) tables(i int, words []Word) {
	for _, w := range words {
		if strings.Contains(w.Text, "BASH_ALIASES") || strings.Contains(w.Text, "BASH_CMDS") {
			e.note(DynamicWord, w.Show(), i, w.Start, w.End)
		}
	}
}

// standsFor is the text that runs in place of a call by an alias. One that ends with a blank has the next word expanded too.
func (e *eval) standsFor(sc *scope, fn *function, args []Word) string {
	if len(args) < 2 || !strings.HasSuffix(fn.alias, " ") && !strings.HasSuffix(fn.alias, "\t") || args[1].Quoted {
		return fn.alias + ` "$@"`
	}
	e.defined(sc, args[1])
	if v := sc.lookup(aliasKey(args[1].Text)); v != nil {
		if next := e.pick(v).fn; next != nil {
			return fn.alias + next.alias + ` "${@:2}"`
		}
	}
	return fn.alias + ` "$@"`
}
