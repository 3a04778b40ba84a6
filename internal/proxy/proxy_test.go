package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/internal/guard"
	"hermes/internal/guard/egress"
)

// listed is a policy in memory: a table of hosts, and of addresses that are refused.
type listed struct {
	hosts   map[string]egress.Ruling
	refused map[string]bool
}

func (l listed) Judge(q egress.Request) egress.Ruling {
	h, err := egress.ParseHost(q.Host)
	if r, ok := l.hosts[h.String()]; ok && err == nil {
		r.Verdict, r.Host = guard.Allowed(), h
		return r
	}
	return egress.Ruling{Host: h, Verdict: guard.Verdict{Action: guard.Ask, Rule: "egress/unlisted", Reason: "the host is not on the list",
		Remedy: "add it to the list"}}
}

func (l listed) Answers(_ egress.Host, _ uint16, addrs []netip.Addr) guard.Verdict {
	for _, a := range addrs {
		if l.refused[a.String()] {
			return guard.Verdict{Rule: "egress/address", Reason: "the address is refused"}
		}
	}
	return guard.Allowed()
}

// world is a client of a proxy, with what it told.
type world struct {
	*testing.T
	*Client
	addr string

	mu   sync.Mutex
	told []Decision
}

// names are what the tests' names resolve to.
var names = map[string][]netip.Addr{
	"good.test":  {netip.MustParseAddr("127.0.0.1")},
	"other.test": {netip.MustParseAddr("127.0.0.1")},
	"mixed.test": {netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.6.6.6")},
	"bad.test":   {netip.MustParseAddr("127.6.6.6")},
	"late.test":  append(slices.Repeat([]netip.Addr{netip.MustParseAddr("127.0.0.1")}, maxAddrs), netip.MustParseAddr("127.6.6.6")),
	"empty.test": nil,
}

func start(t *testing.T, change ...func(*Options)) *world {
	t.Helper()
	w := &world{T: t}
	o := Options{
		Policy: listed{
			hosts: map[string]egress.Ruling{"good.test": {}, "mixed.test": {}, "late.test": {}, "bad.test": {}, "gone.test": {}, "127.0.0.1": {},
				"raw.test": {Opaque: true}, "empty.test": {}},
			refused: map[string]bool{"127.6.6.6": true},
		},
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			if host == "raw.test" {
				return names["good.test"], nil
			}
			if a, ok := names[host]; ok {
				return a, nil
			}
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		},
		Tell: func(d Decision) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.told = append(w.told, d)
		},
	}
	for _, f := range change {
		f(&o)
	}
	w.Client = New("box", o)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.addr = l.Addr().String()
	served := make(chan error, 1)
	go func() { served <- w.Serve(l) }()
	t.Cleanup(func() {
		if err := errors.Join(w.Close(), w.Close(), <-served); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return w
}

// decisions closes the client and returns what it told.
func (w *world) decisions() []Decision {
	w.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.told
}

// raw sends text as it is and returns all that comes back.
func (w *world) raw(text string) string {
	w.Helper()
	conn, err := net.Dial("tcp", w.addr)
	if err != nil {
		w.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(conn, text); err != nil {
		w.Fatal(err)
	}
	_ = conn.(*net.TCPConn).CloseWrite()
	out, _ := io.ReadAll(conn)
	return string(out)
}

// browser is an ordinary HTTP client that uses the proxy, and trusts the server.
func (w *world) browser(trust *x509.CertPool) *http.Client {
	through := &url.URL{Scheme: "http", Host: w.addr}
	tr := &http.Transport{Proxy: http.ProxyURL(through), TLSClientConfig: &tls.Config{RootCAs: trust}}
	w.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 10 * time.Second}
}

func port(s *httptest.Server) string { return s.URL[strings.LastIndexByte(s.URL, ':')+1:] }

func TestRequestsPassAndAreTold(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		rw.Header().Set("X-Seen", fmt.Sprint(r.Host, " ", r.RequestURI, " ", len(r.Header["Proxy-Connection"]), len(r.Header["X-Hop"])))
		fmt.Fprintf(rw, "%s %s", r.Method, body)
	}))
	defer server.Close()
	w := start(t)
	b := w.browser(nil)
	for range 3 {
		req, _ := http.NewRequest("POST", "http://good.test:"+port(server)+"/a%2Fb?c=d", strings.NewReader("hello"))
		req.Header.Set("Connection", "X-Hop")
		req.Header.Set("X-Hop", "1")
		resp, err := b.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if got, want := string(body), "POST hello"; got != want {
			t.Errorf("body %q, want %q", got, want)
		}
		if got, want := resp.Header.Get("X-Seen"), "good.test:"+port(server)+" /a%2Fb?c=d 0 0"; got != want {
			t.Errorf("the server saw %q, want %q", got, want)
		}
	}
	b.CloseIdleConnections()
	told := w.decisions()
	if len(told) != 3 {
		t.Fatalf("%d decisions, want 3: %v", len(told), told)
	}
	d := told[0]
	if d.Client != "box" || d.Verdict.Action != guard.Allow || d.Up != 5 || d.Down != 10 || !d.Addr.IsValid() || d.Err != nil {
		t.Errorf("told %+v", d)
	}
}

