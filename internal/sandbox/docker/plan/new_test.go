package plan

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"hermes/internal/guard"
	"hermes/internal/guard/exposure"
	"hermes/internal/guard/exposure/container"
	"hermes/internal/sandbox"
)

// Each row changes settings or facts; has and lacks are pieces of the command line, with blanks between arguments.
var lines = []struct {
	what       string
	change     func(*Settings, *Facts)
	has, lacks string // several are separated by " | "
}{
	{"the hardened block of the documentation", func(s *Settings, _ *Facts) {
		s.Network, s.NetworkSet, s.Persistent, s.Across, s.Cwd = exposure.NoNet, true, false, false, "/workspace"
	}, "--network=none | --cap-drop ALL | --tmpfs /workspace:rw,exec,size=10g --tmpfs /home:rw,exec,size=1g --tmpfs /root:rw,exec,size=1g | -w /workspace", " -v "},

	// Capabilities and users.
	{"the image's user may drop to another", nil, "--cap-add SETUID --cap-add SETGID", "--user"},
	{"as the host's user", func(s *Settings, _ *Facts) { s.AsHostUser = true }, "--user 1000:1000", "SETUID | SETGID | userns"},
	{"as the host's user, in memory everybody may write", func(s *Settings, _ *Facts) { s.AsHostUser, s.Persistent = true, false },
		"--tmpfs /root:rw,exec,size=1g,uid=1000,gid=1000 | --tmpfs /workspace:rw,exec,size=10g,uid=1000,gid=1000", ""},
	{"podman gives memory to the user by a word of its own", func(s *Settings, f *Facts) { s.AsHostUser, s.Persistent, f.Engine = true, false, container.Podman },
		"--tmpfs /root:rw,exec,size=1g,U", "--cap-add"},
	{"a user by name", func(s *Settings, _ *Facts) { s.Persistent, s.ExtraArgs = false, []string{"--user=dev"} }, "--tmpfs /root:rw,exec,size=1g,mode=1777", ""},
	{"a capability that is taken away", func(s *Settings, _ *Facts) { s.ExtraArgs = []string{"--cap-drop=chown"} }, "--cap-add FOWNER", "--cap-add CHOWN"},
	{"all of them", func(s *Settings, _ *Facts) { s.ExtraArgs = []string{"--cap-drop=ALL"} }, "--cap-drop ALL", "--cap-add"},
	{"no such numbers on this system", func(s *Settings, f *Facts) { s.AsHostUser, f.HasUser = true, false }, "SETUID | SETGID", "--user"},
	{"a user among the extra arguments", func(s *Settings, _ *Facts) { s.AsHostUser, s.ExtraArgs = true, []string{"-u", "5:5"} }, "-u 5:5", "SETUID | --user"},
	{"rootless docker's root is the host's user", func(s *Settings, f *Facts) { s.AsHostUser, f.Rootless = true, true }, "SETUID", "--user"},
	{"rootless podman keeps the number", func(s *Settings, f *Facts) { s.AsHostUser, f.Rootless, f.Engine = true, true, container.Podman },
		"--user 1000:1000 --userns=keep-id", "SETUID"},

	// Images and engines with ways of their own.
	{"an image with s6", func(_ *Settings, f *Facts) { f.S6 = true }, "--tmpfs /run:rw,exec,nosuid,size=64m", "--init"},
	{"docker from snap", func(s *Settings, _ *Facts) { s.Snap = true }, "--cap-drop ALL", "--init | no-new-privileges"},
	{"podman brings no proxies along", func(_ *Settings, f *Facts) { f.Engine = container.Podman }, "--http-proxy=false", ""},
	{"docker's client brings no proxies along", func(_ *Settings, f *Facts) { f.ClientProxies = []string{"http_proxy", "HTTP_PROXY"} },
		"-e HTTP_PROXY= -e http_proxy=", ""},
	{"another runtime", func(s *Settings, _ *Facts) { s.Runtime = "runsc" }, "--runtime runsc", ""},
	{"an engine that labels mounts", func(_ *Settings, f *Facts) { f.SELinux = true }, "/workspace:/workspace:z", ""},

	// Limits.
	{"no limits", func(s *Settings, _ *Facts) { s.Limits = Limits{} }, "--pids-limit -1", "--cpus | --memory | --storage-opt"},
	{"half a core", func(s *Settings, _ *Facts) { s.Limits.CPU.Value = 0.5 }, "--cpus 0.5", ""},
	{"defaults that cannot be enforced", func(_ *Settings, f *Facts) { f.CPU, f.Memory, f.PIDs = false, false, false }, "--shm-size 1g", "--cpus | --memory | --pids-limit"},
	{"a disk that can be limited", func(_ *Settings, f *Facts) { f.Disk = true }, "--storage-opt size=51200m", ""},
	{"a disk in a virtual machine", func(_ *Settings, f *Facts) { f.Disk, f.Desktop = true, true }, "", "--storage-opt"},
	{"a limit among the extra arguments", func(s *Settings, _ *Facts) { s.ExtraArgs = []string{"-m=64m", "--pids-limit=9"} }, "-m=64m --pids-limit=9", "--memory | --pids-limit 256"},

	{"a log that the owner wants", func(s *Settings, _ *Facts) { s.ExtraArgs = []string{"--log-driver", "local"} }, "--log-driver local", "none"},

	// The network.
	{"an open network", nil, "", "--network"},
	{"an allow-list has no interface", func(s *Settings, _ *Facts) { s.Network = exposure.AllowlistNet }, "--network=none | hermes-egress=allowlist", ""},
	{"unknown is none", func(s *Settings, _ *Facts) { s.Network = exposure.UnknownNet }, "--network=none", ""},
	{"none twice is said once", func(s *Settings, _ *Facts) { s.Network, s.ExtraArgs = exposure.NoNet, []string{"--net", "none"} }, "--net none", "--network=none"},
	{"a network of one's own", func(s *Settings, _ *Facts) { s.ExtraArgs = []string{"--network=mine"} }, "--network=mine", "--network=none"},

	// The work tree. Only a mount at the place itself takes the place.
	{"the folder hermes was started in", func(s *Settings, _ *Facts) { s.MountCwd, s.HostDir = true, "/home/u/p" },
		"-v /home/u/.hermes/sandboxes/docker/default/home:/root | -v /home/u/p:/workspace", "default/workspace"},
	{"in memory too", func(s *Settings, _ *Facts) { s.MountCwd, s.HostDir, s.Persistent = true, "/home/u/p", false }, "-v /home/u/p:/workspace", "--tmpfs /workspace"},
	{"a volume at the place wins", func(s *Settings, _ *Facts) {
		s.MountCwd, s.HostDir, s.Volumes = true, "/home/u/p", []string{"work:/workspace"}
	},
		"-v work:/workspace", "/home/u/p | default/workspace"},
	{"a volume beside it does not", func(s *Settings, _ *Facts) { s.Volumes = []string{"/srv/x:/workspace-old"} }, "default/workspace:/workspace | -v /srv/x:/workspace-old", ""},
	{"nor one below it", func(s *Settings, _ *Facts) { s.Volumes = []string{"x:/workspace/x"} }, "default/workspace:/workspace | -v x:/workspace/x", ""},
	{"an extra argument at the place", func(s *Settings, _ *Facts) { s.ExtraArgs = []string{"--mount", "type=volume,src=w,dst=/workspace"} }, "dst=/workspace", "default/workspace"},
	{"a volume where memory would be", func(s *Settings, _ *Facts) { s.Volumes, s.Persistent = []string{"t:/tmp", "r:/root"}, false }, "-v t:/tmp -v r:/root", "--tmpfs /tmp | --tmpfs /root"},

	// Volumes.
	{"blank and broken ones are left out", func(s *Settings, _ *Facts) { s.Volumes = []string{"", "  ", "/srv/x", "a:/b:ro"} }, "-v a:/b:ro", "/srv/x"},
	{"a home in the source", func(s *Settings, _ *Facts) { s.Volumes = []string{"~/data:/data"} }, "-v /home/u/data:/data", "~"},
	{"a colon in the path", func(s *Settings, _ *Facts) { s.Skills = []Showing{{"/home/u/a:b", "/root/.hermes/skills"}} },
		"--mount type=bind,source=/home/u/a:b,target=/root/.hermes/skills,readonly", ""},
	{"skills and caches can only be read", func(s *Settings, _ *Facts) {
		s.Skills, s.Caches = []Showing{{"/s", "/root/.hermes/skills"}}, []Showing{{"/c", "/root/.hermes/cache/web"}}
	}, "-v /s:/root/.hermes/skills:ro -v /c:/root/.hermes/cache/web:ro", ""},
	{"the helper and its socket", func(s *Settings, _ *Facts) {
		s.Runner, s.Sockets = Showing{"/h/r", RunnerPath}, Showing{"/h/s", SocketDir}
	},
		"-v /h/r:/.hermes/runner:ro -v /h/s:/.hermes/socket ", ""},
	{"another machine has none of these", func(s *Settings, f *Facts) {
		f.Remote = true
		s.Runner, s.Skills = Showing{"/h/r", RunnerPath}, []Showing{{"/s", "/root/.hermes/skills"}}
	}, "--tmpfs /workspace:rw,exec,size=10g", " -v "},

	// Where commands start.
	{"a path of the host below the work tree", func(s *Settings, _ *Facts) { s.MountCwd, s.HostDir, s.Cwd = true, "/home/u/p", "/home/u/p/a" }, "-w /workspace/a", ""},
	{"a path inside", func(s *Settings, _ *Facts) { s.Cwd = "/srv" }, "-w /srv", ""},
	{"a path of the host", func(s *Settings, _ *Facts) { s.Cwd = "/home/u/q" }, "-w /workspace", ""},
}

