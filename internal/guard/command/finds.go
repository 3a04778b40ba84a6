package command

import (
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell"
)

// find and xargs that delete: rows 61 to 65.
func finds() table {
	return table{
		{
			Key:    "xargs with rm",
			Harms:  guard.Work,
			Match:  all(runs("rm", "shred", "unlink"), when(launchedBy("xargs", "parallel", "fd", "fdfind"))),
			Why:    "deletes whatever the names before the pipe turn out to be",
			Remedy: "look at the list first: `ls *.tmp`",
			Hits:   []string{"ls | xargs rm", "find . -name x -print0 | xargs -0 rm -rf", "cat list | xargs -I{} rm {}", "fd -e go -x rm"},
			Passes: []string{"ls | xargs wc -l", "rm x", `echo "xargs rm"`},
		},
		{
			Key:    "find -exec/-execdir rm",
			Harms:  guard.Work,
			Match:  all(runs("find"), when(findRuns(deleter)), not(when(regrownOnly))),
			Why:    "deletes whatever find finds",
			Remedy: "look at the list first: `find . -name '*.tmp' -print`",
			Hits:   []string{"find . -exec rm {} \\;", "find /var -execdir /bin/rm -rf {} \\;", "find . -exec /usr/bin/rm -rf {} +", "echo x && find . -exec rm {} \\;"},
			Passes: []string{"find . -name '*.tmp' -print", "find . -exec wc -l {} +", "find . -name __pycache__ -exec rm -rf {} +"},
		},
		{
			Key:    "find dynamic shell word may expand to destructive flag",
			Harms:  guard.Work,
			Match:  all(runs("find"), when(dynamicFind)),
			Why:    "the shell may turn a word into -delete or -exec",
			Remedy: "quote it: `find . -name 'log-del*'`",
			Hits:   []string{"find . -del*", "find . $FLAGS", "find . -exe? rm", "find . -exec? rm {} \\;"},
			Passes: []string{"find . -name 'log-del*'", "find $DIR -name x", "find . -name *.go"},
		},
		{
			Key:    "find -delete",
			Harms:  guard.Work,
			Match:  all(runs("find"), when(findDeletes), not(when(regrownOnly))),
			Why:    "deletes whatever find finds",
			Remedy: "look at the list first: `find . -name '*.tmp' -print`",
			Hits:   []string{"find . -delete", "find . -name '*.go' -delete", "find /var -type f -delete"},
			Passes: []string{"find . -name '*.tmp' -print", "find . -name '*.pyc' -delete", "find /tmp/x -delete", "find . -type d -name __pycache__ -delete", "find build -delete", "find . -empty -type d -delete"},
		},
		{
			Key:    "dynamic shell word may expand to arbitrary program execution flag",
			Harms:  guard.Host,
			Match:  all(runs("rg", "sort", "ag", "man"), when(dynamicTool)),
			Why:    "the shell may turn a word into an option that runs a program",
			Remedy: "quote it: `rg -e '--pre*' docs`",
			Hits:   []string{"rg --pre* x", "sort --compress-prog* names", "man --pager=?h ls"},
			Passes: []string{"rg -e '--pre*' docs", "rg foo *.go", "sort names"},
		},
	}
}

// launchedBy holds when one of the programs runs the command.
func launchedBy(names ...string) test {
	return func(c *ctx, i int) (span, bool) {
		for p := c.cmd(i).Parent; p >= 0; p = c.cmd(p).Parent {
			if has(names, c.name(p)) {
				return c.whole(p), true
			}
		}
		return span{}, false
	}
}

// findRuns holds when find is told to run such a program.
func findRuns(is func(name string) bool) test {
	return func(c *ctx, i int) (span, bool) {
		args := c.args(i)
		for k := 1; k+1 < len(args); k++ {
			switch args[k].Text {
			case "-exec", "-execdir", "-ok", "-okdir":
				for n := k + 1; n < len(args) && args[n].Text != ";" && args[n].Text != "+"; n++ {
					if is(family(base(args[n].Text))) {
						return span{args[k].Start, args[n].End}, true
					}
				}
			}
		}
		return span{}, false
	}
}

func findDeletes(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i) {
		if w.Is("-delete") {
			return at(w), true
		}
	}
	return span{}, false
}

