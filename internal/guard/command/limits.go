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
			Hits:   []string{"echo {1..9999}{1..9999}"},
			Passes: []string{"echo $(echo $(echo x))"},
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
