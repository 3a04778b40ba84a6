package tui

// place is where the screen begins in the transcript, while somebody reads back. Otherwise it follows what comes.
type place struct{ entry, line int }

// full returns the lines of an entry with the empty line that parts it from the one before.
func (m *model) full(i int) []line {
	e := m.log.entries[i]
	lines := e.lay(m.view())
	if i == 0 || len(lines) == 0 {
		return lines
	}
	_, call1 := m.log.entries[i-1].item.(*call)
	_, call2 := e.item.(*call)
	if call1 && call2 {
		return lines
	}
	return append([]line{{}}, lines...)
}

// window returns the lines of the transcript that are on the screen, at most h.
func (m *model) window(h int) []line {
	m.forget()
	if h <= 0 {
		return nil
	}
	if m.top != nil {
		if out, ok := m.from(*m.top, h); ok {
			return out
		}
		m.top = nil // all that is left fits: it follows again
	}
	at := m.bottom(h)
	out, _ := m.from(at, h)
	return out
}

// from returns the lines from a place on, and whether they fill h.
func (m *model) from(at place, h int) (out []line, filled bool) {
	for i := at.entry; i < len(m.log.entries) && len(out) < h; i++ {
		lines := m.full(i)
		if i == at.entry {
			lines = lines[min(at.line, len(lines)):]
		}
		out = append(out, lines...)
	}
	return out[:min(h, len(out))], len(out) >= h
}

// bottom returns the place from which the last h lines are shown.
func (m *model) bottom(h int) place {
	for i := len(m.log.entries) - 1; i >= 0; i-- {
		n := len(m.full(i))
		if n >= h {
			return place{i, n - h}
		}
		h -= n
	}
	return place{}
}

// scroll goes n lines down, up if it is negative.
func (m *model) scroll(n int) {
	h := m.room
	at := m.bottom(h)
	if m.top != nil {
		at = *m.top
	}
	at.line += n
	for at.line < 0 && at.entry > 0 {
		at.entry--
		at.line += len(m.full(at.entry))
	}
	at.line = max(0, at.line)
	for at.entry < len(m.log.entries) && at.line >= len(m.full(at.entry)) {
		at.line -= len(m.full(at.entry))
		at.entry++
	}
	if _, filled := m.from(at, h+1); !filled {
		m.top = nil
		return
	}
	m.top = &at
}

// mostLaid is how many entries keep their lines. A long conversation is laid out where it is looked at.
const mostLaid = 400

func (m *model) forget() {
	laid := 0
	for _, e := range m.log.entries {
		if e.laid != nil {
			laid++
		}
	}
	if laid > mostLaid {
		for _, e := range m.log.entries {
			e.laid = nil
		}
	}
}
