// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// admitAll lets all in.
func admitAll(resources.Vector, *victims.Admission) (resources.Vector, bool) { return nil, false }

// Each queue of the path is asked, from the leaf up, with what is used below it: first with
// what is leaving, then without. Grants count; other queues do not. (The numbers are cpus used
// and those used by the non-preemptible.)
func TestAdmit_Questions(t *testing.T) {
	w := build(t, `
queue a
queue a.x
queue a.y
queue b
node n1 70
task v a.x n1 1 p=20
task f a.x n1 2 fixed
task r a.x n1 4 state=releasing
task p a.x n1 8 state=preempting fixed
task y a.y n1 16 fixed p=20
task b b n1 32 p=20
job a.x 30,2 min=1 fixed`)
	granted := victims.Ask{Key: "g", Queue: w.leaf("a.x"), Size: w.size("1"), NonPreemptible: true}
	n, _ := w.cluster.LookupNode("n1")
	_, err := w.cluster.GrantPlace(&granted, n, noon)
	require.NoError(t, err)
	var asked []string
	p := w.planner()
	p.Admit = func(_ resources.Vector, a *victims.Admission) (resources.Vector, bool) {
		asked = append(asked, fmt.Sprint(a.Queue, " ", a.AfterLeaving, " ", a.Wants.At(0)/1000, " ", a.NonPreemptible, " ", a.Used.At(0)/1000, " ", a.UsedNonPreemptible.At(0)/1000))
		return nil, false
	}
	var d victims.Decision
	require.NoError(t, p.Decide(&d, &w.job, noon))
	require.Equal(t, "refused", d.Outcome.String())
	require.Equal(t, []string{
		"root.a.x false 30 true 16 11", "root.a false 30 true 32 27", "root false 30 true 64 27",
		"root.a.x true 30 true 4 3", "root.a true 30 true 20 19", "root true 30 true 52 19",
	}, asked[:6])
	for _, question := range asked[6:] { // about victims
		require.Contains(t, asked[3:6], question)
	}

	// Members beyond the minimum are asked about singly, beside those before them.
	asked, w.job.Members[0].Size = nil, w.size("3")
	require.NoError(t, p.Decide(&d, &w.job, noon))
	require.Equal(t, "fits", d.Outcome.String())
	require.Len(t, d.Plan.Places, 2)
	require.Equal(t, []string{
		"root.a.x false 3 true 16 11", "root.a false 3 true 32 27", "root false 3 true 64 27",
		"root.a.x false 2 true 19 14", "root.a false 2 true 35 30", "root false 2 true 67 30",
	}, asked[:6])
	// The audit asks anew, about all of them together, once what is leaving has gone.
	require.Equal(t, "root.a.x true 5 true 4 3", asked[len(asked)-6])
}

// What lacks has to be freed below the queue that says so, by victims anywhere there; what is
// refused no victim changes.
func TestAdmit_Lacks(t *testing.T) {
	for _, test := range []struct {
		name    string
		refuses string // a queue
		lacks   map[string]int64
		want    string
	}{
		{"nothing", "", nil, "fits j0=n1"},
		{"at the root", "", map[string]int64{"root": 2}, "plan j0=n1 -b"},
		{"below a queue", "", map[string]int64{"root.a": 2}, "plan j0=n1 -y"},
		{"at two queues", "", map[string]int64{"root": 5, "root.a": 2}, "plan j0=n1 -b -y"},
		{"as much as there is", "", map[string]int64{"root.a": 6}, "plan j0=n1 -x -y"},
		{"more than there is", "", map[string]int64{"root.a": 7}, "refused quota-max"},
		{"of no type that is wanted", "", map[string]int64{"gpu": 1}, "refused unlawful"},
		{"refused", "root", map[string]int64{"root.a": 2}, "refused quota-max"},
	} {
		w := build(t, "queue a\nqueue a.x\nqueue a.y\nqueue b\nnode n1 20\nnode n2 9\ntask x a.x n2 3 p=1\ntask y a.y n2 3\ntask b b n2 3 p=-1\njob a.x 1")
		used := map[string]int64{"root": 9000, "root.a": 6000}
		p := w.planner()
		p.Admit = func(dst resources.Vector, a *victims.Admission) (resources.Vector, bool) {
			dst = append(dst[:0], 0, test.lacks["gpu"])
			if lacks := test.lacks[a.Queue]; lacks > 0 {
				dst[0] = max(a.Used.At(0)-used[a.Queue]+1000*lacks, 0)
			}
			return dst, a.Queue == test.refuses
		}
		var d victims.Decision
		require.NoError(t, p.Decide(&d, &w.job, noon))
		got := d.Outcome.String() + " " + d.Refusal.Reason
		if d.Outcome != victims.Refused {
			got = w.brief(&d)
		}
		require.Equal(t, test.want, got, test.name)
		for _, v := range d.Plan.Victims {
			require.True(t, v.ForQuota, "%s: %s", test.name, v.Key)
		}
	}
}

// TestAdmit_Laws: whoever asks, the sums are those of the tasks below the queue, and of the
// queues each of the path is asked.
func TestAdmit_Laws(t *testing.T) { law.CheckMany(t, 300, admitHolds) }

func admitHolds(t *rapid.T) {
	h := newHarness(t, world.JobCases(world.Small.With(everything)).Draw(t, "case"))
	tree := h.cluster.Tree()
	path := slices.Collect(tree.Ancestors(h.job.Queue))
	at, without, with := 0, map[string]bool{}, map[string]bool{}
	inner := h.planner.Admit
	holds := slices.ContainsFunc(h.job.Members, func(m victims.Member) bool { // its grants are off when it is asked if they can start
		_, ok := h.cluster.LookupGrant(m.Key)
		return ok
	})
	h.planner.Admit = func(dst resources.Vector, a *victims.Admission) (resources.Vector, bool) {
		if a.Queue != tree.Path(path[at]) && at > 0 {
			at = 0
		}
		if a.Queue != tree.Path(path[at]) {
			t.Fatalf("%s is asked after %v\n%v", a.Queue, path[:at], h.c)
		}
		used, fixed := make(resources.Vector, len(a.Used)), make(resources.Vector, len(a.Used))
		for id := range h.cluster.Tasks() {
			v := h.cluster.TaskView(id)
			if leaves := v.State == victims.Releasing || v.State == victims.Marked; leaves && a.AfterLeaving || !tree.Contains(path[at], v.Queue) {
				continue
			}
			used = resources.Add(used, used, v.Size)
			if v.NonPreemptible {
				fixed = resources.Add(fixed, fixed, v.Size)
			}
		}
		at = (at + 1) % len(path)
		seen := without
		if a.AfterLeaving {
			seen = with
		}
		if !seen[a.Queue] && !holds { // later victims are off, and members on
			seen[a.Queue] = true
			if !resources.Equal(a.Used, used) || !resources.Equal(a.UsedNonPreemptible, fixed) {
				t.Fatalf("%s uses %v, %v: %v, %v by the tasks\n%v", a.Queue, a.Used, a.UsedNonPreemptible, used, fixed, h.c)
			}
		}
		if a.NonPreemptible != h.job.NonPreemptible {
			t.Fatalf("%v\n%v", a, h.c)
		}
		if inner == nil {
			return nil, false
		}
		return inner(dst, a)
	}
	h.decide("asked")
}
