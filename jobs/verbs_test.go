// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// askWorld is for asks and what becomes of them: lent is on loan on two nodes of 8, n1 with s1 and
// s2 of 4, n2 with s3 of 8, and own is guaranteed all.
type askWorld struct {
	*testing.T
	cluster *victims.Cluster
	own     queue.ID
}

func newAskWorld(t *testing.T) *askWorld {
	t.Helper()
	schema, err := resources.NewSchema("slots")
	require.NoError(t, err)
	all := resources.Limit{Value: resources.Vector{16}, Defined: 1}
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "lent"}, {Name: "own", Guaranteed: all},
	}})
	require.NoError(t, err)
	x := &askWorld{T: t, cluster: victims.NewCluster(tree)}
	x.own, _ = tree.Lookup("root.own")
	for _, name := range []string{"n1", "n2"} {
		_, err := x.cluster.AddNode(&victims.Node{Name: name, Capacity: resources.Vector{8}})
		require.NoError(t, err)
	}
	x.add("s1", "n1", 4)
	x.add("s2", "n1", 4)
	x.add("s3", "n2", 8)
	return x
}

// add adds a task of lent.
func (x *askWorld) add(key, node string, size int64) {
	x.Helper()
	lent, _ := x.cluster.Tree().Lookup("root.lent")
	_, err := x.cluster.AddTask(&victims.Task{
		Key: key, Queue: lent, NodeName: node, Size: resources.Vector{size}, Scheduled: minutes(-60),
	})
	require.NoError(x, err)
}

// decide decides an ask of own for 4.
func (x *askWorld) decide(key string) *victims.Decision {
	x.Helper()
	planner := jobs.Planner{Cluster: x.cluster, Options: victims.Options{Audit: true}}
	ask := victims.Ask{Key: key, Queue: x.own, Size: resources.Vector{4}, PendingSince: minutes(-60)}
	var d victims.Decision
	require.NoError(x, planner.Decide(&d, &ask, minutes(0)))
	return &d
}

// begin applies the plan of an ask, which takes one victim.
func (x *askWorld) begin(key, victim string) {
	x.Helper()
	d := x.decide(key)
	require.Equal(x, victims.Preempts, d.Outcome)
	require.Len(x, d.Plan.Victims, 1)
	require.Equal(x, victim, d.Plan.Victims[0].Key)
	require.NoError(x, x.cluster.Apply(d))
	_, held := x.cluster.LookupGrant(key)
	require.True(x, held)
}

// state returns what a task is doing; "" if it has gone.
func (x *askWorld) state(key string) string {
	id, there := x.cluster.Lookup(key)
	if !there {
		return ""
	}
	return x.cluster.State(id).String()
}

// A victim that does not go keeps its place once the grace is over, and the ask may have
// another plan.
func TestVerbs_StuckVictim(t *testing.T) {
	x := newAskWorld(t)
	x.begin("a", "s1")
	require.Equal(t, victims.InFlight, x.decide("a").Refusal.Reason, "it stops nobody else meanwhile")
	g, _ := x.cluster.Grant("a")
	require.Equal(t, minutes(0), g.Since)
	unmarked, err := x.cluster.Cancel("a")
	require.NoError(t, err)
	require.Equal(t, []string{"s1"}, unmarked)
	require.Equal(t, "running", x.state("s1"))
	x.begin("a", "s1")
}

// A node dies with the victim, and with the place that the ask was granted, which is placed
// elsewhere.
func TestVerbs_NodeDies(t *testing.T) {
	x := newAskWorld(t)
	x.begin("a", "s1")
	orphans, err := x.cluster.RemoveNode("n1")
	require.NoError(t, err)
	require.Equal(t, []victims.Orphan{{Ask: "a"}}, orphans)
	_, held := x.cluster.Grant("a")
	require.False(t, held)
	require.Equal(t, "preempting", x.state("s1"), "it was told")
	x.begin("a", "s3")
}

// Somebody else puts a task into the place of a grant. It does not start there,
// and nobody is stopped for it as long as it is held.
func TestVerbs_PlaceIsTaken(t *testing.T) {
	x := newAskWorld(t)
	x.begin("a", "s1")
	require.NoError(t, x.cluster.RemoveTask("s1"))
	x.add("intruder", "n1", 4)
	require.EqualError(t, x.cluster.Start("a", minutes(1)), `victims: start of "a": "a" on node "n1": no room`)
	require.Equal(t, victims.InFlight, x.decide("a").Refusal.Reason)
	require.NoError(t, x.cluster.Drop("a"))
	x.begin("a", "intruder")
}

