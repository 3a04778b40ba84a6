package editor

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/guard/paths"
	"hermes/internal/guard/taint"
	"hermes/internal/tool"
	"hermes/internal/workspace"
)

// bench is a work tree and the tools on it.
type bench struct {
	*testing.T
	home, dir string
	o         Options
	turn      workspace.Turn
	done      []workspace.Done
}

func newBench(t *testing.T, files map[string]string) *bench {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	ok(t, err)
	b := &bench{T: t, home: home, dir: filepath.Join(home, "work")}
	ok(t, os.MkdirAll(b.dir, 0o755))
	for name, text := range files {
		b.put(name, text)
	}
	own := filepath.Join(home, ".hermes")
	b.o = Options{
		Workspace: workspace.New(workspace.Options{Home: home, Policy: paths.New(paths.Config{
			Homes: []string{home}, Hermes: []string{own}, Own: own, Teachers: true,
		})}),
		Dir: func() string { return b.dir }, Turn: func() *workspace.Turn { return &b.turn },
		Done: func(d []workspace.Done) { b.done = d },
	}
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
	name = filepath.Join(b.dir, name)
	ok(b.T, os.MkdirAll(filepath.Dir(name), 0o755))
	ok(b.T, os.WriteFile(name, []byte(text), 0o644))
}

func (b *bench) holds(name, want string) {
	b.Helper()
	got, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil && want != "" || string(got) != want {
		b.Errorf("%s holds %q (%v), want %q", name, got, err, want)
	}
}

// call calls a tool with arguments given as name, value, …
func (b *bench) call(t tool.Tool, args ...any) (string, error) {
	b.Helper()
	m := map[string]any{}
	for i := 0; i < len(args); i += 2 {
		m[args[i].(string)] = args[i+1]
	}
	raw, err := json.Marshal(m)
	ok(b.T, err)
	r, err := t.Call(b.Context(), tool.Call{Args: raw})
	var out strings.Builder
	for _, p := range r.Parts {
		if p.Origin != taint.Own && (p.Origin != taint.Work || p.Source == "") {
			b.Errorf("a part of origin %v from %q: %s", p.Origin, p.Source, p.Text)
		}
		out.WriteString(strings.ReplaceAll(p.Text, b.home, "$HOME"))
		if p.Origin == taint.Own {
			out.WriteByte('\n')
		}
	}
	out.WriteString(strings.ReplaceAll(r.Diff, b.home, "$HOME"))
	return out.String(), err
}

func TestSpecs(t *testing.T) {
	for _, one := range []tool.Tool{Read{}, Write{}, Patch{}, Search{}} {
		s := one.Spec()
		var schema struct {
			Type       string
			Properties map[string]json.RawMessage
			Required   []string
		}
		if err := json.Unmarshal(s.Schema, &schema); err != nil || schema.Type != "object" || len(schema.Properties) == 0 {
			t.Errorf("%s: %v", s.Name, err)
		}
		for _, name := range append(schema.Required, s.Words) {
			if _, ok := schema.Properties[name]; !ok && name != "" {
				t.Errorf("%s has no argument %q", s.Name, name)
			}
		}
	}
}

func TestRead(t *testing.T) {
	long := ""
	for i := range 1200 {
		long += fmt.Sprintf("line %d\n", i+1)
	}
	b := newBench(t, map[string]string{"a": "one\ntwo\n", "open": "one\ntwo", "crlf": "one\r\ntwo\r\n", "empty": "", "long": long,
		"wide": strings.Repeat("é", 1500) + "\n", ".env": "TOKEN=1\n", "bin": "a\x00b"})
	for _, row := range []struct {
		args []any
		want string // of the result or the error
	}{
		{[]any{"path", "a"}, "1|one\n2|two\n"},
		{[]any{"path", "open"}, "1|one\n2|two\n"},
		{[]any{"path", "crlf"}, "1|one\n2|two\nThe file is CR LF line ends; that is kept when it is changed.\n"},
		{[]any{"path", "empty"}, "The file is empty.\n"},
		{[]any{"path", "a", "offset", 2}, "2|two\n"},
		{[]any{"path", "a", "offset", 9}, "The file has 2 lines.\n"},
		{[]any{"path", "a", "limit", 1}, "1|one\nLines 1 to 1 of 2; go on with offset 2.\n"},
		{[]any{"path", "long", "offset", 1199}, "1199|line 1199\n1200|line 1200\n"},
		{[]any{"path", "long"}, "Lines 1 to 500 of 1200; go on with offset 501."},
		{[]any{"path", "wide"}, "1|" + strings.Repeat("é", 1000) + "… (1000 more bytes in this line)\n"},
		{[]any{"path", "aa"}, "file does not exist"},
		{[]any{"path", "lon"}, "similar names: long"},
		{[]any{"path", "."}, "it is a directory; search_files"},
		{[]any{"path", "bin"}, "not text (images"},
		{[]any{"path", ".env"}, "secret-bearing environment file"},
		{[]any{"path", "a", "nonsense", 1}, `unknown field "nonsense"`},
		{[]any{}, "no path"},
	} {
		got, err := b.call(Read{b.o}, row.args...)
		if err != nil {
			got += err.Error()
		}
		if !strings.Contains(got, row.want) || strings.HasPrefix(row.want, "1|") && got != row.want {
			t.Errorf("%v: %q, want %q", row.args, got, row.want)
		}
	}
}

