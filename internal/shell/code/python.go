package code

import "strings"

// pyLookup is the list of Python: builtins by name, the rest by dotted path.
func pyLookup(p string) entry {
	if rest, found := strings.CutPrefix(p, outside); found {
		if e := pyDanger(p); e.do != none {
			return e
		}
		return pyData(rest)
	}
	i := strings.LastIndexByte(p, '.')
	if i < 0 {
		return pyBuiltin(p)
	}
	if e := pyDanger(p); e.do != none {
		return e
	}
	mod, name := p[:i], p[i+1:]
	if strings.HasPrefix(name, "_") && name != "__version__" && name != "__name__" {
		return entry{}
	}
	if pySafe(mod, name, p) {
		return entry{do: ok}
	}
	if pySub(p) {
		return entry{do: module}
	}
	return entry{}
}

func pyBuiltin(p string) entry {
	switch p {
	case "print", "len", "range", "enumerate", "sorted", "reversed", "set", "frozenset", "dict", "list", "tuple", "str", "int", "float", "bool",
		"bytes", "bytearray", "complex", "sum", "min", "max", "abs", "round", "divmod", "pow", "map", "filter", "zip", "any", "all", "ord", "chr",
		"hex", "oct", "bin", "repr", "ascii", "format", "hash", "id", "type", "isinstance", "issubclass", "callable", "iter", "next", "slice",
		"object", "super", "property", "staticmethod", "classmethod", "dir", "hasattr", "exit", "quit", "input", "memoryview", "Exception", "BaseException",
		"ValueError", "KeyError", "TypeError", "IndexError", "ImportError", "ModuleNotFoundError", "RuntimeError", "OSError", "IOError", "FileNotFoundError",
		"AttributeError", "AssertionError", "StopIteration", "KeyboardInterrupt", "SystemExit", "UnicodeDecodeError", "NotImplementedError",
		"ZeroDivisionError", "EOFError", "NameError", "PermissionError", "__name__", "__file__", "__doc__", "raw_input", "unicode", "xrange", "_", "__debug__":
		return entry{do: ok}
	case "open":
		return entry{do: open}
	case "exec", "eval", "execfile":
		return entry{do: eval, eff: Eval}
	case "compile":
		return entry{do: eval, eff: Eval | Unknown}
	case "__import__":
		return entry{do: load}
	case "getattr":
		return entry{do: getattr}
	case "globals", "locals", "vars", "setattr", "delattr", "breakpoint", "__loader__", "__spec__", "__dict__", "reload":
		return entry{do: harm, eff: Eval | Unknown}
	case "help":
		return entry{do: harm, eff: Spawn | Unknown}
	case "__builtins__", "builtins", "__builtin__":
		return entry{do: module}
	}
	if pyModuleName(p) {
		return entry{do: module}
	}
	return entry{}
}

// pyModuleName reports modules of the standard library; their members are judged one by one.
func pyModuleName(p string) bool {
	switch p {
	case "os", "sys", "subprocess", "shutil", "pathlib", "json", "re", "math", "cmath", "datetime", "time", "calendar", "collections", "itertools",
		"functools", "operator", "string", "textwrap", "random", "secrets", "statistics", "decimal", "fractions", "base64", "binascii", "hashlib", "hmac",
		"zlib", "gzip", "bz2", "lzma", "zipfile", "tarfile", "struct", "uuid", "platform", "socket", "ssl", "select", "urllib", "http", "ftplib",
		"smtplib", "imaplib", "poplib", "telnetlib", "xmlrpc", "socketserver", "asyncio", "threading", "multiprocessing", "concurrent", "signal",
		"ctypes", "pickle", "marshal", "shelve", "sqlite3", "csv", "io", "tempfile", "glob", "fnmatch", "getpass", "pwd", "grp", "pty", "tty", "fcntl",
		"resource", "importlib", "imp", "runpy", "code", "codecs", "types", "inspect", "ast", "dis", "traceback", "warnings", "logging", "argparse",
		"configparser", "tomllib", "xml", "html", "email", "mimetypes", "locale", "gettext", "unicodedata", "difflib", "pprint", "copy", "enum",
		"typing", "dataclasses", "contextlib", "heapq", "bisect", "array", "weakref", "gc", "site", "sysconfig", "ensurepip", "venv", "webbrowser",
		"pdb", "cProfile", "timeit", "unittest", "doctest", "shlex", "cmd", "readline", "stat", "errno", "posix", "nt", "commands", "popen2",
		"urllib2", "httplib", "quopri", "keyword", "token", "tokenize", "abc", "numbers", "ipaddress", "zoneinfo", "linecache", "filecmp", "fileinput",
		"mmap", "netrc", "plistlib", "queue", "sched", "selectors", "crypt", "curses", "distutils", "pkgutil", "zipimport", "symtable", "compileall", "graphlib", "stringprep", "colorsys", "wave", "optparse", "chunk", "sndhdr", "imghdr", "nntplib", "pyclbr", "tabnanny", "trace", "tracemalloc", "this", "antigravity":
		return true
	}
	return false
}

