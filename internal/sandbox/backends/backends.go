// Package backends is the list of the places where commands can run.
//
// It opens none. Failure direction: a name that is not in the list is an error, never another backend.
package backends

import (
	"fmt"
	"strings"

	"hermes/internal/sandbox"
	"hermes/internal/sandbox/docker"
	"hermes/internal/sandbox/local"
	"hermes/internal/sandbox/native"
	"hermes/internal/sandbox/native/seccomp"
	"hermes/internal/sandbox/ssh"
)

// Config says what each backend is made of.
type Config struct {
	Local  local.Config
	Native native.Config
	Docker docker.Config // without a Filter it gets the native sandbox's
	SSH    ssh.Config
}

// all returns every backend, the default first.
func all(c Config) []sandbox.Backend {
	if c.Docker.Filter == nil {
		c.Docker.Filter = func() ([]byte, int) { return seccomp.Filter(seccomp.Options{}) }
	}
	return []sandbox.Backend{local.New(c.Local), native.New(c.Native), docker.New(c.Docker), ssh.New(c.SSH)}
}

// Find returns the backend of a name.
func Find(name string, c Config) (sandbox.Backend, error) {
	var names []string
	for _, b := range all(c) {
		if b.Name() == name {
			return b, nil
		}
		names = append(names, b.Name())
	}
	return nil, &UnknownError{Name: name, Names: names}
}

// UnknownError says that there is no backend of that name.
type UnknownError struct {
	Name  string
	Names []string // those there are
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("backend %q: it is none of %s", e.Name, strings.Join(e.Names, ", "))
}
