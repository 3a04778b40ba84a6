package environ

import (
	"net/url"
	"strings"
)

// exit points programs at the proxy that is the only way out. Each reads its own variable: curl and git the lower-case ones for
// plain HTTP, most others either, Node and Java one of their own.
func (b *builder) exit() {
	if b.r.Exit == "" {
		return
	}
	set := func(name, value string) {
		b.out[name] = value
		b.note(name, Set, "the sandbox's way out")
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		set(name, b.r.Exit)
		set(strings.ToLower(name), b.r.Exit)
	}
	const inside = "localhost,127.0.0.1,::1"
	set("NO_PROXY", inside)
	set("no_proxy", inside)
	set("NODE_USE_ENV_PROXY", "1")
	if u, err := url.Parse(b.r.Exit); err == nil {
		host, port := u.Hostname(), u.Port()
		options := "-Dhttp.proxyHost=" + host + " -Dhttp.proxyPort=" + port + " -Dhttps.proxyHost=" + host + " -Dhttps.proxyPort=" + port +
			" -Dhttp.nonProxyHosts=localhost|127.0.0.1"
		set("JAVA_TOOL_OPTIONS", strings.TrimSpace(b.out["JAVA_TOOL_OPTIONS"]+" "+options))
	}
}
