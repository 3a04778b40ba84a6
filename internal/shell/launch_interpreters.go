package shell

import (
	"strings"

	"hermes/internal/shell/code"
)

// interp is a row of the table of interpreters.
type interp struct {
	short, long string
	code        string // options whose value is program text
	files       string // options whose value is a program file
	query       string // options that only answer or check
	module      string // options that name a module to run and end the options
	exact       bool
	single      bool
	permute     bool // options may follow operands
	operand     bool // the first operand is program text (awk, sed, jq-like)
	input       bool // without a program, standard input is one even when nothing is known to be connected
	none        bool // there is no program but in options
	bare        bool // operands are no programs
}

// interpreter reads the command line of a program that takes code.
func interpreter(c *Command, name string) ([]handoff, bool, bool) {
	lang, ok := code.LangOf(name)
	if !ok {
		lang = code.Unlisted
	}
	switch name {
	case "cqlsh", "snowsql", "trino", "presto", "beeline", "hive", "spark-sql", "impala-shell", "usql", "vsql", "mysqlsh":
		lang = code.SQL
	}
	switch lang {
	case code.Make:
		return nil, false, false
	case code.Vim:
		hs, query := vim(c)
		return hs, query, true
	case code.SQL:
		hs, query := database(c, name)
		return hs, query, true
	case code.Node:
		if hs, query, ok := scriptRunner(c, name); ok {
			return hs, query, true
		}
	}
	p, ok := interpOf(name, lang)
	if !ok {
		return nil, false, false
	}
	hs, query := p.handoffs(c, lang)
	return hs, query, true
}

func (p interp) handoffs(c *Command, lang code.Lang) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], short: p.short, long: p.long, stop: !p.permute, exact: p.exact, single: p.single}
	var hs []handoff
	var operands []Word
	found, checks := false, false
	for s.next() {
		k := s.key
		switch {
		case k == "":
			operands = append(operands, s.val)
		case k == "help" && !s.has, k == "version" && !s.has:
			return nil, true
		case listed(p.query, k):
			checks = true
		case listed(p.module, k):
			if lang == code.Python && s.val.Is("timeit") {
				return timeit(s.rest()), false
			}
			return hs, false
		case k == "l" && lang == code.AppleScript && s.has && !strings.EqualFold(s.val.Text, "AppleScript"):
			lang = code.Unlisted
		case listed(p.code, k):
			if !s.has { // node -p without a value prints what -e gives
				continue
			}
			found = true
			hs = joined(hs, dashed(k), lang, s.val)
		case listed(p.files, k) && s.has:
			found = true
			hs = p.source(hs, c, dashed(k), lang, s.val, nil)
		}
	}
	operands = append(operands, s.rest()...)
	if p.bare {
		if len(operands) > 0 && operands[0].Is("CMD") {
			return nil, false
		}
		operands = nil
	}
	switch {
	case checks && !found:
		return nil, true
	case found || p.none:
		return hs, false
	case len(operands) == 0:
		if p.operand || !p.input && c.Stdin == nil {
			return hs, false
		}
		return stdinCode(hs, c, lang), false
	case p.operand:
		w := operands[0]
		if w.Text == "" && len(operands) > 1 && len(w.Holes) == 0 { // sed -i '' text, as BSD has it
			w = operands[1]
		}
		return program(hs, "program", lang, w), false
	}
	return p.source(hs, c, "file", lang, operands[0], operands), false
}

// source adds a program that is read from a file, or from standard input when that is what the name means.
func (p interp) source(hs []handoff, c *Command, how string, lang code.Lang, file Word, args []Word) []handoff {
	if file.Is("-") || file.Is("/dev/stdin") {
		return stdinCode(hs, c, lang)
	}
	if lang == code.Unlisted { // nobody here could read it
		return hs
	}
	hs = append(hs, handoff{how: how, file: &file, lang: lang, args: args, feeds: true})
	return consoleCode(hs, lang, args)
}

// consoleCode adds the program text that the consoles of two web frameworks take: manage.py shell -c, artisan tinker --execute.
func consoleCode(hs []handoff, lang code.Lang, args []Word) []handoff {
	if len(args) < 3 {
		return hs
	}
	s := optScan{args: args[2:], exact: true, short: "c:i:", long: "command= execute= interface= settings="}
	switch name := args[0].base(); {
	case lang == code.Python && name == "manage.py" && (args[1].Is("shell") || args[1].Is("shell_plus")):
	case lang == code.PHP && name == "artisan" && args[1].Is("tinker"):
	default:
		return hs
	}
	for s.next() {
		if s.has && listed("c command execute", s.key) {
			hs = program(hs, dashed(s.key), lang, s.val)
		}
	}
	return hs
}

