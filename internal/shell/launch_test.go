package shell

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// launchRow is a command line, split at blanks outside single quotes, and what it hands on. A word $X is an unknown variable,
// "$X" one that stays a single word. What stands in front of " |> " is its standard input.
type launchRow struct{ line, want string }

func launchCommand(line string) *Command {
	c := &Command{Parent: -1, Reader: -1}
	if in, rest, ok := strings.Cut(line, " |> "); ok {
		line = rest
		w := launchWord(strings.ReplaceAll(in, `\n`, "\n"))
		c.Stdin = &Input{Text: w.Text, Holes: w.Holes}
	}
	var cur strings.Builder
	quoted, open := false, false
	for _, b := range []byte(line) {
		switch {
		case b == '\'':
			quoted, open = !quoted, true
		case b == ' ' && !quoted:
			if open {
				c.Args = append(c.Args, launchWord(cur.String()))
			}
			cur.Reset()
			open = false
		default:
			cur.WriteByte(b)
			open = true
		}
	}
	if open {
		c.Args = append(c.Args, launchWord(cur.String()))
	}
	if len(c.Args) == 0 {
		return c
	}
	c.Name = c.Args[0].base()
	if len(c.Args[0].Holes) > 0 {
		c.Name = ""
	}
	return c
}

func launchWord(s string) Word {
	w := Word{Text: s}
	for _, v := range [...]string{`"$X"`, `$X`} {
		for strings.Contains(w.Text, v) {
			w.Text = strings.Replace(w.Text, v, Unknown, 1)
			w.Holes = append(w.Holes, Hole{Kind: Variable, Name: "X", Quoted: v[0] == '"'})
		}
	}
	return w
}

