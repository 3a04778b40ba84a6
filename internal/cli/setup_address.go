package cli

import (
	"net/netip"
	"net/url"
	"strings"
)

// address asks for a provider's address until it is one.
func (w *wizard) address() (string, error) {
	for {
		text, err := w.line("Its address, often ending in /v1 (https://HOST/v1): ")
		switch {
		case err != nil:
			return "", err
		case text == "":
			return "", errLeft
		}
		whole, ok := completed(text)
		if !ok {
			w.say("An address begins with https://, or http:// on this machine, and names a host.")
			continue
		}
		if whole != text {
			w.say("That is " + whole + ".")
		}
		return whole, nil
	}
}

// completed returns an address with its scheme: what has none is spoken to in clear on this machine only.
func completed(text string) (string, bool) {
	if !strings.Contains(text, "://") {
		scheme := "https://"
		if u, err := url.Parse("http://" + text); err == nil && isHere(u.Hostname()) {
			scheme = "http://"
		}
		text = scheme + text
	}
	u, err := url.Parse(text)
	ok := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && !strings.ContainsAny(text, " \t")
	return text, ok
}

func isHere(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// keyOf is the variable that holds the key of a provider of one's own.
func keyOf(service string) string {
	return strings.ToUpper(strings.ReplaceAll(service, "-", "_")) + "_API_KEY"
}
