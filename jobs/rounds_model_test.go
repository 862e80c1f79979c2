// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"maps"
	"slices"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// roundModel is what rounds and their cluster are, written for reading.
type roundModel struct {
	tasks  map[string]victims.State // grants included
	rounds map[string]*modelRound
	held   map[string][]string // by completed rounds
}

type modelRound struct {
	deadline int      // in minutes; 0: none
	victims  []string // sorted
	acked    map[string]bool
	grants   []string
}

// waitedBy returns the job whose round waits for a victim.
func (m *roundModel) waitedBy(key string) (job string, ok bool) {
	for job, r := range m.rounds {
		if slices.Contains(r.victims, key) && !r.acked[key] {
			return job, true // the only one, as Check shows
		}
	}
	return "", false
}

// badRound returns what is wrong with a round that is to begin.
func (m *roundModel) badRound(job string, stop, place []string) (wrong []error) {
	if job == "" {
		wrong = append(wrong, jobs.ErrNoJob)
	}
	if m.rounds[job] != nil {
		wrong = append(wrong, jobs.ErrUnderWay)
	}
	for i, key := range stop {
		state, there := m.tasks[key]
		if _, waited := m.waitedBy(key); waited {
			wrong = append(wrong, jobs.ErrTaken)
		}
		if slices.Contains(stop[:i], key) {
			wrong = append(wrong, victims.ErrDuplicate)
		}
		if !there {
			wrong = append(wrong, victims.ErrUnknown)
		} else if state != victims.Running {
			wrong = append(wrong, victims.ErrState)
		}
	}
	for _, key := range place {
		if state, there := m.tasks[key]; there && state != victims.Granted {
			wrong = append(wrong, victims.ErrDuplicate)
		}
	}
	return wrong
}

func (m *roundModel) begin(job string, stop, place []string, deadline int) {
	r := &modelRound{deadline: deadline, victims: slices.Sorted(slices.Values(stop)), acked: map[string]bool{}}
	for _, key := range stop {
		m.tasks[key] = victims.Preempting
	}
	kept := m.granted(m.held[job])
	for _, key := range place {
		if _, there := m.tasks[key]; !there || slices.Contains(kept, key) {
			r.grants = append(r.grants, key)
		}
		m.tasks[key] = victims.Granted
	}
	m.held[job] = slices.DeleteFunc(kept, func(key string) bool { return slices.Contains(r.grants, key) })
	m.rounds[job] = r
}

// there reports whether a victim of a round is in the cluster still.
func (m *roundModel) there(r *modelRound, key string) (s victims.State, ok bool) {
	s, ok = m.tasks[key]
	return s, ok && !r.acked[key]
}

// granted returns those of some grants that are there still.
func (m *roundModel) granted(keys []string) (there []string) {
	for _, key := range keys {
		if state, ok := m.tasks[key]; ok && state == victims.Granted {
			there = append(there, key)
		}
	}
	return there
}

// incomplete returns why the round of a job cannot complete.
func (m *roundModel) incomplete(job string) (wrong []error) {
	r := m.rounds[job]
	if r == nil {
		return []error{jobs.ErrNoRound}
	}
	for _, key := range r.victims { // the first one that is there is named
		if state, ok := m.there(r, key); ok && state == victims.Running {
			return []error{jobs.ErrReturned}
		} else if ok {
			return []error{jobs.ErrLeaving}
		}
	}
	return nil
}

func (m *roundModel) complete(job string) jobs.End {
	r := m.rounds[job]
	delete(m.rounds, job)
	held := m.granted(r.grants)
	m.held[job] = append(m.granted(m.held[job]), held...)
	return jobs.End{Job: job, How: "completed", Gone: r.victims, Held: held}
}

func (m *roundModel) undo(job string, how string) jobs.End {
	end := jobs.End{Job: job, How: how}
	r := m.rounds[job]
	if r == nil {
		return end
	}
	delete(m.rounds, job)
	for _, key := range r.victims {
		switch state, ok := m.there(r, key); {
		case !ok:
			end.Gone = append(end.Gone, key)
		case state == victims.Preempting:
			m.tasks[key] = victims.Running
			end.Back = append(end.Back, key)
		}
	}
	end.Dropped = m.granted(r.grants)
	for _, key := range end.Dropped {
		delete(m.tasks, key)
	}
	return end
}

