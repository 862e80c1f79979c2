// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/jobs/pending"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// grace is how long a task takes to stop once it was told to.
const grace = 30 * time.Second

// A scheduler places asks and jobs on a cluster. It has no goroutine and no
// clock but now: whoever runs it lets time pass by calling tick.
type scheduler struct {
	out     io.Writer // the history
	now     time.Time
	cluster *victims.Cluster

	// What waits, or holds a grant, and what was last told of it: of each outcome once.
	asks     *pending.List[victims.Ask, victims.Decision]
	jobs     *pending.List[victims.Ask, jobs.Decision]
	toldAsks map[string]victims.Outcome
	toldJobs map[string]victims.Outcome

	planner victims.Planner
	gangs   jobs.Planner
	placed  []victims.Ask // that hold their places, and have not started

	timing   *quota.Timing
	enforcer quota.Enforcer
	outcome  quota.Outcome

	leaving []departure // by time
}

// A departure is a task that will have gone at an instant.
type departure struct {
	Key string
	At  time.Time
}

func newScheduler(out io.Writer, c *victims.Cluster, now time.Time) *scheduler {
	s := &scheduler{
		out: out, now: now, cluster: c,
		planner:  victims.Planner{Cluster: c},
		gangs:    jobs.Planner{Cluster: c},
		timing:   quota.NewTiming(c.Tree()),
		enforcer: quota.Enforcer{Cluster: c},
		toldAsks: make(map[string]victims.Outcome),
		toldJobs: make(map[string]victims.Outcome),
	}
	s.asks, s.jobs = pending.Asks(&s.planner), pending.Jobs(&s.gangs)
	s.asks.Order = func(a, b *victims.Ask) int { return cmp.Compare(b.Priority, a.Priority) }
	return s
}

// submit lets an ask wait from now on. Those of higher priority go first, and
// among equals those that came first.
func (s *scheduler) submit(a victims.Ask) {
	a.PendingSince = s.now
	s.asks.Add(a)
}

// submitJob lets a job wait from now on.
func (s *scheduler) submitJob(j victims.Ask) { s.jobs.Add(j) }

// limit sets the max of a queue. If that lowers it, tasks are preempted until
// usage fits, once the delay is over.
func (s *scheduler) limit(q queue.ID, most resources.Limit, delay time.Duration) error {
	setting := quota.Quota{Queue: q, Max: most, Delay: delay}
	if err := setting.Check(s.cluster.Tree()); err != nil {
		return err
	}
	if err := s.cluster.SetMax(q, most); err != nil {
		return err
	}
	s.note("%s gets a max of %s", s.cluster.Tree().Path(q), s.cluster.Schema().FormatLimit(most))
	return s.timing.Observe(setting, s.now)
}

// tick lets time pass and does what there is to do then: first tasks go, which
// makes room, then maxima are enforced, and then jobs and asks are placed. After
// an error nothing is lost: what was not done is done by the next tick.
func (s *scheduler) tick(d time.Duration) error {
	s.now = s.now.Add(d)
	for _, step := range []func() error{s.depart, s.enforce, s.placeJobs, s.placeAsks} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// depart removes the tasks that have stopped by now.
func (s *scheduler) depart() error {
	for len(s.leaving) > 0 && !s.leaving[0].At.After(s.now) {
		gone := s.leaving[0]
		if err := s.cluster.RemoveTask(gone.Key); err != nil {
			return err
		}
		s.leaving = s.leaving[1:]
		s.note("%s has gone", gone.Key)
	}
	return nil
}

// stop tells a victim to stop. That cannot be taken back, so it comes after the
// change that marks the victim was applied, which may fail.
func (s *scheduler) stop(key string) {
	s.leaving = append(s.leaving, departure{key, s.now.Add(grace)})
}

// enforce enforces every max whose delay is over.
func (s *scheduler) enforce() error {
	for q, due := s.timing.Begin(s.now); due; q, due = s.timing.Begin(s.now) {
		err := s.lower(q)
		if err := errors.Join(err, s.timing.End(q, s.now)); err != nil {
			return err
		}
	}
	return nil
}

// lower brings the usage of a queue under its max.
func (s *scheduler) lower(q queue.ID) error {
	o := &s.outcome
	if err := s.enforcer.Enforce(o, quota.Quota{Queue: q, Max: s.cluster.Tree().Max(q)}, s.now); err != nil {
		return err
	}
	if err := s.cluster.Apply(o.Change()); err != nil {
		return err
	}
	for _, v := range o.Victims {
		s.stop(v.Key)
	}
	s.note("%s", o.Describe(s.cluster))
	return nil
}

// placeJobs places jobs that wait, each as a whole, and starts those for which
// room was made.
func (s *scheduler) placeJobs() error {
	for job, d := range s.jobs.All(s.now) {
		if d.Outcome == victims.Fits || d.Outcome == victims.Preempts { // else it asks again
			if err := s.cluster.Apply(d.Plan.Change()); err != nil {
				return err
			}
			for _, v := range d.Plan.Victims {
				s.stop(v.Key)
			}
			s.placed = append(s.placed, *job)
			s.jobs.Remove(job.Key)
		}
		if d.Outcome != s.toldJobs[job.Key] {
			s.toldJobs[job.Key] = d.Outcome
			s.note("%s", d.Describe(s.cluster))
		}
	}
	for len(s.placed) > 0 {
		ready := slices.IndexFunc(s.placed, func(j victims.Ask) bool {
			g, _ := s.cluster.Grant(j.Key)
			return g.Ready && len(g.Leaving) == 0
		})
		if ready < 0 {
			break
		}
		if err := s.startJob(s.placed[ready].Key); err != nil {
			return err
		}
		s.placed = slices.Delete(s.placed, ready, ready+1)
	}
	return s.jobs.Err()
}

// startJob starts a job whose room is made.
func (s *scheduler) startJob(name string) error {
	var members []string
	g, _ := s.cluster.Grant(name)
	for _, id := range g.Places {
		members = append(members, s.cluster.Key(id))
	}
	delete(s.toldJobs, name)
	s.note("%s starts: %s", name, strings.Join(members, ", "))
	return s.cluster.Start(name, s.now)
}

// placeAsks places asks that wait, and starts those for which room was made.
func (s *scheduler) placeAsks() error {
	for ask, d := range s.asks.All(s.now) {
		if err := s.placeAsk(ask, d); err != nil {
			return err
		}
	}
	return s.asks.Err()
}

func (s *scheduler) placeAsk(ask *victims.Ask, d *victims.Decision) error {
	if d.Outcome == victims.Refused {
		if d.Refusal.Reason == victims.InFlight {
			return nil // its room is being made
		}
	} else { // it is granted its place, or keeps its grant
		if err := s.cluster.Apply(d.Plan.Change()); err != nil {
			return err
		}
		for _, v := range d.Plan.Victims {
			s.stop(v.Key)
		}
	}
	if d.Outcome != s.toldAsks[ask.Key] {
		s.toldAsks[ask.Key] = d.Outcome
		s.note("%s", d.Describe(s.cluster))
	}
	if d.Outcome != victims.Fits {
		return nil // it waits for its room, or asks again
	}
	s.asks.Remove(ask.Key)
	delete(s.toldAsks, ask.Key)
	return s.cluster.Start(ask.Key, s.now)
}

// note writes a line, or several, of history.
func (s *scheduler) note(format string, args ...any) {
	at := s.now.Format(time.TimeOnly)
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		fmt.Fprintf(s.out, "%s  %s\n", at, strings.TrimRight(line, "\n"))
		at = strings.Repeat(" ", len(at))
	}
}
