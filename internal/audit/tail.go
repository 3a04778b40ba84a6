package audit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"time"
)

// Query says which records to read.
type Query struct {
	Last   int               // the last so many that Keep keeps; less than 0 all
	Keep   func(Record) bool // nil keeps all
	Follow bool              // go on with what is written from now on, until the context ends
}

// pollTime is how often a followed log is looked at.
const pollTime = 200 * time.Millisecond

// Tail reads the end of the log in a folder, oldest first. A line that is no record is an error in its place, and the rest
// goes on. It checks no hashes; that is for Verify. It needs no lock: a line counts once its end is written.
func Tail(ctx context.Context, root *os.Root, q Query) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		names, err := segments(root)
		if err != nil {
			yield(Record{}, fmt.Errorf("read audit log: %w", bare(err)))
			return
		}
		from := place{Segment: 1}
		if len(names) > 0 {
			past, end, err := lastRecords(root, names, q)
			if err != nil {
				yield(Record{}, fmt.Errorf("read audit log: %w", bare(err)))
				return
			}
			for _, one := range past {
				if !yield(one.Record, one.err) {
					return
				}
			}
			from = end
		}
		if q.Follow {
			follow(ctx, root, from, q, yield)
		}
	}
}

// line is a record, or why it is none.
type line struct {
	Record
	err error
}

// keep tells whether a query wants a line. What is broken is always wanted.
func (q Query) keep(l line) bool { return l.err != nil || q.Keep == nil || q.Keep(l.Record) }

// lastRecords reads files from the last one backward until there are enough records.
func lastRecords(root *os.Root, names []int, q Query) (out []line, end place, err error) {
	for i, n := range slices.Backward(names) {
		found, size, err := readSegment(root, n, 0, q)
		if err != nil {
			return nil, place{}, err
		}
		if i == len(names)-1 {
			end = place{Segment: n, Size: size}
		}
		out = append(found, out...)
		if q.Last >= 0 && len(out) >= q.Last {
			return out[len(out)-q.Last:], end, nil
		}
	}
	return out, end, nil
}

// readSegment reads the whole lines of a file from an offset on that a query wants, and where they end. The first read of
// a query with a bound keeps no more than that many.
func readSegment(root *os.Root, n int, from int64, q Query) (out []line, end int64, err error) {
	f, err := openFile(root, segmentName(n))
	if err != nil {
		return nil, from, err
	}
	defer f.Close()
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return nil, from, err
	}
	r := bufio.NewReaderSize(f, 1<<16)
	for end = from; ; {
		text, err := r.ReadBytes('\n')
		if err == io.EOF {
			return out, end, nil
		} else if err != nil {
			return nil, from, err
		}
		one := line{}
		if one.Record, one.err = decode(bytes.TrimSuffix(text, []byte("\n"))); one.err != nil {
			one.err = fmt.Errorf("%s at byte %d: not a record: %w", segmentName(n), end, one.err)
		}
		end += int64(len(text))
		if q.keep(one) {
			out = append(out, one)
		}
		if from == 0 && q.Last >= 0 && len(out) > 2*q.Last+64 {
			out = slices.Delete(out, 0, len(out)-q.Last)
		}
	}
}

// follow gives what is written from a place on.
func follow(ctx context.Context, root *os.Root, at place, q Query, yield func(Record, error) bool) {
	q.Last = -1
	tick := time.NewTicker(pollTime)
	defer tick.Stop()
	for {
		found, end, err := readSegment(root, at.Segment, at.Size, q)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			yield(Record{}, fmt.Errorf("read audit log: %w", bare(err)))
			return
		}
		for _, one := range found {
			if !yield(one.Record, one.err) {
				return
			}
		}
		at.Size = end
		// A next file means that this one has ended, but perhaps only after it was read: look once more before moving on.
		if _, err := root.Stat(segmentName(at.Segment + 1)); err == nil {
			if _, again, err := readSegment(root, at.Segment, at.Size, q); err == nil && again == at.Size {
				at = place{Segment: at.Segment + 1}
			}
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
