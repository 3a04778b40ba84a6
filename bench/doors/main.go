// Command doors prints what the same probe (hermes sandbox probe) finds in the native sandbox, in other sandboxes and in none.
//
// Peers that are not installed or do not run are named, with why. It installs nothing (scripts/peers does). Failure direction:
// what was not found out counts as open, for everybody.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"hermes/bench/peers"
	"hermes/internal/guard/exposure"
)

func main() {
	hermes := flag.String("hermes", "hermes", "the hermes `binary`; it must be where sandboxes can see it")
	place := flag.String("place", "", "an empty `folder` of this user's; empty: a new one below /var/tmp")
	flag.Parse()
	if err := run(*hermes, *place); err != nil {
		fmt.Fprintln(os.Stderr, "doors:", err)
		os.Exit(1)
	}
}

// seen is what was found in one sandbox.
type seen struct {
	name     string
	command  string
	exposure exposure.Exposure
}

func run(hermes, dir string) error {
	hermes, err := exec.LookPath(hermes)
	if err != nil {
		return err
	}
	if dir == "" {
		if dir, err = os.MkdirTemp("/var/tmp", "doors-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	p := peers.Place{Home: filepath.Join(dir, "home"), Tree: filepath.Join(dir, "home/src/app"), Program: hermes}
	if err := plant(p); err != nil {
		return err
	}
	all, err := peers.List(p, dir)
	if err != nil {
		return err
	}
	var found []seen
	e, err := verify(p, hermes)
	if err != nil {
		return fmt.Errorf("native: %w", err)
	}
	found = append(found, seen{"hermes native", "hermes sandbox verify --backend native", e})
	for _, x := range append(all, peers.Peer{Name: "none", Prefix: []string{"env"}}) {
		if _, err := exec.LookPath(x.Prefix[0]); err != nil {
			fmt.Printf("%s: not installed\n", x.Name)
			continue
		}
		if e, err = probe(p, hermes, x.Prefix); err != nil {
			fmt.Printf("%s: does not run here: %v\n", x.Name, err)
			continue
		}
		found = append(found, seen{x.Name, strings.ReplaceAll(strings.Join(x.Prefix, " "), p.Home, "~"), e})
	}
	summary(os.Stdout, found)
	matrix(os.Stdout, found)
	fmt.Println()
	for i, s := range found {
		fmt.Printf("%2d %s: %s\n", i+1, s.name, s.command)
	}
	return nil
}

// plant makes a home with what an owner has, and a repository below it.
func plant(p peers.Place) error {
	for _, dir := range []string{p.Tree + "/.git/hooks", p.Tree + "/.git/objects", p.Tree + "/.git/refs", p.Home + "/.ssh", p.Home + "/.aws"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{
		p.Home + "/.ssh/id_ed25519":   "-----BEGIN OPENSSH PRIVATE KEY-----\n",
		p.Home + "/.aws/credentials":  "[default]\n",
		p.Home + "/.bashrc":           "# nothing\n",
		p.Home + "/.profile":          "# nothing\n",
		p.Tree + "/.git/HEAD":         "ref: refs/heads/main\n",
		p.Tree + "/.git/config":       "[core]\n\tbare = false\n",
		p.Tree + "/.git/hooks/sample": "#!/bin/sh\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func command(p peers.Place, argv ...string) ([]byte, error) {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = p.Tree
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.Home, "USER=" + os.Getenv("USER"), "LANG=C.UTF-8"}
	cmd.WaitDelay = time.Second
	var trouble bytes.Buffer
	cmd.Stderr = &trouble
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, strings.Join(strings.Fields(trouble.String()), " "))
	}
	return out, err
}

func probe(p peers.Place, hermes string, prefix []string) (e exposure.Exposure, err error) {
	out, err := command(p, append([]string{hermes, "sandbox", "probe", "--json", "--"}, prefix...)...)
	if err != nil {
		return e, err
	}
	return e, json.Unmarshal(out, &e)
}

func verify(p peers.Place, hermes string) (e exposure.Exposure, err error) {
	out, err := command(p, hermes, "sandbox", "verify", "--backend", "native", "--json")
	var answer struct{ Exposure *exposure.Exposure }
	if bad := json.Unmarshal(out, &answer); bad != nil || answer.Exposure == nil {
		return e, errors.Join(err, bad, errors.New("no answer"))
	}
	return *answer.Exposure, nil
}

// open lists the doors that are not known to be shut; of the host's only, if only those are asked for.
func open(e exposure.Exposure, host bool) (names []string) {
	matters := map[string]bool{}
	for _, row := range e.Rows() {
		matters[row.Key] = row.Matters
	}
	for _, d := range exposure.AllDoors() {
		if e.Doors.At(d).Force != exposure.Shut && (!host || matters[d.Key()]) {
			names = append(names, d.String())
		}
	}
	return names
}

// summary prints a table in Markdown.
func summary(to io.Writer, found []seen) {
	fmt.Fprintf(to, "\n| as uid %d | doors open of %d | of these, the host's | capabilities | no_new_privs | system call filter | network | boundary |\n|---|---|---|---|---|---|---|---|\n",
		os.Getuid(), len(exposure.AllDoors()))
	for _, s := range found {
		e := s.exposure
		caps := "unknown"
		if e.Caps.Known {
			caps = fmt.Sprint(strings.Count(e.Caps.Held.String(), " ") + 1)
			if e.Caps.Held == 0 {
				caps = "none"
			}
		}
		fmt.Fprintf(to, "| %s | %d | %d | %s | %s | %s | %s | %s |\n", s.name, len(open(e, false)), len(open(e, true)), caps,
			yes(e.Doors.At(exposure.Privileges).Force == exposure.Shut), e.Seccomp, e.Network.Force, yes(e.Boundary()))
	}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// matrix prints every door of every sandbox.
func matrix(to io.Writer, found []seen) {
	w := tabwriter.NewWriter(to, 0, 0, 1, ' ', 0)
	fmt.Fprint(w, "\nopen ✗, shut ·, unknown ?")
	for i := range found {
		fmt.Fprintf(w, "\t%d", i+1)
	}
	fmt.Fprintln(w)
	for _, d := range exposure.AllDoors() {
		fmt.Fprint(w, d)
		for _, s := range found {
			mark := "?"
			switch s.exposure.Doors.At(d).Force {
			case exposure.Open:
				mark = "✗"
			case exposure.Shut:
				mark = "·"
			}
			fmt.Fprintf(w, "\t%s", mark)
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush()
}
