package victims

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// grantRow is what a cluster knows of a grant beside its row.
type grantRow struct {
	number int64 // in the order of giving; taskRow.scheduled has it, too
	since  int64 // nanoseconds since 1970, if dated
	task   TaskID
	wait   int32 // the row of Cluster.waits, 0 for none
	dated  bool
}

// waitRow is the victims of a change, for whose room its grants wait.
type waitRow struct {
	victims []TaskID // those that are leaving still
	grants  int32    // how many grants wait for them
}

// A Waiting is what the grant of an ask waits for. See DESIGN.md, Waiting grants.
type Waiting struct {
	Task  TaskID
	Node  NodeID
	Since time.Time // when it was given; zero: not known
	// Victims are the keys of the tasks of its plan that are still leaving,
	// sorted. A task that has gone is not there any more, nor is one whose mark
	// was taken back.
	Victims []string
	// Needed says that the grant could not start if they stayed. If it is false,
	// [Cluster.StartIfRoom] would start it, and marks may be taken back.
	Needed bool
}

// Waiting sets dst to what the grant of an ask waits for, reusing its memory.
// Without a grant the error wraps [ErrUnknown]. The cost is linear in the tasks
// of its node.
func (c *Cluster) Waiting(dst *Waiting, key string) error {
	id, err := c.grantByKey(key)
	if err != nil {
		return err
	}
	g := c.grantOf(id)
	*dst = Waiting{Task: id, Node: c.tasks[id].node, Victims: dst.Victims[:0], Needed: !c.grantFits(id)}
	if g.dated {
		dst.Since = time.Unix(0, g.since).UTC()
	}
	if g.wait != 0 {
		for _, v := range c.waits[g.wait].victims {
			dst.Victims = append(dst.Victims, c.tasks[v].key)
		}
		slices.Sort(dst.Victims)
	}
	return nil
}

// Grants yields the grants in the order in which they were given.
func (c *Cluster) Grants() iter.Seq[TaskID] {
	return func(yield func(TaskID) bool) {
		for i := range c.grants {
			if !yield(c.grants[i].task) {
				return
			}
		}
	}
}

// Admits reports whether a task of that size, of some leaf, may be put on a node
// as things are, without taking room that is granted or that a leaving task
// still has: whether it fits what is free, and the max of every queue above it.
// Types of which the size has none do not count. What the node is marked as, or
// reserved for, is not asked.
//
// Use it before a task is placed by other means than a plan. A leaf that is none
// is never admitted, and neither is anything on a closed node. The cost is depth times types.
func (c *Cluster) Admits(size resources.Vector, leaf queue.ID, node NodeID) bool {
	if c.nodeOf(node).closed() || c.checkLeaf(leaf) != nil || c.checkSize(size) != nil {
		return false
	}
	free := c.row(c.present, node)
	for t, v := range size[:min(len(size), c.types)] {
		if v > 0 && v > free[t] {
			return false
		}
	}
	for q := range c.tree.Up(leaf) {
		used, most := c.tree.Usage(q), c.tree.Max(q)
		for t, v := range size[:min(len(size), c.types)] {
			if bound, ok := most.Bound(t); ok && v > 0 && v > bound-used[t] {
				return false
			}
		}
	}
	return true
}

// grantFits reports whether a grant could start now: whether it fits its node
// and every max above it with itself, and those given there after it, taken off.
// DESIGN.md, Grants.
func (c *Cluster) grantFits(id TaskID) bool {
	r := &c.tasks[id]
	if c.nodes[r.node].closed() {
		return false
	}
	for t, v := range c.size(id) {
		if v == 0 {
			continue
		}
		if v > c.row(c.present, r.node)[t]+c.grantedSince(id, queue.Root, t) {
			return false
		}
		for q := range c.tree.Up(r.leaf) {
			bound, ok := c.tree.Max(q).Bound(t)
			if ok && v > bound-(c.tree.Usage(q)[t]-c.grantedSince(id, q, t)) {
				return false
			}
		}
	}
	return true
}

// grantedSince returns how much of a type the grant and those that were given on
// its node after it have below a queue.
func (c *Cluster) grantedSince(id TaskID, q queue.ID, t int) (sum int64) {
	own := &c.tasks[id]
	for _, g := range c.nodes[own.node].tasks {
		r := &c.tasks[g]
		if r.state == Granted && r.scheduled >= own.scheduled && c.tree.Contains(q, r.leaf) {
			sum += c.size(g)[t]
		}
	}
	return sum
}

