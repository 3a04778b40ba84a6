package environ

import (
	"strings"
	"sync"
)

// providers are the words that begin the variables of model and inference providers: WORD_API_KEY and WORD_BASE_URL belong to
// Hermes.
const providers = `
	AI_GATEWAY ALIBABA ALIBABA_CODING_PLAN ANTHROPIC ARCEEAI ARCEE AZURE_AI AZURE_ANTHROPIC AZURE_FOUNDRY AZURE_OPENAI CEREBRAS COHERE
	COPILOT DASHSCOPE DEEPINFRA DEEPSEEK FIREWORKS GEMINI GLM GMI GOOGLE GOOGLE_GEMINI GROQ HELICONE HF HUGGINGFACE KILOCODE KIMI
	KIMI_CN KIMI_CODING LM LMSTUDIO MINIMAX MINIMAX_CN MISTRAL MOONSHOT NOUS NOUS_PORTAL NOVITA NVIDIA NVIDIA_NIM OLLAMA
	OLLAMA_CLOUD OPENAI OPENCODE OPENCODE_GO OPENCODE_ZEN OPENROUTER PERPLEXITY QWEN SILICONFLOW STEPFUN TENCENT TOGETHER VERTEX
	VOLCENGINE XAI XIAOMI Z_AI ZAI ZHIPU`

// The names that follow no pattern: keys, accounts and addresses of providers.
const providerNames = `
	ANTHROPIC_AUTH_TOKEN ANTHROPIC_TOKEN AWS_BEARER_TOKEN_BEDROCK AZURE_OPENAI_ENDPOINT COPILOT_GITHUB_TOKEN CO_API_KEY
	FAL_KEY GOOGLE_APPLICATION_CREDENTIALS HF_TOKEN HUGGINGFACEHUB_API_TOKEN HUGGING_FACE_HUB_TOKEN LLM_MODEL
	OPENAI_API_BASE OPENAI_ORGANIZATION OPENAI_ORG_ID OPENROUTER_MANAGEMENT_KEY TOGETHERAI_API_KEY
	VERTEX_CREDENTIALS_PATH XAI_MANAGEMENT_KEY`

// Keys and addresses of Hermes' own tools.
const toolNames = `
	BRAVE_API_KEY BRAVE_SEARCH_API_KEY BROWSERBASE_API_KEY BROWSERBASE_PROJECT_ID BROWSER_USE_API_KEY CAMOFOX_URL DAYTONA_API_KEY
	ELEVENLABS_API_KEY EXA_API_KEY FAL_API_KEY FIRECRAWL_API_KEY FIRECRAWL_API_URL FIRECRAWL_GATEWAY_URL GITHUB_APP_ID
	GITHUB_APP_INSTALLATION_ID GITHUB_APP_PRIVATE_KEY GITHUB_APP_PRIVATE_KEY_PATH GITHUB_TOKEN GH_TOKEN HINDSIGHT_API_KEY
	HONCHO_API_KEY JINA_API_KEY KREA_API_KEY MEM0_API_KEY MODAL_TOKEN_ID MODAL_TOKEN_SECRET OPENVIKING_API_KEY PARALLEL_API_KEY
	RETAINDB_API_KEY SEARXNG_URL SERPER_API_KEY SUDO_PASSWORD SUPERMEMORY_API_KEY TAVILY_API_KEY TINKER_API_KEY
	VERCEL_OIDC_TOKEN VERCEL_PROJECT_ID VERCEL_TEAM_ID VERCEL_TOKEN VOICE_TOOLS_OPENAI_KEY WANDB_API_KEY`

// platforms are the words that begin the variables of messengers; with each of platformEnds they belong to the gateway.
const platforms = `
	BLUEBUBBLES DINGTALK DISCORD EMAIL FEISHU GATEWAY GOOGLE_CHAT HOMEASSISTANT IRC LINE MATRIX MATTERMOST MSGRAPH NTFY PHOTON QQ
	QQBOT SIGNAL SIMPLEX SLACK SMS TEAMS TELEGRAM WECOM WECOM_CALLBACK WEIXIN WHATSAPP WHATSAPP_CLOUD YUANBAO`

const platformEnds = `
	ACCESS_TOKEN ALLOW_ALL_USERS ALLOW_BOTS ALLOWED_CHANNELS ALLOWED_CHATS ALLOWED_ROLES ALLOWED_ROOMS ALLOWED_USERS APP_ID
	APP_PASSWORD APP_SECRET APP_TOKEN AUTH_TOKEN AUTO_THREAD BOT_ID BOT_TOKEN CLIENT_ID CLIENT_SECRET ENCODING_AES_KEY ENCRYPT_KEY
	FREE_RESPONSE_CHANNELS GROUP_ALLOWED_CHATS GROUP_ALLOWED_USERS HOME_CHANNEL HOME_CHANNEL_NAME HOME_CHANNEL_THREAD_ID
	PASSWORD RECOVERY_KEY REQUIRE_MENTION SECRET SIGNING_SECRET TOKEN VERIFICATION_TOKEN VERIFY_TOKEN WEBHOOK_SECRET`

