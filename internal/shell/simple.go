package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// simple runs a simple command: expands it once for each combination of alternatives, and runs what comes out.
func (e *eval) simple(sc *scope, c *syntax.CallExpr, s *syntax.Stmt, io frameIO, parent int) (out fragment) {
	first := true
	e.eachChoice(func() {
		f := e.simpleOnce(sc, c, s, io, parent)
		if first {
			out = f
		} else if f.s != out.s {
			out = fragment{s: Unknown, holes: []Hole{{Kind: Output}}, from: union(out.from, f.from)}
		}
		first = false
	})
	return out
}

func (e *eval) simpleOnce(sc *scope, c *syntax.CallExpr, s *syntax.Stmt, io frameIO, parent int) fragment {
	args := e.fields(sc, c.Args)
	cmd := Command{Args: args, Parent: parent}
	if len(c.Args) > 0 {
		cmd.Start, cmd.End = e.span(c)
	} else if len(c.Assigns) > 0 {
		cmd.Start, cmd.End = e.span(c)
	} else if s != nil {
		cmd.Start, cmd.End = e.span(s)
	}
	outFile := ""
	if s != nil && len(s.Redirs) > 0 {
		var in *input
		cmd.Redirs, in, outFile = e.redirections(sc, s.Redirs)
		if in != nil {
			io.in = in
		}
		for fd, f := range e.opened {
			e.write("/dev/fd/"+fd, f, false)
		}
		if len(args) == 1 && args[0].Is("exec") {
			for fd, f := range e.opened {
				e.bind(sc, fdKey(fd), scalar(f))
			}
		}
		for _, r := range cmd.Redirs {
			cmd.Start, cmd.End = min(cmd.Start, r.Start), max(cmd.End, r.End)
		}
	}
	if e.opt.Tails && len(c.Args) > 0 {
		cmd.Tail = e.tail(c, s)
	}
	target := sc
	if len(args) > 0 {
		target = nil
	}
	for _, a := range c.Assigns {
		e.assign(sc, target, a, &cmd)
	}
	e.prompts(cmd.Assigns, parent)
	want := io.want
	readers := outputs(s)
	if outFile != "" || len(readers) > 0 {
		io.want = true
	}
	first := len(e.prog.Commands)
	out := e.run(sc, cmd, io)
	if len(readers) > 0 {
		if len(e.prog.Commands) > first {
			out.from = union(out.from, []int{first})
		}
		for _, p := range readers {
			e.stmts(sc.fork(), p.Stmts, frameIO{in: &input{fragment: out}}, -1)
		}
		return fragment{}
	}
	if outFile != "" {
		e.write(outFile, out, appends(cmd.Redirs))
		return fragment{}
	}
	if !want {
		return fragment{}
	}
	return out
}

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

// outputs returns the process substitutions that a statement's standard output is redirected to.
func outputs(s *syntax.Stmt) (list []*syntax.ProcSubst) {
	if s == nil {
		return nil
	}
	for _, r := range s.Redirs {
		if r.Word == nil || len(r.Word.Parts) != 1 || r.N != nil && r.N.Value != "1" {
			continue
		}
		if p, ok := r.Word.Parts[0].(*syntax.ProcSubst); ok && p.Op == syntax.CmdOut {
			list = append(list, p)
		}
	}
	return list
}

// tail returns a simple command's source behind its program word, runs of unquoted blanks folded to one.
func (e *eval) tail(c *syntax.CallExpr, s *syntax.Stmt) string {
	from, to := int(c.Args[0].End().Offset()), int(c.End().Offset())
	if s != nil {
		for _, r := range s.Redirs {
			to = max(to, int(r.End().Offset()))
		}
	}
	if from > to || to > len(e.cur.text) {
		return ""
	}
	return foldBlanks(e.cur.text[from:to])
}

func foldBlanks(s string) string {
	var b strings.Builder
	var quote byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0:
			if c == '\\' && quote == '"' && i+1 < len(s) {
				b.WriteByte(c)
				i++
				c = s[i]
			} else if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '\\' && i+1 < len(s):
			i++
			if s[i] == '\n' {
				continue
			}
			b.WriteByte('\\')
			c = s[i]
		case isBlank(c):
			if n := b.Len(); n == 0 || b.String()[n-1] != ' ' {
				b.WriteByte(' ')
			}
			continue
		}
		b.WriteByte(c)
	}
	return strings.TrimRight(b.String(), " ")
}

