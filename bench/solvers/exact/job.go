// SPDX-License-Identifier: Apache-2.0

package exact

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/go-preempt/preempt/bench/solvers/linear"
	"github.com/go-preempt/preempt/bench/solvers/rules"
)

// Stages after the levels.
const (
	Work   = rules.NumLevels     // with no more of any level
	Excess = rules.NumLevels + 1 // with no more of any level, nor of work
)

// A Job looks for the least plan for a job. All nodes are in one programme.
type Job struct {
	Job   *rules.Job
	Limit time.Duration // for one question

	// The best plan that is known.
	Found bool
	Best  rules.Placed

	Tally

	programme linear.Programme
	units     []unit
	unitWork  []float64 // of each unit, as a multiple of the least that a task has
	workUnit  float64
}

// places are the columns of members: how many of a class are on a node, and whether any. -1 is
// a node that none can be on.
type places struct {
	many, any [][]int // by class and node
	used      []int   // by node
}

// prepare lists the units that may help.
func (j *Job) prepare() {
	f := j.Job.Facts
	var tasks []int
	for i := range f.Tasks {
		t := &f.Tasks[i]
		if !t.Eligible {
			continue
		}
		helps := f.Helps(i)
		for k := range j.Job.Classes {
			if j.Job.Classes[k].Allowed[t.Node] {
				helps = helps || slices.ContainsFunc(f.Wanted, func(w int) bool { return t.Size[w] > 0 })
			}
		}
		if helps {
			tasks = append(tasks, i)
		}
	}
	j.units = unitsOf(f, tasks)
	// Work in seconds of the task that weighs least.
	j.workUnit = math.Inf(1)
	for i := range f.Tasks {
		if t := &f.Tasks[i]; t.Time > 0 {
			w, _ := new(big.Float).SetInt(t.Work).Float64()
			j.workUnit = min(j.workUnit, w/t.Time.Seconds())
		}
	}
	for k := range j.units {
		j.unitWork = append(j.unitWork, j.workOf(j.units[k].tasks))
	}
}

func (j *Job) workOf(set []int) float64 {
	sum := new(big.Int)
	for _, i := range set {
		sum.Add(sum, j.Job.Facts.Tasks[i].Work)
	}
	w, _ := new(big.Float).SetInt(sum).Float64()
	return w / j.workUnit
}

// Descend looks for the least plan from what is known, level by level, to the last one, until
// the budget is over. It reports whether every answer is certain.
func (j *Job) Descend(last int, budget time.Duration) bool {
	end := time.Now().Add(budget)
	j.prepare()
	if !j.Found {
		if better, sure := j.try(rules.Count); !better {
			return sure
		}
	}
	if len(j.Best.Victims) == 0 {
		return true
	}
	certain := true
	for stage := 0; stage <= last; stage++ {
		if stage < rules.NumLevels && settled(stage, &j.Best.Cost.Levels) || stage == Excess && j.Best.Cost.Excess.Sign() == 0 {
			continue
		}
		if (stage == rules.SumRanks || stage == rules.SumPriorities) && j.alike(stage) {
			continue
		}
		for {
			if time.Now().After(end) {
				return false
			}
			better, sure := j.try(stage)
			if !better {
				certain = certain && sure
				break
			}
		}
	}
	return certain
}

// alike reports whether all units have as much of a sum for each task, so that as many
// victims have the same sum.
func (j *Job) alike(level int) bool {
	of := func(i int) int64 {
		if level == rules.SumRanks {
			return j.Job.Facts.Tasks[i].Rank
		}
		return j.Job.Facts.Tasks[i].Priority
	}
	for k := range j.units {
		for _, i := range j.units[k].tasks {
			if of(i) != of(j.units[0].tasks[0]) {
				return false
			}
		}
	}
	return true
}

// try asks one question, and takes a better plan. It reports whether the answer is certain.
func (j *Job) try(stage int) (better, sure bool) {
	s, at := j.pose(stage)
	if s == nil {
		return false, true
	}
	answer := j.programme.CBC(j.Limit)
	j.Questions++
	j.Took += answer.Took
	switch answer.Answer {
	case linear.Infeasible:
		return false, true
	case linear.Open:
		j.Open++
		return false, false
	}
	if stage == Excess && answer.Answer == linear.Optimal {
		if have, _ := j.Best.Cost.Excess.Float64(); answer.Value/shareCost > have*(1-1e-7) {
			return false, true
		}
	}
	p := rules.Placed{Victims: s.read(answer.X)}
	for k := range at.many {
		row := make([]int, len(at.many[k]))
		for n, col := range at.many[k] {
			if col >= 0 {
				row[n] = int(answer.X[col] + 0.5)
			}
		}
		p.At = append(p.At, row)
	}
	if why := j.Job.Broken(&p); why != "" {
		j.strange("stage %s: the plan is unlawful: %s", rules.LevelNames[stage], why)
		return false, false
	}
	j.Job.Price(&p)
	if j.Found && j.compare(&p, stage) >= 0 {
		j.strange("stage %s: the plan is no better: %v", rules.LevelNames[stage], p.Cost.Levels)
		return false, false
	}
	j.Best, j.Found = p, true
	return true, answer.Answer == linear.Optimal
}

