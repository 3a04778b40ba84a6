package program

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"hermes/internal/guard/taint"
	"hermes/internal/launch"
	"hermes/internal/sandbox/capture"
	"hermes/internal/screen"
	"hermes/internal/tool"
)

const (
	maxFrame = 16 << 20 // bytes of one call
	maxOwed  = 256      // answers that a program does not take
)

// Why a program is ended.
var (
	errTime  = errors.New("it took too long")
	errFrame = errors.New("what it said to Hermes on its standard output was not understood")
	errFlood = errors.New("it asked for more and more and took no answer")
)

// host is Hermes' end of one program. It is the io.Writer that the program talks to.
type host struct {
	ctx    context.Context
	stop   context.CancelCauseFunc
	o      *Options
	call   tool.Call
	offers []offer
	work   sync.WaitGroup // calls, and the feeding
	beside sync.RWMutex   // held for writing by calls that change something
	owed   chan []byte
	feed   *os.File

	held []byte // of a line that is not whole; Write alone uses it

	mu      sync.Mutex // guards what follows
	hello   string     // the version of Python
	clock   *clock     // nil before it is known
	made    []Made
	outside bool // something from outside came in
	over    bool
}

func newHost(ctx context.Context, stop context.CancelCauseFunc, o *Options, c tool.Call, feed *os.File) *host {
	h := &host{ctx: ctx, stop: stop, o: o, call: c, offers: o.offers(), owed: make(chan []byte, maxOwed), feed: feed}
	h.work.Add(1)
	go h.answer()
	return h
}

// begin says what is to be run.
func (h *host) begin(names []string, code string) error {
	keep, err := json.Marshal(names)
	if err != nil {
		return fmt.Errorf("execute_code: %w", err)
	}
	first, err := json.Marshal(struct {
		Code  string  `json:"code"`
		Tools []offer `json:"tools"`
	}{code, append([]offer{}, h.offers...)})
	if err != nil {
		return fmt.Errorf("execute_code: %w", err)
	}
	h.owe(keep)
	h.owe(first)
	return nil
}

// given are the names of the tools as the guard knows them.
func (h *host) given() []string {
	out := []string{"hermes_tools.ToolError"}
	for _, o := range h.offers {
		out = append(out, "hermes_tools."+o.Name)
	}
	return out
}

// answer writes what is owed, until the program does not read any more.
func (h *host) answer() {
	defer h.work.Done()
	defer h.feed.Close()
	for {
		select {
		case frame := <-h.owed:
			if _, err := h.feed.Write(frame); err != nil {
				return
			}
		case <-h.ctx.Done():
			return
		}
	}
}

func (h *host) owe(frame []byte) {
	select {
	case h.owed <- append(frame, '\n'):
	default:
		h.stop(errFlood)
	}
}

// end lets nothing more begin, and waits for what has begun. It may be called twice.
func (h *host) end() {
	h.mu.Lock()
	h.over = true
	if h.clock != nil {
		h.clock.stop()
	}
	h.mu.Unlock()
	h.stop(nil)
	_ = h.feed.SetDeadline(time.Now()) // a program that was ended reads no more
	h.work.Wait()
}

// say tells whoever watches, one at a time.
func (h *host) say(u tool.Update) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.over {
		h.call.Say(u)
	}
}

// frame is a line that the program says.
type frame struct {
	Hello string          `json:"hello"`
	Bye   bool            `json:"bye"`
	ID    int64           `json:"id"`
	Tool  string          `json:"tool"`
	Args  json.RawMessage `json:"args"`
}

// Write takes what the program says. It never waits for a tool: what the sandbox has to say beside comes the same way.
func (h *host) Write(p []byte) (int, error) {
	h.held = append(h.held, p...)
	for {
		line, rest, whole := bytes.Cut(h.held, []byte("\n"))
		if !whole {
			break
		}
		h.hear(line)
		h.held = rest
	}
	if len(h.held) > maxFrame {
		h.held = nil
		h.stop(errFrame)
	}
	return len(p), nil
}

