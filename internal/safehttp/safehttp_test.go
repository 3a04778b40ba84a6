package safehttp

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/internal/guard"
	"hermes/internal/guard/egress"
)

func policyOf(t testing.TB, c egress.Config) func() *egress.Policy {
	t.Helper()
	if c.Sites == nil {
		c.Sites = egress.NoSites()
	}
	p, warnings := egress.New(c)
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	return func() *egress.Policy { return p }
}

// world is a web server that stands for all public hosts: a client under test connects to it whatever public address it was
// about to reach, and what it was about to reach is kept.
type world struct {
	server  *httptest.Server
	names   *nameServer
	mu      sync.Mutex
	dialled []string
	seen    []*http.Request
	handle  func(w http.ResponseWriter, r *http.Request)
}

func newWorld(t *testing.T, answers map[string][][]string, secure bool) *world {
	t.Helper()
	w := &world{names: serveNames(t, answers)}
	handler := http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.seen = append(w.seen, r)
		w.mu.Unlock()
		if w.handle != nil {
			w.handle(out, r)
		}
	})
	if secure {
		w.server = httptest.NewTLSServer(handler)
	} else {
		w.server = httptest.NewServer(handler)
	}
	t.Cleanup(w.server.Close)
	return w
}

func (w *world) client(t *testing.T, o Options) *Client {
	t.Helper()
	if o.Policy == nil {
		o.Policy = policyOf(t, egress.Config{})
	}
	if o.Resolver == nil {
		o.Resolver = w.names.resolver()
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.connect = func(ctx context.Context, _ *net.Dialer, address string) (net.Conn, error) {
		w.mu.Lock()
		w.dialled = append(w.dialled, address)
		w.mu.Unlock()
		var d net.Dialer
		return d.DialContext(ctx, "tcp", w.server.Listener.Addr().String())
	}
	return c
}

func (w *world) reached() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.dialled)
}

// fetch returns the body, or the error.
func fetch(c *Client, url string) (string, error) {
	resp, err := c.Get(context.Background(), url)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

func refusedBy(t *testing.T, err error, rule string) {
	t.Helper()
	var d *guard.DeniedError
	if !errors.As(err, &d) || d.Verdict.Rule != rule {
		t.Errorf("%v, want a refusal by %s", err, rule)
	}
}

func ok(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "from "+r.Host) }

var public = [][]string{{"93.184.216.34"}}

func TestFetch(t *testing.T) {
	w := newWorld(t, map[string][][]string{"a.example": public, "xn--bcher-kva.example": {{"2606:4700::1"}}}, false)
	w.handle = ok
	c := w.client(t, Options{Agent: "Hermes/1"})
	for url, want := range map[string]string{"http://a.example/x": "from a.example", "http://A.example.:8080/": "from a.example:8080", "http://bücher.example/": "from xn--bcher-kva.example"} {
		if got, err := fetch(c, url); got != want || err != nil {
			t.Errorf("%s: %q %v", url, got, err)
		}
	}
	if got := w.reached(); !slices.Contains(got, "93.184.216.34:80") || !slices.Contains(got, "[2606:4700::1]:80") || !slices.Contains(got, "93.184.216.34:8080") {
		t.Errorf("reached %v", got)
	}
	if got := w.seen[0].UserAgent(); got != "Hermes/1" {
		t.Errorf("agent %q", got)
	}
}

// What is refused never leaves: no name is looked up, nothing is connected to.
func TestRefusedBeforeDNS(t *testing.T) {
	w := newWorld(t, map[string][][]string{"metadata.google.internal": public, "blocked.test": public, "printer.local": public, "localhost": public}, false)
	b := egress.NewBuilder()
	b.Rule("blocked.test", "config")
	c := w.client(t, Options{Policy: policyOf(t, egress.Config{Sites: b.Sites()})})
	for url, rule := range map[string]string{
		"http://metadata.google.internal/": "host/metadata", "http://www.blocked.test/": "site/blocked", "http://printer.local/": "host/internal", "http://localhost/": "host/internal",
		"http://169.254.169.254/": "address/metadata", "http://[::ffff:169.254.169.254]/": "address/metadata", "http://127.0.0.1/": "address/loopback", "http://0x7f.1/": "host/numeric", "http://１２７.０.０.１/": "host/numeric",
		"http://①②⑦.⓪.⓪.①/": "host/numeric", "http://local\u00adhost/": "host/internal", "http://ｌｏｃａｌｈｏｓｔ/": "host/internal", "http://127。0。0。1/": "host/numeric", "http://loc\u200bal\u2060host/": "host/internal",
		"file:///etc/passwd": "url/scheme", "unix:///run/docker.sock": "url/scheme", "http://u:p@a.example/": "url/userinfo", "http://a.example:25/": "url/port", "http://b\u00adlocked.test/": "site/blocked",
	} {
		_, err := fetch(c, url)
		refusedBy(t, err, rule)
	}
	if len(w.reached()) > 0 || len(w.names.asked) > 0 {
		t.Errorf("reached %v, looked up %v", w.reached(), w.names.asked)
	}
}

