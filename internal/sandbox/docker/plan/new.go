package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hermes/internal/guard/checked"
	"hermes/internal/guard/exposure"
	"hermes/internal/guard/exposure/container"
)

// RefusedError is a setting that is not used.
type RefusedError struct {
	Setting string // the key
	Text    string // what stands there; never a secret
	Why     string
	Remedy  string
}

func (e *RefusedError) Error() string {
	s := e.Setting
	if e.Text != "" {
		s += " " + strconv.Quote(e.Text)
	}
	return s + ": refused: " + e.Why
}

// NetworkMode returns what terminal.network and terminal.docker_network ask for together, and whether one of them does so by
// name. An unknown word is no network.
func NetworkMode(network string, dockerNetwork bool) (mode exposure.Mode, set bool) {
	switch network {
	case "":
		if dockerNetwork {
			return exposure.OpenNet, false
		}
		return exposure.NoNet, true
	case "open":
		return exposure.OpenNet, true
	case "allowlist":
		return exposure.AllowlistNet, true
	}
	return exposure.NoNet, true
}

// builder collects a plan. Parts of the command line are kept apart until the end, since their order is part of it.
type builder struct {
	s     Settings
	f     Facts
	host  container.Host
	p     Plan
	extra []container.Flag
	user  bool // somebody passes --user
	tmpfs []string
	privs []string
	caps  exposure.CapSet

	base, security, writable, resources, mounts, variables []string
	limits                                                 []exposure.Limit
}

// New plans a container. The error is a *RefusedError, a *sandbox.MissingError for a limit that was asked for by name, or says
// which setting cannot be read.
func New(s Settings, f Facts) (Plan, error) {
	b := &builder{s: s, f: f, host: f.Host}
	b.host.Engine = f.Engine
	b.host.Work = []string{Workspace}
	for _, step := range []func() error{b.check, b.flags, b.name, b.secure, b.mount, b.limit, b.network, b.environment, b.describe} {
		if err := step(); err != nil {
			return Plan{}, err
		}
	}
	p := &b.p
	p.Run = slices.Concat([]string{"run", "-d"}, b.base, b.security, b.writable, b.resources, b.mounts, b.variables, s.ExtraArgs,
		[]string{s.Image, "sleep", "infinity"})
	if err := b.secretFree(); err != nil {
		return Plan{}, err
	}
	return b.p, nil
}

// check refuses what no plan can be made of.
func (b *builder) check() error {
	if b.f.Engine != container.Docker && b.f.Engine != container.Podman {
		return fmt.Errorf("plan container: %s", b.f.Engine)
	}
	if !isName(b.s.Name) {
		return fmt.Errorf("plan container: name %q is not hermes- and 8 hexadecimal digits", b.s.Name)
	}
	if _, err := checked.ParseImage(b.s.Image); err != nil {
		return fmt.Errorf("terminal.docker_image: %w", err)
	}
	if b.s.Network == exposure.UnknownNet {
		b.s.Network = exposure.NoNet
	}
	b.p.Network, b.p.Home, b.p.ClientEnv = b.s.Network, Home, b.s.Env
	return nil
}

// flags reads and judges terminal.docker_extra_args and docker_runtime.
func (b *builder) flags() error {
	const key = "terminal.docker_extra_args"
	flags, err := container.Parse(b.f.Engine, b.s.ExtraArgs)
	if err != nil {
		return &RefusedError{Setting: key, Why: err.Error(),
			Remedy: "write one argument an item, with --name=value, or use the setting that exists for it"}
	}
	b.extra = flags
	for _, f := range flags {
		if why, remedy := ours(f); why != "" {
			return &RefusedError{Setting: key, Text: f.Text, Why: why, Remedy: remedy}
		}
		risks, err := b.host.Flag(f)
		if err != nil {
			return &RefusedError{Setting: key, Text: f.Text, Why: err.Error(), Remedy: "see `" + b.f.Engine.String() + " run --help`"}
		}
		if err := b.accept(key, risks); err != nil {
			return err
		}
		switch f.Name {
		case "cap-add": // also those that open nothing are held
			for name := range strings.SplitSeq(f.Value, ",") {
				c, _ := exposure.Cap(name)
				b.caps |= c
			}
		case "user":
			b.user = f.Value != ""
			b.p.User = f.Value
		case "cap-drop", "runtime", "security-opt":
			b.privs = append(b.privs, "--"+f.Name+"="+f.Value)
		}
	}
	if b.s.Runtime != "" {
		if strings.HasPrefix(b.s.Runtime, "-") || strings.ContainsAny(b.s.Runtime, " \t\n\x00") {
			return &RefusedError{Setting: "terminal.docker_runtime", Text: b.s.Runtime, Why: "it is not the name of a runtime",
				Remedy: "name a runtime the engine knows, as `" + b.f.Engine.String() + " info` lists them"}
		}
		if b.has("runtime") {
			return &RefusedError{Setting: key, Text: "--runtime", Why: "terminal.docker_runtime names a runtime as well", Remedy: "keep one of them"}
		}
		return b.accept("terminal.docker_runtime", container.Runtime(b.s.Runtime))
	}
	return nil
}

