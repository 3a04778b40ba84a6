package container

import (
	"strings"
	"sync"
)

// arity is what a flag takes.
type arity uint8

const (
	noFlag arity = iota
	toggle       // nothing, or =true and =false
	value        // a value, behind = or as the next argument
)

// about is one flag of the table.
type about struct {
	name  string // the name it is judged by; aliases share one
	takes arity
	only  Engine // NoEngine: both
}

// The flags of `docker run` (20 to 29, hidden ones included) and `podman run` (3 to 5): the long names of one flag, the letter
// first where it has one. A flag that is missing here is refused, so this only has to be complete to be convenient.
const (
	bothToggles = `d,detach i,interactive t,tty P,publish-all q,quiet help init privileged read-only rm sig-proxy no-healthcheck
		oom-kill-disable disable-content-trust`
	bothValues = `a,attach c,cpu-shares e,env h,hostname l,label m,memory p,publish u,user v,volume w,workdir
		add-host annotation blkio-weight blkio-weight-device cap-add cap-drop cgroup-parent cgroupns cidfile cpu-period cpu-quota
		cpu-rt-period cpu-rt-runtime cpus cpuset-cpus cpuset-mems detach-keys device device-cgroup-rule device-read-bps
		device-read-iops device-write-bps device-write-iops dns dns-option|dns-opt dns-search domainname entrypoint env-file expose gpus
		group-add health-cmd|healthcheck-command health-interval|healthcheck-interval health-retries|healthcheck-retries
		health-start-period|healthcheck-start-period health-timeout|healthcheck-timeout health-start-interval ip ip6 ipc
		kernel-memory label-file link link-local-ip log-driver log-opt mac-address memory-reservation memory-swap
		memory-swappiness mount name network|net network-alias|net-alias oom-score-adj pid pids-limit platform pull restart
		runtime security-opt shm-size stop-signal stop-timeout storage-opt sysctl tmpfs ulimit userns uts volume-driver
		volumes-from isolation`
	dockerToggles = `use-api-socket`
	dockerValues  = `cpu-count cpu-percent io-maxbandwidth io-maxiops`
	podmanToggles = `env-host http-proxy no-hosts no-hostname passwd read-only-tmpfs replace rmi rootfs tls-verify unsetenv-all`
	podmanValues  = `arch|override-arch os|override-os variant|override-variant authfile cert-dir cgroup-conf cgroups chrootdirs
		conmon-pidfile creds decryption-key env-merge gidmap group-entry health-log-destination health-max-log-count
		health-max-log-size health-on-failure health-startup-cmd health-startup-interval health-startup-retries
		health-startup-success health-startup-timeout hostuser hosts-file image-volume|builtin-volume init-ctr init-path
		intel-rdt-closid passwd-entry personality pidfile pod pod-id-file preserve-fd preserve-fds rdt-class requires retry
		retry-delay sdnotify seccomp-policy secret shm-size-systemd subgidname subuidname systemd timeout tz uidmap umask unsetenv`
)

// flags is the table by every spelling: long names, and letters.
var flags = sync.OnceValue(func() map[string]about {
	out := map[string]about{}
	for _, group := range []struct {
		text string
		about
	}{
		{bothToggles, about{takes: toggle}},
		{bothValues, about{takes: value}},
		{dockerToggles, about{takes: toggle, only: Docker}},
		{dockerValues, about{takes: value, only: Docker}},
		{podmanToggles, about{takes: toggle, only: Podman}},
		{podmanValues, about{takes: value, only: Podman}},
	} {
		for _, entry := range strings.Fields(group.text) {
			letter, long, both := strings.Cut(entry, ",")
			if !both {
				long, letter = letter, ""
			}
			names := strings.Split(long, "|")
			a := group.about
			a.name = names[0]
			if letter != "" {
				names = append(names, letter)
			}
			for _, n := range names {
				out[n] = a
			}
		}
	}
	return out
})

// find returns the entry of a flag for an engine.
func find(engine Engine, name string) (about, bool) {
	a, ok := flags()[name]
	return a, ok && (a.only == NoEngine || a.only == engine)
}
