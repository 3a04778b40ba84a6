package cli

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/audit"
)

// A followed log shows a record as soon as it is written, and ends with the context.
func TestAuditFollow(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "audit"), 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(filepath.Join(home, "audit"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	log, err := audit.Open(root, audit.Options{Now: time.Now, Sync: audit.SyncNever})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	decide := func(command string) {
		if err := log.Decide(audit.Ref{ID: "c"}, command, audit.Decision{Verdict: "allow"}); err != nil {
			t.Fatal(err)
		}
	}
	decide("first")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	shown, out := io.Pipe()
	code := make(chan int)
	go func() {
		code <- Main(ctx, []string{"audit", "tail", "-f"}, IO{
			Stdin: strings.NewReader(""), Stdout: out, Stderr: io.Discard,
			Env: func(key string) string { return map[string]string{"HERMES_HOME": home}[key] },
		})
	}()
	lines := bufio.NewScanner(shown)
	for _, command := range []string{"first", "second", "third"} {
		if command != "first" {
			decide(command)
		}
		if !lines.Scan() || !strings.HasSuffix(lines.Text(), "allow  "+command) {
			t.Fatalf("%q, want the record of %s", lines.Text(), command)
		}
	}
	cancel()
	if got := <-code; got != 0 {
		t.Errorf("exit code %d", got)
	}
}

// What a record holds cannot steer the terminal it is shown on.
func TestRecordLineIsPlain(t *testing.T) {
	r := audit.Record{ID: "c\x1b[2J", Decision: &audit.Decision{Verdict: "ask\r", Text: "a\nb\x1b]0;x\a", Rule: "r\u202e", By: "x\x7f", How: "once"}}
	if line := recordLine(r); strings.ContainsAny(line, "\x1b\n\r\a\x7f\u202e") {
		t.Errorf("%q", line)
	}
}

func TestShortForms(t *testing.T) {
	for _, row := range []struct{ got, want string }{
		{shortDuration(0), "0 ms"},
		{shortDuration(999 * time.Millisecond), "999 ms"},
		{shortDuration(1500 * time.Millisecond), "1.5 s"},
		{shortDuration(61 * time.Second), "1m1s"},
		{shortSize(0), "0 B"},
		{shortSize(1023), "1023 B"},
		{shortSize(1024), "1.0 KiB"},
		{shortSize(5 << 30), "5.0 GiB"},
		{shortSize(5 << 50), "5120.0 TiB"},
	} {
		if row.got != row.want {
			t.Errorf("%q, want %q", row.got, row.want)
		}
	}
}
