package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"hermes/internal/guard/scope"
	"hermes/internal/sqlite"
)

const infoColumns = `s.id, s.profile, s.source, s.scope_key, coalesce(s.title, ''), coalesce(s.parent_session_id, ''), coalesce(s.model, ''),
	s.started_at, s.updated_at, s.message_count, s.input_tokens, s.output_tokens, s.cost, s.yolo, coalesce(s.first_text, '')`

func scanInfo(scan func(...any) error, more ...any) (Info, error) {
	var i Info
	var profile, source, key string
	var started, updated float64
	err := scan(append([]any{&i.ID, &profile, &source, &key, &i.Title, &i.Parent, &i.Model, &started, &updated, &i.Messages, &i.Input,
		&i.Output, &i.Dollars, &i.Yolo, &i.First}, more...)...)
	if err != nil {
		return i, err
	}
	i.Started, i.Updated = timeOf(started), timeOf(updated)
	i.Owner, err = ownerOf(profile, source, key)
	return i, err
}

// ownerOf builds a stored owner through the parsers.
func ownerOf(profile, source, key string) (s scope.Session, err error) {
	err = s.UnmarshalText([]byte("session " + profile + " " + source + " " + key))
	return s, err
}

// Info describes one conversation.
func (v *View) Info(ctx context.Context, id string) (Info, error) {
	row := v.s.db.QueryRow(ctx, "select "+infoColumns+" from sessions s where s.id = ? and "+v.where, v.with(id)...)
	i, err := scanInfo(row.Scan)
	if errors.Is(err, sqlite.ErrNoRows) {
		return i, fmt.Errorf("read session: %w: %q", ErrNone, id)
	}
	if err != nil {
		return i, fmt.Errorf("read session %s: %w", id, err)
	}
	return i, nil
}

// Filter says which conversations are listed. The zero value lists all.
type Filter struct {
	Origin string    // "cli", "telegram", …
	Before time.Time // last used before
	Limit  int       // 0: all
}

// List describes conversations, the one used last first.
func (v *View) List(ctx context.Context, f Filter) ([]Info, error) {
	query, args := "select "+infoColumns+" from sessions s where "+v.where, v.with()
	if f.Origin != "" {
		query, args = query+" and s.source = ?", append(args, f.Origin)
	}
	if !f.Before.IsZero() {
		query, args = query+" and s.updated_at < ?", append(args, seconds(f.Before))
	}
	query += " order by s.updated_at desc, s.id desc"
	if f.Limit > 0 {
		query, args = query+" limit ?", append(args, f.Limit)
	}
	return v.infos(ctx, query, args...)
}

