// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/eligible"
	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/units"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A supply is who could go: candidates, the running jobs that some of them
// belong to, and the units that both go in.
type supply struct {
	cands   []candidate // leaf by leaf in tree order
	grades  []grade     // of cands
	gangs   []gang      // in the order of their first members
	gangOf  map[string]int32
	members []int32 // candidates in gangs, gang by gang
	units   []unit
	wholes  int     // how many of them are whole gangs, which are the last
	tasks   []int32 // candidates, unit by unit
	parts   []units.Part
	keys    []string // of the members of whole gangs, beside the least of each gang
	names   []int32  // scratch: gangs in the order of their names
}

// A candidate is a task that no rule for itself alone keeps from being a
// victim.
type candidate struct {
	id   victims.TaskID
	host int32 // it runs on, or -1
	leaf *eligible.Leaf
	gang int32 // the running job that may need it, or -1
	size resources.Vector
	key  string

	levels  cost.Levels
	work    resources.Wide // lost with it
	budgets []int32        // rows of budgets, ascending
}

// A grade is what ceilings ask of a candidate, in a sixth of its memory: they ask all
// of them, time and again.
type grade struct {
	rank, priority int64
	host           int32
	plain          bool // neither opted out nor an originator
	usable         bool // whether any unit has it
	alone          bool // whether it is a unit by itself
}

// gradeOf returns the grade of a candidate that may be of no use.
func gradeOf(c *candidate) grade {
	l := &c.levels
	return grade{
		rank: l[rulebook.LevelRank], priority: l[rulebook.LevelPriority], host: c.host,
		plain: l[rulebook.LevelOptedOut]+l[rulebook.LevelOriginators] == 0,
	}
}

// A scope says which tasks are looked at as candidates: all, or those listed, in the order of
// leaves. Of a gang all members are looked at or none, for one that may not go keeps its gang
// from going as a whole.
type scope struct {
	all   bool
	tasks []victims.TaskID // may be used even if not all are looked at
	gangs map[string]bool
}

// What it costs in steps to look at a task, and to have it as a candidate.
const lookWork, candidateWork = 4, 80

// gatherCandidates collects the candidates in a scope and the gangs they belong to, and
// makes units of them. It reports false if the caller of the decision has ended that
// early; then there are none.
func (c *jobCase) gatherCandidates(s scope) bool {
	c.cands, c.grades, c.gangs = c.cands[:0], c.grades[:0], c.gangs[:0]
	if c.gangOf == nil {
		c.gangOf = make(map[string]int32)
	}
	clear(c.gangOf)
	c.budgets.begin(c)
	whole := true
	if s.all {
		c.cands, c.grades = slices.Grow(c.cands, c.c.TaskLen()), slices.Grow(c.grades, c.c.TaskLen())
		if whole = c.gatherAll(); !whole {
			c.cands, c.grades, c.gangs = c.cands[:0], c.grades[:0], c.gangs[:0]
		}
	} else {
		for _, id := range s.tasks {
			if t := c.c.TaskView(id); s.gangs[t.Job] || c.c.MinMembers(t.Job) == 0 {
				c.consider(id, &t)
			}
		}
	}
	c.settleGangs()
	c.buildUnits()
	return whole
}

// gatherAll collects the candidates of all tasks, and reports whether it was not ended early.
func (c *jobCase) gatherAll() bool {
	for w := range c.tree.Leaves(0) {
		for id := range c.c.TasksIn(w) {
			t := c.c.TaskView(id)
			c.consider(id, &t)
		}
		if c.stopped() {
			return false
		}
	}
	return true
}

// consider adds a task if it is a candidate. A member counts for its job whether it is one or not:
// one that may not go keeps the job from going as a whole.
func (c *jobCase) consider(id victims.TaskID, t *victims.Task) {
	c.pay(lookWork)
	g := c.noteMember(t)
	if t.State == victims.Granted || c.rules.rule(id, t) != 0 {
		return
	}
	if g >= 0 {
		c.gangs[g].eligible++
	}
	c.pay(candidateWork)
	c.addCandidate(id, t, g)
}

// addCandidate adds a task of a gang, or of none.
func (c *jobCase) addCandidate(id victims.TaskID, t *victims.Task, gang int32) {
	c.cands = append(c.cands, candidate{
		id: id, host: c.hostAt(t.Node), leaf: &c.rules.eligible.Leaves[t.Queue], gang: gang, size: t.Size, key: t.Key,
		levels: c.rules.levels(id, t), work: c.rules.work(t),
	})
	c.grades = append(c.grades, gradeOf(&c.cands[len(c.cands)-1]))
	if len(t.Budgets) > 0 {
		c.cands[len(c.cands)-1].budgets = c.budgets.find(t.Budgets)
	}
}

