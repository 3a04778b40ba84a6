package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"hermes/internal/home"
	"hermes/internal/secret"
)

// Store is the settings of one home. It is safe for concurrent use, also by several processes.
type Store struct {
	dir    *home.Dir
	lookup func(string) string

	mu       sync.Mutex
	good     *Snapshot
	err      error // of the last reading
	settings stamp
	env      stamp
}

// New returns the settings of a home. dir may be nil for a home that does not exist: then there are defaults and overrides.
// lookup gives the variables of the process, "" for one that is not set; nil means that those of the process do not count,
// as for a profile that one process serves among others. The caller keeps dir open.
func New(dir *home.Dir, lookup func(string) string) *Store {
	return &Store{dir: dir, lookup: lookup}
}

// stamp is what is remembered of a file to see that it changed.
type stamp struct {
	info fs.FileInfo // nil: it did not exist
	text []byte
	read time.Time
	err  error
}

// racy is how old a change must be for its time to tell it from another one: file systems count in steps of up to two
// seconds.
const racy = 2 * time.Second

// same tells whether a file is what it was, without reading it.
func (s *stamp) same(info fs.FileInfo) bool {
	if s.info == nil || info == nil {
		return s.info == nil && info == nil && !s.read.IsZero() && s.err == nil
	}
	return s.err == nil && os.SameFile(s.info, info) && s.info.Size() == info.Size() && s.info.ModTime().Equal(info.ModTime()) &&
		s.read.Sub(info.ModTime()) > racy
}

// refresh reads a file again if it may have changed, and tells whether it did.
func (s *stamp) refresh(dir *home.Dir, name string) (changed bool) {
	info, err := dir.Stat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		*s = stamp{err: err, read: time.Now()}
		return true
	}
	if s.same(info) {
		return false
	}
	next := stamp{info: info, read: time.Now()}
	if info != nil {
		next.text, next.err = dir.Read(name)
	}
	changed = s.read.IsZero() || next.err != nil || s.err != nil || (s.info == nil) != (next.info == nil) ||
		!bytes.Equal(s.text, next.text)
	*s = next
	return changed
}

// Load returns the settings as they are now; the files are read again if they changed.
//
// If they cannot be used, the error says why, and the snapshot is the last one that was good, nil if there was none. The
// caller goes on with that snapshot and tells the error; without a snapshot it does not go on.
func (s *Store) Load() (*Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir != nil {
		changed := s.settings.refresh(s.dir, File)
		if s.env.refresh(s.dir, EnvFile) || changed {
			s.good, s.err = s.read(s.good)
		}
	} else if s.good == nil {
		s.good, s.err = s.read(nil)
	}
	return s.good, s.err
}

func (s *Store) read(last *Snapshot) (*Snapshot, error) {
	if err := errors.Join(s.settings.err, s.env.err); err != nil {
		return last, err
	}
	next, err := assemble(s.settings.text, s.env.text, s.lookup)
	if err != nil {
		return last, err
	}
	return next, nil
}

func assemble(settings, env []byte, lookup func(string) string) (*Snapshot, error) {
	doc, err := parse(settings)
	pairs, envErr := parseEnv(env)
	var errs Problems
	for _, err := range []error{err, envErr} {
		var p Problems
		if errors.As(err, &p) {
			errs = append(errs, p...)
		}
	}
	if len(errs) > 0 {
		return nil, errs
	}
	next, err := build(doc, pairs, lookup)
	if err != nil {
		return nil, err
	}
	return next, nil
}

// Check says what is wrong with a text that is to become config.yaml, nil if nothing is.
func (s *Store) Check(settings []byte) error {
	_, err := parse(settings)
	return err
}

// lockWait is how long a writer waits for another one.
const lockWait = 10 * time.Second

// rewrite replaces one of the files by what edit makes of it. Others that write wait meanwhile.
func (s *Store) rewrite(ctx context.Context, name string, edit func(old []byte) ([]byte, error)) error {
	if s.dir == nil {
		return fmt.Errorf("write %s: there is no home", name)
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	lock, err := s.dir.Lock(ctx, "config")
	if err != nil {
		return err
	}
	defer lock.Unlock()
	old, err := s.dir.Read(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := edit(old)
	if err != nil || bytes.Equal(text, old) {
		return err
	}
	return s.dir.WriteFile(name, text)
}

// Set gives a setting or a variable its value, in config.yaml or .env, whichever it belongs to. The texts are taken as its
// kind asks: one value, or the items of a list, or NAME=VALUE for a map. It returns the name of the file.
func (s *Store) Set(ctx context.Context, name string, texts ...string) (file string, err error) {
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return "", fmt.Errorf("%s: the value is not text", name)
		}
	}
	if k, ok := Find(name); ok && k.EnvOnly {
		if _, err := oneValue(k, texts); err != nil {
			return "", fmt.Errorf("%s %w", name, err)
		}
		name = k.Env
	}
	if isVariable(name) {
		return EnvFile, s.setVariable(ctx, name, texts)
	}
	k, ok := Find(name)
	switch {
	case !ok:
		return "", Unknown(name)
	case k.Retired != "":
		return "", fmt.Errorf("%s is gone: %s", name, k.Retired)
	}
	value, err := oneValue(k, texts)
	if err != nil {
		return "", fmt.Errorf("%s %w", name, err)
	}
	return File, s.rewrite(ctx, File, func(old []byte) ([]byte, error) {
		if _, err := parse(old); err != nil {
			return nil, err
		}
		text, err := setText(old, strings.Split(name, "."), value)
		if err != nil {
			return nil, fmt.Errorf("set %s: %w", name, err)
		}
		_, err = parse(text)
		return text, err
	})
}

