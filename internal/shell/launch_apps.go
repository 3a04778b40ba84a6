package shell

import (
	"strings"

	"hermes/internal/shell/code"
)

// appCarrierOf lists applications with options whose value is run.
func appCarrierOf(name string) (carrier, bool) {
	switch name {
	case "bat", "batcat", "delta":
		return carrier{runs: "pager", exact: true, short: "l:r:H:m:A", long: "pager= language= line-range= highlight-line= file-name= theme= style= color= paging= wrap= tabs= " +
			"terminal-width= map-syntax= italic-text= decorations= diff-context= help version"}, true
	case "just":
		return carrier{runs: "shell c command", exact: true, short: "f:d:c:E:s:", long: "shell= command= shell-arg= justfile= working-directory= dotenv-path= set= show= color= chooser= " +
			"dump-format= list-heading= list-prefix= tempdir= help version"}, true
	case "aria2c":
		return carrier{runs: "on-download-start on-download-pause on-download-stop on-download-complete on-download-error on-bt-download-complete", short: "d:o:s:x:i:j:k:l:t:U:",
			long: "on-download-start= on-download-pause= on-download-stop= on-download-complete= on-download-error= on-bt-download-complete= dir= out= input-file= help version"}, true
	case "yt-dlp", "youtube-dl":
		return carrier{runs: "exec exec-before-download netrc-cmd", exact: true, short: "o:f:r:P:u:p:a:S:N:I:R:",
			long: "exec= exec-before-download= netrc-cmd= output= format= paths= proxy= batch-file= cookies= limit-rate= audio-format= username= password= downloader= help version"}, true
	case "dmsetup":
		return carrier{runs: "exec", long: "exec= target= uuid= major= minor= help version"}, true
	case "mail", "mailx", "s-nail", "mutt":
		return carrier{runs: "exec", short: "s:c:b:r:a:A:u:S:", long: "exec= subject= append= return-address= user= help version"}, true
	case "pandoc":
		return carrier{runs: "F filter pdf-engine", short: "f:r:t:w:o:F:L:V:M:H:A:B:T:c:d:", long: "filter= pdf-engine= lua-filter= from= read= to= write= output= data-dir= metadata= " +
			"metadata-file= defaults= template= variable= include-in-header= include-before-body= include-after-body= css= resource-path= help version"}, true
	}
	return carrier{}, false
}

// apps reads applications with a way of their own to run something.
func apps(c *Command) ([]handoff, bool) {
	switch c.Name {
	case "cmake":
		return cmake(c)
	case "gcc", "cc", "g++", "c++", "clang", "clang++", "c99", "c89", "gfortran":
		for i, w := range c.Args[1:] {
			if w.Is("-wrapper") && i+2 < len(c.Args) {
				var argv []Word
				for part := range strings.SplitSeq(c.Args[i+2].Text, ",") {
					argv = append(argv, partOf(c.Args[i+2], part))
				}
				return run(nil, handoff{how: "-wrapper"}, append(argv, c.Args[:1]...)), false
			}
		}
	case "gs", "ghostscript", "dvips":
		return piped(c), false
	case "tex", "latex", "pdflatex", "xelatex", "lualatex", "pdftex", "xetex", "luatex", "latexmk":
		return tex(c), false
	case "puppet":
		return valuesOf(c, "e", "e execute", "execute=", code.Unlisted), false
	case "jrunscript":
		return valuesOf(c, "e f l", "e", "", code.Unlisted), false
	case "gimp":
		lang := code.Unlisted
		for _, w := range c.Args {
			if strings.Contains(w.Text, "python") {
				lang = code.Python
			}
		}
		return valuesOf(c, "b", "b batch", "batch= batch-interpreter=", lang), false
	case "nmap":
		return luaFiles(c, "script", "script= script-args="), false
	}
	return nil, false
}

// partOf makes a word of a piece of w; one with a hole is unknown as a whole.
func partOf(w Word, part string) Word {
	if strings.Contains(part, Unknown) {
		return unknownLike(w, Computed, w.Show())
	}
	return w.Lit(part)
}

// valuesOf adds the values of the options in list as program text.
func valuesOf(c *Command, letters, list, long string, lang code.Lang) (hs []handoff) {
	s := optScan{args: c.Args[1:], exact: true, short: strings.ReplaceAll(letters+" ", " ", ":"), long: long}
	for s.next() {
		if s.has && listed(list, s.key) {
			hs = program(hs, dashed(s.key), lang, s.val)
		}
	}
	return hs
}

// luaFiles adds the values of an option that names Lua files, when they are paths.
func luaFiles(c *Command, key, long string) (hs []handoff) {
	s := optScan{args: c.Args[1:], exact: true, single: true, short: "p:i:o:e:S:D:g:T:", long: long}
	for s.next() {
		if s.key == key && s.has && strings.ContainsAny(s.val.Text, "/\x00") {
			w := s.val
			hs = append(hs, handoff{how: dashed(key), file: &w, lang: code.Lua})
		}
	}
	return hs
}

// cmake -E runs small tools by the names of the real ones, and other programs.
func cmake(c *Command) ([]handoff, bool) {
	for i, w := range c.Args[1:] {
		rest := c.Args[i+2:]
		switch {
		case w.Is("--help"), w.Is("--version"):
			return nil, true
		case w.Is("-P") && len(rest) > 0:
			if rest[0].Is("/dev/stdin") || rest[0].Is("-") {
				return stdinCode(nil, c, code.Unlisted), false
			}
			return nil, false
		case w.Is("-E") && len(rest) > 0:
			h := handoff{how: "-E", feeds: true}
			switch rest[0].Text {
			case "rm", "env":
			case "remove", "remove_directory":
				rest = append([]Word{rest[0].Lit("rm"), rest[0].Lit("-rf")}, rest[1:]...)
			case "time":
				rest = rest[1:]
			case "chdir":
				if len(rest) < 3 {
					return nil, false
				}
				h.dir = &rest[1]
				rest = rest[2:]
			default:
				return nil, false
			}
			return run(nil, h, rest), false
		}
	}
	return nil, false
}

// piped reads gs and dvips, whose output may be a program: %pipe%text, |text, !text.
func piped(c *Command) (hs []handoff) {
	for i, w := range c.Args[1:] {
		t := w.Text
		for _, mark := range [...]string{"%pipe%", "=|", "-o|", "-o!"} {
			if at := strings.Index(t, mark); at >= 0 && (mark == "%pipe%" || strings.HasPrefix(t, "-")) {
				hs = say(hs, mark, w.behind(at+len(mark)), systemShell)
				break
			}
		}
		if c.Args[i].Is("-o") && (strings.HasPrefix(t, "!") || strings.HasPrefix(t, "|")) {
			hs = say(hs, "-o", w.behind(1), systemShell)
		}
	}
	return hs
}

// tex runs \write18 when shell escapes are on; TeX on the command line is opaque then.
func tex(c *Command) (hs []handoff) {
	escape := false
	for _, w := range c.Args[1:] {
		switch t := strings.TrimLeft(w.Text, "-"); {
		case t == "shell-escape", t == "enable-write18":
			escape = true
		case t == "latexoption", !escape, !strings.HasPrefix(w.Text, `\`):
		default:
			hs = program(hs, "shell-escape", code.Unlisted, w)
		}
	}
	return hs
}
