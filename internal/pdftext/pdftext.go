// Package pdftext takes the text out of a PDF.
//
// It is meant to run in a process of its own with limits (see browse.Options.PDF): the format can name loops and pack a little
// into a lot, and the library that reads it was not written against those who try. It sees no pictures and keeps no layout.
//
// Failure direction: an error. A page that cannot be read is told in the text, in its place; what cannot be read at all has none.
package pdftext

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/ledongthuc/pdf"
)

// Limits of what is read.
const (
	MaxPages = 500
	maxText  = 4 << 20 // bytes of all pages
)

// ErrNoText is what a file ends with that has pages and no text on them: it was scanned.
var ErrNoText = errors.New("there is no text in it, perhaps only pictures of pages")

// Read returns a file's text, page by page under a heading each.
func Read(file []byte) (text string, err error) {
	defer func() {
		if r := recover(); r != nil {
			text, err = "", fmt.Errorf("read PDF: %v", r)
		}
	}()
	r, err := pdf.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return "", fmt.Errorf("read PDF: %w", err)
	}
	n := r.NumPage()
	var b strings.Builder
	found := false
	for i := 1; i <= min(n, MaxPages) && b.Len() < maxText; i++ {
		page, err := pageText(r, i)
		page = strings.TrimSpace(page)
		if err != nil {
			page = "(this page cannot be read: " + err.Error() + ")"
		} else if page != "" {
			found = true
		}
		if page != "" {
			fmt.Fprintf(&b, "## Page %d\n\n%s\n\n", i, page)
		}
	}
	switch {
	case n <= 0:
		return "", errors.New("read PDF: it has no pages")
	case !found:
		return "", fmt.Errorf("read PDF: %w", ErrNoText)
	case n > MaxPages:
		fmt.Fprintf(&b, "(pages %d to %d are left out)\n", MaxPages+1, n)
	}
	text = strings.ToValidUTF8(b.String(), "\uFFFD")
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	return text, nil
}

func pageText(r *pdf.Reader, i int) (text string, err error) {
	defer func() {
		if r := recover(); r != nil {
			text, err = "", fmt.Errorf("%v", r)
		}
	}()
	p := r.Page(i)
	if p.V.IsNull() {
		return "", nil
	}
	return p.GetPlainText(nil)
}
