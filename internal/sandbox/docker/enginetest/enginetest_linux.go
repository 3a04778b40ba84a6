// Package enginetest starts container engines for tests: a Docker and a Podman with all their files in a folder of their own.
//
// It helps tests only, and says nothing about what an engine must do. Failure direction: an engine that cannot be started fails
// the test where components are required (HERMES_TEST_REQUIRE), and skips it elsewhere.
package enginetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes/internal/guard/exposure/container"
	"hermes/internal/rigtest"
)

// Engine is an engine's client, told where its engine is. It is safe for concurrent use.
type Engine struct {
	Kind container.Engine
	Dir  string   // with all the engine's files
	Env  []string // of the client: NAME=value
}

// Run runs the client; an exit code other than 0 is an error with what it printed.
func (e *Engine) Run(ctx context.Context, in io.Reader, out io.Writer, args ...string) error {
	return e.RunWith(ctx, nil, in, out, args...)
}

// RunWith runs the client with more variables, NAME=value.
func (e *Engine) RunWith(ctx context.Context, env []string, in io.Reader, out io.Writer, args ...string) error {
	c := exec.CommandContext(ctx, e.Kind.String(), args...)
	c.Env = append(append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + e.Dir}, e.Env...), env...)
	var errs bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = in, out, &errs
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", e.Kind, args[0], err, strings.TrimSpace(errs.String()))
	}
	return nil
}

// Call runs the client, which has to succeed, and returns what it printed.
func (e *Engine) Call(t testing.TB, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := e.Run(context.Background(), nil, &out, args...); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

// folder makes a folder whose path is short enough for sockets.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "he")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Log(err)
		}
	})
	return dir
}

// Docker starts a dockerd that leaves the host's network alone, and stops it when the test ends. It needs root.
func Docker(t testing.TB) *Engine {
	t.Helper()
	for _, name := range [...]string{"docker", "dockerd"} {
		if _, err := exec.LookPath(name); err != nil {
			rigtest.Need(t, name)
		}
	}
	if os.Geteuid() != 0 {
		rigtest.Need(t, "root, for an engine of the test's own")
	}
	dir := folder(t)
	e := &Engine{Kind: container.Docker, Dir: dir, Env: []string{"DOCKER_HOST=unix://" + dir + "/s"}}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("dockerd", "--data-root", dir+"/data", "--exec-root", dir+"/exec", "-H", "unix://"+dir+"/s", "--pidfile", dir+"/pid",
		"--bridge=none", "--iptables=false", "--ip6tables=false")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		e.empty()
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
		_ = log.Close()
	})
	for range 300 {
		if e.Run(context.Background(), nil, io.Discard, "version") == nil {
			return e
		}
		select {
		case <-ended:
		case <-time.After(100 * time.Millisecond):
			continue
		}
		break
	}
	text, _ := os.ReadFile(log.Name())
	t.Fatalf("dockerd does not answer:\n%s", text[max(0, len(text)-2000):])
	return nil
}

// Podman is a Podman as root with a storage of its own; it has no daemon. It needs root and runc.
func Podman(t testing.TB) *Engine {
	t.Helper()
	if _, err := exec.LookPath("podman"); err != nil {
		rigtest.Need(t, "podman")
	}
	runc, err := exec.LookPath("runc")
	if err != nil {
		rigtest.Need(t, "runc")
	}
	if os.Geteuid() != 0 {
		rigtest.Need(t, "root, for an engine of the test's own")
	}
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	dir := folder(t)
	for name, text := range map[string]string{
		"containers.conf": fmt.Sprintf("[containers]\ndefault_ulimits = [\"nofile=%d:%d\",\"nproc=4096:4096\"]\n[engine]\ncgroup_manager = \"cgroupfs\"\n"+
			"events_logger = \"file\"\nruntime = \"runc\"\n[engine.runtimes]\nrunc = [%q]\n", files.Max, files.Max, runc),
		"storage.conf": fmt.Sprintf("[storage]\ndriver = \"overlay\"\ngraphroot = %q\nrunroot = %q\n", dir+"/data", dir+"/run"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := &Engine{Kind: container.Podman, Dir: dir, Env: []string{"CONTAINERS_CONF=" + dir + "/containers.conf", "CONTAINERS_STORAGE_CONF=" + dir + "/storage.conf"}}
	t.Cleanup(func() {
		e.empty()
		_ = exec.Command("umount", "-l", dir+"/data/overlay").Run()
	})
	return e
}

// empty removes all containers, so that nothing of them runs on.
func (e *Engine) empty() {
	var ids bytes.Buffer
	if e.Run(context.Background(), nil, &ids, "ps", "-aq") == nil && ids.Len() > 0 {
		_ = e.Run(context.Background(), nil, io.Discard, append([]string{"rm", "-f"}, strings.Fields(ids.String())...)...)
	}
}
