package redact

import (
	b64 "encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"hermes/internal/secret"
)

// minKnown is the shortest value looked for; shorter ones would mask half of every text.
const minKnown = 6

// known finds given values and their encodings at any place, without word boundaries.
//
// Every pattern has a window of four bytes that starts at a multiple of stride in the text, whatever its place, because
// the windows at its first stride offsets are all in the table. So the text is looked at once every stride bytes.
type known struct {
	stride  int
	gate    [gateSize / 64]uint64
	windows map[uint32][]window
	pats    []pattern
}

type pattern struct {
	text  string
	of    string // the value it encodes; the id in the mark comes from it
	whole bool   // only as a word of its own
}

type window struct{ pat, offset int32 }

const gateSize = 1 << 15

func gateBit(v uint32) uint32 { return v * 2654435761 >> 17 }

func load(s string, i int) uint32 {
	return uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24
}

// newKnown builds the table, or gives nil when there is nothing to look for.
func newKnown(values []secret.String) *known {
	k := &known{stride: 8, windows: map[uint32][]window{}}
	seen := map[string]bool{}
	for _, v := range values {
		value := strings.Trim(v.Reveal(), " \t\r\n")
		for _, part := range knownParts(value) {
			for _, form := range encodings(part) {
				if len(form) < minKnown || seen[form] {
					continue
				}
				seen[form] = true
				k.pats = append(k.pats, pattern{text: form, of: value, whole: len(form) < 8})
			}
		}
	}
	if len(k.pats) == 0 {
		return nil
	}
	// Longest first: where two begin together the longer one is the secret.
	slices.SortStableFunc(k.pats, func(a, b pattern) int { return len(b.text) - len(a.text) })
	for _, p := range k.pats {
		k.stride = max(1, min(k.stride, len(p.text)-3))
	}
	for n, p := range k.pats {
		for off := range k.stride {
			w := load(p.text, off)
			k.windows[w] = append(k.windows[w], window{int32(n), int32(off)})
			b := gateBit(w)
			k.gate[b/64] |= 1 << (b % 64)
		}
	}
	return k
}

// knownParts splits a value of several lines, so that the search stays within a line. Lines that say nothing (the
// frame of a key file, short or blank ones) are left out.
func knownParts(value string) []string {
	if placeholder(value) || literal(value) {
		return nil
	}
	if !strings.ContainsAny(value, "\r\n") {
		return []string{value}
	}
	parts := []string{value} // its escaped and encoded forms are on one line
	for line := range strings.Lines(value) {
		line = strings.TrimSpace(line)
		if len(line) >= 16 && !strings.HasPrefix(line, "-----") {
			parts = append(parts, line)
		}
	}
	return parts
}

// encodings gives v and the ways it may be written elsewhere.
func encodings(v string) []string {
	var forms []string
	if !strings.ContainsAny(v, "\r\n") {
		forms = append(forms, v)
	}
	if len(v) < 6 {
		return forms
	}
	forms = append(forms, hex.EncodeToString([]byte(v)), strings.ToUpper(hex.EncodeToString([]byte(v))))
	forms = append(forms, base64Forms(v)...)
	q := url.QueryEscape(v)
	forms = append(forms, q, strings.ReplaceAll(q, "+", "%20"), url.PathEscape(v), lowerEscapes(q))
	safe := jsonForm(v) // with & and < as escapes, as Go writes them
	plain := unescapeHTML(safe)
	for _, f := range []string{safe, plain} {
		twice := jsonForm(f)
		forms = append(forms, f, strings.ReplaceAll(f, "/", `\/`), twice, unescapeHTML(twice))
	}
	return slices.DeleteFunc(forms, func(f string) bool { return strings.ContainsAny(f, "\r\n") })
}

// base64Forms gives the characters of v's base64 that do not depend on its neighbours, for all three places v can have
// in a longer text, in both alphabets.
func base64Forms(v string) []string {
	var forms []string
	for shift := range 3 {
		padded := strings.Repeat("\x00", shift) + v
		full := b64.RawStdEncoding.EncodeToString([]byte(padded))
		from := (shift*8 + 5) / 6
		to := len(padded) * 8 / 6
		if to-from < 8 {
			continue
		}
		core := full[from:to]
		forms = append(forms, core, strings.NewReplacer("+", "-", "/", "_").Replace(core))
	}
	return forms
}

// jsonForm gives v as it stands between the quotes of JSON.
func jsonForm(v string) string {
	j, err := json.Marshal(v)
	if err != nil {
		return v
	}
	return string(j[1 : len(j)-1])
}

func lowerEscapes(q string) string {
	b := []byte(q)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			b[i+1], b[i+2] = b[i+1]|0x20, b[i+2]|0x20
		}
	}
	return string(b)
}

func unescapeHTML(s string) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(s)
}

// find adds a hit for every known value in s; base is where s lies in the whole text.
func (k *known) find(s string, add func(kind Kind, of string, start, end int)) {
	for i := 0; i+4 <= len(s); i += k.stride {
		w := load(s, i)
		b := gateBit(w)
		if k.gate[b/64]&(1<<(b%64)) == 0 {
			continue
		}
		for _, c := range k.windows[w] {
			p := &k.pats[c.pat]
			start := i - int(c.offset)
			end := start + len(p.text)
			if start < 0 || end > len(s) || s[start:end] != p.text {
				continue
			}
			if p.whole && (start > 0 && is(s[start-1], word) || end < len(s) && is(s[end], word)) {
				continue
			}
			if !inMark(s, start, end) {
				add(kindKnown, p.of, start, end)
			}
		}
	}
}
