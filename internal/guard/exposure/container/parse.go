package container

import (
	"fmt"
	"strconv"
	"strings"
)

// Flag is one flag as the engine will read it.
type Flag struct {
	Name    string // its long name, without dashes; aliases (--net) have the name of what they stand for
	Value   string // "true" for a toggle that stands alone
	Text    string // as written, for people: "--pid=host", "-v /a:/b"
	Known   bool   // false: not in the table; such a flag is only read as --name=value
	at, end int    // its arguments are args[at:end]
}

// Args returns what the flag was written as in args, the list it was parsed from. Of letters that were written together
// (-itv) each has the same arguments.
func (f Flag) Args(args []string) []string { return args[f.at:f.end] }

// Parse reads the arguments that stand between `run` and the image just as the engine does: --name value, --name=value, letters
// together (-itv/a:/b), toggles with a value. What the engine would take for the image, and a flag whose value is missing so that
// it would swallow the image, are errors; so is a flag that the table does not have, unless it is written --name=value, which
// needs no table to be read.
func Parse(engine Engine, args []string) ([]Flag, error) {
	if engine != Docker && engine != Podman {
		return nil, fmt.Errorf("arguments of a container: %s", engine)
	}
	var out []Flag
	for i := 0; i < len(args); {
		arg := args[i]
		if strings.ContainsRune(arg, 0) {
			return nil, fmt.Errorf("argument %s: it has a NUL byte", strconv.Quote(arg))
		}
		var found []Flag
		var used int
		var err error
		switch {
		case arg == "-" || arg == "--" || !strings.HasPrefix(arg, "-"):
			return nil, fmt.Errorf("argument %s: it is no flag, so %s would take it for the image", strconv.Quote(arg), engine)
		case strings.HasPrefix(arg, "--"):
			found, used, err = long(engine, args[i:])
		default:
			found, used, err = letters(engine, args[i:])
		}
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			f.at, f.end = i, i+used
			out = append(out, f)
		}
		i += used
	}
	return out, nil
}

// long reads one flag with two dashes.
func long(engine Engine, args []string) ([]Flag, int, error) {
	name, v, has := strings.Cut(args[0][2:], "=")
	if name == "" || name[0] == '-' {
		return nil, 0, fmt.Errorf("argument %s: it is no flag", strconv.Quote(args[0]))
	}
	a, known := find(engine, name)
	switch {
	case !known && !has:
		return nil, 0, fmt.Errorf("argument --%s: it is not a flag of %s run that is known here, so what follows it cannot be read", name, engine)
	case !known:
		return []Flag{{Name: name, Value: v, Text: args[0]}}, 1, nil
	case a.takes == toggle:
		if !has {
			v = "true"
		}
		if _, err := strconv.ParseBool(v); err != nil {
			return nil, 0, fmt.Errorf("argument %s: %s is neither true nor false", strconv.Quote(args[0]), strconv.Quote(v))
		}
		return []Flag{{Name: a.name, Value: v, Text: args[0], Known: true}}, 1, nil
	case has:
		return []Flag{{Name: a.name, Value: v, Text: args[0], Known: true}}, 1, nil
	case len(args) < 2:
		return nil, 0, missing(engine, args[0])
	}
	return []Flag{{Name: a.name, Value: args[1], Text: args[0] + " " + args[1], Known: true}}, 2, nil
}

func missing(engine Engine, arg string) error {
	return fmt.Errorf("argument %s: its value is missing, so %s would take the image for it", arg, engine)
}

// letters reads one argument with one dash: toggles, of which the last may be a flag with a value.
func letters(engine Engine, args []string) ([]Flag, int, error) {
	var out []Flag
	for rest := args[0][1:]; rest != ""; {
		letter := rest[:1]
		a, known := find(engine, letter)
		if !known {
			return nil, 0, fmt.Errorf("argument %s: -%s is not a flag of %s run that is known here", strconv.Quote(args[0]), letter, engine)
		}
		rest = rest[1:]
		f := Flag{Name: a.name, Known: true, Text: args[0]}
		switch {
		case len(rest) > 1 && rest[0] == '=':
			f.Value, rest = rest[1:], ""
		case a.takes == toggle:
			f.Value = "true"
		case rest != "":
			f.Value, rest = rest, ""
		case len(args) < 2:
			return nil, 0, missing(engine, args[0])
		default:
			f.Value, f.Text = args[1], args[0]+" "+args[1]
			return append(out, f), 2, nil
		}
		if a.takes == toggle {
			if _, err := strconv.ParseBool(f.Value); err != nil {
				return nil, 0, fmt.Errorf("argument %s: %s is neither true nor false", strconv.Quote(args[0]), strconv.Quote(f.Value))
			}
		}
		out = append(out, f)
	}
	return out, 1, nil
}
