package command

import (
	"path"
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell"
)

// gitLoss are rules beyond the original's table: work that git, or another tool of its kind, would throw away.
func gitLoss() table {
	git := func() match { return runs("git") }
	return table{
		{
			Key:   "git checkout/restore over changed files",
			Harms: guard.Work,
			Match: either(
				all(git(), sub("checkout"), when(overwrites)),
				all(git(), sub("restore"), when(restores)),
				all(git(), sub("switch"), flag("-f", "--force", "--discard-changes")),
				all(git(), sub("checkout-index"), flag("-f", "--force"), not(flag("--prefix"))),
				all(git(), sub("read-tree"), flag("--reset"), flag("-u")),
			),
			Why:    "throws away changes that are not committed",
			Remedy: "keep them: `git stash`",
			Hits: []string{
				"git checkout .", "git checkout -- src/app.go", "git checkout HEAD~1 -- x", "git checkout src/", "git checkout -f main",
				"git restore .", "git restore --staged --worktree x", "git switch -f main",
				"git switch --discard-changes main", "git read-tree -u --reset HEAD", "git -C sub checkout -- .", "git checkout :/",
				"git checkout *.go", "git checkout HEAD main.go",
			},
			Passes: []string{
				"git stash", "git checkout main", "git checkout -b feature/x", "git checkout -", "git checkout v1.2.3", "git restore --staged docs/",
				"git switch main", "git checkout --track origin/release-2.x",
				"git checkout feature/csv", "git switch -c x", "git checkout --detach", "git checkout --theirs go.sum", "git checkout origin/main",
				"git checkout $BRANCH",
			},
		},
		{
			Key:   "git stash removal",
			Harms: guard.Work,
			Match: all(git(), sub("stash", "drop|clear")),
			Why:   "throws away changes that are nowhere else", Remedy: "look at it first: `git stash show -p`",
			Hits: []string{"git stash drop", "git stash clear", "git stash -u && git stash drop"}, Passes: []string{"git stash show -p", "git stash",
				"git stash pop", "git stash list", "git stash push -m drop"},
		},
		{
			Key:   "git history made unreachable",
			Harms: guard.Work,
			Match: either(
				all(git(), sub("reflog", "expire|delete"), not(flag("-n", "--dry-run"))),
				all(git(), sub("gc"), when(prunesNow)),
				all(git(), sub("prune"), not(flag("-n", "--dry-run"))),
				all(git(), sub("update-ref"), either(flag("-d", "--delete"), flag("--stdin"))),
				all(git(), sub("symbolic-ref"), flag("-d", "--delete")),
				all(git(), sub("filter-branch|filter-repo"), not(flag("--analyze", "--dry-run", "-h"))),
				runs("git-filter-repo"),
				all(runs("bfg"), not(given("--help", "--version"))),
				all(git(), sub("rebase"), flag("--root")),
				all(git(), sub("replace"), not(flag("-l", "--list"))),
				all(git(), sub("branch"), either(flag("-f", "--force"), flag("-M"), flag("-C")), when(movesBranch)),
				all(git(), sub("tag"), flag("-d", "--delete"), when(manyTags)),
				all(git(), sub("lfs", "migrate"), not(sub("lfs", "migrate", "info"))),
				all(git(), sub("fast-import"), flag("--force")),
				all(git(), sub("worktree", "remove"), flag("-f", "--force")),
				all(git(), sub("worktree", "prune"), flag("--expire"), not(flag("-n", "--dry-run"))),
				all(git(), sub("submodule", "deinit"), flag("-f", "--force", "--all")),
				all(git(), sub("lfs", "prune"), not(flag("-d", "--dry-run"))),
				all(git(), sub("notes", "remove|prune")),
				all(git(), sub("svn", "reset")),
				all(git(), sub("clean"), when(cleansUnforced)),
				all(git(), sub("annex", "drop|dropunused|uninit|unannex"), flag("--force")),
			),
			Why:    "makes commits or branches unreachable that may be nowhere else",
			Remedy: "keep a name for them: `git branch backup`",
			Hits: []string{
				"git reflog expire --expire=now --all", "git gc --prune=now", "git prune --expire now", "git update-ref -d refs/heads/main",
				"git filter-branch --force HEAD", "git filter-repo --path src", "git branch -f main HEAD~10",
				"git tag -d $(git tag)", "git worktree remove --force ../wt", "git submodule deinit -f --all", "bfg --delete-files x",
				"git -c clean.requireForce=false clean -d", "git rebase --root --onto x",
			},
			Passes: []string{
				"git branch backup", "git reflog", "git reflog -20", "git gc", "git gc --auto", "git prune -n", "git tag -a v1 -m x",
				"git tag -d v1.0-rc1", "git branch -M main", "git filter-repo --analyze", "git worktree remove ../wt", "git worktree prune -n",
				"git rebase main", "git branch -m old new", "git update-ref refs/x HEAD", "git filter-branch --help",
			},
		},
		{
			Key:    "git push that deletes or replaces on the remote",
			Harms:  guard.Remote,
			Match:  all(git(), sub("push"), not(flag("-n", "--dry-run")), when(pushLoss)),
			Why:    "deletes or replaces what others may have only there",
			Remedy: "see what would happen: `git push --dry-run origin HEAD`",
			Hits: []string{
				"git push --mirror git@example.com:o/r.git", "git push origin --delete release", "git push origin :main", "git push origin +main",
				"git push --prune origin 'refs/heads/*'", "git push -d origin x",
				"git push origin +HEAD:refs/heads/main", "git push origin :refs/tags/v1",
			},
			Passes: []string{"git push --dry-run origin HEAD", "git push origin main", "git push -u origin HEAD",
				"git push origin HEAD:refs/for/main", "git push origin a:b", "git push --tags", "git push -n --mirror x"},
		},
		{
			Key:    "git removal of tracked files",
			Harms:  guard.Work,
			Match:  all(git(), sub("rm"), flag("-f", "--force", "-r"), not(flag("--cached", "-n", "--dry-run")), when(removesTree)),
			Why:    "deletes files with their changes",
			Remedy: "see what would go: `git rm -rn old/`",
			Hits:   []string{"git rm -rf .", "git rm -f app.go", "git rm -rf src", "git rm -r ."},
			Passes: []string{"git rm -rn old/", "git rm --cached debug.log", "git rm -r --cached node_modules", "git rm old.txt", "git rm -r old/"},
		},
		{
			Key:   "removal of the repository itself",
			Harms: guard.Work,
			Match: either(
				all(runs("rm", "mv", "shred", "unlink", "trash", "rmdir", "truncate"), operand(isRepository)),
				all(runs("find"), when(findsRepository)),
			),
			Why:    "deletes the history with all branches",
			Remedy: "keep a copy: `git bundle create ../backup.bundle --all`",
			Hits:   []string{"rm -rf .git", "rm -rf .git/refs .git/logs", "find .git -name '*.pack' -delete", "mv .git /tmp/x", "rm -rf ./sub/.git/"},
			Passes: []string{"git bundle create ../backup.bundle --all", "rm -f .git/index.lock", "rm -rf .github", "rm .gitignore.bak",
				"find .git -name '*.pack'", "rm .git/hooks/pre-commit", "rm -rf /tmp/clone/.git", "rm .git/COMMIT_EDITMSG", "rm -rf node_modules/x/.git"},
		},
		{
			Key:   "loss of work by another version control system",
			Harms: guard.Work,
			Match: told(
				verbs{programs: "hg", takes: "-R --repository --cwd --config", dry: "-n",
					forms: []string{"revert|strip|purge|histedit|rollback|prune|uncommit|clean", "debugstrip"}},
				verbs{programs: "svn", forms: []string{"revert"}},
				verbs{programs: "jj", takes: "-R --repository", forms: []string{"abandon|restore", "op|operation abandon|restore|undo",
					"bookmark|branch delete", "workspace forget"}},
				verbs{programs: "bzr brz fossil p4 darcs", forms: []string{"revert|uncommit|clean|obliterate|strip|unrecord|rollback|scrub|shun"}},
				verbs{programs: "sl sapling", forms: []string{"revert|hide|purge|clean|strip"}},
				verbs{programs: "gitbutler gt git-branchless", forms: []string{"hide|delete"}},
				verbs{programs: "repo", forms: []string{"abandon|prune|forall"}},
			).or(
				all(runs("hg", "sl"), told(verbs{programs: "hg sl", takes: "-R --repository --cwd --config",
					forms: []string{"update|up|checkout|co|goto"}}), either(flagLetter('C', "--clean"), given("--discard"))),
				all(runs("svn"), told(verbs{programs: "svn", takes: "-m --message", forms: []string{"delete|del|remove|rm"}}), says("://")),
				all(runs("svn"), told(verbs{programs: "svn", forms: []string{"cleanup"}}), given("--remove-unversioned", "--remove-ignored")),
			),
			Why:    "throws away changes that are not committed, or commits",
			Remedy: "look first: `hg status`",
			Hits: []string{"hg update --clean .", "hg revert -a", "hg purge --all", "hg strip tip", "svn revert -R .",
				"svn cleanup --remove-unversioned", "jj abandon 'all()'", "hg up -C"},
			Passes: []string{"hg status", "hg update", "svn status", "svn update", "jj log", "hg purge -n", "hg commit -m revert", "svn cleanup",
				"svn rm old.txt"},
		},
	}
}

