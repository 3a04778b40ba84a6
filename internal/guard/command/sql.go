package command

import (
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell/code"
)

// SQL that destroys: rows 38 to 40. A statement counts when a database program is given it, or when it is typed as a command.
func sql() table {
	return table{
		{
			Key:    "SQL DROP",
			Harms:  guard.Remote | guard.Work,
			Match:  match{on: onPayload, test: statementIn(dropsData)},
			Why:    "deletes a table or a database",
			Remedy: "look first: `psql -c '\\d users'`",
			Hits:   []string{`psql -c "DROP TABLE users;"`, `mysql -e 'drop database shop'`, "sqlite3 x.db 'DROP TABLE IF EXISTS t'", "psql <<E\nDROP SCHEMA app CASCADE;\nE"},
			Passes: []string{`git commit -m "DROP TABLE users"`, `psql -c "SELECT 1"`, "grep 'DROP TABLE' schema.sql", `psql -c "DROP INDEX i"`},
		},
		{
			Key:    "SQL DELETE without WHERE",
			Harms:  guard.Remote | guard.Work,
			Match:  match{on: onPayload, test: statement(func(s code.Statement) bool { return s.Verb == "DELETE" && !s.Where })},
			Why:    "deletes every row of the table",
			Remedy: "say which rows: `psql -c 'DELETE FROM users WHERE id = 7'`",
			Hits:   []string{`psql -c "DELETE FROM users;"`, `sqlite3 x.db "delete from t"`},
			Passes: []string{`psql -c "DELETE FROM users WHERE id = 7"`, `echo "DELETE FROM users"`},
		},
		{
			Key:    "SQL TRUNCATE",
			Harms:  guard.Remote | guard.Work,
			Match:  match{on: onPayload, test: statement(func(s code.Statement) bool { return s.Verb == "TRUNCATE" })},
			Why:    "deletes every row of the table",
			Remedy: "say which rows: `psql -c 'DELETE FROM users WHERE id = 7'`",
			Hits:   []string{`psql -c "TRUNCATE TABLE users;"`, `mysql -e "truncate logs"`},
			Passes: []string{"truncate -s 0 app.log", `psql -c "SELECT 1"`},
		},
		typed("SQL DROP", "drop", "deletes a table or a database", "DROP TABLE users", "drop x"),
		typed("SQL DELETE without WHERE", "delete", "deletes every row of the table", "DELETE FROM users", "DELETE FROM users WHERE id=1"),
		typed("SQL TRUNCATE", "truncate", "deletes every row of the table", "truncate table users", "truncate -s 0 x"),
	}
}

// typed is the row for a statement that is typed as a command.
func typed(key, program, why, hit, pass string) Rule {
	return Rule{
		Key: key, Harms: guard.Remote | guard.Work, Match: all(runs(program), when(typedSQL)), Why: why,
		Remedy: "give it to the database program, which is judged by what it would do", Hits: []string{hit}, Passes: []string{pass},
	}
}

// dropsData tells whether a statement deletes what holds data: dropping an index, a view or a trigger does not.
func dropsData(text string, s code.Statement) bool {
	if s.Verb != "DROP" {
		return false
	}
	f := strings.Fields(strings.ToUpper(text[min(s.Start, len(text)):min(s.End, len(text))]))
	return len(f) < 2 || !has([]string{"INDEX", "VIEW", "TRIGGER", "FUNCTION", "PROCEDURE", "MATERIALIZED"}, f[1])
}

// statement holds for a payload with such a statement.
func statement(is func(code.Statement) bool) test {
	return statementIn(func(_ string, s code.Statement) bool { return is(s) })
}

// statementIn is statement for a condition on the text around it as well.
func statementIn(is func(text string, s code.Statement) bool) test {
	return func(c *ctx, i int) (span, bool) {
		p := c.payload(i)
		for _, s := range p.Report.SQL {
			if is(p.Text.Text, s) {
				return at(p.Text), true
			}
		}
		return span{}, false
	}
}

func typedSQL(c *ctx, i int) (span, bool) {
	args := c.args(i)
	if len(args) < 3 {
		return span{}, false
	}
	second := strings.ToLower(args[1].Text)
	switch c.name(i) {
	case "drop":
		return span{}, second == "table" || second == "database" || second == "schema"
	case "truncate":
		return span{}, second == "table"
	}
	for _, w := range args {
		if strings.EqualFold(w.Text, "where") {
			return span{}, false
		}
	}
	return span{}, second == "from"
}
