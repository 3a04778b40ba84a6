package environ

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDeclare(t *testing.T) {
	rows := []struct{ path, name, want, refusal string }{
		{"google_token.json", "", "google_token.json", ""},
		{"", "token.json", "token.json", ""},
		{"creds/../token.json", "", "token.json", ""},
		{"./creds//oauth.json", "", "creds/oauth.json", ""},
		{"", "", "", "is empty"},
		{"/etc/passwd", "", "", "must be relative"},
		{"~/.ssh/id_rsa", "", "", "must be relative"},
		{`C:\x`, "", "", "must be relative"},
		{`\\server\x`, "", "", "must be relative"},
		{`..\..\x`, "", "", "leaves"},
		{"a/../../x", "", "", "leaves"},
		{"..", "", "", "leaves"},
		{".", "", "", "leaves"},
		{"a\x00b", "", "", "control"},
		// What Hermes holds for itself is not for sandboxes.
		{".env", "", "", "own"},
		{"sub/.env.prod", "", "", "own"},
		{"auth.json", "", "", "own"},
		{"AUTH.json", "", "", "own"},
		{"state.db-wal", "", "", "own"},
		{"profiles/work/token.json", "", "", "own"},
		{"config.yaml", "", "", "own"},
		{"creds/config.yaml", "", "creds/config.yaml", ""},
	}
	for _, r := range rows {
		f, err := Declare(r.path, r.name)
		if f.String() != r.want || (err == nil) != (r.refusal == "") || err != nil && !strings.Contains(err.Error(), r.refusal) {
			t.Errorf("%q %q: %q, %v", r.path, r.name, f, err)
		}
	}
}

func TestMount(t *testing.T) {
	f, err := Declare("token.json", "")
	if err != nil {
		t.Fatal(err)
	}
	rows := []struct {
		what    string
		fact    Fact
		refusal string
	}{
		{"there", Fact{Exists: true, Regular: true, Resolved: "/real/home/token.json"}, ""},
		{"a link inside", Fact{Exists: true, Regular: true, Resolved: "/real/home/a/b.json"}, ""},
		{"gone", Fact{}, "source not found"},
		{"a folder", Fact{Exists: true, Dir: true, Resolved: "/real/home/token.json"}, "ordinary file"},
		{"a link outside", Fact{Exists: true, Regular: true, Resolved: "/etc/shadow"}, "leads out"},
		{"a sibling", Fact{Exists: true, Regular: true, Resolved: "/real/home-2/token.json"}, "leads out"},
		{"dots", Fact{Exists: true, Regular: true, Resolved: "/real/home/../x"}, "leads out"},
		{"the home itself", Fact{Exists: true, Regular: true, Resolved: "/real/home"}, "leads out"},
		{"a link to what is Hermes' own", Fact{Exists: true, Regular: true, Resolved: "/real/home/.env"}, "own"},
		{"not known", Fact{Exists: true, Regular: true}, "leads out"},
	}
	for _, r := range rows {
		m, err := f.Mount("/home/u/.hermes", "/real/home", DefaultBase, r.fact)
		if (err == nil) != (r.refusal == "") || err != nil && !strings.Contains(err.Error(), r.refusal) {
			t.Errorf("%s: %v", r.what, err)
		}
		if err == nil && (m.Host != "/home/u/.hermes/token.json" || m.Inside != "/root/.hermes/token.json") {
			t.Errorf("%s: %+v", r.what, m)
		}
	}
	if _, err := (File{}).Mount("/h", "/h", DefaultBase, rows[0].fact); err == nil {
		t.Error("no file was mounted")
	}
	if _, err := f.Mount("/", "/", DefaultBase, rows[0].fact); err == nil {
		t.Error("the root passes for a home")
	}
}

func TestDirMounts(t *testing.T) {
	m := DirMount("/h/skills", "/i/skills", []Entry{
		{Path: "a.md", File: true}, {Path: "link", Link: true}, {Path: "link/secret.txt", File: true}, {Path: "d/b.md", File: true},
		{Path: "../x", File: true}, {Path: "pipe"},
	})
	if diff := cmp.Diff(Mount{Host: "/h/skills", Inside: "/i/skills", Copy: true, Only: []string{"a.md", "d/b.md"}}, m); diff != "" {
		t.Error(diff)
	}
	places := SkillPlaces("/h", DefaultBase, []string{"/x", "/y"})
	if places[2].Inside != "/root/.hermes/external_skills/1" || places[2].Host != "/y" {
		t.Errorf("%+v", places)
	}
}
