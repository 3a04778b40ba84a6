package egress

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"hermes/internal/guard"
)

// request reads "CONNECT host:port", "GET http://host:port/path" or "DNS host".
func request(t *testing.T, text string) Request {
	t.Helper()
	method, rest, _ := strings.Cut(text, " ")
	q := Request{Method: method, Port: 443}
	if plain, ok := strings.CutPrefix(rest, "http://"); ok {
		q.Port = 80
		rest, q.Path = plain, "/"
		if at := strings.IndexByte(plain, '/'); at >= 0 {
			rest, q.Path = plain[:at], plain[at:]
		}
	}
	if method == Resolve {
		q.Port = 0
	}
	host, port, err := cutPort(rest)
	if err != nil {
		t.Fatal(err)
	}
	if q.Host = host; port != 0 {
		q.Port = port
	}
	return q
}

func TestRoutes(t *testing.T) {
	const (
		pass  = guard.Allow
		ask   = guard.Ask
		never = guard.Block
	)
	for _, row := range []struct {
		list string // entries, by ;
		text string
		want guard.Action
	}{
		{"", "CONNECT example.org:443", ask},
		{"example.org", "CONNECT example.org:443", pass},
		{"example.org", "CONNECT EXAMPLE.org.:443", pass},
		{"Example.Org.", "CONNECT example.org:443", pass},
		{"bücher.example", "CONNECT xn--bcher-kva.example:443", pass},
		{"example.org", "GET http://example.org/a?b", pass},
		{"example.org", "DNS example.org", pass},
		{"example.org", "DNS c2VjcmV0.example.org", ask},
		{"example.org", "CONNECT example.org:22", ask},
		{"example.org", "CONNECT example.org:80", ask},
		{"example.org", "GET http://example.org:443/", ask},
		{"example.org", "CONNECT www.example.org:443", ask},
		{"example.org", "CONNECT notexample.org:443", ask},
		{"example.org", "CONNECT example.org.evil.test:443", ask},
		{"*.example.org", "CONNECT a.b.example.org:443", pass},
		{"*.example.org", "CONNECT example.org:443", ask},
		{"*.example.org", "CONNECT notexample.org:443", ask},
		{"example.org:22", "CONNECT example.org:22", pass},
		{"example.org:22", "CONNECT example.org:443", ask},
		{"example.org:8080", "GET http://example.org:8080/", pass}, // whatever is spoken there
		{"example.org:8080", "GET http://example.org/", ask},
		{"https://example.org:8080", "GET http://example.org:8080/", ask},
		{"http://example.org:8080", "GET http://example.org:8080/", pass},
		{"http://example.org", "CONNECT example.org:443", ask},
		{"http://example.org", "CONNECT example.org:80", ask},
		{"https://example.org", "GET http://example.org/", ask},
		{"https://example.org", "CONNECT example.org:443", pass},
		{"tcp://example.org:80", "CONNECT example.org:80", pass},
		{"tcp://example.org:80", "GET http://example.org/", pass},
		{"GET,HEAD http://example.org/pool/*", "GET http://example.org/pool/a?x=..", pass},
		{"GET,HEAD http://example.org/pool/*", "POST http://example.org/pool/a", ask},
		{"GET,HEAD http://example.org/pool/*", "GET http://example.org/", ask},
		{"GET,HEAD http://example.org/pool/*", "GET http://example.org/pool/../x", never},
		{"GET,HEAD http://example.org/pool/*", "GET http://example.org/pool/%2E%2e/x", never},
		{"GET,HEAD http://example.org/pool/*", "GET http://example.org/pool/..%2fx", never},
		{"GET,HEAD http://example.org/pool/*", "GET http://example.org/pool/a\\b", never},
		{"http://example.org/one", "GET http://example.org/one?a", pass},
		{"http://example.org/one", "GET http://example.org/one/two", ask},
		{"example.org", "GET http://example.org/@scope%2fname", pass},
		{"8.8.8.8", "CONNECT 8.8.8.8:443", pass},
		{"8.8.8.8", "CONNECT [::ffff:8.8.8.8]:443", pass},
		{"8.8.8.8", "CONNECT 8.8.4.4:443", ask},
		{"8.8.8.8", "CONNECT 0x08080808:443", never},
		{"10.1.0.0/16:8443", "CONNECT 10.1.2.3:8443", pass},
		{"10.1.0.0/16:8443", "CONNECT 10.1.2.3:443", ask},
		{"[2606:4700::]/32:443", "CONNECT [2606:4700::1]:443", pass},
		{"2606:4700::/32", "CONNECT [2606:4700::1]:443", pass},
		{"example.org", "CONNECT 169.254.169.254:443", never},
		{"example.org", "GET http://metadata.google.internal/", never},
		{"example.org", "CONNECT 127.0.0.1:443", never},
		{"example.org", "CONNECT [::1]:443", never},
		{"example.org", "CONNECT [64:ff9b::7f00:1]:443", never}, // what is inside counts
		{"example.org", "CONNECT localhost:443", never},
		{"example.org", "CONNECT db.localhost:443", never},
		{"example.org", "CONNECT [::ffff:127.0.0.1]:443", never},
		{"example.org", "CONNECT 0.0.0.0:443", never},
		{"example.org", "DNS exаmple.org", never}, // a Cyrillic letter
	} {
		var list []string
		if row.list != "" {
			list = strings.Split(row.list, ";")
		}
		r, problems := ParseRoutes(list)
		if len(problems) > 0 {
			t.Errorf("%s: %v", row.list, problems)
			continue
		}
		if got := r.Judge(request(t, row.text)).Verdict; got.Action != row.want {
			t.Errorf("list %q: %s is %v (%s), want %v", row.list, row.text, got.Action, got.Reason, row.want)
		}
	}
}

