package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// running starts hermes exec with a command that sleeps, and waits until it does.
func running(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("hermes", append([]string{"exec"}, args...)...)
	cmd.Dir, cmd.Env = t.TempDir(), env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	mark := args[len(args)-1]
	mark = mark[strings.LastIndex(mark, "sleep"):]
	for range 400 {
		if len(sleeping(mark)) > 0 {
			return cmd
		}
		time.Sleep(25 * time.Millisecond)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	t.Fatalf("the command did not start: %s", out.String())
	return nil
}

// sleeping returns the processes whose command line is this one.
func sleeping(line string) (pids []int) {
	for _, pid := range processes() {
		text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
		if strings.ReplaceAll(strings.TrimRight(string(text), "\x00"), "\x00", " ") == line {
			pids = append(pids, pid)
		}
	}
	return pids
}

func processes() (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// While a command runs, no secret stands in any process's arguments or environment, but in that of hermes itself if whoever
// started it put it there.
func TestNoSecretInProc(t *testing.T) {
	secrets := []string{"planted-openai-" + strconv.Itoa(os.Getpid()), "planted-sudo-" + strconv.Itoa(os.Getpid()), "planted-token-" + strconv.Itoa(os.Getpid())}
	for _, backend := range []string{"local", "native"} {
		home := t.TempDir()
		if err := os.Mkdir(filepath.Join(home, ".hermes"), 0o700); err != nil {
			t.Fatal(err)
		}
		text := "OPENAI_API_KEY=" + secrets[0] + "\nSUDO_PASSWORD=" + secrets[1] + "\n"
		if err := os.WriteFile(filepath.Join(home, ".hermes", ".env"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		env := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GITHUB_TOKEN=" + secrets[2], "COPY=" + secrets[0]}
		cmd := running(t, env, "--backend", backend, "sleep 47.11")
		self := []int{cmd.Process.Pid, os.Getpid()}
		looked := 0
		for _, pid := range processes() {
			for _, name := range []string{"cmdline", "environ"} {
				text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), name))
				if err != nil || name == "environ" && slices.Contains(self, pid) {
					continue
				}
				looked++
				for _, s := range secrets {
					if bytes.Contains(text, []byte(s)) {
						t.Errorf("%s: %s of process %d holds %s", backend, name, pid, s[:14])
					}
				}
			}
		}
		if looked < 4 {
			t.Errorf("%s: looked at %d files only", backend, looked)
		}
		_ = cmd.Process.Kill() // takes what it has started along: see TestInterrupt
		_ = cmd.Wait()
	}
}

// Ctrl-C ends the command and all it has started, and the exit code is 130. So does the death of hermes, without the code.
func TestInterrupt(t *testing.T) {
	for i, row := range []struct {
		backend string
		how     os.Signal
		code    int
	}{
		{"local", syscall.SIGINT, 130},
		{"local", syscall.SIGKILL, -1},
		{"native", syscall.SIGINT, 130},
		{"native", syscall.SIGKILL, -1},
	} {
		line := "sleep 47.2" + strconv.Itoa(i)
		env := []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
		cmd := running(t, env, "--backend", row.backend, "sleep 46.1 & "+line)
		if err := cmd.Process.Signal(row.how); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != row.code {
			t.Errorf("%s, %s: exit code %d, want %d", row.backend, row.how, code, row.code)
		}
		for tries := 0; len(sleeping(line)) > 0; tries++ {
			if tries > 200 {
				t.Fatalf("%s, %s: still running", row.backend, row.how)
			}
			time.Sleep(25 * time.Millisecond)
		}
	}
}