// rails reads rails runner, whose operand is Ruby text or a file.
func rails(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], stop: true, short: "e:", long: "environment="}
	verb, _ := s.take()
	if !verb.Is("runner") && !verb.Is("r") {
		return nil, false
	}
	for s.next() {
	}
	w, ok := s.take()
	switch {
	case !ok:
		return nil, false
	case w.Is("-"):
		return stdinCode(nil, c, code.Ruby), false
	case strings.HasSuffix(w.Text, ".rb"):
		return []handoff{{how: "file", file: &w, lang: code.Ruby}}, false
	}
	return program(nil, "runner", code.Ruby, w), false
}

// stdinCode adds the program on standard input. A language that cannot be read stays opaque text.
func stdinCode(hs []handoff, c *Command, lang code.Lang) []handoff {
	if lang != code.Unlisted {
		return append(hs, handoff{how: "stdin", stdin: true, lang: lang})
	}
	if c.Stdin == nil {
		return hs
	}
	w := Word{Text: c.Stdin.Text, Holes: c.Stdin.Holes, Start: c.Args[0].Start, End: c.Args[0].End}
	return program(hs, "stdin", lang, w)
}

// joined adds program text; several -e of one command are the lines of one program.
func joined(hs []handoff, how string, lang code.Lang, w Word) []handoff {
	if n := len(hs); n > 0 && hs[n-1].code != nil && hs[n-1].how == how {
		one := glued([]Word{*hs[n-1].code, w}, "\n")
		hs[n-1].code = &one
		return hs
	}
	return append(hs, handoff{how: how, code: &w, lang: lang, feeds: true})
}

// timeit reads python -m timeit: its operands and -s are program text.
func timeit(args []Word) (hs []handoff) {
	s := optScan{args: args, stop: true, short: "n:r:s:pu:vh", long: "number= repeat= setup= process unit= verbose help"}
	for s.next() {
		if (s.key == "s" || s.key == "setup") && s.has {
			hs = joined(hs, "-m timeit", code.Python, s.val)
		}
	}
	for _, w := range s.rest() {
		hs = joined(hs, "-m timeit", code.Python, w)
	}
	return hs
}

const nodeLong = "run= test prof-process eval= print= check version help require= import= loader= experimental-loader= conditions= title= icu-data-dir= diagnostic-dir= env-file= " +
	"env-file-if-exists= input-type= test-name-pattern= test-skip-pattern= test-reporter= test-reporter-destination= watch-path= openssl-config= redirect-warnings= " +
	"stack-trace-limit= inspect-port= preload= define= config= cwd= tsconfig= tsconfig-override= project= compiler= compiler-options= ignore= allow-read=? allow-net=? " +
	"import-map= lock= cert= seed= v8-flags= location= external= loader= conditions= target= outdir= outfile= port= install="

func interpOf(name string, lang code.Lang) (interp, bool) {
	switch lang {
	case code.Python:
		return interp{short: "bBc:dEhiIJm:OPqRsStuvVW:xX:?", exact: true, code: "c", module: "m", query: "h V ?", input: true,
			long: "help version check-hash-based-pycs= help-env help-xoptions help-all"}, true
	case code.Perl:
		return interp{short: "0#acC#d::D::e:E:fF::g hi::I:l#m::M::npsStTuUvV::wWx::X", exact: true, code: "e E", query: "c v V h", input: true, long: "help version"}, true
	case code.Ruby:
		return interp{short: "0#acC:dE:e:F::hi::I:K::lnpr:sST::U vwW::x::X:y", exact: true, code: "e", query: "c h", input: true,
			long: "help version copyright enable= disable= encoding= external-encoding= internal-encoding= dump= parser= jit yjit rjit verbose debug backtrace-limit= crash-report="}, true
	case code.Node:
		return interp{short: "e:p:cr:C:ivh", long: nodeLong, module: "run test prof-process", exact: true, code: "e p pe eval print", query: "c check v h help version", input: true}, true
	case code.PHP:
		return interp{short: "ab:B:c:Cd:eE:f:F:hHilmnqr:R:sS:t:T:vwz:", exact: true, code: "r B R E run process-begin process-code process-end",
			files: "f F file process-file", query: "i l m v h s w ini rf rc re rz ri info syntax-check syntax-highlight strip", input: true,
			long: "run= file= process-begin= process-code= process-end= process-file= define= php-ini= zend-extension= server= docroot= ini rf= rc= re= rz= ri= " +
				"info syntax-check syntax-highlight strip interactive no-php-ini help version"}, true
	case code.Lua:
		return interp{short: "e:l:ivEWb:j:O::g::", exact: true, code: "e", query: "b", input: true}, true
	case code.AppleScript:
		return interp{short: "e:l:is:", exact: true, code: "e", input: true}, true
	case code.R:
		return interp{short: "e:f:g:d:", code: "e", files: "f file", exact: true, permute: name == "r", bare: name == "r",
			long: "file= encoding= gui= debugger= debugger-args= args default-packages= expr= verbose vanilla no-save no-restore slave quiet silent help version"}, true
	case code.Tcl:
		return interp{short: "c:f:b:dDi n N v", code: "c", files: "f b", query: "v", exact: true, input: true}, true
	case code.Awk:
		return interp{short: "bcCd::D::e:E:f:F:ghi:Ikl:L::m:nNo::Op::PrsStv:VW:", operand: true, code: "e source", files: "f E file exec", query: "h V C",
			long: "field-separator= file= assign= source= exec= include= load= lint=? dump-variables=? debug=? pretty-print=? profile=? characters-as-bytes traditional " +
				"copyright csv gen-pot trace bignum use-lc-numeric non-decimal-data optimize no-optimize posix re-interval sandbox lint-old help version"}, true
	case code.Sed:
		return interp{short: "bEe:f:i::l:nrsuz", operand: true, permute: true, code: "e expression", files: "f file", query: "sandbox",
			long: "expression= file= in-place=? line-length= quiet silent null-data regexp-extended separate sandbox posix follow-symlinks unbuffered binary debug " +
				"zero-terminated help version"}, true
	}
	return opaqueInterp(name)
}

