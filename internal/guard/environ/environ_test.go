package environ

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/secret"
)

const (
	key    = "sk-live-4f9c2b71d0"
	tenor  = "tenor-83jd93kd"
	prefix = forcePrefix
)

// held is what Hermes holds in the tests below.
func held() []Secret {
	return []Secret{
		{"OPENAI_API_KEY", secret.New(key)}, {"TENOR_API_KEY", secret.New(tenor)},
		{"EMAIL_PASSWORD", secret.New("p@ss/w0rd+1")}, {"", secret.New("nameless-token")},
		{"AWS_SECRET_ACCESS_KEY", secret.New("aws-secret-value")}, {"SHORT", secret.New("yes")}, {"SIX", secret.New("sixsix")},
	}
}

func names1(l List) string { return strings.Join(l.Names(), " ") }

// Each row: a variable of the host, and whether a child of the surface has it.
func TestSurfaces(t *testing.T) {
	all := []string{"foreground", "background", "pty", "cron", "snapshot", "child", "execute_code", "hook", "native", "docker", "singularity",
		"modal", "daytona", "vercel_sandbox", "kubernetes", "ssh", "mcp", "engine", "helper"}
	terminals := all[:5]
	local := append(slices.Clone(terminals), "child", "hook")
	rows := []struct {
		name, value string
		on          []string
	}{
		{"PATH", "/usr/bin", append(slices.Clone(local), "execute_code", "native", "mcp", "engine", "helper")},
		{"LANG", "C", append(slices.Clone(local), "execute_code", "native", "mcp", "engine")},
		{"XDG_DATA_HOME", "/d", append(slices.Clone(local), "execute_code", "mcp", "engine")},
		{"HOME", "/home/u", append(slices.Clone(local), "execute_code", "mcp", "engine")},
		{"SSH_AUTH_SOCK", "/run/agent", append(slices.Clone(local), "engine")},
		{"DOCKER_HOST", "tcp://x", append(slices.Clone(local), "engine")},
		// Whatever a person set and nobody knows stays with the person's own shell.
		{"MY_TOKEN", "x", local},
		{"HTTPS_PROXY", "http://p", local},
		{"CLAUDE_CODE_OAUTH_TOKEN", "x", local},
		// A prefix is a word, not the beginning of one.
		{"USER_PASS", "x", local},
		{"HOMEBREW_GITHUB", "x", local},
		{"TERMINAL_SSH_HOST", "x", local},
		// Hermes' own goes to nobody.
		{"OPENAI_API_KEY", "x", nil},
		{"openai_api_key", "x", nil},
		{"GEMINI_API_KEY", "x", nil},
		{"TELEGRAM_BOT_TOKEN", "x", nil},
		{"GITHUB_APP_SOMETHING", "x", nil},
		{"AUXILIARY_NEW_TASK_API_KEY", "x", nil},
		{"GATEWAY_RELAY_NEW_TOKEN", "x", nil},
		{"SUDO_PASSWORD", "x", nil},
		{"HERMES_SESSION_KEY", "x", nil},
		{"HERMES_YOLO_MODE", "1", nil},
		{"BUZZ_PRIVATE_KEY", "x", nil},
		{"CLAIMED_BY_PLUGIN", "x", nil},
		// Python's own surroundings.
		{"VIRTUAL_ENV", "/v", []string{"execute_code"}},
		{"PYTHONHOME", "/v", nil},
	}
	p := New(Config{Claimed: []string{"claimed_by_plugin"}})
	for _, r := range rows {
		for _, surface := range all {
			s, err := ParseSurface(surface)
			if err != nil {
				t.Fatal(err)
			}
			list, notes := p.Build(Request{Surface: s, Base: map[string]string{r.name: r.value}})
			if _, ok := list.Lookup(r.name); ok != slices.Contains(r.on, surface) {
				t.Errorf("%s on %s: %v (%v)", r.name, surface, ok, notes)
			}
		}
	}
	if diff := cmp.Diff(all, Surfaces()); diff != "" {
		t.Errorf("surfaces not tested: %s", diff)
	}
}

