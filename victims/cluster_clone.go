package victims

import (
	"maps"

	"github.com/go-preempt/preempt/queue"
)

// Clone returns an independent copy, tree included, for another goroutine or a
// chain of what-ifs. It equals the original in all that can be seen, version
// and row numbers included, but has nothing to undo. The cost is a copy of
// everything.
//
// A clone is another cluster. As long as neither has changed, a plan for one
// can be applied to the other: decide on a clone, and apply to the original if
// that is still as it was. From the first change of either on, their versions
// never meet again. See DESIGN.md, Identity.
func (c *Cluster) Clone() *Cluster {
	d := new(Cluster)
	d.CopyFrom(c)
	return d
}

// CopyFrom makes c a copy of another cluster, as [Cluster.Clone] does, in the
// memory of c. Use it to bring a clone up to date again and again: once c is
// warm it allocates nothing. What c was before is forgotten. So is what could be
// undone.
func (c *Cluster) CopyFrom(from *Cluster) {
	from.made()
	if c == from {
		return
	}
	c.copyTree(from)
	c.copyNodes(from)
	c.copyTasks(from)
	c.budgets = reuse(c.budgets, from.budgets)
	c.budgetIndex.copyFrom(&from.budgetIndex)
	if c.line == nil {
		c.line = new(line)
	}
	c.version = from.version
	c.versions = max(c.versions, from.versions) // no number of c's own twice
	c.final()
}

func (c *Cluster) copyTree(from *Cluster) {
	if c.tree == nil {
		c.tree, c.view = new(queue.Tree), new(queue.Tree)
	}
	c.types = from.types
	c.tree.CopyFrom(from.tree)
	c.tree.Show(c.view)
}

func (c *Cluster) copyNodes(from *Cluster) {
	c.nodes = resized(c.nodes, len(from.nodes))
	for i := range c.nodes {
		tasks := reuse(c.nodes[i].tasks, from.nodes[i].tasks)
		c.nodes[i] = from.nodes[i]
		c.nodes[i].tasks = tasks
	}
	c.open = reuse(c.open, from.open)
	c.freeNodes = reuse(c.freeNodes, from.freeNodes)
	c.order, c.nodeSeq = reuse(c.order, from.order), from.nodeSeq
	c.nodeIDs = reuseMap(c.nodeIDs, from.nodeIDs)
	c.capacity, c.total = reuse(c.capacity, from.capacity), reuse(c.total, from.total)
	c.hidden, c.unknown = reuse(c.hidden, from.hidden), reuse(c.unknown, from.unknown)
	c.present, c.coming = reuse(c.present, from.present), reuse(c.coming, from.coming)
	c.copyDigest(from)
}

func (c *Cluster) copyTasks(from *Cluster) {
	c.tasks, c.sizes = reuse(c.tasks, from.tasks), reuse(c.sizes, from.sizes)
	c.freeTasks = reuse(c.freeTasks, from.freeTasks)
	c.keys.copyFrom(&from.keys)
	c.leaves = reuseLists(c.leaves, from.leaves)
	c.evictable = reuse(c.evictable, from.evictable)
	c.apps.copyFrom(&from.apps)
	c.jobs.copyFrom(&from.jobs)
	c.members = reuseLists(c.members, from.members)
	c.copyGrants(from)
	c.taskColumns.copyFrom(&from.taskColumns)
}

// reuse returns a copy of from in the memory of dst.
func reuse[S ~[]E, E any](dst, from S) S { return append(dst[:0], from...) }

// resized returns list with n elements, which keep what they had at any time.
func resized[E any](list []E, n int) []E {
	list = list[:min(n, cap(list))]
	return append(list, make([]E, n-len(list))...)
}

// reuseLists returns a copy of lists in the memory of dst.
func reuseLists[E any](dst, from [][]E) [][]E {
	dst = resized(dst, len(from))
	for i := range dst {
		dst[i] = reuse(dst[i], from[i])
	}
	return dst
}

// reuseMap returns a copy of from in the memory of dst.
func reuseMap[M ~map[K]V, K comparable, V any](dst, from M) M {
	if dst == nil {
		return maps.Clone(from)
	}
	clear(dst)
	maps.Copy(dst, from)
	return dst
}
