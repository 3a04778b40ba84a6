package image

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"runtime"
	"slices"
	"strings"
)

// Host says what an image of this machine's own files holds besides the usual.
type Host struct {
	Root     string   // the root of the machine, "" for /
	Tag      string   // the image's name
	Programs []string // more programs, by name or absolute path; one that is missing is an error
	Path     []string // where programs are looked for; empty: the system's own folders
}

// What a shell session and an agent's usual work need. What a machine lacks of it is told, but for the first ones.
const (
	needed   = `bash sh cat cp env false head id ln ls mkdir mv pwd rm sleep sort stat tail tee test touch tr true uname wc`
	programs = `[ arch base32 base64 basename chgrp chmod chown cksum comm csplit cut date dd df dir dircolors dirname du echo expand
		expr factor fmt fold groups hostid install join link logname md5sum mkfifo mktemp mv nice nl nohup nproc numfmt od paste
		pathchk pinky pr printenv printf ptx readlink realpath rmdir seq sha1sum sha224sum sha256sum sha384sum sha512sum shred shuf
		split stdbuf stty sum sync tac timeout truncate tsort tty unexpand uniq unlink users vdir who whoami yes b2sum
		find xargs grep egrep fgrep sed awk mawk gawk tar gzip gunzip zcat bzip2 xz zstd unzip zip diff diff3 cmp patch which less more file
		ps pgrep pkill top free uptime kill watch getopt flock setsid script rev column hexdump getent getconf locale ldd clear tput
		git curl wget python3 perl make jq rg tree openssl`
)

// bundles are where systems keep the certificates of authorities in one file.
var bundles = [...]string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"}

var usualPath = [...]string{"/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin", "/run/current-system/sw/bin"}

// FromHost makes an image of this machine's own bash, coreutils, git, python3 and the libraries they load. No file of a user is
// in it, and nothing that only some users may read; no program is started to find out what belongs to what. The same files give
// the same digest.
func FromHost(ctx context.Context, run Engine, h Host, progress io.Writer) (Built, error) {
	tag, err := tagged(h.Tag)
	if err != nil {
		return Built{}, err
	}
	if h.Root == "" && runtime.GOOS != "linux" {
		return Built{}, fmt.Errorf("build image %s: the programs of this machine are not those of Linux: build it from a Dockerfile", tag)
	}
	tree, err := collect(h)
	if err != nil {
		return Built{}, fmt.Errorf("build image %s: %w", tag, err)
	}
	sum := sha256.New()
	if err := tree.WriteTar(ctx, sum); err != nil {
		return Built{}, fmt.Errorf("build image %s: %w", tag, err)
	}
	digest := "sha256:" + hex.EncodeToString(sum.Sum(nil))
	fmt.Fprintf(progress, "importing %d files, %d MB\n", tree.Files, tree.Bytes>>20)
	built := Built{Tag: tag, Digest: digest, Files: tree.Files, Bytes: tree.Bytes, Absent: tree.Absent, Notes: tree.Notes}
	if built.ID, err = load(ctx, run, tree, digest); err != nil {
		return Built{}, fmt.Errorf("build image %s: %w", tag, err)
	}
	if err := run(ctx, nil, io.Discard, "tag", built.ID, tag); err != nil {
		return Built{}, fmt.Errorf("name image %s: %w", tag, err)
	}
	return built, nil
}

// load hands the archive to the engine and returns the new image, which has no name yet. A file that changed since the digest
// was made leaves no image.
func load(ctx context.Context, run Engine, tree *Tree, digest string) (string, error) {
	in, out := io.Pipe()
	written := make(chan error, 1)
	go func() {
		again := sha256.New()
		err := tree.WriteTar(ctx, io.MultiWriter(again, out))
		if err == nil && "sha256:"+hex.EncodeToString(again.Sum(nil)) != digest {
			err = errors.New("a file changed while it was read")
		}
		out.CloseWithError(err) // nil: end of file
		written <- err
	}()
	args := []string{"import"}
	for _, change := range tree.changes(digest) {
		args = append(args, "--change", change)
	}
	var answer bytes.Buffer
	err := run(ctx, in, &answer, append(args, "-")...)
	in.CloseWithError(io.ErrClosedPipe) // the engine may have ended early
	words := strings.Fields(answer.String())
	if cause := <-written; cause != nil && (err == nil || !errors.Is(cause, io.ErrClosedPipe)) {
		if err == nil && len(words) > 0 { // made of a part
			_ = run(context.WithoutCancel(ctx), nil, io.Discard, "image", "rm", words[len(words)-1])
		}
		return "", cause
	}
	switch {
	case err != nil:
		return "", err
	case len(words) == 0:
		return "", errors.New("import: the engine did not name the image")
	}
	return words[len(words)-1], nil
}

