package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hermes/internal/sandbox"
	"hermes/internal/sandbox/effect"
	"hermes/internal/sandbox/native/wall"
	"hermes/internal/sandbox/snapshot"
)

// TestMain makes the test binary a runner when it is started as one. A role ends the process: the tests never run in it.
func TestMain(m *testing.M) {
	if os.Args[0] == Marker {
		os.Exit(Serve(os.Args[1:], Parts{
			Hooks: Hooks{
				"echo": func(_ context.Context, q []byte) ([]byte, error) { return q, nil },
				"collect": func(context.Context, []byte) ([]byte, error) { // garbage, all the time
					debug.SetGCPercent(1)
					return nil, nil
				},
			},
			Harden: func(h Harden) error { return wall.Harden(h.Filter, h.DropCaps, h.Keep) },
		}))
	}
	if mark := os.Getenv(parentMark); mark != "" {
		parent(mark)
		os.Exit(1)
	}
	if len(os.Args) > 1 && os.Args[1] == "headless" {
		headless()
	}
	if os.Getenv(startsMark) != "" {
		os.Exit(startsBesideKills())
	}
	os.Exit(m.Run())
}

// parentMark is set for the process that TestKilledParent kills.
const parentMark = "HERMES_TEST_PARENT"

// start starts a runner and returns its client.
func start(t testing.TB, change func(*Options, *snapshot.Config)) *Client {
	t.Helper()
	ours, theirs, err := Pair()
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Args, cmd.Env, cmd.Dir = []string{Marker}, []string{}, "/"
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	gone := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(gone)
	}()
	o := Options{Backend: "test", Search: "/usr/bin:/bin"}
	s := snapshot.Config{Shell: "/bin/bash", Dir: t.TempDir(), Lasts: true, Judge: effect.Judge, Prelude: PreludeFD, Write: StateFD}
	if change != nil {
		change(&o, &s)
	}
	o.State = snapshot.New(s)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c, err := Dial(ctx, ours, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
		<-gone
	})
	return c
}

func TestRun(t *testing.T) {
	for _, framed := range []bool{false, true} {
		c := start(t, func(o *Options, _ *snapshot.Config) { o.Framed = framed })
		rows := []struct {
			text, in, out string
			code          int
		}{
			{"echo hello", "", "hello\n", 0},
			{"exit 7", "", "", 7},
			{"cat", "typed", "typed", 0},
			{"kill -9 $$", "", "", 137},
			{"nosuch", "", "/bin/bash: line 1: nosuch: command not found\n", 127},
			{"export A='x y'; f() { echo f$A; }; alias g='echo g'; cd /usr", "", "", 0},
			{"echo $A; f; g; pwd", "", "x y\nfx y\ng\n/usr\n", 0},
			{"echo one; echo two >&2; echo three", "", "one\ntwo\nthree\n", 0},
		}
		for _, row := range rows {
			var out bytes.Buffer
			cmd := sandbox.Command{Text: row.text, Stdout: &out, Stderr: &out}
			if row.in != "" {
				cmd.Stdin = bytes.NewReader([]byte(row.in))
			}
			s, err := c.Run(t.Context(), cmd)
			if err != nil || s.Code != row.code || out.String() != row.out {
				t.Errorf("framed %v: %s: %q, %+v, %v", framed, row.text, out.String(), s, err)
			}
		}
	}
}

// pair measures two ways of doing the same in turns, and reports their medians and least. On a busy machine the least tells what
// each costs by itself.
func pair(b *testing.B, inside, outside func() error) {
	var in, out []time.Duration
	for b.Loop() {
		for _, one := range []struct {
			run   func() error
			times *[]time.Duration
		}{{inside, &in}, {outside, &out}} {
			begin := time.Now()
			if err := one.run(); err != nil {
				b.Fatal(err)
			}
			*one.times = append(*one.times, time.Since(begin))
		}
	}
	slices.Sort(in)
	slices.Sort(out)
	i, o := in[len(in)/2], out[len(out)/2]
	b.ReportMetric(float64(i)/1000, "µs-inside")
	b.ReportMetric(float64(o)/1000, "µs-outside")
	b.ReportMetric(float64(i)/float64(o), "ratio")
	b.ReportMetric(float64(in[0])/1000, "µs-least-inside")
	b.ReportMetric(float64(out[0])/1000, "µs-least-outside")
	b.ReportMetric(float64(in[0])/float64(out[0]), "ratio-least")
}

