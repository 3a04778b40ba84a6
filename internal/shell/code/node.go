package code

import "strings"

// jsLookup is the list of JavaScript under Node, Bun and Deno. Modules are named as by require, without "node:".
func jsLookup(p string) entry {
	p = strings.Replace(p, "fs.promises.", "fs.", 1)
	p = strings.TrimPrefix(p, "path.posix.")
	i := strings.LastIndexByte(p, '.')
	if i < 0 {
		return jsGlobal(p)
	}
	if e := jsDanger(p); e.do != none {
		return e
	}
	mod, name := p[:i], p[i+1:]
	if machinery(name) {
		return entry{}
	}
	switch mod {
	case "console":
		switch name {
		case "log", "error", "warn", "info", "debug", "table", "dir", "time", "timeEnd", "assert", "count", "group", "groupEnd", "trace":
			return entry{do: ok}
		}
	case "Math", "JSON", "Number", "Date", "String", "Intl", "Atomics", "BigInt", "Symbol":
		return entry{do: ok}
	case "Array":
		return okIf(name == "isArray" || name == "from" || name == "of")
	case "Object":
		switch name {
		case "keys", "values", "entries", "assign", "fromEntries", "freeze", "is", "groupBy", "hasOwn":
			return entry{do: ok}
		}
	case "Promise":
		return okIf(name == "all" || name == "resolve" || name == "reject" || name == "allSettled" || name == "race" || name == "any")
	case "process":
		return jsProcess(name)
	case "process.versions", "process.release", "process.argv", "process.memoryUsage", "process.hrtime", "process.features", "process.config":
		return entry{do: ok}
	case "process.stdout", "process.stderr", "process.stdin":
		switch name {
		case "write", "isTTY", "columns", "rows", "on", "once", "resume", "setEncoding", "read", "pipe", "end", "fd", "pause":
			return entry{do: ok}
		}
	case "process.env":
		return entry{do: ok, eff: Env}
	case "Buffer", "buffer.Buffer":
		return okIf(name == "from" || name == "alloc" || name == "concat" || name == "byteLength" || name == "isBuffer" || name == "compare")
	case "os":
		switch name {
		case "cpus", "platform", "arch", "release", "type", "hostname", "homedir", "tmpdir", "totalmem", "freemem", "uptime", "loadavg", "userInfo", "EOL", "networkInterfaces", "endianness", "version", "machine", "availableParallelism":
			return entry{do: ok}
		}
	case "path":
		switch name {
		case "join", "resolve", "basename", "dirname", "extname", "relative", "normalize", "sep", "delimiter", "isAbsolute", "parse", "format":
			return entry{do: ok}
		}
	case "util":
		return okIf(name == "inspect" || name == "format" || name == "types" || name == "isDeepStrictEqual" || name == "stripVTControlCharacters")
	case "crypto":
		switch name {
		case "randomBytes", "randomUUID", "createHash", "createHmac", "getHashes", "randomInt", "timingSafeEqual", "getCiphers", "pbkdf2Sync", "scryptSync", "webcrypto", "getRandomValues":
			return entry{do: ok}
		}
	case "url":
		return okIf(name == "parse" || name == "format" || name == "URL" || name == "URLSearchParams" || name == "fileURLToPath" || name == "pathToFileURL")
	case "querystring":
		return okIf(name == "parse" || name == "stringify" || name == "escape" || name == "unescape")
	case "zlib":
		return okIf(strings.HasSuffix(name, "Sync"))
	case "assert":
		return entry{do: ok}
	case "perf_hooks", "performance", "perf_hooks.performance":
		return okIf(name == "performance" || name == "now" || name == "timeOrigin")
	case "v8":
		return okIf(name == "getHeapStatistics")
	case "module", "require":
		return okIf(name == "exports" || name == "builtinModules")
	case "module.exports", "exports":
		return entry{do: ok}
	case "buffer":
		return okIf(name == "Buffer")
	case "Deno":
		return okIf(name == "version" || name == "args" || name == "build" || name == "cwd" || name == "exit")
	case "Deno.version", "Deno.build":
		return entry{do: ok}
	case "Bun":
		return okIf(name == "version" || name == "revision" || name == "argv")
	case "import.meta":
		return okIf(name == "url" || name == "dirname" || name == "filename")
	case "fs.constants", "os.constants":
		return entry{do: ok}
	case "require.main":
		return okIf(name == "filename")
	}
	return entry{}
}

func okIf(b bool) entry {
	if b {
		return entry{do: ok}
	}
	return entry{}
}

