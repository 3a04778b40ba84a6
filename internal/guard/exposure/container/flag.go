package container

import (
	"encoding/csv"
	"path"
	"slices"
	"strconv"
	"strings"

	"hermes/internal/guard"
	"hermes/internal/guard/exposure"
)

// Flag judges one flag. No risk means that it leaves everything contained. The error is that of a value the engine would not
// take either.
func (h Host) Flag(f Flag) ([]Risk, error) {
	var out []Risk
	if !f.Known {
		out = []Risk{{Name: "--" + f.Name, Opens: everything, Harms: allHarms, Refused: true,
			Why: "what this flag does is not known here"}}
	} else {
		for _, v := range values(f) {
			one := f
			one.Value = v
			more, err := h.known(one)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		}
	}
	for i := range out {
		out[i].Text = f.Text
		switch a, _ := find(h.Engine, f.Name); {
		case a.takes == toggle:
			out[i].Also = append(out[i].Also, "--"+f.Name)
		default:
			out[i].Also = append(out[i].Also, "--"+f.Name+"="+f.Value)
		}
	}
	return out, nil
}

// values returns what one flag says several of: podman reads these as lists separated by commas. The value as a whole stays
// among them, for an engine that does not.
func values(f Flag) []string {
	switch f.Name {
	case "device", "device-cgroup-rule", "cap-add", "group-add", "add-host", "annotation", "env-file", "chrootdirs", "preserve-fd":
		if !strings.Contains(f.Value, ",") {
			break
		}
		fields, err := csv.NewReader(strings.NewReader(f.Value)).Read()
		if err != nil {
			fields = strings.Split(f.Value, ",")
		}
		if f.Name == "cap-add" {
			return fields
		}
		return append(fields, f.Value)
	}
	return []string{f.Value}
}

func one(r Risk) []Risk { return []Risk{r} }

// refused is a risk that hands over what lies outside.
func refused(name, why string, opens ...exposure.Door) []Risk {
	return one(Risk{Name: name, Why: why, Opens: opens, Harms: allHarms, Refused: true})
}

// told is a risk that is used and told.
func told(name, why string, harms guard.Harms, opens ...exposure.Door) []Risk {
	return one(Risk{Name: name, Why: why, Opens: opens, Harms: harms})
}

func (h Host) known(f Flag) ([]Risk, error) {
	switch f.Name {
	case "volume", "mount", "tmpfs":
		m, err := h.mounted(f)
		if err != nil {
			return nil, err
		}
		return h.Mount(m), nil
	case "privileged":
		if yes(f.Value) {
			r := refused("privileged", "it may do anything the host's kernel can", append([]exposure.Door{exposure.HostProc, exposure.UserNS,
				exposure.Privileges, exposure.BPF, exposure.RawSocket}, everything...)...)
			r[0].Caps = ^exposure.CapSet(0)
			return r, nil
		}
	case "network":
		return network(f.Value), nil
	case "pid", "ipc", "uts", "userns", "cgroupns":
		return namespace(f.Name, f.Value), nil
	case "cap-add":
		return capabilities(f.Value), nil
	case "device":
		return h.device(f.Value), nil
	case "device-cgroup-rule":
		return refused("device-rule", "it may use devices that nobody listed", everything...), nil
	case "security-opt":
		return security(f.Value), nil
	case "volumes-from":
		return refused("volumes-from", "it gets all that another container was shown", everything...), nil
	case "use-api-socket":
		if yes(f.Value) {
			return refused("engine-socket", "the engine's socket and its logins are inside", exposure.EngineSocket, exposure.NamedUnix, exposure.KeyFiles), nil
		}
	case "rootfs":
		if yes(f.Value) {
			return refused("rootfs", "a folder of the host takes the place of the image", everything...), nil
		}
	default:
		return minor(f), nil
	}
	return nil, nil
}

// mounted reads a flag that mounts.
func (h Host) mounted(f Flag) (Mount, error) {
	switch f.Name {
	case "mount":
		return parseMount(f.Value)
	case "tmpfs":
		return parseTmpfs(f.Value), nil
	}
	return ParseVolume(f.Value, h.Windows)
}

