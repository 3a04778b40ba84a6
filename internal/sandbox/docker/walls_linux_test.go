package docker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/guard"
	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox/probe"
)

// probing adds the active probe to a configuration.
func (r *rig) probing(t testing.TB) func(c []string) []string {
	t.Helper()
	_, hermes := programs(t)
	return func([]string) []string { return []string{hermes, "sandbox", "probe", "--json", "--targets"} }
}

// The hardened block contains the host: every door that always matters is shut, on every engine there is.
func TestHardened(t *testing.T) {
	for _, engine := range []struct {
		name string
		rig  func(testing.TB) *rig
	}{{"docker", rootful}, {"podman", podman}, {"runsc", runsc}} {
		t.Run(engine.name, func(t *testing.T) {
			r := engine.rig(t)
			s := hardened()
			if engine.name == "runsc" {
				s = unlimited(s)
			}
			c := r.conf(t, s)
			c.Probe = r.probing(t)(nil)
			b := r.backend(t, c)
			box := open(t, b, spec(t))
			e := box.Exposure()
			if !e.Boundary() || !e.Covers(guard.Host|guard.Work|guard.Remote|guard.Leak) {
				_, reasons := e.Contains(guard.Host | guard.Work | guard.Remote | guard.Leak)
				t.Errorf("not contained: %+v", reasons)
			}
			if e.Probed.IsZero() || e.Runner != exposure.Resident || e.Tree != exposure.OwnTree || e.Network.Force != exposure.NoNet {
				t.Errorf("%+v", e)
			}
			for _, row := range e.Rows() {
				if !row.OK && row.Key != "limit_disk" { // which this machine's file system cannot limit
					t.Errorf("%s: asked %s, in force %s (%s)", row.Name, row.Asked, row.Force, row.Note)
				}
			}
			if err := errors.Join(box.Close(t.Context()), b.Close()); err != nil {
				t.Error(err)
			}
			// Another process of this home takes the answer of the probe, with its age.
			again := open(t, r.backend(t, c), spec(t)).Exposure()
			if !again.Probed.Equal(e.Probed) || !again.Boundary() {
				t.Errorf("probed %v, then %v", e.Probed, again.Probed)
			}
		})
	}
}

