package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"hermes/internal/guard"
	"hermes/internal/guard/paths"
)

// State says what must be there before a change.
type State uint8

// The states.
const (
	Any State = iota
	Existing
	Absent
)

// Change is what shall become of one file.
type Change struct {
	Name  Name
	State State
	// Text makes the new text of the old one; nil leaves it. old is nil where there is no file. An error stops everything.
	Text   func(old *File) (string, error)
	To     *Name // it gets this name, where nothing may be; nil: it keeps its own
	Remove bool  // it goes

	raw  *version           // instead of Text: exactly this
	must func([]byte) error // what the old text must be
}

// version is a file at one time.
type version struct {
	exists bool
	text   []byte
	mode   fs.FileMode
}

// Done is what became of one file.
type Done struct {
	Path    string // where it lies, or lay
	To      string // where it lies now, if it was moved
	Diff    string // unified; empty where nothing changed, and where it may not be shown
	Hidden  bool   // there is a difference that may not be shown
	Created bool
	Removed bool
	Added   int // lines
	Deleted int
	Form    Form

	before, after version
}

// step is one change on its way.
type step struct {
	c       Change
	from    place
	to      place // where the text goes: from, or the new name; nil: nowhere
	full    string
	toFull  string
	shown   bool // the old text may be read
	old     *File
	done    Done
	draft   draft
	changed bool   // on the disk
	written func() // tells that it is, or will not be; nil: nobody
}

func (s *step) close() {
	if s.written != nil {
		s.written()
	}
	if s.draft != nil && !s.changed {
		s.draft.discard()
	}
	if s.from != nil {
		s.from.close()
	}
	if s.to != nil && s.to != s.from {
		s.to.close()
	}
}

// Apply makes changes, all or none: everything is judged, computed, asked about and written beside the files before the
// first gets its new text; if one cannot, those before it get their old text back. Links at the end of names are followed
// where text is written, and not where a file is moved or removed.
func (w *Workspace) Apply(ctx context.Context, changes ...Change) ([]Done, error) {
	steps := make([]*step, 0, len(changes))
	defer func() {
		for _, s := range steps {
			s.close()
		}
	}()
	seen := map[string]bool{}
	for _, c := range changes {
		s := &step{c: c}
		steps = append(steps, s)
		if err := w.prepare(ctx, s); err != nil {
			return nil, err
		}
		keys := []string{where(s.from)}
		if s.to != nil && s.to != s.from {
			keys = append(keys, where(s.to))
		}
		for _, key := range keys {
			if seen[key] {
				return nil, fmt.Errorf("change %s: it is named twice", key)
			}
			seen[key] = true
		}
	}
	for _, s := range steps {
		if err := w.allow(ctx, s); err != nil {
			return nil, err
		}
	}
	for _, s := range steps {
		if s.to == nil || s.same() {
			continue
		}
		d, err := s.to.draft(ctx, s.done.after.text, s.done.after.mode)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", s.name(), bare(err))
		}
		s.draft = d
	}
	out := make([]Done, len(steps))
	for i, s := range steps {
		if err := s.commit(ctx); err != nil {
			err = fmt.Errorf("write %s: %w", s.name(), bare(err))
			return nil, errors.Join(err, w.restore(context.WithoutCancel(ctx), steps))
		}
		out[i] = s.done
	}
	return out, nil
}

// name is what errors call a change.
func (s *step) name() string {
	if s.c.To != nil {
		return s.c.To.Path
	}
	return s.c.Name.Path
}

// same tells whether nothing is to be done.
func (s *step) same() bool {
	b, a := s.done.before, s.done.after
	return s.to == s.from && b.exists && a.exists && bytes.Equal(b.text, a.text) && (s.c.raw == nil || b.mode == a.mode)
}