// pySub reports modules inside modules.
func pySub(p string) bool {
	switch p {
	case "os.path", "urllib.parse", "urllib.request", "urllib.error", "http.client", "http.server", "importlib.metadata", "importlib.util",
		"importlib.machinery", "importlib.resources", "collections.abc", "xml.etree", "xml.etree.ElementTree", "xml.dom", "xml.dom.minidom",
		"concurrent.futures", "asyncio.subprocess", "multiprocessing.pool", "html.parser", "email.mime", "email.message", "json.decoder", "json.tool", "ctypes.util",
		"sys.stdin", "sys.stdout", "sys.stderr", "logging.handlers", "unittest.mock", "curses.ascii", "sys.stdin.buffer", "sys.stdout.buffer", "sys.stderr.buffer", "sys.version_info",
		"datetime.datetime", "datetime.date", "datetime.timezone", "sys.path", "email.utils", "email.parser":
		return !strings.HasPrefix(p, "sys.") && !strings.HasPrefix(p, "datetime.")
	}
	return false
}

// pyDanger lists what has an effect.
func pyDanger(p string) entry {
	switch p {
	case "os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput", "commands.getoutput", "commands.getstatusoutput",
		"asyncio.create_subprocess_shell", "os.popen2", "os.popen3", "os.popen4", "popen2.popen2", "popen2.popen3", "posix.system", "nt.system", "platform.popen",
		"asyncio.subprocess.create_subprocess_shell":
		return entry{do: shell, eff: Spawn}
	case "subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output", "subprocess.Popen", "pty.spawn":
		return entry{do: popen, eff: Spawn}
	case "asyncio.create_subprocess_exec", "asyncio.subprocess.create_subprocess_exec":
		return entry{do: program, eff: Spawn}
	case "os.execv", "os.execve", "os.execvp", "os.execvpe", "os.posix_spawn", "os.posix_spawnp", "posix.execv", "posix.execve":
		return entry{do: execv, eff: Spawn}
	case "os.execl", "os.execlp", "os.execle", "os.execlpe":
		return entry{do: execl, eff: Spawn}
	case "os.spawnv", "os.spawnve", "os.spawnvp", "os.spawnvpe":
		return entry{do: spawnv, eff: Spawn}
	case "os.spawnl", "os.spawnle", "os.spawnlp", "os.spawnlpe":
		return entry{do: spawnl, eff: Spawn}
	case "os.fork", "os.forkpty", "os.startfile", "multiprocessing.Process", "multiprocessing.Pool", "webbrowser.open", "pty.fork":
		return entry{do: harm, eff: Spawn | Unknown}
	case "os.remove", "os.unlink", "os.rmdir", "os.removedirs", "shutil.rmtree", "posix.unlink", "posix.remove", "posix.rmdir":
		return entry{do: remove, eff: Delete}
	case "os.rename", "os.replace", "os.renames", "shutil.move":
		return entry{do: move, eff: Write | Delete}
	case "shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree", "shutil.copymode", "shutil.copystat":
		return entry{do: copyTo, eff: Write}
	case "os.symlink", "os.link":
		return entry{do: write, eff: Write, i: 1}
	case "os.mkdir", "os.makedirs", "os.chmod", "os.chown", "os.lchown", "os.truncate", "os.utime", "os.mknod", "os.mkfifo", "shutil.chown", "shutil.make_archive",
		"os.chflags", "os.setxattr", "os.removexattr":
		return entry{do: write, eff: Write}
	case "shutil.unpack_archive":
		return entry{do: write, eff: Write, i: 1}
	case "os.open":
		return entry{do: open, eff: Read, i: 0}
	case "io.open", "codecs.open", "gzip.open", "bz2.open", "lzma.open", "zipfile.ZipFile", "tarfile.open", "io.FileIO", "gzip.GzipFile", "os.fdopen", "builtins.open":
		return entry{do: open}
	case "os.kill", "os.killpg", "signal.pthread_kill", "os.abort", "signal.raise_signal":
		return entry{do: signal, eff: Signal}
	case "os.environ", "os.getenv", "os.environb", "os.getenvb":
		return entry{do: ok, eff: Env}
	case "xml.etree.ElementTree.parse", "xml.dom.minidom.parse", "os.listdir", "os.walk", "os.scandir", "glob.glob", "glob.iglob", "os.stat", "os.lstat", "os.readlink", "linecache.getline", "linecache.getlines",
		"configparser.ConfigParser.read":
		return entry{do: read, eff: Read}
	case "urllib.request.urlopen", "urllib.request.Request", "urllib2.urlopen", "urllib.urlopen", "http.client.HTTPConnection", "http.client.HTTPSConnection", "httplib.HTTPConnection",
		"socket.create_connection", "ftplib.FTP", "smtplib.SMTP", "smtplib.SMTP_SSL", "telnetlib.Telnet", "imaplib.IMAP4_SSL", "socket.gethostbyname",
		"socket.getaddrinfo", "xmlrpc.client.ServerProxy", "requests.get", "requests.post", "requests.put", "requests.head", "requests.delete",
		outside + "requests.get", outside + "requests.post", outside + "requests.put", outside + "requests.head", outside + "requests.delete", outside + "httpx.get", outside + "httpx.post":
		return entry{do: connect, eff: Connect}
	case "urllib.request.urlretrieve", "urllib.urlretrieve":
		return entry{do: connect, eff: Connect | Write | Unknown}
	case "socket.socket", "socket.create_server", "socketserver.TCPServer", "http.server.HTTPServer", "http.server.test", "asyncio.open_connection", "socket.fromfd", "socket.socketpair":
		return entry{do: harm, eff: Connect | Unknown}
	case "pickle.load", "pickle.loads", "marshal.load", "marshal.loads", "code.interact", "code.InteractiveConsole", "runpy.run_path", "runpy.run_module",
		"types.FunctionType", "types.CodeType", "timeit.timeit", "cProfile.run", "pdb.run", "pdb.set_trace", "sys.modules", "sys._getframe", "sys.settrace", "sys.setprofile",
		"operator.attrgetter", "operator.methodcaller", "importlib.reload", "imp.load_source":
		return entry{do: harm, eff: Eval | Unknown}
	case "builtins.exec", "builtins.eval", "builtins.compile", "__builtins__.exec", "__builtins__.eval":
		return entry{do: eval, eff: Eval}
	case "builtins.__import__", "importlib.import_module", "__builtins__.__import__", "importlib.__import__":
		return entry{do: load}
	case "builtins.getattr":
		return entry{do: getattr}
	case outside + "torch.cuda.is_available", outside + "torch.cuda.device_count", outside + "torch.backends.mps.is_available", outside + "torch.cuda.get_device_name":
		return entry{do: ok}
	}
	return entry{}
}

