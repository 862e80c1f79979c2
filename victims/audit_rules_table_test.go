// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"slices"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// auditRows are all plans that tests of the audit know by hand.
func auditRows() []auditRow {
	return slices.Concat(auditTable, auditNodeTable, auditGangTable, auditBudgetTable, auditOwnLeafTable, auditCaps())
}

// auditCaps are plans within each cap, and beyond it by two tasks with nothing in common.
func auditCaps() (rows []auditRow) {
	for limit := range rulebook.NumCaps {
		e, set := limit.Entry(), func(c *auditCase) { *lent.To(&c.auditor.Options).Caps()[limit] = 1 }
		rows = append(rows, auditRow{name: e.Word + ": as many as may go", edit: set}, auditRow{
			name: e.Word + ": one too many",
			edit: func(c *auditCase) {
				set(c)
				c.lendX.Guaranteed, c.task("v1").Application = resources.Limit{}, "r"
				c.ask.Size[0], c.victims = 6, []string{"v1", "w"}
			},
			want: []string{e.Word + ": 2 " + e.Noun + "s, want at most 1"},
		})
	}
	return rows
}

// accepts returns a filter that lets asks run on one node only.
func accepts(c *auditCase, name string) func(*victims.Question) bool {
	n := slices.IndexFunc(c.nodes, func(n victims.Node) bool { return n.Name == name })
	return func(q *victims.Question) bool { return int(q.Node) == 1+n }
}

// block makes tasks, or grants after them, block asks on their node. Rows are
// in the order of adding.
func (c *auditCase) block(keys ...string) {
	var rows []victims.TaskID
	for _, key := range keys {
		row := slices.IndexFunc(c.tasks, func(t auditTask) bool { return t.Key == key })
		if row < 0 {
			row = len(c.tasks) + slices.IndexFunc(c.grants, func(g auditGrant) bool { return g.Key == key })
		}
		rows = append(rows, victims.TaskID(row))
	}
	c.auditor.Blockers = func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
		if q.Node == 1 {
			dst = append(dst, rows...)
		}
		return dst
	}
}

