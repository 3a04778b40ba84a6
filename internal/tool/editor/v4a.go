package editor

import (
	"errors"
	"fmt"
	"strings"
)

// kind is what a patch does to a file.
type kind uint8

const (
	updates kind = iota
	adds
	deletes
)

// file is what a V4A patch says of one file.
type file struct {
	kind  kind
	path  string
	to    string // where it is moved
	text  string // of a new file
	hunks []hunk
	line  int // where it begins in the patch
}

// hunk is one place of a file, and what becomes of it.
type hunk struct {
	anchors []string // lines that come before it, in order
	lines   []string // ' ' kept, '-' deleted, '+' added, as the first byte
	end     bool     // it ends the file
	line    int      // where it begins in the patch
}

const (
	beginPatch = "*** Begin Patch"
	endPatch   = "*** End Patch"
	endOfFile  = "*** End of File"
	addFile    = "*** Add File: "
	updateFile = "*** Update File: "
	deleteFile = "*** Delete File: "
	moveFile   = "*** Move File: "
	moveTo     = "*** Move to: "
)

// parse reads a patch.
func parse(text string) ([]file, error) {
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")), "\n")
	if lines[0] != beginPatch {
		return nil, errors.New("line 1: the first line is not " + beginPatch)
	}
	if lines[len(lines)-1] != endPatch {
		return nil, fmt.Errorf("line %d: the last line is not %s", len(lines), endPatch)
	}
	var out []file
	for i := 1; i < len(lines)-1; i++ {
		line := lines[i]
		if strings.HasPrefix(line, "*** ") && line != endOfFile && !strings.HasPrefix(line, moveTo) {
			f, err := header(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			f.line = i + 1
			out = append(out, f)
			continue
		}
		if len(out) == 0 {
			if strings.TrimSpace(line) == "" {
				continue
			}
			return nil, fmt.Errorf("line %d: %q comes before any file", i+1, line)
		}
		if err := out[len(out)-1].take(line, i+1); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("it names no file")
	}
	for i := range out {
		if err := out[i].check(); err != nil {
			return nil, fmt.Errorf("line %d: %w", out[i].line, err)
		}
	}
	return out, nil
}

// header reads the line that a file begins with.
func header(line string) (file, error) {
	f := file{}
	rest, ok := strings.CutPrefix(line, addFile)
	if ok {
		f.kind = adds
	} else if rest, ok = strings.CutPrefix(line, deleteFile); ok {
		f.kind = deletes
	} else if rest, ok = strings.CutPrefix(line, updateFile); !ok {
		if rest, ok = strings.CutPrefix(line, moveFile); !ok {
			return f, fmt.Errorf("%q is not a line of a patch", line)
		}
		var to string
		if rest, to, ok = strings.Cut(rest, " -> "); !ok {
			return f, errors.New("a move is written *** Move File: OLD -> NEW")
		}
		f.to = strings.TrimSpace(to)
		if f.to == "" {
			return f, errors.New("the new name is missing")
		}
	}
	if f.path = strings.TrimSpace(rest); f.path == "" {
		return f, errors.New("the name of the file is missing")
	}
	return f, nil
}

// take reads one line that belongs to a file.
func (f *file) take(line string, at int) error {
	if to, ok := strings.CutPrefix(line, moveTo); ok && f.kind == updates && len(f.hunks) == 0 && f.to == "" {
		f.to = strings.TrimSpace(to)
		if f.to == "" {
			return errors.New("the new name is missing")
		}
		return nil
	}
	switch f.kind {
	case adds:
		rest, ok := strings.CutPrefix(line, "+")
		if !ok {
			return fmt.Errorf("%q: lines of a new file begin with +", line)
		}
		f.text += rest + "\n"
		return nil
	case deletes:
		if strings.TrimSpace(line) != "" {
			return fmt.Errorf("%q follows a file that is deleted", line)
		}
		return nil
	}
	return f.hunkLine(line, at)
}

func (f *file) hunkLine(line string, at int) error {
	last := func() *hunk {
		if len(f.hunks) == 0 || f.hunks[len(f.hunks)-1].end {
			f.hunks = append(f.hunks, hunk{line: at})
		}
		return &f.hunks[len(f.hunks)-1]
	}
	switch {
	case line == "@@" || strings.HasPrefix(line, "@@ "):
		if len(f.hunks) == 0 || len(f.hunks[len(f.hunks)-1].lines) > 0 {
			f.hunks = append(f.hunks, hunk{line: at})
		}
		if anchor := strings.TrimSpace(line[2:]); anchor != "" {
			h := &f.hunks[len(f.hunks)-1]
			h.anchors = append(h.anchors, anchor)
		}
	case line == endOfFile:
		if len(f.hunks) == 0 || len(f.hunks[len(f.hunks)-1].lines) == 0 {
			return errors.New(endOfFile + " ends no change")
		}
		f.hunks[len(f.hunks)-1].end = true
	case line == "":
		if len(f.hunks) == 0 {
			return nil // between the name and the first change
		}
		h := last()
		h.lines = append(h.lines, "")
	case line[0] == ' ' || line[0] == '-' || line[0] == '+':
		h := last()
		h.lines = append(h.lines, line)
	default:
		return fmt.Errorf("%q: lines of a change begin with a space, - or +", line)
	}
	return nil
}

func (f *file) check() error {
	switch {
	case f.kind == updates && f.to == "" && len(f.hunks) == 0:
		return fmt.Errorf("%s: the update changes nothing", f.path)
	case f.kind != updates && f.to != "":
		return fmt.Errorf("%s: only what is updated can be moved", f.path)
	}
	for i := range f.hunks {
		h := &f.hunks[i]
		for len(h.lines) > 0 && h.lines[len(h.lines)-1] == "" {
			h.lines = h.lines[:len(h.lines)-1] // between two changes
		}
		for j, l := range h.lines {
			if l == "" { // an empty line whose space was lost
				h.lines[j] = " "
			}
		}
		if len(h.lines) == 0 {
			return fmt.Errorf("%s: the change at line %d of the patch has no lines", f.path, h.line)
		}
	}
	return nil
}

// old returns the lines that a hunk is about, as they were.
func (h hunk) old() []string {
	var out []string
	for _, l := range h.lines {
		if l[0] != '+' {
			out = append(out, l[1:])
		}
	}
	return out
}

// becomes returns what a hunk makes of the lines that it is about. Those that stay, stay as they are in the file.
func (h hunk) becomes(have []string) []string {
	var out []string
	for _, l := range h.lines {
		switch l[0] {
		case '+':
			out = append(out, l[1:])
			continue
		case ' ':
			out = append(out, have[0])
		}
		have = have[1:]
	}
	return out
}

// apply makes the changes of a file, in order. A place must be clear: without an anchor it is the only one, with one it is
// the first behind it.
func (f file) apply(text string) (string, error) {
	ended := strings.HasSuffix(text, "\n") || text == ""
	have := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if text == "" {
		have = nil
	}
	var out []string
	at := 0
	for _, h := range f.hunks {
		old := h.old()
		i, err := h.find(have, at, old)
		if err != nil {
			return "", fmt.Errorf("patch %s: the change at line %d of the patch: %w", f.path, h.line, err)
		}
		out = append(append(out, have[at:i]...), h.becomes(have[i:i+len(old)])...)
		at = i + len(old)
	}
	out = append(out, have[at:]...)
	s := strings.Join(out, "\n")
	if ended && len(out) > 0 {
		s += "\n"
	}
	return s, nil
}

// find returns the line where a hunk applies, from a line on.
func (h hunk) find(have []string, from int, old []string) (int, error) {
	at := from
	for _, anchor := range h.anchors {
		found := -1
		for i := at; i < len(have) && found < 0; i++ {
			if strings.TrimSpace(have[i]) == anchor {
				found = i
			}
		}
		if found < 0 {
			return 0, fmt.Errorf("the line %q is not in the file%s. %s", anchor, behind(from), nearest(strings.Join(have, "\n"), anchor))
		}
		at = found + 1
		if len(old) > 0 && strings.TrimSpace(old[0]) == anchor {
			at = found // the anchor is said again
		}
	}
	if len(old) == 0 {
		switch {
		case h.end || len(have) == 0:
			return len(have), nil
		case len(h.anchors) == 0:
			return 0, errors.New("it only adds, and does not say where: give lines around it, or an anchor after @@")
		}
		return at, nil
	}
	if h.end {
		i := len(have) - len(old)
		if i < at || !equal(have[i:], old) {
			return 0, errors.New("its lines do not end the file. " + nearest(strings.Join(have, "\n"), strings.Join(old, "\n")))
		}
		return i, nil
	}
	var all []int
	for i := at; i+len(old) <= len(have) && len(all) < 6; i++ {
		if equal(have[i:i+len(old)], old) {
			all = append(all, i)
		}
	}
	switch {
	case len(all) == 0:
		return 0, fmt.Errorf("its lines are not in the file%s. %s", behind(at), nearest(strings.Join(have, "\n"), strings.Join(old, "\n")))
	case len(all) > 1 && len(h.anchors) == 0:
		return 0, fmt.Errorf("its lines are there more than once (lines %s): give more lines around it, or an anchor after @@", numbers(all))
	}
	return all[0], nil
}

func behind(line int) string {
	if line == 0 {
		return ""
	}
	return fmt.Sprintf(" from line %d on", line+1)
}

func equal(a, b []string) bool {
	for i := range b {
		if strings.TrimSuffix(a[i], "\r") != b[i] {
			return false
		}
	}
	return true
}

func numbers(all []int) string {
	out := make([]string, len(all))
	for i, n := range all {
		out[i] = fmt.Sprint(n + 1)
	}
	return strings.Join(out, ", ")
}
