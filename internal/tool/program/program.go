// Package program holds the tool execute_code: a Python program in the terminal's backend that may call tools of the agent.
//
// The program starts through launch, which judges its text, and every tool it calls passes its own door: a command that it runs
// by a tool is judged like any other. It talks to Hermes over its standard input and output, so that it works the same wherever
// commands run, and nothing else inside can call tools. It does not decide what a program may do (see launch, approval), nor
// keep it from what its sandbox lets it reach.
//
// Failure direction: refuse. Without Python it says so; a program that says what nobody understands is ended.
package program

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"hermes/internal/guard/environ"
	"hermes/internal/launch"
	"hermes/internal/redact"
	"hermes/internal/sandbox/capture"
	"hermes/internal/tool"
)

//go:embed first.py
var firstPart string

//go:embed second.py
var secondPart string

// Options are what the tool is made of. Launch, Base and Names are needed.
type Options struct {
	Launch func(context.Context, launch.Call) (launch.Result, error) // launch.Door.Run
	Base   func() launch.Call                                        // whose programs: session, place, environment, who can be asked
	// Names lists the variables that the environment asked for has; they and no others stay.
	Names func(environ.Request) []string
	Tools []tool.Tool // what programs may call; of those that are not in Offered none

	Capture     func() *capture.Buffer // for what a program prints; nil: an ordinary buffer
	Redact      func(string) string    // for what people are told of calls; nil: strictly, without known secrets
	Interpreter string                 // of Python; "": python3
	Time        time.Duration          // of a program, without the time that tools take; 0: five minutes
	Calls       int                    // of tools, in one program; 0: 50
}

// Code is the tool execute_code.
type Code struct{ Options }

var _ tool.Tool = Code{}

// Offered are the tools that programs may call.
func Offered() []string {
	return []string{"terminal", "read_file", "write_file", "patch", "search_files", "web_search", "web_extract"}
}

// taken are the arguments of terminal that make sense within a program.
func taken(name string, params []string) []string {
	if name != "terminal" {
		return params
	}
	return slices.DeleteFunc(params, func(p string) bool { return p != "command" && p != "timeout" && p != "workdir" })
}

const (
	defaultTime  = 5 * time.Minute
	defaultCalls = 50
	maxCode      = 512 << 10
	maxWhole     = 6 * time.Hour // with the time of tools, and of questions to a person
)

func (o *Options) time() time.Duration {
	if o.Time > 0 {
		return o.Time
	}
	return defaultTime
}

func (o *Options) calls() int {
	if o.Calls > 0 {
		return o.Calls
	}
	return defaultCalls
}

func (o *Options) redacted(s string) string {
	if o.Redact != nil {
		return o.Redact(s)
	}
	return redact.New(redact.Options{Mode: redact.Strict}).String(s)
}

// offer is a tool as the program is told of it.
type offer struct {
	Name   string   `json:"name"`
	Params []string `json:"params"`
	Doc    string   `json:"doc"`

	tool tool.Tool
}

func (o *Options) offers() []offer {
	var out []offer
	for _, name := range Offered() {
		t, ok := tool.Find(o.Tools, name)
		if !ok {
			continue
		}
		s := t.Spec()
		out = append(out, offer{name, taken(name, parameters(s.Schema)), s.Description, t})
	}
	return out
}

