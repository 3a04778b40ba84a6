package look

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestHook(t *testing.T) {
	answer, err := Hook(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var seen map[string]string
	if err := json.Unmarshal(answer, &seen); err != nil {
		t.Fatal(err)
	}
	for name, part := range map[string]string{
		"status": "NoNewPrivs:", "mountinfo": " / ", "net/dev": "lo:", "ns/net": "net:[", "ns/user": "user:[", "boot_id": "-", "environ": "PATH=",
	} {
		if !strings.Contains(seen[name], part) {
			t.Errorf("%s: %q has no %q", name, seen[name], part)
		}
	}
}
