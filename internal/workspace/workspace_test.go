//go:build unix

package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"hermes/internal/guard"
	"hermes/internal/guard/paths"
)

// bench is a home with a work tree and a few secrets.
type bench struct {
	*testing.T
	home, work string
	asked      []Question
	grant      bool
	w          *Workspace
	config     paths.Config
}

func newBench(t *testing.T, change ...func(*paths.Config)) *bench {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	ok(t, err)
	b := &bench{T: t, home: filepath.Join(top, "home"), work: filepath.Join(top, "home", "work")}
	for name, text := range map[string]string{
		".ssh/id_rsa": "KEY", ".ssh/config": "Host a\n", ".bashrc": "alias l=ls\n", ".netrc": "machine x password y\n",
		".hermes/auth.json": "{}\n", ".hermes/config.yaml": "a: 1\n", "work/a.txt": "one\ntwo\n", "work/.env": "TOKEN=1\n",
	} {
		b.put(filepath.Join(b.home, name), text)
	}
	own := filepath.Join(b.home, ".hermes")
	b.config = paths.Config{Homes: []string{b.home}, Hermes: []string{own}, Own: own, Teachers: true}
	for _, f := range change {
		f(&b.config)
	}
	b.w = New(Options{Policy: paths.New(b.config), Home: b.home, Ask: func(_ context.Context, q Question) (bool, string, error) {
		b.asked = append(b.asked, q)
		return b.grant, "", nil
	}})
	return b
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (b *bench) put(name, text string) {
	b.Helper()
	ok(b.T, os.MkdirAll(filepath.Dir(name), 0o755))
	ok(b.T, os.WriteFile(name, []byte(text), 0o644))
}

func (b *bench) name(path string) Name {
	return Name{Path: strings.ReplaceAll(path, "$HOME", b.home), Dir: b.work}
}

func (b *bench) write(path, text string) ([]Done, error) {
	return b.w.Apply(b.Context(), Change{Name: b.name(path), Text: func(*File) (string, error) { return text, nil }})
}

func (b *bench) want(path, text string) {
	b.Helper()
	got, err := os.ReadFile(b.path(path))
	if err != nil && text != "" || string(got) != text {
		b.Errorf("%s holds %q (%v), want %q", path, got, err, text)
	}
}

func (b *bench) path(path string) string {
	path = strings.ReplaceAll(path, "$HOME", b.home)
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.work, path)
	}
	return path
}

