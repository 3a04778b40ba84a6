package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/child"
	"hermes/internal/guard/environ"
	"hermes/internal/guard/exposure"
	"hermes/internal/home"
	"hermes/internal/sandbox/docker"
	"hermes/internal/sandbox/native"
	"hermes/internal/sandbox/probe"
)

// newSandbox builds the commands about places where commands run.
func newSandbox(stdio *IO) *cobra.Command {
	c := &cobra.Command{
		Use:   "sandbox",
		Short: "Prove what a sandbox holds back, and look after those that are open",
		Long: "Proves what a sandbox holds back, door by door: what was asked, and what is in force as seen from inside.\n" +
			"Nothing is assumed.",
		Example: "  hermes sandbox verify --backend native\n" +
			"  hermes sandbox probe -- bwrap --unshare-all --ro-bind / /\n" +
			"  hermes sandbox list",
	}
	group(c)
	c.AddCommand(newSandboxVerify(stdio), newSandboxProbe(stdio), newSandboxList(stdio), newSandboxStop(stdio), newSandboxClean(stdio),
		newSandboxImage(stdio))
	return c
}

func newSandboxVerify(stdio *IO) *cobra.Command {
	var o verifyOptions
	c := &cobra.Command{
		Use:   "verify",
		Short: "Open a sandbox, try every door from inside, and print the table",
		Long: "Opens a sandbox with a work tree made for it, tries every door from inside, and prints what was asked and what is\n" +
			"in force. Exit code 0 only if they agree.",
		Example: "  hermes sandbox verify\n  hermes sandbox verify --backend native --json",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return sandboxVerify(c.Context(), stdio, o) },
	}
	f := c.Flags()
	f.StringVar(&o.backend, "backend", "", "try `BACKEND` instead of terminal.backend")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	return c
}

