package exposure

import (
	"strconv"
	"strings"

	"hermes/internal/guard"
)

// Target is where a command would go. The zero Target is not known, and counts as somewhere on the allow-list.
type Target struct {
	Host string // name or address
	Port uint16 // 0 = any
}

// Reason says why a harm is not contained.
type Reason struct {
	Harm guard.Harms
	Door string // the row's key
	Why  string
}

// Contains returns which of the harms this sandbox contains, and for each of the others why not. Without a target, remote
// harm and leaks are contained only where nothing can leave at all.
//
// No harms at all is not "all contained": ask Covers whether a question to a person is needless.
func (e Exposure) Contains(harms guard.Harms, targets ...Target) (contained guard.Harms, reasons []Reason) {
	for _, h := range [...]guard.Harms{guard.Host, guard.Work, guard.Remote, guard.Leak} {
		if harms&h == 0 {
			continue
		}
		var open []Reason
		switch h {
		case guard.Host:
			open = e.hostOpen()
		case guard.Work:
			open = e.workOpen()
		default:
			open = e.exits(targets)
		}
		if len(open) == 0 {
			contained |= h
		}
		for _, r := range open {
			r.Harm = h
			reasons = append(reasons, r)
		}
	}
	return contained, reasons
}

// Covers tells whether all of the harms are contained. Of no harms it is false: a finding that does not say what it harms
// could harm anything.
func (e Exposure) Covers(harms guard.Harms, targets ...Target) bool {
	contained, _ := e.Contains(harms, targets...)
	return harms != 0 && contained == harms
}

// Boundary tells whether the host is contained.
func (e Exposure) Boundary() bool { return e.Covers(guard.Host) }

func (e Exposure) open(which func(door) bool) (out []Reason) {
	for d, about := range doorTable {
		if which(about) && e.Doors[d].Force != Shut {
			why := about.why
			if e.Doors[d].Force != Open {
				why = about.name + ": not known, which counts as open"
			}
			out = append(out, Reason{Door: about.key, Why: why})
		}
	}
	return out
}

// hostOpen lists what keeps the host from being contained.
func (e Exposure) hostOpen() []Reason {
	out := e.open(func(d door) bool { return d.host })
	switch extra := e.Caps.Held &^ Harmless(); {
	case !e.Caps.Known:
		out = append(out, Reason{Door: "capabilities", Why: "capabilities: not known, which counts as all"})
	case extra != 0:
		out = append(out, Reason{Door: "capabilities", Why: "it holds " + extra.String()})
	}
	if e.Seccomp != Filter {
		out = append(out, Reason{Door: "seccomp", Why: "no system call filter is in force"})
	}
	return out
}

// workOpen lists what keeps the owner's work from being contained: that it is there, or can be reached as one of the host's
// files.
func (e Exposure) workOpen() []Reason {
	if e.Tree != OwnTree && e.Tree != NoTree {
		return []Reason{{Door: "work_tree", Why: "the work tree is the owner's folder"}}
	}
	return e.open(func(d door) bool { return d.key == doorTable[HostWrite].key || d.key == doorTable[EngineSocket].key })
}

// exits lists what keeps commands and data from being contained: the network as far as it reaches the targets, and the ways
// around it.
func (e Exposure) exits(targets []Target) []Reason {
	var out []Reason
	n := e.Network
	switch {
	case n.Force == NoNet:
	case n.Force == AllowlistNet:
		out = append(out, listed(n.Allow, targets)...)
	default:
		out = append(out, Reason{Door: "network", Why: "the network is open"})
	}
	return append(out, e.open(func(d door) bool { return d.exit || d.packets && n.NoRoute != Shut })...)
}

// listed lists the targets that the allow-list lets through. With an empty list there are none.
func listed(allow []string, targets []Target) (out []Reason) {
	if len(allow) == 0 {
		return nil
	}
	if len(targets) == 0 {
		return []Reason{{Door: "network", Why: "where it goes is not known, and the allow-list is not empty"}}
	}
	for _, t := range targets {
		for _, entry := range allow {
			if mayReach(entry, t) {
				out = append(out, Reason{Door: "network", Why: "the allow-list lets " + strconv.Quote(entry) + " through"})
				break
			}
		}
	}
	return out
}

// mayReach tells whether an entry could let a target through. It errs on the side of yes: what is not plain ASCII, or cannot
// be read, could be anything.
func mayReach(entry string, t Target) bool {
	host, port := splitPort(fold(entry))
	target := fold(t.Host)
	if !plain(host) || !plain(target) {
		return true
	}
	if port != "" && t.Port != 0 && port != strconv.Itoa(int(t.Port)) && port != "*" {
		return false
	}
	if host == "*" || host == target {
		return true
	}
	domain := strings.TrimPrefix(strings.TrimPrefix(host, "*"), ".")
	return domain != host && (target == domain || strings.HasSuffix(target, "."+domain)) || strings.Contains(domain, "*")
}

func fold(host string) string {
	host = strings.ToLower(strings.TrimSpace(host))
	if _, rest, ok := strings.Cut(host, "://"); ok {
		host = rest
	}
	host, _, _ = strings.Cut(host, "/")
	return strings.TrimSuffix(host, ".")
}

// splitPort cuts host:port and [address]:port; a bare IPv6 address has no port.
func splitPort(s string) (host, port string) {
	if rest, ok := strings.CutPrefix(s, "["); ok {
		host, port, _ = strings.Cut(rest, "]")
		return host, strings.TrimPrefix(port, ":")
	}
	if strings.Count(s, ":") == 1 {
		host, port, _ = strings.Cut(s, ":")
		return strings.TrimSuffix(host, "."), port
	}
	return s, ""
}

// plain tells whether a host is spelled in one way only.
func plain(host string) bool {
	return host != "" && strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789.-_:*") == ""
}
