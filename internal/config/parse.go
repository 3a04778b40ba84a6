package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"
)

// The names of the two files of a home that hold settings.
const (
	File    = "config.yaml"
	EnvFile = ".env"
)

const (
	maxFile  = 4 << 20
	maxDepth = 24
)

// entry is a setting that stands in config.yaml.
type entry struct {
	key   Key
	name  string // the row's name with its open segments filled
	value any
	node  *yaml.Node
	line  int
	col   int
}

// document is a config.yaml that was read.
type document struct {
	root    *yaml.Node // the mapping, nil if the file is empty
	entries []entry
	notices []*Problem
	errs    Problems
}

// parse reads config.yaml. Everything that is wrong is told, not only what comes first.
func parse(text []byte) (*document, error) {
	root, err := parseYAML(text)
	if err != nil {
		return nil, Problems{err}
	}
	d := &document{root: root}
	if root != nil {
		if root.Kind != yaml.MappingNode {
			d.bad(root, "", "", "the file holds %s, not settings", kindOf(root))
		} else {
			d.walk(root, "", 0)
		}
	}
	return d, d.errs.orNil()
}

func (d *document) problem(n *yaml.Node, key, hint, format string, args ...any) *Problem {
	return &Problem{File: File, Line: n.Line, Col: n.Column, Key: key, Hint: hint, Text: fmt.Sprintf(format, args...)}
}

func (d *document) bad(n *yaml.Node, key, hint, format string, args ...any) {
	d.errs = append(d.errs, d.problem(n, key, hint, format, args...))
}

// walk reads the pairs of a section.
func (d *document) walk(section *yaml.Node, prefix string, depth int) {
	seen := make(map[string]int, len(section.Content)/2)
	for i := 0; i+1 < len(section.Content); i += 2 {
		at, value := section.Content[i], resolve(section.Content[i+1])
		if at.Kind != yaml.ScalarNode {
			d.bad(at, prefix, "", "a name is expected here, not %s", kindOf(at))
			continue
		}
		name := at.Value
		if prefix != "" {
			name = prefix + "." + at.Value
		}
		if line, twice := seen[at.Value]; twice {
			d.bad(at, name, "Keep one of them.", "%s is set twice, first in line %d", name, line)
			continue
		}
		seen[at.Value] = at.Line
		if key, ok := Find(name); ok && !strings.Contains(at.Value, ".") {
			d.take(key, name, at, value)
			continue
		}
		switch {
		case !isSection(name) || strings.Contains(at.Value, "."):
			d.unknown(at, name)
		case isNull(value):
		case value.Kind != yaml.MappingNode:
			d.bad(value, name, "", "%s is a section and cannot be %s", name, kindOf(value))
		case depth >= maxDepth:
			d.bad(value, name, "", "%s is nested too deeply", name)
		default:
			d.walk(value, name, depth+1)
		}
	}
}

// unknown tells of a name that is no setting. A misspelt rule that is silently ignored protects nobody.
func (d *document) unknown(at *yaml.Node, name string) {
	hint := "hermes config keys lists the settings."
	if at.Value == "<<" {
		hint = "Write the settings out: merging is not supported."
	} else if _, whole := Find(name); whole {
		hint = "Write each part on a line of its own, indented below the one before."
	} else if near := suggest(name); near != "" {
		hint = "Did you mean " + near + "?"
	}
	d.bad(at, name, hint, "%s is not a setting", name)
}

// take reads the value of one setting.
func (d *document) take(key Key, name string, at, value *yaml.Node) {
	switch {
	case key.Retired != "":
		d.notices = append(d.notices, d.problem(at, name, "", "%s is dropped: %s", name, key.Retired))
		return
	case key.EnvOnly:
		d.bad(at, name, "hermes config set "+name+" VALUE puts it there.", "%s is kept in .env, as %s", name, key.Env)
		return
	case isNull(value):
		return
	}
	r := reader{key: key, name: name, doc: d}
	v, err := r.read(value)
	if err != nil && key.Lenient {
		if key.Fallback == "" {
			key.Fallback = key.Default
		}
		d.notices = append(d.notices, d.problem(value, name, err.Hint, "%s; %s counts", err.Text, shownDefault(key, key.Fallback)))
		v, _ = fromText(key, key.Fallback)
	} else if err != nil {
		d.errs = append(d.errs, err)
		return
	}
	d.entries = append(d.entries, entry{key: key, name: name, value: v, node: value, line: at.Line, col: at.Column})
}

