package egress

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"hermes/internal/guard"
)

func answers(t testing.TB, texts ...string) Lookup {
	return func(string) ([]netip.Addr, error) {
		var out []netip.Addr
		for _, text := range texts {
			if text == "NXDOMAIN" {
				return nil, errors.New("no such host")
			}
			out = append(out, addr(t, text))
		}
		return out, nil
	}
}

func policy(t testing.TB, c Config) *Policy {
	t.Helper()
	if c.Sites == nil {
		c.Sites = NoSites()
	}
	p, warnings := New(c)
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	return p
}

// The texts name the address, its class, and the one setting that would allow it.
func TestReasons(t *testing.T) {
	p := policy(t, Config{})
	for _, row := range []struct{ url, dns, rule, reason, remedy string }{
		{"http://wiki.example/", "10.0.0.5", "address/private", "wiki.example -> 10.0.0.5 is a private/internal address (private use, 10.0.0.0/8)", `to allow it, add "wiki.example:80" to security.allow_private_hosts`},
		{"http://10.0.0.5:8080/", "", "address/private", "10.0.0.5 is a private/internal address (private use, 10.0.0.0/8)", `to allow it, add "10.0.0.5:8080" to security.allow_private_hosts`},
		{"http://localhost:3000/", "", "host/internal", "localhost is a name of this machine or its network (private/internal)", "to allow it, set security.allow_private_urls: true, which opens this machine and the whole local network"},
		{"http://127.0.0.1/", "", "address/loopback", "127.0.0.1 is a private/internal address (loopback, 127.0.0.0/8)", "to allow it, set security.allow_private_urls: true, which opens this machine and the whole local network"},
		{"http://peer.example/", "100.101.1.2", "address/shared", "peer.example -> 100.101.1.2 is a private/internal address (shared address space (CGNAT), 100.64.0.0/10)", `to allow it, add "peer.example:80" to security.allow_private_hosts`},
		{"https://a.example/", "198.18.0.5", "address/benchmark", "a.example -> 198.18.0.5 is a private/internal address (benchmarking (fake-ip proxies), 198.18.0.0/15)", `if a proxy on this machine answers with such addresses, add "198.18.0.0/15" to security.fake_ip_ranges`},
		{"https://a.example/", "64:ff9b::808:808", "address/nat64", "a.example -> 64:ff9b::808:808 (8.8.8.8 inside) is a private/internal address (NAT64, 64:ff9b::/96)", "if your network reaches IPv4 this way, set security.nat64: true"},
		{"https://a.example/", "224.0.0.1", "address/multicast", "a.example -> 224.0.0.1 is a private/internal address (multicast, 224.0.0.0/4)", "no setting allows it"},
		{"http://169.254.169.254/", "", "address/metadata", "169.254.169.254 is a cloud metadata address (169.254.169.254/32): no setting allows it", ""},
		{"http://a.example/", "2002:a9fe:a9fe::1", "address/metadata", "a.example -> 2002:a9fe:a9fe::1 (169.254.169.254 inside) is a cloud metadata address (169.254.169.254/32): no setting allows it", ""},
		{"http://a.example/", "10.0.0.1 169.254.169.254 127.0.0.1", "address/metadata", "a.example -> 169.254.169.254 is a cloud metadata address (169.254.169.254/32): no setting allows it", ""},
		{"http://a.example/", "fe80::1", "address/link-local", "a.example -> fe80::1 is a link-local address (link local, fe80::/10): no setting allows it", ""},
		{"http://metadata.google.internal/", "", "host/metadata", "metadata.google.internal is the name of a cloud metadata address or of what runs the cluster: no setting allows it", ""},
		{"http://router.local/", "", "host/internal", "router.local is a name of this machine or its network (private/internal)", `to allow it, add "router.local:80" to security.allow_private_hosts`},
		{"http://a.example:25/", "", "url/port", "port 25 belongs to another protocol than HTTP", `to allow it, add "a.example:25" to security.allow_private_hosts`},
		{"http://a.example/", "NXDOMAIN", "dns", "a.example: DNS resolution failed: no such host", ""},
		{"http://2130706433/", "", "host/numeric", `"2130706433": is an odd spelling of the address 127.0.0.1`, ""},
	} {
		_, v := p.Check(row.url, answers(t, strings.Fields(row.dns)...))
		if v.Action != guard.Block || v.Rule != row.rule || v.Reason != row.reason || v.Remedy != row.remedy {
			t.Errorf("%s %s:\n got %s | %s | %s\nwant %s | %s | %s", row.url, row.dns, v.Rule, v.Reason, v.Remedy, row.rule, row.reason, row.remedy)
		}
		if _, hosts, found := strings.Cut(v.Remedy, "add "); found && strings.HasSuffix(v.Remedy, keyHosts) { // the advice works
			entry, _, _ := strings.Cut(strings.TrimPrefix(hosts, `"`), `"`)
			if _, v := policy(t, Config{AllowHosts: []string{entry}}).Check(row.url, answers(t, strings.Fields(row.dns+" 93.184.216.34")...)); v.Action != guard.Allow {
				t.Errorf("%s %s: with %q still refused: %s", row.url, row.dns, entry, v.Reason)
			}
		}
	}
}

