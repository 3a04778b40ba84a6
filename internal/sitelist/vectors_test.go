package sitelist

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"hermes/internal/config"
	"hermes/internal/guard"
	"hermes/internal/home"
	"hermes/internal/vectortest"
)

type row struct {
	ID, Fn string
	In     struct {
		URL   string
		Fault string
		Path  string
	}
	Config map[string]any
	Files  map[string]any
	Expect struct {
		Blocked  *bool
		Enabled  *bool
		Error    string
		Rules    []string
		Value    any
		Contains []string `json:"patterns_contain"`
	}
}

// holds makes the row's home, reads its settings as the program does, and asks.
func (r row) holds(t *testing.T) bool {
	p := newPlace(t)
	dir, err := home.Create(p.dir)
	must(t, err)
	defer dir.Close()
	names := strings.NewReplacer("$TMP/", "", "$HERMES_HOME/", "")
	if r.Config != nil {
		text, _ := json.Marshal(r.Config) // which is YAML
		p.write(t, "config.yaml", strings.ReplaceAll(string(text), "$TMP/", ""))
	}
	for name, content := range r.Files {
		text, ok := content.(string)
		if m, isMap := content.(map[string]any); isMap {
			raw, err := hex.DecodeString(m["hex"].(string))
			must(t, err)
			text, ok = string(raw), true
		}
		if !ok {
			t.Fatalf("%s: what is %v", r.ID, content)
		}
		if r.In.Fault == "" {
			p.write(t, names.Replace(name), text)
		} else {
			must(t, os.Mkdir(p.dir+"/"+names.Replace(name), 0o700)) // cannot be read, by root either
		}
	}
	snap, err := config.New(dir, nil).Load()
	if r.Expect.Error != "" {
		return err != nil
	}
	if err != nil {
		return r.Expect.Blocked != nil && *r.Expect.Blocked // nothing is fetched without settings
	}
	set := snap.Settings.Security.Sites
	if r.Fn == "read_shared_file" {
		set.Enabled, set.Files = true, []string{names.Replace(r.In.Path)}
	}
	sites := p.Sites(Settings{Enabled: set.Enabled, Domains: set.Domains, Files: set.Files})
	switch {
	case r.Fn == "check_access":
		return (asks(t, sites, r.In.URL).Action != guard.Allow) == *r.Expect.Blocked
	case r.Expect.Contains != nil:
		return !slices.ContainsFunc(r.Expect.Contains, func(rule string) bool { return !slices.Contains(sites.Rules(), rule) })
	case r.Fn == "default_config", r.Fn == "load_raw_policy":
		return !set.Enabled && len(set.Domains)+len(set.Files) == 0 && asks(t, sites, "https://example.com").Action == guard.Allow
	}
	return asks(t, sites, "https://example.com").Action == guard.Allow && slices.Equal(sites.Rules(), r.Expect.Rules)
}

func TestVectors(t *testing.T) {
	divergent := vectortest.Divergences(t, "testdata/divergences.jsonl")
	for _, r := range vectortest.Rows[row](t, "testdata/website_policy.jsonl") {
		if _, ours := divergent[r.ID]; r.holds(t) == ours {
			t.Errorf("%s %s: listed as otherwise on purpose: %v", r.ID, r.Fn, ours)
		}
	}
}
