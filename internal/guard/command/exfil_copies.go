package command

import (
	"strings"

	"hermes/internal/shell"
)

// dumps tells whether command i prints a whole database, the whole work tree, a personal folder, a home or the whole
// machine.
func (c *ctx) dumps(i int) bool {
	switch c.name(i) {
	case "mysqldump", "mariadb-dump", "pg_dump", "pg_dumpall", "mongodump", "redis-dump", "slapcat", "tcpdump", "tshark", "dumpcap":
		return true
	case "git":
		return hasArg(c.args(i), "bundle", "fast-export", "archive")
	case "tar", "zip", "cpio", "bsdtar", "7z", "dd":
		for _, w := range c.args(i)[1:] {
			for _, t := range c.filesIn(w, c.cmd(i).Dir) {
				if t.path == "." || t.path == c.facts.Dir && t.path != "" || c.isPersonal(t) {
					return true
				}
			}
		}
	}
	return c.packsHome(i)
}

// packsHome tells whether command i packs a home, the system's configuration or the whole machine.
func (c *ctx) packsHome(i int) bool {
	switch c.name(i) {
	case "tar", "zip", "cpio", "rsync", "bsdtar", "7z", "dd":
		for _, w := range c.args(i)[1:] {
			for _, t := range c.filesIn(w, c.cmd(i).Dir) {
				if !t.maybe && (c.isAnyHome(t) || c.isRoot(t) || t.path == "/etc" || c.isRawDevice(t)) {
					return true
				}
			}
		}
	}
	return false
}

// isAnyHome tells whether the target is some person's whole home directory, or all of them.
func (c *ctx) isAnyHome(t target) bool {
	if c.isHome(t) || t.path == "/home" || t.path == "/Users" || t.path == "/root" {
		return true
	}
	return strings.Count(t.path, "/") == 2 && (strings.HasPrefix(t.path, "/home/") || strings.HasPrefix(t.path, "/Users/")) && t.path != c.facts.Dir
}

// filesIn is pathsIn for words that are no options.
func (c *ctx) filesIn(w, dir shell.Word) []target {
	if w.Text == "" || w.Text[0] == '-' {
		return nil
	}
	return c.pathsIn(w, dir)
}

// connectionLeaks holds when a program that talks over a plain connection is given a secret.
func connectionLeaks(c *ctx, i int) (span, bool) {
	args, name := c.args(i), c.name(i)
	switch name {
	case "openssl":
		if !hasArg(args[:min(2, len(args))], "s_client") {
			return span{}, false
		}
	case "logger":
		if !startsWord(args, "-n", "--server") {
			return span{}, false
		}
	}
	for k, w := range args[1:] {
		if c.carriesSecret(w) && !(k > 0 && loginWord(args[k].Text)) {
			return at(w), true
		}
		if name == "openssl" && k > 0 && has([]string{"-cert", "-key", "-CAfile"}, args[k].Text) {
			continue
		}
		t := w
		if n := strings.IndexByte(w.Text, ':'); n > 0 && name == "socat" {
			t = w.Slice(n + 1)
			if m := strings.IndexByte(t.Text, ','); m > 0 && len(t.Holes) == 0 {
				t.Text = t.Text[:m]
			}
		}
		if mayBePath(t) && (c.fileSecret(t, c.cmd(i).Dir) || c.copiedSecret(i, t)) || strings.ContainsAny(w.Text, " \n") && c.textNames(i, w.Text) {
			return at(w), true
		}
	}
	if in := c.cmd(i).Stdin; in != nil && len(in.From) == 0 && (name == "ftp" || name == "tftp" || name == "lftp" || name == "telnet") && strings.Contains(in.Text, "put") && c.textNames(i, in.Text) {
		return c.whole(i), true
	}
	if s, ok := c.fed(i); ok {
		return s, true
	}
	switch name {
	case "mail", "mailx", "s-nail", "sendmail", "msmtp", "mutt", "logger", "neomutt", "ssmtp":
		return span{}, false
	}
	n, ok := c.upstream(i, (*ctx).dumps, 16)
	if !ok {
		return span{}, false
	}
	return span{c.cmd(n).Start, max(c.cmd(n).End, c.cmd(i).End)}, true
}

