package process

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/internal/guard/scope"
	"hermes/internal/guard/taint"
)

// How often an agent is told of lines it watches for. Every message is a turn of a model.
const (
	watchGap     = 15 * time.Second // between two messages about one process
	watchNoisy   = 3                // gaps in a row with more lines than one: it is watched no more
	watchMost    = 8                // messages about one process
	budgetMost   = 15               // messages of a session …
	budgetWindow = 10 * time.Second // … in this time
	budgetPause  = 30 * time.Second // after which there are none for a while
)

// Kind says what a Notice is about.
type Kind string

// The kinds.
const (
	Ended     Kind = "ended"     // the process has ended
	Matched   Kind = "matched"   // it printed a line it is watched for
	Unwatched Kind = "unwatched" // it is watched no more: there were too many such lines
)

// Notice is something the agent of a session should be told, although it did not ask now. Head is Hermes' own; Output is what the
// process printed: data, whatever it says.
type Notice struct {
	Session scope.Session
	ID      string // of the process
	Command string // redacted
	Kind    Kind
	Head    string
	Output  string
	Origin  taint.Origin // of Output
	At      time.Time

	p *Process
}

// Stale tells whether the agent knows it by now, from elsewhere: then it need not be told any more.
func (n Notice) Stale() bool {
	if n.p == nil {
		return false
	}
	n.p.mu.Lock()
	defer n.p.mu.Unlock()
	return n.p.told
}

// watch is what one process is watched for.
type watch struct {
	patterns []string
	next     time.Time // before it nothing more is told
	dropped  int       // lines since the last message
	noisy    int       // gaps in a row with dropped lines
	told     int       // messages
}

func newWatch(patterns []string) watch {
	patterns = slices.DeleteFunc(slices.Clone(patterns), func(s string) bool { return s == "" })
	return watch{patterns: patterns}
}

// left returns what it is still watched for.
func (w *watch) left() []string { return slices.Clone(w.patterns) }

// matched looks at a line. The caller holds p.mu.
func (p *Process) matched(line string) (Notice, bool) {
	w := &p.watch
	if p.r.o.Notify == nil || p.told || !slices.ContainsFunc(w.patterns, func(s string) bool { return strings.Contains(line, s) }) {
		return Notice{}, false
	}
	now := time.Now()
	if now.Before(w.next) || !p.owner.notes.take(now) {
		w.dropped++
		return Notice{}, false
	}
	if w.dropped > 0 && now.Sub(w.next) < watchGap {
		w.noisy++
	} else {
		w.noisy = 0
	}
	n := p.notice(Matched, fmt.Sprintf("Background process %s printed a line it is watched for.", p.id), line, now)
	if w.dropped > 0 {
		n.Head = fmt.Sprintf("%s %d more were left out since the last message.", n.Head, w.dropped)
	}
	w.dropped, w.next = 0, now.Add(watchGap)
	w.told++
	if w.noisy >= watchNoisy || w.told >= watchMost {
		n.Kind, w.patterns, p.notify = Unwatched, nil, true
		n.Head += " There are too many of them: it is watched no more, and you will be told when it ends."
	}
	return n, true
}

// endNotice makes the message about the end, if there is somebody who does not know of it. The caller holds p.mu.
func (p *Process) endNotice() (Notice, bool) {
	if p.r.o.Notify == nil || !p.notify || !p.alone || p.killed || p.waiters > 0 || !p.result.Ran {
		return Notice{}, false
	}
	took := p.ended.Sub(p.begin).Round(100 * time.Millisecond)
	head := fmt.Sprintf("Background process %s has ended with exit code %d after %s.", p.id, p.result.Status.Code, took)
	switch {
	case p.err != nil:
		head = fmt.Sprintf("Background process %s could not run to its end: %v.", p.id, p.err)
	case p.result.Status.TimedOut:
		head = fmt.Sprintf("Background process %s was ended: it took too long (%s).", p.id, took)
	}
	const tail = 20
	n := p.notice(Ended, head, p.read(-tail, tail, "").String(), p.ended)
	return n, true
}

func (p *Process) notice(kind Kind, head, output string, at time.Time) Notice {
	r := p.result
	if p.ended.IsZero() {
		r = p.begun.Result
	}
	return Notice{Session: p.spec.Session, ID: p.id, Command: r.Command, Kind: kind, Head: head, Output: clip(output, 2000),
		Origin: p.origin, At: at, p: p}
}

// clip cuts a text from its beginning, at a line where it can.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	s = s[len(s)-most:]
	if i := strings.IndexByte(s, '\n'); i >= 0 && i < most/2 {
		s = s[i+1:]
	}
	return "…" + strings.ToValidUTF8(s, "")
}

// budget bounds the messages about all processes of a session.
type budget struct {
	mu    sync.Mutex // guards what follows
	times []time.Time
	until time.Time // there are none before
}

// take tells whether there may be one more message now.
func (b *budget) take(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Before(b.until) {
		return false
	}
	b.times = slices.DeleteFunc(b.times, func(t time.Time) bool { return now.Sub(t) >= budgetWindow })
	if len(b.times) >= budgetMost {
		b.until = now.Add(budgetPause)
		return false
	}
	b.times = append(b.times, now)
	return true
}