// gitWords returns the operands behind git's subcommand and how many of them stand in front of "--".
func (c *ctx) gitWords(i int) (words []shell.Word, front int, dashes bool) {
	l := c.line(i)
	args := c.args(i)
	for n, k := range l.operands {
		if n == 0 {
			continue
		}
		words = append(words, args[k])
		if k < l.end {
			front++
		}
	}
	return words, front, l.end < len(args)
}

// overwrites holds for a checkout that takes files from a commit or the index over those in the work tree.
func overwrites(c *ctx, i int) (span, bool) {
	l := c.line(i)
	for _, o := range l.opts {
		if l.operands[0] > o.arg {
			continue
		}
		switch {
		case o.name == "-f" || o.is("--force", "--pathspec-from-file"):
			return at(c.args(i)[o.arg]), true
		case o.name == "-b" || o.name == "-t" || o.name == "-p" || o.is("--orphan", "--detach", "--track", "--patch", "--ours", "--theirs"):
			return span{}, false
		}
	}
	words, front, dashes := c.gitWords(i)
	switch {
	case dashes && len(words) > front:
		return at(words[front]), true
	case dashes:
		return span{}, false
	case len(words) > 1:
		return at(words[1]), true
	case len(words) == 1:
		return at(words[0]), c.namesFile(words[0], i)
	}
	return span{}, false
}

