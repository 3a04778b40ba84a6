package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/config"
)

func (s *settings) edit() *cobra.Command {
	return &cobra.Command{
		Use:   "edit",
		Short: "Edit config.yaml in your editor",
		Long: "Opens a copy of config.yaml in $VISUAL or $EDITOR and checks it when the editor ends. Only what can be used takes the\n" +
			"place of the file; what was typed is kept in any case.",
		Example: "  hermes config edit\n  EDITOR='code --wait' hermes config edit",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o, err := s.open(true)
			if err != nil {
				return err
			}
			defer o.close()
			argv, err := words(editorOf(s.stdio.Env))
			if err != nil {
				return err
			}
			draft, err := o.Draft()
			if err != nil {
				return err
			}
			t := newTypist(s.stdio)
			defer t.close()
			return s.revise(c.Context(), o, draft, t, argv)
		},
	}
}

// editorOf returns the command line of the user's editor.
func editorOf(env func(string) string) string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if text := strings.TrimSpace(env(name)); text != "" {
			return text
		}
	}
	if env("SYSTEMROOT") != "" {
		return "notepad"
	}
	return "vi"
}

// revise lets a person edit the draft until it can be used or they give up.
func (s *settings) revise(ctx context.Context, o opened, draft *config.Draft, t *typist, argv []string) error {
	for {
		ended := t.run(ctx, s.stdio, append(argv, draft.Path()))
		changed, err := draft.Changed()
		switch {
		case err != nil:
			return err
		case !changed:
			if err := draft.Drop(); err != nil || ended != nil {
				return errors.Join(noEditor(ended, argv[0]), err)
			}
			fmt.Fprintf(s.stdio.Stdout, "%s is as it was\n", joined(o, config.File))
			return nil
		case ended != nil:
			return usage("What you typed is kept in "+draft.Path()+".", "%s", ended)
		}
		err = draft.Save(ctx)
		if err == nil {
			return s.saved(o)
		}
		var problems config.Problems
		if errors.As(err, &problems) {
			problem(s.stdio.Stderr, withName(problems, draft.Path()))
		} else {
			fmt.Fprintf(s.stdio.Stderr, "hermes: %s\n", visible(err.Error()))
		}
		if !errors.As(err, &problems) || !t.agrees("Edit again? [Y/n] ") {
			fmt.Fprintf(s.stdio.Stderr, "%s is unchanged. What you typed is kept in %s.\n", joined(o, config.File), draft.Path())
			return exitCode(exitFailed)
		}
	}
}

// noEditor says what to do where the editor could not be started.
func noEditor(err error, name string) error {
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return usage("Name an editor that is installed: EDITOR=nano hermes config edit", "start the editor %s: %s", name, err)
}

// saved says what was done, and what the environment makes of it.
func (s *settings) saved(o opened) error {
	fmt.Fprintf(s.stdio.Stdout, "%s is saved\n", joined(o, config.File))
	snap, err := o.Load()
	if err != nil {
		return s.explain(err)
	}
	for _, n := range snap.Notices {
		fmt.Fprintf(s.stdio.Stderr, "hermes: %s\n", visible(n.Error()))
	}
	return nil
}

// withName puts the draft's name where the file's would stand, since that is what is open in the editor.
func withName(problems config.Problems, file string) config.Problems {
	out := make(config.Problems, len(problems))
	for i, p := range problems {
		named := *p
		named.File = file
		out[i] = &named
	}
	return out
}

// words splits a command line at blanks, outside quotes. Nothing is expanded.
func words(line string) ([]string, error) {
	var out []string
	var word strings.Builder
	var quote rune
	open := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, open = r, true
		case r == ' ' || r == '\t':
			if open {
				out = append(out, word.String())
				word.Reset()
				open = false
			}
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("editor %q: a quote is not closed", line)
	}
	if open {
		out = append(out, word.String())
	}
	return out, nil
}
