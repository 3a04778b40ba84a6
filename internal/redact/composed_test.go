package redact

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestComposed joins pieces that matter to the redactor in random order, always the same: keys without values, values
// without keys, halves of tokens, marks, joiners, quotes, frames of keys.
func TestComposed(t *testing.T) {
	pieces := []string{
		" ", " ", "\n", "\n", "\r\n", "\t", "=", "=", ":", ": ", "\"", "'", "`", `\"`, `\\\"`, "&", ";", ",", "?", "#", "@", "/", "://", ".", "-", "_", "--", "(", ")", "{", "}", "<", ">", "$",
		"\x1b[31m", "\x1b[0m", "\x1b", "\x00", "\u200b", "\ufeff", "é", "⟦", "⟧", "⟦secret:", "⟦secret:known:00ff⟧", "⟦secret:token:12ab⟧", "⟦secret:fake:12ab⟧", "\xe2", "\xe2\x9f",
		"token", "password", "API_KEY", "api_key", "db.password", "secret", "clientSecret", "Authorization", "Bearer ", "Basic ", "Cookie", "x-api-key", "export ", "login ", "machine x ", "--password ",
		"ghp_", "sk-", "sk-proj-", "eyJ", "AKIA", "xoxb-", "glpat-", "SG.", "ya29.", "bot", "12345678", "0123456789", "abcdefghijklm", "aB3dE6gH9jK2mN5pQ8rS", "3f9a1c7e5b2d8046af13ce97d0b4825e", "AA",
		"-----BEGIN RSA PRIVATE" + " KEY-----", "-----END RSA PRIVATE" + " KEY-----", key64, "postgres", "https", "user:pw", "longtoken1234567", "hunter2hunter2", "hunter2", "aHVudGVyMmh1bnRlcjI", "true", "x", "os.getenv('X')",
	}
	rng := rand.New(rand.NewPCG(7, 7))
	for range 6000 {
		var b strings.Builder
		for range 1 + rng.IntN(14) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		text := b.String()
		checkInvariants(t, text)
		for _, m := range []Mode{Text, Strict, Off} {
			r := testRedactor(m)
			whole := r.String(text)
			checkStream(t, r, text, whole, rng.IntN(len(text)+1), rng.IntN(len(text)+1)+len(text)/2)
			every := make([]int, len(text))
			for i := range every {
				every[i] = i
			}
			checkStream(t, r, text, whole, every...)
		}
	}
}