func TestRoutesThatCannotBe(t *testing.T) {
	for _, entry := range []string{
		"", "*", "*.org", "*.*.example.org", "a b c", "ftp://example.org", "example.org/path", "GET example.org", "get http://example.org",
		"CONNECT http://example.org", "http://example.org/a*b", "http://example.org/../a", "http://example.org/a?b", "example.org:0",
		"example.org:70000", "169.254.169.254", "127.0.0.1", "127.0.0.1:8080", "localhost.:0", "localhost", "localhost:443", "*.localhost", "db.localhost", "0.0.0.0/0", "::/0", "fe80::1%eth0",
		"224.0.0.1", "0x7f.1", "metadata.google.internal", "http://user@example.org/", "example.org:443:443", "[::1]:443",
	} {
		r, problems := ParseRoutes([]string{entry})
		if len(problems) != 1 || !r.Empty() {
			t.Errorf("%q: problems %v, empty %v", entry, problems, r.Empty())
		}
	}
}

func TestExit(t *testing.T) {
	sites := NewBuilder()
	sites.Rule("blocked.example", "test")
	policy, _ := New(Config{Sites: sites.Sites(), AllowHosts: []string{"intern.example 10.0.0.0/8"}})
	routes, problems := ParseRoutes([]string{"good.example", "intern.example", "blocked.example", "10.9.9.9", "1.1.1.1"})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	e := Exit{Routes: routes, Policy: policy}
	for _, row := range []struct {
		host  string
		addrs string
		want  bool
	}{
		{"good.example", "93.184.216.34", true},
		{"good.example", "93.184.216.34,10.0.0.1", false},
		{"good.example", "127.0.0.1", false},
		{"good.example", "169.254.169.254", false},
		{"good.example", "64:ff9b::a9fe:a9fe", false},
		{"good.example", "", false},
		{"intern.example", "10.0.0.1", true},
		{"intern.example", "169.254.169.254", false},
		{"blocked.example", "93.184.216.34", false},
		{"10.9.9.9", "10.9.9.9", true},
		{"1.1.1.1", "1.1.1.1", true},
	} {
		var addrs []netip.Addr
		for s := range strings.SplitSeq(row.addrs, ",") {
			if a, err := netip.ParseAddr(s); err == nil {
				addrs = append(addrs, a)
			}
		}
		ruling := e.Judge(Request{Method: Tunnel, Host: row.host, Port: 443})
		v := ruling.Verdict
		if v.Action == guard.Allow {
			v = e.Answers(ruling.Host, 443, addrs)
		}
		if (v.Action == guard.Allow) != row.want {
			t.Errorf("%s at %s: %v (%s), want %v", row.host, row.addrs, v.Action, v.Reason, row.want)
		}
	}
	if v := (Exit{Routes: routes}).Judge(Request{Method: Tunnel, Host: "good.example", Port: 443}).Verdict; v.Action != guard.Block {
		t.Errorf("without a policy: %v", v)
	}
	open := Exit{Policy: policy, Open: true}
	if v := open.Judge(Request{Method: Tunnel, Host: "any.example", Port: 22}).Verdict; v.Action != guard.Allow {
		t.Errorf("open: %v", v)
	}
	if v := open.Judge(Request{Method: Tunnel, Host: "blocked.example", Port: 443}).Verdict; v.Action == guard.Allow {
		t.Error("open: a blocked site passes")
	}
}