func (h *host) hear(line []byte) {
	var f frame
	if err := json.Unmarshal(line, &f); err != nil {
		h.stop(errFrame)
		return
	}
	switch {
	case f.Hello != "":
		h.mu.Lock()
		if h.hello == "" && !h.over { // a person may have been asked until now
			h.clock = newClock(h.o.time(), func() { h.stop(errTime) })
		}
		h.hello = f.Hello
		h.mu.Unlock()
	case f.Bye:
	case f.Tool != "":
		h.take(f)
	default:
		h.stop(errFrame)
	}
}

// take begins a call, if there may be one more.
func (h *host) take(f frame) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var one *offer
	for i := range h.offers {
		if h.offers[i].Name == f.Tool {
			one = &h.offers[i]
		}
	}
	switch {
	case h.over:
	case h.clock == nil:
		h.stop(errFrame)
	case one == nil:
		h.owe(refusal(f.ID, fmt.Sprintf("%s is not a tool for programs", short(f.Tool))))
	case len(h.made) >= h.o.calls():
		h.owe(refusal(f.ID, fmt.Sprintf("a program may call tools %d times", h.o.calls())))
	default:
		at := len(h.made)
		h.made = append(h.made, Made{Tool: f.Tool, About: short(h.o.redacted(about(one.tool.Spec(), one.Params, f.Args)))})
		h.call.Say(tool.Update{Note: strings.TrimSpace("execute_code: " + f.Tool + " " + h.made[at].About)})
		h.clock.pause()
		h.work.Add(1)
		go func() {
			defer h.work.Done()
			defer h.clock.resume()
			h.do(f, one, at)
		}()
	}
}

// do makes one call and sends its answer.
func (h *host) do(f frame, one *offer, at int) {
	if one.tool.Spec().Beside {
		h.beside.RLock()
		defer h.beside.RUnlock()
	} else {
		h.beside.Lock()
		defer h.beside.Unlock()
	}
	var err error
	var r tool.Result
	if err = h.ctx.Err(); err == nil {
		if err = fits(one, f.Args); err == nil {
			r, err = one.tool.Call(h.ctx, tool.Call{ID: h.call.ID, Args: f.Args})
		}
	}
	text := told(r)
	h.mu.Lock()
	for _, p := range r.Parts {
		h.outside = h.outside || p.Origin == taint.Outside
	}
	switch {
	case err != nil:
		h.made[at].Error = short(h.o.redacted(err.Error()))
	case r.Failed:
		h.made[at].Error = short(h.o.redacted(text))
	}
	h.mu.Unlock()
	if err != nil {
		h.owe(refusal(f.ID, err.Error()))
		return
	}
	data := r.Data
	if data == nil {
		if r.Failed {
			h.owe(refusal(f.ID, text))
			return
		}
		data = map[string]string{"output": text}
	}
	reply, err := json.Marshal(struct {
		ID   int64 `json:"id"`
		Data any   `json:"data"`
	}{f.ID, data})
	if err != nil {
		reply = refusal(f.ID, "the result cannot be handed over: "+err.Error())
	}
	h.owe(reply)
}

// fits refuses arguments that a program cannot use.
func fits(one *offer, args json.RawMessage) error {
	var named map[string]json.RawMessage
	if err := json.Unmarshal(args, &named); err != nil {
		return errors.New("read arguments: not an object")
	}
	for name := range named {
		ok := false
		for _, p := range one.Params {
			ok = ok || p == name
		}
		if !ok {
			return fmt.Errorf("%s takes no %s from a program", one.Name, short(name))
		}
	}
	return nil
}

func refusal(id int64, text string) []byte {
	out, _ := json.Marshal(struct {
		ID    int64  `json:"id"`
		Error string `json:"error"`
	}{id, text}) // cannot fail
	return out
}

// told is what a result says.
func told(r tool.Result) string {
	var out []string
	for _, p := range r.Parts {
		out = append(out, strings.TrimRight(p.Text, "\n"))
	}
	return strings.Join(out, "\n")
}