func jsGlobal(p string) entry {
	switch p {
	case "parseInt", "parseFloat", "isNaN", "isFinite", "encodeURIComponent", "decodeURIComponent", "encodeURI", "decodeURI", "escape", "unescape",
		"String", "Number", "Boolean", "BigInt", "Date", "RegExp", "Error", "TypeError", "RangeError", "SyntaxError", "Map", "Set", "WeakMap", "WeakSet", "URL", "URLSearchParams", "TextEncoder", "TextDecoder",
		"Uint8Array", "Int32Array", "Float64Array", "Uint16Array", "Uint32Array", "ArrayBuffer", "DataView", "atob", "btoa", "structuredClone", "setTimeout", "setInterval", "setImmediate",
		"clearTimeout", "clearInterval", "queueMicrotask", "exports", "AbortController", "Array", "Object", "Promise", "Symbol":
		return entry{do: ok}
	case "Math", "JSON", "console", "process", "Intl", "Atomics", "Buffer", "fs", "os", "path", "util", "crypto", "url", "querystring", "zlib", "assert", "perf_hooks",
		"performance", "v8", "module", "child_process", "http", "https", "net", "dgram", "tls", "dns", "vm", "worker_threads", "cluster", "repl", "readline", "stream", "events", "buffer",
		"string_decoder", "http2", "inspector", "async_hooks", "timers", "tty", "globalThis", "global", "this", "window", "self", "Deno", "Bun", "bun", "constants", "punycode", "fs.promises", "test", "wasi", "trace_events", "diagnostics_channel":
		return entry{do: module}
	case "require", "import":
		return entry{do: load}
	case "eval", "Function", "AsyncFunction":
		return entry{do: eval, eff: Eval}
	case "Reflect", "Proxy", "WebAssembly", "GeneratorFunction", "SharedArrayBuffer", "Worker":
		return entry{do: harm, eff: Eval | Unknown}
	case "fetch", "WebSocket", "EventSource", "XMLHttpRequest":
		return entry{do: connect, eff: Connect}
	}
	return entry{}
}

func jsProcess(name string) entry {
	switch name {
	case "version", "versions", "argv", "platform", "arch", "cwd", "exit", "memoryUsage", "hrtime", "uptime", "pid", "ppid", "execPath", "execArgv",
		"title", "exitCode", "release", "features", "config", "getuid", "getgid", "nextTick", "cpuUsage", "stdout", "stderr", "stdin", "on", "once", "argv0", "resourceUsage", "emitWarning":
		return entry{do: ok}
	case "env":
		return entry{do: ok, eff: Env}
	case "kill", "abort":
		return entry{do: signal, eff: Signal}
	}
	return entry{}
}

