// Package effect says what a shell text may change of the shell it runs in, so that a command which changes nothing does not
// pay for writing its state back.
//
// It does not decide what may run (see guard/command), and keeps nothing (see snapshot). Failure direction: what is not known
// to stay counts as changed, which costs time and nothing else.
package effect

import (
	"strings"

	"hermes/internal/sandbox/snapshot"
	"hermes/internal/shell"
)

// maxText bounds the texts that are looked at.
const maxText = 16 << 10

// Judge judges a text by itself. It is a snapshot.Judge.
func Judge(text string) snapshot.Judgement {
	j := judge(text)
	if strings.Contains(text, " () ") {
		j.Declares = shell.Declares(text)
	}
	return j
}

func judge(text string) snapshot.Judgement {
	if len(text) > maxText || strings.ContainsRune(text, 0) {
		return snapshot.Judgement{}
	}
	program := shell.Parse(text, shell.Options{})
	for _, n := range program.Notes {
		switch n.Kind {
		case shell.UnreadScript, shell.DynamicCode: // of another process, or of eval and the like, which count by name
		default:
			return snapshot.Judgement{}
		}
	}
	changes, spelt := spelling(text), true
	for i := range program.Commands {
		c := &program.Commands[i]
		if len(c.Args) == 0 { // assignments
			changes |= snapshot.Exports
			continue
		}
		if len(c.Args[0].Holes) > 0 {
			return snapshot.Judgement{}
		}
		name := c.Args[0].Text
		if !strings.Contains(text, name) {
			return snapshot.Judgement{}
		}
		change, looks := command(name, c.Args[1:])
		changes |= change
		spelt = spelt && !looks
	}
	return snapshot.Judgement{Keeps: snapshot.Everything &^ changes, Spelt: spelt}
}

// command returns what a command changes of the shell, and whether it looks at definitions.
func command(name string, args []shell.Word) (change snapshot.Change, looks bool) {
	first := ""
	if len(args) > 0 {
		first = args[0].Text
	}
	switch name {
	case "cd", "pushd", "popd":
		return snapshot.Dir, false
	case "printf":
		if strings.HasPrefix(first, "-") && first != "--" {
			return snapshot.Exports, false
		}
	case "wait":
		if strings.HasPrefix(first, "-") {
			return snapshot.Exports, false
		}
	case "read", "mapfile", "readarray", "getopts", "let", "((", "[[":
		return snapshot.Exports, false
	case "local": // nothing outside of its function
		return 0, false
	case "type", "command", "which", "hash", "compgen":
		return 0, true
	case "alias", "unalias", "export", "declare", "typeset", "readonly", "unset", "set", "shopt", "enable",
		"eval", "source", ".", "builtin", "exec", "trap", "complete", "compopt", "bind", "coproc", "function", "fc", "history":
		return snapshot.Everything, true
	}
	return 0, false
}

// spelling returns what the text changes by other means than a command: assignments, loops, definitions. It goes by the
// letters alone and does not care whether they are quoted.
func spelling(text string) (change snapshot.Change) {
	if strings.Contains(text, "((") || strings.Contains(text, "${") || strings.Contains(text, "{fd}") {
		change |= snapshot.Exports
	}
	for i := range len(text) {
		switch text[i] {
		case '=':
			if assigns(text[:i]) {
				change |= snapshot.Exports
			}
		case ')':
			if rest := strings.TrimRight(text[:i], " \t"); strings.HasSuffix(rest, "(") && !strings.HasSuffix(rest, "$(") {
				change |= snapshot.Everything
			}
		case '{', '}': // {name}>file
			if i+1 < len(text) && (text[i+1] == '>' || text[i+1] == '<') {
				change |= snapshot.Exports
			}
		}
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\n;&|(){}`", r) }) {
		switch word {
		case "for", "select":
			change |= snapshot.Exports
		case "function", "coproc":
			change |= snapshot.Everything
		}
	}
	return change
}

// assigns tells whether what stands before an equals sign could be the name of a variable: all but an option.
func assigns(before string) bool {
	start := strings.LastIndexAny(before, " \t\n;&|(){}`<>") + 1
	word := strings.Trim(before[start:], `"'\`)
	return word != "" && word[0] != '-' && word[0] != '/' && word[0] != '.' && word[0] != '='
}
