package shell

import (
	"strings"

	"hermes/internal/shell/code"
)

// parallel runs its words as one shell text for each argument; without words the arguments are the texts.
func parallel(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], stop: true, short: "0a:C:d:E:I:i::j:kl::L:mn:N:P:qrs:S:tuU:vXx",
		long: "null arg-file= arg-sep= arg-file-sep= colsep= delimiter= eof=? jobs= max-procs= keep-order max-args= max-replace-args= max-lines=? max-chars= " +
			"max-line-length-allowed sshlogin= sshloginfile= workdir= wd= tmpdir= tempdir= timeout= delay= retries= load= nice= noswap memfree= memsuspend= joblog= " +
			"results= resume resume-failed halt= halt-on-error= bar eta progress dry-run dryrun pipe pipepart pipe-part block= block-size= recstart= recend= " +
			"regexp tagstring= tag group ungroup line-buffer linebuffer lb quote trim= shuf env= basefile= bf= return= cleanup transfer transferfile= trc= " +
			"onall nonall controlmaster tmux tmuxpane profile= plain plus header= hostgroups id= semaphore semaphorename= semaphoretimeout= st= fg bg wait " +
			"rpl= process-slot-var= shebang ssh= sql= sqlmaster= sqlworker= sqlandworker= template= tmpl= tollef total-jobs= total= parens= bibtex citation " +
			"show-limits number-of-cpus number-of-cores help version verbose no-run-if-empty xargs compress compress-program= decompress-program= cat fifo " +
			"round-robin roundrobin limit= latest-line ll files tee open-tty interactive max-replace-args= will-cite record-env session gnu filter= ctag"}
	p := parallelJob{sep: ":::", place: Here, replace: "{}"}
	for s.next() {
		switch s.key {
		case "help", "version", "dry-run", "dryrun", "bibtex", "citation", "show-limits", "number-of-cpus", "number-of-cores":
			return nil, true
		case "a", "arg-file":
			p.file = true
		case "arg-sep":
			p.sep = s.val.Text
		case "S", "sshlogin", "sshloginfile":
			p.place = Elsewhere
		case "pipe", "pipepart", "pipe-part":
			p.pipe = true
		case "I":
			p.replace = s.val.Text
		case "workdir", "wd":
			w := s.val
			p.dir = &w
		case "compress-program", "filter", "ssh":
			w := s.val
			p.hs = say(p.hs, dashed(s.key), w, systemShell)
		case "semaphore":
			p.pipe = true
		}
	}
	if c.Name == "sem" {
		p.pipe = true
	}
	p.read(s.rest())
	return p.handoffs(c), false
}

type parallelJob struct {
	words   []Word
	args    []Word
	sources int // lists of arguments
	sep     string
	replace string
	file    bool // arguments come from files
	pipe    bool // no argument is added
	place   Place
	dir     *Word
	hs      []handoff
}

// read splits the words at the separators.
func (p *parallelJob) read(rest []Word) {
	n := 0
	for n < len(rest) && !p.separates(rest[n].Text) {
		n++
	}
	p.words, rest = rest[:n], rest[n:]
	files := false
	for _, w := range rest {
		if p.separates(w.Text) {
			files = strings.HasPrefix(w.Text, "::::")
			p.sources++
			continue
		}
		if files {
			p.file = true
			continue
		}
		p.args = append(p.args, w)
	}
}

func (p *parallelJob) separates(t string) bool {
	return t == p.sep || t == ":::" || t == ":::+" || t == "::::" || t == "::::+"
}

func (p *parallelJob) handoffs(c *Command) []handoff {
	base := handoff{how: "argv", looped: true, place: p.place, dir: p.dir}
	if len(p.words) == 0 {
		switch {
		case p.pipe:
			return p.hs
		case p.sources == 0 && !p.file:
			base.how, base.stdin, base.dialect = "stdin", true, Bash
			return append(p.hs, base)
		}
		for _, w := range p.args {
			h := base
			h.how, h.text = ":::", &w
			p.hs = append(p.hs, h)
		}
		if p.file {
			w := unknownLike(c.Args[0], Item, "")
			base.text = &w
			p.hs = append(p.hs, base)
		}
		return p.hs
	}
	if p.pipe {
		base.looped = false
		return p.emit(base, p.words)
	}
	items := p.args
	if p.file || p.sources != 1 || len(items) > maxBatches {
		items = []Word{unknownLike(c.Args[0], Item, "")}
	}
	if p.sources == 0 && !p.file && c.Stdin != nil {
		x := itemReader{plain: true, delim: '\n'}
		if known, ok := x.read(c); ok && len(known) <= maxBatches {
			items = known
		}
	}
	for _, item := range items {
		words, used := p.filled(item)
		if !used {
			words = append(words, item)
		}
		p.hs = p.emit(base, words)
	}
	return p.hs
}

