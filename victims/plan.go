// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/internal/eligible"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// decide answers an ask: without victims if that is possible, else by the plan
// of least cost, else with the option of the own leaf, else by a refusal.
//
// An ask with a required node, such as that of a daemon set, is decided alike,
// with these differences: that node only is usable, whether it is schedulable
// or reserved or not ([decision.usable]); no delay and no guarantee is asked
// for ([gate.precondition]); raw priorities are compared, and neither
// guarantees nor fences nor disabled queues protect, for the ask can run
// nowhere else ([eligible.Taker]); victims for headroom must be on the node,
// too ([decision.helps]). (DESIGN.md, Required nodes.)
func (d *decision) decide(dst *Decision) {
	d.trial.meter.Used = 0
	if d.place(dst) {
		return
	}
	if !d.precondition(dst) {
		if !d.prepare(outsideLeaf) {
			d.refuse(dst, rulebook.NothingInReach) // law 7
		} else if d.choose() {
			d.planned(dst)
			return
		} else {
			d.refuseForLack(dst)
		}
	}
	told := outsideLeaf
	if d.mayTakeOwn(dst) {
		reach := d.prepare(withOwnLeaf)
		if reach && d.choose() {
			d.planned(dst)
			return
		}
		if d.others() {
			told = withOwnLeaf
			d.tellSecond(dst, reach)
		}
	}
	d.unplanned(dst, told)
	if d.trial.meter.Stopped {
		dst.Refusal.Proven, dst.Refusal.RetryAt = false, time.Time{}
	}
	d.help(dst)
	dst.Refusal.Steps = d.trial.meter.Used
}

// A stage says whose tasks are candidates.
type stage uint8

const (
	outsideLeaf stage = 1 + iota // those of other leaves
	withOwnLeaf                  // and less important ones of the ask's own, or of its branch
)

// mayTakeOwn reports whether the option of the own leaf has a say after a
// refusal. (DESIGN.md, The own leaf.)
func (d *decision) mayTakeOwn(dst *Decision) bool {
	if d.own == eligible.OwnNever || d.required() || d.trial.meter.Stopped {
		return false
	}
	switch dst.Refusal.Reason {
	case rulebook.MayNotPreempt, rulebook.TooEarly, rulebook.TooSoon, InFlight, rulebook.UnknownNode:
		return false
	}
	return true
}

// prepare states whose tasks are candidates, and reports whether any leaf is in
// reach.
func (d *decision) prepare(s stage) bool {
	who := eligible.Taker{
		Strict: d.p.StrictPriority, OnNode: d.required(),
		Starving: d.starving, HasStarving: d.hasE,
	}
	if s == withOwnLeaf {
		who.OwnLeaf, who.Own = true, d.own
		lawful := d.trigger()
		who.Starving, who.HasStarving = d.starving, d.hasE
		who.OnlyOwnLeaf = !lawful // law 4 lets it take from nobody else
	}
	d.needs.reset(d.c.types)
	for q := range d.tree.Up(d.ask.Queue) {
		d.needs.lack(d.tree, q, d.max(q), d.size)
	}
	d.needs.whole = d.p.Predicate != nil
	d.needs.settle()
	d.c.settle()
	reach := d.eligible.reset(d, &who)
	if d.needs.open() {
		for w := range d.tree.Leaves(queue.Root) {
			d.eligible.Leaves[w].Level = d.needs.level(d.tree, w)
		}
	}
	d.sieve.reset(d)
	d.gangs.reset(d)
	d.problem.budgets.reset(d)
	d.stage = s
	return reach
}

// refuse sets dst to a refusal that is certain.
func (d *decision) refuse(dst *Decision, r string) {
	dst.Outcome = Refused
	dst.Plan.Version = Version{} // there is nothing to apply
	dst.Refusal.Reason = r
	dst.Refusal.Proven = true
}

// refuseForLack sets dst to the refusal of an ask for which no lawful set of
// victims was found, but for what is counted.
func (d *decision) refuseForLack(dst *Decision) {
	reason := rulebook.NoVictims
	if d.trial.refusals > 0 {
		reason = rulebook.PredicateRefused
	}
	d.refuse(dst, reason)
	dst.Refusal.Proven = d.trial.proven
}

