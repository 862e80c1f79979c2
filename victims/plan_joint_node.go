// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/weigh"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// What a joint search does on one node: it raises its bound by carried prices,
// turns prices for it, and tries covers by the few tasks that are left.

const (
	// coverSteps is how many steps a search for a cover has at least.
	coverSteps = 1 << 10
	// mostItems is how many tasks a search on a node has at most. With more than that a
	// search by classes would take its time to be built, and hardly ever come to an end.
	mostItems = 2 * thinTo
)

// question asks about a node whether so many rows of the bound make room and headroom.
func (j *jointSearch) question(p *prospect, most int64) weigh.Question {
	short := j.d.scratch.short
	j.d.nodeNeed(short, p.node)
	j.needOf(short, p.here)
	if j.out == nil {
		j.out = j.isOut // bound once, not for every node
	}
	return weigh.Question{Need: j.need, Most: most, Out: j.out}
}

// isOut reports whether the tasks elsewhere of a row are in no plan that is wanted.
func (j *jointSearch) isOut(row int32) bool {
	if int(row) >= j.outside.len() {
		return false
	}
	x := j.outside.first(row)
	return !j.allows(x.flags, x.priority)
}

// stand leaves of the rows those elsewhere than on a node.
func (j *jointSearch) stand(n NodeID) {
	j.bound.Release()
	if j.node != noNode {
		j.outside.leaveOut(j.bound.Copies, j.node, -1)
	}
	j.node = n
	j.outside.leaveOut(j.bound.Copies, n, 1)
}

// sketch makes rows of the tasks on a node that a plan may have, those that are alike and
// next to each other one. Only a few rules are asked, so that there may be too many.
func (j *jointSearch) sketch(n NodeID) {
	d, digest := j.d, &j.d.c.digest.nodes[n]
	j.stand(n)
	for i := range digest.lanes {
		l := &digest.lanes[i]
		if !j.allows(l.flags, l.priority) {
			continue
		}
		last := int32(-1) // no level
		for k := l.first; k < l.end; k++ {
			leaf := &d.eligible.Leaves[digest.leaves[k]]
			switch {
			case leaf.Veto != 0:
			case leaf.Level == last:
				j.bound.Copies[j.bound.Len()-1]++
			default:
				last = leaf.Level
				j.fill(j.bound.Add(1), digest.size(i, d.c.types), jointTask{last, true})
			}
		}
	}
	d.trial.pay(int64(len(digest.ids)))
}

// raise raises the bound of a node by what carried prices say.
func (j *jointSearch) raise(p *prospect) {
	most := int64(mostJoint)
	if j.d.best.Found {
		most = min(most, j.d.best.Total.Levels[rulebook.LevelVictims])
	}
	j.tie(p)
	j.sketch(p.node)
	fewest, spare := j.bound.Glance(j.question(p, most))
	p.spare = spare
	j.least(p, max(fewest, p.levels[rulebook.LevelVictims]))
	j.pay()
}

// refuted reports whether carried prices show that a node has no plan of lesser
// levels than the best. If not, it raises the bound of the node.
func (j *jointSearch) refuted(p *prospect) bool {
	most, ok := j.most(p)
	q := *p
	if j.raise(&q); ok && j.complete(p, most) && !j.d.best.losesTo(&q.levels) {
		return true
	}
	p.levels, p.spare = q.levels, q.spare
	return false
}

