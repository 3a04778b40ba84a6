package container

import (
	"slices"
	"strings"
	"testing"

	"hermes/internal/guard"
	"hermes/internal/guard/exposure"
)

// links are the links of the test's machine; every other path is what it seems.
var links = []struct{ from, to string }{
	{"/srv/everything", "/"}, {"/srv/run", "/run"}, {"/srv/sock", "/run/docker.sock"}, {"/home/u/p/up", "/home/u"}, {"/var/run", "/run"},
	{"/var/run/docker.sock", "/run/docker.sock"}, {"/lib", "/usr/lib"}, {"/srv/etc", "/etc"}, {"/srv/keys", "/home/u/.ssh"}, {"/dev/mine", "/dev/sda"},
}

func machine() Host {
	return Host{
		Engine: Docker, Home: "/home/u", Homes: []string{"/home/u", "/home/v"}, Hermes: "/home/u/.hermes", Dir: "/home/u/p", Work: []string{"/workspace"},
		Sockets: []string{"/opt/engine/my.sock"},
		Look: func(p string) (Path, bool) {
			if strings.HasPrefix(p, "/unknown") {
				return Path{}, false
			}
			at := Path{Real: p, Kind: Dir}
			for _, l := range links {
				if p == l.from {
					at.Real = l.to
				}
			}
			if strings.HasSuffix(p, ".sock") || strings.HasSuffix(p, "/bus") {
				at.Kind = Socket
			}
			return at, true
		},
		Volume: func(name string) (string, bool) {
			switch name {
			case "bound":
				return "/", true
			case "work":
				return "/home/u/p", true
			case "disk":
				return "/dev/mydisk", true
			case "nfs":
				return ":/export", true
			case "mem":
				return "tmpfs", true
			case "over":
				return "overlay", true
			case "unknown":
				return "", false
			}
			return "", true
		},
	}
}

