package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"strings"
)

// The mark is no token of any programming language, so nobody takes it for source and "repairs" it, and it has no head or
// tail of the secret. Only marks with a kind of ours count as marks: a text cannot hide a secret by dressing it up as one.
const (
	markOpen  = "⟦secret:"
	markClose = "⟧"
	idDigits  = 4
)

// sum is the keyed hash a mark's id comes from.
func (r *Redactor) sum(value string) []byte {
	h := hmac.New(sha256.New, r.key)
	h.Write([]byte(value))
	return h.Sum(nil)
}

func (r *Redactor) appendMark(dst []byte, k Kind, sum []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, markOpen...)
	dst = append(dst, k...)
	dst = append(dst, ':')
	for i := range idDigits / 2 {
		dst = append(dst, hex[sum[i]>>4], hex[sum[i]&15])
	}
	return append(dst, markClose...)
}

// markAt gives the length of the mark at s[i:], or 0.
func markAt(s string, i int) int {
	if !strings.HasPrefix(s[i:], markOpen) {
		return 0
	}
	j := i + len(markOpen)
	for j < len(s) && (s[j] >= 'a' && s[j] <= 'z' || s[j] >= '0' && s[j] <= '9' || s[j] == '-') {
		j++
	}
	kind := s[i+len(markOpen) : j]
	if kind == "" || len(kind) > maxKind || j >= len(s) || s[j] != ':' {
		return 0
	}
	j++
	for k := 0; k < idDigits; k++ {
		if j >= len(s) || class[s[j]]&hexLower == 0 {
			return 0
		}
		j++
	}
	if !strings.HasPrefix(s[j:], markClose) || !Kind(kind).valid() {
		return 0
	}
	return j + len(markClose) - i
}

// hasMark says whether a mark lies anywhere in s.
func hasMark(s string) bool {
	for i := 0; ; {
		k := strings.Index(s[i:], markOpen)
		if k < 0 {
			return false
		}
		if markAt(s, i+k) > 0 {
			return true
		}
		i += k + len(markOpen)
	}
}

// inMark says whether s[a:b] touches a mark.
func inMark(s string, a, b int) bool {
	from := max(0, a-len(markOpen)-maxKind-idDigits-len(markClose)-1)
	for i := from; i < b; {
		k := strings.Index(s[i:b], markOpen[:3])
		if k < 0 {
			return false
		}
		if n := markAt(s, i+k); n > 0 && i+k+n > a {
			return true
		}
		i += k + 3
	}
	return false
}
