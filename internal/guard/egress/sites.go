package egress

import (
	"fmt"
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
