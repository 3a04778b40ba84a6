package runner

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"hermes/internal/sandbox"
	"hermes/internal/sandbox/snapshot"
)

// TestMain makes the test binary a runner when it is started as one. A role ends the process: the tests never run in it.
func TestMain(m *testing.M) {
	if os.Args[0] == Marker {
		os.Exit(Main(SocketFD, Hooks{"echo": func(_ context.Context, q []byte) ([]byte, error) { return q, nil }}))
	}
	if mark := os.Getenv(parentMark); mark != "" {
		parent(mark)
		os.Exit(1)
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
	s := snapshot.Config{Shell: "/bin/bash", Dir: t.TempDir(), Lasts: true, Prelude: PreludeFD, Write: StateFD}
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

// What a command costs here, against what it costs outside, in turns: ns/op is the runner's.
func BenchmarkRun(b *testing.B) {
	c := start(b, nil)
	env := []string{"PATH=/usr/bin:/bin", "SHELL=/bin/bash"}
	for _, row := range []struct {
		name string
		cmd  sandbox.Command
		argv []string
	}{
		{"true", sandbox.Command{Argv: []string{"/bin/true"}}, []string{"/bin/true"}},
		{"bash", sandbox.Command{Argv: []string{"/bin/bash", "-c", "true"}}, []string{"/bin/bash", "-c", "true"}},
	} {
		b.Run(row.name, func(b *testing.B) {
			var inside, outside []time.Duration
			for b.Loop() {
				begin := time.Now()
				if s, err := c.Run(b.Context(), row.cmd); err != nil || s.Code != 0 {
					b.Fatal(s, err)
				}
				inside = append(inside, time.Since(begin))
				begin = time.Now()
				cmd := exec.Command(row.argv[0], row.argv[1:]...)
				cmd.Env = env
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
				outside = append(outside, time.Since(begin))
			}
			in, out := median(inside), median(outside)
			b.ReportMetric(float64(in)/1000, "µs-inside")
			b.ReportMetric(float64(out)/1000, "µs-outside")
			b.ReportMetric(float64(in)/float64(out), "ratio")
		})
	}
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