// pySafe lists the members that have no effect beyond their result.
func pySafe(mod, name, p string) bool {
	switch mod {
	case "math", "cmath", "itertools", "binascii", "zlib", "unicodedata", "errno", "array", "colorsys":
		return true // written in C: no other module can be reached through them
	case "sys":
		return pySys(name)
	case "sys.stdin", "sys.stdout", "sys.stderr", "sys.stdin.buffer", "sys.stdout.buffer", "sys.stderr.buffer":
		return pyMethod(name) || name == "buffer" || name == "encoding"
	case "os":
		return pyOS(name)
	case "os.path":
		switch name {
		case "join", "exists", "isfile", "isdir", "islink", "basename", "dirname", "abspath", "realpath", "relpath", "normpath", "expanduser",
			"expandvars", "split", "splitext", "getsize", "getmtime", "getctime", "getatime", "commonpath", "commonprefix", "isabs", "sep", "samefile", "lexists", "ismount", "pardir", "curdir":
			return true
		}
	case "datetime", "datetime.datetime", "datetime.date", "datetime.timezone", "datetime.timedelta":
		switch name {
		case "datetime", "date", "time", "timedelta", "timezone", "tzinfo", "UTC", "utc", "now", "utcnow", "today", "fromtimestamp", "utcfromtimestamp",
			"fromisoformat", "strptime", "combine", "min", "max", "MINYEAR", "MAXYEAR", "fromordinal", "isoformat", "strftime":
			return true
		}
	case "json":
		return name == "load" || name == "loads" || name == "dump" || name == "dumps" || name == "JSONDecodeError" || name == "JSONEncoder" || name == "JSONDecoder"
	case "re":
		switch name {
		case "sub", "subn", "search", "match", "fullmatch", "findall", "finditer", "split", "compile", "escape", "I", "M", "S", "X", "IGNORECASE", "MULTILINE", "DOTALL", "VERBOSE", "ASCII", "U":
			return true
		}
	case "pathlib":
		switch name {
		case "Path", "PurePath", "PosixPath", "PurePosixPath", "PureWindowsPath", "WindowsPath":
			return true
		}
	case "pathlib.Path":
		return name == "cwd" || name == "home"
	case "io":
		return name == "StringIO" || name == "BytesIO" || name == "TextIOWrapper"
	case "subprocess":
		return name == "PIPE" || name == "STDOUT" || name == "DEVNULL" || name == "CalledProcessError" || name == "TimeoutExpired" || name == "CompletedProcess"
	case "socket":
		return name == "gethostname" || strings.HasPrefix(name, "AF_") || strings.HasPrefix(name, "SOCK_")
	case "signal":
		return strings.HasPrefix(name, "SIG")
	case "importlib.metadata":
		switch name {
		case "version", "metadata", "distributions", "distribution", "packages_distributions", "requires", "files", "PackageNotFoundError":
			return true
		}
	case "urllib.parse":
		switch name {
		case "quote", "unquote", "quote_plus", "unquote_plus", "urlparse", "urlsplit", "urlunparse", "urlunsplit", "urljoin", "urlencode", "parse_qs", "parse_qsl":
			return true
		}
	case "builtins", "__builtins__":
		return pyBuiltin(name).do == ok
	}
	return pyMore(p)
}

