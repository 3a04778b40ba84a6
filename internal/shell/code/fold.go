package code

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
)

// fold is the value of a harmless function of known arguments.
func (s *scanner) fold(path string, args []value) value {
	if len(args) == 0 {
		return value{}
	}
	x := args[0]
	switch path {
	case "chr", "string.char", "String.fromCharCode", "String.fromCodePoint", "intToUtf8":
		if s.lang == Python && x.k == kAny && x.name != "" {
			return value{kw: "chr", name: x.name}
		}
		return chars(flatten(args))
	case "str", "String", "bytes", "bytearray", "pathlib.Path", "pathlib.PurePath", "Path", "tostring", "strval", "Pathname", "Pathname.new", "os.fspath",
		"os.path.expanduser", "os.path.abspath", "os.path.realpath", "os.path.normpath":
		if x.k == kList {
			return chars(x.list)
		}
		if len(args) > 1 && strings.HasPrefix(path, "pathlib") {
			return s.join("/", args)
		}
		return x
	case "os.path.join", "path.join", "File.join", "file.path":
		return s.join("/", args)
	case "base64.b64decode", "base64.urlsafe_b64decode", "base64.standard_b64decode", "base64.decodebytes", "atob", "base64_decode", "decode_base64",
		"MIME::Base64::decode_base64", "MIME::Base64::decode", "Base64.decode64", "Base64.strict_decode64", "Base64.urlsafe_decode64":
		return unbase64(x)
	case "binascii.unhexlify", "bytes.fromhex", "hex2bin", "binascii.a2b_hex":
		return unhex(x)
	case "binascii.a2b_base64":
		return unbase64(x)
	case "strrev", "string.reverse", "reverse":
		if x.k == kStr {
			return text(reversed(x.s))
		}
	case "str_rot13":
		return rot13(x)
	case "codecs.decode":
		if len(args) > 1 && strings.HasPrefix(strings.ReplaceAll(args[1].s, "-", ""), "rot") {
			return rot13(x)
		}
	case "implode", "join", "table.concat":
		if s.lang == Lua {
			args = []value{need(value{}, args, 1), x}
			x = args[0]
			if x.k == kAny {
				x = text("")
			}
		}
		if s.lang == PHP && len(args) > 1 && args[1].k != kList {
			x, args = args[1], []value{args[1], x}
		}
		if s.lang == PHP && len(args) == 1 {
			x, args = text(""), []value{x, x}
		}
		if x.k == kStr {
			return s.join(x.s, flatten(args[1:]))
		}
	case "sprintf", "string.format", "util.format", "format":
		if x.k == kStr && path != "util.format" {
			return s.sprintf(x, args[1:])
		}
	case "urllib.parse.unquote", "decodeURIComponent", "unescape", "urldecode", "rawurldecode":
		return unpercent(x)
	case "pack":
		if x.known() && len(args) > 1 {
			return unpack(x.s, args[1:])
		}
	case "lc", "strtolower", "string.lower":
		return lower(x)
	case "list", "tuple", "reversed", "Array.from", "array", "c", "qw", "scalar", "iter", "list.copy":
		if s.lang == Python && path == "reversed" {
			if x.k == kStr {
				return text(reversed(x.s))
			}
			return value{}
		}
		if path == "c" || path == "array" {
			return value{k: kList, list: args}
		}
		return x
	case "map":
		if s.lang == Python && len(args) == 2 && args[0].k == kName && args[0].s == "chr" && args[1].k == kList {
			v := value{k: kList}
			for _, n := range args[1].list {
				v.list = append(v.list, char(n))
			}
			return v
		}
	case "shlex.split", "paste0":
		if path == "paste0" {
			return s.join("", args)
		}
		if x.known() && !strings.ContainsAny(x.s, `'"\#`) {
			return words(x)
		}
	case "shlex.quote", "shlex.join":
		return value{k: kStr, s: unknown}
	case "ord":
		if len(x.s) == 1 && x.known() {
			return value{k: kNum, n: int(x.s[0]), s: strconv.Itoa(int(x.s[0]))}
		}
	case "Buffer.from":
		if x.k == kList {
			return chars(x.list)
		}
		if len(args) > 1 {
			switch args[1].s {
			case "base64", "base64url":
				return unbase64(x)
			case "hex":
				return unhex(x)
			}
		}
		return x
	}
	return value{}
}

