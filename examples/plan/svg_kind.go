// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A picture shows one resource type: lengths of different types would not
// compare. It is the one that the request is short of.

// shortOf returns that type, or -1 if there are no types at all. If the request
// is short of several, it is the one of which the largest share of the cluster
// is lacking, the first of equals.
func (s *scene) shortOf() int {
	for _, v := range []resources.Vector{s.lacking(), s.gone(), s.asked, s.cluster.Tree().Usage(0), s.cluster.Capacity()} {
		if i := s.largest(v); i >= 0 {
			return i
		}
	}
	return min(0, s.cluster.Schema().Len()-1)
}

// lacking returns what nodes are short of for those who come to them.
func (s *scene) lacking() resources.Vector {
	lack := make(resources.Vector, s.cluster.Schema().Len())
	for id := range s.cluster.Nodes() {
		lack = resources.Add(lack, lack, s.lackingOn(id))
	}
	return lack
}

func (s *scene) lackingOn(id victims.NodeID) resources.Vector {
	need := make(resources.Vector, s.cluster.Schema().Len())
	for _, a := range s.comesTo(id) {
		if !a.held {
			need = resources.Add(need, need, a.size)
		}
	}
	free := s.cluster.Free(nil, id)
	for i := range need {
		if need[i] > 0 {
			need[i] = max(0, need[i]-free[i])
		}
	}
	return need
}

// gone returns what the victims have of the types that are asked for.
func (s *scene) gone() resources.Vector {
	sum := make(resources.Vector, s.cluster.Schema().Len())
	for i := range s.victims {
		for t, amount := range s.victims[i].Size {
			if s.asked.At(t) > 0 {
				sum[t] += amount
			}
		}
	}
	return sum
}

// largest returns the type of which v has the largest share of the cluster, or
// -1 if it has nothing.
func (s *scene) largest(v resources.Vector) int {
	kind, most := -1, resources.Share{}
	for i, amount := range v {
		share := resources.Share{Amount: max(amount, 0), Of: s.cluster.Capacity()[i]}
		if amount > 0 && (kind < 0 || share.Compare(most) > 0) {
			kind, most = i, share
		}
	}
	return kind
}

// inType names the type of the picture after a word.
func (d *drawing) inType() string {
	if d.kind < 0 {
		return ""
	}
	return ", in " + plain.Line(d.cluster.Schema().Name(d.kind))
}
