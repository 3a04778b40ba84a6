// Package filesync keeps files on another machine as they are here, and brings back what was changed there: skills, credential
// files, caches. All it needs there is a POSIX shell and tar.
//
// It does not choose what is copied (see guard/environ and app), and opens no connection: a Remote runs its scripts.
//
// Failure direction: refuse. What comes back is never written outside the directory it belongs to, never through a link, never
// larger than the limits; what was guarded here, or changed on both sides, is kept aside and told, and credentials never come
// back at all.
package filesync

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"hermes/internal/home"
)

// Remote runs a POSIX shell script on the other machine. The scripts of this package have no single quote, no "!" and no line
// feed. An exit code other than 0 is an error.
type Remote func(ctx context.Context, script string, in io.Reader, out io.Writer) error

// Kind says what may come back of a tree. The zero Kind is the strictest.
type Kind uint8

// The kinds.
const (
	Given   Kind = iota // goes there and never comes back: credentials
	Guarded             // what was changed there is kept aside, and taken over only if the owner says so: skills, control files
	Shared              // what was changed there comes back, unless it was changed here, too: caches
)

// Tree is a directory here and where it is there.
type Tree struct {
	Dir   string   // here, absolute; one that does not exist is empty
	To    string   // there, below the base, with slashes; empty, for what is Given: the base itself
	Kind  Kind     //
	Files []string // only these, below Dir; nil: all, without links and what is no ordinary file
	Skip  []string // directories that are left out, below Dir
}

// Config says what is kept the same.
type Config struct {
	State string // directory of our own: what was copied, what was kept aside
	Base  string // directory there, below the home; empty: .hermes
	Trees []Tree
	// Accept says which changes of guarded files are taken over; nil: none.
	Accept func(ctx context.Context, changes []string) (accepted []string)
	Limits Limits
	Log    func(string) // what the owner should know; may be nil
}

// Limits bounds what is taken from the other side; 0 is the default.
type Limits struct {
	File  int64 // bytes of one file, 256 MiB
	Total int64 // bytes of all of them, 2 GiB
	Files int   // how many there may be, 50,000
}

func (l Limits) filled() Limits {
	if l.File <= 0 {
		l.File = 256 << 20
	}
	if l.Total <= 0 {
		l.Total = 2 << 30
	}
	if l.Files <= 0 {
		l.Files = 50_000
	}
	return l
}

// manifest is what was copied, as far as it is known to have arrived.
type manifest struct {
	ID    string            `json:"id"` // of this home, there
	Files map[string]record `json:"files"`
	Seen  map[string]string `json:"seen"` // sums of changes there that were kept aside already
}

// record is one file that is there as it was here.
type record struct {
	Sum  string `json:"sum"`
	Size int64  `json:"size"`
	Time int64  `json:"time"` // of the file here, in nanoseconds
	Run  bool   `json:"run,omitempty"`
}

// Sync keeps one set of trees. It is for one connection at a time; between processes it locks itself. Whoever opened it closes it.
type Sync struct {
	conf Config
	dir  *home.Dir
	man  manifest
}

const manifestName = "manifest.json"

// Open opens the state of a set of trees.
func Open(c Config) (*Sync, error) {
	if c.Base == "" {
		c.Base = ".hermes"
	}
	if err := checkBase(c); err != nil {
		return nil, err
	}
	c.Limits = c.Limits.filled()
	dir, err := home.Create(c.State)
	if err != nil {
		return nil, fmt.Errorf("open the state of copied files: %w", err)
	}
	s := &Sync{conf: c, dir: dir}
	s.load()
	return s, nil
}

func checkBase(c Config) error {
	if !fits(c.Base) {
		return fmt.Errorf("copy files to %q: it is no directory below the home", c.Base)
	}
	for _, t := range c.Trees {
		if !fits(t.To) && (t.To != "" || t.Kind != Given) {
			return fmt.Errorf("copy files to %q: it is no directory below %s", t.To, c.Base)
		}
	}
	return nil
}

// fits tells whether a name of ours can stand in a script as it is.
func fits(name string) bool {
	clean, why := checkName(name)
	return why == "" && clean == name && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-") == ""
}

