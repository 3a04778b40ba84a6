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
	"hermes/internal/sandbox"
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

// Unwrap makes it what every backend answers to a wish that is not fulfilled.
func (e *RefusedError) Unwrap() error {
	return &sandbox.MissingError{Backend: "docker", What: e.Setting, Why: e.Why, Remedy: e.Remedy}
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

	theirWork bool // the work tree is the owner's folder, and can be written
	tmpfs     []string
	privs     []string
	caps      exposure.CapSet

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
	b.p.Labels = map[string]string{LabelAgent: "1", LabelTask: LabelValue(s.Task), LabelProfile: profileLabel(s.Profile, s.SharedKey), LabelEgress: egress}
	if s.Owner != "" {
		b.p.Labels[LabelOwner] = LabelValue(s.Owner)
	}
	for _, l := range [...]string{LabelAgent, LabelTask, LabelProfile, LabelEgress} {
		b.p.Filters = append(b.p.Filters, "label="+l+"="+b.p.Labels[l])
	}
	b.p.Reuse = s.Across && s.Persistent && !s.Override
	return nil
}

// labels returns the labels of the command line in order.
func (b *builder) labels() (out []string) {
	for _, key := range slices.Sorted(maps.Keys(b.p.Labels)) {
		out = append(out, "--label", key+"="+b.p.Labels[key])
	}
	return out
}
