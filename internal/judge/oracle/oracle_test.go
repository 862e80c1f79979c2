// SPDX-License-Identifier: Apache-2.0

package oracle_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
)

type cpu = world.Amounts

var now = world.Epoch

// base is a case to be worked out by heart. Queue a has 5 cpus and is
// guaranteed 2, b has 1 and is guaranteed 5. The node is full, and x of b wants
// 2: a2 frees just that, a1 one more.
func base() *world.Case {
	c := new(world.Case)
	c.World = world.World{
		Types: []string{"cpu"},
		Root: world.Queue{Name: "root", Children: []world.Queue{
			{Name: "a", Guaranteed: cpu{"cpu": 2}},
			{Name: "b", Guaranteed: cpu{"cpu": 5}},
		}},
		Nodes: []world.Node{{Name: "n1", Capacity: cpu{"cpu": 6}}},
		Tasks: []world.Task{
			{Key: "a1", Queue: "root.a", Application: "app-a", Node: "n1", Size: cpu{"cpu": 3}},
			{Key: "a2", Queue: "root.a", Application: "app-a", Node: "n1", Size: cpu{"cpu": 2}},
			{Key: "b1", Queue: "root.b", Application: "app-b", Node: "n1", Size: cpu{"cpu": 1}},
		},
	}
	c.Ask = world.Ask{
		Key: "x", Queue: "root.b", Application: "app-x", Size: cpu{"cpu": 2}, PendingSince: now.Add(-time.Hour),
	}
	c.Options.Now = now
	return c
}

// The parts of the base case that twists change.
func queueA(c *world.Case) *world.Queue { return &c.World.Root.Children[0] }
func queueB(c *world.Case) *world.Queue { return &c.World.Root.Children[1] }
func taskA1(c *world.Case) *world.Task  { return &c.World.Tasks[0] }
func taskA2(c *world.Case) *world.Task  { return &c.World.Tasks[1] }

// gangOfA2 makes a2 a member of a gang with two others, on a node where the ask has no room.
func gangOfA2(c *world.Case, keeps int) {
	c.World.Nodes = append(c.World.Nodes, world.Node{Name: "n2", Capacity: cpu{"cpu": 2}})
	for _, key := range []string{"a3", "a4"} {
		c.World.Tasks = append(c.World.Tasks, world.Task{
			Key: key, Queue: "root.a", Application: "app-a", Node: "n2", Size: cpu{"cpu": 1}, Job: "g",
		})
	}
	taskA2(c).Job = "g"
	c.Options.Minimums = map[string]int{"g": keeps}
}

