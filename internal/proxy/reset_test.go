package proxy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// resetter is a server that answers each connection with a text and then resets it.
func resetter(t *testing.T, answer string) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = bufio.NewReader(conn).ReadString('\n')
				_, _ = io.WriteString(conn, answer)
				time.Sleep(20 * time.Millisecond) // what was written is there before the reset
				_ = conn.(*net.TCPConn).SetLinger(0)
				_ = conn.Close()
			}()
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}

// An answer that its server broke off is never made whole: whoever reads it sees that it was cut, and it is told.
func TestServerResets(t *testing.T) {
	for what, answer := range map[string]string{
		"before the answer":                  "",
		"in its head":                        "HTTP/1.1 200 OK\r\nContent-",
		"in a body of known length":          "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
		"in a chunk":                         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\nhalf",
		"between chunks":                     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
		"in a body that ends with the other": "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhalf",
	} {
		t.Run(what, func(t *testing.T) {
			w := start(t)
			r, err := w.browser(nil).Get("http://good.test:" + resetter(t, answer) + "/")
			var body []byte
			if err == nil {
				body, err = io.ReadAll(r.Body)
				_ = r.Body.Close()
			}
			if err == nil && r.StatusCode != http.StatusBadGateway {
				t.Errorf("%d, %q, and no error", r.StatusCode, body)
			}
			told := w.decisions()
			if len(told) != 1 || told[0].Err == nil {
				t.Errorf("told %+v", told)
			}
		})
	}
}

// The reset of a tunnel's server reaches the client as one, not as an orderly end.
func TestServerResetsTunnel(t *testing.T) {
	w := start(t)
	port := resetter(t, "half")
	conn, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprintf(conn, "CONNECT raw.test:%s HTTP/1.1\r\nHost: raw.test\r\n\r\nhello\n", port)
	out, err := io.ReadAll(conn)
	if !strings.HasSuffix(string(out), "\r\n\r\nhalf") || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%q, %v", out, err)
	}
}
