package command

import (
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell"
)

// escapes are rules beyond the original's table: a container or a namespace that reaches the host.
func escapes() table {
	engines := func() match { return runs("docker", "podman", "nerdctl") }
	return table{
		{
			Key:    "container with the host's rights",
			Harms:  guard.Host,
			Match:  all(engines(), when(runsOpen)),
			Why:    "lets what runs in the container act as the host",
			Remedy: "give it only the work tree: `docker run --rm -v \"$PWD:/src\" -w /src alpine ls`",
			Hits: []string{
				"docker run --privileged -it ubuntu bash", "docker create --privileged alpine", "docker exec --privileged -u 0 web sh",
				"docker run --pid=host --net=host alpine", "docker run --pid host alpine",
				"podman run --userns=host x", "docker run --cap-add=ALL debian", "docker run --cap-add SYS_ADMIN x",
				"docker run --security-opt seccomp=unconfined x", "docker run --device=/dev/sda x",
				"docker container run --privileged x", "nerdctl run --privileged x", "docker run --cap-add cap_sys_module x",
				"docker compose run --privileged x",
			},
			Passes: []string{
				`docker run --rm -v "$PWD:/src" -w /src alpine ls`, "docker run --network none x", "docker run --cap-drop ALL x",
				"docker run --device /dev/dri x", "docker run x --privileged",
				"docker exec -it web sh", "docker run --security-opt no-new-privileges x", "docker run --pid=container:web x",
				"docker run -h myhost alpine",
			},
		},
		{
			Key:    "container with a part of the host",
			Harms:  guard.Host | guard.Leak,
			Match:  all(runs("docker", "podman", "nerdctl", "buildah"), when(mountsHost)),
			Why:    "lets what runs in the container change the host or read its secrets",
			Remedy: "give it only the work tree: `docker run --rm -v \"$PWD:/src\" -w /src alpine ls`",
			Hits: []string{
				"docker run -v /:/host alpine", "docker run -v /etc:/e alpine", "docker run -v /var/run/docker.sock:/var/run/docker.sock x",
				"docker run --mount type=bind,source=/,target=/mnt busybox",
				`docker run -v "$HOME":/h x`, "docker run -v ~/.ssh:/root/.ssh x", "docker run --volume=/root:/r:ro x", "docker run -v/:/h x",
				"docker create -v /proc:/p x", "docker run -v ~:/h x",
				"docker run -v /home/u:/h x", "docker volume create -o type=none -o o=bind -o device=/ x", "docker run -v $HOME/.aws:/root/.aws x",
				"podman run -v /run/podman/podman.sock:/s x",
				"docker run -v=/:/h x", "docker service create --mount type=bind,src=/,dst=/h x", "podman build -v /:/h .",
			},
			Passes: []string{
				`docker run --rm -v "$PWD:/src" -w /src alpine ls`, `docker run -v "$(pwd)/data:/data" x`,
				"docker run -v pgdata:/var/lib/postgresql/data postgres", "docker run -v ./src:/src x",
				"docker run -v /etc/localtime:/etc/localtime:ro x", "docker run -v ~/.m2:/root/.m2 maven mvn test", "docker run -v /tmp/out:/out x",
				`docker run -v "$DATA:/data" x`,
				"docker run --mount type=bind,src=./a,dst=/a x", "docker run --mount type=volume,src=v,dst=/v x", "docker run --tmpfs /etc x",
				"docker volume create cache",
			},
		},
		{
			Key:   "container tool that reaches the host",
			Harms: guard.Host,
			Match: either(
				all(runs("ctr", "crictl", "buildah", "buildctl", "apptainer", "singularity", "systemd-nspawn", "kaniko", "img"), given("--privileged",
					"--net-host", "--cap-add", "--isolation=chroot", "security.insecure")),
				all(runs("ctr", "buildah", "apptainer", "singularity", "systemd-nspawn", "enroot", "udocker"), says("src=/,", "source=/,", "/:/",
					"--bind=/", "--bind-ro=/", "src=/etc", "src=/root", "docker.sock", "containerd.sock")),
				all(runs("docker", "nerdctl", "podman", "buildctl"), says("security.insecure")),
				all(runs("docker", "docker-compose", "podman", "podman-compose", "nerdctl"), hears("privileged: true", "pid: host",
					"network_mode: host", "docker.sock", "- /:", "\"/:", "userns_mode: host")),
				told(
					verbs{programs: "lxc incus", takes: "-c --config -p --profile -s --storage -n --network -t --type",
						forms: []string{"config device add", "config set", "config edit", "profile edit|set|device", "file push"}},
					verbs{programs: "lxd", forms: []string{"init"}},
					verbs{programs: "runc crun youki", takes: "--root --log --log-format", forms: []string{"run|create|exec|start"}},
					verbs{programs: "machinectl", takes: "-M --machine -H",
						forms: []string{"shell|login|import-*|remove|terminate|poweroff|kill|bind"}},
				),
				all(runs("lxc", "incus"), says("security.privileged", "security.nesting", "raw.lxc", "raw.apparmor", "source=/ ")),
				all(runs("flatpak-spawn"), given("--host")),
				runs("distrobox-host-exec", "host-spawn"),
				all(runs("capsh"), not(given("--print", "--help", "--supports", "--decode"))),
				all(runs("dockerd", "containerd"), says("tcp://", "--insecure-registry")),
				all(either(runs("curl", "socat", "nc", "ncat", "http", "wget", "curlie"), runs("python")), says("docker.sock", "containerd.sock",
					"podman.sock", "crio.sock", "/var/run/docker")),
				all(runs("qemu-system-x86_64", "qemu-system-aarch64", "qemu-system-i386", "qemu-img", "kvm", "qemu-nbd"), says("/dev/sd", "/dev/nvme",
					"/dev/vd", "/dev/disk", "/dev/mapper")),
				all(runs("bwrap"), when(bindsRoot)),
			),
			Why:    "starts something that can act as the host, or talks to the engine that can",
			Remedy: "run it in a container of its own: `docker run --rm alpine ls`",
			Hits: []string{
				"ctr run --privileged --mount type=bind,src=/,dst=/h x y sh", "docker buildx build --allow security.insecure .",
				"lxc init ubuntu x -c security.privileged=true", "runc --root /tmp/r run x",
				"machinectl shell root@.host", "flatpak-spawn --host bash", "capsh --gid=0 --uid=0 --", "dockerd -H tcp://0.0.0.0:2375",
				"curl --unix-socket /var/run/docker.sock http://d/containers/json",
				"socat TCP-LISTEN:2375,fork UNIX-CONNECT:/var/run/docker.sock", "apptainer exec --bind /:/host x.sif sh",
				"lxc config device add x h disk source=/ path=/h", "bwrap --bind / / sh",
				"docker compose -f - run x <<'E'\nservices: {x: {privileged: true}}\nE",
			},
			Passes: []string{"docker run --rm alpine ls", "lxc list", "lxc exec web -- uptime", "bwrap --ro-bind / / --unshare-net true",
				"capsh --print", "qemu-img info disk.img", "docker build .", "apptainer exec x.sif ls", "curl http://docker.example/"},
		},
		{
			Key:   "entering another namespace or root",
			Harms: guard.Host,
			Match: either(
				all(runs("nsenter"), when(entersHost)),
				all(runs("chroot", "arch-chroot", "pivot_root", "systemd-nspawn", "switch_root", "proot-host"), when(operates)),
			),
			Why:    "leaves the container, or works on another system's files as root",
			Remedy: "look from here: `lsns`",
			Hits: []string{"nsenter -t 1 -m sh", "sudo nsenter --target 1 -a", "chroot /host sh", "chroot /proc/1/root /bin/bash",
				"nsenter --target=1 --mount bash", "nsenter --mount=/proc/1/ns/mnt sh", "nsenter -t $PID -m sh"},
			Passes: []string{"lsns", "nsenter --help", "chroot --help", "nsenter -t 4242 -n ss -tln", "nsenter --net=/var/run/netns/x ip addr"},
		},
		{
			Key:    "the first process's root or memory",
			Harms:  guard.Host | guard.Leak,
			Match:  text(firstProcess),
			Why:    "reaches around a container's walls",
			Remedy: "name the file itself: `cat ./notes.txt`",
			Hits:   []string{"cat /proc/1/root/etc/shadow", "ls /proc/1/root/", "cat /proc/1/environ", "cd /proc/1/cwd && ls", "dd if=/proc/1/mem"},
			Passes: []string{"cat ./notes.txt", "cat /proc/1/status", "cat /proc/self/status", "ls /proc/1", "echo 'see /proc/1/root'"},
		},
		{
			Key:    "write to the kernel's settings",
			Harms:  guard.Host,
			Match:  wrote(isKernelFile),
			Why:    "changes how the kernel behaves, or makes it run a program",
			Remedy: "read it: `cat /proc/sys/kernel/core_pattern`",
			Hits: []string{"echo '|/tmp/x' > /proc/sys/kernel/core_pattern", "echo /cmd > /tmp/cg/release_agent", "echo 1 | sudo tee /sys/kernel/x",
				"echo x > /sys/fs/cgroup/release_agent", "echo 3 > /proc/sys/vm/drop_caches"},
			Passes: []string{"cat /proc/sys/kernel/core_pattern", "echo x > /proc/self/comm", "echo 100 > /proc/4242/oom_score_adj", "cp /proc/sys/kernel/x ./x", "echo x > ./proc/y"},
		},
		{
			Key:   "workload with the node's rights",
			Harms: guard.Remote | guard.Host,
			Match: all(runs("kubectl", "oc", "k"), either(
				all(told(verbs{programs: "kubectl oc k", takes: kubeTakes, forms: []string{"run|create|apply|patch|debug|set|edit"}}),
					either(says(`"privileged"`, "privileged:", `"hostPath"`, "hostPath:", "hostPID", `"hostNetwork"`, "hostIPC", "SYS_ADMIN"), hears("privileged: true", "hostPath:",
						"hostPID: true", "hostNetwork: true", "hostIPC: true", "\"privileged\":true"), given("--privileged"))),
				all(told(verbs{programs: "kubectl oc k", takes: kubeTakes, forms: []string{"debug"}}), either(says("node/"),
					given("--profile=sysadmin", "--profile=netadmin"))),
				told(verbs{programs: "oc kubectl", takes: kubeTakes, forms: []string{"debug node", "adm policy", "node-shell"}}),
				all(told(verbs{programs: "kubectl oc k", takes: kubeTakes, forms: []string{"label"}}), says("/enforce=privileged")),
			)),
			Why:    "runs something that can act as the node",
			Remedy: "look at what runs: `kubectl get pods -A`",
			Hits: []string{`kubectl run p --image=a --overrides='{"spec":{"hostPID":true}}'`, "kubectl debug node/w1 -it --image=busybox",
				"kubectl apply -f - <<E\nspec: {containers: [{securityContext: {privileged: true}}]}\nE"},
			Passes: []string{"kubectl get pods -A", "kubectl run x --rm -it --image=busybox -- sh", "kubectl debug pod/x -it --image=busybox",
				"kubectl apply -f privileged.yaml", "kubectl get pod -o jsonpath='{.spec.hostNetwork}'"},
		},
		{
			Key:   "dump of a cluster's keys",
			Harms: guard.Leak | guard.Remote,
			Match: either(
				all(runs("etcdctl"), told(verbs{programs: "etcdctl", forms: []string{"get", "snapshot save"}}), either(all(given("--prefix",
					"--from-key"), not(given("--keys-only", "--count-only")), when(fromRoot)), says("/registry/secrets"), word("save"))),
				all(kube(), told(verbs{programs: "kubectl oc k", takes: kubeTakes, forms: []string{"config view"}}), given("--raw", "--flatten")),
			),
			Why:    "prints the secrets of everything that runs there",
			Remedy: "ask for one key: `etcdctl get /app/name`",
			Hits: []string{"etcdctl get / --prefix", "kubectl exec -n kube-system etcd-0 -- sh -c 'etcdctl get / --prefix'",
				"kubectl config view --raw"},
			Passes: []string{"etcdctl get /app/name", "etcdctl get --prefix /config --keys-only", "kubectl config view", "etcdctl member list"},
		},
	}
}

