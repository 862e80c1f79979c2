// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"slices"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/eligible"
	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/resources"
)

// A decision is a problem of package least for each node: what the node and the queues lack
// are dimensions, laws over sums are limits, and who may go is rows of tasks that are alike.
//
// A digest sums up a node, and a lane of it is tasks of one size, priority and flags. A site is
// a node with what it lacks. A blocker is a task that the caller wants gone. A gang goes whole
// or not at all, but for the members that it can spare. The pool is the tasks that make
// headroom, on whatever node.

// A problem is what all nodes of a decision share, and who the units of the rows are that were
// stated last. Memory is reused.
type problem struct {
	dims   []int64   // by dimension: no more than that is ever needed
	heads  []headDim // the dimensions of headroom
	limits limits
	nodes  []int32 // in the order in which they are preferred

	units  []unitRow // by row of the exact problem
	exact  memory
	rough  memory
	check  memory
	met    []int32 // the gangs of which members were seen
	turn   uint64  // how often those were forgotten; see gang.met
	wholes []whole
	stamp  int32
	picked []int32
	best   []pickedLane
}

// A headDim is a type of a queue that lacks headroom.
type headDim struct {
	queue int32 // of shortage
	typ   int
}

// A unitRow says who the units of a row are: tasks, or gangs as a whole.
type unitRow struct {
	ids   []TaskID
	times []int64 // when the work of each began
	gangs []int32
	works []resources.Wide // of gangs
	key   rowKey
}

// add adds a task.
func (u *unitRow) add(id TaskID, begun int64) {
	u.ids, u.times = append(u.ids, id), append(u.times, begun)
}

// clear makes it one without units.
func (u *unitRow) clear(key rowKey) {
	u.ids, u.times, u.gangs, u.works, u.key = u.ids[:0], u.times[:0], u.gangs[:0], u.works[:0], key
}

// A rowKey tells the rows of a lane apart.
type rowKey struct {
	rank                        int64
	level, law, budgets, member int32
	by                          int32 // which task it is, if that matters
}

// memory is what rows are made of.
type memory struct {
	amounts []int64
	takes   []least.Take
	uses    []least.Use
	ids     []TaskID
}

func (m *memory) reset() {
	m.amounts, m.takes, m.uses, m.ids = m.amounts[:0], m.takes[:0], m.uses[:0], m.ids[:0]
}

// zeros returns n zeros.
func (m *memory) zeros(n int) []int64 {
	from := len(m.amounts)
	m.amounts = rows.More(m.amounts, n)
	return m.amounts[from : from+n : from+n]
}

// limits are the laws over sums: law 2 per queue and type, hard budgets, and the members that
// gangs can spare. There are as many bounds as queues with a guarantee, and the tasks of a node
// touch few of them: a limit is made when it is met first.
type limits struct {
	room  []int64
	types []int32
	at    []int32 // by bound and type: its place, and one
	laws  int     // the first bounds are those of law 2
}

func (l *limits) reset(laws int) {
	l.room, l.types, l.at, l.laws = l.room[:0], l.types[:0], l.at[:0], laws
}

// take appends what a size takes of a bound to the takes of a row, which begin at a place.
func (l *limits) take(d *decision, m *memory, from int, b int32, size []int64) {
	bounds, types := d.eligible.Rooms.Bounds, d.c.types
	if n := len(bounds) * types; n > len(l.at) {
		l.at = rows.More(l.at, n-len(l.at))
	}
	room := &bounds[b].Room
	for t := range room.Defined.All() {
		if t >= len(size) || size[t] == 0 {
			continue
		}
		at := &l.at[int(b)*types+t]
		if *at == 0 {
			// A room below zero is none: the guarantee was not met before.
			l.room, l.types = append(l.room, max(room.Value[t], 0)), append(l.types, int32(t))
			if int(b) >= l.laws {
				l.types[len(l.types)-1] = -1 // it counts tasks
			}
			*at = int32(len(l.room))
		}
		limit := *at - 1
		if k := slices.IndexFunc(m.takes[from:], func(x least.Take) bool { return x.Limit == limit }); k >= 0 {
			m.takes[from+k].Amount += size[t]
		} else {
			m.takes = append(m.takes, least.Take{Limit: limit, Amount: size[t]})
		}
	}
}

