package command

import (
	"path"
	"strings"
)

// isStartFile tells whether the target is a file from which something runs by itself: at a login, a boot, or whenever
// another program starts.
func (c *ctx) isStartFile(t target) bool {
	p := t.path
	if p == "" {
		return false
	}
	if rest, ok := c.below(t); ok {
		return homeStart(rest)
	}
	if p[0] == '/' && systemStart(p) {
		return true
	}
	return treeStart(p)
}

// treeStart tells the same of a file anywhere: git's hooks and settings, and what Python loads at its start.
func treeStart(p string) bool {
	if n := strings.Index("/"+p, "/.git/"); n >= 0 {
		rest := ("/" + p)[n+len("/.git/"):]
		if under(rest, "hooks") && !strings.HasSuffix(rest, ".sample") && rest != "hooks" || rest == "config" || rest == "config.worktree" || strings.HasPrefix(rest, "modules/") && strings.Contains(rest, "/hooks/") || rest == "info/attributes" {
			return true
		}
	}
	switch name := base(p); {
	case name == "sitecustomize.py", name == "usercustomize.py":
		return true
	case strings.HasSuffix(name, ".pth"):
		return strings.Contains(p, "site-packages") || strings.Contains(p, "dist-packages") || strings.Contains(p, "\x00")
	}
	return false
}

// instructs tells whether agents obey the target's text, as guard/paths has it for file tools. One in a temporary folder is
// nobody's, unless that is where the work is.
func (c *ctx) instructs(t target) bool {
	if t.path == "" || c.isTemp(t) && !c.inTree(t) {
		return false
	}
	p := strings.ToLower(t.path)
	switch base(p) {
	case "agents.md", "agents.override.md", "claude.md", "claude.local.md", "gemini.md", "soul.md", "hermes.md", ".hermes.md", ".cursorrules", ".windsurfrules", ".clinerules":
		return true
	case "copilot-instructions.md":
		return strings.HasSuffix(path.Dir("/"+p), "/.github")
	}
	return strings.Contains("/"+p, "/.cursor/rules/")
}

// isTerminal tells whether the target is a terminal that is not the command's own. Serial lines are none.
func isTerminal(_ *ctx, t target) bool {
	rest, ok := strings.CutPrefix(t.path, "/dev/")
	if !ok {
		return false
	}
	if name, ok := strings.CutPrefix(rest, "tty"); ok {
		name = strings.TrimPrefix(name, "s") // macOS
		return name != "" && strings.Trim(name, "0123456789") == ""
	}
	return rest == "console" || strings.HasPrefix(rest, "pts/") && rest != "pts/ptmx"
}

func systemStart(p string) bool {
	for _, d := range [...]string{"/Library/LaunchAgents", "/Library/LaunchDaemons", "/System/Library/LaunchDaemons", "/Library/StartupItems", "/var/spool/cron", "/var/spool/at", "/usr/lib/systemd", "/lib/systemd", "/usr/local/lib/systemd",
		"/run/systemd/system", "/lib/security", "/usr/lib/security", "/usr/lib/x86_64-linux-gnu/security", "/lib/x86_64-linux-gnu/security", "/lib/udev/rules.d", "/usr/lib/udev/rules.d", "/usr/local/share/ca-certificates",
		"/usr/share/ca-certificates", "/usr/lib/NetworkManager/dispatcher.d", "/usr/share/pam-configs", "/usr/lib/modules-load.d", "/usr/lib/sysctl.d", "/usr/lib/tmpfiles.d", "/lib/modules", "/usr/lib/modules",
		"/usr/share/dbus-1/system-services", "/usr/share/polkit-1", "/usr/local/etc/rc.d", "/usr/lib/git-core", "/usr/share/git-core/templates", "/usr/local/share/zsh/site-functions", "/opt/homebrew/etc"} {
		if inside(p, d) {
			return true
		}
	}
	return false
}