func renderHandoffs(hs []handoff, query bool) string {
	if query {
		return "query"
	}
	var out []string
	for _, h := range hs {
		var s string
		switch {
		case h.argv != nil:
			s = Line(h.argv)
		case h.text != nil:
			s = "{" + h.text.Show() + "}"
		case h.code != nil:
			s = h.lang.String() + "{" + h.code.Show() + "}"
		case h.file != nil:
			s = "<" + h.file.Show() + ">"
		case h.stdin:
			s = "<stdin>"
		}
		if h.code == nil && h.lang != 0 {
			s = h.lang.String() + s
		}
		if h.how != "argv" {
			s = h.how + ": " + s
		}
		if len(h.args) > 0 {
			s += " args(" + Line(h.args) + ")"
		}
		for _, a := range h.assigns {
			s += " set(" + a.Name + "=" + a.Value.Show() + ")"
		}
		if h.dir != nil {
			s += " in(" + h.dir.Show() + ")"
		}
		s += [...]string{Here: "", Root: " @root", Inside: " @inside", Container: " @container", Elsewhere: " @elsewhere"}[h.place]
		if h.looped {
			s += " looped"
		}
		if h.defer_ {
			s += " later"
		}
		if h.guess {
			s += " guess"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ; ")
}

func testLaunches(t *testing.T, rows []launchRow) {
	t.Helper()
	for _, r := range rows {
		if got := renderHandoffs(handoffs(launchCommand(r.line))); got != r.want {
			t.Errorf("%s\n got: %s\nwant: %s", r.line, got, r.want)
		}
	}
}

func TestWrappers(t *testing.T) {
	testLaunches(t, []launchRow{
		// sudo and its kin: options with values, assignments, questions
		{"sudo rm -rf /etc", "rm -rf /etc @root"},
		{"sudo -u root -g wheel reboot", "reboot @root"},
		{"sudo -uroot reboot", "reboot @root"},
		{"sudo -nu root reboot", "reboot @root"},
		{"sudo --user=root reboot", "reboot @root"},
		{"sudo --user root reboot", "reboot @root"},
		{"sudo --us root reboot", "reboot @root"},
		{"sudo --prompt x --chdir /srv ls", "ls in(/srv) @root"},
		{"sudo -h box reboot", "reboot @root"},
		{"sudo -- rm x", "rm x @root"},
		{"sudo A=1 B=2 make install", "make install set(A=1) set(B=2) @root"},
		{"sudo -E env", "env @root"},
		{"sudo -l", "query"},
		{"sudo -ln reboot", "query"},
		{"sudo --list reboot", "query"},
		{"sudo -v", "query"},
		{"sudo -k", ""},
		{"sudo -k rm x", "rm x @root"},
		{"sudo -e /etc/hosts", "query"},
		{"sudo --help", "query"},
		{"sudo -V", "query"},
		{"sudo -s", "stdin: <stdin> @root"},
		{"sudo -i", "stdin: <stdin> @root"},
		{"sudo -i rm x", "rm x @root"},
		{"sudo rm --help", "rm --help @root"},
		{"sudo $X rm -rf /", "$X rm -rf / @root ; rm -rf / @root guess"},
		{"doas -u op rm x", "rm x @root"},
		{"doas -C /etc/doas.conf rm x", "query"},
		{"doas -s", "stdin: <stdin> @root"},
		{"su -c 'rm -rf /' root", "-c: {rm -rf /} @root"},
		{"su - root -c 'id; ls'", "-c: {id; ls} @root"},
		{"su root --command=id", "-c: {id} @root"},
		{"su root -- script.sh x", "sh script.sh x @root"},
		{"su -", "stdin: <stdin> @root"},
		{"su --help", "query"},
		{"su -c", "-c: {missing -c text} @root"},
		{"runuser -u www -- rm x", "rm x @root"},
		{"runuser -l www -c id", "-c: {id} @root"},
		{"pkexec --user root rm x", "rm x @root"},
		{"pkexec rm x", "rm x @root"},
		{"run0 -D /srv rm x", "rm x in(/srv) @root"},
		{"run0 --user bob id", "id @root"},
		{"systemd-run --user --unit=x -p A=b rm x", "rm x"},
		{"systemd-run --on-calendar=daily rm x", "rm x later"},
		{"systemd-run -E A=1 rm x", "rm x set(A=1)"},
		{"systemd-run -S", "stdin: <stdin>"},
		{"setpriv --reuid 1000 --clear-groups rm x", "rm x @root"},
		{"setpriv --dump", "query"},
		{"capsh --drop=cap_chown -- -c 'rm x'", "bash -c 'rm x' @inside"},
		{"capsh --print", ""},
		{"sg docker -c 'docker ps'", "-c: {docker ps} @root"},
		{"sg docker 'docker ps'", "-c: {docker ps} @root"},
		{"gosu app rm x", "rm x @root"},

		// the shell's own
		{"command rm x", "rm x"},
		{"command -p rm x", "rm x"},
		{"command -v rm", "query"},
		{"command -pV rm", "query"},
		{"command -- rm x", "rm x"},
		{"builtin cd /", "cd /"},
		{"exec -a sudo rm x", "rm x"},
		{"exec -cl sh", "sh"},
		{"exec", ""},

		// how a process runs
		{"nice rm x", "rm x"},
		{"nice -n 5 rm x", "rm x"},
		{"nice -5 rm x", "rm x"},
		{"nice --adj=5 rm x", "rm x"},
		{"nohup rm x", "rm x"},
		{"setsid -fw rm x", "rm x"},
		{"time -f %e -o log rm x", "rm x"},
		{"gtime -v rm x", "rm x"},
		{"timeout 5 reboot", "reboot"},
		{"timeout -k 3 -s KILL 5 reboot", "reboot"},
		{"timeout --signal=KILL 5s reboot", "reboot"},
		{"timeout --sig KILL 5s reboot", "reboot"},
		{"timeout 5", ""},
		{"gtimeout 5 reboot", "reboot"},
		{"stdbuf -oL -e 0 rm x", "rm x"},
		{"stdbuf --output=L rm x", "rm x"},
		{"ionice -c 3 -n7 rm x", "rm x"},
		{"ionice -p 12 sudo", "query"},
		{"chrt 5 rm x", "rm x"},
		{"chrt -f 5 rm x", "rm x"},
		{"chrt --idle 0 rm x", "rm x"},
		{"chrt -p 12 sudo", "query"},
		{"chrt -m", "query"},
		{"taskset -c 0,1 rm x", "rm x"},
		{"taskset 0x3 rm x", "rm x"},
		{"taskset -p sudo", "query"},
		{"chroot --userspec=a:b /mnt rm x", "rm x @inside"},
		{"chroot /mnt", "stdin: <stdin> @inside"},
		{"nsenter -t 1 -m -u rm x", "rm x @inside"},
		{"nsenter --target 1 --all -- rm x", "rm x @inside"},
		{"nsenter -t1 -m", "stdin: <stdin> @inside"},
		{"unshare -r -m rm x", "rm x @inside"},
		{"unshare -rw /srv rm x", "rm x in(/srv) @inside"},
		{"fakeroot -- rm x", "rm x"},
		{"proot -r /mnt -b /dev rm x", "rm x @inside"},
		{"firejail --net=none rm x", "rm x @inside"},
		{"bwrap --ro-bind / / --dev /dev --unshare-all --setenv A 1 --chdir /w rm x", "rm x set(A=1) in(/w) @inside"},
		{"bwrap --die-with-parent -- rm x", "rm x @inside"},
		{"caffeinate -i -t 60 rm x", "rm x"},
		{"arch -x86_64 rm x", "rm x"},
		{"cpulimit -l 50 -- rm x", "rm x"},
		{"cpulimit --limit 50 -p 12", ""},
		{"chronic rm x", "rm x"},
		{"ifne rm x", "rm x"},
		{"daemonize -c /srv rm x", "rm x in(/srv)"},
		{"eatmydata rm x", "rm x"},
		{"faketime '2020-01-01' rm x", "rm x"},
		{"rlwrap -a -c rm x", "rm x"},
		{"unbuffer -p rm x", "rm x"},
		{"strace -f -e trace=file -o log rm x", "rm x"},
		{"strace -E A=1 rm x", "rm x set(A=1)"},
		{"strace -p 12", ""},
		{"ltrace -S -o log rm x", "rm x"},
		{"valgrind --leak-check=full rm x", "rm x"},
		{"perf stat -e cycles -r 5 rm x", "rm x"},
		{"perf record -g -F 99 -- rm x", "rm x"},
		{"perf report", ""},
		{"ld-linux-x86-64.so.2 --library-path /lib /bin/rm x", "/bin/rm x"},
		{"ld-linux-x86-64.so.2 --list /bin/rm", "query"},
		{"busybox rm -rf /", "rm -rf /"},
		{"busybox sh -c 'rm x'", "sh -c 'rm x'"},
		{"busybox --list", "query"},
		{"toybox reboot", "reboot"},
		{"ip netns exec ns rm x", "rm x @inside"},
		{"ip -n ns link set x up", ""},
		{"arch-chroot /mnt rm x", "rm x @inside"},
		{"schroot -c sid -- rm x", "rm x @inside"},
		{"cgexec -g cpu:x rm x", "rm x"},
		{"runcon ctx rm x", "rm x"},
		{"run-one rm x", "rm x"},
		{"bear -- make", "make"},
		{"shx rm -rf x", "rm -rf x"},
		{"ccache gcc -c a.c", "gcc -c a.c"},
		{"prlimit --nofile=10 rm x", "rm x"},
		{"xvfb-run -a rm x", "rm x"},
		{"flock /tmp/l rm x", "rm x"},
		{"flock -n -w 5 /tmp/l rm x", "rm x"},
		{"flock /tmp/l -c 'rm x; ls'", "-c: {rm x; ls}"},
		{"flock -u 9", ""},
		{"start-stop-daemon --start --exec /bin/rm -- -rf x", "/bin/rm -rf x"},
		{"start-stop-daemon -S -x /bin/rm -- x", "/bin/rm x"},
		{"start-stop-daemon --stop --exec /bin/rm", "query"},
		{"run-parts /etc/cron.daily", "/etc/cron.daily/… looped"},
		{"run-parts --test /etc/cron.daily", "query"},
		{"supervise /svc/x", "/svc/x/run"},
		{"tini -g -- rm x", "rm x"},
	})
}

func TestEnv(t *testing.T) {
	testLaunches(t, []launchRow{
		{"env rm x", "rm x"},
		{"env", ""},
		{"env -i A=1 B-2=x rm x", "rm x set(A=1) set(B-2=x)"},
		{"env - A=1 rm x", "rm x set(A=1)"},
		{"env -u sudo rm x", "rm x"},
		{"env -uFOO rm x", "rm x"},
		{"env --unset FOO -C /srv rm x", "rm x in(/srv)"},
		{"env --chdir=/srv -- rm x", "rm x in(/srv)"},
		{"env -S 'rm -rf /'", "-S: rm -rf /"},
		{"env '-Srm -rf /'", "-S: rm -rf /"},
		{"env -iS 'rm -rf /'", "-S: rm -rf /"},
		{"env '-vSrm -rf' /", "-S: rm -rf /"},
		{"env '--split-string=A=1 rm x' y", "-S: rm x y set(A=1)"},
		{"env --sp 'rm x'", "-S: rm x"},
		{"env -S '-i A=1 rm x'", "-S: rm x set(A=1)"},
		{"env -S '-S rm x'", "-S: rm x"},
		{"env -S 'rm ${HOME}/x'", "-S: rm $HOME/x"},
		{"env -S 'rm $HOME'", "-S: rm $HOME"},
		{"env -S 'echo ; rm x'", "-S: echo ';' rm x"},
		{"env --help", "query"},
		{"genv rm x", "rm x"},
	})
}

// What was cut out of a word, glued or replaced still knows whose output it holds.
func TestFrom(t *testing.T) {
	for _, line := range []string{"python '-c$X'", "env '-S$X'", "env '--split-string=rm $X'", "ssh host $X b", "find . -exec sh -c '{}$X' ;", "sudo A='$X' sh"} {
		c := launchCommand(line)
		for i := range c.Args {
			if len(c.Args[i].Holes) > 0 {
				c.Args[i].From = []int{7}
			}
		}
		hs, _ := handoffs(c)
		var words []Word
		for _, h := range hs {
			words = append(words, h.argv...)
			for _, w := range []*Word{h.text, h.code} {
				if w != nil {
					words = append(words, *w)
				}
			}
			for _, a := range h.assigns {
				words = append(words, a.Value)
			}
		}
		found := false
		for _, w := range words {
			found = found || len(w.From) > 0 && w.From[0] == 7
		}
		if !found {
			t.Errorf("%s: no word of %s knows where it comes from", line, renderHandoffs(hs, false))
		}
	}
}

func TestSplitString(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string
		ok   bool
	}{
		{`a  b	c`, []string{"a", "b", "c"}, true},
		{`a\_b`, []string{"a", "b"}, true},
		{`"a\_b"`, []string{"a b"}, true},
		{`a\tb\n\r\f\v`, []string{"a\tb\n\r\f\v"}, true},
		{`\#a \$b \"c \'d \\e`, []string{"#a", "$b", `"c`, "'d", `\e`}, true},
		{`a #b c`, []string{"a"}, true},
		{`a#b`, []string{"a#b"}, true},
		{`a b\c d`, []string{"a", "b"}, true},
		{`"a\c"`, nil, false},
		{`'a\'b\\c\d'`, []string{`a'b\c\d`}, true},
		{`'a\c'`, []string{`a\c`}, true},
		{`'$x'`, []string{"$x"}, true},
		{`"$x"`, nil, false},
		{`$x`, nil, false},
		{`${x`, nil, false},
		{`a${x}b`, []string{"a" + Unknown + "b"}, true},
		{`'a`, nil, false},
		{`a\`, nil, false},
		{`a\q`, nil, false},
		{`"" a`, []string{"", "a"}, true},
		{`a"b c"d`, []string{"ab cd"}, true},
		{``, nil, true},
	} {
		words, ok := splitString(Word{Text: tt.in})
		var got []string
		for _, w := range words {
			got = append(got, w.Text)
		}
		if ok != tt.ok || !cmp.Equal(got, tt.want) {
			t.Errorf("splitString(%q) = %q, %v, want %q, %v", tt.in, got, ok, tt.want, tt.ok)
		}
	}
}

func TestShells(t *testing.T) {
	testLaunches(t, []launchRow{
		{"bash -c 'rm x'", "-c: {rm x}"},
		{"bash -lc 'rm x' a b", "-c: {rm x} args(a b)"},
		{"bash -xec 'rm x'", "-c: {rm x}"},
		{"bash -c -l 'rm x'", "-c: {rm x}"},
		{"bash -lo posix -lc 'rm x'", "-c: {rm x}"},
		{"bash -co pipefail 'rm x'", "-c: {rm x}"},
		{"bash -O extglob -c 'rm x'", "-c: {rm x}"},
		{"bash +o posix -c 'rm x'", "-c: {rm x}"},
		{"bash -euo pipefail -c 'rm x'", "-c: {rm x}"},
		{"bash --norc -c 'rm x'", "-c: {rm x}"},
		{"bash -norc x.sh", "file: <x.sh> args(x.sh)"},
		{"bash --rcfile -c x.sh", "--rcfile: <-c> ; file: <x.sh> args(x.sh)"},
		{"bash --rcfile rc -i", "--rcfile: <rc> ; stdin: <stdin>"},
		{"bash --init-file rc -c 'rm x'", "-c: {rm x}"},
		{"bash -c -- 'rm x'", "-c: {rm x}"},
		{"bash -c", "-c: {missing -c text}"},
		{"bash", "stdin: <stdin>"},
		{"bash -", "stdin: <stdin>"},
		{"bash -s a b", "stdin: <stdin> args(bash a b)"},
		{"bash x.sh a -c b", "file: <x.sh> args(x.sh a -c b)"},
		{"bash -- x.sh", "file: <x.sh> args(x.sh)"},
		{"bash -n x.sh", "query"},
		{"bash -o noexec x.sh", "query"},
		{"bash --version", "query"},
		{"bash --help", "query"},
		{"bash $X 'rm -rf /'", "file: <$X> args($X 'rm -rf /') ; -c: {rm -rf /} guess"},
		{"bash -$X 'rm -rf /' a", "file: <rm -rf /> args('rm -rf /' a) ; -c: {rm -rf /} guess"},
		{"bash -c $X 'rm -rf /'", "-c: {$X} args('rm -rf /') ; -c: {rm -rf /} guess"},
		{"/bin/sh -c 'rm x'", "-c: {rm x}"},
		{"sh -ec 'rm x'", "-c: {rm x}"},
		{"dash -c 'rm x'", "-c: {rm x}"},
		{"dash -sc id", "-c: {id} ; stdin: <stdin>"},
		{"bash -sc id", "-c: {id}"},
		{"dash -Orc x id", "-c: {id}"},
		{"zsh -ic 'rm x'", "-c: {rm x}"},
		{"ksh -c 'rm x'", "-c: {rm x}"},
		{"fish -c 'rm x'", "-c: {rm x}"},
		{"fish '-crm x'", "-c: {rm x}"},
		{"fish --command='rm x'", "-c: {rm x}"},
		{"fish x.fish", "file: <x.fish> args(x.fish)"},
		{"nu -c 'rm x'", "-c: {rm x}"},
		{"tcsh -c 'rm x'", "-c: {rm x}"},
	})
	for name, want := range map[string]Dialect{
		"bash": Bash, "rbash": Bash, "fish": Bash, "sh": systemShell, "dash": POSIX, "ash": POSIX, "ksh": Mksh, "mksh": Mksh, "zsh": Zsh,
	} {
		hs, _ := handoffs(launchCommand(name + " -c id"))
		if len(hs) != 1 || hs[0].dialect != want {
			t.Errorf("%s -c: got %v, want dialect %v", name, hs, want)
		}
	}
}
