package workspace

import (
	"path"
	"strings"
)

// ignores are the patterns of one ignore file, as git reads them.
type ignores struct {
	dir   string // which the patterns are relative to, from where the walk began; "" for that
	up    string // leads from a directory above the walk to where it began: "a/b/"
	rules []ignore
	above *ignores
}

type ignore struct {
	parts    []string // of a pattern, cut at slashes
	negated  bool
	dirsOnly bool
	anchored bool
}

// parseIgnores reads an ignore file. What git would not understand matches nothing.
func parseIgnores(text, dir string, above *ignores) *ignores {
	out := &ignores{dir: dir, above: above}
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line = strings.TrimRight(line, "\r\n")
		for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
			line = line[:len(line)-1]
		}
		var one ignore
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		if rest, ok := strings.CutPrefix(line, "!"); ok {
			one.negated, line = true, rest
		}
		if rest, ok := strings.CutSuffix(line, "/"); ok {
			one.dirsOnly, line = true, rest
		}
		one.anchored = strings.Contains(line, "/")
		line = strings.TrimPrefix(line, "/")
		if line == "" {
			continue
		}
		one.parts = strings.Split(strings.ReplaceAll(line, "[!", "[^"), "/")
		out.rules = append(out.rules, one)
	}
	return out
}

// ignored tells whether a path is ignored: the last matching pattern of the nearest file that has one decides. What lies in
// an ignored directory is, too; who walks does not go there.
func (g *ignores) ignored(name string, isDir bool) bool {
	for ; g != nil; g = g.above {
		rel, ok := g.up+name, true
		if g.dir != "" {
			rel, ok = strings.CutPrefix(name, g.dir+"/")
		}
		if !ok {
			continue
		}
		parts := strings.Split(rel, "/")
		for i := len(g.rules) - 1; i >= 0; i-- {
			r := &g.rules[i]
			if r.dirsOnly && !isDir {
				continue
			}
			if r.anchored && matchParts(r.parts, parts) || !r.anchored && matchPart(r.parts[0], path.Base(rel)) {
				return !r.negated
			}
		}
	}
	return false
}

// matchParts matches the parts of a path; "**" stands for any number of them, at the end for at least one.
func matchParts(want, have []string) bool {
	// Positions of want that can be reached with what was read of have.
	at := make([]bool, len(want)+1)
	spread := func() {
		for i, part := range want {
			if at[i] && part == "**" && i < len(want)-1 {
				at[i+1] = true
			}
		}
	}
	at[0] = true
	spread()
	for _, name := range have {
		next := make([]bool, len(want)+1)
		for i, part := range want {
			switch {
			case !at[i]:
			case part == "**":
				next[i] = true
				if i == len(want)-1 {
					next[i+1] = true
				}
			case matchPart(part, name):
				next[i+1] = true
			}
		}
		at = next
		spread()
	}
	return at[len(want)]
}

func matchPart(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}