// Answers that change, mix, chain, delay and flood.
func TestAnswers(t *testing.T) {
	chain := []string{"CNAME b.example", "CNAME c.example", "CNAME d.example"}
	w := newWorld(t, map[string][][]string{
		"rebind.example": {{"93.184.216.34"}, {"169.254.169.254"}}, "mixed.example": {{"93.184.216.34", "10.0.0.1"}}, "six.example": {{"93.184.216.34", "fd00:ec2::254"}},
		"chain.example": {append(slices.Clone(chain), "93.184.216.35")}, "inward.example": {append(slices.Clone(chain), "127.0.0.1")}, "mapped.example": {{"::ffff:100.100.100.200"}},
		"nine.example": {append(many(8), "169.254.169.254")}, "many.example": {many(12)}, "huge.example": {many(300)}, "empty.example": {{}},
	}, false)
	w.handle = ok
	c := w.client(t, Options{})
	for _, row := range []struct{ url, rule, cause string }{
		{"http://mixed.example/", "address/private", ""}, {"http://six.example/", "address/metadata", "cloud metadata address"}, {"http://chain.example/", "", ""}, {"http://inward.example/", "address/loopback", ""}, {"http://mapped.example/", "address/metadata", "mapped.example -> 100.100.100.200 is"},
		{"http://nine.example/", "address/metadata", ""}, {"http://many.example/", "", ""}, {"http://huge.example/", "", "more than 256 addresses"}, {"http://empty.example/", "", "DNS resolution failed"}, {"http://nowhere.example/", "", "DNS resolution failed"},
	} {
		_, err := fetch(c, row.url)
		switch {
		case row.rule != "":
			refusedBy(t, err, row.rule)
			fallthrough
		case row.cause != "":
			if err == nil || !strings.Contains(err.Error(), row.cause) {
				t.Errorf("%s: %v, want %q", row.url, err, row.cause)
			}
		case err != nil:
			t.Errorf("%s: %v", row.url, err)
		}
	}
	for _, address := range w.reached() {
		if !strings.HasPrefix(address, "93.184.") {
			t.Errorf("reached %s", address)
		}
	}
}

// The name answers public at the first look-up and metadata afterwards: one look-up serves both the judgement and the connection.
func TestReport_N004(t *testing.T) {
	w := newWorld(t, map[string][][]string{"rebind.example": {{"93.184.216.34"}, {"169.254.169.254"}}}, false)
	w.handle = ok
	c := w.client(t, Options{})
	if _, err := fetch(c, "http://rebind.example/"); err != nil {
		t.Fatal(err)
	}
	if got := w.reached(); !slices.Equal(got, []string{"93.184.216.34:80"}) || w.names.lookups("rebind.example") != 1 {
		t.Fatalf("reached %v after %d look-ups", got, w.names.lookups("rebind.example"))
	}
	c.Close()
	_, err := fetch(c, "http://rebind.example/")
	refusedBy(t, err, "address/metadata")
	if len(w.reached()) != 1 {
		t.Errorf("reached %v", w.reached())
	}
}

func TestSlowNames(t *testing.T) {
	w := newWorld(t, map[string][][]string{"slow.example": public}, false)
	w.names.mu.Lock()
	w.names.delay = 5 * time.Second
	w.names.mu.Unlock()
	c := w.client(t, Options{Limits: Limits{Lookup: 50 * time.Millisecond}})
	if _, err := fetch(c, "http://slow.example/"); err == nil || !strings.Contains(err.Error(), "DNS resolution failed") {
		t.Errorf("%v", err)
	}
}

