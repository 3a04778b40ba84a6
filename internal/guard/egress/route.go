package egress

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"hermes/internal/guard"
)

// Request is what a client of the egress proxy wants to reach.
type Request struct {
	Method string // CONNECT, that of a plain request, or Resolve
	Host   string // as the client wrote it, an IPv6 address without brackets
	Port   uint16 // 0 for a look-up
	Path   string // of a plain request, with its query
}

// Methods of a Request that are no plain request.
const (
	Tunnel  = "CONNECT"
	Resolve = "DNS"
)

// String returns the host and port as a person would write them.
func (q Request) String() string {
	host := q.Host
	if a, err := netip.ParseAddr(host); err == nil && a.Is6() { // what could not be read may hold colons, too
		host = "[" + host + "]"
	}
	if q.Port == 0 {
		return host
	}
	return fmt.Sprintf("%s:%d", host, q.Port)
}

// Ruling is what is said of a request before any name is looked up. The zero Ruling refuses.
type Ruling struct {
	Verdict guard.Verdict // Ask: refused, unless a person says otherwise
	Host    Host          // what is looked up, dialled, and compared with the name in TLS
	Opaque  bool          // a tunnel may carry anything, not only TLS that names Host
	ECH     bool          // a TLS hello may hold an encrypted one
	Entry   string        // what the list would have to hold for it, where it could
}

// Routes is the allow-list of a sandbox: where its commands may go. The zero Routes allows nothing. It is immutable and safe
// for concurrent use.
type Routes struct {
	ech      bool
	entries  []string           // as they were written
	exact    map[string][]route // by host
	suffixes map[string][]route // by the domain behind "*."
	networks []route
}

// route is one entry.
type route struct {
	prefix  netip.Prefix // of a network
	port    uint16       // 0: 443 for tunnels, 80 for plain requests
	kind    kind
	methods []string // of plain requests; nil: all
	path    string   // of plain requests; "": all
	below   bool     // path is a beginning
}

// kind says what an entry is for.
type kind uint8

const (
	both      kind = iota // TLS in a tunnel, and plain requests
	tls                   // https://
	plainHTTP             // http://
	opaque                // tcp://, or a port that is not one of the web's
)

// RouteError says which entry of an allow-list cannot be used.
type RouteError struct {
	Entry string
	Err   error
}

func (e *RouteError) Error() string {
	return fmt.Sprintf("allow-list entry %s: %v", quote(e.Entry), e.Err)
}
func (e *RouteError) Unwrap() error { return e.Err }

// ParseRoutes reads an allow-list. An entry is
//
//	example.org                    HTTPS on port 443, plain HTTP on port 80
//	*.example.org                  the same for every name below it, not for itself
//	example.org:8443               that port; other than 80, 443 and 8443, whatever is spoken there
//	https://… http://… tcp://…     only TLS; only plain HTTP; anything
//	GET,HEAD http://example.org/pool/*   plain HTTP with these methods, below this path
//	192.0.2.7  192.0.2.0/24  [2001:db8::]/32:443   addresses
//
// An entry that cannot be used is left out, which allows less, and told.
func ParseRoutes(entries []string) (Routes, []error) {
	r := Routes{exact: map[string][]route{}, suffixes: map[string][]route{}, entries: slices.Clip(slices.Clone(entries))}
	var problems []error
	for _, entry := range entries {
		if err := r.add(entry); err != nil {
			problems = append(problems, &RouteError{entry, err})
		}
	}
	return r, problems
}

// WithECH returns the list with encrypted TLS hellos allowed: the name in them can then not be compared.
func (r Routes) WithECH() Routes {
	r.ech = true
	return r
}

// Empty tells whether nothing is allowed.
func (r Routes) Empty() bool { return len(r.exact)+len(r.suffixes)+len(r.networks) == 0 }