// Of two grants on one node the first starts in whatever room comes first, that
// of the other's victim as well. Its own victim then makes room for the other.
func TestVerbs_DifferentGraces(t *testing.T) {
	x := newAskWorld(t)
	x.begin("a", "s1")
	x.begin("b", "s2")
	require.NoError(t, x.cluster.RemoveTask("s2")) // b's victim is quick
	require.ErrorIs(t, x.cluster.Start("b", minutes(1)), victims.ErrRoom, "a comes before it")

	g, _ := x.cluster.Grant("a")
	require.Equal(t, []string{"s1"}, g.Leaving)
	require.True(t, g.Ready)
	require.NoError(t, x.cluster.Start("a", minutes(1)))
	require.ErrorIs(t, x.cluster.Start("b", minutes(1)), victims.ErrRoom)
	require.NoError(t, x.cluster.RemoveTask("s1"))
	started, err := x.cluster.StartReady(minutes(2), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, started)
	require.Equal(t, "running running", x.state("a")+" "+x.state("b"))
}

// Who waits for another's victim, and has none, keeps that from running on.
func TestVerbs_CancelKeepsWhatOthersNeed(t *testing.T) {
	x := newAskWorld(t)
	x.begin("a", "s1")
	require.NoError(t, x.cluster.SetState("s2", victims.Releasing))
	require.Equal(t, victims.Waits, x.decide("b").Outcome)
	require.NoError(t, x.cluster.Apply(x.decide("b")))
	require.NoError(t, x.cluster.SetState("s2", victims.Running)) // it does not end after all
	unmarked, err := x.cluster.Cancel("a")
	require.NoError(t, err)
	require.Empty(t, unmarked, "b takes the room of s1")
	require.NoError(t, x.cluster.RemoveTask("s1"))
	require.NoError(t, x.cluster.Start("b", minutes(1)))
}

// minutes is an instant after noon.
func minutes(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }

// gangWorld is a job of two members of 4, which takes a task of two nodes each, under a max.
func gangWorld(t *testing.T) (*victims.Cluster, *victims.Ask) {
	t.Helper()
	schema, err := resources.NewSchema("slots")
	require.NoError(t, err)
	eight := resources.Limit{Value: resources.Vector{8}, Defined: 1}
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "lent"}, {Name: "own", Guaranteed: eight, Max: eight},
	}})
	require.NoError(t, err)
	c := victims.NewCluster(tree)
	lent, _ := tree.Lookup("root.lent")
	own, _ := tree.Lookup("root.own")
	for _, name := range []string{"n1", "n2"} {
		require.NoError(t, law.ErrOf(c.AddNode(&victims.Node{Name: name, Capacity: resources.Vector{4}})))
		require.NoError(t, law.ErrOf(c.AddTask(&victims.Task{
			Key: "of " + name, Queue: lent, NodeName: name, Size: resources.Vector{4}, Scheduled: minutes(-60),
		})))
	}
	job := &victims.Ask{Key: "llm", Queue: own, PendingSince: minutes(-60), Members: []victims.Member{
		{Key: "llm-0", Size: resources.Vector{4}}, {Key: "llm-1", Size: resources.Vector{4}},
	}}
	p := jobs.Planner{Cluster: c}
	var d victims.Decision
	require.NoError(t, p.Decide(&d, job, minutes(0)))
	require.NoError(t, c.Apply(&d))
	return c, job
}

