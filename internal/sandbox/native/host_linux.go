package native

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"hermes/internal/sandbox/native/wall"
)

// host is what is known of this machine. It is looked up once.
type host struct {
	uid, gid int
	release  string // of the kernel
	landlock int    // ABI, 0: none
	memory   int64  // bytes of the machine
	system   []wall.Step
	readable []string // the targets of system that are directories
	self     map[string]string
	groups   groups
	secrets  private

	lock       sync.Mutex // holds what follows
	bases      [2]*base   // without and with a network of its own
	absent     map[string]bool
	absentAt   unix.Timespec // the home's time of change
	absentIn   uint64        // and its number
	absentWhen int64         // when that was read
}

// The system's directories, as far as they exist. /var, /run, /home, /root, /srv, /mnt and /media are not shown.
var systemDirs = [...]string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix/store", "/gnu/store",
	"/sys/devices/system", "/sys/kernel/mm/transparent_hugepage"}

// What /proc tells of the kernel and its keys.
var procSecrets = [...]string{"/proc/keys", "/proc/key-users", "/proc/kcore", "/proc/kmsg", "/proc/timer_list", "/proc/vmallocinfo",
	"/proc/slabinfo", "/proc/kpagecount", "/proc/kpageflags", "/proc/kpagecgroup", "/proc/sysrq-trigger"}

// Namespaces whose identity is compared with what is seen from inside.
var namespaceNames = [...]string{"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"}

func lookAround() *host {
	h := &host{uid: os.Getuid(), gid: os.Getgid(), self: map[string]string{}}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		h.release = unix.ByteSliceToString(name.Release[:])
	}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		h.memory = int64(info.Totalram) * int64(info.Unit)
	}
	if abi, err := ll.LandlockGetABIVersion(); err == nil {
		h.landlock = abi
	}
	for _, n := range namespaceNames {
		if text, err := os.Readlink("/proc/self/ns/" + n); err == nil {
			h.self["ns/"+n] = text
		}
	}
	for _, dir := range systemDirs {
		info, err := os.Lstat(dir)
		switch {
		case err != nil:
		case info.Mode()&fs.ModeSymlink != 0:
			if to, err := os.Readlink(dir); err == nil {
				h.system = append(h.system, wall.Step{Kind: wall.Link, Source: to, Target: dir})
			}
		case info.IsDir():
			h.system = append(h.system, wall.Step{Kind: wall.Read, Source: dir, Target: dir})
			h.readable = append(h.readable, dir)
		}
	}
	h.groups = findGroups()
	return h
}

// etc is the part of the system that is shown and holds files of root's alone.
const etc = "/etc"

// secret says what of /etc an ordinary user may not read, so that root's sandbox may not either, and what is left. The number
// is another one whenever something may have changed.
func (h *host) secret() (s secrets, number uint64) {
	if h.uid != 0 {
		return secrets{}, 0
	}
	return h.secrets.below(etc)
}

// secrets is a directory seen with an ordinary user's eyes.
type secrets struct {
	hidden []string // private: not to be read, with all that is below
	open   []string // everything else, as few paths as say it; a directory ends in a slash. Links are left out: what they lead to counts
}

// private remembers what below a directory others may not read, until something in it changes.
type private struct {
	mu     sync.Mutex
	number uint64 // how often it was listed
	watch  *watch
	last   secrets
}

// below lists it. From the second time on changes are watched for, which the first is not worth.
func (p *private) below(dir string) (secrets, uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.watch != nil && !p.watch.changed() {
		return p.last, p.number
	}
	if p.watch != nil {
		p.watch.close()
		p.watch = nil
	}
	if p.number++; p.number > 1 {
		p.watch = newWatch()
	}
	p.last = secrets{}
	p.last.list(dir, p.watch)
	if !p.watch.whole() {
		p.watch.close()
		p.watch = nil
	}
	return p.last, p.number
}