// changes are the image's settings.
func (t *Tree) changes(digest string) []string {
	out := []string{"ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "ENV HOME=/root", "ENV LANG=C.UTF-8",
		"LABEL " + LabelImage + "=host", "LABEL " + LabelDigest + "=" + digest, "WORKDIR /workspace", `CMD ["bash"]`}
	for _, bundle := range bundles {
		if t.entries[bundle] != nil { // OpenSSL looks into a folder of links, which is not in the image
			out = append(out, "ENV SSL_CERT_FILE="+bundle)
			break
		}
	}
	if len(t.libraries) > 0 {
		out = append(out, "ENV LD_LIBRARY_PATH="+strings.Join(t.libraries, ":"))
	}
	return out
}

// collect chooses the files of a host image. It reads names and headers, not contents.
func collect(h Host) (*Tree, error) {
	t := newTree(h.Root)
	if len(h.Path) == 0 {
		h.Path = usualPath[:]
	}
	t.base()
	for _, list := range [...]struct {
		names []string
		must  bool
	}{{strings.Fields(needed), true}, {h.Programs, true}, {strings.Fields(programs), false}} {
		for _, name := range list.names {
			at, ok := t.program(name, h.Path)
			switch {
			case !ok && list.must:
				return nil, fmt.Errorf("this machine has no program %s that everybody may read", name)
			case !ok:
				t.Absent = append(t.Absent, name)
				continue
			}
			if err := t.add(at); err != nil {
				return nil, err
			}
		}
	}
	slices.Sort(t.Absent)
	t.Absent = slices.Compact(t.Absent)
	if err := t.runtimes(); err != nil {
		return nil, err
	}
	if err := t.shared(); err != nil {
		return nil, err
	}
	t.count()
	return t, nil
}

// program finds a program by name.
func (t *Tree) program(name string, search []string) (string, bool) {
	if strings.HasPrefix(name, "/") {
		return name, t.readable(name)
	}
	if name == "" || strings.Contains(name, "/") {
		return "", false
	}
	for _, dir := range search {
		if at := path.Join(dir, name); t.readable(at) {
			return at, true
		}
	}
	return "", false
}

// runtimes adds what git, python and perl load by name.
func (t *Tree) runtimes() error {
	for _, dir := range [...]string{"/usr/lib/git-core", "/usr/libexec/git-core", "/usr/share/git-core/templates"} {
		if err := t.folder(dir); err != nil {
			return err
		}
	}
	for _, place := range [...]string{"/usr/lib", "/usr/lib64"} {
		for _, name := range t.list(place) {
			if version, ok := strings.CutPrefix(name, "python3."); ok && strings.Trim(version, "0123456789") == "" && t.entries["/usr/bin/python3."+version] != nil {
				if err := t.folder(place + "/" + name); err != nil {
					return err
				}
			}
		}
	}
	if t.entries["/usr/bin/perl"] != nil {
		for _, pattern := range [...]string{"/usr/lib/" + t.triplet(), "/usr/share"} {
			for _, name := range t.list(pattern) {
				if name == "perl-base" || name == "perl" || name == "perl5" {
					if err := t.folder(pattern + "/" + name); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// shared adds what programs look up on their own: name services, certificates, a locale, terminals.
func (t *Tree) shared() error {
	for _, lib := range [...]string{"libnss_files.so.2", "libnss_dns.so.2", "libnss_compat.so.2", "libresolv.so.2", "libgcc_s.so.1", "libpthread.so.0", "libdl.so.2"} {
		if at := t.library(lib, nil); at != "" {
			if err := t.add(at); err != nil {
				return err
			}
		}
	}
	for _, file := range append(bundles[:], "/etc/ssl/openssl.cnf", "/usr/share/zoneinfo/UTC",
		"/etc/protocols", "/etc/services", "/usr/share/misc/magic.mgc", "/usr/lib/file/magic.mgc") {
		if t.readable(file) {
			if err := t.add(file); err != nil {
				return err
			}
		}
	}
	for _, dir := range [...]string{"/usr/lib/locale/C.utf8", "/usr/lib/locale/C.UTF-8"} {
		if err := t.folder(dir); err != nil {
			return err
		}
	}
	for _, base := range [...]string{"/lib/terminfo", "/usr/share/terminfo", "/etc/terminfo"} {
		for _, name := range [...]string{"d/dumb", "l/linux", "s/screen", "s/screen-256color", "t/tmux", "t/tmux-256color", "v/vt100", "v/vt220", "x/xterm", "x/xterm-256color"} {
			if at := base + "/" + name; t.readable(at) {
				if err := t.add(at); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
