// SPDX-License-Identifier: Apache-2.0

package oracle_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
)

// jobBase is a case to be worked out by heart. Two nodes have 4 cpus each and
// are full: n1 with a1 of 3 and a2 of 1, n2 with b1 and b2 of 2. Members x0 and
// x1 of job x want 2 each, and a2 is of their priority and stays. So n1 can take
// one for a1, and n2 one for each of its tasks: two victims in any case, and the
// least excess where both members go to n2.
func jobBase() *world.JobCase {
	task := func(key, queue, node string, size int64) world.Task {
		return world.Task{
			Key: key, Queue: queue, Application: "app-" + key, Node: node, Size: cpu{"cpu": size},
		}
	}
	c := &world.JobCase{
		ByPriority: true,
		World: world.World{
			Types: []string{"cpu"},
			Root: world.Queue{Name: "root", Children: []world.Queue{
				{Name: "a"}, {Name: "b"}, {Name: "x"},
			}},
			Nodes: []world.Node{{Name: "n1", Capacity: cpu{"cpu": 4}}, {Name: "n2", Capacity: cpu{"cpu": 4}}},
			Tasks: []world.Task{
				task("a1", "root.a", "n1", 3), task("a2", "root.a", "n1", 1),
				task("b1", "root.b", "n2", 2), task("b2", "root.b", "n2", 2),
			},
		},
		Job: world.Job{
			Name: "x", Application: "app-x", Queue: "root.x", Priority: 5,
			Members: []world.Member{{Key: "x0", Size: cpu{"cpu": 2}}, {Key: "x1", Size: cpu{"cpu": 2}}},
		},
		Quotas:   make(map[string]world.Quota),
		Minimums: make(map[string]int),
		Options:  world.Options{Now: now},
	}
	setPriority(c, 5, "a2")
	return c
}

// The parts of the base case that twists change.
func jobTask(c *world.JobCase, key string) *world.Task {
	i := slices.IndexFunc(c.World.Tasks, func(t world.Task) bool { return t.Key == key })
	return &c.World.Tasks[i]
}

func jobQueue(c *world.JobCase, name string) *world.Queue {
	i := slices.IndexFunc(c.World.Root.Children, func(q world.Queue) bool { return q.Name == name })
	return &c.World.Root.Children[i]
}

func setPriority(c *world.JobCase, priority int32, keys ...string) {
	for _, key := range keys {
		jobTask(c, key).Priority = priority
	}
}

// gang makes a job g of tasks, of which so many must stay.
func gang(c *world.JobCase, keeps int, keys ...string) {
	c.Minimums["g"] = keeps
	for _, key := range keys {
		jobTask(c, key).Job = "g"
	}
}

