package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"hermes/internal/sandbox"
)

// starts is one command in a sandbox of its own: from nothing to its end.
func starts(ctx context.Context, o options, p *place, n *boxes, others []peer, library *srtLibrary) *table {
	t := &table{title: "one command, a sandbox of its own (/bin/true)", base: "no sandbox"}
	t.add("no sandbox", func() error { return succeed(exec.CommandContext(ctx, "/bin/true")) })
	t.add("native, in a running process, cold", func() error { return n.once(ctx, n.cold) })
	t.add("native, in a running process, warm", func() error { return n.once(ctx, n.warm) })
	for _, x := range others {
		t.add(x.name, func() error { return succeed(x.command(ctx, p, "/bin/true")) })
		if x.prefix[0] == "bwrap" {
			t.base = x.name
		}
	}
	if library != nil {
		t.add("srt as a library in a running process", func() error { return library.run("/bin/true") })
	}
	if o.hermes != "" {
		t.add("hermes exec --backend native, as a process", func() error {
			cmd := exec.CommandContext(ctx, o.hermes, "exec", "--backend", "native", "--", "/bin/true")
			cmd.Dir, cmd.Env = p.tree, p.environ()
			return succeed(cmd)
		})
	}
	return t
}

// kept is a command in a sandbox that stays. Of the peers none keeps one for several commands.
func kept(ctx context.Context, n *boxes) *table {
	t := &table{title: "a command in a kept sandbox", base: "/bin/true outside"}
	t.add("/bin/true outside", func() error { return succeed(exec.CommandContext(ctx, "/bin/true")) })
	t.add("/bin/true, kept native", func() error { return in(ctx, n.kept, sandbox.Command{Argv: []string{"/bin/true"}}) })
	t.add("bash -c true outside", func() error { return succeed(exec.CommandContext(ctx, "/bin/bash", "-c", "true")) })
	t.add("bash -c true, kept native", func() error { return in(ctx, n.kept, sandbox.Command{Text: "true"}) })
	return t
}

// builds is go build of a small program that imports net/http, all from the cache but the program itself.
func builds(ctx context.Context, p *place, n *boxes, others []peer) *table {
	t := &table{title: "go build of a changed main package", base: "no sandbox"}
	change := func() error {
		text := fmt.Sprintf("package main\n\nimport (\n\t\"fmt\"\n\t\"net/http\"\n)\n\nfunc main() { fmt.Println(http.StatusText(200), %q) }\n", time.Now().String())
		return os.WriteFile(filepath.Join(p.tree, "main.go"), []byte(text), 0o600)
	}
	add := func(name string, build func() error) {
		t.add(name, func() error {
			if err := change(); err != nil {
				return err
			}
			return build()
		})
	}
	add("no sandbox", func() error {
		cmd := exec.CommandContext(ctx, "go", "build", "-o", "x", ".")
		cmd.Dir, cmd.Env = p.tree, p.environ()
		return succeed(cmd)
	})
	add("native, kept", func() error { return in(ctx, n.kept, sandbox.Command{Argv: []string{"go", "build", "-o", "x", "."}}) })
	for _, x := range others {
		add(x.name, func() error { return succeed(x.command(ctx, p, "go", "build", "-o", "x", ".")) })
	}
	return t
}

// output is how fast a command's output comes out.
func output(ctx context.Context, o options, p *place, n *boxes, others []peer) *table {
	t := &table{title: "output through a pipe", base: "no sandbox", size: o.mib}
	argv := []string{"head", "-c", strconv.Itoa(o.mib << 20), "/dev/zero"}
	outside := func(cmd *exec.Cmd) func() error {
		return func() error {
			cmd := exec.CommandContext(ctx, cmd.Args[0], cmd.Args[1:]...)
			cmd.Dir, cmd.Env = p.tree, p.environ()
			out, err := cmd.StdoutPipe()
			if err != nil {
				return err
			}
			if err := cmd.Start(); err != nil {
				return err
			}
			got, err := io.CopyBuffer(&counter{}, onlyReader{out}, make([]byte, 64<<10))
			if err == nil && got != int64(o.mib)<<20 {
				err = fmt.Errorf("%d bytes came", got)
			}
			if ended := cmd.Wait(); err == nil {
				err = ended
			}
			return err
		}
	}
	t.add("no sandbox", outside(exec.Command(argv[0], argv[1:]...)))
	t.add("native, kept", func() error {
		var c counter
		err := in(ctx, n.kept, sandbox.Command{Argv: argv, Stdout: &c})
		if err == nil && c.n != int64(o.mib)<<20 {
			err = fmt.Errorf("%d bytes came", c.n)
		}
		return err
	})
	for _, x := range others {
		t.add(x.name, outside(x.command(ctx, p, argv...)))
	}
	return t
}

// onlyReader hides what else a reader can do.
type onlyReader struct{ io.Reader }