func loginWord(opt string) bool {
	switch opt {
	case "-u", "-p", "-au", "-ap", "--auth-password", "--auth-user", "--auth-pass", "-key", "-pass", "-cert", "--ssl-key", "--ssl-cert":
		return true
	}
	return false
}

// lookupLeaks holds when a name that is looked up is made of a secret or of encoded data.
func lookupLeaks(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		if c.carriesSecret(w) {
			return at(w), true
		}
		for _, n := range w.From {
			switch c.name(n) {
			case "xxd", "base64", "base32", "od", "hexdump", "basenc", "gzip", "openssl":
				return at(w), true
			}
		}
	}
	return span{}, false
}

// copyLeaks holds when a file with secrets, or a whole home, is copied to another machine.
func copyLeaks(c *ctx, i int) (span, bool) {
	args, name := c.args(i), c.name(i)
	var files []shell.Word
	switch name {
	case "scp", "rcp", "pscp", "rsync":
		ops := operandsOf(args, "cDFiJloPSX")
		if name == "rsync" {
			ops = c.operands(i)
		}
		if len(ops) < 2 || !remoteName(ops[len(ops)-1]) {
			return span{}, false
		}
		files = ops[:len(ops)-1]
	case "aws", "gsutil", "gcloud", "s3cmd", "s5cmd", "mc", "b2", "rclone", "azcopy":
		if !hasArg(args, "cp", "sync", "mv", "put", "rsync", "copy", "move", "upload-file", "copyto", "put-object", "rcat", "mirror", "copy-url") {
			return span{}, false
		}
		files = args[1:]
		for k, w := range files {
			if remoteName(w) && k+1 < len(files) && !remoteName(files[k+1]) && files[k+1].Text != "" && files[k+1].Text[0] != '-' {
				return span{}, false // from there to here
			}
		}
	case "az":
		if !hasArg(args, "upload", "upload-batch") {
			return span{}, false
		}
		files = args[1:]
	case "croc", "wormhole", "ffsend", "transfer", "magic-wormhole", "termbin":
		files = args[1:]
	case "sftp":
		if in := c.cmd(i).Stdin; in != nil && strings.Contains(in.Text, "put") && c.textNames(i, in.Text) {
			return c.whole(i), true
		}
	}
	for k, w := range files {
		if remoteName(w) || k > 0 && leavesOut(files[k-1].Text) {
			continue
		}
		if name == "rsync" && c.given(i, "-n --dry-run") {
			break
		}
		if c.carriesOutput(w) || mayBePath(w) && (c.fileSecret(w, c.cmd(i).Dir) || c.copiedSecret(i, w)) {
			return at(w), true
		}
		for _, t := range c.filesIn(w, c.cmd(i).Dir) {
			if w.Text != "" && (c.isPersonal(t) && !ownHost(args[len(args)-1].Text) || c.isAnyHome(t) || c.isRoot(t) || t.path == "/etc") && (name == "scp" || name == "rsync" || name == "rclone" || name == "aws" || name == "gsutil") {
				return at(w), true
			}
		}
	}
	switch name {
	case "ssh", "aws", "gsutil", "rclone", "termbin", "croc", "wormhole", "transfer", "ffsend":
		if name == "aws" && !hasArg(args, "-") {
			return span{}, false
		}
		if name == "ssh" && (hasArg(args, "docker") || strings.Contains(c.prog.Text, "--password-stdin")) {
			return span{}, false
		}
		if s, ok := c.fed(i); ok || name != "ssh" {
			return s, ok
		}
		return fedBy((*ctx).packsHome)(c, i)
	}
	return span{}, false
}

// leavesOut tells whether an option's value is a pattern of files, not a file.
func leavesOut(opt string) bool {
	switch opt {
	case "--exclude", "--include", "--filter", "-x", "--exclude-pattern", "--include-pattern", "--exclude-from":
		return true
	}
	return false
}

