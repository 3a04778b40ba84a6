package command

import (
	"path"
	"strings"

	"hermes/internal/shell"
)

// target is a path that a word may name once the shell has expanded it.
type target struct {
	path  string // clean: absolute, "~" or "~/…" when home is not known, or relative to the start directory
	all   bool   // everything inside path, not path itself
	glob  bool   // path holds active glob characters
	maybe bool   // only if unknown pieces turn out empty
	blind bool   // a piece that is not known stands in path as a NUL byte
	there bool   // spelled relative to a directory that the text itself changed to
	loose bool   // nothing is known of how it begins, or of its first element below where the command starts
	alias bool   // spelled through /private, where macOS keeps the real directories
	where span
}

// targets returns the paths that word w of a command may name: as far as it is known, and, when it has pieces that may
// turn out empty, what is left without them.
func (c *ctx) targets(w shell.Word, dir shell.Word) []target {
	var buf [2]target
	out := buf[:0]
	if raw := strings.Trim(w.Raw, `"'`); len(raw) > 3 && windowsPath(raw) && strings.IndexByte(raw, '\\') > 0 {
		return append(out, c.resolve(raw, w, dir)) // a shell for Windows keeps the backslashes
	}
	text, open, vanish := c.fill(w)
	if !open {
		return append(out, c.resolve(text, w, dir))
	}
	t := c.resolve(text, w, dir)
	t.blind = true
	out = append(out, t)
	if vanish {
		empty := strings.ReplaceAll(text, shell.Unknown, "")
		if empty != "" {
			t := c.resolve(empty, w, dir)
			t.maybe = true
			out = append(out, t)
		}
	}
	return out
}

// fill replaces the unknown pieces whose value is a matter of convention. open tells whether unknown pieces remain,
// vanish whether all of them may be empty.
func (c *ctx) fill(w shell.Word) (text string, open, vanish bool) {
	if len(w.Holes) == 0 {
		return w.Text, false, false
	}
	vanish = true
	var b strings.Builder
	n := 0
	for k := 0; k < len(w.Text); k++ {
		if w.Text[k] != 0 {
			b.WriteByte(w.Text[k])
			continue
		}
		h := shell.Hole{Kind: shell.Computed}
		if n < len(w.Holes) {
			h = w.Holes[n]
		}
		n++
		if s := c.usual(h); s != "" {
			b.WriteString(s)
			continue
		}
		b.WriteByte(0)
		open = true
		vanish = vanish && !h.Set && (h.Kind == shell.Variable || h.Kind == shell.Output)
	}
	return b.String(), open, vanish
}

// usual returns the value a well-known variable or command has by convention, or "".
func (c *ctx) usual(h shell.Hole) string {
	switch h.Kind {
	case shell.Variable:
		switch h.Name {
		case "HOME":
			return c.home()
		case "HERMES_HOME":
			return c.hermesHome()
		case "TMPDIR", "TEMP", "TMP", "RUNNER_TEMP", "XDG_RUNTIME_DIR":
			return c.tempDir()
		case "PWD", "GITHUB_WORKSPACE", "CI_PROJECT_DIR":
			return c.start()
		case "XDG_CONFIG_HOME":
			return c.home() + "/.config"
		case "XDG_CACHE_HOME":
			return c.home() + "/.cache"
		case "XDG_DATA_HOME":
			return c.home() + "/.local/share"
		}
	case shell.Output:
		name := strings.TrimSpace(h.Name)
		switch {
		case name == "pwd" || name == "git rev-parse --show-toplevel":
			return c.start()
		}
	}
	return ""
}

func (c *ctx) home() string {
	if c.facts.Home != "" {
		return c.facts.Home
	}
	return "~"
}

func (c *ctx) hermesHome() string {
	if c.facts.HermesHome != "" {
		return c.facts.HermesHome
	}
	return c.home() + "/.hermes"
}

func (c *ctx) tempDir() string {
	if c.facts.TempDir != "" {
		return c.facts.TempDir
	}
	return "/tmp"
}

func (c *ctx) start() string {
	if c.facts.Dir != "" {
		return c.facts.Dir
	}
	return "."
}