func TestDecide(t *testing.T) {
	const minute = time.Minute
	for _, tt := range []struct {
		name   string
		twist  func(c *world.Case)
		want   string // outcome, or the reason of a refusal
		stops  []string
		retry  time.Duration // from now
		counts map[string]int
		lacks  world.Amounts
	}{
		{name: "least excess", twist: func(c *world.Case) {}, want: "plan", stops: []string{"a2"}},
		{name: "an opted-out victim costs more", twist: func(c *world.Case) { taskA2(c).OptedOut = true },
			want: "plan", stops: []string{"a1"}},
		{name: "so does an originator", twist: func(c *world.Case) { taskA2(c).Originator = true },
			want: "plan", stops: []string{"a1"}},
		{name: "an originator rather than an opted-out one", twist: func(c *world.Case) {
			taskA1(c).Originator, taskA2(c).OptedOut = true, true
		}, want: "plan", stops: []string{"a1"}},
		{name: "lower priority before less excess", twist: func(c *world.Case) {
			taskA1(c).Priority = -1
		}, want: "plan", stops: []string{"a1"}},
		{name: "less work lost between equals", twist: func(c *world.Case) {
			taskA2(c).Size = cpu{"cpu": 3}
			c.World.Nodes[0].Capacity = cpu{"cpu": 7}
			taskA1(c).Scheduled, taskA2(c).Scheduled = now.Add(-1*minute), now.Add(-2*minute)
		}, want: "plan", stops: []string{"a1"}},
		{name: "two where one is not enough", twist: func(c *world.Case) {
			queueA(c).Guaranteed = nil
			c.Ask.Size = cpu{"cpu": 4}
		}, want: "plan", stops: []string{"a1", "a2"}},
		{name: "headroom is needed too", twist: func(c *world.Case) {
			c.World.Root.Max = cpu{"cpu": 6}
			c.World.Nodes[0].Capacity = cpu{"cpu": 8}
			c.World.Nodes[0].Unschedulable = true
			c.World.Nodes = append(c.World.Nodes, world.Node{Name: "n2", Capacity: cpu{"cpu": 2}})
		}, want: "plan", stops: []string{"a2"}},

		{name: "fits", twist: func(c *world.Case) { c.World.Nodes[0].Capacity = cpu{"cpu": 8} }, want: "fits"},
		{name: "waits", twist: func(c *world.Case) { taskA2(c).State = world.Releasing }, want: "waits"},
		{name: "a grant is usage", twist: func(c *world.Case) {
			c.World.Nodes[0].Capacity = cpu{"cpu": 8}
			c.World.Grants = []world.Grant{{Ask: world.Ask{Key: "g", Queue: "root.b", Size: cpu{"cpu": 2}}, Node: "n1"}}
		}, want: "plan", stops: []string{"a2"}},
		{name: "an ask with a grant starts", twist: func(c *world.Case) {
			c.World.Nodes[0].Capacity = cpu{"cpu": 8}
			c.World.Grants = []world.Grant{{Ask: c.Ask, Node: "n1"}}
		}, want: "fits"},
		{name: "or is in flight", twist: func(c *world.Case) {
			c.World.Grants = []world.Grant{{Ask: c.Ask, Node: "n1"}}
		}, want: "in-flight"},

		{name: "may not", twist: func(c *world.Case) { c.Ask.MayNot = true }, want: "may-not-preempt"},
		{name: "the default delay is 30 seconds", twist: func(c *world.Case) {
			c.Ask.PendingSince = now.Add(-29 * time.Second)
		}, want: "too-early", retry: time.Second},
		{name: "at its end it is over", twist: func(c *world.Case) {
			c.Ask.PendingSince = now.Add(-30 * time.Second)
		}, want: "plan", stops: []string{"a2"}},
		{name: "a delay of the parent", twist: func(c *world.Case) {
			c.World.Root.Properties = map[string]string{"preemption.delay": "2h"}
		}, want: "too-early", retry: time.Hour},
		{name: "a bad delay is 30 seconds, whatever the parent says", twist: func(c *world.Case) {
			c.World.Root.Properties = map[string]string{"preemption.delay": "2h"}
			queueB(c).Properties = map[string]string{"preemption.delay": "soon"}
			c.Ask.PendingSince = now.Add(-29 * time.Second)
		}, want: "too-early", retry: time.Second},
		{name: "a delay of 0 is none", twist: func(c *world.Case) {
			queueB(c).Properties = map[string]string{"preemption.delay": "0s"}
			c.Ask.PendingSince = now
		}, want: "plan", stops: []string{"a2"}},
		{name: "the later of delay and interval", twist: func(c *world.Case) {
			c.Ask.PendingSince = now
			c.Ask.LastAttempt, c.Options.Interval = now, minute
		}, want: "too-early", retry: minute},
		{name: "too soon", twist: func(c *world.Case) {
			c.Ask.LastAttempt, c.Options.Interval = now.Add(-1*time.Second), minute
		}, want: "too-soon", retry: 59 * time.Second},
		{name: "over max", twist: func(c *world.Case) { c.World.Root.Max = cpu{"cpu": 5} }, want: "over-max"},
		{name: "law 4, no guarantee", twist: func(c *world.Case) { queueB(c).Guaranteed = nil }, want: "not-guaranteed"},
		{name: "law 4, at the guarantee", twist: func(c *world.Case) {
			queueB(c).Guaranteed = cpu{"cpu": 1}
		}, want: "over-guarantee"},
		{name: "the max of the starving queue is short", twist: func(c *world.Case) {
			queueB(c).Guaranteed, queueB(c).Max = cpu{"cpu": 2}, cpu{"cpu": 2}
		}, want: "headroom-inside"},
		{name: "the root starves", twist: func(c *world.Case) {
			queueB(c).Guaranteed = nil
			c.World.Root.Guaranteed = cpu{"cpu": 9}
		}, want: "nothing-in-reach"},
		{name: "a fence on the asking leaf", twist: func(c *world.Case) {
			queueB(c).Properties = map[string]string{"preemption.policy": "fence"}
		}, want: "nothing-in-reach"},

		{name: "counts", twist: func(c *world.Case) {
			taskA1(c).Priority = 1
			taskA2(c).Application = "app-x"
		}, want: "no-victims", counts: map[string]int{"priority": 1, "same-application": 1, "fence": 1}, lacks: cpu{"cpu": 2}},
		{name: "each alone is lawful, both are not", twist: func(c *world.Case) {
			c.Ask.Size = cpu{"cpu": 4}
		}, want: "no-victims", counts: map[string]int{"fence": 1}, lacks: cpu{}},
		{name: "an exemption ends", twist: func(c *world.Case) {
			c.Options.Exempt = map[string]time.Time{"a1": now.Add(2 * minute), "a2": {}}
		}, want: "no-victims", counts: map[string]int{"exempt": 2, "fence": 1}, lacks: cpu{"cpu": 2}, retry: 2 * minute},
		{name: "an exemption that is over is none", twist: func(c *world.Case) {
			c.Options.Exempt = map[string]time.Time{"a1": {}, "a2": now}
		}, want: "plan", stops: []string{"a2"}},

		{name: "a required node knows no guarantees", twist: func(c *world.Case) {
			c.Ask.RequiredNode = "n1"
			queueA(c).Guaranteed = cpu{"cpu": 9}
			queueA(c).Properties = map[string]string{"preemption.policy": "disabled"}
		}, want: "plan", stops: []string{"a2"}},
		{name: "and compares raw priorities", twist: func(c *world.Case) {
			c.Ask.RequiredNode = "n1"
			queueA(c).Properties = map[string]string{"priority.offset": "-9"}
			taskA1(c).Priority, taskA2(c).Priority, c.World.Tasks[2].Priority = 1, 1, 1
		}, want: "no-victims", counts: map[string]int{"priority": 3}, lacks: cpu{"cpu": 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := base()
			tt.twist(c)
			r := oracle.Decide(c)
			got := r.Outcome
			if got == oracle.Refused {
				got = r.Reason
			}
			require.Equal(t, tt.want, got)
			var stops []string
			for _, v := range r.Victims {
				stops = append(stops, v.Key)
			}
			require.Equal(t, tt.stops, stops)
			if tt.want == "no-victims" {
				require.Equal(t, tt.counts, r.Counts)
				require.Equal(t, tt.lacks, r.Lacks)
			}
			retry := time.Time{}
			if tt.retry != 0 {
				retry = now.Add(tt.retry)
			}
			require.Equal(t, retry, r.RetryAt)
		})
	}
}

