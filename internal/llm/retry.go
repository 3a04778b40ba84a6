package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"time"
)

// Retry asks a provider again when that may help. It is a Provider. Whatever had come of an answer that broke off is taken back
// with an Again.
type Retry struct {
	Provider Provider
	Attempts int            // 0: 4
	Base     time.Duration  // the first wait, doubled each time: 0 is half a second
	Most     time.Duration  // the longest wait, also one that the provider asks for: 0 is a minute
	Rand     func() float64 // 0 ≤ x < 1; nil: of the system
}

// Stream implements Provider.
func (r Retry) Stream(ctx context.Context, request Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for attempt := 1; ; attempt++ {
			err, stopped := pass(r.Provider.Stream(ctx, request), yield)
			if stopped || err == nil {
				return
			}
			wait, again := r.wait(err, attempt)
			if !again || ctx.Err() != nil {
				yield(nil, ended(ctx, err))
				return
			}
			if !yield(Again{Cause: err, Attempt: attempt + 1}, nil) {
				return
			}
			if !sleep(ctx, wait) {
				yield(nil, ended(ctx, err))
				return
			}
		}
	}
}

// pass hands events on until an error, which it returns, or until nobody wants more.
func pass(events iter.Seq2[Event, error], yield func(Event, error) bool) (err error, stopped bool) {
	for e, err := range events {
		if err != nil {
			return err, false
		}
		if !yield(e, nil) {
			return nil, true
		}
	}
	return nil, false
}

// ended is the error to report: the end of ctx comes before what it caused.
func ended(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// wait says how long to wait after a number of attempts, and whether another makes sense.
func (r Retry) wait(err error, attempts int) (time.Duration, bool) {
	var e *Error
	most := or(r.Most, time.Minute)
	if !errors.As(err, &e) || !e.Passing() || attempts >= or(r.Attempts, 4) || e.After > most {
		return 0, false
	}
	if e.Kind == Idle && attempts > 1 { // each silence took minutes
		return 0, false
	}
	chance := r.Rand
	if chance == nil {
		chance = rand.Float64
	}
	wait := most
	if shift := attempts - 1; shift < 30 {
		wait = min(most, or(r.Base, time.Second/2)<<shift)
	}
	if e.After > 0 { // not before; and not all who were told the same at the same time
		return e.After + time.Duration(chance()*float64(wait)/4), true
	}
	return wait/2 + time.Duration(chance()*float64(wait)/2), true
}

func or[T comparable](value, other T) T {
	var zero T
	if value == zero {
		return other
	}
	return value
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Choice is one provider with the model to ask there.
type Choice struct {
	Provider Provider
	Name     string // of the provider
	Model    string // "": the one of the request
	Price    Price  // of the model there; zero: not known
}

func (c Choice) String() string {
	if c.Model == "" {
		return c.Name
	}
	return c.Name + "/" + c.Model
}

// Chain asks one choice after the other until one answers. It is a Provider.
type Chain []Choice

// Stream implements Provider.
func (c Chain) Stream(ctx context.Context, request Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		failed := &ChainError{}
		for i, choice := range c {
			if i > 0 && !yield(Again{Cause: failed.Errs[i-1], Attempt: 1, Choice: choice.String(), Price: choice.Price}, nil) {
				return
			}
			r := request
			r.Model = or(choice.Model, r.Model)
			err, stopped := pass(choice.Provider.Stream(ctx, r), yield)
			if stopped || err == nil {
				return
			}
			if ctx.Err() != nil {
				yield(nil, ended(ctx, err))
				return
			}
			failed.Errs = append(failed.Errs, err)
		}
		if len(failed.Errs) == 1 {
			yield(nil, failed.Errs[0])
			return
		}
		yield(nil, failed)
	}
}

// ChainError says that no choice answered, and why each did not.
type ChainError struct{ Errs []error }

func (e *ChainError) Error() string {
	if len(e.Errs) == 0 {
		return "ask a model: no provider is set"
	}
	texts := make([]string, len(e.Errs))
	for i, err := range e.Errs {
		texts[i] = err.Error()
	}
	return fmt.Sprintf("ask a model: none of %d answered: %s", len(e.Errs), strings.Join(texts, "; "))
}

// Unwrap returns all of them.
func (e *ChainError) Unwrap() []error { return e.Errs }
