package plan

import (
	"strings"
	"testing"

	"hermes/internal/guard/environ"
	"hermes/internal/guard/exposure"
	"hermes/internal/guard/exposure/container"
)

// look is a machine on which every path is a directory of its own.
func look(path string) (container.Path, bool) {
	return container.Path{Real: path, Kind: container.Dir}, true
}

func facts() Facts {
	return Facts{Engine: container.Docker, CPU: true, Memory: true, PIDs: true, CgroupVersion: 2, StorageDriver: "overlay2", UID: 1000, GID: 1000, HasUser: true,
		Host: container.Host{Look: look, Volume: func(string) (string, bool) { return "", true }, Home: "/home/u", Hermes: "/home/u/.hermes", Dir: "/home/u/p"}}
}

func settings() Settings {
	return Settings{Name: "hermes-0123abcd", Task: "default", Profile: "default", Image: "busybox:1", Network: exposure.OpenNet, Shm: "1g",
		Limits:     Limits{CPU: Limit{Value: 1}, Memory: Limit{Value: 5120}, PIDs: Limit{Value: DefaultPIDs}, Disk: Limit{Value: 51200}},
		Persistent: true, Across: true, SandboxRoot: "/home/u/.hermes/sandboxes", Cwd: "."}
}

func env(t *testing.T, docker map[string]string, forward ...string) environ.List {
	t.Helper()
	base := map[string]string{}
	for _, f := range forward {
		name, value, _ := strings.Cut(f, "=")
		base[name] = value
	}
	var names []string
	for name := range base {
		names = append(names, name)
	}
	list, _ := environ.New(environ.Config{Forward: names}).Build(environ.Request{Surface: environ.Docker, Base: base, Server: docker})
	return list
}

func TestDefaultLine(t *testing.T) {
	p, err := New(settings(), facts())
	if err != nil {
		t.Fatal(err)
	}
	want := `run -d --init --name hermes-0123abcd --label hermes-agent=1 --label hermes-egress=off --label hermes-fingerprint=` + p.Fingerprint +
		` --label hermes-profile=default --label hermes-task-id=default -w /workspace --cap-drop ALL --cap-add DAC_OVERRIDE --cap-add CHOWN --cap-add FOWNER` +
		` --tmpfs /tmp:rw,nosuid,size=512m --tmpfs /var/tmp:rw,noexec,nosuid,size=256m --security-opt no-new-privileges` +
		` --tmpfs /run:rw,noexec,nosuid,size=64m --cap-add SETUID --cap-add SETGID` +
		` -v /home/u/.hermes/sandboxes/docker/default/home:/root -v /home/u/.hermes/sandboxes/docker/default/workspace:/workspace` +
		` --cpus 1 --memory 5120m --pids-limit 256 --shm-size 1g --log-driver=none busybox:1 sleep infinity`
	if got := strings.Join(p.Run, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(p.NotInForce) != 1 || p.NotInForce[0].What != "disk limit" {
		t.Errorf("not in force: %v", p.NotInForce)
	}
}
