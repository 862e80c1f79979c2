// SPDX-License-Identifier: Apache-2.0

//go:build preempt

package objects

// The engines: who goes for an ask, for an ask that requires its node, and for a
// quota. Each stands for a method of YuniKorn; measure.go has the switch between the
// two. When they are called stays YuniKorn's.

import (
	"slices"
	"time"

	"github.com/apache/yunikorn-core/pkg/common"
	"github.com/apache/yunikorn-core/pkg/plugins"
	"github.com/apache/yunikorn-scheduler-interface/lib/go/si"

	pj "github.com/go-preempt/preempt/jobs"
	pquota "github.com/go-preempt/preempt/quota"
	pr "github.com/go-preempt/preempt/resources"
	pv "github.com/go-preempt/preempt/victims"
)

// decide brings the mirror up to date and asks the planner. It reports false if that
// cannot be, and then nobody is stopped.
func (q *question) decide(full bool) (*mirror, *pv.Decision, bool) {
	var d pv.Decision
	m, err := mirrorFor(q, full)
	if err == nil {
		ask := m.asked(q.ask, q.app.queue)
		planner := pj.Planner{Cluster: m.cluster, Options: engineRules}
		planner.Compare = engineOrder
		if ask.RequiredNode == "" {
			planner.Predicate = m.predicate(q.ask)
		}
		err = planner.Decide(&d, &ask, time.Now())
	}
	if err != nil {
		EngineStats.failed(err)
		return nil, nil, false
	}
	EngineStats.decided(m, &d)
	return m, &d, true
}

// tryLibrary finds a node and victims for an ask, marks them and has them stopped.
func (p *Preemptor) tryLibrary() (*AllocationResult, bool) {
	deciding.Lock()
	defer deciding.Unlock()
	q := p.question()
	for _, n := range q.nodes {
		p.cancelReservations(n, q.cancelled)
	}
	m, d, ok := q.decide(true)
	if !ok {
		return nil, false
	}
	if d.Outcome == pv.Refused {
		switch d.Refusal.Reason {
		case "not-guaranteed", "over-guarantee", "headroom-inside":
			p.ask.LogAllocationFailure(common.PreemptionDoesNotGuarantee, true)
		case "no-victims":
			if slices.ContainsFunc(q.nodes, func(n *Node) bool { return n.FitInNode(p.ask.GetAllocatedResource()) }) {
				p.ask.LogAllocationFailure(common.PreemptionShortfall, true)
			}
		}
		return nil, false
	}
	gone, err := m.mark(d.Plan.Victims)
	if err != nil { // one of them has been released in the meantime
		p.ask.LogAllocationFailure(common.PreemptionVictimsReleased, true)
		return nil, false
	}
	m.apply(q, d)
	// An ask that fits, or waits for what is leaving, stops nobody. It gets the
	// reservation all the same, for the cluster counts with its place.
	if len(gone) > 0 {
		for _, a := range gone {
			a.SendPreemptedBySchedulerEvent(p.ask.allocationKey, p.ask.applicationID, p.application.queuePath)
		}
		p.ask.MarkTriggeredPreemption()
		p.application.notifyRMAllocationReleased(gone, si.TerminationType_PREEMPTED_BY_SCHEDULER,
			"preempting allocations to free up resources to run ask: "+p.ask.GetAllocationKey())
	}
	return newReservedAllocationResult(d.Plan.Places[0].NodeName, p.ask), true
}

// mark marks victims, all or none, and counts them in their queues.
func (m *mirror) mark(who []pv.Victim) (done []*Allocation, err error) {
	for _, v := range who {
		a := m.allocs[v.Key]
		if err = a.MarkPreempted(); err != nil {
			break
		}
		done = append(done, a)
	}
	for i, a := range done {
		if err == nil {
			m.leafOf(who[i]).IncPreemptingResource(a.GetAllocatedResource())
		} else {
			a.MarkUnPreempted()
		}
	}
	return done, err
}

// leafOf returns the queue of a victim.
func (m *mirror) leafOf(v pv.Victim) *Queue { return m.byID[m.cluster.TaskView(v.Task).Queue] }

