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

// More files that agents take orders from or that git starts with. Commands may write them, as a person's editor may; when they
// make one that was not there, that is told.
var orders = [...]string{"AGENTS.md", "CLAUDE.md", "GEMINI.md", "SOUL.md", ".cursorrules", ".windsurfrules", ".github/copilot-instructions.md", ".git"}

// guarded is what of a work tree is not the commands' to write.
type guarded struct {
	paths   []string // exist, and are to be shown read-only
	repos   []string // git directories: mounts of their own, so that none can be moved away and another put in its place
	absent  []string // would lead git elsewhere, are not there, and must not appear
	made    []string // control files that are not there
	common  string   // the repository of a work tree that is one of several; it is elsewhere
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
		path := filepath.Join(tree, name)
		if first, _, _ := strings.Cut(name, "/"); err == nil && !there[first] {
			g.made = append(g.made, path)
			continue
		}
		switch info, err := os.Lstat(path); {
		case err != nil:
			g.made = append(g.made, path)
		case info.Mode()&fs.ModeSymlink == 0:
			g.paths = append(g.paths, path)
		}
	}
	for _, name := range orders {
		path := filepath.Join(tree, name)
		if first, _, _ := strings.Cut(name, "/"); err == nil && !there[first] {
			g.made = append(g.made, path)
		} else if _, err := os.Lstat(path); err != nil {
			g.made = append(g.made, path)
		}
	}
	if common := worktree(tree); common != "" {
		g.common = common
		g.repository(common)
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
	g.repos = append(g.repos, git)
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
	for _, name := range [...]string{"config", "config.worktree", "info/attributes", "commondir", "gitdir"} {
		path := filepath.Join(git, name)
		info, err := os.Lstat(path)
		switch {
		case err == nil && info.Mode().IsRegular():
			g.paths = append(g.paths, path)
		case os.IsNotExist(err) && name == "commondir":
			g.absent = append(g.absent, path)
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

// worktree returns the repository that a work tree made by git worktree belongs to, "" if it is no such tree. The tree alone
// does not decide: what it names must be among the work trees of the repository, and name it back.
func worktree(tree string) string {
	own := pointer(filepath.Join(tree, ".git"), "gitdir: ", tree)
	if own == "" {
		return ""
	}
	common := pointer(filepath.Join(own, "commondir"), "", own)
	if common == "" || filepath.Dir(own) != filepath.Join(common, "worktrees") || pointer(filepath.Join(own, "gitdir"), "", own) != filepath.Join(tree, ".git") {
		return ""
	}
	for _, path := range [...]string{own, filepath.Join(common, "HEAD"), filepath.Join(common, "objects")} {
		if real, err := filepath.EvalSymlinks(path); err != nil || real != path {
			return ""
		}
	}
	return common
}

// pointer reads a file that holds a path, relative to dir, after a word.
func pointer(file, word, dir string) string {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 8<<10 {
		return ""
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	path, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), word)
	switch {
	case !ok || path == "" || strings.ContainsAny(path, "\x00\n"):
		return ""
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
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
