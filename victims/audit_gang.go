package victims

import "slices"

// This file counts gangs: a job's members above its minimum may go one by one,
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
func (x *auditCase) listGangs() {
	if x.a.Minimum == nil {
		return
	}
	for _, id := range x.victims {
		if job := x.c.tasks[id].job; job != 0 {
			// Few jobs have victims in a plan, so that a list is searched
			// faster than a map.
			g := x.gangOf(job)
			if g == nil {
				x.gangs = append(x.gangs, x.newGang(job))
				g = &x.gangs[len(x.gangs)-1]
			}
			g.taken++
			// One member that helps is reason enough to stop the job, if
			// stopping it as a whole is the only way.
			g.useful = g.useful || x.blocks(id) || x.helped(id) != 0 &&
				(!x.required() || x.c.tasks[id].node == x.plan.Node)
		}
	}
}

// newGang counts the members of a job. What is leaving neither counts nor
// protects, and a grant does not run.
func (x *auditCase) newGang(job int32) auditGang {
	g := auditGang{job: job}
	for _, id := range x.c.membersOf(job) {
		if x.c.tasks[id].state == Running {
			g.running++
		}
	}
	// What the caller's function says below 0 means that nobody is needed.
	g.minimum = max(0, x.a.Minimum(x.c.jobs.name(job)))
	g.surplus = max(0, g.running-g.minimum)
	return g
}

// gangOf returns the gang of a job that has victims, or nil.
func (x *auditCase) gangOf(job int32) *auditGang {
	i := slices.IndexFunc(x.gangs, func(g auditGang) bool { return g.job == job })
	if i < 0 {
		return nil
	}
	return &x.gangs[i]
}

// gangAt returns the gang of a victim, or nil.
func (x *auditCase) gangAt(id TaskID) *auditGang {
	if job := x.c.tasks[id].job; job != 0 {
		return x.gangOf(job)
	}
	return nil
}

// brought reports whether a task goes with its whole job, because of another
// member or of itself. Then it need not help.
func (x *auditCase) brought(r *taskRow) bool {
	if r.job == 0 {
		return false
	}
	g := x.gangOf(r.job)
	return g != nil && g.whole() && g.useful
}

// member counts a victim of a gang, or takes it back.
func (x *auditCase) member(r *taskRow, n int) {
	if r.job == 0 || x.a.Minimum == nil {
		return
	}
	g := x.gangOf(r.job)
	if g == nil {
		x.gangs = append(x.gangs, x.newGang(r.job))
		g = &x.gangs[len(x.gangs)-1]
	}
	g.taken += n
}

// give gives a victim back on trial, and take takes it again.
func (x *auditCase) give(id TaskID) {
	x.marks[id] = markGiven
	x.count(id, -1)
}

func (x *auditCase) take(id TaskID) {
	x.marks[id] = markJudged
	x.count(id, +1)
}

// withoutGiven returns the victims that are not given back.
func (x *auditCase) withoutGiven() []TaskID {
	x.rest = x.rest[:0]
	for _, id := range x.victims {
		if x.mark(id) != markGiven {
			x.rest = append(x.rest, id)
		}
	}
	return x.rest
}