func TestTunnelPassesOnlyTheNamedServer(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { io.WriteString(rw, "inside") }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	for _, row := range []struct {
		host, sni string
		want      string // rule; empty: passes
	}{
		{"good.test", "good.test", ""},
		{"good.test", "GOOD.test", ""},
		{"127.0.0.1", "", ""},
		{"good.test", "other.test", "egress/sni"},
		{"good.test", "", "egress/no-sni"},
		{"127.0.0.1", "other.test", "egress/sni"},
		{"other.test", "other.test", "egress/unlisted"},
		{"bad.test", "bad.test", "egress/address"},
		{"mixed.test", "mixed.test", "egress/address"},
	} {
		t.Run(row.host+" "+row.sni, func(t *testing.T) {
			w := start(t)
			conn, err := net.Dial("tcp", w.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			target := row.host + ":" + port(server)
			fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target)
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err == nil && resp.StatusCode == 200 {
				secure := tls.Client(conn, &tls.Config{ServerName: row.sni, InsecureSkipVerify: true})
				if err = secure.Handshake(); err == nil {
					io.WriteString(secure, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
					out, _ := io.ReadAll(secure)
					if !strings.Contains(string(out), "inside") {
						t.Errorf("got %q", out)
					}
				}
			}
			conn.Close()
			told := w.decisions()
			if len(told) != 1 {
				t.Fatalf("%d decisions, want one: %+v", len(told), told)
			}
			if v := told[0].Verdict; v.Rule != row.want || (v.Action == guard.Allow) != (row.want == "") {
				t.Errorf("verdict %v %q, want rule %q (handshake: %v)", v.Action, v.Rule, row.want, err)
			}
			if row.want == "" && (told[0].Up == 0 || told[0].Down == 0) {
				t.Errorf("bytes %d up, %d down", told[0].Up, told[0].Down)
			}
		})
	}
}

// A tunnel that may carry anything does not wait for the client to speak, and one end's end is not the other's.
func TestOpaqueTunnelKeepsHalfOpen(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		io.WriteString(conn, "banner\n")
		got, _ := io.ReadAll(conn)
		fmt.Fprintf(conn, "got %d", len(got))
		conn.Close()
	}()
	w := start(t)
	_, p, _ := net.SplitHostPort(l.Addr().String())
	out := w.raw("CONNECT raw.test:" + p + " HTTP/1.1\r\nHost: raw.test:" + p + "\r\n\r\n0123456789")
	if want := "HTTP/1.1 200 Connection established\r\n\r\nbanner\ngot 10"; out != want {
		t.Errorf("got %q, want %q", out, want)
	}
}

