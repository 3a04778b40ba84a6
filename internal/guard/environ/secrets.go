package environ

import (
	"encoding/base64"
	"net/url"
	"strings"
)

// A secret shorter than these would be found in innocent values: in whole, and as a part of a longer one.
const (
	leastWhole = 6
	leastPart  = 8
)

// needle is one spelling of a secret, and the upper-case name the secret is held under, "" if under none.
type needle struct{ text, holder string }

// finder returns the names that the secrets in a value are held under.
//
// An environment has thousands of bytes and is searched for each command, so needles are found by their first eight bytes: a
// filter of bits rules out nearly every place in a value, a map the rest.
type finder struct {
	filter [1 << 10]uint64
	parts  map[uint64][]needle
	whole  map[string][]string
}

// newFinder indexes all secrets. What it returns is a func, so that no printer reaches the secrets in it.
func newFinder(secrets []Secret) func(value string) []string {
	f := &finder{parts: map[uint64][]needle{}, whole: map[string][]string{}}
	for _, held := range secrets {
		value, holder := strings.TrimSpace(held.Value.Reveal()), strings.ToUpper(strings.TrimSpace(held.Name))
		switch {
		case len(value) < leastWhole:
		case len(value) < leastPart:
			f.whole[value] = append(f.whole[value], holder)
		default:
			for _, text := range spellings(value) {
				f.add(needle{text, holder})
			}
		}
	}
	return f.find
}

// spellings lists the ways a secret is written inside a longer value: plain, escaped for a URL, in base64.
func spellings(value string) []string {
	return []string{
		value, url.QueryEscape(value), url.PathEscape(value), url.UserPassword("", value).String()[1:],
		strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(value)), "="),
		strings.TrimRight(base64.URLEncoding.EncodeToString([]byte(value)), "="),
	}
}

func (f *finder) add(n needle) {
	var head uint64
	for i := range leastPart {
		head = head<<8 | uint64(n.text[i])
	}
	for _, other := range f.parts[head] {
		if other == n {
			return
		}
	}
	f.parts[head] = append(f.parts[head], n)
	word, bit := place(head)
	f.filter[word] |= bit
}

// place returns where a head stands in the filter.
func place(head uint64) (word int, bit uint64) {
	h := head * 0x9e3779b97f4a7c15 >> 48
	return int(h >> 6), 1 << (h & 63)
}

func (f *finder) find(value string) (holders []string) {
	holders = append(holders, f.whole[value]...)
	if len(value) < leastPart || len(f.parts) == 0 {
		return holders
	}
	var head uint64
	for i := range len(value) {
		head = head<<8 | uint64(value[i])
		if i < leastPart-1 {
			continue
		}
		if word, bit := place(head); f.filter[word]&bit == 0 {
			continue
		}
		for _, n := range f.parts[head] {
			if strings.HasPrefix(value[i-leastPart+1:], n.text) {
				holders = append(holders, n.holder)
			}
		}
	}
	return holders
}