func TestLines(t *testing.T) {
	for _, row := range lines {
		s, f := settings(), facts()
		if row.change != nil {
			row.change(&s, &f)
		}
		p, err := New(s, f)
		if err != nil {
			t.Errorf("%s: %v", row.what, err)
			continue
		}
		line := strings.Join(p.Run, " ") + " "
		for _, part := range strings.Split(row.has, " | ") {
			if !strings.Contains(line, part) {
				t.Errorf("%s: no %q in\n%s", row.what, part, line)
			}
		}
		for _, part := range strings.Split(row.lacks, " | ") {
			if part != "" && strings.Contains(line, part) {
				t.Errorf("%s: %q in\n%s", row.what, part, line)
			}
		}
		if _, err := container.Parse(f.Engine, p.Run[1:len(p.Run)-3]); err != nil {
			t.Errorf("%s: the line cannot be read: %v", row.what, err)
		}
	}
}

// What is refused, with what has to be done about it.
func TestRefused(t *testing.T) {
	for _, row := range []struct {
		what   string
		change func(*Settings, *Facts)
		names  string // must stand in the error or its remedy; several are separated by " | "
	}{
		{"the engine's socket", func(s *Settings, _ *Facts) { s.Volumes = []string{"/var/run/docker.sock:/d"} }, "docker_volumes | engine-socket | docker_accept_risk"},
		{"a second risk, beside one that is accepted", func(s *Settings, _ *Facts) { s.Volumes, s.Accept = []string{"/etc:/e"}, []string{"host-proc"} },
			`hermes config set terminal.docker_accept_risk '["host-proc","host-etc"]'`},
		{"a privileged container", func(s *Settings, _ *Facts) { s.ExtraArgs = []string{"--privileged"} }, "docker_extra_args | privileged | docker_accept_risk"},
		{"a home as work tree", func(s *Settings, _ *Facts) { s.MountCwd, s.HostDir = true, "/home/u" }, "docker_mount_cwd_to_workspace | host-home"},
		{"a network against the setting", func(s *Settings, _ *Facts) { s.Network, s.ExtraArgs = exposure.NoNet, []string{"--network=bridge"} },
			"docker_network | docker_extra_args"},
		{"the same with fields", func(s *Settings, _ *Facts) { s.Network, s.ExtraArgs = exposure.NoNet, []string{"--net=name=x"} }, "docker_network | docker_extra_args"},
		{"a pod against the setting", func(s *Settings, f *Facts) {
			s.Network, s.ExtraArgs, f.Engine = exposure.NoNet, []string{"--pod=x"}, container.Podman
		}, "docker_network"},
		{"an image among the arguments", func(s *Settings, _ *Facts) { s.ExtraArgs = []string{"alpine"} }, "alpine | image"},
		{"an unknown flag", func(s *Settings, _ *Facts) { s.ExtraArgs = []string{"--new", "x"} }, "--new"},
		{"a flag without its value", func(s *Settings, _ *Facts) { s.ExtraArgs = []string{"-v"} }, "-v | missing"},
		{"another name", func(s *Settings, _ *Facts) { s.ExtraArgs = []string{"--name=x"} }, "--name=x"},
		{"a forged label", func(s *Settings, _ *Facts) { s.ExtraArgs = []string{"-l", "hermes-fingerprint=x"} }, "hermes-"},
		{"labels in a file", func(s *Settings, _ *Facts) { s.ExtraArgs = []string{"--label-file=x"} }, "label-file"},
		{"in the foreground", func(s *Settings, _ *Facts) { s.ExtraArgs = []string{"-d=false"} }, "background"},
		{"another directory", func(s *Settings, _ *Facts) { s.ExtraArgs = []string{"-w/x"} }, "terminal.cwd"},
		{"help", func(s *Settings, _ *Facts) { s.ExtraArgs = []string{"--help"} }, "background"},
		{"the helper's place", func(s *Settings, _ *Facts) { s.Volumes = []string{"x:/.hermes"} }, "Hermes' own"},
		{"below the helper's place", func(s *Settings, _ *Facts) { s.ExtraArgs = []string{"-v", "x:/.hermes/runner"} }, "Hermes' own"},
		{"a secret among the arguments", func(s *Settings, _ *Facts) {
			s.Secrets, s.ExtraArgs = []string{"s3cr3t-value"}, []string{"-e", "A=s3cr3t-value"}
		}, "secret | docker_forward_env"},
		{"a limit below nothing", func(s *Settings, _ *Facts) { s.Limits.CPU.Value = -1 }, "container_cpu"},
		{"a runtime that is a flag", func(s *Settings, _ *Facts) { s.Runtime = "--privileged" }, "docker_runtime"},
		{"two runtimes", func(s *Settings, _ *Facts) { s.Runtime, s.ExtraArgs = "runsc", []string{"--runtime=runc"} }, "docker_runtime"},
		{"this folder on another machine", func(s *Settings, f *Facts) { s.MountCwd, s.HostDir, f.Remote = true, "/home/u/p", true }, "another machine"},
		{"a volume that cannot be read", func(s *Settings, _ *Facts) { s.Volumes = []string{"/a:b"} }, "/a:b"},
		{"an image that is a flag", func(s *Settings, _ *Facts) { s.Image = "--privileged" }, "docker_image"},
		{"a name that is a flag", func(s *Settings, _ *Facts) { s.Name = "--privileged" }, "name"},
		{"no engine", func(_ *Settings, f *Facts) { f.Engine = container.NoEngine }, "engine"},
		{"a machine that nobody looked at", func(s *Settings, f *Facts) { s.Volumes, f.Host.Look = []string{"/srv/x:/x"}, nil }, "unknown-path"},
	} {
		s, f := settings(), facts()
		row.change(&s, &f)
		p, err := New(s, f)
		if err == nil {
			t.Errorf("%s: not refused: %s", row.what, strings.Join(p.Run, " "))
			continue
		}
		text := err.Error()
		var refused *RefusedError
		var missing *sandbox.MissingError
		if errors.As(err, &refused) {
			text += " " + refused.Remedy
			if !errors.As(err, &missing) || missing.Remedy == "" {
				t.Errorf("%s: no way out is told", row.what)
			}
		}
		for _, part := range strings.Split(row.names, " | ") {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %q does not say %q", row.what, text, part)
			}
		}
		if strings.Contains(text, "s3cr3t") {
			t.Errorf("%s: the secret is told: %s", row.what, text)
		}
	}
}