// What `docker run` does by itself is no boundary, and the probe says so.
func TestDefaultsAreNoBoundary(t *testing.T) {
	r := rootful(t)
	_, hermes := programs(t)
	dir := t.TempDir()
	stage, err := probe.SetUp(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer stage.Close()
	stage.Targets.Own = []string{"/", "/etc/hosts", "/etc/hostname", "/etc/resolv.conf"}
	text, err := json.Marshal(stage.Targets)
	if err != nil {
		t.Fatal(err)
	}
	out := r.call(t, "run", "--rm", "-v", hermes+":/hermes:ro", testImage, "/hermes", "sandbox", "probe", "--json", "--targets", string(text))
	var e exposure.Exposure
	if err := json.Unmarshal([]byte(out), &e); err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, door := range exposure.AllDoors() {
		if e.Doors[door].Force == exposure.Open {
			found = append(found, door.String())
		}
	}
	t.Logf("open: %q; capabilities %s", found, e.Caps.Held)
	if e.Boundary() {
		t.Error("the defaults of docker run are said to be a boundary")
	}
	if extra := e.Caps.Held &^ exposure.Harmless(); extra == 0 || e.Doors.At(exposure.Privileges).Force != exposure.Open ||
		e.Doors.At(exposure.RawSocket).Force != exposure.Open {
		t.Errorf("capabilities %s, %+v", extra, e.Doors)
	}
}

// What the settings open is seen, told, and no boundary any more; what nobody accepted does not open.
func TestOpened(t *testing.T) {
	r := rootful(t)
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "file"), []byte("of the host"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		what    string
		volumes []string
		args    []string
		accept  []string
		refused string // a part of the error
	}{
		{"a folder", []string{outside + ":/data"}, nil, nil, ""},
		{"the engine's socket", []string{"/var/run/docker.sock:/var/run/docker.sock"}, nil, nil, "refused"},
		{"the root of the host", []string{"/:/host"}, nil, nil, "refused"},
		{"privileged", nil, []string{"--privileged"}, nil, "refused"},
		{"the host's processes", nil, []string{"--pid=host"}, nil, "refused"},
		{"the host's processes, accepted", nil, []string{"--pid=host"}, []string{"host-pid"}, ""},
		{"a capability", nil, []string{"--cap-add=NET_RAW"}, nil, ""},
	} {
		t.Run(row.what, func(t *testing.T) {
			s := hardened()
			s.Volumes, s.ExtraArgs, s.Accept = row.volumes, row.args, row.accept
			b := r.backend(t, r.conf(t, s))
			box, err := b.Open(t.Context(), spec(t))
			if row.refused != "" {
				if err == nil || !strings.Contains(err.Error(), row.refused) {
					t.Errorf("opened: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer box.Close(context.Background())
			if e := box.Exposure(); e.Boundary() {
				t.Errorf("a boundary: %s", e.Summary())
			}
		})
	}
}

// Values of variables stand nowhere but inside the commands: not in a command line, not in what the engine keeps.
func TestSecretsStayOffTheDisk(t *testing.T) {
	const value = "s3cret-value-of-a-token"
	for _, engine := range []struct {
		name string
		rig  func(testing.TB) *rig
	}{{"docker", rootful}, {"podman", podman}} {
		t.Run(engine.name, func(t *testing.T) {
			r := engine.rig(t)
			s := kept()
			s.Forward, s.InitEnv = []string{"DEPLOY_TOKEN"}, []string{"PLAIN"}
			s.Secrets = []string{value}
			c := r.conf(t, s)
			b := r.backend(t, c)
			sp := spec(t, "DEPLOY_TOKEN="+value, "PLAIN=plain-value-of-mine")
			sp.Secrets = []string{value}
			box := open(t, b, sp)
			if got := say(t, box, `echo "$DEPLOY_TOKEN $PLAIN"`); got != value+" plain-value-of-mine" {
				t.Errorf("inside: %q", got)
			}
			for _, secret := range []string{value, "plain-value-of-mine"} {
				if kept := r.call(t, "inspect", container(box)); strings.Contains(kept, secret) {
					t.Errorf("the engine keeps %s", secret)
				}
				if out, _ := exec.Command("grep", "-rlsF", secret, c.State).Output(); len(bytes.TrimSpace(out)) > 0 {
					t.Errorf("%s is in %s", secret, out)
				}
			}
			files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
			for _, file := range files {
				if text, err := os.ReadFile(file); err == nil && bytes.Contains(text, []byte(value)) {
					t.Errorf("the value is in a command line: %q", text)
				}
			}
			if !strings.Contains(box.Exposure().Summary(), "secret") {
				t.Errorf("a secret inside is not told: %s", box.Exposure().Summary())
			}
		})
	}
}

// Nothing of the host's environment is inside, and nothing of the host is mounted but Hermes' own.
func TestNothingOfTheHost(t *testing.T) {
	t.Setenv("HERMES_TEST_OF_THE_HOST", "must not be inside")
	r := rootful(t)
	c := r.conf(t, kept())
	box := open(t, r.backend(t, c), spec(t))
	if got := say(t, box, "env; cat /proc/1/environ | tr '\\0' '\\n'"); strings.Contains(got, "must not be inside") {
		t.Errorf("%s", got)
	}
	for line := range strings.Lines(r.call(t, "inspect", "--format", `{{range .Mounts}}{{.Type}} {{.Source}} {{.Destination}} {{.RW}}{{"\n"}}{{end}}`, container(box))) {
		f := strings.Fields(line)
		if len(f) != 4 {
			continue
		}
		ours := strings.HasPrefix(f[1], c.State) || f[3] == "false" && strings.HasPrefix(f[2], "/.hermes/")
		if f[0] == "bind" && !ours {
			t.Errorf("mounted: %s", line)
		}
	}
}
