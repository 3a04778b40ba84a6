package native_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/guard/environ"
	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/native"
)

// Where namespaces are refused, opening fails and says what to do; with best effort it goes on with Landlock and the filter,
// and says what is missing. A native sandbox is such a place: the test runs itself in one.
func TestBestEffort(t *testing.T) {
	s, conf := spec(t)
	p := open(t, backend(t, conf), s)
	env, _ := environ.New(environ.Config{}).Build(environ.Request{Surface: environ.Native, Extra: map[string]string{"HERMES_TEST_NESTED": "1"}})
	var out bytes.Buffer
	status, err := p.Run(t.Context(), sandbox.Command{
		Argv: []string{native.ProbePath, "-test.run", "^TestNested$", "-test.v"}, Env: env, Stdout: &out, Stderr: &out, Timeout: time.Minute,
	})
	if err != nil || status.Code != 0 || !strings.Contains(out.String(), "--- PASS: TestNested") {
		t.Errorf("%v %+v\n%s", err, status, out.String())
	}
}

func TestNested(t *testing.T) {
	if os.Getenv("HERMES_TEST_NESTED") == "" {
		t.Skip("TestBestEffort runs it inside")
	}
	s, conf := spec(t)
	b := backend(t, conf)
	var missing *sandbox.MissingError
	if _, err := b.Open(t.Context(), s); !errors.As(err, &missing) || !strings.Contains(missing.Remedy, "native_best_effort") {
		t.Fatalf("without namespaces: %v", err)
	}
	s.BestEffort = true
	p := open(t, b, s)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "note"), "x")
	for _, row := range []struct{ what, command, want string }{
		{"work", "echo data > f && cat f && echo x > $TMPDIR/x && echo x > ~/x", "data"},
		{"key file", "cat " + conf.Home + "/.ssh/id_ed25519", "Permission denied"},
		{"host's folder", "cat " + outside + "/note", "Permission denied"},
		{"write outside", "touch " + outside + "/x", "Permission denied"},
		{"tcp", "echo > /dev/tcp/127.0.0.1/80", "not permitted"},
		{"another's environment", "cat /proc/$PPID/environ >/dev/null; cat /proc/1/environ", "denied"},
		{"privileges", "grep NoNewPrivs /proc/self/status", "1"},
	} {
		if out, _ := run(t, p, row.command); !strings.Contains(out, row.want) {
			t.Errorf("%s: %s\n\tsaid %q, want %s", row.what, row.command, out, row.want)
		}
	}
	e := p.Exposure()
	if e.Boundary() || len(e.Gaps) == 0 || !strings.Contains(e.Summary(), "best effort, without namespaces") {
		t.Errorf("it claims too much: %s %q", e.Summary(), e.Gaps)
	}
	if e.Seccomp != exposure.Filter || e.Doors.At(exposure.LoopbackTCP).Force != exposure.Shut {
		t.Errorf("filter %v, loopback %v", e.Seccomp, e.Doors.At(exposure.LoopbackTCP))
	}
	t.Log(e.Summary())
}
