// SPDX-License-Identifier: Apache-2.0

// Package exact looks for the best plan by questions to solvers.
//
// It asks level by level: is there a plan with no more of the levels before, and less of this
// one? A yes is a better plan, which the next question begins from; a no settles the level. For
// an ask the questions are put for one node after another, for a job for all nodes at once.
// What a solver finds is checked in whole numbers by package rules.
package exact

import (
	"math"
	"slices"
	"time"

	"github.com/go-preempt/preempt/bench/solvers/linear"
	"github.com/go-preempt/preempt/bench/solvers/rules"
)

// A Tally is what it took.
type Tally struct {
	Questions int           // put as programmes in whole numbers
	Relaxed   int           // put without them
	Open      int           // that were not answered
	Took      time.Duration // by the solvers
	Strange   []string      // what a solver said and the rules did not bear out
}

// A unit is a column: one task, or a whole gang.
type unit struct {
	tasks  []int
	whole  int // the gang that goes whole, or rules.NoGang
	kin    int // the gang of a single member, or rules.NoGang
	levels rules.Levels
}

func single(f *rules.Facts, i int) unit {
	u := unit{tasks: []int{i}, whole: rules.NoGang, kin: f.Tasks[i].Gang}
	u.levels = f.LevelsOf(u.tasks)
	return u
}

// unitsOf lists the units of tasks that may go.
func unitsOf(f *rules.Facts, tasks []int) (list []unit) {
	gangs := make(map[int]bool)
	for _, i := range tasks {
		g := f.Tasks[i].Gang
		if g != rules.NoGang {
			surplus := f.Gangs[g].Surplus()
			if members, ok := f.Whole(g); ok && !gangs[g] && len(members) != surplus {
				u := unit{tasks: members, whole: g, kin: rules.NoGang}
				u.levels = f.LevelsOf(members)
				list = append(list, u)
			}
			gangs[g] = true
			if surplus == 0 {
				continue
			}
		}
		list = append(list, single(f, i))
	}
	return list
}

// anything is a level without a bound.
const anything = int64(math.MaxInt64)

// A question is: no more of the levels before the stage than known has, and less of the stage.
// Without a plan known it is whether there is one.
type question struct {
	stage int
	known *rules.Levels // or nil
}

// atMost returns what a plan may have of a level.
func (q question) atMost(level int) int64 {
	switch {
	case q.known == nil || level > q.stage:
		return anything
	case level == q.stage:
		return q.known[level] - 1
	}
	return q.known[level]
}

// settled reports whether no plan can have less of a level.
func settled(level int, l *rules.Levels) bool {
	switch level {
	case rules.OptedOut, rules.Overrun, rules.Originators, rules.Jobs, rules.Own:
		return l[level] == 0
	case rules.Count:
		return l[level] <= 1
	}
	return false
}

// summed reports whether a level is a sum over units: rank and priority are ceilings, and
// overrun is what goes beyond budgets.
func summed(level int) bool {
	return level != rules.Overrun && level != rules.Rank && level != rules.Priority
}

// A sheet is a programme whose first columns are units. Columns of units that may not go are
// -1.
type sheet struct {
	f     *rules.Facts
	p     *linear.Programme
	units []unit
	cols  []int
}

// newSheet adds the columns of units that the ceilings of a question let go. What is made
// small is the sum of the question's stage.
func newSheet(f *rules.Facts, p *linear.Programme, units []unit, q question) *sheet {
	s := &sheet{f, p, units, make([]int, len(units))}
	p.Reset()
	for k := range units {
		l := &units[k].levels
		s.cols[k] = -1
		if l[rules.Rank] > q.atMost(rules.Rank) || l[rules.Priority] > q.atMost(rules.Priority) {
			continue
		}
		cost := 0.0
		if q.stage < rules.NumLevels && summed(q.stage) {
			cost = float64(l[q.stage])
		}
		s.cols[k] = p.Whole(cost, 1)
	}
	return s
}

