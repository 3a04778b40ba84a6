package shell

import (
	"strings"

	"hermes/internal/shell/code"
)

// handoffs says what command c passes on for execution. query is true when c's own options make it only answer a
// question (command -v, chrt -p, sudo -l, --help, --version), in which case nothing is passed on.
func handoffs(c *Command) (hs []handoff, query bool) {
	if len(c.Args) == 0 {
		return nil, false
	}
	if c.Name == "" {
		return guesses(c), false
	}
	if silent(c.Name) {
		return nil, false
	}
	name := c.Name
	if len(name) > 2 && name[0] == 'g' { // coreutils and friends on macOS and BSD
		switch name[1:] {
		case "awk", "chroot", "env", "find", "make", "nice", "nohup", "sed", "sort", "split", "stdbuf", "tar", "time",
			"timeout", "xargs":
			name = name[1:]
		}
	}
	if isShell(name) {
		return shell(c, name)
	}
	if hs, query, ok := ownGrammar(c, name); ok {
		return hs, query
	}
	if p := launcherOf(name); p != nil {
		return p.handoffs(c)
	}
	if hs, query, ok := interpreter(c, name); ok {
		return hs, query
	}
	return guesses(c), false
}

// ownGrammar dispatches to the launchers that have a grammar of their own.
func ownGrammar(c *Command, name string) (hs []handoff, query, ok bool) {
	var f func(*Command) ([]handoff, bool)
	switch name {
	case "git", "hub":
		f = git
	case "env":
		f = env
	case "find":
		f = find
	case "fd", "fdfind":
		f = fd
	case "xargs":
		f = xargs
	case "parallel", "sem":
		f = parallel
	case "su", "runuser":
		f = su
	case "capsh":
		f = capsh
	case "bwrap":
		f = bwrap
	case "flock", "sg":
		f = flock
	case "screen":
		f = screen
	case "tmux":
		f = tmux
	case "at", "batch":
		f = at
	case "crontab":
		f = crontab
	case "start-stop-daemon":
		f = startStopDaemon
	case "run-parts", "supervise":
		f = runParts
	case "hyperfine":
		f = hyperfine
	case "concurrently":
		f = concurrently
	case "perf":
		f = perf
	case "entr":
		f = entr
	case "gdb", "lldb":
		f = debugger
	case "npm", "npx", "pnpm", "pnpx", "yarn", "bunx", "uvx", "uv", "pipx":
		f = packages
	case "nix", "nix-shell":
		f = nix
	default:
		return toolGrammar(c, name)
	}
	hs, query = f(c)
	return hs, query, true
}

// toolGrammar goes on with remote machines, containers and tools that run something only when an option says so.
func toolGrammar(c *Command, name string) (hs []handoff, query, ok bool) {
	var f func(*Command) ([]handoff, bool)
	switch name {
	case "ssh", "autossh":
		f = ssh
	case "mosh":
		f = mosh
	case "scp", "sftp":
		f = copies
	case "docker", "podman", "nerdctl", "finch":
		f = engine
	case "ctr":
		f = ctr
	case "rails":
		f = rails
	case "docker-compose", "podman-compose":
		f = compose
	case "kubectl", "oc", "k", "microk8s.kubectl":
		f = kubectl
	case "ansible", "salt", "salt-ssh", "gcloud", "fly", "flyctl", "vagrant", "adb", "wsl", "heroku", "flatpak":
		f = remote
	case "make", "gmake", "gnumake", "bmake":
		f = makefile
	case "tar", "bsdtar":
		f = tar
	case "man":
		f = man
	case "sort", "rg", "ag", "rsync", "split", "cpio", "zip", "tcpdump", "less", "more", "most", "ed", "red", "hg", "svn",
		"wget", "go", "fzf", "sk", "apt", "apt-get", "aptitude", "dpkg", "openvpn", "socat", "nc", "ncat", "netcat",
		"bat", "batcat", "delta", "just", "aria2c", "yt-dlp", "youtube-dl", "dmsetup", "mail", "mailx", "s-nail", "mutt", "pandoc":
		f = carrying
	case "cmake", "gcc", "cc", "g++", "c++", "clang", "clang++", "c99", "c89", "gfortran", "gs", "ghostscript", "dvips", "tex", "latex",
		"pdflatex", "xelatex", "lualatex", "pdftex", "xetex", "luatex", "latexmk", "puppet", "jrunscript", "gimp", "nmap":
		f = apps
	default:
		return nil, false, false
	}
	hs, query = f(c)
	return hs, query, true
}

