// Package shell answers one question about a piece of shell text: which commands could it execute?
//
// It parses the text and evaluates what can be known without running anything: quotes, variables, expansions, functions,
// pipes of literal text into interpreters, launchers such as sudo or xargs. What cannot be known is marked, word by word,
// and stays in the answer. It does not judge (see guard/command), does not look at the machine (facts arrive as values),
// and does not claim that a command it names will run: the answer is a superset of what a real shell would do.
//
// Failure direction: a bound hit, a syntax it cannot read or a value it cannot know becomes a Note or a Hole, never
// silence.
package shell

import (
	"strings"

	"hermes/internal/shell/code"
)

// Unknown is the byte that stands in a Word's text for a piece that cannot be known. No argument can hold a NUL.
const Unknown = "\x00"

// Dialect is the shell language a text is written in. The zero value is Bash.
type Dialect uint8

// The dialects.
const (
	Bash Dialect = iota
	POSIX
	Mksh
	Zsh
)

// Options are the facts a text is evaluated against. The zero value knows nothing and is safe to use.
type Options struct {
	Dialect Dialect
	Home    string                                   // value of HOME; empty means the symbolic "~"
	Dir     string                                   // working directory at the start; empty means not known, relative paths stay relative
	Env     map[string]string                        // variables known to be set; all others are unknown
	Tails   bool                                     // fill Command.Tail, which only deny globs need
	Given   []string                                 // what programs of Python are given and does nothing by itself, as module.name
	File    func(path string) (text string, ok bool) // text of a script file, asked for absolute or start-relative clean paths; may be nil

	// Defined returns a function (as shell text that declares it) or an alias (what it stands for) that the shell has when the
	// text begins. It only adds to the answer: what the text would run without stays in it. nil: there are none.
	Defined func(name string, alias bool) (text string, ok bool)
}

// HoleKind says why a piece of a word is unknown.
type HoleKind uint8

// The kinds of holes.
const (
	Variable HoleKind = iota // a variable the text does not set
	Output                   // output of a command that was not evaluated
	Entry                    // a file name out of a directory: a glob or an item of find
	Item                     // an item that arrives over standard input or in a loop
	Computed                 // an arithmetic or string operation on something unknown
)

// Hole is one unknown piece of a word.
type Hole struct {
	Kind   HoleKind
	Name   string // variable name without the dollar sign, or the source of the substitution
	Quoted bool   // inside double quotes: it stays one word, and cannot vanish
	Set    bool   // cannot be empty: the text tests for that, as "${x:?}" does
}

// Word is one argument after evaluation.
type Word struct {
	Text    string // what is known; each hole is one Unknown byte
	Holes   []Hole // one for each Unknown byte in Text, in order
	Pattern string // the word as a glob pattern (literal metacharacters escaped) when the shell would expand it, else empty
	Raw     string // as spelled in the source, quotes included; empty for words that no source spells
	From    []int  // indices of the commands whose output the word holds, by command or process substitution
	Quoted  bool   // some part was quoted or escaped
	Start   int    // byte span in the judged text
	End     int
}

// Known tells whether every byte of the word is known and the shell would not expand it further.
func (w Word) Known() bool { return len(w.Holes) == 0 && w.Pattern == "" }

// Is tells whether the word is known to be exactly s.
func (w Word) Is(s string) bool { return w.Text == s && len(w.Holes) == 0 }

// Lit makes a known word that takes its span from another one.
func (w Word) Lit(text string) Word { return Word{Text: text, Start: w.Start, End: w.End} }

// Slice returns the word's text from byte i on, with the holes that remain, as a word of its own.
func (w Word) Slice(i int) Word {
	i = min(i, len(w.Text))
	out := Word{Text: w.Text[i:], From: w.From, Start: w.Start, End: w.End, Quoted: w.Quoted}
	if n := strings.Count(w.Text[:i], Unknown); n < len(w.Holes) {
		out.Holes = w.Holes[n:]
	}
	return out
}

// Empty returns the word's text as it would be if every hole were empty.
func (w Word) Empty() string { return strings.ReplaceAll(w.Text, Unknown, "") }

// Show returns the word for a person: holes appear as the variable or substitution they came from.
func (w Word) Show() string {
	if len(w.Holes) == 0 {
		return w.Text
	}
	var b strings.Builder
	n := 0
	for i := range len(w.Text) {
		if w.Text[i] != 0 {
			b.WriteByte(w.Text[i])
			continue
		}
		name := "…"
		if n < len(w.Holes) {
			name = w.Holes[n].show()
			n++
		}
		b.WriteString(name)
	}
	return b.String()
}

func (h Hole) show() string {
	switch {
	case h.Name == "":
		return "…"
	case h.Kind == Variable:
		return "$" + h.Name
	case h.Kind == Output:
		return "$(" + h.Name + ")"
	default:
		return h.Name
	}
}

