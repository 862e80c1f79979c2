// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"cmp"
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// grants are the places that are given to pods that do not run yet.
//
// Filter looks at those of a node, for many nodes at once, and takes no lock. So they
// are in maps that never change: a change of one node copies the map that has it, which
// is small because there are many.
type grants struct {
	seed   maphash.Seed
	byNode [1 << 6]atomic.Pointer[map[string][]grant]

	mu    sync.RWMutex // for what follows
	byKey map[string]held
}

// A grant is room on a node for one pod.
type grant struct {
	key  string
	size resources.Vector
	firm int32 // the highest priority that it is kept from, if there is one queue
}

// held is where a grant is, and since when.
type held struct {
	node  string
	since time.Time
	out   time.Time // since when the node is of no use to it; zero: it is
	line  string    // what its PodGroup was told with it
}

func newGrants() *grants { return &grants{seed: maphash.MakeSeed(), byKey: map[string]held{}} }

// on returns the grants on a node.
func (g *grants) on(node string) []grant {
	if m := g.part(node).Load(); m != nil {
		return (*m)[node]
	}
	return nil
}

// part returns the map that has the grants on a node.
func (g *grants) part(node string) *atomic.Pointer[map[string][]grant] {
	return &g.byNode[maphash.String(g.seed, node)%uint64(len(g.byNode))]
}

// has reports whether a pod has a grant.
func (g *grants) has(key string) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	_, ok := g.byKey[key]
	return ok
}

// add notes a grant on a node. Changes come one at a time.
func (g *grants) add(node string, a grant, since time.Time) {
	g.change(node, func(of []grant) []grant { return append(slices.Clone(of), a) })
	g.mu.Lock()
	defer g.mu.Unlock()
	g.byKey[a.key] = held{node: node, since: since}
}

// remove forgets a grant, and returns where it was.
func (g *grants) remove(key string) (h held, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if h, ok = g.byKey[key]; !ok {
		return h, false
	}
	delete(g.byKey, key)
	g.change(h.node, func(of []grant) []grant {
		return slices.DeleteFunc(slices.Clone(of), func(a grant) bool { return a.key == key })
	})
	return h, true
}

// outFor returns for how long the node of a grant has been out, by the attempts that
// its pod has made and by what back was told.
func (g *grants) outFor(key string, now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	h, ok := g.byKey[key]
	if !ok {
		return 0
	}
	if h.out.IsZero() {
		h.out = now
		g.byKey[key] = h
	}
	return now.Sub(h.out)
}

// tell notes what the PodGroup of a grant was told with it, and told returns that, or "".
func (g *grants) tell(key, line string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if h, ok := g.byKey[key]; ok {
		h.line = line
		g.byKey[key] = h
	}
}

func (g *grants) told(key string) string {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.byKey[key].line
}

// back notes that a node may be of use again.
func (g *grants) back(node string) {
	held := g.on(node)
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, a := range held {
		if h, ok := g.byKey[a.key]; ok {
			h.out = time.Time{}
			g.byKey[a.key] = h
		}
	}
}

// change replaces the grants on a node.
func (g *grants) change(node string, by func([]grant) []grant) {
	part, changed := g.part(node), map[string][]grant{}
	if m := part.Load(); m != nil {
		changed = maps.Clone(*m)
	}
	if changed[node] = by(changed[node]); len(changed[node]) == 0 {
		delete(changed, node)
	}
	part.Store(&changed)
}

// The ends of a grant.
const (
	started = "started"
	dropped = "dropped"
)

// drop takes a grant back, if there is one, because of how it ended.
func (c *core) drop(key, end string) {
	if err := c.cluster.Drop(key); err == nil {
		c.ended(key, end)
	}
}

// given tells Filter of the grant of a pod, which the cluster has already.
func (c *core) given(key string) {
	id, ok := c.cluster.LookupGrant(key)
	if !ok {
		return
	}
	before, again := c.granted.remove(key)
	if !again {
		before.since = time.Now()
	}
	t := c.cluster.Task(id)
	firm := t.Priority
	if t.Job != "" {
		firm = math.MaxInt32 // a gang has its places together or not at all
	}
	c.granted.add(c.cluster.NodeName(t.Node), grant{key, t.Size, firm}, before.since)
	c.countGrants()
}

// ended tells Filter that a grant is no more, and notes how long it lasted.
func (c *core) ended(key, end string) {
	if h, ok := c.granted.remove(key); ok {
		grantSeconds.WithLabelValues(end).Observe(time.Since(h.since).Seconds())
		c.countGrants()
	}
	c.movers.forget(key)
}

