// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/go-preempt/preempt/victims"
)

// The levels of a cost from (a) to (f2), in their order: DESIGN.md, Cost.
const (
	OptedOut = iota
	Overrun
	Originators
	Rank
	Priority
	Jobs
	Own
	Count
	SumRanks
	SumPriorities
	NumLevels
)

// LevelNames are the words of the levels, and of work and excess after them.
var LevelNames = [NumLevels + 2]string{"opted", "overrun", "originators", "rank", "priority", "jobs", "own", "victims", "sum-ranks", "sum-priorities", "work", "excess"}

// Levels are the values of the levels.
type Levels [NumLevels]int64

// Compare compares the levels in their order.
func (l *Levels) Compare(m *Levels) int { return slices.Compare(l[:], m[:]) }

// A Cost is what victims cost, down to (h).
type Cost struct {
	Levels Levels
	Work   *big.Int // (g)
	Excess *big.Rat // (h)

	Time time.Duration // Work without weights; it is not compared
}

// Compare compares level by level, then by work and then by excess.
func (c *Cost) Compare(d *Cost) int {
	return cmp.Or(c.Levels.Compare(&d.Levels), c.Work.Cmp(d.Work), c.Excess.Cmp(d.Excess))
}

// Hours is the plain time lost.
func (c *Cost) Hours() float64 { return c.Time.Hours() }

// LevelsOf returns the levels of a set of victims.
func (f *Facts) LevelsOf(set []int) (l Levels) {
	gangs, budgets := make(map[int]int), make(map[int]int64)
	for k, i := range set {
		t := &f.Tasks[i]
		if t.OptedOut {
			l[OptedOut]++
		}
		if t.Originator {
			l[Originators]++
		}
		if k == 0 || t.Rank > l[Rank] {
			l[Rank] = t.Rank
		}
		if k == 0 || t.Priority > l[Priority] {
			l[Priority] = t.Priority
		}
		l[Own] += t.Own
		l[Count]++
		l[SumRanks] += t.Rank
		l[SumPriorities] += t.Priority
		if t.Gang != NoGang {
			gangs[t.Gang]++
		}
		for _, b := range t.Budgets {
			budgets[b]++
		}
	}
	for g, n := range gangs {
		if len(f.Gangs[g].Members)-n < f.Gangs[g].Minimum {
			l[Jobs]++
		}
	}
	for b, n := range budgets {
		if !f.Budgets[b].Hard {
			l[Overrun] += max(0, n-f.Budgets[b].Left)
		}
	}
	return l
}

// costOf returns what victims cost whose need on nodes is known.
func (f *Facts) costOf(set []int, need []int64) Cost {
	c := Cost{Levels: f.LevelsOf(set), Work: new(big.Int), Excess: new(big.Rat)}
	for _, h := range f.Head {
		for t, v := range h.Need {
			need[t] = max(need[t], v)
		}
	}
	for t := range f.Types {
		freed := -need[t]
		for _, i := range set {
			freed += f.Tasks[i].Size[t]
		}
		if e := big.NewRat(max(0, freed), max(1, f.Capacity[t])); e.Cmp(c.Excess) > 0 {
			c.Excess = e
		}
	}
	for _, i := range set {
		c.Work.Add(c.Work, f.Tasks[i].Work)
		c.Time += f.Tasks[i].Time
	}
	return c
}

// CostOf returns what victims cost for an ask on a node.
func (f *Facts) CostOf(node int, set []int) Cost { return f.costOf(set, f.Lack(node)) }

// Differs says where the cost that a planner tells differs from c, or "".
func (c *Cost) Differs(k *victims.Cost) string {
	if k.Victims == 0 && c.Levels[Count] == 0 {
		return "" // no victim has a rank
	}
	l := Levels{int64(k.OptedOut), k.Overrun, int64(k.Originators), k.MaxRank, k.MaxPriority, int64(k.Jobs), c.Levels[Own], int64(k.Victims), k.SumRanks, k.SumPriorities}
	switch {
	case l != c.Levels:
		return fmt.Sprintf("levels %v, the planner says %v", c.Levels, l)
	case k.Own.String() != fmt.Sprint(c.Levels[Own]):
		return fmt.Sprintf("own cost %v, the planner says %v", c.Levels[Own], k.Own)
	case k.Work.String() != c.Work.String():
		return fmt.Sprintf("work %v, the planner says %v", c.Work, k.Work)
	case c.Excess.Cmp(big.NewRat(max(0, k.Excess.Amount), max(1, k.Excess.Of))) != 0:
		return fmt.Sprintf("excess %v, the planner says %v", c.Excess, k.Excess)
	}
	return ""
}

// Find returns the positions of tasks by their rows, in order.
func (f *Facts) Find(list []victims.Victim) (set []int, err error) {
	for _, v := range list {
		i := slices.IndexFunc(f.Tasks, func(t Task) bool { return t.ID == v.Task })
		if i < 0 {
			return nil, fmt.Errorf("rules: victim %s: no such task", v.Key)
		}
		set = append(set, i)
	}
	slices.Sort(set)
	return set, nil
}

// Victims are tasks as plans name them, sorted by key.
func (f *Facts) Victims(c *victims.Cluster, set []int) (list []victims.Victim) {
	for _, i := range set {
		id := f.Tasks[i].ID
		list = append(list, victims.Victim{Task: id, Key: c.Key(id)})
	}
	slices.SortFunc(list, func(a, b victims.Victim) int { return cmp.Compare(a.Key, b.Key) })
	return list
}
