package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// standAlone is a proxy that runs by itself.
type standAlone struct {
	*testing.T
	cmd  *exec.Cmd
	addr string
	out  *bufio.Reader
	errs *shown
}

// startProxy starts one, and waits until it listens.
func startProxy(t *testing.T, home string, args ...string) *standAlone {
	t.Helper()
	p := &standAlone{T: t, errs: &shown{}}
	p.cmd = exec.Command("hermes", append([]string{"egress", "proxy", "--listen", "127.0.0.1:0"}, args...)...)
	p.cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TOKEN=from-the-environment"}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out, p.cmd.Stderr = bufio.NewReader(out), p.errs
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() })
	for tries := 0; !p.errs.has("listens on "); tries++ {
		if tries > 400 {
			t.Fatalf("the proxy does not listen: %s", p.errs.String())
		}
		time.Sleep(25 * time.Millisecond)
	}
	_, rest, _ := strings.Cut(p.errs.String(), "listens on ")
	p.addr = strings.TrimRight(strings.Fields(rest)[0], ",")
	return p
}

// get fetches a page through the proxy.
func (p *standAlone) get(user *url.Userinfo, target string) (int, string) {
	p.Helper()
	tr := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: p.addr, User: user}), DisableKeepAlives: true}
	resp, err := (&http.Client{Transport: tr, Timeout: 20 * time.Second}).Get(target)
	if err != nil {
		p.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body)
}

// decision reads the next line that the proxy writes.
func (p *standAlone) decision() (d map[string]any) {
	p.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.Fatal(err)
	}
	if err := json.Unmarshal([]byte(line), &d); err != nil {
		p.Fatalf("%q: %v", line, err)
	}
	return d
}

// end asks the proxy to end, and returns its exit code.
func (p *standAlone) end() int {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

// An address on the list is reached, anything else is refused with the next step, and each is told.
func TestStandAloneProxy(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "reached") }))
	defer server.Close()
	home := t.TempDir()
	p := startProxy(t, home, "--allow", "192.0.2.0/24", "--allow", "listed.test")
	// No list can name the loopback: the server is never reached.
	for _, row := range []struct{ target, rule string }{
		{server.URL, "address/loopback"}, {"http://unlisted.test/", "egress/unlisted"}, {"http://169.254.169.254/", "address/metadata"},
	} {
		if status, body := p.get(nil, row.target); status != 403 || strings.Contains(body, "reached\n") && row.rule == "" {
			t.Errorf("%s: status %d, %q", row.target, status, body)
		}
		if d := p.decision(); d["rule"] != row.rule || d["verdict"] != "deny" || d["client"] != "anyone" || d["time"] == nil {
			t.Errorf("%s: told %v", row.target, d)
		}
	}
	// What an address carries that is nobody's business is not written down.
	p.get(nil, "http://unlisted.test/a?access_token=not-for-logs-1&q=ghp_notforlogs0123456789abcdefghijkl0123&x=y")
	if path, _ := p.decision()["path"].(string); !strings.HasPrefix(path, "/a?access_token=") || !strings.HasSuffix(path, "&x=y") || strings.Contains(path, "not-for-logs") || strings.Contains(path, "notforlogs") {
		t.Errorf("the path is told as %q", path)
	}
	if entries, _ := os.ReadDir(home); len(entries) != 0 {
		t.Errorf("without a home one was made: %v", entries)
	}
	if code := p.end(); code != 0 {
		t.Errorf("SIGTERM: exit code %d: %s", code, p.errs.String())
	}
}

// With tokens, a request says whose it is; the settings of the home count, and decisions go to its log.
func TestStandAloneProxyUsers(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "reached") }))
	defer server.Close()
	home := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write(".hermes/config.yaml", "terminal: {network_allow: ['http://of-the-home.test/x/*']}\n")
	users := write("users.txt", "alice secret-a\nbob secret-b # the other\n")
	p := startProxy(t, home, "--token-file", users, "--token-env", "TOKEN", "--allow", "http://by-hand.test/x/*")
	for _, row := range []struct {
		user   *url.Userinfo
		target string
		status int
		client string
		rule   string
	}{
		{nil, "http://unlisted.test/", 407, "unknown", "egress/token"},
		{url.UserPassword("alice", "wrong"), "http://unlisted.test/", 407, "unknown", "egress/token"},
		{url.UserPassword("alice", "secret-a"), "http://unlisted.test/", 403, "alice", "egress/unlisted"},
		{url.UserPassword("any", "secret-b"), "http://unlisted.test/", 403, "bob", "egress/unlisted"},
		{url.UserPassword("x", "from-the-environment"), "http://unlisted.test/", 403, "env", "egress/unlisted"},
		// What is listed gets as far as its path: no name is looked up.
		{url.UserPassword("bob", "secret-b"), "http://of-the-home.test/x/%2e%2e/", 403, "bob", "egress/path"},
		{url.UserPassword("bob", "secret-b"), "http://by-hand.test/x/%2e%2e/", 403, "bob", "egress/path"},
	} {
		if status, body := p.get(row.user, row.target); status != row.status {
			t.Errorf("%v %s: status %d, want %d: %s", row.user, row.target, status, row.status, body)
		}
		d := p.decision()
		if rule, _ := d["rule"].(string); d["client"] != row.client || rule != row.rule {
			t.Errorf("%v %s: told %v", row.user, row.target, d)
		}
	}
	// A connection that is open may go on for a while, and no longer.
	idle, err := net.Dial("tcp", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	if code := p.end(); code != 0 {
		t.Errorf("SIGTERM: exit code %d: %s", code, p.errs.String())
	}
	p = startProxy(t, home, "--audit")
	p.get(nil, "http://unlisted.test/")
	if code := p.end(); code != 0 {
		t.Errorf("SIGTERM: exit code %d: %s", code, p.errs.String())
	}
	log, err := exec.Command("sh", "-c", "cat "+home+"/.hermes/audit/*").CombinedOutput()
	if err != nil || !strings.Contains(string(log), `"unlisted.test:80"`) || strings.Contains(string(log), "secret-") {
		t.Errorf("%v: the audit log has %s", err, log)
	}
}
