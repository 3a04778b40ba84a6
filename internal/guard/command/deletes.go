package command

import (
	"strings"

	"hermes/internal/guard"
)

// Deletes by rm: rows 1 to 4.
func deletes() table {
	return table{
		{
			Key:    "mirror deletes what the source has not",
			Harms:  guard.Work,
			Match:  all(mirrors(), lastOperand(func(c *ctx, t target) bool { return t.path == "." || t.path == c.facts.Dir && t.path != "" })),
			Why:    "deletes all in the work tree that the source has not",
			Remedy: "look first: `rsync -an --delete src/ ./`",
			Hits:   []string{"rsync -a --delete-before --force /tmp/e/ ./"},
			Passes: []string{"rsync -an --delete src/ ./", "rsync -a --delete src/ out/", "rsync -a src/ ./"},
		},
		{
			Key:    "delete in root path",
			Harms:  guard.Host,
			Match:  all(runs("rm", "unlink", "rmdir"), operand(isForeign), not(when(sweeps))),
			Why:    "deletes outside the work tree",
			Remedy: "delete inside the work tree or in /tmp: `rm -rf /tmp/scratch`",
			Hits:   []string{"rm /home/u/notes.txt", "rm -f ~/x", "rm -rf /home/user/x", "rm /etc", "rm ../../x", "rm -rf /tmp/*", "sudo rm -f /var/log/syslog"},
			Passes: []string{"rm readme.txt", "rm -rf /tmp/scratch", "rm -f ./a.o", "rm -f /tmp/hermes-verify-x.py", "T=$(mktemp -d); rm -rf $T"},
		},
		{
			Key:    "recursive delete",
			Harms:  guard.Work,
			Match:  all(runs("rm"), when(recursive(true)), operand(isKept), not(when(sweeps))),
			Why:    "deletes folders with all they hold",
			Remedy: "name the files, or move the folder: `mv mydir /tmp/mydir`",
			Hits:   []string{"rm -r mydir", "rm -fr .", "rm -rf .git", `rm -rf "$DIR"`, "sudo rm -rfv /var/log", "rm -rf src/*", "rm -rf vendor && ls", "cd ~/work && rm -rf src", "cd ~ && rm -rf build", "cd /etc && rm -rf build", "find . -name x -exec rm -rf {} +"},
			Passes: []string{
				"rm -rf node_modules", "rm -rf build dist/", "rm -rf /tmp/test", "rm --force x", "rm -f results.json", "rm -rf ./target/debug", "rm -rf foo.egg-info", "rm -rf ~/.cache/pip", "rm -rf ~/.npm/_cacache", "find . -name node_modules -type d -prune -exec rm -rf {} +",
				"mv mydir /tmp/mydir", "rm -rf vendor && composer install", "rm -rf _build deps && mix deps.get", "rm -rf .bundle vendor/bundle",
				"cd ~/work/app && rm -rf dist && npm run build", "cd /srv/app && rm -rf node_modules && npm ci", "cd ../web && rm -rf .next",
			},
		},
		{
			Key:    "recursive delete (long flag)",
			Harms:  guard.Work,
			Match:  all(runs("rm"), flag("--recursive"), operand(isKept), not(when(sweeps))),
			Why:    "deletes folders with all they hold",
			Remedy: "name the files, or move the folder: `mv mydir /tmp/mydir`",
			Hits:   []string{"rm --recursive mydir", "rm --recursive --force ../x"},
			Passes: []string{"rm --recursive /tmp/test", "rm --force x", "rm -r mydir"},
		},
		{
			Key:    "recursive delete (flags after operands)",
			Harms:  guard.Work,
			Match:  all(runs("rm"), when(recursive(false)), operand(isKept)),
			Why:    "deletes folders with all they hold",
			Remedy: "name the files, or move the folder: `mv mydir /tmp/mydir`",
			Hits:   []string{"rm mydir -r", "rm ~/projects -rf", "rm mydir --recursive --force"},
			Passes: []string{"rm mydir -f", "rm node_modules -rf", "rm -- mydir -r"},
		},
	}
}

// recursive holds when rm is told to delete folders, by an option before its first operand or by a later one.
func recursive(early bool) test {
	return func(c *ctx, i int) (span, bool) {
		o, ok := c.opt(i, "-r", "-R", "--recursive")
		if !ok {
			return span{}, false
		}
		l := c.line(i)
		before := len(l.operands) == 0
		for _, x := range l.opts {
			if !before && x.arg < l.operands[0] && x.is("-r", "-R", "--recursive") {
				before = true
			}
		}
		return at(c.args(i)[o.arg]), before == early
	}
}

// sweeps holds for rm run by a find that finds only what is made again or temporary.
func sweeps(c *ctx, i int) (span, bool) {
	for p := c.cmd(i).Parent; p >= 0; p = c.cmd(p).Parent {
		if c.name(p) == "find" {
			_, ok := regrownOnly(c, p)
			return span{}, ok && strings.HasPrefix(c.cmd(i).How, "-exec")
		}
	}
	return span{}, false
}

// isForeign tells whether deleting the target reaches outside the work tree and temporary directories.
func isForeign(c *ctx, t target) bool {
	if t.path == "" || t.path[0] == 0 {
		return false
	}
	return !c.isTemp(t) && !c.inTree(t) && !c.isCache(t) && !c.isRegrownThere(t)
}

// isKept tells whether the target holds what nothing makes again.
func isKept(c *ctx, t target) bool {
	return t.path != "" && !c.isTemp(t) && !c.isRegrown(t) && !c.isCache(t) && !c.isRegrownThere(t)
}
