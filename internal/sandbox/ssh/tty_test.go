package ssh

import (
	"os"
	"strings"
	"testing"
	"time"

	"hermes/internal/child"
	"hermes/internal/rigtest"
)

// At a terminal the first key is a question, which only the whole word answers.
func TestQuestionAtTerminal(t *testing.T) {
	s := serve(t, options{})
	hermes := s.program()
	for _, row := range []struct {
		typed string
		code  int
		known bool
	}{{"\n", 125, false}, {"y\n", 125, false}, {"yes\n", 0, true}} {
		out := &rigtest.Buffer{}
		typed := &typist{text: row.typed, after: "Enter for no: ", seen: out}
		status, err := child.Run(t.Context(), child.Spec{
			Program: "/usr/bin/env", Dir: s.dir,
			Args:  []string{"-i", "HOME=" + t.TempDir(), "HERMES_HOME=" + hermes.home, "PATH=" + hermes.path, hermes.file, "exec", "--backend", "ssh", "echo it is on"},
			Stdio: child.Stdio{In: typed, Out: out, Terminal: &child.Size{Rows: 40, Cols: 120}},
		})
		text := out.String()
		if err != nil || status.Exit() != row.code || !strings.Contains(text, s.fingerprint()) || strings.Contains(text, "it is on\r\n") != row.known {
			t.Errorf("%q: %+v, %v\n%s", row.typed, status, err, text)
		}
		if known, _ := os.ReadFile(s.known); (len(known) > 0) != row.known {
			t.Errorf("%q: known hosts %q", row.typed, known)
		}
	}
}

// typist types once something was shown.
type typist struct {
	text, after string
	seen        *rigtest.Buffer
	done        bool
}

func (w *typist) Read(p []byte) (int, error) {
	for until := time.Now().Add(60 * time.Second); !w.done && time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if strings.Contains(w.seen.String(), w.after) {
			w.done = true
			return copy(p, w.text), nil
		}
	}
	time.Sleep(time.Minute) // no end of input: that would be an answer
	return 0, os.ErrDeadlineExceeded
}
