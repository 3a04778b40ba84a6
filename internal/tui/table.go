package tui

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// table writes a table: in columns if each gets a width that words fit into, else row by row, a line for each cell.
func (p *painter) table(t *table, first, rest line) {
	var rows [][]line
	at := 0
	for n := t.FirstChild(); n != nil; n, at = n.NextSibling(), at+1 {
		if at%t.columns == 0 {
			rows = append(rows, nil)
		}
		st := normal
		if len(rows) == 1 {
			st = bold
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], p.cell(n, st))
	}
	widths, ok := spread(rows, p.cols-rest.cols())
	if !ok {
		p.records(rows, first, rest)
		return
	}
	for i, row := range rows {
		p.row(row, widths, first, rest)
		first = rest
		if i == 0 {
			rule := make([]string, len(widths))
			for c, w := range widths {
				rule[c] = strings.Repeat(p.look.pick("─", "-"), w)
			}
			p.out = append(p.out, append(append(line(nil), rest...), span{strings.Join(rule, "  "), faint}))
		}
	}
}

// cell returns the text of a cell, in one line.
func (p *painter) cell(n ast.Node, st style) line {
	out := p.inline(n, st)
	for i := range out {
		if out[i].text == "\n" {
			out[i].text = " "
		}
	}
	return out
}

const between = 2 // columns between two columns of a table

// spread shares out the width of a page among columns, and tells whether it is enough.
func spread(rows [][]line, cols int) (widths []int, ok bool) {
	if len(rows) == 0 {
		return nil, false
	}
	widths = make([]int, len(rows[0]))
	total := between * (len(widths) - 1)
	for c := range widths {
		for _, row := range rows {
			widths[c] = max(widths[c], row[c].cols(), 1)
		}
		total += widths[c]
	}
	const least = 8
	for total > cols { // the widest gives way
		widest := 0
		for c := range widths {
			if widths[c] > widths[widest] {
				widest = c
			}
		}
		if widths[widest] <= least {
			return nil, false
		}
		take := 1
		if over := total - cols; over > 64 {
			take = min(over/2, widths[widest]-least)
		}
		widths[widest] -= take
		total -= take
	}
	return widths, true
}

func (p *painter) row(row []line, widths []int, first, rest line) {
	cells := make([][]line, len(row))
	height := 1
	for c := range row {
		cells[c] = wrap(row[c], widths[c], nil, nil)
		height = max(height, len(cells[c]))
	}
	for y := range height {
		out := append(line(nil), rest...)
		if y == 0 {
			out = append(line(nil), first...)
		}
		for c := range cells {
			used := 0
			if y < len(cells[c]) {
				out = append(out, cells[c][y]...)
				used = cells[c][y].cols()
			}
			if c+1 < len(cells) {
				out = append(out, span{strings.Repeat(" ", widths[c]-used+between), normal})
			}
		}
		p.out = append(p.out, trimRight(out))
	}
}

// records writes each row as lines «header: cell».
func (p *painter) records(rows [][]line, first, rest line) {
	for i, row := range rows[1:] {
		if i > 0 {
			p.out = append(p.out, trimRight(append(line(nil), rest...)))
		}
		for c, text := range row {
			head := append(append(line(nil), rows[0][c]...), span{": ", bold})
			p.out = append(p.out, wrap(append(head, text...), p.cols, first, append(rest[:len(rest):len(rest)], span{"  ", normal}))...)
			first = rest
		}
	}
	if len(rows) == 1 {
		for c := range rows[0] {
			p.out = append(p.out, wrap(rows[0][c], p.cols, first, rest)...)
			first = rest
		}
	}
}
