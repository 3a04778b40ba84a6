// Package local runs commands on this machine, as the user that runs Hermes. It contains nothing and says so: what protects
// the machine is the guard and the person who is asked.
//
// It does not decide which commands run (see guard/command and launch) nor what of the environment they get (see
// guard/environ). Failure direction: a wall or limit that was asked for by name does not open here.
package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/effect"
	"hermes/internal/sandbox/runner"
	"hermes/internal/sandbox/snapshot"
)

// Config says what the backend is made of. The zero Config finds bash in the usual places and runs it without a runner.
type Config struct {
	Runner string                        // program that is a runner when started as runner.Marker; empty: bash is started for each command
	Search string                        // PATH of Hermes, where bash is looked for
	Shell  string                        // SHELL of the user, the last but one try
	OwnBin string                        // Hermes' own directory of programs, first in every PATH
	Extra  []string                      // directories that are added to every PATH, as managed runtimes
	Temp   string                        // for what has to be a file; empty: a directory of Spec.Home
	Login  bool                          // a login shell runs before the first text
	Stores func(name, value string) bool // which variables last; nil: all that the names allow
	Queue  int                           // commands at once, 0: the runner's default
	Grace  time.Duration
	Memory int64        // bytes of memory of its own that each process of a command may have; 0: what the host allows. It only tightens
	Log    func(string) // what the owner should know; may be nil
}

// Backend is the backend. It is safe for concurrent use.
type Backend struct{ conf Config }

// LeastMemory is the least that Config.Memory comes down to.
const LeastMemory = 64 << 20

// memory returns the limit of each process, 0 for none.
func (b *Backend) memory() uint64 {
	if b.conf.Memory <= 0 {
		return 0
	}
	return uint64(max(b.conf.Memory, LeastMemory))
}

// New returns the backend.
func New(c Config) *Backend { return &Backend{c} }

// Name returns "local".
func (b *Backend) Name() string { return "local" }

var _ sandbox.Backend = (*Backend)(nil)

// Open opens a place for the commands of one session.
func (b *Backend) Open(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	if spec.Session.IsZero() || spec.Workdir.IsZero() {
		return nil, errors.New("open local sandbox: no session or no work tree")
	}
	if !filepath.IsAbs(spec.Workdir.String()) {
		return nil, fmt.Errorf("open local sandbox: work tree %q is not absolute", spec.Workdir)
	}
	gaps, err := missing(spec)
	if err != nil {
		return nil, err
	}
	shell, posix, err := b.shell()
	if err != nil {
		return nil, err
	}
	temp, err := b.temp(spec)
	if err != nil {
		return nil, err
	}
	path, _ := spec.Env.Lookup("PATH")
	home, _ := spec.Env.Lookup("HOME")
	conf := snapshot.Config{
		Shell: shell, Posix: posix, Env: spec.Env, Dir: b.usable(spec.Workdir.String(), temp), Lasts: spec.Persistent,
		Judge: effect.Judge, Stores: b.conf.Stores, Prelude: runner.PreludeFD, Write: runner.StateFD,
		Vars: map[string]string{"PATH": searchPath(path, b.conf.OwnBin, home, b.conf.Extra)},
	}
	e := unconfined(spec, gaps)
	if memory := b.memory(); memory > 0 {
		e.Limits = append(e.Limits, exposure.Limit{
			Name: "memory", Unit: "bytes", Want: exposure.Explicitly, Asked: memory, Force: memory, Grade: exposure.Rlimit,
		})
	}
	start := runner.Start{Login: b.conf.Login && !posix, Files: spec.InitFiles}
	if b.conf.Runner != "" {
		box, err := b.resident(ctx, conf, start, e, temp)
		if err == nil {
			return box, nil
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("open local sandbox: %w", context.Cause(ctx))
		}
		b.log("the runner cannot run, bash is started for each command: " + err.Error())
	}
	return b.plain(conf, start, e, temp), nil
}

func (b *Backend) log(text string) {
	if b.conf.Log != nil {
		b.conf.Log(text)
	}
}

