// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// quotaTask is a task of gpus for tests of quotas.
type quotaTask struct {
	in    queue.ID
	gpus  int64
	fixed bool // non-preemptible
	state victims.State
}

// ledgerOf returns a ledger over tasks and quotas; nothing is read yet.
func ledgerOf(t *testing.T, tasks []quotaTask, quotas map[queue.ID]jobs.Allowance) *jobs.Ledger {
	t.Helper()
	tree := quotaTree(t)
	l := &jobs.Ledger{Cluster: victims.NewCluster(tree), Allowances: jobs.NewAllowances(tree)}
	for q, quota := range quotas {
		require.NoError(t, l.Allowances.Set(q, quota))
	}
	node, err := l.Cluster.AddNode(&victims.Node{Name: "n"})
	require.NoError(t, err)
	for i, task := range tasks {
		key, size := string(rune('a'+i)), resources.Vector{0, task.gpus}
		if task.state == victims.Granted {
			_, err = l.Cluster.Reserve(&victims.Ask{Key: key, Queue: task.in, Size: size, NonPreemptible: task.fixed}, node, time.Time{})
		} else {
			_, err = l.Cluster.AddTask(&victims.Task{
				Key: key, Queue: task.in, Node: node, Size: size, NonPreemptible: task.fixed, State: task.state,
			})
		}
		require.NoError(t, err)
	}
	return l
}

// words returns breaches as text.
func words(l *jobs.Ledger, all []jobs.Breach) (text []string) {
	for i := range all {
		text = append(text, all[i].Text(l.Cluster.Tree()))
	}
	return text
}