func newSandboxProbe(stdio *IO) *cobra.Command {
	var o probeOptions
	c := &cobra.Command{
		Use:   "probe [-- TOOL ARG...]",
		Short: "Try every door from here, or from inside another tool's sandbox",
		Long: "Tries every door from where it is started and prints what is open. With a tool, it opens things outside to reach\n" +
			"for, has the tool start it again inside, and prints what that one found. It reaches for nothing else than these, the\n" +
			"loopback, and addresses that no packet can leave for.",
		Example: "  hermes sandbox probe\n  hermes sandbox probe -- bwrap --unshare-all --ro-bind / / --dev /dev --proc /proc",
		RunE: func(c *cobra.Command, args []string) error {
			o.tool = args
			return sandboxProbe(c.Context(), stdio, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.targets, "targets", "", "what stands outside, as `JSON`")
	f.BoolVar(&o.json, "json", false, "print the exposure as one JSON object")
	return c
}

// probeOptions are the flags of sandbox probe.
type probeOptions struct {
	targets string
	json    bool
	tool    []string
}

func sandboxProbe(ctx context.Context, stdio *IO, o probeOptions) error {
	var t probe.Targets
	if o.targets != "" {
		if err := json.Unmarshal([]byte(o.targets), &t); err != nil {
			return fmt.Errorf("read --targets: %w", err)
		}
	}
	var e exposure.Exposure
	var err error
	if len(o.tool) > 0 {
		e, err = probeTool(ctx, stdio, o.tool)
	} else {
		e = probe.Try(ctx, t, time.Now())
		e.Backend = "here"
	}
	if err != nil {
		return err
	}
	if o.json {
		return json.NewEncoder(stdio.Stdout).Encode(e)
	}
	fmt.Fprintf(stdio.Stdout, "%s\n\n", cmp.Or(strings.Join(o.tool, " "), "here"))
	printRows(stdio, e, false)
	return nil
}

// probeTool starts this program inside another tool's sandbox.
func probeTool(ctx context.Context, stdio *IO, tool []string) (e exposure.Exposure, err error) {
	self, err := os.Executable()
	if err != nil {
		return e, err
	}
	dir, err := os.MkdirTemp("/var/tmp", "hermes-")
	if err != nil {
		return e, err
	}
	defer os.RemoveAll(dir)
	stage, err := probe.SetUp(dir)
	if err != nil {
		return e, err
	}
	defer stage.Close()
	stage.Targets.Home = stdio.Env("HOME")
	if stage.Targets.Tree, err = stdio.Dir(); err != nil {
		return e, err
	}
	text, err := json.Marshal(stage.Targets)
	if err != nil {
		return e, err
	}
	out, err := child.Output(ctx, child.Spec{
		Program: tool[0], Search: stdio.Env("PATH"), Dir: stage.Targets.Tree,
		Args: append(append([]string{}, tool[1:]...), self, "sandbox", "probe", "--json", "--targets", string(text)),
		Env:  harmless(stdio, environ.Engine, "PATH", "HOME", "USER", "LANG", "TERM", "XDG_RUNTIME_DIR"),
	}, 1<<20)
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(out, &e); err != nil {
		return e, fmt.Errorf("read what %s printed: %w", tool[0], err)
	}
	e.Backend = tool[0]
	return e, nil
}

// harmless is an environment of a few variables that hold no secret.
func harmless(stdio *IO, surface environ.Surface, names ...string) environ.List {
	base := map[string]string{}
	for _, name := range names {
		if value := stdio.Env(name); value != "" {
			base[name] = value
		}
	}
	list, _ := environ.New(environ.Config{}).Build(environ.Request{
		Surface: surface, Base: base, Extra: map[string]string{"HOME": stdio.Env("HOME")},
	})
	return list
}

// printRows prints the table. asked says whether the column of what was asked is of interest.
func printRows(stdio *IO, e exposure.Exposure, asked bool) {
	yes, no := "✓", "✗"
	if !unicodeLocale(stdio.Env) {
		yes, no = "ok", "NOT AS ASKED"
	}
	w := tabwriter.NewWriter(stdio.Stdout, 0, 8, 3, ' ', 0)
	if asked {
		fmt.Fprintf(w, "  door\tasked\tin force\n")
	} else {
		fmt.Fprintf(w, "  door\tseen\n")
	}
	var lists []string
	for _, row := range e.Rows() {
		note := ""
		if row.Note != "" {
			note = "  (" + visible(row.Note) + ")"
		}
		if names := strings.Fields(row.Force); len(row.Force) > cellWidth { // it would make every row as wide
			lists = append(lists, list("  "+row.Name+" in force:", names)...)
			row.Force = fmt.Sprintf("%d, see below", len(names))
		}
		if !asked {
			fmt.Fprintf(w, "  %s\t%s%s\n", row.Name, row.Force, note)
			continue
		}
		mark := yes
		if !row.OK {
			mark = no
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s%s\n", row.Name, row.Asked, row.Force, mark, note)
	}
	_ = w.Flush()
	for _, line := range lists {
		fmt.Fprintln(stdio.Stdout, line)
	}
	fmt.Fprintln(stdio.Stdout)
	if !asked {
		open := 0
		for _, d := range exposure.AllDoors() {
			if e.Doors.At(d).Force == exposure.Open {
				open++
			}
		}
		fmt.Fprintf(stdio.Stdout, "%d of %d doors open. %s\n", open, len(exposure.AllDoors()), boundary(e))
	}
}

// How wide a cell may be, and the lines of what is wider.
const cellWidth, lineWidth = 48, 100

// list writes names after a heading, on as many lines as they need.
func list(line string, names []string) (out []string) {
	for _, name := range names {
		if len(line)+1+len(name) > lineWidth {
			out, line = append(out, line), "   "
		}
		line += " " + name
	}
	return append(out, line)
}

// boundary says whether the host is contained.
func boundary(e exposure.Exposure) string {
	if e.Boundary() {
		return "This is a boundary."
	}
	_, rest, _ := strings.Cut(e.Summary(), "(")
	return "This is no boundary: " + strings.TrimPrefix(strings.TrimSuffix(rest, ")"), "no boundary: ") + "."
}

// sandboxDir is where open sandboxes are noted and what lasts of them is kept.
func sandboxDir(dir *home.Dir) string { return filepath.Join(dir.Path(), "sandboxes") }

// withSandboxes calls f with the directory of sandboxes, if there is a home.
func withSandboxes(stdio *IO, f func(dir string) error) error {
	o, err := (&settings{stdio: stdio}).open(false)
	if err != nil {
		return err
	}
	defer o.close()
	if o.dir == nil {
		return f("")
	}
	return f(sandboxDir(o.dir))
}

func newSandboxList(stdio *IO) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the native sandboxes that are open, and containers",
		Example: "  hermes sandbox list\n  hermes sandbox list --json",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return withSandboxes(stdio, func(dir string) error {
				all, err := native.List(dir)
				if err != nil {
					return err
				}
				containers, err := listContainers(c.Context(), stdio, dir)
				if err != nil {
					return err
				}
				if asJSON {
					enc := json.NewEncoder(stdio.Stdout)
					for _, r := range all {
						if err := enc.Encode(r); err != nil {
							return err
						}
					}
					for _, r := range containers {
						if err := enc.Encode(r); err != nil {
							return err
						}
					}
					return nil
				}
				if len(all)+len(containers) == 0 {
					fmt.Fprintln(stdio.Stdout, "No sandbox is open.")
					return nil
				}
				w := tabwriter.NewWriter(stdio.Stdout, 0, 8, 3, ' ', 0)
				fmt.Fprintln(w, "name\topened\towner\twork tree")
				for _, r := range all {
					owner := fmt.Sprint(r.Owner)
					if r.Stale {
						owner = "gone"
					}
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.ID, r.Opened.Local().Format(time.DateTime), owner, visible(r.Tree))
				}
				for _, r := range containers {
					state := r.Status
					if r.Busy {
						state += ", in use"
					}
					fmt.Fprintf(w, "%s\t%s\t%s\tcontainer of %s\n", r.Name, r.Created.Local().Format(time.DateTime), visible(state), visible(r.Image))
				}
				return w.Flush()
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return c
}

func newSandboxStop(stdio *IO) *cobra.Command {
	return &cobra.Command{
		Use:     "stop NAME...",
		Short:   "Kill a sandbox with everything in it",
		Example: "  hermes sandbox stop hermes-4711-5d1f0a9c2b3e",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("hermes sandbox list has the names.", "stop: which sandbox?")
			}
			return withSandboxes(stdio, func(dir string) error {
				var errs []error
				for _, name := range args {
					if err := stopSandbox(c.Context(), stdio, dir, name); err != nil {
						errs = append(errs, err)
						continue
					}
					fmt.Fprintf(stdio.Stdout, "Stopped %s.\n", visible(name))
				}
				return errors.Join(errs...)
			})
		},
	}
}

// stopSandbox ends a native sandbox, or a container, of a name.
func stopSandbox(ctx context.Context, stdio *IO, dir, name string) error {
	if !docker.IsName(name) {
		return native.Stop(dir, name)
	}
	return withContainers(stdio, dir, true, func(b *docker.Backend) error { return hinted(b.Stop(ctx, name)) })
}

func newSandboxClean(stdio *IO) *cobra.Command {
	return &cobra.Command{
		Use:     "clean",
		Short:   "Remove what sandboxes left behind whose owner is gone",
		Example: "  hermes sandbox clean",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return withSandboxes(stdio, func(dir string) error {
				removed, err := native.Clean(dir)
				err = errors.Join(err, withContainers(stdio, dir, false, func(b *docker.Backend) error {
					containers, err := b.Clean(c.Context())
					removed = append(removed, containers...)
					return hinted(err)
				}))
				for _, name := range removed {
					fmt.Fprintf(stdio.Stdout, "Removed %s.\n", visible(name))
				}
				if len(removed) == 0 && err == nil {
					fmt.Fprintln(stdio.Stdout, "Nothing to clean.")
				}
				return err
			})
		},
	}
}
