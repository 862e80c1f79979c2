// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"math"
	"slices"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/search"
	"github.com/go-preempt/preempt/resources"
)

// A posed says which tasks and gangs the rows of the last stated site stand for, and what
// is known of gangs.
//
// Words of the search: a digest sums up a node for it, and a lane of the digest is tasks of
// one size, priority and flags; a gauge is the least of a node. A site is a node with what
// it lacks. A blocker is a task that the caller wants gone. A gang goes whole or not at all.
type posed struct {
	units  []posedUnits // by row
	ids    []TaskID     // of rows that are no whole lane
	crews  []crew       // by the number that a gang has for its decision
	counts []budgetCount
	stamp  int32
	nodes  []int32 // in the order in which they are looked at
	least  int32   // the least priority of the cluster
	amount []int64 // what gangs give, row by row
	// The digest of the site that was stated last, if others may be like it, and what it lacks.
	like *nodeDigest
	need []int64
}

// posedUnits are the units of a row: tasks that go alone, or a gang.
type posedUnits struct {
	ids  []TaskID
	lane int32
	job  int32 // 0 if they are tasks
}

// A crew is a gang as a whole: what stopping it costs at least.
type crew struct {
	levels cost.Levels
	out    bool // a rule keeps some member
}

// pose poses the problem to the search.
func (d *decision) pose() {
	s := &d.engine
	x := &d.problem.posed
	x.like, x.crews, x.least = nil, x.crews[:0], math.MaxInt32
	for n := range d.c.digest.gauges {
		if d.p.Minimum != nil {
			x.least = min(x.least, d.c.digest.gauges[n].minPriority)
		}
	}
	s.Host, s.Order, s.Best = d, &d.problem.order.Order, &d.best.Best
	s.Size, s.Types, s.Capacity, s.Now = d.size, d.types, d.c.total, d.eligible.ns
	x.nodes = x.nodes[:0]
	for _, n := range d.nodes {
		x.nodes = append(x.nodes, int32(n))
	}
	s.Nodes = x.nodes
	s.Reset()
}

// State states what a node lacks, and who may give it, as [search.Host] wants it. It reports
// false if nothing is lacking, or if sums tell that the node has no plan.
func (d *decision) State(s *search.Site, at int32) bool {
	n, types := NodeID(at), d.c.types
	s.Need, s.Wanted = rows.Zeros(s.Need, types), rows.Zeros(s.Wanted, types)
	if !d.usable(n) || d.pool.hopeless || d.nodeNeed(s.Need, n) == 0 {
		return false
	}
	of, row := d.sieve.sums(n)
	gauge := &of.gauges[row]
	// Law 6, for all of them; and law 2, likewise.
	if d.eligible.LeastRank(gauge.minPriority) > d.eligible.Ceiling || d.eligible.TooLarge(d.c.row(of.least, row)) ||
		!resources.Fits(s.Need, d.c.row(of.all, row)) || !d.passes(n) {
		return false
	}
	for t := range s.Wanted {
		s.Wanted[t] = max(s.Need[t], d.needs.most[t])
	}
	x, digest := &d.problem.posed, d.sieve.lanes(n)
	// The lanes of a sieve are in memory that the next node gets.
	if lasts := digest == &d.c.digest.nodes[n]; lasts && x.isLike(digest, s.Need) {
		s.Same = true
		d.restate(s, digest)
		return true
	} else if x.like = nil; lasts && len(digest.lanes) <= mostAlike && len(d.c.costs) == 0 && !gauge.jobs {
		x.like, x.need = digest, append(x.need[:0], s.Need...)
	}
	s.Same = false
	if len(digest.lanes) > mostLanes {
		d.stateRoughly(s, digestRow{of, row}, digest)
		return true
	}
	d.stateRows(s, digest, d.p.Minimum != nil && gauge.jobs)
	return len(s.Rows) > 0
}

// mostLanes is up to how many lanes of a node are stated. To look at more of them takes about
// as long as to search the node.
const mostLanes = 1 << 11

