package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// prompts remembers the code in variables that a shell runs each time it shows a prompt.
func (e *eval) prompts(assigns []Assign, parent int) {
	for _, a := range assigns {
		f := fromWord(a.Value)
		switch a.Name {
		case "PROMPT_COMMAND":
		case "PS0", "PS1", "PS2", "PS4":
			if !strings.Contains(f.s, "$(") && strings.IndexByte(f.s, '`') < 0 {
				continue
			}
			f = known(`: "`).join(f).join(known(`"`))
		default:
			continue
		}
		if len(e.late) < 64 {
			e.late = append(e.late, deferred{text: f, how: a.Name, start: a.Value.Start, end: a.Value.End, parent: parent})
		}
	}
}

// assign evaluates one assignment. With a target it sets the variable there; without, it belongs to the command only.
func (e *eval) assign(sc, target *scope, a *syntax.Assign, cmd *Command) {
	if a.Name == nil {
		return
	}
	name := a.Name.Value
	if a.Array != nil {
		v := e.array(sc, a)
		if name == "BASH_ALIASES" || name == "BASH_CMDS" {
			lo, hi := e.span(a)
			e.note(DynamicWord, name, -1, lo, hi)
		}
		if target != nil {
			e.bind(target, name, v)
		}
		return
	}
	w := e.assigned(sc, a.Value)
	f := fromWord(w)
	if a.Index != nil {
		lo, hi := e.span(a)
		cmd.Assigns = append(cmd.Assigns, Assign{Name: name, Value: f.word(lo, hi)})
		if name == "BASH_ALIASES" || name == "BASH_CMDS" {
			e.bashTable(sc, target, a, f, lo, hi)
		}
		e.setElement(sc, target, a, f)
		return
	}
	if a.Append {
		if v := e.variable(sc, name); v != nil {
			f = e.pick(v).fragment().join(f)
		} else {
			f = hole(Variable, name).join(f)
		}
	}
	lo, hi := e.span(a)
	cmd.Assigns = append(cmd.Assigns, Assign{Name: name, Value: Word{
		Text: f.s, Holes: f.holes, From: f.from, Raw: w.Raw, Quoted: w.Quoted, Start: lo, End: hi,
	}})
	if target != nil {
		e.bind(target, name, scalar(f))
	}
}

// bashTable sets an alias or the path of a command through bash's own tables.
func (e *eval) bashTable(sc, target *scope, a *syntax.Assign, f fragment, lo, hi int) {
	w, ok := a.Index.(*syntax.Word)
	if !ok || target == nil {
		return
	}
	key := e.one(sc, w)
	if !f.known() || !key.Known() {
		e.note(DynamicWord, a.Name.Value, -1, lo, hi)
		return
	}
	text := f.s
	if a.Name.Value == "BASH_CMDS" {
		text = "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	e.bind(target, aliasKey(key.Text), value{fn: &function{alias: text, text: text, src: pinned(lo, hi)}})
}

// bind sets a variable, or adds to what it may be when another combination of alternatives has set it already.
func (e *eval) bind(sc *scope, name string, v value) {
	if e.frame != nil && e.frame.round > 0 {
		sc.add(name, v)
		return
	}
	sc.set(name, v)
}

// assigned expands an assigned value: tildes count behind each colon, nothing is split or globbed.
func (e *eval) assigned(sc *scope, w *syntax.Word) Word {
	if w == nil {
		return Word{}
	}
	out := e.one(sc, w)
	out.Pattern = ""
	return out
}

func (e *eval) array(sc *scope, a *syntax.Assign) value {
	v := value{isArr: true}
	if a.Append {
		if old := e.variable(sc, a.Name.Value); old != nil {
			if x := e.pick(old); x.isArr {
				v.arr, v.keys, v.used = x.arr, x.keys, x.used
			} else if !x.unset {
				v.grow(x.fragment())
			}
		}
	}
	var keys []string
	for _, el := range a.Array.Elems {
		if el.Value == nil {
			continue
		}
		if el.Index != nil {
			key := indexText(el.Index)
			if w, ok := el.Index.(*syntax.Word); ok {
				key = e.one(sc, w).Text
			}
			if _, isNum := parseIndex(key); !isNum {
				keys = append(keys, key)
			}
		}
		for _, w := range e.appendFields(sc, nil, el.Value) {
			v.grow(asItem(w))
		}
		if len(v.arr) > maxItems {
			break
		}
	}
	if len(keys) > 0 {
		v.keys = append(slices.Clip(v.keys), keys...)
	}
	if len(v.keys) > 0 && len(v.keys) != len(v.arr) {
		v.keys = nil
	}
	return v
}

func (e *eval) setElement(sc, target *scope, a *syntax.Assign, f fragment) {
	if target == nil {
		return
	}
	x := value{isArr: true}
	if old := e.variable(sc, a.Name.Value); old != nil {
		o := e.pick(old)
		if o.isArr {
			x.arr, x.keys, x.used = o.arr, o.keys, o.used
		}
	}
	n, ok := e.number(sc, a.Index)
	switch w, isWord := a.Index.(*syntax.Word); {
	case ok && len(x.keys) == 0 && n >= 0 && n < maxItems:
		for len(x.arr) < n {
			x.grow(fragment{})
		}
		if n == len(x.arr) {
			x.grow(f)
			break
		}
		if a.Append {
			f = x.arr[n].join(f)
		}
		e.steps += len(x.arr) / 32
		x.arr, x.used = slices.Clone(x.arr), nil
		x.arr[n] = f
	case isWord && len(x.keys) == len(x.arr):
		x.grow(f)
		x.keys = append(x.keys, e.one(sc, w).Text)
	default:
		x.keys = nil
		x.grow(f)
	}
	e.bind(target, a.Name.Value, x)
}
