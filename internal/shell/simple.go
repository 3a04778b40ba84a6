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
		if !out.known() && len(e.prog.Commands) > first {
			out.from = union(out.from, []int{first})
		}
		e.write(outFile, out, appends(cmd.Redirs))
		return fragment{}
	}
	if !want {
		return fragment{}
	}
	return out
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
	own := !e.started
	e.started = false
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
	if own = own && handsToItself(c.Args); own && inner != sc {
		// What is assigned in front holds for the command alone, what the command changes does not.
		e.external(inner, i, io, false)
	} else if !own {
		sc = inner
	}
	return e.external(sc, i, io, own)
}

// handsToItself tells whether a command is one by which the shell runs something of its own, past its functions: "command cd"
// and "builtin eval" change the shell that runs them.
func handsToItself(args []Word) bool { return args[0].Text == "command" || args[0].Text == "builtin" }

// named runs an alias or a function of the command's name. done is false when there is none, or perhaps none.
func (e *eval) named(sc *scope, c Command, io frameIO) (out fragment, done bool) {
	w := c.Args[0]
	switch e.how {
	case "", "function", "alias":
	default:
		return fragment{}, false // a launcher starts programs, not functions of the shell
	}
	e.defined(sc, w)
	if v := sc.lookup(aliasKey(w.Text)); v != nil && !w.Quoted {
		if fn := e.pick(v).fn; fn != nil && !e.calling(fn) { // an alias is not looked for in what it stands for
			return e.aliasOr(sc, fn, c, io), true
		}
	}
	v := sc.lookup(funcKey(w.Text))
	if v == nil {
		e.unfound(sc, c, io)
		return fragment{}, false
	}
	done = !e.unsets
	for _, x := range v.alts {
		if x.fn == nil {
			done = false
			continue
		}
		out = e.callFunction(sc, x.fn, c.Args, io, c.Parent)
	}
	return out, done
}

// aliasOr runs a command by an alias, and past it: a shell reads a whole line, or function, before an alias that is made in it, or
// after it, counts.
func (e *eval) aliasOr(sc *scope, fn *function, c Command, io frameIO) fragment {
	by, past := sc.fork(), sc.fork()
	i, same := len(e.prog.Commands), io
	if io.in != nil {
		in := *io.in
		same.in = &in
	}
	literal := c
	literal.Args = slices.Clone(c.Args)
	literal.Args[0].Quoted = true
	other := e.run(past, literal, same)
	if i == len(e.prog.Commands) {
		e.emit(c, io)
	}
	out := e.under("alias", func() fragment { return e.callFunction(by, fn, c.Args, io, i) })
	sc.mergeAll([]*scope{by, past}, true)
	switch {
	case other.known() && out.known() && other.s != out.s:
		return unknownOutput("") // one of the two
	case out.known():
		return out
	}
	return other
}

func (e *eval) calling(fn *function) bool {
	return slices.ContainsFunc(e.calls, func(c call) bool { return c.fn == fn })
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
