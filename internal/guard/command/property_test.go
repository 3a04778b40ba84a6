package command

import (
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/guard"
	"hermes/internal/vectortest"
)

// texts returns short texts to vary: all examples and vectors of one line.
func texts(t testing.TB) []string {
	t.Helper()
	var out []string
	for _, r := range Rules() {
		out = append(append(out, r.Hits...), r.Passes...)
	}
	for _, file := range []string{"approvals", "approvals_rule_coverage"} {
		for _, v := range vectortest.Rows[vector](t, filepath.Join("testdata", "vectors", file+".jsonl")) {
			if v.Command != nil {
				out = append(out, *v.Command)
			}
		}
	}
	kept := out[:0]
	for _, s := range out {
		if len(s) < 400 && !strings.Contains(s, "\n") && strings.TrimSpace(s) != "" {
			kept = append(kept, s)
		}
	}
	return kept
}

// milder tells whether verdict b is less strict than a.
func milder(a, b guard.Verdict) bool { return b.Action > a.Action }

// disguises returns spellings of a text that run all that it runs. Only those that keep its meaning are used.
func disguises(s string) []string {
	out := []string{s + "; true", "true; " + s, "{ " + s + "\n}", "( " + s + "\n)", "if true; then " + s + "\nfi"}
	if simple(s) {
		out = append(out, "X=1 "+s, "env "+s, "nice "+s, "nohup "+s, "timeout 5 "+s, "command "+s, "sudo "+s)
		word, rest, _ := strings.Cut(s, " ")
		out = append(out, `"`+word+`" `+rest, `\`+s, "'"+word+"' "+rest)
	}
	if !strings.ContainsAny(s, "'\n\\") && !positional(s) {
		out = append(out, "bash -c '"+s+"'", "eval '"+s+"'")
	}
	return out
}

// positional tells whether a text speaks of its own arguments, which another shell sets anew.
func positional(s string) bool {
	for k := 0; k+1 < len(s); k++ {
		if s[k] == '$' && (s[k+1] >= '0' && s[k+1] <= '9' || strings.IndexByte("@*#!-$?{", s[k+1]) >= 0) {
			return true
		}
	}
	return false
}

// simple tells whether a text is one command without anything that a prefix would bind to differently.
func simple(s string) bool {
	word, _, _ := strings.Cut(s, " ")
	for _, builtin := range []string{"cd", "eval", "exec", "source", ".", "export", "declare", "trap", "alias", "time", "if", "while", "for", "case", "function", "let", "hash", "enable", "!"} {
		if word == builtin {
			return false
		}
	}
	return !strings.ContainsAny(s, ";&|(){}`<>#=~\\'\"\n") && plainWord(word)
}

func plainWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_./+") == ""
}

// readable tells whether a text is whole: what cannot be parsed is judged by another rule once something stands around it.
func readable(v guard.Verdict) bool {
	for _, f := range v.Findings {
		if f.Tier == guard.Limit {
			return false
		}
	}
	return true
}

func TestDisguisesAreNotMilder(t *testing.T) {
	for _, s := range texts(t) {
		plain := Policy{}.Check(s, Facts{})
		if !readable(plain) || plain.Action == guard.Allow || strings.Contains(s, "\r") || strings.HasSuffix(strings.TrimSpace(s), "\\") {
			continue
		}
		for _, d := range disguises(s) {
			if v := (Policy{}).Check(d, Facts{}); milder(plain, v) {
				t.Errorf("milder in disguise: %q is %s, %q is %s", s, listing(plain), d, listing(v))
			}
		}
	}
}

func TestStricterPolicyNeverAllowsMore(t *testing.T) {
	loose := Policy{Allow: []string{"git *", "recursive delete", "rm -rf *"}}
	strict := Policy{Allow: []string{"git *"}, Deny: []string{"git push*", "*docker *"}}
	for _, s := range texts(t) {
		if a, b := strict.Check(s, Facts{}), loose.Check(s, Facts{}); milder(b, a) {
			t.Errorf("%q: stricter policy gives %s, looser %s", s, listing(a), listing(b))
		}
	}
}

func FuzzDisguise(f *testing.F) {
	for n, s := range texts(f) {
		if n%5 == 0 {
			f.Add(s)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 2000 {
			return
		}
		plain := Policy{}.Check(s, Facts{})
		for _, n := range plain.Findings {
			if n.Start < 0 || n.End < n.Start || n.End > len(s) {
				t.Fatalf("%q: span %d-%d", s, n.Start, n.End)
			}
		}
		if !readable(plain) || !simple(s) {
			return
		}
		for _, d := range disguises(s) {
			if v := (Policy{}).Check(d, Facts{}); milder(plain, v) {
				t.Errorf("milder in disguise: %q is %s, %q is %s", s, listing(plain), d, listing(v))
			}
		}
		deny := Policy{Deny: []string{"*" + s + "*"}}
		if v := deny.Check(s, Facts{}); milder(plain, v) {
			t.Errorf("%q: milder under a deny rule", s)
		}
	})
}
