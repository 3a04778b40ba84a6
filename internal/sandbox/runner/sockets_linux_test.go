package runner

import (
	"io"
	"net"
	"strings"
	"testing"

	"hermes/internal/sandbox"
)

// What a command inside sends to the port comes out of the socket that was handed out.
func TestSockets(t *testing.T) {
	c := start(t, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free
	if err != nil {
		t.Fatal(err)
	}
	port := uint16(l.Addr().(*net.TCPAddr).Port)
	l.Close()
	stream, names, err := c.Sockets(t.Context(), port)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if names != nil { // the tests may run as somebody who may not
		names.Close()
	}
	in, err := net.FileListener(stream)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	heard := make(chan string, 1)
	go func() {
		conn, err := in.Accept()
		if err != nil {
			heard <- err.Error()
			return
		}
		defer conn.Close()
		b, _ := io.ReadAll(conn)
		heard <- string(b)
	}()
	var out strings.Builder
	s, err := c.Run(t.Context(), sandbox.Command{Text: "echo hello > /dev/tcp/127.0.0.1/" + strings.TrimPrefix(l.Addr().String(), "127.0.0.1:"), Stderr: &out})
	if err != nil || s.Code != 0 {
		t.Fatalf("%v, exit %d: %s", err, s.Code, &out)
	}
	if got := <-heard; got != "hello\n" {
		t.Errorf("heard %q", got)
	}
	if _, _, err := c.Sockets(t.Context(), port); err == nil {
		t.Error("the port was given twice")
	}
	if _, _, err := c.Sockets(t.Context(), 0); err == nil {
		t.Error("port 0")
	}
}