// Every name the specification lists, one by one: patterns in the table must not lose any.
const listed = `
	ANTHROPIC_API_KEY ANTHROPIC_BASE_URL ANTHROPIC_TOKEN API_SERVER_KEY AWS_BEARER_TOKEN_BEDROCK BLUEBUBBLES_ALLOWED_USERS
	BLUEBUBBLES_ALLOW_ALL_USERS COHERE_API_KEY DAYTONA_API_KEY DEEPSEEK_API_KEY DINGTALK_ALLOWED_USERS DINGTALK_ALLOW_ALL_USERS
	DISCORD_ALLOWED_CHANNELS DISCORD_ALLOWED_ROLES DISCORD_ALLOWED_USERS DISCORD_ALLOW_ALL_USERS DISCORD_AUTO_THREAD
	DISCORD_BOT_TOKEN DISCORD_FREE_RESPONSE_CHANNELS DISCORD_HOME_CHANNEL DISCORD_HOME_CHANNEL_NAME DISCORD_REQUIRE_MENTION
	EMAIL_ADDRESS EMAIL_ALLOWED_USERS EMAIL_ALLOW_ALL_USERS EMAIL_HOME_ADDRESS EMAIL_HOME_ADDRESS_NAME EMAIL_IMAP_HOST
	EMAIL_PASSWORD EMAIL_SMTP_HOST FEISHU_ALLOWED_USERS FEISHU_ALLOW_ALL_USERS FIRECRAWL_API_KEY FIRECRAWL_API_URL
	FIREWORKS_API_KEY GATEWAY_ALLOWED_USERS GATEWAY_ALLOW_ALL_USERS GATEWAY_RELAY_DELIVERY_KEY GATEWAY_RELAY_ID
	GATEWAY_RELAY_SECRET GH_TOKEN GITHUB_APP_ID GITHUB_APP_INSTALLATION_ID GITHUB_APP_PRIVATE_KEY_PATH GITHUB_TOKEN
	GOOGLE_API_KEY GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CHAT_ALLOWED_USERS GOOGLE_CHAT_ALLOW_ALL_USERS GROQ_API_KEY HASS_TOKEN
	HASS_URL HELICONE_API_KEY HERMES_DASHBOARD_SESSION_TOKEN LLM_MODEL MATRIX_ALLOWED_USERS MATRIX_ALLOW_ALL_USERS
	MATTERMOST_ALLOWED_USERS MATTERMOST_ALLOW_ALL_USERS MISTRAL_API_KEY MODAL_TOKEN_ID MODAL_TOKEN_SECRET OPENAI_API_BASE
	OPENAI_API_KEY OPENAI_BASE_URL OPENAI_ORGANIZATION OPENAI_ORG_ID OPENROUTER_API_KEY PARALLEL_API_KEY PERPLEXITY_API_KEY
	QQ_ALLOWED_USERS QQ_ALLOW_ALL_USERS QQ_GROUP_ALLOWED_USERS SIGNAL_ACCOUNT SIGNAL_ALLOWED_USERS SIGNAL_ALLOW_ALL_USERS
	SIGNAL_GROUP_ALLOWED_USERS SIGNAL_HOME_CHANNEL SIGNAL_HOME_CHANNEL_NAME SIGNAL_HTTP_URL SIGNAL_IGNORE_STORIES
	SIMPLEX_ALLOWED_USERS SIMPLEX_ALLOW_ALL_USERS SLACK_ALLOWED_USERS SLACK_ALLOW_ALL_USERS SLACK_APP_TOKEN SLACK_BOT_TOKEN
	SLACK_HOME_CHANNEL SLACK_HOME_CHANNEL_NAME SLACK_SIGNING_SECRET SMS_ALLOWED_USERS SMS_ALLOW_ALL_USERS SUDO_PASSWORD
	TELEGRAM_ALLOWED_USERS TELEGRAM_ALLOW_ALL_USERS TELEGRAM_BOT_TOKEN TELEGRAM_GROUP_ALLOWED_CHATS TELEGRAM_GROUP_ALLOWED_USERS
	TELEGRAM_HOME_CHANNEL TELEGRAM_HOME_CHANNEL_NAME TELEGRAM_WEBHOOK_SECRET TELEGRAM_WEBHOOK_URL TOGETHER_API_KEY
	VERCEL_OIDC_TOKEN VERCEL_PROJECT_ID VERCEL_TEAM_ID VERCEL_TOKEN VERTEX_CREDENTIALS_PATH WECOM_ALLOWED_USERS
	WECOM_ALLOW_ALL_USERS WECOM_CALLBACK_ALLOWED_USERS WECOM_CALLBACK_ALLOW_ALL_USERS WEIXIN_ALLOWED_USERS
	WEIXIN_ALLOW_ALL_USERS WHATSAPP_ALLOWED_USERS WHATSAPP_ALLOW_ALL_USERS WHATSAPP_CLOUD_ALLOWED_USERS
	WHATSAPP_CLOUD_ALLOW_ALL_USERS WHATSAPP_CLOUD_APP_SECRET WHATSAPP_ENABLED WHATSAPP_MODE XAI_API_KEY YUANBAO_ALLOWED_USERS
	YUANBAO_ALLOW_ALL_USERS`

