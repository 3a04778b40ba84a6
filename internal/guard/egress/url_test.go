package egress

import (
	"net/netip"
	"strings"
	"testing"
	"unicode/utf8"

	"hermes/internal/guard"
)

func TestParseURL(t *testing.T) {
	for _, row := range []struct{ in, want, rule string }{
		{"https://example.com/path", "https://example.com/path", ""}, {"HTTPS://EXAMPLE.com", "https://example.com", ""}, {" https://example.com/\n", "https://example.com/", ""},
		{"http://example.com:80/", "http://example.com/", ""}, {"http://example.com:8080/", "http://example.com:8080/", ""}, {"http://example.com:/", "http://example.com/", ""},
		{"http://example.com:443/", "http://example.com:443/", ""}, {"http://[2606:4700::1]:8080/x", "http://[2606:4700::1]:8080/x", ""},
		{"http://foo.bar?q=Spaces should be encoded", "http://foo.bar?q=Spaces%20should%20be%20encoded", ""}, {"https://e.com/ü?ü#ü", "https://e.com/%C3%BC?%C3%BC#%C3%BC", ""},
		{"https://e.com/%C3%BC%zz%", "https://e.com/%C3%BC%25zz%25", ""}, {"https://e.com/a?b=c@d:80", "https://e.com/a?b=c@d:80", ""}, {`https://e.com/?re=\d`, "https://e.com/?re=%5Cd", ""},
		{"https://foo.com/blah_(wikipedia)_(again)#cite-1", "https://foo.com/blah_(wikipedia)_(again)#cite-1", ""}, {"http://➡.ws/䨹", "http://xn--hgi.ws/%E4%A8%B9", ""},
		{"", "", "url/syntax"}, {"example.com/path", "", "url/scheme"}, {"//example.com", "", "url/scheme"}, {"localhost:8080/", "", "url/scheme"}, {"://x", "", "url/scheme"},
		{"ftp://example.com", "", "url/scheme"}, {"file:///etc/passwd", "", "url/scheme"}, {"data:text/html,x", "", "url/scheme"}, {"javascript:alert(1)", "", "url/scheme"},
		{"gopher://x:70/_", "", "url/scheme"}, {"jar:http://x!/", "", "url/scheme"}, {"view-source:http://x", "", "url/scheme"}, {"unix:///tmp/sock", "", "url/scheme"}, {"http+unix://sock", "", "url/scheme"},
		{"http:example.com", "", "url/syntax"}, {"http:/example.com", "", "url/syntax"}, {`http:\\example.com`, "", "url/syntax"}, {"http:///example.com", "", "url/host"}, {"http://", "", "url/host"}, {"http://?x", "", "url/host"},
		{"http://:80/", "", "host/name"}, {"http://user@example.com/", "", "url/userinfo"}, {"http://u:p@example.com/", "", "url/userinfo"}, {"http://@example.com/", "", "url/userinfo"},
		{"http://user%40host@example.com/", "", "url/userinfo"}, {"http://evil.com%2f@example.com/", "", "url/userinfo"}, {`http://169.254.169.254\@evil.com/`, "", "url/character"}, {`http://a.com\b`, "", "url/character"},
		{"http://example.com:0/", "", "url/port"}, {"http://example.com:65536/", "", "url/port"}, {"http://example.com:0080/", "", "url/port"}, {"http://example.com:+80/", "", "url/port"}, {"http://example.com:-1/", "", "url/port"}, {"http://example.com:8a/", "", "url/port"},
		{"http://example.com:80:80/", "", "url/host"}, {"http://::1/", "", "url/host"}, {"http://[::1]80/", "", "url/port"}, {"http://[::1]evil.com/", "", "url/port"},
		{"http://exa\tmple.com/", "", "url/character"}, {"http://e.com/\r\nHost: x", "", "url/character"}, {"ht\ntp://e.com", "", "url/character"}, {"http://e.com/\u2028x", "", "url/character"}, {"http://e.com/\x7f", "", "url/character"},
		{"http://e.com/" + strings.Repeat("a", MaxURL), "", "url/length"}, {"http://e.com/\xff", "", "url/syntax"}, {"http:// e.com/", "", "host/character"},
	} {
		u, err := ParseURL(row.in)
		if u.String() != row.want || (err != nil) != (row.rule != "") {
			t.Errorf("%q is %q, %v, want %q", row.in, u, err, row.want)
		}
		if err != nil && err.(*Error).Rule != row.rule {
			t.Errorf("%q: %v by %s, want %s", row.in, err, err.(*Error).Rule, row.rule)
		}
		if again, err := ParseURL(u.String()); row.want != "" && (err != nil || again != u) {
			t.Errorf("%q changes when it is read again: %q", u, again)
		}
	}
}

