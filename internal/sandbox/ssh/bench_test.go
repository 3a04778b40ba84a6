package ssh

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"hermes/internal/sandbox"
)

// master opens a connection that others share, as the owner could have it by hand, and returns what runs a command over it.
func (s *server) master() (mux, fresh func(command string) error) {
	socket := filepath.Join(s.dir, "mux")
	base := []string{"-F", s.client, "-o", "BatchMode=yes", "-l", s.user, "-p", strconv.Itoa(s.port)}
	m := exec.Command("ssh", append(slices.Clone(base), "-M", "-N", "-S", socket, "127.0.0.1")...)
	s.must(m.Start())
	s.t.Cleanup(func() {
		_ = m.Process.Kill()
		_ = m.Wait()
	})
	for until := time.Now().Add(20 * time.Second); !isSocket(socket); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			s.t.Fatal("no connection to share")
		}
	}
	mux = func(command string) error {
		return exec.Command("ssh", append(slices.Clone(base), "-S", socket, "127.0.0.1", command)...).Run()
	}
	fresh = func(command string) error {
		return exec.Command("ssh", append(slices.Clone(base), "-S", "none", "127.0.0.1", command)...).Run()
	}
	return mux, fresh
}

func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds())
}

// BenchmarkCommand compares one command through a sandbox with ssh over a shared connection, in turn, so that both see the same
// machine: go test ./internal/sandbox/ssh -run '^$' -bench Command -benchtime 300x
func BenchmarkCommand(b *testing.B) {
	s := serve(b, options{known: true})
	mux, fresh := s.master()
	box, plain := s.open(), s.open(noRunner, quiet)
	in := func(box sandbox.Sandbox, c sandbox.Command) func() error {
		return func() error {
			_, err := box.Run(b.Context(), c)
			return err
		}
	}
	rows := []struct {
		name string
		run  func() error
		all  []time.Duration
	}{
		{name: "argv", run: in(box, sandbox.Command{Argv: []string{"true"}})},
		{name: "bash", run: in(box, sandbox.Command{Text: "true"})},
		{name: "plain", run: in(plain, sandbox.Command{Text: "true"})},
		{name: "mux", run: func() error { return mux("true") }},
		{name: "mux-bash", run: func() error { return mux("exec bash -c true") }},
		{name: "fresh", run: func() error { return fresh("true") }},
	}
	b.ResetTimer()
	for i := range b.N {
		for r := range rows {
			if rows[r].name == "fresh" && i%10 != 0 {
				continue
			}
			begin := time.Now()
			if err := rows[r].run(); err != nil {
				b.Fatal(rows[r].name, err)
			}
			rows[r].all = append(rows[r].all, time.Since(begin))
		}
	}
	b.StopTimer()
	m := map[string]float64{}
	for _, r := range rows {
		m[r.name] = median(r.all)
		b.ReportMetric(m[r.name], r.name+"-µs")
	}
	b.ReportMetric(m["mux"]/m["argv"], "mux/argv")
	b.ReportMetric(m["mux-bash"]/m["bash"], "mux-bash/bash")
	b.ReportMetric(m["fresh"]/m["argv"], "fresh/argv")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkMany compares 200 commands at once. A server takes ten sessions over one connection, so that ssh runs as many at a
// time as go through.
func BenchmarkMany(b *testing.B) {
	s := serve(b, options{known: true})
	mux, _ := s.master()
	box := s.open()
	const many = 200
	together := func(at int, run func() error) time.Duration {
		begin, slots := time.Now(), make(chan struct{}, at)
		var wg sync.WaitGroup
		for range many {
			wg.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				if err := run(); err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
		return time.Since(begin)
	}
	var ours, theirs []time.Duration
	b.ResetTimer()
	for range b.N {
		ours = append(ours, together(many, func() error {
			_, err := box.Run(b.Context(), sandbox.Command{Argv: []string{"true"}})
			return err
		}))
		theirs = append(theirs, together(8, func() error { return mux("true") }))
	}
	b.StopTimer()
	o, t := median(ours), median(theirs)
	b.ReportMetric(o/1000, "ours-ms")
	b.ReportMetric(t/1000, "mux-ms")
	b.ReportMetric(t/o, "mux/ours")
	b.ReportMetric(0, "ns/op")
}
