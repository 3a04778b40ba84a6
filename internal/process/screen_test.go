package process

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

func asIs(s string) string { return s }

// draw gives what a screen of 5 rows and 10 columns shows, and where the cursor is.
func draw(pieces ...string) (string, View) {
	s := NewScreen(5, 10)
	for _, p := range pieces {
		s.Write([]byte(p))
	}
	v := s.View(0, asIs)
	return strings.Join(v.Lines, "|"), v
}

var screens = []struct {
	what, in, want string
	row, col       int
}{
	{"plain", "ab\r\ncd", "ab|cd", 1, 2},
	{"a line feed goes straight down", "ab\ncd", "ab|  cd", 1, 4},
	{"backspace", "abc\b\bX", "aXc", 0, 2},
	{"tab", "a\tb", "a       b", 0, 9},
	{"bell and NUL show nothing", "a\a\x00b", "ab", 0, 2},
	{"colours show nothing", "\x1b[1;31;48;5;12mred\x1b[0m", "red", 0, 3},
	{"colon parameters", "\x1b[38:2::1:2:3mx", "x", 0, 1},
	// Wrapping: the last column holds a character until the next comes.
	{"full line", "0123456789", "0123456789", 0, 9},
	{"wraps", "0123456789a", "0123456789|a", 1, 1},
	{"carriage return in the last column", "0123456789\rX", "X123456789", 0, 1},
	{"no wrapping", "\x1b[?7l0123456789ab", "012345678b", 0, 9},
	// Scrolling.
	{"scrolls", "1\r\n2\r\n3\r\n4\r\n5\r\n6", "2|3|4|5|6", 4, 1},
	{"a region scrolls", "1\r\n2\r\n3\r\n4\r\n5\x1b[2;4r\x1b[4;1H\nX", "1|3|4|X|5", 3, 1},
	{"reverse index at the top", "1\r\n2\x1b[H\x1bMX", "X|1|2", 0, 1},
	{"scroll up and down", "1\r\n2\r\n3\x1b[S\x1b[2T", "||2|3", 2, 1},
	// The cursor.
	{"to a place", "\x1b[3;4HX", "||   X", 2, 4},
	{"beyond the edge", "\x1b[99;99HX", "||||         X", 4, 9},
	{"relative", "\x1b[3;5H\x1b[2A\x1b[3DX\x1b[B\x1b[2CY", " X|    Y", 1, 5},
	{"column and line", "abc\x1b[2GX\x1b[3dY", "aXc||  Y", 2, 3},
	{"next and previous line", "ab\x1b[2Ec\x1b[Fd", "ab|d|c", 1, 1},
	{"saved and restored", "ab\x1b7\x1b[4;4H\x1b8X", "abX", 0, 3},
	{"saved and restored as ANSI does", "ab\x1b[s\x1b[4;4H\x1b[uX", "abX", 0, 3},
	// Erasing, inserting, deleting.
	{"to the end of the line", "abcdef\x1b[3D\x1b[K", "abc", 0, 3},
	{"to the beginning of the line", "abcdef\x1b[4D\x1b[1K", "   def", 0, 2},
	{"all", "ab\r\ncd\x1b[2JX", "|  X", 1, 3},
	{"below", "ab\r\ncd\r\nef\x1b[2;2H\x1b[J", "ab|c", 1, 1},
	{"above", "ab\r\ncd\r\nef\x1b[2;1H\x1b[1J", "| d|ef", 1, 0},
	{"characters", "abcdef\x1b[1G\x1b[2X", "  cdef", 0, 0},
	{"delete characters", "abcdef\x1b[2G\x1b[2P", "adef", 0, 1},
	{"insert blanks", "abcdef\x1b[2G\x1b[2@", "a  bcdef", 0, 1},
	{"insert mode", "abc\x1b[1G\x1b[4hX\x1b[4lY", "XYbc", 0, 2},
	{"delete lines", "1\r\n2\r\n3\r\n4\x1b[2H\x1b[2M", "1|4", 1, 0},
	{"insert lines", "1\r\n2\r\n3\x1b[2H\x1b[L", "1||2|3", 1, 0},
	{"repeat", "a\x1b[4b", "aaaaa", 0, 5},
	// The second screen.
	{"is empty and goes away", "shell\x1b[?1049hfull\x1b[?1049l!", "shell!", 0, 6},
	{"is what is seen", "shell\x1b[?1049h\x1b[Hfull", "full", 0, 4},
	// Characters.
	{"wide", "日本x", "日本x", 0, 5},
	{"half of a wide one is none", "日本\x1b[2GX", " X本", 0, 2},
	{"wide at the edge", "123456789日", "123456789|日", 1, 2},
	{"combining", "e\u0301x", "e\u0301x", 0, 2},
	{"line drawing", "\x1b(0lqk\x1b(Blqk", "┌─┐lqk", 0, 6},
	{"shifted", "\x1b)0\x0eq\x0fq", "─q", 0, 2},
	{"bytes that are no character", "a\xffb\xc3(", "a\ufffdb\ufffd(", 0, 5},
	// What is not for the screen.
	{"title", "\x1b]0;a title\x07x", "x", 0, 1},
	{"a string that ends with ST", "\x1bPq#0;1~\x1b\\x", "x", 0, 1},
	{"clipboard", "\x1b]52;c;ZXZpbA==\x07x", "x", 0, 1},
	{"a link", "\x1b]8;;http://x/\x1b\\text\x1b]8;;\x1b\\", "text", 0, 4},
	{"cancelled", "\x1b[3\x18x\x1b]0;t\x1ay", "xy", 0, 2},
	{"unknown sequences", "\x1b[?2004h\x1b[>4;2m\x1b[ q\x1b=\x1b>x", "x", 0, 1},
	{"too many parameters", "\x1b[" + strings.Repeat("1;", 100) + "1mx", "x", 0, 1},
	{"a huge number", "\x1b[999999999999999999999Cx", "         x", 0, 9},
	{"reset", "abc\x1bcx", "x", 0, 1},
}

