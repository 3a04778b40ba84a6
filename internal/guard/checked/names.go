package checked

import "strings"

// JobID names a scheduled job. It is safe as a file name on every system.
type JobID struct{ text string }

// ParseJobID accepts 1 to 64 ASCII letters, digits, "-" and "_", a letter or digit first.
func ParseJobID(s string) (JobID, error) {
	if err := fileName("job id", s, true); err != nil {
		return JobID{}, err
	}
	return JobID{s}, nil
}

// String returns the id, "" for the zero value.
func (j JobID) String() string { return j.text }

// IsZero tells whether j was never parsed.
func (j JobID) IsZero() bool { return j.text == "" }

// ProfileName names a profile. It is safe as a folder name, and two names that differ are two folders everywhere.
type ProfileName struct{ text string }

// ParseProfileName accepts 1 to 64 lower-case ASCII letters, digits, "-" and "_", a letter or digit first.
func ParseProfileName(s string) (ProfileName, error) {
	if err := fileName("profile name", s, false); err != nil {
		return ProfileName{}, err
	}
	return ProfileName{s}, nil
}

// String returns the name, "" for the zero value.
func (p ProfileName) String() string { return p.text }

// IsZero tells whether p was never parsed.
func (p ProfileName) IsZero() bool { return p.text == "" }

// fileName checks a name that becomes a file or folder name.
func fileName(typ, s string, capitals bool) error {
	switch {
	case s == "":
		return refuse(typ, s, -1, "is empty")
	case len(s) > 64:
		return refuse(typ, s, -1, "is longer than 64 characters")
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case lower(c) || digit(c) || capitals && upper(c):
		case i == 0 && (c == '-' || c == '_'):
			return refuse(typ, s, i, "a letter or digit must come first")
		case c == '-' || c == '_':
		case upper(c):
			return refuse(typ, s, i, "only lower-case letters are allowed")
		default:
			return refuse(typ, s, i, "only letters, digits, - and _ are allowed")
		}
	}
	if device(s) {
		return refuse(typ, s, -1, "is a device name on Windows")
	}
	return nil
}

// device tells whether Windows opens a device instead of a file of this name.
func device(s string) bool {
	switch s = strings.ToLower(s); s {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(s) == 4 && (s[:3] == "com" || s[:3] == "lpt") && s[3] != '0' && digit(s[3])
}

// EnvName is the name of an environment variable.
type EnvName struct{ text string }

// ParseEnvName accepts what every shell can assign: 1 to 255 ASCII letters, digits and "_", no digit first.
func ParseEnvName(s string) (EnvName, error) {
	const typ = "environment name"
	switch {
	case s == "":
		return EnvName{}, refuse(typ, s, -1, "is empty")
	case len(s) > 255:
		return EnvName{}, refuse(typ, s, -1, "is longer than 255 characters")
	case digit(s[0]):
		return EnvName{}, refuse(typ, s, 0, "a letter or _ must come first")
	}
	for i := range len(s) {
		if c := s[i]; !lower(c) && !upper(c) && !digit(c) && c != '_' {
			return EnvName{}, refuse(typ, s, i, "only letters, digits and _ are allowed")
		}
	}
	return EnvName{s}, nil
}

// String returns the name, "" for the zero value.
func (e EnvName) String() string { return e.text }

// IsZero tells whether e was never parsed.
func (e EnvName) IsZero() bool { return e.text == "" }
