package victims

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// A bounder searches the nodes of a decision, and passes over those that cannot
// have the best plan. See [bounder.searchBounded].
type bounder struct{ *decision }

// Most nodes of a cluster cannot have the best plan, and a search on a node costs
// much more than a look at it. So each node gets a lower bound on the cost of any
// plan for it, and is passed over if the best plan so far is cheaper than that.
// There are four bounds, each dearer than the one before it and asked only if
// that one does not tell:
//
//  1. quicklyBeaten, in the inner loop, reads a few numbers of the digest: the
//     least rank and priority, the largest size, the newest tasks.
//  2. boundNode adds what opted-out tasks and originators must go, from three
//     sums per type.
//  3. refine reads the lanes of the node: which priorities it takes, how many
//     victims, and how much work they lose at least. See plan_bound_lane.go.
//  4. headroomBeats adds the victims that headroom takes elsewhere.
//
// If the best plan has one victim, oneBounder says all of this at once.
//
// A bound is right if it is no higher than the cost of any lawful plan. So each
// takes for granted whatever makes plans cheaper: that laws and exemptions keep
// nobody, that units may be cut, that the newest tasks are the ones that help.
// Planner.Exhaustive turns all of this off, and tests compare the answers.

// A nodeBound is a cost that no plan for a node goes below: levels, and work if
// the levels are the same.
type nodeBound struct {
	levels    cover.Levels
	work      cover.Work
	node      NodeID
	elsewhere int64 // how many of the victims are not on the node; see headroomBeats
	spare     int64 // see fewestOfAll
}

// stride is how far apart the nodes are that a search looks at first. Any value
// between 1 and 1024 does: at 5000 nodes of the plain load of bench it makes
// 8 to 22 nodes be searched, in no order of the value. But neighbours are often
// alike, and a first round of one in 64 soon has a plan from everywhere.
const stride = 64

// Shares of the budget, of which a search over all nodes gets one part in so many:
// at first, on a sample of nodes for lesser levels, and in the end, if the levels are
// shown. They were measured over the families of bench/ratios -draws, and with a
// quarter of these as many plans had the least levels. With 16 for the first and the
// last the excess was smaller by a third, at up to four times the time; with 64 for the
// last it was larger by a third.
const (
	firstShare  = 64
	sampleShare = 32
	lastShare   = 32
	// A scan that has come through one in so many of the nodes in its share goes on with
	// as much as there is in the end: it mostly gets through, for the better the best
	// plan is, the more nodes are passed over. On the plain load of bench that saves a
	// look at all nodes for lesser levels.
	underWay = 25
	// No node of the sample gets more than one part in so many of its share. With 4 most
	// searches of 8 types end before they find anything, with 3 those of 14 victims.
	sampleSearches = 2
)

// searchBounded looks at a few nodes from everywhere first, which gives a good
// plan, and then at those of the others that may have a cheaper one. The answer
// is that of looking at all, in whatever order: node rank and node order are
// part of the cost.
//
// If that takes long, as with sizes that all differ, it is interrupted: first it
// is shown which levels are the least, for these say who is stopped, and what
// is left of the budget goes to excess, work and node order.
func (d bounder) searchBounded() {
	d.problem.mix.reset(d.decision)
	d.problem.lessons.reset()
	// If headroom is short in a large cluster, the levels come first of all: to search
	// node by node would take the budget before there is any good plan.
	var s scan
	allowed := d.trial.meter.Left
	if j := d.jointSearch(); j.applies() {
		d.trial.lesser = j.search()
		// With somebody opted out, law 1 takes more than a good plan.
		if d.trial.lesser || d.best.found && d.best.total.Levels[LevelOptedOut] == 0 {
			d.finish(&s, allowed/lastShare)
			d.trial.proven, d.trial.levels = false, false
			return
		}
	}
	d.searchAround(&s, allowed)
	if d.pool.thinned && !d.best.found && !d.trial.meter.Stopped {
		// The best by themselves were not enough: laws over sums keep some of them.
		d.pool.whole, d.pool.searched, d.pool.hopeless = true, false, false
		d.trial.proven, d.trial.levels, s = true, true, scan{}
		d.searchAround(&s, allowed)
	}
}

