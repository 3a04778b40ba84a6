package terminal

import (
	"fmt"
	"slices"

	"hermes/internal/sandbox"
	"hermes/internal/shell"
)

// exitText tells an exit code in words.
func exitText(code *int, meaning string) string {
	if code == nil {
		return "It has no exit code."
	}
	if meaning == "" {
		return fmt.Sprintf("exit code %d", *code)
	}
	return fmt.Sprintf("exit code %d (%s)", *code, meaning)
}

// meanings are the exit codes of programs that mean something else than a failure, or that say more than "failed".
var meanings = []struct {
	programs []string
	code     int
	text     string
}{
	{[]string{"grep", "egrep", "fgrep", "rg", "ag", "ack", "zgrep", "pgrep"}, 1, "nothing matched; no error"},
	{[]string{"diff", "cmp", "colordiff"}, 1, "they differ; no error"},
	{[]string{"test", "["}, 1, "it is not so; no error"},
	{[]string{"expr"}, 1, "the result is empty or 0; no error"},
	{[]string{"find"}, 1, "some places could not be read; the rest was"},
	{[]string{"which", "command", "type"}, 1, "there is no such program"},
	{[]string{"pytest"}, 1, "tests failed"},
	{[]string{"pytest"}, 5, "no tests were found"},
	{[]string{"make"}, 2, "a recipe failed"},
	{[]string{"curl"}, 6, "the host's name could not be resolved"},
	{[]string{"curl"}, 7, "the host could not be reached"},
	{[]string{"curl"}, 22, "the server answered with an error"},
	{[]string{"curl"}, 28, "it took too long"},
	{[]string{"curl", "wget"}, 5, "a name or a certificate could not be checked"},
	{[]string{"curl"}, 60, "the server's certificate is not trusted"},
	{[]string{"ssh"}, 255, "the connection failed, or the command there ended with 255"},
	{[]string{"timeout"}, 124, "it was ended after its time"},
}

// meaning says what an exit code means, "" where nothing is to be said.
func meaning(p *shell.Program, s sandbox.Status) string {
	name := deciding(p)
	for _, m := range meanings {
		if m.code == s.Code && slices.Contains(m.programs, name) {
			return m.text
		}
	}
	if name == "git" && s.Code == 1 && subcommand(last(p)) == "diff" {
		return "they differ; no error"
	}
	switch {
	case s.Signal != 0 || s.Code > 128 && s.Code <= 128+64:
		return signalText(s.Code - 128)
	case s.Code == 126:
		return "it cannot be executed, or its directory cannot be entered"
	case s.Code == 127:
		return "there is no such command"
	}
	return ""
}

func signalText(n int) string {
	names := map[int]string{
		1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL, an illegal instruction", 6: "SIGABRT, it gave up", 7: "SIGBUS", 8: "SIGFPE, a division by zero or the like",
		9: "SIGKILL, perhaps for too much memory", 11: "SIGSEGV, it crashed", 13: "SIGPIPE, nobody read its output", 15: "SIGTERM", 24: "SIGXCPU, too much processor time",
		25: "SIGXFSZ, a file too large", 31: "SIGSYS, a system call that the sandbox refuses",
	}
	if names[n] == "" {
		return fmt.Sprintf("ended by signal %d", n)
	}
	return fmt.Sprintf("ended by signal %d: %s", n, names[n])
}

// last returns the command whose exit code is the text's, nil if that cannot be told.
func last(p *shell.Program) *shell.Command {
	for i := len(p.Commands) - 1; i >= 0; i-- {
		if c := &p.Commands[i]; c.Parent < 0 && !c.Guess && !c.Deferred && !c.Detached {
			return c
		}
	}
	return nil
}

// deciding is the name of that command.
func deciding(p *shell.Program) string {
	if c := last(p); c != nil {
		return c.Name
	}
	return ""
}

// subcommand returns the first argument that is no option, nor an option's value as far as git has such.
func subcommand(c *shell.Command) string {
	for i := 1; i < len(c.Args); i++ {
		switch w := c.Args[i]; {
		case !w.Known():
			return ""
		case w.Text == "-C" || w.Text == "-c" || w.Text == "--git-dir" || w.Text == "--work-tree" || w.Text == "--prefix":
			i++
		case len(w.Text) > 0 && w.Text[0] != '-':
			return w.Text
		}
	}
	return ""
}
