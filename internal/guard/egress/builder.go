package egress

import (
	"bytes"
	"hash/maphash"
	"strings"
)

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
	rule, err := parseRule(text)
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

// add adds a rule in the form of parseRule.
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
