package proxy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/internal/guard/egress"
)

// way is one way to the server: straight, or through a proxy.
type way struct {
	name string
	addr string // of the proxy, "" for straight
}

// ways starts the proxies that are compared: ours, and squid where it is installed.
func ways(b *testing.B, ports ...string) []way {
	b.Helper()
	out := []way{{name: "direct"}}
	c := New("bench", Options{
		Policy: listed{hosts: map[string]egress.Ruling{"127.0.0.1": {Opaque: true}}}, Limits: Limits{Conns: 4096},
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() { _ = c.Serve(l) }()
	b.Cleanup(func() { c.Close() })
	out = append(out, way{"hermes", l.Addr().String()})
	if addr := squid(b, ports); addr != "" {
		out = append(out, way{"squid", addr})
	}
	return out
}

// squid starts squid with a configuration that allows the ports only, and returns its address, or "".
func squid(b *testing.B, ports []string) string {
	const program = "/usr/sbin/squid"
	if _, err := os.Stat(program); err != nil {
		if os.Getenv("HERMES_TEST_REQUIRE") != "" {
			b.Fatal("squid is required and missing")
		}
		b.Log("skipped: needs squid")
		return ""
	}
	dir := b.TempDir()
	_ = os.Chmod(dir, 0o777)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	conf := filepath.Join(dir, "squid.conf")
	text := fmt.Sprintf("http_port %s\nacl here dst 127.0.0.1\nacl p port %s\nhttp_access allow here p\nhttp_access deny all\n"+
		"cache deny all\npid_filename none\naccess_log none\ncache_log %s/cache.log\ncoredump_dir %s\nshutdown_lifetime 0 seconds\n"+
		"max_filedescriptors 16384\nworkers 1\npinger_enable off\nnetdb_filename none\n",
		addr, strings.Join(ports, " "), dir, dir)
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(program, "-N", "-f", conf)
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if conn, err := net.Dial("tcp", addr); err == nil {
			conn.Close()
			return addr
		}
	}
	log, _ := os.ReadFile(filepath.Join(dir, "cache.log"))
	b.Fatalf("squid does not listen: %s", log)
	return ""
}

// dial opens a connection to the server, through the proxy if there is one.
func (w way) dial(target string) (net.Conn, error) {
	if w.addr == "" {
		return net.Dial("tcp", target)
	}
	conn, err := net.Dial("tcp", w.addr)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target); err != nil {
		return nil, err
	}
	// Byte by byte, so that nothing of what follows is taken.
	var head []byte
	for one := make([]byte, 1); !strings.HasSuffix(string(head), "\r\n\r\n"); head = append(head, one[0]) {
		if _, err := io.ReadFull(conn, one); err != nil {
			return nil, err
		}
	}
	if !strings.Contains(string(head), " 200 ") {
		return nil, fmt.Errorf("%s: %s", w.name, head)
	}
	return conn, nil
}

// source serves bytes: after a first byte, as many as a connection asks for in eight bytes.
func source(b *testing.B) (addr, port string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = conn.Write([]byte{1})
				var n [8]byte
				if _, err := io.ReadFull(conn, n[:]); err != nil {
					return
				}
				block := make([]byte, 256<<10)
				for left := int64(binary.BigEndian.Uint64(n[:])); left > 0; {
					k, err := conn.Write(block[:min(left, int64(len(block)))])
					if left -= int64(k); err != nil {
						return
					}
				}
			}()
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return l.Addr().String(), port
}

// BenchmarkFirstByte is the time from nothing to the server's first byte, in turns.
func BenchmarkFirstByte(b *testing.B) {
	target, port := source(b)
	all := ways(b, port)
	took := make([][]float64, len(all))
	for b.Loop() {
		for i, w := range all {
			began := time.Now()
			conn, err := w.dial(target)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
				b.Fatal(err)
			}
			took[i] = append(took[i], float64(time.Since(began).Microseconds()))
			conn.Close()
		}
	}
	b.ReportMetric(0, "ns/op")
	for i, w := range all {
		slices.Sort(took[i])
		b.ReportMetric(took[i][len(took[i])/2], w.name+"-µs")
	}
}

// BenchmarkThroughput is what many connections at once carry together: 1 GiB of downloads.
func BenchmarkThroughput(b *testing.B) {
	const total = 1 << 30
	target, port := source(b)
	all := ways(b, port)
	for _, conns := range []int{1, 32, 1000} {
		b.Run(fmt.Sprint(conns), func(b *testing.B) {
			rate := make([][]float64, len(all))
			for b.Loop() {
				for i, w := range all {
					began := time.Now()
					if err := w.download(target, conns, total/int64(conns)); err != nil {
						b.Fatal(err)
					}
					rate[i] = append(rate[i], total/1e6/time.Since(began).Seconds())
				}
			}
			b.ReportMetric(0, "ns/op")
			for i, w := range all {
				slices.Sort(rate[i])
				b.ReportMetric(rate[i][len(rate[i])/2], w.name+"-MB/s")
			}
		})
	}
}

// download reads so many bytes over each of so many connections at once.
func (w way) download(target string, conns int, size int64) error {
	var wait sync.WaitGroup
	errs := make([]error, conns)
	for i := range conns {
		wait.Go(func() {
			conn, err := w.dial(target)
			if err != nil {
				errs[i] = err
				return
			}
			defer conn.Close()
			var n [8]byte
			binary.BigEndian.PutUint64(n[:], uint64(size))
			if _, err := conn.Write(n[:]); err != nil {
				errs[i] = err
				return
			}
			buf := make([]byte, 64<<10)
			for left := size + 1; left > 0; {
				k, err := conn.Read(buf)
				if left -= int64(k); err != nil && left > 0 {
					errs[i] = fmt.Errorf("%d bytes are missing: %w", left, err)
					return
				}
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// BenchmarkIdleTunnel is the memory of one more tunnel that nobody uses, without what its two ends outside take.
func BenchmarkIdleTunnel(b *testing.B) {
	const tunnels = 1000
	target, port := source(b)
	all := ways(b, port)[:2]
	var per [2]float64
	for b.Loop() {
		for i, w := range all {
			before := memory()
			var conns []net.Conn
			for range tunnels {
				conn, err := w.dial(target)
				if err != nil {
					b.Fatal(err)
				}
				conns = append(conns, conn)
			}
			time.Sleep(100 * time.Millisecond)
			per[i] = (memory() - before) / tunnels
			for _, conn := range conns {
				conn.Close()
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric((per[1]-per[0])/1024, "KiB/tunnel")
}

func memory() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}