func TestListedNamesAreBlocked(t *testing.T) {
	p := New(Config{})
	for _, name := range strings.Fields(listed) {
		for _, spelled := range []string{name, strings.ToLower(name)} {
			for _, s := range []Surface{Foreground, Background, PTY, Cron, Snapshot, Child, Hook} {
				if list, _ := p.Build(Request{Surface: s, Base: map[string]string{spelled: "x"}}); list.Len() != 0 {
					t.Errorf("%s has %s", s, spelled)
				}
			}
			if p.Refuses(spelled) == "" {
				t.Errorf("%s may be declared for passthrough", spelled)
			}
		}
	}
}

func TestNobodyIsNoSurface(t *testing.T) {
	base := map[string]string{"PATH": "/bin"}
	var none *Policy
	for _, p := range []*Policy{none, {}, New(Config{})} {
		list, notes := p.Build(Request{Base: base})
		if list.Len() != 0 || len(notes) == 0 {
			t.Errorf("no surface got %v", list.Names())
		}
	}
	for _, p := range []*Policy{none, {}} {
		if list, _ := p.Build(Request{Surface: Foreground, Base: base}); list.Len() != 0 {
			t.Errorf("no policy gave %v", list.Names())
		}
		if p.Refuses("MY_VAR") == "" || p.Stores("MY_VAR", "x", nil) {
			t.Error("no policy lets a name pass")
		}
	}
	if _, err := ParseSurface("kitchen"); err == nil || !strings.Contains(err.Error(), "execute_code") {
		t.Errorf("unknown surface: %v", err)
	}
	for s := NoSurface + 1; s < surfaces; s++ {
		if back, err := ParseSurface(s.String()); err != nil || back != s {
			t.Errorf("%s reads back as %s: %v", s, back, err)
		}
	}
}

// What Hermes holds as a secret does not go out, whatever it is called and however it is spelled.
func TestSecretValues(t *testing.T) {
	dsn := "postgres://app:" + url.QueryEscape("p@ss/w0rd+1") + "@db/x"
	rows := []struct {
		name, value string
		stays       bool
	}{
		{"MY_KEY", key, false},
		{"SOME_URL", "https://api.example/?k=" + key, false},
		{"DATABASE_URL", dsn, false},
		{"DATABASE_URL", "postgres://app:p@ss/w0rd+1@db/x", false},
		{"DATABASE_URL", "postgres://" + url.UserPassword("app", "p@ss/w0rd+1").String() + "@db/x", false},
		{"HEADER", base64.StdEncoding.EncodeToString([]byte(key)), false},
		{"X", "nameless-token", false},
		{"TENOR_API_KEY", tenor, false}, // nobody declared it
		{"OPENAI_API_KEY", "another-value-altogether", false},
		// Short secrets count only as a whole value, and very short ones not at all.
		{"X", "sixsix", false},
		{"X", "a sixsix b", true},
		{"ANSWER", "yes", true},
		// Kept on purpose under its own name, not under another.
		{"AWS_SECRET_ACCESS_KEY", "aws-secret-value", true},
		{"AWS_COPY", "aws-secret-value", false},
		{"PLAIN", "value", true},
		{"EMPTY", "", true},
	}
	p := New(Config{Secrets: held()})
	for _, r := range rows {
		list, notes := p.Build(Request{Surface: Foreground, Base: map[string]string{r.name: r.value}})
		got, ok := list.Lookup(r.name)
		if ok != r.stays || ok && got != r.value {
			t.Errorf("%s=%s: stays %v", r.name, r.value, ok)
		}
		if !ok && (len(notes) != 1 || notes[0].Outcome != Withheld || notes[0].Reason == "") {
			t.Errorf("%s: notes %v", r.name, notes)
		}
		if strings.Contains(fmt.Sprint(notes), r.value) && r.value != "" && !r.stays {
			t.Errorf("a note shows the value: %v", notes)
		}
	}
}

