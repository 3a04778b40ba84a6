package session

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hermes/internal/guard/scope"
	"hermes/internal/home"
)

// The test binary is also the program that gets killed: HERMES_SESSION_WRITER is its home.
func TestMain(m *testing.M) {
	if path := os.Getenv("HERMES_SESSION_WRITER"); path != "" {
		if err := write(path, os.Args[len(os.Args)-2], os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// write appends numbered messages to a conversation, as one that does not know whether the last one it tried was stored, and
// says after each that it is.
func write(path, id, from string) error {
	ctx := context.Background()
	dir, err := home.Create(path)
	if err != nil {
		return err
	}
	s, err := Open(ctx, dir)
	if err != nil {
		return err
	}
	p, err := scope.ParseProfile("default")
	if err != nil {
		return err
	}
	v, err := s.View(p)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(from)
	if err != nil {
		return err
	}
	for ; n < 100_000; n++ {
		m := user("message " + strconv.Itoa(n))
		m.Key = strconv.Itoa(n)
		if _, err := v.Append(ctx, id, m); err != nil {
			return err
		}
		fmt.Println(n)
	}
	return nil
}

// Killed at any point of writing, again and again, no message that was acknowledged is lost, and none is there twice.
func TestKilled(t *testing.T) {
	kills := 200
	if testing.Short() {
		kills = 10
	}
	path := filepath.Join(t.TempDir(), "home")
	s := opened(t, path)
	o := owner(t, "default", "cli", "1")
	v := view(t, s, o)
	id := begin(t, v, o, "")
	chance := rand.New(rand.NewPCG(7, 7))
	next := 0 // the message to be tried next, which may be stored already
	for i := range kills {
		acknowledged := killed(t, path, id, next, 1+chance.IntN(4), time.Duration(chance.IntN(3000))*time.Microsecond)
		if acknowledged < next {
			t.Fatalf("kill %d: nothing was acknowledged", i)
		}
		next = acknowledged + 1
		if i%20 == 19 || i == kills-1 {
			stored(t, s, v, id, next)
		}
	}
}

// killed runs the writer until it has acknowledged so many messages and a moment longer, kills it, and returns the last number
// that it had acknowledged.
func killed(t *testing.T, path, id string, from, most int, moment time.Duration) int {
	t.Helper()
	cmd := exec.Command(os.Args[0], id, strconv.Itoa(from))
	cmd.Env = append(os.Environ(), "HERMES_SESSION_WRITER="+path)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last := from - 1
	lines := bufio.NewScanner(out)
	for n := 0; n < most && lines.Scan(); n++ {
		last, _ = strconv.Atoi(lines.Text())
	}
	time.Sleep(moment)
	_ = cmd.Process.Kill()
	for lines.Scan() { // what it had said before it died
		last, _ = strconv.Atoi(lines.Text())
	}
	_ = cmd.Wait()
	if stderr.Len() > 0 {
		t.Fatalf("writer: %s", stderr.String())
	}
	return last
}

// stored checks that messages 0 to next-1 are there, each once and in order, and at most the one that was under way.
func stored(t *testing.T, s *Store, v *View, id string, next int) {
	t.Helper()
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, err := v.Messages(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range all {
		if want := "message " + strconv.Itoa(i); m.Text != want {
			t.Fatalf("message %d is %q", i, m.Text)
		}
	}
	if len(all) != next && len(all) != next+1 {
		t.Fatalf("%d messages are stored, %d were acknowledged", len(all), next)
	}
	if i, err := v.Info(t.Context(), id); err != nil || i.Messages != len(all) {
		t.Fatalf("the session counts %d messages of %d (%v)", i.Messages, len(all), err)
	}
	if hits, err := v.Search(t.Context(), "message", len(all)+1); err != nil || len(hits) != len(all) {
		t.Fatalf("search finds %d messages of %d (%v)", len(hits), len(all), err)
	}
}
