package shell

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var noteNames = map[NoteKind]string{
	TooLong: "too long", TooDeep: "too deep", TooMuch: "too much", Unparsed: "unparsed", ForkBomb: "fork bomb", Spawning: "spawning",
	DynamicCode: "dynamic code", DynamicWord: "dynamic word", UnreadScript: "unread script",
	Invisible: "invisible", Bidi: "bidi", Control: "control",
}

// Rows read: this text executes these commands. A note is written in brackets; a word in <> is the working directory when
// it is not where the text started; commands without a program are shown by their assignments and redirections.
var evaluates = []struct{ text, want string }{
	// Every way of quoting is the same word.
	{`r\m -rf /`, "rm -rf /"},
	{`r''m "-rf" '/'`, "rm -rf /"},
	{`$'\x72\x6d' -rf $'\057'`, "rm -rf /"},
	{`$'\162\u006d' x`, "rm x"},
	{`"rm" -r$'f' /`, "rm -rf /"},
	{"r\\\nm -rf /", "rm -rf /"},

	// Expansions that can be known are.
	{`{rm,-rf,/etc}`, "rm -rf /etc"},
	{`rm -rf /{etc,usr}`, "rm -rf /etc /usr"},
	{`rm${IFS}-rf${IFS}/`, "rm -rf /"},
	{`rm$IFS-rf /`, "rm -rf /"},
	{`F=-rf; rm $F /etc`, "F=-rf | rm -rf /etc"},
	{`x=rm y=-rf; $x $y /`, "x=rm y=-rf | rm -rf /"},
	{`c='rm -rf /'; $c`, "c=rm -rf / | rm -rf /"},
	{`c='rm -rf /'; "$c"`, "c=rm -rf / | 'rm -rf /'"},
	{`a=xrm; ${a#x} /`, "a=xrm | rm /"},
	{`a=rmx; ${a%x} /`, "a=rmx | rm /"},
	{`a=bin/rm; ${a##*/} /`, "a=bin/rm | rm /"},
	{`a=Xm; ${a/X/r} /`, "a=Xm | rm /"},
	{`a=arm; ${a:1} /`, "a=arm | rm /"},
	{`a=RM; ${a,,} /`, "a=RM | rm /"},
	{`r=a; a=rm; ${!r} /`, "r=a | a=rm | rm /"},
	{`a=(rm -rf /); "${a[@]}"`, "rm -rf /"},
	{`a=(rm -rf); a+=(/); ${a[*]}`, "rm -rf /"},
	{`a=(x rm y); ${a[1]} z`, "rm z"},
	{`set -- rm -rf /; "$@"`, "set -- rm -rf / | rm -rf /"},
	{`set -- a rm; $2 z`, "set -- a rm | rm z"},
	{`$(echo rm) /`, "echo rm | rm /"},
	{"`echo rm` /", "echo rm | rm /"},
	{`$(printf '%s%s' r m) /`, "printf %s%s r m | rm /"},
	{`$(printf '\162\155') /`, `printf '\162\155' | rm /`},
	{`printf -v c 'r%s' m; $c /`, "printf -v c r%s m | rm /"},
	{`rm $((1+2))`, "rm 3"},
	{`rm ~ ~/x ~root`, "rm /home/me /home/me/x /root"},
	{`rm "$HOME/x" '$HOME'`, "rm /home/me/x '$HOME'"},
	{`H=/; rm -rf $H`, "H=/ | rm -rf /"},
	{`declare -n n=t; t=/etc; rm $n`, "declare -n n=t | t=/etc | rm /etc"},
	{`export X=/etc; rm $X`, "export X=/etc | rm /etc"},

	// What cannot be known stays in its place, under its name.
	{`rm $DIR/*`, "rm $DIR/*"},
	{`$CMD -rf /`, "$CMD -rf / [dynamic word]"},
	{`r${x}m -rf /`, "r$xm -rf / | rm -rf / [dynamic word]"},
	{`$SUDO rm -rf /`, "$SUDO rm -rf / | rm -rf / [dynamic word]"},
	{`rm $(cat f)`, "cat f | rm $(cat f)"},
	{`rm ${X:-/etc}`, "rm $X | rm /etc"},
	{`rm "${X:?}"/*`, "rm $X/*"},
	{`rm ${X:+/etc}`, "rm /etc | rm"},
	{`bash -c "$CODE"`, "bash -c $CODE [dynamic code]"},
	{`eval "$CODE"`, "eval $CODE [dynamic code]"},

	// Branches that may have run leave every value they could have set.
	{`if t; then F=-rf; else F=-i; fi; rm $F x`, "t | F=-rf | F=-i | rm -rf x | rm -i x"},
	{`D=/tmp; t && D=/etc; rm $D`, "D=/tmp | t | D=/etc | rm /tmp | rm /etc"},
	{`x=a; f() { local x=b; }; f; rm $x`, "x=a | local x=b | rm a"},
	{`x=a; (x=b); rm $x`, "x=a | x=b | rm a"},

	// Loops run for each item they name.
	{`for d in /etc /usr; do rm $d; done`, "rm /etc | rm /usr"},
	{`for c in rm ls; do $c x; done`, "rm x | ls x"},
	{`for f in *.log; do rm "$f"; done`, "rm *.log"},
	{`while read c; do $c x; done <<< rm`, "<<<rm | read c | rm x"},
	{`echo rm x | while read a b; do $a $b; done`, "echo rm x | read a b | rm x"},
	{`case $1 in start) run ;; stop) rm x ;; esac`, "run | rm x"},

	// Directories.
	{`cd / && rm -rf *`, "cd / | rm -rf * </>"},
	{`cd /usr; cd lib; rm x`, "cd /usr | cd lib </usr> | rm x </usr/lib>"},
	{`cd a/b; cd ../..; rm x`, "cd a/b | cd ../.. <a/b> | rm x"},
	{`pushd /etc; popd; rm x`, "pushd /etc | popd </etc> | rm x"},
	// What the shell is told to run of its own, past functions, changes it like the same without the word in front.
	{`command cd /etc; rm x`, "command cd /etc | cd /etc | rm x </etc>"},
	{`builtin command cd /etc; rm x`, "builtin command cd /etc | command cd /etc | cd /etc | rm x </etc>"},
	{`cd() { builtin cd /etc; }; cd /tmp; rm x`, "builtin cd /etc | cd /etc | rm x </etc>"},
	{`cd /etc; env command cd /tmp; rm x`, "cd /etc | env command cd /tmp </etc> | command cd /tmp </etc> | cd /tmp </etc> | rm x </etc>"},
	{`A=a; builtin declare A=b; rm $A`, "A=a | builtin declare A=b | declare A=b | rm b"},
	{`cd /x; cd -; rm y`, "cd /x | cd - </x> | rm y"},
	{`(cd /etc; rm x); rm y`, "cd /etc | rm x </etc> | rm y"},
	{`cd "$D"; rm x`, "cd $D | rm x <$D>"},
	{`cd; rm x`, "cd | rm x </home/me>"},

	// Text that another shell runs is followed.
	{`bash -c 'rm x'`, "bash -c 'rm x' | rm x"},
	{`sh -c "sh -c 'rm x'"`, `sh -c 'sh -c '\''rm x'\''' | sh -c 'rm x' | rm x`},
	{`sh -c 'rm "$1"' _ /etc`, `sh -c 'rm "$1"' _ /etc | rm /etc`},
	{`eval 'rm' x`, "eval rm x | rm x"},
	{`echo 'rm x' | sh`, "echo 'rm x' | sh | rm x"},
	{`echo cm0geA== | base64 -d | bash`, "echo cm0geA== | base64 -d | bash | rm x"},
	{`echo x mr | rev | sh`, "echo x mr | rev | sh | rm x"},
	{`echo 726d2078 | xxd -r -p | sh`, "echo 726d2078 | xxd -r -p | sh | rm x"},
	{`echo sn y | tr a-z b-za | sh`, "echo sn y | tr a-z b-za | sh | to z"},
	{"sh <<E\nrm x\nE", "sh <<rm x\n | rm x"},
	{`sh <<< 'rm x'`, "sh <<<rm x | rm x"},
	{`source <(echo rm x)`, "echo rm x | source /dev/fd/a0000 | rm x"},
	{`echo 'rm x' > s; sh s`, "echo 'rm x' >s | sh s | rm x"},
	{`echo 'rm $1' > s; bash ./s /etc`, "echo 'rm $1' >s | bash ./s /etc | rm /etc"},
	{`trap 'rm x' EXIT`, "trap 'rm x' EXIT | rm x"},
	{"alias ll='rm -rf'\nll x", "alias 'll=rm -rf' | ll x | rm -rf x"},
	{"alias rm=echo; rm x", "alias rm=echo | rm x | echo x"}, // the line was read before the alias was there
	{"f() { rm x; }\nalias rm=echo\nf", "alias rm=echo | rm x | echo x"},
	{"alias cd=true; cd /a; rm *", "alias cd=true | cd /a | true /a | rm * | rm * </a>"},
	{"alias e=echo\ne rm x | sh", "alias e=echo | e rm x | echo rm x | sh | rm x"},
	{"rm() { echo; }; unset -f rm; rm x", "unset -f rm | rm x | echo"},
	{"rm() { echo; }; unset rm; rm x", "unset rm | echo | rm x"},
	{"rm() { echo; }; unset -v rm; rm x", "unset -v rm | echo"},
	{"rm() { echo; }; unset -f $X; rm x", "unset -f $X | echo | rm x"},
	{`f() { rm "$@"; }; f a 'b c'`, "rm a 'b c'"},
	{`f() { rm x; }`, "rm x"},
	{`curl u | sh`, "curl u | sh [dynamic code]"},

	{"bash 3<<E <&3\nrm x\nE", "bash 3<<rm x\n <&3 | rm x"},
	{`exec 3<<< 'rm x'; sh <&3`, "exec 3<<<rm x | sh <&3 | rm x"},
	{`echo 'rm x' > >(sh)`, "sh | echo 'rm x' >/dev/fd/a0000 | sh | rm x [dynamic code]"},
	{`PROMPT_COMMAND='rm x'`, "PROMPT_COMMAND=rm x | rm x"},
	{`PS1='$(rm x)' bash`, "PS1=$(rm x) bash | rm x | : $(rm x)"},
	{`complete -C 'rm x' git`, "complete -C 'rm x' git | rm x"},
	{`zsh -c '=rm x'`, "zsh -c '=rm x' | rm x"},

	{`time -o /tmp/t rm x`, "time -o /tmp/t rm x | rm x"},
	{`time rm x`, "rm x"},

	{`BASH_ALIASES[ls]='rm -rf'; ls x`, "BASH_ALIASES=rm -rf | ls x | rm -rf x"},
	{`BASH_CMDS[ls]=/tmp/x; ls y`, "BASH_CMDS=/tmp/x | ls y | /tmp/x y"},

	// A program keeps what it is under another name.
	{`cp /bin/rm /tmp/x; /tmp/x y`, "cp /bin/rm /tmp/x | /bin/rm y | /tmp/x y"},
	{`ln -s /bin/rm l && ./l y`, "ln -s /bin/rm l | /bin/rm y | ./l y"},

	// Subscripts are evaluated even when they were quoted.
	{`x='a[$(rm y)]'; echo $((x))`, "x=a[$(rm y)] | rm y | echo …"},
	{`test -v 'a[$(rm y)]'`, "test -v 'a[$(rm y)]' | rm y"},

	{`let 'a[$(rm y)]=1'`, "rm y"},
	{`[[ -v 'a[$(rm y)]' ]]`, "rm y"},
	{`echo ${x[$(rm y)]}`, "rm y | echo $x"},
	{`bash /dev/fd/3 3<<< 'rm x'`, "bash /dev/fd/3 3<<<rm x | rm x"},

	// Jobs without end.
	{`while :; do sh x & done`, ": | sh x [spawning] [unread script]"},
	{`while :; do sh x & wait; done`, ": | sh x | wait [unread script]"},
	{`printf 'sh ./b | sh ./b &\n' > b; sh b`, `printf 'sh ./b | sh ./b &\n' >b | sh b | sh ./b | sh ./b [fork bomb]`},

	// Project files, where they are known.
	{`printf 'all: x\n\techo a\nx:\n\trm y\nz:\n\trm q\n' > Makefile; make`, `printf 'all: x\n\techo a\nx:\n\trm y\nz:\n\trm q\n' >Makefile | make | echo a | rm y`},
	{`echo '{"scripts":{"b":"rm y"}}' > package.json; npm run b`, `echo '{"scripts":{"b":"rm y"}}' >package.json | npm run b | rm y`},

	// Data is not code.
	{`echo 'rm -rf /; reboot'`, "echo 'rm -rf /; reboot'"},
	{`grep -r "rm -rf" .`, "grep -r 'rm -rf' ."},
	{`git commit -m "rm -rf /"`, "git commit -m 'rm -rf /'"},
	{`ls # ; rm -rf /`, "ls"},
	{"cat > f <<'E'\nrm -rf /\nE", "cat >f <<rm -rf /\n"},
	{`echo "a\"; rm -rf /"`, `echo 'a"; rm -rf /'`},

	// A function that starts copies of itself without end.
	{`:(){ :|:& };:`, "[fork bomb]"},
	{`b() { b | b & }; b`, "[fork bomb]"},
	{`w() { ls | while read d; do w $d; done; }; w`, "ls | read d"},

	// What cannot be read is said, and what stands before it is kept.
	{`rm x; echo 'open`, "rm x [unparsed]"},
	{"rm x\necho 'open", "rm x [unparsed]"},

	// Characters that hide something.
	{"ec\u200bho x", "ec\u200bho x [invisible]"},
	{"echo \u202egpj.sh", "echo \u202egpj.sh [bidi]"},
	{"r\x00m x", "rm x [control]"},
	{"\x1b[1mrm\x1b[0m x", "'\x1b[1mrm\x1b[0m' x | rm x [control]"},
	{"ｒｍ -rf ／", "ｒｍ -rf ／ | rm -rf /"},
	{"git commit -m '\U0001f469\u200d\U0001f467 \u0645\u06cc\u200c\u0631\u0648\u062f'", "git commit -m '\U0001f469\u200d\U0001f467 \u0645\u06cc\u200c\u0631\u0648\u062f'"},
}

