package app

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"hermes/internal/guard"
	"hermes/internal/guard/egress"
)

// reaches tells whether a URL may be fetched where its name has an address.
func reaches(a *App, url, address string) bool {
	_, v := a.Egress().Check(url, func(string) ([]netip.Addr, error) {
		if address == "" {
			return nil, errors.New("no such host")
		}
		return []netip.Addr{netip.MustParseAddr(address)}, nil
	})
	return v.Action == guard.Allow
}

// Each setting about the network reaches the policy.
func TestEgressSettings(t *testing.T) {
	for _, row := range []struct {
		settings, env string
		url, address  string
		want          bool
	}{
		{"", "", "https://example.com/", "93.184.216.34", true}, {"", "", "http://a.example/", "10.0.0.1", false},
		{"security: {allow_private_urls: true}", "", "http://a.example/", "10.0.0.1", true}, {"browser: {allow_private_urls: true}", "", "http://a.example/", "10.0.0.1", true},
		{"security: {allow_private_urls: true}", "", "http://a.example/", "169.254.169.254", false}, {"", "true", "http://a.example/", "10.0.0.1", true},
		{"security: {allow_private_urls: true}", "false", "http://a.example/", "10.0.0.1", false}, {"browser: {allow_private_urls: true}", "false", "http://a.example/", "10.0.0.1", false},
		{`security: {allow_private_hosts: ["a.example:80"]}`, "", "http://a.example/", "10.0.0.1", true}, {`security: {allow_private_hosts: ["a.example:80"]}`, "", "http://a.example:81/", "10.0.0.1", false},
		{"security: {fake_ip_ranges: [198.18.0.0/15]}", "", "https://a.example/", "198.18.0.5", true}, {"security: {nat64: true}", "", "https://a.example/", "64:ff9b::808:808", true},
		{"security: {website_blocklist: {enabled: true, domains: [a.example]}}", "", "https://b.a.example/", "93.184.216.34", false}, {"security: {website_blocklist: {enabled: true, shared_files: [missing.txt]}}", "", "https://b.example/", "93.184.216.34", false},
		{"egress: {proxy: 'http://p.example:3128', proxy_resolves: true}", "", "https://a.example/", "", true}, {"egress: {proxy_resolves: true}", "", "https://a.example/", "", false}, {"egress: {proxy: 'http://p.example:3128'}", "", "https://a.example/", "", false},
	} {
		w := newWorld(t, row.settings)
		if row.env != "" {
			w.env["HERMES_ALLOW_PRIVATE_URLS"] = row.env
		}
		a := w.open(t)
		if got := reaches(a, row.url, row.address); got != row.want {
			t.Errorf("%s %s: %s at %s: %v", row.settings, row.env, row.url, row.address, got)
		}
	}
}

// Settings and lists count as soon as they change; while they do not, the policy is the same one.
func TestEgressReload(t *testing.T) {
	w := newWorld(t, "security: {website_blocklist: {enabled: true, shared_files: [list.txt]}}")
	w.write(t, "list.txt", "one.example\n")
	a := w.open(t)
	first := a.Egress()
	if first == nil || a.Egress() != first || reaches(a, "https://one.example/", "93.184.216.34") {
		t.Fatal("the list is not in force, or is read anew without need")
	}
	w.write(t, "list.txt", "two.example\n")
	if !reaches(a, "https://one.example/", "93.184.216.34") || reaches(a, "https://two.example/", "93.184.216.34") {
		t.Error("the changed list is not in force")
	}
	w.write(t, "config.yaml", "security: {allow_private_urls: true, fake_ip_ranges: [10.0.0.0/8]}")
	if !reaches(a, "http://a.example/", "10.0.0.1") || !reaches(a, "https://two.example/", "93.184.216.34") {
		t.Error("the changed settings are not in force")
	}
	w.write(t, "config.yaml", "security: [oops")
	if !reaches(a, "http://a.example/", "10.0.0.1") {
		t.Error("the last good settings are not in force")
	}
	told := strings.Join(w.told, "\n")
	if !strings.Contains(told, `security.fake_ip_ranges: "10.0.0.0/8" is ignored`) || !strings.Contains(told, "last good ones stay in force") {
		t.Errorf("told %q", w.told)
	}
}

// Proxies of the environment are not used, and the owner hears it once.
func TestEgressAmbientProxy(t *testing.T) {
	w := newWorld(t, "")
	w.env["https_proxy"] = "http://p.example:3128"
	a := w.open(t)
	var last *egress.Policy
	for range 3 {
		last = a.Egress()
	}
	if n := strings.Count(strings.Join(w.told, "\n"), "egress.proxy"); n != 1 || last == nil {
		t.Errorf("told %q", w.told)
	}
	if reaches(a, "https://nowhere.example/", "") {
		t.Error("a name that does not resolve passes")
	}
}

// Who proves what a backend can hold has to know that the settings do not ask for it.
func TestOpenNetwork(t *testing.T) {
	for _, row := range []struct {
		settings, backend string
		want              bool
	}{
		{"", "docker", true}, {"terminal: {docker_network: false}", "docker", false}, {"terminal: {network: allowlist}", "docker", false}, {"terminal: {network: open, docker_network: false}", "docker", true},
		{"", "native", false}, {"terminal: {network: open}", "native", true}, {"terminal: {network: none}", "native", false},
	} {
		got, err := newWorld(t, row.settings).open(t).OpenNetwork(row.backend)
		if err != nil || got != row.want {
			t.Errorf("%s %s: %v %v", row.settings, row.backend, got, err)
		}
	}
}
