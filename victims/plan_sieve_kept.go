package victims

import (
	"slices"

	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/internal/rows"
)

// keptSieves are the sums of sieves, kept from one decision to the next. A queue that
// asks again and again would sift the same nodes each time, and few of them have
// changed.
//
// They hold for one cluster as long as the laws keep the same tasks, and of a node as
// long as its digest is the same one. What a decision finds does not depend on them:
// they only save work.
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

// A keptSieve says where the sums of a node are, and for what they hold.
type keptSieve struct {
	made, epoch uint64
	row         int32 // in rows, and one; 0 if it has none yet
	some        bool  // laws keep some of its tasks; else the digest tells all
}

// reset takes note of the laws of a decision. What was sifted under others is void.
func (k *keptSieves) reset(d *decision) {
	e, app := &d.eligible, int32(-1)
	if d.sieve.apps {
		app = e.app
	}
	same := k.of == d.c && k.types == d.c.types && k.app == app && len(k.laws) == len(e.leaves)
	if k.types != d.c.types {
		k.rows, k.at = digestRows{}, nil // rows of another width
	}
	k.of, k.types, k.app = d.c, d.c.types, app
	// A few numbers per queue tell whether the same tasks are kept as before.
	k.laws = slices.Grow(k.laws[:0], len(e.leaves))[:len(e.leaves)]
	for w := range e.leaves {
		leaf := &e.leaves[w]
		law := leafLaw{veto: d.sieve.vetoes[w]}
		// Whom a leaf that gives nothing would let go does not matter.
		if !law.veto {
			law.ceiling, law.rank = leaf.ceiling, leaf.rank
		}
		if k.laws[w] != law {
			k.laws[w], same = law, false
		}
	}
	if !same {
		k.epoch++
	}
	if n := len(d.c.nodes); n > len(k.at) {
		k.at = append(k.at, make([]keptSieve, n-len(k.at))...)
	}
}

// holds reports whether what is kept of a node holds still.
func (k *keptSieves) holds(n NodeID) bool {
	at := &k.at[n]
	return at.epoch == k.epoch && at.made == k.of.digest.made[n]
}

// keepNone notes that laws let all tasks of a node go.
func (k *keptSieves) keepNone(n NodeID) {
	at := &k.at[n]
	at.made, at.epoch, at.some = k.of.digest.made[n], k.epoch, false
}

// keep keeps the sums of a node that has just been sifted.
func (k *keptSieves) keep(n NodeID, from *digestRows) {
	at := &k.at[n]
	// A node that is sifted again, under whatever laws, has its row again: a planner
	// at work for long allocates no more.
	if at.row == 0 {
		k.rows.addSums(k.types)
		at.row = int32(len(k.rows.gauges))
	}
	at.made, at.epoch, at.some = k.of.digest.made[n], k.epoch, true
	row, blocks := int(at.row-1), from.blocks()
	for i, block := range k.rows.blocks() {
		copy(rows.At(*block, row, k.types), *blocks[i])
	}
	k.rows.gauges[row] = from.gauges[0]
	copy(k.rows.latest[row*numLatest:][:numLatest], from.latest)
}
