package config

import (
	"slices"
	"strings"
	"sync"
)

// Variable is an environment variable that Hermes knows.
type Variable struct {
	Name    string
	Doc     string
	Secret  bool // its value is not shown
	Process bool // counts in the process environment only; in .env it would have no effect
}

// FindVariable returns what is known of a variable. Any name can stand in .env (skills bring their own); what is not known
// is a secret unless its name says otherwise.
func FindVariable(name string) (Variable, bool) {
	all := variables()
	if i := slices.IndexFunc(all, func(v Variable) bool { return v.Name == name }); i >= 0 {
		return all[i], true
	}
	return Variable{Name: name, Secret: true}, false
}

// Variables returns all that are known, by name.
func Variables() []Variable { return slices.Clone(variables()) }

// variables is made at its first use: most commands need none of it.
var variables = sync.OnceValue(func() []Variable {
	var out []Variable
	add := func(v Variable, names string) {
		for name := range strings.FieldsSeq(names) {
			v.Name = name
			out = append(out, v)
		}
	}
	for _, k := range keys {
		if k.Env != "" {
			add(Variable{Doc: k.Doc}, k.Env)
		}
	}
	for _, p := range []string{"TELEGRAM", "DISCORD", "WHATSAPP", "WHATSAPP_CLOUD", "SLACK", "SIGNAL", "EMAIL", "SMS", "MATTERMOST",
		"MATRIX", "DINGTALK", "FEISHU", "WECOM", "WECOM_CALLBACK", "WEIXIN", "BLUEBUBBLES", "YUANBAO", "GOOGLE_CHAT", "QQ", "SIMPLEX"} {
		add(Variable{Doc: "who may talk there, by comma"}, p+"_ALLOWED_USERS")
		add(Variable{Doc: "everybody may talk there"}, p+"_ALLOW_ALL_USERS")
		add(Variable{Doc: "bots may talk there: mentions or all"}, p+"_ALLOW_BOTS")
	}
	add(Variable{Doc: "who may talk on any messenger, by comma"}, "GATEWAY_ALLOWED_USERS")
	add(Variable{Doc: "more lists of who may talk"}, `TELEGRAM_GROUP_ALLOWED_USERS TELEGRAM_GROUP_ALLOWED_CHATS
		QQ_GROUP_ALLOWED_USERS SIGNAL_GROUP_ALLOWED_USERS DISCORD_ALLOWED_ROLES DISCORD_ALLOWED_CHANNELS`)
	add(Variable{Doc: "where and how a messenger is used"}, `TELEGRAM_HOME_CHANNEL TELEGRAM_HOME_CHANNEL_NAME TELEGRAM_WEBHOOK_URL
		DISCORD_HOME_CHANNEL DISCORD_HOME_CHANNEL_NAME DISCORD_REQUIRE_MENTION DISCORD_FREE_RESPONSE_CHANNELS DISCORD_AUTO_THREAD
		SLACK_HOME_CHANNEL SLACK_HOME_CHANNEL_NAME WHATSAPP_ENABLED WHATSAPP_MODE SIGNAL_HTTP_URL SIGNAL_ACCOUNT
		SIGNAL_HOME_CHANNEL SIGNAL_HOME_CHANNEL_NAME SIGNAL_IGNORE_STORIES HASS_URL EMAIL_ADDRESS EMAIL_IMAP_HOST
		EMAIL_SMTP_HOST EMAIL_HOME_ADDRESS EMAIL_HOME_ADDRESS_NAME GATEWAY_RELAY_URL GATEWAY_RELAY_ID`)
	add(Variable{Doc: "address or name of a service"}, `OPENAI_BASE_URL OPENAI_API_BASE OPENAI_ORG_ID OPENAI_ORGANIZATION
		ANTHROPIC_BASE_URL LLM_MODEL FIRECRAWL_API_URL MODAL_SERVER_URL DAYTONA_API_URL VERCEL_PROJECT_ID VERCEL_TEAM_ID
		VERTEX_CREDENTIALS_PATH GOOGLE_APPLICATION_CREDENTIALS GITHUB_APP_ID GITHUB_APP_INSTALLATION_ID
		GITHUB_APP_PRIVATE_KEY_PATH`)
	add(Variable{Doc: "key of a messenger", Secret: true}, `TELEGRAM_BOT_TOKEN TELEGRAM_WEBHOOK_SECRET DISCORD_BOT_TOKEN
		SLACK_BOT_TOKEN SLACK_APP_TOKEN SLACK_SIGNING_SECRET WHATSAPP_CLOUD_APP_SECRET HASS_TOKEN EMAIL_PASSWORD
		GATEWAY_RELAY_SECRET GATEWAY_RELAY_DELIVERY_KEY API_SERVER_KEY HERMES_DASHBOARD_SESSION_TOKEN`)
	add(Variable{Doc: "key of a service", Secret: true}, `OPENAI_API_KEY OPENROUTER_API_KEY ANTHROPIC_API_KEY ANTHROPIC_TOKEN
		CLAUDE_CODE_OAUTH_TOKEN GOOGLE_API_KEY GEMINI_API_KEY DEEPSEEK_API_KEY MISTRAL_API_KEY GROQ_API_KEY TOGETHER_API_KEY PERPLEXITY_API_KEY
		COHERE_API_KEY BRAVE_SEARCH_API_KEY TAVILY_API_KEY FIREWORKS_API_KEY XAI_API_KEY HELICONE_API_KEY PARALLEL_API_KEY FIRECRAWL_API_KEY
		AWS_BEARER_TOKEN_BEDROCK MODAL_TOKEN_ID MODAL_TOKEN_SECRET DAYTONA_API_KEY VERCEL_TOKEN VERCEL_OIDC_TOKEN GH_TOKEN
		GITHUB_TOKEN SUDO_PASSWORD`)
	add(Variable{Doc: "certificates for the portal login"}, "HERMES_CA_BUNDLE")
	add(Variable{Doc: "path of Git Bash on Windows"}, "HERMES_GIT_BASH_PATH")
	add(Variable{Doc: "about the running process", Process: true}, `HERMES_HOME HERMES_PROFILE HERMES_YOLO_MODE
		HERMES_SUPERVISED_CHILD HERMES_EXEC_ASK HERMES_INTERACTIVE HERMES_SAFE_MODE HERMES_TUI_NO_CONFIRM HERMES_SESSION_KEY
		HERMES_SESSION_PLATFORM HERMES_GATEWAY_SESSION HERMES_CRON_SESSION HERMES_SINGLE_QUERY_SESSION HERMES_REAL_HOME
		BUZZ_MANAGED_AGENT`)
	slices.SortStableFunc(out, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(out, func(a, b Variable) bool { return a.Name == b.Name })
})

// secretWords are parts of names whose values are not shown, wherever they stand.
var secretWords = []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "AUTH", "BEARER", "COOKIE",
	"DSN", "PRIVATE", "SIGNATURE", "APIKEY", "PAT"}

// SecretName tells whether a value under this name is not to be shown.
func SecretName(name string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToUpper(name), func(r rune) bool { return r < 'A' || r > 'Z' }) {
		if slices.Contains(secretWords, word) || strings.HasSuffix(word, "KEY") || strings.HasSuffix(word, "TOKEN") ||
			strings.HasSuffix(word, "SECRET") || strings.HasSuffix(word, "PASSWORD") {
			return true
		}
	}
	return false
}
