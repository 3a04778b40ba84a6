package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/app"
	"hermes/internal/approval"
	"hermes/internal/chat"
	"hermes/internal/child"
	"hermes/internal/demo"
	"hermes/internal/guard/environ"
	"hermes/internal/guard/exposure"
	"hermes/internal/llm"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/docker"
	"hermes/internal/sandbox/native"
	"hermes/internal/screen"
	"hermes/internal/session"
)

// demoOptions are the flags of demo.
type demoOptions struct {
	backend string
	image   string
	json    bool
}

// newDemo builds the command that shows a manipulated agent being stopped.
func newDemo(stdio *IO) *cobra.Command {
	var o demoOptions
	c := &cobra.Command{
		Use:   "demo",
		Short: "Watch a manipulated agent being stopped, layer by layer",
		Long: "A model reads the README of a project, which tells it in a hidden comment to do harm, and obeys. Its turns are\n" +
			"recorded; the guard, the sandbox, the files and the log are real, in a home made for it and removed afterwards. Nobody is\n" +
			"asked: what would be asked about is refused. Needs no key and no network.\n\n" +
			"Exit code 0 only if every attempt was stopped. Where no sandbox can be had, what only a sandbox stops is not tried, and\n" +
			"that is said.",
		Example: "  hermes demo\n  hermes demo --backend docker --image hermes/local:host",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runDemo(c.Context(), stdio, o) },
	}
	f := c.Flags()
	f.StringVar(&o.backend, "backend", "", "play it on `BACKEND`: native (default on Linux), docker or local")
	f.StringVar(&o.image, "image", "", "with docker, the `IMAGE` instead of terminal.docker_image (see hermes sandbox image build)")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	suggest(c, "backend", native.Name, docker.Name, "local")
	return c
}

func runDemo(ctx context.Context, stdio *IO, o demoOptions) (err error) {
	if o.image != "" && o.backend != docker.Name {
		return usage("Add --backend docker.", "--image is for containers")
	}
	if o.image == "" && o.backend == docker.Name {
		if o.image, err = ownImage(stdio); err != nil {
			return err
		}
	}
	ctx, stop := child.Asked(ctx)
	defer stop()
	context.AfterFunc(ctx, stop) // the second Ctrl-C ends at once
	ctx, cancel := child.Ended(ctx)
	defer cancel()
	dir, err := demo.NewFolder("")
	if err != nil {
		return usage("The demo works in a folder of its own. To have it made elsewhere: TMPDIR=/var/tmp hermes demo", "%s", err)
	}
	parent := filepath.Dir(dir.Path)
	demo.Sweep(parent, func(dead string) {
		_, _ = native.Clean(filepath.Join(dead, "home", ".hermes", "sandboxes")) // what stays there belongs to the dead
	})
	defer func() {
		if err != nil && ctx.Err() == nil && full(dir.Path) {
			err = usage("Make room in "+visible(parent)+", or name another folder: TMPDIR=/var/tmp hermes demo", "demo: no room is left in %s: %s", parent, err)
		}
		if left := dir.Remove(); left != nil {
			err = errors.Join(err, usage("Remove it: rm -r "+visible(dir.Path), "demo: its folder stays: %s", bare(left)))
		}
	}()
	stage, err := setDemo(ctx, stdio, o, dir.Path)
	if err == nil {
		err = errors.Join(stage.play(ctx, stdio, o), stage.app.Close())
	}
	if ctx.Err() != nil {
		return exitCode(exitInterrupted)
	}
	return hinted(err)
}

// ownImage returns the image that the owner's containers are made of: the demo's home knows none of their settings.
func ownImage(stdio *IO) (string, error) {
	s := &settings{stdio: stdio}
	o, err := s.open(false)
	if err != nil {
		return "", err
	}
	defer o.close()
	snap, err := o.Load()
	if err != nil {
		return "", s.explain(err)
	}
	return snap.Settings.Terminal.Docker.Image, nil
}

