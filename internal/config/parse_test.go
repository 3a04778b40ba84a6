package config

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func load(t *testing.T, settings, env string, process map[string]string) (*Snapshot, error) {
	t.Helper()
	return assemble([]byte(settings), []byte(env), func(name string) string { return process[name] })
}

func mustLoad(t *testing.T, settings, env string, process map[string]string) *Snapshot {
	t.Helper()
	s, err := load(t, settings, env, process)
	if err != nil {
		t.Fatalf("%v\nin\n%s%s", err, settings, env)
	}
	return s
}

func texts(problems []*Problem) string {
	var b strings.Builder
	for _, p := range problems {
		b.WriteString(p.Error())
		if p.Hint != "" {
			b.WriteString(" — " + p.Hint)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// What makes a file unusable is told with its place and what to do; all of it, not only what comes first.
func TestBrokenFiles(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"terminal:\n  docker_netwrok: false\n",
			"config.yaml:2:3: terminal.docker_netwrok is not a setting — Did you mean terminal.docker_network?"},
		{"aprovals:\n  deny: ['*']\n", "config.yaml:1:1: aprovals is not a setting — hermes config keys lists the settings."},
		{"terminal.backend: docker\n", "config.yaml:1:1: terminal.backend is not a setting — " +
			"Write each part on a line of its own, indented below the one before."},
		{"terminal:\n  backend: docker\n  backend: ssh\n",
			"config.yaml:3:3: terminal.backend is set twice, first in line 2 — Keep one of them."},
		{"terminal:\n  timeout: soon\n  container_cpu: [1]\n", "config.yaml:2:12: terminal.timeout is a whole number, not \"soon\"\n" +
			"config.yaml:3:18: terminal.container_cpu is a number and cannot be a list"},
		{"terminal:\n  backend: dokcer\n", `config.yaml:2:12: terminal.backend is one of local, native, docker, ssh, ` +
			`singularity, modal, daytona, vercel_sandbox, kubernetes, not "dokcer" — Did you mean docker?`},
		{"approvals:\n  deny:\n    - *curl*|*sh*\n", "config.yaml:3:7: unknown anchor 'curl*|*sh*' referenced — " +
			"A value that begins with * needs quotes: '*curl*|*sh*'"},
		{"approvals:\n  deny: [*curl*]\n", "config.yaml:2:10: unknown anchor 'curl*' referenced"},
		{"approvals:\n  deny:\n    - {a: b}\n", "config.yaml:3:7: item 1 of approvals.deny is a map, not a text — " +
			"Put it in quotes if it is meant."},
		{"approvals:\n  deny: {a: b}\n", "config.yaml:2:9: approvals.deny is a list and cannot be a map"},
		{"approvals:\n  deny: 7\n", "config.yaml:2:9: approvals.deny is a list and cannot be a number"},
		{"terminal: docker\n", "config.yaml:1:11: terminal is a section and cannot be a text"},
		{"- a\n", "config.yaml:1:1: the file holds a list, not settings"},
		{"terminal:\n\tbackend: docker\n", "config.yaml:2:1: found character that cannot start any token — " +
			"Indent with spaces, not with tabs."},
		{"terminal:\n  backend: docker\n---\nterminal:\n", "config.yaml:3: a second document begins here — Remove the line ---."},
		{"base: &b\n", "config.yaml:1:1: base is not a setting — hermes config keys lists the settings."},
		{"terminal:\n  <<: {backend: docker}\n", "config.yaml:2:3: terminal.<< is not a setting — " +
			"Write the settings out: merging is not supported."},
		{"terminal:\n  ssh_host: h\n", "config.yaml:2:3: terminal.ssh_host is kept in .env, as TERMINAL_SSH_HOST — " +
			"hermes config set terminal.ssh_host VALUE puts it there."},
		{"terminal:\n  env_passthrough: [A B]\n", `config.yaml:2:21: environment name "A B": ' ' at character 2: ` +
			"only letters, digits and _ are allowed"},
		{"security:\n  website_blocklist:\n    enabled: \"true\"\n",
			"config.yaml:3:14: security.website_blocklist.enabled is true or false and cannot be a text — Remove the quotes."},
		{"hooks:\n  pre_tool_call:\n    - matcher: x\n", "config.yaml:3:5: hooks.pre_tool_call: hook 1 has no command"},
		{"mcp_servers:\n  github:\n    env:\n      A: 1\n      A: 2\n",
			"config.yaml:5:7: mcp_servers.github.env.A is set twice — Keep one of them."},
		{"a: \x00", "config.yaml:1: a NUL byte: this is not text"},
	} {
		_, err := load(t, row.text, "", nil)
		var p Problems
		if !errors.As(err, &p) {
			t.Errorf("%q: error %v", row.text, err)
			continue
		}
		if got := strings.TrimSuffix(texts(p), "\n"); !strings.HasPrefix(got, row.want) {
			t.Errorf("%q:\n got %s\nwant %s", row.text, got, row.want)
		}
	}
}

// What is wrong but has one safe meaning gets it, and is told.
func TestLenient(t *testing.T) {
	for _, row := range []struct{ text, key, want, notice string }{
		{"approvals: {mode: off}", "approvals.mode", "off", ""},
		{"approvals: {mode: false}", "approvals.mode", "off", ""},
		{"approvals: {mode: true}", "approvals.mode", "manual", ""},
		{"approvals: {mode: ' SMART '}", "approvals.mode", "smart", ""},
		{"approvals: {mode: yolo}", "approvals.mode", "manual", `approvals.mode is one of smart, manual, off, not "yolo"; manual counts`},
		{"approvals: {mode: ''}", "approvals.mode", "manual", "manual counts"},
		{"approvals: {mode: }", "approvals.mode", "smart", ""},
		{"approvals: {cron_mode: approve}", "approvals.cron_mode", "approve", ""},
		{"approvals: {cron_mode: 'off'}", "approvals.cron_mode", "approve", ""},
		{"approvals: {cron_mode: off}", "approvals.cron_mode", "deny", "deny counts"},
		{"approvals: {cron_mode: yes}", "approvals.cron_mode", "deny", "deny counts"},
		{"approvals: {unattended_mode: 7}", "approvals.unattended_mode", "deny", "deny counts"},
		{"approvals: {timeout: soon}", "approvals.timeout", "300", "300 counts"},
		{"approvals: {timeout: 0}", "approvals.timeout", "300", "300 counts"},
		{"approvals: {timeout: 99999999999}", "approvals.timeout", "31536000", ""},
		{"approvals: {denial_breaker_threshold: x}", "approvals.denial_breaker_threshold", "3", "3 counts"},
		{"approvals: {smart_policy: [a]}", "approvals.smart_policy", "", "none counts"},
		{"approvals: {deny: 'rm *'}", "approvals.deny", `["rm *"]`, ""},
		{"approvals: {deny: ['', ' ', a]}", "approvals.deny", `["a"]`, ""},
		{"command_allowlist: '[\"rm\", \"git push *\"]'", "command_allowlist", `["rm","git push *"]`, "is a list written as one text"},
		{"command_allowlist: \"- rm\\n- ls\"", "command_allowlist", `["rm","ls"]`, "is a list written as one text"},
		{"command_allowlist: rm", "command_allowlist", "[]", "an empty one counts"},
		{"command_allowlist: 7", "command_allowlist", "[]", "an empty one counts"},
		{"command_allowlist: {a: b}", "command_allowlist", "[]", "an empty one counts"},
		{"command_allowlist: [rm, 7, [x]]", "command_allowlist", `["rm"]`, "item 2 of command_allowlist is a number, not a text; it is left out"},
		{"security: {fake_ip_ranges: 198.18.0.0/15}", "security.fake_ip_ranges", `["198.18.0.0/15"]`, ""},
		{"security: {allow_private_urls: 'false'}", "security.allow_private_urls", "false", ""},
		{"security: {tirith_enabled: true}", "security.nat64", "false", "security.tirith_enabled is dropped: the external scanner"},
		{"terminal: {docker_env: {A: 1, B: true, C: x}}", "terminal.docker_env", `{"A":"1","B":"true","C":"x"}`, ""},
	} {
		s := mustLoad(t, row.text, "", nil)
		v, ok := s.Lookup(row.key)
		if got := Show(v.Value); !ok || got != row.want {
			t.Errorf("%s: %s is %s, want %s", row.text, row.key, got, row.want)
		}
		if got := texts(s.Notices); (row.notice == "") != (got == "") || !strings.Contains(got, row.notice) {
			t.Errorf("%s: notices %q, want %q", row.text, got, row.notice)
		}
	}
}

// The settings that the documents show to users, all at once.
func TestDocumentedSettings(t *testing.T) {
	text, err := os.ReadFile("testdata/documented.yaml")
	if err != nil {
		t.Fatal(err)
	}
	env, err := os.ReadFile("testdata/documented.env")
	if err != nil {
		t.Fatal(err)
	}
	s := mustLoad(t, string(text), string(env), nil)
	got := s.Settings
	want := []any{
		got.Approvals.Mode, "smart", got.Approvals.Deny, []string{"git push --force*", "*curl*|*sh*", "dd if=* of=/dev/*"},
		got.Approvals.Allowlist, []string{"rm", "systemctl"}, got.Terminal.Backend, "docker",
		got.Terminal.Docker.Image, "nousresearch/hermes-sandbox:desktop", got.Terminal.Docker.Network, false,
		got.Terminal.Container, Container{CPU: 1, Memory: 5120, Disk: 51200, PIDs: 256},
		got.Terminal.EnvPassthrough, []string{"MY_CUSTOM_KEY", "ANOTHER_TOKEN"},
		got.Terminal.CredentialFiles, []string{"google_token.json", "my_custom_oauth_token.json"},
		got.Terminal.SSH, SSH{Host: "agent-worker.local", User: "hermes", Key: "~/.ssh/hermes_agent_key", Port: 22, Persistent: true},
		got.Security.Sites, Sites{Enabled: true, Domains: []string{"*.internal.company.com", "admin.example.com"},
			Files: []string{"/etc/hermes/blocked-sites.txt"}},
		got.Security.AllowPrivateURLs, true, got.Security.FakeIPRanges, []string{"198.18.0.0/15"},
		got.Chats.Strangers, "pair", got.Chats.Platforms, map[string]Platform{"whatsapp": {Strangers: "ignore"}, "email": {Strangers: "pair"}},
		got.Chats.AllowAll, true, got.Agents.AdoptLogins, false,
		got.MCP["github"], MCP{Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-github"},
			Env: map[string]string{"GITHUB_PERSONAL_ACCESS_TOKEN": "ghp_..."}, Enabled: true, Timeout: 60},
		got.Hooks["pre_tool_call"], []Hook{{Command: "./check", Timeout: 5, FailClosed: true, OldClosed: true}},
		got.Approvals.Required, []Required{{Pattern: "terraform *", Review: "human"}, {Pattern: "kubectl *", Review: "smart"}},
	}
	for i := 0; i < len(want); i += 2 {
		if diff := cmp.Diff(want[i+1], want[i]); diff != "" {
			t.Errorf("setting %d (-want +got):\n%s", i/2, diff)
		}
	}
	if len(s.Notices) != 0 {
		t.Errorf("notices: %s", texts(s.Notices))
	}
}

// The process wins over .env, .env over the file, the file over the default; and it is known which it was.
func TestOverrides(t *testing.T) {
	for _, row := range []struct {
		settings, env string
		process       map[string]string
		key, want     string
		source        string
	}{
		{"", "", nil, "terminal.backend", "local", "default"},
		{"terminal: {backend: docker}", "", nil, "terminal.backend", "docker", "config.yaml:1"},
		{"terminal: {backend: docker}", "\nTERMINAL_ENV=ssh", nil, "terminal.backend", "ssh", "TERMINAL_ENV in .env:2"},
		{"terminal: {backend: docker}", "TERMINAL_ENV=ssh", map[string]string{"TERMINAL_ENV": "native"}, "terminal.backend", "native",
			"TERMINAL_ENV in the environment"},
		{"terminal: {backend: docker}", "TERMINAL_ENV=", nil, "terminal.backend", "docker", "config.yaml:1"},
		{"", "", map[string]string{"TERMINAL_DOCKER_NETWORK": "no"}, "terminal.docker_network", "false", "TERMINAL_DOCKER_NETWORK in the environment"},
		{"", "", map[string]string{"TERMINAL_DOCKER_SNAP_COMPAT": "1"}, "terminal.docker_snap_compat", "true", "TERMINAL_DOCKER_SNAP_COMPAT in the environment"},
		{"", "", map[string]string{"TERMINAL_DOCKER_VOLUMES": `["/a:/b", "/c:/d:ro"]`}, "terminal.docker_volumes", `["/a:/b","/c:/d:ro"]`, "TERMINAL_DOCKER_VOLUMES in the environment"},
		{"", "", map[string]string{"TERMINAL_DOCKER_ENV": `{"A": "1"}`}, "terminal.docker_env", `{"A":"1"}`, "TERMINAL_DOCKER_ENV in the environment"},
		{"", "", map[string]string{"TERMINAL_CONTAINER_CPU": "0.5"}, "terminal.container_cpu", "0.5", "TERMINAL_CONTAINER_CPU in the environment"},
		{"", "TERMINAL_SSH_PORT=2222", nil, "terminal.ssh_port", "2222", "TERMINAL_SSH_PORT in .env:1"},
		{"security: {allow_private_urls: true}", "", map[string]string{"HERMES_ALLOW_PRIVATE_URLS": " NO "}, "security.allow_private_urls", "false", "HERMES_ALLOW_PRIVATE_URLS in the environment"},
		{"security: {allow_private_urls: true}", "", map[string]string{"HERMES_ALLOW_PRIVATE_URLS": "maybe"}, "security.allow_private_urls", "true", "config.yaml:1"},
	} {
		s := mustLoad(t, row.settings, row.env, row.process)
		v, _ := s.Lookup(row.key)
		if got := Show(v.Value); got != row.want || v.Source.String() != row.source {
			t.Errorf("%s: %s from %s, want %s from %s", row.key, got, v.Source, row.want, row.source)
		}
	}
	// What one variable decides, no older place of the same setting lifts.
	s := mustLoad(t, "browser: {allow_private_urls: true}", "", map[string]string{"HERMES_ALLOW_PRIVATE_URLS": "0"})
	if s.Settings.Security.AllowPrivateURLs {
		t.Error("the variable says no, the older key switched it on")
	}
	if s = mustLoad(t, "security: {allow_private_urls: false}\nbrowser: {allow_private_urls: true}", "", nil); !s.Settings.Security.AllowPrivateURLs {
		t.Error("the older key does not switch it on")
	}
	// Every variable of the table is read.
	for _, k := range keys {
		if k.Env == "" {
			continue
		}
		text := map[Kind]string{Text: "x", Bool: "true", Int: "7", Number: "7", List: `["X"]`, Map: `{"X":"y"}`}[k.Kind]
		if k.Kind == Choice {
			text = k.Values[len(k.Values)-1]
		}
		s := mustLoad(t, "", "", map[string]string{k.Env: text})
		if v, _ := s.Lookup(k.Name); v.Source.Kind != FromProcess {
			t.Errorf("%s does not override %s", k.Env, k.Name)
		}
	}
}

func TestBadOverrides(t *testing.T) {
	for _, row := range []struct{ name, value, want string }{
		{"TERMINAL_DOCKER_VOLUMES", "/a:/b", "Invalid value for TERMINAL_DOCKER_VOLUMES: it sets terminal.docker_volumes, which is not a JSON list"},
		{"TERMINAL_DOCKER_VOLUMES", "[1]", "Invalid value for TERMINAL_DOCKER_VOLUMES: it sets terminal.docker_volumes, which is not a JSON list"},
		{"TERMINAL_DOCKER_ENV", "A=b", "Invalid value for TERMINAL_DOCKER_ENV: it sets terminal.docker_env, which is not a JSON object"},
		{"TERMINAL_DOCKER_ENV", "[]", "Invalid value for TERMINAL_DOCKER_ENV: it sets terminal.docker_env"},
		{"TERMINAL_TIMEOUT", "-1", "Invalid value for TERMINAL_TIMEOUT: it sets terminal.timeout, which is at least 1, not -1"},
		{"TERMINAL_ENV", "dockr", "Invalid value for TERMINAL_ENV: it sets terminal.backend, which is one of"},
		{"TERMINAL_DOCKER_NETWORK", "maybe", "Invalid value for TERMINAL_DOCKER_NETWORK: it sets terminal.docker_network, which is true or false"},
	} {
		_, err := load(t, "", "", map[string]string{row.name: row.value})
		if err == nil || !strings.HasPrefix(err.Error(), row.want) {
			t.Errorf("%s=%s: %v, want %s", row.name, row.value, err, row.want)
		}
		_, err = load(t, "", "\n"+row.name+"='"+row.value+"'\n", nil)
		if err == nil || !strings.HasPrefix(err.Error(), ".env:2: "+row.want) {
			t.Errorf(".env with %s=%s: %v, want %s", row.name, row.value, err, row.want)
		}
	}
}
