// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"

	"github.com/go-preempt/preempt/internal/judge/trace"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A BatchReplay runs the jobs of a batch under one policy, from the first that is
// submitted to the last that ends. All are of the same priority.
//
// A job waits in line from its submission. Whenever room was made, all that wait are
// asked about in the order of submission, and each that can start does. Jobs of one
// virtual cluster that want as many GPUs are alike: if one is refused, the others are
// too. A job that finds no room takes back what its virtual cluster is guaranteed, all
// of it or nothing, from virtual clusters that have more than that.
//
// A job that was stopped goes back to its place in line. Its victims are gone at once:
// grace is seconds, and waits are hours.
type BatchReplay struct {
	Batch  *trace.Batch
	Policy Policy

	// Observe, if it is set, is told of each decision, and how many jobs were
	// submitted by then.
	Observe func(now int64, d *victims.Decision, submitted int)
}

// A Policy says what may be taken back, and what a stopped job loses.
type Policy struct {
	Name    string
	Patient bool // nobody may preempt
	Fair    bool // what is guaranteed follows demand, by the weights of the guarantees
	// Checkpoint is how often a job saves its work, in seconds. 0: never, so that a
	// stopped job begins from the start.
	Checkpoint int64
}

// policies are those that are compared.
var policies = []Policy{
	{Name: "no preemption", Patient: true},
	{Name: "guarantees"},
	{Name: "guarantees, hourly checkpoints", Checkpoint: hour},
	{Name: "fair shares, hourly checkpoints", Checkpoint: hour, Fair: true},
}

// A batchPlayer plays a replay.
type batchPlayer struct {
	*BatchReplay
	cluster    *victims.Cluster
	planner    jobs.Planner
	auditor    victims.Auditor
	decision   victims.Decision
	violations []victims.Violation

	work     []work
	index    map[string]int32 // of jobs, by name
	calendar calendar
	now      int64
	arrived  int

	lines  [][]int32 // by kind, the jobs that wait, in the order of submission
	passed []bool    // kinds that were refused since anything changed

	configured *queue.Tree        // with the guarantees of the virtual clusters
	demand     []resources.Vector // by leaf, of what runs and what waits
	shares     queue.FairShares
	stale      bool // the demand has changed since

	figures BatchFigures
}

// work is a job and what it is doing.
type work struct {
	*trace.Job
	kind    int // all of one kind are alike
	leaf    queue.ID
	members []victims.Member

	runs   bool
	since  int64 // when it began to run, or to wait
	ends   int64 // while it runs
	saves  int64 // while it runs: when it has its next checkpoint
	left   int64 // seconds of work, when it began to run
	waited int64 // seconds, before it ran
	gone   int   // how often it was stopped
}

// Run replays the batch. Errors are what the cluster refuses.
func (r *BatchReplay) Run() (*BatchFigures, error) {
	x, err := r.prepare()
	if err != nil {
		return nil, err
	}
	for !x.calendar.empty() {
		x.now = x.calendar.first().at
		for _, do := range []struct {
			kind eventKind
			what func(int32) error
		}{{ends, x.end}, {arrives, x.arrive}, {saves, x.save}} {
			for i, ok := x.calendar.take(x.now, do.kind); ok; i, ok = x.calendar.take(x.now, do.kind) {
				if err := do.what(i); err != nil {
					return nil, fmt.Errorf("second %d: %w", x.now, err)
				}
			}
		}
		if err := x.share(); err != nil {
			return nil, err
		}
		if err := x.offer(); err != nil {
			return nil, fmt.Errorf("second %d: %w", x.now, err)
		}
		x.look()
	}
	x.figures.conclude(x)
	return &x.figures, nil
}

// prepare builds queues and hosts, and enters every job in the calendar.
func (r *BatchReplay) prepare() (*batchPlayer, error) {
	cluster, err := r.Batch.NewCluster()
	if err != nil {
		return nil, err
	}
	x := &batchPlayer{
		BatchReplay: r, cluster: cluster, configured: cluster.Tree().Clone(),
		index:  make(map[string]int32, len(r.Batch.Jobs)),
		demand: make([]resources.Vector, cluster.Tree().Len()),
	}
	for leaf := range x.demand {
		x.demand[leaf] = resources.Vector{0}
	}
	x.planner = jobs.Planner{Cluster: cluster}
	x.auditor = victims.Auditor{Cluster: cluster}

	type alike struct {
		vc   int
		gpus int64
	}
	kinds := make(map[alike]int)
	for i := range r.Batch.Jobs {
		j := &r.Batch.Jobs[i]
		kind, known := kinds[alike{j.VC, j.GPUs}]
		if !known {
			kind = len(kinds)
			kinds[alike{j.VC, j.GPUs}] = kind
		}
		w := work{Job: j, kind: kind, leaf: r.Batch.Leaf(j.VC), left: j.Duration}
		for k, gpus := range j.Members() {
			w.members = append(w.members, victims.Member{Key: fmt.Sprintf("%s-%d", j.Name, k), Size: resources.Vector{gpus}})
		}
		x.work = append(x.work, w)
		x.index[j.Name] = int32(i)
		x.calendar.add(event{j.Submit, arrives, int32(i)})
	}
	x.lines, x.passed = make([][]int32, len(kinds)), make([]bool, len(kinds))
	x.figures.begin(x)
	return x, nil
}

// arrive puts a new job in line.
func (x *batchPlayer) arrive(i int32) error {
	x.arrived++
	x.want(i, +1)
	x.wait(i)
	return nil
}

