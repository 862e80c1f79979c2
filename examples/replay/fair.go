// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strconv"

	"github.com/go-preempt/preempt/internal/judge/ratio"
	"github.com/go-preempt/preempt/internal/judge/trace"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A sharing gives teams their fair shares: by their weights, of all that their
// pods want, whether these run, wait or were stopped. Then the shares change only
// if a pod comes or ends, and not because of plans. (DESIGN.md, Fair shares.)
type sharing struct {
	configured *queue.Tree // without guarantees
	capacity   resources.Limit
	demand     []resources.Vector // by leaf
	shares     queue.FairShares
	stale      bool // the demand has changed since

	kind int // the type of which most is wanted, see behind
	// below is what a team has less than its share of that type, in parts of the
	// cluster times seconds, until since; behind is that per second, from then on.
	below, behind [trace.Teams]int64
	since         int64
}

// newSharing returns a sharing of a tree without pods.
func newSharing(tree *queue.Tree, w *trace.Workload) *sharing {
	f := &sharing{configured: tree.Clone(), demand: make([]resources.Vector, tree.Len())}
	f.capacity = resources.Limit{Value: w.Capacity(), Defined: resources.Mask(1<<tree.Schema().Len() - 1)}
	if len(w.Nodes) == 0 {
		f.capacity.Value = make(resources.Vector, tree.Schema().Len())
	}
	for leaf := range f.demand {
		f.demand[leaf] = make(resources.Vector, tree.Schema().Len())
	}
	f.kind = w.Scarcest()
	return f
}

// want adds a pod to the demand of its leaf, or takes it away.
func (f *sharing) want(p *pod, sign int64) {
	if f == nil {
		return
	}
	for t, amount := range p.size {
		f.demand[p.leaf][t] += sign * amount
	}
	f.stale = true
}

// share makes the fair shares the guarantees, if demand has changed. Shares that
// grow allow more plans.
func (x *player) share() error {
	f := x.fair
	if f == nil || !f.stale {
		return nil
	}
	f.stale = false
	if err := f.shares.Divide(f.configured, f.demand, f.capacity); err != nil {
		return err
	}
	all := func(yield func(queue.ID) bool) {
		for q := range queue.ID(x.cluster.Tree().Len()) {
			if !yield(q) {
				return
			}
		}
	}
	return x.watch.change(all, func() error { return x.cluster.SetGuarantees(&f.shares) })
}

// current returns the shares, nil if there are none.
func (f *sharing) current() *queue.FairShares {
	if f == nil {
		return nil
	}
	return &f.shares
}

// until lets time pass in which nothing changes.
func (f *sharing) until(now int64) {
	for team, parts := range f.behind {
		f.below[team] += parts * (now - f.since)
	}
	f.since = now
}

// look takes down how far the teams are below their shares from now on.
func (f *sharing) look(now int64, tree *queue.Tree) {
	if f == nil {
		return
	}
	f.until(now)
	for team := range trace.Teams {
		f.behind[team] = max(0, f.shareOf(team)-f.usedBy(team, tree))
	}
}

// shareOf returns the share of a team, in parts of the cluster.
func (f *sharing) shareOf(team int) int64 {
	return f.parts(f.shares.Of(trace.TeamLeaf(team)).Value.At(f.kind))
}

// usedBy returns what a team uses, without what is leaving.
func (f *sharing) usedBy(team int, tree *queue.Tree) int64 {
	q := trace.TeamLeaf(team)
	return f.parts(tree.Usage(q)[f.kind] - tree.Leaving(q)[f.kind])
}

// parts returns an amount in parts of the cluster.
func (f *sharing) parts(amount int64) int64 {
	return ratio.Of(amount, whole, max(f.capacity.Value[f.kind], 1))
}

// A Behind is how far a team was below its fair share: amounts times hours, of
// the type that most is wanted of, with preemption and without, if that is known.
type Behind struct {
	Team    string `json:"team"`
	Weight  int64  `json:"weight"`
	Unit    string `json:"unit"`
	Below   string `json:"below"`
	Without string `json:"belowWithoutPreemption,omitempty"`

	below, without int64 // as in a sharing
}

// behinds returns that of all teams.
func (f *sharing) behinds() (all []Behind) {
	if f == nil {
		return nil
	}
	for team := range trace.Teams {
		all = append(all, Behind{
			Team: trace.TeamName(team), Weight: trace.Weight(team), Unit: units[f.kind].name + "-hours",
			Below: f.hours(f.below[team]), below: f.below[team],
		})
	}
	return all
}

// units are what amounts of the types are told in.
var units = []struct {
	name string
	of   int64
}{{"CPU", 1000}, {"GiB", 1 << 30}, {"GPU", 1000}}

// hours writes parts of the cluster times seconds as units times hours.
func (f *sharing) hours(parts int64) string { return hoursOf(parts, f.capacity.Value, f.kind) }

// hours is that of a picture.
func (h *history) hours(parts int64) string {
	return hoursOf(parts, h.capacity, h.kind) + " " + units[h.kind].name + "-hours"
}

func hoursOf(parts int64, capacity resources.Vector, kind int) string {
	const few = 100
	n := ratio.Of(parts, 10*capacity.At(kind), whole*hour*units[kind].of)
	if n < 10*few {
		return tenths(n, 10, 1)
	}
	return strconv.FormatInt(n/10, 10)
}