func TestWrite(t *testing.T) {
	b := newBench(t, map[string]string{"a": "one\ntwo\n", "open": "one", "crlf": "one\r\n"})
	for _, row := range []struct{ path, text, holds, want string }{
		{"a", "one\n2\n", "one\n2\n", "changed $HOME/work/a (+1 −1 lines)\n--- $HOME/work/a\n+++ $HOME/work/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"},
		{"a", "one\n2", "one\n2\n", "unchanged $HOME/work/a\n"},
		{"open", "two", "two", "changed"},
		{"crlf", "two\nthree\n", "two\r\nthree\r\n", "kept: CR LF line ends"},
		{"x/y/z", "new\n", "new\n", "created $HOME/work/x/y/z (+1 −0 lines)\n--- /dev/null\n"},
		{"a", "", "", "changed"},
	} {
		got, err := b.call(Write{b.o}, "path", row.path, "content", row.text)
		if err != nil || !strings.Contains(got, row.want) {
			t.Errorf("%s: %q, %v", row.path, got, err)
		}
		b.holds(row.path, row.holds)
	}
	if _, err := b.call(Write{b.o}, "path", "~/.ssh/id_rsa", "content", "x"); err == nil {
		t.Error("a key was written")
	}
	if f := b.turn.Footer(t.Context(), b.o.Workspace); !strings.Contains(f, "• ~/.ssh/id_rsa — [write_file] write") {
		t.Errorf("footer: %s", f)
	}
	if _, err := b.call(Write{b.o}, "path", "a"); err == nil {
		t.Error("no content")
	}
}

func TestReplace(t *testing.T) {
	const text = "func a() {\n\treturn 1\n}\n\nfunc b() {\n\treturn 1\n}\n"
	for _, row := range []struct {
		name, file, old, new string
		all                  bool
		holds, err           string
	}{
		{"once", text, "func b() {\n\treturn 1", "func b() {\n\treturn 2", false, strings.Replace(text, "b() {\n\treturn 1", "b() {\n\treturn 2", 1), ""},
		{"twice", text, "return 1", "return 2", false, text, "old_string is there 2 times (lines 2, 6)"},
		{"all", text, "return 1", "return 2", true, strings.ReplaceAll(text, "return 1", "return 2"), ""},
		{"gone", text, "return 1\n", "", true, strings.ReplaceAll(text, "return 1\n", ""), ""},
		{"spaces", text, "func a() {\n    return 1\n}", "x", false, text, "The nearest place is line 1, which differs only in indentation:\n1|func a() {\n2|\treturn 1"},
		{"trailing", "a  \nb\n", "a\nb", "x", false, "a  \nb\n", "differs only in spaces at the ends of lines"},
		{"quotes", "say “hi”\n", `say "hi"`, "x", false, "say “hi”\n", "differs only in quotation marks"},
		{"mixed ends", "a\r\nb\nc\r\n", "a\nb\nc", "x", false, "a\r\nb\nc\r\n", "differs only in line ends"},
		{"near", text, "func b() {\n\treturn 3\n}", "x", false, text, "The nearest place is line 5:"},
		{"nothing like it", text, "zzzzzzzz", "x", false, text, "Nothing in the file is like it"},
		{"empty file", "", "a", "x", false, "", "The file is empty."},
		{"CRLF", "a\r\nb\r\n", "a\nb\n", "a\nc\n", false, "a\r\nc\r\n", ""},
		{"CRLF from both", "a\r\nb\r\n", "a\r\nb", "a\r\nc", false, "a\r\nc\r\n", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": row.file})
			_, err := b.call(Patch{b.o}, "mode", "replace", "path", "f", "old_string", row.old, "new_string", row.new, "replace_all", row.all)
			if row.err == "" && err != nil || row.err != "" && (err == nil || !strings.Contains(err.Error(), row.err)) {
				t.Errorf("%v, want %q", err, row.err)
			}
			b.holds("f", row.holds)
		})
	}
	b := newBench(t, nil)
	for _, args := range [][]any{{"mode", "replace"}, {"mode", "x"}, {"mode", "replace", "path", "f", "old_string", "a", "new_string", "a"},
		{"mode", "replace", "path", "f", "old_string", "a", "new_string", "b"}, {"mode", "patch"}} {
		if _, err := b.call(Patch{b.o}, args...); err == nil {
			t.Errorf("%v passed", args)
		}
	}
}

