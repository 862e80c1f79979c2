package main

import (
	"cmp"
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

	asks     []pending[victims.Ask] // that wait, or hold a grant
	planner  victims.Planner
	decision victims.Decision

	jobs     []pending[jobs.Job] // that wait, or are in a round
	gangs    jobs.Planner
	placing  jobs.Decision
	rounds   jobs.Rounds
	timing   *quota.Timing
	enforcer quota.Enforcer
	outcome  quota.Outcome

	leaving []departure // by time
}

// A pending ask or job was told of an outcome, and is told of another one only.
type pending[T any] struct {
	work T
	told victims.Outcome
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
		planner:  victims.Planner{Cluster: c},
		gangs:    jobs.Planner{Cluster: c},
		rounds:   jobs.Rounds{Cluster: c},
		timing:   quota.NewTiming(tree),
		enforcer: quota.Enforcer{Cluster: c},
	}
}

// submit lets an ask wait from now on. Those of higher priority go first, and
// among equals those that came first.
func (s *scheduler) submit(a victims.Ask) {
	a.PendingSince = s.now
	s.asks = append(s.asks, pending[victims.Ask]{work: a})
	slices.SortStableFunc(s.asks, func(a, b pending[victims.Ask]) int {
		return cmp.Compare(b.work.Priority, a.work.Priority)
	})
}

// submitJob lets a job wait from now on.
func (s *scheduler) submitJob(j jobs.Job) { s.jobs = append(s.jobs, pending[jobs.Job]{work: j}) }

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
	s.note("%s gets a max of %s", s.cluster.Tree().Path(q), s.cluster.Schema().FormatLimit(most))
	return s.timing.Observe(q, setting, s.now)
}

// tick lets time pass and does what there is to do then: first tasks go, which
// makes room, then maxima are enforced, and then jobs and asks are placed.
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
		s.leaving = s.leaving[1:]
		remove := s.cluster.RemoveTask
		if gone.round {
			remove = s.rounds.Acknowledge // which removes it, too
		}
		if err := remove(gone.key); err != nil {
			return err
		}
		s.note("%s has gone", gone.key)
	}
	return nil
}

// stop tells victims, which are marked already, to stop.
func (s *scheduler) stop(round bool, keys ...string) {
	for _, key := range keys {
		s.leaving = append(s.leaving, departure{key: key, at: s.now.Add(grace), round: round})
	}
}

// enforce enforces every max whose delay is over.
func (s *scheduler) enforce() error {
	for q, due := s.timing.Begin(s.now); due; q, due = s.timing.Begin(s.now) {
		if err := s.enforcer.Enforce(&s.outcome, q, s.cluster.Tree().Max(q), s.now); err != nil {
			return err
		}
		s.note("%s", s.outcome.Describe(s.cluster))
		if err := s.cluster.ApplyChange(s.outcome.Change(s.cluster)); err != nil {
			return err
		}
		for _, v := range s.outcome.Victims {
			s.stop(false, v.Key)
		}
		if err := s.timing.End(q, s.now); err != nil {
			return err
		}
	}
	return nil
}

// placeJobs places jobs that wait, each as a whole, and starts those for which
// room was made.
func (s *scheduler) placeJobs() error {
	waiting := s.jobs[:0]
	for _, job := range s.jobs {
		started, err := s.placeJob(&job)
		if err != nil {
			return err
		}
		if !started {
			waiting = append(waiting, job)
		}
	}
	s.jobs = waiting
	return nil
}

func (s *scheduler) placeJob(p *pending[jobs.Job]) (started bool, err error) {
	job := &p.work
	if _, underWay := s.rounds.Lookup(job.Name); !underWay {
		if err := s.gangs.Decide(&s.placing, job, s.now); err != nil {
			return false, err
		}
		o := s.placing.Outcome
		if o != p.told {
			p.told = o
			s.note("%s", s.placing.Describe(s.cluster))
		}
		if o != victims.Fits && o != victims.Preempts {
			return false, nil // refused, or it waits for others to go: ask again
		}
		// A job that fits has a round without victims.
		plan := &s.placing.Plan
		if err := s.rounds.Begin(plan.Change(), s.now, time.Time{}); err != nil {
			return false, err
		}
		for _, v := range plan.Victims {
			s.stop(true, v.Key)
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
	}
	s.note("%s starts: %s", job.Name, strings.Join(end.Held, ", "))
	return true, nil
}

// placeAsks places asks that wait, and starts those for which room was made.
func (s *scheduler) placeAsks() error {
	waiting := s.asks[:0]
	for _, ask := range s.asks {
		if err := s.placeAsk(&ask); err != nil {
			return err
		}
		if s.decision.Outcome != victims.Fits {
			waiting = append(waiting, ask)
		}
	}
	s.asks = waiting
	return nil
}

func (s *scheduler) placeAsk(p *pending[victims.Ask]) error {
	ask := &p.work
	if err := s.planner.Decide(&s.decision, ask, s.now); err != nil {
		return err
	}
	plan := &s.decision.Plan
	if s.decision.Outcome == victims.Refused && s.decision.Refusal.Reason == victims.InFlight {
		return nil // its room is being made
	}
	if s.decision.Outcome != p.told {
		p.told = s.decision.Outcome
		s.note("%s", s.cluster.Describe(&s.decision))
	}
	switch s.decision.Outcome {
	case victims.Fits: // now; where it holds a grant, it keeps that until it starts
		if err := s.cluster.Apply(plan); err != nil {
			return err
		}
		return s.cluster.Start(ask.Key, s.now)
	case victims.Waits, victims.Preempts: // it is granted its place
		for _, v := range plan.Victims {
			s.stop(false, v.Key)
		}
		return s.cluster.Apply(plan)
	}
	return nil // refused: ask again
}

// note writes a line, or several, of history.
func (s *scheduler) note(format string, args ...any) {
	at := s.now.Format(time.TimeOnly)
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		fmt.Fprintf(s.out, "%s  %s\n", at, strings.TrimRight(line, "\n"))
		at = strings.Repeat(" ", len(at))
	}
}
