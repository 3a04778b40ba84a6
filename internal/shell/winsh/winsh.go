// Package winsh reads cmd.exe and PowerShell text and says which commands it could run, and which of those need a person.
//
// It does not decide: what a hit means (ask, refuse, pass) is the caller's business, and so is text in any other shell,
// which comes back as a Payload. It looks at nothing outside the text: files, the registry and the real environment
// are not known here.
//
// Failure direction: what cannot be known is marked (Known false, Limit) and is never harmless.
package winsh

import "strings"

// Dialect is the language of a text.
type Dialect uint8

const (
	Cmd        Dialect = iota // cmd.exe, at the prompt or in a batch file
	PowerShell                // Windows PowerShell and pwsh
)

// Command is one command that a text could run. In PowerShell a method call with arguments counts as a command, named
// "[type]::method" or ".method".
type Command struct {
	Dialect Dialect
	Name    string    // lower case, without folder and .exe; PowerShell aliases folded to their cmdlet
	Raw     string    // as spelled
	Args    []string  // unquoted and expanded; what is not known is left as spelled
	Unknown []int     // indexes of Args that hold something not known, ascending
	Writes  []string  // targets of output redirections
	Known   bool      // false: the name is computed from something not in the text
	Pipe    bool      // output goes to the next command of the slice
	Sub     bool      // within ( ), $( ), { }
	Limit   bool      // reading stopped here: too deep or too much
	Nested  []Payload // programs in a program: what cmd /c, powershell -Command, iex, bash -c … would run

	Start, End int // byte span in the outermost text

	foreign bool     // named with a folder or an extension: may be anything
	piped   []string // text that is piped into a delete
	fed     bool     // something is piped in that no command in the list wrote
	remote  bool     // fed with text fetched from the network
	carried bool     // stands in a block that a powershell process runs
}

// Payload is program text that a command hands to an interpreter.
type Payload struct {
	Shell    string    // "cmd", "powershell", "sh", "bash", …; "exec" for a bare program with arguments
	Text     string    // decoded
	File     string    // the script file, when the program is not in the text
	Known    bool      // false: Text is incomplete or absent, Commands what could be read of it
	Encoded  bool      // came through -EncodedCommand
	Commands []Command // read for cmd, powershell and exec; spans are in the outermost text

	Start, End int // byte span in the outermost text
}

const (
	maxDepth = 48 // ( ), { } and $( ) within each other
	maxNest  = 8  // programs in programs
	maxValue = 1 << 16
)

// Parse lists the commands text could run, those inside others first, parts of one pipeline side by side. It never
// fails: what it cannot read is a Command that is not Known.
func Parse(d Dialect, text string) []Command {
	m := &machine{budget: 4*len(text) + maxValue}
	cmds := m.parse(d, text, origin{hi: len(text), exact: true}, nil)
	if m.unstable != nil {
		m.budget = 4*len(text) + maxValue
		cmds = m.parse(d, text, origin{hi: len(text), exact: true}, nil)
	}
	return cmds
}

// Argv is Parse for words that another shell has already taken apart; the command and all within it get the given span.
func Argv(args []string, start, end int) Command {
	n := 0
	for _, a := range args {
		n += len(a) + 1
	}
	m := &machine{budget: 4*n + maxValue}
	return m.argv(args, origin{lo: start, hi: end})
}

// machine holds what all parsers of one text share: the bounds.
type machine struct {
	budget int // bytes that expansion and nested programs may still produce
	nest   int

	// Variables that a block or loop may set again to something else: no value of theirs counts. Found in a first
	// reading, used in a second one.
	unstable map[string]bool
}

// changes notes that a variable has more than one value.
func (m *machine) changes(name string) {
	if m.unstable == nil {
		m.unstable = map[string]bool{}
	}
	m.unstable[name] = true
}

// spend takes n bytes from the budget, false when there is not enough.
func (m *machine) spend(n int) bool {
	if n > m.budget {
		m.budget = 0
		return false
	}
	m.budget -= n
	return true
}

