//go:build unix

package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/approval"
	"hermes/internal/guard/checked"
	"hermes/internal/guard/paths"
	"hermes/internal/guard/scope"
	"hermes/internal/rigtest"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/sandboxtest"
	"hermes/internal/vectortest"
)

// The rows that are about tools on real files.
func TestVectors(t *testing.T) {
	type vector struct {
		ID, Kind, Path string
		Old            string            `json:"existing_content"`
		New            string            `json:"new_content"`
		Config         map[string]string `json:"config"`
		Expected       struct {
			Error json.RawMessage `json:"error_contains"`
		}
	}
	rows := 0
	for _, v := range vectortest.Rows[vector](t, "testdata/tools.jsonl") {
		top, err := filepath.EvalSymlinks(t.TempDir())
		ok(t, err)
		root := filepath.Join(top, "hermes")
		own := root
		if at := v.Config["HERMES_HOME"]; at != "" {
			own = strings.ReplaceAll(at, "{HERMES_ROOT}", root)
		}
		place := strings.NewReplacer("{HERMES_HOME}", own, "{HERMES_ROOT}", root, "{TMP}", top)
		w := New(Options{Home: top, Policy: paths.New(paths.Config{Homes: []string{top}, Hermes: []string{own, root}, Own: own})})
		n := Name{Path: place.Replace(v.Path), Dir: place.Replace(v.Config["TERMINAL_CWD"])}
		full := n.Path
		if !filepath.IsAbs(full) {
			full = filepath.Join(n.Dir, full)
		}
		ok(t, os.MkdirAll(filepath.Dir(full), 0o755))
		ok(t, os.WriteFile(full, []byte(v.Old), 0o600))
		if v.Kind == "read_file_tool" {
			_, err = w.Read(t.Context(), n)
		} else {
			_, err = w.Apply(t.Context(), Change{Name: n, Text: func(*File) (string, error) { return v.New, nil }})
		}
		var want []string
		if json.Unmarshal(v.Expected.Error, &want) != nil {
			var one string
			ok(t, json.Unmarshal(v.Expected.Error, &one))
			want = []string{one}
		}
		for _, part := range want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v, want %q", v.ID, err, part)
			}
		}
		if got, _ := os.ReadFile(full); string(got) != v.Old {
			t.Errorf("%s: the file holds %q", v.ID, got)
		}
		rows++
	}
	if rows != 2 {
		t.Errorf("%d rows", rows)
	}
}

// Whatever two texts are, their difference applied to one gives the other, and git reads it the same way.
func TestUnified(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	text := func() string {
		var b strings.Builder
		for range r.IntN(60) {
			b.WriteString([]string{"a", "b", "c", "", "x y"}[r.IntN(5)] + "\n")
		}
		s := b.String()
		if r.IntN(4) == 0 {
			s = strings.TrimSuffix(s, "\n")
		}
		return s
	}
	git, missing := exec.LookPath("git")
	if missing != nil && rigtest.Required() {
		rigtest.Need(t, "git")
	}
	for i := range 2000 {
		before, after := text(), text()
		if r.IntN(2) == 0 {
			lines := strings.SplitAfter(before, "\n")
			lines[r.IntN(len(lines))] = "changed\n"
			after = strings.Join(lines, "")
		}
		ops := edits(lines(before), lines(after))
		var old, now strings.Builder
		for _, o := range ops {
			if o.kind != '+' {
				old.WriteString(lines(before)[o.a])
			}
			if o.kind == '+' {
				now.WriteString(lines(after)[o.b])
			} else if o.kind == ' ' {
				now.WriteString(lines(before)[o.a])
			}
		}
		if old.String() != before || now.String() != after {
			t.Fatalf("%q to %q: %v", before, after, ops)
		}
		diff, _, _ := Unified("f", "f", before, after)
		if missing != nil || i%25 != 0 || diff == "" || before == "" || after == "" {
			continue
		}
		name := filepath.Join(t.TempDir(), "f")
		ok(t, os.WriteFile(name, []byte(before), 0o644))
		cmd := exec.Command(git, "apply", "-p0")
		cmd.Dir, cmd.Env = filepath.Dir(name), []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_DIR=" + filepath.Dir(name) + "/none"}
		cmd.Stdin = strings.NewReader(diff)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v %s\n%s", err, out, diff)
		}
		if got, _ := os.ReadFile(name); string(got) != after {
			t.Fatalf("git made %q of %q, want %q\n%s", got, before, after, diff)
		}
	}
	if missing != nil {
		t.Log("skipped in part: needs git")
	}
	big := strings.Repeat("a\n", 30_000)
	if _, added, deleted := Unified("f", "f", big, strings.Repeat("b\n", 30_000)); added != 30_000 || deleted != 30_000 {
		t.Errorf("+%d -%d", added, deleted)
	}
}

