package shell

import (
	"path"
	"slices"
	"strings"
)

// A copied file or folder holds what another one does.
type copied struct {
	to, from string
	link     bool // a symbolic one: what is done below it is done there
	whole    bool // it was moved, or copied with its links: they lead where they led
}

// maxCopies is how many of them are remembered. More is noted, as all that is too much to be followed.
const maxCopies = 256

// filed remembers what programs make of files that the text may run afterwards: copies, renamed files and links hold what their
// source does; what a program changes in place, in a way that is not followed, is not known any more.
func (e *eval) filed(sc *scope, i int, io frameIO) {
	c := &e.prog.Commands[i]
	if c.Place >= Container || len(c.Args) < 2 {
		return
	}
	switch c.Name {
	case "cp", "mv", "ln", "link", "install", "rsync", "scp", "ditto":
		e.copyTo(sc, i)
	case "dd":
		from, to := "", ""
		for _, w := range c.Args[1:] {
			if s, ok := strings.CutPrefix(w.Text, "if="); ok {
				from = s
			} else if s, ok := strings.CutPrefix(w.Text, "of="); ok {
				to = s
			}
		}
		switch {
		case to == "" || strings.Contains(to, Unknown):
		case from != "":
			e.holds(sc, i, copied{to: to, from: from})
		default:
			e.write(e.resolve(sc, to), e.fed(i, io), false)
		}
	case "tee", "sponge":
		for _, w := range c.Args[1:] {
			if w.Known() && !strings.HasPrefix(w.Text, "-") {
				e.write(e.resolve(sc, w.Text), e.fed(i, io), true)
			}
		}
	case "sed", "gsed", "perl", "ruby":
		if slices.ContainsFunc(c.Args[1:], func(w Word) bool { return inPlace(w.Text) }) {
			e.edited(sc, i, c.Args[1:])
		}
	case "patch", "ed", "ex":
		e.edited(sc, i, c.Args[1:])
	case "sort", "shuf":
		for k, w := range c.Args[1:] {
			if w.Text == "-o" && k+2 < len(c.Args) {
				e.edited(sc, i, c.Args[k+2:k+3])
			} else if s, ok := strings.CutPrefix(w.Text, "--output="); ok {
				e.edited(sc, i, []Word{w.Lit(s)})
			}
		}
	}
}

// inPlace tells whether an option makes sed, perl or ruby change the files themselves.
func inPlace(s string) bool {
	if strings.HasPrefix(s, "--") {
		return strings.HasPrefix(s, "--in-place")
	}
	return len(s) > 1 && s[0] == '-' && strings.IndexByte(s, 'i') > 0 && !strings.HasPrefix(s, "-I")
}

// fed is what command i reads on its standard input.
func (e *eval) fed(i int, io frameIO) fragment {
	if io.in == nil {
		return fragment{s: Unknown, holes: []Hole{{Kind: Output}}, from: []int{i}}
	}
	return io.in.fragment
}

// edited makes the text of files unknown, if it was known: what is not known cannot become less so.
func (e *eval) edited(sc *scope, i int, args []Word) {
	for _, w := range args {
		if !w.Known() || w.Text == "" || w.Text[0] == '-' {
			continue
		}
		if f := e.read(sc, fromWord(w)); f.known() && f.s != "" {
			e.write(e.resolve(sc, w.Text), fragment{s: Unknown, holes: []Hole{{Kind: Output, Name: e.prog.Commands[i].Name}}, from: []int{i}}, false)
		}
	}
}

// copyTo reads the operands of a program that copies: sources, and where they go to. Whether that is a folder is not known.
func (e *eval) copyTo(sc *scope, i int) {
	c := &e.prog.Commands[i]
	var words []Word
	into, symbolic, whole := "", false, c.Name == "mv" || c.Name == "ditto"
	for k := 1; k < len(c.Args); k++ {
		w := c.Args[k]
		s := w.Text
		switch {
		case len(s) < 2 || s[0] != '-':
			words = append(words, w)
		case s == "-t" || s == "--target-directory":
			if k++; k < len(c.Args) {
				into = c.Args[k].Text
			}
		case strings.HasPrefix(s, "--target-directory="):
			into = strings.TrimPrefix(s, "--target-directory=")
		case c.Name == "install" && (s == "-m" || s == "-o" || s == "-g"), s == "-S", c.Name == "rsync" && s == "-e":
			k++
		case strings.HasPrefix(s, "--symbolic"), s[1] != '-' && strings.Contains(s, "s") && (c.Name == "ln" || c.Name == "cp"):
			symbolic = true
		case s == "--archive", s == "--recursive", s == "--links", strings.HasPrefix(s, "--no-deref"), s == "--preserve=links",
			s[1] != '-' && strings.ContainsAny(s, "adrlRP") && c.Name != "install" && c.Name != "ln":
			whole = true
		}
	}
	to := into
	if into == "" {
		if len(words) == 1 && c.Name == "ln" {
			to = "."
		} else if len(words) < 2 {
			return
		} else {
			last := words[len(words)-1]
			if words = words[:len(words)-1]; len(last.Holes) > 0 {
				return
			}
			to = last.Text
		}
	}
	if strings.Contains(to, Unknown) {
		return
	}
	for _, w := range words {
		from := w.Text
		if n := strings.IndexAny(from, Unknown+"*?["); n >= 0 && (w.Pattern != "" || len(w.Holes) > 0) { // what it may be, lies in that folder
			if from = from[:strings.LastIndexByte(from[:n], '/')+1]; from == "" {
				from = "."
			}
			e.holds(sc, i, copied{to, from, symbolic, whole})
			if len(w.Holes) > 0 { // it may be any file
				e.write(e.resolve(sc, to), fragment{s: Unknown, holes: []Hole{{Kind: Output, Name: c.Name}}, from: []int{i}}, true)
			}
			continue
		}
		base := to + "/" + path.Base(from)
		if symbolic && !strings.HasPrefix(from, "/") && from[:min(1, len(from))] != "~" { // it is read where the link is
			if into == "" && to != "." {
				e.holds(sc, i, copied{to, path.Dir(to) + "/" + from, true, false})
			}
			e.holds(sc, i, copied{base, to + "/" + from, true, false})
			continue
		}
		if into == "" && !strings.HasSuffix(to, "/") {
			e.holds(sc, i, copied{to, from, symbolic, whole})
		}
		e.holds(sc, i, copied{base, from, symbolic, whole})
	}
}

