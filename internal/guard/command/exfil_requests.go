package command

import (
	"strings"

	"hermes/internal/shell"
)

// requestLeaks holds when some part of an HTTP request holds a secret that does not belong there.
func requestLeaks(c *ctx, i int) (span, bool) {
	args, name := c.args(i), c.name(i)
	if c.localRequest(i) {
		return span{}, false
	}
	curl := name == "curl" || name == "wget" || name == "curlie" || name == "wget2"
	for k := 1; k < len(args); k++ {
		w := args[k]
		opt := ""
		if k > 1 && args[k-1].Text != "" && args[k-1].Text[0] == '-' {
			opt = args[k-1].Text
		}
		if n := strings.IndexByte(w.Text, '='); n > 0 && strings.HasPrefix(w.Text, "--") {
			opt = w.Text[:n]
		}
		switch {
		case c.carriesItem(i, w):
			return at(w), true
		case c.carriesOutput(w):
			if !(loginOption(opt, w) && c.tokensOnly(w)) {
				return at(w), true
			}
		case c.carriesVariable(w):
			if !c.ownSecret(w, opt, curl) {
				return at(w), true
			}
		case sendsFile(opt, w, curl):
			for _, mark := range [...]string{"@", "<", "="} {
				if n := strings.LastIndex(w.Text, mark); n >= 0 && n+1 < len(w.Text) {
					if f := w.Slice(n + 1); c.fileSecret(f, c.cmd(i).Dir) || c.copiedSecret(i, f) {
						return at(w), true
					}
				}
			}
			if opt == "-T" || opt == "--upload-file" || strings.HasSuffix(opt, "-file") {
				if c.fileSecret(w, c.cmd(i).Dir) || c.copiedSecret(i, w) {
					return at(w), true
				}
			}
		}
	}
	if !readsBody(args, curl) {
		return span{}, false
	}
	if in := c.cmd(i).Stdin; in != nil && hasArg(args, "-K", "--config") && c.textNames(i, in.Text) {
		return c.whole(i), true
	}
	if s, ok := c.fed(i); ok {
		return s, true
	}
	_, dump := c.upstream(i, (*ctx).dumps, 16)
	return c.whole(i), dump
}

// localRequest tells whether all addresses a request names are this machine.
func (c *ctx) localRequest(i int) bool {
	local := false
	for _, w := range c.args(i)[1:] {
		t := w.Text
		if strings.Contains(t, "://") || strings.HasPrefix(t, "localhost") || strings.HasPrefix(t, "127.0.0.1") || strings.HasPrefix(t, ":") && len(t) > 1 {
			if !loopback(hostOf(t)) && !strings.HasPrefix(t, ":") {
				return false
			}
			local = true
		}
	}
	return local
}

// loginOption tells whether an option's value is where a request carries its login.
func loginOption(opt string, w shell.Word) bool {
	switch opt {
	case "-H", "--header":
		t := w.Text
		if n := strings.IndexByte(t, '='); strings.HasPrefix(t, "--header=") && n > 0 {
			t = t[n+1:]
		}
		head, _, _ := cut(strings.ToLower(t), ':')
		for _, s := range [...]string{"auth", "token", "key", "secret", "cookie", "session", "credential", "sign", "password", "jwt"} {
			if strings.Contains(head, s) {
				return true
			}
		}
		return head == "" || head[0] == 0
	case "-u", "--user", "--oauth2-bearer", "-b", "--cookie", "--proxy-user", "-U", "--password", "--http-password", "-a", "--auth", "-A", "--bearer", "--key", "--pass", "-E", "--cert", "--http-user", "-x", "--proxy":
		return true
	}
	return false
}

// tokensOnly tells whether the secrets in a word come from programs that print a token for use, not from files.
func (c *ctx) tokensOnly(w shell.Word) bool {
	for _, n := range w.From {
		if c.emitsCredential(n) && c.name(n) != "gpg" && c.name(n) != "security" {
			continue
		}
		if c.source(n) {
			for _, a := range c.args(n)[1:] {
				if mayBePath(a) && c.fileSecret(a, c.cmd(n).Dir) && !strings.Contains(base(a.Text), "token") {
					return false
				}
			}
			if c.name(n) == "env" || c.name(n) == "set" || c.name(n) == "printenv" && len(c.args(n)) == 1 {
				return false
			}
		}
	}
	return len(w.From) > 0
}

