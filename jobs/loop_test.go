// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/victims"
)

// What is decided about a job is carried out step by step, and asked again at each:
// the answer always goes with what was promised.
//
// While its members hold places that they cannot start on, nothing more is planned.
// Once the victims have gone it fits where it is, and once its members run there is
// nothing left to do for the minimum. Nobody but the victims has gone.
func TestLoop(t *testing.T) { rapid.Check(t, carriedOut) }

func FuzzLoop(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(carriedOut))
}

func carriedOut(t *rapid.T) {
	h := newHarness(t, world.JobCases(world.Small.With(everything)).Draw(t, "case"))
	now := h.c.Options.Now
	h.decide("first")
	if h.d.Outcome == victims.Refused || len(h.d.Plan.Places) == 0 {
		return
	}
	first := h.d.Outcome
	stops := h.stops()
	if err := h.cluster.Apply(&h.d); err != nil {
		t.Fatalf("%v\n%v", err, h.c)
	}
	minimum, needs := h.cluster.MinMembers(h.job.Key), cmp.Or(h.job.MinMembers, len(h.job.Members))
	if want, set := h.c.Minimums[h.job.Key]; minimum != needs && (!set || want != minimum) {
		t.Fatalf("the job needs %d members, and the plan is for %d\n%v", minimum, needs, h.c)
	}
	members := slices.Clone(h.d.Plan.Places)
	h.decide("under way")
	if first == victims.Fits && h.d.Outcome != victims.Fits {
		t.Fatalf("it fitted, and with its grants is %s\n%v", h.said(), h.c)
	}
	if len(h.d.Plan.Victims) > 0 {
		t.Fatalf("a second plan on top of the first: %s\n%v", h.said(), h.c)
	}
	for _, key := range stops {
		if g, _ := h.cluster.Grant(h.job.Key); !slices.Contains(g.Leaving, key) || len(g.Returned) > 0 {
			t.Fatalf("%v, and %s has not gone\n%v", g, key, h.c)
		}
		if err := h.cluster.RemoveTask(key); err != nil {
			t.Fatalf("%v\n%v", err, h.c)
		}
	}
	g, ok := h.cluster.Grant(h.job.Key)
	if !ok || len(g.Places) != len(members) || !g.Since.Equal(now) {
		t.Fatalf("%v after %v\n%v", g, stops, h.c)
	}
	for _, key := range g.Leaving {
		if id, there := h.cluster.Lookup(key); !there || h.cluster.State(id) == victims.Running {
			t.Fatalf("%v waits for %s\n%v", g, key, h.c)
		}
	}
	h.leave(t) // what left by itself has gone as well
	if g, _ := h.cluster.Grant(h.job.Key); len(g.Leaving) > 0 {
		t.Fatalf("%v, and all have gone\n%v", g, h.c)
	}
	if h.holdsTooMuch() {
		return // a place that its node never had room for keeps the job waiting
	}
	h.decide("room")
	if h.d.Outcome != victims.Fits {
		t.Fatalf("all have gone, and the job is %s\n%v", h.said(), h.c)
	}
	if err := h.cluster.Start(h.job.Key, now); err != nil {
		t.Fatalf("%v\n%v", err, h.c)
	}
	h.decide("started")
	if h.d.Outcome != victims.Fits || len(minimumOf(&h.d)) > 0 {
		t.Fatalf("the members run, and the job is %s\n%v", h.said(), h.c)
	}
	h.onlyGone(t, stops)
}

// holdsTooMuch reports whether a grant of the world is on a node that is over-committed.
func (h *harness) holdsTooMuch() bool {
	for _, g := range h.c.World.Grants {
		n, _ := h.cluster.LookupNode(g.Node)
		for t, free := range world.AmountsOf(h.cluster, h.cluster.Free(nil, n)) {
			if free < 0 && g.Ask.Size[t] > 0 {
				return true
			}
		}
	}
	return false
}

