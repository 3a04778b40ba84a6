package probe

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Stage is what stands outside for a probe to try to reach. Whoever set it up closes it.
type Stage struct {
	Targets Targets
	closers []func() error
	dir     string
}

// SetUp opens listeners on the loopback and puts a secret file and a unix socket into a new folder below dir, which must not
// be shown inside.
func SetUp(dir string) (*Stage, error) {
	s := &Stage{}
	if err := s.open(dir); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// abandoned is the age at which a stage has nobody left who probes: it took its owner's kill to stay.
const abandoned = 10 * time.Minute

// sweep removes stages whose owners were killed. What cannot be removed stays: it harms nothing.
func sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && e.IsDir() && strings.HasPrefix(e.Name(), prefix) && time.Since(info.ModTime()) > abandoned {
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}

const prefix = "probe-"

func (s *Stage) open(dir string) error {
	sweep(dir)
	var err error
	if s.dir, err = os.MkdirTemp(dir, prefix); err != nil {
		return err
	}
	t := &s.Targets
	t.Outside, t.PID, t.Host = s.dir, os.Getpid(), Namespaces()
	t.Secret = filepath.Join(s.dir, "key")
	if err := os.WriteFile(t.Secret, []byte("not for you\n"), 0o600); err != nil {
		return err
	}
	tcp, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.closers = append(s.closers, tcp.Close)
	t.TCP = tcp.Addr().String()
	go drain(tcp)
	udp, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.closers = append(s.closers, udp.Close)
	t.UDP = udp.LocalAddr().String()
	go echo(udp)
	t.Named = filepath.Join(s.dir, "s")
	address, done := near(t.Named)
	named, err := net.Listen("unix", address)
	if err != nil {
		done()
		return err
	}
	s.closers = append(s.closers, named.Close, func() error { done(); return nil })
	go drain(named)
	if runtime.GOOS != "linux" {
		return nil
	}
	var name [8]byte
	_, _ = rand.Read(name[:])
	t.Abstract = "hermes-probe-" + hex.EncodeToString(name[:])
	abstract, err := net.Listen("unix", "@"+t.Abstract)
	if err != nil {
		return err
	}
	s.closers = append(s.closers, abstract.Close)
	go drain(abstract)
	return nil
}

func drain(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_ = c.Close()
	}
}

func echo(c net.PacketConn) {
	var b [64]byte
	for {
		n, from, err := c.ReadFrom(b[:])
		if err != nil {
			return
		}
		_, _ = c.WriteTo(b[:n], from)
	}
}

// Close takes everything down.
func (s *Stage) Close() error {
	var errs []error
	for _, f := range s.closers {
		errs = append(errs, f())
	}
	s.closers = nil
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}