// regrownOnly holds when all that find can find is made again by builds, tests or installs, or is temporary.
func regrownOnly(c *ctx, i int) (span, bool) {
	ok := func(c *ctx, t target) bool { return !t.maybe && (c.isTemp(t) || c.isRegrown(t)) }
	starts := startsOf(c.args(i))
	safe := len(starts) > 0
	inside := true
	for _, w := range starts {
		for _, t := range c.reached(i, w) {
			safe = safe && ok(c, t)
			inside = inside && c.inTree(t)
		}
	}
	if safe {
		return span{}, true
	}
	if c.narrowTemp(i, starts) {
		return span{}, true
	}
	if !inside {
		return span{}, false
	}
	return span{}, onlyNames(c, i) || onlyEmpty(c.args(i))
}

// narrowTemp tells whether find starts only in directories for temporary files and takes some of what is there.
func (c *ctx) narrowTemp(i int, starts []shell.Word) bool {
	if !narrow(c.args(i)) {
		return false
	}
	for _, w := range starts {
		for _, t := range c.reached(i, w) {
			if t.maybe || !c.isTemp(t) && t.path != "/tmp" && t.path != "/var/tmp" && t.path != c.tempDir() {
				return false
			}
		}
	}
	return len(starts) > 0
}

// onlyEmpty tells whether find lets only empty folders through.
func onlyEmpty(args []shell.Word) bool {
	empty, folder := false, false
	for k, w := range args {
		switch w.Text {
		case "-empty":
			empty = k == 0 || args[k-1].Text != "!" && args[k-1].Text != "-not"
		case "-type":
			folder = k+1 < len(args) && args[k+1].Is("d")
		case "-o", "-or", ",":
			return false
		}
	}
	return empty && folder
}

// onlyNames tells whether find's tests let only names through that builds make again.
func onlyNames(c *ctx, i int) bool {
	args := c.args(i)
	named, last := false, ""
	for k := 1; k < len(args); k++ {
		switch t := args[k].Text; t {
		case "-name", "-iname", "-path", "-wholename":
			if k+1 == len(args) || len(args[k+1].Holes) > 0 {
				return false
			}
			k++
			if last == "!" || last == "-not" {
				continue
			}
			name := strings.TrimRight(strings.TrimRight(args[k].Text, "*"), "/")
			if !regrownDir(base(name)) && !regrownFile(base(args[k].Text)) && !regrownDir(base(strings.TrimSuffix(name, "/*"))) {
				return false
			}
			named = true
		case ",":
			return false
		default:
			last = t
			continue
		}
		last = ""
	}
	return named
}

// dynamicFind holds when a word in the place of an action is a glob, a brace form or unknown.
func dynamicFind(c *ctx, i int) (span, bool) {
	args := c.args(i)
	n := 1 + len(startsOf(args))
	if n == 1 && len(args) > 1 && couldBeOption(args[1]) && len(args) == 2 {
		return span{}, false
	}
	for k := 1; k < len(args); k++ {
		w := args[k]
		if k >= 2 && couldBeOption(w) && !findTakes(args[k-1].Text) {
			return at(w), true
		}
		if w.Pattern == "" || len(w.Text) < 2 || w.Text[0] != '-' || findTakes(args[k-1].Text) {
			continue
		}
		for _, action := range [...]string{"-delete", "-exec", "-execdir", "-ok", "-okdir"} {
			if fnmatch(w.Text, action) || startsLike(w.Text, action) {
				return at(w), true
			}
		}
	}
	return span{}, false
}

// startsLike tells whether a glob can become a word that starts as the action does.
func startsLike(glob, action string) bool {
	n := strings.IndexAny(glob, "*?[{")
	return n >= 3 && strings.HasPrefix(action, glob[:n]) || n == len(action) && glob[:n] == action
}

// findTakes tells whether a test of find takes the next word as its value.
func findTakes(t string) bool {
	switch t {
	case "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-newer", "-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin",
		"-size", "-user", "-group", "-uid", "-gid", "-perm", "-inum", "-samefile", "-links", "-lname", "-ilname", "-type", "-xtype", "-maxdepth", "-mindepth",
		"-printf", "-fprint", "-fprintf", "-fprint0", "-fls", "-exec", "-execdir", "-ok", "-okdir", "-newermt", "-newerct", "-used", "-regextype", "-fstype", "-context", "-D":
		return true
	}
	return false
}

func dynamicTool(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		if w.Text == "--" {
			break
		}
		if w.Pattern == "" || len(w.Text) < 4 || w.Text[:2] != "--" {
			continue
		}
		name, _, _ := cut(w.Text, '=')
		for _, o := range [...]string{"--pre", "--hostname-bin", "--compress-program", "--pager", "--html"} {
			if fnmatch(name, o) {
				return at(w), true
			}
		}
	}
	return span{}, false
}
