package victims

import (
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// A pricedLane is what each task of a lane has of what is lacking, and costs.
type pricedLane struct {
	share, tasks, cost int64
	lane               int32
}

// boundOwn raises the bound of a node by what its tasks cost at least by
// themselves, if they could be cut. It reports false if no plan for the node can
// cost less than the best so far.
func (d bounder) boundOwn(b *nodeBound, lanes []lane, lacks resources.Vector) bool {
	limit := int64(noLimit)
	if d.best.found && slices.Compare(b.levels[:LevelOwn], d.best.total.Levels[:LevelOwn]) >= 0 {
		// A plan that is as cheap as the best has nobody who alone costs more.
		if own, ok := cover.Join(d.best.total.Levels[LevelOwn], d.best.total.Levels[LevelOwnLow]).Int64(); ok {
			limit = own
		}
	}
	open, left := d.problem.mix.aim(lacks), limit
	priced := d.priced(laneSet{b.node, lanes}, limit)
	for _, p := range priced {
		if hi, lo := bits.Mul64(uint64(p.share), uint64(p.tasks)); hi > 0 || lo >= uint64(open) {
			quo, rem := ratioOf(p.cost, open, p.share)
			if limit < noLimit && quo+rem > left {
				return false
			}
			left -= min(quo+rem, left)
			b.levels[LevelOwn], b.levels[LevelOwnLow] = cover.WideOf(limit - left).Split()
			return true
		}
		open -= p.share * p.tasks
		hi, all := bits.Mul64(uint64(p.cost), uint64(p.tasks))
		if hi > 0 || all > uint64(left) {
			return limit == noLimit
		}
		left -= int64(all)
	}
	return limit == noLimit // those that do not cost more are not enough
}

// priced lists the lanes whose tasks cost no more than a limit, the cheapest for
// what they have first.
func (d bounder) priced(in laneSet, limit int64) []pricedLane {
	digest := d.digestOf(in.node)
	priced := d.scratch.priced[:0]
	for i := range in.lanes {
		l := &in.lanes[i]
		cost := d.c.costOf(digest.ids[l.first])
		if share := d.problem.mix.of(digest.size(i, d.c.types)); share > 0 && cost <= limit {
			priced = append(priced, pricedLane{share, l.tasks(), cost, int32(i)})
		}
	}
	d.scratch.priced = priced
	slices.SortFunc(priced, func(a, b pricedLane) int {
		return wide.Mul(uint64(a.cost), uint64(b.share)).Cmp(wide.Mul(uint64(b.cost), uint64(a.share)))
	})
	return priced
}

// ratioOf returns cost times open ÷ share and what remains, or noLimit if that is
// too much.
func ratioOf(cost, open, share int64) (quo, rem int64) {
	if hi, _ := bits.Mul64(uint64(cost), uint64(open)); hi >= uint64(share) {
		return noLimit - 1, 1
	}
	q, r := wide.MulDiv(uint64(cost), uint64(open), uint64(share))
	return int64(min(q, noLimit-1)), int64(min(r, 1))
}
