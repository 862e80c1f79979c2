// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
)

// If headroom is short as well as a node, one set has to make both. What makes headroom may be
// on any node. It is gathered once, as rows of tasks that are alike, and is part of the problem
// of every node that the node's own tasks do not solve.
//
// Of tasks of many leaves law 2 would make as many rows, and mostly it keeps nobody from going
// with the others. So rows say nothing of it until a set breaks it, which decision.offer finds
// out; from then on they do.

const (
	// mostPool is how many rows a pool has. If tasks are of more kinds, the fewPool best of
	// them by themselves are kept, and nothing is shown.
	mostPool, fewPool = 128, 96
	// roomAtOnce is for how many tasks a row has memory from the first: rows change places.
	roomAtOnce = 64
	// mostGangs is how many whole gangs a pool has.
	mostGangs = 64
	// poolShare is one part in so many of the budget for the cheapest set that makes headroom,
	// and poolSteps how many steps that takes at most.
	poolShare, poolSteps = 32, 1 << 14
	// poolWork is what it takes to look at a task of the pool, in elementary work.
	poolWork = 4
)

// A pool is the tasks that make headroom, on whatever node. Memory is reused.
type pool struct {
	d        *decision
	there    site // on no node
	rows     []poolRow
	gangs    []int32
	index    map[poolKey]int32
	cut      poolRank // no worse rows are taken
	most     int64    // tasks that a node has at most
	memory   memory
	gathered bool
	thinned  bool // it has only the best of them
	whole    bool // thinned it had no plan, and is gathered whole
	strict   bool // rows say what they take of law 2
	broken   bool // they did not, and a set was no plan for that
	solved   bool
	hopeless bool     // no set makes headroom, and so no node has a plan
	ids      []TaskID // of the cheapest set that makes headroom
	problem  least.Problem
}

// A poolRow is tasks that are alike but for work and key, those first that go first.
type poolRow struct {
	ids   []TaskID
	times []int64
	row   least.Row // but for what it gives, Count and Times
	most  int64     // no more of them are of use
	rank  poolRank
	key   poolKey
	like  TaskID // one of them
}

// A poolKey tells kinds of tasks apart.
type poolKey struct {
	hash uint64
	row  rowKey
}

// A poolRank orders kinds: by levels, then by what they give of the largest lacks.
type poolRank struct {
	levels cost.Levels
	share  int64
}

func (p *pool) reset(d *decision) {
	// Who asks about sets, or looks at all of them, wants them lawful at once.
	p.whole, p.strict = d.p.exhaustive, d.p.exhaustive || d.p.Predicate != nil
	p.forget()
}

// forget forgets who makes headroom: others do, or more is to be said of them.
func (p *pool) forget() {
	p.gathered, p.solved, p.hopeless, p.thinned, p.broken = false, false, false, false, false
}

// gather collects the tasks that make headroom.
func (p *pool) gather(d *decision) {
	if p.gathered {
		return
	}
	p.d, p.there = d, d.elsewhere()
	p.gathered, p.thinned = true, false
	p.rows, p.gangs, p.most = p.rows[:0], p.gangs[:0], 0
	p.memory.reset()
	if p.index == nil {
		p.index = map[poolKey]int32{}
	}
	clear(p.index)
	for n := range d.c.digest.gauges {
		p.most = max(p.most, int64(d.c.digest.gauges[n].evictable))
	}
	if d.c.gangs > 0 {
		for w := range d.tree.Leaves(d.needs.queues[d.needs.widest]) {
			d.gangs.meetAll(d.c.leaves[w])
		}
	}
	for _, n := range d.c.order {
		p.gatherNode(n)
	}
	if d.c.hasClosed() {
		closed := d.c.ClosedNodes(nil)
		slices.SortFunc(closed, func(a, b NodeID) int { return strings.Compare(d.c.nodes[a].name, d.c.nodes[b].name) })
		for _, n := range closed {
			p.gatherNode(n)
		}
	}
	if id := d.without.task; d.relaxesRequired() { // a digest knows no such task
		if leaf := &d.eligible.Leaves[d.c.tasks[id].leaf]; leaf.Veto == 0 && int(leaf.Level) <= d.needs.widest {
			p.add(id, min(d.c.newest(id), d.eligible.ns), uint64(id), d.shareOf(d.c.size(id), d.needs.most))
		}
	}
	if len(p.rows) > mostPool && !p.whole {
		p.thin()
	}
	p.gatherGangs()
}