// spareShare is one part in so many of the budget that goes, beyond it, to the question
// whether there is a plan without opted-out victims. It is not measured.
const spareShare = 2

// spare looks for a plan without opted-out victims if the best has some and it is not
// shown that all have. (Law 1: whoever opted out goes only if no plan does without.)
//
// The question has a share of its own, whatever the searches before have taken. With
// those who opted out left alone it is much smaller than theirs: on most nodes the others
// do not give enough.
func (d bounder) spare() {
	if !d.best.found || d.best.total.Levels[LevelOptedOut] == 0 || d.trial.proof() != NoProof || d.p.Predicate != nil || d.p.Exhaustive {
		return
	}
	d.forget()
	d.trial.sparing = true
	left := d.trial.meter.Left
	d.trial.meter.Left = d.budget() / spareShare
	d.searchRoomy()
	d.searchSparing()
	d.trial.meter.Left = left
	d.trial.sparing = false
	d.trial.proven, d.trial.levels = false, false
	d.forget()
}

// searchSparing looks at the nodes on which those who did not opt out have most of what is
// lacking, those first on which they have most.
func (d bounder) searchSparing() {
	f := &d.problem.front
	f.rows = f.rows[:0]
	for _, n := range d.nodes {
		if short := d.scratch.short; d.usable(n) && d.nodeNeed(short, n) != 0 {
			if times := timesOver(d.c.row(d.c.digest.optedIn, n), short); times >= 1<<16 {
				f.rows = append(f.rows, prospect{node: n, spare: times})
			}
		}
	}
	slices.SortFunc(f.rows, func(a, b prospect) int {
		if a.spare == b.spare && d.c.comesBefore(a.node, b.node) || a.spare > b.spare {
			return -1
		}
		return 1
	})
	for i := range f.rows {
		if d.exhausted() || d.pool.hopeless {
			return
		}
		d.look(f.rows[i].node)
	}
}

// timesOver returns how many times amounts meet what is lacking, in units of 2^-16.
func timesOver(amounts, short resources.Vector) int64 {
	times := int64(noLimit)
	for t, lack := range short {
		if lack <= 0 {
			continue
		}
		if hi, lo := bits.Mul64(uint64(amounts[t]), 1<<16); hi < uint64(lack) {
			quo, _ := bits.Div64(hi, lo, uint64(lack))
			times = min(times, int64(min(quo, noLimit)))
		}
	}
	return times
}

// searchAround searches the nodes in the order of a scan, and if a part of the budget
// is spent, in that of their bounds.
//
// If all is shown within that part, nothing is left to do. Else the levels come before
// the rest of the cost.
func (d bounder) searchAround(s *scan, allowed int64) {
	d.searchRoomy()
	roomy := d.trial.levels // nothing else speaks for nodes with room
	search := func() bool { return d.scan(s) }
	done := d.within(allowed/firstShare, search)
	if !done && d.trial.brief && s.second && s.i > len(d.nodes)/underWay {
		done = d.within(allowed/lastShare, search)
	}
	if done && d.trial.proven {
		return
	}
	d.headroom.searchAlone()
	if !d.trial.meter.Stopped {
		d.trial.lesser = lesserBounder{d}.search(s) && roomy
	}
	if d.trial.lesser && d.trial.brief {
		d.trial.meter.Left = min(d.trial.meter.Left, allowed/lastShare)
	}
	if !d.scan(s) {
		d.trial.proven, d.trial.levels = false, false
	}
}

