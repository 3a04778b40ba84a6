package command

import (
	"strings"

	"hermes/internal/guard"
)

// git: rows 94 to 100.
func git() table {
	return table{
		{
			Key:    "git reset --hard (destroys uncommitted changes)",
			Harms:  guard.Work,
			Match:  all(runs("git"), sub("reset"), longFlag("--hard", 3)),
			Why:    "throws away changes that are not committed",
			Remedy: "keep them: `git stash`",
			Hits:   []string{"git reset --hard HEAD~3", "git -C repo reset --har", "git reset HEAD --hard"},
			Passes: []string{"git reset HEAD x", "git reset --soft HEAD~1", "git stash", `git commit -m "reset --hard"`},
		},
		{
			Key:    "git force push (rewrites remote history)",
			Harms:  guard.Remote,
			Match:  all(runs("git"), sub("push"), when(forced)),
			Why:    "replaces history that others may have",
			Remedy: "push a branch of your own: `git push --force-with-lease origin my-branch`",
			Hits:   []string{"git push --force origin main", "git -C r push --forc", "git push --force-with-lease origin main", "git push --force-with-lease"},
			Passes: []string{"git push origin main", "git push --force-with-lease origin my-branch", "git push --force-with-lease=fix origin HEAD:fix", "git push --follow-tags"},
		},
		{
			Key:    "git force push short flag (rewrites remote history)",
			Harms:  guard.Remote,
			Match:  all(runs("git"), sub("push"), flag("-f")),
			Why:    "replaces history that others may have",
			Remedy: "push a branch of your own: `git push --force-with-lease origin my-branch`",
			Hits:   []string{"git push -f origin main", "git push -uf origin x"},
			Passes: []string{"git push origin feature-f", "git push -u origin main"},
		},
		{
			Key:    "git clean with force (deletes untracked files)",
			Harms:  guard.Work,
			Match:  all(runs("git"), sub("clean"), flag("-f", "--force"), not(flag("-n", "--dry-run"))),
			Why:    "deletes files that no commit holds",
			Remedy: "look first: `git clean -nd`",
			Hits:   []string{"git clean -fd", "git clean -xdf", "git clean --force", "git clean -d -f"},
			Passes: []string{"git clean -nd", "git clean -ndf", "git clean -n"},
		},
		{
			Key:    "git branch force delete",
			Harms:  guard.Work,
			Match:  all(runs("git"), sub("branch"), flag("-D")),
			Why:    "deletes a branch whose commits may be nowhere else",
			Remedy: "delete it only when merged: `git branch -d merged`",
			Hits:   []string{"git branch -D feature", "git branch -rD origin/x"},
			Passes: []string{"git branch -d merged", "git branch --delete merged", "git branch -a"},
		},
		{
			Key:    "git branch force delete (long flags)",
			Harms:  guard.Work,
			Match:  all(runs("git"), sub("branch"), when(deleteForce(true))),
			Why:    "deletes a branch whose commits may be nowhere else",
			Remedy: "delete it only when merged: `git branch -d merged`",
			Hits:   []string{"git branch --delete --force x", "git branch -d -f x"},
			Passes: []string{"git branch -d merged", "git branch --delete merged", "git branch -f x HEAD"},
		},
		{
			Key:    "git branch force delete (long flags, force-first)",
			Harms:  guard.Work,
			Match:  all(runs("git"), sub("branch"), when(deleteForce(false))),
			Why:    "deletes a branch whose commits may be nowhere else",
			Remedy: "delete it only when merged: `git branch -d merged`",
			Hits:   []string{"git branch --force --delete x"},
			Passes: []string{"git branch --delete --force x", "git branch -d merged"},
		},
	}
}

// longFlag holds when a long option is given, shortened to no less than least letters, dashes included.
func longFlag(name string, least int) match {
	return when(func(c *ctx, i int) (span, bool) {
		for _, o := range c.line(i).opts {
			if len(o.name) >= least && strings.HasPrefix(name, o.name) {
				return at(c.args(i)[o.arg]), true
			}
		}
		return span{}, false
	})
}

// forced holds for a push that replaces history, unless it is a leased one to a branch that is not the default one.
func forced(c *ctx, i int) (span, bool) {
	for _, o := range c.line(i).opts {
		if !strings.HasPrefix(o.name, "--forc") {
			continue
		}
		if strings.HasPrefix(o.name, "--force-w") && ownBranches(c, i) {
			continue
		}
		if o.name == "--force-if-includes" {
			continue
		}
		return at(c.args(i)[o.arg]), true
	}
	return span{}, false
}

// ownBranches tells whether a push names only branches that are not the default one.
func ownBranches(c *ctx, i int) bool {
	words := c.operands(i)
	if len(words) < 3 {
		return false
	}
	for _, w := range words[2:] {
		if len(w.Holes) > 0 || w.Pattern != "" {
			return false
		}
		to := w.Text
		if _, dst, ok := cut(to, ':'); ok {
			to = dst
		}
		switch to = strings.TrimPrefix(strings.TrimPrefix(to, "+"), "refs/heads/"); to {
		case "", "main", "master", "trunk", "develop", "development", "default", "production", "prod", "release", "stable", "HEAD", "@":
			return false
		}
		if strings.HasPrefix(w.Text, "+") {
			return false
		}
	}
	return true
}

func deleteForce(deleteFirst bool) test {
	return func(c *ctx, i int) (span, bool) {
		del, force := -1, -1
		for k, o := range c.line(i).opts {
			switch {
			case o.is("-d", "--delete") && del < 0:
				del = k
			case o.is("-f", "--force") && force < 0:
				force = k
			}
		}
		return span{}, del >= 0 && force >= 0 && (del < force) == deleteFirst
	}
}
