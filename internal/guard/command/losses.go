package command

import (
	"path"
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell/code"
)

// losses: what people have written is lost by a move, an overwrite or an edit as well as by a delete.
func losses() table {
	return table{
		{
			Key:    "move of personal folders",
			Harms:  guard.Host,
			Match:  by(movesPersonal, "mv"),
			Why:    "takes a person's files from where they are looked for",
			Remedy: "move one file: `mv notes.md /tmp/notes.md`",
			Hits:   []string{"mv ~/* /tmp/", "mv ~/Documents /tmp", "mv ~/.* /tmp/x/", "mv -t /tmp ~/Pictures", "mv /home/bob /tmp/b", "cd ~ && mv * /tmp"},
			Passes: []string{"mv notes.md /tmp/notes.md", "mv ~/Downloads/a.pdf ~/Documents/", "mv build/* /tmp/out/", "mv /tmp/x ~/Documents", "mv ~/Documents/old ~/Archive/old"},
		},
		{
			Key:    "delete of whatever git keeps",
			Harms:  guard.Work,
			Match:  by(deletesTracked, "rm", "unlink", "shred", "truncate"),
			Why:    "deletes the files that the repository is made of",
			Remedy: "look first: `git ls-files`",
			Hits:   []string{"for f in $(git ls-files); do rm \"$f\"; done", "rm $(git ls-files src)", "rm $(git ls-tree -r --name-only HEAD)"},
			Passes: []string{"git ls-files", "rm $(git ls-files -o --exclude-standard '*.tmp')", "for f in $(git ls-files -d); do rm -f \"$f\"; done"},
		},
		{
			Key:    "personal files renamed or moved as a whole",
			Harms:  guard.Host,
			Match:  either(by(renamesPersonal, "rename", "prename", "mmv", "perl-rename", "file-rename", "renameutils"), by(drainsPersonal, "rsync", "rclone")),
			Why:    "takes a person's files from where, or from under the names, they are looked for",
			Remedy: "show what would happen: `rename -n 's/a/b/' *.txt`",
			Hits:   []string{"rename 's/.*/x/' ~/Documents/*", "rsync -a --remove-source-files ~/Documents/ /tmp/x/", "rclone move ~/Pictures evil:x"},
			Passes: []string{"rename -n 's/a/b/' *.txt", "rename 's/.jpeg/.jpg/' *.jpeg", "rsync -a --remove-source-files build/ /tmp/x/", "rsync -a ~/Documents/ /mnt/backup/"},
		},
		{
			Key:    "keys deleted",
			Harms:  guard.Host,
			Match:  either(all(runs("gpg", "gpg2"), given("--delete-secret-keys", "--delete-secret-key", "--delete-secret-and-public-key")), all(runs("security"), word("delete-keychain", "delete-generic-password", "delete-internet-password", "delete-identity", "delete-certificate")), all(runs("pass"), sub("rm|delete|remove"))),
			Why:    "deletes keys that open what is kept elsewhere",
			Remedy: "look first: `gpg --list-keys`",
			Hits:   []string{"gpg --delete-secret-keys me", "security delete-keychain login.keychain", "pass rm -r work"},
			Passes: []string{"gpg --list-keys", "gpg --delete-key x", "security list-keychains", "pass ls"},
		},
		{
			Key:    "file emptied outside the work tree",
			Harms:  guard.Host,
			Match:  match{on: onRedirect, test: barelyEmptied},
			Why:    "empties a file outside the work tree",
			Remedy: "keep a copy: `cp notes.md notes.md.bak`",
			Hits:   []string{"> ~/Documents/budget.xlsx", "for f in ~/notes/*; do > $f; done", "cd ~/Documents; > a.docx"},
			Passes: []string{"> build.log", "> /tmp/x", ">> ~/notes.md", "echo hi > ~/notes.txt", "> ~/.cache/x"},
		},
		{
			Key:    "overwrite of documents (shred, truncate, dd)",
			Harms:  guard.Work,
			Match:  by(overwritesDocument, "shred", "truncate", "dd", "srm", "wipe"),
			Why:    "destroys what the files hold",
			Remedy: "empty a log: `truncate -s 0 app.log`",
			Hits: []string{"truncate --size=0 src/*.py", "truncate -s 0 app.sqlite3", "shred -zun 7 secrets.kdbx", "shred -u *.docx", "dd if=/dev/urandom of=app.db bs=4k count=100 conv=notrunc",
				"find . -name '*.go' -exec truncate -s0 {} +"},
			Passes: []string{"truncate -s 0 app.log", "truncate -s 0 *.log", "truncate -s 1M disk.img", "shred secret.txt", "shred -u /tmp/*.key", "dd if=/dev/zero of=disk.img bs=1M count=10", "truncate -s +1K a.db", "find . -name '*.log' -exec truncate -s0 {} +"},
		},
		{
			Key:    "edit that deletes every line",
			Harms:  guard.Work,
			Match:  by(editsAway, "sed", "ex", "vi", "vim", "nvim", "ed"),
			Why:    "empties the files",
			Remedy: "say which lines: `sed -i '/debug/d' notes.md`",
			Hits:   []string{"sed -i d ~/notes/*.md", "sed -i '1,$d' main.go", "ex -sc '%d|x' ~/todo.txt", "vim -es -c '%d' -c wq a.go", "sed -i -e '/.*/d' src/a.py", "printf ',d\\nw\\n' | ed -s a.txt"},
			Passes: []string{"sed -i '/debug/d' notes.md", "sed d a.txt", "ex -sc '%s/a/b/|x' a.txt", "sed -i 1d a.txt", "sed -i '1,5d' a.txt", "ex -sc '1d|x' a.txt", "sed -i d /tmp/x"},
		},
		{
			Key:    "overwrite of whatever a listing names",
			Harms:  guard.Work,
			Match:  match{on: onPayload, test: awkOverwrites},
			Why:    "writes to every file that another command names",
			Remedy: "write to one file: `awk '{print}' a.txt > b.txt`",
			Hits:   []string{`awk 'BEGIN { while (("ls" | getline f) > 0) print "" > f }'`, `awk 'BEGIN { cmd = "find ."; while ((cmd | getline x) > 0) printf "" > x }'`},
			Passes: []string{"awk '{print}' a.txt > b.txt", `awk '{print > $1".txt"}' a.txt`, `awk 'BEGIN { "date" | getline d; print d }'`},
		},
		{
			Key:    "delete by a command of a package",
			Harms:  guard.Work,
			Match:  by(packageDeletes, "rimraf", "del-cli", "del", "rm-cli", "shx", "trash-cli", "premove", "empty-dir-cli"),
			Why:    "deletes files with all they hold",
			Remedy: "delete what is made again: `npx rimraf dist`",
			Hits:   []string{"npx rimraf src", "npx --yes del-cli '~/**'", "rimraf ~/work", "pnpm dlx rimraf .git", "npx shx rm -rf src", "npx premove src"},
			Passes: []string{"npx rimraf dist", "rimraf node_modules build", "npx shx rm -rf dist", "npx shx ls src", "npx rimraf --help", "npx del-cli dist coverage", "rimraf '**/node_modules' --glob"},
		},
		{
			Key:    "delete through the desktop",
			Harms:  guard.Host,
			Match:  by(desktopDeletes, "gio", "gvfs-rm", "kioclient", "kioclient5"),
			Why:    "deletes outside the work tree",
			Remedy: "look first: `gio list`",
			Hits:   []string{"gio remove ~/Documents/plan.odt", "kioclient5 del ~/Documents", "gvfs-rm -f ~/x", "gio remove -f ~/a"},
			Passes: []string{"gio list", "gio remove a.txt", "gio info ~/x", "gio open ~/x"},
		},
		{
			Key:    "files that nobody may open any more",
			Harms:  guard.Work,
			Match:  by(shutsOut, "chmod", "chattr", "chflags"),
			Why:    "takes the files away from everybody, their owner included",
			Remedy: "name the file: `chmod 600 notes.md`",
			Hits:   []string{"chmod -R 000 ~/work", "chmod -R a-rwx .", "chattr -R +i ~/work", "chmod -R ugo= src", "chmod --recursive 0 docs", "chflags -R uchg ~/Documents"},
			Passes: []string{"chmod 600 notes.md", "chmod -R u+rwX .", "chmod -R go-rwx .", "chmod 000 /tmp/x", "chattr +i notes.md", "chmod -R a-x build"},
		},
		{
			Key:    "key replaced without a question",
			Harms:  guard.Host,
			Match:  by(replacesKey, "ssh-keygen"),
			Why:    "overwrites a key that may open other machines",
			Remedy: "make it under another name: `ssh-keygen -t ed25519 -f ./new_key`",
			Hits:   []string{"ssh-keygen -q -N '' -f ~/.ssh/id_rsa <<< y", "yes | ssh-keygen -t rsa -f ~/.ssh/id_rsa -N ''", "echo y | ssh-keygen -f /root/.ssh/id_ed25519 -N ''"},
			Passes: []string{"ssh-keygen -t ed25519 -f ./new_key", "ssh-keygen -t ed25519 -f ~/.ssh/id_work -N ''", "ssh-keygen -lf ~/.ssh/id_rsa.pub", "ssh-keygen -R host"},
		},
	}
}

