package proxy

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"hermes/internal/guard"
	"hermes/internal/guard/egress"
)

// answer is a response of the proxy itself.
type answer struct {
	status int
	why    string // one line
	next   string // what to do about it
	denial string // RFC 9209's word for the error
}

// denial makes an answer of a verdict.
func denial(t egress.Request, v guard.Verdict) answer {
	return answer{
		status: http.StatusForbidden, denial: "http_request_denied",
		why: fmt.Sprintf("%s is refused: %s (%s)", t, v.Reason, v.Rule), next: v.Remedy,
	}
}

// refuse writes an answer. Its text is for the person who reads the output of a command that was refused.
func refuse(w io.Writer, a answer, last bool) error {
	text := "hermes: " + a.why + "\n"
	if a.next != "" {
		text += a.next + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", a.status, http.StatusText(a.status))
	b.WriteString("Content-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n")
	if a.status == http.StatusProxyAuthRequired {
		b.WriteString("Proxy-Authenticate: Basic realm=\"hermes\", charset=\"UTF-8\"\r\n")
	}
	if a.denial != "" {
		fmt.Fprintf(&b, "Proxy-Status: hermes; error=%s\r\n", a.denial)
	}
	if last {
		b.WriteString("Connection: close\r\n")
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(text), text)
	_, err := io.WriteString(w, b.String())
	return err
}
