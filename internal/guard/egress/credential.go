package egress

import (
	"net/url"
	"strings"
)

// credentialName tells whether a parameter of this name carries a credential. Names that ordinary pages use for other things
// (code, key, auth, session, sig) are left out on purpose.
func credentialName(name string) bool {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "access_token", "api_key", "apikey", "auth_token", "authorization", "awsaccesskeyid", "client_secret", "credential",
		"credentials", "jwt", "password", "passwd", "secret", "session_id", "signature", "token", "x_amz_security_token",
		"x_amz_signature", "x-amz-security-token", "x-amz-signature":
		return true
	}
	return false
}

// Credential looks for a credential in a URL that somebody is about to hand to others: a parameter whose name says so, in the
// query, the fragment or the path. It returns the name as it is written.
//
// It is for URLs that a model wrote. Redirects and links of a platform carry signatures that are theirs.
func (u URL) Credential() (name string, found bool) {
	tail, fragment, _ := strings.Cut(u.tail, "#")
	path, query, _ := strings.Cut(tail, "?")
	for _, part := range [...]string{query, strings.TrimLeft(fragment, "?!/"), path} {
		for field := range strings.FieldsFuncSeq(part, func(r rune) bool { return strings.ContainsRune("&;/?", r) }) {
			name, value, _ := strings.Cut(field, "=")
			if value != "" && (credentialName(name) || credentialName(decoded(name))) {
				return name, true
			}
		}
	}
	return "", false
}

// decoded undoes percent-encoding, also where it was done twice.
func decoded(s string) string {
	for range 3 {
		next, err := url.QueryUnescape(s)
		if err != nil || next == s {
			break
		}
		s = next
	}
	return s
}
