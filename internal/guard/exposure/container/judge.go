package container

import (
	"path"
	"slices"
	"strings"

	"hermes/internal/guard"
	"hermes/internal/guard/exposure"
)

// everything is all that is told of a setting that hands over the host.
var everything = []exposure.Door{exposure.KeyFiles, exposure.HostWrite, exposure.HostRead, exposure.HomeWrite, exposure.RCFiles,
	exposure.GitHooks, exposure.GitConfig, exposure.NamedUnix, exposure.EngineSocket}

const allHarms = guard.Host | guard.Work | guard.Remote | guard.Leak

// Mount judges one mount. No risk means that it leaves everything contained.
func (h Host) Mount(m Mount) []Risk {
	switch m.Kind {
	case Anonymous, Memory, Inner:
		if m.Driver == "" {
			return nil
		}
		return []Risk{h.driver(m)}
	case Named:
		if m.Driver != "" {
			return []Risk{h.driver(m)}
		}
		if h.Volume == nil {
			return []Risk{unknownVolume(m)}
		}
		source, known := h.Volume(m.Source)
		switch {
		case !known:
			return []Risk{unknownVolume(m)}
		case source == "":
			return nil
		}
		m.Driver = "local"
		switch {
		case isAbs(slashed(source)):
			m.Source = source
			return h.bind(m)
		case source == "tmpfs":
			return nil
		case strings.Contains(source, ":"): // another machine's
			m.Driver = "local with the device " + source
			return []Risk{h.driver(m)}
		}
		return []Risk{unknownVolume(m)}
	case Bind:
		return h.bind(m)
	}
	return []Risk{{Name: "unknown-mount", Text: m.Text, Opens: everything, Harms: allHarms, Refused: true,
		Why: "what this type of mount shows is not known"}}
}

func unknownVolume(m Mount) Risk {
	return Risk{Name: "unknown-volume", Text: m.Text, Opens: everything, Harms: allHarms, Refused: true,
		Why: "what the volume " + m.Source + " stands for could not be found out"}
}

func (h Host) driver(m Mount) Risk {
	return Risk{Name: "volume-driver", Text: m.Text, Opens: []exposure.Door{exposure.HostRead, exposure.HostWrite},
		Harms: allHarms, Why: "what " + m.Driver + " shows lies outside the engine"}
}

// bind judges a path of the host that is shown inside. Read-only helps against writing, and only against that: a socket can be
// talked to all the same.
func (h Host) bind(m Mount) []Risk {
	source := h.absolute(m.Source)
	if source == "" {
		return []Risk{{Name: "unknown-path", Text: m.Text, Opens: everything, Harms: allHarms, Refused: true,
			Why: m.Source + " cannot be made an absolute path"}}
	}
	at, known := Path{}, false
	if h.Look != nil {
		at, known = h.Look(source)
	}
	places := []string{source}
	if known && at.Real != "" && at.Real != source {
		places = append(places, slashed(at.Real))
	}
	for _, p := range places {
		if there := beyond(p); there != "" {
			places = append(places, there)
		}
	}
	worst := Risk{}
	for _, p := range places {
		if r := h.place(m, p, at.Kind); worst.Name == "" || r.Refused && !worst.Refused || r.Harms&^worst.Harms != 0 {
			worst = r
		}
	}
	if !known && !worst.Refused {
		worst = Risk{Name: "unknown-path", Opens: everything, Harms: allHarms, Refused: true,
			Why: "what " + source + " leads to could not be found out"}
	}
	for _, o := range m.Options { // of an overlay: what is written goes there
		for part := range strings.SplitSeq(o, ",") {
			if key, dir, ok := strings.Cut(part, "="); ok && (key == "upperdir" || key == "workdir") {
				for _, r := range h.bind(Mount{Kind: Bind, Source: dir, Target: m.Target, Write: true, Text: m.Text}) {
					if worst.Name == "" || r.Refused && !worst.Refused || r.Harms&^worst.Harms != 0 && !worst.Refused {
						worst = r
					}
				}
			}
		}
	}
	if worst.Harms == 0 && !worst.Refused {
		return nil
	}
	worst.Text, worst.Also = m.Text, []string{m.Source}
	return []Risk{worst}
}

// absolute returns a source as a clean absolute path with slashes, "" when that cannot be.
func (h Host) absolute(source string) string {
	s := slashed(source)
	switch {
	case s == "~" || strings.HasPrefix(s, "~/"):
		if h.Home == "" {
			return ""
		}
		s = slashed(h.Home) + s[1:]
	case strings.HasPrefix(s, "~"):
		return "" // somebody else's home
	case !isAbs(s):
		if h.Dir == "" {
			return ""
		}
		s = slashed(h.Dir) + "/" + s
	}
	return path.Clean(s)
}

