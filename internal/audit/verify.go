package audit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

// Report is what Verify found.
type Report struct {
	Records  uint64
	Files    int
	Problems []Problem // what cannot be believed; none means that the log is whole
	Notes    []Problem // what a crash left, which lost nothing that was promised
}

// Problem is something wrong with the log, and where.
type Problem struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"` // 0: the file as such
	Text string `json:"text"`
}

func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.Text
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
}

// maxProblems bounds a report: a log that is not ours at all would fill the memory with complaints.
const maxProblems = 1000

// Verify checks the whole log in a folder against its hashes, its numbers and its head. It may run beside writers: what is
// written meanwhile is not looked at. The error is for what kept it from looking; damage is in the report.
func Verify(root *os.Root) (Report, error) {
	c, err := newChecker(root)
	if err != nil {
		return Report{}, fmt.Errorf("verify audit log: %w", bare(err))
	}
	for i, s := range c.files {
		if err := c.file(s, i == len(c.files)-1); err != nil {
			return c.report, fmt.Errorf("verify audit log: %w", bare(err))
		}
	}
	c.ending()
	return c.report, nil
}

// segment is a file of the log and how much of it is looked at.
type segment struct {
	number int
	size   int64
}

// checker walks through the log.
type checker struct {
	root    *os.Root
	files   []segment
	head    head
	headErr error
	report  Report

	at       place   // behind the last record
	last     Problem // where that record is
	anchored bool    // something was read
	torn     bool    // the log ends in a line without an end
}

// newChecker notes how far the log goes at one moment in which nobody writes.
func newChecker(root *os.Root) (*checker, error) {
	c := &checker{root: root, at: place{Hash: none}}
	lock, err := openLock(root, os.O_RDONLY)
	switch {
	case err == nil:
		defer lock.Close()
		if err := lock.take(shared); err != nil {
			return nil, err
		}
		defer lock.drop()
	case !isMissing(err):
		return nil, err
	}
	c.head, c.headErr = readHead(root)
	if c.headErr != nil && !isMissing(c.headErr) && !errors.Is(c.headErr, errHead) {
		return nil, c.headErr
	}
	names, err := segments(root)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		info, err := root.Lstat(segmentName(n))
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s: not an ordinary file", segmentName(n))
		}
		c.files = append(c.files, segment{n, info.Size()})
	}
	if n := len(c.files); n > 0 && c.files[n-1].size == 0 {
		c.files = c.files[:n-1] // begun and not written
	}
	c.report.Files = len(c.files)
	return c, nil
}

func (c *checker) problem(file string, line int, format string, args ...any) {
	if len(c.report.Problems) < maxProblems {
		c.report.Problems = append(c.report.Problems, Problem{file, line, fmt.Sprintf(format, args...)})
	}
}

// file checks one file.
func (c *checker) file(s segment, last bool) error {
	name := segmentName(s.number)
	if want := c.at.Segment + 1; s.number != want {
		c.problem(name, 0, "%s is missing", between(want, s.number-1))
	}
	f, err := openFile(c.root, name)
	if err != nil {
		return err
	}
	defer f.Close()
	size := int64(0)
	r := bufio.NewReaderSize(io.LimitReader(f, s.size), int(min(s.size, maxLine)))
	for number := 1; ; number++ {
		line, err := r.ReadSlice('\n')
		switch {
		case err == io.EOF && len(line) == 0:
			return nil
		case err == io.EOF && last:
			c.torn = true
			c.report.Notes = append(c.report.Notes, Problem{name, number, "a line without an end, as a crash leaves it; the next record puts it aside"})
			return nil
		case err == io.EOF:
			c.problem(name, number, "a line without an end")
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
			c.problem(name, number, "a line of more than %d bytes; the rest of the file was not read", maxLine)
			return nil
		case err != nil:
			return err
		}
		c.line(name, number, line[:len(line)-1])
		size += int64(len(line))
		c.at.Segment, c.at.Size = s.number, size
	}
}

// between names the files from one number to another.
func between(first, last int) string {
	if first >= last {
		return segmentName(first)
	}
	return segmentName(first) + " to " + segmentName(last)
}

