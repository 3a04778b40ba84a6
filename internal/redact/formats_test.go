package redact

import (
	"strings"
	"testing"

	"hermes/internal/redact/redacttest"
)

// formats are the shared samples, as one fixed set.
var formats = samples(1)

type sample struct {
	what   string
	mode   Mode
	text   string
	secret string
}

func samples(seed uint64) []sample {
	var out []sample
	for _, s := range redacttest.Samples(seed) {
		m, err := ParseMode(s.Mode)
		if err != nil {
			panic(err)
		}
		if !strings.Contains(s.Text, s.Secret) || len(s.Secret) < 12 {
			panic("sample without its secret: " + s.What)
		}
		out = append(out, sample{s.What, m, s.Text, s.Secret})
	}
	return out
}

const key64 = "MIIEowIBAAKCAQEAk3m9x2q7w4e8r1t6y5u0aB3dE6gH9jK2mN5pQ8rStU7vW0xY"

// TestReport_N109 counts the 70 kinds that scanners miss half of, and a few more: each is found, and the text around it is kept.
func TestReport_N109_Formats(t *testing.T) {
	if len(formats) < 70 {
		t.Fatalf("only %d kinds", len(formats))
	}
	found := 0
	for _, f := range formats {
		r := testRedactor(f.mode)
		got := r.String(f.text)
		if strings.Contains(got, f.secret) {
			t.Errorf("%s: leaks in %s", f.what, got)
			continue
		}
		// No piece of the secret that could be used or searched for is left.
		for i := 0; i+8 <= len(f.secret); i++ {
			if strings.Contains(got, f.secret[i:i+8]) {
				t.Errorf("%s: the piece %s is left in %s", f.what, f.secret[i:i+8], got)
				break
			}
		}
		if head, _, _ := strings.Cut(f.text, " "); !strings.HasPrefix(got, head[:min(3, len(head))]) {
			t.Errorf("%s: lost the text in front: %s", f.what, got)
		}
		if n := len(r.Spans(f.text)); n != 1 {
			t.Errorf("%s: %d spans in %s", f.what, n, got)
		}
		checkInvariants(t, f.text)
		found++
	}
	t.Logf("%d of %d kinds", found, len(formats))
}