func (r *Routes) add(entry string) error {
	text := strings.TrimSpace(entry)
	var one route
	if methods, rest, found := strings.Cut(text, " "); found {
		text = strings.TrimSpace(rest)
		for _, m := range strings.Split(methods, ",") {
			if m == "" || strings.ToUpper(m) != m || m == Tunnel {
				return fmt.Errorf("%q is no list of methods such as GET,HEAD", methods)
			}
			one.methods = append(one.methods, m)
		}
	}
	if scheme, rest, found := strings.Cut(text, "://"); found {
		text = rest
		switch strings.ToLower(scheme) {
		case "https":
			one.kind = tls
		case "http":
			one.kind = plainHTTP
		case "tcp":
			one.kind = opaque
		default:
			return fmt.Errorf("scheme %q is none of https, http, tcp", scheme)
		}
	}
	if at := strings.IndexByte(text, '/'); at >= 0 && !network(text) {
		text, one.path = text[:at], text[at:]
		if err := one.checkPath(); err != nil {
			return err
		}
	}
	if (one.methods != nil || one.path != "" && one.path != "/") && one.kind != plainHTTP {
		return errors.New("methods and paths can only be told apart in plain requests: begin with http://")
	}
	return r.place(text, one)
}

// network tells whether a text is an address with the length of a network behind it.
func network(text string) bool {
	_, err := cutNetwork(text)
	return err == nil
}

// cutNetwork reads "192.0.2.0/24", "[2001:db8::]/32" and the same with a port, which it leaves out.
func cutNetwork(text string) (netip.Prefix, error) {
	addr, bits, found := strings.Cut(text, "/")
	if !found {
		return netip.Prefix{}, errors.New("no network")
	}
	bits, _, _ = strings.Cut(bits, ":")
	return netip.ParsePrefix(strings.Trim(addr, "[]") + "/" + bits)
}

// checkPath reads the path of an entry.
func (one *route) checkPath() error {
	if one.path == "/" {
		one.path = ""
	}
	one.path, one.below = strings.CutSuffix(one.path, "*")
	if strings.ContainsAny(one.path, "*?#%\\") || slices.Contains(strings.Split(one.path, "/"), "..") {
		return fmt.Errorf("path %q: only a * at its end stands for more", one.path)
	}
	return nil
}

// place adds a route under its host.
func (r *Routes) place(text string, one route) error {
	if p, err := cutNetwork(text); err == nil {
		if rest := text[strings.IndexByte(text, '/'):]; strings.Contains(rest, ":") {
			if _, one.port, err = cutPort("x" + rest[strings.IndexByte(rest, ':'):]); err != nil {
				return err
			}
		}
		one.prefix = p.Masked()
		return r.placeNetwork(one)
	}
	below := strings.HasPrefix(text, "*.")
	target, port, err := cutPort(strings.TrimPrefix(text, "*."))
	if err != nil {
		return err
	}
	one.port = port
	if a, err := netip.ParseAddr(target); err == nil && !below {
		one.prefix = netip.PrefixFrom(a.Unmap().WithZone(""), a.Unmap().BitLen())
		if a.Zone() != "" {
			return errors.New("an address bound to an interface is never reached")
		}
		return r.placeNetwork(one)
	}
	h, err := ParseHost(target)
	switch {
	case err != nil:
		return err
	case floorName(h.Name()):
		return errors.New("names what hands out the credentials of machines, and is never reached")
	case localhost(h):
		return errors.New("is this machine itself, and is never reached")
	case below && !strings.Contains(h.Name(), "."):
		return errors.New("a whole top-level domain is no allow-list")
	}
	one.settle()
	if below {
		r.suffixes[h.Name()] = append(r.suffixes[h.Name()], one)
	} else {
		r.exact[h.Name()] = append(r.exact[h.Name()], one)
	}
	return nil
}

// settle decides what a port without a scheme is for.
func (one *route) settle() {
	if one.kind == both && one.port != 0 && one.port != 80 && one.port != 443 && one.port != 8443 {
		one.kind = opaque
	}
}

func (r *Routes) placeNetwork(one route) error {
	may := func(c Class) bool { return c == Public || c.exceptional() }
	if err := overlap(one.prefix, may); err != nil {
		return err
	}
	one.settle()
	r.networks = append(r.networks, one)
	return nil
}

