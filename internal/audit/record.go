package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

// format is the version of the records. A reader refuses what is newer.
const format = 1

// Kind says what a record is about.
type Kind string

// The kinds. A record has the part of its kind and no other.
const (
	KindStart    Kind = "start"
	KindDecision Kind = "decision"
	KindResult   Kind = "result"
	KindMark     Kind = "mark"
	KindReach    Kind = "reach"
)

// Record is one line of the log.
type Record struct {
	N       uint64    `json:"n"`    // counts from 0 through all files
	Prev    string    `json:"prev"` // SHA-256 of the line before, in hex; zeros for the first
	Time    time.Time `json:"time"`
	Kind    Kind      `json:"kind"`
	ID      string    `json:"id,omitempty"` // the same for a decision and its result
	Session string    `json:"session,omitempty"`

	Start    *Start    `json:"start,omitempty"`
	Decision *Decision `json:"decision,omitempty"`
	Result   *Result   `json:"result,omitempty"`
	Mark     *Mark     `json:"mark,omitempty"`
	Reach    *Reach    `json:"reach,omitempty"`
}

// Ref names what a record belongs to.
type Ref struct{ ID, Session string }

// Start is the first record of a file.
type Start struct {
	File    string `json:"file"`
	Host    string `json:"host"` // random, made once for a log
	Version string `json:"version"`
	Format  int    `json:"format"`
}

// Decision is what was decided on a command, by whom, and where it is to run.
type Decision struct {
	Sum      string   `json:"sha256"` // of the whole command; Decide sets it
	Text     string   `json:"text"`   // the command without its secrets, and not more than its beginning; Decide sets it
	Verdict  string   `json:"verdict"`
	Tier     string   `json:"tier,omitempty"`
	Rule     string   `json:"rule,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Harms    []string `json:"harms,omitempty"`
	By       string   `json:"by,omitempty"`  // who approved or refused
	How      string   `json:"how,omitempty"` // once, session, always, mode, contained, …
	Backend  string   `json:"backend,omitempty"`
	Exposure string   `json:"exposure,omitempty"` // what was in force, in short
}

// Result is what came of a command.
type Result struct {
	Exit     int           `json:"exit"`
	Duration time.Duration `json:"ns"`
	Bytes    int64         `json:"bytes"` // of output
	Backend  string        `json:"backend,omitempty"`
	Exposure string        `json:"exposure,omitempty"`
	Error    string        `json:"error,omitempty"`   // why it did not run to its end
	Skipped  uint64        `json:"skipped,omitempty"` // as of a Reach
}

// Reach is what came of a connection, or of a name that was looked up, from inside a sandbox.
type Reach struct {
	Client   string        `json:"client"`
	Command  string        `json:"command,omitempty"` // id of the decision, where only one command ran
	Method   string        `json:"method"`
	Target   string        `json:"target"` // host and port
	Path     string        `json:"path,omitempty"`
	Addr     string        `json:"addr,omitempty"` // that was reached
	Verdict  string        `json:"verdict"`
	Rule     string        `json:"rule,omitempty"`
	Reason   string        `json:"reason,omitempty"`
	Asked    bool          `json:"asked,omitempty"` // a person allowed it
	Up       int64         `json:"up"`              // bytes from and to the sandbox
	Down     int64         `json:"down"`
	Duration time.Duration `json:"ns"`
	Error    string        `json:"error,omitempty"`
	Skipped  uint64        `json:"skipped,omitempty"` // refusals and look-ups before it that were too many to be written
}

// Mark says what was found wrong with the log, and when.
type Mark struct {
	Damage Damage `json:"damage"`
	Lost   uint64 `json:"lost,omitempty"`  // records that were there once
	Extra  uint64 `json:"extra,omitempty"` // records that were not written through a Log
	Bytes  int    `json:"bytes,omitempty"` // of a line without an end, kept in File
	File   string `json:"file,omitempty"`
}

// Damage is what can be wrong with the end of a log.
type Damage string

// The kinds of damage. Torn is what a crash leaves; the others are not.
const (
	Torn     Damage = "torn"     // the last line had no end
	CutOff   Damage = "cut off"  // records at the end are missing
	Extended Damage = "extended" // records were added at the end without the seal
	Altered  Damage = "altered"  // the last record is not the one that was sealed
	Unsealed Damage = "unsealed" // the file that says where the log ends was missing or unreadable
)

// Sum returns how a command is named in the log: its SHA-256 in hex.
func Sum(command string) string { return sum([]byte(command)) }

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// none is the hash before the first record.
var none = strings.Repeat("0", 2*sha256.Size)

// encode returns a record as a line with its end.
func encode(r Record) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return nil, err
	}
	if b.Len() > maxLine {
		return nil, fmt.Errorf("a record of %d bytes, at most %d", b.Len(), maxLine)
	}
	return b.Bytes(), nil
}

// maxLine bounds what is read as one record.
const maxLine = 1 << 20

// decode reads a line without its end.
func decode(line []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(line, &r); err != nil {
		return Record{}, err
	}
	parts := 0
	for _, part := range [...]struct {
		kind  Kind
		there bool
	}{
		{KindStart, r.Start != nil}, {KindDecision, r.Decision != nil}, {KindResult, r.Result != nil}, {KindMark, r.Mark != nil},
		{KindReach, r.Reach != nil},
	} {
		if part.there != (part.kind == r.Kind) {
			return Record{}, fmt.Errorf("the parts of a %q are wrong", r.Kind)
		} else if part.there {
			parts++
		}
	}
	if parts == 0 {
		return Record{}, fmt.Errorf("%q is no kind of record", r.Kind)
	}
	if r.Start != nil && r.Start.Format > format {
		return Record{}, fmt.Errorf("format %d is newer than this program", r.Start.Format)
	}
	return r, nil
}

const (
	namePrefix = "audit-"
	nameSuffix = ".jsonl"
)

// segmentName returns the name of a log file.
func segmentName(n int) string { return fmt.Sprintf("%s%06d%s", namePrefix, n, nameSuffix) }

// segmentOf is the reverse; 0 for another file.
func segmentOf(name string) int {
	n := 0
	if _, err := fmt.Sscanf(name, namePrefix+"%d"+nameSuffix, &n); err != nil || n < 1 || segmentName(n) != name {
		return 0
	}
	return n
}

func baseName(name string) string { return path.Base(filepath.ToSlash(name)) }

// clip shortens a text to whole characters.
func clip(s string, most int) string {
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
