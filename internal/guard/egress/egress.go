// Package egress decides which addresses, hosts and URLs may be reached.
//
// It looks no name up and opens no connection: the addresses a name has are an argument (see safehttp, which dials what was
// judged and nothing else). It does not read lists of sites (see sitelist) nor settings (see app).
//
// Failure direction: refuse. A nil policy refuses everything; the zero policy reaches public addresses once it is told which
// sites are refused.
package egress

//go:generate go run ./testdata/gen
