package command

import (
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell/code"
)

// Program text in languages that have no reader of their own: what is not made of literals, operators, names it defines
// itself and words that compute or print is asked about.
func smallLanguages() table {
	return table{{
		Key:    "program text in a language that is not read",
		Harms:  guard.Host,
		Match:  match{on: onPayload, test: unreadText},
		Why:    "holds words that are not known to be harmless",
		Remedy: "write it to a file that can be read: `julia script.jl`",
		Hits:   []string{"julia -e 'Base.cp(\"a\",\"b\")'", "guile -c '(primitive-fork)'", "octave --eval 'mex x.c'", "emacs --batch --eval '(ding-and-do)'", "racket -e '(ffi-lib \"x\")'"},
		Passes: []string{
			"julia -e 'println(1+1)'", "elixir -e 'IO.puts(1)'", "ghc -e 'sum [1..10]'", "guile -c '(display (+ 1 2))'", "octave --eval 'disp(1+1)'", "sbcl --noinform --eval '(print (+ 1 2))' --quit", "gnuplot -e 'plot sin(x)'",
			"emacs --batch --eval '(princ (emacs-version))'", "groovy -e 'println([1,2].sum())'",
		},
	}}
}

func unreadText(c *ctx, i int) (span, bool) {
	p := c.payload(i)
	if p.Lang != code.Unlisted || p.File != "" || len(p.Text.Holes) > 0 || suspicious(p.Text.Text) || computes(c.name(p.Command), p.Text.Text) {
		return span{}, false
	}
	return at(p.Text), true
}

// computes tells whether text in a small language only computes and prints. It knows no grammar: strings are data,
// everything else must be a number, a name the text defines, or a word of the list.
func computes(program, text string) bool {
	s := words{text: text, mongo: program == "mongosh" || program == "mongo", plot: program == "gnuplot"}
	return s.harmless()
}

// words goes through the words of a program text.
type words struct {
	text  string
	mongo bool
	plot  bool
	own   []string // names the text defines
}

func (s *words) harmless() bool {
	if strings.IndexByte(s.text, '`') >= 0 || s.mongo && (strings.Contains(s.text, "$out") || strings.Contains(s.text, "$merge") || strings.Contains(s.text, "$where") || strings.Contains(s.text, "$function")) {
		return false
	}
	s.names()
	t := s.text
	for k := 0; k < len(t); {
		switch b := t[k]; {
		case b == '"' || b == '\'' && s.quote(k):
			end, ok := s.literal(k)
			if !ok {
				return false
			}
			k = end
		case letter(b):
			end := k
			for end < len(t) && (letter(t[end]) || t[end] >= '0' && t[end] <= '9') {
				end++
			}
			if !s.allowed(k, end) {
				return false
			}
			k = end
		case b >= '0' && b <= '9':
			for k < len(t) && (letter(t[k]) || t[k] >= '0' && t[k] <= '9') {
				k++
			}
		case b == 0 || b == '\\' && s.plot:
			return false
		default:
			k++
		}
	}
	return true
}

func letter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' || b == '_' || b >= 0x80 }

// quote tells whether the apostrophe at k begins a string: in lisps and for transposed matrices it does not.
func (s *words) quote(k int) bool {
	return (k == 0 || !letter(s.text[k-1]) && s.text[k-1] != ')' && s.text[k-1] != ']') && (k+1 == len(s.text) || s.text[k+1] != '(') && strings.IndexByte(s.text[k+1:], '\'') >= 0
}

// literal returns where the string that begins at k ends. A string with code in it, or a plot's pipe or path, is none.
func (s *words) literal(k int) (end int, ok bool) {
	q := s.text[k]
	for end = k + 1; end < len(s.text) && s.text[end] != q; end++ {
		if s.text[end] == '\\' {
			end++
		}
	}
	if end >= len(s.text) {
		return 0, false
	}
	in := s.text[k+1 : end]
	if strings.Contains(in, "#{") || strings.Contains(in, "${") || strings.Contains(in, "$(") {
		return 0, false
	}
	if s.plot && (strings.HasPrefix(in, "<") || strings.HasPrefix(in, "|") || strings.HasPrefix(in, "~") || strings.Contains(in, "..") || strings.HasPrefix(in, "/") && !strings.HasPrefix(in, "/tmp/")) {
		return 0, false
	}
	return end + 1, true
}

// names collects what the text itself defines: x = …, x <- …, (x) ->, let x, fun x.
func (s *words) names() {
	t := s.text
	for k := 0; k < len(t); k++ {
		if !letter(t[k]) || k > 0 && (letter(t[k-1]) || t[k-1] == '.' || t[k-1] == ':') {
			continue
		}
		end := k
		for end < len(t) && (letter(t[end]) || t[end] >= '0' && t[end] <= '9') {
			end++
		}
		rest := strings.TrimLeft(t[end:], " \t")
		before := strings.TrimRight(t[:k], " \t")
		if strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "==") || strings.HasPrefix(rest, "<-") || strings.HasPrefix(rest, ":=") || strings.HasPrefix(rest, "->") || strings.HasPrefix(rest, "=>") ||
			strings.HasSuffix(before, "let") || strings.HasSuffix(before, "val") || strings.HasSuffix(before, "var") || strings.HasSuffix(before, "for") {
			s.own = append(s.own, t[k:end])
		}
		k = end
	}
}

