package sandboxtest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"

	"hermes/internal/sandbox"
)

func testDir(b *bench) {
	if s, out := b.run(sandbox.Command{Argv: []string{"pwd"}, Dir: "/"}); out != "/\n" {
		b.Errorf("%q, %+v", out, s)
	}
	if !b.traits.Lasts {
		return
	}
	s, _ := b.run(sandbox.Command{Text: "cd /usr"})
	if s.Dir != "/usr" || !s.Observed {
		b.Errorf("%+v", s)
	}
	if s, out := b.run(sandbox.Command{Text: "pwd"}); out != "/usr\n" || s.Dir != "/usr" || !s.Observed {
		b.Errorf("%q, %+v", out, s)
	}
	if _, out := b.run(sandbox.Command{Argv: []string{"pwd"}}); out != "/usr\n" {
		b.Errorf("program: %q", out)
	}
	b.want("cd /; (cd /tmp); pwd", "/\n")
	if s, _ := b.run(sandbox.Command{Text: "cd /usr; kill -KILL $$"}); s.Observed {
		b.Errorf("a killed command told its directory: %+v", s)
	}
	b.want("pwd", "/\n")
	b.run(sandbox.Command{Text: "cd /usr; exit 3"})
	b.want("pwd; cd -", "/usr\n/\n")
	dir := path.Join(b.traits.Dir, "gone")
	b.want(`mkdir -p "`+dir+`/a b" && cd "`+dir+`/a b" && pwd -P | wc -l`, "1\n")
	b.want(`rmdir "$PWD"`, "")
	b.want(`basename "$PWD"`, "gone\n") // the nearest that is there
	b.want(`mkdir "a b"; cd "a b"`, "")
	b.want(`basename "$PWD"; cd /; rm -r "`+dir+`"`, "a b\n")
}

func testLasts(b *bench) {
	b.want(`export A='x  y'; B=not`, "")
	b.want(`echo "[$A][$B]"; env | grep -c '^A='`, "[x  y][]\n1\n")
	b.want(`A=other`, "")
	b.want(`echo "$A"`, "other\n")
	b.want(`unset A HOME`, "")
	b.want(`echo "[$A][${HOME-none}]"`, "[][none]\n")
	b.want(`hello() { echo "hello $1"; }; _private() { :; }; __kept() { echo kept; }; export -f hello`, "")
	b.want(`hello you; bash -c 'hello them'; __kept; type -t _private`+"\n:", "hello you\nhello them\nkept\n")
	b.want(`unset -f hello`, "")
	b.want(`type -t hello; true`, "")
	b.want(`alias ll='echo listing'`, "")
	b.want(`ll now`, "listing now\n")
	b.want("f() { cat <<E\n}\nE\n}\ng() { echo g; }", "")
	b.want(`f; g`, "}\ng\n")
	b.want(`trap 'echo bye' EXIT; export LOST=1`, "bye\n") // its own trap: the state stays as it was
	b.want(`set -eu; export OPT=1`, "")
	b.want(`echo $OPT; echo $unset; false; echo on`, "1\n\non\n")
	b.want(`cd() { builtin cd "$@"; echo moved; }; printf() { echo no; }; export() { echo no; }; declare() { echo no; }`, "")
	b.want(`cd /`, "moved\n")
	b.want(`pwd`, "/\n")
	b.want(`builtin export X=1; unset -f cd printf export declare`, "")
	b.want(`echo $X; cd /usr; echo $PWD`, "1\n/usr\n")
	b.want(`exec 2>/dev/null; export E=1`, "")
	b.want(`echo $E`, "1\n")
	b.want(`arr=(1 'two three'); export arr; declare -Ax m; export LAST=z`, "")
	b.want(`echo ${#arr[@]} "${arr[1]}" $LAST`, "2 two three z\n")
	b.want(`echo $AI_AGENT $PAGER`, "hermes-agent cat\n")
	b.want(`export HERMES_SESSION_ID=1 AI_AGENT=other`, "")
	b.want(`echo [$HERMES_SESSION_ID] $AI_AGENT`, "[] hermes-agent\n")
}

// testApart: a command that is apart has what lasts, and leaves nothing of its own.
func testApart(b *bench) {
	b.want(`export A=1; f() { echo f; }; cd /usr`, "")
	s, out := b.run(sandbox.Command{Text: `echo $A; f; pwd; export A=2 B=2; f() { echo g; }; alias a=b; cd /`, Apart: true})
	if out != "1\nf\n/usr\n" || s.Code != 0 || s.Observed {
		b.Errorf("apart: %q %+v", out, s)
	}
	b.want(`echo $A [$B]; f; type -t a; pwd`, "1 []\nf\n/usr\n")
}

