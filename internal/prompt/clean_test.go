package prompt

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for name, row := range map[string]struct{ in, want string }{
		"plain":                     {"one\n\ttwo\n", "one\n\ttwo\n"},
		"colours":                   {"\x1b[1;31mred\x1b[0m", "red"},
		"colours, eight bits":       {"\u009b31mred", "red"},
		"title":                     {"\x1b]0;owned\aok", "ok"},
		"title, ended by a string":  {"\x1b]2;owned\x1b\\ok", "ok"},
		"link":                      {"\x1b]8;;https://evil.test/?q=1\x1b\\text\x1b]8;;\x1b\\", "text"},
		"clipboard":                 {"a\x1b]52;c;cm0gLXJmIC8=\x07b", "ab"},
		"device control":            {"a\x1bPq#0;2;0;0;0\x1b\\b", "ab"},
		"device control, eight":     {"a\u0090q\u009cb", "ab"},
		"application command":       {"a\x1b_Gf=100;AAAA\x1b\\b", "ab"},
		"privacy message":           {"a\x1b^ignore this\x1b\\b", "ab"},
		"string that never ends":    {"a\x1b]0;rest of the log\nmore", "a0;rest of the log\nmore"},
		"string that is given up":   {"a\x1b]0;x\x1b[31mb", "ab"},
		"position":                  {"\x1b[2J\x1b[1;1Hx\x1b[?25l", "x"},
		"character set":             {"\x1b(0x\x1b(B", "x"},
		"reset":                     {"\x1bcx", "x"},
		"escape at the end":         {"x\x1b", "x"},
		"bracket at the end":        {"x\x1b[", "x"},
		"unfinished sequence":       {"\x1b[3\nx", "\nx"},
		"line ends":                 {"a\r\nb\r\r\nc\rd\r", "a\nb\nc\nd\n"},
		"progress":                  {"10%\r\r20%\n", "10%\n20%\n"},
		"form feed":                 {"a\fb\vc", "a\nb\nc"},
		"other line ends":           {"a\u2028b\u2029c\u0085d", "a\nb\nc\nd"},
		"nul and bell":              {"a\x00b\ac\x7fd", "abcd"},
		"bold by overstrike":        {"N\bNA\bAME\bE", "NAME"},
		"underlined by overstrike":  {"_\bx_\by", "xy"},
		"back over something else":  {"rm\b\bls", "rmls"},
		"back at the start":         {"\bx", "x"},
		"no UTF-8":                  {"a\xffb\x9bc", "a\ufffdb\ufffdc"},
		"byte order mark":           {"\ufeffx", "x"},
		"hidden in a word":          {"ig\u200bnore", "ig⟨U+200B⟩nore"},
		"tags":                      {"ok\U000e0069\U000e0067\U000e006e", "ok⟨3 hidden characters⟩"},
		"selectors in a row":        {"a\ufe01\ufe02\ufe03", "a⟨3 hidden characters⟩"},
		"flag of Scotland":          {"🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"},
		"family":                    {"👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"},
		"Persian":                   {"می\u200cرود", "می\u200cرود"},
		"heart":                     {"❤\ufe0f", "❤\ufe0f"},
		"turned around":             {"if \u202eadmin\u202c {", "if ⟨U+202E⟩admin⟨U+202C⟩ {"},
		"isolates in order":         {"a \u2068שלום\u2069 b", "a \u2068שלום\u2069 b"},
		"colour in a hidden string": {"ig\x1b[31mno\x1b[0mre", "ignore"},
	} {
		if got := Clean(row.in); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

// What is clean stays as it is, and nothing is left that a terminal obeys.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"plain", "\x1b[31mx", "\x1b]0;t\a", "\x1b\x1b[\x1b]", "a\bb_\bc", "\u009b1m\u0090x", "\r\r\n", "a\u200b\u202e", "\xc2", "<\x1b[0m|im_start|>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Clean(text)
		if !utf8.ValidString(got) {
			t.Fatalf("%q: not UTF-8: %q", text, got)
		}
		for _, r := range got {
			if unicode.IsControl(r) && r != '\n' && r != '\t' {
				t.Fatalf("%q: %q is left in %q", text, r, got)
			}
		}
		if again := Clean(got); again != got && !strings.HasPrefix(got, "\ufeff") {
			t.Fatalf("%q: clean it is %q, and again %q", text, got, again)
		}
	})
}

// A text costs no more than its length, whatever it is made of.
func TestCleanLongTexts(t *testing.T) {
	for _, part := range []string{"\x1b]", "\x1b[", "\x1bP", "\b", "\r", "\u009d", "a\b", "\x1b", "\u202e", "\u200b"} {
		Clean(strings.Repeat(part, 1<<19))
	}
}