// countGrants notes how many grants there are, and since when.
func (c *core) countGrants() {
	g, oldest := c.granted, 0.0
	g.mu.RLock()
	defer g.mu.RUnlock()
	for id := range c.cluster.Granted() { // in the order in which they were given
		if h, ok := g.byKey[c.cluster.Key(id)]; ok {
			oldest = float64(h.since.UnixMilli()) / 1000
			break
		}
	}
	grantsNow.Set(float64(len(g.byKey)))
	oldestGrant.Set(oldest)
}

// admits reports whether a pod leaves enough of a node to those that were granted
// room there. What is about to leave counts as room, for the grants wait for it;
// whether the pod fits right now is for other plugins to say.
//
// If there is one queue, a pod of higher priority may have the room: see takeOver.
//
// Nominated pods of no lower priority may be among the pods of the node already:
// they are not counted twice.
func (c *core) admits(held []grant, pod *v1.Pod, info fwk.NodeInfo, size resources.Vector) bool {
	schema := c.queues().tree.Schema()
	room := appendAmounts(nil, schema, info.GetAllocatable(), int64(info.GetAllocatable().GetAllowedPodNumber()))
	for _, g := range held {
		if !isKey(g.key, pod) && !isOn(g.key, info) && !(c.queues().plain && c.priorityOf(pod) > g.firm) {
			room = resources.Sub(room, room, g.size)
		}
	}
	var scratch resources.Vector
	for _, pi := range info.GetPods() {
		if p := pi.GetPod(); p.DeletionTimestamp == nil {
			scratch = c.sizeOf(scratch[:0], pi)
			room = resources.Sub(room, room, scratch)
		}
	}
	grows := pod.Spec.NodeName == info.Node().Name // and is among the pods of the node at its new size
	for i, a := range size {
		need := a
		if grows {
			need = 0
		}
		if a > 0 && need > room[i] {
			return false
		}
	}
	return true
}

// isOn reports whether a pod is on a node.
func isOn(key string, info fwk.NodeInfo) bool {
	for _, pi := range info.GetPods() {
		if isKey(key, pi.GetPod()) {
			return true
		}
	}
	return false
}

// takeOver gives a refused ask the room that was granted to pods of lower priority on
// one node, and has these tried again at once. It does so only if there is one queue:
// between queues a place that was granted is kept.
func (c *core) takeOver(ask *victims.Ask, now time.Time) error {
	d := &c.decision
	if !c.queues().plain || ask.MayNotPreempt || d.Outcome != victims.Refused || d.Refusal.Reason == victims.InFlight {
		return nil
	}
	for _, k := range c.yielding(ask) {
		c.cycle.took = true
		c.drop(k, dropped)
		if c.lister != nil {
			if pod := c.pod(k); pod != nil {
				c.wake([]*v1.Pod{pod}, time.Millisecond)
			}
		}
		if err := c.planner.Decide(d, ask, now); err != nil || d.Outcome != victims.Refused {
			return err
		}
	}
	return nil
}

// yielding returns the keys of the grants on one node that an ask is above, the lowest
// priority first. There the ask would have room without all that it is above.
func (c *core) yielding(ask *victims.Ask) (keys []string) {
	var lower []victims.Task
	for id := range c.cluster.Granted() {
		if t := c.cluster.TaskView(id); isAbove(ask, &t) {
			lower = append(lower, t)
		}
	}
	slices.SortStableFunc(lower, func(a, b victims.Task) int { return cmp.Compare(a.Priority, b.Priority) })
	for i := range lower {
		n := lower[i].Node
		if !c.cycle.mayRun(n) || !c.hasRoomAbove(ask, n) {
			continue
		}
		for j := range lower {
			if lower[j].Node == n {
				keys = append(keys, lower[j].Key)
			}
		}
		return keys
	}
	return nil
}

// hasRoomAbove reports whether a node has room for an ask without all that it is above.
func (c *core) hasRoomAbove(ask *victims.Ask, n victims.NodeID) bool {
	room := c.cluster.ComingFree(nil, n)
	for id := range c.cluster.TasksOn(n) {
		t := c.cluster.TaskView(id)
		if (t.State == victims.Running || t.State == victims.Granted) && isAbove(ask, &t) {
			room = resources.Add(room, room, t.Size)
		}
	}
	return isWithin(ask.Size, room)
}

// isWithin reports whether there is room for what is wanted of a size.
func isWithin(size, room resources.Vector) bool {
	for i, a := range size {
		if a > 0 && a > room[i] {
			return false
		}
	}
	return true
}

// isAbove reports whether an ask may have the room of a task by priority alone. A gang
// keeps the places that it was granted.
func isAbove(ask *victims.Ask, t *victims.Task) bool {
	return t.Priority < ask.Priority && (t.State != victims.Granted || t.Job == "")
}