// sum returns what a unit has of a type in a queue and below it.
func (s *sheet) sum(k, queue, t int) int64 { return s.f.Below(s.units[k].tasks, queue, t) }

// row adds units to a row. It returns their sum.
func (s *sheet) row(row int, of func(k int) int64) (sum int64) {
	for k, col := range s.cols {
		if col >= 0 {
			v := of(k)
			s.p.Set(row, col, float64(v))
			sum += v
		}
	}
	return sum
}

// head adds what queues need of headroom. It reports false if nobody can make it.
func (s *sheet) head() bool {
	for _, h := range s.f.Head {
		for t, v := range h.Need {
			if v > 0 && s.row(s.p.AtLeast(float64(v)), func(k int) int64 { return min(v, s.sum(k, h.Queue, t)) }) < v {
				return false
			}
		}
	}
	return true
}

// law2 adds the rooms of queues.
func (s *sheet) law2() {
	for _, r := range s.f.Rooms {
		s.row(s.p.AtMost(float64(r.Amount)), func(k int) int64 {
			v := s.sum(k, r.Queue, r.Type)
			if v > r.Amount {
				s.p.Forbid(s.cols[k])
			}
			return v
		})
	}
}

// gangs adds that members go one by one as far as they are surplus, or all.
func (s *sheet) gangs() {
	kin, whole := make(map[int][]int), make(map[int]int)
	for k, col := range s.cols {
		if u := &s.units[k]; col >= 0 && u.whole != rules.NoGang {
			whole[u.whole] = col
		} else if col >= 0 && u.kin != rules.NoGang {
			kin[u.kin] = append(kin[u.kin], col)
		}
	}
	for g := range s.f.Gangs {
		surplus := s.f.Gangs[g].Surplus()
		if len(kin[g]) == 0 || surplus >= len(s.f.Gangs[g].Members) {
			continue
		}
		row := s.p.AtMost(float64(surplus))
		w, is := whole[g]
		if is {
			s.p.Set(row, w, float64(surplus))
		}
		for _, col := range kin[g] {
			s.p.Set(row, col, 1)
			if is {
				one := s.p.AtMost(1)
				s.p.Set(one, col, 1)
				s.p.Set(one, w, 1)
			}
		}
	}
}

// budgets adds what budgets have left, and the overrun of soft ones.
func (s *sheet) budgets(q question) {
	over := -1
	for b := range s.f.Budgets {
		left := s.f.Budgets[b].Left
		draws := func(k int) (n int64) {
			for _, i := range s.units[k].tasks {
				if slices.Contains(s.f.Tasks[i].Budgets, b) {
					n++
				}
			}
			return n
		}
		var all int64
		for k, col := range s.cols {
			if col >= 0 {
				all += draws(k)
			}
		}
		soft := !s.f.Budgets[b].Hard
		if all <= left || soft && q.atMost(rules.Overrun) == anything {
			continue
		}
		row := s.p.AtMost(float64(left))
		s.row(row, draws)
		if !soft {
			continue
		}
		cost := 0.0
		if q.stage == rules.Overrun {
			cost = 1
		}
		col := s.p.Column(cost, float64(all))
		s.p.Set(row, col, -1)
		if over < 0 {
			over = s.p.AtMost(float64(q.atMost(rules.Overrun)))
		}
		s.p.Set(over, col, 1)
	}
}

// levels adds what is known of the levels that are sums.
func (s *sheet) levels(q question) {
	for l := range rules.NumLevels {
		if most := q.atMost(l); summed(l) && most != anything {
			s.row(s.p.AtMost(float64(most)), func(k int) int64 { return s.units[k].levels[l] })
		}
	}
}

// read returns the tasks that a solution has go.
func (s *sheet) read(x []float64) (set []int) {
	for k, col := range s.cols {
		if col >= 0 && x[col] > 0.5 {
			set = append(set, s.units[k].tasks...)
		}
	}
	slices.Sort(set)
	return slices.Compact(set)
}