// finish is what comes after a joint search: it spends a part of the budget on what is left of the cost.
func (d bounder) finish(s *scan, part int64) {
	if d.trial.meter.Left = min(d.trial.meter.Left, part); !d.p.hasty {
		d.scan(s)
	}
}

// within lets a search have a part of what is left of the budget.
func (d bounder) within(part int64, search func() bool) bool {
	t := &d.trial
	rest := t.meter.Left - part
	t.meter.Left, t.aside = part, t.aside+rest
	done := search()
	t.meter.Left, t.aside = t.meter.Left+rest, t.aside-rest
	return done
}

// A scan is how far a search over all nodes has come: in its first round it
// looks at every stride-th node, in the second at the others.
type scan struct {
	i      int
	second bool
}

// has reports whether the scan has looked at the node of an index.
func (s *scan) has(i int) bool {
	if i%stride == 0 {
		return s.second || i < s.i
	}
	return s.second && i < s.i
}

// scan goes on until the budget is spent, and reports whether it is done. A node
// that was not looked at to its end is the next to look at.
func (d bounder) scan(s *scan) bool {
	if d.p.Predicate != nil && d.heard.early {
		for ; s.i < len(d.heard.order); s.i++ {
			if !d.looked(d.heard.order[s.i]) {
				return false
			}
		}
		return true
	}
	for ; !s.second && !d.pool.hopeless; s.i += stride {
		if s.i >= len(d.nodes) {
			s.i, s.second = d.next(0), true
			break
		}
		if !d.looked(d.nodes[s.i]) {
			return false
		}
	}
	for ; s.i < len(d.nodes) && !d.pool.hopeless; s.i = d.next(s.i + 1) {
		if !d.looked(d.nodes[s.i]) {
			return false
		}
	}
	return true
}

// looked looks at a node, and reports whether it has done so to the end.
func (d bounder) looked(n NodeID) bool {
	if d.exhausted() {
		return false
	}
	proven, levels := d.trial.proven, d.trial.levels
	d.trial.proven = true
	d.look(n)
	done := d.trial.proven || !d.exhausted()
	d.trial.proven = proven && d.trial.proven
	if !done {
		d.trial.proven, d.trial.levels = proven, levels
	}
	return done
}

// searchRoomy looks at the nodes that have room for the ask as they are. If
// headroom alone is needed, all of them have the same plan, and the first by
// rank and node order is enough. Blockers tell them apart.
func (d bounder) searchRoomy() {
	if !d.needs.open() && d.p.Blockers == nil {
		return
	}
	first, found := NodeID(0), false
	for _, n := range d.nodes {
		if found && !d.c.comesBefore(n, first) {
			continue
		}
		if !d.usable(n) || d.nodeNeed(d.scratch.short, n) != 0 || !d.hearing.admits(n) {
			continue
		}
		if d.p.Blockers != nil {
			d.searchNode(n)
			continue
		}
		first, found = n, true
	}
	if found {
		d.searchNode(first)
	}
}

// next returns the index in node order of the next node, from i on, that must
// be looked at and was not in the first round: all others are beaten by the
// best plan, or have none, by what their gauges tell. It says no more than
// [bounder.look] does, only sooner, and is the inner loop of every decision.
func (d bounder) next(i int) int {
	c, e := d.c, &d.eligible
	all := &c.digest.digestRows
	for ; i < len(d.nodes); i++ {
		n := d.nodes[i]
		if i%stride == 0 {
			continue
		}
		switch rank := e.leastRank(c.digest.gauges[n].minPriority); {
		case rank > e.ceiling:
			continue // law 6, for all of its tasks
		case d.best.found && n == d.best.node && !d.best.exact:
			// It gets a closer look; see bounder.look.
		case d.best.found:
			// What laws let go tells more than all that is there.
			if known, beaten := d.siftedBeaten(n); beaten || !known && d.quicklyBeaten(n, rank, digestRow{all, n}) {
				continue
			}
		case d.tooLarge(c.row(c.digest.least, n)):
			continue // law 2, likewise
		}
		return i
	}
	return i
}

