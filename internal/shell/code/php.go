package code

import "strings"

// phpLookup is the list of PHP's functions and constants. Names are not case-sensitive.
func phpLookup(p string) entry {
	p = strings.TrimPrefix(p, `\`)
	l := p
	for i := range len(p) {
		if p[i] >= 'A' && p[i] <= 'Z' {
			l = strings.ToLower(p)
			break
		}
	}
	if e := phpDanger(l); e.do != none {
		return e
	}
	switch l {
	case "echo", "print", "printf", "sprintf", "vsprintf", "vprintf", "print_r", "var_dump", "var_export", "json_encode", "json_decode", "json_last_error", "json_last_error_msg", "strlen", "str_replace", "str_repeat", "str_pad", "str_split", "strpos", "stripos", "strrpos", "substr", "substr_count",
		"strtolower", "strtoupper", "ucfirst", "ucwords", "lcfirst", "trim", "ltrim", "rtrim", "explode", "implode", "join", "nl2br", "number_format", "htmlspecialchars", "htmlspecialchars_decode", "htmlentities", "html_entity_decode", "strip_tags", "addslashes", "stripslashes", "md5", "sha1", "crc32", "hash", "hash_algos", "hash_hmac", "base64_encode", "base64_decode", "bin2hex", "hex2bin", "urlencode", "urldecode", "rawurlencode", "rawurldecode", "http_build_query", "parse_url", "strrev", "strcmp", "strcasecmp", "strncmp", "strstr", "strtr", "str_contains", "str_starts_with", "str_ends_with", "wordwrap", "chunk_split", "similar_text", "levenshtein", "soundex", "metaphone", "ctype_digit", "ctype_alpha", "ctype_alnum", "ctype_upper", "ctype_lower", "ctype_space", "str_rot13", "nl_langinfo", "lcg_value",
		"preg_match", "preg_match_all", "preg_split", "preg_quote", "preg_last_error", "preg_grep", "mb_strlen", "mb_substr", "mb_strtoupper", "mb_strtolower", "mb_strpos", "mb_convert_encoding", "mb_detect_encoding", "mb_internal_encoding", "mb_str_split", "iconv", "utf8_encode", "utf8_decode", "chr", "ord", "dechex", "hexdec", "bindec", "decbin", "octdec", "decoct", "base_convert",
		"abs", "ceil", "floor", "round", "sqrt", "pow", "exp", "log", "log10", "sin", "cos", "tan", "pi", "fmod", "intdiv", "max", "min", "array_sum", "array_product", "rand", "mt_rand", "random_int", "random_bytes", "mt_srand", "srand", "is_nan", "is_infinite", "uniqid", "getrandmax", "mt_getrandmax",
		"count", "sizeof", "in_array", "array_keys", "array_values", "array_merge", "array_combine", "array_flip", "array_unique", "array_slice", "array_splice", "array_reverse", "array_search", "array_key_exists", "array_push", "array_pop", "array_shift", "array_unshift", "array_fill", "array_fill_keys", "array_column", "array_chunk", "array_pad", "array_diff", "array_diff_key", "array_intersect", "array_intersect_key", "array_rand", "array_key_first", "array_key_last", "array_is_list", "range", "compact", "sort", "rsort", "asort", "arsort", "ksort", "krsort", "shuffle", "current", "key", "next", "reset", "end", "list", "array", "natsort", "array_count_values", "array_flip_keys", "array_replace", "array_merge_recursive", "iterator_to_array", "range_",
		"isset", "empty", "unset", "is_string", "is_int", "is_integer", "is_numeric", "is_array", "is_bool", "is_null", "is_float", "is_object", "is_callable", "is_resource", "intval", "floatval", "strval", "boolval", "gettype", "get_debug_type", "get_class", "method_exists", "property_exists", "function_exists", "class_exists", "get_object_vars", "spl_object_id", "settype",
		"time", "microtime", "hrtime", "date", "gmdate", "mktime", "strtotime", "checkdate", "date_default_timezone_get", "date_default_timezone_set", "getdate", "localtime", "idate", "date_create", "date_diff", "date_format", "strftime", "usleep", "sleep", "cal_days_in_month",
		"phpversion", "php_sapi_name", "php_uname", "zend_version", "sys_get_temp_dir", "getcwd", "memory_get_usage", "memory_get_peak_usage", "extension_loaded", "get_loaded_extensions", "ini_get", "ini_get_all", "php_ini_loaded_file", "php_ini_scanned_files", "get_include_path", "getmypid", "gethostname", "sys_getloadavg", "get_extension_funcs", "defined", "error_reporting", "set_time_limit", "get_defined_constants", "getmyuid", "get_current_user", "gc_collect_cycles", "opcache_get_status", "curl_version", "error_log_", "ini_get_", "setlocale", "assert_options_",
		"exit", "die", "serialize", "fgets", "fgetc", "fread", "feof", "fclose", "fwrite", "fputs", "fprintf", "fflush", "fgetcsv", "fputcsv", "stream_get_contents", "ftell", "fseek", "rewind", "basename", "dirname", "pathinfo", "password_hash", "password_verify", "flush", "ob_start_", "ob_get_clean", "readline", "fscanf", "sscanf", "func_get_args", "openssl_random_pseudo_bytes", "gzcompress", "gzuncompress", "gzencode", "gzdecode", "gzinflate", "gzdeflate", "pack", "unpack", "version_compare", "array_walk_", "openssl_get_cipher_methods", "ip2long", "long2ip", "filter_var_", "inet_pton", "inet_ntop", "strnatcmp", "ucwords_", "array_flip__", "mb_substr_count", "mb_strwidth", "array_find_", "bcadd", "bcmul", "bcsub", "bcdiv", "bcpow", "bcmod", "gmp_add", "gmp_strval", "spl_autoload_functions_":
		return entry{do: ok}
	case "php_version", "php_os", "php_os_family", "php_eol", "php_int_max", "php_int_min", "php_int_size", "php_float_epsilon", "php_float_max", "php_major_version", "php_minor_version", "php_release_version", "php_version_id", "php_binary", "php_extension_dir", "php_prefix", "directory_separator", "path_separator", "json_pretty_print", "json_unescaped_slashes", "json_unescaped_unicode", "json_throw_on_error", "json_error_none", "m_pi", "m_e", "stdin", "stdout", "stderr",
		"sort_numeric", "sort_string", "sort_regular", "count_recursive", "preg_split_no_empty", "preg_set_order", "preg_pattern_order", "ent_quotes", "date_atom", "e_all", "e_error", "e_warning", "e_notice", "str_pad_left", "str_pad_right", "str_pad_both", "pathinfo_extension", "pathinfo_filename", "pathinfo_basename", "array_filter_use_key", "array_filter_use_both", "lc_all", "openssl_version_text", "openssl_version_number", "pcre_version", "libxml_dotted_version", "password_default", "password_bcrypt", "file_ignore_new_lines", "file_skip_empty_lines", "php_maxpathlen", "php_debug", "php_zts", "nan", "inf",
		"datetime", "datetimeimmutable", "dateinterval", "dateperiod", "datetimezone", "exception", "stdclass", "arrayobject", "arrayiterator", "runtimeexception", "invalidargumentexception", "throwable", "jsonexception", "splstack", "splqueue", "splobjectstorage", "closure_", "typeerror", "error", "datetime.atom", "generator", "numberformatter", "collator":
		return entry{do: ok}
	case "function", "return":
		return entry{do: ok}
	case "array_map", "call_user_func", "call_user_func_array", "array_walk_fn", "forward_static_call", "register_shutdown_function", "set_error_handler", "set_exception_handler", "ob_start", "register_tick_function", "header_register_callback", "spl_autoload_register":
		return entry{do: call}
	case "array_filter", "usort", "uasort", "uksort", "array_walk", "array_reduce", "preg_replace_callback", "array_walk_recursive", "iterator_apply", "filter_var", "array_find", "array_any", "array_all":
		return entry{do: call, i: 1}
	case "array_udiff", "array_uintersect", "array_diff_ukey", "array_diff_uassoc":
		return entry{do: call, i: 2}
	}
	if mod, name, found := strings.Cut(l, "."); found {
		switch mod {
		case "datetime", "datetimeimmutable", "dateinterval", "datetimezone":
			return okIf(name == "createfromformat" || name == "atom" || name == "listidentifiers" || strings.ToUpper(p[len(mod)+1:]) == p[len(mod)+1:])
		}
	}
	return entry{}
}

func phpDanger(l string) entry {
	switch l {
	case "system", "exec", "shell_exec", "passthru", "popen":
		return entry{do: shell, eff: Spawn}
	case "proc_open":
		return entry{do: popen, eff: Spawn}
	case "pcntl_exec":
		return entry{do: harm, eff: Spawn | Unknown}
	case "pcntl_fork", "mail", "imap_open", "mb_send_mail", "dl", "ffi.cdef", "com":
		return entry{do: harm, eff: Spawn | Unknown}
	case "eval", "assert":
		return entry{do: eval, eff: Eval}
	case "create_function":
		return entry{do: eval, eff: Eval, i: 1}
	case "include", "include_once", "require", "require_once":
		return entry{do: load, eff: Import}
	case "unserialize", "extract", "parse_str", "preg_replace_eval", "mb_ereg_replace", "get_defined_functions", "get_defined_vars", "define", "constant", "ini_set", "putenv", "reflectionfunction", "reflectionmethod", "reflectionclass", "closure", "class_alias", "invoke", "ini_alter", "simplexml_load_string", "domdocument":
		return entry{do: harm, eff: Eval | Unknown}
	case "preg_replace", "preg_filter":
		return entry{do: call, i: -1}
	case "fopen", "gzopen", "splfileobject", "bzopen":
		return entry{do: open}
	case "file_put_contents", "mkdir", "touch", "chmod", "chown", "chgrp", "lchown", "imagepng", "imagejpeg", "ftruncate":
		return entry{do: write, eff: Write}
	case "symlink", "link", "move_uploaded_file":
		return entry{do: write, eff: Write, i: 1}
	case "tempnam", "tmpfile", "error_log", "ziparchive", "phar", "syslog":
		return entry{do: harm, eff: Write | Unknown}
	case "unlink", "rmdir":
		return entry{do: remove, eff: Delete}
	case "rename":
		return entry{do: move, eff: Write | Delete}
	case "copy":
		return entry{do: copyTo, eff: Write}
	case "file_get_contents", "file", "readfile", "scandir", "glob", "opendir", "file_exists", "is_file", "is_dir", "is_link", "filesize", "filemtime", "stat", "realpath", "is_readable", "is_writable", "is_executable", "parse_ini_file", "md5_file", "sha1_file", "show_source", "highlight_file", "php_strip_whitespace", "readlink", "fileperms", "fileowner", "simplexml_load_file", "disk_free_space", "disk_total_space", "exif_read_data", "getimagesize":
		return entry{do: read, eff: Read}
	case "hash_file":
		return entry{do: read, eff: Read, i: 1}
	case "getenv", "phpinfo":
		return entry{do: ok, eff: Env}
	case "posix_kill":
		return entry{do: signal, eff: Signal}
	case "fsockopen", "pfsockopen", "curl_init", "stream_socket_client", "get_headers", "gethostbyname", "dns_get_record", "checkdnsrr", "ftp_connect", "soapclient", "socket_connect", "mysqli_connect", "mysqli", "pg_connect", "gethostbynamel", "getmxrr":
		return entry{do: connect, eff: Connect}
	case "pdo", "curl_exec", "socket_create", "stream_socket_server", "socket_bind":
		return entry{do: harm, eff: Connect | Unknown}
	}
	return entry{}
}

func phpMethod(name string) bool {
	switch strings.ToLower(name) {
	case "format", "modify", "diff", "gettimestamp", "settimestamp", "settimezone", "gettimezone", "getmessage", "getcode", "getline", "getfile", "gettraceasstring", "gettrace", "add", "sub", "setdate", "settime", "getoffset", "getname",
		"count", "getarraycopy", "current", "key", "next", "rewind", "valid", "push", "pop", "shift", "enqueue", "dequeue", "isempty", "top", "offsetget", "offsetset", "createfromformat", "getprevious", "send", "getreturn", "attach", "detach", "contains":
		return true
	}
	return false
}

func luaLookup(p string) entry {
	switch p {
	case "print", "tostring", "tonumber", "type", "pairs", "ipairs", "next", "select", "unpack", "assert", "error", "pcall", "xpcall", "rawequal", "rawlen", "rawset", "_VERSION", "arg", "jit.version", "jit.arch", "jit.os", "collectgarbage", "os.exit", "setmetatable_", "warn",
		"io.write", "io.read", "io.stdout", "io.stderr", "io.stdin", "io.type", "os.time", "os.date", "os.clock", "os.difftime", "coroutine.create", "coroutine.wrap", "coroutine.yield", "coroutine.resume", "coroutine.status", "package.path", "package.cpath", "package.config",
		"io.stdout.write", "io.stderr.write", "io.stdin.read":
		return entry{do: ok}
	case "string", "table", "math", "os", "io", "utf8", "coroutine", "debug", "package", "bit32", "jit", "_G", "_ENV", "ffi", "vim":
		return entry{do: module}
	case "os.getenv":
		return entry{do: ok, eff: Env}
	case "os.execute", "io.popen":
		return entry{do: shell, eff: Spawn}
	case "os.remove":
		return entry{do: remove, eff: Delete}
	case "os.rename":
		return entry{do: move, eff: Write | Delete}
	case "os.tmpname", "io.tmpfile", "setmetatable", "getmetatable", "rawget":
		if p[0] != 'o' && p[0] != 'i' {
			return entry{do: harm, eff: Unknown}
		}
		return entry{do: harm, eff: Write}
	case "io.open":
		return entry{do: open}
	case "io.lines", "io.input":
		return entry{do: read, eff: Read}
	case "io.output":
		return entry{do: write, eff: Write}
	case "load", "loadstring":
		return entry{do: eval, eff: Eval}
	case "dofile", "loadfile", "require", "package.loadlib", "string.dump", "debug.getinfo":
		return entry{do: load, eff: Import}
	case "math.random", "math.floor", "math.pi", "math.huge":
		return entry{do: ok}
	}
	mod, name, _ := strings.Cut(p, ".")
	switch mod {
	case "math", "utf8", "bit32":
		return okIf(name != "")
	case "string":
		return okIf(name != "" && name != "dump")
	case "table":
		return okIf(name != "")
	}
	return entry{}
}

func luaMethod(name string) bool {
	switch name {
	case "format", "rep", "sub", "gsub", "gmatch", "match", "find", "upper", "lower", "len", "reverse", "byte", "read", "lines", "write", "close", "seek", "flush", "setvbuf", "pack", "unpack":
		return true
	}
	return false
}

func rLookup(p string) entry {
	switch p {
	case "print", "cat", "c", "sum", "mean", "median", "sd", "var", "min", "max", "range", "length", "nchar", "paste", "paste0", "seq", "seq_len", "seq_along", "rep", "rev", "sort", "order", "unique", "table", "head", "tail", "summary", "str", "names", "colnames", "rownames", "nrow", "ncol", "dim", "matrix", "data.frame", "list", "vector", "factor", "levels", "is.na", "is.null", "ifelse", "which", "any", "all", "round", "floor", "ceiling", "sqrt", "exp", "log", "abs", "cumsum", "quantile", "cor", "lm", "t.test", "rnorm", "runif", "sample", "set.seed", "toupper", "tolower", "substr", "sub", "gsub", "grepl", "grep", "regmatches", "gregexpr", "strsplit", "sprintf", "format", "formatC", "message", "as.numeric", "as.integer", "as.character", "as.Date", "Sys.time", "Sys.Date", "Sys.info", "R.version.string", "R.version", "sessionInfo", "version", "commandArgs", "numeric", "character", "quit", "q", "invisible", "stop", "warning", "is.numeric", "aggregate", "merge", "apply_", "trimws", "nlevels", "colMeans", "rowSums", "colSums", "rowMeans", "pi", "letters", "LETTERS", "month.name", "intToUtf8", "utf8ToInt", "packageVersion", "getRversion", "getwd", "options", "identity", "is.function", "Recall_", "chartr", "rbind", "cbind", "t", "diff", "prod", "cut", "nchar_", "outer", "crossprod", "solve", "det", "diag", "toString", "writeLines", "installed.packages", ".libPaths", "suppressWarnings", "suppressMessages", "suppressPackageStartupMessages", "requireNamespace_", "R.home", "exists", "is.list", "stopifnot", "file.path", "basename", "dirname", "nargs", "startsWith", "endsWith", "rownames_", "bitwXor", "strtoi", "rawToChar_":
		return entry{do: ok}
	case "system", "shell", "pipe":
		return entry{do: shell, eff: Spawn}
	case "system2", "processx":
		return entry{do: harm, eff: Spawn | Unknown}
	case "unlink", "file.remove":
		return entry{do: remove, eff: Delete}
	case "file.rename":
		return entry{do: move, eff: Write | Delete}
	case "file.copy":
		return entry{do: copyTo, eff: Write}
	case "writeLines_", "dir.create", "file.create", "sink", "Sys.chmod", "pdf", "png":
		return entry{do: write, eff: Write}
	case "write.csv", "write.table", "saveRDS", "write", "cat_file":
		return entry{do: write, eff: Write, i: 1}
	case "read.csv", "read.table", "readLines", "readRDS_", "scan", "list.files", "file.exists", "file.info", "dir":
		return entry{do: read, eff: Read}
	case "Sys.getenv":
		return entry{do: ok, eff: Env}
	case "download.file":
		return entry{do: connect, eff: Connect | Write}
	case "url", "socketConnection", "install.packages":
		return entry{do: connect, eff: Connect}
	case "library", "require", "source", "loadNamespace", "requireNamespace":
		return entry{do: harm, eff: Import}
	case "eval", "parse", "do.call", "match.fun", "get", "assign", "Reduce", "Map", "sapply", "lapply", "vapply", "mapply", "apply", "Filter", "load", "readRDS", "environment", "sys.function", "evalq", "mget", "dyn.load":
		return entry{do: harm, eff: Eval | Unknown}
	}
	return entry{}
}
