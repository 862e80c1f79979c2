// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"slices"

	"github.com/go-preempt/preempt/internal/judge/world"
)

// inDomain reports whether a node may be considered, as far as domains go.
func (h *jobJudge) inDomain(n *world.Node) bool {
	depth := h.c.Job.Domain
	return len(n.Domains) >= depth && (h.domain == nil || slices.Equal(n.Domains[:depth], h.domain))
}

// domains returns a judge for each domain in which the members can be
// placed together, in the order of the first nodes of the domains, usable or
// not. A job that requires no domain has one judge; one whose members are in
// different domains already, or in none, has none.
func (h *jobJudge) domains() (list []*jobJudge) {
	if h.c.Job.Domain == 0 || h.domain != nil {
		return []*jobJudge{h}
	}
	placed, lost := h.bases()
	if lost || len(placed) > 1 {
		return nil
	}
	for i := range h.w.Nodes {
		n := &h.w.Nodes[i]
		if !h.inDomain(n) {
			continue
		}
		here := *h
		here.domain = n.Domains[:h.c.Job.Domain]
		known := slices.ContainsFunc(list, func(d *jobJudge) bool { return slices.Equal(d.domain, here.domain) })
		elsewhere := len(placed) == 1 && !slices.Equal(placed[0], here.domain)
		if !known && !elsewhere {
			list = append(list, &here)
		}
	}
	return list
}

// firstOf returns the place in node order of the first node of a domain, usable
// or not; 0 for none.
func (h *jobJudge) firstOf(domain []string) int {
	if domain == nil {
		return 0
	}
	return slices.IndexFunc(h.w.Nodes, func(n world.Node) bool {
		return len(n.Domains) >= len(domain) && slices.Equal(n.Domains[:len(domain)], domain)
	})
}

// together reports whether all members may be placed at those nodes, as far as
// domains go.
func (h *jobJudge) together(places []string) bool {
	return slices.ContainsFunc(h.domains(), func(d *jobJudge) bool {
		return !slices.ContainsFunc(d.numbered(places), func(n int) bool { return !d.inDomain(&d.w.Nodes[n]) })
	})
}

// bases returns the domains in which members are placed already, and whether
// some are in none.
func (h *jobJudge) bases() (list [][]string, lost bool) {
	for _, m := range h.c.Job.Members {
		node, ok := h.nodeOf(m.Key)
		if !ok {
			continue
		}
		base := h.domainOf([]string{node})
		if base == nil {
			lost = true
		} else if !slices.ContainsFunc(list, func(d []string) bool { return slices.Equal(d, base) }) {
			list = append(list, base)
		}
	}
	return list, lost
}

// nodeOf returns the node of a task that stays, or of a grant.
func (h *jobJudge) nodeOf(key string) (node string, ok bool) {
	for _, t := range h.w.Tasks {
		if t.Key == key && !t.State.Leaving() {
			return t.Node, true
		}
	}
	for _, g := range h.w.Grants {
		if g.Ask.Key == key {
			return g.Node, true
		}
	}
	return "", false
}

// domainOf returns the domain of the last of some nodes, as deep as the job
// requires it; nil if it requires none, or the node is in none.
func (h *jobJudge) domainOf(nodes []string) []string {
	depth := h.c.Job.Domain
	for i := range h.w.Nodes {
		n := &h.w.Nodes[i]
		if depth > 0 && len(nodes) > 0 && n.Name == nodes[len(nodes)-1] && len(n.Domains) >= depth {
			return n.Domains[:depth]
		}
	}
	return nil
}

// fullDomain reports whether grants of the job keep the members without a place in a domain
// that has no room on its nodes, which nobody asks the predicate about. Reasons that time or
// a quota ends stay.
func (h *jobJudge) fullDomain(reason string) bool {
	held := slices.ContainsFunc(h.c.Job.Members, func(m world.Member) bool {
		return slices.ContainsFunc(h.w.Grants, func(g world.Grant) bool { return g.Ask.Key == m.Key })
	})
	timely := slices.Contains([]string{"too-early", "too-soon", QuotaMin, QuotaMax}, reason)
	if h.c.Job.Domain == 0 || !held || len(h.members) == 0 || timely {
		return false
	}
	unpicky := *h.c
	unpicky.Apart, unpicky.Refused = false, nil
	for _, d := range h.domains() {
		d.c = &unpicky
		for range d.seatings(d.later) {
			return false
		}
	}
	return true
}
