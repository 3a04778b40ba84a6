// Package sitelist keeps the site policy of one home up to date: it reads the files that list blocked sites, again when they
// change, and holds on to what was last good.
//
// It understands no rule and matches no host (see guard/egress), and it reads no settings: what they say is an argument.
//
// Failure direction: refuse. A file that cannot be read keeps the rules it last had; one that never could be read refuses every
// site until it can be, or is taken out of the settings. A line that is no rule is left out and told.
package sitelist

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"hermes/internal/guard/egress"
)

// Settings is what the owner has set below security.website_blocklist.
type Settings struct {
	Enabled bool
	Domains []string
	Files   []string // relative to the home, or below ~
}

// List is the site policy of one home. It is safe for concurrent use.
type List struct {
	home, user string
	tell       func(string)

	mu      sync.Mutex
	set     Settings // as they were given
	names   []string // of the files, each once
	domains *egress.Sites
	files   map[string]*file
	sites   *egress.Sites // what is in force
	stale   bool          // sites has to be put together again
}

// New returns the list of a home. user is the folder that ~ stands for. tell hears what the owner should know; nil: nobody.
func New(home, user string, tell func(string)) *List {
	if tell == nil {
		tell = func(string) {}
	}
	return &List{home: home, user: user, tell: tell, files: map[string]*file{}}
}

// Sites returns the policy as the settings and files are now. Files are read again if they changed; while nothing changed the
// value is the same.
func (l *List) Sites(s Settings) *egress.Sites {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sites == nil || s.Enabled != l.set.Enabled || !slices.Equal(s.Domains, l.set.Domains) || !slices.Equal(s.Files, l.set.Files) {
		l.use(s)
	}
	if !s.Enabled {
		return l.sites
	}
	for _, name := range l.names {
		if l.files[name].refresh(l.path(name), name, l.tell) {
			l.stale = true
		}
	}
	if l.stale {
		l.sites, l.stale = l.join(), false
	}
	return l.sites
}

// use takes over other settings. Files that stay keep what was read of them.
func (l *List) use(s Settings) {
	l.set = Settings{s.Enabled, slices.Clone(s.Domains), slices.Clone(s.Files)}
	l.names = nil
	files := map[string]*file{}
	for _, name := range s.Files {
		if name = strings.TrimSpace(name); name == "" || files[name] != nil {
			continue
		}
		l.names = append(l.names, name)
		if files[name] = l.files[name]; files[name] == nil {
			files[name] = &file{}
		}
	}
	b := egress.NewBuilder()
	for _, rule := range s.Domains {
		b.Rule(rule, "config")
	}
	report(b, l.tell)
	l.files, l.domains, l.sites, l.stale = files, b.Sites(), egress.NoSites(), true
}

// join puts the policy together from its parts.
func (l *List) join() *egress.Sites {
	parts := []*egress.Sites{l.domains}
	for _, name := range l.names {
		f := l.files[name]
		if f.sites == nil {
			return egress.BrokenSites(f.err.Error())
		}
		parts = append(parts, f.sites)
	}
	return egress.JoinSites(parts...)
}

func (l *List) path(name string) string {
	switch {
	case name == "~" || strings.HasPrefix(name, "~/"):
		return filepath.Join(l.user, name[1:])
	case filepath.IsAbs(name):
		return name
	}
	return filepath.Join(l.home, name)
}

// file is one shared file.
type file struct {
	info  fs.FileInfo // when it was last read
	read  time.Time
	sum   [sha256.Size]byte // of its text then
	err   error             // of the last reading
	sites *egress.Sites     // what was last good; nil: never
}

// racy is how old a change must be for its time to tell it from another one.
const racy = 2 * time.Second

// refresh reads the file again if it may have changed, and tells whether its rules did.
func (f *file) refresh(path, name string, tell func(string)) (changed bool) {
	info, err := os.Stat(path)
	if err == nil && f.err == nil && f.info != nil && os.SameFile(f.info, info) && f.info.Size() == info.Size() &&
		f.info.ModTime().Equal(info.ModTime()) && f.read.Sub(info.ModTime()) > racy {
		return false
	}
	now := time.Now()
	var b *egress.Builder
	var sum [sha256.Size]byte
	if err == nil {
		b, sum, err = load(path, name)
	}
	if err != nil {
		err = fmt.Errorf("read %s: %w", path, bare(err))
		if f.err == nil || f.err.Error() != err.Error() {
			changed = f.sites == nil
			told := "blocked sites: " + err.Error()
			if f.sites != nil {
				told += "; the rules it last had stay in force"
			}
			tell(told)
		}
		f.err, f.info = err, nil
		return changed
	}
	same := f.sites != nil && f.sum == sum
	f.err, f.info, f.read, f.sum = nil, info, now, sum
	if same {
		return false
	}
	report(b, tell)
	f.sites = b.Sites()
	return true
}

const (
	maxFile = 512 << 20
	maxLine = 4096
)

// load reads a file's rules, and the sum of its text.
func load(path, name string) (b *egress.Builder, sum [sha256.Size]byte, err error) {
	f, err := openOrdinary(path)
	if err != nil {
		return nil, sum, err
	}
	defer f.Close()
	hash := sha256.New()
	b = egress.NewBuilder()
	if err := lines(io.TeeReader(io.LimitReader(f, maxFile+1), hash), b, name); err != nil {
		return nil, sum, err
	}
	return b, [sha256.Size]byte(hash.Sum(nil)), nil
}

// lines reads rules until the end.
func lines(r io.Reader, b *egress.Builder, name string) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var read int64
	for number := 1; ; number++ {
		line, err := in.ReadSlice('\n')
		read += int64(len(line))
		switch {
		case err == bufio.ErrBufferFull, len(line) > maxLine:
			return fmt.Errorf("line %d is longer than %d bytes, so this is no list of sites", number, maxLine)
		case err != nil && err != io.EOF:
			return err
		case read > maxFile:
			return fmt.Errorf("larger than %d MiB", maxFile>>20)
		case !utf8.Valid(line):
			return fmt.Errorf("line %d is not UTF-8", number)
		}
		if number == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		b.Line(line, name)
		if err == io.EOF {
			return nil
		}
	}
}

// openOrdinary opens a file that is one: opening a pipe would wait for who writes into it.
func openOrdinary(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is no ordinary file")
	}
	return os.Open(path)
}

// report tells which entries were left out.
func report(b *egress.Builder, tell func(string)) {
	for _, note := range b.Notes {
		tell(note.String())
	}
	if more := b.Left - len(b.Notes); more > 0 {
		tell(fmt.Sprintf("security.website_blocklist: %d more entries are ignored", more))
	}
}

// bare strips the operation and path that os adds, since our errors name them already.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
