package browse

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"hermes/internal/htmltext"
)

// What is read of a feed.
const (
	maxItems   = 100
	maxSummary = 1000 // characters
)

// feedRoot tells whether a text is a feed, by its first element.
func feedRoot(body string) bool {
	d := feedDecoder(body[:min(len(body), 4096)])
	for {
		t, err := d.RawToken()
		if err != nil {
			return false
		}
		if start, ok := t.(xml.StartElement); ok {
			name := strings.ToLower(start.Name.Local)
			return name == "rss" || name == "feed" || name == "rdf"
		}
	}
}

func feedDecoder(body string) *xml.Decoder {
	d := xml.NewDecoder(strings.NewReader(body))
	d.Strict = false
	d.Entity = xml.HTMLEntity
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // it is UTF-8 by now
	return d
}

// item is an entry of RSS 2.0, RSS 1.0 or Atom. An element that stands there more than once is read the last time, links aside.
type item struct {
	Title     markup `xml:"title"`
	Links     []link `xml:"link"`
	Published string `xml:"published"`
	Updated   string `xml:"updated"`
	PubDate   string `xml:"pubDate"`
	Date      string `xml:"http://purl.org/dc/elements/1.1/ date"`
	Summary   markup `xml:"summary"`
	About     markup `xml:"description"`
	Content   markup `xml:"content"`
	Encoded   markup `xml:"http://purl.org/rss/1.0/modules/content/ encoded"`
}

type link struct {
	Href string `xml:"href,attr"`
	Rel  string `xml:"rel,attr"`
	Text string `xml:",chardata"`
}

// markup is text, HTML as text, or XHTML in place.
type markup struct {
	Type  string `xml:"type,attr"`
	Text  string `xml:",chardata"`
	Inner string `xml:",innerxml"`
}

func (m markup) html() string {
	if m.Type == "xhtml" {
		return m.Inner
	}
	if m.Type == "text" {
		return strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(m.Text)
	}
	return m.Text
}

// readFeed lists what is in a feed.
func readFeed(ctx context.Context, body, url, kind string) (text, error) {
	out := text{kind: kind}
	d := feedDecoder(body)
	var b strings.Builder
	items, left := 0, 0
	depth := 0
	for {
		if err := ctx.Err(); err != nil {
			return text{}, err
		}
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			if items == 0 {
				return text{}, fmt.Errorf("read feed: %w", err)
			}
			fmt.Fprintf(&b, "\n(what follows cannot be read)\n")
			break
		}
		if c, ok := t.(xml.Comment); ok {
			out.hidden = append(out.hidden, htmltext.Hidden{Kind: "comment", Text: string(c)})
			continue
		}
		if _, ok := t.(xml.EndElement); ok {
			depth--
			continue
		}
		start, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		switch name := start.Name.Local; {
		case name == "item" || name == "entry":
			var i item
			if err := d.DecodeElement(&i, &start); err != nil && items == 0 {
				return text{}, fmt.Errorf("read feed: %w", err)
			}
			if items++; items > maxItems {
				left++
				continue
			}
			out.item(ctx, &b, i, url)
		case (name == "title" || name == "subtitle" || name == "description") && depth <= 2 && items == 0 && start.Name.Space != mediaSpace:
			var m markup
			if err := d.DecodeElement(&m, &start); err != nil {
				return text{}, fmt.Errorf("read feed: %w", err)
			}
			shown, hidden, _ := htmltext.Text(ctx, m.html())
			out.hidden = append(out.hidden, hidden...)
			if name == "title" && out.title == "" {
				out.title = shown
			}
		default:
			depth++
		}
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n(%d more entries are left out)\n", left)
	}
	out.text = strings.TrimSpace(b.String())
	return out, nil
}

// mediaSpace is the namespace of pictures in feeds, which have titles of their own.
const mediaSpace = "http://search.yahoo.com/mrss/"

// item writes one entry.
func (t *text) item(ctx context.Context, b *strings.Builder, i item, base string) {
	title, hidden, err := htmltext.Text(ctx, i.Title.html())
	t.hidden = append(t.hidden, hidden...)
	if err != nil || title == "" {
		title = "(without a title)"
	}
	href := ""
	for _, l := range i.Links {
		to := l.Href
		if to == "" {
			to = l.Text
		}
		if to = htmltext.Link(base, to); to != "" && (href == "" || l.Rel == "alternate") {
			href = to
		}
	}
	date := firstOf(i.Published, i.PubDate, i.Date, i.Updated)
	fmt.Fprintf(b, "## %s\n\n", title)
	if href != "" {
		fmt.Fprintf(b, "<%s>\n\n", href)
	}
	if date != "" {
		shown, hidden := htmltext.Visible(clip(date, 60))
		t.hidden = append(t.hidden, hidden...)
		fmt.Fprintf(b, "%s\n\n", strings.Join(strings.Fields(shown), " "))
	}
	about := firstOf(i.About.html(), i.Summary.html(), i.Encoded.html(), i.Content.html())
	if summary, hidden, err := htmltext.Text(ctx, about); err == nil {
		t.hidden = append(t.hidden, hidden...)
		if summary != "" && summary != title {
			fmt.Fprintf(b, "%s\n\n", clip(summary, maxSummary))
		}
	}
}

func firstOf(texts ...string) string {
	for _, s := range texts {
		if s = strings.TrimSpace(s); s != "" {
			return s
		}
	}
	return ""
}
