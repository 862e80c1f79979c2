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
	dealt []dealtTask // the tasks; once sorted, lane by lane
	spare []dealtTask
	many  bool // there are more than mostKinds kinds
}

// A laneKind is a lane in the making.
type laneKind struct {
	of    TaskID           // one of its tasks
	size  resources.Vector // of it
	place int32            // among the lanes
	end   int32            // how many tasks are in it, and in all lanes before it
}

// A dealtTask is a task with its lane, and what decides inside.
type dealtTask struct {
	newest int64
	id     TaskID
	kind   int32 // of kinds; once sorted, the number of its lane
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
	// A look at each lane so far: there are a few.
	k, size := 0, x.size(id)
	for !s.many && k < len(s.kinds) && !(x.levelled(s.kinds[k].of, id) && slices.Equal(s.kinds[k].size, size)) {
		k++
	}
	switch {
	case s.many:
	case k == mostKinds:
		s.many = true
	case k == len(s.kinds):
		s.kinds = append(s.kinds, laneKind{of: id, size: size})
	}
	s.dealt = append(s.dealt, dealtTask{newest: x.newest(id), id: id, kind: int32(k), leaf: x.tasks[id].leaf})
}

// sort sorts the tasks: by lane, those that lose the least work first, then those of
// the smallest key. It returns how many lanes there are.
func (s *laneSorter) sort(x *taskTable) (lanes int) {
	if s.many {
		return s.sortMany(x)
	}
	s.rank(x)
	// Each task goes behind those of its lane that came before it.
	s.spare = slices.Grow(s.spare[:0], len(s.dealt))[:len(s.dealt)]
	for i := len(s.dealt) - 1; i >= 0; i-- {
		t := s.dealt[i]
		kind := &s.kinds[t.kind]
		kind.end--
		t.kind = kind.place
		s.spare[kind.end] = t
	}
	s.dealt, s.spare = s.spare, s.dealt
	for first := 0; first < len(s.dealt); {
		end := first + 1
		for end < len(s.dealt) && s.dealt[end].kind == s.dealt[first].kind {
			end++
		}
		x.sortLane(s.dealt[first:end])
		first = end
	}
	return len(s.kinds)
}

// sortMany is sort for tasks of many kinds, which were not dealt out.
func (s *laneSorter) sortMany(x *taskTable) (lanes int) {
	slices.SortFunc(s.dealt, func(a, b dealtTask) int {
		if c := x.compareLanes(a.id, b.id); c != 0 {
			return c
		}
		return x.compareInLane(a, b)
	})
	for i := range s.dealt {
		if i > 0 && x.compareLanes(s.dealt[i-1].id, s.dealt[i].id) != 0 {
			lanes++
		}
		s.dealt[i].kind = int32(lanes)
	}
	return lanes + 1
}

// sortLane sorts the tasks of a lane.
func (x *taskTable) sortLane(tasks []dealtTask) {
	if len(tasks) > fewInserted {
		slices.SortFunc(tasks, x.compareInLane)
		return
	}
	for i := 1; i < len(tasks); i++ {
		t, j := tasks[i], i
		// Keys are read only if tasks began at the same instant.
		for ; j > 0 && (tasks[j-1].newest < t.newest || tasks[j-1].newest == t.newest && x.compareInLane(tasks[j-1], t) > 0); j-- {
			tasks[j] = tasks[j-1]
		}
		tasks[j] = t
	}
}

// compareInLane orders tasks of a lane.
func (x *taskTable) compareInLane(a, b dealtTask) int {
	if a.newest != b.newest {
		return cmp.Compare(b.newest, a.newest)
	}
	return strings.Compare(x.tasks[a.id].key, x.tasks[b.id].key)
}

// rank gives each kind its place, and its end.
func (s *laneSorter) rank(x *taskTable) {
	// The place of a lane is the number of those that come before it.
	for i := range s.kinds {
		for j := range s.kinds {
			if i != j && x.compareLanes(s.kinds[j].of, s.kinds[i].of) < 0 {
				s.kinds[i].place++
			}
		}
	}
	var counts [mostKinds]int32
	for i := range s.dealt {
		counts[s.kinds[s.dealt[i].kind].place]++
	}
	for i := range s.kinds {
		for _, n := range counts[:s.kinds[i].place+1] {
			s.kinds[i].end += n
		}
	}
}

// levelled reports whether two tasks of a node are alike in what makes a lane, but
// perhaps not in size.
func (x *taskTable) levelled(a, b TaskID) bool {
	s, t := &x.tasks[a], &x.tasks[b]
	return s.priority == t.priority && (s.flags^t.flags)&costFlags == 0 &&
		(len(x.costs) == 0 || x.costOf(a) == x.costOf(b))
}

// A digestRoom is memory for the lists of many nodes, which are made one after
// another at the first decision: a few allocations instead of five per node.
type digestRoom struct {
	ids    []TaskID
	times  []int64
	leaves []queue.ID
	lanes  []lane
	sizes  []int64
}

// laneRoom is for how many lanes there is room at once.
const laneRoom = 1 << 10

// list makes the lists of a node of so many tasks and lanes, with what they had and
// what room there is.
func (r *digestRoom) list(d *nodeDigest, tasks, lanes, types int) {
	d.ids, d.times, d.leaves = take(&r.ids, d.ids, tasks), take(&r.times, d.times, tasks), take(&r.leaves, d.leaves, tasks)
	if cap(r.ids) > 0 && cap(d.lanes) == 0 && cap(r.lanes) < lanes {
		r.lanes = make([]lane, 0, max(lanes, laneRoom))
		r.sizes = make([]int64, 0, max(lanes, laneRoom)*types)
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
