package jobs

import (
	"math"
	"time"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

// A candidate is a task that no rule for itself alone keeps from being a
// victim.
type candidate struct {
	id   victims.TaskID
	host int32 // it runs on, or -1
	leaf *leafRow
	gang int32 // of which too many must not go, or -1
	size resources.Vector
	key  string

	levels cover.Levels
	work   uint64 // lost with it, in nanoseconds
}

// gatherCandidates collects the candidates of the cluster and the gangs they
// belong to, and makes units of them.
func (d *decision) gatherCandidates() {
	d.cands, d.gangs = d.cands[:0], d.gangs[:0]
	if d.gangOf == nil {
		d.gangOf = make(map[string]int32)
	}
	clear(d.gangOf)
	for w := range d.tree.Leaves(0) {
		for id := range d.c.TasksIn(w) {
			t := d.c.TaskView(id)
			g := d.noteMember(&t)
			if t.State == victims.Granted || d.veto(&t) != 0 || d.exempt(id) {
				continue
			}
			if g >= 0 {
				d.gangs[g].eligible++
			}
			d.addCandidate(id, &t, g)
		}
	}
	d.settleGangs()
	d.buildUnits()
}

// addCandidate adds a task of a gang, or of none.
func (d *decision) addCandidate(id victims.TaskID, t *victims.Task, gang int32) {
	leaf := &d.leaves[t.Queue]
	rank := leaf.rank.Of(t.Priority)
	c := candidate{
		id: id, host: d.hostOf[t.Node], leaf: leaf, gang: gang, size: t.Size, key: t.Key, work: t.Lost(d.now),
		levels: cover.Levels{victims.LevelRank: rank, victims.LevelPriority: int64(t.Priority), victims.LevelVictims: 1, victims.LevelSumRanks: rank},
	}
	if t.OptedOut {
		c.levels[victims.LevelOptedOut] = 1 // law 1: opted out only where no plan does without
	}
	if t.Originator {
		c.levels[victims.LevelOriginators] = 1
	}
	d.cands = append(d.cands, c)
}

// veto returns the rule that keeps a task from being a victim wherever it
// helps, or 0. It does not ask whether the task is exempt.
func (d *decision) veto(t *victims.Task) Rule {
	switch {
	case isLeaving(t.State):
		return RuleLeaving
	case t.RequiredNode:
		return RuleRequiredNode
	case t.Job == d.job.Name, t.Application == d.job.Application && t.Application != "":
		return RuleApplication // law 3: never the same application
	}
	leaf := &d.leaves[t.Queue]
	switch {
	case leaf.veto != 0:
		return leaf.veto
	case t.NonPreemptible:
		return RuleNonPreemptible
	case leaf.rank.Of(t.Priority) >= 0:
		return RulePriority // law 6: strictly lower for jobs
	}
	return 0
}

// exempt reports whether the caller exempts a task, taking exemptions that end
// at d.horizon or before as ended.
func (d *decision) exempt(id victims.TaskID) bool {
	if d.p.Exempt == nil {
		return false
	}
	until, ok := d.exemption(id)
	return ok && (until.IsZero() || until.After(d.horizon))
}

func (d *decision) exemption(id victims.TaskID) (until time.Time, ok bool) {
	until, ok = d.p.Exempt(victims.Exemption{Cluster: d.c, Task: id, Ask: &d.ask, Now: d.now})
	return until, ok && (until.IsZero() || until.After(d.now))
}

// addWork returns a + b, or the most there is.
func addWork(a, b uint64) uint64 {
	if s := a + b; s >= a {
		return s
	}
	return math.MaxUint64
}
