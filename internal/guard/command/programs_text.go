package command

import (
	"strings"

	"hermes/internal/shell"
)

// smallCode holds for text in languages that the scanner does not read when it can start programs.
func smallCode(c *ctx, i int) (span, bool) {
	input := ""
	if in := c.cmd(i).Stdin; in != nil {
		input = in.Text
	}
	args := c.args(i)
	switch c.name(i) {
	case "dc":
		for _, w := range c.values(i, "-e --expression") {
			if strings.Contains(w.Text, "!") && !comparison(w.Text) {
				return at(w), true
			}
		}
		return span{}, strings.Contains(input, "!") && !comparison(input)
	case "m4":
		for _, s := range [...]string{"syscmd", "esyscmd"} {
			if strings.Contains(input, s) {
				return span{}, true
			}
			for _, w := range args[1:] {
				if strings.Contains(w.Text, s) {
					return at(w), true
				}
			}
		}
	case "redis-cli", "valkey-cli", "keydb-cli":
		for k, w := range args[1:] {
			if v := strings.ToUpper(w.Text); (v == "EVAL" || v == "SCRIPT" || v == "FUNCTION") && k+2 < len(args) {
				if text := args[len(args[:k+2])]; riskyLua(text) {
					return at(text), true
				}
			}
			if w.Text == "--eval" && k+2 < len(args) && c.foreign(args[k+2], i) {
				return at(w), true
			}
		}
	case "go":
		if anyWord(args, "run") && anyWord(args, "-", "/dev/stdin") && input != "" && (input != shell.Unknown || len(c.cmd(i).Stdin.From) > 0) {
			for _, s := range [...]string{"os.", "exec", "net", "syscall", "unsafe", "\x00", "plugin", "ioutil"} {
				if strings.Contains(input, s) {
					return span{}, true
				}
			}
		}
	case "tcc", "cpp":
		return span{}, c.name(i) == "tcc" && anyWord(args, "-run") && (strings.Contains(input, "system") || strings.Contains(input, "exec") || strings.Contains(input, "\x00"))
	case "expect":
		for _, w := range c.values(i, "-c") {
			if strings.Contains(w.Text, "spawn") || strings.Contains(w.Text, "exec") || strings.Contains(w.Text, "system") {
				return at(w), true
			}
		}
	case "jq":
		for _, w := range c.values(i, "-L -f --from-file") {
			if strings.HasPrefix(w.Text, "/dev/fd/") || strings.HasPrefix(w.Text, "/tmp/") && len(w.From) > 0 {
				return at(w), true
			}
		}
	}
	return span{}, false
}

// comparison tells whether every exclamation mark in dc's text belongs to a comparison.
func comparison(s string) bool {
	for k := range len(s) {
		if s[k] == '!' && (k+1 == len(s) || strings.IndexByte("<>=", s[k+1]) < 0) {
			return false
		}
	}
	return true
}

// riskyLua tells whether a script for a server does more than call commands that read.
func riskyLua(w shell.Word) bool {
	t := strings.ToLower(w.Text)
	for _, s := range [...]string{"os.", "io.", "package.", "loadlib", "require", "debug", "load(", "dofile", "flush", "shutdown", "config", "\x00"} {
		if strings.Contains(t, s) {
			return true
		}
	}
	return false
}

