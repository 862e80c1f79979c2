// SPDX-License-Identifier: Apache-2.0

package storm

import (
	"math/bits"
	"slices"
)

// What a task does by [Rules.Fair]: the preemption of Kueue's fair sharing, with its
// default strategies. An ask simulates that it runs. Then it takes tasks one by one, in
// each step of the queue with the highest share, until there is room:
//
//   - of its own leaf, if they matter less;
//   - of another one by rule S2-a, if its share with the ask is at most the other's
//     without the task;
//   - if that does not do, of each queue one more by rule S2-b, if its share with the ask
//     is less than the other's with the task.
//
// Shares are compared of the two queues below the common one. In the end those are given
// back, the last first, without whom there is room too. Nobody tests the rules again.
//
// (Kueue's KEP 1714; pkg/scheduler/preemption as of 0.19.)

// A fairSearch is how far an ask has come.
type fairSearch struct {
	*question
	largeFirst bool
	leaves     []bool // by queue: nothing is below it
	quota      []int  // by queue and type: its guarantee, or what those below it have
	used       []int  // by queue and type, with the ask and without those taken
	left       uint64 // who may be taken yet
	pruned     []bool // by queue: nobody there may
	taken      []int
}

// fairPlans appends what the ask takes: with the smaller first of equals of a queue, and
// with the larger. In Kueue that is the last one that was admitted.
func (a *question) fairPlans(dst []plan) []plan {
	first := len(dst)
	for _, largeFirst := range []bool{false, true} {
		victims := a.fair(largeFirst)
		if victims != 0 && !slices.ContainsFunc(dst[first:], func(p plan) bool { return p.victims == victims }) {
			dst = append(dst, a.plan(victims))
		}
	}
	return dst
}

// fair returns whom the ask takes, or nobody if there is never room.
func (a *question) fair(largeFirst bool) (victims uint64) {
	s := a.fairSearch(largeFirst)
	s.left = s.candidates()
	retry, room := s.strategyA()
	if !room && !s.strategyB(retry) {
		return 0
	}
	for _, task := range s.taken {
		victims |= 1 << task
	}
	for i := len(s.taken) - 2; i >= 0; i-- {
		if without := victims &^ (1 << s.taken[i]); a.room(without) {
			victims = without
		}
	}
	return victims
}

func (a *question) fairSearch(largeFirst bool) *fairSearch {
	s := &fairSearch{question: a, largeFirst: largeFirst, leaves: make([]bool, len(a.Queues)),
		quota: make([]int, len(a.used)), used: slices.Clone(a.used), pruned: make([]bool, len(a.Queues))}
	for q := len(a.Queues) - 1; q >= 0; q-- { // children come after their parents
		s.leaves[q] = !slices.ContainsFunc(a.Queues[q+1:], func(c Queue) bool { return c.Parent == q })
		for t := range a.types {
			i := q*a.types + t
			s.quota[i] = max(s.quota[i], a.guaranteed(q, t))
			if q > 0 {
				s.quota[a.Queues[q].Parent*a.types+t] += s.quota[i]
			}
		}
	}
	for _, q := range a.path {
		for t := range a.types {
			s.used[q*a.types+t] += a.arrives(t)
		}
	}
	return s
}

// candidates returns who may be taken at all: less important ones of the own leaf, and
// of other leaves that borrow what is lacking.
func (s *fairSearch) candidates() (all uint64) {
	own := s.Tasks[s.ask].Leaf
	for i := range s.Tasks {
		leaf := s.Tasks[i].Leaf
		if s.place[i] < 0 || !s.helps(i) || s.Queues[leaf].Disabled || !s.reaches(leaf) {
			continue
		}
		if leaf == own {
			if s.question.own != Never && s.lessImportant(i) {
				all |= 1 << i
			}
			continue
		}
		if rank := s.rank[i][s.ask]; rank > 0 || rank == 0 && s.Rules.Strict {
			continue
		}
		for t := range s.types {
			if s.size(i, t) > 0 && s.arrives(t) > 0 && s.question.used[leaf*s.types+t] > s.quota[leaf*s.types+t] {
				all |= 1 << i
			}
		}
	}
	return all
}

// lessImportant reports whether a task of the own leaf has a lower priority than the ask,
// or the same and came later. Who came first is not part of a state: here the larger
// ones did, and of equal ones the first.
func (s *fairSearch) lessImportant(i int) bool {
	victim, ask := &s.Tasks[i], &s.Tasks[s.ask]
	if victim.Priority != ask.Priority {
		return victim.Priority < ask.Priority
	}
	if c := slices.Compare(victim.Size, ask.Size); c != 0 {
		return c < 0
	}
	return i > s.ask
}