func TestMalformedRequestsAreRefused(t *testing.T) {
	const ok = "Host: good.test\r\n"
	for name, row := range map[string]struct {
		text string
		want string
	}{
		"origin form":                {"GET / HTTP/1.1\r\n" + ok + "\r\n", "400"},
		"https in plain":             {"GET https://good.test/ HTTP/1.1\r\n" + ok + "\r\n", "400"},
		"other scheme":               {"GET ftp://good.test/ HTTP/1.1\r\n" + ok + "\r\n", "400"},
		"other host":                 {"GET http://good.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n", "400"},
		"other port":                 {"GET http://good.test/ HTTP/1.1\r\nHost: good.test:81\r\n\r\n", "400"},
		"no host":                    {"GET http://good.test/ HTTP/1.1\r\n\r\n", "400"},
		"two hosts":                  {"GET http://good.test/ HTTP/1.1\r\n" + ok + ok + "\r\n", "400"},
		"userinfo":                   {"GET http://good.test@evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n", "400"},
		"userinfo in host":           {"GET http://good.test/ HTTP/1.1\r\nHost: a@good.test\r\n\r\n", "400"},
		"backslash":                  {"GET http://good.test\\@evil.test/ HTTP/1.1\r\n" + ok + "\r\n", "400"},
		"fragment":                   {"GET http://good.test/#a HTTP/1.1\r\n" + ok + "\r\n", "400"},
		"space in target":            {"GET http://good.test/a b HTTP/1.1\r\n" + ok + "\r\n", "400"},
		"control in target":          {"GET http://good.test/\x01 HTTP/1.1\r\n" + ok + "\r\n", "400"},
		"bare LF":                    {"GET http://good.test/ HTTP/1.1\n" + ok + "\r\n", "400"},
		"bare CR":                    {"GET http://good.test/ HTTP/1.1\r\nX: a\rb\r\n" + ok + "\r\n", "400"},
		"NUL":                        {"GET http://good.test/ HTTP/1.1\r\nX: a\x00b\r\n" + ok + "\r\n", "400"},
		"folded":                     {"GET http://good.test/ HTTP/1.1\r\nX: a\r\n b\r\n" + ok + "\r\n", "400"},
		"space before colon":         {"GET http://good.test/ HTTP/1.1\r\nHost : good.test\r\n\r\n", "400"},
		"length twice":               {"POST http://good.test/ HTTP/1.1\r\n" + ok + "Content-Length: 1\r\nContent-Length: 1\r\n\r\na", "400"},
		"length list":                {"POST http://good.test/ HTTP/1.1\r\n" + ok + "Content-Length: 1, 1\r\n\r\na", "400"},
		"length signed":              {"POST http://good.test/ HTTP/1.1\r\n" + ok + "Content-Length: +1\r\n\r\na", "400"},
		"length and chunks":          {"POST http://good.test/ HTTP/1.1\r\n" + ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\na", "400"},
		"chunks in 1.0":              {"POST http://good.test/ HTTP/1.0\r\n" + ok + "Transfer-Encoding: chunked\r\n\r\na", "400"},
		"odd coding":                 {"POST http://good.test/ HTTP/1.1\r\n" + ok + "Transfer-Encoding: xchunked\r\n\r\na", "501"},
		"coding twice":               {"POST http://good.test/ HTTP/1.1\r\n" + ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", "400"},
		"version":                    {"GET http://good.test/ HTTP/2.0\r\n" + ok + "\r\n", "505"},
		"method":                     {"GE(T http://good.test/ HTTP/1.1\r\n" + ok + "\r\n", "400"},
		"TRACE":                      {"TRACE http://good.test/ HTTP/1.1\r\n" + ok + "\r\n", "400"},
		"expectation":                {"POST http://good.test/ HTTP/1.1\r\n" + ok + "Expect: tea\r\n\r\n", "417"},
		"oversized":                  {"GET http://good.test/ HTTP/1.1\r\n" + ok + "X: " + strings.Repeat("a", MaxHead) + "\r\n\r\n", "431"},
		"too many fields":            {"GET http://good.test/ HTTP/1.1\r\n" + ok + strings.Repeat("X: a\r\n", maxFields) + "\r\n", "431"},
		"connect without port":       {"CONNECT good.test HTTP/1.1\r\n" + ok + "\r\n", "400"},
		"connect port 0":             {"CONNECT good.test:0 HTTP/1.1\r\nHost: good.test:0\r\n\r\n", "400"},
		"connect port 65536":         {"CONNECT good.test:65536 HTTP/1.1\r\nHost: good.test:65536\r\n\r\n", "400"},
		"connect with path":          {"CONNECT good.test:443/ HTTP/1.1\r\nHost: good.test:443\r\n\r\n", "400"},
		"connect with userinfo":      {"CONNECT a@good.test:443 HTTP/1.1\r\nHost: good.test:443\r\n\r\n", "400"},
		"connect other host":         {"CONNECT good.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n", "400"},
		"connect bare IPv6":          {"CONNECT ::1:443 HTTP/1.1\r\nHost: ::1:443\r\n\r\n", "400"},
		"connect zone":               {"CONNECT [fe80::1%25eth0]:443 HTTP/1.1\r\nHost: [fe80::1%25eth0]:443\r\n\r\n", "400"},
		"connect body":               {"CONNECT good.test:443 HTTP/1.1\r\nHost: good.test:443\r\nContent-Length: 3\r\n\r\nabc", "400"},
		"connect, not TLS":           {"CONNECT unlisted.test:443 HTTP/1.1\r\nHost: unlisted.test:443\r\n\r\n", "403"},
		"name that does not exist":   {"CONNECT gone.test:443 HTTP/1.1\r\nHost: gone.test:443\r\n\r\n", "502"},
		"name without an address":    {"CONNECT empty.test:443 HTTP/1.1\r\nHost: empty.test:443\r\n\r\n", "502"},
		"plain, unlisted":            {"GET http://unlisted.test/ HTTP/1.1\r\nHost: unlisted.test\r\n\r\n", "403"},
		"plain, refused address":     {"GET http://bad.test/ HTTP/1.1\r\nHost: bad.test\r\n\r\n", "403"},
		"plain, the last of many":    {"GET http://late.test/ HTTP/1.1\r\nHost: late.test\r\n\r\n", "403"},
		"plain, one address refused": {"GET http://mixed.test/ HTTP/1.1\r\nHost: mixed.test\r\n\r\n", "403"},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			out := w.raw(row.text)
			if !strings.HasPrefix(out, "HTTP/1.1 "+row.want+" ") {
				t.Errorf("answer %q, want %s", out, row.want)
			}
			if told := w.decisions(); len(told) != 1 {
				t.Errorf("%d decisions, want one", len(told))
			}
		})
	}
}

