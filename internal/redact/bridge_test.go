package redact

import "testing"

// TestSplitTokens: what cannot be seen does not hide a token, and a token does not swallow what follows it.
func TestSplitTokens(t *testing.T) {
	const head, tail = "ghp" + "_abcdef", "1234567890ABCDEF1234567890"
	for _, row := range []struct{ what, text, want string }{
		{"zero width", "a " + head + "\u200b" + tail + " b", "a *** b"},
		{"soft hyphen", "a " + head + "\u00ad" + tail + " b", "a *** b"},
		{"control", "a " + head + "\x01" + tail + " b", "a *** b"},
		{"colour inside", "a " + head + "\x1b[31m" + tail + "\x1b[0m b", "a ***\x1b[0m b"},
		{"colour in front", "\x1b[01;31m\x1b[K" + head + tail + "\x1b[m b", "\x1b[01;31m\x1b[K***\x1b[m b"},
		{"colour in the prefix", "a gh" + "\x1b[1mp_" + "abcdef" + tail + " b", "a *** b"},
		{"line end", "a " + head + "\n" + tail + "\nb", "a ***\nb"},
		{"line end of Windows", "a " + head + "\r\n" + tail + "\r\nb", "a ***\r\nb"},
		{"a whole token keeps its line", head + tail + "\nbutton1", "***\nbutton1"},
		{"an assignment on the next line", head + "\nNAME1234567890=x", head + "\nNAME1234567890=x"},
		{"a word on the next line", "sk-\nconfiguration of things", "sk-\nconfiguration of things"},
		{"backslash escape", `a\n` + head + tail + `\n`, `a\n***\n`},
		{"percent escape", "x%3D" + head + tail, "x%3D***"},
		{"removed line of a diff", "-" + head + tail, "-***"},
	} {
		for _, m := range []Mode{Text, Code} {
			if got := anyMark.ReplaceAllString(testRedactor(m).String(row.text), "***"); got != row.want {
				t.Errorf("%s, %v: got %q, want %q", row.what, m, got, row.want)
			}
			checkInvariants(t, row.text)
		}
	}
}
