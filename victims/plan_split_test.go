package victims

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// sparse is a cluster with so few tasks that all sets of them can be tried, of leaves b
// and c, and a search for plans for an ask that lacks headroom at the root, and as much
// or less in b's parent. Nobody differs in what decides before the number of victims.
func sparse(t *rapid.T) splitSearch {
	schema, err := resources.NewSchema("cpu", "gpu")
	require.NoError(t, err)
	unit := rapid.SampledFrom([]int64{1, 1, 1 << 40}).Draw(t, "unit")
	amounts := func(most int64, name string) vec {
		return vec{unit * rapid.Int64Range(0, most).Draw(t, name), unit * rapid.Int64Range(0, most).Draw(t, name)}
	}
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "p", Children: []queue.Config{{Name: "ask", Guaranteed: resources.Limit{Value: vec{1 << 50, 1 << 50}, Defined: 3}}, {Name: "b"}}},
		{Name: "c"},
	}}, queue.Lenient)
	require.NoError(t, err)
	c, leaves := NewCluster(tree), slices.Collect(tree.Leaves(queue.Root))
	largest := rapid.SampledFrom([]int64{2, 5}).Draw(t, "largest")
	tasks, sum := rapid.IntRange(1, 11).Draw(t, "tasks"), vec{0, 0}
	for n := range 3 {
		all := amounts(2, "free")
		var on []Task
		for i := n; i < tasks; i += 3 {
			size := amounts(largest, "size")
			all, sum = resources.Add(nil, all, size), resources.Add(sum, sum, size)
			on = append(on, Task{Key: fmt.Sprint("t", i), Queue: leaves[1+rapid.IntRange(0, 1).Draw(t, "leaf")], Node: NodeID(n), Size: size, Scheduled: splitTime()})
		}
		_, err := c.AddNode(&Node{Name: fmt.Sprint("n", n), Capacity: all})
		require.NoError(t, err)
		for i := range on {
			_, err := c.AddTask(&on[i])
			require.NoError(t, err)
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "closed") == 0 {
		require.NoError(t, c.RemoveNode("n2"))
	}
	spare := resources.Add(nil, c.tree.Usage(1), amounts(4, "spare"))
	require.NoError(t, c.SetMax(queue.Root, resources.Limit{Value: sum, Defined: 3}))
	require.NoError(t, c.SetMax(1, resources.Limit{Value: spare, Defined: 3}))
	p := &Planner{Cluster: c}
	wants := resources.Add(nil, amounts(7, "wants"), vec{unit, 0})
	return splitOf(t, p, &Ask{Key: "x", Queue: leaves[0], Size: wants, Priority: 5})
}

// splitTime is when all that runs was scheduled, and when the ask is decided.
func splitTime() time.Time { return time.Unix(1000, 0) }

// splitOf begins a decision of a planner, as far as a split needs it.
func splitOf(t require.TestingT, p *Planner, ask *Ask) splitSearch {
	require.NoError(t, p.d.reset(p, ask, splitTime()))
	d := splitSearch{p.d.joint}
	d.prepare(outsideLeaf)
	d.trial.reset()
	d.allow()
	d.gangs.reset(d.decision)
	d.pool.joint.band.reset(d.decision, sampleDepth)
	d.worker.OnlyLesser = true
	return d
}

// supposes makes a plan with so many victims the best.
func (d splitSearch) supposes(victims int64) {
	b := &d.best
	b.Found, b.Node, b.Total.Levels = true, 0, [11]int64{}
	rank := d.eligible.leastRank(0)
	b.Total.Levels[LevelRank], b.Total.Levels[LevelVictims], b.Total.Levels[LevelSumRanks] = rank, victims, victims*rank
	b.cost = CostOf(&b.Total)
	b.note(d.c.total)
}

// leastOn tries all sets of tasks, and returns how many make room on a node and headroom.
func (d splitSearch) leastOn(n NodeID) int64 {
	all, least, short := slices.Collect(d.c.Tasks()), noCover, vec{0, 0}
	d.nodeNeed(short, n)
	for set := range uint(1) << len(all) {
		var ids []TaskID
		for i, id := range all {
			if set>>i&1 == 1 {
				ids = append(ids, id)
			}
		}
		if len(ids) < least && meetsAll(d.decision, ids, n, short) {
			least = bits.OnesCount(set)
		}
	}
	return int64(least)
}

// What a split of a node shows is so: by a look at all sets no plan for it has fewer
// victims than the best, or than what it finds. It finds none that is not there.
func TestSplit(t *testing.T) {
	shown, found := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		d := sparse(t)
		if !d.needs.open() {
			return
		}
		before := rapid.Int64Range(1, 8).Draw(t, "best")
		d.supposes(before)
		require.True(t, d.gather())
		least := int64(noCover)
		for _, n := range d.nodes {
			on := d.leastOn(n)
			least = min(least, on)
			p := prospect{node: n, here: d.fewestOn(n), rough: true}
			bound, _ := d.sum(n, p.here)
			require.LessOrEqual(t, min(bound, noCover), on, "node %d", n)
			if d.bound(&p); !d.best.losesTo(&p.levels) || !d.node(&p) {
				continue
			}
			shown++
			require.LessOrEqual(t, d.best.Total.Levels[LevelVictims], on, "node %d", n)
		}
		if best := d.best.Total.Levels[LevelVictims]; best < before {
			require.GreaterOrEqual(t, best, least)
			found++
		}
	})
	// Few draws need not have any.
	if !testing.Short() {
		require.Positive(t, shown)
		require.Positive(t, found)
	}
}