// Judge judges a request before any name is looked up. What is not listed is Ask: a person may allow it; what no person can
// allow is Block.
func (r Routes) Judge(q Request) Ruling {
	host := q.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	h, err := ParseHost(host)
	if err != nil {
		return Ruling{Verdict: verdict(err)}
	}
	if v := never(h); v.Action != guard.Allow {
		return Ruling{Host: h, Verdict: v}
	}
	var odd string
	for _, one := range r.of(h) {
		switch {
		case !one.allows(q):
		case one.path != "" && oddPath(q.Path) != "":
			odd = oddPath(q.Path)
		default:
			return Ruling{Verdict: guard.Allowed(), Host: h, ECH: r.ech, Opaque: one.kind == opaque}
		}
	}
	if odd != "" {
		return Ruling{Host: h, Verdict: refused("egress/path", odd, "")}
	}
	entry := listed(h, q)
	reason := q.String() + " is not on the allow-list of this sandbox"
	if r.others(h, q) {
		path, _, _ := strings.Cut(q.Path, "?")
		reason = fmt.Sprintf("%s is on the allow-list of this sandbox for other requests, not for %s %s", q, q.Method, quote(path))
	}
	v := refused("egress/unlisted", reason, r.adding(entry))
	v.Action = guard.Ask
	one := route{port: q.Port} // what the entry would be
	one.settle()
	return Ruling{Host: h, Verdict: v, Entry: entry, Opaque: one.kind == opaque}
}

// others tells whether plain requests to where q goes are listed, if with other methods or other paths.
func (r Routes) others(h Host, q Request) bool {
	if q.Method == Tunnel || q.Method == Resolve {
		return false
	}
	return slices.ContainsFunc(r.of(h), func(one route) bool {
		one.methods, one.path, one.below = nil, "", false
		return one.allows(q)
	})
}

// adding says how to put one more entry on the list.
func (r Routes) adding(entry string) string {
	var list strings.Builder
	e := json.NewEncoder(&list)
	e.SetEscapeHTML(false)
	if err := e.Encode(append(r.entries, entry)); err != nil || strings.Contains(list.String(), "'") {
		return "to allow it for good, add " + quote(entry) + " to " + keyRoutes
	}
	return "to allow it for good, add it to the list: hermes config set " + keyRoutes + " '" + strings.TrimSpace(list.String()) + "'"
}

// keyRoutes is the setting of the allow-list.
const keyRoutes = "terminal.network_allow"

// never refuses what no list can hold.
func never(h Host) guard.Verdict {
	if floorName(h.Name()) {
		return floor("host/metadata", h.Name()+" hands out the credentials of machines: no setting allows it")
	}
	if a, ok := h.Addr(); ok {
		for _, at := range [...]netip.Addr{a, classify(a).Inner} {
			if !at.IsValid() {
				continue
			}
			if c := classify(at).Class; c.Floor() || c == Loopback || c == Unspecified {
				return floor("address/"+c.String(), fmt.Sprintf("%s is a %s address: no setting allows it", h, c))
			}
		}
	}
	if localhost(h) {
		return floor("address/"+Loopback.String(), h.Name()+" is this machine itself: no setting allows it")
	}
	return guard.Allowed()
}

// localhost tells whether a name is this machine's, by itself.
func localhost(h Host) bool {
	return under(h.Name(), "localhost")
}

// home tells whether an address, or the one inside it, is this machine's own. What listens there trusts whoever reaches it, and a
// sandbox is no part of the machine: not even a setting that opens it to web tools opens it to a sandbox.
func home(a netip.Addr) bool {
	for _, at := range [...]netip.Addr{a, classify(a).Inner} {
		if c := classify(at).Class; at.IsValid() && (c == Loopback || c == Unspecified) {
			return true
		}
	}
	return false
}

// listed is how the allow-list would have to name a request's end.
func listed(h Host, q Request) string {
	if q.Port == 0 || q.Port == 443 && q.Method == Tunnel || q.Port == 80 && q.Method != Tunnel {
		return h.inURL()
	}
	return fmt.Sprintf("%s:%d", h.inURL(), q.Port)
}

// of returns the entries for a host: those of its name, of the domains above it, or of the networks it is in.
func (r Routes) of(h Host) []route {
	if a, ok := h.Addr(); ok {
		var out []route
		for _, one := range r.networks {
			if one.prefix.Contains(a.Unmap()) {
				out = append(out, one)
			}
		}
		return out
	}
	out := r.exact[h.Name()]
	for name := h.Name(); ; {
		_, above, found := strings.Cut(name, ".")
		if !found {
			return out
		}
		if more := r.suffixes[above]; more != nil {
			out = append(out[:len(out):len(out)], more...)
		}
		name = above
	}
}

