package home

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// hold takes a lock and keeps it until it is killed.
func hold() {
	d := inChild()
	l, err := d.Lock(context.Background(), "config")
	fmt.Println(err)
	time.Sleep(time.Hour)
	_ = l.Unlock()
}

// A lock excludes other processes, says who holds it, and is free when its holder is killed.
func TestLockBetweenProcesses(t *testing.T) {
	d := fresh(t)
	cmd := child(t, d, "hold")
	out, err := cmd.StdoutPipe()
	ok(t, err)
	ok(t, cmd.Start())
	_, err = out.Read(make([]byte, 16))
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		_, err := d.Lock(ctx, "config")
		cancel()
		var held *HeldError
		if !errors.As(err, &held) || !errors.Is(err, context.DeadlineExceeded) ||
			!strings.HasPrefix(held.Holder, fmt.Sprintf("pid %d since 20", cmd.Process.Pid)) {
			t.Errorf("while it is held: %v", err)
		}
		other, err := d.Lock(context.Background(), "pairing")
		if err != nil {
			t.Errorf("another name: %v", err)
		} else {
			ok(t, other.Unlock())
		}
	}
	ok(t, cmd.Process.Kill())
	_ = cmd.Wait()
	ok(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	l, err := d.Lock(ctx, "config")
	ok(t, err)
	ok(t, l.Unlock())
	ok(t, l.Unlock())
}

// Read, change, write under a lock loses no change.
func TestLockWithinProcess(t *testing.T) {
	d := fresh(t)
	ok(t, d.WriteFile("n", nil))
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 4 {
				l, err := d.Lock(context.Background(), "n")
				if err != nil {
					t.Error(err)
					return
				}
				old, _ := d.Read("n")
				if err := d.WriteFile("n", append(old, 'x')); err != nil {
					t.Error(err)
				}
				if err := l.Unlock(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got, _ := d.Read("n"); len(got) != 64 {
		t.Errorf("%d changes of 64 are left", len(got))
	}
}

// A lock file that somebody removes does not let two in on the next file of that name.
func TestLockFileRemoved(t *testing.T) {
	d := fresh(t)
	first, err := d.Lock(context.Background(), "x")
	ok(t, err)
	ok(t, os.Rename(d.Join("locks/x.lock"), d.Join("locks/old")))
	second, err := d.Lock(context.Background(), "x")
	ok(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := d.Lock(ctx, "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("a third got in: %v", err)
	}
	ok(t, first.Unlock())
	ok(t, second.Unlock())
	for _, name := range []string{"", ".", "..", "a/b", `a\b`} {
		if _, err := d.Lock(context.Background(), name); err == nil {
			t.Errorf("lock %q: taken", name)
		}
	}
}

// A lock that is discarded leaves no file, and lets one of those in who waited.
func TestLockDiscarded(t *testing.T) {
	d := fresh(t)
	var in, most atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				l, err := d.Lock(context.Background(), "x")
				if err != nil {
					t.Error(err)
					return
				}
				if in.Add(1) > 1 {
					most.Add(1)
				}
				in.Add(-1)
				if err := errors.Join(l.Discard(), l.Discard()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := most.Load(); n > 0 {
		t.Errorf("two were in %d times", n)
	}
	if _, err := os.Stat(d.Join("locks/x.lock")); runtime.GOOS != "windows" && !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its file: %v", err)
	}
}