func TestScreen(t *testing.T) {
	for _, row := range screens {
		for _, pieces := range [][]string{{row.in}, strings.Split(row.in, "")} { // characters one by one are the same
			got, v := draw(pieces...)
			if got != strings.TrimRight(row.want, "|") || v.Row != row.row || v.Col != row.col {
				t.Errorf("%s: %q at %d,%d, want %q at %d,%d", row.what, got, v.Row, v.Col, row.want, row.row, row.col)
			}
		}
		s := NewScreen(5, 10)
		for i := range len(row.in) {
			s.Write([]byte{row.in[i]})
		}
		want, _ := draw(row.in)
		if got := strings.Join(s.View(0, asIs).Lines, "|"); got != want {
			t.Errorf("%s, byte by byte: %q", row.what, got)
		}
	}
}

func TestScreenAnswers(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[5n": "\x1b[0n", "\x1b[2;3H\x1b[6n": "\x1b[2;3R", "\x1b[c": "\x1b[?6c", "\x1b[0c": "\x1b[?6c", "\x1b[>c": "\x1b[>0;0;0c",
		"\x1b]10;?\x07": "", "\x1bP+q544e\x1b\\": "", "\x1b[21t": "", "\x1b[?6c": "",
	} {
		if got := string(NewScreen(5, 10).Write([]byte(in))); got != want {
			t.Errorf("%q is answered %q, want %q", in, got, want)
		}
	}
	if got := NewScreen(5, 10).Write([]byte(strings.Repeat("\x1b[6n", 10_000))); len(got) > 2<<10 {
		t.Errorf("an answer of %d bytes", len(got))
	}
}

func TestScreenHistory(t *testing.T) {
	s := NewScreen(3, 10)
	for i := range 2000 {
		fmt.Fprintf(writer{s}, "line %d\r\n", i)
	}
	v := s.View(2, asIs)
	if got := strings.Join(v.Lines, "|"); got != "line 1996|line 1997|line 1998|line 1999" || v.Above != 2 {
		t.Errorf("%q, %d above", got, v.Above)
	}
	if v := s.View(1<<30, asIs); v.Above < maxAbove || v.Above > maxAbove*5/4 {
		t.Errorf("%d lines are kept", v.Above)
	}
	// What the second screen scrolls away is gone.
	s.Write([]byte("\x1b[?1049h" + strings.Repeat("x\r\n", 10) + "\x1b[?1049l"))
	if v := s.View(10, asIs); strings.Contains(strings.Join(v.Lines, ""), "x") {
		t.Errorf("%q", v.Lines)
	}
}

type writer struct{ s *Screen }

func (w writer) Write(p []byte) (int, error) { w.s.Write(p); return len(p), nil }

// A secret is one, however the screen cuts it.
func TestScreenClean(t *testing.T) {
	const secret = "SECRET-0123456789-SECRET"
	clean := func(s string) string { return strings.ReplaceAll(s, secret, "[gone]") }
	for _, in := range []string{
		secret, "12345678" + secret, strings.Repeat("\r\n", 4) + secret, strings.Repeat("\r\n", 3) + "123456" + secret + "\r\n",
		"SECRET-\x1b[31m0123456789\x1b[0m-SECRET", "\x1b]0;" + secret + "\x07",
	} {
		s := NewScreen(5, 10)
		s.Write([]byte(in))
		for _, above := range []int{0, 1, 2, 100} {
			v := s.View(above, clean)
			if text := strings.Join(v.Lines, ""); strings.Contains(text, "0123") || !strings.Contains(text+v.Title, "[gone]") {
				t.Errorf("%q, %d above: %q", in, above, v.Lines)
			}
		}
	}
}

func TestScreenResize(t *testing.T) {
	s := NewScreen(5, 10)
	s.Write([]byte("1\r\n2\r\n3\r\n4\r\n5 and more"))
	for _, row := range []struct {
		rows, cols int
		want       string
	}{
		{3, 10, "3|4|5 and more"}, {3, 6, "3|4|5 and"}, {5, 20, "3|4|5 and"}, {1, 1, "5"}, {2, 2, "5"}, {0, -3, "5"}, {1 << 30, 1 << 30, "5"},
	} {
		s.Resize(row.rows, row.cols)
		v := s.View(0, asIs)
		if got := strings.Join(v.Lines, "|"); got != row.want || v.Row >= v.Rows || v.Col >= v.Cols || v.Rows > maxRows || v.Cols > maxCols {
			t.Errorf("%d×%d: %q, %+v", row.rows, row.cols, got, v)
		}
	}
}

// However few bytes ask for much: a screen keeps up.
func TestScreenBounded(t *testing.T) {
	for _, unit := range []string{"\x1bc", "\x1b[99S", "\x1b[99L", "\x1b[J", "\x1b[?1049h\x1b[?1049l", "a\x1b[65535b", "\x1b[99I", "e\u0301\u0301", "\n", "日", "\x1b]0;x\x07"} {
		s := NewScreen(30, 100)
		in := []byte(strings.Repeat(unit, 20_000/len(unit)))
		begin := time.Now()
		s.Write(in)
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%q: %s for 20 kB", unit, took)
		}
	}
}

func TestPlain(t *testing.T) {
	for _, row := range []struct{ what, in, want string }{
		{"plain", "a\tb", "a\tb"},
		{"end of a terminal's line", "abc\r", "abc"},
		{"colours", "\x1b[1;32mok\x1b[0m done", "ok done"},
		{"progress", "10%\r50%\r100%", "100%"},
		{"a shorter line over a longer one", "downloading\r\x1b[Kdone", "done"},
		{"backspace", "abc\b\b\bxyz", "xyz"},
		{"title and link", "\x1b]0;t\x07a\x1b]8;;http://x\x1b\\b\x1b]8;;\x1b\\", "ab"},
		{"unfinished", "a\x1b[3", "a"},
		{"C1 as UTF-8", "a\u009b31mb", "a31mb"},
		{"no character", "a\xffb", "a\ufffdb"},
		{"cursor", "abcdef\x1b[4DX\x1b[1CY\x1b[GZ", "ZbXdYf"},
	} {
		if got := Plain(row.in); got != row.want {
			t.Errorf("%s: %q, want %q", row.what, got, row.want)
		}
	}
}

// Whatever a program prints: what is shown is text that no terminal obeys, within the screen, and bounded.
func FuzzScreen(f *testing.F) {
	for _, row := range screens {
		f.Add(row.in)
	}
	f.Add("\x1b[5;2r\x1b[?6h\x1b[9A\x1b[99L\x1b[99M\x1b[99@\x1b[99P日\x1b[10G日\x1b[4h日")
	f.Fuzz(func(t *testing.T, in string) {
		s := NewScreen(4, 7)
		for i, r := range in {
			s.Write([]byte(string(r)))
			if i%7 == 6 {
				s.Resize(int(r)%9, int(r)%13)
			}
		}
		s.Write([]byte(in))
		v := s.View(10, asIs)
		for _, text := range append(v.Lines, v.Title, Plain(in)) {
			for _, r := range text {
				if unicode.IsControl(r) && r != '\t' {
					t.Fatalf("%q shows %q", in, text)
				}
			}
			if !utf8.ValidString(text) {
				t.Fatalf("%q is no UTF-8", text)
			}
		}
		if v.Row < 0 || v.Row >= v.Rows || v.Col < 0 || v.Col >= v.Cols || len(v.Lines)-v.Above > v.Rows || v.Above > 10 {
			t.Fatalf("%q: %+v", in, v)
		}
	})
}
