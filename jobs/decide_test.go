// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/victims"
)

// A node dies with the grant of a member. The job is not in flight any more: it is decided
// again for that member, in the domain of the others, and waits for them.
func TestDecide_LostGrant(t *testing.T) {
	const town = "queue q g=9\nqueue low\nnode n1 4 in=r1\ntask v low n1 4 state=preempting\nnode n2 4 in=r1\n" +
		"grant j0 q n1 4 job=j\ngrant j1 q n2 4 job=j\njob q 4,4 domain=1\n"
	for _, test := range []struct{ more, want string }{
		{"node n3 4 in=r1", "waits j1=n3"},
		{"node n3 4 in=r1\ntask w low n3 4", "plan j1=n3 -w"},
		{"node n3 4 in=r1\ntask w low n3 4 bound\nnode n4 4 in=r2", "refused domain 1 leaving 1 required-node"},
		{"node n4 4 in=r2", "refused domain 1 leaving"},
	} {
		for _, priority := range []bool{false, true} {
			w := build(t, town+test.more)
			p := w.planner()
			p.ByPriority = priority
			var d victims.Decision
			require.NoError(t, p.Decide(&d, &w.job, noon))
			require.Equal(t, victims.InFlight, d.Refusal.Reason)
			orphans, err := w.cluster.RemoveNode("n2")
			require.NoError(t, err)
			require.Equal(t, []victims.Orphan{{Ask: "j1"}}, orphans, "a grant that was reserved for it alone")
			require.NoError(t, p.Decide(&d, &w.job, noon))
			require.NoError(t, d.Count())
			require.Equal(t, test.want, w.brief(&d), test.more)
			if d.Outcome != victims.Refused {
				continue
			}
			require.Contains(t, d.String(), "without these grants it could go elsewhere")
			require.NoError(t, w.cluster.Drop("j0"))
			require.NoError(t, p.Decide(&d, &w.job, noon))
			require.NotEqual(t, "domain", d.Refusal.Reason)
		}
	}
}

