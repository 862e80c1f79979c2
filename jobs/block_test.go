package jobs

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A block asks for no more than any of its hosts, also while a plan is half made.
func TestBlocks_AskNoMoreThanTheirHosts(t *testing.T) { rapid.Check(t, blocksAreModest) }

func blocksAreModest(t *rapid.T) {
	d := drawDesk(t, false)
	c, x := d.board, &d.search.grow.offers
	x.blocks.size = rapid.IntRange(1, 3).Draw(t, "hosts of a block")
	x.partial.begin()
	x.ceiling, x.kind = noCeiling(), nil
	x.collect(&c.kinds[0])
	for range rapid.IntRange(0, 3).Draw(t, "steps") {
		h := int32(rapid.IntRange(0, len(c.hosts)-1).Draw(t, "host"))
		before := len(x.partial.chosen)
		for _, u := range c.unitsOn(h) {
			if rapid.Bool().Draw(t, "goes") && x.partial.mayGo(u) {
				x.partial.choose(u)
			}
		}
		addTo(c.row(x.partial.free, int(h)), c.kinds[0].size, -1)
		d.search.grow.changed(before, h)
	}
	for i := range c.kinds {
		for h := range c.hosts {
			free := c.row(x.partial.free, h)
			block, may := x.blocks.least(x.blocks.of(int32(h)), &c.kinds[i])
			low, ok := x.room.least(int32(h), free, demand{&c.kinds[i], 1})
			low.rank = low.rank.plus(c.hosts[h].rank, 1)
			require.False(t, ok && !may, "host %d of kind %d", h, i)
			require.False(t, ok && block.compare(&low) > 0, "host %d of kind %d: %v, and its block %v", h, i, low, block)
		}
	}
}

// Blocks save time. Decisions are the same, to the last step, whatever their size.
func TestBlocks_DecideNothing(t *testing.T) {
	plans := 0
	for seed := range uint64(8) {
		c, job := unequalJob(t, seed)
		var want Decision
		for i, size := range []int{1 << 20, 1, 3, blockHosts} {
			p := Planner{Trigger: ByPriority, Cluster: c, Minimum: func(string) int { return 1 }}
			p.d.search.grow.blocks.size = size
			var got Decision
			require.NoError(t, p.Decide(&got, job, time.Unix(0, 0)))
			if i == 0 {
				want = got
				if len(got.Plan.Victims) > 0 {
					plans++
				}
			}
			require.Equal(t, want, got, "seed %d, blocks of %d", seed, size)
		}
	}
	require.GreaterOrEqual(t, plans, 6)
}

// unequalJob returns a job of members of many sizes, and a cluster of some hundred
// nodes that are nearly full.
func unequalJob(t testing.TB, seed uint64) (*victims.Cluster, *Job) {
	random := rand.New(rand.NewPCG(seed, 1))
	schema, err := resources.NewSchema("cpu", "memory")
	require.NoError(t, err)
	low := queue.Config{Name: "low", Guaranteed: resources.Limit{Value: resources.Vector{400, 0}, Defined: 1}}
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{{Name: "q"}, low}}, queue.Lenient)
	require.NoError(t, err)
	c := victims.NewCluster(tree)
	q, _ := tree.Lookup("root.q")
	from, _ := tree.Lookup("root.low")
	for n := range 150 + random.IntN(100) {
		capacity := resources.Vector{random.Int64N(10), random.Int64N(10)}
		var tasks []victims.Task
		for i := range random.IntN(7) {
			task := victims.Task{
				Key: fmt.Sprintf("t%d-%d", n, i), Queue: from, Priority: random.Int32N(3), OptedOut: random.IntN(9) == 0,
				Size: resources.Vector{1 + random.Int64N(40), random.Int64N(40)},
			}
			if random.IntN(8) == 0 {
				task.Job = fmt.Sprint("g", random.IntN(20))
			}
			tasks = append(tasks, task)
			capacity = resources.Add(capacity, capacity, task.Size)
		}
		id, err := c.AddNode(&victims.Node{Name: fmt.Sprint("n", n), Capacity: capacity, Rank: int64(random.IntN(2))})
		require.NoError(t, err)
		for i := range tasks {
			tasks[i].Node = id
			_, err := c.AddTask(&tasks[i])
			require.NoError(t, err)
		}
	}
	job := &Job{Name: "j", Application: "j", Queue: q, Priority: 9}
	for i := range 20 + random.IntN(20) {
		size := resources.Vector{20 + random.Int64N(60), random.Int64N(90)}
		job.Members = append(job.Members, Member{Key: fmt.Sprint("j", i), Size: size})
	}
	return c, job
}