// missing returns what was asked for and is not to be had here; an error if the owner does not take it so.
func missing(spec sandbox.Spec) (gaps []string, err error) {
	refuse := func(what, why string) {
		if !spec.BestEffort && err == nil {
			err = &sandbox.MissingError{Backend: "local", What: what, Why: why, Remedy: "use the native or docker backend"}
		}
		gaps = append(gaps, what)
	}
	if n := spec.Network; n.Want == exposure.Explicitly && n.Asked != exposure.OpenNet && n.Asked != exposure.UnknownNet {
		refuse("network "+n.Asked.String(), "commands run on this machine itself")
	}
	if l := spec.Limits; l.Asked && (l.PIDs > 0 || l.Memory > 0 || l.CPU > 0 || l.Disk > 0) {
		refuse("limits", "commands run on this machine itself")
	}
	return gaps, err
}

// shell finds bash; where there is none, the POSIX shell.
func (b *Backend) shell() (path string, posix bool, err error) {
	var tries []string
	for _, dir := range filepath.SplitList(b.conf.Search) {
		if filepath.IsAbs(dir) {
			tries = append(tries, filepath.Join(dir, "bash"))
		}
	}
	tries = append(tries, "/usr/bin/bash", "/bin/bash", b.conf.Shell, "/bin/sh")
	for _, try := range tries {
		if info, err := os.Stat(try); err == nil && filepath.IsAbs(try) && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return try, filepath.Base(try) != "bash", nil
		}
	}
	return "", false, &sandbox.MissingError{Backend: "local", What: "a shell", Why: "neither bash nor /bin/sh is there", Remedy: "install bash"}
}

// keepTemp is how long files in our own temporary directory are kept.
const keepTemp = 72 * time.Hour

// temp returns the directory for files that do not last. Our own one is pruned.
func (b *Backend) temp(spec sandbox.Spec) (string, error) {
	if b.conf.Temp != "" {
		return b.conf.Temp, nil
	}
	if spec.Home == "" {
		return "/", nil // nothing is written there: it is only where commands start as the last resort
	}
	dir := filepath.Join(spec.Home, "terminal")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("open local sandbox: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("open local sandbox: %w", err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > keepTemp {
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
	return dir, nil
}

// usable returns the directory, or the nearest above it that can be entered, or temp.
func (b *Backend) usable(dir, temp string) string {
	for try := filepath.Clean(dir); ; try = filepath.Dir(try) {
		if enterable(try) {
			if try != filepath.Clean(dir) {
				if _, err := os.Lstat(dir); err == nil {
					b.log(fmt.Sprintf("%s cannot be entered: commands start in %s", dir, try))
				}
			}
			return try
		}
		if filepath.Dir(try) == try {
			return temp
		}
	}
}

// enterable tells whether a command could start in a directory.
func enterable(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	_, err = os.Stat(dir + "/.")
	return err == nil
}

var standard = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// searchPath mends a PATH: empty and repeated entries go, which would mean the current directory; what a shell cannot do
// without is added at the end.
func searchPath(path, own, home string, extra []string) string {
	var out []string
	seen := map[string]bool{"": true}
	add := func(dirs ...string) {
		for _, dir := range dirs {
			if !seen[dir] {
				seen[dir] = true
				out = append(out, dir)
			}
		}
	}
	add(own)
	add(filepath.SplitList(path)...)
	add(standard...)
	add(extra...)
	if home != "" {
		add(filepath.Join(home, ".local/bin"))
	}
	return strings.Join(out, string(filepath.ListSeparator))
}

// unconfined is the exposure of this machine itself.
func unconfined(spec sandbox.Spec, gaps []string) exposure.Exposure {
	e := exposure.Exposure{Backend: "local", Tree: exposure.OwnersTree, Network: spec.Network, Seccomp: exposure.NoFilter, Gaps: gaps}
	e.Network.Force = exposure.OpenNet
	for d := range e.Doors {
		if door := exposure.Door(d); door != exposure.EnvSecrets {
			e.Doors.Found(door, exposure.Open, "commands run on this machine itself")
		}
	}
	return e
}
