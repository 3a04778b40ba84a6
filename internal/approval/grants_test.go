package approval

import (
	"errors"
	"testing"

	"hermes/internal/guard/command"
)

// What a lasting answer covers: shown, stored, and nothing beyond it.
func TestCovers(t *testing.T) {
	for _, row := range []struct {
		text, session, always string
	}{
		// Plain words: the pattern.
		{"docker restart web", "docker restart *", "docker restart *"},
		{"docker restart web db", "docker restart *", "docker restart *"},
		// Options: what one does, others would do as well. The text.
		{force, force, force},
		{"docker restart -t 5 web", "docker restart -t 5 web", "docker restart -t 5 web"},
		// Compound, or of a class that no pattern may cover: the text.
		{"docker restart web; docker restart db", "docker restart web; docker restart db", "docker restart web; docker restart db"},
		{"rm -rf .git", "rm -rf .git", "rm -rf .git"},
		{"git reset --hard", "git reset --hard", "git reset --hard"},
		// Wild characters mean themselves.
		{"rm -rf ../*.txt", "rm -rf ../*.txt", "rm -rf ../[*].txt"},
		// Spelled like the key of a rule: never for good, or it would cover the class.
		{"find -delete", "find -delete", ""},
		// Wild and compound: cannot be written exactly.
		{"rm -rf ../*.txt; ls", "rm -rf ../*.txt; ls", ""},
		// Asks every time.
		{"hermes config set a b", "", ""},
	} {
		p := &says{}
		New(Options{}).Decide(t.Context(), request(t, row.text, p, command.Policy{}))
		if len(p.asked) != 1 {
			t.Errorf("%s: asked %d times", row.text, len(p.asked))
			continue
		}
		c := p.asked[0].Covers
		if c.Session.Entry != row.session || c.Always.Entry != row.always {
			t.Errorf("%s: session %q, always %q; want %q, %q", row.text, c.Session.Entry, c.Always.Entry, row.session, row.always)
		}
	}
}

// What a person allows for a command of their own is not allowed to the agent, nor the other way round, however it is asked.
func TestGrantsOfOwnCommands(t *testing.T) {
	for _, text := range []string{"rm -rf .git", "docker restart web"} {
		for _, own := range []bool{true, false} {
			store := &memory{}
			d, p := New(Options{Store: store}), &says{choice: Always}
			r := request(t, text, p, command.Policy{})
			r.Own = own
			for range 2 {
				if got := d.Decide(t.Context(), r); !got.Allowed() {
					t.Fatalf("%s: %s", text, got.Outcome)
				}
			}
			if len(p.asked) != 1 || own && len(store.entries) > 0 {
				t.Errorf("%s, own %v: asked %d times; for good %q", text, own, len(p.asked), store.entries)
			}
			r = request(t, text, &says{}, command.Policy{Allow: store.entries})
			r.Own = !own
			if got := d.Decide(t.Context(), r); got.Allowed() && got.Outcome != Listed {
				t.Errorf("%s, granted with own %v: %s", text, own, got.Outcome)
			}
		}
	}
}

func TestGrantsHoldForWhatTheyShow(t *testing.T) {
	for _, row := range []struct {
		what, granted, next string
		covered             bool
	}{
		{"the same text", "rm -rf .git", "rm -rf .git", true},
		{"blanks around it", "rm -rf .git", " rm -rf .git ", true},
		{"another target", "rm -rf .git", "rm -rf .git ../x", false},
		{"the pattern", "docker restart web", "docker restart db", true},
		{"the pattern and another command", "docker restart web", "docker restart db; rm -rf .git", false},
		{"the pattern with a disguise", "docker restart web", "docker restart $(rm -rf .git)", false},
		{"the same program, another word", "docker restart web", "docker stop web", false},
		{"wild characters mean themselves", "rm -rf ../*.txt", "rm -rf ../a.txt", false},
		{"one script, another script", "python3 - <<E\nimport os\nos.system('id')\nE", "python3 - <<E\nimport os\nos.system('rm -rf ~')\nE", false},
	} {
		for _, choice := range []Choice{Session, Always} {
			store := &memory{}
			d, p := New(Options{Store: store}), &says{choice: choice}
			if got := d.Decide(t.Context(), request(t, row.granted, p, command.Policy{})); !got.Allowed() {
				t.Fatalf("%s: %s", row.what, got.Outcome)
			}
			r := request(t, row.next, &says{}, command.Policy{})
			if got := d.Decide(t.Context(), r); got.Allowed() != row.covered {
				t.Errorf("%s, %s: %s", row.what, choice, got.Outcome)
			}
			// And the next process, which has only the allow-list.
			r = request(t, row.next, &says{}, command.Policy{Allow: store.entries})
			if got := New(Options{}).Decide(t.Context(), r); choice == Always && got.Allowed() != row.covered && len(store.entries) > 0 {
				t.Errorf("%s, from the list %q: %s", row.what, store.entries, got.Outcome)
			}
		}
	}
}

func TestGrantsStayWhereTheyAre(t *testing.T) {
	d := New(Options{})
	r := request(t, "rm -rf .git", &says{choice: Session}, command.Policy{})
	d.Decide(t.Context(), r)
	denies := &says{}
	for what, alter := range map[string]func(*Request){
		"another session": func(r *Request) { r.Session = sessionOf(t, "two") },
		"another backend": func(r *Request) { r.Backend = "ssh" },
	} {
		next := r
		next.Prompter = denies
		alter(&next)
		if got := d.Decide(t.Context(), next); got.Allowed() {
			t.Errorf("%s: %s", what, got.Outcome)
		}
	}
	if g := d.Grants(r.Session); len(g) != 1 || g[0].Entry != "rm -rf .git" || g[0].Backend != "local" {
		t.Errorf("grants %+v", g)
	}
	if !d.Revoke(r.Session, "rm -rf .git") || d.Revoke(r.Session, "rm -rf .git") {
		t.Error("a grant is revoked once")
	}
	r.Prompter = denies
	if got := d.Decide(t.Context(), r); got.Allowed() {
		t.Errorf("after revoking: %s", got.Outcome)
	}
	r.Prompter = &says{choice: Session}
	d.Decide(t.Context(), r)
	d.End(r.Session)
	r.Prompter = denies
	if got := d.Decide(t.Context(), r); got.Allowed() {
		t.Errorf("after the session's end: %s", got.Outcome)
	}
}

func TestOnceKeepsNothing(t *testing.T) {
	store := &memory{}
	d, p := New(Options{Store: store}), &says{choice: Once}
	r := request(t, "rm -rf .git", p, command.Policy{})
	d.Decide(t.Context(), r)
	d.Decide(t.Context(), r)
	if len(p.asked) != 2 || d.Grants(r.Session) != nil || store.entries != nil {
		t.Errorf("asked %d times, kept %v %v", len(p.asked), d.Grants(r.Session), store.entries)
	}
}

func TestAlwaysWithoutAStoreHoldsForTheSession(t *testing.T) {
	for name, store := range map[string]Store{"none": nil, "broken": &memory{err: errors.New("disk full")}} {
		d, p := New(Options{Store: store}), &says{choice: Always}
		r := request(t, "rm -rf .git", p, command.Policy{})
		got := d.Decide(t.Context(), r)
		if !got.Allowed() || got.Warning == "" {
			t.Errorf("%s: %s, warning %q", name, got.Outcome, got.Warning)
		}
		if d.Decide(t.Context(), r); len(p.asked) != 1 {
			t.Errorf("%s: asked %d times", name, len(p.asked))
		}
	}
}