func TestBreaks(t *testing.T) {
	properties := func(key, value string) map[string]string { return map[string]string{key: value} }
	for _, tt := range []struct {
		name    string
		twist   func(c *world.Case)
		node    string // "" is n1
		victims []string
		want    []oracle.Law
	}{
		{name: "lawful", twist: func(c *world.Case) {}},
		{name: "below the guarantee", twist: func(c *world.Case) {
			queueA(c).Guaranteed = cpu{"cpu": 4}
		}, want: []oracle.Law{oracle.Law2}},
		{name: "a type that the ask does not want", twist: func(c *world.Case) {
			queueA(c).Guaranteed = cpu{"cpu": 2, "gpu": 1}
			taskA2(c).Size = cpu{"cpu": 2, "gpu": 1}
		}, want: []oracle.Law{oracle.Law2}},
		{name: "the ask makes up for it on its path", twist: func(c *world.Case) {
			c.World.Root.Guaranteed = cpu{"cpu": 6}
		}},
		{name: "but for no more than it brings", twist: func(c *world.Case) {
			c.World.Root.Guaranteed = cpu{"cpu": 6}
		}, victims: []string{"a1"}, want: []oracle.Law{oracle.Law2}},
		{name: "same application", twist: func(c *world.Case) {
			taskA2(c).Application = "app-x"
		}, want: []oracle.Law{oracle.Law3}},
		{name: "not under its guarantee", twist: func(c *world.Case) {
			queueB(c).Guaranteed = cpu{"cpu": 1}
		}, want: []oracle.Law{oracle.Law4}},
		{name: "not guaranteed", twist: func(c *world.Case) {
			queueB(c).Guaranteed = nil
		}, want: []oracle.Law{oracle.Law4}},
		{name: "not over its guarantee", twist: func(c *world.Case) {
			queueA(c).Guaranteed = cpu{"cpu": 5}
		}, want: []oracle.Law{oracle.Law2, oracle.Law5}},
		{name: "higher priority", twist: func(c *world.Case) {
			taskA2(c).Priority = 1
		}, want: []oracle.Law{oracle.Law6}},
		{name: "equal priority, strictly", twist: func(c *world.Case) {
			c.Options.StrictPriority = true
		}, want: []oracle.Law{oracle.Law6}},
		{name: "higher by offset", twist: func(c *world.Case) {
			queueA(c).Properties = properties("priority.offset", "1")
		}, want: []oracle.Law{oracle.Law6}},
		{name: "lower by fence", twist: func(c *world.Case) {
			queueA(c).Properties = properties("priority.policy", "fence")
			taskA2(c).Priority = 1
		}},
		{name: "outside the fence", twist: func(c *world.Case) {
			queueB(c).Properties = properties("preemption.policy", "fence")
		}, want: []oracle.Law{oracle.Law7}},
		{name: "disabled", twist: func(c *world.Case) {
			queueA(c).Properties = properties("preemption.policy", "disabled")
		}, want: []oracle.Law{oracle.Disabled}},
		{name: "not on the root", twist: func(c *world.Case) {
			c.World.Root.Properties = properties("preemption.policy", "disabled")
		}},
		{name: "inside the starving queue", twist: func(c *world.Case) {
			queueB(c).Guaranteed = nil
			c.World.Root.Guaranteed = cpu{"cpu": 9}
		}, want: []oracle.Law{oracle.Storm}},
		{name: "leaving", twist: func(c *world.Case) {
			c.World.Nodes[0].Capacity = cpu{"cpu": 4}
			queueA(c).Guaranteed = nil
			taskA2(c).State = world.Preempting
		}, want: []oracle.Law{oracle.Candidate}},
		{name: "bound to its node", twist: func(c *world.Case) {
			taskA2(c).RequiredNode = true
		}, want: []oracle.Law{oracle.Candidate}},
		{name: "unknown", twist: func(c *world.Case) {}, victims: []string{"a2", "a3"},
			want: []oracle.Law{oracle.Candidate}},
		{name: "twice", twist: func(c *world.Case) {}, victims: []string{"a2", "a2"},
			want: []oracle.Law{oracle.Candidate}},
		{name: "exempt", twist: func(c *world.Case) {
			c.Options.Exempt = map[string]time.Time{"a2": now.Add(1)}
		}, want: []oracle.Law{oracle.Exempt}},
		{name: "unschedulable", twist: func(c *world.Case) {
			c.World.Nodes[0].Unschedulable = true
		}, want: []oracle.Law{oracle.Node}},
		{name: "reserved", twist: func(c *world.Case) {
			c.World.Nodes[0].ReservedFor = "y"
		}, want: []oracle.Law{oracle.Node}},
		{name: "reserved for the ask", twist: func(c *world.Case) {
			c.World.Nodes[0].ReservedFor = "x"
		}},
		{name: "no such node", twist: func(c *world.Case) {}, node: "n2",
			want: []oracle.Law{oracle.Node, oracle.Node}}, // unknown, and without room
		{name: "too few", twist: func(c *world.Case) {
			c.Ask.Size = cpu{"cpu": 3}
		}, want: []oracle.Law{oracle.Node}},
		{name: "no headroom", twist: func(c *world.Case) {
			c.World.Root.Max = cpu{"cpu": 5}
		}, want: []oracle.Law{oracle.Headroom}},
		{name: "too many", twist: func(c *world.Case) {
			queueA(c).Guaranteed = nil
		}, victims: []string{"a1", "a2"}, want: []oracle.Law{oracle.Minimal, oracle.Minimal}},
		{name: "a gang, of which two may go alone", twist: func(c *world.Case) {
			gangOfA2(c, 1)
		}, victims: []string{"a2", "a3", "a4"}, want: []oracle.Law{oracle.Minimal, oracle.Minimal, oracle.Minimal}},
		{name: "and only on the node", twist: func(c *world.Case) {
			gangOfA2(c, 1)
			c.Options.VictimsOnNode = true
		}, victims: []string{"a2", "a3", "a4"}, want: []oracle.Law{oracle.Minimal}},
		{name: "and only on the required node", twist: func(c *world.Case) {
			gangOfA2(c, 1)
			c.Ask.RequiredNode = "n1"
		}, victims: []string{"a2", "a3", "a4"}, want: []oracle.Law{oracle.Minimal}},
		{name: "a gang that goes for its member on the node", twist: func(c *world.Case) {
			gangOfA2(c, 3)
			c.Options.VictimsOnNode = true
		}, victims: []string{"a2", "a3", "a4"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := base()
			tt.twist(c)
			node, victims := "n1", []string{"a2"}
			if tt.node != "" {
				node = tt.node
			}
			if tt.victims != nil {
				victims = tt.victims
			}
			var got []oracle.Law
			breaks := oracle.Breaks(c, node, victims)
			for _, b := range breaks {
				got = append(got, b.Law)
			}
			require.ElementsMatch(t, tt.want, got, breaks)
		})
	}
}