// A limit that was asked for by name and cannot be had is an error; the same as a default is told.
func TestLimitsThatCannotBeHad(t *testing.T) {
	for _, row := range []struct {
		what string
		set  func(*Settings, *Facts)
	}{
		{"cpu limit", func(s *Settings, f *Facts) { s.Limits.CPU.Set, f.CPU = true, false }},
		{"memory limit", func(s *Settings, f *Facts) { s.Limits.Memory.Set, f.Memory = true, false }},
		{"process limit", func(s *Settings, f *Facts) { s.Limits.PIDs.Set, f.PIDs = true, false }},
		{"disk limit", func(s *Settings, f *Facts) { s.Limits.Disk.Set, f.Disk = true, false }},
	} {
		s, f := settings(), facts()
		f.Disk = true
		row.set(&s, &f)
		var missing *sandbox.MissingError
		if _, err := New(s, f); !errors.As(err, &missing) || missing.What != row.what || missing.Remedy == "" {
			t.Errorf("%s: %v", row.what, err)
		}
		s.Limits.CPU.Set, s.Limits.Memory.Set, s.Limits.PIDs.Set, s.Limits.Disk.Set = false, false, false, false
		p := must(t, s, f)
		if len(p.NotInForce) != 1 || p.NotInForce[0].What != row.what || p.NotInForce[0].Why == "" {
			t.Errorf("%s: not in force: %+v", row.what, p.NotInForce)
		}
	}
}

