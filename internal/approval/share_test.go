package approval

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hermes/internal/guard/command"
)

// Identical requests at once share one prompt.
func TestShared(t *testing.T) {
	for _, row := range []struct {
		choice  Choice
		prompts int32
		want    Outcome
	}{
		{Deny, 1, Denied},
		{Session, 1, Answered},
		{Always, 1, Answered},
		{Once, 5, Answered}, // for one of them: each of the others asks again
	} {
		synctest.Test(t, func(t *testing.T) {
			var prompts atomic.Int32
			d := New(Options{Store: &memory{}})
			p := prompt(func(_ context.Context, q Question) (Answer, error) {
				prompts.Add(1)
				time.Sleep(time.Second)
				a := q.Reply(row.choice)
				a.Reason = "nope"
				return a, nil
			})
			r := request(t, "rm -rf .git", p, command.Policy{})
			var all sync.WaitGroup
			for range 5 {
				all.Go(func() {
					got := d.Decide(t.Context(), r)
					if got.Outcome != row.want || row.choice == Deny && got.Reason != "nope" {
						t.Errorf("%s: %s %q", row.choice, got.Outcome, got.Reason)
					}
				})
			}
			all.Wait()
			if prompts.Load() != row.prompts {
				t.Errorf("%s: %d prompts, want %d", row.choice, prompts.Load(), row.prompts)
			}
		})
	}
}

// Different ones get their own, and each answer lands on its own question.
func TestNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var prompts atomic.Int32
		d := New(Options{})
		p := prompt(func(_ context.Context, q Question) (Answer, error) {
			prompts.Add(1)
			time.Sleep(time.Second)
			if q.Dir == "/home/ada/src" && q.Backend == "local" && q.Session.Key() == "one" {
				return q.Reply(Session), nil
			}
			return Answer{}, nil
		})
		var all sync.WaitGroup
		for n, alter := range []func(*Request){
			func(*Request) {},
			func(r *Request) { r.Dir = "/srv" },
			func(r *Request) { r.Backend = "ssh" },
			func(r *Request) { r.Session = sessionOf(t, "two") },
		} {
			r := request(t, "rm -rf .git", p, command.Policy{})
			alter(&r)
			all.Go(func() {
				if got := d.Decide(t.Context(), r); got.Allowed() != (n == 0) {
					t.Errorf("request %d: %s", n, got.Outcome)
				}
			})
		}
		all.Wait()
		if prompts.Load() != 4 {
			t.Errorf("%d prompts for 4 questions", prompts.Load())
		}
	})
}

func TestFollowerOutlivesLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(Options{})
		r := request(t, "rm -rf .git", prompt(func(ctx context.Context, q Question) (Answer, error) {
			select {
			case <-ctx.Done():
				return Answer{}, ctx.Err()
			case <-time.After(10 * time.Second):
				return q.Reply(Once), nil
			}
		}), command.Policy{})
		leader, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		var all sync.WaitGroup
		all.Go(func() {
			if got := d.Decide(leader, r); got.Outcome != Cancelled {
				t.Errorf("leader: %s", got.Outcome)
			}
		})
		all.Go(func() {
			time.Sleep(time.Millisecond)
			if got := d.Decide(t.Context(), r); got.Outcome != Answered {
				t.Errorf("follower: %s", got.Outcome)
			}
		})
		all.Wait()
	})
}

func TestEndWakesAllWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(Options{})
		var prompts atomic.Int32
		r := request(t, "rm -rf .git", prompt(func(ctx context.Context, _ Question) (Answer, error) {
			prompts.Add(1)
			<-ctx.Done()
			return Answer{}, ctx.Err()
		}), command.Policy{})
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if got := d.Decide(t.Context(), r); got.Outcome != Cancelled {
					t.Errorf("after the end: %s", got.Outcome)
				}
			})
		}
		synctest.Wait()
		d.End(r.Session)
		all.Wait()
		if prompts.Load() != 1 {
			t.Errorf("%d prompts", prompts.Load())
		}
	})
}

func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := make(chan Question, 9)
		q := &Queue{Send: func(_ context.Context, q Question) error { sent <- q; return nil }}
		d := New(Options{})
		a, b := request(t, "rm -rf .git", q, command.Policy{}), request(t, force, q, command.Policy{})
		a.Presence, b.Presence = Chat, Chat
		got := make(chan string, 2)
		go func() { got <- "A " + string(d.Decide(t.Context(), a).Outcome) }()
		first := <-sent
		foreign := sessionOf(t, "two")
		for what, said := range map[string]bool{
			"a stale id":            q.Answer(a.Session, Answer{ID: "00", Sum: first.Sum, Choice: Once}),
			"no id":                 q.Answer(a.Session, Answer{Sum: first.Sum, Choice: Once}),
			"another command's sum": q.Answer(a.Session, Answer{ID: first.ID, Sum: "00", Choice: Once}),
			"another session":       q.Answer(foreign, first.Reply(Once)),
		} {
			if said {
				t.Errorf("%s resolved a question", what)
			}
		}
		if n := len(q.Pending(a.Session)); n != 1 || len(q.Pending(foreign)) != 0 {
			t.Errorf("%d pending", n)
		}
		if !q.Answer(a.Session, first.Reply(Once)) || q.Answer(a.Session, first.Reply(Once)) {
			t.Error("an answer counts once")
		}
		if g := <-got; g != "A user_approved" {
			t.Error(g)
		}
		go func() { got <- "B " + string(d.Decide(t.Context(), b).Outcome) }()
		<-sent
		if n := q.All(b.Session, Deny, "ada", "no"); n != 1 {
			t.Errorf("answered %d", n)
		}
		if g := <-got; g != "B denied" {
			t.Error(g)
		}
	})
}

func TestQueueForgetsWhatTimedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &Queue{Send: func(context.Context, Question) error { return nil }}
		r := request(t, "rm -rf .git", q, command.Policy{})
		if got := New(Options{Timeout: time.Minute}).Decide(t.Context(), r); got.Outcome != TimedOut {
			t.Error(got.Outcome)
		}
		synctest.Wait()
		if n := len(q.Pending(r.Session)); n != 0 {
			t.Errorf("%d pending after the time-out", n)
		}
		broken := &Queue{Send: func(context.Context, Question) error { return fmt.Errorf("offline") }}
		r.Prompter = broken
		if got := New(Options{}).Decide(t.Context(), r); got.Outcome != NotifyFailed || len(broken.Pending(r.Session)) != 0 {
			t.Error(got.Outcome)
		}
	})
}
