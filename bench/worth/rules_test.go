// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The queues of the small clusters: a and b have a guarantee, c has none, and d and e are
// below a fence.
const (
	root = iota
	qa   // guaranteed 4
	qb   // guaranteed 2
	qc
	fenced
	qd // guaranteed 4
	qe
)

// cluster returns a cluster of one type, with nodes of these sizes. The last of several
// nodes is in pool 1.
func cluster(sizes ...int64) *world {
	w := &world{now: 1000, unit: 1}
	w.queueOf("root", -1, undefined)
	w.queueOf("a", root, 4)
	w.queueOf("b", root, 2)
	w.queueOf("c", root, undefined)
	w.queueOf("f", root, undefined)
	w.queues[fenced].fence = true
	w.queueOf("d", fenced, 4)
	w.queueOf("e", fenced, undefined)
	for _, size := range sizes {
		w.nodesOf(1, 0, size)
	}
	if n := len(sizes) - 1; n > 0 {
		w.nodes[n].pool = 1
	}
	return w
}

// runs adds a task. Change may change it before.
func (w *world) runs(key string, queue, node int, size int64, priority int32, scheduled int64, change ...func(*task)) *world {
	t := task{key: key, app: key, queue: queue, node: node, size: []int64{size}, priority: priority, scheduled: scheduled, gang: -1, budget: -1}
	for _, c := range change {
		c(&t)
	}
	w.add(t)
	return w
}

func optedOut(t *task)     { t.optedOut = true }
func inBudget(t *task)     { t.budget = 0 }
func inGang(t *task)       { t.gang = 0 }
func (w *world) budgeted() { w.budgets = []budget{{name: "s", floor: 1}} }

func (w *world) withGang(minimum int) *world {
	w.gangs = []gang{{name: "g", minimum: minimum}}
	return w
}

// wants returns what is asked for.
func wants(leaf int, priority int32, sizes ...int64) *work {
	a := &work{name: "ask", app: "ask", leaf: leaf, priority: priority, budget: -1, gang: -1}
	for _, size := range sizes {
		a.sizes = append(a.sizes, []int64{size})
	}
	if len(sizes) > 1 {
		a.minimum = len(sizes)
	}
	return a
}

// no is the answer of who has none.
var no = []string(nil)

// none is a place without victims.
var none = []string{}

func TestRules(t *testing.T) {
	budgeted := cluster(2, 2)
	budgeted.budgeted()
	for _, test := range []struct {
		name  string
		world *world
		ask   *work
		nodes []int // of all who have an answer
		// What each stops.
		greedy, gangs, kube, yunikorn []string
	}{
		{"room", cluster(1, 4), wants(qa, 0, 2), []int{1}, none, none, none, none},
		{
			"the lowest priority first", cluster(4).runs("low", qc, 0, 2, 0, 1).runs("high", qc, 0, 2, 5, 2),
			wants(qa, 10, 2), []int{0}, []string{"low"}, []string{"low"}, []string{"low"}, []string{"low"},
		},
		{
			"then the youngest", cluster(4).runs("young", qc, 0, 2, 0, 9).runs("old", qc, 0, 2, 0, 1),
			wants(qa, 10, 2), []int{0}, []string{"young"}, []string{"young"}, []string{"young"}, []string{"young"},
		},
		{
			"of equal priority", cluster(4).runs("t", qc, 0, 4, 0, 1),
			wants(qa, 0, 2), []int{0}, []string{"t"}, []string{"t"}, no, []string{"t"},
		},
		{
			"the victim's queue has its guarantee and no more", cluster(2).runs("t", qb, 0, 2, 0, 1),
			wants(qa, 1, 2), []int{0}, no, no, []string{"t"}, no,
		},
		{
			"the ask's queue has its guarantee", cluster(4, 2).runs("own", qa, 0, 4, 5, 1).runs("t", qc, 1, 2, 0, 1),
			wants(qa, 1, 2), []int{1}, no, no, []string{"t"}, no,
		},
		{
			"lower work of the own queue", cluster(4).runs("own", qa, 0, 4, 0, 1),
			wants(qa, 1, 4), []int{0}, []string{"own"}, []string{"own"}, []string{"own"}, no,
		},
		{
			"a guarantee is not given up for less", cluster(4).runs("own", qa, 0, 4, 0, 1),
			wants(qa, 1, 2), []int{0}, no, no, []string{"own"}, no,
		},
		{
			"not needed", cluster(4).runs("small", qc, 0, 1, 0, 9).runs("large", qc, 0, 3, 0, 1),
			wants(qa, 1, 3), []int{0}, []string{"large"}, []string{"large"}, []string{"large"}, []string{"small", "large"},
		},
		{
			"who opted out", cluster(4).runs("out", qc, 0, 2, 0, 9, optedOut).runs("in", qc, 0, 2, 5, 1),
			wants(qa, 10, 2), []int{0}, []string{"in"}, []string{"in"}, []string{"out"}, []string{"in"},
		},
		{
			"the selector", func() *world { return cluster(4, 4).runs("x", qc, 0, 4, 0, 9).runs("y", qc, 1, 4, 5, 1) }(),
			func() *work { a := wants(qa, 10, 4); a.pool = 1; return a }(), []int{1}, []string{"y"}, []string{"y"}, []string{"y"}, []string{"y"},
		},
		{
			"the fence", cluster(4, 4).runs("x", qc, 0, 4, 0, 9).runs("y", qe, 1, 4, 0, 1),
			wants(qd, 0, 4), []int{1}, []string{"y"}, []string{"y"}, no, []string{"y"},
		},
		{
			"a gang that asks", cluster(2, 2).runs("x", qc, 0, 2, 0, 9).runs("y", qc, 1, 2, 0, 1),
			wants(qa, 1, 2, 2), []int{0, 1}, []string{"x", "y"}, []string{"x", "y"}, []string{"x", "y"}, []string{"x", "y"},
		},
		{
			"half of a gang has no place", cluster(2, 2).runs("x", qc, 0, 2, 0, 9).runs("y", qc, 1, 2, 3, 1),
			wants(qa, 1, 2, 2), nil, no, no, no, no,
		},
		{
			"a gang of which one would be left",
			cluster(2, 2).withGang(2).runs("m0", qc, 0, 2, 0, 9, inGang).runs("m1", qc, 1, 2, 0, 9, inGang),
			wants(qa, 1, 2), []int{0}, []string{"m0"}, []string{"m0", "m1"}, []string{"m0"}, []string{"m0"},
		},
		{
			"a gang that can spare one",
			cluster(2, 2).withGang(1).runs("m0", qc, 0, 2, 0, 9, inGang).runs("m1", qc, 1, 2, 0, 9, inGang),
			wants(qa, 1, 2), []int{0}, []string{"m0"}, []string{"m0"}, []string{"m0"}, []string{"m0"},
		},
		{
			"a budget with nothing left", budgeted.runs("s", qc, 0, 2, 0, 9, inBudget).runs("y", qc, 1, 2, 0, 1),
			wants(qa, 1, 2), nil, []string{"y"}, []string{"y"}, []string{"y"}, []string{"s"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := test.world.String()
			for i, r := range []rule{greedy("greedy", false), greedy("gangs", true), kubeScheduler(), yuniKorn()} {
				want := [][]string{test.greedy, test.gangs, test.kube, test.yunikorn}[i]
				got, ok, err := r.plan(test.world, test.ask)
				require.NoError(t, err)
				require.Equal(t, want != nil, ok, r.name)
				require.Equal(t, before, test.world.String(), "%s takes back all that it tries", r.name)
				if !ok {
					continue
				}
				require.ElementsMatch(t, want, test.world.keys(got.victims), r.name)
				if test.nodes != nil {
					require.Equal(t, test.nodes, got.places, r.name)
				}
			}
		})
	}
}

