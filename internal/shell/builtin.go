package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// builtin runs command i when it is one of the shell's own that changes the shell or runs text. inner is the scope with the
// command's own assignments.
func (e *eval) builtin(sc, inner *scope, i int, io frameIO) (fragment, bool) {
	c := &e.prog.Commands[i]
	args := c.Args[1:]
	switch c.Args[0].Text {
	case "cd", "pushd", "popd", "chdir":
		e.cd(sc, inner, c)
	case "eval":
		e.how = "eval"
		lo, hi := c.Start, c.End
		if len(args) > 0 {
			lo, hi = args[0].Start, args[len(args)-1].End
		}
		out := e.inject(inner, joinWords(args), lo, hi, io, i)
		e.how = ""
		return out, true
	case ".", "source":
		return e.source(inner, i, io), true
	case "trap":
		e.trap(i)
	case "alias":
		for _, a := range args {
			if name, val, ok := strings.Cut(a.Text, "="); ok {
				if len(a.Holes) > 0 || slices.Contains(reserved[:], name) {
					e.note(DynamicCode, a.Show(), i, a.Start, a.End)
					continue
				}
				fn := &function{alias: val, text: val, src: pinned(a.Start, a.End)}
				e.bind(sc, aliasKey(name), value{fn: fn})
			}
		}
	case "unalias":
		for _, a := range args {
			sc.put(aliasKey(a.Text), &variable{alts: []value{{unset: true}}})
		}
	case "hash":
		// hash -p /path name
		switch {
		case len(args) < 3 || args[0].Text != "-p":
		case !args[1].Known():
			e.note(DynamicWord, args[1].Show(), i, args[1].Start, args[1].End)
		default:
			fn := &function{alias: "'" + strings.ReplaceAll(args[1].Text, "'", `'\''`) + "'", src: pinned(args[1].Start, args[1].End)}
			e.bind(sc, aliasKey(args[2].Text), value{fn: fn})
		}
	case "export", "readonly", "declare", "typeset", "local", "nameref":
		e.exports(c.Args)
		for _, a := range args {
			k := strings.IndexByte(a.Text, '=')
			switch {
			case k <= 0 || !syntax.ValidName(a.Text[:k]):
			case c.Args[0].Text == "local":
				sc.put(a.Text[:k], &variable{alts: []value{scalar(fromWord(a.Slice(k + 1)))}})
			default:
				e.bind(sc, a.Text[:k], scalar(fromWord(a.Slice(k+1))))
			}
		}
	case "unset":
		e.unset(sc, args)
	case "set":
		e.set(sc, args)
		e.exports(c.Args)
	case "shift":
		if pos, ok := e.arguments(sc); ok {
			n := 1
			if len(args) > 0 {
				n, _ = parseIndex(args[0].Text)
			}
			setArguments(sc, pos[min(max(n, 0), len(pos)):])
		}
	case "read":
		e.readBuiltin(sc, e.ifs(inner), args, io)
	case "mapfile", "readarray":
		e.mapfile(sc, args, io)
	case "getopts":
		if len(args) > 1 {
			sc.set(args[1].Text, scalar(hole(Item, args[1].Text)))
			sc.set("OPTARG", scalar(hole(Item, "OPTARG")))
		}
	case "printf":
		if len(args) > 1 && args[0].Text == "-v" {
			out, ok := e.emulate(inner, args[2:], "printf", io)
			if !ok {
				out = hole(Computed, "printf")
			}
			e.bind(sc, args[1].Text, scalar(out))
			break
		}
		return fragment{}, false
	case "complete", "bind", "compgen", "jobs", "ulimit", "umask", "times", "type":
		e.hooks(inner, i, args)
		e.prog.Commands[i].Builtin = true
		return unknownOutput(""), true
	case "shopt", "exit", "return", "break", "continue", "wait", "bg", "fg", ":", "true", "false",
		"enable", "disown", "let", "suspend", "logout", "test", "[":
	default:
		return fragment{}, false
	}
	e.prog.Commands[i].Builtin = true
	e.tables(i, args)
	for _, a := range args {
		e.subscript(inner, fromWord(a))
	}
	if len(args) == 0 || strings.HasPrefix(args[0].Text, "-") {
		switch c.Args[0].Text {
		case "export", "readonly", "declare", "typeset", "set", "alias", "trap":
			return unknownOutput(""), true // prints what there is
		}
	}
	return fragment{}, true
}

