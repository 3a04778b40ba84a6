package docker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/internal/child"
	"hermes/internal/guard/environ"
	"hermes/internal/sandbox"
)

// engine is the program that speaks to Docker or Podman, and what it told of the machine its containers run on.
type engine struct {
	program           string
	client            func(carry environ.List) environ.List
	podman            bool
	version           string
	os, arch          string // of the containers, in Go's words
	rootless          bool
	remote            bool // the engine runs on another kernel than this process, as far as it tells
	cgroups           int  // version of control groups
	storage           string
	backing           string   // the file system below the storage, as Docker calls it
	runtimes          []string // that --runtime can name
	selinux           bool
	cpu, memory, pids bool                                         // the controllers it was given
	disk              func(ctx context.Context, image string) bool // whether --storage-opt size works; asked once
}

// usual is where engines are installed that are not on the PATH.
var usual = [...]string{"/usr/local/bin/docker", "/opt/homebrew/bin/docker", "/Applications/Docker.app/Contents/Resources/bin/docker"}

// find returns the engine's program: the one that was named, docker, podman, or one in a usual place.
func find(binary, search string) (string, error) {
	if binary != "" {
		path, err := child.Lookup(binary, search)
		if err == nil && executable(path) {
			return path, nil
		}
		return "", &sandbox.DegradedError{Backend: Name, Text: "HERMES_DOCKER_BINARY names " + binary + ", which is no program here",
			Remedy: "set it to docker or podman, or to the path of one of them"}
	}
	for _, name := range [...]string{"docker", "podman"} {
		if path, err := child.Lookup(name, search); err == nil {
			return path, nil
		}
	}
	for _, path := range usual {
		if executable(path) {
			return path, nil
		}
	}
	return "", &sandbox.DegradedError{Backend: Name, Text: "Docker executable not found in PATH or known install locations",
		Remedy: "install Docker or Podman, or set HERMES_DOCKER_BINARY" + orElse}
}

// orElse is the way on without an engine. It is never taken unasked.
const orElse = ", or choose another place for commands: hermes config set terminal.backend native (Linux), or local with approvals"

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && filepath.IsAbs(path) && info.Mode().IsRegular() && (info.Mode().Perm()&0o111 != 0 || filepath.Ext(path) == ".exe")
}

// Times of the engine's answers.
const (
	versionTime = 5 * time.Second
	queryTime   = 30 * time.Second
	runTime     = 120 * time.Second
	pullTime    = 30 * time.Minute
)

// maxAnswer bounds what the engine may say.
const maxAnswer = 8 << 20

// failure is an engine's answer other than yes.
type failure struct {
	what string
	code int
	text string // what it said on its standard error, one line
}

func (f *failure) Error() string {
	if f.text == "" {
		return fmt.Sprintf("%s: exit code %d", f.what, f.code)
	}
	return f.what + ": " + f.text
}

// call is one call of the engine's program.
type call struct {
	args  []string
	carry environ.List
	in    io.Reader
	out   io.Writer // nil: returned
	time  time.Duration
}

// do calls the engine and returns what it wrote. An exit code other than 0 is a *failure.
func (e *engine) do(ctx context.Context, c call) ([]byte, error) {
	if c.time == 0 {
		c.time = queryTime
	}
	what := filepath.Base(e.program) + " " + verb(c.args)
	ctx, cancel := context.WithTimeoutCause(ctx, c.time, fmt.Errorf("no answer within %v", c.time))
	defer cancel()
	out, errs := &limited{left: maxAnswer}, &limited{left: 64 << 10}
	spec := child.Spec{
		Program: e.program, Args: c.args, Env: e.client(c.carry), Dir: "/",
		Stdio: child.Stdio{In: c.in, Out: out, Err: errs}, End: child.End{Leave: true, Grace: time.Second},
	}
	if c.out != nil {
		spec.Stdio.Out = c.out
		spec.Stdio.Err = io.MultiWriter(errs, c.out)
	}
	status, err := child.Run(ctx, spec)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("%s: %w", what, context.Cause(ctx))
	case err != nil:
		return nil, fmt.Errorf("%s: %w", what, err)
	case status.Exit() != 0:
		return out.Bytes(), &failure{what, status.Exit(), reason(errs.String())}
	}
	return out.Bytes(), nil
}

// verb names a call without what could be private in it.
func verb(args []string) string {
	if len(args) > 1 && slices.Contains([]string{"image", "container", "volume", "network"}, args[0]) {
		return args[0] + " " + args[1]
	}
	if len(args) > 0 {
		return args[0]
	}
	return ""
}

