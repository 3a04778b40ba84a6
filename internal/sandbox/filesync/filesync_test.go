package filesync

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// world is a home here and one "there": a directory in which a real shell runs the scripts.
type world struct {
	t           *testing.T
	here, there string
	state       string
	told        []string
	trees       []Tree
	accept      func(context.Context, []string) []string
	limits      Limits
	path        string // of the shell there
	shell       string
	scripts     int
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, here: t.TempDir(), there: t.TempDir(), state: filepath.Join(t.TempDir(), "state"), path: "/usr/bin:/bin", shell: "/bin/sh"}
	w.trees = []Tree{
		{Dir: filepath.Join(w.here, "skills"), To: "skills", Kind: Guarded, Skip: []string{".hub"}},
		{Dir: w.here, To: "credentials", Kind: Given, Files: []string{"token.json", "sub/key"}},
		{Dir: filepath.Join(w.here, "cache", "documents"), To: "cache/documents", Kind: Shared},
	}
	return w
}

func (w *world) remote(ctx context.Context, script string, in io.Reader, out io.Writer) error {
	w.scripts++
	if strings.ContainsAny(script, "'\n!") {
		w.t.Errorf("a script that not every login shell reads alike: %s", script)
	}
	cmd := exec.CommandContext(ctx, w.shell, "-c", script)
	cmd.Env = []string{"HOME=" + w.there, "PATH=" + w.path}
	var errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, &errs
	if err := cmd.Run(); err != nil {
		return errors.New(err.Error() + ": " + errs.String())
	}
	return nil
}

func (w *world) sync() *Sync {
	w.t.Helper()
	s, err := Open(Config{
		State: w.state, Trees: w.trees, Accept: w.accept, Limits: w.limits, Log: func(text string) { w.told = append(w.told, text) },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = s.Close() })
	return s
}

func (w *world) up() {
	w.t.Helper()
	s := w.sync()
	stamp, _ := os.ReadFile(filepath.Join(w.there, s.Stamp()))
	if err := s.Up(w.t.Context(), w.remote, string(stamp)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) down() {
	w.t.Helper()
	if err := w.sync().Down(w.t.Context(), w.remote); err != nil {
		w.t.Fatal(err)
	}
}

// put writes files, by name.
func put(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// tree lists the ordinary files below a directory with their text, and what is no ordinary file with its type.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, name)
		switch {
		case err != nil || d.IsDir():
		case !d.Type().IsRegular():
			all[rel] = d.Type().String()
		default:
			text, _ := os.ReadFile(name)
			all[rel] = string(text)
		}
		return nil
	})
	return all
}

func (w *world) has(dir, name, want string) {
	w.t.Helper()
	if got, ok := tree(w.t, dir)[name]; got != want || !ok && want != "" {
		w.t.Errorf("%s: %q, want %q; %q", name, got, want, w.told)
	}
}

func (w *world) says(want string) {
	w.t.Helper()
	if !slices.ContainsFunc(w.told, func(s string) bool { return strings.Contains(s, want) }) {
		w.t.Errorf("nobody was told %q: %q", want, w.told)
	}
}

func base(w *world) {
	put(w.t, w.here, map[string]string{
		"skills/a/SKILL.md": "a", "skills/b b/run.sh": "#!/bin/sh\n", "skills/.hub/x": "internal", "token.json": "secret", "sub/key": "k",
		"cache/documents/d.txt": "d", ".env": "never",
	})
	_ = os.Chmod(filepath.Join(w.here, "skills/b b/run.sh"), 0o755)
	_ = os.Symlink("/etc/passwd", filepath.Join(w.here, "skills/link"))
	_ = os.Symlink("a", filepath.Join(w.here, "skills/dirlink"))
}

