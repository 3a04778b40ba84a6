package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/app"
	"hermes/internal/config"
	"hermes/internal/llm"
	"hermes/internal/llm/detect"
	"hermes/internal/secret"
)

// newSetup builds the command that asks for what a first start needs.
func newSetup(stdio *IO) *cobra.Command {
	return &cobra.Command{
		Use:   "setup",
		Short: "Choose the model to talk to, in three questions",
		Long: "Asks which provider answers, for its key, and for the model. The key is not shown, and is kept in .env of the home, which\n" +
			"nobody else can read. What is found on this machine is proposed: keys that are set, and servers that answer.\n\n" +
			"Nothing is written before the provider was asked for its models, or you say that it is right all the same.",
		Example: "  hermes setup",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			at := newTerminal(stdio)
			if at == nil {
				return usage("The same without questions:\n"+
					"  hermes config set ANTHROPIC_API_KEY - < FILE         or another provider's, such as OPENAI_API_KEY\n"+
					"  hermes config set model anthropic:MODEL\n"+
					"For an address of your own:\n"+
					"  hermes config set providers.own.base_url http://127.0.0.1:8080/v1\n"+
					"  hermes config set model own:MODEL",
					"setup asks questions, and there is no terminal to ask them on")
			}
			return withApp(stdio, func(a *app.App, _ string) error { return runSetup(c.Context(), stdio, a, at) })
		},
	}
}

// errLeft says that the person went away from a question.
var errLeft = errors.New("nothing was changed")

// wizard asks for a model.
type wizard struct {
	*conversation
	a     *app.App
	write func(ctx context.Context, key string, values ...string) error
	home  string
}

// plan is what is to be written.
type plan struct {
	service string
	set     config.Provider
	own     bool // the settings get a provider
	key     secret.String
	keyName string
	model   string
}

// runSetup asks at a terminal and writes what was answered.
func runSetup(ctx context.Context, stdio *IO, a *app.App, at *atTerminal) error {
	o, err := (&settings{stdio: stdio}).open(true)
	if err != nil {
		return err
	}
	defer o.close()
	talk, done, err := at.converse(ctx)
	if err != nil {
		return err
	}
	defer done()
	w := &wizard{conversation: talk, a: a, home: o.path, write: func(ctx context.Context, key string, values ...string) error {
		_, err := o.Set(ctx, key, values...)
		return err
	}}
	p, err := w.ask(ctx)
	if errors.Is(err, errLeft) {
		w.say("")
		return usage("hermes setup begins anew.", "setup: %s", err)
	}
	if err != nil {
		return err
	}
	return w.keep(ctx, p)
}

func (w *wizard) ask(ctx context.Context) (plan, error) {
	w.say("Which provider shall answer?")
	w.say("")
	list := choices(w.a.Detect(ctx))
	for i, c := range list {
		w.say(fmt.Sprintf("  %2d  %-12s %s", i+1, c.Name, c.Reason))
	}
	w.say(fmt.Sprintf("  %2d  %-12s %s", len(list)+1, "another", "an address of your own, on this machine or elsewhere"))
	w.say("")
	n, err := w.number("Number", len(list)+1, 1)
	if err != nil {
		return plan{}, err
	}
	var p plan
	if n <= len(list) {
		c := list[n-1]
		p = plan{service: c.Name, keyName: c.KeyName, model: c.Model, set: config.Provider{Verify: true}}
	} else if p, err = w.another(); err != nil {
		return plan{}, err
	}
	for {
		if p.keyName != "" {
			if err := w.askKey(&p); err != nil {
				return plan{}, err
			}
		}
		models, err := w.a.Probe(ctx, p.service, p.set, p.key)
		if err == nil {
			p.model, err = w.askModel(p.model, models)
			return p, err
		}
		w.say("")
		w.say("It does not tell which models it has: " + err.Error())
		if next := llm.Next(err); next != "" {
			w.say(next)
		}
		label := "Try again (t), go on all the same (g), or leave (Enter): "
		if p.own {
			label = "Try again (t), give another address (a), go on all the same (g), or leave (Enter): "
		}
		word, err := w.line(label)
		switch {
		case err != nil:
			return plan{}, err
		case word == "a" && p.own:
			if p.set.BaseURL, err = w.address(); err != nil {
				return plan{}, err
			}
			p.keyName = keyOf(p.service)
			p.set.KeyEnv = p.keyName
		case word == "g":
			p.model, err = w.askModel(p.model, nil)
			return p, err
		case word == "t" && p.own:
			p.keyName = keyOf(p.service)
			p.set.KeyEnv = p.keyName
		case word != "t":
			return plan{}, errLeft
		}
		p.key = secret.String{}
	}
}

// choices are the providers to choose from: what was found first, then those that only want a key.
func choices(found []detect.Candidate) []detect.Candidate {
	have := map[string]bool{}
	for _, c := range found {
		have[c.Name] = true
	}
	for _, s := range detect.Services() {
		if !have[s.Name] && s.KeyName != "" {
			found = append(found, detect.Candidate{Name: s.Name, Format: s.Format, BaseURL: s.BaseURL, KeyName: s.KeyName, Model: s.Model, Reason: "needs " + s.KeyName})
		}
	}
	return found
}

