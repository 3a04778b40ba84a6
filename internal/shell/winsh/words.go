package winsh

import "strings"

// word is one argument: its value and its place in the line it came from.
type word struct {
	text string
	span
}

// splitWords takes a command line apart. With crt the rules are those of the C run time, which nearly all programs use
// (\" is a quote); without, those of cmd's own commands, which also split at , ; and =.
func splitWords(line string, from int, crt bool) []word {
	var out []word
	i := from
	for {
		for i < len(line) && splits(line[i], crt) {
			i++
		}
		if i >= len(line) {
			return out
		}
		lo, quoted := i, false
		var b strings.Builder
		plain := true // nothing dropped so far: the value is the text itself
		drop := func() {
			if plain {
				b.WriteString(line[lo:i])
				plain = false
			}
		}
	scan:
		for i < len(line) {
			c := line[i]
			switch {
			case crt && c == '\\' && i+1 < len(line) && line[i+1] == '"':
				drop()
				b.WriteByte('"')
				i += 2
				continue
			case c == '"':
				drop()
				quoted = !quoted
				i++
				continue
			case !quoted && splits(c, crt):
				break scan
			}
			if !plain {
				b.WriteByte(c)
			}
			i++
		}
		w := word{span: span{lo, i}}
		if plain {
			w.text = line[lo:i]
		} else {
			w.text = b.String()
		}
		out = append(out, w)
	}
}

func splits(c byte, crt bool) bool {
	return isBlank(c) || c == '\n' || !crt && (c == ',' || c == ';' || c == '=')
}

func splitArgv(line string) []string {
	words := splitWords(line, 0, true)
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.text
	}
	return out
}

// splitSwitches takes glued switches apart: /s/q is /s /q. Only short ones, so that a path with slashes stays whole,
// unless the command is one of cmd's own.
func splitSwitches(words []word, builtin bool) []word {
	glued := func(w word) bool {
		if len(w.text) < 4 || w.text[0] != '/' || strings.IndexByte(w.text[1:], '/') < 0 {
			return false
		}
		if !builtin {
			for p := range strings.SplitSeq(w.text[1:], "/") {
				if len(p) > 2 {
					return false
				}
			}
		}
		return true
	}
	var out []word
	for i, w := range words {
		if !glued(w) {
			if out != nil {
				out = append(out, w)
			}
			continue
		}
		if out == nil {
			out = append(out, words[:i]...)
		}
		for p := range strings.SplitSeq(w.text[1:], "/") {
			out = append(out, word{text: "/" + p, span: w.span})
		}
	}
	if out == nil {
		return words
	}
	return out
}

// isBuiltin reports whether cmd runs name itself.
func isBuiltin(name string) bool {
	switch name {
	case "assoc", "break", "call", "cd", "chdir", "cls", "color", "copy", "date", "del", "dir", "echo", "endlocal", "erase",
		"exit", "ftype", "goto", "md", "mkdir", "mklink", "move", "path", "pause", "popd", "prompt", "pushd", "rd", "rem", "ren",
		"rename", "rmdir", "set", "setlocal", "shift", "start", "time", "title", "type", "ver", "verify", "vol":
		return true
	}
	return false
}

// takesSwitches reports whether a switch may be glued to name: shutdown/s.
func takesSwitches(name string) bool {
	switch name {
	case "cmd", "powershell", "pwsh", "shutdown", "format", "cipher", "taskkill", "icacls", "attrib", "diskpart", "regsvr32",
		"schtasks", "xcopy", "robocopy", "findstr", "find", "tree", "more", "forfiles", "runas", "chkdsk", "vssadmin", "tasklist",
		"ipconfig", "whoami", "where", "fc", "sort", "takeown", "cscript", "wscript", "msiexec", "cmdkey", "reg", "net", "sc":
		return true
	}
	return isBuiltin(name)
}
