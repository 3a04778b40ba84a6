package scope_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/guard"
	"hermes/internal/guard/checked"
	"hermes/internal/guard/scope"
)

func profile(t testing.TB, name string) scope.Profile {
	t.Helper()
	p, err := scope.ParseProfile(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func session(t testing.TB, p, origin, key string) scope.Session {
	t.Helper()
	s, err := scope.ParseSession(profile(t, p), origin, key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func job(t testing.TB, p, id string) scope.Job {
	t.Helper()
	j, err := scope.ParseJob(profile(t, p), id)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestParse(t *testing.T) {
	rows := []struct{ kind, text, refusal string }{
		{"profile", "default", ""},
		{"profile", "work-2", ""},
		{"profile", "", "is empty"},
		{"profile", "Work", "lower-case"},
		{"profile", "..", "only letters"},
		{"profile", "a/b", "only letters"},
		{"profile", "-x", "must come first"},
		{"profile", "nul", "device"},
		{"profile", strings.Repeat("a", 65), "longer than 64"},
		{"key", "12345", ""},
		{"key", "dm:+49 170 1", ""},
		{"key", "../../etc", ""}, // a key is no path; its file name is
		{"key", "группа", ""},
		{"key", "", "is empty"},
		{"key", " a", "blank"},
		{"key", "a\n", "blank"},
		{"key", "a\nb", "invisible"},
		{"key", "a\x00b", "invisible"},
		{"key", "a\u202eb", "invisible"},
		{"key", "a\u200bb", "invisible"},
		{"key", "a\xff", "UTF-8"},
		{"key", strings.Repeat("k", 513), "longer than 512"},
		{"origin", "telegram", ""},
		{"origin", "tele.gram", "only letters"},
		{"origin", "", "is empty"},
		{"job", "Daily_report-2", ""},
		{"job", "a.b", "only letters"},
		{"job", "com1", "device"},
	}
	p := profile(t, "default")
	for _, r := range rows {
		var err error
		switch r.kind {
		case "profile":
			_, err = scope.ParseProfile(r.text)
		case "key":
			_, err = scope.ParseSession(p, "cli", r.text)
		case "origin":
			_, err = scope.ParseSession(p, r.text, "1")
		case "job":
			_, err = scope.ParseJob(p, r.text)
		}
		if (err == nil) != (r.refusal == "") || err != nil && !strings.Contains(err.Error(), r.refusal) {
			t.Errorf("%s %q: %v, want %q", r.kind, r.text, err, r.refusal)
		}
	}
}

// The two packages know nothing of each other, but a profile's name is one thing.
func TestNamesAreThoseOfChecked(t *testing.T) {
	for _, s := range []string{"default", "a_b", "Work", "a.b", "..", "", "-x", "_x", "con", "lpt9", "com0", "ä", "9", strings.Repeat("a", 64), strings.Repeat("a", 65)} {
		_, ours := scope.ParseProfile(s)
		_, theirs := checked.ParseProfileName(s)
		if (ours == nil) != (theirs == nil) {
			t.Errorf("profile %q: scope says %v, checked says %v", s, ours, theirs)
		}
		_, ours = scope.ParseJob(profile(t, "default"), s)
		_, theirs = checked.ParseJobID(s)
		if (ours == nil) != (theirs == nil) {
			t.Errorf("job %q: scope says %v, checked says %v", s, ours, theirs)
		}
	}
}

func TestFileNamesDiffer(t *testing.T) {
	all := []scope.Identity{
		profile(t, "default"), profile(t, "default-x"), profile(t, "con1"),
		session(t, "default", "cli", "1"), session(t, "default", "cli", "2"), session(t, "work", "cli", "1"),
		session(t, "default", "exec", "1"), session(t, "default", "cli", "A"), session(t, "default", "cli", "a"),
		session(t, "default", "cli", "a.b"), session(t, "default", "cli", "a_2eb"), session(t, "default", "cli", "a/b"),
		session(t, "default", "cli", `a\b`), session(t, "default", "cli", ".."), session(t, "default", "cli", "a:b"),
		session(t, "default", "cli", "ä"), session(t, "default", "cli", "a\u0308"),
		session(t, "default", "cli", strings.Repeat("x", 300)), session(t, "default", "cli", strings.Repeat("x", 301)),
		session(t, "default", "cli", strings.Repeat("Ü", 200)),
		job(t, "default", "1"), job(t, "default", "A"), job(t, "default", "a"), job(t, "default", "cli"), job(t, "work", "a"),
	}
	seen := map[string]scope.Identity{}
	for _, id := range all {
		name, err := id.FileName()
		if err != nil {
			t.Fatal(err)
		}
		if len(name) > 200 || strings.ContainsAny(name, "/\\:*?\"<>| ") || strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") {
			t.Errorf("%s: file name %q", id, name)
		}
		folded := strings.ToLower(name)
		if other, ok := seen[folded]; ok {
			t.Errorf("%s and %s share the file name %q", id, other, name)
		}
		seen[folded] = id
	}
}

func TestZeroIsNobody(t *testing.T) {
	p := profile(t, "default")
	for _, zero := range []scope.Identity{scope.Profile{}, scope.Session{}, scope.Job{}, nil} {
		if v := scope.Check(zero, p); v.Action != guard.Block || v.Rule != scope.RuleNobody {
			t.Errorf("%T may use a profile's things: %+v", zero, v)
		}
		if v := scope.Check(p, zero); v.Action != guard.Block {
			t.Errorf("a profile may use what is %T's", zero)
		}
		if zero == nil {
			continue
		}
		if name, err := zero.FileName(); !errors.Is(err, scope.ErrZero) {
			t.Errorf("%T has the file name %q", zero, name)
		}
		if b, err := json.Marshal(zero); err == nil {
			t.Errorf("%T was stored: %s", zero, b)
		}
	}
	if _, err := scope.ParseSession(scope.Profile{}, "cli", "1"); !errors.Is(err, scope.ErrZero) {
		t.Errorf("a session of no profile: %v", err)
	}
	if _, err := scope.ParseJob(scope.Profile{}, "a"); !errors.Is(err, scope.ErrZero) {
		t.Errorf("a job of no profile: %v", err)
	}
}

func TestOwnership(t *testing.T) {
	home, work := profile(t, "default"), profile(t, "work")
	a, b, other := session(t, "default", "cli", "1"), session(t, "default", "cli", "2"), session(t, "work", "cli", "1")
	j := job(t, "default", "nightly")
	rows := []struct {
		what          string
		caller, owner scope.Identity
		rule          string // "" = allowed
	}{
		{"its own", a, a, ""},
		{"its profile's", a, home, ""},
		{"another session's", a, b, scope.RuleOtherSession},
		{"the same key in another profile", a, other, scope.RuleOtherProfile},
		{"another profile's", a, work, scope.RuleOtherProfile},
		{"a job's", a, j, scope.RuleOtherJob},
		{"a job, a session's", j, a, scope.RuleOtherSession},
		{"a job, its profile's", j, home, ""},
		{"the profile, a session's", home, a, scope.RuleOtherSession},
	}
	for _, r := range rows {
		v := scope.Check(r.caller, r.owner)
		if (v.Action == guard.Allow) != (r.rule == "") || v.Rule != r.rule {
			t.Errorf("%s: %v %q, want %q", r.what, v.Action, v.Rule, r.rule)
		}
	}
}

func TestStoredAndReadBack(t *testing.T) {
	type stored struct {
		P scope.Profile
		S map[scope.Session]int
		J scope.Job
	}
	in := stored{profile(t, "work"), map[scope.Session]int{session(t, "work", "matrix", "!room:example.org 7"): 1}, job(t, "work", "Daily")}
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out stored
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	if out.P != in.P || out.J != in.J || !cmp.Equal(len(out.S), 1) {
		t.Errorf("read back %+v, want %+v", out, in)
	}
	for s := range in.S {
		if out.S[s] != 1 {
			t.Errorf("session %s was not read back: %v", s, out.S)
		}
	}
	for _, bad := range []string{`"session work cli"`, `"job work a"`, `"session Work cli 1"`, `"session work cli a\u0007"`, `""`} {
		var s scope.Session
		if err := json.Unmarshal([]byte(bad), &s); err == nil || !s.IsZero() {
			t.Errorf("%s was read as %s", bad, s)
		}
	}
}

func TestJobRuns(t *testing.T) {
	j := job(t, "default", "nightly")
	a, err := j.Session("1")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := j.Session("2")
	if a == b || a.Profile() != j.Profile() {
		t.Errorf("runs %s and %s of one job", a, b)
	}
	if v := scope.Check(a, j); v.Action != guard.Allow {
		t.Errorf("a run may not use its job's things: %+v", v)
	}
	if v := scope.Check(a, job(t, "default", "daily")); v.Rule != scope.RuleOtherJob {
		t.Errorf("a run, another job's: %+v", v)
	}
	if _, err := scope.ParseSession(profile(t, "default"), "job", "nightly/1"); err == nil {
		t.Error("a conversation passes for a run of a job")
	}
	var read scope.Session
	text, _ := a.MarshalText()
	if err := read.UnmarshalText(text); err != nil || read != a {
		t.Errorf("read back %s: %v", read, err)
	}
	if err := read.UnmarshalText([]byte("session default job a.b/1")); err == nil {
		t.Error("a run of an impossible job was read")
	}
	if _, err := (scope.Job{}).Session("1"); !errors.Is(err, scope.ErrZero) {
		t.Errorf("a run of no job: %v", err)
	}
}

func FuzzFileName(f *testing.F) {
	f.Add("a", "A")
	f.Add("a_2e", "a.")
	f.Add(strings.Repeat("x", 250), strings.Repeat("x", 251))
	p, err := scope.ParseProfile("default")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, err1 := scope.ParseSession(p, "cli", a)
		y, err2 := scope.ParseSession(p, "cli", b)
		if err1 != nil || err2 != nil {
			return
		}
		m, _ := x.FileName()
		n, _ := y.FileName()
		if (a == b) != strings.EqualFold(m, n) {
			t.Errorf("%q → %s, %q → %s", a, m, b, n)
		}
		if strings.ContainsAny(m, "/\\\x00") || len(m) > 200 {
			t.Errorf("%q → %q", a, m)
		}
	})
}