// examine looks for a plan of lesser levels on a node. It reports whether there is
// none besides what it leaves as the best.
//
// If it is not known that plans for the node are no better in the levels before the
// number of victims, it still looks for one, but shows nothing.
func (j *jointSearch) examine(p *prospect) bool {
	defer j.pay()
	d := j.d
	most, ok := j.most(p)
	j.sketch(p.node)
	told := ok && j.complete(p, most)
	again := true
	for j.collect(p); ok && again; most, ok = j.most(p) {
		got, best := j.bound.Cover(j.question(p, most), j.steps()), d.best.Total.Levels
		if j.pay(); got == weigh.Uncovered {
			return told && j.outside.serve(&d.best)
		}
		// What covers is rough, and laws over sums were not asked.
		if got == weigh.Covered {
			j.attempt(p, j.bound.Picks())
		}
		again = d.best.Total.Levels != best
	}
	j.rest = j.rest[:0]
	if ok {
		for row := range j.bound.Fits {
			j.leave(row, most)
		}
	} else {
		out := j.question(p, 0).Out
		for row := range int32(j.bound.Len()) {
			if !out(row) {
				j.leave(row, mostJoint)
			}
		}
	}
	return j.attempt(p, j.rest) && told && j.outside.serve(&d.best)
}

// leave leaves the tasks of a row for a search, no more than so many.
func (j *jointSearch) leave(row int32, most int64) {
	for range min(int64(j.bound.Copies[row]), most) {
		j.rest = append(j.rest, row)
	}
}

// steps is how many steps a search for a cover may take: the budget of the node is for what
// comes after it as well.
func (j *jointSearch) steps() int64 {
	return max(j.d.trial.meter.Left/int64(16*len(j.need)), coverSteps)
}

// collect makes rows of the tasks on a node that may go, one each: all rules about a single
// task are asked.
func (j *jointSearch) collect(p *prospect) {
	d, digest := j.d, &j.d.c.digest.nodes[p.node]
	s := d.siteOf(p.node)
	j.tie(p)
	j.stand(p.node)
	j.ids = j.ids[:0]
	for i := range digest.lanes {
		l := &digest.lanes[i]
		if !j.allows(l.flags, l.priority) {
			continue
		}
		for k := l.first; k < l.end; k++ {
			if id := digest.ids[k]; d.candidate(id, &s) {
				j.fill(j.bound.Add(1), digest.size(i, d.c.types), jointTask{d.eligible.Leaves[digest.leaves[k]].Level, true})
				j.ids = append(j.ids, id)
			}
		}
	}
	d.trial.pay(int64(gatherWork / 4 * len(digest.ids)))
}

// attempt searches for a plan of the tasks of some rows, which it offers: as in any search
// on a node, all laws hold, and what is found is inclusion-minimal.
//
// It reports whether they have none besides what it leaves as the best, whatever laws over
// sums and budgets say.
func (j *jointSearch) attempt(p *prospect, of []int32) bool {
	d, u := j.d, &j.d.local
	s := d.siteOf(p.node)
	u.reset()
	j.outside.rewind()
	here, there := d.scratch.taken[:0], j.elsewhere[:0]
	for _, row := range of {
		if k := int(row) - j.outside.len(); k >= 0 {
			here = append(here, j.ids[k])
		} else if id, ok := j.outside.next(row, p.node); ok {
			there = append(there, id)
		}
	}
	// Those on the node all stay: they are few, and may meet both needs.
	thinned := len(here)+len(there) > mostItems
	if d.scratch.taken, j.elsewhere = here, there; thinned {
		there = d.pool.thin(d, there)
	}
	// Whoever may be held back by more than its own rules makes a second search needed.
	bound := false
	for _, ids := range [...][]TaskID{here, there} {
		for _, id := range ids {
			u.add(d, &s, id)
			bound = bound || len(u.units[len(u.units)-1].Uses) > 0
		}
	}
	bound = bound || u.bound
	d.state(&s, d.wanted(&s))
	d.solve(&d.found, u, d.limit())
	d.offer(p.node, &d.found, u)
	if !d.found.Proven || thinned || !bound {
		return d.found.Proven && !thinned
	}
	// A task was left out because others do as well: but for laws over sums, and for
	// budgets. So nothing is shown unless these have no plan without those either.
	u.unbind()
	d.state(&s, d.wanted(&s))
	d.solve(&d.found, u, d.limit())
	return d.found.Proven && !d.found.Found
}

