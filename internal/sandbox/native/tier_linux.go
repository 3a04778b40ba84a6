package native

import (
	"fmt"
	"os"
	"path/filepath"

	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/native/seccomp"
)

// withoutNamespaces plans what is left where the kernel refuses namespaces, as in most containers: Landlock says which files,
// the filter which calls, and there are no internet sockets. The host's processes stay in sight, and what is in the work tree
// cannot be held apart. Where there is no Landlock either, nothing says which files. The owner wanted it so, and every result says it.
func (d *design) withoutNamespaces(b *Backend, h *host, spec sandbox.Spec, why string) error {
	dir := spec.Home
	if dir == "" {
		dir = "/tmp"
	}
	own, err := os.MkdirTemp(dir, "place-")
	if err != nil {
		return fmt.Errorf("open native sandbox: %w", err)
	}
	d.own = own
	d.vars = map[string]string{"HOME": filepath.Join(own, "home"), "TMPDIR": filepath.Join(own, "tmp")}
	for _, dir := range d.vars {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("open native sandbox: %w", err)
		}
	}
	open := spec.Network.Asked == exposure.OpenNet
	d.flags, d.base = 0, nil
	d.plan.Namespaces, d.plan.Network, d.plan.Steps, d.plan.Hostname = false, false, nil, ""
	d.plan.Ports = !open
	d.plan.Filter, d.rules = seccomp.Filter(seccomp.Options{NoInternet: !open})
	d.plan.Write = []string{own, d.tree, "/dev/shm"}
	for _, path := range spec.Write {
		d.plan.Write = append(d.plan.Write, filepath.Clean(path))
	}
	if len(b.conf.Probe) > 0 {
		d.probe = b.conf.Probe[0]
		d.plan.Read = append(d.plan.Read, d.probe)
	}
	d.gaps = append(d.gaps, "namespaces ("+why+")")
	d.describe(h, spec)
	return nil
}

// clear removes what goes with the sandbox.
func (d *design) clear() error {
	if d.own == "" {
		return nil
	}
	return os.RemoveAll(d.own)
}
