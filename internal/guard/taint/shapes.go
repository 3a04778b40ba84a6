package taint

import "bytes"

// Distances within which the parts of a shape belong together, in bytes.
const (
	lineReach    = 2048
	commentReach = 4096
	tagReach     = 2048
)

// trigger is what a word calls for: a look at what stands around it.
type trigger struct {
	scope Scope
	look  func(s *shapes, start, end int)
}

// triggers are the words that shapes begin with.
func triggers() map[string]trigger {
	out := map[string]trigger{
		"curl":  {All, func(s *shapes, start, end int) { s.sameLine("exfil_curl", secretVariable, start, end) }},
		"wget":  {All, func(s *shapes, start, end int) { s.sameLine("exfil_wget", secretVariable, start, end) }},
		"ssh":   {Strict, (*shapes).sshFolder},
		"env":   {Strict, (*shapes).hermesEnv},
		"unset": {Context, (*shapes).unset},
		"style": {All, (*shapes).style},

		"pretend": {Context, (*shapes).pretend},
	}
	for _, word := range []string{"system", "developer", "assistant", "admin", "administrator", "human", "operator"} {
		out[word] = trigger{Context, (*shapes).speaks}
	}
	for _, property := range []string{"display", "visibility", "font-size", "opacity"} {
		out[property] = trigger{All, (*shapes).hides}
	}
	for _, word := range []string{"less", "head", "more", "type"} {
		out[word] = trigger{All, (*shapes).reads}
	}
	for _, word := range []string{"cat", "tail", "bat"} {
		out[word] = trigger{All, func(s *shapes, start, end int) { s.sameLine("read_secrets", secretFile, start, end) }}
	}
	for _, word := range []string{"send", "post", "upload", "transmit", "forward", "exfiltrate", "submit"} {
		out[word] = trigger{Strict, func(s *shapes, start, end int) { s.sameLine("send_to_url", toURL, start, end) }}
	}
	for _, word := range []string{"update", "modify", "edit", "write", "change", "append", "add", "overwrite", "replace", "insert"} {
		out[word] = trigger{Strict, func(s *shapes, start, end int) {
			s.sameLine("agent_config_mod", agentFile, start, end)
			s.sameLine("hermes_config_mod", hermesFile, start, end)
		}}
	}
	for _, word := range []string{"api_key", "apikey", "api-key", "key", "token", "secret", "password", "passwd"} {
		out[word] = trigger{Strict, (*shapes).hardcoded}
	}
	return out
}

// target is something a shape may need on the same line.
type target uint8

const (
	secretVariable target = iota
	secretFile
	toURL
	agentFile
	hermesFile
	commentEnd
	targets
)

// find returns the first target that begins in text[from:to], or -1.
func (t target) find(text []byte, from, to int) (start, end int) {
	switch t {
	case secretVariable:
		return variable(text, from, to)
	case secretFile:
		return named(text, from, to, ".env", "credentials", ".netrc", ".pgpass", ".npmrc", ".pypirc")
	case toURL:
		return url(text, from, to)
	case commentEnd:
		if k := bytes.Index(text[from:to], []byte("-->")); k >= 0 {
			return from + k, from + k + 3
		}
		return -1, -1
	case agentFile:
		return named(text, from, to, "agents.md", "claude.md", ".cursorrules", ".clinerules", "gemini.md", "copilot-instructions.md")
	}
	return named(text, from, to, "soul.md", ".hermes/config.yaml", "hermes config.yaml", "hermes_home/config.yaml")
}

// shapes looks for what words alone do not tell.
type shapes struct {
	s    *scanner
	line struct{ from, end int }
	open struct { // the element whose tag is being read
		at   int
		name string // "div", else empty
	}
	comment int // where the comment that was read last ends
	spoken  int // up to where lines of others were read
	decoded int // up to where words in other forms were read
	letters struct {
		text       []byte
		start, end int
	}
	concealed int // up to where elements that are not shown were read
	styled    int // where its style begins; both are 0 before the first, which is as good as far away
	memo      [targets]struct {
		from, to   int // nothing begins between from and start, or, if start is -1, between from and to
		start, end int
		valid      bool
	}
}

