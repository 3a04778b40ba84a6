package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hermes/internal/app"
	"hermes/internal/approval"
	"hermes/internal/chat"
	"hermes/internal/child"
	"hermes/internal/screen"
	"hermes/internal/session"
	"hermes/internal/tui"
)

// chatOptions are chat's flags.
type chatOptions struct {
	query   string
	asked   bool // -q was given
	plain   bool
	json    bool
	yolo    bool
	resume  string
	again   bool // --resume was given
	model   string
	backend string
}

// last is what --resume stands for without a conversation.
const last = "\x01"

// newChat builds the command that opens a conversation.
func newChat(stdio *IO) *cobra.Command {
	var o chatOptions
	c := &cobra.Command{
		Use:   "chat",
		Short: "Talk with an agent that works on this machine, through the guard",
		Long: "Opens a conversation. What the agent does passes the guard: where it says ask, the question appears here, and Enter\n" +
			"denies. /help lists what can be typed; !COMMAND runs a command of yours; @FILE goes with a message.\n\n" +
			"With -q it answers one message and ends. Nobody is asked then: what would be asked about is refused, unless\n" +
			"approvals.single_query_mode says approve. Standard input goes along with the message; -q - is a message from there. Only\n" +
			"the answer is on standard output.\n\n" +
			"Without a terminal, or with --plain, it reads lines and prints lines.\n\n" +
			"Exit code of -q: 0 answered, 1 not, 130 after Ctrl-C.",
		Example: "  hermes chat\n" +
			"  hermes chat --resume\n" +
			"  git diff | hermes chat -q 'review this'\n" +
			"  hermes chat -q 'which ports are open?' --json | jq -r .answer",
		RunE: func(c *cobra.Command, args []string) error { return openChat(c, stdio, o, args) },
	}
	chatFlags(c.Flags(), &o)
	c.Flags().StringVarP(&o.query, "query", "q", "", "answer `TEXT` and end; - reads it from standard input")
	c.Flags().BoolVar(&o.json, "json", false, "with -q: print one JSON object: answer, calls, refusals, tokens")
	suggest(c, "backend", "local", "native", "docker", "ssh")
	return c
}

// chatFlags are the flags that hermes alone has, too.
func chatFlags(f *pflag.FlagSet, o *chatOptions) {
	f.StringVar(&o.resume, "resume", "", "go on with `SESSION`: an id, the beginning of one or a title; without one, the last")
	f.Lookup("resume").NoOptDefVal = last
	f.StringVar(&o.model, "model", "", "ask `MODEL` instead of the one that is set")
	f.StringVar(&o.backend, "backend", "", "run commands on `BACKEND` instead of terminal.backend")
	f.BoolVar(&o.plain, "plain", false, "lines instead of a full screen")
	f.BoolVar(&o.yolo, "yolo", false, "dangerous commands run without a question (as HERMES_YOLO_MODE=1, and /yolo)")
}

// openChat reads the arguments, and opens what they ask for.
func openChat(c *cobra.Command, stdio *IO, o chatOptions, args []string) error {
	o.asked, o.again = o.asked || c.Flags().Changed("query"), c.Flags().Changed("resume")
	if o.again && o.resume == last && len(args) == 1 { // "--resume ID", which flags with an optional value do not take
		o.resume, args = args[0], nil
	}
	switch {
	case len(args) > 0:
		return usage("Write hermes chat -q "+visible(quoted(args))+" for one answer, or hermes chat to talk.", "chat takes no argument, got %q", args[0])
	case o.json && !o.asked:
		return usage("Write hermes chat -q TEXT --json.", "--json goes with -q")
	}
	return withChats(c.Context(), stdio, o, func(t *table) error {
		if o.asked {
			return t.query(c.Context())
		}
		return t.talk(c.Context())
	})
}

func quoted(args []string) string { return "'" + strings.Join(args, " ") + "'" }

// table is where a person sits with the agent.
type table struct {
	stdio *IO
	o     chatOptions
	app   *app.App
	chats *app.Chats
	start chat.Start

	mu    sync.Mutex // guards what follows
	chat  *chat.Chat // nil before it is open
	notes []string   // from before
}

// withChats puts everything together for f.
func withChats(ctx context.Context, stdio *IO, o chatOptions, f func(*table) error) (err error) {
	t := &table{stdio: stdio, o: o}
	t.app, err = app.Open(app.Process{Env: stdio.Env, Environ: stdio.Environ, Version: stdio.Version, OwnYolo: true, Tell: t.tell})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.app.Close()) }()
	dir, err := stdio.Dir()
	if err != nil {
		return fmt.Errorf("working directory: %w", bare(err))
	}
	t.chats, err = t.app.Chats(ctx, app.Talks{
		Backend: o.backend, Model: o.model, Dir: dir, Platform: "cli", Presence: t.presence(), Note: t.tell,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.chats.Close()) }()
	if err := t.resumed(ctx); err != nil {
		return err
	}
	return f(t)
}

// presence says who can be asked: somebody at the terminal of a chat, and nobody else.
func (t *table) presence() approval.Presence {
	signals := approval.ReadSignals(t.stdio.Env)
	signals.Interactive = t.person()
	signals.SingleQuery = signals.SingleQuery || t.o.asked
	return signals.Presence()
}

// person tells whether somebody sits here and types.
func (t *table) person() bool { return !t.o.asked && isTerminal(t.stdio.Stdin) }

