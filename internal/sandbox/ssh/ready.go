package ssh

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"hermes/internal/child"
	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
)

// Check is one thing the backend needs, and whether it is there.
type Check struct {
	Name   string // stable, for programs
	OK     bool
	Detail string // what was found, or is missing
	Remedy string // what to do, when it is not OK
}

// Ready looks whether the backend could open a sandbox: what it needs here, and, unless that fails, a connection. It asks
// nobody: an unknown host key is a check that fails.
func (b *Backend) Ready(ctx context.Context, spec sandbox.Spec) []Check {
	var all []Check
	add := func(name string, err error, detail, remedy string) bool {
		c := Check{Name: name, OK: err == nil, Detail: detail}
		if err != nil {
			c.Detail, c.Remedy = err.Error(), remedy
		}
		all = append(all, c)
		return c.OK
	}
	program := b.conf.Program
	if program == "" {
		program = "ssh"
	}
	path, err := child.Lookup(program, b.conf.Search)
	ok := add("ssh_program", err, path, "install the OpenSSH client")
	to, err := b.target()
	remedy := "look at terminal.ssh_host and terminal.ssh_user"
	var degraded *sandbox.DegradedError
	if errors.As(err, &degraded) {
		err, remedy = errors.New(degraded.Text), degraded.Remedy
	}
	ok = add("ssh_host", err, to.String(), remedy) && ok
	if key := b.conf.Key; key != "" && !strings.HasPrefix(key, "~") && filepath.IsAbs(key) {
		_, err := os.Stat(key)
		ok = add("ssh_key", err, key, "look at terminal.ssh_key") && ok
	}
	if !ok {
		return all
	}
	quiet := b.conf
	quiet.Confirm, quiet.Log, quiet.Sync = nil, nil, nil
	box, err := New(quiet).Open(ctx, spec)
	if err != nil {
		remedy := ""
		if errors.As(err, &degraded) {
			remedy = degraded.Remedy
		}
		add("ssh_connection", err, "", remedy)
		return all
	}
	e := box.Exposure()
	add("ssh_connection", nil, strings.Join(e.Means, ", "), "")
	if e.Runner == exposure.Plain {
		add("ssh_runner", errors.New("it does not run there: a shell is started for each command"), "",
			"use a home there that is not mounted noexec, on Linux on amd64 or arm64")
	} else {
		add("ssh_runner", nil, "runs there", "")
	}
	if err := box.Close(ctx); err != nil {
		add("ssh_end", err, "", "")
	}
	return all
}
