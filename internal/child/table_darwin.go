package child

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// processes lists the processes of the system. Sessions are not told; groups are.
func processes() ([]entry, error) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	table := make([]entry, 0, len(list))
	for i := range list {
		p, up := &list[i].Proc, &list[i].Eproc
		e := entry{
			pid: int(p.P_pid), ppid: int(up.Ppid), group: int(up.Pgid), sess: int(up.Pgid),
			born: uint64(p.P_starttime.Sec)*1_000_000 + uint64(p.P_starttime.Usec),
		}
		comm := make([]byte, 0, len(p.P_comm))
		for _, c := range p.P_comm {
			comm = append(comm, byte(c))
		}
		name, _, _ := bytes.Cut(comm, []byte{0})
		e.name = string(name)
		const isStopped, isEnded = 4, 5 // SSTOP, SZOMB
		switch p.P_stat {
		case isStopped:
			e.state = stopped
		case isEnded:
			e.state = ended
		}
		table = append(table, e)
	}
	return table, nil
}
