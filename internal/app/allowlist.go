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

// lockWait is how long another process may hold the lists.
const lockWait = 10 * time.Second

// kept keeps what was approved for good in a setting that is a list.
type kept struct {
	dir   *home.Dir
	store *config.Store
	in    setting
}

var _ approval.Store = kept{}

// setting is a list among the settings.
type setting struct {
	key string
	now func(*config.Settings) []string
}

// commands is the list of commands that were approved for good.
func commands() setting {
	return setting{"command_allowlist", func(s *config.Settings) []string { return s.Approvals.Allowlist }}
}

// networkAllow is the list of where sandboxes may go.
func networkAllow() setting {
	return setting{"terminal.network_allow", func(s *config.Settings) []string { return s.Terminal.NetworkAllow }}
}

// Allowlist returns the list of what was approved for good in a home. Both stay the caller's to close.
func Allowlist(dir *home.Dir, store *config.Store) approval.Store {
	return kept{dir, store, commands()}
}

func (l kept) change(edit func([]string) []string) error {
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
		_, _, err = l.store.Unset(ctx, l.in.key)
	default:
		_, err = l.store.Set(ctx, l.in.key, next...)
	}
	return err
}

// Add adds an entry.
func (l kept) Add(entry string) error {
	return l.change(func(now []string) []string {
		if slices.Contains(now, entry) {
			return now
		}
		return append(now, entry)
	})
}

// Remove takes an entry out, wherever it stands.
func (l kept) Remove(entry string) error {
	return l.change(func(now []string) []string {
		return slices.DeleteFunc(now, func(e string) bool { return e == entry })
	})
}

// List returns the entries.
func (l kept) List() ([]string, error) {
	snap, err := l.store.Load()
	if err != nil {
		return nil, err
	}
	return slices.Clone(l.in.now(&snap.Settings)), nil
}

// Rules returns what the owner has decided about commands.
func Rules(set *config.Settings) launch.Rules {
	r := launch.Rules{Deny: set.Approvals.Deny, Allow: set.Approvals.Allowlist}
	for _, q := range set.Approvals.Required {
		r.Required = append(r.Required, launch.Required{Glob: q.Pattern, Why: q.Description, Review: q.Review == "smart"})
	}
	return r
}

// Confirms tells whether commands of the chat that destroy something ask first.
func (a *App) Confirms() bool {
	snap, err := a.settings()
	return err != nil || snap.Settings.Approvals.SlashConfirm
}

// StopConfirming keeps that they do not, from now on.
func (a *App) StopConfirming() error {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	_, err := a.store.Set(ctx, "approvals.destructive_slash_confirm", "false")
	return err
}

// Approval returns who decides on dangerous commands, and what was allowed for good.
func (a *App) Approval() (mode string, listed []string) {
	snap, err := a.settings()
	if err != nil {
		return "manual: " + err.Error(), nil
	}
	m, _ := approval.ParseMode(snap.Settings.Approvals.Mode)
	return m.String(), snap.Settings.Approvals.Allowlist
}