func TestParse(t *testing.T) {
	for _, row := range evaluates {
		p := Parse(row.text, Options{Home: "/home/me"})
		if got := render(&p); got != row.want {
			t.Errorf("%s\n%s", row.text, cmp.Diff(row.want, got))
		}
	}
}

func render(p *Program) string {
	var parts []string
	for _, c := range p.Commands {
		var words []string
		for _, a := range c.Assigns {
			words = append(words, a.Name+"="+a.Value.Show())
		}
		if len(c.Args) > 0 {
			words = append(words, Line(c.Args))
		}
		for _, r := range c.Redirs {
			words = append(words, r.FD+r.Op+r.Target.Show())
		}
		if d := c.Dir.Show(); d != "." && d != "" {
			words = append(words, "<"+d+">")
		}
		parts = append(parts, strings.Join(words, " "))
	}
	out := strings.Join(parts, " | ")
	last := NoteKind(255)
	for _, n := range p.Notes {
		if n.Kind != last {
			out = strings.TrimSpace(out + " [" + noteNames[n.Kind] + "]")
		}
		last = n.Kind
	}
	return out
}

// Spans point at the guilty part of the text as typed, also inside payloads that stand there word for word.
func TestSpans(t *testing.T) {
	for _, row := range []struct{ text, program, want string }{
		{`F=-rf; rm $F /etc`, "rm", `rm $F /etc`},
		{`bash -c 'ls; rm -rf /'`, "rm", `rm -rf /`},
		{"sh <<'E'\nls\nrm -rf /\nE", "rm", `rm -rf /`},
		{`echo cm0geA== | base64 -d | sh`, "rm", `sh`},
		{`ls;  sudo   rm x`, "rm", `rm x`},
		{"\x1b[1mrm\x1b[0m -rf /", "rm", "rm\x1b[0m -rf /"},
		{`eval "rm x"`, "rm", "rm x"},
	} {
		p := Parse(row.text, Options{})
		got := ""
		for _, c := range p.Commands {
			if c.Name == row.program {
				got = row.text[c.Start:c.End]
			}
		}
		if got != row.want {
			t.Errorf("%q: %s spans %q, want %q", row.text, row.program, got, row.want)
		}
	}
}