// filled puts an item into the words. Parallel quotes what it puts in, so a known item can never be syntax.
func (p *parallelJob) filled(item Word) ([]Word, bool) {
	words, used := substituted(p.words, p.replace, item)
	part := unknownLike(item, Item, "")
	for _, form := range [...]string{"{.}", "{/}", "{//}", "{/.}", "{#}", "{%}", "{..}", "{1}", "{2}", "{3}", "{1.}", "{1/}", "{2/}", "{1/.}"} {
		if form == "{1}" && p.sources < 2 {
			part = item
		}
		next, ok := substituted(words, form, part)
		words = next
		used = used || ok && form != "{#}" && form != "{%}"
		if form == "{1}" {
			part = unknownLike(item, Item, "")
		}
	}
	return words, used
}

// emit adds the words as an argv when no shell syntax is in them, else as text.
func (p *parallelJob) emit(h handoff, words []Word) []handoff {
	for _, w := range p.words {
		if strings.ContainsAny(w.Text, "'\"\\;&|<>()$`*?[~#!\n") {
			w := glued(words, " ")
			h.how, h.text, h.dialect = "text", &w, Bash
			return append(p.hs, h)
		}
	}
	var argv []Word
	for i, w := range words {
		if i < len(p.words) && strings.Contains(p.words[i].Text, " ") {
			argv = append(argv, fieldsOf([]Word{w})...)
			continue
		}
		argv = append(argv, w)
	}
	return run(p.hs, h, argv)
}

// hyperfine runs each operand as a shell text, many times.
func hyperfine(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], short: "w:m:M:r:s:p:C:c:P:D:L:S:n:u:iNhV",
		long: "warmup= min-runs= max-runs= runs= setup= prepare= conclude= cleanup= parameter-scan= parameter-step-size= parameter-list= shell= style= sort= time-unit= " +
			"export-asciidoc= export-csv= export-json= export-markdown= export-orgmode= show-output output= input= command-name= reference= " +
			"ignore-failure=? min-benchmarking-time= help version"}
	var hs []handoff
	for s.next() {
		switch s.key {
		case "help", "version", "h", "V":
			return nil, true
		case "s", "setup", "p", "prepare", "C", "conclude", "c", "cleanup", "reference":
			if s.has {
				hs = say(hs, dashed(s.key), s.val, systemShell)
			}
		case "P", "parameter-scan":
			s.i += 2
		case "L", "parameter-list":
			s.i++
		case "S", "shell":
			if n := s.val.Text; n != "none" && n != "default" {
				hs = say(hs, "--shell", s.val, systemShell)
			}
		case "":
			hs = say(hs, "text", s.val, systemShell)
		}
	}
	return hs, false
}

// concurrently runs each operand as a shell text.
func concurrently(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], short: "m:n:s:p:c:t:l:P:kgirh", exact: true,
		long: "max-processes= names= name-separator= success= prefix= prefix-colors= prefix-length= timestamp-format= restart-tries= restart-after= handle-input default-input-target= " +
			"kill-others kill-others-on-fail kill-signal= kill-timeout= hide= group raw no-color timings teardown= passthrough-arguments cwd= help version"}
	var hs []handoff
	for s.next() {
		switch s.key {
		case "help", "version", "h", "v":
			return nil, true
		case "", "teardown":
			if s.has && !s.end {
				hs = say(hs, "text", s.val, systemShell)
			}
		}
	}
	return hs, false
}

