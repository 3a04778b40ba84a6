package egress

import (
	"bufio"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"testing"
)

func addr(t testing.TB, s string) netip.Addr {
	t.Helper()
	a, err := netip.ParseAddr(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The table is what the registries' facts say: read again, row by row.
func TestTable(t *testing.T) {
	f, err := os.Open("testdata/special.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	columns := regexp.MustCompile(`\s{2,}`)
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		c := columns.Split(strings.TrimSpace(lines.Text()), -1)
		if len(c) != 4 {
			continue
		}
		if n >= len(special) || netip.MustParsePrefix(special[n].prefix) != netip.MustParsePrefix(c[0]) || special[n].name != c[2] ||
			strings.ReplaceAll(special[n].class.String(), "-", "") != strings.NewReplacer("sixtofour", "6to4").Replace(strings.ToLower(c[1])) {
			t.Errorf("row %d is not %q: run go generate", n, lines.Text())
		}
		n++
	}
	if n != len(special) || n < 50 {
		t.Errorf("%d rows, the table has %d", n, len(special))
	}
}

// model classifies by trying every row, as the text says it: the most specific row that holds the address.
func model(a netip.Addr) Class {
	best, class := -1, Public
	for _, r := range &special {
		if p := netip.MustParsePrefix(r.prefix); p.Contains(a) && p.Bits() > best {
			best, class = p.Bits(), r.class
		}
	}
	return class
}

// edges are the addresses on both sides of every border, and some inside.
func edges() (out []netip.Addr) {
	for _, r := range &special {
		p := netip.MustParsePrefix(r.prefix)
		first := p.Addr()
		last := lastOf(p)
		for _, a := range []netip.Addr{first.Prev(), first, first.Next(), last.Prev(), last, last.Next()} {
			if a.IsValid() {
				out = append(out, a)
			}
		}
	}
	return out
}

func lastOf(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for bit := p.Bits(); bit < len(b)*8; bit++ {
		b[bit/8] |= 0x80 >> (bit % 8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

// At every border of the table the search finds what the rows say. Nothing is missed, nothing else is refused.
func TestBorders(t *testing.T) {
	for _, a := range edges() {
		want := model(a)
		if want == Mapped {
			want = model(a.Unmap())
		}
		got := classify(a)
		if got.Class != want && !got.Inner.IsValid() {
			t.Errorf("%s is %s, the rows say %s", a, got.Class, want)
		}
		if (got.Class == Public) != (want == Public) {
			t.Errorf("%s: public %v, the rows say %s", a, got.Class == Public, want)
		}
	}
}

func TestClassify(t *testing.T) {
	for _, row := range []struct {
		addr  string
		class Class
	}{
		// What must be refused, one address of each block.
		{"0.0.0.0", Unspecified}, {"0.1.2.3", Unspecified}, {"10.0.0.1", Private}, {"172.31.255.255", Private}, {"192.168.1.1", Private},
		{"100.64.0.1", Shared}, {"100.127.255.255", Shared}, {"127.0.0.1", Loopback}, {"127.255.255.254", Loopback},
		{"192.0.0.8", Protocol}, {"192.0.0.9", Protocol}, {"192.0.0.170", Protocol}, {"192.0.2.1", Documentation},
		{"198.51.100.1", Documentation}, {"203.0.113.255", Documentation}, {"192.31.196.1", Infrastructure}, {"192.52.193.1", Infrastructure},
		{"192.175.48.1", Infrastructure}, {"192.88.99.1", Infrastructure}, {"198.18.0.1", Benchmark}, {"198.19.255.255", Benchmark},
		{"224.0.0.1", Multicast}, {"239.255.255.255", Multicast}, {"240.0.0.1", Reserved}, {"255.255.255.255", Broadcast},
		{"::", Unspecified}, {"::1", Loopback}, {"2001:db8::1", Documentation}, {"3fff:fff::1", Documentation},
		{"2001:1::1", Protocol}, {"2001:2::1", Benchmark}, {"2001:3::1", Infrastructure}, {"2001:4:112::1", Infrastructure}, {"2001:1ff::1", Protocol},
		{"2001:10::1", Protocol}, {"2001:20::1", Protocol}, {"2001:30::1", Protocol}, {"2620:4f:8000::1", Infrastructure},
		{"100::1", Discard}, {"100:0:0:1::1", Discard}, {"5f00::1", Protocol}, {"fc00::1", UniqueLocal}, {"fdff::1", UniqueLocal},
		{"fe80::1", LinkLocal}, {"febf::1", LinkLocal}, {"fec0::1", SiteLocal}, {"ff02::1", Multicast},
		{"1fff::1", Unassigned}, {"4000::1", Unassigned}, {"fe00::1", Unassigned}, {"e000::1", Unassigned},
		// The floor, and the same addresses inside others.
		{"169.254.169.254", Metadata}, {"169.254.170.2", Metadata}, {"169.254.0.1", LinkLocal}, {"100.100.100.200", Metadata},
		{"168.63.129.16", Metadata}, {"192.0.0.192", Metadata}, {"fd00:ec2::254", Metadata}, {"fd20:ce::254", Metadata}, {"fd00:42::42", Metadata},
		{"::ffff:169.254.169.254", Metadata}, {"::ffff:0:169.254.169.254", Metadata}, {"::169.254.169.254", Metadata},
		{"64:ff9b::169.254.169.254", Metadata}, {"64:ff9b:1::169.254.169.254", Metadata}, {"2002:a9fe:a9fe::1", Metadata},
		{"2001:0:a9fe:a9fe::1", Metadata}, {"2001:0:4136:e378:8000:63bf:5601:5601", Metadata},
		{"2001:470:1f0b::5efe:169.254.169.254", Metadata}, {"2001:470:1f0b:0:200:5efe:169.254.169.254", Metadata},
		{"::ffff:169.254.169.254%eth0", Metadata}, {"fe80::1%eth0", LinkLocal}, {"2606:4700::1%eth0", Zoned}, {"::1%lo", Zoned},
		// Inside others, not of the floor.
		{"::ffff:10.0.0.1", Private}, {"::ffff:127.0.0.1", Loopback}, {"::ffff:100.64.0.1", Shared}, {"::ffff:0:10.0.0.1", Translated},
		{"::8.8.8.8", Compatible}, {"64:ff9b::8.8.8.8", NAT64}, {"64:ff9b::10.0.0.1", NAT64}, {"64:ff9b:1::8.8.8.8", LocalNAT64},
		{"2002:808:808::1", SixToFour}, {"2002:a00:1::1", SixToFour}, {"2001::1", Teredo}, {"2001:470:1f0b::5efe:10.0.0.1", ISATAP},
		// The neighbours, which are somebody's.
		{"1.0.0.0", Public}, {"9.255.255.255", Public}, {"11.0.0.0", Public}, {"100.63.255.255", Public}, {"100.128.0.0", Public},
		{"126.255.255.255", Public}, {"128.0.0.0", Public}, {"168.63.129.15", Public}, {"168.63.129.17", Public}, {"169.253.255.255", Public},
		{"169.255.0.0", Public}, {"172.15.255.255", Public}, {"172.32.0.0", Public}, {"191.255.255.255", Public}, {"192.0.1.0", Public},
		{"192.0.3.0", Public}, {"192.31.195.255", Public}, {"192.31.197.0", Public}, {"192.52.192.255", Public}, {"192.88.98.255", Public}, {"192.88.100.0", Public},
		{"192.167.255.255", Public}, {"192.169.0.0", Public}, {"198.17.255.255", Public}, {"198.20.0.0", Public}, {"198.51.99.255", Public},
		{"198.51.101.0", Public}, {"203.0.112.255", Public}, {"203.0.114.0", Public}, {"223.255.255.255", Public},
		{"::ffff:8.8.8.8", Public}, {"2000::1", Public}, {"2001:200::1", Public}, {"2001:4860:4860::8888", Public}, {"2001:db7:ffff::1", Public},
		{"2001:db9::1", Public}, {"2003::1", Public}, {"2620:4f:7fff::1", Public}, {"2620:4f:8001::1", Public}, {"2a00:1450::1", Public},
		{"3ffe:ffff::1", Public}, {"3fff:1000::1", Public}, {"2001:470:1f0b::5efe:8.8.8.8", Public},
	} {
		if got := classify(addr(t, row.addr)); got.Class != row.class {
			t.Errorf("%s is %s, want %s", row.addr, got.Class, row.class)
		}
	}
	if got := classify(netip.Addr{}); got.Class != Unknown || !got.Class.Floor() {
		t.Errorf("no address is %s", got.Class)
	}
}

// A million addresses of each kind agree with the rows; Public is never given to what a row refuses.
func FuzzClassify(f *testing.F) {
	for _, a := range edges() {
		b := a.As16()
		f.Add(b[:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) != 4 && len(b) != 16 {
			return
		}
		a, _ := netip.AddrFromSlice(b)
		r := classify(a)
		if model(a.Unmap()) != Public && r.Class == Public {
			t.Errorf("%s is public, a row says %s", a, model(a.Unmap()))
		}
		if zoned := classify(a.Unmap().WithZone("eth0")); !a.Unmap().Is4() && !zoned.Class.Floor() {
			t.Errorf("%s with a zone is %s", a, zoned.Class)
		}
		if a.Unmap().Is4() { // every wrapped form is at least as strict
			four := a.Unmap().As4()
			for _, form := range wrap(four) {
				in, out := classify(a.Unmap()).Class, classify(form).Class
				if in.Floor() && !out.Floor() {
					t.Errorf("%s is of the floor, %s is %s", a, form, out)
				}
			}
		}
	})
}

// wrap returns an IPv4 address in every IPv6 form that carries one.
func wrap(b [4]byte) []netip.Addr {
	low := func(prefix string) netip.Addr {
		a := netip.MustParseAddr(prefix).As16()
		copy(a[12:], b[:])
		return netip.AddrFrom16(a)
	}
	sixToFour := netip.MustParseAddr("2002::1").As16()
	copy(sixToFour[2:], b[:])
	server, client := netip.MustParseAddr("2001::1").As16(), netip.MustParseAddr("2001:0:4136:e378::").As16()
	copy(server[4:], b[:])
	for i := range b {
		client[12+i] = ^b[i]
	}
	return []netip.Addr{
		low("::ffff:0:0"), low("::ffff:0:0:0"), low("64:ff9b::"), low("64:ff9b:1::"), netip.AddrFrom16(sixToFour),
		netip.AddrFrom16(server), netip.AddrFrom16(client), low("2001:470:1::5efe:0:0"), low("2001:470:1:0:200:5efe:0:0"),
	}
}

func BenchmarkClassify(b *testing.B) {
	addrs := []netip.Addr{
		addr(b, "8.8.8.8"), addr(b, "10.0.0.1"), addr(b, "169.254.169.254"), addr(b, "2001:4860:4860::8888"),
		addr(b, "::ffff:100.64.0.1"), addr(b, "64:ff9b::808:808"), addr(b, "fd00:ec2::254"), addr(b, "203.5.204.136"),
	}
	b.ReportAllocs()
	public := 0
	for i := 0; b.Loop(); i++ {
		if classify(addrs[i&7]).Class == Public {
			public++
		}
	}
	if public == 0 {
		b.Fatal("nothing is public")
	}
}
