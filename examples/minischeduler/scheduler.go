// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-preempt/preempt/jobs"
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
	waiting jobs.Pending
	told    map[string]victims.Outcome

	timing   quota.Timing
	enforcer quota.Enforcer
	lowered  victims.Decision

	leaving []departure // by time
}

// A departure is a task that will have gone at an instant.
type departure struct {
	Key string
	At  time.Time
}

func newScheduler(out io.Writer, c *victims.Cluster, now time.Time) *scheduler {
	return &scheduler{
		out: out, now: now, cluster: c,
		waiting: jobs.Pending{
			Planner: &jobs.Planner{Cluster: c},
			Order:   func(a, b *victims.Ask) int { return cmp.Compare(b.Priority, a.Priority) },
		},
		told:     make(map[string]victims.Outcome),
		timing:   quota.Timing{Cluster: c},
		enforcer: quota.Enforcer{Cluster: c},
	}
}

// submit lets an ask or a gang wait from now on. Those of higher priority go first, and among
// equals those that came first.
func (s *scheduler) submit(a victims.Ask) {
	a.PendingSince = s.now
	s.waiting.Add(a)
}

// limit sets the max of a queue. If that lowers it, tasks are preempted until
// usage fits, once the queue's delay is over.
func (s *scheduler) limit(q queue.ID, most resources.Limit) error {
	if err := s.cluster.SetMax(q, most); err != nil {
		return err
	}
	s.note("%s gets a max of %s", s.cluster.Tree().Path(q), s.cluster.Schema().FormatLimit(most))
	s.timing.Observe(s.now)
	return nil
}

// tick lets time pass and does what there is to do then: first tasks go, which makes room, then
// maxima are enforced, then what waits is placed, and what has its room starts. After an error
// nothing is lost: what was not done is done by the next tick.
func (s *scheduler) tick(d time.Duration) error {
	s.now = s.now.Add(d)
	for _, step := range []func() error{s.depart, s.enforce, s.place} {
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
		s.waiting.Remove(gone.Key) // it may have started after the last look at what waits
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
	for q := range s.timing.Due(s.now) {
		err := s.lower(q)
		if err := errors.Join(err, s.timing.End(q, s.now)); err != nil {
			return err
		}
	}
	return nil
}

// lower brings the usage of a queue under its max.
func (s *scheduler) lower(q queue.ID) error {
	d := &s.lowered
	if err := s.enforcer.Enforce(d, q, s.now); err != nil {
		return err
	}
	if d.Outcome == victims.Preempts {
		if err := s.cluster.Apply(d); err != nil {
			return err
		}
	}
	for _, v := range d.Plan.Victims {
		s.stop(v.Key)
	}
	s.note("%v", d)
	return nil
}

// place decides what waits, stops the victims of plans, and starts what has room. An ask in
// error is in nobody's way.
func (s *scheduler) place() (wrong error) {
	for d, err := range s.waiting.Decide(s.now) {
		if err != nil {
			wrong = errors.Join(wrong, err)
			continue
		}
		if d.Outcome != victims.Refused {
			if err := s.cluster.Apply(d); err != nil {
				return err
			}
			for _, v := range d.Plan.Victims {
				s.stop(v.Key)
			}
		}
		if key := d.Plan.Ask.Key; d.Outcome != s.told[key] {
			s.told[key] = d.Outcome
			_ = d.Count() // of a refusal, what keeps whom
			s.note("%v", d)
		}
	}
	return errors.Join(wrong, s.start())
}

// start starts what has room, gangs as a whole.
func (s *scheduler) start() error {
	started, err := s.cluster.StartReady(s.now, nil)
	if len(started) > 0 {
		s.note("started: %s", strings.Join(started, ", "))
	}
	return err
}

// note writes a line, or several, of history.
func (s *scheduler) note(format string, args ...any) {
	at := s.now.Format(time.TimeOnly)
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		fmt.Fprintf(s.out, "%s  %s\n", at, strings.TrimRight(line, "\n"))
		at = strings.Repeat(" ", len(at))
	}
}
