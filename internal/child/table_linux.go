package child

import "hermes/internal/child/proc"

// processes lists the processes of the system; see proc.Each for what can be said of who is not among them.
func processes() ([]entry, error) {
	table := []entry{}
	err := proc.Each(func(p proc.Process) {
		e := entry{pid: p.PID, ppid: p.Parent, group: p.Group, sess: p.Session, born: p.Born, name: p.Name}
		switch {
		case p.Ended:
			e.state = ended
		case p.Stopped:
			e.state = stopped
		}
		table = append(table, e)
	})
	return table, err
}