// The dialer itself judges what the system is about to connect to (and Control, which nobody calls then, is not set).
func TestReport_N113(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := New(Options{Policy: policyOf(t, egress.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	h, _ := egress.ParseHost("a.example")
	j := &judged{policy: c.o.Policy(), target: egress.Target{Scheme: "http", Host: h, Port: 80}}
	d := c.dialer(j.answers)
	if d.Control != nil {
		t.Error("Control is set beside ControlContext")
	}
	conn, err := d.DialContext(context.Background(), "tcp", l.Addr().String())
	if err == nil {
		conn.Close()
	}
	refusedBy(t, err, "address/loopback")
	if _, err := d.DialContext(context.Background(), "udp", l.Addr().String()); err == nil {
		t.Error("datagrams are sent")
	}
}

// Without a request that was judged nothing is dialled, whoever has got hold of the transport.
func TestDialRefuses(t *testing.T) {
	c, err := New(Options{Policy: policyOf(t, egress.Config{AllowPrivate: true})})
	if err != nil {
		t.Fatal(err)
	}
	h, _ := egress.ParseHost("127.0.0.1")
	ctx := context.WithValue(context.Background(), judgedKey{}, &judged{policy: c.o.Policy(), target: egress.Target{Scheme: "http", Host: h, Port: 80}})
	for _, row := range []struct {
		ctx           context.Context
		network, addr string
		cause         string
	}{
		{context.Background(), "tcp", "127.0.0.1:80", "nobody has judged it"}, {ctx, "unix", "/tmp/hermes.sock", "Unix socket"}, {ctx, "udp", "127.0.0.1:80", "Unix socket"}, {ctx, "tcp", "127.0.0.1:81", "was judged"}, {ctx, "tcp", "10.0.0.1:80", "was judged"},
	} {
		if conn, err := c.direct.DialContext(row.ctx, row.network, row.addr); err == nil || !strings.Contains(err.Error(), row.cause) {
			t.Errorf("%s %s: %v %v, want %q", row.network, row.addr, conn, err, row.cause)
		}
	}
	if _, err := New(Options{}); err == nil { // a client without a policy cannot be made
		t.Error("a client without a policy")
	}
	none, _ := New(Options{Policy: func() *egress.Policy { return nil }})
	_, err = fetch(none, "http://a.example/")
	refusedBy(t, err, "policy")
}

// Redirects: each hop is judged; nothing that was meant for one origin reaches another.
func TestRedirects(t *testing.T) {
	w := newWorld(t, map[string][][]string{"a.example": public, "b.example": public, "in.example": {{"10.0.0.1"}}, "files.a.example": public}, false)
	w.handle = func(out http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			code := http.StatusFound
			if r.URL.Path == "/307" {
				code = http.StatusTemporaryRedirect
			}
			out.Header().Set("Location", to)
			out.WriteHeader(code)
			return
		}
		if r.URL.Path == "/loop" {
			http.Redirect(out, r, "/loop", http.StatusFound)
			return
		}
		ok(out, r)
	}
	c := w.client(t, Options{})
	for _, row := range []struct{ to, rule string }{
		{"http://169.254.169.254/latest", "address/metadata"}, {"http://in.example/", "address/private"}, {"ftp://b.example/", "url/scheme"}, {"file:///etc/passwd", "url/scheme"}, {"javascript:alert(1)", "url/scheme"}, {"data:,x", "url/scheme"},
		{"http://u:p@b.example/", "url/userinfo"}, {"//localhost/", "host/internal"}, {"http://0x7f000001/", "host/numeric"}, {"http://b.example:22/", "url/port"}, {"http://[::ffff:7f00:1]/", "address/loopback"},
	} {
		_, err := fetch(c, "http://a.example/?to="+escape(row.to))
		refusedBy(t, err, row.rule)
	}
	if _, err := fetch(c, "http://a.example/loop"); err == nil || !strings.Contains(err.Error(), "more than 10 redirects") {
		t.Errorf("loop: %v", err)
	}
	secret := func(method, url string) (*http.Response, error) {
		req, _ := http.NewRequest(method, url, nil)
		if method == http.MethodPost {
			req, _ = http.NewRequest(method, url, strings.NewReader("body"))
		}
		for _, name := range []string{"Authorization", "X-Api-Key", "Cookie", "Proxy-Authorization", "X-Slack-Token"} {
			req.Header.Set(name, "secret")
		}
		req.Header.Set("Accept", "text/html")
		return c.HTTP().Do(req)
	}
	last := func() http.Header { return w.seen[len(w.seen)-1].Header }
	for _, row := range []struct {
		to    string
		keeps bool
	}{
		{"/same", true}, {"http://a.example:80/same", true}, {"http://b.example/", false}, {"http://files.a.example/", false}, {"http://a.example:8080/", false}, {"http://b.example/?to=" + escape("http://a.example/back"), false},
	} {
		resp, err := secret(http.MethodGet, "http://a.example/?to="+escape(row.to))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		for _, name := range []string{"Authorization", "X-Api-Key", "Cookie", "X-Slack-Token"} {
			if got := last().Get(name) != ""; got != row.keeps {
				t.Errorf("to %s: %s arrives %v", row.to, name, got)
			}
		}
		if last().Get("Accept") != "text/html" || last().Get("Referer") != "" && !row.keeps {
			t.Errorf("to %s: %v", row.to, last())
		}
	}
	if _, err := secret(http.MethodPost, "http://a.example/307?to="+escape("http://b.example/")); err == nil || !strings.Contains(err.Error(), "meant for another origin") {
		t.Errorf("a body crosses origins: %v", err)
	}
	if resp, err := secret(http.MethodPost, "http://a.example/307?to=/x"); err != nil {
		t.Errorf("a body stays at its origin: %v", err)
	} else {
		resp.Body.Close()
	}
}

func escape(s string) string {
	return strings.NewReplacer("%", "%25", "&", "%26", "#", "%23", "?", "%3F", "+", "%2B").Replace(s)
}

// The owner's own origin may be private: that one, and not by way of anything else.
func TestOrigins(t *testing.T) {
	w := newWorld(t, map[string][][]string{"llm.lan.example": {{"192.168.1.5"}}, "evil.example": public, "sneaky.example": {{"169.254.169.254"}}}, false)
	w.handle = func(out http.ResponseWriter, r *http.Request) {
		switch {
		case r.Host == "evil.example":
			http.Redirect(out, r, "http://llm.lan.example:8080/admin", http.StatusFound)
		case r.URL.Path == "/away":
			http.Redirect(out, r, "http://llm.lan.example:9090/", http.StatusFound)
		case r.URL.Path == "/slash":
			http.Redirect(out, r, "/slash/", http.StatusFound)
		default:
			ok(out, r)
		}
	}
	c := w.client(t, Options{Origins: []string{"http://llm.lan.example:8080/v1", "http://sneaky.example/", "http://127.0.0.1:11434/v1", "http://metadata.google.internal/"}})
	for _, url := range []string{"http://llm.lan.example:8080/v1/models", "http://llm.lan.example:8080/slash", "http://127.0.0.1:11434/api/tags"} {
		if _, err := fetch(c, url); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	for url, rule := range map[string]string{
		"http://llm.lan.example:9090/": "address/private", "https://llm.lan.example:8080/": "address/private", "http://evil.example/": "address/private", "http://llm.lan.example:8080/away": "address/private",
		"http://sneaky.example/": "address/metadata", "http://127.0.0.1:22/": "address/loopback", "http://metadata.google.internal/": "host/metadata",
	} {
		_, err := fetch(c, url)
		refusedBy(t, err, rule)
	}
}

// ambient is a proxy that no test may ever use: it is in the environment before anything reads it, and stays there.
const ambient = "http://203.0.113.9:3128"

func TestMain(m *testing.M) {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		if err := os.Setenv(name, ambient); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// Variables of the environment do not choose a proxy; the owner's setting does.
func TestReport_N103(t *testing.T) {
	req, _ := http.NewRequest(http.MethodGet, "http://a.example/", nil)
	if u, err := http.ProxyFromEnvironment(req); err != nil || u == nil || u.String() != ambient {
		t.Fatalf("the environment has no proxy: %v %v", u, err)
	}
	w := newWorld(t, map[string][][]string{"a.example": public}, false)
	w.handle = ok
	if got, err := fetch(w.client(t, Options{}), "http://a.example/"); got != "from a.example" || err != nil || !slices.Equal(w.reached(), []string{"93.184.216.34:80"}) {
		t.Errorf("%q %v by %v", got, err, w.reached())
	}
}

// names keeps what is looked up.
type names struct{ asked []string }

func (n *names) LookupNetIP(_ context.Context, network, host string) ([]netip.Addr, error) {
	n.asked = append(n.asked, network+" "+host)
	var out []netip.Addr
	for _, text := range many(12) {
		out = append(out, netip.MustParseAddr(text), netip.MustParseAddr(text))
	}
	return out, nil
}

// A name is looked up as it is, not below the domains of this machine, and of its addresses at most eight are tried, each once.
func TestLookup(t *testing.T) {
	w, n := newWorld(t, nil, false), &names{}
	c := w.client(t, Options{Resolver: n})
	var tried []string
	c.connect = func(_ context.Context, _ *net.Dialer, address string) (net.Conn, error) {
		tried = append(tried, address)
		return nil, errors.New("connection refused")
	}
	if _, err := fetch(c, "http://WWW.a.example/"); err == nil || strings.Count(err.Error(), "connection refused") != 8 {
		t.Errorf("%v", err)
	}
	if !slices.Equal(n.asked, []string{"ip www.a.example."}) || len(tried) != 8 || tried[0] != "93.184.0.1:80" || tried[7] != "93.184.0.8:80" {
		t.Errorf("asked %q, tried %v", n.asked, tried)
	}
	if addrs, err := Lookup(n, time.Second)(context.Background(), "b.example"); len(addrs) != 24 || err != nil || n.asked[1] != "ip b.example." {
		t.Errorf("%d addresses, %v, asked %q", len(addrs), err, n.asked)
	}
	if _, err := Lookup(n, time.Second)(context.Background(), "0x7f.1"); err == nil || len(n.asked) != 2 {
		t.Errorf("%v, asked %q", err, n.asked)
	}
}

func TestProxy(t *testing.T) {
	w := newWorld(t, map[string][][]string{"a.example": public, "in.example": {{"10.0.0.1"}}, "proxy.example": {{"10.9.9.9"}}}, false)
	w.handle = func(out http.ResponseWriter, r *http.Request) { fmt.Fprint(out, r.URL.String()) }
	c := w.client(t, Options{Proxy: "http://proxy.example:3128"})
	if got, err := fetch(c, "http://a.example/x"); got != "http://a.example/x" || err != nil || !slices.Equal(w.reached(), []string{"10.9.9.9:3128"}) {
		t.Errorf("%q %v by %v", got, err, w.reached())
	}
	_, err := fetch(c, "http://in.example/")
	refusedBy(t, err, "address/private")
	_, err = fetch(c, "http://nowhere.example/")
	if err == nil || !strings.Contains(err.Error(), "egress.proxy_resolves") {
		t.Errorf("%v does not name the setting", err)
	}
	// A proxy that resolves: names are not looked up here, and still judged.
	c = w.client(t, Options{Proxy: "http://proxy.example:3128", Policy: policyOf(t, egress.Config{Resolves: true})})
	if got, err := fetch(c, "http://only.known.to.proxy.example/"); got != "http://only.known.to.proxy.example/" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	for url, rule := range map[string]string{"http://metadata.google.internal/": "host/metadata", "http://0xa9fea9fe/": "host/numeric", "http://localhost/": "host/internal", "http://10.0.0.1/": "address/private", "http://wiki/": "host/internal"} {
		_, err := fetch(c, url)
		refusedBy(t, err, rule)
	}
	for _, bad := range []string{"ftp://x", "proxy:3128", "http://", "http://0x7f.1:3128", "://"} {
		if _, err := New(Options{Policy: policyOf(t, egress.Config{}), Proxy: bad}); err == nil || !strings.Contains(err.Error(), "egress.proxy") {
			t.Errorf("proxy %q: %v", bad, err)
		}
	}
}

// A client for certain hosts reaches no other, and no credential leaves them.
func TestReport_N011(t *testing.T) {
	w := newWorld(t, map[string][][]string{"files.slack.example": public, "evil.example": public}, false)
	w.handle = func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(out, r, "http://evil.example/", http.StatusFound)
			return
		}
		ok(out, r)
	}
	c := w.client(t, Options{Hosts: []string{"*.slack.example"}})
	if _, err := fetch(c, "http://files.slack.example/f"); err != nil {
		t.Error(err)
	}
	for _, url := range []string{"http://evil.example/", "http://slack.example/", "http://files.slack.example.evil.example/", "http://files.slack.example/away"} {
		_, err := fetch(c, url)
		refusedBy(t, err, "host/unlisted")
	}
	for _, r := range w.seen {
		if r.Host == "evil.example" {
			t.Error("the other host was reached")
		}
	}
}

func TestLimits(t *testing.T) {
	w := newWorld(t, map[string][][]string{"a.example": public}, false)
	stop := make(chan struct{})
	defer close(stop)
	w.handle = func(out http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/large":
			out.Header().Set("Content-Length", "1001")
			fmt.Fprint(out, strings.Repeat("x", 1001))
		case "/endless":
			for {
				if _, err := fmt.Fprint(out, strings.Repeat("x", 100)); err != nil {
					return
				}
			}
		case "/bomb":
			out.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(out)
			_, _ = z.Write(make([]byte, 1<<20))
			z.Close()
		case "/exact":
			fmt.Fprint(out, strings.Repeat("x", 1000))
		case "/header":
			out.Header().Set("X-Long", strings.Repeat("x", 64<<10))
		case "/silent":
			fmt.Fprint(out, "some")
			out.(http.Flusher).Flush()
			select {
			case <-stop:
			case <-r.Context().Done():
			}
		}
	}
	c := w.client(t, Options{Limits: Limits{Body: 1000, Header: 8 << 10}})
	for path, want := range map[string]error{"/large": ErrTooLarge, "/endless": ErrTooLarge, "/bomb": ErrTooLarge, "/exact": nil} {
		got, err := fetch(c, "http://a.example"+path)
		if !errors.Is(err, want) || len(got) > 1000 {
			t.Errorf("%s: %d bytes, %v, want %v", path, len(got), err, want)
		}
	}
	// A response and an error at once would be told on standard error by net/http, into whatever is shown there.
	large, _ := http.NewRequest(http.MethodGet, "http://a.example/large", nil)
	if resp, err := c.RoundTrip(large); resp != nil || !errors.Is(err, ErrTooLarge) {
		t.Errorf("/large: %v, %v", resp, err)
	}
	if _, err := fetch(c, "http://a.example/header"); err == nil {
		t.Error("a header without bounds is read")
	}
	c = w.client(t, Options{Limits: Limits{Idle: 2 * time.Second}})
	if got, err := fetch(c, "http://a.example/silent"); !errors.Is(err, ErrIdle) || got != "some" {
		t.Errorf("silent: %q %v", got, err)
	}
	c = w.client(t, Options{Limits: Limits{Timeout: 100 * time.Millisecond}})
	if _, err := fetch(c, "http://a.example/silent"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("silent: %v", err)
	}
}

// Certificates: the system's, or those the owner names; the name in the certificate is the host's.
func TestTrust(t *testing.T) {
	w := newWorld(t, map[string][][]string{"example.com": public, "a.example": public}, true)
	w.handle = ok
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		trust Trust
		url   string
		pass  bool
		told  string
	}{
		{Trust{}, "https://example.com/", false, ""}, {Trust{CAFile: ca}, "https://example.com/", true, ""}, {Trust{CAFile: ca}, "https://a.example/", false, ""},
		{Trust{Insecure: true}, "https://a.example/", true, "ssl_verify"}, {Trust{CAFile: ca + "x"}, "https://example.com/", false, "believed instead"}, {Trust{CAFile: empty}, "https://example.com/", false, "no certificate in it"},
	} {
		told := ""
		c := w.client(t, Options{Trust: row.trust, Tell: func(s string) { told += s }})
		_, err := fetch(c, row.url)
		if (err == nil) != row.pass || !strings.Contains(told, row.told) || row.told == "" && told != "" {
			t.Errorf("%+v %s: %v, told %q", row.trust, row.url, err, told)
		}
		if err != nil {
			var bad *tls.CertificateVerificationError
			if !errors.As(err, &bad) {
				t.Errorf("%s: %v", row.url, err)
			}
		}
	}
}