// unbind takes what binds units together off them: laws over sums, and budgets.
func (u *unitSet) unbind() {
	for i := range u.units {
		x := &u.units[i]
		x.Bounds, x.Parts, x.Uses = nil, nil, nil
	}
	u.bound = false
}

// Of the tasks that make headroom elsewhere than on the node of a plan, few are of interest:
// those that are worth most at good prices; see package weigh. One pass over all tasks finds
// them. What they are worth has nothing to do with any node, and so they serve all nodes. A
// node whose plans need somebody who is worth more than all that were left out needs
// nobody else; that is reduced-cost fixing, and is asked of each node.

// outsiders are tasks that make headroom, whatever node they are on, the first of many that
// are alike. Memory is reused.
type outsiders struct {
	rows     []outsider // group by group
	groups   []int32    // the first row of each group of those that are alike, and the end
	taken    []int32    // by group: the row after the last one that was taken; see next
	onNode   []int32    // rows by node
	cut      int64      // nobody else is worth more
	prefix   []int64    // the levels before the number of victims of a plan that may have them
	levels   []int32    // by leaf: the level of its tasks, or noLevel
	limit    int        // how many there are at most
	copies   int32      // how many that are alike
	seen     []alikeSlot
	distinct int
	closed   []NodeID
	met      int // how many tasks were looked at

	leastPriority int32 // of all tasks
}

// An outsider is a task, and what it is worth.
type outsider struct {
	worth    int64
	id       TaskID
	node     NodeID
	level    int32 // see shortage
	priority int32
	flags    flags
	group    int32 // the row of the bound that it is a copy of
}

// An alikeSlot counts tasks that are alike: they give the same, and cost the same but for
// work.
type alikeSlot struct {
	first TaskID
	count int32 // 0 is empty
}

// noLevel is that of leaves whose tasks make no headroom, or may not go.
const noLevel = math.MaxInt32

const (
	// sampleOutsiders is how many tasks elsewhere the first nodes are searched with, and
	// fewOutsiders how many the others are at first. They are not measured.
	sampleOutsiders, fewOutsiders = 1 << 7, 1 << 9
	// alikeSlots is how many sizes are told apart, twice.
	alikeSlots = 1 << 14
)

// gather gathers those that are worth most at some prices, of every n-th node and no more
// than a limit, and makes them the rows that all nodes share.
func (j *jointSearch) gather(prices []int64, every, limit int) {
	d, x := j.d, &j.outside
	j.prices = append(j.prices[:0], prices...)
	x.reset(d)
	x.limit = limit
	for from := 0; ; {
		for i := from; i < len(d.c.order) && !d.trial.meter.Over(); i += every {
			j.gatherNode(d.c.order[i])
		}
		// Of a sample that has too few it takes more nodes, between those that it has.
		if every == 1 || x.met >= sampleTasks {
			break
		}
		if from > 0 {
			every /= 2
		}
		from = every / 2
		if from == 0 {
			break
		}
	}
	if every == 1 {
		// Tasks on closed nodes count as well.
		x.closed = d.c.ClosedNodes(x.closed[:0])
		slices.SortFunc(x.closed, func(a, b NodeID) int { return strings.Compare(d.c.nodes[a].name, d.c.nodes[b].name) })
		for _, n := range x.closed {
			j.gatherNode(n)
		}
	}
	x.trim()
	x.group(d)
	j.bound.Reset(len(j.dims) + 1)
	for g := range len(x.groups) - 1 {
		first := &x.rows[x.groups[g]]
		j.fill(j.bound.Add(x.groups[g+1]-x.groups[g]), d.c.size(first.id), jointTask{first.level, false})
	}
	j.bound.Hold(j.prices)
	j.node = noNode
	j.pay()
}

