package command

import (
	"strings"

	"hermes/internal/shell"
)

// line is an argv read by the option rules of its program.
type line struct {
	opts     []opt
	operands []int    // indices of the arguments that are neither options nor their values
	end      int      // index of "--", or the number of arguments
	unsure   bool     // some word could be an option and is not known
	targets  []target // of the operands, once asked for
	resolved bool
	writes   []target // what the command writes to, once asked for
	wrote    bool
}

// opt is one option as given: bundles are taken apart.
type opt struct {
	name  string     // "-r", "--recursive"
	value shell.Word // its value, attached or the next word
	has   bool       // whether it has one
	arg   int        // index of the word
}

// grammar says how a program reads its options.
type grammar struct {
	short string       // short options that take a value
	long  string       // long options that take the next word as their value, without the dashes, blanks between
	loose bool         // an option that is in none of the lists takes the next word, unless that looks like an option
	bools string       // with loose: the options that never do
	masks *[2]wordMask // of long and bools, for long command lines
	sub   bool         // the first operand is a subcommand with a grammar of its own
	posix bool         // options end at the first operand
	words bool         // long options have one dash (find, java, terraform, openssl)
	plus  bool         // words that start with + are options as well
}

// line returns the options and operands of command i, behind its program word.
func (c *ctx) line(i int) *line {
	if c.lines[i] == nil {
		args := c.args(i)
		if len(args) > 0 {
			args = args[1:]
		}
		g := grammarOf(c.name(i))
		l := readLine(args, g)
		if g.sub && len(l.operands) > 0 {
			l = l.under(args, c.name(i))
		}
		for k := range l.opts {
			l.opts[k].arg++
		}
		for k := range l.operands {
			l.operands[k]++
		}
		l.end++
		c.lines[i] = l
	}
	return c.lines[i]
}

// under reads what stands behind the subcommand by the subcommand's own grammar.
func (l *line) under(args []shell.Word, name string) *line {
	first := l.operands[0]
	s := readLine(args[first+1:], grammarOf(name+" "+args[first].Text))
	out := &line{opts: l.opts, operands: []int{first}, end: first + 1 + s.end, unsure: l.unsure || s.unsure}
	for _, o := range s.opts {
		o.arg += first + 1
		out.opts = append(out.opts, o)
	}
	for _, k := range s.operands {
		out.operands = append(out.operands, k+first+1)
	}
	return out
}

func readLine(args []shell.Word, g grammar) *line {
	l := &line{end: len(args)}
	if len(args) > manyArgs {
		g.masks = &[2]wordMask{maskOf(g.long), maskOf(g.bools)}
	}
	if n := dashed(args); n > 0 {
		l.opts = make([]opt, 0, n)
	}
	if n := len(args) - len(l.opts); n > 0 {
		l.operands = make([]int, 0, n)
	}
	for k := 0; k < len(args); k++ {
		w := args[k]
		t := w.Text
		switch {
		case t == "--" && len(w.Holes) == 0:
			l.end = k
			for k++; k < len(args); k++ {
				l.operands = append(l.operands, k)
			}
			return l
		case strings.HasPrefix(t, "--") && len(t) > 2 || g.words && len(t) > 1 && t[0] == '-':
			name, value, has := cut(t, '=')
			o := opt{name: name, arg: k, has: has}
			if has {
				o.value = w.Slice(len(t) - len(value))
			} else if k+1 < len(args) && g.takes(strings.TrimLeft(t, "-"), args[k+1]) {
				k++
				o.value, o.has = args[k], true
			}
			l.opts = append(l.opts, o)
		case len(t) > 1 && t[0] == '-' || g.plus && len(t) > 1 && t[0] == '+':
			k = l.bundle(args, k, g)
		default:
			if couldBeOption(w) {
				l.unsure = true
			}
			l.operands = append(l.operands, k)
			if g.posix {
				for k++; k < len(args); k++ {
					l.operands = append(l.operands, k)
				}
				return l
			}
		}
	}
	return l
}

// dashed counts the words that start with a dash.
func dashed(args []shell.Word) int {
	n := 0
	for k := range args {
		if t := args[k].Text; t != "" && t[0] == '-' {
			n += max(1, min(len(t)-1, 3))
		}
	}
	return n
}