// auditNodeTable is about the filter and about blockers.
var auditNodeTable = []auditRow{
	{
		name: "filter: the node is the one",
		edit: func(c *auditCase) { c.auditor.Filter = accepts(c, "n1") },
	},
	{
		name: "filter: another node",
		edit: func(c *auditCase) { c.auditor.Filter = accepts(c, "n2") },
		want: []string{`filter: node n1: refused by the filter`},
	},
	{
		name: "filter: without victims, too",
		edit: func(c *auditCase) {
			c.nodes[0].Capacity[0], c.victims = 11, nil
			c.auditor.Filter = accepts(c, "n2")
		},
		want: []string{`filter: node n1: refused by the filter`},
	},
	{
		name: "filter: a required node, too",
		edit: func(c *auditCase) {
			c.ask.RequiredNode = "n1"
			c.auditor.Filter = accepts(c, "n2")
		},
		want: []string{`filter: node n1: refused by the filter`},
	},
	{
		name: "filter: it says where to run, and not who may go",
		edit: func(c *auditCase) {
			c.auditor.Filter = accepts(c, "n1")
			c.nodes[0].Capacity[0] = 11
			c.queues.Max = resources.Limit{Value: resources.Vector{16}, Defined: 1}
			c.victims = []string{"u"}
		},
	},
	{
		name: "a granted ask was asked for filter, schedulable and reserved before",
		edit: func(c *auditCase) {
			c.auditor.Filter = accepts(c, "n2")
			c.nodes[0].Capacity[0], c.victims = 11, nil
			c.nodes[0].Unschedulable, c.nodes[0].ReservedFor = true, "another"
			c.grants = []auditGrant{{"root.starve.s", "n1", c.ask}}
		},
	},
	{
		name: "blocker: it goes, though it has nothing that is short",
		edit: func(c *auditCase) {
			c.add("idle", "root.lend.y", "n1", 0)
			c.block("idle")
			c.victims = []string{"idle", "w"}
		},
	},
	{
		name: "blocker: it stays",
		edit: func(c *auditCase) { c.block("v2", "w") },
		want: []string{`blocker: node n1: v2 stays, and blocks the ask`},
	},
	{
		name: "blocker: by key, each once",
		edit: func(c *auditCase) { c.block("v2", "v1", "v2") },
		want: []string{`blocker: node n1: v1 stays, and blocks the ask`, `blocker: node n1: v2 stays, and blocks the ask`},
	},
	{
		name: "blocker: it makes all the room there need be",
		edit: func(c *auditCase) {
			c.block("v1")
			c.victims = []string{"v1", "w"}
		},
		want: []string{`minimal: victim w: can be given back`},
	},
	{
		name: "blocker: of the application of the ask",
		edit: func(c *auditCase) {
			c.block("w")
			c.task("w").Application = "q"
		},
		want: []string{`application (law 3): victim w: of the application of the ask`},
	},
	{
		name: "blocker: law 2 binds it, and law 5 does not",
		edit: func(c *auditCase) {
			c.block("v1")
			c.lendX.Guaranteed.Value[0], c.victims = 5, []string{"v1"}
		},
		want: []string{`guarantee (law 2): root.lend.x: gpu 2 after the plan, want at least 5`},
	},
	{
		name: "blocker: of a task that opted out nobody can take the place",
		edit: func(c *auditCase) {
			c.block("w")
			c.task("w").OptedOut = true
		},
	},
	{
		name: "blocker: a node fits without any only",
		edit: func(c *auditCase) {
			c.block("v1")
			c.nodes[0].Capacity[0], c.victims = 11, nil
		},
		want: []string{`blocker: node n1: v1 stays, and blocks the ask`},
	},
	{
		name: "blocker: one that is leaving is waited for",
		edit: func(c *auditCase) {
			c.block("w")
			c.task("w").State, c.victims = victims.Marked, nil
		},
	},
	{
		name: "blocker: one that is leaving hinders no plan",
		edit: func(c *auditCase) {
			c.add("r", "root.lend.y", "n1", 1).State = victims.Releasing
			c.block("r")
			c.ask.Size[0] = 4
		},
	},
	{
		name: "blocker: a granted ask does not start before it has gone",
		edit: func(c *auditCase) {
			c.add("r", "root.lend.y", "n1", 1).State = victims.Releasing
			c.nodes[0].Capacity[0], c.victims = 12, nil
			c.grants = []auditGrant{{"root.starve.s", "n1", c.ask}}
			c.block("r", "ask")
		},
		want: []string{`blocker: node n1: r stays, and blocks the ask`},
	},
	{
		name: "blocker: a grant never goes",
		edit: func(c *auditCase) {
			c.grants = []auditGrant{{"root.lend.y", "n1", victims.Ask{Key: "granted"}}}
			c.block("granted")
		},
		want: []string{`blocker: node n1: granted stays, and blocks the ask`},
	},
	{
		name: "grants: one given on the node later does not count",
		edit: func(c *auditCase) {
			c.nodes[0].Capacity[0], c.victims = 11, nil
			c.starve.Max = resources.Limit{Value: resources.Vector{6}, Defined: 1}
			c.grants = []auditGrant{{"root.starve.s", "n1", c.ask}, {"root.starve.t", "n1", later(4)}}
			c.block("later")
		},
	},
	{
		name: "grants: one given earlier does",
		edit: func(c *auditCase) {
			c.nodes[0].Capacity[0], c.victims = 11, nil
			c.grants = []auditGrant{{"root.starve.t", "n1", later(1)}, {"root.starve.s", "n1", c.ask}}
		},
		want: []string{`room: node n1: gpu 2 free, want at least 3`},
	},
	{
		name: "grants: one given on another node later does, for the queues",
		edit: func(c *auditCase) {
			c.nodes[0].Capacity[0], c.victims = 11, nil
			c.starve.Max = resources.Limit{Value: resources.Vector{6}, Defined: 1}
			c.grants = []auditGrant{{"root.starve.s", "n1", c.ask}, {"root.starve.t", "n2", later(4)}}
		},
		want: []string{`headroom: root.starve: gpu 2 of headroom, want at least 3`},
	},
	{
		name: "moment: of a plan, when the victims are gone",
		edit: func(c *auditCase) { c.auditor.Predicate = at(true) },
	},
	{
		name: "moment: of what fits, now",
		edit: func(c *auditCase) {
			c.nodes[0].Capacity[0], c.victims = 11, nil
			c.auditor.Predicate = at(false)
		},
	},
	{
		name: "moment: of what waits, when all that is leaving is gone",
		edit: func(c *auditCase) {
			c.task("w").State, c.victims = victims.Marked, nil
			c.auditor.Predicate = at(true)
		},
	},
	{
		name: "moment: of what waits for headroom, likewise",
		edit: func(c *auditCase) {
			c.nodes[0].Capacity[0], c.victims = 11, nil
			c.queues.Max = resources.Limit{Value: resources.Vector{16}, Defined: 1}
			c.task("u").State = victims.Releasing
			c.auditor.Predicate = at(true)
		},
	},
	{
		name: "moment: of what waits for a blocker, likewise",
		edit: func(c *auditCase) {
			c.nodes[0].Capacity[0], c.victims = 11, nil
			c.task("w").State = victims.Releasing
			c.block("w")
			c.auditor.Predicate = at(true)
		},
	},
}

