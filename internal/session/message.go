package session

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hermes/internal/guard/taint"
	"hermes/internal/llm"
	"hermes/internal/sqlite"
)

// Message is one message as it is stored.
type Message struct {
	llm.Message
	ID       int64      // grows from message to message; Append sets it
	Key      string     // tells the message from all others of its conversation; "": Append makes one
	At       time.Time  // zero: now
	Tool     string     // of a result: the tool's name
	Model    string     // of an answer
	Usage    llm.Usage  // of an answer
	Dollars  float64    // of an answer, as far as known
	Approved Approval   // of a result
	Risk     taint.Risk // of a result: what a scanner found in it; the zero value is about nothing that was judged
	Covers   int64      // of a summary: the last message it stands for; 0: it is no summary
	Undone   bool       // taken back by the person; kept, but no longer part of the conversation
}

// Approval says who let a call run, and how.
type Approval struct {
	By  string // "person", or a person's name on a messenger; otherwise what stood in for one: "mode", "rule", "model"
	How string // once, session, always, yolo, contained, …
}

// Append adds a message at the end of a conversation. When it returns without error the message is on the disk; otherwise it is
// not stored, or, where the error is the end of ctx, may be. A message with a Key that the conversation has is not added again:
// its id is returned, so that who does not know whether a message was stored appends it once more.
func (v *View) Append(ctx context.Context, id string, m Message) (int64, error) {
	r, err := rowOf(m, v.s.now())
	if err != nil {
		return 0, fmt.Errorf("store message in session %s: %w", id, err)
	}
	var n int64
	err = v.s.db.Write(ctx, func(tx *sqlite.Tx) error {
		if err := v.owns(ctx, tx, id); err != nil {
			return err
		}
		err := tx.QueryRowContext(ctx, "select id from messages where session_id = ? and unique_key = ?", id, r.key).Scan(&n)
		if err == nil || !errors.Is(err, sqlite.ErrNoRows) {
			return err
		}
		n, err = r.insert(ctx, tx, id)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("store message in session %s: %w", id, err)
	}
	return n, nil
}

// row is a message in the form of its table.
type row struct {
	m                       Message
	key                     string
	at                      float64
	calls, reasoning, usage any // JSON, or nil
	risk                    any
	words                   string
}

// toolCall is the form of a call that other programs read.
type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func rowOf(m Message, now time.Time) (row, error) {
	switch m.Role {
	case llm.User, llm.Assistant, llm.Result:
	default:
		return row{}, fmt.Errorf("nobody has the role %q", m.Role)
	}
	r := row{m: m, key: m.Key, at: seconds(now), words: m.Text}
	if r.key == "" {
		r.key = rand.Text()
	}
	if !m.At.IsZero() {
		r.at = seconds(m.At)
	}
	var err error
	if len(m.Calls) > 0 {
		calls := make([]toolCall, len(m.Calls))
		for i, c := range m.Calls {
			calls[i] = callOf(c)
			r.words += " " + c.Arguments
		}
		r.calls, err = text(calls)
	}
	if err == nil && len(m.Thoughts) > 0 {
		r.reasoning, err = text(m.Thoughts)
	}
	if err == nil && m.Usage != (llm.Usage{}) {
		r.usage, err = text(m.Usage)
	}
	if err == nil && m.Risk.Level != "" {
		r.risk, err = text(m.Risk)
	}
	return r, err
}

func text(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

func (r row) insert(ctx context.Context, tx *sqlite.Tx, id string) (int64, error) {
	m := r.m
	res, err := tx.ExecContext(ctx, `insert into messages (session_id, unique_key, role, content, tool_calls, tool_call_id, tool_name,
			timestamp, failed, reasoning, model, usage, cost, approved_by, approved_how, covers, risk)
		values (?, ?, ?, ?, ?, nullif(?, ''), nullif(?, ''), ?, ?, ?, nullif(?, ''), ?, nullif(?, 0.0), nullif(?, ''), nullif(?, ''), nullif(?, 0), ?)`,
		id, r.key, string(m.Role), m.Text, r.calls, m.CallID, m.Tool, r.at, m.Failed, r.reasoning, m.Model, r.usage,
		m.Dollars, m.Approved.By, m.Approved.How, m.Covers, r.risk)
	if err != nil {
		return 0, err
	}
	n, err := res.LastInsertId()
	if err != nil {
		return 0, err
	}
	if _, err := tx.ExecContext(ctx, "insert into words (rowid, text) values (?, ?)", n, spaced(r.words)); err != nil {
		return 0, err
	}
	beginning := ""
	if m.Role == llm.User && m.Covers == 0 {
		beginning = short(m.Text, 120)
	}
	_, err = tx.ExecContext(ctx, `update sessions set message_count = message_count + 1, updated_at = ?, model = coalesce(nullif(?, ''), model),
		input_tokens = input_tokens + ?, output_tokens = output_tokens + ?, cost = cost + ?, first_text = coalesce(first_text, nullif(?, ''))
		where id = ?`, r.at, m.Model, m.Usage.Input, m.Usage.Output, m.Dollars, beginning, id)
	return n, err
}

const columns = `m.id, m.unique_key, m.role, m.content, coalesce(m.tool_calls, ''), coalesce(m.tool_call_id, ''), coalesce(m.tool_name, ''),
	m.timestamp, m.failed, coalesce(m.reasoning, ''), coalesce(m.model, ''), coalesce(m.usage, ''), coalesce(m.cost, 0.0), coalesce(m.approved_by, ''),
	coalesce(m.approved_how, ''), coalesce(m.covers, 0), m.undone, coalesce(m.risk, '')`

func scan(rows *sqlite.Rows, more ...any) (Message, error) {
	var m Message
	var role, calls, reasoning, usage, risk string
	var at float64
	err := rows.Scan(append([]any{&m.ID, &m.Key, &role, &m.Text, &calls, &m.CallID, &m.Tool, &at, &m.Failed, &reasoning, &m.Model, &usage,
		&m.Dollars, &m.Approved.By, &m.Approved.How, &m.Covers, &m.Undone, &risk}, more...)...)
	if err != nil {
		return m, err
	}
	m.Role, m.At = llm.Role(role), timeOf(at)
	if calls != "" {
		var list []toolCall
		if err := json.Unmarshal([]byte(calls), &list); err != nil {
			return m, fmt.Errorf("message %d: calls: %w", m.ID, err)
		}
		for _, c := range list {
			m.Calls = append(m.Calls, llm.Call{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
		}
	}
	if reasoning != "" {
		if err := json.Unmarshal([]byte(reasoning), &m.Thoughts); err != nil {
			return m, fmt.Errorf("message %d: reasoning: %w", m.ID, err)
		}
	}
	if usage != "" {
		if err := json.Unmarshal([]byte(usage), &m.Usage); err != nil {
			return m, fmt.Errorf("message %d: usage: %w", m.ID, err)
		}
	}
	if risk != "" {
		if err := json.Unmarshal([]byte(risk), &m.Risk); err != nil {
			return m, fmt.Errorf("message %d: risk: %w", m.ID, err)
		}
	}
	return m, nil
}

// Messages returns all messages of a conversation in order, also those that were taken back or that a summary stands for.
func (v *View) Messages(ctx context.Context, id string) ([]Message, error) {
	return v.messages(ctx, id, inOrder)
}

// Live returns the conversation as the model is to see it: the last summary, and what came after the messages it stands for,
// without what was taken back.
func (v *View) Live(ctx context.Context, id string) ([]Message, error) {
	all, err := v.messages(ctx, id, after+inOrder)
	if err != nil {
		return nil, err
	}
	last := -1
	for i, m := range all {
		if m.Covers > 0 {
			last = i
		}
	}
	if last < 0 {
		return all, nil
	}
	out := []Message{all[last]}
	for _, m := range all {
		if m.Covers == 0 {
			out = append(out, m)
		}
	}
	return out, nil
}

// after is what a summary does not stand for, of what was not taken back.
const after = ` and m.undone = 0 and m.id > coalesce((select max(c.covers) from messages c where c.session_id = s.id and c.undone = 0), 0)`

// Last returns the last message of Live without reading the others, and whether there is one.
func (v *View) Last(ctx context.Context, id string) (m Message, ok bool, err error) {
	for _, which := range []string{after + " and m.covers is null", " and m.undone = 0 and m.covers is not null"} {
		all, err := v.messages(ctx, id, which+" order by m.id desc limit 1")
		if err != nil {
			return Message{}, false, err
		}
		if len(all) > 0 {
			return all[0], true, nil
		}
	}
	return Message{}, false, nil
}

// Calls returns the calls of one tool in their order, without those that were taken back. Those that a summary stands for are
// among them.
func (v *View) Calls(ctx context.Context, id, tool string) ([]llm.Call, error) {
	all, err := v.messages(ctx, id, " and m.undone = 0 and instr(m.tool_calls, ?) > 0"+inOrder, tool)
	if err != nil {
		return nil, err
	}
	var out []llm.Call
	for _, m := range all {
		for _, c := range m.Calls {
			if c.Name == tool {
				out = append(out, c)
			}
		}
	}
	return out, nil
}

const inOrder = " order by m.id"

// messages reads messages of a conversation: rest says which, and in what order.
func (v *View) messages(ctx context.Context, id, rest string, args ...any) ([]Message, error) {
	if err := v.owns(ctx, contextual{v.s.db}, id); err != nil {
		return nil, fmt.Errorf("read session: %w", err)
	}
	rows, err := v.s.db.Query(ctx, "select "+columns+" from messages m join sessions s on s.id = m.session_id where s.id = ? and "+v.where+rest,
		append(v.with(id), args...)...)
	if err != nil {
		return nil, fmt.Errorf("read session %s: %w", id, err)
	}
	defer rows.Close()
	var out []Message
	for rows.Next() {
		m, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("read session %s: %w", id, err)
		}
		out = append(out, m)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read session %s: %w", id, err)
	}
	return out, nil
}

// contextual gives a database the method of a transaction.
type contextual struct{ db *sqlite.DB }

func (c contextual) QueryRowContext(ctx context.Context, query string, args ...any) *sqlite.Row {
	return c.db.QueryRow(ctx, query, args...)
}

// Undo takes back a message and all after it. They stay stored. It returns how many there were.
func (v *View) Undo(ctx context.Context, id string, from int64) (n int64, err error) {
	err = v.s.db.Write(ctx, func(tx *sqlite.Tx) error {
		if err := v.owns(ctx, tx, id); err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, "update messages set undone = 1 where session_id = ? and id >= ? and undone = 0", id, from)
		if err == nil {
			n, err = res.RowsAffected()
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("take back messages of session %s: %w", id, err)
	}
	return n, nil
}
