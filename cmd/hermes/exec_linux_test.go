package main

import (
	"bytes"
	"os"
	"os/exec"
	"path"
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
	secrets := []string{"planted-openai-" + strconv.Itoa(os.Getpid()), "planted-sudo-" + strconv.Itoa(os.Getpid()), "planted-token-" + strconv.Itoa(os.Getpid()),
		"planted-server-" + strconv.Itoa(os.Getpid())}
	passed := "passed-on-" + strconv.Itoa(os.Getpid()) // the owner lets commands have it: it is in their environment, and nowhere else
	for i, backend := range []string{"local", "native"} {
		home := t.TempDir()
		if err := os.Mkdir(filepath.Join(home, ".hermes"), 0o700); err != nil {
			t.Fatal(err)
		}
		text := "OPENAI_API_KEY=" + secrets[0] + "\nSUDO_PASSWORD=" + secrets[1] + "\n"
		if err := os.WriteFile(filepath.Join(home, ".hermes", ".env"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		settings := "terminal:\n  env_passthrough: [PASSED]\nmcp_servers:\n  x:\n    command: x\n    env: {TOKEN: " + secrets[3] + "}\n"
		if err := os.WriteFile(filepath.Join(home, ".hermes", "config.yaml"), []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
		env := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GITHUB_TOKEN=" + secrets[2], "COPY=" + secrets[0], "OTHER=" + secrets[3],
			"PASSED=" + passed}
		cmd := running(t, env, "--backend", backend, "sleep 47.1"+strconv.Itoa(i))
		self := []int{cmd.Process.Pid, os.Getpid()}
		looked, got := 0, false
		for _, pid := range processes() {
			for _, name := range []string{"cmdline", "environ"} {
				text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), name))
				if err != nil || name == "environ" && slices.Contains(self, pid) {
					continue
				}
				looked++
				command := bytes.Contains(text, []byte("AI_AGENT=")) // the environment of a command, not of a helper
				got = got || command && bytes.Contains(text, []byte(passed))
				if bytes.Contains(text, []byte(passed)) && !command {
					t.Errorf("%s: %s of process %d holds what only commands are given: %q", backend, name, pid, text)
				}
				for _, s := range secrets {
					if bytes.Contains(text, []byte(s)) {
						t.Errorf("%s: %s of process %d holds %s", backend, name, pid, s[:14])
					}
				}
			}
		}
		if !got {
			t.Errorf("%s: the command does not have what the owner passes on", backend)
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

// A fresh folder, an empty home, and nothing set: tests run in the sandbox.
func TestPytestWithoutSettings(t *testing.T) {
	program := ""
	for _, name := range []string{"pytest", "pytest-3"} {
		if _, err := os.Stat("/usr/bin/" + name); err == nil {
			program = name
			break
		}
	}
	if program == "" {
		if os.Getenv("HERMES_TEST_REQUIRE") != "" {
			t.Fatal("pytest is required")
		}
		t.Skip("skipped: needs pytest")
	}
	dir, home := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"sums.py": "def add(a, b):\n    return a + b\n",
		"test_sums.py": "import os\nfrom sums import add\n\ndef test_add(tmp_path):\n    (tmp_path / 'x').write_text('y')\n    assert add(1, 2) == 3\n\n" +
			"def test_home_is_private():\n    assert 'private' not in os.listdir(os.path.expanduser('~'))\n",
		"test_fails.py": "def test_fails():\n    assert 1 == 2\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, "private"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]struct {
		code int
		says string
	}{
		program + " -q test_sums.py": {0, "2 passed"},
		program + " -q":              {1, "1 failed, 2 passed"},
	} {
		cmd := exec.Command("hermes", "exec", "--backend", "native", command)
		cmd.Dir, cmd.Env = dir, []string{"HOME=" + home, "PATH=" + path.Dir(self(t)) + ":/usr/bin:/bin"}
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != want.code || !strings.Contains(string(out), want.says) {
			t.Errorf("%s: exit code %d\n%s", command, code, out)
		}
	}
}

// self returns where the program is that stands in for hermes.
func self(t *testing.T) string {
	t.Helper()
	name, err := exec.LookPath("hermes")
	if err != nil {
		t.Fatal(err)
	}
	return name
}
