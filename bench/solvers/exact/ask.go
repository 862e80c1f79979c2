// SPDX-License-Identifier: Apache-2.0

package exact

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/go-preempt/preempt/bench/solvers/linear"
	"github.com/go-preempt/preempt/bench/solvers/rules"
)

// quick is how long GLPK has for a question before CBC is asked.
const quick = 2 * time.Second

// An Ask looks for the least levels of a plan for an ask.
type Ask struct {
	Facts *rules.Facts
	Limit time.Duration // for one question

	// The best plan that is known.
	Found  bool
	Node   int
	Set    []int
	Levels rules.Levels

	Tally

	programme linear.Programme
	front     []int // tasks elsewhere that a plan may need
	frontFor  int64 // with fewer victims than that
}

// known is the levels of the best plan, if there is one.
func (a *Ask) known() *rules.Levels {
	if !a.Found {
		return nil
	}
	return &a.Levels
}

// Descend looks for the least levels, until the budget is over. It reports whether it came to
// the end.
func (a *Ask) Descend(budget time.Duration) bool {
	end := time.Now().Add(budget)
	a.frontFor = -1
	for n := range a.Facts.Free {
		if !a.Found && a.Facts.Open[n] {
			if time.Now().After(end) {
				return false
			}
			a.try(n, rules.Count)
		}
	}
	for stage := range rules.NumLevels {
		for n := range a.Facts.Free {
			for a.Found && a.Facts.Open[n] && !settled(stage, &a.Levels) {
				if time.Now().After(end) {
					return false
				}
				if !a.try(n, stage) {
					break
				}
			}
		}
	}
	return true
}

// try asks whether a node has a better plan at a stage, and takes it.
func (a *Ask) try(n, stage int) bool {
	local := a.tasks(n, nil)
	if len(a.Facts.Head) > 0 {
		// Without headroom, and without who only makes that, it is a relaxation: but for sums
		// of ranks and priorities, which are less with more victims.
		if stage <= rules.Count && (a.pose(n, stage, local, false) == nil || a.relax().Answer == linear.Infeasible) {
			return false
		}
		most := anything
		if a.Found && stage >= rules.Count {
			most = a.Levels[rules.Count]
		}
		local = a.tasks(n, a.elsewhere(most))
	}
	s := a.pose(n, stage, local, true)
	if s == nil {
		return false
	}
	var set []int
	if empty, met := a.programme.Empty(); !empty {
		if a.relax().Answer == linear.Infeasible {
			return false
		}
		x := a.solve()
		if x == nil {
			return false
		}
		set = s.read(x)
	} else if !met {
		return false
	}
	if why := a.Facts.Broken(n, set); why != "" {
		a.strange("node %d, %s: the set is unlawful: %s", n, rules.LevelNames[stage], why)
		return false
	}
	l := a.Facts.LevelsOf(set)
	if a.Found && l.Compare(&a.Levels) >= 0 {
		a.strange("node %d, %s: the set is no better: %v", n, rules.LevelNames[stage], l)
		return false
	}
	a.Found, a.Node, a.Set, a.Levels = true, n, set, l
	return true
}

func (t *Tally) strange(format string, args ...any) {
	t.Open++
	t.Strange = append(t.Strange, fmt.Sprintf(format, args...))
}

func (a *Ask) relax() linear.Solution {
	s := a.programme.Relax()
	a.Relaxed++
	a.Took += s.Took
	return s
}

// solve returns the columns of a solution, or nil.
func (a *Ask) solve() []float64 {
	a.Questions++
	s := a.programme.GLPK(min(quick, a.Limit))
	a.Took += s.Took
	if s.Answer == linear.Open {
		s = a.programme.CBC(a.Limit)
		a.Took += s.Took
	}
	if s.Answer == linear.Open {
		a.Open++
	}
	return s.X
}

