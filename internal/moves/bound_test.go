// SPDX-License-Identifier: Apache-2.0

package moves_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A hardTown is a cluster in which moves are hard to find.
type hardTown struct {
	c     *victims.Cluster
	ask   victims.Ask
	rules victims.Options
}

func limit(v ...int64) resources.Limit {
	return resources.Limit{Value: v, Defined: resources.Mask(1)<<len(v) - 1}
}

// newHardTown has the queues root.a, which asks, root.b, and root.c, which has no guarantee.
func newHardTown(t *testing.T, b int64) *hardTown {
	schema, err := resources.NewSchema("r", "s")
	require.NoError(t, err)
	leaf := func(name string, g resources.Limit) queue.Config {
		return queue.Config{Name: name, Guaranteed: g, Properties: map[string]string{"preemption.delay": "0s"}}
	}
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		leaf("a", limit(1<<40)), leaf("b", limit(b)), leaf("c", limit(1000)),
	}})
	require.NoError(t, err)
	return &hardTown{c: victims.NewCluster(tree), ask: victims.Ask{Key: "ask", Queue: 1, Priority: 5}}
}

func (h *hardTown) node(t *testing.T, name string, r, s int64) victims.NodeID {
	n, err := h.c.AddNode(&victims.Node{Name: name, Capacity: resources.Vector{r, s}})
	require.NoError(t, err)
	return n
}

func (h *hardTown) task(t *testing.T, n victims.NodeID, k *victims.Task) {
	k.Key, k.Node = fmt.Sprintf("t%d-%d", n, h.c.TaskLen()), n
	_, err := h.c.AddTask(k)
	require.NoError(t, err)
}

// oneNode has tasks of all sizes on one node, of which the two others hold a few.
func oneNode(t *testing.T, tasks int) *hardTown {
	h := newHardTown(t, 1<<40)
	n := h.node(t, "n", 1<<41, 1<<41)
	h.node(t, "o1", 600_000, 1<<41)
	h.node(t, "o2", 600_000, 1<<41)
	sum := int64(10)
	for i := range tasks {
		v := int64(1000 + i*7919%100003)
		sum += v
		h.task(t, n, &victims.Task{Queue: queue.ID(2 + i%2), Size: resources.Vector{v, int64(i % 5)}, Priority: int32(i % 7), Scheduled: world.Epoch})
	}
	require.NoError(t, h.c.UpdateNode(&victims.Node{Name: "n", Capacity: resources.Vector{sum, 1 << 41}}))
	h.ask.Size = resources.Vector{1_190_003, 3}
	return h
}

// fragile has 32 tasks on each of some nodes, none of which is full.
func fragile(t *testing.T, nodes int) *hardTown {
	h := newHardTown(t, 1<<40)
	for i := range nodes {
		n := h.node(t, fmt.Sprint("n", i), 1000, 1000)
		for k := range 32 {
			h.task(t, n, &victims.Task{Queue: 2, Size: resources.Vector{int64(15 + (i*7+k*13)%17), int64(10 + (i*11+k*5)%19)}, Scheduled: world.Epoch})
		}
	}
	h.ask.Size = resources.Vector{700, 600}
	return h
}

// vain is a town in which no node becomes free: a few move, and others stop, or not.
func vain(t *testing.T, nodes int) *hardTown {
	h := fragile(t, nodes)
	for i := range nodes {
		h.task(t, victims.NodeID(1+i), &victims.Task{Queue: 3, Size: resources.Vector{250, 250}, Priority: 9})
	}
	h.ask.Size = resources.Vector{900, 900}
	return h
}

// A run decides about the ask of a town, or a job of so many such members.
type run struct {
	h     *hardTown
	steps int64 // 0: none
	stop  func() bool
}

func (r run) options() victims.Options {
	o := r.h.rules
	o.Steps, o.Stop = r.steps, r.stop
	return o
}

func (r run) ask(t *testing.T) (d victims.Decision) {
	p := planned(r.h.c, r.options())
	world.LetMove(r.h.c, 0, nil)
	require.NoError(t, p.Decide(&d, &r.h.ask, world.Epoch))
	return d
}

func (r run) job(t *testing.T, members int) (d victims.Decision) {
	p := planned(r.h.c, r.options())
	world.LetMove(r.h.c, 0, nil)
	j := victims.Ask{Key: "job", Queue: r.h.ask.Queue, Priority: r.h.ask.Priority}
	for i := range members {
		j.Members = append(j.Members, victims.Member{Key: fmt.Sprint("m", i), Size: r.h.ask.Size})
	}
	require.NoError(t, p.Decide(&d, &j, world.Epoch))
	return d
}

