package docker_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox/docker"
	"hermes/internal/sandbox/docker/plan"
)

// derived makes an image of the test's own out of the common one: change runs in a container of it, which is then kept.
func (r *rig) derived(t *testing.T, tag, change string, options ...string) {
	t.Helper()
	name := "hermes-derive-" + tag
	t.Cleanup(func() {
		_ = r.engine(context.Background(), nil, io.Discard, "rm", "-f", name)
		_ = r.engine(context.Background(), nil, io.Discard, "image", "rm", "-f", tag)
	})
	r.call(t, "run", "--name", name, "--entrypoint", "sh", "--network", "none", testImage, "-c", change)
	args := []string{"commit"}
	for _, o := range options {
		args = append(args, "--change", o)
	}
	r.call(t, append(args, name, tag)...)
}

// An image with a service manager of its own (s6-overlay's /init) is started without another first process in front of it, and
// with a /run that programs can be started from, as it needs; the helper works as anywhere.
func TestServiceManager(t *testing.T) {
	r := rootful(t)
	const manager = `cat >/init <<'END' && chmod 755 /init
#!/bin/sh
[ $$ = 1 ] || { echo "must be the first process"; exit 100; }
mkdir -p /run/s6 && printf '#!/bin/sh\necho supervised >/run/s6/state\n' >/run/s6/up && chmod 755 /run/s6/up && /run/s6/up || exit 101
"$@" &
wait $!
END`
	r.derived(t, "hermes-test-s6", manager, `ENTRYPOINT ["/init"]`)
	for what, s := range map[string]plan.Settings{"kept": kept(), "thrown away": hardened()} {
		t.Run(what, func(t *testing.T) {
			s.Image = "hermes-test-s6"
			box := open(t, r.backend(t, r.conf(t, s)), spec(t))
			if got := say(t, box, "cat /run/s6/state; tr '\\0' ' ' </proc/1/cmdline"); !strings.HasPrefix(got, "supervised\n") || !strings.Contains(got, "/init") {
				t.Errorf("%q", got)
			}
			if e := box.Exposure(); e.Runner != exposure.Resident || e.Doors.At(exposure.HostProc).Force != exposure.Shut {
				t.Errorf("%s", e.Summary())
			}
		})
	}
}

// Engines installed as a snap refuse --init and no-new-privileges; without those two the rest holds, the helper sets
// no_new_privs itself, and the owner is told.
func TestSnap(t *testing.T) {
	r := rootful(t)
	s := hardened()
	s.Snap = true
	var said strings.Builder
	var mu sync.Mutex
	c := r.conf(t, s)
	c.Log = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		said.WriteString(text + "\n")
	}
	box := open(t, r.backend(t, c), spec(t))
	if got := r.call(t, "inspect", "--format", "{{.HostConfig.Init}} {{.HostConfig.SecurityOpt}} {{.HostConfig.CapDrop}}", container(box)); strings.Contains(got, "true") ||
		strings.Contains(got, "no-new-privileges") || !strings.Contains(got, "[ALL]") {
		t.Errorf("made with %s", got)
	}
	if got := say(t, box, "grep NoNewPrivs /proc/self/status"); got != "NoNewPrivs:\t1" {
		t.Errorf("inside: %q", got)
	}
	mu.Lock()
	defer mu.Unlock()
	if !strings.Contains(said.String(), "docker_snap_compat") {
		t.Errorf("the owner was not told: %q", said.String())
	}
}

