package native_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"

	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
)

// What commands say at the way out comes out of the sockets that were handed over, and nowhere else; a sandbox that waited for its
// use has a way out of its own.
func TestExit(t *testing.T) {
	s, conf := spec(t)
	conf.Probe = []string{}
	b := backend(t, conf)
	s.Network = exposure.Network{Want: exposure.Explicitly, Asked: exposure.AllowlistNet, Allow: []string{"a.example"}}
	for range 2 { // the second one may be taken from those that wait
		var asked bytes.Buffer
		s.Exit = &sandbox.Exit{Port: 3128, Attach: func(stream, names *os.File) error {
			l, err := net.FileListener(stream)
			if err != nil {
				return err
			}
			t.Cleanup(func() { l.Close() })
			pc, err := net.FilePacketConn(names)
			if err != nil {
				return err
			}
			t.Cleanup(func() { pc.Close() })
			_, _ = stream.Close(), names.Close()
			go func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					_, _ = conn.Write([]byte("the way out\n"))
					conn.Close()
				}
			}()
			go func() {
				buf := make([]byte, 512)
				n, from, err := pc.ReadFrom(buf)
				if err == nil {
					asked.Write(buf[:n])
					_, _ = pc.WriteTo(buf[:n], from)
				}
			}()
			return nil
		}}
		box, err := b.Open(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if n := box.Exposure().Network; n.Force != exposure.AllowlistNet || n.NoRoute != exposure.Shut || len(n.Allow) != 1 {
			t.Errorf("network %+v", n)
		}
		out, code := run(t, box, `cat </dev/tcp/127.0.0.1/3128; cat /etc/resolv.conf; exec 3<>/dev/udp/127.0.0.1/53; echo name >&3; head -c 5 <&3`)
		if want := "the way out\nnameserver 127.0.0.1\noptions timeout:5 attempts:2\nname"; out != want || code != 0 {
			t.Errorf("exit %d, said %q, want %q", code, out, want)
		}
		out, _ = run(t, box, `cat </dev/tcp/192.0.2.1/80`)
		if !strings.Contains(out, "unreachable") {
			t.Errorf("beside the way out: %q", out)
		}
		if err := box.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// A way out that was asked for and cannot be had is an error.
func TestExitThatFails(t *testing.T) {
	s, conf := spec(t)
	conf.Probe = []string{}
	b := backend(t, conf)
	s.Network = exposure.Network{Want: exposure.Explicitly, Asked: exposure.AllowlistNet}
	s.Exit = &sandbox.Exit{Port: 3128, Attach: func(stream, names *os.File) error {
		return errors.Join(errors.New("no proxy"), stream.Close(), names.Close())
	}}
	var missing *sandbox.MissingError
	if box, err := b.Open(t.Context(), s); !errors.As(err, &missing) || box != nil {
		t.Errorf("opened %v, %v", box, err)
	}
	s.Network.Want = exposure.ByDefault
	box, err := b.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close(context.Background())
	if n := box.Exposure().Network; n.Force != exposure.NoNet {
		t.Errorf("network %+v", n)
	}
}
