package quota

import (
	"math"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// ledger keeps, for q and every queue below it, what law 2 still lets go and what
// the victims free. The walk, the searches and the report read law 2 here only.
type ledger struct {
	*brief

	// room is what law 2 still lets go below each queue. A queue without a
	// guarantee of a type can give all that it uses. above is the same for the
	// tightest of the queues above q.
	room, freed []int64
	above       resources.Vector

	vector resources.Vector // scratch
}

// open starts with all rooms full: nobody has gone yet.
//
// Law 2: no queue ends below its guarantee. Usage after the plan must be at
// least min(g, usage before), so what goes below a queue may sum to its surplus.
// That holds at every level, above q too, and for every type that a task has,
// not only those that are wanted.
func (l *ledger) open() {
	l.room, l.freed = l.block(l.room), l.block(l.freed)
	for p := l.q; p < l.tree.End(l.q); p++ {
		l.tree.Surplus(l.row(l.room, p), p)
	}
	l.above = rows.Zeros(l.above, l.types)
	for t := range l.above {
		l.above[t] = math.MaxInt64
	}
	for p, ok := l.tree.Parent(l.q); ok; p, ok = l.tree.Parent(p) {
		l.vector = l.tree.Surplus(l.vector, p)
		l.above = resources.Min(l.above, l.above, l.vector)
	}
}

// roomOf sets dst to what tasks below p may sum to yet, in all queues that they
// are in.
func (l *ledger) roomOf(dst resources.Vector, p queue.ID) resources.Vector {
	dst = resources.Copy(dst, l.above)
	for ; ; p, _ = l.tree.Parent(p) {
		dst = resources.Min(dst, dst, l.row(l.room, p))
		if p == l.q {
			return dst
		}
	}
}

// move enters that a task of a leaf goes, with a sign of 1, or stays after all,
// with -1.
func (l *ledger) move(leaf queue.ID, size resources.Vector, sign int64) {
	for t, v := range size {
		if v == 0 {
			continue
		}
		v *= sign
		l.above[t] -= v
		for p := leaf; ; p, _ = l.tree.Parent(p) {
			i := int(p-l.q)*l.types + t
			l.room[i] -= v
			l.freed[i] += v
			if p == l.q {
				break
			}
		}
	}
}

// isShort reports whether less than a goal is freed below p.
func (l *ledger) isShort(p queue.ID, goal resources.Vector) bool {
	freed := l.row(l.freed, p)
	for _, t := range l.list {
		if freed[t] < goal[t] {
			return true
		}
	}
	return false
}

// helps reports whether a task of this size reduces what p still has to free of
// a goal.
func (l *ledger) helps(p queue.ID, goal, size resources.Vector) bool {
	freed := l.row(l.freed, p)
	for _, t := range l.list {
		if size[t] > 0 && freed[t] < goal[t] {
			return true
		}
	}
	return false
}

// keeper returns the first queue in tree order whose guarantee keeps a task of
// a leaf.
func (l *ledger) keeper(leaf queue.ID, size resources.Vector) (keeper queue.ID, kept bool) {
	for p := range l.tree.Up(leaf) {
		if p >= l.q {
			l.vector = resources.Copy(l.vector, l.row(l.room, p))
		} else {
			l.vector = l.tree.Surplus(l.vector, p)
			l.vector = resources.Sub(l.vector, l.vector, l.row(l.freed, l.q))
		}
		if !resources.Fits(size, l.vector) {
			keeper, kept = p, true
		}
	}
	return keeper, kept
}
