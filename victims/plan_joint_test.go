package victims

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// crowd is a cluster of a few nodes with many small tasks of leaves a, b, and c, and
// the decision about an ask that lacks headroom at the root and in b's parent.
func crowd(t *rapid.T) *decision {
	schema, err := resources.NewSchema("cpu", "gpu")
	require.NoError(t, err)
	all := resources.Limit{Value: vec{1000, 1000}, Defined: 3}
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "p", Children: []queue.Config{{Name: "ask", Guaranteed: all}, {Name: "b"}}}, {Name: "c"},
	}}, queue.Lenient)
	require.NoError(t, err)
	c := NewCluster(tree)
	at := time.Unix(1000, 0)
	var leaves []queue.ID
	for q := range tree.Leaves(queue.Root) {
		leaves = append(leaves, q)
	}
	sum := vec{0, 0}
	for n := range 4 {
		_, err := c.AddNode(&Node{Name: fmt.Sprint("n", n), Capacity: vec{1000, 1000}})
		require.NoError(t, err)
	}
	for i := range rapid.IntRange(1, 60).Draw(t, "tasks") {
		draw := func(most int, name string) int { return rapid.IntRange(0, most).Draw(t, name) }
		size := vec{int64(draw(5, "cpu")), int64(draw(5, "gpu"))}
		sum = resources.Add(sum, sum, size)
		_, err := c.AddTask(&Task{
			Key: fmt.Sprint("t", i), Queue: leaves[1+draw(1, "leaf")], Node: NodeID(draw(3, "node")), Size: size,
			Priority: int32(draw(1, "priority")), OptedOut: draw(3, "opted") == 0, Cost: int64(draw(1, "cost")),
			Scheduled: at.Add(-time.Duration(draw(3, "age"))),
		})
		require.NoError(t, err)
	}
	lack := vec{int64(rapid.IntRange(1, 8).Draw(t, "cpu lack")), int64(rapid.IntRange(0, 8).Draw(t, "gpu lack"))}
	require.NoError(t, c.SetMax(queue.Root, resources.Limit{Value: sum, Defined: 3}))
	require.NoError(t, c.SetMax(1, resources.Limit{Value: c.tree.Usage(1), Defined: 3}))
	p := &Planner{Cluster: c}
	require.NoError(t, p.d.reset(p, &Ask{Key: "x", Queue: leaves[0], Size: lack, Priority: 5}, at))
	p.d.prepare(outsideLeaf)
	p.d.trial.reset()
	p.d.allow()
	p.d.gangs.reset(&p.d)
	return &p.d
}

// A band has the tasks that have others above them on few nodes, which its twin finds
// by a look at all pairs.
func TestBand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := crowd(t)
		b := &d.pool.joint.band
		b.reset(d, rapid.IntRange(1, 4).Draw(t, "depth"))
		require.True(t, b.fill(d))
		var got, want []string
		for i := range b.rows {
			got = append(got, d.c.tasks[b.rows[i].id].key)
		}
		s := d.elsewhere()
		for y := range d.c.Tasks() {
			nodes := make(map[NodeID]bool)
			for x := range d.c.Tasks() {
				if d.candidate(x, &s) && stands(d, x, y) {
					nodes[d.c.tasks[x].node] = true
				}
			}
			// What headroom takes at queues further up follows from that here.
			inside := d.needs.level(d.tree, d.c.tasks[y].leaf) <= int32(d.needs.widest)
			if d.candidate(y, &s) && inside && len(nodes) < b.depth {
				want = append(want, d.c.tasks[y].key)
			}
		}
		require.ElementsMatch(t, want, got)
	})
}

// stands reports whether task x is above y, by definition.
func stands(d *decision, x, y TaskID) bool {
	a, b := d.c.TaskView(x), d.c.TaskView(y)
	level := func(q queue.ID) int32 { return d.needs.level(d.tree, q) }
	if level(a.Queue) > level(b.Queue) || a.Priority > b.Priority || a.OptedOut && !b.OptedOut || a.Cost > b.Cost {
		return false
	}
	same := level(a.Queue) == level(b.Queue) && a.Priority == b.Priority && a.OptedOut == b.OptedOut && a.Cost == b.Cost
	for t, lack := range d.needs.most {
		v, w := min(a.Size[t], lack), min(b.Size[t], lack)
		if v < w {
			return false
		}
		same = same && v == w
	}
	if !same {
		return true
	}
	return a.Scheduled.After(b.Scheduled) || a.Scheduled.Equal(b.Scheduled) && a.Key < b.Key
}

// Whatever the weights, a set that meets every need has as much of a mixture as is
// lacking: so a bound by it is never above the least number of victims.
func TestJointMix_NoSetThatMeetsAllNeedsHasLess(t *testing.T) {
	met := 0
	rapid.Check(t, func(t *rapid.T) {
		d := crowd(t)
		m := &d.pool.joint.mix
		m.even(d)
		short := vec{rapid.Int64Range(0, d.size[0]).Draw(t, "cpu short"), rapid.Int64Range(0, d.size[1]).Draw(t, "gpu short")}
		given := &d.pool.joint.given
		given.short = short
		node := NodeID(rapid.IntRange(0, 3).Draw(t, "node"))
		for round := range rapid.Int64Range(0, 9).Draw(t, "rounds") {
			given.reset(d, m)
			d.addAll(given, randomTasks(t, d), node)
			m.aim(d, short)
			m.turn(d, given, round)
		}
		set := randomTasks(t, d)
		if !meetsAll(d, set, node, short) {
			return
		}
		met++
		open, sum := m.aim(d, short), int64(0)
		for _, id := range set {
			r := &d.c.tasks[id]
			sum += m.ofHeads(d, d.c.size(id), d.eligible.leaves[r.leaf].level)
			if r.node == node {
				sum += m.node.of(d.c.size(id))
			}
		}
		require.GreaterOrEqual(t, sum, open)
	})
	require.Positive(t, met)
}

// addAll adds tasks to what is given.
func (d *decision) addAll(g *jointGiven, ids []TaskID, n NodeID) {
	for _, id := range ids {
		r := &d.c.tasks[id]
		g.add(d, &jointItem{id, d.c.size(id), d.eligible.leaves[r.leaf].level, r.node == n})
	}
}

func randomTasks(t *rapid.T, d *decision) (ids []TaskID) {
	all := slices.Collect(d.c.Tasks())
	for _, id := range all {
		if rapid.IntRange(0, 2).Draw(t, "taken") == 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// meetsAll reports whether tasks make room on a node and headroom.
func meetsAll(d *decision, ids []TaskID, n NodeID, short resources.Vector) bool {
	on := vec{0, 0}
	sums := make([]resources.Vector, len(d.needs.short))
	for _, id := range ids {
		r := &d.c.tasks[id]
		if r.node == n {
			on = resources.Add(on, on, d.c.size(id))
		}
		for i := range sums {
			if d.eligible.leaves[r.leaf].level <= int32(i) {
				sums[i] = resources.Add(sums[i], sums[i], d.c.size(id))
			}
		}
	}
	for i, sum := range sums {
		if !resources.Fits(d.needs.short[i], append(sum, vec{0, 0}...)[:2]) {
			return false
		}
	}
	return resources.Fits(short, on)
}
