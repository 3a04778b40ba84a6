package tui

import (
	"fmt"
	"strings"

	"hermes/internal/chat"
)

// banner is the line that stands over a chat in YOLO mode.
func (l Look) banner() string { return l.yolo(chat.YoloBanner) }

// yolo writes a text about YOLO for terminals that do not show the sign.
func (l Look) yolo(text string) string {
	if l.Wide || !strings.Contains(text, "YOLO") {
		return text
	}
	return strings.NewReplacer("⚠", "!", "⚡", "!", "—", "-").Replace(text)
}

// part is a piece of the status line. Those of the lowest rank give way first on a narrow screen; rank 0 never does.
type part struct {
	text string
	st   style
	rank int
}

// statusLine returns the line at the foot of a chat, in at most cols columns. The mark of YOLO comes first: it is there at every
// width.
func statusLine(s chat.Status, cols int, look Look) line {
	sep := look.pick(" · ", " - ")
	parts := statusParts(s, look)
	for rank := 9; ; rank-- {
		var out line
		for i, p := range parts {
			if i > 0 {
				out = append(out, span{sep, faint})
			}
			out = append(out, span{p.text, p.st})
		}
		if out.cols() <= cols || rank == 0 {
			return look.clip(out, cols)
		}
		kept := parts[:0]
		for _, p := range parts {
			if p.rank < rank {
				kept = append(kept, p)
			}
		}
		parts = kept
	}
}

func statusParts(s chat.Status, look Look) []part {
	var out []part
	add := func(text string, st style, rank int) {
		if text != "" {
			out = append(out, part{text, st, rank})
		}
	}
	if s.Yolo {
		out = append(out, part{look.yolo(chat.YoloMark), bad | bold, 0})
	}
	model := clean(s.Model)
	if model == "" {
		model = "no model"
	}
	add(look.clip(styled(model, normal), 32).String(), normal, 2)
	if s.Limit > 0 {
		st := faint
		if s.Context*10 >= s.Limit*8 {
			st = caution
		}
		add(fmt.Sprintf("%s/%s (%d%%)", count(s.Context), count(s.Limit), s.Context*100/s.Limit), st, 4)
	} else if s.Context > 0 {
		add(count(s.Context)+" tokens", faint, 4)
	}
	switch {
	case s.Priced && (s.Dollars > 0 || s.Output > 0):
		add(dollars(s.Dollars), faint, 5)
	case s.Dollars > 0:
		add("at least "+dollars(s.Dollars), faint, 5)
	}
	if s.Backend != "" {
		switch {
		case s.Unopened:
			add(clean(s.Backend)+" (not opened yet)", faint, 1)
		case s.Boundary:
			add(clean(s.Backend)+" (boundary)", good, 1)
		default:
			add(clean(s.Backend)+" (no boundary)", caution, 1)
		}
	}
	if s.Running > 0 {
		add(fmt.Sprintf("%d left running", s.Running), caution, 3)
	}
	if s.Background > 0 {
		add(fmt.Sprintf("%d in the background", s.Background), faint, 3)
	}
	if s.Profile != "" {
		add(clean(s.Profile), faint, 6)
	}
	add(look.clip(styled(clean(s.Title), faint), 40).String(), faint, 7)
	return out
}

func dollars(d float64) string {
	switch {
	case d == 0:
		return "$0"
	case d < 0.01:
		return fmt.Sprintf("$%.4f", d)
	}
	return fmt.Sprintf("$%.2f", d)
}

// welcome is what a new conversation begins with.
type welcome struct{ status *chat.Status }

func (w welcome) lines(v view) []line {
	s := w.status
	out := []line{styled("Hermes", bold|accent), {}}
	row := func(key, text string, st style) {
		if text != "" {
			out = append(out, wrap(styled(text, st), v.cols, line{{fmt.Sprintf("  %-9s ", key), faint}}, plainLine(strings.Repeat(" ", 12)))...)
		}
	}
	row("model", clean(s.Model), normal)
	if s.Backend != "" {
		switch {
		case s.Unopened && s.Yolo:
			row("commands", "run in "+clean(s.Backend)+", not opened yet, and nothing is asked about", bad)
		case s.Unopened:
			row("commands", "run in "+clean(s.Backend)+", not opened yet: what it contains is measured with the first one", normal)
		case s.Boundary:
			row("commands", "run in "+clean(s.Backend)+", a boundary: they do not reach this machine", good)
		case s.Yolo:
			row("commands", "run with backend "+clean(s.Backend)+", no boundary, and nothing is asked about", bad)
		default:
			row("commands", "run with backend "+clean(s.Backend)+", no boundary; what could do harm is asked about first", caution)
		}
	}
	row("in", clean(v.look.fold(s.Dir)), normal)
	out = append(out, line{})
	return append(out, wrap(styled("Type a message. /help lists the commands, !command runs one of yours, @ names a file.", faint), v.cols, nil, nil)...)
}