// nearMisses look like the formats and are none: too short, glued to a word, a placeholder, a public part, prose.
var nearMisses = []struct{ what, text string }{
	{"OpenAI, a style class", "class sk-circle-fade-dot and sk-folding-cube"},
	{"OpenAI, placeholder", "export OPENAI_API_KEY=sk-your-key-here"},
	{"OpenAI, dots", "set the key to sk-..."},
	{"Anthropic, name only", "the sk-ant-api03- prefix"},
	{"OpenRouter, placeholder", "OPENROUTER_API_KEY=sk-or-v1-..."},
	{"Groq, short", "gsk_short"},
	{"Groq, in a name", "my_gsk_module_loader_thing"},
	{"xAI, short", "xai-tooshort here"},
	{"Replicate, name", "r8_register_name"},
	{"Tavily, word", "tvly-python"},
	{"Firecrawl, calendar class", "fc-scrollgrid fc-daygrid-event-harness"},
	{"Fireworks, short", "fw_tooshort"},
	{"ElevenLabs, kernel names", "sk_filter_charge sk_stream_wait_memory sk_psock_destroy_deferred"},
	{"NVIDIA, short", "nvapi-docs"},
	{"Cerebras, short", "csk-1234"},
	{"Mistral, look-up", "MISTRAL_API_KEY=os.environ['MISTRAL_API_KEY']"},
	{"Exa, variable", "EXA_API_KEY=${EXA_API_KEY}"},
	{"Cloudflare, shell", "CLOUDFLARE_API_TOKEN=$(pass show cf)"},
	{"Google, short", "AIzaSyExample"},
	{"Google token, file name", "ya29.txt"},
	{"Google secret, short", "GOCSPX-short"},
	{"Hugging Face, names", "hf_transformers hf_hub_download hf_token"},
	{"Perplexity, word", "pplx-embed"},
	{"GitHub, short", "ghp_short"},
	{"GitHub, filler", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},
	{"GitHub, in a name", "def test_ghp_prefix_is_known():"},
	{"GitHub fine-grained, name", "github_pat_enabled"},
	{"GitLab, short", "glpat-short"},
	{"GitLab, word", "gldt-token and glft-feed"},
	{"Slack, short", "xoxb-token"},
	{"Slack, pattern", "xoxb-[0-9]+"},
	{"Slack hook, pattern", "https://hooks.slack.com/services/T000/B000/XXX"},
	{"Slack hook, docs", "https://hooks.slack.com/services/"},
	{"Telegram, time", "2026-05-01 12:34:56 12345678:ready"},
	{"Telegram, port", "127.0.0.1:65535 and 10000000:30"},
	{"Discord, mention", "Hello <@222589316709220353>"},
	{"Discord, version", "MyApplicationName1234567.module.function"},
	{"Discord hook, docs", "https://discord.com/api/webhooks/{id}/{token}"},
	{"Matrix, short", "syt_user"},
	{"WhatsApp, word", "EAAccess"},
	{"Twilio, task number", "SK-1234 and SK" + "12345"},
	{"SendGrid, sentence", "SG. and SG.short"},
	{"npm, settings", "npm_config_registry=https://registry.example.com npm_lifecycle_event=test"},
	{"PyPI, name", "pypi-attestations pypi-simple-index-server"},
	{"DigitalOcean, short", "dop_v1_abc"},
	{"Databricks, word", "dapi-framework-generator and dapi2"},
	{"Linear, short", "lin_api_key"},
	{"Notion, short", "ntn_page"},
	{"AWS, documentation", "AKIAIOSFODNN7" + "EXAMPLE"},
	{"AWS, too long", "AKIAQ3ZK7WN5XJ2MR8TBQ3ZK7WN5"},
	{"AWS secret, documentation", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY"},
	{"Stripe, short", "sk_live_short"},
	{"age, public", "age1qpzry9x8gf2tvdw0s3jn54khce6mua7lqpzry9x8gf2tvdw0s3jn54khce"},
	{"Tailscale, short", "tskey-auth"},
	{"JWT, name", "the eyJ prefix"},
	{"certificate", "-----BEGIN CERTIFICATE-----\n" + key64 + "\n-----END CERTIFICATE-----"},
	{"public key", "-----BEGIN PUBLIC KEY-----\n" + key64 + "\n-----END PUBLIC KEY-----"},
	{"public key of ssh", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIK3m9x2q7w4e8r1t6y5u0aB3dE6gH9jK2mN5pQ8rStU7 me@host"},
	{"Bearer, prose", "the bearer of this letter, Bearer token required"},
	{"Bearer, template", "Authorization: Bearer ${TOKEN}"},
	{"Authorization, prose", "Authorization: required for all requests"},
	{"web address", "https://user:supersecretpw@host.example.com/path"},
	{"web address, user", "ssh://developer@host.example.com/repo https://git@github.com/x/y"},
	{"Postgres, no password", "postgres://app@db:5432/app postgres://db:5432/app?user=a@b"},
	{"Postgres, template", "postgres://app:${DB_PASSWORD}@db/app postgres://app:{password}@db/app"},
	{"KEY=, words", "KEYBOARD=qwertz123456789012 PASSAGE=notsecret AUTHOR=someone1234567890"},
	{"KEY=, public", "PUBLIC_KEY=3f9a1c7e5b2d8046af13ce97d0b4825e"},
	{"KEY=, cache", "cache_key=3f9a1c7e5b2d8046af13ce97d0b4825e partition_key=abc123def456ghi789"},
	{"PASSWORD=, prose", "I have password=foo and other things"},
	{"password, schema", "password: string\ntoken: str\nsecret: required"},
	{"password, code", "password = get_password(user)\nself.token = token\napi_key=config.api_key"},
	{"token, count", "MAX_TOKENS=4096 max_new_tokens=256 num_key_value_heads=8"},
	{"token, page", `{"nextToken": "eyAidG9rZW4iOiAxMjM0NTY3ODkwIH0aB3dE6"}`},
	{"query, link to follow", "https://app.example.com/reset?token=3f9a1c7e5b2d8046"},
	{"netrc, prose", "a login and a password are needed; the password field is empty"},
	{"cookie, prose", "Cookie: none; a cookie recipe"},
	{"PASS, test report", "PASS: TestThing (0.00s)\n--- PASS: TestOther (1.20s)\npass: 12 fail: 0"},
	{"secretary", "Secretary: JanetYellen1234567890"},
	{"Azure, name", "AccountName=acme;EndpointSuffix=core.windows.net"},
}

func TestReport_N109_NearMisses(t *testing.T) {
	if len(nearMisses) < 70 {
		t.Fatalf("only %d near misses", len(nearMisses))
	}
	for _, m := range nearMisses {
		for _, mode := range []Mode{Text, Code} {
			if got := New(Options{Mode: mode}).String(m.text); got != m.text {
				t.Errorf("%s, %v: %q became %q", m.what, mode, m.text, got)
			}
		}
	}
}

// TestSamplesOfManySeeds: no format depends on what its body happens to hold.
func TestSamplesOfManySeeds(t *testing.T) {
	missed := 0
	for seed := range uint64(300) {
		for _, f := range samples(seed) {
			if got := testRedactor(f.mode).String(f.text); strings.Contains(got, f.secret) {
				missed++
				t.Errorf("seed %d, %s: %s", seed, f.what, got)
			}
		}
	}
	if missed > 0 {
		t.Logf("%d missed", missed)
	}
}