func TestUp(t *testing.T) {
	for _, shell := range []string{"/bin/sh", "/bin/bash", "busybox"} {
		t.Run(filepath.Base(shell), func(t *testing.T) {
			w := newWorld(t)
			if shell == "busybox" {
				busybox, err := exec.LookPath("busybox")
				if err != nil {
					t.Skip("skipped: needs busybox")
				}
				w.path = t.TempDir() // nothing but what busybox is
				for _, name := range []string{"sh", "tar", "rm", "mkdir", "mv", "cat", "find", "sha256sum"} {
					if err := os.Symlink(busybox, filepath.Join(w.path, name)); err != nil {
						t.Fatal(err)
					}
				}
				w.shell = filepath.Join(w.path, "sh")
			} else {
				w.shell = shell
			}
			base(w)
			w.up()
			there := filepath.Join(w.there, ".hermes")
			for name, want := range map[string]string{
				"skills/a/SKILL.md": "a", "skills/b b/run.sh": "#!/bin/sh\n", "credentials/token.json": "secret", "credentials/sub/key": "k",
				"cache/documents/d.txt": "d", "skills/link": "", "skills/dirlink/SKILL.md": "", "skills/.hub/x": "", "credentials/.env": "",
			} {
				w.has(there, name, want)
			}
			if info, err := os.Stat(filepath.Join(there, "skills/b b/run.sh")); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("%v, %v", info, err)
			}
			if info, err := os.Stat(filepath.Join(there, "credentials/token.json")); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info, err)
			}
			before := w.scripts
			w.up()
			if w.scripts != before {
				t.Error("what is there was copied again")
			}
			put(t, w.here, map[string]string{"skills/a/SKILL.md": "A2"})
			_ = os.Remove(filepath.Join(w.here, "token.json"))
			w.up()
			w.has(there, "skills/a/SKILL.md", "A2")
			w.has(there, "credentials/token.json", "")
			_ = os.RemoveAll(there) // the machine was set up anew
			w.up()
			w.has(there, "skills/a/SKILL.md", "A2")
			if left, _ := filepath.Glob(filepath.Join(there, ".incoming*")); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
			put(t, there, map[string]string{"cache/documents/new.txt": "n"})
			w.down()
			w.has(w.here, "cache/documents/new.txt", "n")
		})
	}
}

// Weak point 15: what was changed there comes back only where that was meant.
func TestWeak15_Down(t *testing.T) {
	w := newWorld(t)
	base(w)
	w.up()
	there := filepath.Join(w.there, ".hermes")
	put(t, there, map[string]string{
		"skills/a/SKILL.md": "evil", "skills/new/SKILL.md": "evil too", "credentials/token.json": "changed", "cache/documents/d.txt": "d2",
		"cache/documents/new/n.txt": "n", "config.yaml": "evil", "hooks/x": "evil", "skills/.hub/y": "evil",
	})
	_ = os.Symlink("/etc/passwd", filepath.Join(there, "cache/documents/passwd"))
	w.down()
	for name, want := range map[string]string{
		"skills/a/SKILL.md": "a", "skills/new/SKILL.md": "", "token.json": "secret", "cache/documents/d.txt": "d2", "cache/documents/new/n.txt": "n",
		"config.yaml": "", "hooks/x": "", "cache/documents/passwd": "", "skills/.hub/y": "",
	} {
		w.has(w.here, name, want)
	}
	w.says("skills/a/SKILL.md")
	kept := tree(t, filepath.Join(w.state, "kept"))
	found := map[string]string{}
	for name, text := range kept {
		_, rest, _ := strings.Cut(name, "/")
		found[rest] = text
	}
	if found["skills/a/SKILL.md"] != "evil" || found["skills/new/SKILL.md"] != "evil too" || found["credentials/token.json"] != "" {
		t.Errorf("kept: %q", kept)
	}
	told := len(w.told)
	w.down()
	if len(w.told) != told {
		t.Errorf("told again: %q", w.told[told:])
	}
	// What the owner says yes to is taken over.
	put(t, there, map[string]string{"skills/a/SKILL.md": "better"})
	w.accept = func(_ context.Context, names []string) []string { return names }
	w.down()
	w.has(w.here, "skills/a/SKILL.md", "better")
}

