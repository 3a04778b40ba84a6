package browse

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"hermes/internal/htmltext"
	"hermes/internal/safehttp"
)

// text is what a body says.
type text struct {
	kind            string
	title, language string
	text            string
	hidden          []htmltext.Hidden
	refresh         string
	partial         bool
}

// read makes text of a body. What it is, its first bytes say, where they are clear; else the server does.
func (o Options) read(ctx context.Context, a answer, whole bool) (text, error) {
	kind := a.kind
	if magic := sniff(a.body); magic != "" {
		kind = magic
	}
	if kind == "application/pdf" {
		return o.readPDF(ctx, a)
	}
	switch {
	case strings.HasPrefix(kind, "text/"), strings.HasSuffix(kind, "json"), strings.HasSuffix(kind, "xml"), strings.HasSuffix(kind, "+json"), strings.HasSuffix(kind, "yaml"), kind == "":
	default:
		if sniff(a.body) != "" || bytes.IndexByte(a.body[:min(len(a.body), 1024)], 0) >= 0 || kind != "application/octet-stream" && kind != "application/javascript" {
			return text{}, fmt.Errorf("it is %s, which has no text to read: use download", kind)
		}
	}
	if len(a.body) > maxPage {
		return text{}, fmt.Errorf("%w: more than %d MiB of text", safehttp.ErrTooLarge, maxPage>>20)
	}
	body, err := a.text()
	if err != nil {
		return text{}, err
	}
	switch {
	case feedRoot(body) && kind != "text/html":
		return readFeed(ctx, body, a.url, kind)
	case kind == "text/html", kind == "application/xhtml+xml", kind == "" && looksHTML(body), kind == "text/plain" && looksHTML(body) && strings.HasPrefix(strings.TrimSpace(body), "<!"):
		p, err := htmltext.Read(ctx, body, htmltext.Options{Base: a.url, Whole: whole})
		return text{kind: "text/html", title: p.Title, language: p.Lang, text: p.Markdown, hidden: p.Hidden, refresh: p.Refresh, partial: p.Partial}, err
	case strings.HasSuffix(kind, "json"):
		return readJSON(body, kind), nil
	}
	shown, hidden := legible(body)
	if strings.HasSuffix(kind, "xml") {
		shown = fence(shown, "xml")
	}
	return text{kind: kind, text: shown, hidden: hidden}, nil
}

func (o Options) readPDF(ctx context.Context, a answer) (text, error) {
	if o.PDF == nil {
		return text{}, errors.New("it is a PDF, and nothing here reads them")
	}
	body, err := o.PDF(ctx, a.body)
	if err != nil {
		return text{}, err
	}
	shown, hidden := legible(body)
	return text{kind: "application/pdf", text: strings.TrimSpace(shown), hidden: hidden}, nil
}

// readJSON indents JSON; what is none comes as it is.
func readJSON(body, kind string) text {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(body), "", "  "); err == nil && b.Len() <= maxPage*2 {
		body = b.String()
	}
	shown, hidden := legible(body)
	return text{kind: kind, text: fence(strings.TrimSpace(shown), "json"), hidden: hidden}
}

// legible takes out of plain text what shows nothing.
func legible(s string) (shown string, hidden []htmltext.Hidden) { return htmltext.Visible(s) }

// visible replaces what would command a terminal in a text that is told as hidden; what shows nothing stays, named.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return ' '
		}
		return r
	}, s)
}

// fence puts a text into a block of code that it cannot end.
func fence(s, language string) string {
	longest, run := 2, 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	marks := strings.Repeat("`", longest+1)
	return marks + language + "\n" + s + "\n" + marks
}

// looksHTML tells whether a text begins as pages do.
func looksHTML(body string) bool {
	head := strings.ToLower(strings.TrimSpace(body[:min(len(body), 512)]))
	for _, start := range [...]string{"<!doctype html", "<html", "<head", "<body", "<title", "<!--"} {
		if strings.HasPrefix(head, start) {
			return true
		}
	}
	return false
}
