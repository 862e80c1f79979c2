// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"cmp"
	"maps"
	"math/big"
	"slices"

	"github.com/go-preempt/preempt/internal/judge/alike"
	"github.com/go-preempt/preempt/internal/judge/world"
)

// Moving is what a caller allows to move, and where.
type Moving struct {
	Movable map[string]bool // tasks by key
	Closed  map[string]bool // nodes that movers may not run on, by name
	Any     bool            // law 4 does not keep an ask from plans that only move
	Most    int64           // MaxMoved
}

// MovesResult is the best that can be done with moves: the result in a world in which the
// movers have left, and hold grants where they go.
type MovesResult struct {
	Result
	Moved    []string // sorted by key
	OptedOut int
	Work     *big.Int // that movers lose
	Excess   *big.Rat
}

// DecideMoves looks at every set of tasks of every node that may move together.
func DecideMoves(c *world.Case, m *Moving) MovesResult {
	best := MovesResult{Result: Decide(c), Work: new(big.Int), Excess: new(big.Rat)}
	j := newJudge(&c.World, &c.Ask, &c.Options)
	if entitled := j.ask.RequiredNode != "" || j.entitled(); !entitled && !m.Any {
		return best
	}
	switch best.Outcome {
	case Preempts:
	case Refused:
		if !slices.Contains([]string{"no-victims", "nothing-in-reach", "not-guaranteed", "over-guarantee"}, best.Reason) {
			return best
		}
	default:
		return best
	}
	for i := range c.World.Nodes {
		n := &c.World.Nodes[i]
		if !j.usable(n) {
			continue
		}
		units := j.movers(n.Name, m)
		away := Moving{Closed: map[string]bool{}} // nobody moves to the node itself
		maps.Copy(away.Closed, m.Closed)
		away.Closed[n.Name] = true
		for set := 1; set < 1<<len(units); set++ {
			var moved []*world.Task
			for i, u := range units {
				if set>>i&1 == 1 {
					moved = append(moved, u...)
				}
			}
			if !j.moderate(moved, m) {
				continue
			}
			places, ok := j.placesFor(moved, nil, &away)
			if !ok {
				continue
			}
			// Moves are for room on this node, so the ask goes there.
			r := MovesResult{Result: Decide(only(n.Name, after(c, moved, places))), Work: new(big.Int)}
			if r.Outcome == Refused {
				continue
			}
			for _, t := range moved {
				r.Moved = append(r.Moved, t.Key)
				r.Work.Add(r.Work, j.work(t))
				if t.OptedOut {
					r.OptedOut++
				}
			}
			slices.Sort(r.Moved)
			r.Excess = j.beyond(j.nodeNeed(n.Name), moved)
			if best.Outcome == Refused || j.cheaper(&r, &best) {
				best = r
			}
		}
	}
	return best
}

// cheaper compares stops first, then moves. To stop nobody is the cheapest, and to take from
// the own leaf is dearer than all else.
func (j *judge) cheaper(a, b *MovesResult) bool {
	if a.OwnLeaf != b.OwnLeaf {
		return b.OwnLeaf
	}
	if none := a.Outcome != Preempts; none != (b.Outcome != Preempts) {
		return none
	} else if !none {
		x, y := a.Cost, b.Cost
		for _, c := range []*Cost{&x, &y} { // no move is worth the rest
			c.Excess, c.Work, c.NodePenalty, c.Node, c.Keys = new(big.Rat), new(big.Int), 0, 0, nil
		}
		if order := x.Compare(j.o.Levels, &y); order != 0 {
			return order < 0
		}
	}
	if a.OptedOut != b.OptedOut {
		return a.OptedOut < b.OptedOut
	}
	if len(a.Moved) != len(b.Moved) {
		return len(a.Moved) < len(b.Moved)
	}
	return cmp.Or(a.Work.Cmp(b.Work), a.Excess.Cmp(b.Excess)) < 0
}

// movers lists what may move from a node: tasks, and whole gangs with members there.
func (j *judge) movers(node string, m *Moving) (units [][]*world.Task) {
	for i := range j.w.Tasks {
		t := &j.w.Tasks[i]
		if t.Node != node {
			continue
		}
		unit := []*world.Task{t}
		if j.bound(t) {
			unit = staff(j.w, t.Job)
			first := slices.IndexFunc(unit, func(u *world.Task) bool { return u.Node == node })
			if !slices.Contains(unit, t) || unit[first] != t {
				continue
			}
		}
		if !slices.ContainsFunc(unit, func(u *world.Task) bool { return !j.mayMove(u, m) }) {
			units = append(units, unit)
		}
	}
	return units
}

