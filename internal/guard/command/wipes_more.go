package command

import (
	"strings"

	"hermes/internal/guard"
)

// Ways to lose files that do not look like a delete.
func wipesMore() table {
	return table{
		{
			Key:    "move into nothing",
			Harms:  guard.Work,
			Match:  by(movesAway, "mv"),
			Why:    "loses what is moved there",
			Remedy: "move it aside: `mv old.txt /tmp/old.txt`",
			Hits:   []string{"mv ~/* /dev/null", "mv src /dev/null", "find . -exec mv {} /dev/null \\;", "mv -t /dev/null a b", "mv a b /dev/zero"},
			Passes: []string{"mv old.txt /tmp/old.txt", "cp x /dev/null", "mv a b"},
		},
		{
			Key:    "link or copy of nothing over a file",
			Harms:  guard.Work,
			Match:  by(emptiesFile, "cp", "ln", "dd", "install", "cat", ":", "true"),
			Why:    "empties files outside the work tree",
			Remedy: "keep a copy: `cp notes.md notes.md.bak`",
			Hits: []string{
				"for f in ~/Documents/*; do : > \"$f\"; done", "cp /dev/null ~/notes.md", "ln -sf /dev/null ~/notes.md", ": > ~/todo.txt", "cat /dev/null > ~/todo.txt", "> ~/todo.txt; true > ~/x.txt",
			},
			Passes: []string{"cp notes.md notes.md.bak", ": > build.log", "cp /dev/null app.log", ": > /tmp/x", "cat /dev/null > /tmp/x", "true > out.txt", "ln -s ~/a ~/b", ": > ~/.cache/app/log"},
		},
		{
			Key:   "delete by a tool that does more",
			Harms: guard.Work,
			Match: either(
				by(packsAway, "7z", "7za", "7zz", "rar"),
				by(trashes, "gio", "trash", "trash-put", "trash-empty", "gvfs-trash", "kioclient", "rmtrash", "rmlint", "fdupes", "jdupes", "rdfind", "bleachbit", "detox", "trash-rm", "del"),
				by(finderDeletes, "rm", "unlink", "shred", "rmdir", "trash", "srm", "truncate"),
			),
			Why:    "deletes files that nothing makes again",
			Remedy: "list them first: `fd -e go`",
			Hits: []string{
				"7z a -mmt=off -sdel out.7z ~/Documents", "gio trash ~/Documents ~/Desktop && gio trash --empty", "fd -e go -x rm", "fd . src --exec-batch rm -rf", "trash-empty", "fdupes -rdN ~", "rdfind -deleteduplicates true ~",
				"rar m out.rar src", "trash ~/Documents",
			},
			Passes: []string{"fd -e go", "7z a docs.7z docs/", "gio list", "fd -t d node_modules -X rm -rf", "fd -e pyc -x rm", `fd -H '^\.DS_Store$' -x rm`, "fdupes -r .", "trash-list", "rmlint --version", "trash old.txt"},
		},
		{
			Key:    "mirror that deletes in the work tree or home",
			Harms:  guard.Work,
			Match:  by(mirrorsHere, "rsync", "rclone", "robocopy", "unison", "lftp"),
			Why:    "deletes what the other side does not have",
			Remedy: "look first: `rsync -an --delete src/ dst/`",
			Hits:   []string{"rsync -a --delete-before --force /tmp/e/ ./", "rsync -a --delete empty/ ~/projects/", "rclone sync remote:x .", "rclone sync /tmp/e ~/Documents"},
			Passes: []string{"rsync -an --delete src/ dst/", "rsync -a --delete dist/ public/", "rsync -av src/ ./", "rclone copy remote:x .", "rsync -a --delete src/ /tmp/copy/", "rclone sync dist remote:site --dry-run"},
		},
		{
			Key:    "permission change of a home directory",
			Harms:  guard.Host,
			Match:  by(changesHome, "chmod", "chown", "chgrp", "setfacl", "chattr", "chflags", "xattr"),
			Why:    "changes who may use everything in it",
			Remedy: "name the folder that you mean: `chmod -R u+w ./build`",
			Hits:   []string{"setfacl -R -m u:nobody:rwx /home/u", "chmod 000 ~", "chown -R nobody ~", "chmod -R go+r ~", "chmod 777 /home/u", "chattr -R +i ~", "chmod -R a-x ~/*"},
			Passes: []string{"chmod -R u+w ./build", "chmod 700 ~", "chmod 600 ~/.ssh/id_rsa", "chown -R me ~/.npm", "chmod 755 ~/bin/x", "getfacl ~"},
		},
	}
}

