package process

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Who waits just as long as it runs is told of its end, or the agent is: somebody is.
func TestEndsWhileWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var notices atomic.Int32
		r := New(Options{Notify: func(Notice) { notices.Add(1) }})
		one := session(t, "1")
		for range 2000 {
			notices.Store(0)
			p, err := r.Start(t.Context(), Spec{Session: one, Notify: true, Run: script(func(context.Context, io.Writer) { time.Sleep(time.Second) })})
			if err != nil {
				t.Fatal(err)
			}
			seen := p.Wait(t.Context(), time.Second)
			<-p.Done()
			synctest.Wait()
			if told := notices.Load() == 1; told == seen {
				t.Fatalf("who waited was told: %v, the agent: %v", seen, told)
			}
		}
	})
}

// A process that has ended, and of which that is known, is not said to run.
func TestEndIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(New(Options{}), Spec{})
		p.ended = time.Now()
		seen := make(chan bool, 1)
		go func() { seen <- p.Wait(t.Context(), 0) }()
		synctest.Wait()
		if len(seen) > 0 {
			t.Errorf("it has ended: %v, before all of it was over", <-seen)
		}
		close(p.done)
		if !<-seen {
			t.Error("it is said to run")
		}
	})
}

// Whoever finds a process can do with it what they like, also while it begins.
func TestFoundWhileItBegins(t *testing.T) {
	r := New(Options{Running: 1000, Kept: 1000})
	one := session(t, "1")
	over := make(chan struct{})
	var looks sync.WaitGroup
	for range 2 {
		looks.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				for _, p := range r.List(one) {
					p.Info()
					if err := p.Kill(t.Context()); err != nil {
						t.Error(err)
					}
					r.Forget(p)
				}
			}
		})
	}
	for range 500 {
		if _, err := r.Start(t.Context(), Spec{Session: one, Run: script(forever)}); err != nil {
			t.Fatal(err)
		}
	}
	close(over)
	looks.Wait()
	if err := r.CloseAll(t.Context()); err != nil {
		t.Error(err)
	}
}

// A session that could not be ended in time is not gone because somebody tries again, and does not hold up what goes on.
func TestCloseAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Options{})
		one := session(t, "1")
		deaf := script(func(context.Context, io.Writer) { time.Sleep(time.Minute) })
		p, err := r.Start(t.Context(), Spec{Session: one, Run: deaf})
		if err != nil {
			t.Fatal(err)
		}
		soon := func() context.Context {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			t.Cleanup(cancel)
			return ctx
		}
		for range 2 {
			if err := r.Close(soon(), one); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		}
		if err := r.CloseAll(soon()); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if len(r.List(one)) > 0 {
			t.Error("it is listed after its session")
		}
		if _, err := r.Start(t.Context(), Spec{Session: one, Run: script(forever)}); err != nil || len(r.List(one)) != 1 {
			t.Errorf("the session does not go on: %v", err)
		}
		if err := r.CloseAll(t.Context()); err != nil || !p.over() {
			t.Errorf("%v, ended %v", err, p.over())
		}
		if len(r.sessions)+len(r.ending) > 0 {
			t.Error("what is gone is kept")
		}
	})
}
