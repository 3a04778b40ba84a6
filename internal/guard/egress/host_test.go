package egress

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

func TestParseHost(t *testing.T) {
	for _, row := range []struct{ in, want, rule string }{
		// One fold for all spellings of a name.
		{"example.com", "example.com", ""}, {"EXAMPLE.com", "example.com", ""}, {"example.com.", "example.com", ""},
		{"ｅｘａｍｐｌｅ．ｃｏｍ", "example.com", ""}, {"ⓔⓧⓐⓜⓟⓛⓔ.ⓒⓞⓜ", "example.com", ""}, {"example。com", "example.com", ""},
		{"exa\u00admple.com", "example.com", ""}, {"exa\u200bmple\u2060.com", "example.com", ""},
		{"bücher.de", "xn--bcher-kva.de", ""}, {"XN--BCHER-KVA.de", "xn--bcher-kva.de", ""}, {"straße.de", "xn--strae-oqa.de", ""},
		{"foo_bar.example.com", "foo_bar.example.com", ""}, {"r3---sn-4g5e6nzz.googlevideo.com", "r3---sn-4g5e6nzz.googlevideo.com", ""},
		{"1337.net", "1337.net", ""}, {"4chan.org", "4chan.org", ""}, {"localhost", "localhost", ""},
		// Addresses in their plain spelling.
		{"8.8.8.8", "8.8.8.8", ""}, {"8.8.8.8.", "8.8.8.8", ""}, {"[2606:4700::1]", "2606:4700::1", ""}, {"[::ffff:8.8.8.8]", "::ffff:8.8.8.8", ""},
		// No other spelling.
		{"2130706433", "", "host/numeric"}, {"0x7f000001", "", "host/numeric"}, {"0X7F.1", "", "host/numeric"}, {"017700000001", "", "host/numeric"},
		{"127.1", "", "host/numeric"}, {"127.0.1", "", "host/numeric"}, {"0177.0.0.1", "", "host/numeric"}, {"0", "", "host/numeric"},
		{"127.0.0.01", "", "host/numeric"}, {"8.8.8.08", "", "host/numeric"}, {"1.2.3.4.5", "", "host/numeric"}, {"256.1.1.1", "", "host/numeric"},
		{"foo.0x1", "", "host/numeric"}, {"foo.1", "", "host/numeric"}, {"0x", "", "host/numeric"}, {"99999999999999999999", "", "host/numeric"},
		{"１２７.０.０.１", "", "host/numeric"}, {"①②⑦.⓪.⓪.①", "", "host/numeric"}, {"127。0。0。1", "", "host/numeric"},
		{"8.8.8.8\u200b", "", "host/numeric"}, {"2852039166", "", "host/numeric"},
		// Nothing that is read in two ways.
		{"", "", "host/name"}, {".", "", "host/name"}, {"..", "", "host/name"}, {"a..b", "", "host/name"}, {".a.com", "", "host/name"}, {"example.com..", "", "host/name"},
		{"a b.com", "", "host/character"}, {"a\u00a0b.com", "", "host/character"}, {"a\tb.com", "", "host/character"}, {"a\x00b.com", "", "host/character"},
		{"a%2ecom", "", "host/character"}, {"%31%32%37.0.0.1", "", "host/character"}, {`a\b.com`, "", "host/character"}, {"a/b", "", "host/name"},
		{"a@b.com", "", "host/name"}, {"a:b", "", "host/name"}, {"a?b", "", "host/name"}, {"a#b", "", "host/name"}, {"a;b", "", "host/name"},
		{"a,b.com", "", "host/name"}, {"a'b.com", "", "host/name"}, {"$(id).com", "", "host/name"}, {"-a.com", "", "host/name"}, {"a-.com", "", "host/name"},
		{strings.Repeat("a", 64) + ".com", "", "host/name"}, {strings.Repeat("a.", 130) + "com", "", "host/name"}, {strings.Repeat("a", 2000), "", "host/length"},
		{"\xff.com", "", "host/character"}, {"xn--a.com", "", "host/name"}, {"xn--.com", "", "host/name"}, {"a\U000e0041.com", "", "host/name"},
		{"[::1", "", "host/address"}, {"[::1]x", "", "host/address"}, {"[127.0.0.1]", "", "host/address"}, {"[v1.x]", "", "host/address"}, {"[]", "", "host/address"},
		{"[fe80::1%eth0]", "", "host/zone"}, {"[::1%25lo]", "", "host/zone"}, {"::1", "", "host/name"},
	} {
		h, err := ParseHost(row.in)
		if h.String() != row.want && row.rule == "" || (err != nil) != (row.rule != "") {
			t.Errorf("%q is %q, %v, want %q", row.in, h, err, row.want)
		}
		if err != nil && err.(*Error).Rule != row.rule {
			t.Errorf("%q: %v by %s, want %s", row.in, err, err.(*Error).Rule, row.rule)
		}
		if err != nil && !h.IsZero() {
			t.Errorf("%q is refused and still is %q", row.in, h)
		}
	}
}

