package quota_test

import (
	"cmp"
	"iter"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/world"
	"github.com/go-preempt/preempt/quota"
)

// The choice of a leaf is that of the slow twin, which walks over maps and
// looks at every set where the walk ends short.
func TestLeaf_SlowTwin(t *testing.T) { rapid.Check(t, propertyLeaf) }

func FuzzLeaf(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(propertyLeaf))
}

func propertyLeaf(t *rapid.T) {
	c := trials(world.Small).Draw(t, "trial")
	c.Minimums = nil
	leaves := slices.DeleteFunc(c.World.Queues(), func(q world.Place) bool { return !q.IsLeaf() })
	leaf := of(t, "leaf", leaves...)
	usage := c.World.Usage(true)[leaf.Path]
	c.Queue, c.Steps, c.Max = leaf.Path, 0, make(world.Amounts)
	for _, name := range c.World.Types {
		if chance(t, "bounded", 12) {
			c.Max[name] = max(usage[name]-int64(below(t, "over", 9)), leaf.Guaranteed[name], 0)
		}
	}
	o := c.enforce(t, c.build(t))
	if want := chooseSlowly(c); !slices.Equal(want, keys(o)) {
		t.Fatalf("want %v, have %v\n%v", want, keys(o), c)
	}
	if !o.Proven {
		t.Fatalf("not proven, with %d tasks", len(c.World.Tasks))
	}
}

// slowLeaf is the choice of one leaf in the making.
type slowLeaf struct {
	c                  *trial
	target, goal, room world.Amounts // types without a room are not there
	tasks              []world.Task  // in the order of taking
	taken              map[string]bool
	place              map[string]int // of the node of a task, for Pack
	placed             int
}

func chooseSlowly(c *trial) []string {
	s := slowLeaf{c: c, target: make(world.Amounts), goal: make(world.Amounts), room: make(world.Amounts), taken: make(map[string]bool), place: make(map[string]int)}
	usage := c.World.Usage(true)
	for _, q := range c.World.Queues() {
		if world.Inside(c.Queue, q.Path) {
			for name, g := range q.Guaranteed {
				s.lower(s.room, name, max(usage[q.Path][name]-g, 0))
			}
		}
	}
	for name, bound := range c.Max {
		if over := usage[c.Queue][name] - bound; over > 0 {
			s.target[name], s.goal[name] = over, over
			if room, ok := s.room[name]; ok {
				s.goal[name] = min(over, room)
			}
		}
	}
	for name := range s.target {
		if c.Overshoot == quota.Exact {
			s.lower(s.room, name, s.goal[name])
		}
	}
	for _, t := range c.World.Tasks {
		if t.Queue == c.Queue && t.State == world.Running && !t.RequiredNode && s.has(&t, s.target) {
			s.tasks = append(s.tasks, t)
		}
	}
	slices.SortFunc(s.tasks, s.compare)
	s.walk(s.goal)
	s.search()
	for s.walk(s.target) { // where the trim made room for others
	}
	s.joint()
	var keys []string
	for _, t := range s.picked() {
		keys = append(keys, t.Key)
	}
	slices.Sort(keys)
	return append([]string{}, keys...)
}

func (s *slowLeaf) lower(a world.Amounts, name string, v int64) {
	if old, ok := a[name]; !ok || v < old {
		a[name] = v
	}
}

