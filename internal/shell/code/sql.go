package code

import "strings"

// sqlToken is a word, a quoted name, a string or one other character; low is its upper-case spelling for words.
type sqlToken struct {
	up    string
	text  string
	quote byte
	a, b  int
}

// sql reads statements of the common dialects and the commands of psql, mysql and sqlite3.
func (s *scanner) sql(a, b int) {
	var toks []sqlToken
	for i := a; i < b; {
		t, next := s.sqlNext(i, b)
		if t.up == "" {
			if t.quote == '\\' {
				s.sqlStatement(toks)
				toks = toks[:0]
				s.meta(t)
			}
			i = next
			continue
		}
		i = next
		if t.up == ";" {
			s.sqlStatement(toks)
			toks = toks[:0]
			continue
		}
		toks = append(toks, t)
	}
	s.sqlStatement(toks)
}

// sqlNext reads one token; one with an empty up is blank, a comment or, with quote '\\', a client command.
func (s *scanner) sqlNext(i, b int) (sqlToken, int) {
	c := s.src[i]
	rest := s.src[i:b]
	switch {
	case isSpace(c):
		return sqlToken{}, i + 1
	case strings.HasPrefix(rest, "--"), c == '#' && (i == 0 || s.src[i-1] != '-' && s.src[i-1] != '>' && !strings.HasPrefix(rest, "#>") && !strings.HasPrefix(rest, "#-")):
		if c == '#' && strings.ContainsAny(rest[:min(len(rest), lineEnd(rest))], "';") {
			s.eff(Unknown) // a comment for mysql only
		}
		if c == '-' && len(rest) > 2 && !isSpace(rest[2]) && strings.ContainsAny(rest[:lineEnd(rest)], ";") {
			s.eff(Unknown) // no comment for mysql
		}
		return sqlToken{}, i + lineEnd(rest)
	case strings.HasPrefix(rest, "/*"):
		n := strings.Index(rest[2:], "*/")
		if n < 0 {
			s.eff(Unknown)
			return sqlToken{}, b
		}
		if body := rest[2 : 2+n]; strings.HasPrefix(body, "!") || strings.HasPrefix(body, "M!") {
			s.eff(Unknown) // code for some servers
			from := i + 3
			for from < i+2+n && (isDigit(s.src[from]) || s.src[from] == '!') {
				from++
			}
			s.sql(from, i+2+n)
		} else if strings.Contains(body, "/*") { // nested in some dialects
			s.eff(Unknown)
		}
		return sqlToken{}, i + n + 4
	case c == '\'' || c == '"' || c == '`' || c == '[' && s.bracketName(i, b):
		return s.sqlQuoted(i, b)
	case c == '$' && (i == 0 || !isWord(s.src[i-1])):
		if n := strings.IndexByte(rest[1:], '$'); n >= 0 && (n == 0 || isName(rest[1:1+n])) {
			tag := rest[:n+2]
			m := strings.Index(rest[len(tag):], tag)
			if m < 0 {
				s.eff(Unknown)
				return sqlToken{}, b
			}
			end := i + 2*len(tag) + m
			return sqlToken{up: "'", quote: '$', text: s.src[i+len(tag) : end-len(tag)], a: i, b: end}, end
		}
	case c == '\\':
		n := lineEnd(rest)
		return sqlToken{quote: '\\', text: rest[1:n], a: i, b: i + n}, i + n
	case c == '.' && isAlpha(s.at1(i+1, b)) && s.lineStart(i):
		n := lineEnd(rest)
		return sqlToken{quote: '\\', text: rest[:n], a: i, b: i + n}, i + n
	case c == 0:
		s.eff(Unknown)
	case isWord(c):
		j := i + 1
		for j < b && (isWord(s.src[j]) || s.src[j] == '$') {
			j++
		}
		return sqlToken{up: strings.ToUpper(s.src[i:j]), text: s.src[i:j], a: i, b: j}, j
	}
	return sqlToken{up: s.src[i : i+1], text: s.src[i : i+1], a: i, b: i + 1}, i + 1
}

func lineEnd(t string) int {
	if n := strings.IndexByte(t, '\n'); n >= 0 {
		return n
	}
	return len(t)
}

func (s *scanner) at1(i, b int) byte {
	if i < b {
		return s.src[i]
	}
	return 0
}

