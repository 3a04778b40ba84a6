package command

import (
	"hermes/internal/guard"
	"hermes/internal/shell"
)

// Checker is a Policy made ready for many texts. It is safe for concurrent use.
type Checker struct {
	deny  denyList
	allow allowList
}

// Compile makes the policy ready.
func Compile(p Policy) *Checker {
	return &Checker{deny: compileDeny(p.Deny), allow: compileAllow(p.Allow)}
}

// Check judges a text.
func (p Policy) Check(text string, f Facts) guard.Verdict {
	v, _ := p.Explain(text, f)
	return v
}

// Explain judges a text and returns what the shell would run.
func (p Policy) Explain(text string, f Facts) (guard.Verdict, shell.Program) {
	return Compile(p).Explain(text, f)
}

// Check judges a text.
func (k *Checker) Check(text string, f Facts) guard.Verdict {
	v, _ := k.Explain(text, f)
	return v
}

// Explain judges a text and returns what the shell would run.
func (k *Checker) Explain(text string, f Facts) (guard.Verdict, shell.Program) {
	f.Settle()
	p := shell.Parse(text, shell.Options{Home: f.Home, Dir: f.Dir, Env: f.Env, File: f.File, Defined: f.Defined, Tails: k.deny.any()})
	return k.Judge(&p, f), p
}

// Judge judges a text that is parsed already. The program must come from the same facts.
func (k *Checker) Judge(p *shell.Program, f Facts) guard.Verdict {
	hits := judge(p, &f)
	findings := make([]guard.Finding, 0, len(hits)+1)
	findings = k.deny.match(findings, p)
	covered := k.allow.match(p, &f)
	for _, h := range hits {
		// Who listed a text did not mean what a session has made of it since.
		if h.Tier.Refuses() || h.Sticky || len(p.Defined) > 0 || !covered.has(h.Finding) {
			findings = append(findings, h.Finding)
		}
	}
	return guard.Judge(findings)
}
