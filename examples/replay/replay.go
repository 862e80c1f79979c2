// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/judge/trace"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Replay runs a workload through a planner, from the first pod that is
// created to the last that ends.
//
// A pod asks when it is created. One that finds no room waits in line, and asks
// again once it is old enough to preempt. Whenever room was made, because a pod
// ended or a victim has left, the first Retries pods of the line ask again, and
// those refused go to its end: so a second costs a bounded number of decisions
// per pod that ends, and every pod has its turn.
//
// A victim goes on for the time of grace, while the ask that it makes room for
// holds its place as a grant. Then it is a new pending pod, at the end of the
// line. A pod ends at its time of deletion, whatever it is doing and however
// late it was placed.
type Replay struct {
	Workload *trace.Workload
	Stretch  int64 // pods live that many times as long; 0: for ever
	Retries  int
	Grace    int64 // seconds

	Patient bool // nobody may preempt: a replay to compare with
	// Fair has pods belong to teams, to whom nothing is guaranteed but their fair
	// shares. All pods are of the same priority then.
	Fair bool

	// Second, if it is set, sees the queues after each second in which
	// anything happened, and the fair shares, if there are any. It must not keep or
	// change them.
	Second func(now int64, queues *queue.Tree, shares *queue.FairShares)
	// Observe, if it is set, is told of each decision.
	Observe func(*Step)
	// Clock tells the time by which decisions are measured; nil: they take
	// none. It decides nothing.
	Clock func() time.Duration
}

// A Step is one decision. It is good until Observe returns.
type Step struct {
	Now      int64 // seconds
	Decision *victims.Decision
	Held     bool // the ask held a grant, and starts if it fits now
	Took     time.Duration
	Created  int // pods so far
}

// forever is an instant that no replay comes to.
const forever = 2 * trace.MaxTime

// A player plays a replay.
type player struct {
	*Replay
	cluster *victims.Cluster
	planner jobs.Planner
	auditor victims.Auditor
	watch   *watch
	fair    *sharing // nil unless Fair

	starving []bool // leaves, in this second

	pods     []pod
	index    map[string]int32 // of pods, by name
	calendar calendar
	line     []int32 // pending pods, the next to ask first
	granted  []int32 // pods that hold a grant, the oldest grant first
	now      int64
	freed    bool // room was made in this second
	created  int

	ask        victims.Ask
	decision   victims.Decision
	violations []victims.Violation
	figures    Figures
}

// pod is a pod and what it is doing.
type pod struct {
	*trace.Pod
	tenant  int
	leaf    queue.ID
	size    resources.Vector
	state   podState
	since   int64 // when it began to be pending
	matures int64 // when it will be old enough to preempt, if it had to ask
	placed  bool  // it has had a place at least once
	stopped bool  // it has been a victim at least once
}

type podState uint8

const (
	absent  podState = iota // not created yet, or ended
	pending                 // in line
	granted                 // it has a place, from which others are still leaving
	running
	leaving // running as a victim
)

// Run replays the workload. It ends early if there were more plans than the
// theorem allows, for then it might never end. Errors are what the cluster
// refuses: amounts that sum over the range of int64.
func (r *Replay) Run() (*Figures, error) {
	x, err := r.prepare()
	if err != nil {
		return nil, err
	}
	for !x.calendar.empty() && x.watch.plans <= x.watch.bound() {
		if err := x.second(); err != nil {
			return nil, err
		}
		if err := x.share(); err != nil {
			return nil, err
		}
		x.look()
		x.fair.look(x.now, x.cluster.Tree())
		if x.Second != nil {
			x.Second(x.now, x.cluster.Tree(), x.fair.current())
		}
	}
	x.figures.conclude(x)
	return &x.figures, nil
}

// prepare builds queues and nodes, and enters every pod in the calendar.
func (r *Replay) prepare() (*player, error) {
	cluster, err := r.newCluster()
	if err != nil {
		return nil, err
	}
	x := &player{
		Replay:  r,
		cluster: cluster,
		planner: jobs.Planner{Cluster: cluster},
		auditor: victims.Auditor{Cluster: cluster},
		index:   make(map[string]int32, len(r.Workload.Pods)),
	}
	for i := range r.Workload.Pods {
		p := &r.Workload.Pods[i]
		x.pods = append(x.pods, pod{Pod: p, tenant: r.tenantOf(p), leaf: r.leafOf(p), size: p.Size()})
		x.index[p.Name] = int32(i)
		x.calendar.add(event{p.Created, arrives, int32(i)})
		if end := r.endOf(p); end < forever {
			x.calendar.add(event{end, ends, int32(i)})
		}
	}
	// Without a filter a planner has less to do.
	if slices.ContainsFunc(r.Workload.Pods, func(p trace.Pod) bool { return p.Models != nil }) {
		x.planner.Filter = x.allowed
		x.auditor.Filter = x.allowed
	}
	x.starving = make([]bool, cluster.Tree().Len())
	governing := cluster.Tree().Governing
	if r.Fair {
		x.fair = newSharing(cluster.Tree(), r.Workload)
		governing = func(leaf queue.ID, _ int) (queue.ID, bool) { return leaf, true } // while the type is scarce
	}
	x.watch = newWatch(cluster.Tree(), x.pods, governing)
	x.figures.begin(cluster)
	return x, nil
}

// endOf returns when a pod ends. Every pod lives for a second at least.
func (r *Replay) endOf(p *trace.Pod) int64 {
	life := max(p.Deleted-p.Created, 1)
	if r.Stretch == 0 || life > (forever-p.Created)/r.Stretch {
		return forever
	}
	return p.Created + life*r.Stretch
}

// allowed is the filter: a pod that wants GPUs of certain models has them
// from a node of one of those models only.
func (x *player) allowed(q *victims.Question) bool {
	p := x.pods[q.Member.Class]
	// Nodes are never removed, so their rows are those of the workload, from 1 on.
	return p.GPU == 0 || p.Models == nil || slices.Contains(p.Models, x.Workload.Nodes[q.Node-1].Model)
}
