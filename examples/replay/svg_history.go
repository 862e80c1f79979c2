package main

import (
	"slices"

	"github.com/go-preempt/preempt/internal/trace"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A history is what a replay did to the tenants, second by second.
type history struct {
	replay   *Replay
	capacity resources.Vector
	index    map[string]int // of pods, by name
	waiters  []waiter       // by pod
	tenants  [trace.Classes]tenant
	plans    int
	full     int64 // the first second in which an ask found no room
	last     int64 // the last second in which anything happened

	// under is for how long the queues of a tenant were under their guarantee
	// while pods of them waited; it is known after both replays.
	under [trace.Classes]int64
}

// A tenant is the pods of a class.
type tenant struct {
	guaranteed int64   // in parts of the cluster, as in a point
	usage      []point // in order of time
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
	h := &history{replay: r, capacity: r.Workload.Capacity(), full: forever, index: make(map[string]int, len(r.Workload.Pods))}
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
			t := &h.tenants[h.replay.Workload.Pods[i].QoS]
			t.stopped = append(t.stopped, s.Now)
		}
	}
}

// second takes note of what the tenants use from now on.
func (h *history) second(now int64, tree *queue.Tree) {
	h.last = now
	class := 0
	for q := range tree.Children(queue.Root) {
		t := &h.tenants[class]
		t.guaranteed = h.parts(tree.Guaranteed(q).Value)
		used := h.parts(tree.Effective(nil, q))
		if n := len(t.usage); n > 0 && t.usage[n-1].at == now {
			t.usage[n-1].parts = used // another round of the same second
		} else if n == 0 || t.usage[n-1].parts != used {
			t.usage = append(t.usage, point{now, used})
		}
		class++
	}
}

// parts returns the largest share of the cluster that v has of any type.
func (h *history) parts(v resources.Vector) int64 {
	s := resources.DominantShare(v, h.capacity)
	return resources.ScaleRatio(nil, resources.Vector{s.Amount}, whole, max(s.Of, 1))[0]
}

// waits returns for how long each pod of a class was there without running, up
// to a second, sorted.
func (h *history) waits(class trace.QoS, until int64) []int64 {
	var all []int64
	for i := range h.waiters {
		p, w := &h.replay.Workload.Pods[i], h.waiters[i]
		if p.QoS != class {
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

// means returns what a tenant uses on average in each of n equal spans of time,
// from a second to another. Spans are of a second at least.
func (t *tenant) means(from, to int64, n int) []int64 {
	means := make([]int64, n)
	next, now := 0, int64(0) // the next point, and what is used until then
	for i := range means {
		begin := from + (to-from)*int64(i)/int64(n)
		end := max(from+(to-from)*int64(i+1)/int64(n), begin+1)
		sum := int64(0)
		for at := begin; at < end; {
			for next < len(t.usage) && t.usage[next].at <= at {
				now = t.usage[next].parts
				next++
			}
			until := end
			if next < len(t.usage) {
				until = min(until, t.usage[next].at)
			}
			sum += now * (until - at)
			at = until
		}
		means[i] = sum / (end - begin)
	}
	return means
}
