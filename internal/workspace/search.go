package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/internal/guard"
	"hermes/internal/guard/paths"
)

// Search says what to look for below a directory, or in one file.
type Search struct {
	In      Name
	Pattern *regexp.Regexp // in the lines of files; nil: only names are looked at
	Glob    string         // of names; with a slash, of paths below In; empty: all
	All     bool           // also what ignore files leave out
	Context int            // lines around a match
	Most    int            // matches, or files without a pattern; 0: 10,000
}

// Hit is a file that was found.
type Hit struct {
	Path    string // as In was named, and below
	Time    time.Time
	Size    int64
	Matches []Match // by line
}

// Match is one line that matches, with those around it.
type Match struct {
	Line          int
	Text          string
	Before, After []string
}

// Found is what a search found. Files are sorted by path.
type Found struct {
	Hits    []Hit
	Files   int  // that were looked at
	Denied  int  // files and directories that may not be read
	Binary  int  // files that hold no text, and might have matched
	Large   int  // files that are too large
	Partial bool // there was more than Search.Most
}

const (
	defaultFound = 10_000
	maxDepth     = 128
	maxWalked    = 1_000_000
	maxSearched  = 8 << 20 // bytes of a file that is searched
)

// Find searches. Links are never followed below In, and what may not be read is not told of, but counted.
func (w *Workspace) Find(ctx context.Context, s Search) (*Found, error) {
	if s.Most <= 0 {
		s.Most = defaultFound
	}
	if s.Glob != "" {
		if _, err := path.Match(s.Glob, ""); err != nil {
			return nil, fmt.Errorf("search %s: glob %q: %w", s.In.Path, s.Glob, err)
		}
	}
	p, full, err := w.find(ctx, s.In, true)
	if err != nil {
		return nil, err
	}
	defer p.close()
	r := &run{w: w, s: s, top: where(p), more: make(chan struct{}, 2*runtime.GOMAXPROCS(0)), full: full, place: p}
	if s.Pattern != nil {
		r.must = newSieve(s.Pattern)
	}
	if info := p.info(); info != nil && !info.IsDir() {
		return r.single(ctx)
	}
	t, q, err := w.open(ctx, s.In)
	if err != nil {
		return nil, err
	}
	q.close()
	ctx, r.stop = context.WithCancel(ctx)
	defer r.stop()
	r.walk(ctx, t, "", r.outer(ctx), 0)
	r.all.Wait()
	if err := ctx.Err(); err != nil && !r.found.Partial {
		return nil, err
	}
	slices.SortFunc(r.found.Hits, func(a, b Hit) int { return strings.Compare(a.Path, b.Path) })
	return &r.found, nil
}

// run is one search.
type run struct {
	w     *Workspace
	s     Search
	top   string // where In lies
	full  string
	place place
	must  sieve
	more  chan struct{} // holds one for each walk beside the first
	all   sync.WaitGroup
	stop  context.CancelFunc

	mu    sync.Mutex // guards what follows
	found Found
	total int
}

func (r *run) count(n *int) {
	r.mu.Lock()
	*n++
	r.mu.Unlock()
}

// single searches one file.
func (r *run) single(ctx context.Context) (*Found, error) {
	f, err := r.w.Read(ctx, r.s.In)
	switch {
	case errors.Is(err, ErrBinary):
		return &Found{Files: 1, Binary: 1}, nil
	case err != nil:
		return nil, err
	}
	r.found.Files = 1
	h := Hit{Path: r.s.In.Path, Time: f.Time, Size: f.Size}
	if r.s.Pattern != nil {
		if h.Matches = matches(f.Text, r.s.Pattern, r.must, r.s.Context); len(h.Matches) == 0 {
			return &r.found, nil
		}
	}
	r.found.Hits = []Hit{h}
	return &r.found, nil
}

// outer reads the ignore files above the directory, up to the top of its repository.
func (r *run) outer(ctx context.Context) *ignores {
	if r.s.All {
		return nil
	}
	var ups []string
	for at := r.top; ; at = filepath.Dir(at) {
		ups = append(ups, at)
		if r.exists(ctx, filepath.Join(at, ".git")) {
			break
		}
		if filepath.Dir(at) == at {
			return nil // in no repository: those above are somebody else's
		}
	}
	var out *ignores
	for i, at := range slices.Backward(ups) {
		rel, err := filepath.Rel(at, r.top)
		if err != nil {
			return out
		}
		if rel = filepath.ToSlash(rel) + "/"; i == 0 { // the directory itself
			rel = ""
		}
		if i == len(ups)-1 {
			out = r.ignoreFile(ctx, filepath.Join(at, ".git", "info", "exclude"), rel, out)
		}
		if i > 0 {
			out = r.ignoreFile(ctx, filepath.Join(at, ".gitignore"), rel, out)
		}
	}
	return out
}

func (r *run) exists(ctx context.Context, name string) bool {
	p, err := r.w.files.find(ctx, name, false)
	if err != nil {
		return false
	}
	defer p.close()
	return p.info() != nil
}

// ignoreFile reads one ignore file above the walk; rel leads from there to where the walk began.
func (r *run) ignoreFile(ctx context.Context, name, rel string, above *ignores) *ignores {
	f, err := r.w.Read(ctx, Name{Path: name})
	if err != nil {
		return above
	}
	out := parseIgnores(f.Text, "", above)
	out.up = rel
	return out
}

