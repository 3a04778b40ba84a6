// Package editor holds the tools that read, write, change and search files: read_file, write_file, patch, search_files.
//
// Every file is reached through workspace, which decides. What a patch says is matched exactly: where it does not fit, the
// error shows the nearest place, and nothing is written. It does not wrap or redact what files hold (see tool).
//
// Failure direction: refuse. A patch that could mean two places changes none.
package editor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"hermes/internal/guard"
	"hermes/internal/guard/taint"
	"hermes/internal/tool"
	"hermes/internal/workspace"
)

// Options are what the tools have in common.
type Options struct {
	Workspace *workspace.Workspace
	Dir       func() string          // the absolute directory of the session, where relative names start
	Turn      func() *workspace.Turn // of the call; nil, or of nil: nothing is remembered
	Done      func([]workspace.Done) // told of each change, for undoing; may be nil
	Lines     int                    // most lines of one read; 0: 2000
	Line      int                    // most bytes of one line that are shown; 0: 2000
	Chars     int                    // most bytes of one result; 0: 100,000
}

var (
	_ tool.Tool = Read{}
	_ tool.Tool = Write{}
	_ tool.Tool = Patch{}
	_ tool.Tool = Search{}
)

func (o *Options) name(path string, cross bool) workspace.Name {
	n := workspace.Name{Path: path, Cross: cross}
	if o.Dir != nil {
		n.Dir = o.Dir()
	}
	return n
}

func (o *Options) lines() int {
	if o.Lines > 0 {
		return o.Lines
	}
	return 2000
}

func (o *Options) line() int {
	if o.Line > 0 {
		return o.Line
	}
	return 2000
}

func (o *Options) chars() int {
	if o.Chars > 0 {
		return o.Chars
	}
	return 100_000
}

// part is a piece of a result that a file's text is in.
func part(text, source string) tool.Part {
	return tool.Part{Text: text, Origin: taint.Work, Source: source, Risk: taint.Assess(text)}
}

// explain tells what went wrong with a file, and what to do.
func (o *Options) explain(ctx context.Context, n workspace.Name, err error) error {
	var denied *guard.DeniedError
	switch {
	case errors.As(err, &denied):
		return err
	case errors.Is(err, fs.ErrNotExist):
		if near := o.Workspace.Near(ctx, n); len(near) > 0 {
			return fmt.Errorf("%w; similar names: %s", err, strings.Join(near, ", "))
		}
	case errors.Is(err, workspace.ErrFolder):
		return fmt.Errorf("%w; search_files with target files lists one", err)
	case errors.Is(err, workspace.ErrBinary):
		return fmt.Errorf("%w (images and other binary files are not read here)", err)
	}
	return err
}

// apply makes changes and remembers how they went.
func (o *Options) apply(ctx context.Context, toolName string, changes []workspace.Change) ([]workspace.Done, error) {
	done, err := o.Workspace.Apply(ctx, changes...)
	var turn *workspace.Turn
	if o.Turn != nil {
		turn = o.Turn()
	}
	if err != nil {
		if turn != nil {
			for _, c := range changes {
				turn.Failed(ctx, o.Workspace, toolName, c.Name, err)
			}
		}
		return nil, err
	}
	for _, d := range done {
		if turn != nil {
			turn.Done(d.Path, d.To)
		}
	}
	if o.Done != nil {
		o.Done(done)
	}
	return done, nil
}

// Changed is what a program is told of one changed file.
type Changed struct {
	Path    string `json:"path"`
	To      string `json:"moved_to,omitempty"`
	What    string `json:"what"` // created, changed, moved, removed, unchanged
	Added   int    `json:"lines_added"`
	Deleted int    `json:"lines_deleted"`
	Form    string `json:"kept,omitempty"` // encoding and line ends, where unusual
	Diff    string `json:"diff,omitempty"`
}

// told makes a result of changes. The difference is for people: who asked for it knows it.
func (o *Options) told(done []workspace.Done) tool.Result {
	var out tool.Result
	var data []Changed
	left, added, deleted := o.chars(), 0, 0
	for _, d := range done {
		added, deleted = added+d.Added, deleted+d.Deleted
		c := Changed{Path: d.Path, To: d.To, What: "changed", Added: d.Added, Deleted: d.Deleted, Form: d.Form.String(), Diff: d.Diff}
		switch {
		case d.Removed:
			c.What = "removed"
		case d.Created:
			c.What = "created"
		case d.To != "":
			c.What = "moved"
		case d.Diff == "" && !d.Hidden:
			c.What = "unchanged"
		}
		data = append(data, c)
		text := fmt.Sprintf("%s %s", c.What, d.Path)
		if d.To != "" {
			text += " to " + d.To
		}
		if d.Added+d.Deleted > 0 {
			text += fmt.Sprintf(" (+%d −%d lines)", d.Added, d.Deleted)
		}
		if c.Form != "" {
			text += "; kept: " + c.Form
		}
		if d.Hidden {
			text += "; the difference is not shown, since the file may not be read"
		}
		out.Parts = append(out.Parts, tool.Own(text))
		if d.Diff != "" && !d.Removed {
			diff := d.Diff
			if len(diff) > left {
				diff = strings.ToValidUTF8(diff[:left], "") + "\n… (cut)\n"
			}
			left -= min(left, len(diff))
			out.Diff += diff
		}
	}
	out.Summary = fmt.Sprintf("%d files, +%d −%d lines", len(done), added, deleted)
	if len(done) == 1 {
		out.Summary = fmt.Sprintf("%s, +%d −%d lines", data[0].What, added, deleted)
	}
	out.Data = struct {
		Files []Changed `json:"files"`
	}{data}
	return out
}
