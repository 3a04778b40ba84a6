package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// screenshot collects what a terminal shows and answers a question once it stands there.
type screenshot struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screenshot) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// watch reads the terminal; each time it shows the next of the questions, the answer goes in.
func (s *screenshot) watch(terminal *os.File, question string, answers ...string) {
	buf, seen := make([]byte, 4096), 0
	for {
		n, err := terminal.Read(buf)
		s.mu.Lock()
		s.text.Write(buf[:n])
		asked := strings.Count(s.text.String(), question)
		s.mu.Unlock()
		for seen < asked && seen < len(answers) {
			_, _ = terminal.WriteString(answers[seen])
			seen++
		}
		if err != nil {
			return
		}
	}
}

// A person who types something that cannot be used may go on editing, and what was typed is there again.
func TestEditAgain(t *testing.T) {
	for _, row := range []struct {
		what, answer string
		code         int
		want         string // what config.yaml holds then
	}{
		{"again", "y\n", 0, "security:\n  nat64: true\n"},
		{"Enter is yes", "\n", 0, "security:\n  nat64: true\n"},
		{"no", "n\n", 1, ""},
	} {
		base := t.TempDir()
		ours, theirs, err := pty.Open()
		if err != nil {
			t.Skipf("skipped: needs a terminal: %v", err)
		}
		defer ours.Close()
		defer theirs.Close()
		// The first time it writes a slip; the second time it finds it and mends it.
		editor := filepath.Join(base, "editor")
		script := "#!/bin/sh\nif grep -q nat46 \"$1\"; then sed -i s/nat46/nat64/ \"$1\"; else printf 'security:\\n  nat46: true\\n' >\"$1\"; fi\n" +
			"test -t 0 && test -t 1 && echo at a terminal\n"
		if err := os.WriteFile(editor, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		var seen screenshot
		go seen.watch(ours, "Edit again?", row.answer)
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		code := Main(ctx, []string{"config", "edit"}, IO{
			Stdin: theirs, Stdout: theirs, Stderr: theirs, Terminal: true,
			Env: func(name string) string {
				return map[string]string{"HOME": base, "PATH": os.Getenv("PATH"), "EDITOR": editor}[name]
			},
			Dir: func() (string, error) { return base, nil },
		})
		cancel()
		text, _ := os.ReadFile(filepath.Join(base, ".hermes", "config.yaml"))
		drafts, _ := filepath.Glob(filepath.Join(base, ".hermes", "config.edit-*"))
		if code != row.code || string(text) != row.want || len(drafts) != row.code {
			t.Errorf("%s: exit %d, the file holds %q, %d drafts are left; shown:\n%s", row.what, code, text, len(drafts), seen.String())
		}
		if !strings.Contains(seen.String(), "at a terminal") {
			t.Errorf("%s: the editor has no terminal; shown:\n%s", row.what, seen.String())
		}
	}
}

// Somebody else's change in the meantime is not overwritten, and what was typed is kept.
func TestEditMeanwhile(t *testing.T) {
	base := t.TempDir()
	editor := filepath.Join(base, "editor")
	script := "#!/bin/sh\nprintf 'security:\\n  nat64: true\\n' >\"$1\"\nprintf 'terminal:\\n  backend: ssh\\n' >\"$(dirname \"$1\")/config.yaml\"\n"
	if err := os.WriteFile(editor, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := Main(context.Background(), []string{"config", "edit"}, IO{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Env: func(name string) string {
			return map[string]string{"HOME": base, "PATH": os.Getenv("PATH"), "EDITOR": editor}[name]
		},
		Dir: func() (string, error) { return base, nil },
	})
	text, _ := os.ReadFile(filepath.Join(base, ".hermes", "config.yaml"))
	drafts, _ := filepath.Glob(filepath.Join(base, ".hermes", "config.edit-*"))
	if code != 1 || string(text) != "terminal:\n  backend: ssh\n" || len(drafts) != 1 ||
		!strings.Contains(errs.String(), "it was changed in the meantime") {
		t.Errorf("exit %d, the file holds %q, %d drafts; %s", code, text, len(drafts), errs.String())
	}
}

func TestWords(t *testing.T) {
	for _, row := range []struct {
		line string
		want []string
	}{
		{"vi", []string{"vi"}},
		{"code --wait", []string{"code", "--wait"}},
		{`'/opt/my editor/bin' -f ""`, []string{"/opt/my editor/bin", "-f", ""}},
		{`a"b c"d`, []string{"ab cd"}},
		{"", nil},
	} {
		got, err := words(row.line)
		if err != nil || strings.Join(got, "|") != strings.Join(row.want, "|") || len(got) != len(row.want) {
			t.Errorf("%q: %q, %v", row.line, got, err)
		}
	}
	if _, err := words(`vi "`); err == nil {
		t.Error("an open quote was taken")
	}
}
