package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"hermes/internal/shell/code"
)

// eval is one evaluation of one text.
type eval struct {
	opt     Options
	prog    Program
	home    string
	dialect Dialect
	cur     current
	depth   int

	exported map[string]bool // names that the text has put into the environment, somewhere before; "*": all
	nested   int             // substitutions we are in
	steps    int
	spent    bool // the step bound was hit and noted

	frame   *frame               // alternatives tried for the command at hand
	frames  frame                // the outermost one
	opened  map[string]fragment  // what the redirections evaluated last opened besides standard input
	made    made                 // files the text writes, and the pipes of process substitutions
	scripts []running            // scripts being run
	calls   []call               // functions being run
	late    []deferred           // traps
	funcs   []*function          // all that were defined, to run those that nothing called
	recalls bool                 // what the shell had before counts
	touched bool                 // something of it was met where it does not count
	kept    map[string]*function // of that, by key; nil: it has none
	unsets  bool                 // any function may be gone
	holes   []Hole               // unknown pieces inside texts that are run as code, see inject
	pipes   int                  // pipelines we are in
	stage   int                  // first command of the last stage of the pipeline that ended last
	forks   int                  // background jobs we are in
	place   Place                // where commands run
	how     string               // how commands are run by their parent
	started bool                 // the next command is started by a program: it cannot change the shell
	looped  bool                 // commands run once for each of many items
	later_  bool                 // commands run at a later event
	guess   bool                 // commands only perhaps run
	env     []Assign             // assignments a launcher made for the next command
	copies  map[string]Word      // programs the text has copied or linked, by their new path
	seen    map[string]int       // texts run as code so far, to not follow the same one for ever
	scan    map[scanned]code.Report
}

type scanned struct {
	lang code.Lang
	text string
}

// current is the text being evaluated.
type current struct {
	text string
	src  source
}

// A file is one the text itself fills: by redirection, or as a process substitution.
type file struct {
	fragment
}

type call struct {
	fn          *function
	forks       int
	pipes       int
	pipedSelves int // places inside a pipeline from which it calls itself
	lastSelf    int
}

// running is a script that is being followed.
type running struct {
	path         string
	forks, pipes int
}

type deferred struct {
	text   fragment
	how    string
	start  int
	end    int
	parent int
}

// frameIO is what a statement is connected to.
type frameIO struct {
	in   *input // nil: a terminal, or whatever the text was started with
	want bool   // somebody reads what it prints
}

// input is a known or partly known standard input that commands consume in turn.
type input struct {
	fragment
	pos int
}

// rest returns what is left to read as the Input of a command.
func (in *input) rest() *Input {
	if in == nil {
		return nil
	}
	f := in.cut(min(in.pos, len(in.s)), len(in.s))
	return &Input{Text: f.s, Holes: f.holes, From: f.from}
}

func (e *eval) spend(n int) bool {
	e.steps += n
	if e.steps <= maxSteps && len(e.prog.Commands) < maxCommands {
		return true
	}
	if !e.spent {
		e.spent = true
		lo, hi := e.cur.src.span(0, len(e.cur.text))
		e.note(TooMuch, "", -1, lo, hi)
	}
	return false
}

func (e *eval) note(kind NoteKind, text string, command, start, end int) {
	if len(e.prog.Notes) > 256 {
		return
	}
	n := Note{Kind: kind, Text: text, Command: command, Start: min(start, end), End: max(start, end)}
	if !slices.Contains(e.prog.Notes, n) {
		e.prog.Notes = append(e.prog.Notes, n)
	}
}

func (e *eval) span(n syntax.Node) (int, int) {
	return e.cur.src.span(int(n.Pos().Offset()), int(n.End().Offset()))
}

// stmts runs statements in order and returns what they print.
func (e *eval) stmts(sc *scope, list []*syntax.Stmt, io frameIO, parent int) (out fragment) {
	for _, s := range list {
		if !e.spend(1) {
			return unknownOutput("")
		}
		f := e.stmt(sc, s, io, parent)
		if io.want {
			out = out.join(f)
		}
	}
	return out
}

