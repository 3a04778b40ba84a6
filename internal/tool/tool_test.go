package tool

import (
	"encoding/json"
	"strings"
	"testing"

	"hermes/internal/guard/taint"
)

// What a tool does not know is refused by name; nothing is guessed.
func TestDecode(t *testing.T) {
	for args, cause := range map[string]string{
		`{"url":"x"}`: "", ``: "", `{}`: "", ` {"url":"x"} `: "", `{"uri":"x"}`: `"uri"`, `{"url":1}`: "url", `[]`: "array", `{"url":"x"}{}`: "more than one", `{"url":"x"`: "EOF",
	} {
		var into struct {
			URL string `json:"url"`
		}
		err := Decode(Call{Args: json.RawMessage(args)}, &into)
		if cause == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), cause) {
			t.Errorf("%s: %v, want %q", args, err, cause)
		}
	}
}

// A part whose origin nobody set may not instruct.
func TestOrigin(t *testing.T) {
	if p := (Part{}); p.Origin != taint.Outside || p.Origin.Trusted() {
		t.Error(p.Origin)
	}
}
