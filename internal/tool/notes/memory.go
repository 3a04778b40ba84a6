package notes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hermes/internal/guard"
	"hermes/internal/guard/paths"
	"hermes/internal/guard/taint"
	"hermes/internal/home"
	"hermes/internal/tool"
	"hermes/internal/workspace"
)

// Memory is the tool memory, and what it keeps: two files of a home, with notes that are set apart by lines of their own.
// It is safe for concurrent use, also by several processes.
type Memory struct {
	Dir    *home.Dir
	Secret func(text string) bool // tells whether a text holds a secret, which is not kept; nil: not looked for
	Ask    workspace.Ask          // asks the person about a change, where guard/taint says so; nil: such a change is refused
	Always func() bool            // whether the owner wants to be asked about each; nil: no
}

var _ tool.Tool = Memory{}

const (
	folder   = "memories"
	between  = "\n§\n"
	lock     = "memory"
	lockWait = 5 * time.Second
)

// file is one of the two.
type file struct {
	target string // as the tool calls it
	name   string
	limit  int // characters
}

// files lists them, in the order in which they are shown.
func files() []file {
	return []file{
		{"memory", folder + "/MEMORY.md", 2200},
		{"user", folder + "/USER.md", 1375},
	}
}

// Spec implements tool.Tool.
func (Memory) Spec() tool.Spec {
	return tool.Spec{
		Name: "memory",
		Description: "Keep short notes that last beyond this conversation and are shown at the beginning of the next ones. Target memory: facts about the " +
			"environment, projects, tools, what was learnt (2,200 characters in all). Target user: who the person is and what they like (1,375). " +
			"Actions: add; replace and remove find the one note that holds old_text. Write facts, not instructions; no secrets, no progress of tasks.",
		Schema: json.RawMessage(`{"type":"object","properties":{"action":{"type":"string","enum":["add","replace","remove"]},` +
			`"target":{"type":"string","enum":["memory","user"],"default":"memory"},` +
			`"content":{"type":"string","description":"add, replace: the note"},` +
			`"old_text":{"type":"string","description":"replace, remove: a part of the note that no other has"}},"required":["action"],"additionalProperties":false}`),
	}
}

// Kept is the whole result of a call.
type Kept struct {
	Success bool     `json:"success"`
	Target  string   `json:"target"`
	Entries []string `json:"entries"`
	Usage   string   `json:"usage"`
	Message string   `json:"message"`
}

type memoryArgs struct {
	Action  string `json:"action"`
	Target  string `json:"target"`
	Content string `json:"content"`
	Old     string `json:"old_text"`
}

// Call implements tool.Tool.
func (m Memory) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	args := memoryArgs{Target: "memory"}
	if err := tool.Decode(c, &args); err != nil {
		return tool.Result{}, err
	}
	at := slices.IndexFunc(files(), func(f file) bool { return f.target == args.Target })
	args.Content, args.Old = strings.TrimSpace(strings.ReplaceAll(args.Content, "\r\n", "\n")), strings.TrimSpace(args.Old)
	switch {
	case m.Dir == nil:
		return tool.Result{}, errors.New("memory: there is no home to keep notes in")
	case at < 0:
		return tool.Result{}, fmt.Errorf("read arguments: target %q is neither memory nor user", args.Target)
	case args.Action != "add" && args.Action != "replace" && args.Action != "remove":
		return tool.Result{}, fmt.Errorf("read arguments: action %q is neither add nor replace nor remove", args.Action)
	case args.Action != "remove" && args.Content == "":
		return tool.Result{}, fmt.Errorf("read arguments: %s needs content", args.Action)
	case args.Action != "add" && args.Old == "":
		return tool.Result{}, fmt.Errorf("read arguments: %s needs old_text", args.Action)
	}
	if args.Action != "remove" {
		if err := m.fit(args.Content); err != nil {
			return tool.Result{}, err
		}
	}
	return m.change(ctx, files()[at], args, c.Untainted)
}

// fit refuses what must not be kept.
func (m Memory) fit(content string) error {
	switch found := taint.Scan(content, taint.Strict); {
	case !plain(content):
		return errors.New("memory: the note has control characters")
	case strings.Contains("\n"+content+"\n", between):
		return errors.New("memory: a line of § alone sets notes apart, and cannot be in one")
	case len(found) > 0:
		return errors.New("memory: " + taint.Message(found))
	case m.Secret != nil && m.Secret(content):
		return errors.New("memory: the note holds what looks like a secret, which does not belong into prompts")
	}
	return nil
}

