package shell

import (
	"encoding/base32"
	"encoding/base64"
	hexenc "encoding/hex"
	"path"
	"slices"
	"strconv"
	"strings"
)

// print returns what command i prints, when somebody reads it and it can be known.
func (e *eval) print(sc *scope, i int, io frameIO) fragment {
	if !io.want {
		return fragment{}
	}
	c := &e.prog.Commands[i]
	out, ok := e.emulate(sc, c.Args[1:], c.Name, io)
	if !ok {
		return fragment{s: Unknown, holes: []Hole{{Kind: Output}}, from: inputFrom(io)}
	}
	return out
}

func inputFrom(io frameIO) []int {
	if io.in == nil {
		return nil
	}
	return io.in.from
}

// emulate returns what a program that only computes text prints. ok is false for all others, and for options that are not
// followed here.
func (e *eval) emulate(sc *scope, args []Word, name string, io frameIO) (out fragment, ok bool) {
	switch name {
	case "echo":
		escapes := false
		if e.dialect == POSIX {
			escapes = e.choose(2) == 0 // dash's echo reads escapes, busybox's and bash's do not
		}
		return echo(args, escapes), true
	case "printf":
		return printf(args)
	case "true", "false", ":":
		return fragment{}, true
	case "pwd":
		return fromWord(e.dir(sc)).join(known("\n")), true
	case "basename":
		if len(args) > 0 && args[0].Known() && !strings.HasPrefix(args[0].Text, "-") {
			s := path.Base(args[0].Text)
			if len(args) > 1 {
				s = strings.TrimSuffix(s, args[1].Text)
			}
			return known(s + "\n"), true
		}
	case "dirname":
		if len(args) == 1 && args[0].Known() {
			return known(path.Dir(args[0].Text) + "\n"), true
		}
	case "mktemp":
		return mktemp(args), true
	case "seq":
		return seq(args)
	}
	return e.filter(sc, args, name, io)
}

// filter emulates programs that turn their input into output.
func (e *eval) filter(sc *scope, args []Word, name string, io frameIO) (fragment, bool) {
	opts, files := plainOptions(args)
	switch name {
	case "tr":
		in, ok := e.whole(sc, nil, io)
		if !ok {
			return fragment{}, false
		}
		s, ok := tr(in.s, opts, files)
		return fragment{s: s, from: in.from}, ok
	case "cat", "tac", "rev", "head", "tail", "sort", "uniq", "nl", "base64", "base32", "xxd", "openssl", "tee", "gunzip", "zcat":
	default:
		return fragment{}, false
	}
	if name == "tee" || name == "openssl" {
		files = nil
	}
	in, ok := e.whole(sc, files, io)
	if !ok {
		if name == "cat" && len(opts) == 0 && len(in.s) > 0 {
			return in, true // partly known
		}
		return fragment{}, false
	}
	s := in.s
	switch name {
	case "cat", "tee":
		return in, name == "tee" || len(opts) == 0
	case "tac":
		lines := strings.SplitAfter(s, "\n")
		slices.Reverse(lines)
		return fragment{s: strings.Join(lines, ""), from: in.from}, len(opts) == 0
	case "rev":
		lines := strings.Split(s, "\n")
		for k, l := range lines {
			r := []rune(l)
			slices.Reverse(r)
			lines[k] = string(r)
		}
		return fragment{s: strings.Join(lines, "\n"), from: in.from}, len(opts) == 0
	case "base64", "base32", "xxd", "openssl":
		s, ok := decode(name, opts, args, s)
		return fragment{s: s, from: in.from}, ok
	case "sort":
		lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
		slices.Sort(lines)
		return fragment{s: strings.Join(lines, "\n") + "\n", from: in.from}, len(opts) == 0
	case "head", "tail":
		n := 10
		for _, o := range opts {
			v, err := strconv.Atoi(strings.TrimLeft(o, "-n"))
			if err != nil {
				return fragment{}, false
			}
			n = v
		}
		lines := strings.SplitAfter(s, "\n")
		if len(lines) > 0 && lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		if name == "head" {
			lines = lines[:min(n, len(lines))]
		} else {
			lines = lines[max(0, len(lines)-n):]
		}
		return fragment{s: strings.Join(lines, ""), from: in.from}, true
	}
	return fragment{}, false
}

