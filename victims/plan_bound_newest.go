package victims

import (
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// The newest tasks of a node lose the least work, and mostly they are not those that
// give what the node lacks. If the best plan loses much, since the newest tasks of the
// cluster were stopped before or a filter leaves few nodes, most nodes have tasks that
// together lose less. So a node gets one more bound: the least work of so many of its
// newest tasks that give what it lacks of a type. It says nothing of the best plan, and
// so it is kept for the next decision.

// A newestBounder bounds the work of nodes by their newest tasks.
type newestBounder struct{ bounder }

// A newestBound is the least work that so many victims on a node lose if they give an
// amount of a type.
type newestBound struct {
	ask    uint32 // the number of the size that was asked for; see keptSieves
	count  int8
	typ    int8
	amount int64
	least  uint64
}

// beaten is [bounder.beaten] with the work that the newest tasks tell.
func (d newestBounder) beaten(b *nodeBound) bool {
	// With a bound of lesser levels a plan of more victims may be cheaper, and of those
	// the work says nothing.
	if b.levels != d.best.total.Levels {
		return false
	}
	g, row := d.digestAt(b.node)
	count := b.levels[LevelVictims]
	return d.tells(b.node, count, digestRow{g, row}) && d.freesAsMuch(b.node, count, 0)
}

// serves reports whether so many victims are bounded. Of many victims one that is not
// listed mostly loses too little to tell.
func (d newestBounder) serves(count int64) bool {
	return count >= 2 && count <= numLatest/2 && d.without.Rule == 0
}

// tells reports whether it is certain that as many tasks of a node as the best plan has
// victims lose more work than that, if they give what the node lacks.
//
// It says the same whether a bound was kept or not: what a search spends must not depend
// on the decisions before.
func (d newestBounder) tells(n NodeID, count int64, sums digestRow) bool {
	if !d.serves(count) {
		return false
	}
	kept := &d.sieve.kept
	b := &kept.node(n).newest
	if b.ask == kept.ask && int64(b.count) == count && d.lacks(n, int(b.typ)) >= b.amount && d.losesMore(b.least) {
		return true
	}
	// To list what each loses takes least, and mostly tells that more does not.
	s := newestSearch{types: d.c.types}
	if s.list(d.bounder, sums, int(count)); !d.losesMore(s.least) {
		return false // others than the newest may do
	}
	typ := d.rarest(sums)
	amount := d.lacks(n, typ)
	s.weigh(&d.c.digest.nodes[n], sums, typ)
	s.add(0, int(count), newestSet{missing: amount})
	*b = newestBound{kept.ask, int8(count), int8(typ), amount, s.least}
	return d.losesMore(s.least)
}

// losesMore reports whether some nanoseconds of work are more than that of the best plan.
func (d newestBounder) losesMore(ns uint64) bool {
	return cover.WorkOfNanos(ns).Compare(d.best.total.Work) > 0
}

// lacks returns what a node lacks of a type, and less than 0 if it has more than enough.
func (d newestBounder) lacks(n NodeID, t int) int64 { return d.size[t] - d.c.row(d.c.coming, n)[t] }

// rarest returns the type of which the largest tasks of a node give the least part of
// what is asked for. Any type makes a right bound, and this one mostly the highest.
func (d newestBounder) rarest(sums digestRow) (typ int) {
	largest := d.c.row(sums.of.largest, sums.row)
	for i, t := range d.types {
		if i == 0 || (resources.Share{Amount: largest[t], Of: d.size[t]}).Compare(resources.Share{Amount: largest[typ], Of: d.size[typ]}) < 0 {
			typ = t
		}
	}
	return typ
}

// A newestSearch goes through sets of the newest tasks of a node.
type newestSearch struct {
	types  int
	tasks  int
	lost   [numLatest]uint64 // what each loses, rising
	amount [numLatest]int64  // what each has of a type
	most   [numLatest]int64  // the most that it or one after it has
	least  uint64            // of the sets so far
}

// mostLost is what a task loses at most, for this bound: the sum of a few of them is far
// from wrapping.
const mostLost = 1 << 59

// list lists the newest tasks of a node, and begins with sets that have one which is not
// listed: that loses as much as the last of those, beside the newest.
func (s *newestSearch) list(d bounder, sums digestRow, count int) {
	row := sums.of.newest(sums.row)
	s.tasks = min(numLatest, int(sums.of.gauges[sums.row].evictable))
	for i := range s.tasks {
		s.lost[i] = min(d.since(row.times[i]), mostLost)
	}
	if s.least = numLatest * mostLost; s.tasks == numLatest {
		s.least = s.lost[numLatest-1]
		for _, lost := range s.lost[:count-1] {
			s.least += lost
		}
	}
}

// weigh lists what each has of a type, by the lanes of the node.
func (s *newestSearch) weigh(digest *nodeDigest, sums digestRow, t int) {
	row := sums.of.newest(sums.row)
	// From the last on, so that the most of those after it is known.
	for i := s.tasks - 1; i >= 0; i-- {
		if lane := row.lanes[i]; lane == farLane {
			// Nobody has more than the largest task.
			s.amount[i] = rows.At(sums.of.largest, int(sums.row), s.types)[t]
		} else {
			s.amount[i] = digest.size(int(lane), s.types)[t]
		}
		if s.most[i] = s.amount[i]; i+1 < s.tasks {
			s.most[i] = max(s.most[i], s.most[i+1])
		}
	}
}

// A newestSet is some of the newest tasks: what is missing beside them, and what they lose.
type newestSet struct {
	missing int64
	lost    uint64
}

// add adds so many more tasks to a set, from task i on, in every way that may lose less
// than the least so far.
func (s *newestSearch) add(i, more int, set newestSet) {
	for ; i+more <= s.tasks; i++ {
		missing := set.missing - s.amount[i]
		switch {
		case set.lost+uint64(more)*s.lost[i] >= s.least:
			return // it and those after it lose no less
		case !reaches(int64(more), s.most[i], set.missing):
			return // nor do they give enough
		case more > 1:
			s.add(i+1, more-1, newestSet{missing, set.lost + s.lost[i]})
		case missing <= 0:
			s.least = set.lost + s.lost[i]
			return
		}
	}
}