// What the matcher says is ignored is what git says.
func TestIgnoresAsGit(t *testing.T) {
	git := rigtest.Program(t, "git")
	b := newBench(t)
	run := func(stdin string, args ...string) string {
		cmd := exec.Command(git, args...)
		cmd.Dir, cmd.Stdin = b.work, strings.NewReader(stdin)
		cmd.Env = []string{"HOME=" + b.home, "GIT_CONFIG_NOSYSTEM=1", "PATH=" + os.Getenv("PATH")}
		out, _ := cmd.Output()
		return string(out)
	}
	run("", "init", "-q")
	b.put(b.path(".git/info/exclude"), "excluded\n")
	b.put(b.path(".gitignore"), "*.log\n!keep.log\n/top\nbuild/\ndoc/*.txt\n**/deep/x\na/**/z\nabc/**\n\\#odd\nspace \\ \n[ab].c\n[!ab].d\n# comment\n\n?q\n/sub/only\nhalf/\n!half/kept\n")
	b.put(b.path("sub/.gitignore"), "*.tmp\n!x.log\n/here\nin/side\n")
	var names []string
	for _, dir := range []string{"", "sub/", "sub/sub/", "a/", "a/b/c/", "doc/", "doc/w/", "deep/", "q/deep/", "abc/d/", "build/", "half/", "sub/in/", "a/z/"} {
		for _, base := range []string{"x.log", "keep.log", "top", "t.txt", "x", "z", "#odd", "a.c", "c.c", "a.d", "c.d", "1q", "only", "y.tmp", "here", "side", "kept", "excluded", "build2"} {
			if dir+base == "a/z" {
				continue // a directory here
			}
			names = append(names, dir+base)
			b.put(b.path(dir+base), "needle\n")
		}
	}
	ignored := strings.Split(run(strings.Join(names, "\n"), "-c", "core.quotePath=false", "check-ignore", "--stdin", "--no-index"), "\n")
	found, err := b.w.Find(t.Context(), Search{In: b.name("."), Pattern: regexp.MustCompile("needle")})
	ok(t, err)
	var got []string
	for _, h := range found.Hits {
		got = append(got, h.Path)
	}
	var want []string
	for _, name := range names {
		if !slices.Contains(ignored, name) {
			want = append(want, name)
		}
	}
	slices.Sort(want)
	if len(want) == len(names) || len(want) == 0 {
		t.Fatal("git ignores none, or all")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-git +ours\n%s", diff)
	}
	sub, err := b.w.Find(t.Context(), Search{In: b.name("sub"), Pattern: regexp.MustCompile("needle")})
	ok(t, err)
	n := 0
	for _, name := range want {
		if strings.HasPrefix(name, "sub/") {
			n++
		}
	}
	if len(sub.Hits) != n {
		t.Errorf("from below: %d, want %d", len(sub.Hits), n)
	}
}

// A sandbox's files: the rules hold for its homes, and what leads over a link is refused.
func TestInside(t *testing.T) {
	dir, err := checked.ParseWorkdir("/work")
	ok(t, err)
	fake := &sandboxtest.Fake{}
	box, err := fake.Open(t.Context(), sandbox.Spec{Workdir: dir})
	ok(t, err)
	defer box.Close(context.Background())
	w := New(Options{Home: "/root", Inside: boxed{box.(sandbox.Files)}, Policy: paths.New(paths.Config{Homes: []string{"/root", "/home/me"}})})
	set := func(path, text string) error {
		_, err := w.Apply(t.Context(), Change{Name: Name{Path: path, Dir: "/work"}, Text: func(*File) (string, error) { return text, nil }})
		return err
	}
	ok(t, set("a.txt", "one\r\n"))
	ok(t, set("a.txt", "two\n"))
	f, err := w.Read(t.Context(), Name{Path: "a.txt", Dir: "/work"})
	if err != nil || f.Text != "two\n" || !f.Form.CRLF || f.Path != "/work/a.txt" {
		t.Errorf("%+v, %v", f, err)
	}
	for _, path := range []string{"~/.ssh/id_rsa", "/home/me/.aws/credentials", "../root/.netrc"} {
		if got := ruleOf(set(path, "x")); got != "path/credentials" {
			t.Errorf("write %s: %s", path, got)
		}
		if _, err := w.Read(t.Context(), Name{Path: path, Dir: "/work"}); ruleOf(err) != "path/keys" {
			t.Errorf("read %s: %v", path, err)
		}
	}
	if err := set("link/x", "x"); !errors.Is(err, ErrLinks) {
		t.Errorf("over a link: %v", err)
	}
	if _, err := w.Apply(t.Context(), Change{Name: Name{Path: "a.txt", Dir: "/work"}, Remove: true}); !errors.Is(err, ErrRemove) {
		t.Errorf("remove: %v", err)
	}
	// Of two, the second of which cannot be written, the first is taken back.
	text := func(*File) (string, error) { return "three\n", nil }
	if _, err := w.Apply(t.Context(), Change{Name: Name{Path: "/work/a.txt"}, Text: text}, Change{Name: Name{Path: "/work/late"}, Text: text}); err == nil {
		t.Error("both passed")
	}
	if f, err := w.Read(t.Context(), Name{Path: "a.txt", Dir: "/work"}); err != nil || f.Text != "two\n" {
		t.Errorf("%+v, %v", f, err)
	}
}