// reason takes the telling line out of what an engine printed.
func reason(text string) string {
	last := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "See '") || strings.HasPrefix(line, "Run '") || strings.Contains(line, "level=warning") {
			continue
		}
		last = line
		if strings.Contains(strings.ToLower(line), "error") {
			break
		}
	}
	last = strings.TrimPrefix(strings.TrimPrefix(last, "docker: "), "Error response from daemon: ")
	return strings.TrimPrefix(last, "Error: ")
}

// limited keeps the first bytes of what is written.
type limited struct {
	bytes.Buffer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	l.Buffer.Write(p[:n])
	return len(p), nil
}

// said tells whether the engine's complaint contains one of the texts.
func said(err error, texts ...string) bool {
	var f *failure
	if !errors.As(err, &f) {
		return false
	}
	low := strings.ToLower(f.text)
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(low, strings.ToLower(t)) })
}

// degraded tells an error of a first call as what it is: no daemon, no permission, something else.
func degraded(e *engine, err error) error {
	d := &sandbox.DegradedError{Backend: Name, Cause: err}
	name := filepath.Base(e.program)
	switch {
	case said(err, "permission denied"):
		d.Text = "Docker daemon refuses this user: no permission on its socket"
		d.Remedy = "add yourself to the engine's group (sudo usermod -aG docker $USER, then log in again), or use rootless Podman: " +
			"HERMES_DOCKER_BINARY=podman" + orElse
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "no answer within") ||
		said(err, "cannot connect", "is the docker daemon running", "connection refused", "no such file or directory", "error during connect"):
		d.Text = "Docker daemon is not responding"
		d.Remedy = "start it (sudo systemctl start docker, or open Docker Desktop) and see that `" + name + " version` works" + orElse
	default:
		d.Text = "Docker command is available but '" + name + " version' failed"
		d.Remedy = "see what `" + name + " version` says" + orElse
	}
	return d
}

// Engines keeps what engines told of themselves, so that backends of one process do not each ask again. The zero Engines knows
// nothing. It is safe for concurrent use. What stops answering is asked again; see Backend.
type Engines struct {
	mu  sync.Mutex
	all map[string]known // by the program and the environment it would get
}

// known is what one engine told, and when.
type known struct {
	engine *engine
	at     time.Time
}

// engineTime is how long an engine's answer counts: it may be updated while a process of ours goes on.
const engineTime = 10 * time.Minute

// engineKey tells engines apart: the same program may speak to several.
func engineKey(program string, client func(environ.List) environ.List) string {
	return program + "\x00" + strings.Join(client(noVariables).Strings(), "\x00")
}

// reach returns the engine that a configuration means.
func (k *Engines) reach(ctx context.Context, c Config) (*engine, error) {
	program, err := find(c.Binary, c.Search)
	if err != nil {
		return nil, err
	}
	if k == nil {
		return reach(ctx, c, program)
	}
	k.mu.Lock()
	defer k.mu.Unlock() // who comes meanwhile waits for the same answer
	key := engineKey(program, c.Client)
	if have, ok := k.all[key]; ok && time.Since(have.at) < engineTime {
		e := *have.engine
		e.client = c.Client
		return &e, nil
	}
	e, err := reach(ctx, c, program)
	if err != nil {
		return nil, err
	}
	if k.all == nil {
		k.all = map[string]known{}
	}
	k.all[key] = known{e, time.Now()}
	return e, nil
}

// forget drops what is known of an engine.
func (k *Engines) forget(e *engine) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.all, engineKey(e.program, e.client))
}

// versions is what version --format json says, of both engines.
type versions struct {
	Client struct{ Version, OsArch string }
	Server *struct {
		Version, Os, Arch string
		Platform          struct{ Name string }
	}
}

// infos is what info --format json says; the first half is Docker's, the second Podman's.
type infos struct {
	Driver          string
	CgroupVersion   string
	SecurityOptions []string
	DriverStatus    [][]string
	Runtimes        map[string]any
	OSType          string
	Architecture    string
	MemoryLimit     bool
	CPUCfsQuota     bool `json:"CpuCfsQuota"`
	PidsLimit       bool

	Host *struct {
		Arch, Os    string
		Version     string   `json:"cgroupVersion"`
		Controllers []string `json:"cgroupControllers"`
		Security    struct {
			Rootless bool `json:"rootless"`
			SELinux  bool `json:"selinuxEnabled"`
		}
		Remote bool `json:"serviceIsRemote"`
	}
	Store *struct {
		Driver string `json:"graphDriverName"`
	}
}

