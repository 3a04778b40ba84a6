package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"hermes/internal/approval"
	"hermes/internal/chat"
	"hermes/internal/guard/taint"
	"hermes/internal/launch"
	"hermes/internal/prompt"
	"hermes/internal/workspace"
)

// models lists the models there are, as PROVIDER:NAME.
func (t *talk) models(ctx context.Context) ([]string, error) {
	offers, err := t.a.Models(ctx)
	var out []string
	for _, o := range offers {
		for _, m := range o.Models {
			out = append(out, o.Service+":"+m.ID)
		}
		if o.Err != nil {
			err = errors.Join(err, o.Err)
		}
	}
	if len(out) > 0 {
		err = nil
	}
	return out, err
}

// change has another model asked from now on.
func (t *talk) change(ctx context.Context, name string) (string, int, error) {
	m, err := t.a.Model(name)
	if err != nil {
		return "", 0, err
	}
	m.Limits = t.a.Limits(ctx, m)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.agent.Set(m.Provider, m.Name, m.Limits, t.effort); err != nil {
		return "", 0, err
	}
	t.model = m
	return m.String(), m.Limits.Context, nil
}

// shell runs a command of the person's own on this machine, whatever the backend of the conversation. It is judged like any
// other: what nobody can want is refused, and what is asked about is asked.
func (t *talk) shell(ctx context.Context, text string, out io.Writer) (chat.Ran, error) {
	place, err := t.ownPlace()
	if err != nil {
		return chat.Ran{}, err
	}
	r, err := t.a.Door().Run(ctx, launch.Call{
		Session: t.info.Owner, Place: place, Text: text, Env: t.a.Environment(place),
		Presence: approval.Person, Platform: t.o.Platform, Prompter: t.ask, Own: true, Stdout: out, Stderr: out,
	})
	var ran chat.Ran
	switch {
	case err != nil:
		return ran, err
	case r.Decision.Outcome == approval.Denied: // what else there is to say is for a model
		ran.Refused = "You denied it."
	case r.Decision.Outcome == approval.TimedOut:
		ran.Refused = "No answer in time: it was not run."
	case r.Refused():
		ran.Refused = r.Decision.Message
	case r.Status.Interrupted:
		ran.Summary = "interrupted"
	case r.Status.Code != 0:
		ran.Summary = fmt.Sprintf("exit code %d", r.Status.Code)
	}
	for _, w := range r.Warnings {
		t.o.Note(w)
	}
	return ran, nil
}

// ownPlace is where the person's own commands run, one after the other, so that cd lasts.
func (t *talk) ownPlace() (*launch.Place, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.own == nil {
		place, err := t.a.Place(Where{Session: t.info.Owner, Backend: "local", Start: t.o.Dir, Lasts: true})
		if err != nil {
			return nil, err
		}
		t.own = place
		t.closes = append(t.closes, place.Close)
	}
	return t.own, nil
}

// context tells which files instruct the model, as markdown.
func (t *talk) context(ctx context.Context) (string, error) {
	s, err := t.prompt.System(ctx)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	shown := map[string]bool{}
	for _, f := range s.Files {
		shown[f.String()] = true
		fmt.Fprintf(&b, "- %s\n", f)
	}
	if len(s.Files) == 0 {
		b.WriteString("No file instructs the model here.\n")
	}
	for _, w := range s.Warnings {
		if !shown[w] {
			fmt.Fprintf(&b, "- ⚠ %s\n", w)
		}
	}
	return b.String(), nil
}

// Wrap makes a text that came with a message fit for a model: it belongs to the work, and may have been written by anybody.
func (c *Chats) Wrap(source, text string) string {
	return prompt.New(prompt.Options{}).Wrap(prompt.Block{Tool: "input", Source: source, Text: c.a.redacted(text), Origin: taint.Work})
}

// attach returns a file that goes with a message. It is read by the rules that hold for the agent: what it may not see is not
// handed to it by a slip either.
func (t *talk) attach(ctx context.Context, name string) (string, error) {
	f, err := t.set.Files.Read(ctx, workspace.Name{Path: name, Dir: t.a.dirOf(t.place, t.o.Dir)()})
	if err != nil {
		return "", err
	}
	return t.prompt.Wrap(prompt.Block{Tool: "read_file", Source: f.Path, Text: t.a.redacted(f.Text), Origin: taint.Work}), nil
}

// mostFiles is how many files a completion offers.
const mostFiles = 50

// files returns the paths that begin with a text, as they are written there.
func (t *talk) files(ctx context.Context, prefix string) []string {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	dir, base := path.Split(prefix)
	list, err := t.set.Files.List(ctx, workspace.Name{Path: path.Clean("./" + dir), Dir: t.a.dirOf(t.place, t.o.Dir)()})
	if path.IsAbs(prefix) || strings.HasPrefix(prefix, "~/") {
		list, err = t.set.Files.List(ctx, workspace.Name{Path: dir})
	}
	if err != nil {
		return nil
	}
	var out []string
	for _, i := range list {
		hidden := strings.HasPrefix(i.Name(), ".") && !strings.HasPrefix(base, ".")
		if hidden || !strings.HasPrefix(i.Name(), base) || len(out) == mostFiles {
			continue
		}
		name := dir + i.Name()
		if i.IsDir() {
			name += "/"
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// notices waits for something that the agent should be told of its processes.
func (t *talk) notices(ctx context.Context) (chat.Notice, error) {
	for {
		select {
		case <-ctx.Done():
			return chat.Notice{}, ctx.Err()
		case n := <-t.told:
			if n.Stale() {
				continue
			}
			text := n.Head
			if n.Output != "" {
				text += "\n" + t.prompt.Wrap(prompt.Block{Tool: "process", Source: n.Command, Text: n.Output, Origin: n.Origin})
			}
			return chat.Notice{Text: text, Shown: n.Head}, nil
		}
	}
}

// waited counts the commands that the agent waits for.
func (t *talk) waited() int { return len(t.set.Processes.Waited(t.info.Owner)) }

// detach lets these go on in the background, and counts them.
func (t *talk) detach() (n int) {
	for _, p := range t.set.Processes.Waited(t.info.Owner) {
		if p.Detach() {
			n++
		}
	}
	return n
}

// running counts what commands have left running.
func (t *talk) running() int {
	n := 0
	for _, p := range t.set.Processes.List(t.info.Owner) {
		if p.Info().Running() {
			n++
		}
	}
	return n
}

// stop ends what commands have left running.
func (t *talk) stop(ctx context.Context) (n int, err error) {
	for _, p := range t.set.Processes.List(t.info.Owner) {
		if !p.Info().Running() {
			continue
		}
		if e := p.Kill(ctx); e != nil {
			err = errors.Join(err, e)
			continue
		}
		n++
	}
	return n, err
}