// stateRoughly states the tasks of a node as if each were as large as the largest of each
// type, and cost as little as any.
func (d *decision) stateRoughly(s *search.Site, sums digestRow, digest *nodeDigest) {
	priority := sums.of.gauges[sums.row].minPriority
	rank := d.eligible.LeastRank(priority)
	row := search.Row{Size: d.c.row(sums.of.largest, sums.row), Count: int64(len(digest.ids)), Levels: cost.Levels{
		rulebook.LevelRank: rank, rulebook.LevelPriority: int64(priority), rulebook.LevelVictims: 1, rulebook.LevelSumRanks: rank, rulebook.LevelSumPriorities: int64(priority),
	}}
	x := &d.problem.posed
	s.Rows, x.units = append(s.Rows[:0], row), append(x.units[:0], posedUnits{ids: digest.ids})
	s.Exact, s.Rough = false, false
}

// stateRows states who may give what a node lacks: its lanes, and gangs with members there.
func (d *decision) stateRows(s *search.Site, digest *nodeDigest, gangs bool) {
	x := &d.problem.posed
	s.Rows, x.units, x.ids, x.amount = s.Rows[:0], x.units[:0], x.ids[:0], x.amount[:0]
	s.Exact = !gangs && d.alikeInLanes(NodeID(s.Node))
	members := int64(0)
	if s.Rough = s.Rough && gangs; s.Rough {
		members = d.fewestMembers(digest)
		s.Rough = members > 0
	}
	if gangs && !s.Rough {
		d.stateGangs(s, digest)
	}
	for i := range digest.lanes {
		l := &digest.lanes[i]
		if d.eligible.LeastRank(l.priority) > d.eligible.Ceiling || d.trial.sparing && l.flags.has(flagOptedOut) {
			continue
		}
		ids, times := digest.ids[l.first:l.end], digest.times[l.first:l.end]
		if s.Rough {
			times = nil
		} else if gangs {
			if ids, times = d.alone(ids), nil; len(ids) == 0 {
				continue
			}
		}
		s.Rows = append(s.Rows, search.Row{
			Size: digest.size(i, d.c.types), Count: int64(len(ids)), Levels: d.leastLevels(ids[0], l), Times: times,
			Weight: d.eligible.weights.Of(digest.size(i, d.c.types)),
		})
		if s.Rough {
			// At least of the member here: nothing is known of the others.
			levels := &s.Rows[len(s.Rows)-1].Levels
			levels[rulebook.LevelJobs], levels[rulebook.LevelVictims] = 1, members
			levels[rulebook.LevelSumRanks] += (members - 1) * d.eligible.LeastRank(x.least)
			levels[rulebook.LevelSumPriorities] += (members - 1) * int64(x.least)
		}
		x.units = append(x.units, posedUnits{ids: ids, lane: int32(i)})
	}
}

// mostAlike is up to how many lanes nodes have that are compared. With more of them
// they are hardly ever alike.
const mostAlike = 8

// isLike reports whether a node has as many tasks of the same sizes, priorities and flags as
// the one that was stated last, and lacks as much.
func (x *posed) isLike(digest *nodeDigest, need []int64) bool {
	return x.like != nil && slices.Equal(x.like.lanes, digest.lanes) && slices.Equal(x.like.sizes, digest.sizes) && slices.Equal(x.need, need)
}

// restate states who the units of such a node are.
func (d *decision) restate(s *search.Site, digest *nodeDigest) {
	x := &d.problem.posed
	x.like = digest
	s.Exact = d.alikeInLanes(NodeID(s.Node))
	for i := range x.units {
		l := &digest.lanes[x.units[i].lane]
		x.units[i].ids, s.Rows[i].Times = digest.ids[l.first:l.end], digest.times[l.first:l.end]
	}
}

// leastLevels returns what a task of a lane costs at least.
func (d *decision) leastLevels(id TaskID, l *lane) cost.Levels {
	rank := d.eligible.LeastRank(l.priority)
	levels := cost.Levels{
		rulebook.LevelRank: rank, rulebook.LevelPriority: int64(l.priority),
		rulebook.LevelVictims: 1, rulebook.LevelSumRanks: rank, rulebook.LevelSumPriorities: int64(l.priority),
	}
	if l.flags.has(flagOptedOut) {
		levels[rulebook.LevelOptedOut] = 1
	}
	if l.flags.has(flagOriginator) {
		levels[rulebook.LevelOriginators] = 1
	}
	if len(d.c.costs) > 0 {
		levels[rulebook.LevelOwn], levels[rulebook.LevelOwnLow] = resources.WideOf(d.c.costOf(id)).Halves()
	}
	return levels
}

