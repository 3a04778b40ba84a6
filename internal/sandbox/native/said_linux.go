package native

import (
	"bytes"
	"strings"

	"hermes/internal/screen"
)

// said takes what a launcher and the first processes of its sandboxes write about themselves, which is what the Go runtime says when
// they come to an end that they should not come to. Commands live beside those processes, so it is a text to distrust: a few short
// lines of it are logged, in letters, and the rest is nobody's.
type said struct {
	log  func(string)
	line []byte // begun
	told int
}

const (
	saidLines  = 12
	saidLength = 200
)

func (s *said) Write(text []byte) (int, error) {
	n := len(text)
	for s.told < saidLines && len(text) > 0 {
		line, rest, whole := bytes.Cut(text, []byte{'\n'})
		s.line = append(s.line, line[:min(len(line), saidLength-len(s.line))]...)
		if text = rest; whole {
			s.tell()
		}
	}
	return n, nil
}

// tell logs the line that was begun, if there is one.
func (s *said) tell() {
	if s.line = bytes.TrimSpace(s.line); len(s.line) == 0 {
		return
	}
	var out strings.Builder
	for _, cell := range screen.Cells(string(s.line), 0) {
		out.WriteString(cell.Show)
	}
	s.log("the launcher of sandboxes says: " + out.String())
	s.told++
	s.line = s.line[:0]
}
