package tui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"hermes/internal/agent"
	"hermes/internal/approval"
	"hermes/internal/chat"
)

func testPlain(out io.Writer, talk Talker, person bool) *plain {
	return &plain{o: Options{Out: out, Person: person}, look: Look{Wide: true, Home: "/home/ada"}, cols: 80, calls: map[string]*call{},
		in: &lineReader{r: strings.NewReader("")}, left: make(chan struct{}), talk: talk}
}

// The scenes as lines, for a person and for a pipe.
func TestLines(t *testing.T) {
	for _, person := range []bool{true, false} {
		for _, scene := range scenes {
			var out bytes.Buffer
			talk := &fake{}
			p := testPlain(&out, talk, person)
			s := newStage(80, 24, Look{})
			s.tap = p.hear
			scene.play(s)
			p.hear(chat.Quit{ID: "s1"})
			name := "lines"
			if person {
				name = "person"
			}
			// The clock of a question is the real one here.
			text := strings.ReplaceAll(out.String(), "0:00 left", "… left")
			compare(t, "testdata/lines/"+strings.ReplaceAll(scene.name, " ", "-")+"."+name+".txt", text)
			if r, bad := obeyed(out.String()); bad {
				t.Errorf("%s: %U is printed", scene.name, r)
			}
		}
	}
}

// Of one there is no plural.
func TestNumber(t *testing.T) {
	var out bytes.Buffer
	testPlain(&out, &fake{}, true).hear(chat.Opened{History: stored()[:1]})
	if out.String() != "1 message so far.\n" || number(2, "line") != "2 lines" {
		t.Errorf("%q", out.String())
	}
}

// Of a command that takes its time it is said once what can be done about it, and never into a question.
func TestLinesOfLongCommand(t *testing.T) {
	var out bytes.Buffer
	talk := &fake{waited: 1}
	p := testPlain(&out, talk, true)
	says := func(after time.Duration, want int) {
		t.Helper()
		p.wait(noon.Add(after))
		if n := strings.Count(out.String(), "/bg lets it go on in the background"); n != want {
			t.Errorf("after %s it was said %d times, want %d:\n%s", after, n, want, out.String())
		}
	}
	says(0, 0)
	says(4*time.Second, 0)
	p.hear(chat.Asked{Question: push()})
	says(5*time.Second, 0)
	p.hear(chat.Answered{ID: "q1"})
	says(6*time.Second, 1)
	says(time.Minute, 1)
	talk.waited = 0
	says(2*time.Minute, 1)
	talk.waited = 1
	says(3*time.Minute, 1)
	says(4*time.Minute, 2)
}

// answering is a chat that answers like one.
type answering struct {
	fake
	mu   sync.Mutex
	hear func(chat.Event)
	ask  bool // before it answers
	rest chan struct{}
}

func (a *answering) Submit(line string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fake.Submit(line)
	if line == "/quit" {
		go a.hear(chat.Quit{ID: "s1"})
		return
	}
	a.rest = make(chan struct{})
	go func() {
		a.hear(chat.Said{Text: line})
		if a.ask {
			q := push()
			q.Asked, q.Deadline = time.Now(), time.Now().Add(time.Minute)
			a.hear(chat.Asked{Question: q})
			return
		}
		a.answer("to " + line)
	}()
}

func (a *answering) answer(text string) {
	a.hear(chat.Turn{Event: agent.Text{Text: text}})
	a.hear(chat.Turn{Event: agent.Done{Why: agent.Answered}})
	a.mu.Lock()
	defer a.mu.Unlock()
	close(a.rest)
}

func (a *answering) Answer(q approval.Question, c approval.Choice, reason string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fake.Answer(q, c, reason)
	go func() {
		a.hear(chat.Answered{ID: q.ID, Choice: c})
		a.answer(c.String())
	}()
	return true
}

func (a *answering) Rest(ctx context.Context) error {
	a.mu.Lock()
	rest := a.rest
	a.mu.Unlock()
	select {
	case <-rest:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (a *answering) options(in io.Reader, out io.Writer, person bool) Options {
	return Options{In: in, Out: out, Person: person, Look: Look{Wide: true}, Open: func(hear func(chat.Event)) (Talker, error) {
		a.hear = hear
		go hear(chat.Opened{})
		return a, nil
	}}
}

// Each line of a pipe waits for what came of the one before, and the end of the input for the last.
func TestPlainPipe(t *testing.T) {
	var out bytes.Buffer
	a := &answering{}
	if err := Plain(t.Context(), a.options(strings.NewReader("one\n\ntwo\r\nthree"), &out, false)); err != nil {
		t.Fatal(err)
	}
	want := "> one\nto one\n> two\nto two\n> three\nto three\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Where nobody sits a question is refused, whatever the pipe says.
func TestPlainAsksNobody(t *testing.T) {
	var out bytes.Buffer
	a := &answering{ask: true}
	if err := Plain(t.Context(), a.options(strings.NewReader("push\no\n"), &out, false)); err != nil {
		t.Fatal(err)
	}
	if want := []string{"q1 deny nobody is there to ask", "q1 deny nobody is there to ask"}; cmp.Diff(want, a.answers) != "" {
		t.Errorf("answers %q\n%s", a.answers, out.String())
	}
}

func TestPlainEnds(t *testing.T) {
	t.Run("with its context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r, w := io.Pipe()
		defer w.Close()
		go func() { time.Sleep(20 * time.Millisecond); cancel() }()
		if err := Plain(ctx, (&answering{}).options(r, io.Discard, true)); err != nil {
			t.Error(err)
		}
	})
	t.Run("when nobody reads", func(t *testing.T) {
		err := Plain(t.Context(), (&answering{}).options(strings.NewReader("one\n"), broken{}, false))
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("%v", err)
		}
	})
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, os.ErrClosed }

// On a terminal, what was typed before the question is no answer to it: neither a whole line nor the beginning of one.
func TestPlainTypedAhead(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Skipf("skipped: needs a pty: %v", err)
	}
	defer master.Close()
	defer slave.Close()
	var mu sync.Mutex
	var shown strings.Builder
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			mu.Lock()
			shown.Write(buf[:n])
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	until := func(text string) {
		t.Helper()
		for range 1000 {
			mu.Lock()
			found := strings.Contains(shown.String(), text)
			mu.Unlock()
			if found {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
		t.Fatalf("%q does not show:\n%s", text, shown.String())
	}
	a := &answering{ask: true}
	o := a.options(slave, slave, true)
	done := make(chan error, 1)
	go func() { done <- Plain(t.Context(), o) }()
	_, _ = master.WriteString("push\n")
	until("[d]eny")
	_, _ = master.WriteString("alway") // in the middle of a word, and on
	time.Sleep(50 * time.Millisecond)
	_, _ = master.WriteString("s\nonce\no\n")
	until("Choice [o/s/a/D]")
	_, _ = master.WriteString("\n")
	until("denied")
	_, _ = master.WriteString("\x04")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if want := []string{"q1 deny"}; cmp.Diff(want, a.answers) != "" {
		t.Errorf("answers %q\n%s", a.answers, shown.String())
	}
}
