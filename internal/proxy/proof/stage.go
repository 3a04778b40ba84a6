package proof

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// stage is what stands outside: web servers that the proxy may reach, and others that nobody inside may.
type stage struct {
	web, secure string // ":port" of the listed name
	trust       *x509.CertPool
	requests    atomic.Int64 // that the web servers had

	direct []address // servers that greet whoever reaches them
	closes []func() error
}

// address is where a server greets.
type address struct{ key, name, network, at string }

// open starts the servers. A machine without IPv6 has one less.
func open(word string) (s *stage, err error) {
	s = &stage{}
	defer func() {
		if err != nil {
			_ = s.close()
		}
	}()
	cert, err := s.certificate()
	if err != nil {
		return s, err
	}
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.requests.Add(1)
		_, _ = io.WriteString(w, word)
	})
	if s.web, err = s.serve(answer, nil); err != nil {
		return s, err
	}
	if s.secure, err = s.serve(answer, &tls.Config{Certificates: []tls.Certificate{cert}}); err != nil {
		return s, err
	}
	for _, a := range []address{
		{"direct_tcp", "TCP past the proxy, as curl --noproxy '*'", "tcp", "127.0.0.1:0"},
		{"direct_tcp6", "the same over IPv6", "tcp", "[::1]:0"},
	} {
		l, err := net.Listen(a.network, a.at)
		if err != nil && a.key == "direct_tcp6" {
			continue
		}
		if err != nil {
			return s, err
		}
		s.closes = append(s.closes, l.Close)
		a.at = l.Addr().String()
		s.direct = append(s.direct, a)
		go greet(l, word)
	}
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return s, err
	}
	s.closes = append(s.closes, pc.Close)
	s.direct = append(s.direct, address{"direct_udp", "UDP past the proxy, as to another name server", "udp", pc.LocalAddr().String()})
	go echo(pc, word)
	return s, nil
}

// serve starts a web server and returns ":port".
func (s *stage) serve(h http.Handler, secure *tls.Config) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	server := &http.Server{Handler: h, TLSConfig: secure, ReadTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	s.closes = append(s.closes, server.Close)
	go func() {
		if secure != nil {
			_ = server.ServeTLS(l, "", "")
			return
		}
		_ = server.Serve(l)
	}()
	return ":" + port, nil
}

// certificate makes one for the names of the proof, that only the proof trusts.
func (s *stage) certificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	now := time.Now()
	t := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{listed, unlisted, rebound, mixed}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, err
	}
	s.trust = x509.NewCertPool()
	s.trust.AddCert(cert)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

func greet(l net.Listener, word string) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		_ = conn.SetDeadline(time.Now().Add(time.Second))
		_, _ = io.WriteString(conn, word)
		_ = conn.Close()
	}
}

func echo(pc net.PacketConn, word string) {
	var b [512]byte
	for {
		_, from, err := pc.ReadFrom(b[:])
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			_, _ = pc.WriteTo([]byte(word), from)
		}
	}
}

func (s *stage) close() error {
	var errs []error
	for _, f := range s.closes {
		errs = append(errs, f())
	}
	s.closes = nil
	return errors.Join(errs...)
}