// movesAway holds for mv to a device that swallows everything.
func movesAway(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		if strings.HasPrefix(w.Text, "/dev/") && !c.isRawDevice(target{path: w.Text}) {
			return at(w), true
		}
	}
	return span{}, false
}

// emptiesFile holds for a command that prints nothing over a file outside the work tree.
func emptiesFile(c *ctx, i int) (span, bool) {
	args := c.args(i)
	switch c.name(i) {
	case "cp", "ln", "install":
		if !anyWord(args, "/dev/null", "/dev/zero") || args[len(args)-1].Is("/dev/null") {
			return span{}, false
		}
		return c.find(c.copied(i), isKeptFile)
	case "dd":
		if !anyWord(args, "if=/dev/null") {
			return span{}, false
		}
		return c.find(c.written(i), isKeptFile)
	case "cat":
		if len(args) != 2 || !args[1].Is("/dev/null") {
			return span{}, false
		}
	default:
		if len(args) > 1 {
			return span{}, false
		}
	}
	for _, r := range c.cmd(i).Redirs {
		if r.Op == ">" || r.Op == ">|" || r.Op == "&>" {
			if _, ok := c.find(c.targets(r.Target, c.cmd(i).Dir), isKeptFile); ok {
				return span{r.Start, r.End}, true
			}
		}
	}
	return span{}, false
}

// isKeptFile tells whether the target is outside the work tree and the places for temporary and cached files.
func isKeptFile(c *ctx, t target) bool {
	p := t.path
	if p == "" || p[0] != '/' && p[0] != '~' || c.isTemp(t) || c.inTree(t) || strings.HasPrefix(p, "/dev/") {
		return false
	}
	return !strings.Contains(p, "/.cache/") && !strings.Contains(p, "/.local/state/") && !strings.HasSuffix(p, ".log") && !strings.HasSuffix(p, ".pid") && !strings.HasSuffix(p, ".lock") &&
		!strings.Contains(p, "/Library/Caches/") && !strings.Contains(p, "/Library/Logs/")
}

// packsAway holds for an archiver that deletes what it packs.
func packsAway(c *ctx, i int) (span, bool) {
	args := c.args(i)
	for _, w := range args[1:] {
		if w.Text == "-sdel" || w.Text == "-df" || w.Text == "-dr" || w.Text == "-dw" {
			return at(w), true
		}
	}
	return span{}, c.name(i) == "rar" && len(args) > 1 && (args[1].Text == "m" || args[1].Text == "mf")
}

// trashes holds for tools that empty the trash, or put whole folders outside the work tree into it.
func trashes(c *ctx, i int) (span, bool) {
	args := c.args(i)
	switch c.name(i) {
	case "trash-empty":
		return span{}, true
	case "gio":
		if len(args) < 3 || !args[1].Is("trash") || args[2].Is("--list") || args[2].Is("--restore") {
			return span{}, false
		}
		if anyWord(args, "--empty") {
			return span{}, true
		}
	case "rmlint", "bleachbit", "detox", "kioclient", "del":
		return span{}, c.given(i, "--clean -c") && c.name(i) == "bleachbit"
	case "fdupes", "jdupes":
		return span{}, c.given(i, "-d --delete")
	case "rdfind":
		return span{}, anyWord(args, "-deleteduplicates", "-makesymlinks") && anyWord(args, "true")
	case "trash":
		if c.given(i, "-e --empty -s") {
			return span{}, true
		}
	}
	for _, w := range args[1:] {
		if w.Text == "" || w.Text[0] == '-' || w.Is("trash") {
			continue
		}
		s, ok := c.find(c.targets(w, c.cmd(i).Dir), func(c *ctx, t target) bool {
			return t.path == "." || strings.HasPrefix(t.path, "..") || isKeptFile(c, t) || t.all
		})
		if ok {
			return s, true
		}
	}
	return span{}, false
}

