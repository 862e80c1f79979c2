package victims

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A laneSorter sorts the tasks of a node lane by lane. Nodes mostly run tasks of few
// kinds, so it deals tasks out to lanes, sorts the lanes, and tasks inside each. To
// sort tasks one by one takes as many comparisons of all that makes a lane as there
// are comparisons.
type laneSorter struct {
	kinds []laneKind
	dealt []dealtTask // the tasks, and once sorted in an order in which they are quickly listed
	many  bool        // there are more than mostKinds kinds
}

// A laneKind is a lane in the making.
type laneKind struct {
	of       TaskID           // one of its tasks
	size     resources.Vector // of it, and what else makes a lane
	cost     int64
	priority int32
	flags    flags
	place    int32 // among the lanes
	tasks    int32 // in it
}

// A dealtTask is a task with its lane, and what decides inside.
type dealtTask struct {
	newest int64
	id     TaskID
	kind   int32 // of kinds
	leaf   queue.ID
}

// mostKinds is up to how many lanes tasks are dealt out. To find the lane of a task
// takes a look at each; beyond so many, sorting looks at fewer. And fewInserted is
// up to how many tasks of a lane are sorted by inserting one after the other.
const mostKinds, fewInserted = 16, 24

// reset begins with the next node.
func (s *laneSorter) reset() { s.kinds, s.dealt, s.many = s.kinds[:0], s.dealt[:0], false }

// deal deals a task of the node out.
func (s *laneSorter) deal(id TaskID, x *taskTable) {
	r, size, cost := &x.tasks[id], x.size(id), int64(0)
	if len(x.costs) > 0 {
		cost = x.costOf(id)
	}
	// A look at each lane so far: there are a few.
	k := 0
	for !s.many && k < len(s.kinds) && !s.kinds[k].takes(r, cost, size) {
		k++
	}
	switch {
	case s.many:
	case k == mostKinds:
		s.many = true
	case k == len(s.kinds):
		s.kinds = append(s.kinds, laneKind{of: id, size: size, cost: cost, priority: r.priority, flags: r.flags & costFlags, tasks: 1})
	default:
		s.kinds[k].tasks++
	}
	s.dealt = append(s.dealt, dealtTask{newest: x.newest(id), id: id, kind: int32(k), leaf: r.leaf})
}

// takes reports whether a task of some own cost and size is of the lane.
func (k *laneKind) takes(r *taskRow, cost int64, size resources.Vector) bool {
	if r.priority != k.priority || r.flags&costFlags != k.flags || cost != k.cost {
		return false
	}
	for t, v := range size {
		if v != k.size[t] {
			return false
		}
	}
	return true
}

// sort finds the places of the lanes, and returns how many there are.
func (s *laneSorter) sort(x *taskTable) (lanes int) {
	if s.many {
		s.sortMany(x)
		return len(s.kinds)
	}
	long := false
	for i := range s.kinds {
		long = long || s.kinds[i].tasks > fewInserted
		// The place of a lane is the number of those that come before it.
		for j := range i {
			if x.compareLanes(s.kinds[j].of, s.kinds[i].of) < 0 {
				s.kinds[i].place++
			} else {
				s.kinds[j].place++
			}
		}
	}
	// To insert into a long lane moves many. In their order each stays where it comes.
	if long {
		slices.SortFunc(s.dealt, x.compareInLane)
	}
	return len(s.kinds)
}

// sortMany is sort for tasks of many kinds, which were not dealt out.
func (s *laneSorter) sortMany(x *taskTable) {
	slices.SortFunc(s.dealt, func(a, b dealtTask) int {
		if c := x.compareLanes(a.id, b.id); c != 0 {
			return c
		}
		return x.compareInLane(a, b)
	})
	s.kinds = s.kinds[:0]
	for i := range s.dealt {
		t := &s.dealt[i]
		if i == 0 || x.compareLanes(s.dealt[i-1].id, t.id) != 0 {
			r := &x.tasks[t.id]
			s.kinds = append(s.kinds, laneKind{of: t.id, size: x.size(t.id), priority: r.priority, flags: r.flags & costFlags, place: int32(len(s.kinds))})
		}
		t.kind = int32(len(s.kinds) - 1)
		s.kinds[t.kind].tasks++
	}
}