// namesFile tells whether the only word of a checkout is a path rather than a branch or a commit.
func (c *ctx) namesFile(w shell.Word, i int) bool {
	t := w.Text
	switch {
	case t == "." || t == ".." || strings.HasPrefix(t, "./") || strings.HasPrefix(t, "../") || strings.HasPrefix(t, ":/") || strings.HasPrefix(t,
		":("),
		strings.HasSuffix(t, "/") && t != "/", w.Pattern != "" && len(w.Holes) == 0, strings.ContainsAny(t, "*?") && len(w.Holes) == 0:
		return true
	case len(w.Holes) > 0 || t == "" || t == "-" || strings.ContainsAny(t, "@^~"):
		return false
	}
	if c.facts.Tracked != nil {
		if p := c.resolve(t, w, c.cmd(i).Dir).path; c.facts.Tracked(p) == Yes {
			return true
		}
	}
	return sourceFile(t)
}

// sourceFile tells whether a name ends as files do and branches and versions do not.
func sourceFile(name string) bool {
	switch ext := path.Ext(name); ext {
	case ".go", ".py", ".js", ".ts", ".tsx", ".jsx", ".mjs", ".cjs", ".c", ".h", ".cc", ".cpp", ".hpp", ".rs", ".java", ".kt", ".rb", ".php", ".cs",
		".swift", ".sh", ".bash", ".zsh",
		".md", ".txt", ".json", ".yaml", ".yml", ".toml", ".xml", ".html", ".css", ".scss", ".sql", ".lock", ".mod", ".sum", ".cfg", ".ini", ".conf",
		".env", ".csv", ".vue", ".svelte",
		".proto", ".tf", ".gradle", ".properties", ".ipynb", ".svg", ".png", ".rst", ".tex", ".lua", ".pl", ".ex", ".exs", ".hs", ".scala", ".dart":
		return len(name) > len(ext)
	}
	switch path.Base(name) {
	case "Makefile", "Dockerfile", "README", "LICENSE", "Gemfile", "Rakefile", "Cargo.toml":
		return true
	}
	return false
}

// restores holds for a restore that changes the work tree.
func restores(c *ctx, i int) (span, bool) {
	if len(c.line(i).operands) < 2 && !c.opted(i, "--pathspec-from-file") {
		return span{}, false
	}
	if c.opted(i, "-p", "--patch") {
		return span{}, false
	}
	staged, tree := c.opted(i, "--staged", "-S"), c.opted(i, "--worktree", "-W")
	return span{}, !staged || tree
}

