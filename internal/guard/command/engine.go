package command

import (
	"slices"
	"strings"
	"sync"

	"hermes/internal/guard"
	"hermes/internal/shell"
	"hermes/internal/shell/winsh"
)

// index finds the rules to try. It is built once, at the first verdict.
type index struct {
	rules  []Rule
	byName map[string][]int // rules for commands of that name
	any    []int            // rules for every command
	redir  []int
	write  []int
	assign []int
	load   []int
	note   []int
	text   []int
	win    []int
	spent  []int
}

var rules = sync.OnceValue(func() *index {
	x := &index{byName: make(map[string][]int)}
	for _, t := range tables() {
		x.rules = append(x.rules, t...)
	}
	for n := range x.rules {
		r := &x.rules[n]
		if r.Tier == guard.NoTier {
			r.Tier = guard.Danger
		}
		switch r.Match.on {
		case onRedirect:
			x.redir = append(x.redir, n)
		case onWrite:
			x.write = append(x.write, n)
		case onAssign:
			x.assign = append(x.assign, n)
		case onPayload:
			x.load = append(x.load, n)
		case onNote:
			x.note = append(x.note, n)
		case onWindows:
			x.win = append(x.win, n)
		case onSpent:
			x.spent = append(x.spent, n)
		case onText:
			x.text = append(x.text, n)
		default:
			if r.Match.names == nil {
				x.any = append(x.any, n)
			}
			for _, name := range r.Match.names {
				if list := x.byName[name]; len(list) == 0 || list[len(list)-1] != n {
					x.byName[name] = append(list, n)
				}
			}
		}
	}
	return x
})

// Rules returns all rules in table order, for documentation and tests. The caller must not change them.
func Rules() []Rule { return rules().rules }

// ctx is one text under judgement.
type ctx struct {
	prog  *shell.Program
	facts *Facts
	index *index
	names []string // the family of each command's program
	lines []*line  // options and operands of each command, as far as asked for
	found []hit
	judge func(p *shell.Program, f *Facts) []hit // judges a text of its own, such as a script

	notes  map[int][]int // notes by the command they concern; nil until asked for
	hermes int8          // whether the text speaks of hermes: 0 not looked yet, 1 yes, -1 no
	steps  int           // steps spent following pipes, bounded by maxSteps

	places map[string][]string // where paths lead, as far as asked for
	roots  [][2]string         // folders that rules know and that lie elsewhere, and where; nil until asked for

	windows     []winsh.Hit
	windowsDone bool
}

// hit is a finding with its place in table order.
type hit struct {
	guard.Finding
	rule int
	cmd  int // command it concerns, -1 for none
}

func (c *ctx) name(i int) string            { return c.names[i] }
func (c *ctx) cmd(i int) *shell.Command     { return &c.prog.Commands[i] }
func (c *ctx) args(i int) []shell.Word      { return c.prog.Commands[i].Args }
func (c *ctx) whole(i int) span             { return span{c.cmd(i).Start, c.cmd(i).End} }
func (c *ctx) payload(i int) *shell.Payload { return &c.prog.Payloads[i] }

// judge tries all rules that can apply and returns what they found, in table order.
func judge(p *shell.Program, f *Facts) []hit {
	x := rules()
	c := &ctx{prog: p, facts: f, index: x, lines: make([]*line, len(p.Commands)), names: make([]string, len(p.Commands)), judge: judge}
	for i := range p.Commands {
		name := p.Commands[i].Name
		if name == "" {
			name = lookedUp(p.Commands[i].Args)
		}
		c.names[i] = family(name)
	}
	for i := range p.Commands {
		cmd := &p.Commands[i]
		if !c.asksOnly(i) {
			c.try(x, x.byName[c.names[i]], i, i)
			c.try(x, x.any, i, i)
		}
		if len(cmd.Assigns) > 0 {
			c.try(x, x.assign, i, i)
		}
		redirected := slices.ContainsFunc(cmd.Redirs, shell.Redir.Writes)
		if redirected {
			c.try(x, x.redir, i, i)
		}
		if redirected || writer(c.names[i]) {
			c.try(x, x.write, i, i)
		}
	}
	for i := range p.Payloads {
		c.try(x, x.load, i, p.Payloads[i].Command)
	}
	for i := range p.Notes {
		if n := p.Notes[i].Command; n >= 0 && c.asksOnly(n) {
			continue
		}
		c.try(x, x.note, i, p.Notes[i].Command)
	}
	c.try(x, x.text, 0, -1)
	if len(c.windowsHits()) > 0 {
		c.try(x, x.win, 0, -1)
	}
	if c.steps > maxSteps {
		c.try(x, x.spent, 0, -1)
	}
	slices.SortStableFunc(c.found, func(a, b hit) int { return a.rule - b.rule })
	return c.found
}