func TestClean(t *testing.T) {
	for _, row := range []struct{ dir, name, want string }{
		{".", "a/b", "a/b"},
		{".", "./a//b/.", "a/b"},
		{".", "..", ".."},
		{"a", "../..", ".."},
		{"/usr", "lib", "/usr/lib"},
		{"/usr", "../../..", "/"},
		{"/", "*", "/*"},
		{".", "/../etc/", "/etc"},
		{"~", "x/..", "~"},
		{"~", "..", "~/.."},
		{"/x", "~/y", "~/y"},
	} {
		if got := Clean(row.dir, row.name); got != row.want {
			t.Errorf("Clean(%q, %q) = %q, want %q", row.dir, row.name, got, row.want)
		}
	}
}

// Facts are used: the environment that is told, and script files.
func TestFacts(t *testing.T) {
	o := Options{
		Home: "/home/me",
		Env:  map[string]string{"CMD": "rm"},
		File: func(path string) (string, bool) {
			switch path {
			case "build.sh":
				return "#!/bin/sh\nrm -rf \"$1\"\n", true
			case "tool":
				return "\x7fELF\x02\x01\x01\x00", true
			}
			return "", false
		},
	}
	for _, row := range []struct{ text, want string }{
		{`$CMD x`, "rm x"},
		{`sh build.sh /etc`, "sh build.sh /etc | rm -rf /etc"},
		{`. ./build.sh`, ". ./build.sh | rm -rf $1"},
		{`bash tool`, "bash tool"},
		{`bash other.sh`, "bash other.sh [unread script]"},
	} {
		p := Parse(row.text, o)
		if got := render(&p); got != row.want {
			t.Errorf("%s\n%s", row.text, cmp.Diff(row.want, got))
		}
	}
}