// yolo tells whether questions were lifted when the program was started.
func (t *table) yolo() bool { return t.o.yolo || approval.Truthy(t.stdio.Env("HERMES_YOLO_MODE")) }

// resumed finds the conversation to go on with.
func (t *table) resumed(ctx context.Context) error {
	if !t.o.again {
		return nil
	}
	var i session.Info
	var err error
	if text := strings.Trim(t.o.resume, last); text == "" {
		i, err = t.chats.Last(ctx)
	} else {
		i, err = t.chats.Sessions().Find(ctx, text)
	}
	var ambiguous *session.AmbiguousError
	switch {
	case errors.Is(err, session.ErrNone):
		return usage("See hermes sessions list.", "%s", err)
	case errors.As(err, &ambiguous):
		return usage("Write more of the id.", "%s", err)
	}
	t.start.ID = i.ID
	return err
}

// tell tells the person something beside the conversation: in the chat, once it is there.
func (t *table) tell(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.chat != nil:
		t.chat.Warn(text)
	case t.o.asked:
		fmt.Fprintln(t.stdio.Stderr, "hermes: "+visible(text))
	default:
		t.notes = append(t.notes, text)
	}
}

// talk opens a conversation that the person types into, until they leave.
func (t *table) talk(ctx context.Context) (err error) {
	if err := t.model(ctx); err != nil {
		return err
	}
	ctx, cancel := child.Ended(ctx)
	defer cancel()
	defer t.interrupts(cancel)()
	o := tui.Options{
		Open: func(hear func(chat.Event)) (tui.Talker, error) { return t.open(ctx, hear) },
		In:   t.stdio.Stdin, Out: t.stdio.direct, Env: t.stdio.Env, Look: tui.LookOf(t.stdio.Env), Person: t.person(), Width: t.stdio.Width,
	}
	show := tui.Run
	if term := t.stdio.Env("TERM"); t.o.plain || !t.stdio.Terminal || !isTerminal(t.stdio.Stdin) || term == "dumb" || term == "" {
		show = tui.Plain
	}
	err = show(ctx, o)
	for _, note := range t.notes { // where it never opened
		fmt.Fprintln(t.stdio.Stderr, "hermes: "+visible(note))
	}
	if t.chat != nil {
		err = errors.Join(err, t.chat.Close(context.WithoutCancel(ctx)))
	}
	return err
}

// model makes sure that there is a model to talk to: the one that is set, or that is found, or that a person chooses now.
func (t *table) model(ctx context.Context) error {
	_, note, err := t.app.Start(ctx, t.o.model)
	if at := newTerminal(t.stdio); errors.Is(err, app.ErrNoModel) && at != nil && t.person() {
		fmt.Fprintf(t.stdio.Stderr, "%s\nThree questions, and the chat begins. Ctrl-C leaves, and changes nothing.\n\n", screen.Wrap(sentence(err.Error()), newPage(t.stdio).cols, ""))
		if err := runSetup(ctx, t.stdio, t.app, at); err != nil {
			return err
		}
		_, note, err = t.app.Start(ctx, t.o.model)
	}
	if note != "" {
		t.tell(note)
	}
	return modelHint(err)
}

// open opens the chat. What was to be told before is told in it.
func (t *table) open(ctx context.Context, hear func(chat.Event)) (tui.Talker, error) {
	person := "terminal"
	if name := t.stdio.Env("USER"); name != "" {
		person = name + " at the terminal"
	}
	c, err := chat.New(ctx, chat.Options{
		Hear: hear, Open: t.chats.Open, Sessions: t.chats.Sessions(), Desk: t.app.Desk(), Profile: t.chats.Profile(), Start: t.start,
		Person: person, Yolo: t.yolo(), Confirms: t.confirms, Trust: t.app.StopConfirming, Approval: t.app.Approval, Config: t.config,
	})
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.chat = c
	for _, note := range t.notes {
		c.Warn(note)
	}
	t.notes = nil
	return c, nil
}

// confirms tells whether what destroys asks first.
func (t *table) confirms() bool {
	return !approval.Truthy(t.stdio.Env("HERMES_TUI_NO_CONFIRM")) && t.app.Confirms()
}

// config shows settings, as /config does.
func (t *table) config(key string) (string, error) {
	snap, err := (&settings{stdio: t.stdio}).load()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	list := answers(snap, key, key != "")
	for _, a := range list {
		if a.Note != "" {
			a.Source += ", " + a.Note
		}
		fmt.Fprintf(&b, "%s = %s  (%s)\n", a.Key, visible(fmt.Sprint(a.Value)), a.Source)
	}
	switch {
	case len(list) == 0 && key != "":
		return "", errors.New(visible(key) + " is not a setting")
	case len(list) == 0:
		return "Nothing was changed from its default. hermes config set KEY VALUE changes a setting.", nil
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// twice is how soon a second Ctrl-C leaves, whatever runs.
const twice = 2 * time.Second

// interrupts lets Ctrl-C end what runs, and leave where nothing does, or at once where it is pressed twice.
func (t *table) interrupts(leave func()) (stop func()) {
	heard := make(chan os.Signal, 4)
	signal.Notify(heard, os.Interrupt)
	done := make(chan struct{})
	go func() {
		var last time.Time
		for {
			select {
			case <-done:
				return
			case <-heard:
				t.mu.Lock()
				c := t.chat
				t.mu.Unlock()
				if c == nil || time.Since(last) < twice || !c.Interrupt() {
					leave()
				}
				last = time.Now()
			}
		}
	}()
	return func() {
		signal.Stop(heard)
		close(done)
	}
}