const platformNames = `
	API_SERVER_KEY BLUEBUBBLES_SERVER_URL DINGTALK_CLIENT_ID EMAIL_ADDRESS EMAIL_HOME_ADDRESS EMAIL_HOME_ADDRESS_NAME EMAIL_IMAP_HOST
	EMAIL_IMAP_PORT EMAIL_SMTP_HOST EMAIL_SMTP_PORT GATEWAY_PROXY_KEY GATEWAY_RELAY_DELIVERY_KEY GATEWAY_RELAY_ID
	GATEWAY_RELAY_SECRET GOOGLE_CHAT_SERVICE_ACCOUNT_JSON HASS_TOKEN HASS_URL HERMES_DASHBOARD_SESSION_TOKEN
	MATRIX_HOMESERVER MATRIX_USER_ID MATTERMOST_URL MSGRAPH_TENANT_ID SIGNAL_ACCOUNT SIGNAL_HTTP_URL SIGNAL_IGNORE_STORIES
	TELEGRAM_WEBHOOK_URL TWILIO_ACCOUNT_SID TWILIO_AUTH_TOKEN TWILIO_PHONE_NUMBER WECOM_CORP_ID WEBHOOK_SECRET WHATSAPP_CLOUD_ACCESS_TOKEN
	WHATSAPP_CLOUD_PHONE_NUMBER_ID WHATSAPP_ENABLED WHATSAPP_MODE`

// Switches of this guard. A hermes that an agent starts must not find them set.
const switchNames = `HERMES_YOLO_MODE HERMES_ACCEPT_HOOKS`

// Kept on purpose where the lists above or a pattern would take them: they are the user's, not Hermes'.
const keptNames = `
	AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_PROFILE AWS_DEFAULT_PROFILE AWS_REGION AWS_DEFAULT_REGION
	AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE AWS_WEB_IDENTITY_TOKEN_FILE AWS_ROLE_ARN AWS_ROLE_SESSION_NAME AWS_CA_BUNDLE
	CLAUDE_CODE_OAUTH_TOKEN GATEWAY_RELAY_URL GATEWAY_RELAY_PLATFORMS`

// Never given to a child that is no terminal, even one that needs provider credentials.
const tierOne = `
	DAYTONA_API_KEY DISCORD_BOT_TOKEN EMAIL_PASSWORD GATEWAY_ALLOWED_USERS GATEWAY_ALLOW_ALL_USERS GATEWAY_RELAY_DELIVERY_KEY
	GATEWAY_RELAY_ID GATEWAY_RELAY_SECRET GH_TOKEN GITHUB_TOKEN HASS_TOKEN HERMES_DASHBOARD_SESSION_TOKEN MODAL_TOKEN_ID
	MODAL_TOKEN_SECRET SLACK_APP_TOKEN SLACK_BOT_TOKEN SLACK_SIGNING_SECRET SUDO_PASSWORD TELEGRAM_BOT_TOKEN`

// Where connections go and whom they trust is the egress policy's.
const egressNames = `
	HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY FTP_PROXY SOCKS_PROXY WS_PROXY WSS_PROXY RSYNC_PROXY GLOBAL_AGENT_HTTP_PROXY
	GLOBAL_AGENT_HTTPS_PROXY NPM_CONFIG_PROXY NPM_CONFIG_HTTPS_PROXY NPM_CONFIG_NOPROXY PIP_PROXY CARGO_HTTP_PROXY GIT_PROXY_COMMAND
	CGI_HTTP_PROXY DOCKER_HTTP_PROXY
	SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE CURL_SSL_BACKEND NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED
	GIT_SSL_CAINFO GIT_SSL_CAPATH GIT_SSL_NO_VERIFY PIP_CERT CARGO_HTTP_CAINFO NPM_CONFIG_CAFILE NPM_CONFIG_CA NPM_CONFIG_STRICT_SSL
	HERMES_CA_BUNDLE AWS_CA_BUNDLE DENO_CERT DENO_TLS_CA_STORE BUNDLE_SSL_CA_CERT GRPC_DEFAULT_SSL_ROOTS_FILE_PATH
	HTTPLIB2_CA_CERTS PERL_LWP_SSL_CA_FILE PYTHONHTTPSVERIFY SYSTEM_CERTIFICATE_PATH UV_NATIVE_TLS`

