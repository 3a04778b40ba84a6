package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// run runs one command line on a screen that is no terminal.
func run(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(context.Background(), args, IO{
		Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs,
		Env: func(string) string { return "" },
		Dir: func() (string, error) { return "", errors.New("nowhere") },
	})
	return out.String(), errs.String(), code
}

// What a slip at the keyboard is answered with: the error, and a hint that says what to type.
func TestUsageErrors(t *testing.T) {
	for _, row := range []struct{ args, text, hint string }{
		{"chek", "chek is not a command of hermes", "Did you mean hermes check?"},
		{"chek --json", "chek is not a command of hermes", "Did you mean hermes check?"},
		{"doctor", "doctor is not a command of hermes", "See hermes --help."},
		{"approvals tst", "tst is not a command of approvals", "Did you mean hermes approvals test?"},
		{"--verison", "--verison is not a flag of hermes", "See hermes --help."},
		{"check --jsn x", "--jsn is not a flag of check", "Did you mean --json?"},
		{"check rm -rf x", "-rf is not a flag of check", "A text to judge goes in quotes: hermes check 'rm -rf build'"},
		{"check rm x", "check takes one text, got 2", "Put it in quotes: hermes check 'rm -rf build'"},
		{"check", "check has nothing to judge", "Try: hermes check 'rm -rf /', or - to read standard input."},
		{"approvals test", "approvals test has nothing to judge",
			"Try: hermes approvals test 'rm -rf /', or - to read standard input."},
		{"check --file", "check: flag needs an argument: --file", "See hermes check --help."},
		{"check --file a b", "check got both a text and --file", "Leave out one of them."},
		{"check --kind mood x", "--kind mood is not a kind", "Kinds: " + kindList + "."},
		{"check --kind workdir --explain x", "--explain explains one command", "Leave it out, or check one command."},
		{"check --jsonl --explain", "--explain explains one command", "Leave it out, or check one command."},
		{"version 1", `version takes no argument, got "1"`, "See hermes version --help."},
	} {
		stdout, stderr, code := run(t, "", strings.Fields(row.args)...)
		if want := "hermes: " + row.text + "\n" + row.hint + "\n"; stderr != want || code != 1 || stdout != "" {
			t.Errorf("hermes %s: exit %d, printed %q and\n%swant\n%s", row.args, code, stdout, stderr, want)
		}
	}
}

func TestErrorsWithoutHint(t *testing.T) {
	for _, row := range []struct{ args, want string }{
		{"check --file ./no/such/file", "hermes: read ./no/such/file: "},
		{"check --jsonl ./no/such/file", "hermes: read ./no/such/file: "},
		{"check --kind redact --mode loud x", `hermes: --mode: redact mode "loud"`},
	} {
		if _, stderr, code := run(t, "", strings.Fields(row.args)...); code != 1 || !strings.HasPrefix(stderr, row.want) {
			t.Errorf("hermes %s: exit %d, %q, want %q", row.args, code, stderr, row.want)
		}
	}
}

func TestErrorsHideNothing(t *testing.T) {
	if _, stderr, _ := run(t, "", "\x1b[31mchek\u202e"); strings.ContainsAny(stderr, "\x1b\u202e") {
		t.Errorf("a control character reaches the terminal: %q", stderr)
	}
}

// The lines of an error of a tool are printed as lines, of which none passes for one of Hermes' own.
func TestErrorsOfSeveralLines(t *testing.T) {
	var out bytes.Buffer
	err := &linesError{usage("Do this.", "no note holds it. They are:\n\tone\x1b[2J\r\n\nhermes: two\n")}
	if code := report(&out, err); code != 1 || out.String() != "hermes: no note holds it. They are:\n      one\\x1b[2J\n\n  hermes: two\nDo this.\n" {
		t.Errorf("exit code %d: %q", code, out.String())
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// An answer that nobody got is no answer.
func TestBrokenOutputFails(t *testing.T) {
	for _, args := range [][]string{{"check", "ls"}, {"version"}, {"check", "--jsonl"}} {
		var errs bytes.Buffer
		code := Main(context.Background(), args, IO{
			Stdin:  strings.NewReader(`{"kind":"workdir","workdir":"/"}`),
			Stdout: brokenWriter{}, Stderr: &errs,
			Env: func(string) string { return "" },
			Dir: func() (string, error) { return "/", nil },
		})
		if code != 1 || !strings.HasPrefix(errs.String(), "hermes: ") {
			t.Errorf("hermes %s: exit %d, %q", args, code, errs.String())
		}
	}
}