// planned sets dst to the best plan, without whom it does not need.
func (d *decision) planned(dst *Decision) {
	site := d.siteOf(d.best.node())
	d.giveBack(&site)
	dst.Outcome = Preempts
	dst.Refusal = dst.Refusal.cleared()
	p := &dst.Plan
	p.Version = d.c.version
	p.Node, p.Cost, p.Proof, p.Steps = d.best.node(), d.best.cost, d.trial.proof(), d.trial.meter.Used
	p.Place, p.Second = d.c.nodes[p.Node].name, d.stage == withOwnLeaf
	for _, id := range d.best.victims {
		d.addVictim(p, &site, id)
		p.OwnLeaf = p.OwnLeaf || d.eligible.Owns(d.c.tasks[id].leaf) && !d.required()
	}
	slices.SortFunc(p.Victims, func(a, b Victim) int { return strings.Compare(a.Key, b.Key) })
	d.eligible.tell(&p.Cost, d.best.victims)
	shift := rulebook.Shift{Tree: d.tree, Leaf: d.ask.Queue, Arriving: d.size, Gone: d.scratch.sum}
	p.Ends = shift.Endings(p.Ends, len(d.best.victims), func(i int) (queue.ID, resources.Vector) {
		id := d.best.victims[i]
		return d.c.tasks[id].leaf, d.c.size(id)
	})
}

// addVictim adds a task to the victims of a plan, in memory that the plan had.
func (d *decision) addVictim(p *Plan, s *site, id TaskID) {
	n := len(p.Victims)
	if n == cap(p.Victims) {
		p.Victims = append(p.Victims, Victim{})
	}
	p.Victims = p.Victims[:n+1]
	v := &p.Victims[n]
	r := &d.c.tasks[id]
	size := append(v.Size[:0], d.c.size(id)...)
	types := resources.Positive(size)
	*v = Victim{
		Task: id, Key: r.key, Name: d.c.names.at(int(id)), Path: d.tree.Path(r.leaf), Place: d.c.nodes[r.node].name,
		Priority: r.priority, Size: size, Job: d.c.jobs.name(r.job),
		OptedOut: r.flags.has(flagOptedOut), Originator: r.flags.has(flagOriginator),
		Rank:        d.eligible.rankOf(id),
		ForNode:     r.node == s.node && s.mask&types != 0,
		ForHeadroom: d.needs.masks[d.eligible.Leaves[r.leaf].Level]&types != 0,
		Blocks:      slices.Contains(s.blockers, id),
	}
}

// retryAt returns the first instant at which, all else equal, the decision is
// a plan because exemptions have ended; zero if there is none.
func (d *decision) retryAt(stages []stage) time.Time {
	ends := d.scratch.ends[:0]
	for _, s := range stages {
		if d.prepare(s) {
			ends = d.eligible.ends(ends)
		}
	}
	d.scratch.ends = ends
	return firstEnd(ends, d.p.Predicate == nil, func(end time.Time) bool {
		for _, s := range stages {
			if d.prepare(s) {
				d.eligible.horizon = end
				if d.choose() {
					return true
				}
			}
		}
		return false
	})
}

// A sieve tells of nodes without the tasks that laws keep from being victims of this ask:
// those of its own application, of leaves that give nothing, and those that rank too high.
// A digest serves all asks, so it has them all. A queue that grows has tasks of its own on
// more and more nodes, and by their amounts each of those nodes would look like one on
// which few victims are enough.
//
// Its sums are kept from one decision to the next. A queue that asks again and again would
// sift the same nodes each time, and few of them have changed. What a decision finds does
// not depend on what is kept.
type sieve struct {
	d      *decision
	needed bool       // laws keep some tasks of the cluster
	apps   bool       // the ask's application has tasks in leaves that give some
	vetoes []bool     // by queue: the leaf gives nothing
	node   NodeID     // whose lanes are sifted, or noNode
	sifted digestRows // of that node
	kept   keptSieves
}

