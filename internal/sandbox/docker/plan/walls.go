package plan

import (
	"fmt"
	"strings"

	"hermes/internal/guard/exposure"
	"hermes/internal/guard/exposure/container"
)

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
