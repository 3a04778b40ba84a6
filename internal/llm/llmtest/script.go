package llmtest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// Turn is what happens in answer to one request.
type Turn []Step

// Step is one line of a script.
type Step struct{ Do, Text string }

// Parse reads a script: a txtar archive with one file a turn, or the lines of a single turn. A line is a step; empty lines and
// those that begin with # are left out. A text in double quotes is read as Go reads it.
//
//	expect TEXT             the request must hold this
//	think TEXT              a stretch of reasoning
//	say TEXT                a piece of the answer; a blank at its end needs quotes
//	call NAME ARGUMENTS     a call of a tool
//	usage INPUT OUTPUT CACHED
//	stop done|calls|length|filtered
//	status CODE KIND TEXT   an error of HTTP; before it: header Retry-After: 2
//	reply CODE BODY         an answer of HTTP as it is
//	fail KIND TEXT          an error inside the stream
//	raw LINE                bytes in the stream as they are
//	wait DURATION           before going on
//	hang                    nothing more comes, until the client goes
//	close                   the answer ends in order, but too early
//	cut                     the connection breaks
func Parse(script string) ([]Turn, error) {
	archive := txtar.Parse([]byte(script))
	if len(archive.Files) == 0 {
		if strings.TrimSpace(script) == "" {
			return nil, nil
		}
		turn, err := parseTurn("script", script)
		return []Turn{turn}, err
	}
	var out []Turn
	for _, f := range archive.Files {
		turn, err := parseTurn(f.Name, string(f.Data))
		if err != nil {
			return nil, err
		}
		out = append(out, turn)
	}
	return out, nil
}

func parseTurn(name, text string) (out Turn, err error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		do, rest, _ := strings.Cut(line, " ")
		switch do {
		case "expect", "think", "say", "call", "usage", "stop", "status", "header", "reply", "fail", "raw", "wait", "hang", "close", "cut":
		default:
			return nil, fmt.Errorf("%s:%d: nobody knows the step %q", name, n, do)
		}
		out = append(out, Step{do, strings.TrimSpace(rest)})
	}
	return out, nil
}

func unquote(text string) string {
	if out, err := strconv.Unquote(text); err == nil && strings.HasPrefix(text, `"`) {
		return out
	}
	return text
}
