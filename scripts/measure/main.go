// Command measure prints how hermes compares with others on one machine, in one run, turn by turn.
//
// It builds nothing and installs nothing; scripts/bench does, and calls it. Failure direction: a run that fails ends the
// measurement, so that no figure stands for work that was not done.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	hermes := flag.String("hermes", "", "the hermes `binary`")
	empty := flag.String("empty", "", "an empty Go program's `binary`")
	peer := flag.String("peer", "", "`folder` with peer.mjs and cc-safety-net installed; empty leaves it out")
	corpus := flag.String("corpus", "internal/guard/command/testdata/corpus", "`folder` of the two corpora")
	starts := flag.Int("starts", 200, "process starts of each program")
	rounds := flag.Int("rounds", 5, "passes over the corpora")
	flag.Parse()
	if err := run(*hermes, *empty, *peer, *corpus, *starts, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

func run(hermes, empty, peer, corpus string, starts, rounds int) error {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	if err := processes(table, hermes, empty, peer, starts); err != nil {
		return err
	}
	if err := chats(table, hermes, min(starts, 50)); err != nil {
		return err
	}
	if err := corpora(table, hermes, peer, corpus, rounds); err != nil {
		return err
	}
	return table.Flush()
}

// program is one way to answer.
type program struct {
	name  string
	argv  []string
	dir   string
	stdin string
	times []time.Duration
}

// once runs the program and returns what it printed. Exit codes that are verdicts are no failure.
func (p *program) once(stdin []byte) ([]byte, error) {
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Dir = p.dir
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	begin := time.Now()
	out, err := cmd.Output()
	p.times = append(p.times, time.Since(begin))
	var ended *exec.ExitError
	if errors.As(err, &ended) && (ended.ExitCode() == 2 || ended.ExitCode() == 3) {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("run %s: %w: %s", p.name, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}

// quantile returns the time below which the fraction q of the runs stays.
func (p *program) quantile(q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(p.times))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// processes starts each program in turn, so that a busy moment hits all of them.
func processes(table *tabwriter.Writer, hermes, empty, peer string, starts int) error {
	hook := `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git status"},"cwd":"/"}`
	programs := []*program{
		{name: "an empty Go program", argv: []string{empty}},
		{name: "hermes check 'git status'", argv: []string{hermes, "check", "git status"}},
		{name: "hermes check 'F=-rf; rm $F /etc'", argv: []string{hermes, "check", "F=-rf; rm $F /etc"}},
	}
	if peer != "" {
		programs = append(programs, &program{
			name: "cc-safety-net hook (git status)", stdin: hook, dir: peer,
			argv: []string{"node", "node_modules/cc-safety-net/dist/bin/cc-safety-net.js", "hook", "--claude-code"},
		})
	}
	for range starts {
		for _, p := range programs {
			if _, err := p.once([]byte(p.stdin)); err != nil {
				return err
			}
		}
	}
	base := programs[0].quantile(0.5)
	fmt.Fprintf(table, "one process\tp50\tp90\tx empty\n")
	for _, p := range programs {
		fmt.Fprintf(table, "%s\t%s\t%s\t%.2f\n", p.name, ms(p.quantile(0.5)), ms(p.quantile(0.9)),
			float64(p.quantile(0.5))/float64(base))
	}
	fmt.Fprintln(table)
	return nil
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond)) }

// question is one line of a corpus, as it is asked; the other fields are facts and go through as they are.
type question map[string]json.RawMessage

// load reads all files of one corpus and returns the lines to ask.
func load(folder string) (asked []byte, n int, err error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err != nil || len(names) == 0 {
		return nil, 0, fmt.Errorf("load %s: no corpus (%v)", folder, err)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, 0, err
		}
		for line := range bytes.Lines(text) {
			var q question
			if err := json.Unmarshal(line, &q); err != nil {
				return nil, 0, fmt.Errorf("load %s: %w", name, err)
			}
			delete(q, "kind") // of the corpus, not of the question
			q["id"] = json.RawMessage(fmt.Sprint(n))
			if err := encoder.Encode(q); err != nil {
				return nil, 0, err
			}
			n++
		}
	}
	return out.Bytes(), n, nil
}

// tally counts verdicts by name.
func tally(answers []byte, want int) (map[string]int, error) {
	counts := map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(answers))
	lines.Buffer(nil, 1<<24)
	n := 0
	for ; lines.Scan(); n++ {
		var a struct{ Verdict, Tier, Error string }
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			return nil, err
		}
		if a.Error != "" {
			return nil, errors.New(a.Error)
		}
		counts[a.Verdict]++
		counts[a.Tier]++
	}
	if n != want {
		return nil, fmt.Errorf("%d answers to %d questions", n, want)
	}
	return counts, nil
}

// corpora asks each program all questions, round by round in turn, and counts what they answer.
func corpora(table *tabwriter.Writer, hermes, peer, folder string, rounds int) error {
	fmt.Fprintf(table, "corpus\tby\tasked\tallow\task\tdeny\tof these hardline\tper command\n")
	for _, name := range []string{"everyday", "harmful"} {
		asked, n, err := load(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		programs := []*program{{name: "hermes", argv: []string{hermes, "check", "--jsonl"}}}
		if peer != "" {
			programs = append(programs, &program{name: "cc-safety-net", argv: []string{"node", "peer.mjs"}, dir: peer})
		}
		answers := make([][]byte, len(programs))
		for range rounds {
			for i, p := range programs {
				if answers[i], err = p.once(asked); err != nil {
					return err
				}
			}
		}
		for i, p := range programs {
			c, err := tally(answers[i], n)
			if err != nil {
				return fmt.Errorf("%s on %s: %w", p.name, name, err)
			}
			perCommand := float64(p.quantile(0.5)) / float64(time.Microsecond) / float64(n)
			fmt.Fprintln(table, strings.Join([]string{
				name, p.name, fmt.Sprint(n), share(c["allow"], n), share(c["ask"], n), share(c["deny"], n),
				fmt.Sprint(c["hardline"]), fmt.Sprintf("%.1f µs", perCommand),
			}, "\t"))
		}
	}
	return nil
}

func share(k, n int) string { return fmt.Sprintf("%d (%.1f %%)", k, 100*float64(k)/float64(n)) }