// compare compares a plan with the best, down to a stage.
func (j *Job) compare(p *rules.Placed, stage int) int {
	c := p.Cost.Levels.Compare(&j.Best.Cost.Levels)
	if stage >= Work {
		c = cmp.Or(c, p.Cost.Work.Cmp(j.Best.Cost.Work))
	}
	if stage >= Excess {
		c = cmp.Or(c, p.Cost.Excess.Cmp(j.Best.Cost.Excess))
	}
	return c
}

// pose makes the programme of a question. It returns nil if the answer is no.
func (j *Job) pose(stage int) (*sheet, *places) {
	q := question{stage: stage}
	if j.Found {
		q.known = &j.Best.Cost.Levels
	}
	s := newSheet(j.Job.Facts, &j.programme, j.units, q)
	at := j.place()
	j.room(s, at)
	if !j.domain(at) || !s.head() {
		return nil, nil
	}
	s.law2()
	s.gangs()
	s.budgets(q)
	s.levels(q)
	if stage >= Work {
		j.work(s, stage)
	}
	if stage == Excess {
		j.excess(s, at)
	}
	return s, at
}

// place adds the columns of members: all of each class are somewhere.
func (j *Job) place() *places {
	f, p := j.Job.Facts, &j.programme
	at := &places{used: make([]int, len(f.Free))}
	for n := range at.used {
		at.used[n] = -1
	}
	for k := range j.Job.Classes {
		c := &j.Job.Classes[k]
		many, any := make([]int, len(f.Free)), make([]int, len(f.Free))
		all := p.Row(float64(c.Count), float64(c.Count))
		for n := range f.Free {
			many[n], any[n] = -1, -1
			most := j.holds(c, n)
			if most == 0 {
				continue
			}
			many[n] = p.Whole(0, float64(most))
			any[n] = many[n]
			p.Set(all, many[n], 1)
			if most > 1 {
				any[n] = p.Whole(0, 1)
				row := p.AtMost(0) // many ≤ most · any
				p.Set(row, many[n], 1)
				p.Set(row, any[n], -float64(most))
				row = p.AtMost(0) // any ≤ many
				p.Set(row, any[n], 1)
				p.Set(row, many[n], -1)
			}
			if len(j.Job.Classes) == 1 {
				at.used[n] = any[n]
				continue
			}
			if at.used[n] < 0 {
				at.used[n] = p.Whole(0, 1)
			}
			row := p.AtMost(0)
			p.Set(row, any[n], 1)
			p.Set(row, at.used[n], -1)
		}
		at.many, at.any = append(at.many, many), append(at.any, any)
	}
	return at
}

// holds is how many of a class a node holds at most, with all gone that may.
func (j *Job) holds(c *rules.Class, n int) int {
	f := j.Job.Facts
	if !c.Allowed[n] || j.Job.Domains != nil && j.Job.Domains[n] == "" {
		return 0
	}
	most := c.Count
	for t, v := range c.Size {
		if v <= 0 {
			continue
		}
		room := f.Free[n][t]
		for _, i := range f.On[n] {
			if f.Tasks[i].Eligible {
				room += f.Tasks[i].Size[t]
			}
		}
		most = min(most, int(max(room, 0)/v))
	}
	return most
}

// given is what a unit gives on a node.
type given struct {
	col    int
	amount []int64
}

// giving lists by node what units give there.
func (j *Job) giving(s *sheet) [][]given {
	f := j.Job.Facts
	list := make([][]given, len(f.Free))
	for k, col := range s.cols {
		if col < 0 {
			continue
		}
		for _, i := range j.units[k].tasks {
			n := f.Tasks[i].Node
			if l := len(list[n]); l == 0 || list[n][l-1].col != col {
				list[n] = append(list[n], given{col, make([]int64, f.Types)})
			}
			for t, v := range f.Tasks[i].Size {
				list[n][len(list[n])-1].amount[t] += v
			}
		}
	}
	return list
}