func pySys(name string) bool {
	switch name {
	case "stdin", "stdout", "stderr", "argv", "version", "version_info", "path", "platform", "executable", "prefix", "base_prefix", "exec_prefix",
		"maxsize", "exit", "byteorder", "getsizeof", "getrecursionlimit", "setrecursionlimit", "implementation", "api_version", "hexversion",
		"getdefaultencoding", "getfilesystemencoding", "flags", "float_info", "int_info", "exc_info", "builtin_module_names", "stdlib_module_names", "copyright", "maxunicode", "abiflags":
		return true
	}
	return false
}

func pyOS(name string) bool {
	switch name {
	case "getcwd", "getpid", "getppid", "getuid", "getgid", "geteuid", "getegid", "getlogin", "cpu_count", "uname", "name", "sep", "linesep", "pathsep",
		"curdir", "pardir", "devnull", "urandom", "access", "R_OK", "W_OK", "X_OK", "F_OK", "getloadavg", "times", "get_terminal_size", "sched_getaffinity",
		"fspath", "fsencode", "fsdecode", "isatty", "sysconf", "getpgid", "getgroups", "P_NOWAIT", "P_WAIT", "O_RDONLY", "cpu_freq", "process_cpu_count", "getcwdb", "environ_get", "confstr", "error", "PathLike", "statvfs", "getpriority":
		return true
	}
	return false
}

