package container

import (
	"strings"

	"hermes/internal/guard"
	"hermes/internal/guard/exposure"
)

// minor judges the flags that open little or nothing. Every flag of the table that is not named here or in known only shapes the
// container itself.
func minor(f Flag) []Risk {
	v := strings.ToLower(strings.TrimSpace(f.Value))
	switch f.Name {
	case "env", "env-merge":
		if f.Name == "env" && !strings.Contains(f.Value, "=") {
			return told("env", "it gets "+f.Value+" from the environment of the engine's client", guard.Host, exposure.EnvSecrets)
		}
	case "env-host":
		if yes(v) {
			return refused("env-host", "it gets all variables of the engine's client", exposure.EnvSecrets)
		}
	case "http-proxy":
		if yes(v) {
			return told("http-proxy", "it gets the proxy settings of the engine's client, and the passwords in them", guard.Host, exposure.EnvSecrets)
		}
	case "env-file":
		return told("env-file", "it gets the variables in "+f.Value, guard.Host, exposure.EnvSecrets)
	case "secret":
		return told("secret", "it gets the engine's secret "+f.Value, guard.Host, exposure.KeyFiles, exposure.EnvSecrets)
	case "gpus":
		return told("device", "the host's GPUs are inside", guard.Host, exposure.HostRead, exposure.HostWrite)
	case "add-host":
		if strings.Contains(v, "host-gateway") {
			return told("host-gateway", "it is told how to reach the host", allHarms, exposure.LoopbackTCP, exposure.LoopbackUDP)
		}
	case "group-add":
		if v == "keep-groups" {
			return told("host-groups", "it keeps the groups of the host's user", guard.Host, exposure.HostRead)
		}
	case "pod", "pod-id-file":
		return told("pod", "it shares the namespaces of a pod", allHarms, exposure.HostNet, exposure.LoopbackTCP, exposure.LoopbackUDP,
			exposure.AbstractUnix, exposure.HostProc)
	case "annotation":
		return told("annotation", "what the runtime does about "+f.Value+" is not known here", allHarms, exposure.HostRead, exposure.HostWrite)
	case "runtime":
		if !plainRuntime(v) {
			return told("runtime", "what the runtime "+f.Value+" walls off is not known here", allHarms, exposure.HostRead, exposure.HostWrite, exposure.HostProc)
		}
	case "seccomp-policy":
		if v != "default" {
			return told("seccomp-profile", "which system calls are refused is up to the image", guard.Host, exposure.UserNS, exposure.IOUring,
				exposure.BPF, exposure.UserFault, exposure.KeyCtl)
		}
	case "preserve-fd", "preserve-fds":
		return told("open-files", "it keeps open files of the engine's client", allHarms, exposure.HostRead, exposure.HostWrite)
	case "log-driver":
		switch v {
		case "", "none", "json-file", "local", "journald", "k8s-file", "passthrough", "passthrough-tty", "db", "etwlogs":
			return nil
		}
		return told("log-driver", "what its first process prints is sent on by "+f.Value, allHarms, exposure.HostWrite)
	case "log-opt":
		if strings.HasPrefix(v, "path=") {
			return told("log-path", "what its first process prints is written to "+f.Value[len("path="):]+" of the host", allHarms, exposure.HostWrite)
		}
	case "volume-driver":
		if v != "" && v != "local" {
			return told("volume-driver", "what "+f.Value+" shows lies outside the engine", allHarms, exposure.HostRead, exposure.HostWrite)
		}
	case "chrootdirs", "init-path", "hosts-file":
		return told("host-path", f.Value+" of the host can be read", guard.Host, exposure.HostRead)
	case "isolation":
		if v != "" && v != "default" && v != "hyperv" {
			return told("isolation", "it runs with the isolation "+f.Value, guard.Host, exposure.HostProc)
		}
	case "cgroups":
		if v == "disabled" || v == "split" {
			return told("cgroups", "its limits are not its own", guard.Host)
		}
	case "cgroup-parent":
		return told("cgroups", "it runs in the control group "+f.Value+" of the host", guard.Host)
	}
	return nil
}

// plainRuntime tells whether a runtime is one of those that keep an ordinary container's walls.
func plainRuntime(name string) bool {
	switch name {
	case "", "runc", "crun", "youki", "runsc", "kata", "kata-runtime", "kata-qemu", "kata-fc", "kata-clh", "io.containerd.runc.v2", "io.containerd.kata.v2",
		"io.containerd.runsc.v1":
		return true
	}
	return false
}

// Runtime judges terminal.docker_runtime.
func Runtime(name string) []Risk {
	out := minor(Flag{Name: "runtime", Value: name})
	for i := range out {
		out[i].Text = name
	}
	return out
}
