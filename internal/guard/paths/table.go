package paths

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// base says below which directories a row's paths lie.
type base uint8

const (
	system   base = iota // /
	home                 // every home
	hermes               // Hermes' homes
	runtime              // what Hermes is made of
	anywhere             // the last parts of any path
)

// accesses is a set of Access.
type accesses uint8

const (
	reading accesses = 1 << Read
	writing accesses = 1<<Write | 1<<Remove
	all              = reading | writing
)

func (a accesses) has(one Access) bool { return a&(1<<one) != 0 }

// row is one rule. Its paths are relative to its base; see matchPath.
type row struct {
	key     string
	access  accesses
	base    base
	paths   []string
	but     []string // of these: not
	ask     bool     // a person may allow it; else it is refused
	teacher bool     // it instructs agents: asked each time, whatever the mode
	soft    bool     // cross_profile: true lifts it
	what    string   // what the file is, in the words of the message
	yes, no []string // examples, with $HOME, $HERMES: paths that match, and that do not
}

// protected is what messages about writing say of a file, whichever it is.
const protected = "a protected system/credential file"

// message is what the caller reads.
func (r *row) message(s Subject) string {
	switch {
	case r.ask:
		return fmt.Sprintf("%s of %s: %s", strings.ToLower(verb(s.Access)), s.shown(), r.what)
	case s.Access == Read:
		return fmt.Sprintf("Access denied: %s is %s and cannot be read by file tools", s.shown(), r.what)
	case r.soft:
		return fmt.Sprintf("%s denied: '%s' is %s. If this is what the person asked for, say cross_profile: true.", verb(s.Access), s.shown(), r.what)
	}
	return fmt.Sprintf("%s denied: '%s' is %s.", verb(s.Access), s.shown(), protected)
}

// named matches rows that lie anywhere: the last parts of the path, in any case.
func (r *row) named(key string) bool {
	low := strings.ToLower(key)
	for _, pattern := range r.paths {
		parts := strings.Count(pattern, "/") + 1
		have := strings.Split(strings.TrimPrefix(low, "/"), "/")
		if tree, ok := strings.CutSuffix(pattern, "/**"); ok {
			parts = strings.Count(tree, "/") + 1
			for i := 0; i+parts <= len(have); i++ {
				if matchPath(tree, strings.Join(have[i:i+parts], "/")) {
					return true
				}
			}
			continue
		}
		if len(have) < parts {
			continue
		}
		last := strings.Join(have[len(have)-parts:], "/")
		if matchPath(pattern, last) && !slices.ContainsFunc(r.but, func(b string) bool { return matchPath(b, path.Base(low)) }) {
			return true
		}
	}
	return false
}

