package environ

import (
	"strings"
	"testing"

	"hermes/internal/secret"
)

// Reports against products of this kind, each under its number.

// A skill declares a credential that Hermes holds as required.
func TestReport_N031(t *testing.T) {
	p := New(Config{Secrets: []Secret{{"LATE_PROVIDER_KEY", secret.New("held-by-hermes-1")}}, Claimed: []string{"LATE_PROVIDER_KEY"}})
	base := map[string]string{"ANTHROPIC_TOKEN": "x", "LATE_PROVIDER_KEY": "held-by-hermes-1", "RENAMED": "held-by-hermes-1"}
	required := []string{"ANTHROPIC_TOKEN", "LATE_PROVIDER_KEY", "RENAMED"}
	for s := NoSurface + 1; s < surfaces; s++ {
		list, _ := p.Build(Request{Surface: s, Base: base, Grants: required})
		if list.Len() != 0 {
			t.Errorf("%s got %v", s, list.Names())
		}
	}
}

// A name nobody thought of.
func TestReport_N032(t *testing.T) {
	for _, s := range []Surface{ExecuteCode, Native, Docker, Apptainer, Modal, Daytona, Vercel, Kubernetes, SSH, MCP, Engine, Helper} {
		list, _ := New(Config{}).Build(Request{Surface: s, Base: map[string]string{"ZQ_CANARY_7": "x", "AUXILIARY_ZQ_API_KEY": "x", "GATEWAY_RELAY_ZQ_KEY": "x"}})
		if list.Len() != 0 {
			t.Errorf("%s got %v", s, list.Names())
		}
	}
}

// What is withheld is said, and why.
func TestReport_N035(t *testing.T) {
	_, notes := New(Config{}).Build(Request{Surface: Foreground, Base: map[string]string{"GH_TOKEN": "x"}})
	if len(notes) != 1 || notes[0].String() != "GH_TOKEN withheld: belongs to a tool of Hermes" {
		t.Errorf("notes %v", notes)
	}
}

// A declared proxy would get around the egress policy.
func TestReport_N058(t *testing.T) {
	p := New(Config{})
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "ALL_PROXY", "no_proxy", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "HERMES_CA_BUNDLE",
		"NODE_TLS_REJECT_UNAUTHORIZED", "npm_config_https_proxy"} {
		if granted, _ := p.Register([]string{name}, func(string) bool { return true }); len(granted) != 0 {
			t.Errorf("%s was registered", name)
		}
	}
}

// A version probe needs PATH.
func TestReport_N059(t *testing.T) {
	list, _ := New(Config{Passthrough: []string{"MY_VAR"}}).Build(Request{Surface: Helper, Grants: []string{"MY_VAR"},
		Base: map[string]string{"PATH": "/bin", "MY_VAR": "x", "HOME": "/h", "CANARY": "x"}})
	if got := strings.Join(list.Strings(), " "); got != "PATH=/bin" {
		t.Errorf("a helper got %s", got)
	}
}

// The user's login of another program is not ours to strip.
func TestReport_N068(t *testing.T) {
	for _, s := range []Surface{Foreground, Background, PTY, Cron, Child} {
		list, _ := New(Config{Secrets: []Secret{{"CLAUDE_CODE_OAUTH_TOKEN", secret.New("borrowed-login")}}}).Build(
			Request{Surface: s, Base: map[string]string{"CLAUDE_CODE_OAUTH_TOKEN": "borrowed-login"}})
		if list.Len() != 1 {
			t.Errorf("%s lost it", s)
		}
	}
}
