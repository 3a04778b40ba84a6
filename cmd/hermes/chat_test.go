package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"hermes/internal/llm/llmtest"
)

// models are the model servers of one script.
type models struct{ server *llmtest.Server }

// model [settings=FILE] [TURN...] starts a model server that plays turns, and makes it the model of the home; settings of a file
// stand in front. Started again it plays other turns.
func model(t testing.TB) func(ts *testscript.TestScript, neg bool, args []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg {
			ts.Fatalf("usage: model [settings=FILE] [TURN...]")
		}
		m := ts.Value(models{}).(*models)
		settings, script := "", ""
		for i, arg := range args {
			if file, ok := strings.CutPrefix(arg, "settings="); ok {
				settings = ts.ReadFile(file)
				continue
			}
			script += fmt.Sprintf("-- %d --\n%s", i, ts.ReadFile(arg))
		}
		m.server = llmtest.New(t, script)
		settings += fmt.Sprintf("model: test:test-model\nproviders:\n  test:\n    base_url: %s/v1\n", m.server.URL)
		dir := filepath.Join(ts.Getenv("HOME"), ".hermes")
		ts.Check(os.MkdirAll(dir, 0o700))
		ts.Check(os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(settings), 0o600))
	}
}

// told [N] TEXT... fails unless the model was told each text, in the Nth request or any.
func told(ts *testscript.TestScript, neg bool, args []string) {
	m := ts.Value(models{}).(*models)
	if m.server == nil || len(args) == 0 {
		ts.Fatalf("usage: told [N] TEXT..., after model")
	}
	seen, n := m.server.Seen(), 0
	if _, err := fmt.Sscanf(args[0], "%d", &n); err == nil && len(args) > 1 {
		if n < 1 || n > len(seen) {
			ts.Fatalf("there were %d requests", len(seen))
		}
		seen, args = seen[n-1:n], args[1:]
	}
	for _, text := range args {
		found := false
		for _, r := range seen {
			found = found || r.Has(text)
		}
		if found == neg {
			var all strings.Builder
			for i, r := range seen {
				fmt.Fprintf(&all, "--- %d\n%s\n", i+1, r.Body)
			}
			ts.Fatalf("the model was told %q: %v; it was told:\n%s", text, found, all.String())
		}
	}
}

// played fails unless the model server has played all of its script.
func played(ts *testscript.TestScript, neg bool, args []string) {
	m := ts.Value(models{}).(*models)
	if neg || len(args) > 0 || m.server == nil {
		ts.Fatalf("usage: played, after model")
	}
	if n := m.server.Left(); n > 0 {
		ts.Fatalf("%d turns of the model were not asked for", n)
	}
}