// mayMove reports whether no law about a single task keeps it from moving.
func (j *judge) mayMove(t *world.Task, m *Moving) bool {
	if !m.Movable[t.Key] || j.early(t) != "" || t.State.Leaving() || t.RequiredNode || t.Application == j.ask.Application {
		return false
	}
	for _, q := range world.Up(t.Queue) {
		for name, most := range j.queues[q].Max {
			if t.Size[name] > 0 && j.coming[q][name] > most {
				return false
			}
		}
	}
	if rank := j.rank(t); rank > 0 || rank == 0 && j.o.StrictPriority {
		return false
	}
	return j.ask.RequiredNode != "" || (t.Queue == j.ask.Queue || j.inReach(t.Queue)) && !j.disabled(t.Queue)
}

// moderate reports whether no more moves than the caller allows, in a type of the ask.
func (j *judge) moderate(moved []*world.Task, m *Moving) bool {
	for _, t := range j.wants {
		sum := int64(0)
		for _, v := range moved {
			sum += v.Size[t]
		}
		if m.Most > 0 && sum > m.Most*j.ask.Size[t] {
			return false
		}
	}
	for name, b := range j.w.Budgets {
		drawn := int64(0)
		for _, v := range moved {
			if slices.Contains(v.Budgets, name) {
				drawn++
			}
		}
		if b.Hard && drawn > max(b.Left, 0) {
			return false
		}
	}
	return true
}

// placesFor gives tasks places, in any way that there is.
func (j *judge) placesFor(tasks []*world.Task, places []string, m *Moving) ([]string, bool) {
	k := len(places)
	if k == len(tasks) {
		return places, true
	}
	for i := range j.w.Nodes {
		n := &j.w.Nodes[i]
		if n.Name == tasks[k].Node || n.Unschedulable || n.ReservedFor != "" || m.Closed[n.Name] {
			continue
		}
		if !j.roomBeside(tasks, places, n) || !j.together(tasks, places, n) {
			continue
		}
		if all, ok := j.placesFor(tasks, append(slices.Clone(places), n.Name), m); ok {
			return all, true
		}
	}
	return nil, false
}

// roomBeside reports whether the next task has room on a node beside those before it.
func (j *judge) roomBeside(tasks []*world.Task, places []string, n *world.Node) bool {
	next := tasks[len(places)]
	for t, want := range next.Size {
		free := j.comingFree[n.Name][t]
		for i, at := range places {
			if at == n.Name {
				free -= tasks[i].Size[t]
			}
		}
		if want > 0 && want > free {
			return false
		}
	}
	return true
}

// together reports whether the next task would share the domains of its gang.
func (j *judge) together(tasks []*world.Task, places []string, n *world.Node) bool {
	next := tasks[len(places)]
	if !j.bound(next) {
		return true
	}
	node := func(name string) *world.Node {
		return &j.w.Nodes[slices.IndexFunc(j.w.Nodes, func(n world.Node) bool { return n.Name == name })]
	}
	depth := 0
	for ; depth < len(node(next.Node).Domains); depth++ {
		if slices.ContainsFunc(staff(j.w, next.Job), func(t *world.Task) bool {
			d := node(t.Node).Domains
			return depth >= len(d) || d[depth] != node(next.Node).Domains[depth]
		}) {
			break
		}
	}
	if len(n.Domains) < depth {
		return false
	}
	for i, at := range places {
		if tasks[i].Job == next.Job && !slices.Equal(node(at).Domains[:depth], n.Domains[:depth]) {
			return false
		}
	}
	return true
}

// only returns the case in which the ask may run on one node.
func only(node string, c *world.Case) *world.Case {
	c.World.Nodes = slices.Clone(c.World.Nodes)
	for i := range c.World.Nodes {
		n := &c.World.Nodes[i]
		n.Unschedulable = n.Unschedulable || n.Name != node
	}
	return c
}

var again = alike.Copier[world.Ask, world.Task]()

// after returns the case after tasks have moved.
func after(c *world.Case, moved []*world.Task, places []string) *world.Case {
	d := *c
	d.World.Tasks = slices.DeleteFunc(slices.Clone(c.World.Tasks), func(t world.Task) bool {
		return slices.ContainsFunc(moved, func(m *world.Task) bool { return m.Key == t.Key })
	})
	d.World.Grants = slices.Clone(c.World.Grants)
	d.World.Budgets = map[string]world.Budget{}
	for name, b := range c.World.Budgets {
		d.World.Budgets[name] = b
	}
	for i, t := range moved {
		var a world.Ask
		again(&a, t)
		a.Key, a.Ports = t.Key+"+", nil
		d.World.Grants = append(d.World.Grants, world.Grant{Node: places[i], Ask: a})
		for _, name := range t.Budgets {
			b := d.World.Budgets[name]
			b.Left--
			d.World.Budgets[name] = b
		}
	}
	return &d
}
