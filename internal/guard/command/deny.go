package command

import (
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell"
)

// denyList holds the owner's globs, found by the literal bytes they start with.
type denyList struct {
	byPrefix map[string][]denyGlob
	sizes    uint16     // which prefix lengths occur, one bit each
	open     []denyGlob // globs that start with a metacharacter
}

// denyGlob is one entry of approvals.deny.
type denyGlob struct {
	source string
	glob   string // lower case
	need   string // the longest literal run, for globs that start with a metacharacter
	word   bool   // one bare word: the name of a program
	tail   bool   // "*word …": a program by the end of its path, with arguments
}

const prefixBytes = 12

func compileDeny(entries []string) denyList {
	var d denyList
	for _, e := range entries {
		g := denyGlob{source: e, glob: strings.ToLower(strings.TrimSpace(e))}
		if g.glob == "" {
			continue
		}
		n := strings.IndexAny(g.glob, "*?[")
		g.word = n < 0 && !strings.ContainsAny(g.glob, " \t/")
		if n == 0 {
			g.need, g.tail = longestLiteral(g.glob), byTail(g.glob)
			d.open = append(d.open, g)
			continue
		}
		if n < 0 {
			n = len(g.glob)
		}
		n = min(n, prefixBytes)
		if d.byPrefix == nil {
			d.byPrefix = make(map[string][]denyGlob)
		}
		d.byPrefix[g.glob[:n]] = append(d.byPrefix[g.glob[:n]], g)
		d.sizes |= 1 << n
	}
	return d
}

// any tells whether there is an entry at all.
func (d *denyList) any() bool { return d.byPrefix != nil || d.open != nil }

// byTail tells whether a glob reads "*word …": it means a program, wherever it is installed, not a mention of it.
func byTail(g string) bool {
	for k := 1; k < len(g); k++ {
		switch b := g[k]; {
		case b == ' ':
			return k > 1
		case b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '-' || b == '_' || b == '.':
		default:
			return false
		}
	}
	return false
}

func longestLiteral(g string) string {
	best := ""
	for len(g) > 0 {
		n := strings.IndexAny(g, "*?[")
		if n < 0 {
			n = len(g)
		}
		if n > len(best) {
			best = g[:n]
		}
		if n == len(g) {
			break
		}
		if g[n] == '[' {
			if end := classEnd(g, n); end > n {
				n = end
			}
		}
		g = g[n+1:]
	}
	return best
}

// match appends a finding when an entry matches the text or a command in it.
func (d *denyList) match(out []guard.Finding, p *shell.Program) []guard.Finding {
	if !d.any() {
		return out
	}
	raw := strings.ToLower(strings.TrimSpace(p.Text))
	if g := d.find(raw, true, false); g != nil {
		return append(out, denied(g, 0, len(p.Text)))
	}
	if s := squeeze(raw); s != raw {
		if g := d.find(s, true, false); g != nil {
			return append(out, denied(g, 0, len(p.Text)))
		}
	}
	for i := range p.Commands {
		if g := d.command(p, i); g != nil {
			return append(out, denied(g, p.Commands[i].Start, p.Commands[i].End))
		}
	}
	return out
}

// command tries every spelling of command i.
func (d *denyList) command(p *shell.Program, i int) *denyGlob {
	cmd := &p.Commands[i]
	if len(cmd.Args) == 0 {
		return nil
	}
	word := cmd.Args[0].Show()
	search := searches(cmd.Name)
	argv := joined(cmd.Args)
	tail := cmd.Tail
	if tail != "" && tail[0] != ' ' {
		tail = " " + tail
	}
	if g := d.find(strings.ToLower(argv), false, search); g != nil {
		return g
	}
	if tail != "" {
		if g := d.find(strings.ToLower(word+tail), false, search); g != nil {
			return g
		}
	}
	if name := base(word); name != word {
		if g := d.find(strings.ToLower(name+argv[len(word):]), false, search); g != nil {
			return g
		}
		if tail != "" {
			if g := d.find(strings.ToLower(name+tail), false, search); g != nil {
				return g
			}
		}
	}
	if cmd.Name == "" {
		return nil
	}
	if s, ok := unglobal(cmd); ok {
		if g := d.find(strings.ToLower(s), false, search); g != nil {
			return g
		}
	}
	return d.named(strings.ToLower(base(word)), cmd.Name)
}

