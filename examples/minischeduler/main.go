// SPDX-License-Identifier: Apache-2.0

// Minischeduler is a scheduler of some three hundred lines that admits, preempts,
// enforces quotas and places jobs with the library. It has a clock of its own,
// lives through a quarter of an hour, and prints its history.
//
// With -state it saves all that it knows when it stops, and goes on from there
// when it is started again. To see that, let it stop in the middle, and twice
// more: the three histories together are the one that it prints without.
//
//	go run ./examples/minischeduler -state /tmp/mini -for 4m
//	go run ./examples/minischeduler -state /tmp/mini -for 4m
//	go run ./examples/minischeduler -state /tmp/mini
//
// The scheduler is in scheduler.go and state.go, which are there to be copied;
// this file is what happens to it.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

func main() {
	state := flag.String("state", "", "the `FILE` that is loaded at the start, if it is there, and saved at the end")
	most := flag.Duration("for", end, "how long to run, by the scheduler's own clock, before it is shut down")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "Minischeduler prints a history and takes no arguments but flags: %q\n", flag.Arg(0))
		os.Exit(2)
	}
	if err := run(os.Stdout, *state, *most); err != nil {
		log.Fatal(err)
	}
}

// The queues, by their places in the tree.
const (
	batch queue.ID = 1 + iota
	prod
	train
)

// epoch is when the story begins. It takes a quarter of an hour, in ticks of one step.
var epoch = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

const (
	step = 30 * time.Second
	end  = 15*time.Minute + step
)

// run is the quarter of an hour, or as much of it as is left and wanted. State is
// the file that it goes on from and leaves; "" is none.
func run(out io.Writer, state string, most time.Duration) error {
	s, err := open(out, state)
	if err != nil {
		return err
	}
	events, err := story(s)
	if err != nil {
		return err
	}
	// What was due before a tick that has been is in the state.
	for len(events) > 0 && s.now.Sub(epoch) > events[0].at {
		events = events[1:]
	}
	for stop := s.now.Add(most); s.now.Before(stop) && s.now.Sub(epoch) < end; {
		for len(events) > 0 && events[0].at <= s.now.Sub(epoch) {
			if err := events[0].do(); err != nil {
				return err
			}
			events = events[1:]
		}
		if err := s.tick(step); err != nil {
			return err
		}
	}
	if state != "" {
		if err := s.save(state); err != nil {
			return err
		}
	}
	if s.now.Sub(epoch) < end {
		return nil
	}
	_, err = fmt.Fprint(out, s.cluster.Tree())
	return err
}

// open returns the scheduler that a file holds, or a new one if there is no file.
func open(out io.Writer, state string) (*scheduler, error) {
	if state == "" {
		return example(out)
	}
	s, err := load(out, state)
	if errors.Is(err, fs.ErrNotExist) {
		return example(out)
	}
	return s, err
}

// An event happens at an instant after the epoch.
type event struct {
	at time.Duration
	do func() error
}

// story returns what happens to a scheduler, in order.
func story(s *scheduler) ([]event, error) {
	schema := s.cluster.Schema()
	small, err1 := schema.Parse("cpu=2")
	large, err2 := schema.Parse("cpu=4")
	less, err3 := schema.ParseLimit("cpu=4")
	if err := cmp.Or(err1, err2, err3); err != nil {
		return nil, err
	}
	return []event{
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
			job := victims.Ask{Key: "llm", Application: "llm", Queue: train, Priority: 100}
			for i := range 3 {
				job.Members = append(job.Members, victims.Member{Key: fmt.Sprint("llm-", i), Size: small})
			}
			s.submit(job)
			return nil
		}},
		{6 * time.Minute, func() error { // batch may use less from now on
			return s.limit(batch, less)
		}},
		{11 * time.Minute, func() error { // prod has room for something less important
			s.submit(victims.Ask{Key: "report", Application: "report", Queue: prod, Size: small})
			return nil
		}},
		{13 * time.Minute, func() error { // which makes room again for something more so
			s.submit(victims.Ask{Key: "checkout", Application: "checkout", Queue: prod, Size: small, Priority: 10})
			return nil
		}},
	}, nil
}

// example makes a scheduler for two nodes of 8 cores and three queues.
func example(out io.Writer) (*scheduler, error) {
	schema, err := resources.NewSchema("cpu")
	if err != nil {
		return nil, err
	}
	guaranteed, err := schema.ParseLimit("cpu=8")
	if err != nil {
		return nil, err
	}
	training, err := schema.ParseLimit("cpu=6")
	if err != nil {
		return nil, err
	}
	capacity, err := schema.Parse("cpu=8")
	if err != nil {
		return nil, err
	}
	tree, err := queue.New(schema, queue.Config{Name: "root", Policies: queue.Policies{WithinQueue: queue.Met}, Children: []queue.Config{
		{Name: "batch", Policies: queue.Policies{QuotaDelay: new(3 * time.Minute)}},
		{Name: "prod", Guaranteed: guaranteed},
		{Name: "train", Guaranteed: training},
	}})
	if err != nil {
		return nil, err
	}
	s := newScheduler(out, victims.NewCluster(tree), epoch)
	for _, name := range []string{"n1", "n2"} {
		if _, err := s.cluster.AddNode(&victims.Node{Name: name, Capacity: capacity}); err != nil {
			return nil, err
		}
	}
	return s, nil
}
