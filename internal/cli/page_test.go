package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/guard"
	"hermes/internal/guard/command"
)

func factName(f command.Fact) string {
	switch f {
	case command.Yes:
		return "yes"
	case command.No:
		return "no"
	}
	return "not known"
}

// A span is written «like this» in the text of a row.
var marks = []struct{ what, text, want string }{
	{"the guilty words", "F=-rf; «rm $F /etc»", `
    F=-rf; rm $F /etc
           ^^^^^^^^^^   note`},
	{"the guilty line of many", "cd /\n«rm *»\nls\n", `
    2  rm *
       ^^^^   note`},
	{"a span over lines", "a «b\nc\r\n»d", `
    1  a b
         ^
    2  c
       ^   note`},
	{"a long span over lines", "«1\n2\n3\n4\n5\n6»", `
    1  1
       ^
    2  2
       ^
    3  3
       ^
    4  4
       ^
    ... 2 more lines
       note`},
	{"wide characters take two columns", "项目 «删除» x", `
    项目 删除 x
         ^^^^   note`},
	{"combining marks take none", "e\u0301 «x»", "\n    e\u0301 x\n      ^   note"},
	{"tabs", "\ta\t«b»", `
        a   b
            ^   note`},
	{"control characters show", "a\x1b[31m «b\x00»\u202e", `
    a\x1b[31m b\x00\u202e
              ^^^^^   note`},
	{"bytes that are no text show", "\xff «b»", `
    \xff b
         ^   note`},
	{"nothing to point at", "«»rm x", `
    rm x
    note`},
	{"a long line is cut around the span", strings.Repeat("a", 200) + "«rm»" + strings.Repeat("b", 200),
		"\n    ..." + strings.Repeat("a", 18) + "rm" + strings.Repeat("b", 34) + "...\n" +
			strings.Repeat(" ", 25) + "^^   note"},
	{"a long line whose beginning is guilty", "«rm»" + strings.Repeat("b", 200),
		"\n    rm" + strings.Repeat("b", 52) + "...\n    ^^   note"},
	{"a span longer than the page", "«" + strings.Repeat("b", 200) + "»",
		"\n    " + strings.Repeat("b", 54) + "...\n    " + strings.Repeat("^", 54) + "   note"},
	{"an empty text", "«»", `

    note`},
}

func TestMarked(t *testing.T) {
	for _, row := range marks {
		before, rest, _ := strings.Cut(row.text, "«")
		guilty, after, _ := strings.Cut(rest, "»")
		var out bytes.Buffer
		p := page{w: &out, cols: 72, bar: "^", dots: "..."}
		p.marked(before+guilty+after, len(before), len(before)+len(guilty), "note")
		if diff := cmp.Diff(row.want+"\n", out.String()); diff != "" {
			t.Errorf("%s:\n%s", row.what, diff)
		}
	}
}

// Whatever the span, the page shows it without a panic, and nothing on it moves the cursor.
func FuzzMarked(f *testing.F) {
	f.Add("a\nb", 0, 3, 40)
	f.Add("项\t\x1b\xff", 1, 99, 0)
	f.Fuzz(func(t *testing.T, text string, start, end, cols int) {
		var out bytes.Buffer
		p := page{w: &out, cols: cols % 200, bar: "^", dots: "..."}
		p.marked(text, start, end, visible(text))
		if i := strings.IndexFunc(strings.ReplaceAll(out.String(), "\n", ""), func(r rune) bool {
			return r < ' ' || r == 0x7f || r == 0x202e
		}); i >= 0 {
			t.Fatalf("a control character in %q", out.String())
		}
	})
}

func TestAdvice(t *testing.T) {
	for _, row := range []struct {
		what string
		v    guard.Verdict
		want string
	}{
		{"the floor", guard.Verdict{Tier: guard.Hardline, Remedy: "name what you mean: `rm -r /etc/myapp`"},
			"No mode, approval or YOLO lifts this. Name what you mean: `rm -r /etc/myapp`."},
		{"the owner's rule", guard.Verdict{Tier: guard.UserDeny}, "Your own deny rule refuses this in every mode."},
		{"asked every time", guard.Verdict{Action: guard.Ask, Tier: guard.Self, Sticky: true},
			"This asks every time; no mode or allow-list lifts it."},
		{"an ordinary question", guard.Verdict{Action: guard.Ask, Tier: guard.Danger, Remedy: "use --force-with-lease"},
			"Use --force-with-lease."},
		{"a command at the end", guard.Verdict{Action: guard.Ask, Remedy: "try: rm x"}, "Try: rm x"},
		{"no remedy", guard.Verdict{Action: guard.Ask}, ""},
	} {
		if got := advice(row.v); got != row.want {
			t.Errorf("%s: %q, want %q", row.what, got, row.want)
		}
	}
}

// Lines and dots are for terminals that can show them.
func TestPageSuitsTheScreen(t *testing.T) {
	for _, row := range []struct {
		what     string
		terminal bool
		env      string
		bar      string
	}{
		{"a pipe", false, "LANG=en_US.UTF-8", "^"},
		{"a UTF-8 terminal", true, "LANG=de_DE.utf8", "━"},
		{"another encoding", true, "LANG=C", "^"},
		{"LC_ALL wins", true, "LC_ALL=C LANG=en_US.UTF-8", "^"},
		{"a dumb terminal", true, "TERM=dumb LANG=en_US.UTF-8", "^"},
		{"Windows", true, `WINDIR=C:\Windows`, "━"},
		{"nothing known", true, "", "^"},
	} {
		env := func(key string) string {
			for word := range strings.FieldsSeq(row.env) {
				if k, v, _ := strings.Cut(word, "="); k == key {
					return v
				}
			}
			return ""
		}
		if p := newPage(&IO{Terminal: row.terminal, Env: env}); p.bar != row.bar {
			t.Errorf("%s: %s, want %s", row.what, p.bar, row.bar)
		}
	}
}

// Script files are read for one text on the command line, but never a device, a pipe or a folder.
func TestReadScript(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "x.sh")
	if err := os.WriteFile(script, []byte("ls\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	big := filepath.Join(dir, "big.sh")
	if err := os.WriteFile(big, make([]byte, 1<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	f := localFacts(&IO{Env: func(string) string { return "" }}, checkOptions{dir: dir})
	for _, row := range []struct {
		name, want string
		ok         bool
	}{
		{"x.sh", "ls\n", true}, {"./x.sh", "ls\n", true}, {script, "ls\n", true},
		{"none.sh", "", false}, {dir, "", false}, {big, "", false}, {os.DevNull, "", false},
	} {
		if got, ok := f.File(row.name); got != row.want || ok != row.ok {
			t.Errorf("%s: %q, %v", row.name, got, ok)
		}
	}
}
