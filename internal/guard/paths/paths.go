// Package paths decides which files tools may read, write and remove.
//
// It opens nothing and resolves no link: where a name really leads is an argument, found by whoever opens the file (see
// workspace). It does not judge commands (see guard/command), and is no boundary against them: that is what sandboxes are.
//
// Failure direction: refuse. A nil policy, an unknown access and a path that is not absolute are refused.
package paths

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"hermes/internal/guard"
)

// Access is what is to be done to a file. The zero value is refused.
type Access uint8

// The accesses.
const (
	Unknown Access = iota
	Read
	Write  // create, change, or put another file in its place
	Remove // delete or rename: the entry itself counts, not what it points to
)

// Config is what a policy is made of. All paths are absolute; one that is reached over links stands both ways.
type Config struct {
	Homes     []string // every home: the process's, the account's, that of commands
	Hermes    []string // Hermes' homes: the root of its profiles, and Own
	Own       string   // the home of the profile that asks; with the root itself, every other profile is somebody else's
	SafeRoots []string // HERMES_WRITE_SAFE_ROOT; empty: no bound
	Runtime   []string // Hermes' own program and what it is made of
	Teachers  bool     // security.protected_instruction_files: files that instruct agents ask each time
	FoldCase  bool     // names that differ only in case are the same file
}

// Policy says what may be done. It never changes and is safe for concurrent use.
type Policy struct {
	c     Config
	trees map[base][]string
}

