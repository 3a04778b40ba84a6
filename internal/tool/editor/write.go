package editor

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"hermes/internal/tool"
	"hermes/internal/workspace"
)

// Write is the tool write_file.
type Write struct{ Options }

const crossProfile = `"cross_profile":{"type":"boolean","default":false,"description":"the person asked for a change in another profile's home"}`

// Spec implements tool.Tool.
func (Write) Spec() tool.Spec {
	return tool.Spec{
		Name: "write_file",
		Description: "Write a whole text file; directories are made. The file is replaced at once or not at all, and keeps its mode, encoding and line ends. " +
			"Use patch to change a part.",
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"absolute, relative to the current directory, or ~/…"},` +
			`"content":{"type":"string","description":"the whole text"},` + crossProfile + `},"required":["path","content"],"additionalProperties":false}`),
	}
}

// Call implements tool.Tool.
func (w Write) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	var args struct {
		Path    string  `json:"path"`
		Content *string `json:"content"`
		Cross   bool    `json:"cross_profile"`
	}
	if err := tool.Decode(c, &args); err != nil {
		return tool.Result{}, err
	}
	if args.Path == "" || args.Content == nil {
		return tool.Result{}, errors.New("read arguments: path and content are needed")
	}
	n := w.name(args.Path, args.Cross)
	done, err := w.apply(ctx, "write_file", []workspace.Change{{Name: n, Text: func(old *workspace.File) (string, error) {
		text := *args.Content
		if old != nil && old.Size > 0 && !old.Form.Unended && text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n" // the file ended its last line
		}
		return text, nil
	}}})
	if err != nil {
		return tool.Result{}, w.explain(ctx, n, err)
	}
	return w.told(done), nil
}