// pose poses the problem to the search.
func (d *decision) pose() {
	s, x := &d.search, &d.problem
	x.dims, x.heads = x.dims[:0], x.heads[:0]
	for _, t := range d.types {
		x.dims = append(x.dims, d.size[t])
	}
	for i := range d.needs.short {
		for t, lack := range d.needs.needOf(i) {
			if lack > 0 {
				x.dims, x.heads = append(x.dims, lack), append(x.heads, headDim{int32(i), t})
			}
		}
	}
	if d.p.Blockers != nil {
		x.dims = append(x.dims, 1)
	}
	d.sums.reset(d.c)
	d.pool.reset(d)
	s.Host, s.Keys, s.Order, s.Best, s.Meter = d, d, &d.order.Order, &d.best.Best, &d.trial.meter
	s.Dims, s.Budgets, s.Capacity, s.Now = x.dims, d.budgets.left, d.c.total, d.eligible.ns
	x.nodes = x.nodes[:0]
	for _, n := range d.nodes {
		x.nodes = append(x.nodes, int32(n))
	}
	s.Nodes = x.nodes
	s.Reset()
	s.Blind = !d.limiting()
}

// State states a node, as [least.Host] wants it.
func (d *decision) State(p *least.Problem, at int32, how least.Extent) bool {
	n := NodeID(at)
	switch {
	case !d.usable(n):
		return false
	case how == least.Rough && d.pruning():
		return d.stateRoughly(p, n)
	case how != least.Rough && !d.affords(n), how == least.All && d.Elsewhere() && !d.solvePool():
		return false
	}
	s := d.siteOf(n)
	if s.out || s.roomy() && !d.needs.open() {
		return false
	}
	d.stateNeeds(p, &s)
	d.problem.begin(p)
	d.stateTasks(p, &s, d.pickLanes(s.node, p.Wanted))
	switch {
	case !d.Elsewhere():
		return len(p.Rows) > 0
	case how == least.Rough:
		clear(p.Need[p.Shared[0]:p.Shared[1]])
	case how == least.All:
		d.addPool(p, n, nil)
	}
	return true
}

// begin begins an exact problem without rows.
func (x *problem) begin(p *least.Problem) {
	x.meetNone()
	p.Rows, x.units = p.Rows[:0], x.units[:0]
	x.exact.reset()
}

// meetNone forgets the gangs that were met.
func (x *problem) meetNone() { x.met, x.turn = x.met[:0], x.turn+1 }

// Elsewhere reports whether tasks on other nodes may be victims: they make headroom.
func (d *decision) Elsewhere() bool { return d.needs.open() && !d.nearby() }

// Few reports whether it is known that those are of few kinds.
func (d *decision) Few() bool { return d.pool.solved && len(d.pool.rows) <= mostPool }

// stateNeeds states what a site needs.
func (d *decision) stateNeeds(p *least.Problem, s *site) {
	p.Need, p.Typ, p.Wanted = p.Need[:0], p.Typ[:0], resources.Max(p.Wanted, s.short, d.needs.most)
	for _, t := range d.types {
		p.Need, p.Typ = append(p.Need, s.short[t]), append(p.Typ, int32(t))
	}
	p.Shared[0] = len(p.Need)
	for _, h := range d.problem.heads {
		p.Need, p.Typ = append(p.Need, d.needs.short[h.queue][h.typ]), append(p.Typ, int32(h.typ))
	}
	p.Shared[1] = len(p.Need)
	if d.p.Blockers != nil { // each is one of so many that must go
		p.Need, p.Typ = append(p.Need, int64(len(s.blockers))), append(p.Typ, -1)
	}
	d.shareLimits(p)
}