// bundle takes the short options in args[k] apart and returns the index of the last word it used.
func (l *line) bundle(args []shell.Word, k int, g grammar) int {
	w := args[k]
	for b := 1; b < len(w.Text); b++ {
		if w.Text[b] == 0 {
			l.unsure = true
			continue
		}
		o := opt{name: w.Text[:1] + w.Text[b:b+1], arg: k}
		if strings.IndexByte(g.short, w.Text[b]) < 0 && (!g.loose || len(w.Text) > 2 || k+1 == len(args) || !g.takes(w.Text[b:], args[k+1])) {
			l.opts = append(l.opts, o)
			continue
		}
		if b+1 < len(w.Text) {
			o.value, o.has = w.Slice(b+1), true
		} else if k+1 < len(args) {
			k++
			o.value, o.has = args[k], true
		}
		l.opts = append(l.opts, o)
		break
	}
	return k
}

// couldBeOption tells whether a word's first piece is unknown and outside quotes, so that it may become anything.
func couldBeOption(w shell.Word) bool {
	return len(w.Holes) > 0 && w.Text[0] == 0 && !w.Holes[0].Quoted &&
		(w.Holes[0].Kind == shell.Variable || w.Holes[0].Kind == shell.Output || w.Holes[0].Kind == shell.Computed)
}

// listed tells whether name is one of the blank-separated words of list.
func listed(list, name string) bool {
	for name != "" {
		n := strings.Index(list, name)
		if n < 0 {
			return false
		}
		end := n + len(name)
		if (n == 0 || list[n-1] == ' ') && (end == len(list) || list[end] == ' ') {
			return true
		}
		list = list[end:]
	}
	return false
}

// wordMask tells quickly that a word is not in a list.
type wordMask [4]uint64

func maskOf(list string) (m wordMask) {
	for list != "" {
		var w string
		if w, list, _ = cut(list, ' '); w != "" {
			h := wordHash(w)
			m[h>>6] |= 1 << (h & 63)
		}
	}
	return m
}

func (m *wordMask) may(name string) bool {
	if name == "" {
		return false
	}
	h := wordHash(name)
	return m[h>>6]&(1<<(h&63)) != 0
}

func wordHash(s string) uint8 { return s[0]*31 + s[len(s)-1]*7 + uint8(len(s))*13 }

const manyArgs = 12 // from here on it pays to make masks

// takes tells whether an option without an attached value takes the word next.
func (g grammar) takes(name string, next shell.Word) bool {
	if (g.masks == nil || g.masks[0].may(name)) && listed(g.long, name) {
		return true
	}
	return g.loose && !((g.masks == nil || g.masks[1].may(name)) && listed(g.bools, name)) && (len(next.Text) < 2 || next.Text[0] != '-')
}

// cut splits at the first separator byte.
func cut(s string, sep byte) (before, after string, found bool) {
	if n := strings.IndexByte(s, sep); n >= 0 {
		return s[:n], s[n+1:], true
	}
	return s, "", false
}

// is tells whether the option is one of names. A long one may be given shortened, as getopt allows, down to three letters.
func (o opt) is(names ...string) bool {
	for _, n := range names {
		if o.name == n || len(o.name) > 4 && len(n) > len(o.name) && o.name[1] == '-' && strings.HasPrefix(n, o.name) {
			return true
		}
	}
	return false
}

// opt returns the last option of command i that is one of names.
func (c *ctx) opt(i int, names ...string) (opt, bool) {
	opts := c.line(i).opts
	for k := len(opts) - 1; k >= 0; k-- {
		if opts[k].is(names...) {
			return opts[k], true
		}
	}
	return opt{}, false
}

// operand returns the n-th operand of command i; ok is false when there is none.
func (c *ctx) operand(i, n int) (w shell.Word, ok bool) {
	l := c.line(i)
	if n >= len(l.operands) {
		return shell.Word{}, false
	}
	return c.args(i)[l.operands[n]], true
}

// operands returns the operands of command i.
func (c *ctx) operands(i int) []shell.Word {
	l := c.line(i)
	out := make([]shell.Word, len(l.operands))
	for k, n := range l.operands {
		out[k] = c.args(i)[n]
	}
	return out
}

