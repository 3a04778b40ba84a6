package htmltext

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// cleaner takes out of one page what is not shown, and keeps it apart.
type cleaner struct {
	base    *url.URL
	sheet   sheet
	ground  rgb // behind the text, where no element says otherwise
	known   bool
	lang    string
	refresh string
	hidden  []Hidden
}

func (c *cleaner) hide(kind, text string) {
	if text = strings.TrimSpace(text); text != "" {
		c.hidden = append(c.hidden, Hidden{kind, text})
	}
}

// newCleaner looks through a page for what counts for all of it: its base, its style sheets, its language.
func newCleaner(doc *html.Node, base string) *cleaner {
	c := &cleaner{}
	if u, err := url.Parse(base); err == nil && u.Host != "" {
		c.base = u
	}
	outside, rebased := false, false
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode || n.Namespace != "" {
			continue
		}
		switch n.DataAtom {
		case atom.Html:
			c.lang, _ = attr(n, "lang")
		case atom.Base:
			if href, ok := attr(n, "href"); ok && !rebased {
				if u, err := url.Parse(resolve(c.base, href)); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
					c.base = u
				}
				rebased = true
			}
		case atom.Style:
			c.sheet.add(textOf(n))
		case atom.Link:
			rel, _ := attr(n, "rel")
			outside = outside || strings.Contains(strings.ToLower(rel), "stylesheet")
		case atom.Meta:
			c.meta(n)
		}
	}
	c.ground, c.known = white, !outside // a page without other style sheets is white
	return c
}

// meta keeps what the head says of the page.
func (c *cleaner) meta(n *html.Node) {
	content, _ := attr(n, "content")
	if equiv, _ := attr(n, "http-equiv"); strings.EqualFold(strings.TrimSpace(equiv), "refresh") {
		if at := strings.IndexAny(content, ";,"); at >= 0 {
			rest := strings.TrimSpace(content[at+1:])
			if len(rest) > 4 && strings.EqualFold(rest[:3], "url") {
				rest = strings.TrimLeft(rest[3:], " \t=")
			}
			c.refresh = resolve(c.base, strings.Trim(rest, `'" `))
		}
		return
	}
	name, _ := attr(n, "name")
	if property, _ := attr(n, "property"); name == "" {
		name = property
	}
	switch name = strings.ToLower(name); name {
	case "", "viewport", "robots", "generator", "theme-color", "referrer", "format-detection", "color-scheme", "csrf-token", "csrf-param":
		return
	}
	if strings.ContainsAny(content, " \u3000") || len(content) > 200 { // a sentence, not a number or a name
		c.hide("meta", content)
	}
}

// title returns the page's title.
func (c *cleaner) title(doc *html.Node) string {
	if n := find(doc, atom.Title); n != nil {
		return squeeze(c.seen(textOf(n)))
	}
	return ""
}

// look is what an element has from those above it.
type look struct {
	ground rgb
	known  bool
	deep   int // lists and quotations it is in
}

// maxDeep is how deep lists and quotations may be in each other: each repeats its marks in every line.
const maxDeep = 12

// clean takes what is not shown out of a document.
func (c *cleaner) clean(doc *html.Node) { c.children(doc, look{ground: c.ground, known: c.known}) }

func (c *cleaner) children(n *html.Node, l look) {
	for child := n.FirstChild; child != nil; {
		next := child.NextSibling
		c.node(child, l)
		child = next
	}
}

func (c *cleaner) node(n *html.Node, l look) {
	switch n.Type {
	case html.CommentNode:
		c.hide("comment", n.Data)
		remove(n)
	case html.TextNode:
		n.Data = c.seen(n.Data)
	case html.ElementNode:
		c.element(n, l)
	case html.DoctypeNode:
	default:
		remove(n)
	}
}

func (c *cleaner) element(n *html.Node, l look) {
	if silent(n) {
		remove(n)
		return
	}
	if kind := c.concealed(n, &l); kind != "" {
		c.conceal(n, kind)
		remove(n)
		return
	}
	c.spoken(n)
	if n.DataAtom == atom.Img || n.DataAtom == atom.Input {
		remove(n)
		return
	}
	switch n.DataAtom {
	case atom.Blockquote, atom.Ul, atom.Ol, atom.Dl:
		if l.deep++; l.deep > maxDeep {
			n.Data, n.DataAtom = "div", atom.Div
		}
	}
	c.children(n, l)
	c.strip(n)
}

// silent tells whether an element holds no text for anybody: programs, styles, what is embedded.
func silent(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Link, atom.Meta, atom.Base, atom.Embed, atom.Source, atom.Track, atom.Param, atom.Rp:
		return true
	}
	return false
}

// concealed tells why an element is not shown, "" if it is, and what its text stands on.
func (c *cleaner) concealed(n *html.Node, l *look) string {
	switch n.DataAtom {
	case atom.Head, atom.Title:
		if n.Namespace == "" {
			return ""
		}
	case atom.Template, atom.Noscript, atom.Noembed, atom.Noframes, atom.Datalist:
		return n.Data
	case atom.Iframe, atom.Object, atom.Audio, atom.Video, atom.Canvas, atom.Applet:
		return "fallback"
	case atom.Svg:
		return "svg"
	case atom.Dialog:
		if _, open := attr(n, "open"); !open {
			return "dialog"
		}
	case atom.Input:
		if kind, _ := attr(n, "type"); strings.EqualFold(kind, "hidden") {
			return "input"
		}
	}
	for _, a := range n.Attr {
		switch {
		case a.Key == "hidden" && !strings.EqualFold(a.Val, "false"), a.Key == "popover":
			return a.Key
		case a.Key == "aria-hidden" && !strings.EqualFold(strings.TrimSpace(a.Val), "false"):
			return a.Key
		case a.Key == "class" && classHides(a.Val):
			return "class"
		}
	}
	return c.styled(n, l)
}

