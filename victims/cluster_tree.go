package victims

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

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
	c.moveLeaves(move, own.Len())
	c.moveTypes(move, own.Schema().Len())
	c.tree = own
	c.tree.Show(c.view)
	c.resetDigests()
	c.changed()
	return nil
}

// moveTo returns the move to a tree, into which it has brought the usage.
func (c *Cluster) moveTo(own *queue.Tree) (*queue.Move, error) {
	if used := own.Usage(queue.Root); !resources.IsZero(used) {
		return nil, fmt.Errorf("victims: new tree: usage %v of tasks that the cluster does not know: %w", used, ErrState)
	}
	move, err := queue.NewMove(c.tree, own)
	if err != nil {
		return nil, fmt.Errorf("victims: new tree: %w", err)
	}
	if err := c.checkHomes(move); err != nil {
		return nil, err
	}
	must(move.Usage())
	return move, nil
}

// checkHomes reports the leaves that are gone, with the tasks that they have.
func (c *Cluster) checkHomes(move *queue.Move) error {
	var problems []error
	for q := range move.Gone() {
		if len(c.leaves[q]) == 0 {
			continue
		}
		var keys []string
		for _, id := range c.leaves[q] {
			keys = append(keys, fmt.Sprintf("%q", c.tasks[id].key))
		}
		slices.Sort(keys)
		problems = append(problems, fmt.Errorf("victims: new tree: queue %s: %w: it has %s", c.tree.Path(q), queue.ErrGone, strings.Join(keys, ", ")))
	}
	return errors.Join(problems...)
}

// moveLeaves takes the tasks of each leaf to where it is in the new tree.
func (c *Cluster) moveLeaves(move *queue.Move, queues int) {
	leaves, evictable := make([][]TaskID, queues), make([]int32, queues)
	for q := range c.leaves {
		to, ok := move.Leaf(queue.ID(q))
		if !ok {
			continue // it has no tasks
		}
		leaves[to], evictable[to] = c.leaves[q], c.evictable[q]
		for _, id := range leaves[to] {
			c.tasks[id].leaf = to
		}
	}
	c.leaves, c.evictable = leaves, evictable
}

// moveTypes gives all amounts the types of the new tree.
func (c *Cluster) moveTypes(move *queue.Move, types int) {
	for _, block := range []*[]int64{&c.sizes, &c.capacity, &c.present, &c.coming, &c.total, &c.hidden, &c.unknown} {
		*block = moved(move, *block, c.types)
	}
	for i := range c.nodes {
		if n := &c.nodes[i]; n.unknown != nil {
			n.unknown = moved(move, n.unknown, c.types)
		}
	}
	c.types = types
}

// moved returns a block of rows of so many types in the types of the new tree.
func moved(move *queue.Move, block []int64, types int) []int64 {
	var row resources.Vector
	var dst []int64
	for ; len(block) > 0; block = block[types:] {
		row = move.Vector(row, block[:types])
		if dst == nil {
			dst = make([]int64, 0, len(block)/types*len(row))
		}
		dst = append(dst, row...)
	}
	return dst
}

// resetDigests makes all digests anew when a decision next needs them.
func (c *Cluster) resetDigests() {
	c.digest = digest{}
	c.settling.stale = c.settling.stale[:0]
	for id := range c.nodes {
		c.digest.addNode(c.types)
		c.stale(NodeID(id))
	}
}
