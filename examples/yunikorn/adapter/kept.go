// SPDX-License-Identifier: Apache-2.0

//go:build preempt

package objects

import (
	"fmt"
	"slices"
	"sync"
	"time"

	pr "github.com/go-preempt/preempt/resources"
	pv "github.com/go-preempt/preempt/victims"
)

// A keptMirror follows the objects of one partition. Nodes tell a listener that they
// have changed. Nothing else does: queues and reservations are looked at before
// each decision.
type keptMirror struct {
	mirror
	types  typeSet
	config string // of the queues, as it was last read
	nodes  []*Node
	known  map[*Node]known
	grants map[string]granted

	changed struct { // by goroutines of YuniKorn
		sync.Mutex
		nodes map[*Node]bool
	}
}

// A known node has a row in the cluster, or 0, and is kept for an ask, or for nobody.
type known struct {
	id      pv.NodeID
	keptFor string
}

// A granted ask holds a place until it runs, or its reservation is gone.
type granted struct {
	ask  *Allocation
	leaf *Queue
	node *Node
}

// One goroutine at a time decides, from the look at the objects until the plan is
// applied: YuniKorn enforces quotas in goroutines of their own.
var (
	deciding sync.Mutex
	kept     = make(map[*Queue]*keptMirror) // by root
)

// NodeUpdated notes that a node has changed. It is called under YuniKorn's locks,
// so that the node is looked at later.
func (k *keptMirror) NodeUpdated(n *Node) {
	k.changed.Lock()
	k.changed.nodes[n] = true
	k.changed.Unlock()
}

// mirrorFor returns the mirror to decide a question with. full says that the
// question has all nodes.
func mirrorFor(q *question, full bool) (*mirror, error) {
	k := kept[q.root]
	if EngineFresh || k == nil && !full {
		m, err := fresh(q)
		if err != nil {
			return nil, err
		}
		return m, m.addGrants(q)
	}
	if k == nil {
		k = &keptMirror{types: make(typeSet), known: make(map[*Node]known), grants: make(map[string]granted)}
		k.allocs, k.changed.nodes = make(map[string]*Allocation), make(map[*Node]bool)
		kept[q.root] = k
	}
	if full {
		if err := k.setNodes(q.nodes); err != nil {
			return nil, err
		}
	}
	err := k.update(q)
	if err == nil && full && EngineCheck {
		err = k.check(q)
	}
	return &k.mirror, err
}

// setNodes follows nodes that come and go.
func (k *keptMirror) setNodes(nodes []*Node) error {
	if slices.Equal(nodes, k.nodes) {
		return nil
	}
	now := make(map[*Node]bool, len(nodes))
	for _, n := range nodes {
		now[n] = true
		if _, ok := k.known[n]; !ok {
			k.known[n] = known{}
			k.types.add(n.GetCapacity())
			n.AddListener(k)
			k.NodeUpdated(n)
		}
	}
	for n := range k.known {
		if now[n] {
			continue
		}
		delete(k.known, n)
		n.RemoveListener(k)
		if _, err := k.cluster.SyncNode(n.NodeID, nil); err != nil {
			return err
		}
		if _, err := k.cluster.RemoveNode(n.NodeID); err != nil { // YuniKorn asks anew for itself
			return err
		}
	}
	k.nodes = slices.Clone(nodes)
	return nil
}

// update makes the mirror what YuniKorn is now.
func (k *keptMirror) update(q *question) error {
	if err := k.readQueues(q); err != nil {
		return err
	}
	k.changed.Lock()
	nodes := k.changed.nodes
	k.changed.nodes = make(map[*Node]bool)
	k.changed.Unlock()
	for _, n := range k.nodes { // in their order, for the first time
		if nodes[n] {
			if err := k.readNode(n, q); err != nil {
				return err
			}
		}
	}
	return k.readReservations(q)
}

// readQueues gives the cluster a new tree if anything about the queues has changed,
// or a type is new.
func (k *keptMirror) readQueues(q *question) error {
	before := len(k.types)
	k.types.addQueues(q.root)
	if q.ask != nil {
		k.types.add(q.ask.GetAllocatedResource())
	}
	if k.cluster != nil && len(k.types) == before && k.schema.Len() == before && fmt.Sprint(k.mirror.config(q.root)) == k.config {
		return nil
	}
	if err := k.setQueues(q.root, k.types); err != nil {
		return err
	}
	k.config = fmt.Sprint(k.mirror.config(q.root))
	return nil
}

