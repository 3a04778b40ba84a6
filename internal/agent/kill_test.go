package agent

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hermes/internal/llm"
	"hermes/internal/session"
	"hermes/internal/tool"
)

// The test binary is also the program that gets killed: HERMES_AGENT_HOME is its home.
func TestMain(m *testing.M) {
	if path := os.Getenv("HERMES_AGENT_HOME"); path != "" {
		if err := live(path, os.Args[len(os.Args)-2], os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// live runs one turn, or resumes one, and says what is stored as soon as it is told of it.
func live(path, id, text string) error {
	v, end, err := viewOf(path)
	if err != nil {
		return err
	}
	defer end()
	o := options(place{v, id}, scripted(worker))
	o.Limits.Context = 4000
	o.Tools = []tool.Tool{fake{"read", true, recorded(path)}, fake{"write", false, recorded(path)}}
	a, err := New(o)
	if err != nil {
		return err
	}
	said := ""
	hear := func(e Event) {
		switch e := e.(type) {
		case Text:
			said += e.Text
		case Used:
			if said != "" {
				fmt.Println("answer", said)
				said = ""
			}
		case Ended:
			fmt.Println("result", e.Call.ID)
		case Compacted:
			fmt.Println("summary")
		case Began:
			fmt.Println("call", e.Call.ID)
		}
	}
	if text == "" {
		err = a.Resume(context.Background(), hear)
	} else {
		err = a.Turn(context.Background(), text, hear)
	}
	fmt.Println("done")
	return err
}

// recorded is a tool that leaves a trace of each call.
func recorded(path string) func(context.Context, tool.Call) (tool.Result, error) {
	return func(_ context.Context, c tool.Call) (tool.Result, error) {
		f, err := os.OpenFile(filepath.Join(path, "made"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return tool.Result{}, err
		}
		defer f.Close()
		_, err = fmt.Fprintln(f, c.ID)
		return works("came of " + c.ID), err
	}
}

// worker is a model that makes some calls in each of six answers and then is done. All it says is said once in its life.
func worker(_ context.Context, r llm.Request, yield func(llm.Event, error) bool) {
	if err := valid(r.Messages); err != nil {
		yield(nil, fmt.Errorf("the request is not valid: %w", err))
		return
	}
	if strings.Contains(r.System, "takes the place of the older part") {
		give(yield, []llm.Event{llm.Text{Text: "Wanted: work. Done: some."}, llm.End{Stop: llm.Done}})
		return
	}
	since := 0
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == llm.User {
			break
		}
		if m.Role == llm.Assistant {
			since++
		}
	}
	name := rand.Text()
	events := []llm.Event{llm.Text{Text: "says "}, llm.Text{Text: name}}
	if since < 6 {
		for i := range 1 + since%4 {
			events = append(events, call(fmt.Sprint(name[:10], i), []string{"read", "read", "write"}[(since+i)%3], `{"path":"`+strings.Repeat("x", 60)+`"}`))
		}
		events = append(events, llm.End{Stop: llm.Calls})
	} else {
		events = append(events, llm.End{Stop: llm.Done})
	}
	give(yield, events)
}

// Killed at any point of a turn, again and again, it resumes without losing or doubling a message; no call is made twice.
func TestKilled(t *testing.T) {
	kills := 40
	if text := os.Getenv("HERMES_TEST_KILLS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		kills = n
	} else if testing.Short() {
		kills = 10
	}
	path := filepath.Join(t.TempDir(), "home")
	p := newPlace(t, path)
	w := &watch{t: t, path: path, p: p, chance: mathrand.New(mathrand.NewPCG(5, 5)), answers: map[string]bool{}, results: map[string]bool{}}
	for w.kills < kills {
		w.turn(false)
	}
	w.turn(true)
	for id, n := range w.check() {
		if n != 1 {
			t.Errorf("the call %s has %d results", id, n)
		}
	}
	if w.summaries == 0 && kills >= 40 || w.killedInCall == 0 && kills >= 40 {
		t.Errorf("%d summaries, %d killed during a call: this test does not look where it should", w.summaries, w.killedInCall)
	}
	t.Logf("%d kills, %d during a call, %d messages of the person, %d answers, %d summaries", w.kills, w.killedInCall, w.persons, len(w.answers), w.summaries)
}

// watch knows what was acknowledged.
type watch struct {
	t      *testing.T
	path   string
	p      place
	chance *mathrand.Rand

	kills, killedInCall, persons, summaries int
	answers, results                        map[string]bool
}

// turn plays one turn until it is done, with kills or without.
func (w *watch) turn(whole bool) {
	w.persons++
	text := fmt.Sprint("message ", w.persons)
	for {
		most := 1 << 30
		if !whole {
			most = w.chance.IntN(14)
		}
		if w.run(text, most, time.Duration(w.chance.IntN(4000))*time.Microsecond) {
			return
		}
		w.check()
		text = ""
		if all := stored(w.t, w.p); len(all) == 0 || !slices.ContainsFunc(all, func(m session.Message) bool { return m.Text == fmt.Sprint("message ", w.persons) }) {
			text = fmt.Sprint("message ", w.persons) // killed before it was stored; nobody was told that it was
		}
	}
}

// run starts the program, kills it after some lines and a moment, and tells whether its turn was done before.
func (w *watch) run(text string, most int, moment time.Duration) (done bool) {
	cmd := exec.Command(os.Args[0], w.p.id, text)
	cmd.Env = append(os.Environ(), "HERMES_AGENT_HOME="+w.path)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	open := 0
	read := func() bool {
		if !lines.Scan() {
			return false
		}
		word, rest, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "answer":
			w.answers[rest] = true
		case "result":
			w.results[rest] = true
			open--
		case "call":
			open++
		case "summary":
			w.summaries++
		case "done":
			done = true
		}
		return true
	}
	for n := 0; n < most && !done && read(); n++ {
	}
	if !done {
		time.Sleep(moment)
		_ = cmd.Process.Kill()
	}
	for read() {
	}
	err = cmd.Wait()
	if stderr.Len() > 0 || done && err != nil && cmd.ProcessState.ExitCode() > 0 {
		w.t.Fatalf("the turn: %v %s", err, stderr.String())
	}
	if !done {
		w.kills++
		if open > 0 {
			w.killedInCall++
		}
	}
	return done
}

// check compares what is stored with what was acknowledged, and returns how many results each call has.
func (w *watch) check() map[string]int {
	w.t.Helper()
	said, answered, asked, persons := map[string]int{}, map[string]int{}, map[string]int{}, []string(nil)
	for _, m := range stored(w.t, w.p) {
		switch {
		case m.Role == llm.Assistant:
			said[m.Text]++
			for _, c := range m.Calls {
				asked[c.ID]++
			}
		case m.Role == llm.Result:
			answered[m.CallID]++
			if asked[m.CallID] == 0 {
				w.t.Fatalf("a result of %s comes before its call", m.CallID)
			}
		case m.Covers == 0:
			persons = append(persons, m.Text)
		}
	}
	for i, text := range persons {
		if text != fmt.Sprint("message ", i+1) {
			w.t.Fatalf("message %d of the person is %q", i+1, text)
		}
	}
	if len(persons) != w.persons && len(persons) != w.persons-1 {
		w.t.Fatalf("%d messages of the person are stored, %d were sent", len(persons), w.persons)
	}
	for name, counts := range map[string]map[string]int{"answer": said, "result of": answered, "call": asked} {
		for text, n := range counts {
			if n != 1 {
				w.t.Fatalf("%s %q is stored %d times", name, text, n)
			}
		}
	}
	for text := range w.answers {
		if said[text] != 1 {
			w.t.Fatalf("the answer %q was told and is not stored", text)
		}
	}
	for id := range w.results {
		if answered[id] != 1 {
			w.t.Fatalf("the result of %s was told and is not stored", id)
		}
	}
	made, err := os.ReadFile(filepath.Join(w.path, "made"))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	ids := strings.Fields(string(made))
	slices.Sort(ids)
	if n := len(slices.Compact(slices.Clone(ids))); n != len(ids) {
		w.t.Fatalf("of %d calls only %d are different", len(ids), n)
	}
	for id := range asked {
		asked[id] = answered[id]
	}
	return asked
}
