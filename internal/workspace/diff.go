package workspace

import (
	"fmt"
	"strings"
)

// maxEdits bounds the work on one diff. Texts that differ in more are told as replaced in the middle.
const maxEdits = 4000

// Unified returns the difference of two texts in the unified format, with three lines around, and how many lines were added
// and deleted. It is empty for equal texts.
func Unified(from, to, before, after string) (diff string, added, deleted int) {
	if before == after {
		return "", 0, 0
	}
	a, b := lines(before), lines(after)
	ops := edits(a, b)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", from, to)
	const around = 3
	for i := 0; i < len(ops); {
		if ops[i].kind == ' ' {
			i++
			continue
		}
		start := max(0, i-around)
		end, quiet := i, 0 // the hunk ends where more than twice around lines are equal
		for j := i; j < len(ops) && quiet <= 2*around; j++ {
			if ops[j].kind == ' ' {
				quiet++
			} else {
				quiet, end = 0, j+1
			}
		}
		end = min(len(ops), end+around)
		hunk(&out, a, b, ops[start:end], &added, &deleted)
		i = end
	}
	return out.String(), added, deleted
}

func hunk(out *strings.Builder, a, b []string, ops []op, added, deleted *int) {
	first := ops[0]
	var old, new int
	for _, o := range ops {
		switch o.kind {
		case ' ':
			old, new = old+1, new+1
		case '-':
			old, *deleted = old+1, *deleted+1
		default:
			new, *added = new+1, *added+1
		}
	}
	fmt.Fprintf(out, "@@ -%s +%s @@\n", span(first.a, old), span(first.b, new))
	for _, o := range ops {
		text := ""
		if o.kind == '+' {
			text = b[o.b]
		} else {
			text = a[o.a]
		}
		out.WriteByte(o.kind)
		out.WriteString(strings.TrimSuffix(text, "\n"))
		out.WriteByte('\n')
		if !strings.HasSuffix(text, "\n") {
			out.WriteString("\\ No newline at end of file\n")
		}
	}
}

func span(start, n int) string {
	if n == 0 {
		return fmt.Sprintf("%d,0", start)
	}
	if n == 1 {
		return fmt.Sprint(start + 1)
	}
	return fmt.Sprintf("%d,%d", start+1, n)
}

// lines cuts a text after each line end.
func lines(s string) []string {
	out := strings.SplitAfter(s, "\n")
	if out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// op is one line of a difference: kept, deleted or added; where it is in both texts.
type op struct {
	kind byte
	a, b int
}

// edits finds a short way from a to b: Myers' algorithm on what is between the equal ends.
func edits(a, b []string) []op {
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	out := make([]op, 0, len(a)+len(b)-head-tail)
	for i := range head {
		out = append(out, op{' ', i, i})
	}
	for _, o := range middle(a[head:len(a)-tail], b[head:len(b)-tail]) {
		out = append(out, op{o.kind, o.a + head, o.b + head})
	}
	for i := range tail {
		out = append(out, op{' ', len(a) - tail + i, len(b) - tail + i})
	}
	return out
}

func middle(a, b []string) []op {
	limit := min(len(a)+len(b), maxEdits)
	v := make([]int, 2*limit+3)
	at := func(k int) *int { return &v[k+limit+1] }
	var trace [][]int
	for d := 0; d <= limit; d++ {
		if d*d/2 > 8<<20 { // the trace would take too much memory
			break
		}
		trace = append(trace, append([]int(nil), v[limit+1-d-1:limit+1+d+2]...))
		for k := -d; k <= d; k += 2 {
			x := *at(k - 1) + 1
			if k == -d || k != d && *at(k - 1) < *at(k + 1) {
				x = *at(k + 1)
			}
			y := x - k
			for x < len(a) && y < len(b) && y >= 0 && a[x] == b[y] {
				x, y = x+1, y+1
			}
			*at(k) = x
			if x >= len(a) && y >= len(b) {
				return back(a, b, trace, d)
			}
		}
	}
	out := make([]op, 0, len(a)+len(b))
	for i := range a {
		out = append(out, op{'-', i, 0})
	}
	for i := range b {
		out = append(out, op{'+', len(a), i})
	}
	return out
}

// back reads the way from its end. trace[d] holds what was reached with fewer than d edits, for k from -d-1 to d+1.
func back(a, b []string, trace [][]int, d int) []op {
	var out []op
	x, y := len(a), len(b)
	for ; d >= 0; d-- {
		v := trace[d]
		at := func(k int) int { return v[k+d+1] }
		k := x - y
		prev := k - 1
		if k == -d || k != d && at(k-1) < at(k+1) {
			prev = k + 1
		}
		px := at(prev)
		if d == 0 {
			px = 0
		}
		py := px - prev
		if d == 0 {
			py = 0
		}
		for x > px && y > py {
			x, y = x-1, y-1
			out = append(out, op{' ', x, y})
		}
		if d > 0 {
			if x == px {
				y--
				out = append(out, op{'+', x, y})
			} else {
				x--
				out = append(out, op{'-', x, y})
			}
		}
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}