// Links are made as {name: target}; what is read or written through them is judged by where it leads, and by every name.
func TestNames(t *testing.T) {
	for _, row := range []struct {
		name      string
		link      [2]string // name, target
		hard      [2]string
		path      string
		read, set string // rule that refuses; "" passes; "ask": asked
		kept      string // must hold what it held
	}{
		{name: "ordinary", path: "a.txt"},
		{name: "new", path: "deep/er/b.txt", read: "missing"},
		{name: "tilde", path: "~/.ssh/id_rsa", read: "path/keys", set: "path/credentials", kept: "$HOME/.ssh/id_rsa"},
		{name: "dots", path: "../.ssh/id_rsa", read: "path/keys", set: "path/credentials", kept: "$HOME/.ssh/id_rsa"},
		{name: "dots over what is not there", path: "no/such/../../../.ssh/id_rsa", read: "path/keys", set: "path/credentials", kept: "$HOME/.ssh/id_rsa"},
		{name: "link to a key", link: [2]string{"k", "../.ssh/id_rsa"}, path: "k", read: "path/keys", set: "path/credentials", kept: "$HOME/.ssh/id_rsa"},
		{name: "link to a directory", link: [2]string{"d", "$HOME/.ssh"}, path: "d/id_rsa", read: "path/keys", set: "path/credentials", kept: "$HOME/.ssh/id_rsa"},
		{name: "new file over a link", link: [2]string{"d", "$HOME/.ssh"}, path: "d/authorized_keys", read: "path/keys", set: "path/credentials"},
		{name: "dangling link", link: [2]string{"d", "$HOME/.ssh/authorized_keys"}, path: "d", read: "path/keys", set: "path/credentials"},
		{name: "dangling directory", link: [2]string{"d", "$HOME/.aws"}, path: "d/credentials", read: "path/keys", set: "path/credentials"},
		{name: "hard link to a key", hard: [2]string{"k", "$HOME/.ssh/id_rsa"}, path: "k", read: "path/keys", set: "path/credentials", kept: "$HOME/.ssh/id_rsa"},
		{name: "hard link to a start file", hard: [2]string{"k", "$HOME/.bashrc"}, path: "k", set: "ask", kept: "$HOME/.bashrc"},
		{name: "hard link to a login", hard: [2]string{"k", "$HOME/.hermes/auth.json"}, path: "k", read: "path/credential-store", set: "path/stores", kept: "$HOME/.hermes/auth.json"},
		{name: "what a protected name leads to", link: [2]string{"$HOME/.npmrc", "$HOME/work/npmrc"}, path: "npmrc", read: "missing", set: ""},
		{name: "link inside", link: [2]string{"l", "a.txt"}, path: "l"},
		{name: "protected name that links out", link: [2]string{"$HOME/.ssh/x", "$HOME/work/a.txt"}, path: "$HOME/.ssh/x", read: "path/keys", set: "path/credentials", kept: "a.txt"},
		{name: "env", path: ".env", read: "path/secret-environment"},
		{name: "link to env", link: [2]string{"e", ".env"}, path: "e", read: "path/secret-environment"},
		{name: "settings", path: "$HOME/.hermes/config.yaml", set: "ask", kept: "$HOME/.hermes/config.yaml"},
		{name: "ssh config", path: "~/.ssh/config", set: "ask", kept: "$HOME/.ssh/config"},
		{name: "device name", path: `\\.\PhysicalDrive0`, read: "path/windows-namespace", set: "path/windows-namespace"},
		{name: "process", path: "/proc/self/environ", read: "path/system-secrets", set: "path/system"},
		{name: "process by link", link: [2]string{"p", "/proc/self"}, path: "p/environ", read: "path/system-secrets", set: "path/system"},
		{name: "descriptor", path: "/dev/fd/0", read: "path/descriptors", set: "path/system"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBench(t)
			if row.link[0] != "" {
				ok(t, os.Symlink(strings.ReplaceAll(row.link[1], "$HOME", b.home), b.path(row.link[0])))
			}
			if row.hard[0] != "" {
				ok(t, os.Link(b.path(row.hard[1]), b.path(row.hard[0])))
			}
			before, _ := os.ReadFile(b.path(row.kept))
			_, err := b.w.Read(t.Context(), b.name(row.path))
			if got := ruleOf(err); got != row.read {
				t.Errorf("read: %s (%v), want %s", got, err, row.read)
			}
			_, err = b.write(row.path, "new\n")
			want := row.set
			if want == "ask" {
				if len(b.asked) != 1 || b.asked[0].Diff == "" {
					t.Errorf("asked %+v", b.asked)
				}
				want = b.asked[0].Verdict.Rule
			}
			if got := ruleOf(err); got != want {
				t.Errorf("write: %s (%v), want %s", got, err, row.set)
			}
			if row.kept != "" {
				b.want(row.kept, string(before))
			} else if want == "" {
				b.want(row.path, "new\n")
			}
			b.clean()
		})
	}
}

// clean fails where a draft was left behind.
func (b *bench) clean() {
	b.Helper()
	_ = filepath.WalkDir(b.home, func(name string, _ fs.DirEntry, err error) error {
		if strings.Contains(filepath.Base(name), temporary) && !strings.HasSuffix(name, ".hermes") {
			b.Errorf("left behind: %s", name)
		}
		return err
	})
}

func ruleOf(err error) string {
	var denied *guard.DeniedError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &denied):
		return denied.Verdict.Rule
	case errors.Is(err, fs.ErrNotExist):
		return "missing"
	}
	return err.Error()
}