// oneValue reads the texts of a command line.
func oneValue(k Key, texts []string) (any, error) {
	switch {
	case len(texts) == 1:
		text := texts[0]
		if strings.TrimSpace(text) == "" && (k.Kind == Int || k.Kind == Number || k.Kind == Bool || k.Kind == List) {
			return nil, fmt.Errorf("needs a value")
		}
		if k.Kind == Bool || k.Kind == Int || k.Kind == Number {
			text = strings.TrimSpace(text)
		}
		return fromText(k, text)
	case len(texts) == 0:
		return nil, fmt.Errorf("needs a value")
	case k.Kind == List:
		items := []string{}
		for _, text := range texts {
			if strings.TrimSpace(text) == "" {
				return nil, fmt.Errorf("has an empty item")
			}
			items = append(items, text)
		}
		return items, nil
	case k.Kind == Map:
		out := map[string]string{}
		for _, text := range texts {
			one, err := fromText(k, text)
			if err != nil {
				return nil, err
			}
			for name, value := range one.(map[string]string) {
				out[name] = value
			}
		}
		return out, nil
	}
	return nil, fmt.Errorf("takes one value, got %d", len(texts))
}

// isVariable tells a variable's name from a setting's: it has capitals and no dots.
func isVariable(name string) bool {
	return name == strings.ToUpper(name) && !strings.Contains(name, ".") && checkName(name) == nil && name != "" &&
		strings.ContainsFunc(name, func(r rune) bool { return r >= 'A' && r <= 'Z' })
}

// ours are the beginnings of variables that only Hermes reads: a name like that which is not known is a slip.
var ours = []string{"HERMES_", "TERMINAL_", "GATEWAY_", "APPROVALS_"}

func (s *Store) setVariable(ctx context.Context, name string, texts []string) error {
	v, known := FindVariable(name)
	if v.Process {
		return fmt.Errorf("%s counts in the environment of the process only, not in %s", name, EnvFile)
	}
	if !known {
		for _, prefix := range ours {
			if strings.HasPrefix(name, prefix) {
				return Unknown(name)
			}
		}
	}
	if len(texts) != 1 || texts[0] == "" {
		return fmt.Errorf("%s takes one value, got %d", name, len(texts))
	}
	if texts[0] == secret.Mask {
		return fmt.Errorf("%s: %s is what a secret is shown as, not a value", name, secret.Mask)
	}
	return s.rewrite(ctx, EnvFile, func(old []byte) ([]byte, error) {
		pairs, err := parseEnv(old)
		if err != nil {
			return nil, err
		}
		text := pairs.set(name, secret.New(texts[0]))
		again, err := parseEnv(text)
		if err != nil {
			return nil, err
		}
		if item, ok := again.lookup(name); !ok || !item.value.EqualText(texts[0]) {
			return nil, fmt.Errorf("set %s: %w", name, ErrShape)
		}
		if _, err := build(&document{}, again, nil); err != nil {
			return nil, err
		}
		return text, nil
	})
}

// Unset removes a setting or a variable from its file, so that its default counts. It returns the name of the file, and
// whether there was something to remove. What is no setting can be removed too, if it stands in the file.
func (s *Store) Unset(ctx context.Context, name string) (file string, was bool, err error) {
	k, known := Find(name)
	if known && k.EnvOnly {
		name = k.Env
	}
	if isVariable(name) {
		return EnvFile, was, s.rewrite(ctx, EnvFile, func(old []byte) ([]byte, error) {
			pairs, err := parseEnv(old)
			if err != nil {
				return nil, err
			}
			if _, was = pairs.lookup(name); !was {
				return old, nil
			}
			return pairs.unset(name), nil
		})
	}
	err = s.rewrite(ctx, File, func(old []byte) ([]byte, error) {
		before, trouble := parse(old)
		if before == nil {
			return nil, trouble // not even YAML
		}
		path := strings.Split(name, ".")
		tree, err := plainTree(before.root)
		if err != nil {
			return nil, err
		}
		if was = has(tree, path); !was {
			return old, nil
		}
		return unsetText(old, path)
	})
	if err == nil && !was && !known {
		err = Unknown(name)
	}
	return File, was, err
}

func has(tree map[string]any, path []string) bool {
	v, ok := tree[path[0]]
	if len(path) == 1 || !ok {
		return ok
	}
	inner, _ := v.(map[string]any)
	return inner != nil && has(inner, path[1:])
}
