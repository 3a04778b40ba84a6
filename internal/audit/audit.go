// Package audit keeps the log of what was decided and what came of it: one line of JSON for each decision and each result,
// every line bound to the one before by its hash.
//
// It does not decide, does not run anything, and keeps nobody who may write the folder from writing the whole log anew: what
// it finds is a record that was changed, dropped, inserted, moved or cut off by something that did not redo all of it. It
// redacts what it is given as text.
//
// Failure direction: refuse. A record that could not be written whole is an error, and without a record of the decision the
// command must not run (a full disk stops the agent, not the log).
package audit

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"hermes/internal/redact"
)

// Sync says when records must have reached the disk.
type Sync uint8

const (
	SyncAlways Sync = iota // before Decide and Finish return: they survive a power cut
	SyncNever              // when the system likes: they survive the end of this process, however it ends
)

// Options are the log's settings. The zero value is usable except for Now.
type Options struct {
	Now     func() time.Time
	Version string              // of the program, for the head of each file
	Size    int64               // a file that has grown to it is followed by a new one; 0 is 16 MiB
	Sync    Sync                // zero: SyncAlways
	Redact  func(string) string // takes secrets out of texts; nil: package redact, strictly
	Told    func(Mark)          // hears of damage that was found and recorded; nil: nobody
}

const (
	defaultSize = 16 << 20
	maxText     = 4 << 10 // of one text in a record
	lockName    = "audit.lock"
	headName    = "audit.head"
	tornName    = "audit.torn"
)

// Log is an open log. It is safe for concurrent use, also by several processes on the same folder, as long as the file
// system has working locks. The caller closes it.
type Log struct {
	root *os.Root
	o    Options

	mu   sync.Mutex // guards what follows; between processes the lock file does
	lock *lock
	file *os.File // the segment being written
	open int      // its number
	head head
	host string // random id of this log's first host

	refusals flood
}

// Open opens the log in a folder, which stays the caller's to close after the log, and begins one where there is none. What
// a crash or somebody else has left is repaired so that the chain goes on, recorded as a Mark, and told.
func Open(root *os.Root, o Options) (*Log, error) {
	if o.Now == nil {
		return nil, errors.New("open audit log: no clock")
	}
	if o.Size <= 0 {
		o.Size = defaultSize
	}
	if o.Redact == nil {
		o.Redact = redact.New(redact.Options{Mode: redact.Strict}).String
	}
	l := &Log{root: root, o: o}
	var err error
	if l.lock, err = openLock(root, os.O_RDWR|os.O_CREATE); err != nil {
		return nil, fmt.Errorf("open audit log: %w", bare(err))
	}
	if err := l.locked(l.recover); err != nil {
		l.Close()
		return nil, fmt.Errorf("open audit log: %w", bare(err))
	}
	return l, nil
}

// Close closes the log's files. Everything is written by then; records after it fail.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.lock.Close()
	if l.file != nil {
		err = errors.Join(err, l.file.Close())
		l.file = nil
	}
	return err
}

// Decide records a decision on a command before anything runs. On an error nothing may run.
func (l *Log) Decide(ref Ref, command string, d Decision) error {
	d.Sum, d.Text = Sum(command), l.text(command)
	d.Reason, d.By, d.How = l.text(d.Reason), l.text(d.By), l.text(d.How)
	return l.record("decision", Record{Kind: KindDecision, ID: ref.ID, Session: ref.Session, Decision: &d})
}

// Finish records what came of a decision. On an error the command has run all the same; say so to whoever waits for it.
func (l *Log) Finish(ref Ref, r Result) error {
	r.Error = l.text(r.Error)
	l.mu.Lock()
	r.Skipped = l.refusals.take()
	l.mu.Unlock()
	return l.record("result", Record{Kind: KindResult, ID: ref.ID, Session: ref.Session, Result: &r})
}

