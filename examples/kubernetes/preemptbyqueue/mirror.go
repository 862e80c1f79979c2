// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"cmp"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A mirror knows which state of each node the cluster has. The cluster follows the
// scheduler's snapshot, in which assumed pods run already.
type mirror struct {
	byName    map[string]*mirrored
	seats     []seat    // as the nodes were in the last snapshot
	beat      int       // the node of the last patrol
	patrolled time.Time // when that was
	next      int       // where the next catchUp begins
	// overdue is before the first instant at which a pod will have been leaving for
	// too long; zero: there is none.
	overdue time.Time
	wholes  map[string]bool // the jobs that the cluster knows to go as a whole
	whole   int             // how many there were when those that have gone were last forgotten
	movable bool            // some pod is, or was, movable
	rereads bool            // all nodes are being mirrored once more; see reread

	tasks   []victims.Task // memory for the tasks of a node
	sizes   resources.Vector
	budgets []string
}

// mirrored is a node as the cluster has it.
type mirrored struct {
	name       string
	generation int64
	seated     bool
	evicts     bool      // a budget has let one of its pods go, which nobody has told to stop yet
	overdue    time.Time // when the first of its pods will have been leaving for too long; zero: never
}

// A seat is the place of a node in the snapshot. The scheduler keeps one NodeInfo for a
// node as long as it has the node, and fills it anew. So most seats stay as they are.
type seat struct {
	info fwk.NodeInfo
	node *mirrored
}

// sync brings the cluster to a snapshot. It costs a comparison per node, and the
// tasks of the nodes that changed.
func (c *core) sync(nodes []fwk.NodeInfo) {
	now := time.Now()
	defer func() { syncSeconds.Observe(time.Since(now).Seconds()) }()
	c.feel(now)
	c.setQueues()
	c.reread()
	c.setBudgets()
	m := &c.mirror
	c.seat(nodes)
	late := !m.overdue.IsZero() && !now.Before(m.overdue)
	if late {
		m.overdue = time.Time{} // each node that has one tells it again
	}
	for i := range m.seats {
		s := &m.seats[i]
		if s.node.generation != s.info.GetGeneration() || late && s.node.isLate(now) {
			c.syncNode(s.node, s.info, now)
		} else if late {
			m.expect(s.node.overdue)
		}
	}
	c.nominate()
	c.patrol(now)
	c.findScarce(now)
	if m.rereads {
		m.rereads = false
		c.removeBudgets()
	}
}

// How many nodes a pod has catchUp look at, and how many of those it mirrors at most.
// After some eighty pods it has looked at 5000 nodes. A pod that is scheduled changes one.
const (
	catchUpNodes   = 64
	catchUpChanged = 8
)

// catchUp brings a few nodes to a snapshot, those that have waited longest. Every pod
// that is scheduled does so: otherwise the first that fits nowhere would have to wait
// for all that has changed since the last one. It does nothing if it would have to wait,
// or if the queues are to be others: none of them can go that has pods here already.
func (c *core) catchUp(nodes []fwk.NodeInfo, most int) {
	if !c.mu.TryLock() {
		return
	}
	defer c.mu.Unlock()
	if !c.ready() || c.next != nil {
		return
	}
	m, now := &c.mirror, time.Now()
	c.feel(now)
	if c.reread() {
		c.setBudgets() // tasks may name new ones
	}
	if len(m.seats) != len(nodes) {
		c.seat(nodes)
	}
	for looked, changed := 0, 0; looked < min(catchUpNodes, len(nodes)) && changed < most; looked++ {
		m.next = (m.next + 1) % len(nodes)
		if s := &m.seats[m.next]; s.info == nodes[m.next] && s.node.generation != s.info.GetGeneration() {
			c.syncNode(s.node, s.info, now)
			changed++
		}
	}
}

// reread has all nodes mirrored once more if tasks may be others now, and reports
// whether they may.
func (c *core) reread() bool {
	if c.lookup.staleEvicted.Swap(false) {
		c.rereadEvicted()
	}
	if !c.lookup.stale.Swap(false) {
		return false
	}
	for _, err := range c.lookup.read() {
		c.log.Info("Problem with what tasks are made of", "problem", err)
	}
	c.mirror.rereads = true
	for _, n := range c.mirror.byName { // in any order: each is by itself
		n.generation = -1
	}
	return true
}

// rereadEvicted has the nodes mirrored once more whose pods budgets have let go, or have not
// any more.
func (c *core) rereadEvicted() {
	others, err := c.lookup.readEvicted()
	if err != nil {
		c.log.Error(err, "Pods that are being evicted not read")
		return
	}
	if c.lister == nil {
		return
	}
	for _, of := range others {
		ns, name, _ := strings.Cut(of, "/")
		pod, err := c.lister.Pods(ns).Get(name)
		if err != nil {
			continue // it is gone
		}
		if n := c.mirror.byName[pod.Spec.NodeName]; n != nil {
			n.generation = -1
		}
	}
}