// reset makes it empty. It is for plans that are as good as the best in the levels before
// the number of victims.
func (x *outsiders) reset(d *decision) {
	x.rows, x.cut, x.met, x.distinct = x.rows[:0], 0, 0, 0
	x.leastPriority = math.MaxInt32
	for n := range d.c.digest.gauges {
		x.leastPriority = min(x.leastPriority, d.c.digest.gauges[n].minPriority)
	}
	best := &d.best.Total.Levels
	x.prefix = append(x.prefix[:0], best[:rulebook.LevelVictims]...)
	// Those on the node of a plan are not elsewhere, so there have to be more.
	x.copies = int32(min(best[rulebook.LevelVictims], mostJoint))
	for n := range d.c.nodes {
		x.copies = max(x.copies, int32(best[rulebook.LevelVictims])+int32(len(d.c.nodes[n].tasks)))
	}
	if len(x.seen) == 0 {
		x.seen = make([]alikeSlot, alikeSlots)
	}
	clear(x.seen)
	x.levels = x.levels[:0]
	for range d.tree.Len() {
		x.levels = append(x.levels, noLevel)
	}
	for w := range d.tree.Leaves(queue.Root) {
		if leaf := &d.eligible.Leaves[w]; leaf.Veto == 0 && int(leaf.Level) <= d.needs.widest {
			x.levels[w] = leaf.Level
		}
	}
}

// gatherNode gathers those of a node.
func (j *jointSearch) gatherNode(n NodeID) {
	d, x, digest := j.d, &j.outside, &j.d.c.digest.nodes[n]
	there := d.elsewhere()
	for i := range digest.lanes {
		l := &digest.lanes[i]
		if !j.allows(l.flags, l.priority) {
			continue
		}
		size, last, worth := digest.size(i, d.c.types), int32(noLevel), int64(0)
		for k := l.first; k < l.end; k++ {
			level := x.levels[digest.leaves[k]]
			if level == noLevel {
				continue
			}
			if x.met++; level != last {
				last, worth = level, j.worth(size, level)
			}
			// The caller and most rules are asked about those only that have come so far.
			if id := digest.ids[k]; worth > x.cut && d.candidate(id, &there) && x.isNew(d, id, level) {
				x.rows = append(x.rows, outsider{worth, id, n, level, l.priority, l.flags, 0})
			}
		}
		if len(x.rows) > 2*x.limit {
			x.trim()
		}
	}
	d.trial.pay(int64(len(digest.lanes)*len(j.dims) + len(digest.ids)))
}

// worth returns what a task elsewhere is worth.
func (j *jointSearch) worth(size resources.Vector, level int32) (worth int64) {
	for k := range j.dims {
		if r := &j.dims[k]; r.head >= 0 && level <= int32(r.head) {
			worth += r.scale.Has(size[r.typ]) * j.prices[k]
		}
	}
	return worth
}

// hashSeed is the hash of nothing.
const hashSeed = 14695981039346656037

// hashOf is FNV-1a by words, from a hash of what came before.
func hashOf(h uint64, list []int64) uint64 {
	for _, v := range list {
		h = (h ^ uint64(v)) * 1099511628211
		h ^= h >> 29
	}
	return h
}

// isNew reports whether there are few tasks so far that are like one, and counts it.
//
// If tasks come in a few shapes, thousands of rows would be alike.
func (x *outsiders) isNew(d *decision, id TaskID, level int32) bool {
	size, levels := d.c.size(id), d.eligible.levels(id)
	h := hashOf(hashOf(hashSeed^uint64(uint32(level)), size), levels[:])
	for i := h % alikeSlots; ; i = (i + 1) % alikeSlots {
		s := &x.seen[i]
		switch {
		case s.count == 0:
			if x.distinct == alikeSlots/2 {
				return true // hardly two are alike
			}
			x.distinct++
			*s = alikeSlot{id, 1}
			return true
		case x.levels[d.c.tasks[s.first].leaf] == level && slices.Equal(d.c.size(s.first), size) && d.eligible.levels(s.first) == levels:
			s.count++
			return s.count <= x.copies
		}
	}
}

