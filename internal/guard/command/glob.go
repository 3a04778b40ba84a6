package command

// fnmatch tells whether s matches a shell glob as a whole: * and ? match any bytes, slashes included; [...] is a set.
// It takes time in proportion to the product of the lengths at worst, and never recurses.
func fnmatch(glob, s string) bool {
	g, n := 0, 0
	star, mark := -1, 0
	for n < len(s) {
		if g < len(glob) {
			switch glob[g] {
			case '*':
				star, mark = g, n
				g++
				continue
			case '?':
				g++
				n += runeLen(s[n:])
				continue
			case '[':
				if end := classEnd(glob, g); end > g {
					if inClass(glob[g+1:end], s[n]) {
						g, n = end+1, n+1
						continue
					}
					break
				}
				if s[n] == '[' {
					g, n = g+1, n+1
					continue
				}
			default:
				if glob[g] == s[n] {
					g, n = g+1, n+1
					continue
				}
			}
		}
		if star < 0 {
			return false
		}
		mark++
		g, n = star+1, mark
	}
	for g < len(glob) && glob[g] == '*' {
		g++
	}
	return g == len(glob)
}

func runeLen(s string) int {
	n := 1
	if s[0] >= 0xC0 {
		for n < len(s) && n < 4 && s[n]&0xC0 == 0x80 {
			n++
		}
	}
	return n
}

// classEnd returns the index of the bracket that closes the set opened at k, or k when nothing does.
func classEnd(glob string, k int) int {
	n := k + 1
	if n < len(glob) && (glob[n] == '!' || glob[n] == '^') {
		n++
	}
	if n < len(glob) && glob[n] == ']' {
		n++
	}
	for ; n < len(glob); n++ {
		if glob[n] == ']' {
			return n
		}
	}
	return k
}

// inClass tells whether b is in the set, given without its brackets.
func inClass(set string, b byte) bool {
	not := set != "" && (set[0] == '!' || set[0] == '^')
	if not {
		set = set[1:]
	}
	for k := 0; k < len(set); k++ {
		if k+2 < len(set) && set[k+1] == '-' {
			if set[k] <= b && b <= set[k+2] {
				return !not
			}
			k += 2
			continue
		}
		if set[k] == b {
			return !not
		}
	}
	return not
}