// noteGrant puts a new grant after all others.
func (c *Cluster) noteGrant(id TaskID) {
	c.granting++
	c.tasks[id].scheduled = c.granting
	c.grants = append(c.grants, grantRow{number: c.granting, task: id})
}

// grantOf returns what is known of a grant.
func (c *Cluster) grantOf(id TaskID) *grantRow { return &c.grants[c.grantIndex(id)] }

func (c *Cluster) grantIndex(id TaskID) int {
	i, _ := slices.BinarySearchFunc(c.grants, c.tasks[id].scheduled, func(g grantRow, number int64) int {
		return cmp.Compare(g.number, number)
	})
	return i
}

// forgetGrant takes a grant, which is to start or to go, out of the order.
func (c *Cluster) forgetGrant(id TaskID) {
	i := c.grantIndex(id)
	if w := c.grants[i].wait; w != 0 {
		c.waits[w].grants--
		if c.waits[w].grants == 0 {
			c.dissolve(w)
		}
	}
	c.grants = slices.Delete(c.grants, i, i+1)
}

// await notes that the grants of a change wait for its victims: those that it
// has given, or else the first one of those that its asks hold already.
func (c *Cluster) await(ch *Change, victims, given []TaskID) {
	if len(victims) == 0 || len(ch.Grants) == 0 {
		return
	}
	w := int32(0)
	if len(given) == 0 {
		held, _ := c.LookupGrant(ch.Grants[0].Ask.Key)
		g := c.grantOf(held)
		if g.wait == 0 {
			g.wait = c.newWait(1)
		}
		w = g.wait
	} else {
		w = c.newWait(len(given))
		for _, id := range given {
			c.grantOf(id).wait = w
		}
	}
	for _, id := range victims {
		c.waits[w].victims = append(c.waits[w].victims, id)
		c.waitOf.set(int(id), cap(c.tasks), w)
	}
}

// newWait returns an empty row of waits for so many grants.
func (c *Cluster) newWait(grants int) (w int32) {
	if last := len(c.dryWaits) - 1; last >= 0 {
		w, c.dryWaits = c.dryWaits[last], c.dryWaits[:last]
	} else {
		if len(c.waits) == 0 {
			c.waits = append(c.waits, waitRow{}) // 0 is none
		}
		w = int32(len(c.waits))
		c.waits = append(c.waits, waitRow{})
	}
	c.waits[w].grants = int32(grants)
	return w
}

// dissolve frees a row of waits for which no grant waits any more.
func (c *Cluster) dissolve(w int32) {
	for _, id := range c.waits[w].victims {
		c.waitOf.set(int(id), cap(c.tasks), 0)
	}
	c.waits[w].victims = c.waits[w].victims[:0]
	c.dryWaits = append(c.dryWaits, w)
}

// unwait notes that a task is no victim any more: it has gone, or stays.
func (c *Cluster) unwait(id TaskID) {
	w := c.waitOf.at(int(id))
	if w == 0 {
		return
	}
	list := c.waits[w].victims
	i := slices.Index(list, id)
	c.waits[w].victims = slices.Delete(list, i, i+1)
	c.waitOf.set(int(id), cap(c.tasks), 0)
}

func (c *Cluster) copyGrants(from *Cluster) {
	c.grants, c.granting = reuse(c.grants, from.grants), from.granting
	c.dryWaits = reuse(c.dryWaits, from.dryWaits)
	c.waits = resized(c.waits, len(from.waits))
	for i := range c.waits {
		c.waits[i].victims = reuse(c.waits[i].victims, from.waits[i].victims)
		c.waits[i].grants = from.waits[i].grants
	}
}

// grantsFrom appends a grant and those given on its node after it to dst.
func (c *Cluster) grantsFrom(dst []TaskID, grant TaskID) []TaskID {
	node, found := c.tasks[grant].node, false
	for i := range c.grants {
		id := c.grants[i].task
		if found = found || id == grant; found && c.tasks[id].node == node {
			dst = append(dst, id)
		}
	}
	return dst
}
