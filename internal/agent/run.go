package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hermes/internal/llm"
	"hermes/internal/session"
	"hermes/internal/tool"
)

const (
	beside = 6                // calls that run at once
	grace  = 10 * time.Second // that a call has to end once its turn has
	tail   = 8 << 10          // bytes kept of what a call printed, should nothing else come of it
)

// Causes of the end of a turn, and of its calls.
var (
	errTime        = errors.New(Time.Text())
	errInterrupted = errors.New("interrupted")
	errVanished    = errors.New("the tool ended without a result")
)

// outcome is what came of a job.
type outcome struct {
	job    int
	result tool.Result
	err    error
	took   time.Duration
	counts bool // it ran to its own end, or could not even be read
	says   bool // the result says what err does
}

// run makes the calls of an answer, answers those that are not made, and stores each result when it is there. Only calls that
// change nothing run beside others.
func (t *turn) run(ctx context.Context, jobs []job) error {
	for from := 0; from < len(jobs); {
		to := from + 1
		for !jobs[from].alone() && to < len(jobs) && !jobs[to].alone() {
			to++
		}
		if err := t.batch(ctx, jobs, from, to); err != nil {
			return err
		}
		from = to
	}
	return nil
}

func (j *job) alone() bool { return !j.beside || j.refusal != "" }

// batch makes some calls at once. It returns when all have ended, also where one could not be stored.
func (t *turn) batch(ctx context.Context, jobs []job, from, to int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	outcomes := make(chan outcome)
	slots := make(chan struct{}, beside)
	untainted := !t.history.outside()
	for i := from; i < to; i++ {
		go func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			o := t.one(ctx, &jobs[i], untainted)
			o.job = i
			outcomes <- o
		}()
	}
	var failed error
	for range to - from {
		o := <-outcomes
		if err := t.ended(ctx, &jobs[o.job], o); err != nil && failed == nil {
			failed = err
			cancel()
		}
	}
	return failed
}

// one makes one call, unless there is a reason not to.
func (t *turn) one(ctx context.Context, j *job, untainted bool) outcome {
	t.hear(Began{Call: j.call, Title: Title(j.call.Arguments)})
	if ctx.Err() != nil {
		return outcome{err: errInterrupted, result: own("The call was not made: " + why(ctx) + "."), says: true}
	}
	refusal, counts := j.refusal, j.counts
	if refusal == "" || counts {
		if again := t.brake.refuses(j.same); again != "" {
			refusal, counts = again, false
		}
	}
	if refusal != "" {
		return outcome{err: errors.New(refusal), result: own(refusal), counts: counts, says: true}
	}
	return t.call(ctx, j, untainted)
}

// own is a result that the agent itself gives.
func own(text string) tool.Result {
	return tool.Result{Failed: true, Parts: []tool.Part{tool.Own(text)}}
}

// why says what ended a turn.
func why(ctx context.Context) string {
	if errors.Is(context.Cause(ctx), errTime) {
		return errTime.Error()
	}
	return "the person interrupted"
}

// call runs a tool and waits for it, after the end of ctx only a while. A tool that panics has failed.
func (t *turn) call(ctx context.Context, j *job, untainted bool) outcome {
	began := time.Now()
	hears := &listener{to: t, id: j.call.ID}
	done := make(chan outcome, 1)
	go func() {
		o := outcome{err: errVanished, counts: true}
		defer func() {
			if p := recover(); p != nil {
				o = broken(fmt.Sprint(p))
			}
			done <- o
		}()
		o.result, o.err = j.tool.Call(ctx, tool.Call{ID: j.call.ID, Args: j.args, Tell: hears.tell, Untainted: untainted})
	}()
	var o outcome
	select {
	case o = <-done:
	case <-ctx.Done():
		o = t.stopped(ctx, done)
	}
	printed := hears.close()
	o.took = time.Since(began)
	if o.err == nil || ctx.Err() == nil || !errors.Is(o.err, errInterrupted) && !errors.Is(o.err, context.Canceled) &&
		!errors.Is(o.err, context.DeadlineExceeded) && !errors.Is(o.err, context.Cause(ctx)) {
		return o
	}
	text := "The call was broken off: " + why(ctx) + "."
	if o.counts {
		o.counts = false
	} else {
		text += fmt.Sprintf(" It did not end within %v and may still run.", grace)
	}
	parts := o.result.Parts
	if len(parts) == 0 && printed != "" {
		text += " The end of what it had printed:"
		parts = []tool.Part{{Text: printed}}
	}
	o.result.Failed, o.result.Parts = true, append(own(text).Parts, parts...)
	o.err, o.says = errInterrupted, true
	return o
}

// broken is what comes of a tool that panics. What it says then may hold a text from outside.
func broken(text string) outcome {
	text = line(text)
	r := own("The tool broke. What it said:")
	r.Parts = append(r.Parts, tool.Part{Text: text})
	return outcome{result: r, err: errors.New("the tool broke: " + text), counts: true, says: true}
}

// stopped waits for a call whose turn has ended.
func (t *turn) stopped(ctx context.Context, done <-chan outcome) outcome {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case o := <-done:
		return o
	case <-timer.C:
		return outcome{err: errInterrupted}
	}
}

// ended stores what came of a call and tells of it.
func (t *turn) ended(ctx context.Context, j *job, o outcome) error {
	r, err := clean(o.result, t.redact), cleanErr(o.err, t.redact)
	failed := r.Failed || err != nil
	if o.counts {
		t.brake.made(j.same, failed, j.beside)
	}
	told := err
	if o.says {
		told = nil
	}
	text, risk := t.a.o.Prompt.Result(j.call.Name, r, told)
	m := session.Message{
		Message:  llm.Message{Role: llm.Result, CallID: j.call.ID, Text: text, Failed: failed},
		Risk:     risk,
		Tool:     j.call.Name,
		Approved: o.result.Approved,
	}
	if err := t.history.append(ctx, m); err != nil {
		return err
	}
	t.hear(Ended{Call: j.call, Result: r, Took: o.took, Err: err})
	return nil
}

// listener passes on what a call says while it runs, and keeps the end of what it printed.
type listener struct {
	to *turn
	id string

	mu      sync.Mutex // guards what is below, and the order of what is passed on
	printed []byte
	closed  bool
}

func (l *listener) tell(u tool.Update) {
	u.Output, u.Note = l.to.redact(u.Output), l.to.redact(u.Note)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.printed = append(l.printed, u.Output...)
	if len(l.printed) > 2*tail {
		l.printed = append(l.printed[:0], l.printed[len(l.printed)-tail:]...)
	}
	l.to.hear(Told{ID: l.id, Update: u})
}

// close ends the listening, and returns what is kept.
func (l *listener) close() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	at := max(0, len(l.printed)-tail)
	return string(l.printed[whole(string(l.printed), at, 1):])
}
