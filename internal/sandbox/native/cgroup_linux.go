package native

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
)

// groups says below which directories control groups for a sandbox can be made. Empty: not at all.
type groups struct {
	v2      string
	v2has   []string // controllers in force below v2
	v1      map[string]string
	version map[string]exposure.Grade // by controller
}

// groupPrefix is how the directories of our groups begin; the number of the process that made them follows, and what no other
// launcher's have.
const groupPrefix = "hermes-"

var controllers = [...]string{"memory", "pids", "cpu"}

// findGroups reads where this process is in the hierarchies and what it may make there. Version 2 is preferred.
func findGroups() groups {
	g := groups{v1: map[string]string{}, version: map[string]exposure.Grade{}}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return g
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return g
	}
	place := map[string]string{} // controller, or "" for version 2, to this process's group
	for line := range strings.Lines(string(own)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) == 3 {
			for _, c := range strings.Split(f[1], ",") {
				place[c] = f[2]
			}
		}
	}
	for line := range strings.Lines(string(mounts)) {
		m, ok := parseMount(line)
		if !ok {
			continue
		}
		switch m.kind {
		case "cgroup2":
			if path, ok := place[""]; ok {
				g.findV2(m.target, filepath.Join(m.target, strings.TrimPrefix(path, m.root)))
			}
		case "cgroup":
			for _, c := range controllers {
				path, ok := place[c]
				dir := filepath.Join(m.target, strings.TrimPrefix(path, m.root))
				if ok && slices.Contains(strings.Split(m.super, ","), c) && unix.Access(dir, unix.W_OK) == nil {
					g.v1[c] = dir
				}
			}
		}
	}
	for _, c := range controllers {
		switch {
		case slices.Contains(g.v2has, c):
			g.version[c] = exposure.CgroupV2
		case g.v1[c] != "":
			g.version[c] = exposure.CgroupV1
		}
	}
	return g
}

// findV2 looks for the group nearest to this process's own that hands controllers down and that we may make others in.
func (g *groups) findV2(root, dir string) {
	for within(root, dir) {
		if unix.Access(dir, unix.W_OK) == nil && unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK) == nil {
			has := words(filepath.Join(dir, "cgroup.subtree_control"))
			if dir == root { // only there can a group hold processes and hand controllers down
				for _, c := range controllers {
					if slices.Contains(words(filepath.Join(dir, "cgroup.controllers")), c) && !slices.Contains(has, c) {
						_ = os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+"+c), 0)
					}
				}
				has = words(filepath.Join(dir, "cgroup.subtree_control"))
			}
			if slices.ContainsFunc(controllers[:], func(c string) bool { return slices.Contains(has, c) }) {
				g.v2, g.v2has = dir, has
				return
			}
		}
		if dir == root {
			return
		}
		dir = filepath.Dir(dir)
	}
}

func words(file string) []string {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	return strings.Fields(string(text))
}

// mountLine is one line of mountinfo.
type mountLine struct{ root, target, options, kind, source, super string }

func parseMount(line string) (m mountLine, ok bool) {
	head, tail, ok := strings.Cut(strings.TrimSpace(line), " - ")
	f, t := strings.Fields(head), strings.Fields(tail)
	if !ok || len(f) < 6 || len(t) < 3 {
		return m, false
	}
	return mountLine{unescape(f[3]), unescape(f[4]), f[5], t[0], unescape(t[1]), t[2]}, true
}

// unescape undoes the kernel's \040 and the like.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				out.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// held is the groups of one sandbox.
type held struct {
	old []string          // directories of version 1
	new string            // the one of version 2, empty for none
	of  map[string]string // by controller
}

// remove removes groups that no launcher was told of.
func (h *held) remove() {
	for _, dir := range h.old {
		_ = unix.Rmdir(dir)
	}
	if h.new != "" {
		_ = unix.Rmdir(h.new)
	}
}

// hold makes the groups of one sandbox, without limits yet. A group for processor time is made only for a limit of it: the
// kernel would share the time out between groups first, however many work in each.
func (h *host) hold(name string, l sandbox.Limits) *held {
	made := &held{of: map[string]string{}}
	for _, c := range controllers {
		if c == "cpu" && l.CPU <= 0 {
			continue
		}
		switch h.groups.version[c] {
		case exposure.CgroupV2:
			if made.new == "" {
				path := filepath.Join(h.groups.v2, name)
				if unix.Mkdir(path, 0o755) != nil {
					continue
				}
				made.new = path
			}
			made.of[c] = made.new
		case exposure.CgroupV1:
			path := filepath.Join(h.groups.v1[c], name)
			if !slices.Contains(made.old, path) { // two controllers may have one hierarchy
				if unix.Mkdir(path, 0o755) != nil {
					continue
				}
				made.old = append(made.old, path)
			}
			made.of[c] = path
		}
	}
	return made
}

