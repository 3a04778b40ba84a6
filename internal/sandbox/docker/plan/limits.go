package plan

import (
	"math"
	"strconv"
	"strings"

	"hermes/internal/guard/exposure"
	"hermes/internal/guard/exposure/container"
	"hermes/internal/sandbox"
)

// limit writes the limits, and that the engine keeps no log. A flag among the extra arguments takes the place of the setting's.
func (b *builder) limit() error {
	l := b.s.Limits
	for _, one := range [...]struct {
		key, what, unit, flag, value string
		limit                        Limit
		can                          bool
		remedy                       string
		asked                        exposure.Limit
	}{
		{"terminal.container_cpu", "cpu limit", "cores", "cpus", number(l.CPU.Value), l.CPU, b.f.CPU, "",
			exposure.Limit{Name: "cpu", Unit: "milli", Asked: uint64(math.Round(l.CPU.Value * 1000))}},
		{"terminal.container_memory", "memory limit", "MB", "memory", number(l.Memory.Value) + "m", l.Memory, b.f.Memory, "",
			exposure.Limit{Name: "memory", Unit: "bytes", Asked: uint64(l.Memory.Value) << 20}},
		{"terminal.container_pids", "process limit", "processes", "pids-limit", number(l.PIDs.Value), l.PIDs, b.f.PIDs, "",
			exposure.Limit{Name: "pids", Asked: uint64(l.PIDs.Value)}},
		{"terminal.container_disk", "disk limit", "MB", "storage-opt", "size=" + number(l.Disk.Value) + "m", l.Disk, b.f.Disk && !b.f.macOS(),
			"overlay2 on XFS with project quotas can", exposure.Limit{Name: "disk", Unit: "bytes", Asked: uint64(l.Disk.Value) << 20}},
	} {
		switch {
		case one.limit.Value < 0:
			return &RefusedError{Setting: one.key, Text: number(one.limit.Value), Why: "a limit is not below 0", Remedy: "0 takes the limit away"}
		case b.has(one.flag):
			b.note("%s: the extra argument --%s takes its place", one.key, one.flag)
			continue
		case one.limit.Value == 0:
			if one.flag == "pids-limit" && b.f.PIDs {
				b.resources = append(b.resources, "--pids-limit", "-1") // the engine may have a default of its own
			}
			continue
		case !one.can && one.limit.Set:
			return &sandbox.MissingError{Backend: "docker", What: one.what, Why: b.cannot(one.flag),
				Remedy: remedy(one.remedy) + "hermes config unset " + one.key}
		case !one.can:
			b.p.NotInForce = append(b.p.NotInForce, Lack{What: one.what, Limit: one.asked.Name, Asked: number(one.limit.Value) + " " + one.unit,
				Why: b.cannot(one.flag), Remedy: one.remedy})
		default:
			b.resources = append(b.resources, "--"+one.flag, one.value)
		}
		one.asked.Want = exposure.ByDefault
		if one.limit.Set {
			one.asked.Want = exposure.Explicitly
		}
		b.limits = append(b.limits, one.asked)
	}
	if shm := strings.TrimSpace(b.s.Shm); shm != "" && shm != "0" && !b.has("shm-size") {
		b.resources = append(b.resources, "--shm-size", shm)
	}
	if !b.has("log-driver") { // what the first process prints is nobody's to keep, and would fill the engine's disk
		b.resources = append(b.resources, "--log-driver=none")
	}
	return nil
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func remedy(first string) string {
	if first == "" {
		return ""
	}
	return first + "; or "
}

// macOS tells whether the engine keeps images where no quota reaches.
func (f Facts) macOS() bool { return f.Desktop }

// cannot says why a limit cannot be enforced.
func (b *builder) cannot(flag string) string {
	engine := b.f.Engine.String()
	switch {
	case flag == "storage-opt" && b.f.StorageDriver != "" && b.f.StorageDriver != "overlay2" && b.f.StorageDriver != "overlay":
		return engine + " with the storage driver " + b.f.StorageDriver + " cannot limit it"
	case flag == "storage-opt":
		return engine + " cannot limit it on this file system"
	case b.f.Rootless && b.f.CgroupVersion == 1:
		return "rootless " + engine + " has no control groups of version 2 here"
	case b.f.Rootless:
		return "rootless " + engine + " was not given this controller"
	}
	return engine + " was not given this controller"
}

// network writes how the container is connected. No network and an allow-list are both no interface at all: with a list, the
// helper bridges to the proxy over its own channel.
func (b *builder) network() error {
	if b.s.Network == exposure.OpenNet {
		return nil
	}
	b.p.NetworkName = "none"
	stated := false
	for _, f := range b.extra {
		if f.Name != "network" {
			continue
		}
		for _, name := range container.Networks(f.Value) {
			if name != "none" {
				return &RefusedError{Setting: "terminal.docker_extra_args", Text: f.Text,
					Why:    "terminal.docker_network is false or terminal.network is " + b.s.Network.String() + ", and this asks for a network",
					Remedy: "take it out of terminal.docker_extra_args, or set terminal.docker_network true and unset terminal.network"}
			}
			stated = true
		}
	}
	for _, f := range b.extra {
		if f.Name == "pod" || f.Name == "pod-id-file" {
			return &RefusedError{Setting: "terminal.docker_extra_args", Text: f.Text, Why: "a pod brings its own network, and terminal.docker_network allows none",
				Remedy: "take it out of terminal.docker_extra_args, or set terminal.docker_network true"}
		}
	}
	if !stated {
		b.resources = append(b.resources, "--network=none")
	}
	if b.s.Resolver.Source != "" && !b.has("sysctl") && !b.f.Remote {
		// Names are asked for at a low port of the container's own, whoever commands run as.
		b.resources = append(b.resources, "--sysctl", "net.ipv4.ip_unprivileged_port_start=53")
	}
	return nil
}