// resolve cleans one spelling of a path.
func (c *ctx) resolve(p string, w, dir shell.Word) target {
	t := target{glob: w.Pattern != "", where: at(w)}
	if strings.IndexByte(p, '\\') >= 0 && windowsPath(p) {
		p = strings.ReplaceAll(p, `\`, "/")
	}
	for {
		cut, ok := everything(p, t.glob)
		if !ok {
			break
		}
		p, t.all = cut, true
	}
	t.there = p != "" && p[0] != '/' && p[0] != '~' && !strings.HasPrefix(p, "..") && p != "." && dir.Text != "" && dir.Text != "." && len(dir.Holes) == 0 && dir.Text != c.facts.Dir
	t.loose = strings.HasPrefix(strings.TrimPrefix(p, "./"), "\x00")
	t.path = c.clean(p, dir)
	if p := t.path; strings.HasPrefix(p, "/private/") &&
		(under(p, "/private/etc") || under(p, "/private/var") || under(p, "/private/tmp") || under(p, "/private/home")) {
		t.path, t.alias = p[len("/private"):], true
	}
	return t
}

// everything cuts a last element that stands for all there is in a directory.
func everything(p string, glob bool) (string, bool) {
	n := strings.LastIndexByte(p, '/')
	switch last := p[n+1:]; last {
	case "*", "**":
	case ".*", "?*", "*.*", ".[!.]*", ".??*", "..?*", "[!.]*", "[^.]*", ".[^.]*":
		if !glob {
			return p, false
		}
	default:
		return p, false
	}
	switch n {
	case -1:
		return ".", true
	case 0:
		return "/", true
	}
	return p[:n], true
}

// clean makes p absolute where it can and removes detours.
func (c *ctx) clean(p string, dir shell.Word) string {
	switch {
	case p == "":
		return ""
	case p[0] == '~':
		p = c.tilde(p)
	case p[0] != '/' && !drive(p):
		base, open, _ := c.fill(dir)
		if base == "" {
			base = "."
		}
		if open && base != "." {
			base = shell.Unknown
		}
		if base == "." && c.facts.Dir != "" {
			base = c.facts.Dir
		}
		if base[0] == '~' {
			base = c.tilde(base)
		}
		if base != "." {
			p = base + "/" + p
		}
	}
	if p[0] == '~' {
		return cleanHome(p)
	}
	if tidy(p) {
		return c.fold(p)
	}
	return c.fold(path.Clean(p))
}

// tidy tells whether p is clean already.
func tidy(p string) bool {
	return !strings.Contains(p, "//") && !strings.Contains(p, "/.") && p[0] != '.' && (len(p) == 1 || p[len(p)-1] != '/')
}

// fold undoes spellings of the same place.
func (c *ctx) fold(p string) string {
	for {
		rest, ok := strings.CutPrefix(p, "/proc/self/root")
		if !ok {
			rest, ok = strings.CutPrefix(p, "/proc/1/root")
		}
		if !ok || rest != "" && rest[0] != '/' {
			break
		}
		if p = rest; p == "" {
			p = "/"
		}
	}
	if rest, ok := strings.CutPrefix(p, "/proc/self/cwd"); ok && (rest == "" || rest[0] == '/') {
		p = path.Clean(c.start() + rest)
	}
	return p
}

// tilde expands a leading tilde.
func (c *ctx) tilde(p string) string {
	name, rest, _ := cut(p[1:], '/')
	switch name {
	case "":
		if c.facts.Home == "" {
			return p
		}
		return c.facts.Home + "/" + rest
	case "root":
		return "/root/" + rest
	case "+", "-":
		return c.start() + "/" + rest
	}
	for k := range len(name) {
		if b := name[k]; b != '_' && b != '-' && b != '.' && (b < '0' || b > '9' && b < 'A' || b > 'Z' && b < 'a' || b > 'z') {
			return "./" + p
		}
	}
	return "/home/" + name + "/" + rest
}

// cleanHome removes detours from a path below a home that is not known; one that climbs out lands where homes are.
func cleanHome(p string) string {
	q := path.Clean("/home/~" + p[1:])
	if rest, ok := strings.CutPrefix(q, "/home/~"); ok && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return q
}

func windowsPath(p string) bool { return drive(p) || strings.HasPrefix(p, `\\`) }

func drive(p string) bool {
	return len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') && (p[0]|0x20) >= 'a' && (p[0]|0x20) <= 'z'
}

// under tells whether p is dir or inside it.
func under(p, dir string) bool {
	return strings.HasPrefix(p, dir) && (len(p) == len(dir) || p[len(dir)] == '/' || dir == "/")
}

// inside tells whether p is below dir.
func inside(p, dir string) bool { return under(p, dir) && len(p) > len(dir) }

// base returns the last element of a path.
func base(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }
