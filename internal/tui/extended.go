package tui

import (
	"bytes"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// What markdown of models has beyond CommonMark: struck text and tables. The library's own extensions cost 2,000 allocations before
// main, in every process.

// kindStruck and kindTable are made at their first use: they count up in a list of the library.
var (
	kindStruck = sync.OnceValue(func() ast.NodeKind { return ast.NewNodeKind("Struck") })
	kindTable  = sync.OnceValue(func() ast.NodeKind { return ast.NewNodeKind("Table") })
	kindCell   = sync.OnceValue(func() ast.NodeKind { return ast.NewNodeKind("Cell") })
)

// struck is text between ~~.
type struck struct{ ast.BaseInline }

func (n *struck) Kind() ast.NodeKind         { return kindStruck() }
func (n *struck) Dump(src []byte, level int) { ast.DumpHelper(n, src, level, nil, nil) }

// strikeParser reads ~~text~~.
type strikeParser struct{}

func (strikeParser) Trigger() []byte { return []byte{'~'} }

func (p strikeParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	rest, at := block.PeekLine()
	d := parser.ScanDelimiter(rest, before, 2, p)
	if d == nil || d.OriginalLength != 2 || before == '~' {
		return nil
	}
	d.Segment = at.WithStop(at.Start + d.OriginalLength)
	block.Advance(d.OriginalLength)
	pc.PushDelimiter(d)
	return d
}

func (strikeParser) IsDelimiter(b byte) bool { return b == '~' }
func (strikeParser) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}
func (strikeParser) OnMatch(int) ast.Node { return &struck{} }

// table is a table. Its children are cells, row by row, the first row its header; short rows are filled with empty cells.
type table struct {
	ast.BaseBlock
	columns int
}

func (n *table) Kind() ast.NodeKind         { return kindTable() }
func (n *table) Dump(src []byte, level int) { ast.DumpHelper(n, src, level, nil, nil) }

// cell is one cell.
type cell struct{ ast.BaseBlock }

func (n *cell) Kind() ast.NodeKind         { return kindCell() }
func (n *cell) Dump(src []byte, level int) { ast.DumpHelper(n, src, level, nil, nil) }

// tableParser makes tables of paragraphs whose second line is one of dashes between bars.
type tableParser struct{}

func (tableParser) Transform(p *ast.Paragraph, r text.Reader, _ parser.Context) {
	lines := p.Lines()
	if lines.Len() < 2 {
		return
	}
	src := r.Source()
	second := lines.At(1)
	columns := dashes(second.Value(src))
	header := fields(lines.At(0), src)
	if columns == 0 || len(header) != columns {
		return
	}
	t := &table{columns: columns}
	for i := range lines.Len() {
		if i == 1 {
			continue
		}
		row := fields(lines.At(i), src)
		for c := range columns {
			n := &cell{}
			if c < len(row) {
				part := row[c]
				if c+1 == columns { // what has no column is not left out
					part = part.WithStop(row[len(row)-1].Stop)
				}
				n.Lines().Append(part)
			}
			t.AppendChild(t, n)
		}
	}
	p.Parent().ReplaceChild(p.Parent(), p, t)
}

// dashes returns how many columns a line of dashes between bars has, 0 for another line.
func dashes(l []byte) int {
	l = bytes.TrimSpace(l)
	if !bytes.ContainsRune(l, '|') || len(bytes.Trim(l, "|-: \t")) > 0 {
		return 0
	}
	parts := bytes.Split(bytes.TrimSuffix(bytes.TrimPrefix(l, []byte("|")), []byte("|")), []byte("|"))
	for _, part := range parts {
		part = bytes.TrimSpace(part)
		part = bytes.TrimSuffix(bytes.TrimPrefix(part, []byte(":")), []byte(":"))
		if len(part) == 0 || len(bytes.Trim(part, "-")) > 0 {
			return 0
		}
	}
	return len(parts)
}

// fields cuts a row at its bars: those that are not escaped and not in code.
func fields(s text.Segment, src []byte) []text.Segment {
	s = s.TrimLeftSpace(src)
	s = s.TrimRightSpace(src)
	l := s.Value(src)
	var out []text.Segment
	begin, code := 0, false
	if len(l) > 0 && l[0] == '|' {
		begin = 1
	}
	add := func(to int) {
		f := text.NewSegment(s.Start+begin, s.Start+to)
		f = f.TrimLeftSpace(src)
		out = append(out, f.TrimRightSpace(src))
		begin = to + 1
	}
	for i := begin; i < len(l); i++ {
		switch {
		case l[i] == '\\':
			i++
		case l[i] == '`':
			code = !code
		case l[i] == '|' && !code:
			add(i)
		}
	}
	if begin < len(l) {
		add(len(l))
	}
	return out
}