// perf has subcommands that trace a command.
func perf(c *Command) ([]handoff, bool) {
	args := c.Args[1:]
	for len(args) > 0 && strings.HasPrefix(args[0].Text, "-") {
		if args[0].Is("--help") || args[0].Is("--version") || args[0].Is("-v") || args[0].Is("-h") {
			return nil, true
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return nil, false
	}
	short := ""
	switch args[0].Text {
	case "stat":
		short = "e:p:t:r:C:G:D:x:o:I:M:b:"
	case "record", "mem", "c2c", "lock", "kmem", "sched", "kvm", "ftrace", "kwork", "timechart":
		short = "e:p:t:r:C:c:o:F:m:G:D:u:j:k:b:i:z::"
	case "trace":
		short = "e:p:t:C:o:m:F:u:G:D:"
	default:
		return nil, false
	}
	s := optScan{args: args[1:], stop: true, short: short,
		long: "event= filter= pid= tid= cpu= repeat= count= output= freq= mmap-pages= cgroup= delay= uid= call-graph= branch-filter= clockid= field-separator= " +
			"log-fd= interval-print= interval-count= timeout= metrics= post= pre= control= per-core expr= duration= max-stack= input= type= for-each-cgroup= switch-output=?"}
	var hs []handoff
	for s.next() {
		switch {
		case s.key == "help":
			return nil, true
		case (s.key == "pre" || s.key == "post") && s.has:
			hs = say(hs, dashed(s.key), s.val, systemShell)
		}
	}
	rest := s.rest()
	if len(rest) > 0 && (rest[0].Is("record") || rest[0].Is("rec") || rest[0].Is("stat")) { // perf mem record cmd
		rest = rest[1:]
	}
	for len(rest) > 0 && (rest[0].Is("--") || strings.HasPrefix(rest[0].Text, "-")) {
		rest = rest[1:]
	}
	return run(hs, handoff{feeds: true}, rest), false
}

// entr runs a command when a file of the list on its input changes.
func entr(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], stop: true, short: "acdnprsxzh"}
	text := false
	for s.next() {
		switch s.key {
		case "h":
			return nil, true
		case "s":
			text = true
		}
	}
	rest := s.rest()
	if len(rest) == 0 {
		return nil, false
	}
	if text {
		return say(nil, "-s", rest[0], Bash), false
	}
	words, _ := substituted(rest, "/_", unknownLike(rest[0], Item, ""))
	return run(nil, handoff{}, words), false
}

// debugger reads gdb and lldb: the program behind --args or --, and commands that start a shell.
func debugger(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], stop: true, single: true, exact: true,
		long: "ex= iex= eval-command= init-eval-command= x= command= ix= init-command= cd= directory= d= core= c= pid= p= symbols= s= exec= e= se= tty= " +
			"args batch batch-silent quiet q nx n nh o= O= one-line= one-line-before-file= S= source= source-before-file= k= one-line-on-crash= " +
			"source-quietly attach-pid= attach-name= arch= a= file= f= b i= interpreter= l= data-directory= D= w help version h v"}
	if c.Name == "gdb" {
		s.stop = false
	}
	var hs []handoff
	for s.next() {
		switch s.key {
		case "help", "version", "h", "v":
			return nil, true
		case "args":
			return run(hs, handoff{how: "--args", feeds: true}, s.rest()), false
		case "ex", "iex", "eval-command", "init-eval-command", "o", "O", "one-line", "one-line-before-file", "k", "one-line-on-crash":
			if w, ok := debuggerScript(s.val); ok {
				hs = program(hs, dashed(s.key), code.Python, w)
			} else if w, ok := debuggerShell(s.val); ok && s.has {
				hs = say(hs, dashed(s.key), w, Bash)
			}
		}
	}
	if s.end {
		hs = run(hs, handoff{feeds: true}, s.rest())
	}
	return hs, false
}

// debuggerScript returns the Python text in a debugger's command.
func debuggerScript(w Word) (Word, bool) {
	for _, p := range [...]string{"python ", "py ", "script ", "pi "} {
		if strings.HasPrefix(w.Text, p) {
			return w.behind(len(p)), true
		}
	}
	return w, false
}

// debuggerShell returns the shell text in a debugger's command.
func debuggerShell(w Word) (Word, bool) {
	t := strings.TrimLeft(w.Text, " \t")
	off := len(w.Text) - len(t)
	for _, p := range [...]string{"!", "shell ", "platform shell ", "make ", "pipe "} {
		if !strings.HasPrefix(t, p) {
			continue
		}
		switch p {
		case "make ":
			return w.behind(off), true
		case "pipe ":
			if i := strings.IndexByte(t, '|'); i >= 0 {
				return w.behind(off + i + 1), true
			}
			return w, false
		}
		return w.behind(off + len(p)), true
	}
	return w, len(w.Holes) > 0 && w.Text[0] == 0
}
