package cli

import (
	"fmt"
	"strings"

	"hermes/internal/guard"
	"hermes/internal/screen"
	"hermes/internal/shell"
)

// program writes each command a text could run, who runs it, and what is not known of it.
func (p *page) program(prog *shell.Program, dir string) {
	if len(prog.Commands) == 0 {
		p.line("\nNo command found.")
	} else {
		p.line("\nCommands this text could run:")
	}
	for i := range prog.Commands {
		depth := len(prog.Chain(i))
		margin := fmt.Sprintf("%s%2d  %s", indent[:2], i+1, strings.Repeat("  ", min(depth, 8)))
		room := max(30, p.cols-len(margin))
		p.line(margin + screen.Clip(visible(prog.Line(i)), room, p.dots))
		for _, remark := range remarks(prog, i, dir) {
			p.line(strings.Repeat(" ", len(margin)+2) + screen.Clip(visible(remark), room-2, p.dots))
		}
	}
	for i := range prog.Payloads {
		if i == 0 {
			p.line("\nProgram text for interpreters:")
		}
		l := &prog.Payloads[i]
		p.line(fmt.Sprintf("%s%2d  %s %s: %s", indent[:2], l.Command+1, l.Lang, l.How, l.Report.Effects))
		p.line(indent + "  " + screen.Clip(visible(l.Text.Show()), max(30, p.cols-6), p.dots))
	}
	for i, n := range prog.Notes {
		if i == 0 {
			p.line("\nNotes:")
		}
		p.line(indent[:2] + screen.Clip(noteLine(n), max(30, p.cols-2), p.dots))
	}
}

// remarks says what a command's line does not show. dir is where the text as a whole would run.
func remarks(prog *shell.Program, i int, dir string) []string {
	c := &prog.Commands[i]
	place := shell.Here // of whoever runs it
	out := []string{}
	add := func(when bool, format string, args ...any) {
		if when {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	if c.Parent >= 0 {
		place = prog.Commands[c.Parent].Place
		add(true, "run by %d, %s (%s)", c.Parent+1, programName(&prog.Commands[c.Parent]), c.How)
	}
	add(c.Name == "" && len(c.Args) > 0, "which program this is cannot be known")
	for _, h := range holes(c.Args) {
		add(true, "not known: %s", h)
	}
	for _, w := range c.Args {
		add(w.Pattern != "", "the shell expands %s", w.Raw)
	}
	for _, a := range c.Assigns {
		add(true, "with %s=%s", a.Name, a.Value.Show())
	}
	for _, r := range c.Redirs {
		add(r.Writes(), "writes %s", r.Target.Show())
	}
	if c.Stdin != nil {
		for _, from := range c.Stdin.From {
			add(true, "reads the output of %d", from+1)
		}
		add(len(c.Stdin.From) == 0 && c.Stdin.Known(), "reads %d bytes from the text", len(c.Stdin.Text))
	}
	add(c.Dir.Text != "" && c.Dir.Text != "." && c.Dir.Text != dir, "in %s", c.Dir.Show())
	add(c.Place != place, "%s", placeName(c.Place))
	add(c.Looped, "once for each of many items")
	add(c.Deferred, "not now, but at a later event")
	add(c.Detached, "left running in the background")
	return out
}

func programName(c *shell.Command) string {
	if c.Name == "" {
		return "an unknown program"
	}
	return c.Name
}

// holes returns what is not known of the words, each once, in words for a person.
func holes(words []shell.Word) []string {
	out, seen := []string{}, map[shell.Hole]bool{}
	for _, w := range words {
		for _, h := range w.Holes {
			if h.Quoted = false; seen[h] {
				continue
			}
			seen[h] = true
			out = append(out, holeName(h))
		}
	}
	return out
}

func holeName(h shell.Hole) string {
	switch h.Kind {
	case shell.Variable:
		return "$" + h.Name + ", which the text does not set"
	case shell.Output:
		return "the output of " + h.Name
	case shell.Entry:
		return "a file name that " + nameOr(h.Name, "a pattern") + " stands for"
	case shell.Item:
		return "an item that arrives while it runs"
	}
	return "the result of " + nameOr(h.Name, "a computation")
}

func nameOr(name, instead string) string {
	if name == "" {
		return instead
	}
	return name
}

func placeName(p shell.Place) string {
	switch p {
	case shell.Root:
		return "as another user"
	case shell.Inside:
		return "in another root or namespace of this machine"
	case shell.Container:
		return "in a container"
	case shell.Elsewhere:
		return "on another machine"
	}
	return "here"
}

func noteLine(n shell.Note) string {
	line := noteName(n.Kind)
	if n.Text != "" {
		line += ": " + visible(n.Text)
	}
	if n.Command >= 0 {
		line += fmt.Sprintf(" (command %d)", n.Command+1)
	}
	return line
}

func noteName(k shell.NoteKind) string {
	switch k {
	case shell.TooLong:
		return "longer than is read"
	case shell.TooDeep:
		return "nested too deeply"
	case shell.TooMuch:
		return "too much to work out"
	case shell.Unparsed:
		return "cannot be read"
	case shell.ForkBomb:
		return "starts copies of itself without end"
	case shell.DynamicCode:
		return "code with unknown parts"
	case shell.DynamicWord:
		return "program not known"
	case shell.UnreadScript:
		return "script not read"
	case shell.Invisible:
		return "invisible characters"
	case shell.Bidi:
		return "characters that change the order of the text"
	case shell.Control:
		return "control characters"
	}
	return "note"
}

// explanation is --explain as JSON: the verdict's answer and what it rests on.
type explanation struct {
	verdictAnswer
	Commands []explained `json:"commands"`
	Notes    []string    `json:"notes"`
}

type explained struct {
	Line    string   `json:"line"`
	Name    string   `json:"name"`
	Parent  int      `json:"parent"` // index in commands, -1 for none
	How     string   `json:"how"`
	Known   bool     `json:"known"`
	Remarks []string `json:"remarks"`
	Start   int      `json:"start"`
	End     int      `json:"end"`
}

func explainAnswer(v guard.Verdict, prog *shell.Program, dir string) explanation {
	e := explanation{verdictAnswer: commandAnswer(nil, v), Commands: []explained{}, Notes: []string{}}
	for i := range prog.Commands {
		c := &prog.Commands[i]
		known := c.Name != ""
		for _, w := range c.Args {
			known = known && w.Known()
		}
		e.Commands = append(e.Commands, explained{
			Line: prog.Line(i), Name: c.Name, Parent: c.Parent, How: c.How, Known: known,
			Remarks: remarks(prog, i, dir), Start: c.Start, End: c.End,
		})
	}
	for _, n := range prog.Notes {
		e.Notes = append(e.Notes, noteLine(n))
	}
	return e
}
