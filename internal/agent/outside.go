package agent

import (
	"strings"

	"hermes/internal/guard/taint"
	"hermes/internal/llm"
	"hermes/internal/tool"
)

// apart cuts a text into the blocks from outside that stand in it, and the rest, where a note stands in the place of each. A block that
// does not end goes to the end of the text.
func apart(text string) (rest string, blocks []string) {
	if !strings.Contains(text, blockName) {
		return text, nil
	}
	var b strings.Builder
	last, from, id := 0, -1, ""
	take := func(end int) {
		b.WriteString(text[last:from] + elsewhere)
		blocks = append(blocks, text[from:end])
		last, from = end, -1
	}
	for _, t := range blockTag().FindAllStringSubmatchIndex(text, -1) {
		closes, named := t[2] != t[3], text[t[4]:t[5]]
		switch {
		case from < 0 && !closes:
			from, id = t[0], named
		case from >= 0 && closes && named == id:
			take(t[1])
		}
	}
	if from >= 0 {
		take(len(text))
	}
	b.WriteString(text[last:])
	return b.String(), blocks
}

const (
	blockName = "untrusted_tool_result"
	elsewhere = "[text from outside: see what is summed up apart]"
)

// outside tells whether anything in the conversation came from outside. It lasts through summaries.
func (h *history) outside() bool {
	for i := range h.entries {
		if h.entries[i].outside() {
			return true
		}
	}
	return false
}

func (e *entry) outside() bool {
	return e.Risk.Level != "" || strings.Contains(e.Text, blockName) && blockTag().MatchString(e.Text)
}

const (
	mostVerbatim = 1_500 // tokens of texts from outside that a summary keeps as they are
	mostBlocks   = 6     // of them, the last, that it keeps where it cannot be written
	blockBytes   = 1_200 // of each of these
)

// foreign is what came from outside in the messages that a summary stands for, as blocks that mark it: the texts themselves where
// they are short, else a summary of them alone. What a model writes of texts that may try to instruct it is no more to be trusted than they.
func (t *turn) foreign(older []entry, write func() (string, error)) (text string, risk taint.Risk, err error) {
	var blocks []string
	size := 0
	for i := range older {
		e := &older[i]
		risk = risk.And(e.Risk)
		_, some := apart(e.Text)
		for _, b := range some {
			blocks, size = append(blocks, b), size+llm.Estimate(b)
		}
	}
	if len(blocks) == 0 {
		return "", risk, nil
	}
	risk = risk.And(taint.Risk{Level: "low", Findings: []string{}})
	if size <= mostVerbatim {
		return strings.Join(blocks, "\n"), risk, nil
	}
	text, err = write()
	if err == nil {
		text, found := t.a.o.Prompt.Result("summary", tool.Result{Parts: []tool.Part{{Text: t.redact(text), Source: "what came from outside before"}}}, nil)
		return text, risk.And(found), nil
	}
	for i, b := range blocks {
		blocks[i] = part(b, blockBytes)
	}
	return strings.Join(blocks[max(0, len(blocks)-mostBlocks):], "\n"), risk, err
}