func TestCostOf(t *testing.T) {
	c := base()
	taskA1(c).Priority, taskA2(c).Priority, c.Ask.Priority = 1, -2, 4
	taskA1(c).OptedOut, taskA2(c).Originator = true, true
	queueA(c).Properties = map[string]string{"priority.offset": "2"}
	queueB(c).Properties = map[string]string{"priority.offset": "1"}
	taskA1(c).Scheduled, taskA2(c).Scheduled = now.Add(-time.Second), now.Add(time.Second)

	cost := oracle.CostOf(c, "n1", []string{"a2", "a1"})
	require.Equal(t, []string{"a1", "a2"}, cost.Keys)
	require.Equal(t, 1, cost.OptedOut)
	require.Equal(t, 1, cost.Originators)
	require.Equal(t, int64(-2), cost.MaxRank) // a1: 1+2 against 4+1; a2: -2+2 against it
	require.Equal(t, int64(1), cost.MaxPriority)
	require.Equal(t, 2, cost.Victims)
	require.Equal(t, int64(-7), cost.SumRanks)
	require.Equal(t, "1/2", cost.Excess.String())              // 5 are freed and 2 needed, of 6
	require.Equal(t, "500000000000000000", cost.Work.String()) // a second of 3 cpu of 6
	require.Equal(t, 0, cost.Node)
}

// The two ways to find the fewest opted-out victims agree.
func TestFewest(t *testing.T) { rapid.Check(t, propertyFewest) }

func FuzzFewest(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(propertyFewest))
}

func propertyFewest(t *rapid.T) {
	c := world.Cases(world.Small).Draw(t, "case")
	r := oracle.Decide(c)
	fewest, ok := oracle.Fewest(c)
	switch {
	case r.Outcome == oracle.Preempts && (!ok || fewest != r.Cost.OptedOut):
		t.Fatalf("%d (%v), and a plan with %d\n%v", fewest, ok, r.Cost.OptedOut, c)
	case r.Reason == "no-victims" && ok:
		t.Fatalf("%d, and no plan\n%v", fewest, c)
	}
}
