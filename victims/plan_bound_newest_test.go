package victims

import (
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Of all sets of so many of the newest tasks that give what is missing, the one is found
// that loses the least, as a try of every set finds it.
func TestNewestSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newestSearch{tasks: rapid.IntRange(0, numLatest).Draw(t, "tasks")}
		lost := rapid.SliceOfN(rapid.Uint64Range(0, 20), s.tasks, s.tasks).Draw(t, "lost")
		slices.Sort(lost)
		copy(s.lost[:], lost)
		for i := s.tasks - 1; i >= 0; i-- {
			s.amount[i] = rapid.Int64Range(0, 4).Draw(t, "amount")
			s.most[i] = slices.Max(s.amount[i:s.tasks])
		}
		count := rapid.IntRange(1, 4).Draw(t, "count")
		missing := rapid.Int64Range(1, 12).Draw(t, "missing")
		s.least = rapid.Uint64Range(0, 100).Draw(t, "limit")
		want := s.least
		for set := range uint(1) << s.tasks {
			if bits.OnesCount(set) != count {
				continue
			}
			sum, work := int64(0), uint64(0)
			for i := range s.tasks {
				if set>>i&1 == 1 {
					sum, work = sum+s.amount[i], work+s.lost[i]
				}
			}
			if sum >= missing {
				want = min(want, work)
			}
		}
		s.add(0, count, newestSet{missing: missing})
		require.Equal(t, want, s.least)
	})
}

// The newest tasks of a node are those of all lanes, the last first, each with its lane.
func TestNewestRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := digestRows{}
		g.addNode(1)
		row := g.newest(0)
		type task struct {
			time int64
			lane uint8
		}
		var all []task
		for lane := range rapid.IntRange(0, 300).Draw(t, "lanes") {
			times := rapid.SliceOfN(rapid.Int64Range(0, 50), 1, 4).Draw(t, "times")
			slices.Sort(times)
			slices.Reverse(times)
			row.merge(times, laneByte(lane))
			for _, v := range times {
				all = append(all, task{v, laneByte(lane)})
			}
		}
		row.fill()
		slices.SortStableFunc(all, func(a, b task) int { return int(b.time - a.time) })
		for i := range numLatest {
			if i >= len(all) {
				require.Equal(t, uint8(farLane), row.lanes[i])
				continue
			}
			require.Equal(t, all[i], task{row.times[i], row.lanes[i]})
		}
	})
}
