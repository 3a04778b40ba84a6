package editor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"hermes/internal/tool"
	"hermes/internal/workspace"
)

// Patch is the tool patch.
type Patch struct{ Options }

// Spec implements tool.Tool.
func (Patch) Spec() tool.Spec {
	return tool.Spec{
		Name: "patch",
		Description: "Change files. Mode replace: old_string becomes new_string in one file; it must be there exactly once, unless replace_all. " +
			"Mode patch: a V4A patch (*** Begin Patch … *** End Patch) that adds, updates, moves and deletes files, all or none.",
		Schema: json.RawMessage(`{"type":"object","properties":{"mode":{"type":"string","enum":["replace","patch"]},` +
			`"path":{"type":"string","description":"mode replace: the file"},` +
			`"old_string":{"type":"string","description":"mode replace: the text as it is in the file, without line numbers"},` +
			`"new_string":{"type":"string"},"replace_all":{"type":"boolean","default":false},` +
			`"patch":{"type":"string","description":"mode patch"},` + crossProfile + `},"required":["mode"],"additionalProperties":false}`),
	}
}

// patchArgs are the arguments of patch.
type patchArgs struct {
	Mode  string  `json:"mode"`
	Path  string  `json:"path"`
	Old   string  `json:"old_string"`
	New   *string `json:"new_string"`
	All   bool    `json:"replace_all"`
	Patch string  `json:"patch"`
	Cross bool    `json:"cross_profile"`
}

// Call implements tool.Tool.
func (p Patch) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	var args patchArgs
	if err := tool.Decode(c, &args); err != nil {
		return tool.Result{}, err
	}
	var changes []workspace.Change
	switch {
	case args.Mode == "replace" && (args.Path == "" || args.Old == "" || args.New == nil):
		return tool.Result{}, errors.New("read arguments: mode replace needs path, old_string and new_string; write_file makes new files")
	case args.Mode == "replace" && args.Old == *args.New:
		return tool.Result{}, errors.New("read arguments: old_string and new_string are the same")
	case args.Mode == "replace":
		changes = []workspace.Change{{Name: p.name(args.Path, args.Cross), State: workspace.Existing, Text: func(old *workspace.File) (string, error) {
			return replace(args.Path, old, args.Old, *args.New, args.All)
		}}}
	case args.Mode == "patch":
		files, err := parse(args.Patch)
		if err != nil {
			return tool.Result{}, fmt.Errorf("read patch: %w", err)
		}
		for _, f := range files {
			changes = append(changes, p.change(f, args.Cross))
		}
	default:
		return tool.Result{}, fmt.Errorf("read arguments: mode %q is neither replace nor patch", args.Mode)
	}
	done, err := p.apply(ctx, "patch", changes)
	if err != nil {
		return tool.Result{}, p.explain(ctx, changes[0].Name, err)
	}
	return p.told(done), nil
}

// change is what one file of a patch asks for.
func (p Patch) change(f file, cross bool) workspace.Change {
	c := workspace.Change{Name: p.name(f.path, cross), State: workspace.Existing}
	if f.to != "" {
		to := p.name(f.to, cross)
		c.To = &to
	}
	switch {
	case f.kind == adds:
		c.State = workspace.Absent
		c.Text = func(*workspace.File) (string, error) { return f.text, nil }
	case f.kind == deletes:
		c.Remove = true
	case len(f.hunks) > 0:
		c.Text = func(old *workspace.File) (string, error) { return f.apply(old.Text) }
	}
	return c
}

// replace puts one text into the place of another.
func replace(path string, f *workspace.File, old, new string, all bool) (string, error) {
	if f.Form.CRLF { // the text has LF alone, and so has what it is compared with
		old, new = strings.ReplaceAll(old, "\r\n", "\n"), strings.ReplaceAll(new, "\r\n", "\n")
	}
	switch n := strings.Count(f.Text, old); {
	case n == 0:
		return "", fmt.Errorf("patch %s: old_string is not in the file. %s", path, nearest(f.Text, old))
	case n > 1 && !all:
		return "", fmt.Errorf("patch %s: old_string is there %d times (lines %s): take in more lines around it, or set replace_all", path, n, places(f.Text, old))
	}
	return strings.ReplaceAll(f.Text, old, new), nil
}

// places lists the lines where a text begins, at most five.
func places(text, part string) string {
	var out []string
	for at := 0; ; {
		i := strings.Index(text[at:], part)
		if i < 0 {
			return strings.Join(out, ", ")
		}
		if len(out) == 5 {
			return strings.Join(out, ", ") + ", …"
		}
		out = append(out, fmt.Sprint(1+strings.Count(text[:at+i], "\n")))
		at += i + len(part)
	}
}
