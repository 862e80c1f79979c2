package victims

import (
	"fmt"
	"time"
)

// Grant gives an ask a place on a node: its amounts count as usage of its
// queue and of the node from now on. Grants are kept in the order in which they
// were given. The planner grants what it plans through [Cluster.Apply]; Grant is
// for callers that have placed an ask themselves. It checks no room; see
// [Cluster.Admits]. Errors are those of [Cluster.AddTask].
func (c *Cluster) Grant(a *Ask, node NodeID) (TaskID, error) {
	t := a.task(node)
	id, err := c.insert(&t)
	if err == nil {
		c.changed()
	}
	return id, err
}

// task returns the ask as a granted task on a node.
func (a *Ask) task(node NodeID) Task {
	return Task{
		Key: a.Key, Application: a.Application, Queue: a.Queue, Node: node,
		Size: a.Size, Priority: a.Priority, Created: a.PendingSince, State: Granted,
		Originator: a.Originator, OptedOut: a.OptedOut, RequiredNode: a.RequiredNode != "",
		Job: a.Job, NonPreemptible: a.NonPreemptible,
		Name: a.Name, Tag: a.Tag, Cost: a.Cost, Budgets: a.Budgets,
	}
}

// Drop takes the grant of an ask back. Without one the error wraps ErrUnknown.
func (c *Cluster) Drop(key string) error {
	id, err := c.grantByKey(key)
	if err != nil {
		return err
	}
	node := c.tasks[id].node
	c.delete(id)
	c.leaveNode(node)
	c.changed()
	return nil
}

// Start turns the grant of an ask into a running task that was scheduled now.
// It checks no room: the caller has waited for the victims, or asks
// [Planner.Decide] whether it fits. See [Cluster.StartIfRoom] for what does.
// Without a grant the error wraps ErrUnknown.
func (c *Cluster) Start(key string, now time.Time) error {
	id, err := c.grantByKey(key)
	if err != nil {
		return err
	}
	return c.start(id, now)
}

// StartIfRoom is [Cluster.Start] for a grant that may wait still. It starts only
// if it fits its node and every max above it, without the grants that were given
// on that node after it; see DESIGN.md, Grants. Else the error wraps [ErrRoom].
// A planner's Blockers and Predicate are not asked. The cost is linear in the
// tasks of the node.
func (c *Cluster) StartIfRoom(key string, now time.Time) error {
	id, err := c.grantByKey(key)
	if err != nil {
		return err
	}
	if !c.grantFits(id) {
		return fmt.Errorf("victims: start of %q on node %q: %w", key, c.nodes[c.tasks[id].node].name, ErrRoom)
	}
	return c.start(id, now)
}

func (c *Cluster) start(id TaskID, now time.Time) error {
	ns, ok := nanos(now)
	if !ok {
		return fmt.Errorf("victims: start of %q: %v: %w", c.tasks[id].key, now, ErrRange)
	}
	c.dropGrant(c.tasks[id].scheduled)
	c.setState(id, Running)
	r := &c.tasks[id]
	r.scheduled = ns
	r.flags = r.flags.set(flagScheduled, true)
	c.changed()
	return nil
}