func TestAsk(t *testing.T) {
	b := newBench(t)
	b.grant = true
	if _, err := b.write("~/.bashrc", "alias l=ls -l\n"); err != nil || len(b.asked) != 1 {
		t.Fatal(err, b.asked)
	}
	b.want("$HOME/.bashrc", "alias l=ls -l\n")
	if d := b.asked[0].Diff; !strings.Contains(d, "-alias l=ls\n+alias l=ls -l\n") {
		t.Errorf("asked with %s", d)
	}
	b.w = New(Options{Policy: paths.New(b.config), Home: b.home})
	if _, err := b.write("~/.bashrc", "x"); ruleOf(err) != "path/start-files" || !strings.Contains(err.Error(), "nobody can be asked") {
		t.Errorf("nobody there: %v", err)
	}
	// A file that changes while a person thinks is left alone.
	b.w = New(Options{Policy: paths.New(b.config), Home: b.home, Ask: func(context.Context, Question) (bool, string, error) {
		b.put(b.path("$HOME/.bashrc"), "somebody else\n")
		return true, "", nil
	}})
	if _, err := b.write("~/.bashrc", "x"); !errors.Is(err, ErrChanged) {
		t.Errorf("changed meanwhile: %v", err)
	}
	b.want("$HOME/.bashrc", "somebody else\n")
	b.clean()
}

// The texts of the safe root say that it is outside, and do not call it a credential file.
func TestSafeRoot(t *testing.T) {
	b := newBench(t, func(c *paths.Config) { c.SafeRoots = []string{filepath.Join(c.Homes[0], "work")} })
	if _, err := b.write("in.txt", "x\n"); err != nil {
		t.Error(err)
	}
	ok(t, os.Symlink(b.home, b.path("out")))
	for _, path := range []string{"../out.txt", "out/out.txt"} {
		_, err := b.write(path, "x\n")
		if ruleOf(err) != "path/safe-root" || !strings.Contains(err.Error(), "is outside HERMES_WRITE_SAFE_ROOT ("+b.work+"). Unset the variable") {
			t.Errorf("%s: %v", path, err)
		}
	}
	b.want("$HOME/out.txt", "")
}