// list lists lanes and tasks in a digest that has room for them: in each lane those
// first that lose the least work, then those of the smallest key.
func (s *laneSorter) list(d *nodeDigest, x *taskTable) {
	for i := range s.kinds {
		k := &s.kinds[i]
		d.lanes[k.place] = lane{end: k.tasks, priority: k.priority, flags: k.flags}
		copy(d.size(int(k.place), x.types), k.size)
	}
	// Lanes lie one behind the other, and are empty until their tasks come.
	first := int32(0)
	for i := range d.lanes {
		l := &d.lanes[i]
		l.first, first = first, first+l.end
		l.end = l.first
	}
	// Each is inserted where it belongs among those that came before it.
	for i := range s.dealt {
		t := &s.dealt[i]
		l := &d.lanes[s.kinds[t.kind].place]
		j := l.end
		l.end++
		for ; j > l.first && (d.times[j-1] < t.newest || d.times[j-1] == t.newest && x.tasks[d.ids[j-1]].key > x.tasks[t.id].key); j-- {
			d.times[j], d.ids[j], d.leaves[j] = d.times[j-1], d.ids[j-1], d.leaves[j-1]
		}
		d.times[j], d.ids[j], d.leaves[j] = t.newest, t.id, t.leaf
	}
}

// compareInLane orders tasks of a lane.
func (x *taskTable) compareInLane(a, b dealtTask) int {
	if a.newest != b.newest {
		return cmp.Compare(b.newest, a.newest)
	}
	return strings.Compare(x.tasks[a.id].key, x.tasks[b.id].key)
}

// A digestRoom is memory for the lists of many nodes, which are made one after
// another at the first decision: a few allocations instead of five per node.
type digestRoom struct {
	atOnce int // for how many tasks it is made at once; 0 if each node has its own
	ids    []TaskID
	times  []int64
	leaves []queue.ID
	lanes  []lane
	sizes  []int64
}

// taskRoom and laneRoom are for how many tasks and lanes there is room at once, if the
// cluster has as many. It is written soon after it was made, while it is close at hand.
const taskRoom, laneRoom = 1 << 14, 1 << 10

// list makes the lists of a node of so many tasks and lanes, with what they had and
// what room there is.
func (r *digestRoom) list(d *nodeDigest, tasks, lanes, types int) {
	if r.atOnce > 0 && cap(d.ids) == 0 && cap(r.ids) < tasks {
		n := max(tasks, r.atOnce)
		r.ids, r.times, r.leaves = make([]TaskID, 0, n), make([]int64, 0, n), make([]queue.ID, 0, n)
	}
	d.ids, d.times, d.leaves = take(&r.ids, d.ids, tasks), take(&r.times, d.times, tasks), take(&r.leaves, d.leaves, tasks)
	if r.atOnce > 0 && cap(d.lanes) == 0 && cap(r.lanes) < lanes {
		n := max(lanes, min(laneRoom, r.atOnce))
		r.lanes, r.sizes = make([]lane, 0, n), make([]int64, 0, n*types)
	}
	d.lanes, d.sizes = take(&r.lanes, d.lanes, lanes), take(&r.sizes, d.sizes, lanes*types)
}

// take returns a list of n elements: in the memory of old, or else in room, or else in
// memory of its own.
func take[E any](room *[]E, old []E, n int) []E {
	if cap(old) == 0 && cap(*room) >= n {
		old = (*room)[:0:n]
		*room = (*room)[n:cap(*room)][:0]
	}
	return slices.Grow(old[:0], n)[:n]
}
