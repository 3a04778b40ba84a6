package docker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hermes/internal/guard/environ"
	"hermes/internal/guard/exposure"
	"hermes/internal/rigtest"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/docker"
	"hermes/internal/sandbox/docker/image"
	"hermes/internal/sandbox/docker/plan"
	"hermes/internal/sandbox/native/seccomp"
	"hermes/internal/sandbox/sandboxtest"
)

// testImage is what containers of tests are made of: this machine's own programs.
const testImage = "hermes-test:host"

// shared is what all tests of one run use. It is made when it is first needed and removed at the end.
var shared struct {
	dir                      string
	build, docker, podman    sync.Once
	runner, hermes           string
	buildErr                 error
	dockerRig, podmanRig     *rig
	dockerNeeds, podmanNeeds string
	stop                     []func()
}

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == killedRole {
		os.Exit(beKilled(os.Args[2:]))
	}
	dir, err := os.MkdirTemp("", "hd")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	shared.dir = dir
	code := m.Run()
	for _, stop := range shared.stop {
		stop()
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// programs builds the helper and the probe, as static programs.
func programs(t testing.TB) (runner, hermes string) {
	t.Helper()
	shared.build.Do(func() {
		for name, to := range map[string]*string{"runner": &shared.runner, "hermes": &shared.hermes} {
			*to = filepath.Join(shared.dir, name)
			cmd := exec.Command("go", "build", "-o", *to, "hermes/cmd/"+name)
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				shared.buildErr = errors.Join(shared.buildErr, fmt.Errorf("%w: %s", err, out))
			}
		}
	})
	if shared.buildErr != nil {
		t.Fatal(shared.buildErr)
	}
	return shared.runner, shared.hermes
}

// rig is an engine for tests.
type rig struct {
	binary  string
	env     []string
	runtime string
}

// engine runs the engine's client.
func (r *rig) engine(ctx context.Context, in io.Reader, out io.Writer, args ...string) error {
	cmd := exec.CommandContext(ctx, r.binary, args...)
	cmd.Env = append(os.Environ(), r.env...)
	var errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, &errs
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", r.binary, args[0], err, errs.String())
	}
	return nil
}

// call runs the engine's client, which has to succeed.
func (r *rig) call(t testing.TB, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := r.engine(context.Background(), nil, &out, args...); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

// daemon starts an engine of the tests' own.
func daemon(dir string, more ...string) (host string, stop func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", nil, err
	}
	host = "unix://" + dir + "/s"
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return "", nil, err
	}
	cmd := exec.Command("dockerd", append([]string{"--data-root", dir + "/data", "--exec-root", dir + "/exec", "-H", host, "--pidfile", dir + "/pid"}, more...)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
		_ = log.Close()
	}
	for range 150 {
		probe := exec.Command("docker", "-H", host, "version")
		if probe.Run() == nil {
			return host, stop, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	stop()
	text, _ := os.ReadFile(filepath.Join(dir, "log"))
	return "", nil, fmt.Errorf("dockerd does not answer: %s", text[max(0, len(text)-500):])
}

// bridgeName is the network of the tests' own engine: any dockerd that is started without one takes docker0 away from others.
const bridgeName = "hermes-test"

func bridge() bool {
	if exec.Command("ip", "link", "show", bridgeName).Run() == nil {
		return true
	}
	return exec.Command("ip", "link", "add", bridgeName, "type", "bridge").Run() == nil &&
		exec.Command("ip", "addr", "add", "172.31.254.1/24", "dev", bridgeName).Run() == nil &&
		exec.Command("ip", "link", "set", bridgeName, "up").Run() == nil
}

// rootful is Docker as root: the one that scripts/engines started, or one of our own.
func rootful(t testing.TB) *rig {
	t.Helper()
	shared.docker.Do(func() {
		host := os.Getenv("HERMES_TEST_DOCKER")
		if host == "" {
			_, err := exec.LookPath("dockerd")
			_, err2 := exec.LookPath("docker")
			if err != nil || err2 != nil || os.Getuid() != 0 {
				shared.dockerNeeds = "docker and dockerd, and root, or scripts/engines"
				return
			}
			var runtimes []string
			if bridge() {
				runtimes = append(runtimes, "-b", bridgeName)
			}
			if runsc, err := exec.LookPath("runsc"); err == nil {
				runtimes = append(runtimes, "--add-runtime", "runsc="+runsc)
			}
			var stop func()
			host, stop, err = daemon(filepath.Join(shared.dir, "d"), runtimes...)
			if err != nil {
				shared.dockerNeeds = err.Error()
				return
			}
			shared.stop = append(shared.stop, stop)
		}
		shared.dockerRig = &rig{binary: "docker", env: []string{"DOCKER_HOST=" + host}}
		shared.dockerNeeds = shared.dockerRig.equip()
	})
	if shared.dockerNeeds != "" {
		rigtest.Need(t, shared.dockerNeeds)
	}
	return shared.dockerRig
}

// equip makes the image of tests, where it is not there yet.
func (r *rig) equip() (lacks string) {
	if r.engine(context.Background(), nil, io.Discard, "image", "inspect", testImage) == nil {
		return ""
	}
	if _, err := image.FromHost(context.Background(), r.engine, image.Host{Tag: testImage}, io.Discard); err != nil {
		return err.Error()
	}
	return ""
}

// podman is Podman as root, with a state of its own.
func podman(t testing.TB) *rig {
	t.Helper()
	shared.podman.Do(func() {
		if _, err := exec.LookPath("podman"); err != nil || os.Getuid() != 0 {
			shared.podmanNeeds = "podman, and root"
			return
		}
		dir := os.Getenv("HERMES_TEST_PODMAN")
		if dir == "" {
			dir = filepath.Join(shared.dir, "p")
			if err := podmanHome(dir, "/usr/sbin/runc"); err != nil {
				shared.podmanNeeds = err.Error()
				return
			}
		}
		shared.podmanRig = &rig{binary: "podman", env: []string{"CONTAINERS_CONF=" + dir + "/containers.conf", "CONTAINERS_STORAGE_CONF=" + dir + "/storage.conf"}}
		if shared.podmanNeeds = shared.podmanRig.equip(); shared.podmanNeeds == "" {
			shared.stop = append(shared.stop, func() {
				_ = shared.podmanRig.engine(context.Background(), nil, io.Discard, "rm", "-af")
				_ = exec.Command("umount", "-l", dir+"/podman/overlay").Run()
			})
		}
	})
	if shared.podmanNeeds != "" {
		rigtest.Need(t, shared.podmanNeeds)
	}
	return shared.podmanRig
}

// podmanHome writes the settings of a Podman of the tests' own; see scripts/engines.
func podmanHome(dir, runc string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return err
	}
	conf := fmt.Sprintf("[containers]\ndefault_ulimits = [\"nofile=%d:%d\",\"nproc=4096:4096\"]\n[engine]\ncgroup_manager = \"cgroupfs\"\n"+
		"events_logger = \"file\"\nruntime = \"runc\"\n[engine.runtimes]\nrunc = [\"%s\"]\n", files.Max, files.Max, runc)
	return errors.Join(os.WriteFile(filepath.Join(dir, "containers.conf"), []byte(conf), 0o644),
		os.WriteFile(filepath.Join(dir, "storage.conf"), []byte(fmt.Sprintf("[storage]\ndriver = \"overlay\"\ngraphroot = %q\nrunroot = %q\n",
			dir+"/podman", dir+"/podman-run")), 0o644))
}