// foldMethod is the value of a method of a known receiver.
func (s *scanner) foldMethod(recv value, name string, args []value) value {
	var x value
	if len(args) > 0 {
		x = args[0]
	}
	switch recv.k {
	case kList:
		switch name {
		case "join":
			sep := ""
			if x.k == kStr {
				sep = x.s
			} else if s.lang == Node {
				sep = ","
			}
			return s.join(sep, recv.list)
		case "reverse":
			r := value{k: kList}
			for i := len(recv.list) - 1; i >= 0; i-- {
				r.list = append(r.list, recv.list[i])
			}
			return r
		case "pack":
			if x.known() {
				return unpack(x.s, recv.list)
			}
		case "concat":
			return value{k: kList, list: append(recv.list[:len(recv.list):len(recv.list)], flatten(args)...)}
		}
	case kNum:
		if name == "chr" {
			return char(recv)
		}
	case kStr:
		switch name {
		case "join":
			if s.lang == Python {
				if x.k == kStr && recv.s == "" {
					return x
				}
				return s.join(recv.s, x.items())
			}
		case "decode", "encode", "strip", "toString", "to_s", "trim", "freeze", "dup", "rstrip", "lstrip", "chomp", "resolve", "absolute", "expanduser",
			"valueOf", "to_str", "b", "trimEnd", "trimStart", "to_sym", "force_encoding", "as_posix":
			if name == "toString" && len(args) > 0 && (x.s == "base64" || x.s == "hex") {
				return value{}
			}
			if strings.Contains(name, "strip") || strings.Contains(name, "trim") || name == "chomp" {
				recv.s = strings.TrimSpace(recv.s)
			}
			return recv
		case "reverse":
			return text(reversed(recv.s))
		case "lower", "toLowerCase", "downcase":
			return lower(recv)
		case "split":
			if len(args) == 0 && recv.known() {
				return words(recv)
			}
			if recv.known() && x.known() && len(args) == 1 {
				r := value{k: kList}
				for _, p := range strings.Split(recv.s, x.s) {
					r.list = append(r.list, text(p).at(recv.a, recv.b))
				}
				return r
			}
		case "replace", "replaceAll", "gsub", "tr":
			if len(args) == 2 && recv.known() && x.known() && args[1].k == kStr && (name != "tr" || len(x.s) == 1) {
				n := -1
				if name == "replace" && s.lang == Node {
					n = 1
				}
				if x.s == "" || len(recv.s)*(len(args[1].s)+1) > maxString {
					return value{}
				}
				return text(strings.Replace(recv.s, x.s, args[1].s, n))
			}
		case "concat", "joinpath":
			sep := ""
			if name == "joinpath" {
				sep = "/"
			}
			return s.join(sep, append([]value{recv}, args...))
		case "repeat":
			if x.k == kNum {
				return s.repeat(recv, x.n)
			}
		case "format":
			if s.lang == Python {
				return s.braceFormat(recv, args)
			}
		case "unpack1", "unpack":
			if x.known() && name == "unpack1" && strings.HasPrefix(x.s, "m") {
				return unbase64(recv)
			}
		}
	}
	return value{}
}

// items are the elements of a list or the characters of a string.
func (v value) items() []value {
	switch v.k {
	case kList:
		return v.list
	case kStr:
		var out []value
		for _, r := range v.s {
			out = append(out, text(string(r)))
		}
		return out
	}
	return []value{{}}
}

func chars(ns []value) value {
	var b strings.Builder
	for _, n := range ns {
		b.WriteString(char(n).s)
	}
	return text(b.String())
}

func words(v value) value {
	r := value{k: kList, a: v.a, b: v.b}
	for _, w := range strings.Fields(v.s) {
		r.list = append(r.list, text(w).at(v.a, v.b))
	}
	return r
}

func (s *scanner) join(sep string, vs []value) value {
	n := 0
	for _, v := range vs {
		n += len(v.s) + len(sep) + 1
	}
	if n > maxString || n > s.budget {
		return value{}
	}
	s.budget -= n
	var b strings.Builder
	for i, v := range vs {
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(piece(v))
	}
	r := text(b.String())
	s.keyString(r.s)
	return r
}

func lower(v value) value {
	if v.k != kStr {
		return value{}
	}
	v.s = strings.ToLower(v.s)
	return v
}