func (s *scanner) lineStart(i int) bool {
	for i--; i >= 0 && (s.src[i] == ' ' || s.src[i] == '\t'); i-- {
	}
	return i < 0 || s.src[i] == '\n'
}

func (s *scanner) bracketName(i, b int) bool {
	return isAlpha(s.at1(i+1, b)) && (i == 0 || !isWord(s.src[i-1]) && s.src[i-1] != ']')
}

func (s *scanner) sqlQuoted(i, b int) (sqlToken, int) {
	c := s.src[i]
	end := c
	if c == '[' {
		end = ']'
	}
	for j := i + 1; j < b; j++ {
		switch {
		case s.src[j] == '\\' && c == '\'': // an escape in some dialects only
			if j+1 < b && s.src[j+1] == end {
				s.eff(Unknown)
			}
		case s.src[j] == end:
			if j+1 < b && s.src[j+1] == end {
				j++
				continue
			}
			return sqlToken{up: string([]byte{'\''}), quote: c, text: s.src[i+1 : j], a: i, b: j + 1}, j + 1
		}
	}
	s.eff(Unknown)
	return sqlToken{up: "'", quote: c, text: s.src[i+1 : b], a: i, b: b}, b
}

// meta reads a client command: \! of psql and mysql, .shell of sqlite3.
func (s *scanner) meta(t sqlToken) {
	word, rest, _ := strings.Cut(strings.TrimSpace(t.text), " ")
	rest = strings.TrimSpace(rest)
	arg := text(rest).at(t.a, t.b)
	if strings.HasPrefix(word, "!") {
		s.addShell(text(strings.TrimSpace(strings.TrimSpace(t.text)[1:])).at(t.a, t.b))
		return
	}
	switch word {
	case ".shell", ".system":
		s.addShell(arg)
	case ".tables", ".schema", ".databases", ".headers", ".header", ".mode", ".width", ".indexes", ".indices", ".quit", ".exit", ".show", ".timer", ".help", ".stats", ".nullvalue", ".separator", ".fullschema", ".dbinfo", ".version", ".changes", ".echo", ".explain", ".bail", ".print", ".eqp":
	case "d", "dt", "dn", "du", "df", "di", "dv", "ds", "dp", "dx", "l", "l+", "d+", "dt+", "dn+", "du+", "df+", "di+", "q", "x", "timing", "conninfo", "pset", "a", "t", "h", "?", "echo", "encoding", "z", "G", "dm", "dT", "da", "dD", "db", "dc", "set", "sf", "sv", "list", "db+", "dv+", "ds+", "dx+", "s_":
		if strings.Contains(rest, "`") {
			s.eff(Spawn | Unknown)
		}
	case ".read", "i", "ir", "include", ".", "source":
		if strings.HasPrefix(rest, "|") {
			s.addShell(text(rest[1:]).at(t.a, t.b))
			return
		}
		s.eff(Eval | Unknown)
		s.paths(Read, arg)
	case ".output", ".once", ".dump_", ".backup", ".save", ".excel", ".log", "o", "g", "out", "w", "s", "T", "tee":
		if word == "g" && rest == "" || (word == ".output" && rest == "") {
			return
		}
		if strings.HasPrefix(rest, "|") {
			s.addShell(text(strings.TrimSpace(rest[1:])).at(t.a, t.b))
			return
		}
		s.paths(Write, arg)
	case ".dump":
	case "c", "connect", ".open":
		s.paths(Connect, arg)
	default:
		s.eff(Unknown)
	}
}

