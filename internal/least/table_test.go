// SPDX-License-Identifier: Apache-2.0

package least

import (
	"slices"
	"testing"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/resources"
)

// A host of one problem, in which units have no keys.
type single struct{ Host }

func (single) Few() bool                                          { return false }
func (single) Elsewhere() bool                                    { return false }
func (single) Before(n, m int32) bool                             { return n < m }
func (single) Keys(dst []string, _ *Problem, _, _ int32) []string { return dst }

// pose returns a search of a problem in the order of plans.
func pose(p *Problem) *Search {
	s := &Search{Host: single{}, Keys: single{}, Order: &planOrder, Meter: &Meter{Left: 1 << 40}, Best: &Best{}}
	for range p.Wanted {
		s.Capacity = append(s.Capacity, 100)
	}
	s.Pose(p)
	return s
}

// ofType returns a problem of one type, of which so much is needed.
func ofType(need int64, rows ...Row) *Problem {
	return &Problem{Need: []int64{need}, Typ: []int32{0}, Rows: rows, Wanted: []int64{need}}
}

// plain returns a row of plain units of one type.
func plain(count, size int64) Row {
	return Row{Levels: cost.Levels{8: 1}, Size: []int64{size}, Gives: []int64{size}, Count: count}
}

func (r Row) own(high, low int64) Row { r.Levels[6], r.Levels[7] = high, low; return r }

// Cases that went wrong once.
func TestTable(t *testing.T) {
	broken := ofType(20, plain(1, 1), plain(1, 20))
	broken.Room, broken.Types = []int64{-7}, []int32{0}
	broken.Rows[0].Takes = []Take{{0, 1}}
	for _, tt := range []struct {
		name         string
		p            *Problem
		among, taken []int32 // nil: all; none
	}{
		{"a limit that is broken takes nothing from others", broken, nil, []int32{0, 1}},
		{"only some rows may go", ofType(2, plain(2, 2), plain(2, 1)), []int32{1}, []int32{0, 2}},
		{"only some rows may go in a long search", ofType(7, plain(1, 7), plain(1, 3), plain(1, 4), plain(2, 2)), []int32{1, 2, 3}, []int32{0, 1, 1, 0}},
		{"the other rows are not enough", ofType(3, plain(2, 2), plain(2, 1)), []int32{1}, nil},
		{"no rows may go", ofType(3, plain(2, 2)), []int32{}, nil},
		{"nothing is needed", ofType(0, plain(2, 2)), nil, []int32{0}},
		{"units of costs that are not told apart", ofType(3, plain(2, 1).own(1<<40, 0), plain(6, 1).own(1<<29-1, 0)), nil, []int32{0, 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, early := range []int{0, 1} {
				s := pose(tt.p)
				s.solver.early = early
				a := s.Solve(tt.p, nil, tt.among, enough)
				if a.Found != (tt.taken != nil) || a.Found && !slices.Equal(a.Taken, tt.taken) || !a.Proven {
					t.Errorf("%+v, want %v", a, tt.taken)
				}
			}
		})
	}
}

// A number in two halves may be more than what bounds tell apart. Then they say less of it,
// and never too much.
func TestClimb_LargeCosts(t *testing.T) {
	const most = mostValue >> cost.HalfBits
	for _, high := range []int64{most - 1, most, most + 1, 1 << 60} {
		for n := range int64(3) {
			n++
			row := plain(1, 1).own(high, 1)
			p := ofType(n, row, row, row, row)
			s := pose(p)
			levels := cost.Levels{6: n * high, 7: n, 8: n}
			if !s.climb(p, bound) || slices.Compare(s.ladder.levels[:], levels[:]) > 0 {
				t.Errorf("high half %d: bound %v, want no more than %v", high, s.ladder.levels, levels)
			}
			s.Best.Found, s.Best.Node, s.Best.Total.Levels = true, 1, levels
			s.Best.Note(s.Capacity)
			for e := range effort(seek + 1) {
				if !s.climb(p, e) {
					t.Errorf("high half %d, effort %d: ruled out by what costs the same elsewhere", high, e)
				}
			}
		}
	}
}

// Bounds are not only right, they tell.
func TestClimb_Tells(t *testing.T) {
	optedOut := plain(1, 4)
	optedOut.Levels[0] = 1
	p := ofType(4, plain(4, 1), optedOut)
	s := pose(p)
	if !s.climb(p, bound) || s.ladder.levels != (cost.Levels{8: 4}) || s.ladder.units != 4 {
		t.Errorf("bound %v, %d units: want 4 victims without the one that is opted out", s.ladder.levels, s.ladder.units)
	}
	s.Best.Found, s.Best.Node, s.Best.Total.Levels = true, 1, cost.Levels{8: 4}
	s.Best.Total.Work = s.Best.Total.Work.Add(resources.WideOf(1))
	s.Best.Note(s.Capacity)
	if !s.climb(p, seek) {
		t.Error("less work is lost, but it is ruled out")
	}
	if s.Lesser = true; s.climb(p, seek) {
		t.Error("no levels are lesser, but it is looked at")
	}
	p = ofType(5, plain(4, 2))
	if s := pose(p); !s.climb(p, bound) || s.ladder.levels[8] != 3 {
		t.Errorf("bound %v: of units of 2 it takes 3 to give 5", s.ladder.levels)
	}
}

func TestAsMuch(t *testing.T) {
	got := AsMuch(nil, resources.Share{Amount: 1, Of: 3}, []int64{3, 2, 4, 0, 6, 1 << 62})
	if want := []int64{1, 1, 2, 1, 2, 1<<62/3 + 1}; !slices.Equal(got, want) {
		t.Errorf("a third is %v, want %v", got, want)
	}
	if got := AsMuch(nil, resources.Share{Amount: 1 << 62, Of: 1}, []int64{1, 2, 4}); !slices.Equal(got, []int64{1 << 62, noLimit, noLimit}) {
		t.Errorf("more than there is of all: %v", got)
	}
}
