// Package rigtest is what the tests of several packages begin with: programs that must be there, a buffer that several may write
// to, a process that is to be killed.
//
// It knows nothing of what is tested, and is not part of the binary. Failure direction: what a test needs and does not find fails
// it where components are required (HERMES_TEST_REQUIRE), and skips it elsewhere, saying so.
package rigtest

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Required tells whether a test fails that lacks something.
func Required() bool { return os.Getenv("HERMES_TEST_REQUIRE") != "" }

// Need ends a test that lacks what it needs.
func Need(t testing.TB, what string) {
	t.Helper()
	if Required() {
		t.Fatal("needs " + what + ": run scripts/setup")
	}
	t.Skip("skipped: needs " + what)
}

// Program returns where a program is; a test that needs a missing one ends.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Need(t, name)
	}
	return path
}

// Buffer is a buffer for several writers and readers at once. The zero Buffer is empty.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns all that was written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Start starts a program whose first line is the id of a process it has started, and returns that.
func Start(t testing.TB, cmd *exec.Cmd) (pid int) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	pid, bad := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || bad != nil || pid <= 1 {
		t.Fatalf("no process id: %q, %v", line, err)
	}
	return pid
}
