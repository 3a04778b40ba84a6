package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"
)

// inline returns a value as it is written behind a colon, false for one that takes lines of its own.
func inline(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "null", true
	case string:
		return scalar(v), true
	case bool, int64, float64:
		return Show(v), true
	case []string:
		return "[]", len(v) == 0
	case map[string]string:
		return "{}", len(v) == 0
	case []any:
		return "[]", len(v) == 0
	case map[string]any:
		return "{}", len(v) == 0
	}
	return "", false
}

// pair returns the lines that set a name to a value.
func pair(indent int, name string, v any) ([]string, error) {
	head := strings.Repeat(" ", indent) + scalar(name) + ":"
	if text, ok := inline(v); ok {
		return []string{head + " " + text}, nil
	}
	below, err := block(indent+2, v)
	return append([]string{head}, below...), err
}

// block returns the lines of a value that does not fit behind a colon.
func block(indent int, v any) ([]string, error) {
	blank := strings.Repeat(" ", indent)
	var out []string
	switch v := v.(type) {
	case []string:
		for _, item := range v {
			out = append(out, blank+"- "+scalar(item))
		}
		return out, nil
	case map[string]string:
		for _, name := range sortedNames(v) {
			out = append(out, blank+scalar(name)+": "+scalar(v[name]))
		}
		return out, nil
	}
	text, err := yaml.Dump(v)
	if err != nil {
		return nil, fmt.Errorf("write as YAML: %w", err)
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n") {
		if line != "" {
			line = blank + line
		}
		out = append(out, line)
	}
	return out, nil
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// scalar writes a text so that YAML reads it back as the same text: bare where that is safe, else quoted.
func scalar(s string) string {
	switch {
	case bareWord(s):
		return s
	case strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		return strconv.Quote(s)
	}
	return singleQuoted(s)
}

func singleQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// bareWord tells whether a text needs no quotes. Numbers, booleans and dates do.
func bareWord(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '/' || c == '.' && i > 0
		if !letter && (i == 0 || !strings.ContainsRune("0123456789:@+,=-", rune(c))) {
			return false
		}
	}
	if s == "" || strings.HasSuffix(s, ":") {
		return false
	}
	if _, err := parseBool(s); err == nil {
		return false
	}
	switch strings.ToLower(s) {
	case "null", "y", "n", "e", ".inf", ".nan", "nan", "inf":
		return false
	}
	return true
}