// Reached records what came of a connection, or of a name that was looked up. On an error it has been made all the same. Of
// refusals and look-ups that come faster than anybody reads, the next record tells only how many there were: what is in a
// sandbox must not fill the disk outside.
func (l *Log) Reached(ref Ref, r Reach) error {
	l.mu.Lock()
	if (r.Verdict != "allow" || r.Method == "DNS") && !l.refusals.may(l.o.Now()) {
		l.mu.Unlock()
		return nil
	}
	r.Skipped = l.refusals.take()
	l.mu.Unlock()
	r.Target, r.Path, r.Reason, r.Error = l.text(r.Target), l.text(r.Path), l.text(r.Reason), l.text(r.Error)
	return l.record("connection", Record{Kind: KindReach, ID: ref.ID, Session: ref.Session, Reach: &r})
}

// text makes a text fit for a record: no secrets, not too long.
func (l *Log) text(s string) string {
	if s == "" {
		return ""
	}
	s = l.o.Redact(s)
	if len(s) > maxText {
		s = clip(s, maxText) + " [cut off]"
	}
	return s
}

func (l *Log) record(what string, r Record) error {
	err := l.locked(func() error {
		if err := l.catchUp(); err != nil {
			return err
		}
		if err := l.rotate(); err != nil {
			return err
		}
		return l.write(l.head.At.Segment, r)
	})
	if err != nil {
		return fmt.Errorf("audit %s: %w", what, bare(err))
	}
	return nil
}

// rotate begins a new file when the last one is full. A file that is there already is damage.
func (l *Log) rotate() error {
	full := func() bool { return l.head.At.Size >= l.o.Size || l.head.At.Count == 0 }
	if !full() {
		return nil
	}
	if info, err := l.root.Stat(segmentName(l.head.At.Segment + 1)); err == nil && info.Size() > 0 {
		if err := l.recover(); err != nil {
			return err
		}
	}
	if full() {
		return l.begin()
	}
	return nil
}

// locked runs f while neither another goroutine nor another process writes.
func (l *Log) locked(f func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.lock.take(exclusive); err != nil {
		return err
	}
	defer l.lock.drop()
	return f()
}

// begin starts a new file with the record that every file begins with.
func (l *Log) begin() error {
	if l.host == "" {
		id := make([]byte, 16)
		if _, err := rand.Read(id); err != nil {
			return err
		}
		l.host = hex.EncodeToString(id)
	}
	segment := l.head.At.Segment + 1
	return l.write(segment, Record{Kind: KindStart, Start: &Start{File: segmentName(segment), Host: l.host, Version: l.o.Version, Format: format}})
}

// write appends one record. First the head says what is to come, then it comes, then the head says that it is there: at
// whatever point this process ends, the log is as one of the two says.
func (l *Log) write(segment int, r Record) error {
	if err := l.use(segment); err != nil {
		return err
	}
	now := l.head.At
	r.N, r.Prev, r.Time = now.Count, now.Hash, l.o.Now().UTC().Round(0)
	line, err := encode(r)
	if err != nil {
		return err
	}
	next := place{Segment: segment, Size: int64(len(line)), Count: now.Count + 1, Hash: sum(line[:len(line)-1])}
	from := int64(0)
	if segment == now.Segment {
		from = now.Size
		next.Size += from
	}
	if err := l.seal(head{At: now, Next: &next}, l.o.Sync == SyncAlways); err != nil {
		return err
	}
	_, err = l.file.WriteAt(line, from)
	if err == nil && l.o.Sync == SyncAlways {
		err = l.file.Sync()
	}
	if err != nil {
		// Neither a part of a record nor one that was told to have failed stays. If even this fails, recovery sees to it.
		return errors.Join(bare(err), l.file.Truncate(from), l.seal(head{At: now}, false))
	}
	return l.seal(head{At: next}, false)
}

// use opens the file of a segment for writing.
func (l *Log) use(segment int) error {
	if l.file != nil && l.open == segment {
		return nil
	}
	l.letGo()
	f, err := l.root.OpenFile(segmentName(segment), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	l.file, l.open = f, segment
	if l.o.Sync == SyncAlways && segment != l.head.At.Segment {
		return syncFolder(l.root)
	}
	return nil
}

// bare strips the operation and path that os adds, since our errors name them already.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("%s: %w", baseName(p.Path), p.Err)
	}
	return err
}
