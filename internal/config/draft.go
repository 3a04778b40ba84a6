package config

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
)

// ErrChanged says that a file was changed by somebody else since a draft of it was begun.
var ErrChanged = errors.New("it was changed in the meantime")

// Draft is a copy of config.yaml that a person edits. It stays on the disk until it is saved or dropped, whatever happens:
// what was typed is not lost.
type Draft struct {
	store *Store
	name  string
	begun []byte // the text of config.yaml when the draft was begun
}

// Draft begins a draft. It ends with Save or Drop.
func (s *Store) Draft() (*Draft, error) {
	if s.dir == nil {
		return nil, fmt.Errorf("edit %s: there is no home", File)
	}
	text, err := s.dir.Read(File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	d := &Draft{store: s, name: "config.edit-" + rand.Text()[:8] + ".yaml", begun: text}
	return d, s.dir.WriteFile(d.name, text)
}

// Path returns where the draft is.
func (d *Draft) Path() string { return d.store.dir.Join(d.name) }

// Changed tells whether the draft differs from what it was begun with.
func (d *Draft) Changed() (bool, error) {
	text, err := d.store.dir.Read(d.name)
	return !bytes.Equal(text, d.begun), err
}

// Save checks the draft and makes it config.yaml. If it cannot be used (Problems) or config.yaml is not what it was
// (ErrChanged), nothing is changed and the draft stays.
func (d *Draft) Save(ctx context.Context) error {
	text, err := d.store.dir.Read(d.name)
	if err != nil {
		return err
	}
	if _, err := parse(text); err != nil {
		return err
	}
	err = d.store.rewrite(ctx, File, func(old []byte) ([]byte, error) {
		if !bytes.Equal(old, d.begun) {
			return nil, fmt.Errorf("save %s: %w", d.store.dir.Join(File), ErrChanged)
		}
		return text, nil
	})
	if err != nil {
		return err
	}
	return d.Drop()
}

// Drop removes the draft.
func (d *Draft) Drop() error {
	if err := d.store.dir.Remove(d.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