// pyMore lists single members of modules that are otherwise not looked at.
func pyMore(p string) bool {
	switch p {
	case "time.time", "time.sleep", "time.strftime", "time.localtime", "time.gmtime", "time.perf_counter", "time.monotonic", "time.time_ns", "time.ctime",
		"time.mktime", "time.strptime", "time.process_time", "time.tzname", "time.timezone", "time.asctime", "time.perf_counter_ns",
		"collections.Counter", "collections.defaultdict", "collections.OrderedDict", "collections.deque", "collections.namedtuple", "collections.ChainMap",
		"functools.reduce", "functools.lru_cache", "functools.cache", "functools.partial", "functools.cmp_to_key", "functools.wraps",
		"operator.itemgetter", "operator.add", "operator.mul", "operator.sub", "operator.xor", "operator.or_", "operator.and_",
		"string.ascii_letters", "string.ascii_lowercase", "string.ascii_uppercase", "string.digits", "string.punctuation", "string.hexdigits", "string.printable", "string.whitespace", "string.Template",
		"textwrap.dedent", "textwrap.wrap", "textwrap.fill", "textwrap.indent", "textwrap.shorten",
		"random.random", "random.randint", "random.choice", "random.choices", "random.shuffle", "random.sample", "random.seed", "random.uniform", "random.randrange", "random.gauss", "random.getrandbits",
		"secrets.token_hex", "secrets.token_urlsafe", "secrets.token_bytes", "secrets.choice", "secrets.randbelow",
		"statistics.mean", "statistics.median", "statistics.stdev", "statistics.mode", "statistics.pstdev", "statistics.variance", "statistics.quantiles",
		"decimal.Decimal", "decimal.getcontext", "fractions.Fraction",
		"base64.b64encode", "base64.b64decode", "base64.urlsafe_b64encode", "base64.urlsafe_b64decode", "base64.standard_b64decode", "base64.b32encode", "base64.b32decode", "base64.b16encode", "base64.b16decode", "base64.b85encode", "base64.b85decode", "base64.decodebytes", "base64.encodebytes",
		"hashlib.md5", "hashlib.sha1", "hashlib.sha224", "hashlib.sha256", "hashlib.sha384", "hashlib.sha512", "hashlib.blake2b", "hashlib.blake2s", "hashlib.new", "hashlib.sha3_256", "hashlib.algorithms_available", "hashlib.file_digest", "hashlib.pbkdf2_hmac",
		"hmac.new", "hmac.compare_digest", "struct.pack", "struct.unpack", "struct.calcsize", "struct.unpack_from",
		"uuid.uuid4", "uuid.uuid1", "uuid.UUID", "uuid.uuid5", "uuid.NAMESPACE_DNS", "uuid.NAMESPACE_URL", "uuid.uuid3", "uuid.getnode",
		"platform.platform", "platform.system", "platform.machine", "platform.python_version", "platform.release", "platform.node", "platform.uname", "platform.processor",
		"platform.architecture", "platform.version", "platform.python_implementation", "platform.freedesktop_os_release", "platform.libc_ver", "platform.mac_ver",
		"calendar.month", "calendar.monthrange", "calendar.isleap", "calendar.timegm", "calendar.calendar", "calendar.day_name",
		"csv.reader", "csv.DictReader", "csv.writer", "csv.DictWriter", "csv.QUOTE_ALL", "csv.QUOTE_MINIMAL", "csv.Sniffer", "csv.field_size_limit",
		"ast.literal_eval", "ast.parse", "ast.dump", "ast.unparse", "ast.walk", "html.escape", "html.unescape", "difflib.unified_diff", "difflib.ndiff", "difflib.SequenceMatcher", "difflib.get_close_matches",
		"pprint.pprint", "pprint.pformat", "pprint.pp", "copy.copy", "copy.deepcopy", "heapq.heappush", "heapq.heappop", "heapq.nlargest", "heapq.nsmallest", "heapq.heapify",
		"bisect.bisect", "bisect.bisect_left", "bisect.bisect_right", "bisect.insort", "dataclasses.dataclass", "dataclasses.field", "dataclasses.asdict", "enum.Enum", "enum.IntEnum", "enum.auto",
		"configparser.ConfigParser", "configparser.RawConfigParser", "calendar.TextCalendar", "calendar.HTMLCalendar", "calendar.weekday", "calendar.prmonth", "calendar.prcal", "calendar.monthcalendar", "calendar.month_name", "calendar.leapdays",
		"pkgutil.iter_modules", "graphlib.TopologicalSorter", "asyncio.run", "asyncio.gather", "asyncio.get_event_loop", "asyncio.get_running_loop", "asyncio.wait_for", "statistics.NormalDist", "statistics.correlation", "statistics.linear_regression",
		"statistics.fmean", "statistics.geometric_mean", "statistics.harmonic_mean", "statistics.multimode", "random.normalvariate", "random.expovariate", "random.betavariate", "random.triangular", "random.randbytes", "secrets.randbits", "operator.attrgetter",
		"operator.truediv", "operator.lt", "operator.gt", "operator.eq", "functools.total_ordering", "functools.singledispatch", "itertools.count", "heapq.merge", "heapq.heappushpop", "heapq.heapreplace", "bisect.insort_left",
		"logging.DEBUG", "logging.INFO", "logging.WARNING", "logging.ERROR", "logging.info", "logging.debug", "logging.warning", "logging.error", "logging.getLogger", "time.thread_time", "time.monotonic_ns", "string.capwords", "textwrap.TextWrapper",
		"difflib.Differ", "difflib.context_diff", "html.parser.HTMLParser", "email.message_from_string", "email.utils.parseaddr", "email.utils.parsedate_to_datetime", "mimetypes.guess_extension", "colorsys.rgb_to_hsv", "stringprep.map_table_b2",
		"typing.List", "typing.Dict", "typing.Optional", "typing.Any", "typing.Tuple", "typing.Union", "typing.Callable", "typing.NamedTuple",
		"tomllib.load", "tomllib.loads", "shlex.split", "shlex.quote", "shlex.join", "fnmatch.fnmatch", "fnmatch.filter", "glob.escape",
		"codecs.decode", "codecs.encode", "locale.getpreferredencoding", "locale.getlocale", "locale.getdefaultlocale", "mimetypes.guess_type", "getpass.getuser",
		"sysconfig.get_paths", "sysconfig.get_path", "sysconfig.get_config_var", "sysconfig.get_config_vars", "sysconfig.get_platform", "sysconfig.get_python_version",
		"site.getsitepackages", "site.getusersitepackages", "site.USER_SITE", "site.USER_BASE", "importlib.util.find_spec",
		"shutil.which", "shutil.disk_usage", "shutil.get_terminal_size", "tempfile.gettempdir", "keyword.kwlist", "keyword.iskeyword", "zoneinfo.ZoneInfo", "zoneinfo.available_timezones",
		"ipaddress.ip_address", "ipaddress.ip_network", "ipaddress.IPv4Address", "ipaddress.IPv4Network", "ipaddress.ip_interface", "stat.filemode", "stat.S_ISDIR", "stat.S_IMODE", "stat.S_ISREG",
		"xml.etree.ElementTree.fromstring", "xml.dom.minidom.parseString", "sqlite3.sqlite_version", "sqlite3.version", "ssl.OPENSSL_VERSION", "bytes.fromhex", "str.join", "dict.fromkeys",
		"str.upper", "str.lower", "str.strip", "str.split", "int.from_bytes", "str.maketrans", "itertools.chain.from_iterable", "contextlib.suppress", "types.SimpleNamespace",
		"threading.Lock", "threading.active_count", "threading.current_thread", "asyncio.sleep", "inspect.signature", "inspect.getsource", "inspect.getfile", "traceback.print_exc", "traceback.format_exc", "warnings.filterwarnings", "warnings.simplefilter",
		"collections.abc.Iterable", "collections.abc.Mapping", "json.decoder.JSONDecodeError", "email.utils.formatdate", "gc.collect", "numbers.Number", "abc.ABC", "quopri.decodestring", "quopri.encodestring", "resource.getrlimit", "resource.getrusage", "resource.RLIMIT_NOFILE", "resource.RUSAGE_SELF", "pwd.getpwuid", "pwd.getpwnam", "grp.getgrgid":
		return true
	}
	return false
}

