package app

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hermes/internal/approval"
	"hermes/internal/config"
	"hermes/internal/guard/checked"
	"hermes/internal/guard/command"
	"hermes/internal/guard/environ"
	"hermes/internal/guard/exposure"
	"hermes/internal/launch"
	"hermes/internal/redact"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/backends"
	"hermes/internal/sandbox/docker"
	"hermes/internal/sandbox/local"
	"hermes/internal/sandbox/native"
	"hermes/internal/sandbox/ssh"
	"hermes/internal/secret"
)

// settings returns the settings as they are now. When they cannot be read, the last good ones count, and the owner is told.
func (a *App) settings() (*config.Snapshot, error) {
	snap, err := a.store.Load()
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil && err.Error() != a.told {
		a.told = err.Error()
		if snap != nil {
			a.p.Tell("the settings cannot be used, the last good ones stay in force: " + a.told)
		}
	}
	if snap == nil {
		return nil, err
	}
	if err == nil {
		a.told = ""
	}
	if snap != a.snap {
		a.snap = snap
		a.use(snap)
	}
	return snap, nil
}

// use turns settings into what the packages take. The lock is held.
func (a *App) use(snap *config.Snapshot) {
	for _, n := range snap.Notices {
		a.p.Tell(n.Error())
	}
	set, held := &snap.Settings, secrets(snap)
	known := make([]secret.String, len(held))
	for i, s := range held {
		known[i] = s.Value
	}
	clean := redact.New(redact.Options{Known: known, Key: a.key})
	a.policy = launch.Policy{
		Rules:  Rules(set),
		Facts:  a.facts(),
		Tree:   func(dir string) (_, _ func(string) command.Fact) { return Tree(dir, a.home()) },
		Redact: clean,
		Off:    !set.Security.RedactSecrets,
		Environ: environ.New(environ.Config{
			Secrets: held, Passthrough: set.Terminal.EnvPassthrough, Forward: set.Terminal.Docker.ForwardEnv, Claimed: claimed(set),
		}),
	}
	if value, _, ok := snap.Variable("SUDO_PASSWORD"); ok {
		a.policy.Sudo = &value
	}
	strict := clean.With(redact.Strict)
	mode, clear := approval.ParseMode(set.Approvals.Mode)
	if !clear {
		a.p.Tell("approvals.mode is neither smart nor manual nor off, and counts as manual")
	}
	a.desk.Set(approval.Options{
		Mode: mode, Timeout: set.Approvals.Wait(), Sandboxed: approval.ParseSandboxed(set.Approvals.Sandboxed),
		SingleQuery: approval.ParseApprove(set.Approvals.SingleQuery), Cron: approval.ParseApprove(set.Approvals.Cron),
		Unattended: approval.ParseApprove(set.Approvals.Unattended), Policy: set.Approvals.SmartPolicy, Review: a.review,
		Breaker: int(set.Approvals.DenialBreaker), Store: kept{a.dir, a.store, commands()}, Redact: strict.String, Spans: strict.Spans,
	})
}

