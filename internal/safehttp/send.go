package safehttp

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"hermes/internal/guard/egress"
)

// Request is a request of somebody who does not know net/http.
type Request struct {
	Method string // empty: GET, or POST where there is a body
	URL    string
	Header map[string]string
	Body   []byte
}

// Send sends a request and follows redirects. The caller closes the body of the response.
func (c *Client) Send(ctx context.Context, r Request) (*http.Response, error) {
	u, err := egress.ParseURL(r.URL)
	if err != nil {
		return nil, denied(r.URL, egress.Refusal(err))
	}
	var body io.Reader
	if r.Body != nil {
		body = bytes.NewReader(r.Body)
	}
	method := r.Method
	switch {
	case method != "":
	case r.Body != nil:
		method = http.MethodPost
	default:
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, err
	}
	for name, value := range r.Header {
		req.Header.Set(name, value)
	}
	return c.HTTP().Do(req)
}