// Volumes, as they stand in terminal.docker_volumes. A name that ends in "!" is refused until it is accepted.
var volumes = []struct{ text, risk string }{
	// Nothing of the host.
	{"cache:/cache", ""},
	{"cache:/cache:ro", ""},

	// The declared work tree harms work, and work only.
	{"/home/u/p:/workspace", "work-tree"},
	{"/home/u/p:/workspace/", "work-tree"},
	{"./:/workspace", "work-tree"},
	{"/home/u/p:/workspace:ro", ""},
	{"/home/u/p:/workspace-old", "host-path"},

	// The system's programs, read-only.
	{"/usr:/usr:ro", ""},
	{"/usr/share/zoneinfo:/zone:ro", ""},
	{"/etc/ssl/certs:/etc/ssl/certs:ro", ""},
	{"/etc/localtime:/etc/localtime:ro", ""},
	{"/lib:/l:ro", ""},
	{"/usr:/usr", "host-path"},

	// Other paths of the host.
	{"/home/u/data:/data", "host-path"},
	{"/home/u/data:/data:ro", "host-path"},
	{"~/data:/data", "host-path"},
	{"../x:/data", "host-path"},
	{"/srv/x:/x:ro,z", "host-path"},
	{"/dev/shm:/dev/shm", "host-path"},

	// Keys.
	{"~/.ssh:/root/.ssh:ro", "key-files"},
	{"/home/u/.aws/credentials:/c:ro", "key-files"},
	{"/home/u/.config:/c:ro", "key-files"},
	{"/srv/app/.env:/e:ro", "key-files"},
	{"/srv/keys:/k:ro", "key-files"},
	{"/etc/shadow:/s:ro", "key-files"},

	// All of the host, however it is spelled.
	{"/:/host", "host-root!"},
	{"/:/host:ro", "host-root!"},
	{"//:/host", "host-root!"},
	{"/home/..:/host", "host-root!"},
	{"/srv/everything:/host:ro", "host-root!"},
	{"bound:/host", "host-root!"},
	{"disk:/host", "host-disk!"},
	{"nfs:/data", "volume-driver"},
	{"mem:/data", ""},
	{"over:/data", "unknown-volume!"},
	{"work:/workspace", "work-tree"},
	{"work:/other", "host-path"},
	{"../../..:/host", "host-root!"},
	{"/:/workspace", "host-root!"},

	// The engine's socket, what it lies in, and links to it. Read-only does not help.
	{"/var/run/docker.sock:/var/run/docker.sock", "engine-socket!"},
	{"/run/docker.sock:/d.sock:ro", "engine-socket!"},
	{"/var/run:/r", "engine-socket!"},
	{"/run:/r:ro", "engine-socket!"},
	{"/var/run/:/r", "engine-socket!"},
	{"/run/user/1000:/r", "engine-socket!"},
	{"/run/user:/r", "engine-socket!"},
	{"/run/user/1000/podman/podman.sock:/p", "engine-socket!"},
	{"/run/user/1000/podman:/p", "engine-socket!"},
	{"/run/podman/podman.sock:/p:ro", "engine-socket!"},
	{"/run/containerd:/c", "engine-socket!"},
	{"/srv/sock:/s", "engine-socket!"},
	{"/srv/run:/s", "engine-socket!"},
	{"/opt/engine:/e", "engine-socket!"},
	{"/opt/engine/my.sock:/e", "engine-socket!"},
	{"/srv/other/docker.sock:/e", "engine-socket!"},
	{"~/.docker/run:/d", "engine-socket!"},
	{"/var/run/docker.sock:/workspace", "engine-socket!"},

	// Other sockets can be talked to.
	{"/run/user/1000/bus:/bus", "host-socket"},
	{"/home/u/agent.sock:/agent:ro", "host-socket"},

	{"/tmp:/tmp", "host-socket"},
	{"/tmp/.X11-unix:/tmp/.X11-unix:ro", "host-socket"},
	{"/tmp/mine:/x", "host-path"},
	{"/run/systemd:/s:ro", "host-bus!"},
	{"/run/dbus/system_bus_socket:/b", "host-bus!"},
	{"/var/run/dbus:/b", "host-bus!"},
	{"/run/udev:/u:ro", "host-socket"},

	// The machine around an engine's virtual one.
	{"/host_mnt:/h", "host-root!"},
	{"/host_mnt/Users/x:/h", "host-home!"},
	{"/host_mnt/Users/x/p:/h", "host-path"},
	{"/run/desktop/mnt/host/c:/h", "host-root!"},
	{"/run/desktop/mnt/host/c/Users/x:/h", "host-home!"},
	{"/mnt/c/Users/x:/h", "host-home!"},
	{"/mnt/c/Users:/h", "host-home!"},
	{"/mnt/data/x:/h", "host-path"},

	// Homes.
	{"/home/u:/h", "host-home!"},
	{"~:/h:ro", "host-home!"},
	{"/home:/h", "host-home!"},
	{"/home/v:/h", "host-home!"},
	{"/home/w:/h", "host-home!"},
	{"/root:/h", "host-home!"},
	{"/Users/x:/h", "host-home!"},
	{"/home/u:/workspace", "host-home!"},
	{"/home/u/p/up:/workspace", "host-home!"},
	{"/home/u/.hermes:/h:ro", "hermes-home!"},
	{"/home/u/.hermes/.env:/h:ro", "hermes-home!"},
	{"/home/u/.hermes/config.yaml:/h", "hermes-home!"},
	{"/home/u/.hermes/skills:/s:ro", "host-path"},

	// The kernel's and the system's own.
	{"/proc:/p:ro", "host-proc!"},
	{"/proc/1/root:/p:ro", "host-proc!"},
	{"/sys:/s", "host-sys!"},
	{"/sys/fs/cgroup:/s", "host-sys!"},
	{"/dev:/d", "host-dev!"},
	{"/dev/sda:/d", "host-disk!"},
	{"/dev/mapper/root:/d", "host-disk!"},
	{"/etc:/e", "host-etc!"},
	{"/etc:/e:ro", "host-etc!"},
	{"/srv/etc:/e:ro", "host-etc!"},
	{"/var/lib/docker:/e", "host-var-lib-docker!"},

	// What is not known is the worst.
	{"/unknown/x:/x:ro", "unknown-path!"},
	{"~v/x:/x", "unknown-path!"},
	{"unknown:/x", "unknown-volume!"},
}

func TestVolumes(t *testing.T) {
	h := machine()
	for _, row := range volumes {
		m, err := ParseVolume(row.text, false)
		if err != nil {
			t.Errorf("%s: %v", row.text, err)
			continue
		}
		if got := names(h.Mount(m)); got != row.risk {
			t.Errorf("%s: %q, want %q", row.text, got, row.risk)
		}
	}
}

