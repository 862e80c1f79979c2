// SPDX-License-Identifier: Apache-2.0

//go:build preempt

package objects

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	pr "github.com/go-preempt/preempt/resources"
	pv "github.com/go-preempt/preempt/victims"
)

// nowhere is the node of what has none, yet or any more. The cluster does not know
// it, and places nobody there.
const nowhere = "~nowhere"

// fresh makes a mirror of everything, starting from the queues. The kept mirror
// starts from the nodes. That makes one a check of the other, and serves where
// nobody keeps one: in YuniKorn's tests.
func fresh(q *question) (*mirror, error) {
	types := make(typeSet)
	types.addQueues(q.root)
	if q.ask != nil {
		types.add(q.ask.GetAllocatedResource())
	}
	home := make(map[*Allocation]string)
	for _, n := range q.nodes {
		types.add(n.GetCapacity(), n.GetAvailableResource())
		for _, a := range n.GetYunikornAllocations() {
			types.add(a.GetAllocatedResource())
			home[a] = n.NodeID
		}
	}
	var all []*Allocation
	leafOf := make(map[string]*Queue)
	found := func(a *Allocation, leaf *Queue) {
		if key := keyOf(a); leafOf[key] == nil { // else of two applications with one name, as in some tests
			all, leafOf[key] = append(all, a), leaf
			types.add(a.GetAllocatedResource())
		}
	}
	walk(q.root, func(leaf *Queue) {
		for _, app := range leaf.GetCopyOfApps() {
			for _, a := range allocationsOf(app, app == q.app) {
				found(a, leaf)
			}
		}
	})
	if q.strays {
		for a := range home {
			leaf := q.app.queue
			if leaf.appQueueMapping != nil { // as in some tests
				leaf = cmp.Or(leaf.GetQueueByAppID(a.applicationID), leaf)
			}
			found(a, leaf)
		}
	}
	slices.SortStableFunc(all, func(a, b *Allocation) int { return cmp.Compare(keyOf(a), keyOf(b)) })
	m := &mirror{allocs: make(map[string]*Allocation)}
	if err := m.setQueues(q.root, types); err != nil {
		return nil, err
	}

	var tasks []pv.Task
	used := make(map[string]pr.Vector) // by node
	counted := make(map[*Queue]pr.Vector)
	for _, a := range all {
		leaf := leafOf[keyOf(a)]
		t := m.task(a, leaf, cmp.Or(home[a], a.GetNodeID(), nowhere))
		tasks, m.allocs[t.Key] = append(tasks, t), a
		used[t.NodeName] = pr.Add(nil, used[t.NodeName], t.Size)
		counted[leaf] = pr.Add(nil, counted[leaf], t.Size)
	}
	// In the order of the iterator: it decides between equal plans.
	for _, n := range q.nodes {
		node := m.node(n, used[n.NodeID], keptFor(n, q))
		if _, err := m.cluster.AddNode(&node); err != nil {
			return nil, err
		}
	}
	for i := range tasks {
		if _, err := m.cluster.AddTask(&tasks[i]); err != nil {
			return nil, err
		}
	}
	return m, m.addUnexplained(q.root, counted)
}

// addUnexplained adds what leaves use, by their own count, beyond what their
// applications run: a task that nobody may take.
func (m *mirror) addUnexplained(root *Queue, counted map[*Queue]pr.Vector) (err error) {
	walk(root, func(leaf *Queue) {
		rest := pr.Over(nil, m.vector(leaf.GetAllocatedResource()), pr.Limit{Value: counted[leaf], Defined: ^pr.Mask(0)})
		if !m.tree.IsLeaf(m.queues[leaf]) || pr.IsZero(rest) || err != nil {
			return
		}
		_, err = m.cluster.AddTask(&pv.Task{
			Key: "usage|" + leaf.GetQueuePath(), Queue: m.queues[leaf], NodeName: nowhere, Size: rest, RequiredNode: true,
		})
	})
	return err
}

// addGrants gives the asks their places that hold one. In YuniKorn they are
// reservations for which somebody was told to stop.
func (m *mirror) addGrants(q *question) error {
	for _, n := range q.nodes {
		id, _ := m.cluster.LookupNode(n.NodeID)
		for _, r := range n.GetReservations() {
			if r.alloc == q.ask || q.cancelled[r.alloc] || !r.alloc.HasTriggeredPreemption() || r.app == nil || r.app.queue == nil {
				continue
			}
			ask := m.asked(r.alloc, r.app.queue)
			if _, err := m.cluster.GrantPlace(&ask, id, time.Time{}); err != nil {
				return fmt.Errorf("reservation of %s: %w", ask.Key, err)
			}
		}
	}
	return nil
}

// allocationsOf lists what runs in an application. held says that the caller has its lock.
func allocationsOf(app *Application, held bool) []*Allocation {
	if held {
		return slices.Collect(maps.Values(app.allocations))
	}
	return app.GetAllAllocations()
}
