package taint

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	encodedWord  = 24      // bytes of a word that may be a text in another form
	encodedReach = 1 << 16 // bytes of one that are decoded
	speech       = 400     // bytes of what somebody is said to say
	plainLeast   = 12      // bytes of a text that is worth a look
)

// encoded looks whether a long word is a text in base64 or hex, and keeps that to be scanned too: who decodes it reads it.
func (sh *shapes) encoded(start, end int) {
	from := sh.s.f.from
	start, end = sh.s.f.place(start, end)
	if start < sh.decoded {
		return
	}
	// Words end where base64 goes on. What stands before may belong to it, or be the folder of a URL.
	first := start
	for first > sh.decoded && encodedByte(from[first-1]) {
		first--
	}
	for end < len(from) && end-first < encodedReach && encodedByte(from[end]) {
		end++
	}
	sh.decoded = end
	for _, at := range [...]int{first, start} {
		for _, decode := range [...]func(string) ([]byte, error){hex.DecodeString, base64.RawStdEncoding.DecodeString, base64.RawURLEncoding.DecodeString} {
			if text, err := decode(from[at:end]); err == nil && readable(text) {
				sh.s.f.hidden = append(sh.s.f.hidden, passage{string(text), at, end, Context})
				return
			}
		}
	}
}

// encodedByte tells the bytes of base64. What fills it up at its end says nothing.
func encodedByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_'
}

// readable tells whether bytes are a text of several words.
func readable(text []byte) bool {
	if len(text) < plainLeast || !utf8.Valid(text) || !bytes.ContainsAny(text, " \n") && !bytes.ContainsFunc(text, han) {
		return false
	}
	for _, r := range string(text) {
		if !unicode.IsPrint(r) && r != '\n' && r != '\t' && r != '\r' {
			return false
		}
	}
	return true
}

// spelled is a word of one letter, as in "i g n o r e".
func (sh *shapes) spelled(c byte, start, end int) {
	sp := &sh.letters
	if len(sp.text) == 0 || start-sp.end > 3 {
		sh.spell()
		sp.start = start
	}
	sp.text = append(sp.text, c)
	sp.end = end
}

// spell looks at letters that stand one by one: apart they are no words, together they may be.
func (sh *shapes) spell() {
	sp := &sh.letters
	if text := sp.text; len(text) >= plainLeast {
		has := func(words ...string) bool {
			for _, w := range words {
				if bytes.Contains(text, []byte(w)) {
					return true
				}
			}
			return false
		}
		if has("ignore", "disregard", "forget", "override") && has("instruction", "prompt", "previous", "rules", "guidelines") {
			sh.s.report("prompt_injection", sp.start, sp.end)
		}
	}
	sp.text = sp.text[:0]
}

// digits returns a word with letters in the place of digits that look like them, nil if it has no such digit or no letter.
func digits(word []byte, buf []byte) []byte {
	var letter, digit bool
	for _, c := range word {
		if c >= '0' && c <= '9' {
			digit = true
		} else if c >= 'a' {
			letter = true
		}
	}
	if !letter || !digit || len(word) > cap(buf) {
		return nil
	}
	buf = buf[:0]
	for _, c := range word {
		switch c {
		case '0':
			c = 'o'
		case '1':
			c = 'i'
		case '3':
			c = 'e'
		case '4':
			c = 'a'
		case '5':
			c = 's'
		case '7':
			c = 't'
		}
		buf = append(buf, c)
	}
	return buf
}

// roles are marks of chat formats that begin or end somebody's message, folded.
var roles = [...]string{
	"<|im_start|>", "<|im_end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>", "<|endoftext|>",
	"<|begin_of_text|>", "<|end|>", "<start_of_turn>", "<end_of_turn>", "<<sys>>", "<</sys>>", "[inst]", "[/inst]", "[system_prompt]", "[/system_prompt]",
}

// role looks for the mark of a chat format.
func (sh *shapes) role(at int) {
	if sh.s.scope < Context {
		return
	}
	for _, m := range roles {
		if bytes.HasPrefix(sh.s.f.text[at:], []byte(m)) {
			sh.s.report(roleMarker, at, at+len(m))
			return
		}
	}
}

const roleMarker = "role_marker"

// speaks looks for a line that pretends to be said by somebody else, as "SYSTEM: …", and orders something.
func (sh *shapes) speaks(start, end int) {
	text := sh.s.f.text
	before := sh.back(start, 16)
	if strings.Trim(string(before[bytes.LastIndexByte(before, '\n')+1:]), " \t#*[<-=>_`|({!/") != "" {
		return
	}
	after := text[end:min(len(text), end+32)]
	k := bytes.IndexAny(after, ":]>=\n")
	if k < 0 || after[k] == '\n' || len(bytes.Fields(after[:k])) > 2 {
		return
	}
	from, to := end+k, min(len(text), end+k+speech)
	if n := bytes.Index(text[from:to], []byte("\n\n")); n > 3 {
		to = from + n
	}
	// What was read for the line before is not read again, but for the words that an order may have begun with.
	if sh.spoken > from && to-sh.spoken < 128 {
		return
	}
	if from = max(from, sh.spoken-128); from < to {
		sh.spoken = to
		if sh.s.v.instructs(text[from:to], false, plainOrders) >= 0 {
			sh.s.report("fake_message", start, end+k+1)
			sh.spoken = 0
		}
	}
}
