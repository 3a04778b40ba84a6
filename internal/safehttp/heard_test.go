package safehttp

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/guard"
)

// Each request is heard of once: refused ones, redirects, and what came of those that were sent.
func TestHeard(t *testing.T) {
	w := newWorld(t, map[string][][]string{"a.example": public, "b.example": public}, false)
	w.handle = func(out http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			out.Header().Set("Location", "http://b.example:8080/secret-path")
			out.WriteHeader(http.StatusFound)
		case "/in":
			out.Header().Set("Location", "http://169.254.169.254/")
			out.WriteHeader(http.StatusFound)
		default:
			fmt.Fprint(out, "12345")
		}
	}
	for url, want := range map[string][]string{
		"http://a.example/x":              {"GET a.example:80 allow 200 5"},
		"http://a.example/away":           {"GET a.example:80 allow 302 0", "GET b.example:8080 allow 200 5"},
		"http://a.example/in":             {"GET a.example:80 allow 302 0", "GET 169.254.169.254:80 deny address/metadata 0 0"},
		"http://metadata.google.internal": {"GET metadata.google.internal:80 deny host/metadata 0 0"},
		"http://gone.example/":            {"GET gone.example:80 allow 0 0 failed"},
	} {
		var got []string
		c := w.client(t, Options{Heard: func(h Hop) {
			line := fmt.Sprintf("%s %s %s %s %d %d", h.Method, h.Target, h.Verdict.Action, h.Verdict.Rule, h.Status, h.Down)
			if h.Err != nil {
				line += " failed"
			}
			got = append(got, strings.Join(strings.Fields(line), " "))
		}})
		_, err := fetch(c, url)
		if denied := (*guard.DeniedError)(nil); errors.As(err, &denied) != strings.Contains(strings.Join(want, " "), " deny ") {
			t.Errorf("%s: %v", url, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", url, diff)
		}
	}
}