// Redir is one redirection of a command.
type Redir struct {
	Op     string // as written: ">", ">>", ">|", "&>", "&>>", "<>", ">&", "<", "<<", "<<<", "<&"
	FD     string // the descriptor or {variable} in front of the operator; empty for the default
	Target Word
	Start  int
	End    int
}

// Writes tells whether the redirection opens its target for writing. Duplicating a descriptor does not.
func (r Redir) Writes() bool {
	switch r.Op {
	case ">", ">>", ">|", "&>", "&>>", "<>":
		return true
	case ">&":
		return !isDescriptor(r.Target.Text)
	}
	return false
}

func isDescriptor(s string) bool {
	s = strings.TrimSuffix(s, "-")
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// Assign is an assignment in front of a command, or one a launcher makes (env X=1 …).
type Assign struct {
	Name  string
	Value Word
}

// Place says where a command runs.
type Place uint8

// The places.
const (
	Here      Place = iota // this machine, as the owner
	Root                   // this machine, as another user (sudo, su, doas)
	Inside                 // another file system root or namespace on this machine (chroot, nsenter, unshare)
	Container              // a container (docker run, podman exec, kubectl exec)
	Elsewhere              // another machine (ssh)
)

// Input is what a command can read on its standard input.
type Input struct {
	Text  string // what is known; holes as in Word
	Holes []Hole
	From  []int // indices of the commands whose output it is; empty for a here-document or a file
}

// Known tells whether the whole input is known.
func (in *Input) Known() bool { return in != nil && len(in.Holes) == 0 }

// Command is one command the text could execute: a launcher and what it launches are two commands.
type Command struct {
	Name    string // lower-case base name of the program, ".exe" and the like cut off; empty when it cannot be known
	Args    []Word // argv, the program first
	Assigns []Assign
	Redirs  []Redir
	Stdin   *Input // nil when nothing is connected that the text knows of
	Dir     Word   // working directory: absolute, or relative to an unknown start directory ("." is the start itself); holes when unknown

	Parent   int    // index of the command that runs this one, -1 for none
	How      string // how the parent runs it: "argv", "-c", "stdin", "-exec", "alias", "function", "trap", …
	Place    Place
	Builtin  bool   // run by the shell itself, not looked up in PATH
	Deferred bool   // not run by the text itself: body of a function or trap that a later event would run
	Looped   bool   // runs once for each of many items
	Guess    bool   // perhaps only an argument: the parent is a program we do not know that may run it
	Reader   int    // index of the command that reads its output, -1 for none
	Detached bool   // left running in the background
	Tail     string // source text behind the program word, blanks outside quotes folded; only with Options.Tails

	Start int // byte span in the judged text
	End   int
}

// Payload is program text in another language that a command runs.
type Payload struct {
	Command int // index of the interpreter's command
	Lang    code.Lang
	Text    Word // the program text
	Report  code.Report
	How     string // "-c", "stdin", "file", …
	File    string // script file it came from, if any
}

// NoteKind says what could not be judged as it stands, or what the raw text carries.
type NoteKind uint8

// The kinds of notes.
const (
	TooLong      NoteKind = iota // more text than is read
	TooDeep                      // nested too deeply
	TooMuch                      // more words, commands or work than is spent
	Unparsed                     // the text, or a payload in it, has a syntax that cannot be read
	ForkBomb                     // a function starts copies of itself without end
	Spawning                     // a loop without end starts background jobs and never waits for them
	DynamicCode                  // text that is run as code has unknown pieces
	DynamicWord                  // the program to run cannot be known
	UnreadScript                 // a script file is run whose text is not known
	Invisible                    // zero-width or other characters that do not show
	Bidi                         // characters that change the order of what is shown
	Control                      // ANSI escapes, NUL or other control characters
)

// Note is something the answer does not hold, or could not rely on.
type Note struct {
	Kind    NoteKind
	Text    string // what it is about: the unknown name, the parser's words, the character
	Command int    // index of the command it concerns, -1 for none
	Start   int
	End     int
}

// Program is the answer: everything a text could execute.
type Program struct {
	Text     string // the text that was judged
	Commands []Command
	Payloads []Payload
	Notes    []Note
	Defined  []string // functions and aliases that the text takes from Options.Defined: it says less than what it does

	made *made // nil: it makes nothing of files
}

// Chain returns the indices of the commands that lead to command i, outermost first, without i itself.
func (p *Program) Chain(i int) []int {
	var chain []int
	for i = p.Commands[i].Parent; i >= 0; i = p.Commands[i].Parent {
		chain = append([]int{i}, chain...)
	}
	return chain
}

// Line returns command i's argv as one line for a person, quoted where a shell would need it.
func (p *Program) Line(i int) string { return Line(p.Commands[i].Args) }

// Line returns an argv as one line for a person.
func Line(args []Word) string {
	var b strings.Builder
	for i, w := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		s := w.Show()
		if s == "" || (w.Pattern == "" && strings.ContainsAny(s, " \t\n'\"\\;&|<>(){}*?[]$`#!")) && len(w.Holes) == 0 {
			s = "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
		}
		b.WriteString(s)
	}
	return b.String()
}