// A file keeps its mode, its encoding, its line ends and its byte order mark.
func TestForm(t *testing.T) {
	for _, row := range []struct{ name, old, text, new, want, form string }{
		{"plain", "a\nb\n", "a\nb\n", "a\nc\n", "a\nc\n", ""},
		{"CRLF", "a\r\nb\r\n", "a\nb\n", "a\nc\n", "a\r\nc\r\n", "CR LF line ends"},
		{"mixed", "a\r\nb\n", "a\r\nb\n", "a\r\nc\n", "a\r\nc\n", "mixed line ends"},
		{"mark", "\xef\xbb\xbfa\n", "a\n", "ä\n", "\xef\xbb\xbfä\n", "byte order mark"},
		{"UTF-16", "\xff\xfea\x00\r\x00\n\x00", "a\n", "ä\n", "\xff\xfe\xe4\x00\r\x00\n\x00", "UTF-16LE, CR LF line ends"},
		{"UTF-16, big", "\xfe\xff\x00a", "a", "ä", "\xfe\xff\x00\xe4", "UTF-16BE"},
		{"Latin-1", "caf\xe9\n", "café\n", "thé\n", "th\xe9\n", "ISO-8859-1"},
		{"empty", "", "", "a\n", "a\n", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBench(t)
			b.put(b.path("f"), row.old)
			ok(t, os.Chmod(b.path("f"), 0o751))
			f, err := b.w.Read(t.Context(), b.name("f"))
			if err != nil || f.Text != row.text || f.Form.String() != row.form {
				t.Fatalf("%+v, %v", f, err)
			}
			done, err := b.write("f", row.new)
			ok(t, err)
			b.want("f", row.want)
			if info, _ := os.Stat(b.path("f")); info.Mode() != 0o751 {
				t.Errorf("mode %v", info.Mode())
			}
			ok(t, b.w.Undo(t.Context(), done...))
			b.want("f", row.old)
		})
	}
	b := newBench(t)
	b.put(b.path("f"), "caf\xe9\n")
	if _, err := b.write("f", "日\n"); err == nil || !strings.Contains(err.Error(), "ISO-8859-1, which has no '日' (line 1)") {
		t.Errorf("%v", err)
	}
	for _, text := range []string{"a\x00b", "\xff\xfea", "\x89PNG\r\n\x1a\n\x81\x82\x83"} {
		b.put(b.path("f"), text)
		if _, err := b.w.Read(t.Context(), b.name("f")); !errors.Is(err, ErrBinary) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Several changes happen together or not at all.
func TestTogether(t *testing.T) {
	b := newBench(t)
	b.put(b.path("b.txt"), "b\n")
	set := func(path, text string) Change {
		return Change{Name: b.name(path), Text: func(*File) (string, error) { return text, nil }}
	}
	for _, last := range []Change{
		set("~/.ssh/id_rsa", "x"),
		{Name: b.name("none"), Remove: true},
		{Name: b.name("a.txt"), Remove: true},
		{Name: b.name("c.txt"), State: Existing, Text: set("", "x").Text},
		{Name: b.name("b.txt"), State: Absent, Text: set("", "x").Text},
		{Name: b.name("b.txt"), Text: func(*File) (string, error) { return "", errors.New("no") }},
	} {
		if _, err := b.w.Apply(t.Context(), set("a.txt", "new\n"), set("n/e/w.txt", "new\n"), last); err == nil {
			t.Errorf("%+v passed", last)
		}
		b.want("a.txt", "one\ntwo\n")
		b.want("b.txt", "b\n")
		if _, err := os.Stat(b.path("n")); err == nil {
			t.Error("a directory was left")
		}
	}
	to := b.name("moved/m.txt")
	done, err := b.w.Apply(t.Context(), set("a.txt", "new\n"), set("n/e/w.txt", "new\n"), Change{Name: b.name("b.txt"), To: &to})
	ok(t, err)
	b.want("a.txt", "new\n")
	b.want("n/e/w.txt", "new\n")
	b.want("b.txt", "")
	b.want("moved/m.txt", "b\n")
	ok(t, b.w.Undo(t.Context(), done...))
	b.want("a.txt", "one\ntwo\n")
	b.want("n/e/w.txt", "")
	b.want("b.txt", "b\n")
	b.want("moved/m.txt", "")
	done, err = b.w.Apply(t.Context(), set("a.txt", "new\n"))
	ok(t, err)
	b.put(b.path("a.txt"), "a person\n")
	if err := b.w.Undo(t.Context(), done...); !errors.Is(err, ErrChanged) {
		t.Errorf("undo over a change: %v", err)
	}
	b.want("a.txt", "a person\n")
	b.clean()
}

// What may be replaced but not read does not come out: not as a difference, and not under another name.
func TestUnreadable(t *testing.T) {
	b := newBench(t)
	done, err := b.write(".env", "TOKEN=2\n")
	if err != nil || done[0].Diff != "" || !done[0].Hidden {
		t.Errorf("%+v, %v", done, err)
	}
	b.want(".env", "TOKEN=2\n")
	to := b.name("notes.txt")
	if _, err := b.w.Apply(t.Context(), Change{Name: b.name(".env"), To: &to}); ruleOf(err) != "path/secret-environment" {
		t.Errorf("moved: %v", err)
	}
	if _, err := b.w.Apply(t.Context(), Change{Name: b.name(".env"), State: Existing, Text: func(f *File) (string, error) {
		t.Errorf("the old text was handed out: %q", f.Text)
		return "", nil
	}}); ruleOf(err) != "path/secret-environment" {
		t.Errorf("edited: %v", err)
	}
	if _, err := b.w.Apply(t.Context(), Change{Name: b.name(".env"), Remove: true}); err != nil {
		t.Errorf("removed: %v", err)
	}
}

// Somebody swaps the directory for a link to a protected one, the file for a link, and back, while files are written: nothing
// there is ever read or written.
func TestRaces(t *testing.T) {
	b := newBench(t)
	ok(t, os.Mkdir(b.path("real"), 0o755))
	b.put(b.path("real/id_rsa"), "mine\n")
	b.put(b.path("real/authorized_keys"), "mine\n")
	b.put(filepath.Join(b.home, ".ssh", "authorized_keys"), "theirs\n")
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		for ctx.Err() == nil {
			_ = os.Symlink(filepath.Join(b.home, ".ssh"), b.path("link"))
			_ = os.Rename(b.path("d"), b.path("kept"))
			_ = os.Rename(b.path("link"), b.path("d"))
			_ = os.Remove(b.path("d"))
			_ = os.Rename(b.path("kept"), b.path("d"))
			_ = os.Remove(b.path("f"))
			_ = os.Symlink(filepath.Join(b.home, ".ssh", "authorized_keys"), b.path("f"))
			_ = os.Remove(b.path("f"))
			_ = os.Link(filepath.Join(b.home, ".ssh", "id_rsa"), b.path("f"))
		}
	})
	ok(t, os.Rename(b.path("real"), b.path("d")))
	passed := map[string]int{}
	for i := range 900 {
		for _, name := range []string{"d/id_rsa", "d/authorized_keys", "f"} {
			if f, err := b.w.Read(ctx, b.name(name)); err == nil {
				passed["read"]++
				if strings.Contains(f.Text, "KEY") || strings.Contains(f.Text, "theirs") {
					t.Fatalf("round %d: %s gave %q", i, name, f.Text)
				}
			}
			if i%20 > 0 { // writes wait for the disk
				continue
			}
			if _, err := b.write(name, fmt.Sprintf("mine %d\n", i)); err == nil {
				passed["write"]++
			}
		}
	}
	cancel()
	all.Wait()
	b.want("$HOME/.ssh/id_rsa", "KEY")
	b.want("$HOME/.ssh/authorized_keys", "theirs\n")
	entries, err := os.ReadDir(filepath.Join(b.home, ".ssh"))
	if err != nil || len(entries) != 3 {
		t.Errorf("%v, %v", entries, err)
	}
	t.Logf("in spite of it: %v", passed)
	if passed["write"] == 0 || passed["read"] == 0 {
		t.Error("nothing ever passed: the test shows nothing")
	}
}

