// SPDX-License-Identifier: Apache-2.0

//go:build preempt

// The mirror: YuniKorn's objects as a cluster of the library. This file says which
// object becomes what, fresh.go makes a whole cluster at once, and kept.go keeps one
// up to date. The files of this folder are compiled inside YuniKorn's package.

package objects

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	yres "github.com/apache/yunikorn-core/pkg/common/resources"

	pq "github.com/go-preempt/preempt/queue"
	pr "github.com/go-preempt/preempt/resources"
	pv "github.com/go-preempt/preempt/victims"
)

// A mirror is a cluster, and which object each of its parts stands for.
type mirror struct {
	schema  *pr.Schema
	tree    *pq.Tree
	cluster *pv.Cluster

	queues map[*Queue]pq.ID
	byID   []*Queue
	allocs map[string]*Allocation // by key
}

// A question is what a decision is about.
type question struct {
	root  *Queue
	app   *Application // of the ask; its lock is held. nil for a quota
	ask   *Allocation
	nodes []*Node // all nodes, or the only one that the ask may run on
	// strays: what is on the nodes counts, even if no queue knows its application.
	strays bool
	// cancelled are the reservations that were taken off nodes for the ask.
	cancelled map[*Allocation]bool
}

// keyOf returns the key of an allocation in the cluster. YuniKorn's own keys are
// unique within an application.
func keyOf(a *Allocation) string { return a.applicationID + "|" + a.allocationKey }

// A typeSet collects names of resource types: YuniKorn has no list of them.
type typeSet map[string]bool

func (t typeSet) add(rs ...*yres.Resource) {
	for _, r := range rs {
		if r != nil {
			for name := range r.Resources {
				t[name] = true
			}
		}
	}
}

// addQueues adds the types that queues from q downwards name or use.
func (t typeSet) addQueues(q *Queue) {
	walk(q, func(q *Queue) { t.add(q.GetGuaranteedResource(), q.cloneMaxResource(), q.GetAllocatedResource()) })
}

// setQueues makes a tree of the queues, of these types, and gives it to the cluster,
// which it makes first if there is none.
func (m *mirror) setQueues(root *Queue, types typeSet) (err error) {
	if m.schema, err = pr.NewSchema(slices.Sorted(maps.Keys(types))...); err != nil {
		return err
	}
	if m.tree, err = pq.NewLenient(m.schema, m.config(root)); err != nil {
		return err
	}
	if m.cluster == nil {
		m.cluster = pv.NewCluster(m.tree)
	} else if err := m.cluster.SetTree(m.tree); err != nil {
		return err
	}
	m.queues, m.byID = make(map[*Queue]pq.ID), make([]*Queue, m.tree.Len())
	walk(root, func(q *Queue) {
		if id, ok := m.tree.Lookup(q.GetQueuePath()); ok {
			m.queues[q], m.byID[id] = id, q
		}
	})
	return nil
}

// config translates a queue and those below it. YuniKorn has parsed the properties
// and merged in those of the parents, so that the library must not do so again:
// every queue says all that it means.
func (m *mirror) config(q *Queue) pq.Config {
	q.RLock()
	c := pq.Config{Name: q.Name, Guaranteed: m.limit(q.guaranteedResource), Max: m.limit(q.maxResource), Policies: pq.Policies{Dynamic: !q.isManaged}}
	c.Properties = map[string]string{
		"preemption.policy": q.preemptionPolicy.String(),
		"preemption.delay":  q.preemptionDelay.String(),
		"priority.policy":   q.priorityPolicy.String(),
		"priority.offset":   strconv.Itoa(int(q.priorityOffset)),
	}
	q.RUnlock()
	// YuniKorn runs with a guarantee above the max. What exceeds the max cannot be had.
	c.Guaranteed.Value = pr.Tighten(pr.Limit{}, c.Guaranteed, c.Max).Value
	for _, child := range childrenOf(q) {
		c.Children = append(c.Children, m.config(child))
	}
	if engineShares {
		m.divide(q, &c)
	}
	return c
}

// divide gives the leaves right below a queue their fair shares of its guarantee, by what
// they use and wait for, if they have none. Without, none of them takes from another:
// that would leave the queue as starved as it is.
func (m *mirror) divide(q *Queue, c *pq.Config) {
	if slices.ContainsFunc(c.Children, func(x pq.Config) bool { return x.Guaranteed.Defined != 0 || len(x.Children) > 0 }) {
		return
	}
	demand := make([]pr.Vector, 1, 1+len(c.Children)) // the queue, then the leaves
	for _, leaf := range childrenOf(q) {
		demand = append(demand, pr.Add(nil, m.vector(leaf.GetAllocatedResource()), m.vector(leaf.GetPendingResource())))
	}
	var shares pq.FairShares
	if branch, err := pq.NewLenient(m.schema, *c); err == nil && shares.Divide(branch, demand, c.Guaranteed) == nil {
		for i := range c.Children {
			c.Children[i].Guaranteed = shares.Guarantee(pq.ID(1 + i))
		}
	}
}

