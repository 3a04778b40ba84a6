package redact

import "strings"

// prefix is one token format: a literal start and a body.
type prefix struct {
	lit      string
	kind     Kind
	body     uint16
	min, max int // length of the body; max 0 means no upper limit
	how      care
}

// care says how much a body must look random before it counts.
type care uint8

const (
	plain care = iota // the prefix is telling: a digit, mixed case or 20 characters
	loose             // the prefix is also the start of ordinary names: a long run with a digit in it
	exact             // the body is exactly max long, and mixed
	mixed             // digits and letters both, as in a short prefix that base64 may hit
)

// matchToken looks for a token that starts at s[i:]. The caller has made sure that a word may start there.
func matchToken(s string, i int) (kind Kind, end int) {
	if i >= len(s) {
		return "", 0
	}
	rows := prefixes[s[i]]
	for k := range rows {
		p := &rows[k]
		if !strings.HasPrefix(s[i:], p.lit) {
			continue
		}
		if end := p.match(s, i); end > 0 {
			return p.kind, end
		}
	}
	switch s[i] {
	case 'e':
		if strings.HasPrefix(s[i:], "eyJ") {
			return matchJWT(s, i)
		}
	case 'A':
		if strings.HasPrefix(s[i:], "AGE-SECRET-KEY-1") {
			return matchAge(s, i)
		}
	case 'x':
		if strings.HasPrefix(s[i:], "xapp-") || strings.HasPrefix(s[i:], "xox") {
			return matchSlack(s, i)
		}
	}
	return "", 0
}

// startsToken says whether s[i:] starts with the literal of some format, whatever follows.
func startsToken(s string, i int) bool {
	rows := prefixes[s[i]]
	for k := range rows {
		if strings.HasPrefix(s[i:], rows[k].lit) {
			return true
		}
	}
	return strings.HasPrefix(s[i:], "eyJ") || strings.HasPrefix(s[i:], "xox") || strings.HasPrefix(s[i:], "xapp-")
}

// match gives the end of the token that starts at s[i:] with p's literal, or 0.
func (p *prefix) match(s string, i int) int {
	b := i + len(p.lit)
	if p.how == mixed && i > 0 && is(s[i-1], plus|equal) && s[i-1] != '=' {
		return 0 // inside base64
	}
	e := run(s, b, p.body)
	if p.max > 0 && e-b > p.max && p.how != exact {
		e = b + p.max
	}
	for e > b && class[s[e-1]]&(dot|hyphen) != 0 && p.body&dot != 0 {
		e-- // a full stop ends the sentence, not the token
	}
	if p.body&dot != 0 {
		if k := strings.Index(s[b:e], ".."); k >= 0 {
			e = b + k
		}
	}
	n := e - b
	if n < p.min || p.how == exact && n != p.max {
		return 0
	}
	// A word that goes on is another word, unless so much has matched that this cannot be chance.
	if e < len(s) && is(s[e], word) && n < 24 {
		return 0
	}
	if !p.plausible(s[b:e]) || p.how == mixed && e < len(s) && is(s[e], plus) {
		return 0
	}
	return e
}

func (p *prefix) plausible(body string) bool {
	if filler(body) {
		return false
	}
	u := has(body)
	mix := u&lower != 0 && u&upper != 0
	switch p.how {
	case loose:
		return len(body) >= 40 && u&digit != 0 || longRun(body)
	case exact:
		return u&letter != 0 && !strings.HasSuffix(body, "EXAMPLE")
	case mixed:
		return u&digit != 0 && u&letter != 0 && !repeats(body)
	}
	return u&digit != 0 || mix || len(body) >= 20
}

// longRun says whether body has a run of ten letters and digits with a digit in it, or of fifteen: names made of
// words (sk-circle-fade-dot, sk_filter_charge) have neither.
func longRun(body string) bool {
	for i := 0; i < len(body); {
		e := run(body, i, alnum)
		if n := e - i; n >= 15 || n >= 10 && has(body[i:e])&digit != 0 {
			return true
		}
		i = e + 1
	}
	return false
}

// repeats says whether six equal characters stand together, as in the zeros of binary data in base64.
func repeats(body string) bool {
	n := 1
	for i := 1; i < len(body); i++ {
		if body[i] != body[i-1] {
			n = 1
		} else if n++; n == 6 {
			return true
		}
	}
	return false
}

// filler says whether a body is what people write instead of a token: xxxx, ****, ....
func filler(body string) bool {
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case 'x', 'X', '*', '.', '-', '_', '#':
		default:
			return false
		}
	}
	return true
}

