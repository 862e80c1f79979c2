// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A twister is the generator MT19937 as Python seeds and reads it, so that worlds are those
// of a script of seven lines that anybody can check without this library.
type twister struct {
	state [624]uint32
	at    int
}

func newTwister(seed uint32) *twister {
	m := &twister{at: 624}
	m.state[0] = 19650218
	for i := uint32(1); i < 624; i++ {
		m.state[i] = 1812433253*(m.state[i-1]^m.state[i-1]>>30) + i
	}
	i := uint32(1)
	next := func() {
		if i++; i == 624 {
			m.state[0], i = m.state[623], 1
		}
	}
	for range 624 {
		m.state[i] = (m.state[i] ^ (m.state[i-1]^m.state[i-1]>>30)*1664525) + seed
		next()
	}
	for range 623 {
		m.state[i] = (m.state[i] ^ (m.state[i-1]^m.state[i-1]>>30)*1566083941) - i
		next()
	}
	m.state[0] = 1 << 31
	return m
}

func (m *twister) bits(n int) int {
	if m.at == 624 {
		for i := range m.state {
			y := m.state[i]&(1<<31) | m.state[(i+1)%624]&(1<<31-1)
			m.state[i] = m.state[(i+397)%624] ^ y>>1 ^ y&1*0x9908b0df
		}
		m.at = 0
	}
	y := m.state[m.at]
	m.at++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	y ^= y >> 18
	return int(y >> (32 - n))
}

// random is random.random(), and choice random.choice(list).
func (m *twister) random() float64 {
	high := m.bits(27)
	return float64(high<<26+m.bits(26)) / (1 << 53)
}

func (m *twister) choice(list ...int64) int64 {
	n := 0
	for 1<<n <= len(list) {
		n++
	}
	for {
		if i := m.bits(n); i < len(list) {
			return list[i]
		}
	}
}

// A gpuWorld is four nodes of 8 GPUs with tasks of 1, 2, 4 or 8, and asks of 1, 2 or 4.
type gpuWorld struct {
	free  []int64
	tasks [][]int64 // by node
	asks  []int64
}

func (m *twister) world(asks int) *gpuWorld {
	w := &gpuWorld{}
	for range 4 {
		free, tasks := int64(8), []int64(nil)
		for free > 0 && len(tasks) < 6 && m.random() < .93 {
			tasks = append(tasks, min(free, m.choice(1, 1, 1, 2, 2, 4, 8)))
			free -= tasks[len(tasks)-1]
		}
		w.free, w.tasks = append(w.free, free), append(w.tasks, tasks)
	}
	for range asks {
		w.asks = append(w.asks, m.choice(1, 2, 2, 4))
	}
	return w
}

// least is the fewest victims for all asks, by trying every way to place them and every
// set of victims on every node; -1 if there is no way.
func (w *gpuWorld) least() int {
	fewest := make([][]int, len(w.tasks)) // by node and amount
	for n, tasks := range w.tasks {
		fewest[n] = make([]int, 17)
		for need := range fewest[n] {
			fewest[n][need] = math.MaxInt32
			for set := range 1 << len(tasks) {
				free, gone := w.free[n], 0
				for i, size := range tasks {
					if set>>i&1 == 1 {
						free, gone = free+size, gone+1
					}
				}
				if free >= int64(need) && gone < fewest[n][need] {
					fewest[n][need] = gone
				}
			}
		}
	}
	best, needs := math.MaxInt32, make([]int64, len(w.tasks))
	var place func(i int)
	place = func(i int) {
		if i == len(w.asks) {
			total := 0
			for n, need := range needs {
				if need > 0 {
					total += fewest[n][need]
				}
			}
			best = min(best, total)
			return
		}
		for n := range needs {
			needs[n] += w.asks[i]
			place(i + 1)
			needs[n] -= w.asks[i]
		}
	}
	if place(0); best == math.MaxInt32 {
		return -1
	}
	return best
}