// TestLedger_Formulas has the rows of DESIGN.md, Jobs: admission, for leaf root.a.1.
func TestLedger_Formulas(t *testing.T) {
	between := func(least, most int64) jobs.Allowance { return jobs.Allowance{Min: gpus(least), Max: gpus(most)} }
	waits := func(q jobs.Allowance, n int64) jobs.Allowance { q.Waiting = resources.Vector{0, n}; return q }
	fixed := func(n int64) quotaTask { return quotaTask{in: quotaA1, gpus: n, fixed: true} }
	plain := func(n int64) quotaTask { return quotaTask{in: quotaA1, gpus: n} }
	only := func(q jobs.Allowance) map[queue.ID]jobs.Allowance { return map[queue.ID]jobs.Allowance{quotaA1: q} }

	const (
		overMin  = "non-preemptible-min: root.a.1: gpu: "
		overMax  = "used-max: root.a.1: gpu: "
		overLeft = "preemptible-max: root.a.1: gpu: "
	)
	for _, test := range []struct {
		name    string
		tasks   []quotaTask
		quotas  map[queue.ID]jobs.Allowance
		rem     int64
		fixed   bool     // the job is non-preemptible
		admit   []string // what keeps it from being admitted
		preempt []string // and from preempting
	}{
		{name: "no quota, no bound", tasks: []quotaTask{plain(50)}, rem: 50, fixed: true},

		// Non-preemptible: N + rem <= min and U + rem <= max.
		{name: "fixed to the min", tasks: []quotaTask{fixed(4)}, quotas: only(between(10, 20)), rem: 6, fixed: true},
		{
			name: "fixed over the min", tasks: []quotaTask{fixed(4)}, quotas: only(between(10, 20)), rem: 7, fixed: true,
			admit:   []string{overMin + "4 used by the non-preemptible and 7 asked for are above the min of 10 by 1"},
			preempt: []string{overMin + "4 used by the non-preemptible and 7 asked for are above the min of 10 by 1"},
		},
		{name: "fixed to the max", tasks: []quotaTask{fixed(4), plain(10)}, quotas: only(between(10, 20)), rem: 6, fixed: true},
		{
			name: "fixed over the max may preempt", tasks: []quotaTask{fixed(4), plain(12)}, quotas: only(between(10, 20)), rem: 6, fixed: true,
			admit: []string{overMax + "16 used and 6 asked for are above the max of 20 by 2"},
		},
		{
			name: "fixed over both", tasks: []quotaTask{fixed(8), plain(12)}, quotas: only(between(10, 20)), rem: 3, fixed: true,
			admit: []string{
				overMin + "8 used by the non-preemptible and 3 asked for are above the min of 10 by 1",
				overMax + "20 used and 3 asked for are above the max of 20 by 3",
			},
			preempt: []string{overMin + "8 used by the non-preemptible and 3 asked for are above the min of 10 by 1"},
		},
		{
			name: "fixed, absent in min is 0", quotas: only(jobs.Allowance{Max: gpus(20)}), rem: 1, fixed: true,
			admit:   []string{overMin + "0 used by the non-preemptible and 1 asked for are above the min of 0 by 1"},
			preempt: []string{overMin + "0 used by the non-preemptible and 1 asked for are above the min of 0 by 1"},
		},
		{name: "fixed, absent in max is unlimited", tasks: []quotaTask{plain(1000)}, quotas: only(jobs.Allowance{Min: gpus(4)}), rem: 4, fixed: true},
		{name: "fixed, what waits does not matter", tasks: []quotaTask{fixed(4)}, quotas: only(waits(between(10, 10), 50)), rem: 6, fixed: true},

		// Preemptible: min(min, NR) + P + rem <= max.
		{name: "nothing is withheld unasked", tasks: []quotaTask{plain(8)}, quotas: only(between(10, 20)), rem: 12},
		{
			name: "used to the max", tasks: []quotaTask{plain(8)}, quotas: only(between(10, 20)), rem: 13,
			admit:   []string{overLeft + "0 withheld for the non-preemptible, 8 used by the preemptible and 13 asked for are above the max of 20 by 1"},
			preempt: []string{overLeft + "0 withheld for the non-preemptible, 8 used by the preemptible and 13 asked for are above the max of 20 by 1"},
		},
		{name: "what waits is withheld", tasks: []quotaTask{plain(8)}, quotas: only(waits(between(10, 20), 6)), rem: 6},
		{
			name: "what waits is withheld, to the unit", tasks: []quotaTask{plain(8)}, quotas: only(waits(between(10, 20), 6)), rem: 7,
			admit:   []string{overLeft + "6 withheld for the non-preemptible, 8 used by the preemptible and 7 asked for are above the max of 20 by 1"},
			preempt: []string{overLeft + "6 withheld for the non-preemptible, 8 used by the preemptible and 7 asked for are above the max of 20 by 1"},
		},
		{name: "no more is withheld than the min", tasks: []quotaTask{plain(8)}, quotas: only(waits(between(10, 20), 50)), rem: 2},
		{name: "running and waiting, clamped", tasks: []quotaTask{fixed(8), plain(5)}, quotas: only(waits(between(10, 20), 9)), rem: 5},
		{
			// N beyond the min, as after a lowering: only the min is withheld,
			// and so 18 of 14 may be used in the end, as the formula has it.
			name: "non-preemptible beyond the min", tasks: []quotaTask{fixed(12), plain(3)}, quotas: only(between(8, 14)), rem: 3,
		},
		{name: "absent in max is unlimited", tasks: []quotaTask{plain(1000)}, quotas: only(waits(jobs.Allowance{Min: gpus(4)}, 9)), rem: 1000},
		{name: "absent in min withholds nothing", tasks: []quotaTask{plain(8), fixed(4)}, quotas: only(waits(jobs.Allowance{Max: gpus(20)}, 9)), rem: 12},
		{
			name: "a max of zero bounds", quotas: only(between(0, 0)), rem: 1,
			admit:   []string{overLeft + "0 withheld for the non-preemptible, 0 used by the preemptible and 1 asked for are above the max of 0 by 1"},
			preempt: []string{overLeft + "0 withheld for the non-preemptible, 0 used by the preemptible and 1 asked for are above the max of 0 by 1"},
		},
		{name: "nothing asked for, nothing compared", tasks: []quotaTask{plain(50), fixed(50)}, quotas: only(between(0, 0)), rem: 0},
		{name: "min above max holds all the same", tasks: []quotaTask{fixed(2), plain(2)}, quotas: only(between(10, 6)), rem: 2},

		// Coming amounts: what leaves does not count, grants do.
		{
			name: "leaving is supply",
			tasks: []quotaTask{
				{in: quotaA1, gpus: 9, state: victims.Releasing}, {in: quotaA1, gpus: 9, state: victims.Preempting},
				{in: quotaA1, gpus: 9, state: victims.Releasing, fixed: true},
			},
			quotas: only(between(10, 20)), rem: 20,
		},
		{
			name: "grants count", tasks: []quotaTask{{in: quotaA1, gpus: 9, state: victims.Granted, fixed: true}},
			quotas: only(between(10, 20)), rem: 2, fixed: true,
			admit:   []string{overMin + "9 used by the non-preemptible and 2 asked for are above the min of 10 by 1"},
			preempt: []string{overMin + "9 used by the non-preemptible and 2 asked for are above the min of 10 by 1"},
		},

		// Ancestors count their whole subtree; queues off the path don't bind.
		{
			name:   "ancestors bind",
			tasks:  []quotaTask{plain(4), {in: quotaA2, gpus: 4}, {in: quotaB, gpus: 90}},
			quotas: map[queue.ID]jobs.Allowance{quotaA1: between(0, 10), quotaA: between(0, 10), quotaA2: between(0, 0), quotaB: between(0, 0)},
			rem:    3,
			admit: []string{
				"preemptible-max: root.a: gpu: 0 withheld for the non-preemptible, 8 used by the preemptible and 3 asked for are above the max of 10 by 1",
			},
			preempt: []string{
				"preemptible-max: root.a: gpu: 0 withheld for the non-preemptible, 8 used by the preemptible and 3 asked for are above the max of 10 by 1",
			},
		},
		{
			name:   "non-preemptible tasks of the subtree",
			tasks:  []quotaTask{{in: quotaA2, gpus: 6, fixed: true}},
			quotas: map[queue.ID]jobs.Allowance{quotaA: between(10, 20)}, rem: 5, fixed: true,
			admit: []string{
				"non-preemptible-min: root.a: gpu: 6 used by the non-preemptible and 5 asked for are above the min of 10 by 1",
			},
			preempt: []string{
				"non-preemptible-min: root.a: gpu: 6 used by the non-preemptible and 5 asked for are above the min of 10 by 1",
			},
		},
		{
			name: "waiting requests of the subtree",
			quotas: map[queue.ID]jobs.Allowance{
				quotaRoot: waits(between(20, 20), 1), quotaA: waits(jobs.Allowance{}, 1), quotaA1: waits(jobs.Allowance{}, 2),
				quotaA2: waits(jobs.Allowance{}, 4), quotaB: waits(jobs.Allowance{}, 8),
			},
			rem: 5,
			admit: []string{
				"preemptible-max: root: gpu: 16 withheld for the non-preemptible, 0 used by the preemptible and 5 asked for are above the max of 20 by 1",
			},
			preempt: []string{
				"preemptible-max: root: gpu: 16 withheld for the non-preemptible, 0 used by the preemptible and 5 asked for are above the max of 20 by 1",
			},
		},
		{
			name:   "the leaf's breach comes first",
			tasks:  []quotaTask{plain(1)},
			quotas: map[queue.ID]jobs.Allowance{quotaRoot: between(0, 1), quotaA1: between(0, 2)}, rem: 2,
			admit: []string{
				overLeft + "0 withheld for the non-preemptible, 1 used by the preemptible and 2 asked for are above the max of 2 by 1",
				"preemptible-max: root: gpu: 0 withheld for the non-preemptible, 1 used by the preemptible and 2 asked for are above the max of 1 by 2",
			},
			preempt: []string{
				overLeft + "0 withheld for the non-preemptible, 1 used by the preemptible and 2 asked for are above the max of 2 by 1",
				"preemptible-max: root: gpu: 0 withheld for the non-preemptible, 1 used by the preemptible and 2 asked for are above the max of 1 by 2",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := ledgerOf(t, test.tasks, test.quotas)
			l.Read(quotaA1)
			claim := jobs.Claim{Rem: resources.Vector{0, test.rem}, NonPreemptible: test.fixed}
			require.Equal(t, test.admit, words(l, l.Admit(nil, claim)), "admit")
			require.Equal(t, test.preempt, words(l, l.MayPreempt(nil, claim)), "may preempt")
		})
	}
}

