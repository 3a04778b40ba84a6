package command

import (
	"strings"

	"hermes/internal/shell"
)

// Where secrets come from, and which words and pipes carry them.

// step counts the work of looking at command n among all, a sixteenth of following a pipe, and tells whether more may be
// spent. When all is spent, that is a finding of its own.
func (c *ctx) step(n int) bool {
	if n&15 == 0 {
		c.steps++
	}
	return c.steps <= maxSteps
}

// source tells whether the output of command i holds a secret.
func (c *ctx) source(i int) bool {
	cmd := c.cmd(i)
	switch name := c.name(i); name {
	case "":
		return false
	case "env":
		return len(c.line(i).operands) == 0
	case "printenv":
		w, ok := c.operand(i, 0)
		return !ok || secretName(w.Text)
	case "set":
		return len(cmd.Args) == 1
	case "export", "declare", "typeset":
		return len(cmd.Args) == 1 || len(cmd.Args) == 2 && (cmd.Args[1].Text == "-p" || cmd.Args[1].Text == "-x" || cmd.Args[1].Text == "-px" || cmd.Args[1].Text == "-xp")
	case "echo", "printf", "print":
		for _, w := range cmd.Args[1:] {
			if c.carriesVariable(w) {
				return true
			}
		}
		return false
	case "pbpaste", "wl-paste":
		return true
	case "xclip", "xsel":
		return startsWord(cmd.Args, "-o", "--output")
	case "ls", "stat", "test", "[", "file", "chmod", "chown", "ssh", "ssh-add", "ssh-keygen", "wc", "sha256sum", "md5sum", "sha1sum", "touch", "curl", "wget", "rm", "cd":
		return false
	case "find":
		return false
	}
	if c.emitsCredential(i) {
		return true
	}
	for _, w := range cmd.Args[min(1, len(cmd.Args)):] {
		if mayBePath(w) && c.fileSecret(w, cmd.Dir) {
			return true
		}
	}
	for _, r := range cmd.Redirs {
		if r.Op == "<" && c.fileSecret(r.Target, cmd.Dir) {
			return true
		}
	}
	return false
}

// fileSecret tells whether a word names a file that holds secrets.
func (c *ctx) fileSecret(w, dir shell.Word) bool {
	if w.Text == "" {
		return false
	}
	for _, t := range c.pathsIn(w, dir) {
		if !t.maybe && c.keepsSecret(t) {
			return true
		}
	}
	return false
}

// keepsSecret tells whether a target holds secrets, private history or accounts.
func (c *ctx) keepsSecret(t target) bool {
	if c.isCredential(t) || c.isHistory(t) {
		return true
	}
	if p, ok := c.below(t); ok && (under(p, ".ssh") || under(p, ".aws")) {
		return false // what isCredential leaves out holds no secret
	}
	return c.holdsSecret(t)
}

// copiedSecret tells whether a word names a file that an earlier command of the text filled with secrets.
func (c *ctx) copiedSecret(i int, w shell.Word) bool {
	var list []target
	for n := 0; n < i && c.step(n); n++ {
		switch c.name(n) {
		case "cp", "mv", "ln", "install", "tar", "git", "zip", "7z", "gpg", "cat", "base64", "tee", "env", "printenv", "gzip", "openssl", "dd", "xxd", "rsync", "mysqldump", "pg_dump", "sqlite3":
		default:
			if len(c.cmd(n).Redirs) == 0 {
				continue
			}
		}
		c.steps++
		if !c.source(n) && !c.packsHome(n) && !c.bundles(n) {
			if _, ok := c.upstream(n, (*ctx).sourceOf, 16); !ok {
				continue
			}
		}
		if list == nil {
			for _, t := range c.targets(w, c.cmd(i).Dir) {
				if !t.maybe && !t.blind {
					list = append(list, t)
				}
			}
			if list == nil {
				return false
			}
		}
		for _, made := range c.makes(n) {
			for _, t := range list {
				if t.path == made.path && made.path != "." {
					return true
				}
			}
		}
	}
	return false
}

func (c *ctx) sourceOf(i int) bool { return c.source(i) }

// makes returns the files command i makes: what it writes, and the archives it packs.
func (c *ctx) makes(i int) []target {
	out := c.writes(i)
	args := c.args(i)
	switch c.name(i) {
	case "tar", "bsdtar":
		for k, w := range args {
			if k > 0 && k+1 < len(args) && strings.HasSuffix(w.Text, "f") && (k == 1 || strings.HasPrefix(w.Text, "-")) {
				out = append(out, c.targets(args[k+1], c.cmd(i).Dir)...)
			}
		}
	case "zip", "7z":
		for _, w := range args[1:] {
			if w.Text != "" && w.Text[0] != '-' && w.Text != "a" {
				return append(out, c.targets(w, c.cmd(i).Dir)...)
			}
		}
	case "git":
		if c.bundles(i) {
			if w, ok := c.operand(i, 2); ok {
				out = append(out, c.targets(w, c.cmd(i).Dir)...)
			}
		}
	case "openssl", "gpg":
		for k, w := range args {
			if (w.Text == "-out" || w.Text == "-o" || w.Text == "--output") && k+1 < len(args) {
				out = append(out, c.targets(args[k+1], c.cmd(i).Dir)...)
			}
		}
	}
	return out
}

