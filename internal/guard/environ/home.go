package environ

import "strings"

// HomeMode is terminal.home_mode.
type HomeMode uint8

// The modes.
const (
	HomeAuto    HomeMode = iota // the user's home on the host, Hermes' own in a container
	HomeReal                    // the user's home, in a container too if it is visible there
	HomeProfile                 // <hermes home>/home where it exists
)

// ParseHomeMode reads terminal.home_mode; anything unknown is auto, as an unset one is.
func ParseHomeMode(s string) HomeMode {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "real":
		return HomeReal
	case "profile":
		return HomeProfile
	}
	return HomeAuto
}

// Home is what the choice of HOME depends on.
type Home struct {
	Mode        HomeMode
	Container   bool   // the child runs where the user's home is not its own
	Real        string // the user's home
	RealVisible bool   // the user's home exists where the child runs; only asked in a container
	Own         string // <hermes home>/home
	OwnExists   bool
}

// Choose returns the child's HOME and, when that is not the user's, the user's for HERMES_REAL_HOME. With nothing to choose
// from, both are empty and HOME stays as it was.
func (h Home) Choose() (home, realHome string) {
	own := false
	switch {
	case h.Mode == HomeProfile:
		own = h.OwnExists
	case h.Container && h.Mode == HomeAuto:
		own = true
	case h.Container:
		own = !h.RealVisible
	}
	if own && h.Own != "" {
		return h.Own, h.Real
	}
	return h.Real, ""
}