// Weak point 11: names count without regard to capitals, and a file that has a second name elsewhere is replaced, not written
// through. What was changed on both sides is kept aside.
func TestWeak11_Conflict(t *testing.T) {
	w := newWorld(t)
	base(w)
	w.up()
	there := filepath.Join(w.there, ".hermes")
	put(t, there, map[string]string{"cache/documents/d.txt": "theirs", "cache/documents/gone.txt": "g", "cache/documents/CASE.txt": "c"})
	put(t, w.here, map[string]string{"cache/documents/d.txt": "ours", "cache/documents/case.txt": "lower"})
	w.down()
	w.has(w.here, "cache/documents/d.txt", "ours")
	w.has(w.here, "cache/documents/case.txt", "lower")
	w.has(w.here, "cache/documents/CASE.txt", "")
	w.has(w.here, "cache/documents/gone.txt", "g")
	w.says("cache/documents/d.txt")
	outside := filepath.Join(t.TempDir(), "second name")
	if err := os.Link(filepath.Join(w.here, "cache/documents/gone.txt"), outside); err != nil {
		t.Fatal(err)
	}
	put(t, there, map[string]string{"cache/documents/gone.txt": "g2"})
	w.down()
	w.has(w.here, "cache/documents/gone.txt", "g2")
	if text, err := os.ReadFile(outside); err != nil || string(text) != "g" {
		t.Errorf("the second name: %q, %v", text, err)
	}
}

// Links here are never written through, on any level, nor is anything outside.
func TestLinksHere(t *testing.T) {
	w := newWorld(t)
	base(w)
	outside := t.TempDir()
	put(t, outside, map[string]string{"victim": "v"})
	w.up()
	docs := filepath.Join(w.here, "cache/documents")
	_ = os.Symlink(outside, filepath.Join(docs, "out"))
	_ = os.Symlink(filepath.Join(outside, "victim"), filepath.Join(docs, "file"))
	_ = os.Mkdir(filepath.Join(docs, "real"), 0o755)
	_ = os.Symlink("real", filepath.Join(docs, "inside"))
	put(t, filepath.Join(w.there, ".hermes/cache/documents"), map[string]string{"out/victim": "x", "out/new": "x", "file": "x", "inside/f": "x", "fine": "x"})
	w.down()
	if got := tree(t, outside); len(got) != 1 || got["victim"] != "v" {
		t.Errorf("outside: %q", got)
	}
	w.has(w.here, "cache/documents/real/f", "")
	w.has(w.here, "cache/documents/fine", "x")
}

// Links there are never written through, either: what is in the way is told.
func TestLinksThere(t *testing.T) {
	w := newWorld(t)
	base(w)
	outside := t.TempDir()
	put(t, outside, map[string]string{"SKILL.md": "v", "d.txt": "v"})
	there := filepath.Join(w.there, ".hermes")
	put(t, there, map[string]string{"skills/x": ""})
	_ = os.Symlink(outside, filepath.Join(there, "skills/a"))
	_ = os.MkdirAll(filepath.Join(there, "cache/documents"), 0o755)
	_ = os.Symlink(filepath.Join(outside, "d.txt"), filepath.Join(there, "cache/documents/d.txt"))
	_ = os.MkdirAll(filepath.Join(there, "skills/b b/run.sh"), 0o755)
	w.up()
	if got := tree(t, outside); got["SKILL.md"] != "v" || got["d.txt"] != "v" || len(got) != 2 {
		t.Errorf("outside: %q", got)
	}
	w.has(there, "cache/documents/d.txt", "d") // the link itself was replaced
	w.says("skills/a/SKILL.md")
	w.says("skills/b b/run.sh")
	// A base that is a link is refused whole.
	_ = os.RemoveAll(there)
	_ = os.Symlink(outside, there)
	s := w.sync()
	if err := s.Up(t.Context(), w.remote, ""); err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Errorf("%v", err)
	}
	if err := s.Down(t.Context(), w.remote); err == nil {
		t.Error("read through a link")
	}
	if got := tree(t, outside); len(got) != 2 {
		t.Errorf("outside: %q", got)
	}
}

