package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Declares returns the name of the function that a text declares as "declare -f" writes it, "" where the text is anything more or
// anything else. To run such a text runs nothing of what stands in it.
func Declares(text string) string {
	name, _, ok := strings.Cut(text, " () ")
	if !ok || len(text) > maxText || strings.IndexByte(text, 0) >= 0 || strings.ContainsAny(name, "\n;&|<>()$`'\"\\ ") {
		return ""
	}
	stmts, err := read(text, Bash, func(p *syntax.Parser, r *strings.Reader) ([]*syntax.Stmt, error) {
		f, err := p.Parse(r, "")
		if err != nil {
			return nil, err
		}
		return f.Stmts, nil
	})
	if err != nil || len(stmts) != 1 {
		return ""
	}
	s := stmts[0]
	d, ok := s.Cmd.(*syntax.FuncDecl)
	if !ok || s.Background || s.Coprocess || s.Disown || s.Negated || d.Name == nil || d.Name.Value != name {
		return ""
	}
	if _, block := d.Body.Cmd.(*syntax.Block); !block || d.Body.Background || d.Body.Negated {
		return ""
	}
	sure := true
	syntax.Walk(d.Body, func(n syntax.Node) bool {
		if r, ok := n.(*syntax.Redirect); ok && r.Hdoc != nil && !plainEnd(r.Word) {
			sure = false
		}
		return sure
	})
	if !sure {
		return ""
	}
	return name
}

// plainEnd tells whether every shell takes the same word for the end of a here-document.
func plainEnd(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	text := ""
	switch p := w.Parts[0].(type) {
	case *syntax.Lit:
		text = p.Value
	case *syntax.SglQuoted:
		if text = p.Value; p.Dollar {
			return false
		}
	case *syntax.DblQuoted:
		if text = (&syntax.Word{Parts: p.Parts}).Lit(); p.Dollar {
			return false
		}
	}
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}