// Settings count for the next request, and connections made under others are let go.
func TestReport_N007(t *testing.T) {
	w := newWorld(t, map[string][][]string{"wiki.example": {{"10.0.0.5"}}}, false)
	w.handle = ok
	closed, open := policyOf(t, egress.Config{}), policyOf(t, egress.Config{AllowHosts: []string{"wiki.example:80"}})
	now := closed
	c := w.client(t, Options{Policy: func() *egress.Policy { return now() }})
	_, err := fetch(c, "http://wiki.example/")
	refusedBy(t, err, "address/private")
	now = open
	if _, err := fetch(c, "http://wiki.example/"); err != nil {
		t.Error(err)
	}
	now = closed
	_, err = fetch(c, "http://wiki.example/")
	refusedBy(t, err, "address/private")
	if got := w.reached(); len(got) != 1 {
		t.Errorf("reached %v", got)
	}
}

// Over HTTP/2 too the judged address is dialled, once for many requests at the same time, and a changed policy ends that.
func TestTogether(t *testing.T) {
	w := newWorld(t, map[string][][]string{"example.com": public}, true)
	w.server.Close()
	w.server = httptest.NewUnstartedServer(w.server.Config.Handler)
	w.server.EnableHTTP2 = true
	w.server.StartTLS()
	w.handle = func(out http.ResponseWriter, r *http.Request) { fmt.Fprint(out, r.Proto) }
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	now := policyOf(t, egress.Config{})()
	c := w.client(t, Options{Trust: Trust{CAFile: ca}, Policy: func() *egress.Policy { mu.Lock(); defer mu.Unlock(); return now }})
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			if i == 20 {
				mu.Lock()
				now = policyOf(t, egress.Config{NAT64: true})()
				mu.Unlock()
			}
			if got, err := fetch(c, "https://example.com/"); got != "HTTP/2.0" || err != nil {
				t.Errorf("%q %v", got, err)
			}
		})
	}
	all.Wait()
	b := egress.NewBuilder()
	b.Rule("example.com", "config")
	mu.Lock()
	now = now.WithSites(b.Sites())
	mu.Unlock()
	_, err := fetch(c, "https://example.com/")
	refusedBy(t, err, "site/blocked")
	for _, address := range w.reached() {
		if address != "93.184.216.34:443" {
			t.Errorf("reached %s", address)
		}
	}
}

