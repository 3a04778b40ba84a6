// Package plan turns the settings of the docker backend and the facts of an engine into the whole command line of `docker run`:
// every flag, mount and label, what they open, and the fingerprint that a container is found again by.
//
// It starts no engine, looks at no file and makes no directory (see sandbox/docker); it judges nothing itself (see
// guard/exposure/container). Failure direction: refuse. What was asked for by name and cannot be had is an error; a default that
// cannot be had is listed in NotInForce.
package plan

import (
	"hermes/internal/guard/environ"
	"hermes/internal/guard/exposure"
	"hermes/internal/guard/exposure/container"
)

// Where things are inside.
const (
	Workspace  = "/workspace" // the work tree
	Home       = "/root"      // HOME of commands
	RunnerPath = "/.hermes/runner"
	SocketDir  = "/.hermes/socket"
)

// The labels of every container, and of nothing else.
const (
	LabelAgent       = "hermes-agent"       // always "1"
	LabelTask        = "hermes-task-id"     // LabelValue of Settings.Task
	LabelProfile     = "hermes-profile"     // profileLabel
	LabelEgress      = "hermes-egress"      // "off" when the network is not an allow-list, else "allowlist"
	LabelFingerprint = "hermes-fingerprint" // Plan.Fingerprint
	LabelOwner       = "hermes-owner"       // Settings.Owner: which process or installation the container belongs to; left out when empty
)

// Settings is what the owner asked for: terminal.docker_*, terminal.container_* and what Hermes adds. It is a value.
type Settings struct {
	Name    string // of the container: "hermes-" and 8 hexadecimal digits, new for each container; see NewName
	Task    string // the task or session as it is called; labels and folders are made from it
	Profile string
	Owner   string // label of its own, for the reaper

	Image  string // terminal.docker_image, as checked.ParseImage takes it
	Digest string // the id the engine has for the image now; counts for the fingerprint

	Network    exposure.Mode // see NetworkMode
	NetworkSet bool          // terminal.network or docker_network: false was set by name
	Allow      []string      // what an allow-list lets through; counts for the fingerprint
	Posture    string        // the egress proxy's posture, without tokens; counts for the fingerprint
	Runtime    string        // terminal.docker_runtime

	Limits Limits
	Shm    string // terminal.docker_shm_size; blank or "0" leaves /dev/shm to the engine

	Env       environ.List // everything commands get: the environ.Docker surface, with docker_env as Request.Server
	InitEnv   []string     // the names of docker_env: what an image's own init may see; see Plan.Run
	Forward   []string     // the names of docker_forward_env and of passthrough; a name that has a value in Env opens EnvSecrets
	Secrets   []string     // values Hermes holds as secrets; never written anywhere
	Volumes   []string     // terminal.docker_volumes
	ExtraArgs []string     // terminal.docker_extra_args
	Accept    []string     // terminal.docker_accept_risk

	Cwd      string // terminal.cwd
	MountCwd bool   // terminal.docker_mount_cwd_to_workspace
	HostDir  string // the folder Hermes was started in, absolute; what MountCwd mounts

	AsHostUser bool   // terminal.docker_run_as_host_user
	Snap       bool   // terminal.docker_snap_compat
	Persistent bool   // terminal.container_persistent
	Across     bool   // terminal.docker_persist_across_processes
	SharedKey  string // terminal.docker_shared_container_key
	Override   bool   // the image is a task's own choice, not that of the settings

	SandboxRoot string    // <home>/sandboxes; below it, docker/<task>/home and workspace are what persists
	Credentials []Showing // credential files, read-only
	Skills      []Showing // read-only
	Caches      []Showing // read-only
	Runner      Showing   // the resident helper, read-only; the zero Showing mounts none
	Probe       Showing   // the program that tries the doors from inside, read-only; the zero Showing mounts none
	Sockets     Showing   // the folder of the helper's socket, writable; the zero Showing mounts none
	Resolver    Showing   // the resolv.conf of the way out, read-only; the zero Showing leaves it to the engine
	RunnerHash  string    // hash of the helper; counts for the fingerprint
	Seccomp     string    // hash of the helper's system call filter; counts for the fingerprint
}