// try tests the rules on part i, which belongs to command cmd.
func (c *ctx) try(x *index, list []int, i, cmd int) {
	for _, n := range list {
		r := &x.rules[n]
		s, ok := r.Match.test(c, i)
		if !ok {
			continue
		}
		c.add(r, n, s, cmd)
	}
}

// add records a finding once for each rule and tier: the first place in the text speaks for all.
func (c *ctx) add(r *Rule, n int, s span, cmd int) {
	h := hit{rule: n, cmd: cmd, Finding: guard.Finding{
		Tier: r.Tier, Rule: r.Key, Reason: r.Why, Remedy: r.Remedy, Harms: r.Harms, Sticky: r.Sticky,
		Start: s.start, End: s.end,
	}}
	if r.Say != nil {
		h.Reason = r.Say(c, cmd)
	}
	if cmd >= 0 {
		c.placed(&h.Finding, cmd)
	}
	for k := range c.found {
		if c.found[k].rule == n && c.found[k].Tier == h.Tier {
			c.found[k].Harms |= h.Harms
			return
		}
	}
	if s == (span{}) || s.start < 0 || s.end < s.start || s.end > len(c.prog.Text) {
		// No words are named, or words that expansion put out of order.
		h.Start, h.End = 0, len(c.prog.Text)
		if cmd >= 0 && c.cmd(cmd).Start < c.cmd(cmd).End && c.cmd(cmd).End <= len(c.prog.Text) {
			h.Start, h.End = c.cmd(cmd).Start, c.cmd(cmd).End
		}
	}
	if cmd >= 0 {
		h.Runs = c.runs(cmd)
	}
	c.found = append(c.found, h)
}

// runs returns the command as it would run, when that is not how the text spells it.
func (c *ctx) runs(i int) string {
	cmd := c.cmd(i)
	plain := cmd.How != "alias" && cmd.How != "function" // what a name stands for is not what the text says
	for _, w := range cmd.Args {
		plain = plain && w.Raw == w.Text
	}
	if plain || len(cmd.Args) == 0 {
		return ""
	}
	line := c.prog.Line(i)
	if len(line) > maxRuns {
		line = line[:maxRuns] + "…"
	}
	if cmd.Start >= 0 && cmd.End <= len(c.prog.Text) && cmd.Start <= cmd.End && strings.TrimSpace(c.prog.Text[cmd.Start:cmd.End]) == line {
		return ""
	}
	return line
}

const maxRuns = 400 // bytes of a command shown to a person

// notesOf returns the indices of the notes about command i.
func (c *ctx) notesOf(i int) []int {
	if c.notes == nil {
		c.notes = make(map[int][]int, len(c.prog.Notes))
		for k := range c.prog.Notes {
			n := c.prog.Notes[k].Command
			c.notes[n] = append(c.notes[n], k)
		}
	}
	return c.notes[i]
}

const maxSteps = 200_000

// placed changes a finding by where its command runs, if it does: what is only a guess is never on the floor, on another
// machine it harms that one, and in a container made for this command even the floor is a question.
func (c *ctx) placed(f *guard.Finding, i int) {
	if c.cmd(i).Guess && f.Tier == guard.Hardline {
		f.Tier = guard.Unknown
	}
	switch c.cmd(i).Place {
	case shell.Elsewhere:
		if f.Harms&guard.Host != 0 {
			f.Harms = f.Harms&^guard.Host | guard.Remote
		}
	case shell.Container:
		if f.Tier == guard.Hardline && c.disposable(i) {
			f.Tier = guard.Danger
		}
	}
}

// disposable tells whether the container that command i runs in is made for it and shares nothing with the host.
func (c *ctx) disposable(i int) bool {
	for p := c.cmd(i).Parent; p >= 0; p = c.cmd(p).Parent {
		switch c.name(p) {
		case "docker", "podman", "nerdctl":
		default:
			continue
		}
		made := false
		for _, w := range c.args(p)[1:] {
			switch {
			case w.Text == "run":
				made = true
			case !w.Known(), len(w.Text) > 1 && w.Text[0] == '-' && shares(w.Text):
				return false
			}
		}
		return made
	}
	return false
}

// shares tells whether an option of docker run gives the container a part of the host.
func shares(opt string) bool {
	switch name, _, _ := cut(opt, '='); name {
	case "-v", "--volume", "--mount", "--privileged", "--device", "--pid", "--volumes-from", "--cap-add", "--ipc":
		return true
	default:
		return len(name) > 2 && name[1] == 'v' && name[0] == '-'
	}
}
