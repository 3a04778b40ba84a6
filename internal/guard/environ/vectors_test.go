package environ

import (
	"path"
	"strings"
	"testing"

	"hermes/internal/vectortest"
)

type filterRow struct {
	ID, Surface, Name string
	Process           map[string]string `json:"process_env"`
	Backend           map[string]string `json:"backend_env"`
	Extra             map[string]string `json:"extra_env"`
	Config            map[string]any
	Expected          map[string]any
}

func (r filterRow) text(key string) string { s, _ := r.Config[key].(string); return s }

func (r filterRow) list(key string) (out []string) {
	items, _ := r.Config[key].([]any)
	for _, item := range items {
		out = append(out, item.(string))
	}
	return out
}

const (
	repo, packages, userLib = "/opt/agent", "/opt/agent/venv/lib/site-packages", "/home/u/lib"
)

var places = strings.NewReplacer("{REPO}", repo, "{OWN_SITE_PACKAGES}", packages, "{USER_LIB}", userLib)

func placed(m map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range m {
		out[name] = places.Replace(value)
	}
	return out
}

// request turns a row's configuration into a request and the policy to ask.
func (r filterRow) request(t *testing.T, surface string) (*Policy, Request) {
	t.Helper()
	s, err := ParseSurface(surface)
	if err != nil {
		t.Fatalf("%s: %v", r.ID, err)
	}
	base := placed(r.Process)
	if managed := r.text("BUZZ_MANAGED_AGENT"); managed != "" {
		base["BUZZ_MANAGED_AGENT"] = managed
	}
	extra := placed(r.Backend)
	for name, value := range r.Extra {
		extra[name] = value
	}
	q := Request{Surface: s, Base: base, Extra: extra, Platform: r.text("session_platform")}
	q.Profiles, _ = r.Config["multiplex"].(bool)
	switch scope := r.Config["scope"].(type) {
	case map[string]any:
		q.Profile = map[string]string{}
		for name, value := range scope {
			q.Profile[name] = value.(string)
		}
	case string: // "none or {…}": the answer is the same with both
		q.Profile = map[string]string{"BUZZ_PRIVATE_KEY": "fake-scoped"}
	}
	return New(Config{Passthrough: r.list("passthrough"), Owned: []string{repo, packages}}), q
}

// want reads an expected value: null means absent.
func want(v any) (string, bool) {
	s, ok := v.(string)
	return places.Replace(s), ok
}

func (r filterRow) builds(t *testing.T) (good bool) {
	good = true
	surfaces := strings.Split(r.Surface, "+")
	for _, surface := range surfaces {
		if surface == "terminal_foreground" {
			surface = "foreground"
		}
		p, q := r.request(t, surface)
		list, _ := p.Build(q)
		value, ok := list.Lookup(r.Name)
		if wantValue, wantOK := want(r.Expected["child_value"]); value != wantValue || ok != wantOK {
			t.Logf("%s %s: %s = %q %v, want %q %v", r.ID, surface, r.Name, value, ok, wantValue, wantOK)
			good = false
		}
		if r.Expected["no_force_prefixed_names"] == true && strings.Contains(strings.Join(list.Names(), " "), forcePrefix) {
			t.Logf("%s %s: a forced name arrived: %v", r.ID, surface, list.Names())
			good = false
		}
	}
	return good
}

// everyBlocked answers the row about all names of the blocklist at once.
func (r filterRow) everyBlocked(t *testing.T) bool {
	base := map[string]string{"PATH": "/usr/bin"}
	for name := range table() {
		base[name] = "fake"
	}
	list, _ := New(Config{}).Build(Request{Surface: Background, Base: base})
	_, path := list.Lookup("PATH")
	if list.Len() != 1 || path != r.Expected["PATH_kept"] {
		t.Logf("%s: %v arrived", r.ID, list.Names())
		return false
	}
	return true
}

