package docker_test

import (
	"strings"
	"testing"
)

// Podman that was not told where to look for short names looks where Docker does. There is no such place in the test: what it says
// shows where it went.
func TestShortName(t *testing.T) {
	r := podman(t)
	c := r.conf(t, kept())
	c.Plan.Image = "hermes-test-none/none:1"
	var said []string
	c.Progress = func(line string) { said = append(said, line) }
	_, err := newBackend(c).Open(t.Context(), spec(t))
	if err == nil || !strings.Contains(err.Error(), "cannot be pulled") {
		t.Fatal(err)
	}
	if text := strings.Join(said, "\n"); strings.Contains(text, "short-name") && !strings.Contains(text, "pulling docker.io/hermes-test-none/none:1") {
		t.Errorf("%v\n%s", err, text)
	}
}