// What is accepted by name, or only told, is used, and its harm is no longer contained.
func TestRisksAreUsedAndTold(t *testing.T) {
	for _, row := range []struct {
		what   string
		change func(*Settings)
		risk   string
		harms  guard.Harms
		door   exposure.Door
	}{
		{"accepted by name", func(s *Settings) {
			s.Volumes, s.Accept = []string{"/var/run/docker.sock:/d"}, []string{"engine-socket"}
		}, "engine-socket",
			guard.Host | guard.Work | guard.Remote | guard.Leak, exposure.EngineSocket},
		{"accepted as it is written", func(s *Settings) { s.ExtraArgs, s.Accept = []string{"--pid=host"}, []string{"--pid=host"} }, "host-pid",
			guard.Host | guard.Work | guard.Remote | guard.Leak, exposure.HostProc},
		{"a folder of the host", func(s *Settings) { s.Volumes = []string{"/srv/x:/x"} }, "host-path", guard.Host | guard.Work, exposure.HostWrite},
		{"the work tree", func(s *Settings) { s.MountCwd, s.HostDir = true, "/home/u/p" }, "work-tree", guard.Work, exposure.GitHooks},
		{"credential files", func(s *Settings) { s.Credentials = []Showing{{"/home/u/.hermes/t.json", "/root/.hermes/t.json"}} }, "credential-files", guard.Host | guard.Leak, exposure.KeyFiles},
		{"a forwarded secret", func(s *Settings) { s.Env, s.Forward = env(t, nil, "GITHUB_TOKEN=x"), []string{"GITHUB_TOKEN"} }, "environment-secret", guard.Host | guard.Leak, exposure.EnvSecrets},
	} {
		s, f := settings(), facts()
		f.Host.Look = func(p string) (container.Path, bool) {
			kind := container.Dir
			if strings.HasSuffix(p, ".json") {
				kind = container.File
			}
			return container.Path{Real: p, Kind: kind}, true
		}
		row.change(&s)
		p := must(t, s, f)
		i := slices.IndexFunc(p.Risks, func(r container.Risk) bool { return r.Name == row.risk })
		if i < 0 || p.Risks[i].Harms != row.harms || p.Risks[i].Setting == "" {
			t.Errorf("%s: %+v", row.what, p.Risks)
			continue
		}
		if p.Asked.Doors.At(row.door).Asked != exposure.Unasked {
			t.Errorf("%s: %s is still asked to be shut", row.what, row.door)
		}
	}
	if p := must(t, settings(), facts()); len(p.Risks) != 0 || p.Asked.Doors.At(exposure.EngineSocket).Asked != exposure.Explicitly || p.Asked.Tree != exposure.OwnTree {
		t.Errorf("the defaults: %+v", p.Risks)
	}
}

