package htmltext

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// measure is how much text is below a node.
type measure struct {
	text   int // characters
	linked int // of them in links
	commas int
	score  float64 // as the place of an article
}

// readable returns the part of a page one would read, without menus and margins, and whether there is more. Where no part
// stands out it is the whole page.
//
// Paragraphs count for what holds them, with half for what is around that: where most of them are is the article. Text in links
// counts against it.
func readable(body *html.Node) (part *html.Node, more bool) {
	m := map[*html.Node]*measure{}
	all := weigh(body, m)
	best := marked(body, m, all.text)
	if best == nil {
		best = densest(body, m)
	}
	if best == nil || best == body {
		return trimmed(body), true
	}
	best = widened(best, body, m)
	if got := m[best].text; got < 200 || got*4 < all.text-all.linked && got < 2000 {
		return trimmed(body), true
	}
	return trimmed(best), m[best].text < all.text
}

// weigh measures what is below a node.
func weigh(n *html.Node, m map[*html.Node]*measure) *measure {
	sum := &measure{}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		switch child.Type {
		case html.TextNode:
			sum.text += utf8.RuneCountInString(strings.TrimSpace(child.Data))
			sum.commas += strings.Count(child.Data, ",") + strings.Count(child.Data, "，") + strings.Count(child.Data, "、")
		case html.ElementNode:
			if margin(child) {
				continue
			}
			below := weigh(child, m)
			sum.text += below.text
			sum.commas += below.commas
			if sum.linked += below.linked; child.DataAtom == atom.A {
				sum.linked += below.text - below.linked
			}
		}
	}
	m[n] = sum
	switch n.DataAtom {
	case atom.P, atom.Pre, atom.Blockquote, atom.Td, atom.Li, atom.Dd:
		if sum.text < 25 {
			break
		}
		points := 1 + float64(sum.commas) + min(float64(sum.text)/100, 3)
		points *= 1 - float64(sum.linked)/float64(sum.text)
		// Those above are not measured yet: they find the points of their children.
		sum.score += points
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if below := m[child]; below != nil {
			if paragraph(child) {
				sum.score += below.score
			} else {
				sum.score += below.score / 2
			}
		}
	}
	return sum
}

func paragraph(n *html.Node) bool {
	switch n.DataAtom {
	case atom.P, atom.Pre, atom.Blockquote, atom.Ul, atom.Ol, atom.Dl, atom.Table, atom.Tbody, atom.Tr:
		return true
	}
	return false
}

// marked returns the part that the page itself calls its main one.
func marked(body *html.Node, m map[*html.Node]*measure, all int) *html.Node {
	var mains, articles []*html.Node
	for n := range body.Descendants() {
		role, _ := attr(n, "role")
		switch {
		case m[n] == nil:
		case n.DataAtom == atom.Main || role == "main":
			mains = append(mains, n)
		case n.DataAtom == atom.Article:
			articles = append(articles, n)
		}
	}
	if len(mains) == 1 && m[mains[0]].text >= 200 {
		return mains[0]
	}
	if len(articles) == 1 && m[articles[0]].text*3 >= all {
		return articles[0]
	}
	return nil
}

// densest returns the node that most of the paragraphs are in, the outer one of two that hold the same.
func densest(body *html.Node, m map[*html.Node]*measure) *html.Node {
	var best *html.Node
	score := 0.0
	consider := func(n *html.Node) {
		s := m[n]
		if s == nil || s.text == 0 || n.DataAtom == atom.P || n.DataAtom == atom.Li || n.DataAtom == atom.Td || n.DataAtom == atom.Dd {
			return
		}
		if points := s.score * (1 - float64(s.linked)/float64(s.text)); points > score {
			best, score = n, points
		}
	}
	consider(body)
	for n := range body.Descendants() {
		consider(n)
	}
	return best
}

// widened goes up while what is around a part is mostly text, too: an article in sections.
func widened(best, body *html.Node, m map[*html.Node]*measure) *html.Node {
	for best != body && best.Parent != nil && best.Parent != body {
		up, here := m[best.Parent], m[best]
		if up == nil || up.text-up.linked < (here.text-here.linked)*13/10 || up.linked*3 > up.text {
			if !only(best.Parent, best) {
				break
			}
		}
		best = best.Parent
	}
	return best
}

// only tells whether a node has no other child that shows something but headings.
func only(parent, child *html.Node) bool {
	for n := parent.FirstChild; n != nil; n = n.NextSibling {
		if n == child || n.Type == html.TextNode && strings.TrimSpace(n.Data) == "" {
			continue
		}
		if !slices.Contains([]atom.Atom{atom.H1, atom.H2, atom.Header}, n.DataAtom) {
			return false
		}
	}
	return true
}

// margin tells whether an element is about the page instead of its subject.
func margin(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Nav, atom.Footer, atom.Aside, atom.Button, atom.Select, atom.Textarea, atom.Menu, atom.Head:
		return true
	}
	return false
}

// trimmed takes the margins out of a part.
func trimmed(part *html.Node) *html.Node {
	for n := part.FirstChild; n != nil; {
		next := n.NextSibling
		if n.Type == html.ElementNode && margin(n) {
			part.RemoveChild(n)
		} else {
			trimmed(n)
		}
		n = next
	}
	return part
}
