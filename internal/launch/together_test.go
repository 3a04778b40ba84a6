package launch

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/approval"
	"hermes/internal/guard"
	"hermes/internal/sandbox"
)

// pair is a door through which several commands go at a time; they run until they are let go on, and do nothing.
type pair struct {
	*bench
	t    *testing.T
	door *Door
	at   *Place
	hold chan struct{}
	in   chan struct{} // gets one for each that has begun
}

func newPair(t *testing.T) *pair {
	b := newBench(t)
	p := &pair{bench: b, t: t, hold: make(chan struct{}), in: make(chan struct{}, 9)}
	b.box.fake = true
	b.box.do = func(_ context.Context, c sandbox.Command) {
		if strings.HasPrefix(c.Text, ": wait") {
			p.in <- struct{}{}
			<-p.hold
		}
	}
	b.policy.Facts.File = func(path string) (string, bool) {
		text, err := os.ReadFile(path)
		return string(text), err == nil
	}
	p.door = New(Options{Policy: func() (Policy, error) { return b.policy, nil }, Desk: approval.New(approval.Options{}), Log: b.log})
	p.at = b.place(t)
	p.write("evil.txt", "rm -rf ~\n")
	p.write("good.txt", "ls\n")
	return p
}

func (p *pair) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// run runs a command and returns why it did not run, "" if it did.
func (p *pair) run(c Call) string {
	p.t.Helper()
	c.Session, c.Place, c.Dir = testSession(p.t), p.at, p.dir
	c.Presence, c.Prompter = approval.Person, p.person
	r, err := p.door.Run(p.t.Context(), c)
	switch {
	case err != nil && !r.Ran:
		return err.Error()
	case err != nil:
		p.t.Fatal(err)
	case r.Refused():
		return r.Verdict.Reason
	}
	return ""
}

// beside runs a command while another one runs that waits.
func (p *pair) beside(waits string, do func()) {
	p.t.Helper()
	done := make(chan string)
	go func() { done <- p.run(Call{Text: waits}) }()
	select {
	case <-p.in:
	case why := <-done:
		p.t.Fatalf("%s did not run: %s", waits, why)
	}
	do()
	close(p.hold)
	if why := <-done; why != "" {
		p.t.Errorf("%s: %s", waits, why)
	}
}

// What a command would have another one run, which runs already and has not read it yet, is judged as if it ran it itself.
func TestScriptsMadeMeanwhile(t *testing.T) {
	for _, row := range []struct {
		runs, then string
		stopped    bool
	}{
		{": wait; bash later.sh", "echo 'rm -rf ~' > later.sh", true},
		{": wait; ./later.sh", "cp evil.txt later.sh && chmod +x later.sh", true},
		{": wait; . ./later.sh", "ln -s evil.txt later.sh", true},
		{": wait; sh d/later.sh", "mkdir d; mv evil.txt d/later.sh", true},
		{": wait; python3 later.py", "cat > later.py <<'E'\nimport shutil, os\nshutil.rmtree(os.path.expanduser('~'))\nE", true},
		{": wait; make", "printf 'all:\\n\\trm -rf ~\\n' > Makefile", true},
		{": wait; sh good.txt", "cat evil.txt > good.txt", true},
		{": wait; sh good.txt", "sed -i s/ls/rm/ good.txt", true},
		{": wait; cp evil.txt later.sh", "bash later.sh", true}, // the other way round
		{": wait; bash later.sh", "echo 'ls -l' > later.sh", false},
		{": wait; bash later.sh", "echo 'rm -rf ~' > other.txt", false},
		{": wait; cat later.sh", "echo 'rm -rf ~' > later.sh", false},
		{": wait; sh good.txt", "go test ./... && cp good.txt other.txt", false},
	} {
		p := newPair(t)
		p.beside(row.runs, func() {
			if why := p.run(Call{Text: row.then}); (why != "") != row.stopped {
				t.Errorf("%q while %q runs: stopped by %q", row.then, row.runs, why)
			}
		})
	}
}