// change changes one file. The person is asked before it is held, about the very change that is made then.
func (m Memory) change(ctx context.Context, f file, args memoryArgs, untainted bool) (tool.Result, error) {
	entries, err := m.read(f)
	if err != nil {
		return tool.Result{}, err
	}
	next, message, err := m.edited(entries, f, args)
	if err != nil {
		return tool.Result{}, err
	}
	if message != "" { // nothing is to be done
		return m.result(f, next, message, nil), nil
	}
	asked := diff(entries, next)
	if err := m.permit(ctx, f, asked, untainted); err != nil {
		return tool.Result{}, err
	}
	timed, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	held, err := m.Dir.Lock(timed, lock)
	if err != nil {
		return tool.Result{}, fmt.Errorf("memory: %w", err)
	}
	defer func() { _ = held.Unlock() }()
	if entries, err = m.read(f); err != nil {
		return tool.Result{}, err
	}
	if next, message, err = m.edited(entries, f, args); err != nil {
		return tool.Result{}, err
	}
	made := diff(entries, next)
	switch {
	case message != "":
		return m.result(f, next, message, nil), nil
	case !slices.Equal(made, asked):
		return tool.Result{}, errors.New("memory: the notes have changed meanwhile, so that this would be another change than the one that was decided on: make the call again")
	}
	if err := m.write(f, next); err != nil {
		return tool.Result{}, err
	}
	return m.result(f, next, map[string]string{"add": "Note added.", "replace": "Note replaced.", "remove": "Note removed."}[args.Action], made), nil
}

// edited returns the notes as they shall be, if they may be so; a message where nothing is to be done.
func (m Memory) edited(entries []string, f file, args memoryArgs) (next []string, message string, err error) {
	next, message, err = edit(entries, f, args)
	if err == nil && message == "" {
		err = m.whole(next, entries)
	}
	return next, message, err
}

// permit asks the person where that must be.
func (m Memory) permit(ctx context.Context, f file, change []string, untainted bool) error {
	v := taint.Remember(untainted, m.Always != nil && m.Always())
	if v.Action == guard.Allow {
		return nil
	}
	q := workspace.Question{Access: paths.Write, Path: m.Dir.Join(f.name), Verdict: v, Diff: strings.Join(change, "\n")}
	denied := &guard.DeniedError{Op: "remember in", Subject: f.name, Verdict: v}
	denied.Verdict.Action = guard.Block
	if v.Action != guard.Ask || m.Ask == nil {
		denied.Verdict.Reason += "; a person must allow it, and nobody can be asked"
		return denied
	}
	ok, reason, err := m.Ask(ctx, q)
	switch {
	case err != nil:
		denied.Verdict.Reason += "; nobody could be asked: " + err.Error()
		return denied
	case !ok:
		denied.Verdict.Reason += "; " + cmp.Or(reason, "not allowed")
		return denied
	}
	return ctx.Err()
}

// diff is the notes that go and that come, line by line, as a difference of files shows them.
func diff(before, after []string) (lines []string) {
	for _, side := range []struct {
		mark         string
		these, those []string
	}{{"-", before, after}, {"+", after, before}} {
		for _, e := range side.these {
			if slices.Contains(side.those, e) {
				continue
			}
			for line := range strings.SplitSeq(e, "\n") {
				lines = append(lines, side.mark+line)
			}
		}
	}
	return lines
}

func (m Memory) result(f file, entries []string, message string, change []string) tool.Result {
	kept := Kept{Success: true, Target: f.target, Entries: entries, Usage: usage(entries, f), Message: message}
	if kept.Entries == nil {
		kept.Entries = []string{}
	}
	r := tool.Result{Data: kept, Summary: message + " " + kept.Usage, Diff: strings.Join(change, "\n"), Parts: []tool.Part{tool.Own(message + " " + kept.Usage)}}
	if len(entries) > 0 {
		r.Parts = append(r.Parts, told(strings.Join(entries, between), m.Dir.Join(f.name)))
	}
	return r
}

// whole refuses notes that instruct together and do not one by one.
func (m Memory) whole(next, before []string) error {
	if found := taint.Scan(strings.Join(next, "\n"), taint.Strict); len(found) > len(taint.Scan(strings.Join(before, "\n"), taint.Strict)) {
		return errors.New("memory: together with the other notes: " + taint.Message(found))
	}
	return nil
}

