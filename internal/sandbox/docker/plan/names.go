package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
)

// NewName makes a container's name of four random bytes.
func NewName(random [4]byte) string { return "hermes-" + hex.EncodeToString(random[:]) }

// isName tells whether NewName could have made a name.
func isName(name string) bool {
	rest, ok := strings.CutPrefix(name, "hermes-")
	return ok && len(rest) == 8 && strings.Trim(rest, "0123456789abcdef") == ""
}

// LabelValue makes the value of a label of any text: what is not a letter, a digit or one of "._-" becomes "_", at most 63
// characters, "unknown" for nothing. Two texts may have one value: what must tell them apart is the fingerprint.
func LabelValue(text string) string {
	var b strings.Builder
	for _, r := range text {
		if b.Len() == 63 {
			break
		}
		if plainRune(r) {
			b.WriteRune(r)
		} else {
			b.WriteByte('_')
		}
	}
	if b.Len() == 0 {
		return "unknown"
	}
	return b.String()
}

func plainRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == '-'
}

// profileLabel returns the value of hermes-profile: the profile, or what a shared key stands for. Distinct keys have distinct
// values, and none that a profile has by chance.
func profileLabel(profile, sharedKey string) string {
	if sharedKey == "" {
		return LabelValue(profile)
	}
	stem := LabelValue(sharedKey)
	return stem[:min(len(stem), 50)] + "-" + digest(sharedKey)[:12]
}

// taskDir returns the name of a task's folder below <sandbox root>/docker. A plain name stays as it is; any other gets its
// hash, so that distinct tasks have distinct folders.
func taskDir(task string) string {
	plain := task != "" && len(task) <= 128 && !strings.HasSuffix(task, ".") && !strings.ContainsFunc(task, func(r rune) bool { return !plainRune(r) })
	if plain && !isHashed(task) {
		return task
	}
	stem := "task"
	if strings.Trim(task, ". ") != "" {
		stem = LabelValue(task)
	}
	return stem + hashMark + digest(task)[:24]
}

// hashMark stands between the stem and the hash of a folder's name.
const hashMark = "-.-"

// isHashed tells whether a plain task looks like the folder of another one.
func isHashed(task string) bool { return strings.Contains(task, hashMark) }

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Workdir returns where commands start inside. hostDir is the folder of the host at Workspace, "" for none. A path of the host
// below it is translated; one that means nothing inside (another path of the host, a drive, a relative one) is Workspace.
func Workdir(cwd, hostDir string) string {
	c := clean(cwd)
	if h := clean(hostDir); hostDir != "" && h != "." {
		a, b := fold(c), fold(h)
		if a == b {
			return Workspace
		}
		if strings.HasPrefix(a, strings.TrimRight(b, "/")+"/") {
			return path.Join(Workspace, c[len(strings.TrimRight(h, "/")):])
		}
	}
	if !strings.HasPrefix(c, "/") || strings.HasPrefix(c, "/Users/") || strings.HasPrefix(c, "/home/") || c == "/home" || c == "/Users" {
		return Workspace
	}
	return c
}

func clean(p string) string { return path.Clean(strings.ReplaceAll(strings.TrimSpace(p), `\`, "/")) }

// fold makes the letter of a drive one.
func fold(p string) string {
	if len(p) >= 2 && p[1] == ':' {
		return strings.ToLower(p[:1]) + p[1:]
	}
	return p
}
