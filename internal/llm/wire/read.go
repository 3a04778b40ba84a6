package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

var errTooLarge = errors.New("event is larger than allowed")

// Read gives the events of a stream in the format of server-sent events; with whole, all of it is one event. Lines may end in
// LF, CR LF or CR. An event that the end of the stream cuts off is given when it has data, since some servers leave out the last
// empty line: whether it is whole, its format shows. The error is never io.EOF.
func Read(r io.Reader, whole bool) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		if whole {
			readWhole(r, yield)
			return
		}
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 0, 16<<10), maxEvent)
		lines.Split(splitLine)
		var m Message
		var data bytes.Buffer
		seen := false // some data line, be it empty
		flush := func() bool {
			defer func() { m, seen = Message{}, false; data.Reset() }()
			if !seen {
				return true // a name without data is none
			}
			m.Data = data.Bytes()
			return yield(m, nil)
		}
		for first := true; lines.Scan(); first = false {
			line := lines.Bytes()
			if first {
				line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
			}
			if len(line) == 0 {
				if !flush() {
					return
				}
				continue
			}
			name, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch string(name) {
			case "event":
				m.Event = string(value)
			case "data":
				if seen {
					data.WriteByte('\n')
				}
				if seen = true; data.Len()+len(value) > maxEvent {
					yield(Message{}, fmt.Errorf("%w: %d MiB", errTooLarge, maxEvent>>20))
					return
				}
				data.Write(value)
			}
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(Message{}, fmt.Errorf("%w: %d MiB", errTooLarge, maxEvent>>20))
		case err != nil:
			yield(Message{}, err)
		default:
			flush()
		}
	}
}

func readWhole(r io.Reader, yield func(Message, error) bool) {
	text, err := io.ReadAll(io.LimitReader(r, maxEvent+1))
	switch {
	case err != nil:
		yield(Message{}, err)
	case len(text) > maxEvent:
		yield(Message{}, fmt.Errorf("%w: %d MiB", errTooLarge, maxEvent>>20))
	default:
		yield(Message{Data: text}, nil)
	}
}

// splitLine is a bufio.SplitFunc for the three ends of a line.
func splitLine(data []byte, atEOF bool) (advance int, token []byte, err error) {
	i := bytes.IndexAny(data, "\r\n")
	switch {
	case i < 0 && atEOF && len(data) > 0:
		return len(data), data, nil
	case i < 0:
		return 0, nil, nil
	case data[i] == '\n':
		return i + 1, data[:i], nil
	case i+1 < len(data) && data[i+1] == '\n':
		return i + 2, data[:i], nil
	case i+1 == len(data) && !atEOF:
		return 0, nil, nil // an LF may follow
	}
	return i + 1, data[:i], nil
}