func TestSecretInPathTakesTheEntryOnly(t *testing.T) {
	p := New(Config{Secrets: held()})
	list, notes := p.Build(Request{Surface: Foreground, Base: map[string]string{"PATH": "/bin:/x/" + key + "/bin:/usr/bin"}})
	if got, _ := list.Lookup("PATH"); got != "/bin:/usr/bin" || len(notes) != 1 || notes[0].Outcome != Trimmed {
		t.Errorf("PATH is %q, notes %v", got, notes)
	}
}

func TestPassthrough(t *testing.T) {
	base := map[string]string{
		"TENOR_API_KEY": tenor, "MY_KEY": key, "OPENAI_API_KEY": key, "HTTPS_PROXY": "http://p", "SSL_CERT_FILE": "/ca", "HERMES_CA_BUNDLE": "/ca",
		"NODE_EXTRA_CA_CERTS": "/ca", "no_proxy": "x", "BUZZ_X": "x", "AUXILIARY_A_API_KEY": "x", "MY_VAR": "v", "LATE_TOKEN": "x", "A-B": "x",
	}
	declared := slices.Collect(func(yield func(string) bool) {
		for name := range base {
			if !yield(name) {
				return
			}
		}
	})
	declared = append(declared, " ", "", " MY_VAR ", "UNSET_VAR")
	p := New(Config{Secrets: held(), Passthrough: declared, Claimed: []string{"LATE_TOKEN"}})
	for _, s := range []Surface{ExecuteCode, Docker, SSH, Modal, Native} {
		list, notes := p.Build(Request{Surface: s, Base: base})
		if names1(list) != "MY_VAR TENOR_API_KEY" {
			t.Errorf("%s: %s arrived; %v", s, names1(list), notes)
		}
		if diff := cmp.Diff([]string{"UNSET_VAR"}, list.Absent()); diff != "" {
			t.Errorf("%s: %s", s, diff)
		}
	}
	// A terminal has what it has anyway, but no more than that.
	list, _ := p.Build(Request{Surface: Foreground, Base: base})
	for _, name := range []string{"MY_KEY", "OPENAI_API_KEY", "BUZZ_X", "AUXILIARY_A_API_KEY", "LATE_TOKEN"} {
		if _, ok := list.Lookup(name); ok {
			t.Errorf("%s reached a terminal", name)
		}
	}
	for _, s := range []Surface{MCP, Child, Hook, Helper, Snapshot} {
		if list, _ := New(Config{Passthrough: []string{"MY_VAR"}}).Build(Request{Surface: s, Grants: []string{"G"}, Base: map[string]string{"G": "x"}}); s != Child && s != Hook && s != Snapshot && list.Len() != 0 {
			t.Errorf("passthrough applies to %s: %v", s, list.Names())
		}
	}
	granted, notes := p.Register([]string{"MY_VAR", "UNSET_VAR", "ANTHROPIC_TOKEN", "HTTPS_PROXY", ""}, func(n string) bool { return n != "UNSET_VAR" })
	if !slices.Equal(granted, []string{"MY_VAR"}) || len(notes) != 4 {
		t.Errorf("registered %v, %v", granted, notes)
	}
}