// What each setting opens, and what it does not.
func TestSettings(t *testing.T) {
	private := Config{AllowPrivate: true}
	fake := Config{FakeIP: []string{"198.18.0.0/15"}}
	nat64 := Config{NAT64: true}
	hosts := func(entries ...string) Config { return Config{AllowHosts: entries} }
	for _, row := range []struct {
		config   Config
		url, dns string
		pass     bool
	}{
		{Config{}, "https://example.com/", "93.184.216.34", true}, {Config{}, "https://example.com/", "93.184.216.34 10.0.0.1", false},
		{Config{}, "https://example.com/", "2606:4700::1 93.184.216.34", true}, {Config{}, "https://[2606:4700::1]/", "", true}, {Config{}, "https://example.com/", "", false},
		// The toggle opens what is on the local network, never the floor, and nothing that is no host.
		{private, "http://a.example/", "10.0.0.1", true}, {private, "http://a.example/", "127.0.0.1", true}, {private, "http://localhost/", "127.0.0.1", true}, {private, "http://[::1]/", "", true}, {private, "http://printer.local/", "192.168.1.9", true},
		{private, "http://wiki/", "10.0.0.1", true}, {private, "http://a.example/", "fd00::1", true}, {private, "http://a.example/", "100.64.0.1", true}, {private, "http://a.example/", "198.18.0.1", true}, {private, "http://[::ffff:0:10.0.0.1]/", "", true},
		{private, "http://a.example/", "169.254.169.254", false}, {private, "http://a.example/", "169.254.1.1", false}, {private, "http://a.example/", "100.100.100.200", false}, {private, "http://a.example/", "fd00:ec2::254", false},
		{private, "http://a.example/", "::ffff:169.254.169.254", false}, {private, "http://[64:ff9b::a9fe:a9fe]/", "", false}, {private, "http://[::169.254.169.254]/", "", false}, {private, "http://[2002:a9fe:a9fe::1]/", "", false}, {private, "http://168.63.129.16/", "", false},
		{private, "http://metadata/", "10.0.0.1", false}, {private, "http://metadata.goog./", "10.0.0.1", false}, {private, "http://instance-data/", "10.0.0.1", false}, {private, "http://kubernetes.default.svc.cluster.local/", "10.0.0.1", false},
		{private, "http://a.example/", "0.0.0.0", false}, {private, "http://a.example/", "224.0.0.1", false}, {private, "http://a.example/", "::ffff:0:8.8.8.8", false}, {private, "http://0x7f.1/", "127.0.0.1", false}, {private, "http://a.example/", "10.0.0.1 169.254.169.254", false},
		// Ranges of a fake-ip proxy: for names only, for their range only.
		{fake, "https://a.example/", "198.18.0.5", true}, {fake, "https://a.example/", "::ffff:198.18.0.5", true}, {fake, "https://a.example/", "198.18.0.5 10.0.0.1", false}, {fake, "https://198.18.0.5/", "", false}, {fake, "https://a.example/", "192.168.1.1", false}, {fake, "https://a.example/", "169.254.169.254", false},
		// NAT64 is judged by what is inside.
		{nat64, "https://a.example/", "64:ff9b::808:808", true}, {nat64, "https://a.example/", "64:ff9b::a00:1", false}, {nat64, "https://a.example/", "64:ff9b::a9fe:a9fe", false}, {nat64, "https://a.example/", "64:ff9b:1::808:808", false}, {Config{}, "https://a.example/", "64:ff9b::808:808", false},
		// Exceptions: one host, one port, one network, or all of it; nothing beside it.
		{hosts("wiki.corp.example"), "http://wiki.corp.example:8080/", "10.1.2.3", true}, {hosts("wiki.corp.example"), "http://x.wiki.corp.example/", "10.1.2.3", false}, {hosts("WIKI.corp.example."), "http://wiki.corp.example/", "10.1.2.3", true},
		{hosts("wiki.corp.example:8080"), "http://wiki.corp.example:8080/", "10.1.2.3", true}, {hosts("wiki.corp.example:8080"), "http://wiki.corp.example/", "10.1.2.3", false},
		{hosts("wiki.corp.example:443 10.1.0.0/16"), "https://wiki.corp.example/", "10.1.2.3", true}, {hosts("wiki.corp.example:443 10.1.0.0/16"), "https://wiki.corp.example/", "10.2.2.3", false},
		{hosts("wiki.corp.example"), "http://wiki.corp.example/", "127.0.0.1", false}, {Config{AllowPrivate: true, AllowHosts: []string{"localhost:25"}}, "http://localhost:25/", "127.0.0.1", true}, {private, "http://localhost:25/", "127.0.0.1", false}, {hosts("wiki.corp.example"), "http://wiki.corp.example/", "169.254.169.254", false}, {hosts("printer.local"), "http://printer.local/", "192.168.1.9", true}, {hosts("wiki"), "http://wiki/", "10.0.0.1", true},
		{hosts("10.1.0.0/16"), "http://a.example/", "10.1.2.3", true}, {hosts("10.1.0.0/16:8080"), "http://10.1.2.3:8080/", "", true}, {hosts("10.1.0.0/16:8080"), "http://10.1.2.3/", "", false}, {hosts("[fd00::/8]:8080"), "http://[fd00::1]:8080/", "", true}, {hosts("[fd00::/8]:8080"), "http://[fd00:ec2::254]:8080/", "", false},
		{hosts("fd12::1"), "http://[fd12::1]/", "", true}, {hosts("10.0.0.5:25"), "http://10.0.0.5:25/", "", true}, {hosts("10.1.0.0/16"), "http://10.1.0.1:25/", "", false},
		// The one public host whose name servers answer with the range of benchmarks.
		{Config{}, "https://multimedia.nt.qq.com.cn/", "198.18.0.23", true}, {Config{}, "https://multimedia.nt.qq.com.cn/", "127.0.0.1", false}, {Config{}, "http://multimedia.nt.qq.com.cn/", "198.18.0.23", false},
		// A proxy of the owner's that resolves: names are not looked up here, what they say still counts.
		{Config{Resolves: true}, "https://api.example.com/", "NXDOMAIN", true}, {Config{Resolves: true}, "http://metadata.google.internal/", "NXDOMAIN", false}, {Config{Resolves: true}, "http://0xa9fea9fe/", "NXDOMAIN", false},
		{Config{Resolves: true}, "http://localhost/", "NXDOMAIN", false}, {Config{Resolves: true}, "http://10.0.0.1/", "NXDOMAIN", false}, {Config{Resolves: true}, "http://wiki/", "NXDOMAIN", false}, {Config{Resolves: true}, "http://host.docker.internal/", "NXDOMAIN", false},
	} {
		_, v := policy(t, row.config).Check(row.url, answers(t, strings.Fields(row.dns)...))
		if (v.Action == guard.Allow) != row.pass {
			t.Errorf("%+v: %s %s: %s %s", row.config, row.url, row.dns, v.Action, v.Reason)
		}
	}
}