// prepare finds, judges and computes one change. It writes nothing.
func (w *Workspace) prepare(ctx context.Context, s *step) error {
	c := &s.c
	var err error
	if s.from, s.full, err = w.find(ctx, c.Name, !c.Remove && c.To == nil); err != nil {
		return err
	}
	switch {
	case c.To != nil:
		if s.to, s.toFull, err = w.find(ctx, *c.To, false); err != nil {
			return err
		}
	case !c.Remove:
		s.to, s.toFull = s.from, s.full
	}
	// What may not be done at all is told before anything of the file is.
	for _, a := range s.accesses() {
		v, err := w.judge(ctx, a.access, a.name, a.full, a.place)
		if err != nil {
			return fmt.Errorf("%s %s: %w", word(a.access), a.name.Path, err)
		}
		if v.Action == guard.Block {
			return &guard.DeniedError{Op: word(a.access), Subject: a.name.Path, Verdict: v}
		}
	}
	if err := w.before(ctx, s); err != nil {
		return err
	}
	return w.after(s)
}

// use is one access that a change needs.
type use struct {
	access paths.Access
	name   Name
	full   string
	place  place
}

func (s *step) accesses() []use {
	switch {
	case s.c.Remove:
		return []use{{paths.Remove, s.c.Name, s.full, s.from}}
	case s.c.To != nil:
		return []use{{paths.Remove, s.c.Name, s.full, s.from}, {paths.Write, *s.c.To, s.toFull, s.to}}
	}
	return []use{{paths.Write, s.c.Name, s.full, s.from}}
}

// before reads what is there.
func (w *Workspace) before(ctx context.Context, s *step) error {
	info := s.from.info()
	s.done.Path = where(s.from)
	wrap := func(err error) error { return fmt.Errorf("%s %s: %w", s.verb(), s.c.Name.Path, bare(err)) }
	switch {
	case info == nil && (s.c.State == Existing || s.c.Remove || s.c.To != nil):
		return wrap(fs.ErrNotExist)
	case info != nil && s.c.State == Absent:
		return wrap(ErrExists)
	case s.c.To != nil && s.to.info() != nil:
		return fmt.Errorf("move %s to %s: %w", s.c.Name.Path, s.c.To.Path, ErrExists)
	case info == nil:
		s.shown = true
		return nil
	}
	v, err := w.judge(ctx, paths.Read, s.c.Name, s.full, s.from)
	if err != nil {
		return wrap(err)
	}
	s.shown = v.Action == guard.Allow
	if !s.shown && s.c.raw == nil && (s.c.To != nil || s.c.State == Existing && !s.c.Remove) { // its text would come out
		return &guard.DeniedError{Op: "read", Subject: s.c.Name.Path, Verdict: v}
	}
	text, err := s.from.read(ctx, w.o.Most)
	if err != nil {
		return wrap(err)
	}
	if s.c.must != nil {
		if err := s.c.must(text); err != nil {
			return err
		}
	}
	s.done.before = version{true, text, info.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)}
	s.old = &File{Path: where(s.from), Size: int64(len(text)), Time: info.ModTime(), Hidden: !s.shown}
	if old, form, err := decode(text); err == nil {
		s.old.Form = form
		if s.shown {
			s.old.Text = old
		}
	} else if s.c.State == Existing && s.c.Text != nil {
		return wrap(err)
	}
	return nil
}

func (s *step) verb() string {
	switch {
	case s.c.Remove:
		return "remove"
	case s.c.To != nil:
		return "move"
	}
	return "write"
}

// after computes what shall be there, and the difference.
func (w *Workspace) after(s *step) error {
	d := &s.done
	d.Created, d.Removed = !d.before.exists, s.c.Remove
	if s.to != nil && s.to != s.from {
		d.To = where(s.to)
	}
	text := ""
	switch {
	case s.c.raw != nil:
		d.after = *s.c.raw
	case s.c.Remove:
	case s.c.Text == nil:
		d.after = d.before
	default:
		var err error
		if text, err = s.c.Text(s.old); err != nil {
			return err
		}
		if s.old != nil {
			d.Form = s.old.Form
		}
		b, err := d.Form.encode(text)
		if err != nil {
			return fmt.Errorf("write %s: %w", s.c.Name.Path, err)
		}
		if int64(len(b)) > w.o.Most {
			return fmt.Errorf("write %s: %w: %d bytes, at most %d", s.c.Name.Path, ErrLarge, len(b), w.o.Most)
		}
		d.after = version{true, b, d.before.mode}
	}
	if bytes.Equal(d.before.text, d.after.text) && d.before.exists == d.after.exists {
		return nil
	}
	if d.Hidden = !s.shown; d.Hidden {
		return nil
	}
	old, _, err1 := decode(d.before.text)
	now, _, err2 := decode(d.after.text)
	if err1 != nil || err2 != nil {
		d.Diff = "Binary files differ\n"
		return nil
	}
	from, to := d.Path, d.Path
	if d.To != "" {
		to = d.To
	}
	if !d.before.exists {
		from = "/dev/null"
	}
	if !d.after.exists {
		to = "/dev/null"
	}
	d.Diff, d.Added, d.Deleted = Unified(from, to, old, now)
	return nil
}