// strategyA takes tasks by rule S2-a. It returns those that the rule spared, and whether
// there is room.
func (s *fairSearch) strategyA() (retry uint64, room bool) {
	for leaf := s.next(); leaf >= 0; leaf = s.next() {
		if leaf == s.Tasks[s.ask].Leaf {
			if s.take(s.head(leaf)) {
				return retry, true
			}
			continue
		}
		for mine, _ := s.shares(leaf); s.left&s.under[leaf] != 0; {
			task := s.head(leaf)
			s.remove(task, 1)
			_, theirs := s.shares(leaf)
			s.remove(task, -1)
			if mine <= theirs {
				if s.take(task) {
					return retry, true
				}
				break // another queue may have the highest share now
			}
			s.left &^= 1 << task
			retry |= 1 << task
		}
	}
	return retry, false
}

// strategyB takes tasks that rule S2-a spared by rule S2-b, one of a queue. It reports
// whether there is room.
func (s *fairSearch) strategyB(retry uint64) bool {
	s.left = retry
	clear(s.pruned)
	for leaf := s.next(); leaf >= 0; leaf = s.next() {
		if mine, theirs := s.shares(leaf); mine < theirs && s.take(s.head(leaf)) {
			return true
		}
		s.pruned[leaf] = true
	}
	return false
}

// head returns the first candidate of a leaf: of the lowest priority.
func (s *fairSearch) head(leaf int) int {
	best := -1
	for left := s.left & s.under[leaf]; left != 0; left &= left - 1 {
		i := bits.TrailingZeros64(left)
		if best < 0 || s.Tasks[i].Priority < s.Tasks[best].Priority {
			best = i
			continue
		}
		larger := slices.Compare(s.Tasks[i].Size, s.Tasks[best].Size) > 0
		if s.Tasks[i].Priority == s.Tasks[best].Priority && larger == s.largeFirst {
			best = i
		}
	}
	return best
}

// take takes a task, and reports whether there is room.
func (s *fairSearch) take(task int) bool {
	s.left &^= 1 << task
	s.remove(task, 1)
	s.taken = append(s.taken, task)
	var gone uint64
	for _, i := range s.taken {
		gone |= 1 << i
	}
	return s.room(gone)
}

// remove takes so many times what a task uses off the queues above it.
func (s *fairSearch) remove(task, times int) {
	for _, q := range s.above[s.Tasks[task].Leaf] {
		for t := range s.types {
			s.used[q*s.types+t] -= times * s.size(task, t)
		}
	}
}

// share returns what a queue has over its quota, of the type of which that is most. All
// weights are one, and so is what could be lent of each type.
func (s *fairSearch) share(q int) (most int) {
	for t := range s.types {
		most = max(most, s.used[q*s.types+t]-s.quota[q*s.types+t])
	}
	return most
}

// shares returns the shares of the queues, below the common one, of the ask and a leaf.
func (s *fairSearch) shares(leaf int) (mine, theirs int) {
	return s.share(s.below(s.path, leaf)), s.share(s.below(s.above[leaf], s.path[0]))
}

// below returns the queue of a path that is just below what it has in common with
// another queue.
func (s *fairSearch) below(path []int, other int) int {
	q := path[0]
	for _, up := range path {
		if s.within(other, up) {
			break
		}
		q = up
	}
	return q
}

// next returns the leaf to take from: from the root on that with the highest share at
// each level. Who has no share is left alone, but for those on the path of the ask. There
// is none, -1, if nobody is left.
func (s *fairSearch) next() int {
	for !s.pruned[0] {
		if s.leaves[0] {
			s.pruned[0] = s.left == 0
			if !s.pruned[0] {
				return 0
			}
			continue
		}
		if leaf := s.descend(0); leaf >= 0 {
			return leaf
		}
	}
	return -1
}

// descend returns the leaf to take from below a queue, or -1 if it only found that there
// is nobody somewhere.
func (s *fairSearch) descend(at int) int {
	highest, most := -1, -1
	for q := at + 1; q < len(s.Queues); q++ {
		if s.Queues[q].Parent != at || s.pruned[q] {
			continue
		}
		share := s.share(q)
		idle := share == 0 && !slices.Contains(s.path, q)
		switch {
		case idle || s.leaves[q] && s.left&s.under[q] == 0:
			s.pruned[q] = true
		// Of equals inner queues come first, and then the last.
		case share > most || share == most && (s.leaves[highest] || !s.leaves[q]):
			highest, most = q, share
		}
	}
	switch {
	case highest < 0:
		s.pruned[at] = true
		return -1
	case s.leaves[highest]:
		return highest
	}
	return s.descend(highest)
}