// readNode tells the cluster what a node is, and what runs there.
func (k *keptMirror) readNode(n *Node, q *question) error {
	var tasks []pv.Task
	var used pr.Vector
	for _, a := range n.GetYunikornAllocations() {
		leaf := q.root.GetQueueByAppID(a.applicationID)
		if leaf == nil {
			continue // as of a stranger
		}
		t := k.task(a, leaf, n.NodeID)
		k.allocs[t.Key] = a
		delete(k.grants, t.Key) // it runs
		tasks, used = append(tasks, t), pr.Add(nil, used, t.Size)
	}
	at := known{k.known[n].id, keptFor(n, q)}
	node := k.node(n, used, at.keptFor)
	var err error
	if at.id == 0 {
		at.id, err = k.cluster.AddNode(&node)
	} else {
		err = k.cluster.UpdateNode(&node)
	}
	if err != nil {
		return err
	}
	k.known[n] = at
	for t := range k.cluster.TasksOn(at.id) {
		if key := k.cluster.Key(t); !slices.ContainsFunc(tasks, func(t pv.Task) bool { return t.Key == key }) {
			delete(k.allocs, key)
		}
	}
	synced, err := k.cluster.SyncNode(n.NodeID, tasks)
	if err == nil && len(synced.NotTaken) > 0 {
		err = fmt.Errorf("node %s: %w", n.NodeID, synced.NotTaken[0].Err)
	}
	return err
}

// readReservations tells the cluster for whom nodes are kept, and takes places back
// whose reservation is gone.
func (k *keptMirror) readReservations(q *question) error {
	for key, g := range k.grants {
		if g.ask == q.ask || !g.node.isReservedForAllocation(g.ask.allocationKey) {
			delete(k.grants, key)
			if err := k.cluster.Drop(key); err != nil {
				return err
			}
		}
	}
	for _, n := range k.nodes {
		if at, key := k.known[n], keptFor(n, q); key != at.keptFor {
			k.known[n] = known{at.id, key}
			node := k.cluster.Node(at.id)
			node.ReservedFor = key
			if err := k.cluster.UpdateNode(&node); err != nil {
				return err
			}
		}
	}
	return nil
}

// apply marks the victims of a plan in the cluster, and notes the place of the ask.
func (m *mirror) apply(q *question, d *pv.Decision) {
	p := &d.Plan
	if err := m.cluster.Apply(d); err != nil {
		EngineStats.failed(err)
	} else if k := kept[q.root]; k != nil && m == &k.mirror {
		i := slices.IndexFunc(k.nodes, func(n *Node) bool { return n.NodeID == p.Places[0].NodeName })
		k.grants[p.Ask.Key] = granted{q.ask, q.app.queue, k.nodes[i]}
	}
}

// check holds the kept mirror to a fresh one. YuniKorn changes several objects one
// after another, in other goroutines: a difference counts if it stays.
func (k *keptMirror) check(q *question) error {
	EngineStats.Checks.Add(1)
	var differences map[string]string
	for look := range 10 {
		time.Sleep(time.Duration(look) * time.Millisecond)
		if err := k.update(q); err != nil {
			return err
		}
		other, err := fresh(q)
		if err != nil {
			return err
		}
		for _, g := range k.grants {
			ask := other.asked(g.ask, g.leaf)
			node, _ := other.cluster.LookupNode(g.node.NodeID)
			if _, err := other.cluster.GrantPlace(&ask, node, time.Time{}); err != nil {
				return err
			}
		}
		differences = make(map[string]string)
		want := other.describe()
		for what, is := range k.describe() {
			if is != want[what] {
				differences[what] = fmt.Sprintf("%s: kept %s, and it is %s", what, is, want[what])
			}
		}
		if len(differences) == 0 {
			return nil
		}
	}
	for _, what := range differences {
		EngineStats.count("drift: " + what)
	}
	return nil
}
