package command

import (
	"strings"
	"unicode/utf8"

	"hermes/internal/guard"
	"hermes/internal/shell"
)

const (
	maxChars      = 128_000 // longer texts are asked about
	maxUnbroken   = 4_096   // longest text without a separator
	maxSeparators = 25_000  // this many are too many
)

// Too large, too deep or malformed to judge.
func limits() table {
	return table{
		{
			Key:    "command parser limit exceeded",
			Tier:   guard.Limit,
			Harms:  guard.Host | guard.Work,
			Match:  either(text(tooLarge)),
			Why:    "is longer than what can be judged as a whole",
			Remedy: "write it to a script file and run that: `bash ./script.sh`",
			Hits:   []string{"echo " + strings.Repeat("x", maxUnbroken), strings.Repeat("true;", maxSeparators)},
			Passes: []string{strings.Repeat("x", maxUnbroken), "echo hi"},
		},
		{
			Key:    "command is nested or expanded beyond what is judged",
			Tier:   guard.Limit,
			Harms:  guard.Host | guard.Work,
			Match:  noted(shell.TooLong, shell.TooDeep, shell.TooMuch),
			Why:    "needs more work than is spent on one command",
			Remedy: "write it to a script file and run that: `bash ./script.sh`",
			Hits:   []string{strings.Repeat("sudo ", 400) + "ls"},
			Passes: []string{"echo $(echo $(echo x))"},
		},
		{
			Key:    "command is nested or expanded beyond what is judged",
			Tier:   guard.Limit,
			Harms:  guard.Host | guard.Work,
			Match:  match{on: onSpent, test: func(*ctx, int) (span, bool) { return span{}, true }},
			Why:    "needs more work than is spent on one command",
			Remedy: "write it to a script file and run that: `bash ./script.sh`",
			Hits:   []string{strings.Repeat("chmod +x a;", 1000)},
			Passes: []string{"chmod +x a; ./b"},
		},
		{
			Key:    "command parser limit or malformed executable payload",
			Tier:   guard.Limit,
			Harms:  guard.Host | guard.Work,
			Match:  noted(shell.Unparsed),
			Why:    "cannot be read as shell",
			Remedy: "close the quotes",
			Hits:   []string{`grep -P "(safe|reboot) audit.log`, `sort --compress-program="sh -c 'unterminated names"`, `echo "x`},
			Passes: []string{`grep -o "[^\"]*" file`, "echo 'x'"},
		},
		{
			Key:    "command parser limit or malformed executable payload",
			Tier:   guard.Limit,
			Harms:  guard.Host | guard.Work,
			Match:  all(runs("grep", "egrep"), when(unfinished)),
			Why:    "ends in an option that needs a value",
			Remedy: "give the pattern: `grep -P -e x file`",
			Hits:   []string{"grep -P -e", "grep -P --", "egrep -f"},
			Passes: []string{"grep -P -e x file", "grep -c x f", "grep -e `echo needle` file"},
		},
	}
}

func tooLarge(c *ctx) (span, bool) {
	s := c.prog.Text
	if len(s) <= maxUnbroken {
		return span{}, false
	}
	separators := 0
	for k := range len(s) {
		switch s[k] {
		case ';', '&', '|', '\n':
			separators++
		}
	}
	return span{}, separators >= maxSeparators || len(s) > maxChars && utf8.RuneCountInString(s) > maxChars || separators == 0 && utf8.RuneCountInString(s) > maxUnbroken
}

// unfinished holds for grep whose last word is an option without the value it needs, or that has no pattern at all.
func unfinished(c *ctx, i int) (span, bool) {
	args := c.args(i)
	if len(args) < 2 {
		return span{}, false
	}
	last := args[len(args)-1]
	switch last.Text {
	case "-e", "-f", "-m", "-A", "-B", "-C", "--regexp", "--file":
		for _, o := range c.line(i).opts {
			if o.arg == len(args)-1 {
				return at(last), true
			}
		}
	case "--":
		if _, ok := c.opt(i, "-e", "-f", "--regexp", "--file"); !ok && len(c.line(i).operands) == 0 {
			return at(last), true
		}
	}
	return span{}, false
}
