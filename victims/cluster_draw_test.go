// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"maps"
	"math"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

var (
	taskKeys  = []string{"a", "b", "c", "d", "e", "f", "g", "h", "", "i"}
	nodeNames = []string{"n1", "n2", "", "n3", "n4"}
	leapDay   = time.Date(2024, 2, 29, 12, 0, 0, 5, time.FixedZone("", 3600))
)

func drawKey(t *rapid.T) string { return rapid.SampledFrom(taskKeys).Draw(t, "key") }

func drawState(t *rapid.T) State {
	return rapid.SampledFrom([]State{
		Running, Running, Running, Releasing, Marked, Granted, Granted + 1, Running, Running, Running, Releasing, Marked,
	}).Draw(t, "state")
}

// drawTime draws times, some of which do not count as nanoseconds since 1970.
func drawTime(t *rapid.T) time.Time {
	times := slices.Repeat([]time.Time{leapDay, {}, time.Unix(0, 0), time.Unix(-5, 7), time.Unix(9e9, 0), time.Unix(-9e9, 0)}, 4)
	times[13], times[22] = leapDay.AddDate(1000, 0, 0), leapDay.AddDate(-1000, 0, 0)
	return rapid.SampledFrom(times).Draw(t, "time")
}

// drawAmounts draws amounts, some of which are none: negative ones, and of a
// type that there is not. Others are so large that few of them add up.
func drawAmounts(t *rapid.T) resources.Vector {
	v := rapid.SliceOfN(rapid.Int64Range(0, 5), 0, 2).Draw(t, "amounts")
	switch between(t, "kind", 0, 31) {
	case 11:
		v = append(v, -1)
	case 12:
		v = append(v, 0, 0, 0)
	case 13:
		v = append(v, 0, 0, 1)
	case 14, 15:
		v = append(v[:0], math.MaxInt64/2)
	case 16:
		v = append(v[:0], 3, math.MaxInt64)
	case 17:
		v = append(v[:0], math.MinInt64)
	}
	return v
}

func drawLimit(t *rapid.T) resources.Limit {
	return resources.Limit{Value: drawAmounts(t), Defined: resources.Mask(between(t, "defined", 0, 3) | between(t, "no type", 0, 9)/9*4)}
}

func drawNode(t *rapid.T) Node {
	return Node{
		Name:          rapid.SampledFrom(nodeNames).Draw(t, "name"),
		Capacity:      drawAmounts(t),
		Unschedulable: rapid.Bool().Draw(t, "unschedulable"),
		ReservedFor:   drawKey(t),
		Penalty:       rapid.Int64().Draw(t, "rank"),
		Domains:       rapid.SliceOfN(rapid.SampledFrom([]string{"b1", "b2", "r1"}), 0, 2).Draw(t, "domains"),
		Tag:           rapid.Uint64().Draw(t, "tag"),
	}
}

// drawOwnCost draws own costs, some of which are none.
func drawOwnCost(t *rapid.T) int64 {
	return rapid.SampledFrom([]int64{0, 0, 0, 1, 7, math.MaxInt64, 0, 3, -1}).Draw(t, "cost")
}

// budgetNames are of budgets that come and go; the last is never added.
var budgetNames = []string{"web", "api", "db", "", "none"}

// drawBudgets draws lists of names, some of which are unknown or stand twice.
func drawBudgets(t *rapid.T) []string {
	names := budgetNames[:3]
	if between(t, "wrong", 0, 9) == 9 {
		names = budgetNames
	}
	return rapid.SliceOfN(rapid.SampledFrom(names), 0, 2).Draw(t, "budgets")
}

// drawNodeID draws the row of a node, or one that no node has.
func (x *clusterMachine) drawNodeID(t *rapid.T) NodeID {
	ids := append(slices.Sorted(maps.Keys(x.m.rows)), -1, 0, 1, 2, 3)
	return rapid.SampledFrom(append(slices.Repeat(ids[:len(x.m.rows)], 10), ids...)).Draw(t, "node")
}

func drawQueue(t *rapid.T) queue.ID {
	queues := slices.Repeat([]queue.ID{2, 3, 4}, 10)
	copy(queues[11:], []queue.ID{0, 1, -1, 5})
	return rapid.SampledFrom(queues).Draw(t, "queue")
}

func (x *clusterMachine) drawTask(t *rapid.T) Task {
	ask := x.drawAsk(t)
	task := grantOfAsk(&ask, x.drawNodeID(t))
	task.State = drawState(t)
	if between(t, "by name", 0, 3) == 3 {
		task.NodeName = rapid.SampledFrom([]string{"n1", "n2", "n3", "n4"}).Draw(t, "name of the node")
	}
	task.Scheduled = drawTime(t)
	task.Checkpoint = drawTime(t)
	if between(t, "refused", 0, 9) == 9 {
		task.SparedUntil = drawTime(t)
	}
	return task
}

func (x *clusterMachine) drawAsk(t *rapid.T) Ask {
	return Ask{
		Key: drawKey(t), Application: drawKey(t), Queue: drawQueue(t), Size: drawAmounts(t),
		Priority: rapid.Int32().Draw(t, "priority"), PendingSince: drawTime(t),
		RequiredNode: rapid.SampledFrom(nodeNames).Draw(t, "required"),
		Originator:   rapid.Bool().Draw(t, "originator"), OptedOut: rapid.Bool().Draw(t, "opted out"),
		Job: drawKey(t), NonPreemptible: rapid.Bool().Draw(t, "non-preemptible"),
		Name: drawKey(t), Tag: rapid.Uint64Range(0, 3).Draw(t, "tag"), Cost: drawOwnCost(t), Budgets: drawBudgets(t),
		Movable: rapid.Bool().Draw(t, "movable"), Class: between(t, "class", -1, 1),
	}
}

// grantOfAsk is what an ask is as a granted task.
func grantOfAsk(a *Ask, node NodeID) Task {
	return Task{
		Key: a.Key, Application: a.Application, Queue: a.Queue, Node: node, Size: a.Size, Priority: a.Priority,
		Created: a.PendingSince, State: Granted, Originator: a.Originator, OptedOut: a.OptedOut,
		RequiredNode: a.RequiredNode != "", Job: a.Job, NonPreemptible: a.NonPreemptible,
		Name: a.Name, Tag: a.Tag, Cost: a.Cost, Budgets: a.Budgets, Movable: a.Movable, Class: a.Class,
	}
}
