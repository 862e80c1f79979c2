package jobs

import (
	"slices"

	"github.com/go-preempt/preempt/victims"
)

// This file counts the running jobs of which a plan stops members. Those that go
// as a whole can only be given back as a whole, or down to their minimum.

// countGangs counts the running jobs that need some of their members and lose
// any, and sorts the victims into what falls together.
func (x *auditCase) countGangs() {
	for n := range x.victims {
		x.sortVictim(x.victims[n : n+1 : n+1])
	}
	// The pass over all tasks is only for plans that stop members of jobs.
	if len(x.gangs) == 0 {
		return
	}
	for id := range x.c.Tasks() {
		t := x.c.TaskView(id)
		i, ok := x.gangOf[t.Job]
		if !ok || t.Job == "" {
			continue
		}
		// What is leaving counts for nobody: it will not be there.
		switch t.State {
		case victims.Running:
			x.gangs[i].running++
		case victims.Granted:
			x.gangs[i].granted++
		}
	}
	for i := range x.gangs {
		g := &x.gangs[i]
		// Fewer are left than the job needs, so it goes as a whole: it must
		// come back as a whole as well.
		if g.running-len(g.stopped) < g.minimum {
			x.units = append(x.units, auditUnit{tasks: g.stopped, job: g.job, minimum: g.minimum})
			continue
		}
		for n := range g.stopped {
			x.units = append(x.units, auditUnit{tasks: g.stopped[n : n+1]})
		}
	}
}

// sortVictim makes a victim a unit of its own, or one of those of its gang.
func (x *auditCase) sortVictim(alone []victims.TaskID) {
	id := alone[0]
	job := x.c.TaskView(id).Job
	minimum := 0
	if job != "" && x.a.Minimum != nil {
		minimum = x.a.Minimum(job)
	}
	// A job of which nobody knows a minimum is no gang.
	if minimum <= 0 {
		x.units = append(x.units, auditUnit{tasks: alone})
		return
	}
	i, ok := x.gangOf[job]
	if !ok {
		i = len(x.gangs)
		x.gangOf[job] = i
		// The row that was there before has a list with memory.
		x.gangs = slices.Grow(x.gangs, 1)[:i+1]
		x.gangs[i] = auditGang{job: job, minimum: minimum, stopped: x.gangs[i].stopped[:0]}
	}
	x.gangs[i].stopped = append(x.gangs[i].stopped, id)
}