// Entries that reach for what no setting opens are dropped and told; the others hold.
func TestEntriesDropped(t *testing.T) {
	for _, entry := range []string{"0.0.0.0/0", "::/0", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8", "169.254.0.0/16", "169.254.169.254", "100.64.0.0/10", "fc00::/7", "fe80::/10", "::1", "0.0.0.0", "::ffff:10.0.0.0/104", "224.0.0.0/4", "64:ff9b::/96", "2002::/16", "128.0.0.0/1", "nonsense", "", "198.18.0.0/40"} {
		p, warnings := New(Config{FakeIP: []string{entry, "198.18.0.0/15"}, Sites: NoSites()})
		if len(warnings) != 1 || warnings[0].Entry != entry || warnings[0].Key != keyFake {
			t.Errorf("fake_ip_ranges %q: %v", entry, warnings)
		}
		if _, v := p.Check("https://a.example/", answers(t, "198.18.1.125")); v.Action != guard.Allow {
			t.Errorf("beside %q the good entry does not hold: %s", entry, v.Reason)
		}
	}
	for _, entry := range []string{"198.18.0.0/15", "198.18.0.0/16", "198.19.1.0", "198.18.1.1/15", "28.0.0.0/8", "198.0.0.0/8", "240.0.0.0/5", "2001:2::/48"} {
		if _, warnings := New(Config{FakeIP: []string{entry}}); len(warnings) != 0 {
			t.Errorf("fake_ip_ranges %q: %v", entry, warnings)
		}
	}
	for _, entry := range []string{"localhost", "localhost:80", "db.localhost 10.0.0.0/8", "0.0.0.0/0", "127.0.0.0/8", "127.0.0.1:11434", "a.example 127.0.0.0/8", "169.254.0.0/16", "169.254.169.254", "100.100.100.200", "168.63.129.16:80", "::1", "fe80::/10", "64:ff9b::/96", "0.0.0.0", "224.0.0.1", "metadata.google.internal", "metadata", "kubernetes.default.svc", "a.example:0", "a.example:x", "a b c", "", "0x7f.1", "10.0.0.0/8 10.0.0.0/8", "pаypal.com"} {
		if _, warnings := New(Config{AllowHosts: []string{entry}}); len(warnings) != 1 || warnings[0].Key != keyHosts || !strings.HasPrefix(warnings[0].String(), keyHosts+": ") {
			t.Errorf("allow_private_hosts %q: %v", entry, warnings)
		}
	}
	for _, entry := range []string{"a.example", "a.example:8080", "a.example 10.0.0.0/8", "10.0.0.0/8", "10.0.0.1", "100.64.0.0/10", "fd00::/8", "[fd00::1]:80", "printer.local", "198.18.0.0/15", "192.0.2.0/24"} {
		if _, warnings := New(Config{AllowHosts: []string{entry}}); len(warnings) != 0 {
			t.Errorf("allow_private_hosts %q: %v", entry, warnings)
		}
	}
}

