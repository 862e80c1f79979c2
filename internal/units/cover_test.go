// SPDX-License-Identifier: Apache-2.0

package units

import (
	"fmt"
	"github.com/go-preempt/preempt/internal/least"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/judge/law"
	"pgregory.net/rapid"
)

// enoughSteps proves every problem that is drawn.
const enoughSteps = 1 << 20

// coverProperties hold for every problem.
var coverProperties = []law.Law{
	{Name: "LeastIsLeast", Holds: leastIsLeast},
	{Name: "GreedyIsLegal", Holds: greedyIsLegal},
	{Name: "LimitIsKept", Holds: limitIsKept},
	{Name: "LesserIsLeast", Holds: lesserIsLeast},
	{Name: "BudgetIsHonest", Holds: budgetIsHonest},
	{Name: "OrderOfUnitsIsNothing", Holds: orderOfUnitsIsNothing},
	{Name: "WorkerForgets", Holds: workerForgets},
}

func TestCover(t *testing.T) { law.Check(t, coverProperties) }

func FuzzCover(f *testing.F) {
	seedDraws(f)
	law.Fuzz(f, coverProperties)
}

// seedDraws adds inputs for a property to draw from, which takes eight bytes
// for each draw and skips inputs that are too short.
func seedDraws(f *testing.F) {
	for i := range byte(4) {
		seed := make([]byte, 1<<15)
		rand.NewChaCha8([32]byte{i}).Read(seed)
		f.Add(seed)
	}
}

// leastIsLeast: the set found is that of the slow twin, and proven to be.
func leastIsLeast(t *rapid.T) {
	c := coverCases().Draw(t, "case")
	var w Worker
	var s Selection
	w.Least(&s, &c.Problem, enoughSteps)
	if !s.Proven {
		t.Fatalf("not proven in %d steps", s.Steps)
	}
	c.mustBeBest(t, &s)
}

// A class counts only the budgets that can be overrun at all: its units may
// differ in the others.
func TestCover_BudgetsOfAClass(t *testing.T) {
	p := Problem{
		Order: planOrder, Capacity: vec{100},
		Needs:   shorts(vec{2}),
		Budgets: []int64{1},
		Units:   []Unit{unitOf("a", 1).Unit, unitOf("b", 1).Unit, unitOf("c", 1).Unit},
	}
	p.Units[0].Uses = []least.Use{{Budget: 0, Count: 1}}
	var w Worker
	var s Selection
	w.Least(&s, &p, enoughSteps)
	if !slices.Equal(s.Units, []int32{0, 1}) || s.Total.Levels[LevelOverrun] != 0 {
		t.Fatalf("units %v overrun by %d", s.Units, s.Total.Levels[LevelOverrun])
	}
}

// greedyIsLegal: a set that is found is one, and none is found where there is none.
func greedyIsLegal(t *rapid.T) {
	c := coverCases().Draw(t, "case")
	var w Worker
	var s Selection
	w.Least(&s, &c.Problem, 0)
	if !s.Found {
		if s.Proven && c.best != nil {
			t.Fatalf("nothing, and proven, where there is %v", c.best.keys)
		}
		return
	}
	c.mustBeSet(t, &s)
}

// limitIsKept: a set is found where one costs no more than the limit, and only there.
func limitIsKept(t *rapid.T) {
	c := coverCases().Draw(t, "case")
	limit := c.slow.set(c.subset(t))
	if c.best != nil && rapid.Bool().Draw(t, "limit at best") {
		limit = c.best
	}
	var w Worker
	var s Selection
	c.Limit = limit.total()
	w.Least(&s, &c.Problem, enoughSteps)
	if !s.Proven {
		t.Fatalf("not proven in %d steps", s.Steps)
	}
	if c.best != nil && c.slow.compareSets(c.best, limit) <= 0 {
		c.mustBeBest(t, &s)
	} else if s.Found {
		t.Fatalf("%v costs more than %v", c.keys(&s), limit.keys)
	}
}

