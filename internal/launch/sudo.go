package launch

import (
	"bytes"
	"io"
	"path"
	"strings"
	"sync"

	"hermes/internal/secret"
	"hermes/internal/shell"
)

// sudoAsks are the options that let sudo read the password from its input, without a prompt.
const sudoAsks = " -S -p ''"

// withPassword lets the sudo commands that a text spells out read the password from standard input. It changes the text only
// behind the guard's back in one way: the options above. Nothing changes where sudo is not literally the program, where its
// input is something else, or where the shell would not find it as it is spelled.
func withPassword(p *shell.Program, password secret.String, stdin io.Reader) (string, io.Reader, int) {
	at := sudoWords(p)
	if len(at) == 0 {
		return p.Text, stdin, 0
	}
	var b strings.Builder
	from := 0
	for _, end := range at {
		b.WriteString(p.Text[from:end])
		b.WriteString(sudoAsks)
		from = end
	}
	b.WriteString(p.Text[from:])
	lines := io.Reader(strings.NewReader(strings.Repeat(password.Reveal()+"\n", len(at))))
	if stdin != nil {
		lines = io.MultiReader(lines, stdin)
	}
	return b.String(), lines, len(at)
}

// listener passes on what sudo says, and hears it when the password was wrong, if sudo says so in English; in other languages
// there is only its own message. It is safe for concurrent use.
type listener struct {
	w io.Writer

	mu    sync.Mutex // guards what follows, and the order of writes
	tail  []byte
	wrong bool
}

const sorry = "incorrect password attempt"

func (l *listener) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := append(l.tail, p...)
	l.wrong = l.wrong || bytes.Contains(seen, []byte(sorry))
	l.tail = append([]byte(nil), seen[max(0, len(seen)-len(sorry)+1):]...)
	return l.w.Write(p)
}

func (l *listener) heard() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wrong
}

// sudoWords returns where the words end that name sudo as a program, in order.
func sudoWords(p *shell.Program) []int {
	for _, n := range p.Notes {
		if n.Kind == shell.Unparsed {
			return nil
		}
	}
	var at []int
	for i := range p.Commands {
		c := &p.Commands[i]
		if !literalSudo(p, c) {
			continue
		}
		w := c.Args[0]
		if w.Raw == "" || w.End <= w.Start || w.End > len(p.Text) || p.Text[w.Start:w.End] != w.Raw {
			continue
		}
		if len(at) == 0 || w.End > at[len(at)-1] {
			at = append(at, w.End)
		}
	}
	return at
}

// literalSudo tells whether a command is sudo itself: typed at the top, or handed over by env.
func literalSudo(p *shell.Program, c *shell.Command) bool {
	if len(c.Args) < 2 || !c.Args[0].Known() || path.Base(c.Args[0].Text) != "sudo" || c.Stdin != nil || c.Guess || c.Deferred || c.Looped {
		return false
	}
	for _, r := range c.Redirs {
		if strings.HasPrefix(r.Op, "<") {
			return false
		}
	}
	if c.Parent < 0 {
		return true
	}
	by := &p.Commands[c.Parent]
	return by.Parent < 0 && by.Name == "env" && c.How == "argv" && by.Stdin == nil && plainEnv(by.Args[1:], c.Args[0])
}

// plainEnv tells whether env understands all that stands between its name and the program: with an option it does not know,
// it runs nothing.
func plainEnv(args []shell.Word, program shell.Word) bool {
	for i := 0; i < len(args); i++ {
		w := args[i].Text
		switch {
		case args[i].Start == program.Start:
			return true
		case !args[i].Known():
			return false
		case w == "-i", w == "-", w == "--", w == "--ignore-environment", strings.HasPrefix(w, "--unset="), strings.HasPrefix(w, "--chdir="):
		case w == "-u", w == "-C", w == "--unset", w == "--chdir":
			i++
		case strings.HasPrefix(w, "-u"), strings.HasPrefix(w, "-C"):
		case strings.HasPrefix(w, "-"), !strings.Contains(w, "="):
			return false
		}
	}
	return false
}
