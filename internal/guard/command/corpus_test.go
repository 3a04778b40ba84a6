package command

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes/internal/guard"
	"hermes/internal/vectortest"
)

// The two corpora hold the line between safety and needless questions: what must be asked about or refused, and what must
// pass. They were written without a look at the rules. See the README in each folder.

type corpusRow struct {
	Command string            `json:"command"`
	Kind    string            `json:"kind"`
	Class   string            `json:"class"`
	Expect  string            `json:"expect"` // the least that must happen to a harmful row: "ask" or "deny"
	Note    string            `json:"note"`
	Dir     string            `json:"cwd"`
	Home    string            `json:"home"`
	Env     map[string]string `json:"env"`
	Files   map[string]string `json:"files"`
	Tracked []string          `json:"tracked"`
	Ignored []string          `json:"ignored"`
}

func (r corpusRow) facts() Facts {
	within := func(list []string) func(string) Fact {
		return func(path string) Fact {
			for _, p := range list {
				if path == p || strings.HasPrefix(path, strings.TrimSuffix(p, "/")+"/") ||
					r.Dir != "" && strings.HasPrefix(path+"/", r.Dir+"/"+strings.TrimSuffix(p, "/")+"/") {
					return Yes
				}
			}
			return No
		}
	}
	f := Facts{Home: r.Home, Dir: r.Dir, Env: r.Env, File: func(path string) (string, bool) {
		text, ok := r.Files[path]
		return text, ok
	}}
	if len(r.Tracked)+len(r.Ignored) > 0 {
		f.Tracked, f.Ignored = within(r.Tracked), within(r.Ignored)
	}
	return f
}

func corpus(t testing.TB, folder string) (rows []corpusRow) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "corpus", folder, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus in %s: %v", folder, err)
	}
	for _, name := range files {
		rows = append(rows, vectortest.Rows[corpusRow](t, name)...)
	}
	return rows
}

// tally counts rows and failures by kind, and prints both with -v.
type tally struct {
	t      *testing.T
	counts map[string][2]int
	failed int
	all    int
}

func (c *tally) row(kind string, ok bool, format string, args ...any) {
	if c.counts == nil {
		c.counts = map[string][2]int{}
	}
	n := c.counts[kind]
	n[0]++
	c.all++
	if !ok {
		n[1]++
		c.failed++
		c.t.Logf(kind+": "+format, args...)
	}
	c.counts[kind] = n
}

func (c *tally) table() string {
	var b strings.Builder
	kinds := []string{}
	for k := range c.counts {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	for _, k := range kinds {
		fmt.Fprintf(&b, "%-20s %5d %5d\n", k, c.counts[k][0], c.counts[k][1])
	}
	fmt.Fprintf(&b, "%-20s %5d %5d  %.2f %%\n", "all", c.all, c.failed, 100*float64(c.failed)/float64(max(1, c.all)))
	return b.String()
}

// Everyday commands pass: at most 1 in 100 asks, and none is refused.
func TestEverydayCommandsPass(t *testing.T) {
	c := &tally{t: t}
	for _, r := range corpus(t, "everyday") {
		v := Policy{}.Check(r.Command, r.facts())
		c.row(r.Kind, v.Action == guard.Allow, "%v %v %q: %s", v.Action, v.Tier, v.Rule, r.Command)
		if v.Action == guard.Block {
			t.Errorf("%s is refused (%s): %s", r.Kind, v.Rule, r.Command)
		}
	}
	t.Logf("kind, rows, needless asks\n%s", c.table())
	if c.all < 2000 {
		t.Errorf("only %d rows", c.all)
	}
	if c.failed*100 > c.all {
		t.Errorf("%d of %d everyday commands are asked about", c.failed, c.all)
	}
}

// Harmful commands are asked about or refused: at least 99 in 100, and what is on the floor is refused.
func TestHarmfulCommandsAreCaught(t *testing.T) {
	caught, floor := &tally{t: t}, &tally{t: t}
	for _, r := range corpus(t, "harmful") {
		v := Policy{}.Check(r.Command, r.facts())
		caught.row(r.Class, v.Action != guard.Allow, "allowed: %s", r.Command)
		if r.Expect == "deny" {
			floor.row(r.Class, v.Action == guard.Block, "%v %v %q, not refused: %s", v.Action, v.Tier, v.Rule, r.Command)
		}
	}
	t.Logf("class, rows, missed\n%s", caught.table())
	t.Logf("class, rows of the floor, not refused\n%s", floor.table())
	if caught.all < 800 {
		t.Errorf("only %d rows", caught.all)
	}
	if caught.failed*100 > caught.all {
		t.Errorf("%d of %d harmful commands pass", caught.failed, caught.all)
	}
	if floor.failed*100 > floor.all {
		t.Errorf("%d of %d commands of the floor are only asked about", floor.failed, floor.all)
	}
}
