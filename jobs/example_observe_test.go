// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Observe sees every decision: a line of log for each, and counters by outcome and reason, which
// are words that stay. Time a decision around Decide, for the library has no clock.
func ExamplePlanner_observe() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	schema, err := resources.NewSchema("gpu")
	check(err)
	eight, err := schema.Parse("gpu=8")
	check(err)
	most, err := schema.ParseLimit("gpu=8")
	check(err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "batch"}, {Name: "research", Guaranteed: most},
	}})
	check(err)
	batch, _ := tree.Lookup("root.batch")
	research, _ := tree.Lookup("root.research")
	cluster, now := victims.NewCluster(tree), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	_, err = cluster.AddNode(&victims.Node{Name: "n1", Capacity: eight})
	check(err)
	_, err = cluster.AddTask(&victims.Task{Key: "etl", Queue: batch, NodeName: "n1", Size: eight, Scheduled: now.Add(-time.Hour)})
	check(err)

	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Time(a.Key, now)
			}
			return a
		},
	}))
	decisions := make(map[[2]string]int) // by outcome and reason
	planner := jobs.Planner{Cluster: cluster}
	planner.Observe = func(d *victims.Decision) {
		decisions[[2]string{d.Outcome.String(), d.Refusal.Reason}]++
		attrs := []any{"ask", d.Plan.Ask.Key, "queue", d.Plan.Path, "outcome", d.Outcome.String()}
		if d.Outcome == victims.Refused {
			attrs = append(attrs, "reason", d.Refusal.Reason, "steps", d.Plan.Steps)
		} else {
			attrs = append(attrs, "victims", len(d.Plan.Victims), "lost", d.Plan.Cost.LostTime, "proof", d.Plan.Proof.String())
		}
		log.Info("decided", attrs...)
	}
	var d victims.Decision
	for _, ask := range []victims.Ask{
		{Key: "train", Queue: research, Size: eight}, {Key: "etl-2", Queue: batch, Size: eight}, {Key: "etl-3", Queue: batch, Size: eight},
	} {
		check(planner.Decide(&d, &ask, now))
	}
	fmt.Println(decisions)
	// Output:
	// time=2026-01-01T12:00:00.000Z level=INFO msg=decided ask=train queue=root.research outcome=plan victims=1 lost=1h0m0s proof=cost
	// time=2026-01-01T12:00:00.000Z level=INFO msg=decided ask=etl-2 queue=root.batch outcome=refused reason=not-guaranteed steps=0
	// time=2026-01-01T12:00:00.000Z level=INFO msg=decided ask=etl-3 queue=root.batch outcome=refused reason=not-guaranteed steps=0
	// map[[plan ]:1 [refused not-guaranteed]:2]
}
