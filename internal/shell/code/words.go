package code

// keyword says how a reserved word of the language acts in an expression; 0 for a name.
func keyword(lang Lang, w string) int {
	switch w {
	case "return", "if", "while", "else", "for":
		return kwSkip
	}
	switch lang {
	case Python:
		switch w {
		case "elif", "try", "except", "finally", "with", "raise", "assert", "del", "global", "nonlocal", "pass", "break", "continue",
			"as", "in", "is", "and", "or", "yield", "from", "async", "class", "def", "import":
			return kwSkip
		case "not":
			return kwSkip
		case "await":
			return kwPass
		case "True", "False", "None", "Ellipsis", "NotImplemented", "self", "cls":
			return kwConst
		case "lambda":
			return kwCode
		}
	case Node:
		switch w {
		case "do", "switch", "case", "default", "try", "catch", "finally", "throw", "break", "continue", "in", "of", "typeof", "void", "delete",
			"instanceof", "const", "let", "var", "extends", "yield", "static", "get", "set", "export", "from":
			return kwSkip
		case "await", "new", "async":
			return kwPass
		case "true", "false", "null", "undefined", "NaN", "Infinity", "super", "arguments", "__dirname", "__filename":
			return kwConst
		case "function", "class":
			return kwCode
		}
	case Perl:
		switch w {
		case "unless", "until", "elsif", "foreach", "do", "and", "or", "not", "xor", "my", "our", "local", "last", "next", "redo",
			"eq", "ne", "lt", "gt", "le", "ge", "cmp", "BEGIN", "END", "INIT", "package", "state":
			return perlKeyword(w)
		case "__PACKAGE__", "__FILE__", "__LINE__", "STDIN", "STDOUT", "STDERR", "undef":
			return kwConst
		case "sub":
			return kwCode
		}
	case Ruby:
		switch w {
		case "unless", "until", "elsif", "case", "when", "then", "do", "end", "begin", "rescue", "ensure", "and", "or", "not", "in", "yield",
			"break", "next", "redo", "retry", "def", "class", "module", "BEGIN", "END", "raise", "loop", "super":
			return kwSkip
		case "true", "false", "nil", "self", "__FILE__", "__LINE__", "__method__", "__dir__":
			return kwConst
		}
	case PHP:
		switch w {
		case "elseif", "foreach", "do", "switch", "case", "default", "try", "catch", "finally", "throw", "break", "continue", "as", "and", "or",
			"xor", "instanceof", "global", "static", "clone", "yield", "endif", "endforeach", "endfor", "endwhile", "match", "extends", "implements",
			"public", "private", "protected", "abstract", "final", "readonly", "declare", "insteadof":
			return kwSkip
		case "new":
			return kwPass
		case "true", "false", "null", "TRUE", "FALSE", "NULL", "self", "parent", "__FILE__", "__DIR__", "__LINE__":
			return kwConst
		case "function", "fn":
			return kwCode
		}
	case Lua:
		switch w {
		case "do", "end", "then", "elseif", "repeat", "until", "and", "or", "not", "in", "break", "local":
			return kwSkip
		case "true", "false", "nil":
			return kwConst
		case "function":
			return kwCode
		}
	case R:
		switch w {
		case "repeat", "break", "next", "in":
			return kwSkip
		case "TRUE", "FALSE", "NULL", "NA", "Inf", "NaN", "T", "F":
			return kwConst
		case "function":
			return kwCode
		}
	}
	return 0
}

func perlKeyword(w string) int {
	if w == "my" || w == "our" || w == "local" || w == "state" {
		return kwPass
	}
	return kwSkip
}

// operandAfter reports whether a value must follow the word w.
func operandAfter(lang Lang, w string) bool {
	switch w {
	case "return", "and", "or", "not", "if", "unless", "while", "until", "in", "else", "elsif", "when", "then", "do", "case", "typeof", "of",
		"delete", "void", "throw", "new", "await", "yield", "instanceof", "xor":
		return true
	case "print", "split", "grep", "map", "join", "push", "puts", "p", "say", "x", "eq", "ne", "lt", "gt", "le", "ge", "cmp", "unshift", "printf", "die", "warn",
		"system", "exec", "sort", "keys", "values", "scalar", "defined", "ref", "foreach", "for", "my", "local", "our", "sum", "max", "min", "uniq":
		return lang == Perl || lang == Ruby
	}
	return false
}

// phpStatement reports PHP's words that take an argument without brackets.
func phpStatement(w string) bool {
	switch w {
	case "echo", "print", "include", "include_once", "require", "require_once", "exit", "die", "return":
		return true
	}
	return false
}

func jsPrints(path string) bool {
	switch path {
	case "console.log", "console.error", "console.info", "JSON.stringify", "String", "Number", "parseInt", "parseFloat", "Boolean", "isNaN":
		return true
	}
	return false
}
