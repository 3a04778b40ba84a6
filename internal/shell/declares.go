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
	return name
}
