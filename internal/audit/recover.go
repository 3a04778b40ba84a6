package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// catchUp makes this log know what other processes wrote. The usual case costs two looks at sizes.
func (l *Log) catchUp() error {
	now, err := readHead(l.root)
	if err != nil || now.Next != nil {
		return l.recover()
	}
	if now.At.Count == 0 {
		l.head = now
		return nil
	}
	info, err := l.root.Stat(segmentName(now.At.Segment))
	if err != nil || info.Size() != now.At.Size {
		return l.recover()
	}
	if !sameHead(now, l.head) {
		// Another process wrote. Its file may be another one, or even another one of the same name.
		l.letGo()
		l.head = now
	} else if l.file != nil {
		if mine, err := l.file.Stat(); err != nil || !os.SameFile(mine, info) {
			l.letGo()
		}
	}
	return nil
}

// letGo closes the segment that is open, if any.
func (l *Log) letGo() {
	if l.file != nil {
		l.file.Close() // everything is written; an error now changes nothing
		l.file = nil
	}
}

// recover finds the true end of the log, whatever has happened to it, records what is wrong, and seals it.
func (l *Log) recover() error {
	l.letGo()
	known, headErr := readHead(l.root)
	if headErr != nil && !isMissing(headErr) && !errors.Is(headErr, errHead) {
		return headErr
	}
	names, err := segments(l.root)
	if err != nil {
		return err
	}
	end, torn, err := l.lastPlace(names, known.At.Count)
	if err != nil {
		return err
	}
	marks := []Mark{}
	if len(torn) > 0 {
		if err := l.setAside(end, torn); err != nil {
			return err
		}
		marks = append(marks, Mark{Damage: Torn, Bytes: len(torn), File: tornName})
	}
	if m, ok := damage(known, headErr, end); ok {
		marks = append(marks, m)
	}
	if err := l.seal(head{At: end}, l.o.Sync == SyncAlways); err != nil {
		return err
	}
	l.host = l.firstHost(names)
	if end.Count == 0 {
		if err := l.begin(); err != nil {
			return err
		}
	}
	for _, m := range marks {
		if err := l.write(l.head.At.Segment, Record{Kind: KindMark, Mark: &m}); err != nil {
			return err
		}
		if l.o.Told != nil {
			l.o.Told(m)
		}
	}
	return nil
}

// damage compares the end of the log with what the head says.
func damage(known head, headErr error, end place) (Mark, bool) {
	switch {
	case headErr != nil && end.Count == 0 && isMissing(headErr): // a new log
		return Mark{}, false
	case headErr != nil:
		return Mark{Damage: Unsealed}, true
	case end == known.At, known.Next != nil && end == *known.Next:
		return Mark{}, false
	case end.Count < known.At.Count:
		return Mark{Damage: CutOff, Lost: known.At.Count - end.Count}, true
	case end.Count > known.At.Count:
		return Mark{Damage: Extended, Extra: end.Count - known.At.Count}, true
	}
	return Mark{Damage: Altered}, true
}

// lastPlace returns the end of the last whole record, and what follows it. count is believed when no record can be read.
func (l *Log) lastPlace(names []int, count uint64) (end place, torn []byte, err error) {
	end = place{Hash: none}
	for _, n := range slices.Backward(names) {
		text, err := readUpTo(l.root, segmentName(n), l.o.Size+2*maxLine)
		if err != nil {
			return place{}, nil, err
		}
		whole := bytes.LastIndexByte(text, '\n') + 1
		torn = append(bytes.Clone(text[whole:]), torn...)
		if whole == 0 { // begun and not written
			end.Segment = n - 1
			continue
		}
		lines := bytes.Split(text[:whole-1], []byte("\n"))
		end = place{Segment: n, Size: int64(whole), Count: count, Hash: sum(lines[len(lines)-1])}
		for i, line := range slices.Backward(lines) {
			if r, err := decode(line); err == nil {
				end.Count = r.N + uint64(len(lines)-i)
				break
			}
		}
		break
	}
	return end, torn, nil
}

// setAside keeps a line without an end in a file of its own and takes it out of the log.
func (l *Log) setAside(end place, torn []byte) error {
	f, err := l.root.OpenFile(tornName, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(torn, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	names, err := segments(l.root)
	if err != nil {
		return err
	}
	for _, n := range names {
		size := int64(0)
		switch {
		case n < end.Segment:
			continue
		case n == end.Segment:
			size = end.Size
		}
		if err := l.truncate(n, size); err != nil {
			return err
		}
	}
	return nil
}

func (l *Log) truncate(segment int, size int64) error {
	f, err := l.root.OpenFile(segmentName(segment), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Close())
}

// firstHost returns the id in the first record there is, "" without one.
func (l *Log) firstHost(names []int) string {
	if len(names) == 0 {
		return ""
	}
	text, err := readUpTo(l.root, segmentName(names[0]), maxLine)
	if err != nil {
		return ""
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	if r, err := decode(line); err == nil && r.Start != nil {
		return r.Start.Host
	}
	return ""
}

// segments returns the numbers of the log's files in order.
func segments(root *os.Root) ([]int, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	all, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	out := []int{}
	for _, name := range all {
		if n := segmentOf(name); n > 0 {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

// readUpTo reads a file of a bounded size. A larger one is an error.
func readUpTo(root *os.Root, name string, most int64) ([]byte, error) {
	f, err := openFile(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, fmt.Errorf("%s: more than %d bytes", name, most)
	}
	return text, err
}

// openFile opens an ordinary file for reading. Opening a pipe would wait for ever, and a link is not what was written.
func openFile(root *os.Root, name string) (*os.File, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not an ordinary file", name)
	}
	return root.Open(name)
}
