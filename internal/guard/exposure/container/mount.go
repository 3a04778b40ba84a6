package container

import (
	"encoding/csv"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// MountKind is the kind of a mount.
type MountKind uint8

// The kinds of mounts. The zero kind is none of them and is refused.
const (
	UnknownMount MountKind = iota
	Bind                   // a path of the host
	Named                  // a volume with a name
	Anonymous              // a volume without a name, new for each container
	Memory                 // a tmpfs, made new
	Inner                  // something of the engine's own: an image, a pseudo terminal
)

// Mount is one mount as it was written.
type Mount struct {
	Kind    MountKind
	Source  string // of a Bind, the path as written; of a Named, the volume; else empty
	Target  string
	Write   bool
	Options []string // in order; for --mount, key=value
	Driver  string   // of a volume, when it is not the engine's own
	Text    string   // as written
}

// ParseVolume reads the value of -v and an entry of terminal.docker_volumes: [source:]target[:options]. On Windows, and
// wherever three parts leave no other reading, a letter before a colon is a drive.
func ParseVolume(text string, windows bool) (Mount, error) {
	m := Mount{Text: text, Write: true}
	if strings.ContainsRune(text, 0) {
		return Mount{}, fmt.Errorf("volume %s: it has a NUL byte", strconv.Quote(text))
	}
	parts := splitVolume(text, windows)
	switch len(parts) {
	case 1:
		m.Kind, m.Target = Anonymous, parts[0]
	case 2:
		m.Source, m.Target = parts[0], parts[1]
	case 3:
		m.Source, m.Target = parts[0], parts[1]
		m.Options = strings.Split(parts[2], ",")
	default:
		return Mount{}, fmt.Errorf("volume %s: it has more than three parts", strconv.Quote(text))
	}
	if m.Target == "" || !isAbs(m.Target) {
		return Mount{}, fmt.Errorf("volume %s: %s is not an absolute path inside the container", strconv.Quote(text), strconv.Quote(m.Target))
	}
	if m.Kind == UnknownMount {
		switch {
		case m.Source == "":
			return Mount{}, fmt.Errorf("volume %s: what to mount is missing", strconv.Quote(text))
		case usesHost(m.Source):
			m.Kind = Bind
		default:
			m.Kind = Named
		}
	}
	read, write := false, false
	for _, o := range m.Options {
		read = read || o == "ro" || o == "readonly"
		write = write || o == "rw"
	}
	m.Write = write || !read
	return m, nil
}

// splitVolume cuts at colons, but not behind the letter of a drive.
func splitVolume(text string, windows bool) []string {
	parts := strings.Split(text, ":")
	join := func(i int) {
		parts[i] += ":" + parts[i+1]
		parts = append(parts[:i+1], parts[i+2:]...)
	}
	drive := func(i int) bool {
		return i+1 < len(parts) && isLetter(parts[i]) && (strings.HasPrefix(parts[i+1], `\`) || strings.HasPrefix(parts[i+1], "/"))
	}
	if drive(0) && (windows || len(parts) > 2 && isAbs(parts[2]) || strings.HasPrefix(parts[1], `\`)) {
		join(0)
	}
	if windows && drive(1) {
		join(1)
	}
	return parts
}

func isLetter(s string) bool {
	return len(s) == 1 && (s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z')
}

// isAbs tells whether a path is absolute inside a container of either system.
func isAbs(p string) bool {
	return strings.HasPrefix(p, "/") || strings.HasPrefix(p, `\`) || isDrive(p)
}

func isDrive(p string) bool {
	return len(p) >= 2 && isLetter(p[:1]) && p[1] == ':' && (len(p) == 2 || p[2] == '/' || p[2] == '\\')
}

// usesHost tells whether a volume's source is a path of the host rather than the name of a volume.
func usesHost(source string) bool {
	if source == "" {
		return false
	}
	return strings.ContainsAny(source, `/\`) || strings.HasPrefix(source, ".") || strings.HasPrefix(source, "~") || isDrive(source)
}

// parseMount reads the value of --mount: fields separated by commas, quoted as in CSV.
func parseMount(text string) (Mount, error) {
	fields, err := csv.NewReader(strings.NewReader(text)).Read()
	if err != nil {
		return Mount{}, fmt.Errorf("mount %s: %w", strconv.Quote(text), err)
	}
	m := Mount{Text: text, Write: true}
	kind, device, system, how := "volume", "", "", ""
	for _, field := range fields {
		key, value, has := strings.Cut(field, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		switch key {
		case "type":
			kind = strings.ToLower(value)
		case "source", "src":
			m.Source = value
		case "target", "destination", "dst", "dest":
			m.Target = value
		case "readonly", "ro":
			m.Write = has && !yes(value)
		case "rw":
			m.Write = !has || yes(value) || m.Write
		case "volume-driver":
			if value != "local" {
				m.Driver = value
			}
		case "volume-opt":
			switch option, v, _ := strings.Cut(value, "="); option {
			case "device":
				device = v
			case "type":
				system = v
			case "o":
				how += "," + v
			}
		}
		m.Options = append(m.Options, field)
	}
	switch kind {
	case "bind", "npipe", "glob":
		m.Kind = Bind
	case "tmpfs", "ramfs":
		m.Kind, m.Source = Memory, ""
	case "image", "devpts":
		m.Kind = Inner
	case "volume":
		m.Kind = Named
		m.made(device, system, how)
		switch {
		case m.Kind != Named:
		case m.Source == "":
			m.Kind = Anonymous
		case usesHost(m.Source):
			m.Kind = Bind
		}
	}
	if kind == "glob" {
		m.Source = globRoot(m.Source)
	}
	if m.Kind == Bind && m.Source == "" {
		return Mount{}, fmt.Errorf("mount %s: what to mount is missing", strconv.Quote(text))
	}
	return m, nil
}

// made says what a volume is that is made of a device, by a type of file system and the options of its mount.
func (m *Mount) made(device, system, how string) {
	bind := strings.Contains(how, "bind") // the type counts for nothing then
	remote := strings.HasPrefix(system, "nfs") || system == "cifs" || system == "smb3"
	switch {
	case device == "" && system == "" && how == "":
	case bind || isAbs(slashed(device)) && !remote: // a bind mount in the clothes of a volume, or a disk
		m.Kind, m.Source, m.Driver = Bind, device, "local"
	case remote:
		m.Driver = system
	case system == "tmpfs" || system == "ramfs":
	default: // overlays, which name folders of the host among their options, and whatever else there is
		m.Kind = UnknownMount
	}
}

// yes reads a boolean as the engines do; what is none counts as no.
func yes(s string) bool { b, err := strconv.ParseBool(s); return err == nil && b }

// globRoot is the directory that all matches are below.
func globRoot(pattern string) string {
	if i := strings.IndexAny(pattern, "*?["); i >= 0 {
		return path.Dir(pattern[:i] + "x")
	}
	return pattern
}

// parseTmpfs reads the value of --tmpfs.
func parseTmpfs(text string) Mount {
	target, options, _ := strings.Cut(text, ":")
	return Mount{Kind: Memory, Target: target, Write: true, Options: strings.Split(options, ","), Text: text}
}
