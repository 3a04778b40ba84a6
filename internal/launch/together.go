package launch

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"hermes/internal/guard"
	"hermes/internal/guard/command"
	"hermes/internal/shell"
)

// What a command runs out of a file is judged as the file is then; a command that runs can have it changed before it reads it. So what
// Hermes does at the same time is judged together: a command with the files that others make which run, and with those that it would
// make for them; a file that a tool writes, as what a running command would make of it.

// board is what goes on at the moment. The zero board is an empty one.
type board struct {
	mu      sync.Mutex // guards what follows
	running map[*journey]bool
	writes  map[*write]bool
}

// write is a file that a tool is about to write.
type write struct {
	names []string // all it was reached by
	text  string
}

// seen is what a file held when a command was judged.
type seen struct {
	text string
	ok   bool
}

// begin notes that a command is about to run.
func (b *board) begin(j *journey) (end func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running == nil {
		b.running = map[*journey]bool{}
	}
	b.running[j] = true
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.running, j)
	}
}

// others lists what runs beside j where paths mean the same, and what is being written.
func (b *board) others(j *journey) (running []*journey, writes []*write) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for o := range b.running {
		if o != j && o.c.Place.hostFiles() {
			running = append(running, o)
		}
	}
	for w := range b.writes {
		writes = append(writes, w)
	}
	return running, writes
}

// file returns what a script holds when the command reads it: what it holds now, and what others make it hold that run.
func (j *journey) file(name string) (text string, ok bool) {
	text, ok = j.script(name)
	running, writes := j.d.board.others(j)
	if len(running)+len(writes) == 0 {
		return text, ok
	}
	add := func(more string) {
		if ok {
			more = text + "\n" + more
		}
		text, ok = more, true
	}
	names := []string{name}
	if at := Resolve(name); at != name {
		names = append(names, at)
	}
	for _, o := range running {
		prog, _ := o.reading()
		for _, n := range names {
			if more, makes := prog.Makes(n, o.script); makes {
				add(more)
				break
			}
		}
	}
	for _, w := range writes {
		if slices.ContainsFunc(names, func(n string) bool { return slices.Contains(w.names, n) }) {
			add(w.text)
		}
	}
	return text, ok
}

// script reads a script as it is on the disk.
func (j *journey) script(name string) (string, bool) {
	if j.p.Facts.File == nil || !j.c.Place.hostFiles() { // the script is another one inside
		return "", false
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(j.r.Dir, name)
	}
	return j.p.Facts.File(name)
}

// looked remembers what the command was judged with.
func (j *journey) looked(name string) (string, bool) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(j.r.Dir, name)
	}
	text, ok := j.file(name)
	j.looks.Lock()
	defer j.looks.Unlock()
	if j.reads == nil {
		j.reads = map[string]seen{}
	}
	j.reads[name] = seen{text, ok}
	return text, ok
}

// moved tells whether what the command was judged with may be other by now.
func (j *journey) moved() bool {
	running, writes := j.d.board.others(j)
	if len(running)+len(writes) > 0 {
		return true
	}
	j.looks.Lock()
	reads := j.reads
	j.looks.Unlock()
	for name, was := range reads {
		if text, ok := j.file(name); text != was.text || ok != was.ok {
			return true
		}
	}
	return false
}

// reading returns what the command would run by what is known now, and what it was judged against.
func (j *journey) reading() (*shell.Program, command.Facts) {
	j.looks.Lock()
	defer j.looks.Unlock()
	return j.prog, j.against
}

