package proof

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"testing"
	"time"
)

// hold serves the proof's own client, and returns a way to it that leaves nothing else open.
func hold(t *testing.T, p *Proof) Dial {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = p.Client().Serve(l) }()
	go func() { _ = p.Client().ServeNames(pc) }()
	return to(l.Addr().String(), pc.LocalAddr().String())
}

// to is a way to a proxy and a name server.
func to(proxy, names string) Dial {
	return func(_ context.Context, network, address string) (io.ReadWriteCloser, error) {
		switch address {
		case "127.0.0.1:3128":
			return net.Dial(network, proxy)
		case nameServer:
			return net.Dial(network, names)
		}
		return nil, errors.New("no route")
	}
}

func fresh(t *testing.T) *Proof {
	t.Helper()
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(p.Close(), p.Client().Close()); err != nil {
			t.Error(err)
		}
	})
	return p
}

// rows returns how each row came out.
func rows(t *testing.T, all []Row, want map[string]string) {
	t.Helper()
	for _, r := range all {
		wanted, found := want[r.Key]
		if !found {
			wanted = want[""]
		}
		if wanted == "" {
			wanted = r.Asked
		}
		if r.Force != wanted || r.OK != (r.Force == r.Asked && wanted == r.Asked) {
			t.Errorf("%s: asked %s, in force %s (ok %v, %s), want %s", r.Key, r.Asked, r.Force, r.OK, r.Note, wanted)
		}
	}
	if len(all) == 0 {
		t.Error("no rows")
	}
}

func TestTheProxyHolds(t *testing.T) {
	p := fresh(t)
	inside := hold(t, p)
	rows(t, p.Way(t.Context(), inside, 3128), nil)
	rows(t, p.Direct(t.Context(), inside), nil)
}

// A place with the host's network reaches everything.
func TestNoWallIsSeen(t *testing.T) {
	p := fresh(t)
	open := func(_ context.Context, network, address string) (io.ReadWriteCloser, error) {
		return net.Dial(network, address)
	}
	rows(t, p.Direct(t.Context(), open), map[string]string{"": Reached})
}

// A proxy that lets everything through, as many do, is found out; so is one that is not there.
func TestAnOpenProxyIsSeen(t *testing.T) {
	p := fresh(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: openProxy(p)}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	p.wait, p.bound = 10*time.Millisecond, time.Second
	want := map[string]string{
		"plain": Passes, "tunnel": Passes, "unlisted": Passes, "loopback": Passes, "sni": Passes, "no_sni": Passes, "host": Passes, "rebinding": Passes,
		"port": Refused, "metadata": Refused, "ech": Refused, "not_tls": Refused, // by the servers, without a word in the log
		"smuggling": Passes,
		"name":      Unknown, "names": Unknown, "name_tunnel": Unknown, "name_rebinding": Unknown,
	}
	for _, r := range p.Way(t.Context(), to(l.Addr().String(), "127.0.0.1:1"), 3128) {
		if ok := r.Asked == Passes && r.Force == Passes; r.Force != want[r.Key] || r.OK != ok {
			t.Errorf("%s: in force %s (ok %v, %s), want %s", r.Key, r.Force, r.OK, r.Note, want[r.Key])
		}
	}
	gone := func(context.Context, string, string) (io.ReadWriteCloser, error) { return nil, errors.New("refused") }
	rows(t, p.Way(t.Context(), gone, 3128), map[string]string{"": Unknown})
}

// openProxy reaches the proof's servers under whatever name it is asked for.
func openProxy(p *Proof) http.Handler {
	plain := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Host = "127.0.0.1" + p.stage.web }}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodConnect && strings.HasSuffix(r.Host, p.stage.secure):
			up, err := net.Dial("tcp", "127.0.0.1"+p.stage.secure)
			if err != nil {
				return
			}
			w.WriteHeader(http.StatusOK)
			conn, rw, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			_ = rw.Flush()
			go func() { _, _ = io.Copy(up, rw); _ = up.Close() }()
			_, _ = io.Copy(conn, up)
			_ = conn.Close()
		case strings.HasSuffix(r.URL.Host, p.stage.web):
			plain.ServeHTTP(w, r)
		default:
			http.Error(w, "no", http.StatusBadGateway)
		}
	})
}
