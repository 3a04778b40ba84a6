package hermes_test

import (
	"go/ast"
	"go/token"
	"slices"
	"testing"
)

// Connections out are opened by these, each in its one place: safehttp for the program itself, proxy for sandboxes, the probe to
// find out what a sandbox reaches. Whoever else needs one takes it from them.
var connects = []string{"internal/proxy", "internal/safehttp", "internal/sandbox/probe"}

// What connects, resolves or listens without a package of net being imported for it.
func connectsElsewhere(name string) bool {
	return is("crypto/tls", "log/syslog", "expvar")(name) ||
		below("golang.org/x/net", "golang.org/x/crypto/ssh", "github.com/miekg/dns", "google.golang.org/grpc")(name) &&
			!is("golang.org/x/net/idna", "golang.org/x/net/dns/dnsmessage", "golang.org/x/net/html", "golang.org/x/net/html/atom", "golang.org/x/net/html/charset")(name)
}

// Clients, transports and resolvers that ask no policy. Nobody uses them: not the packages that connect either.
var unguarded = map[string][]string{
	"net/http": {"Get", "Head", "Post", "PostForm", "DefaultClient", "DefaultTransport", "ProxyFromEnvironment"},
	"net":      {"DefaultResolver", "LookupHost", "LookupIP", "LookupAddr", "LookupCNAME", "LookupTXT", "LookupMX", "LookupNS", "LookupSRV", "LookupPort"},
}

// Parts of a client, and who puts them together.
var clientParts = map[string][]string{"net/http": {"Client", "Transport"}, "net": {"Resolver"}}

var makes = map[string][]string{
	"net/http.Client":    {"internal/safehttp"},
	"net/http.Transport": {"internal/safehttp", "internal/proxy"}, // the proxy sends on what a sandbox asked for
	"net.Resolver":       {"internal/safehttp"},
}

// dials are the functions that open a connection.
var dials = map[string][]string{
	"net":        {"Dial", "DialTimeout", "DialTCP", "DialUDP", "DialIP", "DialUnix", "Dialer"},
	"crypto/tls": {"Dial", "DialWithDialer", "Dialer"},
}

// There is one HTTP client, and nobody dials or resolves around it.
func TestOneClient(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range sources(t) {
		for _, name := range s.imports() {
			given := name == "crypto/tls" && s.pkg == "internal/proxy/proof" // speaks TLS over connections that it is given
			if connectsElsewhere(name) && !slices.Contains(connects, s.pkg) && !given {
				t.Errorf("%s imports %s, which opens connections: take them from internal/safehttp", s.name, name)
			}
		}
		s.uses(unguarded, func(name string, pos token.Pos) {
			t.Errorf("%s: %s asks no policy: use internal/safehttp", s.at(pos), name)
		})
		s.uses(clientParts, func(name string, pos token.Pos) {
			switch {
			case slices.Contains(makes[name], s.pkg):
				seen[name] = true
			case composed(s, pos):
				t.Errorf("%s: makes a %s: there is one client, in internal/safehttp", s.at(pos), name)
			}
		})
		s.uses(dials, func(name string, pos token.Pos) {
			if !slices.Contains(connects, s.pkg) {
				t.Errorf("%s: %s: connections are opened in %v", s.at(pos), name, connects)
			}
		})
	}
	for name := range makes {
		if !seen[name] {
			t.Errorf("nobody makes a %s: this test looks for the wrong thing", name)
		}
	}
}

// composed tells whether the name at a position is the type of a value that is made there.
func composed(s source, pos token.Pos) (made bool) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			made = made || n.Type != nil && n.Type.Pos() == pos
		case *ast.CallExpr:
			if fun, ok := n.Fun.(*ast.Ident); ok && fun.Name == "new" && len(n.Args) == 1 {
				made = made || n.Args[0].Pos() == pos
			}
		case *ast.ValueSpec:
			made = made || n.Type != nil && n.Type.Pos() == pos
		}
		return true
	})
	return made
}