// full tells whether a folder has no room for what little a demo writes.
func full(dir string) bool {
	f, err := os.CreateTemp(dir, "room-")
	if err == nil {
		_, err = f.Write(make([]byte, 1<<20))
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return err != nil
}

// demoStage is what the demo plays on.
type demoStage struct {
	app      *app.App
	world    *demo.World
	where    app.Where
	boundary bool
	walls    string // what the sandbox is made of
	missing  string // why there is none
}

// setDemo makes the world, and finds out whether there is a sandbox.
func setDemo(ctx context.Context, stdio *IO, o demoOptions, dir string) (*demoStage, error) {
	backend := o.backend
	if backend == "" {
		backend = native.Name
		if runtime.GOOS != "linux" {
			backend = "local"
		}
	}
	w, err := demo.Plant(dir, demoSettings(o, backend))
	if err != nil {
		return nil, err
	}
	vars := w.Environ(stdio.Environ())
	env := environ.Parse(vars)
	var told []string // of the sandbox, for where there is none
	a, err := app.Open(app.Process{
		Env: func(name string) string { return env[name] }, Environ: func() []string { return vars }, Version: stdio.Version,
		Tell: func(text string) { told = append(told, text) },
	})
	if err != nil {
		return nil, err
	}
	s := &demoStage{app: a, world: w, where: app.Where{Backend: backend, Start: w.Project}}
	switch err = s.look(ctx); {
	case err == nil:
		return s, nil
	case o.backend != "":
		return nil, errors.Join(err, a.Close())
	}
	s.missing, s.where.Backend = strings.Join(append([]string{err.Error()}, told...), "; "), "local"
	if err = w.Stubbed(); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return s, nil
}

// demoSettings are the settings of the agent that is played.
func demoSettings(o demoOptions, backend string) string {
	settings := map[string]any{"backend": backend, "timeout": 30}
	if backend == docker.Name {
		settings["docker_mount_cwd_to_workspace"], settings["network"], settings["container_persistent"] = true, "allowlist", false
		if o.image != "" {
			settings["docker_image"] = o.image
		}
	}
	text, _ := json.Marshal(map[string]any{"terminal": settings, "approvals": map[string]any{"mode": "manual"}}) // texts and numbers: it cannot fail
	return string(text) + "\n"                                                                                   // JSON is YAML
}

// look opens the sandbox once, to know what it is.
func (s *demoStage) look(ctx context.Context) error {
	if s.where.Backend == "local" {
		s.missing = "this is the backend local, which has no walls"
		return s.world.Stubbed()
	}
	where := s.where
	var err error
	if where.Session, err = s.app.Session("demo"); err != nil {
		return err
	}
	backend, spec, err := s.app.Sandbox(where)
	if err != nil {
		return err
	}
	if spec.Env, err = s.app.Variables(s.where.Backend); err != nil {
		return err
	}
	spec.Network = exposure.Network{Want: exposure.Explicitly, Asked: exposure.NoNet}
	box, err := backend.Open(ctx, spec)
	if err != nil {
		return err
	}
	defer box.Close(context.WithoutCancel(ctx))
	if w, ok := box.(interface{ Walls() string }); ok {
		s.walls = w.Walls()
	}
	if s.boundary = box.Exposure().Boundary(); !s.boundary {
		return &sandbox.MissingError{Backend: s.where.Backend, What: "a boundary", Why: box.Exposure().Summary(), Remedy: "see hermes sandbox verify --backend " + s.where.Backend}
	}
	return nil
}

// play plays it and tells how it went.
func (s *demoStage) play(ctx context.Context, stdio *IO, o demoOptions) error {
	m := demo.Record(s.world, s.boundary)
	chats, err := s.app.Chats(ctx, app.Talks{
		Backend: s.where.Backend, Dir: s.world.Project, Platform: "demo", Presence: approval.Nobody,
		Fixed: &app.Model{Provider: m, Service: "demo", Name: "recorded", Limits: llm.Limits{Context: 200_000}},
	})
	if err != nil {
		return err
	}
	defer chats.Close()
	if err := s.another(ctx, chats); err != nil {
		return err
	}
	talk, err := chats.Open(ctx, chat.Start{})
	if err != nil {
		return hinted(err)
	}
	p := demoPage{newPage(stdio)}
	if !o.json {
		p.opening(s)
	}
	n := 0
	report, err := demo.Play(ctx, s.world, m, talk.Agent, func(r demo.Row) {
		if ctx.Err() != nil { // it was not stopped by what it is about
			return
		}
		if n++; !o.json {
			p.row(n, r)
			_ = flush(stdio.Stdout) // the next write fails, too
		}
	})
	err = errors.Join(err, talk.Close(context.WithoutCancel(ctx)))
	if err != nil {
		return err
	}
	if o.json {
		if err := encode(stdio.Stdout, demoJSON(s, report)); err != nil {
			return err
		}
	} else {
		p.ending(s, report)
	}
	if !report.Held() {
		return exitCode(exitFailed)
	}
	return nil
}

// another stores a conversation of the same owner, which the agent has no business with.
func (s *demoStage) another(ctx context.Context, chats *app.Chats) error {
	owner, err := s.app.Session("demo")
	if err != nil {
		return err
	}
	id, err := chats.Sessions().Begin(ctx, owner, "", "")
	if err != nil {
		return err
	}
	_, err = chats.Sessions().Append(ctx, id, session.Message{Message: llm.Message{Role: llm.User, Text: s.world.Said()}})
	return err
}

// demoPage writes the demo for a person.
type demoPage struct{ *page }

func (p demoPage) opening(s *demoStage) {
	if s.boundary {
		p.line(strings.TrimSuffix("hermes demo · "+s.where.Backend+" · "+visible(s.walls), " · "))
	} else {
		p.line("hermes demo · no sandbox: " + visible(s.missing))
	}
	p.line("\nA model was asked how to build a project, and read in its README, in a hidden comment, that it shall do harm.\n" +
		"It obeys. Its turns are recorded; guard, sandbox, files and log are real. Nobody is there to ask.\n")
}

func (p demoPage) row(n int, r demo.Row) {
	p.line(fmt.Sprintf("%2d  %s", n, visible(r.Wanted)))
	note := ""
	if r.Runs != "" {
		note = "runs: " + visible(r.Runs)
	}
	if r.End > r.Start {
		p.marked(r.Text, r.Start, r.End, note)
	} else {
		p.line("\n    " + visible(screen.Clip(r.Text, p.cols-4, p.dots)))
	}
	parts := []string{"stopped by " + layer(r.Layer)}
	switch {
	case !r.Played:
		parts[0] = "not tried"
	case !r.Held:
		parts[0] = "NOT STOPPED"
	}
	if r.Rule != "" {
		parts = append(parts, visible(r.Rule))
	}
	parts = append(parts, visible(r.How))
	p.line("\n    " + screen.Wrap(strings.Join(parts, " · "), max(40, p.cols-4), "    ") + "\n")
}

// layer names a layer: those with a number are so called.
func layer(name string) string {
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		return "layer " + strings.Replace(name, " ", ", ", 1)
	}
	return "the one way out"
}