// What takes a name between the look and the use is neither read nor entered nor replaced.
func TestSwapped(t *testing.T) {
	b := newBench(t)
	key := filepath.Join(b.home, ".ssh", "id_rsa")
	for name, swap := range map[string]func(string) error{
		"hard link": func(f string) error { return os.Link(key, f) },
		"link":      func(f string) error { return os.Symlink(key, f) },
		"near link": func(f string) error { return os.Symlink(".env", f) },
		"pipe":      func(f string) error { return syscall.Mkfifo(f, 0o600) },
		"directory": func(f string) error { return os.Mkdir(f, 0o700) },
	} {
		f := b.path("f")
		b.put(f, "mine\n")
		p, err := host{}.find(t.Context(), f, true)
		ok(t, err)
		ok(t, os.Remove(f))
		ok(t, swap(f))
		if text, err := p.read(t.Context(), 100); err == nil {
			t.Errorf("%s: read %q", name, text)
		}
		p.close()
		ok(t, os.Remove(f))
		b.put(f, "mine\n")
		_, err = b.w.Apply(t.Context(), Change{Name: b.name("f"), Text: func(*File) (string, error) {
			ok(t, os.Remove(f))
			return "new\n", swap(f)
		}})
		if !errors.Is(err, ErrChanged) {
			t.Errorf("%s: written: %v", name, err)
		}
		ok(t, os.Remove(f))
		_, err = b.w.Apply(t.Context(), Change{Name: b.name("f"), Text: func(*File) (string, error) { return "new\n", swap(f) }})
		if !errors.Is(err, ErrChanged) {
			t.Errorf("%s: made: %v", name, err)
		}
		if err := os.Remove(f); err != nil {
			t.Errorf("%s: it was replaced: %v", name, err)
		}
	}
	b.want("$HOME/.ssh/id_rsa", "KEY")
	b.want(".env", "TOKEN=1\n")
	ok(t, os.MkdirAll(b.path("d"), 0o700))
	ok(t, os.MkdirAll(b.path("other"), 0o700))
	root, err := os.OpenRoot(b.work)
	ok(t, err)
	defer root.Close()
	info, err := root.Lstat("d")
	ok(t, err)
	ok(t, os.Remove(b.path("d")))
	ok(t, os.Rename(b.path("other"), b.path("d")))
	if dir, err := enter(root, "d", info); !errors.Is(err, ErrChanged) {
		t.Errorf("entered %v, %v", dir, err)
	}
	b.clean()
}

