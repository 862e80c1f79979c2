package victims

import (
	"math"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// A gang is a running job that needs some number of its members. As many as it
// has above that may go one by one; else it goes whole, on all its nodes.
// (DESIGN.md, Whole gangs.)
type gang struct {
	members []TaskID // that run and are not leaving, by key
	surplus int64    // how many of them may go one by one
	rule    Rule     // the first rule that keeps it from going whole; 0 if it can go
	bound   int32    // the row of Rooms.Bounds that counts the surplus, or -1
}

// gangs are the gangs that a decision has met, each looked at once.
type gangs struct {
	d     *decision
	rowOf []int32 // by number of the job: 0 if not met, -1 for no gang, else a row and one
	rows  []gang
	count []int64 // scratch
}

// reset forgets all gangs.
func (g *gangs) reset(d *decision) {
	// Numbers of jobs index the rows, so that a task finds its gang without a
	// search.
	g.d = d
	if d.p.Minimum != nil {
		g.rowOf = rows.Zeros(g.rowOf, len(d.c.members))
	}
	g.rows = g.rows[:0]
}

// of returns the row of the gang that a task is a member of, or -1.
func (g *gangs) of(id TaskID) int32 {
	if g.d.p.Minimum == nil {
		return -1
	}
	job := g.d.c.tasks[id].job
	if job == 0 {
		return -1
	}
	// The caller's function is asked once per job and decision: it may be slow,
	// and must not change its mind between two nodes.
	if g.rowOf[job] == 0 {
		g.rowOf[job] = g.meet(job)
	}
	return max(g.rowOf[job]-1, -1)
}

// meet looks at a job and returns its row and one, or -1 if it needs no number
// of members.
func (g *gangs) meet(job int32) int32 {
	minimum := g.d.p.Minimum(g.d.c.jobs.name(job))
	if minimum <= 0 {
		return -1
	}
	n := len(g.rows)
	g.rows = rows.Next(g.rows)
	x := &g.rows[n]
	*x = gang{members: x.members[:0], bound: -1}
	c := g.d.c
	for _, id := range c.membersOf(job) {
		if c.tasks[id].state == Running {
			x.members = append(x.members, id)
		}
	}
	// Members have no order of their own, and keys decide between units that
	// cost the same.
	slices.SortFunc(x.members, func(a, b TaskID) int { return strings.Compare(c.tasks[a].key, c.tasks[b].key) })
	// A job that runs with fewer than it needs has nothing to spare: it goes
	// whole or not at all.
	x.surplus = int64(max(len(x.members)-minimum, 0))
	x.rule = g.ruleOf(x)
	// The surplus is one more bound of the search, as law 2 is: so many members
	// at most go one by one.
	if x.surplus > 0 {
		x.bound = g.d.eligible.Rooms.add(x.surplus)
	}
	return int32(n + 1)
}

// ruleOf returns the first rule that keeps a gang from going whole.
func (g *gangs) ruleOf(x *gang) (first Rule) {
	for _, id := range x.members {
		// The first rule of any member keeps the whole: a gang with one member
		// out of reach cannot be stopped.
		if rule := g.d.eligible.Rule(id); rule != 0 && (first == 0 || rule < first) {
			first = rule
		}
	}
	switch {
	case first != 0:
		return first
	case g.overBudget(x):
		return RuleBudget
	case g.belowGuarantee(x):
		return RuleGuarantee // law 2, over all members
	}
	return 0
}

// overBudget reports whether a hard budget has less left than the gang has
// members in it.
func (g *gangs) overBudget(x *gang) bool {
	c := g.d.c
	g.count = rows.Zeros(g.count, len(c.budgets))
	for _, id := range x.members {
		for _, b := range c.budgetsOf(id) {
			g.count[b]++
			if budget := &c.budgets[b]; budget.hard && g.count[b] > max(budget.left, 0) && !g.d.without.budget(budget.name) {
				return true
			}
		}
	}
	return false
}

// belowGuarantee reports whether stopping all members takes a queue below its
// guarantee.
func (g *gangs) belowGuarantee(x *gang) bool {
	d := g.d
	for q := range d.tree.All() {
		// A queue without a row protects nothing that the gang could take.
		row, ok := d.eligible.Rooms.Row(q)
		if !ok || d.required() {
			continue
		}
		bound := &d.eligible.Rooms.Bounds[row]
		for t := range bound.Room.Defined.All() {
			gone, eroded := g.takes(x, q, t)
			room := bound.Room.Value[t] + max(bound.Extra.At(t)-eroded, 0)
			if gone > room {
				return true
			}
		}
	}
	return false
}

// takes returns what the members below a queue free of a type: what law 2
// counts there, and what erodes the room instead.
func (g *gangs) takes(x *gang, q queue.ID, t int) (gone, eroded int64) {
	d := g.d
	for _, id := range x.members {
		r := &d.c.tasks[id]
		switch {
		case !d.tree.Contains(q, r.leaf):
		// With the option of the own leaf some amounts come out of what the ask
		// adds, and not out of the guarantee.
		case len(d.eligible.leaves[r.leaf].erodes) > 0:
			eroded += d.c.size(id)[t]
		default:
			gone += d.c.size(id)[t]
		}
	}
	return gone, eroded
}

// alone reports whether members of the gang of a task may go one by one, or the
// task is in no gang.
func (g *gangs) alone(row int32) bool { return row < 0 || g.rows[row].surplus > 0 }

// addWhole adds a gang that goes whole, as a unit of the search for the node of
// a site. Each member counts for the needs that it would count for alone.
func (u *unitSet) addWhole(d *decision, site *site, row int32) {
	x := &d.gangs.rows[row]
	if len(x.members) == 0 {
		return
	}
	d.trial.left -= 2 * gatherWork * int64(len(x.members))
	order := PlanOrder()
	unit := cover.Unit{Size: u.block(d.c.types)}
	from := len(u.parts)
	more := len(u.keys)
	for i, id := range x.members {
		// Levels of members join as those of victims do, so that a gang costs
		// what its members would cost one by one, and the broken job on top.
		one := d.eligible.Levels(id)
		unit.Levels = order.Join(&unit.Levels, i, &one)
		unit.Work = addWork(unit.Work, d.eligible.Lost(id))
		unit.Size = resources.Add(unit.Size, unit.Size, d.c.size(id))
		// A gang frees on many nodes. Only what its members free where
		// something is short counts as a need.
		u.addParts(d, site, id)
		if key := d.c.tasks[id].key; i == 0 {
			unit.Key = key // members are sorted by key
		} else {
			u.keys = append(u.keys, key)
		}
	}
	unit.Levels[LevelJobs] = 1
	unit.More = u.keys[more:len(u.keys):len(u.keys)]
	if x.bound >= 0 {
		u.addCount(x.surplus, x.bound)
	}
	unit.Parts = u.parts[from:len(u.parts):len(u.parts)]
	unit.Uses = u.usesOf(d, x.members)
	u.append(x.members[0], row, unit)
}

// addWork returns the sum of two amounts of work, capped.
func addWork(a, b uint64) uint64 {
	if s := a + b; s >= a {
		return s
	}
	return math.MaxUint64
}