// silent lists programs that start nothing out of their arguments, whatever those look like.
func silent(name string) bool {
	switch name {
	case "echo", "printf", "grep", "egrep", "fgrep", "zgrep", "pgrep", "cat", "ls", "dir", "head", "tail", "wc", "cut", "tr",
		"uniq", "diff", "cmp", "comm", "paste", "tee", "touch", "mkdir", "rmdir", "cp", "mv", "ln", "rm", "chmod", "chown", "stat",
		"file", "basename", "dirname", "realpath", "readlink", "pwd", "cd", "pushd", "popd", "true", "false", ":", "test", "[",
		"[[", "which", "type", "whereis", "whatis", "apropos", "info", "help", "tldr", "cheat", "hash", "alias", "unalias",
		"export", "set", "unset", "shopt", "declare", "typeset", "local", "readonly", "let", "read", "shift", "return", "exit",
		"break", "continue", "wait", "jobs", "fg", "bg", "disown", "kill", "pkill", "killall", "pidof", "ps", "top", "htop",
		"sleep", "date", "cal", "seq", "yes", "expr", "bc", "dc", "jq", "yq", "base64", "md5sum", "sha256sum", "xxd", "od",
		"hexdump", "strings", "nm", "objdump", "curl", "dig", "host", "nslookup", "ping", "ss", "netstat", "lsof",
		"df", "du", "free", "uname", "hostname", "id", "whoami", "groups", "users", "who", "w", "last", "tty", "stty", "printenv",
		"apt-cache", "rpm", "yum", "dnf", "zypper", "pacman", "apk", "brew", "port", "snap",
		"pkg", "emerge", "winget", "choco", "scoop", "pip", "pip3", "gem", "cargo", "rustc",
		"systemctl", "service", "journalctl", "loginctl", "launchctl", "gh", "glab", "helm", "terraform", "aws", "az", "redis-cli",
		"trap", "eval", "source", ".", "ulimit", "umask", "powershell", "pwsh", "cmd", "dd", "mkfs", "shutdown", "reboot", "halt",
		"poweroff", "unzip", "7z", "gzip", "gunzip", "bzip2", "xz", "zstd", "column", "fold", "fmt", "nl", "tac", "rev", "shuf",
		"ctest", "ninja", "task", "pytest", "jest", "eslint", "prettier", "tsc", "code", "open", "xdg-open",
		"useradd", "usermod", "userdel", "chsh", "visudo", "update-alternatives", "ldd", "look", "locate", "mlocate", "complete",
		"compgen", "ack", "ugrep", "ug", "rga", "pt", "sift", "ast-grep", "sg-grep", "semgrep", "sd", "comby",
		"glow", "mdcat", "gum", "dialog", "whiptail", "zenity", "kdialog", "yad", "toilet", "lolcat", "boxes", "espeak", "xclip", "xsel",
		"pbcopy", "wl-copy", "tput", "getopt", "getopts", "shellcheck", "shfmt", "hadolint", "hermes", "gsutil", "mc", "s3cmd", "s5cmd",
		"bq", "hdfs", "hadoop", "rclone", "restic", "borg", "jj", "sl", "fossil", "p4", "cvs", "virsh", "openstack", "nova", "vboxmanage", "prlctl",
		"qm", "pct", "ipmitool", "fastboot", "vmrun", "doctl", "hcloud", "linode-cli", "ibmcloud", "oci", "scw", "supervisorctl", "pm2",
		"forever", "nomad", "consul", "etcdctl", "zfs", "zpool", "btrfs", "lvm", "sudoedit", "dpkg-query", "pacman-key", "logger", "wall", "say", "notify-send", "figlet", "cowsay", "debconf-show", "equivs-build", "checkinstall":
		return true
	}
	return false
}

// guesses looks for a command among the arguments of a program nobody here knows: it may well be a launcher.
func guesses(c *Command) []handoff {
	if c.Args[0].isAll() && len(c.Args) > 1 && dangerous(c.Args[1].base()) { // the first word may vanish
		return []handoff{{how: "argv", argv: c.Args[1:], feeds: true, guess: true}}
	}
	for i := 1; i < len(c.Args); i++ {
		t := c.Args[i].Text
		if t == "--" && i+1 < len(c.Args) {
			if n := c.Args[i+1].base(); dangerous(n) || familiar(n) {
				return []handoff{{how: "argv", argv: c.Args[i+1:], feeds: true, guess: true}}
			}
			continue
		}
		if t == "" || t[0] == '-' || i+1 >= len(c.Args) || !dangerous(c.Args[i].base()) {
			continue
		}
		if next := c.Args[i+1].Text; optionFor(c.Args[i].base(), next) {
			return []handoff{{how: "argv", argv: c.Args[i:], feeds: true, guess: true}}
		}
	}
	return nil
}

// optionFor tells whether t could be an option of the program. The words of shutdown and its kin are verbs of many tools
// (virsh reboot --mode acpi), so only what really belongs to them counts.
func optionFor(program, t string) bool {
	switch program {
	case "shutdown", "reboot", "halt", "poweroff":
		switch t {
		case "-h", "-r", "-P", "-H", "-f", "-ff", "-n", "-nf", "-fn", "now", "--force":
			return true
		}
		return false
	}
	return len(t) > 1 && t[0] == '-' && t != "--"
}

