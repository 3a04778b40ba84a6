package checked

import "strings"

// Image is a container image reference: [registry[:port]/]path[:tag][@digest], as container engines spell it.
type Image struct{ text string }

// ParseImage accepts what the distribution specification calls a reference. A leading scheme (docker://) is not part of
// one.
func ParseImage(s string) (Image, error) {
	const typ = "image"
	switch {
	case s == "":
		return Image{}, refuse(typ, s, -1, "is empty")
	case len(s) > 512:
		return Image{}, refuse(typ, s, -1, "is longer than 512 characters")
	case strings.Contains(s, "://"):
		return Image{}, refuse(typ, s, strings.Index(s, "://"), "write the image without a scheme")
	}
	name, digest, hasDigest := strings.Cut(s, "@")
	if hasDigest {
		if at, cause := digestTrouble(digest); cause != "" {
			return Image{}, refuse(typ, s, len(name)+1+at, cause)
		}
	}
	slash := strings.LastIndexByte(name, '/')
	if i := strings.LastIndexByte(name, ':'); i > slash {
		if at, cause := tagTrouble(name[i+1:]); cause != "" {
			return Image{}, refuse(typ, s, i+1+at, cause)
		}
		name = name[:i]
	}
	if len(name) > 255 {
		return Image{}, refuse(typ, s, -1, "has a name longer than 255 characters")
	}
	pos := 0
	if i := strings.IndexByte(name, '/'); i >= 0 && isRegistry(name[:i]) {
		if at, cause := registryTrouble(name[:i]); cause != "" {
			return Image{}, refuse(typ, s, at, cause)
		}
		pos = i + 1
	}
	for part := range strings.SplitSeq(name[pos:], "/") {
		if at, cause := partTrouble(part); cause != "" {
			return Image{}, refuse(typ, s, pos+at, cause)
		}
		pos += len(part) + 1
	}
	return Image{s}, nil
}

// isRegistry tells whether engines read the part before the first slash as a registry's host rather than a folder.
func isRegistry(part string) bool {
	return part == "localhost" || strings.ContainsAny(part, ".:[") || part != strings.ToLower(part)
}

func registryTrouble(host string) (at int, cause string) {
	if host[0] == '[' {
		return 0, "a registry is named by host name or IPv4 address"
	}
	name, port, hasPort := strings.Cut(host, ":")
	for i := range len(port) {
		if !digit(port[i]) {
			return len(name) + 1 + i, "a port is a number"
		}
	}
	if hasPort && (port == "" || len(port) > 5) {
		return len(name), "a port is a number up to 65535"
	}
	pos := 0
	for label := range strings.SplitSeq(name, ".") {
		if at, cause := labelTrouble(label); cause != "" {
			return pos + at, cause
		}
		pos += len(label) + 1
	}
	return 0, ""
}

// partTrouble checks one part of the path: lower-case letters and digits with ".", "_", "__" or dashes between them.
func partTrouble(part string) (at int, cause string) {
	if part == "" {
		return 0, "a name between the slashes is missing"
	}
	alnum := func(c byte) bool { return lower(c) || digit(c) }
	for i := 0; i < len(part); {
		c := part[i]
		if alnum(c) {
			i++
			continue
		}
		j := i
		for j < len(part) && part[j] == c {
			j++
		}
		switch {
		case upper(c):
			return i, "an image's path is in lower case"
		case c != '.' && c != '_' && c != '-':
			return i, "only lower-case letters, digits and . _ - are allowed in an image's path"
		case i == 0 || j == len(part):
			return i, "a part of an image's path begins and ends with a letter or digit"
		case c == '.' && j-i > 1, c == '_' && j-i > 2, !alnum(part[j]):
			return i, "separators follow each other"
		}
		i = j
	}
	return 0, ""
}

func tagTrouble(tag string) (at int, cause string) {
	switch {
	case tag == "":
		return -1, "the tag behind the colon is missing"
	case len(tag) > 128:
		return 128, "a tag has at most 128 characters"
	}
	for i := range len(tag) {
		c := tag[i]
		if !lower(c) && !upper(c) && !digit(c) && c != '_' && (i == 0 || c != '.' && c != '-') {
			return i, "only letters, digits and _ . - are allowed in a tag"
		}
	}
	return 0, ""
}

func digestTrouble(digest string) (at int, cause string) {
	algorithm, sum, ok := strings.Cut(digest, ":")
	if !ok {
		return -1, "a digest is an algorithm, a colon and a sum"
	}
	want := 0
	switch algorithm {
	case "sha256":
		want = 64
	case "sha512":
		want = 128
	default:
		return 0, "a digest is sha256 or sha512"
	}
	for i := range len(sum) {
		if c := sum[i]; !digit(c) && (c < 'a' || c > 'f') {
			return len(algorithm) + 1 + i, "a sum is in lower-case hexadecimal"
		}
	}
	if len(sum) != want {
		return len(algorithm), "the sum behind it has the wrong length"
	}
	return 0, ""
}

// String returns the reference, "" for the zero value.
func (i Image) String() string { return i.text }

// IsZero tells whether i was never parsed.
func (i Image) IsZero() bool { return i.text == "" }
