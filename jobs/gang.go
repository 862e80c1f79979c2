package jobs

import (
	"slices"
	"strings"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

// A gang is a running job that needs some of its members: those above its
// minimum may go one by one, and with one more it goes as a whole.
type gang struct {
	name     string
	running  int  // members that run and do not leave
	eligible int  // those of them that are candidates
	granted  bool // a member holds a grant, which is never a victim
	minimum  int
	surplus  int      // how many may go one by one
	counted  bool     // by a bound: not all candidates may go one by one
	bounds   [1]int32 // that bound
	room     [1]int64 // of it
	first    int32    // its members are candidates decision.members[first:end]
	end      int32
}

// whole reports whether the gang can be stopped with all its members.
func (g *gang) whole() bool { return g.eligible == g.running && !g.granted }

// noteMember counts a task of a job and returns the row of its gang, or -1.
func (d *decision) noteMember(t *victims.Task) int32 {
	if t.Job == "" || t.Job == d.job.Name || d.p.Minimum == nil {
		return -1
	}
	i, ok := d.gangOf[t.Job]
	if !ok {
		i = int32(len(d.gangs))
		d.gangOf[t.Job] = i
		d.gangs = append(d.gangs, gang{name: t.Job, minimum: d.p.Minimum(t.Job)})
	}
	g := &d.gangs[i]
	switch t.State {
	case victims.Running:
		g.running++
	case victims.Granted:
		g.granted = true
	}
	return i
}

// settleGangs decides how many members of each gang may go one by one. Where
// these are not all of its candidates, a bound counts them.
//
// Bounds come in the order of names, for a search tells classes of units apart
// by them, and what it finds first must not depend on rows.
func (d *decision) settleGangs() {
	d.chosen = d.chosen[:0]
	for i := range d.gangs {
		d.chosen = append(d.chosen, int32(i))
	}
	slices.SortFunc(d.chosen, func(i, j int32) int { return strings.Compare(d.gangs[i].name, d.gangs[j].name) })
	for _, i := range d.chosen {
		g := &d.gangs[i]
		g.surplus = max(g.running-max(g.minimum, 0), 0)
		if g.surplus > 0 && g.surplus < g.eligible {
			g.counted, g.bounds[0] = true, int32(len(d.rooms.Bounds))
			g.room[0] = int64(g.surplus)
			d.rooms.Bounds = append(d.rooms.Bounds, cover.Bound{Room: resources.Limit{Value: g.room[:], Defined: 1}})
		}
	}
	d.members = d.members[:0]
	for i := range d.cands {
		if g := d.cands[i].gang; g >= 0 {
			d.members = append(d.members, int32(i))
		}
	}
	slices.SortFunc(d.members, func(i, j int32) int { return int(d.cands[i].gang - d.cands[j].gang) })
	for at, i := range d.members {
		g := &d.gangs[d.cands[i].gang]
		if at == 0 || d.cands[d.members[at-1]].gang != d.cands[i].gang {
			g.first = int32(at)
		}
		g.end = int32(at) + 1
	}
}

// A unit is what falls together: a candidate, or a whole gang.
type unit struct {
	gang   int32 // which it is, or is a member of; -1 for none
	whole  bool
	first  int32 // it is candidates decision.falls[first:end]
	end    int32
	levels cover.Levels
	work   uint64
	key    string // the smallest of those that fall
	size   resources.Vector
	takes  [1]int64 // of the surplus of its gang
}

// buildUnits makes a unit of every candidate that may go alone, and of every
// gang that may go whole.
func (d *decision) buildUnits() {
	d.units, d.falls, d.wholes = d.units[:0], d.falls[:0], 0
	for i := range d.cands {
		c := &d.cands[i]
		if c.gang >= 0 && d.gangs[c.gang].surplus == 0 || !resources.Fits(c.size, c.leaf.room) {
			continue
		}
		d.addUnit(c.gang, int32(i))
	}
	for g := range d.gangs {
		if d.gangs[g].minimum > 0 && d.gangs[g].whole() && d.gangs[g].running > 0 {
			d.addWhole(int32(g))
		}
	}
	d.dropUnlawful()
}

// dropUnlawful drops the whole gangs, which are the last units, that law 2 does
// not let fall even alone.
func (d *decision) dropUnlawful() {
	d.begin()
	left := d.units[:len(d.units)-d.wholes]
	for u := len(left); u < len(d.units); u++ {
		if d.stands(int32(u)) {
			left = append(left, d.units[u])
		}
	}
	d.wholes -= len(d.units) - len(left)
	d.units = left
}

func (d *decision) addUnit(gang, i int32) {
	c := &d.cands[i]
	at := int32(len(d.falls))
	d.falls = append(d.falls, i)
	d.units = append(d.units, unit{
		gang: gang, first: at, end: at + 1, levels: c.levels, work: c.work, key: c.key, size: c.size,
		takes: [1]int64{1},
	})
}

// addWhole makes a unit of a gang. Its members go together, though law 2 might
// forbid one of them alone.
func (d *decision) addWhole(i int32) {
	d.wholes++
	g := &d.gangs[i]
	u := unit{gang: i, whole: true, first: int32(len(d.falls)), size: d.block(1)}
	u.takes[0] = int64(g.surplus)
	order := victims.PlanOrder()
	for n, m := range d.members[g.first:g.end] {
		c := &d.cands[m]
		d.falls = append(d.falls, m)
		u.levels = order.Join(&u.levels, n, &c.levels)
		u.work = addWork(u.work, c.work)
		u.size = resources.Add(u.size, u.size, c.size)
		if n == 0 || c.key < u.key {
			u.key = c.key
		}
	}
	u.levels[victims.LevelJobs] = 1
	u.end = int32(len(d.falls))
	d.units = append(d.units, u)
}