// carriesVariable tells whether a word holds the value, or a part, of a variable that is named like a secret.
func (c *ctx) carriesVariable(w shell.Word) bool {
	for _, h := range w.Holes {
		if (h.Kind == shell.Variable || h.Kind == shell.Computed) && leakName(h.Name) {
			return true
		}
	}
	return false
}

// leakName is secretName with the names of addresses that hold a password.
func leakName(name string) bool {
	switch name {
	case "DATABASE_URL", "REDIS_URL", "MONGO_URI", "MONGODB_URI", "MONGO_URL", "POSTGRES_URL", "AMQP_URL", "SENTRY_DSN", "CONNECTION_STRING", "DSN", "AZURE_STORAGE_CONNECTION_STRING":
		return true
	}
	return name == strings.ToUpper(name) && secretName(name) && !strings.HasPrefix(name, "#")
}

// carriesOutput tells whether a word holds the output of a command that prints secrets.
func (c *ctx) carriesOutput(w shell.Word) bool {
	for _, n := range w.From {
		if n >= 0 && n < len(c.prog.Commands) && c.source(n) {
			return true
		}
	}
	for _, h := range w.Holes {
		if h.Kind != shell.Output {
			continue
		}
		if file, ok := strings.CutPrefix(h.Name, "cat "); ok && !strings.ContainsAny(file, "|;&$`") && c.fileSecret(w.Lit(strings.Trim(file, `"'`)), shell.Word{Text: "."}) {
			return true
		}
	}
	return false
}

// carriesItem tells whether a word of command i holds a line of a file with secrets, by way of xargs or parallel.
func (c *ctx) carriesItem(i int, w shell.Word) bool {
	p := c.cmd(i).Parent
	if p < 0 || len(w.Holes) == 0 || c.name(p) != "xargs" && c.name(p) != "parallel" {
		return false
	}
	for _, h := range w.Holes {
		if h.Kind != shell.Item && h.Kind != shell.Output {
			continue
		}
		if c.listedItem(i, w) {
			return true
		}
		args := c.args(p)
		for k, a := range args {
			if (a.Text == "-a" || a.Text == "--arg-file" || a.Text == "::::") && k+1 < len(args) && c.fileSecret(args[k+1], c.cmd(p).Dir) {
				return true
			}
		}
		if _, ok := c.fed(p); ok {
			return true
		}
	}
	return false
}

// carriesSecret tells whether a word holds a secret in either way.
func (c *ctx) carriesSecret(w shell.Word) bool { return c.carriesVariable(w) || c.carriesOutput(w) }

// fed tells whether a secret reaches command i's standard input.
func (c *ctx) fed(i int) (span, bool) {
	for p := i; p >= 0; p = c.cmd(p).Parent {
		cmd := c.cmd(p)
		for _, r := range cmd.Redirs {
			switch r.Op {
			case "<":
				if c.fileSecret(r.Target, cmd.Dir) || c.copiedSecret(p, r.Target) || c.carriesOutput(r.Target) {
					return span{r.Start, r.End}, true
				}
			case "<<", "<<-", "<<<":
				if c.carriesSecret(r.Target) {
					return span{r.Start, r.End}, true
				}
			}
		}
		if cmd.Stdin != nil {
			if c.carriesVariable(shell.Word{Holes: cmd.Stdin.Holes}) {
				return c.whole(i), true
			}
			break
		}
	}
	if n, ok := c.upstream(i, (*ctx).sourceOf, 24); ok {
		return span{c.cmd(n).Start, max(c.cmd(n).End, c.cmd(i).End)}, true
	}
	return span{}, false
}

// operandsOf returns the words of command i that are neither options nor the values of the short options in valued.
func operandsOf(args []shell.Word, valued string) []shell.Word {
	var out []shell.Word
	for k := 1; k < len(args); k++ {
		t := args[k].Text
		if len(t) > 1 && t[0] == '-' {
			if t == "--" {
				return append(out, args[k+1:]...)
			}
			if t[1] != '-' && strings.IndexByte(valued, t[len(t)-1]) >= 0 {
				k++
			}
			continue
		}
		out = append(out, args[k])
	}
	return out
}

// bundles tells whether command i packs the repository with its history.
func (c *ctx) bundles(i int) bool {
	if c.name(i) != "git" {
		return false
	}
	verb, _ := c.operand(i, 0)
	what, _ := c.operand(i, 1)
	return verb.Is("bundle") && what.Is("create")
}
