package egress

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math/bits"
	"path"
	"strings"

	"hermes/internal/guard"
)

// Sites are the sites that the owner has blocked. A value never changes and is safe for concurrent use. The nil value refuses
// every site; NoSites, the policy of an owner who blocks none, refuses none.
type Sites struct {
	off    bool
	broken string   // why no list can be trusted: every site is refused
	arena  []byte   // each entry: number of its source, kind, length, name
	table  []uint64 // open addressing: half a hash, and a place in arena plus one; 0 for empty
	depth  int      // the most dots that an entry has
	seed   uint64
	count  int
	globs  []glob
	source []string
	parts  []*Sites // lists that hold together, each with its own table
}

type glob struct {
	pattern string
	source  int
}

// What an entry blocks.
const (
	wholeDomain byte = iota // the name and all below it
	onlyBelow               // all below the name
)

// NoSites returns the policy that blocks no site.
func NoSites() *Sites { return &Sites{off: true} }

// BrokenSites returns the policy of a list that could not be read and never was: every site is refused.
func BrokenSites(cause string) *Sites { return &Sites{broken: cause} }

// JoinSites returns the policy that blocks what any of the parts blocks, and refuses all if one of them does.
func JoinSites(parts ...*Sites) *Sites {
	s := &Sites{off: true}
	for _, p := range parts {
		switch {
		case p == nil:
			return nil
		case p.broken != "":
			return p
		case !p.off:
			s.off, s.parts = false, append(s.parts, p)
		}
	}
	return s
}

// Len returns how many rules there are.
func (s *Sites) Len() int {
	if s == nil {
		return 0
	}
	n := s.count + len(s.globs)
	for _, p := range s.parts {
		n += p.Len()
	}
	return n
}

// Block is a site that is blocked, and by what.
type Block struct {
	Host, Rule, Source string
}

func (b Block) String() string {
	return fmt.Sprintf("Blocked by website policy: '%s' matched rule '%s' from %s", b.Host, b.Rule, b.Source)
}

// check judges a host.
func (s *Sites) check(h Host) guard.Verdict {
	switch {
	case s == nil:
		return refused("site/unloaded", "the list of blocked sites was not loaded ("+keySites+")", "")
	case s.broken != "":
		return refused("site/unreadable", "the list of blocked sites cannot be read, so no site is reached ("+keySites+"): "+s.broken,
			"mend the file, or take it out of "+keySites+".shared_files")
	case s.off:
		return guard.Allowed()
	}
	if b, blocked := s.Match(h); blocked {
		return refused("site/blocked", b.String(), "")
	}
	return guard.Allowed()
}

// Match tells whether a host is blocked, and by which rule. It allocates only when it is.
func (s *Sites) Match(h Host) (Block, bool) {
	if s == nil || s.off {
		return Block{}, false
	}
	for _, p := range s.parts {
		if b, blocked := p.Match(h); blocked {
			return b, true
		}
	}
	if h.Name() == "" {
		return s.matchAddr(h.String())
	}
	return s.match(h.Name())
}

// matchAddr matches an address: there are no domains above it.
func (s *Sites) matchAddr(text string) (Block, bool) {
	if len(s.table) == 0 {
		return Block{}, false
	}
	if kind, source, ok := s.find(text, s.hash(text)); ok && kind == wholeDomain {
		return Block{text, text, s.source[source]}, true
	}
	return Block{}, false
}

func (s *Sites) hash(name string) uint64 {
	hash := s.seed
	for i := len(name) - 1; i >= 0; i-- {
		hash = step(hash, name[i])
	}
	return hash
}

func (s *Sites) match(host string) (Block, bool) {
	if len(s.table) > 0 {
		hash, dots := s.seed, 0
		for i := len(host) - 1; i >= 0 && dots <= s.depth; i-- {
			if host[i] == '.' {
				dots++
			}
			if hash = step(hash, host[i]); i > 0 && host[i-1] != '.' {
				continue
			}
			if kind, source, ok := s.find(host[i:], hash); ok && (kind == wholeDomain || i > 0) {
				rule := host[i:]
				if kind == onlyBelow {
					rule = "*." + rule
				}
				return Block{strings.Clone(host), strings.Clone(rule), s.source[source]}, true
			}
		}
	}
	for _, g := range s.globs {
		if ok, err := path.Match(g.pattern, host); ok || err != nil {
			return Block{strings.Clone(host), g.pattern, s.source[g.source]}, true
		}
	}
	return Block{}, false
}

