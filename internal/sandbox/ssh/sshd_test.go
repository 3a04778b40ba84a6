package ssh

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hermes/internal/guard/environ"
	"hermes/internal/rigtest"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/sandboxtest"
)

// TestMain removes what tests share. A role ends the process: the tests never run in it.
func TestMain(m *testing.M) {
	if text := os.Getenv(role); text != "" {
		os.Exit(victim(text))
	}
	code := m.Run()
	if sharedDir != "" {
		_ = os.RemoveAll(sharedDir)
	}
	os.Exit(code)
}

var (
	sharedOnce sync.Once
	sharedDir  string
	sharedErr  error
	sharedSum  string
)

// helper builds the small program that runs inside, once.
func helper(t testing.TB) (path, sum string) {
	t.Helper()
	sharedOnce.Do(func() {
		if sharedDir, sharedErr = os.MkdirTemp("", "hermes-ssh-"); sharedErr != nil {
			return
		}
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(sharedDir, "runner"), "hermes/cmd/runner")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			sharedErr = fmt.Errorf("%w: %s", err, out)
			return
		}
		text, err := os.ReadFile(filepath.Join(sharedDir, "runner"))
		digest := sha256.Sum256(text)
		sharedSum, sharedErr = hex.EncodeToString(digest[:]), err
	})
	if sharedErr != nil {
		t.Fatal(sharedErr)
	}
	return filepath.Join(sharedDir, "runner"), sharedSum
}

// server is a real sshd on loopback with an account of its own.
type server struct {
	t      testing.TB
	dir    string // of the server and of the client's settings
	home   string // of the account
	user   string
	port   int
	cmd    *exec.Cmd
	config string // sshd_config
	client string // ssh_config
	known  string // known_hosts
	key    string
	log    *rigtest.Buffer // what the server says
}

// options of a server.
type options struct {
	shell  string // of the account; empty: bash
	mount  string // shell text that is run in the server's mount namespace before it starts; needs root
	more   string // lines for sshd_config
	client string // lines for ssh_config
	known  bool   // the host key is known to the client
}

// uid is an ordinary user that exists only in the server's own view of /etc/passwd.
const uid = 64711

// serve starts a server. As root the account is an ordinary user that only the server knows of; else it is whoever runs the test.
func serve(t testing.TB, o options) *server {
	t.Helper()
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		if sshd = "/usr/sbin/sshd"; !isFile(sshd) {
			rigtest.Need(t, "sshd")
		}
	}
	for _, name := range []string{"ssh", "ssh-keygen", "unshare"} {
		if _, err := exec.LookPath(name); err != nil {
			rigtest.Need(t, name)
		}
	}
	root := os.Getuid() == 0
	if !root && (o.shell != "" || o.mount != "") {
		rigtest.Need(t, "root, for an account of its own")
	}
	dir, err := os.MkdirTemp("/tmp", "hs-") // the account has to get at its home
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, dir: dir, home: filepath.Join(dir, "home"), user: "hermestest", log: &rigtest.Buffer{}}
	s.config, s.client, s.known, s.key = filepath.Join(dir, "sshd_config"), filepath.Join(dir, "ssh_config"), filepath.Join(dir, "known"), filepath.Join(dir, "key")
	t.Cleanup(func() {
		s.stop()
		_ = os.RemoveAll(dir)
	})
	s.must(os.Chmod(dir, 0o755))
	s.must(os.MkdirAll(filepath.Join(s.home, ".ssh"), 0o700))
	s.keygen("key")
	s.keygen("host")
	pub, err := os.ReadFile(s.key + ".pub")
	s.must(err)
	s.must(os.WriteFile(filepath.Join(s.home, ".ssh", "authorized_keys"), pub, 0o600))
	args := []string{sshd, "-D", "-e", "-f", s.config}
	if root {
		args = s.account(o, args)
	} else {
		s.user, s.home = os.Getenv("USER"), os.Getenv("HOME")
		if s.user == "" {
			out, _ := exec.Command("id", "-un").Output()
			s.user = strings.TrimSpace(string(out))
		}
	}
	s.port = freePort(t)
	authorized := filepath.Join(dir, "home", ".ssh", "authorized_keys")
	s.must(os.WriteFile(s.config, []byte(fmt.Sprintf(`%sPort %d
ListenAddress 127.0.0.1
HostKey %s
AuthorizedKeysFile %s
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
PrintMotd no
MaxStartups 100
LogLevel VERBOSE
`, o.more, s.port, filepath.Join(dir, "host"), authorized)), 0o600))
	s.must(os.WriteFile(s.client, []byte(fmt.Sprintf(`%sHost *
  IdentityFile %s
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile %s
  GlobalKnownHostsFile /dev/null
`, o.client, s.key, s.known)), 0o600))
	if o.known {
		s.learn()
	}
	s.start(args)
	return s
}