// parameters lists the arguments of a schema: those that are needed first, as they are written there.
func parameters(schema json.RawMessage) []string {
	var s struct {
		Properties json.RawMessage
		Required   []string
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	out := s.Required
	d := json.NewDecoder(bytes.NewReader(s.Properties))
	if _, err := d.Token(); err != nil {
		return out
	}
	for d.More() {
		name, err := d.Token()
		var skip json.RawMessage
		if err != nil || d.Decode(&skip) != nil {
			return out
		}
		if text, ok := name.(string); ok && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// Spec implements tool.Tool.
func (r Code) Spec() tool.Spec {
	var calls []string
	for _, o := range r.offers() {
		calls = append(calls, o.Name+"("+strings.Join(o.Params, ", ")+")")
	}
	text := fmt.Sprintf("Run a Python 3 program where terminal commands run, for work that takes several tool calls with logic between them. "+
		"At most %d tool calls and %s; only what it prints comes back. ", r.calls(), r.time())
	if len(calls) > 0 {
		text += "Tools: from hermes_tools import …: " + strings.Join(calls, ", ") + ". Each returns a dict and raises ToolError where it is refused or fails. " +
			"read_file: content has LINE|CONTENT. terminal: output, exit_code."
	}
	return tool.Spec{
		Name: "execute_code", Description: text, Words: "code",
		Schema: json.RawMessage(`{"type":"object","properties":{"code":{"type":"string","description":"the program"}},"required":["code"],"additionalProperties":false}`),
	}
}

// Outcome is the whole result of a program.
type Outcome struct {
	Status  string  `json:"status"` // success, error, timeout, interrupted, refused, stopped
	Output  string  `json:"output"`
	Code    int     `json:"exit_code"`
	Calls   []Made  `json:"tool_calls"`
	Seconds float64 `json:"duration_seconds"`
	Python  string  `json:"python,omitempty"`
	Error   string  `json:"error,omitempty"`
	Total   int     `json:"output_total_chars,omitempty"`
	Path    string  `json:"full_output_path,omitempty"`
}

// Made is one tool call of a program.
type Made struct {
	Tool  string `json:"tool"`
	About string `json:"about,omitempty"` // its main argument, shortened
	Error string `json:"error,omitempty"`
}

// Call implements tool.Tool.
func (r Code) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	var args struct {
		Code string `json:"code"`
	}
	if err := tool.Decode(c, &args); err != nil {
		return tool.Result{}, err
	}
	switch {
	case strings.TrimSpace(args.Code) == "":
		return tool.Result{}, errors.New("read arguments: no code")
	case len(args.Code) > maxCode:
		return tool.Result{}, fmt.Errorf("read arguments: the code is longer than %d KiB: write it to a file and run that with the terminal", maxCode>>10)
	case strings.ContainsRune(args.Code, 0) || !utf8.ValidString(args.Code):
		return tool.Result{}, errors.New("read arguments: the code is not text")
	case r.Launch == nil || r.Base == nil || r.Names == nil:
		return tool.Result{}, errors.New("execute_code: no door to run programs through")
	}
	names := []string{r.Interpreter}
	if r.Interpreter == "" { // the first in PATH may stand for one that is not there in a sandbox
		names = []string{"python3", "/usr/bin/python3"}
	}
	for {
		result, absent, err := r.run(ctx, c, names[0], args.Code)
		if names = names[1:]; err != nil || !absent || len(names) == 0 {
			return result, err
		}
	}
}

// run starts a program and waits for its end. absent tells that there is no such interpreter.
func (r Code) run(ctx context.Context, c tool.Call, interpreter, code string) (result tool.Result, absent bool, err error) {
	call := r.Base()
	if call.Env.Surface == environ.Foreground {
		call.Env.Surface = environ.ExecuteCode
	}
	names := []string(nil) // inside a sandbox there is only what it was given
	if call.Env.Surface == environ.ExecuteCode {
		if names = r.Names(call.Env); names == nil {
			names = []string{}
		}
	}
	in, feed, err := os.Pipe()
	if err != nil {
		return tool.Result{}, false, fmt.Errorf("execute_code: %w", err)
	}
	defer in.Close()
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	h := newHost(inner, stop, &r.Options, c, feed)
	defer h.end()
	if err := h.begin(names, code); err != nil {
		return tool.Result{}, false, err
	}
	out := r.capture()
	call.Text, call.Stdout, call.Stdin, call.Timeout = "", nil, in, maxWhole
	call.Stderr, call.Apart = &printed{h, out}, true
	call.Argv = []string{interpreter, "-X", "utf8", "-u", "-c", firstPart, secondPart}
	if names != nil { // it only starts itself anew: without looking for packages that takes half the time
		call.Argv = slices.Insert(call.Argv, 1, "-S", "-E")
	}
	call.Inner = &launch.Inner{Text: launch.Quote([]string{"python3", "-c", code}), Given: h.given(), Talk: h}
	began := time.Now()
	got, err := r.Launch(inner, call)
	h.end()
	printed := out.Close()
	absent = err == nil && got.Ran && h.hello == "" && (got.Status.Code == 126 || got.Status.Code == 127)
	result, err = h.result(ctx, got, err, printed, time.Since(began))
	return result, absent, err
}

func (o *Options) capture() *capture.Buffer {
	if o.Capture != nil {
		return o.Capture()
	}
	return capture.New(capture.Config{})
}

// printed is what a program prints: kept, and told as it comes.
type printed struct {
	h  *host
	to io.Writer
}

func (p *printed) Write(b []byte) (int, error) {
	p.h.say(tool.Update{Output: string(b)})
	return p.to.Write(b)
}

// clock stops a program after a time in which no tool runs for it.
type clock struct {
	mu    sync.Mutex // guards what follows
	left  time.Duration
	since time.Time
	busy  int
	timer *time.Timer
	fire  func()
}

func newClock(d time.Duration, fire func()) *clock {
	c := &clock{left: d, since: time.Now(), fire: fire}
	c.timer = time.AfterFunc(d, fire)
	return c
}

// pause stands still until resume was called as often.
func (c *clock) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy++; c.busy == 1 {
		c.timer.Stop()
		c.left -= time.Since(c.since)
	}
}

func (c *clock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy--; c.busy == 0 {
		c.since = time.Now()
		c.timer = time.AfterFunc(max(c.left, 0), c.fire)
	}
}

func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy++ // it never runs again
	c.timer.Stop()
}
