package prompt

import (
	"encoding/hex"
	"slices"

	"hermes/internal/guard/taint"
)

// Block is one text on its way to a model.
type Block struct {
	Tool   string       // whose result it is
	Source string       // where it comes from: a URL, a file; may be empty
	Text   string       // as it came
	Origin taint.Origin // the zero value is from outside
	Risk   taint.Risk   // what was found in it before; Assess adds to it
}

// Assess tells what is found in a block, for what is stored beside it. What Hermes or the person says is not looked at.
func Assess(b Block) taint.Risk {
	r := taint.Risk{Level: "low", Findings: slices.Clone(b.Risk.Findings), Redacted: b.Risk.Redacted}
	if !b.Origin.Trusted() {
		for _, id := range taint.IDs(taint.Scan(strip(b.Text), taint.Context)) {
			if !slices.Contains(r.Findings, id) {
				r.Findings = append(r.Findings, id)
			}
		}
	}
	if len(r.Findings) > 0 || b.Risk.Level == "high" {
		r.Level = "high"
	}
	if r.Findings == nil {
		r.Findings = []string{}
	}
	return r
}

// Wrap makes a block fit for a model. It is cleaned; what came from outside is marked as such, whatever it says and however short it
// is, and so is what belongs to the work and yet tries to instruct.
func (p *Prompt) Wrap(b Block) string {
	text := Clean(b.Text)
	if b.Origin.Trusted() {
		return text
	}
	risk := Assess(b)
	if b.Origin == taint.Work && risk.Level == "low" {
		return text
	}
	var id [12]byte
	p.random(id[:])
	return taint.Wrap(taint.Label{Tool: b.Tool, Source: b.Source, ID: hex.EncodeToString(id[:]), Findings: risk.Findings}, text)
}
