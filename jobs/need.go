package jobs

import (
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// needs are what victims must free below the queues of the path, wherever they
// run: for a max, and for the max of a quota. They are the same for all ways to
// place the members, whose sum is what counts. The queues are nested, so what a
// task helps is told by one number, its level: the first of them that it is
// below.
type needs struct {
	queues []queue.ID         // that are short, from the leaf upwards
	short  []resources.Vector // what each lacks, in types of rem
	// The types in which a queue is short for its max, and for that of its quota.
	headroom, quota []resources.Mask
	masks           []resources.Mask // the types in which those from a level on are short
	most            resources.Vector // the largest lack per type
}

// open reports whether any queue is short.
func (n *needs) open() bool { return len(n.queues) > 0 }

// prepareNeeds finds what queues are short of for all members of todo. What
// forbids the job to preempt has been checked before, so that of the quotas
// only the max is left, and that only of a non-preemptible job.
func (d *decision) prepareNeeds() {
	n := &d.needs
	n.queues, n.short = n.queues[:0], n.short[:0]
	n.headroom, n.quota = n.headroom[:0], n.quota[:0]
	n.most = d.block(1)
	for q := range d.tree.Up(d.job.Queue) {
		d.prepareNeed(q)
	}
	n.masks = zeros(n.masks, len(n.queues)+1)
	for i := len(n.queues) - 1; i >= 0; i-- {
		n.masks[i] = n.masks[i+1] | n.headroom[i] | n.quota[i]
	}
}

// prepareNeed adds what queue q is short of, if anything.
func (d *decision) prepareNeed(q queue.ID) {
	n := &d.needs
	short := resources.Vector(d.block(1))
	var headroom, quota resources.Mask
	most := d.tree.Max(q)
	for t := range (most.Defined & d.wants).All() {
		if lack := d.usageAt(q, t, coming) + d.rem[t] - most.Value[t]; lack > 0 {
			short[t] = lack
			headroom = headroom.With(t)
		}
	}
	if a := d.account(q); a != nil {
		for t, lack := range a.Need(d.block(1), d.claim()) {
			if lack > 0 {
				short[t] = max(short[t], lack)
				quota = quota.With(t)
			}
		}
	}
	if headroom|quota == 0 {
		return
	}
	n.queues = append(n.queues, q)
	n.short = append(n.short, short)
	n.headroom = append(n.headroom, headroom)
	n.quota = append(n.quota, quota)
	n.most = resources.Max(n.most, n.most, short)
}

// claim returns what the members of todo ask of the quotas.
func (d *decision) claim() Claim {
	return Claim{Rem: d.rem, NonPreemptible: d.job.NonPreemptible}
}

// account returns the account of a queue, or nil where it has no quota.
func (d *decision) account(q queue.ID) *Account {
	accounts := d.ledger.Accounts()
	for i := range accounts {
		if accounts[i].Queue == q {
			return &accounts[i]
		}
	}
	return nil
}

// level returns the first queue that is short and contains leaf, or the number
// of such queues.
func (n *needs) level(t *queue.Tree, leaf queue.ID) int32 {
	for i, q := range n.queues {
		if t.Contains(q, leaf) {
			return int32(i)
		}
	}
	return int32(len(n.queues))
}

// hasHeadroom reports whether no queue of the path would pass its max with
// amounts more than it uses at a moment.
func (d *decision) hasHeadroom(more resources.Vector, m moment) bool {
	return d.underMaxima(resources.Positive(more), more, m)
}

// underMaxima reports whether no queue of the path passes its max in some types
// with amounts more than it uses at a moment.
func (d *decision) underMaxima(types resources.Mask, more resources.Vector, m moment) bool {
	for q := range d.tree.Up(d.job.Queue) {
		most := d.tree.Max(q)
		for t := range (most.Defined & types).All() {
			if d.usageAt(q, t, m)+more.At(t) > most.Value[t] {
				return false
			}
		}
	}
	return true
}
