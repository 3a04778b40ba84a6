// Code generated from testdata/special.txt by testdata/gen; DO NOT EDIT.

package egress

// The rows of special.txt. Sources: the IANA special-purpose registries, and the vendors of clouds.
var special = [...]row{
	{Unspecified, "0.0.0.0/8", "this network"},                     // ipv4
	{Private, "10.0.0.0/8", "private use"},                         // ipv4
	{Shared, "100.64.0.0/10", "shared address space (CGNAT)"},      // ipv4
	{Metadata, "100.100.100.200/32", "cloud metadata"},             // alibaba
	{Loopback, "127.0.0.0/8", "loopback"},                          // ipv4
	{Metadata, "168.63.129.16/32", "cloud metadata"},               // azure
	{LinkLocal, "169.254.0.0/16", "link local (cloud metadata)"},   // ipv4
	{Metadata, "169.254.0.23/32", "cloud metadata"},                // tencent
	{Metadata, "169.254.42.42/32", "cloud metadata"},               // scaleway
	{Metadata, "169.254.169.253/32", "cloud metadata"},             // aws
	{Metadata, "169.254.169.254/32", "cloud metadata"},             // aws
	{Metadata, "169.254.170.2/32", "cloud metadata"},               // aws
	{Metadata, "169.254.170.23/32", "cloud metadata"},              // aws
	{Private, "172.16.0.0/12", "private use"},                      // ipv4
	{Protocol, "192.0.0.0/24", "protocol assignments"},             // ipv4
	{Metadata, "192.0.0.192/32", "cloud metadata"},                 // oracle
	{Documentation, "192.0.2.0/24", "documentation"},               // ipv4
	{Infrastructure, "192.31.196.0/24", "AS112 name servers"},      // ipv4
	{Infrastructure, "192.52.193.0/24", "multicast tunnels (AMT)"}, // ipv4
	{Infrastructure, "192.88.99.0/24", "old 6to4 relay"},           // rfc7526
	{Private, "192.168.0.0/16", "private use"},                     // ipv4
	{Infrastructure, "192.175.48.0/24", "AS112 name servers"},      // ipv4
	{Benchmark, "198.18.0.0/15", "benchmarking (fake-ip proxies)"}, // ipv4
	{Documentation, "198.51.100.0/24", "documentation"},            // ipv4
	{Documentation, "203.0.113.0/24", "documentation"},             // ipv4
	{Multicast, "224.0.0.0/4", "multicast"},                        // multicast
	{Reserved, "240.0.0.0/4", "reserved"},                          // ipv4
	{Broadcast, "255.255.255.255/32", "broadcast"},                 // ipv4
	{Unassigned, "::/3", "outside the global space"},               // space6
	{Unassigned, "4000::/2", "outside the global space"},           // space6
	{Unassigned, "8000::/1", "outside the global space"},           // space6
	{Unspecified, "::/128", "unspecified"},                         // ipv6
	{Loopback, "::1/128", "loopback"},                              // ipv6
	{Compatible, "::/96", "IPv4-compatible"},                       // rfc4291
	{Mapped, "::ffff:0.0.0.0/96", "IPv4-mapped"},                   // ipv6
	{Translated, "::ffff:0:0:0/96", "IPv4-translated"},             // rfc2765
	{NAT64, "64:ff9b::/96", "NAT64"},                               // ipv6
	{LocalNAT64, "64:ff9b:1::/48", "local-use NAT64"},              // ipv6
	{Discard, "100::/64", "discard only"},                          // ipv6
	{Discard, "100:0:0:1::/64", "dummy prefix"},                    // ipv6
	{Protocol, "2001::/23", "protocol assignments"},                // ipv6
	{Teredo, "2001::/32", "Teredo"},                                // ipv6
	{Benchmark, "2001:2::/48", "benchmarking"},                     // ipv6
	{Infrastructure, "2001:3::/32", "multicast tunnels (AMT)"},     // ipv6
	{Infrastructure, "2001:4:112::/48", "AS112 name servers"},      // ipv6
	{Protocol, "2001:10::/28", "old ORCHID"},                       // ipv6
	{Protocol, "2001:20::/28", "ORCHIDv2"},                         // ipv6
	{Protocol, "2001:30::/28", "drone remote identification"},      // ipv6
	{Documentation, "2001:db8::/32", "documentation"},              // ipv6
	{SixToFour, "2002::/16", "6to4"},                               // ipv6
	{Infrastructure, "2620:4f:8000::/48", "AS112 name servers"},    // ipv6
	{Documentation, "3fff::/20", "documentation"},                  // ipv6
	{Protocol, "5f00::/16", "segment routing (SRv6)"},              // ipv6
	{UniqueLocal, "fc00::/7", "unique local"},                      // ipv6
	{Metadata, "fd00:42::42/128", "cloud metadata"},                // scaleway
	{Metadata, "fd00:ec2::23/128", "cloud metadata"},               // aws
	{Metadata, "fd00:ec2::254/128", "cloud metadata"},              // aws
	{Metadata, "fd20:ce::254/128", "cloud metadata"},               // google
	{LinkLocal, "fe80::/10", "link local"},                         // ipv6
	{SiteLocal, "fec0::/10", "old site local"},                     // rfc3879
	{Multicast, "ff00::/8", "multicast"},                           // multicast
}

