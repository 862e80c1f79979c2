// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/victims"
)

func TestFiguresText(t *testing.T) {
	f := Figures{
		Nodes: 2, LastSecond: 99,
		Peak:      []Peak{{"cpu", 1, 3}, {"memory", 1 << 62, 1 << 62}, {"gpu-milli", 0, 0}},
		Pods:      Pods{All: 7, Placed: 5, NeverPlaced: 2, Stopped: 1, Running: 3, Pending: 4},
		Decisions: Decisions{Fits: 1, Waits: 2, Plans: 3, Refused: 4, Starts: 5},
		Refusals:  []Refused{{"too-early", 3}, {"no-victims", 1}},
		Victims:   Victims{All: 6, Most: 2},
		Search:    Searches{Plans: Search{Count: 3, Proven: 2, Steps: 10, MostSteps: 8}},
		Storm:     Storm{Plans: 3, Bound: 10, Fixed: 8, Restored: 2},
		Laws:      Laws{Audited: 6, Violations: 1, First: []string{"p: something"}},
		Under:     []Under{{Tenant: "ls", Seconds: 7200}, {Tenant: "burstable", Seconds: 119}},
		tenants:   [tenants]string{"guaranteed (guaranteed service)", "ls (latency-sensitive pods)", "burstable (burstable pods)", "be (best-effort pods)"},
	}
	const want = `workload    2 nodes, 7 pods, 1m39s
peak use    cpu 33.3%, memory 100.0%, gpu-milli 0.0%
pods        5 placed at least once, 2 never; 1 stopped at least once
in the end  3 running, 4 pending
decisions   1 fits, 2 waits, 3 plans, 4 refused; 5 grants started
refusals    3 too-early, 1 no-victims
victims     6, at most 2 in a plan
plans       2 of 3 proven (66.6%), 3.3 steps on average, at most 8
no plans    0 of 0 proven (0.0%), 0.0 steps on average, at most 0
storm       3 plans of at most 10: 8 if nothing ended, 2 for what ended; 0 without progress
laws        6 placements audited, 1 violations
            p: something
tenants     guaranteed (guaranteed service), ls (latency-sensitive pods), burstable (burstable pods), be (best-effort pods)
starved     ls 2 h, burstable 119 s: under the guarantee while pods waited, the queues of a tenant together
`
	var got strings.Builder
	f.writeText(&got)
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
}