// table holds every rule. Rows that refuse stand before rows that ask about the same file.
var table = [...]row{
	{
		key: "credentials", access: writing, base: home, what: protected,
		paths: []string{".netrc", ".pgpass", ".npmrc", ".pypirc", ".git-credentials", ".ssh/**", ".aws/**", ".gnupg/**", ".kube/**", ".docker/**",
			".azure/**", ".config/gh/**", ".config/gcloud/**", ".config/git/credentials", ".cargo/credentials*", ".gem/credentials", ".vault-token",
			".config/op/**", ".password-store/**", ".local/share/keyrings/**", "Library/Keychains/**"},
		but: []string{".ssh/config"},
		yes: []string{"$HOME/.ssh/authorized_keys", "$HOME/.aws/credentials", "$HOME/.netrc", "$HOME/.ssh"},
		no:  []string{"$HOME/.ssh/config", "$HOME/work/.netrc", "$HOME/.sshd", "$HOME/.awsome"},
	},
	{
		key: "logins", access: all, base: home, what: "another agent's login",
		paths: []string{".codex/auth.json", ".claude/.credentials.json", ".claude.json", ".gemini/oauth_creds.json", ".gemini/google_accounts.json",
			".qwen/oauth_creds.json", ".config/github-copilot/**", ".local/share/opencode/auth.json", ".config/goose/secrets.yaml",
			".minimax/oauth_creds.json"},
		yes: []string{"$HOME/.codex/auth.json", "$HOME/.config/github-copilot/apps.json"},
		no:  []string{"$HOME/.codex/config.toml", "$HOME/.claude/notes.md"},
	},
	{
		key: "login-items", access: writing, base: home, what: protected,
		paths: []string{".config/systemd/user/**", ".local/share/systemd/user/**", ".config/autostart/**", "Library/LaunchAgents/**",
			"AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup/**", ".config/environment.d/**", ".pam_environment", ".xprofile", ".xsession*",
			".xinitrc"},
		yes: []string{"$HOME/.config/systemd/user/a.service", "$HOME/.config/autostart/a.desktop"},
		no:  []string{"$HOME/.config/app/autostart.conf"},
	},
	{
		key: "system", access: writing, base: system, what: protected,
		paths: []string{"etc/sudoers", "etc/passwd", "etc/shadow", "etc/gshadow", "etc/group", "etc/sudoers.d/**", "etc/systemd/**", "etc/pam.d/**",
			"etc/ssh/**", "etc/ld.so.preload", "etc/ld.so.conf.d/**", "etc/profile.d/**", "etc/crontab", "etc/cron.*/**", "etc/anacrontab",
			"var/spool/cron/**", "var/spool/at/**", "etc/init.d/**", "etc/rc.local", "lib/systemd/**", "usr/lib/systemd/**", "boot/**", "proc/**",
			"sys/**", "dev/**", "private/etc/sudoers", "private/etc/passwd", "Library/LaunchDaemons/**", "Library/LaunchAgents/**"},
		but: []string{"dev/null", "dev/shm/**"},
		yes: []string{"/etc/passwd", "/etc/sudoers.d/me", "/var/spool/cron/crontabs/root", "/dev/sda", "/etc/cron.d/x", "/dev/stdout", "/dev/fd/3"},
		no:  []string{"/etc/hosts", "/dev/null", "/tmp/etc/passwd", "/dev/shm/a"},
	},
	{
		key: "stores", access: writing, base: hermes, what: protected,
		paths: []string{".env", "auth.json", "auth.lock", ".anthropic_oauth.json", "auth/**", "cache/bws_cache*.json", "webhook_subscriptions.json",
			"state.db*", "sessions/**", "mcp-tokens/**", "pairing/**", "vault/**", "browser-profile/**", "hooks/**", "shell-hooks-allowlist.json",
			"consent/**", "cron/jobs.json", "audit/**", "gateway/**", "approvals*.json", "profiles/*/.env", "profiles/*/auth.json"},
		yes: []string{"$HERMES/.env", "$HERMES/state.db-wal", "$HERMES/pairing/telegram.json", "$HERMES/hooks/a/hook.py", "$HERMES/cron/jobs.json"},
		no:  []string{"$HERMES/config.yaml", "$HERMES/skills/a/SKILL.md", "$HERMES/cron/output/a", "/tmp/cache/bws_cache.json"},
	},
	{
		key: "runtime", access: writing, base: runtime, what: protected, paths: []string{"**"},
		yes: []string{"$RUNTIME", "$RUNTIME/lib/a"},
		no:  []string{"$RUNTIME.txt"},
	},
	{
		key: "other-profile", access: writing, base: hermes, soft: true,
		what:  "the home of another profile, or of one inside a sandbox",
		paths: []string{"profiles/*/**", "sandboxes/*/*/home/.hermes/**"},
		yes:   []string{"$HERMES/profiles/coder/SOUL.md", "$HERMES/sandboxes/docker/t1/home/.hermes/config.yaml"},
		no:    []string{"$HERMES/profiles.md", "$HERMES/sandboxes/docker/t1/home/work/a"},
	},
	{
		key: "keys", access: reading, base: home, what: "a key or credential store",
		paths: []string{".ssh/**", ".aws/**", ".gnupg/**", ".kube/**", ".docker/config.json", ".azure/**", ".config/gh/**", ".config/gcloud/**", ".netrc",
			".pgpass", ".npmrc", ".pypirc", ".git-credentials", ".config/git/credentials", ".cargo/credentials*", ".gem/credentials", ".vault-token",
			".config/op/**", ".password-store/**", ".local/share/keyrings/**", "Library/Keychains/**"},
		but: []string{".ssh/config", ".ssh/known_hosts*", ".ssh/*.pub", ".aws/config", ".gnupg/gpg.conf", ".ssh", ".aws", ".kube", ".gnupg"},
		yes: []string{"$HOME/.ssh/id_ed25519", "$HOME/.aws/credentials", "$HOME/.kube/config"},
		no:  []string{"$HOME/.ssh/config", "$HOME/.ssh/id_ed25519.pub", "$HOME/.aws/config", "$HOME/project/.npmrc"},
	},
	{
		key: "system-secrets", access: reading, base: system, what: "a credential store of the system",
		paths: []string{"etc/shadow*", "etc/gshadow*", "etc/sudoers", "etc/sudoers.d/**", "etc/ssh/ssh_host_*_key", "proc/*/environ", "proc/*/auxv",
			"proc/*/mem", "proc/*/maps", "proc/*/smaps", "proc/*/task/**", "proc/kcore", "dev/mem", "dev/kmem"},
		yes: []string{"/etc/shadow", "/proc/self/environ", "/proc/self/task/1/environ"},
		no:  []string{"/etc/passwd", "/proc/cpuinfo", "/proc/self/status"},
	},
	{
		// Whose descriptors and directories these are depends on who opens them: here that would be Hermes.
		key: "descriptors", access: reading, base: system, what: "what a running program has open",
		paths: []string{"dev/fd/**", "dev/stdin", "dev/stdout", "dev/stderr", "proc/*/fd/**", "proc/*/fdinfo/**", "proc/*/map_files/**", "proc/*/root/**",
			"proc/*/cwd/**"},
		yes: []string{"/dev/fd/3", "/dev/stdin", "/proc/self/fd/3", "/proc/thread-self/fd/3", "/proc/1/root/etc/shadow", "/proc/self/cwd"},
		no:  []string{"/dev/fd0", "/dev/null", "/proc/fd/3", "/p/dev/fd/3"},
	},
	{
		key: "hub-cache", access: reading, base: hermes, what: "an internal Hermes cache file", paths: []string{"skills/.hub/**"},
		yes: []string{"$HERMES/skills/.hub/index.json"},
		no:  []string{"$HERMES/skills/hub/SKILL.md"},
	},
	{
		key: "credential-store", access: reading, base: hermes, what: "a credential store",
		paths: []string{"auth.json", "auth.lock", ".anthropic_oauth.json", ".env", "webhook_subscriptions.json", "auth/google_oauth.json",
			"cache/bws_cache*.json", "pairing/**", "vault/**", "profiles/*/.env", "profiles/*/auth.json"},
		yes: []string{"$HERMES/auth.json", "$HERMES/.env", "$HERMES/vault/a"},
		no:  []string{"$HERMES/config.yaml", "$HERMES/session_log.txt", "$HERMES/SOUL.md"},
	},
	{
		key: "mcp-token", access: reading, base: hermes, what: "an MCP token store", paths: []string{"mcp-tokens/**", "profiles/*/mcp-tokens/**"},
		yes: []string{"$HERMES/mcp-tokens/providers/azure.json"},
		no:  []string{"/tmp/mcp-tokens/token.json"},
	},
	{
		key: "browser-profile", access: reading, base: hermes, what: "the profile of the browser, with its logins", paths: []string{"browser-profile/**"},
		yes: []string{"$HERMES/browser-profile/Cookies"},
		no:  []string{"$HERMES/browser-profile.md"},
	},
	{
		key: "conversations", access: reading, base: hermes, what: "where the conversations of all sessions are kept", paths: []string{"state.db*", "profiles/*/state.db*"},
		yes: []string{"$HERMES/state.db", "$HERMES/state.db-wal"},
		no:  []string{"$HERMES/state.md"},
	},
	{
		key: "secret-environment", access: reading, base: anywhere, what: "a secret-bearing environment file",
		paths: []string{".env", ".env.local", ".env.development", ".env.production", ".env.test", ".env.staging", ".envrc"},
		yes:   []string{"/p/.env", "/p/.ENV.Local", "/p/.envrc"},
		no:    []string{"/p/.env.example", "/p/a.env", "/p/.env.sample"},
	},
	{
		key: "settings", access: writing, base: hermes, ask: true, what: "it decides what Hermes may do",
		paths: []string{"config.yaml", "SOUL.md", "memories/**", "profiles/*/config.yaml", "profiles/*/SOUL.md", "profiles/*/memories/**"},
		yes:   []string{"$HERMES/config.yaml", "$HERMES/SOUL.md", "$HERMES/memories/MEMORY.md"},
		no:    []string{"$HERMES/notes.yaml"},
	},
	{
		key: "ssh-config", access: writing, base: home, ask: true, what: "its directives can run commands", paths: []string{".ssh/config"},
		yes: []string{"$HOME/.ssh/config"},
		no:  []string{"$HOME/project/ssh/config"},
	},
	{
		key: "start-files", access: writing, base: home, ask: true, what: "every shell or git command runs what it says",
		paths: []string{".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin",
			".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".config/fish/config.fish", ".config/fish/conf.d/**", ".config/fish/functions/**",
			".gitconfig", ".config/git/config", ".config/git/hooks/**", ".vimrc", ".config/nvim/init.*", ".emacs", ".inputrc", ".tmux.conf", ".gdbinit",
			".config/powershell/profile.ps1", "Documents/PowerShell/**"},
		yes: []string{"$HOME/.bashrc", "$HOME/.config/fish/conf.d/a.fish", "$HOME/.gitconfig"},
		no:  []string{"$HOME/project/.bashrc", "$HOME/.config/app.toml"},
	},
	{
		key: "git-control", access: writing, base: anywhere, ask: true, what: "git runs what it says",
		paths: []string{".git/hooks/**", ".git/config", ".git/config.worktree", ".git/info/attributes", ".git/modules/*/config"},
		yes:   []string{"/p/.git/hooks/pre-commit", "/p/sub/.git/config"},
		no:    []string{"/p/.git/HEAD", "/p/git/config", "/p/.gitignore"},
	},
	{
		key: "instructions", access: writing, base: anywhere, ask: true, teacher: true, what: "it instructs agents",
		paths: []string{"agents.md", "agents.override.md", "claude.md", "claude.local.md", "gemini.md", "soul.md", "hermes.md", ".hermes.md", ".cursorrules",
			".windsurfrules", ".clinerules", ".github/copilot-instructions.md", ".cursor/rules/**", ".claude/settings*.json", ".claude/agents/**",
			".claude/commands/**", ".claude/hooks/**", ".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json", ".hermes/config.yaml", ".codex/config.toml"},
		yes: []string{"/p/AGENTS.md", "/p/.claude/settings.local.json", "/p/.cursor/rules/a.mdc"},
		no:  []string{"/p/agents.txt", "/p/docs/claude.md.bak"},
	},
}
