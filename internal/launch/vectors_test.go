package launch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"hermes/internal/sandbox"
	"hermes/internal/secret"
	"hermes/internal/shell"
)

type vector struct {
	ID       string         `json:"id"`
	Input    map[string]any `json:"input"`
	Expected map[string]any `json:"expected"`
}

type divergence struct {
	ID, Reason string
}

func lines[T any](t *testing.T, name string) []T {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var out []T
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		var row T
		if err := json.Unmarshal(s.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		out = append(out, row)
	}
	return out
}

// The rows on sudo, and on what becomes of a command that takes too long.
func TestVectors(t *testing.T) {
	other := map[string]string{}
	for _, d := range lines[divergence](t, "testdata/divergences.jsonl") {
		other[d.ID] = d.Reason
	}
	rows, right := lines[vector](t, "testdata/vectors/terminal_misc.jsonl"), 0
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
