package docker

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"hermes/internal/guard/environ"
	"hermes/internal/guard/exposure/container"
	"hermes/internal/sandbox/docker/plan"
)

// facts gathers what a plan needs to know of the engine, the image and this machine.
func (b *Backend) facts(ctx context.Context, e *engine, img image) plan.Facts {
	f := plan.Facts{
		Engine: container.Docker, Version: e.version, Rootless: e.rootless, Remote: e.far(), Desktop: runtime.GOOS != "linux", SELinux: e.selinux,
		CPU: e.cpu, Memory: e.memory, PIDs: e.pids, CgroupVersion: e.cgroups, StorageDriver: e.storage,
		S6: img.s6(), UID: os.Getuid(), GID: os.Getgid(), HasUser: os.Getuid() >= 0,
	}
	if e.podman {
		f.Engine = container.Podman
	}
	if b.conf.Plan.Limits.Disk.Value > 0 {
		f.Disk = e.disk(ctx, img.ID)
	}
	for _, pair := range img.Config.Env {
		name, _, _ := strings.Cut(pair, "=")
		f.Variables = append(f.Variables, name)
	}
	f.ClientProxies = e.proxies()
	f.Host = b.host(ctx, e)
	return f
}

// far tells whether the engine runs on another machine, by what its client was told.
func (e *engine) far() bool {
	vars := environ.Parse(e.client(environ.List{}).Strings())
	for _, name := range [...]string{"DOCKER_HOST", "CONTAINER_HOST"} {
		if v := vars[name]; v != "" && !strings.HasPrefix(v, "unix://") && !strings.HasPrefix(v, "npipe://") {
			return true
		}
	}
	return e.remote
}

// limitsDisk returns the func that tells whether the engine can limit a container's disk. It is tried, where the file system
// makes it possible at all.
func (e *engine) limitsDisk() func(ctx context.Context, image string) bool {
	var once sync.Once
	can := false
	return func(ctx context.Context, image string) bool {
		once.Do(func() {
			if e.podman || runtime.GOOS != "linux" || e.storage != "overlay2" || e.backing != "xfs" {
				return
			}
			text, err := e.do(ctx, call{args: []string{"create", "--network", "none", "--storage-opt", "size=64m", image, "true"}})
			if id := strings.TrimSpace(string(text)); err == nil && id != "" {
				can = e.remove(ctx, id) == nil
			}
		})
		return can
	}
}

// proxies lists the variables that Docker's client would set in containers by itself.
func (e *engine) proxies() (out []string) {
	if e.podman {
		return nil
	}
	vars := environ.Parse(e.client(environ.List{}).Strings())
	dir := vars["DOCKER_CONFIG"]
	if dir == "" && vars["HOME"] != "" {
		dir = filepath.Join(vars["HOME"], ".docker")
	}
	if dir == "" {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil {
		return nil
	}
	var conf struct{ Proxies map[string]map[string]string }
	if json.Unmarshal(text, &conf) != nil {
		return nil
	}
	for _, proxy := range conf.Proxies {
		for key, name := range map[string]string{"httpProxy": "HTTP_PROXY", "httpsProxy": "HTTPS_PROXY", "ftpProxy": "FTP_PROXY",
			"noProxy": "NO_PROXY", "allProxy": "ALL_PROXY"} {
			if proxy[key] != "" {
				out = append(out, name, strings.ToLower(name))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// host tells what paths and volumes are.
func (b *Backend) host(ctx context.Context, e *engine) container.Host {
	h := container.Host{
		Look:   lookAt,
		Volume: func(name string) (string, bool) { return e.volume(ctx, name) },
		Home:   b.conf.Home, Hermes: resolved(filepath.Dir(b.conf.State)), Dir: b.conf.Plan.HostDir, Windows: runtime.GOOS == "windows",
	}
	if b.conf.Home != "" {
		h.Homes = append(h.Homes, resolved(b.conf.Home))
	}
	for _, pattern := range [...]string{"/root", "/home/*", "/Users/*"} {
		found, _ := filepath.Glob(pattern)
		for _, dir := range found {
			h.Homes = append(h.Homes, resolved(dir))
		}
	}
	slices.Sort(h.Homes)
	h.Homes = slices.Compact(h.Homes)
	vars := environ.Parse(e.client(environ.List{}).Strings())
	for _, name := range [...]string{"DOCKER_HOST", "CONTAINER_HOST"} {
		if path, ok := strings.CutPrefix(vars[name], "unix://"); ok {
			h.Sockets = append(h.Sockets, resolved(path))
		}
	}
	if dir := vars["XDG_RUNTIME_DIR"]; dir != "" {
		h.Sockets = append(h.Sockets, resolved(dir+"/docker.sock"), resolved(dir+"/podman/podman.sock"))
	}
	return h
}

// resolved follows all links of a path as far as it exists.
func resolved(path string) string {
	path = filepath.Clean(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(resolved(dir), filepath.Base(path))
	}
	return path
}

// lookAt tells what is at a path.
func lookAt(path string) (container.Path, bool) {
	p := container.Path{Real: resolved(path)}
	info, err := os.Lstat(p.Real)
	switch {
	case os.IsNotExist(err):
		p.Kind = container.Missing
	case err != nil:
		return container.Path{}, false
	case info.IsDir():
		p.Kind = container.Dir
	case info.Mode().IsRegular():
		p.Kind = container.File
	case info.Mode()&fs.ModeSocket != 0:
		p.Kind = container.Socket
	case info.Mode()&fs.ModeDevice != 0:
		p.Kind = container.Device
	}
	return p, true
}

// volume returns the path of the host that a named volume stands for.
func (e *engine) volume(ctx context.Context, name string) (string, bool) {
	text, err := e.do(ctx, call{args: []string{"volume", "inspect", name}})
	if said(err, "no such volume") {
		return "", true
	}
	var all []struct {
		Driver  string
		Options map[string]string
	}
	if err != nil || json.Unmarshal(text, &all) != nil || len(all) != 1 {
		return "", false
	}
	v := all[0]
	switch {
	case v.Driver != "local":
		return "", false
	case len(v.Options) == 0:
		return "", true
	case v.Options["device"] != "":
		return v.Options["device"], true
	}
	return "", false
}
