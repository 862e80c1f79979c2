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

	asks     []*pending[victims.Ask] // that wait, or hold a grant
	planner  victims.Planner
	decision victims.Decision // memory for the next one, as the other answers are

	jobs    []*pending[jobs.Job] // that wait, or are in a round
	gangs   jobs.Planner
	placing jobs.Decision
	rounds  jobs.Rounds

	timing   *quota.Timing
	enforcer quota.Enforcer
	outcome  quota.Outcome

	leaving []departure // by time
}

// A pending ask or job was told of an outcome, and is told of another one only.
type pending[T any] struct {
	work T
	told victims.Outcome

	// What was refused is not decided again before something happens that would help.
	// Idle is set as long as nothing has.
	idle    bool
	help    victims.Help
	retryAt time.Time
}

// A departure is a task that will have gone at an instant.
type departure struct {
	key   string
	at    time.Time
	round bool // for a job, so that its round waits for it
}

func newScheduler(out io.Writer, tree *queue.Tree, now time.Time) *scheduler {
	c := victims.NewCluster(tree)
	return &scheduler{
		out: out, now: now, cluster: c,
		planner:  victims.Planner{Cluster: c, Rules: victims.Rules{OwnLeaf: victims.OwnMet}},
		gangs:    jobs.Planner{Cluster: c, Rules: victims.Rules{OwnLeaf: victims.OwnMet}},
		rounds:   jobs.Rounds{Cluster: c},
		timing:   quota.NewTiming(tree),
		enforcer: quota.Enforcer{Cluster: c},
	}
}

// submit lets an ask wait from now on. Those of higher priority go first, and
// among equals those that came first.
func (s *scheduler) submit(a victims.Ask) {
	a.PendingSince = s.now
	s.asks = append(s.asks, &pending[victims.Ask]{work: a})
	slices.SortStableFunc(s.asks, func(a, b *pending[victims.Ask]) int {
		return cmp.Compare(b.work.Priority, a.work.Priority)
	})
}

// submitJob lets a job wait from now on.
func (s *scheduler) submitJob(j jobs.Job) { s.jobs = append(s.jobs, &pending[jobs.Job]{work: j}) }

// limit sets the max of a queue. If that lowers it, tasks are preempted until
// usage fits, once the delay is over.
func (s *scheduler) limit(q queue.ID, most resources.Limit, delay time.Duration) error {
	setting := quota.Setting{Max: most, Delay: delay}
	if err := setting.Check(s.cluster.Tree(), q); err != nil {
		return err
	}
	if err := s.cluster.SetMax(q, most); err != nil {
		return err
	}
	s.wake(func(h *victims.Help) bool { return h.Bounds })
	s.note("%s gets a max of %s", s.cluster.Tree().Path(q), s.cluster.Schema().FormatLimit(most))
	return s.timing.Observe(q, setting, s.now)
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
	for len(s.leaving) > 0 && !s.leaving[0].at.After(s.now) {
		gone := s.leaving[0]
		s.changed(gone.key)
		remove := s.cluster.RemoveTask
		if gone.round {
			remove = s.rounds.Acknowledge // which removes it, too
		}
		if err := remove(gone.key); err != nil {
			return err
		}
		s.leaving = s.leaving[1:]
		s.note("%s has gone", gone.key)
	}
	return nil
}

// stop tells a victim to stop. That cannot be taken back, so it comes after the
// change that marks the victim was applied, which may fail.
func (s *scheduler) stop(d departure) {
	d.at = s.now.Add(grace)
	s.leaving = append(s.leaving, d)
	s.changed(d.key)
}

// changed notes that a task or a grant has come, was told to stop, or is going.
func (s *scheduler) changed(key string) {
	id, ok := s.cluster.Lookup(key)
	if !ok {
		id, _ = s.cluster.LookupGrant(key)
	}
	leaf, node := s.cluster.TaskView(id).Queue, s.cluster.NodeOf(id)
	s.wake(func(h *victims.Help) bool { return h.IfLess(s.cluster, leaf, node) || h.IfMore(s.cluster, leaf) })
}

// wake has the asks and jobs decided again that were refused and are helped by an event.
func (s *scheduler) wake(helped func(*victims.Help) bool) {
	for _, p := range s.asks {
		p.idle = p.idle && !helped(&p.help)
	}
	for _, p := range s.jobs {
		p.idle = p.idle && !helped(&p.help)
	}
}

