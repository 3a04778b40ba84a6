package redact

// Kind names what a mark stands for.
type Kind string

// Kinds found by where they stand, not by how they look.
const (
	kindKnown      Kind = "known"
	kindValue      Kind = "value"
	kindAPIKey     Kind = "api-key"
	kindToken      Kind = "token"
	kindPassword   Kind = "password"
	kindSecret     Kind = "secret"
	kindCookie     Kind = "cookie"
	kindAuth       Kind = "authorization"
	kindURL        Kind = "url-credential"
	kindDSN        Kind = "db-password"
	kindPrivateKey Kind = "private-key"
	kindWebhook    Kind = "webhook-url"
	kindTelegram   Kind = "telegram-token"
	kindStorage    Kind = "storage-key"
	kindPhone      Kind = "phone"
)

const maxKind = 24

// valid says whether k is a kind this package writes. A mark with another kind is ordinary text.
func (k Kind) valid() bool {
	if k.byPlace() || k == kindKnown || k == kindWebhook || k == kindTelegram || k == kindPrivateKey || k == kindStorage {
		return true
	}
	switch k {
	case "jwt", "age-secret-key", "slack-token", "zhipu-key", "discord-token", "terraform-token":
		return true
	}
	for first := range prefixes {
		for _, p := range prefixes[first] {
			if p.kind == k {
				return true
			}
		}
	}
	return false
}

// byPlace says whether a kind tells less than a format would; where both match, the format names the mark.
func (k Kind) byPlace() bool {
	switch k {
	case kindValue, kindAPIKey, kindToken, kindPassword, kindSecret, kindCookie, kindAuth, kindURL, kindDSN, kindPhone:
		return true
	}
	return false
}