// allow asks about what needs a person, with the difference.
func (w *Workspace) allow(ctx context.Context, s *step) error {
	if s.same() {
		return nil
	}
	for _, a := range s.accesses() {
		v, err := w.judge(ctx, a.access, a.name, a.full, a.place)
		if err != nil {
			return err
		}
		if a.access == paths.Write && w.o.Writing != nil && s.written == nil {
			var also guard.Verdict
			also, s.written = w.o.Writing(slices.Concat(a.place.names(), []string{a.full}), string(s.done.after.text))
			v = guard.Strictest(v, also)
		}
		q := Question{Access: a.access, Path: where(a.place), Dir: a.name.Dir, Verdict: v, Diff: s.done.Diff}
		if err := w.permit(ctx, q, a.name.Path); err != nil {
			return err
		}
	}
	return nil
}

// commit makes a change on the disk. What it makes of two steps, a move, may be half done when it fails.
func (s *step) commit(ctx context.Context) error {
	if s.draft != nil {
		if err := s.draft.commit(); err != nil {
			return err
		}
		s.changed = true
	}
	if s.c.Remove || s.to != s.from {
		if err := s.from.remove(ctx); err != nil {
			return err
		}
		s.changed = true
	}
	return nil
}

// restore gives files that were changed their old text back.
func (w *Workspace) restore(ctx context.Context, steps []*step) error {
	var all error
	for _, s := range steps {
		if !s.changed {
			continue
		}
		if s.done.To != "" {
			all = errors.Join(all, w.put(ctx, s.done.To, version{}))
		}
		all = errors.Join(all, w.put(ctx, s.done.Path, s.done.before))
	}
	return all
}

// put makes a file what it was.
func (w *Workspace) put(ctx context.Context, name string, v version) error {
	p, err := w.files.find(ctx, name, false)
	if err != nil {
		return fmt.Errorf("restore %s: %w", name, bare(err))
	}
	defer p.close()
	if !v.exists {
		err = nil
		if p.info() != nil {
			err = p.remove(ctx)
		}
	} else {
		var d draft
		if d, err = p.draft(ctx, v.text, v.mode); err == nil {
			if err = d.commit(); err != nil {
				d.discard()
			}
		}
	}
	if err != nil {
		return fmt.Errorf("restore %s: %w", name, bare(err))
	}
	return nil
}

// Undo takes changes back, all or none. A file that changed since is left, and ErrChanged says so. It is judged like any
// change.
func (w *Workspace) Undo(ctx context.Context, done ...Done) error {
	var changes []Change
	for _, d := range done {
		if d.To != "" {
			changes = append(changes, d.back(d.To, d.after, version{}), d.back(d.Path, version{}, d.before))
			continue
		}
		changes = append(changes, d.back(d.Path, d.after, d.before))
	}
	_, err := w.Apply(ctx, changes...)
	return err
}

// back is the change of a file from what it must be to what it was.
func (d Done) back(name string, now, then version) Change {
	c := Change{Name: Name{Path: name, Cross: true}, raw: &then, State: Absent, Remove: !then.exists}
	if now.exists {
		c.State = Existing
	}
	c.must = func(text []byte) error {
		if !bytes.Equal(text, now.text) {
			return fmt.Errorf("undo %s: %w", name, ErrChanged)
		}
		return nil
	}
	return c
}