// unset takes away variables, and functions: without an option whichever of the two there is.
func (e *eval) unset(sc *scope, args []Word) {
	functions, variables := false, false
	for _, a := range args {
		switch option := strings.HasPrefix(a.Text, "-"); {
		case !a.Known():
			e.unsets = true
		case option:
			functions = functions || strings.Contains(a.Text, "f")
			variables = variables || strings.Contains(a.Text, "v")
		case functions:
			sc.set(funcKey(a.Text), value{unset: true})
		default:
			sc.set(a.Text, value{unset: true})
			if !variables && sc.lookup(funcKey(a.Text)) != nil {
				sc.add(funcKey(a.Text), value{unset: true})
			}
		}
	}
}

// subscript runs the substitutions in an array subscript: builtins that take a variable's name, and arithmetic, evaluate
// "a[$(…)]" even when the text was quoted.
func (e *eval) subscript(sc *scope, f fragment) {
	open := strings.IndexByte(f.s, '[')
	if open < 0 || !strings.Contains(f.s[open:], "$(") && strings.IndexByte(f.s[open:], '`') < 0 || !f.known() || e.depth >= maxDepth {
		return
	}
	e.depth++
	saved := e.cur
	e.cur = current{text: f.s, src: pinned(e.cur.src.span(0, len(e.cur.text)))}
	_, _ = read(f.s, e.dialect, func(p *syntax.Parser, r *strings.Reader) ([]*syntax.Stmt, error) {
		w, err := p.Document(r)
		if err == nil {
			e.substitutions(sc, w)
		}
		return nil, err
	})
	e.cur = saved
	e.depth--
}

// subscripts does the same for each quoted word below a node.
func (e *eval) subscripts(sc *scope, n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if q, ok := n.(*syntax.SglQuoted); ok {
			e.subscript(sc, known(q.Value))
		}
		return true
	})
}

// hooks runs the commands that complete -C and bind -x would run later.
func (e *eval) hooks(sc *scope, i int, args []Word) {
	for k := 0; k+1 < len(args); k++ {
		w := args[k+1]
		f := fromWord(w)
		switch args[k].Text {
		case "-C":
		case "-x":
			if _, after, ok := strings.Cut(w.Text, ":"); ok && w.Known() {
				f = known(strings.Trim(after, `" `))
			}
		default:
			continue
		}
		e.how = args[k].Text
		e.inject(sc.fork(), f, w.Start, w.End, frameIO{}, i)
		e.how = ""
	}
}

// joinWords joins words as eval and echo do.
func joinWords(words []Word) fragment {
	if len(words) == 1 {
		return fromWord(words[0])
	}
	var b strings.Builder
	var f fragment
	for k, w := range words {
		if b.Len()+len(w.Text) > maxValue {
			return hole(Computed, "")
		}
		if k > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.Text)
		f.holes = append(f.holes, w.Holes...)
		f.from = union(f.from, w.From)
	}
	f.s = b.String()
	return f
}

// maxStack is how deep pushd is followed.
const maxStack = 64

// maxPath is the longest path a kernel takes, in bytes.
const maxPath = 4096

// searched tells whether cd looks for a directory along CDPATH.
func searched(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return path != "" && path != "-" && first != "" && first != "." && first != ".." && first[0] != '~'
}

// filled tells whether a variable may have a value that is not empty.
func (e *eval) filled(sc *scope, name string) bool {
	v := sc.lookup(name)
	if v == nil {
		return e.opt.Env[name] != ""
	}
	f := e.pick(v).fragment()
	return f.s != "" || len(f.holes) > 0
}

