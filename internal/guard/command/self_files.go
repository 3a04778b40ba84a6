package command

import (
	"strings"

	"hermes/internal/shell"
)

// isOwnFile tells whether the target is hermes' directory or something in it that decides what the agent does.
func (c *ctx) isOwnFile(t target) bool {
	rest, ok := c.ownPath(t.path)
	if !ok {
		return false
	}
	part, _, _ := cut(rest, '/')
	switch part {
	case "logs", "cache", "tmp", "image_cache", "audio_cache", "document_cache", "browser_screenshots", "sandboxes", "workspace", "workspaces",
		"worktrees", "downloads", "output", "outputs", "checkpoints":
		return false
	}
	return true
}

// ownPath returns a path below hermes' directory, or below a profile's.
func (c *ctx) ownPath(p string) (string, bool) {
	rest, ok := "", false
	for _, d := range [...]string{"~/.hermes", c.hermesHome(), c.facts.Home + "/.hermes", "/root/.hermes"} {
		if len(d) > len("/.hermes") && under(p, d) {
			rest, ok = strings.TrimPrefix(p[len(d):], "/"), true
			break
		}
	}
	if !ok && (strings.HasPrefix(p, "/home/") || strings.HasPrefix(p, "/Users/")) {
		if n := strings.Index(p, "/.hermes"); n > 0 && strings.Count(p[:n], "/") == 2 && under(p, p[:n]+"/.hermes") {
			rest, ok = strings.TrimPrefix(p[n+len("/.hermes"):], "/"), true
		}
	}
	if !ok {
		rest, ok = c.climbed(p)
	}
	if profile, found := strings.CutPrefix(rest, "profiles/"); found {
		_, rest, _ = cut(profile, '/')
	}
	return rest, ok
}

// climbed returns a path below a folder named like hermes' own, where the start directory is not known or left.
func (c *ctx) climbed(p string) (string, bool) {
	switch {
	case strings.HasPrefix(p, "../"), p != "" && p[0] == 0:
		n := strings.Index(p, "/.hermes")
		if n < 0 {
			return "", false
		}
		p = p[n+1:]
	case c.facts.Dir != "":
		return "", false
	}
	if !under(p, ".hermes") {
		return "", false
	}
	return strings.TrimPrefix(p[len(".hermes"):], "/"), true
}

// changesDatabase holds unless all a database client is told is to read.
func changesDatabase(c *ctx, i int) (span, bool) {
	words := c.operands(i)
	if len(words) < 2 {
		return span{}, true
	}
	for _, w := range words[1:] {
		first, _, _ := cut(strings.ToLower(strings.TrimSpace(w.Text)), ' ')
		switch first {
		case "select", "explain", ".tables", ".schema", ".dump", ".indexes", ".headers", ".mode":
		default:
			if len(w.Holes) > 0 || first != "pragma" {
				return at(w), true
			}
		}
	}
	return span{}, false
}

// unpacksInto holds for a program that is told to unpack or check files out in hermes' directory.
func unpacksInto(c *ctx, i int) (span, bool) {
	args := c.args(i)
	own := func(w shell.Word) bool {
		for _, t := range c.targets(w, c.cmd(i).Dir) {
			if !t.maybe && c.isOwnFile(t) {
				return true
			}
		}
		return false
	}
	switch c.name(i) {
	case "tar", "bsdtar":
		first := ""
		if len(args) > 1 {
			first = args[1].Text
		}
		if !c.says(i, "--extract", "--get", "-x") && (first == "" || strings.HasPrefix(first, "--") || strings.IndexByte(first, 'x') < 0) {
			return span{}, false
		}
	case "git", "hg":
		for _, w := range args[1:] {
			if w.Is("clone") && own(args[len(args)-1]) {
				return at(args[len(args)-1]), true
			}
			if gitReads(w.Text) {
				return span{}, false
			}
		}
	}
	for k, w := range args[1:] {
		switch t := w.Text; {
		case t == "-C" || t == "-d" || t == "--directory" || t == "-P" || t == "--cwd" || t == "-R" || t == "--git-dir" || t == "--work-tree":
			if k+2 < len(args) && own(args[k+2]) {
				return at(args[k+2]), true
			}
		case strings.HasPrefix(t, "--directory="), strings.HasPrefix(t, "--work-tree="), strings.HasPrefix(t, "--directory-prefix="):
			if own(w.Slice(strings.IndexByte(t, '=') + 1)) {
				return at(w), true
			}
		case len(t) > 2 && (strings.HasPrefix(t, "-C") || strings.HasPrefix(t, "-d") || strings.HasPrefix(t, "-o")) && c.name(i) != "git" &&
			own(w.Slice(2)):
			return at(w), true
		}
	}
	dir := c.cmd(i).Dir
	if c.name(i) != "git" && c.name(i) != "rsync" && c.name(i) != "wget" && dir.Text != "" && dir.Text != "." && own(dir) {
		return span{}, true
	}
	return span{}, false
}

func gitReads(verb string) bool {
	switch verb {
	case "log", "status", "diff", "show", "rev-parse", "ls-files", "branch", "remote", "blame", "grep", "describe", "reflog", "add", "commit",
		"identify", "id":
		return true
	}
	return false
}

// deletesOwn holds for a find below hermes' directory that deletes or runs a program.
func deletesOwn(c *ctx, i int) (span, bool) {
	args := c.args(i)
	acts := false
	for _, w := range args {
		acts = acts || w.Is("-delete") || w.Is("-fprint") || w.Is("-fprintf")
	}
	if !acts {
		return span{}, false
	}
	for _, w := range args[1:] {
		if w.Text != "" && w.Text[0] == '-' {
			break
		}
		for _, t := range c.targets(w, c.cmd(i).Dir) {
			if !t.maybe && c.isOwnFile(t) {
				return at(w), true
			}
		}
	}
	return span{}, false
}

// writesOwn holds for program text that writes or deletes, or may, and names hermes' directory.
func writesOwn(c *ctx, i int) (span, bool) {
	p := c.payload(i)
	if p.Report.Effects.Harmless() {
		return span{}, false
	}
	return at(p.Text), strings.Contains(p.Text.Text, ".hermes/") || strings.Contains(p.Text.Text, "HERMES_HOME")
}
