package quota

import (
	"math"
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

// enforcement is one enforcement in the making, and the memory for the next.
//
// Its blocks have a row of amounts for each queue of the subtree of q, in tree
// order. Amounts of different tasks never sum to more than the cluster's usage,
// which fits int64.
type enforcement struct {
	e    *Enforcer
	c    *victims.Cluster
	tree *queue.Tree
	q    queue.ID
	now  time.Time

	types  int
	target resources.Vector // Preemptable of q
	list   []int            // the types of the target, ascending
	wanted resources.Mask   // the same as a set

	// room is what law 2 still lets go below each queue, and above the same
	// for the tightest of the queues above q. Where a queue guarantees nothing
	// of a type that is all that it uses. freed is what the victims free.
	room, freed []int64
	above       resources.Vector

	releasable []int64 // see release
	parts      []int64 // of the first round
	asked      []int64 // the most that was asked of a queue in all rounds
	goal       []int64 // what a queue should have freed after the present round
	share      []int64 // what it is asked for in the present round
	most       []int64 // see hope
	rows       []queueRow

	tasks  []candidate // leaf by leaf, as they are asked
	grants []string    // of asks that were granted a place
	stops  [][NumRules]Stop
	taken  []bool // the tasks that are victims
	keys   []keyRow
	sizes  []int64 // of the tasks, a row each
	heap   taskHeap
	packer packer // see Pack

	left, spare        resources.Vector // see leave, giveBack
	vector, scratch    resources.Vector
	weights, quotients []int64
	divider            resources.Divider

	worker    cover.Worker
	problem   cover.Problem
	needs     [1]cover.Need
	bounds    [1]cover.Bound
	rooms     victims.Rooms // see joint
	chains    []int32
	rowsOf    []int32 // the task of each unit
	selection cover.Selection
	steps     int
	budget    int // steps left for searches that need not be complete
	unproven  bool
}

// queueRow is what an enforcement knows of a queue besides amounts.
type queueRow struct {
	first, end int32 // its candidates: tasks[first:end]
	gathered   bool
	packed     int32          // how many nodes walks have given a place; see pack
	out        bool           // it is, or is below, a queue that is being enforced already
	dry        resources.Mask // the types of which it could not give what it was asked for
}

func (x *enforcement) begin(e *Enforcer, q queue.ID, now time.Time) {
	x.e, x.c, x.tree, x.q, x.now = e, e.Cluster, e.Cluster.Tree(), q, now
	x.types = x.tree.Schema().Len()
	x.left = zeros(x.left, x.types)
	x.spare = zeros(x.spare, x.types)
	x.vector = zeros(x.vector, x.types)
	x.scratch = zeros(x.scratch, x.types)
	x.list = x.list[:0]
	x.tasks, x.rows, x.grants = x.tasks[:0], x.rows[:0], x.grants[:0]
	x.sizes, x.taken = x.sizes[:0], x.taken[:0]
	x.steps, x.unproven = 0, false
	x.packer.place = x.packer.place[:0]
	if x.budget = e.Steps; x.budget == 0 {
		x.budget = victims.DefaultSteps
	}
}

// setTarget works out what has to go, and of which types that is.
func (x *enforcement) setTarget(max resources.Limit) {
	x.target = Preemptable(x.target, max, x.tree.Effective(x.vector, x.q))
	x.wanted = resources.Positive(x.target)
	for t := range x.wanted.All() {
		x.list = append(x.list, t)
	}
}

// prepare makes the rows of all queues.
func (x *enforcement) prepare() {
	n := int(x.tree.End(x.q) - x.q)
	for _, block := range []*[]int64{&x.room, &x.freed, &x.releasable, &x.parts, &x.asked, &x.goal, &x.share} {
		*block = zeros(*block, n*x.types)
	}
	x.rows = zeros(x.rows, n)
	for p := x.q; p < x.tree.End(x.q); p++ {
		x.tree.Surplus(x.row(x.room, p), p)
		if parent, _ := x.tree.Parent(p); p != x.q {
			x.at(p).out = x.at(parent).out || x.e.Enforced != nil && x.e.Enforced(p)
		}
	}
	x.above = zeros(x.above, x.types)
	for t := range x.above {
		x.above[t] = math.MaxInt64
	}
	for p, ok := x.tree.Parent(x.q); ok; p, ok = x.tree.Parent(p) {
		x.above = resources.Min(x.above, x.above, x.tree.Surplus(x.vector, p))
	}
	for p := x.tree.End(x.q) - 1; p >= x.q; p-- {
		x.release(p)
	}
}

// at returns the row of a queue.
func (x *enforcement) at(p queue.ID) *queueRow { return &x.rows[p-x.q] }

// row returns the amounts of a queue in a block.
func (x *enforcement) row(block []int64, p queue.ID) resources.Vector {
	i := int(p-x.q) * x.types
	return block[i : i+x.types : i+x.types]
}

// release works out what p can release of each type of the target: its surplus,
// "and for an inner queue no more than its children can release". Queues that
// are being enforced already release nothing. (Design, section 6, Parent.)
func (x *enforcement) release(p queue.ID) {
	row, room := x.row(x.releasable, p), x.row(x.room, p)
	for _, t := range x.list {
		row[t] = 0
		if x.at(p).out {
			continue
		}
		if row[t] = room[t]; x.tree.IsLeaf(p) {
			continue
		}
		var sum int64
		for c := p + 1; c < x.tree.End(p); c = x.tree.End(c) {
			sum += x.row(x.releasable, c)[t]
		}
		row[t] = min(row[t], sum)
	}
}

// isShort reports whether less than goal was freed below p.
func (x *enforcement) isShort(p queue.ID, goal resources.Vector) bool {
	freed := x.row(x.freed, p)
	for _, t := range x.list {
		if freed[t] < goal[t] {
			return true
		}
	}
	return false
}

// take makes a task a victim as far as amounts are concerned.
func (x *enforcement) take(i int32) { x.move(i, 1) }

// untake gives a victim back.
func (x *enforcement) untake(i int32) { x.move(i, -1) }

func (x *enforcement) move(i int32, sign int64) {
	c := &x.tasks[i]
	x.taken[i] = sign > 0
	for t, v := range x.size(i) {
		if v == 0 {
			continue
		}
		v *= sign
		x.above[t] -= v
		for p := c.leaf; ; p, _ = x.tree.Parent(p) {
			i := int(p-x.q)*x.types + t
			x.room[i] -= v
			x.freed[i] += v
			if p == x.q {
				break
			}
		}
	}
}

// zeros returns n zero elements, in the memory of s where that is large enough.
func zeros[S ~[]E, E any](s S, n int) S {
	if cap(s) < n {
		return make(S, n)
	}
	s = s[:n]
	clear(s)
	return s
}
