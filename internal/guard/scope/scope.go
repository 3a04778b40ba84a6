// Package scope names who owns a thing: a profile, a session of it or a job of it. Grants, snapshots and stores are keyed
// by these names, so that what one of them was given never serves another.
//
// It does not say who may talk (see access), does not store anything, and does not know which sessions exist.
//
// Layer 7 of 8. Failure direction: refuse; the zero identity owns nothing, is equal to nothing and has no file name.
package scope

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrZero is what every use of an identity gives that no parser built.
var ErrZero = errors.New("scope: the identity was never parsed")

// Identity is a Profile, a Session or a Job. Nothing else implements it.
type Identity interface {
	// Profile is the profile the identity belongs to: itself for a Profile.
	Profile() Profile
	// IsZero tells whether no parser built it.
	IsZero() bool
	// FileName is a single path element, different for different identities of all kinds, on file systems that ignore
	// case too, and never a device name, "." or "..". It is ErrZero for the zero value.
	FileName() (string, error)
	// String is for people; do not parse it.
	String() string
	sealed()
}

// Profile is one set of settings, memory and credentials. It is comparable.
type Profile struct{ name string }

// Session is one conversation, or one call of `hermes exec`. It is comparable, and two that differ in the profile, the
// origin or the key are two sessions.
type Session struct {
	profile     Profile
	origin, key string
}

// Job is one scheduled job of a profile. It is comparable.
type Job struct {
	profile Profile
	id      string
}

var (
	_ Identity = Profile{}
	_ Identity = Session{}
	_ Identity = Job{}
)

func (Profile) sealed() {}
func (Session) sealed() {}
func (Job) sealed()     {}

// Profile returns p.
func (p Profile) Profile() Profile { return p }

// Profile returns the profile the session runs under.
func (s Session) Profile() Profile { return s.profile }

// Profile returns the profile the job runs under.
func (j Job) Profile() Profile { return j.profile }

// Origin says where the session comes from: "cli", "exec", "telegram", …
func (s Session) Origin() string { return s.origin }

// Key tells apart the sessions of one origin.
func (s Session) Key() string { return s.key }

// ID returns the job's id.
func (j Job) ID() string { return j.id }

// IsZero tells whether p was never parsed.
func (p Profile) IsZero() bool { return p == Profile{} }

// IsZero tells whether s was never parsed.
func (s Session) IsZero() bool { return s == Session{} }

// IsZero tells whether j was never parsed.
func (j Job) IsZero() bool { return j == Job{} }

const none = "(nobody)"

// String returns the profile's name.
func (p Profile) String() string {
	if p.IsZero() {
		return none
	}
	return p.name
}

// String returns profile, origin and key.
func (s Session) String() string {
	if s.IsZero() {
		return none
	}
	return s.profile.name + "/" + s.origin + ":" + s.key
}

// String returns profile and id.
func (j Job) String() string {
	if j.IsZero() {
		return none
	}
	return j.profile.name + "/job:" + j.id
}

// ParseProfile accepts 1 to 64 lower-case ASCII letters, digits, "-" and "_", a letter or digit first, and no name that
// Windows takes for a device.
func ParseProfile(name string) (Profile, error) {
	if cause := word(name, 64, false); cause != "" {
		return Profile{}, refuse("profile", name, cause)
	}
	if device(name) {
		return Profile{}, refuse("profile", name, "is a device name on Windows")
	}
	return Profile{name}, nil
}

// runs is the origin of the sessions in which jobs execute. Only Job.Session makes them.
const runs = "job"

// ParseSession accepts an origin of 1 to 32 lower-case letters, digits, "-" and "_" ("job" is taken: see Job.Session), and any
// key that a person could read: 1 to 512 bytes of UTF-8 without control or invisible characters and without blanks at its
// ends. Keys are compared byte by byte: what only looks alike is somebody else.
func ParseSession(p Profile, origin, key string) (Session, error) {
	if origin == runs {
		return Session{}, refuse("session origin", origin, "is for the runs of jobs")
	}
	return newSession(p, origin, key)
}

func newSession(p Profile, origin, key string) (Session, error) {
	if p.IsZero() {
		return Session{}, fmt.Errorf("session %q: %w", key, ErrZero)
	}
	if cause := word(origin, 32, false); cause != "" {
		return Session{}, refuse("session origin", origin, cause)
	}
	if cause := keyTrouble(key); cause != "" {
		return Session{}, refuse("session key", key, cause)
	}
	return Session{p, origin, key}, nil
}

// ParseJob accepts 1 to 64 ASCII letters, digits, "-" and "_", a letter or digit first.
func ParseJob(p Profile, id string) (Job, error) {
	if p.IsZero() {
		return Job{}, fmt.Errorf("job %q: %w", id, ErrZero)
	}
	if cause := word(id, 64, true); cause != "" {
		return Job{}, refuse("job", id, cause)
	}
	if device(id) {
		return Job{}, refuse("job", id, "is a device name on Windows")
	}
	return Job{p, id}, nil
}

// Session returns the session in which one run of the job executes.
func (j Job) Session(run string) (Session, error) {
	if j.IsZero() {
		return Session{}, fmt.Errorf("run %q: %w", run, ErrZero)
	}
	return newSession(j.profile, runs, j.id+"/"+run)
}

// Job returns the job that the session is a run of, or the zero Job.
func (s Session) Job() Job {
	id, _, ok := strings.Cut(s.key, "/")
	if s.origin != runs || !ok {
		return Job{}
	}
	return Job{s.profile, id}
}

func refuse(what, text, cause string) error {
	return fmt.Errorf("%s %s: %s", what, shown(text), cause)
}

func shown(s string) string {
	const most = 100
	if len(s) <= most {
		return strconv.QuoteToASCII(s)
	}
	return strconv.QuoteToASCII(s[:most]) + "…"
}

// word returns why s is not a name of the plain kind, or "".
func word(s string, most int, capitals bool) string {
	switch {
	case s == "":
		return "is empty"
	case len(s) > most:
		return fmt.Sprintf("is longer than %d characters", most)
	case s[0] == '-' || s[0] == '_':
		return "a letter or digit must come first"
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_', capitals && 'A' <= c && c <= 'Z':
		case 'A' <= c && c <= 'Z':
			return "only lower-case letters are allowed"
		default:
			return "only letters, digits, - and _ are allowed"
		}
	}
	return ""
}

// keyTrouble returns why s is no session key, or "".
func keyTrouble(s string) string {
	switch {
	case s == "":
		return "is empty"
	case len(s) > 512:
		return "is longer than 512 bytes"
	case !utf8.ValidString(s):
		return "is not UTF-8"
	case strings.TrimSpace(s) != s:
		return "begins or ends with a blank"
	}
	for _, r := range s {
		if r == utf8.RuneError || r != ' ' && !unicode.IsGraphic(r) || unicode.IsSpace(r) && r != ' ' {
			return "control and invisible characters are not allowed"
		}
	}
	return ""
}

// device tells whether Windows opens a device instead of a file of this name.
func device(s string) bool {
	switch s = strings.ToLower(s); s {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(s) == 4 && (s[:3] == "com" || s[:3] == "lpt") && '1' <= s[3] && s[3] <= '9'
}
