// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// auditRow is a plan, told as how it differs from the one of lawfulCase, and
// the violations that it has.
type auditRow struct {
	name string
	edit func(*auditCase)      // what the plan is made from; or nil
	bend func(p *victims.Plan) // the plan itself; or nil
	want []string
}

func (r *auditRow) build(t testing.TB) (*victims.Auditor, *victims.Plan) {
	t.Helper()
	c := lawfulCase()
	if r.edit != nil {
		r.edit(c)
	}
	a, p := c.build(t)
	if r.bend != nil {
		r.bend(p)
	}
	return a, p
}

// auditTable has plans that are lawful, and for every law plans that break it.
var auditTable = []auditRow{
	{name: "plan"},
	{
		name: "fits: nothing need go",
		edit: func(c *auditCase) { c.nodes[0].Capacity[0], c.victims = 11, nil },
	},
	{
		name: "fits: preconditions are for victims only",
		edit: func(c *auditCase) {
			c.nodes[0].Capacity[0], c.victims = 11, nil
			c.ask.MayNotPreempt, c.ask.PendingSince, c.starve.Guaranteed = true, auditNow, resources.Limit{}
		},
	},
	{
		name: "waits: w is leaving anyway",
		edit: func(c *auditCase) { c.task("w").State, c.victims = victims.Releasing, nil },
	},
	{
		name: "a granted ask starts: its grant is no usage",
		edit: func(c *auditCase) {
			c.nodes[0].Capacity[0], c.victims = 11, nil
			c.starve.Max = resources.Limit{Value: resources.Vector{3}, Defined: 1}
			c.starve.Guaranteed.Value[0] = 3
			c.grants = []auditGrant{{"root.starve.s", "n1", c.ask}}
		},
	},
	{
		name: "a granted ask must not start before the leaving are gone",
		edit: func(c *auditCase) {
			c.task("w").State, c.victims = victims.Marked, nil
			c.grants = []auditGrant{{"root.starve.s", "n1", c.ask}}
		},
		want: []string{`room: node n1: gpu 0 free, want at least 3`},
	},
	{
		name: "reserved for this ask",
		edit: func(c *auditCase) { c.nodes[0].ReservedFor = "ask" },
	},
	{
		name: "a type that the ask does not want may be over-committed and over max",
		edit: func(c *auditCase) {
			c.task("v1").Size[1] = 100
			c.queues.Max = resources.Limit{Value: resources.Vector{0, 50}, Defined: 2}
			c.ask.Size = resources.Vector{3, 0}
		},
	},
	{
		name: "a required node: no fence, delay, guarantee, offset or disabled queue counts",
		edit: func(c *auditCase) {
			c.ask.RequiredNode, c.ask.PendingSince = "n1", auditNow
			c.nodes[0].Unschedulable, c.nodes[0].ReservedFor = true, "another"
			c.starve.Properties = map[string]string{"preemption.policy": "fence"}
			c.lend.Properties = map[string]string{"preemption.policy": "disabled", "priority.offset": "7"}
			c.lend.Guaranteed = resources.Limit{Value: resources.Vector{16}, Defined: 1}
			c.starve.Guaranteed = resources.Limit{}
		},
	},
	{
		name: "law 1: w for v1 of the same size",
		edit: func(c *auditCase) { c.task("w").OptedOut = true },
		want: []string{`opted-out (law 1): victim w: opted out, and v1 could be taken instead`},
	},
	{
		name: "law 1: v1 for either of two",
		edit: func(c *auditCase) {
			c.ask.Size[0], c.victims = 5, []string{"v2", "w"}
			c.task("v2").OptedOut, c.task("w").OptedOut = true, true
			c.lendX.Guaranteed = resources.Limit{}
		},
		want: []string{
			`opted-out (law 1): victim v2: opted out, and v1 could be taken instead`,
			`opted-out (law 1): victim w: opted out, and v1 could be taken instead`,
		},
	},
	{
		name: "law 1: the first of several by key, though v0 was added later",
		edit: func(c *auditCase) {
			c.add("v0", "root.lend.y", "n1", 3)
			c.add("v9", "root.lend.y", "n1", 3)
			c.task("w").OptedOut = true
		},
		want: []string{`opted-out (law 1): victim w: opted out, and v0 could be taken instead`},
	},
	{
		name: "law 1: v1 is protected by law 2 and v2 too small",
		edit: func(c *auditCase) {
			c.task("w").OptedOut = true
			c.lendX.Guaranteed.Value[0] = 3
		},
	},
	{
		name: "law 1: v1 would bring root.lend below its guarantee of disk",
		edit: func(c *auditCase) {
			c.task("w").OptedOut = true
			c.task("v1").Size[1] = 1
			c.lend.Guaranteed = resources.Limit{Value: resources.Vector{0, 1}, Defined: 2}
		},
	},
	{
		name: "law 1: the predicate refuses v1",
		edit: func(c *auditCase) {
			c.task("w").OptedOut = true
			c.auditor.Predicate = func(q *victims.Question) bool {
				return !slices.Contains(q.Victims, 0) // the row of v1, which is added first
			}
		},
	},
	{
		name: "law 2 in the leaf: 5 were used",
		edit: func(c *auditCase) { c.lendX.Guaranteed.Value[0], c.victims = 4, []string{"v1"} },
		want: []string{`guarantee (law 2): root.lend.x: gpu 2 after the plan, want at least 4`},
	},
	{
		name: "law 2 above the leaf: 16 were used",
		edit: func(c *auditCase) { c.lend.Guaranteed = resources.Limit{Value: resources.Vector{15}, Defined: 1} },
		want: []string{`guarantee (law 2): root.lend: gpu 13 after the plan, want at least 15`},
	},
	{
		name: "law 2 above the common ancestor: the ask counts",
		edit: func(c *auditCase) { c.queues.Guaranteed = resources.Limit{Value: resources.Vector{16}, Defined: 1} },
	},
	{
		name: "law 2 above the common ancestor: v1 and v2 are more than the ask",
		edit: func(c *auditCase) {
			c.queues.Guaranteed = resources.Limit{Value: resources.Vector{15}, Defined: 1}
			c.ask.Size[0], c.victims = 2, []string{"v1"}
			c.task("v1").Size[0], c.nodes[0].Capacity[0] = 4, 9
		},
		// 17 used, 4 gone, 2 come.
	},
	{
		name: "law 2 above the common ancestor: one more",
		edit: func(c *auditCase) {
			c.queues.Guaranteed = resources.Limit{Value: resources.Vector{16}, Defined: 1}
			c.ask.Size[0], c.victims = 2, []string{"v1"}
			c.task("v1").Size[0], c.nodes[0].Capacity[0] = 4, 9
		},
		want: []string{`guarantee (law 2): root: gpu 15 after the plan, want at least 16`},
	},
	{
		name: "law 2 in a type that nobody asked for",
		edit: func(c *auditCase) {
			c.task("w").Size[1] = 2
			c.lend.Guaranteed = resources.Limit{Value: resources.Vector{0, 9}, Defined: 2}
		},
		want: []string{`guarantee (law 2): root.lend: disk 0 after the plan, want at least 2`},
	},
	{
		name: "law 3",
		edit: func(c *auditCase) { c.task("w").Application = "q" },
		want: []string{`application (law 3): victim w: of the application of the ask`},
	},
	{
		name: "law 4: at the guarantee",
		edit: func(c *auditCase) { c.add("s0", "root.starve.t", "n1", 6) },
		want: []string{`trigger (law 4): root.starve: gpu 6 before the plan, want less than 6`},
	},
	{
		name: "law 4: what is leaving is no usage",
		edit: func(c *auditCase) { c.add("s0", "root.starve.t", "n2", 6).State = victims.Releasing },
	},
	{
		name: "law 4: nothing governs",
		edit: func(c *auditCase) { c.starve.Guaranteed = resources.Limit{} },
		want: []string{`trigger (law 4): no queue guarantees a type of the ask`},
	},
	{
		name: "law 4: each governed type counts",
		edit: func(c *auditCase) {
			c.starve.Guaranteed = resources.Limit{Value: resources.Vector{6, 0}, Defined: 3}
			c.ask.Size = resources.Vector{3, 1}
		},
		want: []string{`trigger (law 4): root.starve: disk 0 before the plan, want less than 0`},
	},
	{
		name: "law 4: only the nearest guarantee counts",
		edit: func(c *auditCase) { c.queues.Guaranteed = resources.Limit{Value: resources.Vector{16}, Defined: 1} },
	},
	{
		name: "law 5: root.lend.x is at its guarantee, so law 2 is broken as well",
		edit: func(c *auditCase) { c.lendX.Guaranteed.Value[0], c.victims = 5, []string{"v1"} },
		want: []string{
			`surplus (law 5): victim v1: root.lend.x: gpu 5 before the plan, want more than 5`,
			`guarantee (law 2): root.lend.x: gpu 2 after the plan, want at least 5`,
		},
	},
	{
		name: "a victim that has nothing that is short",
		edit: func(c *auditCase) {
			c.add("idle", "root.lend.y", "n1", 0)
			c.victims = []string{"idle", "w"}
		},
		want: []string{
			`helpful: victim idle: reduces no need of the ask`,
			`minimal: victim idle: can be given back`,
		},
	},
	{
		name: "law 6",
		edit: func(c *auditCase) { c.task("w").Priority = 1 },
		want: []string{`priority (law 6): victim w: effective priority 1, want at most 0`},
	},
	{
		name: "law 6: offsets on both sides",
		edit: func(c *auditCase) {
			c.lend.Properties = map[string]string{"priority.offset": "5"}
			c.starve.Properties = map[string]string{"priority.offset": "4"}
		},
		want: []string{`priority (law 6): victim w: effective priority 5, want at most 4`},
	},
	{
		name: "law 6: a priority fence gives all its tasks",
		edit: func(c *auditCase) {
			c.task("w").Priority = 100
			c.lend.Properties = map[string]string{"priority.policy": "fence"}
		},
	},
	{
		name: "law 6: a priority fence on the common ancestor changes nothing",
		edit: func(c *auditCase) {
			c.task("w").Priority = 1
			c.queues.Properties = map[string]string{"priority.policy": "fence"}
		},
		want: []string{`priority (law 6): victim w: effective priority 1, want at most 0`},
	},
	{
		name: "law 6: strictly lower",
		edit: func(c *auditCase) { c.auditor.StrictPriority = true },
		want: []string{`priority (law 6): victim w: effective priority 0, want at most -1`},
	},
	{
		name: "law 7: looking out of a fence",
		edit: func(c *auditCase) { c.starve.Properties = map[string]string{"preemption.policy": "fence"} },
		want: []string{`fence (law 7): victim w: root.lend.y: out of reach`},
	},
	{
		name: "law 7: the nearest fence counts, here that of the leaf, and not the one above",
		edit: func(c *auditCase) {
			s := &c.starve.Children[0]
			c.starve.Guaranteed, s.Guaranteed = s.Guaranteed, c.starve.Guaranteed
			c.starve.Properties = map[string]string{"preemption.policy": "fence"}
			s.Properties = c.starve.Properties
			c.add("s0", "root.starve.t", "n1", 3)
			c.victims = []string{"s0"}
		},
		want: []string{`fence (law 7): victim s0: root.starve.t: out of reach`},
	},
	{
		name: "law 7: looking into one",
		edit: func(c *auditCase) { c.lend.Properties = map[string]string{"preemption.policy": "fence"} },
	},
	{
		name: "law 7: the leaf of the ask",
		edit: func(c *auditCase) {
			c.add("s0", "root.starve.s", "n1", 3)
			c.victims = []string{"s0"}
		},
		want: []string{
			`fence (law 7): victim s0: root.starve.s: out of reach`,
			`storm: victim s0: root.starve: inside the starving queue`,
		},
	},
	{
		name: "storm: a sibling that starves as well",
		edit: func(c *auditCase) {
			c.add("s0", "root.starve.t", "n1", 3)
			c.victims = []string{"s0"}
		},
		want: []string{`storm: victim s0: root.starve: inside the starving queue`},
	},
	{
		name: "unknown key",
		edit: func(c *auditCase) { c.victims = []string{"w", "nobody"} },
		want: []string{`known: victim nobody: no task of this row and key`},
	},
	{
		name: "a key and the row of another",
		bend: func(p *victims.Plan) {
			p.Victims = append(p.Victims, victims.Victim{Task: p.Victims[0].Task, Key: "v1"})
		},
		want: []string{`known: victim v1: no task of this row and key`},
	},
	{
		name: "a grant is no task",
		edit: func(c *auditCase) {
			c.grants = []auditGrant{{"root.lend.y", "n2", victims.Ask{Key: "granted"}}}
			c.victims = []string{"w", "granted"}
		},
		want: []string{`known: victim granted: no task of this row and key`},
	},
	{
		name: "twice",
		edit: func(c *auditCase) { c.victims = []string{"w", "w"} },
		want: []string{`once: victim w: named before`},
	},
	{
		name: "leaving",
		edit: func(c *auditCase) {
			c.add("r", "root.lend.y", "n1", 1).State = victims.Releasing
			c.victims = []string{"r", "w"}
		},
		want: []string{`leaving: victim r: leaving already`},
	},
	{
		name: "a required-node task",
		edit: func(c *auditCase) { c.task("w").RequiredNode = true },
		want: []string{`required-task: victim w: can run on its node only`},
	},
	{
		name: "a task that would not stop",
		edit: func(c *auditCase) { c.task("w").SparedUntil = auditNow.Add(time.Second) },
		want: []string{`refused: victim w: would not stop`},
	},
	{
		name: "a disabled queue",
		edit: func(c *auditCase) { c.lend.Properties = map[string]string{"preemption.policy": "disabled"} },
		want: []string{`disabled: victim w: root.lend.y: preemption is disabled`},
	},
	{
		name: "exempt for ever",
		edit: func(c *auditCase) {
			c.auditor.Exempt = func(*victims.Question) (time.Time, bool) { return time.Time{}, true }
		},
		want: []string{`exempt: victim w: exempt`},
	},
	{
		name: "exempt until a moment from now",
		edit: func(c *auditCase) {
			c.auditor.Exempt = func(e *victims.Question) (time.Time, bool) { return e.Now.Add(1), e.Cluster.Task(e.Task).Key == "w" }
		},
		want: []string{`exempt: victim w: exempt`},
	},
	{
		name: "exempt until now, which is not exempt",
		edit: func(c *auditCase) {
			c.auditor.Exempt = func(e *victims.Question) (time.Time, bool) { return e.Now, true }
		},
	},
	{
		name: "a required node and headroom made on another",
		edit: func(c *auditCase) {
			c.ask.RequiredNode, c.victims = "n1", []string{"u"}
			c.nodes[0].Capacity[0] = 11
			c.queues.Max = resources.Limit{Value: resources.Vector{16}, Defined: 1}
		},
		want: []string{`nearby: victim u: not on the node of the ask`},
	},
	{
		name: "a victim that only the predicate wants",
		edit: func(c *auditCase) {
			c.victims = []string{"u", "w"}
			c.auditor.Predicate = func(q *victims.Question) bool { return len(q.Victims) == 2 }
		},
		want: []string{`helpful: victim u: reduces no need of the ask`},
	},
	{
		name: "no key",
		bend: func(p *victims.Plan) { p.Ask.Key = "" },
		want: []string{`key: the ask has no key, or that of a task`},
	},
	{
		name: "the key of a task",
		bend: func(p *victims.Plan) { p.Ask.Key = "u" },
		want: []string{`key: the ask has no key, or that of a task`},
	},
	{
		name: "a parent queue",
		edit: func(c *auditCase) { c.asking = "root.starve" },
		want: []string{`leaf: root.starve: the ask is of no leaf queue`},
	},
	{
		name: "the root",
		edit: func(c *auditCase) { c.asking = "root" },
		want: []string{`leaf: root: the ask is of no leaf queue`},
	},
	{
		name: "a queue below all",
		bend: func(p *victims.Plan) { p.Ask.Queue = -1 },
		want: []string{`leaf: the ask is of no leaf queue`},
	},
	{
		name: "a queue beyond all",
		bend: func(p *victims.Plan) { p.Ask.Queue = math.MaxInt32 },
		want: []string{`leaf: the ask is of no leaf queue`},
	},
	{
		name: "a negative amount",
		edit: func(c *auditCase) { c.ask.Size = resources.Vector{3, -5} },
		want: []string{`size: disk -5 asked, want between 0 and 9223372036854775807`},
	},
	{
		name: "a sum out of range: 16 are used",
		edit: func(c *auditCase) { c.ask.Size = resources.Vector{math.MaxInt64} },
		want: []string{`size: gpu 9223372036854775807 asked, want between 0 and 9223372036854775791`},
	},
	{
		name: "a type of none",
		edit: func(c *auditCase) { c.ask.Size = resources.Vector{3, 0, 0, 1} },
		want: []string{`size: #3 1 asked, want between 0 and 0`},
	},
	{
		name: "a node below all",
		bend: func(p *victims.Plan) { p.Places[0].Node = -1 },
		want: []string{`node: no node of this row`},
	},
	{
		name: "the zero node",
		bend: func(p *victims.Plan) { p.Places[0].Node = 0 },
		want: []string{`node: no node of this row`},
	},
	{
		name: "a node beyond all",
		bend: func(p *victims.Plan) { p.Places[0].Node = 3 },
		want: []string{`node: no node of this row`},
	},
	{
		name: "unschedulable",
		edit: func(c *auditCase) { c.nodes[0].Unschedulable = true },
		want: []string{`schedulable: node n1: takes no new tasks`},
	},
	{
		name: "reserved",
		edit: func(c *auditCase) { c.nodes[0].ReservedFor = "another" },
		want: []string{`reserved: node n1: reserved for another ask`},
	},
	{
		name: "not the required node",
		edit: func(c *auditCase) { c.ask.RequiredNode = "n2" },
		want: []string{`required-node: node n1: not the node that the ask requires`},
	},
	{
		name: "in flight, with victims",
		edit: func(c *auditCase) { c.grants = []auditGrant{{"root.starve.s", "n1", c.ask}} },
		want: []string{`in-flight: node n1: holds a grant of the ask, which starts here and without victims`},
	},
	{
		name: "in flight on another node",
		edit: func(c *auditCase) {
			c.nodes[0].Capacity[0], c.victims = 11, nil
			c.grants = []auditGrant{{"root.starve.s", "n2", c.ask}}
		},
		want: []string{`in-flight: node n2: holds a grant of the ask, which starts here and without victims`},
	},
	{
		name: "may not preempt",
		edit: func(c *auditCase) { c.ask.MayNotPreempt = true },
		want: []string{`may-preempt: the ask must not preempt`},
	},
	{
		name: "too early by a nanosecond",
		edit: func(c *auditCase) { c.ask.PendingSince = auditNow.Add(-30*time.Second + 1) },
		want: []string{`delay: 29.999999999s pending, want at least 30s`},
	},
	{
		name: "not too early",
		edit: func(c *auditCase) { c.ask.PendingSince = auditNow.Add(-30 * time.Second) },
	},
	{
		name: "too soon",
		edit: func(c *auditCase) {
			c.auditor.RetryInterval, c.ask.LastAttempt = time.Minute, auditNow.Add(-10*time.Second)
		},
		want: []string{`interval: 10s since the last attempt, want at least 1m0s`},
	},
	{
		name: "not too soon",
		edit: func(c *auditCase) {
			c.auditor.RetryInterval, c.ask.LastAttempt = time.Minute, auditNow.Add(-time.Minute)
		},
	},
	{
		name: "the first attempt",
		edit: func(c *auditCase) { c.auditor.RetryInterval = time.Minute },
	},
	{
		name: "no interval, and the last attempt is yet to come",
		edit: func(c *auditCase) { c.ask.LastAttempt = auditNow.Add(time.Minute) },
	},
	{
		name: "over max already, though 5 of 16 go and 3 come",
		edit: func(c *auditCase) {
			c.queues.Max = resources.Limit{Value: resources.Vector{15}, Defined: 1}
			c.victims = []string{"v2", "w"}
		},
		want: []string{`max: root: gpu 16 before the plan, want at most 15`},
	},
	{
		name: "not enough room",
		edit: func(c *auditCase) { c.victims = []string{"v2"} },
		want: []string{`room: node n1: gpu 2 free, want at least 3`},
	},
	{
		name: "no room without victims on an over-committed node",
		edit: func(c *auditCase) { c.nodes[0].Capacity[0], c.victims = 5, nil },
		want: []string{`room: node n1: gpu -3 free, want at least 3`},
	},
	{
		name: "the wrong node",
		edit: func(c *auditCase) { c.node = "n2" },
		want: []string{
			`helpful: victim w: reduces no need of the ask`,
			`room: node n2: gpu 0 free, want at least 3`,
		},
	},
	{
		name: "no headroom",
		edit: func(c *auditCase) {
			c.starve.Guaranteed.Value[0] = 2
			c.starve.Max = resources.Limit{Value: resources.Vector{2}, Defined: 1}
		},
		want: []string{`headroom: root.starve: gpu 2 of headroom, want at least 3`},
	},
	{
		name: "headroom made by the plan",
		edit: func(c *auditCase) { c.queues.Max = resources.Limit{Value: resources.Vector{16}, Defined: 1} },
	},
	{
		name: "headroom made by a victim on another node",
		edit: func(c *auditCase) {
			c.nodes[0].Capacity[0] = 11
			c.queues.Max = resources.Limit{Value: resources.Vector{16}, Defined: 1}
			c.victims = []string{"u"}
		},
	},
	{
		name: "refused by the predicate",
		edit: func(c *auditCase) {
			c.auditor.Predicate = func(*victims.Question) bool { return false }
		},
		want: []string{`predicate: node n1: refused by the predicate`},
	},
	{
		name: "w would do without v2, but v2 not without w",
		edit: func(c *auditCase) { c.victims = []string{"v2", "w"} },
		want: []string{`minimal: victim v2: can be given back`},
	},
	{
		name: "either would do",
		edit: func(c *auditCase) { c.victims = []string{"v1", "w"} },
		want: []string{
			`minimal: victim v1: can be given back`,
			`minimal: victim w: can be given back`,
		},
	},
	{
		name: "neither would do for the predicate",
		edit: func(c *auditCase) {
			c.victims = []string{"v1", "w"}
			c.auditor.Predicate = func(q *victims.Question) bool { return len(q.Victims) == 2 }
		},
	},
	{
		name: "nothing need go, but w goes",
		edit: func(c *auditCase) { c.nodes[0].Capacity[0] = 11 },
		want: []string{
			`helpful: victim w: reduces no need of the ask`,
			`minimal: victim w: can be given back`,
		},
	},
	{
		name: "everything at once: of the node, the ask, each victim, the queues, the set",
		edit: func(c *auditCase) {
			c.nodes[0].Unschedulable = true
			c.ask.MayNotPreempt = true
			c.task("v1").Application = "q"
			c.task("w").Priority = 9
			c.victims = []string{"w", "v1"}
			c.lendX.Guaranteed.Value[0] = 4
		},
		want: []string{
			`schedulable: node n1: takes no new tasks`,
			`may-preempt: the ask must not preempt`,
			`priority (law 6): victim w: effective priority 9, want at most 0`,
			`application (law 3): victim v1: of the application of the ask`,
			`guarantee (law 2): root.lend.x: gpu 2 after the plan, want at least 4`,
			`minimal: victim w: can be given back`,
			`minimal: victim v1: can be given back`,
		},
	},
}
