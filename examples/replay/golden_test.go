// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/go-preempt/preempt/internal/judge/golden"
	"github.com/go-preempt/preempt/internal/judge/trace"
)

// TestGenerated replays the generated workload, with guarantees and with fair
// shares, and compares its plans and figures with those in testdata.
func TestGenerated(t *testing.T) {
	for _, c := range []struct {
		name string
		fair bool
	}{{"generated", false}, {"fair", true}} {
		t.Run(c.name, func(t *testing.T) {
			r := Replay{Workload: generate(), Stretch: 1, Retries: 4, Grace: 30, Fair: c.fair}
			log, f := story(t, r)
			if !f.Sound() {
				t.Errorf("%+v, %+v", f.Storm, f.Laws)
			}
			// A workload of which anything is missing would show less than it is for.
			d, refused := f.Decisions, len(f.Refusals)
			if d.Fits == 0 || d.Waits == 0 || d.Plans < 50 || refused < 5 || f.Victims.Most < 2 {
				t.Errorf("%+v, %d reasons, at most %d victims: too little happens", d, refused, f.Victims.Most)
			}
			// How many steps a search takes is no promise.
			for _, s := range []*Search{&f.Search.Plans, &f.Search.Refusals} {
				s.Steps, s.MostSteps = 0, 0
			}
			r.Patient = true
			_, without := story(t, r)
			f.compare(without, max(f.LastSecond, without.LastSecond))
			var got strings.Builder
			f.writeText(&got)
			got.WriteString("\n")
			for line := range strings.Lines(log) {
				if strings.Contains(line, " plan ") || strings.Contains(line, " waits ") {
					got.WriteString(line)
				}
			}
			golden.Compare(t, "testdata/"+c.name+".golden", got.String())
		})
	}
}

// TestTrace replays the production trace, where it is there, as it is and under
// two loads that it does not have by itself.
func TestTrace(t *testing.T) {
	const (
		nodes = "../../../shared/traces/" + trace.NodeFile
		pods  = "../../../shared/traces/" + trace.PodFile
	)
	if testing.Short() {
		t.Skip("takes seconds")
	}
	if _, err := os.Stat(nodes); err != nil {
		t.Skip("no trace: ", err)
	}
	w, err := trace.Read(nodes, pods)
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Nodes) != 1523 || len(w.Pods) != 8152 {
		t.Fatalf("%d nodes and %d pods, want 1523 and 8152", len(w.Nodes), len(w.Pods))
	}
	for _, c := range []struct {
		name    string
		stretch int64
		every   int
		plans   bool // whether there is any need for plans
		fair    bool
	}{
		{"as it is", 1, 1, false, false},
		{"for ever", 0, 1, true, false},
		{"longer, on fewer nodes", 100, 8, true, false},
		{"longer, on fewer nodes, by weights", 100, 8, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Replay{
				Workload: &trace.Workload{Nodes: everyNth(w.Nodes, c.every), Pods: w.Pods},
				Stretch:  c.stretch, Retries: 4, Grace: 30, Fair: c.fair,
			}
			f, err := r.Run()
			if err != nil {
				t.Fatal(err)
			}
			if !f.Sound() {
				t.Errorf("%+v, %+v", f.Storm, f.Laws)
			}
			if got := f.Decisions.Plans > 0; got != c.plans {
				t.Errorf("%d plans", f.Decisions.Plans)
			}
			if !c.plans && f.Decisions.Fits != len(w.Pods) {
				t.Errorf("%d of %d pods fit", f.Decisions.Fits, len(w.Pods))
			}
			if f.Pods.All != len(w.Pods) || f.Pods.Placed+f.Pods.NeverPlaced != f.Pods.All {
				t.Errorf("%+v of %d pods", f.Pods, len(w.Pods))
			}
		})
	}
}

func BenchmarkReplay(b *testing.B) {
	b.ReportAllocs()
	r := Replay{Workload: generate(), Stretch: 1, Retries: 4, Grace: 30}
	decisions := 0
	r.Observe = func(*Step) { decisions++ }
	for b.Loop() {
		if _, err := r.Run(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(decisions), "ns/decision")
}
