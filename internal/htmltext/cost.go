package htmltext

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/net/html"
)

// What a page may cost, in nodes of its tree and the like. A page of a book has some tens of thousands.
const (
	maxCost   = 600_000
	maxCopies = 3 // of one formatting element that are open again in each paragraph, by the rules of HTML
)

// affordable tells whether a page is worth being read: how many nodes its tree may have is counted before there is a tree. A few
// kilobytes of open <font> elements are opened again in every paragraph, and a thousand paragraphs make a million nodes; <html>
// and <body> may be repeated, and each time all attributes are compared.
func affordable(ctx context.Context, text string) error {
	z := html.NewTokenizer(strings.NewReader(text))
	open := map[string]int{}        // formatting elements, by their text
	byName := map[string][]string{} // the same, by name, in order
	cost, live, roots := 0, 0, 0
	for steps := 0; ; steps++ {
		if steps%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		kind := z.Next()
		if kind == html.ErrorToken && cost <= maxCost {
			return nil // the end
		}
		if cost > maxCost {
			return fmt.Errorf("%w: more than %d parts", ErrTooComplex, maxCost)
		}
		switch kind {
		case html.TextToken:
			cost += 1 + live
		case html.CommentToken, html.DoctypeToken:
			cost++
		case html.EndTagToken:
			cost++
			name, _ := z.TagName()
			if keys := byName[string(name)]; len(keys) > 0 {
				last := keys[len(keys)-1]
				byName[string(name)] = keys[:len(keys)-1]
				if open[last]--; open[last] < maxCopies {
					live--
				}
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			raw := string(z.Raw())
			name, more := z.TagName()
			cost += 1 + live
			for more && cost <= maxCost {
				_, _, more = z.TagAttr()
				cost++
			}
			switch s := string(name); s {
			case "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u":
				byName[s] = append(byName[s], raw)
				if open[raw]++; open[raw] <= maxCopies {
					live++
				}
			case "html", "body":
				roots += strings.Count(raw, " ") + strings.Count(raw, "/") + 1
				cost += roots
			}
		}
	}
}