// line checks one record against the one before.
func (c *checker) line(name string, number int, text []byte) {
	here := Problem{File: name, Line: number}
	defer func() {
		c.at.Hash, c.last, c.anchored = sum(text), here, true
		c.report.Records++
	}()
	r, err := decode(text)
	if err != nil {
		c.problem(name, number, "not a record: %v", err)
		c.at.Count++
		return
	}
	want := c.at.Count
	switch {
	case r.N > want:
		c.problem(name, number, "record %d follows %s: %s missing", r.N, c.before(), records(want, r.N-1))
	case r.N < want:
		c.problem(name, number, "record %d follows %s: moved or inserted", r.N, c.before())
	case r.Prev != c.at.Hash && !c.anchored:
		c.problem(name, number, "the first record names one before it")
	case r.Prev != c.at.Hash:
		c.problem(c.last.File, c.last.Line, "record %d was changed: it is not the one that record %d names", want-1, want)
	}
	c.at.Count = r.N + 1
	if number == 1 {
		if r.Start == nil || r.Start.File != name {
			c.problem(name, number, "not the first record of %s", name)
		}
	} else if r.Start != nil {
		c.problem(name, number, "the first record of a file in the middle of one")
	}
	c.mark(here, r)
}

// mark reports what a writer has found before.
func (c *checker) mark(here Problem, r Record) {
	if r.Mark == nil {
		return
	}
	here.Text = "told " + r.Time.Format("2006-01-02 15:04:05") + ": " + r.Mark.String()
	if r.Mark.Damage == Torn {
		c.report.Notes = append(c.report.Notes, here)
	} else {
		c.problem(here.File, here.Line, "%s", here.Text)
	}
}

// String says what a mark means.
func (m Mark) String() string {
	switch m.Damage {
	case Torn:
		return fmt.Sprintf("a line without an end (%d bytes) was put aside in %s", m.Bytes, m.File)
	case CutOff:
		return fmt.Sprintf("%s missing before this", plural(m.Lost, "record"))
	case Extended:
		return fmt.Sprintf("%s before this did not come from hermes, or the disk lost the seal", plural(m.Extra, "record"))
	case Altered:
		return "the record before this is not the one that was sealed"
	case Unsealed:
		return headName + " was missing or unreadable: records before this may be missing"
	}
	return "damage: " + string(m.Damage)
}

func (c *checker) before() string {
	if c.at.Count == 0 {
		return "nothing"
	}
	return fmt.Sprintf("record %d", c.at.Count-1)
}

func records(first, last uint64) string {
	if first == last {
		return fmt.Sprintf("record %d is", first)
	}
	return fmt.Sprintf("records %d to %d are", first, last)
}

func plural(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// ending compares the end of the log with what the head says.
func (c *checker) ending() {
	h, at := c.head, c.at
	switch {
	case isMissing(c.headErr) && !c.anchored && !c.torn: // no log yet
	case c.headErr != nil:
		text := "unreadable"
		if isMissing(c.headErr) {
			text = "missing"
		}
		c.problem(headName, 0, "%s: records at the end may be missing", text)
	case at == h.At, h.Next != nil && at == *h.Next:
	case !c.anchored && h.At.Count == 0: // begun and not written
	case at.Count < h.At.Count:
		c.problem(c.lastFile(), c.last.Line, "the log ends here: %s missing", records(at.Count, h.At.Count-1))
	case at.Count > h.At.Count:
		c.problem(c.lastFile(), c.last.Line, "the log should end with record %d: %s too many", int64(h.At.Count)-1, plural(at.Count-h.At.Count, "record"))
	case at.Hash != h.At.Hash:
		c.problem(c.lastFile(), c.last.Line, "record %d was changed: it is not the one that was sealed", at.Count-1)
	case len(c.report.Problems) == 0: // otherwise it is what that problem has moved
		c.problem(c.lastFile(), c.last.Line, "the log does not end where %s says", headName)
	}
}

func (c *checker) lastFile() string {
	if c.last.File == "" {
		return headName
	}
	return c.last.File
}
