// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/trace"
	"github.com/go-preempt/preempt/victims"
)

// story replays and returns a line per decision: the second, the pod and what
// was decided, with node and victims or with the reason.
func story(t *testing.T, r Replay) (string, *Figures) {
	t.Helper()
	var lines strings.Builder
	r.Observe = func(s *Step) {
		d := s.Decision
		fmt.Fprintf(&lines, "%d %s %s", s.Now, d.Plan.Ask.Key, kindName(kindOf(s)))
		if d.Outcome != victims.Refused {
			fmt.Fprintf(&lines, " on %s", r.Workload.Nodes[d.Plan.Places[0].Node-1].Name)
		}
		for i, v := range d.Plan.Victims {
			fmt.Fprintf(&lines, "%s%s", []string{" without ", ", "}[min(i, 1)], v.Key)
		}
		fmt.Fprintln(&lines)
	}
	f, err := r.Run()
	if err != nil {
		t.Fatal(err)
	}
	return lines.String(), f
}

// The pods of these stories want CPU alone, of one node with 4 or of two. A
// leaf of the latency sensitive is guaranteed 0.7 of 4 CPUs, so that one that
// runs nothing may preempt; best effort pods may not.

func lsPod(name string, cpu, created, deleted int64) trace.Pod {
	return trace.Pod{Name: name, CPU: 1000 * cpu, QoS: trace.LatencySensitive, Created: created, Deleted: deleted}
}

func bePod(name string, cpu, created, deleted int64) trace.Pod {
	p := lsPod(name, cpu, created, deleted)
	p.QoS = trace.BestEffort
	return p
}