func TestLookalikes(t *testing.T) {
	for _, row := range []struct{ host, reads string }{
		// Mixed scripts.
		{"pаypal.com", "paypal.com"}, {"аpple.com", "apple.com"}, {"gооgle.com", "google.com"}, {"gοοgle.com", "google.com"}, {"miсrosoft.com", "microsoft.com"},
		{"fасebook.com", "facebook.com"}, {"xn--pypal-4ve.com", "paypal.com"}, {"теst.com", ""}, {"exаmple.рф", ""},
		// One script, every letter of which passes for a Latin one.
		{"аррӏе.com", "apple.com"}, {"xn--80ak6aa92e.com", "apple.com"}, {"ѕсоре.com", "scope.com"}, {"роса.com", "poca.com"}, {"ароса.net", ""},
		{"ɡooɡle.com", "google.com"}, {"ɑpple.com", "apple.com"}, {"ᎪᏢᏢᏞᎬ.com", "apple.com"}, {"ꓮꓑꓑꓡꓰ.com", "apple.com"},
		// What passes for a slash, a dot or a dash.
		{"google.comノevil.com", ""}, {"google.com⁄login.evil.com", ""}, {"google.com∕x.evil.com", ""}, {"google‐mail.com", ""}, {"a一b.com", ""}, {"payーpal.com", ""},
		// Digits of two scripts.
		{"g००gle.com", ""}, {"1२3.com", ""},
	} {
		h, err := ParseHost(row.host)
		if err == nil {
			t.Errorf("%s passes as %s", row.host, h)
			continue
		}
		e := err.(*Error)
		if row.reads != "" && (!strings.Contains(e.Cause, "reads as "+row.reads) || !strings.Contains(e.Cause, "it is ")) {
			t.Errorf("%s: %v does not name both %s and what it is", row.host, e, row.reads)
		}
	}
	for _, host := range []string{
		"日本語.jp", "東京タワー.jp", "さくらインターネット.jp", "にほん.com", "ソニー.com", "ノート.jp", "パン屋.jp", "第一生命.jp", "abc日本.jp", "カフェtokyo.jp", "コーヒー.com",
		"한국.kr", "삼성전자.com", "네이버.kr", "kt한국.kr", "中国.cn", "台灣.tw", "百度.com", "taobao淘宝.com",
		"москва.рф", "президент.рф", "яндекс.рф", "роса.рф", "хор.рф", "новости.com", "почта.com", "банк.com", "погода.com", "україна.укр", "правда.com.ua",
		"ελλάδα.gr", "αθήνα.com", "български.бг", "србија.срб", "հայաստան.հայ", "საქართველო.გე", "ישראל.com", "مثال.إختبار", "العربية.com",
		"उदाहरण.परीक्षा", "ไทย.com", "বাংলা.com", "தமிழ்.com", "අ.com", "münchen.de", "españa.es", "français.fr", "łódź.pl", "türkiye.com", "ısı.com.tr", "søren.dk", "việtnam.vn",
		"l·lull.cat", "✪df.ws", "☺.damowmow.com", "i❤.ws", "əkinçi.az", "ɓaa.com",
	} {
		if _, err := ParseHost(host); err != nil {
			t.Errorf("%s is refused: %v", host, err)
		}
	}
}

// refusedAddrs are addresses that no URL may name, and spelled are other ways to write them.
var refusedAddrs = []string{"127.0.0.1", "10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254", "169.254.170.2", "100.100.100.200",
	"0.0.0.0", "168.63.129.16", "192.0.0.192", "100.64.0.1", "198.18.0.1", "224.0.0.1", "255.255.255.255", "203.0.113.7"}

