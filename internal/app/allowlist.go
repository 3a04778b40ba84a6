package app

import (
	"context"
	"slices"
	"time"

	"hermes/internal/approval"
	"hermes/internal/config"
	"hermes/internal/home"
	"hermes/internal/launch"
)

// lockWait is how long another process may hold the allow-list.
const lockWait = 10 * time.Second

// allowlist keeps what was approved for good in command_allowlist.
type allowlist struct {
	dir   *home.Dir
	store *config.Store
}

var _ approval.Store = allowlist{}

// Allowlist returns the list of what was approved for good in a home. Both stay the caller's to close.
func Allowlist(dir *home.Dir, store *config.Store) approval.Store { return allowlist{dir, store} }

func (l allowlist) change(edit func([]string) []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	lock, err := l.dir.Lock(ctx, "allowlist")
	if err != nil {
		return err
	}
	defer lock.Unlock()
	now, err := l.List()
	if err != nil {
		return err
	}
	next := edit(slices.Clone(now))
	switch {
	case slices.Equal(now, next):
		return nil
	case len(next) == 0:
		_, _, err = l.store.Unset(ctx, "command_allowlist")
	default:
		_, err = l.store.Set(ctx, "command_allowlist", next...)
	}
	return err
}

// Add adds an entry.
func (l allowlist) Add(entry string) error {
	return l.change(func(now []string) []string {
		if slices.Contains(now, entry) {
			return now
		}
		return append(now, entry)
	})
}

// Remove takes an entry out, wherever it stands.
func (l allowlist) Remove(entry string) error {
	return l.change(func(now []string) []string {
		return slices.DeleteFunc(now, func(e string) bool { return e == entry })
	})
}

// List returns the entries.
func (l allowlist) List() ([]string, error) {
	snap, err := l.store.Load()
	if err != nil {
		return nil, err
	}
	return slices.Clone(snap.Settings.Approvals.Allowlist), nil
}

// Rules returns what the owner has decided about commands.
func Rules(set *config.Settings) launch.Rules {
	r := launch.Rules{Deny: set.Approvals.Deny, Allow: set.Approvals.Allowlist}
	for _, q := range set.Approvals.Required {
		r.Required = append(r.Required, launch.Required{Glob: q.Pattern, Why: q.Description, Review: q.Review == "smart"})
	}
	return r
}
