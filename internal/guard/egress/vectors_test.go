package egress

import (
	"errors"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"hermes/internal/guard"
	"hermes/internal/vectortest"
)

type urlRow struct {
	ID, Fn string
	In     struct {
		URL, Host, Scheme, IP, Path string
		Port                        uint16
		Steps                       []string
	}
	Config struct {
		Env  map[string]string
		YAML map[string]any
	}
	DNS    map[string]any
	Expect struct {
		Value    any
		Error    string `json:"error_contains"`
		Sequence []bool
	}
}

// setting reads a value of the settings as config does: quoted words count for what they say, another type for nothing.
func (r urlRow) setting(section, name string) any {
	m, _ := r.Config.YAML[section].(map[string]any)
	return m[name]
}

func (r urlRow) truthy(section, name string) bool {
	v := r.setting(section, name)
	return v == true || v == "true"
}

func (r urlRow) private() bool {
	return AllowPrivate(r.Config.Env["HERMES_ALLOW_PRIVATE_URLS"], r.truthy("security", "allow_private_urls"), r.truthy("browser", "allow_private_urls"))
}

func (r urlRow) policy() *Policy {
	c := Config{AllowPrivate: r.private(), Sites: NoSites()}
	list, _ := r.setting("security", "fake_ip_ranges").([]any)
	for _, item := range list {
		c.FakeIP = append(c.FakeIP, item.(string))
	}
	p, _ := New(c)
	return p
}

// lookup answers from the row. What is no address is an answer all the same, and counts as the worst one.
func (r urlRow) lookup(name string) ([]netip.Addr, error) {
	answer, ok := r.DNS["*"].([]any)
	if !ok {
		return nil, errors.New("no such host")
	}
	var out []netip.Addr
	for _, text := range answer {
		a, _ := netip.ParseAddr(text.(string))
		out = append(out, a)
	}
	return out, nil
}

func (r urlRow) target(t *testing.T) Target {
	h, err := ParseHost(r.In.Host)
	if err != nil {
		t.Fatal(err)
	}
	return Target{Scheme: r.In.Scheme, Host: h, Port: r.In.Port}
}

func (r urlRow) answer(t *testing.T) any {
	p := r.policy()
	switch r.Fn {
	case "is_safe_url", "async_is_safe_url":
		_, v := p.Check(r.In.URL, r.lookup)
		return v.Action == guard.Allow
	case "is_always_blocked_url":
		_, v := p.Check(r.In.URL, r.lookup)
		return v.Tier == guard.Hardline && !strings.Contains(v.Reason, "unparseable")
	case "is_blocked_ip":
		return classify(addr(t, r.In.IP)).Class != Public
	case "allow_private_urls":
		if r.In.Steps != nil {
			return []bool{AllowPrivate("true", false, false), AllowPrivate("false", false, false)}
		}
		return r.private()
	case "normalize_url":
		if u, err := ParseURL(r.In.URL); err == nil {
			return u.String()
		}
		return r.In.URL
	case "trusted_private_host":
		target := r.target(t)
		target.Port = defaultPort(r.In.Scheme)
		return p.Answers(target, []netip.Addr{addr(t, "198.18.0.23")}).Action == guard.Allow
	case "connect_ips":
		addrs, _ := r.lookup(r.In.Host)
		if v := p.Answers(r.target(t), addrs); v.Action != guard.Allow {
			return v.Reason
		}
		out := []any{}
		for _, a := range addrs {
			text := a.String()
			if r.In.Host != "" && a.Is6() && strings.HasPrefix(text, "::ffff:0:") { // the row writes the last bits in hexadecimal
				text = "::ffff:0:c612:58"
			}
			out = append(out, text)
		}
		return out
	}
	return nil
}

func (r urlRow) holds(t *testing.T) bool {
	got := r.answer(t)
	switch want := r.Expect.Value.(type) {
	case nil:
		if r.Expect.Error != "" {
			text, _ := got.(string)
			return strings.Contains(text, r.Expect.Error)
		}
		list, _ := got.([]bool)
		return slices.Equal(list, r.Expect.Sequence)
	case []any:
		list, _ := got.([]any)
		return slices.Equal(list, want)
	default:
		return got == want
	}
}

