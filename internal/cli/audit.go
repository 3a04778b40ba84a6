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
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/audit"
	"hermes/internal/screen"
)

// newAudit builds the commands that read the audit log.
func newAudit(stdio *IO) *cobra.Command {
	c := &cobra.Command{
		Use:   "audit",
		Short: "Read and check the log of decisions",
		Example: "  hermes audit tail -n 20\n" +
			"  hermes audit verify",
	}
	group(c)
	c.AddCommand(newAuditTail(stdio), newAuditVerify(stdio))
	return c
}

// tailOptions are the flags of audit tail.
type tailOptions struct {
	last    int
	follow  bool
	json    bool
	session string
}

func newAuditTail(stdio *IO) *cobra.Command {
	var o tailOptions
	c := &cobra.Command{
		Use:   "tail",
		Short: "Print the last decisions and results",
		Long:  "Prints what was decided on commands and what came of them, oldest first.",
		Example: "  hermes audit tail -n 50\n" +
			"  hermes audit tail -f --session cli-7f3a\n" +
			"  hermes audit tail -n -1 --json",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return auditTail(c.Context(), stdio, o) },
	}
	f := c.Flags()
	f.IntVarP(&o.last, "lines", "n", 10, "print the last `N` records; -1 prints all")
	f.BoolVarP(&o.follow, "follow", "f", false, "go on with what is written from now on")
	f.StringVar(&o.session, "session", "", "only what is of the session `ID`")
	f.BoolVar(&o.json, "json", false, "print one JSON object a line, as stored")
	return c
}

