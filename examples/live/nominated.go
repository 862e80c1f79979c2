// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"slices"

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

// amounts returns what a pod takes of a node.
func (w *work) amounts(p *v1.Pod) map[string]int64 {
	m := w.mould(p)
	if m != nil && m.amounts != nil {
		return m.amounts
	}
	all := map[string]int64{string(v1.ResourcePods): 1}
	for t, q := range requests(p) {
		if n := units(string(t), q); n > 0 {
			all[string(t)] = n
		}
	}
	if m != nil {
		m.amounts = all
	}
	return all
}

// nominate returns the nodes that pods have been promised: those that they are nominated to,
// if there is room once those that leave have gone. A promise holds against all others, as
// with the scheduler's own nominations; the highest priority comes first, then the oldest.
// Else the pod is decided anew.
func (w *work) nominate(pending []*v1.Pod, left rooms) map[*v1.Pod]string {
	var nominated []*v1.Pod
	for _, p := range pending {
		if p.Status.NominatedNodeName != "" {
			nominated = append(nominated, p)
		}
	}
	slices.SortFunc(nominated, func(a, b *v1.Pod) int {
		return cmp.Or(cmp.Compare(w.rank(b), w.rank(a)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(key(a), key(b)))
	})
	promised := map[*v1.Pod]string{}
	for _, p := range nominated {
		node, size := p.Status.NominatedNodeName, w.amounts(p)
		if !w.places.allows(p, node) || !left.has(node, size) {
			w.notes.add(key(p), "left out: it is nominated to a node that has no room for it, or that it may not use; it is decided anew")
			continue
		}
		left.take(node, size)
		promised[p] = node
	}
	return promised
}

// rank is the priority of a pod that waits, by itself or with its gang.
func (w *work) rank(p *v1.Pod) int32 {
	if g := w.groupOf(p); g != nil && g.priority != nil {
		return *g.priority
	}
	if p.Spec.Priority != nil {
		return *p.Spec.Priority
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
func (p *places) allows(pod *v1.Pod, node string) bool {
	i := slices.IndexFunc(p.cluster.nodes, func(n *v1.Node) bool { return n.Name == node })
	return i >= 0 && p.classes[reasons(pod)].nodes[i]
}
