package checked

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"hermes/internal/vectortest"
)

// parsers lists every type's parser behind one shape.
var parsers = []struct {
	name  string
	parse func(string) (string, error)
}{
	{"workdir", func(s string) (string, error) { v, err := ParseWorkdir(s); return v.String(), err }},
	{"job", func(s string) (string, error) { v, err := ParseJobID(s); return v.String(), err }},
	{"profile", func(s string) (string, error) { v, err := ParseProfileName(s); return v.String(), err }},
	{"env", func(s string) (string, error) { v, err := ParseEnvName(s); return v.String(), err }},
	{"host", func(s string) (string, error) { v, err := ParseHostname(s); return v.String(), err }},
	{"image", func(s string) (string, error) { v, err := ParseImage(s); return v.String(), err }},
}

func parser(t testing.TB, name string) func(string) (string, error) {
	for _, p := range parsers {
		if p.name == name {
			return p.parse
		}
	}
	t.Fatalf("no parser %q", name)
	return nil
}

var sum64 = strings.Repeat("0a", 32)

// Rows: type, text, and a piece of the refusal; "" means accepted.
var rows = []struct{ typ, text, refusal string }{
	// A working directory is a path in any script.
	{"workdir", "/", ""},
	{"workdir", ".", ""},
	{"workdir", "~", ""},
	{"workdir", "~/src/site", ""},
	{"workdir", "../up", ""},
	{"workdir", "/srv/My Documents", ""},
	{"workdir", `C:\Users\Alice\project`, ""},
	{"workdir", "D:/work tree", ""},
	{"workdir", `\\server\share`, ""},
	{"workdir", "/tmp/über/テスト/项目", ""},
	{"workdir", "/tmp/e\u0301te", ""},
	{"workdir", "/srv/テスト\u3000フォルダ", ""},
	{"workdir", "/srv/🚀", ""},
	{"workdir", "/opt/gtk+3.0/a=b,c@d", ""},
	// What a shell reads as more than a name is refused, at its place.
	{"workdir", "/tmp; rm -rf /", `';' at character 5`},
	{"workdir", "/tmp/über`id`", "'`' at character 10"},
	{"workdir", "/tmp/$(id)", `'$' at character 6`},
	{"workdir", "/tmp/(x)", `'(' at character 6`},
	{"workdir", "/tmp|x", `'|'`},
	{"workdir", "/tmp&", `'&'`},
	{"workdir", "/tmp>x", `'>'`},
	{"workdir", "/tmp<x", `'<'`},
	{"workdir", "/tmp/*", `'*'`},
	{"workdir", "/tmp/?", `'?'`},
	{"workdir", "/tmp/[a]", `'['`},
	{"workdir", "/tmp/{a,b}", `'{'`},
	{"workdir", "/tmp/!x", `'!'`},
	{"workdir", "/tmp/#x", `'#'`},
	{"workdir", "/tmp/'x'", `'\''`},
	{"workdir", `/tmp/"x"`, `'"'`},
	{"workdir", `C:\%TEMP%`, `'%'`},
	{"workdir", "C:\\Users\nwhoami", `'\n' at character 9`},
	{"workdir", "/tmp/\r", `'\r'`},
	{"workdir", "/tmp/\t", `'\t'`},
	{"workdir", "/tmp/ü\x00ber", `'\x00' at character 7`},
	{"workdir", "/tmp/\x1b[31m", `'\x1b'`},
	{"workdir", "/tmp/\u0085", `'\u0085'`},
	// What does not show, or shows in another order, is refused.
	{"workdir", "/tmp/a\u200bb", "invisible"},
	{"workdir", "/tmp/\u202egpj", `'\u202e'`},
	{"workdir", "/tmp/\u3164", "does not show"},
	{"workdir", "/tmp/\u2028x", "invisible"},
	{"workdir", "/tmp/\xff", "byte 0xff at character 6"},
	{"workdir", "/tmp/\uFFFD", "was lost"},
	// Characters that fold into shell syntax are no letters.
	{"workdir", "/tmp；rm", "only letters"},
	{"workdir", "/tmp/＄（id）", "only letters"},
	{"workdir", "-rf", "an option"},
	{"workdir", "./-rf", ""},
	{"workdir", "", "is empty"},
	{"workdir", " ", "is blank"},
	{"workdir", "/" + strings.Repeat("a", 4095), "longer than 4095"},

	// A job id is a file name.
	{"job", "a1b2c3d4e5f6", ""},
	{"job", "Daily_report-2", ""},
	{"job", strings.Repeat("a", 64), ""},
	{"job", strings.Repeat("a", 65), "longer"},
	{"job", "", "is empty"},
	{"job", "../x", `'.' at character 1`},
	{"job", "a/b", `'/' at character 2`},
	{"job", `a\b`, `'\\'`},
	{"job", "-x", "must come first"},
	{"job", "_x", "must come first"},
	{"job", "a b", `' '`},
	{"job", "é", `'é' at character 1`},
	{"job", "nul", "device"},
	{"job", "COM1", "device"},
	{"job", "com0", ""},
	{"job", "console", ""},

	// A profile is a folder, the same one on file systems that ignore case.
	{"profile", "default", ""},
	{"profile", "work-2", ""},
	{"profile", "Work", "lower-case"},
	{"profile", "a.b", `'.' at character 2`},
	{"profile", "..", `'.'`},
	{"profile", "~", `'~'`},
	{"profile", "aux", "device"},

	{"env", "PATH", ""},
	{"env", "_x1", ""},
	{"env", "1X", "must come first"},
	{"env", "A=B", `'=' at character 2`},
	{"env", "A-B", `'-'`},
	{"env", "BASH_FUNC_x%%", `'%'`},
	{"env", "A\x00", `'\x00'`},
	{"env", "", "is empty"},
	{"env", strings.Repeat("A", 256), "longer"},

	// A host name is a name, never an address in any spelling.
	{"host", "example.com", ""},
	{"host", "Example.COM.", ""},
	{"host", "localhost", ""},
	{"host", "my_server", ""},
	{"host", "xn--8g7ccp.example", ""},
	{"host", "3com.example", ""},
	{"host", "0xfe.example", ""},
	{"host", "127.0.0.1", "an address"},
	{"host", "127.1", "an address"},
	{"host", "2130706433", "an address"},
	{"host", "0x7f000001", "an address"},
	{"host", "0x7F.0x1", "an address"},
	{"host", "1.2.3.0x", "an address"},
	{"host", "::1", `':' at character 1`},
	{"host", "[::1]", `'['`},
	{"host", "exa mple", `' '`},
	{"host", "a..b", "missing"},
	{"host", ".a", "missing"},
	{"host", "a..", "missing"},
	{"host", ".", "is empty"},
	{"host", "", "is empty"},
	{"host", "-oProxyCommand=x", "begin with a dash"},
	{"host", "a-.b", "end with a dash"},
	{"host", "user@host", `'@' at character 5`},
	{"host", "host:22", `':'`},
	{"host", "１２７.０.０.１", "IDNA"},
	{"host", "münchen.de", "'ü' at character 2: fold"},
	{"host", strings.Repeat("a", 64), "longer than 63"},
	{"host", strings.Repeat("a.", 127) + "a", "longer than 253"},

	{"image", "alpine", ""},
	{"image", "alpine:3.20", ""},
	{"image", "nousresearch/hermes-sandbox:desktop", ""},
	{"image", "nikolaik/python-nodejs:python3.11-nodejs20", ""},
	{"image", "localhost:5000/a/b__c/d.e--f:V1", ""},
	{"image", "Registry.example.com/a@sha256:" + sum64, ""},
	{"image", "alpine:3@sha256:" + sum64, ""},
	{"image", "127.0.0.1:5000/a", ""},
	{"image", "", "is empty"},
	{"image", "-v", "begins and ends"},
	{"image", "--privileged", "begins and ends"},
	{"image", "Alpine", "lower case"},
	{"image", "a b", `' ' at character 2`},
	{"image", "a;b", `';'`},
	{"image", "a//b", "missing"},
	{"image", "/a", "missing"},
	{"image", "a/", "missing"},
	{"image", "a..b", "follow each other"},
	{"image", "a___b", "follow each other"},
	{"image", "a._b", "follow each other"},
	{"image", "a_", "begins and ends"},
	{"image", "a:", "missing"},
	{"image", "a:-x", `'-'`},
	{"image", "a:" + strings.Repeat("x", 129), "at most 128"},
	{"image", "a@sha256:12", "wrong length"},
	{"image", "a@sha1:" + sum64, "sha256 or sha512"},
	{"image", "a@sha256:" + strings.ToUpper(sum64), "hexadecimal"},
	{"image", "a@x", "algorithm"},
	{"image", "host:x/a", "a port"},
	{"image", "host:/a", "a port"},
	{"image", "[::1]:5000/a", "a registry"},
	{"image", "docker://alpine", "without a scheme"},
	{"image", "é", `at character 1`},
}

