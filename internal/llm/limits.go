package llm

import (
	_ "embed"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Limits is what is known of a model. Zero fields are unknown.
type Limits struct {
	Context int // tokens it takes, its answer included
	Output  int // tokens of one answer
	Price   Price
}

// Price is in US dollars for a million tokens.
type Price struct{ Input, Output, CacheRead, CacheWrite float64 }

// Model is one that a provider offers.
type Model struct {
	ID     string
	Limits Limits // as far as the provider says
}

//go:embed models.tsv
var modelsText string

var models = sync.OnceValue(func() map[string]Limits {
	out := map[string]Limits{}
	for line := range strings.Lines(modelsText) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != 7 || strings.HasPrefix(line, "#") {
			continue
		}
		n := func(i int) float64 { v, _ := strconv.ParseFloat(f[i], 64); return v }
		out[strings.ToLower(f[0])] = Limits{int(n(1)), int(n(2)), Price{n(3), n(4), n(5), n(6)}}
	}
	return out
})

// Known returns what the list of models says about one, by its name with or without the maker's in front ("anthropic/…") and a
// variant behind (":free") or without the date that it is listed with, and whether it is listed. A price holds for the maker's own service only.
func Known(model string) (Limits, bool) {
	name := strings.ToLower(model)
	for {
		if l, ok := models()[name]; ok {
			return l, true
		}
		_, rest, more := strings.Cut(name, "/")
		if !more {
			break
		}
		name = rest
	}
	name, _, _ = strings.Cut(name, ":")
	if l, ok := models()[name]; ok {
		return l, true
	}
	name = strings.ReplaceAll(name, ".", "-") // OpenRouter writes claude-x-4.6
	if l, ok := models()[name]; ok {
		return l, true
	}
	return undated(name)
}

var date = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^20\d\d(\d{4}|-\d\d-\d\d)$`) })

// undated returns what is listed of a model that is listed by a name with a date behind it ("…-20250929", "…-2025-09-29"), if only one
// is: of several nobody knows which one answers.
func undated(name string) (found Limits, ok bool) {
	for listed, l := range models() {
		rest, dated := strings.CutPrefix(listed, name+"-")
		if !dated || !date().MatchString(rest) {
			continue
		}
		if ok {
			return Limits{}, false
		}
		found, ok = l, true
	}
	return found, ok
}

// Or fills what is not known from other limits.
func (l Limits) Or(other Limits) Limits {
	l.Context, l.Output, l.Price = or(l.Context, other.Context), or(l.Output, other.Output), or(l.Price, other.Price)
	return l
}

// Cost returns what a use costs in US dollars, and whether that is known: not where nobody has counted. What the provider itself says
// comes first.
func (p Price) Cost(u Usage) (float64, bool) {
	switch {
	case u.Dollars > 0:
		return u.Dollars, true
	case p == Price{}, u.Input == 0 && u.Output == 0:
		return 0, false
	}
	plain := max(0, u.Input-u.CacheRead-u.CacheWrite)
	return (float64(plain)*p.Input + float64(u.CacheRead)*or(p.CacheRead, p.Input) +
		float64(u.CacheWrite)*or(p.CacheWrite, p.Input) + float64(u.Output)*p.Output) / 1e6, true
}

// Estimate returns about how many tokens a text has, rather too many than too few: before a provider has counted.
func Estimate(text string) int {
	ascii, wide := 0, 0
	for _, r := range text {
		if r < 0x80 {
			ascii++
		} else {
			wide++
		}
	}
	return (ascii+2)/3 + wide
}