// A gang is a running job that needs some of its members: those above its
// minimum may go one by one, and with one more it goes as a whole.
type gang struct {
	name     string
	running  int // members that run and do not leave
	eligible int // those of them that are candidates
	minimum  int
	surplus  int      // how many may go one by one
	counted  bool     // by a bound: not all candidates may go one by one
	bounds   [1]int32 // that bound, as the list that a part of a unit wants
	room     [1]int64 // of it: the surplus. The bound is a view of this.
	spent    bool     // as a whole it would take more than a hard budget has left
	first    int32    // its members are candidates supply.members[first:end]
	end      int32
}

// whole reports whether the gang can be stopped with all its members. Those that hold
// grants do not run yet: they neither go nor protect.
func (g *gang) whole() bool { return g.eligible == g.running }

// A unit is what goes together: a candidate, or a whole gang. It has the form
// in which a search takes it, but for the needs that it counts for: these depend
// on which hosts are short.
type unit struct {
	units.Unit
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
func (c *jobCase) noteMember(t *victims.Task) int32 {
	job := t.Job
	minimum := c.c.MinMembers(job)
	if minimum == 0 || job == c.job.Job {
		return -1
	}
	i, ok := c.gangOf[job]
	if !ok {
		i = int32(len(c.gangs))
		c.gangOf[job] = i
		c.gangs = append(c.gangs, gang{name: job, minimum: minimum})
	}
	g := &c.gangs[i]
	if t.State == victims.Running {
		g.running++
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
		c.rooms.Bounds = append(c.rooms.Bounds, units.Bound{Room: resources.Limit{Value: g.room[:], Defined: 1}})
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
	c.units, c.tasks, c.parts, c.keys, c.wholes = slices.Grow(c.units[:0], len(c.cands)), c.tasks[:0], c.parts[:0], c.keys[:0], 0
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

// keptAlone returns the rule of sums that keeps a candidate from going even if
// nobody else does, or 0.
func (c *jobCase) keptAlone(cand *candidate) rulebook.Rule {
	for _, b := range cand.budgets {
		if x := &c.budgets.list[b]; x.hard && x.left[0] < 1 {
			return rulebook.RuleBudget
		}
	}
	if !resources.Fits(cand.size, cand.leaf.Room) {
		return rulebook.RuleGuarantee // law 2
	}
	return 0
}

func (c *jobCase) addUnit(gang, i int32) {
	cand := &c.cands[i]
	at := int32(len(c.tasks))
	c.tasks = append(c.tasks, i)
	c.grades[i].usable, c.grades[i].alone = true, true
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
		u.Work = u.Work.Add(cand.work)
		u.Size = resources.Add(u.Size, u.Size, cand.size)
	}
	u.Levels[rulebook.LevelJobs] = 1
	u.end = int32(len(c.tasks))
	g.spent = c.budgets.spent(c, c.tasks[u.first:])
	if g.spent || !c.lawfulAlone(&u) {
		c.tasks = c.tasks[:u.first]
		return
	}
	for _, i := range c.tasks[u.first:u.end] {
		c.grades[i].usable = true
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
	if x.cap[0] >= 0 {
		x.counts = append(x.counts, count{x.cap, [1]int64{int64(u.end - u.first)}})
	}
	x.charge(c, u)
	// Most units are one task with nothing to count. They share the lists of their
	// leaf, so that a case of many tasks has no parts at all.
	if !u.whole && len(x.counts) == counts {
		leaf := c.cands[c.tasks[u.first]].leaf
		u.Bounds = leaf.Bounds
		return
	}
	from := len(c.parts)
	for _, i := range c.tasks[u.first:u.end] {
		cand := &c.cands[i]
		c.parts = append(c.parts, units.Part{Size: cand.size, Bounds: cand.leaf.Bounds})
	}
	// The parts that count come last: aim sets the needs of the parts before them,
	// one per task, and these have none.
	for i := counts; i < len(x.counts); i++ {
		one := &x.counts[i]
		c.parts = append(c.parts, units.Part{Size: one.amount[:], Bounds: one.bound[:]})
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
		lawful = lawful && keepsAll(c.rooms.Bounds, leaf.Bounds)
	}
	c.leaveRooms(tasks, +1)
	return lawful
}

// leaveRooms takes candidates off what bounds leave, or puts them back.
func (c *jobCase) leaveRooms(tasks []int32, sign int64) {
	for _, i := range tasks {
		cand := &c.cands[i]
		for _, b := range cand.leaf.Bounds {
			addTo(c.rooms.Bounds[b].Room.Value, cand.size, sign)
		}
	}
}

// keepsAll reports whether none of some bounds is passed: no type has less than
// nothing left.
func keepsAll(bounds []units.Bound, rows []int32) bool {
	for _, b := range rows {
		bound := &bounds[b]
		for t := range bound.Room.Defined.All() {
			if bound.Room.Value.At(t) < 0 {
				return false
			}
		}
	}
	return true
}

// budgets are the budgets of the cluster, as a search wants them: a hard one
// bounds the sum of victims in it, a soft one costs what goes beyond it.
type budgets struct {
	list   []budget // in the order of names
	soft   []int64
	inPlay bool        // some unit is in a soft budget
	rows   []int32     // of candidates, one list after another
	of     []least.Use // scratch of among
	uses   []least.Use
	counts []count  // of units, one list after another
	cap    [1]int32 // the bound on the number of all victims, or -1
	most   [1]int64 // what it bounds them to
}

// A budget is how many of its tasks may still be stopped.
type budget struct {
	name string
	left [1]int64 // at least 0
	hard bool
	row  int32 // of bounds if it is hard, else of soft budgets
}

// A count says that a unit uses up some of a bound that counts heads: the
// surplus of a gang, or a hard budget.
type count struct {
	bound  [1]int32
	amount [1]int64
}

// begin reads the budgets of the cluster.
func (b *budgets) begin(c *jobCase) {
	b.list, b.soft, b.rows, b.inPlay = b.list[:0], b.soft[:0], b.rows[:0], false
	for name, now := range c.c.Budgets() {
		// A budget that is overrun already has nothing left, and not less: what
		// others have taken is no debt of this plan.
		x := budget{name: name, left: [1]int64{max(now.Left, 0)}, hard: now.Hard}
		if !x.hard {
			x.row = int32(len(b.soft))
			b.soft = append(b.soft, x.left[0])
		}
		b.list = append(b.list, x)
	}
}

// bind adds a bound for each hard budget, and one for the cap on victims.
func (b *budgets) bind(c *jobCase) {
	for i := range b.list {
		if x := &b.list[i]; x.hard {
			x.row = int32(len(c.rooms.Bounds))
			c.rooms.Bounds = append(c.rooms.Bounds, units.Bound{Room: resources.Limit{Value: x.left[:], Defined: 1}})
		}
	}
	b.cap[0] = -1
	if most := c.caps[rulebook.CapVictims]; most > 0 {
		b.cap[0], b.most[0] = int32(len(c.rooms.Bounds)), int64(most)
		c.rooms.Bounds = append(c.rooms.Bounds, units.Bound{Room: resources.Limit{Value: b.most[:], Defined: 1}})
	}
	b.uses, b.counts = b.uses[:0], b.counts[:0]
}

// find returns the rows of budgets by name, in their order. It is a view.
func (b *budgets) find(names []string) []int32 {
	if len(names) == 0 {
		return nil
	}
	from := len(b.rows)
	for _, name := range names {
		row, _ := slices.BinarySearchFunc(b.list, name, func(x budget, name string) int { return strings.Compare(x.name, name) })
		b.rows = append(b.rows, int32(row))
	}
	slices.Sort(b.rows[from:])
	return b.rows[from:len(b.rows):len(b.rows)]
}

// spent returns whether a hard budget has less left than some candidates take.
func (b *budgets) spent(c *jobCase, tasks []int32) bool {
	for _, use := range b.among(c, tasks) {
		if x := &b.list[use.Budget]; x.hard && use.Count > x.left[0] {
			return true
		}
	}
	return false
}

// among returns the budgets that some candidates are in, by their rows and ascending, and
// how many are in each. It is good until the next call.
func (b *budgets) among(c *jobCase, tasks []int32) []least.Use {
	b.of = b.of[:0]
	for _, i := range tasks {
		for _, row := range c.cands[i].budgets {
			b.of = append(b.of, least.Use{Budget: row, Count: 1})
		}
	}
	slices.SortFunc(b.of, func(x, y least.Use) int { return cmp.Compare(x.Budget, y.Budget) })
	n := 0
	for i, use := range b.of {
		if i > 0 && use.Budget == b.of[n-1].Budget {
			b.of[n-1].Count++
			continue
		}
		b.of[n] = use
		n++
	}
	return b.of[:n]
}

// charge sets the soft budgets that a unit uses, and adds those that are hard
// to what it counts against.
func (b *budgets) charge(c *jobCase, u *unit) {
	tasks := c.tasks[u.first:u.end]
	if len(tasks) == 1 && len(c.cands[tasks[0]].budgets) == 0 {
		return // as most are
	}
	from := len(b.uses)
	for _, use := range b.among(c, tasks) {
		if x := &b.list[use.Budget]; x.hard {
			b.counts = append(b.counts, count{[1]int32{x.row}, [1]int64{use.Count}})
		} else {
			b.uses = append(b.uses, least.Use{Budget: x.row, Count: use.Count})
			b.inPlay = true
		}
	}
	u.Uses = b.uses[from:len(b.uses):len(b.uses)]
}

// overrun returns what victims take of soft budgets beyond what is left.
func (b *budgets) overrun(used []int64) (over int64) {
	for i, n := range used {
		over += max(n-b.soft[i], 0)
	}
	return over
}