// plainOptions parts known options from operands. ok is false when an argument is not known.
func plainOptions(args []Word) (opts []string, files []Word) {
	for k, a := range args {
		switch {
		case a.Text == "--":
			return opts, append(files, args[k+1:]...)
		case len(a.Text) > 1 && a.Text[0] == '-' && len(a.Holes) == 0:
			opts = append(opts, a.Text)
		default:
			files = append(files, a)
		}
	}
	return opts, files
}

// whole returns the text of the named files, or of standard input when there are none.
func (e *eval) whole(sc *scope, files []Word, io frameIO) (fragment, bool) {
	var f fragment
	if len(files) == 0 {
		if io.in == nil {
			return f, false
		}
		f = io.in.cut(min(io.in.pos, len(io.in.s)), len(io.in.s))
		io.in.pos = len(io.in.s)
		return f, f.known()
	}
	for _, w := range files {
		if w.Text == "-" {
			if io.in != nil {
				f = f.join(io.in.fragment)
				continue
			}
			return f, false
		}
		f = f.join(e.read(sc, fromWord(w)))
	}
	return f, f.known()
}

func echo(args []Word, escapes bool) fragment {
	newline := true
	for len(args) > 0 {
		a := args[0].Text
		if len(a) < 2 || a[0] != '-' || strings.Trim(a[1:], "neE") != "" || !args[0].Known() {
			break
		}
		for _, c := range a[1:] {
			switch c {
			case 'n':
				newline = false
			case 'e':
				escapes = true
			case 'E':
				escapes = false
			}
		}
		args = args[1:]
	}
	f := joinWords(args)
	if escapes && strings.IndexByte(f.s, '\\') >= 0 && f.known() {
		f.s, newline = unescape(f.s, newline, echoOctal)
	}
	if newline {
		f = f.join(known("\n"))
	}
	return f
}

// unescape decodes the escapes of echo -e and printf %b.
func unescape(s string, newline bool, octal int) (string, bool) {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out = append(out, s[i])
			continue
		}
		var stop bool
		if out, i, stop = escape(out, s, i+1, octal); stop {
			return string(out), false
		}
	}
	return string(out), newline
}

// printf formats as the shell's printf does, for the conversions that matter to text.
func printf(args []Word) (fragment, bool) {
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return fragment{}, true
	}
	format := args[0]
	if len(format.Holes) > 0 {
		return fragment{}, false
	}
	args = args[1:]
	var out fragment
	for range maxItems {
		used := false
		rest := format.Text
		for rest != "" {
			i := strings.IndexByte(rest, '%')
			lit := rest
			if i >= 0 {
				lit = rest[:i]
			}
			if lit != "" {
				s := string(ansiPrintf(lit))
				out = out.join(known(s))
			}
			if i < 0 {
				break
			}
			n, conv, flags := conversion(rest[i:])
			rest = rest[i+n:]
			if conv == '%' {
				out = out.join(known("%"))
				continue
			}
			var a Word
			if len(args) > 0 {
				a, args, used = args[0], args[1:], true
			}
			f, ok := convert(conv, flags, a)
			if !ok {
				return fragment{}, false
			}
			out = out.join(f)
		}
		if !used || len(args) == 0 {
			break
		}
	}
	return out, true
}

func ansiPrintf(s string) []byte {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out = append(out, s[i])
			continue
		}
		out, i, _ = escape(out, s, i+1, formatOctal)
	}
	return out
}

// conversion reads one %… of a format: its length, its letter, and what stands between.
func conversion(s string) (n int, conv byte, flags string) {
	for i := 1; i < len(s); i++ {
		if c := s[i]; c == '%' || c|0x20 >= 'a' && c|0x20 <= 'z' {
			return i + 1, c, s[1:i]
		}
	}
	return len(s), '%', ""
}

