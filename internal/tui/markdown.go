package tui

import (
	"strconv"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// grammar reads markdown as models write it: CommonMark with tables and struck text. Left out is what would let a later line change
// how earlier ones are read (references to links, headings by underlining), and HTML, which is shown as it is written.
var grammar = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(parser.NewListParser(), 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewBlockquoteParser(), 800),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(parser.NewLinkParser(), 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(parser.NewEmphasisParser(), 500),
			util.Prioritized(strikeParser{}, 600),
		),
		parser.WithParagraphTransformers(util.Prioritized(tableParser{}, 200)),
	)
})

// deepest is how deep lists and quotations are shown nested; what is deeper stands at that depth.
const deepest = 8

// markdown returns a text as lines of at most cols columns.
func markdown(src string, cols int, look Look) []line {
	src = strings.ReplaceAll(src, "\r\n", "\n")
	doc := grammar().Parse(text.NewReader([]byte(src)))
	p := painter{src: []byte(src), cols: max(1, cols), look: look}
	p.blocks(doc, nil, nil, 0)
	for i, l := range p.out { // bars and rules where there is hardly room for them; text is never cut
		p.out[i] = look.clip(l, p.cols)
	}
	return p.out
}

// painter turns a document into lines.
type painter struct {
	src  []byte
	cols int
	look Look
	out  []line
}

// blocks writes the children of a block. The first line begins with first, all others with rest.
func (p *painter) blocks(parent ast.Node, first, rest line, depth int) {
	head := first
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if n != parent.FirstChild() && !tight(parent) {
			p.out = append(p.out, trimRight(append(line(nil), rest...)))
		}
		p.block(n, head, rest, depth)
		head = rest
	}
	if !parent.HasChildren() && len(first) > 0 {
		p.out = append(p.out, trimRight(append(line(nil), first...)))
	}
}

// tight tells whether the blocks in a block stand without blank lines between them.
func tight(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.List:
		return n.IsTight
	case *ast.ListItem:
		list, ok := n.Parent().(*ast.List)
		return ok && list.IsTight
	}
	return false
}

func (p *painter) block(n ast.Node, first, rest line, depth int) {
	if depth > deepest {
		first, rest = nil, nil
	}
	switch n := n.(type) {
	case *ast.Heading:
		p.heading(n, first, rest)
	case *ast.ThematicBreak:
		rule := strings.Repeat(p.look.pick("─", "-"), max(1, min(40, p.cols-first.cols())))
		p.out = append(p.out, append(append(line(nil), first...), span{rule, faint}))
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		p.code(n, first, rest)
	case *ast.Blockquote:
		bar := span{p.look.pick("│ ", "> "), faint}
		p.blocks(n, append(first[:len(first):len(first)], bar), append(rest[:len(rest):len(rest)], bar), depth+1)
	case *ast.List:
		p.list(n, first, rest, depth)
	case *table:
		p.table(n, first, rest)
	default:
		p.out = append(p.out, p.flow(p.inline(n, normal), first, rest)...)
	}
}

func (p *painter) heading(n *ast.Heading, first, rest line) {
	st := bold
	if n.Level <= 2 {
		st |= accent
	}
	text := p.inline(n, st)
	if !p.look.Color {
		text = append(line{{strings.Repeat("#", n.Level) + " ", st}}, text...)
	}
	p.out = append(p.out, p.flow(text, first, rest)...)
}

func (p *painter) list(list *ast.List, first, rest line, depth int) {
	number := list.Start
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		sign := p.look.pick("•", "-") + " "
		if list.IsOrdered() {
			sign = strconv.Itoa(number) + string(list.Marker) + " "
			number++
		}
		if item != list.FirstChild() {
			first = rest
			if !list.IsTight {
				p.out = append(p.out, trimRight(append(line(nil), rest...)))
			}
		}
		p.blocks(item, append(first[:len(first):len(first)], span{sign, accent}),
			append(rest[:len(rest):len(rest)], span{strings.Repeat(" ", width(sign)), normal}), depth+1)
	}
}

// code writes a block of code: indented, so that it can be told from text without colours, and with nothing in front of it that
// would come along when it is copied. Lines that do not fit go on in the next one.
func (p *painter) code(n ast.Node, first, rest line) {
	const margin = "  "
	head := append(first[:len(first):len(first)], span{margin, normal})
	next := append(rest[:len(rest):len(rest)], span{margin, normal})
	lines := n.Lines()
	for i := range lines.Len() {
		at := lines.At(i)
		text := clean(strings.TrimRight(string(at.Value(p.src)), "\r\n"))
		p.out = append(p.out, chop(line{{text, source}}, p.cols, head, next)...)
		head = next
	}
	if lines.Len() == 0 {
		p.out = append(p.out, trimRight(append(line(nil), first...)))
	}
}

// flow wraps text that may hold breaks.
func (p *painter) flow(text line, first, rest line) []line {
	var out []line
	begin, cols := 0, min(p.cols, widest)
	for i, s := range text {
		if s.text == "\n" {
			out = append(out, wrap(text[begin:i], cols, first, rest)...)
			begin, first = i+1, rest
		}
	}
	return append(out, wrap(text[begin:], cols, first, rest)...)
}

// inline returns the text in a block, or in a part of one. A span "\n" is a break.
func (p *painter) inline(parent ast.Node, st style) line {
	var out line
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			out = append(out, span{clean(unescape(n.Segment.Value(p.src), n.IsRaw())), st})
			if n.HardLineBreak() {
				out = append(out, span{"\n", st})
			} else if n.SoftLineBreak() {
				out = append(out, span{" ", st})
			}
		case *ast.String:
			out = append(out, span{clean(string(n.Value)), st})
		case *ast.CodeSpan:
			out = append(out, p.codeSpan(n, st))
		case *ast.Emphasis:
			if n.Level > 1 {
				out = append(out, p.inline(n, st|bold)...)
			} else {
				out = append(out, p.inline(n, st|italic)...)
			}
		case *struck:
			out = append(out, p.inline(n, st|strike)...)
		case *ast.Link:
			out = append(out, p.link(p.inline(n, st|underline), string(n.Destination), st)...)
		case *ast.Image:
			out = append(out, p.link(append(line{{"image: ", st}}, p.inline(n, st)...), string(n.Destination), st)...)
		case *ast.AutoLink:
			out = append(out, span{clean(string(n.Label(p.src))), st | underline})
		default:
			out = append(out, p.inline(n, st)...)
		}
	}
	return out
}

// link writes where a link goes beside its text, unless the text says just that: a text must not hide another host.
func (p *painter) link(text line, target string, st style) line {
	target = clean(unescape([]byte(target), false))
	said := strings.TrimSpace(text.String())
	if said == target || "mailto:"+said == target {
		return text
	}
	if said == "" {
		return append(text, span{target, st | underline})
	}
	return append(text, span{" (" + target + ")", faint | st&bold})
}

func (p *painter) codeSpan(n ast.Node, st style) span {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.WriteString(strings.ReplaceAll(string(t.Segment.Value(p.src)), "\n", " "))
		}
	}
	text := clean(b.String())
	if !p.look.Color {
		text = "`" + text + "`"
	}
	return span{text, source | st&^0xff}
}

// unescape reads what stands for other characters.
func unescape(s []byte, raw bool) string {
	if raw {
		return string(s)
	}
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(s))))
}
