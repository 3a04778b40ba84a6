package native_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"hermes/internal/guard/scope"
)

// A process that waits for any policy has seen to the system already. It is used only while that would be seen to the same: what
// became private in between stays closed.
func TestBlank(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("an ordinary user reads none of it anywhere")
	}
	dir, err := os.MkdirTemp("/etc", "hermes-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	public := filepath.Join(dir, "public")
	write(t, public, "anybody's")
	for _, path := range []string{dir, public} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s, conf := spec(t)
	conf.Probe, s.BestEffort = []string{}, os.Getenv(kernelVariable) != ""
	b := backend(t, conf)
	waits := func() bool {
		_, blank := b.Waiting()
		return blank
	}
	blanks := func() int {
		_, blanks := b.Used()
		return blanks
	}
	last := 0
	read := func() string { // by a session of its own
		last++
		s.Session, _ = scope.ParseSession(s.Session.Profile(), "test", strconv.Itoa(last))
		p := open(t, b, s)
		defer p.Close(context.Background())
		out, _ := run(t, p, "cat "+public+" 2>/dev/null")
		return out
	}
	for range 2 { // from the second time on changes are watched for
		if out := read(); out != "anybody's" || !soon(waits) {
			t.Fatalf("%q, a process waits: %v", out, waits())
		}
	}
	used := blanks()
	if out := read(); out != "anybody's" || blanks() != used+1 {
		t.Errorf("%q, of what waits %d were used", out, blanks()-used)
	}
	for _, mode := range []os.FileMode{0o700, 0o755} {
		if !soon(waits) {
			t.Fatal("no process waits")
		}
		used = blanks()
		if err := os.Chmod(public, mode); err != nil {
			t.Fatal(err)
		}
		if out := read(); out == "anybody's" != (mode == 0o755) || blanks() != used {
			t.Errorf("with %v: %q, of what waits %d were used", mode, out, blanks()-used)
		}
	}
	if os.Getenv(kernelVariable) == "" {
		aged(t, "5.10", "TestBlank")
	}
}

// What the host unmounts is not kept in use by a process that waits for the next opening.
func TestBlankLetsGo(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("hermes-test", dir, "tmpfs", 0, ""); err != nil {
		t.Skipf("skipped: needs the right to mount: %v", err)
	}
	mounted := true
	t.Cleanup(func() {
		if mounted {
			_ = unix.Unmount(dir, unix.MNT_DETACH)
		}
	})
	s, conf := spec(t)
	conf.Probe, s.BestEffort = []string{}, os.Getenv(kernelVariable) != ""
	b := backend(t, conf)
	p := open(t, b, s)
	if out, code := run(t, p, "true"); code != 0 || !soon(func() bool { _, blank := b.Waiting(); return blank }) {
		t.Fatalf("%q, or no process waits", out)
	}
	holders := func() (n int) { // of what this test started
		for _, pid := range below(os.Getpid()) {
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", pid))
			if strings.Contains(string(text), "/.old"+dir+" ") {
				n++
			}
		}
		return n
	}
	if !soon(func() bool { return holders() == 1 }) {
		t.Fatalf("%d processes see the mount", holders())
	}
	if err := unix.Unmount(dir, 0); err != nil {
		t.Fatal(err)
	}
	mounted = false
	if !soon(func() bool { return holders() == 0 }) {
		t.Errorf("%d processes hold what was unmounted", holders())
	}
	if out, code := run(t, p, "echo fine"); code != 0 || out != "fine" {
		t.Errorf("the open one: %d %q", code, out)
	}
	if !soon(func() bool { _, blank := b.Waiting(); return blank }) {
		t.Error("no other one waits")
	}
}

// Who opens and closes the same again and again does not have it built twice: what is being made for the next opening is waited for.
func TestOpenedAgainAtOnce(t *testing.T) {
	s, conf := spec(t)
	conf.Probe = []string{}
	b := backend(t, conf)
	for turn := range 6 {
		before, _ := b.Used()
		p, err := b.Open(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if used, _ := b.Used(); turn >= 2 && used != before+1 {
			t.Errorf("turn %d: built anew", turn)
		}
		if out, code := run(t, p, "echo $$"); code != 0 {
			t.Errorf("turn %d: %s", turn, out)
		}
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}