func (e *eval) stmt(sc *scope, s *syntax.Stmt, io frameIO, parent int) fragment {
	if s.Background || s.Coprocess || s.Disown {
		e.forks++
		first := len(e.prog.Commands)
		e.redirected(sc.fork(), s, io, parent)
		e.forks--
		for i := first; i < len(e.prog.Commands); i++ {
			e.prog.Commands[i].Detached = true
		}
		return fragment{}
	}
	return e.redirected(sc, s, io, parent)
}

// redirected runs a statement with its redirections. Those of a simple command belong to the command; those of a compound
// one become a command without a program.
func (e *eval) redirected(sc *scope, s *syntax.Stmt, io frameIO, parent int) fragment {
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		return e.simple(sc, call, s, io, parent)
	}
	if len(s.Redirs) == 0 {
		return e.command(sc, s.Cmd, io, parent)
	}
	redirs, in, outFile := e.redirections(sc, s.Redirs)
	if in != nil {
		io.in = in
	}
	if len(redirs) > 0 {
		e.emit(Command{Redirs: redirs, Dir: e.dir(sc), Start: redirs[0].Start, End: redirs[len(redirs)-1].End, Parent: parent}, io)
	}
	if s.Cmd == nil {
		return fragment{}
	}
	want := io.want
	if outFile != "" {
		io.want = true
	}
	out := e.command(sc, s.Cmd, io, parent)
	if outFile != "" {
		e.write(outFile, out, appends(redirs))
		return fragment{}
	}
	if !want {
		return fragment{}
	}
	return out
}

func (e *eval) command(sc *scope, cmd syntax.Command, io frameIO, parent int) fragment {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		return e.simple(sc, c, nil, io, parent)
	case *syntax.BinaryCmd:
		return e.binary(sc, c, io, parent)
	case *syntax.Block:
		return e.stmts(sc, c.Stmts, io, parent)
	case *syntax.Subshell:
		return e.stmts(sc.fork(), c.Stmts, io, parent)
	case *syntax.IfClause:
		return e.ifClause(sc, c, io, parent)
	case *syntax.WhileClause:
		return e.whileClause(sc, c, io, parent)
	case *syntax.ForClause:
		return e.forClause(sc, c, io, parent)
	case *syntax.CaseClause:
		return e.caseClause(sc, c, io, parent)
	case *syntax.FuncDecl:
		e.declare(sc, c)
		return fragment{}
	case *syntax.DeclClause:
		return e.decl(sc, c, io, parent)
	case *syntax.TimeClause:
		if c.Stmt == nil {
			return fragment{}
		}
		if call := timeProgram(c); call != nil {
			return e.simple(sc, call, c.Stmt, io, parent)
		}
		return e.stmt(sc, c.Stmt, io, parent)
	case *syntax.CoprocClause:
		io.in = &input{fragment: hole(Item, "COPROC")} // the shell writes to it, by whatever descriptor
		e.forks++
		first := len(e.prog.Commands)
		e.stmt(sc.fork(), c.Stmt, io, parent)
		e.forks--
		for i := first; i < len(e.prog.Commands); i++ {
			e.prog.Commands[i].Detached = true
		}
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			e.arithm(sc, x)
			e.subscripts(sc, x)
		}
	case *syntax.ArithmCmd:
		e.arithm(sc, c.X)
	case *syntax.TestClause:
		e.substitutions(sc, c.X)
		e.subscripts(sc, c.X)
	case *syntax.TestDecl:
		e.stmt(sc.fork(), c.Body, io, parent)
	}
	return fragment{}
}