// A search that goes along all nodes leaves those alone that have a lesser plan only if
// it finds one that is as good.
func TestSplit_Search(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := sparse(t)
		if !d.needs.open() {
			return
		}
		d.supposes(rapid.Int64Range(1, 8).Draw(t, "best"))
		require.True(t, d.gather())
		d.problem.tops.reset(d.c)
		d.pose()
		d.findFront()
		d.search()
		for _, n := range d.nodes {
			left := slices.ContainsFunc(d.pool.joint.front, func(p prospect) bool { return p.node == n })
			// Nodes with room have the same plans, and one of them stands for all.
			if !left && d.fewestOn(n) > 0 {
				require.LessOrEqual(t, d.best.Total.Levels[LevelVictims], d.leastOn(n), "node %d", n)
			}
		}
	})
}

// units is a search for an ask that wants four, on nodes with tasks of one: so many of
// leaf b, which make headroom, and so many of leaf c.
func units(t *testing.T, exempt func(Exemption) (time.Time, bool), nodes ...[2]int) splitSearch {
	schema, err := resources.NewSchema("cpu")
	require.NoError(t, err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "p", Children: []queue.Config{{Name: "ask", Guaranteed: resources.Limit{Value: vec{100}, Defined: 1}}, {Name: "b"}}},
		{Name: "c"},
	}}, queue.Lenient)
	require.NoError(t, err)
	c, leaves := NewCluster(tree), slices.Collect(tree.Leaves(queue.Root))
	for n, of := range nodes {
		_, err := c.AddNode(&Node{Name: fmt.Sprint("n", n), Capacity: vec{int64(of[0] + of[1])}})
		require.NoError(t, err)
		for leaf, tasks := range of {
			for i := range tasks {
				_, err := c.AddTask(&Task{Key: fmt.Sprint("n", n, "-", leaf, i), Queue: leaves[1+leaf], Node: NodeID(n), Size: vec{1}, Scheduled: splitTime()})
				require.NoError(t, err)
			}
		}
	}
	require.NoError(t, c.SetMax(1, resources.Limit{Value: c.tree.Usage(1), Defined: 1}))
	p := &Planner{Cluster: c, Exempt: exempt}
	return splitOf(t, p, &Ask{Key: "x", Queue: leaves[0], Size: vec{4}, Priority: 5})
}

// split splits a node, and returns whether that shows that it has no lesser plan.
func (d splitSearch) split(n NodeID) bool {
	p := prospect{node: n, here: d.fewestOn(n), rough: true}
	d.bound(&p)
	return d.node(&p)
}

// With one task that makes headroom on a node, a plan has four victims there and three
// elsewhere; with three of them it has one elsewhere. What is learned of the former says
// nothing of the latter, but of another like it, whatever else that has.
func TestSplit_LikesByHand(t *testing.T) {
	d := units(t, nil, [2]int{1, 5}, [2]int{3, 5}, [2]int{1, 9}, [2]int{8, 0})
	x := &d.pool.joint.split
	d.supposes(7)
	require.True(t, d.gather())
	require.True(t, d.split(0))
	require.Len(t, x.likes.lessons, 1)
	require.True(t, d.split(2))
	require.Len(t, x.likes.lessons, 1, "it has told of this node as well")
	require.Equal(t, int64(7), d.best.Total.Levels[LevelVictims])
	require.True(t, d.split(1))
	require.Equal(t, int64(5), d.best.Total.Levels[LevelVictims])
	require.Equal(t, NodeID(1), d.best.node())
}

// Three tasks do not cover a need of four, nor one of five. Four cover the first.
func TestSplit_GapsByHand(t *testing.T) {
	d := units(t, nil, [2]int{1, 5}, [2]int{8, 0})
	x := &d.pool.joint.split
	d.supposes(7)
	require.True(t, d.gather())
	four := append([]int64(nil), x.lacks...)
	five := []int64{four[0] / 4 * 5}
	x.short[1], x.least[1] = four, 3
	require.Equal(t, uncovered, d.coverHeads(0))
	require.Len(t, x.gaps, 1)
	x.short[1] = five
	require.Equal(t, uncovered, d.coverHeads(0))
	require.Len(t, x.gaps, 1, "it follows from what is known")
	x.short[1], x.least[1] = four, 4
	require.Equal(t, covered, d.coverHeads(0))
}

