package image

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Tree is the files of an image, by their paths inside.
type Tree struct {
	Files  int
	Bytes  int64
	Absent []string // programs that are not there
	Notes  []string

	root      string
	entries   map[string]*entry
	libraries []string // folders of libraries that the loader does not look into by itself
	conf      []string // folders that ld.so.conf names; nil: not read yet
	binary    *binary  // of the first program: what libraries must fit
}

// entry is one file: a folder, a link, a file with contents of its own, or one of the machine's.
type entry struct {
	mode   fs.FileMode // with fs.ModeDir or fs.ModeSymlink
	link   string
	text   string      // contents, when source is empty
	source string      // path on the machine, with links followed
	info   fs.FileInfo // of source
}

func newTree(root string) *Tree {
	if root == "" {
		root = "/"
	}
	return &Tree{root: root, entries: map[string]*entry{}}
}

// base makes what every image has.
func (t *Tree) base() {
	for _, dir := range strings.Fields("/etc /home /opt /proc /root /run /srv /sys /dev /tmp /usr /usr/bin /usr/lib /var /var/lib /var/tmp /workspace") {
		t.dir(dir, 0o755)
	}
	for _, name := range [...]string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/usr/lib64", "/usr/sbin"} {
		switch links, end, info, err := t.follow(name); {
		case err != nil || !info.IsDir():
		case links[name] != "":
			t.entries[name] = &entry{mode: 0o777 | fs.ModeSymlink, link: links[name]}
			t.dir(end, 0o755)
		default:
			t.dir(name, 0o755)
		}
	}
	t.dir("/tmp", 0o777|fs.ModeSticky)
	t.dir("/var/tmp", 0o777|fs.ModeSticky)
	t.dir("/workspace", 0o777|fs.ModeSticky)
	t.dir("/root", 0o700)
	for name, text := range map[string]string{
		"/etc/passwd":        "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
		"/etc/group":         "root:x:0:\nnogroup:x:65534:\n",
		"/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n",
		"/etc/os-release":    "ID=hermes-host\nNAME=\"Hermes image of a host\"\nPRETTY_NAME=\"Hermes image of a host\"\n",
		"/etc/profile":       "export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n",
	} {
		t.entries[name] = &entry{mode: 0o644, text: text}
	}
}

func (t *Tree) dir(name string, mode fs.FileMode) { t.entries[name] = &entry{mode: mode | fs.ModeDir} }

// on returns a path of the machine.
func (t *Tree) on(p string) string { return filepath.Join(t.root, filepath.FromSlash(p)) }

// places are where files of an image may come from. A link that leads elsewhere is left out: what lies there is somebody's own.
var places = [...]string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/openssl.cnf",
	"/etc/pki/tls", "/etc/pki/ca-trust/extracted", "/etc/ca-certificates/extracted", "/etc/terminfo", "/etc/protocols", "/etc/services", "/etc/python3", "/etc/perl",
	"/nix/store", "/run/current-system/sw", "/var/lib/ca-certificates"}

func allowed(p string) bool {
	return slices.ContainsFunc(places[:], func(dir string) bool {
		return p == dir || strings.HasPrefix(p, dir+"/") || strings.HasPrefix(p, dir+".") && strings.HasPrefix(dir, "/etc/python3")
	})
}

// errOutside is the error of a path whose links lead out of places.
var errOutside = errors.New("it leads to a place that is not the system's")

