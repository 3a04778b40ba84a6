package egress

// Blocked tells whether the list of sites refuses a host, and by which rule, for whoever reports it. Before decides.
func (p *Policy) Blocked(h Host) (Block, bool) {
	if p == nil {
		return Block{}, false
	}
	return p.sites.Match(h)
}
