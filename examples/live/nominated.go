// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// rooms are what nodes have left, in base units by type, by their names.
type rooms map[string]map[string]int64

// rooms returns those of nodes on which nothing runs.
func (w *work) rooms() rooms {
	all := rooms{}
	for _, n := range w.nodes {
		all[n.Name] = map[string]int64{}
		for t, q := range n.Status.Allocatable {
			all[n.Name][string(t)] = units(string(t), q)
		}
	}
	return all
}

// take takes amounts from a node.
func (r rooms) take(node string, of map[string]int64) {
	for t, n := range of {
		r[node][t] -= n
	}
}

// nominate returns the nodes that pods have been promised: those that they are nominated to,
// if there is room once those that leave have gone. A promise holds against all others, as
// with the scheduler's own nominations; the highest priority comes first, then the oldest.
// Else the pod is decided anew.
func (w *work) nominate(pending []*pod, left rooms) map[*pod]string {
	var nominated []*pod
	for _, p := range pending {
		if p.nominated != "" {
			nominated = append(nominated, p)
		}
	}
	slices.SortFunc(nominated, func(a, b *pod) int {
		return cmp.Or(cmp.Compare(w.rank(b), w.rank(a)), a.created.Compare(b.created), cmp.Compare(a.key, b.key))
	})
	promised := map[*pod]string{}
	for _, p := range nominated {
		node, size := p.nominated, p.size().amounts
		if !w.places.allows(p, node) || !left.has(node, size) {
			w.notes.add(p.key, "left out: it is nominated to a node that has no room for it, or that it may not use; it is decided anew")
			continue
		}
		left.take(node, size)
		promised[p] = node
	}
	return promised
}

// rank is the priority of a pod that waits, by itself or with its gang.
func (w *work) rank(p *pod) int32 {
	if g := w.groupOf(p); g != nil && g.priority != nil {
		return *g.priority
	}
	if own := p.spec().Priority; own != nil {
		return *own
	}
	return 0
}

// has reports whether a node is there and has amounts left.
func (r rooms) has(node string, of map[string]int64) bool {
	for t, n := range of {
		if r[node][t] < n {
			return false
		}
	}
	return r[node] != nil
}

// allows reports whether a pod may run on a node.
func (p *places) allows(pod *pod, node string) bool {
	i, ok := slices.BinarySearchFunc(p.cluster.nodes, node, func(n *v1.Node, own string) int { return strings.Compare(n.Name, own) })
	return ok && p.classes[reasons(pod)].nodes[i]
}