// New makes a policy.
func New(c Config) *Policy {
	p := &Policy{c: c}
	clean := func(list []string) (out []string) {
		for _, s := range list {
			if s = p.key(s); path.IsAbs(s) && !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
		return out
	}
	p.trees = map[base][]string{system: {"/"}, home: clean(c.Homes), hermes: clean(c.Hermes), runtime: clean(c.Runtime)}
	p.c.SafeRoots = clean(c.SafeRoots)
	p.c.Own = p.key(c.Own)
	return p
}

// key is the form in which paths are compared.
func (p *Policy) key(s string) string {
	s = path.Clean(slashed(s))
	if p.c.FoldCase {
		s = strings.ToLower(s)
	}
	return s
}

// slashed turns a path of Windows into one with slashes.
func slashed(s string) string {
	if len(s) > 1 && (s[1] == ':' || s[0] == '\\') {
		s = strings.ReplaceAll(s, `\`, "/")
		if s[1] == ':' {
			s = "/" + s
		}
	}
	return s
}

// Subject is a file as a tool names it and as it was found.
type Subject struct {
	Access Access
	Raw    string   // as it was asked for
	Path   string   // absolute, against the session's directory
	Real   []string // where it lies with links resolved, and any other name it is known to have
	Cross  bool     // the caller said cross_profile: true
}

// Check judges an access. A file that has several names is judged by all of them; the strictest counts.
func (p *Policy) Check(s Subject) guard.Verdict {
	switch {
	case p == nil:
		return guard.Verdict{Reason: "no policy for files is in force"}
	case s.Access == Unknown || s.Access > Remove:
		return guard.Verdict{Reason: "unknown access to a file"}
	}
	if namespace(s.Raw) || namespace(s.Path) {
		return refusal("windows-namespace", fmt.Sprintf("%s denied: '%s' uses a Windows NT/device namespace prefix", verb(s.Access), s.Raw))
	}
	out := guard.Allowed()
	for _, name := range append([]string{s.Path}, s.Real...) {
		v := p.one(s, name)
		if v.Action == guard.Block {
			return v
		}
		if v.Action == guard.Ask && (out.Action == guard.Allow || v.Sticky && !out.Sticky) {
			out = v
		}
	}
	return out
}

func verb(a Access) string {
	switch a {
	case Read:
		return "Read"
	case Remove:
		return "Remove"
	}
	return "Write"
}

// refusal is a verdict that no mode lifts.
func refusal(rule, reason string) guard.Verdict {
	return guard.Verdict{Tier: guard.Files, Rule: "path/" + rule, Reason: reason, Harms: guard.Host}
}

// one judges one name of a file.
func (p *Policy) one(s Subject, name string) guard.Verdict {
	key := p.key(name)
	if !path.IsAbs(key) || strings.ContainsRune(name, 0) {
		return refusal("relative", fmt.Sprintf("%s denied: '%s' is not an absolute path", verb(s.Access), name))
	}
	out := guard.Allowed()
	for i := range table {
		r := &table[i]
		if !r.access.has(s.Access) || !p.matches(r, key) || r.soft && s.Cross {
			continue
		}
		if !r.ask {
			return refusal(r.key, r.message(s))
		}
		if r.teacher && !p.c.Teachers {
			continue
		}
		if out.Action == guard.Allow {
			out = guard.Verdict{
				Action: guard.Ask, Tier: guard.Files, Rule: "path/" + r.key, Reason: r.message(s), Sticky: r.teacher,
				// People, their git and other agents read what is in a work tree: only where that is a sandbox's own it harms nobody.
				Harms: guard.Host | guard.Work,
			}
		}
	}
	if s.Access != Read && len(p.c.SafeRoots) > 0 && !slices.ContainsFunc(p.c.SafeRoots, func(root string) bool { return within(key, root) }) {
		return refusal("safe-root", fmt.Sprintf("%s denied: '%s' is outside HERMES_WRITE_SAFE_ROOT (%s). Unset the variable or add this path's "+
			"directory prefix.", verb(s.Access), s.shown(), strings.Join(p.c.SafeRoots, ", ")))
	}
	return out
}

// shown is the name a message uses: the caller's own.
func (s Subject) shown() string {
	if s.Raw != "" {
		return s.Raw
	}
	return s.Path
}

// matches tells whether a row is about a path.
func (p *Policy) matches(r *row, key string) bool {
	fold := func(s string) string {
		if p.c.FoldCase {
			return strings.ToLower(s)
		}
		return s
	}
	if r.base == anywhere {
		return r.named(key)
	}
	for _, root := range p.trees[r.base] {
		rest, ok := below(key, root)
		if !ok || r.soft && root != p.c.Own && within(key, p.c.Own) {
			continue
		}
		if slices.ContainsFunc(r.but, func(pattern string) bool { return matchPath(fold(pattern), rest) }) {
			continue
		}
		if slices.ContainsFunc(r.paths, func(pattern string) bool { return matchPath(fold(pattern), rest) }) {
			return true
		}
	}
	return false
}

// below returns what remains of a path below a directory, "" for the directory itself.
func below(key, root string) (string, bool) {
	if key == root {
		return "", true
	}
	if root != "/" {
		root += "/"
	}
	return strings.CutPrefix(key, root)
}

func within(key, root string) bool {
	_, ok := below(key, root)
	return ok
}

// matchPath matches a path with a pattern: parts as of path.Match; a "/**" at the end takes the directory and all below it.
func matchPath(pattern, rest string) bool {
	tree, ok := strings.CutSuffix(pattern, "/**")
	if pattern == "**" {
		return true
	}
	want, have := strings.Split(tree, "/"), strings.Split(rest, "/")
	if ok {
		if len(have) < len(want) {
			return false
		}
		have = have[:len(want)]
	}
	if len(have) != len(want) {
		return false
	}
	for i := range want {
		if match, err := path.Match(want[i], have[i]); err != nil || !match {
			return false
		}
	}
	return true
}

// namespace tells whether a raw path goes around the file system's names on Windows.
func namespace(raw string) bool {
	s := strings.ToLower(strings.ReplaceAll(raw, "/", `\`))
	for _, prefix := range [...]string{`\??\`, `\\.\`, `\\?\unc\`, `\\?\globalroot`} {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}

// Expand makes a path absolute, as the file tools do: ~ and ~name are homes, the rest is against a directory. account tells
// the home of another account; nil or "" leaves the path unknown, which is an error.
func Expand(raw, dir, ownHome string, account func(name string) string) (string, error) {
	s := slashed(raw)
	if rest, ok := strings.CutPrefix(s, "~"); ok {
		name, tail, _ := strings.Cut(rest, "/")
		at := ownHome
		if name != "" {
			at = ""
			if account != nil {
				at = account(name)
			}
		}
		if at == "" {
			return "", fmt.Errorf("expand %q: the home of %q is not known", raw, name)
		}
		return path.Clean(slashed(at) + "/" + tail), nil
	}
	if raw == "" {
		return "", fmt.Errorf("expand %q: the path is empty", raw)
	}
	if !path.IsAbs(s) {
		if !path.IsAbs(slashed(dir)) {
			return "", fmt.Errorf("expand %q: there is no absolute directory to start from", raw)
		}
		s = slashed(dir) + "/" + s
	}
	return path.Clean(s), nil
}

// Folded returns the same policy for where names that differ only in case are one.
func (p *Policy) Folded() *Policy {
	if p == nil || p.c.FoldCase {
		return p
	}
	c := p.c
	c.Homes, c.Hermes, c.Runtime, c.FoldCase = p.trees[home], p.trees[hermes], p.trees[runtime], true
	return New(c)
}

// Guarded returns the places that an access is refused at or asked about, as absolute patterns with slashes: parts as of
// path.Match, "/**" at the end for the directory and all below it. Whoever opens a file compares it with what is there: a
// file may have another name. Rows about names that may lie anywhere are left out, and so are /proc, /sys, /dev, and what
// only the system's own packages put there.
func (p *Policy) Guarded(a Access) []string {
	if p == nil {
		return nil
	}
	var out []string
	for i := range table {
		r := &table[i]
		if !r.access.has(a) || r.base == anywhere || r.soft {
			continue
		}
		for _, root := range p.trees[r.base] {
			for _, pattern := range r.paths {
				top, _, _ := strings.Cut(pattern, "/")
				if r.base == system && slices.Contains([]string{"proc", "sys", "dev", "boot", "lib", "usr"}, top) {
					continue
				}
				out = append(out, strings.TrimSuffix(root, "/")+"/"+pattern)
			}
		}
	}
	return out
}
