// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/quota"
)

// jointLaws hold below any queue with few candidates, whatever the levels and
// types, and whatever budget there is. Every legal set is looked at.
var jointLaws = []law.Law{
	{Name: "met where any legal set meets the target", Holds: propertyMet},
	{Name: "no legal set frees more of one type and as much of the others", Holds: propertyMost},
	{Name: "fewest of all: no legal set that frees as much is in all levels less", Holds: propertyFewestOfAll},
}

func TestJoint_SlowTwin(t *testing.T) { law.Check(t, jointLaws) }

func FuzzJoint(f *testing.F) {
	seedFuzz(f)
	law.Fuzz(f, jointLaws)
}

func propertyMet(t *rapid.T) {
	c := drawFew(t)
	s := newSlowSets(c)
	cluster := c.build(t)
	o := c.enforce(t, cluster)
	if !o.Enforcement.Proven {
		t.Fatalf("not proven, with %d candidates\n%v", len(s.sizes), c)
	}
	if o.Enforcement.Result == "met" {
		return
	}
	if set, ok := s.find(s.target); ok {
		t.Fatalf("%v would do\n%v\n%v", set, o.String(), c)
	}
}

func propertyMost(t *rapid.T) {
	c := drawFew(t)
	s := newSlowSets(c)
	cluster := c.build(t)
	o := c.enforce(t, cluster)
	for i, want := range s.target {
		need := make([]int64, len(s.target))
		for k := range need {
			need[k] = min(o.Enforcement.Freed[k], s.target[k])
		}
		if need[i] == want {
			continue
		}
		need[i]++
		if set, ok := s.find(need); ok {
			t.Fatalf("%v free more of type %d\n%v\n%v", set, i, o.String(), c)
		}
	}
}

func propertyFewestOfAll(t *rapid.T) {
	c := drawFew(t)
	c.Order = quota.FewestOfAll
	s := newSlowSets(c)
	cluster := c.build(t)
	d := c.enforce(t, cluster)
	need := make([]int64, len(s.target))
	for i := range need {
		need[i] = min(d.Enforcement.Freed[i], s.target[i])
	}
	have := levelsOf(d)
	var best []int64
	s.all(need, func(keys []string) {
		if levels := c.levelsOf(keys); best == nil || slices.Compare(levels, best) < 0 {
			best = levels
		}
	})
	lessInAll := !slices.Equal(best, have)
	for l := range have {
		lessInAll = lessInAll && best[l] <= have[l]
	}
	if lessInAll {
		t.Fatalf("levels %v, and there are %v\n%v\n%v", have, best, d.String(), c)
	}
}

// levelsOf returns what tasks cost in the levels up to their number.
func (c *trial) levelsOf(keys []string) []int64 {
	var l [4]int64
	for _, t := range c.World.Tasks {
		if !slices.Contains(keys, t.Key) {
			continue
		}
		if l[3] == 0 || int64(t.Priority) > l[1] {
			l[1] = int64(t.Priority)
		}
		l[0], l[2], l[3] = l[0]+bit(t.Originator), l[2]+bit(t.OptedOut), l[3]+1
	}
	return l[:]
}

// drawFew draws a trial of a queue that has children, mostly, with guarantees
// drawn anew: tight ones, since sets matter only where tasks do not fit one
// after the other.
func drawFew(t *rapid.T) *trial {
	c := trials(world.Small).Draw(t, "trial")
	usage := c.World.Usage(true)
	var tighten func(path string, q *world.Queue)
	tighten = func(path string, q *world.Queue) {
		q.Children = slices.Clone(q.Children)
		for i := range q.Children {
			child := &q.Children[i]
			tighten(path+"."+child.Name, child)
		}
		q.Guaranteed = make(world.Amounts)
		for _, name := range c.World.Types {
			if u := usage[path][name]; u > 0 && chance(t, "guarantee", 6) {
				q.Guaranteed[name] = max(1, u-int64(below(t, "surplus", 10)))
			}
		}
		q.Max = nil
	}
	root := c.World.Queues()[0]
	tighten(root.Path, root.Queue)
	inner := slices.DeleteFunc(c.World.Queues(), func(q world.Place) bool { return q.IsLeaf() })
	if len(inner) > 0 && chance(t, "inner", 12) {
		c.Queue = of(t, "inner queue", inner...).Path
	}
	top := c.World.Queues()[slices.IndexFunc(c.World.Queues(), func(q world.Place) bool { return q.Path == c.Queue })]
	c.Max = make(world.Amounts)
	for _, name := range c.World.Types {
		if chance(t, "bounded", 12) {
			c.Max[name] = max(usage[c.Queue][name]-int64(below(t, "over", 12)), top.Guaranteed[name], 0)
		}
	}
	return c
}