// opaqueInterp lists interpreters whose language nobody here reads: what they are given is opaque program text.
func opaqueInterp(name string) (interp, bool) {
	for len(name) > 1 && (digit(name[len(name)-1]) || name[len(name)-1] == '.') {
		name = name[:len(name)-1]
	}
	switch name {
	case "groovy", "groovyclient":
		return interp{short: "e:D:c:i::l::n p::v", code: "e", query: "v", exact: true, long: "classpath= define= encoding= help version", input: true}, true
	case "jshell", "irb-groovy":
		return interp{short: "s:q:v:R:C:J:", exact: true, input: true, long: "execution= class-path= module-path= add-modules= startup= feedback= help version"}, true
	case "scala", "amm", "kotlin", "kotlinc":
		return interp{short: "e:i:", code: "e c", exact: true, single: true, long: "e= i= c= cp= classpath= howtorun= nc expression= script help version"}, true
	case "elixir", "iex":
		return interp{short: "e:r:S:v", code: "e eval rpc-eval", exact: true, query: "v", long: "eval= rpc-eval= erl= cookie= name= sname= pz= pa= dot-iex= remsh= logger-otp-reports= version help", input: true}, true
	case "erl":
		return interp{code: "eval", single: true, exact: true, permute: true, none: true, long: "eval= noshell noinput s= run= pa= pz= name= sname= setcookie= config= boot= version"}, true
	case "julia":
		return interp{short: "e:E:L:C:J:H:p:t:g::O::iqvhP:", code: "e E eval print", query: "v h", long: "eval= print= load= project=? threads= procs= sysimage= startup-file= banner= color= help version"}, true
	case "ghc", "runghc", "runhaskell", "stack-ghc":
		return interp{short: "e:f:i::", code: "e", exact: true}, true
	case "ocaml", "utop":
		return interp{short: "e:I:w:", code: "e", exact: true, single: true, long: "e= I= init= w= version help"}, true
	case "racket", "gracket":
		return interp{short: "e:f:t:l:p:r:u:k:m g i n q v", code: "e", query: "v", long: "eval= load= require= lib= script= help version"}, true
	case "guile", "scheme", "csi", "gosh", "chibi-scheme", "gsi", "petite", "chez":
		return interp{short: "c:e:L:x:l:s:qv", code: "c e", query: "v", exact: true, long: "help version"}, true
	case "sbcl", "clisp", "ecl", "ccl", "clojure", "clj", "bb", "lein":
		return interp{code: "e x eval", exact: true, single: true, long: "i= m= eval= load= script= core= no-userinit no-sysinit non-interactive disable-debugger noinform quit e= x= version help", permute: true}, true
	case "swift", "raku", "perl6", "coffee", "gforth", "io", "gnuplot", "janet", "fennel", "octave", "octave-cli", "factor", "nim":
		return interp{code: "e eval", single: true, exact: true, permute: true, none: true, long: "e= eval= path= help version"}, true
	case "matlab":
		return interp{code: "r batch", single: true, exact: true, permute: true, none: true, long: "r= batch= sd= logfile= help version"}, true
	case "sage", "wolframscript", "hy", "maxima", "scilab":
		return interp{code: "c code e batch-string", single: true, exact: true, permute: true, none: true, long: "c= code= e= batch-string= f= file= help version"}, true
	case "emacs", "emacsclient", "xemacs":
		return interp{short: "l:e:f:q Q u:d:nwtca:s:", code: "eval execute e", exact: true, single: true, permute: true, none: true,
			long: "eval= execute= load= script= funcall= batch user= insert= directory= init-directory= help version"}, true
	case "mongosh", "mongo":
		return interp{short: "f:u:p:h", code: "eval", files: "f file", exact: true, none: true, permute: true, long: "eval= file= host= port= username= password= authenticationDatabase= quiet norc nodb shell help version"}, true
	case "phantomjs", "casperjs", "osjs", "d8", "jsc", "rhino", "js", "txiki", "tjs":
		return interp{short: "e:f:", code: "e", exact: true, long: "eval= help version"}, true
	}
	return interp{}, false
}