// The work tree is the owner's only where it can be written.
func TestWhoseWorkTree(t *testing.T) {
	for _, row := range []struct {
		volume string
		tree   exposure.Tree
		host   string
	}{
		{"/home/u/p:/workspace", exposure.OwnersTree, "/home/u/p"}, {"/home/u/p:/workspace:ro", exposure.OwnTree, "/home/u/p"},
		{"own:/workspace", exposure.OwnTree, ""}, {"bound:/workspace", exposure.OwnersTree, "/home/u/p"}, {"/home/u/p:/x", exposure.OwnTree, ""}, {"/home/u/p:/workspace/p", exposure.OwnTree, ""},
	} {
		s, f := settings(), facts()
		s.Volumes = []string{row.volume}
		f.Host.Volume = func(name string) (string, bool) {
			if name == "bound" {
				return "/home/u/p", true
			}
			return "", true
		}
		if p := must(t, s, f); p.Asked.Tree != row.tree || p.HostWork != row.host {
			t.Errorf("%s: %s, %q", row.volume, p.Asked.Tree, p.HostWork)
		}
	}
}

// Values travel with each command: the engine would write those of `run` to its disk. An image's own services get what is no
// secret.
func TestVariables(t *testing.T) {
	s, f := settings(), facts()
	s.Env = env(t, map[string]string{"RESOLUTION": "800x600", "VNC_PASSWORD": "p", "MODE": "holds-a-held-one"}, "GH_TOKEN=t")
	s.InitEnv, s.Forward, s.Secrets = []string{"RESOLUTION", "VNC_PASSWORD", "MODE", "ABSENT"}, []string{"GH_TOKEN"}, []string{"a-held-one"}
	p := must(t, s, f)
	if slices.Contains(p.Run, "-e") {
		t.Errorf("run has variables: %q", p.Run)
	}
	if got, want := strings.Join(p.Exec, " "), "-e GH_TOKEN -e MODE -e RESOLUTION -e VNC_PASSWORD"; got != want {
		t.Errorf("exec: %s, want %s", got, want)
	}
	f.S6 = true
	if got := strings.Join(must(t, s, f).Run, " "); !strings.Contains(got, "-e RESOLUTION ") || strings.Count(got, "-e ") != 1 || strings.Contains(got, "800x600") {
		t.Errorf("run of an image with services: %s", got)
	}
}

