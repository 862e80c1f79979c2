// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-preempt/preempt/victims"
)

// Changes is the number of tasks that end and begin in a round of [Churn], and
// Marks how many more are marked as ending and are not after all.
const (
	Changes = 100
	Marks   = 10
)

// Stride is prime to the numbers of tasks of the benchmarks, so that steps of it
// come to all of the tasks, and never to two of a node in a row.
const Stride = 7919

// A Churn is a cluster at work: tasks end and others like them begin, and now
// and then an ask needs room, gets it, runs and ends. Rounds leave a cluster
// that differs from the one before in the times of tasks alone, so that one
// takes about as long as another.
type Churn struct {
	cluster *victims.Cluster
	subject *Subject
	tasks   []victims.Task // of which some end
	rows    map[string]int // of tasks, by key
	stopped []*victims.Task
	random  *rand.Rand
}

// NewChurn returns the churn of the cluster of a decision, which must be a plan.
func NewChurn(s *Subject) *Churn {
	c := s.Planner.Cluster
	x := &Churn{cluster: c, subject: s, rows: make(map[string]int), random: rand.New(rand.NewPCG(3, 4))}
	for id := range c.Tasks() {
		t := c.TaskView(id)
		t.Size = slices.Clone(t.Size) // it was a view
		x.rows[t.Key] = len(x.tasks)
		x.tasks = append(x.tasks, t)
	}
	return x
}

// Round ends and begins [Changes] tasks drawn at random, marks and unmarks
// [Marks] more, and lets the ask run once.
func (x *Churn) Round() error {
	for range Changes {
		t := &x.tasks[x.random.IntN(len(x.tasks))]
		age := time.Duration(x.random.Int64N(int64(time.Hour)))
		t.Created, t.Scheduled = Now.Add(-age), Now.Add(-age)
		if err := x.cluster.RemoveTask(t.Key); err != nil {
			return err
		}
		if _, err := x.cluster.AddTask(t); err != nil {
			return err
		}
	}
	for range Marks {
		key := x.tasks[x.random.IntN(len(x.tasks))].Key
		for _, state := range []victims.State{victims.Releasing, victims.Running} {
			if err := x.cluster.SetState(key, state); err != nil {
				return err
			}
		}
	}
	return x.run()
}

// run decides the ask, makes room for it, starts it and ends it, and then the
// victims run again.
func (x *Churn) run() error {
	x.subject.Decide()
	if outcome := x.subject.Decision.Outcome; outcome != victims.Preempts {
		return fmt.Errorf("workload: churn without a plan: %v", outcome)
	}
	plan := &x.subject.Decision.Plan
	if err := x.cluster.Apply(&x.subject.Decision); err != nil {
		return err
	}
	x.stopped = x.stopped[:0]
	for _, v := range plan.Victims {
		x.stopped = append(x.stopped, &x.tasks[x.rows[v.Key]])
		if err := x.cluster.RemoveTask(v.Key); err != nil {
			return err
		}
	}
	if err := x.cluster.Start(plan.Ask.Key, Now); err != nil {
		return err
	}
	if err := x.cluster.RemoveTask(plan.Ask.Key); err != nil {
		return err
	}
	for _, t := range x.stopped {
		if _, err := x.cluster.AddTask(t); err != nil {
			return err
		}
	}
	return nil
}
