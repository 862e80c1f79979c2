package victims

import (
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// If tasks come in few kinds, mixtures often leave a gap that no weights close: two
// tasks and a half would do, and three are needed. But then one search tells of many
// nodes. It has as many tasks of each kind as a plan may have victims. If it finds
// nothing, no node has a lesser plan that lacks as much and has no better kinds.

// A jointKind is what tasks on a node have in common.
type jointKind struct {
	bandRow
	size resources.Vector
}

// A kindLesson is kinds of which no set is a lesser plan for a node that is short of
// some amounts, however many tasks of each there are.
type kindLesson struct {
	short resources.Vector
	most  int64 // victims
	kinds []jointKind
}

const (
	// kindsAtMost is how many kinds a lesson has at most, and kindTries how many lessons
	// are tried in vain before they are given up. Neither is measured.
	kindsAtMost = 16
	kindTries   = 4
)

// kindLessons are those of a decision.
type kindLessons struct {
	rows  []kindLesson
	vain  int // how many were none
	draft []jointKind
}

// isOf reports whether tasks like x, which have a size, are no better than a kind.
func (k *jointKind) isOf(x *bandRow, size resources.Vector) bool {
	return k.level <= x.level && k.flags&^x.flags == 0 && k.rank <= x.rank && k.priority <= x.priority &&
		k.own <= x.own && within(size, k.size)
}

// eachKind calls look with the tasks on a node that a plan may have, those in a row that
// are alike once. It ends, and reports false, when look does.
func (d jointSearch) eachKind(n NodeID, look func(x *bandRow, size resources.Vector) bool) bool {
	digest := &d.c.digest.nodes[n]
	for i := range digest.lanes {
		l := &digest.lanes[i]
		if !d.allows(l.flags, l.priority) {
			continue
		}
		// Neighbours in a lane differ in their leaves only.
		last := queueOfNone
		for k := l.first; k < l.end; k++ {
			leaf := &d.eligible.leaves[digest.leaves[k]]
			if leaf.veto != 0 || leaf.level == last && d.eligible.evenRanks {
				continue
			}
			last = leaf.level
			x := &d.pool.joint.kind
			*x = bandRow{
				id: digest.ids[k], level: leaf.level, priority: l.priority, flags: l.flags,
				rank: leaf.rank.Of(l.priority), own: d.c.costOf(digest.ids[k]),
			}
			if !look(x, digest.size(i, d.c.types)) {
				return false
			}
		}
	}
	return true
}

// queueOfNone is the level of no task.
const queueOfNone int32 = -1

// refutedByKinds reports whether some lesson shows that a node has no plan of lesser
// levels with so many victims.
//
// It has none if it lacks as much as the node of the lesson, or more, and none of its
// tasks is better than all kinds: the lesson had enough of each of them.
func (d jointSearch) refutedByKinds(n NodeID, most int64) bool {
	short := d.scratch.short
	d.nodeNeed(short, n)
	for i := range d.pool.joint.kinds.rows {
		lesson := &d.pool.joint.kinds.rows[i]
		d.trial.pay(int64(len(lesson.kinds) + len(d.c.digest.nodes[n].ids)))
		if most > lesson.most || !within(lesson.short, short) {
			continue
		}
		if d.eachKind(n, func(x *bandRow, size resources.Vector) bool {
			return slices.ContainsFunc(lesson.kinds, func(k jointKind) bool { return k.isOf(x, size) })
		}) {
			return true
		}
	}
	return false
}

// learnKinds looks for a lesson about the kinds of tasks on a node, and reports whether
// there is one.
func (d jointSearch) learnKinds(p *prospect, most int64) bool {
	j := &d.pool.joint
	x := &j.kinds
	x.draft = x.draft[:0]
	if x.vain == kindTries || !d.eachKind(p.node, func(row *bandRow, size resources.Vector) bool {
		if !slices.ContainsFunc(x.draft, func(k jointKind) bool { return k.isOf(row, size) }) {
			x.draft = append(x.draft, jointKind{*row, size})
		}
		return len(x.draft) <= kindsAtMost
	}) || int64(len(x.draft))*most > mostItems {
		return false
	}
	// In vain: more tasks of a kind than the node has would do, or it took too long.
	if !d.searchKinds(p, most) {
		x.vain++
		return false
	}
	x.rows = rows.Next(x.rows)
	lesson := &x.rows[len(x.rows)-1]
	lesson.short, lesson.most = append(lesson.short[:0], j.short...), most
	lesson.kinds = append(lesson.kinds[:0], x.draft...)
	return true
}

// searchKinds reports whether no set of the drafted kinds, and of the band, is a lesser
// plan for a node, whatever laws over sums and budgets say.
func (d jointSearch) searchKinds(p *prospect, most int64) bool {
	j, u := &d.pool.joint, &d.local
	s := d.siteOf(p.node)
	u.reset()
	for i := range j.kinds.draft {
		// A plan has no more victims than that, so that more of a kind are of no use.
		for range most {
			u.add(d.decision, &s, j.kinds.draft[i].id)
		}
	}
	s.node = -1 // whoever is in the band is elsewhere
	// Those on the node itself count as well: that only makes it easier to find a set.
	for i := range j.band.rows {
		if x := &j.band.rows[i]; d.allows(x.flags, x.priority) {
			u.add(d.decision, &s, x.id)
		}
	}
	if len(u.units) > 2*mostItems {
		return false
	}
	s.node = p.node
	u.unbind()
	d.state(&s, d.wanted(&s))
	d.solve(&d.found, u, d.limit())
	return d.found.Proven && !d.found.Found
}

// unbind takes what binds units together off them: laws over sums, and budgets.
func (u *unitSet) unbind() {
	for i := range u.units {
		x := &u.units[i]
		x.Bounds, x.Erodes, x.Parts, x.Uses = nil, nil, nil, nil
	}
	u.bound = false
}