// allows tells whether an entry of the request's host allows it.
func (one route) allows(q Request) bool {
	switch q.Method {
	case Resolve:
		return true
	case Tunnel:
		return one.kind != plainHTTP && one.at(q.Port, 443)
	}
	if one.kind == opaque {
		return one.at(q.Port, 443) // whatever is spoken there: a tunnel could carry the request as well
	}
	if one.kind == tls || !one.at(q.Port, 80) {
		return false
	}
	if one.methods != nil && !slices.Contains(one.methods, q.Method) {
		return false
	}
	path, _, _ := strings.Cut(q.Path, "?")
	if one.below {
		return strings.HasPrefix(path, one.path)
	}
	return one.path == "" || path == one.path
}

func (one route) at(port, otherwise uint16) bool {
	if one.port == 0 {
		return port == otherwise
	}
	return port == one.port
}

// oddPath says what makes a path one that servers may read as another.
func oddPath(path string) string {
	path, _, _ = strings.Cut(path, "?")
	lower := strings.ReplaceAll(strings.ToLower(path), "%2e", ".")
	for part := range strings.SplitSeq(lower, "/") {
		if part == "." || part == ".." || strings.HasPrefix(part, "..;") {
			return "the path has . or .. in it"
		}
	}
	for _, odd := range [...]string{"\\", "%5c", "%2f", "%00"} {
		if strings.Contains(lower, odd) {
			return fmt.Sprintf("the path has %s in it, which servers read in different ways", odd)
		}
	}
	return ""
}

// Exit is what a sandbox may reach: the hosts of its list, at addresses that the policy for the whole program allows too. It
// never changes and is safe for concurrent use. The zero Exit refuses everything.
type Exit struct {
	Routes Routes
	Policy *Policy
	Open   bool // every public host is listed; addresses and sites are judged all the same
}

// Judge judges a request before any name is looked up.
func (e Exit) Judge(q Request) Ruling {
	r := e.Routes.Judge(q)
	if e.Open && r.Verdict.Action == guard.Ask {
		r.Verdict, r.Opaque = guard.Allowed(), true
	}
	// An address that only the list can name is no question: whoever said yes would see it refused when it is dialled.
	if a, ok := r.Host.Addr(); ok && r.Verdict.Action == guard.Ask {
		if v := e.Answers(r.Host, q.Port, []netip.Addr{a}); v.Action != guard.Allow {
			v.Action, v.Remedy = guard.Block, r.Verdict.Remedy
			r.Verdict = v
		}
	}
	if r.Verdict.Action != guard.Allow {
		return r
	}
	if e.Policy == nil {
		r.Verdict = refused("policy", "no policy is in force", "")
	} else if v := e.Policy.sites.check(r.Host); v.Action != guard.Allow {
		r.Verdict = v
	}
	return r
}

// Answers judges the addresses of a host that Judge allowed, just before one of them is dialled. All have to pass: a name does
// not mix a permitted address with a forbidden one. Port 0 is a look-up.
func (e Exit) Answers(h Host, port uint16, addrs []netip.Addr) guard.Verdict {
	if e.Policy == nil {
		return refused("policy", "no policy is in force", "")
	}
	if len(addrs) == 0 {
		return refused("dns", h.String()+": DNS resolution failed, it has no address", "")
	}
	if v := never(h); v.Action != guard.Allow {
		return v
	}
	if a, ok := h.Addr(); ok && len(addrs) == 1 && a == addrs[0] && len(e.Routes.of(h)) > 0 {
		return guard.Allowed() // the owner's list names the address itself
	}
	t := Target{Scheme: "https", Host: h, Port: port}
	for _, a := range addrs {
		if home(a) {
			return floor("address/"+Loopback.String(), fmt.Sprintf("%s -> %s is this machine itself: no setting lets a sandbox reach it", h, a))
		}
		_, literal := h.Addr()
		if v := e.Policy.address(t, a, literal); v.Action != guard.Allow {
			return v
		}
	}
	return guard.Allowed()
}