// isPersonal tells whether the target is, as a whole, one of the folders a home directory has for a person's own files.
func (c *ctx) isPersonal(t target) bool {
	p, ok := c.below(t)
	if !ok || t.maybe {
		return false
	}
	switch top, rest, _ := cut(p, '/'); top {
	case "Documents", "Desktop", "Pictures", "Photos", "Videos", "Movies", "Music", "Dropbox", "OneDrive", "Nextcloud", "Mail", "Maildir", "Archive", "Notes", ".thunderbird", "Google Drive":
		return rest == ""
	}
	return false
}

// movesPersonal holds for a move of a home, or of a personal folder into a directory for temporary files.
func movesPersonal(c *ctx, i int) (span, bool) {
	from := c.operands(i)
	var to []target
	if o, ok := c.opt(i, "-t", "--target-directory"); ok && o.has {
		to = c.targets(o.value, c.cmd(i).Dir)
	} else if len(from) > 1 {
		to, from = c.targets(from[len(from)-1], c.cmd(i).Dir), from[:len(from)-1]
	}
	scratch := false
	for _, t := range to {
		scratch = scratch || under(t.path, "/tmp") || under(t.path, "/var/tmp") || under(t.path, "/dev/shm")
	}
	for _, w := range from {
		s, ok := c.find(c.targets(w, c.cmd(i).Dir), func(c *ctx, t target) bool {
			t.path = strings.TrimSuffix(t.path, "/.*")
			return c.isAnyHome(t) || scratch && c.isPersonal(t)
		})
		if ok {
			return s, true
		}
	}
	return span{}, false
}