// The second request of a connection is judged like the first, and a body is never taken for a request.
func TestEveryRequestOfAConnectionIsJudged(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, r.Method+" "+r.URL.Path+" "+string(body))
	}))
	defer server.Close()
	host := "good.test:" + port(server)
	w := start(t)
	out := w.raw("POST http://" + host + "/1 HTTP/1.1\r\nHost: " + host + "\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nGET /\r\n0\r\nTrailer: x\r\n\r\n" +
		"GET http://other.test/2 HTTP/1.1\r\nHost: other.test\r\n\r\n" +
		"GET http://" + host + "/3 HTTP/1.1\r\nHost: " + host + "\r\n\r\n" +
		"CONNECT other.test:443 HTTP/1.1\r\nHost: other.test:443\r\n\r\n")
	w.Close()
	mu.Lock()
	defer mu.Unlock()
	if got, want := strings.Join(seen, ","), "POST /1 GET /,GET /3 "; got != want {
		t.Errorf("the server saw %q, want %q", got, want)
	}
	if got := strings.Count(out, "HTTP/1.1 403"); got != 2 {
		t.Errorf("%d refusals in %q, want 2", got, out)
	}
}

func TestTokenIsAskedFor(t *testing.T) {
	for _, row := range []struct{ field, want string }{
		{"", "407"},
		{"Proxy-Authorization: Bearer wrong\r\n", "407"},
		{"Proxy-Authorization: Basic " + "eDp3cm9uZw==" + "\r\n", "407"}, // x:wrong
		{"Proxy-Authorization: Bearer 7up\r\n", "403"},
		{"Proxy-Authorization: Basic eDo3dXA=\r\n", "403"}, // x:7up
	} {
		w := start(t)
		w.token = "7up"
		out := w.raw("CONNECT other.test:443 HTTP/1.1\r\nHost: other.test:443\r\n" + row.field + "\r\n")
		if !strings.HasPrefix(out, "HTTP/1.1 "+row.want) {
			t.Errorf("with %q: %q, want %s", row.field, out, row.want)
		}
	}
}

func TestPersonMayAllowOnce(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { io.WriteString(rw, "yes") }))
	defer server.Close()
	var asked []string
	w := start(t, func(o *Options) {
		o.Ask = func(_ context.Context, q Question) bool {
			asked = append(asked, q.Command+" "+q.Target.String())
			return len(asked) == 1
		}
	})
	w.Client.Run("c1")
	host := "other.test:" + port(server)
	get := "GET http://" + host + "/ HTTP/1.1\r\nHost: " + host + "\r\n\r\n"
	if out := w.raw(get + get); strings.Count(out, " 200 ") != 1 || strings.Count(out, " 403 ") != 1 {
		t.Errorf("answers %q, want one of each", out)
	}
	if len(asked) != 2 || asked[0] != "c1 "+host {
		t.Errorf("asked %q", asked)
	}
	if told := w.decisions(); len(told) != 2 || !told[0].Asked || told[1].Asked {
		t.Errorf("told %+v", told)
	}
}

func TestTooManyConnections(t *testing.T) {
	w := start(t, func(o *Options) { o.Limits.Conns = 2 })
	for range 2 {
		conn, err := net.Dial("tcp", w.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		w.Client.mu.Lock()
		n := len(w.open)
		w.Client.mu.Unlock()
		if n == 2 {
			break
		}
	}
	if out := w.raw("GET http://good.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n"); !strings.HasPrefix(out, "HTTP/1.1 503") {
		t.Errorf("third connection: %q", out)
	}
}

// A head that comes byte by byte ends with the time for a head, not with the client's patience.
func TestSlowHead(t *testing.T) {
	w := start(t, func(o *Options) { o.Limits.Head = 50 * time.Millisecond })
	conn, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "GET http://good")
	out, _ := io.ReadAll(conn)
	if !strings.HasPrefix(string(out), "HTTP/1.1 408") {
		t.Errorf("got %q", out)
	}
}

func TestCloseEndsTunnels(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		if conn, err := l.Accept(); err == nil {
			accepted <- conn
		}
	}()
	w := start(t)
	_, p, _ := net.SplitHostPort(l.Addr().String())
	conn, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "CONNECT raw.test:%s HTTP/1.1\r\nHost: raw.test\r\n\r\n", p)
	up := <-accepted
	defer up.Close()
	w.Close()
	if _, err := io.ReadAll(up); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Errorf("the server's end: %v", err)
	}
}
