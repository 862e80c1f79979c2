package victims

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// unitsOf is a bounder of units that a node has, each with what it gives, and of an ask
// that lacks all that it wants.
func unitsOf(lacks vec, units []cover.Levels, gives []vec) unitBounder {
	d := &decision{c: &Cluster{}, size: lacks}
	d.c.types = len(lacks)
	for t := range lacks {
		d.types = append(d.types, t)
	}
	d.problem.mix.reset(d)
	x := &d.problem.units
	for i, levels := range units {
		x.units, x.useful = append(x.units, levels), append(x.useful, int32(i))
		x.kin, x.amounts = append(x.kin, unitKin{}), append(x.amounts, gives[i]...)
	}
	return unitBounder{bounder{d}}
}

// stops is what a gang of so many members costs, alone what a task by itself does.
func stops(members int64) cover.Levels { return cover.Levels{LevelJobs: 1, LevelVictims: members} }
func alone() cover.Levels              { return cover.Levels{LevelVictims: 1} }

// 10 are lacking. Three gangs of four members give 4 each, and one task that goes alone
// gives 3: two of them stop, for with the task they give 11. So no set has fewer than
// two jobs and nine victims.
func TestUnits_JobsAreThoseThatTasksAloneLeaveOpen(t *testing.T) {
	d := unitsOf(vec{10}, []cover.Levels{stops(4), alone(), stops(4), stops(4)}, []vec{{4}, {3}, {4}, {4}})
	x := &d.problem.units
	x.goal = cover.Levels{LevelJobs: 3, LevelVictims: 12}
	require.True(t, d.arrange(&d.problem.mix, vec{10}))
	require.Equal(t, cover.Levels{LevelJobs: 2, LevelVictims: 9}, x.low)
	require.True(t, d.anyLess(vec{10}, 100))
	require.Len(t, x.set, 3)

	x.goal = cover.Levels{LevelJobs: 2, LevelVictims: 9}
	require.False(t, d.arrange(&d.problem.mix, vec{10}), "two jobs and nine victims are no less than that")
}

// Units that alone fill up what the best plan has of an earlier level are left out, and
// without them more of the others are needed.
func TestUnits_ThoseThatAreTooMuchAreLeftOut(t *testing.T) {
	overruns := stops(2)
	overruns[LevelOverrun] = 2
	large := overruns
	large[LevelOriginators] = 1
	d := unitsOf(vec{6}, []cover.Levels{overruns, overruns, overruns, large}, []vec{{2}, {2}, {2}, {4}})
	x := &d.problem.units
	// Two units overrun by 4 at least, and then none of them may be an originator.
	x.goal = cover.Levels{LevelOverrun: 4, LevelJobs: 2, LevelVictims: 4}
	require.False(t, d.arrange(&d.problem.mix, vec{6}))
	x.goal[LevelOverrun] = 5
	require.True(t, d.arrange(&d.problem.mix, vec{6}))
}

// A gang of three gives 3, and two of its members here give 2 each. If it can spare one,
// there is no set that gives 4: the gang goes whole, or one member alone. If it can spare
// two, those two go.
func TestUnits_AGangIsNotTakenTwice(t *testing.T) {
	d := unitsOf(vec{4}, []cover.Levels{stops(3), alone(), alone()}, []vec{{3}, {2}, {2}})
	x := &d.problem.units
	x.goal = cover.Levels{LevelJobs: 2, LevelVictims: 9}
	for surplus, want := range map[int64]bool{1: false, 2: true} {
		for i := range x.kin {
			x.kin[i] = unitKin{job: 7, surplus: surplus}
		}
		require.True(t, d.arrange(&d.problem.mix, vec{4}))
		require.Equal(t, want, d.anyLess(vec{4}, 100), "it can spare %d", surplus)
	}
}

// A budget has one left. Of three tasks in it the first overruns nothing, and each of the
// others by one.
func TestUnits_OverrunOfAGang(t *testing.T) {
	schema, err := resources.NewSchema("gpu")
	require.NoError(t, err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{{Name: "a"}}}, queue.Strict)
	require.NoError(t, err)
	leaf, _ := tree.Lookup("root.a")
	c := NewCluster(tree)
	node, err := c.AddNode(&Node{Name: "n", Capacity: vec{9}})
	require.NoError(t, err)
	require.NoError(t, c.SetBudget("b", Budget{Left: 1}))
	d := unitBounder{bounder{&decision{c: c}}}
	for i, want := range []int64{0, 1, 1} {
		id, err := c.AddTask(&Task{Key: string(rune('x' + i)), Queue: leaf, Node: node, Size: vec{1}, Budgets: []string{"b"}})
		require.NoError(t, err)
		require.Equal(t, want, d.overrunOf(id))
	}
}

