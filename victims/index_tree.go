package victims

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// moveTo returns the move to a tree, into which it has brought the usage.
func (x *index) moveTo(own *queue.Tree) (*queue.Move, error) {
	// Usage that no task stands for would never leave again.
	if used := own.Usage(queue.Root); !resources.IsZero(used) {
		return nil, fmt.Errorf("victims: new tree: usage %v of tasks that the cluster does not know: %w", used, ErrState)
	}
	// Everything that may fail is asked before anything moves.
	move, err := queue.NewMove(x.tree, own)
	if err != nil {
		return nil, fmt.Errorf("victims: new tree: %w", err)
	}
	if err := x.checkHomes(move); err != nil {
		return nil, err
	}
	// Only the new tree is written here. If anything failed before, it is
	// thrown away and the old one was never touched.
	must(move.Usage())
	return move, nil
}

// moveInto makes a tree the one of the index, with all rows moved. It cannot fail
// any more.
func (x *index) moveInto(own *queue.Tree, move *queue.Move) {
	types := own.Schema().Len()
	x.moveLeaves(move, own.Len())
	x.taskTable.moveTypes(move, types)
	x.nodeTable.moveTypes(move, types)
	x.tree, x.types = own, types
	// Lanes hold leaves and sizes, all of which are others now.
	x.digest.reset(len(x.nodes), types)
}

// checkHomes reports the leaves that are gone, with the tasks that they have.
func (x *index) checkHomes(move *queue.Move) error {
	var problems []error
	// All of them, and not the first: whoever changes a tree wants to know what
	// to move away.
	for q := range move.Gone() {
		if len(x.leaves[q]) == 0 {
			continue
		}
		var keys []string
		for _, id := range x.leaves[q] {
			keys = append(keys, fmt.Sprintf("%q", x.tasks[id].key))
		}
		// The order of the list depends on history, and a message must not.
		slices.Sort(keys)
		problems = append(problems, fmt.Errorf("victims: new tree: queue %s: %w: it has %s", x.tree.Path(q), queue.ErrGone, strings.Join(keys, ", ")))
	}
	return errors.Join(problems...)
}

// moveLeaves takes the tasks of each leaf to where it is in the new tree.
func (x *taskTable) moveLeaves(move *queue.Move, queues int) {
	// New lists, since queues have other numbers; the rows in them are the same
	// slices.
	leaves, evictable := make([][]TaskID, queues), make([]int32, queues)
	for q := range x.leaves {
		to, ok := move.Leaf(queue.ID(q))
		if !ok {
			continue // it has no tasks
		}
		leaves[to], evictable[to] = x.leaves[q], x.evictable[q]
		for _, id := range leaves[to] {
			x.tasks[id].leaf = to
		}
	}
	x.leaves, x.evictable = leaves, evictable
	for app, home := range x.homes {
		// A leaf that is gone has no tasks, so nobody asks for the home.
		if x.homes[app] = noLeaf; home != noLeaf {
			if to, ok := move.Leaf(home); ok {
				x.homes[app] = to
			}
		}
	}
}

// moveTypes gives all amounts the types of the new tree.
func (x *taskTable) moveTypes(move *queue.Move, types int) {
	x.sizes = moved(move, x.sizes, x.types)
	x.types = types
}

// moveTypes gives all amounts the types of the new tree.
func (x *nodeTable) moveTypes(move *queue.Move, types int) {
	// Amounts of a type that the new tree has not are forgotten, and NewMove
	// has made sure that nobody uses any.
	for _, block := range []*[]int64{&x.capacity, &x.present, &x.coming, &x.total, &x.hidden, &x.unknown} {
		*block = moved(move, *block, x.types)
	}
	for i := range x.nodes {
		if n := &x.nodes[i]; n.unknown != nil {
			n.unknown = moved(move, n.unknown, x.types)
		}
	}
	x.types = types
}

// moved returns a block of rows of so many types in the types of the new tree.
func moved(move *queue.Move, block []int64, types int) []int64 {
	var row resources.Vector
	var dst []int64
	for ; len(block) > 0; block = block[types:] {
		row = move.Vector(row, block[:types])
		// As large as it will be, and only now: without a row nothing says how
		// long rows are to be.
		if dst == nil {
			dst = make([]int64, 0, len(block)/types*len(row))
		}
		dst = append(dst, row...)
	}
	return dst
}