// tasks lists who may go and helps on a node, and of others who makes headroom.
func (a *Ask) tasks(n int, others []int) (list []int) {
	f := a.Facts
	need := f.Lack(n)
	for _, i := range f.On[n] {
		helps := f.Helps(i) || slices.Contains(f.Blockers[n], i)
		for t, v := range need {
			helps = helps || v > 0 && f.Tasks[i].Size[t] > 0
		}
		if helps && f.Tasks[i].Eligible {
			list = append(list, i)
		}
	}
	for _, i := range others {
		if f.Tasks[i].Node != n {
			list = append(list, i)
		}
	}
	return list
}

// pose makes the programme of a question about a node. It returns nil if the answer is no.
func (a *Ask) pose(n, stage int, tasks []int, head bool) *sheet {
	f, p := a.Facts, &a.programme
	q := question{stage, a.known()}
	s := newSheet(f, p, unitsOf(f, tasks), q)
	for t, v := range f.Lack(n) {
		if v <= 0 {
			continue
		}
		sum := s.row(p.AtLeast(float64(v)), func(k int) (on int64) {
			for _, i := range s.units[k].tasks {
				if f.Tasks[i].Node == n {
					on += f.Tasks[i].Size[t]
				}
			}
			return min(on, v)
		})
		if sum < v {
			return nil
		}
	}
	if head && !s.head() {
		return nil
	}
	for _, b := range f.Blockers[n] {
		sum := s.row(p.AtLeast(1), func(k int) int64 {
			if slices.Contains(s.units[k].tasks, b) {
				return 1
			}
			return 0
		})
		if sum == 0 {
			return nil
		}
	}
	s.law2()
	s.gangs()
	s.budgets(q)
	s.levels(q)
	return s
}

// elsewhere lists tasks that make headroom and that a plan with at most so many victims may
// need: if nothing but amounts and levels tells tasks apart, those that have fewer others
// which are no dearer and make no less.
func (a *Ask) elsewhere(most int64) []int {
	f := a.Facts
	if a.frontFor == most {
		return a.front
	}
	type candidate struct {
		task, queues int
		gives        []int64
		share        float64
	}
	var all []candidate
	for i := range f.Tasks {
		if !f.Tasks[i].Eligible || !f.Helps(i) {
			continue
		}
		c := candidate{task: i}
		for _, h := range f.Head { // from the leaf up: inside the deepest is inside all
			if f.In(i, h.Queue) {
				c.queues++
			}
		}
		for _, t := range f.Wanted {
			var need int64
			for _, h := range f.Head {
				need = max(need, h.Need[t])
			}
			v := min(f.Tasks[i].Size[t], need)
			c.gives = append(c.gives, v)
			if need > 0 {
				c.share += float64(v) / float64(need)
			}
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.queues, a.queues), cmp.Compare(b.share, a.share), cmp.Compare(a.task, b.task))
	})
	plain := len(f.Rooms) == 0 && len(f.Budgets) == 0 && len(f.Gangs) == 0
	noDearer := func(x, y *rules.Task) bool {
		return (!x.OptedOut || y.OptedOut) && (!x.Originator || y.Originator) && x.Rank <= y.Rank && x.Priority <= y.Priority && x.Own <= y.Own
	}
	a.front, a.frontFor = nil, most
	var kept []candidate
	for _, c := range all {
		var above int64
		for k := 0; plain && k < len(kept) && above < most; k++ {
			d := &kept[k]
			if d.queues >= c.queues && noDearer(&f.Tasks[d.task], &f.Tasks[c.task]) &&
				!slices.ContainsFunc(indices(c.gives), func(t int) bool { return d.gives[t] < c.gives[t] }) {
				above++
			}
		}
		if above < most {
			kept = append(kept, c)
			a.front = append(a.front, c.task)
		}
	}
	return a.front
}

func indices[T any](list []T) []int {
	all := make([]int, len(list))
	for i := range all {
		all[i] = i
	}
	return all
}
