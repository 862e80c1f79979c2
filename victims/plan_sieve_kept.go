package victims

import (
	"slices"

	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
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
	ns    int64       // the latest time of a decision
	rows  digestRows  // without lanes, which few nodes need
	types int
	ask   uint32           // the number of times that another size was asked for
	size  resources.Vector // that was asked for last
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
	newest      newestBound
}

// A known says what was found out of the tasks of a node.
type known uint8

const (
	notSifted known = iota
	keepsNone       // the digest tells all
	keepsSome       // there are sums of those that the laws let go
)

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
	// What is lost grows with time. If a caller goes back in it, bounds are void.
	if !same || e.ns < k.ns {
		k.epoch++
	}
	k.ns = e.ns
	if !resources.Equal(k.size, d.size) {
		k.size = append(k.size[:0], d.size...)
		k.ask++
	}
	if n := len(d.c.nodes); n > len(k.at) {
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

// keepNone notes that laws let all tasks of a node go.
func (k *keptSieves) keepNone(n NodeID) { k.node(n).known = keepsNone }

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
	copy(k.rows.lanes[row*numLatest:][:numLatest], from.lanes)
}
