package child

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// family are the children of this process. There is one, because the kernel has one answer to whose child a process is.
var family children

type children struct {
	mu     sync.Mutex
	own    map[int]*Process
	adopts bool
}

// start starts a child and notes it before anybody can take it for an orphan. Whoever looks for those waits in isOwn meanwhile,
// so that nobody stops a process that has not become its program yet: until it has, it holds the thread that started it.
func (c *children) start(p *Process, program string, argv []string, attr *os.ProcAttr) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	proc, err := os.StartProcess(program, argv, attr)
	if err != nil {
		return err
	}
	p.proc, p.pid = proc, proc.Pid
	if c.own == nil {
		c.own = map[int]*Process{}
	}
	p.tree.shared.Store(len(c.own) > 0)
	for _, other := range c.own {
		other.tree.shared.Store(true)
	}
	c.own[p.pid] = p
	return nil
}

func (c *children) forget(p *Process) {
	c.mu.Lock()
	delete(c.own, p.pid)
	c.mu.Unlock()
}

func (c *children) isOwn(pid int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.own[pid] != nil
}

// Adopt makes this process the new parent of everything below it that loses its own, instead of the system's init, and
// waits for it when it ends. From then on End and Sweep reach also what left its group and its parents. It holds for the
// whole process and for good; whoever starts programs by other means than this package may lose their status. Linux only:
// elsewhere it is errors.ErrUnsupported, and what leaves both group and parents is out of reach.
func Adopt() error {
	family.mu.Lock()
	defer family.mu.Unlock()
	if family.adopts {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt orphans: %w", err)
	}
	family.adopts = true
	died := make(chan os.Signal, 1)
	signal.Notify(died, syscall.SIGCHLD)
	go func() {
		for range died {
			family.bury()
		}
	}()
	return nil
}

// Strays returns the ids of adopted processes: what programs that have ended left behind. Without Adopt there are none.
func Strays() ([]int, error) {
	family.mu.Lock()
	defer family.mu.Unlock()
	return family.strays()
}

// Sweep kills all strays and everything below them. What programs still run, and what is below those, stays.
func Sweep() error {
	found, err := Strays()
	if err != nil || len(found) == 0 {
		return err
	}
	t := tree{members: map[identity]bool{}, claims: func(e entry) bool { return !family.isOwn(e.pid) }}
	err = t.kill()
	family.bury()
	return err
}

// strays lists the children that were not started here. The caller holds c.mu.
func (c *children) strays() ([]int, error) {
	if !c.adopts {
		return nil, nil
	}
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, fmt.Errorf("list children: %w", bare(err))
	}
	found := []int{}
	for _, task := range tasks {
		text, err := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		if errors.Is(err, os.ErrNotExist) {
			continue // the thread has ended
		} else if err != nil {
			return nil, fmt.Errorf("list children: %w", bare(err))
		}
		for word := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil && c.own[pid] == nil {
				found = append(found, pid)
			}
		}
	}
	return found, nil
}

// bury waits for strays that have ended, each by its own id: the status of a child of ours is never taken.
func (c *children) bury() {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, err := c.strays()
	if err != nil {
		return // the next death tries again
	}
	for _, pid := range found {
		_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
	}
}

// mayClaim tells whether there may be something of p, and known to be, among the adopted.
func (p *Process) mayClaim() bool {
	if p.tree.shared.Load() {
		return false
	}
	family.mu.Lock()
	defer family.mu.Unlock()
	found, _ := family.strays()
	return len(found) > 0
}

// claim returns which orphans are of the program with the given entry: those born after it, while it was the only one and
// no earlier program had left any. Otherwise nobody can tell; Sweep takes those.
func (p *Process) claim(root entry, table []entry) func(entry) bool {
	self := os.Getpid()
	for _, e := range table {
		if e.ppid == self && e.state != ended && e.born < root.born && !family.isOwn(e.pid) {
			return nil
		}
	}
	return func(e entry) bool {
		return !p.tree.shared.Load() && e.born >= root.born && !family.isOwn(e.pid)
	}
}