// list looks through a directory that others may read. What cannot be looked at is left out, so nobody may read it.
func (s *secrets) list(dir string, w *watch) {
	w.add(dir) // before it is read
	begin, hidden := len(s.open), len(s.hidden)
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, bad := e.Info()
		switch {
		case bad != nil:
			err = bad
		case e.Type()&fs.ModeSymlink != 0:
		case info.Mode().Perm()&0o004 == 0:
			s.hidden = append(s.hidden, path) // the directory it is in tells when that changes
		case e.IsDir():
			s.list(path, w)
		default:
			s.open = append(s.open, path)
		}
	}
	if err == nil && len(s.hidden) == hidden && dir != etc { // nothing in it is anybody's own: it is open as a whole
		s.open = append(s.open[:begin], dir+"/")
	}
}

// Toolchains and module caches below a home, without the files beside them that hold logins.
var homeTools = [...]string{
	"go/bin", "go/pkg/mod", "sdk", ".local/bin", ".local/lib", ".local/pipx", ".local/share/uv", ".local/share/mise", ".local/share/pnpm",
	".local/share/virtualenvs", ".cargo/bin", ".cargo/registry", ".cargo/git", ".cargo/env", ".rustup", ".nvm", ".volta", ".fnm", ".n", ".npm-global",
	".bun/bin", ".bun/install", ".deno/bin", ".yarn", ".pyenv", ".rbenv", ".rvm", ".gem", ".asdf", ".sdkman/candidates", ".jenv", ".m2/repository",
	".m2/wrapper", ".gradle/caches", ".gradle/wrapper", ".ghcup", ".cabal/packages", ".stack/programs", ".dotnet", ".nuget/packages",
	".composer/vendor", ".pub-cache", ".elan", ".juliaup", ".opam", "miniconda3", "anaconda3", "miniforge3", "mambaforge", ".virtualenvs",
	".poetry", ".foundry/bin", ".zvm", ".swiftly", "flutter",
}

// tools lists the toolchains that exist below home, and the directories of PATH that are neither system nor home.
func (h *host) tools(home, path string) (out []string) {
	missing := h.missing(home)
	for _, name := range homeTools {
		if first, _, _ := strings.Cut(name, "/"); missing[first] { // as most are
			continue
		}
		if dir := filepath.Join(home, name); straight(dir) {
			out = append(out, dir)
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		dir = filepath.Clean(dir)
		if !h.shown(dir) && !within(home, dir) && !unsuitable(dir) && straight(dir) {
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// missing says which of the names at the beginning of homeTools are not there. What is right in a home changes rarely, and
// with it the home's time, which is not to be trusted while it is fresh.
func (h *host) missing(home string) map[string]bool {
	var now unix.Stat_t
	if unix.Stat(home, &now) != nil {
		return nil
	}
	h.lock.Lock()
	defer h.lock.Unlock()
	const fresh = 2 // seconds, more than any file system is wrong by
	if h.absentAt != now.Ctim || h.absentIn != now.Ino || now.Ctim.Sec+fresh > h.absentWhen {
		h.absent, h.absentAt, h.absentIn, h.absentWhen = map[string]bool{}, now.Ctim, now.Ino, time.Now().Unix()
		for _, name := range homeTools {
			first, _, _ := strings.Cut(name, "/")
			if unix.Access(filepath.Join(home, first), unix.F_OK) != nil {
				h.absent[first] = true
			}
		}
	}
	return h.absent
}

// straight tells whether a path leads to something, and through no symbolic link.
func straight(path string) bool {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return false
	}
	_ = unix.Close(fd)
	return true
}

// resolve returns where a path leads.
func resolve(path string) (string, error) {
	if straight(path) {
		return filepath.Clean(path), nil
	}
	return filepath.EvalSymlinks(path)
}

// shown tells whether a path is part of the system that is shown anyway.
func (h *host) shown(path string) bool {
	return slices.ContainsFunc(h.readable, func(dir string) bool { return within(dir, path) })
}

// unsuitable tells whether a directory holds what is made new inside, or things of others.
func unsuitable(path string) bool {
	for _, dir := range [...]string{"/proc", "/sys", "/dev", "/run", "/var/run", "/tmp", "/var/tmp"} {
		if within(dir, path) {
			return true
		}
	}
	return path == "/" || path == "/home" || path == "/root" || path == "/var"
}

// within tells whether path is dir or below it. Both are clean and absolute.
func within(dir, path string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == '/' || dir == "/")
}
