package probe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCovering(t *testing.T) {
	const mounts = `20 1 0:30 / / rw,relatime - overlay overlay rw
21 20 0:31 / /proc rw - proc proc rw
22 20 254:0 /x/home /no-such-home rw - ext4 /dev/vda rw
23 22 254:0 /y /no-such-home/with\040blank rw - ext4 /dev/vda rw
`
	for path, want := range map[string]string{
		"/no-such": "/", "/no-such-home": "/no-such-home", "/no-such-home/.ssh": "/no-such-home", "/no-such-homes": "/",
		"/no-such-home/with blank/x": "/no-such-home/with blank", "/proc/no-such": "/proc",
	} {
		if got := covering(mounts, path); got != want {
			t.Errorf("%s is on %q, want %q", path, got, want)
		}
	}
	p := &probe{targets: Targets{Own: []string{"/"}}, seen: Seen{"mountinfo": mounts}}
	if !p.own("/no-such") || p.own("/no-such-home/x") {
		t.Error("what is the sandbox's own does not go by the mount")
	}
	if covering("", "/") != "" || (&probe{targets: Targets{Own: []string{"/"}}}).own("/no-such") {
		t.Error("something is the sandbox's own although nothing is known of it")
	}
}

// A socket whose path is longer than an address is reached all the same: what is taken for unreachable must be.
func TestLongSocketPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long/", 40))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := SetUp(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !answers(s.Targets.Named) {
		t.Errorf("%d bytes: not reached", len(s.Targets.Named))
	}
	if err := s.Close(); err != nil || answers(s.Targets.Named) {
		t.Errorf("after Close: %v", err)
	}
}
