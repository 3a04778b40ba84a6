package native_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"hermes/internal/guard/scope"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/native"
)

// BenchmarkBeside times the same things turn by turn, so that a busy machine is busy for all of them: a sandbox opened, used
// for /bin/true and closed, built from nothing (cold), from a blank process that waits (blank) or waiting ready-made (warm), beside bwrap without Landlock, filter and limits; a command in
// a kept one, beside the same outside. What one turn leaves to be done in the background is not the next one's burden.
//
// HERMES_BENCH_RUNNER names the small program of a release, cmd/runner; else the test's own binary is the launcher.
// HERMES_BENCH_BALLAST is how many MB the process holds meanwhile. HERMES_BENCH_ONLY names the only row to run: the difference in
// processor time between many turns and few, of the process with all that it started, is the row's, however busy the machine is.
func BenchmarkBeside(b *testing.B) {
	s, conf := spec(b)
	conf.Probe = []string{}
	conf.Launcher = os.Getenv("HERMES_BENCH_RUNNER")
	warm, blank := backend(b, conf), backend(b, conf)
	conf.Waiting = -1
	cold := backend(b, conf)
	kept := open(b, cold, s)
	mb, _ := strconv.Atoi(os.Getenv("HERMES_BENCH_BALLAST"))
	ballast := make([]byte, mb<<20)
	for i := 0; i < len(ballast); i += 4096 {
		ballast[i] = 1
	}
	ctx := context.Background()
	in := func(p sandbox.Sandbox, c sandbox.Command) {
		if status, err := p.Run(ctx, c); err != nil || status.Code != 0 {
			b.Fatalf("%+v %v", status, err)
		}
	}
	outside := func(name string, args ...string) {
		if err := exec.Command(name, args...).Run(); err != nil {
			b.Fatal(err)
		}
	}
	turn := 0
	once := func(back *native.Backend) {
		s := s
		if back == blank { // another session each time
			turn++
			s.Session, _ = scope.ParseSession(s.Session.Profile(), "test", strconv.Itoa(turn))
		}
		p, err := back.Open(ctx, s)
		if err != nil {
			b.Fatal(err)
		}
		in(p, sandbox.Command{Argv: []string{"/bin/true"}})
		if err := p.Close(ctx); err != nil {
			b.Fatal(err)
		}
	}
	type row struct {
		name string
		run  func()
	}
	rows := []row{
		{"bwrap", func() { outside("bwrap", "--unshare-all", "--ro-bind", "/", "/", "/bin/true") }},
		{"cold", func() { once(cold) }},
		{"blank", func() { once(blank) }},
		{"warm", func() { once(warm) }},
		{"outside", func() { outside("/bin/true") }},
		{"kept", func() { in(kept, sandbox.Command{Argv: []string{"/bin/true"}}) }},
		{"bash-outside", func() { outside("/bin/bash", "-c", "true") }},
		{"bash-kept", func() { in(kept, sandbox.Command{Text: "true"}) }},
	}
	only := os.Getenv("HERMES_BENCH_ONLY")
	if _, err := exec.LookPath("bwrap"); err != nil {
		b.Skip("needs bwrap")
	}
	times := make([][]time.Duration, len(rows))
	once(warm)
	once(blank)
	for b.Loop() {
		for i, row := range rows {
			if only != "" && only != row.name {
				continue
			}
			warm.Settle()
			blank.Settle()
			if ready, _ := warm.Waiting(); ready != 1 {
				b.Fatal("no sandbox waits")
			}
			time.Sleep(20 * time.Millisecond) // the kernel takes down what is not in use any more
			begin := time.Now()
			row.run()
			times[i] = append(times[i], time.Since(begin))
		}
	}
	runtime.KeepAlive(ballast)
	if only != "" {
		return
	}
	for i, row := range rows {
		slices.Sort(times[i])
		b.ReportMetric(float64(times[i][len(times[i])/2].Microseconds()), row.name+"-µs")
	}
	ratio := func(x, y string) {
		at := func(name string, share float64) float64 {
			i := slices.IndexFunc(rows, func(r row) bool { return r.name == name })
			return float64(times[i][int(float64(len(times[i]))*share)])
		}
		b.ReportMetric(at(x, .5)/at(y, .5), x+"/"+y)
		b.ReportMetric(at(x, .1)/at(y, .1), x+"/"+y+"-p10") // nearer to what a quiet machine does
	}
	b.ReportMetric(0, "ns/op")
	ratio("cold", "bwrap")
	ratio("blank", "bwrap")
	ratio("warm", "bwrap")
	ratio("kept", "outside")
	ratio("bash-kept", "bash-outside")
}

// BenchmarkBuild builds a program inside and outside, turn by turn, both from a full cache but for the package itself.
func BenchmarkBuild(b *testing.B) {
	s, conf := spec(b)
	conf.Probe = []string{}
	tree := s.Workdir.String()
	write(b, filepath.Join(tree, "go.mod"), "module x\n\ngo 1.20\n")
	p := open(b, backend(b, conf), s)
	var inside, outside []time.Duration
	build := func() {
		text := "package main\n\nimport (\n\t\"fmt\"\n\t\"net/http\"\n)\n\nfunc main() { fmt.Println(http.StatusText(200), " + time.Now().Format(`"150405.000000000"`) + ") }\n"
		write(b, filepath.Join(tree, "main.go"), text)
	}
	one := func() {
		build()
		begin := time.Now()
		if out, code := run(b, p, "go build -o x ."); code != 0 {
			b.Fatal(out)
		}
		inside = append(inside, time.Since(begin))
		build()
		begin = time.Now()
		cmd := exec.Command("go", "build", "-o", "x", ".")
		cmd.Dir = tree
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v %s", err, out)
		}
		outside = append(outside, time.Since(begin))
	}
	one()
	inside, outside = nil, nil
	for b.Loop() {
		one()
	}
	slices.Sort(inside)
	slices.Sort(outside)
	i, o := inside[len(inside)/2], outside[len(outside)/2]
	b.ReportMetric(float64(i.Milliseconds()), "inside-ms")
	b.ReportMetric(float64(o.Milliseconds()), "outside-ms")
	b.ReportMetric(float64(i)/float64(o), "inside/outside")
}

// BenchmarkPlan times what every opening begins with: what is asked, and what this machine has at the moment.
func BenchmarkPlan(b *testing.B) {
	s, conf := spec(b)
	conf.Probe = []string{}
	back := backend(b, conf)
	for b.Loop() {
		if err := back.Plan(s); err != nil {
			b.Fatal(err)
		}
	}
}