func convert(conv byte, flags string, a Word) (fragment, bool) {
	f := fromWord(a)
	switch conv {
	case 's', 'b', 'c', 'q':
		if conv == 'b' && f.known() {
			f.s, _ = unescape(f.s, true, bothOctal)
		}
		if conv == 'c' && f.known() && len(f.s) > 1 {
			f.s = f.s[:1]
		}
		if _, prec, has := strings.Cut(flags, "."); has && f.known() {
			if n, err := strconv.Atoi(prec); err == nil && n < len(f.s) {
				f.s = f.s[:n]
			}
		}
		if w, err := strconv.Atoi(strings.TrimLeft(flags, "-0 +#")); err == nil && w > len(f.s) && w < 4096 && f.known() {
			f.s = strings.Repeat(" ", w-len(f.s)) + f.s
		}
		return f, true
	case 'd', 'i', 'u', 'x', 'X', 'o':
		if !f.known() {
			return f, true
		}
		text := f.s
		n := int64(0)
		if text != "" && (text[0] == '\'' || text[0] == '"') && len(text) > 1 {
			n = int64(text[1])
		} else if v, err := strconv.ParseInt(strings.TrimSpace(text), 0, 64); err == nil {
			n = v
		}
		base := map[byte]int{'x': 16, 'X': 16, 'o': 8}[conv]
		if base == 0 {
			base = 10
		}
		s := strconv.FormatInt(n, base)
		if conv == 'X' {
			s = strings.ToUpper(s)
		}
		if w, err := strconv.Atoi(strings.TrimLeft(flags, "-+# ")); err == nil && w > len(s) && w < 4096 {
			pad := " "
			if strings.HasPrefix(flags, "0") {
				pad = "0"
			}
			s = strings.Repeat(pad, w-len(s)) + s
		}
		return known(s), true
	}
	return fragment{}, false
}

// mktemp prints a new name below the temporary directory.
func mktemp(args []Word) fragment {
	dir := "/tmp/"
	for k, a := range args {
		switch {
		case a.Text == "-p" && k+1 < len(args):
			dir = args[k+1].Text + "/"
		case strings.HasPrefix(a.Text, "--tmpdir="):
			dir = a.Text[len("--tmpdir="):] + "/"
		case !strings.HasPrefix(a.Text, "-") && strings.Contains(a.Text, "/") && (k == 0 || args[k-1].Text != "-p"):
			dir = ""
			if i := strings.LastIndexByte(a.Text, '/'); i >= 0 {
				dir = a.Text[:i+1]
			}
		}
	}
	if strings.Contains(dir, Unknown) {
		return unknownOutput("mktemp")
	}
	f := known(dir + "tmp.").join(fragment{s: Unknown, holes: []Hole{{Kind: Output, Name: "mktemp", Set: true}}})
	return f.join(known("\n"))
}

func seq(args []Word) (fragment, bool) {
	nums := []int{}
	for _, a := range args {
		n, err := strconv.Atoi(a.Text)
		if err != nil || !a.Known() {
			return fragment{s: Unknown, holes: []Hole{{Kind: Computed, Set: true}}}, true
		}
		nums = append(nums, n)
	}
	lo, step, hi := 1, 1, 0
	switch len(nums) {
	case 1:
		hi = nums[0]
	case 2:
		lo, hi = nums[0], nums[1]
	case 3:
		lo, step, hi = nums[0], nums[1], nums[2]
	default:
		return fragment{}, false
	}
	if step == 0 || (hi-lo)/step >= 64 {
		return fragment{s: Unknown, holes: []Hole{{Kind: Computed, Set: true}}}, true
	}
	var b strings.Builder
	for n := lo; step > 0 && n <= hi || step < 0 && n >= hi; n += step {
		b.WriteString(strconv.Itoa(n))
		b.WriteByte('\n')
	}
	return known(b.String()), true
}

