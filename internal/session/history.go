package session

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"hermes/internal/guard/scope"
	"hermes/internal/sqlite"
)

// Past is one call of a tool that a model once made, with what came of it.
type Past struct {
	ID        string
	Tool      string
	Arguments string // as the model wrote them; an object given as such is written as JSON
	At        time.Time
	Result    string // "" if none is stored
	Answered  bool   // a result is stored
	Approved  Approval
	Inferred  bool // the database does not say who approved: it is not ours, or older
}

// Calls reads the calls of one tool from a database, in order, since a time (zero: all). The database is only read, and may be of
// another program that has the same tables; what cannot be understood in it is passed over. Of our own, only what is the
// profile's is read. A missing file is fs.ErrNotExist.
func Calls(ctx context.Context, path string, profile scope.Profile, tool string, since time.Time) iter.Seq2[Past, error] {
	return func(yield func(Past, error) bool) {
		if profile.IsZero() {
			yield(Past{}, fmt.Errorf("read history: %w", scope.ErrZero))
			return
		}
		db, err := sqlite.OpenRead(ctx, path)
		if err != nil {
			yield(Past{}, err)
			return
		}
		defer db.Close()
		h := history{db: db, ctx: ctx, profile: profile, tool: tool, since: since}
		if err := h.read(yield); err != nil {
			yield(Past{}, fmt.Errorf("read history %s: %w", path, err))
		}
	}
}

type history struct {
	db      *sqlite.DB
	ctx     context.Context
	profile scope.Profile
	tool    string
	since   time.Time

	ours bool // the database says who approved
}

type outcome struct {
	text     string
	approved Approval
}

func (h *history) read(yield func(Past, error) bool) error {
	sessions, err := h.columnsOf("sessions")
	if err != nil {
		return err
	}
	messages, err := h.columnsOf("messages")
	if err != nil {
		return err
	}
	if !slices.Contains(messages, "tool_calls") {
		return fmt.Errorf("it has no messages with calls")
	}
	h.ours = slices.Contains(messages, "approved_by") && slices.Contains(sessions, "profile")
	results, err := h.results()
	if err != nil {
		return err
	}
	rows, err := h.query("m.session_id, m.tool_calls, m.timestamp", "m.role = 'assistant' and m.tool_calls like '%' || ? || '%' and m.timestamp >= ?",
		h.tool, h.start())
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var session, calls string
		var at float64
		if err := rows.Scan(&session, &calls, &at); err != nil {
			return err
		}
		for _, c := range callsIn(calls, h.tool) {
			r, answered := results[session+"\x00"+c.ID]
			c.At, c.Result, c.Answered, c.Approved, c.Inferred = timeOf(at), r.text, answered && c.ID != "", r.approved, !h.ours
			if !yield(c, nil) {
				return nil
			}
		}
	}
	return rows.Err()
}

func (h *history) start() float64 {
	if h.since.IsZero() {
		return 0
	}
	return seconds(h.since)
}

func (h *history) columnsOf(table string) ([]string, error) {
	rows, err := h.db.Query(h.ctx, "select name from pragma_table_info(?)", table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, rows.Err()
}

// query reads messages, of ours only the profile's.
func (h *history) query(columns, where string, args ...any) (*sqlite.Rows, error) {
	from := " from messages m where "
	if h.ours {
		from = " from messages m join sessions s on s.id = m.session_id where s.profile = ? and "
		args = append([]any{h.profile.String()}, args...)
	}
	return h.db.Query(h.ctx, "select "+columns+from+where+" order by m.timestamp, m.rowid", args...)
}

func (h *history) results() (map[string]outcome, error) {
	columns := "m.session_id, m.tool_call_id, coalesce(m.content, '')"
	if h.ours {
		columns += ", coalesce(m.approved_by, ''), coalesce(m.approved_how, '')"
	}
	rows, err := h.query(columns, "m.role = 'tool' and coalesce(m.tool_call_id, '') <> '' and m.timestamp >= ?", h.start())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]outcome{}
	for rows.Next() {
		var session, id string
		var o outcome
		to := []any{&session, &id, &o.text}
		if h.ours {
			to = append(to, &o.approved.By, &o.approved.How)
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		out[session+"\x00"+id] = o
	}
	return out, rows.Err()
}

// callsIn reads the calls of one tool from a stored list, and passes over what is none.
func callsIn(text, tool string) (out []Past) {
	var list []json.RawMessage
	if json.Unmarshal([]byte(text), &list) != nil {
		return nil
	}
	for _, raw := range list {
		var c struct {
			ID       string `json:"id"`
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		}
		if json.Unmarshal(raw, &c) != nil || c.Function.Name != tool {
			continue
		}
		arguments := strings.TrimSpace(string(c.Function.Arguments))
		var quoted string
		if json.Unmarshal(c.Function.Arguments, &quoted) == nil {
			arguments = quoted
		}
		out = append(out, Past{ID: c.ID, Tool: tool, Arguments: arguments})
	}
	return out
}
