// Package code says what program text handed to an interpreter could do: which effects it could have, and which
// commands, paths and hosts it names.
//
// It never runs anything, knows nothing of the command line around the text (flags such as perl's -i are the
// caller's) and judges nothing. Harmlessness is decided by allow-lists: a name that is not known to be harmless
// makes the text Unknown.
//
// Failure direction: Unknown.
package code

import "strings"

// Lang is the language of a program text; the zero value is a language this package cannot read.
type Lang uint8

// The languages Scan reads.
const (
	Unlisted Lang = iota // not a language known here: every text is Unknown
	Python
	Perl
	Node
	Ruby
	PHP
	Lua
	R
	Awk
	Sed
	AppleScript
	SQL
	Vim
	Make
	Tcl
	langs
)

var langNames = [langs]string{"unlisted", "python", "perl", "node", "ruby", "php", "lua", "r", "awk", "sed",
	"applescript", "sql", "vim", "make", "tcl"}

func (l Lang) String() string {
	if l < langs {
		return langNames[l]
	}
	return langNames[Unlisted]
}

// Effect is a set of things a text could do.
type Effect uint16

// The effects. Read and Env alone change nothing outside the process.
const (
	Write   Effect = 1 << iota // creates or changes a file, a permission, a table
	Delete                     // removes a file, a table, rows
	Spawn                      // starts another program
	Connect                    // opens or serves a network connection
	Eval                       // runs code that is made while it runs
	Signal                     // signals other processes
	Import                     // loads code that is neither in the text nor in the standard library
	Read                       // reads a file
	Env                        // reads environment variables
	Unknown                    // something in it could not be understood
)

var effectNames = [...]string{"write", "delete", "spawn", "connect", "eval", "signal", "import", "read", "env", "unknown"}

func (e Effect) String() string {
	var names []string
	for i, name := range effectNames {
		if e&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, "|")
}

// Harmless reports whether nothing in the set can write, delete, spawn, connect, evaluate, signal, load foreign
// code or is unknown. Reading files and the environment is harmless in this sense.
func (e Effect) Harmless() bool { return e&^(Read|Env) == 0 }

// Report is what a text could do. Every program, path and host behind an effect is named by a Fragment, which may
// be unknown; where one could not even be located, Effects has Unknown.
type Report struct {
	Effects Effect
	Shell   []Fragment   // command lines handed to a shell
	Exec    [][]Fragment // argument vectors handed to the system
	Writes  []Fragment   // paths
	Deletes []Fragment   // paths
	Reads   []Fragment   // paths
	Hosts   []Fragment   // hosts or URLs
	SQL     []Statement  // SQL only
}

// Fragment is a string the text would build at run time. Each piece that cannot be known is one NUL byte in Text,
// and Known is then false. Start and End enclose the place in the scanned text it comes from.
type Fragment struct {
	Text       string
	Known      bool
	Start, End int
}

// Statement is one SQL statement. Verb is upper case; Object is the table or other thing named, quotes removed.
type Statement struct {
	Verb, Object string
	Where        bool
	Start, End   int
}

const (
	maxText   = 1 << 20 // longer texts are Unknown without being read
	maxDepth  = 40      // nesting of expressions and of code inside strings
	maxString = 1 << 16 // longest folded string
	unknown   = "\x00"
)

// Scan reports what program text in the given language could do. It never runs anything.
func Scan(lang Lang, text string) Report { return ScanGiven(lang, text, nil) }

// ScanGiven is Scan for a program of Python that runs where some names are given to it, as "module.name": calling them does
// nothing by itself.
func ScanGiven(lang Lang, text string, given []string) Report {
	s := scanner{lang: lang, src: text, budget: 3*len(text) + maxString, given: given}
	if len(text) > maxText {
		s.eff(Unknown)
		return s.rep
	}
	if strings.IndexByte(text, 0) >= 0 {
		s.eff(Unknown)
	}
	s.scan(lang, 0, len(text))
	return s.rep
}

// scan reads src[a:b] as a whole program.
func (s *scanner) scan(lang Lang, a, b int) {
	switch lang {
	case Python, Perl, Node, Ruby, PHP, Lua, R:
		s.program(a, b)
	case Awk:
		s.awk(a, b)
	case Sed:
		s.sed(a, b)
	case SQL:
		s.sql(a, b)
	case Vim:
		s.vim(a, b)
	case Make:
		s.makefile(a, b)
	case AppleScript:
		s.appleScript(a, b)
	case Tcl:
		s.tcl(a, b)
	default:
		if strings.TrimSpace(s.src[a:b]) != "" {
			s.eff(Unknown)
		}
	}
}

// inner scans code built at run time; what it finds is placed at the span of the expression that built it.
func (s *scanner) inner(lang Lang, code string, a, b int) {
	s.budget -= len(code)
	if s.nest >= 6 || s.budget < 0 || strings.Contains(code, unknown) {
		s.eff(Unknown)
		if s.nest >= 6 || s.budget < 0 {
			return
		}
	}
	in := scanner{lang: lang, src: code, nest: s.nest + 1, budget: s.budget}
	in.scan(lang, 0, len(code))
	s.budget = in.budget
	at := func(fs []Fragment) []Fragment {
		for i := range fs {
			fs[i].Start, fs[i].End = s.span(a, b)
		}
		return fs
	}
	s.eff(in.rep.Effects)
	s.rep.Shell = append(s.rep.Shell, at(in.rep.Shell)...)
	s.rep.Writes = append(s.rep.Writes, at(in.rep.Writes)...)
	s.rep.Deletes = append(s.rep.Deletes, at(in.rep.Deletes)...)
	s.rep.Reads = append(s.rep.Reads, at(in.rep.Reads)...)
	s.rep.Hosts = append(s.rep.Hosts, at(in.rep.Hosts)...)
	for _, argv := range in.rep.Exec {
		s.rep.Exec = append(s.rep.Exec, at(argv))
	}
	for _, q := range in.rep.SQL {
		q.Start, q.End = s.span(a, b)
		s.rep.SQL = append(s.rep.SQL, q)
	}
}