// lesserIsLeast: a search for lesser levels than a limit finds the least if they
// are lesser, and nothing if they are not.
func lesserIsLeast(t *rapid.T) {
	c := coverCases().Draw(t, "case")
	if !c.Order.LevelsFirst() {
		return // levels are nothing to that order
	}
	limit := c.slow.set(c.subset(t))
	if c.best != nil && rapid.Bool().Draw(t, "limit at best") {
		limit = c.best
	}
	w := Worker{OnlyLesser: true}
	var s Selection
	c.Limit = limit.total()
	w.Least(&s, &c.Problem, enoughSteps)
	if !s.Proven {
		t.Fatalf("not proven in %d steps", s.Steps)
	}
	switch lesser := c.best != nil && c.Order.CompareLevels(&c.best.levels, &limit.levels) < 0; {
	case lesser && !s.Found:
		t.Fatalf("%v has lesser levels than %v", c.best.keys, limit.keys)
	case lesser && c.firstLevels(s.Total.Levels) != c.firstLevels(c.best.levels):
		t.Fatalf("%v is not %v", s.Total.Levels, c.best.levels)
	case !lesser && s.Found:
		t.Fatalf("%v has no lesser levels than %v", c.keys(&s), limit.keys)
	}
	if s.Found {
		c.mustBeSet(t, &s)
	}
}

func (c *coverCase) subset(t *rapid.T) (units []int32) {
	for i := range c.Units {
		if rapid.Bool().Draw(t, "in") {
			units = append(units, int32(i))
		}
	}
	return units
}

// budgetIsHonest: however few the steps, a set that is found is one, more steps
// never find a costlier one, and what is called proven is.
func budgetIsHonest(t *rapid.T) {
	c := coverCases().Draw(t, "case")
	var w Worker
	var s Selection
	var before *slowSet
	for _, steps := range []int{0, 1, 2, 5, 10, 20} {
		w.Least(&s, &c.Problem, steps)
		if s.Steps > steps {
			t.Fatalf("%d steps of %d", s.Steps, steps)
		}
		if s.Proven {
			c.mustBeBest(t, &s)
		}
		c.mustHaveLeastLevels(t, &s)
		if !s.Found {
			if before != nil {
				t.Fatalf("nothing in %d steps, but in fewer %v", steps, before.keys)
			}
			continue
		}
		c.mustBeSet(t, &s)
		now := c.slow.set(s.Units)
		if before != nil && c.slow.cheaper(before, now) {
			t.Fatalf("%v in %d steps, but in fewer %v", now.keys, steps, before.keys)
		}
		before = now
	}
}

// mustHaveLeastLevels holds a search to what it says about levels.
func (c *coverCase) mustHaveLeastLevels(t *rapid.T, s *Selection) {
	switch {
	case s.Proven && !s.LevelsProven:
		t.Fatal("proven, but not its levels")
	case s.LevelsProven && !s.Proven && len(c.Order.Sequence) > 0 && c.Order.Sequence[0] >= cost.NumLevels:
		t.Fatal("levels are proven that do not decide first")
	case s.Found && s.LevelsProven && c.Order.Compare == nil && c.firstLevels(s.Total.Levels) != c.firstLevels(c.best.levels):
		t.Fatalf("levels %v are proven, but %v has %v", s.Total.Levels, c.best.keys, c.best.levels)
	}
}

// firstLevels returns the levels that decide before excess and work, the others 0.
func (c *coverCase) firstLevels(levels cost.Levels) (first cost.Levels) {
	if c.Order.Sequence == nil {
		return levels
	}
	for _, what := range c.Order.Sequence {
		if what >= cost.NumLevels {
			break
		}
		first[what] = levels[what]
	}
	return first
}

