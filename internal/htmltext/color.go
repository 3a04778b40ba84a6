package htmltext

import (
	"strconv"
	"strings"
)

// rgb is a colour; alpha 0 shows nothing.
type rgb struct{ r, g, b, alpha float64 }

var white = rgb{255, 255, 255, 1}

// near tells whether text in one colour cannot be read on the other.
func (a rgb) near(b rgb) bool {
	d := func(x, y float64) float64 { return (x - y) * (x - y) }
	return d(a.r, b.r)+d(a.g, b.g)+d(a.b, b.b) <= 24*24
}

// clear tells whether a colour lets everything shine through.
func clear(s string) bool {
	c, ok := parseColor(s)
	return ok && c.alpha <= 0.05
}

// parseColor reads the colours that are written in full, and the names that hide text or stand behind it.
func parseColor(s string) (rgb, bool) {
	s = squeezed(s)
	switch s {
	case "transparent":
		return rgb{}, true
	case "white":
		return white, true
	case "snow", "ghostwhite", "ivory", "floralwhite", "whitesmoke", "azure", "mintcream":
		return rgb{250, 250, 250, 1}, true
	case "black":
		return rgb{0, 0, 0, 1}, true
	}
	if digits, ok := strings.CutPrefix(s, "#"); ok {
		return hexColor(digits)
	}
	for _, form := range [...]string{"rgba(", "rgb("} {
		inner, ok := strings.CutPrefix(s, form)
		if !ok {
			continue
		}
		inner, _, _ = strings.Cut(inner, ")")
		parts := strings.FieldsFunc(inner, func(r rune) bool { return r == ',' || r == ' ' || r == '/' })
		if len(parts) < 3 {
			return rgb{}, false
		}
		c := rgb{channel(parts[0]), channel(parts[1]), channel(parts[2]), 1}
		if len(parts) > 3 {
			c.alpha = ratio(parts[3], 1)
		}
		return c, true
	}
	// The short form of a background has a colour somewhere.
	for word := range strings.FieldsSeq(s) {
		if word != s {
			if c, ok := parseColor(word); ok {
				return c, true
			}
		}
	}
	return rgb{}, false
}

func channel(s string) float64 {
	if strings.HasSuffix(s, "%") {
		return ratio(s, 0) * 255
	}
	return ratio(s, 0)
}

func hexColor(digits string) (rgb, bool) {
	if len(digits) == 3 || len(digits) == 4 {
		var long strings.Builder
		for i := range len(digits) {
			long.WriteByte(digits[i])
			long.WriteByte(digits[i])
		}
		digits = long.String()
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || len(digits) != 6 && len(digits) != 8 {
		return rgb{}, false
	}
	alpha := 1.0
	if len(digits) == 8 {
		alpha = float64(n&0xff) / 255
		n >>= 8
	}
	return rgb{float64(n >> 16 & 0xff), float64(n >> 8 & 0xff), float64(n & 0xff), alpha}, true
}
