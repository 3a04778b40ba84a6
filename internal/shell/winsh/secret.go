package winsh

import "strings"

const (
	keySSH    = "access to SSH keys (Windows path)"
	keySecret = "access to Hermes secrets (Windows path)"
)

// SecretPath finds the first Windows path of SSH keys or of Hermes' secrets in a text of any shell, with either slash and
// with doubled backslashes. key is the rule's; start and end are the path. A public key (.pub) is no secret.
func SecretPath(text string) (key string, start, end int, ok bool) {
	return secretPath(text, false)
}

// secretPath also takes ~/ and $HOME/ when the text is known to be for Windows.
func secretPath(text string, windows bool) (key string, start, end int, ok bool) {
	for i := 0; i+4 <= len(text); i++ {
		n := strings.IndexByte(text[i:], '.')
		if n < 0 {
			break
		}
		if i += n; i+4 > len(text) {
			break
		}
		name := text[i : i+4]
		ssh := strings.EqualFold(name, ".ssh")
		if !ssh && !strings.EqualFold(name, ".env") {
			continue
		}
		if i+4 < len(text) && (isIdent(text[i+4]) || text[i+4] == '-') {
			continue
		}
		b := back{text: text, at: i, windows: windows}
		if !b.step() {
			continue
		}
		if end = pathEnd(text, i+4); ssh {
			key, ok = keySSH, b.home() && !strings.HasSuffix(strings.ToLower(text[i:end]), ".pub")
		} else {
			key, ok = keySecret, b.hermes()
		}
		if ok {
			return key, b.start(), end, true
		}
	}
	return "", 0, 0, false
}

func pathEnd(text string, i int) int {
	for i < len(text) && strings.IndexByte(" \t\r\n\"'`;|&<>(),", text[i]) < 0 {
		i++
	}
	return i
}

// back walks a path from its end to its start, one component at a time.
type back struct {
	text      string
	at        int  // start of the part already seen
	backslash bool // a separator seen was a backslash
	windows   bool
}

// step moves over separators; false when there are none.
func (b *back) step() bool {
	i := b.at
	for i > 0 && b.at-i < 8 && (b.text[i-1] == '/' || b.text[i-1] == '\\') {
		b.backslash = b.backslash || b.text[i-1] == '\\'
		i--
	}
	ok := i < b.at
	b.at = i
	return ok
}

// component moves over a name and returns it.
func (b *back) component() string {
	i := b.at
	for i > 0 && b.at-i < 64 && strings.IndexByte("/\\\"'`<>|:;=\n", b.text[i-1]) < 0 {
		i--
	}
	s := b.text[i:b.at]
	b.at = i
	return s
}

// home reports whether what precedes is a user's folder, and moves to its start.
func (b *back) home() bool {
	head := b.text[max(0, b.at-40):b.at]
	for _, v := range [...]string{"%homedrive%%homepath%", "%userprofile%", "%homepath%", "${env:userprofile}", "$env:userprofile", "~", "$home", "$env:home"} {
		if len(head) < len(v) || !strings.EqualFold(head[len(head)-len(v):], v) {
			continue
		}
		if len(v) < 6 && !b.backslash && !b.windows {
			return false
		}
		b.at -= len(v)
		return true
	}
	if b.component() == "" || !b.step() {
		return false
	}
	users := b.component()
	if j := strings.LastIndexAny(users, " \t"); j >= 0 { // type Users\me\.ssh
		b.at += j + 1
		users = users[j+1:]
	}
	return strings.EqualFold(users, "users") && (b.windows || b.backslash || b.drive())
}

// drive reports whether a drive letter precedes: C:/ or /c/ or /mnt/c/.
func (b *back) drive() bool {
	i := b.at
	for i > 0 && (b.text[i-1] == '/' || b.text[i-1] == '\\') && b.at-i < 8 {
		i--
	}
	switch {
	case i == b.at || i == 0:
		return false
	case b.text[i-1] == ':':
		return true
	}
	return isLetter(b.text[i-1]) && i >= 2 && b.text[i-2] == '/'
}

// hermes reports whether what precedes is Hermes' home on Windows.
func (b *back) hermes() bool {
	seen := false
	for range 6 {
		if seen {
			head := b.text[max(0, b.at-24):b.at]
			for _, v := range [...]string{"%appdata%", "%localappdata%", "$env:appdata", "$env:localappdata", "${env:appdata}", "${env:localappdata}"} {
				if len(head) >= len(v) && strings.EqualFold(head[len(head)-len(v):], v) {
					b.at -= len(v)
					return true
				}
			}
			if h := *b; h.home() {
				*b = h
				return true
			}
		}
		name := b.component()
		if name == "" {
			return false
		}
		if !b.step() {
			// the first component of a relative path: appdata was it, or nothing
			return false
		}
		if low := strings.ToLower(name); low == "hermes" || low == ".hermes" {
			seen = true
			continue
		}
		if seen && (strings.EqualFold(name, "local") || strings.EqualFold(name, "roaming")) {
			h := *b
			first := h.component()
			if j := strings.LastIndexAny(first, " \t"); j >= 0 {
				h.at += j + 1
				first = first[j+1:]
			}
			if strings.EqualFold(first, "appdata") {
				*b = h
				return true
			}
		}
	}
	return false
}

// start is where the word begins that the path is in.
func (b *back) start() int {
	i := b.at
	for i > 0 && b.at-i < 256 && strings.IndexByte(" \t\r\n\"'`;|&<>(),=", b.text[i-1]) < 0 {
		i--
	}
	return i
}