// registers answers the rows about a skill that requires a name.
func (r filterRow) registers(t *testing.T) bool {
	p := New(Config{})
	granted, _ := p.Register([]string{r.Name}, func(string) bool { return true })
	base := map[string]string{r.Name: "value"}
	if managed := r.text("BUZZ_MANAGED_AGENT"); managed != "" {
		base["BUZZ_MANAGED_AGENT"] = managed
	}
	child := func(s Surface) any {
		list, _ := p.Build(Request{Surface: s, Base: base, Grants: []string{r.Name}})
		if value, ok := list.Lookup(r.Name); ok {
			return value
		}
		return nil
	}
	got := map[string]any{
		"before": p.Refuses(r.Name) == "" && len(granted) == 0, "after_register": len(granted) == 1,
		"registered": len(granted) == 1, "still_stripped": child(Background) == nil,
		"terminal_child_value": child(Foreground), "execute_code_child_value": child(ExecuteCode),
	}
	for key, value := range r.Expected {
		if answer, known := got[key]; !known || answer != value {
			t.Logf("%s: %s is %v, want %v", r.ID, key, answer, value)
			return false
		}
	}
	return true
}

// declares answers the rows about terminal.env_passthrough.
func (r filterRow) declares(t *testing.T) bool {
	base := map[string]string{"UNRELATED_VAR": "x"}
	declared := append(r.list("terminal.env_passthrough"), r.list("skill")...)
	for _, name := range declared {
		base[name] = "value"
	}
	list, _ := New(Config{Passthrough: r.list("terminal.env_passthrough")}).Build(
		Request{Surface: ExecuteCode, Base: base, Grants: r.list("skill")})
	if all, ok := r.Expected["all_contains"].([]any); ok {
		for _, name := range all {
			if _, ok := list.Lookup(name.(string)); !ok {
				t.Logf("%s: %s did not pass", r.ID, name)
				return false
			}
		}
		return true
	}
	_, ok := list.Lookup(r.Name)
	return ok == r.Expected["passthrough"]
}

// resolves answers the rows about whose value a declared name has.
func (r filterRow) resolves(t *testing.T) bool {
	_, q := r.request(t, "execute_code")
	q.Base = map[string]string{r.Name: r.text("fallback")}
	list, _ := New(Config{Passthrough: []string{r.Name}}).Build(q)
	value, ok := list.Lookup(r.Name)
	wantValue, wantOK := want(r.Expected["value"])
	return value == wantValue && ok == wantOK
}

// stores answers the rows about what a snapshot carries from one command to the next.
func (r filterRow) stores(t *testing.T) bool {
	p := New(Config{Passthrough: r.list("passthrough")})
	child := func(q Request) any {
		list, _ := p.Build(q)
		if value, ok := list.Lookup(r.Name); ok {
			return value
		}
		return nil
	}
	if p.Stores(r.Name, "fake", nil) {
		t.Logf("%s: %s is stored", r.ID, r.Name)
		return false
	}
	if scopes, ok := r.Config["scopes_in_order"].([]any); ok {
		for i, output := range r.Expected["outputs"].([]any) {
			q := Request{Surface: Foreground, Profiles: true, Profile: map[string]string{}}
			if value, ok := scopes[i].(string); ok {
				q.Profile[r.Name] = value
			}
			if got := child(q); got != output && (got != nil || output != "unset") {
				return false
			}
		}
		return true
	}
	base := map[string]string{r.Name: "fake-profile-a"}
	first := child(Request{Surface: Foreground, Base: base, Platform: r.text("first_session_platform")})
	second := child(Request{Surface: Foreground, Base: base, Platform: r.text("second_session_platform")})
	stored := child(Request{Surface: Snapshot, Base: base, Platform: r.text("first_session_platform")})
	return first == r.Expected["first_child"] && second == r.Expected["second_child"] && stored == nil
}

func (r filterRow) holds(t *testing.T) bool {
	switch {
	case strings.HasPrefix(r.Name, "<any"):
		return r.everyBlocked(t)
	case r.Surface == "passthrough_registration":
		return r.registers(t)
	case r.Surface == "passthrough_config":
		return r.declares(t)
	case r.Surface == "passthrough_resolution":
		return r.resolves(t)
	case r.Surface == "terminal_snapshot":
		return r.stores(t)
	}
	return r.builds(t)
}

