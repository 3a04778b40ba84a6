package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"hermes/bench/peers"
)

// peer is another sandbox's command line, up to the command inside.
type peer struct {
	name   string
	prefix []string
}

// findPeers lists the peers that are fit for work, installed, and work here.
func findPeers(p *place) (found []peer, err error) {
	all, err := peers.List(peers.Place{Home: p.home, Tree: p.tree}, p.home)
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		if !one.Work {
			continue
		}
		x := peer{one.Name, one.Prefix}
		if _, err := exec.LookPath(x.prefix[0]); err != nil {
			fmt.Printf("%s is not installed, it is left out\n", x.name)
			continue
		}
		if err := succeed(x.command(context.Background(), p, "/bin/true")); err != nil {
			fmt.Printf("%s does not run here, it is left out: %v\n", x.name, err)
			continue
		}
		found = append(found, x)
	}
	return found, nil
}

func (x peer) command(ctx context.Context, p *place, argv ...string) *exec.Cmd {
	all := append(append([]string{}, x.prefix...), argv...)
	cmd := exec.CommandContext(ctx, all[0], all[1:]...)
	cmd.Dir = p.tree
	cmd.Env = p.environ()
	return cmd
}

// environ is what every program gets.
func (p *place) environ() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "LANG=C.UTF-8", "SHELL=/bin/bash", "GOCACHE=" + filepath.Join(p.tree, ".build"),
		"GOTOOLCHAIN=local", "GOFLAGS=-buildvcs=false", "GOTMPDIR=" + filepath.Join(p.tree, ".tmp")}
}

// succeed runs a command and wants it to succeed.
func succeed(cmd *exec.Cmd) error {
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(out.String()))
	}
	return nil
}

// srtLibrary is a Node process that has srt as a library, as agents do: its proxies stay, and each command is wrapped.
type srtLibrary struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

//go:embed srt.mjs
var srtProgram []byte

func startLibrary(ctx context.Context, p *place, folder string) (*srtLibrary, error) {
	program := filepath.Join(folder, "hermes-bench.mjs")
	if err := os.WriteFile(program, srtProgram, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "node", program, p.tree)
	cmd.Dir, cmd.Env, cmd.Stderr = p.tree, p.environ(), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	l := &srtLibrary{cmd, in, bufio.NewReader(out)}
	return l, l.answer("ready")
}

// run has one command run.
func (l *srtLibrary) run(command string) error {
	if _, err := io.WriteString(l.in, command+"\n"); err != nil {
		return err
	}
	return l.answer("0")
}

func (l *srtLibrary) answer(want string) error {
	line, err := l.out.ReadString('\n')
	if err != nil {
		return err
	}
	if got := strings.TrimSpace(line); got != want {
		return fmt.Errorf("srt answered %q", got)
	}
	return nil
}

func (l *srtLibrary) close() {
	_ = l.in.Close()
	_ = l.cmd.Wait()
}