// walk goes through one directory and those below. It closes it.
func (r *run) walk(ctx context.Context, t folder, rel string, g *ignores, depth int) {
	defer t.close()
	entries, err := t.list(ctx)
	if err != nil {
		r.count(&r.found.Denied)
		return
	}
	if !r.s.All {
		for _, name := range []string{".gitignore", ".ignore"} {
			if i := slices.IndexFunc(entries, func(e fs.FileInfo) bool { return e.Name() == name && e.Mode().IsRegular() }); i >= 0 {
				if b, err := t.text(ctx, entries[i], 1<<20); err == nil {
					g = parseIgnores(string(b), rel, g)
				}
			}
		}
	}
	slices.SortFunc(entries, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		if ctx.Err() != nil {
			return
		}
		name := path.Join(rel, e.Name())
		switch {
		case e.Name() == ".git", !r.s.All && g.ignored(name, e.IsDir()):
		case e.IsDir():
			if depth < maxDepth {
				r.down(ctx, t, e, name, g, depth)
			}
		case e.Mode().IsRegular():
			r.file(ctx, t, e, name)
		}
	}
}

// down walks a directory beside this one if there is room, else now.
func (r *run) down(ctx context.Context, t folder, e fs.FileInfo, name string, g *ignores, depth int) {
	if r.verdict(name).Action != guard.Allow {
		r.count(&r.found.Denied)
		return
	}
	sub, err := t.enter(ctx, e)
	if err != nil {
		r.count(&r.found.Denied)
		return
	}
	select {
	case r.more <- struct{}{}:
		r.all.Go(func() {
			defer func() { <-r.more }()
			r.walk(ctx, sub, name, g, depth+1)
		})
	default:
		r.walk(ctx, sub, name, g, depth+1)
	}
}

// verdict judges a file below where the search began, whose directories were entered without a link.
func (r *run) verdict(name string) guard.Verdict {
	policy := r.w.o.Policy
	if r.place.folds() {
		policy = policy.Folded()
	}
	return policy.Check(paths.Subject{Access: paths.Read, Raw: r.shown(name), Path: filepath.ToSlash(filepath.Join(r.full, name)),
		Real: []string{filepath.ToSlash(filepath.Join(r.top, name))}})
}

func (r *run) shown(name string) string {
	return path.Join(filepath.ToSlash(r.s.In.Path), name)
}

// file looks at one file.
func (r *run) file(ctx context.Context, t folder, e fs.FileInfo, name string) {
	if r.s.Glob != "" && !matchGlob(r.s.Glob, name) {
		return
	}
	r.mu.Lock()
	r.found.Files++
	over := r.found.Files > maxWalked
	r.mu.Unlock()
	if over {
		r.enough()
		return
	}
	h := Hit{Path: r.shown(name), Time: e.ModTime(), Size: e.Size()}
	if r.s.Pattern != nil {
		if r.verdict(name).Action != guard.Allow {
			r.count(&r.found.Denied)
			return
		}
		if h.Matches = r.look(ctx, t, e); len(h.Matches) == 0 {
			return
		}
		if !r.mayShow(ctx, e) {
			r.count(&r.found.Denied)
			return
		}
	}
	r.add(h)
}

// mayShow compares a file that matches with the protected ones: it may be one of them under another name.
func (r *run) mayShow(ctx context.Context, e fs.FileInfo) bool {
	twins, err := r.w.files.twins(ctx, &spot{found: e}, r.w.o.Policy.Guarded(paths.Read))
	if err != nil {
		return false
	}
	for _, twin := range twins {
		if r.w.o.Policy.Check(paths.Subject{Access: paths.Read, Path: filepath.ToSlash(twin)}).Action != guard.Allow {
			return false
		}
	}
	return true
}

// look returns the lines of a file that match.
func (r *run) look(ctx context.Context, t folder, e fs.FileInfo) []Match {
	b, err := t.text(ctx, e, maxSearched)
	switch {
	case errors.Is(err, ErrLarge):
		r.count(&r.found.Large)
		return nil
	case err != nil:
		r.count(&r.found.Denied)
		return nil
	case !wide(b) && ascii(r.must.part) && !r.must.passes(b):
		return nil
	}
	text, _, err := decode(b)
	if err != nil {
		r.count(&r.found.Binary)
		return nil
	}
	return matches(text, r.s.Pattern, r.must, r.s.Context)
}

func (r *run) add(h Hit) {
	r.mu.Lock()
	n := max(1, len(h.Matches))
	if r.total+n > r.s.Most {
		r.mu.Unlock()
		r.enough()
		return
	}
	r.total += n
	r.found.Hits = append(r.found.Hits, h)
	r.mu.Unlock()
}

func (r *run) enough() {
	r.mu.Lock()
	r.found.Partial = true
	r.mu.Unlock()
	r.stop()
}

// matches returns the lines that match. A pattern sees one line at a time.
func matches(text string, pattern *regexp.Regexp, must sieve, around int) []Match {
	var out []Match
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range all {
		line = strings.TrimSuffix(line, "\r")
		if !must.passes([]byte(line)) || !pattern.MatchString(line) {
			continue
		}
		m := Match{Line: i + 1, Text: line}
		if around > 0 {
			m.Before = slices.Clone(all[max(0, i-around):i])
			m.After = slices.Clone(all[i+1 : min(len(all), i+1+around)])
		}
		out = append(out, m)
	}
	return out
}

// wide tells whether a file's bytes are not those of its letters.
func wide(b []byte) bool {
	return len(b) > 1 && (b[0] == 0xff && b[1] == 0xfe || b[0] == 0xfe && b[1] == 0xff)
}

// matchGlob matches a name, or with a slash in the pattern a path.
func matchGlob(glob, name string) bool {
	glob = strings.TrimPrefix(glob, "./")
	if !strings.Contains(glob, "/") {
		return matchPart(glob, path.Base(name))
	}
	return matchParts(strings.Split(strings.TrimPrefix(glob, "/"), "/"), strings.Split(name, "/"))
}
