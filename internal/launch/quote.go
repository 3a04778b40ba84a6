package launch

import "strings"

// Quote writes a program and its arguments as the shell text that would run just that.
func Quote(argv []string) string {
	out := make([]string, len(argv))
	for i, arg := range argv {
		out[i] = quote(arg, i == 0)
	}
	return strings.Join(out, " ")
}

func quote(s string, program bool) string {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+,="
	if s != "" && strings.Trim(s, safe) == "" && !(program && strings.Contains(s, "=")) && !reserved(s, program) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// reserved tells whether an unquoted word would be part of the shell's grammar.
func reserved(s string, program bool) bool {
	switch s {
	case "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "function", "select", "time", "coproc":
		return program
	}
	return false
}
