package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/internal/rigtest"
)

func TestMain(m *testing.M) {
	switch os.Getenv("HOME_TEST") {
	case "":
		os.Exit(m.Run())
	case "rewrite":
		rewrite()
	case "grow":
		grow()
	case "hold":
		hold()
	}
}

// child starts this test binary in another role, on the home d.
func child(t *testing.T, d *Dir, role string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	ok(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "HOME_TEST="+role, "HOME_TEST_DIR="+d.Path())
	return cmd
}

func inChild() *Dir {
	d, err := Open(os.Getenv("HOME_TEST_DIR"))
	if err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	return d
}

// text returns a large text whose every line is the same, so that a mixture of two shows.
func text(n int) []byte { return []byte(strings.Repeat(fmt.Sprintf("%08d\n", n), 20_000)) }

func whole(b []byte) bool {
	s := string(b)
	return len(s) == 9*20_000 && s == strings.Repeat(s[:9], 20_000)
}

// rewrite replaces one file again and again, until it is killed.
func rewrite() {
	d := inChild()
	fmt.Println("ready")
	for n := 0; ; n++ {
		if err := d.WriteFile("f", text(n)); err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
	}
}

// A writer that is killed at any point leaves a whole file.
func TestKilledWriter(t *testing.T) {
	d := fresh(t)
	ok(t, d.WriteFile("f", text(0)))
	for n := range 20 {
		cmd := child(t, d, "rewrite")
		out, err := cmd.StdoutPipe()
		ok(t, err)
		ok(t, cmd.Start())
		_, err = out.Read(make([]byte, 6))
		time.Sleep(time.Duration(n) * 1700 * time.Microsecond) // any moment will do: the check holds at all of them
		ok(t, cmd.Process.Kill())
		_ = cmd.Wait()
		ok(t, err)
		got, err := d.Read("f")
		if err != nil || !whole(got) {
			t.Fatalf("after kill %d the file has %d bytes and is torn: %v", n, len(got), err)
		}
	}
	// The next writer clears away what the killed ones left, once it is old.
	entries, err := os.ReadDir(d.Path())
	ok(t, err)
	for _, e := range entries {
		old := time.Now().Add(-2 * abandoned)
		ok(t, os.Chtimes(d.Join(e.Name()), old, old))
	}
	ok(t, d.WriteFile("f", text(1)))
	if entries, _ = os.ReadDir(d.Path()); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

// grow writes and appends more than its file size limit allows.
func grow() {
	d := inChild()
	fmt.Println(d.WriteFile("f", text(2)))
	fmt.Println(d.Append("log", text(2)))
}

// Where no more fits on the disk, the old text stays and nothing else is left. A limit on file sizes stands in for the disk.
func TestNoSpace(t *testing.T) {
	bash := rigtest.Program(t, "bash")
	d := fresh(t)
	ok(t, d.WriteFile("f", []byte("old")))
	ok(t, d.Append("log", []byte("first\n")))
	cmd := child(t, d, "grow")
	cmd.Args = []string{"bash", "-c", `trap "" XFSZ; ulimit -f 16; exec "$0"`, cmd.Path}
	cmd.Path = bash
	out, err := cmd.CombinedOutput()
	ok(t, err)
	if n := strings.Count(string(out), "file too large"); n != 2 {
		t.Errorf("the child said %s", out)
	}
	if got, err := d.Read("f"); string(got) != "old" {
		t.Errorf("the file holds %d bytes, %v", len(got), err)
	}
	if got, err := d.Read("log"); string(got) != "first\n" {
		t.Errorf("the log holds %d bytes, %v", len(got), err)
	}
	if entries, _ := os.ReadDir(d.Path()); len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}
}

// Whichever step of replacing a file fails, the old text stays, the error is told and no draft is left.
func TestFaults(t *testing.T) {
	for _, step := range []string{"write", "sync", "rename"} {
		d := fresh(t)
		ok(t, d.WriteFile("f", []byte("old")))
		broken := errors.New("the disk is gone")
		d.fault = func(at string) error {
			if at == step {
				return broken
			}
			return nil
		}
		if err := d.WriteFile("f", []byte("new")); !errors.Is(err, broken) {
			t.Errorf("%s: error %v", step, err)
		}
		if err := d.WriteFile("g", []byte("new")); !errors.Is(err, broken) {
			t.Errorf("%s: error %v", step, err)
		}
		if got, err := d.Read("f"); string(got) != "old" {
			t.Errorf("%s: the file holds %q, %v", step, got, err)
		}
		if entries, _ := os.ReadDir(d.Path()); len(entries) != 1 {
			t.Errorf("%s: left behind: %v", step, entries)
		}
	}
}

// Texts that are appended at once by many stay whole.
func TestAppendTogether(t *testing.T) {
	d := fresh(t)
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for range 20 {
				if err := d.Append("log", []byte(strings.Repeat(string(rune('a'+n)), 5000)+"\n")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	got, err := d.Read("log")
	ok(t, err)
	lines := strings.Split(strings.TrimSuffix(string(got), "\n"), "\n")
	if len(lines) != 160 {
		t.Errorf("%d lines, want 160", len(lines))
	}
	for _, line := range lines {
		if line != strings.Repeat(line[:1], 5000) {
			t.Fatalf("a line is torn: %.20q…", line)
		}
	}
}

// A folder is told as it is: links are not followed, and what is missing is told.
func TestList(t *testing.T) {
	d := fresh(t)
	if _, err := d.List("f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	ok(t, d.MkdirAll("f/inner"))
	ok(t, d.WriteFile("f/a", []byte("12345")))
	ok(t, os.Symlink("a", d.Join("f/link")))
	all, err := d.List("f")
	ok(t, err)
	var got []string
	for _, info := range all {
		got = append(got, fmt.Sprint(info.Name(), " ", info.Mode().Type(), " ", info.Mode().IsRegular() && info.Size() == 5))
	}
	if want := "[a ---------- true inner d--------- false link L--------- false]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func TestRemove(t *testing.T) {
	d := fresh(t)
	ok(t, d.WriteFile("f", nil))
	ok(t, d.Remove("f"))
	if err := d.Remove("f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a second time: %v", err)
	}
	if _, err := d.Stat("f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("stat: %v", err)
	}
}