// started returns the options of what an engine starts: those in front of the image or the container.
func (c *ctx) started(i int) (l *line) {
	args := c.args(i)
	var buf [8]int
	for _, k := range spoken(args, engineTakes, buf[:0]) {
		switch args[k].Text {
		case "container", "compose", "pod", "service":
			continue
		case "build", "bud", "from":
			if c.name(i) == "docker" || c.name(i) == "nerdctl" {
				return nil
			}
			fallthrough
		case "run", "create", "exec":
			l = readLine(args[k+1:], grammar{
				short: "aceghlmpuvwe", posix: true, loose: true,
				bools: "d i t it P q rm init privileged detach interactive tty read-only quiet no-healthcheck oom-kill-disable sig-proxy " +
					"publish-all service-ports no-deps no-TTY T build use-aliases replace tls-verify",
			})
			for n := range l.opts {
				o := &l.opts[n]
				o.arg += k + 1
				if len(o.name) == 2 && strings.HasPrefix(o.value.Text, "=") {
					o.value = o.value.Slice(1)
				}
			}
			return l
		}
		if args[k].Text == "volume" && k+1 < len(args) && args[k+1].Is("create") {
			l = readLine(args[k+2:], grammar{short: "od"})
			for n := range l.opts {
				l.opts[n].arg += k + 2
			}
			return l
		}
		// A word of compose's options, or a subcommand that starts nothing.
		if !spokenOf(args, "compose") {
			return nil
		}
	}
	return nil
}