// ours tells why a flag cannot be an extra argument: it decides what Hermes has to know.
func ours(f container.Flag) (why, remedy string) {
	const by = "Hermes sets this itself"
	switch f.Name {
	case "name", "cidfile", "replace", "label-file":
		return by, "leave it out"
	case "detach":
		if f.Value == "false" || f.Value == "0" || strings.HasPrefix(strings.ToLower(f.Value), "f") {
			return "the container has to run in the background", "leave it out"
		}
	case "attach", "help":
		return "the container would not run in the background", "leave it out"
	case "workdir":
		return by, "set terminal.cwd"
	case "label":
		key, _, _ := strings.Cut(f.Value, "=")
		if strings.HasPrefix(strings.TrimSpace(key), "hermes-") {
			return "labels that begin with hermes- are how containers are found again", "choose another name"
		}
	}
	return "", ""
}

// has tells whether an extra argument sets a flag.
func (b *builder) has(name string) bool {
	return slices.ContainsFunc(b.extra, func(f container.Flag) bool { return f.Name == name })
}

// SetsShm tells whether extra arguments set the size of /dev/shm themselves.
func SetsShm(engine container.Engine, extra []string) bool {
	flags, err := container.Parse(engine, extra)
	return err == nil && slices.ContainsFunc(flags, func(f container.Flag) bool { return f.Name == "shm-size" })
}

// accept keeps what is told and refuses what is not accepted by name.
func (b *builder) accept(setting string, risks []container.Risk) error {
	for _, r := range risks {
		r.Setting = setting
		if r.Refused && !r.Accepted(b.s.Accept) {
			return &RefusedError{Setting: setting, Text: r.Text, Why: r.Why,
				Remedy: "take it out, or accept what it opens: " + b.accepting(r.Name)}
		}
		b.caps |= r.Caps
		b.p.Risks = append(b.p.Risks, r)
	}
	return nil
}

// accepting says how to accept one risk more.
func (b *builder) accepting(name string) string {
	const key = "terminal.docker_accept_risk"
	list, err := json.Marshal(append(slices.Clone(b.s.Accept), name))
	if err != nil || strings.ContainsRune(string(list), '\'') {
		return "add " + name + " to " + key
	}
	return "hermes config set " + key + " '" + string(list) + "'"
}

func (b *builder) note(format string, args ...any) {
	b.p.Notes = append(b.p.Notes, fmt.Sprintf(format, args...))
}

// name writes the base of the command line and its labels.
func (b *builder) name() error {
	s := b.s
	switch {
	case s.Snap:
		b.note("terminal.docker_snap_compat: the container runs without --init and without the engine's no-new-privileges")
	case b.f.S6:
	default:
		b.base = append(b.base, "--init")
	}
	b.base = append(b.base, "--name", s.Name)
	b.p.Name = s.Name
	egress := "off"
	if s.Network == exposure.AllowlistNet {
		egress = "allowlist"
	}
	b.p.Labels = map[string]string{LabelAgent: "1", LabelTask: LabelValue(s.Task), LabelProfile: ProfileLabel(s.Profile, s.SharedKey), LabelEgress: egress}
	if s.Owner != "" {
		b.p.Labels[LabelOwner] = LabelValue(s.Owner)
	}
	for _, l := range [...]string{LabelAgent, LabelTask, LabelProfile, LabelEgress} {
		b.p.Filters = append(b.p.Filters, "label="+l+"="+b.p.Labels[l])
	}
	b.p.Reuse = s.Across && s.Persistent && !s.Override
	return nil
}

// secure writes what holds the container: capabilities, small file systems, no new privileges, the user.
func (b *builder) secure() error {
	b.security = append(b.security, "--cap-drop", "ALL")
	dropped := b.dropped()
	add := func(names ...string) {
		for _, n := range names {
			if c, _ := exposure.Cap(n); c&dropped == 0 {
				b.security = append(b.security, "--cap-add", n)
				b.caps |= c
			}
		}
	}
	mapped := b.asUser()
	if !b.plainUser() || b.f.Engine == container.Docker {
		add("DAC_OVERRIDE", "CHOWN", "FOWNER") // for the image's root; podman would hand them to an ordinary user
	}
	b.tmp(&b.security, "/tmp:rw,nosuid,size=512m")
	b.tmp(&b.security, "/var/tmp:rw,noexec,nosuid,size=256m")
	if !b.s.Snap {
		b.security = append(b.security, "--security-opt", "no-new-privileges")
	}
	run := "noexec"
	if b.f.S6 {
		run = "exec"
	}
	b.tmp(&b.security, "/run:rw,"+run+",nosuid,size=64m")
	if !b.user {
		add("SETUID", "SETGID")
	}
	b.security = append(b.security, mapped...)
	if b.s.Runtime != "" {
		b.security = append(b.security, "--runtime", b.s.Runtime)
	}
	return nil
}