// pyMethod lists methods that only compute, or write to what is already open.
func pyMethod(name string) bool {
	switch name {
	case "append", "extend", "insert", "pop", "clear", "copy", "count", "index", "sort", "reverse", "keys", "values", "items", "get", "setdefault", "update",
		"add", "discard", "union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset", "most_common", "elements", "popleft", "appendleft", "popitem",
		"strip", "lstrip", "rstrip", "split", "rsplit", "splitlines", "join", "replace", "lower", "upper", "title", "capitalize", "swapcase", "casefold", "startswith",
		"endswith", "find", "rfind", "rindex", "format", "format_map", "encode", "decode", "zfill", "center", "ljust", "rjust", "isdigit", "isalpha", "isalnum", "isspace",
		"isupper", "islower", "isnumeric", "isdecimal", "isidentifier", "partition", "rpartition", "translate", "expandtabs", "removeprefix", "removesuffix", "hex", "isprintable", "istitle", "fromkeys",
		"read", "readline", "readlines", "readable", "write", "writelines", "flush", "close", "seek", "tell", "fileno", "isatty", "getvalue", "reconfigure", "detach", "getbuffer",
		"group", "groups", "groupdict", "start", "end", "span", "search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "expand",
		"strftime", "isoformat", "timestamp", "date", "time", "weekday", "isoweekday", "astimezone", "total_seconds", "timetuple", "isocalendar", "utcoffset", "toordinal",
		"hexdigest", "digest", "bit_length", "to_bytes", "from_bytes", "as_integer_ratio", "is_integer", "conjugate", "quantize", "bit_count",
		"exists", "is_file", "is_dir", "is_symlink", "resolve", "absolute", "expanduser", "relative_to", "with_suffix", "with_name", "joinpath", "as_posix", "as_uri", "is_absolute", "stat", "lstat", "samefile", "is_relative_to", "with_stem",
		"writerow", "writerows", "writeheader", "total", "tolist", "cache_clear", "throw", "send", "with_traceback", "add_note", "subtract", "getroot", "iter", "itertext", "findtext", "toprettyxml", "toxml", "getElementsByTagName", "getAttribute",
		"geturl", "hosts", "subnets", "supernet", "overlaps", "ratio", "get_opcodes", "get_matching_blocks", "substitute", "safe_substitute", "is_alive", "locked", "acquire", "release", "mro", "buffer", "compile":
		return true
	}
	return false
}