// barelyEmptied holds for a redirection without a command.
func barelyEmptied(c *ctx, i int) (span, bool) {
	if len(c.args(i)) > 0 {
		return span{}, false
	}
	for _, r := range c.cmd(i).Redirs {
		if r.Op != ">" && r.Op != ">|" && r.Op != "&>" {
			continue
		}
		if _, ok := c.find(c.targets(r.Target, c.cmd(i).Dir), isKeptFile); ok {
			return span{r.Start, r.End}, true
		}
	}
	return span{}, false
}

// overwritesDocument holds for tools that overwrite in place, given documents or all files of a kind.
func overwritesDocument(c *ctx, i int) (span, bool) {
	var list []target
	switch c.name(i) {
	case "truncate":
		o, ok := c.opt(i, "-s", "--size")
		if !ok || o.value.Text != "0" {
			return span{}, false
		}
		list = c.operandTargets(i)
	case "dd":
		if !startsWord(c.args(i), "if=/dev/urandom", "if=/dev/zero", "if=/dev/random") {
			return span{}, false
		}
		whole := hasArg(c.args(i), "conv=notrunc")
		for _, t := range c.written(i) {
			if whole && t.path != "" && !strings.HasPrefix(t.path, "/dev/") {
				t.glob = true
			}
			list = append(list, t)
		}
	default:
		list = c.operandTargets(i)
	}
	return c.find(list, func(c *ctx, t target) bool {
		if c.isTemp(t) || c.isRegrown(t) || c.isCache(t) || regrownFile(base(t.path)) {
			return false
		}
		if p := c.cmd(i).Parent; t.blind && p >= 0 && (c.name(p) == "find" || c.name(p) == "xargs" || c.name(p) == "fd") {
			return !sweptFind(c, p)
		}
		switch path.Ext(t.path) {
		case ".img", ".bin", ".iso", ".raw", ".dat", ".qcow2", ".out":
			return false
		}
		return (t.glob || t.all || t.blind && strings.Contains(t.path, "/")) && c.name(i) != "dd" || t.glob || document(base(t.path))
	})
}

