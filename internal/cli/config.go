package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/config"
	"hermes/internal/guard/checked"
	"hermes/internal/home"
	"hermes/internal/secret"
)

// newConfig builds the command that reads and changes settings.
func newConfig(stdio *IO) *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Read and change settings",
		Long: "Reads and changes the settings in ~/.hermes: config.yaml, and .env for keys, tokens and what else has a name in\n" +
			"capitals. Comments and order stay. A variable of the environment overrides both.",
		Example: "  hermes config set terminal.backend docker\n" +
			"  hermes config get terminal.backend\n" +
			"  hermes config unset terminal.backend\n" +
			"  hermes config set approvals.deny 'git push --force*' '*curl*|*sh*'\n" +
			"  hermes config set OPENAI_API_KEY - < key.txt\n" +
			"  hermes config edit",
	}
	group(c)
	s := &settings{stdio: stdio}
	c.PersistentFlags().StringVar(&s.profile, "profile", "", "settings of the profile `NAME`")
	c.AddCommand(s.get(), s.set(), s.unset(), s.edit(), s.path(), s.list(), s.keys())
	return c
}

// settings is what the sub-commands of config share.
type settings struct {
	stdio   *IO
	profile string
}

// opened is a home with its settings. dir is nil if the home does not exist.
type opened struct {
	*config.Store
	dir  *home.Dir
	path string
}

func (o opened) close() {
	if o.dir != nil {
		_ = o.dir.Close()
	}
}

// open opens the home that the environment and --profile name, and makes it if make is set.
func (s *settings) open(make bool) (opened, error) {
	path, profile, err := config.Locate(s.stdio.Env)
	if err == nil && s.profile != "" {
		profile, err = checked.ParseProfileName(s.profile)
	}
	if err != nil {
		if strings.Contains(err.Error(), "HERMES_HOME") {
			err = usage("Set HERMES_HOME to an absolute path.", "%s", err)
		}
		return opened{}, err
	}
	var dir *home.Dir
	if make {
		dir, err = home.Create(path)
	} else {
		dir, err = home.Open(path)
	}
	if err == nil && !profile.IsZero() {
		whole := dir
		dir, err = whole.Profile(profile, make)
		_ = whole.Close()
		path = whole.Join("profiles/" + profile.String())
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && !make:
		dir = nil
	case errors.Is(err, home.ErrUnsafe):
		return opened{}, usage("Only its owner may be able to write there. Run hermes as that user, or set HERMES_HOME.", "%s", err)
	case err != nil:
		return opened{}, err
	}
	return opened{Store: config.New(dir, s.stdio.Env), dir: dir, path: path}, nil
}

// load reads the settings for showing them.
func (s *settings) load() (*config.Snapshot, error) {
	o, err := s.open(false)
	if err != nil {
		return nil, err
	}
	defer o.close()
	snap, err := o.Load()
	if err != nil {
		return nil, s.explain(err)
	}
	for _, n := range snap.Notices {
		fmt.Fprintf(s.stdio.Stderr, "hermes: %s\n", visible(n.Error()))
	}
	return snap, nil
}

// explain prints what is wrong with the settings, each with what to do, and returns the error that ends the command.
func (s *settings) explain(err error) error {
	var problems config.Problems
	var unknown *config.UnknownError
	switch {
	case errors.As(err, &problems):
		problem(s.stdio.Stderr, problems)
		return exitCode(exitFailed)
	case errors.As(err, &unknown):
		return notSetting(unknown)
	case errors.Is(err, config.ErrShape):
		return usage("Change it with hermes config edit.", "%s", err)
	}
	return err
}

func problem(w io.Writer, problems config.Problems) {
	for _, p := range problems {
		fmt.Fprintf(w, "hermes: %s\n", visible(p.Error()))
		if p.Hint != "" {
			fmt.Fprintln(w, visible(p.Hint))
		}
	}
}

