package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The image of a demo in a container is the one that the owner has set, wherever that is.
func TestOwnImage(t *testing.T) {
	for _, row := range []struct{ what, settings, env, want, fails string }{
		{what: "in config.yaml", settings: "terminal: {docker_image: 'hermes/mine:host'}\n", want: "hermes/mine:host"},
		{what: "in the environment", env: "hermes/mine:env", want: "hermes/mine:env"},
		{what: "settings that cannot be used", settings: "terminal: {docker_imag: x}\n", fails: "docker_imag"},
	} {
		home := filepath.Join(t.TempDir(), "hermes")
		if err := os.Mkdir(home, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(row.settings), 0o600); err != nil {
			t.Fatal(err)
		}
		var errs bytes.Buffer
		env := map[string]string{"HERMES_HOME": home, "TERMINAL_DOCKER_IMAGE": row.env}
		got, err := ownImage(&IO{Stderr: &errs, Env: func(name string) string { return env[name] }})
		if got != row.want || (err != nil) != (row.fails != "") || !strings.Contains(errs.String(), row.fails) {
			t.Errorf("%s: %q %v, told %q", row.what, got, err, errs.String())
		}
	}
	got, err := ownImage(&IO{Env: func(name string) string {
		return map[string]string{"HERMES_HOME": filepath.Join(t.TempDir(), "none")}[name]
	}})
	if err != nil || got == "" {
		t.Errorf("without any settings: %q %v", got, err)
	}
}
