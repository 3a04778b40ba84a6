// Package sandboxtest holds what every sandbox must do, as one suite of tests, and a sandbox in memory for the tests of others.
//
// It does not look at walls (see probe): what a sandbox keeps out is tested beside each backend. Failure direction: what a
// backend does not claim in its Traits is not tested, so claims are made in the open.
package sandboxtest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"hermes/internal/guard/checked"
	"hermes/internal/guard/environ"
	"hermes/internal/guard/scope"
	"hermes/internal/sandbox"
)

// Traits is what a backend claims beyond running programs.
type Traits struct {
	Bash     bool   // texts are run by bash
	Lasts    bool   // exports, functions, aliases and the directory last
	Tree     bool   // an end reaches what left its process group, and Left lists it
	Terminal bool   // commands can have a terminal
	Dir      string // a directory inside that is writable and empty
	Here     bool   // its processes and files can be seen from here, under Dir
	Heavy    int    // bytes of the large output; 0: 64 MiB
}

// Open opens a sandbox of the backend under test; the suite closes it.
type Open func(t testing.TB) sandbox.Sandbox

// Suite tests a backend.
func Suite(t *testing.T, open Open, traits Traits) {
	for _, one := range []struct {
		name string
		when bool
		test func(*bench)
	}{
		{"exit codes", true, testCodes},
		{"input", true, testInput},
		{"output order", traits.Bash, testOrder},
		{"binary output", true, testBinary},
		{"large output", true, testLarge},
		{"output that nobody takes", true, testUntaken},
		{"signals", traits.Bash, testSignals},
		{"signals from outside", traits.Bash, testSent},
		{"typed", traits.Bash && traits.Terminal, testTyped},
		{"time out", true, testTimeout},
		{"cancel", true, testCancel},
		{"stubborn", traits.Bash, testStubborn},
		{"respawners", traits.Bash && traits.Tree, testRespawn},
		{"directory", true, testDir},
		{"what lasts", traits.Lasts, testLasts},
		{"sessions", traits.Lasts, testSessions},
		{"apart", traits.Lasts, testApart},
		{"awkward values", traits.Lasts, testAwkward},
		{"long text", traits.Bash, testLong},
		{"left behind", traits.Bash && traits.Tree, testLeft},
		{"many at once", true, testMany},
		{"many texts at once", traits.Bash, testManyTexts},
		{"a slow reader", true, testSlowReader},
		{"a late reader", traits.Bash, testLateReader},
		{"terminal", traits.Terminal, testTerminal},
		{"bounded fork bomb", traits.Bash && traits.Tree, testForks},
		{"disk full", traits.Bash, testFull},
		{"files", true, testFiles},
		{"close", true, testClose},
	} {
		if one.when {
			t.Run(strings.ReplaceAll(one.name, " ", "_"), func(t *testing.T) {
				b := &bench{T: t, open: open, traits: traits, mark: fmt.Sprintf("9%07d", rand.IntN(10_000_000))}
				b.box = b.another()
				one.test(b)
			})
		}
	}
}

// bench is one test of the suite.
type bench struct {
	*testing.T
	open   Open
	traits Traits
	box    sandbox.Sandbox
	mark   string // seconds that nobody else sleeps, to know our processes by
}

// another opens one more sandbox, which is closed at the end; then nothing of it is left.
func (b *bench) another() sandbox.Sandbox {
	b.Helper()
	box := b.open(b.T)
	b.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := box.Close(ctx); err != nil {
			b.Error(err)
		}
		if b.traits.Here {
			if found := Running(b.mark); len(found) > 0 {
				b.Errorf("still running: %q", found)
			}
		}
	})
	return box
}

// run runs a command that has to be runnable.
func (b *bench) run(c sandbox.Command) (sandbox.Status, string) {
	b.Helper()
	return b.in(b.box, c)
}

func (b *bench) in(box sandbox.Sandbox, c sandbox.Command) (sandbox.Status, string) {
	b.Helper()
	var out bytes.Buffer
	if c.Stdout == nil {
		c.Stdout, c.Stderr = &out, &out
	}
	s, err := box.Run(b.Context(), c)
	if err != nil {
		b.Fatalf("%q%q: %v", c.Text, c.Argv, err)
	}
	return s, out.String()
}

// want runs a text and compares what it says.
func (b *bench) want(text, want string) {
	b.Helper()
	if s, got := b.run(sandbox.Command{Text: text}); got != want || s.Code != 0 {
		b.Errorf("%s: %q, code %d; want %q", text, got, s.Code, want)
	}
}

// soonTime is a thousand times what a loaded machine takes for one step of the kernel's.
const soonTime = 5 * time.Second

// soon waits for what has to come by itself: the end of a process that was killed, the beginning of one that was started.
func (b *bench) soon(what string, ok func() bool) {
	b.Helper()
	for until := time.Now().Add(soonTime); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			b.Fatal("never: " + what)
		}
	}
}

// Running lists the command lines on this machine that hold a mark, but not this process. Without /proc it lists nothing.
func Running(mark string) (out []string) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		text, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err != nil || e.Name() == fmt.Sprint(os.Getpid()) || e.Name() == "self" || e.Name() == "thread-self" {
			continue
		}
		if line := strings.ReplaceAll(string(text), "\x00", " "); strings.Contains(line, mark) {
			out = append(out, e.Name()+" "+line)
		}
	}
	return out
}

// Descriptors counts the open descriptors of this process, -1 where that cannot be told.
func Descriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1
	}
	return len(entries)
}

// Spec returns what a sandbox of a test is made of: a session of its own, a work tree, and an environment with env.
func Spec(t testing.TB, dir string, env ...string) sandbox.Spec {
	t.Helper()
	profile, err := scope.ParseProfile("default")
	if err != nil {
		t.Fatal(err)
	}
	session, err := scope.ParseSession(profile, "test", fmt.Sprintf("s%d", rand.Uint64()))
	if err != nil {
		t.Fatal(err)
	}
	workdir, err := checked.ParseWorkdir(dir)
	if err != nil {
		t.Fatal(err)
	}
	list, _ := environ.New(environ.Config{}).Build(environ.Request{
		Surface: environ.Foreground,
		Base:    environ.Parse(append([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + dir, "LANG=C.UTF-8"}, env...)),
	})
	return sandbox.Spec{Session: session, Workdir: workdir, Env: list, Persistent: true}
}
