// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/judge/svg"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/victims"
)

// Nodes that name domains lie together in a frame: those of the domain that a
// job requires, or else those of the same list.

const (
	frameHead = 20
	frameEdge = 6
)

// A nodeGroup is the nodes of a domain, or those that are in none.
type nodeGroup struct {
	name  string // "" if no node is in a domain
	nodes []victims.NodeID
}

// groups puts nodes together by domain. Groups come in the order of their first
// nodes.
func (s *scene) groups(ids []victims.NodeID) (all []nodeGroup) {
	domains := false
	for _, id := range ids {
		name := s.domainOf(id)
		domains = domains || name != ""
		i := slices.IndexFunc(all, func(g nodeGroup) bool { return g.name == name })
		if i < 0 {
			i = len(all)
			all = append(all, nodeGroup{name: name})
		}
		all[i].nodes = append(all[i].nodes, id)
	}
	for i := range all {
		switch g := &all[i]; {
		case domains && g.name == "":
			g.name = "in no domain"
		case domains:
			g.name = s.domainTitle(g.nodes[0])
		}
	}
	return all
}

// domainOf returns the name of the domain of a node, as deep as the request
// requires it; "" if it is in none.
func (s *scene) domainOf(id victims.NodeID) string {
	list := s.cluster.NodeView(id).Domains
	switch {
	case s.depth > len(list):
		return ""
	case s.depth > 0:
		list = list[:s.depth]
	}
	var names []string
	for _, name := range list {
		names = append(names, plain.Name(name))
	}
	return strings.Join(names, " / ")
}

// domainTitle is what stands above the nodes of a domain.
func (s *scene) domainTitle(id victims.NodeID) string {
	title := "domain " + s.domainOf(id)
	if s.depth > 0 && len(s.closest) == s.depth && slices.Equal(s.cluster.NodeView(id).Domains[:s.depth], s.closest) {
		title += ", which came closest"
	}
	return title
}

// frame draws a frame around the nodes of a domain, which a function draws from a
// line on; it returns the line below.
func (d *drawing) frame(name string, y int, draw func(y int) int) int {
	if name == "" {
		return draw(y)
	}
	top := y
	d.canvas.Titled(name, func() {
		d.canvas.Text("muted", nodesLeft, y+frameHead-6, svg.Fit(name, 11, nodesRight-nodesLeft))
	})
	y = draw(y+frameHead) - nodeGap + frameEdge
	d.canvas.Rect("domain", svg.Box{X: nodesLeft - frameEdge, Y: top, W: nodesRight - nodesLeft + 2*frameEdge, H: y - top}, 6)
	return y + nodeGap
}
