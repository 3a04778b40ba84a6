package environ

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// File is a credential file that may be mounted read-only into a sandbox. Only Declare makes one; the zero File is none.
type File struct{ rel string }

// Declare checks an entry of terminal.credential_files or of a skill's required_credential_files: an entry is a text, or has a
// path or a name, of which the path wins. It is relative to the profile's home and stays below it. What Hermes keeps there for
// itself (logins, settings, state, pairings, other profiles) is never a credential file.
func Declare(pathEntry, nameEntry string) (File, error) {
	entry := strings.TrimSpace(pathEntry)
	if entry == "" {
		entry = strings.TrimSpace(nameEntry)
	}
	slashed := strings.ReplaceAll(entry, `\`, "/")
	switch {
	case entry == "":
		return File{}, fmt.Errorf("credential file %q: is empty", entry)
	case !utf8.ValidString(entry) || strings.ContainsFunc(entry, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return File{}, fmt.Errorf("credential file %q: control characters are not allowed", entry)
	case strings.HasPrefix(slashed, "/") || strings.HasPrefix(slashed, "~") || strings.Contains(entry, ":"):
		return File{}, fmt.Errorf("credential file %q: must be relative to the hermes home", entry)
	}
	rel := path.Clean(slashed)
	switch {
	case rel == "." || rel == ".." || strings.HasPrefix(rel, "../"):
		return File{}, fmt.Errorf("credential file %q: leaves the hermes home", entry)
	case ownFile(rel):
		return File{}, fmt.Errorf("credential file %q: is Hermes' own", entry)
	}
	return File{rel}, nil
}

// String returns the path below the home, with slashes; "" for the zero File.
func (f File) String() string { return f.rel }

// IsZero tells whether Declare did not make f.
func (f File) IsZero() bool { return f.rel == "" }

// ownFile tells whether a path below the home is not for sandboxes, with or without regard to capitals.
func ownFile(rel string) bool {
	rel = strings.ToLower(rel)
	first, _, deeper := strings.Cut(rel, "/")
	switch first {
	case "profiles", "pairing", "platforms", "hooks", "cron", "sessions", "audit":
		return true
	}
	base := path.Base(rel)
	switch {
	case base == ".env" || strings.HasPrefix(base, ".env.") || base == ".op.env":
		return true
	case deeper:
		return false
	case base == "auth.json" || base == "config.yaml" || base == "shell-hooks-allowlist.json":
		return true
	}
	return strings.HasPrefix(base, "state.db")
}

// Fact is what somebody saw at a path. The zero Fact is nothing there.
type Fact struct {
	Exists   bool
	Regular  bool   // an ordinary file, after following links
	Dir      bool   // a directory, after following links
	Resolved string // where it really is, all links followed; "" = not known
}

// Mount is one thing to show inside a sandbox, read-only.
type Mount struct {
	Host, Inside string
	// Only lists, for a directory with links in it, the files to copy; the copy is mounted instead. Paths are below Host.
	Only []string
	Copy bool
}

// DefaultBase is where Hermes' home appears inside a container.
const DefaultBase = "/root/.hermes"

// Mount decides whether the file may be mounted now: ask again each time mounts are collected, since it may have been replaced.
// home is the profile's home and realHome the same with all links followed; fact is what is at home joined with the file's path.
func (f File) Mount(home, realHome, base string, fact Fact) (Mount, error) {
	switch {
	case f.IsZero():
		return Mount{}, fmt.Errorf("mount credential file: none was declared")
	case !fact.Exists:
		return Mount{}, fmt.Errorf("mount credential file %s: source not found", f.rel)
	case !fact.Regular:
		return Mount{}, fmt.Errorf("mount credential file %s: is not an ordinary file", f.rel)
	}
	rel, ok := below(realHome, fact.Resolved)
	if !ok {
		return Mount{}, fmt.Errorf("mount credential file %s: a link leads out of the hermes home", f.rel)
	}
	if ownFile(rel) {
		return Mount{}, fmt.Errorf("mount credential file %s: a link leads to %s, which is Hermes' own", f.rel, rel)
	}
	return Mount{Host: join(home, f.rel), Inside: join(base, f.rel)}, nil
}

// below returns the path of name below dir; both are absolute and without links. What is not strictly below is refused.
func below(dir, name string) (string, bool) {
	dir, name = path.Clean(strings.ReplaceAll(dir, `\`, "/")), path.Clean(strings.ReplaceAll(name, `\`, "/"))
	if dir == "." || dir == "/" || name == "." {
		return "", false
	}
	return strings.CutPrefix(name, dir+"/")
}

func join(dir, rel string) string { return strings.TrimRight(dir, "/") + "/" + rel }
