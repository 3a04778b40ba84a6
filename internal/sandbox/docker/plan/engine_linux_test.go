package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/guard/environ"
	"hermes/internal/guard/exposure"
	"hermes/internal/guard/exposure/container"
	"hermes/internal/sandbox/docker/enginetest"
	"hermes/internal/sandbox/docker/image"
)

// real are the facts of a test's own engine as root, with this machine's own files.
func real(e *enginetest.Engine) Facts {
	return Facts{Engine: e.Kind, CPU: true, Memory: true, PIDs: true, UID: 1234, GID: 5678, HasUser: true, Host: container.Host{
		Volume: func(string) (string, bool) { return "", true },
		Look: func(p string) (container.Path, bool) {
			info, err := os.Stat(p)
			switch {
			case err != nil:
				return container.Path{Real: p, Kind: container.Missing}, true
			case info.IsDir():
				return container.Path{Real: p, Kind: container.Dir}, true
			}
			return container.Path{Real: p, Kind: container.File}, true
		}}}
}

// What is planned is what a real engine makes: each row is a container, and a question to it from inside.
func TestEnginesMakeWhatIsPlanned(t *testing.T) {
	for _, start := range []struct {
		name  string
		start func(testing.TB) *enginetest.Engine
	}{{"docker", func(t testing.TB) *enginetest.Engine { return enginetest.Docker(t) }}, {"podman", func(t testing.TB) *enginetest.Engine { return enginetest.Podman(t) }}} {
		t.Run(start.name, func(t *testing.T) {
			e := start.start(t)
			if _, err := image.FromHost(t.Context(), e.Run, image.Host{Tag: "hermes-test:plan"}, io.Discard); err != nil {
				t.Fatal(err)
			}
			host := t.TempDir()
			if err := os.Chmod(host, 0o755); err != nil { // #nosec: another user looks at it
				t.Fatal(err)
			}
			for i, row := range asked(host) {
				s, f := settings(), real(e)
				s.Name, s.Image, s.Network, s.Persistent, s.SandboxRoot = NewName([4]byte{byte(i)}), "hermes-test:plan", exposure.NoNet, false, filepath.Join(host, fmt.Sprint("box", i))
				if row.change != nil {
					row.change(&s, &f)
				}
				p := must(t, s, f)
				for _, dir := range p.Dirs {
					if err := os.MkdirAll(dir, 0o755); err != nil {
						t.Fatal(err)
					}
					if s.AsHostUser {
						if err := os.Chown(dir, f.UID, f.GID); err != nil {
							t.Fatal(err)
						}
					}
				}
				var out bytes.Buffer
				if err := e.RunWith(t.Context(), p.ClientEnv.Strings(), nil, &out, p.Run...); err != nil {
					t.Errorf("%s: %v\n%q", row.what, err, p.Run)
					continue
				}
				for _, ask := range row.asks {
					out.Reset()
					err := e.RunWith(t.Context(), p.ClientEnv.Strings(), nil, &out, append(append([]string{"exec"}, p.Exec...), p.Name, "bash", "-c", ask[0])...)
					if got := strings.TrimSpace(out.String()); err != nil || got != ask[1] {
						t.Errorf("%s: %s: %q, want %q, %v", row.what, ask[0], got, ask[1], err)
					}
				}
				inspected(t, e, p)
				if e.Kind == container.Docker { // podman keeps what exec was told in its state
					unwritten(t, e, "the-value")
				}
				e.Call(t, "rm", "-f", p.Name)
			}
		})
	}
}

// inspected compares what the engine says of a container with the plan.
func inspected(t *testing.T, e *enginetest.Engine, p Plan) {
	t.Helper()
	var all []struct {
		Config struct {
			Labels map[string]string
			Env    []string
		}
		HostConfig struct {
			NetworkMode string
			Privileged  bool
		}
	}
	if err := json.Unmarshal([]byte(e.Call(t, "inspect", p.Name)), &all); err != nil || len(all) != 1 {
		t.Fatal(err)
	}
	c := all[0]
	for key, want := range p.Labels {
		if c.Config.Labels[key] != want {
			t.Errorf("label %s: %q, want %q", key, c.Config.Labels[key], want)
		}
	}
	if p.NetworkName != "" && c.HostConfig.NetworkMode != p.NetworkName || c.HostConfig.Privileged {
		t.Errorf("inspect: %+v", c.HostConfig)
	}
	for _, v := range c.Config.Env {
		if strings.Contains(v, "the-value") {
			t.Errorf("the engine keeps %s", v)
		}
	}
}