// beyond returns what a path of an engine's virtual machine is on the machine around it, "" for a path that is none of these.
func beyond(p string) string {
	for _, mnt := range [...]string{"/host_mnt", "/run/desktop/mnt/host", "/mnt/host"} {
		rest, ok := strings.CutPrefix(p, mnt)
		switch {
		case !ok || rest != "" && rest[0] != '/':
		case rest == "":
			return "/"
		case len(rest) == 2 || len(rest) > 2 && rest[2] == '/': // a drive
			return path.Clean(rest[1:2] + ":/" + rest[2:])
		default:
			return rest
		}
	}
	if rest, ok := strings.CutPrefix(p, "/mnt/"); ok && len(rest) > 2 && rest[1] == '/' {
		return rest[:1] + ":" + rest[1:] // a drive of Windows, seen from its Linux
	}
	return ""
}

func slashed(p string) string { return strings.ReplaceAll(p, `\`, "/") }

// Absolute returns the source of a bind mount as the path to look at.
func (h Host) Absolute(source string) string { return h.absolute(source) }

// place judges one path, clean and absolute.
func (h Host) place(m Mount, p string, kind Kind) Risk {
	root := p == "/" || isDrive(p) && len(strings.TrimRight(p, "/")) == 2
	read, write := []exposure.Door{exposure.HostRead}, []exposure.Door{exposure.HostRead, exposure.HostWrite}
	refuse := func(name, why string, opens ...exposure.Door) Risk {
		return Risk{Name: name, Opens: opens, Harms: allHarms, Why: why, Refused: true}
	}
	switch {
	case root:
		return refuse("host-root", "all of the host's files are inside", everything...)
	case h.socket(p):
		return refuse("engine-socket", "the engine's socket commands the engine, which commands the host",
			exposure.EngineSocket, exposure.NamedUnix)
	case within("/run/systemd/private", p), within("/run/dbus/system_bus_socket", p), within("/var/run/dbus/system_bus_socket", p):
		return refuse("host-bus", "the host's services can be told what to do", exposure.NamedUnix, exposure.HostWrite)
	case h.hermes(p):
		return refuse("hermes-home", "Hermes' own logins and settings are inside", exposure.KeyFiles, exposure.HostRead, exposure.HostWrite)
	case h.home(p):
		return refuse("host-home", "the home folder is inside, with its keys and start files", exposure.KeyFiles, exposure.HostRead,
			exposure.HostWrite, exposure.HomeWrite, exposure.RCFiles, exposure.GitHooks, exposure.GitConfig, exposure.NamedUnix)
	case within(p, "/proc"), within(p, "/sys"):
		return refuse("host-"+strings.Split(p, "/")[1], p+" is a way into the host's kernel and processes", append([]exposure.Door{exposure.HostProc},
			everything...)...)
	case p == "/dev" || p == "/dev/mapper" || p == "/dev/disk" || p == "/dev/block":
		return refuse("host-dev", "the host's devices are inside, its disks among them", everything...)
	case m.Driver != "" && within(p, "/dev"), disk(p):
		return refuse("host-disk", p+" is one of the host's disks", everything...)
	case p == "/etc", p == "/var", p == "/var/lib", p == "/boot", within(p, "/var/lib/docker"), within(p, "/var/lib/containers"),
		within(p, "/var/lib/containerd"), within(p, "/var/lib/kubelet"), p == "/run", p == "/private", p == "/private/etc", p == "/private/var":
		if !m.Write && p != "/etc" && p != "/private/etc" && p != "/var/lib" && p != "/var" {
			break
		}
		return refuse("host-"+strings.ReplaceAll(strings.Trim(p, "/"), "/", "-"), p+" is the host's own", exposure.KeyFiles, exposure.HostRead, exposure.HostWrite)
	}
	switch {
	case kind == Socket:
		return Risk{Name: "host-socket", Opens: []exposure.Door{exposure.NamedUnix}, Harms: allHarms,
			Why: "whoever listens on " + p + " can be talked to"}
	case h.keys(p):
		return Risk{Name: "key-files", Opens: []exposure.Door{exposure.KeyFiles, exposure.HostRead}, Harms: guard.Host | guard.Leak,
			Why: p + " holds keys or logins"}
	case slices.Contains(h.Work, path.Clean(slashed(m.Target))):
		if !m.Write {
			return Risk{}
		}
		return Risk{Name: "work-tree", Harms: guard.Work, Opens: []exposure.Door{exposure.GitHooks, exposure.GitConfig},
			Why: "the work tree is the owner's folder " + p}
	case !m.Write && system(p):
		return Risk{}
	case within(p, "/run"), within(p, "/var/run"), p == "/tmp", within(p, "/tmp/.X11-unix"), within(p, "/private/tmp"):
		return Risk{Name: "host-socket", Opens: append(write, exposure.NamedUnix), Harms: allHarms, Why: "sockets of the host are in " + p}
	case m.Write:
		return Risk{Name: "host-path", Opens: write, Harms: guard.Host | guard.Work, Why: p + " of the host can be written"}
	}
	return Risk{Name: "host-path", Opens: read, Harms: guard.Host, Why: p + " of the host can be read"}
}
