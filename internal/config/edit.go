package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// ErrShape says that a file is written in a way that cannot be changed from outside without disturbing the rest of it.
var ErrShape = errors.New("the file is written in a way that only an editor can change safely")

// sheet is a config.yaml as lines. It is changed line by line, so that what a person wrote around a setting (comments,
// order, empty lines, quotes) stays as it is.
type sheet struct {
	lines []string
}

// setText returns text with path set to value.
func setText(text []byte, path []string, value any) ([]byte, error) {
	return change(text, path, value, func(s *sheet, root *yaml.Node) error { return s.set(root, path, value) })
}

// unsetText returns text without path. Sections that are empty then go, too, unless a comment stands in them.
func unsetText(text []byte, path []string) ([]byte, error) {
	return change(text, path, nil, func(s *sheet, root *yaml.Node) error { return s.unset(root, path) })
}

// change runs one edit and reads the result back: it must say exactly what was wanted, and nothing else may differ.
func change(text []byte, path []string, value any, edit func(*sheet, *yaml.Node) error) ([]byte, error) {
	body, bom := strings.CutPrefix(string(text), "\ufeff")
	unix := strings.ReplaceAll(body, "\r\n", "\n")
	root, problem := parseYAML([]byte(unix))
	if problem != nil {
		return nil, Problems{problem}
	}
	s := &sheet{lines: strings.Split(unix, "\n")}
	if err := edit(s, root); err != nil {
		return nil, err
	}
	out := strings.Join(s.lines, "\n")
	if err := confirm(root, []byte(out), path, value); err != nil {
		return nil, err
	}
	if unix != body {
		out = strings.ReplaceAll(out, "\n", "\r\n")
	}
	if bom {
		out = "\ufeff" + out
	}
	return []byte(out), nil
}

func confirm(root *yaml.Node, after []byte, path []string, value any) error {
	want, err := plainTree(root)
	if err != nil {
		return err
	}
	want, _ = prune(put(want, path, value)).(map[string]any)
	changed, problem := parseYAML(after)
	if problem != nil {
		return fmt.Errorf("%w (%s)", ErrShape, problem.Text)
	}
	got, err := plainTree(changed)
	if err != nil {
		return err
	}
	if Show(prune(got)) != Show(prune(want)) {
		return ErrShape
	}
	return nil
}

// plainTree decodes a root into maps, lists and scalars.
func plainTree(root *yaml.Node) (map[string]any, error) {
	out := map[string]any{}
	if root == nil {
		return out, nil
	}
	if err := root.Load(&out); err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrShape, plainError(err))
	}
	return out, nil
}

// put sets a value in a tree of maps; nil removes.
func put(tree map[string]any, path []string, value any) any {
	if tree == nil {
		tree = map[string]any{}
	}
	if len(path) == 1 {
		if value == nil {
			delete(tree, path[0])
		} else {
			tree[path[0]] = value
		}
		return tree
	}
	inner, _ := tree[path[0]].(map[string]any)
	tree[path[0]] = put(inner, path[1:], value)
	return tree
}

// prune drops what says nothing: nulls and empty maps.
func prune(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := map[string]any{}
	for name, inner := range m {
		inner = prune(inner)
		if empty, isMap := inner.(map[string]any); inner != nil && !(isMap && len(empty) == 0) {
			out[name] = inner
		}
	}
	return out
}

// place is where a name stands in the sheet: the lines [start, end), without comments and empty lines that follow.
type place struct {
	key, value *yaml.Node
	start, end int
}

func (s *sheet) places(m *yaml.Node, end int) []place {
	var out []place
	for i := 0; i+1 < len(m.Content); i += 2 {
		p := place{key: m.Content[i], value: m.Content[i+1], start: m.Content[i].Line - 1, end: end}
		if i+2 < len(m.Content) {
			p.end = m.Content[i+2].Line - 1
		}
		for p.end > p.start+1 && s.loose(p.end-1, p.key.Column-1) {
			p.end--
		}
		out = append(out, p)
	}
	return out
}

