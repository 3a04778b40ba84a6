package tui

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/agent"
	"hermes/internal/chat"
	"hermes/internal/session"
)

func joined(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.String() + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func TestMarkdown(t *testing.T) {
	for _, row := range []struct{ what, src, want string }{
		{"a paragraph is filled", "one\ntwo", "one two"},
		{"a break is kept", "one  \ntwo", "one\ntwo"},
		{"paragraphs", "one\n\ntwo", "one\n\ntwo"},
		{"a heading", "# Plan\ntext", "# Plan\n\ntext"},
		{"a rule below a text is a rule", "text\n---\nmore", "text\n\n" + strings.Repeat("─", 40) + "\n\nmore"},
		{"code in a text", "run `go  test`", "run `go  test`"},
		{"emphasis", "**bold** and *thin* and ~~gone~~", "bold and thin and gone"},
		{"tildes alone", "about ~5 and ~6", "about ~5 and ~6"},
		{"a block of code keeps its blanks and its empty lines", "```go\nif x {\n\n\treturn  y\n```", "  if x {\n\n      return  y"},
		{"one that has not ended", "text\n```sh\nls", "text\n\n  ls"},
		{"a list", "- one\n- two\n  - three\n\n    more", "• one\n• two\n  • three\n\n    more"},
		{"a list of numbers", "3. a\n4. b", "3. a\n4. b"},
		{"a list with space", "- a\n\n- b", "• a\n\n• b"},
		{"nested and tight", "1. a\n   - b\n   - c\n2. d", "1. a\n   • b\n   • c\n2. d"},
		{"an empty item", "-\n- b", "•\n• b"},
		{"code in a list", "- a\n  ```\n  x\n  ```\n- b", "• a\n    x\n• b"},
		{"a quotation", "> a\n> b\n>\n> c", "│ a b\n│\n│ c"},
		{"a link shows where it goes", "see [google.com](https://evil.example/x)", "see google.com (https://evil.example/x)"},
		{"a link that says it", "<https://go.dev> [https://go.dev](https://go.dev)", "https://go.dev https://go.dev"},
		{"a link without text", "[](https://evil.example)", "https://evil.example"},
		{"an image", "![cat](https://evil.example/?q=secret)", "image: cat (https://evil.example/?q=secret)"},
		{"HTML is text", "<b>x</b> <script>alert(1)</script>", "<b>x</b> <script>alert(1)</script>"},
		{"a block of HTML", "<div>\n\n# x\n\n</div>", "<div>\n\n# x\n\n</div>"},
		{"a definition stays", "[a]: https://evil.example\n\n[a]", "[a]: https://evil.example\n\n[a]"},
		{"escapes and entities", `\*a\* &lt;b&gt; &#x41;`, "*a* <b> A"},
		{"an entity that is a command", "a&#27;[2Jb&#x202e;c &#x9b;", `a\x1b[2Jb\u202ec \u009b`},
		{"a table", "| a | b |\n|---|:-:|\n| 1 | x `p|q` |\n| 22 |", "a   b\n──  ───────\n1   x `p|q`\n22"},
		{"more cells than columns", "|a|b|\n|-|-|\n|1|2|3|", "a  b\n─  ───\n1  2|3"},
		{"no table", "a | b\nc | d", "a | b c | d"},
		{"tasks", "- [ ] a\n- [x] b", "• [ ] a\n• [x] b"},
		{"wide letters", "界界界 界", "界界界 界"},
	} {
		got := joined(markdown(row.src, 60, Look{Wide: true}))
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", row.what, diff)
		}
	}
}

func TestMarkdownNarrow(t *testing.T) {
	for _, row := range []struct {
		src  string
		cols int
		want string
	}{
		{"one two three", 8, "one two\nthree"},
		{"one two three", 7, "one two\nthree"},
		{"0123456789", 4, "0123\n4567\n89"},
		{"- one two three", 9, "• one two\n  three"},
		{"界界界界", 5, "界界\n界界"},
		{"a 界界界", 4, "a 界\n界界"},
		{"```\nlong line of code\n```", 10, "  long lin\n  e of cod\n  e"},
		{"> quoted text", 9, "│ quoted\n│ text"},
		{"| name | what it is |\n|---|---|\n| alpha | the first letter |", 24, "name   what it is\n─────  ────────────────\nalpha  the first letter"},
		{"| name | what it is |\n|---|---|\n| alpha | the first letter |", 20, "name   what it is\n─────  ─────────────\nalpha  the first\n       letter"},
		{"| name | what it is |\n|---|---|\n| alpha | the first |", 10, "name:\n  alpha\nwhat it\n  is: the\n  first"},
	} {
		got := joined(markdown(row.src, row.cols, Look{Wide: true}))
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%q in %d: -want +got\n%s", row.src, row.cols, diff)
		}
	}
}

// Whatever the text and the width, no line is wider, and nothing in it is obeyed. Letters of two columns need two.
func FuzzMarkdown(f *testing.F) {
	for _, s := range append([]string{answerText, "> > > > > > > > > > > deep", "1. a\n   1. b\n      1. c", "|a|b|\n|-|-|\n|界|`|`|", "~~~~\n~~~", "***a** b*"}, attacks...) {
		f.Add(s, 20)
	}
	f.Fuzz(func(t *testing.T, s string, cols int) {
		if cols < 2 || cols > 300 || len(s) > 4096 {
			return
		}
		var piecewise stream
		for _, lines := range [][]line{markdown(s, cols, color), piecewise.with(s[:len(s)/2], cols), piecewise.with(s, cols)} {
			for _, l := range lines {
				if n := l.cols(); n > cols {
					t.Fatalf("a line takes %d of %d columns: %q", n, cols, l.String())
				}
				checkSafe(t, "a line", l.String(), false)
			}
		}
	})
}

func (s *stream) with(text string, cols int) []line {
	s.text = text
	return s.lines(cols, color)
}

func BenchmarkOpen(b *testing.B) {
	var many []session.Message
	for len(many) < 10_000 {
		many = append(many, stored()...)
	}
	for b.Loop() {
		s := newStage(120, 40, color)
		s.hear(chat.Opened{History: many}, chat.Changed{Status: status()})
		s.View()
	}
}

func BenchmarkStreaming(b *testing.B) {
	for b.Loop() {
		s := newStage(120, 40, color)
		s.hear(chat.Opened{}, chat.Changed{Status: busy(status())})
		for range 200 {
			s.turn(agent.Text{Text: answerText})
			s.View()
		}
	}
}
