package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"hermes/internal/sandbox"
)

var sleep = sandbox.Command{Text: "sleep 9"}

// untilEnded runs a command that ends only with its context.
func untilEnded(ctx context.Context) (sandbox.Status, error) {
	<-ctx.Done()
	return sandbox.Ended(ctx, sandbox.Status{})
}

func TestGateEnds(t *testing.T) {
	t.Run("by the time limit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := sleep
			c.Timeout = 3 * time.Second
			s, err := sandbox.NewGate(1).Pass(t.Context(), c, untilEnded)
			if err != nil || s.Code != 124 || !s.TimedOut || s.Interrupted || s.Wall != 3*time.Second {
				t.Fatalf("%+v, %v", s, err)
			}
		})
	})
	t.Run("by whoever asked for it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second) // a bound of the caller's is not the command's
			defer cancel()
			s, err := sandbox.NewGate(1).Pass(ctx, sleep, untilEnded)
			if err != nil || s.Code != 130 || !s.Interrupted || s.TimedOut {
				t.Fatalf("%+v, %v", s, err)
			}
		})
	})
	t.Run("by Close, which waits for it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := sandbox.NewGate(0)
			returned := false
			go func() {
				_, err := g.Pass(t.Context(), sleep, func(ctx context.Context) (sandbox.Status, error) {
					<-ctx.Done()
					time.Sleep(time.Second)
					returned = true
					return sandbox.Ended(ctx, sandbox.Status{})
				})
				if !errors.Is(err, sandbox.ErrClosed) {
					t.Errorf("the command that was running: %v", err)
				}
			}()
			synctest.Wait()
			if !g.Close() || !returned {
				t.Error("the first Close does not know that it is, or has not waited")
			}
			if g.Close() {
				t.Error("the second Close takes itself for the first")
			}
			if _, err := g.Pass(t.Context(), sleep, untilEnded); !errors.Is(err, sandbox.ErrClosed) {
				t.Errorf("a command after Close: %v", err)
			}
			if g.Context().Err() == nil {
				t.Error("the context of the gate goes on")
			}
		})
	})
}

// A command waits for its turn, and its time limit runs meanwhile.
func TestGateTakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := sandbox.NewGate(1)
		go func() { _, _ = g.Pass(t.Context(), sleep, untilEnded) }()
		synctest.Wait()
		c := sleep
		c.Timeout = time.Second
		s, err := g.Pass(t.Context(), c, func(context.Context) (sandbox.Status, error) {
			t.Error("two commands at once")
			return sandbox.Status{}, nil
		})
		if err != nil || !s.TimedOut {
			t.Errorf("%+v, %v", s, err)
		}
		g.Close()
	})
}

func TestGateRefusesCommandsThatSayNothing(t *testing.T) {
	for _, c := range []sandbox.Command{{}, {Text: "true", Argv: []string{"true"}}} {
		if _, err := sandbox.NewGate(1).Pass(t.Context(), c, untilEnded); err == nil {
			t.Errorf("%+v passes", c)
		}
	}
}

// holder is a writer of a type that can be compared, whose value cannot always be.
type holder struct{ what any }

func (holder) Write(p []byte) (int, error) { return len(p), nil }

func TestSameWriter(t *testing.T) {
	var one, other bytes.Buffer
	for _, c := range []struct {
		name string
		a, b io.Writer
		want bool
	}{
		{"one buffer", &one, &one, true},
		{"two buffers", &one, &other, false},
		{"none", nil, nil, false},
		{"one and none", &one, nil, false},
		{"equal values", holder{1}, holder{1}, true},
		{"values that cannot be compared", holder{[]int{1}}, holder{[]int{1}}, false},
	} {
		if got := sandbox.SameWriter(c.a, c.b); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
