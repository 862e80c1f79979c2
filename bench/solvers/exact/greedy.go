// SPDX-License-Identifier: Apache-2.0

package exact

import (
	"cmp"
	"slices"
	"time"

	"github.com/go-preempt/preempt/bench/solvers/rules"
)

// Greedy returns the plan that a good programmer would write in an afternoon, if it finds one:
// the largest member first, each on the node where the fewest victims make room for it, then
// where the least time is lost. On a node those of the lowest priority go first, and of these
// the youngest. What turns out to be needless is given back. It knows gangs, guarantees and
// budgets, and tries each domain. With byPriority the highest priority counts before the number.
func Greedy(j *rules.Job, byPriority bool) (best rules.Placed, ok bool) {
	domains := []string{""}
	if j.Domains != nil {
		domains = slices.Compact(slices.Sorted(slices.Values(j.Domains)))
		domains = slices.DeleteFunc(domains, func(d string) bool { return d == "" })
	}
	var least greedyCost
	for _, d := range domains {
		g := &greedy{j: j, f: j.Facts, domain: d, byPriority: byPriority}
		p, found := g.plan()
		if !found {
			continue
		}
		if c := g.cost(p.Victims); !ok || c.compare(least) < 0 {
			best, least, ok = p, c, true
		}
	}
	return best, ok
}

type greedy struct {
	j          *rules.Job
	f          *rules.Facts
	domain     string
	byPriority bool
	gone       []bool
	at         [][]int
	free       [][]int64
}

type greedyCost struct {
	opted, priority, count int64
	lost                   time.Duration
}

func (c greedyCost) compare(d greedyCost) int {
	return cmp.Or(cmp.Compare(c.opted, d.opted), cmp.Compare(c.priority, d.priority), cmp.Compare(c.count, d.count), cmp.Compare(c.lost, d.lost))
}

func (g *greedy) cost(set []int) greedyCost {
	l := g.f.LevelsOf(set)
	c := greedyCost{opted: l[rules.OptedOut], count: l[rules.Count]}
	if g.byPriority {
		c.priority = l[rules.Priority]
	}
	for _, i := range set {
		c.lost += g.f.Tasks[i].Time
	}
	return c
}

// move stops a task, or puts it back.
func (g *greedy) move(set []int, gone bool) {
	for _, i := range set {
		if g.gone[i] == gone {
			continue
		}
		g.gone[i] = gone
		t := &g.f.Tasks[i]
		for k, v := range t.Size {
			if !gone {
				v = -v
			}
			g.free[t.Node][k] += v
		}
	}
}

func (g *greedy) victims() (set []int) {
	for i, gone := range g.gone {
		if gone {
			set = append(set, i)
		}
	}
	return set
}

// lawful reports whether who is gone may go, whether or not headroom is short.
func (g *greedy) lawful() bool {
	why := g.f.BrokenSum(g.victims())
	return why == "" || why == rules.HeadShort
}

func (g *greedy) plan() (p rules.Placed, ok bool) {
	g.gone = make([]bool, len(g.f.Tasks))
	for range g.j.Classes {
		g.at = append(g.at, make([]int, len(g.f.Free)))
	}
	for n := range g.f.Free {
		g.free = append(g.free, slices.Clone(g.f.Free[n]))
	}
	sum := func(k int) (s int64) {
		for _, v := range g.j.Classes[k].Size {
			s += v
		}
		return s
	}
	order := slices.Clone(g.j.ClassOf)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(sum(b), sum(a)), cmp.Compare(a, b)) })
	for _, k := range order {
		if !g.place(k) {
			return p, false
		}
	}
	for g.f.BrokenSum(g.victims()) == rules.HeadShort {
		if !g.makeHeadroom() {
			return p, false
		}
	}
	g.giveBack()
	p = rules.Placed{At: g.at, Victims: g.victims()}
	if g.j.Broken(&p) != "" {
		return p, false
	}
	g.j.Price(&p)
	return p, true
}

