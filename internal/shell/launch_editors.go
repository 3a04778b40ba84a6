package shell

import (
	"strings"

	"hermes/internal/shell/code"
)

// vim reads the commands, scripts and input of the vi family.
func vim(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], exact: true, short: "c:S:u:U:i:T:t:w:W:r::L::P:l:hvVo::O::p::",
		long: "cmd= startuptime= servername= remote= remote-send= remote-expr= socketid= embed headless clean noplugin listen= server= help version"}
	var hs []handoff
	ex := c.Name == "ex"
	for s.next() {
		switch s.key {
		case "help", "version", "h":
			return nil, true
		case "c", "cmd", "remote-send", "remote-expr":
			if s.has {
				hs = program(hs, dashed(s.key), code.Vim, s.val)
			}
		case "S", "u":
			if n := s.val.Text; s.has && n != "NONE" && n != "NORC" && n != "DEFAULTS" {
				w := s.val
				hs = append(hs, handoff{how: dashed(s.key), file: &w, lang: code.Vim})
			}
		case "e", "E":
			ex = true
		case "":
			if strings.HasPrefix(s.val.Text, "+") && len(s.val.Text) > 1 && !s.end {
				if w := s.val.behind(1); !numeric(w.Text) || len(w.Holes) > 0 || w.Text[0] == '-' {
					hs = program(hs, "+", code.Vim, w)
				}
			}
		}
	}
	if ex && c.Stdin != nil {
		hs = append(hs, handoff{how: "stdin", stdin: true, lang: code.Vim})
	}
	return hs, false
}

// database reads the clients of SQL servers and files: statements in options, operands and on standard input, and the
// commands of the clients themselves that start a shell.
func database(c *Command, name string) ([]handoff, bool) {
	var p interp
	switch strings.TrimRight(name, "0123456789.-") {
	case "psql", "pgcli", "cockroach":
		p = interp{short: "c:d:f:F:h:L:o:p:P:R:T:U:v:lVeabnqsSwWxXzt1A?", code: "c command execute e", files: "f file", query: "l V ? list", permute: true, none: true,
			long: "command= dbname= file= field-separator= host= log-file= output= port= pset= record-separator= table-attr= username= set= variable= execute= " +
				"list no-psqlrc single-transaction quiet echo-all echo-errors echo-queries tuples-only no-align html expanded csv password no-password help version"}
		if name == "cockroach" {
			p.short = "e:d:f:h:p:u:"
		} else {
			p.code = "c command"
		}
	case "mysql", "mariadb", "mycli":
		p = interp{short: "e:D:h:P:p::S:u:V", code: "e execute init-command", query: "V", permute: true, none: true,
			long: "execute= init-command= database= host= port= password=? socket= user= default-character-set= delimiter= defaults-file= pager=? tee= ssl-mode= help version " +
				"batch silent skip-column-names table vertical force quick raw"}
	case "sqlite", "litecli", "duckdb":
		return sqlite(c)
	case "clickhouse-client":
		p = interp{short: "q:h:u:d:", code: "q query", files: "queries-file", permute: true, none: true, exact: true, long: "query= queries-file= host= port= user= password= database= format= help version"}
	case "cqlsh", "snowsql", "trino", "presto", "beeline", "hive", "spark-sql", "impala-shell", "usql", "vsql", "mysqlsh":
		p = interp{short: "e:f:q:c:u:p:k:h:d:a:n:i:", code: "e q c execute query command", files: "f file filename", permute: true, none: true, exact: true,
			long: "execute= query= command= file= filename= keyspace= server= catalog= schema= user= host= port= database= help version"}
	case "sqlcmd", "isql", "sqlplus":
		p = interp{short: "Q:q:i:S:U:P:d:o:", code: "Q q", files: "i", permute: true, none: true, exact: true, long: "help version"}
	default:
		return nil, false
	}
	hs, query := p.handoffs(c, code.SQL)
	if query {
		return nil, true
	}
	for _, h := range hs {
		if h.code != nil {
			hs = clientCommands(hs, h.how, *h.code)
		}
	}
	if len(hs) == 0 && c.Stdin != nil {
		hs = append(hs, handoff{how: "stdin", stdin: true, lang: code.SQL})
		for _, line := range stdinLines(c) {
			hs = clientCommands(hs, "stdin", line)
		}
	}
	return hs, false
}

