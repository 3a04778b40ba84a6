package session

import "hermes/internal/sqlite"

// schema is the steps to what this version stores. The columns id, source, parent_session_id of sessions, and role, content,
// tool_calls, tool_call_id, tool_name, timestamp of messages are also known to other programs; the rest is ours.
func schema() sqlite.Schema { return sqlite.Schema{first, second} }

const first = `
create table sessions (
	id text primary key,
	source text not null,
	profile text not null,
	scope_key text not null,
	title text,
	model text,
	parent_session_id text references sessions(id) on delete set null,
	started_at real not null,
	updated_at real not null,
	message_count integer not null default 0,
	input_tokens integer not null default 0,
	output_tokens integer not null default 0,
	cost real not null default 0,
	yolo integer not null default 0,
	first_text text
);
create index sessions_scope on sessions (profile, source, scope_key, updated_at);
create index sessions_parent on sessions (parent_session_id);
create table messages (
	id integer primary key autoincrement,
	session_id text not null references sessions(id) on delete cascade,
	unique_key text not null,
	role text not null,
	content text not null default '',
	tool_calls text,
	tool_call_id text,
	tool_name text,
	timestamp real not null,
	failed integer not null default 0,
	reasoning text,
	model text,
	usage text,
	cost real,
	approved_by text,
	approved_how text,
	covers integer,
	undone integer not null default 0,
	unique (session_id, unique_key)
);
create index messages_session on messages (session_id, id);
create virtual table words using fts5 (text, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2");
`

// What a scanner found in a result, as JSON.
const second = `alter table messages add column risk text`
