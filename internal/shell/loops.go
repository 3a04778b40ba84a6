package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func (e *eval) whileClause(sc *scope, c *syntax.WhileClause, io frameIO, parent int) fragment {
	var out fragment
	rounds := 2
	if endless(c.Cond, c.Until) && spawns(c.Do) {
		lo, hi := e.span(c)
		e.note(Spawning, "", parent, lo, hi)
	}
	if io.in != nil && io.in.known() && reads(c.Cond) {
		rounds = maxItems // every line is known: follow them all
	}
	first := len(e.prog.Commands)
	for n := range rounds {
		if !e.spend(2+(len(e.prog.Commands)-first)/64) || n > 0 && rounds == maxItems && io.in.pos >= len(io.in.s) {
			break
		}
		b := sc.fork()
		mark := len(e.prog.Commands)
		e.stmts(b, c.Cond, io, parent)
		out = out.join(e.stmts(b, c.Do, io, parent))
		changed := len(b.vars) > 0
		e.steps += 8 + 2*(len(e.prog.Commands)-first) + len(b.vars)
		if rounds == maxItems {
			for name, v := range b.vars {
				sc.set(name, v.alts...)
			}
			continue
		}
		if n == 1 && repeats(e.prog.Commands[first:mark], e.prog.Commands[mark:]) {
			e.prog.Commands = e.prog.Commands[:mark]
			e.dropPayloads(mark)
		}
		sc.merge(b, true)
		if !changed {
			break
		}
	}
	for i := first; i < len(e.prog.Commands); i++ {
		e.prog.Commands[i].Looped = true
	}
	if io.want && out.s != "" && rounds != maxItems {
		return fragment{s: Unknown, holes: []Hole{{Kind: Output}}, from: out.from}
	}
	return out
}

// endless tells whether a loop's condition always holds.
func endless(cond []*syntax.Stmt, until bool) bool {
	if len(cond) != 1 {
		return false
	}
	c, ok := cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return false
	}
	switch c.Args[0].Lit() {
	case "true", ":":
		return !until
	case "false":
		return until
	}
	return false
}

// spawns tells whether a loop's body leaves something running each time and never waits.
func spawns(body []*syntax.Stmt) bool {
	background, waits := false, false
	for _, s := range body {
		background = background || s.Background
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Stmt:
				return !n.Background
			case *syntax.CallExpr:
				if len(n.Args) > 0 {
					switch n.Args[0].Lit() {
					case "wait", "sleep", "break", "exit", "return", "read", "inotifywait":
						waits = true
					}
				}
			}
			return true
		})
	}
	return background && !waits
}

// dropPayloads forgets what belongs to commands from index n on, which have been dropped.
func (e *eval) dropPayloads(n int) {
	e.prog.Payloads = slices.DeleteFunc(e.prog.Payloads, func(p Payload) bool { return p.Command >= n })
	e.prog.Notes = slices.DeleteFunc(e.prog.Notes, func(x Note) bool { return x.Command >= n })
}

// repeats tells whether a second round ran just what the first did.
func repeats(a, b []Command) bool {
	return slices.EqualFunc(a, b, func(x, y Command) bool {
		return x.Dir.Text == y.Dir.Text && slices.EqualFunc(x.Args, y.Args, func(v, w Word) bool { return v.Text == w.Text }) &&
			slices.EqualFunc(x.Redirs, y.Redirs, func(v, w Redir) bool { return v.Target.Text == w.Target.Text })
	})
}

// reads tells whether a loop's condition is a read builtin.
func reads(cond []*syntax.Stmt) bool {
	if len(cond) == 0 {
		return false
	}
	c, ok := cond[len(cond)-1].Cmd.(*syntax.CallExpr)
	return ok && len(c.Args) > 0 && c.Args[0].Lit() == "read" && len(cond[len(cond)-1].Redirs) == 0
}