// shareLimits gives a problem the limits as they have been met.
func (d *decision) shareLimits(p *least.Problem) {
	p.Room, p.Types = d.problem.limits.room, d.problem.limits.types
}

// give adds what a task of some size gives: to the node if it is on it, and to the queues from
// a level on.
func (d *decision) give(gives []int64, size []int64, on bool, level int32) {
	if on {
		for k, t := range d.types {
			gives[k] += size[t]
		}
	}
	for k, h := range d.problem.heads {
		if level <= h.queue {
			gives[len(d.types)+k] += size[h.typ]
		}
	}
}

// Rough rows are made from the digest alone, without a look at a task: as if laws over sums kept
// nobody, and all were of the leaf that ranks lowest. So units cost no less than they say, and
// give no more.

// stateRoughly states a node roughly. Blockers may only make plans dearer, and are left out.
func (d *decision) stateRoughly(p *least.Problem, n NodeID) bool {
	s := site{node: n, short: d.scratch.short}
	if s.mask = d.nodeNeed(s.short, n); s.mask == 0 || d.pool.hopeless {
		return false
	}
	of, row := d.lawful.sums(n)
	gauge := &of.gauges[row]
	// Law 6, for all of them; and law 2, likewise.
	if d.eligible.LeastRank(gauge.minPriority) > d.eligible.Ceiling || d.eligible.TooLarge(d.c.row(of.least, row)) ||
		!resources.Fits(s.short, d.c.row(of.all, row)) || !d.passes(n) {
		return false
	}
	d.stateNeeds(p, &s)
	clear(p.Need[p.Shared[0]:p.Shared[1]])
	d.problem.rough.reset()
	p.Rows = p.Rows[:0]
	if digest := d.lawful.lanes(n); len(digest.lanes) > mostLanes {
		d.addLargest(p, digestRow{of, row}, int64(len(digest.ids)))
	} else {
		d.addLanes(p, digest, d.c.gangs > 0 && gauge.jobs)
	}
	return len(p.Rows) > 0
}

// addLanes adds the gangs and the lanes of a digest.
func (d *decision) addLanes(p *least.Problem, digest *nodeDigest, gangs bool) {
	m := &d.problem.rough
	if gangs {
		d.addWholes(p, digest)
	}
	for i := range digest.lanes {
		l := &digest.lanes[i]
		if d.eligible.LeastRank(l.priority) > d.eligible.Ceiling {
			continue
		}
		ids, times := digest.ids[l.first:l.end], digest.times[l.first:l.end]
		if gangs {
			if ids, times = d.loose(ids), nil; len(ids) == 0 {
				continue
			}
		}
		size := digest.size(i, d.c.types)
		r := least.Row{
			Levels: d.eligible.levelsOfLane(l, ids[0]), Size: size, Gives: m.zeros(len(p.Need)), Count: int64(len(ids)),
			Times: times, Weight: d.eligible.weights.Of(size),
		}
		d.give(r.Gives, size, true, 0)
		p.Rows = append(p.Rows, r)
	}
}

// addLargest adds tasks as if each were as large as the largest of each type, and cost as
// little as any. Of excess there is no more for certain than the least of each type.
func (d *decision) addLargest(p *least.Problem, sums digestRow, count int64) {
	priority := sums.of.gauges[sums.row].minPriority
	plain := eligible.Loss{Rank: d.eligible.LeastRank(priority), Priority: priority}
	r := least.Row{
		Size: d.c.row(sums.of.least, sums.row), Gives: d.problem.rough.zeros(len(p.Need)), Count: count,
		Levels: plain.Levels(),
	}
	d.give(r.Gives, d.c.row(sums.of.largest, sums.row), true, 0)
	p.Rows = append(p.Rows, r)
}