// opted tells whether one of the options is given.
func (c *ctx) opted(i int, names ...string) bool {
	_, ok := c.opt(i, names...)
	return ok
}

// prunesNow holds for a garbage collection that spares nothing recent.
func prunesNow(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		if v, ok := strings.CutPrefix(w.Text, "--prune="); ok && v != "never" && !strings.Contains(v, "week") && !strings.Contains(v, "month") {
			return at(w), true
		}
	}
	return span{}, false
}

// movesBranch holds when a branch is named that is to be put elsewhere.
func movesBranch(c *ctx, i int) (span, bool) {
	words, _, _ := c.gitWords(i)
	if len(words) == 0 || c.opted(i, "-d", "--delete", "-D", "-l", "--list") {
		return span{}, false
	}
	if !c.opted(i, "-f", "--force") {
		// A renaming or a copy by force: only over a branch that others know.
		return at(words[0]), len(words) > 1 && sharedBranch(words[1].Text)
	}
	return at(words[0]), len(words) > 1 || sharedBranch(words[0].Text)
}

// sharedBranch tells whether a branch has a name that everybody's work goes into.
func sharedBranch(name string) bool {
	switch name {
	case "main", "master", "trunk", "develop", "production", "prod", "release", "stable":
		return true
	}
	return false
}

// manyTags holds for a removal of more than one tag, or of tags that are not known.
func manyTags(c *ctx, i int) (span, bool) {
	words, _, _ := c.gitWords(i)
	if len(words) == 0 {
		return span{}, false
	}
	return at(words[0]), len(words) > 1 || len(words[0].Holes) > 0 && words[0].Holes[0].Kind != shell.Variable
}

// cleansUnforced holds for a clean that needs no force because a setting on the line says so.
func cleansUnforced(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		if strings.EqualFold(w.Text, "clean.requireForce=false") {
			return at(w), !c.opted(i, "-n", "--dry-run")
		}
	}
	return span{}, false
}

// pushLoss holds for a push that deletes, mirrors, or forces by a plus sign.
func pushLoss(c *ctx, i int) (span, bool) {
	l := c.line(i)
	for _, o := range l.opts {
		if o.arg > l.operands[0] && (o.name == "-d" || o.is("--delete", "--mirror", "--prune")) {
			return at(c.args(i)[o.arg]), true
		}
	}
	words, _, _ := c.gitWords(i)
	for n, w := range words {
		switch t := w.Text; {
		case n == 0 || t == "":
		case t[0] == '+', len(t) > 1 && t[0] == ':':
			return at(w), true
		}
	}
	return span{}, false
}

// removesTree holds for a removal by force, or of all there is.
func removesTree(c *ctx, i int) (span, bool) {
	force := c.opted(i, "-f", "--force")
	for _, w := range c.operands(i)[1:] {
		if force || w.Text == "." || w.Text == "*" || w.Text == ":/" || w.Text == "./" {
			return at(w), true
		}
	}
	return span{}, false
}

// isRepository tells whether the target is a repository's folder, or a part of it that holds history.
func isRepository(c *ctx, t target) bool {
	if c.isTemp(t) || c.isRegrown(t) {
		return false
	}
	n := strings.LastIndex("/"+t.path, "/.git")
	if n < 0 {
		return base(t.path) == ".hg" || base(t.path) == ".svn" || base(t.path) == ".jj"
	}
	rest := t.path[n+len(".git"):]
	if rest == "" {
		return true
	}
	if rest[0] != '/' {
		return false
	}
	switch part, _, _ := cut(rest[1:], '/'); part {
	case "objects", "refs", "logs", "HEAD", "packed-refs", "index", "config", "modules", "worktrees", "lfs", "annex":
		return !strings.HasSuffix(rest, ".lock")
	}
	return false
}

// findsRepository holds for a find in a repository's folder that deletes.
func findsRepository(c *ctx, i int) (span, bool) {
	args := c.args(i)
	for _, w := range args[1:] {
		if w.Text == "" || w.Text[0] == '-' {
			break
		}
		if t := c.resolve(w.Text, w, c.cmd(i).Dir); isRepository(c, t) {
			for _, o := range args {
				if o.Is("-delete") {
					return at(w), true
				}
			}
		}
	}
	return span{}, false
}