func spellings(a netip.Addr) (out []string) {
	b := a.As4()
	n := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	low3, low2 := n&0xffffff, n&0xffff
	dotted := fmt.Sprintf("%d.%d.%d.%d", b[0], b[1], b[2], b[3])
	octal, hex := fmt.Sprintf("%#o.%#o.%#o.%#o", b[0], b[1], b[2], b[3]), fmt.Sprintf("%#x.%#x.%#x.%#x", b[0], b[1], b[2], b[3])
	out = append(out, dotted, dotted+".", fmt.Sprint(n), fmt.Sprintf("%#x", n), fmt.Sprintf("%#X", n), fmt.Sprintf("0%o", n), fmt.Sprintf("00000%o", n),
		octal, hex, strings.ToUpper(hex), fmt.Sprintf("%#x.%d.%#o.%d", b[0], b[1], b[2], b[3]),
		fmt.Sprintf("%d.%d", b[0], low3), fmt.Sprintf("%d.%d.%d", b[0], b[1], low2), fmt.Sprintf("%#x.%#x", b[0], low3),
		fmt.Sprintf("%03d.%03d.%03d.%03d", b[0], b[1], b[2], b[3]), fmt.Sprintf("%#x", uint64(n)|1<<32))
	digits := func(f func(r rune) rune) string {
		return strings.Map(func(r rune) rune {
			if '0' <= r && r <= '9' {
				return f(r - '0')
			}
			return r
		}, dotted)
	}
	wide := digits(func(d rune) rune { return '０' + d })
	circled := digits(func(d rune) rune {
		if d == 0 {
			return '⓪'
		}
		return '①' + d - 1
	})
	bold := digits(func(d rune) rune { return '𝟎' + d })
	out = append(out, wide, circled, bold, strings.ReplaceAll(dotted, ".", "。"), strings.ReplaceAll(dotted, ".", "．"), strings.ReplaceAll(dotted, ".", "｡"),
		strings.ReplaceAll(dotted, ".", ".\u00ad"), strings.ReplaceAll(dotted, ".", "\u200b."), "\u2060"+dotted, dotted+"\u200d")
	escaped := ""
	for _, c := range dotted {
		escaped += fmt.Sprintf("%%%02x", c)
	}
	out = append(out, escaped, strings.ReplaceAll(dotted, ".", "%2e"), strings.ReplaceAll(dotted, ".", "%252e"), dotted+"%00", dotted+"%20",
		dotted+`\@example.com`, `example.com\@`+dotted, "example.com@"+dotted, dotted+"@example.com", dotted+"#@example.com", dotted+":80#@example.com",
		"["+dotted+"]", dotted+":80:80", dotted+":080", dotted+":65616", " "+dotted, dotted+"\t", dotted+"\n", dotted+"\x00")
	for _, form := range wrap(b) {
		long := form.StringExpanded()
		out = append(out, "["+form.String()+"]", "["+long+"]", "["+strings.ToUpper(long)+"]", "["+form.String()+"%25eth0]", "["+form.String()+"%eth0]", form.String())
	}
	return out
}

// No spelling of an address that is refused gets through, under the default policy and, for the floor, under any.
func TestSpellings(t *testing.T) {
	closed, _ := New(Config{Sites: NoSites()})
	open, _ := New(Config{Sites: NoSites(), AllowPrivate: true, NAT64: true, AllowHosts: []string{"100.64.0.0/10"}, FakeIP: []string{"198.18.0.0/15"}})
	n := 0
	for _, text := range refusedAddrs {
		a := addr(t, text)
		for _, host := range spellings(a) {
			for _, raw := range []string{"http://" + host + "/", "https://" + host, "HTTP://" + host + "/latest/meta-data", "http:" + host + "/", `http:\\` + host, "//" + host, "http:///" + host} {
				n++
				if u, v := closed.Check(raw, anything); v.Action != 0 {
					t.Errorf("%q passes as %s", raw, u)
				}
				if u, v := open.Check(raw, anything); v.Action != 0 && classify(a).Class.Floor() {
					t.Errorf("%q passes as %s where private addresses are open", raw, u)
				}
			}
		}
	}
	t.Logf("%d URLs", n)
}

func anything(string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
}
