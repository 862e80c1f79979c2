// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"fmt"
	"math/big"

	"github.com/go-preempt/preempt/internal/judge/world"
)

// cause says why work of a size could not run even in an empty cluster, as "no-node",
// "too-large n1 cpu 4" and "above-max root.a cpu 4", or "". The nodes are those that it may
// use.
func (j *judge) cause(size world.Amounts, usable func(*world.Node) bool) string {
	var nodes []*world.Node
	for i := range j.w.Nodes {
		if n := &j.w.Nodes[i]; usable(n) {
			nodes = append(nodes, n)
		}
	}
	switch n, t := j.lacking(size, nodes); {
	case len(nodes) == 0:
		return "no-node"
	case n != nil:
		return fmt.Sprintf("too-large %s %s %d", n.Name, t, n.Capacity[t])
	}
	for _, t := range j.w.Types {
		least, where := int64(0), ""
		for _, q := range j.path { // the leaf first
			if most, bounded := j.queues[q].Max[t]; bounded && size[t] > most && (where == "" || most < least) {
				least, where = most, q
			}
		}
		if where != "" {
			return fmt.Sprintf("above-max %s %s %d", where, t, least)
		}
	}
	return ""
}

// lacking returns the node and the type of a size that no node holds; nil if some does.
func (j *judge) lacking(size world.Amounts, nodes []*world.Node) (*world.Node, string) {
	// A type of which no node has enough.
	for _, t := range j.w.Types {
		var most *world.Node
		for _, n := range nodes {
			if most == nil || n.Capacity[t] > most.Capacity[t] {
				most = n
			}
		}
		if most != nil && most.Capacity[t] < size[t] {
			return most, t
		}
	}
	var least *big.Rat
	var closest *world.Node
	first := ""
	for _, n := range nodes {
		share, lacks := new(big.Rat), ""
		for _, t := range j.w.Types {
			if short := size[t] - n.Capacity[t]; short > 0 {
				if lacks == "" {
					lacks = t
				}
				if of := big.NewRat(short, max(j.capacity[t], 1)); of.Cmp(share) > 0 {
					share = of
				}
			}
		}
		if lacks == "" {
			return nil, ""
		}
		if least == nil || share.Cmp(least) < 0 {
			least, closest, first = share, n, lacks
		}
	}
	return closest, first
}
