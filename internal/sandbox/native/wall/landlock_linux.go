package wall

import (
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// landlock restricts all threads to the plan's paths, with the best version this kernel has, and returns it: 0 where it has
// none.
func (p *Plan) landlock() (abi int, err error) {
	abi, err = ll.LandlockGetABIVersion()
	if err != nil || abi < 1 {
		return 0, p.unclosed()
	}
	config := landlock.V9
	if !p.Ports {
		config.HandledAccessNet = 0 // the network namespace is the wall; servers and clients inside may meet
	}
	// Before ABI 8 every thread gets a domain of its own, and a signal between two of them would be refused: between the
	// runner and its commands. The process namespace is the wall for signals.
	config.Scoped &^= ll.ScopeSignal
	config = config.BestEffort()
	readDirs, readFiles := apart(p.Read)
	writeDirs, writeFiles := apart(p.Write)
	deviceDirs, deviceFiles := apart(p.Devices)
	write := landlock.RWDirs(writeDirs...)
	if abi >= 2 { // older ones refuse files to change directories; asking for it would mean no Landlock at all
		write = write.WithRefer()
	}
	rules := []landlock.Rule{
		landlock.PathAccess(ll.AccessFSReadDir, "/"), // the mounts say what there is to list
		landlock.RODirs(readDirs...), landlock.ROFiles(readFiles...),
		write, landlock.RWFiles(writeFiles...),
		landlock.RWDirs(deviceDirs...).WithIoctlDev(), landlock.RWFiles(deviceFiles...).WithIoctlDev(),
	}
	fd, flags, err := config.NewRulesetFD(rules...)
	if err != nil {
		return 0, err
	}
	if fd < 0 {
		return 0, p.unclosed()
	}
	defer unix.Close(fd)
	if err := p.open(fd); err != nil {
		return 0, err
	}
	return abi, ll.AllThreadsLandlockRestrictSelf(fd, flags)
}

// unclosed refuses to go on without Landlock where nothing else keeps files closed.
func (p *Plan) unclosed() error {
	if len(p.Open) > 0 {
		return unix.EOPNOTSUPP
	}
	return nil
}

// open adds the paths that are many, each with three calls to the kernel and nothing else. What is not there any more, or
// became something else, stays closed; a link opens nothing but itself.
func (p *Plan) open(ruleset int) error {
	var path [unix.PathMax + 1]byte
	for _, name := range p.Open {
		rule := pathRule{access: ll.AccessFSExecute | ll.AccessFSReadFile}
		if dir, is := strings.CutSuffix(name, "/"); is {
			name, rule.access = dir, rule.access|ll.AccessFSReadDir
		}
		if len(name) > unix.PathMax {
			continue
		}
		path[copy(path[:], name)] = 0
		fd, _, no := unix.RawSyscall(unix.SYS_OPENAT, ^uintptr(99), uintptr(unsafe.Pointer(&path)), unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC)
		if no != 0 {
			continue
		}
		rule.fd = int32(fd)
		_, _, no = unix.RawSyscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), pathBeneath, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
		_, _, _ = unix.RawSyscall(unix.SYS_CLOSE, fd, 0, 0)
		if no != 0 && no != unix.EINVAL {
			return no
		}
	}
	return nil
}

// pathRule is the kernel's struct landlock_path_beneath_attr, of which it reads the first twelve bytes, and pathBeneath its kind.
type pathRule struct {
	access uint64
	fd     int32
}

const pathBeneath = 1

// apart tells directories from other files, and leaves out what is not there.
func apart(paths []string) (dirs, files []string) {
	for _, path := range paths {
		switch info, err := os.Stat(path); {
		case err != nil:
		case info.IsDir():
			dirs = append(dirs, path)
		default:
			files = append(files, path)
		}
	}
	return dirs, files
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