// unwritten fails when a value of a variable is in one of the engine's own files: its settings of a container, its logs.
func unwritten(t *testing.T, e *enginetest.Engine, value string) {
	t.Helper()
	err := filepath.WalkDir(e.Dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // engines remove files meanwhile
		case d.IsDir() && (d.Name() == "overlay" || d.Name() == "overlay2" || d.Name() == "rootfs"):
			return fs.SkipDir // the files of images and containers
		case !d.Type().IsRegular():
			return nil
		}
		if text, err := os.ReadFile(name); err == nil && bytes.Contains(text, []byte(value)) {
			t.Errorf("the engine wrote a value to %s", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// box is one container, and what it is asked from inside.
type box struct {
	what   string
	change func(*Settings, *Facts)
	asks   [][2]string // a text for bash, and what it has to print
}

// asked lists the rows; host is a folder of the test's own.
func asked(host string) []box {
	options := func(at string) string {
		return `grep " ` + at + ` tmpfs " /proc/mounts | cut -d' ' -f4 | tr , '\n' | grep -x 'size=.*\|noexec\|nosuid' | sort | paste -sd' '`
	}
	return []box{
		{"the defaults", nil, [][2]string{
			{"grep CapBnd /proc/1/status", "CapBnd:\t00000000000000cb"},
			{"grep 'NoNewPrivs\\|Seccomp:' /proc/self/status", "NoNewPrivs:\t1\nSeccomp:\t2"},
			{"tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '", "lo"},
			{options("/run"), "noexec nosuid size=65536k"},
			{options("/var/tmp"), "noexec nosuid size=262144k"},
			{"cp /bin/true /workspace/x && /workspace/x && echo ran", "ran"},
			{"touch /workspace/a /root/b /home/c && df --output=fstype /workspace /root /home | sort -u | paste -sd' '", "Type tmpfs"},
			{"pwd", "/workspace"},
		}},
		{"as the host's user", func(s *Settings, _ *Facts) { s.AsHostUser = true }, [][2]string{
			{"grep CapEff /proc/self/status", "CapEff:\t0000000000000000"},
			{"touch /workspace/a /root/b /home/c /tmp/d && id -u && id -g", "1234\n5678"},
		}},
		{"as the host's user, with files that last", func(s *Settings, _ *Facts) { s.Persistent, s.AsHostUser = true, true },
			[][2]string{{"echo x > /root/a && stat -c %u /root/a", "1234"}}},
		{"an image with services", func(_ *Settings, f *Facts) { f.S6 = true }, [][2]string{{options("/run"), "nosuid size=65536k"}}},
		{"sizes and limits", func(s *Settings, _ *Facts) { s.Shm, s.Limits.PIDs.Value, s.Limits.Memory.Value = "32m", 40, 64 }, [][2]string{
			{"df --output=size -m /dev/shm | tail -1 | tr -d ' '", "32"},
			{limitOf("pids", "pids.max"), "40"},
			{limitOf("memory", "memory.limit_in_bytes memory.max"), "67108864"},
		}},
		{"variables, files that last, a folder with a colon", func(s *Settings, _ *Facts) {
			s.Env, s.InitEnv, s.Persistent = environment("A_NAME=the-value"), []string{"A_NAME"}, true
			dir := filepath.Join(host, "skill:s")
			_ = os.MkdirAll(dir, 0o755)
			_ = os.WriteFile(filepath.Join(dir, "f"), []byte("skill"), 0o644)
			s.Skills = []Showing{{dir, "/root/.hermes/skills"}}
		}, [][2]string{
			{"echo $A_NAME | tee /proc/1/fd/1", "the-value"},
			{"echo x > /root/a && echo y > /workspace/b && cat /root/a", "x"},
			{"cat /root/.hermes/skills/f; touch /root/.hermes/skills/g 2>&1 | grep -o 'Read-only'", "skillRead-only"},
		}},
		{"the folder hermes was started in", func(s *Settings, _ *Facts) {
			dir := filepath.Join(host, "project")
			_ = os.MkdirAll(filepath.Join(dir, "a"), 0o755)
			s.MountCwd, s.HostDir, s.Cwd = true, dir, filepath.Join(dir, "a")
		}, [][2]string{{"pwd && ls /workspace", "/workspace/a\na"}}},
		{"a volume of the engine, extra arguments, no proxies", func(s *Settings, f *Facts) {
			s.Volumes, s.ExtraArgs, f.ClientProxies = []string{"hermes-test-v:/workspace"}, []string{"--hostname=h", "--cap-drop", "CHOWN"}, []string{"HTTP_PROXY"}
		}, [][2]string{
			{"touch /workspace/x && ls /workspace && cat /proc/sys/kernel/hostname", "x\nh"},
			{"grep CapBnd /proc/1/status", "CapBnd:\t00000000000000ca"},
			{"echo [$HTTP_PROXY]", "[]"},
		}},
		{"docker from snap", func(s *Settings, _ *Facts) { s.Snap = true }, [][2]string{{"grep NoNewPrivs /proc/self/status", "NoNewPrivs:\t0"}}},
	}
}

// limitOf asks for a limit in control groups of either version.
func limitOf(controller, files string) string {
	return `for f in ` + files + `; do for d in /sys/fs/cgroup/` + controller + ` /sys/fs/cgroup; do [ -e $d/$f ] && cat $d/$f && exit; done; done`
}

func environment(pairs ...string) environ.List {
	list, _ := environ.New(environ.Config{}).Build(environ.Request{Surface: environ.Docker, Server: environ.Parse(pairs)})
	return list
}