// wait puts a job in its place in line.
func (x *batchPlayer) wait(i int32) {
	w := &x.work[i]
	w.since = x.now
	line := &x.lines[w.kind]
	at, _ := slices.BinarySearch(*line, i)
	*line = slices.Insert(*line, at, i)
}

// want adds a job to the demand of its leaf, or takes it away.
func (x *batchPlayer) want(i int32, sign int64) {
	w := &x.work[i]
	x.demand[w.leaf][0] += sign * w.GPUs
	x.stale = true
}

// share makes the fair shares the guarantees, if demand has changed. What was refused
// may be entitled now.
func (x *batchPlayer) share() error {
	if !x.Policy.Fair || !x.stale {
		return nil
	}
	x.stale = false
	capacity := resources.Limit{Value: x.cluster.Capacity(), Defined: 1}
	if err := x.shares.Divide(x.configured, x.demand, capacity); err != nil {
		return err
	}
	clear(x.passed)
	return x.cluster.SetGuarantees(&x.shares)
}

// end takes a job out that is done. One that was stopped since has another end.
func (x *batchPlayer) end(i int32) error {
	w := &x.work[i]
	if !w.runs || w.ends != x.now {
		return nil
	}
	x.want(i, -1)
	return x.leave(i)
}

// leave takes a job out of the cluster, which makes room.
func (x *batchPlayer) leave(i int32) error {
	w := &x.work[i]
	w.runs = false
	clear(x.passed)
	for m := range w.members {
		if err := x.cluster.RemoveTask(w.members[m].Key); err != nil {
			return err
		}
	}
	return nil
}

// save is a checkpoint of a job: what it has done is not lost if it is stopped.
func (x *batchPlayer) save(i int32) error {
	w := &x.work[i]
	if !w.runs || w.saves != x.now {
		return nil
	}
	for m := range w.members {
		if err := x.cluster.SetCheckpoint(w.members[m].Key, instant(x.now)); err != nil {
			return err
		}
	}
	x.nextSave(i)
	return nil
}

// nextSave enters the next checkpoint of a job that runs, if it comes to that.
func (x *batchPlayer) nextSave(i int32) {
	w := &x.work[i]
	if every := x.Policy.Checkpoint; every > 0 && x.now+every < w.ends {
		w.saves = x.now + every
		x.calendar.add(event{w.saves, saves, i})
	}
}

// offer asks about the jobs in line until all were refused.
func (x *batchPlayer) offer() error {
	for {
		next := int32(-1)
		for kind, line := range x.lines {
			if !x.passed[kind] && len(line) > 0 && (next < 0 || x.before(line[0], next)) {
				next = line[0]
			}
		}
		if next < 0 {
			return nil
		}
		if err := x.decide(next); err != nil {
			return err
		}
	}
}

// before reports whether job i is asked about before job k: those that stay within what
// is guaranteed to their queues come first, so that less has to be taken back.
func (x *batchPlayer) before(i, k int32) bool {
	if a, b := x.within(i), x.within(k); a != b {
		return a
	}
	return i < k
}

// within reports whether the queue of a job would be within its guarantee with it.
func (x *batchPlayer) within(i int32) bool {
	w, tree := &x.work[i], x.cluster.Tree()
	guaranteed, ok := tree.Guaranteed(w.leaf).Bound(0)
	return ok && tree.Usage(w.leaf)[0]+w.GPUs <= guaranteed
}

// decide asks the planner about a job in line, and does what it says.
func (x *batchPlayer) decide(i int32) error {
	w := &x.work[i]
	job := victims.Ask{Key: w.Name, Application: w.Name, Queue: w.leaf, MayNotPreempt: x.Policy.Patient, Members: w.members}
	if err := x.planner.Decide(&x.decision, &job, instant(x.now)); err != nil {
		return err
	}
	if x.Observe != nil {
		x.Observe(x.now, &x.decision, x.arrived)
	}
	if x.decision.Outcome == victims.Refused {
		x.passed[w.kind] = true
		return nil
	}
	plan := &x.decision.Plan
	x.violations = x.auditor.Audit(x.violations[:0], &x.decision, instant(x.now))
	x.figures.Laws.audited(w.Name, x.violations)
	if err := x.cluster.Apply(&x.decision); err != nil {
		return err
	}
	if err := x.stop(plan); err != nil {
		return err
	}
	return x.start(i)
}

// stop stops the victims of a plan, which go back in line.
func (x *batchPlayer) stop(plan *victims.Plan) error {
	if len(plan.Victims) > 0 {
		x.figures.Plans++
	}
	for _, v := range plan.Victims {
		i := x.index[v.Job]
		w := &x.work[i]
		if !w.runs {
			continue // stopped with another member
		}
		saved := int64(0)
		if every := x.Policy.Checkpoint; every > 0 {
			saved = (x.now - w.since) / every * every
		}
		x.figures.stopped(w, x.now-w.since-saved)
		w.left -= saved
		w.gone++
		if err := x.leave(i); err != nil {
			return err
		}
		x.wait(i)
	}
	return nil
}

// start starts a job whose members have their places.
func (x *batchPlayer) start(i int32) error {
	w := &x.work[i]
	if err := x.cluster.Start(w.Name, instant(x.now)); err != nil {
		return err
	}
	x.lines[w.kind] = x.lines[w.kind][1:]
	w.runs, w.waited, w.since = true, w.waited+x.now-w.since, x.now
	w.ends = x.now + max(w.left, 1)
	x.calendar.add(event{w.ends, ends, i})
	x.nextSave(i)
	return nil
}
