package screen

import "strings"

// Wrap breaks a visible text at its blanks into lines of at most cols columns. All but the first begin with indent. A word that
// is longer than a line is broken where the line ends: nothing is left out.
func Wrap(text string, cols int, indent string) string {
	cols = max(cols, len(indent)+10)
	var out strings.Builder
	used := 0
	for n, word := range strings.Split(text, " ") {
		size := 0
		for _, c := range Cells(word, 0) {
			size += c.Cols
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
		for _, c := range Cells(word, 0) {
			if used+c.Cols > cols {
				out.WriteString(word[at:c.Start] + "\n" + indent)
				at, used = c.Start, len(indent)
			}
			used += c.Cols
		}
		out.WriteString(word[at:])
	}
	return out.String()
}