func TestCredential(t *testing.T) {
	for _, row := range []struct{ url, name string }{
		{"https://e.com/?access_token=x", "access_token"}, {"https://e.com/?a=1&API_KEY=x", "API_KEY"}, {"https://e.com/?X-Amz-Signature=x", "X-Amz-Signature"},
		{"https://e.com/?access%5Ftoken=x", "access%5Ftoken"}, {"https://e.com/?access%255Ftoken=x", "access%255Ftoken"}, {"https://e.com/#access_token=x", "access_token"}, {"https://e.com/#/cb?token=x", "token"},
		{"https://e.com/a;token=x/b", "token"}, {"https://e.com/token=abc", "token"}, {"https://e.com/?a=b;password=x", "password"},
		{"https://e.com/?token=", ""}, {"https://e.com/?token", ""}, {"https://e.com/?code=x&key=y&auth=z&session=s&sig=t", ""}, {"https://e.com/token/abc", ""},
		{"https://e.com/?tokens=3&max_tokens=5", ""}, {"https://e.com/?q=token%3Dx", ""}, {"https://token.e.com/", ""},
	} {
		u, err := ParseURL(row.url)
		if err != nil {
			t.Fatal(err)
		}
		if got, found := u.Credential(); got != row.name || found != (row.name != "") {
			t.Errorf("%s: %q %v, want %q", row.url, got, found, row.name)
		}
	}
}

// The public list of the npm package ssrfcheck, as facts: what must not pass and what should. Where its judgement is another
// than ours, the reason stands beside the row.
func TestPublicLists(t *testing.T) {
	p, _ := New(Config{Sites: NoSites()})
	bad := strings.Split(strings.TrimSpace(publicBad), "\n")
	for _, raw := range bad {
		if u, v := p.Check(raw, anything); v.Action == guard.Allow {
			t.Errorf("%q passes as %s", raw, u)
		}
	}
	good, otherwise := 0, 0
	for _, raw := range strings.Split(strings.TrimSpace(publicGood), "\n") {
		u, v := p.Check(raw, anything)
		if want := !strings.Contains(raw, "://["); want != (v.Action == guard.Allow) && !v6Public(raw) {
			t.Errorf("%q: %s %s as %s", raw, v.Action, v.Reason, u)
		}
		if v.Action == guard.Allow {
			good++
		} else {
			otherwise++
		}
	}
	t.Logf("%d must not pass; of the others %d pass and %d are refused: forms of IPv6 that wrap IPv4", len(bad), good, otherwise)
}

func v6Public(raw string) bool {
	u, err := ParseURL(raw)
	if err != nil {
		return false
	}
	a, ok := u.Host().Addr()
	return ok && classify(a).Class == Public
}

// Reading a URL is never milder than browsers and net/url are: whatever passes leads to the same host for all three.
func FuzzParseURL(f *testing.F) {
	for _, raw := range strings.Split(publicBad+"\n"+publicGood, "\n") {
		f.Add(raw)
	}
	for _, text := range refusedAddrs {
		for _, host := range spellings(netip.MustParseAddr(text)) {
			f.Add("http://" + host + "/")
		}
	}
	for _, raw := range []string{"http://ex\u00adample.com/", "http://a.b\\c@d", "http:\\/x", "http://x:1:2", "http://xn--80ak6aa92e.com", "http://１２７.1", "https://ß.de", "http://a_b.c/", "http://[::ffff:1.2.3.4]/"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := ParseURL(raw)
		if err != nil {
			if !u.IsZero() && u.host != (Host{}) {
				t.Errorf("%q is refused and still is %s", raw, u)
			}
			return
		}
		want, ok := browserHost(raw)
		if !ok || want != u.host.String() {
			t.Errorf("%q leads to %q, for a browser to %q %v", raw, u.host, want, ok)
		}
		if want, ok := goHost(raw); ok && want != u.host.String() {
			t.Errorf("%q leads to %q, for net/url to %q", raw, u.host, want)
		}
		if want, ok := browserHost(u.String()); !ok || want != u.host.String() {
			t.Errorf("%q, sent as %q, leads a browser to %q %v", raw, u, want, ok)
		}
		if again, err := ParseURL(u.String()); err != nil || again != u {
			t.Errorf("%q changes when it is read again: %q %v", u, again, err)
		}
		if !utf8.ValidString(u.String()) || strings.ContainsAny(u.String(), " \r\n\t") {
			t.Errorf("%q is sent as %q", raw, u)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	p, _ := New(Config{Sites: NoSites()})
	for _, raw := range []string{"https://api.github.com/repos/golang/go/issues?page=2", "https://bücher.example/", "http://169.254.169.254/latest/meta-data/"} {
		b.Run(raw[8:14], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Check(raw, anything)
			}
		})
	}
}
