// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/jobs"
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
		{Name: "lend"}, {Name: "spare"}, {Name: "want", Guaranteed: resources.Limit{Value: amount(12), Defined: 1}, Policies: queue.Policies{PreemptionDelay: new(time.Duration(0))}},
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

// said tells outcome, reason, victims and who moves, and the proof if that is what changes, or what
// is wrong.
func (x *choice) said(d *victims.Decision, err error) string {
	if err != nil {
		return err.Error()
	}
	p := &d.Plan
	var keys []string
	for i := range p.Victims {
		keys = append(keys, p.Victims[i].Key)
	}
	text := fmt.Sprint(d.Outcome, d.Refusal.Reason, keys, len(p.Moves))
	if x.proofs {
		text += p.Proof.String()
	}
	return text
}

// ways are those in which something is decided: an ask, a gang of one and of two, several asks,
// and an ask and a gang for which tasks may move.
var ways = map[string]func(x *choice, o victims.Options) string{
	"ask":         func(x *choice, o victims.Options) string { return x.decide(o, 0) },
	"gang of one": func(x *choice, o victims.Options) string { return x.decide(o, 1) },
	"gang":        func(x *choice, o victims.Options) string { return x.decide(o, 2) },
	"together": func(x *choice, o victims.Options) string {
		asks := []victims.Ask{x.ask, x.ask}
		asks[1].Key = "ask-2"
		all, err := (&jobs.Planner{Cluster: x.c, Options: o}).DecideAll(nil, asks, optionsNow)
		if err != nil {
			return err.Error()
		}
		text := ""
		for i := range all {
			if d := &all[i]; d.Outcome == victims.Refused {
				text += d.Refusal.Reason
			} else {
				text += x.said(d, nil)
			}
		}
		return text
	},
	"move": func(x *choice, o victims.Options) string {
		o.Moves = cmp.Or(o.Moves, victims.MovesEntitled)
		return x.decide(o, 0)
	},
	"move, gang": func(x *choice, o victims.Options) string {
		o.Moves = cmp.Or(o.Moves, victims.MovesEntitled)
		return x.decide(o, 2)
	},
}

// decide decides the ask, with so many members.
func (x *choice) decide(o victims.Options, members int) string {
	ask := x.ask
	for i := range members {
		ask.Key = "gang"
		ask.Members = append(ask.Members, victims.Member{Key: fmt.Sprint("m", i)})
	}
	var d victims.Decision
	return x.said(&d, (&jobs.Planner{Cluster: x.c, Options: o}).Decide(&d, &ask, optionsNow))
}

// letMove lets all tasks move, the lent ones as a gang if they are to, to as many nodes more. The
// ask wants a whole node.
func (x *choice) letMove(t *testing.T, gang bool) {
	x.ask.Size = amount(4)
	for i := range 6 {
		_, err := x.c.AddNode(&victims.Node{Name: fmt.Sprint("more", i), Capacity: amount(1 + int64(i%2)*2)})
		require.NoError(t, err)
	}
	for id := range x.c.Tasks() {
		task := x.c.Task(id)
		if task.Movable = true; gang && task.Queue != x.want {
			task.Job = "lent"
		}
		_, err := x.c.SetTask(&task)
		require.NoError(t, err)
	}
	require.NoError(t, x.c.SetMinMembers("lent", 3))
}

// Every option has its effect on asks, gangs, several asks and moves. Those of quotas have theirs
// in package quota.
func TestOptions_HoldForAll(t *testing.T) {
	all := []string{"ask", "gang of one", "gang", "together", "move", "move, gang"}
	node := func(x *choice, n victims.NodeID) string { return x.c.NodeName(n) }
	type row struct {
		ways []string
		set  func(x *choice, o *victims.Options)
	}
	tests := map[string]row{
		"WithinQueue": {all, func(x *choice, o *victims.Options) {
			require.NoError(t, x.c.SetGuaranteed(x.want, resources.Limit{}))
			x.ask.Size = amount(1)
			o.WithinQueue = queue.Met
		}},
		"Scarce":         {all, func(x *choice, o *victims.Options) { o.Scarce = new(resources.Mask) }},
		"StrictPriority": {all, func(x *choice, o *victims.Options) { o.StrictPriority = true }},
		"ByPriority":     {[]string{"gang of one", "gang", "together", "move", "move, gang"}, func(x *choice, o *victims.Options) { o.ByPriority = true }},
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
		"Admit": {[]string{"gang of one", "gang", "together", "move", "move, gang"}, func(x *choice, o *victims.Options) {
			o.Admit = func(dst resources.Vector, _ *victims.Admission) (resources.Vector, bool) { return dst, true }
		}},
		"Moves": {all, func(x *choice, o *victims.Options) {
			require.NoError(t, x.c.SetGuaranteed(x.want, resources.Limit{}))
			x.letMove(t, false)
			o.Moves = victims.MovesAny
		}},
		"MaxMoved": {[]string{"move", "move, gang"}, func(x *choice, o *victims.Options) {
			x.letMove(t, true)
			o.MaxMoved = 1
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
	for c := range rulebook.NumCaps {
		tests[c.Entry().Option] = row{all, func(x *choice, o *victims.Options) {
			// On nodes of 6 it takes two with nothing in common to make room for 6.
			for _, n := range []string{"n4", "n5"} {
				_, err := x.c.AddNode(&victims.Node{Name: n, Capacity: amount(6)})
				require.NoError(t, err)
				for _, leaf := range []string{"lend", "spare"} {
					q, _ := x.c.Tree().Lookup("root." + leaf)
					_, err := x.c.AddTask(&victims.Task{Key: leaf + n, Queue: q, Application: leaf, NodeName: n, Size: amount(3)})
					require.NoError(t, err)
				}
			}
			x.ask.Size, *lent.To(o).Caps()[c] = amount(6), 1
		}}
	}
	elsewhere := []string{
		"NeverOvershoot", "Enforced", // package quota
		"Steps", "Audit", "Observe", // which change no plan here
	}
	for f := range reflect.TypeFor[victims.Options]().Fields() {
		if !f.IsExported() {
			continue
		}
		test, ok := tests[f.Name]
		require.NotEqual(t, ok, slices.Contains(elsewhere, f.Name), "%s has a test here or elsewhere", f.Name)
		for _, way := range test.ways {
			with := newChoice(t)
			var o victims.Options
			test.set(with, &o)
			without := newChoice(t)
			test.set(without, new(victims.Options))
			require.NotEqual(t, ways[way](without, victims.Options{}), ways[way](with, o), "%s: %s", way, f.Name)
		}
	}
}
