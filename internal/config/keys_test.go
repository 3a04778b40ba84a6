package config

import (
	"reflect"
	"strings"
	"testing"
)

// fields collects the tags of the typed settings with their types.
func fields(t reflect.Type, into map[string]reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		if name := f.Tag.Get("key"); name != "" {
			into[name] = f.Type
		} else if f.Type.Kind() == reflect.Struct {
			fields(f.Type, into)
		}
	}
}

// Every row has a field of its type, a default of its kind and a line of documentation; every field has its row.
func TestTable(t *testing.T) {
	types := map[string]reflect.Type{}
	fields(reflect.TypeFor[Settings](), types)
	seen := map[string]bool{}
	for _, k := range keys {
		if seen[k.Name] {
			t.Errorf("%s has two rows", k.Name)
		}
		seen[k.Name] = true
		if (k.Doc == "") == (k.Retired == "") {
			t.Errorf("%s needs either documentation or the reason why it is gone", k.Name)
		}
		v, err := fromText(k, k.Default)
		if err != nil {
			t.Errorf("%s: its default %v", k.Name, err)
		}
		if _, err := fromText(k, k.Fallback); err != nil && k.Fallback != "" {
			t.Errorf("%s: its fallback %v", k.Name, err)
		}
		if (k.Kind == Choice) != (len(k.Values) > 0) || k.EnvOnly && k.Env == "" {
			t.Errorf("%s: choices and only they have values; what lives in .env has a variable", k.Name)
		}
		open := strings.Contains(k.Name, "<") || k.Kind == Tree || k.Retired != ""
		field, ok := types[k.Name]
		switch {
		case open && ok:
			t.Errorf("%s is filled by hand and has a field", k.Name)
		case !open && !ok:
			t.Errorf("%s has no field in Settings", k.Name)
		case ok && reflect.TypeOf(v) != field:
			t.Errorf("%s is %s, its field is %s", k.Name, reflect.TypeOf(v), field)
		}
	}
	for name := range types {
		if !seen[name] {
			t.Errorf("a field is tagged %s, which has no row", name)
		}
	}
}

func TestFind(t *testing.T) {
	for _, row := range []struct{ name, want string }{
		{"terminal.backend", "terminal.backend"},
		{"mcp_servers.github.env", "mcp_servers.<name>.env"},
		{"whatsapp.unauthorized_dm_behavior", "<platform>.unauthorized_dm_behavior"},
		{"platforms.email.unauthorized_dm_behavior", "platforms.<platform>.unauthorized_dm_behavior"},
		{"whatsup.unauthorized_dm_behavior", ""},
		{"hooks.outbound", "hooks.outbound"},
		{"hooks.pre_tool_call", "hooks.<name>"},
		{"security.tirith_enabled", "security.tirith_*"},
		{"terminal", ""},
		{"terminal.backend.x", ""},
		{"", ""},
		{".", ""},
	} {
		if k, _ := Find(row.name); k.Name != row.want {
			t.Errorf("%q is %q, want %q", row.name, k.Name, row.want)
		}
	}
	for _, name := range []string{"terminal", "security.website_blocklist", "mcp_servers", "mcp_servers.x", "platforms.email"} {
		if !isSection(name) {
			t.Errorf("%s is no section", name)
		}
	}
	for _, name := range []string{"terminal.backend", "nothing", "command_allowlist", "platforms.nobody"} {
		if isSection(name) {
			t.Errorf("%s is a section", name)
		}
	}
}

func TestSuggest(t *testing.T) {
	for _, row := range []struct{ name, want string }{
		{"terminal.docker_netwrok", "terminal.docker_network"},
		{"terminal.backnd", "terminal.backend"},
		{"aprovals.deny", "approvals.deny"},
		{"docker_network", "terminal.docker_network"},
		{"terminal.deny", ""},
		{"mcp_servers.github.comand", "mcp_servers.github.command"},
		{"whatsapp.unauthorized_dm_behaviour", "whatsapp.unauthorized_dm_behavior"},
		{"TERMINAL_SSH_HSOT", "TERMINAL_SSH_HOST"},
		{"zzz", ""},
	} {
		if got := suggest(row.name); got != row.want {
			t.Errorf("%q: %q, want %q", row.name, got, row.want)
		}
	}
}

// What is not known as harmless is not shown.
func TestHidden(t *testing.T) {
	for _, row := range []struct {
		name string
		want bool
	}{
		{"OPENAI_API_KEY", true}, {"TELEGRAM_BOT_TOKEN", true}, {"MY_THING", true}, {"SUDO_PASSWORD", true},
		{"TERMINAL_SSH_HOST", false}, {"TERMINAL_SSH_KEY", false}, {"TELEGRAM_ALLOWED_USERS", false}, {"TERMINAL_ENV", false},
	} {
		if got := Hidden(row.name); got != row.want {
			t.Errorf("%s: hidden %v", row.name, got)
		}
	}
	for name, want := range map[string]bool{"GITHUB_PERSONAL_ACCESS_TOKEN": true, "Authorization": false, "api-key": true,
		"X_APIKEY": true, "PATH": false, "MONKEYS": false, "keyboard": false} {
		if got := SecretName(name); got != want {
			t.Errorf("%s: secret name %v", name, got)
		}
	}
}
