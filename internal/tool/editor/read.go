package editor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"hermes/internal/tool"
)

// Read is the tool read_file.
type Read struct{ Options }

// Spec implements tool.Tool.
func (r Read) Spec() tool.Spec {
	return tool.Spec{
		Name: "read_file", Words: "path", Beside: true,
		Description: "Read a text file. Lines are returned as LINE|CONTENT. Page through long files with offset and limit. Not for images and other binary files.",
		Schema: json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"path":{"type":"string","description":"absolute, relative to the current directory, or ~/…"},`+
			`"offset":{"type":"integer","minimum":1,"default":1,"description":"first line"},`+
			`"limit":{"type":"integer","minimum":1,"maximum":%d,"default":500,"description":"how many lines"}},"required":["path"],"additionalProperties":false}`, r.lines())),
	}
}

// Content is the whole result of a read.
type Content struct {
	Path   string `json:"path"`
	Lines  int    `json:"total_lines"`
	Offset int    `json:"offset"`
	Limit  int    `json:"limit"`
	Size   int64  `json:"size"`
	Form   string `json:"form,omitempty"`
	Text   string `json:"content"` // LINE|CONTENT
	Next   int    `json:"next_offset,omitempty"`
}

// Call implements tool.Tool.
func (r Read) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	args := struct {
		Path   string `json:"path"`
		Offset int    `json:"offset"`
		Limit  int    `json:"limit"`
	}{Offset: 1, Limit: 500}
	if err := tool.Decode(c, &args); err != nil {
		return tool.Result{}, err
	}
	if args.Path == "" {
		return tool.Result{}, errors.New("read arguments: no path")
	}
	args.Offset, args.Limit = max(args.Offset, 1), min(max(args.Limit, 1), r.lines())
	n := r.name(args.Path, false)
	f, err := r.Workspace.Read(ctx, n)
	if err != nil {
		return tool.Result{}, r.explain(ctx, n, err)
	}
	lines := strings.Split(strings.TrimSuffix(f.Text, "\n"), "\n")
	if f.Text == "" {
		lines = nil
	}
	out := Content{Path: f.Path, Lines: len(lines), Offset: args.Offset, Limit: args.Limit, Size: f.Size, Form: f.Form.String()}
	var b strings.Builder
	end := min(len(lines), args.Offset-1+args.Limit)
	i := args.Offset - 1
	for ; i < end; i++ {
		line := clip(strings.TrimSuffix(lines[i], "\r"), r.line())
		if b.Len() > 0 && b.Len()+len(line) > r.chars() {
			break
		}
		fmt.Fprintf(&b, "%d|%s\n", i+1, line)
	}
	out.Text = b.String()
	if i < len(lines) {
		out.Next = i + 1
	}
	result := tool.Result{Data: out, Parts: []tool.Part{part(out.Text, f.Path)}, Summary: fmt.Sprintf("%d of %d lines", i-min(i, args.Offset-1), len(lines))}
	if note := out.note(); note != "" {
		result.Parts = append(result.Parts, tool.Own(note))
	}
	return result, nil
}

// clip cuts what is too long of a line.
func clip(line string, most int) string {
	if len(line) <= most {
		return line
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(line[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (%d more bytes in this line)", line[:cut], len(line)-cut)
}

func (c Content) note() string {
	var out []string
	switch {
	case c.Lines == 0:
		out = append(out, "The file is empty.")
	case c.Offset > c.Lines:
		out = append(out, fmt.Sprintf("The file has %d lines.", c.Lines))
	case c.Next > 0:
		out = append(out, fmt.Sprintf("Lines %d to %d of %d; go on with offset %d.", c.Offset, c.Next-1, c.Lines, c.Next))
	}
	if c.Form != "" {
		out = append(out, "The file is "+c.Form+"; that is kept when it is changed.")
	}
	return strings.Join(out, " ")
}