// place puts a member of a class where it costs least.
func (g *greedy) place(k int) bool {
	node, set, least := -1, []int(nil), greedyCost{}
	for n := range g.f.Free {
		if !g.j.Classes[k].Allowed[n] || g.j.Domains != nil && g.j.Domains[n] != g.domain {
			continue
		}
		s, ok := g.onNode(n, g.j.Classes[k].Size)
		if !ok {
			continue
		}
		if c := g.cost(s); node < 0 || c.compare(least) < 0 {
			node, set, least = n, s, c
		}
	}
	if node < 0 {
		return false
	}
	g.move(set, true)
	g.at[k][node]++
	for t, v := range g.j.Classes[k].Size {
		g.free[node][t] -= v
	}
	return true
}

// order lists who may go of some tasks, the first to go first.
func (g *greedy) order(tasks []int) (list []int) {
	for _, i := range tasks {
		if g.f.Tasks[i].Eligible && !g.gone[i] {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, g.sooner)
	return list
}

func (g *greedy) sooner(a, b int) int {
	x, y := &g.f.Tasks[a], &g.f.Tasks[b]
	opted := 0
	if x.OptedOut != y.OptedOut {
		opted = -1
		if x.OptedOut {
			opted = 1
		}
	}
	return cmp.Or(opted, cmp.Compare(x.Priority, y.Priority), cmp.Compare(x.Time, y.Time), cmp.Compare(a, b))
}

// unit stops a task, with its gang if that has no member to spare. It returns who stops, or
// nil if that is not lawful.
func (g *greedy) unit(i int) []int {
	u := []int{i}
	if k := g.f.Tasks[i].Gang; k != rules.NoGang {
		gone := 0
		for _, m := range g.f.Gangs[k].Members {
			if g.gone[m] {
				gone++
			}
		}
		if gone+1 > g.f.Gangs[k].Surplus() {
			members, ok := g.f.Whole(k)
			if !ok {
				return nil
			}
			u = slices.DeleteFunc(slices.Clone(members), func(m int) bool { return g.gone[m] })
		}
	}
	g.move(u, true)
	if !g.lawful() {
		g.move(u, false)
		return nil
	}
	return u
}

// onNode returns victims for one member more on a node, and leaves all as it was.
func (g *greedy) onNode(n int, size []int64) (set []int, ok bool) {
	short := func() bool {
		return slices.ContainsFunc(indices(size), func(t int) bool { return size[t] > 0 && g.free[n][t] < size[t] })
	}
	var units [][]int
	for _, i := range g.order(g.f.On[n]) {
		if !short() {
			break
		}
		if !g.gone[i] {
			if u := g.unit(i); u != nil {
				units = append(units, u)
			}
		}
	}
	ok = !short()
	for k := len(units) - 1; ok && k >= 0; k-- {
		g.move(units[k], false)
		if short() || !g.lawful() {
			g.move(units[k], true)
		} else {
			units = slices.Delete(units, k, k+1)
		}
	}
	for _, u := range units {
		g.move(u, false)
		set = append(set, u...)
	}
	return set, ok
}

// makeHeadroom stops one unit more that makes headroom.
func (g *greedy) makeHeadroom() bool {
	for _, i := range g.order(indices(g.f.Tasks)) {
		if g.f.Helps(i) && g.unit(i) != nil {
			return true
		}
	}
	return false
}

// giveBack puts back who is not needed, the last to go first.
func (g *greedy) giveBack() {
	list := g.victims()
	slices.SortFunc(list, func(a, b int) int { return g.sooner(b, a) })
	for _, i := range list {
		if !g.gone[i] {
			continue
		}
		u := []int{i}
		if k := g.f.Tasks[i].Gang; k != rules.NoGang && !slices.ContainsFunc(g.f.Gangs[k].Members, func(m int) bool { return !g.gone[m] }) {
			u = g.f.Gangs[k].Members
		}
		g.move(u, false)
		p := rules.Placed{At: g.at, Victims: g.victims()}
		if g.j.Broken(&p) != "" {
			g.move(u, true)
		}
	}
}