// What opens this machine to web tools does not open it to sandboxes: whoever answers for a listed name could lead them there.
func TestExitNeverLeadsHome(t *testing.T) {
	policy, _ := New(Config{Sites: NewBuilder().Sites(), AllowPrivate: true, NAT64: true})
	routes, _ := ParseRoutes([]string{"good.example"})
	for addrs, want := range map[string]string{
		"93.184.216.34": "", "10.0.0.1": "", // the toggle's own
		"127.0.0.1": "address/loopback", "::1": "address/loopback", "0.0.0.0": "address/loopback", "::": "address/loopback", "::ffff:127.8.8.8": "address/loopback",
		"64:ff9b::7f00:1": "address/loopback", "93.184.216.34,127.0.0.1": "address/loopback", "169.254.169.254": "address/metadata",
	} {
		for _, e := range []Exit{{Routes: routes, Policy: policy}, {Policy: policy, Open: true}} {
			var list []netip.Addr
			for s := range strings.SplitSeq(addrs, ",") {
				list = append(list, netip.MustParseAddr(s))
			}
			ruling := e.Judge(Request{Method: Tunnel, Host: "good.example", Port: 443})
			v := e.Answers(ruling.Host, 443, list)
			if v.Rule != want || want != "" && (v.Action != guard.Block || !strings.Contains(v.Reason, "no setting")) {
				t.Errorf("%s: %v %s (%s), want %q", addrs, v.Action, v.Rule, v.Reason, want)
			}
		}
	}
}

// What a person may be asked about is what a yes would make work: a host, whatever is spoken on a port that is not the web's. An
// address that only the list can name is refused at once, with the entry that would allow it.
func TestWhatMayBeAsked(t *testing.T) {
	policy, _ := New(Config{})
	e := Exit{Policy: policy}
	for _, row := range []struct {
		host   string
		port   uint16
		action guard.Action
		opaque bool
	}{
		{"new.example", 443, guard.Ask, false},
		{"new.example", 8443, guard.Ask, false},
		{"new.example", 22, guard.Ask, true},
		{"93.184.216.34", 443, guard.Ask, false},
		{"10.0.0.1", 443, guard.Block, false},
		{"192.168.1.1", 8123, guard.Block, true},
		{"169.254.169.254", 80, guard.Block, false},
	} {
		r := e.Judge(Request{Method: Tunnel, Host: row.host, Port: row.port})
		if r.Verdict.Action != row.action || r.Opaque != row.opaque {
			t.Errorf("%s:%d: %v, opaque %v (%s)", row.host, row.port, r.Verdict.Action, r.Opaque, r.Verdict.Reason)
		}
		if row.host == "10.0.0.1" && !strings.Contains(r.Verdict.Remedy, "terminal.network_allow") {
			t.Errorf("%s: %q", row.host, r.Verdict.Remedy)
		}
	}
}