// gatherNode collects those of a node.
func (p *pool) gatherNode(n NodeID) {
	d, digest := p.d, &p.d.c.digest.nodes[n]
	d.trial.pay(int64(poolWork * len(digest.ids)))
	for i := range digest.lanes {
		l, size := &digest.lanes[i], digest.size(i, d.c.types)
		if d.eligible.LeastRank(l.priority) > d.eligible.Ceiling {
			continue
		}
		hash, share := uint64(0), int64(-1)
		for k := l.first; k < l.end; k++ {
			leaf := &d.eligible.Leaves[digest.leaves[k]]
			if leaf.Veto != 0 || int(leaf.Level) > d.needs.widest {
				continue
			}
			if share < 0 {
				own := d.eligible.levelsAt(digest.ids[k], 0)
				hash, share = hashOf(hashOf(hashSeed, own[:]), size), d.shareOf(size, d.needs.most)
			}
			p.add(digest.ids[k], min(digest.times[k], d.eligible.ns), hash, share)
		}
	}
}

// add adds a task to those that are like it.
func (p *pool) add(id TaskID, begun int64, hash uint64, share int64) {
	d, key := p.d, poolKey{hash, p.d.keyOf(&p.there, id, !p.strict)}
	i, ok := p.index[key]
	if ok && !slices.Equal(p.rows[i].row.Size, d.c.size(id)) {
		key.row.by = int32(id) // another kind of the same hash
		i, ok = p.index[key]
	}
	if !ok {
		rank := poolRank{d.eligible.levels(id), share}
		if p.thinned && d.compareRanks(&rank, &p.cut) >= 0 || !d.candidate(id, &p.there) {
			return
		}
		i = p.addRow(id, key, rank)
	} else if x := &p.rows[i]; int64(len(x.ids)) == x.most && !x.goesBefore(d, begun, id, len(x.ids)-1) || !d.candidate(id, &p.there) {
		return
	}
	x := &p.rows[i]
	at := len(x.ids)
	for at > 0 && x.goesBefore(d, begun, id, at-1) {
		at--
	}
	if int64(len(x.ids)) == x.most {
		x.ids, x.times = x.ids[:len(x.ids)-1], x.times[:len(x.times)-1]
	}
	x.ids, x.times = slices.Insert(x.ids, at, id), slices.Insert(x.times, at, begun)
}

// goesBefore reports whether a task goes before one of those that are like it.
func (x *poolRow) goesBefore(d *decision, begun int64, id TaskID, at int) bool {
	if d.order.byWork && x.row.Weight > 0 && begun != x.times[at] {
		return begun > x.times[at]
	}
	return d.c.tasks[id].key < d.c.tasks[x.ids[at]].key
}

// addRow adds a kind.
func (p *pool) addRow(id TaskID, key poolKey, rank poolRank) int32 {
	if len(p.rows) >= 2*mostPool && !p.whole {
		p.thin()
	}
	d, i := p.d, int32(len(p.rows))
	p.index[key] = i
	p.rows = rows.Next(p.rows)
	x := &p.rows[i]
	x.ids, x.times, x.rank, x.key, x.like, x.most = x.ids[:0], x.times[:0], rank, key, id, 0
	size := d.c.size(id)
	for _, h := range d.problem.heads {
		if key.row.level <= h.queue && size[h.typ] > 0 {
			x.most = max(x.most, (d.needs.short[h.queue][h.typ]-1)/size[h.typ]+1)
		}
	}
	// What is on the node that a plan is for counts apart.
	x.most = min(x.most+p.most, int64(len(d.c.tasks)))
	x.ids, x.times = slices.Grow(x.ids, int(min(x.most, roomAtOnce))), slices.Grow(x.times, int(min(x.most, roomAtOnce)))
	x.row = least.Row{Levels: rank.levels, Size: size, Weight: d.eligible.weights.Of(size)}
	x.row.Takes, x.row.Uses = d.drawsOf(&p.memory, id, &key.row)
	return i
}

// thin keeps the best kinds.
func (p *pool) thin() {
	d := p.d
	p.thinned = true
	slices.SortStableFunc(p.rows, func(a, b poolRow) int {
		return cmp.Or(d.compareRanks(&a.rank, &b.rank), strings.Compare(d.c.tasks[a.like].key, d.c.tasks[b.like].key))
	})
	p.cut, p.rows = p.rows[fewPool-1].rank, p.rows[:fewPool]
	clear(p.index)
	for i := range p.rows {
		p.index[p.rows[i].key] = int32(i)
	}
}