// pyAttr lists attributes that are read without a call.
func pyAttr(name string) bool {
	switch name {
	case "name", "stem", "suffix", "suffixes", "parent", "parents", "parts", "anchor", "drive", "root", "year", "month", "day", "hour", "minute", "second",
		"microsecond", "tzinfo", "days", "seconds", "microseconds", "real", "imag", "numerator", "denominator", "major", "minor", "micro", "releaselevel", "serial", "args", "errno", "strerror", "filename",
		"netloc", "scheme", "path", "query", "fragment", "hostname", "port", "username", "params", "st_size", "st_mtime", "st_mode", "st_uid", "st_gid", "st_ctime", "st_atime",
		"__name__", "__class__", "__doc__", "__file__", "__version__", "__path__", "__init__", "text", "tag", "attrib", "returncode", "stdout", "stderr", "output", "string", "pattern", "encoding",
		"sysname", "nodename", "release", "version", "machine", "cache_info", "int", "bytes", "urn", "fieldnames", "line_num", "T", "shape", "size", "dtype", "value", "msg", "lineno", "columns", "lines", "used", "free", "buffer",
		"num_addresses", "network_address", "broadcast_address", "netmask", "is_private", "is_loopback", "is_global", "prefixlen", "origin", "metadata", "maxlen", "data", "nbytes", "bits_per_digit", "pw_name", "pw_dir", "pw_shell", "gr_name", "dev", "cache_tag", "max", "min", "epsilon", "optimize", "utf8_mode":
		return true
	}
	return false
}