// Without a policy, and without a list of sites, nothing is reached.
func TestZeroRefuses(t *testing.T) {
	var none *Policy
	for _, p := range []*Policy{none, {}, none.WithSites(NoSites())} {
		if _, v := p.Check("https://example.com/", answers(t, "93.184.216.34")); v.Action != guard.Block {
			t.Errorf("%+v lets a URL pass", p)
		}
		if v := p.Before(Target{}); v.Action != guard.Block {
			t.Errorf("%+v lets nothing pass as something", p)
		}
	}
	if v := none.Trusted(Target{Host: Host{name: "a.example"}}, nil); v.Action != guard.Block {
		t.Error("no policy trusts an origin")
	}
}

// An origin that the owner has set himself may be private; the floor holds there too.
func TestTrusted(t *testing.T) {
	p := policy(t, Config{})
	for _, row := range []struct {
		host, dns string
		pass      bool
	}{
		{"ollama.lan", "192.168.1.5", true}, {"localhost", "127.0.0.1 ::1", true}, {"127.0.0.1", "127.0.0.1", true}, {"api.example.com", "93.184.216.34", true},
		{"ollama.lan", "169.254.169.254", false}, {"169.254.169.254", "169.254.169.254", false}, {"metadata.google.internal", "10.0.0.1", false}, {"a.example", "10.0.0.1 100.100.100.200", false}, {"a.example", "0.0.0.0", false}, {"a.example", "", false},
	} {
		h, err := ParseHost(row.host)
		if err != nil {
			t.Fatal(err)
		}
		addrs, _ := answers(t, strings.Fields(row.dns)...)("")
		if v := p.Trusted(Target{"http", h, 11434}, addrs); (v.Action == guard.Allow) != row.pass {
			t.Errorf("%s %s: %s %s", row.host, row.dns, v.Action, v.Reason)
		}
	}
}

