package jobs

import (
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/go-preempt/preempt/victims"
)

// A Round is how far a plan has been carried out. It is a copy: later changes
// don't show. Victims are sorted by key, and members in the order of the plan.
type Round struct {
	Job      string
	Began    time.Time
	Deadline time.Time // zero: none
	Gone     []string  // victims that have gone
	Leaving  []string  // victims that are marked, or leave by themselves
	// Returned are victims that run and are not marked any more, by someone
	// else's hand. With some the round cannot complete.
	Returned []string
	Held     []string // members whose grants are held still
}

// Lookup returns the round of a job, and whether it has one.
func (r *Rounds) Lookup(job string) (Round, bool) {
	x := r.live[job]
	if x == nil {
		return Round{}, false
	}
	round := Round{Job: job, Began: x.began, Deadline: x.deadline, Held: r.granted(x.grants)}
	for _, v := range x.victims {
		list := &round.Leaving
		switch state, there := r.stateOf(v); {
		case !there:
			list = &round.Gone
		case state == victims.Running:
			list = &round.Returned
		}
		*list = append(*list, v.key)
	}
	return round, true
}

// All yields the rounds that are under way, sorted by job. No round may begin
// or end meanwhile.
func (r *Rounds) All() iter.Seq[Round] {
	return func(yield func(Round) bool) {
		for _, job := range slices.Sorted(maps.Keys(r.live)) {
			if round, ok := r.Lookup(job); ok && !yield(round) {
				return
			}
		}
	}
}

// Held returns the members of a job whose grants completed rounds have left
// behind and that have not been started or dropped, in the order of the plans.
func (r *Rounds) Held(job string) []string { return r.granted(r.held[job]) }
