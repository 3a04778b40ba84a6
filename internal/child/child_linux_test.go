package child

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/rigtest"
)

// Who belongs to a tree, by a table of processes. 100 is the program; 50 is a stranger.
func TestTreeMembers(t *testing.T) {
	self := os.Getpid()
	rows := []struct {
		what string
		e    entry
		in   bool
	}{
		{"a child", entry{pid: 102, ppid: 100, group: 100, sess: 9, born: 6}, true},
		{"a grandchild", entry{pid: 103, ppid: 101, group: 9, sess: 9, born: 7}, true},
		{"of the group, parent gone", entry{pid: 104, ppid: 1, group: 100, sess: 9, born: 7}, true},
		{"of a session that a member made", entry{pid: 105, ppid: 1, group: 300, sess: 101, born: 7}, true},
		{"a stranger", entry{pid: 106, ppid: 50, group: 50, sess: 9, born: 7}, false},
		{"of the session the program was started in", entry{pid: 107, ppid: 1, group: 9, sess: 9, born: 7}, false},
		{"this process", entry{pid: self, ppid: 1, group: 9, sess: 9, born: 1}, false},
		{"this process, in a member's group", entry{pid: self, ppid: 1, group: 100, sess: 9, born: 1}, false},
		{"an orphan that came to this process", entry{pid: 108, ppid: self, group: 108, sess: 108, born: 7}, false},
		{"init", entry{pid: 1, ppid: 0, group: 100, sess: 100, born: 0}, false},
	}
	base := []entry{
		{pid: 100, ppid: self, group: 100, sess: 9, born: 5},
		{pid: 50, ppid: 1, group: 50, sess: 9, born: 2},
		{pid: 101, ppid: 100, group: 100, sess: 9, born: 6},
	}
	for _, row := range rows {
		tr := tree{members: map[identity]bool{{100, 5}: true}}
		tr.grow(append(base[:3:3], row.e))
		if got := tr.members[identity{row.e.pid, row.e.born}]; got != row.in {
			t.Errorf("%s: member %v", row.what, got)
		}
	}
	// A pid that came back is another process, and its group another group.
	tr := tree{members: map[identity]bool{{100, 5}: true}}
	tr.grow([]entry{{pid: 100, ppid: 1, group: 100, sess: 100, born: 99}, {pid: 200, ppid: 100, group: 100, sess: 100, born: 99}})
	if len(tr.members) != 1 {
		t.Errorf("members %v", tr.members)
	}
}

func TestLimits(t *testing.T) {
	rows := []struct {
		what string
		l    Limits
		text string
		want string
		exit int
	}{
		{"none", Limits{}, "echo ok", "ok\n", 0},
		{"files", Limits{Files: 32}, "ulimit -n; ulimit -Hn", "32\n32\n", 0},
		{"file size", Limits{FileSize: 4096}, "ulimit -f; head -c 100000 /dev/zero > $F; stat -c %s $F", "8\n4096\n", 0},
		{"memory", Limits{Memory: 512 << 20}, "ulimit -v", "524288\n", 0},
		{"processor", Limits{CPU: 1}, "ulimit -t; while :; do :; done", "1\n", 137},
		{"never above what is in force", Limits{Files: 1 << 40}, "[ $(ulimit -n) -lt 1099511627776 ] && echo ok", "ok\n", 0},
		{"for children too", Limits{Files: 40}, "sh -c 'ulimit -n'", "40\n", 0},
	}
	for _, row := range rows {
		spec := sh(row.text)
		spec.Env = env("PATH="+search, "F="+filepath.Join(t.TempDir(), "f"))
		spec.Limits = row.l
		var out bytes.Buffer
		spec.Stdio.Out = &out
		s, err := Run(t.Context(), spec)
		if err != nil || s.Exit() != row.exit || out.String() != row.want {
			t.Errorf("%s: %q, %+v, %v", row.what, out.String(), s, err)
		}
	}
}

// Root is exempt from the limit of processes, so that it is in force is read back instead of tried.
func TestProcessLimit(t *testing.T) {
	spec := Spec{Program: "cat", Search: search, Args: []string{"/proc/self/limits"}, Dir: "/", Limits: Limits{Processes: 77}}
	out, err := Output(t.Context(), spec, 1<<14)
	if err != nil || !strings.Contains(strings.Join(strings.Fields(string(out)), " "), "Max processes 77 77") {
		t.Errorf("%s, %v", out, err)
	}
}

// A program with limits runs untraced, on whatever thread it was started.
func TestLimitedIsNotTraced(t *testing.T) {
	for _, die := range []bool{false, true} {
		spec := Spec{Program: "cat", Search: search, Args: []string{"/proc/self/status"}, Dir: "/", Limits: Limits{Files: 64}, DieWithParent: die}
		out, err := Output(t.Context(), spec, 1<<14)
		if err != nil || !strings.Contains(string(out), "TracerPid:\t0\n") {
			t.Errorf("%s, %v", out, err)
		}
	}
}

