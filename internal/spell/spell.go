// Package spell guesses which of some words was meant by one that is none of them.
//
// It corrects nothing: who asks says what was guessed, and does not act on it.
//
// Failure direction: no guess.
package spell

// longest is how long words are that are compared, in bytes: names of commands, tools and settings are shorter.
const longest = 96

// Nearest returns the candidate that differs least from a word, "" if all differ by more than a slip.
func Nearest(word string, candidates []string) string {
	best, least := "", max(2, min(len(word)/4, 4))+1
	for _, c := range candidates {
		if n := Distance(word, c); n < least && n < len(c) && n < len(word) {
			best, least = c, n
		}
	}
	return best
}

// Distance counts the insertions, deletions, replacements and swaps of neighbours, in bytes, that turn a into b.
func Distance(a, b string) int {
	if len(a) > longest || len(b) > longest {
		return len(a) + len(b)
	}
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := row[j]
			if a[i] != b[j] {
				cost = 1 + min(row[j], row[j+1], next[j])
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				cost = min(cost, before[j-1]+1)
			}
			next[j+1] = cost
		}
		before, row = row, next
	}
	return row[len(b)]
}
