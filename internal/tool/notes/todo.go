package notes

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"hermes/internal/tool"
)

// Todo is the tool todo, and the list of one conversation. The zero Todo is an empty one. It is safe for concurrent use.
type Todo struct {
	mu   sync.Mutex // guards what follows
	list []Item
}

var _ tool.Tool = (*Todo)(nil)

// Item is one thing to do.
type Item struct {
	ID      string `json:"id"`
	Content string `json:"content"`
	Status  string `json:"status"` // pending, in_progress, completed, cancelled
}

const (
	maxItems = 200
	maxItem  = 1000 // characters
)

// Spec implements tool.Tool.
func (*Todo) Spec() tool.Spec {
	return tool.Spec{
		Name: "todo",
		Description: "Keep the list of what is to be done in this conversation: for work of three steps or more. Without todos it is only read. Items are in " +
			"their order of importance; one at a time is in_progress. Without merge the list is replaced, with it items of the same id are changed and others added.",
		Schema: json.RawMessage(`{"type":"object","properties":{"todos":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},` +
			`"content":{"type":"string"},"status":{"type":"string","enum":["pending","in_progress","completed","cancelled"]}},"required":["id"],"additionalProperties":false}},` +
			`"merge":{"type":"boolean","default":false}},"additionalProperties":false}`),
	}
}

// List is the whole result of a call.
type List struct {
	Todos   []Item         `json:"todos"`
	Summary map[string]int `json:"summary"` // by status, and total
}

type todoArgs struct {
	Todos *[]Item `json:"todos"`
	Merge bool    `json:"merge"`
}

// Call implements tool.Tool.
func (t *Todo) Call(_ context.Context, c tool.Call) (tool.Result, error) {
	var args todoArgs
	if err := tool.Decode(c, &args); err != nil {
		return tool.Result{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if args.Todos != nil {
		next, err := merged(t.list, *args.Todos, args.Merge)
		if err != nil {
			return tool.Result{}, err
		}
		t.list = next
	}
	out := List{Todos: slices.Clone(t.list), Summary: map[string]int{"total": len(t.list)}}
	if out.Todos == nil {
		out.Todos = []Item{}
	}
	for _, i := range t.list {
		out.Summary[i.Status]++
	}
	done := out.Summary["completed"] + out.Summary["cancelled"]
	r := tool.Result{Data: out, Summary: fmt.Sprintf("%d of %d done", done, len(t.list))}
	if len(t.list) == 0 {
		r.Parts = []tool.Part{tool.Own("The list is empty.")}
		return r, nil
	}
	r.Parts = []tool.Part{told(show(t.list), ""), tool.Own(r.Summary + ".")}
	return r, nil
}

// merged returns the list after a change.
func merged(list, change []Item, merge bool) ([]Item, error) {
	var next []Item
	if merge {
		next = slices.Clone(list)
	}
	for n, i := range change {
		i.ID, i.Content = strings.TrimSpace(i.ID), strings.TrimSpace(i.Content)
		at := slices.IndexFunc(next, func(o Item) bool { return o.ID == i.ID })
		if merge && at >= 0 {
			if i.Content == "" {
				i.Content = next[at].Content
			}
			if i.Status == "" {
				i.Status = next[at].Status
			}
		}
		if i.Status == "" {
			i.Status = "pending"
		}
		switch {
		case i.ID == "" || i.Content == "":
			return nil, fmt.Errorf("read arguments: item %d needs id and content", n+1)
		case !plain(i.ID+i.Content) || utf8.RuneCountInString(i.ID+i.Content) > maxItem:
			return nil, fmt.Errorf("read arguments: item %d is longer than %d characters, or has control characters", n+1, maxItem)
		case !slices.Contains([]string{"pending", "in_progress", "completed", "cancelled"}, i.Status):
			return nil, fmt.Errorf("read arguments: the status of item %d is none of pending, in_progress, completed, cancelled", n+1)
		case at >= 0 && !merge:
			return nil, fmt.Errorf("read arguments: two items have the id %q", i.ID)
		case at >= 0:
			next[at] = i
		default:
			next = append(next, i)
		}
	}
	if len(next) > maxItems {
		return nil, fmt.Errorf("read arguments: more than %d items", maxItems)
	}
	return next, nil
}

// show writes a list for whoever reads it.
func show(list []Item) string {
	marks := map[string]string{"pending": "[ ]", "in_progress": "[>]", "completed": "[x]", "cancelled": "[-]"}
	lines := make([]string, len(list))
	for n, i := range list {
		lines[n] = fmt.Sprintf("%s %s: %s", marks[i.Status], i.ID, strings.ReplaceAll(i.Content, "\n", " "))
	}
	return strings.Join(lines, "\n")
}

// Restore puts the list back as the calls of a conversation left it: their arguments, in their order. A call that was refused
// then is left out now.
func (t *Todo) Restore(calls []json.RawMessage) {
	t.mu.Lock()
	t.list = nil
	t.mu.Unlock()
	for _, args := range calls {
		_, _ = t.Call(context.Background(), tool.Call{Args: args}) // what is refused changes nothing
	}
}

// Open returns what is not done yet, for a prompt that has lost the calls; "" where there is nothing.
func (t *Todo) Open() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(t.list), func(i Item) bool { return i.Status == "completed" || i.Status == "cancelled" })
	return show(left)
}