// A digestRow is a row that tells of a node.
type digestRow struct {
	of  *digestRows
	row NodeID
}

// quicklyBeaten is beaten for a node of which the least rank is known, and
// nothing else but sums.
func (d bounder) quicklyBeaten(n NodeID, rank int64, sums digestRow) bool {
	if c := d.compareQuickly(n, rank, sums); c != 0 {
		return c > 0
	}
	// As the last of the tasks was scheduled no later than any, all lose as much.
	best := &d.best.total
	count := best.Levels[LevelVictims]
	last := sums.of.latest[int(sums.row)*numLatest]
	work := cover.Work{}.AddNanos(d.since(last), uint64(count))
	if work.Compare(best.Work) <= 0 {
		work = d.leastLost(n, count)
		if c := work.Compare(best.Work); c < 0 || c == 0 && d.c.comesBefore(n, d.best.node) {
			return newestBounder{d}.serves(count) && d.freesAsMuch(n, count, 0) && newestBounder{d}.tells(n, count, sums)
		}
	}
	if d.best.asMuchQuickly(d.decision, n, count*sums.of.least[int(sums.row)*d.c.types+d.best.bestType]) {
		return true
	}
	// To ask a oneBounder is cheaper than the other types.
	return !d.best.single && d.freesAsMuch(n, count, 0)
}

// asMuchQuickly reports whether an amount that victims on a node free of the type that
// decided for the plan is at least as much beyond what is wanted. It is
// [bounder.freesAsMuch] for the inner loop.
func (b *incumbent) asMuchQuickly(d *decision, n NodeID, freed int64) bool {
	t := b.bestType
	if d.wants.Has(t) {
		freed -= max(d.size[t]-d.c.coming[int(n)*d.c.types+t], d.needs.most[t], 0)
	}
	return b.total.Excess.Amount == 0 || freed >= b.asMuch[t] && b.asMuch[t] < noLimit
}

// compareQuickly compares the least levels that a plan for a node might have with
// those of the best plan, as far as the digest tells by sums alone. Of what
// decides before and between ranks, priorities and the number of victims it takes
// none to be needed.
func (d bounder) compareQuickly(n NodeID, rank int64, sums digestRow) int {
	c, l := d.c, &d.best.total.Levels
	g, row := sums.of, sums.row
	priority := int64(g.gauges[row].minPriority)
	switch {
	case l[LevelOptedOut] > 0 || l[LevelOverrun] > 0 || l[LevelOriginators] > 0:
		return -1
	case rank != l[LevelRank]:
		return cmp.Compare(rank, l[LevelRank])
	case priority != l[LevelPriority]:
		return cmp.Compare(priority, l[LevelPriority])
	case l[LevelJobs] > 0 || l[LevelOwn] > 0 || l[LevelOwnLow] > 0:
		return -1
	}
	count, fewer := l[LevelVictims], true
	at, in := int(n)*c.types, int(row)*c.types
	// Most tasks of a node may have a higher priority than victims that are no worse.
	uneven := !g.gauges[row].uniform
	for _, t := range d.types {
		short, largest := d.size[t]-c.coming[at+t], g.largest[in+t]
		if uneven && short > g.lowest[in+t] {
			return 1 // others must go
		}
		if !reaches(count, largest, short) {
			return 1 // more victims
		}
		fewer = fewer && reaches(count-1, largest, short)
	}
	switch {
	case fewer:
		return -1
	case count*rank != l[LevelSumRanks]:
		return cmp.Compare(count*rank, l[LevelSumRanks])
	}
	return cmp.Compare(count*priority, l[LevelSumPriorities])
}

// since returns the running time since an instant in nanoseconds, which is
// none if that is to come. The difference of two int64 fits uint64, wherever
// zero lies.
func (d bounder) since(start int64) uint64 {
	if now := d.eligible.ns; start <= now {
		return uint64(now) - uint64(start)
	}
	return 0
}

