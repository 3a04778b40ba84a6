package egress

import (
	"fmt"
	"net/url"

	"hermes/internal/guard"
)

// Leaks judges whether a URL that a model wrote would carry a secret away: a parameter that is named like a credential, or a
// text that secret takes for one, as it stands or decoded. A nil secret looks at names only.
func (u URL) Leaks(secret func(text string) bool) guard.Verdict {
	if name, found := u.Credential(); found {
		return leak(fmt.Sprintf("the parameter %s carries a credential", quote(name)))
	}
	if secret == nil {
		return guard.Allowed()
	}
	text := u.String()
	for range 3 {
		if secret(text) {
			return leak("the URL carries a secret")
		}
		next, err := url.PathUnescape(text)
		if err != nil || next == text {
			break
		}
		text = next
	}
	return guard.Allowed()
}

func leak(reason string) guard.Verdict {
	v := refused("url/credential", reason+": secrets do not go into URLs", "leave it out, or send it in a header")
	v.Harms = guard.Leak
	return v
}