func TestDockerForward(t *testing.T) {
	p := New(Config{Forward: []string{"GH_TOKEN", "DATABASE_URL", "EMPTY", "HTTPS_PROXY", "BUZZ_X", "AUXILIARY_A_API_KEY", "1X"}})
	q := Request{
		Surface: Docker, Base: map[string]string{"GH_TOKEN": "x", "EMPTY": "", "HTTPS_PROXY": "x", "BUZZ_X": "x", "AUXILIARY_A_API_KEY": "x", "1X": "x", "HOME": "/h"},
		Profile: map[string]string{"DATABASE_URL": "dotenv", "EMPTY": "dotenv"}, Server: map[string]string{"GNUPGHOME": "/root/.gnupg", "GH_TOKEN": "literal", "BAD-NAME": "x"},
	}
	list, _ := p.Build(q)
	want := []string{"DATABASE_URL=dotenv", "EMPTY=dotenv", "GH_TOKEN=x", "GNUPGHOME=/root/.gnupg"}
	if diff := cmp.Diff(want, list.Strings()); diff != "" {
		t.Error(diff)
	}
	q.Surface = SSH
	q.Server = nil
	if list, _ := p.Build(q); list.Len() != 0 {
		t.Errorf("docker_forward_env reached ssh: %v", list.Names())
	}
}

func TestForce(t *testing.T) {
	p := New(Config{Secrets: held()})
	rows := []struct {
		what        string
		s           Surface
		base, extra map[string]string
		name, want  string
	}{
		{"the base counts in the foreground", Foreground, map[string]string{prefix + "GH_TOKEN": "x"}, nil, "GH_TOKEN", "x"},
		{"but not for what is held", Foreground, map[string]string{prefix + "OPENAI_API_KEY": key}, nil, "OPENAI_API_KEY", ""},
		{"nor in the background", Background, map[string]string{prefix + "GH_TOKEN": "x"}, nil, "GH_TOKEN", ""},
		{"an extra counts", Background, nil, map[string]string{prefix + "GH_TOKEN": "x"}, "GH_TOKEN", "x"},
		{"not for other children", Child, nil, map[string]string{prefix + "GH_TOKEN": "x"}, "GH_TOKEN", ""},
		{"never for internal secrets", Foreground, map[string]string{prefix + "AUXILIARY_A_API_KEY": "x"}, map[string]string{prefix + "AUXILIARY_A_API_KEY": "x"}, "AUXILIARY_A_API_KEY", ""},
		{"never through itself", Foreground, nil, map[string]string{prefix + prefix + "A": "x"}, prefix + "A", ""},
	}
	for _, r := range rows {
		list, _ := p.Build(Request{Surface: r.s, Base: r.base, Extra: r.extra})
		if got, _ := list.Lookup(r.name); got != r.want {
			t.Errorf("%s: %s=%q, want %q", r.what, r.name, got, r.want)
		}
		if strings.Contains(names1(list), forcePrefix) {
			t.Errorf("%s: %v", r.what, list.Names())
		}
	}
}

func TestOtherChildren(t *testing.T) {
	base := map[string]string{"ANTHROPIC_API_KEY": "x", "GH_TOKEN": "x", "GITHUB_APP_ID": "x", "EXA_API_KEY": "x", "BUZZ_X": "x", "HERMES_SESSION_ID": "old"}
	list, _ := New(Config{}).Build(Request{Surface: Child, Credentials: true, Base: base, Session: map[string]string{"HERMES_SESSION_ID": "new", "NOT_ONE": "x"}})
	if diff := cmp.Diff([]string{"ANTHROPIC_API_KEY=x", "EXA_API_KEY=x", "HERMES_SESSION_ID=new"}, list.Strings()); diff != "" {
		t.Error(diff)
	}
}

func TestServedProfile(t *testing.T) {
	q := Request{
		Surface: Foreground, Profiles: true, Launch: []string{"LAUNCH_TOKEN", "TERMINAL_TIMEOUT"}, Profile: map[string]string{"SERVICE_TOKEN": "b"},
		Base: map[string]string{"SERVICE_TOKEN": "a", "LAUNCH_TOKEN": "a", "TERMINAL_TIMEOUT": "5", "TERMINAL_CWD": "/w", "PATH": "/bin"},
	}
	p := New(Config{Passthrough: []string{"SERVICE_TOKEN", "GONE_TOKEN", "TERMINAL_CWD"}})
	list, _ := p.Build(q)
	if diff := cmp.Diff([]string{"PATH=/bin", "SERVICE_TOKEN=b", "TERMINAL_CWD=/w"}, list.Strings()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"GONE_TOKEN"}, list.Absent()); diff != "" {
		t.Error(diff)
	}
}

