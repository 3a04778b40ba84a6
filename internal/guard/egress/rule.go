package egress

import (
	"errors"
	"path"
	"strings"
)

// parseRule brings a rule of the site policy into the form it is matched in: folded like the hosts of URLs, without scheme,
// user, port, path, final dot and "www.". A blank or a comment is no rule: "" and no error.
func parseRule(text string) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" || text[0] == '#' {
		return "", nil
	}
	if _, rest, found := strings.Cut(text, "://"); found {
		text = rest
	}
	if cut := strings.IndexAny(text, "/?#\\"); cut >= 0 && !strings.HasPrefix(text, "*.") {
		text = text[:cut]
	} else if cut := strings.IndexAny(text, "/#\\"); cut >= 0 {
		text = text[:cut]
	}
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		text = text[at+1:]
	}
	text = cutRulePort(strings.TrimSpace(text))
	if inner, ok := strings.CutPrefix(text, "["); ok && !strings.HasPrefix(text, "*.") {
		text = strings.TrimSuffix(inner, "]")
	}
	if a, err := parseNetwork(text); err == nil && a.IsSingleIP() {
		return a.Addr().String(), nil
	}
	text = strings.TrimRight(strings.TrimSpace(text), ".")
	if rest, ok := strings.CutPrefix(text, "*."); ok {
		return globRule(rest)
	}
	if text == "" {
		return "", nil
	}
	name, err := fold(text)
	if err != nil {
		return "", errors.New("is no host name")
	}
	name = strings.TrimPrefix(name, "www.")
	return name, nil
}

// cutRulePort takes a port off. An IPv6 address without brackets keeps its colons.
func cutRulePort(text string) string {
	at := strings.LastIndexByte(text, ':')
	if at < 0 || strings.Count(text, ":") > 1 && !strings.Contains(text, "]:") {
		return text
	}
	return text[:at]
}

// globRule folds what stands after "*." where no sign of a glob is in the way.
func globRule(rest string) (string, error) {
	if !strings.ContainsAny(rest, "*?[") {
		name, err := fold(rest)
		if err != nil {
			return "", errors.New("is no host name after its star")
		}
		return "*." + name, nil
	}
	rule := "*." + strings.ReplaceAll(strings.ToLower(rest), "[!", "[^")
	if _, err := path.Match(rule, ""); err != nil {
		return "", errors.New("is no glob")
	}
	for _, label := range strings.Split(rest, ".") {
		if strings.ContainsFunc(label, func(r rune) bool { return r >= 0x80 }) {
			return "", errors.New("mixes a glob with a name in another script, which has to be written as xn--")
		}
	}
	return rule, nil
}
