package redact

// Classes of bytes. A word is a run of letters, digits, "_" and "-".
const (
	lower uint16 = 1 << iota
	upper
	digit
	under  // _
	hyphen // -
	dot    // .
	equal  // =
	plus   // + and /
	hexLower
	keyTail // last letters of credential names
	afterKey
	space
	stop  // a line may be cut after it
	param // begins parameters of a link, or a telephone number
	pairs // joins the pairs of a form body or the fields of a cookie file

	letter = lower | upper
	alnum  = letter | digit
	word   = alnum | under | hyphen
	base64 = alnum | plus | equal
)

var class = [256]uint16{
	'0': digit | hexLower, '1': digit | hexLower, '2': digit | hexLower, '3': digit | hexLower, '4': digit | hexLower,
	'5': digit | hexLower, '6': digit | hexLower, '7': digit | hexLower, '8': digit | hexLower, '9': digit | hexLower,
	'a': lower | hexLower, 'b': lower | hexLower, 'c': lower | hexLower, 'd': lower | hexLower | keyTail, 'e': lower | hexLower | keyTail, 'f': lower | hexLower,
	'g': lower, 'h': lower | keyTail, 'i': lower, 'j': lower, 'k': lower, 'l': lower | keyTail, 'm': lower, 'n': lower | keyTail, 'o': lower, 'p': lower,
	'q': lower, 'r': lower | keyTail, 's': lower | keyTail, 't': lower | keyTail, 'u': lower, 'v': lower, 'w': lower | keyTail, 'x': lower, 'y': lower | keyTail, 'z': lower,
	'A': upper, 'B': upper, 'C': upper, 'D': upper | keyTail, 'E': upper | keyTail, 'F': upper,
	'G': upper, 'H': upper | keyTail, 'I': upper, 'J': upper, 'K': upper, 'L': upper | keyTail, 'M': upper, 'N': upper | keyTail, 'O': upper, 'P': upper,
	'Q': upper, 'R': upper | keyTail, 'S': upper | keyTail, 'T': upper | keyTail, 'U': upper, 'V': upper, 'W': upper | keyTail, 'X': upper, 'Y': upper | keyTail, 'Z': upper,
	'_': under, '-': hyphen, '.': dot, '=': equal | afterKey | stop, '+': plus | param, '/': plus, '?': param, '#': param,
	':': afterKey | stop, ' ': afterKey | space | stop, '\t': afterKey | space | stop | pairs, '\r': space | stop, '"': afterKey | stop, '\'': afterKey | stop, '\\': afterKey,
	'>': afterKey | stop, ',': stop, ';': stop, '&': stop | pairs, '|': stop, '(': stop, ')': stop, '{': stop, '}': stop, '[': stop, ']': stop, '<': stop,
}

func is(c byte, set uint16) bool { return class[c]&set != 0 }

// run gives the end of the run of set in s from i on.
func run(s string, i int, set uint16) int {
	for i < len(s) && class[s[i]]&set != 0 {
		i++
	}
	return i
}

// has gives the union of the classes in s.
func has(s string) uint16 {
	var u uint16
	for i := 0; i < len(s); i++ {
		u |= class[s[i]]
	}
	return u & (letter | digit | under | hyphen | dot | equal | plus)
}

// only says whether s is not empty and all of set.
func only(s string, set uint16) bool { return s != "" && run(s, 0, set) == len(s) }

// joiner gives the length of what hides inside a token without being seen at s[i]: a control character, a colour
// sequence, a zero-width or direction mark. Newline, tab and blank are no joiners.
func joiner(s string, i int) int {
	switch c := s[i]; {
	case c == 0x1b:
		if i+1 < len(s) && s[i+1] == '[' {
			j := i + 2
			for j < len(s) && j < i+32 && s[j] >= 0x20 && s[j] < 0x40 {
				j++
			}
			if j < len(s) && s[j] >= 0x40 && s[j] < 0x7f {
				return j + 1 - i
			}
		}
		return 1
	case c < 0x20:
		if c == '\n' || c == '\t' {
			return 0
		}
		return 1
	case c == 0x7f:
		return 1
	case c == 0xc2 && i+1 < len(s) && (s[i+1] == 0xad || s[i+1] >= 0x80 && s[i+1] < 0xa0):
		return 2 // soft hyphen, C1 controls
	case c == 0xe2 && i+2 < len(s) && s[i+1] == 0x80 && (s[i+2] >= 0x8b && s[i+2] <= 0x8f || s[i+2] >= 0xaa && s[i+2] <= 0xae):
		return 3 // U+200B..200F, U+202A..202E
	case c == 0xe2 && i+2 < len(s) && s[i+1] == 0x81 && s[i+2] >= 0xa0 && s[i+2] <= 0xaf:
		return 3 // U+2060..206F
	case c == 0xef && i+2 < len(s) && s[i+1] == 0xbb && s[i+2] == 0xbf:
		return 3 // U+FEFF
	case c == 0xf3 && i+3 < len(s) && s[i+1] == 0xa0 && (s[i+2] == 0x80 || s[i+2] == 0x81):
		return 4 // tag characters
	}
	return 0
}