var special4 = [...]span4{
	{0x00000000, 0x00ffffff, 0},
	{0x0a000000, 0x0affffff, 1},
	{0x64400000, 0x646464c7, 2},
	{0x646464c8, 0x646464c8, 3},
	{0x646464c9, 0x647fffff, 2},
	{0x7f000000, 0x7fffffff, 4},
	{0xa83f8110, 0xa83f8110, 5},
	{0xa9fe0000, 0xa9fe0016, 6},
	{0xa9fe0017, 0xa9fe0017, 7},
	{0xa9fe0018, 0xa9fe2a29, 6},
	{0xa9fe2a2a, 0xa9fe2a2a, 8},
	{0xa9fe2a2b, 0xa9fea9fc, 6},
	{0xa9fea9fd, 0xa9fea9fd, 9},
	{0xa9fea9fe, 0xa9fea9fe, 10},
	{0xa9fea9ff, 0xa9feaa01, 6},
	{0xa9feaa02, 0xa9feaa02, 11},
	{0xa9feaa03, 0xa9feaa16, 6},
	{0xa9feaa17, 0xa9feaa17, 12},
	{0xa9feaa18, 0xa9feffff, 6},
	{0xac100000, 0xac1fffff, 13},
	{0xc0000000, 0xc00000bf, 14},
	{0xc00000c0, 0xc00000c0, 15},
	{0xc00000c1, 0xc00000ff, 14},
	{0xc0000200, 0xc00002ff, 16},
	{0xc01fc400, 0xc01fc4ff, 17},
	{0xc034c100, 0xc034c1ff, 18},
	{0xc0586300, 0xc05863ff, 19},
	{0xc0a80000, 0xc0a8ffff, 20},
	{0xc0af3000, 0xc0af30ff, 21},
	{0xc6120000, 0xc613ffff, 22},
	{0xc6336400, 0xc63364ff, 23},
	{0xcb007100, 0xcb0071ff, 24},
	{0xe0000000, 0xefffffff, 25},
	{0xf0000000, 0xfffffffe, 26},
	{0xffffffff, 0xffffffff, 27},
}

