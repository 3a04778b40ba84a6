package child

import (
	"bytes"
	"os"
	"strconv"
)

// processes lists the processes of the system. What ends meanwhile is left out.
func processes() ([]entry, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	table := make([]entry, 0, len(names))
	buf := make([]byte, 1024)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		f, err := os.Open("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		n, err := f.Read(buf)
		f.Close()
		if err != nil {
			continue
		}
		if e, ok := parseStat(pid, buf[:n]); ok {
			table = append(table, e)
		}
	}
	return table, nil
}

// parseStat reads one line of /proc/PID/stat. The name in it is in brackets and may hold anything, brackets too.
func parseStat(pid int, line []byte) (entry, bool) {
	open, shut := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || shut < open {
		return entry{}, false
	}
	fields := bytes.Fields(line[shut+1:])
	const state, parent, group, session, start = 0, 1, 2, 3, 19
	if len(fields) <= start {
		return entry{}, false
	}
	e := entry{pid: pid, name: string(line[open+1 : shut])}
	numbers := [...]struct {
		at  int
		dst *int
	}{{parent, &e.ppid}, {group, &e.group}, {session, &e.sess}}
	for _, n := range numbers {
		v, err := strconv.Atoi(string(fields[n.at]))
		if err != nil {
			return entry{}, false
		}
		*n.dst = v
	}
	born, err := strconv.ParseUint(string(fields[start]), 10, 64)
	if err != nil {
		return entry{}, false
	}
	e.born = born
	switch fields[state][0] {
	case 'Z', 'X', 'x':
		e.state = ended
	case 'T', 't':
		e.state = stopped
	}
	return e, true
}