// scriptRunner reads bun, deno and the TypeScript runners, whose subcommands come first.
func scriptRunner(c *Command, name string) ([]handoff, bool, bool) {
	p := interp{short: "e:p:r:c:C:ivhA", long: nodeLong, exact: true, code: "e p pe eval print", query: "v h check", input: true}
	args := c.Args[1:]
	switch name {
	case "node", "nodejs":
		if len(args) > 0 && (args[0].Is("inspect") || args[0].Is("debug")) {
			c = &Command{Name: c.Name, Args: append([]Word{c.Args[0]}, args[1:]...), Stdin: c.Stdin}
		}
		p, _ = interpOf(name, code.Node)
		return nodeRun(p, c), false, true
	case "tsx", "ts-node", "qjs":
		if len(args) > 0 && args[0].Is("watch") {
			c = &Command{Name: c.Name, Args: append([]Word{c.Args[0]}, args[1:]...), Stdin: c.Stdin}
		}
		hs, query := p.handoffs(c, code.Node)
		return hs, query, true
	case "bun", "deno":
	default:
		return nil, false, false
	}
	i := 0
	for i < len(args) && strings.HasPrefix(args[i].Text, "-") && len(args[i].Text) > 1 {
		if k := strings.TrimLeft(optionName(args[i].Text), "-"); listed("e p eval print", k) || strings.HasPrefix(args[i].Text, "-e") || strings.HasPrefix(args[i].Text, "-p") {
			hs, query := p.handoffs(c, code.Node)
			return hs, query, true
		}
		i++
	}
	if i == len(args) {
		return nil, i > 0, true
	}
	verb, rest := args[i], args[i+1:]
	sub := &Command{Name: name, Args: append([]Word{c.Args[0]}, rest...), Stdin: c.Stdin}
	switch verb.Text {
	case "eval":
		if name == "deno" {
			p.operand = true
			p.permute = true
			hs, query := p.handoffs(sub, code.Node)
			return hs, query, true
		}
	case "run", "repl":
		if name == "bun" && (len(rest) == 0 || !scriptFile(rest[0].Text) && !strings.HasPrefix(rest[0].Text, "-")) {
			return nil, false, true // a script of package.json
		}
		p.exact = true
		hs, query := p.handoffs(sub, code.Node)
		return hs, query, true
	case "x":
		if name == "bun" {
			pkg := &Command{Name: "bunx", Args: sub.Args, Stdin: c.Stdin}
			hs, query := packages(pkg)
			return hs, query, true
		}
	case "exec":
		if name == "bun" && len(rest) > 0 {
			return say(nil, "exec", rest[0], Bash), false, true
		}
	}
	if scriptFile(verb.Text) {
		return append([]handoff(nil), handoff{how: "file", file: &verb, lang: code.Node, args: args[i:], feeds: true}), false, true
	}
	return nil, false, true
}

// nodeRun reads node, where -p owns the next word only when that is no option, and -pe is -p with -e.
func nodeRun(p interp, c *Command) []handoff {
	for i, w := range c.Args {
		if i == 0 || i+1 >= len(c.Args) {
			continue
		}
		if !strings.HasPrefix(w.Text, "-") || w.Is("--") {
			break
		}
		if (w.Is("-p") || w.Is("--print")) && strings.HasPrefix(c.Args[i+1].Text, "-") && len(c.Args[i+1].Text) > 1 {
			args := append(append([]Word{}, c.Args[:i]...), c.Args[i+1:]...)
			c = &Command{Name: c.Name, Args: args, Stdin: c.Stdin}
			break
		}
		if w.Is("-pe") || w.Is("-ep") || w.Is("-pie") {
			args := append([]Word{}, c.Args...)
			args[i] = w.Lit("-e")
			c = &Command{Name: c.Name, Args: args, Stdin: c.Stdin}
			break
		}
	}
	hs, _ := p.handoffs(c, code.Node)
	return hs
}

func scriptFile(t string) bool {
	if strings.ContainsAny(t, "/\x00") {
		return true
	}
	i := strings.LastIndexByte(t, '.')
	if i < 0 {
		return t == "-"
	}
	switch t[i:] {
	case ".js", ".ts", ".mjs", ".cjs", ".mts", ".cts", ".jsx", ".tsx":
		return true
	}
	return false
}
