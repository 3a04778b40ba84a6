package ssh

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/internal/guard"
	"hermes/internal/guard/egress"
	"hermes/internal/proxy"
	"hermes/internal/sandbox"
)

// only lets one name through.
type only string

func (o only) Judge(q egress.Request) egress.Ruling {
	h, err := egress.ParseHost(q.Host)
	r := egress.Ruling{Host: h, Verdict: guard.Verdict{Rule: "egress/unlisted", Reason: "not on the list"}}
	if err == nil && q.Host == string(o) {
		r.Verdict = guard.Allowed()
	}
	return r
}

func (only) Answers(egress.Host, uint16, []netip.Addr) guard.Verdict { return guard.Allowed() }

// leading opens a sandbox whose machine has a way out through this one.
func (s *server) leading(port uint16, change ...func(*Config)) sandbox.Sandbox {
	s.t.Helper()
	c := proxy.NewWithToken("far", "a-token", proxy.Options{Policy: only("good.test"), Resolve: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}})
	s.t.Cleanup(func() { _ = c.Close() })
	spec := s.spec()
	spec.Exit = &sandbox.Exit{Port: port, Listen: c.Listen}
	box, err := s.backend(change...).Open(context.Background(), spec)
	if err != nil {
		s.t.Fatalf("%v\n%s", err, s.log)
	}
	s.t.Cleanup(func() {
		if err := box.Close(context.Background()); err != nil {
			s.t.Error(err)
		}
	})
	return box
}

// ask fetches a URL through the way out and says what came.
const ask = `http_proxy=http://%s127.0.0.1:%d python3 -c 'import sys, urllib.request, urllib.error
try: print(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode())
except urllib.error.HTTPError as e: print("refused", e.code)
except OSError as e: print("nothing there")' %s`

// A machine with a way out reaches through it what the list lets through, with the token, with the runner and without; a
// connection that is made again has it again.
func TestWayOut(t *testing.T) {
	heard := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello from here") }))
	defer heard.Close()
	good := strings.Replace(heard.URL, "127.0.0.1", "good.test", 1)
	s := serve(t, options{known: true, client: "Host *\n  RemoteForward 127.0.0.1:9 127.0.0.1:9\n"})
	for what, change := range map[string][]func(*Config){"runner": {quiet}, "plain": {noRunner, quiet}} {
		t.Run(what, func(t *testing.T) {
			port := uint16(freePort(t))
			box := s.leading(port, change...)
			for _, row := range []struct{ login, url, want string }{
				{"hermes:a-token@", good, "hello from here"},
				{"hermes:a-token@", heard.URL, "refused 403"},
				{"", good, "refused 407"},
				{"hermes:wrong@", good, "refused 407"},
			} {
				if _, out := run(t, box, fmt.Sprintf(ask, row.login, port, row.url)); strings.TrimSpace(out) != row.want {
					t.Errorf("%q %s: %q, want %q", row.login, row.url, out, row.want)
				}
			}
			if means := strings.Join(box.Exposure().Means, " "); !strings.Contains(means, "way out through this machine") {
				t.Errorf("not told: %s", means)
			}
			for _, pid := range s.sessions() {
				kill(pid)
			}
			time.Sleep(200 * time.Millisecond)
			if _, out := run(t, box, fmt.Sprintf(ask, "hermes:a-token@", port, good)); strings.TrimSpace(out) != "hello from here" {
				t.Errorf("after the connection was made again: %q", out)
			}
		})
	}
}

// A server that forwards nothing is told, and commands run as before.
func TestNoForwarding(t *testing.T) {
	s := serve(t, options{known: true, more: "AllowTcpForwarding no\n"})
	var mu sync.Mutex
	var told []string
	box := s.leading(uint16(freePort(t)), func(c *Config) {
		c.Log = func(text string) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, text)
		}
	})
	if _, out := run(t, box, "echo $((6*7))"); out != "42\n" {
		t.Errorf("%q", out)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(told) != 1 || !strings.Contains(told[0], "AllowTcpForwarding") {
		t.Errorf("told %q", told)
	}
}