func TestDecideJob(t *testing.T) {
	const minute = time.Minute
	for _, tt := range []struct {
		name  string
		twist func(c *world.JobCase)
		want  string // outcome, or the reason of a refusal
		stops []string
		nodes []string // of the members with a place, a further one in brackets
		retry time.Duration
	}{
		{name: "least excess", twist: func(c *world.JobCase) {},
			want: "plan", stops: []string{"b1", "b2"}, nodes: []string{"n2", "n2"}},
		{name: "lowest priority", twist: func(c *world.JobCase) { setPriority(c, 1, "b1") },
			want: "plan", stops: []string{"a1", "b2"}, nodes: []string{"n1", "n2"}},
		{name: "never half a job", twist: func(c *world.JobCase) { setPriority(c, 5, "b1", "b2") },
			want: "no-victims"},
		{name: "members of their own sizes", twist: func(c *world.JobCase) {
			c.Job.Members[0].Size = cpu{"cpu": 3}
		}, want: "plan", stops: []string{"a1", "b1"}, nodes: []string{"n1", "n2"}},
		{name: "no type but those that they want", twist: func(c *world.JobCase) {
			c.World.Types = append(c.World.Types, "gpu")
			jobTask(c, "b1").Size = cpu{"cpu": 2, "gpu": 9}
			c.Job.Members[0].Size = cpu{"cpu": 2, "gpu": 0}
		}, want: "plan", stops: []string{"a1", "b2"}, nodes: []string{"n1", "n2"}}, // gpus are freed beyond need

		{name: "fits", twist: func(c *world.JobCase) { c.World.Nodes[1].Capacity = cpu{"cpu": 8} },
			want: "fits", nodes: []string{"n2", "n2"}},
		{name: "at the first nodes", twist: func(c *world.JobCase) {
			c.World.Nodes[0].Capacity, c.World.Nodes[1].Capacity = cpu{"cpu": 6}, cpu{"cpu": 8}
		}, want: "fits", nodes: []string{"n1", "n2"}},
		{name: "waits", twist: func(c *world.JobCase) {
			jobTask(c, "a1").State = world.Releasing
			jobTask(c, "b1").State = world.Releasing
		}, want: "waits", nodes: []string{"n1", "n2"}},
		{name: "waits for the quota", twist: func(c *world.JobCase) {
			c.World.Nodes[1].Capacity = cpu{"cpu": 8}
			c.Quotas["root"] = world.Quota{Max: cpu{"cpu": 10}}
			jobTask(c, "b1").State = world.Releasing
		}, want: "waits", nodes: []string{"n2", "n2"}},

		{name: "who may not take may fit", twist: func(c *world.JobCase) {
			c.World.Nodes[1].Capacity = cpu{"cpu": 8}
			c.Job.MayNot = true
		}, want: "fits", nodes: []string{"n2", "n2"}},
		{name: "may not", twist: func(c *world.JobCase) { c.Job.MayNot = true }, want: "may-not-preempt"},
		{name: "equal priority stays", twist: func(c *world.JobCase) {
			c.Job.Priority = 0
		}, want: "no-victims"},
		{name: "lifted below the common ancestor", twist: func(c *world.JobCase) {
			c.Job.Priority = 0
			jobQueue(c, "b").Properties = map[string]string{"priority.offset": "-1"}
		}, want: "plan", stops: []string{"b1", "b2"}, nodes: []string{"n2", "n2"}},
		{name: "its own leaf is in reach, with a fence around it", twist: func(c *world.JobCase) {
			jobQueue(c, "x").Properties = map[string]string{"preemption.policy": "fence"}
			jobTask(c, "b1").Queue, jobTask(c, "a1").Queue = "root.x", "root.x"
		}, want: "plan", stops: []string{"a1", "b1"}, nodes: []string{"n1", "n2"}},
		{name: "disabled protects, its own leaf too", twist: func(c *world.JobCase) {
			jobQueue(c, "x").Properties = map[string]string{"preemption.policy": "disabled"}
			jobTask(c, "b1").Queue = "root.x"
		}, want: "plan", stops: []string{"a1", "b2"}, nodes: []string{"n1", "n2"}},
		{name: "same application", twist: func(c *world.JobCase) {
			jobTask(c, "b1").Application = "app-x"
		}, want: "plan", stops: []string{"a1", "b2"}, nodes: []string{"n1", "n2"}},
		{name: "not preemptible", twist: func(c *world.JobCase) {
			jobTask(c, "b1").NonPreemptible = true
		}, want: "plan", stops: []string{"a1", "b2"}, nodes: []string{"n1", "n2"}},
		{name: "bound to its node", twist: func(c *world.JobCase) {
			jobTask(c, "b1").RequiredNode = true
		}, want: "plan", stops: []string{"a1", "b2"}, nodes: []string{"n1", "n2"}},
		{name: "opted out", twist: func(c *world.JobCase) {
			jobTask(c, "b1").OptedOut, jobTask(c, "a1").Originator = true, true
		}, want: "plan", stops: []string{"a1", "b2"}, nodes: []string{"n1", "n2"}},
		{name: "exempt", twist: func(c *world.JobCase) {
			c.Options.Exempt = map[string]time.Time{"b1": now.Add(2 * minute), "b2": now.Add(3 * minute), "a1": {}}
		}, want: "no-victims", retry: 3 * minute},

		{name: "a member that is leaving has no place and gets none", twist: func(c *world.JobCase) {
			ask := c.Job.Ask(&c.Job.Members[0])
			c.World.Tasks[2] = ask.Started("n2", now)
			c.World.Tasks[2].State = world.Preempting
		}, want: "in-flight"},
		{name: "unless there are enough others", twist: func(c *world.JobCase) {
			c.Job.MinMembers = 1
			ask := c.Job.Ask(&c.Job.Members[0])
			c.World.Tasks[2] = ask.Started("n2", now)
			c.World.Tasks[2].State = world.Preempting
		}, want: "waits", nodes: []string{"n2"}},
		{name: "all are disabled", twist: func(c *world.JobCase) {
			for _, q := range []string{"a", "b", "x"} {
				jobQueue(c, q).Properties = map[string]string{"preemption.policy": "disabled"}
			}
		}, want: "nothing-in-reach"},

		{name: "law 2 binds over all nodes", twist: func(c *world.JobCase) {
			jobQueue(c, "b").Guaranteed = cpu{"cpu": 2}
		}, want: "plan", stops: []string{"a1", "b1"}, nodes: []string{"n1", "n2"}},
		{name: "law 2 counts the members on their path", twist: func(c *world.JobCase) {
			c.World.Root.Guaranteed = cpu{"cpu": 8}
		}, want: "plan", stops: []string{"b1", "b2"}, nodes: []string{"n2", "n2"}},
		{name: "headroom, on any node", twist: func(c *world.JobCase) {
			c.World.Nodes[0].Capacity = cpu{"cpu": 8}
			c.World.Root.Max = cpu{"cpu": 10}
		}, want: "plan", stops: []string{"b1"}, nodes: []string{"n1", "n1"}},

		{name: "a preemptible job within the max of its quota", twist: func(c *world.JobCase) {
			c.Quotas["root.x"] = world.Quota{Min: cpu{"cpu": 9}, Max: cpu{"cpu": 4}}
		}, want: "plan", stops: []string{"b1", "b2"}, nodes: []string{"n2", "n2"}},
		{name: "or not: what others wait for is withheld, up to the min", twist: func(c *world.JobCase) {
			c.Quotas["root.x"] = world.Quota{Min: cpu{"cpu": 1}, Max: cpu{"cpu": 4}, Waiting: cpu{"cpu": 9}}
		}, want: "quota-max"},
		{name: "wherever below they wait", twist: func(c *world.JobCase) {
			c.Quotas["root"] = world.Quota{Min: cpu{"cpu": 9}, Max: cpu{"cpu": 12}}
			c.Quotas["root.a"] = world.Quota{Waiting: cpu{"cpu": 1}}
		}, want: "quota-max"},
		{name: "non-preemptible: over the min", twist: func(c *world.JobCase) {
			c.Job.NonPreemptible = true
			c.Quotas["root.x"] = world.Quota{Min: cpu{"cpu": 3}}
		}, want: "quota-min"},
		{name: "a type absent in the min is 0", twist: func(c *world.JobCase) {
			c.Job.NonPreemptible = true
			c.Quotas["root.x"] = world.Quota{}
		}, want: "quota-min"},
		{name: "non-preemptible: takes below its quota what the max lacks", twist: func(c *world.JobCase) {
			c.Job.NonPreemptible = true
			setPriority(c, 0, "a2")
			jobTask(c, "a2").Queue = "root.x"
			c.Quotas["root.x"] = world.Quota{Min: cpu{"cpu": 4}, Max: cpu{"cpu": 4}}
		}, want: "plan", stops: []string{"a1", "a2"}, nodes: []string{"n1", "n1"}},

		{name: "members with a place keep it and count", twist: func(c *world.JobCase) {
			ask := c.Job.Ask(&c.Job.Members[0])
			c.World.Tasks[2] = ask.Started("n2", now)
		}, want: "plan", stops: []string{"b2"}, nodes: []string{"n2"}},
		{name: "the minimum only", twist: func(c *world.JobCase) {
			c.Job.MinMembers = 1
		}, want: "plan", stops: []string{"b1"}, nodes: []string{"n2"}},
		{name: "further ones where there is room", twist: func(c *world.JobCase) {
			c.Job.MinMembers = 1
			c.Job.Members[0].Size = cpu{"cpu": 3}
			c.Job.Members = append(c.Job.Members, world.Member{Key: "x2", Size: cpu{"cpu": 1}})
			c.World.Nodes[0].Capacity = cpu{"cpu": 5}
		}, want: "plan", stops: []string{"a1"}, nodes: []string{"n1", "(n1)"}},
		{name: "one by one", twist: func(c *world.JobCase) {
			c.Job.MinMembers = 1
			c.Job.Members = append(c.Job.Members, world.Member{Key: "x2", Size: cpu{"cpu": 1}})
			c.World.Nodes[0].Capacity = cpu{"cpu": 7}
		}, want: "fits", nodes: []string{"n1", "(n1)"}},

		{name: "a surplus of a gang", twist: func(c *world.JobCase) {
			gang(c, 1, "b1", "b2")
		}, want: "plan", stops: []string{"a1", "b1"}, nodes: []string{"n1", "n2"}},
		{name: "a gang costs more than tasks", twist: func(c *world.JobCase) {
			setPriority(c, 0, "a2")
			gang(c, 2, "a1", "a2")
		}, want: "plan", stops: []string{"b1", "b2"}, nodes: []string{"n2", "n2"}},
		{name: "a whole gang on all its nodes", twist: func(c *world.JobCase) {
			setPriority(c, 0, "a2")
			gang(c, 2, "a2", "b1")
			jobTask(c, "a1").NonPreemptible = true
		}, want: "plan", stops: []string{"a2", "b1", "b2"}, nodes: []string{"n2", "n2"}},
		{name: "a gang that cannot go", twist: func(c *world.JobCase) {
			gang(c, 2, "a2", "b1")
			jobTask(c, "a2").NonPreemptible = true
		}, want: "plan", stops: []string{"a1", "b2"}, nodes: []string{"n1", "n2"}},
		{name: "those that are leaving are no members any more", twist: func(c *world.JobCase) {
			gang(c, 1, "a2", "b1")
			jobTask(c, "a1").NonPreemptible = true
			jobTask(c, "a2").State = world.Preempting
		}, want: "plan", stops: []string{"b1", "b2"}, nodes: []string{"n2", "n2"}},

		{name: "those with a grant are none yet, and keep nobody", twist: func(c *world.JobCase) {
			gang(c, 1, "b1")
			jobTask(c, "b2").NonPreemptible = true
			c.World.Nodes[0].Capacity = cpu{"cpu": 5}
			c.World.Grants = []world.Grant{{Ask: world.Ask{Key: "b3", Queue: "root.b", Job: "g", Size: cpu{"cpu": 1}}, Node: "n1"}}
		}, want: "plan", stops: []string{"a1", "b1"}, nodes: []string{"n1", "n2"}},

		{name: "unschedulable", twist: func(c *world.JobCase) {
			setPriority(c, 0, "a2")
			c.World.Nodes[1].Unschedulable = true
		}, want: "plan", stops: []string{"a1", "a2"}, nodes: []string{"n1", "n1"}},
		{name: "not on one node", twist: func(c *world.JobCase) { c.Apart = true },
			want: "plan", stops: []string{"a1", "b1"}, nodes: []string{"n1", "n2"}},
		{name: "a further one neither", twist: func(c *world.JobCase) {
			c.Apart, c.Job.MinMembers = true, 1
			c.World.Nodes[0].Capacity = cpu{"cpu": 8}
		}, want: "fits", nodes: []string{"n1"}},
		{name: "nor where it is refused", twist: func(c *world.JobCase) {
			c.Refused = map[string][]string{"x0": {"n2"}}
		}, want: "plan", stops: []string{"a1", "b1"}, nodes: []string{"n1", "n2"}},

		{name: "reserved for all of them", twist: func(c *world.JobCase) { c.World.Nodes[1].ReservedFor = "x" },
			want: "plan", stops: []string{"b1", "b2"}, nodes: []string{"n2", "n2"}},
		{name: "reserved for one of them", twist: func(c *world.JobCase) { c.World.Nodes[1].ReservedFor = "x0" },
			want: "plan", stops: []string{"a1", "b1"}, nodes: []string{"n2", "n1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := jobBase()
			tt.twist(c)
			r := oracle.DecideJob(c)
			got := r.Outcome
			if got == oracle.Refused {
				got = r.Reason
			}
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.stops, r.Victims)
			var nodes []string
			for _, p := range r.Placements {
				if p.Further {
					p.Node = "(" + p.Node + ")"
				}
				nodes = append(nodes, p.Node)
			}
			require.Equal(t, tt.nodes, nodes)
			retry := time.Time{}
			if tt.retry != 0 {
				retry = now.Add(tt.retry)
			}
			require.Equal(t, retry, r.RetryAt)
		})
	}
}

