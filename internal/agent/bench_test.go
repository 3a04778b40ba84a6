package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"hermes/internal/llm"
	"hermes/internal/session"
	"hermes/internal/tool"
)

// What a turn costs beyond the model and its tools, everything stored on the disk: an answer, and an answer with three calls.
func BenchmarkTurn(b *testing.B) {
	for _, calls := range []int{0, 3} {
		b.Run(fmt.Sprint(calls, " calls"), func(b *testing.B) {
			p := tempPlace(b)
			model := scripted(func(_ context.Context, r llm.Request, yield func(llm.Event, error) bool) {
				last := r.Messages[len(r.Messages)-1]
				if last.Role == llm.Result || calls == 0 {
					give(yield, says("Done."))
					return
				}
				var made []llm.Call
				for i := range calls {
					made = append(made, call(fmt.Sprint("c", i), "read", `{"path":"x"}`))
				}
				give(yield, says("I look.", made...))
			})
			a := newAgent(b, options(p, model, fake{"read", true, func(context.Context, tool.Call) (tool.Result, error) { return works("text"), nil }}))
			for b.Loop() {
				if err := a.Turn(context.Background(), "go", func(Event) {}); err != nil {
					b.Fatal(err)
				}
				b.StopTimer() // each in a conversation of its own: how long a long one takes is the next benchmark
				p = again(b, p)
				a = newAgent(b, options(p, model, fake{"read", true, func(context.Context, tool.Call) (tool.Result, error) { return works("text"), nil }}))
				b.StartTimer()
			}
		})
	}
}

func again(b *testing.B, p place) place {
	o, err := ownerOf()
	if err != nil {
		b.Fatal(err)
	}
	id, err := p.view.Begin(context.Background(), o, "", "")
	if err != nil {
		b.Fatal(err)
	}
	return place{p.view, id}
}

// long is a conversation of 10,000 messages of about 600 bytes.
func long() *memory {
	k := &memory{}
	for i := range 10_000 {
		m := session.Message{Message: llm.Message{Role: llm.User, Text: fmt.Sprintf("message %d: %s", i, strings.Repeat("lorem ipsum dolor sit amet ", 22))}}
		switch i % 4 {
		case 1:
			m.Role, m.Calls = llm.Assistant, []llm.Call{call(fmt.Sprint(i), "terminal", fmt.Sprintf(`{"command":"go test ./module%d"}`, i%97))}
		case 2:
			m.Role, m.CallID, m.Tool = llm.Result, fmt.Sprint(i-1), "terminal"
		case 3:
			m.Role = llm.Assistant
		}
		_, _ = k.Append(context.Background(), "", m)
	}
	return k
}

// A conversation of 10,000 messages, in one request, and summed up.
func BenchmarkLong(b *testing.B) {
	whole := long()
	model := scripted(func(_ context.Context, r llm.Request, yield func(llm.Event, error) bool) {
		give(yield, says("Wanted: all of it."))
	})
	o := options(place{&session.View{}, "x"}, model)
	o.Limits.Context = 200_000
	b.Run("request", func(b *testing.B) {
		h := history{view: whole}
		if err := h.load(context.Background()); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if got := h.messages(longest); len(got) != 10_000 {
				b.Fatal(len(got))
			}
		}
	})
	b.Run("summary", func(b *testing.B) {
		a := newAgent(b, o)
		for b.Loop() {
			a.store = &memory{all: whole.all[:10_000:10_000]}
			if err := a.Compact(context.Background(), nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
