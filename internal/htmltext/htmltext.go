// Package htmltext makes markdown of a web page: what a person who looks at the page would see, and, apart from it, what the page
// says without showing it.
//
// It fetches nothing, runs no script and reads no style sheet but those in the page itself; what is hidden by others, or by a
// script, it takes for visible. It does not judge what a text says (see guard/taint) nor where a link leads (see guard/egress).
//
// Failure direction: withhold. Text that may be hidden is told apart and never in the markdown; a page that would take too much
// to read is not read.
package htmltext

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Options says how a page is read.
type Options struct {
	Base  string // the URL it came from; links are resolved against it
	Whole bool   // all of the page, with menus and margins; else the part one would read
}

// Page is what a page says.
type Page struct {
	Title    string
	Lang     string
	Markdown string
	Hidden   []Hidden
	Refresh  string // where the page wants to go on to by itself, resolved; nobody follows it
	Partial  bool   // Markdown is the readable part, and there is more
}

// Hidden is a text of the page that is not shown.
type Hidden struct {
	Kind string // "comment", "style", "attribute", "alt", "invisible characters", …
	Text string
}

// ErrTooComplex is what a page ends with that would take too much memory or time to read.
var ErrTooComplex = errors.New("the page is built so that reading it takes too much")

// Read reads a page in UTF-8. It takes time and memory in proportion to the text, which the caller bounds, and ends with the
// context.
func Read(ctx context.Context, text string, o Options) (Page, error) {
	if err := affordable(ctx, text); err != nil {
		return Page{}, err
	}
	doc, err := html.Parse(&reader{ctx, strings.NewReader(text)})
	switch {
	case ctx.Err() != nil:
		return Page{}, ctx.Err()
	case err != nil:
		return Page{}, fmt.Errorf("%w: %w", ErrTooComplex, err)
	}
	c := newCleaner(doc, o.Base)
	c.clean(doc)
	body := find(doc, atom.Body)
	if body == nil { // a page of frames
		body = doc
	}
	p := Page{Title: c.title(doc), Lang: c.lang, Refresh: c.refresh}
	part := body
	if !o.Whole {
		part, p.Partial = readable(body)
	}
	p.Markdown, err = c.markdown(ctx, part)
	p.Hidden = c.hidden
	return p, err
}

// Text returns what is shown of a piece of a page, without marks: the title of a search result, the summary of a feed.
func Text(ctx context.Context, text string) (shown string, hidden []Hidden, err error) {
	if !strings.ContainsAny(text, "<&") {
		c := &cleaner{}
		return squeeze(c.seen(text)), c.hidden, nil
	}
	p, err := Read(ctx, text, Options{Whole: true})
	if err != nil {
		return "", nil, err
	}
	c := &cleaner{hidden: p.Hidden}
	return squeeze(c.seen(html.UnescapeString(plain(p.Markdown)))), c.hidden, nil
}

// reader ends with its context.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// find returns the first element of a kind, without looking into templates.
func find(n *html.Node, a atom.Atom) *html.Node {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && d.DataAtom == a && d.Namespace == "" {
			return d
		}
	}
	return nil
}

// attr returns an attribute's value.
func attr(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val, true
		}
	}
	return "", false
}

// squeeze makes one line of a text.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// plain takes the marks of markdown off a short text again.
func plain(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("\\`*_{}[]()<>#+-.!|~&", s[i+1]) >= 0 {
			i++
			b.WriteByte(s[i])
			continue
		}
		if s[i] == '*' {
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// resolve returns where a link leads, "" for what is no place to go to: scripts, data, files, names before a host.
func resolve(base *url.URL, ref string) string {
	ref = strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return -1
		}
		return r
	}, strings.TrimFunc(ref, func(r rune) bool { return r <= ' ' }))
	if ref == "" || len(ref) > maxLink {
		return ""
	}
	u, err := url.Parse(ref)
	if err != nil {
		return ""
	}
	if base != nil {
		u = base.ResolveReference(u)
	}
	switch {
	case u.User != nil:
		return ""
	case u.Scheme == "http" || u.Scheme == "https":
		if u.Host == "" {
			return ""
		}
	case u.Scheme == "mailto":
	default:
		return ""
	}
	return u.String()
}

// maxLink is the longest link that is kept, in bytes.
const maxLink = 2048

// Link returns where a link of a page leads, "" for what is no place to go to: scripts, data, files, names before a host.
func Link(base, ref string) string {
	u, err := url.Parse(base)
	if err != nil {
		u = nil
	}
	return resolve(u, ref)
}
