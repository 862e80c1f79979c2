// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/victims"
)

// The kinds of errors of [Rounds], which name the job and the victim.
var (
	errNoJob    = errors.New("no job is named")
	ErrUnderWay = errors.New("a round is under way")
	ErrNoRound  = errors.New("no round is under way")
	errDeadline = errors.New("the deadline is over")
	ErrVictim   = errors.New("no victim that is waited for")
	errTaken    = errors.New("a victim of another round")
	ErrLeaving  = errors.New("it has not gone yet")
	errReturned = errors.New("it runs and is not marked")
)

// A roundError is something wrong with what is told about a round.
type roundError struct {
	Job    string // "" if none is known
	Victim string // "" if it is about none
	Err    error
}

func (e *roundError) Error() string {
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
func (e *roundError) Unwrap() error { return e.Err }

// Rounds carry out plans for jobs and asks: they know which victims have not gone yet,
// and which places are held. A job has one round at a time, so slow victims do not lead
// to more victims.
//
// A round ends when its room is made ([Rounds.Complete]), a victim may never go
// ([Rounds.Fail]), the job departs ([Rounds.Abandon]), or at its deadline
// ([Rounds.Expire]). Unless it completes, victims that have not gone are unmarked, and
// grants are dropped.
//
// A task that moves is a victim as well. Its grant is no member's: it stays however the round
// ends, unless the task is unmarked, which then runs on.
//
// No other task may have the key of a victim that has not gone. Only Cluster must be set.
// Rounds serve one goroutine at a time. An error changes nothing.
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
	key   string
	gone  bool   // it was acknowledged
	quota bool   // it makes room under an allowance, wherever it runs
	place string // the key of the grant of one that moves, or ""
}

func (v roundVictim) compare(key string) int { return strings.Compare(v.key, key) }

// Begin applies a change and begins a round for its job. Grants of completed rounds of
// the job become this one's. The zero deadline is none.
//
// Errors are a change for nobody, a job that has a round, a deadline not after now, a
// victim of another round, and those of [victims.Cluster.Apply]. The cost is that of
// applying, and linear in held grants.
func (r *Rounds) Begin(ch victims.Change, now, deadline time.Time) error {
	if err := r.mayBegin(&ch, now, deadline); err != nil {
		return err
	}
	r.forget()
	grants, places := r.granting(&ch)
	if err := r.Cluster.Apply(ch); err != nil {
		return &roundError{Job: ch.For, Err: err}
	}
	if r.live == nil {
		r.live = make(map[string]*round)
		r.waited = make(map[string]string)
		r.held = make(map[string][]string)
	}
	x := &round{began: now, deadline: deadline, grants: grants}
	for i := range ch.Victims {
		key := ch.Victims[i].Key
		x.victims = append(x.victims, roundVictim{key: key, quota: ch.Victims[i].ForQuota, place: places[key]})
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
		return &roundError{Err: errNoJob}
	case r.live[ch.For] != nil:
		return &roundError{Job: ch.For, Err: ErrUnderWay}
	case !deadline.IsZero() && !deadline.After(now):
		return &roundError{Job: ch.For, Err: fmt.Errorf("%w: %v, and it is %v", errDeadline, deadline, now)}
	}
	for i := range ch.Victims {
		if job, ok := r.waited[ch.Victims[i].Key]; ok {
			err := fmt.Errorf("%w: that of job %s", errTaken, plain.Name(job))
			return &roundError{Job: ch.For, Victim: ch.Victims[i].Key, Err: err}
		}
	}
	return nil
}