// allowed tells whether the word text[a:b] is harmless where it stands.
func (s *words) allowed(a, b int) bool {
	w := s.text[a:b]
	rest := strings.TrimLeft(s.text[b:], " \t")
	called := strings.HasPrefix(rest, "(")
	if has(s.own, w) && !called || b-a == 1 {
		return true
	}
	if s.mongo {
		switch {
		case a >= 3 && s.text[a-3:a] == "db." && !called, strings.HasPrefix(rest, ":") && !s.command(a), mongoReads(w):
			return true
		case strings.HasPrefix(rest, ":"):
			return mongoCommand(w)
		}
	}
	if s.mongo && (w == "drop" || w == "add" || w == "stop" || w == "set" || w == "replace") {
		return false
	}
	if strings.EqualFold(w, "system") {
		return strings.HasPrefix(strings.ToLower(s.text[b:]), ".version")
	}
	if s.plot && plotWord(w) {
		return true
	}
	return computingWord(strings.ToLower(w))
}

// command tells whether the key at a is the name of a command of the server.
func (s *words) command(a int) bool {
	before := strings.TrimRight(s.text[:a], " \t{\"'")
	return strings.HasSuffix(before, "ommand(")
}

func mongoReads(w string) bool {
	switch w {
	case "db", "find", "findOne", "limit", "sort", "skip", "count", "countDocuments", "estimatedDocumentCount", "distinct", "aggregate", "explain", "toArray", "pretty", "stats", "dataSize", "storageSize", "totalSize",
		"getIndexes", "getCollectionNames", "getCollectionInfos", "getCollection", "getName", "serverStatus", "version", "currentOp", "hostInfo", "adminCommand", "runCommand", "printjson", "forEach", "JSON", "stringify",
		"rs", "status", "conf", "isMaster", "hello", "sh", "getMongo", "getDBNames", "getSiblingDB", "ObjectId", "ISODate", "projection", "match", "group", "project", "EJSON", "batchSize", "hasNext", "next", "itcount", "getUsers":
		return true
	}
	return false
}

func mongoCommand(w string) bool {
	switch w {
	case "listDatabases", "ping", "serverStatus", "buildInfo", "hostInfo", "getParameter", "replSetGetStatus", "connectionStatus", "dbStats", "collStats", "listCollections", "isMaster", "hello", "nameOnly":
		return true
	}
	return false
}

func plotWord(w string) bool {
	switch w {
	case "set", "unset", "terminal", "term", "png", "pngcairo", "svg", "pdf", "pdfcairo", "dumb", "jpeg", "gif", "qt", "x11", "output", "plot", "splot", "replot", "with", "lines", "points", "linespoints", "lp", "boxes", "dots",
		"title", "notitle", "xlabel", "ylabel", "zlabel", "xrange", "yrange", "using", "size", "font", "key", "grid", "datafile", "separator", "every", "smooth", "style", "data", "histogram", "fill", "solid", "logscale", "xtics", "ytics",
		"left", "right", "top", "bottom", "off", "on", "time", "timefmt", "xdata", "linewidth", "lw", "lt", "pt", "ps", "lc", "rgb", "noenhanced", "enhanced", "samples", "index", "axes", "multiplot", "layout", "border", "pause":
		return true
	}
	return false
}

