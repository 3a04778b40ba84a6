package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"

	"hermes/internal/sandbox"
)

// inside are the files of a sandbox. It offers no way to hold a directory, or to read a link: what leads over one is refused.
// What happens between a look and its use stays inside, where commands could do the same.
type inside struct{ f sandbox.Files }

// remover is what a sandbox may offer beyond sandbox.Files: to remove one entry.
type remover interface {
	Remove(ctx context.Context, path string) error
}

func (inside) native(slashed string) string { return slashed }

func (inside) twins(context.Context, place, []string) ([]string, error) { return nil, nil }

// remote is one name inside.
type remote struct {
	f     sandbox.Files
	path  string
	found fs.FileInfo
}

func (v inside) find(ctx context.Context, full string, _ bool) (place, error) {
	r := &remote{f: v.f, path: path.Clean(full)}
	at := "/"
	parts := split(full)
	for i, part := range parts {
		at = path.Join(at, part)
		info, err := v.f.Stat(ctx, at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return r, nil // what it lies below, if anything, was no link
		case err != nil:
			return nil, err
		case info.Mode()&fs.ModeSymlink != 0:
			return nil, ErrLinks
		case i < len(parts)-1 && !info.IsDir():
			return nil, errors.New("not a directory")
		}
		r.found = info
		if i < len(parts)-1 {
			r.found = nil
		}
	}
	if len(parts) == 0 {
		info, err := v.f.Stat(ctx, "/")
		r.found = info
		return r, err
	}
	return r, nil
}

func (r *remote) names() []string   { return []string{r.path} }
func (r *remote) folds() bool       { return false }
func (r *remote) info() fs.FileInfo { return r.found }
func (r *remote) close()            {}

func (r *remote) read(ctx context.Context, most int64) ([]byte, error) {
	if r.found == nil {
		return nil, fs.ErrNotExist
	}
	return fetch(ctx, r.f, r.path, r.found, most)
}

func fetch(ctx context.Context, f sandbox.Files, name string, want fs.FileInfo, most int64) ([]byte, error) {
	if err := ordinary(want); err != nil {
		return nil, err
	}
	if want.Size() > most {
		return nil, ErrLarge
	}
	file, now, err := f.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if !alike(now, want) {
		return nil, ErrChanged
	}
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		err = ErrLarge
	}
	return text, err
}

// alike compares what is known of files inside.
func alike(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.Mode() == b.Mode() && a.ModTime().Equal(b.ModTime())
}

// parcel is a draft inside.
type parcel struct {
	ctx    context.Context
	r      *remote
	w      io.WriteCloser
	cancel context.CancelFunc
}

func (r *remote) draft(ctx context.Context, text []byte, mode fs.FileMode) (draft, error) {
	if r.found != nil {
		if err := ordinary(r.found); err != nil {
			return nil, err
		}
	}
	if mode == 0 {
		mode = 0o644
	}
	own, cancel := context.WithCancel(ctx)
	w, err := r.f.Create(own, r.path, mode)
	if err != nil {
		cancel()
		return nil, err
	}
	p := &parcel{ctx: ctx, r: r, w: w, cancel: cancel}
	if _, err := w.Write(text); err != nil {
		p.discard()
		return nil, err
	}
	return p, nil
}

func (p *parcel) commit() error {
	now, err := p.r.f.Stat(p.ctx, p.r.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && p.r.found == nil:
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil || p.r.found == nil || !alike(now, p.r.found):
		return ErrChanged
	}
	err = p.w.Close()
	p.cancel()
	return err
}

func (p *parcel) discard() {
	p.cancel() // its end takes the draft back
	_ = p.w.Close()
}

func (r *remote) remove(ctx context.Context) error {
	rm, ok := r.f.(remover)
	if !ok {
		return ErrRemove
	}
	now, err := r.f.Stat(ctx, r.path)
	switch {
	case err != nil:
		return err
	case r.found == nil || !alike(now, r.found):
		return ErrChanged
	case now.IsDir():
		return ErrFolder
	}
	return rm.Remove(ctx, r.path)
}

func (v inside) tree(_ context.Context, p place) (folder, error) {
	switch info := p.info(); {
	case info == nil:
		return nil, fs.ErrNotExist
	case !info.IsDir():
		return nil, errors.New("not a directory")
	}
	return shelf{v.f, p.(*remote).path}, nil
}

// shelf is a directory inside that is being walked.
type shelf struct {
	f    sandbox.Files
	path string
}

func (shelf) close() {}

func (s shelf) list(ctx context.Context) ([]fs.FileInfo, error) { return s.f.List(ctx, s.path) }

func (s shelf) enter(_ context.Context, e fs.FileInfo) (folder, error) {
	return shelf{s.f, path.Join(s.path, e.Name())}, nil
}

func (s shelf) text(ctx context.Context, e fs.FileInfo, most int64) ([]byte, error) {
	return fetch(ctx, s.f, path.Join(s.path, e.Name()), e, most)
}