// So is a file that a tool writes, by whatever name; and one that is being written counts for a command that begins.
func TestWriting(t *testing.T) {
	p := newPair(t)
	if err := os.Symlink("target.sh", filepath.Join(p.dir, "link.sh")); err != nil {
		t.Fatal(err)
	}
	says := func(name, text string) guard.Action {
		v, done := p.door.Writing([]string{filepath.Join(p.dir, name)}, text)
		done()
		return v.Action
	}
	p.beside(": wait; bash later.sh; sh link.sh", func() {
		for name, want := range map[string]guard.Action{"later.sh": guard.Block, "link.sh": guard.Block, "target.sh": guard.Block, "other.sh": guard.Allow} {
			if got := says(name, "rm -rf ~"); got != want {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
		p.write("target.sh", "ls")
		if got := says("target.sh", "rm -rf ~"); got != guard.Block {
			t.Errorf("where a link leads: %v", got)
		}
		if got := says("later.sh", "chmod 777 x"); got != guard.Ask {
			t.Errorf("what is asked about: %v", got)
		}
		if got := says("later.sh", "ls"); got != guard.Allow {
			t.Errorf("what is harmless: %v", got)
		}
	})
	if got := says("later.sh", "rm -rf ~"); got != guard.Allow {
		t.Errorf("after its end: %v", got)
	}
	_, done := p.door.Writing([]string{filepath.Join(p.dir, "later.sh")}, "rm -rf ~")
	if why := p.run(Call{Text: "bash later.sh"}); why == "" {
		t.Error("a script that is being written ran unread")
	}
	done()
	if why := p.run(Call{Text: "bash later.sh"}); why != "" {
		t.Error(why)
	}
}

// A script that is another one when the command begins is judged again.
func TestScriptsChangedMeanwhile(t *testing.T) {
	for text, runs := range map[string]bool{"rm -rf ~\n": false, "chmod 777 x\n": false, "ls -l\n": true} {
		p := newPair(t)
		p.person.choice, p.person.meanwhile = approval.Once, func() { p.write("good.txt", text) }
		told := false
		why := p.run(Call{Text: "git reset --hard; bash good.txt", Started: func(Started) { told = true }})
		if ran := len(p.box.ran) > 0; ran != runs || (why == "") != runs || told != runs {
			t.Errorf("changed to %q: ran %v, told of %v, %s", text, ran, told, why)
		}
	}
}

// What a person allows for it holds once: the text says less than what it does.
func TestFedIsAskedEachTime(t *testing.T) {
	p := newPair(t)
	p.person.choice = approval.Once
	p.beside(": wait; bash later.sh", func() {
		for range 2 {
			if why := p.run(Call{Text: "echo 'chmod 777 x' > later.sh"}); why != "" {
				t.Error(why)
			}
		}
	})
	if len(p.person.asked) != 2 || p.person.asked[0].Offers(approval.Session) || !strings.Contains(p.person.asked[0].Findings[0].Reason, "runs already") {
		t.Errorf("asked %+v", p.person.asked)
	}
}

// A path is judged where the links on its way lead, as they are when the command is judged.
func TestLinksThatAreThere(t *testing.T) {
	p := newPair(t)
	if why := p.run(Call{Text: "rm -rf build/*"}); why != "" {
		t.Error(why)
	}
	if err := os.Symlink(p.dir, filepath.Join(p.dir, "build")); err != nil {
		t.Fatal(err)
	}
	if why := p.run(Call{Text: "rm -rf build/*"}); why == "" || len(p.box.ran) != 1 {
		t.Errorf("what the home holds was deleted: %d commands ran", len(p.box.ran))
	}
}

// What a link leads to counts whether it is there yet or not, and a ring of links ends.
func TestResolve(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "a"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"l": "a", "dangling": "a/none", "far": filepath.Join(dir, "none/x"), "two": "dangling", "ring": "gnir", "gnir": "ring", "a/up": "../none"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"a": "a", "l/x": "a/x", "l/x/y/z": "a/x/y/z", "dangling": "a/none", "far": "none/x", "two": "a/none", "l/up": "none", "l/up/x": "none/x", "none": "none",
	} {
		if got := Resolve(filepath.Join(dir, name)); got != filepath.Join(dir, want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	Resolve(filepath.Join(dir, "ring/x"))
	if deep := filepath.Join(dir, "none", strings.Repeat("a/", 500_000)); Resolve(deep) != deep { // it takes a time that grows as its length does
		t.Error("a path of which nothing is there lies elsewhere")
	}
}
