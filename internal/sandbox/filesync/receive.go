package filesync

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
)

// Received is a file that arrived.
type Received struct {
	Name string // clean, with slashes
	Size int64
	Sum  string // SHA-256 in hexadecimal digits
}

// errTooMuch ends a stream that does not keep to the limits.
var errTooMuch = errors.New("more than the limits allow")

// receiver unpacks tar streams from another machine into a directory, which is empty and nobody else's: ordinary files, 0600,
// and the directories they need. Nothing else is made of them: links, devices and names that could mean something else are
// refused one by one and told; a stream that is too large, or is none, is an error, and what came before it is there.
type receiver struct {
	into   *os.Root
	limits Limits
	take   func(name string) bool
	refuse func(name, why string)

	all   []Received
	seen  map[string]bool
	total int64
}

// read takes one stream to its end.
func (c *receiver) read(r io.Reader) error {
	l := c.limits
	// The reader may skip over what we do not want, which has to come over all the same.
	r = io.LimitReader(r, 2*l.Total+1<<20)
	in := tar.NewReader(r)
	for entries := 0; ; entries++ {
		h, err := in.Next()
		switch {
		case err == io.EOF:
			_, err := io.Copy(io.Discard, r) // the end of a stream is filled up
			return err
		case err != nil:
			return fmt.Errorf("receive files: %w", err)
		case entries >= 2*l.Files:
			return fmt.Errorf("receive files: %w", errTooMuch)
		case h.Typeflag == tar.TypeDir || h.Typeflag == tar.TypeXGlobalHeader:
			continue // what a file needs is made for it
		case h.Typeflag != tar.TypeReg:
			c.refuse(h.Name, "it is no ordinary file")
			continue
		}
		name, why := checkName(h.Name)
		switch {
		case why != "":
		case !c.take(name):
			why = "nobody asked for it"
		case c.seen[fold(name)]:
			why = "there is another one of that name"
		case h.Size > l.File:
			why = "it is too large"
		}
		if why != "" {
			c.refuse(h.Name, why)
			continue
		}
		if c.total+h.Size > l.Total || len(c.all) >= l.Files {
			return fmt.Errorf("receive files: %w", errTooMuch)
		}
		c.seen[fold(name)] = true
		one, err := unpack(in, c.into, name, h.Size)
		if err != nil {
			return fmt.Errorf("receive %q: %w", name, err)
		}
		c.total += one.Size
		c.all = append(c.all, one)
	}
}

// unpack writes one file.
func unpack(in io.Reader, into *os.Root, name string, size int64) (Received, error) {
	if dir := path.Dir(name); dir != "." {
		if err := into.MkdirAll(dir, 0o700); err != nil {
			return Received{}, err
		}
	}
	f, err := into.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return Received{}, err
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, h), io.LimitReader(in, size))
	if err := errors.Join(err, f.Close()); err != nil {
		return Received{}, err
	}
	if n != size {
		return Received{}, io.ErrUnexpectedEOF
	}
	return Received{name, n, hex.EncodeToString(h.Sum(nil))}, nil
}