func (e *eval) forClause(sc *scope, c *syntax.ForClause, io frameIO, parent int) fragment {
	loop, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		return e.cStyle(sc, c, io, parent)
	}
	var items []fragment
	if !loop.InPos.IsValid() {
		args, known := e.arguments(sc)
		items = args
		if !known {
			items = []fragment{hole(Item, "@")}
		}
	} else {
		e.eachChoice(func() {
			for _, w := range e.fields(sc, loop.Items) {
				items = append(items, asItem(w))
			}
		})
	}
	if len(items) == 0 {
		return fragment{}
	}
	if len(items) > maxItems {
		lo, hi := e.span(c)
		e.note(TooMuch, "", parent, lo, hi)
		items = items[:maxItems]
	}
	var out fragment
	first := len(e.prog.Commands)
	sc.set(loop.Name.Value, scalar(items[0]))
	for _, it := range items {
		if !e.spend(2 + (len(e.prog.Commands)-first)/64) {
			break
		}
		sc.set(loop.Name.Value, scalar(it))
		// A body may run for this item or break off before: what it sets stays possible.
		b := sc.fork()
		out = out.join(e.stmts(b, c.Do, io, parent))
		if len(items) == 1 {
			delete(b.vars, loop.Name.Value)
		}
		sc.merge(b, true)
	}
	if len(items) > 1 {
		for i := first; i < len(e.prog.Commands); i++ {
			e.prog.Commands[i].Looped = true
		}
	}
	return out
}

// asItem is the value a loop variable takes from a word: an active glob has become one of the names it matches.
func asItem(w Word) fragment {
	if w.Pattern == "" {
		return fromWord(w)
	}
	return entries(w)
}

// entries turns a glob into text in which each metacharacter is an unknown piece of a name.
func entries(w Word) fragment {
	out := fragment{from: w.From}
	var b strings.Builder
	n := 0
	for i := 0; i < len(w.Pattern); i++ {
		switch c := w.Pattern[i]; c {
		case '\\':
			if i++; i < len(w.Pattern) {
				b.WriteByte(w.Pattern[i])
			}
		case '*', '?':
			b.WriteByte(0)
			out.holes = append(out.holes, Hole{Kind: Entry, Name: string(c), Quoted: true, Set: c == '?'})
		case '[':
			end := strings.IndexByte(w.Pattern[i+1:], ']')
			if end < 0 {
				b.WriteByte(c)
				continue
			}
			b.WriteByte(0)
			out.holes = append(out.holes, Hole{Kind: Entry, Name: w.Pattern[i : i+end+2], Quoted: true, Set: true})
			i += end + 1
		case 0:
			b.WriteByte(0)
			if n < len(w.Holes) {
				out.holes = append(out.holes, w.Holes[n])
				n++
			} else {
				out.holes = append(out.holes, Hole{Kind: Computed})
			}
		default:
			b.WriteByte(c)
		}
	}
	out.s = b.String()
	return out
}

func (e *eval) cStyle(sc *scope, c *syntax.ForClause, io frameIO, parent int) fragment {
	first := len(e.prog.Commands)
	if loop, ok := c.Loop.(*syntax.CStyleLoop); ok {
		if loop.Cond == nil && spawns(c.Do) {
			lo, hi := e.span(c)
			e.note(Spawning, "", parent, lo, hi)
		}
		for _, x := range []syntax.ArithmExpr{loop.Init, loop.Cond, loop.Post} {
			if x == nil {
				continue
			}
			e.arithm(sc, x)
			for _, name := range assigned(x) {
				sc.set(name, scalar(hole(Computed, name)))
			}
		}
	}
	var out fragment
	for range 2 {
		b := sc.fork()
		mark := len(e.prog.Commands)
		out = out.join(e.stmts(b, c.Do, io, parent))
		if mark > first && repeats(e.prog.Commands[first:mark], e.prog.Commands[mark:]) {
			e.prog.Commands = e.prog.Commands[:mark]
			e.dropPayloads(mark)
		}
		sc.merge(b, true)
		if len(b.vars) == 0 {
			break
		}
	}
	for i := first; i < len(e.prog.Commands); i++ {
		e.prog.Commands[i].Looped = true
	}
	if io.want && out.s != "" {
		return fragment{s: Unknown, holes: []Hole{{Kind: Output}}, from: out.from}
	}
	return out
}