// reach asks an engine who it is. Both questions are asked at once.
func reach(ctx context.Context, c Config, program string) (*engine, error) {
	e := &engine{program: program, client: c.Client, os: "linux", arch: "amd64"}
	e.disk = e.limitsDisk()
	type answer struct {
		text []byte
		err  error
	}
	more := make(chan answer, 1)
	go func() {
		text, err := e.do(ctx, call{args: []string{"info", "--format", "{{json .}}"}, time: 2 * versionTime})
		more <- answer{text, err}
	}()
	text, err := e.do(ctx, call{args: []string{"version", "--format", "{{json .}}"}, time: versionTime})
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, fmt.Errorf("open docker sandbox: %w", cause)
		}
		return nil, degraded(e, err)
	}
	var v versions
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, degraded(e, fmt.Errorf("read its answer: %w", err))
	}
	e.podman = v.Client.OsArch != "" && v.Server == nil || strings.Contains(strings.ToLower(filepath.Base(program)), "podman")
	e.version = v.Client.Version
	if v.Server != nil {
		e.version = v.Server.Version
		if v.Server.Os != "" {
			e.os, e.arch = v.Server.Os, v.Server.Arch
		}
	}
	a := <-more
	if a.err != nil {
		return nil, degraded(e, a.err)
	}
	return e, e.learn(a.text)
}

func (e *engine) learn(text []byte) error {
	var i infos
	if err := json.Unmarshal(text, &i); err != nil {
		return degraded(e, fmt.Errorf("read its answer: %w", err))
	}
	e.storage, e.cgroups = i.Driver, 1
	e.memory, e.cpu, e.pids = i.MemoryLimit, i.CPUCfsQuota, i.PidsLimit
	for _, pair := range i.DriverStatus {
		if len(pair) == 2 && pair[0] == "Backing Filesystem" {
			e.backing = pair[1]
		}
	}
	if i.CgroupVersion == "2" {
		e.cgroups = 2
	}
	for name := range i.Runtimes {
		e.runtimes = append(e.runtimes, name)
	}
	slices.Sort(e.runtimes)
	has := func(word string) bool {
		return slices.ContainsFunc(i.SecurityOptions, func(s string) bool { return strings.Contains(s, word) })
	}
	e.rootless, e.selinux = has("rootless"), has("selinux")
	if i.OSType != "" {
		e.os = i.OSType
	}
	if i.Architecture != "" {
		e.arch = architecture(i.Architecture)
	}
	if h := i.Host; h != nil {
		e.podman, e.rootless, e.remote = true, h.Security.Rootless, h.Remote
		e.os, e.arch = h.Os, architecture(h.Arch)
		if h.Version == "v2" {
			e.cgroups = 2
		}
		given := func(name string) bool {
			return slices.Contains(h.Controllers, name) && (!e.rootless || e.cgroups == 2)
		}
		e.memory, e.cpu, e.pids, e.selinux = given("memory"), given("cpu"), given("pids"), h.Security.SELinux
	}
	if i.Store != nil {
		e.storage = i.Store.Driver
	}
	return nil
}

// architecture gives a machine's name in Go's words.
func architecture(name string) string {
	switch name {
	case "x86_64":
		return "amd64"
	case "aarch64":
		return "arm64"
	}
	return name
}

// title names the engine for people and fingerprints.
func (e *engine) title() string {
	name := "Docker "
	if e.podman {
		name = "Podman "
	}
	name += e.version
	if e.rootless {
		name += ", rootless"
	}
	return name
}

// Client returns a func that runs the engine's program, for those who need more of it than sandboxes (see image). What the
// program says on its standard error goes to progress as well.
func (b *Backend) Client(ctx context.Context, progress io.Writer) (func(ctx context.Context, in io.Reader, out io.Writer, args ...string) error, error) {
	e, err := b.ready(ctx)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, in io.Reader, out io.Writer, args ...string) error {
		errs := &limited{left: 64 << 10}
		spec := child.Spec{
			Program: e.program, Args: args, Env: e.client(environ.List{}), Dir: "/",
			Stdio: child.Stdio{In: in, Out: out, Err: errs}, End: child.End{Leave: true},
		}
		if progress != nil {
			spec.Stdio.Err = io.MultiWriter(errs, progress)
		}
		status, err := child.Run(ctx, spec)
		if err != nil {
			return err
		}
		if status.Exit() != 0 {
			return &failure{filepath.Base(e.program) + " " + verb(args), status.Exit(), reason(errs.String())}
		}
		return nil
	}, nil
}
