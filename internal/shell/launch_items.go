package shell

import "strings"

// maxBatches bounds how many commands are made of known items; what is beyond stands as one unknown item.
const maxBatches = 24

// find reads -exec and its kin. {} becomes an entry below each start path.
func find(c *Command) ([]handoff, bool) {
	args := c.Args[1:]
	i := 0
	for ; i < len(args); i++ {
		t := args[i].Text
		if t == "-D" {
			i++
		} else if t != "-H" && t != "-L" && t != "-P" && t != "-E" && t != "-X" && t != "-x" && t != "-s" && t != "-d" && !strings.HasPrefix(t, "-O") {
			break
		}
	}
	first := i
	for ; i < len(args); i++ {
		if t := args[i].Text; t == "" || t[0] == '-' || t == "(" || t == "!" || t == "," {
			break
		}
	}
	paths := args[first:i]
	entries := entriesOf(c, paths)
	if startOnly(args[i:]) {
		if entries = paths; len(paths) == 0 {
			entries = []Word{c.Args[0].Lit(".")}
		}
	}
	var hs []handoff
	for ; i < len(args); i++ {
		switch t := args[i].Text; t {
		case "-help", "--help", "-version", "--version":
			return nil, true
		case "-exec", "-execdir", "-ok", "-okdir":
			end, plus := execEnd(args, i+1)
			hs = execOf(hs, t, args[i+1:end], entries, plus)
			i = end
		case "-files0-from":
			i++
			entries = entriesOf(c, []Word{unknownLike(args[min(i, len(args)-1)], Item, "")})
		case "-fprintf":
			i += 2
		default:
			if findValue(t) {
				i++
			}
		}
	}
	return hs, false
}

// startOnly tells whether find goes nowhere: what it finds are the start paths themselves.
func startOnly(args []Word) bool {
	for i, a := range args[:max(0, len(args)-1)] {
		if a.Is("-maxdepth") && args[i+1].Is("0") {
			return true
		}
	}
	return false
}

// execEnd returns the index of the word that ends an -exec, len(args) when it is missing.
func execEnd(args []Word, i int) (end int, plus bool) {
	for start := i; i < len(args); i++ {
		if args[i].Is(";") {
			return i, false
		}
		if args[i].Is("+") && i > start && args[i-1].Is("{}") {
			return i, true
		}
	}
	return i, false
}

// execOf makes the commands of one -exec: one for each start path, or with plus a single one.
func execOf(hs []handoff, how string, words, entries []Word, plus bool) []handoff {
	if len(words) == 0 {
		return hs
	}
	h := handoff{how: how, looped: true}
	if plus {
		argv := append([]Word{}, words[:len(words)-1]...)
		return run(hs, h, append(argv, entries...))
	}
	for n, e := range entries {
		argv, used := substituted(words, "{}", e)
		hs = run(hs, h, argv)
		if !used || n == maxBatches {
			break
		}
	}
	return hs
}

// entriesOf returns one unknown entry below each start path.
func entriesOf(c *Command, paths []Word) []Word {
	if len(paths) == 0 {
		paths = []Word{c.Args[0].Lit(".")}
	}
	out := make([]Word, 0, len(paths))
	for _, p := range paths {
		slash := "/"
		if strings.HasSuffix(p.Text, "/") {
			slash = ""
		}
		out = append(out, glued([]Word{p, unknownLike(p, Entry, "")}, slash))
	}
	return out
}

// substituted replaces old in all words.
func substituted(words []Word, old string, with Word) (argv []Word, used bool) {
	argv = make([]Word, 0, len(words)+1)
	for _, w := range words {
		n, ok := w.replaced(old, with)
		argv, used = append(argv, n), used || ok
	}
	return argv, used
}

// findValue tells whether a predicate of find owns the next word.
func findValue(t string) bool {
	switch t {
	case "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-lname", "-ilname", "-regex", "-iregex", "-regextype",
		"-type", "-xtype", "-size", "-perm", "-user", "-group", "-uid", "-gid", "-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin",
		"-newer", "-anewer", "-cnewer", "-samefile", "-inum", "-links", "-maxdepth", "-mindepth", "-fstype", "-context", "-used",
		"-printf", "-fprint", "-fprint0", "-fls", "-f", "-flags", "-Bmin", "-Btime", "-depth-n":
		return true
	}
	return strings.HasPrefix(t, "-newer") && len(t) == 8
}

