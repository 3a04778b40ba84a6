package app

import (
	"context"
	"strings"
	"testing"

	"hermes/internal/audit"
	"hermes/internal/guard"
	"hermes/internal/guard/scope"
	"hermes/internal/safehttp"
	"hermes/internal/tool"
	"hermes/internal/tool/browse"
)

// engineOf returns the name of the search engine that the tools of an app have, "" for none.
func engineOf(t *testing.T, a *App) (string, error) {
	t.Helper()
	tools, err := a.Tools(scope.Session{})
	if err != nil {
		return "", err
	}
	found, ok := tool.Find(tools, "web_search")
	if !ok {
		t.Fatal("no web_search")
	}
	if e := found.(browse.Search).Engine; e != nil {
		return e.Name(), nil
	}
	return "", nil
}

// The search engine is the one the owner chose, else the first that has an address or a key.
func TestSearchEngine(t *testing.T) {
	for _, row := range []struct {
		settings, env string // NAME=value, by blank
		want, err     string
	}{
		{"", "", "", ""}, {"", "TAVILY_API_KEY=k", "tavily", ""}, {"", "BRAVE_SEARCH_API_KEY=k TAVILY_API_KEY=k", "brave", ""}, {"", "SEARXNG_URL=http://10.0.0.5:8080 BRAVE_SEARCH_API_KEY=k", "searxng", ""},
		{"web: {search_backend: tavily}", "SEARXNG_URL=http://10.0.0.5:8080 TAVILY_API_KEY=k", "tavily", ""}, {"web: {search_backend: brave}", "TAVILY_API_KEY=k", "", "BRAVE_SEARCH_API_KEY is not set"}, {"web: {search_backend: searxng}", "", "", "SEARXNG_URL is not set"}, {"", "SEARXNG_URL=ftp://x", "", "ftp"},
	} {
		w := newWorld(t, row.settings)
		for pair := range strings.FieldsSeq(row.env) {
			name, value, _ := strings.Cut(pair, "=")
			w.env[name] = value
		}
		got, err := engineOf(t, w.open(t))
		if got != row.want || (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
			t.Errorf("%s %s: %q %v", row.settings, row.env, got, err)
		}
	}
}

// Settings reach the tools: how much of a page is returned, and which values leave in no URL.
func TestWebSettings(t *testing.T) {
	w := newWorld(t, "web: {extract_char_limit: 1234}")
	w.write(t, ".env", "OPENAI_API_KEY=correct-horse-battery\n")
	tools, err := w.open(t).Tools(scope.Session{})
	if err != nil {
		t.Fatal(err)
	}
	found, _ := tool.Find(tools, "web_extract")
	e := found.(browse.Extract)
	if e.Chars != 1234 || !e.Secret("x correct-horse-battery y") || e.Secret("https://example.com/a-page-about-horses") {
		t.Errorf("%d", e.Chars)
	}
	if _, err := e.Call(context.Background(), tool.Call{Args: []byte(`{"urls":["https://a.example/correct-horse-battery"]}`)}); err == nil {
		t.Error("a secret leaves in a URL")
	}
}

// What a tool asks of the web, and what is refused, is in the log of its session.
func TestWebIsWrittenDown(t *testing.T) {
	w := newWorld(t, "")
	a := w.open(t)
	s, err := a.Session("test")
	if err != nil {
		t.Fatal(err)
	}
	a.fetched(s, safehttp.Hop{Method: "GET", Target: "169.254.169.254:80", Verdict: guard.Verdict{Rule: "address/metadata"}})
	var seen []audit.Record
	for r, err := range audit.Tail(t.Context(), a.root, audit.Query{Last: -1, Keep: func(r audit.Record) bool { return r.Reach != nil }}) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, r)
	}
	if len(seen) != 1 || seen[0].Session != s.String() || seen[0].Reach.Target != "169.254.169.254:80" || seen[0].Reach.Rule != "address/metadata" || seen[0].Reach.Path != "" {
		t.Errorf("%+v", seen)
	}
}
