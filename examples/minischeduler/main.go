// SPDX-License-Identifier: Apache-2.0

// Minischeduler is a scheduler of some three hundred lines that admits, preempts,
// enforces quotas and places jobs with the library. It has a clock of its own,
// lives through a quarter of an hour, and prints its history.
//
// The scheduler is in scheduler.go, which is there to be copied; this file is
// what happens to it.
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

func main() {
	if len(os.Args) > 1 {
		fmt.Fprintln(os.Stderr, "Minischeduler lives through a quarter of an hour and prints its history. It takes no arguments.")
		os.Exit(2)
	}
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// The queues, by their places in the tree.
const (
	batch queue.ID = 1 + iota
	prod
	train
)

// run is the quarter of an hour.
func run(out io.Writer) error {
	s, err := example(out)
	if err != nil {
		return err
	}
	schema := s.cluster.Schema()
	small, err := schema.Vector(map[string]string{"cpu": "2"})
	if err != nil {
		return err
	}
	large, err := schema.Vector(map[string]string{"cpu": "4"})
	if err != nil {
		return err
	}
	less, err := schema.Limit(map[string]string{"cpu": "4"})
	if err != nil {
		return err
	}
	events := []struct {
		at time.Duration
		do func() error
	}{
		{0, func() error { // batch work takes all that there is
			// Two of them hold what the others read. None of these may go.
			if err := s.cluster.SetBudget("shuffle", victims.Budget{Left: 0, Hard: true}); err != nil {
				return err
			}
			for i := range 8 {
				ask := victims.Ask{Key: fmt.Sprint("etl-", i), Application: "etl", Queue: batch, Size: small}
				if i < 2 {
					ask.Budgets = []string{"shuffle"}
				}
				s.submit(ask)
			}
			return nil
		}},
		{2 * time.Minute, func() error { // prod wants what it is guaranteed
			s.submit(victims.Ask{Key: "web", Application: "web", Queue: prod, Size: large, Priority: 20})
			return nil
		}},
		{4 * time.Minute, func() error { // training makes sense as a whole only
			job := jobs.Job{Name: "llm", Application: "llm", Queue: train, Priority: 100}
			for i := range 3 {
				job.Members = append(job.Members, jobs.Member{Key: fmt.Sprint("llm-", i), Size: small})
			}
			s.submitJob(job)
			return nil
		}},
		{6 * time.Minute, func() error { // batch may use less from now on
			return s.limit(batch, less, 3*time.Minute)
		}},
		{11 * time.Minute, func() error { // prod has room for something less important
			s.submit(victims.Ask{Key: "report", Application: "report", Queue: prod, Size: small})
			return nil
		}},
		{13 * time.Minute, func() error { // which makes room again for something more so
			s.submit(victims.Ask{Key: "checkout", Application: "checkout", Queue: prod, Size: small, Priority: 10})
			return nil
		}},
	}
	const end, step = 15 * time.Minute, 30 * time.Second
	for t := time.Duration(0); t <= end; t += step {
		for len(events) > 0 && events[0].at <= t {
			if err := events[0].do(); err != nil {
				return err
			}
			events = events[1:]
		}
		if err := s.tick(step); err != nil {
			return err
		}
	}
	_, err = fmt.Fprint(out, s.cluster.Tree())
	return err
}

// example makes a scheduler for two nodes of 8 cores and three queues.
func example(out io.Writer) (*scheduler, error) {
	schema, err := resources.NewSchema("cpu")
	if err != nil {
		return nil, err
	}
	guaranteed, err := schema.Limit(map[string]string{"cpu": "8"})
	if err != nil {
		return nil, err
	}
	training, err := schema.Limit(map[string]string{"cpu": "6"})
	if err != nil {
		return nil, err
	}
	capacity, err := schema.Vector(map[string]string{"cpu": "8"})
	if err != nil {
		return nil, err
	}
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "batch"},
		{Name: "prod", Guaranteed: guaranteed},
		{Name: "train", Guaranteed: training},
	}}, queue.Strict)
	if err != nil {
		return nil, err
	}
	s := newScheduler(out, tree, time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	for _, name := range []string{"n1", "n2"} {
		if _, err := s.cluster.AddNode(&victims.Node{Name: name, Capacity: capacity}); err != nil {
			return nil, err
		}
	}
	return s, nil
}
