package jobs

import (
	"github.com/go-preempt/preempt/internal/trigger"
	"github.com/go-preempt/preempt/internal/word"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Trigger says what lets a job take from others. The zero value is by guarantee.
// (DESIGN.md, Jobs: laws.)
type Trigger uint8

const (
	// ByGuarantee: a job takes back what its queue is guaranteed, as an ask does. All
	// laws of asks hold. Its members, asked one after another with the largest last,
	// would each have to find the queue under its guarantee. Victims come from outside
	// of the needy queue, and are of lower or equal effective priority.
	ByGuarantee Trigger = iota
	// ByPriority: a job takes from strictly lower priority, its own leaf included, and
	// guarantees only protect. Use it for Koordinator's elastic quotas, and for clusters
	// with priorities and no guarantees.
	ByPriority
)

var triggerWords = word.Table{Of: "jobs.Trigger", Words: []string{ByGuarantee: "guarantee", ByPriority: "priority"}}

// String returns the stable word for the trigger: guarantee or priority.
func (t Trigger) String() string { return triggerWords.Word(uint8(t)) }

// MarshalText returns the stable word for the trigger. A number that has no word is an
// error.
func (t Trigger) MarshalText() ([]byte, error) { return triggerWords.Text(uint8(t)) }

// UnmarshalText sets the trigger whose text is given. Any other text is an error and
// changes nothing.
func (t *Trigger) UnmarshalText(text []byte) error { return word.Set(t, triggerWords, text) }

// A stage says whose tasks are candidates.
type stage uint8

const (
	byPriority  stage = iota // lower ones of all leaves in reach, the own one included
	outsideLeaf              // those of other leaves
	withOwnLeaf              // and lower ones of the job's own
)

// reasonOf are the obstacles of package trigger as reasons.
var reasonOf = [...]Reason{
	trigger.MayNot:         MayNotPreempt,
	trigger.Early:          TooEarly,
	trigger.Soon:           TooSoon,
	trigger.OverMax:        OverMax,
	trigger.NotGuaranteed:  NotGuaranteed,
	trigger.OverGuarantee:  OverGuarantee,
	trigger.HeadroomInside: HeadroomInside,
}

// atGate states what all required members without a place have to say at the gate in
// front of preemption: a job is an ask with many members.
func (d *decision) atGate() *trigger.Case {
	g, job := &d.entry, d.job
	// Before the last member, the largest, there are all the others.
	d.before = resources.Copy(d.before, d.rem)
	for t := range d.before {
		most := int64(0)
		for _, i := range d.unplaced {
			most = max(most, job.Members[i].Size.At(t))
		}
		d.before[t] -= most
	}
	*g = trigger.Case{
		Tree: d.tree, Leaf: job.Queue, Arriving: d.rem, Before: d.before, MayNot: job.MayNot,
		PendingSince: job.PendingSince, LastAttempt: job.LastAttempt, Interval: d.p.Interval, Now: d.now,
	}
	return g
}

// byGuarantee answers a job that has no room as an ask is answered: by tasks outside of
// its leaf, else with the option of the own leaf, else by a refusal.
func (d *decision) byGuarantee(dst *Decision) {
	gate := d.atGate()
	needy, law4 := gate.Law4()
	d.rules.needy, d.rules.lawful = needy, law4.Obstacle == 0
	a := gate.Ask()
	if a.Obstacle != 0 {
		d.refused(dst, reasonOf[a.Obstacle])
		dst.Refusal.Queue, dst.Refusal.Type, dst.Refusal.RetryAt = a.Queue, a.Type, a.RetryAt
	} else if d.try(dst, outsideLeaf) {
		return
	}
	first := outsideLeaf
	if d.mayTakeOwn(dst.Refusal.Reason) {
		second := &d.second
		second.Refusal = second.Refusal.cleared()
		if d.try(second, withOwnLeaf) {
			dst.Refusal = dst.Refusal.cleared()
			d.planned(dst)
			return
		}
		if d.others() {
			// What the second stage says is what a caller can act on. What kept the first one
			// from looking further is told beside it.
			also := dst.Refusal
			dst.Refusal, second.Refusal = second.Refusal, dst.Refusal
			switch also.Reason {
			case OverMax, NotGuaranteed, OverGuarantee, HeadroomInside:
				dst.Refusal.Also, dst.Refusal.Queue, dst.Refusal.Type = also.Reason, also.Queue, also.Type
			}
			first = withOwnLeaf
		}
	}
	d.unplanned(dst, first)
}

// try looks for a plan with the candidates of a stage, and reports whether there is one,
// which it leaves as the best. Else it refuses.
func (d *decision) try(dst *Decision, s stage) bool {
	d.rules.stage = s
	switch {
	case !d.prepare(len(d.unplaced)):
		d.refused(dst, NothingInReach)
	case d.quotaForbids(dst):
	case d.choose():
		if s != withOwnLeaf {
			d.planned(dst)
		}
		return true
	default:
		d.lacks(dst)
	}
	return false
}

// mayTakeOwn reports whether the option of the own leaf has a say after a refusal.
// (DESIGN.md, The own leaf.)
func (d *decision) mayTakeOwn(r Reason) bool {
	switch r {
	case MayNotPreempt, TooEarly, TooSoon, InFlight:
		return false
	}
	return d.p.OwnLeaf != victims.OwnNever
}

// others reports whether the own leaf has tasks that are not of the job's application:
// those that the second stage counts.
func (d *decision) others() bool {
	for id := range d.c.TasksIn(d.job.Queue) {
		if t := d.c.TaskView(id); t.State != victims.Granted && t.Application != d.job.Application {
			return true
		}
	}
	return false
}
