package victims

import (
	"cmp"
	"slices"
	"strings"
)

// A laneSorter sorts the tasks of a node lane by lane. Nodes mostly run tasks of few
// kinds, so it deals tasks out to lanes, sorts the lanes, and tasks inside each. To
// sort tasks one by one takes as many comparisons of all that makes a lane as there
// are comparisons.
type laneSorter struct {
	kinds []laneKind
	dealt []dealtTask
}

// A laneKind is a lane in the making.
type laneKind struct {
	of    TaskID // one of its tasks
	place int32  // among the lanes
}

// A dealtTask is a task with its lane, and what decides inside.
type dealtTask struct {
	newest int64
	id     TaskID
	kind   int32
}

// mostKinds is up to how many lanes tasks are dealt out. To find the lane of a task
// takes a look at each; beyond so many, sorting looks at fewer.
const mostKinds = 16

// sort sorts tasks of a node: by lane, those that lose the least work first, then
// those of the smallest key.
func (s *laneSorter) sort(ids []TaskID, x *taskTable) {
	if !s.deal(ids, x) {
		slices.SortFunc(ids, func(a, b TaskID) int {
			if c := x.compareLanes(a, b); c != 0 {
				return c
			}
			return x.compareInLane(dealtTask{newest: x.newest(a), id: a}, dealtTask{newest: x.newest(b), id: b})
		})
		return
	}
	// Places are small numbers, so the tasks are sorted by two numbers, and by keys
	// only if they began at the same instant.
	s.rank(x)
	for i := range s.dealt {
		s.dealt[i].kind = s.kinds[s.dealt[i].kind].place
	}
	slices.SortFunc(s.dealt, func(a, b dealtTask) int {
		if a.kind != b.kind {
			return int(a.kind - b.kind)
		}
		return x.compareInLane(a, b)
	})
	for i := range s.dealt {
		ids[i] = s.dealt[i].id
	}
}

// compareInLane orders tasks of a lane.
func (x *taskTable) compareInLane(a, b dealtTask) int {
	if a.newest != b.newest {
		return cmp.Compare(b.newest, a.newest)
	}
	return strings.Compare(x.tasks[a.id].key, x.tasks[b.id].key)
}

// deal deals tasks out, and reports false if they are of too many kinds.
func (s *laneSorter) deal(ids []TaskID, x *taskTable) bool {
	s.kinds, s.dealt = s.kinds[:0], s.dealt[:0]
	for _, id := range ids {
		// A look at each lane so far: there are a few.
		k := 0
		for k < len(s.kinds) && !x.alike(s.kinds[k].of, id) {
			k++
		}
		switch {
		case k == mostKinds:
			return false
		case k == len(s.kinds):
			s.kinds = append(s.kinds, laneKind{of: id})
		}

		s.dealt = append(s.dealt, dealtTask{newest: x.newest(id), id: id, kind: int32(k)})
	}
	return true
}

// rank gives each kind its place.
func (s *laneSorter) rank(x *taskTable) {
	// The place of a lane is the number of those that come before it.
	for i := range s.kinds {
		for j := range s.kinds {
			if i != j && x.compareLanes(s.kinds[j].of, s.kinds[i].of) < 0 {
				s.kinds[i].place++
			}
		}
	}
}

// alike reports whether two tasks of a node are of one lane.
func (x *taskTable) alike(a, b TaskID) bool {
	s, t := &x.tasks[a], &x.tasks[b]
	return s.priority == t.priority && (s.flags^t.flags)&costFlags == 0 &&
		x.costOf(a) == x.costOf(b) && slices.Equal(x.size(a), x.size(b))
}