// Where nothing computes sums, and a connection that is cut in the middle.
func TestPoorRemote(t *testing.T) {
	w := newWorld(t)
	base(w)
	w.path = t.TempDir()
	for _, name := range []string{"tar", "rm", "mkdir", "mv", "cat", "find"} {
		program, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		_ = os.Symlink(program, filepath.Join(w.path, name))
	}
	w.up()
	there := filepath.Join(w.there, ".hermes")
	put(t, there, map[string]string{"cache/documents/d.txt": "d2", "skills/a/SKILL.md": "evil"})
	w.down()
	w.has(w.here, "cache/documents/d.txt", "d2")
	w.has(w.here, "skills/a/SKILL.md", "a")

	put(t, w.here, map[string]string{"skills/a/SKILL.md": strings.Repeat("long", 100_000)})
	s := w.sync()
	stamp, _ := os.ReadFile(filepath.Join(w.there, s.Stamp()))
	cut := func(ctx context.Context, script string, in io.Reader, out io.Writer) error {
		return w.remote(ctx, script, io.LimitReader(in, 100_000), out)
	}
	if err := s.Up(t.Context(), cut, string(stamp)); err == nil {
		t.Error("a stream that was cut is no error")
	}
	w.has(there, "skills/a/SKILL.md", "evil") // nothing half written
	w.up()
	w.has(there, "skills/a/SKILL.md", strings.Repeat("long", 100_000))
}

func TestLimits(t *testing.T) {
	w := newWorld(t)
	w.limits = Limits{File: 10, Total: 25, Files: 5}
	put(t, w.here, map[string]string{"cache/documents/large": strings.Repeat("x", 11), "cache/documents/small": "x"})
	w.up()
	there := filepath.Join(w.there, ".hermes")
	w.has(there, "cache/documents/large", "")
	w.has(there, "cache/documents/small", "x")
	w.says("large")
	put(t, there, map[string]string{"cache/documents/huge": strings.Repeat("y", 11)})
	w.down()
	w.has(w.here, "cache/documents/huge", "")
	w.says("huge")
	put(t, there, map[string]string{"cache/documents/1": "123456789", "cache/documents/2": "123456789", "cache/documents/3": "123456789"})
	if err := w.sync().Down(t.Context(), w.remote); !errors.Is(err, errTooMuch) {
		t.Errorf("%v", err)
	}
	for i := range 10 {
		put(t, there, map[string]string{"cache/documents/n" + string(rune('a'+i)): ""})
	}
	if err := w.sync().Down(t.Context(), w.remote); !errors.Is(err, errTooMuch) {
		t.Errorf("%v", err)
	}
}

func TestConfig(t *testing.T) {
	for _, bad := range []string{"/etc", "..", "../x", "a b", "a'b", "$HOME", "a/../b", "-"} {
		c := Config{State: filepath.Join(t.TempDir(), "s"), Trees: []Tree{{To: bad}}}
		if _, err := Open(c); err == nil && bad != "-" {
			t.Errorf("%q was taken", bad)
		}
		if _, err := Open(Config{State: c.State, Base: bad}); err == nil && bad != "-" {
			t.Errorf("base %q was taken", bad)
		}
	}
}

func TestNames(t *testing.T) {
	for _, row := range []struct{ name, want string }{
		{"a", "a"}, {"a/b", "a/b"}, {"./a", "a"}, {"a//b", "a/b"}, {"ü/€.txt", "ü/€.txt"}, {"a b", "a b"}, {".hidden", ".hidden"},
		{"console", "console"}, {"com0", "com0"},
		{"", ""}, {"/", ""}, {"/a", ""}, {"..", ""}, {"a/../../b", ""}, {"../a", ""}, {".", ""}, {"a/.", "a"}, {"a\\b", ""}, {"c:x", ""},
		{"a\x00", ""}, {"a\n", ""}, {"a\u202eb", ""}, {"\xff", ""}, {"con", ""}, {"CON.txt", ""}, {"a/nul", ""}, {"com1.x", ""}, {"lpt²", ""},
		{"a.", ""}, {"a ", ""}, {" a", ""}, {strings.Repeat("a", 256), ""}, {strings.Repeat("a/", 40) + "a", ""},
	} {
		if got, why := checkName(row.name); got != row.want || (why == "") != (row.want != "") {
			t.Errorf("%q: %q, %q; want %q", row.name, got, why, row.want)
		}
	}
}