// granting lists the grants of a change that are its round's: those that it
// makes, and those that completed rounds of the job have left behind. A grant
// that someone else gave to a member stays someone else's. Places has those that it
// makes for movers, by their keys.
func (r *Rounds) granting(ch *victims.Change) (keys []string, places map[string]string) {
	places = make(map[string]string)
	for _, g := range ch.Grants {
		key := g.Ask.Key
		_, there := r.Cluster.LookupGrant(key)
		if g.Mover != "" {
			if !there {
				places[g.Mover] = key
			}
			continue
		}
		if (!there || slices.Contains(r.held[ch.For], key)) && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys, places
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

// How a round ends.
const (
	completed = "completed"
	failed    = "failed"
	abandoned = "abandoned"
	expired   = "expired"
)

// An End is what became of a round. Victims are sorted by key; one whose state someone
// else has set is in neither list.
type End struct {
	Job string
	// How is a stable word: completed (the room is made), failed (a victim may never
	// go), abandoned (the job has departed), or expired (the deadline has come).
	How  string
	Gone []string // victims that have gone
	Back []string // victims whose marks were taken back: they run on
	// Leaving are victims elsewhere that leave still after a completed round. No round
	// waits for them any more: remove their tasks when they have gone.
	Leaving []string
	// Held are members whose grants stay after a completed round, Dropped those whose
	// grants were dropped, in the order of the plan.
	Held, Dropped []string
	// Moved are the grants of movers that have gone or are leaving, in the order of
	// victims: these are theirs. Those of movers in Back are among Dropped.
	Moved []string
}

// Acknowledge removes a victim that has gone. Errors are a key that is not waited for,
// and a task that is not marked.
func (r *Rounds) Acknowledge(victim string) error {
	job, ok := r.waited[victim]
	if !ok {
		return &roundError{Victim: victim, Err: ErrVictim}
	}
	switch state, there := r.state(victim); {
	case there && state == victims.Running:
		return &roundError{Job: job, Victim: victim, Err: errReturned}
	case there:
		must(r.Cluster.RemoveTask(victim))
	}
	delete(r.waited, victim)
	x := r.live[job]
	i, _ := slices.BinarySearchFunc(x.victims, victim, roundVictim.compare)
	x.victims[i].gone = true
	return nil
}

// Complete ends the round of a job whose room is made. Grants stay. Victims on their nodes,
// and those for an allowance, must have gone; once the grants fit under every max it does
// not ask for others. The error names the first victim that has not gone.
func (r *Rounds) Complete(job string) (End, error) {
	x := r.live[job]
	if x == nil {
		return End{}, &roundError{Job: job, Err: ErrNoRound}
	}
	end := End{Job: job, How: completed, Held: r.granted(x.grants)}
	elsewhere := r.elsewhere(end.Held)
	for _, v := range x.victims {
		switch state, there := r.stateOf(v); {
		case !there:
			end.Gone = append(end.Gone, v.key)
		case !v.quota && elsewhere(v.key):
			if state != victims.Running {
				end.Leaving = append(end.Leaving, v.key)
			}
		case state == victims.Running:
			return End{}, &roundError{Job: job, Victim: v.key, Err: errReturned}
		default:
			return End{}, &roundError{Job: job, Victim: v.key, Err: ErrLeaving}
		}
	}
	for _, v := range x.victims {
		end.Moved = append(end.Moved, r.placeOf(v)...)
	}
	r.end(job)
	r.held[job] = append(r.held[job], end.Held...)
	r.forget()
	return end, nil
}

// elsewhere returns who does not hinder some grants: tasks on nodes without any of them, if
// all of them can start.
func (r *Rounds) elsewhere(grants []string) func(victim string) bool {
	nodes := make(map[victims.NodeID]bool)
	var w victims.Waiting
	for _, key := range grants {
		must(r.Cluster.Waiting(&w, key))
		if w.Needed {
			clear(nodes)
			break
		}
		nodes[w.Node] = true
	}
	return func(victim string) bool {
		id, _ := r.Cluster.Lookup(victim)
		return len(nodes) > 0 && !nodes[r.Cluster.TaskView(id).Node]
	}
}

// Fail ends the round of a victim that may never go. That victim and others that have not
// gone are unmarked, and the round's grants are dropped.
func (r *Rounds) Fail(victim string) (End, error) {
	job, ok := r.waited[victim]
	if !ok {
		return End{}, &roundError{Victim: victim, Err: ErrVictim}
	}
	return r.undo(job, failed), nil
}

// Abandon notes that a job has departed: its round ends as by [Rounds.Fail], and grants
// of its completed rounds are dropped. Neither is an error.
func (r *Rounds) Abandon(job string) (End, error) {
	held := r.granted(r.held[job])
	if r.live[job] == nil && len(held) == 0 {
		return End{}, &roundError{Job: job, Err: ErrNoRound}
	}
	end := r.undo(job, abandoned)
	r.drop(held)
	end.Dropped = append(held, end.Dropped...)
	delete(r.held, job)
	return end, nil
}

// Expire ends all rounds whose deadline is not after now, as by [Rounds.Fail], by
// deadline and then by job.
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
		ends = append(ends, r.undo(job, expired))
	}
	return ends
}

// undo ends the round of a job, if it has one, and takes back what is left of it.
func (r *Rounds) undo(job string, how string) End {
	end := End{Job: job, How: how}
	x := r.live[job]
	if x == nil {
		return end
	}
	end.Dropped = r.granted(x.grants)
	for _, v := range x.victims {
		list := &end.Moved
		switch state, there := r.stateOf(v); {
		case !there:
			end.Gone = append(end.Gone, v.key)
		case state == victims.Preempting:
			must(r.Cluster.SetState(v.key, victims.Running))
			end.Back = append(end.Back, v.key)
			list = &end.Dropped
		case state == victims.Running:
			list = &end.Dropped
		}
		// A move takes nothing from anybody: who stops for it keeps the place.
		*list = append(*list, r.placeOf(v)...)
	}
	r.drop(end.Dropped)
	r.end(job)
	return end
}

// placeOf returns the grant of a mover, if it is there still.
func (r *Rounds) placeOf(v roundVictim) []string {
	if v.place == "" {
		return nil
	}
	return r.granted([]string{v.place})
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

// A Round is how far a plan has been carried out. Victims are sorted by key, members in
// the order of the plan.
type Round struct {
	Job      string
	Deadline time.Time // zero: none
	Gone     []string  // victims that have gone
	Leaving  []string  // victims that are leaving
	// Returned are victims that someone else has unmarked. With any the round cannot
	// complete.
	Returned []string
	Held     []string // members whose grants are held still
}

// Lookup returns the round of a job, if it has one.
func (r *Rounds) Lookup(job string) (Round, bool) {
	x := r.live[job]
	if x == nil {
		return Round{}, false
	}
	round := Round{Job: job, Deadline: x.deadline, Held: r.granted(x.grants)}
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

// All yields the rounds under way, sorted by job. None may begin or end meanwhile.
func (r *Rounds) All() iter.Seq[Round] {
	return func(yield func(Round) bool) {
		for _, job := range slices.Sorted(maps.Keys(r.live)) {
			if round, ok := r.Lookup(job); ok && !yield(round) {
				return
			}
		}
	}
}

// Held returns the members of a job whose grants completed rounds have left, by plan.
func (r *Rounds) Held(job string) []string { return r.granted(r.held[job]) }