// keptSieves are the sums of sieves that are kept. They hold for one cluster as long as the
// laws keep the same tasks, and of a node as long as its digest is the same one.
type keptSieves struct {
	of   *Cluster
	laws []leafLaw // by queue
	app  int32     // whose tasks are kept besides, or -1
	// The number of times that the laws have changed: what was sifted under others is
	// void, and nothing has to be cleared.
	epoch uint64
	at    []keptSieve // by node
	rows  digestRows  // without lanes, which few nodes need
	types int
}

// A leafLaw is what keeps tasks of a leaf, so far as a sieve knows it.
type leafLaw struct {
	veto    bool
	ceiling int64
	rank    fence.Lift
}

// A keptSieve is what is kept of a node, and for what it holds.
type keptSieve struct {
	made, epoch uint64
	row         int32 // of the sums in rows, and one; 0 if it has none yet
	known       known
}

// A known says what was found out of the tasks of a node.
type known uint8

const (
	notSifted known = iota
	keepsNone       // the digest tells all
	keepsSome       // there are sums of those that the laws let go
)

// reset forgets the node, and finds out whether laws keep any tasks.
func (s *sieve) reset(d *decision) {
	s.d, s.node, s.needed = d, noNode, false
	if d.without.Rule != "" {
		return // a trial of Explain: which laws hold is not known yet
	}
	e := &d.eligible
	s.vetoes, s.needed = slices.Grow(s.vetoes[:0], len(e.Leaves)), !e.EvenRanks || e.OwnLeaf()
	for w := range e.Leaves {
		s.vetoes = append(s.vetoes, e.Leaves[w].Veto != 0)
		s.needed = s.needed || s.vetoes[w] && d.c.evictable[w] > 0
	}
	// An application is mostly in one leaf. If that gives nothing anyway, no row has
	// to be read for its tasks.
	if s.apps = e.hasApp; s.apps {
		home := d.c.homes[e.app]
		s.apps = home == noLeaf || !s.vetoes[home]
	}
	s.needed = s.needed || s.apps
	if s.sifted.nodes == nil || len(s.sifted.all) != d.c.types {
		s.sifted = digestRows{}
		s.sifted.addNode(d.c.types)
	}
	s.kept.reset(s)
}

// sums returns the rows and the number of the row that have the sums of a node. They have
// no lanes.
//
// It sifts a node of which nothing is kept: what it says must not depend on the decisions
// before.
func (s *sieve) sums(n NodeID) (of *digestRows, row NodeID) {
	digest := &s.d.c.digest.digestRows
	if s.d.without.Rule != "" || !s.needed && s.letsHighest(n) {
		return digest, n
	}
	known := s.kept.find(n)
	if known == notSifted {
		if known = keepsNone; s.sift(n) {
			known = keepsSome
		}
	}
	if known == keepsSome {
		return &s.kept.rows, NodeID(s.kept.at[n].row - 1)
	}
	return digest, n
}

// lanes returns the lanes of a node.
func (s *sieve) lanes(n NodeID) *nodeDigest {
	if s.d.without.Rule == "" && s.sift(n) {
		return &s.sifted.nodes[0]
	}
	return &s.d.c.digest.nodes[n]
}

// letsHighest reports whether law 6 lets the tasks of the highest priority of a node go.
func (s *sieve) letsHighest(n NodeID) bool {
	e := &s.d.eligible
	return e.EvenRanks && e.LeastRank(s.d.c.digest.gauges[n].maxPriority) <= e.Ceiling
}

// sift makes the sieve that of a node, and reports whether it has fewer tasks than the
// digest.
func (s *sieve) sift(n NodeID) bool {
	if n == s.node {
		return true
	}
	from, to := &s.d.c.digest.nodes[n], &s.sifted.nodes[0]
	switch s.kept.find(n) {
	case keepsNone:
		return false
	case notSifted:
		if s.letsAll(n, from) {
			s.kept.node(n).known = keepsNone
			return false
		}
	}
	// In the order of the digest, so that lanes stay sorted.
	to.ids, to.times, to.leaves = to.ids[:0], to.times[:0], to.leaves[:0]
	to.lanes, to.sizes = to.lanes[:0], to.sizes[:0]
	s.node = noNode
	for i := range from.lanes {
		l := from.lanes[i]
		first := int32(len(to.ids))
		for j := l.first; j < l.end; j++ {
			if !s.keeps(from, j, l.priority) {
				to.ids, to.times, to.leaves = append(to.ids, from.ids[j]), append(to.times, from.times[j]), append(to.leaves, from.leaves[j])
			}
		}
		if l.first, l.end = first, int32(len(to.ids)); l.end > first {
			to.lanes = append(to.lanes, l)
			to.sizes = append(to.sizes, from.size(i, s.d.c.types)...)
		}
	}
	if len(to.ids) == len(from.ids) {
		s.kept.node(n).known = keepsNone
		return false // it was no more than possible
	}
	s.sifted.sumUp(0, s.d.c.types)
	s.kept.keep(n, &s.sifted)
	s.node = n
	return true
}