// within returns a run of a command here, outside the same by os/exec.
func within(c *Client, cmd sandbox.Command) func() error {
	return func() error {
		s, err := c.Run(context.Background(), cmd)
		if err == nil && s.Code != 0 {
			err = fmt.Errorf("%+v", s)
		}
		return err
	}
}

func outside(env []string, argv ...string) func() error {
	return func() error {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = env
		return cmd.Run()
	}
}

// What a command costs here, against what it costs outside.
func BenchmarkRun(b *testing.B) {
	c := start(b, nil)
	env := []string{"PATH=/usr/bin:/bin", "SHELL=/bin/bash"}
	for _, row := range []struct {
		name string
		argv []string
	}{
		{"true", []string{"/bin/true"}},
		{"bash", []string{"/bin/bash", "-c", "true"}},
	} {
		b.Run(row.name, func(b *testing.B) {
			pair(b, within(c, sandbox.Command{Argv: row.argv}), outside(env, row.argv...))
		})
		b.Run(row.name+"-output", func(b *testing.B) {
			var out bytes.Buffer
			pair(b, func() error {
				out.Reset()
				return within(c, sandbox.Command{Argv: row.argv, Stdout: &out, Stderr: &out})()
			}, func() error {
				out.Reset()
				cmd := exec.Command(row.argv[0], row.argv[1:]...)
				cmd.Env, cmd.Stdout, cmd.Stderr = env, &out, &out
				return cmd.Run()
			})
		})
		b.Run(row.name+"-16", func(b *testing.B) {
			many := func(f func() error) func() error {
				return func() error {
					var wg sync.WaitGroup
					errs := make([]error, 16)
					for i := range errs {
						wg.Go(func() { errs[i] = f() })
					}
					wg.Wait()
					return errors.Join(errs...)
				}
			}
			pair(b, many(within(c, sandbox.Command{Argv: row.argv})), many(outside(env, row.argv...)))
		})
	}
}

// What an unchanged session of 50 functions and 100 exports costs, against a bare bash.
func BenchmarkSnapshot(b *testing.B) {
	c := start(b, func(_ *Options, s *snapshot.Config) { s.Judge = effect.Judge })
	var text strings.Builder
	for i := range 50 {
		fmt.Fprintf(&text, "func%d() { local a=$1; if [ -n \"$a\" ]; then echo \"$a\"; else echo none; fi; }\n", i)
	}
	for i := range 100 {
		fmt.Fprintf(&text, "export EXPORTED_%d='value number %d'\n", i, i)
	}
	if err := within(c, sandbox.Command{Text: text.String()})(); err != nil {
		b.Fatal(err)
	}
	env := []string{"PATH=/usr/bin:/bin", "SHELL=/bin/bash"}
	for name, text := range map[string]string{"unchanged": "true", "cd": "cd /", "function": "func7 x", "export": "export EXPORTED_1=y"} {
		bare := text
		if name == "function" {
			bare = "true"
		}
		b.Run(name, func(b *testing.B) {
			pair(b, within(c, sandbox.Command{Text: text}), outside(env, "/bin/bash", "-c", bare))
		})
	}
}

// How fast output comes, against a pipe from a program in a session of its own: a scheduler that divides the processors among
// sessions would else be measured.
func BenchmarkOutput(b *testing.B) {
	const size = 256 << 20
	argv := []string{"/usr/bin/head", "-c", fmt.Sprint(size), "/dev/zero"}
	for _, row := range []struct {
		name string
		open func(b *testing.B) *Client
	}{
		{"descriptors", func(b *testing.B) *Client { return start(b, nil) }},
		{"frames", func(b *testing.B) *Client { return start(b, func(o *Options, _ *snapshot.Config) { o.Framed = true }) }},
		{"stream", func(b *testing.B) *Client {
			c, err := overStdio(b, nil)
			if err != nil {
				b.Fatal(err)
			}
			return c
		}},
	} {
		c := row.open(b)
		b.Run(row.name, func(b *testing.B) {
			b.SetBytes(2 * size)
			pair(b, within(c, sandbox.Command{Argv: argv, Stdout: null{}}), func() error {
				cmd := exec.Command(argv[0], argv[1:]...)
				cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
				cmd.Stdout = null{}
				return cmd.Run()
			})
		})
	}
}
