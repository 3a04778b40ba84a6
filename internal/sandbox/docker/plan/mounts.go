package plan

import (
	"encoding/csv"
	"path"
	"slices"
	"strings"

	"hermes/internal/guard"
	"hermes/internal/guard/exposure"
	"hermes/internal/guard/exposure/container"
)

// readVolumes reads terminal.docker_volumes: what is blank or has no colon is left out, with a note.
func readVolumes(list []string, windows bool) (mounts []container.Mount, notes []string, err error) {
	for _, text := range list {
		text = strings.TrimSpace(text)
		if !strings.Contains(text, ":") {
			if text != "" {
				notes = append(notes, "terminal.docker_volumes: "+text+" is left out: write host:container")
			}
			continue
		}
		m, err := container.ParseVolume(text, windows)
		if err != nil {
			return nil, nil, &RefusedError{Setting: "terminal.docker_volumes", Text: text, Why: err.Error(), Remedy: "write host:container or host:container:ro"}
		}
		mounts = append(mounts, m)
	}
	return mounts, notes, nil
}

// theirs returns all mounts of the owner: volumes, and those of the extra arguments.
func (b *builder) theirs() []container.Mount {
	out, _, _ := readVolumes(b.s.Volumes, b.host.Windows)
	for _, f := range b.extra {
		if m, ok := b.host.Mounted(f); ok {
			out = append(out, m)
		}
	}
	return out
}

// taken tells whether the owner mounts something at a place inside. A place whose name only begins the same is another one.
func (b *builder) taken(target string) bool {
	return slices.ContainsFunc(b.theirs(), func(m container.Mount) bool { return clean(m.Target) == target })
}

// mount writes everything that is shown inside: what is the sandbox's own, then the owner's, then what is read-only.
func (b *builder) mount() error {
	volumes, notes, err := readVolumes(b.s.Volumes, b.host.Windows)
	if err != nil {
		return err
	}
	b.p.Notes = append(b.p.Notes, notes...)
	if err := b.reserved(); err != nil {
		return err
	}
	if err := b.cwd(); err != nil {
		return err
	}
	b.own()
	const key = "terminal.docker_volumes"
	for _, m := range volumes {
		if err := b.accept(key, b.host.Mount(m)); err != nil {
			return err
		}
		b.volume(m)
	}
	for _, f := range b.extra {
		if m, ok := b.host.Mounted(f); ok {
			b.record(m)
		}
	}
	for _, m := range b.p.Mounts {
		if clean(m.Target) != Workspace || m.Mine {
			continue
		}
		source, known := m.Source, true
		if m.Kind == container.Named && b.host.Volume != nil {
			source, known = b.host.Volume(m.Source)
		}
		if m.Kind == container.Bind || m.Kind == container.Named && (source != "" || !known) {
			b.p.HostWork, b.theirWork = source, m.Write
		}
	}
	b.shown()
	b.p.Workdir = Workdir(b.s.Cwd, b.p.HostWork)
	return nil
}

// reserved refuses mounts at or above the helper's place.
func (b *builder) reserved() error {
	for _, m := range b.theirs() {
		if t := clean(m.Target); t == "/" || t == path.Dir(RunnerPath) || strings.HasPrefix(t, path.Dir(RunnerPath)+"/") {
			return &RefusedError{Setting: "terminal.docker_volumes", Text: m.Text, Why: m.Target + " inside is Hermes' own", Remedy: "mount it somewhere else"}
		}
	}
	return nil
}

// cwd mounts the folder Hermes was started in.
func (b *builder) cwd() error {
	const key = "terminal.docker_mount_cwd_to_workspace"
	switch {
	case !b.s.MountCwd || b.taken(Workspace):
		return nil
	case b.s.HostDir == "":
		return &RefusedError{Setting: key, Why: "the folder Hermes was started in is not known", Remedy: "start hermes in the folder, or unset the key"}
	case b.f.Remote:
		return &RefusedError{Setting: key, Why: "the engine runs on another machine, which does not have this folder", Remedy: "unset the key, or use an engine on this machine"}
	}
	m := container.Mount{Kind: container.Bind, Source: b.s.HostDir, Target: Workspace, Write: true, Text: b.s.HostDir + ":" + Workspace}
	if err := b.accept(key, b.host.Mount(m)); err != nil {
		return err
	}
	b.volume(m)
	return nil
}