func TestFilterVectors(t *testing.T) {
	other := vectortest.Divergences(t, "testdata/divergences.jsonl")
	for _, r := range vectortest.Rows[filterRow](t, "testdata/env_filter.jsonl") {
		good := r.holds(t)
		if _, diverges := other[r.ID]; good == diverges {
			t.Errorf("%s %s %s: holds %v, diverges %v", r.ID, r.Surface, r.Name, good, diverges)
		}
	}
}

type serverRow struct {
	ID, Fn string
	In     struct {
		Host    map[string]string `json:"host_env"`
		Server  map[string]string `json:"server_env"`
		Sources map[string]string `json:"secret_sources"`
		Var     string
	}
	Expect struct {
		Equals  map[string]string `json:"equals_subset"`
		Present []string
		Absent  []string
		Value   *string
	}
}

func (r serverRow) holds() bool {
	list, _ := New(Config{}).Build(Request{Surface: MCP, Base: r.In.Host, Server: r.In.Server})
	for name, want := range r.Expect.Equals {
		if got, _ := list.Lookup(name); got != want {
			return false
		}
	}
	for _, name := range r.Expect.Present {
		if _, ok := list.Lookup(name); !ok {
			return false
		}
	}
	for _, name := range r.Expect.Absent {
		if _, ok := list.Lookup(name); ok {
			return false
		}
	}
	if r.In.Var == "" {
		return true
	}
	got, ok := list.Lookup(r.In.Var)
	return ok == (r.Expect.Value != nil) && (!ok || got == *r.Expect.Value)
}

// The rows of sanitize_error are about text and belong to the redactor.
func TestServerVectors(t *testing.T) {
	other := vectortest.Divergences(t, "testdata/divergences.jsonl")
	for _, r := range vectortest.Rows[serverRow](t, "testdata/mcp_env.jsonl") {
		if r.Fn == "sanitize_error" {
			continue
		}
		if _, diverges := other[r.ID]; r.holds() == diverges {
			t.Errorf("%s: holds %v, diverges %v", r.ID, r.holds(), diverges)
		}
	}
}

// disk is a tree of files that only exists in a test.
type disk struct{ files, links map[string]string }

const (
	testHome = "/home/u/.hermes"
	testTemp = "/tmp/x"
)

func (d disk) look(name string) Fact {
	name = path.Clean(name)
	if target, ok := d.links[name]; ok {
		return Fact{Exists: true, Regular: true, Resolved: target}
	}
	if _, ok := d.files[name]; ok {
		return Fact{Exists: true, Regular: true, Resolved: name}
	}
	return Fact{}
}

type fileRow struct {
	ID    string
	Input struct {
		Declared []any
		Settings []string          `json:"terminal.credential_files"`
		Home     []string          `json:"home_files"`
		Outside  []string          `json:"outside_files"`
		Links    map[string]string `json:"symlinks"`
		Dirs     []string          `json:"home_dirs"`
		Filled   []string          `json:"home_dirs_with_content"`
		Missing  string            `json:"credential_mount"`
	}
	Expected map[string]any
}

// mounts runs declaration and mounting for a row's entries.
func (r fileRow) mounts() (mounts []Mount, missing []string, warnings string) {
	d := disk{files: map[string]string{}, links: map[string]string{}}
	for _, name := range r.Input.Home {
		d.files[testHome+"/"+name] = ""
	}
	for _, name := range r.Input.Outside {
		d.files[path.Dir(testHome)+"/"+name], d.files[testTemp+"/"+name] = "", ""
	}
	for name, target := range r.Input.Links {
		d.links[testHome+"/"+name] = strings.ReplaceAll(target, "{TMP}", testTemp)
	}
	entries := r.Input.Declared
	for _, name := range r.Input.Settings {
		entries = append(entries, name)
	}
	for _, e := range entries {
		var p, n string
		switch e := e.(type) {
		case string:
			p = strings.ReplaceAll(e, "{TMP}", testTemp)
		case map[string]any:
			p, _ = e["path"].(string)
			n, _ = e["name"].(string)
		}
		f, err := Declare(p, n)
		if err != nil {
			warnings += err.Error()
			continue
		}
		fact := d.look(testHome + "/" + f.String())
		m, err := f.Mount(testHome, testHome, DefaultBase, fact)
		if err != nil {
			warnings += err.Error()
			if !fact.Exists {
				missing = append(missing, f.String())
			}
			continue
		}
		mounts = append(mounts, m)
	}
	return mounts, missing, warnings
}