// sqlStatement judges one statement.
func (s *scanner) sqlStatement(toks []sqlToken) {
	if len(toks) == 0 {
		return
	}
	q := Statement{Start: toks[0].a, End: toks[len(toks)-1].b}
	i := 0
	for i < len(toks) && toks[i].up == "(" {
		i++
	}
	if i == len(toks) {
		s.eff(Unknown)
		return
	}
	q.Verb = toks[i].up
	if toks[i].quote != 0 {
		q.Verb = ""
	}
	plan := q.Verb == "EXPLAIN" && !s.sqlAnalyze(toks)
	for j, t := range toks {
		if t.quote == '"' || t.quote == '`' || t.quote == '[' {
			if j+1 < len(toks) && toks[j+1].up == "(" && !plan && t.text != "" && isAlpha(t.text[0]) {
				toks[j].up = strings.ToUpper(t.text)
				s.sqlWord(toks, j)
				toks[j].up = "'"
			}
			continue
		}
		if t.quote != 0 {
			continue
		}
		if t.up == "WHERE" {
			q.Where = true
		}
		if !plan {
			s.sqlWord(toks, j)
		}
	}
	verb := q.Verb
	if verb == "EXPLAIN" || verb == "WITH" || verb == "DESC" || verb == "DESCRIBE" {
		verb, i = sqlInner(toks, i)
		if verb != q.Verb && verb != "" && verb != "SELECT" && (q.Verb == "WITH" || s.sqlAnalyze(toks)) {
			q.Verb = verb
		} else if q.Verb != "WITH" {
			verb = "EXPLAIN"
		} else if verb == "" {
			verb = "SELECT"
		}
	}
	q.Object = sqlObject(toks[i:])
	s.sqlVerb(verb, toks[i:])
	s.rep.SQL = append(s.rep.SQL, q)
}

func (s *scanner) sqlAnalyze(toks []sqlToken) bool {
	for _, t := range toks {
		if t.up == "ANALYZE" || t.up == "ANALYSE" {
			return true
		}
	}
	return false
}

// sqlInner is the strongest verb inside WITH and EXPLAIN.
func sqlInner(toks []sqlToken, i int) (string, int) {
	verb, at := "", i
	for j := i + 1; j < len(toks); j++ {
		if toks[j].quote != 0 {
			continue
		}
		switch toks[j].up {
		case "DELETE", "UPDATE", "INSERT", "MERGE", "REPLACE":
			if toks[j].up != "REPLACE" || j+1 < len(toks) && toks[j+1].up == "INTO" {
				return toks[j].up, j
			}
		case "SELECT", "DROP", "CREATE", "ALTER", "TRUNCATE":
			if verb == "" {
				verb, at = toks[j].up, j
			}
		}
	}
	return verb, at
}

// sqlVerb counts what the verb does.
func (s *scanner) sqlVerb(verb string, toks []sqlToken) {
	switch verb {
	case "SELECT", "SHOW", "EXPLAIN", "DESCRIBE", "DESC", "VALUES", "TABLE", "USE", "BEGIN", "COMMIT", "END", "ROLLBACK", "START", "SAVEPOINT", "RELEASE", "FETCH", "DECLARE", "CLOSE", "HELP", "STATUS", "LIST", "CHECK", "CHECKSUM", "FROM":
	case "DELETE", "DROP", "TRUNCATE", "PURGE", "FLUSH", "UNINSTALL", "DISCARD", "FLUSHALL", "FLUSHDB":
		s.eff(Delete)
	case "UPDATE", "INSERT", "REPLACE", "MERGE", "UPSERT", "ALTER", "CREATE", "RENAME", "GRANT", "REVOKE", "COMMENT", "VACUUM", "REINDEX", "ANALYZE", "ANALYSE", "CLUSTER", "OPTIMIZE", "REPAIR", "LOCK", "UNLOCK", "REFRESH", "SECURITY", "REASSIGN", "NOTIFY", "INSTALL", "DETACH", "BACKUP", "RESTORE", "CHECKPOINT":
		s.eff(Write)
	case "SET", "RESET":
		if len(toks) > 1 && (toks[1].up == "GLOBAL" || toks[1].up == "PERSIST" || toks[1].up == "PASSWORD" || toks[1].up == "@") {
			s.eff(Write)
		}
	case "PRAGMA":
		for _, t := range toks {
			if t.up == "=" {
				s.eff(Write)
			}
		}
	case "COPY":
		s.sqlCopy(toks)
	case "ATTACH":
		s.eff(Write)
		s.paths(Write, sqlString(toks))
	case "KILL", "SHUTDOWN":
		s.eff(Signal)
	case "SOURCE":
		s.eff(Eval | Unknown)
	case "SYSTEM":
		if len(toks) > 1 {
			a, b := toks[1].a, toks[len(toks)-1].b
			s.addShell(text(s.src[a:b]).at(a, b))
			return
		}
		s.eff(Unknown)
	case "EXEC", "EXECUTE", "CALL", "DO", "PREPARE", "LOAD", "IMPORT", "EXPORT", "HANDLER":
		s.eff(Eval | Write | Unknown)
	default:
		s.eff(Unknown)
	}
}