// limit sets the limits of a sandbox's groups, and returns them as they are in force. What cannot be limited is told in the
// limits' grades.
func (h *host) limit(made *held, l sandbox.Limits) []exposure.Limit {
	want := exposure.ByDefault
	if l.Asked {
		want = exposure.Explicitly
	}
	var out []exposure.Limit
	for _, one := range [...]struct {
		name, unit, controller string
		value, otherwise       int64
		apply                  func(dir string, v2 bool, n uint64) uint64
	}{
		{"memory", "bytes", "memory", l.Memory, h.memory / 4 * 3 &^ (1<<20 - 1), limitMemory},
		{"pids", "", "pids", l.PIDs, defaultPIDs, limitPIDs},
		{"cpu", "milli", "cpu", l.CPU, 0, limitCPU},
	} {
		limit := exposure.Limit{Name: one.name, Unit: one.unit}
		n := one.value
		if n == 0 {
			n = one.otherwise
		}
		if n > 0 {
			limit.Want, limit.Asked = want, uint64(n)
			if one.value == 0 {
				limit.Want = exposure.ByDefault
			}
			if version := h.groups.version[one.controller]; version != exposure.NoGrade {
				if path := made.of[one.controller]; path != "" {
					if limit.Force = one.apply(path, version == exposure.CgroupV2, uint64(n)); limit.Force != 0 {
						limit.Grade = version
					}
				}
			}
		}
		out = append(out, limit)
	}
	if l.Disk > 0 { // nothing here can limit it
		out = append(out, exposure.Limit{Name: "disk", Unit: "bytes", Want: want, Asked: uint64(l.Disk)})
	}
	return out
}

const defaultPIDs = 4096

// put writes a file of the kernel's, without the runtime's poller, which has nothing to wait for there.
func put(path, value string) error {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, err = unix.Write(fd, []byte(value))
	return err
}

// take reads one, which is short.
func take(path string) []string {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	var text [128]byte
	n, err := unix.Read(fd, text[:])
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[:n]))
}

// set writes a limit and returns what is read back, 0 if it is not a number.
func set(dir, file, value string) uint64 {
	path := filepath.Join(dir, file)
	if put(path, value) != nil {
		return 0
	}
	f := take(path)
	if len(f) != 1 {
		return 0
	}
	n, _ := strconv.ParseUint(f[0], 10, 64)
	return n
}

func limitMemory(dir string, v2 bool, n uint64) uint64 {
	value := strconv.FormatUint(n, 10)
	if v2 {
		got := set(dir, "memory.max", value)
		_ = put(filepath.Join(dir, "memory.swap.max"), "0")
		return got
	}
	got := set(dir, "memory.limit_in_bytes", value)
	_ = put(filepath.Join(dir, "memory.memsw.limit_in_bytes"), value)
	return got
}

func limitPIDs(dir string, _ bool, n uint64) uint64 {
	return set(dir, "pids.max", strconv.FormatUint(n, 10))
}

func limitCPU(dir string, v2 bool, n uint64) uint64 {
	const period = 100_000 // microseconds
	quota := n * period / 1000
	if v2 {
		path := filepath.Join(dir, "cpu.max")
		if put(path, fmt.Sprintf("%d %d", quota, period)) != nil {
			return 0
		}
		f := take(path)
		if len(f) != 2 {
			return 0
		}
		got, _ := strconv.ParseUint(f[0], 10, 64)
		return got * 1000 / period
	}
	if put(filepath.Join(dir, "cpu.cfs_period_us"), strconv.Itoa(period)) != nil {
		return 0
	}
	return set(dir, "cpu.cfs_quota_us", strconv.FormatUint(quota, 10)) * 1000 / period
}

// dirs returns the directories that groups are made in.
func (g groups) dirs() (out []string) {
	for _, dir := range g.v1 {
		out = append(out, dir)
	}
	if g.v2 != "" {
		out = append(out, g.v2)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Ages of a group in which nobody is. The number of its maker may be that of somebody in another namespace, or of somebody else
// since: nobody leaves one empty that long that he is about to use.
const (
	unusedAge = time.Minute // made by nobody who is here
	forgotten = time.Hour   // made by whomever
)

// sweep removes groups that were left and in which nobody is. It returns those it removed.
func (g groups) sweep() (removed []string) {
	for _, dir := range g.dirs() {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			maker, ok := strings.CutPrefix(e.Name(), groupPrefix)
			maker, _, _ = strings.Cut(maker, "-")
			pid, err := strconv.Atoi(maker)
			if !ok || err != nil || pid <= 0 || !e.IsDir() {
				continue
			}
			least := unusedAge
			if err := unix.Kill(pid, 0); err == nil || errors.Is(err, unix.EPERM) {
				least = forgotten
			}
			if info, err := e.Info(); err != nil || time.Since(info.ModTime()) < least {
				continue
			}
			if path := filepath.Join(dir, e.Name()); unix.Rmdir(path) == nil {
				removed = append(removed, path)
			}
		}
	}
	return removed
}
