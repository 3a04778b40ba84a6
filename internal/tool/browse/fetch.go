package browse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/transform"

	"hermes/internal/safehttp"
)

// answer is what a server sent.
type answer struct {
	url         string // at the end of all redirects
	status      int
	kind        string // media type, without parameters
	header      string // Content-Type as it came
	disposition string
	body        []byte
}

// fetch fetches a URL that was judged. What comes of redirects is judged again, by the policy as it is then: a body that the
// list of sites refuses is not read.
func (o Options) fetch(ctx context.Context, url string, most int64) (answer, *Blocked, error) {
	resp, err := o.Client.Send(ctx, safehttp.Request{URL: url, Header: map[string]string{
		"Accept": "text/html,application/xhtml+xml,text/markdown;q=0.9,application/pdf;q=0.8,application/xml;q=0.8,*/*;q=0.5",
	}})
	if err != nil {
		a := answer{url: url}
		if at := refusedAt(err); at != "" {
			a.url = at
			_, blocked, _ := o.judge(at)
			return a, blocked, plainError(err)
		}
		return a, nil, plainError(err)
	}
	defer resp.Body.Close()
	a := answer{url: resp.Request.URL.String(), status: resp.StatusCode, header: resp.Header.Get("Content-Type"), disposition: resp.Header.Get("Content-Disposition")}
	u, blocked, err := o.judge(a.url)
	if err != nil {
		return a, blocked, err
	}
	a.url = u.String()
	if a.status < 200 || a.status > 299 {
		return a, nil, fmt.Errorf("the server answers %d", a.status)
	}
	a.body, err = io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case err != nil:
		return a, nil, plainError(err)
	case int64(len(a.body)) > most:
		return a, nil, fmt.Errorf("%w: more than %d MiB", safehttp.ErrTooLarge, most>>20)
	}
	if a.kind, _, err = mime.ParseMediaType(a.header); err != nil {
		a.kind = strings.ToLower(strings.TrimSpace(strings.SplitN(a.header, ";", 2)[0]))
	}
	return a, nil, nil
}

// plainError says what went wrong without the URL, which whoever reads it knows, and without its query, which is nobody's business.
func plainError(err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("it took too long")
	case errors.Is(err, context.Canceled):
		return err
	}
	for _, known := range []error{safehttp.ErrTooLarge, safehttp.ErrIdle} {
		if errors.Is(err, known) {
			return known
		}
	}
	for next := errors.Unwrap(err); next != nil && strings.HasPrefix(err.Error(), "Get ") || next != nil && strings.HasPrefix(err.Error(), "Post "); next = errors.Unwrap(err) {
		err = next
	}
	return err
}

// text decodes a body into UTF-8, by what the server says, the page itself says, or the bytes look like.
func (a answer) text() (string, error) {
	encoding, name, _ := charset.DetermineEncoding(a.body[:min(len(a.body), 1024)], a.header)
	if name == "utf-8" {
		return strings.ToValidUTF8(string(bytes.TrimPrefix(a.body, []byte("\xef\xbb\xbf"))), "\uFFFD"), nil
	}
	out, _, err := transform.Bytes(encoding.NewDecoder(), a.body)
	if err != nil {
		return "", fmt.Errorf("read it as %s: %w", name, err)
	}
	if len(out) > maxPage*3 {
		return "", safehttp.ErrTooLarge
	}
	return strings.TrimPrefix(string(out), "\uFEFF"), nil
}
