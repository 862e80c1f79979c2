// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"cmp"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// takeOver gives a refused ask the room that was granted to pods of lower priority on
// one node, and has these tried again at once. It does so only if there is one queue:
// between queues a place that was granted is kept.
func (c *core) takeOver(ask *victims.Ask, now time.Time) error {
	d := &c.decision
	if !c.queues().plain || ask.MayNot || d.Outcome != victims.Refused || d.Refusal.Reason == victims.InFlight {
		return nil
	}
	for _, k := range c.yielding(ask) {
		c.drop(k, dropped)
		if c.lister != nil {
			if pod := c.pod(k); pod != nil {
				c.wake([]*v1.Pod{pod}, time.Millisecond)
			}
		}
		if err := c.planner.Decide(d, ask, now); err != nil || d.Outcome != victims.Refused {
			return err
		}
	}
	return nil
}

// yielding returns the keys of the grants on one node that an ask is above, the lowest
// priority first. There the ask would have room without all that it is above.
func (c *core) yielding(ask *victims.Ask) (keys []string) {
	var lower []victims.Task
	for id := range c.cluster.Grants() {
		if t := c.cluster.Task(id); isAbove(ask, &t) {
			lower = append(lower, t)
		}
	}
	slices.SortStableFunc(lower, func(a, b victims.Task) int { return cmp.Compare(a.Priority, b.Priority) })
	for i := range lower {
		n := lower[i].Node
		if !c.cycle.mayRun(n) || !c.hasRoomAbove(ask, n) {
			continue
		}
		for j := range lower {
			if lower[j].Node == n {
				keys = append(keys, lower[j].Key)
			}
		}
		return keys
	}
	return nil
}

// hasRoomAbove reports whether a node has room for an ask without all that it is above.
func (c *core) hasRoomAbove(ask *victims.Ask, n victims.NodeID) bool {
	room := c.cluster.ComingFree(nil, n)
	for id := range c.cluster.TasksOn(n) {
		t := c.cluster.TaskView(id)
		if (t.State == victims.Running || t.State == victims.Granted) && isAbove(ask, &t) {
			room = resources.Add(room, room, t.Size)
		}
	}
	for i, a := range ask.Size {
		if a > 0 && a > room[i] {
			return false
		}
	}
	return true
}

// isAbove reports whether an ask may have the room of a task by priority alone. A gang
// keeps the places that it was granted.
func isAbove(ask *victims.Ask, t *victims.Task) bool {
	return t.Priority < ask.Priority && (t.State != victims.Granted || t.Job == "")
}