// Resolve returns where a file lies, or would: links on the way are followed, also where they lead to what is not there yet.
func Resolve(name string) string {
	if name == "" {
		return name
	}
	const most = 40 // as many links as Linux follows
	at, rest := "", name
	if filepath.IsAbs(name) {
		at = filepath.VolumeName(name) + string(filepath.Separator)
		rest = name[len(at):]
	}
	for links := 0; rest != ""; {
		var step string
		step, rest, _ = strings.Cut(rest, string(filepath.Separator))
		if step == "" || step == "." {
			continue
		}
		next := filepath.Join(at, step) // ".." from where it lies, not from how it was named
		info, err := os.Lstat(next)
		if err != nil { // nothing below it is there
			return filepath.Join(next, rest)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		to, err := os.Readlink(next)
		if links++; err != nil || links > most {
			return filepath.Join(next, rest)
		}
		if filepath.IsAbs(to) {
			at = filepath.VolumeName(to) + string(filepath.Separator)
			to = to[len(at):]
		}
		rest = to + string(filepath.Separator) + rest
	}
	if at == "" {
		return "."
	}
	return at
}

// with judges a command that runs with another text of one of its scripts, and returns what is said against that and was not before.
func (j *journey) with(change func(name string) (text string, ok bool)) (out []guard.Finding) {
	_, f := j.reading()
	f.File = func(name string) (string, bool) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(j.r.Dir, name)
		}
		old, had := j.script(name)
		if text, ok := change(name); ok {
			if had {
				text = old + "\n" + text
			}
			return text, true
		}
		return old, had
	}
	prog := j.p.Rules.Parse(j.text, f, j.c.given()...)
	for _, hit := range j.d.judge(j.p.Rules, &prog, f).Findings {
		if !slices.ContainsFunc(j.r.Verdict.Findings, func(was guard.Finding) bool { return was.Rule == hit.Rule && was.Tier == hit.Tier }) {
			out = append(out, hit)
		}
	}
	return out
}

// scripts lists the files that the command was judged with, and where they lie.
func (j *journey) scripts() map[string]string {
	j.looks.Lock()
	defer j.looks.Unlock()
	out := make(map[string]string, len(j.reads))
	for name := range j.reads {
		out[name] = Resolve(name)
	}
	return out
}

// feeds returns what is said against a command because of what it would have others run that run already.
func (j *journey) feeds(prog *shell.Program) (out []guard.Finding) {
	running, _ := j.d.board.others(j)
	for _, o := range running {
		made := map[string]string{}
		for name, at := range o.scripts() {
			for _, n := range []string{name, at} {
				if text, ok := prog.Makes(n, j.script); ok {
					made[name] = text
					break
				}
			}
		}
		if len(made) == 0 {
			continue
		}
		hits := o.with(func(name string) (string, bool) { text, ok := made[name]; return text, ok })
		for _, hit := range hits {
			hit.Reason = "a command that runs already would run what this writes (" + shorten(o.r.Command) + "): " + hit.Reason
			hit.Start, hit.End = 0, len(j.text)
			if !slices.ContainsFunc(out, sameRule(hit)) {
				out = append(out, hit)
			}
		}
	}
	return out
}

// Writing judges a file that a tool is about to write, under all its names, as what the commands that run would make of it. done is
// called when it is written, or will not be: until then it counts for commands that begin.
func (d *Door) Writing(names []string, text string) (v guard.Verdict, done func()) {
	w := &write{names, text}
	d.board.mu.Lock()
	if d.board.writes == nil {
		d.board.writes = map[*write]bool{}
	}
	d.board.writes[w] = true
	d.board.mu.Unlock()
	done = func() {
		d.board.mu.Lock()
		defer d.board.mu.Unlock()
		delete(d.board.writes, w)
	}
	var found []guard.Finding
	running, _ := d.board.others(nil)
	for _, o := range running {
		for name, at := range o.scripts() {
			if !slices.Contains(names, name) && !slices.Contains(names, at) {
				continue
			}
			for _, hit := range o.with(func(n string) (string, bool) { return text, n == name }) {
				hit.Reason = "a command that runs already would run it (" + shorten(o.r.Command) + "): " + hit.Reason
				hit.Start, hit.End = 0, 0
				found = append(found, hit)
			}
		}
	}
	return guard.Judge(found), done
}
