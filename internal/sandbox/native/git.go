package native

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// How far the work tree is searched for repositories below it.
const (
	gitDepth   = 6
	gitEntries = 20000
)

// Agent control files: what tells agents and editors which programs to start.
var controlFiles = [...]string{
	".hermes", ".claude", ".codex", ".gemini", ".cursor", ".windsurf", ".continue", ".aider.conf.yml", ".mcp.json", ".envrc",
	".vscode/settings.json", ".vscode/tasks.json", ".vscode/launch.json", ".vscode/mcp.json", ".idea", ".devcontainer",
}

// guarded is what of a work tree is not the commands' to write.
type guarded struct {
	paths   []string // exist, and are to be shown read-only
	links   []string // hooks that are symbolic links, where they point to
	partial bool     // the tree is too large to be searched to its end
}

// guard finds git's own files and the agents' in a work tree. It makes an empty hooks directory where a repository has none,
// as git does itself, because what is not there cannot be held.
func guard(tree string) (g guarded) {
	there := map[string]bool{}
	entries, err := os.ReadDir(tree)
	for _, e := range entries {
		there[e.Name()] = true
	}
	for _, name := range controlFiles {
		if first, _, _ := strings.Cut(name, "/"); err == nil && !there[first] {
			continue
		}
		path := filepath.Join(tree, name)
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink == 0 {
			g.paths = append(g.paths, path)
		}
	}
	left := gitEntries
	g.search(tree, gitDepth, &left)
	return g
}

// Directories that hold many files and no repositories of the owner's.
func crowded(name string) bool {
	switch name {
	case "node_modules", ".venv", "venv", "__pycache__", "target", ".cache", ".tox", ".gradle", "site-packages", ".terraform":
		return true
	}
	return false
}

func (g *guarded) search(dir string, depth int, left *int) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if *left--; *left < 0 {
			g.partial = true
			return
		}
		path := filepath.Join(dir, e.Name())
		switch {
		case e.Name() == ".git" && e.IsDir():
			g.repository(path)
		case e.Name() == ".git" && e.Type().IsRegular(): // says where the repository is
			g.paths = append(g.paths, path)
		case e.IsDir() && !crowded(e.Name()):
			if depth == 0 {
				g.partial = true
				continue
			}
			g.search(path, depth-1, left)
		}
	}
}

// repository guards one git directory and those of its submodules.
func (g *guarded) repository(git string) {
	if _, err := os.Lstat(filepath.Join(git, "HEAD")); err != nil {
		return
	}
	hooks := filepath.Join(git, "hooks")
	info, err := os.Lstat(hooks)
	switch {
	case os.IsNotExist(err) && os.Mkdir(hooks, 0o755) == nil:
		g.paths = append(g.paths, hooks)
	case err != nil:
	case info.Mode()&fs.ModeSymlink != 0:
		g.links = append(g.links, hooks)
		if to, err := filepath.EvalSymlinks(hooks); err == nil {
			g.paths = append(g.paths, to)
		}
	default:
		g.paths = append(g.paths, hooks)
	}
	for _, name := range [...]string{"config", "config.worktree", "info/attributes", "commondir"} {
		path := filepath.Join(git, name)
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			g.paths = append(g.paths, path)
		}
	}
	for _, name := range [...]string{"modules", "worktrees"} {
		inner, _ := os.ReadDir(filepath.Join(git, name))
		for _, e := range inner {
			if e.IsDir() {
				g.repository(filepath.Join(git, name, e.Name()))
			}
		}
	}
}

// identity returns a git configuration that says who commits, taken from the owner's, and nothing else: no helper that knows
// passwords, no program to start.
func identity(home string, trees []string) string {
	name, email := "", ""
	for _, file := range [...]string{".config/git/config", ".gitconfig"} {
		text, err := os.ReadFile(filepath.Join(home, file))
		if err != nil || len(text) > 1<<20 {
			continue
		}
		n, e := user(string(text))
		if n != "" {
			name = n
		}
		if e != "" {
			email = e
		}
	}
	var out strings.Builder
	if name != "" || email != "" {
		out.WriteString("[user]\n")
	}
	if name != "" {
		out.WriteString("\tname = " + quote(name) + "\n")
	}
	if email != "" {
		out.WriteString("\temail = " + quote(email) + "\n")
	}
	out.WriteString("[safe]\n")
	for _, tree := range trees {
		out.WriteString("\tdirectory = " + quote(tree) + "\n")
	}
	return out.String()
}

// user reads name and email of the section user.
func user(text string) (name, email string) {
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "["); ok {
			section, _, _ = strings.Cut(rest, "]")
			section = strings.ToLower(strings.TrimSpace(section))
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || section != "user" {
			continue
		}
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "name":
			name = value
		case "email":
			email = value
		}
	}
	return name, email
}

// quote writes a value of git's configuration.
func quote(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' {
			return -1
		}
		return r
	}, s)
	return `"` + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), `"`, `\"`) + `"`
}