// flag holds when the command is given one of the options, alone or in a bundle.
func flag(names ...string) match {
	return when(func(c *ctx, i int) (span, bool) {
		o, ok := c.opt(i, names...)
		if !ok {
			return span{}, false
		}
		return at(c.args(i)[o.arg]), true
	})
}

// sub holds when the command's first operands are the given words, options between them aside. A word may offer
// several spellings: "rm|remove".
func sub(words ...string) match {
	for k := range words {
		words[k] = "|" + words[k] + "|"
	}
	return when(func(c *ctx, i int) (span, bool) {
		l := c.line(i)
		if len(l.operands) < len(words) {
			return span{}, false
		}
		var where span
		for k, want := range words {
			w := c.args(i)[l.operands[k]]
			if w.Text == "" || len(w.Holes) > 0 || !strings.Contains(want, "|"+w.Text+"|") {
				return span{}, false
			}
			where = at(w)
		}
		return where, true
	})
}

// word holds when one of the operands is one of the words.
func word(words ...string) match {
	return when(func(c *ctx, i int) (span, bool) {
		for _, k := range c.line(i).operands {
			if w := c.args(i)[k]; len(w.Holes) == 0 && has(words, w.Text) {
				return at(w), true
			}
		}
		return span{}, false
	})
}

// asksOnly tells whether command i only prints help, a version, or what it would do.
func (c *ctx) asksOnly(i int) bool {
	args := c.args(i)
	if len(args) < 2 {
		return false
	}
	if carries(c.name(i)) {
		return c.helpOnly(i)
	}
	for k, w := range args[1:] {
		switch t := w.Text; {
		case len(t) < 2 || t[0] != '-' || len(w.Holes) > 0:
			if len(args) == 2 && t == "help" {
				return true
			}
			continue
		case t == "--":
			return false
		case t == "--version":
			if next := k + 2; next < len(args) && (len(args[next].Text) == 0 || args[next].Text[0] != '-') {
				continue // it takes that word as its value
			}
			return !c.taken(i, k+1)
		case t == "--help" || t == "--usage", t == "--dry-run", t == "--no-act",
			t == "--just-print", t == "--simulate", t == "--dry_run", t == "-WhatIf":
			return !c.taken(i, k+1)
		case strings.HasPrefix(t, "--dry-run="):
			return t != "--dry-run=none" && t != "--dry-run=false" && !c.taken(i, k+1)
		}
	}
	return false
}

// helpOnly tells whether a program that may carry another command is asked for help about a subcommand that carries none.
func (c *ctx) helpOnly(i int) bool {
	switch c.name(i) {
	case "docker", "podman", "nerdctl", "kubectl", "oc", "hermes":
	default:
		return false
	}
	for _, w := range c.args(i)[1:] {
		switch t := w.Text; {
		case t == "run" || t == "exec" || t == "create" || t == "debug" || t == "--" || len(w.Holes) > 0:
			return false
		case t == "--help" || t == "-h" && c.name(i) == "hermes":
			return true
		case strings.HasPrefix(t, "--dry-run") && t != "--dry-run=none" && t != "--dry-run=false":
			return true
		}
	}
	return false
}

// taken tells whether argument k of command i is another option's value.
func (c *ctx) taken(i, k int) bool {
	for _, o := range c.line(i).opts {
		if o.arg == k && strings.HasPrefix(c.args(i)[k].Text, o.name) {
			return false
		}
	}
	return true
}

// carries names the programs for which a help option may belong to what they run, or is none at all.
func carries(name string) bool {
	switch name {
	case "", "sudo", "doas", "su", "env", "command", "exec", "nohup", "setsid", "time", "nice", "timeout", "stdbuf",
		"ionice", "chrt", "taskset", "chroot", "xargs", "find", "parallel", "watch", "busybox", "toybox", "ssh",
		"docker", "podman", "nerdctl", "kubectl", "oc", "sh", "bash", "zsh", "ksh", "mksh", "dash", "ash", "fish",
		"python", "python3", "perl", "ruby", "node", "php", "lua", "eval", "source", ".", "trap", "echo", "printf",
		"nsenter", "unshare", "flatpak", "powershell", "pwsh", "cmd", "dd", "hermes", "test", "[":
		return true
	}
	return false
}
