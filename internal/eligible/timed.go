// SPDX-License-Identifier: Apache-2.0

package eligible

import (
	"slices"
	"sort"
	"time"

	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
)

// Timed are the rules that keep a task until an instant, and end by themselves. It is the one home of these
// rules for asks, jobs, moves and quotas, which ask it after [Rules.Veto]; auditors do not.
type Timed struct {
	Horizon time.Time // what ends until then counts as ended
	Exempts Exempter  // nil: the caller exempts nobody
	Refused bool      // some task may be refused; Keeps notes whom it meets
	OfQuota bool      // rules that quotas have no word for keep nobody
	// Waived says of a rule that it does not keep a task; for explanations. nil: all count.
	Waived func(rule rulebook.Rule, t Stay) bool

	least []time.Duration // by queue: how long its tasks must have run
	bound bool            // some queue keeps tasks for some time
}

// An Exempter says whether the caller exempts a task, and until when; the zero time is for ever.
type Exempter interface {
	Exempts(task int32) (until time.Time, exempt bool)
}

// A Stay is what these rules ask of a task.
type Stay struct {
	Task      int32
	Leaf      queue.ID
	Scheduled time.Time
	Refused   time.Time // until when nobody takes it
}

// timedRules has all of them, in the order in which they count. Each says until when it keeps a task, if it
// ever did; the zero time is for ever. Who may ask the caller comes last.
var timedRules = [...]struct {
	rule  rulebook.Rule
	until func(x *Timed, t Stay) (end time.Time, keeps bool)
}{
	{rulebook.RuleRefused, func(_ *Timed, t Stay) (time.Time, bool) { return t.Refused, !t.Refused.IsZero() }},
	{rulebook.RuleExempt, (*Timed).runs},
	{rulebook.RuleExempt, (*Timed).exempts},
}

// runs: its queue lets a task run for some time. One that was never placed is not running.
func (x *Timed) runs(t Stay) (end time.Time, keeps bool) {
	if !x.bound || x.least[t.Leaf] == 0 || t.Scheduled.IsZero() {
		return time.Time{}, false
	}
	return t.Scheduled.Add(x.least[t.Leaf]), true
}

// exempts: the caller exempts it.
func (x *Timed) exempts(t Stay) (end time.Time, keeps bool) {
	if x.Exempts == nil {
		return time.Time{}, false
	}
	return x.Exempts.Exempts(t.Task)
}

// Reset makes them those of a tree as it is, at an instant, without a caller. A cluster that is given another
// tree shows it as the same one, so call it for each decision. Without a tree its queues keep nobody.
func (x *Timed) Reset(t *queue.Tree, now time.Time) {
	*x = Timed{Horizon: now, least: x.least[:0]}
	for q := range queue.ID(t.Len()) {
		x.least = append(x.least, *t.Policies(q).MinRuntime)
		x.bound = x.bound || x.least[q] > 0
	}
}

// Any reports whether such a rule may keep somebody. It does not know of refused tasks that were not met.
func (x *Timed) Any() bool { return x.Exempts != nil || x.Own() }

// Own reports whether such a rule may keep somebody whom the caller does not exempt.
func (x *Timed) Own() bool { return x.Refused || x.bound }

// Keeps returns the first of these rules that keeps a task after the horizon, or 0.
func (x *Timed) Keeps(t Stay) rulebook.Rule {
	x.Refused = x.Refused || t.Refused.After(x.Horizon)
	if !x.Any() {
		return 0
	}
	for i := range timedRules {
		r := &timedRules[i]
		if x.OfQuota && r.rule.Entry().Quota == "" || x.Waived != nil && x.Waived(r.rule, t) {
			continue
		}
		if end, keeps := r.until(x, t); keeps && (end.IsZero() || end.After(x.Horizon)) {
			return r.rule
		}
	}
	return 0
}

// AppendEnd appends the instant after the horizon from which none of these rules keeps a task, if one does
// now and all of them end.
func (x *Timed) AppendEnd(dst []time.Time, t Stay) []time.Time {
	last := x.Horizon
	for i := range timedRules {
		switch end, keeps := timedRules[i].until(x, t); {
		case keeps && end.IsZero():
			return dst
		case keeps && end.After(last):
			last = end
		}
	}
	if last.After(x.Horizon) {
		dst = append(dst, last)
	}
	return dst
}

// Sooner returns the earlier one of two instants after now at which time changes an answer; zero
// is never.
func Sooner(a, b, now time.Time) time.Time {
	if !b.After(now) || !a.IsZero() && a.Before(b) {
		return a
	}
	return b
}

// Ends sorts instants and keeps each once.
func Ends(ends []time.Time) []time.Time {
	slices.SortFunc(ends, time.Time.Compare)
	return slices.CompactFunc(ends, time.Time.Equal)
}

// FirstEnd returns the first of some instants at which there is a plan, or the zero time. It sorts them. More
// candidates must never make a plan impossible: each try is a decision of its own, and with halving there are as
// few as the logarithm of the instants.
func FirstEnd(ends []time.Time, plans func(time.Time) bool) time.Time {
	ends = Ends(ends)
	first := sort.Search(len(ends), func(i int) bool { return plans(ends[i]) })
	if first == len(ends) {
		return time.Time{}
	}
	return ends[first]
}
