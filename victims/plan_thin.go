package victims

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/victims/cover"
)

// If tasks that make headroom are many and hardly two are alike, a search over
// all of them takes far longer than it is worth: the best of them by themselves
// are enough for a good plan, and bounds are over all in any case.

const (
	// manyGroups is from how many groups on a pool is thinned. Clusters whose
	// tasks come in some shapes, leaves and priorities have fewer.
	manyGroups = 1024
	// thinTo is how many tasks a thinned pool has. Plans take some ten; with a
	// quarter as many the loads of package workload were as good.
	thinTo = 128
)

// motley reports whether candidates are of more groups than a search should look
// at.
func (p *headroomPool) motley(d *decision, ids []TaskID) bool {
	if len(ids) <= manyGroups {
		return false
	}
	p.groups.reset()
	for _, id := range ids {
		if p.groups.add(groupHash(d, id)); p.groups.n > manyGroups {
			return true
		}
	}
	return false
}

// groupHash returns a number that tasks of a group share that are in the same budgets, and
// hardly any others. To a search those in other budgets are not alike.
func groupHash(d *decision, id TaskID) uint64 {
	r := &d.c.tasks[id]
	const prime = 1099511628211 // of FNV-1a
	h := uint64(14695981039346656037)
	mix := func(v uint64) { h = (h ^ v) * prime; h ^= h >> 29 }
	mix(uint64(r.leaf))
	mix(uint64(uint32(r.priority))<<8 | uint64(r.flags&costFlags))
	mix(uint64(d.c.costOf(id)))
	for _, v := range d.c.size(id) {
		mix(uint64(v))
	}
	for _, b := range d.c.budgetsOf(id) {
		mix(uint64(b))
	}
	return h
}

// A groupSet counts different numbers, somewhat beyond manyGroups at most.
type groupSet struct {
	slots [4 * manyGroups]uint64 // 0 is empty
	n     int
}

func (g *groupSet) reset() { *g = groupSet{} }

func (g *groupSet) add(h uint64) {
	h |= 1
	for i := h >> 1 % uint64(len(g.slots)); ; i = (i + 1) % uint64(len(g.slots)) {
		switch g.slots[i] {
		case h:
			return
		case 0:
			g.slots[i] = h
			g.n++
			return
		}
	}
}

// thin keeps the best candidates by themselves: of the least levels, then those
// that give most of what is lacking, then by work and key.
func (p *headroomPool) thin(d *decision, ids []TaskID) []TaskID {
	// Most of very many are told by levels and share alone. What those that are kept
	// have is not worked out again for each that comes after them.
	order, best := &d.problem.order, p.best[:0]
	for _, id := range ids {
		x := pooledTask{id: id, levels: d.eligible.Levels(id), share: p.shareOf(d, id)}
		if len(best) == thinTo {
			worst := &best[0]
			if c := order.CompareLevels(&x.levels, &worst.levels); c > 0 || c == 0 && x.share < worst.share {
				continue
			}
		}
		x.lost = d.eligible.Lost(id)
		best = keepBest(best, x, func(a, b pooledTask) int {
			if c := order.CompareLevels(&a.levels, &b.levels); c != 0 {
				return c
			}
			return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.lost, b.lost), strings.Compare(d.c.tasks[a.id].key, d.c.tasks[b.id].key))
		})
	}
	p.best, ids = best, ids[:0]
	for i := range best {
		ids = append(ids, best[i].id)
	}
	return ids
}

// thinGangs keeps the best of the gangs that were met by themselves: of the least levels
// before own costs, then those that give most of what is lacking for each member. They stay
// in their order.
func (p *headroomPool) thinGangs(d *decision) []int32 {
	// Own costs are left to the search: to stop a gang that costs more may take fewer.
	best := p.gangs[:0]
	for _, g := range p.met {
		if s := d.elsewhere(); !d.gangHelps(g, &s) {
			continue // it is no unit
		}
		x := pooledGang{gang: g, members: int64(len(d.gangs.rows[g].members))}
		for k, id := range d.gangs.rows[g].members {
			levels := d.eligible.Levels(id)
			x.levels = d.problem.order.Join(&x.levels, k, &levels)
			x.share += p.shareOf(d, id)
		}
		best = keepBest(best, x, func(a, b pooledGang) int {
			if c := slices.Compare(a.levels[:LevelJobs], b.levels[:LevelJobs]); c != 0 {
				return c
			}
			// Shares for each member: which is larger?
			mine, other := wide.Mul(uint64(a.share), uint64(b.members)), wide.Mul(uint64(b.share), uint64(a.members))
			return cmp.Or(other.Cmp(mine), strings.Compare(d.gangs.keyOf(a.gang), d.gangs.keyOf(b.gang)))
		})
	}
	p.gangs = best
	met := p.met[:0]
	for i := range best {
		met = append(met, best[i].gang)
	}
	slices.Sort(met) // as they were met
	return met
}

