package jobs

import (
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/rows"
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
	bounds   [1]int32 // that bound, as the list that a part of a unit wants
	room     [1]int64 // of it: the surplus. The bound is a view of this.
	spent    bool     // as a whole it would take more than a hard budget has left
	first    int32    // its members are candidates supply.members[first:end]
	end      int32
}

// whole reports whether the gang can be stopped with all its members.
//
// A grant is never a victim, so a job that holds one would be left with it and
// be broken all the same.
func (g *gang) whole() bool { return g.eligible == g.running && !g.granted }

// A unit is what goes together: a candidate, or a whole gang. It has the form
// in which a search takes it, but for the needs that it counts for: these depend
// on which hosts are short.
type unit struct {
	cover.Unit
	gang  int32 // which it is, or is a member of; -1 for none
	whole bool
	first int32 // it is candidates supply.tasks[first:end]
	end   int32
}

// tasksOf returns the candidates of a unit.
func (c *jobCase) tasksOf(u int32) []int32 {
	return c.tasks[c.units[u].first:c.units[u].end]
}

// noteMember counts a task of a job and returns the row of its gang, or -1.
func (c *jobCase) noteMember(id victims.TaskID, t *victims.Head) int32 {
	minimum := c.rules.minimum
	if !t.HasJob || minimum == nil {
		return -1
	}
	job := c.c.Job(id)
	if job == c.job.Name {
		return -1
	}
	i, ok := c.gangOf[job]
	if !ok {
		i = int32(len(c.gangs))
		c.gangOf[job] = i
		c.gangs = append(c.gangs, gang{name: job, minimum: minimum(job)})
	}
	g := &c.gangs[i]
	switch t.State {
	case victims.Running:
		g.running++
	case victims.Granted:
		g.granted = true
	}
	return i
}

// settleGangs decides how many members of each gang may go one by one. If these
// are not all of its candidates, a bound counts them.
//
// Bounds come in the order of names: a search tells classes of units apart by
// them, and what it finds first must not depend on rows.
func (c *jobCase) settleGangs() {
	c.names = c.names[:0]
	for i := range c.gangs {
		g := &c.gangs[i]
		g.surplus = max(g.running-max(g.minimum, 0), 0)
		// With no surplus no member is a unit, and if all candidates are surplus
		// nothing can be taken too often: neither needs a bound.
		if g.surplus > 0 && g.surplus < g.eligible {
			c.names = append(c.names, int32(i))
		}
	}
	slices.SortFunc(c.names, func(i, j int32) int { return strings.Compare(c.gangs[i].name, c.gangs[j].name) })
	for _, i := range c.names {
		g := &c.gangs[i]
		g.counted, g.bounds[0] = true, int32(len(c.rooms.Bounds))
		g.room[0] = int64(g.surplus)
		c.rooms.Bounds = append(c.rooms.Bounds, cover.Bound{Room: resources.Limit{Value: g.room[:], Defined: 1}})
	}
	c.budgets.bind(c)
	c.listMembers()
}

// listMembers lists the candidates of every gang.
func (c *jobCase) listMembers() {
	// A counting sort by gang, for there may be thousands of gangs. Those that are
	// eligible were counted already.
	at := int32(0)
	for i := range c.gangs {
		g := &c.gangs[i]
		g.first, g.end = at, at
		at += int32(g.eligible)
	}
	c.members = rows.Zeros(c.members, int(at))
	for i := range c.cands {
		if row := c.cands[i].gang; row >= 0 {
			g := &c.gangs[row]
			c.members[g.end] = int32(i)
			g.end++
		}
	}
}

// buildUnits makes a unit of every candidate that may go alone, and of every
// gang that may go whole. Whole gangs come last. One that law 2 forbids even if
// nothing else goes is left out.
func (c *jobCase) buildUnits() {
	c.units, c.tasks, c.parts, c.keys, c.wholes = c.units[:0], c.tasks[:0], c.parts[:0], c.keys[:0], 0
	c.usable = rows.Zeros(c.usable, len(c.cands))
	for i := range c.cands {
		cand := &c.cands[i]
		if cand.gang >= 0 && c.gangs[cand.gang].surplus == 0 || c.keptAlone(cand) != 0 {
			continue
		}
		c.addUnit(cand.gang, int32(i))
	}
	for g := range c.gangs {
		if c.gangs[g].minimum > 0 && c.gangs[g].whole() && c.gangs[g].running > 0 {
			c.addWhole(int32(g))
		}
	}
}

// use notes that a unit has a candidate.
func (c *jobCase) use(i int32) { c.usable[i], c.grades[i].usable = true, true }

// keptAlone returns the rule of sums that keeps a candidate from going even if
// nobody else does, or 0.
func (c *jobCase) keptAlone(cand *candidate) Rule {
	for _, b := range cand.budgets {
		if x := &c.budgets.list[b]; x.hard && x.left[0] < 1 {
			return RuleBudget
		}
	}
	if !resources.Fits(cand.size, cand.leaf.room) {
		return RuleGuarantee // law 2
	}
	return 0
}