func BenchmarkFetch(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") }))
	defer server.Close()
	c, err := New(Options{Policy: policyOf(b, egress.Config{AllowPrivate: true})})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	plain := &http.Client{Transport: &http.Transport{}}
	for name, client := range map[string]*http.Client{"judged": c.HTTP(), "plain": plain} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				resp, err := client.Get(server.URL)
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
}

// A request with a body and headers goes to the origin it is for, and a redirect elsewhere does not take them along.
func TestSend(t *testing.T) {
	w := newWorld(t, map[string][][]string{"api.example.com": {{"8.8.8.8"}}, "other.example.com": {{"8.8.4.4"}}}, false)
	var got []string
	w.handle = func(out http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got = append(got, r.Method+" "+r.Host+r.URL.Path+" "+r.Header.Get("X-Key")+" "+string(text))
		if r.URL.Path == "/away" {
			http.Redirect(out, r, "http://other.example.com/", http.StatusTemporaryRedirect)
		}
	}
	c := w.client(t, Options{})
	resp, err := c.Send(t.Context(), Request{URL: "http://api.example.com/v1", Header: map[string]string{"X-Key": "k"}, Body: []byte("body")})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp, err := c.Send(t.Context(), Request{URL: "http://api.example.com/away", Header: map[string]string{"X-Key": "k"}, Body: []byte("body")}); err == nil {
		resp.Body.Close()
		t.Error("a body was sent on to another origin")
	}
	if want := []string{"POST api.example.com/v1 k body", "POST api.example.com/away k body"}; !slices.Equal(got, want) {
		t.Errorf("sent %q, want %q", got, want)
	}
}