// A gang starts as a whole, and keeps its minimum by itself.
func TestVerbs_Gang(t *testing.T) {
	c, job := gangWorld(t)
	require.Equal(t, 2, c.MinMembers("llm"))
	g, _ := c.Grant("llm")
	require.Equal(t, []string{"of n1", "of n2"}, g.Leaving)
	require.Equal(t, minutes(0), g.Since)
	require.False(t, g.Ready)
	_, alone := c.Grant("llm-0")
	require.False(t, alone)
	require.NoError(t, c.RemoveTask("of n1"))
	require.EqualError(t, c.Start("llm", minutes(1)), `victims: start of "llm": "llm-1" on node "n2": no room`)
	half := c.Start("llm-0", minutes(1))
	require.ErrorIs(t, half, victims.ErrUnknown, "no half of it starts")
	require.EqualError(t, half, `victims: start of "llm-0": it is a member of "llm", which holds the grants: unknown`)
	require.NoError(t, c.RemoveTask("of n2"))

	// Somebody else uses the queue.
	lent, _ := c.Tree().Lookup("root.lent")
	require.NoError(t, law.ErrOf(c.AddNode(&victims.Node{Name: "n3", Capacity: resources.Vector{4}})))
	require.NoError(t, law.ErrOf(c.AddTask(&victims.Task{Key: "more", Queue: job.Queue, NodeName: "n3", Size: resources.Vector{1}})))
	require.EqualError(t, c.Start("llm", minutes(1)), `victims: start of "llm": "llm-0" under the max of root.own in slots: no room`)
	require.NoError(t, c.RemoveTask("more"))
	may := func(task *victims.Task) bool { return task.Key != "llm-1" }
	started, err := c.StartReady(minutes(1), may)
	require.NoError(t, err)
	require.Empty(t, started)
	require.NoError(t, c.Start("llm", minutes(1)))

	// It goes as a whole.
	asks := jobs.Planner{Cluster: c, Options: victims.Options{Audit: true}}
	require.NoError(t, c.SetGuaranteed(job.Queue, resources.Limit{}))
	require.NoError(t, c.SetGuaranteed(lent, resources.Limit{Value: resources.Vector{8}, Defined: 1}))
	require.NoError(t, law.ErrOf(c.RemoveNode("n3")))
	var d victims.Decision
	ask := &victims.Ask{Key: "x", Queue: lent, Size: resources.Vector{4}, PendingSince: minutes(-60)}
	require.NoError(t, asks.Decide(&d, ask, minutes(2)))
	require.Len(t, d.Plan.Victims, 2)
	require.NoError(t, c.RemoveTask("llm-0"))
	require.NoError(t, c.RemoveTask("llm-1"))
	require.Zero(t, c.MinMembers("llm"))
}

// A gang that lost a place does not start without it, and is planned for the rest. A dead node
// may be listed still.
func TestVerbs_GangLosesAPlace(t *testing.T) {
	t.Run("gone", func(t *testing.T) { losesAPlace(t, (*victims.Cluster).RemoveNode) })
	t.Run("listed", func(t *testing.T) {
		losesAPlace(t, func(c *victims.Cluster, name string) ([]victims.Orphan, error) {
			_, err := c.DropOn("n9")
			require.EqualError(t, err, `victims: node "n9": unknown`)
			require.NoError(t, c.UpdateNode(&victims.Node{Name: name, Capacity: resources.Vector{4}, Unschedulable: true}))
			defer func() {
				version := c.Version()
				none, err := c.DropOn(name)
				require.NoError(t, err)
				require.Empty(t, none)
				require.Equal(t, version, c.Version())
				_, there := c.LookupNode(name)
				require.True(t, there)
			}()
			return c.DropOn(name)
		})
	})
}

func losesAPlace(t *testing.T, lose func(c *victims.Cluster, node string) ([]victims.Orphan, error)) {
	c, job := gangWorld(t)
	require.NoError(t, c.RemoveTask("of n1"))
	p := jobs.Planner{Cluster: c}
	var d victims.Decision
	require.NoError(t, p.Decide(&d, job, minutes(1)))
	require.Equal(t, victims.InFlight, d.Refusal.Reason, "all places are held")
	orphans, err := lose(c, "n2")
	require.NoError(t, err)
	require.Equal(t, []victims.Orphan{{Ask: "llm", Member: "llm-1"}}, orphans)
	require.EqualError(t, c.Start("llm", minutes(1)), `victims: start of "llm": 1 members run or hold a grant, and it needs 2: no room`)
	require.NoError(t, law.ErrOf(c.AddNode(&victims.Node{Name: "n3", Capacity: resources.Vector{4}})))
	require.NoError(t, p.Decide(&d, job, minutes(2)))
	require.Equal(t, victims.Fits, d.Outcome)
	require.Len(t, d.Plan.Places, 1)
	require.Equal(t, 1, d.Plan.Places[0].Member)
	require.NoError(t, c.Apply(&d))
	g, _ := c.Grant("llm")
	require.Equal(t, minutes(2), g.Since)
	require.Len(t, g.Places, 2)
	require.NoError(t, p.Decide(&d, job, minutes(3)))
	require.Equal(t, victims.Fits, d.Outcome, "all places are held, and free")
	version := c.Version()
	require.NoError(t, c.Apply(&d))
	require.Equal(t, version, c.Version(), "that plan has nothing new")
	again, _ := c.Grant("llm")
	require.Equal(t, g, again)
	require.NoError(t, c.Undo())
	again, _ = c.Grant("llm")
	require.Equal(t, g, again, "what is undone is that plan alone")
	require.NoError(t, c.Start("llm", minutes(2)))
}

