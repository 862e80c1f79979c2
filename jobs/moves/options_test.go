// SPDX-License-Identifier: Apache-2.0

package moves_test

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/jobs/moves"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A choice is a cluster of three nodes of 4, each with a task of 4 of a queue that lends, and
// one of 1 of the queue that asks: who stops depends on what is set.
type choice struct {
	c    *victims.Cluster
	want queue.ID
	ask  victims.Ask // of 3; there is room for it on no node

	proofs bool // they are told
}

func amount(n int64) resources.Vector { return resources.Vector{n} }

func newChoice(t *testing.T) *choice {
	types, err := resources.NewSchema("gpu")
	require.NoError(t, err)
	tree, err := queue.New(types, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "lend"}, {Name: "want", Guaranteed: resources.Limit{Value: amount(12), Defined: 1}, Policies: queue.Policies{PreemptionDelay: new(time.Duration(0))}},
	}})
	require.NoError(t, err)
	x := &choice{c: victims.NewCluster(tree)}
	lend, _ := tree.Lookup("root.lend")
	x.want, _ = tree.Lookup("root.want")
	for i, n := range []string{"n1", "n2", "n3"} {
		_, err := x.c.AddNode(&victims.Node{Name: n, Capacity: amount(4)})
		require.NoError(t, err)
		// The first is the youngest, and costs most of its own.
		for _, task := range []victims.Task{
			{Key: fmt.Sprint("lent-", n), Queue: lend, Size: amount(3), Cost: []int64{2, 0, 1}[i], Scheduled: optionsNow.Add(-time.Duration(1+i) * time.Hour)},
			{Key: fmt.Sprint("own-", n), Queue: x.want, Size: amount(1), Priority: -1, Application: "app"},
		} {
			task.NodeName = n
			_, err := x.c.AddTask(&task)
			require.NoError(t, err)
		}
	}
	x.ask = victims.Ask{Key: "ask", Queue: x.want, Size: amount(3), LastAttempt: optionsNow.Add(-time.Minute)}
	return x
}

var optionsNow = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// said tells outcome, reason and victims, and the proof if that is what changes.
func (x *choice) said(o victims.Outcome, reason string, list []victims.Victim, proof victims.Proof) string {
	var keys []string
	if !x.proofs {
		proof = victims.NoProof
	}
	for i := range list {
		keys = append(keys, list[i].Key)
	}
	return fmt.Sprint(o, reason, keys, proof)
}

// ways are those in which something is decided: an ask, a gang of one and of two, several asks,
// and an ask for which tasks may move.
var ways = map[string]func(t *testing.T, x *choice, o victims.Options) string{
	"ask": func(t *testing.T, x *choice, o victims.Options) string {
		var d victims.Decision
		require.NoError(t, (&victims.Planner{Cluster: x.c, Options: o}).Decide(&d, &x.ask, optionsNow))
		return x.said(d.Outcome, d.Refusal.Reason, d.Plan.Victims, d.Plan.Proof)
	},
	"gang of one": func(t *testing.T, x *choice, o victims.Options) string { return x.gang(t, o, 1) },
	"gang":        func(t *testing.T, x *choice, o victims.Options) string { return x.gang(t, o, 2) },
	"together": func(t *testing.T, x *choice, o victims.Options) string {
		asks := []victims.Ask{x.ask, x.ask}
		asks[1].Key = "ask-2"
		all, err := (&jobs.Planner{Cluster: x.c, Options: o}).DecideAll(nil, asks, optionsNow)
		require.NoError(t, err)
		text := ""
		for i := range all {
			if d := &all[i]; d.Outcome == victims.Refused {
				text += d.Refusal.Reason
			} else {
				text += x.said(d.Outcome, "", d.Plan.Victims, d.Plan.Proof)
			}
		}
		return text
	},
	"move": func(t *testing.T, x *choice, o victims.Options) string {
		p := moves.Planner{Asks: &victims.Planner{Cluster: x.c, Options: o}}
		var d victims.Decision
		plan, err := p.Decide(&d, &x.ask, optionsNow)
		require.NoError(t, err)
		return x.said(d.Outcome, d.Refusal.Reason, d.Plan.Victims, d.Plan.Proof) + fmt.Sprint(len(plan.Moves))
	},
}

func (x *choice) gang(t *testing.T, o victims.Options, members int) string {
	job := x.ask
	job.Key = "gang"
	for i := range members {
		job.Members = append(job.Members, victims.Member{Key: fmt.Sprint("m", i)})
	}
	var d victims.Decision
	require.NoError(t, (&jobs.Planner{Cluster: x.c, Options: o}).Decide(&d, &job, optionsNow))
	return x.said(d.Outcome, d.Refusal.Reason, d.Plan.Victims, d.Plan.Proof)
}

