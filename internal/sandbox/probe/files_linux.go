package probe

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"hermes/internal/guard/exposure"
)

func readAll(path string) []byte {
	text, _ := os.ReadFile(path)
	return text
}

func split0(text []byte) (out []string) {
	for _, part := range bytes.Split(text, []byte{0}) {
		if len(part) > 0 {
			out = append(out, string(part))
		}
	}
	return out
}

func variable(environ []string, name string) string {
	for _, pair := range environ {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// homes lists the homes that could be somebody's.
func homes(owner string, environ []string) []string {
	out := []string{owner, variable(environ, "HOME"), "/root"}
	more, _ := filepath.Glob("/home/*")
	out = append(out, more...)
	out = slices.DeleteFunc(out, func(s string) bool { return !filepath.IsAbs(s) })
	slices.Sort(out)
	return slices.Compact(out)
}

// inMemory tells whether a path is on a file system that was made in memory, and so is nobody's home or system.
func inMemory(path string) bool {
	var info unix.Statfs_t
	return unix.Statfs(path, &info) == nil && info.Type == unix.TMPFS_MAGIC
}

// readable tells whether a file has something that can be read.
func readable(path string) bool {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var b [1]byte
	n, err := unix.Read(fd, b[:])
	return err == nil && n == 1
}

// own tells whether a path is the sandbox's own: made in memory, or on a mount of which Targets says so, and not of the host.
func (p *probe) own(path string) bool {
	at := covering(p.seen["mountinfo"], path)
	if slices.ContainsFunc(p.targets.Shown, func(dir string) bool { return at == dir || strings.HasPrefix(at, dir+"/") }) {
		return false
	}
	return inMemory(path) || slices.Contains(p.targets.Own, at)
}

// covering returns where the file system is mounted that a path is on, "" when that cannot be told.
func covering(mountinfo, path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	at := ""
	for line := range strings.Lines(mountinfo) {
		f := strings.Fields(line)
		if len(f) < 5 {
			return ""
		}
		target := unescape(f[4])
		if (path == target || target == "/" || strings.HasPrefix(path, target+"/")) && len(target) >= len(at) {
			at = target
		}
	}
	return at
}

// unescape undoes what the kernel does to blanks and the like in a path.
func unescape(path string) string {
	for code, char := range map[string]string{`\040`: " ", `\011`: "\t", `\012`: "\n"} {
		path = strings.ReplaceAll(path, code, char)
	}
	return strings.ReplaceAll(path, `\134`, `\`)
}

// listed tells whether a directory that is not the sandbox's own shows what is in it.
func (p *probe) listed(path string) bool {
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) > 0 && !p.own(path)
}

// creates tells whether a file can be made in a directory. It is removed at once.
func creates(dir string) bool {
	path := filepath.Join(dir, fmt.Sprintf(".hermes-probe-%d", os.Getpid()))
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return false
	}
	_ = unix.Close(fd)
	_ = unix.Unlink(path)
	return true
}

// writable tells whether an existing file can be opened for writing. It is not changed.
func writable(path string) bool {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_APPEND|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	_ = unix.Close(fd)
	return true
}

func count(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d %s", n, what)
}

// verdict is Open when something was found.
func verdict(open int, what string) (exposure.Reach, string) {
	if open > 0 {
		return exposure.Open, count(open, what)
	}
	return exposure.Shut, ""
}

// keyFiles counts, and names none: the answer is shown to people and models.
func (p *probe) keyFiles() (exposure.Reach, string) {
	n := 0
	for _, home := range p.homes {
		for _, name := range keyFiles {
			if path := filepath.Join(home, name); readable(path) && !p.own(path) {
				n++
			}
		}
		if keys, _ := filepath.Glob(filepath.Join(home, ".ssh/*.pem")); len(keys) > 0 && readable(keys[0]) && !p.own(keys[0]) {
			n++
		}
	}
	for _, path := range [...]string{"/etc/shadow", "/etc/gshadow", "/etc/ssh/ssh_host_ed25519_key", "/etc/ssh/ssh_host_rsa_key"} {
		if readable(path) && !p.own(path) {
			n++
		}
	}
	if p.targets.Secret != "" && readable(p.targets.Secret) {
		n++
	}
	return verdict(n, "readable")
}

func (p *probe) envSecrets() (exposure.Reach, string) {
	n := 0
	for _, pair := range p.environ {
		name, value, _ := strings.Cut(pair, "=")
		name = strings.ToUpper(name)
		for _, word := range [...]string{"SECRET", "TOKEN", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "PRIVATE_KEY", "ACCESS_KEY", "CREDENTIAL"} {
			if strings.Contains(name, word) && len(value) >= 8 {
				n++
				break
			}
		}
	}
	return verdict(n, "variables")
}

func (p *probe) hostWrite() (exposure.Reach, string) {
	dirs := []string{"/", "/usr", "/usr/bin", "/usr/local/bin", "/etc", "/etc/cron.d", "/opt", "/var/lib", "/var/spool/cron", "/boot", "/srv", "/lib/modules", "/run/systemd/system"}
	for _, dir := range dirs {
		if creates(dir) && !p.own(dir) {
			return exposure.Open, dir
		}
	}
	if t := p.targets.Outside; t != "" && creates(t) && !p.own(t) {
		return exposure.Open, "a folder beside the work tree"
	}
	for _, path := range [...]string{"/etc/passwd", "/etc/hosts", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/kernel/uevent_helper"} {
		if writable(path) && !p.own(path) {
			return exposure.Open, path
		}
	}
	return exposure.Shut, ""
}

func (p *probe) hostRead() (exposure.Reach, string) {
	for _, dir := range append([]string{"/root", "/var/log", "/var/lib", "/srv", "/boot"}, p.homes...) {
		if dir != p.targets.Tree && p.listed(dir) {
			return exposure.Open, dir
		}
	}
	if t := p.targets.Outside; t != "" && p.listed(t) {
		return exposure.Open, "a folder beside the work tree"
	}
	return exposure.Shut, ""
}

func (p *probe) homeWrite() (exposure.Reach, string) {
	for _, home := range p.homes {
		if creates(home) && !p.own(home) {
			return exposure.Open, ""
		}
	}
	return exposure.Shut, ""
}

func (p *probe) rcFiles() (exposure.Reach, string) {
	n := 0
	for _, home := range p.homes {
		for _, name := range [...]string{".bashrc", ".profile", ".bash_profile", ".zshrc", ".zshenv", ".config/fish/config.fish", ".gitconfig"} {
			if path := filepath.Join(home, name); writable(path) && !p.own(path) {
				n++
			}
		}
	}
	return verdict(n, "writable")
}

// tree is the work tree: the one named, or where the probe was started.
func (p *probe) tree() string {
	if p.targets.Tree != "" {
		return p.targets.Tree
	}
	dir, err := os.Getwd()
	if err != nil {
		return "/"
	}
	return dir
}

func (p *probe) gitHooks() (exposure.Reach, string) {
	git := filepath.Join(p.tree(), ".git")
	hooks := filepath.Join(git, "hooks")
	info, err := os.Lstat(hooks)
	switch {
	case err != nil && !exists(git):
		return exposure.Shut, "no repository here"
	case creates(hooks):
		return exposure.Open, ""
	case (err != nil || info.Mode()&os.ModeSymlink != 0) && creates(git):
		return exposure.Open, "the folder can be replaced"
	}
	if p.targets.Planted { // the folder itself must stay where it is
		if err := os.Rename(hooks, hooks+".old"); err == nil {
			_ = os.Rename(hooks+".old", hooks)
			return exposure.Open, "the folder can be moved away"
		}
	}
	return exposure.Shut, ""
}

func (p *probe) gitConfig() (exposure.Reach, string) {
	configs := []string{filepath.Join(p.tree(), ".git/config")}
	nested, _ := filepath.Glob(filepath.Join(p.tree(), "*/.git/config"))
	configs = append(configs, nested...)
	found := false
	for _, path := range configs {
		if !exists(path) {
			continue
		}
		found = true
		if writable(path) {
			return exposure.Open, ""
		}
		if p.targets.Planted {
			other := path + ".probe"
			if os.WriteFile(other, nil, 0o600) == nil {
				err := os.Rename(other, path)
				_ = os.Remove(other)
				if err == nil {
					return exposure.Open, "the file can be replaced"
				}
			}
		}
	}
	if !found {
		return exposure.Shut, "no repository here"
	}
	return exposure.Shut, ""
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
