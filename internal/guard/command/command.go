// Package command judges what a shell text would run: which commands run, which a person must be asked about, and
// which never run.
//
// It judges a shell.Program by tables of rules (see rule.go for how to add one); it does not read shell syntax (see
// shell), look at the machine (facts are arguments) or ask anyone (see approval).
//
// Layer 2 of 8. Failure direction: what cannot be known is an Ask.
package command

// Fact is the answer to a question about the machine. The zero value is no answer, and counts as the worse case.
type Fact uint8

// The answers.
const (
	NotKnown Fact = iota
	Yes
	No
)

// Facts are what a text is judged against. The zero value knows nothing and is safe to use.
type Facts struct {
	Home       string                                               // the owner's home directory
	HermesHome string                                               // Hermes' directory; empty means .hermes in the home directory
	Dir        string                                               // working directory the text starts in
	TempDir    string                                               // directory for temporary files; empty means /tmp
	Profile    string                                               // name of the profile this process runs as
	Supervised bool                                                 // this process is a gateway that a supervisor restarts
	Env        map[string]string                                    // variables known to be set
	File       func(path string) (text string, ok bool)             // text of a script file; may be nil
	Unread     bool                                                 // no script is ever read: they are files of another machine
	Resolve    func(path string) string                             // where a path lies, or would: links on its way are followed; may be nil
	Defined    func(name string, alias bool) (text string, ok bool) // as of shell.Options; may be nil
	Tracked    func(path string) Fact                               // whether git tracks a path; may be nil
	Ignored    func(path string) Fact                               // whether git ignores a path; may be nil
}

// Policy is what the owner has decided beyond the tables.
type Policy struct {
	Deny  []string // globs of commands that never run
	Allow []string // commands that need no question: exact texts, globs, or keys of rules
}