// timeProgram returns the call of the program time when the keyword is followed by options that only the program has.
func timeProgram(c *syntax.TimeClause) *syntax.CallExpr {
	call, ok := c.Stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || !strings.HasPrefix(call.Args[0].Lit(), "-") {
		return nil
	}
	end := syntax.NewPos(c.Time.Offset()+4, c.Time.Line(), c.Time.Col()+4)
	name := &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{ValuePos: c.Time, ValueEnd: end, Value: "time"}}}
	out := *call
	out.Args = append([]*syntax.Word{name}, call.Args...)
	return &out
}

func (e *eval) binary(sc *scope, c *syntax.BinaryCmd, io frameIO, parent int) fragment {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		return e.pipeline(sc, c, io, parent)
	case syntax.AndStmt:
		out := e.stmt(sc, c.X, io, parent)
		branch := sc.fork()
		out2 := e.stmt(branch, c.Y, io, parent)
		sc.merge(branch, false)
		return out.join(out2)
	default:
		out := e.stmt(sc, c.X, io, parent)
		branch := sc.fork()
		out2 := e.stmt(branch, c.Y, io, parent)
		if !leaves(c.Y) {
			sc.merge(branch, true)
		}
		if io.want && out2.s != "" {
			return unknownOutput("") // one of the two
		}
		return out
	}
}

// leaves tells whether a statement ends the shell or function it is in.
func leaves(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) == 0 {
			return false
		}
		switch c.Args[0].Lit() {
		case "exit", "return", "continue", "break":
			return true
		}
	case *syntax.Block:
		return len(c.Stmts) > 0 && leaves(c.Stmts[len(c.Stmts)-1])
	case *syntax.BinaryCmd:
		return c.Op == syntax.AndStmt && leaves(c.Y)
	}
	return false
}

// maxWriters bounds how far back the commands that feed a pipe are told: the nearest ones are.
const maxWriters = 64

func (e *eval) pipeline(sc *scope, c *syntax.BinaryCmd, io frameIO, parent int) fragment {
	e.pipes++
	first := len(e.prog.Commands)
	out := e.stmt(sc.fork(), c.X, frameIO{in: io.in, want: true}, parent)
	middle := len(e.prog.Commands)
	if x, ok := c.X.Cmd.(*syntax.BinaryCmd); ok && len(c.X.Redirs) == 0 && (x.Op == syntax.Pipe || x.Op == syntax.PipeAll) {
		first = e.stage // a longer pipeline: what stands before its last stage has its reader
	}
	writers := out.from
	writers = slices.Clip(writers)
	for i := first; i < middle; i++ {
		if e.prog.Commands[i].Reader < 0 {
			writers = append(writers, i)
			e.prog.Commands[i].Reader = middle
		}
	}
	if len(writers) > maxWriters {
		writers = writers[len(writers)-maxWriters:]
	}
	out.from = writers
	// The last part of a pipeline may run in the shell itself (lastpipe, zsh, ksh): what it sets may stay.
	branch := sc.fork()
	res := e.stmt(branch, c.Y, frameIO{in: &input{fragment: out}, want: io.want}, parent)
	sc.merge(branch, true)
	if middle == len(e.prog.Commands) {
		for i := first; i < middle; i++ {
			if e.prog.Commands[i].Reader == middle {
				e.prog.Commands[i].Reader = -1 // nothing reads after all
			}
		}
	}
	e.stage = middle
	e.pipes--
	return res
}

func (e *eval) ifClause(sc *scope, c *syntax.IfClause, io frameIO, parent int) fragment {
	var out fragment
	printed := 0
	var branches []*scope
	total := false // one of the branches runs for certain
	for ; c != nil; c = c.Else {
		if len(c.Cond) > 0 {
			out = out.join(e.stmts(sc, c.Cond, io, parent))
		} else {
			total = true
		}
		b := sc.fork()
		f := e.stmts(b, c.Then, io, parent)
		if f.s != "" {
			printed++
			out = out.join(f)
		}
		if n := len(c.Then); n == 0 || !leaves(c.Then[n-1]) {
			branches = append(branches, b)
		}
	}
	sc.mergeAll(branches, total)
	if io.want && printed > 0 {
		return fragment{s: Unknown, holes: []Hole{{Kind: Output}}, from: out.from}
	}
	return out
}