// client makes the environment of the engine's program.
func (r *rig) client(carry environ.List) environ.List {
	base := environ.Parse(os.Environ())
	for name, value := range environ.Parse(r.env) {
		base[name] = value
	}
	list, _ := environ.New(environ.Config{}).Build(environ.Request{Surface: environ.Engine, Base: base, Carry: carry})
	return list
}

// hardened are the settings of the guide's third step, with the limits that this engine can enforce.
func hardened() plan.Settings {
	return plan.Settings{Image: testImage, Network: exposure.NoNet, NetworkSet: true, Cwd: "/workspace", Limits: plan.Limits{
		CPU: plan.Limit{Value: 1}, Memory: plan.Limit{Value: 5120}, PIDs: plan.Limit{Value: plan.DefaultPIDs}, Disk: plan.Limit{Value: 51200}}, Shm: "1g"}
}

// kept are the settings by which containers are used again.
func kept() plan.Settings {
	s := hardened()
	s.Persistent, s.Across = true, true
	return s
}

// conf is a backend's configuration, without the active probe.
func (r *rig) conf(t testing.TB, s plan.Settings) docker.Config {
	t.Helper()
	runner, _ := programs(t)
	s.Runtime = r.runtime
	state, err := os.MkdirTemp(shared.dir, "state")
	if err != nil {
		t.Fatal(err)
	}
	return docker.Config{
		Binary: r.binary, Search: os.Getenv("PATH"), Client: r.client, Plan: s, State: state, Home: "/root", Filter: func() ([]byte, int) { return seccomp.Filter(seccomp.Options{}) },
		Runner: func(string) (string, error) { return runner, nil }, Log: func(text string) { t.Log(text) },
	}
}

func newBackend(c docker.Config) *docker.Backend { return docker.New(c) }

// backend makes one, and sees to it that nothing is left of it.
func (r *rig) backend(t testing.TB, c docker.Config) *docker.Backend {
	t.Helper()
	b := docker.New(c)
	t.Cleanup(func() {
		_ = b.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		all, err := b.List(ctx)
		if err != nil {
			return // no engine any more
		}
		for _, one := range all {
			if one.Status == "removing" {
				continue
			}
			if !one.Kept {
				t.Errorf("left behind: %+v", one)
			}
			if err := b.Stop(ctx, one.Name); err != nil && !errors.Is(err, docker.ErrUnknown) {
				t.Error(err)
			}
		}
	})
	return b
}

func open(t testing.TB, b *docker.Backend, spec sandbox.Spec) sandbox.Sandbox {
	t.Helper()
	box, err := b.Open(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		_ = box.Close(ctx)
	})
	return box
}

// spec is what a sandbox of a test is made of.
func spec(t testing.TB, env ...string) sandbox.Spec {
	t.Helper()
	s := sandboxtest.Spec(t, "/workspace", env...)
	var list environ.List
	list, _ = environ.New(environ.Config{}).Build(environ.Request{Surface: environ.Docker, Server: environ.Parse(env)})
	s.Env = list
	return s
}

// say runs a text and returns what it printed.
func say(t testing.TB, box sandbox.Sandbox, text string) string {
	t.Helper()
	var out bytes.Buffer
	s, err := box.Run(context.Background(), sandbox.Command{Text: text, Stdout: &out, Stderr: &out, Timeout: time.Minute})
	if err != nil || s.Code != 0 {
		t.Fatalf("%s: %+v, %v, %q", text, s, err, out.String())
	}
	return strings.TrimSpace(out.String())
}