// has reports whether a task has a type of which there is any.
func (s *slowLeaf) has(t *world.Task, some world.Amounts) bool {
	for name, v := range some {
		if v > 0 && t.Size[name] > 0 {
			return true
		}
	}
	return false
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// match returns 1 for a task that has other types than those of the target, or
// not all of them, and the number of others.
func (s *slowLeaf) match(t *world.Task) (inexact, others int64) {
	for _, name := range s.c.World.Types {
		switch has, wanted := t.Size[name] > 0, s.target[name] > 0; {
		case has && !wanted:
			inexact, others = 1, others+1
		case has != wanted:
			inexact = 1
		}
	}
	return inexact, others
}

// compare is the order of taking, as the design lists it.
func (s *slowLeaf) compare(a, b world.Task) int {
	if s.c.Order == quota.ClosestMatch {
		inexactA, othersA := s.match(&a)
		inexactB, othersB := s.match(&b)
		if c := cmp.Or(cmp.Compare(inexactA, inexactB), cmp.Compare(othersA, othersB)); c != 0 {
			return c
		}
	}
	return cmp.Or(
		cmp.Compare(s.place[a.Key], s.place[b.Key]),
		cmp.Compare(bit(a.Originator), bit(b.Originator)),
		cmp.Compare(a.Priority, b.Priority),
		cmp.Compare(bit(a.OptedOut), bit(b.OptedOut)),
		b.Created.Compare(a.Created),
		s.share(a.Size).Cmp(s.share(b.Size)),
		cmp.Compare(a.Key, b.Key),
	)
}

// share returns the largest share of capacity.
func (s *slowLeaf) share(a world.Amounts) *big.Rat {
	most := new(big.Rat)
	capacity := s.c.World.Capacity()
	for name, v := range a {
		if share := big.NewRat(max(v, 0), max(capacity[name], 1)); share.Cmp(most) > 0 {
			most = share
		}
	}
	return most
}

func (s *slowLeaf) picked() (all []world.Task) {
	for _, t := range s.tasks {
		if s.taken[t.Key] {
			all = append(all, t)
		}
	}
	return all
}

func sum(tasks []world.Task) world.Amounts {
	all := make(world.Amounts)
	for _, t := range tasks {
		for name, v := range t.Size {
			all[name] += v
		}
	}
	return all
}

func (s *slowLeaf) legal(tasks []world.Task) bool {
	freed := sum(tasks)
	for name, room := range s.room {
		if freed[name] > room {
			return false
		}
	}
	return true
}

func covers(freed, need world.Amounts) bool {
	for name, v := range need {
		if freed[name] < v {
			return false
		}
	}
	return true
}

// walk takes what helps with a goal, and then trims. It reports whether it took
// anything.
func (s *slowLeaf) walk(goal world.Amounts) (took bool) {
	if s.c.Order == quota.Pack {
		s.pack(goal)
	}
	for _, t := range s.tasks {
		open, freed := make(world.Amounts), sum(s.picked())
		for name, v := range goal {
			open[name] = v - freed[name]
		}
		if !s.taken[t.Key] && s.has(&t, open) && s.legal(append(s.picked(), t)) {
			s.taken[t.Key], took = true, true
		}
	}
	freed := sum(s.picked())
	need := make(world.Amounts)
	for name, v := range goal {
		need[name] = min(v, freed[name])
	}
	for _, t := range slices.Backward(s.tasks) {
		if s.taken[t.Key] {
			delete(s.taken, t.Key)
			s.taken[t.Key] = !covers(sum(s.picked()), need)
		}
	}
	return took
}

// pack puts the tasks that are left node by node: first the node that has the
// largest share of a type that is open, in the order of nodes where several do.
func (s *slowLeaf) pack(goal world.Amounts) {
	open, most := make(world.Amounts), big.NewRat(-1, 1)
	for name, v := range goal {
		open[name] = v - sum(s.picked())[name]
	}
	if !slices.ContainsFunc(s.c.World.Types, func(name string) bool { return open[name] > 0 }) {
		return
	}
	left := make(map[string][]world.Task)
	for _, t := range s.tasks {
		if !s.taken[t.Key] {
			left[t.Node] = append(left[t.Node], t)
		}
	}
	for len(left) > 0 {
		first := ""
		for _, n := range s.c.World.Nodes {
			if share := shareOfOpen(sum(left[n.Name]), open); left[n.Name] != nil && (first == "" || share.Cmp(most) > 0) {
				first, most = n.Name, share
			}
		}
		s.placed++
		for _, t := range left[first] {
			s.place[t.Key] = s.placed
		}
		delete(left, first)
	}
	slices.SortFunc(s.tasks, s.compare)
}

// shareOfOpen returns the largest share of what is open of a type.
func shareOfOpen(size, open world.Amounts) *big.Rat {
	most := new(big.Rat)
	for name, v := range open {
		if v <= 0 {
			continue
		}
		if share := big.NewRat(size[name], v); share.Cmp(most) > 0 {
			most = share
		}
	}
	return most
}

// search looks at every set where the goal is not met: as much of it as all
// candidates and rooms allow, type by type.
func (s *slowLeaf) search() {
	all := slices.DeleteFunc(slices.Clone(s.tasks), func(t world.Task) bool {
		return !s.has(&t, s.goal) || !s.legal([]world.Task{t})
	})
	need := make(world.Amounts)
	for name, v := range s.goal {
		if need[name] = min(v, sum(all)[name]); v == 0 {
			continue
		}
		if room, ok := s.room[name]; ok {
			need[name] = min(need[name], room)
		}
	}
	if covers(sum(s.picked()), need) {
		return
	}
	s.replace(all, need, need)
}

// joint looks at every set for more of the target, of one type after another,
// and no less of the others.
func (s *slowLeaf) joint() {
	for _, name := range s.c.World.Types {
		need := s.had(sum(s.picked()))
		most := need[name]
		for tasks := range s.sets(s.tasks, need) {
			most = max(most, s.had(sum(tasks))[name])
		}
		if most > need[name] {
			need[name] = most
			s.replace(s.tasks, need, s.target)
		}
	}
}

// had returns what of the target is freed.
func (s *slowLeaf) had(freed world.Amounts) world.Amounts {
	all := make(world.Amounts)
	for name, v := range s.target {
		all[name] = min(v, freed[name])
	}
	return all
}

// sets yields the legal sets that free at least need.
func (s *slowLeaf) sets(all []world.Task, need world.Amounts) iter.Seq[[]world.Task] {
	return func(yield func([]world.Task) bool) {
		for set := range 1 << len(all) {
			var tasks []world.Task
			for i, t := range all {
				if set>>i&1 == 1 {
					tasks = append(tasks, t)
				}
			}
			if s.legal(tasks) && covers(sum(tasks), need) && !yield(tasks) {
				return
			}
		}
	}
}

// replace takes the cheapest set that frees need, where there is one.
func (s *slowLeaf) replace(all []world.Task, need, wanted world.Amounts) {
	var best *slowCost
	for tasks := range s.sets(all, need) {
		if cost := s.cost(tasks, wanted); best == nil || cost.compare(best) < 0 {
			best = cost
		}
	}
	if best != nil {
		clear(s.taken)
		for _, key := range best.keys {
			s.taken[key] = true
		}
	}
}

// slowCost is what a set costs, in the words of the design.
type slowCost struct {
	levels []int64
	excess *big.Rat
	work   *big.Int
	keys   []string
}

func (s *slowLeaf) cost(tasks []world.Task, wanted world.Amounts) *slowCost {
	c := &slowCost{work: new(big.Int)}
	var inexact, others, originators, highest, optedOut, priorities int64
	for i, t := range tasks {
		if s.c.Order == quota.ClosestMatch {
			in, ot := s.match(&t)
			inexact, others = inexact+in, others+ot
		}
		originators += bit(t.Originator)
		optedOut += bit(t.OptedOut)
		priorities += int64(t.Priority)
		if i == 0 || int64(t.Priority) > highest {
			highest = int64(t.Priority)
		}
		if !t.Scheduled.IsZero() && t.Scheduled.Before(world.Epoch) {
			c.work.Add(c.work, big.NewInt(int64(world.Epoch.Sub(t.Scheduled))))
		}
		c.keys = append(c.keys, t.Key)
	}
	slices.Sort(c.keys)
	c.levels = []int64{inexact, others, originators, highest, optedOut, int64(len(tasks)), priorities}
	freed := sum(tasks)
	for name, v := range wanted {
		freed[name] = max(freed[name]-v, 0)
	}
	c.excess = s.share(freed)
	return c
}

func (c *slowCost) compare(d *slowCost) int {
	return cmp.Or(slices.Compare(c.levels, d.levels), c.excess.Cmp(d.excess), c.work.Cmp(d.work), slices.Compare(c.keys, d.keys))
}
