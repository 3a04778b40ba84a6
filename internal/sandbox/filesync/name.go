package filesync

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// checkName returns the name of a file below a directory, clean, or why it is none that is taken from another machine: it must
// mean the same file on every system, and no other.
func checkName(name string) (clean, why string) {
	switch {
	case name == "":
		return "", "it has no name"
	case len(name) > 1024:
		return "", "its name is too long"
	case !utf8.ValidString(name):
		return "", "its name is not UTF-8"
	case name[0] == '/':
		return "", "its name is absolute"
	case strings.ContainsAny(name, `\:*?"<>|`):
		return "", "its name means something else elsewhere"
	case strings.ContainsFunc(name, func(r rune) bool {
		return unicode.Is(unicode.C, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
	}):
		return "", "its name has invisible characters"
	}
	clean = path.Clean(name)
	parts := strings.Split(clean, "/")
	if len(parts) > 32 {
		return "", "it is too deep"
	}
	for _, part := range parts {
		switch {
		case part == "." || part == "..":
			return "", "its name leads elsewhere"
		case len(part) > 255:
			return "", "its name is too long"
		case part[0] == ' ' || strings.HasSuffix(part, ".") || strings.HasSuffix(part, " "):
			return "", "its name means something else elsewhere"
		case deviceName(part):
			return "", "its name is a device elsewhere"
		}
	}
	return clean, ""
}

// deviceName tells whether Windows takes a name for a device, whatever follows the first dot.
func deviceName(part string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(part), ".")
	switch stem = strings.TrimRight(stem, " "); stem {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	if len(stem) < 4 || stem[:3] != "com" && stem[:3] != "lpt" {
		return false
	}
	switch stem[3:] {
	case "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³":
		return true
	}
	return false
}

// fold returns a name as a file system without regard to capitals could see it.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, name)
}
