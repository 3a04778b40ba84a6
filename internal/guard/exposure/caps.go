package exposure

import (
	"strconv"
	"strings"
)

// CapSet is a set of Linux capabilities, by number.
type CapSet uint64

// Caps is what commands may do beyond an ordinary user.
type Caps struct {
	Want    Want
	Known   bool   // the sets were read back
	Held    CapSet // in any of the five sets, the bounding set included
	Allowed CapSet // what was asked to be left
}

const capNames = `chown dac_override dac_read_search fowner fsetid kill setgid setuid setpcap linux_immutable net_bind_service
	net_broadcast net_admin net_raw ipc_lock ipc_owner sys_module sys_rawio sys_chroot sys_ptrace sys_pacct sys_admin sys_boot
	sys_nice sys_resource sys_time sys_tty_config mknod lease audit_write audit_control setfcap mac_override mac_admin syslog
	wake_alarm block_suspend audit_read perfmon bpf checkpoint_restore`

// Cap returns the capability of a name, with or without "CAP_", and whether there is one.
func Cap(name string) (CapSet, bool) {
	name = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(name)), "cap_")
	for i, known := range strings.Fields(capNames) {
		if known == name {
			return 1 << i, true
		}
	}
	return 0, false
}

// Harmless is what a hardened container keeps to change owners and users of its own files. With no_new_privs, a system call
// filter and the host's files out of sight none of these reaches the host.
func Harmless() (set CapSet) {
	for _, name := range [...]string{"chown", "dac_override", "fowner", "setgid", "setuid"} {
		c, _ := Cap(name)
		set |= c
	}
	return set
}

// List returns the names in order of their numbers; numbers without a name as they are.
func (s CapSet) List() []string {
	names, out := strings.Fields(capNames), []string{}
	for i := range 64 {
		switch {
		case s&(1<<i) == 0:
		case i < len(names):
			out = append(out, names[i])
		default:
			out = append(out, strconv.Itoa(i))
		}
	}
	return out
}

// String returns "none" or the names joined by blanks.
func (s CapSet) String() string {
	if s == 0 {
		return "none"
	}
	return strings.Join(s.List(), " ")
}

func (c Caps) held() string {
	if !c.Known {
		return "unknown"
	}
	return c.Held.String()
}