// A bound hit is a note, in bounded time, whatever the text.
func TestBounds(t *testing.T) {
	deep := "f40() { ls; }; "
	for i := 39; i >= 0; i-- {
		deep += fmt.Sprintf("f%d() { f%d; }; ", i, i+1)
	}
	for _, row := range []struct {
		what, text string
		kind       NoteKind
	}{
		{"long text", strings.Repeat("a", maxText+1), TooLong},
		{"brace bomb", "echo " + strings.Repeat("{a,b}", 30), TooMuch},
		{"long brace bomb", "echo " + strings.Repeat("{a,b}", 20_000), TooMuch},
		{"nested braces", "echo " + strings.Repeat("{a,", 2000) + strings.Repeat("}", 2000), 255},
		{"braces of sequences", "echo " + strings.Repeat("{1..60}", 50), TooMuch},
		{"open substitutions", strings.Repeat("$(", 20_000), Unparsed},
		{"open groups", strings.Repeat("( ", 20_000), Unparsed},
		{"doubling variable", strings.Repeat("x=$x$x;", 3) + "x=aaaaaaaaaaaaaaaa;" + strings.Repeat("x=$x$x;", 40) + "$x", DynamicWord},
		{"functions in functions", deep + "f0", TooDeep},
		{"recursive eval", `f() { eval "f; f"; }; f`, 255},
		{"endless alias", "alias a='a a'\na", 255},
		{"many alternatives", strings.Repeat("t && a=1$a; t && b=2$b; ", 12) + "rm $a $b $a$b", 255},
		{"a long pipeline", strings.Repeat("a | ", 12_000) + "b", 255},
		{"one directory deeper, again and again", strings.Repeat("cd a\n", 12_000), 255},
		{"loops in loops", strings.Repeat("while x; do a=1;", 40) + "ls" + strings.Repeat("; done", 40), TooMuch},
		{"functions that call twice", doubling() + "f0", TooMuch},
		{"nested loops", strings.Repeat("for i in {1..60}; do ", 6) + "ls $i" + strings.Repeat("; done", 6), TooMuch},
	} {
		p := Parse(row.text, Options{})
		found := row.kind == 255
		for _, n := range p.Notes {
			found = found || n.Kind == row.kind
		}
		if !found {
			t.Errorf("%s: no note %q in %v", row.what, noteNames[row.kind], p.Notes)
		}
		if len(p.Commands) > maxCommands {
			t.Errorf("%s: %d commands", row.what, len(p.Commands))
		}
	}
}