// A victim elsewhere may be leaving still, unless it is for an allowance or a max is short.
func TestVerbs_Elsewhere(t *testing.T) {
	const gang = "node n1 4\nnode n2 4\nkeep g 2\n" +
		"task near low n1 4 job=g\ntask far low n2 4 job=g\njob q 4"
	for _, test := range []struct {
		town    string
		outcome victims.Outcome // of a decision once near has gone
		want    string
	}{
		{"queue q\nqueue low\n" + gang, victims.Fits, ""},
		{"queue root max=7\nqueue q\nqueue low\n" + gang, victims.Refused, `victims: start of "j": "j0" under the max of root in cpu: no room`},
		{"queue root quota=4:7\nqueue q\nqueue low\n" + gang + " fixed", victims.Refused, `victims: start of "j": "far" has not gone: no room`},
	} {
		w := build(t, test.town)
		d := w.decide()
		require.Equal(t, "plan j0=n1 -far! -near!", w.brief(d))
		require.NoError(t, w.cluster.Apply(d))
		require.NoError(t, w.cluster.RemoveTask("near"))
		var text bytes.Buffer
		require.NoError(t, w.cluster.Save(&text))
		loaded, err := victims.Load(&text)
		require.NoError(t, err)

		again := w.decide()
		if again.Outcome == victims.Refused {
			require.Equal(t, "in-flight", again.Refusal.Reason)
		}
		require.Equal(t, test.outcome == victims.Fits, again.Outcome == victims.Fits, "as a decision has it")
		for _, c := range []*victims.Cluster{w.cluster, loaded} {
			g, _ := c.Grant("j")
			require.Equal(t, []string{"far"}, g.Leaving)
			require.Equal(t, test.want == "", g.Ready)
			if test.want != "" {
				require.EqualError(t, c.Start("j", noon), test.want)
				require.NoError(t, c.RemoveTask("far"))
			}
			require.NoError(t, c.Start("j", noon))
			if far, there := c.Lookup("far"); there {
				require.Equal(t, victims.Marked, c.State(far), "it stays marked")
			}
		}
	}
}

// What is granted a node of which a sync met a bad size does not fit there, as it could not start.
func TestDecide_GrantOnClosedNode(t *testing.T) {
	w := build(t, "queue q g=9\nnode n1 4\nnode n2 4\njob q 2,2")
	lone := victims.Ask{Key: "lone", Queue: w.job.Queue, Size: resources.Vector{1}}
	p := w.entitled()
	p.Admit = nil
	var d victims.Decision
	for _, ask := range []*victims.Ask{&lone, &w.job} {
		require.NoError(t, p.Decide(&d, ask, noon))
		require.NoError(t, w.cluster.Apply(&d))
	}
	_, err := w.cluster.SyncNode("n1", []victims.Task{{Key: "odd", Queue: w.job.Queue, Size: resources.Vector{-1}}})
	require.NoError(t, err)
	decides := func(want victims.Outcome) {
		for _, ask := range []*victims.Ask{&lone, &w.job} {
			require.NoError(t, p.Decide(&d, ask, noon))
			require.Equal(t, want, d.Outcome)
			require.Empty(t, (&victims.Auditor{Cluster: w.cluster, Options: p.Options}).Audit(nil, &d, noon))
			g, _ := w.cluster.Grant(ask.Key)
			require.Equal(t, want == victims.Fits, g.Ready)
		}
	}
	decides(victims.Refused)
	require.Equal(t, victims.InFlight, d.Refusal.Reason)
	_, err = w.cluster.SyncNode("n1", nil)
	require.NoError(t, err)
	decides(victims.Fits)
}