// step takes one more byte, from the end of the name towards its beginning, so that the hash of each domain above a name is
// passed on the way to the hash of the name.
func step(hash uint64, c byte) uint64 { return (hash ^ uint64(c)) * 0x100000001b3 }

// spread mixes a hash. Its upper bits choose a place in the table, its lower half is kept there.
func spread(hash uint64) uint64 {
	hash ^= hash >> 32
	return hash * 0x9e3779b97f4a7c15
}

// first returns where the search for a spread hash begins in a table of a power of two.
func first(hash uint64, size int) int { return int(hash >> (64 - bits.Len(uint(size-1)))) }

// find looks a name up whose hash is known.
func (s *Sites) find(name string, hash uint64) (kind byte, source int, found bool) {
	hash = spread(hash)
	mask := len(s.table) - 1
	for at := first(hash, len(s.table)); ; at = (at + 1) & mask {
		slot := s.table[at]
		if slot == 0 {
			return 0, 0, false
		}
		if slot>>32 != hash&0xffffffff {
			continue
		}
		entry := s.arena[uint32(slot)-1:]
		if n := int(entry[2]); n == len(name) && string(entry[3:3+n]) == name {
			return entry[1], int(entry[0]), true
		}
	}
}

// Builder collects rules. It is not safe for concurrent use.
type Builder struct {
	sites  Sites
	places []uint32
	known  map[string]int
	last   string // the source of the last rule, and its number
	number int
	Notes  []Warning // entries that were left out, the first of them
	Left   int       // how many were
}

// maxNotes is how many entries that were left out are told one by one.
const maxNotes = 8

// maxSources is how many sources can be told apart; the others are told as the last.
const maxSources = 256

// NewBuilder returns a builder without rules.
func NewBuilder() *Builder {
	return &Builder{known: map[string]int{}, sites: Sites{seed: maphash.String(maphash.MakeSeed(), "sites")}}
}

func (b *Builder) sourceOf(name string) int {
	if name == b.last && len(b.sites.source) > 0 {
		return b.number
	}
	n, ok := b.known[name]
	switch {
	case ok:
	case len(b.sites.source) == maxSources:
		n = maxSources - 1
	default:
		n = len(b.sites.source)
		b.sites.source = append(b.sites.source, name)
		b.known[name] = n
	}
	b.last, b.number = name, n
	return n
}

func (b *Builder) leave(source, entry, cause string) {
	if b.Left++; len(b.Notes) < maxNotes {
		b.Notes = append(b.Notes, Warning{keySites, entry, cause + " (" + source + ")"})
	}
}

// Rule adds one rule: a domain, which stands for all below it, or a glob that begins with "*.". A rule that cannot be
// understood is left out and noted.
func (b *Builder) Rule(text, source string) {
	rule, err := ParseRule(text)
	if err != nil {
		b.leave(source, text, err.Error())
		return
	}
	if rule != "" {
		b.add(rule, b.sourceOf(source))
	}
}

// Line adds what one line of a shared file says: a rule, or a line of a hosts file.
func (b *Builder) Line(line []byte, source string) {
	line, _, _ = bytes.Cut(line, []byte{'#'})
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return
	}
	n := b.sourceOf(source)
	if name, kind, ok := quickRule(line); ok {
		b.put(name, kind, n)
		return
	}
	fields := strings.Fields(string(line))
	if len(fields) > 1 {
		if _, err := parseNetwork(fields[0]); err != nil {
			b.leave(source, string(line), "is neither a rule nor a line of a hosts file")
			return
		}
		fields = fields[1:]
	}
	for _, field := range fields {
		if !ownName(field) {
			b.Rule(field, source)
		}
	}
}

// ownName tells whether a name of a hosts file is one that every hosts file has for its own machine.
func ownName(name string) bool {
	switch name {
	case "localhost", "localhost.localdomain", "local", "broadcasthost", "0.0.0.0":
		return true
	}
	return strings.HasPrefix(name, "ip6-")
}

