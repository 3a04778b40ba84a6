package ssh

import (
	"errors"
	"fmt"
	"strings"

	"hermes/internal/guard/checked"
	"hermes/internal/sandbox"
)

// hostKeyTrouble says that a host's key is not one that is known.
type hostKeyTrouble struct {
	at      string
	changed bool // another one was known
	detail  string
}

func (e *hostKeyTrouble) Error() string {
	if e.changed {
		return "the host key of " + e.at + " has changed: somebody may be in between"
	}
	return "the host key of " + e.at + " is not known"
}

func (b *Backend) degraded(to checked.Remote, err error) error {
	return &sandbox.DegradedError{Backend: Name, Text: "no connection to " + to.String(), Cause: err, Remedy: "By hand, `ssh " + strings.Join(show(to), " ") + "` shows more"}
}

// show is how the owner would spell the destination.
func show(to checked.Remote) []string {
	var out []string
	if to.Port() != 0 && to.Port() != 22 {
		out = append(out, "-p", fmt.Sprint(to.Port()))
	}
	host := to.Host()
	if to.User() != "" {
		host = to.User() + "@" + host
	}
	return append(out, host)
}

// diagnose makes an error of what the client said on its own behalf before the session began. A machine that printed the same
// words could only get itself refused: nothing is accepted by them.
func (b *Backend) diagnose(to checked.Remote, said string, err error) error {
	d := &sandbox.DegradedError{Backend: Name, Text: "no connection to " + to.String()}
	byHand := "`ssh " + strings.Join(show(to), " ") + "`"
	last := lastLine(said)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(said, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("REMOTE HOST IDENTIFICATION HAS CHANGED", "host key for ") && has("has changed"):
		d.Cause = &hostKeyTrouble{at: to.String(), changed: true, detail: said}
		d.Remedy = "Ask whoever runs the machine. If the key was changed on purpose, remove the old one: `ssh-keygen -R " + keyName(to) + "`"
	case has("host key is known for", "Host key verification failed"):
		d.Cause = &hostKeyTrouble{at: to.String(), detail: said}
		d.Remedy = "By hand, " + byHand + " shows its fingerprint and asks; here nobody could be asked"
	case has("Permission denied ("):
		d.Cause = errors.New("no key was accepted, and nothing is typed here: " + last)
		d.Remedy = "Add your key there (`ssh-copy-id " + strings.Join(show(to), " ") + "`), name it in terminal.ssh_key, or load it with `ssh-add`"
	case has("Too many authentication failures"):
		d.Cause = errors.New("the agent offers too many keys: " + last)
		d.Remedy = "Name the key in terminal.ssh_key"
	case has("Could not resolve hostname"):
		d.Cause, d.Remedy = errors.New(last), "Look at terminal.ssh_host: "+to.Host()
	case has("Connection refused", "timed out", "No route to host", "Network is unreachable", "Connection closed by", "Connection reset"):
		d.Cause, d.Remedy = errors.New(last), "Is the machine up, and its sshd? By hand, "+byHand+" shows more"
	case last != "":
		d.Cause, d.Remedy = errors.New(last), "By hand, "+byHand+" shows more"
	default:
		d.Cause, d.Remedy = err, "By hand, "+byHand+" shows more"
	}
	return d
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}

// keyName is how known_hosts spells a host.
func keyName(to checked.Remote) string {
	if to.Port() != 0 && to.Port() != 22 {
		return fmt.Sprintf("'[%s]:%d'", to.Host(), to.Port())
	}
	return to.Host()
}
