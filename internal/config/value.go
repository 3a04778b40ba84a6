package config

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"hermes/internal/guard/checked"
	"hermes/internal/spell"
)

// reader turns the node of one setting into its value: string, bool, int64, float64, []string, map[string]string, or for a
// Tree whatever it holds.
type reader struct {
	key  Key
	name string
	doc  *document
}

func (r reader) wrong(n *yaml.Node, hint, format string, args ...any) *Problem {
	return r.doc.problem(n, r.name, hint, format, args...)
}

func (r reader) read(n *yaml.Node) (any, *Problem) {
	switch r.key.Kind {
	case List:
		return r.list(n)
	case Map:
		return r.stringMap(n)
	case Tree:
		var v any
		if err := n.Load(&v); err != nil {
			return nil, r.wrong(n, "", "%s cannot be read: %v", r.name, err)
		}
		if err := checkTree(r.name, n); err != nil {
			return nil, r.wrong(n, "", "%s: %v", r.name, err)
		}
		return v, nil
	}
	if n.Kind != yaml.ScalarNode {
		return nil, r.wrong(n, "", "%s is %s and cannot be %s", r.name, r.key.Kind, kindOf(n))
	}
	text, quoted := n.Value, n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	switch r.key.Kind {
	case Choice:
		if !quoted {
			text = r.plainBool(text)
		}
	case Text:
		if r.key.Lenient && n.ShortTag() != "!!str" {
			return nil, r.wrong(n, "", "%s is %s and cannot be %s", r.name, r.key.Kind, kindOf(n))
		}
	case Bool:
		if quoted && r.name == "security.website_blocklist.enabled" {
			return nil, r.wrong(n, "Remove the quotes.", "%s is true or false and cannot be a text", r.name)
		}
	}
	v, err := fromText(r.key, text)
	if err != nil {
		return nil, r.wrong(n, r.near(text), "%s %v", r.name, err)
	}
	return v, nil
}

// plainBool gives an unquoted yes, no, on, off, true or false the meaning it has in YAML where a choice is expected:
// approvals.mode knows the two, the others take neither for consent.
func (r reader) plainBool(text string) string {
	on, err := parseBool(text)
	if err != nil {
		return text
	}
	switch {
	case r.name != "approvals.mode":
		return strconv.FormatBool(on)
	case on:
		return "manual"
	}
	return "off"
}

func (r reader) near(text string) string {
	if r.key.Kind != Choice {
		return ""
	}
	if near := spell.Nearest(text, r.key.Values); near != "" {
		return "Did you mean " + near + "?"
	}
	return ""
}

// list reads a list of texts. One text alone counts as a list of one: never as its letters.
func (r reader) list(n *yaml.Node) (any, *Problem) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		if r.name == "command_allowlist" {
			return r.recovered(n)
		}
		n = &yaml.Node{Kind: yaml.SequenceNode, Line: n.Line, Column: n.Column, Content: []*yaml.Node{n}}
	}
	if n.Kind != yaml.SequenceNode {
		return nil, r.wrong(n, "", "%s is a list and cannot be %s", r.name, kindOf(n))
	}
	out := []string{}
	for i, item := range n.Content {
		item = resolve(item)
		var err error
		hint := ""
		switch {
		case item.Kind != yaml.ScalarNode || item.ShortTag() != "!!str":
			hint = "Put it in quotes if it is meant."
			err = fmt.Errorf("item %d of %s is %s, not a text", i+1, r.name, kindOf(item))
		case r.key.Names:
			err = checkName(item.Value)
		}
		switch {
		case err != nil && r.key.Lenient:
			r.doc.notices = append(r.doc.notices, r.wrong(item, "", "%v; it is left out", err))
		case err != nil:
			return nil, r.wrong(item, hint, "%v", err)
		case strings.TrimSpace(item.Value) != "":
			out = append(out, item.Value)
		}
	}
	return out, nil
}

// recovered reads a list that an older version stored as one text.
func (r reader) recovered(n *yaml.Node) (any, *Problem) {
	var items []string
	text := strings.TrimSpace(n.Value)
	if !strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "- ") || yaml.Load([]byte(text), &items) != nil {
		return nil, r.wrong(n, "Write one item a line, each after a dash.", "%s is a list and cannot be a text", r.name)
	}
	r.doc.notices = append(r.doc.notices, r.wrong(n, "Save it as a list: hermes config edit",
		"%s is a list written as one text", r.name))
	return slices.DeleteFunc(items, func(s string) bool { return strings.TrimSpace(s) == "" }), nil
}