// orderOfUnitsIsNothing: units in another order yield the same keys, whether
// there are steps enough or not.
func orderOfUnitsIsNothing(t *rapid.T) {
	c := coverCases().Draw(t, "case")
	other := c.Problem
	other.Units = nil
	order := make([]int, len(c.Units))
	for i := range order {
		order[i] = i
	}
	for _, i := range rapid.Permutation(order).Draw(t, "order") {
		other.Units = append(other.Units, c.Units[i])
	}
	var w Worker
	var s, o Selection
	for _, steps := range []int{0, 3, 12, enoughSteps} {
		w.Least(&s, &c.Problem, steps)
		w.Least(&o, &other, steps)
		if s.Found != o.Found || s.Proven != o.Proven || s.Steps != o.Steps {
			t.Fatalf("%d steps: %+v, but shuffled %+v", steps, s, o)
		}
		if got, want := keysOf(&other, &o), c.keys(&s); !slices.Equal(got, want) {
			t.Fatalf("%d steps: %v, but shuffled %v", steps, want, got)
		}
	}
}

// workerForgets: what a worker did before does not matter, nor does what a
// selection held, and the problem stays as it was.
func workerForgets(t *rapid.T) {
	first, second := coverCases().Draw(t, "first"), coverCases().Draw(t, "second")
	before := pictureOf(&second.Problem)
	var used, fresh Worker
	var s, want Selection
	first.Limit = &cost.Total{Units: 1}
	used.Least(&s, &first.Problem, 3)
	first.Limit = nil
	used.Least(&s, &first.Problem, 0)
	used.Least(&s, &first.Problem, 7)
	for _, steps := range []int{4, enoughSteps} {
		used.Least(&s, &second.Problem, steps)
		fresh.Least(&want, &second.Problem, steps)
		if got, want := fmt.Sprintf("%+v", s), fmt.Sprintf("%+v", want); got != want {
			t.Fatalf("%s, but after another problem %s", want, got)
		}
		fresh = Worker{}
	}
	if after := pictureOf(&second.Problem); after != before {
		t.Fatalf("the problem has changed to\n%sfrom\n%s", after, before)
	}
}

// mustBeBest fails unless s is the set of the slow twin.
func (c *coverCase) mustBeBest(t *rapid.T, s *Selection) {
	t.Helper()
	switch {
	case c.best == nil && s.Found:
		t.Fatalf("%v where there is no set", c.keys(s))
	case c.best == nil:
		return
	case !s.Found:
		t.Fatalf("nothing where there is %v", c.best.keys)
	}
	c.mustBeSet(t, s)
	if got := c.keys(s); !slices.Equal(got, c.best.keys) {
		t.Fatalf("%v of %+v, want %v of %+v", got, s.Total, c.best.keys, c.best.total())
	}
}

// mustBeSet fails unless s is legal, meets every need, has nothing to give
// back, costs what it says and no less than the set of the slow twin.
func (c *coverCase) mustBeSet(t *rapid.T, s *Selection) {
	t.Helper()
	for i, u := range s.Units {
		if u < 0 || int(u) >= len(c.Units) || i > 0 && u <= s.Units[i-1] {
			t.Fatalf("units %v of %d", s.Units, len(c.Units))
		}
	}
	if !c.slow.legal(s.Units) {
		t.Fatalf("%v passes a bound", c.keys(s))
	}
	if !c.slow.minimal(s.Units) {
		t.Fatalf("%v meets not every need, or not only just", c.keys(s))
	}
	set := c.slow.set(s.Units)
	if !set.equal(&s.Total) {
		t.Fatalf("%v costs %+v, want %+v", set.keys, s.Total, set.total())
	}
	if c.slow.cheaper(set, c.best) {
		t.Fatalf("%v is cheaper than %v", set.keys, c.best.keys)
	}
}

func (c *coverCase) keys(s *Selection) []string { return keysOf(&c.Problem, s) }

// keysOf returns the sorted keys of a selection.
func keysOf(p *Problem, s *Selection) (keys []string) {
	for _, i := range s.Units {
		keys = append(append(keys, p.Units[i].Key), p.Units[i].More...)
	}
	slices.Sort(keys)
	return keys
}
