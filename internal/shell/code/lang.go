package code

import "strings"

// LangOf tells the language an interpreter reads by its file name: python3.11, nodejs, gawk, psql, perl.exe.
func LangOf(program string) (Lang, bool) {
	name := program[strings.LastIndexAny(program, `/\`)+1:]
	name = strings.ToLower(name)
	name = strings.TrimSuffix(name, ".exe")
	if l := langByName(name); l != Unlisted {
		return l, true
	}
	l := langByName(strings.TrimRight(name, "0123456789.-"))
	return l, l != Unlisted
}

func langByName(name string) Lang {
	switch name {
	case "python", "python3", "pythonw", "pypy", "pypy3", "py", "ipython", "micropython", "python2":
		return Python
	case "perl":
		return Perl
	case "node", "nodejs", "bun", "deno", "bunx", "tsx", "ts-node", "qjs":
		return Node
	case "ruby", "jruby", "irb", "truffleruby":
		return Ruby
	case "php", "php-cli", "php-cgi":
		return PHP
	case "lua", "luajit", "texlua":
		return Lua
	case "r", "rscript":
		return R
	case "awk", "gawk", "mawk", "nawk", "original-awk", "goawk":
		return Awk
	case "sed", "gsed", "ssed":
		return Sed
	case "osascript":
		return AppleScript
	case "psql", "mysql", "mariadb", "sqlite", "sqlite3", "cockroach", "duckdb", "clickhouse-client", "sqlcmd",
		"sqlplus", "mycli", "pgcli", "litecli", "isql":
		return SQL
	case "vim", "vi", "nvim", "ex", "view", "vimdiff", "rvim", "gvim", "rview", "evim":
		return Vim
	case "make", "gmake", "gnumake", "bmake":
		return Make
	case "tclsh", "wish", "expect", "jimsh":
		return Tcl
	}
	return Unlisted
}
