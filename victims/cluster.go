package victims

import (
	"fmt"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A Cluster indexes queues, nodes and tasks for decisions. It is kept current
// by small changes, each of which costs O(depth·types) plus a hash lookup; no
// decision rebuilds anything.
//
// A change that fails returns an error and changes nothing. All amounts are
// range-checked where they enter, so that no sum inside can overflow and undo
// is exact. Times are zero or in the years 1678 to 2261.
//
// Methods that take a TaskID, a NodeID or a [queue.ID] are for those that the
// cluster has: with another one they panic, and say so. An ID from outside is
// looked up by its name first. What is added by name or key is checked, and is
// an error.
//
// Who may do what at the same time: one goroutine may change a cluster while no
// other uses it. As long as nobody changes it, any number of goroutines may read
// it, and decide over it with a planner of their own each. [Planner.Batch]
// changes the cluster on the way. See [Cluster.Clone] for more.
//
// The zero Cluster can only be copied into; see [Cluster.CopyFrom].
type Cluster struct {
	index               // what there is
	history             // which state this is, and the way back
	view    *queue.Tree // shows the tree, of which the cluster is the owner
	single  [1]Grant    // of a plan, while it is applied
}

// NewCluster returns a cluster without nodes and tasks. It takes the tree over:
// from now on the tree shows the usage, and can be changed through the cluster
// only. See [queue.Tree.Own].
//
// It panics without a tree, for a tree that another cluster has, and for one with
// usage, which would belong to no task and never leave.
func NewCluster(tree *queue.Tree) *Cluster {
	if tree == nil || tree.Len() == 0 {
		panic("victims: NewCluster without a tree: see queue.New")
	}
	if used := tree.Usage(queue.Root); !resources.IsZero(used) {
		panic(fmt.Sprintf("victims: NewCluster with a tree that has usage %v already, of tasks that the cluster does not know", used))
	}
	own, err := tree.Own()
	if err != nil {
		panic("victims: NewCluster with the tree of another cluster: give it a Clone")
	}
	c := &Cluster{history: newHistory(), view: tree}
	c.index.init(own)
	return c
}

// Grow makes room for so many more nodes and tasks, so that adding them moves
// nothing that is there. It changes nothing else, and panics if a number is
// negative.
func (c *Cluster) Grow(nodes, tasks int) {
	c.made()
	c.growNodes(nodes)
	c.digest.grow(nodes, c.types)
	c.growTasks(tasks)
}

// Settle sums up what has changed, as the next decision does otherwise. Use it if
// there is time before an ask comes. It may be called while others read or decide.
// The cost is that of sorting the tasks of the nodes that have changed.
func (c *Cluster) Settle() {
	c.made()
	c.settle()
}

// Tree returns the queues with their usage. It shows all changes that follow,
// and cannot be changed itself: [queue.ErrOwned] is what the attempt returns.
func (c *Cluster) Tree() *queue.Tree {
	c.made()
	return c.view
}

// SetGuaranteed replaces the guarantee of a queue; see [queue.Tree.SetGuaranteed].
func (c *Cluster) SetGuaranteed(q queue.ID, l resources.Limit) error {
	c.made()
	if err := c.tree.SetGuaranteed(q, l); err != nil {
		return err
	}
	c.changed()
	return nil
}

// SetGuarantees sets the guarantees of all queues to the shares of what is scarce,
// as one change; see [queue.FairShares.SetGuarantees]. The shares come from another
// tree of the same queues, with the guarantees of the configuration.
func (c *Cluster) SetGuarantees(shares *queue.FairShares) error {
	c.made()
	if err := shares.SetGuarantees(c.tree); err != nil {
		return err
	}
	c.changed()
	return nil
}

// SetMax replaces the max of a queue; see [queue.Tree.SetMax].
func (c *Cluster) SetMax(q queue.ID, l resources.Limit) error {
	c.made()
	if err := c.tree.SetMax(q, l); err != nil {
		return err
	}
	c.changed()
	return nil
}

// SetTree replaces the queues by those of another tree, which the cluster takes
// over as [NewCluster] does. Use it if queues come or go, or change what a tree
// cannot change: policies, delays, types. Queues and types are matched by name;
// [queue.Move] says how. Rows of tasks and nodes stay, and so do marks, grants and
// budgets. IDs of queues are those of the new tree from then on: asks and tasks
// that the caller keeps must be given theirs by name again.
//
// Errors are a leaf that is gone, or has children now, and still has tasks or
// grants, all of which the error names (it wraps [queue.ErrGone]), a type that the
// new tree lacks ([queue.ErrType]), and a tree that has usage ([ErrState]) or
// belongs to a cluster ([queue.ErrOwned]). They change nothing. It panics without
// a tree. The cost is linear in tasks, nodes and queues.
func (c *Cluster) SetTree(tree *queue.Tree) error {
	c.made()
	if tree == nil || tree.Len() == 0 {
		panic("victims: SetTree without a tree: see queue.New")
	}
	own, err := tree.Own()
	if err != nil {
		return fmt.Errorf("victims: new tree: %w", err)
	}
	move, err := c.moveTo(own)
	if err != nil {
		*tree = *own // it stays the caller's
		return err
	}
	c.moveInto(own, move)
	c.tree.Show(c.view)
	c.changed()
	return nil
}

// SetBudget adds a budget, or replaces the budget of that name. Tasks that
// name it keep it. An empty name is an error that wraps [ErrEmpty]; a Left below
// -4611686018427387904 wraps [ErrRange]. The cost is a search by name; for a new
// budget it is linear in the number of budgets.
func (c *Cluster) SetBudget(name string, b Budget) error {
	c.made()
	if name == "" {
		return fmt.Errorf("victims: budget %q: %w", name, ErrEmpty)
	}
	if b.Left < leastLeft {
		return fmt.Errorf("victims: budget %q: left %d: %w", name, b.Left, ErrRange)
	}
	row, ok := c.findBudget(name)
	if !ok {
		row = c.addBudget(name)
	}
	c.budgets[row].left, c.budgets[row].hard = b.Left, b.Hard
	c.changed()
	return nil
}

// RemoveBudget removes a budget. If there is none of that name, the error wraps
// [ErrUnknown]. A budget that tasks or grants name stays: the error wraps
// [ErrBusy] and tells their number.
func (c *Cluster) RemoveBudget(name string) error {
	row, ok := c.findBudget(name)
	if !ok {
		return fmt.Errorf("victims: budget %q: %w", name, ErrUnknown)
	}
	if n := c.budgets[row].uses; n > 0 {
		return fmt.Errorf("victims: budget %q: %w: %d", name, ErrBusy, n)
	}
	c.removeBudget(row)
	c.changed()
	return nil
}

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
	c.index.copyFrom(&from.index)
	c.history.follow(&from.history)
	if c.view == nil {
		c.view = new(queue.Tree)
	}
	c.tree.Show(c.view)
}