// inTurn is how many victims there are if each ask takes the fewest, then the smallest,
// then those of the first node; -1 if an ask has no place left.
func (w *gpuWorld) inTurn() (total int) {
	free, tasks := slices.Clone(w.free), slices.Clone(w.tasks)
	for _, ask := range w.asks {
		var best []int
		bestNode, bestSize := -1, int64(0)
		for n := range tasks {
			for set := range 1 << len(tasks[n]) {
				size, list := int64(0), []int(nil)
				for i := range tasks[n] {
					if set>>i&1 == 1 {
						size, list = size+tasks[n][i], append(list, i)
					}
				}
				better := bestNode < 0 || cmp.Or(
					cmp.Compare(len(list), len(best)), cmp.Compare(size, bestSize), cmp.Compare(n, bestNode), slices.Compare(list, best),
				) < 0
				if free[n]+size >= ask && better {
					best, bestNode, bestSize = list, n, size
				}
			}
		}
		if bestNode < 0 {
			return -1
		}
		free[bestNode] += bestSize - ask
		var stay []int64
		for i, size := range tasks[bestNode] {
			if !slices.Contains(best, i) {
				stay = append(stay, size)
			}
		}
		tasks[bestNode], total = stay, total+len(best)
	}
	return total
}

// build makes a cluster of a world. All tasks are of queue a, which is guaranteed nothing,
// and all asks of b, which is guaranteed more than there is.
func (w *gpuWorld) build(t testing.TB) (*victims.Cluster, []victims.Ask) {
	schema, err := resources.NewSchema("gpu")
	require.NoError(t, err)
	tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "a"}, {Name: "b", Guaranteed: resources.Limit{Value: resources.Vector{100}, Defined: 1}},
	}})
	require.NoError(t, err)
	c := victims.NewCluster(tree)
	a, _ := tree.Lookup("root.a")
	b, _ := tree.Lookup("root.b")
	for n, tasks := range w.tasks {
		id, err := c.AddNode(&victims.Node{Name: fmt.Sprint("n", n), Capacity: resources.Vector{8}})
		require.NoError(t, err)
		for i, size := range tasks {
			key := fmt.Sprintf("t%d-%d", n, i)
			_, err := c.AddTask(&victims.Task{Key: key, Application: key, Queue: a, Node: id, Size: resources.Vector{size}})
			require.NoError(t, err)
		}
	}
	var asks []victims.Ask
	for i, size := range w.asks {
		key := fmt.Sprint("ask", i)
		asks = append(asks, victims.Ask{Key: key, Application: "new", Queue: b, Size: resources.Vector{size}})
	}
	return c, asks
}

// Worlds of GPUs in which each ask by itself takes the fewest victims: together they need
// far fewer. The counts wanted are those of a script that knows no library.
func TestTogether_GPUs(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a second")
	}
	m := newTwister(7)
	at := time.Unix(1<<30, 0)
	for _, row := range []struct{ asks, draws, worlds, inTurn, together int }{
		{2, 1500, 717, 1274, 795},
		{3, 1500, 915, 2171, 1230},
		{4, 400, 317, 881, 493},
	} {
		if testing.Short() && row.asks > 2 {
			break
		}
		worlds, inTurn, together, single := 0, 0, 0, 0
		for range row.draws {
			w := m.world(row.asks)
			least := w.least()
			if least <= 0 {
				continue
			}
			c, asks := w.build(t)
			p := jobs.Planner{Cluster: c}
			var j joint
			require.NoError(t, decideAll(&p, &j, asks, at))
			require.Empty(t, j.Refused, w)
			stopped := victimsOf(&j)
			require.Equal(t, least, stopped, w)
			require.Len(t, j.Parts, 1)
			require.True(t, j.Parts[0].Plan.Proof == victims.ProofCost)
			require.Empty(t, j.audit(&victims.Auditor{Cluster: c}))

			one, sum := jobs.Planner{Cluster: c}, 0
			for i := range asks {
				var d victims.Decision
				require.NoError(t, one.Decide(&d, &asks[i], at))
				require.NoError(t, c.Apply(&d)) // of a refusal, it is an error
				sum += len(d.Plan.Victims)
			}
			require.LessOrEqual(t, stopped, sum, w)
			worlds, inTurn, together, single = worlds+1, inTurn+w.inTurn(), together+stopped, single+sum
		}
		t.Logf("%d asks, %d worlds: %d victims by the script in turn, %d by Decide in turn, %d together",
			row.asks, worlds, inTurn, single, together)
		require.Equal(t, row.worlds, worlds)
		require.Equal(t, row.inTurn, inTurn)
		require.Equal(t, row.together, together)
	}
}

func victimsOf(j *joint) (n int) {
	for i := range j.Parts {
		n += len(j.Parts[i].Plan.Victims)
	}
	return n
}