// jsDanger lists what has an effect.
func jsDanger(p string) entry {
	switch p {
	case "child_process.exec", "child_process.execSync":
		return entry{do: shell, eff: Spawn}
	case "child_process.spawn", "child_process.spawnSync", "child_process.execFile", "child_process.execFileSync":
		return entry{do: spawn, eff: Spawn}
	case "child_process.fork", "cluster.fork", "worker_threads.Worker", "Bun.$", "Deno.Command", "bun.$":
		return entry{do: harm, eff: Spawn | Unknown}
	case "Bun.spawn", "Bun.spawnSync", "Deno.run":
		return entry{do: popen, eff: Spawn}
	case "fs.writeFileSync", "fs.writeFile", "fs.appendFileSync", "fs.appendFile", "fs.mkdirSync", "fs.mkdir", "fs.chmodSync", "fs.chmod", "fs.chownSync", "fs.chown",
		"fs.truncateSync", "fs.truncate", "fs.createWriteStream", "fs.utimesSync", "fs.utimes", "fs.mkdtempSync", "fs.mkdtemp", "Bun.write", "Deno.writeTextFile", "Deno.writeTextFileSync",
		"Deno.writeFile", "Deno.writeFileSync", "Deno.mkdir", "Deno.mkdirSync", "fs.lchownSync", "Deno.chmod", "Deno.create", "Deno.truncate":
		return entry{do: write, eff: Write}
	case "fs.symlinkSync", "fs.symlink", "fs.linkSync", "fs.link", "Deno.symlink", "Deno.link":
		return entry{do: write, eff: Write, i: 1}
	case "fs.rmSync", "fs.rm", "fs.rmdirSync", "fs.rmdir", "fs.unlinkSync", "fs.unlink", "Deno.remove", "Deno.removeSync":
		return entry{do: remove, eff: Delete}
	case "fs.renameSync", "fs.rename", "Deno.rename", "Deno.renameSync":
		return entry{do: move, eff: Write | Delete}
	case "fs.copyFileSync", "fs.copyFile", "fs.cpSync", "fs.cp", "Deno.copyFile", "Deno.copyFileSync":
		return entry{do: copyTo, eff: Write}
	case "fs.openSync", "fs.open", "Deno.open":
		return entry{do: open}
	case "fs.readFileSync", "fs.readFile", "fs.readdirSync", "fs.readdir", "fs.createReadStream", "fs.statSync", "fs.stat", "fs.existsSync", "fs.lstatSync", "fs.realpathSync",
		"fs.readlinkSync", "fs.accessSync", "fs.access", "Deno.readTextFile", "Deno.readTextFileSync", "Deno.readFile", "Deno.readDir", "Deno.readDirSync", "require.resolve", "fs.lstat", "Deno.stat", "Deno.statSync":
		return entry{do: read, eff: Read}
	case "Bun.file":
		return entry{do: read, eff: Read | Unknown} // its result can also write and delete
	case "http.get", "http.request", "https.get", "https.request", "net.connect", "net.createConnection", "tls.connect", "dns.lookup", "dns.resolve", "http2.connect", "Deno.connect",
		"dns.resolveTxt", "dns.resolve4", "dns.promises.lookup":
		return entry{do: connect, eff: Connect}
	case "net.Socket", "net.createServer", "http.createServer", "https.createServer", "dgram.createSocket", "Deno.serve", "Bun.serve", "Deno.listen":
		return entry{do: harm, eff: Connect | Unknown}
	case "vm.runInThisContext", "vm.runInNewContext", "vm.runInContext", "vm.Script", "vm.compileFunction", "process.binding", "process.mainModule", "process.dlopen", "process._linkedBinding",
		"module.constructor", "module._load", "module.createRequire", "module.require", "require.cache", "require.extensions", "repl.start", "module.Module", "process.getBuiltinModule", "inspector.Session", "module.children", "module.parent", "module.register":
		return entry{do: harm, eff: Eval | Unknown}
	case "Deno.env", "Bun.env", "Deno.env.get", "Deno.env.toObject":
		return entry{do: ok, eff: Env}
	case "Deno.kill":
		return entry{do: signal, eff: Signal}
	case "fs.promises":
		return entry{do: module}
	case "fs.constants", "process.stdout", "process.stderr", "process.stdin", "os.constants":
		return entry{do: ok}
	case "require.main", "import.meta":
		return entry{do: ok}
	}
	return entry{}
}

// jsMethod lists methods that only compute or work on what is already open.
func jsMethod(name string) bool {
	switch name {
	case "log", "map", "filter", "forEach", "reduce", "reduceRight", "some", "every", "find", "findIndex", "findLast", "flat", "flatMap", "includes", "indexOf", "lastIndexOf", "join", "slice",
		"splice", "concat", "push", "pop", "shift", "unshift", "sort", "reverse", "fill", "keys", "values", "entries", "at", "toSorted", "toReversed",
		"split", "replace", "replaceAll", "trim", "trimStart", "trimEnd", "toLowerCase", "toUpperCase", "startsWith", "endsWith", "padStart", "padEnd", "repeat", "charAt", "charCodeAt",
		"codePointAt", "substring", "substr", "match", "matchAll", "search", "normalize", "localeCompare", "test", "exec",
		"toString", "toFixed", "toPrecision", "toISOString", "toLocaleString", "toLocaleDateString", "toLocaleTimeString", "getTime", "getFullYear", "getMonth", "getDate", "getDay",
		"getHours", "getMinutes", "getSeconds", "getMilliseconds", "toJSON", "valueOf", "getTimezoneOffset", "toDateString", "toUTCString", "setDate", "setHours", "setMonth", "getUTCFullYear", "getUTCMonth", "getUTCDate",
		"get", "set", "has", "add", "delete", "clear", "append", "then", "catch", "finally", "on", "once", "pipe", "read", "setEncoding", "resume", "end",
		"digest", "update", "equals", "readUInt8", "readInt32LE", "readUInt32BE", "readUInt32LE", "hasOwnProperty", "encode", "decode", "format", "isFile", "isDirectory", "toArray", "copy", "subarray", "text", "json", "bigint", "resolvedOptions", "union", "intersection", "difference", "abort", "now", "setTime", "getAll", "charCode", "formatToParts", "write":
		return true
	}
	return false
}
