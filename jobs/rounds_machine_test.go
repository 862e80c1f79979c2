// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// TestRounds_Machine runs random orders of events, wrong ones among them, and
// of changes of the cluster, and holds rounds and cluster to a model.
func TestRounds_Machine(t *testing.T) { rapid.Check(t, roundsFollowModel) }

func FuzzRounds(f *testing.F) {
	seedBytes(f)
	f.Fuzz(rapid.MakeFuzz(roundsFollowModel))
}

func roundsFollowModel(t *rapid.T) {
	x := &roundMachine{
		w: newRoundWorld(t), alone: rapid.Bool().Draw(t, "alone"),
		m: roundModel{
			tasks:  map[string]victims.State{"v1": victims.Running, "v2": victims.Running, "w": victims.Running},
			rounds: map[string]*modelRound{}, held: map[string][]string{},
		},
	}
	t.Repeat(rapid.StateMachineActions(x))
}

var (
	machineJobs  = []string{"j", "k"}
	machineTasks = []string{"v1", "v2", "w", "x"}
	machineSeats = map[string][]string{"j": {"j-0", "j-1", "j-2"}, "k": {"k-0", "k-1"}, "l": nil, "": {"j-0"}}
	machineKeys  = []string{"v1", "v2", "w", "x", "j-0", "j-1", "j-2", "k-0", "k-1"}
)

// roundMachine is rounds, their model, and the time. Its exported methods but
// for Check are what happens. Each asks the model what is wrong with it, and
// holds the rounds to that.
type roundMachine struct {
	w     *roundWorld
	m     roundModel
	clock int
	// alone keeps everyone but the tracker from marking tasks and dropping
	// grants, so that marks and grants are those of rounds.
	alone bool
	// undone is what the tasks were before the last change, where that was the
	// beginning of a round.
	undone map[string]victims.State
}

// judge holds an error to what is wrong with an event, and reports whether the
// event took place.
func (x *roundMachine) judge(t *rapid.T, err error, wrong ...error) bool {
	t.Helper()
	if len(wrong) == 0 {
		if err != nil {
			t.Fatalf("unexpected error: %v", err)
		}
		return true
	}
	if !slices.ContainsFunc(wrong, func(w error) bool { return errors.Is(err, w) }) {
		t.Fatalf("error %v, want one of %v", err, wrong)
	}
	return false
}

// judgeEnd does so for an event that ends a round.
func (x *roundMachine) judgeEnd(t *rapid.T, got jobs.End, err error, wrong []error, end func() jobs.End) {
	t.Helper()
	var want jobs.End
	if x.judge(t, err, wrong...) {
		want = end()
		x.undone = nil
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("end (-want +got):\n%s", diff)
	}
}

func (x *roundMachine) Begin(t *rapid.T) {
	job := rapid.SampledFrom([]string{"j", "k", "j", "k", "j", "k", "l", ""}).Draw(t, "job")
	stop := x.drawStop(t)
	var place []string
	for _, key := range machineSeats[job] {
		if rapid.Bool().Draw(t, "place") {
			place = append(place, key)
		}
	}
	ch := x.w.change(job, stop, place)
	stale := rapid.IntRange(0, 15).Draw(t, "stale") == 15
	if stale {
		other := x.w.c.Clone()
		if err := other.SetBudget("other", victims.Budget{}); err != nil {
			t.Fatal(err)
		}
		ch.Version = other.Version()
	}
	deadline := 0
	if rapid.Bool().Draw(t, "has deadline") {
		deadline = x.clock + rapid.IntRange(0, 9).Draw(t, "deadline")
	}
	until := minutes(deadline)
	if deadline == 0 {
		until = jobs.Round{}.Deadline
	}

	before := maps.Clone(x.m.tasks)
	wrong := x.m.badRound(job, stop, place)
	if deadline != 0 && deadline <= x.clock {
		wrong = append(wrong, jobs.ErrDeadline)
	}
	if stale {
		wrong = append(wrong, victims.ErrStale)
	}
	if x.judge(t, x.w.r.Begin(ch, minutes(x.clock), until), wrong...) {
		x.m.begin(job, stop, place, deadline)
		x.undone = before
	}
}

// drawStop draws tasks to stop: mostly some that run, each once.
func (x *roundMachine) drawStop(t *rapid.T) (keys []string) {
	if rapid.IntRange(0, 7).Draw(t, "any") == 7 {
		return rapid.SliceOfN(rapid.SampledFrom(machineTasks), 0, 3).Draw(t, "stop")
	}
	for _, key := range machineTasks {
		if state, there := x.m.tasks[key]; there && state == victims.Running && rapid.Bool().Draw(t, "stop") {
			keys = append(keys, key)
		}
	}
	return keys
}

// Acknowledge acknowledges a few tasks, whether they are waited for or not.
func (x *roundMachine) Acknowledge(t *rapid.T) {
	for range rapid.IntRange(1, 4).Draw(t, "how many") {
		x.acknowledge(t, x.drawVictim(t))
		x.Check(t)
	}
}