// Mounted returns the mount that a flag makes, false for one that makes none.
func (h Host) Mounted(f Flag) (Mount, bool) {
	if f.Name != "volume" && f.Name != "mount" && f.Name != "tmpfs" {
		return Mount{}, false
	}
	m, err := h.mounted(f)
	return m, err == nil
}

// namespace judges which namespace of one kind is used.
func namespace(kind, v string) []Risk {
	which, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(v)), ":")
	switch which {
	case "", "private", "shareable", "none", "auto", "keep-id", "nomap":
		return nil
	}
	doors := map[string][]exposure.Door{
		"pid":      {exposure.HostProc, exposure.Signals, exposure.Ptrace},
		"ipc":      {exposure.NamedUnix},
		"uts":      {},
		"userns":   {exposure.UserNS},
		"cgroupns": {exposure.HostProc},
	}[kind]
	if which == "container" || which == "pod" {
		return told("shared-"+kind, "it shares the "+kind+" namespace of another container, which may be the host's", allHarms, append(doors, exposure.HostProc)...)
	}
	return refused("host-"+kind, "it shares the "+kind+" namespace of the host or of a process there", append(doors, exposure.HostProc)...)
}

// Networks returns the names of the networks a value of --network asks for. Docker takes fields (name=host,alias=x) as well as a
// plain name.
func Networks(v string) []string {
	v = strings.TrimSpace(v)
	if !strings.Contains(v, "=") {
		return strings.Split(v, ",")
	}
	fields, err := csv.NewReader(strings.NewReader(v)).Read()
	if err != nil {
		return []string{v}
	}
	var out []string
	for _, field := range fields {
		if key, name, _ := strings.Cut(field, "="); strings.EqualFold(strings.TrimSpace(key), "name") {
			out = append(out, strings.TrimSpace(name))
		}
	}
	if len(out) == 0 { // podman: bridge:ip=…, slirp4netns:allow_host_loopback=true
		return []string{v}
	}
	return out
}

// network judges --network. A network that is not the host's is no harm of its own: whether there is one at all is asked elsewhere.
func network(v string) (out []Risk) {
	for _, name := range Networks(v) {
		kind, options, _ := strings.Cut(strings.ToLower(name), ":")
		switch {
		case kind == "host", kind == "ns":
			out = append(out, refused("host-network", "it shares the network of the host or of a process there", exposure.HostNet, exposure.LoopbackTCP,
				exposure.LoopbackUDP, exposure.AbstractUnix, exposure.Netlink, exposure.DNS, exposure.Metadata)...)
		case kind == "container", kind == "pod":
			out = append(out, told("shared-network", "it shares the network of another container, which may be the host's", allHarms, exposure.HostNet,
				exposure.LoopbackTCP, exposure.LoopbackUDP, exposure.AbstractUnix)...)
		case kind == "slirp4netns" && strings.Contains(options, "allow_host_loopback=true"), kind == "pasta" && options != "":
			out = append(out, told("host-loopback", "it may reach what listens on the host's loopback", allHarms, exposure.LoopbackTCP, exposure.LoopbackUDP)...)
		}
	}
	return out
}

// capabilities judges --cap-add. Those that hand over the host are refused; those beyond what a hardened container keeps are told.
func capabilities(v string) (out []Risk) {
	for name := range strings.SplitSeq(v, ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		c, known := exposure.Cap(name)
		key := "cap-" + strings.ReplaceAll(strings.TrimPrefix(name, "cap_"), "_", "-")
		switch {
		case name == "all", name == "cap_all":
			r := refused("cap-all", "it holds every capability", everything...)
			r[0].Caps = ^exposure.CapSet(0)
			out = append(out, r...)
		case !known:
			out = append(out, refused(key, "it is no capability that is known here", everything...)...)
		case c&exposure.Harmless() != 0:
		case slices.Contains(strings.Fields(dangerous), strings.TrimPrefix(name, "cap_")):
			r := refused(key, name+" is a way to the host's files, kernel or processes", exposure.HostRead, exposure.HostWrite, exposure.HostProc)
			r[0].Caps = c
			out = append(out, r...)
		default:
			r := told(key, "it holds "+name, guard.Host)
			r[0].Caps = c
			out = append(out, r...)
		}
	}
	return out
}

