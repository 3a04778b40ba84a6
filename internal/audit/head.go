package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// place is a point in the log: behind which record it is.
type place struct {
	Segment int    `json:"segment"`
	Size    int64  `json:"size"` // of that segment
	Count   uint64 `json:"count"`
	Hash    string `json:"hash"` // of the last record
}

// head says where the log ends, so that a log that was cut off does not look whole. While a record is being written it says
// both ends.
type head struct {
	At   place  `json:"at"`
	Next *place `json:"next,omitempty"`
}

// headSize is one sector: it is written in one piece, in place, which takes no room on a full disk. That is why it is not
// replaced by renaming, as other files are.
const headSize = 512

// bytes returns the only form a head has.
func (h head) bytes() ([]byte, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	if len(text) >= headSize {
		return nil, fmt.Errorf("%s: %d bytes", headName, len(text))
	}
	out := bytes.Repeat([]byte(" "), headSize)
	copy(out, text)
	out[headSize-1] = '\n'
	return out, nil
}

// errHead is a head that is not one.
var errHead = errors.New("unreadable")

func parseHead(text []byte) (head, error) {
	var h head
	if json.Unmarshal(text, &h) != nil {
		return head{}, errHead
	}
	if again, err := h.bytes(); err != nil || !bytes.Equal(again, text) {
		return head{}, errHead
	}
	return h, nil
}

// readHead reads the head; fs.ErrNotExist where there is none, errHead for another text.
func readHead(root *os.Root) (head, error) {
	text, err := readUpTo(root, headName, headSize+1)
	if err != nil {
		return head{}, err
	}
	return parseHead(text)
}

// seal writes the head.
func (l *Log) seal(h head, sync bool) error {
	text, err := h.bytes()
	if err != nil {
		return err
	}
	f, err := l.root.OpenFile(headName, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(text, 0)
	if err == nil && sync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		l.head = h
	}
	return err
}

// sameHead tells whether two heads say the same.
func sameHead(a, b head) bool {
	if a.At != b.At || (a.Next == nil) != (b.Next == nil) {
		return false
	}
	return a.Next == nil || *a.Next == *b.Next
}

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