func spokenOf(args []shell.Word, word string) bool {
	for _, w := range args {
		if w.Is(word) {
			return true
		}
	}
	return false
}

// runsOpen holds for a container that is given the host's rights, namespaces or devices.
func runsOpen(c *ctx, i int) (span, bool) {
	l := c.started(i)
	if l == nil {
		return span{}, false
	}
	for _, o := range l.opts {
		v := o.value.Text
		open := false
		switch o.name {
		case "--privileged":
			open = !o.has || v != "false"
		case "--pid", "--net", "--network", "--ipc", "--uts", "--userns", "--cgroupns", "--cgroup-ns":
			open = v == "host"
		case "--cap-add":
			open = strongCapability(v)
		case "--security-opt":
			open = strings.Contains(v, "unconfined") || v == "label=disable" || v == "label:disable" || strings.HasPrefix(v, "unmask=") ||
				strings.HasPrefix(v, "systempaths=") || v == "mask="
		case "--device":
			open = strongDevice(v)
		case "--device-cgroup-rule":
			open = true
		case "--volumes-from":
			open = false
		}
		if open {
			return at(c.args(i)[o.arg]), true
		}
	}
	return span{}, false
}

// strongCapability tells whether one of the capabilities leads out of a container.
func strongCapability(list string) bool {
	for list != "" {
		var one string
		one, list, _ = cut(list, ',')
		switch strings.TrimPrefix(strings.ToUpper(one), "CAP_") {
		case "ALL", "SYS_ADMIN", "SYS_PTRACE", "SYS_MODULE", "SYS_RAWIO", "SYS_BOOT", "DAC_READ_SEARCH", "BPF", "PERFMON", "MAC_ADMIN",
			"MAC_OVERRIDE", "SYSLOG", "SYS_TIME", "MKNOD":
			return true
		}
	}
	return false
}