// computingWord lists, in lower case, words that compute, print or bind in one of the small languages and do nothing
// else in any of them.
func computingWord(w string) bool {
	switch w {
	case "print", "println", "printf", "puts", "say", "disp", "display", "displayln", "format", "fwrite", "io", "inspect", "show", "echo", "newline", "princ", "prin1", "message", "putstrln", "putstr", "print_endline",
		"print_int", "print_string", "fmt", "debug", "dump", "pp", "trace", "typeof", "type", "class", "string", "str", "char", "chars", "int", "integer", "float", "double", "number", "bool", "boolean", "list", "lists", "array", "vector",
		"vec", "tuple", "set", "sets", "map", "maps", "hash", "dict", "keyword", "symbol", "atom", "binary", "enum", "stream", "seq", "range", "sequence", "linspace", "zeros", "ones", "eye", "rand", "randn", "collect",
		"sum", "prod", "product", "mean", "median", "std", "var", "min", "max", "minimum", "maximum", "abs", "sqrt", "cbrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "ln", "log2", "log10",
		"floor", "ceil", "ceiling", "round", "trunc", "truncate", "pow", "expt", "mod", "rem", "div", "quot", "quotient", "remainder", "modulo", "gcd", "lcm", "factor", "isprime", "prime", "primes", "factorial", "binomial", "even", "odd",
		"pi", "inf", "nan", "im", "inc", "dec", "add", "sub", "mul", "not", "and", "or", "xor", "band", "bor", "true", "false", "nil", "null", "none", "nothing", "undefined", "void", "some", "just", "maybe", "ok", "error",
		"if", "then", "else", "elseif", "elif", "end", "endif", "for", "foreach", "each", "in", "of", "do", "done", "while", "let", "letrec", "define", "defn", "def", "defun", "fn", "fun", "func", "function", "lambda", "begin", "return",
		"val", "mut", "const", "where", "case", "when", "match", "with", "cond", "loop", "recur", "repeat", "times", "take", "drop", "head", "tail", "last", "first", "second", "rest", "cons", "car", "cdr", "append", "push", "pop",
		"length", "size", "len", "count", "sort", "sorted", "sortby", "reverse", "rev", "uniq", "unique", "filter", "reduce", "fold", "foldl", "foldr", "flatten", "zip", "any", "all", "every", "member", "contains", "keys", "values", "get",
		"find", "nth", "join", "split", "trim", "strip", "upcase", "downcase", "uppercase", "lowercase", "upper", "lower", "titlecase", "replace", "replaceall", "concat", "substring", "subvec", "repr", "tostring", "to_string", "parse",
		"parseint", "tonumber", "math", "base", "statistics", "linearalgebra", "dates", "now", "today", "year", "date", "datetime", "time", "using", "det", "inv", "transpose", "trapz", "cumsum", "diff", "dot", "cross", "norm", "eig",
		"version", "versioninfo", "system_info", "otp_release", "erlang", "lisp", "implementation", "emacs", "julia_version", "sys", "word_size", "halt", "exit", "quit", "stop", "self", "this", "int64", "float64", "uint8", "big",
		"bigint", "rational", "complex", "expr", "expand", "simplify", "integrate", "derivative", "solve", "limit", "taylor", "plot", "apply", "partial", "comp", "identity", "id", "prelude", "data", "lists_",
		"tolist", "of_int", "string_of_int", "int_of_string", "toupper", "tolower", "isempty", "empty", "nonempty", "sizeof", "bitand", "bitor", "shl", "shr", "hex", "oct", "bin", "base64", "encode", "decode", "json", "stringify", "puts_",
		"deno", "bun", "console", "bounds", "rfind", "indexof", "slice", "iota", "step", "to", "downto", "until", "by", "from", "as", "is", "new", "unit", "kernel", "integer_to_list", "float_to_list", "atom_to_list", "nl",
		"fact", "fib", "primep", "evenp", "oddp", "mapcar", "dotimes", "dolist", "setq", "setf", "nproc", "rows", "cols", "clojure", "progn", "terpri", "pkg", "status", "test", "instantiate", "precompile", "resolve", "build", "numel", "ndims", "eltype", "struct", "record", "isa", "instanceof":
		return true
	}
	return false
}

// recordsRead tells whether text for a Rails runner only looks up records and prints: constants, keys, symbols and
// words of queries, nothing that it names itself.
func recordsRead(t string) bool {
	if strings.ContainsAny(t, "`!&|=\\%#<\n;$@") && !strings.Contains(t, "=>") || strings.Contains(t, "ENV") {
		return false
	}
	for k := 0; k < len(t); {
		switch b := t[k]; {
		case b == '\'' || b == '"':
			n := strings.IndexByte(t[k+1:], b)
			if n < 0 {
				return false
			}
			k += n + 2
		case letter(b):
			end := k
			for end < len(t) && (letter(t[end]) || t[end] >= '0' && t[end] <= '9' || t[end] == '?') {
				end++
			}
			key := end < len(t) && t[end] == ':' && (end+1 == len(t) || t[end+1] != ':') || k > 0 && t[k-1] == ':' && (k < 2 || t[k-2] != ':')
			if !key && !queryWord(t[k:end]) {
				return false
			}
			k = end
		default:
			k++
		}
	}
	return true
}

func queryWord(w string) bool {
	if w[0] >= 'A' && w[0] <= 'Z' {
		switch w {
		case "File", "Dir", "IO", "FileUtils", "Kernel", "Process", "Open3", "Object", "ObjectSpace", "Marshal", "PTY", "Net", "Socket", "TCPSocket", "Thread", "Signal", "RubyVM", "Fiddle", "Tempfile", "Pathname", "URI", "Binding", "Method", "Module", "Class":
			return false
		}
		return true
	}
	switch w {
	case "puts", "p", "pp", "print", "count", "where", "not", "find", "find_by", "first", "last", "pluck", "pick", "limit", "offset", "order", "joins", "left_joins", "includes", "group", "having", "sum", "average", "minimum", "maximum", "ids", "exists?", "all",
		"env", "root", "version", "to_s", "inspect", "size", "length", "any?", "none?", "empty?", "distinct", "as_json", "to_json", "attributes", "column_names", "table_name", "connection", "current_database", "true", "false", "nil", "to_sql", "explain", "name", "id",
		"email", "created_at", "updated_at", "sort", "uniq", "reverse", "compact", "keys", "values", "take", "application", "config", "ago", "days", "day", "hours", "hour", "weeks", "minutes", "now", "current", "today", "migration_context", "current_version", "needs_migration?":
		return true
	}
	return false
}
