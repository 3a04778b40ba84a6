package filesync

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// below walks along a name there, from the base: a link on the way is refused, a directory that is not there is made if a second
// argument says so. Nothing is written through a link that somebody there has put in the way.
const below = `w(){ q=$1; d=$b; while :; do case "$q" in */*) d=$d/${q%%/*}; q=${q#*/}; [ -L "$d" ] && return 1; ` +
	`if [ -d "$d" ]; then :; elif [ -n "$2" ]; then mkdir "$d" || return 1; else return 1; fi;; *) return 0;; esac; done; }; `

// base is the start of every script: the base is a directory of the account's own, and no link.
func (s *Sync) base() string {
	return `umask 077; b=$HOME/` + s.conf.Base + `; if [ -L "$b" ]; then echo "$b is a link" >&2; exit 3; fi; ` +
		`mkdir -p "$b" && [ -O "$b" ] || { echo "$b belongs to somebody else" >&2; exit 4; }; `
}

// Up copies what is here and not there, as whole files, and removes there what is not here any more. stamp is what the file
// Stamp holds there; empty: nothing is known.
func (s *Sync) Up(ctx context.Context, remote Remote, stamp string) error {
	return s.locked(ctx, func() error {
		if strings.TrimSpace(stamp) != s.stamp() {
			s.man.Files = map[string]record{}
		}
		have, err := s.collect()
		if err != nil {
			return err
		}
		var send, drop []string
		for _, name := range slices.Sorted(maps.Keys(have)) {
			if old, ok := s.man.Files[name]; !ok || old.Sum != have[name].Sum || old.Run != have[name].Run {
				send = append(send, name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(s.man.Files)) {
			if _, ok := have[name]; !ok {
				drop = append(drop, name)
			}
		}
		next := map[string]record{}
		for name, l := range have {
			next[name] = l.record
		}
		if len(send) == 0 && len(drop) == 0 {
			if len(next) == 0 {
				return nil
			}
			s.man.Files = next
			return s.save()
		}
		s.man.Files = next
		refused, err := s.put(ctx, remote, have, send, drop)
		if err != nil {
			s.load() // nothing is known to have arrived
			return err
		}
		for _, name := range refused {
			delete(s.man.Files, name)
		}
		if len(refused) > 0 {
			s.log("not copied, since something there is in the way (a link, or a directory): " + few(refused))
		}
		return s.save()
	})
}

// put sends files. What stands in the way of one is told and left as it is.
func (s *Sync) put(ctx context.Context, remote Remote, have map[string]local, send, drop []string) (refused []string, err error) {
	script := s.base() + below +
		`s=$b/.incoming-` + s.man.ID + `; rm -rf "$s"; mkdir "$s" || exit 5; trap "rm -rf \"$s\"" EXIT; ` +
		`(cd "$s" && tar -xof -) || { echo "tar does not unpack" >&2; exit 6; }; ` +
		`while IFS= read -r f; do if w "$f" && [ -f "$b/$f" ]; then rm -f "$b/$f"; fi; done <"$s/drop"; ` +
		`while IFS= read -r f; do if w "$f" make; then [ -L "$b/$f" ] && rm -f "$b/$f"; ` +
		`if [ -d "$b/$f" ]; then echo "$f"; else mv -f "$s/f/$f" "$b/$f" || echo "$f"; fi; else echo "$f"; fi; done <"$s/send"; ` +
		`if [ -L "$b/.synced-` + s.man.ID + `" ] || [ -d "$b/.synced-` + s.man.ID + `" ]; then :; else mv -f "$s/stamp" "$b/.synced-` + s.man.ID + `"; fi`
	r, w := io.Pipe()
	packed := make(chan struct{})
	go func() {
		defer close(packed)
		w.CloseWithError(s.pack(w, have, send, drop))
	}()
	var out bytes.Buffer
	err = remote(ctx, script, r, &out)
	_ = r.Close()
	<-packed // it reads what the caller changes next
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, name := range send {
		known[name] = true
	}
	for line := range strings.Lines(out.String()) {
		if name := strings.TrimSuffix(line, "\n"); known[name] {
			refused = append(refused, name)
		}
	}
	return refused, nil
}

// pack writes the stream: two lists, the stamp, and the files below f.
func (s *Sync) pack(w io.Writer, have map[string]local, send, drop []string) error {
	t := tar.NewWriter(w)
	text := func(name, text string) error {
		if err := t.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text)), Typeflag: tar.TypeReg, ModTime: time.Unix(0, 0)}); err != nil {
			return err
		}
		_, err := io.WriteString(t, text)
		return err
	}
	lines := func(names []string) string {
		if len(names) == 0 {
			return ""
		}
		return strings.Join(names, "\n") + "\n"
	}
	if err := errors.Join(text("send", lines(send)), text("drop", lines(drop)), text("stamp", s.stamp())); err != nil {
		return err
	}
	roots := map[string]*os.Root{}
	defer func() {
		for _, r := range roots {
			_ = r.Close()
		}
	}()
	for _, name := range send {
		l := have[name]
		root := roots[l.tree.Dir]
		if root == nil {
			var err error
			if root, err = os.OpenRoot(l.tree.Dir); err != nil {
				return err
			}
			roots[l.tree.Dir] = root
		}
		if err := packFile(t, root, name, l); err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
	}
	return t.Close()
}

func packFile(t *tar.Writer, root *os.Root, name string, l local) error {
	info, ok := plainFile(root, l.rel)
	if !ok || info.Size() != l.Size {
		return errors.New("it changed meanwhile")
	}
	f, err := root.Open(l.rel)
	if err != nil {
		return err
	}
	defer f.Close()
	mode := int64(0o600)
	if l.Run {
		mode = 0o700
	}
	if err := t.WriteHeader(&tar.Header{Name: "f/" + name, Mode: mode, Size: l.Size, Typeflag: tar.TypeReg, ModTime: info.ModTime()}); err != nil {
		return err
	}
	n, err := io.Copy(t, io.LimitReader(f, l.Size))
	if err == nil && n != l.Size {
		err = errors.New("it changed meanwhile")
	}
	return err
}

// few names the first of many.
func few(names []string) string {
	if len(names) > 5 {
		return strings.Join(names[:5], ", ") + fmt.Sprintf(" and %d more", len(names)-5)
	}
	return strings.Join(names, ", ")
}