func TestStories(t *testing.T) {
	one := []trace.Node{{Name: "n", CPU: 4000}}
	for _, c := range []struct {
		name string
		r    Replay
		want string
	}{
		{"a victim comes back", Replay{
			Workload: &trace.Workload{Nodes: one, Pods: []trace.Pod{bePod("be", 4, 0, 1000), lsPod("ls", 4, 10, 200)}},
			Stretch:  1, Retries: 4, Grace: 30,
		}, `
0 be fits on n
10 ls refused too-early
40 ls plan on n without be
70 ls start on n
70 be refused too-early
100 be refused not-guaranteed
200 be fits on n
`},
		{"a victim leaves at once", Replay{
			Workload: &trace.Workload{Nodes: one, Pods: []trace.Pod{bePod("be", 4, 0, 1000), lsPod("ls", 4, 10, 200)}},
			Stretch:  1, Retries: 4, Grace: 0,
		}, `
0 be fits on n
10 ls refused too-early
40 ls plan on n without be
40 ls start on n
40 be refused too-early
70 be refused not-guaranteed
200 be fits on n
`},
		{"what a victim leaves over is waited for", Replay{
			Workload: &trace.Workload{Nodes: one, Pods: []trace.Pod{bePod("be", 4, 0, 60), lsPod("l1", 1, 10, 200), lsPod("l2", 1, 50, 200)}},
			Stretch:  1, Retries: 4, Grace: 30,
		}, `
0 be fits on n
10 l1 refused too-early
40 l1 plan on n without be
50 l2 waits on n
60 l1 start on n
60 l2 start on n
`},
		{"a grant is in flight until the last victim has left", Replay{
			Workload: &trace.Workload{Nodes: one, Pods: []trace.Pod{bePod("b1", 2, 0, 60), bePod("b2", 2, 0, 65), bePod("b3", 9, 0, 70), lsPod("ls", 4, 10, 200)}},
			Stretch:  1, Retries: 0, Grace: 30,
		}, `
0 b1 fits on n
0 b2 fits on n
0 b3 refused too-early
10 ls refused too-early
30 b3 refused not-guaranteed
40 ls plan on n without b1, b2
60 ls refused in-flight
65 ls start on n
`},
		{"a pod ends before it starts", Replay{
			Workload: &trace.Workload{Nodes: one, Pods: []trace.Pod{bePod("be", 4, 0, 90), lsPod("ls", 4, 10, 65)}},
			Stretch:  1, Retries: 4, Grace: 30,
		}, `
0 be fits on n
10 ls refused too-early
40 ls plan on n without be
70 be fits on n
`},
		{"a pod ends in line", Replay{
			Workload: &trace.Workload{Nodes: one, Pods: []trace.Pod{bePod("b1", 4, 0, 90), bePod("b2", 4, 10, 20), bePod("b3", 4, 20, 100)}},
			Stretch:  1, Retries: 4,
		}, `
0 b1 fits on n
10 b2 refused too-early
20 b3 refused too-early
50 b3 refused not-guaranteed
90 b3 fits on n
`},
		{"room is made before it is asked for", Replay{
			Workload: &trace.Workload{Nodes: one, Pods: []trace.Pod{bePod("b1", 4, 0, 10), bePod("b2", 4, 10, 10), bePod("b3", 4, 11, 12)}},
			Stretch:  1, Retries: 4,
		}, `
0 b1 fits on n
10 b2 fits on n
11 b3 fits on n
`},
		{"those refused go to the end of the line", Replay{
			Workload: &trace.Workload{Nodes: one, Pods: []trace.Pod{bePod("b1", 3, 0, 100), bePod("b2", 1, 0, 110), bePod("big", 5, 1, 999), bePod("tiny", 1, 2, 999)}},
			Stretch:  1, Retries: 1,
		}, `
0 b1 fits on n
0 b2 fits on n
1 big refused too-early
2 tiny refused too-early
31 big refused not-guaranteed
32 tiny refused not-guaranteed
100 big refused not-guaranteed
110 tiny fits on n
`},
		{"pods live longer", Replay{
			Workload: &trace.Workload{Nodes: one, Pods: []trace.Pod{bePod("b1", 4, 5, 15), bePod("b2", 4, 6, 7), bePod("b3", 4, 8, 18)}},
			Stretch:  3, Retries: 4,
		}, `
5 b1 fits on n
6 b2 refused too-early
8 b3 refused too-early
35 b3 fits on n
`},
		{"pods live for ever", Replay{
			Workload: &trace.Workload{Nodes: one, Pods: []trace.Pod{bePod("be", 4, 0, 1), lsPod("ls", 4, 5, 6)}},
			Retries:  4, Grace: 10,
		}, `
0 be fits on n
5 ls refused too-early
35 ls plan on n without be
45 ls start on n
45 be refused too-early
75 be refused not-guaranteed
`},
		{"models", Replay{
			Workload: &trace.Workload{
				Nodes: []trace.Node{{Name: "cpu", CPU: 4000}, {Name: "p100", CPU: 4000, GPUs: 1, Model: "P100"}, {Name: "t4", CPU: 4000, GPUs: 1, Model: "T4"}},
				Pods: []trace.Pod{
					{Name: "picky", GPU: 500, Models: []string{"G2", "T4"}, QoS: trace.BestEffort, Created: 0, Deleted: 50},
					{Name: "any", GPU: 500, QoS: trace.BestEffort, Created: 1, Deleted: 50},
					{Name: "none", CPU: 100, Models: []string{"T4"}, QoS: trace.BestEffort, Created: 2, Deleted: 50},
					{Name: "odd", GPU: 500, Models: []string{"V100"}, QoS: trace.BestEffort, Created: 3, Deleted: 20},
				},
			},
			Stretch: 1, Retries: 4,
		}, `
0 picky fits on t4
1 any fits on p100
2 none fits on cpu
3 odd refused too-early
`},
		{"without nodes", Replay{
			Workload: &trace.Workload{Pods: []trace.Pod{lsPod("ls", 1, 0, 100)}},
			Stretch:  1, Retries: 4,
		}, `
0 ls refused too-early
30 ls refused not-guaranteed
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, f := story(t, c.r)
			if diff := cmp.Diff(strings.TrimPrefix(c.want, "\n"), got); diff != "" {
				t.Error(diff)
			}
			if !f.Sound() {
				t.Errorf("%+v, %+v", f.Storm, f.Laws)
			}
		})
	}
}

func TestFigures(t *testing.T) {
	_, f := story(t, Replay{
		Workload: &trace.Workload{
			Nodes: []trace.Node{{Name: "n", CPU: 4000, Memory: 1, GPUs: 1}},
			Pods:  []trace.Pod{bePod("be", 3, 0, 1000), lsPod("ls", 4, 10, 200), bePod("big", 5, 20, 90)},
		},
		Stretch: 1, Retries: 4, Grace: 30,
	})
	// be and ls fare as in the story of the victim that comes back; big asks
	// when it is created, when it is old enough and when be has left.
	want := &Figures{
		Nodes: 1, LastSecond: 1000,
		Peak:      []Peak{{"cpu", 4000, 4000}, {"memory", 0, 1 << 20}, {"gpu-milli", 0, 1000}},
		Pods:      Pods{All: 3, Placed: 2, NeverPlaced: 1, Stopped: 1},
		Decisions: Decisions{Fits: 2, Plans: 1, Refused: 6, Starts: 1},
		Refusals:  []Refused{{"too-early", 3}, {"not-guaranteed", 3}},
		Victims:   Victims{All: 1, Most: 1},
		Search:    Searches{Plans: Search{Count: 1, Proven: 1}},
		// The leaf of ls is guaranteed 0.7 CPUs, which one plan fills, and again
		// when ls has ended.
		Storm: Storm{Plans: 1, Bound: 2, Fixed: 1, Restored: 1},
		Laws:  Laws{Audited: 4},
		// From when ls is created to the plan, which counts at once.
		Under: []Under{{Tenant: "guaranteed"}, {Tenant: "ls", Seconds: 30}, {Tenant: "burstable"}},
	}
	// How many steps a search takes is no promise.
	f.Search.Plans.Steps, f.Search.Plans.MostSteps = 0, 0
	if diff := cmp.Diff(want, f, cmp.AllowUnexported(Figures{}, Under{}), ignoreUnsaid); diff != "" {
		t.Error(diff)
	}
}

// ignoreUnsaid passes over what figures are made of and do not say themselves.
var ignoreUnsaid = cmp.FilterPath(func(p cmp.Path) bool {
	return slices.Contains([]string{".reasons", ".hunger", ".tenants", ".tenant"}, p.Last().String())
}, cmp.Ignore())

// Without preemption a queue stays under its guarantee for as long as a pod of
// it waits: ls from its creation to its end. A pod that no guarantee governs
// starves nobody, and neither does one that wants nothing of what is lacking.
func TestFigures_Starved(t *testing.T) {
	r := Replay{
		Workload: &trace.Workload{
			Nodes: []trace.Node{{Name: "n", CPU: 4000, GPUs: 1}},
			Pods: []trace.Pod{
				bePod("be", 4, 0, 1000), bePod("bf", 4, 5, 1000), lsPod("ls", 4, 10, 200),
				{Name: "none", QoS: trace.Burstable, Memory: 1, Created: 20, Deleted: 900},
			},
		},
		Stretch: 1, Retries: 4, Grace: 30,
	}
	_, with := story(t, r)
	r.Patient = true
	_, without := story(t, r)
	with.compare(without, 1000)
	zero, wait := int64(0), int64(190)
	want := []Under{
		{Tenant: "guaranteed", Without: &zero}, {Tenant: "ls", Seconds: 30, Without: &wait}, {Tenant: "burstable", Without: &zero},
	}
	if diff := cmp.Diff(want, with.Under, cmp.AllowUnexported(Under{}), ignoreUnsaid); diff != "" {
		t.Error(diff)
	}
	const text = "guaranteed 0 s instead of 0 s, ls 30 s instead of 3 min, burstable 0 s instead of 0 s, " +
		"in all 30 s instead of 3 min without preemption: under the guarantee while pods waited, the queues of a tenant together"
	if got := with.starved(); got != text {
		t.Error(got)
	}
}

func TestReplayErrors(t *testing.T) {
	const most = 1 << 40 // MiB, an eighth of the range of int64
	node := trace.Node{CPU: 1, Memory: most}
	var nodes []trace.Node
	for i := range 8 {
		node.Name = fmt.Sprint("n", i)
		nodes = append(nodes, node)
	}
	for _, c := range []struct {
		name string
		w    trace.Workload
		want string
	}{
		{"capacity", trace.Workload{Nodes: nodes}, "out of range"},
		{"no name", trace.Workload{Nodes: []trace.Node{{}}}, "empty name"},
		{"no pod name", trace.Workload{Nodes: nodes[:1], Pods: []trace.Pod{{}}}, "second 0: victims: ask \"\": empty name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := (&Replay{Workload: &c.w}).Run()
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// Whatever the workload, a replay keeps every law and the bound, comes to its
// end, and accounts for every pod.
func TestReplayIsSound(t *testing.T) { rapid.Check(t, soundProperty) }

func FuzzReplayIsSound(f *testing.F) { f.Fuzz(rapid.MakeFuzz(soundProperty)) }

func soundProperty(t *rapid.T) {
	r := drawReplay(t)
	f, err := r.Run()
	if err != nil {
		t.Fatal(err)
	}
	if !f.Sound() {
		t.Errorf("%+v, %+v", f.Storm, f.Laws)
	}
	if f.Storm.Plans != int64(f.Decisions.Plans) {
		t.Errorf("%d plans watched, %d made", f.Storm.Plans, f.Decisions.Plans)
	}
	p := f.Pods
	if p.All != len(r.Workload.Pods) || p.Placed+p.NeverPlaced != p.All || p.Stopped > p.Placed {
		t.Errorf("%+v of %d pods", p, len(r.Workload.Pods))
	}
	if here := p.Running + p.Pending; r.Stretch > 0 && here != 0 || r.Stretch == 0 && here != p.All {
		t.Errorf("%d of %d pods are there in the end", here, p.All)
	}
	// Fair shares change if a pod comes, and the bound with them.
	if r.Stretch == 0 && !r.Fair && f.Storm.Restored != 0 {
		t.Errorf("the bound grew by %d, where nothing ended", f.Storm.Restored)
	}
}

// drawReplay draws a small cluster that is short of everything.
func drawReplay(t *rapid.T) *Replay {
	draw := func(name string, least, most int) int64 {
		return int64(rapid.IntRange(least, most).Draw(t, name))
	}
	w := &trace.Workload{}
	for i := range draw("nodes", 0, 3) {
		w.Nodes = append(w.Nodes, trace.Node{
			Name: fmt.Sprint("n", i), CPU: draw("cpu", 0, 12), Memory: draw("memory", 0, 12), GPUs: draw("gpus", 0, 2),
			Model: rapid.SampledFrom([]string{"", "T4", "G2"}).Draw(t, "model"),
		})
	}
	// Mostly pods that preempt and pods that are preempted.
	mix := []trace.QoS{trace.Guaranteed, trace.LatencySensitive, trace.LatencySensitive, trace.Burstable, trace.BestEffort, trace.BestEffort, trace.BestEffort}
	now := int64(0)
	for i := range draw("pods", 1, 40) {
		now += draw("pause", 0, 20)
		p := trace.Pod{
			Name: fmt.Sprint("p", i), CPU: draw("cpu", 0, 5), Memory: draw("memory", 0, 5),
			GPU: rapid.SampledFrom([]int64{0, 0, 300, 500, 1000, 2000}).Draw(t, "gpu"),
			QoS: rapid.SampledFrom(mix).Draw(t, "class"), Created: now, Deleted: now + draw("life", 0, 1000),
		}
		if draw("picky", 0, 5) == 0 {
			p.Models = []string{"T4"}
		}
		w.Pods = append(w.Pods, p)
	}
	return &Replay{
		Workload: w, Stretch: draw("stretch", 0, 2), Retries: int(draw("retries", 0, 4)), Grace: draw("grace", 0, 40),
		Fair: rapid.Bool().Draw(t, "fair"),
	}
}

// The same replay tells the same story.
func TestReplayIsDeterministic(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a second")
	}
	for _, r := range []Replay{
		{Workload: generate(), Stretch: 1, Retries: 4, Grace: 30},
		{Workload: generate(), Retries: 2},
		{Workload: generate(), Stretch: 1, Retries: 4, Grace: 30, Fair: true},
	} {
		story1, f1 := story(t, r)
		story2, f2 := story(t, r)
		if diff := cmp.Diff(story1, story2); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(f1, f2, cmp.AllowUnexported(Figures{}, Under{}, Behind{}, hunger{})); diff != "" {
			t.Error(diff)
		}
	}
}