// lineEnd returns where the line of a place ends.
func (sh *shapes) lineEnd(at int) int {
	if at < sh.line.from || at > sh.line.end || sh.line.end == 0 {
		sh.line.from, sh.line.end = at, len(sh.s.f.text)
		if i := bytes.IndexByte(sh.s.f.text[at:], '\n'); i >= 0 {
			sh.line.end = at + i
		}
	}
	return sh.line.end
}

// next finds a target in [from, to). Places only go up, so that all calls together read the text once.
func (sh *shapes) next(t target, from, to int) (start, end int) {
	m := &sh.memo[t]
	search := from
	if m.valid && from >= m.from {
		switch {
		case m.start >= from:
			if m.start < to {
				return m.start, m.end
			}
			return -1, -1
		case m.start < 0 && to <= m.to:
			return -1, -1
		case m.start < 0:
			search = max(from, m.to)
		}
	}
	start, end = t.find(sh.s.f.text, search, to)
	m.from, m.to, m.start, m.end, m.valid = from, to, start, end, true
	return start, end
}

// sameLine reports a word that has a target after it on its line.
func (sh *shapes) sameLine(id string, t target, start, end int) {
	if from, to := sh.next(t, end, min(sh.lineEnd(end), end+lineReach)); from >= 0 {
		sh.s.report(id, start, to)
	}
}

// reads looks behind a program that is an English word as well: a command names its file soon, a sentence ("More information
// about the .netrc file") says something first.
func (sh *shapes) reads(start, end int) {
	line := min(sh.lineEnd(end), end+lineReach)
	from, to := sh.next(secretFile, end, line)
	if from < 0 || sh.s.f.text[end] == '=' || sh.s.f.text[from] != '.' && sh.s.f.text[from-1] != '/' || bytes.IndexByte(sh.s.f.text[end:from], '`') >= 0 {
		return
	}
	option := bytes.IndexByte(sh.s.f.text[end:from], '-') == 1
	if option || bytes.Count(sh.s.f.text[end:from], []byte(" ")) <= 2 {
		sh.s.report("read_secrets", start, to)
	}
}

// variable finds the expansion of a variable whose name ends like that of a secret.
func variable(text []byte, from, to int) (int, int) {
	for i := from; i < to; i++ {
		k := bytes.IndexByte(text[i:to], '$')
		if k < 0 {
			break
		}
		i += k
		start := i + 1
		if start < len(text) && text[start] == '{' {
			start++
		}
		end := start
		for end < len(text) && wordByte(text[end]) {
			end++
		}
		name := bytes.TrimSuffix(text[start:end], []byte("s"))
		for _, suffix := range []string{"key", "token", "secret", "password", "credential"} {
			if bytes.HasSuffix(name, []byte(suffix)) {
				return i, end
			}
		}
	}
	return -1, -1
}

// named finds one of some names as a whole.
func named(text []byte, from, to int, names ...string) (int, int) {
	best, bestEnd := -1, -1
	for _, name := range names {
		for i := from; i < to; {
			k := bytes.Index(text[i:min(len(text), to+len(name))], []byte(name))
			if k < 0 || i+k >= to {
				break
			}
			start, end := i+k, i+k+len(name)
			whole := end == len(text) || !wordByte(text[end]) && text[end] != '-'
			example := bytes.HasPrefix(text[end:], []byte(".example")) || bytes.HasPrefix(text[end:], []byte(".sample")) ||
				bytes.HasPrefix(text[end:], []byte(".template"))
			if whole && !example && (start == 0 || !wordByte(text[start-1])) {
				if best < 0 || start < best {
					best, bestEnd = start, end
				}
				break
			}
			i = end
		}
	}
	return best, bestEnd
}

