// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/victims"
)

// endQuota ends the run of a queue, if the queue is still there.
func (c *core) endQuota(path string, now time.Time) {
	if q, ok := c.timing.Cluster.Tree().Lookup(path); ok && c.timing.Running(q) {
		c.timing.End(q, now) // its error is that there is no run
	}
}

// observeMaxes shows the clocks the max and the delay of each queue, as they are now.
func (c *core) observeMaxes(now time.Time) {
	c.timing.Cluster = c.cluster
	c.timing.Observe(now)
}

// takeBackOverMax has a queue whose max was lowered give back what it uses beyond it, once
// its delay has passed. That happens if nobody waits, too, and then the scheduler and the
// mirror stand still. So it is decided on a copy of the cluster by the informers. That costs
// as much as to mirror all nodes, and is rare. A replica that does not lead does nothing.
func (pl *Plugin) takeBackOverMax(g *groups, now time.Time) {
	c := pl.core
	c.mu.Lock()
	defer c.mu.Unlock()
	next, ok := c.timing.Next()
	if !ok || now.Before(next) || !c.schedules.Load() || c.next != nil {
		return
	}
	fresh, err := c.fresh(g)
	if err != nil {
		c.log.Error(err, "Max not enforced yet")
		return
	}
	c.timing.Cluster = fresh.cluster
	for q := range c.timing.Due(now) {
		path := fresh.cluster.Tree().Path(q)
		if e := pl.enforce(fresh, q, now); e != nil {
			c.mu.Unlock()
			stay := pl.evict(e)
			c.mu.Lock()
			for _, k := range stay {
				fresh.unmark(k) // so that the queue is over its max still
			}
		}
		c.endQuota(path, now)
		return // the next one on a fresh copy
	}
}

// fresh returns a core with the cluster as the informers have it, and with what was granted
// and marked here.
func (c *core) fresh(g *groups) (*core, error) {
	s, err := c.args.setup(c.queues().tree.Schema(), c.queues().root, nil)
	if err != nil {
		return nil, err
	}
	l := &lookup{args: c.args, namespaces: c.lookup.namespaces, classes: c.lookup.classes, budgets: c.lookup.budgets}
	l.read() // its errors were told when the lookup here was read
	l.staleEvicted.Store(true)
	nodes, err := c.infos()
	if err != nil {
		return nil, err
	}
	fresh := bareCore(s, l, c.log)
	fresh.groups = g
	fresh.sync(nodes)
	for k := range c.marked { // in any order: each is by itself
		id, ok := fresh.cluster.Lookup(k)
		if here, known := c.cluster.Lookup(k); ok && known && fresh.cluster.State(id) == victims.Running && c.cluster.State(here) == victims.Marked {
			fresh.cluster.SetState(k, victims.Marked)
		}
	}
	for id := range c.cluster.Granted() {
		t := c.cluster.Task(id)
		node, ok := fresh.cluster.LookupNode(c.cluster.NodeName(t.Node))
		if _, runs := fresh.cluster.Lookup(t.Key); runs || !ok {
			continue
		}
		ask := victims.Ask{Key: t.Key, Name: t.Name, Application: t.Application, Queue: t.Queue, Size: t.Size, Priority: t.Priority, Job: t.Job}
		if _, err := fresh.cluster.GrantPlace(&ask, node, time.Now()); err != nil {
			return nil, err
		}
	}
	return fresh, nil
}

// infos returns the nodes of the informers with their pods, in the order of their names.
func (c *core) infos() (list []fwk.NodeInfo, err error) {
	nodes, err := c.nodes.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	pods, err := c.lister.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	all := map[string]*framework.NodeInfo{}
	at := func(n *v1.Node) *framework.NodeInfo {
		info := framework.NewNodeInfo()
		info.SetNode(n)
		all[n.Name] = info
		list = append(list, info)
		return info
	}
	for _, n := range nodes {
		at(n)
	}
	for _, p := range pods {
		if p.Spec.NodeName == "" {
			continue
		}
		info := all[p.Spec.NodeName]
		if info == nil { // the node is gone, and its pods are there still
			info = at(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: p.Spec.NodeName}})
		}
		info.AddPod(p)
	}
	slices.SortFunc(list, func(a, b fwk.NodeInfo) int { return cmp.Compare(a.Node().Name, b.Node().Name) })
	return list, nil
}

// enforce decides which pods of a queue stop so that it comes within its max, and marks
// them. It returns what is to be done, or nil.
func (pl *Plugin) enforce(fresh *core, q queue.ID, now time.Time) *eviction {
	c, tree := pl.core, fresh.queues().tree
	options := victims.Options{Enforced: c.timing.Running, Steps: c.args.Budget}
	enforcer := quota.Enforcer{Cluster: fresh.cluster, Options: options}
	var d victims.Decision
	if err := enforcer.Enforce(&d, q, now); err != nil {
		c.log.Error(err, "Max not enforced")
		return nil
	}
	auditor := victims.Auditor{Cluster: fresh.cluster, Options: options}
	if found := auditor.Audit(nil, &d, d.Plan.At); len(found) > 0 {
		for _, v := range found {
			violations.WithLabelValues(v.Law).Inc()
			c.log.Error(nil, "Enforcement breaks a law", "queue", d.Plan.Path, "violation", v)
		}
		return nil
	}
	c.log.Info("Max enforced", "queue", d.Plan.Path, "result", d.Enforcement.Result, "dryRun", c.args.DryRun, "outcome", d.Summary())
	if c.args.DryRun || d.Outcome != victims.Preempts {
		return nil
	}
	if err := fresh.cluster.Apply(&d); err != nil {
		c.log.Error(err, "Max not enforced")
		return nil
	}
	schema := tree.Schema()
	e := &eviction{kind: "queue", uid: types.UID(d.Plan.Path), note: fmt.Sprintf("queue %s is over its max: used %s, max %s",
		d.Plan.Path, schema.Format(d.Enforcement.Usage), schema.FormatLimit(d.Enforcement.Max))}
	for i := range d.Plan.Victims {
		v := &d.Plan.Victims[i]
		pod := c.pod(v.Key)
		if pod == nil {
			continue // gone this moment
		}
		e.victims = append(e.victims, victim{pod: pod, key: v.Key, node: v.NodeName})
		victimsTotal.WithLabelValues(v.Path).Inc()
		if id, ok := c.cluster.Lookup(v.Key); ok && c.cluster.State(id) == victims.Running {
			if err := c.cluster.SetState(v.Key, victims.Marked); err != nil {
				c.log.Error(err, "Victim not marked", "pod", v.Key)
			}
		}
	}
	c.mark(d.Plan.Victims, now)
	return e
}
