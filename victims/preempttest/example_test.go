// SPDX-License-Identifier: Apache-2.0

package preempttest_test

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/preempttest"
)

// Priorities that are near each other are taken for ties. That is no order, for
// ties do not carry over.
func ExampleTestOrder() {
	near := func(a, b *victims.Task) int {
		if d := int(a.Priority) - int(b.Priority); d < -10 || d > 10 {
			return d
		}
		return cmp.Compare(a.Key, b.Key)
	}
	err := preempttest.TestOrder(near, []victims.Task{
		{Key: "a", Priority: 20}, {Key: "b", Priority: 10}, {Key: "c", Priority: 0},
	})
	fmt.Println(err)
	// Output:
	// preempttest: order: not transitive: tasks[2] "c" against tasks[0] "a" is -1, tasks[0] "a" against tasks[1] "b" is -1, and tasks[2] "c" against tasks[1] "b" is 1
}

// The fewest victims first, and then as usual. Sums of ranks are no order: they fall as victims
// are added.
func ExampleTest_compare() {
	fewest := func(a, b *victims.Cost) int {
		return cmp.Or(cmp.Compare(a.Victims, b.Victims), a.Compare(b))
	}
	ranks := func(a, b *victims.Cost) int { return cmp.Compare(a.SumRanks, b.SumRanks) }
	fmt.Println(preempttest.Test(&jobs.Planner{Options: victims.Options{Compare: fewest}}, nil, now))
	fmt.Println(preempttest.Test(&jobs.Planner{Options: victims.Options{Compare: ranks}}, nil, now) != nil)
	// Output:
	// <nil>
	// true
}

// A filter that counts is none: each node is asked about once, in an order that
// is the planner's affair.
func ExampleTest() {
	c, err := small()
	if err != nil {
		fmt.Println(err)
		return
	}
	tries := 0
	filter := func(*victims.Question) bool {
		tries++
		return tries <= 3 // "look at three nodes at most"
	}
	err = preempttest.Test(&jobs.Planner{Cluster: c, Options: victims.Options{Filter: filter}}, asks(), now)
	fmt.Println(err)
	// Output:
	// preempttest: filter: not the same answer when asked again: ask "y" on node "n1": true, and then false
}

// Who blocks a node must be on it.
func ExampleTest_blockers() {
	c, err := small()
	if err != nil {
		fmt.Println(err)
		return
	}
	holder, _ := c.Lookup("t3") // of the port, on n2
	blockers := func(dst []victims.TaskID, _ *victims.Question) []victims.TaskID {
		return append(dst, holder)
	}
	fmt.Println(preempttest.Test(&jobs.Planner{Cluster: c, Options: victims.Options{Blockers: blockers}}, asks(), now))
	// Output:
	// preempttest: blockers: names what is not on the node: 3: ask "x" on node "n1"
}

// A predicate that wants a task to stay can be refused everything by a search
// that began with more victims. Such a task is for Exempt.
func ExampleTest_predicate() {
	c, err := small()
	if err != nil {
		fmt.Println(err)
		return
	}
	stays, _ := c.Lookup("t1")
	predicate := func(p *victims.Question) bool {
		return !slices.Contains(p.Victims, stays)
	}
	fmt.Println(preempttest.Test(&jobs.Planner{Cluster: c, Options: victims.Options{Predicate: predicate}}, asks(), now))
	// Output:
	// preempttest: predicate: a part is accepted of what is refused: ask "x" on node 1 with victims [1] is refused, and not victims []
}

// A predicate for jobs, asked about the first member of a job.
func ExampleTest_gang() {
	c, err := small()
	if err != nil {
		fmt.Println(err)
		return
	}
	roomy := func(p *victims.Question) bool { return len(p.Victims) >= 2 }

	job := victims.Ask{Key: "j", Queue: 2, Members: []victims.Member{{Key: "j-0"}}}
	asked := func(p *victims.Question) bool {
		return roomy(&victims.Question{Ask: &job, Node: p.Node, Victims: p.Victims})
	}
	fmt.Println(preempttest.Test(&jobs.Planner{Cluster: c, Options: victims.Options{Predicate: asked}}, asks()[:1], now))
	// Output:
	// <nil>
}

// Protection for a minute from whenever it is asked about never ends.
func ExampleTest_exempt() {
	c, err := small()
	if err != nil {
		fmt.Println(err)
		return
	}
	exempt := func(e *victims.Question) (time.Time, bool) {
		return e.Now.Add(time.Minute), true
	}
	err = preempttest.Test(&jobs.Planner{Cluster: c, Options: victims.Options{Exempt: exempt}}, asks(), now)
	fmt.Println(err)
	// Output:
	// preempttest: exempt: not the end that was said: task "t0" and ask "x" at 2026-01-01 00:00:00 +0000 UTC: exempt until 2026-01-01 00:01:00 +0000 UTC, and at 2026-01-01 00:00:00.000000001 +0000 UTC exempt until 2026-01-01 00:01:00.000000001 +0000 UTC
}
