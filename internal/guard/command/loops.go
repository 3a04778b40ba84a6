package command

import (
	"hermes/internal/guard"
	"hermes/internal/shell"
)

// Loops that only stop when the machine does.
func loops() table {
	return table{{
		Key:    "endless loop of background jobs",
		Harms:  guard.Host,
		Match:  noted(shell.Spawning),
		Why:    "starts jobs without end and never waits for one",
		Remedy: "wait for each round: `while true; do make & wait; done`",
		Hits:   []string{"while true; do ./worker & done", "while :; do yes > /dev/null & done", "for ((;;)); do make & done", "until false; do ls & done"},
		Passes: []string{"while true; do ./worker & wait; done", "while true; do date; sleep 5; done", "for f in *; do gzip $f & done"},
	}}
}