// alikeInLanes reports whether tasks of a lane differ in work and key only, and the first
// to go are the first of the lane; and if a plan is nothing but such tasks.
func (d *decision) alikeInLanes(n NodeID) bool {
	if !d.eligible.EvenRanks || d.needs.open() || d.p.Blockers != nil || d.without.Rule != "" || d.c.digest.gauges[n].budgets {
		return false
	}
	// Those without work to lose are in no order of keys.
	return d.since(d.c.digest.latest[int(n)*numLatest]) > 0
}

// alone returns those of the tasks that may go by themselves: they are in no gang, or in one
// that has more members than it needs.
func (d *decision) alone(ids []TaskID) []TaskID {
	x := &d.problem.posed
	from := len(x.ids)
	for _, id := range ids {
		if job := d.c.tasks[id].job; job != 0 {
			if g := d.gangs.glance(job); g.minimum > 0 && g.surplus() == 0 {
				continue
			}
		}
		if d.eligible.veto(id) == 0 {
			x.ids = append(x.ids, id)
		}
	}
	return x.ids[from:len(x.ids):len(x.ids)]
}

// fewestMembers returns how many members the smallest gang has that has a task on a
// node, or 0 if some task may go alone or two are of one gang. If it is more than 0, each of
// the tasks goes with so many victims at least: that is what gangs mostly are, for their
// members are spread over the cluster so that a node that fails stops one of each.
func (d *decision) fewestMembers(digest *nodeDigest) (members int64) {
	d.problem.posed.stamp++
	d.trial.pay(glanceWork * int64(len(digest.ids)))
	members = noLimit
	for _, id := range digest.ids {
		job := d.c.tasks[id].job
		if job == 0 {
			return 0
		}
		g := d.gangs.glance(job)
		if g.minimum == 0 || g.surplus() > 0 || g.stamp == d.problem.posed.stamp {
			return 0
		}
		g.stamp = d.problem.posed.stamp
		members = min(members, int64(g.running))
	}
	return members
}

// glanceWork is what it takes to look up the gang of a task, in elementary work, and
// crewWork to look at a member of a gang.
const glanceWork, crewWork = 5, 15

// stateGangs states the gangs with members on a node, each as a row of one unit. It costs
// what all its members cost, wherever they run, and gives what those on the node give.
func (d *decision) stateGangs(s *search.Site, digest *nodeDigest) {
	x, types := &d.problem.posed, d.c.types
	x.stamp++
	d.trial.pay(glanceWork * int64(len(digest.ids)))
	for i := range digest.lanes {
		l := &digest.lanes[i]
		for _, id := range digest.ids[l.first:l.end] {
			job := d.c.tasks[id].job
			if job == 0 {
				continue
			}
			g := d.gangs.glance(job)
			if g.minimum == 0 {
				continue
			}
			if g.stamp != x.stamp {
				g.stamp, g.unit = x.stamp, -1
				if c := d.crewOf(job, g); !c.out {
					g.unit = int32(len(s.Rows))
					s.Rows = append(s.Rows, search.Row{Count: 1, Levels: c.levels})
					x.units, x.amount = append(x.units, posedUnits{job: job}), rows.More(x.amount, types)
				}
			}
			if g.unit >= 0 {
				all := resources.Vector(rows.At(x.amount, int(g.unit), types))
				resources.Add(all, all, digest.size(i, types))
			}
		}
	}
	for i := range s.Rows {
		s.Rows[i].Size = rows.At(x.amount, i, types)
	}
}