func TestSearch(t *testing.T) {
	b := newBench(t, map[string]string{
		".git/config": "needle\n", ".gitignore": "/out/\n*.log\n!keep.log\n", "a.go": "package a\n// needle one\nfunc A() {}\n// needle two\n",
		"out/x.go": "needle\n", "y.log": "needle\n", "keep.log": "needle\n", "sub/b.txt": "no\nneedle\n", "sub/out/c.go": "needle\n",
		"sub/.gitignore": "*.tmp\n", "sub/d.tmp": "needle\n", "bin": "needle\x00\n", ".env": "needle=1\n", "u16.txt": "\xff\xfen\x00e\x00e\x00d\x00l\x00e\x00",
	})
	ok(t, os.Symlink("..", filepath.Join(b.dir, "up")))
	ok(t, os.Symlink("a.go", filepath.Join(b.dir, "link.go")))
	ok(t, os.MkdirAll(filepath.Join(b.home, ".ssh"), 0o700))
	ok(t, os.WriteFile(filepath.Join(b.home, ".ssh", "id_rsa"), []byte("needle\n"), 0o600))
	ok(t, os.Link(filepath.Join(b.home, ".ssh", "id_rsa"), filepath.Join(b.dir, "hard")))
	for _, row := range []struct {
		args []any
		want string
	}{
		{[]any{"pattern", "needle"}, "a.go:2:// needle one\na.go:4:// needle two\nkeep.log:1:needle\nsub/b.txt:2:needle\nsub/out/c.go:1:needle\nu16.txt:1:needle\n" +
			"6 found in 10 files. Not searched: 2 (may not be read). Not searched: 1 (binary).\n"},
		{[]any{"pattern", "^needle$", "file_glob", "*.txt"}, "sub/b.txt:2:needle\nu16.txt:1:needle\n2 found in 2 files.\n"},
		{[]any{"pattern", "needle", "file_glob", "sub/**"}, "sub/b.txt:2:needle\nsub/out/c.go:1:needle\n2 found in 3 files.\n"},
		{[]any{"pattern", "needle", "path", "sub"}, "sub/b.txt:2:needle\nsub/out/c.go:1:needle\n2 found in 3 files.\n"},
		{[]any{"pattern", "needle", "path", "a.go", "output_mode", "count"}, "a.go:2\n1 found in 1 files.\n"},
		{[]any{"pattern", "needle", "file_glob", "*.go", "output_mode", "files_only"}, "a.go\nsub/out/c.go\n2 found in 2 files.\n"},
		{[]any{"pattern", "needle one", "context", 1}, "a.go-1-package a\na.go:2:// needle one\na.go-3-func A() {}\n1 found"},
		{[]any{"pattern", "needle", "limit", 2}, "1 to 2 of 6 found in 10 files; go on with offset 2."},
		{[]any{"pattern", "needle", "offset", 5}, "u16.txt:1:needle\n6 found"},
		{[]any{"pattern", "*.go", "target", "files"}, "2 found in 2 files.\n"},
		{[]any{"pattern", "needle", "path", "~/.ssh"}, "0 found in 1 files. Not searched: 1 (may not be read)."},
		{[]any{"pattern", "nee", "path", "hard"}, "a key or credential store"},
		{[]any{"pattern", "("}, "missing closing )"},
		{[]any{"pattern", "x", "path", "none"}, "file does not exist"},
	} {
		got, err := b.call(Search{b.o}, row.args...)
		if err != nil {
			got += err.Error()
		}
		if !strings.Contains(got, row.want) {
			t.Errorf("%v: %q, want %q", row.args, got, row.want)
		}
	}
}