// dropped returns the capabilities that extra arguments take away: an engine that is told to add and to drop one adds it.
func (b *builder) dropped() (out exposure.CapSet) {
	for _, f := range b.extra {
		if f.Name != "cap-drop" {
			continue
		}
		for name := range strings.SplitSeq(f.Value, ",") {
			if c, ok := exposure.Cap(name); ok {
				out |= c
			} else {
				out = ^exposure.CapSet(0) // ALL, or one that is not known here
			}
		}
	}
	return out
}

// plainUser tells whether commands run as a user by number that is not root.
func (b *builder) plainUser() bool {
	uid, _, _ := strings.Cut(b.p.User, ":")
	return strings.Trim(uid, "0") != "" && strings.Trim(uid, "0123456789") == ""
}

// asUser returns the flags that make commands run as the host's user.
func (b *builder) asUser() []string {
	const key = "terminal.docker_run_as_host_user"
	switch {
	case !b.s.AsHostUser || b.user:
		return nil
	case !b.f.HasUser:
		b.note("%s: this system has no user and group numbers: commands run as the image's user", key)
		return nil
	case b.f.Rootless && b.f.Engine == container.Docker:
		b.note("%s: the engine is rootless, so root inside is already your user", key)
		return nil
	}
	b.user = true
	b.p.User = fmt.Sprintf("%d:%d", b.f.UID, b.f.GID)
	out := []string{"--user", b.p.User}
	if b.f.Rootless && !b.has("userns") {
		out = append(out, "--userns=keep-id")
	}
	return out
}

// tmp adds a --tmpfs, unless the owner mounts something at the same place.
func (b *builder) tmp(to *[]string, text string) {
	target, _, _ := strings.Cut(text, ":")
	if b.taken(target) {
		return
	}
	*to = append(*to, "--tmpfs", text)
	b.tmpfs = append(b.tmpfs, text)
}

// secretFree refuses a command line that holds a secret.
func (b *builder) secretFree() error {
	for _, secret := range b.s.Secrets {
		if len(secret) < 8 {
			continue
		}
		if slices.ContainsFunc(b.p.Run, func(arg string) bool { return strings.Contains(arg, secret) }) {
			return &RefusedError{Setting: "terminal.docker_extra_args", Why: "a secret's value would stand in the command line, which every user of the machine can read",
				Remedy: "name the variable in terminal.docker_forward_env or terminal.docker_env"}
		}
	}
	return nil
}

// environment names the variables. Their values travel with each command, so that the engine does not write them to its disk;
// only an image whose own init starts services gets those of docker_env that are no secrets.
func (b *builder) environment() error {
	e := b.s.Env
	b.p.Exec = names(e.Names())
	var init []string
	for _, name := range slices.Sorted(slices.Values(b.s.InitEnv)) {
		v, ok := e.Lookup(name)
		if ok && b.f.S6 && !b.secret(name, v) && !slices.Contains(init, name) {
			init = append(init, name)
			b.privs = append(b.privs, "init "+name+"="+v)
		}
	}
	b.variables = names(init)
	for _, name := range slices.Compact(slices.Sorted(slices.Values(b.f.ClientProxies))) {
		if !slices.Contains(init, name) {
			b.variables = append(b.variables, "-e", name+"=")
		}
	}
	if b.f.Engine == container.Podman && !b.has("http-proxy") {
		b.variables = append(b.variables, "--http-proxy=false")
	}
	for _, name := range b.f.Variables {
		if b.secret(name, "") && name != "GPG_KEY" { // the key of official images, which is public
			b.note("terminal.docker_image: the image itself sets %s, which commands can read", name)
		}
	}
	for _, list := range []struct {
		key   string
		names []string
	}{{"terminal.docker_forward_env", b.s.Forward}, {"terminal.docker_env", b.s.InitEnv}} {
		for _, name := range slices.Compact(slices.Sorted(slices.Values(list.names))) {
			if v, ok := e.Lookup(name); ok && b.secret(name, v) {
				b.p.Risks = append(b.p.Risks, forwarded(list.key, name))
			}
		}
	}
	return nil
}

func names(list []string) (out []string) {
	for _, name := range list {
		out = append(out, "-e", name)
	}
	return out
}

// secret tells whether a variable looks like a secret or holds one.
func (b *builder) secret(name, value string) bool {
	upper := strings.ToUpper(name)
	for part := range strings.FieldsSeq("KEY TOKEN SECRET PASS CRED AUTH DSN BEARER WEBHOOK PRIVATE COOKIE SESSION_ID DATABASE_URL") {
		if strings.Contains(upper, part) {
			return true
		}
	}
	return slices.ContainsFunc(b.s.Secrets, func(s string) bool { return len(s) >= 4 && strings.Contains(value, s) })
}

// labels returns the labels of the command line in order.
func (b *builder) labels() (out []string) {
	for _, key := range slices.Sorted(maps.Keys(b.p.Labels)) {
		out = append(out, "--label", key+"="+b.p.Labels[key])
	}
	return out
}