func strongDevice(v string) bool {
	dev, _, _ := cut(v, ':')
	name, ok := strings.CutPrefix(dev, "/dev/")
	return dev == "/dev" || dev == "/" || ok && (name == "" || name == "mem" || name == "kmem" || name == "port" || name == "fuse" || rawDevice(name))
}

// mountsHost holds for a container or a volume that shares a part of the host which matters.
func mountsHost(c *ctx, i int) (span, bool) {
	l := c.started(i)
	if l == nil {
		return span{}, false
	}
	for _, o := range l.opts {
		if !o.has {
			continue
		}
		switch o.name {
		case "-v", "--volume":
			n := strings.IndexByte(o.value.Text, ':')
			if n < 0 || n == 1 && drive(o.value.Text) {
				continue
			}
			if c.shared(i, head(o.value, n), strings.HasSuffix(o.value.Text, ":ro")) {
				return at(c.args(i)[o.arg]), true
			}
		case "--mount", "-o", "--opt":
			if src, ok := bound(o.value); ok && c.shared(i, src, false) {
				return at(c.args(i)[o.arg]), true
			}
		}
	}
	return span{}, false
}

// bound returns the source of a mount written as "type=bind,source=…".
func bound(w shell.Word) (shell.Word, bool) {
	for n := 0; n <= len(w.Text); {
		end := len(w.Text)
		if k := strings.IndexByte(w.Text[n:], ','); k >= 0 {
			end = n + k
		}
		part := head(w, end).Slice(n)
		for _, key := range [...]string{"source=", "src=", "device=", "volume-opt=device="} {
			if strings.HasPrefix(part.Text, key) {
				return part.Slice(len(key)), true
			}
		}
		n = end + 1
	}
	return shell.Word{}, false
}