// TestLedger_Extremes: sums near the end of the range neither wrap nor come out
// the same.
func TestLedger_Extremes(t *testing.T) {
	const most = math.MaxInt64
	for _, test := range []struct {
		name       string
		used, left int64 // non-preemptible, preemptible
		quota      jobs.Allowance
		claim      jobs.Claim
		want       jobs.Breach // of the first; the zero Breach: admitted
		over       int64
	}{
		{
			name: "to the end of the range", left: most - 5,
			quota: jobs.Allowance{Max: gpus(most)}, claim: jobs.Claim{Rem: resources.Vector{0, 5}},
		},
		{
			name: "beyond the end of the range", left: most - 5,
			quota: jobs.Allowance{Max: gpus(most)}, claim: jobs.Claim{Rem: resources.Vector{0, 6}},
			want: jobs.Breach{Formula: "preemptible-max", Queue: quotaA1, Type: 1, Used: most - 5, Rem: 6, Bound: most}, over: 1,
		},
		{
			name: "three times the range", left: most,
			quota: jobs.Allowance{Min: gpus(most), Max: gpus(most), Waiting: resources.Vector{0, most}},
			claim: jobs.Claim{Rem: resources.Vector{0, most}},
			want:  jobs.Breach{Formula: "preemptible-max", Queue: quotaA1, Type: 1, Withheld: most, Used: most, Rem: most, Bound: most},
			over:  most,
		},
		{
			name: "twice the range over a max of zero", left: most,
			quota: jobs.Allowance{Min: gpus(most), Max: gpus(0), Waiting: resources.Vector{0, most}},
			claim: jobs.Claim{Rem: resources.Vector{0, 1}},
			want:  jobs.Breach{Formula: "preemptible-max", Queue: quotaA1, Type: 1, Withheld: most, Used: most, Rem: 1},
			over:  most,
		},
		{
			name: "requests beyond the range are withheld up to the min", used: most - 1,
			quota: jobs.Allowance{Min: gpus(most - 1), Max: gpus(most), Waiting: resources.Vector{0, most}},
			claim: jobs.Claim{Rem: resources.Vector{0, 1}},
		},
		{
			name: "non-preemptible beyond the end of the range", used: most - 5,
			quota: jobs.Allowance{Min: gpus(most), Max: gpus(most)}, claim: jobs.Claim{Rem: resources.Vector{0, 6}, NonPreemptible: true},
			want: jobs.Breach{Formula: "non-preemptible-min", Queue: quotaA1, Type: 1, Used: most - 5, Rem: 6, Bound: most}, over: 1,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := ledgerOf(t, []quotaTask{{in: quotaA1, gpus: test.used, fixed: true}, {in: quotaA1, gpus: test.left}},
				map[queue.ID]jobs.Allowance{quotaA1: test.quota})
			l.Read(quotaA1)
			got := l.Admit(nil, test.claim)
			if test.over == 0 {
				require.Empty(t, got)
				return
			}
			require.NotEmpty(t, got)
			require.Equal(t, test.want, got[0])
			require.Equal(t, test.over, got[0].Over())
		})
	}
}

