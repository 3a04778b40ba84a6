// Package sqlite opens databases that several processes write at once and that a crash leaves whole.
//
// It knows no table of anybody's (see session): its callers bring their schema as a list of steps.
//
// Failure direction: an error. A file that others may read is closed to them first, a schema that is newer than the program is
// not touched, and what was not committed did not happen.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
)

// busy is how long a statement waits for another process that writes.
const busy = 10 * time.Second

// DB is an open database. It is safe for concurrent use; whoever opened it closes it.
type DB struct {
	sql  *sql.DB
	path string
}

// Rows, Row and Tx are those of database/sql, which only this package imports.
type (
	Rows   = sql.Rows
	Row    = sql.Row
	Tx     = sql.Tx
	Result = sql.Result
)

// ErrNoRows is what scanning a Row gives where there is none.
var ErrNoRows = sql.ErrNoRows

// ErrNewer is wrapped by the error about a database that a later version of the program has changed.
var ErrNewer = errors.New("made by a newer version")

// Schema is what a database shall hold: step i leads from version i to i+1. Steps are never changed once they were released,
// only added.
type Schema []string

// Open opens a database for reading and writing, and makes it first where there is none: for its owner only, with a write-ahead
// log, synced at each commit. It then takes the steps of the schema that are missing, each whole or not at all; of several
// processes one takes them.
func Open(ctx context.Context, path string, schema Schema) (*DB, error) {
	if err := secure(path); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	db := open(path, "rwc", "journal_mode(wal)", "synchronous(full)", "foreign_keys(1)", "secure_delete(1)", "trusted_schema(0)")
	if err := db.migrate(ctx, schema); err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, errors.Join(err, db.Close()))
	}
	return db, nil
}

// OpenRead opens a database that exists for reading only. It is for files that somebody else may have made: no schema is
// expected, nothing is written. A missing file is fs.ErrNotExist.
func OpenRead(ctx context.Context, path string) (*DB, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("open database %s: not a regular file", path)
	}
	db := open(path, "ro", "query_only(1)", "trusted_schema(0)")
	var n int
	if err := db.sql.QueryRowContext(ctx, "select count(*) from sqlite_schema").Scan(&n); err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, errors.Join(err, db.Close()))
	}
	return db, nil
}

// open names the file so that no character of its path is taken for an option. Nothing is opened before the first statement.
func open(path, mode string, pragmas ...string) *DB {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	q := url.Values{"mode": {mode}, "_txlock": {"immediate"}, "_pragma": append([]string{fmt.Sprintf("busy_timeout(%d)", busy.Milliseconds())}, pragmas...)}
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a drive
	}
	u := url.URL{Scheme: "file", Path: slashed, RawQuery: q.Encode()}
	db := sql.OpenDB(connector{driver: &sqlite.Driver{}, name: u.String()})
	db.SetMaxOpenConns(4)
	return &DB{db, path}
}

// secure makes the file for its owner only, before anything is in it, and takes access for others away from one that is there.
// The files beside it get the mode of the first.
func secure(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file", path)
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		}
		if info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
			if err := os.Chmod(name, info.Mode().Perm()&^0o077); err != nil {
				return err
			}
		}
	}
	return nil
}

func (db *DB) migrate(ctx context.Context, schema Schema) error {
	version, err := db.version(ctx, db.sql)
	if err != nil || version == len(schema) {
		return err
	}
	return db.Write(ctx, func(tx *Tx) error {
		version, err := db.version(ctx, tx) // another process may have been quicker
		switch {
		case err != nil:
			return err
		case version > len(schema):
			return fmt.Errorf("%w of hermes: its schema is %d, this one knows %d", ErrNewer, version, len(schema))
		}
		for i := version; i < len(schema); i++ {
			if _, err := tx.ExecContext(ctx, schema[i]); err != nil {
				return fmt.Errorf("schema step %d: %w", i+1, err)
			}
		}
		_, err = tx.ExecContext(ctx, fmt.Sprintf("pragma user_version = %d", len(schema)))
		return err
	})
}

func (db *DB) version(ctx context.Context, q interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) (n int, err error) {
	err = q.QueryRowContext(ctx, "pragma user_version").Scan(&n)
	return n, err
}

// Write runs f in one transaction that writes: all of it is on the disk when Write returns without error, or nothing of it ever
// happens. It waits for others that write.
func (db *DB) Write(ctx context.Context, f func(tx *Tx) error) error {
	tx, err := db.sql.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Query reads rows. The caller closes them.
func (db *DB) Query(ctx context.Context, query string, args ...any) (*Rows, error) {
	return db.sql.QueryContext(ctx, query, args...)
}

// QueryRow reads one row.
func (db *DB) QueryRow(ctx context.Context, query string, args ...any) *Row {
	return db.sql.QueryRowContext(ctx, query, args...)
}

// Path returns where the database is.
func (db *DB) Path() string { return db.path }

// Check reads the whole database and says what is damaged in it. It reads through a connection of its own: one that is older than
// what another process wrote keeps what it knew of a full-text index, and its check, unlike its queries, then sees damage that
// is none.
func (db *DB) Check(ctx context.Context) error {
	fresh, err := OpenRead(ctx, db.path)
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	defer fresh.Close()
	var text string
	if err := fresh.QueryRow(ctx, "pragma integrity_check(1)").Scan(&text); err != nil {
		return fmt.Errorf("check database %s: %w", db.path, err)
	}
	if text != "ok" {
		return fmt.Errorf("check database %s: %s", db.path, text)
	}
	return nil
}

// Checkpoint moves what was committed from the write-ahead log into the database and empties the log, as far as no other process
// needs it: then that is left for later, which is no error.
func (db *DB) Checkpoint(ctx context.Context) error {
	var held, pages, moved int
	if err := db.QueryRow(ctx, "pragma wal_checkpoint(truncate)").Scan(&held, &pages, &moved); err != nil {
		return fmt.Errorf("write database %s: %w", db.path, err)
	}
	return nil
}

// Close closes the database.
func (db *DB) Close() error { return db.sql.Close() }
