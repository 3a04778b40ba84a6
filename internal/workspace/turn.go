package workspace

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
)

// Turn remembers which files could not be changed in one turn of an agent, so that the person hears of it whatever the agent
// says. The zero Turn is ready. It is safe for concurrent use.
type Turn struct {
	mu     sync.Mutex // guards what follows
	failed []failure
}

// failure is a change that did not happen, and what the file was then.
type failure struct {
	tool, path, text string
	at               string // where it lies; empty where that is not known
	sum              string
}

// Failed notes that a tool could not change a file.
func (t *Turn) Failed(ctx context.Context, w *Workspace, tool string, n Name, err error) {
	first, _, _ := strings.Cut(err.Error(), "\n")
	f := failure{tool: tool, path: n.Path, text: first}
	f.at, f.sum = w.fingerprint(ctx, n)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = append(t.failed, f)
}

// Done notes that a file was changed: what failed on it before counts no more.
func (t *Turn) Done(paths ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := t.failed[:0]
	for _, f := range t.failed {
		ok := false
		for _, path := range paths {
			ok = ok || path != "" && f.at == path
		}
		if !ok {
			kept = append(kept, f)
		}
	}
	t.failed = kept
}

// shownFailures bounds the lines of a footer.
const shownFailures = 10

// Footer returns what the person is told at the end of the turn; "" if every file that was to be changed was. A file whose
// text is not what it was when the change failed counts as changed: a command did it.
func (t *Turn) Footer(ctx context.Context, w *Workspace) string {
	t.mu.Lock()
	failed := append([]failure(nil), t.failed...)
	t.mu.Unlock()
	var left []failure
	seen := map[string]int{}
	for _, f := range failed {
		if f.at != "" {
			if _, sum := w.fingerprint(ctx, Name{Path: f.at}); sum != f.sum {
				continue
			}
		}
		key := f.at
		if key == "" {
			key = f.path
		}
		if i, ok := seen[key]; ok {
			left[i] = f // the last error says most
			continue
		}
		seen[key] = len(left)
		left = append(left, f)
	}
	if len(left) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "⚠️ File-mutation verifier: %d file(s) were NOT modified this turn despite any wording above that may suggest otherwise. "+
		"Run `git status` or `read_file` to confirm.", len(left))
	for _, f := range left[:min(len(left), shownFailures)] {
		fmt.Fprintf(&b, "\n• %s — [%s] %s", printable(f.path), f.tool, printable(f.text))
	}
	if more := len(left) - shownFailures; more > 0 {
		fmt.Fprintf(&b, "\n… and %d more", more)
	}
	return b.String()
}

// printable keeps what a name holds from drawing on the person's screen, or from making a line of its own.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return '�'
		}
		return r
	}, s)
}

// fingerprint tells where a file lies and what is in it, to compare and never to show.
func (w *Workspace) fingerprint(ctx context.Context, n Name) (at, sum string) {
	p, _, err := w.find(ctx, n, true)
	if err != nil {
		return "", ""
	}
	defer p.close()
	if p.info() == nil {
		return where(p), "none"
	}
	b, err := p.read(ctx, w.o.Most)
	if err != nil {
		return where(p), "unreadable"
	}
	return where(p), fmt.Sprintf("%x", sha256.Sum256(b))
}