// entry is one entry of a stream.
type entry struct {
	name string
	kind byte
	link string
	text string
}

func stream(entries ...entry) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: e.kind, Linkname: e.link, Mode: 0o777, Size: int64(len(e.text))}
		if err := w.WriteHeader(h); err == nil {
			_, _ = io.WriteString(w, e.text)
		}
	}
	_ = w.Close()
	return b.Bytes()
}

var hostile = [][]byte{
	stream(entry{"a", tar.TypeReg, "", "x"}, entry{"dir/", tar.TypeDir, "", ""}, entry{"dir/b", tar.TypeReg, "", "y"}),
	stream(entry{"out", tar.TypeSymlink, "..", ""}, entry{"out/f", tar.TypeReg, "", "x"}),
	stream(entry{"out", tar.TypeSymlink, "/", ""}, entry{"out/tmp/f", tar.TypeReg, "", "x"}),
	stream(entry{"hard", tar.TypeLink, "../victim", ""}, entry{"hard", tar.TypeReg, "", "x"}),
	stream(entry{"../victim", tar.TypeReg, "", "x"}, entry{"/tmp/x", tar.TypeReg, "", "x"}, entry{"a/../../victim", tar.TypeReg, "", "x"}),
	stream(entry{"A", tar.TypeReg, "", "x"}, entry{"a", tar.TypeReg, "", "y"}),
	stream(entry{"a", tar.TypeReg, "", "x"}, entry{"a/b", tar.TypeReg, "", "y"}),
	stream(entry{"dev", tar.TypeBlock, "", ""}, entry{"fifo", tar.TypeFifo, "", ""}, entry{"c", tar.TypeChar, "", ""}),
	stream(entry{"large", tar.TypeReg, "", strings.Repeat("x", 5000)}),
}

func TestReceive(t *testing.T) {
	for i, text := range hostile {
		receive(t, text, i)
	}
}

// receive unpacks a stream beside a victim, and looks at everything that is there afterwards.
func receive(t *testing.T, text []byte, i int) {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, map[string]string{"victim": "v"})
	if err := os.Mkdir(filepath.Join(dir, "root"), 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(filepath.Join(dir, "root"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	limits := Limits{File: 4096, Total: 16384, Files: 20}
	c := receiver{into: root, limits: limits, take: func(string) bool { return true }, refuse: func(string, string) {}, seen: map[string]bool{}}
	_ = c.read(bytes.NewReader(text)) // what came before an error is there
	got := tree(t, dir)
	if got["victim"] != "v" {
		t.Errorf("%d: the victim is %q", i, got["victim"])
	}
	delete(got, "victim")
	var total int64
	folded := map[string]bool{}
	for name, content := range got {
		rel, ok := strings.CutPrefix(name, "root/")
		if !ok || strings.HasPrefix(content, "L---") && len(content) == 10 {
			t.Errorf("%d: %q was made", i, name)
		}
		if folded[fold(rel)] {
			t.Errorf("%d: %q is there twice", i, rel)
		}
		folded[fold(rel)] = true
		if total += int64(len(content)); len(content) > 4096 || total > 16384 || len(got) > 21 {
			t.Errorf("%d: more than the limits", i)
		}
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode() != 0o600 {
			t.Errorf("%d: %s: %v", i, name, info.Mode())
		}
	}
	for _, f := range c.all {
		if got["root/"+f.Name] == "" && f.Size > 0 {
			t.Errorf("%d: %q is told and not there", i, f.Name)
		}
	}
}

// Whatever the other side sends, nothing is written outside the directory, and nothing but ordinary files in it.
func FuzzReceive(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) { receive(t, text, -1) })
}

// Two homes that share an account there do not take each other's files for their own.
func TestTwoHomes(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	b.there = a.there
	base(a)
	put(t, b.here, map[string]string{"skills/c/SKILL.md": "c"})
	a.up()
	b.up()
	a.up()
	there := filepath.Join(a.there, ".hermes")
	a.has(there, "skills/a/SKILL.md", "a")
	a.has(there, "skills/c/SKILL.md", "c")
}