func TestJobBreaks(t *testing.T) {
	both := []string{"n2", "n2"}
	for _, tt := range []struct {
		name           string
		twist          func(c *world.JobCase)
		nodes, victims []string // nil: n2 twice, and b1 and b2
		want           []oracle.Law
	}{
		{name: "lawful", twist: func(c *world.JobCase) {}},
		{name: "unknown", twist: func(c *world.JobCase) {}, victims: []string{"b1", "b2", "b3"},
			want: []oracle.Law{oracle.Candidate}},
		{name: "leaving", twist: func(c *world.JobCase) { jobTask(c, "b1").State = world.Releasing },
			want: []oracle.Law{oracle.Candidate, oracle.Minimal}},
		{name: "not preemptible", twist: func(c *world.JobCase) { jobTask(c, "b1").NonPreemptible = true },
			want: []oracle.Law{oracle.Candidate}},
		{name: "same application", twist: func(c *world.JobCase) { jobTask(c, "b1").Application = "app-x" },
			want: []oracle.Law{oracle.Law3}},
		{name: "equal priority", twist: func(c *world.JobCase) { setPriority(c, 5, "b1") },
			want: []oracle.Law{oracle.Law6}},
		{name: "outside the fence", twist: func(c *world.JobCase) {
			jobQueue(c, "x").Properties = map[string]string{"preemption.policy": "fence"}
		}, want: []oracle.Law{oracle.Law7}},
		{name: "disabled", twist: func(c *world.JobCase) {
			jobQueue(c, "b").Properties = map[string]string{"preemption.policy": "disabled"}
		}, want: []oracle.Law{oracle.Disabled}},
		{name: "exempt", twist: func(c *world.JobCase) {
			c.Options.Exempt = map[string]time.Time{"b1": {}}
		}, want: []oracle.Law{oracle.Exempt}},
		{name: "half a gang", twist: func(c *world.JobCase) { gang(c, 2, "a1", "b1") },
			want: []oracle.Law{oracle.Gang}},
		{name: "below the guarantee", twist: func(c *world.JobCase) {
			jobQueue(c, "b").Guaranteed = cpu{"cpu": 1}
		}, want: []oracle.Law{oracle.Law2}},
		{name: "over the max", twist: func(c *world.JobCase) { jobQueue(c, "x").Max = cpu{"cpu": 3} },
			want: []oracle.Law{oracle.Headroom}},
		{name: "over the quota", twist: func(c *world.JobCase) {
			c.Quotas["root.x"] = world.Quota{Max: cpu{"cpu": 3}}
		}, want: []oracle.Law{oracle.Quota}},
		{name: "no room", twist: func(c *world.JobCase) {}, nodes: []string{"n1", "n2"},
			want: []oracle.Law{oracle.Node}},
		{name: "too few places", twist: func(c *world.JobCase) {}, nodes: []string{"n2"},
			want: []oracle.Law{oracle.Node}},
		{name: "too many", twist: func(c *world.JobCase) { setPriority(c, 0, "a2") }, victims: []string{"a2", "b1", "b2"}, nodes: both,
			want: []oracle.Law{oracle.Minimal}},
		{name: "a whole gang too many", twist: func(c *world.JobCase) {
			setPriority(c, 0, "a2")
			gang(c, 2, "a1", "a2")
		}, victims: []string{"a1", "a2", "b1", "b2"}, nodes: both, want: []oracle.Law{oracle.Minimal}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := jobBase()
			tt.twist(c)
			nodes, victims := both, []string{"b1", "b2"}
			if tt.nodes != nil {
				nodes = tt.nodes
			}
			if tt.victims != nil {
				victims = tt.victims
			}
			require.ElementsMatch(t, tt.want, oracle.JobBreaks(c, nodes, victims))
		})
	}
}