// trim leaves out those that are worth least.
func (x *outsiders) trim() {
	slices.SortStableFunc(x.rows, func(a, b outsider) int { return cmp.Compare(b.worth, a.worth) })
	if len(x.rows) > x.limit {
		x.cut = max(x.cut, x.rows[x.limit].worth)
		x.rows = x.rows[:x.limit]
	}
}

// group puts those that are alike next to each other.
func (x *outsiders) group(d *decision) {
	compare := func(a, b *outsider) int {
		if a.worth != b.worth {
			return cmp.Compare(b.worth, a.worth)
		}
		mine, other := d.eligible.levels(a.id), d.eligible.levels(b.id)
		return cmp.Or(cmp.Compare(a.level, b.level), slices.Compare(mine[:], other[:]), slices.Compare(d.c.size(a.id), d.c.size(b.id)))
	}
	slices.SortStableFunc(x.rows, func(a, b outsider) int { return compare(&a, &b) })
	x.groups, x.onNode = x.groups[:0], x.onNode[:0]
	for i := range x.rows {
		if i == 0 || compare(&x.rows[i-1], &x.rows[i]) != 0 {
			x.groups = append(x.groups, int32(i))
		}
		x.rows[i].group = int32(len(x.groups) - 1)
		x.onNode = append(x.onNode, int32(i))
	}
	x.groups = append(x.groups, int32(len(x.rows)))
	slices.SortFunc(x.onNode, func(a, b int32) int { return cmp.Or(cmp.Compare(x.rows[a].node, x.rows[b].node), cmp.Compare(a, b)) })
}

// first returns the first task of a row of the bound, which is like the others.
func (x *outsiders) first(row int32) *outsider { return &x.rows[x.groups[row]] }

// len returns the number of rows of the bound that they are.
func (x *outsiders) len() int { return len(x.groups) - 1 }

// rewind has [outsiders.next] begin anew: nobody is taken.
func (x *outsiders) rewind() { x.taken = append(x.taken[:0], x.groups[:x.len()]...) }

// next returns the first task of a row of the bound that is not on a node and was not
// returned since the last rewind, in whatever order rows are asked for. It reports false if
// there is none.
func (x *outsiders) next(row int32, n NodeID) (id TaskID, ok bool) {
	for at := &x.taken[row]; *at < x.groups[row+1]; {
		y := &x.rows[*at]
		if *at++; y.node != n {
			return y.id, true
		}
	}
	return 0, false
}

// leaveOut takes the tasks on a node off the copies of rows, or puts them back: on the node
// itself they have rows of their own.
func (x *outsiders) leaveOut(copies []int32, n NodeID, times int32) {
	i, _ := slices.BinarySearchFunc(x.onNode, n, func(i int32, n NodeID) int { return cmp.Compare(x.rows[i].node, n) })
	for ; i < len(x.onNode) && x.rows[x.onNode[i]].node == n; i++ {
		copies[x.rows[x.onNode[i]].group] -= times
	}
}

// complete reports whether a node needs nobody elsewhere but these for a plan of so many
// victims, which would be as good as the best in all levels before that. The tasks of the
// node are sketched.
func (j *jointSearch) complete(p *prospect, most int64) bool {
	x := &j.outside
	if x.cut == 0 || !x.serve(&j.d.best) {
		return x.serve(&j.d.best)
	}
	_, _, least := j.bound.Base(j.question(p, most))
	return least > x.cut
}

// serve reports whether they are those that a plan may have which is as good as the best
// in the levels before the number of victims.
func (x *outsiders) serve(best *incumbent) bool {
	return slices.Equal(x.prefix, best.Total.Levels[:rulebook.LevelVictims])
}