// TestKubeScheduler_Nodes: each criterion decides between two nodes if those before it do
// not.
func TestKubeScheduler_Nodes(t *testing.T) {
	for _, test := range []struct {
		name        string
		first, next func(w *world) // node 1 is always the one to take
	}{
		{
			"the lowest highest priority",
			func(w *world) { w.runs("a", qc, 0, 4, 5, 1) },
			func(w *world) { w.runs("b", qc, 1, 2, 4, 1).runs("c", qc, 1, 2, 4, 1) },
		},
		{
			"the least sum of priorities",
			func(w *world) { w.runs("a", qc, 0, 2, 5, 1).runs("b", qc, 0, 2, 4, 1) },
			func(w *world) { w.runs("c", qc, 1, 2, 5, 1).runs("d", qc, 1, 2, 3, 1) },
		},
		{
			"the fewest victims",
			func(w *world) { w.runs("a", qc, 0, 2, 0, 9).runs("b", qc, 0, 2, 0, 9) },
			func(w *world) { w.runs("c", qc, 1, 4, 0, 1) },
		},
		{
			"the latest start",
			func(w *world) { w.runs("a", qc, 0, 4, 0, 1) },
			func(w *world) { w.runs("b", qc, 1, 4, 0, 2) },
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := cluster(4, 4)
			test.first(w)
			test.next(w)
			got, ok, err := kubeScheduler().plan(w, wants(qb, 10, 4))
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, []int{1}, got.places)
		})
	}
}

// TestKubeScheduler_Budget: what a budget cannot spare is put back first, though it is less
// important.
func TestKubeScheduler_Budget(t *testing.T) {
	w := cluster(4)
	w.budgeted() // one has to run, and there is one
	w.runs("s", qc, 0, 2, 0, 9, inBudget).runs("x", qc, 0, 2, 5, 1)
	got, ok, err := kubeScheduler().plan(w, wants(qa, 10, 2))
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, []string{"x"}, w.keys(got.victims))
}

// TestGreedy_GuaranteesAbove: a queue above keeps its guarantee, though the one that gives
// has none.
func TestGreedy_GuaranteesAbove(t *testing.T) {
	w := cluster(4)
	w.queues[fenced].guaranteed[0] = 4
	w.runs("t", qe, 0, 4, 0, 1)
	for _, r := range []rule{greedy("greedy", false), yuniKorn()} {
		_, ok, err := r.plan(w, wants(qa, 0, 4))
		require.NoError(t, err)
		require.False(t, ok, r.name)
	}
}

func (w *world) keys(rows []int) []string {
	keys := []string{}
	for _, r := range rows {
		keys = append(keys, w.tasks[r].key)
	}
	return keys
}

// String tells all that a rule may try out.
func (w *world) String() string {
	var s []any
	for _, n := range w.nodes {
		s = append(s, slices.Clone(n.free))
	}
	for _, q := range w.queues {
		s = append(s, slices.Clone(q.usage))
	}
	for _, t := range w.tasks {
		s = append(s, t.gone)
	}
	for _, b := range w.budgets {
		s = append(s, b.running)
	}
	return sprint(s)
}