func notSetting(e *config.UnknownError) error {
	switch {
	case len(e.Below) > 0:
		return usage("See hermes config keys "+e.Name+".", "%s", e)
	case e.Near != "":
		return fmt.Errorf("%w. Did you mean %s?", e, e.Near)
	}
	return usage("hermes config keys lists the settings.", "%s", e)
}

// shown returns a value without its secrets.
func shown(v config.Value) any {
	switch x := v.Value.(type) {
	case map[string]string:
		out := make(map[string]string, len(x))
		for name, text := range x {
			if (v.Key.Secret || config.SecretName(name)) && text != "" {
				text = secret.Mask
			}
			out[name] = text
		}
		return out
	default:
		if v.Key.Secret && x != nil {
			return secret.Mask
		}
		return x
	}
}

// answer is a setting as JSON.
type settingAnswer struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Source string `json:"source"`
	Note   string `json:"note,omitempty"`
}

// notYet is said of settings that nothing reads.
const notYet = "not in effect yet"

// noteOf says what a reader of a setting should know besides its value.
func noteOf(k config.Key) string {
	if k.InEffect {
		return ""
	}
	return notYet
}

func (s *settings) get() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "get KEY",
		Short: "Print the value in force",
		Long: "Prints the value in force: that of the environment, else of the file, else the default. Lists and maps are printed as\n" +
			"JSON, secrets as [redacted].",
		Example:           "  hermes config get terminal.backend\n  hermes config get --json approvals.deny",
		Args:              oneKey,
		ValidArgsFunction: completeKeys,
		RunE: func(_ *cobra.Command, args []string) error {
			snap, err := s.load()
			if err != nil {
				return err
			}
			a, err := lookup(snap, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return encode(s.stdio.Stdout, a)
			}
			text := config.Show(a.Value)
			if s.stdio.Terminal {
				text = visible(text)
			}
			_, err = fmt.Fprintln(s.stdio.Stdout, text)
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, with where the value comes from")
	return c
}

// lookup finds a setting or a variable.
func lookup(snap *config.Snapshot, name string) (settingAnswer, error) {
	if v, ok := snap.Lookup(name); ok {
		return settingAnswer{name, shown(v), v.Source.String(), noteOf(v.Key)}, nil
	}
	k, known := config.Find(name)
	if known && k.Retired != "" {
		return settingAnswer{}, fmt.Errorf("%s is gone: %s", name, k.Retired)
	}
	value, source, ok := snap.Variable(name)
	if _, is := config.FindVariable(name); ok {
		a := settingAnswer{Key: name, Value: secret.Mask, Source: source.String()}
		if is && !config.Hidden(name) {
			a.Value = value.Reveal()
		}
		return a, nil
	} else if is || known {
		return settingAnswer{}, fmt.Errorf("%s is not set", name)
	}
	return settingAnswer{}, notSetting(config.Unknown(name))
}

func (s *settings) set() *cobra.Command {
	c := &cobra.Command{
		Use:   "set KEY VALUE...",
		Short: "Give a setting its value",
		Long: "Writes a setting to config.yaml, or a name in capitals to .env. The value is read as the setting asks: true or false, a\n" +
			"number, one of its choices, a JSON list or the items one by one, a JSON object or NAME=VALUE pairs. A single - takes\n" +
			"the value from standard input, which keeps it out of the shell's history.",
		Example: "  hermes config set terminal.docker_network false\n" +
			"  hermes config set terminal.docker_volumes '[\"/srv/data:/data:ro\"]'\n" +
			"  hermes config set ANTHROPIC_API_KEY - < key.txt",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usage("Like: hermes config set terminal.backend docker", "%s takes a key and a value", name(c))
			}
			return nil
		},
		ValidArgsFunction: completeKeys,
		RunE: func(c *cobra.Command, args []string) error {
			key, values := args[0], args[1:]
			if len(values) == 1 && values[0] == "-" {
				text, err := readAll(s.stdio.Stdin, "standard input")
				if err != nil {
					return err
				}
				values = []string{strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")}
			}
			o, err := s.open(true)
			if err != nil {
				return err
			}
			defer o.close()
			file, err := o.Set(c.Context(), key, values...)
			if err != nil {
				return s.explain(err)
			}
			return s.told(o, key, file)
		},
	}
	c.Flags().SetInterspersed(false) // a value may begin with a dash
	return c
}

