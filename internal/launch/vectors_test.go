package launch

import (
	"io"
	"strings"
	"testing"
	"time"

	"hermes/internal/sandbox"
	"hermes/internal/secret"
	"hermes/internal/shell"
	"hermes/internal/vectortest"
)

type vector struct {
	ID       string         `json:"id"`
	Input    map[string]any `json:"input"`
	Expected map[string]any `json:"expected"`
}

// The rows on sudo, and on what becomes of a command that takes too long.
func TestVectors(t *testing.T) {
	other := vectortest.Divergences(t, "testdata/divergences.jsonl")
	rows, right := vectortest.Rows[vector](t, "testdata/vectors/terminal_misc.jsonl"), 0
	for _, v := range rows {
		bad := v.check(t)
		switch reason, listed := other[v.ID]; {
		case bad == "" && listed:
			t.Errorf("%s is listed as a divergence and is none", v.ID)
		case bad == "":
			right++
		case listed && reason != "":
		default:
			t.Errorf("%s %v: %s", v.ID, v.Input, bad)
		}
	}
	t.Logf("%d of %d rows, %d answered otherwise on purpose", right, len(rows), len(other))
}

func (v vector) check(t *testing.T) string {
	text, isCommand := v.Input["command"].(string)
	_, fails := v.Input["error"]
	switch {
	case isCommand:
		return v.sudo(text)
	case fails:
		return v.class()
	}
	b := newBench(t)
	b.box.fake, b.box.status = true, sandbox.Status{Code: 124, TimedOut: true}
	if v.Input["backend_raises"] != "TimeoutExpired" {
		b.box.status, b.box.runErr = sandbox.Status{}, &sandbox.BrokenError{Backend: "ssh", Cause: io.ErrUnexpectedEOF}
	}
	r, err := b.run(t, Call{Text: "true", Timeout: 5 * time.Second})
	if err != nil {
		return err.Error()
	}
	want, _ := v.Expected["error_contains"].(string)
	if float64(r.Status.Code) != v.Expected["exit_code"] || !strings.Contains(strings.Join(r.Warnings, ""), want) {
		return strings.Join(r.Warnings, "")
	}
	return ""
}

func (v vector) sudo(text string) string {
	p := shell.Parse(text, shell.Options{})
	if n, ok := v.Expected["sudo_count"]; ok {
		if float64(len(sudoWords(&p))) != n {
			return "counts"
		}
		return ""
	}
	got, stdin := text, ""
	if password, ok := v.Input["SUDO_PASSWORD"].(string); ok {
		line, in, n := withPassword(&p, secret.New(password), nil)
		got = line
		if n > 0 {
			b, _ := io.ReadAll(in)
			stdin = string(b)
		}
	}
	if want, ok := v.Expected["command"]; ok && got != want {
		return got
	}
	if v.Expected["rewritten"] == false && got != text {
		return got
	}
	want, _ := v.Expected["stdin"].(string)
	if stdin != want {
		return "stdin " + stdin
	}
	return ""
}

// class: here a time-out is a field of the status that the sandbox sets itself, so no text of an error is one.
func (v vector) class() string {
	if v.Expected["is_timeout"] == true {
		return "errors are not classified by their text"
	}
	return ""
}
