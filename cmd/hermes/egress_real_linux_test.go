package main

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/rigtest"
	"hermes/internal/sandbox/docker/enginetest"
)

//go:embed testdata/egress/real.sh
var realScript string

// Real programs get through the one way out to hosts that are listed, and nowhere else; a person who is there is asked, and what
// was allowed for good is on the list.
func TestRealProgramsThroughTheWayOut(t *testing.T) {
	if os.Geteuid() != 0 {
		rigtest.Need(t, "root, for a network of the test's own")
	}
	for _, program := range []string{"unshare", "ip", "openssl", "script", "curl", "git", "npm", "go", "apt-get", "python3", "/usr/bin/python3"} {
		if _, err := exec.LookPath(program); err != nil {
			rigtest.Need(t, program)
		}
	}
	t.Run("native", func(t *testing.T) { realPrograms(t, os.Environ(), "native") })
	t.Run("docker", func(t *testing.T) {
		const image = "hermes/real:host"
		env := append(os.Environ(), enginetest.Docker(t).Env...)
		build := exec.Command("hermes", "sandbox", "image", "build", "--tag", image)
		build.Env = append(env, "HOME="+t.TempDir())
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		realPrograms(t, env, "docker", image)
	})
}

func realPrograms(t *testing.T, env []string, args ...string) {
	dir := t.TempDir()
	cmd := exec.Command("unshare", append([]string{"--net", "--mount", "bash", "-c", realScript, dir}, args...)...)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	const want = "curl 0\ngit 0\npip 0\nnpm 0\ngo 0\napt 0\n" +
		"direct 7\nunlisted 22\naddress 22\nunlisted-git 128\n" + // not connected; refused by the proxy
		"ask deny: yes; 0 listed\nask once: yes reached; 0 listed\nask session: yes reached; 0 listed\nask always: yes reached; 1 listed\n" +
		"unlisted-listed 0\n"
	if diff := cmp.Diff(want, string(out)); diff != "" || err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		t.Errorf("%v (-want +got):\n%s\n%s", err, diff, log)
	}
}