func shownDefault(key Key, text string) string {
	switch {
	case text != "":
		return text
	case key.Kind == List || key.Kind == Map:
		return "an empty one"
	}
	return "none"
}

// parseYAML returns the one document's root, nil for a file without one.
func parseYAML(text []byte) (*yaml.Node, *Problem) {
	if len(text) > maxFile {
		return nil, &Problem{File: File, Text: fmt.Sprintf("more than %d MiB", maxFile>>20)}
	}
	if bytes.IndexByte(text, 0) >= 0 {
		return nil, &Problem{File: File, Line: 1 + bytes.Count(text[:bytes.IndexByte(text, 0)], []byte("\n")), Text: "a NUL byte: this is not text"}
	}
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		return nil, syntaxProblem(text, err)
	}
	var nodes [2]yaml.Node
	found := 0
	for found < len(nodes) {
		if err := loader.Load(&nodes[found]); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, syntaxProblem(text, err)
		}
		found++
	}
	switch found {
	case 0:
		return nil, nil
	case 2:
		return nil, &Problem{File: File, Line: nodes[1].Line, Text: "a second document begins here", Hint: "Remove the line ---."}
	}
	n := &nodes[0]
	if n.Kind == yaml.DocumentNode {
		if len(n.Content) == 0 {
			return nil, nil
		}
		n = n.Content[0]
	}
	if n = resolve(n); isNull(n) {
		return nil, nil
	}
	return n, nil
}

// syntaxProblem puts what the YAML library says into our shape.
func syntaxProblem(text []byte, err error) *Problem {
	p := &Problem{File: File, Text: "cannot be read as YAML"}
	var at *yaml.LoadError
	if errors.As(err, &at) {
		p.Line, p.Col, p.Text = at.Mark.Line, at.Mark.Column, at.Message
	}
	lines := strings.Split(string(text), "\n")
	if p.Line < 1 || p.Line > len(lines) {
		return p
	}
	// The library names the place where it gave up; a value that begins with a sign is there or a line before.
	for _, n := range []int{p.Line, p.Line - 1} {
		if n < 1 {
			continue
		}
		if value, sign := bareSign(lines[n-1]); sign != 0 {
			p.Line = n
			p.Hint = fmt.Sprintf("A value that begins with %c needs quotes: %s", sign, singleQuoted(value))
			break
		}
	}
	if strings.Contains(lines[p.Line-1], "\t") && p.Hint == "" {
		p.Hint = "Indent with spaces, not with tabs."
	}
	return p
}

// bareSign returns a line's unquoted value if it begins with a character that means something to YAML.
func bareSign(line string) (value string, sign byte) {
	line = strings.TrimSpace(line)
	value = line
	if rest, ok := strings.CutPrefix(line, "- "); ok {
		value = strings.TrimSpace(rest)
	} else if _, rest, ok := strings.Cut(line, ": "); ok {
		value = strings.TrimSpace(rest)
	}
	if value == "" || !strings.ContainsRune("*&!%@`{", rune(value[0])) {
		return "", 0
	}
	return value, value[0]
}

// resolve follows an alias to what it stands for.
func resolve(n *yaml.Node) *yaml.Node {
	for range maxDepth {
		if n.Kind != yaml.AliasNode || n.Alias == nil {
			break
		}
		n = n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// kindOf names what a node is, for messages.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	switch n.ShortTag() {
	case "!!bool":
		return "true or false"
	case "!!int", "!!float":
		return "a number"
	case "!!null":
		return "empty"
	}
	return "a text"
}