func (r reader) stringMap(n *yaml.Node) (any, *Problem) {
	if n.Kind != yaml.MappingNode {
		return nil, r.wrong(n, "", "%s is a map and cannot be %s", r.name, kindOf(n))
	}
	out := make(map[string]string, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		at, value := n.Content[i], resolve(n.Content[i+1])
		if value.Kind != yaml.ScalarNode || at.Kind != yaml.ScalarNode {
			return nil, r.wrong(at, "", "%s.%s is %s, not a text", r.name, at.Value, kindOf(value))
		}
		if _, twice := out[at.Value]; twice {
			return nil, r.wrong(at, "Keep one of them.", "%s.%s is set twice", r.name, at.Value)
		}
		if r.key.Names {
			if err := checkName(at.Value); err != nil {
				return nil, r.wrong(at, "", "%s: %v", r.name, err)
			}
		}
		if !isNull(value) {
			out[at.Value] = value.Value
		}
	}
	return out, nil
}

func checkName(name string) error {
	if strings.TrimSpace(name) == "" {
		return nil // left out by the caller
	}
	_, err := checked.ParseEnvName(name)
	return err
}

// parseBool reads the spellings of YAML and of the environment.
func parseBool(text string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "yes", "on", "1":
		return true, nil
	case "false", "no", "off", "0":
		return false, nil
	}
	return false, fmt.Errorf("is true or false, not %q", text)
}

// fromText reads a value from one text. The error goes on after the setting's name.
func fromText(k Key, text string) (any, error) {
	switch k.Kind {
	case Text:
		return text, nil
	case Bool:
		if text == "" {
			return false, nil
		}
		return parseBool(text)
	case Int:
		return parseInt(k, text)
	case Number:
		return parseNumber(k, text)
	case Choice:
		return parseChoice(k, text)
	case List:
		return parseList(k, text)
	case Map:
		return parseMap(k, text)
	case Tree:
		if text == "" {
			return nil, nil
		}
		var v any
		if err := yaml.Load([]byte(text), &v); err != nil {
			return nil, fmt.Errorf("is not YAML: %v", err)
		}
		return v, nil
	}
	return nil, fmt.Errorf("has no kind")
}

func parseInt(k Key, text string) (any, error) {
	if text == "" {
		return int64(0), nil
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	switch {
	case err != nil:
		return nil, fmt.Errorf("is a whole number, not %q", text)
	case n < k.Min:
		return nil, fmt.Errorf("is at least %d, not %d", k.Min, n)
	}
	if k.Name == "approvals.timeout" {
		n = min(n, 365*24*3600)
	}
	return n, nil
}

func parseNumber(k Key, text string) (any, error) {
	if text == "" {
		return 0.0, nil
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	switch {
	case err != nil || math.IsNaN(n) || math.IsInf(n, 0):
		return nil, fmt.Errorf("is a number, not %q", text)
	case n < float64(k.Min):
		return nil, fmt.Errorf("is at least %d, not %s", k.Min, text)
	}
	return n, nil
}

func parseChoice(k Key, text string) (any, error) {
	word := strings.ToLower(strings.TrimSpace(text))
	if slices.Equal(k.Values, headless) && slices.Contains([]string{"off", "allow", "yes"}, word) {
		word = "approve"
	}
	if slices.Contains(k.Values, word) || word == "" && k.Default == "" {
		return word, nil
	}
	shown := slices.DeleteFunc(slices.Clone(k.Values), func(s string) bool { return s == "" })
	return nil, fmt.Errorf("is one of %s, not %q", strings.Join(shown, ", "), text)
}

// parseList reads a JSON list, or takes the text as the only item.
func parseList(k Key, text string) (any, error) {
	out := []string{}
	switch t := strings.TrimSpace(text); {
	case t == "":
	case strings.HasPrefix(t, "["):
		if err := json.Unmarshal([]byte(t), &out); err != nil || out == nil {
			return nil, fmt.Errorf(`is not a JSON list of texts, like ["a", "b"]`)
		}
	default:
		out = append(out, text)
	}
	for _, item := range out {
		switch {
		case strings.TrimSpace(item) == "":
			return nil, fmt.Errorf("has an empty item")
		case k.Names:
			if err := checkName(item); err != nil {
				return nil, fmt.Errorf("holds names of variables: %w", err)
			}
		}
	}
	return out, nil
}

// parseMap reads a JSON object of texts, or one NAME=VALUE.
func parseMap(k Key, text string) (any, error) {
	out := map[string]string{}
	switch t := strings.TrimSpace(text); {
	case t == "":
	case strings.HasPrefix(t, "{"):
		var m map[string]any
		if err := json.Unmarshal([]byte(t), &m); err != nil {
			return nil, fmt.Errorf(`is not a JSON object, like {"NAME": "value"}`)
		}
		for name, v := range m {
			switch v := v.(type) {
			case string:
				out[name] = v
			case bool, float64:
				b, _ := json.Marshal(v)
				out[name] = string(b)
			default:
				return nil, fmt.Errorf("has no text under %q", name)
			}
		}
	default:
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf(`is a JSON object, like {"NAME": "value"}, or NAME=value`)
		}
		out[name] = value
	}
	for name := range out {
		if k.Names && checkName(name) != nil || name == "" {
			return nil, fmt.Errorf("has %q, which is not the name of a variable", name)
		}
	}
	return out, nil
}

// Show returns a value as hermes config get prints it: a text as it is, lists and maps as JSON.
func Show(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
