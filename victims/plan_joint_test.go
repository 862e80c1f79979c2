// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/weigh"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// crowd is a cluster of a few nodes with many small tasks of leaves a, b, and c, and
// the decision about an ask that lacks headroom at the root and in b's parent.
func crowd(t *rapid.T, most int) *decision {
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
	for i := range rapid.IntRange(1, most).Draw(t, "tasks") {
		draw := func(most int, name string) int { return rapid.IntRange(0, most).Draw(t, name) }
		size := vec{int64(draw(5, "cpu")), int64(draw(5, "gpu"))}
		sum = resources.Add(sum, sum, size)
		_, err := c.AddTask(&Task{
			Key: fmt.Sprint("t", i), Queue: leaves[1+draw(1, "leaf")], Node: NodeID(1 + draw(3, "node")), Size: size,
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

// Whatever is said of a node is never too much: if it has no plan of so many victims by
// prices or by a search for a cover, then no set of so many tasks makes room and
// headroom.
func TestJoint_AgainstAllSets(t *testing.T) {
	told := map[string]int{}
	both := func() bool { return told["prices"] > 0 && told["cover"] > 0 }
	law.CheckUntil(t, both, func(t *rapid.T) {
		d := crowd(t, 12)
		j := d.jointSearch()
		j.dimensions()
		d.best.Found, d.best.Total.Levels = true, cost.Levels{}
		d.best.Total.Levels[rulebook.LevelOptedOut], d.best.Total.Levels[rulebook.LevelPriority] = 9, 9
		d.best.Total.Levels[rulebook.LevelOwnLow], d.best.Total.Levels[rulebook.LevelVictims] = 99, 99
		j.tied = true
		j.needOf(d.size, 1)
		j.gather(j.bound.Even(j.need), 1, rapid.IntRange(1, 20).Draw(t, "limit"))
		for range 2 { // the second time there are lessons
			for n := range d.c.Nodes() {
				p := &prospect{node: n}
				short := vec{0, 0}
				if d.nodeNeed(short, n); slices.Max(short) > 0 {
					p.here = 1
				}
				most := rapid.Int64Range(0, 5).Draw(t, "most")
				fewest := j.fewestByHand(n, short)
				j.sketch(n)
				q := j.question(p, most)
				if !j.complete(p, most) {
					continue
				}
				says := func(what string, no bool) {
					if no {
						require.Greater(t, fewest, most, what)
						told[what]++
					}
				}
				says("prices", j.bound.Told(q))
				j.collect(p)
				says("cover", j.bound.Cover(j.question(p, most), 1<<10) == weigh.Uncovered)
			}
		}
	})
}

// fewestByHand returns how many tasks it takes to make room on a node and headroom, by a look
// at all sets.
func (j *jointSearch) fewestByHand(n NodeID, short resources.Vector) int64 {
	var may []TaskID
	s := j.d.siteOf(n)
	for id := range j.d.c.Tasks() {
		if j.d.candidate(id, &s) {
			may = append(may, id)
		}
	}
	fewest := int64(math.MaxInt64)
	for set := range uint32(1) << len(may) {
		var ids []TaskID
		for i, id := range may {
			if set>>i&1 != 0 {
				ids = append(ids, id)
			}
		}
		if int64(len(ids)) < fewest && meetsAll(j.d, ids, n, short) {
			fewest = int64(len(ids))
		}
	}
	return fewest
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
			if d.eligible.Leaves[r.leaf].Level <= int32(i) {
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
