package config

import "time"

// Settings is what the settings say, as types. A field's tag is the row of the table it is filled from.
type Settings struct {
	Approvals Approvals
	Terminal  Terminal
	Tools     Tools
	Security  Security
	Web       Web
	Chats     Chats
	Agents    Agents
	Turns     Turns
	Models    Models

	Hooks     map[string][]Hook   // by event
	Outbound  any                 // hooks.outbound
	MCP       map[string]MCP      // by the server's name
	Providers map[string]Provider // by name
}

// Approvals is who decides on dangerous commands.
type Approvals struct {
	Mode             string     `key:"approvals.mode"`
	Timeout          int64      `key:"approvals.timeout"` // seconds
	Cron             string     `key:"approvals.cron_mode"`
	SingleQuery      string     `key:"approvals.single_query_mode"`
	Unattended       string     `key:"approvals.unattended_mode"`
	SmartPolicy      string     `key:"approvals.smart_policy"`
	DenialBreaker    int64      `key:"approvals.denial_breaker_threshold"`
	Deny             []string   `key:"approvals.deny"`
	Required         []Required // approvals.command_approval_required
	MCPReloadConfirm bool       `key:"approvals.mcp_reload_confirm"`
	SlashConfirm     bool       `key:"approvals.destructive_slash_confirm"`
	Sandboxed        string     `key:"approvals.sandboxed"`
	Allowlist        []string   `key:"command_allowlist"`
}

// Wait is the time to answer a question.
func (a Approvals) Wait() time.Duration { return time.Duration(a.Timeout) * time.Second }

// Terminal is where and how commands run.
type Terminal struct {
	Backend         string   `key:"terminal.backend"`
	Dir             string   `key:"terminal.cwd"`
	Timeout         int64    `key:"terminal.timeout"`          // seconds
	Lifetime        int64    `key:"terminal.lifetime_seconds"` // seconds
	TempDir         string   `key:"terminal.temp_dir"`
	HomeMode        string   `key:"terminal.home_mode"`
	EnvPassthrough  []string `key:"terminal.env_passthrough"`
	CredentialFiles []string `key:"terminal.credential_files"`
	InitFiles       []string `key:"terminal.shell_init_files"`
	SourceBashrc    bool     `key:"terminal.auto_source_bashrc"`
	Persistent      bool     `key:"terminal.persistent_shell"`
	LocalPersistent bool     `key:"terminal.local_persistent"`
	LocalMemory     int64    `key:"terminal.local_memory_max_mb"`
	SandboxDir      string   `key:"terminal.sandbox_dir"`
	ScratchDir      string   `key:"terminal.scratch_dir"`
	Network         string   `key:"terminal.network"`
	NetworkAllow    []string `key:"terminal.network_allow"`

	Docker      Docker
	Container   Container
	SSH         SSH
	Native      Native
	Singularity string `key:"terminal.singularity_image"`
	ModalImage  string `key:"terminal.modal_image"`
	ModalMode   string `key:"terminal.modal_mode"`
	Daytona     string `key:"terminal.daytona_image"`
	Vercel      string `key:"terminal.vercel_runtime"`
}

// Docker is the docker backend.
type Docker struct {
	Binary     string            `key:"terminal.docker_binary"`
	Image      string            `key:"terminal.docker_image"`
	Network    bool              `key:"terminal.docker_network"`
	ForwardEnv []string          `key:"terminal.docker_forward_env"`
	Env        map[string]string `key:"terminal.docker_env"`
	Volumes    []string          `key:"terminal.docker_volumes"`
	ExtraArgs  []string          `key:"terminal.docker_extra_args"`
	AcceptRisk []string          `key:"terminal.docker_accept_risk"`
	MountDir   bool              `key:"terminal.docker_mount_cwd_to_workspace"`
	AsHostUser bool              `key:"terminal.docker_run_as_host_user"`
	SnapCompat bool              `key:"terminal.docker_snap_compat"`
	ShmSize    string            `key:"terminal.docker_shm_size"`
	Runtime    string            `key:"terminal.docker_runtime"`
	Persist    bool              `key:"terminal.docker_persist_across_processes"`
	SharedKey  string            `key:"terminal.docker_shared_container_key"`
	Reaper     bool              `key:"terminal.docker_orphan_reaper"`
}

// Container is what container backends share.
type Container struct {
	CPU        float64 `key:"terminal.container_cpu"`    // cores, 0: no limit
	Memory     int64   `key:"terminal.container_memory"` // MB, 0: no limit
	Disk       int64   `key:"terminal.container_disk"`   // MB, 0: no limit
	PIDs       int64   `key:"terminal.container_pids"`   // 0: no limit
	Persistent bool    `key:"terminal.container_persistent"`
}

// SSH is the ssh backend.
type SSH struct {
	Host       string `key:"terminal.ssh_host"`
	User       string `key:"terminal.ssh_user"`
	Port       int64  `key:"terminal.ssh_port"`
	Key        string `key:"terminal.ssh_key"`
	Persistent bool   `key:"terminal.ssh_persistent"`
	WayOut     bool   `key:"terminal.ssh_way_out"`
}

