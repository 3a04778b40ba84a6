package shell

import (
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// arithm evaluates an arithmetic expression for its value and its assignments.
func (e *eval) arithm(sc *scope, x syntax.ArithmExpr) fragment {
	if x == nil {
		return fragment{}
	}
	if n, ok := e.number(sc, x); ok {
		return known(strconv.Itoa(n))
	}
	e.substitutions(sc, x)
	syntax.Walk(x, func(n syntax.Node) bool {
		// A variable's value is an expression of its own.
		if w, ok := n.(*syntax.Word); ok && syntax.ValidName(w.Lit()) {
			if v := sc.lookup(w.Lit()); v != nil {
				e.subscript(sc, e.pick(v).fragment())
			}
		}
		return true
	})
	for _, name := range assigned(x) {
		sc.set(name, scalar(hole(Computed, name)))
	}
	f := hole(Computed, "")
	f.holes[0].Set = true
	return f
}

// assigned lists the variables an arithmetic expression assigns to.
func assigned(x syntax.ArithmExpr) (names []string) {
	syntax.Walk(x, func(n syntax.Node) bool {
		var target syntax.ArithmExpr
		switch n := n.(type) {
		case *syntax.BinaryArithm:
			switch n.Op {
			case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn,
				syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn:
				target = n.X
			}
		case *syntax.UnaryArithm:
			if n.Op == syntax.Inc || n.Op == syntax.Dec {
				target = n.X
			}
		}
		if w, ok := target.(*syntax.Word); ok && syntax.ValidName(w.Lit()) {
			names = append(names, w.Lit())
		}
		return true
	})
	return names
}

// number evaluates an expression of known integers. Assignments are left to the caller.
func (e *eval) number(sc *scope, x syntax.ArithmExpr) (int, bool) {
	e.steps++
	switch x := x.(type) {
	case *syntax.Word:
		lit := x.Lit()
		if n, err := strconv.ParseInt(lit, 0, 64); err == nil {
			return int(n), true
		}
		f := fragment{}
		if syntax.ValidName(lit) {
			v := e.variable(sc, lit)
			if v == nil {
				return 0, false
			}
			f = e.pick(v).fragment()
		} else {
			for _, p := range x.Parts {
				if _, ok := p.(*syntax.CmdSubst); ok {
					return 0, false // evaluated once, by arithm
				}
			}
			w := e.one(sc, x)
			f = fromWord(w)
		}
		if !f.known() {
			return 0, false
		}
		n, err := strconv.ParseInt(f.s, 0, 64)
		return int(n), err == nil
	case *syntax.ParenArithm:
		return e.number(sc, x.X)
	case *syntax.UnaryArithm:
		n, ok := e.number(sc, x.X)
		switch {
		case !ok:
		case x.Op == syntax.Minus:
			return -n, true
		case x.Op == syntax.Plus:
			return n, true
		case x.Op == syntax.BitNegation:
			return ^n, true
		}
		return 0, false
	case *syntax.BinaryArithm:
		a, ok1 := e.number(sc, x.X)
		b, ok2 := e.number(sc, x.Y)
		if !ok1 || !ok2 {
			return 0, false
		}
		switch x.Op {
		case syntax.Add:
			return a + b, true
		case syntax.Sub:
			return a - b, true
		case syntax.Mul:
			return a * b, true
		case syntax.Quo:
			if b != 0 {
				return a / b, true
			}
		case syntax.Rem:
			if b != 0 {
				return a % b, true
			}
		case syntax.Shl:
			if b >= 0 && b < 63 {
				return a << b, true
			}
		case syntax.Shr:
			if b >= 0 && b < 63 {
				return a >> b, true
			}
		case syntax.Or:
			return a | b, true
		case syntax.And:
			return a & b, true
		case syntax.Xor:
			return a ^ b, true
		}
	}
	return 0, false
}
