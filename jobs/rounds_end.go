package jobs

import (
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/word"
	"github.com/go-preempt/preempt/victims"
)

// An Ending says how a round ended.
type Ending uint8

const (
	// Completed: all victims have gone, and what they freed is the members'.
	Completed Ending = 1 + iota
	// Failed: it is not known any more whether a victim goes.
	Failed
	// Abandoned: the job has departed.
	Abandoned
	// Expired: the deadline has come.
	Expired
)

var endingWords = word.Table{Of: "jobs.Ending", Words: []string{Completed: "completed", Failed: "failed", Abandoned: "abandoned", Expired: "expired"}}

// String returns the stable word for the ending: completed, failed, abandoned
// or expired.
func (e Ending) String() string { return endingWords.Word(uint8(e)) }

// MarshalText returns the stable word for the ending, and nothing for 0. A number that
// has no word is an error.
func (e Ending) MarshalText() ([]byte, error) { return endingWords.Text(uint8(e)) }

// UnmarshalText sets the ending whose text is given. Any other text is an error
// and changes nothing.
func (e *Ending) UnmarshalText(text []byte) error { return word.Set(e, endingWords, text) }

// An End is what became of a round, for the caller to act on. Victims are sorted
// by key. One that someone else has taken over, by setting it to another state,
// is in neither list.
type End struct {
	Job  string
	How  Ending
	Gone []string // victims that have gone
	Back []string // victims whose marks were taken back: they run on
	// Held are members whose grants stay, in the order of the plan; only a
	// completed round has some. Dropped are those whose grants were dropped.
	// Members that were started already are in neither list.
	Held, Dropped []string
}

// Acknowledge notes that a victim has gone, and takes it out of the cluster
// unless someone did so already. What it used is free from then on for the
// members that hold grants, and for nobody else.
//
// That the round is complete is for [Rounds.Complete] to say. Errors are a key
// that is none of a victim that is waited for, a second acknowledgement
// included, and a task of that key that runs and is not marked.
func (r *Rounds) Acknowledge(victim string) error {
	job, ok := r.waited[victim]
	if !ok {
		return &RoundError{Victim: victim, Err: ErrVictim}
	}
	switch state, there := r.state(victim); {
	case there && state == victims.Running:
		return &RoundError{Job: job, Victim: victim, Err: ErrReturned}
	case there:
		must(r.Cluster.RemoveTask(victim))
	}
	delete(r.waited, victim)
	x := r.live[job]
	i, _ := slices.BinarySearchFunc(x.victims, victim, func(v roundVictim, key string) int { return strings.Compare(v.key, key) })
	x.victims[i].gone = true
	return nil
}

// Complete ends the round of a job all of whose victims have gone, acknowledged
// or taken out of the cluster otherwise. Grants of members that have not been
// started stay, and hold what the round freed. An error names the first victim
// that has not gone.
func (r *Rounds) Complete(job string) (End, error) {
	x := r.live[job]
	if x == nil {
		return End{}, &RoundError{Job: job, Err: ErrNoRound}
	}
	for _, v := range x.victims {
		switch state, there := r.stateOf(v); {
		case there && state == victims.Running:
			return End{}, &RoundError{Job: job, Victim: v.key, Err: ErrReturned}
		case there:
			return End{}, &RoundError{Job: job, Victim: v.key, Err: ErrLeaving}
		}
	}
	end := End{Job: job, How: Completed, Held: r.granted(x.grants)}
	for _, v := range x.victims {
		end.Gone = append(end.Gone, v.key)
	}
	r.end(job)
	r.held[job] = append(r.held[job], end.Held...)
	r.forget()
	return end, nil
}

// Fail ends the round of a victim of which nobody knows any more whether it
// goes. The marks of victims that have not gone are taken back, its own
// included, and the grants of the round are dropped.
func (r *Rounds) Fail(victim string) (End, error) {
	job, ok := r.waited[victim]
	if !ok {
		return End{}, &RoundError{Victim: victim, Err: ErrVictim}
	}
	return r.undo(job, Failed), nil
}

// Abandon notes that a job has departed. Its round ends as by [Rounds.Fail],
// and the grants that completed rounds have left behind are dropped, too. Its
// tasks are the caller's business. A job that has neither is an error.
func (r *Rounds) Abandon(job string) (End, error) {
	held := r.granted(r.held[job])
	if r.live[job] == nil && len(held) == 0 {
		return End{}, &RoundError{Job: job, Err: ErrNoRound}
	}
	end := r.undo(job, Abandoned)
	r.drop(held)
	end.Dropped = append(held, end.Dropped...)
	delete(r.held, job)
	return end, nil
}

// Expire ends all rounds whose deadline is now or was before, as by
// [Rounds.Fail], and returns their ends, earlier deadlines first and then by
// job.
func (r *Rounds) Expire(now time.Time) (ends []End) {
	var due []string
	for job, x := range r.live {
		if !x.deadline.IsZero() && !x.deadline.After(now) {
			due = append(due, job)
		}
	}
	slices.SortFunc(due, func(a, b string) int {
		if c := r.live[a].deadline.Compare(r.live[b].deadline); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	for _, job := range due {
		ends = append(ends, r.undo(job, Expired))
	}
	return ends
}

// undo ends the round of a job, if it has one, and takes back what is left of it.
func (r *Rounds) undo(job string, how Ending) End {
	end := End{Job: job, How: how}
	x := r.live[job]
	if x == nil {
		return end
	}
	for _, v := range x.victims {
		switch state, there := r.stateOf(v); {
		case !there:
			end.Gone = append(end.Gone, v.key)
		case state == victims.Preempting:
			must(r.Cluster.SetState(v.key, victims.Running))
			end.Back = append(end.Back, v.key)
		}
	}
	end.Dropped = r.granted(x.grants)
	r.drop(end.Dropped)
	r.end(job)
	return end
}

// drop drops grants that are there.
func (r *Rounds) drop(grants []string) {
	for _, key := range grants {
		must(r.Cluster.Drop(key))
	}
}

// end takes the round of a job out of the books.
func (r *Rounds) end(job string) {
	for _, v := range r.live[job].victims {
		if !v.gone {
			delete(r.waited, v.key)
		}
	}
	delete(r.live, job)
}

// state returns what the cluster says of a task, if it has it.
func (r *Rounds) state(key string) (s victims.State, there bool) {
	id, ok := r.Cluster.Lookup(key)
	if !ok {
		return 0, false
	}
	return r.Cluster.TaskView(id).State, true
}

// stateOf is state of a victim. One that was acknowledged is not there, whatever
// has its key now.
func (r *Rounds) stateOf(v roundVictim) (s victims.State, there bool) {
	if v.gone {
		return 0, false
	}
	return r.state(v.key)
}

// must panics if the cluster refuses what it was just asked about.
func must(err error) {
	if err != nil {
		panic("jobs: the cluster is used by another goroutine: " + err.Error())
	}
}
