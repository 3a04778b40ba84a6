package docker_test

import (
	"context"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"hermes/internal/sandbox"
)

// sample takes times of several ways to do the same, in turn, and reports their medians in microseconds.
type sample struct {
	names []string
	times map[string][]time.Duration
}

func (s *sample) take(b *testing.B, name string, f func() error) {
	b.Helper()
	begin := time.Now()
	if err := f(); err != nil {
		b.Fatal(err)
	}
	if s.times == nil {
		s.times = map[string][]time.Duration{}
	}
	if s.times[name] == nil {
		s.names = append(s.names, name)
	}
	s.times[name] = append(s.times[name], time.Since(begin))
}

func (s *sample) median(name string) float64 {
	t := slices.Sorted(slices.Values(s.times[name]))
	return float64(t[len(t)/2].Microseconds())
}

func (s *sample) report(b *testing.B) {
	for _, name := range s.names {
		b.ReportMetric(s.median(name), name+"-µs")
	}
	b.ReportMetric(0, "ns/op")
}

// quietly makes a backend for benchmarks, which says nothing.
func (r *rig) quietly(b *testing.B, kept bool) interface {
	Open(context.Context, sandbox.Spec) (sandbox.Sandbox, error)
} {
	s := hardened()
	s.Limits.Disk.Value = 0
	s.Persistent, s.Across = kept, kept
	c := r.conf(b, s)
	c.Log = func(string) {}
	return r.backend(b, c)
}

// BenchmarkCommand compares a further command in a kept container with docker exec in the same one.
func BenchmarkCommand(b *testing.B) {
	r := rootful(b)
	box, err := r.quietly(b, true).Open(b.Context(), spec(b))
	if err != nil {
		b.Fatal(err)
	}
	defer box.Close(context.Background())
	run := func(c sandbox.Command) func() error {
		return func() error {
			_, err := box.Run(b.Context(), c)
			return err
		}
	}
	exec := func(args ...string) func() error {
		return func() error {
			return r.engine(b.Context(), nil, io.Discard, append([]string{"exec", container(box)}, args...)...)
		}
	}
	argv, text := sandbox.Command{Argv: []string{"true"}, Stdout: io.Discard}, sandbox.Command{Text: "true", Stdout: io.Discard}
	var s sample
	for b.Loop() {
		s.take(b, "argv", run(argv))
		s.take(b, "bash", run(text))
		s.take(b, "exec", exec("true"))
		s.take(b, "exec-bash", exec("bash", "-c", "true"))
		for range 20 {
			s.take(b, "argv", run(argv))
			s.take(b, "bash", run(text))
		}
	}
	s.report(b)
	b.ReportMetric(s.median("exec")/s.median("argv"), "exec/argv")
	b.ReportMetric(s.median("exec-bash")/s.median("bash"), "exec/bash")
}

// BenchmarkFirst compares the first command in a new container and in a kept one with docker run and docker exec.
func BenchmarkFirst(b *testing.B) {
	r := rootful(b)
	thrown, kept := r.quietly(b, false), r.quietly(b, true)
	first := func(backend interface {
		Open(context.Context, sandbox.Spec) (sandbox.Sandbox, error)
	}) func() error {
		return func() error {
			box, err := backend.Open(b.Context(), spec(b))
			if err != nil {
				return err
			}
			_, err = box.Run(b.Context(), sandbox.Command{Text: "true", Stdout: io.Discard})
			go box.Close(context.Background())
			return err
		}
	}
	box, err := kept.Open(b.Context(), spec(b))
	if err != nil {
		b.Fatal(err)
	}
	defer box.Close(context.Background())
	var s sample
	for b.Loop() {
		s.take(b, "new", first(thrown))
		s.take(b, "kept", first(kept))
		s.take(b, "run", func() error {
			return r.engine(b.Context(), nil, io.Discard, "run", "--rm", "--network=none", "--cap-drop=ALL", "--security-opt=no-new-privileges", testImage, "bash", "-c", "true")
		})
		s.take(b, "exec", func() error {
			return r.engine(b.Context(), nil, io.Discard, "exec", container(box), "bash", "-c", "true")
		})
	}
	s.report(b)
	b.ReportMetric(s.median("new")/s.median("run"), "new/run")
	b.ReportMetric(s.median("kept")/s.median("exec"), "kept/exec")
}

// BenchmarkManyAtOnce runs 200 commands at once in one kept container.
func BenchmarkManyAtOnce(b *testing.B) {
	r := rootful(b)
	box, err := r.quietly(b, true).Open(b.Context(), spec(b))
	if err != nil {
		b.Fatal(err)
	}
	defer box.Close(context.Background())
	var s sample
	for b.Loop() {
		s.take(b, "200-commands", func() error {
			var wg sync.WaitGroup
			for range 200 {
				wg.Go(func() {
					if _, err := box.Run(b.Context(), sandbox.Command{Text: "true", Stdout: io.Discard}); err != nil {
						b.Error(err)
					}
				})
			}
			wg.Wait()
			return nil
		})
	}
	s.report(b)
}
