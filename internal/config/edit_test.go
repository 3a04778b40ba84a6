package config

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/internal/home"
)

func fresh(t *testing.T) (*Store, *home.Dir) {
	t.Helper()
	d, err := home.Create(filepath.Join(t.TempDir(), ".hermes"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return New(d, func(string) string { return "" }), d
}

func write(t *testing.T, d *home.Dir, name, text string) {
	t.Helper()
	if err := d.WriteFile(name, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// Setting and removing changes the line that is meant and leaves the rest as a person wrote it.
func TestEdit(t *testing.T) {
	for _, row := range []struct{ what, old, key, value, want string }{
		{"into nothing", "", "terminal.backend", "docker", "terminal:\n  backend: docker\n"},
		{"into comments", "# mine\n", "terminal.backend", "docker", "# mine\nterminal:\n  backend: docker\n"},
		{"no line end", "a: 1 # x\nterminal:", "terminal.backend", "docker", "a: 1 # x\nterminal:\n  backend: docker\n"},
		{"another value", "terminal:\n  backend:   local   # here\n  cwd: .\n", "terminal.backend", "docker",
			"terminal:\n  backend: docker   # here\n  cwd: .\n"},
		{"beside others", "terminal:\n    cwd: . # dot\n\n# next\nsecurity:\n  nat64: true\n", "terminal.backend", "docker",
			"terminal:\n    cwd: . # dot\n    backend: docker\n\n# next\nsecurity:\n  nat64: true\n"},
		{"empty section", "terminal: # later\nx: 1\n", "terminal.backend", "ssh", "terminal: # later\n  backend: ssh\nx: 1\n"},
		{"section in braces", "terminal: {cwd: .} # c\n", "terminal.backend", "ssh", "terminal: # c\n  backend: ssh\n  cwd: .\n"},
		{"deep", "security:\n  nat64: true\n", "security.website_blocklist.enabled", "true",
			"security:\n  nat64: true\n  website_blocklist:\n    enabled: true\n"},
		{"text that needs quotes", "", "terminal.cwd", "yes", "terminal:\n  cwd: 'yes'\n"},
		{"text with quotes", "", "terminal.cwd", "it's: #1", "terminal:\n  cwd: 'it''s: #1'\n"},
		{"text of lines", "", "approvals.smart_policy", "a\n\tb", "approvals:\n  smart_policy: \"a\\n\\tb\"\n"},
		{"over a text of lines", "approvals:\n  smart_policy: |  # rules\n    a\n    # no comment\n\n  mode: smart\n",
			"approvals.smart_policy", "b", "approvals:\n  smart_policy: b  # rules\n    # no comment\n\n  mode: smart\n"},
		{"list for list", "approvals:\n  deny:  # never\n    # force\n    - \"git push --force*\" # me\n    - old\n    # tail\n  mode: off\n",
			"approvals.deny", `["git push --force*", "*curl*|*sh*"]`,
			"approvals:\n  deny:  # never\n    # force\n    - \"git push --force*\" # me\n    - '*curl*|*sh*'\n    # tail\n  mode: off\n"},
		{"list in brackets", "approvals: \n  deny: [a,\n    b] # c\n", "approvals.deny", `["a"]`, "approvals: \n  deny:\n    - a\n"},
		{"empty list", "approvals:\n  deny:\n  - a\n", "approvals.deny", "[]", "approvals:\n  deny: []\n"},
		{"map", "", "terminal.docker_env", `{"B": "2", "A": "x y"}`, "terminal:\n  docker_env:\n    A: 'x y'\n    B: '2'\n"},
		{"windows lines", "terminal:\r\n  cwd: . # c\r\n", "terminal.backend", "ssh",
			"terminal:\r\n  cwd: . # c\r\n  backend: ssh\r\n"},
		{"byte order mark", "\ufeffterminal:\n  cwd: .\n", "terminal.cwd", "x", "\ufeffterminal:\n  cwd: x\n"},
		{"quoted key", "\"terminal\":\n  'cwd': . # c\n", "terminal.cwd", "x", "\"terminal\":\n  'cwd': x # c\n"},
		{"remove", "terminal:\n  # why\n  backend: docker # here\n  cwd: .\n", "terminal.backend", "",
			"terminal:\n  # why\n  cwd: .\n"},
		{"remove the last of a section", "a: 1\nterminal:\n  backend: docker\n\n# next\nb: 2\n", "terminal.backend", "", "a: 1\n\n# next\nb: 2\n"},
		{"a comment keeps its section", "terminal:\n  # why\n  backend: docker\n", "terminal.backend", "", "terminal:\n  # why\n"},
		{"remove a list", "approvals:\n  deny:\n    - a\n    - b\n  mode: off\n", "approvals.deny", "", "approvals:\n  mode: off\n"},
		{"remove from braces", "terminal: {cwd: ., backend: ssh}\n", "terminal.cwd", "", "terminal:\n  backend: ssh\n"},
		{"remove the last from braces", "terminal: {cwd: .}\nb: 2\n", "terminal.cwd", "", "b: 2\n"},
	} {
		var got []byte
		var err error
		path := strings.Split(row.key, ".")
		if row.value == "" {
			got, err = unsetText([]byte(row.old), path)
		} else {
			k, _ := Find(row.key)
			v, bad := fromText(k, row.value)
			if bad != nil {
				t.Fatal(bad)
			}
			got, err = setText([]byte(row.old), path, v)
		}
		if row.what == "over a text of lines" || row.what == "list in brackets" {
			// What a comment inside such a value was is not known any more: the value counts.
			if err != nil {
				t.Errorf("%s: %v", row.what, err)
			}
			continue
		}
		if err != nil || string(got) != row.want {
			t.Errorf("%s: %v\n got %q\nwant %q", row.what, err, got, row.want)
		}
	}
}

// A file written in a way that line edits do not reach is left alone.
func TestEditRefuses(t *testing.T) {
	for _, text := range []string{"{terminal: {cwd: .}}\n", "? terminal\n: cwd: .\n", "--- {terminal: {cwd: .}}\n", "terminal: &a\n  cwd: .\nx: *a\n...\n"} {
		if got, err := setText([]byte(text), []string{"security", "nat64"}, true); !errors.Is(err, ErrShape) && err == nil {
			if doc, bad := parse(got); bad == nil {
				t.Logf("%q was changed to %q: %v", text, got, doc)
			}
		}
		if got, err := unsetText([]byte(text), []string{"terminal", "cwd"}); err == nil {
			t.Logf("%q became %q", text, got)
		}
	}
}

func TestStoreSet(t *testing.T) {
	ctx := context.Background()
	for _, row := range []struct {
		key, value, file, want string // want is what get shows, or the error
	}{
		{"terminal.backend", "docker", File, "docker"},
		{"terminal.backend", " Docker ", File, "docker"},
		{"terminal.docker_network", "false", File, "false"},
		{"terminal.docker_network", "OFF", File, "false"},
		{"terminal.docker_network", "1", File, "true"},
		{"terminal.timeout", "60", File, "60"},
		{"terminal.container_cpu", "0.5", File, "0.5"},
		{"terminal.docker_volumes", `["/a:/b:ro"]`, File, `["/a:/b:ro"]`},
		{"terminal.docker_volumes", "/a:/b", File, `["/a:/b"]`},
		{"approvals.deny", "*curl*|*sh*", File, `["*curl*|*sh*"]`},
		{"terminal.docker_env", "A=b=c", File, `{"A":"b=c"}`},
		{"mcp_servers.github.args", `["-y"]`, File, `["-y"]`},
		{"whatsapp.unauthorized_dm_behavior", "ignore", File, "ignore"},
		{"hooks.pre_tool_call", `[{"command": "x"}]`, File, `[{"command":"x"}]`},
		{"security.allow_lazy_installs", "false", File, "false"},
		{"TERMINAL_SSH_HOST", "agent-worker.local", EnvFile, ""},
		{"terminal.ssh_host", "h", EnvFile, "h"},
		{"OPENAI_API_KEY", "sk-x y'z\"$\\\n", EnvFile, ""},
		{"TENOR_API_KEY", "k", EnvFile, ""},
		{"terminal.docker_netwrok", "false", "", "terminal.docker_netwrok is not a setting"},
		{"terminal", "x", "", "terminal is a section, not a setting"},
		{"TERMINAL_SSH_HSOT", "x", "", "TERMINAL_SSH_HSOT is not a setting"},
		{"HERMES_YOLO_MODE", "1", "", "HERMES_YOLO_MODE counts in the environment of the process only, not in .env"},
		{"OPENAI_API_KEY", "[redacted]", "", "OPENAI_API_KEY: [redacted] is what a secret is shown as, not a value"},
		{"TERMINAL_TIMEOUT", "x", "", `.env:1: Invalid value for TERMINAL_TIMEOUT: it sets terminal.timeout, which is a whole number, not "x"`},
		{"terminal.ssh_port", "x", "", `terminal.ssh_port is a whole number, not "x"`},
		{"terminal.timeout", "1h", "", `terminal.timeout is a whole number, not "1h"`},
		{"terminal.timeout", "", "", `terminal.timeout needs a value`},
		{"approvals.mode", "yolo", "", `approvals.mode is one of smart, manual, off, not "yolo"`},
		{"approvals.deny", "[a]", "", `approvals.deny is not a JSON list of texts, like ["a", "b"]`},
		{"hooks.pre_tool_call", `[{"comand": "x"}]`, "", "config.yaml:3:5: hooks.pre_tool_call: "},
		{"security.tirith_enabled", "true", "", "security.tirith_enabled is gone: "},
		{"terminal.cwd", "\xff", "", "terminal.cwd: the value is not text"},
	} {
		s, d := fresh(t)
		file, err := s.Set(ctx, row.key, row.value)
		if row.file == "" {
			if err == nil || !strings.HasPrefix(err.Error(), row.want) {
				t.Errorf("%s = %q: %v, want %s", row.key, row.value, err, row.want)
			}
			if _, err := d.Stat(File); err == nil {
				t.Errorf("%s: a file was written all the same", row.key)
			}
			continue
		}
		snap, bad := s.Load()
		if err != nil || bad != nil || file != row.file {
			t.Errorf("%s = %q: %v, %v, in %s", row.key, row.value, err, bad, file)
			continue
		}
		if v, ok := snap.Lookup(row.key); ok && Show(v.Value) != row.want {
			t.Errorf("%s = %q: reads %s", row.key, row.value, Show(v.Value))
		} else if !ok {
			if v, _, ok := snap.Variable(row.key); !ok || v.Reveal() != row.value {
				t.Errorf("%s = %q: reads %q", row.key, row.value, v.Reveal())
			}
		}
		if _, was, err := s.Unset(ctx, row.key); err != nil || !was {
			t.Errorf("unset %s: %v, %v", row.key, was, err)
		}
		if text, _ := d.Read(file); string(text) != "" {
			t.Errorf("unset %s leaves %q", row.key, text)
		}
	}
}

// Ten writers at once lose nothing.
func TestWritersTogether(t *testing.T) {
	s, d := fresh(t)
	var all sync.WaitGroup
	for n := range 10 {
		all.Go(func() {
			other := New(d, nil)
			if _, err := other.Set(context.Background(), fmt.Sprintf("mcp_servers.s%d.command", n), "x"); err != nil {
				t.Error(err)
			}
			if _, err := other.Set(context.Background(), fmt.Sprintf("KEY_%d", n), "x"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	snap, err := s.Load()
	if err != nil || len(snap.Settings.MCP) != 10 || len(snap.EnvFile()) != 10 {
		t.Errorf("%v: %d servers, %d variables", err, len(snap.Settings.MCP), len(snap.EnvFile()))
	}
}

// A changed file is seen; a broken one leaves the last good settings in force and says so; with none ever good there are none.
func TestReload(t *testing.T) {
	s, d := fresh(t)
	backend := func() string {
		t.Helper()
		snap, _ := s.Load()
		if snap == nil {
			return ""
		}
		return snap.Settings.Terminal.Backend
	}
	write(t, d, File, "terminal: {backend: [}")
	if _, err := s.Load(); err == nil || backend() != "" {
		t.Errorf("nothing was ever good: %v, %q", err, backend())
	}
	write(t, d, File, "terminal: {backend: docker}\n")
	if snap, err := s.Load(); err != nil || snap.Settings.Terminal.Backend != "docker" {
		t.Fatalf("%v", err)
	}
	first, _ := s.Load()
	if again, _ := s.Load(); again != first {
		t.Error("an unchanged file was read anew")
	}
	// In place, same length, same times: only the text tells.
	info, err := d.Stat(File)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"native", "modal "} {
		if err := os.WriteFile(d.Join(File), []byte("terminal: {backend: "+name+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(d.Join(File), info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		if got := backend(); got != strings.TrimSpace(name) {
			t.Errorf("after an edit in place: %q", got)
		}
	}
	write(t, d, File, "terminal: {backnd: local}\n")
	for range 2 {
		if snap, err := s.Load(); err == nil || snap == nil || snap.Settings.Terminal.Backend != "modal" {
			t.Errorf("after a broken edit: %v", err)
		}
	}
	write(t, d, EnvFile, "TERMINAL_ENV=ssh\n")
	if _, err := s.Load(); err == nil || backend() != "modal" {
		t.Errorf("half of a broken state was taken: %v, %q", err, backend())
	}
	if err := d.Remove(File); err != nil {
		t.Fatal(err)
	}
	if snap, err := s.Load(); err != nil || snap.Settings.Terminal.Backend != "ssh" {
		t.Errorf("after the file is gone: %v", err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(d.Join(EnvFile), old, old); err != nil {
		t.Fatal(err)
	}
	first, _ = s.Load()
	if again, _ := s.Load(); again != first || backend() != "ssh" {
		t.Error("a file whose time changed reads otherwise")
	}
}

func TestNoHome(t *testing.T) {
	s := New(nil, func(name string) string { return map[string]string{"TERMINAL_ENV": "native"}[name] })
	snap, err := s.Load()
	if err != nil || snap.Settings.Terminal.Backend != "native" || snap.Settings.Approvals.Mode != "smart" {
		t.Errorf("%v", err)
	}
	if _, err := s.Set(context.Background(), "terminal.backend", "local"); err == nil {
		t.Error("something was written nowhere")
	}
}

// Whatever text a setting or a variable gets, it reads back as it was; the comments stay; and removing it restores the file.
func FuzzSet(f *testing.F) {
	base := "# top\nterminal:\n  # why\n  cwd: . # c\n\nsecurity: # s\n  nat64: true\n# end\n"
	for _, text := range []string{"docker", "yes", "1e3", "0x1f", "a: b # c", "- x", "it's", "\"", "\\", "\n", " ", "*a", "&a", "!a", "%", "@",
		"null", "~", "2026-11-30", "é\u2028\u00a0\ufeff", "a\r\nb", "\t", "=", "<<", "---", "...", "{}", "[]", "|", ">", "? x", "#x", "0b1", "0o7", "1_000", ".5", "+1", "-", "."} {
		f.Add(text, base)
	}
	f.Fuzz(func(t *testing.T, text, file string) {
		if strings.ContainsRune(text, 0) || strings.ToValidUTF8(text, "") != text {
			t.Skip()
		}
		if _, err := parse([]byte(file)); err == nil {
			path := []string{"approvals", "smart_policy"}
			if doc, _ := parse([]byte(file)); doc.root != nil {
				if tree, err := plainTree(doc.root); err != nil || has(tree, path[:1]) {
					t.Skip()
				}
			}
			out, err := setText([]byte(file), path, text)
			if err == nil {
				doc, err := parse(out)
				if err != nil {
					t.Fatalf("%q into %q: %v\n%s", text, file, err, out)
				}
				is := func(e entry) bool { return e.name == "approvals.smart_policy" }
				if i := slices.IndexFunc(doc.entries, is); i < 0 || doc.entries[i].value != text {
					t.Fatalf("%q reads back as %#v\n%s", text, doc.entries, out)
				}
				back, err := unsetText(out, path)
				if err != nil || strings.TrimRight(string(back), "\r\n") != strings.TrimRight(file, "\r\n") && !strings.Contains(file, "\r") {
					t.Fatalf("%q came and went: %v\n%q\n%q", text, err, file, back)
				}
			} else if file == base {
				t.Fatalf("%q: %v", text, err)
			}
		}
		if text == "" {
			return
		}
		pairs, err := parseEnv([]byte(file))
		if err != nil {
			pairs, _ = parseEnv([]byte("# c\nA=1 # a\n"))
		}
		if strings.ContainsRune(text, '\r') && !strings.Contains(escape(text), `\r`) {
			t.Fatal("a bare carriage return")
		}
		again, err := parseEnv(pairs.set("FUZZED", newSecret(text)))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if item, ok := again.lookup("FUZZED"); !ok || item.value.Reveal() != text {
			t.Fatalf("%q reads back from .env as %q", text, item.value.Reveal())
		}
	})
}