// finderDeletes holds for a delete of whatever fd finds, unless it looks for what builds leave behind.
func finderDeletes(c *ctx, i int) (span, bool) {
	p := c.cmd(i).Parent
	if p < 0 {
		return span{}, false
	}
	switch c.name(p) {
	case "fd", "fdfind":
	default:
		return span{}, false
	}
	for _, w := range c.args(p)[1:] {
		t := strings.Trim(w.Text, `^$\`)
		if t == "-x" || t == "-X" || t == "--exec" || t == "--exec-batch" {
			break
		}
		if regrownDir(t) || regrownFile("x."+t) || regrownFile(t) || t == "pyc" || t == "tmp" || t == "bak" || t == "orig" || t == "swp" || t == "rej" || strings.Contains(t, "__pycache__") || strings.Contains(t, "node_modules") {
			return span{}, false
		}
	}
	return c.whole(i), true
}

// mirrorsHere holds for a mirror whose destination is the work tree itself, or a folder of the home directory.
func mirrorsHere(c *ctx, i int) (span, bool) {
	args := c.args(i)
	if c.given(i, "-n --dry-run --list-only -L") && (c.name(i) != "rsync" || c.given(i, "-n --dry-run --list-only")) {
		return span{}, false
	}
	deletes := false
	switch c.name(i) {
	case "rsync":
		for _, w := range args[1:] {
			deletes = deletes || strings.HasPrefix(w.Text, "--del")
		}
	case "rclone":
		deletes = anyWord(args, "sync", "purge", "move", "bisync")
	}
	if !deletes || len(args) < 3 {
		return span{}, false
	}
	words := rawOperands(args)
	if len(words) < 2 {
		return span{}, false
	}
	to := words[len(words)-1]
	if n := strings.IndexByte(to.Text, ':'); n > 1 && strings.IndexByte(to.Text[:n], '/') < 0 {
		return span{}, false
	}
	return c.find(c.targets(to, c.cmd(i).Dir), func(c *ctx, t target) bool {
		if t.path == "." || t.path == ".." || c.isHome(t) || c.facts.Dir != "" && t.path == c.facts.Dir {
			return true
		}
		p, ok := c.fromHome(t)
		return ok && !c.inTree(t) && strings.Count(p, "/") == 0 && p[0] != '.'
	})
}

// changesHome holds for a change of the permissions of a whole home directory.
func changesHome(c *ctx, i int) (span, bool) {
	args := c.args(i)
	deep := c.given(i, "-R --recursive -r")
	for _, w := range args[1:] {
		if w.Text == "" || w.Text[0] == '-' {
			continue
		}
		for _, t := range c.targets(w, c.cmd(i).Dir) {
			if t.maybe || t.blind {
				continue
			}
			name, ok := strings.CutPrefix(t.path, "/home/")
			if !c.isHome(t) && (!ok || strings.IndexByte(name, '/') >= 0) {
				continue
			}
			if deep || c.name(i) != "chmod" {
				return at(w), c.name(i) != "xattr" || c.given(i, "-c -d -w -r")
			}
			if mode := args[1].Text; mode == "000" || mode == "0" || writableByAll(mode) || strings.Contains(mode, "u-") || strings.Contains(mode, "a-") {
				return at(w), true
			}
		}
	}
	return span{}, false
}
