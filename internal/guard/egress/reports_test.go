package egress

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"hermes/internal/guard"
)

// pass is a question to a policy and whether it lets the URL pass.
type pass struct {
	url, dns string
	want     bool
}

func check(t *testing.T, p *Policy, rows ...pass) {
	t.Helper()
	for _, row := range rows {
		if _, v := p.Check(row.url, answers(t, strings.Fields(row.dns)...)); (v.Action == guard.Allow) != row.want {
			t.Errorf("%s %s: %s %s", row.url, row.dns, v.Action, v.Reason)
		}
	}
}

// Mapped forms of metadata and shared addresses passed; a mapped public one must.
func TestReport_58(t *testing.T) {
	check(t, policy(t, Config{}), pass{"http://[::ffff:169.254.169.254]/", "", false}, pass{"http://[::ffff:100.100.100.200]/", "", false},
		pass{"http://[::ffff:100.64.0.1]/", "", false}, pass{"http://[::ffff:8.8.8.8]/", "", true})
}

// Only http and https are fetched (the redirect of this report is tested with the client).
func TestReport_59(t *testing.T) {
	check(t, policy(t, Config{AllowPrivate: true}), pass{"file:///etc/passwd", "", false}, pass{"data:text/html,x", "", false}, pass{"javascript:alert(1)", "", false})
}

// A fake-ip proxy on this machine: its range passes for names where it is declared, and only there.
func TestReport_N001(t *testing.T) {
	check(t, policy(t, Config{FakeIP: []string{"198.18.0.0/15"}}), pass{"https://a.example/", "198.18.0.5", true}, pass{"https://198.18.0.5/", "", false}, pass{"https://a.example/", "169.254.169.254", false})
	check(t, policy(t, Config{}), pass{"https://a.example/", "198.18.0.5", false})
	for _, entry := range []string{"0.0.0.0/0", "::/0", "10.0.0.0/8", "fc00::/7"} {
		if _, warnings := New(Config{FakeIP: []string{entry}}); len(warnings) != 1 {
			t.Errorf("%s is accepted", entry)
		}
	}
}

// One's own VPN: one host and port, and the floor inside the same block stays.
func TestReport_N002(t *testing.T) {
	check(t, policy(t, Config{AllowHosts: []string{"100.101.1.2:8080"}}), pass{"http://100.101.1.2:8080/", "", true}, pass{"http://100.101.1.2:8081/", "", false}, pass{"http://100.101.1.3:8080/", "", false})
	check(t, policy(t, Config{AllowHosts: []string{"100.64.0.0/10"}}), pass{"http://100.101.1.2/", "", true}, pass{"http://100.100.100.200/", "", false})
	check(t, policy(t, Config{}), pass{"http://peer.example/", "100.101.1.2", false})
}

// IPv4 in IPv6 is unmapped before any test.
func TestReport_N005(t *testing.T) {
	for _, r := range &special {
		p := netip.MustParsePrefix(r.prefix)
		if !p.Addr().Is4() {
			continue
		}
		mapped := netip.AddrFrom16(p.Addr().As16())
		if !mapped.Is4In6() || classify(mapped).Class != classify(p.Addr()).Class || classify(mapped).Class == Public {
			t.Errorf("%s is %s, %s is %s", mapped, classify(mapped).Class, p.Addr(), classify(p.Addr()).Class)
		}
	}
}

// Without DNS of its own: ambient variables do not open anything; the owner's resolving proxy does, and names are still judged.
func TestReport_N008(t *testing.T) {
	check(t, policy(t, Config{}), pass{"https://api.example.com/", "NXDOMAIN", false})
	check(t, policy(t, Config{Resolves: true}), pass{"https://api.example.com/", "NXDOMAIN", true}, pass{"http://metadata.google.internal/", "NXDOMAIN", false},
		pass{"http://0xa9fea9fe/", "NXDOMAIN", false}, pass{"http://localhost/", "NXDOMAIN", false})
}

// Spellings that browsers make an address of, and a floor that stays when private pages are opened: TestSpellings has them all.
func TestReport_N010(t *testing.T) {
	open := policy(t, Config{AllowPrivate: true})
	for _, host := range spellings(addr(t, "169.254.169.254")) {
		check(t, open, pass{"http://" + host + "/", "169.254.169.254", false})
	}
}