// predicate asks the resource manager about a node with victims gone.
func (m *mirror) predicate(ask *Allocation) func(*pv.Question) bool {
	plugin := plugins.GetResourceManagerCallbackPlugin()
	if plugin == nil {
		return nil
	}
	return func(p *pv.Question) bool {
		node := m.cluster.NodeName(p.Node)
		var there []*Allocation // those elsewhere make room under a max
		for _, id := range p.Victims {
			if m.cluster.NodeOf(id) == p.Node {
				there = append(there, m.allocs[m.cluster.Key(id)])
			}
		}
		if len(there) == 0 || pr.Fits(p.Ask.Size, m.cluster.Free(nil, p.Node)) {
			return plugin.Predicates(&si.PredicatesArgs{AllocationKey: ask.allocationKey, NodeID: node, Allocate: true}) == nil
		}
		sortVictimsForPreemption(map[string][]*Allocation{node: there})
		// It may say that a part of the list is enough. Here all of it is the question. What
		// accepts a set must accept larger ones, which a plugin may not know: so the first
		// that are enough by amounts are asked about, too.
		args := si.PreemptionPredicatesArgs{AllocationKey: ask.allocationKey, NodeID: node}
		free, accepted := m.cluster.ComingFree(nil, p.Node), false
		for i, a := range there {
			enough := pr.Fits(p.Ask.Size, free)
			free = pr.Add(free, free, m.vector(a.GetAllocatedResource()))
			args.StartIndex, args.PreemptAllocationKeys = int32(i), append(args.PreemptAllocationKeys, a.allocationKey)
			if last := i == len(there)-1; !accepted && (last || !enough && pr.Fits(p.Ask.Size, free)) {
				r := plugin.PreemptionPredicates(&args)
				accepted = r != nil && r.Success
			}
		}
		return accepted
	}
}

// cancelReservations takes reservations of less important asks that have waited
// long off a node, as YuniKorn does before it looks for victims. It leaves those of
// the ask's own application, whose lock is held.
func (p *Preemptor) cancelReservations(n *Node, cancelled map[*Allocation]bool) {
	if n.isReservedForAllocation(p.ask.allocationKey) {
		return
	}
	for _, r := range n.GetReservations() {
		a := r.alloc
		if r.app == p.application || a.requiredNode != "" || a.HasTriggeredPreemption() || a.GetPriority() >= p.ask.priority {
			continue
		}
		if time.Since(a.GetCreateTime().Add(reservationWaitTimeout).Add(reservationDelay)) > reservationWaitTimeout {
			cancelled[a] = true
			r.app.GetQueue().UnReserve(r.app.ApplicationID, r.app.UnReserve(r.node, a))
		}
	}
}

// libraryVictims returns who must go from the node of an ask that requires it. The
// caller marks them.
func (p *PreemptionContext) libraryVictims() []*Allocation {
	deciding.Lock()
	defer deciding.Unlock()
	q := &question{root: rootOf(p.application.queue), app: p.application, ask: p.requiredAsk, nodes: []*Node{p.node}, strays: true}
	m, d, ok := q.decide(false)
	if !ok || d.Outcome != pv.Preempts {
		return nil
	}
	var gone []*Allocation
	for _, v := range d.Plan.Victims {
		gone = append(gone, m.allocs[v.Key])
		m.leaving(v)
	}
	SortAllocations(gone)
	return gone
}

// leaving notes that a victim is told to stop other than by a plan that is applied.
func (m *mirror) leaving(v pv.Victim) {
	if err := m.cluster.SetState(v.Key, pv.Marked); err != nil {
		EngineStats.failed(err)
	}
}

// tryLibrary decides who goes from a queue that is over its max.
func (qpc *QuotaPreemptionContext) tryLibrary() {
	// YuniKorn's tests look at whom it would choose among.
	qpc.setPreemptableResources()
	if qpc.queue.IsLeafQueue() {
		qpc.filterAllocations()
	}
	deciding.Lock()
	defer deciding.Unlock()
	qpc.queue.setQuotaPreemptionState(true)
	defer qpc.queue.setQuotaPreemptionState(false)
	var d pv.Decision
	m, err := mirrorFor(&question{root: rootOf(qpc.queue)}, false)
	if err == nil {
		q := m.queues[qpc.queue]
		if err = m.cluster.SetMax(q, m.limit(qpc.maxResource)); err == nil {
			enforcer := pquota.Enforcer{Cluster: m.cluster}
			err = enforcer.Enforce(&d, q, time.Now())
		}
	}
	if err != nil {
		EngineStats.failed(err)
		return
	}
	EngineStats.enforced(m, &d)
	for _, v := range d.Plan.Victims {
		a, leaf := m.allocs[v.Key], m.leafOf(v)
		app := leaf.GetApplication(a.applicationID)
		if app == nil || a.MarkPreempted() != nil {
			continue
		}
		m.leaving(v)
		leaf.IncPreemptingResource(a.GetAllocatedResource())
		a.SendPreemptedByQuotaChangeEvent(leaf.GetQueuePath())
		app.notifyRMAllocationReleased([]*Allocation{a}, si.TerminationType_PREEMPTED_BY_SCHEDULER,
			"preempting allocations to enforce new max quota for queue : "+qpc.queue.GetQueuePath())
	}
}
