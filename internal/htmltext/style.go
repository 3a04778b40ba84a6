package htmltext

import (
	"math"
	"strconv"
	"strings"
)

// declarations are the properties of one style, by name; later ones count.
type declarations map[string]string

// parseStyle reads what stands in a style attribute or between the braces of a rule.
func parseStyle(text string) declarations {
	var d declarations
	for part := range strings.SplitSeq(plainCSS(text), ";") {
		name, value, found := strings.Cut(part, ":")
		if !found {
			continue
		}
		value, _, _ = strings.Cut(value, "!") // !important
		if name, value = strings.TrimSpace(name), strings.TrimSpace(value); name == "" || value == "" {
			continue
		}
		if d == nil {
			d = declarations{}
		}
		d[name] = value
		if name == "background" {
			d["background-color"] = value
		}
	}
	return d
}

// plainCSS takes comments and escapes out of CSS and folds its case, so that "d\69 splay:/**/NONE" is what it means.
func plainCSS(s string) string {
	if !strings.Contains(s, "/*") && !strings.Contains(s, `\`) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		switch {
		case strings.HasPrefix(s[i:], "/*"):
			end := strings.Index(s[i+2:], "*/")
			if end < 0 {
				return strings.ToLower(b.String())
			}
			i += end + 4
		case s[i] == '\\':
			r, size := cssEscape(s[i+1:])
			if r > 0 {
				b.WriteRune(r)
			}
			i += 1 + size
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	return strings.ToLower(b.String())
}

// cssEscape reads what follows a backslash: up to six hexadecimal digits and a blank, or the character itself.
func cssEscape(s string) (r rune, size int) {
	for size < len(s) && size < 6 && strings.IndexByte("0123456789abcdefABCDEF", s[size]) >= 0 {
		size++
	}
	if size == 0 {
		return 0, 0 // the character behind it is read as it is
	}
	n, _ := strconv.ParseUint(s[:size], 16, 32)
	if size < len(s) && strings.IndexByte(" \t\n\r\f", s[size]) >= 0 {
		size++
	}
	if n == 0 || n > 0x10ffff {
		return 0xfffd, size
	}
	return rune(n), size
}

// hides tells by which property a style hides what it is for, "" if it does not. Colours are compared elsewhere.
func (d declarations) hides() string {
	is := func(name string, values ...string) bool {
		for _, v := range values {
			if d[name] == v {
				return true
			}
		}
		return false
	}
	at := func(name string, most float64) bool { l, ok := length(d[name]); return ok && l <= most }
	clipped := is("overflow", "hidden", "clip") || is("overflow-x", "hidden", "clip") || is("overflow-y", "hidden", "clip")
	switch {
	case len(d) == 0:
		return ""
	case is("display", "none"):
		return "display"
	case is("visibility", "hidden", "collapse"):
		return "visibility"
	case is("content-visibility", "hidden"):
		return "content-visibility"
	case ratio(d["opacity"], 1) <= 0.1, strings.Contains(squeezed(d["filter"]), "opacity(0"):
		return "opacity"
	case at("font-size", 2), tinyFont(d["font"]):
		return "font-size"
	case clear(d["color"]), clear(d["-webkit-text-fill-color"]):
		return "color"
	case at("text-indent", -99):
		return "text-indent"
	case at("margin-left", -500), at("margin-top", -500), at("margin-right", -500):
		return "margin"
	case !is("position", "", "static") && (at("left", -99) || at("top", -99) || at("right", -99) || at("bottom", -99)):
		return "position"
	case clipped && (at("width", 1) || at("height", 1) || at("max-height", 1) || at("max-width", 1)):
		return "overflow"
	case clipsAll(d["clip"]), clipsAll(d["clip-path"]):
		return "clip"
	case movesAway(d["transform"]), movesAway(d["translate"]), movesAway(d["scale"]):
		return "transform"
	}
	return ""
}

// length returns a length in pixels as a browser would show it, roughly; relative ones are taken of a page of common size.
func length(s string) (float64, bool) {
	s = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(squeezed(s), "calc("), ")"))
	end := len(s)
	for end > 0 && (s[end-1] < '0' || s[end-1] > '9') && s[end-1] != '.' {
		end--
	}
	n, err := strconv.ParseFloat(s[:end], 64)
	if err != nil || math.IsNaN(n) {
		return 0, false
	}
	switch s[end:] {
	case "", "px":
		return n, true
	case "pt":
		return n * 4 / 3, true
	case "em", "rem", "ex", "ch", "lh":
		return n * 16, true
	case "%", "vw", "vh", "vmin", "vmax":
		return n * 10, true
	case "cm":
		return n * 38, true
	case "mm":
		return n * 3.8, true
	case "in":
		return n * 96, true
	case "pc":
		return n * 16, true
	}
	return 0, false
}

// tinyFont tells whether the short form of a font makes it too small to be read.
func tinyFont(s string) bool {
	for word := range strings.FieldsSeq(s) {
		size, _, _ := strings.Cut(word, "/")
		if l, ok := length(size); ok && l <= 2 && (size == "0" || strings.TrimRight(size, "0123456789.") != "") {
			return true
		}
	}
	return false
}

// ratio reads a number or a percentage.
func ratio(s string, otherwise float64) float64 {
	if s == "" {
		return otherwise
	}
	n, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	if err != nil {
		return otherwise
	}
	if strings.HasSuffix(s, "%") {
		n /= 100
	}
	return n
}

// clipsAll tells whether a clip leaves nothing.
func clipsAll(s string) bool {
	s = squeezed(s)
	inner, found := strings.CutSuffix(s, ")")
	if !found {
		return false
	}
	kind, inner, _ := strings.Cut(inner, "(")
	switch kind {
	case "rect":
		for _, side := range strings.FieldsFunc(inner, func(r rune) bool { return r == ',' || r == ' ' }) {
			if l, ok := length(side); !ok || l > 1 {
				return false
			}
		}
		return true
	case "inset":
		first, _, _ := strings.Cut(inner, " ")
		return strings.HasSuffix(first, "%") && ratio(first, 0) >= 0.5
	case "circle", "ellipse":
		return strings.HasPrefix(inner, "0")
	}
	return false
}

// movesAway tells whether a transformation takes something off the page, or makes nothing of it.
func movesAway(s string) bool {
	s = squeezed(s)
	if s == "0" || strings.Contains(s, "scale(0)") || strings.Contains(s, "scale(0,") || strings.Contains(s, "scalex(0)") || strings.Contains(s, "scaley(0)") {
		return true
	}
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune("(), ", r) }) {
		if l, ok := length(part); ok && l <= -1000 {
			return true
		}
	}
	return false
}

// squeezed leaves one blank where there are more, and none around commas and brackets.
func squeezed(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	for _, mark := range [...]string{",", "(", ")"} {
		s = strings.ReplaceAll(strings.ReplaceAll(s, " "+mark, mark), mark+" ", mark)
	}
	return s
}