// url finds "to https://…" or "at https://…", with a few words between.
func url(text []byte, from, to int) (int, int) {
	for i := from; i < to; {
		k := bytes.Index(text[i:to], []byte("http"))
		if k < 0 {
			break
		}
		at := i + k
		rest := text[at+4:]
		i = at + 4
		if !bytes.HasPrefix(rest, []byte("://")) && !bytes.HasPrefix(rest, []byte("s://")) {
			continue
		}
		before := bytes.Fields(text[max(from, at-40):at])
		for n := len(before) - 1; n >= 0 && n >= len(before)-4; n-- {
			if w := string(before[n]); w == "to" || w == "at" {
				return at, at + 8
			}
		}
	}
	return -1, -1
}

// back returns up to n bytes before a place.
func (sh *shapes) back(at, n int) []byte { return sh.s.f.text[max(0, at-n):at] }

// pretend looks for an order to play somebody: "pretend to be root". What others pretend to be is told of in many a text.
func (sh *shapes) pretend(start, end int) {
	before := bytes.TrimRight(sh.back(start, 24), " *_")
	word := before[bytes.LastIndexAny(before, " \n\t*_")+1:]
	switch string(word) {
	case "", "you", "please", "must", "should", "now", "and", "then", "will", "always", "just", "i", "let's":
	default:
		if c := word[len(word)-1]; wordByte(c) || c >= 0x80 {
			return
		}
	}
	line := sh.s.f.text[end:min(len(sh.s.f.text), end+48)]
	words := bytes.Fields(line)
	for n := 0; n+1 < len(words) && n <= 3; n++ {
		if string(words[n]) == "to" && string(words[n+1]) == "be" {
			sh.s.report("role_pretend", start, end+bytes.Index(line, []byte("be"))+2)
			return
		}
	}
}

// sshFolder looks for the folder of keys in a home.
func (sh *shapes) sshFolder(start, end int) {
	before := sh.back(start, 40)
	for _, home := range []string{"~/.", "$home/.", "${home}/.", "/root/."} {
		if bytes.HasSuffix(before, []byte(home)) {
			sh.s.report("ssh_access", start-len(home), end)
			return
		}
	}
	if at := bytes.LastIndex(before, []byte("/home/")); at >= 0 && bytes.HasSuffix(before, []byte("/.")) && bytes.Count(before[at:], []byte("/")) == 3 {
		sh.s.report("ssh_access", start-(len(before)-at), end)
	}
}

// hermesEnv looks for Hermes' own secrets.
func (sh *shapes) hermesEnv(start, end int) {
	if before := ".hermes/."; bytes.HasSuffix(sh.back(start, len(before)), []byte(before)) {
		sh.s.report("hermes_env", start-len(before), end)
	}
}

// unset looks for a variable of an agent.
func (sh *shapes) unset(start, end int) {
	line := sh.s.f.text[end:min(sh.lineEnd(end), end+200)]
	if k := bytes.IndexAny(line, ";&|"); k >= 0 {
		line = line[:k]
	}
	for _, word := range bytes.Fields(line) {
		for _, name := range []string{"claude", "codex", "hermes", "agent", "openai", "anthropic"} {
			if bytes.Contains(word, []byte(name)) && bytes.ContainsAny(word, "_") {
				sh.s.report("env_var_unset_agent", start, end+bytes.Index(line, word)+len(word))
				return
			}
		}
	}
}