// isServiceName tells whether a name can stand in a setting's, in front of a colon, and in a variable's.
func isServiceName(name string) bool {
	odd := strings.ContainsFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' })
	return !odd && name != "" && len(name) <= 32 && name[0] >= 'a' && name[0] <= 'z'
}

// another asks for a provider that is not known by name.
func (w *wizard) another() (plan, error) {
	p := plan{own: true, set: config.Provider{Verify: true}}
	var err error
	if p.set.BaseURL, err = w.address(); err != nil {
		return p, err
	}
	word, err := w.line("What it speaks: chat completions as OpenAI (Enter), or the messages API of Anthropic (a): ")
	if err != nil {
		return p, err
	}
	if word == "a" {
		p.set.API = string(detect.Anthropic)
	}
	for p.service == "" {
		name, err := w.line("A name for it [own]: ")
		if err != nil {
			return p, err
		}
		if name == "" {
			name = "own"
		}
		_, known := detect.Find(name)
		switch {
		case known:
			w.say(name + " is the name of a provider that is known already.")
		case !isServiceName(name):
			w.say("Small letters, digits, - and _, beginning with a letter.")
		default:
			p.service = name
		}
	}
	p.keyName = keyOf(p.service)
	p.set.KeyEnv = p.keyName
	return p, nil
}

// askKey asks for a key, unless one is set.
func (w *wizard) askKey(p *plan) error {
	have := w.a.Variable(p.keyName)
	label := "Its key, which is not shown (" + p.keyName + "): "
	switch {
	case !have.Empty():
		label = "Its key, which is not shown (Enter keeps the one in " + p.keyName + "): "
	case p.own:
		label = "Its key, which is not shown (Enter: it needs none): "
	}
	typed, err := w.hidden(label)
	if err != nil {
		return err
	}
	switch text := strings.TrimSpace(typed); {
	case text != "":
		p.key = secret.New(text)
	case !have.Empty():
		p.key = have
	case p.own:
		p.keyName, p.set.KeyEnv = "", ""
	default:
		return errLeft
	}
	return nil
}

// shownModels is how many models are listed at once.
const shownModels = 20

// askModel asks for one of the models. A number counts in what was listed last, a word that is no model narrows the list.
func (w *wizard) askModel(first string, models []llm.Model) (string, error) {
	if len(models) == 1 && first == "" {
		first = models[0].ID
	}
	has := func(id string) bool {
		for _, m := range models {
			if m.ID == id {
				return true
			}
		}
		return false
	}
	if first != "" && len(models) > 0 && !has(first) {
		first = models[0].ID
	}
	part := ""
	for {
		shown := w.listModels(models, part)
		label := "Model"
		if first != "" {
			label += " [" + first + "]"
		}
		word, err := w.line(label + ": ")
		n, notNumber := strconv.Atoi(word)
		switch {
		case err != nil:
			return "", err
		case word == "" && first != "":
			return first, nil
		case word == "":
			w.say("Type the model's name as the provider calls it.")
		case notNumber == nil && n >= 1 && n <= len(shown):
			return shown[n-1], nil
		case has(word) || len(models) == 0:
			return word, nil
		default:
			part = strings.ToLower(word)
		}
	}
}

// listModels shows the models that a part of their name fits, and returns those that have a number.
func (w *wizard) listModels(models []llm.Model, part string) (shown []string) {
	more := 0
	for _, m := range models {
		switch {
		case !strings.Contains(strings.ToLower(m.ID), part):
		case len(shown) == shownModels:
			more++
		default:
			shown = append(shown, m.ID)
		}
	}
	if len(models) == 0 {
		return nil
	}
	w.say("")
	for i, id := range shown {
		w.say(fmt.Sprintf("  %2d  %s", i+1, id))
	}
	switch {
	case len(shown) == 0:
		w.say("  No model has that in its name.")
	case more > 0:
		w.say(fmt.Sprintf("      and %d more: type a part of a name to find it", more))
	}
	w.say("")
	return shown
}

// keep writes the plan.
func (w *wizard) keep(ctx context.Context, p plan) error {
	type pair struct{ key, value string }
	var all []pair
	if p.keyName != "" && !p.key.Empty() && p.key.Reveal() != w.a.Variable(p.keyName).Reveal() {
		all = append(all, pair{p.keyName, p.key.Reveal()})
	}
	if p.own {
		all = append(all, pair{"providers." + p.service + ".base_url", p.set.BaseURL})
		if p.set.API != "" {
			all = append(all, pair{"providers." + p.service + ".api_mode", p.set.API})
		}
		if p.set.KeyEnv != "" {
			all = append(all, pair{"providers." + p.service + ".key_env", p.set.KeyEnv})
		}
	}
	all = append(all, pair{"model", p.service + ":" + p.model})
	for _, one := range all {
		if err := w.write(ctx, one.key, one.value); err != nil {
			return fmt.Errorf("setup: write %s: %w", one.key, err)
		}
	}
	w.say("")
	if p.keyName != "" && all[0].key == p.keyName {
		w.say("The key is in " + w.home + "/" + config.EnvFile + ", which only you can read.")
	}
	w.say("The model is " + p.service + ":" + p.model + ", in " + w.home + "/" + config.File + ".")
	return nil
}