// Every part of the effective policy is in the fingerprint; what is no part of it is not.
func TestFingerprint(t *testing.T) {
	base := must(t, settings(), facts())
	for _, row := range []struct {
		what   string
		change func(*Settings, *Facts)
		same   bool
	}{
		{"nothing", func(*Settings, *Facts) {}, true},
		{"another name", func(s *Settings, _ *Facts) { s.Name = "hermes-ffffffff" }, true},
		{"the value of a variable", func(s *Settings, _ *Facts) { s.Env = env(t, map[string]string{"A": "b"}) }, true},
		{"another version of the engine", func(_ *Settings, f *Facts) { f.Version = "9" }, true},
		{"another owner", func(s *Settings, _ *Facts) { s.Owner = "x" }, true},
		{"another order of the allow-list", func(s *Settings, _ *Facts) {}, true},
		{"memory", func(s *Settings, _ *Facts) { s.Limits.Memory.Value++ }, false},
		{"cpu", func(s *Settings, _ *Facts) { s.Limits.CPU.Value = 2 }, false},
		{"processes", func(s *Settings, _ *Facts) { s.Limits.PIDs.Value = 1 }, false},
		{"a limit that is not in force", func(_ *Settings, f *Facts) { f.Memory = false }, false},
		{"network", func(s *Settings, _ *Facts) { s.Network = exposure.NoNet }, false},
		{"allow-list", func(s *Settings, _ *Facts) { s.Network, s.Allow = exposure.AllowlistNet, []string{"a"} }, false},
		{"the proxy's posture", func(s *Settings, _ *Facts) { s.Posture = "x" }, false},
		{"image", func(s *Settings, _ *Facts) { s.Image = "busybox:2" }, false},
		{"what the image's name stands for", func(s *Settings, _ *Facts) { s.Digest = "sha256:1" }, false},
		{"user", func(s *Settings, _ *Facts) { s.AsHostUser = true }, false},
		{"capabilities", func(s *Settings, _ *Facts) { s.ExtraArgs = []string{"--cap-add=NET_RAW"} }, false},
		{"a mount", func(s *Settings, _ *Facts) { s.Volumes = []string{"a:/a"} }, false},
		{"a mount that can only be read", func(s *Settings, _ *Facts) { s.Skills = []Showing{{"/s", "/s"}} }, false},
		{"where a link leads", func(_ *Settings, f *Facts) {
			f.Host.Look = func(p string) (container.Path, bool) {
				return container.Path{Real: p + "/x", Kind: container.Dir}, true
			}
		}, false},
		{"the work tree", func(s *Settings, _ *Facts) { s.MountCwd, s.HostDir = true, "/home/u/p" }, false},
		{"a variable's name", func(s *Settings, _ *Facts) {
			s.Env, s.InitEnv = env(t, map[string]string{"A": "b"}), []string{"A"}
		}, false},
		{"an extra argument", func(s *Settings, _ *Facts) { s.ExtraArgs = []string{"--read-only"} }, false},
		{"shared memory", func(s *Settings, _ *Facts) { s.Shm = "2g" }, false},
		{"snap", func(s *Settings, _ *Facts) { s.Snap = true }, false},
		{"runtime", func(s *Settings, _ *Facts) { s.Runtime = "runsc" }, false},
		{"persistent", func(s *Settings, _ *Facts) { s.Persistent = false }, false},
		{"the helper", func(s *Settings, _ *Facts) { s.RunnerHash = "x" }, false},
		{"the helper's filter", func(s *Settings, _ *Facts) { s.Seccomp = "x" }, false},
		{"rootless", func(_ *Settings, f *Facts) { f.Rootless = true }, false},
		{"profile", func(s *Settings, _ *Facts) { s.Profile = "other" }, false},
		{"a task whose label is the same", func(s *Settings, _ *Facts) { s.Task = "a:b" }, false},
		{"shared key", func(s *Settings, _ *Facts) { s.SharedKey = "x" }, false},
		{"where it starts", func(s *Settings, _ *Facts) { s.Cwd = "/srv" }, false},
	} {
		s, f := settings(), facts()
		row.change(&s, &f)
		p := must(t, s, f)
		if (p.Fingerprint == base.Fingerprint) != row.same {
			t.Errorf("%s: the fingerprint is the same: %t", row.what, !row.same)
		}
		if p.Labels[LabelFingerprint] != p.Fingerprint || !slices.Contains(p.Run, LabelFingerprint+"="+p.Fingerprint) {
			t.Errorf("%s: the label is %s", row.what, p.Labels[LabelFingerprint])
		}
	}
	a, b := settings(), settings()
	a.Task, b.Task = "a:b", "a_b"
	if x, y := must(t, a, facts()), must(t, b, facts()); x.Labels[LabelTask] != y.Labels[LabelTask] || x.Fingerprint == y.Fingerprint {
		t.Error("two tasks with one label have one fingerprint")
	}
}