func (e *eval) caseClause(sc *scope, c *syntax.CaseClause, io frameIO, parent int) fragment {
	e.eachChoice(func() { e.one(sc, c.Word) })
	var out fragment
	var branches []*scope
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			e.one(sc, p)
		}
		b := sc.fork()
		out = out.join(e.stmts(b, item.Stmts, io, parent))
		branches = append(branches, b)
	}
	for _, b := range branches {
		sc.merge(b, true)
	}
	if io.want && out.s != "" {
		return fragment{s: Unknown, holes: []Hole{{Kind: Output}}, from: out.from}
	}
	return out
}

func (e *eval) declare(sc *scope, c *syntax.FuncDecl) {
	fn := &function{body: c.Body, text: e.cur.text, src: e.cur.src}
	e.funcs = append(e.funcs, fn)
	names := c.Names
	if c.Name != nil {
		names = append(names, c.Name)
	}
	for _, n := range names {
		sc.set(funcKey(n.Value), value{fn: fn})
	}
}

// later runs what only a later event runs: bodies of functions nothing called, and traps.
func (e *eval) later(sc *scope) {
	for i := 0; i < len(e.late); i++ {
		d := e.late[i]
		e.how = d.how
		e.inject(sc.fork(), d.text, d.start, d.end, frameIO{}, d.parent)
		e.how = ""
	}
	for i := 0; i < len(e.funcs); i++ {
		fn := e.funcs[i]
		if fn.called || fn.body == nil {
			continue
		}
		fn.called = true
		b := sc.fork()
		b.put(argsKey, &variable{alts: []value{{s: Unknown}}})
		first := len(e.prog.Commands)
		saved := e.cur
		e.cur = current{text: fn.text, src: fn.src}
		e.how = "function"
		e.calls = append(e.calls, call{fn: fn, forks: e.forks, pipes: e.pipes})
		e.stmt(b, fn.body, frameIO{}, -1)
		e.calls = e.calls[:len(e.calls)-1]
		e.how = ""
		e.cur = saved
		for j := first; j < len(e.prog.Commands); j++ {
			e.prog.Commands[j].Deferred = true
		}
	}
}

// callFunction runs a function's body with arguments.
func (e *eval) callFunction(sc *scope, fn *function, args []Word, io frameIO, parent int) fragment {
	fn.called = true
	if !e.spend(4) {
		return unknownOutput("")
	}
	lo, hi := 0, 0
	if len(args) > 0 {
		lo, hi = args[0].Start, args[0].End
	}
	for i := range e.calls {
		c := &e.calls[i]
		if c.fn != fn {
			continue
		}
		if e.pipes > c.pipes && (c.pipedSelves == 0 || c.lastSelf != lo) {
			c.pipedSelves++
			c.lastSelf = lo
		}
		if e.forks > c.forks || c.pipedSelves > 1 {
			e.note(ForkBomb, args[0].Text, parent, lo, hi)
		}
		return unknownOutput("")
	}
	if e.depth >= maxDepth {
		e.note(TooDeep, "", parent, lo, hi)
		return unknownOutput("")
	}
	e.depth++
	e.calls = append(e.calls, call{fn: fn, forks: e.forks, pipes: e.pipes})
	saved := e.cur
	e.cur = current{text: fn.text, src: fn.src}
	inner := &scope{below: sc, local: true}
	var pos []fragment
	for _, a := range args[1:] {
		pos = append(pos, asItem(a))
	}
	setArguments(inner, pos)
	var out fragment
	if fn.body != nil {
		out = e.stmt(inner, fn.body, io, parent)
	} else {
		out = e.text(inner, e.standsFor(sc, fn, args), pinned(lo, hi), io, parent)
	}
	e.cur = saved
	e.calls = e.calls[:len(e.calls)-1]
	e.depth--
	return out
}
