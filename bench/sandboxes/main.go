// Command sandboxes puts the native sandbox beside others: what one start costs, what a command in a kept sandbox costs, a
// build inside, and how fast output comes out.
//
// Everything is timed turn by turn, so that a busy moment hits all of them, and told as a ratio to the same thing without any
// sandbox or to bwrap. Peers that are not installed are named and left out; it installs nothing (scripts/peers does). Failure
// direction: a command that fails ends the measurement, so that no figure stands for work that was not done.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"hermes/internal/sandbox/native/role"
	"hermes/internal/sandbox/runner"
)

func main() {
	if os.Args[0] == runner.Marker { // started again as the launcher, or as the process inside
		os.Exit(role.Main(os.Args, nil))
	}
	var o options
	flag.IntVar(&o.runs, "runs", 3, "how often everything is measured; the table has the median of these and their spread")
	flag.IntVar(&o.starts, "starts", 40, "starts of each kind in a run; commands in kept sandboxes are ten times as many")
	flag.IntVar(&o.builds, "builds", 5, "builds of each kind in a run")
	flag.IntVar(&o.mib, "mib", 256, "output of each kind in a run, in `MiB`")
	flag.StringVar(&o.runner, "runner", "", "the runner's small `program`; empty: this program")
	flag.StringVar(&o.hermes, "hermes", "", "the hermes `binary`; empty leaves out hermes exec as a process")
	flag.StringVar(&o.srt, "srt", "", "`folder` where @anthropic-ai/sandbox-runtime is installed with npm; empty leaves it out as a library")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	begin := time.Now()
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sandboxes:", err)
		os.Exit(1)
	}
	fmt.Printf("\n%d s in all\n", int(time.Since(begin).Seconds()))
}

type options struct {
	runs, starts, builds, mib int
	runner, hermes, srt       string
}

func run(ctx context.Context, o options) error {
	p, err := newPlace()
	if err != nil {
		return err
	}
	defer p.close()
	n, err := openNative(ctx, p, o.runner)
	if err != nil {
		return err
	}
	defer n.close()
	others, err := findPeers(p)
	if err != nil {
		return err
	}
	var library *srtLibrary
	if o.srt != "" {
		if library, err = startLibrary(ctx, p, o.srt); err != nil {
			return err
		}
		defer library.close()
	}
	tables := []*table{
		starts(ctx, o, p, n, others, library),
		kept(ctx, n),
		builds(ctx, p, n, others),
		output(ctx, o, p, n, others),
	}
	rounds := []int{o.starts, o.starts * 10, o.builds, 1}
	done := 0
	for ; done < o.runs; done++ {
		for i, t := range tables {
			if err := t.measure(rounds[i]); err != nil && (ctx.Err() == nil || done == 0) {
				return err
			}
		}
		if ctx.Err() != nil { // what was measured whole is told
			break
		}
	}
	fmt.Printf("%d runs; medians, and in brackets the least and the most of the runs\n", done)
	for _, t := range tables {
		t.print(os.Stdout, done)
	}
	return nil
}
