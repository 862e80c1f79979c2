package victims

import (
	"slices"

	"github.com/go-preempt/preempt/queue"
)

// A Help says what would help an ask that was refused. As long as nothing that
// it names happens, the answer stays a refusal, and nobody has to ask again. What
// it names need not be enough. See DESIGN.md, What would help.
//
// A host keeps the Help of each ask that waits ([Help.CopyFrom]), holds each
// event against it, and decides again after those that it names:
//
//   - A task or grant goes, shrinks or is told to stop: [Help.IfLess].
//   - A task or grant comes, grows, starts, or may stay after all: [Help.IfMore].
//     One that moves, to another queue too, goes and comes.
//   - A node is added, changed or removed: [Help.IfNode].
//   - A budget has more left, or is no longer hard: [Help.IfBudget].
//   - Time passes: Time.
//   - The host sets something: Bounds, Policies, Priorities and Labels. A new tree
//     is new bounds and new policies.
//
// What the host changes about the ask itself, its grant or the options of the
// planner is not named: after that it decides again in any case.
type Help struct {
	// Node is the only node on which room would help, by its name. AnyNode is set
	// if room would help on any, as far as the planner's Filter lets the ask run there.
	Node    string
	AnyNode bool
	// Less has queues in which less usage would help, and More those in which more
	// would: who is further over a guarantee has more to give. Queues below count too.
	Less, More []queue.ID
	// Budgets are the hard budgets in which more would help if it were left.
	Budgets []string
	// Time is set if time alone would help. Refusal.RetryAt says when, and is zero if
	// that is not known.
	Time bool
	// Bounds is set if another guarantee or max of some queue would help, and
	// Policies for other policies, offsets and delays. Priorities is set for other
	// priorities of tasks, and whatever else a task is beside its amounts,
	// queue and node. Labels is set for what the planner's functions answer
	// otherwise than before.
	Bounds, Policies, Priorities, Labels bool
}

// IfLess reports whether it is worth asking again after a task or a grant of a
// leaf has gone from a node, has shrunk there, or was told to stop.
func (h *Help) IfLess(c *Cluster, leaf queue.ID, node NodeID) bool {
	return h.IfNode(c.NodeName(node)) || anyAbove(c.tree, h.Less, leaf)
}

// IfMore reports whether it is worth asking again after a task or a grant of a
// leaf has come, grown, started, or is no longer told to stop.
func (h *Help) IfMore(c *Cluster, leaf queue.ID) bool { return anyAbove(c.tree, h.More, leaf) }

// IfNode reports whether it is worth asking again after a node was added, changed or
// removed.
func (h *Help) IfNode(name string) bool { return h.AnyNode || h.Node != "" && h.Node == name }

// IfBudget reports whether it is worth asking again after more is left in a budget,
// or it is no longer hard.
func (h *Help) IfBudget(name string) bool { return slices.Contains(h.Budgets, name) }

// anyAbove reports whether a leaf is one of some queues or below one.
func anyAbove(t *queue.Tree, queues []queue.ID, leaf queue.ID) bool {
	return slices.ContainsFunc(queues, func(q queue.ID) bool { return t.Contains(q, leaf) })
}

// CopyFrom makes h a copy of another one, in the memory of h.
func (h *Help) CopyFrom(from *Help) {
	less, more, budgets := h.Less[:0], h.More[:0], h.Budgets[:0]
	*h = *from
	h.Less, h.More = append(less, from.Less...), append(more, from.More...)
	h.Budgets = append(budgets, from.Budgets...)
}

// Anything makes h name all that can happen to a cluster, but for time: for a host that
// knows no better of an ask, or a job, that waits.
func (h *Help) Anything(c *Cluster) {
	h.AnyNode, h.Bounds, h.Policies, h.Priorities, h.Labels = true, true, true, true, true
	h.Less, h.More = append(h.Less[:0], queue.Root), append(h.More[:0], queue.Root)
	h.Budgets = h.Budgets[:0]
	for _, row := range c.budgetOrder {
		if b := &c.budgets[row]; b.hard {
			h.Budgets = append(h.Budgets, b.name)
		}
	}
}

// cleared returns a help that names nothing, with the memory of h.
func (h *Help) cleared() Help {
	return Help{Less: h.Less[:0], More: h.More[:0], Budgets: h.Budgets[:0]}
}

// A HelpReport is a [Help] for machines.
type HelpReport struct {
	Node       string   `json:"node,omitempty"`
	AnyNode    bool     `json:"anyNode,omitempty"`
	Less       []string `json:"less,omitempty"` // queues, like More
	More       []string `json:"more,omitempty"`
	Budgets    []string `json:"budgets,omitempty"`
	Time       bool     `json:"time,omitempty"`
	Bounds     bool     `json:"bounds,omitempty"`
	Policies   bool     `json:"policies,omitempty"`
	Priorities bool     `json:"priorities,omitempty"`
	Labels     bool     `json:"labels,omitempty"`
}

// Report returns what would help for machines. The cluster gives the names of queues.
func (h *Help) Report(c *Cluster) HelpReport {
	paths := func(queues []queue.ID) (names []string) {
		for _, q := range queues {
			names = append(names, c.tree.Path(q))
		}
		return names
	}
	return HelpReport{
		Node: h.Node, AnyNode: h.AnyNode, Less: paths(h.Less), More: paths(h.More),
		Budgets: slices.Clone(h.Budgets), Time: h.Time,
		Bounds: h.Bounds, Policies: h.Policies, Priorities: h.Priorities, Labels: h.Labels,
	}
}