func TestHome(t *testing.T) {
	const user, own = "/home/u", "/home/u/.hermes/home"
	rows := []struct {
		mode                         string
		container, visible, ownThere bool
		home, realHome               string
	}{
		{"auto", false, false, true, user, ""},
		{"", false, false, true, user, ""},
		{"auto", true, true, false, own, user},
		{"real", false, false, true, user, ""},
		{"real", true, true, false, user, ""},
		{"real", true, false, false, own, user},
		{"profile", false, false, true, own, user},
		{"profile", false, false, false, user, ""},
	}
	for _, r := range rows {
		h := Home{Mode: ParseHomeMode(r.mode), Container: r.container, Real: user, RealVisible: r.visible, Own: own, OwnExists: r.ownThere}
		if home, realHome := h.Choose(); home != r.home || realHome != r.realHome {
			t.Errorf("%+v: %q %q, want %q %q", r, home, realHome, r.home, r.realHome)
		}
	}
	list, _ := New(Config{}).Build(Request{Surface: Foreground, Base: map[string]string{"HOME": "/old", "HERMES_HOME": "/old"},
		Home: Home{Mode: HomeProfile, Real: user, Own: own, OwnExists: true}, Hermes: "/home/u/.hermes/profiles/w"})
	want := []string{"HERMES_HOME=/home/u/.hermes/profiles/w", "HERMES_REAL_HOME=" + user, "HOME=" + own}
	if diff := cmp.Diff(want, list.Strings()); diff != "" {
		t.Error(diff)
	}
}

func TestServerPathIsResolved(t *testing.T) {
	list, _ := New(Config{}).Build(Request{Surface: MCP, Base: map[string]string{"PATH": "/bin"}, Server: map[string]string{"PATH": "/opt/x:$PATH", "A": "$PATH"}})
	if diff := cmp.Diff([]string{"A=$PATH", "PATH=/opt/x:/bin"}, list.Strings()); diff != "" {
		t.Error(diff)
	}
}

func TestEngineCarriesTheInside(t *testing.T) {
	p := New(Config{Passthrough: []string{"MY_VAR"}})
	inside, _ := p.Build(Request{Surface: Docker, Base: map[string]string{"MY_VAR": "v"}})
	list, _ := p.Build(Request{Surface: Engine, Base: map[string]string{"PATH": "/bin", "OTHER": "x"}, Carry: inside})
	if names1(list) != "MY_VAR PATH" {
		t.Errorf("the engine got %s", names1(list))
	}
}

func TestWindows(t *testing.T) {
	p := New(Config{Windows: true, Passthrough: []string{"MY_VAR"}, Owned: []string{`C:\agent`}})
	list, _ := p.Build(Request{Surface: ExecuteCode, Base: map[string]string{"Path": "x", "SystemRoot": "w", "My_Secret": "x"}})
	if names1(list) != "Path SystemRoot" {
		t.Errorf("got %s", names1(list))
	}
	list, _ = p.Build(Request{Surface: Foreground, Base: map[string]string{"PYTHONPATH": `C:\agent\;D:\lib`}})
	if got, _ := list.Lookup("PYTHONPATH"); got != `D:\lib` {
		t.Errorf("PYTHONPATH is %q", got)
	}
}

// Nothing prints the values.
func TestListHides(t *testing.T) {
	list, _ := New(Config{}).Build(Request{Surface: Foreground, Base: map[string]string{"A": "visible-value"}})
	holder := struct {
		Env List
		env List
		ptr *List
	}{list, list, &list}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, arg := range []any{list, &list, holder, &holder, []List{list}} {
			if got := fmt.Sprintf(verb, arg); strings.Contains(got, "visible") || strings.Contains(got, fmt.Sprintf("%x", "visible")) {
				t.Errorf("%s shows %s", verb, got)
			}
		}
	}
	if text, err := json.Marshal(holder); err != nil || strings.Contains(string(text), "visible") {
		t.Errorf("json: %s, %v", text, err)
	}
	strs := list.Strings()
	strs[0] = "A=changed"
	if got, _ := list.Lookup("A"); got != "visible-value" {
		t.Errorf("the list was changed from outside: %s", got)
	}
}

