package process

// escape does what ESC and one or two characters ask for.
func (s *Screen) escape(mid, final byte) {
	a := &s.main.at
	switch {
	case mid == '(' || mid == ')':
		s.g[mid-'('] = final == '0'
	case mid != 0:
	case final == '7':
		s.save()
	case final == '8':
		s.restore()
	case final == 'D':
		s.feed()
	case final == 'E':
		a.col = 0
		s.feed()
	case final == 'H':
		s.tabs[a.col] = true
	case final == 'M':
		a.past = false
		if a.row == s.top {
			s.scroll(s.top, -1)
		} else {
			a.row = max(a.row-1, 0)
		}
	case final == 'c':
		s.reset()
	}
}

func (s *Screen) save() {
	s.main.saved = s.main.at
	s.main.saved.drawing = s.g[0]
}

func (s *Screen) restore() {
	s.main.at = s.main.saved
	s.g[0] = s.main.saved.drawing
}

// sequence does what a control sequence asks for.
func (s *Screen) sequence(mark byte, args []int, mid, final byte) {
	switch {
	case mark == '?' && mid == 0 && (final == 'h' || final == 'l'):
		for _, n := range args {
			s.private(n, final == 'h')
		}
	case mark == '>' && mid == 0 && final == 'c':
		s.say("\x1b[>0;0;0c")
	case mark == '?' && mid == 0 && (final == 'J' || final == 'K'): // selective erase: nothing is protected here
		s.erase(args, final)
	case mid == '!' && final == 'p':
		s.soft()
	case mark == 0 && mid == 0:
		if !s.move(args, final) && !s.edit(args, final) {
			s.ask(args, final)
		}
	}
}

// move does the sequences that move the cursor.
func (s *Screen) move(args []int, final byte) bool {
	a := &s.main.at
	n := max(arg(args, 0, 1), 1)
	rows := len(s.main.rows)
	row, col := a.row, a.col
	switch final {
	case 'A', 'F':
		row = max(row-n, s.edge(row >= s.top, s.top, 0))
	case 'B', 'e', 'E':
		row = min(row+n, s.edge(row < s.bottom, s.bottom-1, rows-1))
	case 'C', 'a':
		col += n
	case 'D':
		col -= n
	case 'G', '`':
		col = n - 1
	case 'd':
		row = s.line(n - 1)
	case 'H', 'f':
		row, col = s.line(n-1), max(arg(args, 1, 1), 1)-1
	case 'I':
		s.tab(min(n, s.cols))
		return true
	case 'Z':
		s.tab(-min(n, s.cols))
		return true
	case 's':
		s.save()
		return true
	case 'u':
		s.restore()
		return true
	default:
		return false
	}
	if final == 'E' || final == 'F' {
		col = 0
	}
	a.row, a.col, a.past = min(max(row, 0), rows-1), min(max(col, 0), s.cols-1), false
	return true
}

func (s *Screen) edge(inside bool, in, out int) int {
	if inside {
		return in
	}
	return out
}

// line returns the row that a program means.
func (s *Screen) line(n int) int {
	if s.origin {
		return min(n+s.top, s.bottom-1)
	}
	return n
}

// edit does the sequences that change what is there.
func (s *Screen) edit(args []int, final byte) bool {
	a := &s.main.at
	n := max(arg(args, 0, 1), 1)
	cells := s.main.rows[a.row].cells
	left := s.cols - a.col
	switch final {
	case 'J', 'K':
		s.erase(args, final)
	case 'X':
		s.clear(a.row, a.col, a.col+min(n, left))
	case 'P':
		n = min(n, left)
		s.clear(a.row, a.col, a.col+n)
		copy(cells[a.col:], cells[a.col+n:])
		s.clear(a.row, s.cols-n, s.cols)
	case '@':
		n = min(n, left)
		copy(cells[a.col+n:], cells[a.col:])
		s.clear(a.row, a.col, a.col+n)
	case 'L', 'M':
		if a.row >= s.top && a.row < s.bottom {
			if final == 'L' {
				n = -n
			}
			s.scroll(a.row, n)
			a.col = 0
		}
	case 'S':
		s.scroll(s.top, n)
	case 'T':
		s.scroll(s.top, -n)
	case 'b':
		for range min(n, s.cols) {
			if s.last != 0 {
				s.print(s.last)
			}
		}
		return true
	default:
		return false
	}
	a.past = false
	return true
}

func (s *Screen) erase(args []int, final byte) {
	a := s.main.at
	from, to := 0, s.cols
	switch arg(args, 0, 0) {
	case 0:
		from = a.col
	case 1:
		to = a.col + 1
	case 2:
	case 3:
		if final == 'J' {
			s.above = nil
		}
		return
	default:
		return
	}
	s.clear(a.row, from, to)
	if final == 'K' {
		return
	}
	for i := range s.main.rows {
		if i < a.row && from == 0 || i > a.row && to == s.cols {
			s.clear(i, 0, s.cols)
		}
	}
}

// ask does what is left: regions, modes, tab stops, and questions.
func (s *Screen) ask(args []int, final byte) {
	a := &s.main.at
	switch final {
	case 'r':
		top, bottom := max(arg(args, 0, 1), 1)-1, arg(args, 1, 0)
		if bottom == 0 || bottom > len(s.main.rows) {
			bottom = len(s.main.rows)
		}
		if top < bottom-1 {
			s.top, s.bottom = top, bottom
			*a = cursor{row: s.line(0), drawing: a.drawing}
		}
	case 'h', 'l':
		for _, n := range args {
			switch n {
			case 4:
				s.insert = final == 'h'
			case 20:
				s.newline = final == 'h'
			}
		}
	case 'g':
		switch arg(args, 0, 0) {
		case 0:
			s.tabs[a.col] = false
		case 3:
			clear(s.tabs)
		}
	case 'n':
		switch arg(args, 0, 0) {
		case 5:
			s.say("\x1b[0n")
		case 6:
			row := a.row
			if s.origin {
				row -= s.top
			}
			s.say("\x1b[%d;%dR", row+1, a.col+1)
		}
	case 'c':
		if arg(args, 0, 0) == 0 {
			s.say("\x1b[?6c")
		}
	}
}

// private switches the modes of DEC and xterm.
func (s *Screen) private(mode int, on bool) {
	switch mode {
	case 6:
		s.origin = on
		s.main.at.row, s.main.at.col, s.main.at.past = s.line(0), 0, false
	case 7:
		s.wrap = on
	case 25:
		s.hidden = !on
	case 47, 1047, 1049:
		if on == s.alt {
			return
		}
		if on && mode == 1049 {
			s.save()
		}
		at := s.main.at
		s.main, s.other, s.alt = s.other, s.main, on
		if on {
			s.main.empty()
		}
		s.main.at = at
		if !on && mode == 1049 {
			s.restore()
		}
	case 1048:
		if on {
			s.save()
		} else {
			s.restore()
		}
	}
}

// soft resets the modes, and leaves what is there.
func (s *Screen) soft() {
	s.wrap, s.origin, s.insert, s.hidden, s.g, s.shifted = true, false, false, false, [2]bool{}, 0
	s.top, s.bottom = 0, len(s.main.rows)
	s.main.saved = cursor{}
}