func TestSound(t *testing.T) {
	for _, c := range []struct {
		name string
		f    Figures
		want bool
	}{
		{"nothing happened", Figures{}, true},
		{"as many plans as there may be", Figures{Storm: Storm{Plans: 3, Bound: 3}}, true},
		{"one more", Figures{Storm: Storm{Plans: 4, Bound: 3}}, false},
		{"no progress", Figures{Storm: Storm{Plans: 1, Bound: 3, Broken: 1}}, false},
		{"a law was broken", Figures{Laws: Laws{Audited: 9, Violations: 1}}, false},
	} {
		if got := c.f.Sound(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestAudited(t *testing.T) {
	var f Figures
	f.Laws.audited("a", nil)
	f.Laws.audited("b", []victims.Violation{{Law: finding.LawMayPreempt}})
	f.Laws.audited("c", make([]victims.Violation, 20))
	f.Laws.audited("d", make([]victims.Violation, 1))
	if l := f.Laws; l.Audited != 4 || l.Violations != 22 || len(l.First) != maxListed {
		t.Errorf("%d audited, %d violations, %d listed; want 4, 22, %d", l.Audited, l.Violations, len(l.First), maxListed)
	}
	if got, want := f.Laws.First[0], "b: may-preempt: the ask must not preempt"; got != want {
		t.Errorf("first violation %q, want %q", got, want)
	}
}

func TestTimingsText(t *testing.T) {
	timings := Timings{
		Outcomes: []Timing{
			{"fits", 3, 999, 1000, 1004, 12345678},
			{"refused no-victims", 10, 0, time.Millisecond, 2 * time.Second, time.Hour},
		},
		Slowest: []Slow{{12345678, "plan", "p", 9, 17, 2}},
	}
	const want = `  decisions    p50  p90  p99     max  outcome
          3  999ns  1µs  1µs  12.3ms  fits
         10     0s  1ms   2s  1h0m0s  refused no-victims
slow: 12.3ms for pod p in second 9: plan, 17 steps, 2 victims
`
	var got strings.Builder
	timings.writeText(&got)
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
}

func TestStopwatch(t *testing.T) {
	var w stopwatch
	add := func(name string, took time.Duration, held bool, d victims.Decision) {
		d.Plan.Ask.Key = name
		w.add(&Step{Now: 5, Decision: &d, Held: held, Took: took})
	}
	add("a", 10, false, victims.Decision{Outcome: victims.Fits})
	add("b", 30, true, victims.Decision{Outcome: victims.Fits})
	add("c", 20, true, victims.Decision{Outcome: victims.Refused, Refusal: victims.Refusal{Reason: victims.InFlight}})
	add("d", 40, false, victims.Decision{Outcome: victims.Refused, Refusal: victims.Refusal{Reason: "no-victims"}, Plan: victims.Plan{Steps: 7}})
	add("e", 30, false, victims.Decision{Outcome: victims.Preempts, Plan: victims.Plan{Steps: 3, Victims: make([]victims.Victim, 2)}})
	add("f", 5, false, victims.Decision{Outcome: victims.Waits})
	add("g", 20, false, victims.Decision{Outcome: victims.Fits})
	want := &Timings{
		Outcomes: []Timing{
			{"fits", 2, 10, 20, 20, 20},
			{"waits", 1, 5, 5, 5, 5},
			{"plan", 1, 30, 30, 30, 30},
			{"start", 1, 30, 30, 30, 30},
			{"refused in-flight", 1, 20, 20, 20, 20},
			{"refused no-victims", 1, 40, 40, 40, 40},
		},
		// Of b and e, and of c and g, the earlier comes first.
		Slowest: []Slow{
			{40, "refused no-victims", "d", 5, 7, 0},
			{30, "start", "b", 5, 0, 0},
			{30, "plan", "e", 5, 3, 2},
			{20, "refused in-flight", "c", 5, 0, 0},
			{20, "fits", "g", 5, 0, 0},
		},
	}
	if diff := cmp.Diff(want, w.timings()); diff != "" {
		t.Error(diff)
	}
}

func TestPercentile(t *testing.T) {
	ten := []time.Duration{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for _, c := range []struct {
		sorted []time.Duration
		p      int
		want   time.Duration
	}{
		{ten, 0, 1}, {ten, 1, 1}, {ten, 10, 1}, {ten, 11, 2}, {ten, 50, 5}, {ten, 51, 6}, {ten, 99, 10}, {ten, 100, 10},
		{ten[:1], 50, 1}, {ten[:2], 50, 1}, {ten[:3], 50, 2},
	} {
		if got := percentile(c.sorted, c.p); got != c.want {
			t.Errorf("percentile(%v, %d) = %d, want %d", c.sorted, c.p, got, c.want)
		}
	}
}

// At least p in a hundred do not exceed the percentile, and fewer are below it.
func TestPercentileRank(t *testing.T) { rapid.Check(t, percentileProperty) }

func FuzzPercentileRank(f *testing.F) { f.Fuzz(rapid.MakeFuzz(percentileProperty)) }

func percentileProperty(t *rapid.T) {
	sorted := make([]time.Duration, rapid.IntRange(1, 300).Draw(t, "durations"))
	for i := range sorted {
		sorted[i] = time.Duration(i)
	}
	p := rapid.IntRange(1, 100).Draw(t, "p")
	at := int(percentile(sorted, p))
	if 100*(at+1) < p*len(sorted) || 100*at >= p*len(sorted) {
		t.Errorf("of %d durations, the one at rank %d is percentile %d", len(sorted), at+1, p)
	}
}

func TestProgress(t *testing.T) {
	var out strings.Builder
	p := progress{w: &out, all: 9, what: "pods created", next: 10}
	for _, step := range []struct {
		second  int64
		outcome victims.Outcome
		clock   time.Duration
	}{
		{1, victims.Fits, 0}, {2, victims.Preempts, 9}, {3, victims.Preempts, 10},
		{4, victims.Preempts, 10 + interval - 1}, {5, victims.Preempts, 10 + interval},
	} {
		p.decided(step.outcome)
		p.report(step.second, int(step.second), step.clock)
	}
	const want = `replay: second 3: 3 of 9 pods created, 2 plans
replay: second 5: 5 of 9 pods created, 4 plans
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