// What a session goes on from is not said again; what is other now is, and so is what is gone.
func TestSince(t *testing.T) {
	build := func(base map[string]string) List {
		list, _ := New(Config{}).Build(Request{Surface: Foreground, Base: base})
		return list
	}
	then := build(map[string]string{"SAME": "1", "OTHER": "1", "GONE": "1"})
	now := build(map[string]string{"SAME": "1", "OTHER": "2", "NEW": "3"})
	since := now.Since(then)
	if diff := cmp.Diff([]string{"NEW=3", "OTHER=2"}, since.Strings()); diff != "" {
		t.Error(diff)
	}
	if !slices.Contains(since.Absent(), "GONE") || slices.Contains(since.Absent(), "SAME") {
		t.Errorf("absent %q", since.Absent())
	}
	if all := now.Since(List{}); all.Len() != now.Len() || len(all.Absent()) != len(now.Absent()) {
		t.Errorf("since nothing %q, not %q", all.Names(), now.Names())
	}
}

func TestStores(t *testing.T) {
	p := New(Config{Secrets: held(), Passthrough: []string{"MY_PASS"}, Forward: []string{"FORWARDED"}})
	for name, want := range map[string]bool{
		"MY_VAR": true, "PATH": true, "AI_AGENT": false, "HERMES_AGENT": false, "HERMES_SESSION_ID": false, "HERMES_RPC_URL": false, "BUZZ_X": false,
		"MY_PASS": false, "FORWARDED": false, "GRANTED": false, "OPENAI_API_KEY": false, "HERMES_KERNEL_DIR": false, "BAD-NAME": false,
	} {
		if got := p.Stores(name, "x", []string{"GRANTED"}); got != want {
			t.Errorf("%s is stored: %v", name, got)
		}
	}
	if p.Stores("COPY", key, nil) {
		t.Error("a secret is stored under another name")
	}
}

func TestParse(t *testing.T) {
	got := Parse([]string{"A=1", "B=x=y", "=C:=C:\\", "NOTHING", "A=2", "N=a\x00b", "E="})
	if diff := cmp.Diff(map[string]string{"A": "2", "B": "x=y", "E": ""}, got); diff != "" {
		t.Error(diff)
	}
}

func TestPolicyHides(t *testing.T) {
	p := New(Config{Secrets: held()})
	for _, verb := range []string{"%v", "%+v", "%#v"} {
		if got := fmt.Sprintf(verb, p) + fmt.Sprintf(verb, *p); strings.Contains(got, key) || strings.Contains(got, "sixsix") {
			t.Errorf("%s shows %s", verb, got)
		}
	}
}

// A policy with more secrets or more claimed names never gives more.
func FuzzStricterGivesLess(f *testing.F) {
	f.Add("MY_KEY", "value", "value-of-secret", uint8(1))
	f.Add("PATH", "/bin:/usr/bin", "/usr/bin", uint8(4))
	f.Fuzz(func(t *testing.T, name, value, hidden string, surface uint8) {
		s := Surface(surface) % surfaces
		q := Request{Surface: s, Base: map[string]string{name: value}, Extra: map[string]string{"EXTRA_" + name: value}}
		loose, _ := New(Config{Passthrough: []string{name}}).Build(q)
		strict, _ := New(Config{Passthrough: []string{name}, Claimed: []string{name}, Secrets: []Secret{{"", secret.New(hidden)}}}).Build(q)
		for _, n := range strict.Names() {
			if _, ok := loose.Lookup(n); !ok {
				t.Errorf("%s: only the stricter policy gives %q", s, n)
			}
			if v, _ := strict.Lookup(n); len(hidden) >= leastPart && strings.TrimSpace(hidden) == hidden && strings.Contains(v, hidden) && !strings.Contains(n, "PATH") {
				t.Errorf("%s: %q holds the secret", s, n)
			}
		}
	})
}

func BenchmarkBuild(b *testing.B) {
	base := map[string]string{}
	for i := range 100 {
		base[fmt.Sprintf("VARIABLE_%d", i)] = strings.Repeat("abcdefghij", 5)
	}
	var secrets []Secret
	for i := range 50 {
		secrets = append(secrets, Secret{fmt.Sprintf("KEY_%d", i), secret.New(fmt.Sprintf("sk-secret-value-%04d", i))})
	}
	p := New(Config{Secrets: secrets})
	for b.Loop() {
		p.Build(Request{Surface: Foreground, Base: base})
	}
}
