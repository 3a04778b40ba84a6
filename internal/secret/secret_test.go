package secret

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

const value = "hunter2-S3cret"

type holder struct {
	Name   string
	Key    String
	Ptr    *String
	inner  String
	Nested map[string]String
}

func newHolder() holder {
	s := New(value)
	return holder{Name: "db", Key: s, Ptr: &s, inner: s, Nested: map[string]String{"k": s}}
}

func TestPrintsMask(t *testing.T) {
	h := newHolder()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%T", "%p", "%08.3f", "%U", "%c", "%w"} {
		for _, arg := range []any{h.Key, h.Ptr, h, &h, []String{h.Key}, h.Nested} {
			got := fmt.Sprintf(verb, arg)
			checkHidden(t, "fmt "+verb, got)
		}
	}
	if got := fmt.Sprint(h.Key); got != Mask {
		t.Errorf("Sprint = %q, want %q", got, Mask)
	}
	if got := fmt.Sprintf("%x", h.Key); got != Mask {
		t.Errorf("%%x = %q, want %q", got, Mask)
	}
}

func TestEncodersGiveMask(t *testing.T) {
	h := newHolder()
	j, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	checkHidden(t, "json", string(j))
	if !strings.Contains(string(j), `"Key":"[redacted]"`) {
		t.Errorf("json = %s, want the mask", j)
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(h.Key); err != nil {
		t.Fatal(err)
	}
	checkHidden(t, "gob", b.String())
	text, _ := h.Key.MarshalText()
	yaml, _ := h.Key.MarshalYAML()
	checkHidden(t, "text", string(text))
	checkHidden(t, "yaml", fmt.Sprint(yaml))
}

func TestSlogGivesMask(t *testing.T) {
	h := newHolder()
	var b bytes.Buffer
	for _, l := range []*slog.Logger{slog.New(slog.NewTextHandler(&b, nil)), slog.New(slog.NewJSONHandler(&b, nil))} {
		l.Info("start", "key", h.Key, "ptr", h.Ptr, "holder", h, "group", slog.GroupValue(slog.Any("k", h.Key)))
	}
	checkHidden(t, "slog", b.String())
	if strings.Count(b.String(), Mask) < 4 {
		t.Errorf("slog = %s, want masks", b.String())
	}
}

func checkHidden(t *testing.T, what, got string) {
	t.Helper()
	if strings.Contains(got, value) || strings.Contains(strings.ToLower(got), fmt.Sprintf("%x", value)) {
		t.Errorf("%s shows the value: %s", what, got)
	}
}

func TestReveal(t *testing.T) {
	if got := New(value).Reveal(); got != value {
		t.Errorf("Reveal = %q", got)
	}
	if got := (String{}).Reveal(); got != "" || !(String{}).Empty() || !New("").Empty() || New("x").Empty() {
		t.Errorf("the zero value is not the empty secret: %q", got)
	}
}

func TestEqual(t *testing.T) {
	rows := []struct {
		a, b string
		want bool
	}{
		{"", "", true},
		{"a", "", false},
		{"abc", "abc", true},
		{"abc", "abd", false},
		{"abc", "abcd", false},
	}
	for _, r := range rows {
		if got := New(r.a).Equal(New(r.b)); got != r.want {
			t.Errorf("Equal(%q, %q) = %v", r.a, r.b, got)
		}
		if got := New(r.a).EqualText(r.b); got != r.want {
			t.Errorf("EqualText(%q, %q) = %v", r.a, r.b, got)
		}
	}
}

func TestUnmarshal(t *testing.T) {
	var h struct{ Key String }
	if err := json.Unmarshal([]byte(`{"Key":"hunter2-S3cret"}`), &h); err != nil || h.Key.Reveal() != value {
		t.Errorf("Unmarshal: %v, %q", err, h.Key.Reveal())
	}
	if err := json.Unmarshal([]byte(`{"Key":"[redacted]"}`), &h); err == nil {
		t.Error("the mask was taken as a value")
	}
}