// told says what was written, and what holds if that is something else.
func (s *settings) told(o opened, key, file string) error {
	snap, err := o.Load()
	if err != nil {
		fmt.Fprintf(s.stdio.Stdout, "%s is written to %s\n", key, o.dir.Join(file))
		return s.explain(err)
	}
	a, err := lookup(snap, key)
	if err != nil {
		return err
	}
	if a.Note != "" {
		defer fmt.Fprintf(s.stdio.Stderr, "hermes: %s is %s: what it is for is still to come\n", key, a.Note)
	}
	if v, ok := snap.Lookup(key); ok && v.Source.Kind > config.FromFile && file == config.File || file == config.EnvFile && strings.HasSuffix(a.Source, "environment") {
		fmt.Fprintf(s.stdio.Stdout, "%s is written to %s\n", key, o.dir.Join(file))
		fmt.Fprintf(s.stdio.Stderr, "hermes: what holds is %s, from %s\n", visible(config.Show(a.Value)), a.Source)
		return nil
	}
	fmt.Fprintf(s.stdio.Stdout, "%s = %s in %s\n", key, visible(config.Show(a.Value)), o.dir.Join(file))
	return nil
}

func (s *settings) unset() *cobra.Command {
	return &cobra.Command{
		Use:               "unset KEY",
		Short:             "Remove a setting, so that its default holds",
		Example:           "  hermes config unset terminal.backend",
		Args:              oneKey,
		ValidArgsFunction: completeKeys,
		RunE: func(c *cobra.Command, args []string) error {
			o, err := s.open(false)
			if err != nil {
				return err
			}
			defer o.close()
			if o.dir == nil {
				fmt.Fprintf(s.stdio.Stdout, "%s was not set\n", args[0])
				return nil
			}
			file, was, err := o.Unset(c.Context(), args[0])
			switch {
			case err != nil:
				return s.explain(err)
			case !was:
				fmt.Fprintf(s.stdio.Stdout, "%s was not set in %s\n", args[0], o.dir.Join(file))
				return nil
			}
			if snap, err := o.Load(); err == nil {
				if v, ok := snap.Lookup(args[0]); ok {
					fmt.Fprintf(s.stdio.Stdout, "%s is removed from %s; what holds is %s (%s)\n", args[0], o.dir.Join(file),
						visible(config.Show(shown(v))), v.Source)
					return nil
				}
			}
			fmt.Fprintf(s.stdio.Stdout, "%s is removed from %s\n", args[0], o.dir.Join(file))
			return nil
		},
	}
}

func (s *settings) path() *cobra.Command {
	var env bool
	c := &cobra.Command{
		Use:     "path",
		Short:   "Print where config.yaml is",
		Example: "  hermes config path\n  hermes config path --env",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			o, err := s.open(false)
			if err != nil {
				return err
			}
			defer o.close()
			file := config.File
			if env {
				file = config.EnvFile
			}
			_, err = fmt.Fprintln(s.stdio.Stdout, joined(o, file))
			return err
		},
	}
	c.Flags().BoolVar(&env, "env", false, "print where .env is")
	return c
}

func oneKey(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usage("Like: "+c.CommandPath()+" terminal.backend", "%s takes one key, got %d", name(c), len(args))
	}
	return nil
}

// completeKeys offers the settings to the user's shell.
func completeKeys(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var out []string
	if len(args) == 0 {
		for _, k := range config.Keys() {
			if k.Retired == "" && !strings.Contains(k.Name, "<") {
				out = append(out, k.Name+"\t"+k.Doc)
			}
		}
	} else if k, ok := config.Find(args[0]); ok {
		out = k.Values
		if k.Kind == config.Bool {
			out = []string{"true", "false"}
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