// crewOf returns what is known of the gang of a job as a whole. It is the same for all
// nodes on which it has members.
func (d *decision) crewOf(job int32, g *jobGlance) *crew {
	x := &d.problem.posed
	if g.crew > 0 {
		return &x.crews[g.crew-1]
	}
	x.crews = append(x.crews, crew{})
	g.crew = int32(len(x.crews))
	c := &x.crews[g.crew-1]
	x.counts = x.counts[:0]
	d.trial.pay(crewWork * int64(g.running))
	n := 0
	for _, id := range d.c.membersOf(job) {
		if d.c.tasks[id].state != Running {
			continue
		}
		if d.eligible.veto(id) != 0 || d.spares(id) {
			c.out = true
			return c
		}
		levels := d.eligible.levels(id)
		levels[rulebook.LevelOverrun] = d.overrunOf(id)
		c.levels = d.problem.order.Join(&c.levels, n, &levels)
		n++
	}
	c.levels[rulebook.LevelJobs] = 1
	return c
}

// overrunOf returns by how much a task more overruns its budgets, after those of the
// gang that were counted. What a set of units overruns is no less than the sum of what
// each does by itself: none of them finds more left than is left now.
func (d *decision) overrunOf(id TaskID) (over int64) {
	x := &d.problem.posed
	for _, b := range d.c.budgetsOf(id) {
		budget := &d.c.budgets[b]
		if budget.hard {
			continue
		}
		i := slices.IndexFunc(x.counts, func(c budgetCount) bool { return c.budget == b })
		if i < 0 {
			i, x.counts = len(x.counts), append(x.counts, budgetCount{budget: b})
		}
		if x.counts[i].count++; x.counts[i].count > max(budget.left, 0) {
			over++
		}
	}
	return over
}

// Admits reports whether a node is to be searched: filter and predicate let the ask run there.
func (d *decision) Admits(n int32) bool { return d.hearing.admits(NodeID(n)) }

// Before reports whether a node is preferred to another one if all else is equal.
func (d *decision) Before(n, m int32) bool { return d.c.comesBefore(NodeID(n), NodeID(m)) }

// Solve searches a node, and reports whether it did so to the end.
func (d *decision) Solve(n int32) bool {
	t := &d.trial
	proven, levels := t.proven, t.levels
	t.proven, d.worker.OnlyLesser = true, d.engine.Lesser
	d.searchNode(NodeID(n))
	complete := t.proven
	t.proven, d.worker.OnlyLesser = proven && complete, false
	if !complete && d.exhausted() {
		// The node is looked at again with more of the budget; if not, the search itself
		// says that it has not shown everything.
		t.proven, t.levels = proven, levels
	}
	return complete
}

// Try offers the cheapest plan among some units of the site that was stated last.
func (d *decision) Try(s *search.Site, picks []search.Pick) (total cost.Total, ok bool) {
	// Searches ask the caller as they begin, and one that is to end finds what there is
	// at once.
	if d.trial.meter.Ask(); d.trial.meter.Stopped || d.needs.open() {
		return total, false
	}
	n, u := NodeID(s.Node), &d.local
	at := d.siteOf(n)
	if at.out {
		return total, false
	}
	u.reset()
	for _, p := range picks {
		x := &d.problem.posed.units[p.Row]
		if x.job != 0 {
			row := d.gangs.of(d.c.membersOf(x.job)[0])
			if d.gangs.rows[row].rule != 0 {
				// Laws over all that a gang frees, and the caller's exemptions, are not asked
				// before: of most gangs nobody needs to know.
				d.problem.posed.crews[d.gangs.glance(x.job).crew-1].out = true
				return total, true
			}
			u.addWhole(d, &at, row)
			continue
		}
		for _, id := range x.ids[:p.Count] {
			if !d.candidate(id, &at) {
				return total, false
			}
			u.add(d, &at, id)
		}
	}
	// The search takes care of law 2 over all of them, of budgets, and that nobody goes
	// without need.
	t := &d.trial
	proven, levels := t.proven, t.levels
	d.worker.OnlyLesser = d.engine.Lesser
	d.state(&at, d.wanted(&at))
	d.solve(&d.found, u, d.limit())
	d.offer(n, &d.found, u)
	if d.worker.OnlyLesser = false; d.best.node() == n {
		d.best.Exact = false // of all its tasks others may be cheaper
	}
	t.proven, t.levels = proven, levels
	return d.found.Total, d.found.Found
}
