package container

import (
	"strings"
	"testing"

	"hermes/internal/guard/exposure"
)

// Flags of docker run. A name that ends in "!" is refused until it is accepted.
var flagRows = []struct{ args, risk string }{
	// Flags that only shape the container itself.
	{"--memory 512m", ""},
	{"-m=512m --cpus 2", ""},
	{"--shm-size=2g", ""},
	{"--ulimit nofile=1024", ""},
	{"--hostname x", ""},
	{"-it", ""},
	{"--read-only", ""},
	{"--dns 1.1.1.1", ""},
	{"-p 127.0.0.1:80:80", ""},
	{"--tmpfs /x:size=1m", ""},
	{"--label a=--privileged", ""},
	{"-l --privileged", ""}, // the value of -l
	{"--env A=--privileged", ""},
	{"--cap-drop NET_RAW", ""},
	{"-e A=b", ""},

	// Privileged.
	{"--privileged", "privileged!"},
	{"--privileged=true", "privileged!"},
	{"--privileged=1", "privileged!"},
	{"--privileged=T", "privileged!"},
	{"--privileged=false", ""},
	{"--privileged=0", ""},
	{"--privileged=yes", "error"},
	{"--privileged true", "error"}, // "true" would be the image
	{"-it --privileged", "privileged!"},
	{"--label x --privileged", "privileged!"},

	// The host's namespaces.
	{"--pid=host", "host-pid!"},
	{"--pid host", "host-pid!"},
	{"--pid private", ""},
	{"--pid container:x", "shared-pid"},
	{"--ipc host", "host-ipc!"},
	{"--ipc=shareable", ""},
	{"--ipc container:x", "shared-ipc"},
	{"--uts=host", "host-uts!"},
	{"--userns=host", "host-userns!"},
	{"--userns=keep-id", ""},
	{"--userns keep-id:uid=1000", ""},
	{"--cgroupns host", "host-cgroupns!"},
	{"--cgroupns private", ""},
	{"--pid=ns:/proc/1/ns/pid", "host-pid!"},
	{"--network host", "host-network!"},
	{"--net=host", "host-network!"},
	{"--net host", "host-network!"},
	{"--network=HOST", "host-network!"},
	{"--network name=host", "host-network!"},
	{"--network=alias=x,name=host", "host-network!"},
	{`--network="name=host",alias=x`, "host-network!"},
	{"--network none", ""},
	{"--network bridge", ""},
	{"--network mine", ""},
	{"--network container:x", "shared-network"},
	{"--network none --network host", "host-network!"},

	// Capabilities.
	{"--cap-add NET_RAW", "cap-net-raw"},
	{"--cap-add=CHOWN", ""},
	{"--cap-add=cap_chown", ""},
	{"--cap-add SYS_ADMIN", "cap-sys-admin!"},
	{"--cap-add=CAP_SYS_ADMIN", "cap-sys-admin!"},
	{"--cap-add sys_admin", "cap-sys-admin!"},
	{"--cap-add ALL", "cap-all!"},
	{"--cap-add=CAP_ALL", "cap-all!"},
	{"--cap-add SYS_PTRACE", "cap-sys-ptrace!"},
	{"--cap-add DAC_READ_SEARCH", "cap-dac-read-search!"},
	{"--cap-add CHOWN,SYS_MODULE", "cap-sys-module!"},
	{"--cap-add NEW_ONE", "cap-new-one!"},

	// Devices.
	{"--device /dev/sda", "host-disk!"},
	{"--device=/dev/nvme0n1:/dev/x:r", "host-disk!"},
	{"--device /dev/mem", "host-disk!"},
	{"--device /dev", "host-disk!"},
	{"--device /dev/../dev/sda", "host-disk!"},
	{"--device /dev/null,/dev/sda", "host-disk!"},
	{"--device /dev/fuse", "device"},
	{"--device /dev/dri", "device"},
	{"--device /dev/dri/card0", "device"},
	{"--device /dev/bus/usb", "device"},
	{"--device /dev/ubuntu-vg/root", "host-disk!"},
	{"--device /dev/mine", "device host-disk!"}, // a link to a disk
	{"--device /dev/vfio/1", "host-device!"},
	{"--device /dev/cpu/0/msr", "host-device!"},
	{"--device /dev/null", ""},
	{"--device nvidia.com/gpu=all", "device"},
	{"--device /tmp/x", "host-disk!"},
	{"--gpus all", "device"},
	{`--device-cgroup-rule=c 42:* rmw`, "error"}, // Fields cuts it; the whole is below
	{"--device-cgroup-rule=a", "device-rule!"},

	// What holds system calls, files and processes.
	{"--security-opt no-new-privileges", ""},
	{"--security-opt=no-new-privileges:true", ""},
	{"--security-opt=no-new-privileges=false", "new-privileges"},
	{"--security-opt no-new-privileges:0", "new-privileges"},
	{"--security-opt seccomp=unconfined", "seccomp-unconfined!"},
	{"--security-opt seccomp:unconfined", "seccomp-unconfined!"},
	{"--security-opt=SECCOMP=Unconfined", "seccomp-unconfined!"},
	{"--security-opt seccomp=/p.json", "seccomp-profile"},
	{"--security-opt seccomp=builtin", ""},
	{"--security-opt apparmor=unconfined", "apparmor-unconfined!"},
	{"--security-opt apparmor=docker-default", ""},
	{"--security-opt label=disable", "selinux-disable!"},
	{"--security-opt label:disable", "selinux-disable!"},
	{"--security-opt label=type:spc_t", "selinux-disable!"},
	{"--security-opt label=type:svirt_t", "selinux-label"},
	{"--security-opt systempaths=unconfined", "system-paths!"},
	{"--security-opt unmask=ALL", "system-paths!"},
	{"--security-opt writable-cgroups=true", "security-option!"},

	// Other containers, and the engine.
	{"--mount type=volume,source=a,target=/a,volume-driver=local", ""},
	{"--mount type=volume,source=a,target=/a,volume-driver=vieux/sshfs", "volume-driver"},
	{"--volume-driver nfs", "volume-driver"},
	{"--mount type=volume,target=/a,volume-opt=type=tmpfs,volume-opt=device=tmpfs,volume-opt=o=size=1m", ""},
	{"--mount type=volume,target=/a,volume-opt=type=tmpfs,volume-opt=device=/", "host-root!"},
	{"--mount type=volume,target=/a,volume-opt=type=nfs,volume-opt=device=/,volume-opt=o=bind", "host-root!"},
	{"--mount type=volume,target=/a,volume-opt=type=nfs,volume-opt=device=:/x,volume-opt=o=addr=10.0.0.1", "volume-driver"},
	{"--mount type=volume,target=/a,volume-opt=type=ext4,volume-opt=device=/dev/mydisk", "host-disk!"},
	{"--mount type=volume,target=/a,volume-opt=type=ext4,volume-opt=device=UUID=1", "unknown-mount!"},
	{"--mount type=volume,target=/a,volume-opt=type=overlay,volume-opt=device=overlay,volume-opt=o=lowerdir=/", "unknown-mount!"},
	{"--log-driver none", ""},
	{"--log-driver json-file --log-opt max-size=1m", ""},
	{"--log-driver=gelf", "log-driver"},
	{"--volumes-from x", "volumes-from!"},
	{"--volumes-from=x:ro", "volumes-from!"},
	{"--use-api-socket", "engine-socket!"},
	{"--use-api-socket=false", ""},

	// Variables and names.
	{"-e TOKEN", "env"},
	{"--env=TOKEN", "env"},
	{"-eTOKEN", "env"},
	{"--env-file .env", "env-file"},
	{"--add-host x:host-gateway", "host-gateway"},
	{"--add-host x:10.0.0.1", ""},
	{"--runtime runsc", ""},
	{"--runtime=mine", "runtime"},
	{"--runtime /usr/bin/mine", "runtime"},
	{"--annotation a=b", "annotation"},

	// What cannot be read is not guessed at.
	{"--frobnicate", "error"},
	{"--frobnicate x", "error"},
	{"--frobnicate=x", "--frobnicate!"},
	{"--priv", "error"},
	{"-x", "error"},
	{"-volume=/:/x", "host-path"}, // -v with "olume=/:/x", a folder beside this one
	{"busybox", "error"},
	{"--", "error"},
	{"-", "error"},
	{"---privileged", "error"},
	{"--=x", "error"},
	{"--memory", "error"},
	{"-v", "error"},
	{"--detach --memory", "error"},
}