// What is said of a refused request is true, and what is said to do works.
func TestRoutesRemedy(t *testing.T) {
	for _, row := range []struct {
		list       string // entries, by ;
		text       string
		reason     string
		next, more string // the remedy's command, or its end
	}{
		{"", "CONNECT b.example:443", "b.example:443 is not on the allow-list", `'["b.example"]'`, ""},
		{"*.a.example;GET,HEAD http://a.example/pub/*;[2001:db8::]/32:443", "CONNECT b.example:22", "b.example:22 is not on the allow-list", `'["*.a.example","GET,HEAD http://a.example/pub/*","[2001:db8::]/32:443","b.example:22"]'`, ""},
		{"http://a.example/x&y<z", "GET http://b.example/", "b.example:80 is not on the allow-list", `'["http://a.example/x&y<z","b.example"]'`, ""},
		{"http://a.example/it's", "GET http://b.example/", "b.example:80 is not on the allow-list", "", `add "b.example" to terminal.network_allow`},
		{"GET http://a.example/pub/*", "POST http://a.example/pub/x?y", `a.example:80 is on the allow-list of this sandbox for other requests, not for POST "/pub/x"`, `'["GET http://a.example/pub/*","a.example"]'`, ""},
		{"GET http://a.example/pub/*", "GET http://a.example/", `for other requests, not for GET "/"`, `'["GET http://a.example/pub/*","a.example"]'`, ""},
		{"GET http://a.example/pub/*", "CONNECT a.example:443", "a.example:443 is not on the allow-list", `'["GET http://a.example/pub/*","a.example"]'`, ""},
		{"GET http://a.example/pub/*", "GET http://a.example:81/pub/x", "a.example:81 is not on the allow-list", `'["GET http://a.example/pub/*","a.example:81"]'`, ""},
	} {
		r, problems := ParseRoutes(strings.Split(row.list, ";"))
		if len(problems) > 0 && row.list != "" {
			t.Fatal(problems)
		}
		if row.list == "" {
			r, _ = ParseRoutes(nil)
		}
		v := r.Judge(request(t, row.text)).Verdict
		want := row.more
		if row.next != "" {
			want = "hermes config set terminal.network_allow " + row.next
			var list []string
			if err := json.Unmarshal([]byte(strings.Trim(row.next, "'")), &list); err != nil {
				t.Errorf("%s: %v", row.next, err)
			} else if again, problems := ParseRoutes(list); len(problems) > 0 || again.Judge(request(t, row.text)).Verdict.Action != guard.Allow {
				t.Errorf("%s %s: with %s it is still refused: %v", row.list, row.text, row.next, problems)
			}
		}
		if !strings.Contains(v.Reason, row.reason) || !strings.HasSuffix(v.Remedy, want) {
			t.Errorf("%s %s: %s; %s, want %s; %s", row.list, row.text, v.Reason, v.Remedy, row.reason, want)
		}
	}
}

// Only an address is written in brackets: what could not be read as a request's end holds colons, too.
func TestRequestString(t *testing.T) {
	for want, q := range map[string]Request{
		"a.example:443": {Host: "a.example", Port: 443}, "[::1]:80": {Host: "::1", Port: 80}, "http://a.example/x": {Host: "http://a.example/x"},
		"a.example:443:1": {Host: "a.example:443", Port: 1}, "[2001:db8::1]": {Host: "2001:db8::1"},
	} {
		if q.String() != want {
			t.Errorf("%s, want %s", q, want)
		}
	}
}
