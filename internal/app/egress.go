package app

import (
	"strings"
	"sync"

	"hermes/internal/config"
	"hermes/internal/guard/egress"
	"hermes/internal/sitelist"
)

// reach is what may be reached under the settings of one home. The zero value is ready.
type reach struct {
	mu     sync.Mutex
	list   *sitelist.List
	snap   *config.Snapshot // that policy was made of
	sites  *egress.Sites    // that policy holds
	policy *egress.Policy
}

// Egress returns what may be reached now: settings and lists of sites count as soon as they change, and while nothing changed
// the value is the same. Where settings never were good it is nil, which refuses everything.
//
// It is for safehttp.Options.Policy.
func (a *App) Egress() *egress.Policy {
	snap, _ := a.settings() // which tells the owner what is wrong
	if snap == nil {
		return nil
	}
	r := &a.reach
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.list == nil {
		r.list = sitelist.New(a.dir.Path(), a.home(), a.p.Tell)
	}
	if snap != r.snap {
		r.use(snap, a.p)
	}
	set := snap.Settings.Security.Sites
	if sites := r.list.Sites(sitelist.Settings{Enabled: set.Enabled, Domains: set.Domains, Files: set.Files}); sites != r.sites {
		r.policy, r.sites = r.policy.WithSites(sites), sites
	}
	return r.policy
}

// use makes the policy of other settings, without its sites.
func (r *reach) use(snap *config.Snapshot, p Process) {
	set := &snap.Settings.Security
	variable, _, _ := snap.Variable("HERMES_ALLOW_PRIVATE_URLS")
	policy, warnings := egress.New(egress.Config{
		AllowPrivate: egress.AllowPrivate(variable.Reveal(), set.AllowPrivateURLs, set.BrowserPrivate),
		AllowHosts:   set.AllowPrivateHosts, FakeIP: set.FakeIPRanges, NAT64: set.NAT64,
		Resolves: set.ProxyResolves && strings.TrimSpace(set.Proxy) != "",
	})
	for _, w := range warnings {
		p.Tell(w.String())
	}
	if w := egress.AmbientProxy(p.Env, strings.TrimSpace(set.Proxy) != ""); w != "" && r.snap == nil {
		p.Tell(w)
	}
	r.snap, r.sites, r.policy = snap, nil, policy
}