// shared tells whether giving a container that path gives it a part of the host which matters.
func (c *ctx) shared(i int, src shell.Word, readOnly bool) bool {
	if src.Text == "" || strings.IndexByte("/.~\x00", src.Text[0]) < 0 {
		return false // a volume's name
	}
	for _, t := range c.targets(src, c.cmd(i).Dir) {
		if t.maybe || t.blind && strings.IndexByte(t.path, 0) < 2 {
			continue
		}
		if c.isVital(t) || c.isHome(t) || c.hostSecret(t, readOnly) {
			return true
		}
	}
	return false
}

// hostSecret tells whether the path is one that decides over the host or holds what is nobody else's business.
func (c *ctx) hostSecret(t target, readOnly bool) bool {
	p := t.path
	if strings.HasSuffix(p, "docker.sock") || strings.HasSuffix(p, "containerd.sock") || strings.HasSuffix(p, "podman.sock") || strings.HasSuffix(p,
		"crio.sock") {
		return true
	}
	switch p {
	case "/home", "/Users", "/run", "/var/run", "/etc/localtime", "/etc/timezone":
		return !strings.HasPrefix(p, "/etc")
	case "/etc/passwd", "/etc/group", "/etc/hosts", "/etc/resolv.conf", "/etc/machine-id":
		return !readOnly
	}
	for _, d := range [...]string{"/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/run/user"} {
		if under(p, d) {
			return !readOnly && d != "/run/user"
		}
	}
	for _, d := range [...]string{"/etc", "/root", "/proc", "/sys", "/boot", "/run", "/var/run", "/var/lib/docker", "/var/lib/containerd",
		"/var/lib/containers", "/var/lib/kubelet", "/var/lib/rancher", "/var/lib/etcd", "/var/spool/cron"} {
		if under(p, d) {
			return true
		}
	}
	for _, d := range [...]string{"/bin", "/sbin", "/lib", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/local/bin", "/usr/local/sbin"} {
		if under(p, d) && !readOnly {
			return p != "/lib/modules"
		}
	}
	for _, d := range [...]string{"/home/", "/Users/"} {
		if rest, ok := strings.CutPrefix(p, d); ok && rest != "" && strings.IndexByte(rest, '/') < 0 {
			return c.facts.Dir != p
		}
	}
	if p == "/dev" || p == "/dev/mem" || c.isRawDevice(t) {
		return true
	}
	return c.isLogin(t) || c.holdsSecret(t) && p != ".env" && !c.inTree(t) || under(p, c.hermesHome())
}