// styled tells whether an element's style hides it.
func (c *cleaner) styled(n *html.Node, l *look) string {
	style := c.sheet.style(n)
	if inline, ok := attr(n, "style"); ok {
		own := parseStyle(inline)
		if style == nil {
			style = own
		} else {
			for name, value := range own {
				style[name] = value
			}
		}
	}
	background, ink := style["background-color"], style["color"]
	if old, ok := attr(n, "bgcolor"); ok && background == "" {
		background = strings.ToLower(old)
	}
	if old, ok := attr(n, "color"); ok && ink == "" && n.DataAtom == atom.Font {
		ink = strings.ToLower(old)
	}
	if background != "" {
		ground, ok := parseColor(background)
		if !ok || ground.alpha > 0.5 {
			l.ground, l.known = ground, ok
		}
	}
	if property := style.hides(); property != "" {
		return "style: " + property
	}
	if size, ok := attr(n, "size"); ok && n.DataAtom == atom.Font && strings.HasPrefix(strings.TrimSpace(size), "-9") {
		return "style: font-size"
	}
	if paint, ok := parseColor(ink); ok && ink != "" && l.known && paint.near(l.ground) {
		return "style: color"
	}
	return ""
}

// classHides tells whether a class of the common frameworks hides an element from those who look at the page.
func classHides(class string) bool {
	hides, responsive := false, false
	for name := range strings.FieldsSeq(class) {
		switch name {
		case "sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screen-reader-only", "screenreader-only", "a11y-hidden", "element-invisible":
			return true
		case "d-none", "hidden", "is-hidden", "invisible":
			hides = true
		}
		// "hidden md:block", "d-none d-lg-flex": shown on wide screens
		responsive = responsive || strings.Contains(name, ":") || strings.HasPrefix(name, "d-") && name != "d-none"
	}
	return hides && !responsive
}

// conceal keeps what an element holds as one hidden text, and what is in its attributes and comments.
func (c *cleaner) conceal(n *html.Node, kind string) {
	var b strings.Builder
	if n.DataAtom == atom.Input {
		value, _ := attr(n, "value")
		b.WriteString(value)
	}
	c.spoken(n)
	for d := range n.Descendants() {
		switch {
		case d.Type == html.CommentNode:
			c.hide("comment", d.Data)
		case d.Type == html.ElementNode:
			c.spoken(d)
			b.WriteByte(' ')
		case d.Type == html.TextNode && d.Parent != nil && !silent(d.Parent):
			b.WriteString(d.Data)
		}
	}
	text := b.String()
	if strings.Contains(text, "<") && (n.DataAtom == atom.Noscript || n.DataAtom == atom.Iframe || n.DataAtom == atom.Noembed || n.DataAtom == atom.Noframes) {
		text = tagless(text) // these are kept as text by the parser
	}
	c.hide(kind, squeeze(text))
}

// tagless leaves the words of a text with marks in it, comments and attributes included.
func tagless(text string) string {
	z := html.NewTokenizer(strings.NewReader(text))
	var b strings.Builder
	for {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.TextToken, html.CommentToken:
			b.WriteString(z.Token().Data + " ")
		case html.StartTagToken, html.SelfClosingTagToken:
			for _, a := range z.Token().Attr {
				if a.Key == "alt" || a.Key == "title" {
					b.WriteString(a.Val + " ")
				}
			}
		}
	}
}

// spoken keeps the texts that an element's attributes hold for those who listen, or point at it.
func (c *cleaner) spoken(n *html.Node) {
	for _, a := range n.Attr {
		switch a.Key {
		case "alt", "title", "aria-label", "aria-description", "aria-placeholder", "aria-roledescription", "aria-valuetext", "placeholder", "summary", "label", "abbr":
			c.hide(a.Key, a.Val)
		}
	}
}

// strip leaves an element only the attributes that markdown is made of.
func (c *cleaner) strip(n *html.Node) {
	var keep []html.Attribute
	for _, a := range n.Attr {
		switch {
		case a.Key == "href" && n.DataAtom == atom.A:
			if a.Val = resolve(c.base, a.Val); a.Val != "" && c.seen(a.Val) == a.Val {
				keep = append(keep, a)
			}
		case a.Key == "start" && n.DataAtom == atom.Ol && len(a.Val) < 6: // cells that span others go: a table of 999 times 999
			keep = append(keep, a)
		case a.Key == "class" && strings.HasPrefix(a.Val, "language-") && len(a.Val) < 40 && !strings.ContainsAny(a.Val, " `\n"):
			keep = append(keep, a)
		case a.Key == "role" && a.Val == "main":
			keep = append(keep, a)
		}
	}
	n.Attr = keep
	if n.DataAtom == atom.A && len(keep) == 0 {
		n.Data, n.DataAtom = "span", atom.Span // its text stays
	}
}

func remove(n *html.Node) {
	if n.Parent != nil {
		n.Parent.RemoveChild(n)
	}
}

// textOf returns all text in a node.
func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}