func TestJobCostOf(t *testing.T) {
	c := jobBase()
	jobTask(c, "a1").Priority, jobTask(c, "b1").Priority = 1, -2
	jobTask(c, "a1").OptedOut, jobTask(c, "b1").Originator = true, true
	jobQueue(c, "a").Properties = map[string]string{"priority.offset": "2"}
	jobTask(c, "a1").Scheduled, jobTask(c, "b1").Scheduled = now.Add(-time.Second), now.Add(time.Second)
	gang(c, 1, "a1")

	cost := oracle.JobCostOf(c, []string{"n2", "n1"}, []string{"b1", "a1"})
	require.Equal(t, []string{"a1", "b1"}, cost.Keys)
	require.Equal(t, 1, cost.OptedOut)
	require.Equal(t, 1, cost.Originators)
	require.Equal(t, int64(-2), cost.MaxRank) // a1: 1+2 against 5; b1: -2 against it
	require.Equal(t, int64(1), cost.MaxPriority)
	require.Equal(t, 1, cost.Jobs)
	require.Equal(t, 2, cost.Victims)
	require.Equal(t, int64(-9), cost.SumRanks)
	require.Equal(t, "1/8", cost.Excess.String())              // 5 are freed and 4 needed, of 8
	require.Equal(t, "375000000000000000", cost.Work.String()) // a second of 3 cpu of 8
	require.Equal(t, []int{1, 0}, cost.Nodes)
}

// What the oracle decides breaks no law, and needs no precondition that its
// own laws do not have.
func TestDecideJobIsLawful(t *testing.T) { rapid.Check(t, propertyDecideJobIsLawful) }

func FuzzDecideJobIsLawful(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(propertyDecideJobIsLawful))
}

func propertyDecideJobIsLawful(t *rapid.T) {
	c := world.JobCases(world.Small).Draw(t, "case")
	r := oracle.DecideJob(c)
	if r.Outcome != oracle.Preempts {
		return
	}
	var places []string
	for _, p := range r.Placements {
		if !p.Further {
			places = append(places, p.Node)
		}
	}
	if broken := oracle.JobBreaks(c, places, r.Victims); len(broken) > 0 {
		t.Fatalf("%v on %v breaks %v\n%v", r.Victims, places, broken, c)
	}
}