// reaches reports whether count times amount, which may be beyond int64, is at
// least short. Count and amount are not negative.
func reaches(count, amount, short int64) bool {
	hi, lo := bits.Mul64(uint64(count), uint64(amount))
	return hi > 0 || short <= 0 || lo >= uint64(short)
}

// look searches a node that lacks room, unless its bounds show that it has no
// plan or none that beats the best. The filter is asked once sums do not tell: a node that
// it refuses costs the question, and no look at lanes.
func (d bounder) look(n NodeID) {
	if d.best.found && n == d.best.node && !d.best.exact {
		// Bounds compare the node with its own plan, and its cheapest may have smaller keys.
		d.searchNode(n)
		return
	}
	b := nodeBound{node: n}
	short, one := d.scratch.short, oneBounder{d}
	if !d.usable(n) || d.nodeNeed(short, n) == 0 || one.tells(n, short) || d.problem.likeness.beats(d, n, short) || !d.boundClosely(&b, short) {
		return
	}
	if d.trial.sparing && b.levels[LevelOptedOut] > 0 {
		return
	}
	d.problem.set.found = false
	// To bound a huge node takes about as long as to search it, and has told nothing if
	// it has the best plan already.
	again := n == d.best.node && len(d.digestOf(n).lanes) > manyGroups
	if d.best.found && !again && d.isBeaten(&b) || !d.passes(n) {
		return
	}
	if d.best.found && !again && (!d.refine(&b, short) || d.headroomBeats(&b)) || !d.hearing.admits(n) {
		return
	}
	if !d.best.found {
		d.nodeNeed(short, n) // whoever was asked may have looked at other nodes
		(setTaker{d}).begin(&b, short)
	}
	if !(setTaker{d}).takes(&b) {
		d.searchNode(n)
	}
}

// isBeaten is beaten, and if that does not tell asks the newest tasks.
func (d bounder) isBeaten(b *nodeBound) bool { return d.beaten(b) || newestBounder{d}.beaten(b) }

// boundNode bounds a node that lacks some amounts. It reports false if all its
// tasks together do not give them, or if priorities or guarantees let none of
// them go.
func (d bounder) boundNode(b *nodeBound, lacks resources.Vector) bool {
	c := d.c
	g, n := d.digestAt(b.node)
	gauge := &g.gauges[n]
	all, optedIn, plain := c.row(g.all, n), c.row(g.optedIn, n), c.row(g.plain, n)
	largest := c.row(g.largest, n)
	rank := d.eligible.leastRank(gauge.minPriority)
	if rank > d.eligible.ceiling {
		return false // law 6, for all of them
	}
	count := int64(1)
	if d.tooLarge(c.row(g.least, n)) || d.eligible.leastRank(gauge.maxPriority) > d.eligible.ceiling && !d.lowGive(b.node, lacks) {
		return false
	}
	for t, short := range lacks {
		switch {
		case short <= 0:
			continue
		case short > all[t]:
			return false
		case short > optedIn[t]:
			b.levels[LevelOptedOut] = 1
		case short > plain[t]:
			b.levels[LevelOriginators] = 1
		}
		if !reaches(count, largest[t], short) {
			count = (short-1)/largest[t] + 1
		}
	}
	if b.levels[LevelOptedOut] > 0 {
		b.levels[LevelOriginators] = 0 // an opted-out originator may do
	}
	b.levels[LevelRank] = rank
	b.levels[LevelPriority] = int64(gauge.minPriority)
	b.levels[LevelVictims] = count
	b.levels[LevelSumRanks] = count * rank
	b.levels[LevelSumPriorities] = count * int64(gauge.minPriority)
	b.work = d.leastLost(b.node, count)
	return true
}

