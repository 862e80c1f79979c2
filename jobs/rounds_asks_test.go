// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// askWorld is rounds for asks: lent is on loan on two nodes of 8, n1 with s1 and
// s2 of 4, n2 with s3 of 8, and own is guaranteed all.
type askWorld struct {
	*testing.T
	cluster *victims.Cluster
	rounds  jobs.Rounds
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
	x.rounds.Cluster = x.cluster
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
	planner := victims.Planner{Cluster: x.cluster, Audit: true}
	ask := victims.Ask{Key: key, Queue: x.own, Size: resources.Vector{4}, PendingSince: minutes(-60)}
	var d victims.Decision
	require.NoError(x, planner.Decide(&d, &ask, minutes(0)))
	return &d
}

// begin begins the round of an ask whose plan takes one victim on n1.
func (x *askWorld) begin(key, victim string) {
	x.Helper()
	d := x.decide(key)
	require.Equal(x, victims.Preempts, d.Outcome)
	require.Len(x, d.Plan.Victims, 1)
	require.Equal(x, victim, d.Plan.Victims[0].Key)
	require.NoError(x, x.rounds.Begin(d.Plan.Change(), minutes(0), minutes(10)))
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

// A victim that does not go keeps its place at the deadline, and the ask may have
// another round.
func TestRoundsOfAsks_StuckVictim(t *testing.T) {
	x := newAskWorld(t)
	x.begin("a", "s1")
	require.Equal(t, victims.InFlight, x.decide("a").Refusal.Reason, "it stops nobody else meanwhile")
	require.Empty(t, x.rounds.Expire(minutes(9)))
	require.Equal(t, []jobs.End{
		{Job: "a", How: "expired", Back: []string{"s1"}, Dropped: []string{"a"}},
	}, x.rounds.Expire(minutes(10)))
	require.Equal(t, "running", x.state("s1"))
	x.begin("a", "s1")
}

// If nobody knows whether a victim goes, it counts as running again.
func TestRoundsOfAsks_LostConfirmation(t *testing.T) {
	x := newAskWorld(t)
	plan := x.decide("a").Plan
	x.begin("a", "s1")
	require.ErrorIs(t, x.rounds.Begin(plan.Change(), minutes(0), time.Time{}), jobs.ErrUnderWay)
	end, err := x.rounds.Fail("s1")
	require.NoError(t, err)
	require.Equal(t, jobs.End{Job: "a", How: "failed", Back: []string{"s1"}, Dropped: []string{"a"}}, end)
	require.Equal(t, "running", x.state("s1"))
	require.ErrorIs(t, x.rounds.Acknowledge("s1"), jobs.ErrVictim, "that comes too late")
}

// A node dies with the victim, and with the place that the ask was granted. The
// round goes on without it, and the ask is placed elsewhere.
func TestRoundsOfAsks_NodeDies(t *testing.T) {
	x := newAskWorld(t)
	x.begin("a", "s1")
	orphans, err := x.cluster.RemoveNode("n1")
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, orphans)
	require.NoError(t, x.cluster.RemoveTask("s1"))
	require.NoError(t, x.cluster.RemoveTask("s2"))
	end, err := x.rounds.Complete("a")
	require.NoError(t, err)
	require.Equal(t, []string{"s1"}, end.Gone)
	require.Empty(t, end.Held)
	x.begin("a", "s3")
}

// Somebody else puts a task into the place of a grant. It does not start there,
// and nobody is stopped for it as long as it is held.
func TestRoundsOfAsks_PlaceIsTaken(t *testing.T) {
	x := newAskWorld(t)
	x.begin("a", "s1")
	require.NoError(t, x.rounds.Acknowledge("s1"))
	x.add("intruder", "n1", 4)
	_, err := x.rounds.Complete("a")
	require.NoError(t, err)
	require.ErrorIs(t, x.cluster.Start("a", minutes(1)), victims.ErrRoom)
	require.Equal(t, victims.InFlight, x.decide("a").Refusal.Reason)
	_, err = x.rounds.Abandon("a")
	require.NoError(t, err)
	x.begin("a", "intruder")
}

// Of two grants on one node the first starts in whatever room comes first, that
// of the other's victim as well. Its own victim then makes room for the other.
func TestRoundsOfAsks_DifferentGraces(t *testing.T) {
	x := newAskWorld(t)
	x.begin("a", "s1")
	x.begin("b", "s2")
	require.NoError(t, x.rounds.Acknowledge("s2")) // b's victim is quick
	_, err := x.rounds.Complete("b")
	require.NoError(t, err)
	require.ErrorIs(t, x.cluster.Start("b", minutes(1)), victims.ErrRoom, "a comes before it")

	var w victims.Waiting
	require.NoError(t, x.cluster.Waiting(&w, "a"))
	require.Equal(t, []string{"s1"}, w.Victims)
	require.False(t, w.Needed)
	require.NoError(t, x.cluster.Start("a", minutes(1)))
	require.ErrorIs(t, x.cluster.Start("b", minutes(1)), victims.ErrRoom)
	_, err = x.rounds.Complete("a")
	require.ErrorIs(t, err, jobs.ErrLeaving)

	require.NoError(t, x.rounds.Acknowledge("s1"))
	end, err := x.rounds.Complete("a")
	require.NoError(t, err)
	require.Empty(t, end.Held, "it runs")
	require.NoError(t, x.cluster.Start("b", minutes(2)))
	require.Equal(t, "running running", x.state("a")+" "+x.state("b"))
}
