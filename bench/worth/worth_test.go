// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

func sprint(s []any) string { return fmt.Sprint(s...) }

// few are options for a test: few arrivals, and no trace.
func few(t *testing.T) *options { return &options{events: 60, seed: 1, traces: t.TempDir()} }

// philly writes a small trace: one virtual cluster fills both that there are, and then
// the other one wants its part.
func philly(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("submit,duration,gpus,vc\n")
	for i := range 60 {
		fmt.Fprintf(&b, "%d,900000,8,x\n", 40*day+i)
	}
	for i := range 10 {
		fmt.Fprintf(&b, "%d,9000,%d,y\n", 40*day+1000+i, 8<<(i%2))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "philly_jobs.csv"), []byte(b.String()), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "philly_vcs.csv"), []byte("vc,nodes\nx,1\ny,1\n"), 0o600))
	return dir
}

// TestPlay: the numbers of each load add up, and the audits of our own plans find nothing.
func TestPlay(t *testing.T) {
	trace, err := phillyLoad(philly(t), 70)
	require.NoError(t, err)
	loads := []*load{gpuLoad(1, 900), trace}
	if !testing.Short() { // it takes long to fill
		loads = append(loads, serviceLoad(1, 3000))
	}
	for _, l := range loads {
		t.Run(l.name, func(t *testing.T) {
			r, err := play(l)
			require.NoError(t, err)
			ours := &r.Cells[0]
			require.Positive(t, ours.Plans, "a load without plans shows nothing")
			require.Empty(t, ours.Words)
			require.Equal(t, ours.Plans, ours.Lawful)
			require.Zero(t, ours.Silent+ours.Alone)
			require.Zero(t, r.refuted())
			for i := range r.Cells {
				c := &r.Cells[i]
				require.Equal(t, c.Plans, c.Broken+c.Unentitled+c.Needless+c.Lawful, c.Rule)
				require.Equal(t, c.Lawful, c.Alone+c.Both.Plans, c.Rule)
				require.Equal(t, c.Both.Plans, c.Both.Cheaper+c.Both.Same+c.Both.Dearer, c.Rule)
				require.LessOrEqual(t, c.Silent+c.Both.Plans, ours.Plans, c.Rule)
				require.LessOrEqual(t, c.Plans+c.Silent, r.Asked, c.Rule)
				require.LessOrEqual(t, c.Both.Victims, c.Victims, c.Rule)
				require.LessOrEqual(t, c.Both.Lost, c.Lost, c.Rule)
				require.Zero(t, c.Words["room"]+c.Words["filter"]+c.Words["known"]+c.Words["once"], "%s knows what is where", c.Rule)
			}
		})
	}
}

// TestPlay_SameCluster: what the world and the library know of the cluster is the same at
// the end, and so is what victims cost at every plan.
func TestPlay_SameCluster(t *testing.T) {
	loads := []*load{gpuLoad(3, 700)}
	if !testing.Short() {
		loads = append(loads, serviceLoad(3, 2500))
	}
	for _, l := range loads {
		t.Run(l.name, func(t *testing.T) {
			p, err := newPlayer(l)
			require.NoError(t, err)
			plans := 0
			p.rules = []rule{{name: "witness", plan: func(w *world, a *work) (answer, bool, error) {
				// Nothing has changed since the library decided.
				d := &p.lib.decision
				if d.Outcome == victims.Preempts {
					plans++
					var rows []int
					for i := range d.Plan.Victims {
						rows = append(rows, p.lib.rows[d.Plan.Victims[i].Key])
					}
					b, cost := w.billOf(a, rows), &d.Plan.Cost
					require.Equal(t, []int64{int64(cost.OptedOut), cost.MaxPriority, int64(cost.Jobs), int64(cost.Victims), cost.SumPriorities},
						[]int64{int64(b.optedOut), int64(b.highest), int64(b.gangs), int64(b.victims), b.sum})
					require.Equal(t, fmt.Sprint(b.own), fmt.Sprint(cost.Own))
				}
				return answer{}, false, nil
			}}}
			p.result = newResult(l, p.rules)
			require.NoError(t, p.run())
			require.Positive(t, plans)

			w := l.world
			running := 0
			for n := range w.nodes {
				running += len(w.nodes[n].tasks)
				require.Equal(t, w.nodes[n].free, []int64(p.lib.cluster.Free(nil, p.lib.nodes[n])))
			}
			require.Equal(t, running, p.lib.cluster.TaskLen())
			for q := range w.queues {
				require.Equal(t, w.queues[q].usage, []int64(p.lib.cluster.Tree().Usage(queue.ID(q))), w.queues[q].name)
			}
			for g := range w.gangs {
				n := len(w.gangs[g].members)
				require.True(t, n == 0 || n >= w.gangs[g].minimum, "%s has %d members", w.gangs[g].name, n)
			}
		})
	}
}