// later is an ask of another queue that is granted a place.
func later(gpu int64) victims.Ask { return victims.Ask{Key: "later", Size: resources.Vector{gpu}} }

// at returns a predicate that accepts one moment.
func at(coming bool) func(*victims.Question) bool {
	return func(q *victims.Question) bool { return q.AfterVictims == coming }
}

// gang makes tasks members of job j, which needs so many.
func (c *auditCase) gang(minimum int, keys ...string) {
	for _, key := range keys {
		c.task(key).Job = "j"
	}
	c.lendX.Guaranteed = resources.Limit{}
	c.minimum = minimum
}

// auditGangTable is about jobs that run: v1 and v2 on n1 may be two of them,
// and u on n2 a third.
var auditGangTable = []auditRow{
	{
		name: "gang: one above the minimum",
		edit: func(c *auditCase) {
			c.gang(1, "v1", "v2")
			c.victims = []string{"v1"}
		},
	},
	{
		name: "gang: one of the minimum",
		edit: func(c *auditCase) {
			c.gang(2, "v1", "v2")
			c.victims = []string{"v1"}
		},
		want: []string{`gang: job j: 1 members run on, want at least 2`},
	},
	{
		// Without one of the two there is room, and too few of the job run on all the same.
		name: "gang: two of the minimum, though one would be room enough",
		edit: func(c *auditCase) {
			c.gang(3, "v1", "v2", "u")
			c.victims = []string{"v1", "v2"}
		},
		want: []string{`gang: job j: 1 members run on, want at least 3`},
	},
	{
		name: "gang: too few run already",
		edit: func(c *auditCase) {
			c.gang(9, "v1", "v2")
			c.victims = []string{"v1"}
		},
		want: []string{`gang: job j: 1 members run on, want at least 2`},
	},
	{
		name: "gang: no minimum is known",
		edit: func(c *auditCase) {
			c.gang(0, "v1", "v2")
			c.victims = []string{"v1"}
		},
	},
	{
		name: "gang: the whole job, though v1 alone would be room enough",
		edit: func(c *auditCase) {
			c.gang(2, "v1", "v2")
			c.victims = []string{"v1", "v2"}
		},
	},
	{
		name: "gang: the whole job, and somebody else",
		edit: func(c *auditCase) {
			c.gang(2, "v1", "v2")
			c.victims = []string{"v1", "v2", "w"}
		},
		want: []string{`minimal: victim w: can be given back`, `minimal: job j: can be given back`},
	},
	{
		name: "gang: the whole job, though one member above the minimum would do",
		edit: func(c *auditCase) {
			c.gang(1, "v1", "v2")
			c.victims = []string{"v1", "v2"}
		},
		want: []string{`minimal: job j: can be given back`},
	},
	{
		name: "gang: the whole job, for one above the minimum would not do",
		edit: func(c *auditCase) {
			c.gang(1, "v1", "v2")
			c.ask.Size[0], c.victims = 5, []string{"v1", "v2"}
		},
	},
	{
		name: "gang: the whole job, for the predicate wants all",
		edit: func(c *auditCase) {
			c.gang(1, "v1", "v2")
			c.victims = []string{"v1", "v2"}
			c.auditor.Predicate = func(q *victims.Question) bool { return len(q.Victims) == 2 }
		},
	},
	{
		name: "gang: a member elsewhere goes as well, and need not help",
		edit: func(c *auditCase) {
			c.gang(2, "v1", "u")
			c.victims = []string{"v1", "u"}
		},
	},
	{
		name: "gang: nobody of the job helps",
		edit: func(c *auditCase) {
			c.gang(1, "u")
			c.victims = []string{"u", "w"}
		},
		want: []string{
			`helpful: victim u: reduces no need of the ask`,
			`minimal: job j: can be given back`,
		},
	},
	{
		name: "gang: a member elsewhere of higher priority",
		edit: func(c *auditCase) {
			c.gang(2, "v1", "u")
			c.task("u").Priority = 1
			c.victims = []string{"v1", "u"}
		},
		want: []string{`priority (law 6): victim u: effective priority 1, want at most 0`},
	},
	{
		name: "gang: law 2 counts all members, and law 5 binds none",
		edit: func(c *auditCase) {
			c.gang(2, "v1", "v2")
			c.lendX.Guaranteed = resources.Limit{Value: resources.Vector{5}, Defined: 1}
			c.victims = []string{"v1", "v2"}
		},
		want: []string{`guarantee (law 2): root.lend.x: gpu 0 after the plan, want at least 5`},
	},
	{
		name: "gang: who is leaving neither counts nor protects",
		edit: func(c *auditCase) {
			c.gang(1, "v1", "v2")
			c.task("v2").State = victims.Releasing
			c.victims, c.ask.Size[0] = []string{"v1"}, 5
		},
	},
	{
		name: "gang: who is leaving is none of those that run on",
		edit: func(c *auditCase) {
			c.gang(2, "v1", "v2", "u")
			c.task("u").State = victims.Releasing
			c.victims = []string{"v1"}
		},
		want: []string{`gang: job j: 1 members run on, want at least 2`},
	},
	{
		name: "gang: who can never go counts",
		edit: func(c *auditCase) {
			c.gang(1, "v1", "u")
			c.task("u").RequiredNode = true
			c.victims = []string{"v1"}
		},
	},
	{
		name: "gang: a required node takes the job for its member there",
		edit: func(c *auditCase) {
			c.gang(2, "v1", "u")
			c.ask.RequiredNode, c.victims = "n1", []string{"v1", "u"}
		},
	},
	{
		name: "gang: a required node takes no job whose member there does not help",
		edit: func(c *auditCase) {
			c.add("idle", "root.lend.y", "n1", 0)
			c.gang(2, "idle", "u")
			c.nodes[0].Capacity[0] = 11
			c.queues.Max = resources.Limit{Value: resources.Vector{16}, Defined: 1}
			c.ask.RequiredNode, c.victims = "n1", []string{"idle", "u"}
		},
		want: []string{
			`helpful: victim idle: reduces no need of the ask`,
			`nearby: victim u: not on the node of the ask`,
		},
	},
	{
		name: "gang: law 1, v1 may not go alone in the place of w",
		edit: func(c *auditCase) {
			c.gang(2, "v1", "v2")
			c.task("w").OptedOut = true
		},
	},
	{
		name: "gang: law 1, v1 may go alone in the place of w",
		edit: func(c *auditCase) {
			c.gang(1, "v1", "v2")
			c.task("w").OptedOut = true
		},
		want: []string{`opted-out (law 1): victim w: opted out, and v1 could be taken instead`},
	},
	{
		name: "gang: law 1, v2 in the place of v1 of the same job",
		edit: func(c *auditCase) {
			c.gang(1, "v1", "v2")
			c.task("v1").OptedOut = true
			c.ask.Size[0], c.victims = 2, []string{"v1"}
		},
		want: []string{`opted-out (law 1): victim v1: opted out, and v2 could be taken instead`},
	},
}