// sqlString is the first string of a statement.
func sqlString(toks []sqlToken) value {
	for _, t := range toks {
		if t.quote == '\'' || t.quote == '$' || t.quote == '"' {
			return text(t.text).at(t.a, t.b)
		}
	}
	return value{a: toks[0].a, b: toks[len(toks)-1].b}
}

func (s *scanner) sqlCopy(toks []sqlToken) {
	depth := 0
	for i, t := range toks {
		switch {
		case t.up == "(":
			depth++
		case t.up == ")":
			depth--
		case depth > 0 || i+1 >= len(toks):
		case t.up == "PROGRAM":
			s.addShell(sqlString(toks[i:]))
			return
		case t.up == "TO" || t.up == "FROM":
			n := toks[i+1]
			switch {
			case n.up == "STDOUT":
			case n.up == "STDIN":
				s.eff(Write)
			case n.up == "PROGRAM":
				s.addShell(sqlString(toks[i+1:]))
			case n.quote == '\'' && t.up == "TO":
				s.paths(Write, text(n.text).at(n.a, n.b))
			case n.quote == '\'':
				s.eff(Write)
				s.paths(Read, text(n.text).at(n.a, n.b))
			default:
				s.eff(Unknown)
			}
			return
		}
	}
	s.eff(Unknown)
}

// sqlWord counts functions and clauses that reach out of the database, wherever they stand.
func (s *scanner) sqlWord(toks []sqlToken, j int) {
	up := toks[j].up
	next := ""
	if j+1 < len(toks) {
		next = toks[j+1].up
	}
	file := func(e Effect) {
		v := value{a: toks[j].a, b: toks[j].b}
		if k := j + 1; k < len(toks) && toks[k].up == "(" {
			j = k
		}
		if j+1 < len(toks) && (toks[j+1].quote == '\'' || toks[j+1].quote == '"') && (j+2 >= len(toks) || toks[j+2].up != "|") {
			v = text(toks[j+1].text).at(toks[j+1].a, toks[j+1].b)
		}
		s.paths(e, v)
	}
	switch up {
	case "OUTFILE", "DUMPFILE":
		file(Write)
		return
	case "INTO":
		if next != "OUTFILE" && next != "DUMPFILE" && next != "@" && toks[0].up == "SELECT" {
			s.eff(Write)
		}
		return
	case "INFILE":
		file(Read)
		return
	}
	if up == "INSERT" && next == "INTO" && j > 0 || up == "DELETE" && next == "FROM" && j > 0 {
		s.eff(Write)
		if up == "DELETE" {
			s.eff(Delete)
		}
	}
	if next != "(" || up == "" || !isAlpha(up[0]) {
		return
	}
	switch up {
	case "LOAD_FILE", "PG_READ_FILE", "PG_READ_BINARY_FILE", "READFILE", "READ_CSV", "READ_CSV_AUTO", "READ_PARQUET", "READ_JSON", "READ_TEXT", "READ_BLOB", "PG_LS_DIR", "PG_STAT_FILE", "LO_IMPORT":
		file(Read)
	case "WRITEFILE", "LO_EXPORT", "PG_FILE_WRITE":
		file(Write)
	case "EDIT", "XP_CMDSHELL", "SYS_EXEC", "SYS_EVAL":
		s.addShell(value{a: toks[j].a, b: toks[j].b})
	case "PG_TERMINATE_BACKEND", "PG_CANCEL_BACKEND", "PG_RELOAD_CONF", "PG_ROTATE_LOGFILE":
		s.eff(Signal)
	case "SETVAL", "NEXTVAL", "SET_CONFIG", "PG_SWITCH_WAL", "PG_CREATE_RESTORE_POINT", "PG_DROP_REPLICATION_SLOT":
		s.eff(Write)
	case "DBLINK", "DBLINK_EXEC", "DBLINK_CONNECT", "POSTGRES_SCAN", "MYSQL_SCAN", "UTL_HTTP", "HTTP_GET", "URL":
		s.eff(Connect | Unknown)
	case "LOAD_EXTENSION", "QUERY_TO_XML", "FTS3_TOKENIZER":
		s.eff(Eval | Unknown)
	default:
		if !sqlFunction(up) {
			s.sqlUnlisted(toks, j)
		}
	}
}