// homeStart tells the same of a path below a home directory.
func homeStart(p string) bool {
	switch p {
	case ".vimrc", ".gvimrc", ".nvimrc", ".exrc", ".config/nvim/init.vim", ".config/nvim/init.lua", ".vim/vimrc", ".emacs", ".emacs.d/init.el", ".emacs.d/early-init.el", ".config/emacs/init.el", ".tmux.conf", ".config/tmux/tmux.conf",
		".screenrc", ".psqlrc", ".sqliterc", ".mysqlrc", ".gdbinit", ".lldbinit", ".pdbrc", ".pythonrc", ".irbrc", ".pryrc", ".Rprofile", ".octaverc", ".gitconfig", ".config/git/config", ".config/git/attributes", ".gitattributes", ".hgrc",
		".config/pip/pip.conf", ".pip/pip.conf", ".config/uv/uv.toml", ".cargo/config", ".cargo/config.toml", ".config/go/env", ".m2/settings.xml", ".gradle/init.gradle", ".gemrc", ".bundle/config", ".condarc", ".yarnrc", ".yarnrc.yml",
		".wgetrc", ".curlrc", ".lesskey", ".xbindkeysrc", ".Xresources", ".config/i3/config", ".config/sway/config", ".config/hypr/hyprland.conf", ".xsessionrc", ".dmrc", ".mailcap", ".forward", ".procmailrc", ".fetchmailrc",
		".claude/settings.json", ".claude/settings.local.json", ".claude/CLAUDE.md", ".claude.json", ".cursor/mcp.json", ".codex/config.toml", ".codex/AGENTS.md", ".gemini/settings.json", ".gemini/GEMINI.md", ".config/opencode/opencode.json",
		".continue/config.json", ".config/Code/User/tasks.json", ".config/Code/User/settings.json", ".docker/cli-plugins", ".config/direnv/direnvrc", ".direnvrc", ".config/starship.toml", ".zlogin", ".zsh/completions", ".ocamlinit", ".ghci",
		".sbtrc", ".ammonite/predef.sc", ".ipython/profile_default/startup", ".config/mpv/scripts", ".ssh/rc", ".ssh/environment", ".pam_environment", ".login_conf", ".k5login", ".rhosts", ".shosts", ".config/ghostty/config":
		return true
	}
	for _, d := range [...]string{".config/systemd/user", ".local/share/systemd/user", ".config/autostart", ".config/autostart-scripts", ".kde/Autostart", "Library/LaunchAgents", "Library/LaunchDaemons", ".config/fish/functions", ".config/fish/conf.d",
		".vim/plugin", ".vim/autoload", ".vim/after", ".config/nvim/plugin", ".config/nvim/after", ".ipython/profile_default/startup", ".config/git/hooks", ".git-templates", ".git-template", ".claude/hooks", ".claude/commands", ".claude/agents",
		".cursor/rules", ".config/upstart", ".config/environment.d", ".local/share/dbus-1/services", ".docker/cli-plugins", ".config/plasma-workspace/env", ".config/pulse/default.pa", ".oh-my-zsh/custom", ".bashrc.d", ".zshrc.d",
		".config/bash", ".local/share/nautilus/scripts", ".tmux/plugins", ".gradle/init.d", ".config/powershell", ".mozilla/native-messaging-hosts"} {
		if inside(p, d) {
			return true
		}
	}
	if dir := path.Dir(p); dir == ".local/bin" || dir == "bin" || dir == ".bin" || dir == "go/bin" || dir == ".cargo/bin" {
		return standardProgram(base(p)) && !(dir == ".cargo/bin" && strings.HasPrefix(base(p), "cargo"))
	}
	return treeStart(p)
}

// standardProgram names programs that one does not expect to find in one's own folder of programs.
func standardProgram(name string) bool {
	switch name {
	case "git", "ssh", "sudo", "su", "ls", "cat", "cp", "mv", "rm", "ps", "top", "id", "ip", "grep", "find", "sed", "awk", "bash", "sh", "zsh", "env", "which", "login", "passwd", "scp", "sftp", "curl", "wget", "tar", "make", "gcc", "cc", "ld",
		"gpg", "ssh-agent", "ssh-add", "apt", "apt-get", "dpkg", "systemctl", "crontab", "mount", "chmod", "chown", "date", "uname", "hostname", "whoami", "netstat", "ss", "lsof", "kill", "openssl", "less", "vi", "vim", "nano":
		return true
	}
	return false
}