// hardcoded looks for a value in quotes behind the name of a secret.
func (sh *shapes) hardcoded(start, end int) {
	text := sh.s.f.text
	i := end
	skip := func(set string) {
		for i < len(text) && bytes.IndexByte([]byte(set), text[i]) >= 0 && i < end+16 {
			i++
		}
	}
	skip(" \t\"'")
	if i == len(text) || text[i] != '=' && text[i] != ':' {
		return
	}
	i++
	skip(" \t")
	if i == len(text) || text[i] != '"' && text[i] != '\'' && text[i] != '`' {
		return
	}
	value := i + 1
	for i = value; i < len(text) && i < value+4096 && (wordByte(text[i]) || bytes.IndexByte([]byte("+/=-."), text[i]) >= 0) && text[i] != '\''; {
		i++
	}
	if i-value >= 20 {
		sh.s.report("hardcoded_secret", start, i)
	}
}

// angle looks at a "<".
func (sh *shapes) angle(at int) {
	text := sh.s.f.text[at:]
	sh.role(at)
	switch {
	case bytes.HasPrefix(text, []byte("<!--")):
		// A reader of the page does not see what is in a comment. Comments do not nest.
		if at < sh.comment {
			return
		}
		inside, end := min(at+commentReach, len(sh.s.f.text)), min(at+commentReach, len(sh.s.f.text))
		if from, to := sh.next(commentEnd, at+4, end); from >= 0 {
			inside, end = from, to
		}
		sh.comment = end
		if sh.s.v.instructs(sh.s.f.text[at+4:inside], false, allOrders) >= 0 {
			sh.s.report("html_comment_injection", at, end)
		}
	case len(text) > 2 && 'a' <= text[1] && text[1] <= 'z':
		sh.open.at, sh.open.name = at, ""
		if bytes.HasPrefix(text, []byte("<div")) {
			sh.open.name = "div"
		}
		sh.styled = 0
	}
}

// style notes where the style of an element begins.
func (sh *shapes) style(start, end int) {
	if rest := bytes.TrimLeft(sh.s.f.text[end:min(len(sh.s.f.text), end+8)], " \t\n"); len(rest) > 0 && rest[0] == '=' && start-sh.open.at < tagReach {
		sh.styled = start
	}
}

// hides looks at a property of an element's style: what is not shown is for machines.
func (sh *shapes) hides(start, end int) {
	if sh.styled == 0 || start-sh.styled > tagReach {
		return
	}
	value := bytes.TrimLeft(sh.s.f.text[end:min(len(sh.s.f.text), end+16)], " \t\r\n:")
	none := false
	switch string(sh.s.f.text[start:end]) {
	case "display":
		none = bytes.HasPrefix(value, []byte("none"))
	case "visibility":
		none = bytes.HasPrefix(value, []byte("hidden"))
	default:
		none = len(value) > 0 && value[0] == '0' && (len(value) == 1 || bytes.IndexByte([]byte(";\"'px }%!"), value[1]) >= 0)
	}
	switch {
	case !none || !sh.conceals(end):
	case sh.open.name == "div" && string(sh.s.f.text[start:end]) == "display":
		sh.s.report("hidden_div", sh.open.at, end)
	case sh.s.scope >= Context:
		sh.s.report("hidden_element", sh.open.at, end)
	}
}

// markdown looks for an image whose address has a place for data: showing it would send them.
func (sh *shapes) markdown(at int) {
	text := sh.s.f.text[at:]
	if sh.s.scope < Context || !bytes.HasPrefix(text, []byte("![")) {
		return
	}
	line := text[:min(len(text), lineReach)]
	if k := bytes.IndexByte(line, '\n'); k >= 0 {
		line = line[:k]
	}
	k := bytes.Index(line, []byte("](http"))
	if k < 0 {
		return
	}
	end := bytes.IndexByte(line[k:], ')')
	if end < 0 {
		return
	}
	link := line[k+2 : k+end]
	query := bytes.IndexByte(link, '?')
	if query < 0 {
		return
	}
	for _, hole := range []string{"{", "<", "$", "[", "%7b", "conversation", "context=", "history"} {
		if bytes.Contains(link[query:], []byte(hole)) {
			sh.s.report("markdown_exfil", at, at+k+end+1)
			return
		}
	}
}