func (r fileRow) dirs() (host, inside string) {
	for _, m := range CacheMounts(testHome, DefaultBase, func(rel string) (bool, bool) {
		for _, dir := range r.Input.Filled {
			if dir == rel {
				return true, true
			}
		}
		for _, dir := range r.Input.Dirs {
			if dir == rel {
				return true, false
			}
		}
		return false, false
	}) {
		return m.Host, m.Inside
	}
	return "", ""
}

func (r fileRow) skills() Mount {
	var entries []Entry
	for _, name := range r.Input.Home {
		entries = append(entries, Entry{Path: strings.TrimPrefix(name, "skills/"), File: true})
	}
	for name := range r.Input.Links {
		entries = append(entries, Entry{Path: strings.TrimPrefix(name, "skills/"), Link: true, File: true})
	}
	place := SkillPlaces(testHome, DefaultBase, nil)[0]
	return DirMount(place.Host, place.Inside, entries)
}

func (r fileRow) check(t *testing.T, key string, want any) bool {
	mounts, missing, warnings := r.mounts()
	host, inside := r.dirs()
	if len(r.Input.Home) > 0 && strings.HasPrefix(r.Input.Home[0], "skills/") {
		host = r.skills().Host
	}
	if r.Input.Missing != "" {
		f, err := Declare("gone.json", "")
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Mount(testHome, testHome, DefaultBase, Fact{})
		mounts, warnings = nil, err.Error()
	}
	joined := ""
	for _, m := range mounts {
		joined += m.Inside + "\n"
	}
	text, _ := want.(string)
	text = strings.ReplaceAll(text, "{HERMES_HOME}", testHome)
	switch key {
	case "missing":
		return len(missing) == len(want.([]any))
	case "registered":
		return (len(mounts) == 1) == want
	case "mounted":
		return (len(mounts) > 0) == want
	case "warning_contains":
		return strings.Contains(warnings, text)
	case "container_path_contains":
		return strings.Contains(joined, text)
	case "mounts_lack":
		return !strings.Contains(joined, text) && strings.Contains(warnings, text)
	case "mounts":
		for i, w := range want.([]any) {
			m := w.(map[string]any)
			if i >= len(mounts) || mounts[i].Host != strings.ReplaceAll(m["host"].(string), "{HERMES_HOME}", testHome) || mounts[i].Inside != m["container"] {
				return false
			}
		}
		return len(mounts) == len(want.([]any))
	case "host":
		return host == text && !r.skills().Copy
	case "container":
		return inside == text
	case "container_paths_has":
		return inside == want.([]any)[0]
	case "host_path_is_copy":
		return r.skills().Copy == want
	case "copy_has":
		return strings.Contains(strings.Join(r.skills().Only, " "), want.([]any)[0].(string))
	case "copy_lacks":
		return !strings.Contains(strings.Join(r.skills().Only, " "), want.([]any)[0].(string))
	}
	t.Errorf("%s: nobody checks %q", r.ID, key)
	return false
}

func TestFileVectors(t *testing.T) {
	other := vectortest.Divergences(t, "testdata/divergences.jsonl")
	for _, r := range vectortest.Rows[fileRow](t, "testdata/credential_files.jsonl") {
		good := true
		for key, want := range r.Expected {
			if !r.check(t, key, want) {
				t.Logf("%s: %s is not %v", r.ID, key, want)
				good = false
			}
		}
		if _, diverges := other[r.ID]; good == diverges {
			t.Errorf("%s: holds %v, diverges %v", r.ID, good, diverges)
		}
	}
}
