package winsh

import "strings"

// hasParam reports whether c has the parameter full (lower case, with its dash), cut down to no less than least bytes.
func hasParam(c *Command, full string, least int) bool {
	for _, a := range c.Args {
		if len(a) < 2 || a[0] != '-' {
			continue
		}
		name, v, glued := strings.Cut(a, ":")
		if len(name) >= least && len(name) <= len(full) && strings.EqualFold(name, full[:len(name)]) {
			return !glued || !strings.EqualFold(v, "$false")
		}
	}
	return false
}

// param is the value of a parameter, given whole or cut to at least four bytes.
func param(args []string, full string) (string, bool) {
	for i, a := range args {
		if len(a) < 2 || a[0] != '-' {
			continue
		}
		name, v, glued := strings.Cut(a, ":")
		if len(name) > len(full) || len(name) < min(4, len(full)) || !strings.EqualFold(name, full[:len(name)]) {
			continue
		}
		if glued && v != "" {
			return v, true
		}
		if i+1 < len(args) {
			return args[i+1], true
		}
	}
	return "", false
}

// operands lists c's arguments that are no parameters, and the values of the named ones first, in their order. Values
// of other parameters count as operands too: it is not known here which parameters have one.
func operands(c *Command, named ...string) []string {
	var first, rest []string
	for i := 0; i < len(c.Args); i++ {
		a := c.Args[i]
		if a == "" {
			continue
		}
		if c.Dialect == Cmd && a[0] == '/' && isSwitch(a) {
			continue
		}
		if len(a) < 2 || a[0] != '-' || !isLetter(a[1]) {
			rest = append(rest, a)
			continue
		}
		name, v, glued := strings.Cut(a, ":")
		if ownsWord(name) {
			if !glued || v == "" {
				i++
			}
			continue
		}
		for _, n := range named {
			if len(name) > 1 && len(name) <= len(n) && strings.EqualFold(name, n[:len(name)]) {
				if glued && v != "" {
					first = append(first, v)
				} else if i+1 < len(c.Args) {
					i++
					first = append(first, c.Args[i])
				}
				glued = false
				break
			}
		}
		if glued && v != "" && !strings.HasPrefix(v, "$true") && !strings.HasPrefix(v, "$false") {
			rest = append(rest, v)
		}
	}
	return append(first, rest...)
}

// ownsWord reports whether a parameter has a value that is no operand.
func ownsWord(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "-ea", "-wa", "-infa":
		return true
	}
	for _, full := range [...]string{"-erroraction", "-warningaction", "-informationaction", "-filter", "-include", "-exclude", "-depth"} {
		if len(name) >= 4 && strings.HasPrefix(full, name) {
			return true
		}
	}
	return false
}

// isSwitch reports whether a looks like /s or /a:h and not like a path.
func isSwitch(a string) bool {
	return len(a) > 1 && !strings.ContainsAny(a[1:], `/\`)
}

// has reports whether an argument equals one of the words, in any case.
func has(c *Command, words ...string) bool {
	for _, a := range c.Args {
		for _, w := range words {
			if strings.EqualFold(a, w) {
				return true
			}
		}
	}
	return false
}

// hasPrefix reports whether an argument begins with one of the words, in any case.
func hasPrefix(c *Command, words ...string) bool {
	for _, a := range c.Args {
		for _, w := range words {
			if len(a) >= len(w) && strings.EqualFold(a[:len(w)], w) {
				return true
			}
		}
	}
	return false
}

// mentions reports whether an argument contains one of the words (lower case).
func mentions(c *Command, words ...string) bool {
	for _, a := range c.Args {
		low := strings.ToLower(a)
		for _, w := range words {
			if strings.Contains(low, w) {
				return true
			}
		}
	}
	return false
}

// verb is c's first argument, lower case.
func verb(c *Command) string {
	if len(c.Args) == 0 {
		return ""
	}
	return strings.ToLower(c.Args[0])
}
