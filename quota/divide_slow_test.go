// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"math/big"
	"slices"

	"github.com/go-preempt/preempt/internal/judge/world"
)

// divideSlowly divides the target of a trial among the queues below, from the
// text of the design and with exact fractions: the part of each queue in the
// first round. It also says whether tree order had to break a tie.
func divideSlowly(c *trial) (parts map[string]world.Amounts, tied bool) {
	s := slowDivision{c: c, usage: c.World.Usage(true), parts: make(map[string]world.Amounts)}
	places := c.World.Queues()
	top := places[slices.IndexFunc(places, func(q world.Place) bool { return q.Path == c.Queue })]
	for _, name := range c.World.Types {
		bound, bounded := c.Max[name]
		if !bounded {
			continue
		}
		whole := min(max(s.usage[c.Queue][name]-bound, 0), s.releasable(top, name))
		s.divide(top, name, whole)
	}
	return s.parts, s.tied
}

type slowDivision struct {
	c     *trial
	usage map[string]world.Amounts
	parts map[string]world.Amounts
	tied  bool
}

func (s *slowDivision) surplus(q world.Place, name string) int64 {
	g := q.Guaranteed[name] // an absent guarantee leaves all of it
	return max(s.usage[q.Path][name]-g, 0)
}

func (s *slowDivision) releasable(q world.Place, name string) int64 {
	if q.Path != s.c.Queue && slices.Contains(s.c.Busy, q.Path) {
		return 0
	}
	if q.IsLeaf() {
		return s.surplus(q, name)
	}
	var sum int64
	for _, child := range children(q) {
		sum += s.releasable(child, name)
	}
	return min(sum, s.surplus(q, name))
}

func children(q world.Place) (all []world.Place) {
	for i := range q.Children {
		all = append(all, world.Place{Path: q.Path + "." + q.Children[i].Name, Queue: &q.Children[i]})
	}
	return all
}

// divide gives each child its exact share rounded down, and what is left over
// one by one to the child that is furthest below its share.
func (s *slowDivision) divide(q world.Place, name string, whole int64) {
	all := children(q)
	var total int64
	for _, child := range all {
		total += s.releasable(child, name)
	}
	if total == 0 {
		return
	}
	amounts, lacks := make([]int64, len(all)), make([]*big.Rat, len(all))
	left := whole
	for i, child := range all {
		exact := big.NewRat(s.releasable(child, name), total)
		exact.Mul(exact, new(big.Rat).SetInt64(whole))
		amounts[i] = new(big.Int).Quo(exact.Num(), exact.Denom()).Int64()
		lacks[i] = exact.Sub(exact, new(big.Rat).SetInt64(amounts[i]))
		left -= amounts[i]
	}
	for ; left > 0; left-- {
		first := 0
		for i := range lacks {
			if lacks[i].Cmp(lacks[first]) > 0 {
				first = i
			}
		}
		for i := range lacks {
			// Another one has the same claim, and gets nothing if this was the
			// last.
			s.tied = s.tied || i != first && left == 1 && lacks[i].Cmp(lacks[first]) == 0
		}
		amounts[first]++
		lacks[first].SetInt64(-1)
	}
	for i, child := range all {
		if amounts[i] > 0 {
			if s.parts[child.Path] == nil {
				s.parts[child.Path] = make(world.Amounts)
			}
			s.parts[child.Path][name] = amounts[i]
		}
		s.divide(child, name, amounts[i])
	}
}