var hardTowns = map[string]func(t *testing.T) *hardTown{
	"one node": func(t *testing.T) *hardTown { return oneNode(t, 2000) },
	"big node": func(t *testing.T) *hardTown { return oneNode(t, 20_000) },
	"fragile":  func(t *testing.T) *hardTown { return fragile(t, 300) },
	"in vain":  func(t *testing.T) *hardTown { return vain(t, 300) },
}

func isProven(d *victims.Decision) bool { return d.Refusal.Proven || d.Plan.Proof == victims.ProofCost }

// slack is what a piece of work may take that is begun before the budget ends: to look at the
// tasks of a node, or to find the first set of a search.
const slack = 8

// Without Steps of the caller's the search for moves takes no more than 9 times the steps of
// the decision without, or DefaultSteps, but for the piece of work at its end.
func TestDecide_Steps(t *testing.T) {
	for name, town := range hardTowns {
		t.Run(name, func(t *testing.T) {
			h := town(t)
			d := stay(t, &jobs.Planner{Cluster: h.c}, &h.ask, world.Epoch)
			without := d.Plan.Steps
			budget := without + max(9*without, lent.To(new(victims.Options)).DefaultSteps(h.c))
			d = run{h: h}.ask(t)
			t.Logf("%d steps without, %d of %d with", without, d.Plan.Steps, budget)
			require.Greater(t, d.Plan.Steps, without)
			require.LessOrEqual(t, d.Plan.Steps, budget+budget/slack)
		})
	}
}

// Steps of the caller's bound the whole call.
func TestDecide_FewSteps(t *testing.T) {
	for name, town := range hardTowns {
		t.Run(name, func(t *testing.T) {
			h := town(t)
			without := stay(t, &jobs.Planner{Cluster: h.c, Options: victims.Options{Steps: 1000}}, &h.ask, world.Epoch)
			d := run{h: h, steps: 1000}.ask(t)
			require.LessOrEqual(t, d.Plan.Steps, max(without.Plan.Steps, 1000)+1000)
			require.False(t, isProven(&d))
		})
	}
}

// Stop is asked at least every 1,000 steps, and ends the call.
func TestDecide_Stop(t *testing.T) {
	for name, town := range hardTowns {
		t.Run(name, func(t *testing.T) {
			h := town(t)
			polls := int64(0)
			d := run{h: h, stop: func() bool { polls++; return false }}.ask(t)
			require.Greater(t, polls, d.Plan.Steps/1000)

			all := polls
			for _, last := range []int64{1, 2, all / 2} {
				polls = 0
				d := run{h: h, stop: func() bool { polls++; return polls >= last }}.ask(t)
				require.LessOrEqual(t, polls, last+2, "a search asks once more when it begins")
				require.False(t, isProven(&d))
				polls = 0
				stop := func() bool { polls++; return polls >= last }
				without := stay(t, &jobs.Planner{Cluster: h.c, Options: victims.Options{Stop: stop}}, &h.ask, world.Epoch)
				require.LessOrEqual(t, d.Plan.Steps-without.Plan.Steps, 1000*(last+2))
			}
		})
	}
}

// A job looks at no more nodes for many members than it has a budget for, and finds places all
// the same.
func TestDecideJob_Steps(t *testing.T) {
	for _, members := range []int{16, 32} {
		h := fragile(t, 300)
		budget := lent.To(new(victims.Options)).DefaultSteps(h.c) // the decision without takes less than a ninth of it
		d := run{h: h}.job(t, members)
		t.Logf("%d members: %d steps of %d, %d moves", members, d.Plan.Steps, budget, len(d.Plan.Moves))
		require.Equal(t, victims.Preempts, d.Outcome)
		require.NotEmpty(t, d.Plan.Moves)
		require.LessOrEqual(t, d.Plan.Steps, budget+budget/slack)

		h = vain(t, 300)
		d = run{h: h, steps: 100_000}.job(t, members)
		require.Equal(t, victims.Refused, d.Outcome)
		require.False(t, isProven(&d))
		require.LessOrEqual(t, d.Plan.Steps, int64(100_000+100_000/slack))
	}
}

// Stop is asked for a job as for an ask.
func TestDecideJob_Stop(t *testing.T) {
	h := fragile(t, 300)
	polls := int64(0)
	d := run{h: h, stop: func() bool { polls++; return false }}.job(t, 16)
	require.Greater(t, polls, d.Plan.Steps/1000)
	for _, last := range []int64{1, polls / 2} {
		polls = 0
		d = run{h: h, stop: func() bool { polls++; return polls >= last }}.job(t, 16)
		require.LessOrEqual(t, polls, last+2)
		require.False(t, isProven(&d))
	}
}
