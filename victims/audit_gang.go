package victims

import "slices"

// mostTries is how many members are given back on trial for one job. Jobs of up
// to a dozen members are looked at whole.
const mostTries = 1 << 12

// This file audits gangs: a job's members above its minimum may go one by one,
// or else the whole job goes, on all its nodes. See DESIGN.md, Whole gangs.

// An auditGang is a running job that has victims.
type auditGang struct {
	job     int32 // its number in the cluster
	running int   // members that run, victims included
	taken   int   // victims
	minimum int   // so many members are needed
	surplus int   // how many may go one by one
	useful  bool  // some victim helps or blocks, on the node if the ask requires one
}

// whole reports whether the job goes as a whole, as a unit.
func (g *auditGang) whole() bool { return g.taken == g.running && g.taken > g.surplus }

// broken reports whether too few members are left to run on.
func (g *auditGang) broken() bool { return g.taken < g.running && g.taken > g.surplus }

// listGangs finds the jobs of the victims, in the order of the victims.
func (x *audit) listGangs() {
	if x.a.Minimum == nil {
		return
	}
	for _, id := range x.victims {
		if job := x.c.tasks[id].job; job != 0 {
			g := x.gangOf(job)
			if g == nil {
				x.gangs = append(x.gangs, x.newGang(job))
				g = &x.gangs[len(x.gangs)-1]
			}
			g.taken++
			g.useful = g.useful || x.blocks(id) || x.helped(id) != 0 &&
				(!x.required() || x.c.tasks[id].node == x.plan.Node)
		}
	}
}

// newGang counts the members of a job. What is leaving neither counts nor
// protects, and a grant does not run.
func (x *audit) newGang(job int32) auditGang {
	g := auditGang{job: job}
	for _, id := range x.c.membersOf(job) {
		if x.c.tasks[id].state == Running {
			g.running++
		}
	}
	g.minimum = max(0, x.a.Minimum(x.c.jobs.name(job)))
	g.surplus = max(0, g.running-g.minimum)
	return g
}

// gangOf returns the gang of a job that has victims, or nil.
func (x *audit) gangOf(job int32) *auditGang {
	i := slices.IndexFunc(x.gangs, func(g auditGang) bool { return g.job == job })
	if i < 0 {
		return nil
	}
	return &x.gangs[i]
}

// brought reports whether a task goes with its whole job, because of another
// member or of itself. Then it need not help.
func (x *audit) brought(r *taskRow) bool {
	if r.job == 0 {
		return false
	}
	g := x.gangOf(r.job)
	return g != nil && g.whole() && g.useful
}

// gang yields the jobs that are left with too few members.
func (x *audit) gang(yield func(Violation) bool) {
	for i := range x.gangs {
		g := &x.gangs[i]
		if g.broken() && !yield(Violation{
			Law: LawGang, Job: x.c.jobs.name(g.job),
			Have: int64(g.running - g.taken), Want: int64(g.running - g.surplus),
		}) {
			return
		}
	}
}

// unbroken reports whether no job is left with too few members.
func (x *audit) unbroken() bool {
	for range x.gang {
		return false
	}
	return true
}

// spares reports whether less of a job that goes as a whole would do: no more
// members than may go one by one, each of which helps by itself.
func (x *audit) spares(g *auditGang) bool {
	x.spare = x.spare[:0] // those that may stay victims
	kept, keep := 0, g.surplus
	for _, id := range x.victims {
		r := &x.c.tasks[id]
		switch {
		case r.job != g.job:
		case x.blocks(id):
			kept++
		case x.helped(id) != 0 && (!x.required() || r.node == x.plan.Node):
			x.spare = append(x.spare, id)
		default:
			x.give(id)
		}
	}
	x.tries = mostTries
	spared := kept <= keep && x.enough() && x.dropSome(x.spare, max(0, len(x.spare)-(keep-kept)))
	for _, id := range x.victims {
		if x.mark(id) == markGiven {
			x.take(id)
		}
	}
	return spared
}

// dropSome reports whether n of a list of victims can be given back at once. It
// leaves them as they were.
func (x *audit) dropSome(list []TaskID, n int) bool {
	if n == 0 {
		return x.accepts(x.withoutGiven())
	}
	for i := 0; i <= len(list)-n && x.tries > 0; i++ {
		x.tries--
		x.give(list[i])
		given := x.enough() && x.dropSome(list[i+1:], n-1)
		x.take(list[i])
		if given {
			return true
		}
	}
	return false
}

// give gives a victim back on trial, and take takes it again.
func (x *audit) give(id TaskID) {
	x.marks[id] = markGiven
	x.count(id, -1)
}

func (x *audit) take(id TaskID) {
	x.marks[id] = markJudged
	x.count(id, +1)
}

// withoutGiven returns the victims that are not given back.
func (x *audit) withoutGiven() []TaskID {
	x.rest = x.rest[:0]
	for _, id := range x.victims {
		if x.mark(id) != markGiven {
			x.rest = append(x.rest, id)
		}
	}
	return x.rest
}
