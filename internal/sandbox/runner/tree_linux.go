package runner

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/child/proc"
)

// Every command gets a number of its own as the soft limit of real-time processor time, which nobody else uses and which is
// too high to matter. What the command starts inherits it, through setsid, double forks and programs with an environment of
// their own, so that what is left of a command is known also when its parents are gone. A number is a base, the runner's
// own part, and the command's.
const (
	tagBase  = 1 << 62
	tagShift = 32
	tagMask  = 1<<tagShift - 1
)

// mark makes the next command's tag the limit of this process, which a new process inherits. 0: it cannot be told apart.
func (s *server) mark(of uint64) uint64 {
	s.last++
	tag := of | s.last&tagMask
	if s.limit == (unix.Rlimit{}) && unix.Getrlimit(unix.RLIMIT_RTTIME, &s.limit) != nil {
		return 0
	}
	s.limit.Cur = tag
	if unix.Setrlimit(unix.RLIMIT_RTTIME, &s.limit) != nil {
		return 0
	}
	return tag
}

// tagOf reads a process's tag, 0 if there is none.
func tagOf(pid int) uint64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/limits")
	if err != nil {
		return 0
	}
	_, text, _ = bytes.Cut(text, []byte("Max realtime timeout"))
	fields := bytes.Fields(text)
	if len(fields) == 0 {
		return 0
	}
	tag, err := strconv.ParseUint(string(fields[0]), 10, 64)
	if err != nil || tag < tagBase {
		return 0
	}
	return tag
}

// entry is one process.
type entry struct {
	proc.Process
	tag uint64 // where it was asked for
}

// table lists all processes, with their tags if those matter. Those that have ended are among them.
func table(tags bool) ([]entry, error) {
	var all []entry
	err := proc.Each(func(p proc.Process) {
		e := entry{Process: p}
		if tags && !p.Ended {
			e.tag = tagOf(p.PID)
		}
		all = append(all, e)
	})
	return all, err
}

// tree is a command with everything that comes from it.
type tree struct {
	pid  int
	born uint64 // of pid, 0: it has ended and was waited for, so that whoever has its number now is somebody else
	tag  uint64
	self int    // never a member
	runs uint64 // without pid and tag: all of the runner with this tag
}

// tree returns the tree of a command. It has to be called on the thread that waits for the ended: until that one has waited for
// the program, its number is no other's.
func (cmd *command) tree() tree {
	t := tree{pid: cmd.pid, tag: cmd.tag, self: cmd.s.self}
	if !cmd.over {
		e, _ := proc.Look(cmd.pid)
		t.born = e.Born
	}
	return t
}

// alive returns the members that have not ended.
func (t tree) alive() ([]entry, error) {
	all, err := table(t.tag != 0 || t.runs != 0)
	if err != nil {
		return nil, err
	}
	return t.members(all), nil
}

// members returns who belongs to the tree: the program, whoever has its tag, group or session, and what is below those.
func (t tree) members(all []entry) (out []entry) {
	// The numbers of a group and a session are kept from new processes as long as there is somebody in them. If the program's own
	// is another's now, nobody is.
	if t.pid != 0 && slices.ContainsFunc(all, func(e entry) bool { return e.PID == t.pid && e.Born != t.born }) {
		t.pid = -1
	}
	in := map[int]bool{}
	for again := true; again; {
		again = false
		for _, e := range all {
			if !in[e.PID] && e.PID != t.self && e.PID > 1 && (in[e.Parent] || t.root(e)) {
				in[e.PID], again = true, true
			}
		}
	}
	for _, e := range all {
		if in[e.PID] && !e.Ended {
			out = append(out, e)
		}
	}
	return out
}

// root tells whether a process belongs to the tree by itself.
func (t tree) root(e entry) bool {
	switch {
	case t.tag == 0 && t.runs == 0:
		return t.pid == 0 && e.Parent == t.self || t.pid != 0 && (e.PID == t.pid || e.Group == t.pid || e.Session == t.pid)
	case t.runs != 0:
		return e.tag&^tagMask == t.runs
	}
	return e.PID == t.pid || e.Group == t.pid || e.Session == t.pid || e.tag == t.tag
}

// strike calls f with the members that are alive, for it to signal them; this process starts nothing meanwhile. An error says that
// nobody knows who is.
//
// A process that this one has just started runs in its memory, and holds the thread that started it, until it has become its
// program. If it were stopped before, that thread would stand still, and soon everything else, as the collection of garbage
// waits for all threads: also whoever stopped it and was about to kill it. The lock that every start of a process holds until
// then, whoever does it, keeps the two apart: who is seen while it is held has become its program, or is somebody else's
// child, and none of the numbers that were seen can go to a new one. It is held for one look, not for a whole kill: a start
// waits for that long at the most. So no signal goes to members but from here.
func (t tree) strike(f func(alive []entry)) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	alive, err := t.alive()
	if err != nil {
		return err
	}
	f(alive)
	return nil
}