// Scopes, narrowest first: each opens its own and nothing of the next one.
func TestReport_N013(t *testing.T) {
	for _, row := range []struct {
		config Config
		opens  int
	}{
		{Config{}, 0}, {Config{AllowHosts: []string{"a.example:80 10.1.0.0/16"}}, 1}, {Config{AllowHosts: []string{"a.example:80"}}, 2}, {Config{AllowHosts: []string{"10.0.0.0/8"}}, 3}, {Config{AllowPrivate: true}, 5},
	} {
		n := 0
		for _, q := range []pass{{"http://a.example/", "10.1.0.1", true}, {"http://a.example/", "10.2.0.1", true}, {"http://b.example/", "10.2.0.1", true}, {"http://c.example/", "192.168.0.1", true}, {"http://c.example/", "127.0.0.1", true}, {"http://c.example/", "169.254.169.254", true}} {
			if _, v := policy(t, row.config).Check(q.url, answers(t, q.dns)); v.Action == guard.Allow {
				n++
			}
		}
		if n != row.opens {
			t.Errorf("%+v opens %d, want %d", row.config, n, row.opens)
		}
	}
}

// One profile's opening is nothing to another's, in either order.
func TestReport_N061(t *testing.T) {
	open, closed := policy(t, Config{AllowPrivate: true}), policy(t, Config{})
	for range 2 {
		check(t, open, pass{"http://profile-private.test/", "10.0.0.8", true})
		check(t, closed, pass{"http://profile-private.test/", "10.0.0.8", false})
		check(t, open, pass{"http://profile-private.test/", "10.0.0.8", true})
	}
}

// A corporate host that resolves inward: with its network it passes, without it does not; loopback and link-local never.
func TestReport_N064(t *testing.T) {
	check(t, policy(t, Config{AllowHosts: []string{"git.corp.example 10.0.0.0/8"}}), pass{"https://git.corp.example/", "10.3.2.1", true}, pass{"https://git.corp.example/", "192.168.0.1", false})
	check(t, policy(t, Config{}), pass{"https://git.corp.example/", "10.3.2.1", false})
	for _, entry := range []string{"git.corp.example 127.0.0.0/8", "git.corp.example 169.254.0.0/16", "git.corp.example fe80::/10"} {
		if _, warnings := New(Config{AllowHosts: []string{entry}}); len(warnings) != 1 {
			t.Errorf("%s is accepted", entry)
		}
	}
}

// Settings that exist reach the decision: every field of the configuration changes an answer.
func TestReport_N065(t *testing.T) {
	changes := map[string]struct {
		config Config
		url    string
		dns    string
	}{
		"AllowPrivate": {Config{AllowPrivate: true}, "http://a.example/", "10.0.0.1"}, "AllowHosts": {Config{AllowHosts: []string{"a.example"}}, "http://a.example/", "10.0.0.1"},
		"FakeIP": {Config{FakeIP: []string{"198.18.0.0/15"}}, "http://a.example/", "198.18.0.1"}, "NAT64": {Config{NAT64: true}, "http://a.example/", "64:ff9b::808:808"},
		"Resolves": {Config{Resolves: true}, "http://a.example/", "NXDOMAIN"}, "Sites": {Config{}, "http://a.example/", "93.184.216.34"},
	}
	for i := range reflect.TypeFor[Config]().NumField() {
		name := reflect.TypeFor[Config]().Field(i).Name
		c, ok := changes[name]
		if !ok {
			t.Errorf("%s is not tried", name)
			continue
		}
		without := policy(t, Config{})
		if name == "Sites" {
			without = without.WithSites(list("a.example"))
		}
		_, before := without.Check(c.url, answers(t, c.dns))
		_, after := policy(t, c.config).Check(c.url, answers(t, c.dns))
		if before.Action != guard.Block || after.Action != guard.Allow {
			t.Errorf("%s changes nothing: %s, %s", name, before.Reason, after.Reason)
		}
	}
}

// What net/http folds to this machine is refused by what it folds to (that nothing is dialled is tested with the client).
func TestReport_N101(t *testing.T) {
	for _, host := range []string{"１２７.０.０.１", "①②⑦.⓪.⓪.①", "127。0。0。1", "local\u00adhost", "loc\u200bal\u2060host", "ｌｏｃａｌｈｏｓｔ"} {
		check(t, policy(t, Config{}), pass{"http://" + host + "/", "93.184.216.34", false})
	}
}

// A prefix does not contain a zoned address, nor a mapped one: zones are refused, and mapped ones unmapped, before the table.
func TestReport_N104(t *testing.T) {
	if c := classify(addr(t, "fe80::1%eth0")).Class; !c.Floor() {
		t.Error(c)
	}
	if c := classify(addr(t, "::ffff:127.0.0.1")).Class; c != Loopback {
		t.Error(c)
	}
}