// prefixes are the formats by their first byte; within a byte the longer literal comes first.
var prefixes = [256][]prefix{
	'A': {
		{"AKIA", "aws-access-key", upper | digit, 16, 16, exact},
		{"ASIA", "aws-access-key", upper | digit, 16, 16, exact},
		{"ABIA", "aws-access-key", upper | digit, 16, 16, exact},
		{"ACCA", "aws-access-key", upper | digit, 16, 16, exact},
		{"AIza", "google-api-key", alnum | under | hyphen, 30, 0, plain},
		{"AKCp", "artifactory-key", alnum, 64, 80, mixed},
		{"ATATT3", "atlassian-token", alnum | under | hyphen | equal, 60, 0, mixed},
		{"ATCTT3", "atlassian-token", alnum | under | hyphen | equal, 60, 0, mixed},
		{"ATBB", "bitbucket-token", alnum, 32, 40, mixed},
		{"AQVN", "yandex-key", alnum | under | hyphen, 35, 45, mixed},
	},
	'C': {{"CCIPAT_", "circleci-token", alnum | under, 40, 0, plain}},
	'E': {
		{"EAAA", "square-token", alnum | under | hyphen, 60, 60, exact},
		{"EAA", "meta-token", alnum, 40, 0, mixed},
	},
	'F': {{"FlyV1 fm", "fly-token", alnum | under | plus | equal, 40, 0, plain}},
	'G': {
		{"GOCSPX-", "google-oauth-secret", word, 20, 0, plain},
		{"GR1348941", "gitlab-token", word, 10, 0, plain},
	},
	'H': {{"HRKU-", "heroku-key", word, 30, 0, plain}},
	'L': {{"LTAI", "alibaba-key", alnum, 16, 24, mixed}},
	'N': {{"NRAK-", "newrelic-key", upper | digit, 20, 0, plain}},
	'P': {{"PMAK-", "postman-key", alnum | hyphen, 40, 0, plain}},
	'S': {{"SG.", "sendgrid-key", word | dot, 10, 0, plain}},
	'a': {
		{"am_org_", "agentmail-key", alnum, 20, 0, plain},
		{"am_", "agentmail-key", alnum, 20, 0, plain},
	},
	'b': {
		{"bb_live_", "browserbase-key", word, 10, 0, plain},
		{"brv_", "brave-key", alnum, 10, 0, plain},
		{"bkua_", "buildkite-token", alnum, 30, 0, plain},
	},
	'c': {{"csk-", "cerebras-key", alnum, 20, 0, plain}},
	'd': {
		{"dop_v1_", "digitalocean-token", alnum, 10, 0, plain},
		{"doo_v1_", "digitalocean-token", alnum, 10, 0, plain},
		{"dor_v1_", "digitalocean-token", alnum, 10, 0, plain},
		{"dapi", "databricks-token", hexLower | hyphen, 32, 34, mixed},
		{"dckr_pat_", "docker-token", word, 20, 0, plain},
		{"dckr_oat_", "docker-token", word, 20, 0, plain},
		{"dp.pt.", "doppler-token", alnum, 40, 0, plain},
		{"dp.st.", "doppler-token", word | dot, 40, 0, plain},
		{"dp.ct.", "doppler-token", alnum, 40, 0, plain},
	},
	'e': {{"exa_", "exa-key", alnum, 10, 0, plain}},
	'f': {
		{"fc-", "firecrawl-key", alnum, 10, 0, plain},
		{"fw-", "fireworks-key", alnum, 30, 0, plain},
		{"fw_", "fireworks-key", alnum, 20, 0, plain},
		{"fpk_", "fireworks-key", alnum, 30, 0, plain},
		{"fal_", "fal-key", word, 10, 0, loose},
		{"figd_", "figma-token", word, 30, 0, plain},
		{"fo1_", "fly-token", word, 40, 0, plain},
	},
	'g': {
		{"ghp_", "github-pat", alnum, 10, 0, plain},
		{"gho_", "github-token", alnum, 10, 0, plain},
		{"ghu_", "github-token", alnum, 10, 0, plain},
		{"ghs_", "github-token", alnum, 10, 0, plain},
		{"ghr_", "github-token", alnum, 10, 0, plain},
		{"github_pat_", "github-pat", alnum | under, 10, 0, plain},
		{"gsk_", "groq-key", alnum, 10, 0, plain},
		{"glpat-", "gitlab-pat", word | dot, 10, 0, plain},
		{"gloas-", "gitlab-token", word, 10, 0, plain},
		{"gldt-", "gitlab-token", word, 10, 0, plain},
		{"glcbt-", "gitlab-token", word, 10, 0, plain},
		{"glptt-", "gitlab-token", word, 10, 0, plain},
		{"glft-", "gitlab-token", word, 10, 0, plain},
		{"glimt-", "gitlab-token", word, 10, 0, plain},
		{"glagent-", "gitlab-token", word, 10, 0, plain},
		{"glsoat-", "gitlab-token", word, 10, 0, plain},
		{"glffct-", "gitlab-token", word, 10, 0, plain},
		{"glwt-", "gitlab-token", word, 10, 0, plain},
		{"glrtr-", "gitlab-token", word | dot, 10, 0, plain},
		{"glrt-", "gitlab-token", word | dot, 10, 0, plain},
		{"glsa_", "grafana-token", alnum | under, 32, 0, plain},
		{"glc_", "grafana-token", base64, 32, 0, mixed},
		{"gAAAA", "fernet-token", word | equal, 20, 0, mixed},
	},
	'h': {
		{"hf_", "huggingface-token", alnum, 10, 0, plain},
		{"hsk-", "hermes-key", alnum, 10, 0, plain},
		{"hvs.", "vault-token", word, 20, 0, plain},
		{"hvb.", "vault-token", word, 20, 0, plain},
		{"hvr.", "vault-token", word, 20, 0, plain},
	},
	'l': {
		{"lin_api_", "linear-key", alnum, 20, 0, plain},
		{"lin_oauth_", "linear-key", alnum, 20, 0, plain},
	},
	'm': {{"mem0_", "mem0-key", alnum, 10, 0, plain}},
	'n': {
		{"npm_", "npm-token", alnum, 10, 0, plain},
		{"ntn_", "notion-token", alnum, 10, 0, plain},
		{"nvapi-", "nvidia-key", word, 20, 0, plain},
		{"nfp_", "netlify-token", alnum, 30, 0, plain},
		{"napi_", "neon-key", alnum, 40, 0, plain},
	},
	'o': {{"ops_eyJ", "onepassword-token", word | dot | equal, 50, 0, plain}},
	'p': {
		{"pplx-", "perplexity-key", alnum, 10, 0, plain},
		{"pypi-", "pypi-token", word, 10, 0, loose},
		{"pk-lf-", "langfuse-key", word, 8, 0, plain},
		{"pscale_tkn_", "planetscale-token", word | dot, 30, 0, plain},
		{"pscale_pw_", "planetscale-token", word | dot, 30, 0, plain},
		{"pul-", "pulumi-token", hexLower, 40, 40, exact},
	},
	'r': {
		{"r8_", "replicate-token", alnum, 10, 0, plain},
		{"retaindb_", "retaindb-key", alnum, 10, 0, plain},
		{"rk_live_", "stripe-key", alnum, 10, 0, plain},
		{"rk_test_", "stripe-key", alnum, 10, 0, plain},
		{"rubygems_", "rubygems-key", hexLower, 48, 48, exact},
		{"rnd_", "render-key", alnum, 28, 0, mixed},
	},
	's': {
		{"sk-ant-", "anthropic-key", word | dot, 10, 0, loose},
		{"sk-or-", "openrouter-key", word | dot, 10, 0, loose},
		{"sk-proj-", "openai-key", word | dot, 10, 0, loose},
		{"sk-lf-", "langfuse-key", word, 8, 0, plain},
		{"sk-", "openai-key", word | dot, 10, 0, loose},
		{"sk_live_", "stripe-key", alnum, 10, 0, plain},
		{"sk_test_", "stripe-key", alnum, 10, 0, plain},
		{"sk_", "api-key", alnum | under, 10, 0, loose},
		{"syt_", "matrix-token", alnum | under, 10, 0, plain},
		{"shpat_", "shopify-token", alnum, 32, 0, plain},
		{"shpss_", "shopify-token", alnum, 32, 0, plain},
		{"shpca_", "shopify-token", alnum, 32, 0, plain},
		{"shppa_", "shopify-token", alnum, 32, 0, plain},
		{"sq0csp-", "square-token", word, 40, 0, plain},
		{"sntrys_", "sentry-token", base64 | word, 40, 0, plain},
		{"sntryu_", "sentry-token", alnum, 40, 0, plain},
		{"sbp_", "supabase-token", hexLower, 40, 40, exact},
		{"sl.", "dropbox-token", word, 100, 0, mixed},
	},
	't': {
		{"tvly-", "tavily-key", word, 10, 0, plain},
		{"tskey-", "tailscale-key", word, 15, 0, plain},
	},
	'v': {{"v1.0-", "cloudflare-key", word, 100, 0, mixed}},
	'w': {{"whsec_", "webhook-secret", base64, 24, 0, mixed}},
	'x': {{"xai-", "xai-key", alnum, 20, 0, plain}},
	'y': {{"ya29.", "google-oauth-token", word | dot, 20, 0, plain}},
}