func newAuditVerify(stdio *IO) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "verify",
		Short: "Check that the log is whole",
		Long: "Checks each record against the one before, and the end against the seal. A record that was changed, dropped,\n" +
			"inserted, moved or cut off is named with its file and line.\n\n" +
			"Exit code: 0 if the log is whole, else 1. Whoever may write the folder could write all of it anew: what has to\n" +
			"hold against that needs a copy elsewhere.",
		Example: "  hermes audit verify\n  hermes audit verify --json",
		Args:    noArgs,
		RunE:    func(*cobra.Command, []string) error { return auditVerify(stdio, asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// auditRoot opens the folder of the log of the home that the environment names.
func auditRoot(stdio *IO) (*os.Root, error) {
	o, err := (&settings{stdio: stdio}).open(false)
	if err != nil {
		return nil, err
	}
	defer o.close()
	dir := filepath.Join(o.path, "audit")
	root, err := os.OpenRoot(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, usage("It begins with the first command that is decided on.", "open audit log: there is none in %s", dir)
	} else if err != nil {
		return nil, fmt.Errorf("open audit log: %s: %w", dir, bare(err))
	}
	return root, nil
}

func auditTail(ctx context.Context, stdio *IO, o tailOptions) error {
	root, err := auditRoot(stdio)
	if err != nil {
		return err
	}
	defer root.Close()
	if o.last < 0 {
		o.last = -1
	}
	q := audit.Query{Last: o.last, Follow: o.follow, Keep: func(r audit.Record) bool {
		return (o.json || r.Start == nil) && (o.session == "" || r.Session == o.session)
	}}
	print := newAuditPrinter(stdio, o.json)
	bad := 0
	for r, err := range audit.Tail(ctx, root, q) {
		if err != nil {
			bad++
			fmt.Fprintf(stdio.Stderr, "hermes: %s\n", visible(err.Error()))
			continue
		}
		if err := print(r); err != nil {
			return fmt.Errorf("write standard output: %w", bare(err))
		}
	}
	if bad > 0 {
		return usage("See hermes audit verify.", "read audit log: %d unreadable", bad)
	}
	return nil
}

// newAuditPrinter returns a function that prints a record and lets it be seen at once.
func newAuditPrinter(stdio *IO, asJSON bool) func(audit.Record) error {
	lines := json.NewEncoder(stdio.Stdout)
	lines.SetEscapeHTML(false)
	cols := newPage(stdio)
	return func(r audit.Record) error {
		if asJSON {
			if err := lines.Encode(r); err != nil {
				return err
			}
		} else {
			line := recordLine(r)
			if stdio.Terminal {
				line = screen.Clip(line, cols.cols, cols.dots)
			}
			if _, err := io.WriteString(stdio.Stdout, line+"\n"); err != nil {
				return err
			}
		}
		return flush(stdio.Stdout)
	}
}

// recordLine tells a record in one line: when, which, what, and the details.
func recordLine(r audit.Record) string {
	what, details := "", []string{}
	switch {
	case r.Decision != nil:
		d := r.Decision
		what = fmt.Sprintf("%-6s %s", visible(d.Verdict), visible(d.Text))
		by := strings.TrimSpace(d.How + " by " + d.By)
		if d.By == "" {
			by = d.How
		}
		harms := ""
		if len(d.Harms) > 0 {
			harms = "harms " + strings.Join(d.Harms, ", ")
		}
		details = []string{d.Rule, harms, by, d.Backend}
	case r.Result != nil:
		what = fmt.Sprintf("%-6s", "exit "+strconv.Itoa(r.Result.Exit))
		details = []string{shortDuration(r.Result.Duration), shortSize(r.Result.Bytes), r.Result.Backend, r.Result.Error, skipped(r.Result.Skipped)}
	case r.Reach != nil:
		c := r.Reach
		what = fmt.Sprintf("%-6s %s %s", visible(c.Verdict), visible(c.Method), visible(c.Target))
		sizes := ""
		if c.Up+c.Down > 0 {
			sizes = shortSize(c.Up) + " up, " + shortSize(c.Down) + " down"
		}
		details = []string{c.Rule, c.Addr, sizes, c.Client, c.Error, skipped(c.Skipped)}
	case r.Mark != nil:
		what = fmt.Sprintf("%-6s %s", "damage", visible(r.Mark.String()))
	case r.Start != nil:
		what = fmt.Sprintf("%-6s %s", "file", visible(r.Start.File))
	}
	line := r.Time.Local().Format("2006-01-02 15:04:05") + "  " + fmt.Sprintf("%-8s ", visible(cmp.Or(r.ID, "-"))) + what
	for _, detail := range details {
		if detail != "" {
			line += " · " + visible(detail)
		}
	}
	return line
}

// shortDuration rounds to what a reader takes in.
func shortDuration(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	}
	return d.Round(time.Second).String()
}

// shortSize tells a number of bytes in the unit that fits.
func shortSize(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	size, unit := float64(n)/1024, 0
	for ; size >= 1024 && unit < 3; unit++ {
		size /= 1024
	}
	return strconv.FormatFloat(size, 'f', 1, 64) + " " + [...]string{"KiB", "MiB", "GiB", "TiB"}[unit]
}

func auditVerify(stdio *IO, asJSON bool) error {
	root, err := auditRoot(stdio)
	if err != nil {
		return err
	}
	defer root.Close()
	r, err := audit.Verify(root)
	if err != nil {
		return err
	}
	if asJSON {
		err = json.NewEncoder(stdio.Stdout).Encode(struct {
			Whole    bool            `json:"whole"`
			Records  uint64          `json:"records"`
			Files    int             `json:"files"`
			Problems []audit.Problem `json:"problems"`
			Notes    []audit.Problem `json:"notes"`
		}{len(r.Problems) == 0, r.Records, r.Files, append([]audit.Problem{}, r.Problems...), append([]audit.Problem{}, r.Notes...)})
	} else {
		verifyPage(stdio, r)
	}
	if err == nil && len(r.Problems) > 0 {
		return exitCode(exitFailed)
	}
	return err
}

// verifyPage says whether the log is whole, and what is wrong where.
func verifyPage(stdio *IO, r audit.Report) {
	p := newPage(stdio)
	what := count(int(r.Records), "record") + " in " + count(r.Files, "file")
	if len(r.Problems) == 0 {
		p.line(what + ", whole")
	} else {
		p.line(what + ", " + count(len(r.Problems), "problem"))
		p.line("")
		for _, one := range r.Problems {
			p.line("  " + visible(one.String()))
		}
	}
	if len(r.Notes) > 0 {
		p.line("\nLeft by a crash, nothing promised was lost:")
		for _, one := range r.Notes {
			p.line("  " + visible(one.String()))
		}
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// skipped tells of refusals that were too many to be written.
func skipped(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d more refusals and look-ups before it", n)
}