// load reads the manifest. One that cannot be read is none: everything is copied again, and nothing is overwritten by its lack.
func (s *Sync) load() {
	var m manifest
	text, err := s.dir.Read(manifestName)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil || len(m.ID) != 16 || !hexadecimal(m.ID) {
		m = manifest{ID: s.man.ID}
	}
	if m.ID == "" {
		id := make([]byte, 8)
		_, _ = rand.Read(id) // never fails: the runtime ends the process instead
		m.ID = hex.EncodeToString(id)
	}
	if m.Files == nil {
		m.Files = map[string]record{}
	}
	if m.Seen == nil {
		m.Seen = map[string]string{}
	}
	s.man = m
}

func hexadecimal(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil
}

func (s *Sync) save() error {
	text, err := json.Marshal(s.man)
	if err != nil {
		return err
	}
	return s.dir.WriteFile(manifestName, text)
}

// stamp stands for all that is there.
func (s *Sync) stamp() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(s.man.Files)) {
		fmt.Fprintf(h, "%s\x00%s\x00", name, s.man.Files[name].Sum)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Stamp returns the file there, below its home, that holds what Up wants to know.
func (s *Sync) Stamp() string { return s.conf.Base + "/.synced-" + s.man.ID }

// Close lets go of the state.
func (s *Sync) Close() error { return s.dir.Close() }

func (s *Sync) log(text string) {
	if s.conf.Log != nil {
		s.conf.Log(text)
	}
}

// local is a file here.
type local struct {
	tree *Tree
	rel  string // below the tree
	record
}

// collect finds what is here, by its name there. Sums of files that look as they did are not computed again.
func (s *Sync) collect() (map[string]local, error) {
	all := map[string]local{}
	var total int64
	for i := range s.conf.Trees {
		t := &s.conf.Trees[i]
		root, err := os.OpenRoot(t.Dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, fmt.Errorf("copy files: %w", err)
		}
		err = t.walk(root, func(rel string, info fs.FileInfo) error {
			name := path.Join(t.To, rel)
			if _, why := checkName(name); why != "" {
				s.log(fmt.Sprintf("%q is not copied: %s", name, why))
				return nil
			}
			if info.Size() > s.conf.Limits.File || total+info.Size() > s.conf.Limits.Total || len(all) >= s.conf.Limits.Files {
				s.log(fmt.Sprintf("%s is not copied: it is too large, or there is too much", name))
				return nil
			}
			total += info.Size()
			now := record{Size: info.Size(), Time: info.ModTime().UnixNano(), Run: info.Mode().Perm()&0o100 != 0}
			old, ok := s.man.Files[name]
			if now.Sum = old.Sum; !ok || old.Size != now.Size || old.Time != now.Time {
				var err error
				if now.Sum, err = sumOf(root, rel); err != nil {
					s.log(fmt.Sprintf("%s is not copied: %v", name, err))
					return nil
				}
			}
			all[name] = local{t, rel, now}
			return nil
		})
		_ = root.Close()
		if err != nil {
			return nil, fmt.Errorf("copy files: %w", err)
		}
	}
	return all, nil
}

// walk calls f for the ordinary files of a tree. Links are not followed, on no level.
func (t *Tree) walk(root *os.Root, f func(rel string, info fs.FileInfo) error) error {
	if t.Files != nil {
		for _, rel := range t.Files {
			if info, ok := plainFile(root, rel); ok {
				if err := f(rel, info); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return fs.WalkDir(root.FS(), ".", func(rel string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && rel == ".":
			return err
		case err != nil:
			return nil // what cannot be looked into is not there
		case d.IsDir() && slices.Contains(t.Skip, rel):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() {
			return nil
		}
		return f(rel, info)
	})
}

// plainFile tells whether an ordinary file is at a path without links in it.
func plainFile(root *os.Root, rel string) (fs.FileInfo, bool) {
	for dir := path.Dir(rel); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if info, err := root.Lstat(dir); err != nil || !info.IsDir() {
			return nil, false
		}
	}
	info, err := root.Lstat(rel)
	return info, err == nil && info.Mode().IsRegular()
}

func sumOf(root *os.Root, rel string) (string, error) {
	f, err := root.Open(rel)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// lockTime bounds how long another process's copying is waited for.
const lockTime = 2 * time.Minute

func (s *Sync) locked(ctx context.Context, f func() error) error {
	wait, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	lock, err := s.dir.Lock(wait, "sync")
	if err != nil {
		return err
	}
	defer lock.Unlock()
	s.load() // another one may have copied meanwhile
	return f()
}
