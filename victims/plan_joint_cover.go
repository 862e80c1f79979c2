package victims

import "slices"

// The items that are left of a node and a band are few. Before a search for the cheapest
// plan looks at them, it is asked whether so few of them give what is lacking at all:
// whoever goes, and whatever it costs, they are a cover of all needs at once. Mostly there
// is none, and that is seen in a small part of the time.

// An itemCover is a cover of what a node and headroom lack by items.
type itemCover struct {
	joint jointSearch
	set   *coverSet
	need  []int64
}

// coverItems looks for plans of lesser levels among the items, and reports whether there
// are none besides what it leaves as the best, or that it does not know.
func (d jointSearch) coverItems(p *prospect) coverage {
	x := itemCover{joint: d, set: &d.pool.joint.cover, need: d.pool.joint.needs[:0]}
	x.state(p)
	for {
		most, ok := d.most(p)
		if !ok || most > mostTops {
			return unclear
		}
		// The budget of the node is for what comes after this as well.
		x.set.limit = d.trial.meter.Left / int64(16*x.set.dims)
		got := x.set.cover(x.need, int(most), nil)
		d.trial.pay(x.set.work)
		x.set.work = 0
		if got != covered || !x.offer(p) {
			d.pool.joint.needs = x.need
			return got
		}
	}
}

// state states what is lacking, and what each item gives of it.
//
// One more dimension counts: so many are on the node at least. So those elsewhere are no
// more than a lesser plan has.
func (x *itemCover) state(p *prospect) {
	parts, j := splitSearch{x.joint}, &x.joint.pool.joint
	rough := &j.split.rough
	for k := range rough[0] {
		x.need = append(x.need, rough[0][k].lack(j.short[rough[0][k].typ]))
	}
	x.need = append(append(x.need, j.split.lacks...), p.here)
	x.set.reset(len(x.need))
	for i := range j.items {
		item, n := &j.items[i], len(x.set.sizes)
		x.set.sizes = parts.amounts(x.set.sizes, 0, *item)
		on := int64(1)
		if !item.on {
			clear(x.set.sizes[n:])
			on = 0
		}
		x.set.sizes = append(parts.amounts(x.set.sizes, 1, *item), on)
	}
}

// offer offers a plan of the items that cover. It reports whether that has become the
// best.
func (x *itemCover) offer(p *prospect) bool {
	d, j := x.joint, &x.joint.pool.joint
	best := d.best.Total.Levels
	j.aside = append(j.aside[:0], j.items...)
	j.items = j.items[:0]
	slices.Sort(x.set.picks)
	for _, i := range x.set.picks {
		j.items = append(j.items, j.aside[i])
	}
	d.attempt(p)
	j.items = append(j.items[:0], j.aside...)
	return d.best.Total.Levels != best
}