// clientCommands adds the shell commands of psql (\!) and mysql (\!, system).
func clientCommands(hs []handoff, how string, w Word) []handoff {
	for _, line := range linesOf(w) {
		t := strings.TrimLeft(line.Text, " \t")
		off := len(line.Text) - len(t)
		if i := strings.Index(t, `\!`); i >= 0 {
			hs = say(hs, how, line.behind(off+i+2), systemShell)
		} else if strings.HasPrefix(t, "system ") {
			hs = say(hs, how, line.behind(off+len("system ")), systemShell)
		} else if i := strings.Index(t, `\o |`); i >= 0 {
			hs = say(hs, how, line.behind(off+i+4), systemShell)
		} else if i := strings.Index(strings.ToLower(t), `\copy `); i >= 0 {
			if j := strings.Index(strings.ToLower(t[i:]), " program '"); j >= 0 {
				text := line.behind(off + i + j + len(" program '"))
				if k := strings.LastIndexByte(text.Text, '\''); k >= 0 {
					n := min(strings.Count(text.Text[:k], Unknown), len(text.Holes))
					text.Text, text.Holes = text.Text[:k], text.Holes[:n:n]
				}
				hs = say(hs, how, text, systemShell)
			}
		}
	}
	return hs
}

// sqlite takes a file, then statements or dot commands; some dot commands start a shell.
func sqlite(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], exact: true, single: true, short: "",
		long: "init= cmd= separator= newline= nullvalue= mmap= vfs= lookaside= maxsize= pagecache= heap= escape= c= s= f= line csv json box table column batch bail help version"}
	var hs []handoff
	operands := 0
	for s.next() {
		switch s.key {
		case "help", "version":
			return nil, true
		case "lookaside", "pagecache":
			s.i++
		case "cmd", "c", "s":
			if s.has {
				hs = dotCommand(hs, dashed(s.key), s.val)
			}
		case "init", "f":
			if s.has {
				w := s.val
				hs = append(hs, handoff{how: dashed(s.key), file: &w, lang: code.SQL})
			}
		case "":
			if operands++; operands > 1 {
				hs = dotCommand(hs, "sql", s.val)
			}
		}
	}
	if operands < 2 && c.Stdin != nil {
		hs = append(hs, handoff{how: "stdin", stdin: true, lang: code.SQL})
		for _, line := range stdinLines(c) {
			if strings.HasPrefix(line.Text, ".") {
				hs = dotCommand(hs, "stdin", line)
			}
		}
	}
	return hs, false
}

// dotCommand adds a statement, or what a dot command runs.
func dotCommand(hs []handoff, how string, w Word) []handoff {
	t := strings.TrimLeft(w.Text, " \t")
	off := len(w.Text) - len(t)
	if !strings.HasPrefix(t, ".") {
		return program(hs, how, code.SQL, w)
	}
	verb, rest, _ := strings.Cut(t, " ")
	at := off + len(t) - len(rest)
	switch verb {
	case ".shell", ".system":
		return say(hs, verb, w.behind(at), systemShell)
	case ".read", ".output", ".once", ".import", ".log", ".excel":
		if i := strings.IndexByte(rest, '|'); i >= 0 {
			text := w.behind(at + i + 1)
			if i > 0 && (rest[i-1] == '"' || rest[i-1] == '\'') {
				text.Text = strings.TrimRight(text.Text, `"' `)
			}
			return say(hs, verb, text, systemShell)
		}
		if verb == ".read" && rest != "" {
			file := w.behind(at)
			return append(hs, handoff{how: verb, file: &file, lang: code.SQL})
		}
	}
	return hs
}

// makefile reads what make runs beyond the makefile of the directory: -f -, --eval, and a SHELL of its own.
func makefile(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], short: "bBC:deE:f:hiI:j::kl::Lmno:O::pqrRsStvW:w",
		long: "always-make directory= debug=? environment-overrides eval= file= makefile= help ignore-errors include-dir= jobs=? jobserver-style= keep-going load-average=? " +
			"max-load=? check-symlink-times just-print dry-run recon assume-old= old-file= output-sync=? print-data-base question no-builtin-rules " +
			"no-builtin-variables shuffle=? silent quiet no-silent no-keep-going stop touch trace version print-directory no-print-directory what-if= new-file= " +
			"assume-new= warn-undefined-variables"}
	var hs []handoff
	var dir *Word
	for s.next() {
		switch s.key {
		case "help", "version", "h", "v":
			return nil, true
		case "C", "directory":
			if s.has {
				w := s.val
				dir = &w
			}
		case "E", "eval":
			if s.has {
				hs = program(hs, dashed(s.key), code.Make, s.val)
			}
		case "f", "file", "makefile":
			if s.val.Is("-") || s.val.Is("/dev/stdin") {
				hs = append(hs, handoff{how: "-f", stdin: true, lang: code.Make})
			}
		case "":
			if a, ok := s.val.assignment(); ok && a.Name == "SHELL" && a.Value.Text != "" {
				hs = say(hs, "SHELL", a.Value, systemShell)
			}
		}
	}
	if dir != nil {
		for i := range hs {
			hs[i].dir = dir
		}
	}
	return hs, false
}
