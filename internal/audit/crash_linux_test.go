package audit

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary be a writer of its own, which can be killed or run out of room.
func TestMain(m *testing.M) {
	job := os.Getenv("AUDIT_TEST_JOB")
	if job == "" {
		os.Exit(m.Run())
	}
	if err := writer(job, os.Getenv("AUDIT_TEST_DIR")); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

func writer(job, dir string) error {
	switch job {
	case "full disk":
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
			return err
		}
		return untilFull(dir)
	case "file size limit":
		limit := syscall.Rlimit{Cur: 9000, Max: 9000}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			return err
		}
		return untilFull(dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	l, err := Open(root, Options{Now: time.Now, Size: 3000, Sync: SyncNever})
	if err != nil {
		return err
	}
	defer l.Close()
	count, _ := strconv.Atoi(job) // "kill": for ever
	for i := 0; i < count || job == "kill"; i++ {
		if err := l.Decide(Ref{ID: strconv.Itoa(os.Getpid())}, "echo", Decision{Verdict: "allow"}); err != nil {
			return err
		}
		fmt.Println(i + 1)
	}
	return nil
}

// untilFull writes until there is no more room, and then checks that the failed record left nothing.
func untilFull(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	l, err := Open(root, Options{Now: time.Now, Size: 1 << 30})
	if err != nil {
		return err
	}
	defer l.Close()
	written := uint64(1)
	for ; ; written++ {
		if err = l.Decide(Ref{}, strings.Repeat("x", int(written)%700), Decision{Verdict: "allow"}); err != nil {
			break
		}
	}
	r, bad := Verify(root)
	if bad != nil || r.Records != written || len(r.Problems)+len(r.Notes) > 0 {
		return fmt.Errorf("after %d records and %v: %+v, %v", written, err, r, bad)
	}
	again := l.Decide(Ref{}, strings.Repeat("x", 700), Decision{Verdict: "allow"})
	fmt.Println(written, again)
	return nil
}

func job(t *testing.T, name, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = []string{"AUDIT_TEST_JOB=" + name, "AUDIT_TEST_DIR=" + dir}
	return cmd
}

// However and whenever a writer is killed, the log is whole, and everything is in it that a writer was told is.
func TestKilledWriters(t *testing.T) {
	root, dir := folder(t)
	promised, torn := 0, 0
	for range 50 {
		cmd := job(t, "kill", dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		told := 0
		for range rand.IntN(40) {
			lines.Scan()
			told, _ = strconv.Atoi(lines.Text())
		}
		for range rand.IntN(1 << 14) {
			runtime.Gosched()
		}
		_ = cmd.Process.Kill()
		for lines.Scan() {
			if n, err := strconv.Atoi(lines.Text()); err == nil {
				told = n
			}
		}
		_ = cmd.Wait()
		promised += told
		r := verify(t, root)
		if len(r.Problems) > 0 {
			t.Fatalf("%+v", r.Problems)
		}
		torn = len(r.Notes)
	}
	decisions := 0
	for _, r := range all(t, root) {
		if r.Decision != nil {
			decisions++
		}
	}
	if decisions < promised || promised == 0 {
		t.Errorf("%d decisions, %d promised", decisions, promised)
	}
	t.Logf("%d decisions, %d promised, %d torn lines", decisions, promised, torn)
}

// Several processes and several logs of one process write at once: nothing is lost and the chain holds.
func TestWritersAtOnce(t *testing.T) {
	root, dir := folder(t)
	const each = 100
	var writers sync.WaitGroup
	for range 3 {
		writers.Go(func() {
			if out, err := job(t, strconv.Itoa(each), dir).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	mine := []*Log{begin(t, root, Options{Size: 3000}), begin(t, root, Options{Size: 3000})}
	for _, l := range append(mine, mine...) {
		writers.Go(func() {
			for range each {
				if err := l.Decide(Ref{ID: "mine"}, "echo", Decision{Verdict: "allow"}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
	r := verify(t, root)
	if len(r.Problems)+len(r.Notes) > 0 {
		t.Errorf("%+v", r)
	}
	by := map[string]int{}
	for _, one := range all(t, root) {
		if one.Decision != nil {
			by[one.ID]++
		}
	}
	if len(by) != 4 || by["mine"] != 4*each {
		t.Errorf("%v", by)
	}
	for who, n := range by {
		if who != "mine" && n != each {
			t.Errorf("%s wrote %d", who, n)
		}
	}
}

// Without room there is no record, an error that says why, and a log that is whole.
func TestFileSizeLimit(t *testing.T) {
	_, dir := folder(t)
	out, err := job(t, "file size limit", dir).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "audit decision: audit-000001.jsonl: file too large") {
		t.Errorf("%v: %s", err, out)
	}
}

// A record waits for another process's lock, but not for ever.
func TestBusy(t *testing.T) {
	root, _ := folder(t)
	l := begin(t, root, Options{})
	other, err := openLock(root, os.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.take(exclusive); err != nil {
		t.Fatal(err)
	}
	if err := l.lock.try(exclusive); err == nil || err.Error() != "audit.lock: locked by another process" {
		t.Errorf("%v", err)
	}
	other.drop()
	if err := l.lock.try(shared); err != nil {
		t.Error(err)
	}
	if err := other.try(shared); err != nil {
		t.Errorf("two readers at once: %v", err)
	}
}
