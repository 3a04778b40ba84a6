package native_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"hermes/internal/sandbox"
)

// A kernel is made older by a filter: calls it did not have yet are answered as it would. The test runs itself under one.
const kernelVariable = "HERMES_TEST_KERNEL"

// age installs the filter of the kernel that the variable names, before anything else runs.
func age() error {
	type instruction = unix.SockFilter
	refuse := map[uint32]uint32{}
	switch name := os.Getenv(kernelVariable); name {
	case "":
		return nil
	case "none": // neither namespaces nor Landlock
		refuse[unix.SYS_UNSHARE] = uint32(unix.EPERM)
		fallthrough
	case "5.10":
		for _, call := range []uint32{unix.SYS_MOUNT_SETATTR, unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_RESTRICT_SELF} {
			refuse[call] = uint32(unix.ENOSYS)
		}
	default:
		return fmt.Errorf("no kernel %q", name)
	}
	const load, equal, bits, ret = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	program := []instruction{{Code: load, K: 0}}
	for call, errno := range refuse {
		program = append(program, instruction{Code: equal, Jf: 1, K: call}, instruction{Code: ret, K: unix.SECCOMP_RET_ERRNO | errno})
	}
	if refuse[unix.SYS_UNSHARE] != 0 { // clone3 has its flags behind a pointer
		program = append(program,
			instruction{Code: equal, Jf: 1, K: unix.SYS_CLONE3}, instruction{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
			instruction{Code: equal, Jf: 3, K: unix.SYS_CLONE}, instruction{Code: load, K: 16},
			instruction{Code: bits, Jf: 1, K: unix.CLONE_NEWUSER}, instruction{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)})
	}
	program = append(program, instruction{Code: ret, K: unix.SECCOMP_RET_ALLOW})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	whole := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, no := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&whole)))
	if no != 0 {
		return no
	}
	return nil
}

// aged runs one of these tests on an older kernel.
func aged(t *testing.T, kernel, name string) {
	t.Helper()
	cmd := exec.Command(executable(t), "-test.run", "^"+name+"$", "-test.v")
	cmd.Env = append(os.Environ(), kernelVariable+"="+kernel)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+name) {
		t.Errorf("%s: %v\n%s", kernel, err, out)
	}
}

// Where there is no Landlock, opening says so; with best effort all other walls are put up by what the kernel has, and every
// result says what is missing.
func TestOlderKernel(t *testing.T) {
	if os.Getenv(kernelVariable) == "" {
		aged(t, "5.10", "TestOlderKernel")
		return
	}
	s, conf := spec(t)
	tree := s.Workdir.String()
	repository(t, tree)
	repository(t, filepath.Join(tree, "sub"))
	write(t, filepath.Join(tree, ".claude/settings.json"), "{}")
	outside := t.TempDir()
	b := backend(t, conf)
	var missing *sandbox.MissingError
	if _, err := b.Open(t.Context(), s); !errors.As(err, &missing) || missing.What != "Landlock" {
		t.Fatalf("without Landlock: %v", err)
	}
	s.BestEffort = true
	p := open(t, b, s)
	for _, row := range walls {
		if out, _ := run(t, p, "OUTSIDE="+outside+"\n"+row.command); !anyOf(out, row.want) {
			t.Errorf("%s: %s\n\tsaid %q, want %s", row.what, row.command, out, row.want)
		}
	}
	if e := p.Exposure(); !strings.Contains(strings.Join(e.Gaps, " "), "Landlock") || !strings.Contains(e.Summary(), "best effort, without") {
		t.Errorf("nobody is told: %q %s", e.Gaps, e.Summary())
	}
}

// Where there is nothing but the filter, best effort runs behind the filter, claims no more, and says what is missing.
func TestFilterAlone(t *testing.T) {
	if os.Getenv(kernelVariable) == "" {
		aged(t, "none", "TestFilterAlone")
		return
	}
	s, conf := spec(t)
	b := backend(t, conf)
	var missing *sandbox.MissingError
	if _, err := b.Open(t.Context(), s); !errors.As(err, &missing) || !strings.Contains(missing.Remedy, "native_best_effort") {
		t.Fatalf("without namespaces: %v", err)
	}
	s.BestEffort = true
	p := open(t, b, s)
	for _, row := range []struct{ what, command, want string }{
		{"work", "echo data > f && cat f && echo x > $TMPDIR/x && echo x > ~/x", "data"},
		{"tcp", "echo > /dev/tcp/127.0.0.1/80", "not permitted"},
		{"privileges", "grep NoNewPrivs /proc/self/status", "1"},
		{"filter", "grep Seccomp: /proc/self/status", "2"},
	} {
		if out, _ := run(t, p, row.command); !strings.Contains(out, row.want) {
			t.Errorf("%s: %s\n\tsaid %q, want %s", row.what, row.command, out, row.want)
		}
	}
	e := p.Exposure()
	for _, gap := range []string{"namespaces", "Landlock"} {
		if !strings.Contains(strings.Join(e.Gaps, " "), gap) {
			t.Errorf("nobody is told of %s: %q", gap, e.Gaps)
		}
	}
	if e.Boundary() {
		t.Error("it claims to be a boundary")
	}
	t.Log(e.Summary())
}
