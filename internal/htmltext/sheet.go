package htmltext

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Limits of what is read of a page's own style sheets. A page with more is not read: what it hides is not known.
const (
	maxSheets    = 1 << 20 // bytes, of all
	maxRules     = 4000    // that hide or colour
	maxAlike     = 64      // for one name
	maxNested    = 64      // blocks that only group others
	maxCompounds = 6       // of one selector; longer ones are not read
)

// sheet is what a page's own style sheets say about hiding: the rules that hide, by what their last part asks for.
type sheet struct {
	rules         map[string][]rule // "#id", ".class" or "tag", "*" for any
	size          int               // bytes read
	count, nested int
	over          bool // there is more than is read
}

// rule hides the elements a selector matches, by a property.
type rule struct {
	path  []compound // the last one is for the element itself, those before for some element above, in order
	style declarations
}

// compound is what is asked of one element.
type compound struct {
	tag, id string
	classes []string
}

// add reads one style sheet. Rules under a condition (@media, @supports) are left out: whether they hold is not known.
func (s *sheet) add(text string) {
	if s.size += len(text); s.size > maxSheets {
		s.over = true
		return
	}
	text = plainSheet(text)
	for text != "" {
		if s.count > maxRules || s.nested > maxNested {
			s.over = true
			return
		}
		open := strings.IndexByte(text, '{')
		if open < 0 {
			return
		}
		head := text[:open]
		if at := strings.LastIndexByte(head, ';'); at >= 0 { // @import, @charset
			head = head[at+1:]
		}
		end := block(text[open:])
		inner := text[open+1 : min(len(text), open+end-1)]
		text = text[min(len(text), open+end):]
		head = strings.TrimSpace(head)
		switch {
		case !strings.HasPrefix(head, "@"):
			s.rule(head, inner)
		case head == "@media all" || head == "@media screen" || head == "@media only screen" || strings.HasPrefix(head, "@layer"):
			text = inner + " " + text
			s.nested++
		}
	}
}

// plainSheet takes comments out; escapes stay, which matter only in properties.
func plainSheet(text string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "/*")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if _, text, found = strings.Cut(after, "*/"); !found {
			return b.String()
		}
		b.WriteByte(' ')
	}
}

// block returns the length of a block in braces, which may hold others.
func block(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text) + 1 // not closed: the end closes it
}

// rule adds a rule if it hides.
func (s *sheet) rule(head, inner string) {
	inner, _, _ = strings.Cut(inner, "{") // nested rules are left out
	style := parseStyle(inner)
	if style.hides() == "" && style["color"] == "" && style["background-color"] == "" {
		return
	}
	for text := range strings.SplitSeq(head, ",") {
		path, ok := parseSelector(text)
		if !ok {
			continue
		}
		last := path[len(path)-1]
		key := "*"
		switch {
		case last.id != "":
			key = "#" + last.id
		case len(last.classes) > 0:
			key = "." + last.classes[0]
		case last.tag != "":
			key = last.tag
		}
		if s.rules == nil {
			s.rules = map[string][]rule{}
		}
		s.rules[key] = append(s.rules[key], rule{path, style})
		s.count++
		s.over = s.over || len(s.rules[key]) > maxAlike
	}
}

// parseSelector reads a selector of tags, classes and ids. Others (states, attributes, neighbours) are not read.
func parseSelector(text string) ([]compound, bool) {
	words := strings.Fields(strings.ReplaceAll(text, ">", " "))
	if len(words) == 0 || len(words) > maxCompounds || strings.ContainsAny(text, ":[+~\\&%()") {
		return nil, false
	}
	path := make([]compound, len(words))
	for i, word := range words {
		for word != "" {
			end := strings.IndexAny(word[1:], ".#")
			part := word
			if end >= 0 {
				part = word[:end+1]
			}
			word = word[len(part):]
			switch {
			case part[0] == '.':
				path[i].classes = append(path[i].classes, part[1:])
			case part[0] == '#':
				path[i].id = part[1:]
			case part != "*":
				path[i].tag = strings.ToLower(part)
			}
		}
	}
	return path, true
}

// style returns what the page's sheets say of an element that has to do with hiding.
func (s *sheet) style(n *html.Node) declarations {
	if len(s.rules) == 0 {
		return nil
	}
	var out declarations
	use := func(key string) {
		for _, r := range s.rules[key] {
			if r.matches(n) {
				if out == nil {
					out = declarations{}
				}
				for name, value := range r.style {
					out[name] = value
				}
			}
		}
	}
	use("*")
	use(n.Data)
	if class, ok := attr(n, "class"); ok {
		for name := range strings.FieldsSeq(class) {
			use("." + name)
		}
	}
	if id, ok := attr(n, "id"); ok {
		use("#" + id)
	}
	return out
}

func (r rule) matches(n *html.Node) bool {
	if !r.path[len(r.path)-1].matches(n) {
		return false
	}
	left := len(r.path) - 2
	for up := n.Parent; up != nil && left >= 0; up = up.Parent {
		if r.path[left].matches(up) {
			left--
		}
	}
	return left < 0
}

func (c compound) matches(n *html.Node) bool {
	if n.Type != html.ElementNode || c.tag != "" && c.tag != n.Data {
		return false
	}
	if c.id != "" {
		if id, _ := attr(n, "id"); id != c.id {
			return false
		}
	}
	if len(c.classes) == 0 {
		return true
	}
	class, _ := attr(n, "class")
	has := strings.Fields(class)
	for _, want := range c.classes {
		if !slices.Contains(has, want) {
			return false
		}
	}
	return true
}
