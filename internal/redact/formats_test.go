package redact

import (
	"strings"
	"testing"
)

// sample is a text with a synthetic secret of the right shape in it. Nothing here was ever issued; the pieces are joined
// at run time, so that scanners of repositories do not take them for leaks.
type sample struct {
	what   string
	mode   Mode
	text   string
	secret string // what must be gone
}

const (
	lo20  = "k3m9x2q7w4e8r1t6y5u0"
	mix20 = "aB3dE6gH9jK2mN5pQ8rS"
	mix36 = mix20 + "tU7vW0xY4zA1bC8d"
	hex32 = "3f9a1c7e5b2d8046af13ce97d0b4825e"
	hex64 = hex32 + "91c4e7a05d3b8f62c6e0a9d4178b53f2"
	up16  = "Q3ZK7WN5XJ2MR8TB"
)

func in(what, prefix, body string) sample {
	return sample{what, Text, "log: using " + prefix + body + " for the call", body}
}

// formats are the kinds of secrets to be found, in the order of the families they belong to.
var formats = []sample{
	in("OpenAI", "sk-", mix36+mix20),
	in("OpenAI project", "sk-"+"proj-", mix36+"_"+mix36+"-"+mix20),
	in("Anthropic", "sk-"+"ant-api03-", mix36+"-"+mix36+"_"+mix20+"AA"),
	in("Anthropic admin", "sk-"+"ant-admin01-", mix36+"-"+mix36+"AA"),
	in("Anthropic OAuth", "sk-"+"ant-oat01-", mix36+"_"+mix36+"AA"),
	in("OpenRouter", "sk-"+"or-v1-", hex64),
	in("DeepSeek", "sk-", hex32),
	in("Groq", "gsk"+"_", mix36+"aB3dE6gH9jK2mN5p"),
	in("xAI", "xai"+"-", mix36+mix36),
	in("Replicate", "r8"+"_", mix36+"4"),
	in("Tavily", "tvly"+"-", mix20+"dE6gH9jK2mN5"),
	in("Firecrawl", "fc"+"-", hex32),
	in("Fireworks", "fw"+"_", mix20+"4z"),
	in("ElevenLabs", "sk"+"_", hex32+"91c4e7a05d3b8f62"),
	in("NVIDIA", "nvapi"+"-", mix36+"-"+mix20+"_x7Q"),
	in("Cerebras", "csk"+"-", lo20+lo20+"k3m9x2q7"),
	{"Mistral, by name", Text, "MISTRAL_API_KEY=" + mix20 + "tU7vW0xY4zA1", mix20},
	{"Exa, by name", Text, "EXA_API_KEY=3f9a1c7e-5b2d-4046-af13-ce97d0b4825e", "3f9a1c7e"},
	{"Cloudflare, by name", Text, "CLOUDFLARE_API_TOKEN=" + mix36 + "_9xQ", mix20},
	in("Google API", "AI"+"za", "SyB3dE6gH9jK2mN5pQ8rStU7vW0xY4zA1bC"),
	in("Google OAuth token", "ya"+"29.", "a0AfH6SM"+mix36+"-"+mix36),
	in("Google OAuth secret", "GOC"+"SPX-", mix20+"_tU7vW0x"),
	in("Hugging Face", "hf"+"_", mix20+"tUvWxYzAbCdEfG"),
	in("Perplexity", "pplx"+"-", mix36+"aB3dE6gH9jK2"),
	in("GitHub classic", "gh"+"p_", mix36),
	in("GitHub OAuth", "gh"+"o_", mix36),
	in("GitHub user", "gh"+"u_", mix36),
	in("GitHub server", "gh"+"s_", mix36),
	in("GitHub refresh", "gh"+"r_", mix36),
	in("GitHub fine-grained", "github"+"_pat_", "11ABCDEFG0"+mix20[:12]+"_"+mix36+mix20),
	in("GitLab personal", "gl"+"pat-", mix20),
	in("GitLab deploy", "gl"+"dt-", mix20),
	in("GitLab CI", "gl"+"cbt-", "64_"+mix20),
	in("GitLab trigger", "gl"+"ptt-", hex32+"91c4e7a0"),
	in("GitLab feed", "gl"+"ft-", mix20),
	in("GitLab mail", "gl"+"imt-", lo20+"k3m9x"),
	in("GitLab agent", "gl"+"agent-", mix36+"aB3dE6gH9jK2mN"),
	in("GitLab runner", "gl"+"rt-", mix20+".01.k3m9x2q7w"),
	in("GitLab runner, old", "GR"+"1348941", mix20),
	in("Slack bot", "xo"+"xb-", "123456789012-1234567890123-"+mix20+"tU7v"),
	in("Slack user", "xo"+"xp-", "123456789012-123456789012-1234567890123-"+hex32),
	in("Slack app", "xa"+"pp-1-", "A01B2C3D4E5-1234567890123-"+hex64),
	{"Slack hook", Text, "POST https://hooks.slack.com/services/T01AB2CD3/B04EF5GH6/" + mix20 + "tU7v ok", mix20},
	{"Telegram", Text, "bot 123456789" + ":AAF" + mix20 + "tU7vW0xY4zA1 started", mix20},
	{"Telegram address", Code, "GET https://api.telegram.org/bot123456789" + ":AAF" + mix20 + "tU7vW0xY4zA1/getMe", mix20},
	in("Discord", "MTIzNDU2Nzg5MDEyMzQ1Njc4", ".GhIjKl."+mix20+"tU7vW0xY4zA1bC8dE6"),
	{"Discord hook", Text, "https://discord.com/api/webhooks/123456789012345678/" + mix36 + mix20 + "tU7vW0xY4zA1", mix20},
	in("Matrix", "syt"+"_", "Ym90_"+mix20+"_2xQ7aB"),
	in("WhatsApp", "EA"+"AG", mix36+mix36+mix20+"ZDZD"),
	{"Twilio, by name", Text, "TWILIO_API_KEY=SK" + hex32, hex32},
	in("SendGrid", "SG"+".", mix20+"4z."+mix36+"aB3dE6g"),
	in("npm", "npm"+"_", mix36),
	in("PyPI", "pypi"+"-", "AgEIcHlwaS5vcmcC"+mix36+mix36),
	in("DigitalOcean", "dop"+"_v1_", hex64),
	in("Databricks", "dapi", hex32),
	in("Linear", "lin"+"_api_", mix36+"aB3d"),
	in("Notion", "ntn"+"_", "123456789012"+mix20+"aB3dE6gH9jK2mN"),
	in("AWS long-lived", "AK"+"IA", up16),
	in("AWS session", "AS"+"IA", up16),
	{"AWS secret, by name", Text, "aws_secret_access_key = " + mix20 + "/tU7vW0xY4zA+bC8dE6g", mix20},
	in("Stripe", "sk"+"_live_", mix20+"tU7v"),
	in("age", "AGE-SECRET"+"-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE"),
	in("Tailscale", "tskey"+"-auth-", "k3m9x2q7w4CNTRL-"+mix20+"tU7vW0xY4zA1"),
	in("JWT", "ey"+"JhbGciOiJIUzI1NiJ9.", "eyJzdWIiOiI0MiIsIm5hbWUiOiJ4In0."+mix36+"aB3dE6g"),
	{"RSA key", Text, "-----BEGIN RSA PRIVATE" + " KEY-----\n" + key64 + "\n" + key64 + "\nq7w4e8r1==\n-----END RSA PRIVATE" + " KEY-----", key64[:20]},
	{"OpenSSH key", Code, "  1\t-----BEGIN OPENSSH PRIVATE" + " KEY-----\n  2\t" + key64 + "\n  3\t" + key64 + "\n  4\t-----END OPENSSH PRIVATE" + " KEY-----", key64[:20]},
	{"GCP service account", Text, `  "private_key": "-----BEGIN PRIVATE` + ` KEY-----\n` + key64 + `\n` + key64 + `\n-----END PRIVATE` + ` KEY-----\n",`, key64[:20]},
	{"Bearer header", Code, "> Authorization: Bearer " + mix36, mix36},
	{"password in a web address", Strict, "cloning https://deploy:" + lo20 + "@git.example.com/x.git", lo20},
	{"Postgres address", Code, "postgres://app:" + lo20 + "@db:5432/app", lo20},
	{"Redis address", Code, "redis://:" + lo20 + "@cache:6379/0", lo20},
	{"KEY=value", Text, "ACME_API_KEY=" + lo20, lo20},
	{"PASSWORD=value", Text, "DB_PASSWORD=correct-horse", "correct-horse"},
	{"JSON token", Text, `{"user":"x","token":"` + mix20 + `"}`, mix20},
	{"token in a query", Strict, "GET /v1/items?page=2&token=" + lo20 + "&sort=asc", lo20},
	{"netrc", Text, "machine api.example.com login me password " + lo20, lo20},
	{"cookie header", Code, "Cookie: theme=dark; sessionid=" + lo20, lo20},
	{"cookie file", Code, ".example.com\tTRUE\t/\tTRUE\t1790000000\tsid\t" + lo20, lo20},
	{"Google app password, by name", Text, "SMTP_PASSWORD=abcdefghijklmnop", "abcdefghijklmnop"},
	{"Azure storage", Code, "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=" + mix36 + mix36 + "tU7vW0xY4zA1==;EndpointSuffix=core.windows.net", mix36},
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