// TestLedger_Present: what is leaving is usage still.
func TestLedger_Present(t *testing.T) {
	l := ledgerOf(t, []quotaTask{
		{in: quotaA1, gpus: 3, fixed: true}, {in: quotaA1, gpus: 4, fixed: true, state: victims.Releasing},
		{in: quotaA1, gpus: 5, state: victims.Preempting}, {in: quotaA1, gpus: 6},
	}, map[queue.ID]jobs.Allowance{quotaA1: {Min: gpus(10), Max: gpus(20)}})
	claim := jobs.Claim{Rem: resources.Vector{0, 4}, NonPreemptible: true}

	l.Read(quotaA1)
	require.Empty(t, words(l, l.Admit(nil, claim)), "3 + 4 of 10, and 9 + 4 of 20")

	l.Present = true
	l.Read(quotaA1)
	require.Equal(t, []string{
		"non-preemptible-min: root.a.1: gpu: 7 used by the non-preemptible and 4 asked for are above the min of 10 by 1",
		"used-max: root.a.1: gpu: 18 used and 4 asked for are above the max of 20 by 2",
	}, words(l, l.Admit(nil, claim)))
}

// TestLedger_Need: victims must make the max hold at each queue, and only there.
func TestLedger_Need(t *testing.T) {
	l := ledgerOf(t, []quotaTask{{in: quotaA1, gpus: 8, fixed: true}, {in: quotaA1, gpus: 10}, {in: quotaA2, gpus: 5}},
		map[queue.ID]jobs.Allowance{
			quotaA1:   {Min: gpus(10), Max: gpus(20)},
			quotaA:    {Min: gpus(10), Max: gpus(20), Waiting: resources.Vector{0, 1}},
			quotaRoot: {Min: gpus(10)},
		})
	l.Read(quotaA1)
	for _, test := range []struct {
		claim           jobs.Claim
		leaf, a, atRoot resources.Vector
	}{
		// U + rem - max: 18 + 4 - 20, 23 + 4 - 20, unlimited.
		{jobs.Claim{Rem: resources.Vector{0, 4}, NonPreemptible: true}, resources.Vector{0, 2}, resources.Vector{0, 7}, resources.Vector{0, 0}},
		// min(min, NR) + P + rem - max: 8 + 10 + 4 - 20, 9 + 15 + 4 - 20.
		{jobs.Claim{Rem: resources.Vector{9, 4}}, resources.Vector{0, 2}, resources.Vector{0, 8}, resources.Vector{0, 0}},
		// Nothing asked for, or less than nothing: nothing needed.
		{jobs.Claim{Rem: resources.Vector{0, 0}}, resources.Vector{0, 0}, resources.Vector{0, 0}, resources.Vector{0, 0}},
		{jobs.Claim{Rem: resources.Vector{0, -3}}, resources.Vector{0, 0}, resources.Vector{0, 0}, resources.Vector{0, 0}},
	} {
		accounts := l.Accounts()
		require.Len(t, accounts, 3)
		require.Equal(t, test.leaf, accounts[0].Need(nil, test.claim), "%v at the leaf", test.claim)
		require.Equal(t, test.a, accounts[1].Need(nil, test.claim), "%v at root.a", test.claim)
		require.Equal(t, test.atRoot, accounts[2].Need(resources.Vector{1, 1}, test.claim), "%v at the root", test.claim)
	}
}

// TestLedger_Reread: nothing of what was read before is left.
func TestLedger_Reread(t *testing.T) {
	l := ledgerOf(t, []quotaTask{{in: quotaA1, gpus: 8, fixed: true}, {in: quotaB, gpus: 3}},
		map[queue.ID]jobs.Allowance{quotaA1: {Max: gpus(20), Waiting: resources.Vector{0, 2}}, quotaB: {Max: gpus(5)}})
	l.Read(quotaA1)
	l.Remove(&victims.Task{Queue: quotaA1, Size: resources.Vector{0, 1}})
	l.Read(quotaB)
	require.Len(t, l.Accounts(), 1)
	got := l.Accounts()[0]
	require.Equal(t, quotaB, got.Queue)
	require.Equal(t, resources.Vector{0, 3}, got.Used)
	require.Equal(t, resources.Vector{0, 0}, got.NonPreemptible)
	require.Equal(t, resources.Vector{0, 0}, got.Waiting)

	l.Read(quotaA2)
	require.Empty(t, l.Accounts(), "no quota on the path")
}
