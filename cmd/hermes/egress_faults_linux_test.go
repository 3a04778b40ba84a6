package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Ten thousand connections that say half a word each, from another process than the proxy's: those beyond the limit are turned
// away, the others end by the time a head may take, and an honest request is then answered as before.
func TestProxyHalfOpen(t *testing.T) {
	const many = 10_000
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur < many+500 {
		t.Skipf("skipped: needs %d descriptors, has %d", many+500, limit.Cur)
	}
	p := startProxy(t, t.TempDir())
	conns := make([]net.Conn, 0, many)
	defer func() {
		for _, conn := range conns {
			conn.Close()
		}
	}()
	for range many {
		conn, err := net.DialTimeout("tcp", p.addr, 20*time.Second)
		if err != nil {
			t.Fatalf("after %d: %v", len(conns), err)
		}
		conns = append(conns, conn)
		if _, err := io.WriteString(conn, "CONNECT a"); err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
			t.Fatal(err)
		}
	}
	turned, timed := 0, 0
	for _, conn := range conns {
		_ = conn.SetReadDeadline(time.Now().Add(60 * time.Second))
		line, err := bufio.NewReader(conn).ReadString('\n')
		var wait net.Error
		switch {
		case errors.As(err, &wait) && wait.Timeout():
			t.Fatal("a half-open connection is still open")
		case strings.Contains(line, " 503 "), err != nil:
			turned++
		case strings.Contains(line, " 408 "):
			timed++
		}
	}
	t.Logf("%d turned away, %d ended by time", turned, timed)
	if turned+timed != many || timed == 0 || timed > 600 {
		t.Errorf("%d turned away, %d ended by time", turned, timed)
	}
	if status, _ := p.get(nil, "http://unlisted.test/"); status != 403 {
		t.Errorf("afterwards: status %d", status)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmHWM:") {
			t.Log(strings.TrimSpace(line))
		}
	}
}

// The proxy lives in the process that opened the sandbox. When that is killed nothing of the sandbox stays that could go on
// without it.
func TestProxyKilled(t *testing.T) {
	home := t.TempDir()
	tree := t.TempDir()
	mark := filepath.Join(tree, "mark")
	cmd := exec.Command("hermes", "exec", "--backend", "native", "echo begun >mark; sleep 2; (curl -sS -m 5 http://unlisted.test/ || :) >after 2>&1; sleep 60")
	cmd.Dir, cmd.Env = tree, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	for tries := 0; ; tries++ {
		if _, err := os.Stat(mark); err == nil {
			break
		}
		if tries > 800 {
			t.Fatal("the command does not begin")
		}
		time.Sleep(25 * time.Millisecond)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	time.Sleep(4 * time.Second)
	if text, err := os.ReadFile(filepath.Join(tree, "after")); err == nil {
		t.Errorf("the command went on without its proxy: %s", text)
	}
}
