package code

import (
	"strings"
	"testing"
)

// FuzzScan: no panic, every span lies inside the text, and blank space or a comment behind the text loses no effect.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		`import os; os.system(f"rm {x!r:>{y}}")`, "`rm`; s{a}{b}e; print <<E\nx\nE\n", "const {a: b} = require('x'); `${a}`",
		`puts "#{%x(id)}" if /a/`, `<?php $f("x"); ?> y`, `--[[ x ]] os.execute[[id]]`, `{print $1 > "x" | getline}`, `s/[a]/b/w x`,
		`SELECT $$x$$; \! id`, `:!id | g/x/d`, "all:\n\t$(X)", `do shell script "x" & y`, `puts [exec id]`, `f(((((((((`, `"\x`, `[]}{)(`,
		"((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1", `"${"${"${"${"${x}"}"}"}"}"`, `a.b.c.d["e"]::f->g`,
	} {
		for l := range langs {
			f.Add(uint8(l), seed)
		}
	}
	f.Fuzz(func(t *testing.T, l uint8, text string) {
		lang := Lang(l) % langs
		r := Scan(lang, text)
		all := append(append(append(append(append([]Fragment{}, r.Shell...), r.Writes...), r.Deletes...), r.Reads...), r.Hosts...)
		for _, argv := range r.Exec {
			all = append(all, argv...)
		}
		for _, q := range r.SQL {
			all = append(all, Fragment{Start: q.Start, End: q.End, Known: true})
		}
		for _, fr := range all {
			if fr.Start < 0 || fr.End < fr.Start || fr.End > len(text) {
				t.Fatalf("%v %q: span %d:%d", lang, text, fr.Start, fr.End)
			}
			if fr.Known == strings.Contains(fr.Text, unknown) {
				t.Fatalf("%v %q: known = %v for %q", lang, text, fr.Known, fr.Text)
			}
		}
		for _, tail := range tails(lang) {
			// A text that ends inside a token is Unknown, and the tail may then finish the token.
			more := Scan(lang, text+tail).Effects
			if lost := r.Effects &^ more; lost != 0 && r.Effects&Unknown == 0 {
				t.Fatalf("%v %q + %q: loses %v", lang, text, tail, lost)
			}
		}
	})
}

func tails(lang Lang) []string {
	switch lang {
	case Node:
		return []string{" ", "\n", "\n// x", "\n/* x */"}
	case Lua:
		return []string{" ", "\n", "\n-- x"}
	case SQL:
		return []string{" ", "\n", "\n-- x"}
	case Vim, AppleScript, Unlisted:
		return []string{" ", "\n"}
	}
	return []string{" ", "\n", "\n# x"}
}

// FuzzQuote: text that is only the inside of a string is data, whatever it says.
func FuzzQuote(f *testing.F) {
	f.Add("os.system('rm -rf /')")
	f.Add("#{x}`$(y)")
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range text {
			if c < ' ' || c == '\\' || c == '\'' || c > '~' {
				return
			}
		}
		for lang, before := range map[Lang]string{Python: "print('", Perl: "print '", Ruby: "puts '", PHP: "echo '", Node: "console.log('", Lua: "print('", SQL: "SELECT '"} {
			after := "'"
			if strings.Contains(before, "(") {
				after = "')"
			}
			if lang == Node && machinery(text) {
				continue
			}
			if r := Scan(lang, before+text+after); !r.Effects.Harmless() {
				t.Fatalf("%v %q: %v", lang, before+text+after, r.Effects)
			}
		}
	})
}

func BenchmarkOneLiner(b *testing.B) {
	for _, r := range []struct {
		lang Lang
		text string
	}{
		{Python, `import json,sys;print(json.load(sys.stdin)["x"])`}, {Python, `import os; os.system("rm -rf /")`}, {Node, `require("./package.json").version`},
		{Perl, `print if /foo/`}, {Ruby, `puts 1+1`}, {PHP, `echo PHP_VERSION;`}, {Awk, `{s+=$1} END {print s}`}, {Sed, `s/a/b/g`}, {SQL, `SELECT * FROM t WHERE id = 3`},
	} {
		b.Run(r.lang.String(), func(b *testing.B) {
			for b.Loop() {
				Scan(r.lang, r.text)
			}
		})
	}
}

func BenchmarkLong(b *testing.B) {
	for _, n := range []int{1, 10} {
		for _, r := range []struct {
			lang Lang
			text string
		}{
			{Python, "import os\nfor x in open('a'):\n    y = x.strip() + 'a b c'\n    print(y, os.path.join('a', y))\n"}, {Node, "const f = (a, b) => { console.log(`x ${a}`, b.map(x => x + 1)); };\n"},
			{Perl, "my $x = 'a'; print \"$x $h{y}\\n\" if $x =~ /b/;\n"}, {Awk, "{ a[$1] += $2; print a[$1] \"x\" }\n"}, {Sed, "s/a[bc]/d/g\n"}, {SQL, "SELECT a, count(*) FROM t WHERE b = 'c' GROUP BY a;\n"},
			{Python, "((((((((("}, {Node, "`${`${"}, {Ruby, "<<A <<B\n"}, {Node, "a=>(b,"}, {Perl, "$x{$y{"}, {Node, "a)/b/"}, {Awk, "((x|getline"},
		} {
			text := strings.Repeat(r.text, n*10_000/len(r.text))
			name := r.lang.String() + "/" + strings.Fields(r.text)[0]
			b.Run(name+[]string{"/10kB", "/100kB"}[n/10], func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					Scan(r.lang, text)
				}
			})
		}
	}
}
