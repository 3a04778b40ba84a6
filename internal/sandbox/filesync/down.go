package filesync

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// maxList bounds what the other side may say about its files.
const maxList = 32 << 20

// Down brings back what was changed or made there below the trees. What may not come back is kept aside or left, and told.
func (s *Sync) Down(ctx context.Context, remote Remote) error {
	return s.locked(ctx, func() error {
		want, err := s.changed(ctx, remote)
		if err != nil || len(want) == 0 {
			return err
		}
		word := make([]byte, 6)
		_, _ = rand.Read(word) // never fails: the runtime ends the process instead
		stage := "incoming-" + hex.EncodeToString(word)
		if err := s.dir.MkdirAll(stage); err != nil {
			return err
		}
		defer os.RemoveAll(s.dir.Join(stage))
		into, err := os.OpenRoot(s.dir.Join(stage))
		if err != nil {
			return fmt.Errorf("receive files: %w", err)
		}
		defer into.Close()
		files, err := s.fetch(ctx, remote, into, want)
		if err != nil {
			return err
		}
		return s.settle(ctx, into, files)
	})
}

// changed lists what is there and not as it was copied. Where nothing there computes sums, that is everything.
func (s *Sync) changed(ctx context.Context, remote Remote) ([]string, error) {
	var roots []string
	for _, t := range s.conf.Trees {
		if t.Kind != Given {
			roots = append(roots, "./"+t.To)
		}
	}
	if len(roots) == 0 {
		return nil, nil
	}
	script := s.base() + `cd "$b" || exit 5; for r in ` + strings.Join(roots, " ") + `; do [ -d "$r" ] || continue; ` +
		`if command -v sha256sum >/dev/null 2>&1; then find "$r" -type f -exec sha256sum {} +; ` +
		`else find "$r" -type f | while IFS= read -r f; do echo "none  $f"; done; fi; done`
	out := &limited{limit: maxList}
	if err := remote(ctx, script, nil, out); err != nil {
		return nil, err
	}
	var want []string
	for line := range strings.Lines(string(out.bytes)) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		name = strings.TrimPrefix(name, "./")
		clean, why := checkName(name)
		switch {
		case !ok:
		case why != "" || clean != name || strings.HasPrefix(sum, `\`):
			s.log(fmt.Sprintf("%q stays there: %s", name, why))
		case len(want) >= s.conf.Limits.Files:
			return nil, fmt.Errorf("list files: %w", errTooMuch)
		default:
			if sum != "none" && s.man.Seen[name] == sum {
				continue
			}
			if old, known := s.man.Files[name]; !known || old.Sum != sum {
				want = append(want, name)
			}
		}
	}
	return want, nil
}

// limited keeps what is written, up to a limit.
type limited struct {
	limit int
	bytes []byte
}

func (l *limited) Write(p []byte) (int, error) {
	if len(l.bytes)+len(p) > l.limit {
		return 0, errTooMuch
	}
	l.bytes = append(l.bytes, p...)
	return len(p), nil
}

// A stream is asked for by names that fit into the arguments of one program there.
const (
	batchNames = 500
	batchBytes = 64 << 10
)

// fetch brings files into a directory of our own.
func (s *Sync) fetch(ctx context.Context, remote Remote, into *os.Root, want []string) ([]Received, error) {
	asked := map[string]bool{}
	for _, name := range want {
		asked[name] = true
	}
	c := receiver{
		into: into, limits: s.conf.Limits, seen: map[string]bool{},
		take:   func(name string) bool { return asked[name] && s.treeOf(name) != nil },
		refuse: func(name, why string) { s.log(fmt.Sprintf("%q stays there: %s", name, why)) },
	}
	for len(want) > 0 {
		n, size := 0, 0
		for n < len(want) && n < batchNames && (n == 0 || size+len(want[n]) < batchBytes) {
			size += len(want[n])
			n++
		}
		if err := s.fetchSome(ctx, remote, &c, want[:n]); err != nil {
			return nil, err
		}
		want = want[n:]
	}
	return c.all, nil
}

// fetchSome brings as many as one stream is asked for. What changes while it is read is not worth an error: it is looked at as
// it arrived.
func (s *Sync) fetchSome(ctx context.Context, remote Remote, c *receiver, names []string) error {
	script := s.base() + `cd "$b" || exit 5; set --; while IFS= read -r f; do if [ -L "$f" ]; then :; elif [ -f "$f" ]; then set -- "$@" "$f"; fi; done; ` +
		`[ $# -gt 0 ] || exit 0; tar -cf - "$@" || [ $? -eq 1 ]`
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := remote(ctx, script, strings.NewReader("./"+strings.Join(names, "\n./")+"\n"), w)
		_ = w.CloseWithError(err) // io.EOF for nil
		ended <- err
	}()
	err := c.read(r)
	_ = r.CloseWithError(errors.New("enough"))
	if bad := <-ended; err == nil {
		err = bad
	}
	return err
}

// treeOf returns the tree a name there belongs to, if anything of it may come back. The longest one counts.
func (s *Sync) treeOf(name string) (found *Tree) {
	for i := range s.conf.Trees {
		t := &s.conf.Trees[i]
		if strings.HasPrefix(name, t.To+"/") && (found == nil || len(t.To) > len(found.To)) {
			found = t
		}
	}
	if found == nil || found.Kind == Given {
		return nil
	}
	return found
}

// settle decides about each file that arrived.
func (s *Sync) settle(ctx context.Context, from *os.Root, files []Received) error {
	var guarded, aside []Received
	for _, f := range files {
		t, known := s.treeOf(f.Name), s.man.Files[f.Name]
		rel := strings.TrimPrefix(f.Name, t.To+"/")
		now, what := s.here(t, rel)
		switch {
		case f.Sum == known.Sum || f.Sum == now || f.Sum == s.man.Seen[f.Name]:
		case t.Kind == Guarded || t.Files != nil || skipped(t, rel):
			guarded = append(guarded, f)
		case what == inTheWay || now != known.Sum: // changed here, too
			aside = append(aside, f)
		default:
			if err := s.take(from, t, rel, f); err != nil {
				s.log(fmt.Sprintf("%s was not brought back: %v", f.Name, err))
				aside = append(aside, f)
			}
		}
	}
	accepted := map[string]bool{}
	if len(guarded) > 0 && s.conf.Accept != nil {
		var names []string
		for _, f := range guarded {
			names = append(names, f.Name)
		}
		for _, name := range s.conf.Accept(ctx, names) {
			accepted[name] = true
		}
	}
	for _, f := range guarded {
		t := s.treeOf(f.Name)
		if rel := strings.TrimPrefix(f.Name, t.To+"/"); accepted[f.Name] && t.Files == nil && s.take(from, t, rel, f) == nil {
			continue
		}
		aside = append(aside, f)
	}
	return errors.Join(s.keepAside(from, aside), s.save())
}

func skipped(t *Tree, rel string) bool {
	return slices.ContainsFunc(t.Skip, func(dir string) bool { return rel == dir || strings.HasPrefix(fold(rel), fold(dir)+"/") })
}

// presence is what is here at a place.
type presence uint8

const (
	nothing presence = iota
	ordinary
	inTheWay // something that is never overwritten
)

// here returns the sum of a file here, "" if there is none.
func (s *Sync) here(t *Tree, rel string) (sum string, what presence) {
	root, err := os.OpenRoot(t.Dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", nothing
		}
		return "", inTheWay
	}
	defer root.Close()
	if another(root, rel) {
		return "", inTheWay
	}
	if _, ok := plainFile(root, rel); ok {
		if sum, err = sumOf(root, rel); err == nil {
			return sum, ordinary
		}
		return "", inTheWay
	}
	if _, err := root.Lstat(rel); err == nil {
		return "", inTheWay
	}
	return "", nothing
}

// another tells whether the way to a file leads over a link, or past something of the same name in other letters.
func another(root *os.Root, rel string) bool {
	dir := "."
	for _, part := range strings.Split(rel, "/") {
		if info, err := root.Lstat(dir); err != nil {
			return !errors.Is(err, fs.ErrNotExist)
		} else if !info.IsDir() {
			return true
		}
		f, err := root.Open(dir)
		if err != nil {
			return true
		}
		names, err := f.Readdirnames(-1)
		_ = f.Close()
		if err != nil || slices.ContainsFunc(names, func(n string) bool { return n != part && fold(n) == fold(part) }) {
			return true
		}
		dir = path.Join(dir, part)
	}
	return false
}

// take puts a file in its place here, whole.
func (s *Sync) take(from *os.Root, t *Tree, rel string, f Received) error {
	if err := os.MkdirAll(t.Dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(t.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if another(root, rel) {
		return errors.New("something here is in the way")
	}
	if dir := path.Dir(rel); dir != "." {
		if err := root.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if err := replace(from, root, f.Name, rel); err != nil {
		return err
	}
	info, ok := plainFile(root, rel)
	if !ok {
		return errors.New("it is not what was written")
	}
	s.man.Files[f.Name] = record{Sum: f.Sum, Size: info.Size(), Time: info.ModTime().UnixNano()}
	return nil
}

// replace copies a file into a root, under another name first.
func replace(from, to *os.Root, name, rel string) error {
	in, err := from.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	word := make([]byte, 6)
	_, _ = rand.Read(word) // never fails: the runtime ends the process instead
	draft := path.Join(path.Dir(rel), ".hermes-"+hex.EncodeToString(word))
	out, err := to.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	err = errors.Join(err, out.Sync(), out.Close())
	if err == nil {
		err = to.Rename(draft, rel)
	}
	if err != nil {
		_ = to.Remove(draft)
	}
	return err
}

// keepAside puts files into a directory of their own, and tells where.
func (s *Sync) keepAside(from *os.Root, files []Received) error {
	if len(files) == 0 {
		return nil
	}
	dir := path.Join("kept", time.Now().UTC().Format("20060102-150405.000"))
	if err := s.dir.MkdirAll(dir); err != nil {
		return err
	}
	to, err := os.OpenRoot(s.dir.Join(dir))
	if err != nil {
		return err
	}
	defer to.Close()
	var names []string
	for _, f := range files {
		if parent := path.Dir(f.Name); parent != "." {
			if err := to.MkdirAll(parent, 0o700); err != nil {
				return err
			}
		}
		if err := replace(from, to, f.Name, f.Name); err != nil {
			return err
		}
		names = append(names, f.Name)
		s.man.Seen[f.Name] = f.Sum
	}
	s.log(fmt.Sprintf("changed there and not taken over: %s. Kept in %s", few(names), filepath.Join(s.conf.State, filepath.FromSlash(dir))))
	return nil
}