// gitElsewhere holds for git told to take hooks, programs or settings from another place, or to take a setting that is
// not known.
func gitElsewhere(c *ctx, i int) (span, bool) {
	args := c.args(i)
	verb := ""
	for k := 1; k < len(args); k++ {
		w := args[k]
		t := w.Text
		set := shell.Word{}
		switch {
		case t == "" || t[0] != '-':
			if verb == "" {
				verb = t
			}
			continue
		case strings.HasPrefix(t, "--exec-path="):
			if !installed(t[len("--exec-path="):]) {
				return at(w), true
			}
		case (verb == "clone" || verb == "init") && (strings.HasPrefix(t, "--template=") || t == "--template" && k+1 < len(args)):
			dir := w.Slice(len("--template="))
			if t == "--template" {
				dir = args[k+1]
			}
			if c.foreign(dir, i) {
				return at(w), true
			}
		case t == "--":
			return span{}, false
		case (t == "-c" || t == "--config") && k+1 < len(args) && (verb == "" || verb == "clone"):
			k++
			set = args[k]
		case strings.HasPrefix(t, "-c") && len(t) > 2 && verb == "":
			set = w.Slice(2)
		}
		if set.Text == "" {
			continue
		}
		name, _, ok := cut(set.Text, '=')
		if strings.IndexByte(name, 0) >= 0 || strings.Contains(name, "ext::") {
			return at(set), true
		}
		if !ok {
			continue
		}
		v := set.Slice(len(name) + 1)
		switch low := strings.ToLower(name); low {
		case "core.hookspath", "include.path", "init.templatedir", "core.attributesfile":
			if v.Text != "/dev/null" && c.foreign(v, i) {
				return at(set), true
			}
		case "core.worktree":
			return at(set), true
		case "protocol.ext.allow", "protocol.allow":
			return at(set), v.Text == "always"
		default:
			if strings.HasPrefix(low, "includeif.") && c.foreign(v, i) {
				return at(set), true
			}
		}
	}
	return span{}, false
}

// shadowReaders names tools that print a file they are given as part of something else.
func shadowReaders() []string {
	return []string{
		"whiptail", "dialog", "date", "wall", "aspell", "ispell", "ss", "ip", "nroff", "troff", "groff", "tbl", "eqn", "pic", "soelim", "ul", "look", "ar", "as", "nasm", "nm", "readelf", "objdump", "arp", "ascii-xfr",
		"basez", "bridge", "column", "comm", "csvtool", "cupsfilter", "dig", "host", "dmesg", "dosbox", "efax", "espeak", "espeak-ng", "expand", "unexpand", "file", "fmt", "fold", "genisoimage", "mkisofs", "highlight", "join",
		"last", "links", "lynx", "w3m", "elinks", "mosquitto", "mtr", "nano", "pico", "nft", "pr", "ptx", "redcarpet", "run-parts", "setarch", "shuf", "tac", "tic", "update-alternatives", "uuencode", "wc", "xargs", "xmodmap",
		"xmore", "xpad", "zenity", "kdialog", "yad", "notify-send", "cowsay", "figlet", "toilet", "lolcat", "banner", "write", "msgcat", "msgfilter", "jq", "yq", "nmap", "mutt", "lp", "lpr", "enscript", "a2ps", "qrencode",
		"systemd-run", "logger", "paste", "rev", "nl", "sum", "cksum", "hashcat", "john", "unshadow", "iptables-restore", "gcc", "cc", "ld", "ruby", "perl", "cmp", "colordiff", "sdiff", "vimdiff", "view", "ed", "less", "more",
	}
}

// readsShadow holds when such a tool is given the passwords of the system or a private key.
func readsShadow(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		t := w.Text
		if n := strings.LastIndexByte(t, '='); n > 0 && t[0] == '-' {
			t = t[n+1:]
		}
		if len(t) < 8 || !strings.Contains(t, "shadow") && !strings.Contains(t, ".ssh/") && !strings.Contains(t, "sudoers") {
			continue
		}
		if strings.HasPrefix(t, "/etc/shadow") || strings.HasPrefix(t, "/etc/gshadow") || strings.HasPrefix(t, "/etc/sudoers") || strings.Contains(t, ".ssh/id_") && !strings.HasSuffix(t, ".pub") {
			if n := c.name(i); (n == "file" || n == "wc" || n == "cksum" || n == "sum" || n == "xargs") && !c.given(i, "-f --files-from --files0-from -a --arg-file") {
				continue
			}
			return at(w), true
		}
	}
	return span{}, false
}
