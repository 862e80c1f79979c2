// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"github.com/go-preempt/preempt/internal/judge/ratio"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A history is what a replay did to the tenants, second by second.
type history struct {
	replay   *Replay
	capacity resources.Vector
	kind     int            // the type that pictures of teams are of
	index    map[string]int // of pods, by name
	waiters  []waiter       // by pod
	tenants  [tenants]tenant
	plans    int
	full     int64 // the first second in which an ask found no room
	last     int64 // the last second in which anything happened

	// under is for how long the queues of a tenant were under their guarantee
	// while pods of them waited; it is known after both replays.
	under [tenants]int64
	// behind is how far teams were below their shares, with and without preemption;
	// nil unless they have shares.
	behind []Behind
}

// A tenant is the pods of a class, or of a team.
type tenant struct {
	guaranteed int64   // in parts of the cluster, as in a point
	usage      []point // in order of time
	shares     []point // likewise, of a team
	stopped    []int64 // the seconds in which a pod was chosen as a victim
}

// A point is what a tenant uses from a second on: its effective usage, which is
// without what is leaving, of the type of which it uses the largest share of
// the cluster. Guarantees are the same share of every type.
type point struct{ at, parts int64 }

// whole is the cluster in the parts of points.
const whole = 100_00

// A waiter is a pod that is there, whether it runs or not.
type waiter struct {
	waited int64 // seconds, before it ran
	since  int64 // when it began to wait, unless it runs
	runs   bool
}

// newHistory returns an empty history of a replay to come.
func newHistory(r *Replay) *history {
	h := &history{replay: r, capacity: r.Workload.Capacity(), kind: r.Workload.Scarcest(), full: forever, index: make(map[string]int, len(r.Workload.Pods))}
	for i := range r.Workload.Pods {
		p := &r.Workload.Pods[i]
		h.index[p.Name] = i
		h.waiters = append(h.waiters, waiter{since: p.Created})
	}
	return h
}

// step takes note of a decision.
func (h *history) step(s *Step) {
	if s.Decision.Outcome != victims.Fits {
		h.full = min(h.full, s.Now)
	}
	switch s.Decision.Outcome {
	case victims.Fits:
		w := &h.waiters[h.index[s.Decision.Plan.Ask.Key]]
		w.waited += s.Now - w.since
		w.runs = true
	case victims.Preempts:
		h.plans++
		for _, v := range s.Decision.Plan.Victims {
			i := h.index[v.Key]
			// It runs for the time of grace, and then it waits again.
			h.waiters[i].runs, h.waiters[i].since = false, s.Now+h.replay.Grace
			t := &h.tenants[h.replay.tenantOf(&h.replay.Workload.Pods[i])]
			t.stopped = append(t.stopped, s.Now)
		}
	}
}

// second takes note of what the tenants use from now on, and of the shares of
// teams, which are nil if there are none.
func (h *history) second(now int64, tree *queue.Tree, shares *queue.FairShares) {
	h.last = now
	i := 0
	for q := range tree.Children(queue.Root) {
		t := &h.tenants[i]
		if shares != nil {
			note(&t.usage, point{now, h.partsOf(tree.Effective(nil, q).At(h.kind))})
			note(&t.shares, point{now, h.partsOf(shares.Of(q).Value.At(h.kind))})
		} else {
			t.guaranteed = h.parts(tree.Guaranteed(q).Value)
			note(&t.usage, point{now, h.parts(tree.Effective(nil, q))})
		}
		i++
	}
}

// note appends a point to those of earlier seconds, unless nothing has changed. A
// second may have several rounds: the last one counts.
func note(points *[]point, p point) {
	if n := len(*points); n > 0 && (*points)[n-1].at == p.at {
		(*points)[n-1] = p
	} else if n == 0 || (*points)[n-1].parts != p.parts {
		*points = append(*points, p)
	}
}

// partsOf returns the share of the cluster that an amount of the type is that
// pictures of teams are of.
func (h *history) partsOf(amount int64) int64 {
	return ratio.Of(amount, whole, max(h.capacity[h.kind], 1))
}

// parts returns the largest share of the cluster that v has of any type.
func (h *history) parts(v resources.Vector) int64 {
	s := resources.DominantShare(v, h.capacity)
	return ratio.Of(s.Amount, whole, max(s.Of, 1))
}

// waits returns for how long each pod of a tenant was there without running, up
// to a second, sorted.
func (h *history) waits(tenant int, until int64) []int64 {
	var all []int64
	for i := range h.waiters {
		p, w := &h.replay.Workload.Pods[i], h.waiters[i]
		if h.replay.tenantOf(p) != tenant {
			continue
		}
		if end := min(h.replay.endOf(p), until); !w.runs && end > w.since {
			w.waited += end - w.since
		}
		all = append(all, w.waited)
	}
	slices.Sort(all)
	return all
}

// means returns what points are on average in each of n equal spans of time, from
// a second to another. Spans are of a second at least.
func means(points []point, from, to int64, n int) []int64 {
	all := make([]int64, n)
	next, now := 0, int64(0) // the next point, and what is used until then
	for i := range all {
		begin := from + (to-from)*int64(i)/int64(n)
		end := max(from+(to-from)*int64(i+1)/int64(n), begin+1)
		sum := int64(0)
		for at := begin; at < end; {
			for next < len(points) && points[next].at <= at {
				now = points[next].parts
				next++
			}
			until := end
			if next < len(points) {
				until = min(until, points[next].at)
			}
			sum += now * (until - at)
			at = until
		}
		all[i] = sum / (end - begin)
	}
	return all
}
