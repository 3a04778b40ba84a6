package scope

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// maxName keeps file names below the 255 bytes that file systems take, with room for a suffix such as ".json.lock".
const maxName = 200

// FileName returns "p." and the name.
func (p Profile) FileName() (string, error) {
	if p.IsZero() {
		return "", ErrZero
	}
	return "p." + p.name, nil
}

// FileName returns "s.", profile, origin and the key in escaped form; a long key is told by its hash ("h.").
func (s Session) FileName() (string, error) {
	if s.IsZero() {
		return "", ErrZero
	}
	head := s.profile.name + "." + s.origin + "."
	name := "s." + head + escape(s.key)
	if len(name) <= maxName {
		return name, nil
	}
	sum := sha256.Sum256([]byte(s.key))
	return "h." + head + hex.EncodeToString(sum[:]), nil
}

// FileName returns "j.", profile and the id in escaped form.
func (j Job) FileName() (string, error) {
	if j.IsZero() {
		return "", ErrZero
	}
	return "j." + j.profile.name + "." + escape(j.id), nil
}

// escape keeps lower-case letters, digits and "-", and writes all other bytes as "_" and two hexadecimal digits. It can be
// undone, so different texts stay different; capitals are written out, so they stay different where case is ignored.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	return b.String()
}

// MarshalText writes a session for a store. The zero value is an error.
func (s Session) MarshalText() ([]byte, error) {
	if s.IsZero() {
		return nil, ErrZero
	}
	return []byte("session " + s.profile.name + " " + s.origin + " " + s.key), nil
}

// UnmarshalText reads what MarshalText wrote, through the parsers.
func (s *Session) UnmarshalText(text []byte) error {
	part := strings.SplitN(string(text), " ", 4)
	if len(part) != 4 || part[0] != "session" {
		return refuse("session", string(text), "is not a stored session")
	}
	p, err := ParseProfile(part[1])
	if err != nil {
		return err
	}
	parsed, err := newSession(p, part[2], part[3])
	if err != nil {
		return err
	}
	if part[2] == runs {
		id, _, _ := strings.Cut(part[3], "/")
		if _, err := ParseJob(p, id); err != nil || parsed.Job().IsZero() {
			return refuse("session", string(text), "is no run of a job")
		}
	}
	*s = parsed
	return nil
}

// MarshalText writes a job for a store. The zero value is an error.
func (j Job) MarshalText() ([]byte, error) {
	if j.IsZero() {
		return nil, ErrZero
	}
	return []byte("job " + j.profile.name + " " + j.id), nil
}

// UnmarshalText reads what MarshalText wrote, through the parsers.
func (j *Job) UnmarshalText(text []byte) error {
	part := strings.SplitN(string(text), " ", 3)
	if len(part) != 3 || part[0] != "job" {
		return refuse("job", string(text), "is not a stored job")
	}
	p, err := ParseProfile(part[1])
	if err != nil {
		return err
	}
	parsed, err := ParseJob(p, part[2])
	if err != nil {
		return err
	}
	*j = parsed
	return nil
}

// MarshalText writes a profile for a store. The zero value is an error.
func (p Profile) MarshalText() ([]byte, error) {
	if p.IsZero() {
		return nil, ErrZero
	}
	return []byte("profile " + p.name), nil
}

// UnmarshalText reads what MarshalText wrote, through the parser.
func (p *Profile) UnmarshalText(text []byte) error {
	name, ok := strings.CutPrefix(string(text), "profile ")
	if !ok {
		return refuse("profile", string(text), "is not a stored profile")
	}
	parsed, err := ParseProfile(name)
	if err != nil {
		return err
	}
	*p = parsed
	return nil
}