// room adds that members have room on their nodes. For one member alone what goes is cut to
// what it lacks, which makes the relaxation tighter.
func (j *Job) room(s *sheet, at *places) {
	f, p := j.Job.Facts, &j.programme
	gives := j.giving(s)
	for n := range f.Free {
		if at.used[n] < 0 {
			continue
		}
		for _, t := range f.Wanted {
			free := f.Free[n][t]
			row := p.AtMost(0) // members - free · used ≤ what goes
			for k := range j.Job.Classes {
				col, size := at.many[k][n], j.Job.Classes[k].Size[t]
				if col < 0 {
					continue
				}
				if col == at.used[n] {
					size -= free
				}
				p.Set(row, col, float64(size))
			}
			if at.used[n] != at.many[0][n] {
				p.Set(row, at.used[n], -float64(free))
			}
			for _, g := range gives[n] {
				p.Set(row, g.col, -float64(g.amount[t]))
			}
			for k := range j.Job.Classes {
				lack := j.Job.Classes[k].Size[t] - free
				if at.many[k][n] < 0 || lack <= 0 || j.Job.Classes[k].Size[t] == 0 {
					continue
				}
				row := p.AtMost(0)
				p.Set(row, at.any[k][n], float64(lack))
				for _, g := range gives[n] {
					p.Set(row, g.col, -float64(min(g.amount[t], lack)))
				}
			}
		}
	}
}

// domain adds that all members are in one. It reports false if there is none.
func (j *Job) domain(at *places) bool {
	if j.Job.Domains == nil {
		return true
	}
	p := &j.programme
	cols := make(map[string]int)
	one := p.Row(1, 1)
	for n, d := range j.Job.Domains {
		if d == "" || at.used[n] < 0 {
			continue
		}
		col, ok := cols[d]
		if !ok {
			col = p.Whole(0, 1)
			cols[d] = col
			p.Set(one, col, 1)
		}
		row := p.AtMost(0)
		p.Set(row, at.used[n], 1)
		p.Set(row, col, -1)
	}
	return len(cols) > 0
}

// work adds that less is lost than with the best plan, or no more.
func (j *Job) work(s *sheet, stage int) {
	p := &j.programme
	most := j.workOf(j.Best.Victims)
	if stage == Work {
		most -= 0.5 // half a second
	} else {
		most += 1e-6
	}
	row := p.AtMost(most)
	for k, col := range s.cols {
		if col >= 0 {
			p.Set(row, col, j.unitWork[k])
			if stage == Work {
				p.SetCost(col, j.unitWork[k])
			}
		}
	}
}

// shareCost is what all of a capacity costs: solvers take little for nothing.
const shareCost = 1e6

// excess adds the largest share freed beyond need as a column, which is made small.
func (j *Job) excess(s *sheet, at *places) {
	f, p := j.Job.Facts, &j.programme
	have, _ := j.Best.Cost.Excess.Float64()
	share := p.Column(shareCost, have)
	for t := range f.Types {
		row := p.AtMost(0) // freed - need ≤ share · capacity
		s.row(row, func(k int) (sum int64) {
			for _, i := range j.units[k].tasks {
				sum += f.Tasks[i].Size[t]
			}
			return sum
		})
		p.Set(row, share, -float64(max(1, f.Capacity[t])))
		if slices.Contains(f.Wanted, t) {
			j.need(row, t, at)
		}
	}
}

// need takes what is needed of a type off a row: what nodes need, or headroom.
func (j *Job) need(row, t int, at *places) {
	f, p := j.Job.Facts, &j.programme
	var head, top int64
	for _, h := range f.Head {
		head = max(head, h.Need[t])
	}
	for n := range f.Free {
		top += j.most(n, t)
	}
	need := p.Column(0, float64(max(top, head)))
	p.Set(row, need, -1)
	sum := p.AtMost(0) // need ≤ Σ of nodes, or ≤ headroom
	p.Set(sum, need, 1)
	if head > 0 {
		by := p.Whole(0, 1)
		big := float64(max(top, head))
		p.Set(sum, by, -big)
		r := p.AtMost(float64(head) + big)
		p.Set(r, need, 1)
		p.Set(r, by, big)
	}
	for n := range f.Free {
		if at.used[n] < 0 {
			continue
		}
		free, most := max(0, f.Free[n][t]), float64(j.most(n, t))
		v := p.Column(0, most)
		p.Set(sum, v, -1)
		yes := p.Whole(0, 1)
		r := p.AtMost(0) // v ≤ most · yes
		p.Set(r, v, 1)
		p.Set(r, yes, -most)
		r = p.AtMost(float64(free - f.Free[n][t])) // v ≤ members - free, if yes
		p.Set(r, v, 1)
		p.Set(r, yes, float64(free))
		for k := range j.Job.Classes {
			if col := at.many[k][n]; col >= 0 {
				p.Set(r, col, -float64(j.Job.Classes[k].Size[t]))
			}
		}
	}
}

// most is what a node has of a type, with all gone.
func (j *Job) most(n, t int) int64 {
	f := j.Job.Facts
	sum := max(0, f.Free[n][t])
	for _, i := range f.On[n] {
		sum += f.Tasks[i].Size[t]
	}
	return sum
}