// doubling defines functions each of which calls the next one twice.
func doubling() string {
	s := ""
	for i := range 22 {
		s += fmt.Sprintf("f%d() { f%d; f%d; }; ", i, i+1, i+1)
	}
	return s
}

func FuzzParse(f *testing.F) {
	for _, row := range evaluates {
		f.Add(row.text, uint8(0))
	}
	for line := range strings.SplitSeq(handWritten, "\n") {
		f.Add(strings.ReplaceAll(strings.TrimPrefix(line, "bash: "), `⏎`, "\n"), uint8(1))
	}
	f.Fuzz(func(t *testing.T, text string, dialect uint8) {
		o := Options{Dialect: Dialect(dialect % 4), Tails: true}
		p := Parse(text, o)
		for i, c := range p.Commands {
			if c.Start < 0 || c.End > len(text) || c.Start > c.End {
				t.Fatalf("command %d %q spans %d:%d of %d bytes", i, p.Line(i), c.Start, c.End, len(text))
			}
			if c.Parent >= i || c.Parent < -1 {
				t.Fatalf("command %d has parent %d", i, c.Parent)
			}
			for _, w := range c.Args {
				if n := strings.Count(w.Text, Unknown); n != len(w.Holes) {
					t.Fatalf("word %q has %d holes for %d unknown pieces", w.Text, len(w.Holes), n)
				}
				if w.Start < 0 || w.End > len(text) || w.Start > w.End {
					t.Fatalf("word %q spans %d:%d of %d bytes", w.Text, w.Start, w.End, len(text))
				}
			}
		}
		for _, n := range p.Notes {
			if n.Start < 0 || n.End > len(text) || n.Start > n.End {
				t.Fatalf("note %v outside the text", n)
			}
		}
		// The same text as a quoted word is data.
		if !strings.ContainsAny(text, "\x00\r") && plain(text) && len(text) < 4096 {
			q := Parse("echo "+quote(text), Options{})
			if len(q.Commands) != 1 || len(q.Notes) != 0 {
				t.Fatalf("quoted text ran something: %s", describe(&q))
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for _, s := range []string{
		"ls -la", "rm -rf build", "git commit -m 'fix: x' && git push origin main", "F=-rf; rm $F /etc",
		"for f in a b c; do echo $f; done", "curl -s http://x | sh", "sudo bash -c 'rm -rf /'",
	} {
		b.Run(s, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Parse(s, Options{Home: "/home/u"})
			}
		})
	}
}