// fd reads -x and -X, which own everything up to a semicolon.
func fd(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], exact: true, short: "d:E:t:e:c:j:S:o:C:x:X:HIusigFaLp0lq1",
		long: "max-depth= min-depth= exact-depth= exclude= type= extension= color= threads= size= owner= base-directory= search-path= exec= exec-batch= " +
			"batch-size= changed-within= changed-before= newer= older= max-results= path-separator= format= ignore-file= and= max-buffer-time= strip-cwd-prefix=? hyperlink=?"}
	var paths []Word
	type job struct {
		how   string
		words []Word
	}
	var jobs []job
	operands := 0
	for s.next() {
		switch s.key {
		case "help", "version", "h", "V":
			return nil, true
		case "":
			if operands++; operands > 1 {
				paths = append(paths, s.val)
			}
		case "search-path":
			paths = append(paths, s.val)
		case "x", "X", "exec", "exec-batch":
			if !s.has {
				continue
			}
			words := s.from()
			n := 0
			for n < len(words) && !words[n].Is(";") {
				n++
			}
			jobs = append(jobs, job{dashed(s.key), words[:n]})
			s.i = min(len(s.args), s.i+n) // one too far at most: the semicolon
			s.pos = 0
		}
	}
	var hs []handoff
	for _, j := range jobs {
		entries := entriesOf(c, paths)
		for n, e := range entries {
			argv, used := fdWords(j.words, e)
			if !used && (j.how == "-X" || j.how == "--exec-batch") {
				argv = append(argv[:len(argv)-1], entries...)
			}
			hs = run(hs, handoff{how: j.how, looped: true}, argv)
			if j.how == "-X" || n == maxBatches {
				break
			}
		}
	}
	return hs, false
}

// fdWords fills in fd's placeholders; without any, the entry comes last.
func fdWords(words []Word, e Word) ([]Word, bool) {
	argv, used := substituted(words, "{}", e)
	for _, p := range [...]string{"{/}", "{//}", "{.}", "{/.}"} {
		next, ok := substituted(argv, p, unknownLike(e, Entry, ""))
		argv, used = next, used || ok
	}
	if !used {
		argv = append(argv, e)
	}
	return argv, used
}

// xargs builds commands of the items on its standard input.
func xargs(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], stop: true, short: "0a:d:E:e::I:i::J:L:l::n:oprR:s:S:tP:x",
		long: "null arg-file= delimiter= eof=? replace=? max-lines=? max-args= open-tty interactive no-run-if-empty max-chars= verbose " +
			"show-limits exit max-procs= process-slot-var= help version"}
	x := itemReader{}
	replace, batch, lines, known, skip := "", 0, 0, true, false
	for s.next() {
		v := s.val.Text
		switch s.key {
		case "help", "version":
			return nil, true
		case "0", "null":
			x.delim, x.plain = 0, true
		case "d", "delimiter":
			x.delim, x.plain = delimiter(v), true
		case "E", "e", "eof":
			x.eof = v
		case "I", "J", "i", "replace":
			if replace = v; v == "" {
				replace = "{}"
			}
			x.lines = true
		case "L", "l", "max-lines":
			if lines = count(v); lines == 0 {
				lines = 1
			}
		case "n", "max-args":
			batch = count(v)
		case "r", "no-run-if-empty":
			skip = true
		case "a", "arg-file":
			known = false
		}
	}
	words := s.rest()
	if len(words) == 0 { // it echoes
		return nil, false
	}
	h := handoff{how: "argv", looped: true}
	items, ok := []Word(nil), false
	if known {
		items, ok = x.read(c)
	}
	if !ok {
		items = append(items, unknownLike(c.Args[0], Item, ""))
	}
	if replace != "" {
		return eachItem(h, words, replace, items), false
	}
	if len(items) == 0 {
		if skip {
			return nil, false
		}
		return run(nil, h, words), false
	}
	if batch == 0 {
		batch = len(items)
	}
	var hs []handoff
	done := 0
	for n := 0; len(items) > 0; n++ {
		size := min(batch, len(items))
		if k := (n + 1) * lines; lines > 0 && ok && k <= len(x.ends) {
			size = min(x.ends[k-1]-done, len(items))
		}
		if n == maxBatches {
			size = len(items)
		}
		hs = run(hs, h, append(append(make([]Word, 0, len(words)+size), words...), items[:size]...))
		items = items[size:]
		done += size
	}
	return hs, false
}

