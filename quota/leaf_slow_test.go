// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"cmp"
	"iter"
	"maps"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/world"
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
	leaves := slices.DeleteFunc(c.World.Queues(), func(q world.Place) bool { return !q.IsLeaf() })
	leaf := of(t, "leaf", leaves...)
	usage := c.World.Usage(true)[leaf.Path]
	c.Queue, c.Budget, c.Max = leaf.Path, 0, make(world.Amounts)
	for _, name := range c.World.Types {
		if chance(t, "bounded", 12) {
			c.Max[name] = max(usage[name]-int64(below(t, "over", 9)), leaf.Guaranteed[name], 0)
		}
	}
	o := c.enforce(t, c.build(t))
	if want := chooseSlowly(c); !slices.Equal(want, keys(o)) {
		t.Fatalf("want %v, have %v\n%v", want, keys(o), c)
	}
	if !o.Enforcement.Proven {
		t.Fatalf("not proven, with %d tasks", len(c.World.Tasks))
	}
}

// slowLeaf is the choice of one leaf in the making.
type slowLeaf struct {
	c                  *trial
	target, goal, room world.Amounts // types without a room are not there
	tasks              []world.Task  // in the order of taking
	taken              map[string]bool
	asUnit             map[string]bool // the rest of a gang
	place              map[string]int  // of the node of a task, for Pack
	placed             int
}

