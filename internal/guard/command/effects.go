package command

import (
	"cmp"
	"slices"
	"strings"

	"hermes/internal/shell"
)

// family returns the name rules know a program by: versions and variants of one program are the same to them.
func family(name string) string {
	if name == "" {
		return ""
	}
	switch name[0] {
	case 'm':
		if strings.HasPrefix(name, "mkfs.") {
			return "mkfs"
		}
	case 'f':
		if strings.HasPrefix(name, "fsck.") {
			return "fsck"
		}
	case 'n':
		if strings.HasPrefix(name, "newfs_") {
			return "newfs"
		}
		if name == "nodejs" {
			return "node"
		}
	case 'g':
		switch name {
		case "grm", "gmv", "gcp", "gdd", "gln", "gtee", "gsed", "gfind", "gchmod", "gchown", "gshred", "gtruncate", "ginstall", "gxargs":
			return name[1:]
		}
	case 'p', 'r', 'l':
		for _, p := range [...]string{"python", "pip", "perl", "php", "ruby", "lua"} {
			if rest, ok := strings.CutPrefix(name, p); ok && rest != "" && strings.Trim(rest, "0123456789.") == "" {
				return p
			}
		}
		if name == "py" || name == "pythonw" || name == "pypy" || name == "pypy3" {
			return "python"
		}
	}
	return name
}

// writer tells whether a program writes to files it is given by name.
func writer(name string) bool {
	switch name {
	case "tee", "cp", "mv", "install", "ln", "dd", "truncate", "rsync", "scp", "sed", "perl", "ruby", "sort", "curl", "wget", "touch", "sponge", "ed", "ex",
		"patch", "chmod", "chown", "link", "split", "tar", "unzip", "shred", "rm", "awk", "gawk", "mkdir", "chattr", "setfacl":
		return true
	}
	return false
}

// targets of the operands of command i.
func (c *ctx) operandTargets(i int) []target {
	l := c.line(i)
	if !l.resolved {
		l.resolved = true
		for _, k := range l.operands {
			l.targets = append(l.targets, c.reached(i, c.args(i)[k])...)
		}
	}
	return l.targets
}

// reached returns the paths that an operand of command i may name, with where links on their way lead. One that is named like a folder
// is followed itself, and by some programs always.
func (c *ctx) reached(i int, w shell.Word) []target {
	at := c.led
	switch c.name(i) {
	case "chmod", "chown", "chgrp":
		at = c.ends
	default:
		if strings.HasSuffix(w.Text, "/") || strings.HasSuffix(w.Text, "/.") {
			at = c.ends
		}
	}
	return c.with(i, c.targets(w, c.cmd(i).Dir), at)
}

// led returns what a target is where links on its way lead: made by the text itself, or there already. A link that is named itself is
// not followed, since what removes or renames it leaves alone what it leads to.
func (c *ctx) led(t target) []target {
	if t.path == "" || t.blind || t.path == "/" {
		return nil
	}
	dir, name := t.path, ""
	if !t.all {
		n := strings.LastIndexByte(t.path, '/')
		if n <= 0 {
			return nil
		}
		dir, name = t.path[:n], t.path[n:]
	}
	var out []target
	for _, to := range c.leads(dir) {
		t.path, t.there = c.clean(to+name, shell.Word{}), false
		out = append(out, t)
	}
	return out
}

// ends returns what a target is where links are followed to the end, as whatever opens a file to write does.
func (c *ctx) ends(t target) []target {
	all := t.all
	t.all = true
	out := c.led(t)
	for k := range out {
		out[k].all = all
	}
	return out
}

// leads returns where links on its way make a path lead. Looking at the disk takes time: it is done once for each path.
func (c *ctx) leads(dir string) []string {
	if c.facts.Resolve == nil && !c.prog.Links() {
		return nil
	}
	if to, ok := c.places[dir]; ok {
		return to
	}
	to, work, all := c.prog.Leads(dir, c.resolver())
	if c.steps += work / 16; !all {
		c.steps = max(c.steps, maxSteps+1)
	}
	if c.places == nil {
		c.places = map[string][]string{}
	}
	c.places[dir] = to
	return to
}

// resolver follows the links that are there, nil where that is not known.
func (c *ctx) resolver() func(path string) string {
	if c.facts.Resolve == nil {
		return nil
	}
	if c.roots == nil {
		c.roots = c.facts.roots()
	}
	return func(path string) string { return c.facts.lies(path, c.roots) }
}