// boxed adds a link and a file that cannot be finished to a sandbox in memory.
type boxed struct{ sandbox.Files }

func (b boxed) Stat(ctx context.Context, name string) (os.FileInfo, error) {
	switch name {
	case "/work/link":
		return os.Lstat("/proc/self")
	case "/work", "/root", "/home", "/home/me":
		return os.Lstat("/")
	}
	return b.Files.Stat(ctx, name)
}

type broken struct{ io.WriteCloser }

func (b broken) Close() error {
	return errors.Join(errors.New("the disk is full"), b.WriteCloser.Close())
}

func (b boxed) Create(ctx context.Context, name string, mode os.FileMode) (io.WriteCloser, error) {
	w, err := b.Files.Create(ctx, name, mode)
	if err == nil && name == "/work/late" {
		w = broken{w}
	}
	return w, err
}

type person struct {
	choice approval.Choice
	asked  []approval.Question
}

func (p *person) Prompt(_ context.Context, q approval.Question) (approval.Answer, error) {
	p.asked = append(p.asked, q)
	return q.Reply(p.choice), nil
}

// A person is asked each time, with the difference; what decides about Hermes is asked in every mode.
func TestDesk(t *testing.T) {
	b := newBench(t)
	profile, err := scope.ParseProfile("default")
	ok(t, err)
	session, err := scope.ParseSession(profile, "cli", "1")
	ok(t, err)
	for _, row := range []struct {
		path   string
		o      approval.Options
		choice approval.Choice
		asked  int
		passes bool
	}{
		{"~/.bashrc", approval.Options{}, approval.Session, 2, false},
		{"~/.bashrc", approval.Options{}, approval.Once, 2, true},
		{"~/.bashrc", approval.Options{}, approval.Deny, 2, false},
		{"~/.bashrc", approval.Options{YOLO: true}, approval.Deny, 0, true},
		{"~/.hermes/config.yaml", approval.Options{YOLO: true}, approval.Deny, 2, false},
		{"AGENTS.md", approval.Options{Mode: approval.Off}, approval.Once, 2, true},
	} {
		p := &person{choice: row.choice}
		b.w = New(Options{Policy: paths.New(b.config), Home: b.home, Ask: Desk(approval.New(row.o), approval.Request{
			Session: session, Presence: approval.Person, Prompter: p, Backend: "local",
		})})
		for i := range 2 {
			_, err := b.write(row.path, fmt.Sprintf("%d %d\n", row.choice, i))
			if (err == nil) != row.passes {
				t.Errorf("%s, %v: %v", row.path, row.choice, err)
			}
			if err != nil && (!strings.Contains(err.Error(), "file access") || strings.Contains(err.Error(), "this command")) {
				t.Errorf("%s: a file is called a command: %v", row.path, err)
			}
		}
		if len(p.asked) != row.asked {
			t.Errorf("%s: asked %d times", row.path, len(p.asked))
		}
		for _, q := range p.asked {
			if first, diff, _ := strings.Cut(q.Command, "\n"); !strings.HasPrefix(first, "write "+b.home) && !strings.HasPrefix(first, "write ") || !strings.Contains(diff, "@@") || q.Offers(approval.Session) {
				t.Errorf("%+v", q)
			}
		}
	}
}

// No line that matches is kept back by what is looked for first.
func TestSieve(t *testing.T) {
	for pattern, want := range map[string]string{
		"abc": "abc", "(?i)AbC": "abc", "a+bcd*": "bc", "(foo|bar)quux": "quux", "x?y": "y", "(ab){2,3}": "ab", "(ab){0,3}": "", "a|b": "",
		"^func (Open|Close)Root": "func ", "[a-z]+": "", "(?i)straße": "",
	} {
		if got := newSieve(regexp.MustCompile(pattern)); string(got.part) != want {
			t.Errorf("%s: %q, want %q", pattern, got.part, want)
		}
	}
	for _, row := range [][2]string{{"(?i)class", "claſs"}, {"(?i)kelvin", "\u212aelvin"}, {"(?i)ABC", "xaBcx"}, {"é+", "é"}, {"(?s)a.b", "a b"}, {"(?m)^b$", "b"}} {
		if got := matches(row[1], regexp.MustCompile(row[0]), newSieve(regexp.MustCompile(row[0])), 0); len(got) != 1 {
			t.Errorf("%s does not find %s", row[0], row[1])
		}
	}
}

// Names that differ only in case are judged as one where the directory takes them for one.
func TestFolds(t *testing.T) {
	b := newBench(t)
	b.put(b.path("x/Ab"), "")
	if err := os.Link(b.path("x/Ab"), b.path("x/aB")); err != nil && !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
	p, err := host{}.find(t.Context(), b.path("x/Ab"), true)
	ok(t, err)
	defer p.close()
	if !p.folds() {
		t.Error("one file under both names, and it does not fold")
	}
	policy := paths.New(b.config)
	s := paths.Subject{Access: paths.Read, Path: strings.ToUpper(b.home) + "/.SSH/ID_RSA"}
	if v := policy.Folded().Check(s); v.Rule != "path/keys" {
		t.Errorf("%+v", v)
	}
}