// follow walks a path with all links in it. It returns the links on the way, and where it ends.
func (t *Tree) follow(p string) (links map[string]string, end string, info fs.FileInfo, err error) {
	links = map[string]string{}
	at, todo := "/", strings.Split(strings.Trim(path.Clean(p), "/"), "/")
	for steps := 0; len(todo) > 0; steps++ {
		if steps > 255 {
			return nil, "", nil, fmt.Errorf("%s: too many links", p)
		}
		next := path.Join(at, todo[0])
		if info, err = os.Lstat(t.on(next)); err != nil {
			return nil, "", nil, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at, todo = next, todo[1:]
			continue
		}
		to, err := os.Readlink(t.on(next))
		if err != nil {
			return nil, "", nil, err
		}
		to = filepath.ToSlash(to)
		links[next] = to
		if path.IsAbs(to) {
			at = "/"
		}
		todo = append(slices.DeleteFunc(strings.Split(to, "/"), func(s string) bool { return s == "" }), todo[1:]...)
	}
	if !allowed(at) {
		return nil, "", nil, fmt.Errorf("%s: %w: %s", p, errOutside, at)
	}
	return links, at, info, nil
}

// readable tells whether a path leads to an ordinary file of the system that everybody may read.
func (t *Tree) readable(p string) bool {
	_, _, info, err := t.follow(p)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o004 != 0
}

// add puts a file into the tree, with the links that lead to it, the libraries it loads and the interpreter it names.
func (t *Tree) add(p string) error {
	links, end, info, err := t.follow(p)
	if err != nil {
		return err
	}
	for at, to := range links {
		t.parents(at)
		t.entries[at] = &entry{mode: 0o777 | fs.ModeSymlink, link: to}
	}
	if t.entries[end] != nil {
		return nil
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o004 == 0 {
		return fmt.Errorf("%s: it is not an ordinary file that everybody may read", p)
	}
	t.parents(end)
	mode := fs.FileMode(0o644)
	if info.Mode().Perm()&0o111 != 0 {
		mode = 0o755 // without the bits that give its owner's rights
	}
	t.entries[end] = &entry{mode: mode, source: t.on(end), info: info}
	return t.loads(end)
}

// parents makes the folders above a path, which has no links in it.
func (t *Tree) parents(p string) {
	for dir := path.Dir(p); dir != "/"; dir = path.Dir(dir) {
		if t.entries[dir] == nil {
			t.dir(dir, 0o755)
		}
	}
}

// folder adds all of a folder that belongs into an image; one that does not exist is none.
func (t *Tree) folder(dir string) error {
	_, end, info, err := t.follow(dir)
	if err != nil || !info.IsDir() {
		return nil
	}
	return filepath.WalkDir(t.on(end), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(t.on(end), name)
		if err != nil {
			return err
		}
		inside := path.Join(dir, filepath.ToSlash(rel))
		switch {
		case d.IsDir() && needless(d.Name()):
			return fs.SkipDir
		case d.IsDir():
			return nil
		case d.Type().IsRegular(), d.Type()&fs.ModeSymlink != 0:
			if !t.readable(inside) {
				t.note(inside)
				return nil
			}
			return t.add(inside)
		}
		return nil
	})
}

// note tells of a link that was left out, but not of those that lead nowhere.
func (t *Tree) note(p string) {
	if _, _, info, err := t.follow(p); errors.Is(err, errOutside) || err == nil && info.Mode().IsRegular() {
		t.Notes = append(t.Notes, p+" is left out: not everybody may read it, or it leads out of the system's folders")
	}
}

// needless names folders of language runtimes that only take room.
func needless(name string) bool {
	switch name {
	case "__pycache__", "test", "tests", "idlelib", "tkinter", "turtledemo", "lib2to3", "dist-packages", "site-packages", "pod", "debian":
		return true
	}
	return strings.HasPrefix(name, "config-3")
}

// list returns the names in a folder, none if there is no such folder.
func (t *Tree) list(dir string) (out []string) {
	found, err := os.ReadDir(t.on(dir))
	if err != nil {
		return nil
	}
	for _, d := range found {
		out = append(out, d.Name())
	}
	return out
}

func (t *Tree) count() {
	for _, e := range t.entries {
		if e.mode.IsRegular() {
			t.Files++
			if t.Bytes += int64(len(e.text)); e.info != nil {
				t.Bytes += e.info.Size()
			}
		}
	}
}
