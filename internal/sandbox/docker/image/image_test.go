package image

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// machine makes a root with what every image needs, plus files (text), links ("-> to") and modes (the text "secret" is 0600).
func machine(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	all := map[string]string{}
	for _, name := range strings.Fields(needed) {
		all["usr/bin/"+name] = "#!/usr/bin/bash\n"
	}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, link := strings.CutPrefix(text, "-> "); link {
			_ = os.Remove(at)
			err = os.Symlink(to, at)
		} else {
			mode := os.FileMode(0o755)
			if text == "secret" {
				mode = 0o600
			}
			err = os.WriteFile(at, []byte(text), mode)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestCollect(t *testing.T) {
	root := machine(t, map[string]string{
		"bin":                          "-> usr/bin",
		"usr/bin/awk":                  "-> /etc/alternatives/awk",
		"etc/alternatives/awk":         "-> /usr/bin/mawk",
		"usr/bin/mawk":                 "m",
		"usr/bin/grep":                 "secret",
		"usr/bin/tool":                 "-> /home/u/tool",
		"home/u/tool":                  "mine",
		"usr/bin/git":                  "-> ../../usr/libexec/git-real",
		"usr/libexec/git-real":         "g",
		"usr/lib/git-core/git-x":       "x",
		"usr/lib/git-core/key":         "secret",
		"usr/lib/git-core/out":         "-> /home/u/tool",
		"usr/lib/git-core/__pycache__": "-> /tmp",
		"etc/passwd":                   "u:x:1000:1000::/home/u:/bin/bash\n",
		"etc/shadow":                   "secret",
		"usr/bin/python3":              "-> python3.99",
		"usr/bin/python3.99":           "p",
		"usr/lib/python3.99/os.py":     "os",
		"usr/lib/python3.99/test/x.py": "x",
		"usr/lib/python3.98/os.py":     "other",
	})
	tree, err := collect(Host{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	paths := tree.Paths()
	for _, row := range []struct {
		path string
		in   bool
		why  string
	}{
		{"/usr/bin/bash", true, "a program that is needed"},
		{"/bin", true, "a link of the system's folders"},
		{"/usr/bin/awk", true, "a program behind links"},
		{"/etc/alternatives/awk", true, "a link on the way"},
		{"/usr/bin/mawk", true, "the end of the links"},
		{"/usr/libexec/git-real", true, "the end of a relative link"},
		{"/usr/lib/git-core/git-x", true, "what git loads by name"},
		{"/usr/lib/python3.99/os.py", true, "what python loads by name"},
		{"/usr/lib/python3.99/test/x.py", false, "takes room only"},
		{"/usr/lib/python3.98/os.py", false, "of a python that is not in the image"},
		{"/usr/bin/grep", false, "not everybody may read it"},
		{"/usr/lib/git-core/key", false, "not everybody may read it"},
		{"/usr/bin/tool", false, "not asked for"},
		{"/home/u/tool", false, "the owner's"},
		{"/usr/lib/git-core/out", false, "leads to the owner's"},
		{"/etc/shadow", false, "secret"},
	} {
		if slices.Contains(paths, row.path) != row.in {
			t.Errorf("%s in the image: %t, want %t (%s)", row.path, !row.in, row.in, row.why)
		}
	}
	if text := tree.entries["/etc/passwd"].text; strings.Contains(text, "u:") || !strings.HasPrefix(text, "root:") {
		t.Errorf("/etc/passwd: %q", text)
	}
	if !slices.Contains(tree.Absent, "grep") {
		t.Errorf("absent: %v", tree.Absent)
	}
	if len(tree.Notes) != 2 {
		t.Errorf("notes: %q", tree.Notes)
	}
}

func TestNamedProgramsMustBeThere(t *testing.T) {
	root := machine(t, map[string]string{"usr/bin/tool": "-> /home/u/tool", "home/u/tool": "mine", "usr/bin/key": "secret"})
	for _, name := range []string{"nothing", "tool", "key", "../bin/bash", "", "/home/u/tool"} {
		if _, err := collect(Host{Root: root, Programs: []string{name}}); err == nil {
			t.Errorf("%q: no error", name)
		}
	}
	if err := os.Remove(filepath.Join(root, "usr/bin/bash")); err != nil {
		t.Fatal(err)
	}
	if _, err := collect(Host{Root: root}); err == nil || !strings.Contains(err.Error(), "bash") {
		t.Errorf("no bash: %v", err)
	}
}

func TestArchive(t *testing.T) {
	root := machine(t, map[string]string{"usr/bin/grep": "g"})
	if err := os.Chmod(filepath.Join(root, "usr/bin/grep"), 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(root, "usr/bin/grep"), filepath.Join(root, "usr/bin/egrep")); err != nil {
		t.Fatal(err)
	}
	var sums [2][32]byte
	var text bytes.Buffer
	for i := range sums {
		tree, err := collect(Host{Root: root})
		if err != nil {
			t.Fatal(err)
		}
		text.Reset()
		if err := tree.WriteTar(t.Context(), &text); err != nil {
			t.Fatal(err)
		}
		sums[i] = sha256.Sum256(text.Bytes())
		if err := os.Chtimes(filepath.Join(root, "usr/bin/grep"), epoch, epoch); err != nil {
			t.Fatal(err)
		}
	}
	if sums[0] != sums[1] {
		t.Error("the same files give another digest")
	}
	seen, last := map[string]*tar.Header{}, ""
	for r := tar.NewReader(&text); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		seen[h.Name] = h
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || !h.ModTime.Equal(epoch) || h.Mode&0o6000 != 0 {
			t.Errorf("%s: %d:%d %q %s %o", h.Name, h.Uid, h.Gid, h.Uname, h.ModTime, h.Mode)
		}
		if strings.TrimSuffix(h.Name, "/") <= last {
			t.Errorf("%s after %s", h.Name, last)
		}
		last = strings.TrimSuffix(h.Name, "/")
	}
	if h := seen["usr/bin/grep"]; h == nil || h.Typeflag != tar.TypeLink || h.Linkname != "usr/bin/egrep" {
		t.Errorf("one file with two names: %+v", h)
	}
	if h := seen["tmp/"]; h == nil || h.Mode != 0o1777 {
		t.Errorf("tmp: %+v", h)
	}
}

// engine answers as a client would.
type engine struct {
	calls []string
	fail  string
	eat   bool // reads what it is sent
	after func()
}

func (e *engine) run(_ context.Context, in io.Reader, out io.Writer, args ...string) error {
	e.calls = append(e.calls, strings.Join(args, " "))
	if in != nil && e.eat {
		if e.after != nil {
			_, _ = io.CopyN(io.Discard, in, 512)
			e.after()
		}
		_, _ = io.Copy(io.Discard, in)
	}
	if args[0] == e.fail {
		return errors.New("exit status 1: no space left")
	}
	if args[0] == "import" || args[0] == "image" {
		_, _ = io.WriteString(out, "sha256:abc\n")
	}
	return nil
}

func TestFromHost(t *testing.T) {
	root := machine(t, nil)
	e := &engine{eat: true}
	built, err := FromHost(t.Context(), e.run, Host{Root: root, Tag: "hermes/host:1"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if built.ID != "sha256:abc" || !strings.HasPrefix(built.Digest, "sha256:") || len(e.calls) != 2 || e.calls[1] != "tag sha256:abc hermes/host:1" ||
		!strings.Contains(e.calls[0], "LABEL "+LabelDigest+"="+built.Digest) {
		t.Errorf("%+v\n%q", built, e.calls)
	}
}

func TestNothingHalfMadeIsNamed(t *testing.T) {
	for _, row := range []struct {
		what string
		e    *engine
		want string
		tag  string
	}{
		{"the engine fails", &engine{eat: true, fail: "import"}, "no space left", "a:1"},
		{"the engine ends without reading", &engine{}, "closed pipe", "a:1"},
		{"a name that is none", &engine{eat: true}, "image", "A:1"},
		{"a digest as a name", &engine{eat: true}, "digest", "a@sha256:" + strings.Repeat("0", 64)},
	} {
		_, err := FromHost(t.Context(), row.e.run, Host{Root: machine(t, nil), Tag: row.tag}, io.Discard)
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", row.what, err)
		}
		for _, call := range row.e.calls {
			if strings.HasPrefix(call, "tag") {
				t.Errorf("%s: %s", row.what, call)
			}
		}
	}
	root := machine(t, nil)
	e := &engine{eat: true, after: func() { // the same length, other contents
		if err := os.WriteFile(filepath.Join(root, "usr/bin/yes"), []byte("#!/usr/bin/dash\n"), 0o755); err != nil {
			t.Error(err)
		}
	}}
	if err := os.WriteFile(filepath.Join(root, "usr/bin/yes"), []byte("#!/usr/bin/bash\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := FromHost(t.Context(), e.run, Host{Root: root, Tag: "a:1"}, io.Discard); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("a file that changes: %v", err)
	}
	if last := e.calls[len(e.calls)-1]; last != "image rm sha256:abc" {
		t.Errorf("last call %q", last)
	}
}

func TestFromDockerfile(t *testing.T) {
	e := &engine{}
	built, err := FromDockerfile(t.Context(), e.run, Dockerfile{File: "/c/Dockerfile", Context: "/c", Tag: "a:1", Pull: true}, io.Discard)
	if err != nil || built.ID != "sha256:abc" || e.calls[0] != "build --file /c/Dockerfile --tag a:1 --label hermes-image=dockerfile --pull /c" {
		t.Errorf("%+v %v %q", built, err, e.calls)
	}
	for _, d := range []Dockerfile{{File: "-x", Context: "/c", Tag: "a"}, {File: "/f", Context: "", Tag: "a"}, {File: "/f", Context: "/c", Tag: "--a"}} {
		if _, err := FromDockerfile(t.Context(), e.run, d, io.Discard); err == nil {
			t.Errorf("%+v: no error", d)
		}
	}
}

// What this machine's own image would hold, without an engine.
func TestThisMachine(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("skipped: needs Linux")
	}
	tree, err := collect(Host{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range tree.Paths() {
		if strings.HasPrefix(p, "/home/") || strings.HasPrefix(p, "/root/") || strings.HasPrefix(p, "/etc/shadow") || strings.Contains(p, "/private/") {
			t.Errorf("%s is in the image", p)
		}
	}
	if len(tree.Notes) > 20 {
		t.Errorf("%d notes, the first: %s", len(tree.Notes), tree.Notes[0])
	}
	t.Logf("%d files, %d MB, without %v; notes %q", tree.Files, tree.Bytes>>20, tree.Absent, tree.Notes)
}
