package docker_test

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes/internal/guard/exposure"
	"hermes/internal/rigtest"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/docker/plan"
)

// ordinary is the user as which rootless Podman is tried.
const ordinary = "hermes-rootless"

// asOrdinary is set in the test that was started again as that user.
const asOrdinary = "HERMES_TEST_ROOTLESS"

// TestRootless starts TestRootlessPodman as an ordinary user, who is made for it.
func TestRootless(t *testing.T) {
	if os.Getuid() != 0 {
		rigtest.Need(t, "root, to make an ordinary user")
	}
	for _, name := range []string{"podman", "newuidmap", "useradd", "userdel", "setpriv", "runc"} {
		if _, err := exec.LookPath(name); err != nil {
			rigtest.Need(t, name)
		}
	}
	dir, err := os.MkdirTemp("", "hr")
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	// A run that was killed may have left the user, with a home that is gone.
	endAll(ordinary)
	_ = exec.Command("userdel", "--remove", ordinary).Run()
	if out, err := exec.Command("useradd", "--create-home", "--home-dir", home, ordinary).CombinedOutput(); err != nil {
		rigtest.Need(t, "a user: "+string(out))
	}
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command("setpriv", append([]string{"--reuid", ordinary, "--regid", ordinary, "--init-groups", name}, args...)...)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + dir + "/tmp", "XDG_RUNTIME_DIR=" + dir + "/run",
			"CONTAINERS_CONF=" + dir + "/containers.conf", asOrdinary + "=" + dir, "HERMES_TEST_REQUIRE=" + os.Getenv("HERMES_TEST_REQUIRE")}
		return cmd
	}
	t.Cleanup(func() {
		_ = command("podman", "rm", "-af").Run()
		_ = command("podman", "unshare", "rm", "-rf", home+"/.local").Run()
		endAll(ordinary) // the process that holds its namespaces stays otherwise
		_ = exec.Command("userdel", "--remove", ordinary).Run()
		_ = os.RemoveAll(dir)
	})
	runner, hermes := programs(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{runner: "runner", hermes: "hermes", self: "docker.test"} {
		if out, err := exec.Command("cp", from, filepath.Join(dir, to)).CombinedOutput(); err != nil {
			t.Fatal(string(out))
		}
	}
	runc, _ := exec.LookPath("runc")
	err = errors.Join(podmanHome(dir, runc), os.Mkdir(dir+"/tmp", 0o700), os.Mkdir(dir+"/run", 0o700), os.Chmod(dir, 0o755))
	if out, chown := exec.Command("chown", "-R", ordinary+":"+ordinary, dir).CombinedOutput(); chown != nil {
		err = errors.Join(err, errors.New(string(out)))
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := command(filepath.Join(dir, "docker.test"), "-test.run", "^TestRootlessPodman$", "-test.v", "-test.timeout", "10m")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestRootlessPodman") {
		t.Errorf("as an ordinary user: %v\n%s", err, out)
	}
}

// endAll kills what runs as a user that was made for a test.
func endAll(name string) {
	u, err := user.Lookup(name)
	if err != nil || u.Uid == "0" {
		return
	}
	files, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), "\nUid:\t"+u.Uid+"\t"+u.Uid+"\t") {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	time.Sleep(100 * time.Millisecond)
}

// TestRootlessPodman does nothing unless TestRootless has started it.
func TestRootlessPodman(t *testing.T) {
	dir := os.Getenv(asOrdinary)
	if dir == "" || os.Getuid() == 0 {
		t.Skip("TestRootless starts it as an ordinary user")
	}
	shared.build.Do(func() { shared.runner, shared.hermes = dir+"/runner", dir+"/hermes" })
	r := &rig{binary: "podman"}
	if lacks := r.equip(); lacks != "" {
		t.Fatal(lacks)
	}
	t.Run("suite", func(t *testing.T) { suite(t, r, kept(), whole) })
	t.Run("way out", func(t *testing.T) { wayOut(t, r) })
	t.Run("limits", func(t *testing.T) {
		// Without control groups of version 2 a rootless engine limits nothing: a default is told, what was asked for is an error.
		if !strings.Contains(r.call(t, "info", "--format", "{{.Host.CgroupsVersion}}"), "v1") {
			t.Skip("this machine has control groups of version 2")
		}
		box := open(t, r.backend(t, r.conf(t, hardened())), spec(t))
		for _, l := range box.Exposure().Limits {
			if l.Grade != exposure.NoGrade {
				t.Errorf("%+v is said to be in force", l)
			}
		}
		asked := hardened()
		asked.Limits.Memory = plan.Limit{Value: 512, Set: true}
		_, err := r.backend(t, r.conf(t, asked)).Open(t.Context(), spec(t))
		var missing *sandbox.MissingError
		if !errors.As(err, &missing) || !strings.Contains(missing.What, "memory") {
			t.Errorf("an explicit limit: %v", err)
		}
	})
	t.Run("boundary", func(t *testing.T) {
		c := r.conf(t, hardened())
		c.Probe = []string{shared.hermes, "sandbox", "probe", "--json", "--targets"}
		box := open(t, r.backend(t, c), spec(t))
		e := box.Exposure()
		if !e.Boundary() || e.Probed.IsZero() {
			t.Errorf("no boundary: %s", e.Summary())
		}
		if id := say(t, box, "id -u"); id != "0" {
			t.Errorf("inside it is user %s", id)
		}
		if !slices.Contains(e.Means, "thrown away at the end") {
			t.Errorf("%q", e.Means)
		}
	})
}