// rests reports whether a decision would only be the same refusal again.
func (p *pending[T]) rests(now time.Time) bool {
	return p.idle && (!p.help.Time || now.Before(p.retryAt))
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
		s.stop(departure{key: v.Key})
	}
	s.note("%s", o.Describe(s.cluster))
	return nil
}

// place tries everything that waits, and returns what did not start. After an
// error the rest is not tried, and waits on.
func place[T any](waiting []*pending[T], try func(*pending[T]) (started bool, err error)) ([]*pending[T], error) {
	var failed error
	waiting = slices.DeleteFunc(waiting, func(p *pending[T]) bool {
		if failed != nil {
			return false
		}
		started, err := try(p)
		failed = err
		return started && err == nil
	})
	return waiting, failed
}

// placeJobs places jobs that wait, each as a whole, and starts those for which
// room was made.
func (s *scheduler) placeJobs() (err error) {
	s.jobs, err = place(s.jobs, s.placeJob)
	return err
}

func (s *scheduler) placeJob(p *pending[jobs.Job]) (started bool, err error) {
	job := &p.work
	if _, underWay := s.rounds.Lookup(job.Name); !underWay {
		if begun, err := s.beginRound(p); !begun || err != nil {
			return false, err
		}
	}
	if round, _ := s.rounds.Lookup(job.Name); len(round.Leaving) > 0 {
		return false, nil
	}
	end, err := s.rounds.Complete(job.Name)
	if err != nil {
		return false, err
	}
	for _, member := range end.Held {
		if err := s.cluster.Start(member, s.now); err != nil {
			return false, err
		}
		s.changed(member)
	}
	s.note("%s starts: %s", job.Name, strings.Join(end.Held, ", "))
	return true, nil
}

// beginRound decides about a job, and begins a round if there is a place for
// all of it. A job that fits has a round without victims.
func (s *scheduler) beginRound(p *pending[jobs.Job]) (begun bool, err error) {
	if p.rests(s.now) {
		return false, nil
	}
	d := &s.placing
	if err := s.gangs.Decide(d, &p.work, s.now); err != nil {
		return false, err
	}
	if p.idle = d.Outcome == victims.Refused; p.idle {
		p.help.CopyFrom(&d.Refusal.Help)
		p.retryAt = d.Refusal.RetryAt
	}
	if d.Outcome == victims.Fits || d.Outcome == victims.Preempts {
		if err := s.rounds.Begin(d.Plan.Change(), s.now, time.Time{}); err != nil {
			return false, err
		}
		begun = true
		for _, m := range d.Plan.Placements {
			s.changed(m.Key)
		}
		for _, v := range d.Plan.Victims {
			s.stop(departure{key: v.Key, round: true})
		}
	}
	// If it waits for others to go, it asks again.
	if d.Outcome != p.told {
		p.told = d.Outcome
		s.note("%s", d.Describe(s.cluster))
	}
	return begun, nil
}

// placeAsks places asks that wait, and starts those for which room was made.
func (s *scheduler) placeAsks() (err error) {
	s.asks, err = place(s.asks, s.placeAsk)
	return err
}

func (s *scheduler) placeAsk(p *pending[victims.Ask]) (started bool, err error) {
	if p.rests(s.now) {
		return false, nil
	}
	d := &s.decision
	if err := s.planner.Decide(d, &p.work, s.now); err != nil {
		return false, err
	}
	if p.idle = d.Outcome == victims.Refused; p.idle {
		p.help.CopyFrom(&d.Refusal.Help)
		p.retryAt = d.Refusal.RetryAt
		if d.Refusal.Reason == victims.InFlight {
			return false, nil // its room is being made
		}
	} else { // it is granted its place, or keeps its grant
		if err := s.cluster.Apply(d.Plan.Change()); err != nil {
			return false, err
		}
		s.changed(p.work.Key)
		for _, v := range d.Plan.Victims {
			s.stop(departure{key: v.Key})
		}
	}
	if d.Outcome != p.told {
		p.told = d.Outcome
		s.note("%s", d.Describe(s.cluster))
	}
	if d.Outcome != victims.Fits {
		return false, nil // it waits for its room, or asks again
	}
	err = s.cluster.Start(p.work.Key, s.now)
	if err == nil {
		s.changed(p.work.Key)
	}
	return err == nil, err
}

// note writes a line, or several, of history.
func (s *scheduler) note(format string, args ...any) {
	at := s.now.Format(time.TimeOnly)
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		fmt.Fprintf(s.out, "%s  %s\n", at, strings.TrimRight(line, "\n"))
		at = strings.Repeat(" ", len(at))
	}
}
