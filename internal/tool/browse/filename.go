package browse

import (
	"mime"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxName is the longest name of a file, in bytes.
const maxName = 100

// fileName makes the name of a downloaded file, from what the server calls it or the end of its URL: one name, in which nothing
// leads elsewhere, is hidden, or shows as something else. extensions are those of what the file is, the usual one first; a file
// that is a picture is not called a program.
func fileName(disposition, rawURL, extensions string) string {
	name := ""
	if _, params, err := mime.ParseMediaType(disposition); err == nil {
		name = params["filename"]
	}
	if name == "" {
		if u, err := url.Parse(rawURL); err == nil {
			name = path.Base(u.Path)
		}
	}
	name = safeName(name)
	known := strings.Fields(extensions)
	if len(known) > 0 && !slices.Contains(known, strings.ToLower(path.Ext(name))) {
		name = shorten(name, maxName-len(known[0])) + known[0]
	}
	return name
}

// safeName makes one harmless name of whatever somebody calls a file.
func safeName(name string) string {
	name = norm.NFKC.String(strings.ToValidUTF8(name, "_"))
	name = strings.ReplaceAll(name, `\`, "/")
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(`<>:"|?*$&;'%!#~{}^=,@+[]`, r), r == '`', r == utf8.RuneError:
			return '_'
		case unicode.IsSpace(r):
			return '_'
		case !unicode.IsPrint(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || unicode.Is(unicode.Co, r):
			return -1
		}
		return r
	}, name)
	name = strings.Trim(name, ". _-") // no leading dot or dash, and no dot at the end
	name = shorten(name, maxName)
	base, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch {
	case name == "":
		return "file"
	case device(base):
		return "file-" + name
	}
	return name
}

// shorten cuts a name, and keeps its extension.
func shorten(name string, most int) string {
	if len(name) <= most {
		return name
	}
	ext := path.Ext(name)
	if len(ext) > 12 {
		ext = ""
	}
	keep := most - len(ext)
	for keep > 0 && !utf8.RuneStart(name[keep]) {
		keep--
	}
	return strings.TrimRight(name[:keep], ". ") + ext
}

// device tells whether Windows takes a name for a device, whatever stands behind its dot.
func device(base string) bool {
	switch base {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	return len(base) == 4 && (strings.HasPrefix(base, "com") || strings.HasPrefix(base, "lpt")) && base[3] >= '0' && base[3] <= '9'
}
