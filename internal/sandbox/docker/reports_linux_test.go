package docker_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/sandbox"
	"hermes/internal/sandbox/docker"
	"hermes/internal/sandbox/docker/plan"
)

// Keys and logins of the owner's home can be neither read nor changed by commands, whatever a list of paths might have forgotten:
// nothing of it is there (weak points 10 and 12).
func TestWeakPoint12KeysOfTheHome(t *testing.T) {
	r := rootful(t)
	home := t.TempDir()
	const mark = "planted-in-a-home-51c0"
	for _, name := range []string{".ssh/id_ed25519", ".aws/credentials", ".netrc", ".env.prod", ".env.bak", ".codex/auth.json", ".claude/.credentials.json",
		".gitconfig", ".config/systemd/user/a.service"} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(mark), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := r.conf(t, kept())
	c.Home = home
	box := open(t, r.backend(t, c), spec(t))
	// The scan finds what is there.
	if got := say(t, box, "echo "+mark+" >/workspace/own; grep -rslF "+mark+" / --exclude-dir=proc --exclude-dir=sys; ls -d "+home+" 2>&1; :"); got != "/workspace/own\nls: cannot access '"+home+"': No such file or directory" {
		t.Errorf("found inside: %q", got)
	}
}

// Nothing of this process' environment is inside, listed as secret or not, and no variable of it decides what is (weak points 13
// and 14), with the helper and without.
func TestWeakPoint13Environment(t *testing.T) {
	const mark = "value-that-stays-outside"
	for _, name := range []string{"USER_PASS", "UNLISTED_THING", "OPENAI_API_KEY", "_HERMES_FORCE_OPENAI_API_KEY", "_HERMES_FORCE_UNLISTED", "AWS_SESSION_TOKEN", "HTTPS_PROXY"} {
		t.Setenv(name, mark)
	}
	r := rootful(t)
	for what, c := range map[string]docker.Config{"helper": r.conf(t, kept()), "exec": r.plainly(t)} {
		box := open(t, r.backend(t, c), spec(t))
		if got := say(t, box, `env; for f in /proc/[0-9]*/environ; do tr '\0' '\n' <$f; done 2>/dev/null; :`); !strings.Contains(got, "PATH=") || strings.Contains(got, mark) {
			t.Errorf("%s: %s", what, got)
		}
	}
}

// Every container that is started has no network where none is asked for, those that only try something as well (public report
// 47), and only Hermes' own is mounted (49; see TestNothingOfTheHost).
func TestReport47NoNetworkAtAll(t *testing.T) {
	r := rootful(t)
	dir := t.TempDir()
	program, calls := filepath.Join(dir, "docker"), filepath.Join(dir, "calls")
	text := "#!/bin/bash\nprintf '%s\\0' \"$*\" >>" + calls + "\nexec docker \"$@\"\n"
	if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, s := range []func() docker.Config{
		func() docker.Config { return r.conf(t, hardened()) }, func() docker.Config { return r.conf(t, kept()) }, func() docker.Config { return r.plainly(t) },
	} {
		c := s()
		c.Binary = program
		box := open(t, r.backend(t, c), spec(t))
		if got := say(t, box, "ls /sys/class/net"); got != "lo" {
			t.Errorf("inside: %q", got)
		}
		_ = box.Close(t.Context())
	}
	log, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for line := range strings.SplitSeq(string(log), "\x00") {
		if verb, _, _ := strings.Cut(line, " "); verb != "run" && verb != "create" {
			continue
		}
		made++
		if !strings.Contains(line, "--network=none") && !strings.Contains(line, "--network none") {
			t.Errorf("a container with a network: %s", line)
		}
	}
	if made != 3 {
		t.Errorf("%d containers were made", made)
	}
}

// A terminal's input cannot be pushed from inside (public report 53; the door itself is tried in TestHardened).
func TestReport53TerminalPush(t *testing.T) {
	r := rootful(t)
	box := open(t, r.backend(t, r.conf(t, hardened())), spec(t))
	var out strings.Builder
	s, err := box.Run(t.Context(), sandbox.Command{Text: `python3 -c 'import fcntl, termios
try: fcntl.ioctl(0, termios.TIOCSTI, b"x"); print("pushed")
except OSError as e: print("refused", e.errno)'`, Terminal: &sandbox.Size{Rows: 9, Cols: 80}, Stdin: strings.NewReader(""), Stdout: &out})
	if err != nil || s.Code != 0 || !strings.Contains(out.String(), "refused") {
		t.Errorf("%q, %+v, %v", out.String(), s, err)
	}
}

// No socket of the host leads out of a container, by name or by number, and no datagram leaves it (public report 52).
func TestReport52NoSocketOfTheHost(t *testing.T) {
	r := rootful(t)
	bus, err := net.Listen("unix", filepath.Join(t.TempDir(), "bus"))
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close()
	abstract, err := net.Listen("unix", "@hermes-test-52")
	if err != nil {
		t.Fatal(err)
	}
	defer abstract.Close()
	datagrams, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer datagrams.Close()
	script := fmt.Sprintf(`cat >/tmp/try.py <<'END'
import socket
def unix(path):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
def datagram(host, port):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.connect((host, port)); s.send(b"x")
    s.settimeout(1); s.recv(1)
for what, try_ in [("bus", lambda: unix(%q)), ("abstract", lambda: unix("\0hermes-test-52")), ("docker", lambda: unix("/var/run/docker.sock")),
                   ("system bus", lambda: unix("/run/dbus/system_bus_socket")), ("udp", lambda: datagram("127.0.0.1", %d)), ("udp out", lambda: datagram("192.0.2.1", 53))]:
    try:
        try_(); print(what, "reached")
    except OSError: pass
END
python3 /tmp/try.py`, bus.Addr().String(), datagrams.LocalAddr().(*net.UDPAddr).Port)
	for what, s := range map[string]plan.Settings{"kept": kept(), "thrown away": hardened()} {
		if got := say(t, open(t, r.backend(t, r.conf(t, s)), spec(t)), script); got != "" {
			t.Errorf("%s: %s", what, got)
		}
	}
	_ = datagrams.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if n, from, err := datagrams.ReadFrom(make([]byte, 8)); err == nil {
		t.Errorf("%d bytes came from %s", n, from)
	}
}

// A work tree whose .git/hooks is a link, to a directory or to nothing, is mounted as it is, and commands start where they should
// (public report 55; for the native sandbox see there).
func TestReport55LinkedHooks(t *testing.T) {
	r := rootful(t)
	for _, target := range []string{"../shared", "/nowhere"} {
		tree := t.TempDir()
		if err := errors.Join(os.MkdirAll(filepath.Join(tree, ".git"), 0o755), os.Mkdir(filepath.Join(tree, "shared"), 0o755), os.Symlink(target, filepath.Join(tree, ".git/hooks"))); err != nil {
			t.Fatal(err)
		}
		s := kept()
		s.HostDir, s.MountCwd = tree, true
		box := open(t, r.backend(t, r.conf(t, s)), spec(t))
		if got := say(t, box, "pwd; readlink .git/hooks; cd ..; cd - >/dev/null; pwd"); got != "/workspace\n"+target+"\n/workspace" {
			t.Errorf("%s: %q", target, got)
		}
	}
}
