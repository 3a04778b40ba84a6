package code

import "strings"

// rubyLookup is the list of Ruby: functions, constants and their methods, written with dots.
func rubyLookup(p string) entry {
	if strings.HasPrefix(p, "Kernel.") || strings.HasPrefix(p, "Process.") && p != "Process.kill" || strings.HasPrefix(p, "Object.") {
		p = p[strings.IndexByte(p, '.')+1:]
	}
	if e := rubyDanger(p); e.do != none {
		return e
	}
	switch p {
	case "puts", "print", "p", "pp", "printf", "sprintf", "format", "gets", "readline", "readlines", "rand", "srand", "sleep", "loop", "lambda", "proc", "Integer", "Float", "String", "Array", "Hash", "Rational", "Complex",
		"exit", "abort", "raise", "catch", "throw", "block_given?", "putc", "warn", "ARGV", "ARGF", "STDIN", "STDOUT", "STDERR", "RUBY_VERSION", "RUBY_PLATFORM", "RUBY_ENGINE", "RUBY_PATCHLEVEL", "RUBY_RELEASE_DATE", "RUBY_COPYRIGHT", "RUBY_DESCRIPTION", "RUBY_ENGINE_VERSION",
		"chomp", "chop", "sub", "gsub", "attr_accessor", "attr_reader", "attr_writer", "private", "public", "protected", "freeze", "DATA", "clock_gettime", "CLOCK_MONOTONIC", "pid", "ppid", "__FILE__", "sub!", "gsub!", "binding_irb", "exit!", "split",
		"Time", "Date", "DateTime", "Math", "JSON", "Struct", "Set", "Comparable", "Enumerable", "StandardError", "ArgumentError", "RuntimeError", "Regexp", "Range", "Random", "SecureRandom", "StringIO", "BigDecimal", "Digest", "Base64", "Bundler::VERSION", "Gem::VERSION",
		"CSV", "Symbol", "NilClass", "Exception", "LoadError", "KeyError", "TypeError", "NameError", "IOError", "Errno", "Etc", "URI", "OpenStruct", "Float::INFINITY", "YAML", "ERB::Util", "Zlib", "Shellwords", "Benchmark", "Pathname", "Rational::ZERO", "Process", "Encoding", "GC", "OptionParser", "PP", "Timeout", "Numeric", "TrueClass", "Proc":
		return rubyConstant(p)
	case "File", "Dir", "IO", "FileUtils", "Net", "Gem", "RbConfig", "Open3", "Socket", "Kernel", "Object", "ObjectSpace", "Fiddle", "DRb", "PTY", "Module", "Class", "Marshal", "Bundler", "Psych", "ERB", "Tempfile", "OpenSSL", "Win32", "Rails", "Etc_", "Signal", "Thread", "Ractor", "RubyVM", "TCPSocket", "TCPServer", "UDPSocket", "UNIXSocket":
		return entry{do: module}
	case "Net.HTTP", "Gem.Version", "Gem.Specification", "OpenSSL.Digest", "Digest.SHA256", "Digest.MD5", "Digest.SHA1", "File.Stat", "IO.Console":
		if strings.HasPrefix(p, "Digest") || p == "Gem.Version" || p == "OpenSSL.Digest" {
			return entry{do: ok}
		}
		return entry{do: module}
	case "ENV":
		return entry{do: ok, eff: Env}
	case "require json", "require date", "require time", "require set", "require yaml", "require csv", "require digest", "require base64", "require securerandom", "require bigdecimal", "require uri", "require pp", "require erb",
		"require stringio", "require shellwords", "require ostruct", "require English", "require prime", "require matrix", "require benchmark", "require open3", "require fileutils", "require net/http", "require socket", "require open-uri",
		"require tempfile", "require pathname", "require optparse", "require zlib", "require etc", "require rbconfig", "require tmpdir", "require psych", "require openssl", "require digest/md5", "require digest/sha1", "require digest/sha2", "require timeout", "require rubygems", "require find", "require io/console", "require delegate", "require forwardable", "require singleton", "require logger", "require strscan", "require tsort", "require ripper", "require racc", "require minitest", "require resolv", "require ipaddr", "require pty", "require net/https":
		return entry{do: ok}
	}
	mod, name, found := strings.Cut(p, ".")
	if !found {
		return entry{}
	}
	switch mod {
	case "Time", "Date", "DateTime", "Math", "JSON", "Struct", "Set", "SecureRandom", "Random", "StringIO", "Digest", "Base64", "CSV", "Regexp", "Float", "Integer", "String", "Array", "Hash", "URI", "Shellwords", "Etc", "OpenStruct", "Rational", "Encoding", "GC", "BigDecimal", "Comparable", "Range", "Symbol", "Benchmark", "Zlib", "Pathname", "Errno":
		return okIf(rubyStatic(name))
	case "YAML", "Psych":
		return okIf(name == "safe_load" || name == "dump" || name == "safe_load_file" || name == "parse")
	case "File":
		return okIf(rubyFile(name))
	case "Gem":
		return okIf(name == "VERSION" || name == "path" || name == "dir" || name == "loaded_specs" || name == "platforms" || name == "ruby_version" || strings.HasPrefix(name, "Version"))
	case "RbConfig":
		return okIf(name == "CONFIG" || name == "ruby")
	case "Dir":
		return okIf(name == "pwd" || name == "home" || name == "exist?" || name == "tmpdir" || name == "getwd")
	case "FileUtils":
		return okIf(name == "pwd" || name == "compare_file" || name == "uptodate?")
	case "STDIN", "STDOUT", "STDERR", "ARGV", "ARGF", "DATA":
		return okIf(rubyMethod(name))
	case "Signal":
		return okIf(name == "list")
	case "Bundler", "Rails":
		return okIf(name == "VERSION" || name == "version")
	case "OpenSSL":
		return okIf(name == "OPENSSL_VERSION" || name == "OPENSSL_LIBRARY_VERSION" || name == "VERSION")
	}
	return entry{}
}

