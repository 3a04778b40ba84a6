package taint

import "bytes"

// A page hides much that is no attack: dialogs, menus, notes of its authors, directives of tools. What is hidden is a finding when it
// instructs: who hides an instruction does not mean it for people.

// order is words of which one is followed by one of others, at most some words later.
type order struct {
	first, then string // words, by blanks
	within      int
}

// orders are how a hidden text instructs.
var orders = [...]order{
	{"ignore ignoring disregard override overriding overrule forget bypass", "previous prior preceding rules rule instructions instruction guidelines prompt prompts system safety " +
		"policy policies restrictions directives directive everything constraints safeguards", 6},
	{"assistant assistants ai llm llms chatbot gpt chatgpt claude gemini copilot", "must should shall please execute run send reveal print fetch include do tell respond answer output obey " +
		"recommend approve ignore always never install download delete call open visit forward say add write rate rank", 5},
	{"send post reveal print exfiltrate upload leak output forward expose include", "secret secrets password passwords credentials token tokens key keys .env env conversation history", 6},
	{"not don't never without", "tell telling mention inform informing reveal", 2},
	{"system developer", "prompt prompts instruction instructions override directive directives command", 1},
	{"new hidden secret real updated additional", "instruction instructions directive directives prompt", 1},
	{"language", "model models", 1},
	{"you", "must shall", 1},
}

// Which orders are looked for: the first four of them also where a text is not hidden, but said to be from somebody else.
const (
	allOrders   = 1<<len(orders) - 1
	plainOrders = 1<<4 - 1
)

// followers are, for each word, which orders it begins and which it ends.
type followers struct {
	first, then uint16
}

func compileOrders() map[string]followers {
	out := map[string]followers{}
	for i, o := range orders {
		for word := range bytes.FieldsSeq([]byte(o.first)) {
			f := out[string(word)]
			f.first |= 1 << i
			out[string(word)] = f
		}
		for word := range bytes.FieldsSeq([]byte(o.then)) {
			f := out[string(word)]
			f.then |= 1 << i
			out[string(word)] = f
		}
	}
	return out
}

// instructs returns where in a folded text one of some orders ends, or -1. What tags say counts if the text is not a part of a page.
func (v *vocabulary) instructs(text []byte, page bool, which uint16) int {
	var seen [len(orders)]int // number of the word that began an order last, from 1
	count, before := 0, 0
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '<' && page:
			k := bytes.IndexByte(text[i:], '>')
			if page = k >= 0; page {
				i += k
			}
			i++
			continue
		case !orderByte(c):
			i++
			continue
		}
		start := i
		for i < len(text) && orderByte(text[i]) {
			i++
		}
		count++
		f, ok := v.orders[string(text[start:i])]
		// prettier-ignore, user-select: a part of a name orders nothing.
		if !ok || start-before == 1 && text[before] == '-' {
			before = i
			continue
		}
		before = i
		for n := range orders {
			if bit := uint16(1) << n & which; f.then&bit != 0 && seen[n] > 0 && count-seen[n] <= orders[n].within {
				return start
			}
		}
		for n := range orders {
			if bit := uint16(1) << n; f.first&bit != 0 {
				seen[n] = count
			}
		}
	}
	return -1
}

// orderByte tells the bytes of the words of orders. An underscore parts words.
func orderByte(c byte) bool { return 'a' <= c && c <= 'z' || c == '\'' }

// hiddenReach is how much of an element that is not shown is read.
const hiddenReach = 4096

// conceals tells whether an element that is not shown, and whose tag has the place at in it, instructs or keeps a word for itself.
func (sh *shapes) conceals(at int) bool {
	text := sh.s.f.text
	open := bytes.IndexByte(text[at:min(len(text), at+tagReach)], '>')
	if open < 0 {
		return false
	}
	from := at + open + 1
	to := min(len(text), from+hiddenReach)
	word, _, _ := bytes.Cut(text[from:min(to, from+64)], []byte("<"))
	if word = bytes.TrimSpace(word); string(word) == "secret" || string(word) == "system" || string(word) == "hidden" {
		return true
	}
	if end := bytes.Index(text[from:to], []byte("</"+sh.open.name)); end >= 0 {
		to = from + end
	}
	// What was read for an element around this one is not read again.
	from = max(from, sh.concealed)
	if from >= to {
		return false
	}
	sh.concealed = to
	return sh.s.v.instructs(text[from:to], true, allOrders) >= 0
}
