package victims

import (
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// A boundState is what is left of bounds while units are taken one by one. There
// are as many bounds as queues with a guarantee, and the units of a node touch
// few of them. So a bound is copied when it is touched first.
type boundState struct {
	source []cover.Bound
	left   []cover.Bound // by row; a row counts if its stamp is the current one
	stamps []uint32
	stamp  uint32
}

// reset begins with all of the bounds, and no unit.
func (s *boundState) reset(bounds []cover.Bound) {
	s.source = bounds
	for len(s.left) < len(bounds) {
		s.left, s.stamps = append(s.left, cover.Bound{}), append(s.stamps, 0)
	}
	if s.stamp++; s.stamp == 0 { // it has gone round
		clear(s.stamps)
		s.stamp = 1
	}
}

// at returns what is left of a bound.
func (s *boundState) at(row int32) *cover.Bound {
	b := &s.left[row]
	if s.stamps[row] != s.stamp {
		s.stamps[row] = s.stamp
		b.Room = resources.AddOnlyExisting(b.Room, s.source[row].Room, nil)
		b.Extra = append(b.Extra[:0], s.source[row].Extra...)
	}
	return b
}

// take takes a unit if every bound is kept then, and reports whether it has.
func (s *boundState) take(u *cover.Unit) bool {
	s.change(u, resources.SubOnlyExisting, resources.Sub)
	if s.keeps(u) {
		return true
	}
	// Nothing saturates here, so that this is exact.
	s.change(u, resources.AddOnlyExisting, resources.Add)
	return false
}

// change changes what is left of the bounds that a unit touches by its size.
func (s *boundState) change(
	u *cover.Unit,
	room func(dst, l resources.Limit, v resources.Vector) resources.Limit,
	extra func(dst, a, b resources.Vector) resources.Vector,
) {
	for part := range u.All {
		for _, row := range part.Bounds {
			b := s.at(row)
			b.Room = room(b.Room, b.Room, part.Size)
		}
		for _, row := range part.Erodes {
			b := s.at(row)
			b.Extra = extra(b.Extra, b.Extra, part.Size)
		}
	}
}

// keeps reports whether the bounds that a unit touches are kept.
func (s *boundState) keeps(u *cover.Unit) bool {
	for part := range u.All {
		for _, touched := range [...][]int32{part.Bounds, part.Erodes} {
			for _, row := range touched {
				b := s.at(row)
				for t := range b.Room.Defined.All() {
					if b.Room.Value[t]+max(b.Extra.At(t), 0) < 0 {
						return false
					}
				}
			}
		}
	}
	return true
}