// signal signals the members.
func (t tree) signal(sigs ...syscall.Signal) {
	_ = t.strike(func(alive []entry) {
		for _, e := range alive {
			for _, sig := range sigs {
				_ = unix.Kill(e.PID, sig)
			}
		}
	})
}

// ask asks the members to end, also those that are stopped.
func (t tree) ask() { t.signal(unix.SIGTERM, unix.SIGCONT) }

// killTime bounds a kill, looks how often members are stopped before they are killed anyway.
const (
	killTime = 8 * time.Second
	looks    = 64
)

// kill ends all members, over and over until a look finds nobody.
func (t tree) kill() error {
	for until := time.Now().Add(killTime); ; {
		alive, err := t.round()
		if err == nil && len(alive) == 0 {
			return nil
		}
		if time.Now().After(until) {
			if err != nil {
				return fmt.Errorf("kill: list processes: %w", err)
			}
			return fmt.Errorf("kill: %d processes are still there, %d (%s) among them", len(alive), alive[0].PID, alive[0].Name)
		}
		time.Sleep(time.Millisecond)
	}
}

// round kills all members once and returns them: first everything is stopped, until a look finds nobody new, so that nobody can
// start a replacement; then, in that same look, it is killed.
func (t tree) round() (killed []entry, err error) {
	stopped := map[int]bool{}
	for turn, done := 1, false; !done; turn++ {
		err := t.strike(func(alive []entry) {
			done = true
			for _, e := range alive {
				if !stopped[e.PID] {
					stopped[e.PID], done = true, false
					_ = unix.Kill(e.PID, unix.SIGSTOP)
				}
			}
			if done = done || turn == looks; !done {
				return
			}
			for _, e := range alive {
				_ = unix.Kill(e.PID, unix.SIGKILL)
			}
			killed = alive
		})
		if err != nil {
			return nil, err
		}
	}
	return killed, nil
}

// killBelow kills everything below a process; reap waits for what has ended.
func killBelow(self int, reap func()) error {
	err := tree{self: self}.kill()
	reap()
	return err
}

// killTagged kills whatever a runner with this tag has started.
func killTagged(tag uint64) { _ = tree{runs: tag, self: os.Getpid()}.kill() }

// mine is everything that was started through a connection. A runner with one connection has nothing else; of one with several
// it goes by the tag.
func (c *conn) mine() tree {
	if c.s.listener < 0 {
		return tree{self: c.s.self}
	}
	return tree{self: c.s.self, runs: c.tag}
}

// left lists what commands of a connection that have ended left running.
func (c *conn) left() []left {
	return c.s.leftOf(func(tag uint64) bool {
		if tag == 0 { // it took its mark off
			return c.s.listener < 0
		}
		return tag&^tagMask == c.tag && !c.s.running(tag)
	})
}

// leftOf lists what still runs of those whose tag is meant.
//
// What a command leaves has lost its parents, so that it is a child of this process. Only if there is such a child all
// processes are looked at.
func (s *server) leftOf(means func(tag uint64) bool) (out []left) {
	if unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) == unix.ECHILD {
		return nil // nobody is there at all
	}
	of := func(pid int) bool { return means(tagOf(pid)) }
	if pids, ok := s.children(); ok && !slices.ContainsFunc(pids, func(pid int) bool {
		if s.commands[pid] != nil {
			return false
		}
		e, there := proc.Look(pid)
		return there && !e.Ended && of(pid)
	}) {
		return nil
	}
	all, err := table(false)
	if err != nil {
		return nil
	}
	for _, e := range (tree{self: s.self}).members(all) {
		if of(e.PID) {
			out = append(out, left{uint64(e.PID), cmdline(e), started(e.Born)})
		}
	}
	return out
}

// running tells whether a tag is that of a command that has not ended.
func (s *server) running(tag uint64) bool {
	for _, cmd := range s.commands {
		if cmd.tag == tag {
			return true
		}
	}
	return false
}

// children lists the direct children of this process, if the kernel tells. They are those of the thread that starts commands
// and of the main thread, which gets the orphans.
func (s *server) children() (pids []int, ok bool) {
	threads := []int{unix.Gettid(), s.self}
	for _, thread := range slices.Compact(threads) {
		text, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(thread) + "/children")
		if err != nil {
			return nil, false
		}
		for word := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids, true
}

// cmdline returns what a person would know a process by.
func cmdline(e entry) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(e.PID) + "/cmdline")
	text = bytes.TrimRight(text, "\x00")
	if err != nil || len(text) == 0 {
		return "[" + e.Name + "]"
	}
	return string(bytes.ReplaceAll(text[:min(len(text), 512)], []byte{0}, []byte{' '}))
}

// started returns milliseconds since 1970.
func started(born uint64) uint64 {
	var up unix.Sysinfo_t
	now := time.Now().UnixMilli()
	if unix.Sysinfo(&up) != nil {
		return uint64(now)
	}
	return uint64(now - up.Uptime*1000 + int64(born)*10)
}