func names(risks []Risk) string {
	var out []string
	for _, r := range risks {
		name := r.Name
		if r.Refused {
			name += "!"
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return strings.Join(out, " ")
}

// One mount in every spelling is judged the same.
func TestSpellingsOfAMount(t *testing.T) {
	spellings := []string{
		"-v %s:/x", "-v=%s:/x", "-v%s:/x", "--volume %s:/x", "--volume=%s:/x", "-itv %s:/x", "-itv%s:/x", "-itv=%s:/x", "-v %s:/x:rw", "-v %s:/x:ro",
		"-v %s:/x:ro,z", "-v %s:/x:rshared",
		"--mount type=bind,source=%s,target=/x", "--mount=type=bind,src=%s,dst=/x", "--mount destination=/x,source=%s,type=bind",
		"--mount type=bind,source=%s,target=/x,readonly", "--mount type=BIND,Source=%s,target=/x", `--mount "type=bind","source=%s","target=/x"`,
		"--mount type=bind,source=%s,target=/x,bind-propagation=rshared", "--mount type=bind,source=/tmp/x,source=%s,target=/x",
		"--mount type=volume,target=/x,volume-opt=type=none,volume-opt=o=bind,volume-opt=device=%s",
		`--mount type=volume,target=/x,"volume-opt=o=bind,rw",volume-opt=device=%s`, "--mount target=/x,volume-opt=device=%s,volume-opt=o=rbind",
		"--mount source=%s,target=/x",
	}
	for _, source := range []string{"/", "/var/run/docker.sock", "/var/run", "/proc", "/etc", "/home/u", "/srv/everything", "/dev"} {
		want := names(machine().Mount(Mount{Kind: Bind, Source: source, Target: "/x", Write: true}))
		if !strings.HasSuffix(want, "!") {
			t.Fatalf("%s is not refused", source)
		}
		for _, spelling := range spellings {
			args := strings.Fields(strings.ReplaceAll(spelling, "%s", source))
			for _, engine := range []Engine{Docker, Podman} {
				if got := judge(t, engine, args); got != want {
					t.Errorf("%s %q: %q, want %q", engine, args, got, want)
				}
			}
		}
	}
}

// judge returns the names of what arguments open, or "error".
func judge(t *testing.T, engine Engine, args []string) string {
	t.Helper()
	h := machine()
	h.Engine = engine
	flags, err := Parse(engine, args)
	if err != nil {
		return "error"
	}
	var all []Risk
	for _, f := range flags {
		risks, err := h.Flag(f)
		if err != nil {
			return "error"
		}
		all = append(all, risks...)
	}
	return names(all)
}

func TestParseVolume(t *testing.T) {
	for _, row := range []struct {
		text    string
		windows bool
		kind    MountKind
		source  string
		target  string
		write   bool
	}{
		{"/a:/b", false, Bind, "/a", "/b", true},
		{"/a:/b:ro", false, Bind, "/a", "/b", false},
		{"/a:/b:rw,ro", false, Bind, "/a", "/b", true},
		{"/a:/b:", false, Bind, "/a", "/b", true},
		{"a:/b", false, Named, "a", "/b", true},
		{"a.b:/b", false, Named, "a.b", "/b", true},
		{"./a:/b", false, Bind, "./a", "/b", true},
		{"~:/b", false, Bind, "~", "/b", true},
		{"/b", false, Anonymous, "", "/b", true},
		{`C:\x:/b`, false, Bind, `C:\x`, "/b", true},
		{`C:\x:/b:ro`, true, Bind, `C:\x`, "/b", false},
		{"c:/x:/b", false, Bind, "c:/x", "/b", true},
		{"c:/x", false, Named, "c", "/x", true},
		{`C:\x:D:\y`, true, Bind, `C:\x`, `D:\y`, true},
		{`\\.\pipe\docker_engine:\\.\pipe\docker_engine`, true, Bind, `\\.\pipe\docker_engine`, `\\.\pipe\docker_engine`, true},
	} {
		m, err := ParseVolume(row.text, row.windows)
		if err != nil || m.Kind != row.kind || m.Source != row.source || m.Target != row.target || m.Write != row.write {
			t.Errorf("%s: %+v, %v", row.text, m, err)
		}
	}
	for _, text := range []string{"", ":", "a:", ":/b", "/a:b", "/a:/b:ro:x", "/a:/b\x00", "a:b:c:d", "/a:./b"} {
		if m, err := ParseVolume(text, false); err == nil {
			t.Errorf("%q: %+v, no error", text, m)
		}
	}
}

func TestWindowsMounts(t *testing.T) {
	h := machine()
	h.Windows, h.Home, h.Homes, h.Hermes, h.Dir = true, `C:\Users\u`, nil, `C:\Users\u\.hermes`, `C:\src\p`
	for _, row := range []struct{ text, risk string }{
		{`C:\:/host`, "host-root!"}, {`c:/:/host`, "host-root!"}, {`C:\Users\u:/h`, "host-home!"}, {`C:\Users:/h`, "host-home!"}, {`C:\Users\other:/h:ro`, "host-home!"},
		{`\\.\pipe\docker_engine:\\.\pipe\docker_engine`, "engine-socket!"}, {`C:\src\p:/workspace`, "work-tree"}, {`C:\src\q:/q:ro`, "host-path"},
		{`C:\Users\u\.hermes\.env:/e`, "hermes-home!"},
	} {
		m, err := ParseVolume(row.text, true)
		if err != nil {
			t.Errorf("%s: %v", row.text, err)
		} else if got := names(h.Mount(m)); got != row.risk {
			t.Errorf("%s: %q, want %q", row.text, got, row.risk)
		}
	}
}

// What is told says which harm is no longer contained, and opens the door that makes it so.
func TestHarms(t *testing.T) {
	h := machine()
	for _, row := range []struct {
		text  string
		harms guard.Harms
		door  exposure.Door
	}{
		{"/home/u/p:/workspace", guard.Work, exposure.GitHooks},
		{"/srv/x:/x:ro", guard.Host, exposure.HostRead},
		{"/srv/x:/x", guard.Host | guard.Work, exposure.HostWrite},
		{"/home/u/.ssh:/k:ro", guard.Host | guard.Leak, exposure.KeyFiles},
		{"/run/user/1000/bus:/b", allHarms, exposure.NamedUnix},
		{"/var/run/docker.sock:/d", allHarms, exposure.EngineSocket},
		{"/:/x", allHarms, exposure.EngineSocket},
	} {
		m, err := ParseVolume(row.text, false)
		if err != nil {
			t.Fatal(err)
		}
		risks := h.Mount(m)
		if len(risks) != 1 || risks[0].Harms != row.harms || !slices.Contains(risks[0].Opens, row.door) || risks[0].Text != row.text || risks[0].Why == "" {
			t.Errorf("%s: %+v", row.text, risks)
		}
	}
}

func TestZeroHostRefuses(t *testing.T) {
	for _, text := range []string{"/a:/b:ro", "a:/b", "./a:/b", "~/a:/b", "/usr:/usr:ro", "/a:/workspace"} {
		m, err := ParseVolume(text, false)
		if err != nil {
			t.Fatal(err)
		}
		if risks := (Host{}).Mount(m); len(risks) != 1 || !risks[0].Refused {
			t.Errorf("%s: %+v", text, risks)
		}
	}
	if risks := (Host{}).Mount(Mount{}); len(risks) != 1 || !risks[0].Refused {
		t.Errorf("the zero mount: %+v", risks)
	}
}

func TestAccepted(t *testing.T) {
	r := Risk{Name: "host-root", Text: "/:/host"}
	for _, row := range []struct {
		list []string
		want bool
	}{
		{nil, false}, {[]string{"*"}, false}, {[]string{""}, false}, {[]string{"all"}, false}, {[]string{"host"}, false}, {[]string{"host-root"}, true},
		{[]string{" host-root "}, true}, {[]string{"/:/host"}, true}, {[]string{"/"}, false}, {[]string{"engine-socket"}, false},
	} {
		if got := r.Accepted(row.list); got != row.want {
			t.Errorf("%q: %t", row.list, got)
		}
	}
	for _, row := range []struct {
		args  string
		entry string
	}{
		{"--net host", "--network=host"}, {"--net host", "--net host"}, {"--net=host", "host-network"}, {"--privileged=1", "--privileged"}, {"-v /:/host", "/"},
		{"-v /var/run/docker.sock:/d:ro", "/var/run/docker.sock"}, {"--mount type=bind,src=/etc,dst=/e", "/etc"}, {"--cap-add=SYS_ADMIN", "cap-sys-admin"},
	} {
		flags, err := Parse(Docker, strings.Fields(row.args))
		if err != nil {
			t.Fatal(err)
		}
		risks, err := machine().Flag(flags[0])
		if err != nil || len(risks) != 1 || !risks[0].Accepted([]string{"x", row.entry}) || risks[0].Accepted([]string{"x"}) {
			t.Errorf("%s is not accepted by %s: %+v, %v", row.args, row.entry, risks, err)
		}
	}
	if (Risk{}).Accepted([]string{""}) {
		t.Error("a risk without a name is accepted by an empty entry")
	}
}
