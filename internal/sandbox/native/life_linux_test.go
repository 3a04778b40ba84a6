package native_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes/internal/guard/checked"
	"hermes/internal/guard/exposure"
	"hermes/internal/guard/scope"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/native"
)

func asNobody() *syscall.SysProcAttr {
	const nobody = 65534
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}, Pdeathsig: syscall.SIGKILL}
}

func workdir(t testing.TB, dir string) checked.Workdir {
	t.Helper()
	w, err := checked.ParseWorkdir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// left counts what a sandbox could leave behind on this machine: descriptors here, groups of ours, processes of ours.
func left(t testing.TB) (fds, groups, processes int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	found, _ := filepath.Glob(fmt.Sprintf("/sys/fs/cgroup/*/*/hermes-%d-*", os.Getpid()))
	more, _ := filepath.Glob(fmt.Sprintf("/sys/fs/cgroup/*/hermes-%d-*", os.Getpid()))
	deep, _ := filepath.Glob(fmt.Sprintf("/sys/fs/cgroup/*/*/*/hermes-%d-*", os.Getpid()))
	return len(entries), len(found) + len(more) + len(deep), len(below(os.Getpid()))
}

// below lists the processes that come from one, by their parents.
func below(root int) (out []int) {
	parents := map[int]int{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		text, err := os.ReadFile(dir + "/stat")
		if err != nil {
			continue
		}
		f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		pid, _ := strconv.Atoi(filepath.Base(dir))
		parents[pid], _ = strconv.Atoi(f[1])
	}
	for pid := range parents {
		for at := parents[pid]; at > 1; at = parents[at] {
			if at == root {
				out = append(out, pid)
				break
			}
		}
	}
	return out
}

func TestLeaks(t *testing.T) {
	s, conf := spec(t)
	conf.Probe = []string{}
	b := backend(t, conf)
	cycle := func() {
		p, err := b.Open(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Run(t.Context(), sandbox.Command{Text: "(setsid sleep 100 &) ; sleep 100 & true"}); err != nil {
			t.Error(err)
		}
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
	cycle()
	fds, groups, processes := left(t)
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	n := 100
	if testing.Short() {
		n = 10
	}
	for range n {
		cycle()
	}
	// The launcher stays, and up to two processes wait for their plans.
	f, g, p := left(t)
	if f > fds+4 || g > 6 || p > 3 {
		t.Errorf("after %d sandboxes: %d descriptors (%d before), %d groups (%d before), %d processes (%d before)", n, f, fds, g, groups, p, processes)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if _, g, p := left(t); g != 0 || p != 0 {
		t.Errorf("after the end: %d groups, %d processes", g, p)
	}
	if again, _ := os.ReadFile("/proc/self/mountinfo"); len(again) != len(mounts) {
		t.Error("mounts were left")
	}
}

func TestLimits(t *testing.T) {
	s, conf := spec(t)
	s.Limits = sandbox.Limits{PIDs: 24, Memory: 256 << 20} // few enough for a slow machine to start before the first ends
	conf.Probe = []string{}
	p := open(t, backend(t, conf), s)
	for _, l := range p.Exposure().Limits {
		t.Logf("%s: asked %d, in force %d (%v)", l.Name, l.Asked, l.Force, l.Grade)
		if l.Name != "cpu" && !l.Holds() {
			t.Errorf("the limit of %s does not hold", l.Name)
		}
	}
	// A bounded bomb: each loop tries a hundred processes that end by themselves.
	if out, _ := run(t, p, "for i in $(seq 100); do sleep 2 & done 2>&1; wait; echo done"); !strings.Contains(out, "fork") {
		t.Errorf("more than 24 processes: %q", out)
	}
	if out, _ := run(t, p, "echo alive"); out != "alive" {
		t.Fatalf("after the bomb: %q", out)
	}
	if out, code := run(t, p, "head -c 600M /dev/zero | tail -c 500M | wc -c"); code == 0 && strings.Contains(out, "524288000") {
		t.Errorf("half a gigabyte in a quarter: %d %q", code, out)
	}
	if _, err := p.Run(t.Context(), sandbox.Command{Text: "true"}); err != nil {
		t.Errorf("after the memory ran out: %v", err)
	}
}

func TestAskedLimit(t *testing.T) {
	s, conf := spec(t)
	conf.Probe = []string{}
	s.Limits = sandbox.Limits{CPU: 500, Asked: true}
	p, err := backend(t, conf).Open(t.Context(), s)
	if err != nil { // where no group can limit it, that is said
		var missing *sandbox.MissingError
		if !errors.As(err, &missing) || missing.What != "cpu limit" {
			t.Fatal(err)
		}
		return
	}
	defer p.Close(context.Background())
	for _, l := range p.Exposure().Limits {
		if l.Name == "cpu" && (l.Force != 500 || l.Grade == exposure.NoGrade) {
			t.Errorf("%+v", l)
		}
	}
}

// openAndWait opens a sandbox, starts something in it, says so, and waits.
func openAndWait(home string) {
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	self, err := os.Executable()
	fail(err)
	tree, err := checked.ParseWorkdir(filepath.Join(home, "src/app"))
	fail(err)
	profile, err := scope.ParseProfile("default")
	fail(err)
	session, err := scope.ParseSession(profile, "test", "kill")
	fail(err)
	state := filepath.Join(home, ".hermes/sandboxes")
	b := native.New(native.Config{Launcher: self, Home: home, State: state})
	p, err := b.Open(context.Background(), sandbox.Spec{Session: session, Workdir: tree, Home: state})
	fail(err)
	_, err = p.Run(context.Background(), sandbox.Command{Text: "(setsid sleep 1234567 &); sleep 1234567 &"})
	fail(err)
	fmt.Println("ready")
	time.Sleep(time.Minute)
	os.Exit(1)
}

// However the opener dies, nothing is left: no process, no group; the record is known to be stale and is cleaned.
func TestKilledOpener(t *testing.T) {
	_, conf := spec(t)
	cmd := exec.Command(executable(t), "open", conf.Home)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	family := below(cmd.Process.Pid)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if line != "ready\n" || len(family) < 4 {
		t.Fatalf("%q, %d processes", line, len(family))
	}
	gone := func() bool {
		for _, pid := range family {
			if syscall.Kill(pid, 0) == nil {
				return false
			}
		}
		groups, _ := filepath.Glob(fmt.Sprintf("/sys/fs/cgroup/*/hermes-%d-*", cmd.Process.Pid))
		deep, _ := filepath.Glob(fmt.Sprintf("/sys/fs/cgroup/*/*/hermes-%d-*", cmd.Process.Pid))
		deeper, _ := filepath.Glob(fmt.Sprintf("/sys/fs/cgroup/*/*/*/hermes-%d-*", cmd.Process.Pid))
		return len(groups)+len(deep)+len(deeper) == 0
	}
	for range 500 {
		if gone() {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !gone() {
		t.Error("something is left")
	}
	state := filepath.Join(conf.Home, ".hermes/sandboxes")
	all, err := native.List(state)
	if err != nil || len(all) != 1 || !all[0].Stale {
		t.Fatalf("%v %v", all, err)
	}
	if _, err := native.Clean(state); err != nil {
		t.Fatal(err)
	}
	if all, _ := native.List(state); len(all) != 0 {
		t.Errorf("not cleaned: %v", all)
	}
}

// A sandbox that somebody else kills is broken, and says so.
func TestStopped(t *testing.T) {
	s, conf := spec(t)
	conf.Probe, conf.State = []string{}, s.Home
	p := open(t, backend(t, conf), s)
	all, err := native.List(s.Home)
	if err != nil || len(all) != 1 || all[0].Stale || all[0].Tree != s.Workdir.String() {
		t.Fatalf("%v %v", all, err)
	}
	if err := native.Stop(s.Home, all[0].ID); err != nil {
		t.Fatal(err)
	}
	var broken *sandbox.BrokenError
	for range 100 {
		if _, err = p.Run(t.Context(), sandbox.Command{Text: "true"}); err != nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !errors.As(err, &broken) {
		t.Errorf("after a stop: %v", err)
	}
	if err := native.Stop(s.Home, "nobody"); err == nil {
		t.Error("nobody was stopped")
	}
}