// Tasks that are alike stand for each other, but not for those that are no candidates.
func TestSplit_ExemptByHand(t *testing.T) {
	var exempt []TaskID
	some := func(e Exemption) (time.Time, bool) { return time.Time{}, slices.Contains(exempt, e.Task) }
	d := units(t, some, [2]int{6, 0}, [2]int{6, 0}, [2]int{6, 0}, [2]int{6, 0}, [2]int{6, 0}, [2]int{6, 0}, [2]int{6, 0}, [2]int{4, 0})
	for id := range d.c.Tasks() {
		if d.c.tasks[id].node != 7 {
			exempt = append(exempt, id)
		}
	}
	d.supposes(9)
	d.pool.joint.split.sifted = false
	require.True(t, d.gather())
	d.problem.tops.reset(d.c)
	d.pose()
	d.findFront()
	d.search()
	require.Empty(t, d.pool.joint.front)
	require.Equal(t, int64(4), d.best.Total.Levels[LevelVictims])
	require.Equal(t, NodeID(7), d.best.node())
}

// Of six tasks that are alike two may not go. The others are a plan, though sets with the
// first of them are looked at and no others that give the same.
func TestSplit_ExemptTwinsByHand(t *testing.T) {
	var exempt []TaskID
	some := func(e Exemption) (time.Time, bool) { return time.Time{}, slices.Contains(exempt, e.Task) }
	d := units(t, some, [2]int{6, 0})
	exempt = append(exempt, d.c.digest.nodes[0].ids[:2]...)
	d.supposes(9)
	d.pool.joint.split.sifted = true
	require.True(t, d.gather())
	d.problem.tops.reset(d.c)
	d.pose()
	d.findFront()
	d.search()
	require.Empty(t, d.pool.joint.front)
	require.Equal(t, int64(4), d.best.Total.Levels[LevelVictims])
}

// If the victims of the best plan are of different priorities, one with as many may have
// lesser sums. If they all are of the least, it takes fewer.
func TestJoint_MostByHand(t *testing.T) {
	d := units(t, nil, [2]int{4, 0})
	p := prospect{node: 0}
	p.levels[LevelRank], p.levels[LevelPriority] = d.eligible.leastRank(0), 0
	d.supposes(4)
	most, ok := d.most(&p)
	require.True(t, ok)
	require.Equal(t, int64(3), most)
	d.best.Total.Levels[LevelSumRanks]++
	most, ok = d.most(&p)
	require.True(t, ok)
	require.Equal(t, int64(4), most)
	p.levels[LevelRank]--
	_, ok = d.most(&p)
	require.False(t, ok, "it may be better before the number of victims")
}

// With two others above it on nodes of their own, a task is not needed by a plan that has
// one elsewhere: one of the two is not on its node. A plan with two may need it.
func TestBand_TellsOfFewerThanItsDepth(t *testing.T) {
	b := band{depth: 2}
	require.True(t, b.tellsOf(1))
	require.False(t, b.tellsOf(2))
}

// What a cover by items shows is so: with all who make headroom among them, no plan for a
// node has fewer victims than the best then has.
func TestCoverItems(t *testing.T) {
	shown := 0
	rapid.Check(t, func(t *rapid.T) {
		d := sparse(t)
		if !d.needs.open() {
			return
		}
		d.supposes(rapid.Int64Range(1, 8).Draw(t, "best"))
		d.dimensions()
		band := &d.pool.joint.band
		band.reset(d.decision, 12)
		require.True(t, band.fill(d.decision))
		for _, n := range d.nodes {
			p := prospect{node: n, here: d.fewestOn(n)}
			p.levels[LevelRank], p.levels[LevelPriority] = d.leastRank(n)
			d.jointSearch.collect(&p)
			if d.coverItems(&p) == uncovered {
				require.LessOrEqual(t, d.best.Total.Levels[LevelVictims], d.leastOn(n), "node %d", n)
				shown++
			}
		}
	})
	if !testing.Short() {
		require.Positive(t, shown)
	}
}

// Four tasks of one on a node are enough for what lacks four there and in all. If all
// were elsewhere, nobody would make room on the node.
func TestCoverItems_ByHand(t *testing.T) {
	d := units(t, nil, [2]int{4, 0}, [2]int{6, 0})
	d.supposes(5)
	d.dimensions()
	band := &d.pool.joint.band
	band.reset(d.decision, 8)
	require.True(t, band.fill(d.decision))
	p := prospect{node: 0, here: 4}
	p.levels[LevelRank] = d.eligible.leastRank(0)
	d.jointSearch.collect(&p)
	require.Equal(t, uncovered, d.coverItems(&p))
	require.Equal(t, int64(4), d.best.Total.Levels[LevelVictims], "and found the one with four")
	for i := range d.pool.joint.items {
		d.pool.joint.items[i].on = false
	}
	d.supposes(9)
	require.Equal(t, uncovered, d.coverItems(&p))
	require.Equal(t, int64(9), d.best.Total.Levels[LevelVictims], "with all of them elsewhere there is none")
}