func TestJudge(t *testing.T) {
	require.Equal(t, lawful, judge(nil))
	require.Equal(t, needless, judge([]string{"minimal"}))
	require.Equal(t, unentitled, judge([]string{"minimal", "trigger"}))
	require.Equal(t, broken, judge([]string{"trigger", "guarantee", "minimal"}))
}

// TestRun: the table goes into files, is the same for the same seed, and says what was
// left out.
func TestRun(t *testing.T) {
	o := few(t)
	file := filepath.Join(t.TempDir(), "page.md")
	require.NoError(t, os.WriteFile(file, []byte("before\n<!-- worth -->\nold\n<!-- /worth -->\n<!-- worth loads -->\n<!-- /worth loads -->\nafter\n"), 0o600))
	var first, second bytes.Buffer
	require.NoError(t, run(o, []string{file}, &first))
	require.NoError(t, run(o, nil, &second))
	require.Equal(t, first.String(), second.String())
	require.Contains(t, first.String(), "**Philly trace**, left out: there is no ")
	require.Contains(t, first.String(), "**service cluster**, left out: nobody had to stop for its 60 arrivals; take more -events")
	require.NotContains(t, first.String(), ", 0 asks")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	table, loads, _ := strings.Cut(first.String(), "\n\n")
	require.Equal(t, "before\n<!-- worth -->\n"+table+"\n<!-- /worth -->\n<!-- worth loads -->\n"+loads+"<!-- /worth loads -->\nafter\n", string(text))

	o.json = true
	second.Reset()
	require.NoError(t, run(o, nil, &second))
	var all []result
	require.NoError(t, json.Unmarshal(second.Bytes(), &all))
	require.Len(t, all, 3)
	require.Equal(t, 60, all[0].Works)
}

// TestExcerpt: README.md has a column for each load, of two greedies the one that knows gangs,
// and what is lost if least work lost comes first.
func TestExcerpt(t *testing.T) {
	all := []*result{
		{Load: "GPUs", Cells: []cell{
			{Rule: ourName, Plans: 1598}, {Rule: "greedy", Broken: 7},
			{Rule: "greedy that knows gangs", Silent: 3, Both: pair{Plans: 9, Victims: 10, OursVictims: 11, Lost: 2 * hour, OursLost: 3 * hour}},
			{Rule: "YuniKorn's rule", Silent: 4, Broken: 5},
			{Rule: leastWorkName, Silent: 8, Broken: 8, Both: pair{Victims: 6, OursVictims: 5, Lost: hour, OursLost: 4 * hour}},
		}},
		{Load: "services", Cells: []cell{{Rule: ourName, Plans: 2}, {Rule: "greedy", Silent: 1}}},
		{Load: "trace", Left: "left out"},
	}
	require.Equal(t, `|  | GPUs | services | trace |
|---|--:|--:|--:|
| our plans | 1,598 | 2 | left out |
| no answer: greedy, kube-scheduler, YuniKorn | 3, 4 | 1 |  |
| break a promise: the same | 0, 5 | 0 |  |
| victims, greedy : ours | 10 : 11 | 0 : 0 |  |
| hours lost, greedy : ours | 2 : 3 | 0 : 0 |  |
| victims, least work lost : ours | 6 : 5 |  |  |
| hours lost, least work lost : ours | 1 : 4 |  |  |
`, excerptOf(all))
	text, err := splice("<!-- excerpt -->\nold\n<!-- /excerpt -->\n", all)
	require.NoError(t, err)
	require.Equal(t, "<!-- excerpt -->\n"+excerptOf(all)+"<!-- /excerpt -->\n", text)
}

func TestRun_Errors(t *testing.T) {
	o := few(t)
	o.events = 0
	require.EqualError(t, run(o, nil, nil), "-events 0: want 1 or more")
	o = few(t)
	file := filepath.Join(t.TempDir(), "page.md")
	require.ErrorContains(t, run(o, []string{file}, nil), file)
	require.NoError(t, os.WriteFile(file, []byte("no marks\n"), 0o600))
	require.EqualError(t, run(o, []string{file}, nil), file+": no lines <!-- worth --> and <!-- /worth -->")
	require.NoError(t, os.WriteFile(filepath.Join(o.traces, "philly_vcs.csv"), []byte("vc,nodes\nx,none\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(o.traces, "philly_jobs.csv"), nil, 0o600))
	require.ErrorContains(t, run(o, nil, nil), "none", "a trace that is there and bad is not left out")
}