// auditBudgetTable is about budgets.
var auditBudgetTable = []auditRow{
	{
		name: "budget: the last of a hard one",
		edit: func(c *auditCase) { c.spend(victims.Budget{Left: 1, Hard: true}, "w") },
	},
	{
		name: "budget: nothing is left of a hard one",
		edit: func(c *auditCase) { c.spend(victims.Budget{Hard: true}, "w") },
		want: []string{`budget: budget web: 1 victims, want at most 0`},
	},
	{
		name: "budget: less than nothing counts as nothing",
		edit: func(c *auditCase) { c.spend(victims.Budget{Left: -2, Hard: true}, "w") },
		want: []string{`budget: budget web: 1 victims, want at most 0`},
	},
	{
		name: "budget: a soft one is cost",
		edit: func(c *auditCase) { c.spend(victims.Budget{}, "w") },
	},
	{
		name: "budget: of others",
		edit: func(c *auditCase) { c.spend(victims.Budget{Hard: true}, "v1", "v2", "u") },
	},
	{
		name: "budget: two of one",
		edit: func(c *auditCase) {
			c.spend(victims.Budget{Left: 1, Hard: true}, "v1", "v2")
			c.lendX.Guaranteed = resources.Limit{}
			c.ask.Size[0], c.victims = 5, []string{"v1", "v2"}
		},
		want: []string{`budget: budget web: 2 victims, want at most 1`},
	},
	{
		name: "budget: a task counts in each of its budgets, which are told by name",
		edit: func(c *auditCase) {
			c.spend(victims.Budget{Hard: true}, "w")
			c.budgets["api"] = victims.Budget{Hard: true}
			c.task("w").Budgets = []string{"web", "api"}
		},
		want: []string{`budget: budget api: 1 victims, want at most 0`, `budget: budget web: 1 victims, want at most 0`},
	},
	{
		name: "budget: who is leaving is not counted again",
		edit: func(c *auditCase) {
			c.spend(victims.Budget{Left: 1, Hard: true}, "w", "v1")
			c.task("v1").State, c.ask.Size[0] = victims.Marked, 6
		},
	},
	{
		name: "budget: a required node, too",
		edit: func(c *auditCase) {
			c.spend(victims.Budget{Hard: true}, "w")
			c.ask.RequiredNode = "n1"
		},
		want: []string{`budget: budget web: 1 victims, want at most 0`},
	},
	{
		name: "budget: the ask's own play no part",
		edit: func(c *auditCase) {
			c.spend(victims.Budget{Hard: true})
			c.ask.Budgets = []string{"web"}
		},
	},
	{
		name: "budget: law 1, nothing is left for v1 in the place of w",
		edit: func(c *auditCase) {
			c.spend(victims.Budget{Hard: true}, "v1")
			c.task("w").OptedOut = true
		},
	},
}