// roots lists the folders that rules know and that a link spells, as they are named and where they are.
func (f *Facts) roots() [][2]string {
	out := [][2]string{}
	for _, root := range [...]string{cmp.Or(f.TempDir, "/tmp"), f.Home} {
		if root == "" {
			continue
		}
		if real := f.Resolve(root); real != root && real != "/" {
			out = append(out, [2]string{root, real})
		}
	}
	return out
}

// lies follows the links of a path. What that leads to below a folder that rules know keeps that folder's own name.
func (f *Facts) lies(path string, roots [][2]string) string {
	if path == "" || path[0] != '/' {
		return path
	}
	to := f.Resolve(path)
	for _, root := range roots {
		if under(to, root[1]) {
			return root[0] + to[len(root[1]):]
		}
	}
	return to
}

// Settle puts the place in the place of Dir where links lead: what is done in a folder is done there, whatever name it was reached by.
func (f *Facts) Settle() {
	if f.Resolve != nil {
		f.Dir = f.lies(f.Dir, f.roots())
	}
}

// place is a condition on a path.
type place func(c *ctx, t target) bool

// operand holds when an operand is known to be such a path.
func operand(is place) match {
	return when(func(c *ctx, i int) (span, bool) { return c.find(c.operandTargets(i), is) })
}

// maybe holds when an operand would be such a path if unknown pieces turned out empty.
func maybe(is place) match {
	return when(func(c *ctx, i int) (span, bool) {
		for _, t := range c.operandTargets(i) {
			if t.maybe && is(c, t) {
				return t.where, true
			}
		}
		return span{}, false
	})
}

// redirect holds when a redirection writes to such a path.
func redirect(is place) match {
	return match{on: onRedirect, test: func(c *ctx, i int) (span, bool) {
		for _, r := range c.cmd(i).Redirs {
			if !r.Writes() {
				continue
			}
			if _, ok := c.find(c.with(i, c.targets(r.Target, c.cmd(i).Dir), c.ends), is); ok {
				return span{r.Start, r.End}, true
			}
		}
		return span{}, false
	}}
}

// wrote holds when the command writes to such a path, in whatever way.
func wrote(is place) match {
	return match{on: onWrite, test: func(c *ctx, i int) (span, bool) { return c.find(c.writes(i), is) }}
}

// lands holds when a program that copies or makes a file puts it at such a path.
func lands(is place) match {
	return when(func(c *ctx, i int) (span, bool) { return c.find(c.written(i), is) })
}

// find returns the first target that is known to be such a path.
func (c *ctx) find(list []target, is place) (span, bool) {
	for _, t := range list {
		if !t.maybe && is(c, t) {
			return t.where, true
		}
	}
	return span{}, false
}

// writes returns what command i writes to: its redirections and what its program writes by itself.
func (c *ctx) writes(i int) []target {
	l := c.line(i)
	if !l.wrote {
		l.wrote = true
		for _, r := range c.cmd(i).Redirs {
			if r.Writes() {
				l.writes = append(l.writes, c.with(i, c.targets(r.Target, c.cmd(i).Dir), c.ends)...)
			}
		}
		l.writes = append(l.writes, c.written(i)...)
	}
	return l.writes
}

// with adds to some targets where links make them lead, as at tells: led or ends.
func (c *ctx) with(i int, list []target, at func(target) []target) []target {
	if c.cmd(i).Place > shell.Root || c.facts.Resolve == nil && !c.prog.Links() {
		return list
	}
	out := slices.Clip(list)
	for _, t := range list {
		out = append(out, at(t)...)
	}
	return out
}

// written returns what the program of command i writes to by itself.
func (c *ctx) written(i int) []target {
	list := c.named(i)
	if _, ok := c.opt(i, "--follow-symlinks"); ok {
		return c.with(i, list, c.ends)
	}
	switch c.name(i) {
	case "mv", "install", "ln", "link", "rsync", "sed", "perl", "ruby": // what bears the name is replaced: a link, not what it leads to
		return c.with(i, list, c.led)
	default:
		return c.with(i, list, c.ends)
	}
}

// named returns what the program of command i writes to by itself, as it is named.
func (c *ctx) named(i int) []target {
	dir := c.cmd(i).Dir
	switch c.name(i) {
	case "tee", "truncate", "touch", "sponge", "shred", "ed", "ex", "patch":
		return c.operandTargets(i)
	case "cp", "mv", "install", "ln", "rsync", "scp", "link":
		return c.copied(i)
	case "dd":
		for _, w := range c.args(i)[1:] {
			if strings.HasPrefix(w.Text, "of=") {
				return c.targets(w.Slice(3), dir)
			}
		}
	case "sed":
		if _, ok := c.opt(i, "-i", "--in-place", "-I"); ok {
			return c.edited(i)
		}
	case "perl", "ruby":
		if inPlace(c.args(i)) {
			return c.operandTargets(i)
		}
	case "sort":
		return c.valued(i, "-o", "--output")
	case "curl":
		return c.valued(i, "-o", "--output", "-c", "--cookie-jar", "-D", "--dump-header")
	case "wget":
		return c.valued(i, "-O", "--output-document", "-o", "--output-file", "-a", "--append-output")
	}
	return nil
}