// named returns the entry that is just the name of the program.
func (d *denyList) named(names ...string) *denyGlob {
	for _, name := range names {
		list := d.byPrefix[name[:min(len(name), prefixBytes)]]
		for k := range list {
			if list[k].word && list[k].glob == name {
				return &list[k]
			}
		}
	}
	return nil
}

// find returns the first entry that matches a candidate. whole means that the candidate is the text itself.
func (d *denyList) find(s string, whole, search bool) *denyGlob {
	for n := 1; n <= prefixBytes && n <= len(s); n++ {
		if d.sizes&(1<<n) == 0 {
			continue
		}
		list := d.byPrefix[s[:n]]
		for k := range list {
			if fnmatch(list[k].glob, s) {
				return &list[k]
			}
		}
	}
	for k := range d.open {
		g := &d.open[k]
		switch {
		case g.tail && whole, !strings.Contains(s, g.need):
		case g.tail && search:
			word, _, _ := cut(s, ' ')
			if fnmatch(g.glob, s) && strings.HasSuffix(word, g.glob[1:strings.IndexByte(g.glob, ' ')]) {
				return g
			}
		case fnmatch(g.glob, s):
			return g
		}
	}
	return nil
}

func denied(g *denyGlob, start, end int) guard.Finding {
	return guard.Finding{
		Tier: guard.UserDeny, Rule: g.source, Reason: "approvals.deny holds " + g.source,
		Remedy: "the owner refuses this: do not retry or rephrase it", Harms: guard.Host | guard.Work | guard.Remote | guard.Leak,
		Start: start, End: end, Sticky: true,
	}
}

// searches names the programs whose arguments are text to look for or to print.
func searches(name string) bool {
	switch name {
	case "grep", "egrep", "fgrep", "rg", "ag", "ack", "echo", "printf", "zgrep", "pcregrep":
		return true
	}
	return false
}

// joined returns an argv as one line, words bare.
func joined(args []shell.Word) string {
	var b strings.Builder
	for k, w := range args {
		if k > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.Show())
	}
	return b.String()
}

// unglobal returns a git command line without the options in front of the subcommand.
func unglobal(cmd *shell.Command) (string, bool) {
	if cmd.Name != "git" {
		return "", false
	}
	k := 1
	for k < len(cmd.Args) && strings.HasPrefix(cmd.Args[k].Text, "-") {
		if t := cmd.Args[k].Text; t == "-C" || t == "-c" || t == "--git-dir" || t == "--work-tree" || t == "--namespace" {
			k++
		}
		k++
	}
	if k == 1 || k >= len(cmd.Args) {
		return "", false
	}
	return "git " + joined(cmd.Args[k:]), true
}

// squeeze folds runs of blanks outside quotes into one space.
func squeeze(s string) string {
	if !strings.Contains(s, "  ") && !strings.ContainsAny(s, "\t\n\r\\") {
		return s
	}
	var b strings.Builder
	var quote byte
	for k := 0; k < len(s); k++ {
		ch := s[k]
		switch {
		case quote != 0:
			if ch == quote {
				quote = 0
			}
		case ch == '\'' || ch == '"':
			quote = ch
		case ch == '\\' && k+1 < len(s) && s[k+1] == '\n':
			k++
			continue
		case ch == ' ' || ch == '\t':
			if n := b.Len(); n > 0 && b.String()[n-1] == ' ' {
				continue
			}
			ch = ' '
		}
		b.WriteByte(ch)
	}
	return b.String()
}