// dangerous lists the programs whose mere presence behind an unknown program is worth a look.
func dangerous(name string) bool {
	switch name {
	case "rm", "dd", "shred", "wipefs", "blkdiscard", "mkswap", "fdisk", "sfdisk", "sgdisk", "parted", "shutdown", "reboot",
		"halt", "poweroff", "kill", "killall", "pkill", "sudo", "doas", "su", "chmod", "chown", "find", "xargs", "env":
		return true
	}
	return isShell(name) || name == "mkfs" || strings.HasPrefix(name, "mkfs.")
}

// familiar lists the programs that make the words behind "--" a command.
func familiar(name string) bool {
	switch name {
	case "curl", "wget", "nc", "ssh", "scp", "rsync", "cp", "mv", "ln", "tee", "truncate", "cat", "ls", "git", "docker", "podman",
		"kubectl", "systemctl", "service", "init", "telinit", "crontab", "at", "mount", "umount", "nohup", "setsid", "timeout",
		"nice", "time", "exec", "command", "busybox", "toybox", "tar", "make", "sed", "awk", "diskutil", "launchctl",
		"iptables", "nft", "npm", "npx", "pip", "apt", "apt-get", "echo", "printf":
		return true
	}
	lang, ok := code.LangOf(name)
	return ok && lang != code.Unlisted
}

// base returns the lower-case base name of a word that names a program.
func (w Word) base() string {
	t := w.Text
	if i := strings.LastIndexByte(t, '/'); i >= 0 {
		t = t[i+1:]
	}
	for i := range len(t) {
		if 'A' <= t[i] && t[i] <= 'Z' {
			return strings.ToLower(t)
		}
	}
	return t
}

// isAll tells whether the word is nothing but one unquoted hole: it may turn out to be none, one or many words.
func (w Word) isAll() bool { return w.Text == Unknown && len(w.Holes) == 1 && !w.Holes[0].Quoted }

// unknownLike makes a word of one hole that takes its span from another one.
func unknownLike(like Word, kind HoleKind, name string) Word {
	return Word{Text: Unknown, Holes: []Hole{{Kind: kind, Name: name, Quoted: true}}, Start: like.Start, End: like.End}
}

// glued makes one word of several.
func glued(words []Word, sep string) Word {
	if len(words) == 0 {
		return Word{}
	}
	if len(words) == 1 {
		w := words[0]
		w.Pattern = ""
		return w
	}
	out := Word{Start: words[0].Start, End: words[len(words)-1].End}
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(w.Text)
		out.Holes = append(out.Holes, w.Holes...)
		out.From = append(out.From, w.From...)
	}
	out.Text = b.String()
	return out
}

// replaced puts with in every place of w where old stands.
func (w Word) replaced(old string, with Word) (Word, bool) {
	if old == "" || !strings.Contains(w.Text, old) {
		return w, false
	}
	out := Word{Start: w.Start, End: w.End, Text: strings.ReplaceAll(w.Text, old, with.Text)}
	out.From = append(append(out.From, w.From...), with.From...)
	n := 0
	for t := w.Text; t != ""; {
		if strings.HasPrefix(t, old) {
			out.Holes = append(out.Holes, with.Holes...)
			t = t[len(old):]
			continue
		}
		if t[0] == 0 && n < len(w.Holes) {
			out.Holes = append(out.Holes, w.Holes[n])
			n++
		}
		t = t[1:]
	}
	return out, true
}

// assignment reads a word NAME=value.
func (w Word) assignment() (Assign, bool) {
	i := strings.IndexByte(w.Text, '=')
	if i <= 0 || digit(w.Text[0]) {
		return Assign{}, false
	}
	for j := range i {
		if b := w.Text[j]; b != '_' && !digit(b) && (b|0x20 < 'a' || b|0x20 > 'z') {
			return Assign{}, false
		}
	}
	return Assign{Name: w.Text[:i], Value: w.behind(i + 1)}, true
}

// behind is Slice that remembers which commands' output the word holds.
func (w Word) behind(i int) Word {
	out := w.Slice(i)
	out.From = w.From
	return out
}

// run adds the command that words are. A first word that may vanish leaves the next one as a guess.
func run(hs []handoff, h handoff, words []Word) []handoff {
	if len(words) == 0 {
		return hs
	}
	if h.how == "" {
		h.how = "argv"
	}
	h.argv = words
	hs = append(hs, h)
	if words[0].isAll() && len(words) > 1 && dangerous(words[1].base()) {
		h.argv, h.guess = words[1:], true
		hs = append(hs, h)
	}
	return hs
}

// say adds shell text.
func say(hs []handoff, how string, w Word, d Dialect) []handoff {
	return append(hs, handoff{how: how, text: &w, dialect: d})
}

// program adds program text in lang.
func program(hs []handoff, how string, lang code.Lang, w Word) []handoff {
	return append(hs, handoff{how: how, code: &w, lang: lang})
}

// systemShell is the dialect of /bin/sh, which system(3) and most launchers use.
const systemShell = POSIX
