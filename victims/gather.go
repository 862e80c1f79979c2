package victims

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// A unitSet is the candidates of one problem, as units and as tasks.
type unitSet struct {
	units []cover.Unit
	ids   []TaskID
	bound bool // some unit has bounds
}

func (u *unitSet) reset() { u.units, u.ids, u.bound = u.units[:0], u.ids[:0], false }

// add adds a task as a unit.
func (u *unitSet) add(id TaskID, unit cover.Unit) {
	u.units, u.ids = append(u.units, unit), append(u.ids, id)
	u.bound = u.bound || len(unit.Bounds) > 0
}

// gather collects the candidates on a node that is short of some types.
func (u *unitSet) gather(d *decision, n NodeID, short resources.Mask) {
	u.reset()
	for _, id := range d.c.nodes[n].tasks {
		if d.candidate(id, short) {
			u.add(id, d.unit(id, 1))
		}
	}
}

// gatherLanes is gather by the digest of the node, without those candidates
// that no least-cost set can have: of tasks that are alike, and that neither
// ranks nor guarantees tell apart on this node, no more can be of use than meet
// its need, and those that lose the least work go first.
func (u *unitSet) gatherLanes(d *decision, n NodeID, short resources.Mask) {
	u.reset()
	d.c.refresh(n)
	digest := &d.c.digest.nodes[n]
	all := d.c.row(d.c.digest.all, n)
	for i := range digest.lanes {
		l := &digest.lanes[i]
		size := digest.size(i, d.c.types)
		left, counted := int64(0), false // the most useful, counted where one is found
		for j := l.first; j < l.end; j++ {
			leaf := &d.leaves[digest.leaves[j]]
			unbound := d.evenRanks && !d.needs.open() && resources.Fits(all, leaf.room)
			if leaf.veto != 0 || unbound && counted && left == 0 || !resources.Fits(size, leaf.room) {
				continue
			}
			id := digest.ids[j]
			if !d.candidate(id, short) {
				continue
			}
			if !counted {
				left, counted = mostUseful(d.nodeShort, size), true
			}
			unit := d.unit(id, 1)
			if unbound {
				unit.Bounds = nil
			}
			if unbound && unit.Work > 0 {
				left-- // those without work to lose are told apart by key, and not in order
			}
			u.add(id, unit)
		}
	}
}

// mostUseful returns how many units of a size meet a need in every type that
// they have any of.
func mostUseful(short, size resources.Vector) (most int64) {
	for t, lack := range short {
		if v := size.At(t); lack > 0 && v > 0 {
			most = max(most, (lack-1)/v+1)
		}
	}
	return most
}

// gatherHeadroom collects the candidates on any node that make headroom, those
// of a group next to each other and the first to take first.
func (u *unitSet) gatherHeadroom(d *decision) {
	u.reset()
	for w := range d.tree.Leaves(d.needs.queues[len(d.needs.queues)-1]) {
		for _, id := range d.c.leaves[w] {
			if d.candidate(id, 0) {
				u.ids = append(u.ids, id)
			}
		}
	}
	slices.SortFunc(u.ids, d.compareGroups)
	for _, id := range u.ids {
		unit := d.unit(id, 0)
		u.units = append(u.units, unit)
		u.bound = u.bound || len(unit.Bounds) > 0
	}
}

// compareGroups orders tasks by group: tasks of one leaf that are alike but
// for work and key, and among those by work and key.
func (d *decision) compareGroups(a, b TaskID) int {
	if c := d.compareGroup(a, b); c != 0 {
		return c
	}
	x, y := &d.c.tasks[a], &d.c.tasks[b]
	return cmp.Or(cmp.Compare(d.lost(a), d.lost(b)), strings.Compare(x.key, y.key))
}

func (d *decision) compareGroup(a, b TaskID) int {
	x, y := &d.c.tasks[a], &d.c.tasks[b]
	return cmp.Or(
		cmp.Compare(x.leaf, y.leaf),
		cmp.Compare(x.priority, y.priority),
		cmp.Compare(x.flags&costFlags, y.flags&costFlags),
		slices.Compare(d.c.size(a), d.c.size(b)),
	)
}

// join adds the headroom candidates that are not on node n. Of each group no
// more are added than can be of use: the first of them.
func (u *unitSet) join(d *decision, n NodeID) {
	pool := &d.pool
	var left int64
	for i, id := range pool.ids {
		if i == 0 || d.compareGroup(pool.ids[i-1], id) != 0 {
			left = d.mostForHeadroom(&pool.units[i])
		}
		if left > 0 && d.c.tasks[id].node != n {
			u.add(id, pool.units[i])
			left--
		}
	}
}

// mostForHeadroom returns how many units like u meet every headroom need that
// they reduce at all.
func (d *decision) mostForHeadroom(u *cover.Unit) (most int64) {
	for _, row := range u.Needs {
		most = max(most, mostUseful(d.needs.short[row-1], u.Size))
	}
	return most
}
