package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// table is a group of things that are timed in turn.
type table struct {
	title string
	base  string // the row that the others are told against
	size  int    // MiB a turn moves; 0: times are told, not speeds
	rows  []*row
}

// row is one of them.
type row struct {
	name string
	turn func() error

	once []time.Duration // of the run that is being measured
	runs []time.Duration // the median of each run
}

func (t *table) add(name string, turn func() error) {
	t.rows = append(t.rows, &row{name: name, turn: turn})
}

// measure makes one run of so many turns, after one that is not counted.
func (t *table) measure(turns int) error {
	for i := range turns + 1 {
		for _, r := range t.rows {
			begin := time.Now()
			if err := r.turn(); err != nil {
				return fmt.Errorf("%s: %s: %w", t.title, r.name, err)
			}
			if i > 0 {
				r.once = append(r.once, time.Since(begin))
			}
		}
	}
	for _, r := range t.rows {
		r.runs = append(r.runs, median(r.once))
		r.once = nil
	}
	return nil
}

func median[T time.Duration | float64](all []T) T {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

// print prints the table of so many runs. Ratios are made within a run, where the machine was the same.
func (t *table) print(to io.Writer, runs int) {
	var base *row
	for _, r := range t.rows {
		r.runs = r.runs[:runs]
		if r.name == t.base {
			base = r
		}
	}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	unit := "ms"
	if t.size > 0 {
		unit = "MiB/s"
	}
	fmt.Fprintf(w, "\n%s\t%s\t× %s\n", t.title, unit, t.base)
	for _, r := range t.rows {
		ratios := make([]float64, len(r.runs))
		for i := range r.runs {
			ratios[i] = float64(r.runs[i]) / float64(base.runs[i])
			if t.size > 0 {
				ratios[i] = 1 / ratios[i]
			}
		}
		value := fmt.Sprintf("%.2f", float64(median(r.runs))/float64(time.Millisecond))
		if t.size > 0 {
			value = fmt.Sprintf("%.0f", float64(t.size)/median(r.runs).Seconds())
		}
		fmt.Fprintf(w, "%s\t%s\t%.2f (%.2f – %.2f)\n", r.name, value, median(ratios), slices.Min(ratios), slices.Max(ratios))
	}
	_ = w.Flush()
}