func TestParse(t *testing.T) {
	for _, row := range rows {
		got, err := parser(t, row.typ)(row.text)
		switch {
		case row.refusal == "" && err != nil:
			t.Errorf("%s %q: %v, want accepted", row.typ, row.text, err)
		case row.refusal != "" && err == nil:
			t.Errorf("%s %q: accepted, want %q", row.typ, row.text, row.refusal)
		case row.refusal != "" && !strings.Contains(err.Error(), row.refusal):
			t.Errorf("%s %q: %v, want %q in it", row.typ, row.text, err, row.refusal)
		case row.refusal != "" && got != "":
			t.Errorf("%s %q: refused, yet the value is %q", row.typ, row.text, got)
		}
	}
}

func TestHostnameIsFolded(t *testing.T) {
	if h, _ := ParseHostname("Example.COM."); h.String() != "example.com" {
		t.Errorf("got %q", h)
	}
}

func TestZeroValueIsAbsent(t *testing.T) {
	zero := []interface {
		IsZero() bool
		String() string
	}{Workdir{}, JobID{}, ProfileName{}, EnvName{}, Hostname{}, Image{}}
	for _, v := range zero {
		if !v.IsZero() || v.String() != "" {
			t.Errorf("%T{}: IsZero %v, String %q", v, v.IsZero(), v)
		}
	}
	if w, err := ParseWorkdir("/x"); err != nil || w.IsZero() {
		t.Errorf("a parsed value is zero: %v", err)
	}
}