func rubyConstant(p string) entry {
	if p == "Process" {
		return entry{do: module}
	}
	return entry{do: ok}
}

func rubyDanger(p string) entry {
	switch p {
	case "system", "exec", "spawn", "Process.spawn", "Process.exec", "`", "IO.popen", "Open3.capture2", "Open3.capture2e", "Open3.capture3", "Open3.popen3", "Open3.popen2", "Open3.popen2e", "Open3.pipeline", "PTY.spawn", "PTY.getpty", "daemon_spawn":
		return entry{do: shell, eff: Spawn}
	case "fork", "daemon", "syscall", "Process.fork":
		return entry{do: harm, eff: Spawn | Unknown}
	case "eval", "instance_eval", "class_eval", "module_eval", "RubyVM.InstructionSequence":
		return entry{do: eval, eff: Eval}
	case "binding", "method", "define_method", "const_get", "set_trace_func", "trap", "at_exit", "autoload", "Marshal.load", "YAML.load", "YAML.unsafe_load", "ERB.new", "instance_variable_get", "Psych.load", "callcc", "methods", "instance_method", "public_method", "JSON.load":
		return entry{do: harm, eff: Eval | Unknown}
	case "send", "__send__", "public_send":
		return entry{do: getattr, eff: 0}
	case "require", "load", "require_relative":
		return entry{do: load}
	case "open", "IO.read", "IO.readlines", "IO.foreach", "IO.write", "IO.binread", "URI.open":
		if p == "IO.write" {
			return entry{do: write, eff: Write}
		}
		return entry{do: magic, eff: Read}
	case "File.open", "File.new":
		return entry{do: open}
	case "File.write", "File.binwrite", "File.truncate", "Dir.mkdir", "FileUtils.mkdir", "FileUtils.mkdir_p", "FileUtils.touch", "FileUtils.makedirs", "FileUtils.mkpath", "File.mkfifo", "File.utime", "Dir.mktmpdir", "FileUtils.copy_stream":
		return entry{do: write, eff: Write}
	case "File.chmod", "File.chown", "FileUtils.chmod", "FileUtils.chmod_R", "File.symlink", "File.link", "FileUtils.ln_s", "FileUtils.ln", "FileUtils.ln_sf", "FileUtils.install":
		return entry{do: write, eff: Write, i: 1}
	case "FileUtils.chown", "FileUtils.chown_R":
		return entry{do: write, eff: Write, i: 2}
	case "File.delete", "File.unlink", "Dir.rmdir", "Dir.delete", "Dir.unlink", "FileUtils.rm", "FileUtils.rm_r", "FileUtils.rm_rf", "FileUtils.rm_f", "FileUtils.rmtree", "FileUtils.rmdir", "FileUtils.remove_dir", "FileUtils.remove_entry", "FileUtils.remove_entry_secure", "FileUtils.remove", "FileUtils.safe_unlink", "FileUtils.remove_file":
		return entry{do: remove, eff: Delete}
	case "rm_rf", "rm_r", "rm", "rm_f", "rmtree":
		return entry{do: remove, eff: Delete}
	case "File.rename", "FileUtils.mv", "FileUtils.move":
		return entry{do: move, eff: Write | Delete}
	case "FileUtils.cp", "FileUtils.cp_r", "FileUtils.copy", "IO.copy_stream", "FileUtils.copy_file", "FileUtils.copy_entry":
		return entry{do: copyTo, eff: Write}
	case "File.read", "File.readlines", "File.foreach", "File.binread", "Dir.glob", "Dir.entries", "Dir.children", "Dir", "Dir.each_child", "YAML.load_file", "JSON.load_file", "CSV.read", "CSV.foreach", "File.stat", "Find.find", "JSON.parse_file":
		if p == "Dir" {
			return entry{do: module}
		}
		return entry{do: read, eff: Read}
	case "Process.kill":
		return entry{do: signal, eff: Signal}
	case "Net.HTTP.get", "Net.HTTP.get_response", "Net.HTTP.start", "Net.HTTP.new", "Net.HTTP.post", "TCPSocket.new", "TCPSocket.open", "Socket.tcp", "Net.HTTP.post_form", "UNIXSocket.new", "TCPServer.new", "UDPSocket.new", "Net.FTP.new", "Net.SSH.start", "TCPSocket.gethostbyname", "Resolv.getaddress":
		return entry{do: connect, eff: Connect}
	}
	return entry{}
}

