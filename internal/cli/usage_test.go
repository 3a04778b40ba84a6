package cli

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// All help is of one shape: what it does, how it is called, an example, flags as they were written down with --help last; and it
// fits the terminal, where it is wide enough for the examples.
func TestHelp(t *testing.T) {
	var paths [][]string
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if path := strings.Fields(c.CommandPath())[1:]; !c.Hidden {
			paths = append(paths, path)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(&IO{}))
	if len(paths) < 40 {
		t.Fatalf("only %d commands are there", len(paths))
	}
	for _, path := range paths {
		for _, cols := range []int{0, 80} {
			var out bytes.Buffer
			if code := Main(context.Background(), append(slices.Clone(path), "--help"), IO{Stdout: &out, Stderr: &out, Width: cols}); code != 0 {
				t.Fatalf("%q: exit %d, %s", path, code, out.String())
			}
			text := out.String()
			at := -1
			for _, part := range []string{"\nUsage:\n  hermes", "\nExamples:\n  ", "\nFlags:\n"} {
				next := strings.Index(text, part)
				if next <= at {
					t.Errorf("hermes %s: %q is not where it belongs:\n%s", strings.Join(path, " "), part, text)
				}
				at = next
			}
			lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
			if last := lines[len(lines)-1]; !strings.HasPrefix(last, "  -h, --help ") {
				t.Errorf("hermes %s: the last flag is %q", strings.Join(path, " "), last)
			}
			_, examples, _ := strings.Cut(text, "\nExamples:\n")
			examples, _, _ = strings.Cut(examples, "\n\n")
			most := cols
			if most == 0 {
				most = helpCols
			}
			for _, l := range lines {
				if n := len([]rune(l)); n > most && !strings.Contains(examples, l) {
					t.Errorf("hermes %s: %d columns of %d: %q", strings.Join(path, " "), n, cols, l)
				}
			}
			if strings.Contains(text, "may be repeated") != strings.Contains(text, "(may be repeated)") {
				t.Errorf("hermes %s: what may be repeated is said in another way", strings.Join(path, " "))
			}
		}
	}
}

// hermes help COMMAND is hermes COMMAND --help.
func TestHelpOf(t *testing.T) {
	for _, args := range []string{"config set", "approvals", "chat", "completion zsh"} {
		path := strings.Fields(args)
		one, _, _ := run(t, "", append(slices.Clone(path), "--help")...)
		other, _, code := run(t, "", append([]string{"help"}, path...)...)
		if one != other || code != 0 || one == "" {
			t.Errorf("hermes help %s, exit %d:\n%s\nwant\n%s", args, code, other, one)
		}
	}
}
