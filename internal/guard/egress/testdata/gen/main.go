// Command gen turns special.txt into the table that the classifier searches: ranges that do not overlap, in order, each with
// the most specific row it belongs to.
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/format"
	"log"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
)

type row struct {
	prefix              netip.Prefix
	class, what, source string
}

type span struct {
	from, to netip.Addr
	row      int
}

var columns = regexp.MustCompile(`\s{2,}`)

func main() {
	rows, err := read("testdata/special.txt")
	if err != nil {
		log.Fatal(err)
	}
	var out bytes.Buffer
	out.WriteString("// Code generated from testdata/special.txt by testdata/gen; DO NOT EDIT.\n\npackage egress\n\n")
	out.WriteString("// The rows of special.txt. Sources: the IANA special-purpose registries, and the vendors of clouds.\nvar special = [...]row{\n")
	for _, r := range rows {
		fmt.Fprintf(&out, "\t{%s, %q, %q}, // %s\n", r.class, r.prefix, r.what, r.source)
	}
	out.WriteString("}\n\nvar special4 = [...]span4{\n")
	for _, s := range flatten(rows, true) {
		from, to := s.from.As4(), s.to.As4()
		fmt.Fprintf(&out, "\t{%#08x, %#08x, %d},\n", be(from[:]), be(to[:]), s.row)
	}
	out.WriteString("}\n\nvar special6 = [...]span6{\n")
	for _, s := range flatten(rows, false) {
		from, to := s.from.As16(), s.to.As16()
		fmt.Fprintf(&out, "\t{%#016x, %#016x, %#016x, %#016x, %d},\n", be(from[:8]), be(from[8:]), be(to[:8]), be(to[8:]), s.row)
	}
	out.WriteString("}\n")
	text, err := format.Source(out.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("table.go", text, 0o644); err != nil {
		log.Fatal(err)
	}
}

func be(b []byte) (n uint64) {
	for _, x := range b {
		n = n<<8 | uint64(x)
	}
	return n
}

func read(name string) ([]row, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var out []row
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		f := columns.Split(line, -1)
		if len(f) != 4 {
			return nil, fmt.Errorf("%s: %q has %d columns, want 4", name, line, len(f))
		}
		p, err := netip.ParsePrefix(f[0])
		if err != nil || p != p.Masked() {
			return nil, fmt.Errorf("%s: %q is no prefix: %v", name, f[0], err)
		}
		out = append(out, row{prefix: p, class: f[1], what: f[2], source: f[3]})
	}
	return out, nil
}

// flatten cuts the address space where any prefix begins or ends.
func flatten(rows []row, four bool) []span {
	var cuts []netip.Addr
	for _, r := range rows {
		if r.prefix.Addr().Is4() == four {
			cuts = append(cuts, r.prefix.Addr())
			if next := last(r.prefix).Next(); next.IsValid() {
				cuts = append(cuts, next)
			}
		}
	}
	slices.SortFunc(cuts, netip.Addr.Compare)
	cuts = slices.Compact(cuts)
	var out []span
	for i, from := range cuts {
		to := last(netip.PrefixFrom(from, 0))
		if i+1 < len(cuts) {
			to = cuts[i+1].Prev()
		}
		best := -1
		for n, r := range rows {
			if r.prefix.Contains(from) && (best < 0 || cmp.Compare(r.prefix.Bits(), rows[best].prefix.Bits()) > 0) {
				best = n
			}
		}
		if best < 0 {
			continue // nobody's in particular: public
		}
		if n := len(out); n > 0 && out[n-1].row == best && out[n-1].to.Next() == from {
			out[n-1].to = to
			continue
		}
		out = append(out, span{from, to, best})
	}
	return out
}

// last returns the highest address of a prefix.
func last(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for i := range b {
		for bit := range 8 {
			if i*8+bit >= p.Bits() {
				b[i] |= 0x80 >> bit
			}
		}
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}