// Whatever units there are: bounds leave out no set that is less than the goal, and a
// search finds one if and only if there is one.
func TestUnits_AgainstAllSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		types := rapid.IntRange(1, 3).Draw(t, "types")
		amounts := rapid.SliceOfN(rapid.Int64Range(0, 6), types, types)
		lacks := vec(amounts.Draw(t, "lacks"))
		lacks[0]++
		n := rapid.IntRange(1, 7).Draw(t, "units")
		var units []cover.Levels
		var gives []vec
		for range n {
			units, gives = append(units, drawLevelsOfUnit(t)), append(gives, amounts.Draw(t, "gives"))
		}
		d := unitsOf(lacks, units, gives)
		x := &d.problem.units
		for i := range x.kin {
			if job := rapid.Int32Range(-2, 2).Draw(t, "job"); job > 0 {
				x.kin[i] = unitKin{job, 1}
			}
		}
		x.goal = drawLevelsOfUnit(t)
		x.goal[LevelJobs], x.goal[LevelVictims] = rapid.Int64Range(0, 4).Draw(t, "jobs"), rapid.Int64Range(1, 12).Draw(t, "victims")
		want := x.someLess(lacks)
		if !d.arrange(&d.problem.mix, lacks) {
			require.False(t, want, "a set was left out")
			return
		}
		require.Equal(t, want, d.anyLess(lacks, 1<<20))
		if want {
			require.True(t, x.isSet(lacks, x.set), "the set that was found is one")
		}
		if d.learn(lacks) {
			require.False(t, want, "weights tell of a set that there is none")
		}
	})
}

// drawLevelsOfUnit draws what a unit costs.
func drawLevelsOfUnit(t *rapid.T) (l cover.Levels) {
	few := rapid.Int64Range(0, 2)
	for _, level := range []Level{LevelOptedOut, LevelOverrun, LevelOriginators, LevelRank, LevelPriority, LevelJobs, LevelOwn, LevelVictims} {
		l[level] = few.Draw(t, level.String())
	}
	l[LevelJobs], l[LevelVictims] = min(l[LevelJobs], 1), l[LevelVictims]+1
	if l[LevelJobs] == 0 {
		l[LevelVictims] = 1
	}
	l[LevelSumRanks], l[LevelSumPriorities] = l[LevelRank], l[LevelPriority]
	return l
}

// someLess reports whether some set of all units that there are is less than the goal
// and gives what is lacking.
func (x *unitBounds) someLess(lacks vec) bool {
	for set := range 1 << len(x.units) {
		var units []int32
		for i := range x.units {
			if set>>i&1 > 0 {
				units = append(units, int32(i))
			}
		}
		if len(units) > 0 && x.isSet(lacks, units) {
			return true
		}
	}
	return false
}

// isSet reports whether units may go together, give what is lacking and are less than
// the goal.
func (x *unitBounds) isSet(lacks vec, units []int32) bool {
	var sum cover.Levels
	rem := append(vec(nil), lacks...)
	for k, i := range units {
		for l, v := range x.units[i] {
			if l == int(LevelRank) || l == int(LevelPriority) {
				sum[l] = max(sum[l], v)
			} else {
				sum[l] += v
			}
		}
		resources.Sub(rem, rem, rows.At(x.amounts, int(i), len(lacks)))
		for _, j := range units[:k] {
			if x.kin[i].job != 0 && x.kin[i].job == x.kin[j].job {
				return false // one member can be spared, and then the gang does not go
			}
		}
	}
	for _, v := range rem {
		if v > 0 {
			return false
		}
	}
	return x.isLess(&sum)
}

// Of a node with few lanes it is told whether so many tasks are enough.
func TestTasksGive_AgainstAllSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawLanes(t)
		most := rapid.Int64Range(0, 6).Draw(t, "most")
		d := unitBounder{bounder{x.d}}
		d.weigh(&x.d.problem.mix, x.in, lackOfAll{x.lacks, most})
		give := d.tasksGive(x.in, lackOfAll{x.lacks, most}, mostLaneSteps)
		if x.d.problem.units.lanes.steps >= 0 {
			require.Equal(t, max(x.fewest(), 0) <= most, give)
		} else {
			require.True(t, give, "nobody knows")
		}
	})
}