// account makes the server see an ordinary user, in a mount namespace of its own.
func (s *server) account(o options, args []string) []string {
	shell := o.shell
	if shell == "" {
		shell = "/bin/bash"
	}
	s.must(os.MkdirAll("/run/sshd", 0o755))
	// All of /etc is a copy: a mount on one of its files would be gone once somebody replaced that file.
	etc := filepath.Join(s.dir, "etc")
	s.must(os.Mkdir(etc, 0o755))
	if out, err := exec.Command("sh", "-ec", rigtest.CopyEtc, "sh", etc).CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	s.append(filepath.Join(etc, "passwd"), fmt.Sprintf("%s:x:%d:%d::%s:%s\n", s.user, uid, uid, s.home, shell))
	s.append(filepath.Join(etc, "shadow"), s.user+":*:19000:0:99999:7:::\n")
	for _, name := range []string{s.home, filepath.Join(s.home, ".ssh"), filepath.Join(s.home, ".ssh", "authorized_keys")} {
		s.must(os.Chown(name, uid, uid))
	}
	script := "mount --bind " + etc + " /etc && "
	if o.mount != "" {
		script += strings.ReplaceAll(o.mount, "HOME", s.home) + " && "
	}
	return append([]string{"unshare", "-m", "--propagation", "private", "sh", "-c", script + `exec "$@"`, "sh"}, args...)
}

func (s *server) append(name, line string) {
	s.t.Helper()
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	s.must(err)
	_, err = f.WriteString(line)
	s.must(errors.Join(err, f.Close()))
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

func (s *server) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *server) keygen(name string) {
	s.t.Helper()
	for _, old := range []string{name, name + ".pub"} {
		_ = os.Remove(filepath.Join(s.dir, old))
	}
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(s.dir, name)).CombinedOutput(); err != nil {
		s.t.Fatalf("ssh-keygen: %v: %s", err, out)
	}
}

// learn makes the host key known to the client.
func (s *server) learn() {
	s.t.Helper()
	pub, err := os.ReadFile(filepath.Join(s.dir, "host.pub"))
	s.must(err)
	fields := strings.Fields(string(pub))
	s.must(os.WriteFile(s.known, []byte(fmt.Sprintf("[127.0.0.1]:%d %s %s\n", s.port, fields[0], fields[1])), 0o600))
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func (s *server) start(args []string) {
	s.t.Helper()
	s.cmd = exec.Command(args[0], args[1:]...)
	s.cmd.Stderr = s.log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	s.must(s.cmd.Start())
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(s.port))
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(until) {
			s.t.Fatalf("sshd does not answer: %s", s.log)
		}
	}
}

// again starts the server anew, on the same port.
func (s *server) again() {
	args := s.cmd.Args
	s.stop()
	s.start(args)
}

// stop ends the server with its sessions.
func (s *server) stop() {
	if s.cmd == nil {
		return
	}
	for _, pid := range s.sessions() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.cmd = nil
}

// sessions lists the server's processes for connections, the ones that hold them first.
func (s *server) sessions() (out []int) {
	parents := map[int][]int{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(f) > 1 {
			parent, _ := strconv.Atoi(f[1])
			parents[parent] = append(parents[parent], pid)
		}
	}
	for next := []int{s.cmd.Process.Pid}; len(next) > 0; {
		pid := next[0]
		next = next[1:]
		for _, child := range parents[pid] {
			if name, _ := os.ReadFile("/proc/" + strconv.Itoa(child) + "/comm"); strings.HasPrefix(string(name), "sshd") {
				out, next = append(out, child), append(next, child)
			}
		}
	}
	return out
}

// backend returns a backend that goes to the server.
func (s *server) backend(change ...func(*Config)) *Backend {
	s.t.Helper()
	c := Config{
		Host: "127.0.0.1", User: s.user, Port: int64(s.port), Search: os.Getenv("PATH"), Env: environment("HOME=" + s.dir), File: s.client, State: "",
		Log: func(text string) { s.t.Error(text) },
		Runner: func(goos, goarch string) (Program, bool) {
			if goos != "linux" || goarch != "amd64" {
				return Program{}, false
			}
			path, sum := helper(s.t)
			return Program{path, sum}, true
		},
	}
	for _, f := range change {
		f(&c)
	}
	return New(c)
}

// environment is one for the client itself.
func environment(pairs ...string) environ.List {
	list, _ := environ.New(environ.Config{}).Build(environ.Request{
		Surface: environ.Engine, Base: environ.Parse(append([]string{"PATH=" + os.Getenv("PATH")}, pairs...)),
	})
	return list
}

// spec returns what a sandbox of a test is made of: it starts in the home there.
func (s *server) spec() sandbox.Spec {
	spec := sandboxtest.Spec(s.t, s.home)
	spec.Env = environ.List{}
	return spec
}

// open opens a sandbox that is closed at the end.
func (s *server) open(change ...func(*Config)) sandbox.Sandbox {
	s.t.Helper()
	box, err := s.backend(change...).Open(context.Background(), s.spec())
	if err != nil {
		s.t.Fatalf("%v\n%s", err, s.log)
	}
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := box.Close(ctx); err != nil {
			s.t.Error(err)
		}
	})
	return box
}

func run(t testing.TB, box sandbox.Sandbox, text string) (sandbox.Status, string) {
	t.Helper()
	var out bytes.Buffer
	st, err := box.Run(context.Background(), sandbox.Command{Text: text, Stdout: &out, Stderr: &out})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return st, out.String()
}

func noRunner(c *Config) { c.Runner = nil }

func quiet(c *Config) { c.Log = nil }
