package quota

import (
	"math/bits"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// The levels of the cost of a set of tasks: fewest originators, then least
// highest priority, fewest opted-out, fewest tasks, least sum of priorities,
// least freed beyond the target, least work lost, keys. The first two are 0
// but for ClosestMatch. (DESIGN.md, Quota: leaf.)
const (
	levelInexact = iota
	levelOthers
	levelOriginators
	levelPriority
	levelOptedOut
	levelTasks
	levelSumPriorities
)

// costOrder is how they combine.
var costOrder = cover.Order{Max: 1 << levelPriority, Count: levelTasks}

// addTask adds a task that may go alone.
func (f *finder) addTask(i int32, chain []int32) {
	u := f.unit(i)
	u.Bounds = chain
	t, k := &f.tasks[i], &f.poser
	if from := len(k.parts); t.gang != noGang || len(f.budgets.of(i)) > 0 {
		k.parts = append(k.parts, cover.Part{Size: u.Size, Needs: u.Needs, Bounds: chain})
		if t.gang != noGang {
			g := &f.gangs.rows[t.gang]
			k.part(1, k.boundCount(&k.ofGang[t.gang], int64(g.spare-g.single)))
		}
		f.addUses(i)
		u.Parts = k.parts[from:len(k.parts):len(k.parts)]
	}
	f.problem.Units = append(f.problem.Units, u)
	k.rowOf = append(k.rowOf, i)
}

// addGang adds the rest of a gang as one unit. It takes all that the members may
// have that go one by one, so that it is chosen without any of them: as all
// others are lifted, the rest is all of it.
func (f *finder) addGang(gang int32, chain []int32) {
	k, g := &f.poser, &f.gangs.rows[gang]
	u := f.unit(g.first)
	k.counts = append(k.counts, u.Size...)
	u.Size = k.counts[len(k.counts)-f.types : len(k.counts) : len(k.counts)]
	n := 1
	for i := f.gangs.next[g.first]; i != noTask; i = f.gangs.next[i] {
		m := f.unit(i)
		u.Levels = costOrder.Join(&u.Levels, n, &m.Levels)
		if n++; m.Key < u.Key {
			u.Key = m.Key // the unit goes by the first of its keys
		}
		u.Size = resources.Add(u.Size, u.Size, m.Size)
		sum, carry := bits.Add64(u.Work, m.Work, 0)
		u.Work = sum | -carry // at most all that there is
	}
	from := len(k.parts)
	k.parts = append(k.parts, cover.Part{Size: u.Size, Needs: onlyOne, Bounds: chain})
	if alone := int64(g.spare - g.single); alone > 0 {
		k.part(alone, k.boundCount(&k.ofGang[gang], alone))
	}
	f.addAllUses(g)
	u.Parts = k.parts[from:len(k.parts):len(k.parts)]
	f.problem.Units = append(f.problem.Units, u)
	k.rowOf = append(k.rowOf, ^gang)
}

// addUses adds a part for each hard budget of a task.
func (f *finder) addUses(i int32) {
	k := &f.poser
	for _, row := range f.budgets.of(i) {
		if b := &f.budgets.rows[row]; b.hard {
			k.part(1, k.boundCount(&k.ofBudget[row], b.left-b.used))
		}
	}
}

// addAllUses adds a part for each hard budget of the members of a gang.
func (f *finder) addAllUses(g *gangRow) {
	k := &f.poser
	k.named = rows.Zeros(k.named, len(f.budgets.rows))
	for i := g.first; i != noTask; i = f.gangs.next[i] {
		for _, b := range f.budgets.of(i) {
			k.named[b]++
		}
	}
	for b, n := range k.named {
		if r := &f.budgets.rows[b]; r.hard && n > 0 {
			k.part(n, k.boundCount(&k.ofBudget[b], r.left-r.used))
		}
	}
}

// part adds a part that takes a number of a bound.
func (k *poser) part(n int64, bound int32) {
	k.counts = append(k.counts, n)
	k.lists = append(k.lists, bound)
	k.parts = append(k.parts, cover.Part{
		Size:   k.counts[len(k.counts)-1 : len(k.counts) : len(k.counts)],
		Bounds: k.lists[len(k.lists)-1 : len(k.lists) : len(k.lists)],
	})
}

// unit makes a unit of a task.
func (f *finder) unit(i int32) cover.Unit {
	c, size := &f.tasks[i], f.size(i)
	t := f.c.TaskView(c.id)
	u := cover.Unit{Key: t.Key, Size: size, Needs: onlyOne, Work: t.Lost(f.now)}
	u.Levels[levelPriority] = int64(t.Priority)
	u.Levels[levelTasks] = 1
	u.Levels[levelSumPriorities] = int64(t.Priority)
	if t.Originator {
		u.Levels[levelOriginators] = 1
	}
	if t.OptedOut {
		u.Levels[levelOptedOut] = 1
	}
	if f.e.Order == ClosestMatch {
		exact, others := f.match(size)
		if u.Levels[levelOthers] = int64(others); !exact {
			u.Levels[levelInexact] = 1
		}
	}
	return u
}
