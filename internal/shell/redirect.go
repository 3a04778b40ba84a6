package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirections evaluates a statement's redirections. in is what feeds standard input, outFile the known name of the file
// that standard output goes to.
func (e *eval) redirections(sc *scope, list []*syntax.Redirect) (redirs []Redir, in *input, outFile string) {
	var fds map[string]fragment
	for _, r := range list {
		lo, hi := e.span(r)
		x := Redir{Op: r.Op.String(), Start: lo, End: hi}
		if r.N != nil {
			x.FD = r.N.Value
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			body := e.heredoc(sc, r)
			x.Target = body.word(lo, hi)
			in, fds = feed(in, fds, x.FD, body)
		case syntax.WordHdoc:
			x.Target = e.one(sc, r.Word)
			in, fds = feed(in, fds, x.FD, fromWord(x.Target).join(known("\n")))
		case syntax.DplIn:
			x.Target = e.one(sc, r.Word)
			if x.FD == "" || x.FD == "0" {
				in = e.duplicate(sc, fds, strings.TrimSuffix(x.Target.Text, "-"), in)
			}
		default:
			x.Target = e.one(sc, r.Word)
			path := fromWord(x.Target)
			switch {
			case r.Op == syntax.RdrIn || r.Op == syntax.RdrInOut:
				in, fds = feed(in, fds, x.FD, e.read(sc, path))
			case x.Writes() && x.FD != "2" && path.known() && x.Target.Pattern == "":
				outFile = e.resolve(sc, path.s)
			}
		}
		redirs = append(redirs, x)
	}
	e.opened = fds
	return redirs, in, outFile
}

// feed connects a text to a descriptor.
func feed(in *input, fds map[string]fragment, fd string, f fragment) (*input, map[string]fragment) {
	if fd == "" || fd == "0" {
		return &input{fragment: f}, fds
	}
	if fds == nil {
		fds = map[string]fragment{}
	}
	fds[strings.Trim(fd, "{}")] = f
	return in, fds
}

// duplicate returns what <&fd reads: a descriptor of the same statement, or one that exec opened.
func (e *eval) duplicate(sc *scope, fds map[string]fragment, fd string, in *input) *input {
	if f, ok := fds[fd]; ok {
		return &input{fragment: f}
	}
	if v := sc.lookup(fdKey(fd)); v != nil {
		return &input{fragment: e.pick(v).fragment()}
	}
	return in
}

func appends(redirs []Redir) bool {
	for _, r := range redirs {
		if r.Op == ">>" || r.Op == "&>>" {
			return true
		}
	}
	return false
}

// heredoc returns a here-document's body. A quoted delimiter keeps it as it is.
func (e *eval) heredoc(sc *scope, r *syntax.Redirect) fragment {
	if r.Hdoc == nil {
		return fragment{}
	}
	raw := false
	for _, p := range r.Word.Parts {
		if l, ok := p.(*syntax.Lit); !ok || strings.Contains(l.Value, `\`) {
			raw = true
		}
	}
	var b builder
	for _, p := range r.Hdoc.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			s := l.Value
			if r.Op == syntax.DashHdoc {
				s = untab(s)
			}
			if !raw {
				s = unescapeDouble(s, false)
			}
			b.str(s, quoted)
			continue
		}
		e.dquoted(sc, &b, []syntax.WordPart{p})
	}
	return fragment{s: string(b.b), holes: b.holes, from: b.from}
}

// untab drops the tabs that lead the lines of a <<- body.
func untab(s string) string {
	lines := strings.SplitAfter(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimLeft(lines[i], "\t")
	}
	return strings.Join(lines, "")
}

// resolve makes a name absolute, or relative to the start directory.
func (e *eval) resolve(sc *scope, name string) string {
	d := e.dir(sc)
	if len(d.Holes) > 0 {
		return name
	}
	return Clean(d.Text, name)
}

// Clean joins a directory and a path and resolves "." and ".." and doubled slashes by spelling. The result is absolute
// when either is, else relative to an unknown start directory ("." is that directory, a leading ".." is outside).
func Clean(dir, name string) string {
	switch {
	case strings.HasPrefix(name, "/"):
	case name == "~" || strings.HasPrefix(name, "~/"):
	case dir != "" && dir != ".":
		name = dir + "/" + name
	}
	lead := ""
	switch {
	case strings.HasPrefix(name, "/"):
		lead = "/"
	case name == "~" || strings.HasPrefix(name, "~/"):
		lead = "~/"
		name = name[1:]
	}
	var kept []string
	for part := range strings.SplitSeq(name, "/") {
		switch part {
		case "", ".":
		case "..":
			switch {
			case len(kept) > 0 && kept[len(kept)-1] != "..":
				kept = kept[:len(kept)-1]
			case lead == "/":
			default:
				kept = append(kept, "..")
			}
		default:
			kept = append(kept, part)
		}
	}
	out := lead + strings.Join(kept, "/")
	switch {
	case out == "":
		return "."
	case out == "~/":
		return "~"
	}
	return out
}

// read returns a file's text as far as it is known.
func (e *eval) read(sc *scope, path fragment) fragment {
	if !path.known() {
		return unknownOutput(path.s)
	}
	name := e.resolve(sc, path.s)
	if e.made.files[name] == nil {
		switch name {
		case "/dev/null":
			return fragment{}
		case "/dev/stdin", "/proc/self/fd/0", "/dev/fd/0":
			return unknownOutput("")
		}
	}
	f, ok := e.made.held(name, e.opt.File)
	e.steps += len(f.s)/64 + 8*len(e.made.copies)
	if len(e.made.copies) > 0 {
		if from, copied := e.made.origin(name, len(e.made.copies), e.opt.File); copied {
			e.steps += len(from.s) / 64
			if ok { // whether the copying failed is not known
				from = f.join(known("\n")).join(from)
			}
			return from
		}
	}
	if ok {
		return f
	}
	return fragment{s: Unknown, holes: []Hole{{Kind: Output, Name: "cat " + path.s}}, from: path.from}
}

// write remembers what a file holds after the text has written it.
func (e *eval) write(name string, f fragment, add bool) {
	if name == "" || strings.HasPrefix(name, "/dev/") && !strings.HasPrefix(name, "/dev/fd/") && !strings.HasPrefix(name, "/dev/shm/") {
		return
	}
	if e.made.files == nil {
		e.made.files = map[string]*file{}
	}
	if old := e.made.files[name]; old != nil {
		// A loop or a branch may have written something else before; both are possible, so both are read.
		if add || old.s != f.s {
			f = old.fragment.join(f)
		}
	} else if add && e.opt.File != nil {
		if text, ok := e.opt.File(name); ok {
			f = known(text).join(f)
		}
	}
	e.made.files[name] = &file{fragment: f}
}