func TestFlags(t *testing.T) {
	for _, row := range flagRows {
		if got := judge(t, Docker, strings.Fields(row.args)); got != row.risk {
			t.Errorf("%s: %q, want %q", row.args, got, row.risk)
		}
	}
	if got := judge(t, Docker, []string{"--device-cgroup-rule", "c 42:* rmw"}); got != "device-rule!" {
		t.Error(got)
	}
}

// Flags that only podman has, or reads in another way.
func TestPodmanFlags(t *testing.T) {
	for _, row := range []struct{ args, risk string }{
		{"--env-host", "env-host!"},
		{"--env-host=false", ""},
		{"--http-proxy", "http-proxy"},
		{"--http-proxy=false", ""},
		{"--rootfs", "rootfs!"},
		{"--pod x", "pod"},
		{"--network slirp4netns", ""},
		{"--network slirp4netns:allow_host_loopback=true", "host-loopback"},
		{"--network slirp4netns:mtu=1500,allow_host_loopback=true", "host-loopback"},
		{"--network pasta:-T,auto", "host-loopback"},
		{"--network ns:/proc/1/ns/net", "host-network!"},
		{"--network bridge:ip=10.0.0.2", ""},
		{"--network mine,host", "host-network!"},
		{"--group-add keep-groups", "host-groups"},
		{"--secret x", "secret"},
		{"--seccomp-policy image", "seccomp-profile"},
		{"--mount type=glob,src=/etc/*,dst=/x", "host-etc!"},
		{"--mount type=glob,src=/h*/u/.ssh/id*,dst=/x", "host-root!"},
		{"--mount type=image,src=busybox,dst=/x", ""},
		{"--mount type=devpts,dst=/dev/pts", ""},
		{"--mount type=new,src=/,dst=/x", "unknown-mount!"},
		{"--preserve-fds 3", "open-files"},
		{"--device /dev/null,/dev/sda", "host-disk!"},
		{"--uidmap 0:100000:1000", ""},
		{"--use-api-socket", "error"},
		{"-v /usr:/x:O", "host-path"},
		{"-v /usr:/x:O,upperdir=/etc,workdir=/srv/w", "host-etc!"},
		{"-v /srv/a:/x:O,upperdir=/srv/everything,workdir=/srv/w", "host-root!"},
		{"--log-opt path=/home/u/.bashrc", "log-path"},
	} {
		if got := judge(t, Podman, strings.Fields(row.args)); got != row.risk {
			t.Errorf("%s: %q, want %q", row.args, got, row.risk)
		}
	}
	if got := judge(t, Docker, []string{"--env-host"}); got != "error" {
		t.Errorf("docker has --env-host: %s", got)
	}
	if got := judge(t, NoEngine, []string{"--init"}); got != "error" {
		t.Errorf("the zero engine reads flags: %s", got)
	}
}

// Capabilities that are added are told with the risk, so that what is read back can be compared.
func TestCapabilitiesAreTold(t *testing.T) {
	admin, _ := exposure.Cap("sys_admin")
	for _, row := range []struct {
		f    Flag
		want exposure.CapSet
	}{
		{Flag{Name: "cap-add", Value: "SYS_ADMIN", Known: true}, admin},
		{Flag{Name: "cap-add", Value: "ALL", Known: true}, ^exposure.CapSet(0)},
		{Flag{Name: "privileged", Value: "true", Known: true}, ^exposure.CapSet(0)},
	} {
		risks, err := machine().Flag(row.f)
		if err != nil || len(risks) != 1 || risks[0].Caps != row.want {
			t.Errorf("%+v: %+v, %v", row.f, risks, err)
		}
	}
}

func TestParse(t *testing.T) {
	flags, err := Parse(Docker, []string{"-itv", "/a:/b", "--net=none", "--rm=false", "-e=A=b", "--new=1"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range flags {
		got = append(got, f.Name+"="+f.Value)
	}
	want := "interactive=true tty=true volume=/a:/b network=none rm=false env=A=b new=1"
	if text := strings.Join(got, " "); text != want {
		t.Errorf("got %s, want %s", text, want)
	}
}
