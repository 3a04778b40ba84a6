package ssh

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/rigtest"
	"hermes/internal/sandbox"
)

// refused opens a sandbox that must not open, and looks at what is said.
func (s *server) refused(want []string, change ...func(*Config)) error {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	box, err := s.backend(change...).Open(ctx, s.spec())
	if err == nil {
		_ = box.Close(ctx)
		s.t.Fatal("it opened")
	}
	var degraded *sandbox.DegradedError
	if !errors.As(err, &degraded) || degraded.Remedy == "" {
		s.t.Fatalf("%T without a remedy: %v", err, err)
	}
	text := err.Error() + "\n" + degraded.Remedy
	for _, w := range want {
		if !strings.Contains(text, w) {
			s.t.Errorf("nothing of %q in: %s", w, text)
		}
	}
	return err
}

// fingerprint returns what ssh-keygen says of the server's key.
func (s *server) fingerprint() string {
	s.t.Helper()
	out, err := exec.Command("ssh-keygen", "-lf", filepath.Join(s.dir, "host.pub")).Output()
	s.must(err)
	return strings.Fields(string(out))[1]
}

// Weak point 15: a key that is shown for the first time is never accepted unasked.
func TestWeak15_UnknownHostKey(t *testing.T) {
	s := serve(t, options{})
	s.refused([]string{s.fingerprint(), "ssh-ed25519", "nobody can be asked", "ssh-keygen -lf"})
	s.refused([]string{s.fingerprint(), "not accepted"}, func(c *Config) {
		c.Confirm = func(context.Context, HostKey) (bool, error) { return false, nil }
	})
	s.refused([]string{"not answered: gone"}, func(c *Config) {
		c.Confirm = func(context.Context, HostKey) (bool, error) { return true, errors.New("gone") }
	})
	if text, err := os.ReadFile(s.known); err == nil {
		t.Errorf("kept: %q", text)
	}
	if strings.Contains(s.log.String(), "Accepted publickey") {
		t.Error("it logged in to a machine that was not accepted")
	}
	s.must(os.WriteFile(s.known, []byte("other.example ssh-ed25519 AAAA"), 0o600)) // without a line feed at its end
	asked := 0
	yes := func(c *Config) {
		c.Confirm = func(_ context.Context, k HostKey) (bool, error) {
			asked++
			if k.Fingerprint != s.fingerprint() || k.Type != "ssh-ed25519" || k.Known != s.known || k.Host != fmt.Sprintf("%s@127.0.0.1:%d", s.user, s.port) {
				t.Errorf("%+v", k)
			}
			return true, nil
		}
	}
	for range 2 {
		if _, out := run(t, s.open(yes), "echo hi"); out != "hi\n" {
			t.Errorf("%q", out)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	text, _ := os.ReadFile(s.known)
	if lines := strings.Split(strings.TrimSpace(string(text)), "\n"); len(lines) != 2 {
		t.Errorf("kept: %q", text)
	}
}

// A key that is not the one that was accepted is refused, also when it changes between the question and the connection.
func TestChangedHostKey(t *testing.T) {
	s := serve(t, options{known: true})
	s.open()
	s.keygen("host")
	s.again()
	never := func(c *Config) {
		c.Confirm = func(context.Context, HostKey) (bool, error) {
			t.Error("asked")
			return true, nil
		}
	}
	s.refused([]string{"has changed", fmt.Sprintf("ssh-keygen -R '[127.0.0.1]:%d'", s.port)}, never)
	s.must(os.Remove(s.known))
	s.refused([]string{"has changed"}, func(c *Config) {
		c.Confirm = func(context.Context, HostKey) (bool, error) {
			s.keygen("host")
			s.again()
			return true, nil
		}
	})
}

// Nothing is typed in place of the owner, and nobody waits for it.
func TestPassword(t *testing.T) {
	for _, how := range []string{"PasswordAuthentication yes\nPubkeyAuthentication no\n", "KbdInteractiveAuthentication yes\nPubkeyAuthentication no\n"} {
		s := serve(t, options{known: true, more: how, client: "Host *\n  PreferredAuthentications password,keyboard-interactive\n"})
		s.refused([]string{"no key was accepted", "nothing is typed", "ssh-copy-id", "ssh-add"})
	}
}

func TestUnreachable(t *testing.T) {
	s := serve(t, options{known: true})
	s.refused([]string{"Connection refused", "Is the machine up"}, func(c *Config) { c.Port = int64(freePort(t)) })
	s.refused([]string{"terminal.ssh_host"}, func(c *Config) { c.Host = "" })
	s.refused([]string{"Look at terminal.ssh_host"}, func(c *Config) { c.Host = "no-such-host.invalid" })
	b := s.backend(func(c *Config) { c.Program = "no-such-ssh" })
	if _, err := b.Open(t.Context(), s.spec()); err == nil || !strings.Contains(err.Error(), "no-such-ssh") {
		t.Errorf("%v", err)
	}
}

// What ssh could read as an option never reaches it.
func TestOptionInjection(t *testing.T) {
	s := serve(t, options{known: true})
	trap := filepath.Join(t.TempDir(), "trap")
	for _, change := range []func(*Config){
		func(c *Config) { c.Host = "-oProxyCommand=touch " + trap },
		func(c *Config) { c.Host = "-oProxyCommand=touch${IFS}" + trap },
		func(c *Config) { c.User = "-oProxyCommand=touch " + trap },
		func(c *Config) { c.Host = "a b" },
		func(c *Config) { c.Host = "h`touch " + trap + "`" },
		func(c *Config) { c.Key = "-oProxyCommand=touch " + trap },
	} {
		if box, err := s.backend(change).Open(t.Context(), s.spec()); err == nil {
			_ = box.Close(t.Context())
			if b := s.backend(change); b.conf.Key == s.key || b.conf.Key == "" { // a key is a file whatever its name is
				t.Errorf("it opened: %+v", b.conf)
			}
		}
	}
	if _, err := os.Stat(trap); err == nil {
		t.Error("a name was run")
	}
}

// The owner's ssh_config works: an alias with settings that would get in the way elsewhere, and a jump host, each of whose keys
// is asked about in its turn.
func TestJump(t *testing.T) {
	jump := serve(t, options{})
	s := serve(t, options{})
	settings := fmt.Sprintf(`Host far
  HostName 127.0.0.1
  Port %d
  User %s
  ProxyJump near
  RemoteCommand echo no
  RequestTTY yes
  LocalForward 127.0.0.1:%d 127.0.0.1:1
  ControlMaster auto
  ControlPath %s/owners
  StrictHostKeyChecking no
  PermitLocalCommand yes
  LocalCommand touch %s/local
Host near
  HostName 127.0.0.1
  Port %d
  User %s
  IdentityFile %s
`, s.port, s.user, freePort(t), s.dir, s.dir, jump.port, jump.user, jump.key)
	text, err := os.ReadFile(s.client)
	s.must(err)
	s.must(os.WriteFile(s.client, append([]byte(settings), text...), 0o600))
	alias := func(c *Config) { c.Host, c.User, c.Port = "far", "", 0 }
	s.refused([]string{jump.fingerprint(), "near"}, alias)
	var asked []string
	box := s.open(alias, func(c *Config) {
		c.Confirm = func(_ context.Context, k HostKey) (bool, error) {
			asked = append(asked, k.Fingerprint)
			return true, nil
		}
	})
	if len(asked) != 2 || asked[0] != jump.fingerprint() || asked[1] != s.fingerprint() {
		t.Errorf("%q", asked)
	}
	if _, out := run(t, box, "echo $0 hi"); !strings.HasSuffix(out, " hi\n") {
		t.Errorf("%q", out)
	}
	if !strings.Contains(jump.log.String(), "Accepted publickey") || !strings.Contains(s.log.String(), "Accepted publickey") {
		t.Error("it did not go over the jump host")
	}
	for _, name := range []string{"owners", "local"} {
		if _, err := os.Lstat(filepath.Join(s.dir, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
}

// The owner's agent does not go there, whatever ssh_config says.
func TestNoAgent(t *testing.T) {
	if _, err := exec.LookPath("ssh-agent"); err != nil {
		rigtest.Need(t, "ssh-agent")
	}
	s := serve(t, options{known: true, client: "Host *\n  ForwardAgent yes\n  ForwardX11 yes\n"})
	socket := filepath.Join(s.dir, "agent")
	agent := exec.Command("ssh-agent", "-D", "-a", socket)
	s.must(agent.Start())
	t.Cleanup(func() {
		_ = agent.Process.Kill()
		_ = agent.Wait()
	})
	for until := time.Now().Add(10 * time.Second); !isSocket(socket) && time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
	}
	for _, change := range [][]func(*Config){{}, {noRunner, quiet}} {
		box := s.open(append(change, func(c *Config) { c.Env = environment("SSH_AUTH_SOCK=" + socket) })...)
		if _, out := run(t, box, `echo "[$SSH_AUTH_SOCK$DISPLAY]"; ls -d /tmp/ssh-*/agent.* 2>/dev/null | while read -r f; do [ -O "$f" ] && echo "$f"; done; true`); out != "[]\n" {
			t.Errorf("%q", out)
		}
	}
}

func isSocket(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode()&os.ModeSocket != 0
}
