package cli

import "strings"

// wrap breaks a visible text at its blanks into lines of at most cols columns. All but the first begin with indent. A word that
// is longer than a line is broken where the line ends: nothing is left out.
func wrap(text string, cols int, indent string) string {
	cols = max(cols, len(indent)+10)
	var out strings.Builder
	used := 0
	for n, word := range strings.Split(text, " ") {
		size := 0
		for _, c := range cells(word, 0) {
			size += c.cols
		}
		switch {
		case n == 0:
		case used+1+size > cols && used > len(indent):
			out.WriteString("\n" + indent)
			used = len(indent)
		default:
			out.WriteByte(' ')
			used++
		}
		at := 0
		for _, c := range cells(word, 0) {
			if used+c.cols > cols {
				out.WriteString(word[at:c.start] + "\n" + indent)
				at, used = c.start, len(indent)
			}
			used += c.cols
		}
		out.WriteString(word[at:])
	}
	return out.String()
}