// about is the main argument of a call.
func about(s tool.Spec, params []string, args json.RawMessage) string {
	var named map[string]any
	if json.Unmarshal(args, &named) != nil {
		return ""
	}
	for _, name := range append([]string{s.Words}, params...) {
		if value, ok := named[name]; ok && name != "" {
			return fmt.Sprint(value)
		}
	}
	return ""
}

// short makes one line of a text.
func short(s string) string { return screen.OneLine(s, 120) }

// result says what came of the program.
func (h *host) result(ctx context.Context, got launch.Result, err error, out capture.Result, took time.Duration) (tool.Result, error) {
	o := Outcome{
		Status: "success", Output: out.Text, Code: got.Status.Code, Calls: h.made, Seconds: took.Round(time.Millisecond).Seconds(), Python: h.hello,
	}
	if out.Cut {
		o.Total, o.Path = out.Total, out.Path
	}
	cause := context.Cause(h.ctx)
	stopped := errors.Is(cause, errTime) || errors.Is(cause, errFrame) || errors.Is(cause, errFlood)
	switch {
	case !got.Ran && err == nil && got.Refused():
		o.Status, o.Error = "refused", got.Decision.Message
	case ctx.Err() != nil:
		o.Status, o.Error = "interrupted", "it was interrupted"
	case errors.Is(cause, errTime):
		o.Status, o.Error = "timeout", fmt.Sprintf("it was ended after %s", h.o.time())
	case stopped:
		o.Status, o.Error = "stopped", "it was ended: "+cause.Error()
	case err != nil:
		return tool.Result{}, err
	case h.hello == "" && (o.Code == 126 || o.Code == 127):
		o.Status, o.Error = "error", fmt.Sprintf("there is no Python 3 where commands run (backend %s): install it there, or use the terminal", got.Backend)
	case h.hello == "":
		o.Status, o.Error = "error", fmt.Sprintf("Python did not start the program (exit code %d)", o.Code)
	case o.Code != 0:
		o.Status, o.Error = "error", fmt.Sprintf("exit code %d", o.Code)
	}
	return h.shown(o, got), nil
}

func (h *host) shown(o Outcome, got launch.Result) tool.Result {
	if o.Calls == nil {
		o.Calls = []Made{}
	}
	r := tool.Result{Data: o, Failed: o.Status != "success" && (o.Output == "" || h.hello == ""), Summary: o.Error, Approved: tool.ApprovedBy(got.Decision)}
	if o.Output != "" {
		part := tool.Part{Text: o.Output, Origin: taint.Work, Source: "the program", Risk: taint.Assess(o.Output)}
		if h.outside {
			part.Origin = taint.Outside
		}
		r.Parts = append(r.Parts, part)
	}
	var notes []string
	if o.Error != "" {
		notes = append(notes, h.o.redacted(o.Error))
	}
	if o.Output == "" && o.Status == "success" {
		notes = append(notes, "The program printed nothing.")
	}
	if len(o.Calls) > 0 {
		notes = append(notes, "Tool calls: "+count(o.Calls)+".")
	}
	if o.Path != "" {
		notes = append(notes, fmt.Sprintf("%d characters were printed; the whole is in %s.", o.Total, o.Path))
	}
	notes = append(notes, got.Warnings...)
	if len(notes) > 0 {
		r.Parts = append(r.Parts, tool.Own(strings.Join(notes, "\n")))
	}
	if r.Summary == "" && len(o.Calls) > 0 {
		r.Summary = "tool calls: " + count(o.Calls)
	}
	return r
}

// count says how often which tool was called.
func count(all []Made) string {
	var names []string
	times, failed := map[string]int{}, 0
	for _, m := range all {
		if times[m.Tool]++; times[m.Tool] == 1 {
			names = append(names, m.Tool)
		}
		if m.Error != "" {
			failed++
		}
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, times[name])
	}
	out := strings.Join(names, ", ")
	if failed > 0 {
		out += fmt.Sprintf("; %d failed or refused", failed)
	}
	return out
}