// assign evaluates one assignment. With a target it sets the variable there; without, it belongs to the command only.
func (e *eval) assign(sc, target *scope, a *syntax.Assign, cmd *Command) {
	if a.Name == nil {
		return
	}
	name := a.Name.Value
	if a.Array != nil {
		v := e.array(sc, a)
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

// emit adds a command to the answer.
func (e *eval) emit(c Command, io frameIO) int {
	c.Reader = -1
	// Words that a launcher has joined in another order.
	if c.End < c.Start {
		c.Start, c.End = c.End, c.Start
	}
	for i := range c.Args {
		if w := &c.Args[i]; w.End < w.Start {
			w.Start, w.End = w.End, w.Start
		}
	}
	c.Stdin = io.in.rest()
	c.How = e.how
	c.Looped = c.Looped || e.looped
	c.Deferred = c.Deferred || e.later_
	c.Guess = e.guess
	if c.Place == Here {
		c.Place = e.place
	}
	if len(e.env) > 0 {
		c.Assigns = append(slices.Clip(e.env), c.Assigns...)
		e.env = nil
	}
	if c.Stdin != nil {
		// Whoever writes the pipe is read by this command.
		for _, i := range c.Stdin.From {
			if e.prog.Commands[i].Reader < 0 {
				e.prog.Commands[i].Reader = len(e.prog.Commands)
			}
		}
	}
	e.prog.Commands = append(e.prog.Commands, c)
	return len(e.prog.Commands) - 1
}

// run executes a simple command and returns what it prints.
func (e *eval) run(sc *scope, c Command, io frameIO) fragment {
	if !e.spend(2 + len(c.Args)) {
		return unknownOutput("")
	}
	c.Dir = e.dir(sc)
	if len(c.Args) == 0 {
		if len(c.Redirs) > 0 || len(c.Assigns) > 0 {
			e.emit(c, io)
		}
		return fragment{}
	}
	w := c.Args[0]
	if len(w.Holes) > 0 {
		i := e.emit(c, io)
		e.note(DynamicWord, w.Show(), i, w.Start, w.End)
		e.vanished(sc, c, io)
		return unknownOutput("")
	}
	if w.Pattern != "" {
		return e.globbed(sc, c, io)
	}
	if out, done := e.named(sc, c, io); done {
		return out
	}
	if e.dialect == Zsh && len(w.Text) > 1 && w.Text[0] == '=' && !w.Quoted {
		c.Args = slices.Clone(c.Args)
		c.Args[0].Text = w.Text[1:] // the program's path, by name
		w = c.Args[0]
	}
	if len(e.copies) > 0 {
		if orig, ok := e.copies[e.resolve(sc, w.Text)]; ok && strings.Contains(w.Text, "/") && len(c.Args) > 0 {
			d := c
			d.Args = slices.Clone(c.Args)
			d.Args[0] = Word{Text: orig.Text, Raw: w.Raw, Start: w.Start, End: w.End}
			e.run(sc, d, io)
		}
	}
	c.Name = programName(w.Text)
	i := e.emit(c, io)
	e.copied(sc, i)
	inner := sc
	if as := e.prog.Commands[i].Assigns; len(as) > 0 {
		inner = sc.fork()
		for _, a := range as {
			inner.set(a.Name, scalar(fromWord(a.Value)))
		}
	}
	e.how = ""
	if e.prog.Commands[i].Place <= Root {
		if out, ok := e.builtin(sc, inner, i, io); ok {
			return out
		}
	}
	return e.external(inner, i, io)
}

// named runs an alias or a function of the command's name. done is false when there is none, or perhaps none.
func (e *eval) named(sc *scope, c Command, io frameIO) (out fragment, done bool) {
	w := c.Args[0]
	if e.how != "" && e.how != "function" {
		return fragment{}, false // a launcher starts programs, not functions of the shell
	}
	if v := sc.lookup(aliasKey(w.Text)); v != nil && !w.Quoted {
		if fn := e.pick(v).fn; fn != nil {
			i := e.emit(c, io)
			return e.under("alias", func() fragment { return e.callFunction(sc, fn, c.Args, io, i) }), true
		}
	}
	v := sc.lookup(funcKey(w.Text))
	if v == nil {
		return fragment{}, false
	}
	done = true
	for _, x := range v.alts {
		if x.fn == nil {
			done = false
			continue
		}
		out = e.callFunction(sc, x.fn, c.Args, io, c.Parent)
	}
	return out, done
}

// copied remembers the new name of a well-known program that command i copies, moves or links.
func (e *eval) copied(sc *scope, i int) {
	c := &e.prog.Commands[i]
	switch c.Name {
	case "cp", "ln", "mv", "install":
	default:
		return
	}
	var operands []Word
	for _, a := range c.Args[1:] {
		if !strings.HasPrefix(a.Text, "-") {
			operands = append(operands, a)
		}
	}
	if len(operands) != 2 || !operands[0].Known() || !operands[1].Known() {
		return
	}
	from, to := operands[0], operands[1]
	if e.copies == nil {
		e.copies = map[string]Word{}
	}
	if old, ok := e.copies[e.resolve(sc, from.Text)]; ok {
		from = old
	} else if !strings.HasPrefix(from.Text, "/") || !slices.Contains(wellKnown[:], programName(from.Text)) {
		return
	}
	dest := e.resolve(sc, to.Text)
	e.copies[dest] = from
	e.copies[dest+"/"+programName(from.Text)] = from
}

// vanished runs a command whose program word holds variables that nothing sets as it would be when they are empty: what
// is left of the word, or the next word (as behind "$SUDO").
func (e *eval) vanished(sc *scope, c Command, io frameIO) {
	w := c.Args[0]
	for _, h := range w.Holes {
		if h.Kind != Variable || h.Set {
			return
		}
	}
	c.Args = slices.Clone(c.Args)
	switch left := w.Empty(); {
	case left != "":
		c.Args[0] = Word{Text: left, Raw: w.Raw, Quoted: true, Start: w.Start, End: w.End}
	case len(c.Args) > 1 && !w.Quoted && !strings.HasPrefix(c.Args[1].Text, "-"):
		c.Args = c.Args[1:]
	default:
		return
	}
	saved := e.guess
	e.guess = true // likely, not known
	e.run(sc, c, io)
	e.guess = saved
}

// under runs fn with commands marked as run in the given way.
func (e *eval) under(how string, fn func() fragment) fragment {
	saved := e.how
	e.how = how
	out := fn()
	e.how = saved
	return out
}

// programName returns the lower-case base name of a program, without the endings Windows runs.
func programName(s string) string {
	if i := strings.LastIndexAny(s, `/\`); i >= 0 && (s[i] == '/' || strings.IndexByte(s, ':') == 1 || strings.HasPrefix(s, `\\`)) {
		s = s[i+1:]
	}
	for i := range len(s) {
		if c := s[i]; c >= 'A' && c <= 'Z' || c == '.' {
			s = strings.ToLower(s)
			for _, ext := range [...]string{".exe", ".cmd", ".bat", ".com", ".ps1"} {
				if t, ok := strings.CutSuffix(s, ext); ok && t != "" {
					return t
				}
			}
			return s
		}
	}
	return s
}

// globbed runs a command whose program is a pattern: as each well-known program it could match.
func (e *eval) globbed(sc *scope, c Command, io frameIO) fragment {
	w := c.Args[0]
	matched := false
	re := e.regexp(strings.ReplaceAll(w.Pattern, Unknown, "*"), true, true)
	for _, name := range wellKnown {
		for _, dir := range [...]string{"", "/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/"} {
			path := dir + name
			if re == nil || !re.MatchString(path) {
				continue
			}
			matched = true
			d := c
			d.Args = slices.Clone(c.Args)
			d.Args[0] = Word{Text: path, Raw: w.Raw, Start: w.Start, End: w.End}
			e.run(sc, d, io)
			break
		}
	}
	if !matched {
		i := e.emit(c, io)
		e.note(DynamicWord, w.Text, i, w.Start, w.End)
	}
	return unknownOutput("")
}

// wellKnown are programs that a pattern in the place of a program is tried against.
var wellKnown = [...]string{
	"rm", "dd", "sh", "bash", "dash", "zsh", "ksh", "mv", "cp", "ln", "cat", "chmod", "chown", "mkfs", "mkfs.ext4", "shred", "tee",
	"find", "xargs", "curl", "wget", "nc", "ncat", "socat", "ssh", "scp", "python", "python3", "perl", "ruby", "node", "php", "awk",
	"sed", "tar", "kill", "pkill", "killall", "reboot", "shutdown", "halt", "poweroff", "init", "systemctl", "sudo", "su", "env",
	"busybox", "rmdir", "unlink", "truncate", "wipefs", "mount", "umount", "crontab", "docker", "git", "base64", "eval", "ls", "echo",
}

// external runs a program: what it launches, what it would do with program text, what it prints.
func (e *eval) external(sc *scope, i int, io frameIO) fragment {
	c := &e.prog.Commands[i]
	hs, query := handoffs(c)
	if !query {
		hs = append(hs, e.projectFiles(sc, c)...)
	}
	if len(hs) == 0 || query {
		return e.print(sc, i, io)
	}
	if e.depth >= maxDepth {
		e.note(TooDeep, "", i, c.Start, c.End)
		return unknownOutput("")
	}
	e.depth++
	out, transparent := fragment{}, len(hs) == 1
	for k := range hs {
		f := e.hand(sc, i, &hs[k], io)
		if transparent {
			out = f
		}
	}
	e.depth--
	if !transparent {
		return unknownOutput(e.prog.Line(i))
	}
	return out
}

// hand runs one handoff of command i.
func (e *eval) hand(sc *scope, i int, h *handoff, io frameIO) fragment {
	saved := struct {
		how     string
		dialect Dialect
		place   Place
		looped  bool
		later   bool
		guess   bool
		env     []Assign
	}{e.how, e.dialect, e.place, e.looped, e.later_, e.guess, e.env}
	defer func() {
		e.how, e.dialect, e.place, e.looped, e.later_, e.guess, e.env =
			saved.how, saved.dialect, saved.place, saved.looped, saved.later, saved.guess, saved.env
	}()
	e.how = h.how
	e.place = max(e.place, h.place)
	e.looped = e.looped || h.looped
	e.later_ = e.later_ || h.defer_
	e.guess = e.guess || h.guess
	inner := sc.fork()
	if h.dir != nil {
		d := *h.dir
		if d.Known() {
			d = Word{Text: Clean(e.dir(sc).Text, d.Text), Holes: e.dir(sc).Holes}
		}
		inner.set(dirKey, scalar(fromWord(d)))
	}
	if h.place >= Container && e.prog.Commands[i].Place < h.place {
		// Another file system: where it starts and what its home is are not known here.
		if h.dir == nil {
			inner.set(dirKey, scalar(hole(Computed, "")))
		}
	}
	sub := frameIO{want: io.want}
	if h.feeds || h.stdin {
		sub.in = io.in
	}
	switch {
	case len(h.argv) > 0:
		e.env = append(slices.Clip(e.env), h.assigns...)
		lo, hi := h.argv[0].Start, h.argv[len(h.argv)-1].End
		if hi < lo {
			lo, hi = e.prog.Commands[i].Start, e.prog.Commands[i].End
		}
		c := Command{Args: h.argv, Parent: i, Start: lo, End: hi}
		if e.opt.Tails {
			c.Tail = tailOf(h.argv)
		}
		return e.run(inner, c, sub)
	case h.text != nil:
		e.env = append(slices.Clip(e.env), h.assigns...)
		e.dialect = h.dialect
		e.positional(inner, h.args)
		return e.inject(inner, fromWord(*h.text), h.text.Start, h.text.End, sub, i)
	case h.code != nil:
		e.payload(inner, i, h.lang, fromWord(*h.code), h.code.Start, h.code.End, h.how, "", sub)
	case h.file != nil:
		return e.script(inner, i, h, sub)
	case h.stdin:
		return e.fromStdin(inner, i, h, io)
	}
	return unknownOutput(e.prog.Line(i))
}

// tailOf rebuilds the source behind the first word of an argv from how its words are spelled.
func tailOf(args []Word) string {
	var b strings.Builder
	for _, w := range args[1:] {
		b.WriteByte(' ')
		if w.Raw != "" {
			b.WriteString(w.Raw)
		} else {
			b.WriteString(w.Show())
		}
	}
	return b.String()
}

func (e *eval) positional(sc *scope, args []Word) {
	var pos []fragment
	for k, a := range args {
		if k == 0 {
			sc.put(argZero, &variable{alts: []value{scalar(fromWord(a))}})
			continue
		}
		pos = append(pos, asItem(a))
	}
	setArguments(sc, pos)
}

const holePrefix = "__hole_"

// inject runs computed text as shell code. Unknown pieces in it become variables that stay unknown, and are noted: they
// could be anything, a separator and another command included.
func (e *eval) inject(sc *scope, f fragment, start, end int, io frameIO, parent int) fragment {
	if strings.TrimSpace(f.s) == "" {
		return fragment{}
	}
	if !f.known() {
		name := ""
		for _, h := range f.holes {
			if name == "" {
				name = h.show()
			}
		}
		e.note(DynamicCode, name, parent, start, end)
		if strings.Trim(f.s, Unknown+" \n\t") == "" {
			return unknownOutput("")
		}
	}
	if e.seen == nil {
		e.seen = map[string]int{}
	}
	if e.seen[f.s]++; e.seen[f.s] > 64 {
		return unknownOutput("")
	}
	text := f.s
	if len(f.holes) > 0 {
		var b strings.Builder
		n := 0
		for k := range len(text) {
			if text[k] != 0 {
				b.WriteByte(text[k])
				continue
			}
			h := Hole{Kind: Computed}
			if n < len(f.holes) {
				h = f.holes[n]
			}
			n++
			// In code, quotes around the variable that held it do not protect it any more.
			h.Quoted = false
			b.WriteString("${" + holePrefix)
			b.WriteString(itoa(len(e.holes)))
			b.WriteString("}")
			e.holes = append(e.holes, h)
		}
		text = b.String()
	}
	src := pinned(start, end)
	if at := e.verbatim(text, start, end); at >= 0 {
		src = source{base: at}
	}
	first := len(e.prog.Commands)
	how := e.how
	e.how = ""
	out := e.text(sc, text, src, io, parent)
	e.how = how
	for k := first; k < len(e.prog.Commands); k++ {
		c := &e.prog.Commands[k]
		if c.Parent == parent && c.How == "" {
			c.How = how
		}
	}
	return out
}

// verbatim returns where a text stands in the judged text within a span, or -1.
func (e *eval) verbatim(text string, start, end int) int {
	if start < 0 || end > len(e.prog.Text) || start > end || len(text) > end-start {
		return -1
	}
	if k := strings.Index(e.prog.Text[start:end], text); k >= 0 {
		return start + k
	}
	return -1
}

// script runs a script file whose text is known: because the line wrote it, or as a fact.
func (e *eval) script(sc *scope, i int, h *handoff, io frameIO) fragment {
	f := e.read(sc, fromWord(*h.file))
	if !f.known() && strings.Trim(f.s, Unknown) == "" {
		if len(f.from) > 0 || slices.ContainsFunc(h.file.Holes, func(h Hole) bool { return h.Kind != Entry }) {
			e.note(DynamicCode, h.file.Show(), i, h.file.Start, h.file.End)
		} else {
			e.note(UnreadScript, h.file.Show(), i, h.file.Start, h.file.End)
		}
		return unknownOutput("")
	}
	if h.lang != 0 {
		e.payload(sc, i, h.lang, f, h.file.Start, h.file.End, "file", h.file.Text, io)
		return unknownOutput("")
	}
	if binary(f.s) {
		return unknownOutput("") // a program, not a script
	}
	e.dialect = h.dialect
	if lang, ok := shebang(f.s); ok {
		if lang != 0 {
			e.payload(sc, i, lang, f, h.file.Start, h.file.End, "file", h.file.Text, io)
			return unknownOutput("")
		}
	}
	e.positional(sc, h.args)
	path := e.resolve(sc, h.file.Text)
	for k := range e.scripts {
		if c := &e.scripts[k]; c.path == path {
			if e.forks > c.forks || e.pipes > c.pipes {
				e.note(ForkBomb, h.file.Text, i, h.file.Start, h.file.End)
			}
			return unknownOutput("")
		}
	}
	e.scripts = append(e.scripts, running{path, e.forks, e.pipes})
	out := e.inject(sc, f, h.file.Start, h.file.End, io, i)
	e.scripts = e.scripts[:len(e.scripts)-1]
	return out
}

func binary(s string) bool {
	return strings.HasPrefix(s, "\x7fELF") || strings.HasPrefix(s, "\xcf\xfa\xed\xfe") || strings.HasPrefix(s, "MZ") ||
		strings.IndexByte(s[:min(len(s), 512)], 0) >= 0
}

// fromStdin runs what an interpreter reads from its standard input.
func (e *eval) fromStdin(sc *scope, i int, h *handoff, io frameIO) fragment {
	c := &e.prog.Commands[i]
	if io.in == nil {
		return unknownOutput("") // a terminal: nothing comes out of the text
	}
	f := io.in.cut(min(io.in.pos, len(io.in.s)), len(io.in.s))
	io.in.pos = len(io.in.s)
	lo, hi := c.Start, c.End
	if h.lang != 0 {
		e.payload(sc, i, h.lang, f, lo, hi, "stdin", "", frameIO{want: io.want})
		return unknownOutput("")
	}
	e.dialect = h.dialect
	e.positional(sc, h.args)
	e.how = "stdin"
	return e.inject(sc, f, lo, hi, frameIO{want: io.want}, i)
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}