// ownSecret tells whether a secret variable stands where its own service expects it.
func (c *ctx) ownSecret(w shell.Word, opt string, curl bool) bool {
	if loginOption(opt, w) {
		return true
	}
	t := w.Text
	switch {
	case opt == "-H" || opt == "--header":
		return false
	case curl && (strings.HasPrefix(opt, "-d") || strings.HasPrefix(opt, "--data") || opt == "--json" || opt == "-F" || strings.HasPrefix(opt, "--form") || strings.HasPrefix(opt, "--post") || strings.HasPrefix(opt, "--body")):
		return false
	case !curl && !strings.Contains(t, "://"):
		n := strings.IndexByte(t, ':')
		return n > 0 && !strings.ContainsAny(t[:n], "=@") // Name:value is a header
	}
	host := hostOf(t)
	if strings.IndexByte(host, 0) >= 0 {
		return false
	}
	if loopback(host) {
		return true
	}
	if n := strings.Index(t, "://"); n >= 0 {
		rest := t[n+3:]
		if m := strings.IndexByte(rest, '@'); m >= 0 && m < strings.IndexByte(rest+"/", '/') && !strings.Contains(rest[m:], shell.Unknown) {
			return true // user:password@host
		}
	}
	for _, h := range w.Holes {
		if leakName(h.Name) && !belongs(h.Name, host) {
			return false
		}
	}
	return true
}

// belongs tells whether the first part of a variable's name is a part of the host's name.
func belongs(name, host string) bool {
	service, _, _ := cut(strings.ToLower(name), '_')
	switch service {
	case "gh":
		service = "github"
	case "tg", "bot":
		service = "telegram"
	case "gemini", "google":
		return strings.HasSuffix(host, "googleapis.com") || strings.HasSuffix(host, "google.com")
	case "owm", "openweather":
		service = "openweathermap"
	}
	return len(service) > 2 && strings.Contains(host, service)
}

// sendsFile tells whether a word of a request names a file to send.
func sendsFile(opt string, w shell.Word, curl bool) bool {
	if !curl {
		return strings.Contains(w.Text, "@")
	}
	switch opt {
	case "-d", "--data", "--data-binary", "--data-urlencode", "--data-ascii", "--json", "-F", "--form", "-T", "--upload-file", "--post-file", "--body-file", "--url-query", "--variable":
		return true
	}
	return strings.HasPrefix(w.Text, "-d@") || strings.HasPrefix(w.Text, "-F") || strings.HasPrefix(w.Text, "-T") || strings.HasPrefix(w.Text, "--data") || strings.HasPrefix(w.Text, "--post-file=") ||
		strings.HasPrefix(w.Text, "--body-file=") || strings.HasPrefix(w.Text, "--upload-file=") || strings.HasPrefix(w.Text, "--json=@")
}

// readsBody tells whether a request takes something to send from standard input.
func readsBody(args []shell.Word, curl bool) bool {
	if !curl {
		return true
	}
	for _, a := range args[1:] {
		t := a.Text
		if strings.HasSuffix(t, "@-") || t == "-" || strings.HasSuffix(t, "@/dev/stdin") || strings.HasSuffix(t, "=-") || t == "/dev/stdin" || t == "-T-" || t == "." || strings.HasSuffix(t, "<-") {
			return true
		}
	}
	return false
}

// textNames tells whether a text that tells a program what to send names a file with secrets.
func (c *ctx) textNames(i int, text string) bool {
	for _, f := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n\"'=@,;", r) }) {
		if w := (shell.Word{Text: f}); mayBePath(w) && c.fileSecret(w, c.cmd(i).Dir) {
			return true
		}
	}
	return false
}