// A directory that is moved to another place while it is held is not written.
func TestMovedDirectory(t *testing.T) {
	b := newBench(t)
	ok(t, os.Mkdir(b.path("d"), 0o755))
	_, err := b.w.Apply(t.Context(), Change{Name: b.name("d/config"), Text: func(*File) (string, error) {
		ok(t, os.Rename(b.path("d"), b.path("$HOME/.aws")))
		return "x", nil
	}})
	if !errors.Is(err, ErrChanged) {
		t.Errorf("%v", err)
	}
	if entries, _ := os.ReadDir(b.path("$HOME/.aws")); len(entries) != 0 {
		t.Errorf("written: %v", entries)
	}
}

func TestOdd(t *testing.T) {
	b := newBench(t)
	b.put(b.path("big"), strings.Repeat("x", 100))
	b.w = New(Options{Policy: paths.New(b.config), Home: b.home, Most: 99})
	if _, err := b.w.Read(t.Context(), b.name("big")); !errors.Is(err, ErrLarge) {
		t.Error(err)
	}
	if _, err := b.write("other", strings.Repeat("x", 100)); !errors.Is(err, ErrLarge) {
		t.Error(err)
	}
	if _, err := b.w.Read(t.Context(), b.name(".")); !errors.Is(err, ErrFolder) {
		t.Error(err)
	}
	if _, err := b.write(".", "x"); !errors.Is(err, ErrFolder) {
		t.Error(err)
	}
	if _, err := b.w.Read(t.Context(), b.name("/dev/zero")); !errors.Is(err, ErrOrdinary) {
		t.Error(err)
	}
	ok(t, os.Symlink("loop", b.path("loop")))
	if _, err := b.w.Read(t.Context(), b.name("loop")); err == nil || !strings.Contains(err.Error(), "more than 40 links") {
		t.Error(err)
	}
	if _, err := b.write("a.txt/b", "x"); err == nil {
		t.Error("below a file")
	}
	if got := b.w.Near(t.Context(), b.name("b.txt")); len(got) != 1 || got[0] != "a.txt" {
		t.Errorf("near: %v", got)
	}
	var zero Options
	if _, err := New(zero).Read(t.Context(), b.name("a.txt")); err == nil {
		t.Error("no policy reads")
	}
}

func TestTurn(t *testing.T) {
	b := newBench(t)
	var turn Turn
	ctx := t.Context()
	if turn.Footer(ctx, b.w) != "" {
		t.Error("a footer of nothing")
	}
	turn.Failed(ctx, b.w, "patch", b.name("a.txt"), errors.New("no match\nmore"))
	turn.Failed(ctx, b.w, "write_file", b.name("~/.ssh/id_rsa"), errors.New("Write denied"))
	turn.Failed(ctx, b.w, "write_file", b.name("new.txt"), errors.New("disk full"))
	want := "⚠️ File-mutation verifier: 3 file(s) were NOT modified this turn despite any wording above that may suggest otherwise. " +
		"Run `git status` or `read_file` to confirm.\n• a.txt — [patch] no match\n• ~/.ssh/id_rsa — [write_file] Write denied\n• new.txt — [write_file] disk full"
	if got := turn.Footer(ctx, b.w); got != want {
		t.Errorf("%s", got)
	}
	turn.Done(b.path("a.txt"))
	b.put(b.path("new.txt"), "by a command\n") // the terminal repaired it
	if got := turn.Footer(ctx, b.w); !strings.Contains(got, " 1 file(s) ") || !strings.Contains(got, "id_rsa") {
		t.Errorf("%s", got)
	}
	for i := range 30 {
		turn.Failed(ctx, b.w, "patch", b.name(fmt.Sprintf("f%d\x1b[2J\n• x", i)), errors.New("no"))
	}
	if got := turn.Footer(ctx, b.w); strings.Count(got, "\n") != 11 || strings.Contains(got, "\x1b") || !strings.HasSuffix(got, "… and 21 more") {
		t.Errorf("%s", got)
	}
}
