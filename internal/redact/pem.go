package redact

import "strings"

type pemState uint8

const (
	pemNone pemState = iota
	pemBody
	pemEnd // a short line was seen: only the frame may follow
)

// pemBegin is called at "-----BEGIN". The frame of a key stays, its body goes; a certificate or public key is no secret.
func (sc *scanner) pemBegin(at int) {
	rest := sc.line[at+len("-----BEGIN"):]
	if len(rest) > 64 {
		rest = rest[:64]
	}
	dashes := strings.Index(rest, "-----")
	if dashes < 0 || !strings.Contains(rest[:dashes], "PRIVATE KEY") {
		return
	}
	from := at + len("-----BEGIN") + dashes + 5
	if end := strings.Index(sc.line[from:], "-----END"); end >= 0 {
		sc.pemInline(at, from, from+end)
		return
	}
	body := strings.TrimRight(sc.line[from:], " \t\r")
	if body == "" {
		sc.pem, sc.pemFrom, sc.pemCont, sc.pemOpen = pemBody, sc.lineEnd+1, false, false
		return
	}
	// The frame's end is cut off, or the line is: mask what looks like a body.
	e := from
	for e < len(sc.line) && (is(sc.line[e], base64) || sc.line[e] == '\\' || sc.line[e] == ' ') {
		e++
	}
	sc.pemInline(at, from, e)
}

// pemInline masks a body on one line, leaving the escaped line ends around it.
func (sc *scanner) pemInline(ctx, from, to int) {
	for _, nl := range []string{`\\r`, `\r`, `\\n`, `\n`, " "} {
		if strings.HasPrefix(sc.line[from:to], nl) {
			from += len(nl)
		}
		if strings.HasSuffix(sc.line[from:to], nl) {
			to -= len(nl)
		}
	}
	if to-from < 16 || hasMark(sc.line[from:to]) || placeholder(sc.line[from:to]) {
		return
	}
	sc.add(kindPrivateKey, ctx, from, to)
}

// pemLine decides about a line below "-----BEGIN"; true means that the line is part of the key.
func (sc *scanner) pemLine() bool {
	body := sc.line
	if !sc.mid { // the number, sign or bar that cat -n, diff and grep put in front
		body = strings.TrimLeft(body, " \t0123456789|:+->→")
		if body == "" {
			body = sc.line
		}
	}
	body = strings.TrimSpace(body)
	switch {
	case body == "" && sc.pem == pemBody:
		return true
	case strings.HasPrefix(body, "Proc-Type:") || strings.HasPrefix(body, "DEK-Info:") || strings.HasPrefix(body, "Comment:") || strings.HasPrefix(body, "Version:"):
		return true
	case sc.pem == pemBody && only(body, base64) && len(body) <= 512:
		if len(body) < 40 {
			sc.pem = pemEnd
		}
		return true
	case sc.pem == pemEnd && len(body) == 5 && body[0] == '=' && only(body, base64): // checksum of a PGP key
		return true
	}
	sc.closePEM(sc.base)
	return false
}

// closePEM ends the key before the line at pos.
func (sc *scanner) closePEM(pos int) {
	sc.pem, sc.pemOpen = pemNone, false
	end := pos
	if end > sc.pemFrom && sc.text[end-1] == '\n' {
		end--
	}
	if end > sc.pemFrom && sc.text[end-1] == '\r' {
		end--
	}
	if sc.pemCont {
		sc.emit(hit{kind: kindPrivateKey, ctx: sc.pemFrom, start: sc.pemFrom, end: max(end, sc.pemFrom), cont: true})
	} else if end > sc.pemFrom && strings.TrimSpace(sc.text[sc.pemFrom:end]) != "" {
		sc.emit(hit{kind: kindPrivateKey, ctx: sc.pemFrom, start: sc.pemFrom, end: end})
	}
}
