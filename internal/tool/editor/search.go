package editor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"hermes/internal/tool"
	"hermes/internal/workspace"
)

// Search is the tool search_files.
type Search struct{ Options }

// Spec implements tool.Tool.
func (Search) Spec() tool.Spec {
	return tool.Spec{
		Name: "search_files", Words: "pattern", Beside: true,
		Description: "Search a directory. Target content: lines that match a regular expression (RE2). Target files: files whose name matches a glob, newest first. " +
			"What .gitignore leaves out, binary files, and files that may not be read are skipped; links are not followed.",
		Schema: json.RawMessage(`{"type":"object","properties":{"pattern":{"type":"string","description":"content: an RE2 regular expression; files: a glob such as *.go or src/**/*.ts"},` +
			`"target":{"type":"string","enum":["content","files"],"default":"content"},` +
			`"path":{"type":"string","default":".","description":"a directory, or one file"},` +
			`"file_glob":{"type":"string","description":"content: only files like this"},` +
			`"limit":{"type":"integer","minimum":1,"default":50},"offset":{"type":"integer","minimum":0,"default":0},` +
			`"output_mode":{"type":"string","enum":["content","files_only","count"],"default":"content"},` +
			`"context":{"type":"integer","minimum":0,"maximum":20,"default":0,"description":"lines around a match"}},"required":["pattern"],"additionalProperties":false}`),
	}
}

// searchArgs are the arguments of search_files.
type searchArgs struct {
	Pattern string `json:"pattern"`
	Target  string `json:"target"`
	Path    string `json:"path"`
	Glob    string `json:"file_glob"`
	Limit   int    `json:"limit"`
	Offset  int    `json:"offset"`
	Mode    string `json:"output_mode"`
	Context int    `json:"context"`
}

// Matches is the whole result of a search.
type Matches struct {
	Total   int     `json:"total"` // matches, or files
	Shown   []Match `json:"matches"`
	Next    int     `json:"next_offset,omitempty"`
	Files   int     `json:"files_searched"`
	Denied  int     `json:"not_readable,omitempty"`
	Binary  int     `json:"binary,omitempty"`
	Large   int     `json:"too_large,omitempty"`
	Partial bool    `json:"partial,omitempty"` // there was more than is counted
}

// Match is one line, or one file.
type Match struct {
	Path   string   `json:"path"`
	Line   int      `json:"line,omitempty"`
	Text   string   `json:"text,omitempty"`
	Count  int      `json:"count,omitempty"` // matches in the file
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
}

const maxLimit = 1000

// Call implements tool.Tool.
func (s Search) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	args := searchArgs{Target: "content", Path: ".", Limit: 50, Mode: "content"}
	if err := tool.Decode(c, &args); err != nil {
		return tool.Result{}, err
	}
	find, err := args.search(&s.Options)
	if err != nil {
		return tool.Result{}, err
	}
	found, err := s.Workspace.Find(ctx, find)
	if err != nil {
		return tool.Result{}, s.explain(ctx, find.In, err)
	}
	all := args.rows(found, s.line())
	out := Matches{Total: len(all), Files: found.Files, Denied: found.Denied, Binary: found.Binary, Large: found.Large, Partial: found.Partial}
	args.Offset = max(0, args.Offset)
	rows := all[min(args.Offset, len(all)):]
	rows = rows[:min(len(rows), max(1, min(args.Limit, maxLimit)))]
	result := tool.Result{}
	size := 0
	for i := 0; i < len(rows); {
		j := i + 1
		for j < len(rows) && rows[j].Path == rows[i].Path {
			j++
		}
		text := args.text(rows[i:j])
		if size += len(text); size > s.chars() && i > 0 {
			break
		}
		result.Parts = append(result.Parts, part(text, rows[i].Path))
		out.Shown = append(out.Shown, rows[i:j]...)
		i = j
	}
	if end := args.Offset + len(out.Shown); end < len(all) {
		out.Next = end
	}
	result.Data, result.Summary = out, fmt.Sprintf("%d found", out.Total)
	result.Parts = append(result.Parts, tool.Own(out.note(args.Offset)))
	return result, nil
}

