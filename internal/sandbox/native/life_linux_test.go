package native_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
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
	return len(entries), len(groupsOf(os.Getpid())), len(below(os.Getpid()))
}

// groupsOf lists the control groups that a process made.
func groupsOf(pid int) (out []string) {
	for depth := range 6 {
		found, _ := filepath.Glob("/sys/fs/cgroup/" + strings.Repeat("*/", depth) + "hermes-" + strconv.Itoa(pid) + "-*")
		out = append(out, found...)
	}
	return out
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

// Two hundred sandboxes are opened, used and closed, and what there is afterwards is what there was after the first.
func TestLeaks(t *testing.T) {
	s, conf := spec(t)
	conf.Probe, conf.State = []string{}, filepath.Join(conf.Home, ".hermes/sandboxes")
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
	cycle()                // from the second on changes of the system's secrets are watched for
	if !soon(func() bool { // one sandbox and one process wait; a process is given up when anybody mounts something meanwhile
		cycle()
		b.Settle()
		ready, blank := b.Waiting()
		return ready == 1 && blank
	}) {
		t.Fatal("nothing waits for the next opening")
	}
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	fds, groups, processes := left(t)
	routines := runtime.NumGoroutine()
	n := 200
	if testing.Short() {
		n = 10
	}
	for range n {
		cycle()
	}
	var f, g, p, r int
	ok := soon(func() bool { // the kernel takes a moment
		b.Settle()
		f, g, p = left(t)
		r = runtime.NumGoroutine()
		return f <= fds && g <= groups && p <= processes && r <= routines
	})
	if !ok {
		t.Errorf("after %d sandboxes: %d descriptors (%d before), %d groups (%d before), %d processes (%d before), %d goroutines (%d before)",
			n, f, fds, g, groups, p, processes, r, routines)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if _, g, p := left(t); g != 0 || p != 0 {
		t.Errorf("after the end: %d groups, %d processes", g, p)
	}
	if again, _ := os.ReadFile("/proc/self/mountinfo"); strings.Count(string(again), conf.Home) != strings.Count(string(mounts), conf.Home) {
		t.Error("mounts were left")
	}
	if all, err := native.List(conf.State); err != nil || len(all) != 0 {
		t.Errorf("records were left: %v %v", all, err)
	}
	if entries, _ := os.ReadDir(conf.State); len(entries) > 1 { // the cache of the work tree
		t.Errorf("files were left: %v", entries)
	}
}

// soon waits for what must come.
func soon(ok func() bool) bool {
	for range 1000 {
		if ok() {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// churn opens, uses and closes sandboxes until it is killed.
func churn(home string) {
	b, s := opener(home)
	text := bytes.Repeat([]byte("whole\n"), 20_000)
	one := func(s sandbox.Spec) error {
		p, err := b.Open(context.Background(), s)
		if err != nil {
			return err
		}
		defer p.Close(context.Background())
		if _, err := p.Run(context.Background(), sandbox.Command{Text: "sleep 1234567 & (setsid sleep 1234567 &) ; true"}); err != nil {
			return err
		}
		w, err := p.(sandbox.Files).Create(context.Background(), s.Workdir.String()+"/file", 0o600)
		if err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
		return w.Close()
	}
	fmt.Println("ready")
	for {
		if err := one(s); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// Hermes is killed at random points of opening, using and closing: HERMES_TEST_KILLS times, as scripts/test says. Nothing is left each time: no process, no group,
// no mount, no file that is not whole; records say that they are stale, and go when they are cleaned.
func TestKilledAnywhere(t *testing.T) {
	n := 40
	if text := os.Getenv("HERMES_TEST_KILLS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	const lanes = 4
	for lane := range lanes {
		t.Run(strconv.Itoa(lane), func(t *testing.T) {
			t.Parallel()
			_, conf := spec(t)
			for range n / lanes {
				killSomewhere(t, conf.Home)
			}
		})
	}
}

func killSomewhere(t *testing.T, home string) {
	t.Helper()
	cmd := exec.Command(executable(t), "churn", home)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	time.Sleep(rand.N(40 * time.Millisecond))
	family := below(cmd.Process.Pid)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if line != "ready\n" {
		t.Fatalf("%q %v", line, err)
	}
	nothingLeft(t, cmd.Process.Pid, family)
	state := filepath.Join(home, ".hermes/sandboxes")
	all, err := native.List(state)
	if err != nil {
		t.Error(err)
	}
	for _, r := range all {
		if !r.Stale || r.Tree != "" && r.Owner != cmd.Process.Pid {
			t.Errorf("%+v", r)
		}
	}
	if _, err := native.Clean(state); err != nil {
		t.Error(err)
	}
	if all, _ := native.List(state); len(all) != 0 {
		t.Errorf("not cleaned: %v", all)
	}
	if text, err := os.ReadFile(filepath.Join(home, "src/app/file")); err == nil && (len(text) != 120_000 || bytes.Count(text, []byte("whole\n")) != 20_000) {
		t.Errorf("a file of %d bytes is not whole", len(text))
	}
	if mounts, _ := os.ReadFile("/proc/self/mountinfo"); bytes.Contains(mounts, []byte(home)) {
		t.Error("a mount is left")
	}
}

// alive returns who of a family is. One that came to the system's first process and has ended is not: some wait for such only every
// two seconds, and it holds nothing any more.
func alive(family []int) (out []int) {
	const state, parent, threads = 0, 1, 17
	for _, pid := range family {
		f := stat(pid)
		if len(f) <= threads {
			continue
		}
		above, _ := strconv.Atoi(f[parent])
		if f[state] != "Z" || f[threads] != "1" || above == os.Getpid() || slices.Contains(family, above) {
			out = append(out, pid)
		}
	}
	return out
}

// gone tells whether a process's family and groups are.
func gone(pid int, family []int) bool { return len(alive(family)) == 0 && len(groupsOf(pid)) == 0 }

// nothingLeft fails if anything of a process that was killed is left after ten seconds.
func nothingLeft(t *testing.T, pid int, family []int) {
	t.Helper()
	if !soon(func() bool { return gone(pid, family) }) {
		t.Errorf("something is left: %s", remains(pid, family))
	}
}

// remains tells what keeps gone from being true.
func remains(pid int, family []int) string {
	var out strings.Builder
	for _, pid := range alive(family) {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		fmt.Fprintf(&out, "\nprocess %s: %q", strings.TrimSpace(string(status)), line)
	}
	for _, dir := range groupsOf(pid) {
		members, _ := os.ReadFile(dir + "/cgroup.procs")
		fmt.Fprintf(&out, "\ngroup %s: %q", dir, members)
	}
	return out.String()
}

// groupState tells all that the kernel says about our groups, for whoever has to find out why a limit did not hold.
func groupState() string {
	var out strings.Builder
	for _, file := range []string{"/proc/self/cgroup", "/sys/fs/cgroup/cgroup.controllers", "/sys/fs/cgroup/cgroup.subtree_control"} {
		text, err := os.ReadFile(file)
		fmt.Fprintf(&out, "%s: %q %v\n", file, text, err)
	}
	for _, dir := range groupsOf(os.Getpid()) {
		files, _ := filepath.Glob(dir + "/*")
		for _, file := range files {
			switch name := filepath.Base(file); {
			case strings.HasPrefix(name, "pids."), strings.HasPrefix(name, "cgroup."), name == "memory.max", name == "memory.swap.max", name == "memory.current",
				name == "memory.peak", name == "memory.events", name == "memory.limit_in_bytes", name == "memory.memsw.limit_in_bytes",
				name == "memory.failcnt", name == "memory.max_usage_in_bytes":
				if text, err := os.ReadFile(file); err == nil {
					fmt.Fprintf(&out, "%s: %q\n", file, text)
				}
			}
		}
	}
	return out.String()
}

func TestLimits(t *testing.T) {
	s, conf := spec(t)
	s.Limits = sandbox.Limits{PIDs: 24, Memory: 256 << 20}
	conf.Probe = []string{}
	p := open(t, backend(t, conf), s)
	for _, l := range p.Exposure().Limits {
		t.Logf("%s: asked %d, in force %d (%v)", l.Name, l.Asked, l.Force, l.Grade)
		if l.Name != "cpu" && !l.Holds() {
			t.Errorf("the limit of %s does not hold", l.Name)
		}
	}
	// A bounded bomb: a hundred processes, none of which ends before it is told, however slow the machine is: they read what
	// nobody writes. It is sh that makes them, which does not try again for a while as bash does.
	const bomb = `mkfifo /tmp/f; sh -c 'exec 3<>/tmp/f; for i in $(seq 100); do read -r x <&3 & done' 2>&1; trap '' TERM; kill 0; echo done`
	out, code := run(t, p, bomb)
	if !strings.Contains(out, "fork") {
		t.Errorf("more than 24 processes: exit code %d, %q\n%s", code, out, groupState())
	}
	if out, code := run(t, p, "echo alive"); out != "alive" {
		t.Fatalf("after the bomb: exit code %d, %q\n%s", code, out, groupState())
	}
	if out, code := run(t, p, "head -c 600M /dev/zero | tail -c 500M | wc -c"); code == 0 && strings.Contains(out, "524288000") {
		t.Errorf("half a gigabyte in a quarter: exit code %d, %q\n%s", code, out, groupState())
	}
	if status, err := p.Run(t.Context(), sandbox.Command{Text: "true"}); err != nil || status.Code != 0 {
		t.Errorf("after the memory ran out: %+v %v\n%s", status, err, groupState())
	}
}

func TestAskedLimit(t *testing.T) {
	s, conf := spec(t)
	conf.Probe = []string{}
	s.Limits = sandbox.Limits{CPU: 500, Asked: true}
	p, err := backend(t, conf).Open(t.Context(), s)
	if err != nil { // where no group can limit it, that is said
		var missing *sandbox.MissingError
		if !errors.As(err, &missing) || missing.What != "cpu limit" || missing.Why == "" || !strings.Contains(missing.Remedy, "terminal.container_cpu") {
			t.Fatalf("%v, %+v", err, missing)
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

// A limit of disk that the owner sets is an error, as nothing enforces it; with best effort every result says so.
func TestAskedDisk(t *testing.T) {
	s, conf := spec(t)
	conf.Probe = []string{}
	s.Limits = sandbox.Limits{Disk: 1 << 30, Asked: true}
	b := backend(t, conf)
	p, err := b.Open(t.Context(), s)
	var missing *sandbox.MissingError
	if !errors.As(err, &missing) || missing.What != "disk limit" || missing.Why == "" || !strings.Contains(missing.Remedy, "hermes config unset terminal.container_disk") {
		if err == nil {
			_ = p.Close(t.Context())
		}
		t.Errorf("%v, %+v", err, missing)
	}
	s.BestEffort = true
	e := open(t, b, s).Exposure()
	if !strings.Contains(e.Summary(), "without disk limit") {
		t.Errorf("it is not said: %s", e.Summary())
	}
	if rows := e.Unmet(); len(rows) != 1 || rows[0].Key != "limit_disk" || rows[0].Asked != "1 GiB" || rows[0].Force != "none" {
		t.Errorf("not as asked: %+v", rows)
	}
	s.BestEffort, s.Limits.Disk = false, sandbox.Unlimited
	_ = open(t, b, s)
}

// opener returns what a process that this test starts opens sandboxes with.
func opener(home string) (*native.Backend, sandbox.Spec) {
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
	return native.New(native.Config{Launcher: self, Home: home, State: state}), sandbox.Spec{Session: session, Workdir: tree, Home: state}
}

// openAndWait opens a sandbox, starts something in it, says so, and waits.
func openAndWait(home string) {
	b, s := opener(home)
	p, err := b.Open(context.Background(), s)
	if err == nil {
		_, err = p.Run(context.Background(), sandbox.Command{Text: "(setsid sleep 1234567 &); sleep 1234567 &"})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("ready")
	time.Sleep(time.Minute)
	os.Exit(1)
}

// interrupted runs a command that does not want to end, until Ctrl-C, and says how it ended.
func interrupted(home string) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b, s := opener(home)
	p, err := b.Open(context.Background(), s)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	begun := writer(func(text []byte) { fmt.Print(string(text)) })
	status, err := p.Run(ctx, sandbox.Command{Text: "trap '' INT TERM; sleep 1234567 & echo ready; sleep 1234567; sleep 1234567", Stdout: begun, Grace: 50 * time.Millisecond})
	fmt.Println(status.Code, status.Interrupted, err, p.Close(context.Background()), b.Close())
	os.Exit(0)
}

type writer func([]byte)

func (w writer) Write(text []byte) (int, error) { w(text); return len(text), nil }

// Ctrl-C reaches everybody in the terminal's group. Hermes ends the command, also one that ignores it, and nothing is left.
func TestInterrupted(t *testing.T) {
	_, conf := spec(t)
	cmd := exec.Command(executable(t), "interrupted", conf.Home)
	cmd.Stderr, cmd.SysProcAttr = os.Stderr, &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	line, _ := r.ReadString('\n')
	family := below(cmd.Process.Pid)
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	answer, _ := r.ReadString('\n')
	if err := cmd.Wait(); line != "ready\n" || answer != "130 true <nil> <nil> <nil>\n" || err != nil || len(family) < 4 {
		t.Errorf("%q %q %v, %d processes", line, answer, err, len(family))
	}
	if !soon(func() bool { return gone(cmd.Process.Pid, family) }) {
		t.Error("something is left")
	}
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
	for _, dir := range groupsOf(cmd.Process.Pid) { // one that was made, and nobody was told of
		if err := os.Mkdir(dir[:strings.LastIndexByte(dir, '-')+1]+"untold", 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			t.Error(err)
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if line != "ready\n" || len(family) < 4 {
		t.Fatalf("%q, %d processes", line, len(family))
	}
	nothingLeft(t, cmd.Process.Pid, family)
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

// The launcher's death ends a sandbox whose first process cannot act any more.
func TestKilledLauncher(t *testing.T) {
	s, conf := spec(t)
	conf.Probe, conf.State = []string{}, s.Home
	p := open(t, backend(t, conf), s)
	_, _ = run(t, p, "sleep 1234567 & true")
	all, err := native.List(s.Home)
	if err != nil || len(all) != 1 {
		t.Fatalf("%v %v", all, err)
	}
	first := all[0].PID
	inside := below(first)
	launcher := parentOf(t, first)
	if launcher == os.Getpid() || len(inside) == 0 {
		t.Fatal(launcher, inside)
	}
	if err := errors.Join(syscall.Kill(first, syscall.SIGSTOP), syscall.Kill(launcher, syscall.SIGKILL)); err != nil {
		t.Fatal(err)
	}
	if !soon(func() bool { return gone(os.Getpid(), append(inside, first)) }) {
		t.Errorf("it lives on: %s", remains(os.Getpid(), append(inside, first)))
		_ = syscall.Kill(first, syscall.SIGKILL)
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