func (v *View) infos(ctx context.Context, query string, args ...any) ([]Info, error) {
	rows, err := v.s.db.Query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	defer rows.Close()
	var out []Info
	for rows.Next() {
		i, err := scanInfo(rows.Scan)
		if err != nil {
			return nil, fmt.Errorf("list sessions: %w", err)
		}
		out = append(out, i)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return out, nil
}

// AmbiguousError says that several conversations go by what somebody wrote.
type AmbiguousError struct {
	Text string
	IDs  []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("find session %q: it could be %s", e.Text, strings.Join(e.IDs, ", "))
}

// Find finds the one conversation that a person means: by its id, a beginning of it, or its title in whole (the last used, if
// several have it). "" is the one used last.
func (v *View) Find(ctx context.Context, text string) (Info, error) {
	const base = "select " + infoColumns + " from sessions s where "
	tries := []struct {
		where string
		args  []any
		many  bool
	}{
		{"s.id = ? and ", []any{text}, false},
		{"s.title = ? collate nocase and ", []any{text}, false},
		{"substr(s.id, 1, length(?)) = ? and ", []any{text, text}, true},
	}
	if text == "" {
		tries = tries[:1]
		tries[0].where, tries[0].args = "", nil
	}
	for _, try := range tries {
		found, err := v.infos(ctx, base+try.where+v.where+" order by s.updated_at desc, s.id desc limit 6", v.with(try.args...)...)
		if err != nil {
			return Info{}, err
		}
		if len(found) > 1 && try.many {
			e := &AmbiguousError{Text: text}
			for _, i := range found {
				e.IDs = append(e.IDs, i.ID)
			}
			return Info{}, e
		}
		if len(found) > 0 {
			return found[0], nil
		}
	}
	return Info{}, fmt.Errorf("find session: %w: %q", ErrNone, text)
}

// Hit is one message in which something was found.
type Hit struct {
	Info    Info
	Message int64
	Role    string
	At      time.Time
	Text    string // the part where it stands
}

const ranked = 2000 // messages with the words that are compared with each other

// Search finds messages that have all words of a text, each also as the beginning of a word; "in quotes" they stand side by
// side. The best come first, of the newest 2,000. Limit 0 is 20.
func (v *View) Search(ctx context.Context, text string, limit int) ([]Hit, error) {
	match := terms(text)
	if match == "" {
		return nil, fmt.Errorf("search sessions: %q has no word to look for", short(text, 40))
	}
	if limit <= 0 {
		limit = 20
	}
	// The index gives its rows from the newest on without looking at all of them; ranking looks at each.
	rows, err := v.s.db.Query(ctx, "select "+infoColumns+`, m.id, m.role, m.timestamp, m.content, coalesce(m.tool_calls, '')
		from (select w.rowid as id, w.rank as rank from words w join messages m on m.id = w.rowid join sessions s on s.id = m.session_id
			where w.text match ? and `+v.where+` order by w.rowid desc limit ?) found
		join messages m on m.id = found.id join sessions s on s.id = m.session_id order by found.rank, m.id desc limit ?`,
		append(v.with(match), max(ranked, limit), limit)...)
	if err != nil {
		return nil, fmt.Errorf("search sessions: %w", err)
	}
	defer rows.Close()
	var out []Hit
	for rows.Next() {
		var h Hit
		var at float64
		var content, calls string
		if h.Info, err = scanInfo(rows.Scan, &h.Message, &h.Role, &at, &content, &calls); err != nil {
			return nil, fmt.Errorf("search sessions: %w", err)
		}
		h.At, h.Text = timeOf(at), around(strings.TrimSpace(content+" "+calls), text, 160)
		out = append(out, h)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("search sessions: %w", err)
	}
	return out, nil
}

// change changes one conversation.
func (v *View) change(ctx context.Context, what, id string, f func(tx *sqlite.Tx) error) error {
	err := v.s.db.Write(ctx, func(tx *sqlite.Tx) error {
		if err := v.owns(ctx, tx, id); err != nil {
			return err
		}
		return f(tx)
	})
	if err != nil {
		return fmt.Errorf("%s session %s: %w", what, id, err)
	}
	return nil
}

// Rename gives a conversation a title; "" takes it away.
func (v *View) Rename(ctx context.Context, id, title string) error {
	title, err := titleOf(title)
	if err != nil {
		return err
	}
	return v.change(ctx, "rename", id, func(tx *sqlite.Tx) error {
		_, err := tx.ExecContext(ctx, "update sessions set title = nullif(?, '') where id = ?", title, id)
		return err
	})
}

// SetYolo keeps whether dangerous commands run without a question in a conversation, for when it is resumed.
func (v *View) SetYolo(ctx context.Context, id string, on bool) error {
	return v.change(ctx, "change", id, func(tx *sqlite.Tx) error {
		_, err := tx.ExecContext(ctx, "update sessions set yolo = ? where id = ?", on, id)
		return err
	})
}

// Delete removes a conversation with all its messages, also from what is searched. Its words are overwritten in the file, and
// leave the write-ahead log with it as soon as no other process reads.
func (v *View) Delete(ctx context.Context, id string) error {
	err := v.change(ctx, "delete", id, func(tx *sqlite.Tx) error {
		for _, query := range []string{
			"delete from words where rowid in (select id from messages where session_id = ?)",
			"delete from messages where session_id = ?",
			"delete from sessions where id = ?",
		} {
			if _, err := tx.ExecContext(ctx, query, id); err != nil {
				return err
			}
		}
		// A deleted row's words stay in the index until its parts are merged.
		_, err := tx.ExecContext(ctx, "insert into words (words) values ('optimize')")
		return err
	})
	if err != nil {
		return err
	}
	return v.s.db.Checkpoint(ctx)
}

// Export writes a conversation as lines of JSON: first what Info says, then each message.
func (v *View) Export(ctx context.Context, id string, w io.Writer) error {
	info, err := v.Info(ctx, id)
	if err != nil {
		return err
	}
	all, err := v.Messages(ctx, id)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(exportedInfo(info)); err != nil {
		return fmt.Errorf("export session %s: %w", id, err)
	}
	for _, m := range all {
		if err := enc.Encode(exportedMessage(m)); err != nil {
			return fmt.Errorf("export session %s: %w", id, err)
		}
	}
	return nil
}