// The vectors state what the original product accepts.
func TestWorkdirVectors(t *testing.T) {
	type vector struct {
		ID, Kind, Workdir string
		Expected          struct{ Accepted bool }
	}
	ran := 0
	for _, row := range vectortest.Rows[vector](t, "testdata/cwd.jsonl") {
		if row.Kind != "workdir" {
			continue
		}
		ran++
		if _, err := ParseWorkdir(row.Workdir); (err == nil) != row.Expected.Accepted {
			t.Errorf("%s: workdir %q: %v, want accepted %v", row.ID, row.Workdir, err, row.Expected.Accepted)
		}
	}
	if ran == 0 {
		t.Error("no workdir row in the vectors")
	}
}

// Whatever is accepted carries no shell syntax; whatever is refused says so in one line that a terminal can show.
func FuzzParse(f *testing.F) {
	for _, row := range rows {
		f.Add(row.text)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, p := range parsers {
			got, err := p.parse(s)
			if err != nil {
				var e *Error
				if !errors.As(err, &e) || got != "" {
					t.Fatalf("%s %q: value %q, error %T", p.name, s, got, err)
				}
				for _, r := range err.Error() {
					if r < ' ' || r == 0x7f || r == utf8.RuneError && !strings.Contains(s, "\uFFFD") {
						t.Fatalf("%s %q: message %q cannot be shown", p.name, s, err)
					}
				}
				continue
			}
			if got == "" || strings.ContainsAny(got, "\x00\n\r\t;&|<>()$`'\"*?[]{}!#%^") || got[0] == '-' {
				t.Fatalf("%s %q: accepted", p.name, s)
			}
			if again, err := p.parse(got); err != nil || again != got {
				t.Fatalf("%s %q: parsed again is %q, %v", p.name, s, again, err)
			}
		}
	})
}
