package ssh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/sandbox"
	"hermes/internal/sandbox/sandboxtest"
)

// cutting runs commands while their connection is cut at random points: nothing runs twice, nothing is left, and what is not
// known is told.
func cutting(t *testing.T, rounds int, change ...func(*Config)) {
	if testing.Short() {
		rounds = min(rounds, 10)
	}
	s := serve(t, options{known: true})
	mark := fmt.Sprintf("8%07d", rand.IntN(10_000_000))
	counter := filepath.Join(s.home, "counter")
	box := s.open(append(change, quiet)...)
	inner, ok := box.(*place)
	if !ok {
		inner = box.(*withFiles).place
	}
	wholes, unknown := 0, 0
	ids := map[string]string{}
	for i := range rounds {
		id := fmt.Sprintf("id-%d-", i)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			text := `echo ` + id + ` >>` + counter + `; (setsid sleep ` + mark + ` &); sleep 0.1`
			st, err := box.Run(context.Background(), sandbox.Command{Text: text})
			var broken *sandbox.BrokenError
			switch {
			case err == nil && st.Code == 0:
				ids[id] = "whole"
			case errors.As(err, &broken):
				ids[id] = "unknown"
				if text := err.Error(); !strings.Contains(text, "not known") && !strings.Contains(text, "connection") {
					t.Errorf("it does not tell: %s", text)
				}
			default:
				t.Errorf("%+v, %v", st, err)
			}
		}()
		time.Sleep(time.Duration(rand.IntN(400)) * time.Millisecond)
		switch i % 3 {
		case 0: // the client's end
			inner.mu.Lock()
			pid := inner.link.process.Pid()
			inner.mu.Unlock()
			kill(pid)
		case 1: // the server's end
			for _, pid := range s.sessions() {
				kill(pid)
			}
		case 2: // what holds the connection there, which runs as the account
			if all := s.sessions(); len(all) > 0 {
				kill(all[len(all)-1])
			}
		}
		<-ended
		if ids[id] == "whole" {
			wholes++
		} else {
			unknown++
		}
	}
	text, err := os.ReadFile(counter)
	if err != nil && unknown < rounds {
		t.Error(err)
	}
	for id, what := range ids {
		n := strings.Count(string(text), id+"\n")
		if n > 1 || what == "whole" && n != 1 {
			t.Errorf("%s (%s) ran %d times", id, what, n)
		}
	}
	t.Logf("%d rounds: %d ran to their end, of %d it is not known", rounds, wholes, unknown)
	if st, err := box.Run(t.Context(), sandbox.Command{Argv: []string{"true"}}); err != nil || st.Code != 0 {
		if st, err = box.Run(t.Context(), sandbox.Command{Argv: []string{"true"}}); err != nil || st.Code != 0 {
			t.Errorf("afterwards: %+v, %v", st, err)
		}
	}
	if err := box.Close(t.Context()); err != nil {
		t.Error(err)
	}
	for until := time.Now().Add(15 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		found := sandboxtest.Running(mark)
		if len(found) == 0 {
			break
		}
		if time.Now().After(until) {
			t.Errorf("still running: %q", found)
			break
		}
	}
}

// Weak point 2: a command is never run twice.
func TestWeak2_Cut(t *testing.T) { cutting(t, 100) }

func TestWeak2_CutPlain(t *testing.T) { cutting(t, 20, noRunner) }

// What was cut while nothing ran is made again unseen, with what lasted; what was not persistent is told as broken.
func TestReconnect(t *testing.T) {
	s := serve(t, options{known: true})
	box := s.open(quiet)
	run(t, box, "export A=kept; cd /usr")
	for _, pid := range s.sessions() {
		kill(pid)
	}
	time.Sleep(200 * time.Millisecond)
	if _, out := run(t, box, "echo $A $PWD"); out != "kept /usr\n" {
		t.Errorf("%q", out)
	}
	spec := s.spec()
	spec.Persistent = false
	once, err := s.backend(quiet).Open(t.Context(), spec)
	s.must(err)
	for _, pid := range s.sessions() {
		kill(pid)
	}
	time.Sleep(200 * time.Millisecond)
	var broken *sandbox.BrokenError
	if _, err := once.Run(t.Context(), sandbox.Command{Text: "true"}); !errors.As(err, &broken) {
		t.Errorf("%v", err)
	}
	s.must(once.Close(t.Context()))
	// The server is gone for good: that is told, and again when it is back.
	s.stop()
	time.Sleep(200 * time.Millisecond)
	if _, err := box.Run(t.Context(), sandbox.Command{Text: "true"}); !errors.As(err, &broken) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("%v", err)
	}
}

// role is how the test binary is told to be a process that is killed.
const role = "HERMES_TEST_SSH_ROLE"

// victim opens a sandbox, leaves things running in it, and waits to be killed.
func victim(text string) int {
	var c struct {
		Conf Config
		Home string
		Mark string
	}
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return 1
	}
	conf := c.Conf
	conf.Env = environment()
	if path := os.Getenv("HERMES_TEST_RUNNER"); path != "" {
		conf.Runner = func(goos, goarch string) (Program, bool) {
			path, sum, _ := strings.Cut(path, "=")
			return Program{path, sum}, goos == "linux" && goarch == "amd64"
		}
	}
	var t testing.T
	spec := sandboxtest.Spec(&t, c.Home)
	spec.Env = sandbox.Spec{}.Env
	box, err := New(conf).Open(context.Background(), spec)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	_, err = box.Run(context.Background(), sandbox.Command{Text: "(setsid sleep " + c.Mark + " &); sleep " + c.Mark})
	fmt.Println(err)
	return 1
}

// Whoever kills this program with -9 leaves nothing running there, and no connection.
func TestKilled(t *testing.T) {
	s := serve(t, options{known: true})
	path, sum := helper(t)
	for _, how := range []string{path + "=" + sum, ""} {
		mark := fmt.Sprintf("7%07d", rand.IntN(10_000_000))
		b := s.backend()
		text, err := json.Marshal(map[string]any{
			"Conf": map[string]any{"Host": b.conf.Host, "User": b.conf.User, "Port": b.conf.Port, "Search": b.conf.Search, "File": b.conf.File},
			"Home": s.home, "Mark": mark,
		})
		s.must(err)
		self, err := os.Executable()
		s.must(err)
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), role+"="+string(text), "HERMES_TEST_RUNNER="+how)
		cmd.Stderr = os.Stderr
		s.must(cmd.Start())
		running := func() int { return len(sandboxtest.Running("sleep " + mark)) }
		for until := time.Now().Add(20 * time.Second); running() < 2 && time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		}
		if running() < 2 {
			t.Error("it never ran")
		}
		kill(cmd.Process.Pid)
		_ = cmd.Wait()
		for until := time.Now().Add(15 * time.Second); running() > 0; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(until) {
				t.Errorf("still running: %q", sandboxtest.Running(mark))
				break
			}
		}
		if found := sandboxtest.Running(s.client); len(found) > 0 {
			time.Sleep(500 * time.Millisecond)
			if found = sandboxtest.Running(s.client); len(found) > 0 {
				t.Errorf("connections that stay: %q", found)
			}
		}
	}
}