// seat gives the nodes of a snapshot their seats. Nodes that are gone are forgotten.
func (c *core) seat(nodes []fwk.NodeInfo) {
	m := &c.mirror
	moved := len(m.seats) != len(nodes)
	for i := 0; !moved && i < len(nodes); i++ {
		moved = m.seats[i].info != nodes[i]
	}
	if !moved {
		return
	}
	for _, s := range m.seats {
		s.node.seated = false
	}
	m.seats = m.seats[:0]
	for _, info := range nodes {
		n := m.at(info.Node().Name)
		n.seated = true
		m.seats = append(m.seats, seat{info, n})
	}
	clear(m.seats[len(m.seats):cap(m.seats)])
	c.forget()
}

// at returns the node of a name.
func (m *mirror) at(name string) *mirrored {
	n, ok := m.byName[name]
	if !ok {
		if m.byName == nil {
			m.byName = map[string]*mirrored{}
		}
		n = &mirrored{name: name, generation: -1}
		m.byName[name] = n
	}
	return n
}

// expect notes when a pod will have been leaving for too long.
func (m *mirror) expect(overdue time.Time) {
	if !overdue.IsZero() && (m.overdue.IsZero() || overdue.Before(m.overdue)) {
		m.overdue = overdue
	}
}

// isLate reports whether a pod of the node has been leaving for too long.
func (n *mirrored) isLate(now time.Time) bool { return !n.overdue.IsZero() && !now.Before(n.overdue) }

// forget removes the nodes that have no seat, and their tasks.
func (c *core) forget() {
	m := &c.mirror
	if len(m.byName) == len(m.seats) {
		return
	}
	for name, n := range m.byName { // in any order: each removal is by itself
		if n.seated {
			continue
		}
		delete(m.byName, name)
		if _, ok := c.cluster.LookupNode(name); !ok { // it had a seat, and was not mirrored yet
			continue
		}
		if _, err := c.cluster.SyncNode(name, nil); err != nil {
			c.log.Error(err, "Node not forgotten", "node", name)
		}
		relieved := c.relieved(name)
		orphans, err := c.cluster.RemoveNode(name)
		if err != nil {
			c.log.Error(err, "Node not forgotten", "node", name)
		}
		for _, o := range orphans {
			c.orphaned(cmp.Or(o.Member, o.Ask))
		}
		if len(relieved) > 0 {
			c.wake(relieved, time.Millisecond)
		}
	}
}

// relieved returns the refused pods that it may help if the grants of a node end: their queues use less,
// and no event of a pod says so.
func (c *core) relieved(node string) (pods []*v1.Pod) {
	id, ok := c.cluster.LookupNode(node)
	if !ok {
		return nil
	}
	c.refused.Range(func(_, w any) bool {
		waits := w.(waiting)
		for t := range c.cluster.TasksOn(id) {
			if c.cluster.State(t) == victims.Granted && waits.help.IfLess(c.cluster, c.cluster.TaskView(t).Queue, id) {
				pods = append(pods, waits.pod)
				break
			}
		}
		return true
	})
	return pods
}

// orphaned notes that the grant of a pod has gone with its node. The pod is tried again at
// once, and not when its victims have gone: these free nothing for it any more.
func (c *core) orphaned(key string) {
	c.ended(key, dropped)
	if c.lister == nil || isSuccessor(key) {
		return
	}
	if pod := c.pod(key); !isDeleted(pod) {
		c.wake([]*v1.Pod{pod}, time.Millisecond)
	}
}

// patrolEvery is how far apart patrols are at least.
const patrolEvery = 100 * time.Millisecond

// patrol compares one node of the mirror with the snapshot, all its pods: after a sync
// the next node, but not after each if they are many. A mirror that follows generations
// never differs, unless somebody has made a mistake. Then it is told of, and the node
// mirrored once more.
func (c *core) patrol(now time.Time) {
	m := &c.mirror
	if len(m.seats) == 0 || now.Sub(m.patrolled) < patrolEvery {
		return
	}
	m.patrolled = now
	m.beat = (m.beat + 1) % len(m.seats)
	n, info := m.seats[m.beat].node, m.seats[m.beat].info
	if wrong := c.drift(n.name, info); wrong > 0 {
		driftTotal.Add(float64(wrong))
		c.log.Error(nil, "Node differs from the scheduler's", "node", n.name, "pods", wrong)
		c.syncNode(n, info, now)
	}
}

// drift counts the pods of a node that the cluster has not, or has otherwise, and
// those that it has too many. A node with unknown usage is known to differ.
func (c *core) drift(node string, info fwk.NodeInfo) (wrong int) {
	id, ok := c.cluster.LookupNode(node)
	if !ok || c.cluster.Closed(id) || !resources.IsZero(c.cluster.UnknownUsage(nil, id)) {
		return 0
	}
	var size resources.Vector
	right := 0
	for _, pi := range info.GetPods() {
		t, ok := c.cluster.Lookup(key(pi.GetPod()))
		size = c.sizeOf(size[:0], pi)
		if ok && c.cluster.NodeOf(t) == id && resources.Equal(c.cluster.TaskView(t).Size, size) {
			right++
		} else {
			wrong++
		}
	}
	for t := range c.cluster.TasksOn(id) {
		if c.cluster.State(t) != victims.Granted {
			right--
		}
	}
	return wrong + max(0, -right)
}