func TestNetworkMode(t *testing.T) {
	for _, row := range []struct {
		network string
		docker  bool
		mode    exposure.Mode
		set     bool
	}{
		{"", true, exposure.OpenNet, false}, {"", false, exposure.NoNet, true}, {"none", true, exposure.NoNet, true}, {"open", false, exposure.OpenNet, true},
		{"allowlist", true, exposure.AllowlistNet, true}, {"other", true, exposure.NoNet, true},
	} {
		if mode, set := NetworkMode(row.network, row.docker); mode != row.mode || set != row.set {
			t.Errorf("%q %t: %s %t", row.network, row.docker, mode, set)
		}
	}
}

func TestWorkdir(t *testing.T) {
	for _, row := range []struct{ cwd, host, want string }{
		{".", "", Workspace}, {"", "", Workspace}, {"a/b", "", Workspace}, {"/workspace", "", Workspace}, {"/root", "", "/root"}, {"/srv/../opt", "", "/opt"},
		{"/home/u", "", Workspace}, {"/Users/u", "", Workspace}, {`C:\x`, "", Workspace}, {"C:/x", "", Workspace},
		{"/home/u/p", "/home/u/p", Workspace}, {"/home/u/p/", "/home/u/p", Workspace}, {"/home/u/p/a/b", "/home/u/p", "/workspace/a/b"},
		{"/home/u/pp", "/home/u/p", Workspace}, {"/home/u/p/../q", "/home/u/p", Workspace}, {"/srv/p2", "/srv/p", "/srv/p2"},
		{`C:\P\a`, `c:\P`, "/workspace/a"}, {"c:/P/a", `C:\P`, "/workspace/a"}, {`C:\PP`, `C:\P`, Workspace},
	} {
		if got := Workdir(row.cwd, row.host); got != row.want {
			t.Errorf("%q below %q: %s, want %s", row.cwd, row.host, got, row.want)
		}
	}
}
