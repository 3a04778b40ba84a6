package container

import (
	"path"
	"slices"
	"strings"
)

// within tells whether p is dir or below it.
func within(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimRight(dir, "/")+"/")
}

// socket tells whether a path is an engine's socket or a directory above one.
func (h Host) socket(p string) bool {
	switch name := strings.ToLower(path.Base(p)); name {
	case "docker.sock", "docker.raw.sock", "podman.sock", "containerd.sock", "crio.sock", "cri-dockerd.sock", "buildkitd.sock", "docker_engine",
		"docker_engine_linux", "docker-cli-api.sock", "podman-machine-default", "dockerdesktoplinuxengine":
		return true
	}
	for _, s := range everywhere {
		if within(s, p) {
			return true
		}
	}
	for _, dir := range [...]string{"/run/user", "/var/run/user", "/private/var/run"} {
		rest, below := strings.CutPrefix(p, dir)
		user, deeper, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
		if below && (rest == "" || rest[0] == '/') && (user == "" || deeper == "" || deeper == "podman" || deeper == "containerd") {
			return true // /run/user, a user's whole directory, or podman's in it
		}
	}
	for _, home := range h.homes() {
		for _, s := range [...]string{".docker/run/docker.sock", ".docker/desktop/docker.sock", ".colima/default/docker.sock", ".rd/docker.sock",
			".orbstack/run/docker.sock", ".lima/default/sock/docker.sock", ".local/share/containers/podman/machine/podman.sock"} {
			if within(home+"/"+s, p) && !within(home, p) {
				return true
			}
		}
	}
	return slices.ContainsFunc(h.Sockets, func(s string) bool { return within(path.Clean(slashed(s)), p) })
}

// everywhere lists where engines listen on any machine.
var everywhere = [...]string{"/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock", "/var/run/podman/podman.sock",
	"/run/containerd/containerd.sock", "/var/run/containerd/containerd.sock", "/run/crio/crio.sock", "/var/run/crio/crio.sock",
	"/run/k3s/containerd/containerd.sock", "/var/run/k3s/containerd/containerd.sock", "/run/cri-dockerd.sock", "/var/run/cri-dockerd.sock",
	"/run/buildkit/buildkitd.sock", "/var/snap/docker/common/run/docker.sock", "/run/snap.docker/docker.sock",
	"/mnt/wsl/docker-desktop/shared-sockets/host-services/docker.proxy.sock"}

func (h Host) homes() (out []string) {
	for _, home := range append([]string{h.Home}, h.Homes...) {
		if home = path.Clean(slashed(home)); home != "." && home != "/" && !slices.Contains(out, home) {
			out = append(out, home)
		}
	}
	return out
}

// home tells whether a path is somebody's home or above one.
func (h Host) home(p string) bool {
	for _, home := range append(h.homes(), "/root") {
		if within(home, p) {
			return true
		}
	}
	parts := strings.Split(strings.Trim(p, "/"), "/")
	switch {
	case p == "/home", p == "/Users", p == "/var/home", p == "/export/home", strings.EqualFold(strings.TrimRight(p[min(len(p), 2):], "/"), "/users"):
		return true
	case len(parts) == 2 && (parts[0] == "home" || parts[0] == "Users"), len(parts) == 3 && parts[0] == "var" && parts[1] == "home":
		return true
	case isDrive(p) && len(parts) == 3 && strings.EqualFold(parts[1], "users"):
		return true
	}
	return false
}

// hermes tells whether a path is Hermes' own home, above it, or what it keeps for itself there.
func (h Host) hermes(p string) bool {
	if h.Hermes == "" {
		return false
	}
	own := path.Clean(slashed(h.Hermes))
	if p == own || within(own, p) && !h.home(p) {
		return true
	}
	rest, below := strings.CutPrefix(p, strings.TrimRight(own, "/")+"/")
	if !below {
		return false
	}
	switch first, _, _ := strings.Cut(rest, "/"); first {
	case "skills", "cache", "images", "sandboxes", "home", "workspace":
		return false
	}
	return true
}

// keys tells whether a path is where programs keep keys and logins, or above such a place in a home.
func (h Host) keys(p string) bool {
	switch path.Base(p) {
	case ".env", ".netrc", "_netrc", ".pgpass", ".git-credentials", ".npmrc", ".pypirc", "auth.json", ".vault-token":
		return true
	}
	for _, part := range strings.Split(p, "/") {
		switch part {
		case ".ssh", ".aws", ".gnupg", ".kube", ".azure", ".docker", ".password-store", ".mozilla", ".claude", ".codex", "gcloud", "keyrings", "Keychains":
			return true
		}
	}
	for _, home := range h.homes() {
		if rest, ok := strings.CutPrefix(p, home+"/"); ok && (rest == ".config" || rest == ".local" || rest == ".local/share" || rest == "Library") {
			return true
		}
	}
	return within(p, "/etc/shadow") || within(p, "/etc/gshadow") || within(p, "/etc/ssh") || within(p, "/etc/sudoers") ||
		within(p, "/etc/kubernetes") || within(p, "/etc/ssl/private")
}

// system tells whether a path is one of those that every program may read: the system's programs and what they share.
func system(p string) bool {
	for _, dir := range [...]string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/etc/ssl/certs", "/etc/pki/tls/certs",
		"/etc/pki/ca-trust", "/etc/ca-certificates", "/usr/share/ca-certificates", "/etc/localtime", "/etc/timezone", "/etc/hosts",
		"/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/fonts", "/etc/alternatives"} {
		if within(p, dir) {
			return true
		}
	}
	return false
}

// disk tells whether a device's name is that of a disk, of memory, or of the kernel. A name in a folder that is not known to
// hold other devices is one: the folder could be that of a volume group.
func disk(p string) bool {
	name, ok := strings.CutPrefix(p, "/dev/")
	if !ok {
		return false
	}
	for _, prefix := range [...]string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "dm-", "md", "loop", "nbd", "zd", "zvol", "sr", "mem", "kmem", "port", "kmsg",
		"mtd", "btrfs-control", "bcache", "drbd", "rbd", "cciss", "root", "ubi", "sg", "bsg", "ram", "pmem", "dasd", "nst", "st0", "device-mapper"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	dir, _, inside := strings.Cut(name, "/")
	switch dir {
	case "dri", "snd", "bus", "usb", "input", "net", "pts", "shm", "serial", "v4l", "char", "fd", "hugepages", "mqueue", "vfio", "cpu", "nvidia-caps", "dma_heap", "infiniband", "accel":
		return false
	}
	return inside
}