func testSessions(b *bench) {
	other := b.another()
	b.want(`export SECRET=mine; f() { echo f; }; alias a=b; cd /usr`, "")
	s, out := b.in(other, sandbox.Command{Text: `echo "[$SECRET]"; type -t f a; pwd`})
	if strings.Contains(out, "mine") || strings.Contains(out, "function") || strings.Contains(out, "/usr\n") || s.Code != 0 {
		b.Errorf("another session sees %q", out)
	}
}

// Values that a shell's own output is not easily read back from.
func testAwkward(b *bench) {
	for _, value := range []string{
		"two\nlines", "declare -x X=\"y\"\n", `"double" 'single' \back $dollar ` + "`tick`", "\x01\x1b[0m\x7f", "tab\tend ", "ü €😀",
		"\xff\xfe", "", "=", "$(touch /tmp/no)", strings.Repeat("long ", 60_000),
	} {
		quoted := "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
		b.run(sandbox.Command{Text: "export AWKWARD=" + quoted})
		if _, out := b.run(sandbox.Command{Text: `printf %s "$AWKWARD"`}); out != value {
			b.Errorf("%.60q came back as %.60q (%d bytes as %d)", value, out, len(value), len(out))
		}
	}
	b.run(sandbox.Command{Text: "unset AWKWARD"})
}

func testLong(b *bench) {
	text := ": '" + strings.Repeat("x", 300_000) + "'\necho end"
	b.want(text, "end\n")
	b.want("x=1\n"+text+" $x", "end 1\n")
}

func testFiles(b *bench) {
	files, ok := b.box.(sandbox.Files)
	if !ok {
		b.Skip("skipped: needs a backend with files")
	}
	ctx, name := b.Context(), path.Join(b.traits.Dir, "a file")
	all := bytes.Repeat([]byte{0, 1, 2, 3, 254, 255, '\n'}, 100_000)
	write := func(name string, text []byte) error {
		w, err := files.Create(ctx, name, 0o640)
		if err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
		if _, err := files.Stat(ctx, name); text != nil && bytes.Equal(text, all) && !errors.Is(err, fs.ErrNotExist) {
			b.Errorf("it is seen before it is whole: %v", err)
		}
		return errors.Join(w.Close(), w.Close())
	}
	if err := write(name, all); err != nil {
		b.Fatal(err)
	}
	r, info, err := files.Open(ctx, name)
	if err != nil || info.Size() != int64(len(all)) || info.Mode() != 0o640 || info.Name() != "a file" {
		b.Fatalf("%+v, %v", info, err)
	}
	if err := write(name, []byte("new")); err != nil { // the open handle stays with what it opened
		b.Error(err)
	}
	text, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(text, all) || r.Close() != nil {
		b.Errorf("%d bytes of %d, %v", len(text), len(all), err)
	}
	if info, err := files.Stat(ctx, name); err != nil || info.Size() != 3 {
		b.Errorf("%+v, %v", info, err)
	}
	list, err := files.List(ctx, b.traits.Dir)
	if err != nil || len(list) != 1 || list[0].Name() != "a file" {
		b.Errorf("%+v, %v", list, err)
	}
	for _, bad := range []string{"relative", path.Join(b.traits.Dir, "no", "such"), ""} {
		if _, _, err := files.Open(ctx, bad); err == nil {
			b.Errorf("%q was opened", bad)
		}
		if _, err := files.Create(ctx, bad, 0o600); err == nil {
			b.Errorf("%q was created", bad)
		}
	}
	if _, _, err := files.Open(ctx, b.traits.Dir); err == nil {
		b.Error("a directory was opened to be read")
	}
	if _, _, err := files.Open(ctx, path.Join(b.traits.Dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		b.Errorf("what is not there: %v", err)
	}
	if b.traits.Bash {
		testLinks(b, files, name)
	}
}

// A link is never written through, and what is no ordinary file never opened.
func testLinks(b *bench, files sandbox.Files, name string) {
	dir := b.traits.Dir
	b.want(`cd "`+dir+`" && ln -s "a file" link && ln -s nowhere dangling && mkfifo fifo && cat link`, "new")
	for _, bad := range []string{"link", "dangling", "fifo"} {
		if w, err := files.Create(b.Context(), path.Join(dir, bad), 0o600); err == nil {
			_ = w.Close()
			b.Errorf("%s was written", bad)
		}
	}
	if _, _, err := files.Open(b.Context(), path.Join(dir, "fifo")); err == nil {
		b.Error("a pipe was opened")
	}
	if info, err := files.Stat(b.Context(), path.Join(dir, "link")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		b.Errorf("%+v, %v", info, err)
	}
	w, err := files.Create(b.Context(), path.Join(dir, "late"), 0o600)
	if err != nil {
		b.Fatal(err)
	}
	b.want(`cd "`+dir+`" && ln -s "a file" late`, "")
	if _, err := w.Write([]byte("through")); err == nil && w.Close() == nil {
		b.Error("a link that came later was replaced")
	}
	b.want(`cat "`+name+`"; cd "`+dir+`"; ls -A | wc -l`, "new5\n")
}