func TestAllowPrivate(t *testing.T) {
	for _, row := range []struct {
		variable          string
		security, browser bool
		want              bool
	}{
		{"", false, false, false}, {"", true, false, true}, {"", false, true, true}, {" TRUE ", false, false, true}, {"1", false, false, true}, {"yes", false, false, true},
		{"false", true, true, false}, {"0", true, false, false}, {"no", false, true, false}, {"maybe", false, false, false}, {"maybe", true, false, true}, {"on", false, false, false},
	} {
		if got := AllowPrivate(row.variable, row.security, row.browser); got != row.want {
			t.Errorf("%+v: %v", row, got)
		}
	}
}

// A stricter policy never lets more pass, whatever the addresses.
func FuzzStricter(f *testing.F) {
	for _, a := range edges() {
		b := a.As16()
		f.Add(b[:], "a.example", uint16(80))
	}
	strict, _ := New(Config{Sites: NoSites()})
	loose, _ := New(Config{Sites: NoSites(), AllowPrivate: true, NAT64: true, FakeIP: []string{"198.18.0.0/15"}, AllowHosts: []string{"10.0.0.0/8", "100.64.0.0/10"}})
	f.Fuzz(func(t *testing.T, b []byte, host string, port uint16) {
		a, ok := netip.AddrFromSlice(b)
		h, err := ParseHost(host)
		if !ok || err != nil {
			return
		}
		for _, scheme := range []string{"http", "https"} {
			target := Target{scheme, h, port}
			if strict.Answers(target, []netip.Addr{a}).Action > loose.Answers(target, []netip.Addr{a}).Action {
				t.Errorf("%s %s: the stricter policy lets it pass", host, a)
			}
			if v := loose.Answers(target, []netip.Addr{a}); v.Action == guard.Allow && classify(a).Class.Floor() {
				t.Errorf("%s %s: the floor is lifted", host, a)
			}
			if v := strict.Answers(target, []netip.Addr{a}); v.Action == guard.Allow && classify(a).Class != Public && h.Name() != "multimedia.nt.qq.com.cn" {
				t.Errorf("%s %s: %s passes", host, a, classify(a).Class)
			}
		}
	})
}

func TestWarningsOfEnvironment(t *testing.T) {
	env := func(name string) string { return map[string]string{"https_proxy": "http://p:3128"}[name] }
	if got := AmbientProxy(env, false); !strings.Contains(got, "https_proxy") || !strings.Contains(got, "egress.proxy") {
		t.Errorf("%q", got)
	}
	if got := AmbientProxy(env, true) + AmbientProxy(func(string) string { return "" }, false); got != "" {
		t.Errorf("%q", got)
	}
}