// loose tells whether a line is empty or a comment that is not indented below a key.
func (s *sheet) loose(i, indent int) bool {
	text := strings.TrimLeft(s.lines[i], " ")
	return text == "" || text[0] == '#' && len(s.lines[i])-len(text) <= indent
}

func isFlow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }

// set changes or adds the setting at path below the mapping m.
func (s *sheet) set(root *yaml.Node, path []string, value any) error {
	if root == nil {
		return s.add(len(s.lines), 0, path, value)
	}
	m, end, indent := root, len(s.lines), root.Column-1
	if isFlow(m) {
		return ErrShape
	}
	for depth := range path {
		places := s.places(m, end)
		i := slices.IndexFunc(places, func(p place) bool { return p.key.Value == path[depth] })
		if i < 0 {
			at := len(s.lines) // a new section goes to the end of the file
			if depth > 0 {
				at = places[len(places)-1].end
			}
			return s.add(at, indent, path[depth:], value)
		}
		p := places[i]
		last := depth == len(path)-1
		switch {
		case last:
			return s.replace(p, value)
		case isNull(p.value):
			if err := s.write(p, "", nil); err != nil {
				return err
			}
			return s.add(p.start+1, indent+2, path[depth+1:], value)
		case p.value.Kind != yaml.MappingNode:
			return ErrShape
		case isFlow(p.value):
			inner, err := plainTree(p.value)
			if err != nil {
				return err
			}
			return s.replace(p, put(inner, path[depth+1:], value))
		}
		m, end, indent = p.value, p.end, p.value.Column-1
	}
	return nil
}

// add puts the lines of a new setting before line at.
func (s *sheet) add(at, indent int, path []string, value any) error {
	for _, name := range slices.Backward(path[1:]) {
		value = map[string]any{name: value}
	}
	var lines []string
	for {
		inner, nested := value.(map[string]any)
		if !nested || len(path) == 1 {
			break
		}
		lines = append(lines, strings.Repeat(" ", indent)+scalar(path[0])+":")
		path, indent = path[1:], indent+2
		value = inner[path[0]]
	}
	more, err := pair(indent, path[0], value)
	if err != nil {
		return err
	}
	lines = append(lines, more...)
	if at >= len(s.lines) { // the last line is what follows the last line end
		if last := len(s.lines) - 1; s.lines[last] == "" {
			at = last
		} else {
			at = len(s.lines)
			lines = append(lines, "")
		}
	}
	s.lines = slices.Insert(s.lines, at, lines...)
	return nil
}

// replace gives the setting at p another value.
func (s *sheet) replace(p place, value any) error {
	if text, ok := inline(value); ok {
		return s.write(p, text, s.comments(p.start+1, p.end))
	}
	if items, ok := value.([]string); ok && p.value.Kind == yaml.SequenceNode && !isFlow(p.value) {
		if lines, ok := s.items(p, items); ok {
			return s.write(p, "", lines)
		}
	}
	lines, err := block(p.key.Column+1, value)
	if err != nil {
		return err
	}
	return s.write(p, "", append(s.comments(p.start+1, p.end), lines...))
}

// items returns the lines of a list that becomes another one: what stays keeps its line, and every comment stays.
func (s *sheet) items(p place, want []string) ([]string, bool) {
	old := p.value.Content
	for i, item := range old {
		line := item.Line - 1
		if item.Kind != yaml.ScalarNode || line <= p.start || line >= p.end || i > 0 && line == old[i-1].Line-1 ||
			!strings.HasPrefix(strings.TrimSpace(s.lines[line]), "- ") {
			return nil, false
		}
	}
	indent := strings.Repeat(" ", p.value.Column-1)
	var out []string
	from, next := p.start+1, 0 // lines and items that were dealt with
	for _, text := range want {
		i := slices.IndexFunc(old[next:], func(n *yaml.Node) bool { return n.Value == text })
		if i < 0 {
			out = append(out, indent+"- "+scalar(text))
			continue
		}
		line := old[next+i].Line - 1
		out = append(append(out, s.comments(from, line)...), s.lines[line])
		from, next = line+1, next+i+1
	}
	return append(out, s.comments(from, p.end)...), true
}

