package shell

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// What Parse says would run is compared with what bash, dash and busybox sh did run. PATH holds recorders only (they note
// their argv and do nothing), and the few real programs that start others or transform text. Every recorded argv must be
// in Parse's answer, an unknown piece standing for any text.

// recorded are the names that record their argv.
var recorded = []string{"alpha", "beta", "gamma", "rec", "delta-1", "eta.sh"}

// real are programs that lines may use: none of them changes anything.
var real = []string{"env", "xargs", "nice", "timeout", "nohup", "base64", "tr", "rev", "xxd", "cat", "head", "tail", "seq",
	"basename", "dirname", "setsid", "stdbuf", "mktemp", "sort", "tac", "true", "false", "sleep"}

const separator = "\x01\x00"

type lab struct {
	dir, path, log string
}

func newLab(t *testing.T) lab {
	t.Helper()
	l := lab{dir: t.TempDir()}
	l.path = filepath.Join(l.dir, "bin")
	l.log = filepath.Join(l.dir, "log")
	if err := os.Mkdir(l.path, 0o755); err != nil {
		t.Fatal(err)
	}
	// One write a record, so that parts of a pipeline do not mix.
	script := "#!/bin/sh\nprintf '%s\\000' \"${0##*/}\" \"$@\" \"$(printf '\\001')\" >>\"$RECORD\"\n"
	for _, name := range recorded {
		if err := os.WriteFile(filepath.Join(l.path, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range real {
		if p, err := exec.LookPath(name); err == nil {
			if err := os.Symlink(p, filepath.Join(l.path, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return l
}

// run executes a line and returns the argvs that were recorded.
func (l lab) run(t *testing.T, argv []string, line string) [][]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	work := filepath.Join(l.dir, "work")
	if err := os.MkdirAll(work, 0o755); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(work)
	_ = os.Remove(l.log)
	cmd := exec.CommandContext(ctx, argv[0], append(argv[1:], "-c", line)...)
	cmd.Dir = work
	cmd.Env = []string{"PATH=" + l.path, "RECORD=" + l.log, "HOME=/home/user"}
	cmd.WaitDelay = time.Second
	_, _ = cmd.CombinedOutput()
	raw, err := os.ReadFile(l.log)
	if err != nil {
		return nil
	}
	var out [][]string
	for _, rec := range bytes.Split(raw, []byte(separator)) {
		if len(rec) > 0 {
			out = append(out, strings.Split(strings.TrimSuffix(string(rec), "\x00"), "\x00"))
		}
	}
	return out
}

// covers tells whether a command of the answer stands for a recorded argv.
func covers(p *Program, argv []string) bool {
	for i := range p.Commands {
		if matchArgv(p.Commands[i].Args, argv) {
			return true
		}
	}
	return false
}

func matchArgv(args []Word, argv []string) bool {
	if len(args) == 0 {
		return len(argv) == 0
	}
	w := args[0]
	splits := w.Pattern != "" || slices.ContainsFunc(w.Holes, func(h Hole) bool { return !h.Quoted })
	if !splits {
		return len(argv) > 0 && matchWord(w, argv[0]) && matchArgv(args[1:], argv[1:])
	}
	// An unquoted unknown piece or a glob may become any number of words.
	for n := 0; n <= len(argv); n++ {
		if matchArgv(args[1:], argv[n:]) {
			return true
		}
	}
	return false
}

func matchWord(w Word, s string) bool {
	if len(w.Holes) == 0 {
		return w.Text == s || filepath.Base(w.Text) == s
	}
	var re strings.Builder
	re.WriteString("(?s)^")
	for i, part := range strings.Split(w.Text, Unknown) {
		if i > 0 {
			re.WriteString(".*")
		}
		re.WriteString(regexp.QuoteMeta(part))
	}
	re.WriteString("$")
	return regexp.MustCompile(re.String()).MatchString(s)
}

func announced(p *Program) bool {
	return slices.ContainsFunc(p.Notes, func(n Note) bool {
		return n.Kind == DynamicCode || n.Kind == DynamicWord || n.Kind == UnreadScript
	})
}

type shellUnderTest struct {
	argv    []string
	dialect Dialect
}

func shells(t *testing.T) []shellUnderTest {
	var out []shellUnderTest
	for _, s := range []shellUnderTest{{[]string{"bash"}, Bash}, {[]string{"dash"}, POSIX}, {[]string{"busybox", "sh"}, POSIX}} {
		p, err := exec.LookPath(s.argv[0])
		if err != nil {
			if os.Getenv("HERMES_TEST_REQUIRE") != "" {
				t.Fatalf("needs %s: run scripts/setup", s.argv[0])
			}
			t.Logf("skipped: needs %s", s.argv[0])
			continue
		}
		s.argv[0] = p
		out = append(out, s)
	}
	return out
}

func TestDifferentialByHand(t *testing.T) {
	l := newLab(t)
	total := 0
	for _, sh := range shells(t) {
		for _, line := range strings.Split(strings.TrimSpace(handWritten), "\n") {
			line = strings.ReplaceAll(line, `⏎`, "\n")
			line, bashOnly := strings.CutPrefix(line, "bash: ")
			if bashOnly && sh.dialect != Bash {
				continue
			}
			ran := l.run(t, sh.argv, line)
			p := Parse(line, Options{Dialect: sh.dialect, Home: "/home/user"})
			total += len(ran)
			for _, argv := range ran {
				if !covers(&p, argv) && !announced(&p) {
					t.Errorf("%s ran %q, which Parse misses\nline:  %s\nparse: %s", filepath.Base(sh.argv[0]), argv, line, describe(&p))
				}
			}
		}
	}
	if total < 400 {
		t.Errorf("only %d commands were recorded: the lab does not work", total)
	}
}

func TestDifferentialGenerated(t *testing.T) {
	l := newLab(t)
	lines := 300
	if testing.Short() {
		lines = 60
	}
	recordedTotal, unknown := 0, 0
	for _, sh := range shells(t) {
		g := &generator{r: rand.New(rand.NewPCG(7, uint64(len(sh.argv)))), bash: sh.dialect == Bash}
		for range lines {
			line := g.line()
			ran := l.run(t, sh.argv, line)
			p := Parse(line, Options{Dialect: sh.dialect, Home: "/home/user"})
			recordedTotal += len(ran)
			for _, argv := range ran {
				if covers(&p, argv) {
					continue
				}
				if announced(&p) {
					unknown++
					continue
				}
				t.Errorf("%s ran %q, which Parse misses\nline:  %s\nparse: %s", filepath.Base(sh.argv[0]), argv, line, describe(&p))
			}
		}
	}
	if recordedTotal < lines || unknown > recordedTotal/10 {
		t.Errorf("%d commands recorded, %d of them only announced as unknown: the lab or the evaluator does not work", recordedTotal, unknown)
	}
}

func describe(p *Program) string {
	var b strings.Builder
	for i := range p.Commands {
		fmt.Fprintf(&b, "\n   %q", p.Line(i))
	}
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "\n   note %d %q", n.Kind, n.Text)
	}
	return b.String()
}

// generator writes random lines of shell. Same seed, same lines.
type generator struct {
	r     *rand.Rand
	bash  bool
	depth int
}

func (g *generator) one(options ...string) string { return options[g.r.IntN(len(options))] }

func (g *generator) line() string {
	g.depth = 0
	n := 1 + g.r.IntN(3)
	parts := make([]string, n)
	for i := range parts {
		parts[i] = g.stmt()
	}
	return strings.Join(parts, "\n")
}

func (g *generator) name() string { return g.one("alpha", "beta", "gamma", "rec", "delta-1") }

func (g *generator) stmt() string {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > 4 {
		return g.command()
	}
	switch g.r.IntN(20) {
	case 0:
		return "if " + g.one("true", "false", g.command()) + "; then " + g.stmt() + "; else " + g.stmt() + "; fi"
	case 1:
		return "for v in " + g.word() + " " + g.word() + "; do " + g.stmt() + "; done"
	case 2:
		return g.one("x", "y", "v") + "=" + g.word() + "; " + g.stmt()
	case 3:
		return "f() { " + g.stmt() + "; }; f " + g.word() + " " + g.word()
	case 4:
		return "( " + g.stmt() + " )"
	case 5:
		return "{ " + g.stmt() + "; }"
	case 6:
		return g.stmt() + g.one(" && ", " || ", "; ", " & wait; ") + g.stmt()
	case 7:
		return "case " + g.word() + " in *) " + g.stmt() + " ;; esac"
	case 8:
		return "eval " + quote(g.command())
	case 9:
		return "echo " + quote(g.command()) + " | " + g.one("sh", "while read l; do $l; done", "xargs", "{ read a b; $a $b; }")
	case 10:
		return "set -- " + g.name() + " " + g.word() + "; " + g.one(`"$@"`, `$1 "$2"`, "$@")
	case 11:
		if g.depth == 1 {
			return "cat <<E | sh\n" + g.command() + "\nE"
		}
		return g.command()
	case 12:
		return "trap " + quote(g.command()) + " EXIT"
	case 13:
		return "$(echo " + g.name() + ") " + g.word()
	case 14:
		if g.bash {
			return "a=(" + g.name() + " " + g.word() + "); \"${a[@]}\""
		}
		return g.command()
	case 15:
		return g.one("env", "nice", "timeout 5", "env Q=1", "nohup", "command", "exec", "env -i PATH=\"$PATH\" RECORD=\"$RECORD\"") + " " + g.command()
	case 16:
		if g.depth > 1 {
			return g.command()
		}
		return "while read n; do " + g.name() + " \"$n\"; done <<E\none\ntwo words\nE"
	default:
		return g.command()
	}
}

func (g *generator) command() string {
	words := []string{g.spell(g.name())}
	for range g.r.IntN(4) {
		words = append(words, g.word())
	}
	return strings.Join(words, g.one(" ", "  ", " \\\n "))
}

// spell writes a name in one of the ways a shell reads back as the same.
func (g *generator) spell(s string) string {
	i := 1 + g.r.IntN(len(s)-1)
	switch g.r.IntN(8) {
	case 0:
		return s[:i] + `\` + s[i:]
	case 1:
		return s[:i] + `''` + s[i:]
	case 2:
		return `"` + s[:i] + `"` + s[i:]
	case 3:
		return s[:i] + `"$empty"` + s[i:]
	case 4:
		if g.bash {
			return fmt.Sprintf(`$'\x%02x'%s`, s[0], s[1:])
		}
	}
	return s
}

func (g *generator) word() string {
	switch g.r.IntN(22) {
	case 0:
		return `"two  words"`
	case 1:
		return `'$x "q"'`
	case 2:
		return g.one("$x", "$y", "$v", `"$x"`, `"$y"`, `${x}z`)
	case 3:
		return g.one("${x:-def}", `"${y:-a b}"`, "${u:=new}", "${x:+alt}", "${x-}")
	case 4:
		return "$(echo " + g.one("sub", "a b", `"a  b"`) + ")"
	case 5:
		return "`echo back`"
	case 6:
		return `"$(printf '%s-%s' l r)"`
	case 7:
		return "$((1 + 2 * 3))"
	case 8:
		return g.one("~", "~/d", `"~"`)
	case 9:
		return `a\ b`
	case 10:
		return g.one("${x#a}", "${x%c}", "${x##*/}", "${#x}")
	case 11:
		if g.bash {
			return g.one("{p,q}r", "pre{1..3}", "{a,{b,c}}d", "${x/b/Z}", "${x:1:2}", "${x^^}", `$'t\tb'`)
		}
		return "plain"
	case 12:
		return "--opt=" + g.one("1", "'a b'", "$x")
	case 13:
		return `""`
	case 14:
		return g.one("$1", `"$2"`, `"$@"`, `"$*"`, "$#")
	case 15:
		return "abc"
	case 16:
		return g.one("/a/../b", "./c", "*.none", "y[x]")
	default:
		return g.one("w1", "w2", "-f", "--long", "x=y", "a,b", "100%", "@h", "+1")
	}
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// handWritten has one line a row; ⏎ is a newline. Rows that start with "bash: " use what other shells read otherwise.
const handWritten = `
alpha
alpha one two
al\pha x
al''pha x
"alpha" "a b"
'al'"pha" 'a'"b"c
alpha "it's" 'say "hi"'
alpha a\ b\;c
bash: alpha $'x\ty\x41\101\u0042\'q'
alpha $"loc"
x=alpha; $x one
x='alpha one'; $x two
x=alpha y=beta; $x; $y
x=al; ${x}pha
x=pha; al$x
x=1; x=2 alpha $x
x=one; alpha "$x" '$x' \$x
alpha ${u:-d} ${u-d} "${u:-a b}"
alpha ${u:=set}; beta $u
x=; alpha ${x:-empty} ${x-kept}
x=v; alpha ${x:+alt} ${u:+alt}
x=a.b.c; alpha ${x#*.} ${x##*.} ${x%.*} ${x%%.*}
x=/usr/lib/f.so; alpha ${x##*/} ${x%/*}
bash: x=hello; alpha ${x/l/L} ${x//l/L} ${x/#h/H} ${x/%o/O}
x=hello; alpha ${x:1} ${x:1:3} ${x: -2} ${x:0:-1}
x=hello; alpha ${x^} ${x^^} ${#x}
x=HELLO; alpha ${x,} ${x,,}
r=x; x=alpha; ${!r} go
a=(alpha one 'two three'); "${a[@]}"
a=(alpha one 'two three'); ${a[@]}
a=(x alpha y); ${a[1]} z
a=(alpha); a+=(more); "${a[@]}"
a=(alpha b c d); "${a[@]:0:2}"
a=(b c d); alpha "${a[*]}" ${#a[@]}
declare -A m=([k]=alpha [j]=beta); ${m[k]} ${m[j]}
declare -n n=t; t=alpha; $n one
set -- alpha 'a b'; "$@"
set -- alpha 'a b'; $@
set -- x y z; alpha $1 $3 $# "$*"
set -- x y z; shift; alpha "$@"
set -- a b c; for i; do alpha $i; done
alpha {a,b} c{1..3} {x,y}{1,2} {z..w}
{alpha,beta} x
alpha a{,b}
alpha {01..03}
alpha '{a,b}' {a} {a..}
$(echo alpha) one
$(echo alpha one)
$(printf '%s' alpha) x
$(printf 'al%s' pha) x
` + "`echo alpha` x" + `
alpha "$(echo 'a  b')" $(echo 'a  b')
alpha "$(beta)"
alpha $(echo $(echo nested))
x=$(echo v); alpha $x
alpha $(( 2 + 3 )) $((2**3)) $((7/2)) $((5%3))
i=3; alpha $((i+1)); ((i++)); beta
alpha ~ ~/x "~" ~root
alpha a~b x=~ PATH=~/bin
alpha *.nomatch [ab] ?
IFS=,; x=a,b,c; alpha $x
IFS=:; set -- a b; alpha "$*"
x='a  b'; alpha $x; alpha "$x"
alpha; beta && gamma || rec
alpha & wait
alpha | beta | gamma
! alpha
{ alpha; beta; }
(alpha; beta)
( x=1; alpha $x ); alpha ${x:-unset}
if true; then alpha; fi
if false; then alpha; else beta; fi
if alpha; then beta; elif gamma; then rec; fi
while true; do alpha; break; done
until alpha; do :; done
for i in 1 2 3; do alpha $i; done
for i in a b; do for j in c d; do alpha $i$j; done; done
for ((i=0;i<2;i++)); do alpha $i; done
for i in $(seq 3); do alpha $i; done
for i in {1..3}; do alpha "$i"; done
for x in alpha beta; do $x one; done
case a in a) alpha;; *) beta;; esac
case alpha in al*) alpha;; esac
case x in y) alpha;; x|z) beta;& w) gamma;; esac
f() { alpha "$1"; }; f one
f() { alpha "$@"; }; f 'a b' c
function f { beta; }; f
f() { local x=in; alpha $x; }; x=out; f; beta $x
f() { x=set; }; f; alpha $x
f() { g "$1"; }; g() { alpha $1; }; f deep
f() { set -- q; alpha $1; }; f p
f() { alpha $#; shift; alpha $1; }; f 1 2
eval alpha one
eval 'alpha "a b"; beta'
x='alpha one'; eval $x
x='alpha "a b"'; eval "$x"
eval eval eval alpha
echo alpha one | sh
echo 'alpha one; beta' | sh
printf 'alpha %s\n' one two | sh
printf '%s\n' 'alpha x' 'beta y' | sh
echo YWxwaGEgb25l | base64 -d | sh
echo YWxwaGEgb25l | base64 --decode | sh
echo 616c706861 | xxd -r -p | sh
echo ahpla | rev | sh
echo nycun | tr a-z n-za-m | sh
echo ALPHA | tr A-Z a-z | sh
echo alpha | cat | cat - | sh
cat <<E | sh⏎alpha one⏎E
sh <<E⏎alpha one⏎beta two⏎E
x=v; sh <<E⏎alpha $x⏎E
x=v; sh <<'E'⏎alpha "$x"⏎E
sh <<-E⏎	alpha tabbed⏎	E
sh <<< 'alpha here'
sh -c 'alpha one'
sh -c 'alpha "$@"' zero one 'two three'
sh -c 'alpha $0 $1' a b
sh -c "sh -c 'alpha nested'"
x=v; export x; sh -c 'alpha $x'
x=v sh -c 'alpha $x'
echo 'alpha scripted' > s.sh; sh s.sh
echo 'alpha $1' > s.sh; sh s.sh arg
echo 'alpha sourced' > s.sh; . ./s.sh
printf 'alpha a\n' > s.sh; printf 'beta b\n' >> s.sh; sh s.sh
cat > s.sh <<'E'⏎alpha in⏎E⏎sh ./s.sh
source <(echo alpha sub)
. /dev/stdin <<< 'alpha dot'
bash <(echo alpha proc)
trap 'alpha trapped' EXIT
trap "alpha $$ x" 0
alias q='alpha one'⏎q two
shopt -s expand_aliases⏎alias q='alpha one'⏎q two
env alpha one
env X=1 alpha one
env -i PATH="$PATH" RECORD="$RECORD" alpha
env -u FOO alpha x
env -- alpha x
env -S 'alpha one two'
env -S 'alpha "a b"' c
nice alpha
nice -n 5 alpha x
nohup alpha x
timeout 5 alpha x
timeout -s KILL 5 alpha x
timeout --signal=KILL 5 alpha x
setsid alpha x
stdbuf -o0 alpha x
command alpha x
command -p true; alpha
command -v alpha
exec alpha x
exec -a name alpha x
builtin eval alpha x
nice env timeout 5 nohup alpha deep
echo one two | xargs alpha
echo one two | xargs -n1 alpha
echo one | xargs -I{} alpha x{}y
printf 'a b\nc\n' | xargs -I% alpha %
printf 'a\0b c\0' | xargs -0 alpha
echo 'alpha beta' | xargs
echo "a 'b c'" | xargs alpha fixed
echo alpha | xargs -I{} sh -c '{} one'
xargs alpha <<< 'x y'
read x <<< alpha; $x one
echo 'alpha one' | { read a b; $a $b; }
echo 'alpha one' | while read -r l; do $l; done
printf 'alpha 1\nbeta 2\n' | while read c n; do $c $n; done
while read l; do alpha "$l"; done <<E⏎l 1⏎l 2⏎E
mapfile -t a <<< alpha; "${a[@]}"
read -a w <<< 'alpha b c'; "${w[@]}"
IFS=: read a b <<< alpha:x; $a $b
printf -v c 'al%s' pha; $c one
printf -v c '%b' '\141lpha'; $c
c=$(printf '\141\154pha'); $c octal
c=$(echo -e '\x61lpha'); $c hex
c=$(printf '%b' '\0141lpha'); $c
x=alphaX; ${x%X} cut
x=gammaalpha; ${x#gamma} cut
x=ahpla; $(echo $x | rev) rev
y=pha; x=al$y; $x
x+=alpha; $x
x=al; x+=pha; $x
export x=alpha; $x
declare x=alpha; $x
readonly x=alpha; $x
local x=alpha 2>/dev/null; alpha
let i=2+3; alpha $i
x=5; (( x > 3 )) && alpha
[[ a == a ]] && alpha
[ a = a ] && alpha
test -n x && alpha
: ${x:=alpha}; $x
> f; alpha
2>/dev/null alpha one
alpha one > f 2>&1
alpha >f one
<<< x alpha
x=1 y=2 alpha
alpha \⏎one
al\⏎pha
alpha # beta
alpha a#b
alpha; # beta⏎gamma
alpha⏎⏎beta
{ alpha; } | { beta; }
(alpha) && (beta)
coproc alpha
coproc { alpha x; }; wait
time alpha
if x=alpha; then $x; fi
while x=alpha; do $x; break; done
false || alpha
true && x=alpha; $x
false && x=beta || x=alpha; $x
x=alpha; unset x; ${x:-beta} u
f() { return 1; }; f || alpha
x=alpha; f() { $x "$@"; }; f a 'b c'
cd /; alpha
cd / && alpha $PWD
alpha "$(cd /; pwd)"
pushd / >/dev/null; alpha; popd >/dev/null
alpha "$OLDPWD" 2>/dev/null
x='$(beta)'; alpha "$x"
x='$(beta)'; eval alpha "$x"
alpha '$(beta)' "\$(beta)" \$\(beta\)
alpha "a;b" 'c|d' e\&f
alpha "${x:-$(beta)}"
alpha "${x:-"q r"}"
alpha ${x:-'q r'}
echo "$(alpha; beta)" >/dev/null
cat <(alpha) >/dev/null
echo x | tee >(alpha) >/dev/null; sleep 0.1
x=(a b); alpha "${x[-1]}"
x=abc; alpha "${x:(-2)}"
alpha "${@:-none}"
bash: set -- 'a b' c; alpha "${@:1:1}" "${*:2}"
alpha ${x:?}; beta
x=$'alpha\none'; $x
x='alpha
one'; $x
find . -maxdepth 0 -exec alpha {} \; 2>/dev/null; beta
seq 2 | while read n; do alpha $n; done
sh -c 'sh -c "alpha \$0" inner'
sh -c 'eval "$1"' _ 'alpha evaled'
bash -c 'alpha "${1^^}"' _ up
bash -lc 'alpha login'
bash -euo pipefail -c 'alpha strict'
bash -O extglob -c 'alpha glob'
sh -ec 'alpha e'
echo 'x=alpha; $x y' | sh
echo 'sh -c "alpha z"' | sh
x=sh; echo alpha | $x
$(echo sh) -c 'alpha computed'
"s"h -c 'alpha quoted'
a=b c=d env | cat >/dev/null; alpha
alpha "$(cat <<E⏎in doc⏎E⏎)"
f() { cat; }; echo alpha | f | sh
f() { alpha "$(cat)"; }; echo in | f
{ read x; alpha "$x"; } <<< val
for f in one two; do echo "alpha $f"; done | sh
if true; then echo alpha; fi | sh
case x in x) echo alpha cased;; esac | sh
{ echo alpha; echo beta; } | sh
(echo alpha sub) | sh
echo alpha > c; x=$(cat c); $x filed
echo alpha > c; $(<c) filed
echo -n al > c; echo pha >> c; sh c
tac <<< alpha | sh
head -n1 <<< $'alpha\nbeta' | sh
printf 'beta\nalpha\n' | tail -n 1 | sh
printf 'beta\nalpha\n' | sort | sh
basename /x/alpha | sh
$(basename /x/alpha) based
$(dirname alpha/x) dir
select x in alpha; do $x; break; done <<< 1
hash -p "$(command -v alpha)" zz 2>/dev/null; zz hashed
`