func (m *machine) parse(d Dialect, text string, org origin, scope *scope) []Command {
	if d == Cmd {
		p := &cmdParser{m: m, src: text, org: org}
		p.sequence()
		return p.out
	}
	text, org = asciiPunctuation(text, org)
	if scope == nil {
		scope = newScope()
	}
	p := &psParser{m: m, src: text, org: org, scope: scope}
	p.statements(0)
	return p.out
}

// payload reads a nested program. at is the span of the command that carries it; src is the text at is in.
func (m *machine) payload(shell, text string, known bool, src string, at span, org origin, scope *scope) Payload {
	pl := Payload{Shell: shell, Text: text, Known: known}
	inner := org.within(src, at, text)
	pl.Start, pl.End = inner.lo, inner.hi
	if shell != "cmd" && shell != "powershell" && shell != "exec" {
		return pl
	}
	if m.nest >= maxNest || !m.spend(len(text)) {
		pl.Commands = []Command{{Raw: shell, Limit: true, Start: pl.Start, End: pl.End}}
		return pl
	}
	m.nest++
	defer func() { m.nest-- }()
	switch shell {
	case "cmd":
		pl.Commands = m.parse(Cmd, text, inner, nil)
	case "powershell":
		pl.Commands = m.parse(PowerShell, text, inner, scope)
	case "exec":
		if args := splitArgv(text); len(args) > 0 {
			pl.Commands = []Command{m.argv(args, origin{lo: inner.lo, hi: inner.hi})}
		}
	}
	return pl
}

func (m *machine) argv(args []string, org origin) Command {
	if len(args) == 0 {
		return Command{Start: org.lo, End: org.hi}
	}
	c := Command{Name: programName(args[0]), foreign: isForeign(args[0]), Raw: args[0], Args: args[1:], Known: args[0] != "", Start: org.lo, End: org.hi}
	if m.nest >= maxNest {
		c.Limit = true
		return c
	}
	m.nest++
	m.carry(&c, input{}, "", span{}, org, nil)
	m.nest--
	return c
}

type span struct{ lo, hi int }

// origin maps offsets of a nested text to the outermost one: exactly, or all to one span.
type origin struct {
	lo, hi int
	exact  bool
	table  []int32 // offsets before punctuation was made ASCII, nil when they are the same
}

func (o origin) at(s span) (int, int) {
	if !o.exact {
		return o.lo, o.hi
	}
	if o.table != nil {
		s.lo, s.hi = int(o.table[s.lo]), int(o.table[s.hi])
	}
	return o.lo + s.lo, o.lo + s.hi
}

// within is the origin of text that a command at span at carries: exact where it stands there letter by letter.
func (o origin) within(src string, at span, text string) origin {
	if o.exact && text != "" && at.hi <= len(src) {
		if i := strings.Index(src[at.lo:at.hi], text); i >= 0 {
			lo, hi := o.at(span{at.lo + i, at.lo + i + len(text)})
			if hi-lo == len(text) {
				return origin{lo: lo, hi: hi, exact: true}
			}
			return origin{lo: lo, hi: hi}
		}
	}
	lo, hi := o.at(at)
	return origin{lo: lo, hi: hi}
}

// programName folds a program's spelling: case, folder, extension.
func programName(raw string) string {
	n := strings.ToLower(strings.Trim(raw, `"' `))
	if i := strings.LastIndexAny(n, `\/`); i >= 0 && i+1 < len(n) {
		n = n[i+1:]
	}
	n = strings.TrimRight(n, ". ")
	for _, ext := range [...]string{".exe", ".com"} {
		if s, ok := strings.CutSuffix(n, ext); ok && s != "" {
			return s
		}
	}
	return n
}

// isForeign reports whether a name has a folder in front or an extension behind, so that it is not, or not surely, what it
// is called: .\Get-Date.ps1.
func isForeign(name string) bool {
	low := strings.ToLower(strings.Trim(name, `"'`))
	low = strings.TrimPrefix(low, `microsoft.powershell.management\`)
	low = strings.TrimPrefix(low, `microsoft.powershell.utility\`)
	if strings.ContainsAny(low, `\/`) {
		return true
	}
	stem, ext, ok := strings.Cut(low, ".")
	return ok && ext != "" && (ext != "exe" || strings.Contains(stem, "-"))
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isIdent(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' || c >= 0x80 }
