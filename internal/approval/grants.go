package approval

import (
	"fmt"
	"slices"
	"strings"

	"hermes/internal/guard"
	"hermes/internal/guard/scope"
)

// Store keeps what was approved for good: command_allowlist. Safe for concurrent use; what Add and Remove have done is on
// the disk when they return.
type Store interface {
	Add(entry string) error    // adding what is there already is no error
	Remove(entry string) error // removing what is not there is no error
	List() ([]string, error)
}

// Grant is what a session was granted: an entry, the backend it holds on, and for whom.
type Grant struct {
	Cover
	Backend string
	Own     bool // for the person's own commands; otherwise for the agent's
}

// session is what is kept of one session in memory.
type session struct {
	yolo   bool
	grants []Grant
}

func (d *Desk) of(s scope.Session) *session {
	if d.sessions == nil {
		d.sessions = map[scope.Session]*session{}
	}
	if d.sessions[s] == nil {
		d.sessions[s] = &session{}
	}
	return d.sessions[s]
}

// granted tells whether the session's grants cover a command.
func (d *Desk) granted(r Request) bool {
	if r.Session.IsZero() || r.borrows() {
		return false
	}
	text := strings.TrimSpace(r.Command)
	var globs []string
	d.mu.Lock()
	if s := d.sessions[r.Session]; s != nil {
		for _, g := range s.grants {
			switch {
			case g.Backend != r.Backend || g.Own != r.Own:
			case g.Glob:
				globs = append(globs, g.Entry)
			case g.Entry == text:
				d.mu.Unlock()
				return true
			}
		}
	}
	d.mu.Unlock()
	return len(globs) > 0 && r.Judge != nil && r.Judge(globs).Action == guard.Allow
}

// grant keeps what a person chose. The warning is about what could not be kept.
func (d *Desk) grant(r Request, choice Choice, c Covers) (kept Cover, warning string) {
	if choice != Session && choice != Always || c.Session.Entry == "" || r.Session.IsZero() {
		return Cover{}, ""
	}
	d.mu.Lock()
	s, g := d.of(r.Session), Grant{c.Session, r.Backend, r.Own}
	if !slices.Contains(s.grants, g) {
		s.grants = append(s.grants, g)
	}
	d.mu.Unlock()
	if choice != Always || c.Always.Entry == "" {
		return c.Session, ""
	}
	store := r.Store
	if store == nil {
		store = d.o.Store
	}
	if store == nil {
		return c.Session, "there is no allow-list to add it to: it holds for this session"
	}
	if err := store.Add(c.Always.Entry); err != nil {
		return c.Session, fmt.Sprintf("it could not be added to the allow-list and holds for this session: %v", err)
	}
	return c.Always, ""
}

// Grants lists what a session was granted, in the order of granting.
func (d *Desk) Grants(s scope.Session) []Grant {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sessions[s] == nil {
		return nil
	}
	return slices.Clone(d.sessions[s].grants)
}

// Revoke takes an entry back from a session and tells whether it was there. What was added to the allow-list is taken back
// in the Store.
func (d *Desk) Revoke(s scope.Session, entry string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sessions[s] == nil {
		return false
	}
	before := len(d.sessions[s].grants)
	d.sessions[s].grants = slices.DeleteFunc(d.sessions[s].grants, func(g Grant) bool { return g.Entry == entry })
	return len(d.sessions[s].grants) < before
}

// SetYOLO switches a session's YOLO mode on or off. The zero session has none.
func (d *Desk) SetYOLO(s scope.Session, on bool) {
	if s.IsZero() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.of(s).yolo = on
}

// YOLO tells whether a session's questions are lifted, by its own switch or the process's.
func (d *Desk) YOLO(s scope.Session) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.o.YOLO || d.sessions[s] != nil && d.sessions[s].yolo
}

// End forgets a session: its grants, its YOLO switch and its count of denials. Questions of it that still wait are
// cancelled.
func (d *Desk) End(s scope.Session) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.sessions, s)
	d.breaker.forget(s)
	for key, f := range d.flights {
		if key.session == s {
			f.ended = true
			f.cancel()
		}
	}
}