// A child that is to die with its parent dies of the parent's kill -9.
func TestDieWithParent(t *testing.T) { killParent(t) }

// It does not die of the end of the thread that started it: the kernel goes by the thread, which ends with a goroutine that keeps
// it for itself.
func TestDieWithParentNotWithThread(t *testing.T) {
	type begun struct {
		p      *Process
		err    error
		thread int
	}
	starts, over := make(chan begun), make(chan struct{})
	defer close(over)
	var start func()
	start = func() {
		runtime.LockOSThread()            // and never unlocked
		if unix.Gettid() == os.Getpid() { // the first one does not end
			go start()
			<-over
			return
		}
		p, err := Start(context.WithoutCancel(t.Context()), Spec{Program: "sleep", Search: search, Args: []string{"1000"}, Dir: "/", DieWithParent: true})
		starts <- begun{p, err, unix.Gettid()}
	}
	go start()
	b := <-starts
	if b.err != nil {
		t.Fatal(b.err)
	}
	defer func() { b.p.Kill(); <-b.p.Done() }()
	if !soon(func() bool { _, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", b.thread)); return err != nil }) {
		t.Fatal("the thread goes on")
	}
	time.Sleep(50 * time.Millisecond)
	select {
	case <-b.p.Done():
		t.Error("the child died with the thread")
	default:
	}
}

// One that has to end something itself is told, and can.
func TestDeathSignal(t *testing.T) {
	note := filepath.Join(t.TempDir(), "note")
	killParent(t, "CHILD_TEST_NOTE="+note)
	if text, _ := os.ReadFile(note); string(text) != "told\n" {
		t.Errorf("it has noted %q", text)
	}
}

func killParent(t *testing.T, env ...string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(self)
	parent.Env = append(env, "CHILD_TEST_PARENT=1")
	pid := rigtest.Start(t, parent)
	if !alive(pid) {
		t.Error("the child is not there")
	}
	for _, pair := range env {
		_, note, _ := strings.Cut(pair, "=")
		if !soon(func() bool { _, err := os.Stat(note); return err == nil }) {
			t.Error("the child does not run")
		}
	}
	_ = parent.Process.Kill()
	_ = parent.Wait()
	if !soon(func() bool { return !alive(pid) }) {
		t.Errorf("the child outlived its parent")
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func alive(pid int) bool {
	table, _ := processes()
	for _, e := range table {
		if e.pid == pid && e.state != ended {
			return true
		}
	}
	return false
}

// soon waits for a condition that has to come.
func soon(ok func() bool) bool {
	for range 2000 {
		if ok() {
			return true
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

// daemon leaves both its group and its parents and then writes its pid.
const daemon = `setsid sh -c '(sh -c "trap \"\" TERM HUP; echo \$\$ >> $F; exec sleep 1000") &' &`

// Everything in a cgroup dies with the child, whatever it did to leave.
func TestCgroup(t *testing.T) {
	dir := ""
	for _, root := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		name := filepath.Join(root, "hermes-child-test-"+strconv.Itoa(os.Getpid()))
		if _, err := os.Stat(filepath.Join(root, "cgroup.procs")); err == nil && os.Mkdir(name, 0o755) == nil {
			dir = name
			break
		}
	}
	if dir == "" {
		rigtest.Need(t, "a version 2 cgroup that may be written")
	}
	t.Cleanup(func() {
		if !soon(func() bool { return os.Remove(dir) == nil }) {
			t.Errorf("%s stays", dir)
		}
	})
	cage, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer cage.Close()
	file := filepath.Join(t.TempDir(), "pids")
	spec := sh(daemon + " sleep 1000")
	spec.Env, spec.Cgroup = env("PATH="+search, "F="+file), cage
	p, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	pids := pidsIn(t, file, 1)
	p.Kill()
	if _, err := p.Wait(); !errors.Is(err, ErrStopped) {
		t.Error(err)
	}
	if !soon(func() bool { return !alive(pids[0]) }) {
		gone(t, pids)
	}
}

func BenchmarkTrue(b *testing.B) {
	plain := func() {
		cmd := exec.Command("/bin/true")
		cmd.Env, cmd.Dir = []string{}, "/"
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
	}
	ours := func(l Limits) func() {
		return func() {
			if _, err := Run(context.Background(), Spec{Program: "/bin/true", Dir: "/", Limits: l}); err != nil {
				b.Fatal(err)
			}
		}
	}
	for _, way := range []struct {
		name string
		run  func()
	}{{"os-exec", plain}, {"child", ours(Limits{})}, {"child-limits", ours(Limits{Files: 1024})}} {
		b.Run(way.name, func(b *testing.B) {
			for b.Loop() {
				way.run()
			}
		})
	}
}
