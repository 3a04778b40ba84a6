package checked

import (
	"net/netip"
	"strconv"
	"strings"
)

// Remote is an account on another machine, as the ssh program takes it: a host, which may be an alias of the owner's
// ssh_config, a user, and a port. No part of it is ever an option, or text that a shell reads in another way: ssh puts host and
// user into the ProxyCommand of its settings.
type Remote struct {
	user, host string
	port       uint16
}

// ParseRemote accepts a host of letters, digits, "." "_" and "-", or an address; a user of the same characters and "+" and "@";
// nothing that begins with a dash. An empty user is the one ssh chooses, port 0 the one ssh chooses.
func ParseRemote(user, host string, port int64) (Remote, error) {
	const typ = "remote"
	name := host
	if rest, ok := strings.CutPrefix(host, "["); ok {
		name = strings.TrimSuffix(rest, "]")
	}
	switch {
	case host == "":
		return Remote{}, refuse(typ, host, -1, "the host is empty")
	case len(host) > 253:
		return Remote{}, refuse(typ, host, -1, "the host is longer than 253 characters")
	case len(user) > 128:
		return Remote{}, refuse(typ, user, -1, "the user is longer than 128 characters")
	case port < 0 || port > 65535:
		return Remote{}, refuse(typ, strconv.FormatInt(port, 10), -1, "a port is at most 65535")
	}
	if addr, err := netip.ParseAddr(name); err == nil && addr.Is6() && remoteTrouble(addr.Zone(), "._-") < 0 {
		if err := remoteUser(user); err != nil {
			return Remote{}, err
		}
		return Remote{user, name, uint16(port)}, nil
	}
	if host[0] == '-' {
		return Remote{}, refuse(typ, host, 0, "ssh takes it for an option")
	}
	if at := remoteTrouble(host, "._-"); at >= 0 {
		return Remote{}, refuse(typ, host, at, "only letters, digits, . _ and - are allowed in a host")
	}
	if err := remoteUser(user); err != nil {
		return Remote{}, err
	}
	return Remote{user, host, uint16(port)}, nil
}

func remoteUser(user string) error {
	if strings.HasPrefix(user, "-") {
		return refuse("remote", user, 0, "ssh takes it for an option")
	}
	if at := remoteTrouble(user, "._-+@"); at >= 0 {
		return refuse("remote", user, at, "only letters, digits, . _ - + and @ are allowed in a user")
	}
	return nil
}

// remoteTrouble returns where the first character stands that is not allowed, or -1.
func remoteTrouble(s, more string) int {
	for i := range len(s) {
		if c := s[i]; !lower(c) && !upper(c) && !digit(c) && strings.IndexByte(more, c) < 0 {
			return i
		}
	}
	return -1
}

// Host returns the host or alias, an IPv6 address without brackets.
func (r Remote) Host() string { return r.host }

// User returns the user, "" for the one ssh chooses.
func (r Remote) User() string { return r.user }

// Port returns the port, 0 for the one ssh chooses.
func (r Remote) Port() uint16 { return r.port }

// IsZero tells whether r was never parsed.
func (r Remote) IsZero() bool { return r.host == "" }

// String returns user@host:port, without what is not set.
func (r Remote) String() string {
	s := r.host
	if r.port != 0 && strings.Contains(s, ":") {
		s = "[" + s + "]"
	}
	if r.user != "" {
		s = r.user + "@" + s
	}
	if r.port != 0 {
		s += ":" + strconv.Itoa(int(r.port))
	}
	return s
}
