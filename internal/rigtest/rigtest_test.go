package rigtest

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// ending is a test of which is known how it ended.
type ending struct {
	testing.TB
	how string
}

func (e *ending) Helper() {}

func (e *ending) Fatal(...any) { e.how = "failed"; runtime.Goexit() }

func (e *ending) Fatalf(string, ...any) { e.how = "failed"; runtime.Goexit() }

func (e *ending) Skip(...any) { e.how = "skipped"; runtime.Goexit() }

// how runs f as a test and tells how that ended.
func how(f func(testing.TB)) string {
	e := &ending{how: "passed"}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(e)
	}()
	<-done
	return e.how
}

func TestNeed(t *testing.T) {
	missing := func(t testing.TB) { Program(t, "no-program-has-this-name") }
	t.Setenv("HERMES_TEST_REQUIRE", "1")
	if got := how(missing); got != "failed" {
		t.Errorf("what is missing and required: %s", got)
	}
	t.Setenv("HERMES_TEST_REQUIRE", "")
	if got := how(missing); got != "skipped" {
		t.Errorf("what is missing: %s", got)
	}
	if got := how(func(t testing.TB) { Program(t, "go") }); got != "passed" {
		t.Errorf("what is there: %s", got)
	}
}

func TestStart(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	again := func(says string) *exec.Cmd {
		cmd := exec.Command(self, "-test.run=^TestSays$")
		cmd.Env = append(os.Environ(), "RIGTEST_SAYS="+says)
		return cmd
	}
	cmd := again("4711")
	if pid := Start(t, cmd); pid != 4711 {
		t.Error(pid)
	}
	_ = cmd.Wait()
	for _, says := range []string{"1", "-5", "none"} {
		cmd := again(says)
		if got := how(func(t testing.TB) { Start(t, cmd) }); got != "failed" {
			t.Errorf("%q for an id: %s", says, got)
		}
		_ = cmd.Wait()
	}
}

// TestSays is what TestStart starts.
func TestSays(t *testing.T) {
	if says := os.Getenv("RIGTEST_SAYS"); says != "" {
		_, _ = os.Stdout.WriteString(says + "\n")
	}
}

func TestBuffer(t *testing.T) {
	var b Buffer
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { _, _ = b.Write([]byte("ab")) })
	}
	all.Wait()
	if got := b.String(); got != strings.Repeat("ab", 50) {
		t.Errorf("%q", got)
	}
}
