package proc

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
)

func TestParse(t *testing.T) {
	line := func(name, state string, threads int) string {
		return fmt.Sprintf("7 (%s) %s 10 20 30 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 %d 0 12345 1 2 3", name, state, threads)
	}
	for _, row := range []struct {
		line string
		want Process // but for the numbers
		ok   bool
	}{
		{line("sh", "S", 1), Process{Name: "sh"}, true},
		{line("a) R 1 1 1 (b", "R", 4), Process{Name: "a) R 1 1 1 (b"}, true},
		{line("", "S", 1), Process{}, true},
		{line("sh", "T", 1), Process{Name: "sh", Stopped: true}, true},
		{line("sh", "t", 1), Process{Name: "sh", Stopped: true}, true},
		{line("sh", "Z", 1), Process{Name: "sh", Ended: true}, true},
		{line("sh", "Z", 3), Process{Name: "sh"}, true}, // its first thread alone has ended
		{line("sh", "X", 0), Process{Name: "sh", Ended: true}, true},
		{line("sh", "S", 1)[len("7 "):], Process{Name: "sh"}, true},
		{"7 sh S 10 20 30", Process{}, false},
		{"7 (sh) S 10 20", Process{}, false},
		{line("sh", "S", 1)[:20], Process{}, false},
		{"", Process{}, false},
	} {
		want := row.want
		if row.ok {
			want.PID, want.Parent, want.Group, want.Session, want.Born = 7, 10, 20, 30, 12345
		}
		if got, ok := parse(7, []byte(row.line)); ok != row.ok || got != want {
			t.Errorf("%q: %+v %v, want %+v %v", row.line, got, ok, want, row.ok)
		}
	}
}

// Everybody who is there is listed, once, however many come and go meanwhile.
func TestEach(t *testing.T) {
	sleeper := exec.Command("/bin/sleep", "1000")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = sleeper.Process.Kill()
		_ = sleeper.Wait()
	}()
	for range 20 {
		if err := exec.Command("/bin/true").Run(); err != nil {
			t.Fatal(err)
		}
		var pids []int
		if err := Each(func(p Process) { pids = append(pids, p.PID) }); err != nil {
			t.Fatal(err)
		}
		slices.Sort(pids)
		if len(slices.Compact(slices.Clone(pids))) != len(pids) || !slices.Contains(pids, os.Getpid()) || !slices.Contains(pids, sleeper.Process.Pid) {
			t.Fatalf("%d or %d is missed, or somebody twice: %v", os.Getpid(), sleeper.Process.Pid, pids)
		}
	}
	// Somebody started while the list is read, by somebody in it, is in it too.
	for range 50 {
		var later *exec.Cmd
		seen := false
		err := Each(func(p Process) {
			switch {
			case p.PID == sleeper.Process.Pid:
				later = exec.Command("/bin/sleep", "1000")
				if err := later.Start(); err != nil {
					t.Fatal(err)
				}
			case later != nil && p.PID == later.Process.Pid:
				seen = true
			}
		})
		_ = later.Process.Kill()
		_ = later.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if !seen {
			t.Fatal("it was missed")
		}
	}
	if p, ok := Look(sleeper.Process.Pid); !ok || p.Parent != os.Getpid() || p.Ended || p.Born == 0 {
		t.Errorf("%+v %v", p, ok)
	}
	if err := sleeper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = sleeper.Wait()
	if p, ok := Look(sleeper.Process.Pid); ok {
		t.Errorf("who was waited for is still there: %+v", p)
	}
}