// eachItem makes a command for each item, put where old stands.
func eachItem(h handoff, words []Word, old string, items []Word) (hs []handoff) {
	for n, item := range items {
		if n == maxBatches {
			item = unknownLike(item, Item, "")
		}
		argv, used := substituted(words, old, item)
		hs = run(hs, h, argv)
		if n == maxBatches || !used {
			break
		}
	}
	return hs
}

// fieldsOf splits lines at blanks.
func fieldsOf(lines []Word) (out []Word) {
	for _, w := range lines {
		x := itemReader{}
		words, ok := x.split(w)
		if !ok {
			words = []Word{w}
		}
		out = append(out, words...)
	}
	return out
}

// itemReader splits standard input into items.
type itemReader struct {
	plain bool // at delim only, without quotes
	delim byte
	lines bool   // at newlines only, with quotes
	eof   string // an item that ends the input
	ends  []int  // found: after how many items each line ended; a blank at its end continues a line
}

func (x *itemReader) read(c *Command) ([]Word, bool) {
	if c.Stdin == nil {
		return nil, false
	}
	w := Word{Text: c.Stdin.Text, Holes: c.Stdin.Holes, Start: c.Args[0].Start, End: c.Args[0].End}
	return x.split(w)
}

// split returns the items of w. ok is false when it holds an unmatched quote: xargs may have run the items before it.
func (x *itemReader) split(w Word) (items []Word, ok bool) {
	sp := splitter{in: w}
	for i := 0; i < len(w.Text); i++ {
		b := w.Text[i]
		switch {
		case b == 0 && (!x.plain || x.delim != 0 || sp.used < len(w.Holes)):
			sp.hole(sp.nextHole())
		case x.plain && b == x.delim:
			sp.open = true
			sp.cut()
		case x.plain:
			sp.put(b)
		case sp.quote != 0 && b == sp.quote:
			sp.quote = 0
		case sp.quote != 0:
			if b == '\n' {
				return sp.words, false
			}
			sp.put(b)
		case b == '\'' || b == '"':
			sp.quote, sp.open = b, true
		case b == '\\' && i+1 == len(w.Text):
		case b == '\\' && w.Text[i+1] != 0:
			i++
			sp.put(w.Text[i])
		case b == '\n':
			sp.cut()
			n := len(sp.words)
			if blank := i > 0 && (w.Text[i-1] == ' ' || w.Text[i-1] == '\t'); !blank && n > 0 && (len(x.ends) == 0 || x.ends[len(x.ends)-1] < n) {
				x.ends = append(x.ends, n)
			}
		case !x.lines && (b == ' ' || b == '\t'):
			sp.cut()
		case x.lines && !sp.open && (b == ' ' || b == '\t'):
		default:
			sp.put(b)
		}
	}
	if sp.quote != 0 {
		return sp.words, false
	}
	items = sp.finish()
	if x.eof != "" {
		for i := range items {
			if items[i].Is(x.eof) {
				items = items[:i]
				break
			}
		}
	}
	return items, true
}

func delimiter(v string) byte {
	switch v {
	case `\n`:
		return '\n'
	case `\t`:
		return '\t'
	case `\0`, "":
		return 0
	}
	return v[0]
}

// count reads a small decimal number; 0 stands for anything else.
func count(v string) (n int) {
	for i := range len(v) {
		if !digit(v[i]) || n > 1<<20 {
			return 0
		}
		n = n*10 + int(v[i]-'0')
	}
	return n
}
