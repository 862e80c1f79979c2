// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-preempt/preempt/bench/solvers/draws"
	"github.com/go-preempt/preempt/bench/solvers/exact"
	"github.com/go-preempt/preempt/bench/solvers/linear"
	"github.com/go-preempt/preempt/bench/solvers/rules"
	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/victims"
)

func TestVerdict(t *testing.T) {
	ours := rules.Levels{rules.Count: 3, rules.SumRanks: -5}
	for _, c := range []struct {
		best   rules.Levels
		proven bool
		word   string
		at     string
	}{
		{ours, true, equal, ""},
		{rules.Levels{rules.Count: 2, rules.SumRanks: -4}, false, worse, "victims 3->2"},
		{rules.Levels{rules.Count: 3, rules.SumRanks: -6}, true, defect, "sum-ranks -5->-6"},
		{rules.Levels{rules.OptedOut: 1, rules.Count: 2}, false, solverWorse, "opted 0->1"},
	} {
		if word, at := verdict(&ours, &c.best, c.proven); word != c.word || at != c.at {
			t.Errorf("%v: %s, %q", c.best, word, at)
		}
	}
}

func TestEnded(t *testing.T) {
	for _, c := range []struct {
		word string
		done bool
		open int
		want string
	}{
		{equal, true, 0, "equal"}, {equal, true, 2, "equal (2 open)"}, {worse, false, 0, "WORSE (time)"},
		{none, true, 0, "no plan, too"}, {none, true, 1, "open (1 open)"}, {solverWorse, false, 0, "open (time)"}, {solverWorse, true, 0, "SOLVER WORSE"},
	} {
		if got := ended(c.word, c.done, &exact.Tally{Open: c.open}); got != c.want {
			t.Errorf("%s: %s, and not %s", c.word, got, c.want)
		}
	}
}

// TestSolvers: solvers that begin with no plan find what the planner proves, and no more.
func TestSolvers(t *testing.T) {
	if !linear.Present {
		t.Skip("built without solvers")
	}
	for _, args := range []string{
		"-mode check -scratch -nodes 8 -tasks 8 -n 4 -limit 3s -budget 10s",
		"-mode check -scratch -nodes 10 -tasks 10 -from 4 -n 1 -family ^all$ -limit 3s -budget 10s", // victims elsewhere make the sum of ranks less
		"-mode job -scratch -last 9 -n 2 -family plain|opted|gangs|budgets|minimum|domain|law4 -limit 3s -budget 10s",
		"-mode job -n 8 -family gpu -nodes 8 -members 8 -from 5300 -limit 3s -budget 10s",
	} {
		lines := output(t, strings.Fields(args)...)
		for _, l := range lines {
			if strings.Contains(l, defect) || strings.Contains(l, solverWorse+"|") || strings.Contains(l, "AUDITOR") || strings.HasPrefix(l, " ") {
				t.Errorf("%s: %s", args, l)
			}
		}
		if last := lines[len(lines)-1]; !strings.Contains(last, equal) {
			t.Errorf("%s: nothing is equal: %s", args, last)
		}
	}
}

// TestShrink: a case can be cut, and is written with a proposed plan.
func TestShrink(t *testing.T) {
	d, err := draws.OfJobs("gpu", 1, draws.Size{})
	if err != nil {
		t.Fatal(err)
	}
	before := len(slices.Collect(d.Planner.Cluster.Nodes()))
	for _, c := range []cut{withoutNode("n3"), withoutTask("t0"), withoutMember(0)} {
		small, err := apply(d, c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rules.OfJob(&small.Planner, &small.Job, workload.Now); err != nil {
			t.Fatal(err)
		}
		d = small
	}
	if after := len(slices.Collect(d.Planner.Cluster.Nodes())); after != before-1 {
		t.Errorf("%d nodes of %d", after, before)
	}
	if !linear.Present {
		t.Skip("built without solvers")
	}
	file := filepath.Join(t.TempDir(), "case.json")
	output(t, strings.Fields("-mode shrinkjob -family gpu -from 1 -want jobs -time 5s -limit 2s -budget 3s -o "+file)...)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `"proposed"`) {
		t.Errorf("no plan is proposed:\n%s", text)
	}
}

// TestGreedy: greedy plans are lawful by the auditor, and none is cheaper than a proven one.
func TestGreedy(t *testing.T) {
	plans := 0
	for _, family := range draws.JobFamilies {
		for i := range 6 {
			d, err := draws.OfJobs(family, i, draws.Size{Members: 6})
			if err != nil {
				t.Fatal(err)
			}
			dec, _, err := decide(&d.Planner, &d.Job)
			if err != nil {
				t.Fatal(err)
			}
			j, err := rules.OfJob(&d.Planner, &d.Job, workload.Now)
			if err != nil {
				t.Fatal(err)
			}
			if dec.Outcome == victims.Fits || j.Facts.Refused != "" {
				continue
			}
			for _, byPriority := range []bool{false, true} {
				g, ok := exact.Greedy(j, byPriority)
				if !ok {
					continue
				}
				plans++
				if said := auditedJob(d, &exact.Job{Job: j, Best: g}); !strings.HasPrefix(said, "lawful") {
					t.Errorf("%s: %s", d.Name, said)
				}
				ours, _ := j.Read(&dec.Plan)
				if dec.Plan.Proof == victims.ProofCost && g.Cost.Levels.Compare(&ours.Cost.Levels) < 0 || dec.Outcome == victims.Refused && dec.Refusal.Proven {
					t.Errorf("%s: proven is %v, and the greedy plan %v", d.Name, ours.Cost.Levels, g.Cost.Levels)
				}
			}
		}
	}
	if plans < 60 {
		t.Errorf("%d greedy plans only", plans)
	}
}