func rubyFile(name string) bool {
	switch name {
	case "exist?", "file?", "directory?", "size", "mtime", "ctime", "atime", "basename", "dirname", "extname", "join", "expand_path", "absolute_path", "realpath", "split", "zero?", "readable?", "writable?", "executable?", "symlink?", "SEPARATOR", "readlink", "size?", "fnmatch", "empty?", "identical?", "ftype", "path":
		return true
	}
	return false
}

func rubyStatic(name string) bool {
	switch name {
	case "now", "today", "parse", "at", "iso8601", "strptime", "new", "mktime", "utc", "gm", "local", "sqrt", "sin", "cos", "tan", "log", "log2", "log10", "exp", "PI", "E", "pow", "hypot", "cbrt", "atan", "atan2", "generate", "pretty_generate", "dump", "parse!", "hex", "uuid", "random_number", "alphanumeric", "base64", "urlsafe_base64", "random_bytes",
		"rand", "hexdigest", "digest", "base64digest", "MD5", "SHA1", "SHA256", "SHA512", "encode64", "decode64", "strict_encode64", "strict_decode64", "urlsafe_encode64", "urlsafe_decode64", "escape", "union", "INFINITY", "MAX", "MIN", "NAN", "EPSILON", "join", "split", "shellescape", "encode_www_form", "decode_www_form_component", "encode_www_form_component", "valid_date?", "leap?", "getlogin", "getpwuid", "nprocessors", "uname", "default_external", "default_internal", "crc32", "measure", "realtime", "stat", "pwd", "UTF_8", "ENOENT", "EACCES", "HTTP", "parse_line", "quote", "last_match", "Inflate", "Deflate", "inflate", "deflate", "list", "SHA384", "ParserError", "JSONError", "civil", "jd", "MAJOR", "DIG":
		return true
	}
	return strings.Contains(name, ".") && rubyStatic(name[strings.LastIndexByte(name, '.')+1:])
}