func (c *jobCase) addUnit(gang, i int32) {
	cand := &c.cands[i]
	at := int32(len(c.tasks))
	c.tasks = append(c.tasks, i)
	c.use(i)
	// Set in place: there may be one for every task, and a copy of all of it costs
	// as much as what is set.
	c.units = append(c.units, unit{})
	u := &c.units[len(c.units)-1]
	u.gang, u.first, u.end = gang, at, at+1
	u.Key, u.Size, u.Levels, u.Work = cand.key, cand.size, cand.levels, cand.work
	c.bind(u)
}

// addWhole makes a unit of a gang, unless law 2 or a hard budget forbids that
// all of it goes. Its members go together, though law 2 might forbid one of them
// alone.
func (c *jobCase) addWhole(i int32) {
	g := &c.gangs[i]
	u := unit{gang: i, whole: true, first: int32(len(c.tasks))}
	u.Size = c.block(1)
	for n, m := range c.members[g.first:g.end] {
		cand := &c.cands[m]
		c.tasks = append(c.tasks, m)
		u.Levels = c.order.Join(&u.Levels, n, &cand.levels)
		u.Work = addWork(u.Work, cand.work)
		u.Size = resources.Add(u.Size, u.Size, cand.size)
	}
	u.Levels[victims.LevelJobs] = 1
	u.end = int32(len(c.tasks))
	g.spent = c.budgets.spent(c, c.tasks[u.first:])
	if g.spent || !c.lawfulAlone(&u) {
		c.tasks = c.tasks[:u.first]
		return
	}
	for _, i := range c.tasks[u.first:u.end] {
		c.use(i)
	}
	c.nameWhole(&u)
	c.wholes++
	c.units = append(c.units, u)
	c.bind(&c.units[len(c.units)-1])
}

// nameWhole gives a whole gang its keys. The first is the least of its members',
// so that the order of units does not depend on rows. It is then the key of
// another unit too, if that member may go alone; byCost tells the two apart. The
// others count if sets that cost as much are told apart by all their keys.
func (c *jobCase) nameWhole(u *unit) {
	from := len(c.keys)
	for _, i := range c.tasks[u.first:u.end] {
		c.keys = append(c.keys, c.cands[i].key)
	}
	keys := c.keys[from:len(c.keys):len(c.keys)]
	slices.Sort(keys)
	u.Key, u.More = keys[0], keys[1:]
}

// bind sets what bounds a unit. One that is counted against the surplus of a
// gang or a hard budget, or is a whole gang, has parts.
func (c *jobCase) bind(u *unit) {
	x := &c.budgets
	counts := len(x.counts)
	if u.gang >= 0 && c.gangs[u.gang].counted {
		one := count{bound: c.gangs[u.gang].bounds, amount: [1]int64{1}}
		if u.whole {
			// It uses up all of the surplus: no member can go beside it, which
			// would be to stop that member twice.
			one.amount[0] = int64(c.gangs[u.gang].surplus)
		}
		x.counts = append(x.counts, one)
	}
	x.charge(c, u)
	// Most units are one task with nothing to count. They share the lists of their
	// leaf, so that a case of many tasks has no parts at all.
	if !u.whole && len(x.counts) == counts {
		leaf := c.cands[c.tasks[u.first]].leaf
		u.Bounds, u.Erodes = leaf.bounds, leaf.erodes
		return
	}
	from := len(c.parts)
	for _, i := range c.tasks[u.first:u.end] {
		cand := &c.cands[i]
		c.parts = append(c.parts, cover.Part{Size: cand.size, Bounds: cand.leaf.bounds, Erodes: cand.leaf.erodes})
	}
	// The parts that count come last: aim sets the needs of the parts before them,
	// one per task, and these have none.
	for i := counts; i < len(x.counts); i++ {
		one := &x.counts[i]
		c.parts = append(c.parts, cover.Part{Size: one.amount[:], Bounds: one.bound[:]})
	}
	u.Parts = c.parts[from:len(c.parts):len(c.parts)]
}

// lawfulAlone reports whether law 2 lets a whole gang go if nothing else does.
func (c *jobCase) lawfulAlone(u *unit) bool {
	tasks := c.tasks[u.first:u.end]
	c.leaveRooms(tasks, -1)
	lawful := true
	for _, i := range tasks {
		leaf := c.cands[i].leaf
		lawful = lawful && keepsAll(c.rooms.Bounds, leaf.bounds) && keepsAll(c.rooms.Bounds, leaf.erodes)
	}
	c.leaveRooms(tasks, +1)
	return lawful
}

// leaveRooms takes candidates off what bounds leave, or puts them back.
func (c *jobCase) leaveRooms(tasks []int32, sign int64) {
	for _, i := range tasks {
		cand := &c.cands[i]
		for _, b := range cand.leaf.bounds {
			addTo(c.rooms.Bounds[b].Room.Value, cand.size, sign)
		}
		for _, b := range cand.leaf.erodes {
			addTo(c.rooms.Bounds[b].Extra, cand.size, sign)
		}
	}
}

// keepsAll reports whether none of some bounds is passed: no type has less than
// nothing left, what is left of the extra room included.
func keepsAll(bounds []cover.Bound, rows []int32) bool {
	for _, b := range rows {
		bound := &bounds[b]
		for t := range bound.Room.Defined.All() {
			if bound.Room.Value.At(t)+max(bound.Extra.At(t), 0) < 0 {
				return false
			}
		}
	}
	return true
}
