package jobs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/victims"
)

// The kinds of errors of [Rounds]. They come wrapped in a [*RoundError], as
// those of the cluster do.
var (
	ErrNoJob    = errors.New("no job is named")
	ErrUnderWay = errors.New("a round is under way")
	ErrNoRound  = errors.New("no round is under way")
	ErrDeadline = errors.New("the deadline is over")
	ErrVictim   = errors.New("no victim that is waited for")
	ErrTaken    = errors.New("a victim of another round")
	ErrLeaving  = errors.New("it has not gone yet")
	ErrReturned = errors.New("it runs and is not marked")
)

// A RoundError is something wrong with what is told about a round.
type RoundError struct {
	Job    string // "" if none is known
	Victim string // "" if it is about none
	Err    error
}

func (e *RoundError) Error() string {
	text := "jobs: round"
	if e.Job != "" {
		text += " of job " + plain.Name(e.Job)
	}
	if e.Victim != "" {
		text += ": victim " + plain.Name(e.Victim)
	}
	return fmt.Sprintf("%s: %v", text, e.Err)
}

// Unwrap returns what is wrong, without job and victim.
func (e *RoundError) Unwrap() error { return e.Err }

// Rounds keeps track of the plans that are being carried out: of each, the
// victims that have not gone yet, and the places that are held for the members.
// While victims are leaving, the same job gets no second round, so that a slow
// deletion is not answered with ever more victims.
//
// A round begins with a plan, whose victims are marked and whose members are
// granted their nodes in the cluster. It ends in one of four ways: by
// completion, when all victims have gone; by the departure of the job; by the
// loss of a victim's confirmation; or by its deadline. But for completion, the
// marks of victims that have not gone are taken back, and the members' grants
// are dropped. What is left after completion are the grants, which hold the
// room until [victims.Cluster.Start].
//
// A job is known by its name, a victim and a member by its key. While a victim
// is waited for, no other task should get its key, and a member has one job. The
// caller may change the cluster otherwise, and Rounds goes by what it finds
// there: a victim that someone removed has gone, one that someone set to another
// state is not touched, and so it is with grants that were started or dropped.
//
// The zero value is ready once Cluster is set. Rounds serves one goroutine at a
// time. An error changes neither it nor the cluster.
type Rounds struct {
	Cluster *victims.Cluster

	live map[string]*round
	// waited has the job of each victim that is not known to have gone.
	waited map[string]string
	// held has, by job, the grants that completed rounds have left behind.
	held map[string][]string
}

// round is what is known of a round beside what the cluster says.
type round struct {
	began, deadline time.Time
	victims         []roundVictim // sorted by key
	grants          []string      // of members, in the order of the change
}

type roundVictim struct {
	key  string
	gone bool // it was acknowledged
}

// Begin begins a round for the job of a change, which is applied to the
// cluster; see [Plan.Change] and [victims.Cluster.ApplyChange]. A change without
// victims is a round as well: one that can complete at once. Members that hold
// a grant of a completed round already keep it, and it is the round's from now
// on. With the zero deadline there is none.
//
// Errors are a change for nobody, a job that has a round, a deadline that is
// not after now, a victim of another round, and those of the cluster. The cost
// is that of applying the change, and linear in the grants that are held.
func (r *Rounds) Begin(ch victims.Change, now, deadline time.Time) error {
	if err := r.mayBegin(&ch, now, deadline); err != nil {
		return err
	}
	r.forget()
	grants := r.granting(&ch)
	if err := r.Cluster.ApplyChange(ch); err != nil {
		return &RoundError{Job: ch.For, Err: err}
	}
	if r.live == nil {
		r.live = make(map[string]*round)
		r.waited = make(map[string]string)
		r.held = make(map[string][]string)
	}
	x := &round{began: now, deadline: deadline, grants: grants}
	for i := range ch.Victims {
		key := ch.Victims[i].Key
		x.victims = append(x.victims, roundVictim{key: key})
		r.waited[key] = ch.For
	}
	slices.SortFunc(x.victims, func(a, b roundVictim) int { return strings.Compare(a.key, b.key) })
	r.live[ch.For] = x
	r.held[ch.For] = slices.DeleteFunc(r.held[ch.For], func(key string) bool { return slices.Contains(grants, key) })
	return nil
}

// mayBegin reports why there can be no round for a change.
func (r *Rounds) mayBegin(ch *victims.Change, now, deadline time.Time) error {
	switch {
	case ch.For == "":
		return &RoundError{Err: ErrNoJob}
	case r.live[ch.For] != nil:
		return &RoundError{Job: ch.For, Err: ErrUnderWay}
	case !deadline.IsZero() && !deadline.After(now):
		return &RoundError{Job: ch.For, Err: fmt.Errorf("%w: %v, and it is %v", ErrDeadline, deadline, now)}
	}
	for i := range ch.Victims {
		if job, ok := r.waited[ch.Victims[i].Key]; ok {
			err := fmt.Errorf("%w: that of job %s", ErrTaken, plain.Name(job))
			return &RoundError{Job: ch.For, Victim: ch.Victims[i].Key, Err: err}
		}
	}
	return nil
}

// granting lists the grants of a change that are its round's: those that it
// makes, and those that completed rounds of the job have left behind. A grant
// that someone else gave to a member stays someone else's.
func (r *Rounds) granting(ch *victims.Change) (keys []string) {
	for _, g := range ch.Grants {
		key := g.Ask.Key
		_, there := r.Cluster.LookupGrant(key)
		if (!there || slices.Contains(r.held[ch.For], key)) && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// forget drops from memory what was held and is not any more.
func (r *Rounds) forget() {
	for job, keys := range r.held {
		if keys = slices.DeleteFunc(keys, r.noGrant); len(keys) > 0 {
			r.held[job] = keys
		} else {
			delete(r.held, job)
		}
	}
}

func (r *Rounds) noGrant(key string) bool {
	_, ok := r.Cluster.LookupGrant(key)
	return !ok
}

// granted returns those of some grants that are there still.
func (r *Rounds) granted(keys []string) []string {
	return slices.DeleteFunc(slices.Clone(keys), r.noGrant)
}