// tooLarge reports whether guarantees let no task of a size, or of a larger
// one, go: no leaf in reach has so much to give.
func (d bounder) tooLarge(size resources.Vector) bool {
	return !resources.Fits(size, d.eligible.mostRoom)
}

// leastLost returns the work that so many victims on a node lose at least.
func (d bounder) leastLost(n NodeID, count int64) (work cover.Work) {
	g, row := d.digestAt(n)
	latest := g.latest[int(row)*numLatest:][:numLatest]
	for _, start := range latest[:min(count, numLatest)] {
		work = work.AddNanos(d.since(start), 1)
	}
	if count > numLatest {
		work = work.AddNanos(d.since(latest[numLatest-1]), uint64(count-numLatest))
	}
	return work
}

// beaten reports whether it is certain that no plan for the node of b costs less
// than the best.
func (d bounder) beaten(b *nodeBound) bool {
	if c := slices.Compare(b.levels[:], d.best.total.Levels[:]); c != 0 {
		return c > 0
	}
	return d.beatenInRest(b)
}

// beatenInRest is beaten for a bound with the levels of the best plan.
func (d bounder) beatenInRest(b *nodeBound) bool {
	c := b.work.Compare(d.best.total.Work)
	if c < 0 || c == 0 && d.c.comesBefore(b.node, d.best.node) {
		return false
	}
	return d.freesAsMuch(b.node, b.levels[LevelVictims]-b.elsewhere, b.elsewhere)
}

// freesAsMuch reports whether so many victims on a node, and those elsewhere,
// free at least as much beyond what is wanted as the best plan does. One type
// that does is enough; the first to look at is the one that decided for the
// best.
func (d bounder) freesAsMuch(n NodeID, count, elsewhere int64) bool {
	if d.best.total.Excess.Amount == 0 || d.freesAsMuchOf(n, count, elsewhere, d.best.bestType) {
		return true
	}
	for t := range d.c.types {
		if d.freesAsMuchOf(n, count, elsewhere, t) {
			return true
		}
	}
	return false
}

func (d bounder) freesAsMuchOf(n NodeID, count, elsewhere int64, t int) bool {
	g, row := d.digestAt(n)
	beyond := count * g.least[int(row)*d.c.types+t]
	if elsewhere > 0 {
		beyond += elsewhere * d.pool.sums.least[t]
	}
	if d.wants.Has(t) {
		beyond -= max(d.size[t]-d.free(n, t, coming), d.needs.most[t], 0)
	}
	return d.best.asMuch[t] < noLimit && beyond >= d.best.asMuch[t]
}

// note notes what bounds ask of the plan: its excess and a type that decided for it, and
// whether it has one victim.
func (b *incumbent) note(capacities []int64) {
	b.single = isSingle(&b.total.Levels)
	share := b.total.Excess
	b.yardstick.note(share, b.total.Work, capacities)
	for t, capacity := range capacities {
		if max(capacity, 1) == max(share.Of, 1) {
			b.bestType = t
		}
	}
}

// noteShare sets dst, per type, to the least amount that is no smaller a share
// of its capacity than the given one.
func noteShare(dst []int64, share resources.Share, capacities []int64) []int64 {
	dst = dst[:0]
	for _, capacity := range capacities {
		dst = append(dst, asMuchAs(share, max(capacity, 1)))
	}
	return dst
}

// asMuchAs returns the least amount of a capacity that is no smaller a share
// than the given one, or noLimit if that is more than there can be.
func asMuchAs(share resources.Share, capacity int64) int64 {
	amount, of := uint64(max(share.Amount, 0)), uint64(max(share.Of, 1))
	if wide.Mul(amount, uint64(capacity)).Hi >= of {
		return noLimit // the quotient has more than 64 bits
	}
	quo, rem := wide.MulDiv(amount, uint64(capacity), of)
	if quo >= noLimit {
		return noLimit
	}
	if rem > 0 {
		quo++
	}
	return int64(quo)
}