// quickRule reads the rules that most lists consist of, "name" and "0.0.0.0 name", without allocating.
func quickRule(line []byte) (name []byte, kind byte, ok bool) {
	for _, sink := range [...]string{"0.0.0.0 ", "127.0.0.1 "} {
		if rest, found := bytes.CutPrefix(line, []byte(sink)); found {
			line = rest
		}
	}
	kind = wholeDomain
	if rest, found := bytes.CutPrefix(line, []byte("*.")); found {
		line, kind = rest, onlyBelow
	}
	if kind == wholeDomain {
		line = bytes.TrimPrefix(line, []byte("www."))
	}
	if len(line) == 0 || len(line) > maxName || line[0] == '.' || line[0] == 'x' {
		return nil, 0, false // what may be encoded takes the long way
	}
	dots, letters := 0, false
	for i, c := range line {
		switch {
		case c == '.':
			if i+1 == len(line) || line[i+1] == '.' || line[i+1] == 'x' {
				return nil, 0, false
			}
			dots++
			letters = false
		case 'a' <= c && c <= 'z':
			letters = true
		case '0' <= c && c <= '9' || c == '_':
		case c == '-':
			if i == 0 || i+1 == len(line) || line[i-1] == '.' || line[i+1] == '.' {
				return nil, 0, false
			}
		default:
			return nil, 0, false
		}
	}
	return line, kind, dots > 0 && letters
}

// add adds a rule in the form of ParseRule.
func (b *Builder) add(rule string, source int) {
	name, kind := rule, wholeDomain
	if rest, ok := strings.CutPrefix(rule, "*."); ok {
		name, kind = rest, onlyBelow
	}
	if kind == onlyBelow && strings.ContainsAny(name, "*?[") {
		b.sites.globs = append(b.sites.globs, glob{rule, source})
		return
	}
	b.put([]byte(name), kind, source)
}

func (b *Builder) put(name []byte, kind byte, source int) {
	b.places = append(b.places, uint32(len(b.sites.arena))+1)
	b.sites.arena = append(b.sites.arena, byte(source), kind, byte(len(name)))
	b.sites.arena = append(b.sites.arena, name...)
}

// Sites returns the policy. The builder is used up.
func (b *Builder) Sites() *Sites {
	s := b.sites
	size := 4
	for size*2 < len(b.places)*3 {
		size *= 2
	}
	s.table = make([]uint64, size)
	for _, place := range b.places {
		s.insert(place)
	}
	if spare := cap(s.arena) - len(s.arena); spare > len(s.arena)/8 {
		s.arena = bytes.Clone(s.arena)
	}
	*b = Builder{Notes: b.Notes, Left: b.Left}
	return &s
}

// insert enters a place unless its name is there. A rule for the whole domain wins over one for what is below it.
func (s *Sites) insert(place uint32) {
	entry := s.arena[place-1:]
	name := entry[3 : 3+int(entry[2])]
	hash, dots := s.seed, 0
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' {
			dots++
		}
		hash = step(hash, name[i])
	}
	s.depth = max(s.depth, dots)
	hash = spread(hash)
	slot := hash<<32 | uint64(place)
	mask := len(s.table) - 1
	at := first(hash, len(s.table))
	for ; s.table[at] != 0; at = (at + 1) & mask {
		if s.table[at]>>32 != slot>>32 {
			continue
		}
		old := s.arena[uint32(s.table[at])-1:]
		if int(old[2]) == len(name) && bytes.Equal(old[3:3+len(name)], name) {
			if entry[1] == wholeDomain && old[1] != wholeDomain {
				s.table[at] = slot
			}
			return
		}
	}
	s.table[at] = slot
	s.count++
}

// Rules returns the rules in no particular order, for whoever reports what is in force.
func (s *Sites) Rules() []string {
	var out []string
	if s == nil {
		return nil
	}
	for _, slot := range s.table {
		if slot == 0 {
			continue
		}
		entry := s.arena[uint32(slot)-1:]
		rule := string(entry[3 : 3+int(entry[2])])
		if entry[1] == onlyBelow {
			rule = "*." + rule
		}
		out = append(out, rule)
	}
	for _, g := range s.globs {
		out = append(out, g.pattern)
	}
	for _, p := range s.parts {
		out = append(out, p.Rules()...)
	}
	return out
}
