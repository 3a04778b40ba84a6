// Package look reads what a process can read at once about the sandbox it is in.
//
// It is small enough for the helper inside: it opens no connection, tries nothing (see probe) and judges nothing (see
// guard/exposure). Failure direction: what cannot be read is left out, which counts as unknown.
package look

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
)

// HookName is under which name a runner offers Hook.
const HookName = "look"

// maxFile bounds what is taken of one file.
const maxFile = 1 << 20

// Here reads files below /proc/self under their names ("status", "net/dev"), links as "ns/net", the limits of control groups
// as "cgroup/memory.max", the identity of the kernel's start as "boot_id", and its own number as "pid".
func Here() map[string]string {
	seen := Namespaces()
	seen["pid"] = strconv.Itoa(os.Getpid())
	for _, name := range [...]string{"status", "mountinfo", "uid_map", "limits", "net/dev", "cgroup"} {
		read(seen, name, "/proc/self/"+name)
	}
	read(seen, "boot_id", "/proc/sys/kernel/random/boot_id")
	for _, name := range [...]string{"memory.max", "pids.max", "cpu.max"} {
		read(seen, "cgroup/"+name, "/sys/fs/cgroup/"+name)
	}
	for _, name := range [...]string{"memory/memory.limit_in_bytes", "pids/pids.max", "cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"} {
		read(seen, "cgroup/"+name, "/sys/fs/cgroup/"+name)
	}
	return seen
}

// Namespaces reads the identities of this process's namespaces.
func Namespaces() map[string]string {
	seen := map[string]string{}
	for _, name := range [...]string{"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"} {
		if text, err := os.Readlink("/proc/self/ns/" + name); err == nil {
			seen["ns/"+name] = text
		}
	}
	return seen
}

func read(into map[string]string, name, path string) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	if text, err := io.ReadAll(io.LimitReader(f, maxFile)); err == nil {
		into[name] = string(text)
	}
}

// Hook answers a runner's client with Here and, as "environ", the variables the runner itself was started with: what an
// image sets for its commands.
func Hook(context.Context, []byte) ([]byte, error) {
	seen := Here()
	read(seen, "environ", "/proc/self/environ")
	answer, err := json.Marshal(seen)
	if err != nil {
		return nil, fmt.Errorf("look: %w", err)
	}
	return answer, nil
}