// far makes the engine reachable as one of another machine is: over TCP, on loopback. The port goes with the test.
func (r *rig) far(t *testing.T) *rig {
	t.Helper()
	var socket string
	for _, pair := range r.env {
		if path, ok := strings.CutPrefix(pair, "DOCKER_HOST=unix://"); ok {
			socket = path
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil || socket == "" {
		t.Fatal(err, socket)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("unix", socket)
			if err != nil {
				_ = from.Close()
				continue
			}
			go func() { _, _ = io.Copy(to, from); _ = to.(*net.UnixConn).CloseWrite() }()
			go func() { _, _ = io.Copy(from, to); _ = from.(*net.TCPConn).CloseWrite() }()
		}
	}()
	return &rig{binary: r.binary, env: []string{"DOCKER_HOST=tcp://" + l.Addr().String()}}
}

// An engine on another machine cannot mount what is here: commands are run by docker exec, nothing of this machine is mounted,
// and the result says what that costs.
func TestEngineElsewhere(t *testing.T) {
	r := rootful(t).far(t)
	box := open(t, r.backend(t, r.conf(t, hardened())), spec(t))
	if got := say(t, box, "echo $((6*7)); cd /tmp; export KEPT=1"); got != "42" {
		t.Errorf("%q", got)
	}
	if got := say(t, box, "pwd; echo $KEPT"); got != "/tmp\n1" {
		t.Errorf("what lasts: %q", got)
	}
	if got := r.call(t, "inspect", "--format", `{{range .Mounts}}{{.Type}} {{end}}`, container(box)); strings.Contains(got, "bind") {
		t.Errorf("mounted: %s", got)
	}
	if got, want := box.Exposure().Summary(), "backend docker (no boundary: all of the engine's machine is open; best effort, without the helper inside)"; got != want {
		t.Errorf("%s", got)
	}
	for _, check := range r.backend(t, r.conf(t, hardened())).Ready(t.Context()) {
		if check.Name == "helper" && (check.OK || !strings.Contains(check.Text, "another machine")) {
			t.Errorf("%+v", check)
		}
	}
}

// archive is an image of one layer, as engines load it.
func archive(t *testing.T, tag, arch string, layer []byte) io.Reader {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	var err error
	for _, f := range []struct {
		name string
		text any
	}{
		{"layer.tar", layer},
		{"config.json", map[string]any{"architecture": arch, "os": "linux", "config": map[string]any{"Env": []string{"PATH=/usr/local/bin:/usr/bin:/bin"}},
			"rootfs": map[string]any{"type": "layers", "diff_ids": []string{digestOf(layer)}}}},
		{"manifest.json", []any{map[string]any{"Config": "config.json", "RepoTags": []string{tag + ":latest"}, "Layers": []string{"layer.tar"}}}},
	} {
		text, raw := f.text.([]byte)
		if !raw {
			var failed error
			text, failed = json.Marshal(f.text)
			err = errors.Join(err, failed)
		}
		failed := w.WriteHeader(&tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(text))})
		_, failedToo := w.Write(text)
		err = errors.Join(err, failed, failedToo)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return &out
}

// An image of another architecture is asked the helper of that one. Where it does not run, commands are run by docker exec, and
// the result says so.
func TestForeignArchitecture(t *testing.T) {
	r := rootful(t)
	const tag, name = "hermes-test-foreign", "hermes-derive-foreign"
	foreign := map[string]string{"amd64": "arm64", "arm64": "amd64"}[runtime.GOARCH]
	t.Cleanup(func() {
		_ = r.engine(context.Background(), nil, io.Discard, "rm", "-f", name)
		_ = r.engine(context.Background(), nil, io.Discard, "image", "rm", "-f", tag)
	})
	r.call(t, "create", "--name", name, testImage, "true")
	var tree bytes.Buffer
	if err := errors.Join(r.engine(t.Context(), nil, &tree, "export", name), r.engine(t.Context(), archive(t, tag, foreign, tree.Bytes()), io.Discard, "load")); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(shared.dir, "foreign-runner")
	build := exec.Command("go", "build", "-o", program, "hermes/cmd/runner")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH="+foreign)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	asked := ""
	s := hardened()
	s.Image = tag
	c := r.conf(t, s)
	c.Runner = func(arch string) (string, error) { asked = arch; return program, nil }
	box := open(t, r.backend(t, c), spec(t))
	if asked != foreign {
		t.Errorf("asked for the helper of %q, want %q", asked, foreign)
	}
	if got := say(t, box, "echo $((6*7))"); got != "42" { // what is inside is this machine's own, whatever the image says
		t.Errorf("%q", got)
	}
	if e := box.Exposure(); e.Runner != exposure.Plain || e.Boundary() || !strings.Contains(e.Summary(), "without the helper inside") {
		t.Errorf("%s", e.Summary())
	}
}

// What is shown of the home is there, read-only, and nothing else of it.
func TestShown(t *testing.T) {
	r := rootful(t)
	home := t.TempDir()
	for name, text := range map[string]string{"google_token.json": "{token}", "skills/s/SKILL.md": "how", "cache/documents/a.txt": "document", "auth.json": "not shown"} {
		path := filepath.Join(home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	show := func(name string) plan.Showing {
		return plan.Showing{Source: filepath.Join(home, name), Target: "/root/.hermes/" + name}
	}
	s := kept()
	s.Credentials = []plan.Showing{show("google_token.json")}
	s.Skills, s.Caches = []plan.Showing{show("skills")}, []plan.Showing{show("cache/documents")}
	for what, c := range map[string]docker.Config{"helper": r.conf(t, s), "exec": func() docker.Config {
		c := r.plainly(t)
		c.Plan.Credentials, c.Plan.Skills, c.Plan.Caches = s.Credentials, s.Skills, s.Caches
		return c
	}()} {
		t.Run(what, func(t *testing.T) {
			c.Home = home
			box := open(t, r.backend(t, c), spec(t))
			const script = `cd /root/.hermes && cat google_token.json skills/s/SKILL.md cache/documents/a.txt; echo
for f in google_token.json skills/s/SKILL.md skills/new cache/documents/a.txt; do echo x 2>/dev/null >$f && echo "wrote $f"; done
ls auth.json 2>/dev/null; :`
			if got := say(t, box, script); got != "{token}howdocument" {
				t.Errorf("%q", got)
			}
		})
	}
}
