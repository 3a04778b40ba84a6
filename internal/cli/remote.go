package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"hermes/internal/app"
	"hermes/internal/sandbox/ssh"
)

// askHostKey returns the question about a machine's key at first contact. Only the whole word accepts it; Enter, the end of input
// and everything else refuse, and so does a process without a terminal.
func askHostKey(stdio *IO) func(context.Context, ssh.HostKey) (bool, error) {
	return func(ctx context.Context, key ssh.HostKey) (bool, error) {
		t := newTerminal(stdio)
		if t == nil {
			return false, errors.New("nobody can be asked without a terminal")
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		f, err := t.open()
		if err != nil {
			return false, fmt.Errorf("open the terminal: %w", bare(err))
		}
		defer f.Close()
		t.forget(f)
		_, err = fmt.Fprintf(f, "\nFirst contact with %s. It shows this key:\n\n    %s %s\n\nCompare it with the machine's own, on the machine: "+
			"ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub\nIf you accept it, it is kept in %s, as ssh would.\n\nIs this the machine? Type yes, or Enter for no: ",
			visible(key.Host), visible(key.Type), visible(key.Fingerprint), visible(key.Known))
		if err != nil {
			return false, fmt.Errorf("write to the terminal: %w", bare(err))
		}
		typed := make(chan string, 1)
		go func() {
			line, _ := bufio.NewReaderSize(f, maxWord).ReadString('\n')
			typed <- line
		}()
		select {
		case line := <-typed:
			return strings.TrimSpace(line) == "yes", nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// verifyRemote opens a place on another machine as the settings say, and tells what it is. Nothing there is a wall: there is
// nothing to try.
func verifyRemote(ctx context.Context, stdio *IO, o verifyOptions) error {
	return withApp(stdio, func(a *app.App, start string) error {
		session, err := a.Session("verify")
		if err != nil {
			return err
		}
		backend, spec, err := a.Sandbox(app.Where{Session: session, Backend: ssh.Name, Start: start})
		if err != nil {
			return err
		}
		if spec.Env, err = a.Variables(ssh.Name); err != nil {
			return err
		}
		box, err := backend.Open(ctx, spec)
		if err != nil {
			return hinted(err)
		}
		e, walls := box.Exposure(), ""
		if w, ok := box.(interface{ Walls() string }); ok {
			walls = w.Walls()
		}
		if err := box.Close(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		return verified(stdio, o, ssh.Name, walls, e)
	})
}
