// Package proc reads the processes of this system, as the kernel lists them. Linux only.
//
// Whose they are and what is to become of them is the business of those who ask (see child, sandbox/runner). Failure direction: a
// list that cannot be read to its end is an error, never a shorter list.
package proc

import (
	"bytes"
	"errors"
	"os"
	"strconv"
)

// Process is one process.
type Process struct {
	PID, Parent    int
	Group, Session int
	Born           uint64 // in clock ticks since the machine started: tells two processes of one number apart
	Name           string
	Ended          bool // it was not waited for yet
	Stopped        bool
}

// Each calls f with each process, those that have ended among them. What ends meanwhile is left out.
//
// Who is not among them, and was not started since by somebody who is, is not there. To look at those who are listed is not enough
// for that: somebody who is listed, starts another and ends before he is looked at has left one who is not. So the list is read
// again, once those in it were looked at, until there is nobody new. The same holds for what f looks at.
func Each(f func(Process)) error {
	seen := map[int]bool{}
	buffer := make([]byte, longest)
	for range passes {
		names, err := list()
		if err != nil {
			return err
		}
		fresh := false
		for _, name := range names {
			pid, err := strconv.Atoi(name)
			if err != nil || seen[pid] {
				continue
			}
			seen[pid], fresh = true, true
			if p, ok := read(pid, buffer); ok {
				f(p)
			}
		}
		if !fresh {
			return nil
		}
	}
	return errors.New("list processes: more of them begin than can be looked at")
}

// passes bounds how often the list is read.
const passes = 1000

func list() ([]string, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

// Look returns one process, false if it is not there.
func Look(pid int) (Process, bool) { return read(pid, make([]byte, longest)) }

// longest is more than a line about a process has.
const longest = 1024

func read(pid int, buffer []byte) (Process, bool) {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Process{}, false
	}
	defer f.Close()
	n, err := f.Read(buffer)
	if err != nil {
		return Process{}, false
	}
	return parse(pid, buffer[:n])
}

// parse reads one line of /proc/PID/stat. The name in it is in brackets and may hold anything, brackets too.
func parse(pid int, line []byte) (Process, bool) {
	open, shut := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || shut < open {
		return Process{}, false
	}
	fields := bytes.Fields(line[shut+1:])
	const state, parent, group, session, threads, start = 0, 1, 2, 3, 17, 19
	if len(fields) <= start {
		return Process{}, false
	}
	p := Process{PID: pid, Name: string(line[open+1 : shut])}
	count := 0
	for _, number := range [...]struct {
		at  int
		dst *int
	}{{parent, &p.Parent}, {group, &p.Group}, {session, &p.Session}, {threads, &count}} {
		n, err := strconv.Atoi(string(fields[number.at]))
		if err != nil {
			return Process{}, false
		}
		*number.dst = n
	}
	born, err := strconv.ParseUint(string(fields[start]), 10, 64)
	if err != nil {
		return Process{}, false
	}
	p.Born = born
	switch fields[state][0] {
	case 'Z', 'X', 'x':
		p.Ended = count <= 1 // else its first thread alone has
	case 'T', 't':
		p.Stopped = true
	}
	return p, true
}