// valued returns the paths that options are given as values.
func (c *ctx) valued(i int, names ...string) []target {
	var out []target
	for _, o := range c.line(i).opts {
		if o.has && o.is(names...) {
			out = append(out, c.targets(o.value, c.cmd(i).Dir)...)
		}
	}
	return out
}

// copied returns where cp, mv and their like put files: the last operand, or the directory named by -t, and the names
// the files get inside it.
func (c *ctx) copied(i int) []target {
	files := c.operands(i)
	var to shell.Word
	if o, ok := c.opt(i, "-t", "--target-directory"); ok && o.has && c.name(i) != "rsync" {
		to = o.value
	} else if len(files) > 1 {
		to, files = files[len(files)-1], files[:len(files)-1]
	} else {
		return nil
	}
	dir := c.cmd(i).Dir
	out := c.targets(to, dir)
	if len(files) == 1 && !c.isFolder(to, out) && !c.leadsOn(out, files[0], dir) {
		return out
	}
	for _, f := range files {
		name := f
		if n := strings.LastIndexByte(strings.TrimRight(f.Text, "/"), '/'); n >= 0 {
			name = f.Slice(n + 1)
		} else if n := strings.LastIndexByte(f.Text, ':'); n >= 0 && (c.name(i) == "scp" || c.name(i) == "rsync") {
			name = f.Slice(n + 1)
		}
		in := to
		in.Text = strings.TrimRight(to.Text, "/") + "/" + name.Text
		in.Holes = append(to.Holes[:len(to.Holes):len(to.Holes)], name.Holes...)
		out = append(out, c.targets(in, dir)...)
	}
	return out
}

// leadsOn tells whether a link leads from one of some targets elsewhere, perhaps to a folder. One to the source is what the command
// itself makes.
func (c *ctx) leadsOn(list []target, source, dir shell.Word) bool {
	for _, t := range list {
		for _, to := range c.ends(t) {
			beside := shell.Clean(t.path+"/..", source.Text)
			if to.path != beside && !slices.ContainsFunc(c.targets(source, dir), func(from target) bool { return from.path == to.path }) {
				return true
			}
		}
	}
	return false
}

// isFolder tells whether a word names a folder for sure.
func (c *ctx) isFolder(w shell.Word, list []target) bool {
	if t := w.Text; strings.HasSuffix(t, "/") || strings.HasSuffix(t, "/.") || t == "." || t == ".." {
		return true
	}
	for _, t := range list {
		if t.path == c.home() || t.path == c.hermesHome() {
			return true
		}
	}
	return false
}

// edited returns the files sed edits: its operands without the script.
func (c *ctx) edited(i int) []target {
	if _, ok := c.opt(i, "-e", "--expression", "-f", "--file"); ok {
		return c.operandTargets(i)
	}
	l := c.line(i)
	if len(l.operands) == 0 {
		return nil
	}
	first := at(c.args(i)[l.operands[0]])
	list := c.operandTargets(i)
	for k, t := range list {
		if t.where != first {
			return list[k:]
		}
	}
	// A single operand, or words from one expansion that share a span: treat it as a file. A script is no path that matters.
	return list
}

// inPlace tells whether perl or ruby is told to edit files in place.
func inPlace(args []shell.Word) bool {
	for _, w := range args[1:] {
		t := w.Text
		if len(t) < 2 || t[0] != '-' || t[1] == '-' {
			if t == "--" {
				return false
			}
			continue
		}
		for k := 1; k < len(t); k++ {
			switch t[k] {
			case 'i':
				return true
			case 'e', 'E', 'I', 'M', 'm', 'r', 'x', 'C', 'F', 'D', 'd':
				k = len(t)
			}
		}
	}
	return false
}

// narrow tells whether the tests of a find command leave out most files.
func narrow(args []shell.Word) bool {
	for _, w := range args {
		switch w.Text {
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-newer", "-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin",
			"-size", "-user", "-group", "-uid", "-gid", "-nouser", "-nogroup", "-perm", "-inum", "-samefile", "-links", "-lname", "-ilname", "-empty",
			"-newermt", "-newerct", "-used":
			return true
		}
	}
	return false
}