// own mounts the sandbox's own folders, or memory in their place.
func (b *builder) own() {
	folders := b.s.Persistent && b.s.SandboxRoot != "" && !b.f.Remote
	if b.s.Persistent && !folders {
		why := "no folder for it is known"
		if b.f.Remote {
			why = "the engine runs on another machine"
		}
		b.p.NotInForce = append(b.p.NotInForce, Lack{What: "files that outlive the container", Asked: "terminal.container_persistent", Why: why,
			Remedy: "use an engine on this machine, or a named volume in terminal.docker_volumes"})
	}
	work := b.taken(Workspace) || b.p.has(Workspace)
	if folders {
		root := path.Join(strings.ReplaceAll(b.s.SandboxRoot, `\`, "/"), "docker", taskDir(b.s.Task))
		for _, d := range [...]struct{ name, target string }{{"home", Home}, {"workspace", Workspace}} {
			if d.target == Workspace && work || d.target == Home && b.taken(Home) {
				continue
			}
			b.mine(&b.writable, Showing{root + "/" + d.name, d.target}, true)
			b.p.Dirs = append(b.p.Dirs, root+"/"+d.name)
		}
		return
	}
	mode := ""
	switch uid, gid, _ := strings.Cut(b.p.User, ":"); {
	case !b.user:
	case b.f.Engine == container.Podman:
		mode = ",U" // it belongs to the container's user
	case b.f.Engine == container.Docker && b.plainUser() && strings.Trim(gid, "0123456789") == "":
		mode = ",uid=" + uid // runc gives it the mode of the image's own folder there, which may be root's alone
		if gid != "" {
			mode += ",gid=" + gid
		}
	default:
		mode = ",mode=1777"
	}
	if !work {
		b.tmp(&b.writable, Workspace+":rw,exec,size=10g"+mode)
	}
	b.tmp(&b.writable, "/home:rw,exec,size=1g"+mode)
	b.tmp(&b.writable, Home+":rw,exec,size=1g"+mode)
}

// has tells whether a plan mounts something at a place already.
func (p *Plan) has(target string) bool {
	return slices.ContainsFunc(p.Mounts, func(m Mount) bool { return clean(m.Target) == target })
}

// volume writes one mount of the owner's.
func (b *builder) volume(m container.Mount) {
	if m.Kind == container.Bind {
		m.Source = b.host.Absolute(m.Source)
	}
	options := slices.DeleteFunc(slices.Clone(m.Options), func(o string) bool { return o == "" })
	if !m.Write && !slices.Contains(options, "ro") {
		options = append(options, "ro")
	}
	b.mounts = append(b.mounts, spell(m.Source, m.Target, options)...)
	b.record(m)
}

// record notes a mount of the owner's.
func (b *builder) record(m container.Mount) {
	if m.Kind == container.Memory {
		b.tmpfs = append(b.tmpfs, m.Text)
		return
	}
	if m.Kind == container.Bind {
		m.Source = b.host.Absolute(m.Source)
	}
	b.p.Mounts = append(b.p.Mounts, Mount{Bind: exposure.Bind{Source: m.Source, Target: m.Target, Write: m.Write,
		Options: strings.Join(m.Options, ",")}, Kind: m.Kind})
}

// mine writes one mount of Hermes' own.
func (b *builder) mine(to *[]string, s Showing, write bool) {
	var options []string
	if !write {
		options = append(options, "ro")
	}
	if b.f.SELinux {
		options = append(options, "z")
	}
	*to = append(*to, spell(s.Source, s.Target, options)...)
	b.p.Mounts = append(b.p.Mounts, Mount{Bind: exposure.Bind{Source: s.Source, Target: s.Target, Write: write, Options: strings.Join(options, ",")},
		Kind: container.Bind, Mine: true})
}

// spell writes a mount: as -v, or as --mount where a colon in the path leaves no other way.
func spell(source, target string, options []string) []string {
	body := source
	if len(source) > 2 && source[1] == ':' {
		body = source[2:] // a drive
	}
	if !strings.Contains(body, ":") {
		return []string{"-v", strings.TrimSuffix(source+":"+target+":"+strings.Join(options, ","), ":")}
	}
	fields := []string{"type=bind", "source=" + source, "target=" + target}
	if slices.Contains(options, "ro") {
		fields = append(fields, "readonly")
	}
	var text strings.Builder
	w := csv.NewWriter(&text)
	_ = w.Write(fields) // into memory: no error
	w.Flush()
	return []string{"--mount", strings.TrimSuffix(text.String(), "\n")}
}

// shown writes what Hermes shows read-only, and its helper.
func (b *builder) shown() {
	secret := false
	for _, list := range [...]struct {
		what string
		kind container.Kind
		all  []Showing
	}{{"credential file", container.File, b.s.Credentials}, {"skills", container.Dir, b.s.Skills}, {"cache", container.Dir, b.s.Caches}} {
		for _, s := range list.all {
			if why := b.unfit(s, list.kind); why != "" {
				b.note("%s %s is left out: %s", list.what, s.Target, why)
				continue
			}
			b.mine(&b.mounts, s, false)
			secret = secret || list.kind == container.File
		}
	}
	if secret {
		b.p.Risks = append(b.p.Risks, container.Risk{Name: "credential-files", Text: "terminal.credential_files", Setting: "terminal.credential_files",
			Opens: []exposure.Door{exposure.KeyFiles}, Harms: guard.Host | guard.Leak, Why: "credential files can be read inside"})
	}
	if b.f.Remote {
		return
	}
	if b.s.Runner.Source != "" {
		b.mine(&b.mounts, b.s.Runner, false)
	}
	if b.s.Probe.Source != "" {
		b.mine(&b.mounts, b.s.Probe, false)
	}
	if b.s.Resolver.Source != "" && !b.taken(b.s.Resolver.Target) {
		b.mine(&b.mounts, b.s.Resolver, false)
	}
	if b.s.Sockets.Source != "" {
		b.mine(&b.mounts, b.s.Sockets, true)
	}
}

// unfit says why something of Hermes' own cannot be shown now, "" when it can.
func (b *builder) unfit(s Showing, want container.Kind) string {
	if b.f.Remote {
		return "the engine runs on another machine"
	}
	if b.p.has(clean(s.Target)) {
		return "something else is mounted there"
	}
	if b.host.Look == nil {
		return "its source could not be looked at"
	}
	at, known := b.host.Look(s.Source)
	switch {
	case !known || at.Kind == container.UnknownKind:
		return "its source could not be looked at"
	case at.Kind == want:
		return ""
	case at.Kind == container.Missing:
		return "its source is missing"
	case at.Kind == container.Dir:
		return "its source is a directory"
	}
	return "its source is not a directory"
}
