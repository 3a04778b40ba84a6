package code

import "strings"

// perlLookup is the list of Perl's functions, its own and those of the modules perlModule lets pass.
func perlLookup(p string) entry {
	p = strings.TrimPrefix(p, "CORE::")
	p = strings.TrimPrefix(p, "POSIX::")
	switch p {
	case "print", "printf", "say", "length", "substr", "index", "rindex", "uc", "lc", "ucfirst", "lcfirst", "sprintf", "join", "split", "reverse", "sort", "map", "grep",
		"keys", "values", "each", "exists", "delete", "defined", "push", "pop", "shift", "unshift", "splice", "wantarray", "ref", "scalar", "abs", "int", "sqrt", "sin", "cos", "atan2",
		"exp", "log", "hex", "oct", "rand", "srand", "time", "localtime", "gmtime", "sleep", "chomp", "chop", "chr", "ord", "die", "warn", "exit", "pos", "quotemeta", "pack", "unpack",
		"vec", "lock", "return", "bless", "eof", "binmode", "close", "read", "getc", "readline", "seek", "tell", "select", "fileno", "caller", "study", "reset", "sum", "sum0", "max", "min",
		"first", "any", "all", "none", "uniq", "shuffle", "maxstr", "minstr", "reduce", "product", "pairs", "Dumper", "encode_json", "decode_json", "to_json", "from_json", "floor", "ceil", "fmod", "strftime", "mktime", "pow",
		"basename", "dirname", "fileparse", "cwd", "getcwd", "encode_base64", "decode_base64", "encode", "decode", "encode_utf8", "decode_utf8", "md5_hex", "sha1_hex", "sha256_hex", "blessed", "looks_like_number",
		"timelocal", "timegm", "getppid", "times", "prototype", "fc", "not", "carp", "croak", "confess", "abs_path", "realpath", "lcm", "uniqnum", "dualvar", "reftype", "weaken", "isdigit", "INT_MAX", "DBL_MAX", "local",
		"List::Util", "Data::Dumper", "Scalar::Util", "JSON", "JSON::PP", "JSON::XS", "Time::HiRes", "Digest::MD5", "Digest::SHA", "MIME::Base64", "Encode", "File::Basename", "File::Spec", "Cwd", "Time::Local", "Time::Piece", "List::Util::sum",
		"List::Util::max", "List::Util::min", "List::Util::uniq", "Cwd::cwd", "Cwd::getcwd", "Data::Dumper::Dumper", "MIME::Base64::encode_base64", "MIME::Base64::decode_base64", "Config::myconfig", "Config", "utf8::decode", "utf8::encode", "utf8::upgrade", "Math::BigInt", "Math::BigFloat", "Text::Wrap", "POSIX", "wrap", "Time::HiRes::time", "List::Util::first", "List::Util::shuffle", "localeconv", "gettimeofday", "tv_interval", "usleep":
		return entry{do: ok}
	case "readpipe", "system", "exec", "CORE::GLOBAL::system":
		return entry{do: shell, eff: Spawn}
	case "fork", "syscall", "dump":
		return entry{do: harm, eff: Spawn | Unknown}
	case "eval":
		return entry{do: eval, eff: Eval}
	case "do", "require":
		return entry{do: load, eff: Import}
	case "open", "sysopen", "dbmopen":
		return entry{do: magic, eff: Read}
	case "unlink", "rmdir", "rmtree", "remove_tree", "File::Path::rmtree", "File::Path::remove_tree", "remove":
		return entry{do: remove, eff: Delete}
	case "rename", "move", "File::Copy::move":
		return entry{do: move, eff: Write | Delete}
	case "copy", "File::Copy::copy", "cp":
		return entry{do: copyTo, eff: Write}
	case "mkdir", "mkpath", "make_path", "truncate", "write_file", "mkfifo":
		return entry{do: write, eff: Write}
	case "chmod", "utime":
		return entry{do: write, eff: Write, i: 1}
	case "chown":
		return entry{do: write, eff: Write, i: 2}
	case "symlink", "link":
		return entry{do: write, eff: Write, i: 1}
	case "syswrite", "print_to":
		return entry{do: ok}
	case "opendir", "stat", "lstat", "readlink", "glob":
		return entry{do: read, eff: Read, i: b2i(p == "opendir")}
	case "readdir", "closedir", "rewinddir", "stat_cache":
		return entry{do: ok}
	case "kill":
		return entry{do: signal, eff: Signal}
	case "getenv":
		return entry{do: ok, eff: Env}
	case "socket", "connect", "bind", "listen", "accept", "IO::Socket::INET", "IO::Socket", "LWP::UserAgent", "LWP::Simple", "HTTP::Tiny", "Net::FTP", "IO::Socket::SSL", "IO::Socket::UNIX", "send", "gethostbyname":
		return entry{do: harm, eff: Connect | Unknown}
	case "getstore", "mirror":
		return entry{do: connect, eff: Connect | Write}
	case "get", "head", "getprint", "LWP::Simple::get":
		return entry{do: connect, eff: Connect}
	case "chdir", "chroot", "umask", "tie", "untie", "goto", "sub_name", "setpgrp", "alarm", "wait", "waitpid":
		if p == "wait" || p == "waitpid" || p == "alarm" || p == "umask" {
			return entry{do: ok}
		}
		return entry{do: harm, eff: Unknown}
	}
	return entry{}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// perlModule reports modules whose functions are on the list or harmless.
func perlModule(name string) bool {
	switch name {
	case "strict", "warnings", "utf8", "feature", "POSIX", "List::Util", "Scalar::Util", "Data::Dumper", "JSON", "JSON::PP", "JSON::XS", "Time::HiRes", "Time::Local", "Time::Piece",
		"Encode", "MIME::Base64", "Digest::MD5", "Digest::SHA", "File::Basename", "File::Spec", "File::Path", "File::Copy", "Cwd", "Getopt::Long", "Text::Wrap", "Text::ParseWords", "constant",
		"vars", "integer", "bigint", "bignum", "locale", "open", "bytes", "charnames", "Carp", "Config", "English", "Math::BigInt", "Math::BigFloat", "Math::Trig", "Unicode::Normalize", "version",
		"IO::Handle", "IO::File", "Socket", "IO::Socket", "IO::Socket::INET", "LWP::Simple", "LWP::UserAgent", "HTTP::Tiny", "Benchmark", "Term::ANSIColor", "Text::Abbrev", "Text::Tabs", "diagnostics", "autodie", "re", "experimental", "v5":
		return true
	}
	return strings.HasPrefix(name, "v5")
}

func perlMethod(name string) bool {
	switch name {
	case "autoflush", "print", "printf", "say", "getline", "getlines", "close", "binmode", "encode", "decode", "pretty", "canonical", "utf8", "new", "hexdigest", "b64digest", "add",
		"ymd", "hms", "strftime", "epoch", "datetime", "mdy", "bstr", "bmul", "badd", "bpow", "bfac", "catfile", "catdir", "rel2abs", "abs2rel", "tmpdir", "eof", "opened", "fileno", "Indent", "Sortkeys", "Terse", "copy", "year", "mon", "mday", "latin1", "ascii", "allow_nonref":
		return true
	}
	return false
}