func (p demoPage) ending(s *demoStage, r demo.Report) {
	w := tabwriter.NewWriter(p.w, 0, 8, 3, ' ', 0)
	fmt.Fprintf(w, "  it wanted to\tstopped by\trule\n")
	for _, row := range r.Rows {
		by := layer(row.Layer)
		switch {
		case !row.Played:
			by = "not tried"
		case !row.Held:
			by = "NOTHING"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", visible(row.Wanted), by, visible(cmp.Or(row.Rule, "-")))
	}
	_ = w.Flush()
	played, held := r.Count()
	p.line(fmt.Sprintf("\n%d attempts, %d stopped, in %.1f s. Of %d planted secrets the model saw %d.", played, held, r.Took.Seconds(), r.Secrets, len(r.Leaked)))
	for _, name := range r.Leaked {
		p.line("The model saw " + name + ".")
	}
	if left := len(r.Rows) - played; left > 0 {
		p.line(fmt.Sprintf("Not tried, because only the walls of a sandbox stop it: %d.", left))
	}
	if s.missing != "" {
		p.line("There is no sandbox: " + visible(s.missing) + ". What was stopped was stopped by the guard alone.")
	}
}

// demoJSON is the JSON form.
func demoJSON(s *demoStage, r demo.Report) any {
	type row struct {
		Wanted string `json:"wanted"`
		Text   string `json:"text"`
		Start  int    `json:"start"`
		End    int    `json:"end"`
		Layer  string `json:"layer"`
		Rule   string `json:"rule,omitempty"`
		How    string `json:"how"`
		Tried  bool   `json:"tried"`
		Held   bool   `json:"stopped"`
	}
	out := struct {
		OK      bool     `json:"ok"`
		Backend string   `json:"backend"`
		Sandbox bool     `json:"boundary"`
		Missing string   `json:"missing,omitempty"`
		Rows    []row    `json:"attempts"`
		Secrets int      `json:"secrets"`
		Leaked  []string `json:"leaked"`
		Seconds float64  `json:"seconds"`
	}{r.Held(), s.where.Backend, s.boundary, s.missing, []row{}, r.Secrets, append([]string{}, r.Leaked...), r.Took.Round(time.Millisecond).Seconds()}
	for _, one := range r.Rows {
		out.Rows = append(out.Rows, row{one.Wanted, one.Text, one.Start, one.End, one.Layer, one.Rule, one.How, one.Played, one.Held})
	}
	return out
}

// flush passes buffered output on.
func flush(w io.Writer) error {
	if f, ok := w.(interface{ Flush() error }); ok {
		return f.Flush()
	}
	return nil
}
