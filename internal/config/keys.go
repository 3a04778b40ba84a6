package config

// platforms are the messengers that have settings of their own.
var platforms = []string{"telegram", "discord", "whatsapp", "whatsapp_cloud", "slack", "signal", "email", "sms", "mattermost",
	"matrix", "dingtalk", "feishu", "wecom", "wecom_callback", "weixin", "bluebubbles", "yuanbao", "google_chat", "qqbot",
	"simplex", "buzz", "homeassistant", "webhook", "msgraph_webhook", "api_server"}

var (
	dmChoices = []string{"pair", "ignore", "decline"}
	headless  = []string{"deny", "approve"}
	backends  = []string{"local", "native", "docker", "ssh", "singularity", "modal", "daytona", "vercel_sandbox", "kubernetes"}
)

const (
	sandboxImage = "nousresearch/hermes-sandbox:desktop"
	nodeImage    = "nikolaik/python-nodejs:python3.11-nodejs20"
)

// keys is every setting there is: those that something reads, those whose feature is still to come, and those that are gone.
var keys = []Key{
	// Who decides on dangerous commands.
	{Name: "approvals.mode", Kind: Choice, Default: "smart", Values: []string{"smart", "manual", "off"}, Lenient: true, Fallback: "manual", InEffect: true,
		Doc: "who decides on dangerous commands: a model first, always a person, or nobody"},
	{Name: "approvals.timeout", Kind: Int, Default: "300", Min: 1, Lenient: true, InEffect: true, Doc: "seconds to answer a question; then it is denied"},
	{Name: "approvals.cron_mode", Kind: Choice, Default: "deny", Values: headless, Lenient: true, InEffect: true, Doc: "dangerous commands in scheduled jobs"},
	{Name: "approvals.single_query_mode", Kind: Choice, Default: "deny", Values: headless, Lenient: true, InEffect: true, Doc: "dangerous commands in chat -q"},
	{Name: "approvals.unattended_mode", Kind: Choice, Default: "deny", Values: headless, Lenient: true, InEffect: true, Doc: "dangerous commands from webhooks and the API"},
	{Name: "approvals.smart_policy", Kind: Text, Lenient: true, Doc: "rules of yours for the model that decides in smart mode"},
	{Name: "approvals.denial_breaker_threshold", Kind: Int, Default: "3", Min: -1 << 31, Lenient: true, Doc: "denials in a row that end a session's tries; 0 never"},
	{Name: "approvals.deny", Kind: List, InEffect: true, Doc: "globs of commands that never run, in any mode"},
	{Name: "approvals.command_approval_required", Kind: Tree, InEffect: true, Doc: "globs of commands that a person is asked about every time"},
	{Name: "approvals.mcp_reload_confirm", Kind: Bool, Default: "true", Doc: "/reload-mcp asks first"},
	{Name: "approvals.destructive_slash_confirm", Kind: Bool, Default: "true", Doc: "/clear, /new, /reset and /undo ask first"},
	{Name: "approvals.sandboxed", Kind: Choice, Default: "skip", Values: []string{"skip", "ask", "skip_always"}, InEffect: true, Doc: "questions about harms that a sandbox contains"},
	{Name: "command_allowlist", Kind: List, Lenient: true, InEffect: true, Doc: "commands, globs and rule keys that are not asked about again"},

	// Where commands run.
	{Name: "terminal.backend", Kind: Choice, Default: "local", Values: backends, Env: "TERMINAL_ENV", InEffect: true, Doc: "where commands run"},
	{Name: "terminal.cwd", Kind: Text, Default: ".", Env: "TERMINAL_CWD", InEffect: true, Doc: "the directory commands start in"},
	{Name: "terminal.timeout", Kind: Int, Default: "180", Min: 1, Env: "TERMINAL_TIMEOUT", InEffect: true, Doc: "seconds a command may take"},
	{Name: "terminal.lifetime_seconds", Kind: Int, Default: "300", Min: 1, Env: "TERMINAL_LIFETIME_SECONDS", Doc: "seconds until an idle sandbox is closed"},
	{Name: "terminal.temp_dir", Kind: Text, Env: "TERMINAL_TEMP_DIR", InEffect: true, Doc: "folder for temporary files of the local backend"},
	{Name: "terminal.home_mode", Kind: Choice, Default: "auto", Values: []string{"auto", "real", "profile"}, Env: "TERMINAL_HOME_MODE", InEffect: true, Doc: "which folder is HOME for commands"},
	{Name: "terminal.env_passthrough", Kind: List, Names: true, InEffect: true, Doc: "variables that commands get besides the harmless ones"},
	{Name: "terminal.credential_files", Kind: List, InEffect: true, Doc: "files of the home that a sandbox gets, read-only"},
	{Name: "terminal.shell_init_files", Kind: List, InEffect: true, Doc: "files that are sourced before the first command"},
	{Name: "terminal.auto_source_bashrc", Kind: Bool, Default: "true", InEffect: true, Doc: "without shell_init_files, source .profile, .bash_profile and .bashrc"},
	{Name: "terminal.persistent_shell", Kind: Bool, Default: "true", Env: "TERMINAL_PERSISTENT_SHELL", Doc: "exports and functions last from command to command"},
	{Name: "terminal.network", Kind: Choice, Values: []string{"", "none", "allowlist", "open"}, InEffect: true, Doc: "what a sandbox reaches; empty: the backend's default"},
	{Name: "terminal.docker_image", Kind: Text, Default: sandboxImage, Env: "TERMINAL_DOCKER_IMAGE", InEffect: true, Doc: "image of the docker backend"},
	{Name: "terminal.network_allow", Kind: List, Lenient: true, InEffect: true, Doc: "where a sandbox with the network allowlist may go: host, *.host, host:port, http://host/path*"},
	{Name: "terminal.docker_network", Kind: Bool, Default: "true", Env: "TERMINAL_DOCKER_NETWORK", InEffect: true, Doc: "false: the container has no network"},
	{Name: "terminal.docker_forward_env", Kind: List, Names: true, Env: "TERMINAL_DOCKER_FORWARD_ENV", InEffect: true, Doc: "variables of the host that the container gets"},
	{Name: "terminal.docker_env", Kind: Map, Names: true, Env: "TERMINAL_DOCKER_ENV", InEffect: true, Doc: "variables the container gets, with their values"},
	{Name: "terminal.docker_volumes", Kind: List, Env: "TERMINAL_DOCKER_VOLUMES", InEffect: true, Doc: "folders the container gets: host:container[:ro]"},
	{Name: "terminal.docker_extra_args", Kind: List, Env: "TERMINAL_DOCKER_EXTRA_ARGS", InEffect: true, Doc: "more arguments of docker run"},
	{Name: "terminal.docker_accept_risk", Kind: List, InEffect: true, Doc: "mounts and flags that void the container's walls and are accepted all the same"},
	{Name: "terminal.docker_mount_cwd_to_workspace", Kind: Bool, Default: "false", Env: "TERMINAL_DOCKER_MOUNT_CWD_TO_WORKSPACE", InEffect: true, Doc: "mount the folder Hermes was started in at /workspace"},
	{Name: "terminal.docker_run_as_host_user", Kind: Bool, Default: "false", Env: "TERMINAL_DOCKER_RUN_AS_HOST_USER", InEffect: true, Doc: "run as your uid instead of the image's user"},
	{Name: "terminal.docker_snap_compat", Kind: Bool, Default: "false", Env: "TERMINAL_DOCKER_SNAP_COMPAT", InEffect: true, Doc: "leave out what Docker from snap cannot do"},
	{Name: "terminal.docker_shm_size", Kind: Text, Default: "1g", InEffect: true, Doc: "size of /dev/shm; empty or 0: the engine's default"},
	{Name: "terminal.docker_runtime", Kind: Text, Env: "TERMINAL_DOCKER_RUNTIME", InEffect: true, Doc: "runtime of the engine, such as runsc; empty: the engine's default"},
	{Name: "terminal.docker_persist_across_processes", Kind: Bool, Default: "true", Env: "TERMINAL_DOCKER_PERSIST_ACROSS_PROCESSES", InEffect: true, Doc: "use a running container again"},
	{Name: "terminal.docker_shared_container_key", Kind: Text, Env: "TERMINAL_DOCKER_SHARED_CONTAINER_KEY", InEffect: true, Doc: "sessions with the same key share one container"},
	{Name: "terminal.docker_orphan_reaper", Kind: Bool, Default: "true", Env: "TERMINAL_DOCKER_ORPHAN_REAPER", InEffect: true, Doc: "remove ended containers of earlier runs"},
	{Name: "terminal.container_cpu", Kind: Number, Default: "1", Env: "TERMINAL_CONTAINER_CPU", InEffect: true, Doc: "CPU cores of a container; 0: no limit"},
	{Name: "terminal.container_memory", Kind: Int, Default: "5120", Env: "TERMINAL_CONTAINER_MEMORY", InEffect: true, Doc: "MB of memory of a container; 0: no limit"},
	{Name: "terminal.container_disk", Kind: Int, Default: "51200", Env: "TERMINAL_CONTAINER_DISK", InEffect: true, Doc: "MB of disk of a container; 0: no limit"},
	{Name: "terminal.container_pids", Kind: Int, Default: "256", Env: "TERMINAL_CONTAINER_PIDS", InEffect: true, Doc: "processes of a container; 0: no limit"},
	{Name: "terminal.container_persistent", Kind: Bool, Default: "true", Env: "TERMINAL_CONTAINER_PERSISTENT", InEffect: true, Doc: "files of a container outlive the session"},
	{Name: "terminal.singularity_image", Kind: Text, Default: "docker://" + nodeImage, Env: "TERMINAL_SINGULARITY_IMAGE", Doc: "image of the singularity backend"},
	{Name: "terminal.modal_image", Kind: Text, Default: nodeImage, Env: "TERMINAL_MODAL_IMAGE", Doc: "image of the modal backend"},
	{Name: "terminal.modal_mode", Kind: Choice, Default: "auto", Values: []string{"auto", "direct", "managed"}, Doc: "whose Modal account is used"},
	{Name: "terminal.daytona_image", Kind: Text, Default: nodeImage, Env: "TERMINAL_DAYTONA_IMAGE", Doc: "image of the daytona backend"},
	{Name: "terminal.vercel_runtime", Kind: Choice, Default: "node24", Values: []string{"node24", "node22", "python3.13"}, Env: "TERMINAL_VERCEL_RUNTIME", Doc: "runtime of the vercel_sandbox backend"},
	{Name: "terminal.native_read", Kind: List, InEffect: true, Doc: "more paths the native sandbox may read"},
	{Name: "terminal.native_write", Kind: List, InEffect: true, Doc: "more paths the native sandbox may write"},
	{Name: "terminal.native_best_effort", Kind: Bool, Default: "false", InEffect: true, Doc: "run even where the kernel lacks a wall, and say so in every result"},
	{Name: "terminal.ssh_host", Kind: Text, Env: "TERMINAL_SSH_HOST", EnvOnly: true, InEffect: true, Doc: "host of the ssh backend"},
	{Name: "terminal.ssh_user", Kind: Text, Env: "TERMINAL_SSH_USER", EnvOnly: true, InEffect: true, Doc: "user of the ssh backend"},
	{Name: "terminal.ssh_port", Kind: Int, Default: "22", Min: 1, Env: "TERMINAL_SSH_PORT", EnvOnly: true, InEffect: true, Doc: "port of the ssh backend"},
	{Name: "terminal.ssh_key", Kind: Text, Env: "TERMINAL_SSH_KEY", EnvOnly: true, InEffect: true, Doc: "key file of the ssh backend"},
	{Name: "terminal.ssh_persistent", Kind: Bool, Default: "true", Env: "TERMINAL_SSH_PERSISTENT", EnvOnly: true, InEffect: true, Doc: "persistent_shell of the ssh backend"},
	{Name: "terminal.local_persistent", Kind: Bool, Default: "false", Env: "TERMINAL_LOCAL_PERSISTENT", EnvOnly: true, Doc: "persistent_shell of the local backend"},
	{Name: "terminal.local_memory_max_mb", Kind: Int, Env: "TERMINAL_LOCAL_MEMORY_MAX_MB", EnvOnly: true, InEffect: true, Doc: "MB of memory of background workers; 0: what the host allows"},
	{Name: "terminal.sandbox_dir", Kind: Text, Env: "TERMINAL_SANDBOX_DIR", EnvOnly: true, InEffect: true, Doc: "where sandboxes keep their files; empty: sandboxes in the home"},
	{Name: "terminal.scratch_dir", Kind: Text, Env: "TERMINAL_SCRATCH_DIR", EnvOnly: true, Doc: "scratch folder of the singularity backend"},
	{Name: "terminal.docker_binary", Kind: Text, Env: "HERMES_DOCKER_BINARY", EnvOnly: true, InEffect: true, Doc: "container engine to use instead of docker"},
	{Name: "tool.files_on", Kind: Choice, Default: "backend", Values: []string{"backend", "host"}, Doc: "where file tools act when commands run isolated"},
	{Name: "tool_output.max_bytes", Kind: Int, Default: "50000", Min: 1, InEffect: true, Doc: "characters of a command's output that are kept"},
	{Name: "tool_output.max_lines", Kind: Int, Default: "2000", Min: 1, Doc: "lines that read_file returns at most"},
	{Name: "tool_output.max_line_length", Kind: Int, Default: "2000", Min: 1, Doc: "characters of a line that read_file returns at most"},
	{Name: "tool_budget.mcp_result_size_chars", Kind: Int, Default: "50000", Min: 1, Doc: "characters of an MCP result that are kept"},
	{Name: "file_read_max_chars", Kind: Int, Default: "100000", Min: 1, Doc: "characters of a file that are read at once"},
	{Name: "terminal.write_safe_root", Kind: Text, Env: "HERMES_WRITE_SAFE_ROOT", EnvOnly: true, Doc: "folders that file tools may write in; empty: all that is not protected"},

	// What may be reached and read.
	{Name: "security.allow_private_urls", Kind: Bool, Default: "false", Env: "HERMES_ALLOW_PRIVATE_URLS", Doc: "web tools may reach private addresses"},
	{Name: "security.allow_private_hosts", Kind: List, Lenient: true, Doc: "private targets that web tools may reach: HOST[:PORT] [NETWORK] or NETWORK[:PORT]"},
	{Name: "security.fake_ip_ranges", Kind: List, Lenient: true, Doc: "address blocks that a local proxy answers with"},
	{Name: "security.nat64", Kind: Bool, Default: "false", Doc: "judge NAT64 addresses by the IPv4 address inside"},
	{Name: "security.redact_secrets", Kind: Bool, Default: "true", Env: "HERMES_REDACT_SECRETS", InEffect: true, Doc: "take secrets out of output"},
	{Name: "security.website_blocklist.enabled", Kind: Bool, Default: "false", Doc: "block the listed sites"},
	{Name: "security.website_blocklist.domains", Kind: List, Lenient: true, Doc: "blocked sites"},
	{Name: "security.website_blocklist.shared_files", Kind: List, Lenient: true, Doc: "files that list more blocked sites"},
	{Name: "security.allow_lazy_installs", Kind: Bool, Default: "true", Doc: "install optional parts when they are first needed"},
	{Name: "security.acked_advisories", Kind: List, Doc: "advisories that were read (hermes doctor --ack)"},
	{Name: "security.approval.transport", Kind: Text, Default: "builtin", Doc: "how questions reach a person"},
	{Name: "security.approval.transport_fallback", Kind: Text, Doc: "builtin: ask at the terminal if the transport fails"},
	{Name: "security.tirith_*", Retired: "the external scanner is gone; its checks are built in"},
	{Name: "browser.allow_private_urls", Kind: Bool, Default: "false", Doc: "older name of security.allow_private_urls; either switches it on"},
	{Name: "browser.auto_local_for_private_urls", Kind: Bool, Default: "true", Doc: "open private addresses in the local browser"},
	{Name: "egress.proxy", Kind: Text, Doc: "proxy for outgoing connections; those in the environment are ignored"},
	{Name: "egress.proxy_resolves", Kind: Bool, Default: "false", Doc: "that proxy looks names up; they are judged, but not looked up here"},
	{Name: "context_file_max_chars", Kind: Int, Doc: "characters of a context file that are used; 0: by the model's size"},
	{Name: "context_file_read_timeout", Kind: Number, Default: "5", Doc: "seconds until a slow context file is skipped"},

	// Who may talk.
	{Name: "unauthorized_dm_behavior", Kind: Choice, Default: "pair", Values: dmChoices, Doc: "what strangers who write get: a pairing code, silence or a refusal"},
	{Name: "unauthorized_dm_decline_message", Kind: Text, Doc: "text of the refusal"},
	{Name: "<platform>.unauthorized_dm_behavior", Kind: Choice, Values: dmChoices, Doc: "the same for one messenger"},
	{Name: "<platform>.unauthorized_dm_decline_message", Kind: Text, Doc: "the same for one messenger"},
	{Name: "platforms.<platform>.unauthorized_dm_behavior", Kind: Choice, Values: dmChoices, Doc: "the same for one messenger"},
	{Name: "platforms.<platform>.unauthorized_dm_decline_message", Kind: Text, Doc: "the same for one messenger"},
	{Name: "allow_all_users", Kind: Bool, Default: "false", Doc: "older place of gateway.allow_all_users; either switches it on"},
	{Name: "gateway.allow_all_users", Kind: Bool, Default: "false", Env: "GATEWAY_ALLOW_ALL_USERS", Doc: "everybody may talk, if no list says otherwise"},
	{Name: "gateway.strict", Kind: Bool, Default: "false", Doc: "send only files from the cache and allowed folders"},
	{Name: "gateway.bot_loop_guard.events", Kind: Int, Default: "20", Min: 1, Doc: "messages of bots that trip the guard"},
	{Name: "gateway.bot_loop_guard.window_seconds", Kind: Int, Default: "300", Min: 1, Doc: "seconds in which they count"},
	{Name: "gateway.bot_loop_guard.pause_seconds", Kind: Int, Default: "600", Min: 1, Doc: "seconds of silence then"},
	{Name: "group_sessions_per_user", Kind: Bool, Default: "true", Doc: "in groups each user has a session"},
	{Name: "thread_sessions_per_user", Kind: Bool, Default: "false", Doc: "in threads each user has a session"},

	// What runs besides commands.
	{Name: "cron.require_restart_safe_scope", Kind: Bool, Default: "false", Doc: "refuse jobs that would die with the gateway"},
	{Name: "delegation.subagent_auto_approve", Kind: Bool, Default: "false", Doc: "subagents run dangerous commands without asking"},
	{Name: "delegation.max_concurrent_children", Kind: Int, Default: "3", Min: 1, Doc: "subagents at once"},
	{Name: "delegation.max_spawn_depth", Kind: Int, Default: "1", Doc: "subagents of subagents"},
	{Name: "plugins.enabled", Kind: List, Doc: "plugins that are loaded"},
	{Name: "hooks_auto_accept", Kind: Bool, Default: "false", Env: "HERMES_ACCEPT_HOOKS", Doc: "run shell hooks without asking the first time"},
	{Name: "hooks.outbound", Kind: Tree, Secret: true, Doc: "webhooks that are called on events"},
	{Name: "hooks.<name>", Kind: Tree, Doc: "shell hooks of one event: command, matcher, timeout, fail_closed"},
	{Name: "mcp_servers.<name>.command", Kind: Text, Doc: "program of an MCP server"},
	{Name: "mcp_servers.<name>.args", Kind: List, Doc: "its arguments"},
	{Name: "mcp_servers.<name>.env", Kind: Map, Names: true, Secret: true, Doc: "its variables, besides the harmless ones"},
	{Name: "mcp_servers.<name>.url", Kind: Text, Doc: "address of a remote MCP server"},
	{Name: "mcp_servers.<name>.headers", Kind: Map, Secret: true, Doc: "headers sent to it"},
	{Name: "mcp_servers.<name>.enabled", Kind: Bool, Default: "true", Doc: "use this server"},
	{Name: "mcp_servers.<name>.timeout", Kind: Int, Default: "60", Min: 1, Doc: "seconds a call may take"},

	// Models and logins.
	{Name: "providers.<name>.base_url", Kind: Text, Doc: "address of a model provider of your own"},
	{Name: "providers.<name>.key_env", Kind: Text, Doc: "the variable that holds its key"},
	{Name: "providers.<name>.ssl_ca_cert", Kind: Text, Doc: "certificates to trust for it instead of the system's"},
	{Name: "providers.<name>.ssl_verify", Kind: Bool, Default: "true", Doc: "false: its certificate is not checked, which is unsafe"},
	{Name: "auth.adopt_external_logins", Kind: Bool, Default: "true", Doc: "use the logins of Codex CLI and Claude Code"},

	{Name: "display.file_mutation_verifier", Kind: Bool, Default: "true", Env: "HERMES_FILE_MUTATION_VERIFIER", Doc: "say under an answer which files were not changed"},
}