// edit returns the notes as they shall be; a message where nothing is to be done.
func edit(entries []string, f file, args memoryArgs) (next []string, message string, err error) {
	next = slices.Clone(entries)
	at := -1
	if args.Action != "add" {
		if at, err = one(entries, args.Old); err != nil {
			return nil, "", err
		}
	}
	switch {
	case args.Action == "remove":
		return slices.Delete(next, at, at+1), "", nil
	case args.Action == "replace":
		next[at] = args.Content
	case slices.Contains(entries, args.Content):
		return entries, "The note is there already.", nil
	default:
		next = append(next, args.Content)
	}
	if n := size(next); n > f.limit && n > size(entries) {
		return nil, "", fmt.Errorf("memory: the notes of %s have %d of %d characters, and would have %d: remove or shorten some first. They are:\n%s",
			f.target, size(entries), f.limit, n, strings.Join(entries, between))
	}
	return next, "", nil
}

// one finds the note that holds a text.
func one(entries []string, text string) (int, error) {
	var hits []int
	for i, e := range entries {
		if strings.Contains(e, text) {
			hits = append(hits, i)
		}
	}
	switch {
	case len(hits) == 1:
		return hits[0], nil
	case len(hits) == 0:
		return 0, fmt.Errorf("memory: no note holds %q. They are:\n%s", text, strings.Join(entries, between))
	}
	var found []string
	for _, i := range hits {
		found = append(found, entries[i])
	}
	return 0, fmt.Errorf("memory: %d notes hold %q; take a longer part of the one that is meant:\n%s", len(hits), text, strings.Join(found, between))
}

func size(entries []string) int { return utf8.RuneCountInString(strings.Join(entries, between)) }

func usage(entries []string, f file) string {
	n := size(entries)
	return fmt.Sprintf("%d%% — %d/%d characters", n*100/f.limit, n, f.limit)
}

// read returns the notes of a file.
func (m Memory) read(f file) ([]string, error) {
	text, err := m.Dir.Read(f.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	var out []string
	for _, e := range strings.Split(strings.ReplaceAll(strings.ToValidUTF8(string(text), "�"), "\r\n", "\n"), between) {
		if e = strings.TrimSpace(e); e != "" && e != "§" && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out, nil
}

func (m Memory) write(f file, entries []string) error {
	if err := m.Dir.MkdirAll(folder); err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	text := strings.Join(entries, between)
	if text != "" {
		text += "\n"
	}
	if err := m.Dir.WriteFile(f.name, []byte(text)); err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	return nil
}

// Left is a note, or a whole file, that a prompt does not get.
type Left struct {
	Path     string
	Findings []string // of guard/taint; empty where something else is wrong
	Why      string
}

// Note is a note, and the file that it is in.
type Note struct{ Target, Text string }

// Notes returns what the prompt of a new conversation may say, and what was left out: notes that a scan finds hostile, as whoever
// changed the file past this tool may have written them, and what is beyond the limit.
func (m Memory) Notes() (notes []Note, left []Left) {
	if m.Dir == nil {
		return nil, nil
	}
	for _, f := range files() {
		entries, err := m.read(f)
		if err != nil {
			left = append(left, Left{Path: m.Dir.Join(f.name), Why: err.Error()})
			continue
		}
		var shown []string
		for _, e := range entries {
			found := taint.Scan(e, taint.Strict)
			switch {
			case taint.Blocks(found):
				left = append(left, Left{Path: m.Dir.Join(f.name), Findings: taint.IDs(found), Why: "a note reads as an attack on an agent"})
			case !plain(e):
				left = append(left, Left{Path: m.Dir.Join(f.name), Why: "a note has control characters"})
			case size(append(slices.Clone(shown), e)) > f.limit:
				left = append(left, Left{Path: m.Dir.Join(f.name), Why: fmt.Sprintf("the notes are longer than %d characters", f.limit)})
			default:
				shown = append(shown, e)
			}
		}
		if found := taint.Scan(strings.Join(shown, "\n"), taint.Strict); taint.Blocks(found) {
			left = append(left, Left{Path: m.Dir.Join(f.name), Findings: taint.IDs(found), Why: "the notes read together as an attack on an agent"})
			continue
		}
		for _, e := range shown {
			notes = append(notes, Note{f.target, e})
		}
	}
	return notes, left
}