// Showing is one path of the host that Hermes itself shows inside.
type Showing struct {
	Source string // absolute, as the engine's host has it
	Target string // absolute, inside
}

// Limit is one limit. An explicit one that the engine cannot enforce is an error, any other is listed in NotInForce.
type Limit struct {
	Value float64 // 0: no limit
	Set   bool    // the owner wrote it
}

// Limits is terminal.container_*.
type Limits struct {
	CPU    Limit // cores
	Memory Limit // MB
	PIDs   Limit // processes
	Disk   Limit // MB
}

// DefaultPIDs is terminal.container_pids when it is not set.
const DefaultPIDs = 256

// Facts is what the engine and the machine are. The zero Facts can nothing, so that every default limit is not in force.
type Facts struct {
	Engine   container.Engine
	Version  string // of the engine; counts for the fingerprint
	Rootless bool
	Remote   bool // the engine runs on another machine: paths of this one mean nothing to it
	Desktop  bool // macOS or Windows: the engine runs in a virtual machine
	SELinux  bool // the engine labels mounts

	CPU, Memory, PIDs bool   // it enforces these limits
	Disk              bool   // --storage-opt size works (a probe create succeeded)
	CgroupVersion     int    // 0: unknown
	StorageDriver     string // overlay2, vfs, …

	S6 bool // the image's entry point is s6's /init

	UID, GID int  // of the user Hermes runs as
	HasUser  bool // the system has such ids

	ClientProxies []string // variables the engine's client would add by itself (docker's config.json); they are set empty
	Variables     []string // names the image itself sets; those that look like secrets are noted

	// Host says what paths and volumes are; see container.Host. Its Engine and Work are filled in by New.
	Host container.Host
}

// Lack is a default that this engine cannot enforce.
type Lack struct {
	What   string // "memory limit"
	Limit  string // its name in an exposure: "memory"; empty if it is no limit
	Asked  string // "5120 MB"
	Why    string
	Remedy string
}

// Mount is one mount of a plan.
type Mount struct {
	exposure.Bind
	Kind container.MountKind
	Mine bool // Hermes' own: the sandbox's folders, the helper, credential files, skills, caches
}

// Plan is a container before it exists.
type Plan struct {
	Name        string
	Run         []string          // everything behind the program: "run", "-d", …, image, command. No value of a variable is in it
	Exec        []string          // "-e", NAME, … for an `exec` by hand; Hermes hands values to the inside over its own channel, since Podman writes these to its state
	ClientEnv   environ.List      // what the client must carry for -e NAME (environ.Request.Carry of the Engine surface)
	Labels      map[string]string // as they stand in Run
	Filters     []string          // "label=…" that find the containers this plan may use again, the fingerprint not among them
	Fingerprint string            // of the whole effective policy; also a label
	Policy      exposure.Policy   // what the fingerprint is of
	Asked       exposure.Exposure // what was asked of doors, capabilities, network, tree and limits; nothing is in force yet
	Workdir     string            // inside
	HostWork    string            // the folder of the host that is at Workspace; "" when it is the sandbox's own
	Home        string            // HOME inside
	User        string            // --user, "" for the image's own
	Network     exposure.Mode
	NetworkName string   // what inspecting must answer for NetworkMode, "" for the engine's default
	Reuse       bool     // another process may use the container, and this one may find an older one
	Dirs        []string // folders of the host to make before, mode 0700
	Mounts      []Mount
	Risks       []container.Risk // what opens something and is used: accepted by name, or only told
	NotInForce  []Lack
	Notes       []string // warnings for the owner; they never hold a value
}