// sqlUnlisted is a name before a bracket that is no listed function: fine after words that bring a table or columns.
func (s *scanner) sqlUnlisted(toks []sqlToken, j int) {
	if j > 0 {
		switch toks[j-1].up {
		case "INTO", "TABLE", "EXISTS", "JOIN", "ON", "WITH", "RECURSIVE", "INDEX", "REFERENCES", "UPDATE", "COPY", ",", ".", "AS", "FUNCTION", "VIEW", "PROCEDURE":
			if toks[j-1].up != "," && toks[j-1].up != "." {
				return
			}
			switch toks[0].up {
			case "INSERT", "CREATE", "WITH", "ALTER", "COPY", "REPLACE":
				return
			}
		}
	}
	switch toks[0].up {
	case "CREATE", "ALTER", "DROP", "GRANT":
		return // it writes anyhow, and lists columns and types
	}
	s.eff(Unknown)
}

// sqlFunction lists words that may stand before a bracket without an effect.
func sqlFunction(up string) bool {
	switch up {
	case "COUNT", "SUM", "AVG", "MIN", "MAX", "COALESCE", "NULLIF", "IFNULL", "ISNULL", "NVL", "GREATEST", "LEAST", "ROUND", "ABS", "CEIL", "CEILING", "FLOOR", "MOD", "POWER", "SQRT", "RANDOM", "RAND", "SIGN", "LN", "LOG", "EXP", "TRUNC", "LENGTH", "CHAR_LENGTH", "OCTET_LENGTH", "UPPER", "LOWER", "TRIM", "LTRIM", "RTRIM", "SUBSTR", "SUBSTRING", "REPLACE", "CONCAT", "CONCAT_WS", "LEFT", "RIGHT", "LPAD", "RPAD", "POSITION", "INSTR", "STRPOS", "SPLIT_PART", "REVERSE", "REPEAT", "INITCAP", "FORMAT", "PRINTF", "HEX", "UNHEX", "MD5", "SHA1", "SHA2", "SHA256", "ENCODE", "DECODE", "QUOTE", "CHAR", "CHR", "ASCII", "UNICODE",
		"NOW", "CURRENT_DATE", "CURRENT_TIMESTAMP", "CURDATE", "CURTIME", "DATE", "TIME", "DATETIME", "TIMESTAMP", "STRFTIME", "JULIANDAY", "UNIXEPOCH", "DATE_TRUNC", "DATE_PART", "EXTRACT", "AGE", "TO_CHAR", "TO_DATE", "TO_TIMESTAMP", "DATE_FORMAT", "DATE_ADD", "DATE_SUB", "DATEDIFF", "TIMESTAMPDIFF", "YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "UNIX_TIMESTAMP", "FROM_UNIXTIME", "INTERVAL", "MAKE_DATE", "JUSTIFY_INTERVAL", "STR_TO_DATE", "WEEK", "WEEKDAY", "QUARTER",
		"CAST", "CONVERT", "TYPEOF", "PG_TYPEOF", "ROW_NUMBER", "RANK", "DENSE_RANK", "LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE", "NTILE", "PERCENTILE_CONT", "PERCENTILE_DISC", "PERCENT_RANK", "STDDEV", "VARIANCE", "MEDIAN", "MODE", "CORR", "ARRAY_AGG", "STRING_AGG", "GROUP_CONCAT", "JSON_AGG", "JSONB_AGG", "JSON_OBJECT_AGG", "JSON_EXTRACT", "JSON_OBJECT", "JSON_ARRAY", "JSON_EACH", "JSONB_BUILD_OBJECT", "JSON_BUILD_OBJECT", "JSONB_ARRAY_ELEMENTS", "JSON_ARRAY_ELEMENTS", "JSONB_PRETTY", "TO_JSON", "TO_JSONB", "ROW_TO_JSON", "JSON_ARRAY_LENGTH", "JSON_VALID", "JSON_UNQUOTE", "ARRAY", "ARRAY_LENGTH", "UNNEST", "GENERATE_SERIES", "ARRAY_TO_STRING", "STRING_TO_ARRAY", "REGEXP_REPLACE", "REGEXP_MATCHES", "REGEXP_MATCH", "REGEXP_LIKE", "TOTAL", "BOOL_AND", "BOOL_OR", "EVERY", "BIT_AND", "BIT_OR", "CARDINALITY", "FIELD", "FIND_IN_SET", "IF", "IIF", "UUID", "GEN_RANDOM_UUID", "LAST_INSERT_ROWID", "LAST_INSERT_ID", "SQLITE_VERSION", "CHANGES", "ROW_COUNT", "FOUND_ROWS",
		"VERSION", "DATABASE", "SCHEMA", "USER", "CURRENT_USER", "CURRENT_DATABASE", "CURRENT_SCHEMA", "CURRENT_SCHEMAS", "SESSION_USER", "CONNECTION_ID", "CURRENT_SETTING", "INET_SERVER_ADDR", "PG_DATABASE_SIZE", "PG_TOTAL_RELATION_SIZE", "PG_RELATION_SIZE", "PG_TABLE_SIZE", "PG_INDEXES_SIZE", "PG_SIZE_PRETTY", "PG_GET_VIEWDEF", "PG_GET_FUNCTIONDEF", "PG_GET_INDEXDEF", "PG_GET_CONSTRAINTDEF", "PG_IS_IN_RECOVERY", "PG_POSTMASTER_START_TIME", "PG_BACKEND_PID", "PG_STAT_ACTIVITY", "OBJ_DESCRIPTION", "COL_DESCRIPTION", "HAS_TABLE_PRIVILEGE", "TO_REGCLASS", "FORMAT_TYPE", "PG_LAST_WAL_REPLAY_LSN", "PG_CURRENT_WAL_LSN", "PG_WAL_LSN_DIFF", "PG_LAST_XACT_REPLAY_TIMESTAMP", "PRAGMA_TABLE_INFO", "PG_CONF_LOAD_TIME",
		"IN", "EXISTS", "AND", "OR", "NOT", "WHERE", "FROM", "SELECT", "ON", "USING", "AS", "OVER", "BY", "VALUES", "ANY", "ALL", "SOME", "FILTER", "GROUP", "WITHIN", "UNION", "EXCEPT", "INTERSECT", "THEN", "ELSE", "WHEN", "CASE", "LIKE", "BETWEEN", "HAVING", "LATERAL", "ROW", "ROLLUP", "CUBE", "SETS", "DISTINCT", "PARTITION", "LIMIT", "SET", "MATERIALIZED", "EXPLAIN", "ANALYZE", "WITH", "TABLE_INFO", "INDEX_LIST", "FOREIGN_KEY_LIST", "INTEGRITY_CHECK", "QUICK_CHECK", "TABLE_XINFO", "VARCHAR", "DECIMAL", "NUMERIC", "KEY", "CHECK", "UNIQUE", "DEFAULT", "CONSTRAINT", "JOIN", "DUPLICATE", "CONFLICT", "RETURNING", "GROUPING", "INDEX_INFO", "OFFSET", "IS":
		return true
	}
	return false
}