func (x *roundMachine) acknowledge(t *rapid.T, key string) {
	var wrong []error
	job, waited := x.m.waitedBy(key)
	state, there := x.m.tasks[key]
	if !waited {
		wrong = append(wrong, jobs.ErrVictim)
	} else if there && state == victims.Running {
		wrong = append(wrong, jobs.ErrReturned)
	}
	if x.judge(t, x.w.r.Acknowledge(key), wrong...) {
		x.m.rounds[job].acked[key] = true
		if there {
			delete(x.m.tasks, key)
			x.undone = nil
		}
	}
}

func (x *roundMachine) Fail(t *rapid.T) {
	key := x.drawVictim(t)
	job, waited := x.m.waitedBy(key)
	var wrong []error
	if !waited {
		wrong = append(wrong, jobs.ErrVictim)
	}
	end, err := x.w.r.Fail(key)
	x.judgeEnd(t, end, err, wrong, func() jobs.End { return x.m.undo(job, "failed") })
}

func (x *roundMachine) Complete(t *rapid.T) {
	job := rapid.SampledFrom(machineJobs).Draw(t, "job")
	end, err := x.w.r.Complete(job)
	x.judgeEnd(t, end, err, x.m.incomplete(job), func() jobs.End { return x.m.complete(job) })
}

func (x *roundMachine) Abandon(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "rarely") < 3 {
		return
	}
	job := rapid.SampledFrom(machineJobs).Draw(t, "job")
	held := x.m.granted(x.m.held[job])
	var wrong []error
	if x.m.rounds[job] == nil && len(held) == 0 {
		wrong = append(wrong, jobs.ErrNoRound)
	}
	end, err := x.w.r.Abandon(job)
	x.judgeEnd(t, end, err, wrong, func() jobs.End {
		end := x.m.undo(job, "abandoned")
		for _, key := range held {
			delete(x.m.tasks, key)
		}
		delete(x.m.held, job)
		end.Dropped = append(held, end.Dropped...)
		return end
	})
}

// Expire lets time pass, and ends what is due.
func (x *roundMachine) Expire(t *rapid.T) {
	x.clock += rapid.IntRange(0, 5).Draw(t, "minutes") / 4
	var want []jobs.End
	for at := 1; at <= x.clock; at++ {
		for _, job := range append(machineJobs, "l") {
			if r := x.m.rounds[job]; r != nil && r.deadline == at {
				want = append(want, x.m.undo(job, "expired"))
				x.undone = nil
			}
		}
	}
	if diff := cmp.Diff(want, x.w.r.Expire(minutes(x.clock)), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("at %d (-want +got):\n%s", x.clock, diff)
	}
}

// Start starts a member, or adds a task that no one has heard of.
func (x *roundMachine) Start(t *rapid.T) {
	key := rapid.SampledFrom(machineKeys).Draw(t, "key")
	state, there := x.m.tasks[key]
	switch {
	case there && state == victims.Granted:
		x.judge(t, x.w.c.StartAnyway(key, minutes(x.clock)))
	case !there && !strings.Contains(key, "-"):
		x.w.add(key)
	default:
		return
	}
	x.m.tasks[key] = victims.Running
	x.undone = nil
}

// Finish takes a running task out of the cluster.
func (x *roundMachine) Finish(t *rapid.T) {
	key := rapid.SampledFrom(machineKeys).Draw(t, "key")
	state, there := x.m.tasks[key]
	if !there || state == victims.Granted || x.alone && state != victims.Running {
		return // not running
	}
	x.judge(t, x.w.c.RemoveTask(key))
	delete(x.m.tasks, key)
	x.undone = nil
}

// SetState is someone else's change of a task that the tracker may wait for.
func (x *roundMachine) SetState(t *rapid.T) {
	key := rapid.SampledFrom(machineKeys).Draw(t, "key")
	if state, there := x.m.tasks[key]; x.alone || !there || state == victims.Granted {
		return // no task
	}
	state := rapid.SampledFrom([]victims.State{victims.Running, victims.Releasing, victims.Preempting}).Draw(t, "state")
	x.judge(t, x.w.c.SetState(key, state))
	x.m.tasks[key] = state
	x.undone = nil
}

// Drop is someone else's dropping of a grant.
func (x *roundMachine) Drop(t *rapid.T) {
	key := rapid.SampledFrom(machineKeys).Draw(t, "key")
	if state, there := x.m.tasks[key]; x.alone || !there || state != victims.Granted {
		return // no grant
	}
	x.judge(t, x.w.c.Drop(key))
	delete(x.m.tasks, key)
	x.undone = nil
}

// Undo is someone's undoing of the beginning of a round.
func (x *roundMachine) Undo(t *rapid.T) {
	if x.alone || x.undone == nil {
		return // nothing to undo
	}
	x.judge(t, x.w.c.Undo())
	x.m.tasks, x.undone = x.undone, nil
}

// drawVictim draws the key of a task, and rather of one that is waited for.
func (x *roundMachine) drawVictim(t *rapid.T) string {
	keys := slices.Clone(machineTasks)
	for _, key := range machineTasks {
		if _, waited := x.m.waitedBy(key); waited {
			keys = append(keys, key, key, key)
		}
	}
	return rapid.SampledFrom(keys).Draw(t, "key")
}
