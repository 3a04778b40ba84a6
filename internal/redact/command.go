package redact

import "strings"

// ModeFor gives the mode for the output of a shell command: Env if it prints the environment or reads a file of
// secrets, Code otherwise. It reads the text only; what variables, substitutions and other programs (sudo cat .env)
// hide is not seen, so it is a help and no wall: tokens are found in Code mode, too.
func ModeFor(command string) Mode {
	if dumpsEnv(command) || readsSecretFile(command) {
		return Env
	}
	return Code
}

// dumpsEnv says whether some part of the command prints the environment.
func dumpsEnv(command string) bool {
	for _, words := range segments(command) {
		switch words[0] {
		case "printenv":
			return true
		case "env": // with a program it runs that instead
			if onlyOptions(words[1:]) {
				return true
			}
		case "export", "declare", "typeset":
			if onlyOptions(words[1:]) {
				return true
			}
		case "set": // with options it changes the shell and prints nothing
			if len(words) == 1 || redirection(words[1]) {
				return true
			}
		}
	}
	return false
}

func onlyOptions(words []string) bool {
	for _, w := range words {
		if redirection(w) {
			break
		}
		if !strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "+") {
			return false
		}
	}
	return true
}

func redirection(w string) bool {
	return strings.ContainsAny(w, "<>")
}

// readsSecretFile says whether some part of the command shows a file of secrets.
func readsSecretFile(command string) bool {
	for _, words := range segments(command) {
		switch strings.ToLower(words[0]) {
		case "cat", "head", "tail", "type", "bat", "less", "more", "nl", "zcat", "tac", "view", "batcat", "grep", "awk", "sed", "egrep", "fgrep", "rg", "cut", "sort", "strings", "get-content":
			for _, w := range words[1:] {
				if secretFile(w) {
					return true
				}
			}
		}
	}
	return false
}

// secretFile judges a path by its name.
func secretFile(path string) bool {
	p := strings.ToLower(strings.ReplaceAll(path, `\`, "/"))
	p = strings.TrimLeft(p, "<")
	dir, base := "", p
	if k := strings.LastIndexByte(p, '/'); k >= 0 {
		dir, base = p[:k], p[k+1:]
	}
	_, parent := cutLast(dir)
	switch base {
	case ".env", ".envrc", ".bashrc", ".zshrc", ".profile", ".bash_profile", ".zprofile", ".zshenv", ".bash_login", ".netrc", "_netrc", ".npmrc", ".pypirc",
		".pgpass", ".git-credentials", ".bash_history", ".zsh_history", "credentials.json", "auth.json", "secrets.yaml", "secrets.yml", "secrets.env", "secrets.json", "environ":
		return base != "environ" || strings.HasPrefix(p, "/proc/")
	case "config.yaml", "config.yml":
		return parent == ".hermes" || strings.Contains(dir, ".hermes/profiles/") || strings.Contains(dir, "hermes_home")
	case "credentials":
		return parent == ".aws"
	case "config.json":
		return parent == ".docker"
	case "hosts.yml":
		return parent == "gh"
	}
	if kind, found := strings.CutPrefix(base, ".env."); found {
		switch kind {
		case "example", "sample", "template", "dist", "defaults", "schema":
			return false
		}
		return true
	}
	return strings.HasSuffix(base, ".env") && len(base) > 4
}

func cutLast(dir string) (front, last string) {
	k := strings.LastIndexByte(dir, '/')
	return dir[:max(k, 0)], dir[k+1:]
}

// segments splits a command at unquoted | ; & and newlines into words without their quotes; empty parts are left out.
// Assignments in front of the command are dropped.
func segments(command string) [][]string {
	var out [][]string
	var words []string
	var w strings.Builder
	inWord, quote := false, byte(0)
	flush := func() {
		if inWord {
			words = append(words, w.String())
		}
		w.Reset()
		inWord = false
	}
	cut := func() {
		flush()
		for len(words) > 0 && isAssignment(words[0]) {
			words = words[1:]
		}
		if len(words) > 0 {
			out = append(out, words)
		}
		words = nil
	}
	for i := 0; i < len(command) && i < maxLine; i++ {
		c := command[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				w.WriteByte(c)
			}
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case c == '|' || c == ';' || c == '\n' || c == '&' && !strings.HasSuffix(w.String(), ">"):
			cut()
		case c == ' ' || c == '\t' || c == '\r':
			flush()
		default:
			w.WriteByte(c)
			inWord = true
		}
	}
	cut()
	return out
}

func isAssignment(w string) bool {
	name, _, found := strings.Cut(w, "=")
	return found && only(name, alnum|under) && !is(name[0], digit)
}
