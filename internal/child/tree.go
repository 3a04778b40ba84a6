//go:build linux || darwin

package child

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// entry is one process of the system.
type entry struct {
	pid, ppid   int
	group, sess int
	born        uint64 // tells two processes of the same pid apart
	state       state
	name        string
}

type state uint8

const (
	running state = iota
	stopped
	ended // not waited for yet
)

// identity is a process for good: pids come back.
type identity struct {
	pid  int
	born uint64
}

// tree is what is known of the processes below a program. It is guarded by Process.mu.
type tree struct {
	members map[identity]bool
	platform
}

// grow adds to the members whatever belongs to them in a table, and returns those that are alive.
//
// A process belongs to the tree if its parent does, or if its group or session was made by a member. Groups made elsewhere
// count for nothing: a child may move into the group of this process.
func (t *tree) grow(table []entry) []entry {
	byPid := make(map[int]*entry, len(table))
	for i := range table {
		byPid[table[i].pid] = &table[i]
	}
	made := map[int]bool{} // ids of groups and sessions
	for m := range t.members {
		if now := byPid[m.pid]; now == nil || now.born == m.born {
			made[m.pid] = true
		}
	}
	self := os.Getpid()
	for again := true; again; {
		again = false
		for i := range table {
			e := &table[i]
			id := identity{e.pid, e.born}
			if t.members[id] || e.pid == self || e.pid <= 1 {
				continue
			}
			parent := byPid[e.ppid]
			if parent != nil && t.members[identity{parent.pid, parent.born}] || made[e.group] || made[e.sess] {
				t.members[id], made[e.pid], again = true, true, true
			}
		}
	}
	alive := []entry{}
	for _, e := range table {
		if e.state != ended && t.members[identity{e.pid, e.born}] {
			alive = append(alive, e)
		}
	}
	return alive
}

const (
	killTime   = 10 * time.Second // for everything
	freezeTurn = 64               // looks at processes that do not stop before they are killed anyway
)

// kill ends all members: first everything is stopped, until a look finds nobody new, so that nothing can start a
// replacement and nobody loses its parent; then it is killed; then all over, until a look finds nobody.
func (t *tree) kill() error {
	deadline := time.Now().Add(killTime)
	denied := map[int]error{}
	for {
		alive, err := t.freeze(denied)
		if err != nil {
			return err
		}
		if len(alive) == 0 {
			break
		}
		if time.Now().After(deadline) {
			return leftError(alive, denied)
		}
		for _, e := range alive {
			if err := unix.Kill(e.pid, unix.SIGKILL); err != nil && err != unix.ESRCH {
				denied[e.pid] = err
			}
		}
		if len(denied) > 0 && len(denied) >= len(alive) {
			return leftError(alive, denied)
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// freeze stops all members and returns those alive.
func (t *tree) freeze(denied map[int]error) ([]entry, error) {
	asked := map[identity]bool{}
	for turn := 0; ; turn++ {
		table, err := processes()
		if err != nil {
			return nil, fmt.Errorf("list processes: %w", bare(err))
		}
		t.release(asked, table)
		alive, stable := t.grow(table), true
		for _, e := range alive {
			id := identity{e.pid, e.born}
			if !asked[id] {
				asked[id], stable = true, false
				if err := unix.Kill(e.pid, unix.SIGSTOP); err != nil && err != unix.ESRCH {
					denied[e.pid] = err
				}
			} else if e.state != stopped && denied[e.pid] == nil {
				stable = stable && turn >= freezeTurn
			}
		}
		if stable || turn >= 4*freezeTurn {
			return alive, nil
		}
	}
}

// release lets a stranger go on that was stopped because it got a member's pid between the look and the signal.
func (t *tree) release(asked map[identity]bool, table []entry) {
	for _, e := range table {
		if e.state != stopped || t.members[identity{e.pid, e.born}] {
			continue
		}
		for id := range asked {
			if id.pid == e.pid {
				_ = unix.Kill(e.pid, unix.SIGCONT)
			}
		}
	}
}

func leftError(alive []entry, denied map[int]error) error {
	names, errs := []string{}, []error{}
	for _, e := range alive {
		names = append(names, fmt.Sprintf("%d (%s)", e.pid, e.name))
		if err := denied[e.pid]; err != nil {
			errs = append(errs, err)
		}
	}
	if len(names) > 8 {
		names = append(names[:8], fmt.Sprintf("%d more", len(names)-8))
	}
	if len(errs) == 0 {
		return fmt.Errorf("kill: still there: %s", strings.Join(names, ", "))
	}
	return fmt.Errorf("kill: still there: %s: %w", strings.Join(names, ", "), errors.Join(errs[0]))
}

// remember looks at the tree while the program lives: what leaves its parents later is known then.
func (p *Process) remember() []entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return nil
	}
	table, err := processes()
	if err != nil {
		return nil
	}
	return p.tree.grow(p.rooted(table))
}

// rooted makes the program the first member.
func (p *Process) rooted(table []entry) []entry {
	if p.tree.members != nil {
		return table
	}
	p.tree.members = map[identity]bool{}
	for _, e := range table {
		if e.pid == p.pid {
			p.tree.members[identity{e.pid, e.born}] = true
		}
	}
	return table
}

// askTree asks all members to end, also those that are stopped.
func (p *Process) askTree(alive []entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return
	}
	for _, sig := range []unix.Signal{unix.SIGTERM, unix.SIGCONT} {
		_ = unix.Kill(-p.pid, sig)
		for _, e := range alive {
			if e.group != p.pid {
				_ = unix.Kill(e.pid, sig)
			}
		}
	}
}

// killTree kills the program and everything below.
func (p *Process) killTree() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return nil
	}
	caged := p.tree.killCage()
	if table, err := processes(); err == nil {
		p.rooted(table)
	}
	err := p.tree.kill()
	if bad := p.signalGroup(unix.SIGKILL); bad != nil && bad != unix.ESRCH {
		err = errors.Join(err, bad)
	}
	return errors.Join(caged, err)
}

// killRest kills what a program that has ended left in its group, and what it is known to have left elsewhere.
func (p *Process) killRest() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return nil
	}
	if err := p.signalGroup(unix.SIGKILL); err != nil && err != unix.ESRCH {
		return fmt.Errorf("kill: %w", err)
	}
	return p.tree.killCage()
}

// settle waits until what was killed in the group is really gone: a kill only begins an end. The program is reaped by now,
// so that an empty group is none.
func (p *Process) settle() error {
	deadline := time.Now().Add(killTime)
	for unix.Kill(-p.pid, 0) == nil {
		table, err := processes()
		if err != nil {
			return fmt.Errorf("list processes: %w", bare(err))
		}
		left := []entry{}
		for _, e := range table {
			if e.group == p.pid && e.state != ended {
				left = append(left, e)
			}
		}
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return leftError(left, nil)
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// GroupAlive tells whether somebody who has not ended is in the process group with an id, which goes to no other as long as
// somebody is. What cannot be looked at counts as alive. On Windows there are no groups.
func GroupAlive(id int) bool {
	if unix.Kill(-id, 0) == unix.ESRCH {
		return false
	}
	table, err := processes()
	return err != nil || slices.ContainsFunc(table, func(e entry) bool { return e.group == id && e.state != ended })
}