// Native is the native sandbox.
type Native struct {
	Read       []string `key:"terminal.native_read"`
	Write      []string `key:"terminal.native_write"`
	BestEffort bool     `key:"terminal.native_best_effort"`
}

// Tools is what tools may do and how much they return.
type Tools struct {
	FilesOn       string  `key:"tool.files_on"`
	MaxBytes      int64   `key:"tool_output.max_bytes"`
	MaxLines      int64   `key:"tool_output.max_lines"`
	MaxLineLength int64   `key:"tool_output.max_line_length"`
	MCPResult     int64   `key:"tool_budget.mcp_result_size_chars"`
	FileRead      int64   `key:"file_read_max_chars"`
	SafeRoot      string  `key:"terminal.write_safe_root"`
	ContextChars  int64   `key:"context_file_max_chars"`
	ContextWait   float64 `key:"context_file_read_timeout"` // seconds
	Verifier      bool    `key:"display.file_mutation_verifier"`
}

// Security is what may be reached, and what is taken out of output.
type Security struct {
	AllowPrivateURLs  bool     `key:"security.allow_private_urls"` // or browser.allow_private_urls
	AllowPrivateHosts []string `key:"security.allow_private_hosts"`
	FakeIPRanges      []string `key:"security.fake_ip_ranges"`
	NAT64             bool     `key:"security.nat64"`
	RedactSecrets     bool     `key:"security.redact_secrets"`
	LazyInstalls      bool     `key:"security.allow_lazy_installs"`
	Acked             []string `key:"security.acked_advisories"`
	Transport         string   `key:"security.approval.transport"`
	TransportFallback string   `key:"security.approval.transport_fallback"`
	BrowserPrivate    bool     `key:"browser.allow_private_urls"`
	BrowserLocal      bool     `key:"browser.auto_local_for_private_urls"`
	Proxy             string   `key:"egress.proxy"`
	ProxyResolves     bool     `key:"egress.proxy_resolves"`
	Sites             Sites
}

// Web is what the web tools work with.
type Web struct {
	Search  string `key:"web.search_backend"`
	Chars   int64  `key:"web.extract_char_limit"`
	CacheMB int64  `key:"web.download_cache_mb"`
	SearXNG string `key:"web.searxng_url"`
}

// Sites is the site list.
type Sites struct {
	Enabled bool     `key:"security.website_blocklist.enabled"`
	Domains []string `key:"security.website_blocklist.domains"`
	Files   []string `key:"security.website_blocklist.shared_files"`
}

// Chats is who may talk.
type Chats struct {
	AllowAll    bool                `key:"gateway.allow_all_users"` // or allow_all_users
	AllowAllTop bool                `key:"allow_all_users"`
	Strangers   string              `key:"unauthorized_dm_behavior"`
	Decline     string              `key:"unauthorized_dm_decline_message"`
	Platforms   map[string]Platform // by name; only those with settings of their own
	Strict      bool                `key:"gateway.strict"`
	LoopEvents  int64               `key:"gateway.bot_loop_guard.events"`
	LoopWindow  int64               `key:"gateway.bot_loop_guard.window_seconds"`
	LoopPause   int64               `key:"gateway.bot_loop_guard.pause_seconds"`
	PerUser     bool                `key:"group_sessions_per_user"`
	PerThread   bool                `key:"thread_sessions_per_user"`
}

// Platform is what one messenger has of its own; "" is the common setting.
type Platform struct {
	Strangers string
	Decline   string
}

// Agents is what runs besides the conversation.
type Agents struct {
	CronScope      bool     `key:"cron.require_restart_safe_scope"`
	SubagentsAllow bool     `key:"delegation.subagent_auto_approve"`
	MaxChildren    int64    `key:"delegation.max_concurrent_children"`
	MaxDepth       int64    `key:"delegation.max_spawn_depth"`
	Plugins        []string `key:"plugins.enabled"`
	HooksAccept    bool     `key:"hooks_auto_accept"`
	MemoryAsks     bool     `key:"memory.write_approval"`
	AdoptLogins    bool     `key:"auth.adopt_external_logins"`
}

// Turns is what one message of the person may lead to, and how long a model thinks about it.
type Turns struct {
	Steps  int64  `key:"agent.max_turns"`
	Time   int64  `key:"agent.run_budget_seconds"`
	Effort string `key:"agent.reasoning_effort"` // "": as the provider does
}

// MCP is one MCP server.
type MCP struct {
	Command string
	Args    []string
	Env     map[string]string
	URL     string
	Headers map[string]string
	Enabled bool
	Timeout int64 // seconds
}

// Models is which models are asked for what, each as PROVIDER:NAME.
type Models struct {
	Model        string   `key:"model"`
	Fallbacks    []string `key:"fallback_models"`
	Approval     string   `key:"auxiliary.approval.model"`    // "": Model
	ApprovalWait int64    `key:"auxiliary.approval.timeout"`  // seconds
	Compression  string   `key:"auxiliary.compression.model"` // "": Model
}

// Provider is a model provider that the owner has set up, or has changed.
type Provider struct {
	BaseURL string
	API     string // openai, anthropic, or "" for what is usual there
	KeyEnv  string
	Headers map[string]string
	Models  []string
	Context int64 // tokens; 0: not set
	CACert  string
	Verify  bool
}
