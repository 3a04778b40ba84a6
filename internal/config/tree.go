package config

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Hook is a program that is run on an event.
type Hook struct {
	Command    string `yaml:"command"`
	Matcher    string `yaml:"matcher"`
	Timeout    int    `yaml:"timeout"`
	FailClosed bool   `yaml:"fail_closed"`
	OldClosed  bool   `yaml:"failClosed"` // the older spelling of FailClosed
}

// Required is a command that is asked about every time. A text alone is a pattern that a person reviews.
type Required struct {
	Pattern     string `yaml:"pattern"`
	Description string `yaml:"description"`
	Review      string `yaml:"review"` // human or smart
}

// checkTree reads a Tree into its type, so that a slip in it is told at once.
func checkTree(name string, n *yaml.Node) error {
	switch {
	case name == "hooks.outbound":
		return nil
	case strings.HasPrefix(name, "hooks."):
		_, err := hooksOf(n)
		return err
	case name == "approvals.command_approval_required":
		_, err := requiredOf(n)
		return err
	}
	return nil
}

func hooksOf(n *yaml.Node) ([]Hook, error) {
	var out []Hook
	if err := n.Load(&out, yaml.WithKnownFields()); err != nil {
		return nil, plainError(err)
	}
	for i := range out {
		h := &out[i]
		h.FailClosed = h.FailClosed || h.OldClosed
		switch {
		case strings.TrimSpace(h.Command) == "":
			return nil, fmt.Errorf("hook %d has no command", i+1)
		case h.Timeout < 0 || h.Timeout > 300:
			return nil, fmt.Errorf("hook %d: the timeout is 0 to 300 seconds, not %d", i+1, h.Timeout)
		}
	}
	return out, nil
}

func requiredOf(n *yaml.Node) ([]Required, error) {
	if n.Kind != yaml.SequenceNode {
		return nil, fmt.Errorf("a list is expected, not %s", kindOf(n))
	}
	var out []Required
	for i, item := range n.Content {
		r := Required{Review: "human"}
		item = resolve(item)
		var err error
		if item.Kind == yaml.ScalarNode {
			err = item.Load(&r.Pattern)
		} else {
			err = item.Load(&r, yaml.WithKnownFields())
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("item %d: %w", i+1, plainError(err))
		case strings.TrimSpace(r.Pattern) == "":
			return nil, fmt.Errorf("item %d has no pattern", i+1)
		case r.Review != "human" && r.Review != "smart":
			return nil, fmt.Errorf("item %d: review is human or smart, not %q", i+1, r.Review)
		}
		out = append(out, r)
	}
	return out, nil
}

// plainError drops what the YAML library says about itself.
func plainError(err error) error {
	text := strings.ReplaceAll(err.Error(), "\n", " ")
	return fmt.Errorf("%s", strings.TrimPrefix(strings.TrimPrefix(text, "yaml: "), "construct errors: "))
}