// cd changes the directory of sc. inner has the command's own assignments.
func (e *eval) cd(sc, inner *scope, c *Command) {
	name := c.Args[0].Text
	old := e.dir(sc)
	var target *Word
	for k := 1; k < len(c.Args); k++ {
		a := &c.Args[k]
		if a.Text == "--" && !a.Quoted {
			continue
		}
		if len(a.Text) > 1 && a.Text[0] == '-' && a.Known() && !(len(a.Text) > 1 && a.Text[1] >= '0' && a.Text[1] <= '9') {
			continue
		}
		target = a
		break
	}
	stack := sc.lookup(stackKey)
	var next fragment
	switch {
	case name == "popd":
		next = hole(Computed, "popd")
		if stack != nil {
			if v := e.pick(stack); v.isArr && len(v.arr) > 0 {
				next = v.arr[len(v.arr)-1]
				sc.set(stackKey, value{isArr: true, arr: v.arr[:len(v.arr)-1]})
			}
		}
	case target == nil && name == "pushd":
		next = hole(Computed, "pushd")
	case target == nil:
		next, _ = e.tilde(sc, "")
	case target.Text == "-":
		next = hole(Variable, "OLDPWD")
		if v := sc.lookup(oldDirKey); v != nil {
			next = e.pick(v).fragment()
		}
	case len(target.Holes) > 0 || target.Pattern != "":
		next = asItem(*target)
		if !strings.HasPrefix(next.s, "/") && !strings.HasPrefix(next.s, Unknown) && len(old.Holes) == 0 && old.Text != "." {
			next = known(old.Text + "/").join(next)
		}
	case len(old.Holes) > 0 && !strings.HasPrefix(target.Text, "/") && !strings.HasPrefix(target.Text, "~"):
		next = fromWord(old).join(known("/" + target.Text))
	default:
		next = known(Clean(old.Text, target.Text))
	}
	if target != nil && name != "popd" && len(target.Holes) == 0 && searched(target.Text) && e.filled(inner, "CDPATH") {
		next = hole(Computed, "CDPATH")
	}
	if len(next.s) > maxPath {
		next = hole(Computed, name)
	}
	if name == "pushd" {
		v := value{isArr: true}
		if stack != nil {
			v = e.pick(stack)
		}
		if len(v.arr) >= maxStack {
			v.arr = []fragment{hole(Computed, "pushd")}
		}
		v.arr = append(slices.Clip(v.arr), fromWord(old))
		sc.set(stackKey, v)
	}
	e.bind(sc, oldDirKey, scalar(fromWord(old)))
	e.bind(sc, dirKey, scalar(next))
}

func (e *eval) source(sc *scope, i int, io frameIO) fragment {
	c := &e.prog.Commands[i]
	c.Builtin = true
	if len(c.Args) < 2 {
		return fragment{}
	}
	w := c.Args[1]
	if w.Text == "/dev/stdin" || w.Text == "/proc/self/fd/0" || w.Text == "/dev/fd/0" {
		return e.fromStdin(sc, i, &handoff{how: "source", stdin: true, dialect: e.dialect}, io)
	}
	f := e.read(sc, fromWord(w))
	if strings.Trim(f.s, Unknown) == "" && !f.known() {
		kind := UnreadScript
		if len(f.from) > 0 || len(w.Holes) > 0 {
			kind = DynamicCode
		}
		e.note(kind, w.Show(), i, w.Start, w.End)
		return unknownOutput("")
	}
	e.how = "source"
	out := e.inject(sc, f, w.Start, w.End, io, i)
	e.how = ""
	return out
}

func (e *eval) trap(i int) {
	c := &e.prog.Commands[i]
	args := c.Args[1:]
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) < 2 || strings.HasPrefix(args[0].Text, "-") || args[0].Text == "" {
		return
	}
	w := args[0]
	if len(e.late) < 64 {
		e.late = append(e.late, deferred{text: fromWord(w), how: "trap", start: w.Start, end: w.End, parent: i})
	}
}

func (e *eval) set(sc *scope, args []Word) {
	for k, a := range args {
		switch {
		case a.Text == "--":
			args = args[k+1:]
		case len(a.Text) > 1 && (a.Text[0] == '-' || a.Text[0] == '+') && a.Known():
			if a.Text == "-o" || a.Text == "+o" {
				return
			}
			continue
		default:
			args = args[k:]
		}
		var pos []fragment
		for _, w := range args {
			pos = append(pos, asItem(w))
		}
		if e.frame != nil && e.frame.round > 0 {
			sc.add(argsKey, value{isArr: true, arr: pos})
			return
		}
		setArguments(sc, pos)
		return
	}
}

