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
	Risk   taint.Risk   // what was found in it before
}

// assess judges a block's text. loose tells that something was found which the text does not merely quote.
func (b *Block) assess(text string) (r taint.Risk, loose bool) {
	r = taint.Risk{Level: "low", Findings: append([]string{}, b.Risk.Findings...), Redacted: b.Risk.Redacted}
	loose = b.Risk.Level == "high"
	if !b.Origin.Trusted() {
		found := taint.Scan(text, taint.Context)
		loose = loose || taint.Blocks(found)
		for _, id := range taint.IDs(found) {
			if !slices.Contains(r.Findings, id) {
				r.Findings = append(r.Findings, id)
			}
		}
	}
	if len(r.Findings) > 0 || b.Risk.Level == "high" {
		r.Level = "high"
	}
	return r, loose
}

// Wrap makes a block fit for a model. It is cleaned; what came from outside is marked as such, whatever it says and however short it
// is, and so is what belongs to the work and yet tries to instruct.
func (p *Prompt) Wrap(b Block) string {
	text, _, _ := p.Judged(b)
	return text
}

// Judged is Wrap, and says what was found in the block, nothing where it is not marked; instructs tells that it does not merely
// quote that.
func (p *Prompt) Judged(b Block) (text string, risk taint.Risk, instructs bool) {
	switch b.Origin {
	case taint.Person:
		return Clean(b.Text), risk, false
	case taint.Own: // its words may name what others wrote: an error names a file
		return taint.Reveal(taint.Disarm(strip(b.Text))), risk, false
	}
	text = strip(b.Text)
	found, loose := b.assess(text)
	text = taint.Reveal(taint.Disarm(text))
	if b.Origin == taint.Work && !loose {
		return text, risk, false
	}
	var id [12]byte
	p.random(id[:])
	text = taint.Wrap(taint.Label{Tool: b.Tool, Source: b.Source, ID: hex.EncodeToString(id[:]), Findings: found.Findings}, text)
	return text, found, loose
}