func (d *decision) compareRanks(a, b *poolRank) int {
	return cmp.Or(d.order.CompareLevels(&a.levels, &b.levels), cmp.Compare(b.share, a.share))
}

// shareOf returns what a size has of what is lacking, of each type as a part of it.
func (d *decision) shareOf(size, short resources.Vector) (share int64) {
	for t, lack := range short {
		if lack > 0 {
			quo, _ := wide.MulDiv(uint64(min(size[t], lack)), 1<<20, uint64(lack))
			share += int64(quo)
		}
	}
	return share
}

// gatherGangs lists the gangs that make headroom: of many the best by levels before own costs.
func (p *pool) gatherGangs() {
	d := p.d
	for g := range d.gangs.rows {
		if d.c.gangs > 0 && len(d.gangs.rows[g].members) > 0 && d.gangHelps(int32(g), &p.there) {
			p.gangs = append(p.gangs, int32(g))
		}
	}
	if len(p.gangs) <= mostGangs || p.whole {
		return
	}
	p.thinned = true
	levels := func(g int32) *cost.Levels {
		job := d.c.tasks[d.gangs.rows[g].members[0]].job
		return &d.wholeOf(job, d.gangs.glance(job)).levels
	}
	slices.SortStableFunc(p.gangs, func(a, b int32) int {
		x, y := levels(a), levels(b)
		return cmp.Or(slices.Compare(x[:rulebook.LevelJobs], y[:rulebook.LevelJobs]), cmp.Compare(x[rulebook.LevelVictims], y[rulebook.LevelVictims]))
	})
	p.gangs = p.gangs[:mostGangs]
}

// addPool adds the tasks that make headroom to the problem of a node, but for those that are on
// it. Only: those of some tasks; nil: all.
func (d *decision) addPool(p *least.Problem, n NodeID, only []TaskID) {
	pl, x, m := &d.pool, &d.problem, &d.problem.exact
	pl.gather(d)
	for i := range pl.rows {
		r := &pl.rows[i]
		x.units = rows.Next(x.units)
		u := &x.units[len(x.units)-1]
		u.clear(r.key.row)
		for k, id := range r.ids {
			if d.c.tasks[id].node != n && (only == nil || slices.Contains(only, id)) {
				u.add(id, r.times[k])
			}
		}
		if len(u.ids) == 0 {
			x.units = x.units[:len(x.units)-1]
			continue
		}
		row := r.row
		row.Times, row.Count, row.Gives = u.times, int64(len(u.ids)), m.zeros(len(p.Need))
		d.give(row.Gives, row.Size, false, r.key.row.level)
		p.Rows = append(p.Rows, row)
	}
	s := pl.there
	if n != noNode {
		s = d.siteOf(n)
	}
	for _, g := range pl.gangs {
		if d.gangs.rows[g].met != x.turn { // those that were met are there
			d.addGang(p, &s, g)
		}
	}
	d.shareLimits(p)
	if pl.thinned {
		d.search.Unproven()
	}
}

// solvePool solves what all nodes share: the cheapest set that makes headroom. It reports false
// if there is none, and then no node has a plan.
func (d *decision) solvePool() bool {
	p := &d.pool
	if p.solved {
		return !p.hopeless
	}
	p.solved = true
	s, x := d.elsewhere(), &d.problem
	d.stateNeeds(&p.problem, &s)
	p.problem.Node = int32(noNode)
	x.begin(&p.problem)
	engine := &d.search
	shown, levels, lesser := engine.Shown, engine.Levels, engine.Lesser
	engine.Lesser = false
	d.addPool(&p.problem, noNode, nil)
	var a *least.Answer
	engine.Within(max(d.trial.meter.Left, 0)/poolShare, func() bool { a = engine.Solve(&p.problem, nil, nil, poolSteps); return true })
	engine.Shown, engine.Levels, engine.Lesser = shown, levels, lesser
	if p.ids = p.ids[:0]; a.Found {
		p.ids = d.tasksOf(p.ids, a)
	}
	p.hopeless = !a.Found && a.Proven && !p.thinned
	return !p.hopeless
}

// tasks returns how many tasks it has.
func (p *pool) tasks() (n int) {
	for i := range p.rows {
		n += len(p.rows[i].ids)
	}
	return n
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
