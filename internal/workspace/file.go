package workspace

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hermes/internal/guard"
	"hermes/internal/guard/paths"
)

// File is a text file as it was read.
type File struct {
	Path   string // where it lies, with links resolved
	Text   string // UTF-8, without a byte order mark; see Form
	Form   Form
	Hidden bool // it may be replaced but not read: Text is empty
	Size   int64
	Time   time.Time
}

// Read returns a text file. Errors: *guard.DeniedError, fs.ErrNotExist, ErrBinary, ErrLarge, ErrFolder, ErrOrdinary.
func (w *Workspace) Read(ctx context.Context, n Name) (*File, error) {
	p, full, err := w.find(ctx, n, true)
	if err != nil {
		return nil, err
	}
	defer p.close()
	v, err := w.judge(ctx, paths.Read, n, full, p)
	if err == nil {
		err = w.permit(ctx, Question{Access: paths.Read, Path: where(p), Dir: n.Dir, Verdict: v}, n.Path)
	}
	if err != nil {
		return nil, err
	}
	b, err := p.read(ctx, w.o.Most)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", n.Path, bare(err))
	}
	text, form, err := decode(b)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", n.Path, err)
	}
	return &File{Path: where(p), Text: text, Form: form, Size: int64(len(b)), Time: p.info().ModTime()}, nil
}

// where tells where a place lies.
func where(p place) string {
	names := p.names()
	return names[len(names)-1]
}

// Near returns the names in the same directory that are most like one that does not exist, at most three. It tells nothing
// of a directory that may not be read.
func (w *Workspace) Near(ctx context.Context, n Name) []string {
	full, err := w.full(n)
	if err != nil {
		return nil
	}
	up := Name{Path: filepath.Dir(full), Dir: n.Dir, Cross: n.Cross}
	list, err := w.List(ctx, up)
	if err != nil {
		return nil
	}
	want := strings.ToLower(filepath.Base(full))
	type scored struct {
		name  string
		score int
	}
	var all []scored
	for _, info := range list {
		low := strings.ToLower(info.Name())
		shared := 0
		for shared < min(len(low), len(want)) && low[shared] == want[shared] {
			shared++
		}
		tail := 0
		for tail < min(len(low), len(want))-shared && low[len(low)-1-tail] == want[len(want)-1-tail] {
			tail++
		}
		if score := (shared + tail) * 100 / max(len(low), len(want)); score >= 60 {
			all = append(all, scored{path.Join(filepath.Dir(n.Path), info.Name()), score})
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return b.score - a.score })
	var out []string
	for _, s := range all[:min(3, len(all))] {
		out = append(out, s.name)
	}
	return out
}

// List lists a directory by name.
func (w *Workspace) List(ctx context.Context, n Name) ([]fs.FileInfo, error) {
	t, p, err := w.open(ctx, n)
	if err != nil {
		return nil, err
	}
	defer p.close()
	defer t.close()
	list, err := t.list(ctx)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", n.Path, bare(err))
	}
	slices.SortFunc(list, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

// open opens a directory that may be read. The caller closes both.
func (w *Workspace) open(ctx context.Context, n Name) (folder, place, error) {
	p, full, err := w.find(ctx, n, true)
	if err != nil {
		return nil, nil, err
	}
	v, err := w.judge(ctx, paths.Read, n, full, p)
	if err == nil && v.Action != guard.Allow {
		err = &guard.DeniedError{Op: "list", Subject: n.Path, Verdict: v}
	}
	if err != nil {
		p.close()
		return nil, nil, err
	}
	t, err := w.files.tree(ctx, p)
	if err != nil {
		p.close()
		return nil, nil, fmt.Errorf("list %s: %w", n.Path, bare(err))
	}
	return t, p, nil
}
