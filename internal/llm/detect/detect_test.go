package detect

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hermes/internal/guard/egress"
	"hermes/internal/llm"
	"hermes/internal/secret"
)

func TestKeys(t *testing.T) {
	env := map[string]string{"OPENROUTER_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "", "OTHER_API_KEY": "k"}
	var got []string
	for _, c := range Keys(func(name string) secret.String { return secret.New(env[name]) }) {
		got = append(got, c.Name+" "+string(c.Format)+" "+c.BaseURL+": "+c.Reason)
		if c.Model == "" || c.KeyName == "" {
			t.Errorf("%+v", c)
		}
	}
	want := []string{"anthropic anthropic https://api.anthropic.com: ANTHROPIC_API_KEY is set", "openrouter openai https://openrouter.ai/api/v1: OPENROUTER_API_KEY is set"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, s := range Services() {
		_, err := egress.ParseURL(s.BaseURL)
		if local := s.KeyName == ""; err != nil || strings.HasPrefix(s.BaseURL, "https://") == local || strings.HasPrefix(s.BaseURL, "http://127.0.0.1:") != local {
			t.Errorf("%s: %s %v", s.Name, s.BaseURL, err)
		}
		if found, ok := Find(s.Name); !ok || found != s || strings.ContainsAny(s.Name, ".:/ ") {
			t.Errorf("%q: %+v", s.Name, found)
		}
	}
	if _, ok := Find("nobody"); ok {
		t.Error("nobody is known")
	}
}

// portOf starts a server and returns its port.
func portOf(t *testing.T, answer func(w http.ResponseWriter, r *http.Request)) int {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(answer))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, _ := strconv.Atoi(u.Port())
	return port
}

func TestRunning(t *testing.T) {
	policy, _ := egress.New(egress.Config{Sites: egress.NoSites()})
	says := func(text string) int {
		return portOf(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/models" || r.Header.Get("Authorization") != "" {
				t.Errorf("asked for %s with %v", r.URL.Path, r.Header)
			}
			fmt.Fprint(w, text)
		})
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().(*net.TCPAddr).Port
	closed.Close()
	locals := []Local{
		{"nobody", nobody},
		{"two", says(`{"object":"list","data":[{"id":"q:8b"},{"id":"l:3b"}]}`)},
		{"a web page", says(`<html>hello</html>`)},
		{"other json", says(`{"status":"ok"}`)},
		{"empty", says(`{"object":"list","data":null}`)},
		{"one", says(`{"object":"list","data":[{"id":"g","meta":{"n_ctx_train":8192}}]}`)},
		{"error", portOf(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusInternalServerError) })},
		{"elsewhere", portOf(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://192.0.2.1/v1/models", http.StatusFound)
		})},
	}
	got := Running(t.Context(), func() *egress.Policy { return policy }, locals, 5*time.Second)
	want := []Candidate{
		{Name: "two", Model: "q:8b", Models: []llm.Model{{ID: "q:8b"}, {ID: "l:3b"}}, Reason: "two's port answers on this machine with 2 models"},
		{Name: "empty", Models: []llm.Model{}, Reason: "empty's port answers on this machine, but has no model yet"},
		{Name: "one", Model: "g", Models: []llm.Model{{ID: "g", Limits: llm.Limits{Context: 8192}}}, Reason: "one's port answers on this machine with the model g"},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Candidate{}, "BaseURL", "Format")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestRunningWaitsNoLonger(t *testing.T) {
	policy, _ := egress.New(egress.Config{Sites: egress.NoSites()})
	release := make(chan struct{})
	port := portOf(t, func(w http.ResponseWriter, r *http.Request) { <-release })
	got := Running(t.Context(), func() *egress.Policy { return policy }, []Local{{"slow", port}}, 50*time.Millisecond)
	close(release)
	if len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