// spend has a budget named web, which tasks name.
func (c *auditCase) spend(b victims.Budget, keys ...string) {
	c.budgets = map[string]victims.Budget{"web": b}
	for _, key := range keys {
		c.task(key).Budgets = []string{"web"}
	}
}

// own has a task s0 of the ask's own leaf on n1, of lower priority, as the only
// victim.
func (c *auditCase) own(o queue.WithinQueue, gpu int64) *auditTask {
	c.auditor.WithinQueue, c.victims = o, []string{"s0"}
	t := c.add("s0", "root.starve.s", "n1", gpu)
	t.Priority = -1
	return t
}

// auditOwnLeafTable is about tasks of the ask's own leaf. Root.starve is
// guaranteed 6.
var auditOwnLeafTable = []auditRow{
	{
		name: "own leaf: a lower one",
		edit: func(c *auditCase) { c.own(queue.Met, 3) },
	},
	{
		name: "own leaf: never",
		edit: func(c *auditCase) { c.own(queue.Never, 3) },
		want: []string{
			`fence (law 7): victim s0: root.starve.s: out of reach`,
			`storm: victim s0: root.starve: inside the starving queue`,
		},
	},
	{
		name: "own leaf: one of the same priority",
		edit: func(c *auditCase) { c.own(queue.Met, 3).Priority = 0 },
		want: []string{`priority (law 6): victim s0: effective priority 0, want at most -1`},
	},
	{
		name: "own leaf: offsets and a priority fence play no part",
		edit: func(c *auditCase) {
			c.own(queue.Met, 3)
			c.starve.Children[0].Properties = map[string]string{"priority.policy": "fence", "priority.offset": "9"}
		},
	},
	{
		name: "own leaf: it is behind a fence",
		edit: func(c *auditCase) {
			c.own(queue.Met, 3)
			c.starve.Children[0].Properties = map[string]string{"preemption.policy": "fence"}
		},
	},
	{
		name: "own leaf: it is disabled",
		edit: func(c *auditCase) {
			c.own(queue.Met, 3)
			c.starve.Properties = map[string]string{"preemption.policy": "disabled"}
		},
		want: []string{`disabled: victim s0: root.starve.s: preemption is disabled`},
	},
	{
		name: "own leaf: of the same application",
		edit: func(c *auditCase) { c.own(queue.Met, 3).Application = "q" },
		want: []string{`application (law 3): victim s0: of the application of the ask`},
	},
	{
		name: "own leaf: a sibling inside the starving queue is none of it",
		edit: func(c *auditCase) { c.own(queue.Met, 3).queue = "root.starve.t" },
		want: []string{`storm: victim s0: root.starve: inside the starving queue`},
	},
	{
		name: "own leaf: law 4 is not asked for",
		edit: func(c *auditCase) {
			c.own(queue.Met, 3)
			c.starve.Guaranteed = resources.Limit{}
		},
	},
	{
		name: "own leaf: law 4 is asked for beside others",
		edit: func(c *auditCase) {
			c.own(queue.Met, 3)
			c.starve.Guaranteed = resources.Limit{}
			c.ask.Size[0], c.victims = 6, []string{"s0", "w"}
		},
		want: []string{`trigger (law 4): no queue guarantees a type of the ask`},
	},
	{
		name: "own leaf: others beside it, where law 4 lets them",
		edit: func(c *auditCase) {
			c.own(queue.Met, 3)
			c.ask.Size[0], c.victims = 6, []string{"s0", "w"}
		},
	},
	{
		name: "own leaf: the delay holds",
		edit: func(c *auditCase) {
			c.own(queue.Met, 3)
			c.ask.PendingSince = auditNow
		},
		want: []string{`delay: 0s pending, want at least 30s`},
	},
	{
		name: "own leaf: over max already, and no more after the plan",
		edit: func(c *auditCase) {
			c.own(queue.Met, 6)
			c.starve.Guaranteed.Value[0] = 3
			c.starve.Max = resources.Limit{Value: resources.Vector{5}, Defined: 1}
		},
	},
	{
		name: "own leaf: over max after the plan",
		edit: func(c *auditCase) {
			c.own(queue.Met, 3)
			c.starve.Guaranteed.Value[0] = 2
			c.starve.Max = resources.Limit{Value: resources.Vector{2}, Defined: 1}
		},
		want: []string{`headroom: root.starve: gpu 2 of headroom, want at least 3`},
	},
	{
		name: "own leaf, met: a guarantee once met stays met",
		edit: func(c *auditCase) {
			c.own(queue.Met, 7)
			c.ask.Size[0] = 5
		},
		want: []string{`guarantee (law 2): root.starve: gpu 5 after the plan, want at least 6`},
	},
	{
		name: "own leaf, met: one that was not met may fall in a type of the ask",
		edit: func(c *auditCase) { c.own(queue.Met, 5) },
	},
	{
		name: "own leaf, met: and in no other type",
		edit: func(c *auditCase) {
			c.own(queue.Met, 3).Size[1] = 2
			c.starve.Guaranteed = resources.Limit{Value: resources.Vector{6, 5}, Defined: 3}
		},
		want: []string{`guarantee (law 2): root.starve: disk 0 after the plan, want at least 2`},
	},
	{
		name: "own leaf, met: off the path law 2 stays as it is",
		edit: func(c *auditCase) {
			c.own(queue.Met, 3)
			c.ask.Size[0], c.victims = 6, []string{"s0", "v1"}
			c.lendX.Guaranteed.Value[0] = 4
		},
		want: []string{`guarantee (law 2): root.lend.x: gpu 2 after the plan, want at least 4`},
	},
	{
		name: "own leaf: the queue says never, whatever the option is",
		edit: func(c *auditCase) {
			c.own(queue.Met, 3)
			c.starve.Policies.WithinQueue = queue.Never
		},
		want: []string{
			`fence (law 7): victim s0: root.starve.s: out of reach`,
			`storm: victim s0: root.starve: inside the starving queue`,
		},
	},
	{
		name: "own leaf: a queue above says met",
		edit: func(c *auditCase) {
			c.own(queue.Never, 3)
			c.queues.Policies.WithinQueue = queue.Met
		},
	},
	{
		name: "own leaf: the nearest queue counts",
		edit: func(c *auditCase) {
			c.own(queue.Never, 3)
			c.queues.Policies.WithinQueue = queue.Never
			c.starve.Policies.WithinQueue = queue.Branch
		},
	},
	{
		name: "own leaf: of no use to a required node, where its tasks are like any others",
		edit: func(c *auditCase) {
			c.own(queue.Met, 3).Priority = 0
			c.ask.RequiredNode = "n1"
		},
	},
	{
		name: "own leaf: law 1, a plan without it would have been the first",
		edit: func(c *auditCase) {
			c.own(queue.Met, 3)
			c.task("w").OptedOut, c.victims = true, []string{"w"}
			c.lendX.Guaranteed.Value[0] = 5
		},
	},
	{
		name: "own leaf: law 1 inside it",
		edit: func(c *auditCase) {
			c.own(queue.Met, 3).OptedOut = true
			c.add("s1", "root.starve.s", "n1", 3).Priority = -1
			c.lendX.Guaranteed.Value[0], c.task("w").Priority = 5, 1
		},
		want: []string{`opted-out (law 1): victim s0: opted out, and s1 could be taken instead`},
	},
}