// leave takes out of the cluster what is leaving.
func (h *harness) leave(t *rapid.T) {
	for _, v := range h.c.World.Tasks {
		if v.State.Leaving() {
			if err := h.cluster.RemoveTask(v.Key); err != nil {
				t.Fatalf("%v\n%v", err, h.c)
			}
		}
	}
}

// minimumOf lists the placements of a decision that are of the minimum.
func minimumOf(d *victims.Decision) (list []victims.Place) {
	for _, at := range d.Plan.Places {
		if !at.Extra {
			list = append(list, at)
		}
	}
	return list
}

// onlyGone holds the cluster to the world without some tasks and those that left.
func (h *harness) onlyGone(t *rapid.T, stops []string) {
	for _, v := range h.c.World.Tasks {
		_, there := h.cluster.Lookup(v.Key)
		if gone := v.State.Leaving() || slices.Contains(stops, v.Key); there == gone {
			t.Fatalf("task %s is there: %v\n%v", v.Key, there, h.c)
		}
	}
}

// A decision comes back from JSON as it was written, in a report; and whatever a plan
// has is in its text, each on a line of its own.
func TestReport_RoundTrip(t *testing.T) { rapid.Check(t, reportComesBack) }

func FuzzReport(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(reportComesBack))
}

// A reported is what [victims.Decision.Report] writes about a gang, as far as tests read it.
type reported struct {
	Summary, Outcome, Job string
	Plan                  *struct {
		Placements []struct{ Key, Node string }
		Domain     []string
		Victims    []struct {
			Key, Node      string
			ForNode, Whole bool
		}
	}
	Refusal *struct {
		Reason      string
		Breaches    []any
		Counts      map[string]int
		Wanted      int
		DomainLacks map[string]string
	}
}

// reportOf reads what a report says, and returns its text.
func reportOf(t interface{ Fatal(args ...any) }, d *victims.Decision, c *victims.Cluster) (r *reported, text []byte) {
	text, err := json.Marshal(d)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r, text
}

func reportComesBack(t *rapid.T) {
	h := newHarness(t, world.JobCases(world.Small.With(everything)).Draw(t, "case"))
	h.decide("report")
	d := &h.d
	report, text := reportOf(t, d, h.cluster)
	lines := strings.Split(d.String(), "\n")
	if lines[len(lines)-1] != "" {
		t.Fatalf("no newline at the end: %q", lines)
	}
	if d.Outcome == victims.Refused {
		if report.Plan != nil || report.Refusal == nil || report.Refusal.Reason != d.Refusal.Reason {
			t.Fatalf("a refusal is reported as %s", text)
		}
		return
	}
	if report.Refusal != nil || len(report.Plan.Victims) != len(d.Plan.Victims) || len(report.Plan.Placements) != len(d.Plan.Places) {
		t.Fatalf("a plan is reported as %s", text)
	}
	for i, v := range d.Plan.Victims {
		r := &report.Plan.Victims[i]
		if r.Key != v.Key || r.Node != v.NodeName || r.ForNode != v.ForNode || r.Whole != v.Whole {
			t.Fatalf("victim %+v is reported as %+v", v, *r)
		}
		if lineWith(lines, "victim "+v.Key+" on "+v.NodeName) != 1 {
			t.Fatalf("victim %s is not told once:\n%s", v.Key, strings.Join(lines, "\n"))
		}
	}
	for i, at := range d.Plan.Places {
		r := &report.Plan.Placements[i]
		if key := h.job.Members[at.Member].Key; r.Key != key || r.Node != at.NodeName || lineWith(lines, "member "+key+" (") != 1 {
			t.Fatalf("member %s is told as %+v:\n%s", key, *r, strings.Join(lines, "\n"))
		}
	}
}

// lineWith counts the lines that begin with a text, but for spaces.
func lineWith(lines []string, text string) (n int) {
	for _, line := range lines {
		if strings.HasPrefix(strings.TrimLeft(line, " "), text) {
			n++
		}
	}
	return n
}
