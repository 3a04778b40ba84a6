package docker_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"

	"hermes/internal/guard"
	"hermes/internal/guard/egress"
	"hermes/internal/guard/exposure"
	"hermes/internal/proxy"
	"hermes/internal/sandbox"
)

// onlyGood is a policy that lets one name of the tests' through, although it is on this machine.
type onlyGood struct{}

func (onlyGood) Judge(q egress.Request) egress.Ruling {
	h, err := egress.ParseHost(q.Host)
	if err == nil && h.String() == "good.test" {
		return egress.Ruling{Host: h, Verdict: guard.Allowed()}
	}
	return egress.Ruling{Host: h, Verdict: guard.Verdict{Action: guard.Ask, Rule: "egress/unlisted", Reason: "the host is not on the list"}}
}

func (onlyGood) Answers(egress.Host, uint16, []netip.Addr) guard.Verdict { return guard.Allowed() }

// way makes a way out that leads to the name good.test, which is this machine.
func way(t testing.TB, port uint16) *sandbox.Exit {
	t.Helper()
	c := proxy.New("docker", proxy.Options{Policy: onlyGood{}, Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
		if host == "good.test" {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		}
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}})
	t.Cleanup(func() { _ = c.Close() })
	return &sandbox.Exit{Port: port, Attach: c.Attach}
}

// fetchText asks for a URL through the way out, as a program does that knows of the variables for proxies.
const fetchText = `http_proxy=http://127.0.0.1:%d python3 -c 'import sys, urllib.request, urllib.error
try: print(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode())
except urllib.error.HTTPError as e: print("refused", e.code)' %s`

// A container whose network is an allow-list has no interface; what is on the list is reached through the sockets it was given, by
// name, and nothing else is. A second session of the same container has a way out of its own.
func TestWayOut(t *testing.T) {
	for name, rig := range map[string]func(testing.TB) *rig{"docker": rootful, "podman": podman} {
		t.Run(name, func(t *testing.T) { wayOut(t, rig(t)) })
	}
}

// wayOut tries it on one engine.
func wayOut(t *testing.T, r *rig) {
	heard := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello from outside") }))
	defer heard.Close()
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(heard.URL, "http://"))
	b := r.backend(t, r.conf(t, kept()))
	for i := range uint16(2) {
		s := spec(t)
		s.Network = exposure.Network{Want: exposure.Explicitly, Asked: exposure.AllowlistNet, Allow: []string{"good.test"}}
		s.Exit = way(t, 3128+i)
		box := open(t, b, s)
		if n := box.Exposure().Network; n.Force != exposure.AllowlistNet || n.NoRoute != exposure.Shut || len(n.Allow) != 1 {
			t.Errorf("network %+v", n)
		}
		if got := say(t, box, fmt.Sprintf(fetchText, 3128+i, "http://good.test:"+port+"/")); got != "hello from outside" {
			t.Errorf("what is on the list: %q", got)
		}
		if got := say(t, box, fmt.Sprintf(fetchText, 3128+i, "http://other.test:"+port+"/")); !strings.Contains(got, "refused 403") {
			t.Errorf("what is not: %q", got)
		}
		if got := say(t, box, "cat </dev/tcp/127.0.0.1/"+port+" 2>&1; cat </dev/tcp/192.0.2.1/80 2>&1; :"); !strings.Contains(got, "refused") || !strings.Contains(got, "unreachable") {
			t.Errorf("beside the way out: %q", got)
		}
		if got := say(t, box, "cat /etc/resolv.conf; getent hosts good.test | cut -d' ' -f1"); !strings.HasPrefix(got, "nameserver 127.0.0.1\n") || !strings.HasSuffix(got, "\n127.0.0.1") {
			t.Errorf("names: %q", got)
		}
		if got := r.call(t, "inspect", "--format", "{{.HostConfig.NetworkMode}}", container(box)); got != "none" {
			t.Errorf("the engine's network is %s", got)
		}
	}
}

// A way out that was asked for by name and cannot be had is an error; by default there is then no network.
func TestWayOutThatFails(t *testing.T) {
	for _, row := range []struct {
		what string
		box  func(t *testing.T, s sandbox.Spec) (sandbox.Sandbox, error)
		exit func(t *testing.T) *sandbox.Exit
		why  string
	}{
		{"the proxy fails", func(t *testing.T, s sandbox.Spec) (sandbox.Sandbox, error) {
			r := rootful(t)
			return r.backend(t, r.conf(t, hardened())).Open(t.Context(), s)
		}, func(*testing.T) *sandbox.Exit {
			return &sandbox.Exit{Port: 3128, Attach: func(stream, names *os.File) error {
				return errors.Join(errors.New("no proxy"), stream.Close(), names.Close())
			}}
		}, "no proxy"},
		{"another kernel", func(t *testing.T, s sandbox.Spec) (sandbox.Sandbox, error) {
			r := runsc(t)
			return r.backend(t, r.conf(t, unlimited(hardened()))).Open(t.Context(), s)
		}, func(t *testing.T) *sandbox.Exit { return way(t, 3128) }, "a kernel of its own"},
		{"no helper", func(t *testing.T, s sandbox.Spec) (sandbox.Sandbox, error) {
			r := rootful(t)
			return r.backend(t, r.plainly(t)).Open(t.Context(), s)
		}, func(t *testing.T) *sandbox.Exit { return way(t, 3128) }, "without the helper"},
	} {
		t.Run(row.what, func(t *testing.T) {
			s := spec(t)
			s.Network, s.Exit = exposure.Network{Want: exposure.Explicitly, Asked: exposure.AllowlistNet}, row.exit(t)
			box, err := row.box(t, s)
			var missing *sandbox.MissingError
			if !errors.As(err, &missing) || box != nil || !strings.Contains(missing.Why, row.why) {
				t.Errorf("opened %v, %v", box, err)
			}
		})
	}
}