// holds notes that command i makes a file or folder hold what another one does.
func (e *eval) holds(sc *scope, i int, made copied) {
	if len(e.made.copies) >= maxCopies {
		c := &e.prog.Commands[i]
		e.note(TooDeep, "", i, c.Start, c.End)
		return
	}
	made.to, made.from = e.resolve(sc, made.to), e.resolve(sc, made.from)
	e.made.copies = append(e.made.copies, made)
}

// made is what a text makes of files.
type made struct {
	files  map[string]*file // that it writes
	copies []copied         // in that order
}

// origin returns what a file holds because others were copied to it, or a folder was to one that it is in: of those whose text is known.
// Only the first most of what was copied count.
func (m *made) origin(name string, most int, fact func(string) (string, bool)) (all fragment, found bool) {
	for k := most - 1; k >= 0; k-- {
		c := &m.copies[k]
		rest, below := strings.CutPrefix(name, strings.TrimSuffix(c.to, "/")+"/")
		if c.to == "." && !strings.HasPrefix(name, "/") {
			rest, below = name, true
		}
		switch {
		case name == c.to:
			rest = c.from
		case below:
			rest = Clean(c.from, rest)
		default:
			continue
		}
		f, ok := m.held(rest, fact)
		if !ok {
			f, ok = m.origin(rest, k, fact)
		}
		if !ok || f.s == "" {
			continue
		}
		if found {
			all = all.join(known("\n"))
		}
		all, found = all.join(f), true
	}
	return all, found
}

// held returns the text of a file that the text itself has written, or that is known as a fact.
func (m *made) held(name string, fact func(string) (string, bool)) (fragment, bool) {
	if f := m.files[name]; f != nil {
		return f.fragment, true
	}
	if fact != nil {
		if text, ok := fact(name); ok {
			return known(text), true
		}
	}
	return fragment{}, false
}

// Makes returns what the text makes a file hold, as far as it is followed: by redirections, copies, links. What of it cannot be known is
// code that cannot be known. file gives the text of other files. It is safe for concurrent use.
func (p *Program) Makes(path string, file func(string) (string, bool)) (text string, ok bool) {
	if p.made == nil {
		return "", false
	}
	var all fragment
	if f := p.made.files[path]; f != nil {
		all, ok = f.fragment, true
	}
	if f, copied := p.made.origin(path, len(p.made.copies), file); copied {
		all, ok = all.join(known("\n")).join(f), true
	}
	if ok && !all.known() {
		return "eval \"$HERMES_CANNOT_READ_THIS\"\n", true
	}
	return all.s, ok
}

// mostPlaces is how many places are followed for one path.
const mostPlaces = 64

// Links tells whether the text may make links, or move some.
func (p *Program) Links() bool {
	return p.made != nil && slices.ContainsFunc(p.made.copies, func(c copied) bool { return c.link || c.whole })
}

// Leads returns where a path leads by symbolic links: by those that the text makes, moves or copies, and by those that follow knows of,
// which returns what it is given where there are none; it may be nil. A link may be made anew and lead to another one, so that there may
// be several places. work is how much was looked at. all is false where there are more places than are followed.
func (p *Program) Leads(name string, follow func(string) string) (places []string, work int, all bool) {
	type place struct {
		path   string
		linked bool
	}
	var links []copied
	if p.made != nil {
		links = p.made.copies
	}
	list, todo := []place{{name, false}}, []int{0}
	add := func(path string, linked bool) {
		n := slices.IndexFunc(list, func(at place) bool { return at.path == path })
		switch {
		case n < 0:
			n, list = len(list), append(list, place{path, linked})
		case linked && !list[n].linked: // so is what it leads to
			list[n].linked = true
		default:
			return
		}
		todo = append(todo, n)
	}
	all = true
	for k := 0; k < len(todo) && all; k++ {
		all = k < mostPlaces
		at := list[todo[k]]
		if follow != nil {
			if to := follow(at.path); to != at.path {
				add(to, true)
			}
		}
		work += len(links)
		for k := range links {
			c := &links[k]
			if !c.link && !c.whole || c.to == "." || inside(c.from, c.to) {
				continue
			}
			if at.path == c.to {
				add(c.from, at.linked || c.link)
			} else if inside(at.path, c.to) {
				add(Clean(c.from, strings.TrimLeft(at.path[len(c.to):], "/")), at.linked || c.link)
			}
		}
	}
	for _, at := range list {
		if at.linked && at.path != name {
			places = append(places, at.path)
		}
	}
	return places, work, all
}

// inside tells whether a path is a folder or below it.
func inside(name, folder string) bool {
	return strings.HasPrefix(name, folder) && (len(name) == len(folder) || name[len(folder)] == '/' || strings.HasSuffix(folder, "/"))
}
