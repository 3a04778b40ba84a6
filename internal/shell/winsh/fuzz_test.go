package winsh

import (
	"strings"
	"testing"
)

// size counts commands, with those within others.
func size(t *testing.T, cmds []Command, limit int) (n int) {
	for _, c := range cmds {
		n++
		if c.Start < 0 || c.Start > c.End || c.End > limit {
			t.Fatalf("%q: span %d..%d is not within 0..%d", c.Raw, c.Start, c.End, limit)
		}
		for _, u := range c.Unknown {
			if u < 0 || u >= len(c.Args) {
				t.Fatalf("%q: unknown argument %d of %d", c.Raw, u, len(c.Args))
			}
		}
		for _, p := range c.Nested {
			if p.Start < 0 || p.Start > p.End || p.End > limit {
				t.Fatalf("%q: payload span %d..%d is not within 0..%d", c.Raw, p.Start, p.End, limit)
			}
			n += size(t, p.Commands, limit)
		}
	}
	return n
}

// Whatever the text: spans lie within it, the work is bounded, and a destructive line put behind it on a line of its own
// is either found or the text is not harmless.
func FuzzParse(f *testing.F) {
	for _, r := range Table() {
		for _, text := range append(r.Hits, r.Passes...) {
			s, ps := strings.CutPrefix(text, "PS> ")
			f.Add(s, ps)
		}
	}
	f.Add("$a='x'*9;$a=$a+$a;iex $a", true)
	f.Add("@'\n'@ @{a=$(", true)
	f.Add("for %i in (", false)
	f.Fuzz(func(t *testing.T, text string, ps bool) {
		d := Cmd
		if ps {
			d = PowerShell
		}
		cmds := Parse(d, text)
		if n := size(t, cmds, len(text)); n > 16*len(text)+64 {
			t.Fatalf("%d commands from %d bytes", n, len(text))
		}
		for _, h := range Rules(cmds) {
			if h.Start < 0 || h.Start > h.End || h.End > len(text) {
				t.Fatalf("hit %q at %d..%d of %d", h.Key, h.Start, h.End, len(text))
			}
		}
		if key, start, end, ok := SecretPath(text); ok && (key == "" || start < 0 || start >= end || end > len(text)) {
			t.Fatalf("secret path %q at %d..%d of %d", key, start, end, len(text))
		}
		if len(Rules(cmds)) > 0 && Harmless(cmds) {
			t.Fatal("harmless, though a rule is met")
		}
		// In front of anything that reads well, a destructive command stays what it is.
		line := "rd /s /q old\n"
		if ps {
			line = "Remove-Item old -Recurse\n"
		}
		if Harmless(Parse(d, line+text)) {
			t.Fatalf("harmless: %q", line+text)
		}
	})
}

// Time grows with the text and no faster: ten times the text costs at most some dozen times the allocations.
func TestLinear(t *testing.T) {
	for _, row := range []struct {
		d    Dialect
		unit string
	}{
		{Cmd, "dir & "}, {Cmd, "for %i in (a b) do del %i\n"}, {Cmd, "set a=%a%%a%x\n"}, {Cmd, "("}, {Cmd, "%a"}, {Cmd, `"`}, {Cmd, "^"}, {Cmd, "cmd /c "},
		{Cmd, "call "}, {Cmd, "if "}, {Cmd, `echo a | powershell -c "`}, {Cmd, "!a!"}, {Cmd, "set a=b& %a:~0,1% "},
		{PowerShell, "dir | ri; "}, {PowerShell, "("}, {PowerShell, "$("}, {PowerShell, `"$(`}, {PowerShell, "{"}, {PowerShell, "@{a="}, {PowerShell, "'a',"},
		{PowerShell, "$a+=$a+'x';"}, {PowerShell, "iex $a;$a='iex $a';"}, {PowerShell, "a.b("}, {PowerShell, "[a]"}, {PowerShell, "@'\n"}, {PowerShell, "<#"},
		{PowerShell, "$a=$a,'x';ri @a $a;"}, {PowerShell, "powershell {"}, {PowerShell, "-join"}, {PowerShell, "$a.b.c"}, {PowerShell, "sal a a;"}, {PowerShell, "$a"},
		{PowerShell, "'{0}{0}' -f "}, {PowerShell, "\u201c"}, {PowerShell, "$a=@('x','y')+$a;$a|iex;"},
	} {
		work := func(n int) float64 {
			text := strings.Repeat(row.unit, n/len(row.unit)+1)
			return testing.AllocsPerRun(1, func() { Rules(Parse(row.d, text)) }) + float64(size(t, Parse(row.d, text), len(text)))
		}
		small, big := work(2000), work(20000)
		if big > 14*small+4000 {
			t.Errorf("%q: %.0f at 2 kB, %.0f at 20 kB", row.unit, small, big)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for _, row := range []struct{ name, text string }{
		{"cmd", `cmd /c "if exist C:\work\old rd /s /q C:\work\old & dir > list.txt"`},
		{"powershell", `$p = 'C:\work'; Get-ChildItem "$p\logs" -Recurse | Where-Object { $_.Length -gt 1MB } | Remove-Item -Force`},
		{"encoded", `powershell -NoProfile -enc UgBlAG0AbwB2AGUALQBJAHQAZQBtACAALQBSAGUAYwB1AHIAcwBlACAAQwA6AFwA`},
		{"cmd100k", strings.Repeat("dir /s C:\\work & type a.txt | findstr x\r\n", 2500)},
		{"powershell100k", strings.Repeat("Get-ChildItem 'a b' | % { \"$($_.Name) x\" }\n", 2300)},
	} {
		d := Cmd
		if strings.HasPrefix(row.name, "powershell") {
			d = PowerShell
		}
		b.Run(row.name, func(b *testing.B) {
			b.SetBytes(int64(len(row.text)))
			for b.Loop() {
				Rules(Parse(d, row.text))
			}
		})
	}
	b.Run("secretpath100k", func(b *testing.B) {
		text := strings.Repeat(`copy .\a.ssh C:\Users\me\x.env `, 3300)
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			SecretPath(text)
		}
	})
}