// vector translates an amount. Types that the schema lacks are left out.
func (m *mirror) vector(r *yres.Resource) pr.Vector { return m.limit(r).Value }

// limit translates a bound. What it does not name has none.
func (m *mirror) limit(r *yres.Resource) pr.Limit {
	l := pr.Limit{Value: make(pr.Vector, m.schema.Len())}
	if r != nil {
		for name, amount := range r.Resources {
			if i, ok := m.schema.Index(name); ok {
				l.Value[i] = int64(max(amount, 0))
				l.Defined |= 1 << i
			}
		}
	}
	return l
}

// task translates an allocation that runs.
func (m *mirror) task(a *Allocation, leaf *Queue, node string) pv.Task {
	t := pv.Task{
		Key: keyOf(a), Name: a.allocationKey, Application: a.applicationID, Queue: m.queues[leaf], NodeName: node,
		Size: m.vector(a.GetAllocatedResource()), Priority: a.GetPriority(),
		// YuniKorn knows when a task was asked for, not when it was placed.
		Created: a.GetCreateTime(), Scheduled: a.GetCreateTime(),
		Originator: a.IsOriginator(), OptedOut: !a.IsAllowPreemptSelf(), RequiredNode: a.GetRequiredNode() != "",
		Job: a.GetTaskGroup(),
	}
	switch {
	case a.IsReleased(): // such as a placeholder that is being replaced
		t.State = pv.Releasing
	case a.IsPreempted():
		t.State = pv.Marked
	}
	return t
}

// asked translates a request. CheckPreconditions has asked already whether it may
// preempt, and waited for the delay and the interval between attempts.
func (m *mirror) asked(a *Allocation, leaf *Queue) pv.Ask {
	return pv.Ask{
		Key: keyOf(a), Name: a.allocationKey, Application: a.applicationID, Queue: m.queues[leaf],
		Size: m.vector(a.GetAllocatedResource()), Priority: a.GetPriority(), RequiredNode: a.GetRequiredNode(),
		Originator: a.IsOriginator(), OptedOut: !a.IsAllowPreemptSelf(), Job: a.GetTaskGroup(),
	}
}

// node translates a node on which tasks use so much. YuniKorn says what is
// available: the rest of the capacity is used by strangers, such as pods of another
// scheduler, and is no capacity here.
func (m *mirror) node(n *Node, used pr.Vector, keptFor string) pv.Node {
	capacity := pr.Add(nil, m.vector(n.GetAvailableResource()), used)
	return pv.Node{Name: n.NodeID, Capacity: capacity, Unschedulable: !n.IsSchedulable(), ReservedFor: keptFor}
}

// keptFor returns the key of the ask that a node is kept for, or "". YuniKorn keeps
// whole nodes. Daemon sets may have several reservations on one: then nobody else
// gets it, and each of them does.
func keptFor(n *Node, q *question) (key string) {
	for _, r := range n.GetReservations() {
		if q.ask != nil && r.allocKey == q.ask.allocationKey {
			return keyOf(q.ask)
		}
		if !q.cancelled[r.alloc] {
			key = keyOf(r.alloc)
		}
	}
	return key
}

// describe writes what two mirrors of the same objects agree about: what every
// queue uses, and what every node has left once victims have gone.
func (m *mirror) describe() map[string]string {
	out := make(map[string]string)
	for id := range pq.ID(m.tree.Len()) {
		out["queue "+m.tree.Path(id)] = m.schema.Format(m.tree.Effective(nil, id))
	}
	for n := range m.cluster.Nodes() {
		var tasks []string
		for t := range m.cluster.TasksOn(n) {
			tasks = append(tasks, fmt.Sprint(m.cluster.Key(t), " ", m.cluster.State(t)))
		}
		slices.Sort(tasks)
		node := m.cluster.NodeView(n)
		out["node "+node.Name] = fmt.Sprint(m.schema.Format(m.cluster.ComingFree(nil, n)), node.Unschedulable, node.ReservedFor, strings.Join(tasks, ","))
	}
	return out
}

// childrenOf returns the queues right below one, by name: YuniKorn has no order.
func childrenOf(q *Queue) []*Queue {
	return slices.SortedFunc(maps.Values(q.GetCopyOfChildren()), func(a, b *Queue) int { return strings.Compare(a.Name, b.Name) })
}

func rootOf(q *Queue) *Queue {
	for q.parent != nil {
		q = q.parent
	}
	return q
}

// walk calls f for q and every queue below it, parents first.
func walk(q *Queue, f func(*Queue)) {
	f(q)
	for _, child := range childrenOf(q) {
		walk(child, f)
	}
}