// sweptFind tells whether find looks only for what is made again.
func sweptFind(c *ctx, i int) bool {
	_, ok := regrownOnly(c, i)
	return ok || c.name(i) != "find" || hasArg(c.args(i), "*.log", "*.log.*", "*.out", "*.tmp")
}

// document tells whether a file of that name is one that people write or that keeps their data.
func document(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".kdbx", ".kdb", ".db", ".sqlite", ".sqlite3", ".db3", ".mdb", ".accdb", ".xlsx", ".xls", ".ods", ".docx", ".doc", ".odt", ".rtf", ".pptx", ".ppt", ".odp", ".pdf", ".pages", ".numbers", ".key", ".pem",
		".p12", ".pfx", ".jks", ".gpg", ".jpg", ".jpeg", ".png", ".heic", ".raw", ".psd", ".svg", ".mp4", ".mov", ".mp3", ".flac", ".wav", ".tex", ".bib", ".mbox", ".eml", ".pst", ".ics", ".vcf", ".parquet", ".ipynb":
		return true
	}
	return false
}

// editsAway holds for an edit in place whose script deletes all lines.
func editsAway(c *ctx, i int) (span, bool) {
	list := c.operandTargets(i)
	switch c.name(i) {
	case "sed":
		if _, ok := c.opt(i, "-i", "--in-place", "-I"); !ok {
			return span{}, false
		}
		list = c.edited(i)
		scripts := c.valuesOf(i, "-e", "--expression")
		if len(scripts) == 0 {
			if w, ok := c.operand(i, 0); ok {
				scripts = []string{w.Text}
			}
		}
		all := false
		for _, s := range scripts {
			switch strings.ReplaceAll(strings.TrimSpace(s), " ", "") {
			case "d", "1,$d", "/.*/d", "/^/d", "/$/d", "0~1d", "1~1d", "//d", "/^.*$/d", "Q", "1Q", "q;d":
				all = true
			}
		}
		if !all {
			return span{}, false
		}
	case "ed":
		in := c.cmd(i).Stdin
		if in == nil || !strings.HasPrefix(in.Text, ",d") && !strings.HasPrefix(in.Text, "1,$d") && !strings.HasPrefix(in.Text, "%d") {
			return span{}, false
		}
	default:
		emptied, saved := false, false
		for _, w := range c.args(i)[1:] {
			for _, s := range strings.FieldsFunc(strings.TrimLeft(w.Text, "+"), func(r rune) bool { return r == '|' || r == '\n' }) {
				switch strings.TrimSpace(strings.TrimLeft(s, ": ")) {
				case "%d", "%d_", "%d _", "1,$d", "%delete", "normal ggdG", "norm ggdG":
					emptied = true
				case "x", "wq", "w", "wq!", "w!", "xa", "wqa", "x!", "wa":
					saved = true
				}
			}
		}
		if !emptied || !saved {
			return span{}, false
		}
	}
	return c.find(list, func(c *ctx, t target) bool { return t.path != "" && !c.isTemp(t) && !c.isRegrown(t) && !c.isCache(t) })
}

// valuesOf returns the texts that options are given as values.
func (c *ctx) valuesOf(i int, names ...string) []string {
	var out []string
	for _, o := range c.line(i).opts {
		if o.has && o.is(names...) {
			out = append(out, o.value.Text)
		}
	}
	return out
}

// awkOverwrites holds for awk text that runs a command and writes to files whose names are not known.
func awkOverwrites(c *ctx, i int) (span, bool) {
	p := c.payload(i)
	if p.Lang != code.Awk || p.Report.Effects&code.Spawn == 0 || !strings.Contains(p.Text.Text, "getline") {
		return span{}, false
	}
	for _, w := range p.Report.Writes {
		if !w.Known {
			return at(p.Text), true
		}
	}
	return span{}, false
}

// packageDeletes holds for a package's own rm, given what nothing makes again.
func packageDeletes(c *ctx, i int) (span, bool) {
	words := c.operands(i)
	if c.name(i) == "shx" {
		if len(words) == 0 || !words[0].Is("rm") {
			return span{}, false
		}
		words = words[1:]
	}
	for _, w := range words {
		s, ok := c.find(c.targets(w, c.cmd(i).Dir), func(c *ctx, t target) bool {
			return isKept(c, t) && !(t.path == "." && !t.all && !t.blind && w.Text != "." && w.Text != "./") && !regrownDir(base(t.path))
		})
		if ok {
			return s, true
		}
	}
	return span{}, false
}