// readBuiltin assigns what read takes from its input.
func (e *eval) readBuiltin(sc *scope, ifs string, args []Word, io frameIO) {
	names, array, delim, raw := readNames(args)
	line, ok := io.in.line(delim)
	if !raw {
		for ok && strings.HasSuffix(line.s, `\`) && io.in.pos < len(io.in.s) {
			var more fragment
			more, ok = io.in.line(delim)
			line = line.cut(0, len(line.s)-1).join(more)
		}
		line.s = unbackslash(line.s)
	}
	if !ok {
		line = hole(Item, "")
	}
	if array != "" {
		line.s = strings.NewReplacer(escapedBlank, " ").Replace(line.s)
		e.bind(sc, array, value{isArr: true, arr: line.split(func(c byte) bool { return strings.IndexByte(ifs, c) >= 0 })})
		return
	}
	if len(names) == 0 {
		names = []string{"REPLY"}
	}
	for k, name := range names {
		f := line
		if k == len(names)-1 {
			f = trimIFS(line, ifs)
		} else {
			f, line = cutField(line, ifs)
		}
		if !ok {
			f = hole(Item, name)
		}
		f.s = strings.ReplaceAll(f.s, escapedBlank, " ")
		e.bind(sc, name, scalar(f))
	}
}

// escapedBlank stands for a blank behind a backslash while read splits its line.
const escapedBlank = "\x02"

// unbackslash removes the backslashes that read without -r does.
func unbackslash(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			if s[i] == ' ' {
				b.WriteString(escapedBlank)
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func readNames(args []Word) (names []string, array string, delim byte, raw bool) {
	delim = '\n'
	for k := 0; k < len(args); k++ {
		a := args[k].Text
		if len(a) < 2 || a[0] != '-' {
			names = append(names, a)
			continue
		}
		for j := 1; j < len(a); j++ {
			if strings.IndexByte("adinNptu", a[j]) < 0 {
				raw = raw || a[j] == 'r'
				continue
			}
			val := a[j+1:]
			if val == "" && k+1 < len(args) {
				k++
				val = args[k].Text
			}
			switch a[j] {
			case 'a':
				array = val
			case 'd':
				delim = 0
				if val != "" {
					delim = val[0]
				}
			}
			break
		}
	}
	return names, array, delim, raw
}

// line takes the next line off the input. ok is false when it is not known.
func (in *input) line(delim byte) (fragment, bool) {
	if in == nil {
		return fragment{}, false
	}
	if in.pos >= len(in.s) {
		return fragment{}, true
	}
	end := strings.IndexByte(in.s[in.pos:], delim)
	if delim == 0 && !in.known() {
		end = -1
	}
	next := len(in.s)
	if end < 0 {
		end = len(in.s)
	} else {
		end += in.pos
		next = end + 1
	}
	f := in.cut(in.pos, end)
	in.pos = next
	return f, true
}

func trimIFS(f fragment, ifs string) fragment {
	i, j := 0, len(f.s)
	for i < j && isBlank(f.s[i]) && strings.IndexByte(ifs, f.s[i]) >= 0 {
		i++
	}
	for j > i && isBlank(f.s[j-1]) && strings.IndexByte(ifs, f.s[j-1]) >= 0 {
		j--
	}
	return f.cut(i, j)
}

func cutField(f fragment, ifs string) (field, rest fragment) {
	f = trimIFS(f, ifs)
	for k := range len(f.s) {
		if strings.IndexByte(ifs, f.s[k]) >= 0 {
			return f.cut(0, k), trimIFS(f.cut(k+1, len(f.s)), ifs)
		}
	}
	return f, fragment{}
}

func (e *eval) mapfile(sc *scope, args []Word, io frameIO) {
	name := "MAPFILE"
	e.hooks(sc, len(e.prog.Commands)-1, args)
	for _, a := range args {
		if !strings.HasPrefix(a.Text, "-") && syntax.ValidName(a.Text) {
			name = a.Text
		}
	}
	if io.in == nil {
		e.bind(sc, name, value{isArr: true, arr: []fragment{hole(Item, name)}})
		return
	}
	v := value{isArr: true}
	for io.in.pos < len(io.in.s) && len(v.arr) < maxItems {
		f, _ := io.in.line('\n')
		v.arr = append(v.arr, f)
	}
	e.bind(sc, name, v)
}

// decl runs export, declare, local and the like, which the parser reads as a clause of its own.
func (e *eval) decl(sc *scope, c *syntax.DeclClause, io frameIO, parent int) fragment {
	e.eachChoice(func() { e.declOnce(sc, c, io, parent) })
	return fragment{}
}

func (e *eval) declOnce(sc *scope, c *syntax.DeclClause, io frameIO, parent int) {
	lo, hi := e.span(c)
	name := c.Variant.Value
	vlo, vhi := e.span(c.Variant)
	cmd := Command{Name: name, Builtin: true, Parent: parent, Dir: e.dir(sc), Start: lo, End: hi,
		Args: []Word{{Text: name, Raw: name, Start: vlo, End: vhi}}}
	ref := false
	for _, a := range c.Args {
		alo, ahi := e.span(a)
		if a.Naked {
			var words []Word
			switch {
			case a.Value != nil:
				words = e.appendFields(sc, nil, a.Value)
			case a.Name != nil:
				words = []Word{{Text: a.Name.Value, Raw: a.Name.Value, Start: alo, End: ahi}}
			}
			for _, w := range words {
				ref = ref || strings.HasPrefix(w.Text, "-") && strings.Contains(w.Text, "n") && name != "export"
				cmd.Args = append(cmd.Args, w)
				// declare "x=y": an assignment in a word
				if k := strings.IndexByte(w.Text, '='); k > 0 && syntax.ValidName(w.Text[:k]) {
					e.bind(sc, w.Text[:k], scalar(fromWord(w.Slice(k+1))))
				}
			}
			continue
		}
		var set Command
		target := sc
		e.assign(sc, nil, a, &set)
		switch {
		case len(set.Assigns) == 1:
			e.prompts(set.Assigns, parent)
			v := set.Assigns[0]
			f := fromWord(v.Value)
			w := known(v.Name+"=").join(f).word(alo, ahi)
			w.Raw = e.raw(a)
			cmd.Args = append(cmd.Args, w)
			switch {
			case ref && v.Value.Known() && syntax.ValidName(v.Value.Text):
				target.put(v.Name, &variable{ref: v.Value.Text})
			case name == "local" || name == "declare" || name == "typeset":
				target.put(v.Name, &variable{alts: []value{scalar(f)}})
			default:
				e.bind(target, v.Name, scalar(f))
			}
		default:
			cmd.Args = append(cmd.Args, Word{Text: e.raw(a), Raw: e.raw(a), Start: alo, End: ahi})
			e.assign(sc, target, a, &set)
		}
	}
	if e.opt.Tails {
		cmd.Tail = tailOf(cmd.Args)
	}
	e.exports(cmd.Args)
	e.tables(e.emit(cmd, io), cmd.Args)
}

// exports notes what export, declare -x and set -a put into the environment.
func (e *eval) exports(args []Word) {
	if len(args) == 0 {
		return
	}
	on := args[0].Text == "export"
	for _, w := range args[1:] {
		switch {
		case strings.HasPrefix(w.Text, "-") && len(w.Holes) == 0:
			on = on && !strings.Contains(w.Text, "n") || args[0].Text != "set" && strings.Contains(w.Text, "x") ||
				args[0].Text == "set" && strings.Contains(w.Text, "a")
			if on && args[0].Text == "set" || strings.Contains(w.Text, "allexport") {
				e.export("*")
			}
		case args[0].Text == "set":
			if w.Text == "allexport" {
				e.export("*")
			}
		case on:
			name, _, _ := strings.Cut(w.Text, "=")
			e.export(name)
		}
	}
}