// rules returns the policy in force.
func (a *App) rules() (launch.Policy, error) {
	if _, err := a.settings(); err != nil {
		return launch.Policy{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.policy, nil
}

// redacted takes secrets out of what the agent stores, shows and sends. Assignments stay: what it reads and writes is code, and
// has to come back as it is.
func (a *App) redacted(text string) string {
	clean, off := a.redactor()
	if off {
		return clean.With(redact.Off).String(text)
	}
	return clean.With(redact.Code).String(text)
}

// strictly takes everything that looks like a secret out of a line for people, whatever the settings say.
func (a *App) strictly(text string) string {
	clean, _ := a.redactor()
	return clean.With(redact.Strict).String(text)
}

// redactor is the one in force, without known secrets where there are no settings, and whether the owner has switched it off.
func (a *App) redactor() (clean *redact.Redactor, off bool) {
	rules, err := a.rules()
	if err != nil || rules.Redact == nil {
		return redact.New(redact.Options{}), false
	}
	return rules.Redact, rules.Off
}

func (a *App) facts() command.Facts {
	return command.Facts{
		Home: a.home(), HermesHome: a.dir.Path(), TempDir: a.base["TMPDIR"], Profile: a.profile.String(),
		Supervised: approval.Truthy(a.base["HERMES_SUPERVISED_CHILD"]), File: Script,
	}
}

// home returns the user's home.
func (a *App) home() string { return cmp.Or(a.base["HOME"], a.base["USERPROFILE"]) }

// claimed returns the names of variables that hold the keys of the owner's own providers.
func claimed(set *config.Settings) []string {
	var out []string
	for _, p := range set.Providers {
		if p.KeyEnv != "" {
			out = append(out, p.KeyEnv)
		}
	}
	slices.Sort(out)
	return out
}

// contextFiles returns how many characters of a file that instructs agents are used, and how long is waited for it.
func contextFiles(snap *config.Snapshot) (chars int, wait time.Duration) {
	t := &snap.Settings.Tools
	return int(t.ContextChars), time.Duration(t.ContextWait * float64(time.Second))
}

// backends says what the backends are made of.
func (a *App) backends(snap *config.Snapshot, w Where, name string) backends.Config {
	t := &snap.Settings.Terminal
	var probe []string
	if self, err := os.Executable(); err == nil {
		probe = []string{self, "sandbox", "probe", "--json", "--targets"}
	}
	c := backends.Config{
		Local: local.Config{
			Runner: a.runner(), Search: a.base["PATH"], Shell: a.base["SHELL"], Temp: t.TempDir, Log: a.p.Tell, Memory: t.LocalMemory << 20,
			Stores: func(name, value string) bool {
				p, err := a.rules()
				return err == nil && p.Environ.Stores(name, value, nil)
			},
		},
		Native: native.Config{
			Launcher: a.runner(), Probe: probe, Home: a.base["HOME"], Path: a.base["PATH"], State: a.dir.Join(sandboxes), Log: a.p.Tell,
		},
	}
	switch name { // these look at what is to be shown there
	case docker.Name:
		c.Docker = a.docker(snap, w, probe)
	case ssh.Name:
		c.SSH = a.ssh(snap)
	}
	return c
}

// spec says what a sandbox shall be.
func (a *App) spec(snap *config.Snapshot, backend string, w Where) (sandbox.Spec, error) {
	t := &snap.Settings.Terminal
	dir := w.Dir
	if dir == "" {
		dir = t.Dir
	}
	switch backend {
	case docker.Name:
		dir = filepath.Clean(insideDir(snap, w))
	case ssh.Name:
		dir = remoteDir(dir)
	default:
		if dir = a.expand(dir); !filepath.IsAbs(dir) {
			dir = filepath.Join(w.Start, dir)
		}
		dir = filepath.Clean(dir)
		// What is above it ("..") is judged by name, so it gets the name that it has without links.
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
	}
	tree, err := checked.ParseWorkdir(dir)
	if err != nil {
		return sandbox.Spec{}, err
	}
	own := sandboxes + "/" + backend
	if err := a.dir.MkdirAll(own); err != nil {
		return sandbox.Spec{}, err
	}
	spec := sandbox.Spec{
		Session: w.Session, Workdir: tree, Home: a.dir.Join(own), Read: t.Native.Read, Write: t.Native.Write,
		BestEffort: t.Native.BestEffort, InitFiles: a.initFiles(t, backend), Network: network(t, backend), Limits: Limits(snap, backend),
	}
	// TERMINAL_LOCAL_PERSISTENT keeps one shell running in other programs; here each command has its own, whatever lasts.
	spec.Persistent = w.Lasts && t.Persistent
	if backend == ssh.Name {
		// Files to source are named as they are there.
		spec.Persistent, spec.InitFiles = t.SSH.Persistent, t.InitFiles
	}
	for _, s := range secrets(snap) {
		spec.Secrets = append(spec.Secrets, s.Value.Reveal())
	}
	return spec, nil
}

// expand puts the user's home in the place of a "~" in front.
func (a *App) expand(path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		return filepath.Join(a.home(), path[1:])
	}
	return path
}

// initFiles returns what is sourced before the first command: the files that the settings name, else, on this machine itself,
// what a shell of the user's would read. Elsewhere the user's home is not there.
func (a *App) initFiles(t *config.Terminal, backend string) []string {
	var out []string
	for _, name := range t.InitFiles {
		out = append(out, a.expand(name))
	}
	if len(out) > 0 || !t.SourceBashrc || backend != "local" || a.home() == "" {
		return out
	}
	for _, name := range []string{".profile", ".bash_profile", ".bashrc"} {
		if name = filepath.Join(a.home(), name); readable(name) {
			out = append(out, name)
		}
	}
	return out
}

// readable tells whether there is an ordinary file that can be read.
func readable(name string) bool {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(name)
	if err == nil {
		_ = f.Close()
	}
	return err == nil
}

// network says what is asked of the network: what the settings say, else the backend's default.
func network(t *config.Terminal, backend string) exposure.Network {
	switch t.Network {
	case "none":
		return exposure.Network{Want: exposure.Explicitly, Asked: exposure.NoNet}
	case "allowlist":
		return exposure.Network{Want: exposure.Explicitly, Asked: exposure.AllowlistNet, Allow: t.NetworkAllow}
	case "open":
		return exposure.Network{Want: exposure.Explicitly, Asked: exposure.OpenNet}
	}
	if backend == "native" {
		return exposure.Network{Want: exposure.ByDefault, Asked: exposure.AllowlistNet, Allow: t.NetworkAllow}
	}
	return exposure.Network{}
}

// Limits takes over the limits that the owner has set; the backend has defaults for the others.
func Limits(snap *config.Snapshot, backend string) sandbox.Limits {
	var l sandbox.Limits
	if backend == "local" || backend == "ssh" {
		return l
	}
	set := func(name string, to *int64, value int64) {
		v, ok := snap.Lookup("terminal." + name)
		if !ok || v.Source.Kind == config.FromDefault {
			return
		}
		if *to, l.Asked = value, true; value <= 0 {
			*to = sandbox.Unlimited
		}
	}
	c := snap.Settings.Terminal.Container
	set("container_cpu", &l.CPU, int64(c.CPU*1000))
	set("container_memory", &l.Memory, c.Memory<<20)
	set("container_pids", &l.PIDs, c.PIDs)
	set("container_disk", &l.Disk, c.Disk<<20)
	return l
}
