package redacttest

import "math/rand/v2"

// Sample is a text with a synthetic secret of the right shape in it. Nothing here was ever issued; prefixes are joined at
// run time, so that scanners of repositories do not take them for leaks.
type Sample struct {
	What   string
	Mode   string // the weakest mode of the redactor that must find it
	Text   string
	Secret string // what must be gone
}

// Samples gives the kinds of secrets to be found, family by family, with bodies that depend on seed.
func Samples(seed uint64) []Sample {
	g := generator{rand.New(rand.NewPCG(seed, 2))}
	in := func(what, prefix, body string) Sample {
		return Sample{what, "text", "log: using " + prefix + body + " for the call", body}
	}
	lo20, mix12, mix20, mix36 := g.from(lowerDigits, 20), g.from(mixed, 12), g.from(mixed, 20), g.from(mixed, 36)
	hex32, hex64, up16 := g.hex(32), g.hex(64), g.from(upperDigits, 16)
	key64 := "MIIEowIBAAKCAQEA" + g.base64(48)
	uuid, app16 := g.uuid(), g.from("abcdefghijklmnopqrstuvwxyz", 16)
	age58 := g.from("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)
	return []Sample{
		in("OpenAI", "sk-", mix20+"T3Blbk"+"FJ"+g.from(mixed, 20)),
		in("OpenAI project", "sk-"+"proj-", mix36+"_"+mix36+"-T3Blbk"+"FJ"+mix36+mix36[:33]+"_"+mix12[:4]),
		in("Anthropic", "sk-"+"ant-api03-", mix36+"-"+mix36+"_"+mix20[:19]+"AA"),
		in("Anthropic admin", "sk-"+"ant-admin01-", mix36+"-"+mix36+"_"+mix20[:19]+"AA"),
		in("Anthropic OAuth", "sk-"+"ant-oat01-", mix36+"_"+mix36+"-"+mix20[:19]+"AA"),
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
		{"Mistral, by name", "text", "MISTRAL_API_KEY=" + mix20 + "tU7vW0xY4zA1", mix20},
		{"Exa, by name", "text", "EXA_API_KEY=" + uuid, uuid},
		{"Cloudflare, by name", "text", "CLOUDFLARE_API_TOKEN=" + mix36 + "_9xQ", mix36},
		in("Google API", "AI"+"za", "Sy"+mix36[:33]),
		in("Google OAuth token", "ya"+"29.", "a0AfH6SM"+mix36+"-"+mix36),
		in("Google OAuth secret", "GOC"+"SPX-", mix20+"_tU7vW0x"),
		in("Hugging Face", "hf"+"_", g.from(letters, 34)),
		in("Perplexity", "pplx"+"-", mix36+mix12),
		in("GitHub classic", "gh"+"p_", mix36),
		in("GitHub OAuth", "gh"+"o_", mix36),
		in("GitHub user", "gh"+"u_", mix36),
		in("GitHub server", "gh"+"s_", mix36),
		in("GitHub refresh", "gh"+"r_", mix36),
		in("GitHub fine-grained", "github"+"_pat_", "11ABCDEFG0"+mix12+"_"+mix36+mix20+mix12[:3]),
		in("GitLab personal", "gl"+"pat-", mix20),
		in("GitLab deploy", "gl"+"dt-", mix20),
		in("GitLab CI", "gl"+"cbt-", "64_"+mix20),
		in("GitLab trigger", "gl"+"ptt-", hex32+"91c4e7a0"),
		in("GitLab feed", "gl"+"ft-", mix20),
		in("GitLab mail", "gl"+"imt-", lo20+"k3m9x"),
		in("GitLab agent", "gl"+"agent-", mix36+"aB3dE6gH9jK2mN"),
		in("GitLab runner", "gl"+"rt-", mix20),
		in("GitLab runner, old", "GR"+"1348941", mix20),
		in("Slack bot", "xo"+"xb-", "123456789012-1234567890123-"+mix20+"tU7v"),
		in("Slack user", "xo"+"xp-", "123456789012-123456789012-1234567890123-"+hex32),
		in("Slack app", "xa"+"pp-1-", "A01B2C3D4E5-1234567890123-"+hex64),
		{"Slack hook", "text", "POST https://hooks.slack.com/services/T01AB2CD3/B04EF5GH6/" + mix20 + "tU7v ok", mix20},
		{"Telegram", "text", "bot 123456789" + ":AAF" + mix20 + "tU7vW0xY4zA1 started", mix20},
		{"Telegram address", "code", "GET https://api.telegram.org/bot123456789" + ":AAF" + mix20 + "tU7vW0xY4zA1/getMe", mix20},
		in("Discord", "MTIzNDU2Nzg5MDEyMzQ1Njc4", "."+mix12[:6]+"."+mix20+"tU7vW0xY4zA1bC8dE6"),
		{"Discord hook", "text", "https://discord.com/api/webhooks/123456789012345678/" + mix36 + mix20 + "tU7vW0xY4zA1", mix20},
		in("Matrix", "syt"+"_", "Ym90_"+mix20+"_2xQ7aB"),
		in("WhatsApp", "EA"+"AG", mix36+mix36+mix20+"ZDZD"),
		{"Twilio, by name", "text", "TWILIO_API_KEY=SK" + hex32, hex32},
		in("SendGrid", "SG"+".", mix20+"4z."+mix36+"aB3dE6g"),
		in("npm", "npm"+"_", mix36),
		in("PyPI", "pypi"+"-", "AgEIcHlwaS5vcmcC"+mix36+mix36),
		in("DigitalOcean", "dop"+"_v1_", hex64),
		in("Databricks", "dapi", hex32),
		in("Linear", "lin"+"_api_", mix36+"aB3d"),
		in("Notion", "ntn"+"_", "123456789012"+mix20+"aB3dE6gH9jK2mN"),
		in("AWS long-lived", "AK"+"IA", up16),
		in("AWS session", "AS"+"IA", up16),
		{"AWS secret, by name", "text", "aws_secret_access_key = " + mix20 + "/tU7vW0xY4zA+bC8dE6g", mix20},
		in("Stripe", "sk"+"_live_", mix20+"tU7v"),
		in("age", "AGE-SECRET"+"-KEY-1", age58),
		in("Tailscale", "tskey"+"-auth-", "k3m9x2q7w4CNTRL-"+mix20+"tU7vW0xY4zA1"),
		in("JWT", "ey"+"JhbGciOiJIUzI1NiJ9.", "eyJzdWIiOiI0MiIsIm5hbWUiOiJ4In0."+mix36+"aB3dE6g"),
		{"RSA key", "text", "-----BEGIN RSA PRIVATE" + " KEY-----\n" + key64 + "\n" + key64 + "\nq7w4e8r1==\n-----END RSA PRIVATE" + " KEY-----", key64[:20]},
		{"OpenSSH key", "code", "  1\t-----BEGIN OPENSSH PRIVATE" + " KEY-----\n  2\t" + key64 + "\n  3\t" + key64 + "\n  4\t-----END OPENSSH PRIVATE" + " KEY-----", key64[:20]},
		{"GCP service account", "text", `  "private_key": "-----BEGIN PRIVATE` + ` KEY-----\n` + key64 + `\n` + key64 + `\n-----END PRIVATE` + ` KEY-----\n",`, key64[:20]},
		{"Bearer header", "code", "> Authorization: Bearer " + mix36, mix36},
		{"password in a web address", "strict", "cloning https://deploy:" + lo20 + "@git.example.com/x.git", lo20},
		{"Postgres address", "code", "postgres://app:" + lo20 + "@db:5432/app", lo20},
		{"Redis address", "code", "redis://:" + lo20 + "@cache:6379/0", lo20},
		{"KEY=value", "text", "ACME_API_KEY=" + lo20, lo20},
		{"PASSWORD=value", "text", "DB_PASSWORD=correct-horse", "correct-horse"},
		{"JSON token", "text", `{"user":"x","token":"` + mix20 + `"}`, mix20},
		{"token in a query", "strict", "GET /v1/items?page=2&token=" + lo20 + "&sort=asc", lo20},
		{"netrc", "text", "machine api.example.com login me password " + lo20, lo20},
		{"cookie header", "code", "Cookie: theme=dark; sessionid=" + lo20, lo20},
		{"cookie file", "code", ".example.com\tTRUE\t/\tTRUE\t1790000000\tsid\t" + lo20, lo20},
		{"Google app password, by name", "text", "SMTP_PASSWORD=" + app16, app16},
		{"Azure storage", "code", "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=" + mix36 + mix36 + "tU7vW0xY4zA1==;EndpointSuffix=core.windows.net", mix36},
	}
}

const (
	lowerDigits = "abcdefghijklmnopqrstuvwxyz0123456789"
	upperDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	letters     = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	mixed       = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
)

// from draws n characters.
func (g generator) from(set string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = set[g.IntN(len(set))]
	}
	return string(b)
}