// class says whose a name is.
type class uint8

const (
	free     class = iota
	provider       // a model provider's key, account or address
	tool           // a key of one of Hermes' tools
	platform       // the gateway's
	dynamic        // an internal secret whose name is made at run time
	guarding       // a switch of this guard
	reserved       // claimed by a plugin
	buzz           // of the Buzz platform
	session        // of one session
	force          // _HERMES_FORCE_…
)

// why is the reason shown for a name of a class.
func (c class) why() string {
	switch c {
	case provider:
		return "belongs to a model provider of Hermes"
	case tool:
		return "belongs to a tool of Hermes"
	case platform:
		return "belongs to the gateway"
	case dynamic:
		return "is an internal secret of Hermes"
	case guarding:
		return "switches Hermes' own guard"
	case reserved:
		return "belongs to a plugin"
	case buzz:
		return "belongs to the Buzz platform"
	case session:
		return "belongs to a session"
	case force:
		return "is a note between parts of Hermes"
	}
	return ""
}

const forcePrefix = "_HERMES_FORCE_"

var table = sync.OnceValue(func() map[string]class {
	t := map[string]class{}
	add := func(c class, list string) {
		for _, name := range strings.Fields(list) {
			t[name] = c
		}
	}
	for _, word := range strings.Fields(providers) {
		add(provider, word+"_API_KEY "+word+"_API_KEYS "+word+"_BASE_URL "+word+"_API_BASE "+word+"_API_URL")
	}
	for _, word := range strings.Fields(platforms) {
		for _, end := range strings.Fields(platformEnds) {
			t[word+"_"+end] = platform
		}
	}
	add(provider, providerNames)
	add(tool, toolNames)
	add(platform, platformNames)
	add(guarding, switchNames)
	for _, name := range strings.Fields(keptNames) {
		delete(t, name)
	}
	return t
})

func set(list string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		m := map[string]bool{}
		for _, name := range strings.Fields(list) {
			m[name] = true
		}
		return m
	})
}

// classOf tells whose a name is, whatever its capitals.
func classOf(name string) class {
	upper := strings.ToUpper(name)
	switch {
	case strings.HasPrefix(upper, forcePrefix):
		return force
	case isDynamic(upper):
		return dynamic
	case strings.HasPrefix(upper, "BUZZ_"):
		return buzz
	case isSession(upper):
		return session
	case strings.HasPrefix(upper, "GITHUB_APP_"):
		return tool
	}
	return table()[upper]
}

// isDynamic tells whether upper is an internal secret: the key or address of an auxiliary model, or a secret of the relay.
func isDynamic(upper string) bool {
	switch {
	case strings.HasPrefix(upper, "AUXILIARY_"):
		return strings.HasSuffix(upper, "_API_KEY") || strings.HasSuffix(upper, "_BASE_URL")
	case strings.HasPrefix(upper, "GATEWAY_RELAY_"):
		return strings.HasSuffix(upper, "_SECRET") || strings.HasSuffix(upper, "_KEY") || strings.HasSuffix(upper, "_TOKEN")
	}
	return false
}

// isSession tells whether upper is set anew for each session.
func isSession(upper string) bool {
	for _, prefix := range [...]string{"HERMES_SESSION_", "HERMES_CRON_AUTO_DELIVER_", "HERMES_BROWSER_CONTROL_", "HERMES_RPC_"} {
		if strings.HasPrefix(upper, prefix) {
			return true
		}
	}
	switch upper {
	case "HERMES_CRON_SESSION", "HERMES_KERNEL_DIR", "HERMES_UI_SESSION_ID", "HERMES_DELEGATED_CHILD_CONTEXT":
		return true
	}
	return false
}

// marks tells whether upper marks a child as Hermes' own: set for each command, so never stored.
func marks(upper string) bool { return upper == "AI_AGENT" || upper == "HERMES_AGENT" }

// isEgress tells whether a name steers where connections go or whom they trust.
func isEgress(name string) bool {
	upper := strings.ToUpper(name)
	return egress()[upper] || strings.HasPrefix(upper, "SSL_CERT_") ||
		strings.HasSuffix(upper, "_PROXY") || strings.HasSuffix(upper, "_CA_BUNDLE")
}

var (
	egress    = set(egressNames)
	kept      = set(keptNames)
	firstTier = set(tierOne)
)

const validStart = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

// validName tells whether every shell can assign the name.
func validName(name string) bool {
	if name == "" || len(name) > 255 || !strings.Contains(validStart, name[:1]) {
		return false
	}
	return strings.Trim(name, validStart+"0123456789") == ""
}