// loose returns those of the tasks that may go by themselves: they are in no gang, or in one
// that has more members than it needs.
func (d *decision) loose(ids []TaskID) []TaskID {
	m := &d.problem.rough
	from := len(m.ids)
	for _, id := range ids {
		if job := d.c.tasks[id].job; job != 0 {
			if g := d.gangs.glance(job); g.minimum > 0 && g.surplus() == 0 {
				continue
			}
		}
		if d.eligible.veto(id) == 0 {
			m.ids = append(m.ids, id)
		}
	}
	return m.ids[from:len(m.ids):len(m.ids)]
}

// A whole is a gang as a whole: what stopping it costs at least.
type whole struct {
	levels cost.Levels
	out    bool // a rule keeps some member
}

// glanceWork is what it takes to look up the gang of a task, in elementary work, and
// memberWork to look at a member of a gang.
const glanceWork, memberWork = 5, 15

// addWholes adds the gangs with members on a node, each as a row of one unit. It costs what all
// its members cost, wherever they run, and gives what those on the node give.
func (d *decision) addWholes(p *least.Problem, digest *nodeDigest) {
	x, types := &d.problem, d.c.types
	x.stamp++
	d.trial.pay(glanceWork * int64(len(digest.ids)))
	for i := range digest.lanes {
		l, size := &digest.lanes[i], digest.size(i, types)
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
				if w := d.wholeOf(job, g); !w.out {
					g.unit = int32(len(p.Rows))
					p.Rows = append(p.Rows, least.Row{Count: 1, Levels: w.levels, Size: x.rough.zeros(types), Gives: x.rough.zeros(len(p.Need)), Gang: true})
				}
			}
			if g.unit >= 0 {
				r := &p.Rows[g.unit]
				d.give(r.Gives, size, true, 0)
				resources.Add(r.Size, r.Size, size)
			}
		}
	}
	mergeAlike(p)
}

// mergeAlike makes one row of those that are alike, as far as it looks: nobody is served by trying
// one gang after another that is like it.
func mergeAlike(p *least.Problem) {
	kept := p.Rows[:0]
	for i := range p.Rows {
		if k := alikeRow(kept, &p.Rows[i]); k >= 0 {
			kept[k].Count++
		} else {
			kept = append(kept, p.Rows[i])
		}
	}
	p.Rows = kept
}

// alikeRow returns the place of a gang among the last rows of which the units cost, free, give, take
// and use the same, but for work; or -1.
func alikeRow(rows []least.Row, r *least.Row) int {
	first := max(0, len(rows)-mostCompared)
	for k := first; k < len(rows); k++ {
		x := &rows[k]
		if x.Gang && x.Levels == r.Levels && slices.Equal(x.Gives, r.Gives) && slices.Equal(x.Size, r.Size) && slices.Equal(x.Takes, r.Takes) && slices.Equal(x.Uses, r.Uses) {
			return k
		}
	}
	return -1
}

// mostCompared is with how many rows a gang is compared.
const mostCompared = 32

// wholeOf returns what is known of the gang of a job as a whole. It is the same for all nodes
// on which it has members.
func (d *decision) wholeOf(job int32, g *jobGlance) *whole {
	x := &d.problem
	if g.whole > 0 {
		return &x.wholes[g.whole-1]
	}
	x.wholes = append(x.wholes, whole{})
	g.whole = int32(len(x.wholes))
	w := &x.wholes[g.whole-1]
	d.trial.pay(memberWork * int64(g.running))
	n := 0
	for _, id := range d.c.membersOf(job) {
		if d.c.tasks[id].state != Running {
			continue
		}
		if d.eligible.veto(id) != 0 {
			w.out = true
			return w
		}
		levels := d.eligible.levels(id)
		w.levels = d.order.Join(&w.levels, n, &levels)
		n++
	}
	w.levels[rulebook.LevelJobs] = 1
	return w
}