// bindsRoot holds for a sandbox that may write the whole of the host.
func bindsRoot(c *ctx, i int) (span, bool) {
	args := c.args(i)
	for k, w := range args {
		if (w.Is("--bind") || w.Is("--dev-bind")) && k+1 < len(args) && args[k+1].Is("/") {
			return at(w), true
		}
	}
	return span{}, false
}

// entersHost holds for entering the first process's namespaces, or more than another process's network.
func entersHost(c *ctx, i int) (span, bool) {
	args := c.args(i)
	network, other := false, false
	for k, w := range args[1:] {
		t := w.Text
		switch {
		case t == "--help", t == "-h", t == "--version", t == "-V":
			return span{}, false
		case strings.Contains(t, "/proc/1/"), t == "-t1", t == "--target=1", t == "-a", t == "--all":
			return at(w), true
		case (t == "-t" || t == "--target") && k+2 < len(args) && args[k+2].Is("1"):
			return at(w), true
		case t == "-n", t == "--net", strings.HasPrefix(t, "--net="), strings.HasPrefix(t, "-n/"):
			network = true
		case t == "-m", t == "-p", t == "-r", t == "-C", t == "-U", strings.HasPrefix(t, "--mount"), strings.HasPrefix(t, "--pid"),
			strings.HasPrefix(t, "--root"), strings.HasPrefix(t, "--cgroup"), strings.HasPrefix(t, "--user"):
			other = true
		}
		if t != "" && t[0] != '-' && k > 0 && !strings.HasPrefix(args[k].Text, "-") {
			break
		}
	}
	return span{}, other || !network && len(args) > 1
}

// operates holds for a command with a word that is no option.
func operates(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		if w.Text != "" && w.Text[0] != '-' {
			return at(w), true
		}
	}
	return span{}, false
}

// firstProcess holds when a word names the root, the folder or the memory of the first process.
func firstProcess(c *ctx) (span, bool) {
	for i := range c.prog.Commands {
		for _, w := range c.args(i) {
			t := w.Text
			if n := strings.IndexByte(t, '='); n > 0 && n < 12 {
				t = t[n+1:]
			}
			rest, ok := strings.CutPrefix(t, "/proc/1/")
			if !ok {
				continue
			}
			switch part, _, _ := cut(rest, '/'); part {
			case "root", "cwd", "environ", "mem", "maps", "ns":
				return at(w), true
			}
		}
	}
	return span{}, false
}

// fromRoot holds when the keys asked for are all there are.
func fromRoot(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		if w.Text == "" || w.Text == "/" || w.Text == "/registry" || w.Text == "/registry/" {
			return at(w), true
		}
	}
	return span{}, false
}

// isKernelFile tells whether the target is a setting of the kernel or of its control groups.
func isKernelFile(_ *ctx, t target) bool {
	p := t.path
	switch base(p) {
	case "release_agent", "core_pattern", "notify_on_release":
		return true
	}
	if inside(p, "/sys") {
		return true
	}
	if !inside(p, "/proc") {
		return false
	}
	rest := p[len("/proc/"):]
	part, _, _ := cut(rest, '/')
	switch base(p) {
	case "oom_score_adj", "oom_adj", "comm":
		return false
	}
	return part != "self" && part != "thread-self" && part != "mounts"
}