// sqlObject is the name the statement works on.
func sqlObject(toks []sqlToken) string {
	for i, t := range toks {
		if i == 0 {
			if t.up == "UPDATE" || t.up == "TRUNCATE" || t.up == "USE" || t.up == "MERGE" {
				return sqlName(toks, 1)
			}
			continue
		}
		if t.quote != 0 {
			continue
		}
		switch t.up {
		case "FROM", "INTO", "TABLE", "DATABASE", "SCHEMA", "VIEW", "INDEX", "USER", "ROLE", "FUNCTION", "SEQUENCE", "TRIGGER", "TYPE", "EXTENSION", "TABLESPACE", "OWNED", "PROCEDURE", "KEYSPACE", "COLLECTION":
			return sqlName(toks, i+1)
		}
	}
	return ""
}

func sqlName(toks []sqlToken, i int) string {
	for i < len(toks) {
		switch toks[i].up {
		case "IF", "NOT", "EXISTS", "TABLE", "ONLY", "CONCURRENTLY", "LOW_PRIORITY", "IGNORE", "QUICK", "BY", "OR", "INTO":
			if toks[i].quote == 0 {
				i++
				continue
			}
		}
		break
	}
	name := ""
	for i < len(toks) && (toks[i].quote != 0 || isWord(toks[i].up[0])) {
		name += toks[i].text
		if i+2 < len(toks) && toks[i+1].up == "." {
			name += "."
			i += 2
			continue
		}
		break
	}
	return name
}