// Each row is one rule, on paper: most have a node n1 of 4 cpus that is full.
func TestDecide(t *testing.T) {
	const (
		queues = "queue q\nqueue low\n"
		n1     = "node n1 4\n"
		full   = queues + n1 + "task v low n1 4 "
		one    = "\njob q 4 "
	)
	for _, test := range []struct{ name, town, want string }{
		// Lazy: without victims where that is possible.
		{"fits", queues + n1 + "task v low n1 2" + "\njob q 2", "fits j0=n1"},
		{"fits on the first node", queues + n1 + "node n2 9\nnode n3 9" + "\njob q 4,4,4", "fits j0=n1 j1=n2 j2=n2"},
		{"members see each other", queues + n1 + "node n2 4" + "\njob q 2,2,2", "fits j0=n1 j1=n1 j2=n2"},
		{"the large one must have the large node", queues + "node n1 5\nnode n2 4" + "\njob q 4,5", "fits j0=n2 j1=n1"},
		{"a member that wants nothing runs anywhere", full + "\njob q 0", "fits j0=n1"},
		{"waits for what is leaving", full + "state=releasing" + one, "waits j0=n1"},
		{"waits for the quota, and then n1 is free as well", "queue q quota=0:4\n" + n1 + "node n2 4\ntask v q n1 4 state=preempting" + one, "waits j0=n1"},
		{"waits for the max", "queue q max=4\n" + n1 + "node n2 4\ntask v q n2 4 state=releasing" + one, "waits j0=n1"},
		{"waits and leaves others alone", queues + n1 + "node n2 4\ntask v low n1 4\ntask w low n2 4 state=preempting" + one, "waits j0=n2"},

		// Who may be stopped.
		{"lower priority", full + one, "plan j0=n1 -v"},
		{"equal priority", full + "p=10" + one, "refused no-victims 1 priority"},
		{"own leaf, raw priority", "queue q offset=-9 priority=fence\n" + n1 + "task v q n1 4 p=9" + one, "plan j0=n1 -v"},
		{"lifted above", "queue q\nqueue low offset=10\n" + n1 + "task v low n1 4" + one, "refused no-victims 1 priority"},
		{"lifted below", "queue q\nqueue low offset=-20\n" + n1 + "task v low n1 4 p=20" + one, "plan j0=n1 -v"},
		{"same application", full + "app=j" + one, "refused no-victims 1 same-application"},
		{"of the job itself", full + "job=j" + one, "refused no-victims 1 same-application"},
		{"not preemptible", full + "fixed" + one, "refused no-victims 1 non-preemptible"},
		{"bound to its node", full + "bound" + one, "refused no-victims 1 required-node"},
		{"leaving already, and too small", queues + n1 + "task v low n1 4 fixed\ntask w low n1 0 state=releasing" + one,
			"refused no-victims 1 leaving 1 non-preemptible"},
		{"exempt for ever", full + "until=ever" + one, "refused no-victims 1 exempt"},
		{"exempt no longer", full + "until=0s" + one, "plan j0=n1 -v"},
		{"disabled", "queue q\nqueue low policy=disabled\n" + n1 + "task v low n1 4" + one, "refused no-victims 1 disabled"},
		{"own leaf disabled", "queue q policy=disabled\nqueue low\n" + n1 + "task v q n1 4" + one, "refused no-victims 1 disabled"},
		{"beyond the fence", "queue t policy=fence\nqueue t.q\nqueue low\n" + n1 + "task v low n1 4" + "\njob t.q 4", "refused no-victims 1 fence"},
		{"inside the fence", "queue t policy=fence\nqueue t.q\nqueue t.low\n" + n1 + "task v t.low n1 4" + "\njob t.q 4", "plan j0=n1 -v"},
		{"own leaf behind its own fence", "queue q policy=fence\nqueue low\n" + n1 + "task v q n1 4" + one, "plan j0=n1 -v"},
		{"nothing in reach", "queue q policy=disabled\n" + n1 + "task v q n1 4" + one, "refused nothing-in-reach"},
		{"of no help", queues + n1 + "node n2 2\ntask v low n1 4 fixed\ntask w low n2 0/1" + one, "refused no-victims 1 non-preemptible 1 not-helping"},
		{"a grant is no victim", queues + n1 + "grant x low n1 4" + one, "refused no-victims"},

		// Law 2.
		{"at its guarantee", "queue q\nqueue low g=4\n" + n1 + "task v low n1 4" + one, "refused no-victims 1 guarantee"},
		{"above its guarantee", "queue q\nqueue low g=4\n" + n1 + "node n2 4\ntask v low n1 4\ntask w low n2 4 fixed" + one, "plan j0=n1 -v"},
		{"each alone, not both", "queue q\nqueue low g=2\n" + n1 + "task v low n1 2\ntask w low n1 2" + one, "refused no-victims 2 guarantee"},
		{"in a type that nobody asks for", "queue q\nqueue low g=/1\nnode n1 4/1\ntask v low n1 4/1" + one, "refused no-victims 1 guarantee"},
		{"the members count", "queue p g=4\nqueue p.q\nqueue p.low\n" + n1 + "task v p.low n1 4" + "\njob p.q 4", "plan j0=n1 -v"},

		// Nodes.
		{"unschedulable", queues + "node n1 4 off\ntask v low n1 4" + one, "refused no-victims 1 not-helping"},
		{"reserved for another", queues + "node n1 4 for=x" + one, "refused no-victims"},
		{"reserved for the job", queues + "node n1 4 for=j\ntask v low n1 4" + one, "plan j0=n1 -v"},
		{"reserved for the other member", queues + "node n1 4 for=j1\nnode n2 4\ntask v low n2 4" + "\njob q 4,4", "plan j0=n2 j1=n1 -v"},
		{"a type that the member does not want is over-committed", queues + "node n1 4/0\ntask w low n1 0/1 fixed\ntask v low n1 4" + one, "plan j0=n1 -v"},

		// Queues and quotas.
		{"headroom, by a task on another node", "queue q\nqueue low\nqueue root max=8\nnode n1 4\nnode n2 8\ntask v low n2 8 fixed\ntask w low n2 4" + one,
			"refused no-victims 1 non-preemptible"},
		{"headroom by an own task", "queue q max=4\nqueue low\n" + n1 + "node n2 4\ntask v q n1 4" + one, "plan j0=n1 -v"},
		{"quota by an own task", "queue q quota=4:4\nqueue low\n" + n1 + "node n2 4\ntask v q n1 4" + "\njob q 4 fixed", "plan j0=n1 -v"},
		{"one for the quota and the node", "queue q quota=4:4\nqueue low\n" + n1 + "node n2 4\ntask v low n1 4\ntask o q n2 4" + "\njob q 4 fixed", "plan j0=n2 -o"},
		{"the max lacks more than the quota", "queue q max=4 quota=9:7\nqueue low\n" + "node n1 8\ntask v q n1 2\ntask w q n1 2 p=1" + "\njob q 4 fixed", "plan j0=n1 -v -w"},
		{"the quota lacks more than the max", "queue q max=7 quota=9:4\nqueue low\n" + "node n1 8\ntask v q n1 2\ntask w q n1 2 p=1" + "\njob q 4 fixed", "plan j0=n1 -v -w"},
		{"a preemptible job may not push for its max", "queue q quota=0:4\n" + n1 + "node n2 4\ntask v q n1 4" + one, "refused quota-max"},
		{"beyond the min", "queue q quota=3:9\n" + n1 + "job q 4 fixed", "refused quota-min"},
		{"held back for those that wait", "queue q quota=4:6 waiting=4\n" + n1 + "job q 3", "refused quota-max"},
		{"not in a type that is not asked for", "queue q quota=/0:/0\n" + n1 + "job q 4", "fits j0=n1"},
		{"at a parent", "queue p quota=0:3\nqueue p.q\n" + n1 + "job p.q 4", "refused quota-max"},
		{"no victims could change it", "queue q quota=4:4\nqueue low\n" + n1 + "node n2 4\ntask v q n2 1 fixed p=3" + "\njob q 4 fixed", "refused quota-min"},
		{"too high to change it", "queue q quota=4:4\n" + n1 + "node n2 4\ntask v q n2 1 p=30" + "\njob q 4 fixed", "refused quota-max 1 priority"},
		{"must not preempt", full + "\njob q 4 never", "refused may-not-preempt"},
		{"must not, and need not", queues + n1 + "job q 4 never", "fits j0=n1"},

		// Members.
		{"all or nothing", queues + n1 + "node n2 2\ntask v low n1 4" + "\njob q 4,4", "refused no-victims"},
		{"the minimum", queues + n1 + "node n2 2\ntask v low n1 4" + "\njob q 4,4 min=1", "plan j0=n1 -v"},
		{"further ones without victims", queues + n1 + "node n2 5\ntask v low n1 4\ntask w low n2 4" + "\njob q 4,2,1 min=1", "plan j0=n1 +j2=n2 -v"},
		{"further ones on what the victims leave", queues + "node n1 6\ntask v low n1 6" + "\njob q 4,4,2 min=1", "plan j0=n1 +j2=n1 -v"},
		{"further ones by the quota", "queue q quota=0:5\n" + "node n1 9\n" + "job q 4,4,1 min=1", "fits j0=n1 +j2=n1"},
		{"further ones by the max", "queue q max=5\n" + "node n1 9\n" + "job q 4,4,1 min=1", "fits j0=n1 +j2=n1"},
		{"further ones fit now, or not at all", queues + "node n1 4\nnode n2 4\ntask v low n2 4 state=releasing\njob q 4,4 min=1", "fits j0=n1"},
		{"one is placed", full + "\nnode n2 4\ntask j0 q n2 4 job=j p=10" + "\njob q 4,4", "plan j1=n1 -v"},
		{"one holds a grant", full + "\nnode n2 4\ngrant j0 q n2 4 job=j" + "\njob q 4,4", "plan j1=n1 -v"},
		{"the placed one is enough", full + "\nnode n2 4\ntask j1 q n2 4 job=j p=10" + "\njob q 4,4 min=1", "fits"},
		{"one is leaving", full + "\nnode n2 8\ntask j0 q n2 4 job=j state=releasing" + "\njob q 4,4", "refused in-flight"},
		{"one is leaving that is not needed", full + "\nnode n2 8\ntask j0 q n2 4 job=j state=releasing" + "\njob q 4,4 min=1", "fits j1=n2"},
		{"nobody is left to place", full + "\nnode n2 4\ntask j0 q n2 4 job=j" + "\njob q 4", "fits"},
		{"a minimum of 0 means all", queues + "node n1 4\ntask v low n1 4\njob q 2,2 min=0", "plan j0=n1 j1=n1 -v"},

		// Running jobs.
		{"surplus", full + "job=g\nnode n2 4\ntask w low n2 4 fixed job=g\nkeep g 1" + one, "plan j0=n1 -v"},
		{"as a whole", full + "job=g\nnode n2 4 off\ntask w low n2 4 job=g\nkeep g 2" + one, "plan j0=n1 -v! -w!"},
		{"as a whole, below its minimum already", full + "job=g\nkeep g 2" + one, "plan j0=n1 -v!"},
		{"not as a whole", full + "job=g\nnode n2 4\ntask w low n2 4 fixed job=g\nkeep g 2" + one,
			"refused no-victims 1 non-preemptible 1 gang"},
		{"who holds a grant keeps nobody", full + "job=g\nnode n2 4\ngrant w low n2 4 job=g\nkeep g 1" + one, "plan j0=n1 -v!"},
		{"and is no surplus", full + "job=g\nnode n2 4\ntask w low n2 4 fixed job=g\nnode n3 4\ngrant x low n3 4 job=g\nkeep g 2" + one,
			"refused no-victims 1 non-preemptible 1 gang"},
		{"a gang of grants is not there yet", full + "\nnode n2 4\ngrant w low n2 4 job=g\nkeep g 1" + one, "plan j0=n1 -v"},
		{"who is leaving is no surplus", full + "job=g\nnode n2 4 off\ntask w low n2 4 state=releasing job=g\nkeep g 1" + one, "plan j0=n1 -v!"},
		{"no minimum", full + "job=g\nnode n2 4\ntask w low n2 4 job=g fixed" + one, "plan j0=n1 -v"},
		{"law 2 for the whole", "queue q\nqueue low g=2\n" + n1 + "node n2 2 off\ntask v low n1 4 job=g\ntask w low n2 2 job=g\nkeep g 2" + one,
			"refused no-victims 1 not-helping 1 guarantee"},

		// The cheapest, part by part.
		{"opted out is the last", queues + n1 + "node n2 4\ntask v low n1 4 opted\ntask w low n2 4 originator p=9" + one, "plan j0=n2 -w"},
		{"originators before", queues + n1 + "node n2 4\ntask v low n1 4 originator\ntask w low n2 4 p=9" + one, "plan j0=n2 -w"},
		{"highest rank", queues + n1 + "node n2 4\ntask v low n1 4 p=5\ntask w low n2 2 p=4\ntask x low n2 2 p=4" + one, "plan j0=n2 -w -x"},
		{"single ones before a whole job", queues + n1 + "node n2 4\ntask v low n1 4 job=g\nkeep g 1\ntask w low n2 2\ntask x low n2 2" + one, "plan j0=n2 -w -x"},
		{"fewest", queues + n1 + "node n2 4\ntask v low n1 2\ntask w low n1 2\ntask x low n2 4" + one, "plan j0=n2 -x"},
		{"lowest sum of ranks", queues + n1 + "node n2 4\ntask v low n1 2 p=3\ntask w low n1 2 p=3\ntask x low n2 2 p=3\ntask y low n2 2 p=2" + one, "plan j0=n2 -x -y"},
		{"least freed beyond need", queues + "node n1 6\nnode n2 5\ntask v low n1 6\ntask w low n2 5" + one, "plan j0=n2 -w"},
		{"least work lost", queues + n1 + "node n2 4\ntask v low n1 4 age=2h\ntask w low n2 4 age=1h" + one, "plan j0=n2 -w"},
		{"node order", queues + n1 + "node n2 4\ntask w low n1 4\ntask v low n2 4" + one, "plan j0=n1 -w"},
		{"keys", queues + n1 + "task w low n1 2\ntask v low n1 2" + "\njob q 2", "plan j0=n1 -v"},
		{"how many on each node", queues + "node n1 8\nnode n2 8\ntask v low n1 8\ntask w low n2 4\ntask x low n2 4" + "\njob q 4,4", "plan j0=n1 j1=n1 -v"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := build(t, test.town)
			if got := w.brief(w.decide()); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
