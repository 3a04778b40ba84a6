package shell

import (
	"encoding/json"
	"slices"
	"strings"

	"hermes/internal/shell/code"
)

// projectFiles returns what a command runs out of files whose text is known: the script it names by path, the recipes of a
// makefile's targets, the scripts of a package.json. Files are facts, or what the text itself has written.
func (e *eval) projectFiles(sc *scope, c *Command) []handoff {
	if e.opt.File == nil && len(e.made.files) == 0 || c.Place >= Container || len(c.Args) == 0 {
		return nil
	}
	if p := c.Args[0]; strings.Contains(p.Text, "/") && p.Known() {
		if f := e.read(sc, fromWord(p)); f.known() && f.s != "" && !binary(f.s) || e.remade(f) {
			return []handoff{{how: "file", file: &p, args: c.Args, dialect: Bash, feeds: true}}
		}
		return nil
	}
	switch c.Name {
	case "make", "gmake":
		return e.makefile(sc, c)
	case "npm", "pnpm", "yarn", "bun":
		return e.packageScripts(sc, c)
	}
	return nil
}

// fact returns the text of a file that a command finds by its name. One that the text makes, and of which it is not known what it
// holds then, is noted.
func (e *eval) fact(sc *scope, c *Command, names ...string) (string, bool) {
	for _, name := range names {
		f := e.read(sc, known(name))
		if f.known() && f.s != "" {
			return f.s, true
		}
		if e.remade(f) {
			e.note(DynamicCode, name, slices.IndexFunc(e.prog.Commands, func(d Command) bool { return d.Start == c.Start && d.End == c.End && d.Name == c.Name }), c.Start, c.End)
			return "", false
		}
	}
	return "", false
}

// remade tells whether a file holds what a command of the text makes of it, and that is not known.
func (e *eval) remade(f fragment) bool { return !f.known() && len(f.from) > 0 }

// makefile follows the targets that make is asked for and what they depend on.
func (e *eval) makefile(sc *scope, c *Command) []handoff {
	names := []string{"GNUmakefile", "makefile", "Makefile"}
	var targets []string
	inner := sc
	for k := 1; k < len(c.Args); k++ {
		a := c.Args[k]
		switch {
		case (a.Text == "-f" || a.Text == "--file" || a.Text == "-C" || a.Text == "--directory") && k+1 < len(c.Args):
			k++
			if strings.HasPrefix(a.Text, "-f") || a.Text == "--file" {
				names = []string{c.Args[k].Text}
			} else {
				inner = sc.fork()
				inner.set(dirKey, value{s: Clean(e.dir(sc).Text, c.Args[k].Text)})
			}
		case a.Text == "-n" || a.Text == "--dry-run" || a.Text == "--just-print":
			return nil
		case strings.HasPrefix(a.Text, "-") || strings.Contains(a.Text, "="):
		default:
			targets = append(targets, a.Text)
		}
	}
	text, ok := e.fact(inner, c, names...)
	if !ok {
		return nil
	}
	w := c.Args[0].Lit(wanted(text, targets))
	return []handoff{{how: "makefile", code: &w, lang: code.Make}}
}

// wanted returns the part of a makefile that the given targets need: variables, and the rules that are reached. With no
// target it is the first rule that counts.
func wanted(text string, targets []string) string {
	type rule struct {
		names, needs []string
		lines        []string
	}
	var head []string
	var rules []*rule
	var cur *rule
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, "\t") && cur != nil:
			cur.lines = append(cur.lines, line)
		case strings.TrimSpace(line) == "" || strings.HasPrefix(strings.TrimSpace(line), "#"):
		default:
			before, after, isRule := strings.Cut(line, ":")
			if !isRule || strings.Contains(before, "=") || strings.HasPrefix(after, "=") || strings.HasPrefix(after, ":=") {
				head = append(head, line)
				cur = nil
				continue
			}
			cur = &rule{names: strings.Fields(before), lines: []string{line}}
			needs, recipe, has := strings.Cut(strings.TrimPrefix(after, ":"), ";")
			cur.needs = strings.Fields(needs)
			if has {
				cur.lines = append(cur.lines, "\t"+recipe)
			}
			rules = append(rules, cur)
		}
	}
	if len(targets) == 0 {
		for _, r := range rules {
			if len(r.names) > 0 && !strings.HasPrefix(r.names[0], ".") {
				targets = []string{r.names[0]}
				break
			}
		}
	}
	out := head
	for done := 0; done < len(targets) && done < 256; done++ {
		for _, r := range rules {
			if !slices.Contains(r.names, targets[done]) && !slices.ContainsFunc(r.names, func(n string) bool { return strings.Contains(n, "%") }) {
				continue
			}
			if len(r.lines) == 0 {
				continue
			}
			out = append(out, r.lines...)
			r.lines = nil
			for _, n := range r.needs {
				if !slices.Contains(targets, n) {
					targets = append(targets, n)
				}
			}
		}
	}
	return strings.Join(out, "\n") + "\n"
}

// packageScripts follows npm run and its relatives into package.json.
func (e *eval) packageScripts(sc *scope, c *Command) []handoff {
	name := ""
	for k, a := range c.Args[1:] {
		if strings.HasPrefix(a.Text, "-") {
			continue
		}
		switch a.Text {
		case "run", "run-script", "rum", "urn":
			if k+2 < len(c.Args) {
				name = c.Args[k+2].Text
			}
		case "test", "t", "tst":
			name = "test"
		case "start", "stop", "restart":
			name = a.Text
		case "install", "i", "ci", "add":
			name = "install"
		default:
			if c.Name != "npm" {
				name = a.Text
			}
		}
		break
	}
	text, ok := e.fact(sc, c, "package.json")
	if name == "" || !ok {
		return nil
	}
	var pkg struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal([]byte(text), &pkg) != nil {
		return nil
	}
	names := []string{"pre" + name, name, "post" + name}
	if name == "install" {
		names = append(names, "prepare")
	}
	var hs []handoff
	for _, n := range names {
		if s, ok := pkg.Scripts[n]; ok {
			w := c.Args[0].Lit(s)
			hs = append(hs, handoff{how: "package.json " + n, text: &w, dialect: POSIX})
		}
	}
	return hs
}