// search makes a search of the arguments.
func (a *searchArgs) search(o *Options) (workspace.Search, error) {
	out := workspace.Search{In: o.name(a.Path, false), Glob: a.Glob, Context: min(max(a.Context, 0), 20)}
	switch {
	case a.Pattern == "":
		return out, errors.New("read arguments: no pattern")
	case a.Target == "files":
		if out.Glob = a.Pattern; a.Glob != "" {
			return out, errors.New("read arguments: with target files the pattern is the glob; leave file_glob out")
		}
		return out, nil
	case a.Target != "content":
		return out, fmt.Errorf("read arguments: target %q is neither content nor files", a.Target)
	case a.Mode != "content" && a.Mode != "files_only" && a.Mode != "count":
		return out, fmt.Errorf("read arguments: output_mode %q is none of content, files_only, count", a.Mode)
	}
	pattern, err := regexp.Compile(a.Pattern)
	if err != nil {
		return out, fmt.Errorf("read arguments: pattern: %w (RE2 has no look-around and no back references)", err)
	}
	out.Pattern = pattern
	return out, nil
}

// rows makes the list that limit and offset are about.
func (a *searchArgs) rows(f *workspace.Found, most int) []Match {
	var out []Match
	if a.Target == "files" {
		slices.SortStableFunc(f.Hits, func(x, y workspace.Hit) int { return cmp.Or(y.Time.Compare(x.Time), cmp.Compare(x.Path, y.Path)) })
	}
	for _, h := range f.Hits {
		if a.Target == "files" || a.Mode != "content" {
			out = append(out, Match{Path: h.Path, Count: len(h.Matches)})
			continue
		}
		for _, m := range h.Matches {
			one := Match{Path: h.Path, Line: m.Line, Text: clip(m.Text, most)}
			for _, l := range m.Before {
				one.Before = append(one.Before, clip(strings.TrimSuffix(l, "\r"), most))
			}
			for _, l := range m.After {
				one.After = append(one.After, clip(strings.TrimSuffix(l, "\r"), most))
			}
			out = append(out, one)
		}
	}
	return out
}

// text is what is shown of the matches in one file.
func (a *searchArgs) text(rows []Match) string {
	var b strings.Builder
	for i, m := range rows {
		switch {
		case a.Target == "files" || a.Mode == "files_only":
			fmt.Fprintln(&b, m.Path)
		case a.Mode == "count":
			fmt.Fprintf(&b, "%s:%d\n", m.Path, m.Count)
		default:
			if a.Context > 0 && i > 0 {
				b.WriteString("--\n")
			}
			for j, l := range m.Before {
				fmt.Fprintf(&b, "%s-%d-%s\n", m.Path, m.Line-len(m.Before)+j, l)
			}
			fmt.Fprintf(&b, "%s:%d:%s\n", m.Path, m.Line, m.Text)
			for j, l := range m.After {
				fmt.Fprintf(&b, "%s-%d-%s\n", m.Path, m.Line+1+j, l)
			}
		}
	}
	return b.String()
}

func (m Matches) note(offset int) string {
	text := fmt.Sprintf("%d found in %d files.", m.Total, m.Files)
	if m.Next > 0 {
		text = fmt.Sprintf("%d to %d of %d found in %d files; go on with offset %d.", offset+1, m.Next, m.Total, m.Files, m.Next)
	}
	for _, left := range []struct {
		n    int
		what string
	}{{m.Denied, "may not be read"}, {m.Binary, "binary"}, {m.Large, "too large"}} {
		if left.n > 0 {
			text += fmt.Sprintf(" Not searched: %d (%s).", left.n, left.what)
		}
	}
	if m.Partial {
		text += " There is more: make the pattern narrower."
	}
	return text
}