// desktopDeletes holds for a delete by the desktop's tools outside the work tree.
func desktopDeletes(c *ctx, i int) (span, bool) {
	words := rawOperands(c.args(i))
	if c.name(i) != "gvfs-rm" {
		if len(words) == 0 || !words[0].Is("remove") && !words[0].Is("rm") && !words[0].Is("del") {
			return span{}, false
		}
		words = words[1:]
	}
	for _, w := range words {
		if s, ok := c.find(c.targets(w, c.cmd(i).Dir), isForeign); ok {
			return s, true
		}
	}
	return span{}, false
}

// shutsOut holds for a recursive change of permissions that takes all of them, or freezes the files.
func shutsOut(c *ctx, i int) (span, bool) {
	if !c.given(i, "-R --recursive") {
		return span{}, false
	}
	args := c.args(i)
	words := rawOperands(args)
	if c.name(i) == "chmod" {
		if len(words) == 0 {
			for _, w := range args[1:] {
				if w.Text == "-rwx" {
					return at(w), true
				}
			}
			return span{}, false
		}
		switch strings.TrimLeft(words[0].Text, "0") {
		case "", "a-rwx", "ugo-rwx", "a=", "ugo=", "u-rwx", "a-r", "u=", "a-rwX":
		default:
			return span{}, false
		}
	} else if !startsWord(args, "+i", "+a", "=i", "schg", "uchg") {
		return span{}, false
	}
	for _, w := range words[min(1, len(words)):] {
		s, ok := c.find(c.targets(w, c.cmd(i).Dir), func(c *ctx, t target) bool { return t.path != "" && !c.isTemp(t) && !c.isRegrown(t) })
		if ok {
			return s, true
		}
	}
	return span{}, false
}

// replacesKey holds for a new key whose question whether to overwrite the old one is answered.
func replacesKey(c *ctx, i int) (span, bool) {
	if c.given(i, "-l -y -e -i -R -F -H -p -A -K -Q -r -s -Y -B -c -L") {
		return span{}, false
	}
	if in := c.cmd(i).Stdin; in != nil && (strings.HasPrefix(in.Text, "y") || strings.HasPrefix(in.Text, "Y")) {
		return c.whole(i), true
	}
	_, ok := c.upstream(i, func(c *ctx, n int) bool { return c.name(n) == "yes" }, 8)
	return c.whole(i), ok
}

// deletesTracked holds for a delete of the files that git lists as its own.
func deletesTracked(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		for _, n := range w.From {
			if c.name(n) != "git" || !anyWord(c.args(n), "ls-files", "ls-tree") || c.given(n, "-o --others -d --deleted -i --ignored") {
				continue
			}
			return at(w), true
		}
		for _, h := range w.Holes {
			if name := h.Name; strings.HasPrefix(name, "git ls-files") && !strings.Contains(name, " -o") && !strings.Contains(name, " -d") && !strings.Contains(name, "--others") && !strings.Contains(name, "--deleted") ||
				strings.HasPrefix(name, "git ls-tree") {
				return at(w), true
			}
		}
	}
	return span{}, false
}

// renamesPersonal holds for a rename of all that is in a folder of a person's own files.
func renamesPersonal(c *ctx, i int) (span, bool) {
	if c.given(i, "-n --no-act --dry-run --nono") {
		return span{}, false
	}
	return c.find(c.operandTargets(i), func(c *ctx, t target) bool { return (c.isPersonal(t) || c.isAnyHome(t)) && t.all })
}

// drainsPersonal holds for a copy that deletes such a folder behind itself.
func drainsPersonal(c *ctx, i int) (span, bool) {
	args := c.args(i)
	if c.name(i) == "rsync" && !startsWord(args, "--remove-source-files") || c.name(i) == "rclone" && !anyWord(args, "move") || c.given(i, "-n --dry-run") {
		return span{}, false
	}
	words := rawOperands(args)
	for k, w := range words {
		if k+1 == len(words) {
			break
		}
		if s, ok := c.find(c.targets(w, c.cmd(i).Dir), func(c *ctx, t target) bool { return c.isPersonal(t) || c.isAnyHome(t) }); ok {
			return s, true
		}
	}
	return span{}, false
}