// forgeLeaks holds when git or a forge's tool carries a secret, or pushes to a server that is not the repository's own.
func forgeLeaks(c *ctx, i int) (span, bool) {
	args := c.args(i)
	if c.name(i) != "git" {
		if hasArg(args, "secret", "auth", "variable", "login", "ssh-key", "gpg-key") && !hasArg(args, "issue", "gist", "api", "pr", "release", "comment") {
			return span{}, false
		}
		files := hasArg(args, "gist", "release", "upload", "snippet") || startsWord(args, "-F", "--body-file", "--input")
		for _, w := range args[1:] {
			if c.carriesOutput(w) || files && mayBePath(w) && (c.fileSecret(w, c.cmd(i).Dir) || c.copiedSecret(i, w)) {
				return at(w), true
			}
			if strings.Contains(w.Text, "=") && c.carriesVariable(w) && hasArg(args, "gist", "gists") {
				return at(w), true
			}
		}
		if hasArg(args, "-", "--body-file=-", "-F-") {
			return c.fed(i)
		}
		return span{}, false
	}
	word, ok := c.operand(i, 0)
	if !ok {
		return span{}, false
	}
	switch word.Text {
	case "clone", "fetch", "pull", "push", "ls-remote", "remote", "submodule":
		for _, w := range args[1:] {
			if c.carriesOutput(w) && !c.tokensOnly(w) {
				return at(w), true
			}
			if len(w.From) > 0 && c.carriesOutput(w) && !strings.Contains(w.Text, "@") && !strings.Contains(strings.ToLower(w.Text), "authorization") {
				return at(w), true
			}
		}
		if word.Text == "push" {
			return pushesAway(c, i)
		}
	case "add":
		if !startsWord(args, "-f", "--force", "-Af", "-fA") {
			return span{}, false
		}
		for _, w := range args[1:] {
			if mayBePath(w) && (c.fileSecret(w, c.cmd(i).Dir) || c.copiedSecret(i, w)) {
				return at(w), true
			}
		}
	}
	return span{}, false
}

// pushesAway holds for a push to an address that no configured remote has, or that the same text has just added.
func pushesAway(c *ctx, i int) (span, bool) {
	ops := c.operands(i)
	if len(ops) < 2 {
		return span{}, false
	}
	to := ops[1]
	if strings.Contains(to.Text, "://") || strings.Contains(to.Text, "@") && strings.Contains(to.Text, ":") {
		h := hostOf(to.Text)
		return at(to), !publicHost(h) && !loopback(h) && !strings.HasPrefix(to.Text, "file:") && strings.IndexByte(h, 0) < 0 || strings.IndexByte(h, 0) >= 0
	}
	if len(to.Holes) > 0 {
		return span{}, false
	}
	own := to.Text == "origin" || to.Text == "upstream"
	for n := 0; n < i && c.step(n); n++ {
		if c.name(n) != "git" || !hasArg(c.args(n), "remote") || !hasArg(c.args(n), "add", "set-url") || own && !hasArg(c.args(n), "set-url") {
			continue
		}
		if o := c.operands(n); len(o) >= 4 && o[2].Text == to.Text && remoteName(o[3]) && !publicHost(hostOf(o[3].Text)) {
			return at(to), true
		}
	}
	return span{}, false
}

// ownHost tells whether a remote place is one of the owner's machines, as far as its name says: a bare name, or an
// address that is not reached over the internet.
func ownHost(s string) bool {
	h := hostOf(s)
	if strings.Contains(s, "::") || h == "" {
		return false
	}
	if !strings.Contains(h, ".") {
		n := strings.IndexByte(s, ':')
		return n > 0 && (n+1 == len(s) || s[n+1] == '/' || s[n+1] == '~')
	}
	return strings.HasPrefix(h, "10.") || strings.HasPrefix(h, "192.168.") || strings.HasSuffix(h, ".local") || strings.HasSuffix(h, ".lan") || strings.HasSuffix(h, ".internal") || strings.HasSuffix(h, ".ts.net")
}
