package container

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"hermes/internal/rigtest"
)

// program returns an engine's client.
func program(t *testing.T, name string) string {
	t.Helper()
	path := rigtest.Program(t, name)
	return path
}

// Every flag that the client's own help names is in the table, and takes what the help says.
func TestTableHasTheClientsFlags(t *testing.T) {
	line := regexp.MustCompile(`^ +(?:-([a-zA-Z]), )?--([a-z0-9-]+)( (?:[a-zA-Z0-9_:-]+|<[^ ]+|\[[^ ]+))?(?:   |$)`)
	for _, engine := range []Engine{Docker, Podman} {
		t.Run(engine.String(), func(t *testing.T) {
			cmd := exec.Command(program(t, engine.String()), "run", "--help")
			cmd.Env = append(os.Environ(), "COLUMNS=200", "HOME="+t.TempDir())
			help, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for text := range strings.Lines(string(help)) {
				m := line.FindStringSubmatch(strings.TrimRight(text, "\n") + "   ")
				if m == nil {
					if strings.HasPrefix(strings.TrimSpace(text), "--") {
						t.Errorf("not understood: %s", text)
					}
					continue
				}
				n++
				want := toggle
				if m[3] != "" {
					want = value
				}
				a, ok := find(engine, m[2])
				if !ok || a.takes != want {
					t.Errorf("--%s: %t %v, want %v", m[2], ok, a.takes, want)
				}
				if m[1] != "" {
					if b, ok := find(engine, m[1]); !ok || b.name != a.name {
						t.Errorf("-%s: %+v, want --%s", m[1], b, m[2])
					}
				}
			}
			if n < 90 {
				t.Errorf("only %d flags in the help", n)
			}
		})
	}
}

// created is the part of a client's request that the judgements are about.
type created struct {
	Image      string
	Env        []string
	HostConfig struct {
		Binds, CapAdd, SecurityOpt, VolumesFrom                          []string
		Privileged                                                       bool
		NetworkMode, PidMode, IpcMode, UTSMode, UsernsMode, CgroupnsMode string
		Runtime                                                          string
		Devices                                                          []struct{ PathOnHost string }
		DeviceCgroupRules                                                []string
		Mounts                                                           []struct{ Type, Source, Target string }
	}
	Labels map[string]string
}

// listener plays an engine that makes no container: it only keeps what the client asks for.
func listener(t *testing.T) (host string, take func() *created) {
	t.Helper()
	dir, err := os.MkdirTemp("", "hfe")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var last *created
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", "1.45")
		w.Header().Set("OSType", "linux")
		if strings.HasSuffix(r.URL.Path, "/containers/create") {
			c := &created{}
			if err := json.NewDecoder(r.Body).Decode(c); err != nil {
				t.Error(err)
			}
			mu.Lock()
			last = c
			mu.Unlock()
		}
		if !strings.HasSuffix(r.URL.Path, "/_ping") {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, `{"message":"none is made here"}`)
		}
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
		_ = os.RemoveAll(dir)
	})
	return "unix://" + filepath.Join(dir, "s"), func() *created {
		mu.Lock()
		defer mu.Unlock()
		c := last
		last = nil
		return c
	}
}

// What the real client makes of arguments is what Parse reads: where Parse finds no error, the client sends the same image, and
// everything it asks the engine for that could open something has a flag that was read.
func TestTheClientReadsTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: starts a client for each row")
	}
	docker := program(t, "docker")
	host, take := listener(t)
	home := t.TempDir()
	// An oracle for each of the judged parts of the request, by the flag it must come from.
	parts := func(c *created) map[string]bool {
		h := c.HostConfig
		other := func(mode string) bool {
			return mode != "" && mode != "default" && mode != "none" && mode != "private" && mode != "bridge"
		}
		return map[string]bool{
			"privileged": h.Privileged, "volume": len(h.Binds) > 0, "cap-add": len(h.CapAdd) > 0, "security-opt": len(h.SecurityOpt) > 0,
			"volumes-from": len(h.VolumesFrom) > 0, "network": other(h.NetworkMode), "pid": other(h.PidMode), "ipc": other(h.IpcMode),
			"uts": other(h.UTSMode), "userns": other(h.UsernsMode), "cgroupns": other(h.CgroupnsMode), "device": len(h.Devices) > 0,
			"device-cgroup-rule": len(h.DeviceCgroupRules) > 0, "mount": len(h.Mounts) > 0, "runtime": h.Runtime != "",
		}
	}
	rows := []string{
		"--label --privileged", "-l --privileged --privileged", "--privileged=f --pid=host", "-itv/a:/b --ipc=host", "-itv=/a:/b", "-v=/a:/b -m=64m",
		"-h --pid=host", "--hostname --pid=host", "--net host", "--network=name=host,alias=x", "--network name=x", "--entrypoint --privileged -e --pid=host",
		"--mount type=bind,source=/a,target=/b,readonly", "--mount type=volume,target=/b,volume-opt=o=bind,volume-opt=device=/,volume-opt=type=none",
		"-e -v --uts host", "--userns host --cgroupns=host", "--device /dev/null --device-cgroup-rule=a", "--volumes-from x --runtime runsc",
		"--cap-add ALL --security-opt seccomp=unconfined", "-itdPq --pid container:x", "--init=false --rm=T --privileged=1", "-u 0 -w /x -p 1:1 --pid host",
		"-c 5 -a stdout --uts=host", "--health-cmd --privileged", "-v a:/b", "-v /b", "--gpus --privileged --pid=host", "--dns-opt x --net-alias=y --network z",
		"busybox --privileged", "-- --privileged", "--privileged true", "-i=true --privileged", "-it=false --privileged", "--tty=false -v /a:/b",
	}
	for _, row := range flagRows {
		rows = append(rows, "-i "+row.args)
	}
	agreed := 0
	for _, text := range rows {
		args := strings.Fields(text)
		flags, err := Parse(Docker, args)
		cmd := exec.Command(docker, append(append([]string{"-H", host, "create"}, args...), "the/image:1", "the-command")...)
		cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
		answer, _ := cmd.CombinedOutput()
		sent := take()
		if sent == nil || err != nil {
			continue // one of them refuses: nothing runs that was not judged
		}
		agreed++
		if sent.Image != "the/image:1" {
			t.Errorf("%s: Parse finds flags only, the client takes %s for the image\n%s", text, sent.Image, answer)
		}
		for name, asked := range parts(sent) {
			if asked && !slices.ContainsFunc(flags, func(f Flag) bool {
				return f.Name == name || name == "mount" && f.Name == "use-api-socket" || name == "volume" && f.Name == "tmpfs"
			}) {
				t.Errorf("%s: the client asks for %s, which Parse did not find: %+v", text, name, sent.HostConfig)
			}
		}
	}
	if agreed < 50 {
		t.Errorf("only %d of %d rows were read by both", agreed, len(rows))
	}
}