// A pooledGang is a gang of a pool with what tells it from others.
type pooledGang struct {
	levels         cover.Levels
	share, members int64
	gang           int32
}

// A pooledTask is a task of a pool with what tells it from others.
type pooledTask struct {
	levels cover.Levels
	share  int64 // see shareOf
	lost   uint64
	id     TaskID
}

// shareOf returns what a task gives of the largest lacks of headroom, each as
// a part of it.
func (p *headroomPool) shareOf(d *decision, id TaskID) (share int64) {
	size := d.c.size(id)
	for t, short := range d.needs.most {
		if short > 0 {
			quo, _ := wide.MulDiv(uint64(min(size[t], short)), mixOne, uint64(short))
			share += int64(quo)
		}
	}
	return share
}

// pickLanes picks the best lanes of a huge node: of each kind that decides before
// own costs no more than thinTo, those that have most of what the node lacks for
// their own cost. They stay in their order.
//
// A decision picks once for as long as it stays with a node.
func (u *unitSet) pickLanes(d *decision, s *site) {
	if u.picked == s.node {
		return
	}
	u.picks, u.picked = u.picks[:0], s.node
	digest := &d.c.digest.nodes[s.node]
	d.problem.mix.aim(s.short)
	for from := 0; from < len(digest.lanes); {
		kind, end := &digest.lanes[from], from
		best := d.scratch.picked[:0]
		for ; end < len(digest.lanes); end++ {
			l := &digest.lanes[end]
			if l.flags != kind.flags || l.priority != kind.priority {
				break
			}
			x := pickedLane{share: d.problem.mix.of(digest.size(end, d.c.types)), lane: int32(end)}
			// Without own costs most have no more than the worst that was picked.
			if len(d.c.costs) > 0 {
				x.cost = d.c.costOf(digest.ids[l.first])
			} else if len(best) == thinTo && x.share <= best[0].share {
				continue
			}
			best = keepBest(best, x, pickedLane.compare)
		}
		for i := range best {
			u.picks = append(u.picks, best[i].lane)
		}
		d.scratch.picked, from = best, end
	}
	d.trial.pay(int64(4 * len(digest.lanes)))
	slices.Sort(u.picks)
}

// A pickedLane is a lane with what its tasks have of what is lacking, and cost.
type pickedLane struct {
	share, cost int64
	lane        int32
}

// compare orders lanes by own cost for what they have, then by what they have.
func (a pickedLane) compare(b pickedLane) int {
	if a.cost != 0 || b.cost != 0 {
		if c := wide.Mul(uint64(a.cost), uint64(b.share)).Cmp(wide.Mul(uint64(b.cost), uint64(a.share))); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.lane, b.lane))
}

// keepBest takes x in if it is one of the best thinTo, no two of which are equal.
// They are a heap with the worst of them on top.
func keepBest[T any](best []T, x T, compare func(a, b T) int) []T {
	if len(best) < thinTo {
		best = append(best, x)
		for i := len(best) - 1; i > 0 && compare(best[i], best[(i-1)/2]) > 0; i = (i - 1) / 2 {
			best[i], best[(i-1)/2] = best[(i-1)/2], best[i]
		}
		return best
	}
	if compare(x, best[0]) > 0 {
		return best
	}
	best[0] = x
	for i := 0; ; {
		next := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(best); child++ {
			if compare(best[child], best[next]) > 0 {
				next = child
			}
		}
		if next == i {
			return best
		}
		best[i], best[next] = best[next], best[i]
		i = next
	}
}
