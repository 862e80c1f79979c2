// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"maps"

	"github.com/go-preempt/preempt/internal/judge/world"
)

// stock is what a cluster has and uses in some state of it: now, later, or once
// a plan is carried out.
type stock struct {
	used  map[string]world.Amounts // by queue, with all below it: U
	fixed map[string]world.Amounts // of that, what is not preemptible: N
	free  map[string]world.Amounts // by node
}

// newStock returns the stock as it is, or as it will be once what is leaving
// has gone.
func newStock(w *world.World, coming bool) stock {
	s := stock{used: w.Usage(coming), free: w.Free(coming), fixed: make(map[string]world.Amounts)}
	for _, q := range w.Queues() {
		s.fixed[q.Path] = make(world.Amounts)
	}
	for _, t := range w.Tasks {
		if t.NonPreemptible && !(coming && t.State.Leaving()) {
			add(s.fixed, t.Queue, t.Size, 1)
		}
	}
	for _, g := range w.Grants {
		if g.Ask.NonPreemptible {
			add(s.fixed, g.Ask.Queue, g.Ask.Size, 1)
		}
	}
	return s
}

// add adds a size, sign times, to a leaf and all queues above it.
func add(usage map[string]world.Amounts, leaf string, size world.Amounts, sign int64) {
	for _, q := range world.Up(leaf) {
		for t, v := range size {
			usage[q][t] += sign * v
		}
	}
}

// clone copies a stock, so that it can be changed.
func (s stock) clone() stock {
	return stock{used: cloneAll(s.used), fixed: cloneAll(s.fixed), free: cloneAll(s.free)}
}

func cloneAll(m map[string]world.Amounts) map[string]world.Amounts {
	out := make(map[string]world.Amounts, len(m))
	for key, amounts := range m {
		out[key] = maps.Clone(amounts)
	}
	return out
}

// without returns the stock once the victims have gone.
func (s stock) without(victims []*world.Task) stock {
	s = s.clone()
	for _, v := range victims {
		add(s.used, v.Queue, v.Size, -1)
		if v.NonPreemptible {
			add(s.fixed, v.Queue, v.Size, -1)
		}
		for t, amount := range v.Size {
			s.free[v.Node][t] += amount
		}
	}
	return s
}

// with returns the stock once a member runs on a node.
func (s stock) with(job *world.Job, m *world.Member, node string) stock {
	s = s.clone()
	add(s.used, job.Queue, m.Size, 1)
	if job.NonPreemptible {
		add(s.fixed, job.Queue, m.Size, 1)
	}
	for t, amount := range m.Size {
		s.free[node][t] -= amount
	}
	return s
}