const dangerous = `sys_admin sys_module sys_rawio sys_ptrace sys_boot sys_time sys_resource dac_read_search mknod bpf perfmon mac_admin
	mac_override syslog linux_immutable checkpoint_restore audit_control`

// device judges --device, by its name and by where that leads.
func (h Host) device(v string) []Risk {
	source, _, _ := strings.Cut(v, ":")
	clean := path.Clean(slashed(source))
	if !strings.HasPrefix(clean, "/") {
		return told("device", "devices that "+v+" stands for are inside", guard.Host, exposure.HostRead, exposure.HostWrite)
	}
	if h.Look != nil {
		if at, known := h.Look(clean); known && at.Real != "" && at.Real != clean {
			return append(node(clean), node(path.Clean(at.Real))...)
		}
	}
	return node(clean)
}

// node judges a device by its path.
func node(clean string) []Risk {
	switch {
	case clean == "/dev" || clean == "/dev/mapper" || clean == "/dev/disk" || clean == "/dev/block" || disk(clean) || !within(clean, "/dev"):
		return refused("host-disk", clean+" is or holds one of the host's disks, its memory, or is not below /dev", everything...)
	}
	if strings.HasPrefix(clean, "/dev/vfio") || strings.HasPrefix(clean, "/dev/cpu/") {
		return refused("host-device", clean+" reaches the host's memory or processors", everything...)
	}
	switch clean {
	case "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty":
		return nil
	case "/dev/uinput", "/dev/uhid", "/dev/vhost-vsock", "/dev/vsock":
		return refused("host-device", clean+" acts on the host", exposure.HostWrite, exposure.VSock)
	}
	return told("device", "the host's device "+clean+" is inside", guard.Host, exposure.HostRead, exposure.HostWrite)
}

// security judges --security-opt, with = or : behind the key.
func security(v string) []Risk {
	i := strings.IndexAny(v, "=:")
	key, setting := v, ""
	if i >= 0 {
		key, setting = v[:i], v[i+1:]
	}
	key, lower := strings.ToLower(strings.TrimSpace(key)), strings.ToLower(strings.TrimSpace(setting))
	switch key {
	case "no-new-privileges":
		if b, err := strconv.ParseBool(lower); i < 0 || err == nil && b {
			return nil
		}
		return told("new-privileges", "programs inside may gain privileges", guard.Host, exposure.Privileges)
	case "seccomp":
		switch lower {
		case "builtin", "default":
			return nil
		case "unconfined":
			return refused("seccomp-unconfined", "no system call is refused by the engine", exposure.UserNS, exposure.IOUring, exposure.BPF,
				exposure.UserFault, exposure.KeyCtl, exposure.Ptrace, exposure.VSock, exposure.PacketSocket)
		}
		return told("seccomp-profile", "which system calls are refused is up to the profile "+setting, guard.Host, exposure.UserNS, exposure.IOUring,
			exposure.BPF, exposure.UserFault, exposure.KeyCtl)
	case "apparmor":
		switch lower {
		case "docker-default", "containers-default", "":
			return nil
		case "unconfined":
			return refused("apparmor-unconfined", "AppArmor does not hold it", exposure.HostProc)
		}
		return told("apparmor-profile", "what AppArmor refuses is up to the profile "+setting, guard.Host)
	case "label":
		if lower == "disable" || strings.Contains(lower, "spc_t") || strings.Contains(lower, "unconfined") {
			return refused("selinux-disable", "SELinux does not hold it", exposure.HostRead, exposure.HostWrite)
		}
		return told("selinux-label", "what SELinux refuses is up to the label "+setting, guard.Host)
	case "systempaths", "unmask":
		return refused("system-paths", "what the engine hides of /proc and /sys is shown", exposure.HostProc, exposure.HostWrite)
	case "mask":
		return nil
	case "proc-opts":
		return told("proc-options", "/proc is mounted with "+setting, guard.Host, exposure.HostProc)
	}
	return refused("security-option", "what the security option "+key+" does is not known here", everything...)
}
