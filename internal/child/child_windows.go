package child

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
)

// tree is the job object that holds the program and everything below. Nothing leaves it.
type tree struct{ job windows.Handle }

// programSuffixes returns what may follow a bare name. Batch files are left out: their interpreter parses arguments anew.
func programSuffixes(name string) []string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".exe", ".com":
		return []string{""}
	}
	return []string{".exe", ".com"}
}

func mayRun(string) bool { return true }

func endedBy(*os.ProcessState) (syscall.Signal, bool) { return 0, false }

func readNow(uintptr, []byte) (int, error) { return 0, nil }

// launch starts the program asleep, puts it into a job of its own, and wakes it: it can start nothing outside the job.
func (p *Process) launch(spec *Spec, program string, argv []string, attr *os.ProcAttr) error {
	switch {
	case spec.Limits != Limits{}:
		return fmt.Errorf("limits: %w", errors.ErrUnsupported)
	case spec.DieWithParent:
		return fmt.Errorf("die with parent: %w", errors.ErrUnsupported)
	case spec.Cgroup != nil:
		return fmt.Errorf("cgroup: %w", errors.ErrUnsupported)
	}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return fmt.Errorf("create job: %w", err)
	}
	attr.Sys = &syscall.SysProcAttr{CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP}
	proc, err := os.StartProcess(program, argv, attr)
	if err != nil {
		windows.CloseHandle(job)
		return err
	}
	p.proc, p.pid, p.tree.job = proc, proc.Pid, job
	if err := p.cage(); err != nil {
		_ = proc.Kill()
		_, _ = proc.Wait()
		windows.CloseHandle(job)
		return err
	}
	return nil
}

func (p *Process) cage() error {
	handle, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(p.pid))
	if err != nil {
		return fmt.Errorf("open process: %w", err)
	}
	defer windows.CloseHandle(handle)
	if err := windows.AssignProcessToJobObject(p.tree.job, handle); err != nil {
		return fmt.Errorf("assign to job: %w", err)
	}
	return p.wake()
}

// wake resumes the one thread that a new process has.
func (p *Process) wake() error {
	shot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("list threads: %w", err)
	}
	defer windows.CloseHandle(shot)
	const sizeOfEntry = 28
	entry := windows.ThreadEntry32{Size: sizeOfEntry}
	for err = windows.Thread32First(shot, &entry); err == nil; err = windows.Thread32Next(shot, &entry) {
		if entry.OwnerProcessID != uint32(p.pid) {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return fmt.Errorf("open thread: %w", err)
		}
		defer windows.CloseHandle(thread)
		if _, err := windows.ResumeThread(thread); err != nil {
			return fmt.Errorf("resume: %w", err)
		}
		return nil
	}
	return errors.New("resume: no thread")
}

func waitExit(p *Process) {
	handle, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(p.pid))
	if err != nil {
		return // reap waits, too
	}
	defer windows.CloseHandle(handle)
	_, _ = windows.WaitForSingleObject(handle, windows.INFINITE)
}

func (p *Process) release() {
	windows.CloseHandle(p.tree.job)
}

// signalGroup knows the interrupt, which a console program may handle, and the kill.
func (p *Process) signalGroup(sig syscall.Signal) error {
	switch sig {
	case syscall.SIGINT, syscall.SIGTERM:
		return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.pid))
	case syscall.SIGKILL:
		return windows.TerminateJobObject(p.tree.job, 1)
	}
	return fmt.Errorf("signal %d: %w", int(sig), errors.ErrUnsupported)
}

func (p *Process) remember() []struct{} { return nil }

func (p *Process) askTree([]struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = p.signalGroup(syscall.SIGTERM)
	}
}

func (p *Process) killTree() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return nil
	}
	if err := windows.TerminateJobObject(p.tree.job, 1); err != nil {
		return fmt.Errorf("kill: %w", err)
	}
	return nil
}

func (p *Process) killRest() error { return p.killTree() }

func (p *Process) settle() error { return nil }

// terminal does not exist here yet.
type terminal struct{ ours, child *os.File }

func newTerminal(Size) (*terminal, error) { return nil, errors.ErrUnsupported }

func (t *terminal) resize(Size) error { return errors.ErrUnsupported }

// GroupAlive tells whether somebody is in a process group: there are none here.
func GroupAlive(int) bool { return false }