// slowSets looks at all legal sets of victims of a trial: rooms and tasks as
// the design words them.
type slowSets struct {
	target []int64
	keys   []string
	sizes  [][]int64
	rooms  []slowRoom
	in     [][]int // the rooms of each task
	jobs   []string
	c      *trial
	lost   map[string]int // so many members of a job are taken
}

// slowRoom is what may still go below a queue, of a type.
type slowRoom struct {
	typ  int
	left int64
}

func newSlowSets(c *trial) *slowSets {
	s := &slowSets{target: make([]int64, len(c.World.Types))}
	usage := c.World.Usage(true)
	for i, name := range c.World.Types {
		if bound, ok := c.Max[name]; ok {
			s.target[i] = max(usage[c.Queue][name]-bound, 0)
		}
	}
	var paths []string // of each room
	add := func(path string, typ int, left int64) {
		paths, s.rooms = append(paths, path), append(s.rooms, slowRoom{typ, left})
	}
	for i, name := range c.World.Types {
		for _, q := range c.World.Queues() {
			if g, ok := q.Guaranteed[name]; ok {
				add(q.Path, i, max(usage[q.Path][name]-g, 0))
			}
		}
		if c.Exact && s.target[i] > 0 {
			add(c.Queue, i, s.target[i])
		}
	}
	// What hard budgets have left are rooms as well, of types of their own.
	budgets := slices.Sorted(maps.Keys(c.World.Budgets))
	for i, name := range budgets {
		left := int64(math.MaxInt64 / 2)
		if b := c.World.Budgets[name]; b.Hard {
			left = max(b.Left, 0)
		}
		add("root", len(s.target)+i, left)
	}
	for _, t := range c.World.Tasks {
		if !world.Inside(t.Queue, c.Queue) || t.State != world.Running || t.RequiredNode || c.isBusy(t.Queue) {
			continue
		}
		var size []int64
		var in []int
		for _, name := range c.World.Types {
			size = append(size, t.Size[name])
		}
		for _, name := range budgets {
			size = append(size, bit(slices.Contains(t.Budgets, name)))
		}
		for r, path := range paths {
			if world.Inside(t.Queue, path) {
				in = append(in, r)
			}
		}
		s.keys, s.sizes, s.in, s.jobs = append(s.keys, t.Key), append(s.sizes, size), append(s.in, in), append(s.jobs, t.Job)
	}
	s.c, s.lost = c, make(map[string]int)
	return s
}

// find returns a legal set that frees at least need.
func (s *slowSets) find(need []int64) (set []string, ok bool) {
	need = append(slices.Clone(need), make([]int64, len(s.c.World.Budgets))...)
	var from func(i int) bool
	from = func(i int) bool {
		if !slices.ContainsFunc(need, func(v int64) bool { return v > 0 }) && s.gangs() {
			return true
		}
		if i == len(s.sizes) {
			return false
		}
		if s.move(need, i, 1) && from(i+1) {
			set = append(set, s.keys[i])
			return true
		}
		s.move(need, i, -1)
		return from(i + 1)
	}
	ok = from(0)
	return set, ok
}

// all yields the legal sets that free at least need.
func (s *slowSets) all(need []int64, yield func(keys []string)) {
	need = append(slices.Clone(need), make([]int64, len(s.c.World.Budgets))...)
	var set []string
	var from func(i int)
	from = func(i int) {
		if i == len(s.sizes) {
			if !slices.ContainsFunc(need[:len(s.target)], func(v int64) bool { return v > 0 }) && s.gangs() {
				yield(set)
			}
			return
		}
		if s.move(need, i, 1) {
			set = append(set, s.keys[i])
			from(i + 1)
			set = set[:len(set)-1]
		}
		s.move(need, i, -1)
		from(i + 1)
	}
	from(0)
}

// gangs reports whether all jobs lose what they can spare, or go as a whole.
func (s *slowSets) gangs() bool {
	for job, lost := range s.lost {
		if g, ok := s.c.gang(job); ok && lost > g.spare && (lost < g.running || !g.whole) {
			return false
		}
	}
	return true
}

// move takes task i, or gives it back, and reports whether no room is exceeded.
func (s *slowSets) move(need []int64, i int, sign int64) (legal bool) {
	legal = true
	s.lost[s.jobs[i]] += int(sign)
	for t, v := range s.sizes[i] {
		need[t] -= sign * v
	}
	for _, r := range s.in[i] {
		room := &s.rooms[r]
		room.left -= sign * s.sizes[i][room.typ]
		legal = legal && room.left >= 0
	}
	return legal
}