func rubyMethod(name string) bool {
	if name == "" {
		return false
	}
	switch strings.TrimRight(name, "?!") {
	case "each", "map", "select", "reject", "filter", "filter_map", "flat_map", "collect", "inject_sum", "each_with_index", "each_with_object", "each_slice", "each_cons", "each_line", "each_char", "each_byte", "each_pair", "each_key", "each_value", "each_entry", "times", "upto", "downto", "step",
		"find", "detect", "find_index", "index", "rindex", "include", "member", "any", "all", "none", "one", "count", "size", "length", "empty", "nil", "zero", "positive", "negative", "even", "odd", "between", "clamp",
		"first", "last", "min", "max", "minmax", "min_by", "max_by", "sum", "sort", "sort_by", "uniq", "reverse", "rotate", "shuffle", "sample", "flatten", "compact", "zip", "product", "combination", "permutation", "transpose", "group_by", "partition", "chunk_while", "slice_when", "tally", "take", "drop", "take_while", "drop_while", "cycle", "lazy", "force", "to_a", "to_h", "to_i", "to_f", "to_s", "to_sym", "to_r", "to_c", "to_set", "to_json", "to_yaml", "to_str", "to_ary", "to_enum", "inspect",
		"join", "push", "pop", "shift", "unshift", "append", "prepend", "insert", "concat", "delete", "delete_if", "delete_at", "keep_if", "clear", "fill", "values_at", "fetch", "dig", "key", "keys", "values", "has_key", "has_value", "merge", "update", "store", "invert", "transform_values", "transform_keys", "slice", "except", "assoc", "default",
		"upcase", "downcase", "capitalize", "swapcase", "strip", "lstrip", "rstrip", "chomp", "chop", "chars", "bytes", "lines", "codepoints", "split", "gsub", "sub", "tr", "tr_s", "squeeze", "scan", "match", "start_with", "end_with", "center", "ljust", "rjust", "ord", "chr", "hex", "oct", "succ", "next", "pred", "sum_of", "unpack", "unpack1", "pack", "encode", "force_encoding", "valid_encoding", "unicode_normalize", "encoding", "casecmp", "eql", "equal", "hash", "frozen", "freeze", "dup", "clone", "replace", "format", "crypt", "delete_prefix", "delete_suffix", "partition_at", "rpartition", "each_grapheme_cluster", "scrub",
		"abs", "round", "floor", "ceil", "truncate", "divmod", "modulo", "fdiv", "pow", "gcd", "lcm", "digits", "bit_length", "integer", "finite", "nan", "infinite", "numerator", "denominator", "rationalize", "coerce", "remainder",
		"class", "is_a", "kind_of", "instance_of", "respond_to", "object_id", "tap", "then", "yield_self", "itself", "name", "ancestors", "superclass", "new", "members", "message", "backtrace", "full_message", "exception",
		"year", "month", "day", "hour", "minute", "sec", "min_", "usec", "nsec", "wday", "yday", "strftime", "iso8601", "utc", "localtime", "getlocal", "zone", "to_date", "to_time", "mon", "mday", "rfc2822", "httpdate", "xmlschema", "cwday", "cweek", "next_day", "prev_day", "next_month", "prev_month", "saturday", "sunday", "leap",
		"read", "gets", "readline", "readlines", "getc", "ungetc", "eof", "puts", "print", "write", "printf", "<<", "flush", "sync", "sync=", "tty", "isatty", "fileno", "close", "rewind", "binmode", "string", "each_with_line", "set_encoding", "winsize",
		"with_index", "with_object", "each_index", "captures", "named_captures", "pre_match", "post_match", "begin", "end", "source", "to_proc_", "curry", "arity", "add", "subset", "superset", "disjoint", "intersect", "union", "intersection", "difference", "scheme", "host", "path", "port", "query", "userinfo", "fragment", "major", "minor", "segments", "version", "exist", "file", "directory", "basename", "dirname", "extname", "expand_path", "hexdigest", "digest", "prime", "bsearch", "sum!", "entries", "headers", "rows", "row", "by_row", "chunk", "exclude_end", "cover", "compare_by_identity", "sort!", "line", "lineno", "positive_", "sprintf", "real", "imaginary", "platform", "code", "body", "call", "to_path", "getbyte", "readbyte", "readchar", "each_entry_", "cause", "key_", "status", "nobits", "allbits", "filter_map_", "uniq!", "intern", "shellescape", "shellsplit", "!", "negate", "ldjust":
		return true
	}
	return false
}

// onObject lists methods that have an effect whatever they are called on.
func (s *scanner) onObject(name string) entry {
	switch s.lang {
	case Python:
		switch name {
		case "write_text", "write_bytes", "mkdir", "touch", "chmod", "symlink_to", "hardlink_to", "link_to", "lchmod", "truncate":
			return entry{do: write, eff: Write}
		case "unlink", "rmdir":
			return entry{do: remove, eff: Delete}
		case "rename":
			return entry{do: move, eff: Write | Delete}
		case "read_text", "read_bytes", "iterdir", "glob", "rglob", "walk", "readlink":
			return entry{do: read, eff: Read}
		case "open":
			return entry{do: open}
		case "system", "popen":
			return entry{do: module, eff: Spawn}
		}
	case Ruby:
		switch name {
		case "send", "__send__", "public_send":
			return entry{do: getattr}
		case "instance_eval", "class_eval", "module_eval", "eval", "instance_exec", "class_exec":
			return entry{do: harm, eff: Eval | Unknown}
		case "unlink", "rmtree", "rmdir":
			return entry{do: remove, eff: Delete}
		case "mkpath", "mkdir", "binwrite":
			return entry{do: write, eff: Write}
		case "to_proc", "method", "const_get", "define_method", "instance_variable_get", "public_method", "instance_method", "inject", "reduce":
			if name == "inject" || name == "reduce" {
				return entry{}
			}
			return entry{do: harm, eff: Eval | Unknown}
		}
	case Node:
		switch name {
		case "execSync", "exec_", "spawnSync", "spawn":
			return entry{do: module, eff: Spawn}
		}
	case Perl:
		switch name {
		case "open", "get", "post", "request", "connect":
			return entry{do: harm, eff: Connect | Unknown}
		}
	}
	return entry{}
}