var special6 = [...]span6{
	{0x0000000000000000, 0x0000000000000000, 0x0000000000000000, 0x0000000000000000, 31},
	{0x0000000000000000, 0x0000000000000001, 0x0000000000000000, 0x0000000000000001, 32},
	{0x0000000000000000, 0x0000000000000002, 0x0000000000000000, 0x00000000ffffffff, 33},
	{0x0000000000000000, 0x0000000100000000, 0x0000000000000000, 0x0000fffeffffffff, 28},
	{0x0000000000000000, 0x0000ffff00000000, 0x0000000000000000, 0x0000ffffffffffff, 34},
	{0x0000000000000000, 0x0001000000000000, 0x0000000000000000, 0xfffeffffffffffff, 28},
	{0x0000000000000000, 0xffff000000000000, 0x0000000000000000, 0xffff0000ffffffff, 35},
	{0x0000000000000000, 0xffff000100000000, 0x0064ff9affffffff, 0xffffffffffffffff, 28},
	{0x0064ff9b00000000, 0x0000000000000000, 0x0064ff9b00000000, 0x00000000ffffffff, 36},
	{0x0064ff9b00000000, 0x0000000100000000, 0x0064ff9b0000ffff, 0xffffffffffffffff, 28},
	{0x0064ff9b00010000, 0x0000000000000000, 0x0064ff9b0001ffff, 0xffffffffffffffff, 37},
	{0x0064ff9b00020000, 0x0000000000000000, 0x00ffffffffffffff, 0xffffffffffffffff, 28},
	{0x0100000000000000, 0x0000000000000000, 0x0100000000000000, 0xffffffffffffffff, 38},
	{0x0100000000000001, 0x0000000000000000, 0x0100000000000001, 0xffffffffffffffff, 39},
	{0x0100000000000002, 0x0000000000000000, 0x1fffffffffffffff, 0xffffffffffffffff, 28},
	{0x2001000000000000, 0x0000000000000000, 0x20010000ffffffff, 0xffffffffffffffff, 41},
	{0x2001000100000000, 0x0000000000000000, 0x20010001ffffffff, 0xffffffffffffffff, 40},
	{0x2001000200000000, 0x0000000000000000, 0x200100020000ffff, 0xffffffffffffffff, 42},
	{0x2001000200010000, 0x0000000000000000, 0x20010002ffffffff, 0xffffffffffffffff, 40},
	{0x2001000300000000, 0x0000000000000000, 0x20010003ffffffff, 0xffffffffffffffff, 43},
	{0x2001000400000000, 0x0000000000000000, 0x200100040111ffff, 0xffffffffffffffff, 40},
	{0x2001000401120000, 0x0000000000000000, 0x200100040112ffff, 0xffffffffffffffff, 44},
	{0x2001000401130000, 0x0000000000000000, 0x2001000fffffffff, 0xffffffffffffffff, 40},
	{0x2001001000000000, 0x0000000000000000, 0x2001001fffffffff, 0xffffffffffffffff, 45},
	{0x2001002000000000, 0x0000000000000000, 0x2001002fffffffff, 0xffffffffffffffff, 46},
	{0x2001003000000000, 0x0000000000000000, 0x2001003fffffffff, 0xffffffffffffffff, 47},
	{0x2001004000000000, 0x0000000000000000, 0x200101ffffffffff, 0xffffffffffffffff, 40},
	{0x20010db800000000, 0x0000000000000000, 0x20010db8ffffffff, 0xffffffffffffffff, 48},
	{0x2002000000000000, 0x0000000000000000, 0x2002ffffffffffff, 0xffffffffffffffff, 49},
	{0x2620004f80000000, 0x0000000000000000, 0x2620004f8000ffff, 0xffffffffffffffff, 50},
	{0x3fff000000000000, 0x0000000000000000, 0x3fff0fffffffffff, 0xffffffffffffffff, 51},
	{0x4000000000000000, 0x0000000000000000, 0x5effffffffffffff, 0xffffffffffffffff, 29},
	{0x5f00000000000000, 0x0000000000000000, 0x5f00ffffffffffff, 0xffffffffffffffff, 52},
	{0x5f01000000000000, 0x0000000000000000, 0x7fffffffffffffff, 0xffffffffffffffff, 29},
	{0x8000000000000000, 0x0000000000000000, 0xfbffffffffffffff, 0xffffffffffffffff, 30},
	{0xfc00000000000000, 0x0000000000000000, 0xfd00004200000000, 0x0000000000000041, 53},
	{0xfd00004200000000, 0x0000000000000042, 0xfd00004200000000, 0x0000000000000042, 54},
	{0xfd00004200000000, 0x0000000000000043, 0xfd000ec200000000, 0x0000000000000022, 53},
	{0xfd000ec200000000, 0x0000000000000023, 0xfd000ec200000000, 0x0000000000000023, 55},
	{0xfd000ec200000000, 0x0000000000000024, 0xfd000ec200000000, 0x0000000000000253, 53},
	{0xfd000ec200000000, 0x0000000000000254, 0xfd000ec200000000, 0x0000000000000254, 56},
	{0xfd000ec200000000, 0x0000000000000255, 0xfd2000ce00000000, 0x0000000000000253, 53},
	{0xfd2000ce00000000, 0x0000000000000254, 0xfd2000ce00000000, 0x0000000000000254, 57},
	{0xfd2000ce00000000, 0x0000000000000255, 0xfdffffffffffffff, 0xffffffffffffffff, 53},
	{0xfe00000000000000, 0x0000000000000000, 0xfe7fffffffffffff, 0xffffffffffffffff, 30},
	{0xfe80000000000000, 0x0000000000000000, 0xfebfffffffffffff, 0xffffffffffffffff, 58},
	{0xfec0000000000000, 0x0000000000000000, 0xfeffffffffffffff, 0xffffffffffffffff, 59},
	{0xff00000000000000, 0x0000000000000000, 0xffffffffffffffff, 0xffffffffffffffff, 60},
}
