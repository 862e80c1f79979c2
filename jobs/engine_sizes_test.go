// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/victims"
)

// What large cases get is proven to have the least levels only if it has. That some
// are proven, TestLadder shows.
func TestLadder_Proves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDesk(t, false)
		s := &d.search
		s.quick = true
		s.best.found = false
		if s.pack.fits(coming) || !s.choose() || s.proof != victims.ProofLevels {
			return
		}
		claimed := s.best.levels
		s.best.found = false
		s.all.complete(math.MaxInt32)
		require.Equal(t, s.best.levels, claimed)
	})
}

// Members that are not alike share what is left of large victims: fewer go than if each
// got the least.
func TestExchanges_Table(t *testing.T) {
	for _, test := range []struct {
		name, hosts string
		members     []int64
		want        string
	}{
		{"the large make room for two", "0: a2 b2 c3 d3", []int64{4, 2}, "0 0: c d"},
		{"on the host with the larger ones", "0: a2 b2 | 0: c3 d3", []int64{4, 2}, "1 1: c d"},
		{"room that is there comes first", "2: a4 | 0: b3 c3", []int64{4, 2, 3}, "0 0 1: a b"},
		{"room that is made anyway is filled up", "5: a4 | 2: b4", []int64{6, 2}, "0 0: a"},
		{"nobody of a higher rank", "0: a9p1 | 0: b2 c2 | 0: d2", []int64{4, 2}, "1 2: b c d"},
		{"nobody who opted out", "0: a9! | 0: b2 c2 | 0: d2", []int64{4, 2}, "1 2: b c d"},
		{"the next largest, if law 2 keeps the largest", "low=5; 0: a5 b2 c2", []int64{3, 1}, "0 0: b c"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := tableDesk(t, test.hosts, test.members...)
			s := &d.search
			s.best.found = false
			s.change.exchange()
			require.Equal(t, test.want, d.said())
		})
	}
}

// What exchanges find is lawful, has room, and is no cheaper than the cheapest.
func TestExchanges_Twin(t *testing.T) { rapid.Check(t, exchangeIsTwin) }

func FuzzExchanges(f *testing.F) { f.Fuzz(rapid.MakeFuzz(exchangeIsTwin)) }

func exchangeIsTwin(t *rapid.T) {
	d := drawDesk(t, false)
	s := &d.search
	if !s.conceivable() || s.pack.fits(coming) {
		return // nobody is searched for then
	}
	s.best.found = false
	s.change.exchange()
	if !s.best.found {
		return
	}
	require.True(t, lawful(s.jobCase, s.best.chosen))
	require.True(t, slices.ContainsFunc(everySet(s.jobCase), func(set unitSet) bool {
		slices.Sort(s.best.chosen)
		return slices.Equal(set.units, s.best.chosen) && set.carries(s.jobCase, s.best.at)
	}))
	levels := s.best.levels
	s.best.found = false
	s.all.complete(math.MaxInt32)
	require.LessOrEqual(t, slices.Compare(s.best.levels[:], levels[:]), 0)
}
