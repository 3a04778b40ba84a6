package wall

import (
	"strings"

	"golang.org/x/sys/unix"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// allow adds a part's paths to the rules, which the first part begins, with the best version this kernel has. The number of that
// is reported, 0 where there is none.
func (e *entry) allow(p *Plan) error {
	if !e.begun {
		abi, err := ll.LandlockGetABIVersion()
		if err != nil || abi < 1 {
			return p.unclosed()
		}
		config := landlock.V9
		if !p.Ports {
			config.HandledAccessNet = 0 // the network namespace is the wall; servers and clients inside may meet
		}
		// Before ABI 8 every thread gets a domain of its own, and a signal between two of them would be refused: between the
		// runner and its commands. The process namespace is the wall for signals.
		config.Scoped &^= ll.ScopeSignal
		if e.rules, e.flags, err = config.BestEffort().NewRulesetFD(); err != nil {
			return err
		}
		if e.rules < 0 {
			return p.unclosed()
		}
		e.report.Landlock = abi
		if err := e.beneath("/", ll.AccessFSReadDir, 0); err != nil { // the mounts say what there is to list
			return err
		}
	}
	if e.rules < 0 {
		return p.unclosed()
	}
	for _, list := range [...]struct {
		paths []string
		more  uint64
	}{{p.Read, 0}, {p.Write, writing | ll.AccessFSRefer}, {p.Devices, writing | ll.AccessFSIoctlDev}} {
		for _, path := range list.paths {
			if err := e.beneath(path, reading|list.more, 0); err != nil {
				return err
			}
		}
	}
	for _, path := range p.Open {
		if err := e.beneath(path, reading, unix.O_NOFOLLOW); err != nil {
			return err
		}
	}
	return nil
}

// Rights for directories and all below. For other files only those of ofFiles mean something.
const (
	reading = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSReadDir
	writing = ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeChar |
		ll.AccessFSMakeDir | ll.AccessFSMakeReg | ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeBlock | ll.AccessFSMakeSym
	ofFiles = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSIoctlDev
)

// handled are the rights that a version knows. A rule may name no others.
func handled(abi int) uint64 {
	known := [...]landlock.Config{landlock.V1, landlock.V2, landlock.V3, landlock.V4, landlock.V5, landlock.V6, landlock.V7, landlock.V8, landlock.V9}
	return uint64(known[min(abi, len(known))-1].HandledAccessFS)
}

// beneath adds a rule for a path and all below, with few calls to the kernel: there may be many. One that ends in a slash is a
// directory or nothing. What is not there, or is not what it was, stays closed.
func (e *entry) beneath(name string, access uint64, flags int) error {
	dir, is := strings.CutSuffix(name, "/")
	if is && dir != "" {
		name, flags = dir, flags|unix.O_DIRECTORY
	}
	fd, err := unix.Open(name, flags|unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return nil
	}
	switch info.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		if flags&unix.O_NOFOLLOW != 0 && !is { // was a file when it was said to be open
			return nil
		}
	case unix.S_IFLNK: // opens nothing but itself
		return nil
	default:
		access &= ofFiles
	}
	rule := ll.PathBeneathAttr{ParentFd: fd, AllowedAccess: access & handled(e.report.Landlock)}
	return ll.LandlockAddPathBeneathRule(e.rules, &rule, 0)
}

// restrict makes the rules hold for all threads.
func (e *entry) restrict() error {
	if e.rules < 0 {
		return nil
	}
	defer unix.Close(e.rules)
	return ll.AllThreadsLandlockRestrictSelf(e.rules, e.flags)
}

// unclosed refuses to go on without Landlock where nothing else keeps files closed.
func (p *Plan) unclosed() error {
	if len(p.Open) > 0 {
		return unix.EOPNOTSUPP
	}
	return nil
}

// look reads what tells of the walls from behind them. What cannot be read is left out, which counts as open.
func look(report *Report) {
	buffer := make([]byte, 64<<10)
	for _, name := range [...]string{"status", "mountinfo", "net/dev"} {
		if text, err := slurp("/proc/self/"+name, &buffer); err == nil {
			report.Seen[name] = text
		}
	}
	for _, name := range [...]string{"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"} {
		name = "ns/" + name
		if n, err := unix.Readlink("/proc/self/"+name, buffer); err == nil {
			report.Seen[name] = string(buffer[:n])
		}
	}
}

// slurp reads a file of the kernel's, which says its end by nothing more, into a buffer that grows as it must.
func slurp(path string, buffer *[]byte) (string, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	for end := 0; ; {
		if end == len(*buffer) {
			*buffer = append(*buffer, make([]byte, len(*buffer))...)
		}
		n, err := unix.Read(fd, (*buffer)[end:])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return "", err
		case n == 0:
			return string((*buffer)[:end]), nil
		default:
			end += n
		}
	}
}