func unbase64(v value) value {
	if !v.known() {
		return value{}
	}
	t := strings.NewReplacer("-", "+", "_", "/", "\n", "", " ", "", "=", "").Replace(v.s)
	d, err := base64.RawStdEncoding.DecodeString(t)
	if err != nil {
		return value{}
	}
	return text(string(d))
}

func unhex(v value) value {
	if !v.known() {
		return value{}
	}
	d, err := hex.DecodeString(strings.ReplaceAll(v.s, " ", ""))
	if err != nil {
		return value{}
	}
	return text(string(d))
}

// unpack is pack of Perl and Ruby for hex, base64 and plain strings.
func unpack(format string, args []value) value {
	if len(args) == 0 {
		return value{}
	}
	switch {
	case strings.HasPrefix(format, "H"):
		return unhex(args[0])
	case strings.HasPrefix(format, "C"), strings.HasPrefix(format, "U"), strings.HasPrefix(format, "c"):
		return chars(flatten(args))
	case strings.HasPrefix(format, "m"):
		return value{}
	case strings.HasPrefix(format, "A"), strings.HasPrefix(format, "a"):
		return args[0]
	}
	return value{}
}

func rot13(v value) value {
	if v.k != kStr {
		return value{}
	}
	return text(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return 'a' + (r-'a'+13)%26
		case r >= 'A' && r <= 'Z':
			return 'A' + (r-'A'+13)%26
		}
		return r
	}, v.s))
}

func unpercent(v value) value {
	if v.k != kStr {
		return value{}
	}
	var b strings.Builder
	for i := 0; i < len(v.s); i++ {
		if v.s[i] == '%' && i+2 < len(v.s) && hexDigit(v.s[i+1]) >= 0 && hexDigit(v.s[i+2]) >= 0 {
			b.WriteByte(byte(hexDigit(v.s[i+1])<<4 | hexDigit(v.s[i+2])))
			i += 2
			continue
		}
		b.WriteByte(v.s[i])
	}
	return text(b.String())
}

// sprintf formats with %s and %d; any other verb gives an unknown piece.
func (s *scanner) sprintf(f value, args []value) value {
	var b strings.Builder
	n := 0
	for i := 0; i < len(f.s); i++ {
		if f.s[i] != '%' || i+1 >= len(f.s) {
			b.WriteByte(f.s[i])
			continue
		}
		i++
		if f.s[i] == '%' {
			b.WriteByte('%')
			continue
		}
		plain := f.s[i] == 's' || f.s[i] == 'd' || f.s[i] == 'i'
		for i < len(f.s) && !isAlpha(f.s[i]) {
			if f.s[i] == '(' || f.s[i] == '<' || f.s[i] == '{' {
				if j := strings.IndexAny(f.s[i:], ")>}"); j >= 0 {
					i += j
				}
			}
			i++
		}
		if i < len(f.s) && f.s[i] == 'c' && n < len(args) && args[n].k == kNum {
			b.WriteString(char(args[n]).s)
		} else if plain && n < len(args) {
			b.WriteString(piece(args[n]))
		} else {
			b.WriteString(unknown)
		}
		n++
		if b.Len() > maxString {
			return value{}
		}
	}
	s.budget -= b.Len()
	if s.budget < 0 {
		s.eff(Unknown)
		return value{}
	}
	return text(b.String())
}

// braceFormat is Python's str.format.
func (s *scanner) braceFormat(f value, args []value) value {
	var b strings.Builder
	n := 0
	for i := 0; i < len(f.s); i++ {
		c := f.s[i]
		if (c == '{' || c == '}') && i+1 < len(f.s) && f.s[i+1] == c {
			b.WriteByte(c)
			i++
			continue
		}
		if c != '{' {
			b.WriteByte(c)
			continue
		}
		j := strings.IndexByte(f.s[i:], '}')
		if j < 0 {
			return value{}
		}
		field := f.s[i+1 : i+j]
		i += j
		var v value
		k, err := strconv.Atoi(field)
		switch {
		case field == "":
			v, _ = arg(args, n, "")
			n++
		case err == nil && k >= 0:
			v, _ = arg(args, k, "")
		case isName(field):
			v, _ = arg(args, -1, field)
		}
		b.WriteString(piece(v))
		if b.Len() > maxString {
			return value{}
		}
	}
	s.budget -= b.Len()
	if s.budget < 0 {
		s.eff(Unknown)
		return value{}
	}
	return text(b.String())
}