// comments returns the lines of a range that hold a comment and nothing else.
func (s *sheet) comments(from, to int) []string {
	var out []string
	for _, line := range s.lines[from:max(from, to)] {
		if strings.HasPrefix(strings.TrimLeft(line, " "), "#") {
			out = append(out, line)
		}
	}
	return out
}

// write puts a value behind the key at p, keeps the comment at the end of that line, and puts lines below it.
func (s *sheet) write(p place, value string, lines []string) error {
	line := s.lines[p.start]
	colon := keyEnd(line, p.key)
	if colon < 0 {
		return ErrShape
	}
	head, rest := line[:colon], line[colon:]
	if value != "" {
		head += " " + value
	}
	if at := commentIn(rest); at >= 0 {
		head += strings.Repeat(" ", max(1, at-len(strings.TrimRight(rest[:at], " ")))) + rest[at:]
	}
	s.lines = slices.Replace(s.lines, p.start, p.end, append([]string{head}, lines...)...)
	return nil
}

// keyEnd returns the offset behind the colon of the key in its line, -1 if it is not there.
func keyEnd(line string, key *yaml.Node) int {
	at := len(string([]rune(line)[:min(key.Column-1, len([]rune(line)))]))
	rest := line[at:]
	switch {
	case strings.HasPrefix(rest, "'") || strings.HasPrefix(rest, `"`):
		end := strings.IndexByte(rest[1:], rest[0])
		if end < 0 {
			return -1
		}
		at += end + 2
	case strings.HasPrefix(rest, key.Value):
		at += len(key.Value)
	default:
		return -1
	}
	blank := len(line[at:]) - len(strings.TrimLeft(line[at:], " "))
	if !strings.HasPrefix(line[at+blank:], ":") {
		return -1
	}
	return at + blank + 1
}

// commentIn returns where a comment begins in what follows a colon, -1 if there is none.
func commentIn(s string) int {
	var quote, last byte
	for i := range len(s) {
		c := s[i]
		switch {
		case quote != 0:
			if c == '\\' && quote == '"' {
				last = c
				continue
			}
			if c == quote && !(quote == '"' && last == '\\') {
				quote = 0
			}
		case (c == '\'' || c == '"') && (last == 0 || strings.IndexByte("[{,:", last) >= 0):
			quote = c
		case c == '#' && (i == 0 || s[i-1] == ' ' || s[i-1] == '\t'):
			return i
		}
		if c != ' ' && c != '\t' {
			last = c
		}
	}
	return -1
}

// unset removes the setting at path, and each section above that holds nothing else.
func (s *sheet) unset(root *yaml.Node, path []string) error {
	if root == nil || isFlow(root) {
		return ErrShape
	}
	m, end := root, len(s.lines)
	var gone, parent place
	for depth, name := range path {
		if m.Kind != yaml.MappingNode {
			return ErrShape
		}
		if isFlow(m) {
			inner, err := plainTree(m)
			if err != nil {
				return err
			}
			if left, _ := prune(put(inner, path[depth:], nil)).(map[string]any); len(left) > 0 {
				return s.replace(parent, left)
			}
			break
		}
		places := s.places(m, end)
		i := slices.IndexFunc(places, func(p place) bool { return p.key.Value == name })
		if i < 0 {
			return ErrShape
		}
		parent = places[i]
		// A section goes with its only setting, if nothing else stands in it.
		if depth == 0 || len(places) > 1 || len(s.comments(gone.start+1, gone.end)) > 0 {
			gone = parent
		}
		m, end = resolve(parent.value), parent.end
	}
	s.lines = slices.Delete(s.lines, gone.start, gone.end)
	return nil
}