// letsAll reports whether it is certain that laws let all tasks of a node go.
func (s *sieve) letsAll(n NodeID, digest *nodeDigest) bool {
	// An equal one is kept in the own leaf.
	if s.apps || s.d.eligible.OwnLeaf() || !s.letsHighest(n) {
		return false
	}
	// One look at each task, and nothing is copied: most nodes have none that are kept.
	return !s.needed || !slices.ContainsFunc(digest.leaves, func(w queue.ID) bool { return s.vetoes[w] })
}

// keeps reports whether a law keeps task j of a digest, of some priority, whatever it
// frees. It is Veto for tasks that are evictable.
func (s *sieve) keeps(digest *nodeDigest, j, priority int32) bool {
	w, e := digest.leaves[j], &s.d.eligible
	return s.vetoes[w] || e.Leaves[w].Rank.Of(priority) > e.Leaves[w].Ceiling ||
		s.apps && s.d.c.tasks[digest.ids[j]].app == e.app
}

// reset takes note of the laws of a decision. What was sifted under others is void.
func (k *keptSieves) reset(s *sieve) {
	c, e, app := s.d.c, &s.d.eligible, int32(-1)
	if s.apps {
		app = e.app
	}
	same := k.of == c && k.types == c.types && k.app == app && len(k.laws) == len(e.Leaves)
	if k.types != c.types {
		k.rows, k.at = digestRows{}, nil // rows of another width
	}
	k.of, k.types, k.app = c, c.types, app
	// A few numbers per queue tell whether the same tasks are kept as before.
	k.laws = slices.Grow(k.laws[:0], len(e.Leaves))[:len(e.Leaves)]
	for w := range e.Leaves {
		leaf := &e.Leaves[w]
		law := leafLaw{veto: s.vetoes[w]}
		// Whom a leaf that gives nothing would let go does not matter.
		if !law.veto {
			law.ceiling, law.rank = leaf.Ceiling, leaf.Rank
		}
		if k.laws[w] != law {
			k.laws[w], same = law, false
		}
	}
	if !same {
		k.epoch++
	}
	if n := len(c.nodes); n > len(k.at) {
		k.at = append(k.at, make([]keptSieve, n-len(k.at))...)
	}
}

// node returns what is kept of a node. What holds no longer is forgotten.
func (k *keptSieves) node(n NodeID) *keptSieve {
	at := &k.at[n]
	if made := k.of.digest.made[n]; at.epoch != k.epoch || at.made != made {
		*at = keptSieve{made: made, epoch: k.epoch, row: at.row}
	}
	return at
}

// find returns what was found out of the tasks of a node, if that holds still.
func (k *keptSieves) find(n NodeID) known {
	if at := &k.at[n]; at.epoch == k.epoch && at.made == k.of.digest.made[n] {
		return at.known
	}
	return notSifted
}

// keep keeps the sums of a node that has just been sifted.
func (k *keptSieves) keep(n NodeID, from *digestRows) {
	at := k.node(n)
	// A node that is sifted again, under whatever laws, has its row again: a planner
	// at work for long allocates no more.
	if at.row == 0 {
		k.rows.addSums(k.types)
		at.row = int32(len(k.rows.gauges))
	}
	at.known = keepsSome
	row, blocks := int(at.row-1), from.blocks()
	for i, block := range k.rows.blocks() {
		copy(rows.At(*block, row, k.types), *blocks[i])
	}
	k.rows.gauges[row] = from.gauges[0]
	copy(k.rows.latest[row*numLatest:][:numLatest], from.latest)
}