// Check holds everything that can be seen to the model.
func (x *roundMachine) Check(t *rapid.T) {
	got := map[string]victims.State{}
	for id := range x.w.c.Tasks() {
		task := x.w.c.Task(id)
		got[task.Key] = task.State
	}
	if diff := cmp.Diff(x.m.tasks, got); diff != "" {
		t.Fatalf("tasks (-want +got):\n%s", diff)
	}
	x.checkRounds(t)
	x.checkSpace(t)
	if x.alone {
		x.checkOwners(t)
	}
}

func (x *roundMachine) checkRounds(t *rapid.T) {
	var want []jobs.Round
	for _, job := range slices.Sorted(maps.Keys(x.m.rounds)) {
		r := x.m.rounds[job]
		round := jobs.Round{Job: job, Held: x.m.granted(r.grants)}
		if r.deadline != 0 {
			round.Deadline = minutes(r.deadline)
		}
		for _, key := range r.victims {
			switch state, ok := x.m.there(r, key); {
			case !ok:
				round.Gone = append(round.Gone, key)
			case state == victims.Running:
				round.Returned = append(round.Returned, key)
			default:
				round.Leaving = append(round.Leaving, key)
			}
		}
		want = append(want, round)
	}
	got := slices.Collect(x.w.r.All())
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("rounds (-want +got):\n%s", diff)
	}
	for _, job := range machineJobs {
		if diff := cmp.Diff(x.m.granted(x.m.held[job]), x.w.r.Held(job), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("held by %s (-want +got):\n%s", job, diff)
		}
	}
}

// checkSpace: every task and grant uses one gpu, once, of its node and of its
// queue, and nothing else does. So nothing leaks and nothing is freed twice.
func (x *roundMachine) checkSpace(t *rapid.T) {
	var used, leaving int64
	in := map[queue.ID]int64{}
	for key, state := range x.m.tasks {
		used++
		if state == victims.Releasing || state == victims.Preempting {
			leaving++
		}
		if slices.Contains(machineTasks, key) {
			in[quotaA]++
		} else {
			in[quotaB]++
		}
	}
	present, coming := x.w.free()
	if present != 9-used || coming != 9-used+leaving {
		t.Fatalf("free %d now and %d later, want %d and %d", present, coming, 9-used, 9-used+leaving)
	}
	for _, q := range []queue.ID{quotaA, quotaB} {
		if x.w.uses(q) != in[q] {
			t.Fatalf("queue %d uses %d, want %d", q, x.w.uses(q), in[q])
		}
	}
}

// checkOwners: where nobody else marks, every mark is that of one victim of one
// round that is under way, and every grant is held by a round, once, or was left
// behind by a completed one.
func (x *roundMachine) checkOwners(t *rapid.T) {
	var marks, grants, wantMarks, wantGrants []string
	for key, state := range x.m.tasks {
		switch state {
		case victims.Preempting:
			wantMarks = append(wantMarks, key)
		case victims.Granted:
			wantGrants = append(wantGrants, key)
		}
	}
	for round := range x.w.r.All() {
		marks = append(marks, round.Leaving...)
		grants = append(grants, round.Held...)
		if len(round.Returned) > 0 {
			t.Fatalf("victims of %s run: %q", round.Job, round.Returned)
		}
	}
	for _, job := range machineJobs {
		grants = append(grants, x.w.r.Held(job)...)
	}
	for _, list := range [][]string{marks, grants, wantMarks, wantGrants} {
		slices.Sort(list)
	}
	if diff := cmp.Diff(wantMarks, marks); diff != "" {
		t.Fatalf("marks (-cluster +rounds):\n%s", diff)
	}
	if diff := cmp.Diff(wantGrants, grants); diff != "" {
		t.Fatalf("grants (-cluster +rounds):\n%s", diff)
	}
}