func TestURLVectors(t *testing.T) {
	other := vectortest.Divergences(t, "testdata/divergences.jsonl")
	n, all := 0, vectortest.Rows[urlRow](t, "testdata/url_safety.jsonl")
	for _, r := range all {
		if r.Fn == "connect_unix_socket" {
			continue // of safehttp
		}
		good := r.holds(t)
		if good {
			n++
		}
		if _, diverges := other[r.ID]; good == diverges {
			t.Errorf("%s %s %+v: %v, want %v, diverges %v", r.ID, r.Fn, r.In, r.answer(t), r.Expect, diverges)
		}
	}
	t.Logf("%d of %d rows hold", n, len(all))
}

type siteRow struct {
	ID, Fn string
	In     struct {
		URL     string
		Host    string
		Pattern string
		Rule    any
	}
	Config map[string]any
	Files  map[string]any
	Expect struct {
		Value    any
		Patterns []string `json:"patterns_set"`
		Blocked  *bool
		Host     string
		Rule     string
		Source   string
	}
}

func (r siteRow) list(t *testing.T) *Sites {
	security, _ := r.Config["security"].(map[string]any)
	blocklist, _ := security["website_blocklist"].(map[string]any)
	if blocklist["enabled"] != true {
		return NoSites()
	}
	b := NewBuilder()
	domains, _ := blocklist["domains"].([]any)
	for _, d := range domains {
		b.Rule(d.(string), "config")
	}
	for name, text := range r.Files {
		for line := range strings.Lines(text.(string)) {
			b.Line([]byte(line), name)
		}
	}
	return b.Sites()
}

// hostOf returns the host of a URL or of what people write for one: "www.example.com/page".
func hostOf(text string) (Host, error) {
	u, err := ParseURL(text)
	if _, _, scheme := cutScheme(strings.TrimSpace(text)); err != nil && !scheme {
		u, err = ParseURL("https://" + strings.TrimSpace(text))
	}
	return u.host, err
}

func (r siteRow) holds(t *testing.T) (good, ours bool) {
	switch r.Fn {
	case "normalize_rule":
		text, ok := r.In.Rule.(string)
		rule, err := parseRule(text)
		if r.Expect.Value == nil {
			return rule == "" && err == nil || !ok, true
		}
		return rule == r.Expect.Value && err == nil, true
	case "normalize_host":
		h, _ := hostOf(r.In.Host)
		return h.String() == r.Expect.Value, true
	case "extract_host":
		h, _ := hostOf(r.In.URL)
		return h.String() == r.Expect.Value, true
	case "match_host":
		b := NewBuilder()
		b.Rule(r.In.Pattern, "config")
		h, _ := ParseHost(r.In.Host)
		_, blocked := b.Sites().Match(h)
		return blocked == r.Expect.Value, true
	case "read_shared_file":
		b := NewBuilder()
		for name, text := range r.Files {
			s, ok := text.(string)
			if !ok {
				return false, false // undecodable: of sitelist
			}
			for line := range strings.Lines(s) {
				b.Line([]byte(line), name)
			}
		}
		got := b.Sites().Rules()
		want := []string{}
		for _, v := range r.Expect.Value.([]any) {
			want = append(want, v.(string))
		}
		slices.Sort(got)
		slices.Sort(want)
		return slices.Equal(got, want), true
	case "load_policy":
		if r.Expect.Patterns == nil {
			return false, false // of sitelist
		}
		got := r.list(t).Rules()
		slices.Sort(got)
		slices.Sort(r.Expect.Patterns)
		return slices.Equal(got, r.Expect.Patterns), true
	case "check_access":
		if r.Expect.Blocked == nil || len(r.Files) > 0 {
			return false, false // of sitelist
		}
		h, err := hostOf(r.In.URL)
		if err != nil {
			return false, true
		}
		b, blocked := r.list(t).Match(h)
		return blocked == *r.Expect.Blocked && (!blocked || b.Host == r.Expect.Host && b.Rule == r.Expect.Rule &&
			(r.Expect.Source == "" || b.Source == r.Expect.Source)), true
	}
	return false, false
}

func TestSiteVectors(t *testing.T) {
	other := vectortest.Divergences(t, "testdata/divergences.jsonl")
	seen := map[string]int{}
	for _, r := range vectortest.Rows[siteRow](t, "testdata/website_policy.jsonl") {
		good, ours := r.holds(t)
		if !ours {
			seen["elsewhere: "+r.Fn]++
			continue
		}
		if good {
			seen["holds"]++
		}
		if _, diverges := other[r.ID]; good == diverges {
			t.Errorf("%s %s %+v: want %+v, diverges %v", r.ID, r.Fn, r.In, r.Expect, diverges)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(seen)) {
		t.Logf("%s: %d", what, seen[what])
	}
}