func chooseSlowly(c *trial) []string {
	s := slowLeaf{c: c, target: make(world.Amounts), goal: make(world.Amounts), room: make(world.Amounts), taken: make(map[string]bool), place: make(map[string]int), asUnit: make(map[string]bool)}
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
		if c.Exact {
			s.lower(s.room, name, s.goal[name])
		}
	}
	for _, t := range c.World.Tasks {
		g, gang := c.gang(t.Job)
		if t.Queue == c.Queue && t.State == world.Running && !t.RequiredNode && (s.has(&t, s.target) || gang && g.whole) {
			s.tasks = append(s.tasks, t)
		}
	}
	slices.SortFunc(s.tasks, s.compare)
	s.walk(s.goal)
	s.search()
	for s.walk(s.target) { // where the trim made room for others
	}
	s.joint()
	if c.Order == quota.Fewest || c.Order == quota.FewestOfAll {
		s.lessen()
	}
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
	for name, b := range s.c.World.Budgets {
		named := int64(0)
		for _, t := range tasks {
			named += bit(slices.Contains(t.Budgets, name))
		}
		if b.Hard && named > max(b.Left, 0) {
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
	for i, t := range s.tasks {
		unit := s.unitAt(i)
		open, freed := make(world.Amounts), sum(s.picked())
		for name, v := range goal {
			open[name] = v - freed[name]
		}
		if s.taken[t.Key] || len(unit) == 0 || !s.has(&world.Task{Size: sum(unit)}, open) || !s.legal(append(s.picked(), unit...)) {
			continue
		}
		took = true
		single := s.maySingly(&t)
		for _, m := range unit {
			s.taken[m.Key], s.asUnit[m.Key] = true, !single
		}
	}
	s.trim(goal)
	return took
}

// members returns the members of a task's gang in order for which some holds.
func (s *slowLeaf) members(of *world.Task, some func(key string) bool) (all []world.Task) {
	for _, t := range s.tasks {
		if t.Job == of.Job && some(t.Key) {
			all = append(all, t)
		}
	}
	return all
}

// maySingly reports whether a task may go alone: as many members of its gang as
// it can spare have not gone yet.
func (s *slowLeaf) maySingly(t *world.Task) bool {
	g, ok := s.c.gang(t.Job)
	return !ok || len(s.members(t, func(key string) bool { return s.taken[key] })) < g.spare
}

// unitAt returns what goes with the task at a place: itself, or all that is left
// of its gang if it is the last of that.
func (s *slowLeaf) unitAt(i int) []world.Task {
	t := &s.tasks[i]
	if s.maySingly(t) {
		return []world.Task{*t}
	}
	rest := s.members(t, func(key string) bool { return !s.taken[key] })
	if g, _ := s.c.gang(t.Job); !g.whole || len(rest) == 0 || rest[len(rest)-1].Key != t.Key {
		return nil
	}
	return rest
}

// trim gives back the most valuable unit that is not needed, again and again.
func (s *slowLeaf) trim(goal world.Amounts) {
	need := make(world.Amounts)
	for name, v := range goal {
		need[name] = min(v, sum(s.picked())[name])
	}
	for again := true; again; {
		again = false
		for _, t := range slices.Backward(s.tasks) {
			if !s.taken[t.Key] {
				continue
			}
			unit := []world.Task{t}
			if _, gang := s.c.gang(t.Job); gang {
				switch rest := s.members(&t, func(key string) bool { return s.taken[key] && s.asUnit[key] }); {
				case s.asUnit[t.Key] && rest[len(rest)-1].Key == t.Key:
					unit = rest
				case len(rest) > 0:
					continue
				}
			}
			for _, m := range unit {
				delete(s.taken, m.Key)
			}
			if again = covers(sum(s.picked()), need); again {
				break
			}
			for _, m := range unit {
				s.taken[m.Key] = true
			}
		}
	}
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
	all := s.candidates(s.goal)
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
	s.replace(s.goal, need, need)
}

// candidates returns the tasks that could go for a goal if nobody else did, alone
// or with their gang.
func (s *slowLeaf) candidates(goal world.Amounts) (all []world.Task) {
	for _, t := range s.tasks {
		if s.alone(&t, goal) || s.together(&t, goal) {
			all = append(all, t)
		}
	}
	return all
}

func (s *slowLeaf) alone(t *world.Task, goal world.Amounts) bool {
	g, gang := s.c.gang(t.Job)
	return s.has(t, goal) && s.legal([]world.Task{*t}) && (!gang || g.spare > 0)
}

func (s *slowLeaf) together(t *world.Task, goal world.Amounts) bool {
	g, gang := s.c.gang(t.Job)
	if !gang || !g.whole {
		return false
	}
	all := s.members(t, func(string) bool { return true })
	return s.has(&world.Task{Size: sum(all)}, goal) && s.legal(all)
}

// lawful reports whether a set of candidates takes of each gang what it can spare,
// or all of it.
func (s *slowLeaf) lawful(tasks []world.Task, goal world.Amounts) bool {
	lost := make(map[string]int)
	for _, t := range tasks {
		lost[t.Job]++
	}
	for _, t := range tasks {
		g, gang := s.c.gang(t.Job)
		whole := gang && lost[t.Job] > g.spare
		if whole && (lost[t.Job] < g.running || !s.together(&t, goal)) || !whole && !s.alone(&t, goal) {
			return false
		}
	}
	return s.legal(tasks)
}

// joint looks at every set for more of the target, of one type after another,
// and no less of the others.
func (s *slowLeaf) joint() {
	for _, name := range s.c.World.Types {
		need := s.had(sum(s.picked()))
		most := need[name]
		for tasks := range s.sets(s.target, need) {
			most = max(most, s.had(sum(tasks))[name])
		}
		if most > need[name] {
			need[name] = most
			s.replace(s.target, need, s.target)
		}
	}
}

// lessen takes the cheapest set that frees as much, if it is dearer in no level up to the
// number of tasks.
func (s *slowLeaf) lessen() {
	need := s.had(sum(s.picked()))
	before, taken, units := s.cost(s.picked(), need), maps.Clone(s.taken), maps.Clone(s.asUnit)
	s.replace(need, need, need)
	for l, v := range s.cost(s.picked(), need).levels[:6] {
		if v > before.levels[l] {
			s.taken, s.asUnit = taken, units
			return
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

// sets yields the legal sets for a goal that free at least need.
func (s *slowLeaf) sets(goal, need world.Amounts) iter.Seq[[]world.Task] {
	return func(yield func([]world.Task) bool) {
		all := s.candidates(goal)
		for set := range 1 << len(all) {
			var tasks []world.Task
			for i, t := range all {
				if set>>i&1 == 1 {
					tasks = append(tasks, t)
				}
			}
			if covers(sum(tasks), need) && s.lawful(tasks, goal) && !yield(tasks) {
				return
			}
		}
	}
}

// replace takes the cheapest set for a goal that frees need, if there is one.
func (s *slowLeaf) replace(goal, need, wanted world.Amounts) {
	var best *slowCost
	var chosen []world.Task
	for tasks := range s.sets(goal, need) {
		if cost := s.cost(tasks, wanted); best == nil || cost.compare(best) < 0 {
			best, chosen = cost, tasks
		}
	}
	if best == nil {
		return
	}
	clear(s.taken)
	for _, t := range chosen {
		s.taken[t.Key], s.asUnit[t.Key] = true, s.goesWhole(&t, chosen)
	}
}

// goesWhole reports whether the gang of a task goes as a whole in a set.
func (s *slowLeaf) goesWhole(t *world.Task, tasks []world.Task) bool {
	g, gang := s.c.gang(t.Job)
	lost := 0
	for _, other := range tasks {
		lost += int(bit(other.Job == t.Job))
	}
	return gang && lost > g.spare
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
			c.work.Add(c.work, new(big.Int).Mul(s.weight(t.Size), big.NewInt(int64(world.Epoch.Sub(t.Scheduled)))))
		}
		if first := s.members(&t, func(string) bool { return true }); s.goesWhole(&t, tasks) &&
			slices.ContainsFunc(first, func(m world.Task) bool { return m.Key < t.Key }) {
			continue // a gang goes by its first key
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

// weight is the share of the cluster in thousand millionths, rounded up, and at least 1.
func (s *slowLeaf) weight(size world.Amounts) *big.Int {
	share := s.share(size)
	up, rest := new(big.Int).QuoRem(new(big.Int).Mul(share.Num(), big.NewInt(1_000_000_000)), share.Denom(), new(big.Int))
	if rest.Sign() > 0 || up.Sign() == 0 {
		up.Add(up, big.NewInt(1))
	}
	return up
}

func (c *slowCost) compare(d *slowCost) int {
	return cmp.Or(slices.Compare(c.levels, d.levels), c.work.Cmp(d.work), c.excess.Cmp(d.excess), slices.Compare(c.keys, d.keys))
}
