// Package session keeps conversations: every message as it happens, whose it is and who approved what it did, in the home's
// state.db.
//
// It does not decide whose a thing is (see guard/scope, which it asks), does not talk to a model, and does not take secrets out
// of text: what it is given was redacted (see launch, prompt).
//
// Layer 7 of 8. Failure direction: refuse. There is no query without a scope; a message that could not be written is an error,
// and one that was written is on the disk.
package session

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"hermes/internal/guard"
	"hermes/internal/guard/scope"
	"hermes/internal/home"
	"hermes/internal/sqlite"
)

// File is the database's name in a home.
const File = "state.db"

// ErrNone is wrapped by errors about a conversation that does not exist, or not for who asks.
var ErrNone = errors.New("no such session")

// Store is the conversations of one home. It is safe for concurrent use, also by several processes. Whoever opened it closes it.
type Store struct {
	db  *sqlite.DB
	now func() time.Time
}

// Open opens the conversations of a home, and begins with none where there are none yet.
func Open(ctx context.Context, dir *home.Dir) (*Store, error) {
	db, err := sqlite.Open(ctx, dir.Join(File), schema())
	if err != nil {
		return nil, err
	}
	return &Store{db, time.Now}, nil
}

// Close closes the store.
func (s *Store) Close() error { return s.db.Close() }

// Check reads all that is stored and says what is damaged.
func (s *Store) Check(ctx context.Context) error { return s.db.Check(ctx) }

// View is what one identity sees: a Session its own conversations, and a Profile (the operator's own commands) all of the
// profile. It is safe for concurrent use and lives as long as its Store.
type View struct {
	s      *Store
	caller scope.Identity
	where  string // over sessions as s
	args   []any
}

// View returns what an identity sees. The zero identity and a job see nothing: that is an error.
func (s *Store) View(caller scope.Identity) (*View, error) {
	if caller == nil || caller.IsZero() {
		return nil, fmt.Errorf("open sessions: %w", scope.ErrZero)
	}
	v := &View{s: s, caller: caller, where: "s.profile = ?", args: []any{caller.Profile().String()}}
	switch c := caller.(type) {
	case scope.Profile:
	case scope.Session:
		v.where += " and s.source = ? and s.scope_key = ?"
		v.args = append(v.args, c.Origin(), c.Key())
	default: // a job has runs, and each is a session
		return nil, fmt.Errorf("open sessions: %s is neither a profile nor a session", caller)
	}
	return v, nil
}

// may decides whether the view's identity may own a conversation of a session's.
func (v *View) may(owner scope.Session) error {
	verdict := scope.Check(v.caller, owner)
	if p, ok := v.caller.(scope.Profile); ok { // the operator begins sessions of any origin
		verdict = scope.Check(p, owner.Profile())
	}
	if verdict.Action != guard.Allow {
		return &guard.DeniedError{Op: "open session", Subject: owner.String(), Verdict: verdict}
	}
	return nil
}

// Info describes one conversation.
type Info struct {
	ID       string
	Owner    scope.Session
	Title    string // "": none was given
	Parent   string // the conversation it goes on from
	Model    string // used last
	Started  time.Time
	Updated  time.Time
	Messages int
	Input    int // tokens, of all answers
	Output   int
	Dollars  float64 // as far as known
	Yolo     bool
	First    string // the beginning of what was first asked
}

// Begin begins a conversation and returns its id. Parent may be "".
func (v *View) Begin(ctx context.Context, owner scope.Session, title, parent string) (string, error) {
	if owner.IsZero() {
		return "", fmt.Errorf("begin session: %w", scope.ErrZero)
	}
	if err := v.may(owner); err != nil {
		return "", err
	}
	title, err := titleOf(title)
	if err != nil {
		return "", err
	}
	now := v.s.now()
	id := now.UTC().Format("20060102-150405-") + strings.ToLower(rand.Text()[:6])
	err = v.s.db.Write(ctx, func(tx *sqlite.Tx) error {
		if parent != "" {
			if err := v.owns(ctx, tx, parent); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `insert into sessions (id, source, profile, scope_key, title, parent_session_id, started_at, updated_at)
			values (?, ?, ?, ?, nullif(?, ''), nullif(?, ''), ?, ?)`,
			id, owner.Origin(), owner.Profile().String(), owner.Key(), title, parent, seconds(now), seconds(now))
		return err
	})
	if err != nil {
		return "", fmt.Errorf("begin session: %w", err)
	}
	return id, nil
}

// owns is ErrNone for a conversation that is not there, or not for this view.
func (v *View) owns(ctx context.Context, q querier, id string) error {
	var one int
	err := q.QueryRowContext(ctx, "select 1 from sessions s where s.id = ? and "+v.where, v.with(id)...).Scan(&one)
	if errors.Is(err, sqlite.ErrNoRows) {
		return fmt.Errorf("%w: %q", ErrNone, id)
	}
	return err
}

// with puts the view's own arguments behind others.
func (v *View) with(args ...any) []any { return append(args, v.args...) }

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sqlite.Row
}

func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

func timeOf(s float64) time.Time { return time.UnixMicro(int64(math.Round(s * 1e6))) }

const maxTitle = 200 // characters

func titleOf(text string) (string, error) {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, text)
	if n := len([]rune(text)); n > maxTitle {
		return "", fmt.Errorf("title a session: %d characters, at most %d", n, maxTitle)
	}
	return text, nil
}