// Every option has its effect on asks, gangs, several asks and moves. Those of quotas have theirs
// in package quota.
func TestOptions_HoldForAll(t *testing.T) {
	all := []string{"ask", "gang of one", "gang", "together", "move"}
	node := func(x *choice, n victims.NodeID) string { return x.c.NodeName(n) }
	tests := map[string]struct {
		ways []string
		set  func(x *choice, o *victims.Options)
	}{
		"WithinQueue": {all, func(x *choice, o *victims.Options) {
			require.NoError(t, x.c.SetGuaranteed(x.want, resources.Limit{}))
			x.ask.Size = amount(1)
			o.WithinQueue = queue.Met
		}},
		"Scarce":         {all, func(x *choice, o *victims.Options) { o.Scarce = new(resources.Mask) }},
		"StrictPriority": {all, func(x *choice, o *victims.Options) { o.StrictPriority = true }},
		"ByPriority":     {[]string{"gang of one", "gang", "together"}, func(x *choice, o *victims.Options) { o.ByPriority = true }},
		"VictimsOnNode": {all, func(x *choice, o *victims.Options) {
			// There is a free node, the only one that is large enough, and no headroom.
			_, err := x.c.AddNode(&victims.Node{Name: "n4", Capacity: amount(10)})
			require.NoError(t, err)
			require.NoError(t, x.c.SetMax(queue.Root, resources.Limit{Value: amount(13), Defined: 1}))
			x.ask.Size = amount(5)
			o.VictimsOnNode = true
		}},
		"TakeOwnApplication": {[]string{"ask", "move"}, func(x *choice, o *victims.Options) {
			x.ask.RequiredNode, x.ask.Application, x.ask.Size = "n1", "app", amount(1)
			o.TakeOwnApplication = true
		}},
		"RetryInterval": {all, func(x *choice, o *victims.Options) { o.RetryInterval = time.Hour }},
		"Filter": {all, func(x *choice, o *victims.Options) {
			o.Filter = func(q *victims.Question) bool {
				return node(x, q.Node) != "n2" && q.Ask != nil && q.Member != nil && q.Cluster != nil
			}
		}},
		"Exempt": {all, func(x *choice, o *victims.Options) {
			o.Exempt = func(q *victims.Question) (time.Time, bool) {
				return time.Time{}, q.Member != nil && q.Ask.Queue == x.want && q.Cluster.Key(q.Task) == "lent-n2"
			}
		}},
		"Blockers": {all, func(x *choice, o *victims.Options) {
			// It is of the queue that asks, so nobody may stop it.
			own, _ := x.c.Lookup("own-n2")
			o.Blockers = func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
				if node(x, q.Node) == "n2" && q.Member != nil {
					dst = append(dst, own)
				}
				return dst
			}
		}},
		"Predicate": {all, func(x *choice, o *victims.Options) {
			o.Predicate = func(q *victims.Question) bool { return node(x, q.Node) != "n2" && q.Member != nil && q.Ask != nil }
		}},
		"Admit": {[]string{"gang of one", "gang", "together"}, func(x *choice, o *victims.Options) {
			o.Admit = func(dst resources.Vector, _ *victims.Admission) (resources.Vector, bool) { return dst, true }
		}},
		"Stop": {all, func(x *choice, o *victims.Options) {
			x.proofs = true
			o.Stop = func() bool { return true }
		}},
		"Levels": {all, func(x *choice, o *victims.Options) { o.Levels = []string{"work"} }},
		"Compare": {all, func(x *choice, o *victims.Options) {
			o.Compare = func(a, b *victims.Cost) int { return cmp.Or(a.Victims-b.Victims, b.Own.Compare(a.Own)) }
		}},
	}
	elsewhere := []string{
		"NeverOvershoot", "Enforced", // package quota
		"Steps", "Audit", "Observe", // which change no plan here
	}
	for f := range reflect.TypeFor[victims.Options]().Fields() {
		test, ok := tests[f.Name]
		require.NotEqual(t, ok, slices.Contains(elsewhere, f.Name), "%s has a test here or elsewhere", f.Name)
		for _, way := range test.ways {
			with := newChoice(t)
			var o victims.Options
			test.set(with, &o)
			without := newChoice(t)
			test.set(without, new(victims.Options))
			require.NotEqual(t, ways[way](t, without, victims.Options{}), ways[way](t, with, o), "%s: %s", way, f.Name)
		}
	}
}
