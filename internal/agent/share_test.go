package agent

import (
	"fmt"
	"strings"
	"testing"

	"hermes/internal/llm"
	"hermes/internal/session"
)

// Many long results of one answer fit into a request together: the short ones whole, and of the others as much as is left.
func TestResultsTogether(t *testing.T) {
	for _, row := range []struct {
		what string
		most int
		all  []int
		want int
	}{
		{"one", 1000, []int{5000}, 1000},
		{"two", 1000, []int{5000, 5000}, 1000},
		{"short ones", 1000, []int{10, 20, 900, 900}, 1000},
		{"three long ones", 3000, []int{5000, 5000, 5000}, 2000},
		{"short ones among long ones", 3000, []int{500, 500, 5000, 5000, 5000, 5000}, 1250},
		{"very many", 3000, slicesOf(128, 4000), leastShare},
	} {
		l := &lengths{row.all}
		if got := (&entry{results: l}).clip(row.most); got != row.want {
			t.Errorf("%s: %d, want %d", row.what, got, row.want)
		}
	}
	h := &history{ids: map[string]bool{}}
	answer := session.Message{Message: llm.Message{Role: llm.Assistant}}
	for i := range 20 {
		answer.Calls = append(answer.Calls, call(fmt.Sprint(i), "web", "{}"))
	}
	h.add(session.Message{Message: llm.Message{Role: llm.User, Text: "read them"}})
	h.add(answer)
	for i := range 20 {
		text := strings.Repeat("x", 90_000)
		if i == 7 {
			text = "short"
		}
		h.add(session.Message{Message: llm.Message{Role: llm.Result, CallID: fmt.Sprint(i), Text: text}})
	}
	most := longestResult(llm.Limits{Context: 40_000})
	size := 0
	for _, m := range h.messages(most) {
		size += len(m.Text)
		if m.CallID == "7" && m.Text != "short" {
			t.Errorf("%q", m.Text)
		}
	}
	if size > 2*most+20*200 || size < most { // each says what is left out
		t.Errorf("%d bytes, %d of one", size, most)
	}
	if got := h.tokens(0, most); got > 40_000 {
		t.Errorf("counted as %d tokens", got)
	}
}

func slicesOf(n, value int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = value
	}
	return out
}

// An answer that broke off before it was counted takes what it holds.
func TestTokensOfABrokenAnswer(t *testing.T) {
	h := &history{ids: map[string]bool{}}
	h.add(session.Message{Message: llm.Message{Role: llm.User, Text: "go"}})
	h.add(session.Message{ID: 2, Message: llm.Message{Role: llm.Assistant, Text: strings.Repeat("word ", 600)}, Usage: llm.Usage{Input: 100, Output: 1}})
	if got := h.tokens(0, longest); got < 1000 {
		t.Errorf("%d tokens", got)
	}
	h.entries[1].Usage.Output = 600
	if got := h.tokens(0, longest); got != 700 {
		t.Errorf("%d tokens", got)
	}
}
