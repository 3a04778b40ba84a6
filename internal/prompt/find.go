package prompt

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"hermes/internal/workspace"
)

const (
	maxUp    = 64 // directories that are gone up
	maxRules = 64 // files of .cursor/rules
	slowest  = 3  // times Wait that all files together may take
)

// source is a file that was found, as it was read.
type source struct {
	name  string // as the model is told it
	asked string // the path it was read by
	real  string
	text  string
	err   error
}

// finder looks for the files that describe a project. Only kinds that are not there let the next kind count.
type finder struct {
	files Files
	read  func(ctx context.Context, full string) (*workspace.File, error)
	dir   string
	root  string // of the repository; dir where there is none
	warn  string // why files above dir do not count
}

// find returns the files of the first kind that there is.
func (f *finder) find(ctx context.Context) []source {
	chain := f.chain(ctx)
	var bad []source
	for _, kind := range [...]func(context.Context, []string) []source{f.nearest, f.each, f.claude, f.cursor} {
		found := kind(ctx, chain)
		if slices.ContainsFunc(found, func(s source) bool { return s.err == nil }) {
			return append(bad, found...)
		}
		bad = append(bad, found...)
	}
	return bad
}

// chain is the directories from the root of the repository down to the one of the conversation.
func (f *finder) chain(ctx context.Context) []string {
	f.root = f.dir
	var up []string
	for d := f.dir; len(up) < maxUp; d = path.Dir(d) {
		up = append(up, d)
		if _, err := f.read(ctx, path.Join(d, ".git")); err == nil || errors.Is(err, workspace.ErrFolder) {
			if d != f.dir && f.shared(ctx, d) {
				f.warn = d + " is a repository in a directory that anybody may write to: files above " + f.dir + " were not read"
				break
			}
			f.root = d
			slices.Reverse(up)
			return up
		}
		if d == path.Dir(d) || ctx.Err() != nil {
			break
		}
	}
	return []string{f.dir}
}

// shared tells whether a directory is one in which everybody puts files, as the one for temporary files: a file there may be from
// anybody on the machine.
func (f *finder) shared(ctx context.Context, dir string) bool {
	up := path.Dir(dir)
	if up == dir {
		return false
	}
	list, err := f.files.List(ctx, workspace.Name{Path: up, Dir: up})
	if err != nil {
		return false
	}
	i := slices.IndexFunc(list, func(info fs.FileInfo) bool { return info.Name() == path.Base(dir) })
	return i >= 0 && list[i].Mode()&fs.ModeSticky != 0 && list[i].Mode().Perm()&0o002 != 0
}

// first returns the first of some names in a directory that is there and not empty, and those before it that could not be read.
func (f *finder) first(ctx context.Context, dir string, names ...string) (found []source, ok bool) {
	for _, name := range names {
		s := f.one(ctx, path.Join(dir, name))
		switch {
		case s == nil:
		case s.err != nil:
			found = append(found, *s)
		default:
			return append(found, *s), true
		}
	}
	return found, false
}

// one reads a file; nil means that there is none, or nothing in it.
func (f *finder) one(ctx context.Context, full string) *source {
	s := &source{name: f.label(full), asked: full}
	file, err := f.read(ctx, full)
	switch {
	case err == nil:
		s.text, s.real = file.Text, file.Path
		if strings.TrimSpace(s.text) == "" {
			return nil
		}
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, workspace.ErrFolder):
		return nil
	default:
		s.err = err
	}
	return s
}

// label is a path as the model is told it: from the root of the repository.
func (f *finder) label(full string) string {
	if rest, ok := strings.CutPrefix(full, strings.TrimSuffix(f.root, "/")+"/"); ok {
		return rest
	}
	return full
}

// nearest looks for Hermes' own file, upwards.
func (f *finder) nearest(ctx context.Context, chain []string) []source {
	var all []source
	for _, dir := range slices.Backward(chain) {
		found, ok := f.first(ctx, dir, ".hermes.md", "HERMES.md")
		if all = append(all, found...); ok {
			last := &all[len(all)-1]
			last.text = matter(last.text)
			return all
		}
	}
	return all
}

// each takes one AGENTS.md of every directory, the root's first, and the same text once.
func (f *finder) each(ctx context.Context, chain []string) []source {
	var all []source
	seen := map[string]bool{}
	for _, dir := range chain {
		found, ok := f.first(ctx, dir, "AGENTS.override.md", "AGENTS.md", "agents.md")
		if ok {
			last := &found[len(found)-1]
			if text := strings.TrimSpace(last.text); seen[text] {
				last.err = errors.New("the same text as another file above")
			} else {
				seen[text] = true
			}
		}
		all = append(all, found...)
	}
	return all
}

func (f *finder) claude(ctx context.Context, _ []string) []source {
	found, _ := f.first(ctx, f.dir, "CLAUDE.md", "claude.md")
	return found
}

// cursor takes the rules of an editor, by name.
func (f *finder) cursor(ctx context.Context, _ []string) []source {
	found, _ := f.first(ctx, f.dir, ".cursorrules")
	rules := path.Join(f.dir, ".cursor/rules")
	list, err := f.files.List(ctx, workspace.Name{Path: rules, Dir: f.dir})
	if err != nil {
		return found
	}
	var names []string
	for _, info := range list {
		if !info.IsDir() && strings.HasSuffix(info.Name(), ".mdc") {
			names = append(names, info.Name())
		}
	}
	slices.Sort(names)
	for n, name := range names {
		if n == maxRules {
			break
		}
		if s := f.one(ctx, path.Join(rules, name)); s != nil {
			found = append(found, *s)
		}
	}
	return found
}

// matter takes the front matter off a file: settings between two lines of dashes.
func matter(text string) string {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(text, "\ufeff"), "---\n")
	if !ok {
		return text
	}
	if _, body, ok := strings.Cut("\n"+rest, "\n---\n"); ok {
		return strings.TrimLeft(body, "\n")
	}
	return text
}

// timed reads a file, and gives up on one that does not come: a directory on a network that hangs must not hold a conversation.
func (p *Prompt) timed(ctx context.Context, full string) (*workspace.File, error) {
	return wait(ctx, p.o.Wait, func(ctx context.Context) (*workspace.File, error) {
		return p.o.Files.Read(ctx, workspace.Name{Path: filepath.FromSlash(full), Dir: p.o.Dir})
	})
}