// decode undoes an encoding, as base64 -d, base32 -d, xxd -r and openssl base64 -d do. With a cipher nothing is known.
func decode(name string, opts []string, args []Word, s string) (string, bool) {
	squeeze := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r == '\n' || r == ' ' || r == '\r' || r == '\t' {
				return -1
			}
			return r
		}, s)
	}
	has := func(names ...string) bool {
		return slices.ContainsFunc(opts, func(o string) bool { return slices.Contains(names, o) })
	}
	switch name {
	case "base64", "base32":
		if !has("-d", "-D", "--decode", "-di", "-id", "--d", "--dec") {
			if len(opts) > 0 {
				return "", false
			}
			if name == "base32" {
				return base32.StdEncoding.EncodeToString([]byte(s)) + "\n", true
			}
			return base64.StdEncoding.EncodeToString([]byte(s)) + "\n", true
		}
		if name == "base32" {
			out, err := base32.StdEncoding.DecodeString(squeeze(s))
			return string(out), err == nil
		}
		return unbase64(squeeze(s))
	case "xxd":
		if !slices.ContainsFunc(opts, func(o string) bool { return strings.HasPrefix(o, "-r") || o == "-pr" }) {
			return "", false
		}
		if !slices.ContainsFunc(opts, func(o string) bool { return strings.Contains(o, "p") }) {
			return undump(s)
		}
		out, err := hexenc.DecodeString(squeeze(s))
		return string(out), err == nil || len(out) > 0
	case "openssl":
		if len(args) == 0 {
			return "", false
		}
		sub := args[0].Text
		if (sub == "base64" || sub == "enc" && has("-base64", "-a")) && has("-d") && !slices.ContainsFunc(opts, cipher) {
			return unbase64(squeeze(s))
		}
	}
	return "", false
}

func cipher(o string) bool {
	switch o {
	case "-d", "-a", "-A", "-base64", "-e":
		return false
	}
	return true
}

func unbase64(s string) (string, bool) {
	enc := base64.StdEncoding
	if strings.ContainsAny(s, "-_") {
		enc = base64.URLEncoding
	}
	out, err := enc.WithPadding(base64.NoPadding).DecodeString(strings.TrimRight(s, "="))
	// Decoders print what they could decode before they complain.
	return string(out), err == nil || len(out) > 0
}

// undump reads the hex dump that xxd -r takes without -p.
func undump(s string) (string, bool) {
	var out []byte
	for line := range strings.SplitSeq(s, "\n") {
		_, rest, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		if i := strings.Index(rest, "  "); i >= 0 {
			rest = rest[:i]
		}
		b, err := hexenc.DecodeString(strings.ReplaceAll(strings.TrimSpace(rest), " ", ""))
		if err != nil {
			return "", false
		}
		out = append(out, b...)
	}
	return string(out), len(out) > 0
}

// tr translates or deletes characters.
func tr(s string, opts []string, sets []Word) (string, bool) {
	del, squeeze := false, false
	for _, o := range opts {
		switch o {
		case "-d", "--delete":
			del = true
		case "-s", "--squeeze-repeats":
			squeeze = true
		default:
			return "", false
		}
	}
	if len(sets) == 0 || squeeze {
		return s, squeeze && len(sets) == 1
	}
	from, ok := trSet(sets[0].Text)
	if !ok {
		return "", false
	}
	if del {
		return strings.Map(func(r rune) rune {
			if slices.Contains(from, r) {
				return -1
			}
			return r
		}, s), true
	}
	if len(sets) < 2 {
		return "", false
	}
	to, ok := trSet(sets[1].Text)
	if !ok || len(to) == 0 {
		return "", false
	}
	return strings.Map(func(r rune) rune {
		// The last mention of a character counts.
		for k := len(from) - 1; k >= 0; k-- {
			if from[k] == r {
				return to[min(k, len(to)-1)]
			}
		}
		return r
	}, s), true
}

// trSet expands one of tr's sets.
func trSet(s string) ([]rune, bool) {
	s = string(ansiPrintf(s))
	for _, class := range [...][2]string{
		{"[:upper:]", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}, {"[:lower:]", "abcdefghijklmnopqrstuvwxyz"}, {"[:digit:]", "0123456789"},
		{"[:space:]", " \t\n\v\f\r"}, {"[:blank:]", " \t"},
		{"[:alpha:]", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"},
	} {
		s = strings.ReplaceAll(s, class[0], class[1])
	}
	if strings.Contains(s, "[:") || strings.Contains(s, "[=") {
		return nil, false
	}
	r := []rune(s)
	var out []rune
	for i := 0; i < len(r); i++ {
		if i+2 < len(r) && r[i+1] == '-' && r[i+2] >= r[i] {
			if r[i+2]-r[i] > 255 {
				return nil, false
			}
			for c := r[i]; c <= r[i+2]; c++ {
				out = append(out, c)
			}
			i += 2
			continue
		}
		out = append(out, r[i])
	}
	return out, true
}
